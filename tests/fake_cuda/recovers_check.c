/* SPDX-License-Identifier: Apache-2.0
 * recovers_check.c - a process survives failing driver calls. A program that ran out of memory runs
 * when it is tried again; one that cannot be recorded runs unrecorded and notes it. Other programs
 * keep their results: on the same GPU, or on the CPU if the device is lost. An index fault of a run
 * that failed for another reason is forgotten.
 *   recovers_check MODEL   with the emulated driver of tests/fake_cuda; MODEL: examples/mlp.vt */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake_reset.h"
#include "hostile_fpenv.h"
#include "volta/volta_tools.h"

/* A call that fails once, and how many tries may fail because of it. Calls are counted from the
 * start of the process, or, if `late` is set, from when the programs exist. */
static const struct failure {
  const char *call;
  int may_fail, lost, late;
} failures[] = {
    {"cuModuleLoadData:1=2", 1, 0, 0},
    {"cuModuleLoadData:2=2", 1, 0, 0},
    {"cuLaunchKernel:1=2", 1, 0, 0},
    {"cuLaunchKernel:4=2", 1, 0, 0},
    {"cuStreamBeginCapture:1=2", 0, 0, 0},
    {"cuStreamEndCapture:1=2", 0, 0, 0},
    {"cuGraphInstantiateWithFlags:1=2", 0, 0, 0},
    {"cuGraphLaunch:1=2", 1, 0, 0},
    {"cuLaunchKernel:2=719", 0, 1, 0},
    {"cuGraphLaunch:2=719", 0, 1, 0},
    {"cuLaunchKernel:1=2", 1, 0, 1},
    {"cuLaunchKernel:2=2", 1, 0, 1},
    {"cuStreamSynchronize:1=2", 1, 0, 1},
    {"cuStreamBeginCapture:1=2", 0, 0, 1},
    {"cuGraphLaunch:1=2", 1, 0, 1},
    {"cuLaunchKernel:2=719", 0, 1, 1},
    {"cuStreamSynchronize:1=700", 0, 1, 1},
    {"cuStreamSynchronize:3=700", 0, 1, 1},
    {"cuGraphLaunch:2=719", 0, 1, 1},
};
enum { TRIES = 6, ROWS = 3, WIDTH = 784 };

typedef struct digest {
  uint8_t b[32];
} digest;

static int noted; /* number of notes that said that a program runs unrecorded */
/* Counts notes. It changes the floating-point modes, which a note handler may do. */
static void count_note(void *user, const char *text) {
  (void)user;
  hostile_write_words(hostile_worst_words());
  noted += strstr(text, "a graph of the program could not be made") != NULL;
}

static vt_program *new_program(const vt_model *m, const char *backend, vt_diag *d) {
  static float x[ROWS * WIDTH];
  const vt_binding bind = {"B", ROWS};
  const vt_options o = {
      .size = sizeof o, .backend = backend, .n_bind = 1, .bind = &bind, .note = count_note};
  vt_program *p = NULL;
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)(i % 37) / 16.0f - 1.0f;
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {ROWS, WIDTH}, .data = x};
  if (vt_program_new(m, &o, &p, d) != VT_OK) return NULL;
  if (vt_program_init_params(p, 0, d) == VT_OK && vt_program_set_input(p, "x", &t, d) == VT_OK)
    return p;
  vt_program_free(p);
  return NULL;
}

/* Runs p. Returns 1 if the result has the digest `want`, 0 if the run failed with a message, -1
 * otherwise. */
static int run_and_compare_digest(vt_program *p, const digest *want, vt_diag *d) {
  digest got;
  *d = (vt_diag){0};
  const vt_status s = vt_program_run(p, d);
  if (s != VT_OK) return (s == VT_NOMEM || s == VT_BACKEND) && d->text[0] != 0 ? 0 : -1;
  if (vt_program_digest(p, got.b, d) != VT_OK) return 0;
  return memcmp(got.b, want->b, sizeof got.b) == 0 ? 1 : -1;
}

/* Programs of the model: one on the CPU and two on the GPU. */
typedef struct trio {
  vt_program *cpu, *first, *second;
} trio;

static int new_trio_of_programs(const struct failure *s, const vt_model *m, trio *t, vt_diag *d) {
  if (!s->late && !fake_set_and_reset("FAKE_CUDA_FAIL", s->call)) return 0;
  t->cpu = new_program(m, "cpu", d);
  t->first = new_program(m, "cuda", d);
  if (t->first == NULL && !s->lost) t->first = new_program(m, "cuda", d);
  t->second = new_program(m, "cuda", d);
  if (t->cpu == NULL || (!s->lost && (t->first == NULL || t->second == NULL))) return 0;
  return s->late ? t->first != NULL && t->second != NULL &&
                       fake_set_and_reset("FAKE_CUDA_FAIL", s->call)
                 : 1;
}

/* Runs the program for which the call fails several times and checks how often it fails. If the
 * device is lost, there may be no program. */
