/* SPDX-License-Identifier: Apache-2.0
 * parse_attr.c - parses the parts of a model that are known before it runs: dimension expressions,
 * types, attributes and initialisers. */
#include <stdio.h>
#include <string.h>
#include "parse_state.h"
#include "vt_decimal.h"

/* ---- dimensions ----
 *   dim    = term { ("+" | "-") term }
 *   term   = factor { ("*" | "/") factor }
 *   factor = integer | name | "(" dim ")" | "-" factor */

static vt_status parse_dim_sum(vt_parser *p, int64_t *out);

/* Writes `v` to `out` if it is within VT_WHOLE_MAX, so that it cannot be mistaken for the handle of
 * a polynomial, which is a larger number (vt_dim.h). `fits` is 0 if computing `v` overflowed. */
static vt_status check_dim_magnitude(vt_parser *p, const vt_token *at, int fits, int64_t v,
                                     int64_t *out) {
  if (!fits || v > VT_WHOLE_MAX || v < -VT_WHOLE_MAX)
    return VT_FAIL_AT(p, at, VT_LIMIT, "this dimension is beyond 2^60");
  *out = v;
  return VT_OK;
}

static vt_status divide_dims(vt_parser *p, const vt_token *at, int64_t a, int64_t b, int64_t *out) {
  if (vt_dim_is_symbolic(b) || b <= 0)
    return VT_FAIL_AT(p, at, VT_VERIFY,
                      "a dimension can only be divided by a whole number above 0");
  if (vt_dim_is_symbolic(a))
    return vt_parse_set_failure_position(p, at, vt_dim_div(p->gb->b.dims, a, b, out, &p->diag));
  if (a % b != 0)
    return VT_FAIL_AT(p, at, VT_VERIFY, "%lld is not a multiple of %lld", (long long)a,
                      (long long)b);
  *out = a / b;
  return VT_OK;
}

static vt_status apply_constant_op(vt_parser *p, const vt_token *op, int64_t a, int64_t b,
                                   int64_t *out) {
  int64_t v = 0;
  const int fits =
      op->kind == '*' ? vt_i64_mul(a, b, &v) : vt_i64_add(a, op->kind == '+' ? b : -b, &v);
  return check_dim_magnitude(p, op, fits, v, out);
}

/* Checks the coefficients of a polynomial against VT_WHOLE_MAX. */
static vt_status check_polynomial_magnitude(vt_parser *p, const vt_token *at, int64_t dim) {
  const vt_poly *q = &p->gb->b.dims->poly[(uint64_t)dim - (uint64_t)INT64_MIN];
  int64_t v;
  for (uint32_t i = 0; i < q->n; i++) VT_TRY(check_dim_magnitude(p, at, 1, q->term[i].coef, &v));
  return vt_parse_check_builder(p, at);
}

static vt_status apply_symbolic_op(vt_parser *p, const vt_token *op, int64_t a, int64_t b,
                                   int64_t *out) {
  vt_dims *t = p->gb->b.dims;
  int64_t v = 0;
  vt_status s;
  if (op->kind == '+')
    s = vt_dim_add(t, a, b, &v, &p->diag);
  else if (op->kind == '-')
    s = vt_dim_sub(t, a, b, &v, &p->diag);
  else
    s = vt_dim_mul(t, a, b, &v, &p->diag);
  VT_TRY(vt_parse_set_failure_position(p, op, s));
  if (!vt_dim_is_symbolic(v)) return check_dim_magnitude(p, op, 1, v, out);
  VT_TRY(check_polynomial_magnitude(p, op, v));
  *out = v;
  return VT_OK;
}

static vt_status apply_dim_op(vt_parser *p, const vt_token *op, int64_t a, int64_t b,
                              int64_t *out) {
  if (op->kind == '/') return divide_dims(p, op, a, b, out);
  if (vt_dim_is_symbolic(a) || vt_dim_is_symbolic(b)) return apply_symbolic_op(p, op, a, b, out);
  return apply_constant_op(p, op, a, b, out);
}

