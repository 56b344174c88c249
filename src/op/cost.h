/* SPDX-License-Identifier: Apache-2.0
 * cost.h - a node as the rules of costs.def see it. Private to src/op. */
#ifndef VT_COST_H
#define VT_COST_H
#include "vt_op.h"

typedef struct vt_cost_site {
  const vt_op_info *op;
  const void *attrs;
  const vt_type *in, *out;
  uint32_t n_in, n_out;
} vt_cost_site;

/* Sums and products that stay at UINT64_MAX where they do not fit. */
uint64_t vt_cost_sum(uint64_t a, uint64_t b);
uint64_t vt_cost_times(uint64_t a, uint64_t b);
/* The operations of a prim; those of its bodies are not among them. */
uint64_t vt_cost_prim(const vt_cost_site *s);
/* The operations of what a composition decomposes to. */
vt_status vt_cost_composed(const vt_cost_site *s, vt_alloc a, uint64_t *out,
                           vt_diag *d) VT_NODISCARD;
/* How often the bodies of a node run: each one so often, or one of them once. */
uint64_t vt_cost_turns(const vt_op_info *op, const void *attrs);
#endif
