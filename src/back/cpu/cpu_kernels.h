/* SPDX-License-Identifier: Apache-2.0
 * cpu_kernels.h - the kernels of one instruction set, as data. Each family has a table of its own;
 * all tables of a family have the same bits behind them. */
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
  const vt_cpu_maps *maps;             /* pointwise: an element from those at its place */
  const vt_cpu_gemms *gemms;           /* contractions in floating point */
  const vt_cpu_convs *convs;           /* those whose columns overlap */
  const vt_cpu_ints *ints;             /* contractions of small integers */
  const vt_cpu_reductions *folds;      /* sums, maxima, running sums */
  const vt_cpu_attentions *attentions; /* tiles and rows of attention */
  const vt_cpu_moves *moves;           /* copies that change the place alone */
} vt_cpu_kernels;

/* The tables of isa.def; those of other processors are NULL. */
#define VT_ISA(name, has) extern const vt_cpu_kernels vt_cpu_##name;
#include "isa.def"
#undef VT_ISA
/* The best table that this processor has, or the one of a name; NULL when it has none such. */
const vt_cpu_kernels *vt_cpu_kernels_of(const char *isa);
/* Their integer kernels, or better ones where this processor has more than the row asks for. */
const vt_cpu_ints *vt_cpu_ints_of(const vt_cpu_kernels *k);
/* 1 when isa.def has the name, whatever this processor has. */
int vt_cpu_isa_known(const char *isa);
#endif