static vt_status parse_dim_name(vt_parser *p, int64_t *out) {
  char name[VT_NAME_MAX + 1];
  const vt_token at = p->tok;
  vt_parse_copy_name(&at, name);
  const vt_entry *e = vt_scope_find(p, name);
  if (e == NULL) return vt_scope_fail_unknown(p, &at, name);
  if (e->kind != VT_ENTRY_SYMBOL && e->kind != VT_ENTRY_CONSTANT) {
    const vt_status s = VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' is a value, not a dimension", name);
    vt_parse_add_hint(p, "dimensions are declared by 'dim'");
    return s;
  }
  *out = e->dim;
  VT_TRY(vt_parse_check_limits(p, &at));
  return vt_parse_advance(p);
}

static vt_status parse_dim_int(vt_parser *p, int64_t *out) {
  const vt_token at = p->tok;
  int64_t v = 0;
  const int fits = vt_decimal_i64(at.s, at.n, &v);
  VT_TRY(check_dim_magnitude(p, &at, fits, v, out));
  return vt_parse_advance(p);
}

/* Parses "(" dim ")", or "-" and an integer. */
static vt_status parse_bracketed_or_negative_dim(vt_parser *p, int64_t *out) {
  const vt_token at = p->tok;
  VT_TRY(vt_parse_advance(p));
  int64_t v = 0;
  if (at.kind == '(') {
    VT_TRY(parse_dim_sum(p, &v));
    VT_TRY(vt_parse_expect(p, ')', "')' to close the dimension"));
    *out = v;
    return VT_OK;
  }
  VT_TRY(parse_dim_int(p, &v));
  *out = -v;
  return VT_OK;
}

/* Parses a factor. A minus sign before an integer belongs to it; before anything else it means
 * 0 - x. */
static vt_status parse_dim_factor(vt_parser *p, int64_t *out) {
  char found[VT_TOKEN_TEXT];
  if (p->tok.kind == VT_TOKEN_INT) return parse_dim_int(p, out);
  if (p->tok.kind == VT_TOKEN_NAME) return parse_dim_name(p, out);
  if (p->tok.kind == '-' && p->next.kind == VT_TOKEN_INT)
    return parse_bracketed_or_negative_dim(p, out);
  if (p->tok.kind != '(' && p->tok.kind != '-')
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected a dimension, found %s",
                      vt_token_text(&p->tok, found));
  VT_TRY(vt_parse_enter_nesting(p));
  vt_token op = p->tok;
  if (op.kind == '(') {
    VT_TRY(parse_bracketed_or_negative_dim(p, out));
  } else {
    int64_t v = 0;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_dim_factor(p, &v));
    VT_TRY(apply_dim_op(p, &op, 0, v, out));
  }
  vt_parse_leave_nesting(p);
  return VT_OK;
}

static vt_status parse_dim_term(vt_parser *p, int64_t *out) {
  VT_TRY(parse_dim_factor(p, out));
  while (p->tok.kind == '*' || p->tok.kind == '/') {
    const vt_token op = p->tok;
    int64_t right = 0;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_dim_factor(p, &right));
    VT_TRY(apply_dim_op(p, &op, *out, right, out));
  }
  return VT_OK;
}

static vt_status parse_dim_sum(vt_parser *p, int64_t *out) {
  VT_TRY(parse_dim_term(p, out));
  while (p->tok.kind == '+' || p->tok.kind == '-') {
    const vt_token op = p->tok;
    int64_t right = 0;
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_dim_term(p, &right));
    VT_TRY(apply_dim_op(p, &op, *out, right, out));
  }
  return VT_OK;
}

vt_status vt_parse_dim(vt_parser *p, int64_t *out) {
  int64_t v = 0;
  VT_TRY(parse_dim_sum(p, &v));
  *out = v;
  return VT_OK;
}

