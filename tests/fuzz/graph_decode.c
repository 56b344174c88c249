/* SPDX-License-Identifier: Apache-2.0
 * graph_decode.c - bytes become a small graph of any ops with any attributes and bodies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"

const char *const graph_symbol[GRAPH_SYMBOLS] = {"S", "T"};
const double graph_real[GRAPH_REALS] = {0,    1,    -1,   0.5,   1e-5, 2,    1e300, -1e-300,
                                        -0.5, 0.25, 1e10, 1e-40, 3,    -0.0, 0.01};

#define NUMBER_MAX (INT64_C(1) << 60)

typedef struct decoder {
  const uint8_t *p; /* bytes to decide by; zeros once they are used up */
  size_t n;
  int64_t value[VT_MAX_SYMBOLS]; /* what the symbols are to be */
} decoder;

static _Noreturn void die(const char *what, const vt_diag *d) {
  fprintf(stderr, "%s: %s\n", what, d->text);
  abort();
}

static uint32_t take(decoder *f) {
  if (f->n == 0) return 0;
  f->n--;
  return *f->p++;
}

/* A number below n stays what it is when n grows. */
static uint32_t below(decoder *f, uint32_t n) { return take(f) % n; }

static uint64_t take_raw(decoder *f) {
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v |= (uint64_t)take(f) << (8 * i);
  return v;
}

/* ---- numbers ---- */

static int64_t combine(vt_dims *dims, int product, int64_t a, int64_t b) {
  int64_t out = 0;
  vt_diag d = {0};
  const vt_status s = product ? vt_dim_mul(dims, a, b, &out, &d) : vt_dim_add(dims, a, b, &out, &d);
  if (s != VT_OK) die("a dimension", &d);
  return out;
}

int64_t graph_poly(vt_dims *dims, uint32_t which) {
  int64_t s = 0, t = 0;
  if (!vt_dim_find(dims, graph_symbol[0], &s)) return which;
  if (!vt_dim_find(dims, graph_symbol[1], &t)) t = s;
  const int64_t x = (which & 1) != 0 ? t : s, y = (which & 1) != 0 ? s : t;
  switch (which >> 1) {
    case 0:
      return x;
    case 1:
      return combine(dims, 0, x, (which & 1) != 0 ? -1 : 1);
    case 2:
      return combine(dims, 1, x, 2);
    case 3:
      return combine(dims, which & 1, s, t);
    case 4:
      return combine(dims, 1, x, x);
    case 5:
      return combine(dims, 0, x, (which & 1) != 0 ? 1 : -1);
    case 6:
      return combine(dims, 0, combine(dims, 1, x, y), x);
    default:
      return combine(dims, 0, x, combine(dims, 1, y, -1));
  }
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

/* `dims` is NULL where no symbol may stand. The text form has no number beyond 2^60, so a graph has
 * none either; and a handle to a symbol, which is beyond, is never made from bytes. */
static int64_t number(decoder *f, vt_dims *dims) {
  static const int64_t extreme[] = {NUMBER_MAX, -NUMBER_MAX,    VT_DIM_MAX, VT_DIM_MAX + 1,
                                    UINT32_MAX, INT32_MAX,      INT32_MIN,  1 << 16,
                                    1 << 24,    NUMBER_MAX - 1, -(1 << 16), 1000};
  const uint32_t b = take(f), low = b & 15;
  switch (b >> 4) {
    case GRAPH_NEGATIVE:
      return -(int64_t)low;
    case GRAPH_WIDE:
      return low * 256 + take(f);
    case GRAPH_SYMBOLIC:
      return dims == NULL ? low : graph_poly(dims, low);
    case GRAPH_EXTREME:
      return extreme[low % (sizeof extreme / sizeof *extreme)];
    case GRAPH_RAW:
      return clamp((int64_t)take_raw(f), -NUMBER_MAX, NUMBER_MAX);
    default:
      return low;
  }
}

/* A literal may be any bits. */
static int64_t bits_of(decoder *f) {
  if (f->n != 0 && *f->p >> 4 != GRAPH_RAW) return number(f, NULL);
  (void)take(f);
  return (int64_t)take_raw(f);
}

static double real(decoder *f) {
  const uint32_t b = take(f);
  if (b < 240) return graph_real[b % GRAPH_REALS];
  const uint64_t bits = take_raw(f);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x - x == 0 ? x : 0; /* the text form has neither infinity nor NaN here */
}

static uint32_t dtype(uint32_t b) { return vt_dtype_name(b & 31) != NULL ? b & 31 : VT_DTYPE_F32; }

/* ---- attributes ---- */

static void fill_list(decoder *f, vt_attr_list *l, vt_dims *dims) {
  *l = (vt_attr_list){.n = below(f, VT_MAX_RANK + 1)};
  for (int64_t i = 0; i < l->n; i++) l->v[i] = number(f, dims);
}

static int64_t word(uint32_t b) { return vt_word_text(b & 63) != NULL ? b & 63 : VT_WORD_none; }

/* A length and its characters; what no quoted text holds becomes a letter. */
static void fill_text(decoder *f, vt_attr_text *t) {
  *t = (vt_attr_text){{0}};
  const uint32_t n = below(f, sizeof t->v);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t c = take(f);
    t->v[i] = c < ' ' || c > '~' || c == '"' ? (char)('a' + c % 26) : (char)c;
  }
}

