/* SPDX-License-Identifier: Apache-2.0
 * op_norm.h - the core that all norms share: as nodes, and as a kernel of one index set. Private to
 * src/op. */
#ifndef VT_OP_NORM_H
#define VT_OP_NORM_H
#include "op_reducing.h"

/* ---- as ops ---- */

/* u = S(x)/n; d = x - u; squares = S(d*d); r = 1/sqrt(squares/n + eps); the reduced axes are kept.
 * Without `centred` d is x itself. */
typedef struct vt_norm_parts {
  uint32_t u, d, squares, r;
} vt_norm_parts;
vt_norm_parts vt_build_norm(vt_builder *b, uint32_t x, unsigned mask, double eps, int centred);
/* h = d*r; ((a - S(a)/n) - h*(S(a*h)/n)) * r, without the first mean when not centred. */
uint32_t vt_build_norm_slope(vt_builder *b, const vt_norm_parts *p, uint32_t a, unsigned mask,
                             int centred);

/* ---- as a kernel ---- */

/* One index set: `walk` goes over it with the views y, x, gamma, beta, of which the last two may
 * be missing. */
typedef struct vt_norm_set {
  vt_walk walk;
  void *y;
  const void *x, *gamma, *beta;
  double eps;
  int centred;
  double mean, squares; /* u and S(d*d), exact; set by running */
} vt_norm_set;
void vt_norm_run(vt_norm_set *s, uint32_t dtype);
#endif
