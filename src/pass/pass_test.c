/* SPDX-License-Identifier: Apache-2.0
 * pass_test.c - tests the list of passes, `bind`, `lower`, and the graph that initialises params,
 * on graphs built by hand. */
#include "vt_pass.h"
#include <string.h>
#include "vt_parse.h"
#include "vt_test.h"

/* ---- writing graphs ---- */

static uint32_t add_input(vt_graph_builder *gb, const char *name, vt_type type) {
  const vt_port p = {.name = name, .kind = VT_PORT_INPUT};
  return vt_graph_add_port(gb, &p, &type);
}

/* Adds a param with the default attributes of its initialiser, and the random stream of its name.
 */
static uint32_t add_param(vt_graph_builder *gb, const char *name, const char *init, vt_type type) {
  const vt_init_info *info = vt_init_find(init);
  const vt_attr_field *stream = vt_attr_find(info->attrs, "stream");
  _Alignas(16) unsigned char attrs[256];
  memcpy(attrs, info->attrs->defaults, info->attrs->size);
  if (stream != NULL) *vt_attr_int(attrs, stream) = vt_random_stream_of(name);
  const vt_port p = {
      .name = name, .kind = VT_PORT_PARAM, .init = info->number, .init_attrs = attrs};
  return vt_graph_add_port(gb, &p, &type);
}

static uint32_t name_value(vt_graph_builder *gb, const char *name, uint32_t value) {
  vt_graph_name_value(gb, value, name);
  return value;
}

static int64_t declare_dim(vt_graph_builder *gb, const char *name) {
  int64_t dim = 0;
  const vt_status s = vt_dim_declare(&gb->g->dims, name, &dim, NULL);
  if (s != VT_OK) (void)vt_graph_fail(gb, s, "no symbol");
  return dim;
}

static int64_t multiply_dims(vt_graph_builder *gb, int64_t a, int64_t b) {
  int64_t dim = 0;
  const vt_status s = vt_dim_mul(&gb->g->dims, a, b, &dim, NULL);
  if (s != VT_OK) (void)vt_graph_fail(gb, s, "no product");
  return dim;
}

static int64_t add_dims(vt_graph_builder *gb, int64_t a, int64_t b) {
  int64_t dim = 0;
  const vt_status s = vt_dim_add(&gb->g->dims, a, b, &dim, NULL);
  if (s != VT_OK) (void)vt_graph_fail(gb, s, "no sum");
  return dim;
}

/* Builds a graph with the symbolic dimensions B and T, the inputs x: f32[B, T, 8] and tok: i32[B,
 * T] in 0..2*T, and nodes whose attributes hold B*T and T-1. */
static vt_status build_symbolic_graph(vt_alloc a, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  VT_TRY(vt_graph_begin(&gb, "symbolic", a, d));
  const int64_t b = declare_dim(&gb, "B"), t = declare_dim(&gb, "T"), bt = multiply_dims(&gb, b, t);
  const vt_type tokens = {.dtype = VT_DTYPE_I32, .rank = 2, .dim = {b, t}};
  const vt_port tok = {
      .name = "tok", .kind = VT_PORT_INPUT, .has_range = 1, .hi = add_dims(&gb, t, t)};
  const uint32_t x = add_input(&gb, "x", (vt_type){VT_DTYPE_F32, 3, {b, t, 8}});
  vt_graph_add_port(&gb, &tok, &tokens);
  const uint32_t w = add_param(&gb, "w", "he_normal", (vt_type){VT_DTYPE_F32, 2, {8, 8}});
  const vt_attr_slice cut = {
      .size = sizeof cut, .start = {.n = 3}, .stop = {.n = 3, .v = {b, add_dims(&gb, t, -1), 8}}};
  gb.line = 42;
  const uint32_t f = name_value(&gb, "f", vt_build_reshape(&gb.b, x, 2, (int64_t[]){bt, 8}));
  const uint32_t y = vt_build2(&gb.b, VT_OP_matmul, f, w);
  const uint32_t g = name_value(&gb, "g", vt_build1(&gb.b, VT_OP_gelu, y));
  const uint32_t z = vt_build_reshape(&gb.b, g, 3, (int64_t[]){b, t, 8});
  const uint32_t u = name_value(&gb, "u", gb.b.node(&gb.b, VT_OP_slice, &z, 1, &cut));
  vt_graph_add_result(&gb, "u", u);
  vt_graph_add_result(&gb, "all", g);
  return vt_graph_freeze(&gb, out);
}

