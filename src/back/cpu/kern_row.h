/* SPDX-License-Identifier: Apache-2.0
 * kern_row.h - kernels that turn a row of contiguous numbers of any length into a row: norms, and
 * the last steps of a softmax. Part of the table of kern_reduce.h. */
#ifndef VT_KERN_ROW_H
#define VT_KERN_ROW_H
#include <stdint.h>

/* A norm: u = S(x)/n, or 0 if not centred; d = x - u; q = S(d*d); r = 1/sqrt(q/n + eps); the result
 * is ((d*r) * gamma) + beta. */
typedef struct vt_cpu_norm {
  int64_t n;
  double eps;
  int centred;
  int64_t shared_by; /* consecutive elements that share one gamma and beta; n: there is only one of
                        each */
  const void *gamma, *beta; /* NULL: the norm has no gamma or beta */
} vt_cpu_norm;
typedef struct vt_cpu_moments { /* u and q of a norm; exact, since a double holds both types */
  double mean, squares;
} vt_cpu_moments;

typedef struct vt_cpu_rows {
  /* `y` must not overlap x; if `m` is not NULL it receives u and q. */
  void (*norm)(const vt_cpu_norm *p, const void *x, void *y, vt_cpu_moments *m);
  /* Only u and q. */
  void (*moments)(const void *x, int64_t n, vt_cpu_moments *m);
  /* y = (x - m) - l, for single numbers m and l: the last step of log_softmax. */
  void (*log_softmax)(const void *x, int64_t n, const void *m, const void *l, void *y);
} vt_cpu_rows;
#endif
