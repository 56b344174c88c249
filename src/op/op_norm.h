/* SPDX-License-Identifier: Apache-2.0
 * op_norm.h - the computation that all norms share, once as nodes and once as a kernel of one index
 * set (the elements that are normalised together). Private to src/op. */
#ifndef VT_OP_NORM_H
#define VT_OP_NORM_H
#include "op_reduction.h"

/* ---- as ops ---- */

/* The parts of a norm over the axes of `mask`, which stay with length 1: u = S(x)/n; d = x - u;
 * squares = S(d*d); r = 1/sqrt(squares/n + eps). Unless `centred` is set, d is x itself and there
 * is no u. */
typedef struct vt_norm_parts {
  uint32_t u, d, squares, r;
} vt_norm_parts;
vt_norm_parts vt_build_norm(vt_builder *b, uint32_t x, unsigned mask, double eps, int centred);
/* The gradient of x from `a`, the gradient of h = d*r: ((a - S(a)/n) - h*(S(a*h)/n)) * r. Unless
 * `centred` is set, the first mean is left out. */
uint32_t vt_build_norm_gradient(vt_builder *b, const vt_norm_parts *p, uint32_t a, unsigned mask,
                                int centred);

/* ---- as a kernel ---- */

/* One index set. `walk` visits its elements in the views y, x, gamma, beta, of which the last two
 * may be missing. */
typedef struct vt_norm_set {
  vt_walk walk;
  void *y;
  const void *x, *gamma, *beta;
  double eps;
  int centred;
  double mean, squares; /* u and S(d*d), exact in a double; vt_norm_set_run writes them */
} vt_norm_set;
void vt_norm_set_run(vt_norm_set *s, uint32_t dtype);
#endif