static vt_graph *new_symbolic_graph(void) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(build_symbolic_graph(vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) exit(1); /* the test cannot continue */
  return g;
}

static vt_status bind_graph(const vt_graph *g, uint32_t n, const vt_binding *b, vt_graph **out,
                            vt_diag *d) {
  const vt_pass_options o = {.bind = b, .n_bind = n, .alloc = vt_alloc_default()};
  *out = NULL;
  return vt_pass_run(VT_PASS_bind, g, &o, out, d);
}

static void test_pass_table(void) {
  CHECK(vt_pass_total() == VT_PASS_COUNT && vt_pass_at(VT_PASS_COUNT) == NULL);
  CHECK(strcmp(vt_pass_at(0)->name, "bind") == 0 && vt_pass_at(0)->run == vt_pass_bind);
  CHECK(strcmp(vt_pass_at(1)->name, "lower") == 0 && vt_pass_at(1)->run == vt_pass_lower);
  CHECK(vt_pass_at(VT_PASS_COUNT - 1)->help[0] != 0);
}

static void expect_list_refused(const char *names, const char *text) {
  vt_pass_list list = {.n = 77};
  vt_diag d = {0};
  CHECK(vt_pass_list_parse(names, &list, &d) == VT_USAGE && d.code == VT_USAGE);
  CHECK(strstr(d.text, text) != NULL && list.n == 77);
  if (strstr(d.text, text) == NULL) fprintf(stderr, "  '%s' has no '%s'\n", d.text, text);
}

static void test_parse_pass_list(void) {
  vt_pass_list list;
  CHECK(vt_pass_list_parse(NULL, &list, NULL) == VT_OK && list.n == VT_PASS_COUNT);
  for (uint32_t i = 0; i < list.n; i++) CHECK(list.at[i] == i);
  CHECK(vt_pass_list_parse("bind", &list, NULL) == VT_OK && list.n == 1);
  CHECK(vt_pass_list_parse("bind,dead,lower", &list, NULL) == VT_OK && list.n == 3);
  CHECK(list.at[1] == VT_PASS_dead && list.at[2] == VT_PASS_lower);
  expect_list_refused("", "no pass ''");
  expect_list_refused("bind,", "no pass ''");
  expect_list_refused("bind,lowe", "no pass 'lowe'");
  expect_list_refused("bind,lower,bind", "'bind' is listed twice");
  expect_list_refused("lower,bind", "'bind' must come first");
  expect_list_refused("dead", "'bind' must come first");
}

/* ---- binding ---- */

static const vt_type *type_of_named_value(const vt_graph *g, const char *name) {
  static const vt_type none;
  for (uint32_t i = 0; i < g->n_values; i++)
    if (g->values[i].name != NULL && strcmp(g->values[i].name, name) == 0)
      return &g->values[i].type;
  return &none;
}

static int value_has_type(const vt_graph *g, const char *name, const char *want) {
  char text[VT_TYPE_TEXT];
  const int same = strcmp(vt_type_text(&g->dims, type_of_named_value(g, name), text), want) == 0;
  if (!same) fprintf(stderr, "  '%s' is %s, not %s\n", name, text, want);
  return same;
}

