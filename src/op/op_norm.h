/* SPDX-License-Identifier: Apache-2.0
 * op_norm.h - the computation that all norms share, once as nodes and once as a kernel of one
 * index set (the elements that are normalised together). S is the ordered sum of
 * docs/numerics.md, n the number of elements of an index set. Private to src/op. */
#ifndef VT_OP_NORM_H
#define VT_OP_NORM_H
#include "op_reduction.h"

/* ---- as ops ---- */

/* The parts of a norm over the axes of the bit mask `mask`, as values in which these axes have
 * length 1: u = S(x)/n; squares = S(d*d); r = 1/sqrt(squares/n + eps). If `centred`, d = x - u;
 * otherwise d is x, and there is no u. */
typedef struct vt_norm_parts {
  uint32_t u, d, squares, r;
} vt_norm_parts;
vt_norm_parts vt_build_norm(vt_builder *b, uint32_t x, unsigned mask, double eps, int centred);
/* Writes the gradient of x, given `dh`, the gradient of h = d*r: ((dh - S(dh)/n) - h*(S(dh*h)/n)) *
 * r. Unless `centred` is set, S(dh)/n is left out. */
uint32_t vt_build_norm_gradient(vt_builder *b, const vt_norm_parts *p, uint32_t dh, unsigned mask,
                                int centred);

/* ---- as a kernel ---- */

/* One index set. `walk` visits its elements in the views y, x, gamma and beta; gamma and beta may
 * be missing. */
typedef struct vt_norm_set {
  vt_walk walk;
  void *y;
  const void *x, *gamma, *beta;
  double eps;
  int centred;
  double mean, squares; /* results of vt_norm_set_run: u and S(d*d), of which a double holds an f32
                           exactly */
} vt_norm_set;
void vt_norm_set_run(vt_norm_set *s, uint32_t dtype);
#endif
