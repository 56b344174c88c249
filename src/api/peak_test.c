/* SPDX-License-Identifier: Apache-2.0
 * peak_test.c - plans of the examples, at small and large sizes, take at most 5 % more memory than
 * values are alive at any one step. The backends take strides or not and have kernels for
 * compositions or not, and the schedule is either one. A family is one example with all its
 * sizes. */
#include <stdlib.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

enum { PERCENT = 5, MOST_SIZES = 6 };

typedef struct family {
  const char *path, *second;   /* path of the model; name of its other dim besides B, or NULL */
  int64_t size[MOST_SIZES][2]; /* values of B and of the other dim; a 0 ends the list */
} family;

static const family families[] = {
    {"examples/mlp.vt", NULL, {{1}, {4}, {64}, {256}, {4096}}},
    {"examples/quant_mlp.vt", NULL, {{3}, {64}, {1024}}},
    {"examples/cnn.vt", NULL, {{1}, {2}, {4}, {32}, {256}}},
    {"examples/lstm.vt", "T", {{2, 16}, {8, 128}, {16, 128}, {32, 1024}, {1, 512}, {3, 37}}},
    {"examples/tiny_transformer.vt", "T", {{1, 1}, {2, 16}, {8, 64}, {64, 64}}},
    {"examples/encoder.vt", "T", {{2, 16}, {8, 64}, {16, 16}, {128, 16}, {512, 16}}},
    {"examples/resnet18.vt", NULL, {{1}, {8}, {64}}},
    {"examples/gpt2_124m.vt", "T", {{1, 16}, {4, 1024}}}};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

static double worst; /* by how many % the peak exceeded the live bytes, at most so far */

static void check_peak_at_size(const vt_model *m, const family *f, const int64_t size[2],
                               const char *backend, const char *schedule) {
  const vt_binding bind[2] = {{"B", size[0]}, {f->second, size[1]}};
  const vt_options o = {.size = sizeof o,
                        .n_bind = f->second == NULL ? 1 : 2,
                        .bind = bind,
                        .backend = backend,
                        .schedule = schedule};
  vt_plan_info info = {.size = sizeof info};
  vt_planned *p = NULL;
  vt_diag d = {0};
  CHECK(vt_planned_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) {
    fprintf(stderr, "  %s: %s\n", f->path, d.text);
    return;
  }
  vt_planned_info(p, &info);
  vt_planned_free(p);
  const double above = 100.0 * (double)info.peak / (double)info.live - 100;
  const int near = info.peak >= info.live && info.peak * 100 <= info.live * (100 + PERCENT);
  CHECK(near);
  if (!near)
    fprintf(stderr, "  %s B=%lld %s=%lld on %s, %s: peak %.2f %% above the live bytes\n", f->path,
            (long long)size[0], f->second == NULL ? "-" : f->second, (long long)size[1], backend,
            schedule, above);
  if (above > worst) worst = above;
}

static void check_peaks_of_family(const family *f) {
  static const char *const backends[] = {"reference:0", "reference:1", "island:0", "island:1"};
  vt_model *m = NULL;
  CHECK(vt_model_read(f->path, NULL, &m, NULL) == VT_OK);
  if (m == NULL) exit(1); /* the rest of the test needs the model */
  for (uint32_t i = 0; i < MOST_SIZES && f->size[i][0] != 0; i++)
    for (uint32_t k = 0; k < 4; k++) {
      check_peak_at_size(m, f, f->size[i], backends[k], "source");
      check_peak_at_size(m, f, f->size[i], backends[k], "memory");
    }
  vt_model_free(m);
}

int main(void) {
  for (uint32_t i = 0; i < N_FAMILIES; i++) check_peaks_of_family(&families[i]);
  printf("the peak is at most %.2f %% above the live bytes\n", worst);
  TEST_DONE();
}
