/* SPDX-License-Identifier: Apache-2.0
 * vec_int_avx2.h - the vocabulary of the integer kernels (see vec_int_scalar.h): eight i32 lanes,
 * groups of two 16-bit numbers. */
#ifndef VT_VEC_INT_H
#define VT_VEC_INT_H
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
enum { VQ_N = 8, VQ_ROWS = 4, VQ_GROUP = 2 };
typedef int16_t vq_row, vq_column; /* types of packed numbers */
typedef __m256i VQ;
static inline VQ vq_zero(void) { return _mm256_setzero_si256(); }
static inline VQ vq_load(const void *p) { return _mm256_loadu_si256(p); }
static inline void vq_store(void *p, VQ a) { _mm256_storeu_si256(p, a); }
static inline VQ vq_broadcast(const void *p) {
  int32_t group;
  memcpy(&group, p, sizeof group);
  return _mm256_set1_epi32(group);
}
static inline VQ vq_dot(VQ sum, VQ a, VQ b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#endif
