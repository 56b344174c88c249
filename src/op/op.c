/* SPDX-License-Identifier: Apache-2.0
 * op.c - the rows of ops.def, by ascending number, and of inits.def as tables. A row that names
 * a missing function does not link, one with the wrong signature does not compile. The form of
 * an op is its role in a fusion group, its needs are the capabilities that it asks of a backend. */
#include <string.h>
#include "op_rows.h"
#include "vt_builder.h"
#include "vt_hash.h"

#define VT_CLASS_PRIM 1
#define VT_CLASS_COMP 0
#define VT_FORM_opaque VT_FORM_NONE
#define VT_FORM_pointwise VT_FORM_POINTWISE
#define VT_FORM_formula(ps) VT_FORM_POINTWISE
#define VT_FORM_fused(ps) VT_FORM_POINTWISE
#define VT_FORM_anchor VT_FORM_ANCHOR
#define VT_FORM_update VT_FORM_UPDATE
#define none NULL
#define no_work NULL
#define grad(function) function, NULL, #function
#define flat(why) NULL, why, NULL
#define VT_OP(name, no, class, lo, hi, operands, results, attrs, num, needs, form, verify, shape, \
              gradient, lower, kernel, work, help)                                                \
  static const vt_op_info row_##name = {#name,                                                    \
                                        no,                                                       \
                                        VT_CLASS_##class,                                         \
                                        lo,                                                       \
                                        hi,                                                       \
                                        operands,                                                 \
                                        results,                                                  \
                                        &vt_attr_group_##attrs,                                   \
                                        VT_NUMERICS_##num,                                        \
                                        VT_NEEDS_##needs,                                         \
                                        VT_FORM_##form,                                           \
                                        verify,                                                   \
                                        shape,                                                    \
                                        gradient,                                                 \
                                        lower,                                                    \
                                        kernel,                                                   \
                                        work,                                                     \
                                        help,                                                     \
                                        {#attrs, #verify, #shape, #lower, #kernel, #work}};
#include "ops.def"
#undef VT_OP
#undef flat
#undef grad
#undef no_work
#undef none

static const vt_op_info *const ops[] = {
#define VT_ROW(name) &row_##name,
#include "op_order.inc"
#undef VT_ROW
};
enum { N_OPS = sizeof ops / sizeof *ops };

uint32_t vt_op_total(void) { return N_OPS; }

const vt_op_info *vt_op_at(uint32_t i) { return i < N_OPS ? ops[i] : NULL; }

const vt_op_info *vt_op_get(uint32_t number) {
  uint32_t lo = 0, hi = N_OPS;
  while (lo < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (ops[mid]->number < number) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo < N_OPS && ops[lo]->number == number ? ops[lo] : NULL;
}

vt_form vt_op_form(uint32_t number) {
  const vt_op_info *op = vt_op_get(number);
  return op != NULL ? op->form : VT_FORM_NONE;
}

const vt_op_info *vt_op_find(const char *name) {
  for (uint32_t i = 0; i < N_OPS; i++)
    if (strcmp(ops[i]->name, name) == 0) return ops[i];
  return NULL;
}

static vt_status check_arity(const vt_op_info *op, uint32_t n, vt_diag *d) {
  const char *plural = op->min_in == 1 ? "" : "s";
  if (n >= op->min_in && (n <= op->max_in || op->max_in == VT_OP_ANY_IN)) return VT_OK;
  if (op->max_in == VT_OP_ANY_IN)
    return VT_FAIL(d, VT_VERIFY, "takes at least %u operand%s, got %u", op->min_in, plural, n);
  if (op->max_in == 0) return VT_FAIL(d, VT_VERIFY, "takes no operands, got %u", n);
  if (op->min_in == op->max_in)
    return VT_FAIL(d, VT_VERIFY, "takes %u operand%s (%s), got %u", op->min_in, plural,
                   op->operands, n);
  return VT_FAIL(d, VT_VERIFY, "takes %u to %u operands (%s), got %u", op->min_in, op->max_in,
                 op->operands, n);
}

/* The number of names in a list such as "values, indices". */
static uint32_t count_names(const char *list) {
  uint32_t n = 1;
  for (const char *c = list; *c != 0; c++) n += *c == ',';
  return n;
}

const char *vt_numerics_name(vt_numerics numerics) {
  static const char *const names[] = {
      [VT_NUMERICS_exact] = "exact",      [VT_NUMERICS_rounded] = "rounded",
      [VT_NUMERICS_ordered] = "ordered",  [VT_NUMERICS_move] = "move",
      [VT_NUMERICS_random] = "random",    [VT_NUMERICS_bodies] = "bodies",
      [VT_NUMERICS_composed] = "composed"};
  return names[numerics];
}

const char *vt_needs_name(vt_needs needs) {
  static const char *const names[] = {[VT_NEEDS_plain] = "plain",
                                      [VT_NEEDS_reductions] = "reductions",
                                      [VT_NEEDS_int8] = "int8",
                                      [VT_NEEDS_regions] = "regions",
                                      [VT_NEEDS_collisions] = "collisions"};
  return names[needs];
}

uint32_t vt_op_result_count(const vt_op_info *op) {
  return strstr(op->results, "...") != NULL ? 0 : count_names(op->results);
}

static vt_status check_dims_in_range(const vt_op_info *op, const vt_type *type, vt_diag *d) {
  for (uint32_t i = 0; i < type->rank; i++)
    if (!vt_dim_is_symbolic(type->dim[i]) && (type->dim[i] < 0 || type->dim[i] > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "'%s' would have dimension %lld on axis %u", op->name,
                     (long long)type->dim[i], i);
  return VT_OK;
}

/* A shape rule writes the types of its results; the first type that is still 0 marks their end. One
 * type more than the op can have is zeroed too, so that a rule that writes too many types is
 * noticed. */
vt_status vt_op_infer(const vt_op_info *op, const vt_rule *r, vt_type *out, uint32_t *out_n,
                      vt_diag *d) {
  vt_type type[VT_MAX_RESULTS + 1];
  const uint32_t known = vt_op_result_count(op), most = known != 0 ? known + 1 : VT_MAX_RESULTS;
  uint32_t n = 0;
  memset(type, 0, most * sizeof *type);
  VT_TRY(check_arity(op, r->n_in, d));
  if (r->n_body > 0 && op->needs != VT_NEEDS_regions)
    return VT_FAIL(d, VT_INTERNAL, "'%s' takes no body", op->name);
  VT_TRY(op->check(r, d));
  VT_TRY(op->shape(r, type, d));
  for (; n < most && type[n].dtype != 0; n++) VT_TRY(check_dims_in_range(op, &type[n], d));
  if (n == 0 || (known != 0 && n != known))
    return VT_FAIL(d, VT_INTERNAL, "'%s' gives %u results", op->name, n);
  memcpy(out, type, n * sizeof *out);
  *out_n = n;
  return VT_OK;
}

static const vt_init_info inits[] = {
#define VT_INIT(name, no, attrs, build, formula) \
  {#name, no, &vt_attr_group_##attrs, build, formula},
#include "inits.def"
#undef VT_INIT
};
enum { N_INITS = sizeof inits / sizeof *inits };

uint32_t vt_init_count(void) { return N_INITS; }

const vt_init_info *vt_init_at(uint32_t i) { return i < N_INITS ? &inits[i] : NULL; }

const vt_init_info *vt_init_get(uint32_t number) {
  for (uint32_t i = 0; i < N_INITS; i++)
    if (inits[i].number == number) return &inits[i];
  return NULL;
}

const vt_init_info *vt_init_find(const char *name) {
  for (uint32_t i = 0; i < N_INITS; i++)
    if (strcmp(inits[i].name, name) == 0) return &inits[i];
  return NULL;
}

uint32_t vt_random_stream_of(const char *name) {
  const vt_hash256 h = vt_hash_bytes(name, strlen(name));
  return (uint32_t)h.b[0] | (uint32_t)h.b[1] << 8 | (uint32_t)h.b[2] << 16 | (uint32_t)h.b[3] << 24;
}
