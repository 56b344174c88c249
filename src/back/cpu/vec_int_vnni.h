/* SPDX-License-Identifier: Apache-2.0
 * vec_int_vnni.h - the vocabulary of the integer kernels (see vec_int_scalar.h): sixteen i32 lanes,
 * groups of four bytes, multiplied and added by one instruction that never saturates. */
#ifndef VT_VEC_INT_H
#define VT_VEC_INT_H
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
enum { VQ_N = 16, VQ_ROWS = 8, VQ_GROUP = 4 };
typedef uint8_t vq_row; /* types of packed numbers */
typedef int8_t vq_column;
typedef __m512i VQ;
static inline VQ vq_zero(void) { return _mm512_setzero_si512(); }
static inline VQ vq_load(const void *p) { return _mm512_loadu_si512(p); }
static inline void vq_store(void *p, VQ a) { _mm512_storeu_si512(p, a); }
static inline VQ vq_broadcast(const void *p) {
  int32_t group;
  memcpy(&group, p, sizeof group);
  return _mm512_set1_epi32(group);
}
static inline VQ vq_dot(VQ sum, VQ a, VQ b) { return _mm512_dpbusd_epi32(sum, a, b); }
#endif