static void test_bound_shapes(void) {
  vt_graph *g = new_symbolic_graph(), *out;
  vt_diag d = {0};
  const vt_binding b[] = {{"T", 3}, {"B", 2}}; /* bindings may come in any order */
  CHECK(bind_graph(g, 2, b, &out, &d) == VT_OK);
  CHECK(out->dims.n_symbols == 0 && out->n_nodes == g->n_nodes && out->n_ports == 3);
  CHECK(value_has_type(out, "x", "f32[2, 3, 8]") && value_has_type(out, "f", "f32[6, 8]"));
  CHECK(value_has_type(out, "g", "f32[6, 8]") && value_has_type(out, "u", "f32[2, 2, 8]"));
  CHECK(out->ports[1].has_range && out->ports[1].lo == 0 && out->ports[1].hi == 6);
  const vt_attr_shape *f = out->nodes[0].attrs;
  const vt_attr_slice *u = out->nodes[4].attrs;
  CHECK(f->shape.n == 2 && f->shape.v[0] == 6 && f->shape.v[1] == 8);
  CHECK(u->stop.n == 3 && u->stop.v[0] == 2 && u->stop.v[1] == 2 && u->stop.v[2] == 8);
  CHECK(out->nodes[0].line == 42 && out->nodes[2].op == VT_OP_gelu);
  CHECK(strcmp(out->results[0].name, "u") == 0 && strcmp(out->results[1].name, "all") == 0);
  /* the value has no name in g and gets none */
  CHECK(out->values[out->nodes[1].first_out].name == NULL);
  vt_graph_free(out);
  CHECK(value_has_type(g, "f", "f32[B*T, 8]")); /* the old graph is unchanged */
  vt_graph_free(g);
}

static void expect_bind_error(vt_graph *g, uint32_t n, const vt_binding *b, const char *text) {
  vt_graph *out;
  vt_diag d = {0};
  const vt_status s = bind_graph(g, n, b, &out, &d);
  CHECK(s == VT_BIND && d.code == VT_BIND && out == NULL);
  CHECK(strstr(d.text, text) != NULL);
  if (strstr(d.text, text) == NULL) fprintf(stderr, "  '%s' has no '%s'\n", d.text, text);
  CHECK(bind_graph(g, n, b, &out, NULL) == s);
}

static void test_wrong_bindings_refused(void) {
  vt_graph *g = new_symbolic_graph();
  const int64_t most = VT_DIM_MAX;
  expect_bind_error(g, 0, NULL, "'B' is not bound");
  expect_bind_error(g, 1, &(vt_binding){"B", 2}, "'T' is not bound");
  expect_bind_error(g, 3, (vt_binding[]){{"B", 2}, {"T", 3}, {"Q", 1}},
                    "no symbolic dimension 'Q'");
  expect_bind_error(g, 3, (vt_binding[]){{"B", 2}, {"T", 3}, {"B", 2}}, "'B' is bound twice");
  expect_bind_error(g, 2, (vt_binding[]){{"B", 2}, {"T", -1}}, "'T' is bound to -1");
  expect_bind_error(g, 2, (vt_binding[]){{"B", most + 1}, {"T", 3}},
                    "'B' is bound to 1099511627777");
  expect_bind_error(g, 2, (vt_binding[]){{"B", INT64_MIN}, {"T", 3}},
                    "'B' is bound to -9223372036854775808");
  expect_bind_error(g, 2, (vt_binding[]){{"B", most}, {"T", most}}, "'f'");    /* B*T is 2^80 */
  expect_bind_error(g, 2, (vt_binding[]){{"B", most}, {"T", 1 << 20}}, "'f'"); /* B*T is 2^60 */
  expect_bind_error(g, 2, (vt_binding[]){{"B", 2}, {"T", 0}},
                    "'u'"); /* with T = 0 the slice's stop, T-1, is -1 */
  vt_graph_free(g);
}

static void test_hint_names_missing_binding(void) {
  vt_graph *g = new_symbolic_graph(), *out;
  vt_diag d = {0};
  CHECK(bind_graph(g, 0, NULL, &out, &d) == VT_BIND);
  CHECK(strcmp(d.hint, "add --bind B=VALUE") == 0);
  vt_graph_free(g);
}

