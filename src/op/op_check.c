/* SPDX-License-Identifier: Apache-2.0
 * op_check.c - verify rules: the element types that an op accepts. Types are never promoted.
 * check_bits accepts integers and bool, check_number f32, f64 and integers, check_compute all
 * types but storage types, check_masked two floats and a bool mask, check_seed two scalars i64. */
#include "op_rows.h"

enum { F = 1, I = 2, B = 4, S = 8 }; /* the classes of dtypes.def, as bits */

static unsigned dtype_class(uint32_t dtype) {
  switch (dtype) {
#define VT_DTYPE(name, NAME, number, bytes, class) \
  case number:                                     \
    return class;
#include "dtypes.def"
#undef VT_DTYPE
  }
  return 0;
}

static vt_status refuse_operand(const vt_rule *r, uint32_t i, const char *expected, vt_diag *d) {
  char type[VT_TYPE_TEXT];
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected %s", i + 1,
                 vt_type_text(r->dims, &r->in[i], type), expected);
}

static vt_status check_same_types(const vt_rule *r, uint32_t from, uint32_t end, vt_diag *d) {
  char other[VT_TYPE_TEXT], first[VT_TYPE_TEXT];
  for (uint32_t i = from + 1; i < end; i++)
    if (r->in[i].dtype != r->in[from].dtype)
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s where operand %u is %s: write a cast", i + 1,
                     vt_type_text(r->dims, &r->in[i], other), from + 1,
                     vt_type_text(r->dims, &r->in[from], first));
  return VT_OK;
}

static vt_status check_same_types_of_class(const vt_rule *r, unsigned classes, const char *what,
                                           vt_diag *d) {
  VT_TRY(check_same_types(r, 0, r->n_in, d));
  for (uint32_t i = 0; i < r->n_in; i++)
    if ((dtype_class(r->in[i].dtype) & classes) == 0) return refuse_operand(r, i, what, d);
  return VT_OK;
}

static vt_status check_operand_dtype(const vt_rule *r, uint32_t i, uint32_t dtype, vt_diag *d) {
  if (r->in[i].dtype == dtype) return VT_OK;
  return refuse_operand(r, i, vt_dtype_name(dtype), d);
}

static vt_status check_index_operand(const vt_rule *r, uint32_t i, vt_diag *d) {
  if (r->in[i].dtype == VT_DTYPE_I32 || r->in[i].dtype == VT_DTYPE_I64) return VT_OK;
  return refuse_operand(r, i, "an index of i32 or i64", d);
}

vt_status check_any(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, F | I | B | S, "a type", d);
}
vt_status check_same(const vt_rule *r, vt_diag *d) { return check_same_types(r, 0, r->n_in, d); }
vt_status check_float(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, F, "f32 or f64", d);
}
vt_status check_integer(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, I, "an integer", d);
}
vt_check_fn check_bool; /* declared in this file too, because only reductions to bool name it:
                           without such a row the table does not declare it */
vt_status check_bool(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, B, "bool", d);
}
vt_status check_bits(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, I | B, "an integer or bool", d);
}
vt_status check_compute(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, F | I | B, "f32, f64, an integer or bool", d);
}
vt_status check_number(const vt_rule *r, vt_diag *d) {
  return check_same_types_of_class(r, F | I, "f32, f64 or an integer", d);
}

vt_status check_f32(const vt_rule *r, vt_diag *d) {
  for (uint32_t i = 0; i < r->n_in; i++) VT_TRY(check_operand_dtype(r, i, VT_DTYPE_F32, d));
  return VT_OK;
}

vt_status check_select(const vt_rule *r, vt_diag *d) {
  VT_TRY(check_operand_dtype(r, 0, VT_DTYPE_BOOL, d));
  return check_same_types(r, 1, 3, d);
}

vt_status check_masked(const vt_rule *r, vt_diag *d) {
  const vt_rule pair = {.dims = r->dims, .in = r->in, .n_in = 2, .attrs = r->attrs};
  VT_TRY(check_float(&pair, d));
  return check_operand_dtype(r, 2, VT_DTYPE_BOOL, d);
}

vt_status check_gather(const vt_rule *r, vt_diag *d) { return check_index_operand(r, 1, d); }

vt_status check_seed(const vt_rule *r, vt_diag *d) {
  for (uint32_t i = 0; i < 2; i++) {
    VT_TRY(check_operand_dtype(r, i, VT_DTYPE_I64, d));
    if (r->in[i].rank != 0) return refuse_operand(r, i, "a scalar", d);
  }
  return VT_OK;
}

vt_status check_entropy(const vt_rule *r, vt_diag *d) {
  VT_TRY(check_operand_dtype(r, 0, VT_DTYPE_F32, d));
  VT_TRY(check_index_operand(r, 1, d));
  return r->n_in > 2 ? check_operand_dtype(r, 2, VT_DTYPE_F32, d) : VT_OK;
}

vt_status check_nll(const vt_rule *r, vt_diag *d) {
  if ((dtype_class(r->in[0].dtype) & F) == 0) return refuse_operand(r, 0, "f32 or f64", d);
  VT_TRY(check_index_operand(r, 1, d));
  return r->n_in > 2 ? check_operand_dtype(r, 2, r->in[0].dtype, d) : VT_OK;
}
