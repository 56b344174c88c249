/* SPDX-License-Identifier: Apache-2.0
 * grad_case_test.h - runs a model of one op together with its gradient, which the op's gradient
 * rule writes. The model is printed and parsed again and runs on both devices of the reference,
 * which must agree to the last bit: the first decomposes compositions, the second runs their
 * kernels. Tests compare its inputs and outputs with formulas on arrays. A case is one such model
 * with its inputs and outputs; its `mix` is the kind of the random float inputs. */
#ifndef VT_GRAD_TEST_H
#define VT_GRAD_TEST_H
#include "op_test.h"
#include "volta/volta_tools.h"
#include "vt_parse.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MAX_PORTS = 8, F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

/* Kinds of float inputs. ORDINARY: moderate numbers; ANY: random bits; FEW: moderate numbers with
 * some random bits; REPEATED: four numbers, many times each. */
enum { ORDINARY, ANY, FEW, REPEATED, MIXES };

/* An input or output with its data. */
typedef struct grad_port {
  char name[40];
  vt_tensor t; /* row-major */
} grad_port;

typedef struct grad_case {
  char text[700];         /* the model without its gradient */
  int mix;                /* kind of the float inputs */
  int64_t lo, hi, ignore; /* integer inputs are in lo..hi, but every fourth is `ignore` */
  uint32_t n_in, n_out;
  grad_port in[MAX_PORTS], out[MAX_PORTS]; /* inputs; outputs of the first device */
} grad_case;

static uint64_t random_state = 99; /* state of the random generator */

static inline void report_case_failure(const grad_case *r, const char *what) {
  vt_test_failed++;
  fprintf(stderr, "mix %d, seed %llu: %s\n%s", r->mix, (unsigned long long)test_seed, what,
          r->text);
}

/* ---- the gradient graph ---- */

static inline int is_float_value(const vt_graph *g, uint32_t value) {
  return g->values[value].type.dtype == F32 || g->values[value].type.dtype == F64;
}

/* Applies the gradient rule of the graph's only node. Input "d0" is the gradient of its first
 * result, and output "d.x" becomes the gradient of input x. */
static inline void add_gradient(vt_graph_builder *gb, const vt_graph *g,
                                const uint32_t *new_value) {
  const vt_node *n = &g->nodes[g->n_nodes - 1];
  uint32_t in[8], out[8], d_in[8], d_out[8];
  char name[60];
  for (uint32_t i = 0; i < n->n_in; i++) {
    in[i] = new_value[g->operands[n->first_in + i]];
    d_in[i] = VT_NO_VALUE;
  }
  for (uint32_t i = 0; i < n->n_out; i++) {
    const uint32_t value = n->first_out + i;
    snprintf(name, sizeof name, "d%u", i);
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    out[i] = new_value[value];
    d_out[i] = is_float_value(g, value) ? vt_graph_add_port(gb, &port, &g->values[value].type)
                                        : VT_NO_VALUE;
  }
  const vt_gradient rule = {&gb->b, in, out, n->n_in, n->n_out, n->attrs, d_out, d_in};
  if (vt_op_get(n->op)->grad != NULL) vt_op_get(n->op)->grad(&rule);
  for (uint32_t i = 0; i < n->n_in; i++) {
    snprintf(name, sizeof name, "d.%s", g->ports[i].name);
    if (d_in[i] != VT_NO_VALUE) vt_graph_add_result(gb, name, d_in[i]);
  }
}

/* Copies the graph, whose only node has the graph's ports as operands, and adds the gradient. */
static inline vt_graph *graph_with_gradient(grad_case *r, const vt_graph *g) {
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
  add_gradient(&gb, g, map);
  if (vt_graph_freeze(&gb, &made) != VT_OK) report_case_failure(r, d.text);
  return made;
}

