/* SPDX-License-Identifier: Apache-2.0
 * cts.c - the conformance suite's program. It expands the case files, chooses, runs and reports;
 * docs/conformance.md is its manual. Exit: 0 all as stored, 1 something is not, 2 usage. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cts.h"
#include "vt_pool.h"

static const char usage[] =
    "cts [--backend NAME[,NAME...]] [--short] [--only PATTERN]... [--part I/N] [--jobs N] "
    "[--json]\n"
    "    [--cases FOLDER] [MODE]\n"
    "  --backend   the backends to run on; reference:0,reference:1 unless told\n"
    "  --short     one case for each op, types and mix, and a few more; --short=env: unless\n"
    "              VOLTA_TEST_FULL is set\n"
    "  --only      an op, a case's name, or a pattern in which * is anything; may be repeated\n"
    "  --part      every Nth case, from the Ith (1/4 .. 4/4)\n"
    "modes:\n"
    "  (none)      run and compare with the stored digests\n"
    "  --list      the names of the chosen cases\n"
    "  --write     run all on both reference devices and, if they agree, store the digests\n"
    "  --grad      gradients against differences of the outputs\n"
    "  --layouts   the reference kernels over strided, turned, reversed and repeated operands\n"
    "  --complete [--least N] [--gradients-required]   does the suite cover the op table?\n"
    "  --graphs    decompositions and gradients write the graphs that are stored, of all models\n"
    "  --write-graphs   store them\n"
    "  --dump DIR  inputs, models and results as files\n";

enum mode { RUN, LIST, WRITE, GRAD, SHAPES, COMPLETE, GRAPHS, WRITE_GRAPHS, DUMP };
enum { MOST = 64 };

typedef struct options {
  enum mode mode;
  const char *cases, *dump, *backend[MOST], *only[MOST];
  uint32_t n_backends, n_only, least;
  unsigned jobs, part, parts;
  int brief, json, gradients_required;
} options;

void cts_die(const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  fprintf(stderr, "cts: ");
  vfprintf(stderr, format, ap);
  fprintf(stderr, "\n");
  va_end(ap);
  exit(2);
}

void cts_need(vt_status s, const vt_diag *d) {
  if (s != VT_OK) cts_die("%s", d->text);
}

/* ---- options ---- */

static _Noreturn void bad_usage(const char *what) {
  fprintf(stderr, "cts: %s\n%s", what, usage);
  exit(2);
}

static unsigned number_of(const char *s) {
  char *end;
  const unsigned long n = strtoul(s, &end, 10);
  if (end == s || *end != 0 || n == 0 || n > 1000000000) bad_usage("not a number above 0");
  return (unsigned)n;
}

static void take_backends(options *o, char *list) {
  for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
    if (o->n_backends == MOST) bad_usage("too many backends");
    o->backend[o->n_backends++] = name;
  }
}

static void take_part(options *o, char *s) {
  char *slash = strchr(s, '/');
  if (slash == NULL) bad_usage("--part I/N");
  *slash = 0;
  o->part = number_of(s);
  o->parts = number_of(slash + 1);
  if (o->part > o->parts) bad_usage("--part I/N, I at most N");
}

/* 1 when `word` is an option with a value, and the value was taken. */
static int take_valued(options *o, const char *word, char *value) {
  if (strcmp(word, "--backend") == 0) {
    take_backends(o, value);
  } else if (strcmp(word, "--only") == 0) {
    if (o->n_only == MOST) bad_usage("too many --only");
    o->only[o->n_only++] = value;
  } else if (strcmp(word, "--part") == 0) {
    take_part(o, value);
  } else if (strcmp(word, "--jobs") == 0) {
    o->jobs = number_of(value);
  } else if (strcmp(word, "--cases") == 0) {
    o->cases = value;
  } else if (strcmp(word, "--least") == 0) {
    o->least = number_of(value);
  } else if (strcmp(word, "--dump") == 0) {
    o->mode = DUMP;
    o->dump = value;
  } else {
    return 0;
  }
  return 1;
}

static int take_flag(options *o, const char *word) {
  static const struct {
    const char *word;
    enum mode mode;
  } modes[] = {{"--list", LIST},        {"--write", WRITE},   {"--grad", GRAD},
               {"--layouts", SHAPES},   {"--graphs", GRAPHS}, {"--write-graphs", WRITE_GRAPHS},
               {"--complete", COMPLETE}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(word, modes[i].word) == 0) {
      o->mode = modes[i].mode;
      return 1;
    }
  const char *full = getenv("VOLTA_TEST_FULL");
  if (strcmp(word, "--short") == 0) return o->brief = 1;
  if (strcmp(word, "--json") == 0) return o->json = 1;
  if (strcmp(word, "--gradients-required") == 0) return o->gradients_required = 1;
  if (strcmp(word, "--short=env") != 0) return 0;
  o->brief = full == NULL || full[0] == 0;
  return 1;
}

