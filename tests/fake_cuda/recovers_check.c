/* SPDX-License-Identifier: Apache-2.0
 * recovers_check.c - after a call of the driver has failed the process goes on: what was short of
 * memory runs when it is tried again, what cannot be recorded runs unrecorded, and when a device is
 * lost, programs elsewhere give what they gave.
 *   recovers_check MODEL   behind the driver of tests/fake_cuda; MODEL: examples/mlp.vt */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "volta/volta_tools.h"

/* A call that answers with an error, once, and how many of the tries may fail for it. */
static const struct story {
  const char *call;
  int may_fail, lost;
} stories[] = {
    {"cuModuleLoadData:1=2", 1, 0},
    {"cuModuleLoadData:2=2", 1, 0},
    {"cuLaunchKernel:1=2", 1, 0},
    {"cuLaunchKernel:4=2", 1, 0},
    {"cuStreamBeginCapture:1=2", 0, 0},
    {"cuStreamEndCapture:1=2", 0, 0},
    {"cuGraphInstantiateWithFlags:1=2", 0, 0},
    {"cuGraphLaunch:1=2", 1, 0},
    {"cuLaunchKernel:2=719", 0, 1},
    {"cuGraphLaunch:2=719", 0, 1},
};
enum { TRIES = 6, ROWS = 3, WIDTH = 784 };

typedef struct digest {
  uint8_t b[32];
} digest;

static vt_program *make(const vt_model *m, const char *backend, vt_diag *d) {
  static float x[ROWS * WIDTH];
  const vt_binding bind = {"B", ROWS};
  const vt_options o = {.size = sizeof o, .backend = backend, .n_bind = 1, .bind = &bind};
  vt_program *p = NULL;
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)(i % 37) / 16.0f - 1.0f;
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {ROWS, WIDTH}, .data = x};
  if (vt_program_new(m, &o, &p, d) != VT_OK) return NULL;
  if (vt_program_init_params(p, 0, d) == VT_OK && vt_program_set_input(p, "x", &t, d) == VT_OK)
    return p;
  vt_program_free(p);
  return NULL;
}

/* 1: it gave `want`; 0: it failed, and said why; -1: neither. */
static int try_it(vt_program *p, const digest *want, vt_diag *d) {
  digest got;
  *d = (vt_diag){0};
  const vt_status s = vt_program_run(p, d);
  if (s != VT_OK) return (s == VT_NOMEM || s == VT_BACKEND) && d->text[0] != 0 ? 0 : -1;
  if (vt_program_digest(p, got.b, d) != VT_OK) return 0;
  return memcmp(got.b, want->b, sizeof got.b) == 0 ? 1 : -1;
}

/* What is left to do after the call has failed, in a process of its own: how it ends. */
static int tell(const struct story *s, const char *path) {
  vt_diag d = {0};
  vt_model *m = NULL;
  digest want;
  setenv("FAKE_CUDA_FAIL", s->call, 1);
  if (vt_model_read(path, NULL, &m, &d) != VT_OK) return 2;
  vt_program *beside = make(m, "cpu", &d), *p = make(m, "cuda", &d);
  if (p == NULL && !s->lost) p = make(m, "cuda", &d);
  if (beside == NULL || (p == NULL && !s->lost))
    return fprintf(stderr, "%s: %s\n", s->call, d.text), 2;
  if (vt_program_run(beside, &d) != VT_OK || vt_program_digest(beside, want.b, &d) != VT_OK)
    return 2;
  int failed = p == NULL, last = 0; /* it may be lost before there is a program */
  for (int i = 0; p != NULL && i < TRIES; i++) {
    last = try_it(p, &want, &d);
    if (last < 0) return fprintf(stderr, "%s: wrong at try %d: %s\n", s->call, i, d.text), 1;
    failed += last == 0;
  }
  const int right = s->lost ? failed > 0 && last == 0 : failed <= s->may_fail && last == 1;
  if (!right) fprintf(stderr, "%s: %d of %d tries failed: %s\n", s->call, failed, TRIES, d.text);
  const int elsewhere = try_it(beside, &want, &d) == 1;
  if (!elsewhere) fprintf(stderr, "%s: the program on the CPU: %s\n", s->call, d.text);
  if (p != NULL) vt_program_free(p);
  vt_program_free(beside);
  vt_model_free(m);
  return right && elsewhere ? 0 : 1;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(tell(&stories[i], argv[1]));
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (status == 0) continue;
    failed++;
    printf("FAILED: after %s\n", stories[i].call);
  }
  printf("%zu errors of a driver, %d not recovered from\n", sizeof stories / sizeof *stories,
         failed);
  return failed != 0;
}
