/* SPDX-License-Identifier: Apache-2.0
 * cts.c - the program that runs the conformance suite. It expands the case files, chooses cases,
 * runs them in lanes and compares their digests with the stored ones; docs/conformance.md is its
 * manual. Exit code: 0 all agree, 1 a case failed, 2 usage error or faulty suite, 77 a lane was
 * left out because this processor cannot run it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cts.h"
#include "vt_pool.h"

static const char usage[] =
    "cts [--backend NAME[,NAME...]] [--isa NAME[,NAME...]] [--threads N[,N...]] [--short]\n"
    "    [--only PATTERN]... [--part I/N] [--jobs N] [--json] [--cases FOLDER] [MODE]\n"
    "  --backend   the backends to run on; by default reference:0,reference:1\n"
    "  --isa       run on each of these instruction sets in turn, as in scalar,avx2\n"
    "  --threads   run with each of these numbers of threads in turn, as in 1,3\n"
    "  --short     one case for each op, types and mix, and a few more; --short=env: unless\n"
    "              VOLTA_TEST_FULL is set\n"
    "  --fused     run all passes, so that groups run as one step; otherwise only the passes run\n"
    "              that a program needs\n"
    "  --only      an op, a case's name, or a pattern in which * matches anything; may be "
    "repeated\n"
    "  --part      every Nth case, starting at the Ith (1/4 .. 4/4)\n"
    "modes:\n"
    "  (none)      run and compare with the stored digests\n"
    "  --list      print the names of the chosen cases\n"
    "  --write     run on both reference devices and, if they agree, store the digests;\n"
    "              with --only, --short or --part the digests of the other cases are kept\n"
    "  --grad      compare gradients with differences of the outputs\n"
    "  --layouts   run the reference kernels on strided, transposed, reversed and repeated "
    "operands\n"
    "  --complete [--least N] [--gradients-required]   check that the suite covers the op table\n"
    "  --graphs    check that decompositions and gradients write the stored graphs\n"
    "  --write-graphs   store these graphs' digests\n"
    "  --dump DIR  write inputs, models and results to files\n";

enum mode { RUN, LIST, WRITE, GRAD, LAYOUTS, COMPLETE, GRAPHS, WRITE_GRAPHS, DUMP };
enum { MAX_VALUES = 64 }; /* most values that one option may have */

typedef struct options {
  enum mode mode;
  const char *cases, *dump, *backend[MAX_VALUES], *isa[MAX_VALUES], *only[MAX_VALUES];
  unsigned threads[MAX_VALUES];
  uint32_t n_backends, n_isa, n_threads, n_only, least;
  /* the lanes: each backend with each instruction set and each number of threads */
  cts_lane lane[MAX_VALUES];
  uint32_t n_lanes;
  unsigned skipped; /* number of lanes that this processor cannot run */
  unsigned lacking; /* number of skipped lanes that VOLTA_REQUIRE requires */
  unsigned jobs, part, parts;
  int brief, json, fused, gradients_required;
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

void cts_require_ok(vt_status s, const vt_diag *d) {
  if (s != VT_OK) cts_die("%s", d->text);
}

/* ---- options ---- */

static _Noreturn void exit_with_usage(const char *what) {
  fprintf(stderr, "cts: %s\n%s", what, usage);
  exit(2);
}

static unsigned parse_number(const char *s) {
  char *end;
  const unsigned long n = strtoul(s, &end, 10);
  if (end == s || *end != 0 || n == 0 || n > 1000000000) exit_with_usage("not a number above 0");
  return (unsigned)n;
}

static void parse_names(const char **names, uint32_t *n, char *list) {
  for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
    if (*n == MAX_VALUES) exit_with_usage("too many names");
    names[(*n)++] = name;
  }
}

static void parse_threads(options *o, char *list) {
  for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
    if (o->n_threads == MAX_VALUES) exit_with_usage("too many numbers of threads");
    o->threads[o->n_threads++] = parse_number(word);
  }
}

static void parse_part(options *o, char *s) {
  char *slash = strchr(s, '/');
  if (slash == NULL) exit_with_usage("--part I/N");
  *slash = 0;
  o->part = parse_number(s);
  o->parts = parse_number(slash + 1);
  if (o->part > o->parts) exit_with_usage("--part I/N, I at most N");
}