static void test_bound_sizes_limited(void) {
  vt_graph *g = new_symbolic_graph(), *out;
  vt_diag d = {0};
  CHECK(bind_graph(g, 2, (vt_binding[]){{"B", 0}, {"T", 1}}, &out, &d) == VT_OK); /* 0 is valid */
  CHECK(out != NULL && value_has_type(out, "u", "f32[0, 0, 8]"));
  vt_graph_free(out);
  CHECK(bind_graph(g, 2, (vt_binding[]){{"B", VT_DIM_MAX}, {"T", 1}}, &out, &d) == VT_OK);
  CHECK(out != NULL && value_has_type(out, "f", "f32[1099511627776, 8]"));
  vt_graph_free(out);
  vt_graph_free(g);
}

/* Builds a graph with one input. With has_range its type is dtype[B], with integers in 0..factor*B
 * + shift; otherwise it is dtype[factor*B + shift]. */
static vt_graph *one_port_graph(uint32_t dtype, int64_t factor, int64_t shift, int has_range) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  CHECK(vt_graph_begin(&gb, "port", vt_alloc_default(), NULL) == VT_OK);
  const int64_t b = declare_dim(&gb, "B"), n = add_dims(&gb, multiply_dims(&gb, b, factor), shift);
  const vt_type type = {.dtype = dtype, .rank = 1, .dim = {has_range ? b : n}};
  const vt_port p = {.name = "i", .kind = VT_PORT_INPUT, .has_range = (uint32_t)has_range, .hi = n};
  vt_graph_add_result(&gb, "y", vt_graph_add_port(&gb, &p, &type));
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

static void test_bound_port_ranges(void) {
  vt_graph *g = one_port_graph(VT_DTYPE_F32, 1, -5, 0), *out;
  expect_bind_error(g, 1, &(vt_binding){"B", 4}, "'i': a dimension becomes -1");
  CHECK(bind_graph(g, 1, &(vt_binding){"B", 5}, &out, NULL) == VT_OK);
  vt_graph_free(out);
  vt_graph_free(g);
  g = one_port_graph(VT_DTYPE_F32, (int64_t)1 << 40, 0, 0);
  expect_bind_error(g, 1, &(vt_binding){"B", 2}, "'i': a dimension becomes 2199023255552");
  expect_bind_error(g, 1, &(vt_binding){"B", (int64_t)1 << 30},
                    "'i': a dimension made of 'B' overflows");
  vt_graph_free(g);
  g = one_port_graph(VT_DTYPE_I8, 1, -1, 1);
  expect_bind_error(g, 1, &(vt_binding){"B", 0}, "range 0..-1 of 'i' is empty");
  expect_bind_error(g, 1, &(vt_binding){"B", 129}, "range 0..128 of 'i' goes beyond i8");
  CHECK(bind_graph(g, 1, &(vt_binding){"B", 128}, &out, NULL) == VT_OK);
  CHECK(out->ports[0].hi == 127);
  vt_graph_free(out);
  vt_graph_free(g);
}

static vt_hash256 graph_hash(const vt_graph *g) {
  vt_hash256 h = {{0}};
  CHECK(vt_graph_hash(g, &h) == VT_OK);
  return h;
}

static void test_bind_without_symbols(void) {
  vt_graph *g = new_symbolic_graph(), *bound, *again;
  vt_diag d = {0};
  CHECK(bind_graph(g, 2, (vt_binding[]){{"B", 2}, {"T", 3}}, &bound, &d) == VT_OK);
  /* bind changes nothing in a graph without symbols */
  CHECK(bind_graph(bound, 0, NULL, &again, &d) == VT_OK);
  const vt_hash256 x = graph_hash(bound), y = graph_hash(again);
  CHECK(memcmp(&x, &y, sizeof x) == 0);
  vt_graph_free(again);
  CHECK(bind_graph(bound, 1, &(vt_binding){"B", 2}, &again, &d) == VT_BIND && again == NULL);
  vt_graph_free(bound);
  vt_graph_free(g);
}

/* ---- lowering: several compositions in one bound graph ---- */

static uint32_t add_composition_of_1(vt_graph_builder *gb, const char *name, uint32_t op,
                                     uint32_t x, const void *attrs) {
  return name_value(gb, name, gb->b.node(&gb->b, op, &x, 1, attrs));
}

