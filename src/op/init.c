/* SPDX-License-Identifier: Apache-2.0
 * init.c - initialisers of parameters, written as ops through a builder. Coefficients are computed
 * in f64 with + - * / sqrt and rounded once, when they become literals. */
#include <string.h>
#include "op_rows.h"
#include "vt_num.h"

static uint32_t broadcast_scalar(const vt_init_args *a, uint32_t scalar) {
  return vt_build_broadcast(a->b, scalar, a->type->rank, a->type->dim);
}

uint32_t init_zeros(const vt_init_args *a) {
  return broadcast_scalar(a, vt_build_int(a->b, a->type->dtype, 0));
}

uint32_t init_ones(const vt_init_args *a) {
  return broadcast_scalar(a, vt_build_int(a->b, a->type->dtype, 1));
}

uint32_t init_constant(const vt_init_args *a) {
  const vt_attr_fill *attrs = a->attrs;
  return broadcast_scalar(a, vt_build_number(a->b, a->type->dtype, attrs->value));
}

static uint32_t draw_random(const vt_init_args *a, uint32_t op, int64_t stream) {
  vt_attr_random r = {.size = sizeof r, .shape = {.n = a->type->rank}, .stream = stream};
  const uint32_t in[2] = {a->seed, a->step};
  memcpy(r.shape.v, a->type->dim, a->type->rank * sizeof *a->type->dim);
  return a->b->node(a->b, op, in, 2, &r);
}

static uint32_t scaled_normal(const vt_init_args *a, double std, int64_t stream) {
  const uint32_t z = draw_random(a, VT_OP_random_normal, stream);
  return vt_build2(a->b, VT_OP_mul, z, vt_build_number(a->b, VT_DTYPE_F32, std));
}

static uint32_t uniform_between(const vt_init_args *a, double low, double high, int64_t stream) {
  vt_builder *b = a->b;
  const uint32_t u = draw_random(a, VT_OP_random_uniform, stream);
  const uint32_t wide = vt_build2(b, VT_OP_mul, u, vt_build_number(b, VT_DTYPE_F32, high - low));
  return vt_build2(b, VT_OP_add, vt_build_number(b, VT_DTYPE_F32, low), wide);
}

uint32_t init_normal(const vt_init_args *a) {
  const vt_attr_normal *n = a->attrs;
  return scaled_normal(a, n->std, n->stream);
}

uint32_t init_uniform(const vt_init_args *a) {
  const vt_attr_uniform *u = a->attrs;
  return uniform_between(a, u->low, u->high, u->stream);
}

/* The fan_in of a parameter: its attribute, or if that is 0 a number from the shape, which is [in,
 * out] for rank 2, or [out, in] with out_in=true, and [out, in, kernel...] for higher ranks. For a
 * vector, fan_in and fan_out are its length. The result is at least 1. */
static double fan_in(const vt_init_args *a) {
  const vt_attr_fan *f = a->attrs;
  const vt_type *t = a->type;
  double n = 1;
  if (f->fan_in > 0) return (double)f->fan_in;
  if (t->rank <= 2) n = t->rank == 0 ? 1 : (double)t->dim[f->out_in ? t->rank - 1 : 0];
  for (uint32_t i = 1; t->rank > 2 && i < t->rank; i++) n *= (double)t->dim[i];
  return n < 1 ? 1 : n;
}

static double fan_out(const vt_init_args *a) {
  const vt_attr_fan *f = a->attrs;
  const vt_type *t = a->type;
  double n = 1;
  if (f->fan_out > 0) return (double)f->fan_out;
  if (t->rank <= 2) n = t->rank == 0 ? 1 : (double)t->dim[f->out_in ? 0 : t->rank - 1];
  for (uint32_t i = 0; t->rank > 2 && i < t->rank; i++) n *= i == 1 ? 1.0 : (double)t->dim[i];
  return n < 1 ? 1 : n;
}

uint32_t init_he_normal(const vt_init_args *a) {
  return scaled_normal(a, vt_f64_sqrt(2.0 / fan_in(a)), ((const vt_attr_fan *)a->attrs)->stream);
}

uint32_t init_he_uniform(const vt_init_args *a) {
  const double limit = vt_f64_sqrt(6.0 / fan_in(a));
  return uniform_between(a, -limit, limit, ((const vt_attr_fan *)a->attrs)->stream);
}

uint32_t init_xavier_normal(const vt_init_args *a) {
  return scaled_normal(a, vt_f64_sqrt(2.0 / (fan_in(a) + fan_out(a))),
                       ((const vt_attr_fan *)a->attrs)->stream);
}

uint32_t init_xavier_uniform(const vt_init_args *a) {
  const double limit = vt_f64_sqrt(6.0 / (fan_in(a) + fan_out(a)));
  return uniform_between(a, -limit, limit, ((const vt_attr_fan *)a->attrs)->stream);
}