/* Returns 1 if `word` is an option with a value, which is then stored. */
static int parse_valued_option(options *o, const char *word, char *value) {
  if (strcmp(word, "--backend") == 0) {
    parse_names(o->backend, &o->n_backends, value);
  } else if (strcmp(word, "--isa") == 0) {
    parse_names(o->isa, &o->n_isa, value);
  } else if (strcmp(word, "--threads") == 0) {
    parse_threads(o, value);
  } else if (strcmp(word, "--only") == 0) {
    if (o->n_only == MAX_VALUES) exit_with_usage("too many --only");
    o->only[o->n_only++] = value;
  } else if (strcmp(word, "--part") == 0) {
    parse_part(o, value);
  } else if (strcmp(word, "--jobs") == 0) {
    o->jobs = parse_number(value);
  } else if (strcmp(word, "--cases") == 0) {
    o->cases = value;
  } else if (strcmp(word, "--least") == 0) {
    o->least = parse_number(value);
  } else if (strcmp(word, "--dump") == 0) {
    o->mode = DUMP;
    o->dump = value;
  } else {
    return 0;
  }
  return 1;
}

static int parse_flag(options *o, const char *word) {
  static const struct {
    const char *word;
    enum mode mode;
  } modes[] = {{"--list", LIST},        {"--write", WRITE},   {"--grad", GRAD},
               {"--layouts", LAYOUTS},  {"--graphs", GRAPHS}, {"--write-graphs", WRITE_GRAPHS},
               {"--complete", COMPLETE}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(word, modes[i].word) == 0) {
      o->mode = modes[i].mode;
      return 1;
    }
  const char *full = getenv("VOLTA_TEST_FULL");
  if (strcmp(word, "--short") == 0) return o->brief = 1;
  if (strcmp(word, "--json") == 0) return o->json = 1;
  if (strcmp(word, "--fused") == 0) return o->fused = 1;
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
    if (parse_flag(o, argv[i])) continue;
    if (i + 1 == argc || !parse_valued_option(o, argv[i], argv[i + 1])) exit_with_usage(argv[i]);
    i++;
  }
  if (o->n_backends == 0) parse_names(o->backend, &o->n_backends, both);
}

static void add_lane_if_it_can_run(options *o, const cts_lane *l) {
  const int opens = o->mode == RUN ? cts_lane_opens(l) : 1;
  o->skipped += opens == 0;
  o->lacking += opens < 0;
  if (opens != 1) return;
  if (o->n_lanes == MAX_VALUES) exit_with_usage("too many lanes");
  o->lane[o->n_lanes++] = *l;
}

/* Adds a lane for each combination of the options. Without --isa or --threads there is one choice,
 * the backend's default. */
static void add_lanes(options *o) {
  const uint32_t isas = o->n_isa > 0 ? o->n_isa : 1, teams = o->n_threads > 0 ? o->n_threads : 1;
  for (uint32_t b = 0; b < o->n_backends; b++)
    for (uint32_t i = 0; i < isas; i++)
      for (uint32_t t = 0; t < teams; t++) {
        cts_lane l = cts_lane_of(o->backend[b], o->n_isa > 0 ? o->isa[i] : NULL,
                                 o->n_threads > 0 ? o->threads[t] : 0);
        l.fused = o->fused;
        add_lane_if_it_can_run(o, &l);
      }
}

/* ---- choosing ---- */

static int matches_option_only(const options *o, const vt_suite *s, uint32_t i) {
  int yes = o->n_only == 0;
  for (uint32_t k = 0; k < o->n_only && !yes; k++) yes = vt_suite_case_matches(s, i, o->only[k]);
  return yes;
}

/* Sets chosen[i] to 1 for each case that the options choose, and returns their number. */
static uint32_t choose_cases(const options *o, const vt_suite *s, uint8_t *chosen) {
  uint32_t n = 0, n_chosen = 0;
  vt_diag d = {0};
  memset(chosen, 1, s->n_cases);
  if (o->brief) cts_require_ok(vt_suite_choose_short(s, chosen, &d), &d);
  for (uint32_t i = 0; i < s->n_cases; i++) {
    chosen[i] = chosen[i] && matches_option_only(o, s, i);
    if (chosen[i]) chosen[i] = n++ % o->parts == o->part - 1;
    n_chosen += chosen[i];
  }
  return n_chosen;
}

