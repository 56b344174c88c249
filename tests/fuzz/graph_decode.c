/* SPDX-License-Identifier: Apache-2.0
 * graph_decode.c - decodes bytes into a small graph of any ops, attributes and bodies, in the
 * encoding of graph_bytes.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"

const char *const graph_symbol[GRAPH_SYMBOLS] = {"S", "T"};
const double graph_real[GRAPH_REALS] = {0,    1,    -1,   0.5,   1e-5, 2,    1e300, -1e-300,
                                        -0.5, 0.25, 1e10, 1e-40, 3,    -0.0, 0.01};

#define NUMBER_MAX (INT64_C(1) << 60)

typedef struct decoder {
  const uint8_t *p;              /* the next byte to decode */
  size_t n;                      /* bytes left; after the last one, zeros are read */
  int64_t value[VT_MAX_SYMBOLS]; /* value of each symbol */
} decoder;

static _Noreturn void die(const char *what, const vt_diag *d) {
  fprintf(stderr, "%s: %s\n", what, d->text);
  abort();
}

static uint32_t read_byte(decoder *f) {
  if (f->n == 0) return 0;
  f->n--;
  return *f->p++;
}

/* Reads a number below n. A byte below n gives the same number if n grows later. */
static uint32_t read_below(decoder *f, uint32_t n) { return read_byte(f) % n; }

static uint64_t read_u64(decoder *f) {
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v |= (uint64_t)read_byte(f) << (8 * i);
  return v;
}

/* ---- numbers ---- */

/* Returns the dimension a * b or a + b. */
static int64_t combine_dims(vt_dims *dims, int product, int64_t a, int64_t b) {
  int64_t out = 0;
  vt_diag d = {0};
  const vt_status s = product ? vt_dim_mul(dims, a, b, &out, &d) : vt_dim_add(dims, a, b, &out, &d);
  if (s != VT_OK) die("a dimension", &d);
  return out;
}

int64_t graph_symbolic_dim(vt_dims *dims, uint32_t which) {
  int64_t s = 0, t = 0;
  if (!vt_dim_find(dims, graph_symbol[0], &s)) return which;
  if (!vt_dim_find(dims, graph_symbol[1], &t)) t = s;
  const int64_t x = (which & 1) != 0 ? t : s, y = (which & 1) != 0 ? s : t;
  switch (which >> 1) {
    case 0:
      return x;
    case 1:
      return combine_dims(dims, 0, x, (which & 1) != 0 ? -1 : 1);
    case 2:
      return combine_dims(dims, 1, x, 2);
    case 3:
      return combine_dims(dims, which & 1, s, t);
    case 4:
      return combine_dims(dims, 1, x, x);
    case 5:
      return combine_dims(dims, 0, x, (which & 1) != 0 ? 1 : -1);
    case 6:
      return combine_dims(dims, 0, combine_dims(dims, 1, x, y), x);
    default:
      return combine_dims(dims, 0, x, combine_dims(dims, 1, y, -1));
  }
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

/* Reads a number; `dims` is NULL if symbols are not allowed. Numbers are limited to 2^60, because
 * the text form has no larger ones, and because larger ones could be handles of symbols. */
static int64_t read_number(decoder *f, vt_dims *dims) {
  static const int64_t extreme[] = {NUMBER_MAX, -NUMBER_MAX,    VT_DIM_MAX, VT_DIM_MAX + 1,
                                    UINT32_MAX, INT32_MAX,      INT32_MIN,  1 << 16,
                                    1 << 24,    NUMBER_MAX - 1, -(1 << 16), 1000};
  const uint32_t b = read_byte(f), low = b & 15;
  switch (b >> 4) {
    case GRAPH_NEGATIVE:
      return -(int64_t)low;
    case GRAPH_WIDE:
      return low * 256 + read_byte(f);
    case GRAPH_SYMBOLIC:
      return dims == NULL ? low : graph_symbolic_dim(dims, low);
    case GRAPH_EXTREME:
      return extreme[low % (sizeof extreme / sizeof *extreme)];
    case GRAPH_RAW:
      return clamp((int64_t)read_u64(f), -NUMBER_MAX, NUMBER_MAX);
    default:
      return low;
  }
}

/* Reads the bits of a literal, which may have any value. */
static int64_t read_literal_bits(decoder *f) {
  if (f->n != 0 && *f->p >> 4 != GRAPH_RAW) return read_number(f, NULL);
  (void)read_byte(f);
  return (int64_t)read_u64(f);
}

static double read_real(decoder *f) {
  const uint32_t b = read_byte(f);
  if (b < 240) return graph_real[b % GRAPH_REALS];
  const uint64_t bits = read_u64(f);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x - x == 0 ? x : 0; /* an attribute in the text form cannot be infinite or NaN */
}

/* Returns the element type with this number, or f32 if there is none. */
static uint32_t dtype_of_byte(uint32_t b) {
  return vt_dtype_name(b & 31) != NULL ? b & 31 : VT_DTYPE_F32;
}

/* ---- attributes ---- */

static void read_list(decoder *f, vt_attr_list *l, vt_dims *dims) {
  *l = (vt_attr_list){.n = read_below(f, VT_MAX_RANK + 1)};
  for (int64_t i = 0; i < l->n; i++) l->v[i] = read_number(f, dims);
}

/* Returns the attribute word with this number, or `none` if there is no such word. */
static int64_t attr_word_of_byte(uint32_t b) {
  return vt_word_text(b & 63) != NULL ? b & 63 : VT_WORD_none;
}

/* Reads a length and its characters. Characters that a quoted text cannot have become letters. */
static void read_text(decoder *f, vt_attr_text *t) {
  *t = (vt_attr_text){{0}};
  const uint32_t n = read_below(f, sizeof t->v);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t c = read_byte(f);
    t->v[i] = c < ' ' || c > '~' || c == '"' ? (char)('a' + c % 26) : (char)c;
  }
}