static uint32_t add_composition_of_3(vt_graph_builder *gb, const char *name, uint32_t op,
                                     uint32_t x, uint32_t y, uint32_t z) {
  return name_value(gb, name, vt_build3(&gb->b, op, x, y, z));
}

static void add_compositions(vt_graph_builder *gb, const uint32_t in[5]) {
  const uint32_t x = in[0], index = in[1], w = in[2], v = in[3], heads = in[4];
  const vt_attr_axis last = {.size = sizeof last, .axis = 1};
  const vt_attr_reduce rows = {.size = sizeof rows, .axes = {.n = 1, .v = {0}}, .keep = 1};
  add_composition_of_1(gb, "relu", VT_OP_relu, x, NULL);
  add_composition_of_1(gb, "silu", VT_OP_silu, x, NULL);
  add_composition_of_1(gb, "gelu", VT_OP_gelu, x, NULL);
  add_composition_of_1(gb, "gelu_tanh", VT_OP_gelu_tanh, x, NULL);
  add_composition_of_1(gb, "mean", VT_OP_mean, x, &rows);
  add_composition_of_1(gb, "softmax", VT_OP_softmax, x, &last);
  add_composition_of_1(gb, "log_softmax", VT_OP_log_softmax, x, &last);
  add_composition_of_3(gb, "layer_norm", VT_OP_layer_norm, x, v, v);
  name_value(gb, "rms_norm", vt_build2(&gb->b, VT_OP_rms_norm, x, v));
  add_composition_of_3(gb, "linear", VT_OP_linear, x, w, v);
  name_value(gb, "embedding", vt_build2(&gb->b, VT_OP_embedding, w, index));
  add_composition_of_3(gb, "attention", VT_OP_attention, heads, heads, heads);
  name_value(gb, "cross_entropy", vt_build2(&gb->b, VT_OP_cross_entropy, x, index));
}

static vt_status build_compositions(vt_alloc a, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  VT_TRY(vt_graph_begin(&gb, "compositions", a, d));
  const uint32_t in[5] = {add_input(&gb, "x", (vt_type){VT_DTYPE_F32, 2, {4, 6}}),
                          add_input(&gb, "index", (vt_type){VT_DTYPE_I64, 1, {4}}),
                          add_param(&gb, "w", "xavier_uniform", (vt_type){VT_DTYPE_F32, 2, {6, 6}}),
                          add_param(&gb, "v", "ones", (vt_type){VT_DTYPE_F32, 1, {6}}),
                          add_input(&gb, "heads", (vt_type){VT_DTYPE_F32, 4, {1, 2, 5, 3}})};
  const uint32_t first = gb.g->n_values;
  add_compositions(&gb, in);
  for (uint32_t i = 0; gb.status == VT_OK && first + i < gb.g->n_values; i++)
    vt_graph_add_result(&gb, gb.g->values[first + i].name, first + i);
  return vt_graph_freeze(&gb, out);
}

static vt_graph *new_composition_graph(void) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(build_compositions(vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) fprintf(stderr, "  %s\n", d.text);
  if (g == NULL) exit(1);
  return g;
}

static uint32_t count_op(const vt_graph *g, uint32_t op) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n_nodes; i++) n += g->nodes[i].op == op;
  return n;
}

static uint32_t count_compositions(const vt_graph *g) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n_nodes; i++) n += !vt_op_get(g->nodes[i].op)->prim;
  return n;
}

/* Checks that both graphs have the same ports and outputs, each with the same name and type. */
static void check_same_interface(const vt_graph *a, const vt_graph *b) {
  CHECK(a->n_ports == b->n_ports && a->n_results == b->n_results);
  for (uint32_t i = 0; i < a->n_ports && i < b->n_ports; i++) {
    CHECK(strcmp(a->ports[i].name, b->ports[i].name) == 0);
    CHECK(a->ports[i].kind == b->ports[i].kind && a->ports[i].init == b->ports[i].init);
    CHECK(vt_type_equal(&a->values[a->ports[i].value].type, &b->values[b->ports[i].value].type));
  }
  for (uint32_t i = 0; i < a->n_results && i < b->n_results; i++) {
    const vt_value *x = &a->values[a->results[i].value], *y = &b->values[b->results[i].value];
    CHECK(strcmp(a->results[i].name, b->results[i].name) == 0);
    CHECK(vt_type_equal(&x->type, &y->type));
    CHECK(y->name != NULL && strcmp(x->name, y->name) == 0); /* values keep their names */
  }
}

