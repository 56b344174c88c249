/* SPDX-License-Identifier: Apache-2.0
 * steady_check.c - a program on the GPU that has run a few times is in a steady state: a run
 * allocates no host or device memory, loads and compiles nothing, and launches one graph. With
 * streamed parameters it launches one graph per segment between copies. A program takes the bytes
 * on the device that its plan says. No run loads a kernel, not
 * even the first, because then it would be too late to choose another backend. A program that waits
 * for results on the host is never recorded.
 *   steady_check MODEL   with the emulated driver of tests/fake_cuda; MODEL: examples/mlp.vt, whose
 *                        folder has the other models */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_reset.h"
#include "volta/volta_tools.h"

enum { WARM = 4, RUNS = 10, ROWS = 3, WIDTH = 784 };

static unsigned long allocations;

static void *count_allocation(void *user, void *p, size_t old, size_t n) {
  (void)user;
  (void)old;
  if (n == 0) {
    free(p);
    return NULL;
  }
  allocations++;
  return realloc(p, n);
}

static void exit_if_failed(vt_status s, const vt_diag *d) {
  if (s == VT_OK) return;
  fprintf(stderr, "steady_check: %s\n", d->text);
  exit(2);
}

/* Makes the driver log its calls to a new file. */
static void log_calls_to_new_file(const char *log) {
  remove(log);
  if (fake_set_and_reset("FAKE_CUDA_LOG", log)) return;
  fprintf(stderr, "steady_check: this is not the driver of tests/fake_cuda\n");
  exit(2);
}

static void run_once(vt_program *p, float shift) {
  static float x[ROWS * WIDTH];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {ROWS, WIDTH}, .data = x};
  vt_diag d = {0};
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)(i % 37) / 16.0f - shift;
  exit_if_failed(vt_program_set_input(p, "x", &t, &d), &d);
  exit_if_failed(vt_program_run(p, &d), &d);
}

/* Returns 1 for a call that allocates or prepares something and must not occur in every run. */
static int is_costly_call(const char *line) {
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

static unsigned count_costly_calls(const char *log, unsigned *graphs) {
  unsigned costly = 0;
  char line[512];
  FILE *f = fopen(log, "r");
  *graphs = 0;
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    *graphs += strncmp(line, "cuGraphLaunch", 13) == 0;
    if (!is_costly_call(line)) continue;
    printf("a run of a warm program asks for %s", line);
    costly++;
  }
  if (f != NULL) fclose(f);
  return costly;
}

/* Returns the number of violations. Each run must launch at least `graphs` graphs, and all runs the
 * same number. */
static unsigned count_steady_violations(const vt_model *m, const char *log, int streams,
                                        unsigned graphs) {
  const vt_alloc a = {.resize = count_allocation};
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
  exit_if_failed(vt_program_new(m, &o, &p, &d), &d);
  exit_if_failed(vt_program_init_params(p, 0, &d), &d);
  for (int i = 0; i < WARM; i++) run_once(p, (float)i);
  log_calls_to_new_file(log);
  const unsigned long before = allocations;
  for (int i = 0; i < RUNS; i++) run_once(p, (float)i);
  const unsigned long taken = allocations - before;
  unsigned failed = count_costly_calls(log, &launched);
  if (taken != 0) printf("%d runs of a warm program allocate %lu times\n", RUNS, taken);
  if (launched < graphs * RUNS || launched % RUNS != 0)
    failed += printf("%d runs are %u graphs\n", RUNS, launched) > 0;
  vt_program_free(p);
  return failed + (taken != 0);
}

/* ---- kernels ---- */

/* The branch taken is known only at run time, and each branch needs other kernels. One branch is
 * never taken and would not terminate in reasonable time. */
static const char branches[] =
    "volta 1\n"
    "model branches {\n"
    "  dim B, T\n"
    "  input x: f32[B, T]\n"
    "  all = loop(x, count=3, carried=1, each=0) (i, h) {\n"
    "    give tanh(h)\n"
    "  }\n"
    "  some = cond(sum(all) > 1000.0) {\n"
    "    give loop(all, count=1099511627776, carried=1, each=0) (j, g) {\n"
    "      give exp(g)\n"
    "    }\n"
    "  } else {\n"
    "    give all\n"
    "  }\n"
    "  output y = cond(sum(all) > 0.0) {\n"
    "    give softmax(some)\n"
    "  } else {\n"
    "    give cumsum(some)\n"
    "  }\n"
    "}\n";
static const char *const model_files[] = {
    "tiny_transformer.vt", "mlp.vt", "lstm.vt", "encoder.vt", "cnn.vt", "quant_mlp.vt", NULL};
enum {
  MODELS = sizeof model_files / sizeof *model_files
}; /* the last entry, NULL, stands for the model `branches` */

static vt_model *read_model_in_folder_of(const char *path, const char *name) {
  char other[4096];
  vt_model *m = NULL;
  vt_diag d = {0};
  const char *slash = strrchr(path, '/');
  const int n = slash != NULL ? (int)(slash - path) + 1 : 0;
  snprintf(other, sizeof other, "%.*s%s", n, path, name != NULL ? name : "");
  exit_if_failed(name != NULL ? vt_model_read(other, NULL, &m, &d)
                              : vt_model_parse(branches, sizeof branches - 1, NULL, &m, &d),
                 &d);
  return m;
}