static void read_attr_field(decoder *f, void *attrs, const vt_attr_field *a, vt_dims *dims) {
  if (!a->required && (read_byte(f) & 1) != 0) return; /* the attribute keeps its default */
  switch (a->kind) {
    case VT_ATTR_FLAG:
      *vt_attr_int(attrs, a) = read_byte(f) & 1;
      break;
    case VT_ATTR_REAL:
      *vt_attr_real(attrs, a) = read_real(f);
      break;
    case VT_ATTR_DTYPE:
      *vt_attr_int(attrs, a) = dtype_of_byte(read_byte(f));
      break;
    case VT_ATTR_WORD:
      *vt_attr_int(attrs, a) = attr_word_of_byte(read_byte(f));
      break;
    case VT_ATTR_ORDER:
      *vt_attr_int(attrs, a) = VT_ORDER_FMA256;
      break;
    case VT_ATTR_DIMS:
      read_list(f, vt_attr_ints(attrs, a), dims);
      break;
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
      read_list(f, vt_attr_ints(attrs, a), NULL);
      break;
    case VT_ATTR_TEXT:
      read_text(f, vt_attr_string(attrs, a));
      break;
    case VT_ATTR_BITS:
      *vt_attr_int(attrs, a) = read_literal_bits(f);
      break;
    case VT_ATTR_DIM:
      *vt_attr_int(attrs, a) = read_number(f, dims);
      break;
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
      *vt_attr_int(attrs, a) = read_number(f, NULL);
      break;
  }
}

static void read_attrs(decoder *f, void *attrs, const vt_attr_group *group, vt_dims *dims) {
  memcpy(attrs, group->defaults, group->size);
  for (uint32_t i = 0; i < group->n_fields; i++) read_attr_field(f, attrs, &group->fields[i], dims);
}

/* ---- ports ---- */

/* Returns 1 if a value of this type has at most GRAPH_ELEMENTS elements for the values of the
 * symbols. */
static int is_small_type(const decoder *f, const vt_dims *dims, const vt_type *type) {
  vt_type t = *type;
  uint64_t count, bytes;
  for (uint32_t i = 0; i < t.rank; i++)
    if (vt_dim_bind(dims, f->value, type->dim[i], &t.dim[i], NULL) != VT_OK || t.dim[i] < 0)
      return 0;
  return vt_type_size(&t, &count, &bytes, NULL) == VT_OK && count <= GRAPH_ELEMENTS;
}