static vt_status lower_graph(const vt_graph *g, int (*listed)(const void *, uint32_t),
                             const uint32_t *target, vt_graph **out, vt_diag *d) {
  const vt_pass_options o = {.listed = listed, .target = target, .alloc = vt_alloc_default()};
  *out = NULL;
  return vt_pass_run(VT_PASS_lower, g, &o, out, d);
}

static int is_this_op(const void *target, uint32_t op) { return *(const uint32_t *)target == op; }
static int is_any_op(const void *target, uint32_t op) { return target == NULL && op != 0; }

static void test_lower_decomposes_all(void) {
  vt_graph *g = new_composition_graph(), *out;
  vt_diag d = {0};
  uint32_t comps = 0;
  for (uint32_t i = 0; i < vt_op_total(); i++) comps += !vt_op_at(i)->prim;
  CHECK(count_compositions(g) == g->n_nodes && g->n_nodes <= comps);
  CHECK(lower_graph(g, NULL, NULL, &out, &d) == VT_OK);
  CHECK(count_compositions(out) == 0 && out->n_nodes > g->n_nodes);
  CHECK(vt_graph_verify(out, &d) == VT_OK);
  check_same_interface(g, out);
  vt_graph *again;
  CHECK(lower_graph(out, NULL, NULL, &again, &d) == VT_OK); /* prims do not change */
  const vt_hash256 x = graph_hash(out), y = graph_hash(again);
  CHECK(memcmp(&x, &y, sizeof x) == 0);
  vt_graph_free(again);
  vt_graph_free(out);
  vt_graph_free(g);
}

static void test_lower_keeps_listed_ops(void) {
  vt_graph *g = new_composition_graph(), *out;
  vt_diag d = {0};
  const uint32_t kept[] = {VT_OP_softmax, VT_OP_attention, VT_OP_mean, VT_OP_linear};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    CHECK(lower_graph(g, is_this_op, &kept[i], &out, &d) == VT_OK);
    CHECK(count_op(out, kept[i]) >= 1 && count_compositions(out) == count_op(out, kept[i]));
    check_same_interface(g, out);
    vt_graph_free(out);
  }
  CHECK(lower_graph(g, is_any_op, NULL, &out, &d) == VT_OK); /* no composition is decomposed */
  const vt_hash256 x = graph_hash(g), y = graph_hash(out);
  CHECK(memcmp(&x, &y, sizeof x) == 0);
  vt_graph_free(out);
  vt_graph_free(g);
}

/* Checks which value the last operand of the loop is, into which an lstm without biases is
 * decomposed: its state weight. */
static void expect_state_weight_of_loop(const char *weight, const char *want) {
  char text[500];
  vt_graph *g = NULL, *out = NULL;
  vt_diag d = {0};
  (void)snprintf(text, sizeof text,
                 "volta 1\nmodel m {\n  input x: f32[4, 2, 3]\n  input w: f32[3, 8]\n"
                 "  input u: f32[8, 2]\n  %s\n  y, _, _ = lstm(x, w, t)\n  output y\n}\n",
                 weight);
  CHECK(vt_parse(text, strlen(text), vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) fprintf(stderr, "  %s\n", d.text);
  if (g == NULL) exit(1);
  CHECK(lower_graph(g, NULL, NULL, &out, &d) == VT_OK && count_op(out, VT_OP_loop) == 1);
  if (out == NULL) exit(1);
  for (uint32_t i = 0; i < out->n_nodes; i++) {
    const vt_node *n = &out->nodes[i];
    char name[16];
    if (n->op != VT_OP_loop) continue;
    const uint32_t u = out->operands[n->first_in + n->n_in - 1];
    CHECK(strcmp(vt_value_name(out, u, name), want) == 0);
    /* the body transposes the weight exactly if the loop gets what was transposed */
    CHECK((count_op(n->body[0], VT_OP_transpose) == 1) == (strcmp(want, "u") == 0));
  }
  vt_graph_free(out);
  vt_graph_free(g);
}

/* A transposed state weight is transposed in the body, where it needs no copy. */
static void test_lower_moves_transpose_into_loop(void) {
  expect_state_weight_of_loop("t = transpose(u, perm=[1, 0])", "u");
  expect_state_weight_of_loop("t = reshape(u, shape=[2, 8])", "t");
}

static void test_lower_needs_bound_dims(void) {
  vt_graph *g = new_symbolic_graph(), *out;
  vt_diag d = {0};
  CHECK(lower_graph(g, NULL, NULL, &out, &d) == VT_INTERNAL && out == NULL && d.text[0] != 0);
  vt_graph_free(g);
}

/* ---- initialisers ---- */

static vt_status build_init_graph(const vt_graph *g, vt_graph **out, vt_diag *d) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  return vt_pass_build_init(g, VT_PORT_PARAM, &o, out, d);
}