static unsigned count_calls(const char *log, const char *name) {
  unsigned n = 0;
  char line[512];
  FILE *f = fopen(log, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    n += strncmp(line, name, strlen(name)) == 0;
  if (f != NULL) fclose(f);
  return n;
}

enum { BATCH = 2, STEPS = 16 };

/* Sets all elements of the input to `sign`, so that their sum has this sign. */
static void set_input_sign(vt_program *p, float sign) {
  float x[BATCH * STEPS];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {BATCH, STEPS}, .data = x};
  vt_diag d = {0};
  for (int i = 0; i < BATCH * STEPS; i++) x[i] = sign;
  exit_if_failed(vt_program_set_input(p, "x", &t, &d), &d);
}

/* Bits of an exit status, for what neither a run nor reading its results may do. */
enum { LOADS = 1, RECORDS = 4 }; /* bit 2 is not used: 2 is the exit status of exit_if_failed */

static int find_violations_of_run(vt_program *p, int branched, const char *log) {
  vt_diag d = {0};
  uint8_t digest[32];
  log_calls_to_new_file(log);
  exit_if_failed(vt_program_run(p, &d), &d);
  exit_if_failed(vt_program_digest(p, digest, &d), &d);
  const int loads = count_calls(log, "cuModule") + count_calls(log, "cuFunc") > 0;
  const int records = branched && count_calls(log, "cuStreamBeginCapture") > 0;
  return (loads ? LOADS : 0) | (records ? RECORDS : 0);
}

/* Runs the model in a child process that has loaded nothing yet; returns the violations as bits. */
static int find_violations(const vt_model *m, int branched, const char *log) {
  const vt_binding bind[] = {{"B", BATCH}, {"T", STEPS}};
  const vt_options o = {
      .size = sizeof o, .backend = "cuda", .n_bind = vt_model_dims(m), .bind = bind};
  vt_program *p = NULL;
  vt_diag d = {0};
  exit_if_failed(vt_program_new(m, &o, &p, &d), &d);
  exit_if_failed(vt_program_init_params(p, 0, &d), &d);
  if (branched) set_input_sign(p, 1);
  exit_if_failed(vt_program_random_inputs(p, 7, &d), &d);
  int found = find_violations_of_run(p, branched, log);
  if (branched) set_input_sign(p, -1);
  if (branched) found |= find_violations_of_run(p, branched, log);
  vt_program_free(p);
  return found;
}

static unsigned check_runs_load_nothing(const char *path, const char *log) {
  unsigned failed = 0;
  for (int i = 0; i < MODELS; i++) {
    int status = 0;
    vt_model *m = read_model_in_folder_of(path, model_files[i]);
    const pid_t child = fork();
    if (child == 0) _exit(find_violations(m, model_files[i] == NULL, log));
    if (child < 0 || waitpid(child, &status, 0) != child) exit(2);
    vt_model_free(m);
    const int found = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    const char *name = model_files[i] != NULL ? model_files[i] : "branches";
    if (found & LOADS) printf("%s: a run loads kernels\n", name);
    if (found & RECORDS) printf("%s: a run that waits is recorded\n", name);
    if (found & 2) printf("%s: no run\n", name);
    failed += found != 0;
  }
  return failed;
}

/* ---- memory ---- */

/* Sum of the bytes that calls of cuMemAlloc ask for. */
static uint64_t sum_allocated_bytes(const char *log) {
  uint64_t sum = 0;
  unsigned long long bytes;
  char line[512];
  FILE *f = fopen(log, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "cuMemAlloc %llu", &bytes) == 1) sum += bytes;
  if (f != NULL) fclose(f);
  return sum;
}

/* Returns the number of models whose program takes another number of bytes on the device than its
 * plan says. Capabilities are not tried, because that runs programs of its own. */
static unsigned check_memory_is_planned(const char *path, const char *log) {
  const vt_binding bind[] = {{"B", BATCH}, {"T", STEPS}};
  const vt_policy policy = {.size = sizeof policy, .capabilities = VT_CAPABILITIES_BELIEVED};
  unsigned failed = 0;
  for (int i = 0; i < MODELS; i++) {
    vt_model *m = read_model_in_folder_of(path, model_files[i]);
    const vt_options o = {.size = sizeof o,
                          .backend = "cuda",
                          .n_bind = vt_model_dims(m),
                          .bind = bind,
                          .policy = &policy};
    vt_plan_info info = {.size = sizeof info};
    vt_planned *plan = NULL;
    vt_program *p = NULL;
    vt_diag d = {0};
    exit_if_failed(vt_planned_new(m, &o, &plan, &d), &d);
    vt_planned_info(plan, &info);
    vt_planned_free(plan);
    log_calls_to_new_file(log);
    exit_if_failed(vt_program_new(m, &o, &p, &d), &d);
    const uint64_t taken = sum_allocated_bytes(log);
    if (taken != info.peak)
      failed += printf("%s: the plan has %llu bytes, the program takes %llu\n",
                       model_files[i] != NULL ? model_files[i] : "branches",
                       (unsigned long long)info.peak, (unsigned long long)taken) > 0;
    vt_program_free(p);
    vt_model_free(m);
  }
  return failed;
}

int main(int argc, char **argv) {
  vt_model *m = NULL;
  vt_diag d = {0};
  char log[64];
  if (argc != 2) return 2;
  snprintf(log, sizeof log, "steady_check.%ld.log", (long)getpid());
  exit_if_failed(vt_model_read(argv[1], NULL, &m, &d), &d);
  unsigned failed = check_runs_load_nothing(argv[1], log);
  failed += count_steady_violations(m, log, 0, 1) + count_steady_violations(m, log, 1, 2);
  failed += check_memory_is_planned(argv[1], log);
  vt_model_free(m);
  remove(log);
  printf("steady: %d runs twice, %u failures\n", RUNS, failed);
  return failed != 0;
}