static void fill_field(decoder *f, void *attrs, const vt_attr_field *a, vt_dims *dims) {
  if (!a->required && (take(f) & 1) != 0) return; /* as it is by default */
  switch (a->kind) {
    case VT_ATTR_FLAG:
      *vt_attr_int(attrs, a) = take(f) & 1;
      break;
    case VT_ATTR_REAL:
      *vt_attr_real(attrs, a) = real(f);
      break;
    case VT_ATTR_DTYPE:
      *vt_attr_int(attrs, a) = dtype(take(f));
      break;
    case VT_ATTR_WORD:
      *vt_attr_int(attrs, a) = word(take(f));
      break;
    case VT_ATTR_ORDER:
      *vt_attr_int(attrs, a) = VT_ORDER_FMA256;
      break;
    case VT_ATTR_DIMS:
      fill_list(f, vt_attr_ints(attrs, a), dims);
      break;
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
      fill_list(f, vt_attr_ints(attrs, a), NULL);
      break;
    case VT_ATTR_TEXT:
      fill_text(f, vt_attr_string(attrs, a));
      break;
    case VT_ATTR_BITS:
      *vt_attr_int(attrs, a) = bits_of(f);
      break;
    case VT_ATTR_DIM:
      *vt_attr_int(attrs, a) = number(f, dims);
      break;
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
      *vt_attr_int(attrs, a) = number(f, NULL);
      break;
  }
}

static void fill(decoder *f, void *attrs, const vt_attr_group *group, vt_dims *dims) {
  memcpy(attrs, group->defaults, group->size);
  for (uint32_t i = 0; i < group->n_fields; i++) fill_field(f, attrs, &group->fields[i], dims);
}

/* ---- ports ---- */

/* 1 when the type is small once its symbols have their values. */
static int small(const decoder *f, const vt_dims *dims, const vt_type *type) {
  vt_type t = *type;
  uint64_t count, bytes;
  for (uint32_t i = 0; i < t.rank; i++)
    if (vt_dim_bind(dims, f->value, type->dim[i], &t.dim[i], NULL) != VT_OK || t.dim[i] < 0)
      return 0;
  return vt_type_size(&t, &count, &bytes, NULL) == VT_OK && count <= GRAPH_ELEMENTS;
}

static vt_type port_type(decoder *f, vt_dims *dims, uint32_t first) {
  vt_type t = {.dtype = dtype(first), .rank = below(f, VT_MAX_RANK + 1)};
  for (uint32_t i = 0; i < t.rank; i++) {
    t.dim[i] = number(f, dims);
    if (!vt_dim_is_symbolic(t.dim[i]) && (t.dim[i] < 0 || t.dim[i] > GRAPH_ELEMENTS)) t.dim[i] = 1;
  }
  if (!small(f, dims, &t)) t.rank = 0;
  for (uint32_t i = t.rank; i < VT_MAX_RANK; i++) t.dim[i] = 0;
  return t;
}

