/* SPDX-License-Identifier: Apache-2.0
 * steady_check.c - a program on the GPU that has run a few times is steady: a run takes no memory,
 * of the host or of the device, loads and compiles nothing, and is one graph that is launched. It
 * holds when parameters stay on the device and when they are streamed, which is a graph for each
 * stretch between copies.
 *   steady_check MODEL   behind the driver of tests/fake_cuda; MODEL: examples/mlp.vt */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake_reset.h"
#include "volta/volta_tools.h"

enum { WARM = 4, RUNS = 10, ROWS = 3, WIDTH = 784 };

static unsigned long allocations;

static void *counted(void *user, void *p, size_t old, size_t n) {
  (void)user, (void)old;
  if (n == 0) return free(p), NULL;
  allocations++;
  return realloc(p, n);
}

static void need(vt_status s, const vt_diag *d) {
  if (s == VT_OK) return;
  fprintf(stderr, "steady_check: %s\n", d->text);
  exit(2);
}

/* From now on the driver writes down what it is asked for. */
static void listen_to_driver(const char *log) {
  remove(log);
  if (fake_set("FAKE_CUDA_LOG", log)) return;
  fprintf(stderr, "steady_check: this is not the driver of tests/fake_cuda\n");
  exit(2);
}

static void run_once(vt_program *p, float shift) {
  static float x[ROWS * WIDTH];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {ROWS, WIDTH}, .data = x};
  vt_diag d = {0};
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)(i % 37) / 16.0f - shift;
  need(vt_program_set_input(p, "x", &t, &d), &d);
  need(vt_program_run(p, &d), &d);
}

/* What takes something, or prepares something, and is not for every run. */
static int is_costly(const char *line) {
  static const char *const calls[] = {"cuMemAlloc",
                                      "cuMemHostAlloc",
                                      "cuMemFree",
                                      "cuModule",
                                      "cuGraphInstantiate",
                                      "cuGraphExecDestroy",
                                      "cuStreamBeginCapture",
                                      "cuLaunch",
                                      "cuEventCreate"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strncmp(line, calls[i], strlen(calls[i])) == 0) return 1;
  return 0;
}

static unsigned read_log(const char *log, unsigned *graphs) {
  unsigned costly = 0;
  char line[512];
  FILE *f = fopen(log, "r");
  *graphs = 0;
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    *graphs += strncmp(line, "cuGraphLaunch", 13) == 0;
    if (!is_costly(line)) continue;
    printf("a run of a warm program asks for %s", line);
    costly++;
  }
  if (f != NULL) fclose(f);
  return costly;
}

/* Returns what was not steady. `graphs`: at least so many a run, and as many in all of them. */
static unsigned check(const vt_model *m, const char *log, int streams, unsigned graphs) {
  const vt_alloc a = {.resize = counted};
  const vt_binding bind = {"B", ROWS};
  const vt_options o = {.size = sizeof o,
                        .backend = "cuda",
                        .n_bind = 1,
                        .bind = &bind,
                        .alloc = &a,
                        .stream = streams ? "all" : NULL};
  vt_program *p = NULL;
  vt_diag d = {0};
  unsigned launched;
  need(vt_program_new(m, &o, &p, &d), &d);
  need(vt_program_init_params(p, 0, &d), &d);
  for (int i = 0; i < WARM; i++) run_once(p, (float)i);
  listen_to_driver(log);
  const unsigned long before = allocations;
  for (int i = 0; i < RUNS; i++) run_once(p, (float)i);
  const unsigned long taken = allocations - before;
  unsigned failed = read_log(log, &launched);
  if (taken != 0) printf("%d runs of a warm program allocate %lu times\n", RUNS, taken);
  if (launched < graphs * RUNS || launched % RUNS != 0)
    failed += printf("%d runs are %u graphs\n", RUNS, launched) > 0;
  vt_program_free(p);
  return failed + (taken != 0);
}

int main(int argc, char **argv) {
  vt_model *m = NULL;
  vt_diag d = {0};
  char log[64];
  if (argc != 2) return 2;
  snprintf(log, sizeof log, "steady_check.%ld.log", (long)getpid());
  need(vt_model_read(argv[1], NULL, &m, &d), &d);
  const unsigned failed = check(m, log, 0, 1) + check(m, log, 1, 2);
  vt_model_free(m);
  remove(log);
  printf("steady: %d runs twice, %u failures\n", RUNS, failed);
  return failed != 0;
}
