/* SPDX-License-Identifier: Apache-2.0
 * cpu_kernels.h - the kernels of one instruction set, as a table. Each family of kernels has a
 * table of its own; the tables of a family give the same bits on every instruction set. */
#ifndef VT_CPU_KERNELS_H
#define VT_CPU_KERNELS_H
#include <stdint.h>
#include "kern_attention.h"
#include "kern_conv.h"
#include "kern_reduce.h"
#include "kern_gemm.h"
#include "kern_int.h"
#include "kern_map.h"
#include "kern_move.h"

typedef struct vt_cpu_kernels {
  const char *isa;
  const vt_cpu_maps *maps;   /* pointwise: each element from the operands at its position */
  const vt_cpu_gemms *gemms; /* floating-point contractions */
  const vt_cpu_convs *convs; /* floating-point contractions whose columns overlap */
  const vt_cpu_ints *ints;   /* contractions of 8-bit integers */
  const vt_cpu_reductions *reductions; /* sums, maxima, running sums, rows */
  const vt_cpu_attentions *attentions; /* tiles and rows of attention */
  const vt_cpu_moves *moves;           /* copies, transposes, scatters, random numbers */
} vt_cpu_kernels;

/* The tables for the rows of isa.def. On other architectures all but vt_cpu_scalar are not
 * compiled. */
#define VT_ISA(name, has) extern const vt_cpu_kernels vt_cpu_##name;
#include "isa.def"
#undef VT_ISA
/* The best table that this processor can run, or the table named `isa` if that is not NULL. NULL if
 * the processor cannot run it. */
const vt_cpu_kernels *vt_cpu_kernels_of(const char *isa);
/* The integer kernels of k, or the VNNI kernels if k is avx512 and the processor has them. */
const vt_cpu_ints *vt_cpu_ints_of(const vt_cpu_kernels *k);
/* 1 if isa.def has a row of this name, whether or not the processor can run it. */
int vt_cpu_isa_known(const char *isa);
#endif
