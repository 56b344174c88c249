/* SPDX-License-Identifier: Apache-2.0
 * identities.c - the identities that cannot change a bit. Each looks at one node and the nodes of
 * its operands, in the graph that is being written. */
#include "identities.h"

/* ---- looking ---- */

static const vt_type *type_of(const vt_spot *s, uint32_t value) {
  return &s->gb->g->values[value].type;
}

/* The node of a value if it is of this op. */
static const vt_node *made_by(const vt_spot *s, uint32_t value, uint32_t op) {
  const vt_graph *g = s->gb->g;
  const uint32_t node = g->values[value].node;
  return node != VT_NO_NODE && g->nodes[node].op == op ? &g->nodes[node] : NULL;
}

static uint32_t operand(const vt_spot *s, const vt_node *n) {
  return s->gb->g->operands[n->first_in];
}

/* `value` where it has the type of the node. */
static uint32_t stands(const vt_spot *s, uint32_t value) {
  return vt_type_equal(type_of(s, value), &s->type) ? value : VT_NO_VALUE;
}

/* 1 and the bits that every element of `value` has: a literal, repeated or reshaped. Longer chains
 * are left to folding. */
static int constant(const vt_spot *s, uint32_t value, uint64_t *out_bits) {
  for (uint32_t i = 0; i < 4; i++) {
    const vt_node *n = made_by(s, value, VT_OP_literal);
    if (n != NULL) {
      const uint64_t unused = 64 - 8 * vt_dtype_bytes(type_of(s, value)->dtype);
      *out_bits = ((const vt_attr_literal *)n->attrs)->bits << unused >> unused;
      return 1;
    }
    n = made_by(s, value, VT_OP_broadcast);
    if (n == NULL) n = made_by(s, value, VT_OP_reshape);
    if (n == NULL) return 0;
    value = operand(s, n);
  }
  return 0;
}

static int is_float(uint32_t dtype) { return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64; }

static int has_bits(const vt_spot *s, uint32_t value, uint64_t bits) {
  uint64_t have;
  return constant(s, value, &have) && have == bits;
}

static int is_zero(const vt_spot *s, uint32_t value) { return has_bits(s, value, 0); } /* not -0 */

static int is_minus_zero(const vt_spot *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  return is_float(dtype) && has_bits(s, value, UINT64_C(1) << (dtype == VT_DTYPE_F32 ? 31 : 63));
}

static int is_one(const vt_spot *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  return has_bits(s, value,
                  dtype == VT_DTYPE_F32   ? 0x3f800000u
                  : dtype == VT_DTYPE_F64 ? UINT64_C(0x3ff0000000000000)
                                          : 1);
}

static int is_everything(const vt_spot *s, uint32_t value) {
  const uint32_t dtype = type_of(s, value)->dtype;
  const uint64_t all = UINT64_MAX >> (64 - 8 * vt_dtype_bytes(dtype));
  return has_bits(s, value, dtype == VT_DTYPE_BOOL ? 1 : all);
}

/* The operand that is left when the other one is of the kind, on either side. */
static uint32_t without(const vt_spot *s, int (*is)(const vt_spot *s, uint32_t value)) {
  const uint32_t second = is(s, s->in[1]) ? stands(s, s->in[0]) : VT_NO_VALUE;
  if (second != VT_NO_VALUE) return second;
  return is(s, s->in[0]) ? stands(s, s->in[1]) : VT_NO_VALUE;
}

/* ---- arithmetic ---- */

static uint32_t mul_one(const vt_spot *s) {
  return s->op == VT_OP_mul ? without(s, is_one) : VT_NO_VALUE;
}

