/* SPDX-License-Identifier: Apache-2.0
 * fpenv.c - saves, sets and restores the control registers of the floating-point unit. One of the
 * two files of the project with code that depends on the processor type. */
#include "vt_fpenv.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

/* Each unit has its own control word: SSE computes f32 and f64, the x87 computes long double. */
enum { MXCSR_NUMERICS = 0x1f80, X87_NUMERICS = 0x037f };

static uint16_t x87_get_control_word(void) {
  uint16_t word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}

static void x87_set_control_word(uint16_t word) { __asm__ volatile("fldcw %0" : : "m"(word)); }

void vt_fpenv_enter(vt_fpenv *saved) {
  saved->control = _mm_getcsr();
  saved->legacy = x87_get_control_word();
  _mm_setcsr(MXCSR_NUMERICS);
  x87_set_control_word(X87_NUMERICS);
}

void vt_fpenv_leave(const vt_fpenv *saved) {
  _mm_setcsr((unsigned)saved->control);
  x87_set_control_word((uint16_t)saved->legacy);
}

int vt_fpenv_is_active(void) {
  const unsigned flags = 0x3f;
  return (_mm_getcsr() & ~flags) == MXCSR_NUMERICS && x87_get_control_word() == X87_NUMERICS;
}

#elif defined(__aarch64__)

void vt_fpenv_enter(vt_fpenv *saved) {
  uint64_t fpcr, fpsr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("mrs %0, fpsr" : "=r"(fpsr));
  *saved = (vt_fpenv){.control = fpcr, .legacy = fpsr};
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
}

void vt_fpenv_leave(const vt_fpenv *saved) {
  __asm__ volatile("msr fpcr, %0" : : "r"(saved->control));
  __asm__ volatile("msr fpsr, %0" : : "r"(saved->legacy));
}

int vt_fpenv_is_active(void) {
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr == 0;
}

#else
#include <fenv.h>

/* Portable C gives access to the rounding direction and the exception flags only. */
void vt_fpenv_enter(vt_fpenv *saved) {
  saved->control = (uint64_t)fegetround();
  saved->legacy = (uint64_t)fetestexcept(FE_ALL_EXCEPT);
  (void)fesetround(FE_TONEAREST);
}

void vt_fpenv_leave(const vt_fpenv *saved) {
  (void)fesetround((int)saved->control);
  (void)feclearexcept(FE_ALL_EXCEPT & ~(int)saved->legacy);
}

int vt_fpenv_is_active(void) { return fegetround() == FE_TONEAREST; }

#endif