/* ---- running ---- */

typedef struct selected_runs {
  const options *o;
  const vt_suite *s;
  int writing;          /* 1: the mode --write, which needs no stored digests */
  const uint32_t *list; /* indices of the chosen cases */
  cts_outcome *out;     /* the outcomes: n_lanes for each chosen case */
} selected_runs;

static void run_trial_in_lanes(const selected_runs *w, const cts_trial *t, cts_outcome *out) {
  for (uint32_t l = 0; l < w->o->n_lanes; l++) {
    cts_trial_run(t, &w->o->lane[l], NULL, &out[l]);
    if (out[l].failed || w->writing || vt_suite_expected_digest(w->s, t->i) != NULL) continue;
    cts_outcome_fail(&out[l], "no digest is stored for it: cts --write");
  }
}

/* Runs the ith chosen case in every lane. */
static void run_case(void *context, uint64_t i) {
  const selected_runs *w = context;
  cts_outcome *out = &w->out[i * w->o->n_lanes];
  cts_trial t;
  if (!cts_trial_open(w->s, w->list[i], &t, &out[0])) return;
  run_trial_in_lanes(w, &t, out);
  cts_trial_close(&t);
}

static void free_outcomes(selected_runs *w, uint32_t n) {
  for (size_t i = 0; i < (size_t)n * w->o->n_lanes; i++) free(w->out[i].message);
  free(w->out);
}

static void run_chosen_cases(selected_runs *w, uint32_t n) {
  vt_pool *pool = NULL;
  vt_diag d = {0};
  w->out = calloc((size_t)n * w->o->n_lanes + 1, sizeof *w->out);
  if (w->out == NULL || vt_pool_new(w->o->jobs, vt_alloc_default(), &pool, &d) != VT_OK)
    cts_die("out of memory");
  vt_pool_run(pool, n, run_case, w);
  vt_pool_free(pool);
}

/* ---- reports ---- */

