/* SPDX-License-Identifier: Apache-2.0
 * op_region.c - ops with bodies: loop, whose trip count is known once dimensions are bound, and
 * cond, whose predicate is read when it runs. A body is closed: every value that it uses from
 * outside is an operand. A loop carries its first operands from one iteration to the next, and
 * reads one element per iteration from each of the next operands, the sequences. */
#include <string.h>
#include "op_rows.h"

/* ---- arguments of bodies ---- */

static vt_status read_loop_counts(const vt_rule *r, uint32_t *carried, uint32_t *each, vt_diag *d) {
  const vt_attr_loop *a = r->attrs;
  if (a->carried < 0 || a->each < 0 || a->carried > r->n_in || a->each > r->n_in - a->carried)
    return VT_FAIL(d, VT_VERIFY, "carried=%lld and each=%lld do not fit %u operands",
                   (long long)a->carried, (long long)a->each, r->n_in);
  *carried = (uint32_t)a->carried;
  *each = (uint32_t)a->each;
  return VT_OK;
}

/* The type of one element of operand i, a sequence: the operand without its first axis, whose
 * length must be the trip count. */
static vt_status sequence_element_type(const vt_rule *r, uint32_t i, vt_type *out, vt_diag *d) {
  const vt_attr_loop *a = r->attrs;
  const vt_type *x = &r->in[i];
  char text[VT_TYPE_TEXT];
  if (x->rank == 0 || x->dim[0] != a->count)
    return VT_FAIL(d, VT_VERIFY, "operand %u is %s: its first axis is not as long as the loop",
                   i + 1, vt_type_text(r->dims, x, text));
  *out = (vt_type){.dtype = x->dtype, .rank = x->rank - 1};
  memcpy(out->dim, x->dim + 1, out->rank * sizeof *out->dim);
  return VT_OK;
}

/* The types of the arguments of a loop body: the index, the carried values, one element of each
 * sequence, the other operands. */
static vt_status loop_argument_types(const vt_rule *r, vt_type *out, uint32_t *out_n, vt_diag *d) {
  uint32_t carried, each;
  VT_TRY(read_loop_counts(r, &carried, &each, d));
  out[0] = (vt_type){.dtype = VT_DTYPE_I64};
  for (uint32_t i = 0; i < r->n_in; i++) {
    out[i + 1] = r->in[i];
    if (i >= carried && i < carried + each) VT_TRY(sequence_element_type(r, i, &out[i + 1], d));
  }
  *out_n = r->n_in + 1;
  return VT_OK;
}

static vt_status cond_argument_types(const vt_rule *r, uint32_t body, vt_type *out, uint32_t *out_n,
                                     vt_diag *d) {
  const int64_t first = ((const vt_attr_cond *)r->attrs)->first;
  if (first < 0 || first > (int64_t)r->n_in - 1)
    return VT_FAIL(d, VT_VERIFY, "first=%lld does not fit %u operands", (long long)first, r->n_in);
  const uint32_t from = body == 0 ? 1 : 1 + (uint32_t)first;
  const uint32_t to = body == 0 ? 1 + (uint32_t)first : r->n_in;
  memcpy(out, r->in + from, (to - from) * sizeof *out);
  *out_n = to - from;
  return VT_OK;
}

vt_status vt_op_body_argument_types(const vt_op_info *op, const vt_rule *r, uint32_t body,
                                    vt_type *out, uint32_t *out_n, vt_diag *d) {
  if (op->number == VT_OP_loop && body == 0) return loop_argument_types(r, out, out_n, d);
  if (op->number == VT_OP_cond && body < 2) return cond_argument_types(r, body, out, out_n, d);
  return VT_FAIL(d, VT_INTERNAL, "'%s' has no body %u", op->name, body);
}

uint32_t vt_op_body_count(const vt_op_info *op) {
  return op->needs != VT_NEEDS_regions ? 0 : op->number == VT_OP_cond ? 2 : 1;
}

uint32_t vt_op_body_operands_end(const vt_op_info *op, const void *attrs, uint32_t n_in,
                                 uint32_t body) {
  if (op->number != VT_OP_cond || body != 0) return n_in;
  return 1 + (uint32_t)((const vt_attr_cond *)attrs)->first;
}

void vt_op_body_add_operands(const vt_op_info *op, void *attrs, uint32_t body, uint32_t n) {
  if (op->number == VT_OP_cond && body == 0) ((vt_attr_cond *)attrs)->first += n;
}

