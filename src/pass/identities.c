/* SPDX-License-Identifier: Apache-2.0
 * identities.c - the identities of identities.def, each of which replaces a node without changing
 * a bit. An identity sees the node that is about to be written and the nodes that define its
 * operands, in the graph that is being written. A pending node is the node that is about to be
 * written; each identity takes it and returns the value that replaces it, or VT_NO_VALUE. */
#include "identities.h"

/* ---- reading the graph ---- */

static const vt_type *type_of(const vt_pending_node *s, uint32_t value) {
  return &s->gb->g->values[value].type;
}

/* The node that defines a value if it has this op; else NULL. */
static const vt_node *defining_node_of_op(const vt_pending_node *s, uint32_t value, uint32_t op) {
  const vt_graph *g = s->gb->g;
  const uint32_t node = g->values[value].node;
  return node != VT_NO_NODE && g->nodes[node].op == op ? &g->nodes[node] : NULL;
}

static uint32_t first_operand(const vt_pending_node *s, const vt_node *n) {
  return s->gb->g->operands[n->first_in];
}

/* `value` if it has the type of the node, and so may replace it; else VT_NO_VALUE. */
static uint32_t value_if_same_type(const vt_pending_node *s, uint32_t value) {
  return vt_type_equal(type_of(s, value), &s->type) ? value : VT_NO_VALUE;
}

/* Returns 1 and the bits of the elements if `value` is a literal under at most three broadcasts and
 * reshapes, so that all its elements are equal. Longer chains are left to the pass `fold`. */
static int get_constant_bits(const vt_pending_node *s, uint32_t value, uint64_t *out_bits) {
  for (uint32_t i = 0; i < 4; i++) {
    const vt_node *n = defining_node_of_op(s, value, VT_OP_literal);
    if (n != NULL) {
      const uint64_t unused = 64 - 8 * vt_dtype_bytes(type_of(s, value)->dtype);
      *out_bits = ((const vt_attr_literal *)n->attrs)->bits << unused >> unused;
      return 1;
    }
    n = defining_node_of_op(s, value, VT_OP_broadcast);
    if (n == NULL) n = defining_node_of_op(s, value, VT_OP_reshape);
    if (n == NULL) return 0;
    value = first_operand(s, n);
  }
  return 0;
}

static int is_float(uint32_t dtype) { return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64; }

static int is_constant_with_bits(const vt_pending_node *s, uint32_t value, uint64_t bits) {
  uint64_t have;
  return get_constant_bits(s, value, &have) && have == bits;
}

static int is_zero(const vt_pending_node *s, uint32_t value) {
  return is_constant_with_bits(s, value, 0);
} /* +0, not -0 */

static int is_minus_zero(const vt_pending_node *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  return is_float(dtype) &&
         is_constant_with_bits(s, value, UINT64_C(1) << (dtype == VT_DTYPE_F32 ? 31 : 63));
}

static int is_one(const vt_pending_node *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  return is_constant_with_bits(s, value,
                               dtype == VT_DTYPE_F32   ? 0x3f800000u
                               : dtype == VT_DTYPE_F64 ? UINT64_C(0x3ff0000000000000)
                                                       : 1);
}

static int has_all_bits_set(const vt_pending_node *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  const uint64_t all = UINT64_MAX >> (64 - 8 * vt_dtype_bytes(dtype));
  return is_constant_with_bits(s, value, dtype == VT_DTYPE_BOOL ? 1 : all);
}

/* For a binary op: if one operand passes the test `is`, the other operand, provided that it has the
 * node's type; else VT_NO_VALUE. */
static uint32_t other_operand_if(const vt_pending_node *s,
                                 int (*is)(const vt_pending_node *s, uint32_t value)) {
  const uint32_t second = is(s, s->in[1]) ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
  if (second != VT_NO_VALUE) return second;
  return is(s, s->in[0]) ? value_if_same_type(s, s->in[1]) : VT_NO_VALUE;
}

/* ---- arithmetic ---- */

static uint32_t mul_one(const vt_pending_node *s) {
  return s->op == VT_OP_mul ? other_operand_if(s, is_one) : VT_NO_VALUE;
}

