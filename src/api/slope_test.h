/* SPDX-License-Identifier: Apache-2.0
 * slope_test.h - a model and the gradient graph of it, run together. The gradient is written by the
 * rules of the op table, and all goes through the text form to both devices of the reference, which
 * must agree to the last bit; what came out is for the tests to compare with formulas said again.
 */
#ifndef VT_SLOPE_TEST_H
#define VT_SLOPE_TEST_H
#include "op_test.h"
#include "volta/volta_tools.h"
#include "vt_parse.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MOST_SLOPE_PORTS = 8, F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

/* ORDINARY numbers, ANY pattern, a FEW of those among ordinary ones, or few different ones. */
enum { ORDINARY, ANY, FEW, REPEATED, MIXES };

typedef struct slope_port {
  char name[40];
  vt_tensor t; /* row-major */
} slope_port;

typedef struct slope_run {
  char text[700];
  int mix;
  int64_t lo, hi, ignore; /* integers lie in lo..hi, one in four of them is `ignore` */
  uint32_t n_in, n_out;
  slope_port in[MOST_SLOPE_PORTS], out[MOST_SLOPE_PORTS];
} slope_run;

static uint64_t slope_state = 99;

static inline void slope_report(const slope_run *r, const char *what) {
  vt_test_failed++;
  fprintf(stderr, "mix %d, seed %llu: %s\n%s", r->mix, (unsigned long long)test_seed, what,
          r->text);
}

/* ---- the gradient graph ---- */

static inline int slope_is_float(const vt_graph *g, uint32_t value) {
  return g->values[value].type.dtype == F32 || g->values[value].type.dtype == F64;
}

/* Operands, results and their gradients of the one node, for its rule. */
static inline void slope_node(vt_graph_builder *gb, const vt_graph *g, const uint32_t *map) {
  const vt_node *n = &g->nodes[g->n_nodes - 1];
  uint32_t in[8], out[8], d_in[8], d_out[8];
  char name[60];
  for (uint32_t i = 0; i < n->n_in; i++) {
    in[i] = map[g->operands[n->first_in + i]];
    d_in[i] = VT_NO_VALUE;
  }
  for (uint32_t i = 0; i < n->n_out; i++) {
    const uint32_t value = n->first_out + i;
    snprintf(name, sizeof name, "d%u", i);
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    out[i] = map[value];
    d_out[i] = slope_is_float(g, value) ? vt_graph_add_port(gb, &port, &g->values[value].type)
                                        : VT_NO_VALUE;
  }
  const vt_gradient rule = {&gb->b, in, out, n->n_in, n->n_out, n->attrs, d_out, d_in};
  if (vt_op_get(n->op)->grad != NULL) vt_op_get(n->op)->grad(&rule);
  for (uint32_t i = 0; i < n->n_in; i++) {
    snprintf(name, sizeof name, "d.%s", g->ports[i].name);
    if (d_in[i] != VT_NO_VALUE) vt_graph_add_result(gb, name, d_in[i]);
  }
}

/* A model of one node whose operands are the ports in order. */
static inline vt_graph *slope_graph(slope_run *r, const vt_graph *g) {
  vt_graph_builder gb;
  vt_graph *made = NULL;
  vt_diag d = {0};
  uint32_t map[64], in[8];
  if (vt_graph_begin(&gb, "slope", vt_alloc_default(), &d) != VT_OK) exit(1);
  for (uint32_t i = 0; i < g->n_ports; i++)
    map[g->ports[i].value] =
        vt_graph_add_port(&gb, &g->ports[i], &g->values[g->ports[i].value].type);
  const vt_node *n = &g->nodes[g->n_nodes - 1];
  CHECK(g->n_nodes == 1 && n->n_in == g->n_ports);
  for (uint32_t i = 0; i < n->n_in; i++) in[i] = map[g->operands[n->first_in + i]];
  const uint32_t first = gb.b.node(&gb.b, n->op, in, n->n_in, n->attrs);
  for (uint32_t i = 0; i < n->n_out; i++) map[n->first_out + i] = first + i;
  for (uint32_t i = 0; i < g->n_results; i++)
    vt_graph_add_result(&gb, g->results[i].name, map[g->results[i].value]);
  slope_node(&gb, g, map);
  if (vt_graph_freeze(&gb, &made) != VT_OK) slope_report(r, d.text);
  return made;
}

