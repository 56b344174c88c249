/* SPDX-License-Identifier: Apache-2.0
 * equation.h - the equation of an einsum, resolved for its operands: every axis gets a label, and
 * so does every axis that `...` stands for. After that there is no broadcasting: an operand that is
 * repeated along a label does not have the label. Private to src/op. */
#ifndef VT_EQUATION_H
#define VT_EQUATION_H
#include "op_rows.h"

enum {
  VT_EQUATION_OPERANDS = 8,
  VT_EQUATION_LETTERS = 52,
  /* the number of labels: letters, and axes that `...` stands for */
  VT_EQUATION_LABELS = VT_EQUATION_LETTERS + VT_MAX_RANK,
  /* stands instead of a label for an axis of length 1 that is broadcast */
  VT_EQUATION_REPEATED = 255
};

typedef struct vt_equation {
  uint32_t n; /* number of operands; entry [n] of the arrays below is the result */
  uint32_t rank[VT_EQUATION_OPERANDS + 1];              /* number of axes of each operand */
  uint8_t label[VT_EQUATION_OPERANDS + 1][VT_MAX_RANK]; /* label of each axis of each operand */
  uint64_t has[VT_EQUATION_OPERANDS + 1];               /* labels of each operand as a bit set */
  uint32_t n_order;
  uint8_t order[VT_EQUATION_LABELS]; /* all labels by first appearance; those of `...` follow each
                                        other */
  int64_t dim[VT_EQUATION_LABELS];   /* length of each label */
} vt_equation;

/* Parses the equation and resolves it for the operands; VT_VERIFY, with a message, if it is
 * malformed or does not fit them. */
vt_status vt_equation_read(const vt_rule *r, vt_equation *out, vt_diag *d) VT_NODISCARD;
/* The labels that remain after operands 0 .. i are contracted, as a bit set: those that a later
 * operand or the result has. */
uint64_t vt_equation_remaining_labels(const vt_equation *q, uint32_t i);
/* Writes the labels of `mask` in the order of the equation; returns how many there are. */
uint32_t vt_equation_sort_labels(const vt_equation *q, uint64_t mask, uint8_t *out);
#endif
