/* SPDX-License-Identifier: Apache-2.0
 * layer_cache.c - the cache of the layer `attention`: declares its two states, writes the keys and
 * values of a run into them, and gives attention the keys that are present. */
#include <string.h>
#include "layer.h"

static vt_status check_position(const layer_call *c, const vt_kv_cache *k) {
  char type[VT_TYPE_TEXT];
  const vt_type *t = c->p->gb->b.type(&c->p->gb->b, k->position);
  if (t->dtype == VT_DTYPE_I64 && t->rank == 0) return VT_OK;
  const vt_status s = VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "the position is %s, expected i64[]",
                                 vt_type_text(c->p->gb->b.dims, t, type));
  vt_parse_add_hint(c->p, "declare it: state p: i64[] = zeros");
  return s;
}

static vt_status check_cache(const layer_call *c, const vt_kv_cache *k) {
  vt_parser *p = c->p;
  if (!vt_dim_is_symbolic(k->shape[2]) && k->shape[2] < 1)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY, "cache=%lld: at least 1 position is needed",
                      (long long)k->shape[2]);
  if (p->body != NULL) {
    const vt_status s = VT_FAIL_AT(p, &c->at, VT_VERIFY, "a cache is not allowed inside a body");
    vt_parse_add_hint(p, "a body may run any number of times: a cache is written once per run");
    return s;
  }
  return check_position(c, k);
}

/* Adds iota(shape=[n + more]). */
static vt_status add_iota(const layer_call *c, int64_t n, int64_t more, uint32_t *out) {
  vt_parser *p = c->p;
  vt_attr_iota attrs = {.size = sizeof attrs, .shape = {.n = 1}, .dtype = VT_DTYPE_I64};
  VT_TRY(vt_parse_set_failure_position(
      p, &c->at, vt_dim_add(p->gb->b.dims, n, more, &attrs.shape.v[0], &p->diag)));
  return vt_layer_add_node(c, VT_OP_iota, NULL, 0, &attrs, out);
}

/* Adds a reshape or a broadcast. */
static vt_status add_shaped(const layer_call *c, uint32_t op, uint32_t x, const int64_t *dim,
                            int64_t rank, uint32_t *out) {
  vt_attr_shape attrs = {.size = sizeof attrs, .shape = {.n = rank}};
  memcpy(attrs.shape.v, dim, (size_t)rank * sizeof *dim);
  return vt_layer_add_node(c, op, &x, 1, &attrs, out);
}

/* Names a value of the layer, for messages about its node. */
static vt_status name_part(const layer_call *c, const char *part, uint32_t value) {
  char name[VT_NAME_MAX + 1];
  VT_TRY(vt_scope_full_name(c->p, &c->at, c->name, part, name));
  vt_graph_name_value(c->p->gb, value, name);
  return vt_parse_check_builder(c->p, &c->at);
}

/* Adds the first position of the run. It is p, read through a gather from 0 .. S-T, which fails
 * unless all T positions are in the cache. Everything that is written depends on it, and it reads
 * the state p itself, so that a run with too many positions fails before it changes a state. */
static vt_status add_first_position(const layer_call *c, const vt_kv_cache *k, uint32_t *out) {
  vt_parser *p = c->p;
  uint32_t in[2] = {0, k->position};
  int64_t spare = 0;
  VT_TRY(vt_parse_set_failure_position(
      p, &c->at, vt_dim_sub(p->gb->b.dims, k->shape[2], c->type.dim[1], &spare, &p->diag)));
  if (!vt_dim_is_symbolic(spare) && spare < 0)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY, "a cache of %lld positions for %lld in one run",
                      (long long)k->shape[2], (long long)c->type.dim[1]);
  VT_TRY(add_iota(c, spare, 1, &in[0]));
  VT_TRY(name_part(c, ".room", in[0]));
  VT_TRY(vt_layer_add_node(c, VT_OP_gather, in, 2, NULL, out));
  return name_part(c, ".position", *out);
}

vt_status vt_layer_begin_cache(const layer_call *c, vt_kv_cache *k) {
  const int64_t batch = c->type.dim[0], steps = c->type.dim[1];
  const int64_t column[2] = {steps, 1}, rows[4] = {batch, k->shape[1], steps, 1};
  uint32_t in[2] = {0};
  VT_TRY(check_cache(c, k));
  VT_TRY(add_first_position(c, k, &in[0]));
  VT_TRY(add_iota(c, steps, 0, &in[1]));
  VT_TRY(vt_layer_add_node(c, VT_OP_add, in, 2, NULL, &k->index));
  VT_TRY(add_shaped(c, VT_OP_reshape, k->index, column, 2, &k->index));
  VT_TRY(add_shaped(c, VT_OP_broadcast, k->index, rows, 4, &k->index));
  VT_TRY(vt_parse_dim_as_value(c->p, &c->at, steps, &in[1]));
  VT_TRY(vt_layer_add_node(c, VT_OP_add, in, 2, NULL, &k->length));
  return add_shaped(c, VT_OP_broadcast, k->length, &batch, 1, &k->length);
}

/* Declares a state with all keys, or values, and makes *x, those of this run, all of them. */
static vt_status write_to_cache(const layer_call *c, const vt_kv_cache *k, const char *part,
                                uint32_t *x) {
  char full[VT_NAME_MAX + 1];
  const vt_attr_gather_nd attrs = {.size = sizeof attrs, .batch = 2};
  const vt_init_info *zeros = vt_init_find("zeros");
  vt_param_spec spec = {.kind = VT_PORT_STATE,
                        .type = {.dtype = VT_DTYPE_F32, .rank = 4},
                        .init = {zeros, zeros->attrs->defaults}};
  uint32_t state = 0;
  memcpy(spec.type.dim, k->shape, sizeof k->shape);
  VT_TRY(vt_layer_declare(c, part, &spec, full, &state));
  const uint32_t in[3] = {state, k->index, *x};
  VT_TRY(vt_layer_add_node(c, VT_OP_scatter_nd, in, 3, &attrs, x));
  return vt_parse_set_next(c->p, &c->at, state, *x);
}

vt_status vt_layer_write_cache(const layer_call *c, const vt_kv_cache *k, uint32_t *in,
                               uint32_t *n) {
  VT_TRY(write_to_cache(c, k, ".k", &in[1]));
  VT_TRY(write_to_cache(c, k, ".v", &in[2]));
  in[(*n)++] = k->length;
  return VT_OK;
}
