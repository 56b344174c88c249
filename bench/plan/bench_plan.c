/* SPDX-License-Identifier: Apache-2.0
 * bench_plan.c - measures how long passes and planning take for graphs of different sizes.
 *
 *   bench_plan            a Markdown table for 1,000, 10,000 and 100,000 nodes
 *   bench_plan --check    fails if 10,000 nodes take too long to plan, or if the time grows much
 *                         faster than n log n; exits with 77 (skipped) unless VOLTA_TEST_FULL is
 * set
 *
 * "Passes" is the time of all passes on the written graph. "Plan" is the time to plan the fused
 * graph that they give, with both verifiers, the printed plan and its digests, as in every run.
 * Each time is the best of three, in CPU seconds of one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench_graphs.h"
#include "vt_pass.h"
#include "vt_plan.h"

enum { ROUNDS = 3, SIZES = 3, SOURCE = 0, MEMORY = 1 };
static const uint32_t sizes[SIZES] = {1000, 10000, 100000};

typedef struct times {
  uint32_t nodes;
  /* CPU seconds of all passes; CPU seconds of planning with the schedules SOURCE and MEMORY. */
  double passes, plan[2];
} times;

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static vt_status report_no_scratch(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  (void)self, (void)step, (void)d;
  *out = 0;
  return VT_OK;
}

/* Prints the message and exits with 1. */
static void fail_and_exit(const char *what, const vt_diag *d) {
  fprintf(stderr, "bench_plan: %s: %s\n", what, d->text);
  exit(1);
}

static double time_passes(const vt_graph *g, vt_graph **out_graph) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  vt_graph *from = NULL;
  vt_diag d = {0};
  const double start = cpu_seconds();
  for (uint32_t i = 0; i < vt_pass_total(); i++) {
    vt_graph *to = NULL;
    if (vt_pass_run(i, from != NULL ? from : g, &o, &to, &d) != VT_OK) fail_and_exit("passes", &d);
    vt_graph_free(from);
    from = to;
  }
  const double spent = cpu_seconds() - start;
  *out_graph = from;
  return spent;
}

static double time_plan(const vt_graph *g, uint32_t schedule) {
  const vt_plan_options o = {.schedule = schedule};
  const vt_target t = {"bench", 0, NULL, report_no_scratch, NULL};
  vt_plan *p = NULL;
  vt_diag d = {0};
  const double start = cpu_seconds();
  if (vt_plan_build(g, &o, &t, vt_alloc_default(), &p, &d) != VT_OK) fail_and_exit("planning", &d);
  const double spent = cpu_seconds() - start;
  vt_plan_free(p);
  return spent;
}

static double smaller(double a, double b) { return a < b ? a : b; }

static times measure_form(const bench_form *f, uint32_t nodes) {
  vt_graph *g = bench_graph_new(f, nodes);
  if (g == NULL) fail_and_exit(f->name, &(vt_diag){.text = "the graph cannot be made"});
  times t = {g->n_nodes, INFINITY, {INFINITY, INFINITY}};
  for (uint32_t i = 0; i < ROUNDS; i++) {
    vt_graph *made = NULL;
    t.passes = smaller(t.passes, time_passes(g, &made));
    for (uint32_t k = 0; k < 2; k++) t.plan[k] = smaller(t.plan[k], time_plan(made, k));
    vt_graph_free(made);
  }
  vt_graph_free(g);
  return t;
}

/* Nanoseconds divided by n log2 n, which is constant if the time grows as n log n. */
static double ns_per_n_log_n(double seconds, uint32_t n) { return seconds * 1e9 / (n * log2(n)); }

static void print_row(const bench_form *f, const times *t) {
  printf("| %s | %u | %.4f | %.1f | %.4f | %.1f | %.4f | %.1f |\n", f->name, t->nodes, t->passes,
         ns_per_n_log_n(t->passes, t->nodes), t->plan[SOURCE],
         ns_per_n_log_n(t->plan[SOURCE], t->nodes), t->plan[MEMORY],
         ns_per_n_log_n(t->plan[MEMORY], t->nodes));
  fflush(stdout);
}

static void print_table(void) {
  printf(
      "| form | nodes | passes, s | ns / n log n | plan, s | ns / n log n | plan for memory, s | "
      "ns / "
      "n log n |\n|---|---|---|---|---|---|---|---|\n");
  for (const bench_form *f = bench_forms; f->name != NULL; f++)
    for (uint32_t i = 0; i < SIZES; i++) {
      const times t = measure_form(f, sizes[i]);
      print_row(f, &t);
    }
}

/* Planning 10,000 nodes may take a quarter of a CPU second, and the time per n log n may grow
 * threefold from 10,000 to 100,000 nodes. This bound is wide, because a machine may be slow; a
 * quadratic planner would take a hundred times as long for the larger graph. */
static int is_planning_too_slow(void) {
  const double most = 0.25, growth = 3.0;
  int bad = 0;
  for (const bench_form *f = bench_forms; f->name != NULL; f++) {
    const times small = measure_form(f, 10000), large = measure_form(f, 100000);
    for (uint32_t k = 0; k < 2; k++) {
      const double grown =
          ns_per_n_log_n(large.plan[k], large.nodes) / ns_per_n_log_n(small.plan[k], small.nodes);
      const int slow = small.plan[k] > most || grown > growth;
      printf("%s, %s: %u nodes in %.3f s, %u in %.3f s, %.2f times n log n%s\n", f->name,
             k == SOURCE ? "source" : "memory", small.nodes, small.plan[k], large.nodes,
             large.plan[k], grown, slow ? ": TOO SLOW" : "");
      bad |= slow;
    }
  }
  return bad;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--check") != 0) {
    fprintf(stderr, "usage: bench_plan [--check]\n");
    return 2;
  }
  if (argc > 1) return getenv("VOLTA_TEST_FULL") == NULL ? 77 : is_planning_too_slow();
  print_table();
  return 0;
}
