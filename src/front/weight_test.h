/* SPDX-License-Identifier: Apache-2.0
 * weight_test.h - helpers shared by the tests of weights: small files in a temporary folder, and
 * the reading of one tensor of a list. */
#ifndef VT_WEIGHT_TEST_H
#define VT_WEIGHT_TEST_H
#include "archive_test.h"
#include "vt_weight_files.h"

/* The path of a file in the test folder. The last 16 are valid at the same time. */
static inline const char *file_path(const char *name) {
  static char path[16][256];
  static unsigned at;
  char *p = path[at++ % 16];
  snprintf(p, sizeof path[0], "%s/%s", test_folder, name);
  return p;
}

static inline void write_text(const char *name, const char *text) {
  FILE *f = fopen(file_path(name), "wb");
  CHECK(f != NULL && fwrite(text, 1, strlen(text), f) == strlen(text));
  if (f != NULL) CHECK(fclose(f) == 0);
}

/* Writes a safetensors file of f32 vectors of two elements: tensor i holds first + i and -first. */
static inline void write_vectors(const char *file, uint32_t n, const char *const *names,
                                 float first) {
  float data[8][2];
  vt_tensor t[8];
  if (n > 8) abort();
  for (uint32_t i = 0; i < n; i++) {
    data[i][0] = first + (float)i;
    data[i][1] = -first;
    t[i] = (vt_tensor){.dtype = VT_DTYPE_F32, .rank = 1, .dim = {2}, .data = data[i]};
  }
  CHECK(vt_safetensors_write(file_path(file), n, names, t, NULL) == VT_OK);
}

/* Opens a list; a failure must have a message, and leave nothing behind in `f`. */
static inline vt_status open_list(uint32_t n, const char *const *paths, const char *map,
                                  vt_fault *f, vt_weight_list *out, vt_diag *d) {
  *d = (vt_diag){.code = VT_OK};
  const vt_status s = vt_weight_list_open(n, paths, map, vt_fault_alloc(f), out, d);
  CHECK(s == d->code && (s == VT_OK) == (d->text[0] == '\0'));
  CHECK(s == VT_OK || f->live == 0);
  return s;
}

/* Checks that opening fails with this status and a message that contains `says`. */
static inline void check_list_refused(uint32_t n, const char *const *paths, const char *map,
                                      vt_status want, const char *says) {
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d;
  const vt_status s = open_list(n, paths, map, &f, &l, &d);
  CHECK(s == want && strstr(d.text, says) != NULL);
  if (s != want || strstr(d.text, says) == NULL)
    fprintf(stderr, "  %s: '%s', not '%s'\n", vt_status_name(s), d.text, says);
  if (s == VT_OK) vt_weight_list_done(&l);
}

/* Reads a whole tensor in steps of `step` bytes. */
static inline vt_status read_tensor(const vt_weight_list *l, const char *name, uint64_t step,
                                    void *to, vt_diag *d) {
  const vt_weight_entry *e = vt_weight_list_find(l, name);
  vt_weight_reader r;
  CHECK(e != NULL);
  if (e == NULL) return VT_NAME;
  *d = (vt_diag){.code = VT_OK};
  VT_TRY(vt_weight_reader_open(l, e, &r, d));
  vt_status s = VT_OK;
  for (uint64_t at = 0; s == VT_OK && at < e->bytes; at += step)
    s = vt_weight_reader_next(&r, (uint8_t *)to + at, step < e->bytes - at ? step : e->bytes - at,
                              d);
  if (s == VT_OK) s = vt_weight_reader_check_end(&r, d);
  vt_weight_reader_close(&r);
  CHECK(s == d->code);
  return s;
}

/* Checks that a tensor written by write_vectors holds first and -second. */
static inline void check_vector(const vt_weight_list *l, const char *name, float first,
                                float second) {
  float v[2] = {0, 0};
  vt_diag d;
  CHECK(read_tensor(l, name, 4, v, &d) == VT_OK && v[0] == first && v[1] == second);
  if (v[0] != first) fprintf(stderr, "  %s: %g %s\n", name, (double)v[0], d.text);
}
#endif