static inline vt_model *slope_model(slope_run *r) {
  vt_graph *g = NULL, *made = NULL;
  vt_model *m = NULL;
  vt_diag d = {0};
  vt_text t;
  if (vt_parse(r->text, strlen(r->text), vt_alloc_default(), &g, &d) == VT_OK)
    made = slope_graph(r, g);
  vt_text_init(&t, vt_alloc_default());
  if (made != NULL) vt_graph_print(made, 1, &t);
  if (made == NULL || vt_model_parse(t.s, t.n, NULL, &m, &d) != VT_OK) slope_report(r, d.text);
  vt_text_done(&t);
  vt_graph_free(made);
  vt_graph_free(g);
  return m;
}

/* ---- running ---- */

static inline uint64_t slope_bits(const slope_run *r, uint32_t dtype) {
  static const double few[4] = {-1.5, 0.0, 0.8, 2.0}; /* 0.8 is an edge of losses */
  const uint64_t pick = random_u64(&slope_state);
  if (dtype != F32 && dtype != F64) {
    if (dtype == VT_DTYPE_BOOL || r->hi < r->lo) return any_bits(dtype, &slope_state);
    if (pick % 4 == 0) return (uint64_t)r->ignore;
    return (uint64_t)(r->lo + (int64_t)(pick >> 8) % (r->hi - r->lo + 1));
  }
  if (r->mix == ANY || (r->mix == FEW && pick % 16 == 0)) return any_bits(dtype, &slope_state);
  if (r->mix != REPEATED) return ordinary_bits(dtype, &slope_state);
  return dtype == F64 ? vt_f64_bits(few[pick % 4]) : vt_f32_bits((float)few[pick % 4]);
}

static inline slope_port slope_input(const slope_run *r, const vt_port_info *info) {
  slope_port p = {.t = {.dtype = info->dtype, .rank = info->rank}};
  const char *s = strchr(info->type, '[') + 1;
  uint64_t n = 0, bytes = 0;
  snprintf(p.name, sizeof p.name, "%s", info->name);
  for (uint32_t i = 0; i < info->rank; i++) {
    char *rest;
    p.t.dim[i] = strtoll(s, &rest, 10);
    s = rest + 2;
  }
  CHECK(vt_tensor_bytes(&p.t, &n, &bytes, NULL) == VT_OK);
  p.t.data = malloc((size_t)bytes + 1);
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t bits = slope_bits(r, info->dtype);
    memcpy((char *)p.t.data + i * vt_dtype_bytes(info->dtype), &bits, vt_dtype_bytes(info->dtype));
  }
  return p;
}

static inline void slope_keep(slope_run *r, const char *name, const vt_tensor *t) {
  slope_port *p = &r->out[r->n_out++];
  uint64_t n = 0, bytes = 0;
  CHECK(vt_tensor_bytes(t, &n, &bytes, NULL) == VT_OK);
  snprintf(p->name, sizeof p->name, "%s", name);
  p->t = *t;
  p->t.data = malloc((size_t)bytes + 1);
  if (bytes > 0) memcpy(p->t.data, t->data, (size_t)bytes);
}

static inline void slope_compare(slope_run *r, const char *name, const vt_tensor *t) {
  vt_diag d = {0};
  vt_compare c = {.size = sizeof c};
  for (uint32_t i = 0; i < r->n_out; i++) {
    if (strcmp(r->out[i].name, name) != 0) continue;
    if (vt_tensor_compare(&r->out[i].t, t, &c, &d) != VT_OK) slope_report(r, d.text);
    char what[120];
    snprintf(what, sizeof what, "%s: element %llu is %llx and %llx on the two devices", name,
             (unsigned long long)c.first, (unsigned long long)c.first_a,
             (unsigned long long)c.first_b);
    if (c.differing != 0) slope_report(r, what);
  }
}

static inline void slope_device(slope_run *r, const vt_model *m, const char *backend, int second) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_status s = vt_program_new(m, &o, &p, &d);
  for (uint32_t i = 0; s == VT_OK && i < r->n_in; i++)
    s = vt_program_set_input(p, r->in[i].name, &r->in[i].t, &d);
  if (s == VT_OK) s = vt_program_run(p, &d);
  if (s != VT_OK) slope_report(r, d.text);
  for (uint32_t i = 0; s == VT_OK && i < MOST_SLOPE_PORTS; i++) {
    const char *name;
    vt_tensor t = {0};
    if (vt_program_output(p, i, &name, &t, &d) != VT_OK) break;
    if (second) {
      slope_compare(r, name, &t);
    } else {
      slope_keep(r, name, &t);
    }
  }
  vt_program_free(p);
}

