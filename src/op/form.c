/* SPDX-License-Identifier: Apache-2.0
 * form.c - forms.def as a table. */
#include "vt_op.h"

#define VT_FORM_pointwise VT_FORM_POINTWISE
#define VT_FORM_anchor VT_FORM_ANCHOR
static const struct {
  uint32_t op;
  vt_form form;
} forms[] = {
#define VT_FORM(name, form) {VT_OP_##name, VT_FORM_##form},
#include "forms.def"
#undef VT_FORM
};
enum { N_FORMS = sizeof forms / sizeof *forms };

vt_form vt_op_form(uint32_t number) {
  uint32_t lo = 0, hi = N_FORMS;
  while (lo < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (forms[mid].op < number) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < N_FORMS && forms[lo].op == number ? forms[lo].form : VT_FORM_NONE;
}