static void test_init_graph(void) {
  vt_graph *g = new_composition_graph(), *out = NULL;
  vt_diag d = {0};
  CHECK(build_init_graph(g, &out, &d) == VT_OK && out != NULL);
  CHECK(vt_graph_verify(out, &d) == VT_OK && out->n_ports == 2 && out->n_results == 2);
  CHECK(strcmp(out->ports[0].name, "seed") == 0 && strcmp(out->ports[1].name, "step") == 0);
  for (uint32_t i = 0; i < 2; i++) {
    const vt_type *t = &out->values[out->ports[i].value].type;
    CHECK(t->dtype == VT_DTYPE_I64 && t->rank == 0 && out->ports[i].kind == VT_PORT_INPUT);
  }
  CHECK(strcmp(out->results[0].name, "w") == 0 && strcmp(out->results[1].name, "v") == 0);
  CHECK(vt_type_equal(&out->values[out->results[0].value].type, type_of_named_value(g, "w")));
  CHECK(vt_type_equal(&out->values[out->results[1].value].type, type_of_named_value(g, "v")));
  vt_graph_free(out);
  vt_graph_free(g);
}

/* Tests every initialiser of the table, and params named like the inputs of the graph that computes
 * their values. */
static void test_init_graph_of_all_initialisers(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL, *out = NULL;
  vt_diag d = {0};
  CHECK(vt_graph_begin(&gb, "inits", vt_alloc_default(), &d) == VT_OK);
  add_param(&gb, "seed", "zeros", (vt_type){VT_DTYPE_I8, 0, {0}});
  add_param(&gb, "step", "ones", (vt_type){VT_DTYPE_F64, 1, {3}});
  for (uint32_t i = 0; i < vt_init_count(); i++) {
    const char *name = vt_init_at(i)->name;
    add_param(&gb, name, name, (vt_type){VT_DTYPE_F32, 3, {2, 3, 4}});
  }
  vt_graph_add_result(&gb, "y", 0);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  CHECK(build_init_graph(g, &out, &d) == VT_OK && out != NULL);
  CHECK(out->n_results == vt_init_count() + 2);
  for (uint32_t i = 0; i < out->n_results; i++) {
    CHECK(strcmp(out->results[i].name, g->ports[i].name) == 0);
    CHECK(vt_type_equal(&out->values[out->results[i].value].type,
                        &g->values[g->ports[i].value].type));
  }
  vt_graph_free(out);
  vt_graph_free(g);
}

/* Params without an initialiser are left out, wherever they are declared. If no param has one,
 * there is no graph. Passes keep the ports as they are. */