static vt_type read_port_type(decoder *f, vt_dims *dims, uint32_t type_byte) {
  vt_type t = {.dtype = dtype_of_byte(type_byte), .rank = read_below(f, VT_MAX_RANK + 1)};
  for (uint32_t i = 0; i < t.rank; i++) {
    t.dim[i] = read_number(f, dims);
    if (!vt_dim_is_symbolic(t.dim[i]) && (t.dim[i] < 0 || t.dim[i] > GRAPH_ELEMENTS)) t.dim[i] = 1;
  }
  if (!is_small_type(f, dims, &t)) t.rank = 0;
  for (uint32_t i = t.rank; i < VT_MAX_RANK; i++) t.dim[i] = 0;
  return t;
}

/* Reads the range lo..hi of an input of integers, from which the random values of the input are
 * drawn. */
static void read_range(decoder *f, vt_dims *dims, uint32_t type, vt_port *p) {
  const uint64_t bits = 8 * vt_dtype_bytes(type);
  if (type < VT_DTYPE_I8 || type > VT_DTYPE_I64) return;
  const int64_t hi =
      type == VT_DTYPE_U8 ? UINT8_MAX : clamp(INT64_MAX >> (64 - bits), 0, NUMBER_MAX);
  const int64_t lo = type == VT_DTYPE_U8 ? 0 : clamp(-hi - 1, -NUMBER_MAX, 0);
  p->has_range = 1;
  p->lo = clamp(read_number(f, NULL), lo, hi);
  p->hi = read_number(f, dims);
  if (!vt_dim_is_symbolic(p->hi)) p->hi = clamp(p->hi, p->lo, hi);
}

/* Reads the initialiser of a param, and whether it is stored as f16. Each param gets an
 * initialiser, because the params of a run are computed. Random initialisers exist only for f32,
 * and each gets a stream of its own. */
static void read_init(decoder *f, uint32_t type, uint32_t index, vt_port *p, void *attrs) {
  const uint32_t n = read_below(f, 32);
  const vt_init_info *init = vt_init_get(vt_init_get(n & 15) == NULL ? 1 : n & 15);
  const vt_attr_field *stream = vt_attr_find(init->attrs, "stream");
  if (stream != NULL && type != VT_DTYPE_F32) init = vt_init_get(1);
  stream = vt_attr_find(init->attrs, "stream");
  read_attrs(f, attrs, init->attrs, NULL);
  if (stream != NULL)
    *vt_attr_int(attrs, stream) = (*vt_attr_int(attrs, stream) & 0xfffffff) * 16 + index;
  p->kind = VT_PORT_PARAM;
  p->stored = (n & 16) != 0 && type == VT_DTYPE_F32 ? VT_DTYPE_F16 : 0;
  p->init = init->number;
  p->init_attrs = attrs;
}

static void add_ports(vt_graph_builder *gb, decoder *f) {
  const uint32_t n = read_below(f, GRAPH_PORTS + 1);
  for (uint32_t i = 0; i < n; i++) {
    char name[16];
    uint64_t attrs[64] = {0};
    const uint32_t first = read_byte(f);
    const vt_type t = read_port_type(f, gb->b.dims, first);
    (void)snprintf(name, sizeof name, "x%u", i);
    vt_port p = {.name = name, .kind = VT_PORT_INPUT};
    if ((first & 128) != 0)
      read_init(f, t.dtype, i, &p, attrs);
    else
      read_range(f, gb->b.dims, t.dtype, &p);
    if (vt_graph_add_port(gb, &p, &t) == VT_NO_VALUE) die("a port", gb->d);
  }
}

/* ---- nodes ---- */

/* Reads an operand: a value counted back from the newest one. */
static uint32_t read_operand(decoder *f, const vt_graph_builder *gb) {
  return gb->g->n_values - 1 - read_below(f, gb->g->n_values);
}

/* Returns the value if it has this type, else the nearest before it that has, else new zeros. */
static uint32_t find_or_add_value_of_type(vt_graph_builder *gb, uint32_t value,
                                          const vt_type *type) {
  const vt_type t = *type;
  for (uint32_t v = value + 1; v-- > 0;)
    if (vt_type_equal(&gb->g->values[v].type, &t)) return v;
  const uint32_t zero = vt_build_bits(&gb->b, t.dtype, 0);
  return vt_build_broadcast(&gb->b, zero, t.rank, t.dim);
}