/* Makes the model with its gradient: the graph is printed and parsed again. */
static inline vt_model *model_with_gradient(grad_case *r) {
  vt_graph *g = NULL, *made = NULL;
  vt_model *m = NULL;
  vt_diag d = {0};
  vt_text t;
  if (vt_parse(r->text, strlen(r->text), vt_alloc_default(), &g, &d) == VT_OK)
    made = graph_with_gradient(r, g);
  vt_text_init(&t, vt_alloc_default());
  if (made != NULL) vt_graph_print(made, 1, &t);
  if (made == NULL || vt_model_parse(t.s, t.n, NULL, &m, &d) != VT_OK)
    report_case_failure(r, d.text);
  vt_text_done(&t);
  vt_graph_free(made);
  vt_graph_free(g);
  return m;
}

/* ---- running ---- */

/* Returns the bits of a random element of an input. */
static inline uint64_t draw_input_bits(const grad_case *r, uint32_t dtype) {
  /* 0.8 is where some losses change their formula. */
  static const double few[4] = {-1.5, 0.0, 0.8, 2.0};
  const uint64_t pick = random_u64(&random_state);
  if (dtype != F32 && dtype != F64) {
    if (dtype == VT_DTYPE_BOOL || r->hi < r->lo) return any_bits(dtype, &random_state);
    if (pick % 4 == 0) return (uint64_t)r->ignore;
    return (uint64_t)(r->lo + (int64_t)(pick >> 8) % (r->hi - r->lo + 1));
  }
  if (r->mix == ANY || (r->mix == FEW && pick % 16 == 0)) return any_bits(dtype, &random_state);
  if (r->mix != REPEATED) return ordinary_bits(dtype, &random_state);
  return dtype == F64 ? vt_f64_bits(few[pick % 4]) : vt_f32_bits((float)few[pick % 4]);
}

/* Makes a random input for a port; reads the dimensions from the text of the port's type. */
static inline grad_port draw_input(const grad_case *r, const vt_port_info *info) {
  grad_port p = {.t = {.dtype = info->dtype, .rank = info->rank}};
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
    const uint64_t bits = draw_input_bits(r, info->dtype);
    memcpy((char *)p.t.data + i * vt_dtype_bytes(info->dtype), &bits, vt_dtype_bytes(info->dtype));
  }
  return p;
}

/* Stores a copy of an output of the first device. */
static inline void store_output(grad_case *r, const char *name, const vt_tensor *t) {
  grad_port *p = &r->out[r->n_out++];
  uint64_t n = 0, bytes = 0;
  CHECK(vt_tensor_bytes(t, &n, &bytes, NULL) == VT_OK);
  snprintf(p->name, sizeof p->name, "%s", name);
  p->t = *t;
  p->t.data = malloc((size_t)bytes + 1);
  if (bytes > 0) memcpy(p->t.data, t->data, (size_t)bytes);
}

/* Compares an output of the second device with that of the first. */
static inline void compare_output(grad_case *r, const char *name, const vt_tensor *t) {
  vt_diag d = {0};
  vt_compare c = {.size = sizeof c};
  for (uint32_t i = 0; i < r->n_out; i++) {
    if (strcmp(r->out[i].name, name) != 0) continue;
    if (vt_tensor_compare(&r->out[i].t, t, &c, &d) != VT_OK) report_case_failure(r, d.text);
    char what[120];
    snprintf(what, sizeof what, "%s: element %llu is %llx and %llx on the two devices", name,
             (unsigned long long)c.first, (unsigned long long)c.first_a,
             (unsigned long long)c.first_b);
    if (c.differing != 0) report_case_failure(r, what);
  }
}

/* Runs the model on one device and stores its outputs; with `compare`, compares them with the
 * stored ones instead. */
