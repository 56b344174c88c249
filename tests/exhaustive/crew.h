/* SPDX-License-Identifier: Apache-2.0
 * crew.h - the worker threads of the exhaustive checks, and the state folder from which an
 * interrupted run continues.
 *
 * The work is divided into parts (one function each) and these into units (a slice of its inputs).
 * The result of a finished unit is a line of the part's ledger STATE/NAME.MODE, written at once and
 * with a checksum: a line that is incomplete because a run was killed counts as not written. This
 * is safe against a killed process, but not against power loss, because nothing waits for the disk.
 * The first line of a ledger names the build, a hash of the running program, into which the library
 * under test is linked: a ledger of another build is discarded. */
#ifndef CREW_H
#define CREW_H
#include <stdint.h>

enum { MAX_JOBS = 64, MAX_UNITS = 4096, DIGEST_DIGITS = 32 };

typedef struct outcome {
  uint64_t inputs, mismatches;    /* inputs checked; results that are not correctly rounded */
  uint64_t by_mpfr, milliseconds; /* inputs that MPFR decided; processor time */
  double worst;                   /* the largest error of the estimate in the sample */
  char digest[DIGEST_DIGITS + 1]; /* digest of the results; may be empty */
  char message[160];              /* message to print about the unit; may be empty */
  int broken;                     /* 1: the check itself is wrong, so the run ends */
} outcome;

typedef struct part part;
struct part {
  const char *name; /* name of the ledger */
  unsigned units;   /* number of units */
  /* checks one unit; *out is zeroed before the call */
  void (*check)(const part *p, unsigned unit, outcome *out);
  const void *what; /* data for the function `check` */
};

typedef struct ledger {
  /* number of requested units that have a line in the ledger */
  unsigned done;
  uint8_t has[MAX_UNITS];                    /* 1 for each unit that has a line in the ledger */
  char digest[MAX_UNITS][DIGEST_DIGITS + 1]; /* digests of the units' results */
  /* sums over the units that have a line; worst is the maximum of these */
  outcome sum;
} ledger;

typedef struct crew crew;

/* Creates a crew. Returns NULL and prints the reason if the folder cannot be created or the program
 * cannot be read. With `fresh`, units that earlier runs finished are checked again. */
crew *crew_new(const char *state, const char *mode, int fresh);
void crew_free(crew *c);
/* Adds the units from..to-1 of a part, without those that an earlier run finished. If a unit cannot
 * be added, prints the reason and marks the run as broken. */
void crew_add_unfinished_units(crew *c, const part *p, unsigned from, unsigned to);
/* Checks all units. Returns 1 if all were checked, whatever was found, and 0 if the check is
 * broken. */
int crew_run(crew *c, unsigned jobs);
/* Reads the ledger's lines of the units from..to-1; the ledger may have more. */
void crew_read_ledger(const crew *c, const part *p, unsigned from, unsigned to, ledger *out);

/* Sets the message of an outcome; later messages are ignored. */
void outcome_set_message(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
