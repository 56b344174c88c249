/* SPDX-License-Identifier: Apache-2.0
 * memory_growth_test.c - running an example makes the process grow by what its plan says: at most
 * 5 % or 16 MiB more or less, whatever is larger. Each example runs in a process of its own, on the
 * CPU, with parameters of its own and with shared weights; what the backend packs counts, too. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "num_test.h"
#include "process_test.h"
#include "volta/volta_tools.h"
#include "vt_test.h"

enum { SLACK = 16 << 20 };

typedef struct example {
  const char *path, *second; /* path of the model; name of its other dim besides B, or NULL */
  int64_t batch, length;     /* values of B and of the other dim */
  int is_long;               /* 1: only in the long form */
} example;

static const example examples[] = {
    {"examples/mlp.vt", NULL, 8192, 0, 0},
    {"examples/quant_mlp.vt", NULL, 4096, 0, 0},
    {"examples/cnn.vt", NULL, 256, 0, 0},
    {"examples/lstm.vt", "T", 16, 512, 0},
    {"examples/tiny_transformer.vt", "T", 64, 64, 0},
    {"examples/encoder.vt", "T", 64, 64, 0},
    {"examples/resnet18.vt", NULL, 1, 0, 0},
    {"examples/gpt2_124m.vt", "T", 1, 16, 1},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static vt_options options_for(const example *e, vt_binding bind[2]) {
  bind[0] = (vt_binding){"B", e->batch};
  bind[1] = (vt_binding){e->second, e->length};
  return (vt_options){.size = sizeof(vt_options),
                      .n_bind = e->second == NULL ? 1 : 2,
                      .bind = bind,
                      .backend = "cpu",
                      .threads = 2};
}

static uint64_t planned_peak(const vt_model *m, const vt_options *o) {
  vt_plan_info info = {.size = sizeof info};
  vt_planned *p = NULL;
  vt_diag d = {0};
  CHECK(vt_planned_new(m, o, &p, &d) == VT_OK);
  if (p != NULL) vt_planned_info(p, &info);
  vt_planned_free(p);
  return info.peak;
}

/* Writes the parameters of a program with initial values to a file, in a process of its own. */
static void save_weights(const vt_model *m, const vt_options *o, const char *path) {
  enum { MOST = 512 };
  static const char *names[MOST];
  static vt_tensor tensors[MOST];
  vt_program *p = NULL;
  vt_port_info port;
  uint32_t n = 0;
  vt_diag d = {0};
  if (vt_program_new(m, o, &p, &d) != VT_OK || vt_program_init_params(p, 1, &d) != VT_OK) _exit(3);
  for (uint32_t i = 0; vt_model_port(m, i, &port) == VT_OK; i++) {
    uint64_t count, bytes;
    if (port.kind != VT_PORT_PARAM || n == MOST) continue;
    names[n] = port.name;
    if (vt_program_get_param(p, port.name, &tensors[n], &d) != VT_OK) _exit(3);
    if (vt_tensor_bytes(&tensors[n], &count, &bytes, &d) != VT_OK) _exit(3);
    tensors[n].data = malloc((size_t)bytes + 1);
    if (vt_program_get_param(p, port.name, &tensors[n], &d) != VT_OK) _exit(3);
    n++;
  }
  _exit(vt_safetensors_write(path, n, names, tensors, &d) == VT_OK ? 0 : 3);
}

/* Runs the example and ends the process with 0 if it has grown as planned. */
static void run_and_measure(const vt_model *m, vt_options *o, const char *name,
                            const char *weights) {
  const uint64_t peak = planned_peak(m, o);
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_weights *w = NULL;
  const uint64_t before = process_resident_bytes();
  vt_status s = VT_OK;
  if (weights != NULL) s = vt_weights_read(1, &weights, NULL, &w, &d);
  o->weights = w;
  if (s == VT_OK) s = vt_program_new(m, o, &p, &d);
  if (s == VT_OK && w == NULL) s = vt_program_init_params(p, 1, &d);
  if (s == VT_OK) s = vt_program_random_inputs(p, 7, &d);
  for (int i = 0; s == VT_OK && i < 2; i++) s = vt_program_run(p, &d);
  const uint64_t grown = process_resident_bytes() - before;
  const uint64_t slack = peak / 20 > SLACK ? peak / 20 : SLACK;
  const int right = s == VT_OK && grown <= peak + slack && peak <= grown + slack;
  if (!right)
    fprintf(stderr, "%s%s: the plan has %.1f MiB, the process grew by %.1f MiB %s\n", name,
            w != NULL ? " with shared weights" : "", (double)peak / 1048576,
            (double)grown / 1048576, d.text);
  _exit(right ? 0 : 1);
}

static int status_of_child(pid_t child) {
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : -1;
}

static void test_example(const example *e) {
  vt_binding bind[2];
  vt_options o = options_for(e, bind);
  vt_model *m = NULL;
  vt_diag d = {0};
  char path[] = "/tmp/volta-growth-XXXXXX";
  CHECK(vt_model_read(e->path, NULL, &m, &d) == VT_OK);
  const int file = mkstemp(path);
  CHECK(file >= 0);
  if (m == NULL || file < 0) return;
  pid_t child = fork();
  if (child == 0) run_and_measure(m, &o, e->path, NULL);
  CHECK(status_of_child(child) == 0);
  child = fork();
  if (child == 0) save_weights(m, &o, path);
  CHECK(status_of_child(child) == 0);
  child = fork();
  if (child == 0) run_and_measure(m, &o, e->path, path);
  CHECK(status_of_child(child) == 0);
  (void)close(file);
  (void)unlink(path);
  vt_model_free(m);
}

int main(void) {
  if (SANITIZED || process_resident_bytes() == 0) {
    puts("SKIPPED: a sanitizer's memory, or a system without /proc, cannot be compared with plans");
    return 77;
  }
  for (int i = 0; i < EXAMPLES; i++)
    if (!examples[i].is_long || vt_test_is_long()) test_example(&examples[i]);
  TEST_DONE();
}