/* A body only reads the operands that are neither carried nor sequences, so they are not copied. A
 * carried value is updated in the memory of the result that it becomes. */
vt_arg_place vt_op_body_argument_place(uint32_t op, const void *attrs, uint32_t body, uint32_t arg,
                                       uint32_t *out_index) {
  if (op == VT_OP_cond) {
    const int64_t first = ((const vt_attr_cond *)attrs)->first;
    *out_index = 1 + arg + (body == 0 ? 0 : (uint32_t)first);
    return VT_ARG_OPERAND;
  }
  const vt_attr_loop *a = attrs;
  *out_index = arg - 1;
  if (arg == 0) return VT_ARG_OWN;
  if (*out_index < a->carried) return VT_ARG_RESULT;
  return *out_index < a->carried + a->each ? VT_ARG_OWN : VT_ARG_OPERAND;
}

/* ---- rules ---- */

/* Accepts all types, because the ops of the bodies check theirs. */
vt_status check_types_exist(const vt_rule *r, vt_diag *d) {
  for (uint32_t i = 0; i < r->n_in; i++)
    if (vt_dtype_name(r->in[i].dtype) == NULL)
      return VT_FAIL(d, VT_VERIFY, "operand %u has no type", i + 1);
  return VT_OK;
}

static vt_status check_body_arguments(const vt_rule *r, uint32_t op, uint32_t body, vt_diag *d) {
  vt_type want[VT_MAX_REGION_ARGS];
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  uint32_t n = 0;
  if (r->n_in + 1 > VT_MAX_REGION_ARGS)
    return VT_FAIL(d, VT_LIMIT, "a body takes at most %d values", VT_MAX_REGION_ARGS - 1);
  VT_TRY(vt_op_body_argument_types(vt_op_get(op), r, body, want, &n, d));
  const vt_body_type *b = &r->body[body];
  if (b->n_in != n)
    return VT_FAIL(d, VT_VERIFY, "body %u takes %u values where it gets %u", body + 1, b->n_in, n);
  for (uint32_t i = 0; i < n; i++)
    if (!vt_type_equal(&b->in[i], &want[i]))
      return VT_FAIL(d, VT_VERIFY, "argument %u of body %u is %s where it gets %s", i + 1, body + 1,
                     vt_type_text(r->dims, &b->in[i], x), vt_type_text(r->dims, &want[i], y));
  return VT_OK;
}

static vt_status collected_type(const vt_rule *r, const vt_type *one, vt_type *out, vt_diag *d) {
  if (one->rank == VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "a collected value has rank %d already", VT_MAX_RANK);
  *out = (vt_type){.dtype = one->dtype, .rank = one->rank + 1};
  out->dim[0] = ((const vt_attr_loop *)r->attrs)->count;
  memcpy(out->dim + 1, one->dim, one->rank * sizeof *one->dim);
  return VT_OK;
}

vt_status shape_loop(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t count = ((const vt_attr_loop *)r->attrs)->count;
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  uint32_t carried, each;
  if (r->n_body != 1) return VT_FAIL(d, VT_VERIFY, "needs one body, got %u", r->n_body);
  if (!vt_dim_is_symbolic(count) && (count < 0 || count > VT_DIM_MAX))
    return VT_FAIL(d, VT_VERIFY, "count=%lld: expected 0..2^40", (long long)count);
  VT_TRY(read_loop_counts(r, &carried, &each, d));
  VT_TRY(check_body_arguments(r, VT_OP_loop, 0, d));
  const vt_body_type *b = &r->body[0];
  if (b->n_out < carried || b->n_out > VT_MAX_RESULTS)
    return VT_FAIL(d, VT_VERIFY, "the body gives %u values for %u carried ones", b->n_out, carried);
  for (uint32_t i = 0; i < b->n_out; i++) {
    if (i >= carried) {
      VT_TRY(collected_type(r, &b->out[i], &out[i], d));
      continue;
    }
    if (!vt_type_equal(&b->out[i], &r->in[i]))
      return VT_FAIL(d, VT_VERIFY, "carried value %u starts as %s and goes on as %s", i + 1,
                     vt_type_text(r->dims, &r->in[i], x), vt_type_text(r->dims, &b->out[i], y));
    out[i] = r->in[i];
  }
  return VT_OK;
}