static uint32_t div_one(const vt_spot *s) {
  return s->op == VT_OP_div && is_one(s, s->in[1]) ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t sub_zero(const vt_spot *s) {
  return s->op == VT_OP_sub && is_zero(s, s->in[1]) ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t add_minus_zero(const vt_spot *s) {
  return s->op == VT_OP_add ? without(s, is_minus_zero) : VT_NO_VALUE;
}

static uint32_t add_zero_whole(const vt_spot *s) {
  return s->op == VT_OP_add && !is_float(s->type.dtype) ? without(s, is_zero) : VT_NO_VALUE;
}

/* The operand of the operand, where both are of this op. */
static uint32_t undone(const vt_spot *s, uint32_t op) {
  const vt_node *n = s->op == op ? made_by(s, s->in[0], op) : NULL;
  return n != NULL ? operand(s, n) : VT_NO_VALUE;
}

static uint32_t neg_neg(const vt_spot *s) { return undone(s, VT_OP_neg); }
static uint32_t not_not(const vt_spot *s) { return undone(s, VT_OP_not); }

static uint32_t abs_abs(const vt_spot *s) {
  return undone(s, VT_OP_abs) != VT_NO_VALUE ? s->in[0] : VT_NO_VALUE;
}

static uint32_t abs_neg(const vt_spot *s) {
  const vt_node *n = s->op == VT_OP_abs ? made_by(s, s->in[0], VT_OP_neg) : NULL;
  if (n == NULL) return VT_NO_VALUE;
  const uint32_t x = operand(s, n);
  vt_spot inner = *s;
  inner.in = &x;
  return vt_spot_write(&inner);
}

/* ---- choices and bits ---- */

static uint32_t of_itself(const vt_spot *s) {
  const int chooses =
      s->op == VT_OP_maximum || s->op == VT_OP_minimum || s->op == VT_OP_and || s->op == VT_OP_or;
  return chooses && s->in[0] == s->in[1] ? s->in[0] : VT_NO_VALUE;
}

static uint32_t or_nothing(const vt_spot *s) {
  return s->op == VT_OP_or || s->op == VT_OP_xor ? without(s, is_zero) : VT_NO_VALUE;
}

static uint32_t and_everything(const vt_spot *s) {
  return s->op == VT_OP_and ? without(s, is_everything) : VT_NO_VALUE;
}

static uint32_t shift_nothing(const vt_spot *s) {
  const int shifts = s->op == VT_OP_shl || s->op == VT_OP_shr;
  return shifts && is_zero(s, s->in[1]) ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static int selects(const vt_spot *s) { return s->op == VT_OP_select || s->op == VT_OP_where; }

static uint32_t select_equals(const vt_spot *s) {
  return selects(s) && s->in[1] == s->in[2] ? stands(s, s->in[1]) : VT_NO_VALUE;
}

static uint32_t select_known(const vt_spot *s) {
  uint64_t which;
  if (!selects(s) || !constant(s, s->in[0], &which)) return VT_NO_VALUE;
  return stands(s, s->in[which != 0 ? 1 : 2]);
}

static uint32_t cast_to_same(const vt_spot *s) {
  return s->op == VT_OP_cast ? stands(s, s->in[0]) : VT_NO_VALUE;
}

/* ---- movement ---- */

/* The node of this op again, on the operand of the operand. */
static uint32_t skip(const vt_spot *s, uint32_t op, const void *attrs) {
  const uint32_t x = undone(s, op);
  vt_spot once = *s;
  if (x == VT_NO_VALUE) return VT_NO_VALUE;
  once.in = &x;
  once.attrs = attrs;
  return vt_spot_write(&once);
}

static uint32_t reshape_same(const vt_spot *s) {
  return s->op == VT_OP_reshape ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t reshape_twice(const vt_spot *s) { return skip(s, VT_OP_reshape, s->attrs); }

static uint32_t transpose_same(const vt_spot *s) {
  const vt_attr_perm *a = s->attrs;
  if (s->op != VT_OP_transpose) return VT_NO_VALUE;
  for (int64_t i = 0; i < a->perm.n; i++)
    if (a->perm.v[i] != i) return VT_NO_VALUE;
  return s->in[0];
}

static uint32_t transpose_twice(const vt_spot *s) {
  const vt_node *n = s->op == VT_OP_transpose ? made_by(s, s->in[0], VT_OP_transpose) : NULL;
  if (n == NULL) return VT_NO_VALUE;
  const vt_attr_perm *first = n->attrs, *second = s->attrs;
  vt_attr_perm both = *second;
  for (int64_t i = 0; i < both.perm.n; i++) both.perm.v[i] = first->perm.v[second->perm.v[i]];
  return skip(s, VT_OP_transpose, &both);
}

static uint32_t broadcast_same(const vt_spot *s) {
  return s->op == VT_OP_broadcast ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t broadcast_twice(const vt_spot *s) { return skip(s, VT_OP_broadcast, s->attrs); }

static uint32_t slice_whole(const vt_spot *s) {
  const vt_attr_slice *a = s->attrs;
  if (s->op != VT_OP_slice) return VT_NO_VALUE;
  for (int64_t i = 0; i < a->start.n; i++)
    if (a->start.v[i] != 0 || (a->step.n != 0 && a->step.v[i] != 1)) return VT_NO_VALUE;
  return stands(s, s->in[0]);
}

static uint32_t pad_nothing(const vt_spot *s) {
  return s->op == VT_OP_pad ? stands(s, s->in[0]) : VT_NO_VALUE;
}

static uint32_t concat_one(const vt_spot *s) {
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

/* An identity that writes a node comes back here with an operand that is one node nearer to the
 * ports, so this ends. */
uint32_t vt_spot_write(const vt_spot *s) {
  for (uint32_t i = 0; i < N_IDENTITIES; i++) {
    const uint32_t value = identities[i].apply(s);
    if (value != VT_NO_VALUE || s->gb->status != VT_OK) return value;
  }
  return s->gb->b.node(&s->gb->b, s->op, s->in, s->n_in, s->attrs);
}
