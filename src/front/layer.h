/* SPDX-License-Identifier: Apache-2.0
 * layer.h - a layer call whose arguments were read, and what the files that build layers share: its
 * nodes, its parameters and states, the cache of attention. Private to src/front. */
#ifndef VT_LAYER_H
#define VT_LAYER_H
#include "parse_state.h"

typedef struct layer_call {
  vt_parser *p;
  vt_token at;      /* the token with the kind of the layer, "linear" */
  const char *name; /* the name given to the layer, without scopes */
  uint32_t x;       /* the operand */
  vt_type type;     /* type of the operand */
  const void *args; /* the arguments, a struct LAYER_args */
} layer_call;

/* layer.c: adds a node. */
vt_status vt_layer_add_node(const layer_call *c, uint32_t op, const uint32_t *in, uint32_t n_in,
                            const void *attrs, uint32_t *out) VT_NODISCARD;
/* layer.c: declares a parameter or a state whose name is that of the layer followed by `part`, and
 * writes that name to `full`. */
vt_status vt_layer_declare(const layer_call *c, const char *part, const vt_param_spec *spec,
                           char full[VT_NAME_MAX + 1], uint32_t *out) VT_NODISCARD;

/* ---- attention with a cache (layer_cache.c) ---- */

/* The states name.k and name.v hold the keys and values of positions 0 .. S-1. A run over T
 * positions writes those of p .. p+T-1 before it attends. */
typedef struct vt_kv_cache {
  int64_t shape[4];  /* of the two states: B, kv_heads, S, d */
  uint32_t position; /* value: p */
  uint32_t index;    /* value: where the new keys are written, [B, kv_heads, T, 1] */
  uint32_t length;   /* value: p + T for each of the batch, the keys that are present */
} vt_kv_cache;

/* Checks the cache, of which shape and position are set, and sets index and length. */
vt_status vt_layer_begin_cache(const layer_call *c, vt_kv_cache *k) VT_NODISCARD;
/* Replaces the keys and values of this run, in[1] and in[2], by those of the cache, and appends the
 * length to the `*n` operands of attention. With a length the op's `causal` and `window` count
 * positions from the start of the cache. */
vt_status vt_layer_write_cache(const layer_call *c, const vt_kv_cache *k, uint32_t *in,
                               uint32_t *n) VT_NODISCARD;
#endif