static void test_init_graph_without_some_inits(void) {
  const vt_port bare = {.name = "bare", .kind = VT_PORT_PARAM, .stored = VT_DTYPE_BF16};
  const vt_type scalar = {VT_DTYPE_F32, 0, {0}};
  vt_diag d = {0};
  for (int n = 0; n < 3; n++) { /* n params that have an initialiser */
    vt_graph_builder gb;
    vt_graph *g = NULL, *out = NULL;
    CHECK(vt_graph_begin(&gb, "some", vt_alloc_default(), &d) == VT_OK);
    if (n > 1) add_param(&gb, "before", "ones", scalar);
    const uint32_t value = vt_graph_add_port(&gb, &bare, &scalar);
    if (n > 0) add_param(&gb, "after", "zeros", scalar);
    vt_graph_add_result(&gb, "y", value);
    CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
    CHECK(build_init_graph(g, &out, &d) == VT_OK && (out == NULL) == (n == 0));
    CHECK(out == NULL || out->n_results == (uint32_t)n);
    if (n > 0) CHECK(strcmp(out->results[n - 1].name, "after") == 0);
    vt_graph_free(out);
    for (uint32_t pass = 0; pass < VT_PASS_COUNT; pass++) {
      const vt_pass_options o = {.alloc = vt_alloc_default()};
      out = NULL;
      if (vt_pass_run(pass, g, &o, &out, &d) != VT_OK) fprintf(stderr, "  %s\n", d.text);
      CHECK(out != NULL && out->n_ports == (uint32_t)n + 1);
      const vt_port *p = out == NULL ? &bare : &out->ports[n > 1];
      CHECK(p->init == 0 && p->init_attrs == NULL && p->stored == VT_DTYPE_BF16);
      vt_graph_free(out);
    }
    vt_graph_free(g);
  }
}

static void test_init_graph_without_params(void) {
  vt_graph *g = one_port_graph(VT_DTYPE_F32, 1, 0, 0), *out = g;
  vt_diag d = {0};
  CHECK(build_init_graph(g, &out, &d) == VT_OK && out == NULL && d.code == VT_OK);
  vt_graph_free(g);
}

/* ---- every allocation failing in turn ---- */

typedef vt_status job_fn(const vt_graph *g, vt_alloc a, vt_graph **out, vt_diag *d);

static vt_status bind_with_allocator(const vt_graph *g, vt_alloc a, vt_graph **out, vt_diag *d) {
  static const vt_binding b[] = {{"B", 2}, {"T", 3}};
  return vt_pass_run(VT_PASS_bind, g, &(vt_pass_options){.bind = b, .n_bind = 2, .alloc = a}, out,
                     d);
}
static vt_status lower_with_allocator(const vt_graph *g, vt_alloc a, vt_graph **out, vt_diag *d) {
  return vt_pass_run(VT_PASS_lower, g, &(vt_pass_options){.alloc = a}, out, d);
}
static vt_status init_with_allocator(const vt_graph *g, vt_alloc a, vt_graph **out, vt_diag *d) {
  return vt_pass_build_init(g, VT_PORT_PARAM, &(vt_pass_options){.alloc = a}, out, d);
}

static void fail_each_allocation(job_fn *job, const vt_graph *g) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_graph *out = NULL;
    vt_diag d = {0};
    const vt_status s = job(g, vt_fault_alloc(&fault), &out, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s && (s == VT_OK) == (out != NULL));
    CHECK((s == VT_OK) == (d.text[0] == 0));
    vt_graph_free(out);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
}

static void test_passes_out_of_memory(void) {
  vt_graph *s = new_symbolic_graph(), *c = new_composition_graph();
  fail_each_allocation(bind_with_allocator, s);
  fail_each_allocation(lower_with_allocator, c);
  fail_each_allocation(init_with_allocator, c);
  vt_graph_free(s);
  vt_graph_free(c);
}

int main(void) {
  test_pass_table();
  test_parse_pass_list();
  test_bound_shapes();
  test_wrong_bindings_refused();
  test_hint_names_missing_binding();
  test_bound_sizes_limited();
  test_bound_port_ranges();
  test_bind_without_symbols();
  test_lower_decomposes_all();
  test_lower_keeps_listed_ops();
  test_lower_moves_transpose_into_loop();
  test_lower_needs_bound_dims();
  test_init_graph();
  test_init_graph_of_all_initialisers();
  test_init_graph_without_params();
  test_init_graph_without_some_inits();
  test_passes_out_of_memory();
  TEST_DONE();
}