static int check_recovery(const struct failure *s, vt_program *p, const digest *want, vt_diag *d) {
  int failed = p == NULL, last = 0;
  for (int i = 0; p != NULL && i < TRIES; i++) {
    last = run_and_compare_digest(p, want, d);
    if (last < 0) {
      fprintf(stderr, "%s: wrong at try %d: %s\n", s->call, i, d->text);
      return 0;
    }
    failed += last == 0;
  }
  const int unrecorded =
      strstr(s->call, "Capture") != NULL || strstr(s->call, "Instantiate") != NULL;
  if (noted != unrecorded) {
    fprintf(stderr, "%s: %d notes\n", s->call, noted);
    return 0;
  }
  if (s->lost ? failed > 0 && last == 0 : failed <= s->may_fail && last == 1) return 1;
  fprintf(stderr, "%s: %d of %d tries failed: %s\n", s->call, failed, TRIES, d->text);
  return 0;
}

/* Checks the other programs: the CPU's works, and the second GPU program works unless the device is
 * lost; then it must fail with a message. */
static int check_other_programs(const struct failure *s, const trio *t, const digest *want,
                                vt_diag *d) {
  if (run_and_compare_digest(t->cpu, want, d) != 1) {
    fprintf(stderr, "%s: the program on the CPU: %s\n", s->call, d->text);
    return 0;
  }
  if (t->second == NULL || run_and_compare_digest(t->second, want, d) == (s->lost ? 0 : 1))
    return 1;
  fprintf(stderr, "%s: the other program on the GPU: %s\n", s->call, d->text);
  return 0;
}

/* Runs one case in a child process; returns its exit status. */
static int run_failure_case(const struct failure *s, const char *path) {
  vt_diag d = {0};
  vt_model *m = NULL;
  trio t = {0};
  digest want;
  if (vt_model_read(path, NULL, &m, &d) != VT_OK) return 2;
  if (!new_trio_of_programs(s, m, &t, &d)) {
    fprintf(stderr, "%s: %s\n", s->call, d.text);
    return 2;
  }
  if (vt_program_run(t.cpu, &d) != VT_OK || vt_program_digest(t.cpu, want.b, &d) != VT_OK) return 2;
  const int right = check_recovery(s, t.first, &want, &d) && check_other_programs(s, &t, &want, &d);
  vt_program_free(t.first);
  vt_program_free(t.second);
  vt_program_free(t.cpu);
  vt_model_free(m);
  return right ? 0 : 1;
}

/* ---- indices ---- */

static const char lookup_model[] =
    "volta 1\n"
    "model looks_up {\n"
    "  input i: i32[3]\n"
    "  param w: f32[5, 4] = normal(std=0.5, stream=1)\n"
    "  output y = softmax(gather(w, i))\n"
    "}\n";
enum { CALLS = 6 }; /* the number of calls to try: at least as many as a run makes */

static vt_status run_lookup(vt_program *p, int32_t last_index, vt_diag *d) {
  int32_t i[3] = {0, 4, last_index};
  const vt_tensor t = {.dtype = VT_DTYPE_I32, .rank = 1, .dim = {3}, .data = i};
  *d = (vt_diag){0};
  VT_TRY(vt_program_set_input(p, "i", &t, d));
  return vt_program_run(p, d);
}

/* A run has an index fault and fails at call `number` of `entry`; the next run has valid indices
 * and must succeed. */
static int check_forgotten_fault(vt_program *p, const char *entry, int number) {
  vt_diag d;
  char call[40];
  snprintf(call, sizeof call, "%s:%d=2", entry, number);
  if (!fake_set_and_reset("FAKE_CUDA_FAIL", call)) return 0;
  const vt_status first = run_lookup(p, 5, &d);
  if (first != VT_NOMEM && first != VT_RANGE) {
    fprintf(stderr, "%s: %s\n", call, d.text);
    return 0;
  }
  if (!fake_set_and_reset("FAKE_CUDA_FAIL", "")) return 0;
  if (run_lookup(p, 3, &d) == VT_OK && run_lookup(p, 5, &d) == VT_RANGE) return 1;
  fprintf(stderr, "after %s (%s): %s\n", call, vt_status_name(first), d.text);
  return 0;
}

static int check_faults_forgotten_at_calls(const char *entry) {
  const vt_options o = {.size = sizeof o, .backend = "cuda"};
  vt_diag d = {0};
  vt_model *m = NULL;
  int right = vt_model_parse(lookup_model, sizeof lookup_model - 1, NULL, &m, &d) == VT_OK;
  for (int at = 1; at <= CALLS && right; at++) {
    vt_program *p = NULL;
    right = vt_program_new(m, &o, &p, &d) == VT_OK && vt_program_init_params(p, 0, &d) == VT_OK &&
            check_forgotten_fault(p, entry, at);
    vt_program_free(p);
  }
  if (d.text[0] != 0) fprintf(stderr, "%s\n", d.text);
  vt_model_free(m);
  return right;
}

/* ---- all of it ---- */

int main(int argc, char **argv) {
  int failed = 0;
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(run_failure_case(&failures[i], argv[1]));
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (status == 0) continue;
    failed++;
    printf("FAILED: after %s%s\n", failures[i].late ? "a late " : "", failures[i].call);
  }
  if (!check_faults_forgotten_at_calls("cuLaunchKernel") ||
      !check_faults_forgotten_at_calls("cuStreamSynchronize")) {
    failed++;
    printf("FAILED: an index of a run that failed\n");
  }
  printf("%zu errors of a driver, %d not recovered from\n", sizeof failures / sizeof *failures,
         failed);
  return failed != 0;
}