void cts_write_json_string(FILE *f, const char *s) {
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

/* Prints the command that runs this case again in this lane. */
static void print_repeat_command(const cts_lane *l, const char *name) {
  printf("  repeat: cts --backend %s", l->backend);
  if (l->isa != NULL) printf(" --isa %s", l->isa);
  if (l->threads != 0) printf(" --threads %u", l->threads);
  if (l->fused) printf(" --fused");
  printf(" --only '%s'\n", name);
}

static const char *failure_message(const cts_outcome *out) {
  return out->message != NULL ? out->message : "out of memory";
}

static void print_failure(const vt_case *c, const cts_lane *l, const cts_outcome *out) {
  printf("FAILED %s: %s on %s\n  %s\n", c->model->block->op->name, c->name, l->name,
         failure_message(out));
  print_repeat_command(l, c->name);
}

static void print_json_failure(const vt_case *c, const cts_lane *l, const cts_outcome *out,
                               int more) {
  printf("%s\n    {\"op\": \"%s\", \"case\": ", more ? "," : "", c->model->block->op->name);
  cts_write_json_string(stdout, c->name);
  printf(", \"backend\": ");
  cts_write_json_string(stdout, l->name);
  printf(", \"said\": ");
  cts_write_json_string(stdout, failure_message(out));
  printf("}");
}

/* Returns one digest of all results of a lane, in the order of the cases, to compare lanes by. */
static vt_hash256 lane_digest(const selected_runs *w, uint32_t n, uint32_t lane) {
  vt_hasher h;
  vt_hash_init(&h);
  for (uint32_t i = 0; i < n; i++)
    vt_hash_add(&h, w->out[(size_t)i * w->o->n_lanes + lane].digest, 32);
  return vt_hash_done(&h);
}

/* Prints one line per lane, if the command names instruction sets or numbers of threads. */
static void print_lanes(const selected_runs *w, uint32_t n) {
  for (uint32_t l = 0; w->o->n_isa + w->o->n_threads > 0 && l < w->o->n_lanes; l++) {
    const vt_hash256 h = lane_digest(w, n, l);
    unsigned failed = 0;
    for (uint32_t i = 0; i < n; i++) failed += w->out[(size_t)i * w->o->n_lanes + l].failed != 0;
    for (int k = 0; k < 16; k++) printf("%02x", h.b[k]);
    printf("  %s: %u cases, %u failed\n", w->o->lane[l].name, n, failed);
  }
}

static void print_json_summary(const selected_runs *w, uint32_t n, unsigned failed,
                               unsigned stale) {
  printf("\n  ],\n  \"backends\": [");
  for (uint32_t l = 0; l < w->o->n_lanes; l++) {
    printf("%s", l > 0 ? ", " : "");
    cts_write_json_string(stdout, w->o->lane[l].name);
  }
  printf(
      "],\n  \"cases\": %u,\n  \"of\": %u,\n  \"runs\": %u,\n  \"failed\": %u,\n"
      "  \"stale_digests\": %u\n}\n",
      n, w->s->n_cases, n * w->o->n_lanes, failed, stale);
}

static unsigned print_report(const selected_runs *w, uint32_t n, unsigned stale) {
  const options *o = w->o;
  unsigned failed = 0;
  if (o->json) printf("{\n  \"failures\": [");
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t l = 0; l < o->n_lanes; l++) {
      const cts_outcome *out = &w->out[(size_t)i * o->n_lanes + l];
      const vt_case *c = &w->s->cases[w->list[i]];
      if (!out->failed) continue;
      if (o->json) print_json_failure(c, &o->lane[l], out, failed > 0);
      if (!o->json) print_failure(c, &o->lane[l], out);
      failed++;
    }
  if (o->json) {
    print_json_summary(w, n, failed, stale);
    return failed;
  }
  print_lanes(w, n);
  printf("cts: %u of %u cases on %u backends, %u runs failed\n", n, w->s->n_cases, o->n_lanes,
         failed);
  return failed;
}

static unsigned run_cases_mode(const options *o, const vt_suite *s, const uint32_t *list,
                               uint32_t n) {
  selected_runs w = {.o = o, .s = s, .list = list};
  if (s->n_left_over > 0)
    fprintf(stderr, "cts: a stored digest belongs to no case: %s\n", s->left_over);
  run_chosen_cases(&w, n);
  const unsigned failed = print_report(&w, n, s->n_left_over);
  free_outcomes(&w, n);
  return failed + s->n_left_over;
}

/* Runs a case again in lane `l` and adds to `out` the first output that differs from the
 * reference's. `other` is the digest of the other device. */
static void explain_difference(const vt_suite *s, uint32_t i, const cts_lane *l,
                               const uint8_t *other, cts_outcome *out) {
  cts_trial t;
  if (!cts_trial_open(s, i, &t, out)) return;
  cts_trial_run(&t, l, other, out);
  cts_trial_close(&t);
}

/* Makes `a` the outcome of both devices `a` and `b` for a case: failed if either failed, or if
 * their digests differ. */
static void merge_outcomes(const options *o, const vt_suite *s, uint32_t i, cts_outcome *a,
                           cts_outcome *b) {
  if (!a->failed && !b->failed && memcmp(a->digest, b->digest, 32) != 0)
    explain_difference(s, i, &o->lane[1], a->digest, b);
  if (!b->failed) return;
  free(a->message);
  a->message = b->message;
  a->failed = 1;
  b->message = NULL;
}

/* Writes cts.digests, with the new digests of the chosen cases and the stored ones of the others.
 */
static int store_digests(const options *o, const selected_runs *w, uint32_t n) {
  const vt_suite *s = w->s;
  const uint8_t **start = calloc(s->n_cases + 1, sizeof *start);
  if (start == NULL) cts_die("out of memory");
  for (uint32_t i = 0; i < s->n_cases; i++) start[i] = vt_suite_expected_digest(s, i);
  for (uint32_t i = 0; i < n; i++) start[w->list[i]] = w->out[i].digest;
  for (uint32_t i = 0; i < s->n_cases; i++)
    if (start[i] == NULL) cts_die("no digest is stored for %s: choose it too", s->cases[i].name);
  const int stored = cts_digests_write(o->cases, s, start);
  free(start);
  return stored;
}