/* Integers of an input are drawn from a range. */
static void fill_range(decoder *f, vt_dims *dims, uint32_t type, vt_port *p) {
  const uint64_t bits = 8 * vt_dtype_bytes(type);
  if (type < VT_DTYPE_I8 || type > VT_DTYPE_I64) return;
  const int64_t hi =
      type == VT_DTYPE_U8 ? UINT8_MAX : clamp(INT64_MAX >> (64 - bits), 0, NUMBER_MAX);
  const int64_t lo = type == VT_DTYPE_U8 ? 0 : clamp(-hi - 1, -NUMBER_MAX, 0);
  p->has_range = 1;
  p->lo = clamp(number(f, NULL), lo, hi);
  p->hi = number(f, dims);
  if (!vt_dim_is_symbolic(p->hi)) p->hi = clamp(p->hi, p->lo, hi);
}

/* Random initialisers make f32, and no two of them draw from one stream. */
static void fill_init(decoder *f, uint32_t type, uint32_t index, vt_port *p, void *attrs) {
  const uint32_t n = below(f, 32);
  const vt_init_info *init = vt_init_get(vt_init_get(n) == NULL ? 1 : n);
  const vt_attr_field *stream = vt_attr_find(init->attrs, "stream");
  if (stream != NULL && type != VT_DTYPE_F32) init = vt_init_get(1);
  stream = vt_attr_find(init->attrs, "stream");
  fill(f, attrs, init->attrs, NULL);
  if (stream != NULL)
    *vt_attr_int(attrs, stream) = (*vt_attr_int(attrs, stream) & 0xfffffff) * 16 + index;
  p->kind = VT_PORT_PARAM;
  p->init = init->number;
  p->init_attrs = attrs;
}

static void add_ports(vt_graph_builder *gb, decoder *f) {
  const uint32_t n = below(f, GRAPH_PORTS + 1);
  for (uint32_t i = 0; i < n; i++) {
    char name[16];
    uint64_t attrs[64] = {0};
    const uint32_t first = take(f);
    const vt_type t = port_type(f, gb->b.dims, first);
    (void)snprintf(name, sizeof name, "x%u", i);
    vt_port p = {.name = name, .kind = VT_PORT_INPUT};
    if ((first & 128) != 0)
      fill_init(f, t.dtype, i, &p, attrs);
    else
      fill_range(f, gb->b.dims, t.dtype, &p);
    if (vt_graph_add_port(gb, &p, &t) == VT_NO_VALUE) die("a port", gb->d);
  }
}

/* ---- nodes ---- */

static uint32_t back(decoder *f, const vt_graph_builder *gb) {
  return gb->g->n_values - 1 - below(f, gb->g->n_values);
}

/* The value, or the nearest before it of that type, or zeros. */
static uint32_t of_type(vt_graph_builder *gb, uint32_t value, const vt_type *type) {
  const vt_type t = *type;
  for (uint32_t v = value + 1; v-- > 0;)
    if (vt_type_equal(&gb->g->values[v].type, &t)) return v;
  const uint32_t zero = vt_build_bits(&gb->b, t.dtype, 0);
  return vt_build_broadcast(&gb->b, zero, t.rank, t.dim);
}

/* 1 when the rules accept the node and its results are small enough to be run here. */
static int acceptable(const decoder *f, const vt_op_info *op, const vt_rule *r) {
  vt_type out[VT_MAX_RESULTS];
  vt_diag d = {.code = VT_OK};
  uint32_t n = 0;
  memset(out, 0, sizeof out);
  const vt_status s = vt_op_infer(op, r, out, &n, &d);
  if (s == VT_INTERNAL) die(op->name, &d);
  if (s != VT_OK && (d.code != s || d.text[0] == '\0')) die("a refusal without a word", &d);
  if (s != VT_OK) return 0;
  for (uint32_t i = 0; i < n; i++)
    if (!small(f, r->dims, &out[i])) return 0;
  return 1;
}

typedef struct node { /* to be */
  const vt_op_info *op;
  uint32_t n, in[GRAPH_OPERANDS];
  uint64_t attrs[128];
} node;

static void operand_types(const vt_graph_builder *gb, const node *x, vt_type *types) {
  for (uint32_t i = 0; i < x->n; i++) types[i] = gb->g->values[x->in[i]].type;
}

