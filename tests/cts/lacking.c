/* SPDX-License-Identifier: Apache-2.0
 * lacking.c - replaces vt_op_supported_by (linker option --wrap) in a cts for tests, so that the
 * processor seems to lack avx512 and the test of skipped lanes works everywhere. */
#include <string.h>
#include "volta/volta_tools.h"

vt_status __real_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d);
vt_status __wrap_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d);

vt_status __wrap_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d) {
  if (o->isa != NULL && strcmp(o->isa, "avx512") == 0)
    return VT_FAIL(d, VT_BACKEND, "this processor has no avx512 instructions");
  return __real_vt_op_supported_by(o, number, out, d);
}
