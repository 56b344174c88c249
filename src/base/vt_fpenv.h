/* SPDX-License-Identifier: Apache-2.0
 * vt_fpenv.h - the floating-point environment of the numerics: round to nearest even, keep
 * subnormals, no traps. Every thread that computes enters it and, when it leaves, restores the
 * environment that it found. */
#ifndef VT_FPENV_H
#define VT_FPENV_H
#include <stdint.h>

typedef struct vt_fpenv {
  /* Saved registers: MXCSR and x87 control word on x86-64, FPCR and FPSR on AArch64. */
  uint64_t control, legacy;
} vt_fpenv;
void vt_fpenv_enter(vt_fpenv *saved);
void vt_fpenv_leave(const vt_fpenv *saved);
/* Returns 1 if this thread is in the environment of the numerics; raised exception flags do not
 * matter. */
int vt_fpenv_is_active(void);
#endif
