/* SPDX-License-Identifier: Apache-2.0
 * seed_graph.c - converts models into inputs of fuzz_graph: seed_graph FOLDER FILE.vt...
 * A model beyond the limits of graph_bytes.h is cut off at a node or left out. A model with more
 * than two symbols, or with dimensions that graph_symbolic_dim does not know, is bound first, each
 * symbol to 2. An input is named after its content. It is decoded again, to count the models that
 * lose nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"
#include "vt_file.h"
#include "vt_parse.h"
#include "vt_pass.h"

enum { BYTES_MAX = 4096, BOUND_TO = 2 };

typedef struct encoder {
  uint8_t bytes[BYTES_MAX];
  size_t n;
  int fits;     /* 0 if the model is beyond a limit */
  vt_dims dims; /* the symbols graph_symbol, one for each symbol of the model, in its order */
} encoder;

/* Appends a byte. A value above 255 or a full buffer clears `fits`. */
static void write_byte(encoder *e, uint64_t b) {
  if (e->n == BYTES_MAX || b > 255) e->fits = 0;
  if (e->fits) e->bytes[e->n++] = (uint8_t)b;
}

static void write_u64(encoder *e, uint64_t v) {
  for (int i = 0; i < 8; i++) write_byte(e, v >> (8 * i) & 255);
}

/* ---- numbers ---- */

static void write_symbolic_dim(encoder *e, const vt_dims *from, int64_t dim) {
  vt_text want, have;
  vt_text_init(&want, vt_alloc_default());
  vt_dims renamed = *from;
  for (uint32_t i = 0; i < from->n_symbols && i < GRAPH_SYMBOLS; i++)
    renamed.symbol[i] = graph_symbol[i];
  vt_dim_print(&renamed, dim, &want);
  int found = 0;
  for (uint32_t which = 0; which < 16 && !found; which++) {
    vt_text_init(&have, vt_alloc_default());
    vt_dim_print(&e->dims, graph_symbolic_dim(&e->dims, which), &have);
    found = strcmp(have.s, want.s) == 0;
    vt_text_done(&have);
    if (found) write_byte(e, GRAPH_SYMBOLIC << 4 | which);
  }
  vt_text_done(&want);
  if (!found) e->fits = 0;
}

static void write_number(encoder *e, const vt_dims *dims, int64_t v) {
  if (vt_dim_is_symbolic(v) && dims != NULL) {
    write_symbolic_dim(e, dims, v);
  } else if (v >= 0 && v < 16) {
    write_byte(e, (uint64_t)v);
  } else if (v < 0 && v > -16) {
    write_byte(e, GRAPH_NEGATIVE << 4 | (uint64_t)-v);
  } else if (v >= 0 && v < 4096) {
    write_byte(e, GRAPH_WIDE << 4 | (uint64_t)v >> 8);
    write_byte(e, (uint64_t)v & 255);
  } else {
    write_byte(e, GRAPH_RAW << 4);
    write_u64(e, (uint64_t)v);
  }
}

static void write_real(encoder *e, double x) {
  uint64_t bits;
  for (uint32_t i = 0; i < GRAPH_REALS; i++)
    if (memcmp(&x, &graph_real[i], sizeof x) == 0) {
      write_byte(e, i);
      return;
    }
  write_byte(e, 255);
  memcpy(&bits, &x, sizeof bits);
  write_u64(e, bits);
}

/* ---- attributes ---- */

static void write_list(encoder *e, const vt_dims *dims, const vt_attr_list *l) {
  write_byte(e, (uint64_t)l->n);
  for (int64_t i = 0; i < l->n; i++) write_number(e, dims, l->v[i]);
}

static void write_text(encoder *e, const char *text) {
  write_byte(e, strlen(text));
  for (; *text != 0; text++) write_byte(e, (uint8_t)*text);
}