/* Returns 1 if the op's rules accept the node and its results are small enough to run. */
static int is_accepted_and_small(const decoder *f, const vt_op_info *op, const vt_rule *r) {
  vt_type out[VT_MAX_RESULTS];
  vt_diag d = {.code = VT_OK};
  uint32_t n = 0;
  memset(out, 0, sizeof out);
  const vt_status s = vt_op_infer(op, r, out, &n, &d);
  if (s == VT_INTERNAL) die(op->name, &d);
  if (s != VT_OK && (d.code != s || d.text[0] == '\0')) die("a refusal without a message", &d);
  if (s != VT_OK) return 0;
  for (uint32_t i = 0; i < n; i++)
    if (!is_small_type(f, r->dims, &out[i])) return 0;
  return 1;
}

/* A node that is not in the graph yet. */
typedef struct node {
  const vt_op_info *op;
  uint32_t n, in[GRAPH_OPERANDS];
  uint64_t attrs[128];
} node;

static void get_operand_types(const vt_graph_builder *gb, const node *x, vt_type *types) {
  for (uint32_t i = 0; i < x->n; i++) types[i] = gb->g->values[x->in[i]].type;
}

/* Reads the op, the operands and the attributes of a node; returns 0 if it cannot exist. */
static int read_node(vt_graph_builder *gb, decoder *f, node *x) {
  const uint32_t page = read_below(f, 2), low = read_byte(f);
  x->op = vt_op_get(1000 * page + low);
  if (x->op == NULL || x->op->min_in > GRAPH_OPERANDS || x->op->attrs->size > sizeof x->attrs)
    return 0;
  const uint32_t least = x->op->min_in;
  const uint32_t most = x->op->max_in < GRAPH_OPERANDS ? x->op->max_in : GRAPH_OPERANDS;
  x->n = least + (most > least ? read_below(f, most - least + 1) : 0);
  if (x->n > 0 && gb->g->n_values == 0) return 0;
  for (uint32_t i = 0; i < x->n; i++) x->in[i] = read_operand(f, gb);
  read_attrs(f, x->attrs, x->op->attrs, gb->b.dims);
  return 1;
}

/* Adds a node without bodies if the op's rules accept it; then the builder must accept it too. If
 * the rules refuse the node, it is tried again with the first operand as every operand, which often
 * fits. */
static void add_node_without_bodies(vt_graph_builder *gb, decoder *f, node *x) {
  vt_type types[GRAPH_OPERANDS];
  const vt_rule r = {.dims = gb->b.dims, .in = types, .n_in = x->n, .attrs = x->attrs};
  get_operand_types(gb, x, types);
  if (!is_accepted_and_small(f, x->op, &r)) {
    for (uint32_t i = 1; i < x->n; i++) x->in[i] = x->in[0];
    get_operand_types(gb, x, types);
    if (x->n < 2 || !is_accepted_and_small(f, x->op, &r)) return;
  }
  if (gb->b.node(&gb->b, x->op->number, x->in, x->n, x->attrs) == VT_NO_VALUE)
    die("a node is refused that the rules accept", gb->d);
}

static void add_nodes(vt_graph_builder *gb, decoder *f, uint32_t n);

/* Adds a body with n_takes arguments, whose first n_want results have the types `want`. */
static void add_body(vt_graph_builder *gb, decoder *f, const vt_type *takes, uint32_t n_takes,
                     const vt_type *want, uint32_t n_want) {
  vt_builder *b = gb->b.open(&gb->b, takes, n_takes);
  uint32_t out[GRAPH_BODY_RESULTS + GRAPH_OPERANDS];
  if (b == NULL) die("a body does not open", gb->d);
  vt_graph_builder *body = b->self;
  add_nodes(body, f, read_below(f, GRAPH_BODY_NODES + 1));
  if (body->g->n_values == 0) (void)vt_build_number(b, VT_DTYPE_F32, 1);
  uint32_t n = 1 + read_below(f, GRAPH_BODY_RESULTS);
  if (n < n_want) n = n_want;
  for (uint32_t i = 0; i < n; i++) {
    out[i] = read_operand(f, body);
    if (i < n_want) out[i] = find_or_add_value_of_type(body, out[i], &want[i]);
  }
  b->close(b, out, n);
  if (gb->status != VT_OK) die("a body does not close", gb->d);
}

/* Sets `want` to the types that a body's first results must have: those of the values that a loop
 * carries, or those of the other branch's results. Returns their number. */
