/* SPDX-License-Identifier: Apache-2.0
 * equation.c - parses the equation of an einsum (letters, `...`, commas and one arrow) and gives
 * every axis of the operands a label and a length. The text of an operand or of the result
 * between two commas is a term. `own` is the number of axes that the `...` of one term stands
 * for, `most` the greatest such number. */
#include "equation.h"
#include <string.h>

/* The text of one operand or of the result, for example ij in ij,jk->ik. */
typedef struct term {
  uint32_t n;
  uint8_t letter[VT_MAX_RANK];
  int dots; /* number of letters before `...`; -1 if the term has no `...` */
} term;

typedef struct terms {
  uint32_t n; /* number of operands; t[n] is the term of the result */
  term t[VT_EQUATION_OPERANDS + 1];
} terms;

/* ---- the text ---- */

static int letter_number(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  return c >= 'A' && c <= 'Z' ? 26 + (c - 'A') : -1;
}

static char letter_text(uint32_t label) {
  return (char)(label < 26 ? 'a' + (int)label : 'A' + (int)label - 26);
}

static vt_status add_letter(term *t, int letter, vt_diag *d) {
  if (t->n == VT_MAX_RANK)
    return VT_FAIL(d, VT_VERIFY, "the equation names more than %d axes of one tensor", VT_MAX_RANK);
  t->letter[t->n++] = (uint8_t)letter;
  return VT_OK;
}

static vt_status add_dots(term *t, const char *s, vt_diag *d) {
  if (strncmp(s, "...", 3) != 0)
    return VT_FAIL(d, VT_VERIFY, "the equation has a '.' that is not part of '...'");
  if (t->dots >= 0) return VT_FAIL(d, VT_VERIFY, "the equation has '...' twice in one term");
  t->dots = (int)t->n;
  return VT_OK;
}

/* Parses one term, up to a comma, an arrow or the end. */
static vt_status read_term(const char **at, term *out, vt_diag *d) {
  const char *s = *at;
  *out = (term){.dots = -1};
  while (*s != 0 && *s != ',' && *s != '-') {
    const int letter = letter_number(*s);
    if (letter >= 0) {
      VT_TRY(add_letter(out, letter, d));
    } else if (*s == '.') {
      VT_TRY(add_dots(out, s, d));
      s += 2;
    } else if (*s != ' ') {
      return VT_FAIL(d, VT_VERIFY, "the equation has a '%c': labels are letters", *s);
    }
    s++;
  }
  *at = s;
  return VT_OK;
}

static vt_status read_terms(const char *s, terms *out, vt_diag *d) {
  out->n = 0;
  for (;;) {
    VT_TRY(read_term(&s, &out->t[out->n++], d));
    if (*s != ',') break;
    if (out->n == VT_EQUATION_OPERANDS)
      return VT_FAIL(d, VT_VERIFY, "the equation has more than %d operands", VT_EQUATION_OPERANDS);
    s++;
  }
  if (s[0] != '-' || s[1] != '>')
    return VT_FAIL(d, VT_VERIFY, "the equation has no '->' before its result");
  s += 2;
  VT_TRY(read_term(&s, &out->t[out->n], d));
  if (*s != 0) return VT_FAIL(d, VT_VERIFY, "the equation goes on after its result");
  return VT_OK;
}

/* ---- labels of axes ---- */

/* Counts the axes that `...` stands for in operand i. */
static vt_status count_axes_of_dots(const vt_rule *r, const terms *t, uint32_t i, uint32_t *out,
                                    vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const term *e = &t->t[i];
  const uint32_t rank = r->in[i].rank;
  if (rank < e->n || (rank > e->n && e->dots < 0))
    return VT_FAIL(d, VT_VERIFY, "operand %u is %s where the equation names %u axes", i + 1,
                   vt_type_text(r->dims, &r->in[i], text), e->n);
  *out = rank - e->n;
  return VT_OK;
}

/* Gives every axis of term i a label. A letter is its own label. The axes of `...` have `most`
 * labels, of which those of this term get the last `own`, so that they are aligned at the end. */
static void label_axes(const term *t, uint32_t own, uint32_t most, vt_equation *q, uint32_t i) {
  uint32_t rank = 0;
  for (uint32_t k = 0; k <= t->n; k++) {
    if (t->dots == (int)k)
      for (uint32_t j = 0; j < own; j++)
        q->label[i][rank++] = (uint8_t)(VT_EQUATION_LETTERS + most - own + j);
    if (k < t->n) q->label[i][rank++] = t->letter[k];
  }
  q->rank[i] = rank;
}

static void append_label(vt_equation *q, uint32_t label, uint64_t *seen) {
  if ((*seen >> label & 1) == 0) q->order[q->n_order++] = (uint8_t)label;
  *seen |= (uint64_t)1 << label;
}

/* Orders the labels by their first appearance in the equation. The axes of `...` follow each other
 * at the place of the first `...`. */
static void order_labels_by_appearance(const terms *t, uint32_t most, vt_equation *q) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < t->n; i++)
    for (uint32_t k = 0; k <= t->t[i].n; k++) {
      if (t->t[i].dots == (int)k)
        for (uint32_t j = 0; j < most; j++) append_label(q, VT_EQUATION_LETTERS + j, &seen);
      if (k < t->t[i].n) append_label(q, t->t[i].letter[k], &seen);
    }
}

