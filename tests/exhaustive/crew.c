/* SPDX-License-Identifier: Apache-2.0
 * crew.c - the worker threads, progress display and ledgers of the exhaustive checks. */
#include "crew.h"
#include <errno.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "vt_fpenv.h"
#include "vt_hash.h"

enum { PATH_BYTES = 600, LINE_BYTES = 256, CHECKSUM_DIGITS = 8, MAX_TASKS = 32 * MAX_UNITS };

typedef struct task {
  const part *p;
  unsigned unit;
} task;

struct crew {
  const char *state; /* folder of the ledgers */
  const char *mode;  /* suffix of the ledgers' file names */
  int fresh;         /* 1: ledgers of earlier runs are discarded */
  char build[65];    /* hash of this program, in hexadecimal */
  task *tasks;       /* units to check */
  unsigned n_tasks;
  atomic_uint next, done; /* index of the next unclaimed task; tasks finished */
  atomic_int broken;      /* 1: the check itself is wrong, so workers stop */
  pthread_mutex_t lock;   /* held while a ledger or stderr is written */
};

void outcome_set_message(outcome *o, const char *format, ...) {
  va_list list;
  if (o->message[0] != 0) return;
  va_start(list, format);
  vsnprintf(o->message, sizeof o->message, format, list);
  va_end(list);
}

/* ---- the ledger ---- */

static void format_ledger_path(const crew *c, const part *p, char out[PATH_BYTES]) {
  snprintf(out, PATH_BYTES, "%s/%s.%s", c->state, p->name, c->mode);
}

static void compute_checksum(const char *text, size_t n, char out[CHECKSUM_DIGITS + 1]) {
  char hex[65];
  const vt_hash256 h = vt_hash_bytes(text, n);
  vt_hash_hex(&h, hex);
  memcpy(out, hex, CHECKSUM_DIGITS);
  out[CHECKSUM_DIGITS] = 0;
}

/* Formats the ledger's line of a unit, with its checksum and a newline; returns its length. */
static int format_ledger_line(unsigned unit, const outcome *o, char line[LINE_BYTES]) {
  char check[CHECKSUM_DIGITS + 1];
  const int n = snprintf(line, LINE_BYTES, "%u %llu %llu %llu %llu %a %s", unit,
                         (unsigned long long)o->inputs, (unsigned long long)o->mismatches,
                         (unsigned long long)o->by_mpfr, (unsigned long long)o->milliseconds,
                         o->worst, o->digest[0] == 0 ? "-" : o->digest);
  compute_checksum(line, (size_t)n, check);
  return n + snprintf(line + n, LINE_BYTES - (size_t)n, " %s\n", check);
}

/* Parses a line; returns 1 if it is complete: it ends in a newline and its checksum is right. */
static int parse_ledger_line(const char *line, unsigned *unit, outcome *o) {
  unsigned long long inputs, mismatches, by_mpfr, milliseconds;
  char check[CHECKSUM_DIGITS + 1];
  const size_t n = strlen(line);
  if (n < CHECKSUM_DIGITS + 2 || line[n - 1] != '\n') return 0;
  compute_checksum(line, n - CHECKSUM_DIGITS - 2, check);
  if (strncmp(line + n - CHECKSUM_DIGITS - 1, check, CHECKSUM_DIGITS) != 0) return 0;
  if (sscanf(line, "%u %llu %llu %llu %llu %la %32s", unit, &inputs, &mismatches, &by_mpfr,
             &milliseconds, &o->worst, o->digest) != 7)
    return 0;
  o->inputs = inputs;
  o->mismatches = mismatches;
  o->by_mpfr = by_mpfr;
  o->milliseconds = milliseconds;
  return 1;
}

