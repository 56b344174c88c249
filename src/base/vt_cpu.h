/* SPDX-License-Identifier: Apache-2.0
 * vt_cpu.h - what this processor has. Decides how fast, never what. */
#ifndef VT_CPU_H
#define VT_CPU_H
#include <stddef.h>

typedef struct vt_cpu {
  /* Usable: the operating system saves the registers. */
  int sse2, fma, f16c, avx2, avx512, vnni, neon;
  unsigned cores; /* logical processors that this process may run on */
} vt_cpu;
const vt_cpu *vt_cpu_get(void); /* detected once, thread-safe */
/* Tells the processor that this thread does nothing but look for a change. */
void vt_cpu_pause(void);
/* "sse2 fma f16c avx2 avx512 vnni" */
void vt_cpu_describe(char *out, size_t n);
#endif
