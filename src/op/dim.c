/* SPDX-License-Identifier: Apache-2.0
 * dim.c - arithmetic of symbolic dimensions: interned polynomials in a normal form. */
#include <string.h>
#include "vt_dim.h"

void vt_dims_init(vt_dims *t, vt_arena *arena) {
  memset(t, 0, sizeof *t);
  t->arena = arena;
}

void vt_dims_copy(vt_dims *t, const vt_dims *from, vt_arena *arena) {
  vt_dims_init(t, arena);
  t->n_symbols = from->n_symbols;
  for (uint32_t i = 0; i < from->n_symbols; i++)
    t->symbol[i] = vt_arena_string(arena, from->symbol[i], strlen(from->symbol[i]));
  if (from->n_polys == 0) return;
  t->poly = vt_arena_copy(arena, from->poly, from->n_polys * sizeof *from->poly);
  if (t->poly != NULL) t->n_polys = t->cap_polys = from->n_polys;
}

#define MAX_NUMBER ((int64_t)1 << 62)

static int64_t handle_of_poly(uint32_t i) { return INT64_MIN + (int64_t)i; }

static vt_poly poly_of(const vt_dims *t, int64_t dim) {
  if (vt_dim_is_symbolic(dim)) {
    const uint64_t i = (uint64_t)dim - (uint64_t)INT64_MIN;
    return i < t->n_polys ? t->poly[i] : (vt_poly){0};
  }
  vt_poly p = {0};
  p.n = dim != 0;
  p.term[0].coef = dim;
  return p;
}

static int is_constant(const vt_poly *p) {
  static const uint8_t none[VT_MAX_SYMBOLS];
  return p->n == 0 || (p->n == 1 && memcmp(p->term[0].power, none, sizeof none) == 0);
}

/* Compares the members one by one, because a struct may have padding between them. */
static int same_poly(const vt_poly *a, const vt_poly *b) {
  return a->n == b->n && memcmp(a->term, b->term, sizeof a->term) == 0;
}

/* Returns the dimension of a polynomial: a constant, or the handle of the one stored copy. Equal
 * polynomials get equal handles, because each has only one normal form. */