static int take_node(vt_graph_builder *gb, decoder *f, node *x) {
  const uint32_t page = below(f, 2), low = take(f);
  x->op = vt_op_get(1000 * page + low);
  if (x->op == NULL || x->op->min_in > GRAPH_OPERANDS || x->op->attrs->size > sizeof x->attrs)
    return 0;
  const uint32_t least = x->op->min_in;
  const uint32_t most = x->op->max_in < GRAPH_OPERANDS ? x->op->max_in : GRAPH_OPERANDS;
  x->n = least + (most > least ? below(f, most - least + 1) : 0);
  if (x->n > 0 && gb->g->n_values == 0) return 0;
  for (uint32_t i = 0; i < x->n; i++) x->in[i] = back(f, gb);
  fill(f, x->attrs, x->op->attrs, gb->b.dims);
  return 1;
}

/* What the rules allow, the builder must. Where operands do not fit each other, the first one
 * alone often does. */
static void add_plain(vt_graph_builder *gb, decoder *f, node *x) {
  vt_type types[GRAPH_OPERANDS];
  const vt_rule r = {.dims = gb->b.dims, .in = types, .n_in = x->n, .attrs = x->attrs};
  operand_types(gb, x, types);
  if (!acceptable(f, x->op, &r)) {
    for (uint32_t i = 1; i < x->n; i++) x->in[i] = x->in[0];
    operand_types(gb, x, types);
    if (x->n < 2 || !acceptable(f, x->op, &r)) return;
  }
  if (gb->b.node(&gb->b, x->op->number, x->in, x->n, x->attrs) == VT_NO_VALUE)
    die("a node is refused that the rules accept", gb->d);
}

static void add_nodes(vt_graph_builder *gb, decoder *f, uint32_t n);

/* `want`: what the first results must be like, or NULL. */
static void add_body(vt_graph_builder *gb, decoder *f, const vt_type *takes, uint32_t n_takes,
                     const vt_type *want, uint32_t n_want) {
  vt_builder *b = gb->b.open(&gb->b, takes, n_takes);
  uint32_t out[GRAPH_BODY_RESULTS + GRAPH_OPERANDS];
  if (b == NULL) die("a body does not open", gb->d);
  vt_graph_builder *body = b->self;
  add_nodes(body, f, below(f, GRAPH_BODY_NODES + 1));
  if (body->g->n_values == 0) (void)vt_build_number(b, VT_DTYPE_F32, 1);
  uint32_t n = 1 + below(f, GRAPH_BODY_RESULTS);
  if (n < n_want) n = n_want;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = back(f, body);
    if (i < n_want) out[i] = of_type(body, out[i], &want[i]);
  }
  b->close(b, out, n);
  if (gb->status != VT_OK) die("a body does not close", gb->d);
}

/* As many carried values as the loop has, or as many results as the other body gives. */
static uint32_t wanted(const vt_graph_builder *gb, const node *x, vt_type *want) {
  uint32_t n = 0;
  if (x->op->number == VT_OP_loop) {
    const vt_attr_loop *a = (const void *)x->attrs;
    for (; n < a->carried; n++) want[n] = gb->g->values[x->in[n]].type;
  } else if (gb->n_body == 1) {
    const vt_graph *other = gb->body[0];
    for (; n < other->n_results; n++) want[n] = other->values[other->results[n].value].type;
  }
  return n;
}

/* Of a loop, so few that it ends soon; of a cond, a predicate. */
static int fits_region(vt_graph_builder *gb, const decoder *f, node *x) {
  static const vt_type predicate = {.dtype = VT_DTYPE_BOOL};
  int64_t count = 0;
  if (x->op->number == VT_OP_cond) x->in[0] = of_type(gb, x->in[0], &predicate);
  if (x->op->number != VT_OP_loop) return 1;
  const vt_attr_loop *a = (const void *)x->attrs;
  return vt_dim_bind(gb->b.dims, f->value, a->count, &count, NULL) == VT_OK && count <= GRAPH_TRIPS;
}

static void drop_bodies(vt_graph_builder *gb) {
  for (uint32_t i = 0; i < gb->n_body; i++) vt_graph_free(gb->body[i]);
  gb->n_body = 0;
}

