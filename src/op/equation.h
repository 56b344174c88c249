/* SPDX-License-Identifier: Apache-2.0
 * equation.h - the equation of an einsum, read against its operands: every axis gets a label, and
 * so does every axis that `...` stands for. What is left are labels alone, without broadcasting: an
 * operand that is repeated along a label does not have it. Private to src/op. */
#ifndef VT_EQUATION_H
#define VT_EQUATION_H
#include "op_rows.h"

enum {
  VT_EQUATION_OPERANDS = 8,
  VT_EQUATION_LETTERS = 52,
  VT_EQUATION_LABELS = VT_EQUATION_LETTERS + VT_MAX_RANK, /* letters, then the axes of `...` */
  VT_EQUATION_REPEATED = 255 /* in place of a label: an axis of 1 that meets a longer one */
};

typedef struct vt_equation {
  uint32_t n;                                           /* operands; [n] below is the result */
  uint32_t rank[VT_EQUATION_OPERANDS + 1];              /* axes */
  uint8_t label[VT_EQUATION_OPERANDS + 1][VT_MAX_RANK]; /* of each axis */
  uint64_t has[VT_EQUATION_OPERANDS + 1];               /* the same as bits */
  uint32_t n_order;
  uint8_t order[VT_EQUATION_LABELS]; /* labels as they first appear, those of `...` together */
  int64_t dim[VT_EQUATION_LABELS];
} vt_equation;

/* VT_VERIFY says what is wrong with the equation or does not fit the operands. */
vt_status vt_equation_read(const vt_rule *r, vt_equation *out, vt_diag *d) VT_NODISCARD;
/* The labels that stay when operand i has been contracted with what came before it. */
uint64_t vt_equation_kept(const vt_equation *q, uint32_t i);
/* Those of `mask` in the order of the equation; returns how many. */
uint32_t vt_equation_sorted(const vt_equation *q, uint64_t mask, uint8_t *out);
#endif