static unsigned write_digests_mode(options *o, vt_suite *s, const uint32_t *list, uint32_t n) {
  if (o->n_lanes != 2) exit_with_usage("--write takes no other backends");
  for (uint32_t i = 0; i < n; i++) s->cases[list[i]].expected = NULL;
  selected_runs w = {.o = o, .s = s, .list = list, .writing = 1};
  run_chosen_cases(&w, n);
  for (uint32_t i = 0; i < n; i++) {
    merge_outcomes(o, s, list[i], &w.out[2 * i], &w.out[2 * i + 1]);
    w.out[i] = w.out[2 * i];
    if (i > 0) w.out[2 * i].message = NULL;
  }
  o->n_lanes = 1;
  unsigned failed = print_report(&w, n, 0);
  if (failed == 0) failed += !store_digests(o, &w, n);
  free_outcomes(&w, n);
  return failed;
}

static unsigned list_names_mode(const options *o, const vt_suite *s, const uint32_t *list,
                                uint32_t n) {
  if (o->json) printf("[");
  for (uint32_t i = 0; i < n; i++) {
    if (!o->json) {
      printf("%s\n", s->cases[list[i]].name);
      continue;
    }
    printf("%s\n  ", i > 0 ? "," : "");
    cts_write_json_string(stdout, s->cases[list[i]].name);
  }
  if (o->json) printf("\n]\n");
  return 0;
}

static unsigned run_chosen_mode(options *o, vt_suite *s, const uint8_t *chosen, uint32_t *list) {
  const cts_selection selection = {s, chosen, o->jobs};
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_cases; i++)
    if (chosen[i]) list[n++] = i;
  switch (o->mode) {
    case LIST:
      return list_names_mode(o, s, list, n);
    case WRITE:
      return write_digests_mode(o, s, list, n);
    case GRAD:
      return cts_check_gradients(&selection);
    case LAYOUTS:
      return cts_check_layouts(&selection);
    case COMPLETE:
      return cts_check_complete(s, o->least, o->gradients_required);
    case GRAPHS:
      return cts_check_graphs(s, o->cases);
    case WRITE_GRAPHS:
      return cts_write_graphs(s, o->cases);
    case DUMP:
      return cts_dump_cases(&selection, o->dump);
    default:
      return run_cases_mode(o, s, list, n);
  }
}

/* Reads the case files. The stored digests are read only for a run, and for --write of some cases,
 * which keeps the digests of the others. */
static vt_suite *read_suite(const options *o) {
  vt_suite *s = NULL;
  vt_diag d = {0};
  const int part = o->n_only > 0 || o->brief || o->parts > 1;
  const int stored = o->mode == RUN || (o->mode == WRITE && part);
  cts_require_ok(
      stored ? vt_suite_read(o->cases, NULL, &s, &d) : vt_suite_read_cases(o->cases, NULL, &s, &d),
      &d);
  return s;
}

/* Returns the exit code: 77 if a lane was skipped, 1 if a case failed or a required lane cannot
 * run. */
static int exit_code(const options *o, unsigned failed) {
  if (failed + o->lacking > 0) return 1;
  return o->skipped > 0 ? 77 : 0;
}

int main(int argc, char **argv) {
  static options o;
  read_options(&o, argc, argv);
  add_lanes(&o);
  if (o.n_lanes == 0) return exit_code(&o, 0);
  vt_suite *s = read_suite(&o);
  uint8_t *chosen = calloc(s->n_cases + 1, 1);
  uint32_t *list = calloc(s->n_cases + 1, sizeof *list);
  if (chosen == NULL || list == NULL) cts_die("out of memory");
  if (choose_cases(&o, s, chosen) == 0) cts_die("no case is chosen");
  const unsigned failed = run_chosen_mode(&o, s, chosen, list);
  free(chosen);
  free(list);
  vt_suite_free(s);
  return exit_code(&o, failed);
}
