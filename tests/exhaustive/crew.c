/* SPDX-License-Identifier: Apache-2.0
 * crew.c - workers, progress and ledgers of the exhaustive checks. */
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

enum { PATH_ROOM = 600, LINE_ROOM = 256, CHECK_TEXT = 8, MOST_TASKS = 32 * MOST_UNITS };

typedef struct task {
  const part *p;
  unsigned unit;
} task;

struct crew {
  const char *state, *mode;
  int fresh;
  char build[65]; /* a hash of this program */
  task *tasks;
  unsigned n_tasks;
  atomic_uint next, done;
  atomic_int broken;
  pthread_mutex_t lock;
};

void outcome_say(outcome *o, const char *format, ...) {
  va_list list;
  if (o->said[0] != 0) return;
  va_start(list, format);
  vsnprintf(o->said, sizeof o->said, format, list);
  va_end(list);
}

/* ---- the ledger ---- */

static void path_of(const crew *c, const part *p, char out[PATH_ROOM]) {
  snprintf(out, PATH_ROOM, "%s/%s.%s", c->state, p->name, c->mode);
}

static void sum_of_text(const char *text, size_t n, char out[CHECK_TEXT + 1]) {
  char hex[65];
  const vt_hash256 h = vt_hash_bytes(text, n);
  vt_hash_hex(&h, hex);
  memcpy(out, hex, CHECK_TEXT);
  out[CHECK_TEXT] = 0;
}

/* The line of a unit, its check sum and newline included. */
static int format_line(unsigned unit, const outcome *o, char line[LINE_ROOM]) {
  char check[CHECK_TEXT + 1];
  const int n =
      snprintf(line, LINE_ROOM, "%u %llu %llu %llu %llu %a %s", unit, (unsigned long long)o->inputs,
               (unsigned long long)o->mismatches, (unsigned long long)o->judged,
               (unsigned long long)o->milliseconds, o->worst, o->digest[0] == 0 ? "-" : o->digest);
  sum_of_text(line, (size_t)n, check);
  return n + snprintf(line + n, LINE_ROOM - (size_t)n, " %s\n", check);
}

/* 1 if a line is whole: it ends in a newline and its check sum is right. */
static int read_line(const char *line, unsigned *unit, outcome *o) {
  unsigned long long inputs, mismatches, judged, milliseconds;
  char check[CHECK_TEXT + 1];
  const size_t n = strlen(line);
  if (n < CHECK_TEXT + 2 || line[n - 1] != '\n') return 0;
  sum_of_text(line, n - CHECK_TEXT - 2, check);
  if (strncmp(line + n - CHECK_TEXT - 1, check, CHECK_TEXT) != 0) return 0;
  if (sscanf(line, "%u %llu %llu %llu %llu %la %32s", unit, &inputs, &mismatches, &judged,
             &milliseconds, &o->worst, o->digest) != 7)
    return 0;
  o->inputs = inputs;
  o->mismatches = mismatches;
  o->judged = judged;
  o->milliseconds = milliseconds;
  return 1;
}

static void add_to_ledger(ledger *l, unsigned unit, const outcome *o) {
  if (unit >= MOST_UNITS || l->has[unit]) return;
  l->has[unit] = 1;
  l->done++;
  memcpy(l->digest[unit], o->digest, sizeof o->digest);
  l->sum.inputs += o->inputs;
  l->sum.mismatches += o->mismatches;
  l->sum.judged += o->judged;
  l->sum.milliseconds += o->milliseconds;
  if (o->worst > l->sum.worst) l->sum.worst = o->worst;
}

/* 1 if the first line names this build. */
static int read_head(const crew *c, FILE *file) {
  char line[LINE_ROOM];
  return fgets(line, sizeof line, file) != NULL && strncmp(line, c->build, 64) == 0 &&
         line[64] == '\n';
}

void crew_read(const crew *c, const part *p, unsigned from, unsigned to, ledger *out) {
  char path[PATH_ROOM], line[LINE_ROOM];
  unsigned unit;
  outcome o;
  memset(out, 0, sizeof *out);
  path_of(c, p, path);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  if (read_head(c, file))
    while (fgets(line, sizeof line, file) != NULL)
      if (read_line(line, &unit, &o) && unit >= from && unit < to) add_to_ledger(out, unit, &o);
  fclose(file);
}

