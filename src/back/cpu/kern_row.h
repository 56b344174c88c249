/* SPDX-License-Identifier: Apache-2.0
 * kern_row.h - rows of numbers without gaps, of any length, that become rows: norms, and the last
 * steps of a softmax. A part of the table of kern_reduce.h. */
#ifndef VT_KERN_ROW_H
#define VT_KERN_ROW_H
#include <stdint.h>

/* u = S(x)/n, or 0 when not centred; d = x - u; q = S(d*d); r = 1/sqrt(q/n + eps);
 * ((d*r) * gamma) + beta. */
typedef struct vt_cpu_norm {
  int64_t n;
  double eps;
  int centred;
  int64_t each; /* elements that share a number of gamma and beta; n: there is one of each */
  const void *gamma, *beta; /* NULL: none */
} vt_cpu_norm;
typedef struct vt_cpu_moments { /* exact, whatever the type */
  double mean, squares;
} vt_cpu_moments;

typedef struct vt_cpu_rows {
  /* `y` does not overlap x; `m` may be NULL. */
  void (*norm)(const vt_cpu_norm *p, const void *x, void *y, vt_cpu_moments *m);
  /* The first half of it: u and q. */
  void (*moments)(const void *x, int64_t n, vt_cpu_moments *m);
  /* (x - m) - l, of numbers m and l */
  void (*lower)(const void *x, int64_t n, const void *m, const void *l, void *y);
} vt_cpu_rows;
#endif