static void add_to_ledger_in_memory(ledger *l, unsigned unit, const outcome *o) {
  if (unit >= MAX_UNITS || l->has[unit]) return;
  l->has[unit] = 1;
  l->done++;
  memcpy(l->digest[unit], o->digest, sizeof o->digest);
  l->sum.inputs += o->inputs;
  l->sum.mismatches += o->mismatches;
  l->sum.by_mpfr += o->by_mpfr;
  l->sum.milliseconds += o->milliseconds;
  if (o->worst > l->sum.worst) l->sum.worst = o->worst;
}

/* Reads the first line; returns 1 if it names this build. */
static int first_line_names_this_build(const crew *c, FILE *file) {
  char line[LINE_BYTES];
  return fgets(line, sizeof line, file) != NULL && strncmp(line, c->build, 64) == 0 &&
         line[64] == '\n';
}

void crew_read_ledger(const crew *c, const part *p, unsigned from, unsigned to, ledger *out) {
  char path[PATH_BYTES], line[LINE_BYTES];
  unsigned unit;
  outcome o;
  memset(out, 0, sizeof *out);
  format_ledger_path(c, p, path);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  if (first_line_names_this_build(c, file))
    while (fgets(line, sizeof line, file) != NULL)
      if (parse_ledger_line(line, &unit, &o) && unit >= from && unit < to)
        add_to_ledger_in_memory(out, unit, &o);
  fclose(file);
}

/* Makes sure that lines can be appended to the ledger: it must be of this build and end in a
 * complete line. Otherwise it is started anew, or a newline is added. */
static int make_ledger_appendable(const crew *c, const part *p) {
  char path[PATH_BYTES];
  format_ledger_path(c, p, path);
  FILE *file = c->fresh ? NULL : fopen(path, "r+");
  const int good = file != NULL && first_line_names_this_build(c, file);
  if (file != NULL && !good) {
    fprintf(stderr, "%s: of another build, started afresh\n", path);
    fclose(file);
  }
  if (!good) {
    file = fopen(path, "w");
    return file != NULL && fprintf(file, "%s\n", c->build) > 0 && fclose(file) == 0;
  }
  int last = '\n';
  if (fseek(file, -1, SEEK_END) == 0) last = getc(file);
  if (fseek(file, 0, SEEK_END) == 0 && last != '\n') putc('\n', file);
  return fclose(file) == 0;
}

static int write_outcome_line(const crew *c, const task *t, const outcome *o) {
  char path[PATH_BYTES], line[LINE_BYTES];
  const size_t n = (size_t)format_ledger_line(t->unit, o, line);
  format_ledger_path(c, t->p, path);
  FILE *file = fopen(path, "a");
  if (file == NULL) return 0;
  const size_t written = fwrite(line, 1, n, file);
  return fclose(file) == 0 && written == n;
}

/* ---- setting up ---- */

static int hash_program(char hex[65]) {
  static unsigned char block[1 << 16];
  vt_hasher h;
  size_t n;
  FILE *file = fopen("/proc/self/exe", "rb");
  if (file == NULL) return 0;
  vt_hash_init(&h);
  while ((n = fread(block, 1, sizeof block, file)) > 0) vt_hash_add(&h, block, n);
  const int good = !ferror(file);
  fclose(file);
  const vt_hash256 sum = vt_hash_done(&h);
  vt_hash_hex(&sum, hex);
  return good;
}

crew *crew_new(const char *state, const char *mode, int fresh) {
  crew *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  c->state = state;
  c->mode = mode;
  c->fresh = fresh;
  c->tasks = malloc(sizeof *c->tasks * MAX_TASKS);
  if (mkdir(state, 0777) != 0 && errno != EEXIST)
    fprintf(stderr, "%s: %s\n", state, strerror(errno));
  else if (!hash_program(c->build))
    fprintf(stderr, "/proc/self/exe: %s\n", strerror(errno));
  else if (c->tasks != NULL && pthread_mutex_init(&c->lock, NULL) == 0)
    return c;
  free(c->tasks);
  free(c);
  return NULL;
}