static void read_options(options *o, int argc, char **argv) {
  static char both[] = "reference:0,reference:1";
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  *o = (options){.cases = "tests/cts", .part = 1, .parts = 1, .least = 20000};
  o->jobs = cores > 0 && cores < 64 ? (unsigned)cores : 1;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (take_flag(o, argv[i])) continue;
    if (i + 1 == argc || !take_valued(o, argv[i], argv[i + 1])) bad_usage(argv[i]);
    i++;
  }
  if (o->n_backends == 0) take_backends(o, both);
}

/* A name that no run can use is a mistake in the command, not a failure of every case. */
static void check_backends(const options *o) {
  for (uint32_t i = 0; o->mode == RUN && i < o->n_backends; i++) {
    vt_diag d = {0};
    int itself;
    if (strchr(o->backend[i], '/') != NULL) continue; /* a plug-in is looked at by each run */
    if (vt_op_supported(o->backend[i], VT_OP_literal, &itself, &d) != VT_OK)
      cts_die("--backend %s: %s", o->backend[i], d.text);
  }
}

/* ---- choosing ---- */

static int wanted(const options *o, const vt_suite *s, uint32_t i) {
  int yes = o->n_only == 0;
  for (uint32_t k = 0; k < o->n_only && !yes; k++) yes = vt_suite_matches(s, i, o->only[k]);
  return yes;
}

static uint32_t choose(const options *o, const vt_suite *s, uint8_t *chosen) {
  uint32_t n = 0, kept = 0;
  vt_diag d = {0};
  memset(chosen, 1, s->n_cases);
  if (o->brief) cts_need(vt_suite_choose_short(s, chosen, &d), &d);
  for (uint32_t i = 0; i < s->n_cases; i++) {
    chosen[i] = chosen[i] && wanted(o, s, i);
    if (chosen[i]) chosen[i] = n++ % o->parts == o->part - 1;
    kept += chosen[i];
  }
  return kept;
}

/* ---- running ---- */

typedef struct work {
  const options *o;
  const vt_suite *s;
  int writing;          /* nothing is stored yet */
  const uint32_t *list; /* the chosen cases */
  cts_outcome *out;     /* n_backends for each of them */
} work;

static void job(void *context, uint64_t i) {
  const work *w = context;
  for (uint32_t b = 0; b < w->o->n_backends; b++) {
    cts_outcome *out = &w->out[i * w->o->n_backends + b];
    cts_run(w->s, w->list[i], w->o->backend[b], NULL, out);
    if (out->failed || w->writing || vt_suite_expected(w->s, w->list[i]) != NULL) continue;
    out->failed = 1;
    snprintf(out->said, sizeof out->said, "no digest is stored for it: cts --write");
  }
}

static void run_all(work *w, uint32_t n) {
  vt_pool *pool = NULL;
  vt_diag d = {0};
  w->out = calloc((size_t)n * w->o->n_backends + 1, sizeof *w->out);
  if (w->out == NULL || vt_pool_new(w->o->jobs, vt_alloc_default(), &pool, &d) != VT_OK)
    cts_die("out of memory");
  vt_pool_run(pool, n, job, w);
  vt_pool_free(pool);
}

/* ---- reports ---- */

void cts_write_string(FILE *f, const char *s) {
  putc('"', f);
  for (; *s != 0; s++) {
    if (*s == '\n') {
      fputs("\\n", f);
    } else if ((unsigned char)*s < 32) {
      fprintf(f, "\\u%04x", (unsigned char)*s);
    } else {
      if (*s == '"' || *s == '\\') putc('\\', f);
      putc(*s, f);
    }
  }
  putc('"', f);
}

static void say_failure(const vt_case *c, const char *backend, const cts_outcome *out) {
  printf("FAILED %s: %s on %s\n  %s\n  repeat: cts --backend %s --only '%s'\n",
         c->model->block->op->name, c->name, backend, out->said, backend, c->name);
}

static void json_failure(const vt_case *c, const char *backend, const cts_outcome *out, int more) {
  printf("%s\n    {\"op\": \"%s\", \"case\": ", more ? "," : "", c->model->block->op->name);
  cts_write_string(stdout, c->name);
  printf(", \"backend\": ");
  cts_write_string(stdout, backend);
  printf(", \"said\": ");
  cts_write_string(stdout, out->said);
  printf("}");
}