/* ---- lengths ---- */

/* Records the length of a label when its first axis is seen, and checks the lengths of its other
 * axes against it. */
static vt_status match_length(const vt_rule *r, vt_equation *q, uint32_t i, uint32_t axis,
                              uint64_t *known, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const uint32_t label = q->label[i][axis];
  const int64_t have = r->in[i].dim[axis];
  int64_t *dim = &q->dim[label];
  const int first = (*known >> label & 1) == 0;
  *known |= (uint64_t)1 << label;
  if (first || *dim == have) {
    *dim = have;
  } else if (label < VT_EQUATION_LETTERS) {
    return VT_FAIL(d, VT_VERIFY, "axis %u of operand %u, %s: label '%c' has another length", axis,
                   i + 1, vt_type_text(r->dims, &r->in[i], text), letter_text(label));
  } else if (*dim == 1) {
    *dim = have;
  } else if (have != 1) {
    return VT_FAIL(d, VT_VERIFY, "axis %u of operand %u, %s, does not broadcast", axis, i + 1,
                   vt_type_text(r->dims, &r->in[i], text));
  }
  return VT_OK;
}

static vt_status find_lengths_and_repeats(const vt_rule *r, vt_equation *q, vt_diag *d) {
  uint64_t known = 0;
  for (uint32_t i = 0; i < q->n; i++)
    for (uint32_t k = 0; k < q->rank[i]; k++) VT_TRY(match_length(r, q, i, k, &known, d));
  for (uint32_t i = 0; i < q->n; i++)
    for (uint32_t k = 0; k < q->rank[i]; k++) {
      const uint32_t label = q->label[i][k];
      if (r->in[i].dim[k] == q->dim[label])
        q->has[i] |= (uint64_t)1 << label;
      else
        q->label[i][k] = VT_EQUATION_REPEATED;
    }
  return VT_OK;
}

static vt_status label_result_axes(const terms *t, uint32_t most, vt_equation *q, vt_diag *d) {
  const term *y = &t->t[t->n];
  const uint32_t dots = y->dots >= 0 ? most : 0;
  uint64_t all = 0;
  for (uint32_t i = 0; i < t->n; i++)
    if (t->t[i].dots >= 0 && y->dots < 0)
      return VT_FAIL(d, VT_VERIFY, "the equation has '...', but its result has not");
  if (y->n + dots > VT_MAX_RANK)
    return VT_FAIL(d, VT_VERIFY, "the result of the equation has more than %d axes", VT_MAX_RANK);
  for (uint32_t i = 0; i < q->n_order; i++) all |= (uint64_t)1 << q->order[i];
  label_axes(y, dots, most, q, t->n);
  for (uint32_t k = 0; k < q->rank[t->n]; k++) {
    const uint64_t bit = (uint64_t)1 << q->label[t->n][k];
    if ((all & bit) == 0)
      return VT_FAIL(d, VT_VERIFY, "label '%c' of the result is in no operand",
                     letter_text(q->label[t->n][k]));
    if ((q->has[t->n] & bit) != 0)
      return VT_FAIL(d, VT_VERIFY, "label '%c' occurs twice in the result",
                     letter_text(q->label[t->n][k]));
    q->has[t->n] |= bit;
  }
  return VT_OK;
}

vt_status vt_equation_read(const vt_rule *r, vt_equation *out, vt_diag *d) {
  const vt_attr_einsum *a = r->attrs;
  uint32_t own[VT_EQUATION_OPERANDS], most = 0;
  vt_equation q = {.n = r->n_in};
  terms t;
  if (memchr(a->equation.v, 0, sizeof a->equation.v) == NULL)
    return VT_FAIL(d, VT_VERIFY, "the equation has no end");
  VT_TRY(read_terms(a->equation.v, &t, d));
  if (t.n != r->n_in)
    return VT_FAIL(d, VT_VERIFY, "the equation has %u operands where %u are given", t.n, r->n_in);
  for (uint32_t i = 0; i < t.n; i++) {
    VT_TRY(count_axes_of_dots(r, &t, i, &own[i], d));
    most = own[i] > most ? own[i] : most;
  }
  for (uint32_t i = 0; i < t.n; i++) label_axes(&t.t[i], own[i], most, &q, i);
  order_labels_by_appearance(&t, most, &q);
  VT_TRY(find_lengths_and_repeats(r, &q, d));
  VT_TRY(label_result_axes(&t, most, &q, d));
  *out = q;
  return VT_OK;
}

uint64_t vt_equation_remaining_labels(const vt_equation *q, uint32_t i) {
  uint64_t kept = 0;
  for (uint32_t k = i + 1; k <= q->n; k++) kept |= q->has[k];
  return kept;
}

uint32_t vt_equation_sort_labels(const vt_equation *q, uint64_t mask, uint8_t *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < q->n_order; i++)
    if ((mask >> q->order[i] & 1) != 0) out[n++] = q->order[i];
  return n;
}