static inline void run_and_store_or_compare(grad_case *r, const vt_model *m, const char *backend,
                                            int compare) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_status s = vt_program_new(m, &o, &p, &d);
  for (uint32_t i = 0; s == VT_OK && i < r->n_in; i++)
    s = vt_program_set_input(p, r->in[i].name, &r->in[i].t, &d);
  if (s == VT_OK) s = vt_program_run(p, &d);
  if (s != VT_OK) report_case_failure(r, d.text);
  for (uint32_t i = 0; s == VT_OK && i < MAX_PORTS; i++) {
    const char *name;
    vt_tensor t = {0};
    if (vt_program_output(p, i, &name, &t, &d) != VT_OK) break;
    if (compare) {
      compare_output(r, name, &t);
    } else {
      store_output(r, name, &t);
    }
  }
  vt_program_free(p);
}

/* Makes a model of the lines "input ...\noutput ...", which must have one node, and runs it on both
 * devices. */
static inline void run_case(grad_case *r, const char *lines) {
  vt_port_info port;
  snprintf(r->text, sizeof r->text, "volta 1\nmodel m {\n%s\n}\n", lines);
  test_seed = random_state;
  vt_model *m = model_with_gradient(r);
  if (m == NULL) return;
  for (uint32_t i = 0; vt_model_port(m, i, &port) == VT_OK; i++)
    if (port.kind == VT_PORT_INPUT) r->in[r->n_in++] = draw_input(r, &port);
  run_and_store_or_compare(r, m, "reference:0", 0);
  run_and_store_or_compare(r, m, "reference:1", 1);
  vt_model_free(m);
}

static inline void free_case(grad_case *r) {
  for (uint32_t i = 0; i < r->n_in; i++) free(r->in[i].t.data);
  for (uint32_t i = 0; i < r->n_out; i++) free(r->out[i].t.data);
}

/* ---- inputs and outputs as row-major arrays of doubles, which represent every f32 exactly ---- */

typedef struct grad_array {
  uint32_t dtype; /* type of the tensor */
  int64_t n, dim[VT_MAX_RANK];
  uint32_t rank;
  double *v; /* its n elements; owned */
} grad_array;

static inline grad_array array_of_port(const grad_port *p) {
  grad_array a = {.dtype = p->t.dtype, .rank = p->t.rank, .n = 1};
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
      a.v[i] = (double)integer_of(a.dtype, get_bits(&dense, i));
    }
  }
  return a;
}

/* Returns the input or output of this name as an array; its v is NULL if the case has no such
 * port. */
static inline grad_array array_of_port_named(const grad_case *r, const char *name) {
  for (uint32_t i = 0; i < r->n_in; i++)
    if (strcmp(r->in[i].name, name) == 0) return array_of_port(&r->in[i]);
  for (uint32_t i = 0; i < r->n_out; i++)
    if (strcmp(r->out[i].name, name) == 0) return array_of_port(&r->out[i]);
  return (grad_array){0};
}

/* Fails unless output `name` has the n numbers `want`, bit for bit; all NaNs are equal. */
static inline void expect_output(const grad_case *r, const char *name, const double *want,
                                 int64_t n) {
  const grad_array got = array_of_port_named(r, name);
  char what[160] = "";
  if (got.v == NULL || got.n != n)
    snprintf(what, sizeof what, "%s is missing or has another size", name);
  for (int64_t i = 0; i < got.n && what[0] == 0; i++)
    if (canonicalize_nan(F64, vt_f64_bits(got.v[i])) != canonicalize_nan(F64, vt_f64_bits(want[i])))
      snprintf(what, sizeof what, "%s[%lld] is %a, expected %a", name, (long long)i, got.v[i],
               want[i]);
  if (what[0] != 0) report_case_failure(r, what);
  free(got.v);
}

/* Rounds x to the type. If x is the f64 sum, difference, product, quotient or root of f32 numbers,
 * this gives the bits of the f32 operation. */
static inline double round_to_type(uint32_t dtype, double x) {
  return dtype == F32 ? (double)(float)x : x;
}

/* Returns the ordered sum S of docs/numerics.md of n numbers of the type: x[0], x[step], x[2 *
 * step], ... */
static inline double ordered_sum_s(uint32_t dtype, const double *x, int64_t n, int64_t step) {
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
