/* SPDX-License-Identifier: Apache-2.0
 * hostile_fpenv.h - for tests: the worst floating-point environment that a host program may leave
 * behind (round toward zero and, if the machine can, flush subnormal operands and results), set and
 * read without vt_fpenv.h. The words are the control registers; the probe computes two numbers that
 * a wrong environment would change. */
#ifndef HOSTILE_FPENV_H
#define HOSTILE_FPENV_H
#include <string.h>
#include "volta/volta.h"
#include "vt_fpenv.h"

/* The control words of the environment, without exception flags. */
typedef struct hostile_words {
  uint32_t control, legacy;
} hostile_words;

#if defined(__x86_64__)
#include <xmmintrin.h>
static inline hostile_words hostile_read_words(void) {
  uint16_t x87;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return (hostile_words){_mm_getcsr() & 0xffc0u, x87};
}
static inline void hostile_write_words(hostile_words w) {
  const uint16_t x87 = (uint16_t)w.legacy;
  _mm_setcsr(w.control);
  __asm__ volatile("fldcw %0" : : "m"(x87));
}
/* SSE: flush to zero, denormals are zero, round toward zero, all exceptions masked. x87: single
 * precision, round toward zero. */
static inline hostile_words hostile_worst_words(void) { return (hostile_words){0xffc0u, 0x0c7fu}; }
static inline hostile_words hostile_numerics_words(void) {
  return (hostile_words){0x1f80u, 0x037fu};
}
static inline void hostile_clear_flags(void) { _mm_setcsr(_mm_getcsr() & 0xffc0u); }
static inline int hostile_inexact_is_raised(void) { return (_mm_getcsr() & 0x20u) != 0; }
#elif defined(__aarch64__)
static inline hostile_words hostile_read_words(void) {
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return (hostile_words){(uint32_t)fpcr, 0};
}
static inline void hostile_write_words(hostile_words w) {
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)w.control));
}
/* flush to zero, and round toward zero */
static inline hostile_words hostile_worst_words(void) { return (hostile_words){0x01c00000u, 0}; }
static inline hostile_words hostile_numerics_words(void) { return (hostile_words){0, 0}; }
static inline void hostile_clear_flags(void) {
  __asm__ volatile("msr fpsr, %0" : : "r"((uint64_t)0));
}
static inline int hostile_inexact_is_raised(void) {
  uint64_t fpsr;
  __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr));
  return (fpsr & 0x10u) != 0;
}
#else
#include <fenv.h>
static inline hostile_words hostile_read_words(void) {
  return (hostile_words){(uint32_t)fegetround(), 0};
}
static inline void hostile_write_words(hostile_words w) { (void)fesetround((int)w.control); }
static inline hostile_words hostile_worst_words(void) {
  return (hostile_words){(uint32_t)FE_TOWARDZERO, 0};
}
static inline hostile_words hostile_numerics_words(void) {
  return (hostile_words){(uint32_t)FE_TONEAREST, 0};
}
static inline void hostile_clear_flags(void) { (void)feclearexcept(FE_ALL_EXCEPT); }
static inline int hostile_inexact_is_raised(void) { return fetestexcept(FE_INEXACT) != 0; }
#endif

static inline int hostile_words_equal(hostile_words a, hostile_words b) {
  return a.control == b.control && a.legacy == b.legacy;
}

/* Bit patterns of 2/3 and of a subnormal product, computed at run time: a wrong rounding mode or
 * flushing would change them. */
typedef struct hostile_probe {
  uint32_t two_thirds, subnormal;
} hostile_probe;
static inline hostile_probe hostile_run_probe(void) {
  volatile float two = 2.0f, three = 3.0f, half = 0.5f, smallest_normal = 0x1p-126f;
  volatile float quotient = two / three, product = smallest_normal * half;
  const float q = quotient, p = product;
  hostile_probe out;
  memcpy(&out.two_thirds, &q, sizeof q);
  memcpy(&out.subnormal, &p, sizeof p);
  return out;
}
static inline int hostile_probe_is_right(hostile_probe p) {
  return p.two_thirds == 0x3f2aaaabu && p.subnormal == 0x00400000u;
}
#endif
