/* SPDX-License-Identifier: Apache-2.0
 * fuzz_graph.c - bytes become a small graph of any ops with any attributes. What the op table
 * accepts must build, verify, print, parse, plan and run, and both forms of the reference, with
 * compositions whole and taken apart, must give the same bits. Everything is done twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "volta/volta.h"
#include "vt_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  PORTS = 4,
  NODES = 12,
  OPERANDS = 5,
  ELEMENTS_MAX = 2048,
  DTYPES = 9,
  WORDS = 23,
  RESULTS = 6
};

/* Bytes to decide by; zeros once they are used up. */
typedef struct feed {
  const uint8_t *p;
  size_t n;
} feed;

static uint32_t take(feed *f) {
  if (f->n == 0) return 0;
  f->n--;
  return *f->p++;
}

static uint32_t below(feed *f, uint32_t n) { return take(f) % n; }

static int64_t small(feed *f) { return (int64_t)(int8_t)(uint8_t)take(f); }

/* Mostly small, and now and then as large as can be. */
static int64_t whole(feed *f) {
  const int64_t v = small(f);
  if (v == 127) return INT64_MAX;
  if (v == -128) return INT64_MIN / 2;
  if (v == 126) return INT64_C(1) << 40;
  return v > 16 || v < -16 ? v % 4 : v;
}

static double real(feed *f) {
  static const double values[] = {0, 1, -1, 0.5, 1e-5, 2, 1e300, -1e-300};
  return values[below(f, sizeof values / sizeof *values)];
}

static void fill_list(feed *f, vt_attr_list *l) {
  *l = (vt_attr_list){.n = below(f, 5)};
  for (int64_t i = 0; i < l->n; i++) l->v[i] = whole(f);
}

/* Equations, some of them well-formed. */
static void fill_text(feed *f, vt_attr_text *t) {
  static const char parts[] = "ab,ij->.kz Zc";
  *t = (vt_attr_text){{0}};
  const uint32_t n = below(f, 24);
  for (uint32_t i = 0; i < n; i++) t->v[i] = parts[below(f, sizeof parts - 1)];
}

static void fill_field(feed *f, void *attrs, const vt_attr_field *a) {
  if (!a->required && (take(f) & 1) != 0) return; /* as it is by default */
  switch (a->kind) {
    case VT_ATTR_FLAG:
      *vt_attr_int(attrs, a) = take(f) & 1;
      break;
    case VT_ATTR_REAL:
      *vt_attr_real(attrs, a) = real(f);
      break;
    case VT_ATTR_DTYPE:
      *vt_attr_int(attrs, a) = 1 + below(f, DTYPES);
      break;
    case VT_ATTR_WORD:
      *vt_attr_int(attrs, a) = below(f, WORDS);
      break;
    case VT_ATTR_ORDER:
      *vt_attr_int(attrs, a) = VT_ORDER_FMA256;
      break;
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
    case VT_ATTR_DIMS:
      fill_list(f, vt_attr_ints(attrs, a));
      break;
    case VT_ATTR_TEXT:
      fill_text(f, vt_attr_string(attrs, a));
      break;
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
    case VT_ATTR_DIM:
    case VT_ATTR_BITS:
      *vt_attr_int(attrs, a) = whole(f);
      break;
  }
}

/* ---- the graph ---- */

static vt_type port_type(feed *f) {
  vt_type t = {.dtype = (take(f) & 1) != 0 ? VT_DTYPE_F32 : 1 + below(f, DTYPES)};
  t.rank = below(f, 5);
  for (uint32_t i = 0; i < t.rank; i++) t.dim[i] = below(f, 5);
  return t;
}

static uint32_t add_ports(vt_graph_builder *gb, feed *f) {
  const uint32_t n = 1 + below(f, PORTS);
  for (uint32_t i = 0; i < n; i++) {
    char name[16];
    const vt_type t = port_type(f);
    (void)snprintf(name, sizeof name, "x%u", i);
    const int whole_numbers = t.dtype >= VT_DTYPE_I8 && t.dtype <= VT_DTYPE_I64;
    const vt_port p = {.name = name,
                       .kind = VT_PORT_INPUT,
                       .has_range = (uint32_t)whole_numbers, /* to be drawn from */
                       .lo = t.dtype == VT_DTYPE_U8 ? 0 : -(int64_t)below(f, 2) * 3,
                       .hi = below(f, 6)};
    (void)vt_graph_add_port(gb, &p, &t);
  }
  return n;
}

/* 1 when the rules accept the node and its results are small enough to be run here. */
static int acceptable(const vt_op_info *op, const vt_rule *r) {
  static vt_type out[VT_MAX_RESULTS];
  vt_diag d = {.code = VT_OK};
  uint32_t n = 0;
  memset(out, 0, sizeof out);
  const vt_status s = vt_op_infer(op, r, out, &n, &d);
  if (s != VT_OK && (d.code != s || d.text[0] == '\0')) abort(); /* a refusal says why */
  if (s != VT_OK) return 0;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t count, bytes;
    if (vt_type_size(&out[i], &count, &bytes, NULL) != VT_OK || count > ELEMENTS_MAX) return 0;
  }
  return 1;
}