vt_status vt_parse_whole_number(vt_parser *p, int64_t *out) {
  const vt_token at = p->tok;
  int64_t v = 0;
  VT_TRY(vt_parse_dim(p, &v));
  if (vt_dim_is_symbolic(v))
    return VT_FAIL_AT(p, &at, VT_VERIFY,
                      "a whole number is needed here, not a dimension bound later");
  *out = v;
  return VT_OK;
}

/* ---- types ---- */

/* Parses the extent of an axis. Negative extents and extents above 2^40 are refused. */
static vt_status parse_extent(vt_parser *p, int64_t *out) {
  const vt_token at = p->tok;
  int64_t v = 0;
  VT_TRY(vt_parse_dim(p, &v));
  if (!vt_dim_is_symbolic(v) && v < 0)
    return VT_FAIL_AT(p, &at, VT_VERIFY, "a dimension of %lld: it cannot be below 0", (long long)v);
  if (!vt_dim_is_symbolic(v) && v > VT_DIM_MAX)
    return VT_FAIL_AT(p, &at, VT_LIMIT, "a dimension of %lld: at most 2^40 is accepted",
                      (long long)v);
  *out = v;
  return VT_OK;
}

vt_status vt_parse_dtype(vt_parser *p, uint32_t *out) {
  char name[VT_NAME_MAX + 1], found[VT_TOKEN_TEXT];
  vt_token at = p->tok;
  if (at.kind != VT_TOKEN_NAME)
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "expected a type, found %s", vt_token_text(&at, found));
  vt_parse_copy_name(&at, name);
  const uint32_t dtype = vt_dtype_find(name);
  if (dtype == 0) {
    vt_suggestion s = {.wanted = name};
    for (uint32_t i = 1; vt_dtype_name(i) != NULL; i++)
      vt_suggestion_consider(&s, vt_dtype_name(i));
    const vt_status status = VT_FAIL_AT(p, &at, VT_SYNTAX, "unknown type '%s'", name);
    vt_parse_add_suggestion(p, &s);
    return status;
  }
  *out = dtype;
  return vt_parse_advance(p);
}

/* Parses the entries and the closing bracket of a list in square brackets. `one` parses an entry,
 * `nouns` names the entries in messages. */
typedef vt_status entry_fn(vt_parser *p, int64_t *out);
static vt_status parse_entries_to_bracket(vt_parser *p, entry_fn *parse_entry, const char *nouns,
                                          int64_t v[8], int64_t *out_n) {
  char close[64];
  snprintf(close, sizeof close, "',' or ']' in the list of %s", nouns);
  const vt_token from = p->tok;
  int64_t n = 0;
  int more = p->tok.kind != ']';
  if (!more) VT_TRY(vt_parse_advance(p));
  while (more) {
    if (n == VT_MAX_RANK)
      return VT_FAIL_AT(p, &p->tok, VT_LIMIT, "more than %d %s", VT_MAX_RANK, nouns);
    VT_TRY(parse_entry(p, &v[n++]));
    VT_TRY(vt_parse_list_continues(p, &from, ']', close, &more));
  }
  *out_n = n;
  return VT_OK;
}

vt_status vt_parse_type(vt_parser *p, vt_type *out) {
  vt_type t = {0};
  int64_t rank = 0;
  VT_TRY(vt_parse_dtype(p, &t.dtype));
  if (p->tok.kind != '[') {
    const vt_status s = vt_parse_expect(p, '[', "'[' and the dimensions of the type");
    vt_parse_add_hint(p, "a scalar is written f32[]");
    return s;
  }
  VT_TRY(vt_parse_advance(p));
  VT_TRY(parse_entries_to_bracket(p, parse_extent, "dimensions", t.dim, &rank));
  t.rank = (uint32_t)rank;
  *out = t;
  return VT_OK;
}

/* ---- attributes ---- */