static vt_status intern(vt_dims *t, const vt_poly *p, int64_t *out, vt_diag *d) {
  if (is_constant(p)) {
    const int64_t value = p->n == 0 ? 0 : p->term[0].coef;
    /* a constant below -MAX_NUMBER would be read as a handle */
    if (value > MAX_NUMBER || value < -MAX_NUMBER)
      return VT_FAIL(d, VT_LIMIT, "a dimension overflows");
    *out = value;
    return VT_OK;
  }
  for (uint32_t i = 0; i < t->n_polys; i++) {
    if (!same_poly(&t->poly[i], p)) continue;
    *out = handle_of_poly(i);
    return VT_OK;
  }
  vt_poly *grown = vt_arena_grow(t->arena, t->poly, t->n_polys, &t->cap_polys, sizeof *p);
  if (grown == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  t->poly = grown;
  t->poly[t->n_polys] = *p;
  *out = handle_of_poly(t->n_polys++);
  return VT_OK;
}

/* Adds a term to the sum p and keeps the terms of p in order; removes the term if its coefficient
 * becomes 0. */
static vt_status add_term(vt_poly *p, const vt_term *term, vt_diag *d) {
  uint32_t i = 0;
  while (i < p->n && memcmp(p->term[i].power, term->power, sizeof term->power) > 0) i++;
  if (i < p->n && memcmp(p->term[i].power, term->power, sizeof term->power) == 0) {
    if (!vt_i64_add(p->term[i].coef, term->coef, &p->term[i].coef))
      return VT_FAIL(d, VT_LIMIT, "a dimension overflows");
    if (p->term[i].coef != 0) return VT_OK;
    memmove(&p->term[i], &p->term[i + 1], (p->n - i - 1) * sizeof *p->term);
    memset(&p->term[--p->n], 0, sizeof *p->term);
    return VT_OK;
  }
  if (p->n == VT_MAX_TERMS)
    return VT_FAIL(d, VT_LIMIT, "a dimension has more than %d terms", VT_MAX_TERMS);
  memmove(&p->term[i + 1], &p->term[i], (p->n - i) * sizeof *p->term);
  p->term[i] = *term;
  p->n++;
  return VT_OK;
}

vt_status vt_dim_declare(vt_dims *t, const char *name, int64_t *out, vt_diag *d) {
  if (t->n_symbols == VT_MAX_SYMBOLS)
    return VT_FAIL(d, VT_LIMIT, "a model has at most %d symbolic dimensions", VT_MAX_SYMBOLS);
  const char *copy = vt_arena_string(t->arena, name, strlen(name));
  if (copy == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_poly p = {0};
  p.n = 1;
  p.term[0].coef = 1;
  p.term[0].power[t->n_symbols] = 1;
  VT_TRY(intern(t, &p, out, d));
  t->symbol[t->n_symbols++] = copy;
  return VT_OK;
}

int vt_dim_find(const vt_dims *t, const char *name, int64_t *out) {
  for (uint32_t s = 0; s < t->n_symbols; s++) {
    if (strcmp(t->symbol[s], name) != 0) continue;
    vt_poly p = {0};
    p.n = 1;
    p.term[0].coef = 1;
    p.term[0].power[s] = 1;
    for (uint32_t i = 0; i < t->n_polys; i++) {
      if (!same_poly(&t->poly[i], &p)) continue;
      *out = handle_of_poly(i);
      return 1;
    }
  }
  return 0;
}

static vt_status add_scaled(vt_dims *t, int64_t a, int64_t b, int64_t scale, int64_t *out,
                            vt_diag *d) {
  vt_poly sum = poly_of(t, a);
  const vt_poly q = poly_of(t, b);
  for (uint32_t i = 0; i < q.n; i++) {
    vt_term term = q.term[i];
    if (!vt_i64_mul(term.coef, scale, &term.coef))
      return VT_FAIL(d, VT_LIMIT, "a dimension overflows");
    VT_TRY(add_term(&sum, &term, d));
  }
  return intern(t, &sum, out, d);
}

vt_status vt_dim_add(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) {
  return add_scaled(t, a, b, 1, out, d);
}

vt_status vt_dim_sub(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) {
  return add_scaled(t, a, b, -1, out, d);
}

static vt_status mul_terms(const vt_term *a, const vt_term *b, vt_term *out, vt_diag *d) {
  if (!vt_i64_mul(a->coef, b->coef, &out->coef))
    return VT_FAIL(d, VT_LIMIT, "a dimension overflows");
  for (int s = 0; s < VT_MAX_SYMBOLS; s++) {
    const unsigned power = (unsigned)a->power[s] + b->power[s];
    if (power > UINT8_MAX) return VT_FAIL(d, VT_LIMIT, "a dimension overflows");
    out->power[s] = (uint8_t)power;
  }
  return VT_OK;
}

vt_status vt_dim_mul(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) {
  const vt_poly p = poly_of(t, a), q = poly_of(t, b);
  vt_poly product = {0};
  for (uint32_t i = 0; i < p.n; i++)
    for (uint32_t j = 0; j < q.n; j++) {
      vt_term term = {0};
      VT_TRY(mul_terms(&p.term[i], &q.term[j], &term, d));
      VT_TRY(add_term(&product, &term, d));
    }
  return intern(t, &product, out, d);
}

vt_status vt_dim_div(vt_dims *t, int64_t a, int64_t divisor, int64_t *out, vt_diag *d) {
  vt_poly p = poly_of(t, a);
  if (divisor <= 0)
    return VT_FAIL(d, VT_VERIFY, "a dimension can only be divided by a constant > 0");
  for (uint32_t i = 0; i < p.n; i++) {
    if (p.term[i].coef % divisor != 0)
      return VT_FAIL(d, VT_VERIFY, "a dimension does not divide by %lld", (long long)divisor);
    p.term[i].coef /= divisor;
  }
  return intern(t, &p, out, d);
}

int vt_dim_uses_symbol(const vt_dims *t, int64_t dim, uint32_t symbol) {
  if (!vt_dim_is_symbolic(dim)) return 0;
  const vt_poly *p = &t->poly[dim - INT64_MIN];
  for (uint32_t i = 0; i < p->n; i++)
    if (p->term[i].power[symbol] != 0) return 1;
  return 0;
}

vt_status vt_dim_bind(const vt_dims *t, const int64_t *value, int64_t dim, int64_t *out,
                      vt_diag *d) {
  const vt_poly p = poly_of(t, dim);
  int64_t sum = 0;
  for (uint32_t i = 0; i < p.n; i++) {
    int64_t term = p.term[i].coef;
    for (uint32_t s = 0; s < t->n_symbols; s++)
      for (unsigned k = 0; k < p.term[i].power[s]; k++)
        if (!vt_i64_mul(term, value[s], &term))
          return VT_FAIL(d, VT_BIND, "a dimension made of '%s' overflows", t->symbol[s]);
    if (!vt_i64_add(sum, term, &sum)) return VT_FAIL(d, VT_BIND, "a dimension overflows");
  }
  if (sum > MAX_NUMBER || sum < -MAX_NUMBER) return VT_FAIL(d, VT_BIND, "a dimension overflows");
  *out = sum;
  return VT_OK;
}

static void print_term(const vt_dims *t, const vt_term *term, int first, vt_text *out) {
  static const uint8_t none[VT_MAX_SYMBOLS];
  const int constant = memcmp(term->power, none, sizeof none) == 0;
  const int negative = term->coef < 0;
  const uint64_t size = negative ? 0 - (uint64_t)term->coef : (uint64_t)term->coef;
  vt_text_add(out, "%s", first ? (negative ? "-" : "") : (negative ? " - " : " + "));
  if (constant || size != 1) vt_text_add(out, "%llu", (unsigned long long)size);
  const char *times = constant || size != 1 ? "*" : "";
  for (uint32_t s = 0; s < t->n_symbols; s++)
    for (unsigned k = 0; k < term->power[s]; k++) {
      vt_text_add(out, "%s%s", times, t->symbol[s]);
      times = "*";
    }
}

void vt_dim_print(const vt_dims *t, int64_t dim, vt_text *out) {
  const vt_poly p = poly_of(t, dim);
  if (p.n == 0) vt_text_add(out, "0");
  for (uint32_t i = 0; i < p.n; i++) print_term(t, &p.term[i], i == 0, out);
}
