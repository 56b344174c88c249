/* SPDX-License-Identifier: Apache-2.0
 * vt_fpenv.h - the floating-point environment of the numerics: round to nearest even,
 * subnormals kept, no traps. Entered by every thread that computes, left with the caller's
 * own environment restored. */
#ifndef VT_FPENV_H
#define VT_FPENV_H
#include <stdint.h>

typedef struct vt_fpenv {
  uint64_t control, legacy; /* MXCSR and x87 control word; FPCR and FPSR */
} vt_fpenv;
void vt_fpenv_enter(vt_fpenv *saved);
void vt_fpenv_leave(const vt_fpenv *saved);
/* 1 while this thread is in the environment of the numerics; exception flags may be raised. */
int vt_fpenv_kept(void);
#endif