vt_status vt_parse_bool(vt_parser *p, int64_t *out) {
  char found[VT_TOKEN_TEXT];
  if (!vt_token_is_bool_literal(&p->tok))
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected true or false, found %s",
                      vt_token_text(&p->tok, found));
  *out = vt_token_is(&p->tok, "true");
  return vt_parse_advance(p);
}

vt_status vt_parse_real(vt_parser *p, double *out) {
  char found[VT_TOKEN_TEXT];
  const int negative = p->tok.kind == '-';
  if (negative) VT_TRY(vt_parse_advance(p));
  double x;
  const int number = p->tok.kind == VT_TOKEN_INT || p->tok.kind == VT_TOKEN_REAL;
  if (!number || !vt_decimal_f64(p->tok.s, p->tok.n, &x))
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected a number, found %s",
                      vt_token_text(&p->tok, found));
  *out = negative && x == x ? -x : x; /* a NaN keeps its sign, so that it stays canonical */
  return vt_parse_advance(p);
}

static vt_status parse_summation_order(vt_parser *p, int64_t *out) {
  char found[VT_TOKEN_TEXT];
  if (!vt_token_is(&p->tok, "fma256"))
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected an order, found %s; the only one is fma256",
                      vt_token_text(&p->tok, found));
  *out = VT_ORDER_FMA256;
  return vt_parse_advance(p);
}

/* Parses a list, or a single entry, which is a list of length 1. */
static vt_status parse_list_or_single(vt_parser *p, entry_fn *parse_entry, vt_attr_list *out) {
  vt_attr_list list = {0};
  if (p->tok.kind == '[') {
    VT_TRY(vt_parse_advance(p));
    VT_TRY(parse_entries_to_bracket(p, parse_entry, "entries", list.v, &list.n));
  } else {
    VT_TRY(parse_entry(p, &list.v[0]));
    list.n = 1;
  }
  *out = list;
  return VT_OK;
}

vt_status vt_parse_int_list(vt_parser *p, vt_attr_list *out) {
  return parse_list_or_single(p, vt_parse_whole_number, out);
}

/* Checks an axis, and converts one that is counted from the end to one from the start. */
static vt_status normalise_axis(vt_parser *p, const vt_token *at, const vt_type *first_type,
                                int64_t *axis) {
  const int64_t rank = first_type != NULL ? (int64_t)first_type->rank : 0;
  const int64_t a = *axis < 0 ? *axis + rank : *axis;
  char type[VT_TYPE_TEXT];
  if (a >= 0 && a < rank) {
    *axis = a;
    return VT_OK;
  }
  if (first_type == NULL) return VT_FAIL_AT(p, at, VT_VERIFY, "an axis without an operand");
  return VT_FAIL_AT(p, at, VT_VERIFY, "axis %lld is out of range for %s", (long long)*axis,
                    vt_type_text(p->gb->b.dims, first_type, type));
}

static vt_status normalise_axes(vt_parser *p, const vt_token *at, const vt_type *first_type,
                                const vt_attr_field *f, void *attrs) {
  if (f->kind == VT_ATTR_AXIS) return normalise_axis(p, at, first_type, vt_attr_int(attrs, f));
  if (f->kind != VT_ATTR_AXES) return VT_OK;
  vt_attr_list *list = vt_attr_ints(attrs, f);
  for (int64_t i = 0; i < list->n; i++) VT_TRY(normalise_axis(p, at, first_type, &list->v[i]));
  return VT_OK;
}

static vt_status parse_word_attr(vt_parser *p, int64_t *out) {
  char found[VT_TOKEN_TEXT], name[VT_NAME_MAX + 1] = "";
  if (p->tok.kind == VT_TOKEN_NAME) vt_parse_copy_name(&p->tok, name);
  const int64_t word = vt_word_find(name);
  if (word < 0)
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX,
                      "expected a word such as 'mean' or 'nearest', found %s",
                      vt_token_text(&p->tok, found));
  *out = word;
  return vt_parse_advance(p);
}

