/* SPDX-License-Identifier: Apache-2.0
 * vec_int_scalar.h - the vocabulary of the integer kernels in C11: one i32 lane, groups of two
 * 16-bit numbers. Every vec_int_*.h defines VQ, a vector of VQ_N sums; vq_broadcast, one group in
 * every lane; and vq_dot, which adds to each lane the products of two groups. VQ_ROWS are the rows
 * of a tile. */
#ifndef VT_VEC_INT_H
#define VT_VEC_INT_H
#include <stdint.h>
#include <string.h>
enum { VQ_N = 1, VQ_ROWS = 4, VQ_GROUP = 2 };
typedef int16_t vq_row, vq_column; /* types of packed numbers */
typedef uint32_t VQ;
static inline VQ vq_zero(void) { return 0; }
static inline VQ vq_load(const void *p) {
  VQ a;
  memcpy(&a, p, sizeof a);
  return a;
}
static inline void vq_store(void *p, VQ a) { memcpy(p, &a, sizeof a); }
static inline VQ vq_broadcast(const void *p) { return vq_load(p); }
static inline VQ vq_dot(VQ sum, VQ a, VQ b) {
  int16_t x[2], y[2];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  return sum + (uint32_t)(x[0] * y[0]) + (uint32_t)(x[1] * y[1]);
}
#endif
