/* SPDX-License-Identifier: Apache-2.0
 * vt_form.h - how the elements of an op's result come from those of its operands. */
#ifndef VT_FORM_H
#define VT_FORM_H
#include <stdint.h>

typedef enum vt_form { VT_FORM_other, VT_FORM_pointwise, VT_FORM_anchor } vt_form;
vt_form vt_op_form(uint32_t op);
#endif