/* Parses a text in double quotes; the quotes are dropped. */
static vt_status parse_quoted(vt_parser *p, vt_attr_text *out) {
  char found[VT_TOKEN_TEXT];
  const vt_token at = p->tok;
  if (at.kind != VT_TOKEN_QUOTED)
    return VT_FAIL_AT(p, &at, VT_SYNTAX, "expected a text in double quotes, found %s",
                      vt_token_text(&at, found));
  if (at.n - 2 >= sizeof out->v)
    return VT_FAIL_AT(p, &at, VT_LIMIT, "a text of %u characters; at most %d are accepted",
                      at.n - 2, (int)sizeof out->v - 1);
  *out = (vt_attr_text){{0}};
  memcpy(out->v, at.s + 1, at.n - 2);
  return vt_parse_advance(p);
}

static vt_status parse_dtype_attr(vt_parser *p, int64_t *out) {
  uint32_t dtype = 0;
  VT_TRY(vt_parse_dtype(p, &dtype));
  *out = dtype;
  return VT_OK;
}

static vt_status parse_attr_value(vt_parser *p, const vt_attr_field *f, void *attrs) {
  switch (f->kind) {
    case VT_ATTR_FLAG:
      return vt_parse_bool(p, vt_attr_int(attrs, f));
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
      return vt_parse_whole_number(p, vt_attr_int(attrs, f));
    case VT_ATTR_REAL:
      return vt_parse_real(p, vt_attr_real(attrs, f));
    case VT_ATTR_DTYPE:
      return parse_dtype_attr(p, vt_attr_int(attrs, f));
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
      return vt_parse_int_list(p, vt_attr_ints(attrs, f));
    case VT_ATTR_DIMS:
      return parse_list_or_single(p, vt_parse_dim, vt_attr_ints(attrs, f));
    case VT_ATTR_ORDER:
      return parse_summation_order(p, vt_attr_int(attrs, f));
    case VT_ATTR_DIM:
      return vt_parse_dim(p, vt_attr_int(attrs, f));
    case VT_ATTR_WORD:
      return parse_word_attr(p, vt_attr_int(attrs, f));
    case VT_ATTR_TEXT:
      return parse_quoted(p, vt_attr_string(attrs, f));
    case VT_ATTR_BITS:
      break;
  }
  return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "'%s' cannot be written as an attribute", f->name);
}

static vt_status fail_unknown_attr(vt_parser *p, const vt_attr_group *g, const vt_token *callee,
                                   const char *name) {
  char owner[VT_NAME_MAX + 1];
  vt_parse_copy_name(callee, owner);
  vt_suggestion s = {.wanted = name};
  for (uint32_t i = 0; i < g->n_fields; i++) vt_suggestion_consider(&s, g->fields[i].name);
  const vt_status status =
      VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "'%s' has no attribute '%s'", owner, name);
  vt_parse_add_suggestion(p, &s);
  if (vt_layer_has_arg(owner, name))
    vt_parse_add_hint(p, "the layer takes it: write %s NAME(..., %s=...)", owner, name);
  return status;
}

/* Parses one "name=value" and sets bit i of `seen`, where i is the number of the field. */
static vt_status parse_attr(vt_parser *p, const vt_attr_group *g, const vt_token *callee,
                            const vt_type *first_type, void *attrs, uint64_t *seen) {
  char name[VT_NAME_MAX + 1];
  if (p->tok.kind != VT_TOKEN_NAME || p->next.kind != '=')
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX,
                      "expected an attribute as name=value after the first one");
  vt_parse_copy_name(&p->tok, name);
  const vt_attr_field *f = vt_attr_find(g, name);
  if (f == NULL) return fail_unknown_attr(p, g, callee, name);
  const uint64_t bit = (uint64_t)1 << (f - g->fields);
  if ((*seen & bit) != 0)
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "the attribute '%s' is given twice", name);
  *seen |= bit;
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_advance(p));
  const vt_token value = p->tok;
  VT_TRY(parse_attr_value(p, f, attrs));
  return normalise_axes(p, &value, first_type, f, attrs);
}