static void finish_region(vt_graph_builder *gb, const decoder *f, const node *x, vt_rule *r) {
  static vt_type in[VT_MAX_BODIES][VT_MAX_REGION_ARGS], out[VT_MAX_BODIES][VT_MAX_RESULTS];
  vt_body_type body[VT_MAX_BODIES];
  for (uint32_t i = 0; i < gb->n_body; i++) vt_body_type_of(gb->body[i], in[i], out[i], &body[i]);
  r->n_body = gb->n_body;
  r->body = body;
  if (!acceptable(f, x->op, r)) {
    drop_bodies(gb);
    return;
  }
  if (gb->b.node(&gb->b, x->op->number, x->in, x->n, x->attrs) == VT_NO_VALUE)
    die("a region is refused that the rules accept", gb->d);
}

static void add_region(vt_graph_builder *gb, decoder *f, node *x) {
  vt_type types[GRAPH_OPERANDS], takes[VT_MAX_REGION_ARGS];
  vt_type want[GRAPH_BODY_RESULTS + GRAPH_OPERANDS];
  vt_diag d = {0};
  if (gb->depth >= GRAPH_DEPTH || (x->n > 0 && !fits_region(gb, f, x))) return;
  operand_types(gb, x, types);
  vt_rule r = {.dims = gb->b.dims, .in = types, .n_in = x->n, .attrs = x->attrs};
  for (uint32_t i = 0; i < vt_op_body_count(x->op); i++) {
    uint32_t n = 0;
    if (vt_op_body_argument_types(x->op, &r, i, takes, &n, &d) != VT_OK) {
      drop_bodies(gb);
      return;
    }
    const uint32_t n_want = wanted(gb, x, want);
    add_body(gb, f, takes, n, want, n_want);
  }
  finish_region(gb, f, x, &r);
}

static void add_nodes(vt_graph_builder *gb, decoder *f, uint32_t n) {
  for (uint32_t i = 0; i < n && f->n != 0; i++) {
    node x = {.n = 0};
    if (!take_node(gb, f, &x)) continue;
    if (vt_op_body_count(x.op) != 0)
      add_region(gb, f, &x);
    else
      add_plain(gb, f, &x);
  }
}

/* ---- the graph ---- */

static void add_symbols(vt_graph_builder *gb, decoder *f, graph_decoded *out) {
  const uint32_t first = take(f);
  out->twice = (first & GRAPH_TWICE) != 0;
  out->n_bind = (first & 15) % (GRAPH_SYMBOLS + 1);
  for (uint32_t i = 0; i < out->n_bind; i++) {
    int64_t handle;
    f->value[i] = below(f, 16);
    out->bind[i] = (vt_binding){graph_symbol[i], f->value[i]};
    if (vt_dim_declare(gb->b.dims, graph_symbol[i], &handle, gb->d) != VT_OK)
      die("a symbol", gb->d);
  }
}

/* The last values that nodes made are the outputs. */
static uint32_t add_results(vt_graph_builder *gb, uint32_t ports) {
  uint32_t n = 0;
  for (uint32_t v = gb->g->n_values; v-- > ports && n < GRAPH_RESULTS; n++) {
    char name[16];
    (void)snprintf(name, sizeof name, "o%u", v);
    vt_graph_add_result(gb, name, v);
  }
  return n;
}

graph_decoded graph_decode(const uint8_t *data, size_t size) {
  decoder f = {.p = data, .n = size};
  graph_decoded out = {.g = NULL};
  vt_graph_builder gb;
  vt_diag d = {.code = VT_OK};
  if (vt_graph_begin(&gb, "fuzz", vt_alloc_default(), &d) != VT_OK) die("begin", &d);
  add_symbols(&gb, &f, &out);
  add_ports(&gb, &f);
  const uint32_t ports = gb.g->n_values;
  add_nodes(&gb, &f, GRAPH_NODES);
  if (add_results(&gb, ports) == 0) {
    vt_graph_drop(&gb);
    return out;
  }
  if (vt_graph_freeze(&gb, &out.g) != VT_OK) die("does not verify", &d);
  return out;
}
