/* SPDX-License-Identifier: Apache-2.0
 * diverge.c - makes a volta whose backend reference:1 is wrong in the last bit of one element, so
 * that a test can see `volta parity` find it. Linked with --wrap for the three functions below. */
#include <stdlib.h>
#include <string.h>
#include "volta/volta.h"

vt_status __real_vt_program_run(vt_program *p, vt_diag *d);
vt_status __wrap_vt_program_run(vt_program *p, vt_diag *d);
vt_status __real_vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d);
vt_status __wrap_vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d);
vt_status __real_vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d);
vt_status __wrap_vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d);

static int is_wrong(const vt_program *p) {
  return strcmp(vt_program_backend(p), "reference:1") == 0;
}

/* The program whose output is wrong already: an output may be asked for more than once after a run,
 * and a second flip would make it right again. */
static _Thread_local const vt_program *flipped;

vt_status __wrap_vt_program_run(vt_program *p, vt_diag *d) {
  if (flipped == p) flipped = NULL;
  return __real_vt_program_run(p, d);
}

/* The last element of the first output, so that the index shown has something to get wrong. */
vt_status __wrap_vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d) {
  uint64_t count, bytes;
  VT_TRY(__real_vt_program_output(p, i, out_name, out, d));
  VT_TRY(vt_tensor_bytes(out, &count, &bytes, d));
  if (i == 0 && count != 0 && is_wrong(p) && flipped != p) {
    ((uint8_t *)out->data)[(count - 1) * vt_dtype_bytes(out->dtype)] ^= 1;
    flipped = p;
  }
  return VT_OK;
}

vt_status __wrap_vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d) {
  VT_TRY(__real_vt_program_digest(p, out, d));
  if (is_wrong(p)) out[0] ^= 1;
  return VT_OK;
}