/* Checks the attributes that were not written: a required one is a failure, an optional one keeps
 * its default, whose axes may still be counted from the end. */
static vt_status complete_missing_attrs(vt_parser *p, const vt_attr_group *g,
                                        const vt_token *callee, const vt_type *first_type,
                                        void *attrs, uint64_t seen) {
  for (uint32_t i = 0; i < g->n_fields; i++) {
    const vt_attr_field *f = &g->fields[i];
    if ((seen >> i & 1) != 0) continue;
    if (f->required)
      return VT_FAIL_AT(p, callee, VT_VERIFY, "'%.*s' needs the attribute '%s'", (int)callee->n,
                        callee->s, f->name);
    VT_TRY(normalise_axes(p, callee, first_type, f, attrs));
  }
  return VT_OK;
}

vt_status vt_parse_copy_attrs(vt_parser *p, const vt_attr_group *g, const void *attrs) {
  if (g->size > VT_ATTRS_MAX)
    return VT_FAIL(&p->diag, VT_INTERNAL, "the attributes of group '%s' are too large", g->name);
  memcpy(p->attrs, attrs, g->size);
  return VT_OK;
}

vt_status vt_parse_attrs(vt_parser *p, const vt_attr_group *g, const vt_token *callee,
                         const vt_type *first_type) {
  char close[VT_NAME_MAX + 64];
  uint64_t seen = 0;
  VT_TRY(vt_parse_copy_attrs(p, g, g->defaults));
  snprintf(close, sizeof close, "')' to close the call of '%.*s'", (int)callee->n, callee->s);
  int more = p->tok.kind != ')';
  if (!more) VT_TRY(vt_parse_advance(p));
  while (more) {
    VT_TRY(parse_attr(p, g, callee, first_type, p->attrs, &seen));
    VT_TRY(vt_parse_list_continues(p, callee, ')', close, &more));
  }
  return complete_missing_attrs(p, g, callee, first_type, p->attrs, seen);
}

/* ---- initialisers ---- */

static vt_status fail_unknown_init(vt_parser *p, const char *name) {
  vt_suggestion s = {.wanted = name};
  for (uint32_t i = 0; i < vt_init_count(); i++) vt_suggestion_consider(&s, vt_init_at(i)->name);
  const vt_status status = VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "unknown initialiser '%s'", name);
  vt_parse_add_suggestion(p, &s);
  return status;
}

vt_status vt_parse_init(vt_parser *p, vt_init_spec *out) {
  char name[VT_NAME_MAX + 1], found[VT_TOKEN_TEXT];
  vt_init_spec spec = {0};
  const vt_token of = p->tok;
  if (of.kind != VT_TOKEN_NAME) {
    const vt_status s = VT_FAIL_AT(p, &of, VT_SYNTAX, "expected an initialiser, found %s",
                                   vt_token_text(&of, found));
    if (vt_token_starts_literal(&of)) vt_parse_add_hint(p, "write constant(value=...)");
    return s;
  }
  vt_parse_copy_name(&of, name);
  spec.info = vt_init_find(name);
  if (spec.info == NULL) return fail_unknown_init(p, name);
  const vt_attr_group *g = spec.info->attrs;
  VT_TRY(vt_parse_advance(p));
  if (p->tok.kind == '(') {
    VT_TRY(vt_parse_advance(p));
    VT_TRY(vt_parse_attrs(p, g, &of, NULL));
  } else {
    VT_TRY(vt_parse_copy_attrs(p, g, g->defaults));
    VT_TRY(complete_missing_attrs(p, g, &of, NULL, p->attrs, 0));
  }
  spec.attrs = vt_arena_copy(&p->arena, p->attrs, g->size);
  if (spec.attrs == NULL) return vt_parse_fail_nomem(p);
  *out = spec;
  return VT_OK;
}