/* Runs a model of one node, "input ...\noutput ..." lines. */
static inline void slope_begin(slope_run *r, const char *lines) {
  vt_port_info port;
  snprintf(r->text, sizeof r->text, "volta 1\nmodel m {\n%s\n}\n", lines);
  test_seed = slope_state;
  vt_model *m = slope_model(r);
  if (m == NULL) return;
  for (uint32_t i = 0; vt_model_port(m, i, &port) == VT_OK; i++)
    if (port.kind == VT_PORT_INPUT) r->in[r->n_in++] = slope_input(r, &port);
  slope_device(r, m, "reference:0", 0);
  slope_device(r, m, "reference:1", 1);
  vt_model_free(m);
}

static inline void slope_end(slope_run *r) {
  for (uint32_t i = 0; i < r->n_in; i++) free(r->in[i].t.data);
  for (uint32_t i = 0; i < r->n_out; i++) free(r->out[i].t.data);
}

/* ---- what came in and out, as one row-major array of doubles, which hold every f32 ---- */

typedef struct slope_array {
  uint32_t dtype;
  int64_t n, dim[VT_MAX_RANK];
  uint32_t rank;
  double *v;
} slope_array;

static inline slope_array slope_array_of(const slope_port *p) {
  slope_array a = {.dtype = p->t.dtype, .rank = p->t.rank, .n = 1};
  for (uint32_t i = 0; i < p->t.rank; i++) a.n *= a.dim[i] = p->t.dim[i];
  a.v = malloc(((size_t)a.n + 1) * sizeof *a.v);
  const vt_view dense = {
      .dtype = a.dtype, .rank = 1, .dim = {a.n}, .stride = {1}, .data = p->t.data};
  for (int64_t i = 0; i < a.n; i++) {
    if (a.dtype == F32) {
      a.v[i] = (double)get_f32(&dense, i);
    } else if (a.dtype == F64) {
      a.v[i] = get_f64(&dense, i);
    } else {
      a.v[i] = (double)whole_of(a.dtype, get_bits(&dense, i));
    }
  }
  return a;
}

/* The input or output of that name; v is NULL when there is none. */
static inline slope_array slope_get(const slope_run *r, const char *name) {
  for (uint32_t i = 0; i < r->n_in; i++)
    if (strcmp(r->in[i].name, name) == 0) return slope_array_of(&r->in[i]);
  for (uint32_t i = 0; i < r->n_out; i++)
    if (strcmp(r->out[i].name, name) == 0) return slope_array_of(&r->out[i]);
  return (slope_array){0};
}

/* Output `name` must be `want`, n numbers that were rounded already. Frees `want`. */
static inline void slope_expect(const slope_run *r, const char *name, const double *want,
                                int64_t n) {
  const slope_array got = slope_get(r, name);
  char what[160] = "";
  if (got.v == NULL || got.n != n) snprintf(what, sizeof what, "%s is not there", name);
  for (int64_t i = 0; i < got.n && what[0] == 0; i++)
    if (canon_bits(F64, vt_f64_bits(got.v[i])) != canon_bits(F64, vt_f64_bits(want[i])))
      snprintf(what, sizeof what, "%s[%lld] is %a, expected %a", name, (long long)i, got.v[i],
               want[i]);
  if (what[0] != 0) slope_report(r, what);
  free(got.v);
}

/* One rounding to the type: of a sum, difference, product, quotient or root of two f32 taken in
 * f64 it gives the bits of the operation in f32. */
static inline double slope_round(uint32_t dtype, double x) {
  return dtype == F32 ? (double)(float)x : x;
}

/* S of n numbers of the type, `step` apart. */
static inline double slope_sum(uint32_t dtype, const double *x, int64_t n, int64_t step) {
  double *wide = malloc(((size_t)n + 1) * sizeof *wide), y;
  float *narrow = malloc(((size_t)n + 1) * sizeof *narrow);
  for (int64_t i = 0; i < n; i++) wide[i] = x[i * step];
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)wide[i];
  y = dtype == F32 ? (double)s_f32(narrow, n) : s_f64(wide, n);
  free(wide);
  free(narrow);
  return y;
}
#endif