vt_status shape_cond(const vt_rule *r, vt_type *out, vt_diag *d) {
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (r->n_body != 2) return VT_FAIL(d, VT_VERIFY, "needs two bodies, got %u", r->n_body);
  if (r->in[0].dtype != VT_DTYPE_BOOL || r->in[0].rank != 0)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected bool[]",
                   vt_type_text(r->dims, &r->in[0], x));
  for (uint32_t i = 0; i < 2; i++) VT_TRY(check_body_arguments(r, VT_OP_cond, i, d));
  const vt_body_type *a = &r->body[0], *b = &r->body[1];
  if (a->n_out != b->n_out || a->n_out > VT_MAX_RESULTS)
    return VT_FAIL(d, VT_VERIFY, "the bodies give %u and %u values", a->n_out, b->n_out);
  for (uint32_t i = 0; i < a->n_out; i++) {
    if (!vt_type_equal(&a->out[i], &b->out[i]))
      return VT_FAIL(d, VT_VERIFY, "value %u is %s from one body and %s from the other", i + 1,
                     vt_type_text(r->dims, &a->out[i], x), vt_type_text(r->dims, &b->out[i], y));
    out[i] = a->out[i];
  }
  return VT_OK;
}

/* ---- kernels ---- */

static void copy_elements(const vt_view *to, const vt_view *from) {
  if (to->data == from->data) return;
  const size_t size = (size_t)vt_dtype_bytes(to->dtype);
  vt_walk w;
  vt_walk_init(&w, to->rank, to->dim);
  vt_walk_view(&w, to);
  vt_walk_view(&w, from);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    memcpy((char *)to->data + (size_t)w.at[0] * size,
           (const char *)from->data + (size_t)w.at[1] * size, size);
}

/* The view of element i of a sequence, whose elements are along its first axis. */
static vt_view sequence_element_view(const vt_view *v, int64_t i) {
  vt_view one = vt_view_drop_axis(v, 0);
  one.data = (char *)v->data + i * v->stride[0] * (int64_t)vt_dtype_bytes(v->dtype);
  return one;
}

/* Executes the body of a loop once, for index i. The results of the body never alias its arguments,
 * so they may be copied one by one. */
static vt_status run_iteration(vt_kernel *k, int64_t i, uint32_t carried, uint32_t each) {
  const vt_kernel_body *b = &k->body[0];
  *(int64_t *)b->in[0].data = i;
  for (uint32_t e = carried; e < carried + each; e++) {
    const vt_view one = sequence_element_view(&k->in[e], i);
    copy_elements(&b->in[1 + e], &one);
  }
  VT_TRY(b->run(k, 0));
  for (uint32_t c = 0; c < carried; c++) copy_elements(&b->in[1 + c], &b->out[c]);
  for (uint32_t c = carried; c < b->n_out; c++) {
    const vt_view one = sequence_element_view(&k->out[c], i);
    copy_elements(&one, &b->out[c]);
  }
  return VT_OK;
}

/* Between iterations, the arguments of the body hold the carried values. */
vt_status kernel_loop(vt_kernel *k) {
  const vt_attr_loop *a = k->attrs;
  const uint32_t carried = (uint32_t)a->carried, each = (uint32_t)a->each;
  const vt_kernel_body *b = &k->body[0];
  for (uint32_t i = 0; i < k->n_in; i++)
    if (i < carried || i >= carried + each) copy_elements(&b->in[1 + i], &k->in[i]);
  for (int64_t i = 0; i < a->count; i++) VT_TRY(run_iteration(k, i, carried, each));
  for (uint32_t c = 0; c < carried; c++) copy_elements(&k->out[c], &b->in[1 + c]);
  return VT_OK;
}

vt_status kernel_cond(vt_kernel *k) {
  const uint32_t first = (uint32_t)((const vt_attr_cond *)k->attrs)->first;
  const uint32_t which = *(const uint8_t *)k->in[0].data ? 0 : 1;
  const vt_kernel_body *b = &k->body[which];
  const uint32_t from = which == 0 ? 1 : 1 + first;
  for (uint32_t i = 0; i < b->n_in; i++) copy_elements(&b->in[i], &k->in[from + i]);
  VT_TRY(b->run(k, which));
  for (uint32_t i = 0; i < b->n_out; i++) copy_elements(&k->out[i], &b->out[i]);
  return VT_OK;
}