/* Makes the ledger one that lines can be added to: of this build, ending in a whole line. */
static int mend(const crew *c, const part *p) {
  char path[PATH_ROOM];
  path_of(c, p, path);
  FILE *file = c->fresh ? NULL : fopen(path, "r+");
  const int good = file != NULL && read_head(c, file);
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

static int write_line(const crew *c, const task *t, const outcome *o) {
  char path[PATH_ROOM], line[LINE_ROOM];
  const size_t n = (size_t)format_line(t->unit, o, line);
  path_of(c, t->p, path);
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
  c->tasks = malloc(sizeof *c->tasks * MOST_TASKS);
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
  if (unit < MOST_UNITS && c->n_tasks < MOST_TASKS) {
    c->tasks[c->n_tasks++] = (task){p, unit};
    return;
  }
  fprintf(stderr, "%s: more than %d units, or %d in all\n", p->name, MOST_UNITS, MOST_TASKS);
  c->broken = 1;
}

void crew_add(crew *c, const part *p, unsigned from, unsigned to) {
  ledger *l = malloc(sizeof *l);
  if (l == NULL || !mend(c, p)) {
    fprintf(stderr, "%s: the ledger of %s cannot be written\n", c->state, p->name);
    c->broken = 1;
    free(l);
    return;
  }
  crew_read(c, p, from, to, l);
  for (unsigned unit = from; unit < to && !c->broken; unit++)
    if (unit >= MOST_UNITS || !l->has[unit]) add_task(c, p, unit);
  free(l);
}

/* ---- work ---- */

static uint64_t thread_milliseconds(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void finish(crew *c, const task *t, const outcome *o) {
  pthread_mutex_lock(&c->lock);
  if (o->said[0] != 0)
    fprintf(stderr, "\r%s: unit %u: %llu wrong; %s\n", t->p->name, t->unit,
            (unsigned long long)o->mismatches, o->said);
  if (o->broken) c->broken = 1;
  if (!o->broken && !write_line(c, t, o)) {
    fprintf(stderr, "\r%s: the ledger of %s cannot be written\n", c->state, t->p->name);
    c->broken = 1;
  }
  pthread_mutex_unlock(&c->lock);
}

static void *worker(void *context) {
  crew *c = context;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  for (unsigned i; !c->broken && (i = c->next++) < c->n_tasks; c->done++) {
    const task *t = &c->tasks[i];
    const uint64_t start = thread_milliseconds();
    outcome o;
    memset(&o, 0, sizeof o);
    t->p->check(t->p, t->unit, &o);
    o.milliseconds = thread_milliseconds() - start;
    finish(c, t, &o);
  }
  mpfr_free_cache();
  vt_fpenv_leave(&saved);
  return NULL;
}

static void say_progress(const crew *c, double spent, int terminal, int end) {
  const unsigned done = c->done;
  const double left = done == 0 ? 0 : spent / done * (c->n_tasks - done);
  fprintf(stderr, "%s%u of %u units, %.0f s, about %.0f s left%s", terminal ? "\r" : "", done,
          c->n_tasks, spent, left, terminal && !end ? "   " : "\n");
}

/* On a terminal one line that changes every second, elsewhere a line a minute. */
static void show_progress(crew *c) {
  const struct timespec tick = {.tv_nsec = 50 * 1000 * 1000};
  const int terminal = isatty(STDERR_FILENO);
  const double every = terminal ? 1 : 60;
  const time_t start = time(NULL);
  for (double said = -every;;) {
    const double spent = difftime(time(NULL), start);
    const int end = c->done == c->n_tasks || c->broken;
    if (end || spent >= said + every) {
      say_progress(c, spent, terminal, end);
      said = spent;
    }
    if (end) return;
    nanosleep(&tick, NULL);
  }
}

int crew_run(crew *c, unsigned jobs) {
  pthread_t threads[MOST_JOBS];
  unsigned started = 0;
  if (c->n_tasks == 0 || c->broken) return !c->broken;
  for (; started < jobs; started++)
    if (pthread_create(&threads[started], NULL, worker, c) != 0) break;
  if (started == 0) c->broken = 1;
  show_progress(c);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
  return !c->broken;
}