static unsigned report(const work *w, uint32_t n, unsigned stale) {
  const options *o = w->o;
  unsigned failed = 0;
  if (o->json) printf("{\n  \"failures\": [");
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t b = 0; b < o->n_backends; b++) {
      const cts_outcome *out = &w->out[i * o->n_backends + b];
      const vt_case *c = &w->s->cases[w->list[i]];
      if (!out->failed) continue;
      if (o->json) json_failure(c, o->backend[b], out, failed > 0);
      if (!o->json) say_failure(c, o->backend[b], out);
      failed++;
    }
  if (o->json) printf("\n  ],\n  \"backends\": [");
  for (uint32_t b = 0; o->json && b < o->n_backends; b++) {
    printf("%s", b > 0 ? ", " : "");
    cts_write_string(stdout, o->backend[b]);
  }
  if (o->json)
    printf(
        "],\n  \"cases\": %u,\n  \"of\": %u,\n  \"runs\": %u,\n  \"failed\": %u,\n"
        "  \"stale_digests\": %u\n}\n",
        n, w->s->n_cases, n * o->n_backends, failed, stale);
  if (!o->json)
    printf("cts: %u of %u cases on %u backends, %u runs failed\n", n, w->s->n_cases, o->n_backends,
           failed);
  return failed;
}

static unsigned run_mode(const options *o, const vt_suite *s, const uint32_t *list, uint32_t n) {
  work w = {.o = o, .s = s, .list = list};
  if (s->n_left_over > 0)
    fprintf(stderr, "cts: a digest is stored for no case: %s\n", s->left_over);
  run_all(&w, n);
  const unsigned failed = report(&w, n, s->n_left_over);
  free(w.out);
  return failed + s->n_left_over;
}

static unsigned write_mode(options *o, const vt_suite *s, const uint32_t *list, uint32_t n) {
  if (n != s->n_cases) bad_usage("--write takes all cases");
  if (o->n_backends != 2) bad_usage("--write takes no other backends");
  work w = {.o = o, .s = s, .list = list, .writing = 1};
  run_all(&w, n);
  for (uint32_t i = 0; i < n; i++) {
    cts_outcome *a = &w.out[2 * i], *b = a + 1;
    if (!a->failed && !b->failed && memcmp(a->digest, b->digest, 32) != 0)
      cts_run(s, i, "reference:1", a->digest, b); /* says where they part */
    w.out[i] = *a;
    w.out[i].failed |= b->failed;
    if (b->failed) snprintf(w.out[i].said, sizeof w.out[i].said, "%s", b->said);
  }
  o->n_backends = 1;
  unsigned failed = report(&w, n, 0);
  if (failed == 0) failed += !cts_digests_write(o->cases, s, w.out);
  free(w.out);
  return failed;
}

static unsigned list_mode(const options *o, const vt_suite *s, const uint32_t *list, uint32_t n) {
  if (o->json) printf("[");
  for (uint32_t i = 0; i < n; i++) {
    if (!o->json) {
      printf("%s\n", s->cases[list[i]].name);
      continue;
    }
    printf("%s\n  ", i > 0 ? "," : "");
    cts_write_string(stdout, s->cases[list[i]].name);
  }
  if (o->json) printf("\n]\n");
  return 0;
}

static unsigned run(options *o, const vt_suite *s, const uint8_t *chosen, uint32_t *list) {
  const cts_selection selection = {s, chosen, o->jobs};
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_cases; i++)
    if (chosen[i]) list[n++] = i;
  switch (o->mode) {
    case LIST:
      return list_mode(o, s, list, n);
    case WRITE:
      return write_mode(o, s, list, n);
    case GRAD:
      return cts_check_gradients(&selection);
    case SHAPES:
      return cts_check_layouts(&selection);
    case COMPLETE:
      return cts_check_complete(s, o->least, o->gradients_required);
    case GRAPHS:
      return cts_check_graphs(s, o->cases);
    case WRITE_GRAPHS:
      return cts_write_graphs(s, o->cases);
    case DUMP:
      return cts_dump(&selection, o->dump);
    default:
      return run_mode(o, s, list, n);
  }
}

/* Only a run needs what is stored: the other modes look at cases, or store anew. */
static vt_suite *read_suite(const options *o) {
  vt_suite *s = NULL;
  vt_diag d = {0};
  cts_need(o->mode == RUN ? vt_suite_read(o->cases, NULL, &s, &d)
                          : vt_suite_read_cases(o->cases, NULL, &s, &d),
           &d);
  return s;
}

int main(int argc, char **argv) {
  options o;
  read_options(&o, argc, argv);
  check_backends(&o);
  vt_suite *s = read_suite(&o);
  uint8_t *chosen = calloc(s->n_cases + 1, 1);
  uint32_t *list = calloc(s->n_cases + 1, sizeof *list);
  if (chosen == NULL || list == NULL) cts_die("out of memory");
  if (choose(&o, s, chosen) == 0) cts_die("no case is chosen");
  const unsigned failed = run(&o, s, chosen, list);
  free(chosen);
  free(list);
  vt_suite_free(s);
  return failed != 0;
}