void crew_free(crew *c) {
  pthread_mutex_destroy(&c->lock);
  free(c->tasks);
  free(c);
}

static void add_task(crew *c, const part *p, unsigned unit) {
  if (unit < MAX_UNITS && c->n_tasks < MAX_TASKS) {
    c->tasks[c->n_tasks++] = (task){p, unit};
    return;
  }
  fprintf(stderr, "%s: more than %d units, or %d in all\n", p->name, MAX_UNITS, MAX_TASKS);
  c->broken = 1;
}

void crew_add_unfinished_units(crew *c, const part *p, unsigned from, unsigned to) {
  ledger *l = malloc(sizeof *l);
  if (l == NULL || !make_ledger_appendable(c, p)) {
    fprintf(stderr, "%s: the ledger of %s cannot be written\n", c->state, p->name);
    c->broken = 1;
    free(l);
    return;
  }
  crew_read_ledger(c, p, from, to, l);
  for (unsigned unit = from; unit < to && !c->broken; unit++)
    if (unit >= MAX_UNITS || !l->has[unit]) add_task(c, p, unit);
  free(l);
}

/* ---- work ---- */

static uint64_t thread_cpu_milliseconds(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void record_outcome(crew *c, const task *t, const outcome *o) {
  pthread_mutex_lock(&c->lock);
  if (o->message[0] != 0)
    fprintf(stderr, "\r%s: unit %u: %llu mismatches; %s\n", t->p->name, t->unit,
            (unsigned long long)o->mismatches, o->message);
  if (o->broken) c->broken = 1;
  if (!o->broken && !write_outcome_line(c, t, o)) {
    fprintf(stderr, "\r%s: the ledger of %s cannot be written\n", c->state, t->p->name);
    c->broken = 1;
  }
  pthread_mutex_unlock(&c->lock);
}

static void *worker_main(void *context) {
  crew *c = context;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  for (unsigned i; !c->broken && (i = c->next++) < c->n_tasks; c->done++) {
    const task *t = &c->tasks[i];
    const uint64_t start = thread_cpu_milliseconds();
    outcome o;
    memset(&o, 0, sizeof o);
    t->p->check(t->p, t->unit, &o);
    o.milliseconds = thread_cpu_milliseconds() - start;
    record_outcome(c, t, &o);
  }
  mpfr_free_cache();
  vt_fpenv_leave(&saved);
  return NULL;
}

static void print_progress(const crew *c, double seconds_spent, int terminal, int end) {
  const unsigned done = c->done;
  const double left = done == 0 ? 0 : seconds_spent / done * (c->n_tasks - done);
  fprintf(stderr, "%s%u of %u units, %.0f s, about %.0f s left%s", terminal ? "\r" : "", done,
          c->n_tasks, seconds_spent, left, terminal && !end ? "   " : "\n");
}

/* Shows progress until all tasks are done: on a terminal one line that changes every second,
 * otherwise one line per minute. */
static void show_progress_until_done(crew *c) {
  const struct timespec tick = {.tv_nsec = 50 * 1000 * 1000};
  const int terminal = isatty(STDERR_FILENO);
  const double every = terminal ? 1 : 60;
  const time_t start = time(NULL);
  for (double last = -every;;) {
    const double spent = difftime(time(NULL), start);
    const int end = c->done == c->n_tasks || c->broken;
    if (end || spent >= last + every) {
      print_progress(c, spent, terminal, end);
      last = spent;
    }
    if (end) return;
    nanosleep(&tick, NULL);
  }
}

int crew_run(crew *c, unsigned jobs) {
  pthread_t threads[MAX_JOBS];
  unsigned started = 0;
  if (c->n_tasks == 0 || c->broken) return !c->broken;
  for (; started < jobs; started++)
    if (pthread_create(&threads[started], NULL, worker_main, c) != 0) break;
  if (started == 0) c->broken = 1;
  show_progress_until_done(c);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  return !c->broken;
}