static void write_attr_field(encoder *e, const vt_dims *dims, const vt_attr_field *a,
                             const char *place) {
  int64_t whole;
  double real;
  vt_attr_list list;
  if (!a->required) write_byte(e, 0);
  memcpy(&whole, place, sizeof whole);
  memcpy(&real, place, sizeof real);
  switch (a->kind) {
    case VT_ATTR_REAL:
      write_real(e, real);
      break;
    case VT_ATTR_ORDER:
      break;
    case VT_ATTR_FLAG:
    case VT_ATTR_DTYPE:
    case VT_ATTR_WORD:
      write_byte(e, (uint64_t)whole);
      break;
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
    case VT_ATTR_DIMS:
      memcpy(&list, place, sizeof list);
      write_list(e, a->kind == VT_ATTR_DIMS ? dims : NULL, &list);
      break;
    case VT_ATTR_TEXT:
      write_text(e, place);
      break;
    case VT_ATTR_DIM:
      write_number(e, dims, whole);
      break;
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
    case VT_ATTR_BITS:
      write_number(e, NULL, whole);
      break;
  }
}

static void write_attrs(encoder *e, const vt_dims *dims, const vt_attr_group *g,
                        const void *attrs) {
  for (uint32_t i = 0; i < g->n_fields; i++)
    write_attr_field(e, dims, &g->fields[i], (const char *)attrs + g->fields[i].offset);
}

/* ---- the graph ---- */

static void write_port(encoder *e, const vt_graph *g, const vt_port *p) {
  const vt_type *t = &g->values[p->value].type;
  write_byte(e, t->dtype | (p->kind == VT_PORT_PARAM ? 128u : 0));
  write_byte(e, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) write_number(e, &g->dims, t->dim[i]);
  if (p->kind == VT_PORT_PARAM) {
    const vt_init_info *init = vt_init_get(p->init);
    write_byte(e, p->init | (p->stored != 0 ? 16u : 0));
    if (init != NULL) write_attrs(e, NULL, init->attrs, p->init_attrs);
  } else if (t->dtype >= VT_DTYPE_I8 && t->dtype <= VT_DTYPE_I64) {
    write_number(e, NULL, p->lo);
    write_number(e, &g->dims, p->hi);
  }
}

static void write_nodes(encoder *e, const vt_graph *g, uint32_t most);

static void write_body(encoder *e, const vt_graph *body) {
  if (body->n_nodes > GRAPH_BODY_NODES || body->n_results > GRAPH_BODY_RESULTS) e->fits = 0;
  write_byte(e, body->n_nodes);
  write_nodes(e, body, body->n_nodes);
  write_byte(e, body->n_results - 1);
  for (uint32_t i = 0; i < body->n_results; i++)
    write_byte(e, body->n_values - 1 - body->results[i].value);
}

static void write_node(encoder *e, const vt_graph *g, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  const uint32_t most = op->max_in < GRAPH_OPERANDS ? op->max_in : GRAPH_OPERANDS;
  if (n->n_in > GRAPH_OPERANDS) e->fits = 0;
  write_byte(e, n->op / 1000);
  write_byte(e, n->op % 1000);
  if (most > op->min_in) write_byte(e, n->n_in - op->min_in);
  for (uint32_t i = 0; i < n->n_in; i++)
    write_byte(e, n->first_out - 1 - g->operands[n->first_in + i]);
  write_attrs(e, &g->dims, op->attrs, n->attrs);
  for (uint32_t i = 0; i < n->n_body; i++) write_body(e, n->body[i]);
}

static void write_nodes(encoder *e, const vt_graph *g, uint32_t most) {
  for (uint32_t i = 0; i < g->n_nodes && i < most; i++) {
    const size_t before = e->n;
    write_node(e, g, &g->nodes[i]);
    if (e->fits || most != GRAPH_NODES || i == 0) continue;
    e->fits = 1; /* this node is beyond a limit, but the nodes before it are a useful input too */
    e->n = before;
    return;
  }
}

