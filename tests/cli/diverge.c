/* SPDX-License-Identifier: Apache-2.0
 * diverge.c - replaces three functions (linker option --wrap) so that the device reference:1 is
 * wrong in the last bit of one element. Tests link it to check that `volta parity` and others
 * notice. */
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

static int is_on_wrong_device(const vt_program *p) {
  return strcmp(vt_program_backend(p), "reference:1") == 0;
}

/* The program whose output was already changed. An output may be read more than once after a run,
 * and a second flip of the bit would make it right again. */
static _Thread_local const vt_program *flipped;

vt_status __wrap_vt_program_run(vt_program *p, vt_diag *d) {
  if (flipped == p) flipped = NULL;
  return __real_vt_program_run(p, d);
}

/* Flips a bit in the last element of the first output, so that the reported index is not 0. */
vt_status __wrap_vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d) {
  uint64_t count, bytes;
  VT_TRY(__real_vt_program_output(p, i, out_name, out, d));
  VT_TRY(vt_tensor_bytes(out, &count, &bytes, d));
  if (i == 0 && count != 0 && is_on_wrong_device(p) && flipped != p) {
    ((uint8_t *)out->data)[(count - 1) * vt_dtype_bytes(out->dtype)] ^= 1;
    flipped = p;
  }
  return VT_OK;
}

vt_status __wrap_vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d) {
  VT_TRY(__real_vt_program_digest(p, out, d));
  if (is_on_wrong_device(p)) out[0] ^= 1;
  return VT_OK;
}