static uint32_t get_wanted_result_types(const vt_graph_builder *gb, const node *x, vt_type *want) {
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

/* Makes the first operand of a cond a predicate. Returns 0 for a loop with more than GRAPH_TRIPS
 * iterations. */
static int prepare_region_operands(vt_graph_builder *gb, const decoder *f, node *x) {
  static const vt_type predicate = {.dtype = VT_DTYPE_BOOL};
  int64_t count = 0;
  if (x->op->number == VT_OP_cond) x->in[0] = find_or_add_value_of_type(gb, x->in[0], &predicate);
  if (x->op->number != VT_OP_loop) return 1;
  const vt_attr_loop *a = (const void *)x->attrs;
  return vt_dim_bind(gb->b.dims, f->value, a->count, &count, NULL) == VT_OK && count <= GRAPH_TRIPS;
}

static void free_bodies(vt_graph_builder *gb) {
  for (uint32_t i = 0; i < gb->n_body; i++) vt_graph_free(gb->body[i]);
  gb->n_body = 0;
}

/* Adds the region, a cond or loop, if the op's rules accept its bodies; otherwise frees the bodies.
 */
static void add_region_node(vt_graph_builder *gb, const decoder *f, const node *x, vt_rule *r) {
  static vt_type in[VT_MAX_BODIES][VT_MAX_REGION_ARGS], out[VT_MAX_BODIES][VT_MAX_RESULTS];
  vt_body_type body[VT_MAX_BODIES];
  for (uint32_t i = 0; i < gb->n_body; i++) vt_body_type_of(gb->body[i], in[i], out[i], &body[i]);
  r->n_body = gb->n_body;
  r->body = body;
  if (!is_accepted_and_small(f, x->op, r)) {
    free_bodies(gb);
    return;
  }
  if (gb->b.node(&gb->b, x->op->number, x->in, x->n, x->attrs) == VT_NO_VALUE)
    die("a region is refused that the rules accept", gb->d);
}

static void add_region(vt_graph_builder *gb, decoder *f, node *x) {
  vt_type types[GRAPH_OPERANDS], takes[VT_MAX_REGION_ARGS];
  vt_type want[GRAPH_BODY_RESULTS + GRAPH_OPERANDS];
  vt_diag d = {0};
  if (gb->depth >= GRAPH_DEPTH || (x->n > 0 && !prepare_region_operands(gb, f, x))) return;
  get_operand_types(gb, x, types);
  vt_rule r = {.dims = gb->b.dims, .in = types, .n_in = x->n, .attrs = x->attrs};
  for (uint32_t i = 0; i < vt_op_body_count(x->op); i++) {
    uint32_t n = 0;
    if (vt_op_body_argument_types(x->op, &r, i, takes, &n, &d) != VT_OK) {
      free_bodies(gb);
      return;
    }
    const uint32_t n_want = get_wanted_result_types(gb, x, want);
    add_body(gb, f, takes, n, want, n_want);
  }
  add_region_node(gb, f, x, &r);
}

static void add_nodes(vt_graph_builder *gb, decoder *f, uint32_t n) {
  for (uint32_t i = 0; i < n && f->n != 0; i++) {
    node x = {.n = 0};
    if (!read_node(gb, f, &x)) continue;
    if (vt_op_body_count(x.op) != 0)
      add_region(gb, f, &x);
    else
      add_node_without_bodies(gb, f, &x);
  }
}

/* ---- the graph ---- */

static void add_symbols(vt_graph_builder *gb, decoder *f, graph_decoded *out) {
  const uint32_t first = read_byte(f);
  out->twice = (first & GRAPH_TWICE) != 0;
  out->n_bind = (first & 15) % (GRAPH_SYMBOLS + 1);
  for (uint32_t i = 0; i < out->n_bind; i++) {
    int64_t handle;
    f->value[i] = read_below(f, 16);
    out->bind[i] = (vt_binding){graph_symbol[i], f->value[i]};
    if (vt_dim_declare(gb->b.dims, graph_symbol[i], &handle, gb->d) != VT_OK)
      die("a symbol", gb->d);
  }
}

/* The last GRAPH_RESULTS values of nodes are the outputs. */
static uint32_t add_outputs(vt_graph_builder *gb, uint32_t ports) {
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
  if (add_outputs(&gb, ports) == 0) {
    vt_graph_drop(&gb);
    return out;
  }
  if (vt_graph_freeze(&gb, &out.g) != VT_OK) die("does not verify", &d);
  return out;
}
