/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.h - private to src/back/cpu: ops that turn each row of x, along some axes, into a row or
 * one number of y. A row has no gaps when it is computed: rows with gaps are first copied, several
 * neighbouring ones together. */
#ifndef VT_CPU_ROWS_H
#define VT_CPU_ROWS_H
#include "cpu_reduce.h"

typedef struct vt_cpu_rowwise vt_cpu_rowwise;
/* Computes row `line`: reads n elements at x, and writes n elements or one number at y, which does
 * not overlap x. */
typedef void vt_cpu_row_fn(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y);

struct vt_cpu_rowwise {
  const vt_cpu_call *call;
  vt_cpu_row_fn *row;
  const char *x;
  char *y;
  vt_cpu_axes lines, along; /* axes from row to row; axes within a row */
  uint32_t dtype;
  int64_t n, size;  /* elements of a row; bytes of an element */
  int one;          /* 1: a row becomes one number */
  double cost;      /* approximate nanoseconds per element */
  vt_cpu_norm norm; /* parameters of a norm, for the ops that are norms */
  int64_t head;     /* bytes at the start of the scratch that `row` itself uses */
};

/* Bytes of scratch, including `head`. */
uint64_t vt_cpu_rows_scratch_bytes(const vt_cpu_rowwise *r);
/* Computes all rows. If the host reads result 0, its NaNs are made canonical on the way. */
void vt_cpu_rows_run(vt_cpu_call *c, const vt_cpu_rowwise *r);
/* Sets up the rows of operand and result 0 along the axes of `mask`. */
void vt_cpu_rows_init(vt_cpu_rowwise *r, const vt_cpu_call *c, unsigned mask);
#endif
