/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.h - tensors whose rows, along some axes, are read by themselves and become a row or a
 * number each. Rows lie without gaps when they are computed: those that do not are copied, several
 * neighbours at once. Private to src/back/cpu. */
#ifndef VT_CPU_ROWS_H
#define VT_CPU_ROWS_H
#include "cpu_reduce.h"

typedef struct vt_cpu_rowing vt_cpu_rowing;
/* Row `line`: n elements at x; n elements, or one, at y, elsewhere. */
typedef void vt_cpu_row_fn(const vt_cpu_rowing *r, int64_t line, const void *x, void *y);

struct vt_cpu_rowing {
  const vt_cpu_call *call;
  vt_cpu_row_fn *row;
  const char *x;
  char *y;
  vt_cpu_axes lines, along; /* from row to row, and within one */
  uint32_t dtype;
  int64_t n, size;  /* elements of a row, bytes of one */
  int one;          /* 1: a row becomes one number */
  double cost;      /* nanoseconds an element, about */
  vt_cpu_norm norm; /* for those who need one */
  int64_t head;     /* bytes at the beginning of the scratch that `row` uses */
};

/* Bytes of scratch, `head` included. */
uint64_t vt_cpu_rows_work(const vt_cpu_rowing *r);
/* Result 0 leaves the program, if it does, as it should. */
void vt_cpu_rows_run(vt_cpu_call *c, const vt_cpu_rowing *r);
/* x and y row by row along the axes of `mask`. */
void vt_cpu_rows_view(vt_cpu_rowing *r, const vt_cpu_call *c, unsigned mask);
#endif
