/* SPDX-License-Identifier: Apache-2.0
 * crew.h - the workers of the exhaustive checks and the state folder by which they go on.
 *
 * Work is cut into parts (a function) and these into units (a slice of its inputs). A finished unit
 * is a line of the part's ledger STATE/NAME.MODE, written at once and with a check sum: a line that
 * is torn, because a run was killed, counts as not written. This is safe against a killed process,
 * not against power loss: nothing waits for the disk. The first line of a ledger names the build, a
 * hash of the running program, in which the library under test is linked: a ledger of another build
 * is thrown away. */
#ifndef CREW_H
#define CREW_H
#include <stdint.h>

enum { MOST_JOBS = 64, MOST_UNITS = 4096, DIGEST_TEXT = 32 };

typedef struct outcome {
  uint64_t inputs, mismatches, judged, milliseconds; /* of one processor */
  double worst;                 /* the largest error of the estimate in the sample */
  char digest[DIGEST_TEXT + 1]; /* of the results; "-" where none is kept */
  char said[160];               /* what to tell about it, "" for nothing */
  int broken;                   /* the check itself is wrong: the run ends */
} outcome;

typedef struct part part;
struct part {
  const char *name;
  unsigned units;
  void (*check)(const part *p, unsigned unit, outcome *out); /* *out is zeroed before */
  const void *what;
};

typedef struct ledger {
  unsigned done; /* units with a line, of those asked for */
  uint8_t has[MOST_UNITS];
  char digest[MOST_UNITS][DIGEST_TEXT + 1];
  outcome sum;
} ledger;

typedef struct crew crew;

/* NULL, having said why, if the folder or the program cannot be read. `fresh`: what earlier runs
 * finished is done again. */
crew *crew_new(const char *state, const char *mode, int fresh);
void crew_free(crew *c);
/* Units from..to-1 of a part, less those that an earlier run finished. What cannot be added breaks
 * the run, with a word. */
void crew_add(crew *c, const part *p, unsigned from, unsigned to);
/* 1 if all was done, whatever was found; 0 if the check is broken. */
int crew_run(crew *c, unsigned jobs);
/* What is known of units from..to-1; the ledger may have more. */
void crew_read(const crew *c, const part *p, unsigned from, unsigned to, ledger *out);

/* The first thing said stays. */
void outcome_say(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
