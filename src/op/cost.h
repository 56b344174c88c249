/* SPDX-License-Identifier: Apache-2.0
 * cost.h - computes the operations that a node costs by the rules of costs.def. Private to
 * src/op. */
#ifndef VT_COST_H
#define VT_COST_H
#include "vt_op.h"

typedef struct vt_cost_site { /* a node, with what the rules of costs.def need to know of it */
  const vt_op_info *op;
  const void *attrs;
  const vt_type *in, *out;
  uint32_t n_in, n_out;
} vt_cost_site;

/* The sum and the product of two counts; UINT64_MAX if they overflow. */
uint64_t vt_cost_sum(uint64_t a, uint64_t b);
uint64_t vt_cost_times(uint64_t a, uint64_t b);
/* The number of arithmetic operations of a prim, without the operations of its bodies. */
uint64_t vt_cost_prim_flops(const vt_cost_site *s);
/* The number of arithmetic operations of a composition: the sum over the prims that it decomposes
 * to. */
vt_status vt_cost_composition_flops(const vt_cost_site *s, vt_alloc a, uint64_t *out,
                                    vt_diag *d) VT_NODISCARD;
/* The number of iterations of a loop, by which the cost of its body is multiplied; 1 for any other
 * op. */
uint64_t vt_cost_iterations(const vt_op_info *op, const void *attrs);
#endif
