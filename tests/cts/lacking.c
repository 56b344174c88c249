/* SPDX-License-Identifier: Apache-2.0
 * lacking.c - makes a cts that sees a processor without avx512, whatever it has, so that a test can
 * see a lane skipped. Linked with --wrap for the function below. */
#include <string.h>
#include "volta/volta_tools.h"

vt_status __real_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d);
vt_status __wrap_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d);

vt_status __wrap_vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d) {
  if (o->isa != NULL && strcmp(o->isa, "avx512") == 0)
    return VT_FAIL(d, VT_BACKEND, "this processor has no avx512 instructions");
  return __real_vt_op_supported_by(o, number, out, d);
}