/* Adds a node if the rules allow it; what the rules allow, the builder must. */
static void add_node(vt_graph_builder *gb, feed *f) {
  const vt_op_info *op = vt_op_at(below(f, vt_op_total()));
  vt_type types[OPERANDS];
  uint32_t in[OPERANDS];
  uint64_t attrs[256] = {0};
  const uint32_t most = op->max_in < OPERANDS ? op->max_in : OPERANDS;
  if (vt_op_bodies(op) != 0 || op->min_in > OPERANDS || op->attrs->size > sizeof attrs) return;
  const uint32_t n = op->min_in + (most > op->min_in ? below(f, most - op->min_in + 1) : 0);
  for (uint32_t i = 0; i < n; i++) {
    in[i] = below(f, gb->g->n_values);
    types[i] = gb->g->values[in[i]].type;
  }
  memcpy(attrs, op->attrs->defaults, op->attrs->size);
  for (uint32_t i = 0; i < op->attrs->n_fields; i++) fill_field(f, attrs, &op->attrs->fields[i]);
  const vt_rule r = {.dims = gb->b.dims, .in = types, .n_in = n, .attrs = attrs};
  if (!acceptable(op, &r)) return;
  if (gb->b.node(&gb->b, op->number, in, n, attrs) == VT_NO_VALUE) abort();
}

/* The last values that nodes made are the outputs. */
static uint32_t add_results(vt_graph_builder *gb, uint32_t ports) {
  uint32_t n = 0;
  for (uint32_t v = gb->g->n_values; v-- > ports && n < RESULTS; n++) {
    char name[16];
    (void)snprintf(name, sizeof name, "o%u", v);
    vt_graph_add_result(gb, name, v);
  }
  return n;
}

/* NULL when the bytes give no node at all. */
static vt_graph *decode(feed f) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {.code = VT_OK};
  if (vt_graph_begin(&gb, "fuzz", vt_alloc_default(), &d) != VT_OK) abort();
  const uint32_t ports = add_ports(&gb, &f);
  for (int i = 0; i < NODES && f.n != 0; i++) add_node(&gb, &f);
  if (add_results(&gb, ports) == 0) {
    vt_graph_drop(&gb);
    return NULL;
  }
  if (vt_graph_freeze(&gb, &g) != VT_OK) {
    fprintf(stderr, "does not verify: %s\n", d.text);
    abort();
  }
  return g;
}

/* ---- running it ---- */

/* Every output and the status; what is refused is refused by all. */
static vt_status run(const vt_model *m, const char *backend, uint8_t digest[32], vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_program *p = NULL;
  VT_TRY(vt_program_new(m, &o, &p, d));
  vt_status s = vt_program_random_inputs(p, 1, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) s = vt_program_digest(p, digest, d);
  vt_program_free(p);
  return s;
}

static vt_hash256 compare_backends(const vt_text *text) {
  uint8_t digest[2][32] = {{0}};
  vt_status status[2];
  vt_diag d[2] = {{.code = VT_OK}, {.code = VT_OK}};
  vt_model *m = NULL;
  if (vt_model_parse(text->s, text->n, NULL, &m, &d[0]) != VT_OK) {
    fprintf(stderr, "does not parse: %s\n%s", d[0].text, text->s);
    abort();
  }
  status[0] = run(m, "reference:0", digest[0], &d[0]);
  status[1] = run(m, "reference:1", digest[1], &d[1]);
  vt_model_free(m);
  if (status[0] != status[1] || memcmp(digest[0], digest[1], 32) != 0) {
    fprintf(stderr, "the references differ: %s | %s\n%s", d[0].text, d[1].text, text->s);
    abort();
  }
  if (status[0] == VT_INTERNAL || (status[0] != VT_OK && d[0].text[0] == '\0')) {
    fprintf(stderr, "%s\n%s", d[0].text, text->s);
    abort();
  }
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add(&h, text->s, text->n);
  vt_hash_add_u32(&h, (uint32_t)status[0]);
  vt_hash_add(&h, digest[0], 32);
  return vt_hash_done(&h);
}

static vt_hash256 process(const uint8_t *data, size_t size) {
  vt_hash256 h = {{0}};
  vt_text text;
  vt_graph *g = decode((feed){data, size});
  if (g == NULL) return h;
  vt_text_init(&text, vt_alloc_default());
  vt_graph_print(g, 0, &text);
  vt_graph_free(g);
  if (vt_text_status(&text) != VT_OK) abort();
  h = compare_backends(&text);
  vt_text_done(&text);
  return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const vt_hash256 a = process(data, size), b = process(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
