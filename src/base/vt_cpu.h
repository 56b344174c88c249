/* SPDX-License-Identifier: Apache-2.0
 * vt_cpu.h - the features of this processor. They decide which kernels run and how fast, never
 * which bits come out. */
#ifndef VT_CPU_H
#define VT_CPU_H
#include <stddef.h>

typedef struct vt_cpu {
  /* 1 for each instruction set that programs can use: the processor has it and the operating system
   * saves its registers. */
  int sse2, fma, f16c, avx2, avx512, vnni, neon;
  unsigned cores; /* logical processors that this process may run on */
} vt_cpu;
const vt_cpu *vt_cpu_get(void); /* detects the features on the first call; thread-safe */
/* Hint to the processor that this thread is spinning while it waits for a change in memory. */
void vt_cpu_pause(void);
/* Writes the names of the usable features separated by blanks, as "sse2 fma avx2", at most n bytes
 * with the 0. A name that does not fit is left out. */
void vt_cpu_list_features(char *out, size_t n);
#endif
