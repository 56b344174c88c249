/* SPDX-License-Identifier: Apache-2.0
 * chain.c - reads a chain of pointwise steps and numbers its values. A value is identified by its
 * place (arena and offset) with type, shape and strides, since a step names its operands so. A
 * source is a value that no step of the chain computes. */
#include <string.h>
#include "vt_emit.h"

int vt_chain_is_same_tensor(const vt_bk_tensor *a, const vt_bk_tensor *b) {
  return a->arena == b->arena && a->offset == b->offset && a->dtype == b->dtype &&
         a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
         memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

enum { NO_VALUE = VT_CHAIN_SOURCES + VT_CHAIN_STEPS };

/* Returns the number of the value that operand t of step i reads, or NO_VALUE if there are too many
 * sources. Places are reused, so the latest step before i that wrote this place is searched for
 * first. */
static uint32_t find_or_add_operand(vt_chain *c, const vt_bk_step *const *steps, uint32_t i,
                                    uint32_t max_sources, const vt_bk_tensor *t) {
  for (uint32_t k = i; k-- > 0;)
    if (vt_chain_is_same_tensor(t, &steps[k]->out[0])) return VT_CHAIN_SOURCES + k;
  for (uint32_t k = 0; k < c->n_sources; k++)
    if (vt_chain_is_same_tensor(t, c->source[k])) return k;
  if (c->n_sources == max_sources) return NO_VALUE;
  c->source[c->n_sources] = t;
  return c->n_sources++;
}

static int32_t read_step(vt_chain *c, const vt_bk_step *const *steps, uint32_t i,
                         uint32_t max_sources) {
  vt_chain_step *to = &c->step[i];
  const uint32_t map = vt_map_of_step(steps[i]);
  if (map == VT_MAP_none) return VT_UNSUPPORTED;
  *to = (vt_chain_step){
      .map = map, .type = steps[i]->in[steps[i]->n_in - 1].dtype, .made = steps[i]->out[0].dtype};
  if (!vt_map_has_formula(map, to->type)) return VT_UNSUPPORTED;
  for (; to->n_in < steps[i]->n_in; to->n_in++) {
    to->in[to->n_in] = find_or_add_operand(c, steps, i, max_sources, &steps[i]->in[to->n_in]);
    if (to->in[to->n_in] == NO_VALUE) return VT_UNSUPPORTED;
  }
  return VT_OK;
}

int32_t vt_chain_read(const vt_bk_step *const *steps, uint32_t n, uint32_t max_sources,
                      vt_chain *out) {
  vt_chain c = {.n_steps = n};
  if (n == 0 || n > VT_CHAIN_STEPS || max_sources > VT_CHAIN_SOURCES) return VT_UNSUPPORTED;
  for (uint32_t i = 0; i < n; i++) {
    const int32_t status = read_step(&c, steps, i, max_sources);
    if (status != VT_OK) return status;
  }
  c.result = &steps[n - 1]->out[0];
  *out = c;
  return VT_OK;
}

void vt_chain_swap_first_source(vt_chain *c, uint32_t i) {
  const vt_bk_tensor *first = c->source[0];
  c->source[0] = c->source[i];
  c->source[i] = first;
  for (uint32_t k = 0; k < c->n_steps; k++)
    for (uint32_t j = 0; j < c->step[k].n_in; j++) {
      uint32_t *in = &c->step[k].in[j];
      *in = *in == 0 ? i : *in == i ? 0 : *in;
    }
}

uint32_t vt_chain_widest_element_bytes(const vt_chain *c) {
  uint64_t most = vt_dtype_bytes(c->result->dtype);
  for (uint32_t i = 0; i < c->n_sources; i++)
    if (vt_dtype_bytes(c->source[i]->dtype) > most) most = vt_dtype_bytes(c->source[i]->dtype);
  return (uint32_t)most;
}

int vt_chain_calls_functions(const vt_chain *c) {
  for (uint32_t i = 0; i < c->n_steps; i++)
    if (vt_map_calls_function(c->step[i].map)) return 1;
  return 0;
}