static uint32_t div_one(const vt_pending_node *s) {
  return s->op == VT_OP_div && is_one(s, s->in[1]) ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t sub_zero(const vt_pending_node *s) {
  return s->op == VT_OP_sub && is_zero(s, s->in[1]) ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t add_minus_zero(const vt_pending_node *s) {
  return s->op == VT_OP_add ? other_operand_if(s, is_minus_zero) : VT_NO_VALUE;
}

static uint32_t add_zero_integer(const vt_pending_node *s) {
  return s->op == VT_OP_add && !is_float(s->type.dtype) ? other_operand_if(s, is_zero)
                                                        : VT_NO_VALUE;
}

/* The operand of the operand, if the node and its operand both have this op; else VT_NO_VALUE. */
static uint32_t inner_operand(const vt_pending_node *s, uint32_t op) {
  const vt_node *n = s->op == op ? defining_node_of_op(s, s->in[0], op) : NULL;
  return n != NULL ? first_operand(s, n) : VT_NO_VALUE;
}

static uint32_t neg_neg(const vt_pending_node *s) { return inner_operand(s, VT_OP_neg); }
static uint32_t not_not(const vt_pending_node *s) { return inner_operand(s, VT_OP_not); }

static uint32_t abs_abs(const vt_pending_node *s) {
  return inner_operand(s, VT_OP_abs) != VT_NO_VALUE ? s->in[0] : VT_NO_VALUE;
}

static uint32_t abs_neg(const vt_pending_node *s) {
  const vt_node *n = s->op == VT_OP_abs ? defining_node_of_op(s, s->in[0], VT_OP_neg) : NULL;
  if (n == NULL) return VT_NO_VALUE;
  const uint32_t x = first_operand(s, n);
  vt_pending_node inner = *s;
  inner.in = &x;
  return vt_pending_node_write_simplified(&inner);
}

/* ---- choices and bits ---- */

static uint32_t choice_of_equals(const vt_pending_node *s) {
  const int chooses =
      s->op == VT_OP_maximum || s->op == VT_OP_minimum || s->op == VT_OP_and || s->op == VT_OP_or;
  return chooses && s->in[0] == s->in[1] ? s->in[0] : VT_NO_VALUE;
}

static uint32_t or_zero(const vt_pending_node *s) {
  return s->op == VT_OP_or || s->op == VT_OP_xor ? other_operand_if(s, is_zero) : VT_NO_VALUE;
}

static uint32_t and_all_ones(const vt_pending_node *s) {
  return s->op == VT_OP_and ? other_operand_if(s, has_all_bits_set) : VT_NO_VALUE;
}

static uint32_t shift_zero(const vt_pending_node *s) {
  const int shifts = s->op == VT_OP_shl || s->op == VT_OP_shr;
  return shifts && is_zero(s, s->in[1]) ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static int is_select_or_where(const vt_pending_node *s) {
  return s->op == VT_OP_select || s->op == VT_OP_where;
}

static uint32_t select_equals(const vt_pending_node *s) {
  return is_select_or_where(s) && s->in[1] == s->in[2] ? value_if_same_type(s, s->in[1])
                                                       : VT_NO_VALUE;
}

static uint32_t select_known(const vt_pending_node *s) {
  uint64_t which;
  if (!is_select_or_where(s) || !get_constant_bits(s, s->in[0], &which)) return VT_NO_VALUE;
  return value_if_same_type(s, s->in[which != 0 ? 1 : 2]);
}

static uint32_t cast_to_same(const vt_pending_node *s) {
  return s->op == VT_OP_cast ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

/* ---- movement ---- */

/* If the node and its operand both have this op, writes one node of the op, with these attributes,
 * on the operand of the operand; else returns VT_NO_VALUE. */
static uint32_t merge_with_inner_node(const vt_pending_node *s, uint32_t op, const void *attrs) {
  const uint32_t x = inner_operand(s, op);
  vt_pending_node once = *s;
  if (x == VT_NO_VALUE) return VT_NO_VALUE;
  once.in = &x;
  once.attrs = attrs;
  return vt_pending_node_write_simplified(&once);
}

static uint32_t reshape_same(const vt_pending_node *s) {
  return s->op == VT_OP_reshape ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t reshape_twice(const vt_pending_node *s) {
  return merge_with_inner_node(s, VT_OP_reshape, s->attrs);
}

static uint32_t transpose_same(const vt_pending_node *s) {
  const vt_attr_perm *a = s->attrs;
  if (s->op != VT_OP_transpose) return VT_NO_VALUE;
  for (int64_t i = 0; i < a->perm.n; i++)
    if (a->perm.v[i] != i) return VT_NO_VALUE;
  return s->in[0];
}

static uint32_t transpose_twice(const vt_pending_node *s) {
  const vt_node *n =
      s->op == VT_OP_transpose ? defining_node_of_op(s, s->in[0], VT_OP_transpose) : NULL;
  if (n == NULL) return VT_NO_VALUE;
  const vt_attr_perm *first = n->attrs, *second = s->attrs;
  vt_attr_perm both = *second;
  for (int64_t i = 0; i < both.perm.n; i++) both.perm.v[i] = first->perm.v[second->perm.v[i]];
  return merge_with_inner_node(s, VT_OP_transpose, &both);
}

static uint32_t broadcast_same(const vt_pending_node *s) {
  return s->op == VT_OP_broadcast ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t broadcast_twice(const vt_pending_node *s) {
  return merge_with_inner_node(s, VT_OP_broadcast, s->attrs);
}

static uint32_t slice_all(const vt_pending_node *s) {
  const vt_attr_slice *a = s->attrs;
  if (s->op != VT_OP_slice) return VT_NO_VALUE;
  for (int64_t i = 0; i < a->start.n; i++)
    if (a->start.v[i] != 0 || (a->step.n != 0 && a->step.v[i] != 1)) return VT_NO_VALUE;
  return value_if_same_type(s, s->in[0]);
}

static uint32_t pad_zero(const vt_pending_node *s) {
  return s->op == VT_OP_pad ? value_if_same_type(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t concat_one(const vt_pending_node *s) {
  return s->op == VT_OP_concat && s->n_in == 1 ? s->in[0] : VT_NO_VALUE;
}

/* ---- the table ---- */

static const vt_identity identities[] = {
#define VT_IDENTITY(name, function, why) {#name, function, why},
#include "identities.def"
#undef VT_IDENTITY
};
enum { N_IDENTITIES = sizeof identities / sizeof *identities };

uint32_t vt_identity_total(void) { return N_IDENTITIES; }

const vt_identity *vt_identity_at(uint32_t i) { return i < N_IDENTITIES ? &identities[i] : NULL; }

/* An identity may write a node, which calls this function again. Each time the operand of the node
 * is one node nearer to the ports, so the recursion ends. */
uint32_t vt_pending_node_write_simplified(const vt_pending_node *s) {
  for (uint32_t i = 0; i < N_IDENTITIES; i++) {
    const uint32_t value = identities[i].apply(s);
    if (value != VT_NO_VALUE || s->gb->status != VT_OK) return value;
  }
  return s->gb->b.node(&s->gb->b, s->op, s->in, s->n_in, s->attrs);
}
