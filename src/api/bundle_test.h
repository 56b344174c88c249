/* SPDX-License-Identifier: Apache-2.0
 * bundle_test.h - helpers shared by the tests of bundles: a small model with parameters and a
 * state, its weights, a bundle of them, and whole files as bytes. */
#ifndef VT_BUNDLE_TEST_H
#define VT_BUNDLE_TEST_H
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

static const char model_text[] =
    "volta 1\n"
    "# A comment, which stays in the bundle.\n"
    "model small {\n"
    "  dim B\n"
    "  input x: f32[B, 4]\n"
    "  param w: f32[4, 3]\n"
    "  param b: f32[3] = zeros\n"
    "  state n: f32[3] = zeros\n"
    "  y = matmul(x, w) + b + n\n"
    "  next n = n + b\n"
    "  output y\n"
    "}\n";

static char folder[40];

/* The path of a file in the test folder. The last 64 are valid at the same time. */
static inline const char *file_path(const char *name) {
  static char path[64][512];
  static unsigned at;
  char *p = path[at++ % 64];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

static inline void remove_folder(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
}

/* Makes the test folder in memory if `in_memory` is 1 and that is possible, because syncing to a
 * disk takes milliseconds. */
static inline void make_folder(int in_memory) {
  strcpy(folder, "/dev/shm/volta-bundle-XXXXXX");
  if (!in_memory || mkdtemp(folder) == NULL) {
    strcpy(folder, "/tmp/volta-bundle-XXXXXX");
    if (mkdtemp(folder) == NULL) exit(1);
  }
  (void)atexit(remove_folder);
}

/* Weights whose elements depend on `seed`; b is f16, which is converted. */
static inline vt_weights *make_weights(float seed) {
  static const char *const names[] = {"w", "b", "unused"};
  float w[12], unused[1] = {5};
  uint16_t b[3] = {0x3c00, 0x4000, 0xbc00}; /* 1, 2, -1 */
  for (int i = 0; i < 12; i++) w[i] = seed + 0.1F * (float)i;
  const vt_tensor t[] = {
      {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {4, 3}, .data = w},
      {.dtype = VT_DTYPE_F16, .rank = 1, .dim = {3}, .data = b},
      {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {1}, .data = unused},
  };
  const vt_weights_options o = {.size = sizeof o, .ignore_extra = 1, .convert = 1};
  vt_weights *weights = NULL;
  CHECK(vt_weights_copy(3, names, t, &o, &weights, NULL) == VT_OK);
  if (weights == NULL) exit(1);
  return weights;
}

static inline vt_bundle_contents make_contents(vt_weights *w) {
  return (vt_bundle_contents){.size = sizeof(vt_bundle_contents),
                              .model = model_text,
                              .model_bytes = sizeof model_text - 1,
                              .weights = w};
}

/* Runs a model with these options and writes the digest of its outputs. */
static inline vt_status run_digest(const vt_model *m, const vt_options *options, uint8_t out[32],
                                   vt_diag *d) {
  static const vt_binding bind[] = {{"B", 2}};
  vt_options o = *options;
  vt_program *p = NULL;
  o.size = sizeof o;
  o.bind = bind;
  o.n_bind = 1;
  if (o.backend == NULL) o.backend = "reference";
  VT_TRY(vt_program_new(m, &o, &p, d));
  vt_status s = vt_program_random_inputs(p, 3, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) s = vt_program_digest(p, out, d);
  vt_program_free(p);
  return s;
}

/* A file read to memory; the caller frees the bytes. */
static inline uint8_t *read_bytes(const char *path, size_t *out_n) {
  FILE *f = fopen(path, "rb");
  uint8_t *p = malloc(1 << 20);
  if (f == NULL || p == NULL) exit(1);
  *out_n = fread(p, 1, 1 << 20, f);
  fclose(f);
  return p;
}

static inline void write_bytes(const char *path, const void *p, size_t n) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0) exit(1);
}
#endif