static int encode_graph(const vt_graph *g, encoder *e, vt_arena *arena) {
  vt_diag d = {0};
  int64_t handle;
  e->n = 0;
  e->fits = g->n_ports <= GRAPH_PORTS && g->dims.n_symbols <= GRAPH_SYMBOLS;
  vt_dims_init(&e->dims, arena);
  write_byte(e, g->dims.n_symbols);
  for (uint32_t i = 0; i < g->dims.n_symbols && e->fits; i++) {
    write_byte(e, BOUND_TO + i);
    if (vt_dim_declare(&e->dims, graph_symbol[i], &handle, &d) != VT_OK) abort();
  }
  write_byte(e, g->n_ports);
  for (uint32_t i = 0; i < g->n_ports && e->fits; i++) write_port(e, g, &g->ports[i]);
  if (e->fits) write_nodes(e, g, GRAPH_NODES);
  return e->fits;
}

/* Returns the graph with every symbol bound to BOUND_TO, or NULL if that fails. */
static vt_graph *bind_symbols(const vt_graph *g) {
  vt_binding bind[VT_MAX_SYMBOLS];
  vt_graph *made = NULL;
  for (uint32_t i = 0; i < g->dims.n_symbols; i++)
    bind[i] = (vt_binding){g->dims.symbol[i], BOUND_TO};
  const vt_pass_options o = {
      .bind = bind, .n_bind = g->dims.n_symbols, .alloc = vt_alloc_default()};
  return vt_pass_run(VT_PASS_bind, g, &o, &made, NULL) == VT_OK ? made : NULL;
}

/* ---- files ---- */

static int write_seed(const char *folder, const encoder *e) {
  char path[4096];
  const vt_hash256 h = vt_hash_bytes(e->bytes, e->n);
  int at = snprintf(path, sizeof path, "%.4000s/", folder);
  const uint8_t *b = (const uint8_t *)&h;
  for (int i = 0; i < 20; i++) at += snprintf(path + at, sizeof path - (size_t)at, "%02x", b[i]);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return 0;
  const int bad = fwrite(e->bytes, 1, e->n, f) != e->n;
  return fclose(f) == 0 && !bad;
}

static uint32_t count_decoded_nodes(const encoder *e) {
  const graph_decoded x = graph_decode(e->bytes, e->n);
  const uint32_t n = x.g == NULL ? 0 : x.g->n_nodes;
  vt_graph_free(x.g);
  return n;
}

/* Writes the input of a model; returns how many nodes were lost, or -1 if the model does not fit.
 */
static int64_t write_seed_of_model(const char *folder, const vt_graph *g) {
  static encoder e;
  vt_arena arena;
  vt_arena_init(&arena, vt_alloc_default());
  int ok = encode_graph(g, &e, &arena);
  vt_graph *b = ok ? NULL : bind_symbols(g);
  if (b != NULL) ok = encode_graph(b, &e, &arena);
  vt_graph_free(b);
  vt_arena_done(&arena);
  if (!ok) return -1;
  if (!write_seed(folder, &e)) exit(1);
  const uint32_t n = count_decoded_nodes(&e);
  return n < g->n_nodes ? (int64_t)g->n_nodes - n : 0;
}

int main(int argc, char **argv) {
  int whole = 0, cut = 0, out = 0;
  for (int i = 2; i < argc; i++) {
    vt_diag d = {0};
    vt_file f;
    vt_graph *g = NULL;
    if (vt_file_read(argv[i], 64 * 1024 * 1024, vt_alloc_default(), &f, &d) != VT_OK) {
      fprintf(stderr, "%s\n", d.text);
      return 1;
    }
    if (vt_parse((const char *)f.data, f.size, vt_alloc_default(), &g, &d) != VT_OK) {
      out++;
    } else {
      const int64_t lost = write_seed_of_model(argv[1], g);
      whole += lost == 0;
      cut += lost > 0;
      out += lost < 0;
      if (lost != 0) printf("%s: %lld\n", argv[i], (long long)lost);
    }
    vt_graph_free(g);
    vt_file_done(&f);
  }
  printf("%d models whole, %d in part, %d left out\n", whole, cut, out);
  return argc < 3;
}
