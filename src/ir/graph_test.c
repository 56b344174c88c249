/* SPDX-License-Identifier: Apache-2.0
 * graph_test.c - tests how graphs are built, named, frozen, printed and hashed, and that the
 * verifier fails when any single field of a good graph is changed after it was built. The good
 * graph is drawn below. Each function that takes nothing but a vt_graph * and returns nothing
 * plants one fault in it: it changes the graph in place to be invalid in the way that its name
 * says. */
#include <string.h>
#include "vt_graph.h"
#include "vt_test.h"

/* ---- a small good graph ----
 * nodes   0 matmul, 1 add, 2 relu, 3 sum, 4 literal
 * values  0 x, 1 i, 2 w, 3 b (the ports); 4 h, 5 t, 6 y (nodes 0 to 2); 7, unnamed (node 3);
 *         8, unnamed (node 4) */
enum { X, I, W, BIAS, H, T, Y, SUM, HALF, N_VALUES };

static vt_type vector_type(uint32_t dtype, int64_t n) {
  return (vt_type){.dtype = dtype, .rank = 1, .dim = {n}};
}
static vt_type matrix_type(uint32_t dtype, int64_t n, int64_t m) {
  return (vt_type){.dtype = dtype, .rank = 2, .dim = {n, m}};
}

static uint32_t add_input(vt_graph_builder *gb, const char *name, vt_type type) {
  const vt_port p = {.name = name, .kind = VT_PORT_INPUT};
  return vt_graph_add_port(gb, &p, &type);
}

static uint32_t add_param(vt_graph_builder *gb, const char *name, const char *init,
                          const void *attrs, vt_type type) {
  const vt_init_info *info = vt_init_find(init);
  const vt_port p = {.name = name,
                     .kind = VT_PORT_PARAM,
                     .init = info->number,
                     .init_attrs = attrs == NULL ? info->attrs->defaults : attrs};
  return vt_graph_add_port(gb, &p, &type);
}

/* The fields that a variant of the good graph changes; 0 or NULL leaves a field as it is. */
typedef struct variant {
  const char *model, *x, *h, *y_out, *dim;
  uint32_t activation, dtype, keep, stream, half;
  int64_t rows, hi;
  double std;
  uint32_t extra_output;
  uint32_t stored, no_init; /* of the param w: its stored type; 1: it has no initialiser */
} variant;

static const char *text_or_default(const char *s, const char *fallback) {
  return s != NULL ? s : fallback;
}
static uint32_t number_or_default(uint32_t n, uint32_t fallback) { return n != 0 ? n : fallback; }

static void add_ports(vt_graph_builder *gb, const variant *v, int64_t rows) {
  const vt_attr_normal normal = {.size = sizeof normal,
                                 .std = v->std != 0 ? v->std : 0.02,
                                 .stream = number_or_default(v->stream, 7)};
  const vt_type codes = vector_type(VT_DTYPE_I32, rows);
  const vt_port i = {
      .name = "i", .kind = VT_PORT_INPUT, .has_range = 1, .lo = 0, .hi = v->hi != 0 ? v->hi : 3};
  add_input(gb, text_or_default(v->x, "x"), matrix_type(VT_DTYPE_F32, rows, 4));
  vt_graph_add_port(gb, &i, &codes);
  const vt_port w = {.name = "w",
                     .kind = VT_PORT_PARAM,
                     .init = v->no_init ? 0 : vt_init_find("normal")->number,
                     .stored = v->stored,
                     .init_attrs = &normal}; /* dropped if there is no initialiser */
  const vt_type weight = matrix_type(VT_DTYPE_F32, 4, 3);
  vt_graph_add_port(gb, &w, &weight);
  add_param(gb, "b", "zeros", NULL, vector_type(VT_DTYPE_F32, 3));
}

static vt_status build_variant(const variant *v, vt_alloc a, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  int64_t rows = v->rows;
  VT_TRY(vt_graph_begin(&gb, text_or_default(v->model, "good"), a, d));
  if (rows == 0) {
    const vt_status s = vt_dim_declare(&gb.g->dims, text_or_default(v->dim, "B"), &rows, d);
    if (s != VT_OK) (void)vt_graph_fail(&gb, s, "no symbol");
  }
  add_ports(&gb, v, rows);
  const vt_attr_reduce last = {
      .size = sizeof last, .axes = {.n = 1, .v = {1}}, .keep = (int64_t)v->keep};
  const uint32_t y = Y;
  vt_build2(&gb.b, VT_OP_matmul, X, W);
  vt_build2(&gb.b, VT_OP_add, H, BIAS);
  vt_build1(&gb.b, number_or_default(v->activation, VT_OP_relu), T);
  gb.b.node(&gb.b, VT_OP_sum, &y, 1, &last);
  vt_build_bits(&gb.b, number_or_default(v->dtype, VT_DTYPE_F32),
                number_or_default(v->half, 0x3f000000));
  vt_graph_name_value(&gb, H, text_or_default(v->h, "h"));
  vt_graph_name_value(&gb, T, "t");
  vt_graph_name_value(&gb, Y, "y");
  vt_graph_add_result(&gb, text_or_default(v->y_out, "y"), Y);
  vt_graph_add_result(&gb, "s", SUM);
  if (v->extra_output) vt_graph_add_result(&gb, "t", T);
  return vt_graph_freeze(&gb, out);
}

static vt_graph *good_graph(void) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(build_variant(&(variant){0}, vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) exit(1); /* every test needs the graph */
  return g;
}

static void test_good_graph_verifies(void) {
  static const char *const names[N_VALUES] = {"x", "i", "w", "b", "h", "t", "y", "_3", "_4"};
  vt_graph *g = good_graph();
  vt_diag d = {0};
  CHECK(vt_graph_verify(g, &d) == VT_OK);
  CHECK(d.code == VT_OK);
  CHECK(g->n_values == N_VALUES && g->n_nodes == 5 && g->n_ports == 4 && g->n_results == 2);
  for (uint32_t v = 0; v < N_VALUES; v++) {
    char name[16];
    CHECK(strcmp(vt_value_name(g, v, name), names[v]) == 0);
  }
  CHECK(g->values[Y].type.rank == 2 && g->values[Y].type.dim[1] == 3);
  /* both dimensions are the symbol B */
  CHECK(g->values[Y].type.dim[0] == g->values[X].type.dim[0]);
  vt_graph_free(g);
}

static void test_printed_text(void) {
  static const char want[] =
      "volta 1\n"
      "model good {\n"
      "  dim B\n"
      "  input x: f32[B, 4]\n"
      "  input i: i32[B] in 0..3\n"
      "  param w: f32[4, 3] = normal(std=0.02, stream=7)\n"
      "  param b: f32[3] = zeros\n"
      "  h: f32[B, 3] = matmul(x, w, transpose_a=false, transpose_b=false, order=fma256)\n"
      "  t: f32[B, 3] = add(h, b)\n"
      "  y: f32[B, 3] = relu(t)\n"
      "  _3: f32[B] = sum(y, axes=[1], keep=false)\n"
      "  _4: f32[] = f32(0.5)\n"
      "  output y\n"
      "  output s = _3\n"
      "}\n";
  vt_graph *g = good_graph();
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 0, &t);
  CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0);
  if (t.s != NULL && strcmp(t.s, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
  vt_graph_free(g);
}

/* ---- faults: each function changes one thing, which the verifier must find ---- */

static void operand_beyond_values(vt_graph *g) { g->operands[0] = g->n_values; }
static void operand_is_itself(vt_graph *g) { g->operands[g->nodes[2].first_in] = Y; }
static void operand_is_later(vt_graph *g) { g->operands[g->nodes[1].first_in] = Y; }
static void first_in_beyond_operands(vt_graph *g) { g->nodes[0].first_in = g->n_operands + 1; }
static void n_in_beyond_operands(vt_graph *g) { g->nodes[3].n_in = g->n_operands; }
static void node_lacks_operand(vt_graph *g) { g->nodes[1].n_in = 1; }
static void node_has_two_results(vt_graph *g) { g->nodes[0].n_out = 2; }
static void node_has_no_result(vt_graph *g) { g->nodes[0].n_out = 0; }
static void first_out_beyond_values(vt_graph *g) { g->nodes[0].first_out = g->n_values; }
static void node_claims_result_of_another(vt_graph *g) { g->nodes[0].first_out = T; }
static void value_names_another_node(vt_graph *g) { g->values[T].node = 0; }
static void value_names_missing_node(vt_graph *g) { g->values[SUM].node = 99; }
static void result_is_marked_as_port(vt_graph *g) { g->values[H].node = VT_NO_NODE; }
static void result_index_is_one(vt_graph *g) { g->values[H].index = 1; }
static void port_value_names_a_node(vt_graph *g) { g->values[X].node = 0; }
/* after that, node 1 reads a value that no node writes */
static void operand_of_removed_node(vt_graph *g) {
  g->values[HALF].node = 0;
  g->values[HALF].type = g->values[H].type;
  g->operands[g->nodes[1].first_in] = HALF;
  g->n_nodes--;
}
static void last_port_removed(vt_graph *g) { g->n_ports--; }

static void result_dtype_changed(vt_graph *g) { g->values[H].type.dtype = VT_DTYPE_F64; }
static void result_shape_changed(vt_graph *g) { g->values[T].type.dim[1] = 4; }
static void result_rank_changed(vt_graph *g) { g->values[SUM].type.rank = 0; }
static void port_shape_changed(vt_graph *g) { g->values[W].type.dim[0] = 5; }
static void port_dtype_is_zero(vt_graph *g) { g->values[X].type.dtype = 0; }
/* the port has no range and no node reads it, so that only its dtype is wrong */
static void port_dtype_unknown(vt_graph *g) {
  g->ports[1].has_range = 0;
  g->values[I].type.dtype = 99;
}
static void result_dtype_is_zero(vt_graph *g) { g->values[HALF].type.dtype = 0; }
static void port_rank_nine(vt_graph *g) { g->values[I].type.rank = 9; }
static void result_rank_nine(vt_graph *g) { g->values[T].type.rank = 9; }
static void port_dim_negative(vt_graph *g) { g->values[I].type.dim[0] = -1; }
static void port_dim_huge(vt_graph *g) { g->values[I].type.dim[0] = VT_DIM_MAX + 1; }
static void port_dim_unknown_symbol(vt_graph *g) { g->values[I].type.dim[0] = INT64_MIN + 77; }

static void op_is_zero(vt_graph *g) { g->nodes[1].op = 0; }
static void op_unknown(vt_graph *g) { g->nodes[1].op = 999; }
static void op_refuses_operand_dtype(vt_graph *g) { g->nodes[2].op = VT_OP_not; }
static void attrs_are_null(vt_graph *g) { g->nodes[3].attrs = NULL; }
static void attrs_of_another_op(vt_graph *g) { g->nodes[3].attrs = g->nodes[2].attrs; }
static vt_attr_reduce *writable_sum_attrs(vt_graph *g) {
  static vt_attr_reduce a;
  memcpy(&a, g->nodes[3].attrs, sizeof a);
  g->nodes[3].attrs = &a;
  return &a;
}
static void attrs_size_too_small(vt_graph *g) { writable_sum_attrs(g)->size = 8; }
static void attrs_size_too_large(vt_graph *g) { writable_sum_attrs(g)->size += 8; }
static void axis_beyond_rank(vt_graph *g) { writable_sum_attrs(g)->axes.v[0] = 2; }
static void axis_negative(vt_graph *g) { writable_sum_attrs(g)->axes.v[0] = -1; }
static void axes_too_many(vt_graph *g) { writable_sum_attrs(g)->axes.n = 9; }
static void axes_count_negative(vt_graph *g) { writable_sum_attrs(g)->axes.n = -1; }
static void axes_contradict_type(vt_graph *g) { writable_sum_attrs(g)->axes.v[0] = 0; }
static void keep_contradicts_type(vt_graph *g) { writable_sum_attrs(g)->keep = 1; }

static void port_kind_is_zero(vt_graph *g) { g->ports[0].kind = 0; }
static void port_kind_output(vt_graph *g) { g->ports[0].kind = VT_PORT_OUTPUT; }
static void port_value_beyond_values(vt_graph *g) { g->ports[0].value = g->n_values; }
static void port_has_value_of_another_port(vt_graph *g) { g->ports[0].value = I; }
static void port_has_value_of_node(vt_graph *g) { g->ports[0].value = H; }
static void port_index_wrong(vt_graph *g) { g->values[X].index = 1; }
static void port_value_unnamed(vt_graph *g) { g->values[X].name = NULL; }
static void port_name_differs_from_value(vt_graph *g) { g->ports[0].name = "z"; }
static void param_init_missing(vt_graph *g) { g->ports[2].init = 0; }
static void param_attrs_without_init(vt_graph *g) {
  g->ports[3].init = 0;
  g->ports[3].init_attrs = g->ports[2].init_attrs;
}
static void param_stored_as_own_type(vt_graph *g) { g->ports[2].stored = VT_DTYPE_F32; }
static void param_stored_as_integer(vt_graph *g) { g->ports[2].stored = VT_DTYPE_I8; }
static void param_stored_as_no_type(vt_graph *g) { g->ports[2].stored = 99; }
static void input_stored(vt_graph *g) { g->ports[0].stored = VT_DTYPE_F16; }
/* No node reads the param after that, so that only its stored type is wrong. */
static void integer_param_stored(vt_graph *g) {
  g->operands[g->nodes[1].first_in + 1] = H;
  g->values[BIAS].type.dtype = VT_DTYPE_I32;
  g->ports[3].stored = VT_DTYPE_F16;
}
static void param_init_unknown(vt_graph *g) { g->ports[2].init = 99; }
static void param_init_attrs_missing(vt_graph *g) { g->ports[2].init_attrs = NULL; }
/* No node reads the param after that, so that only its initialiser is wrong. */
static void random_init_of_integer_param(vt_graph *g) {
  g->operands[g->nodes[1].first_in + 1] = H;
  g->values[BIAS].type.dtype = VT_DTYPE_I32;
  g->ports[3].init = vt_init_find("normal")->number;
  g->ports[3].init_attrs = g->ports[2].init_attrs;
}
static vt_attr_normal *writable_init_attrs(vt_graph *g) {
  static vt_attr_normal a;
  memcpy(&a, g->ports[2].init_attrs, sizeof a);
  g->ports[2].init_attrs = &a;
  return &a;
}
static void init_stream_negative(vt_graph *g) { writable_init_attrs(g)->stream = -1; }
static void init_stream_huge(vt_graph *g) {
  writable_init_attrs(g)->stream = (int64_t)UINT32_MAX + 1;
}
static void init_attrs_size_too_small(vt_graph *g) { writable_init_attrs(g)->size = 8; }
static void range_empty(vt_graph *g) { g->ports[1].lo = 4; }
static void range_beyond_dtype(vt_graph *g) { g->ports[1].hi = (int64_t)1 << 31; }
static void range_on_float_port(vt_graph *g) { g->ports[0].has_range = 1; }
static void range_on_float_param(vt_graph *g) { g->ports[2].has_range = 1; }
static void range_on_integer_param(vt_graph *g) {
  g->values[BIAS].type.dtype = VT_DTYPE_I32;
  g->ports[3].has_range = 1;
}

static void output_beyond_values(vt_graph *g) { g->results[1].value = g->n_values; }
static void output_without_value(vt_graph *g) { g->results[0].value = VT_NO_VALUE; }
static void output_name_twice(vt_graph *g) { g->results[1].name = "y"; }
static void graph_without_outputs(vt_graph *g) { g->n_results = 0; }
static void two_values_have_one_name(vt_graph *g) { g->values[H].name = "t"; }
static void value_has_name_of_port(vt_graph *g) { g->values[H].name = "x"; }

typedef void corrupt_fn(vt_graph *g);
#define FAULT(f) \
  { #f, f }
static const struct {
  const char *name;
  corrupt_fn *corrupt;
} faults[] = {
    FAULT(operand_beyond_values),
    FAULT(operand_is_itself),
    FAULT(operand_is_later),
    FAULT(first_in_beyond_operands),
    FAULT(n_in_beyond_operands),
    FAULT(node_lacks_operand),
    FAULT(node_has_two_results),
    FAULT(node_has_no_result),
    FAULT(first_out_beyond_values),
    FAULT(node_claims_result_of_another),
    FAULT(value_names_another_node),
    FAULT(value_names_missing_node),
    FAULT(result_is_marked_as_port),
    FAULT(result_index_is_one),
    FAULT(port_value_names_a_node),
    FAULT(operand_of_removed_node),
    FAULT(last_port_removed),
    FAULT(result_dtype_changed),
    FAULT(result_shape_changed),
    FAULT(result_rank_changed),
    FAULT(port_shape_changed),
    FAULT(port_dtype_is_zero),
    FAULT(port_dtype_unknown),
    FAULT(result_dtype_is_zero),
    FAULT(port_rank_nine),
    FAULT(result_rank_nine),
    FAULT(port_dim_negative),
    FAULT(port_dim_huge),
    FAULT(port_dim_unknown_symbol),
    FAULT(op_is_zero),
    FAULT(op_unknown),
    FAULT(op_refuses_operand_dtype),
    FAULT(attrs_are_null),
    FAULT(attrs_of_another_op),
    FAULT(attrs_size_too_small),
    FAULT(attrs_size_too_large),
    FAULT(axis_beyond_rank),
    FAULT(axis_negative),
    FAULT(axes_too_many),
    FAULT(axes_count_negative),
    FAULT(axes_contradict_type),
    FAULT(keep_contradicts_type),
    FAULT(port_kind_is_zero),
    FAULT(port_kind_output),
    FAULT(port_value_beyond_values),
    FAULT(port_has_value_of_another_port),
    FAULT(port_has_value_of_node),
    FAULT(port_index_wrong),
    FAULT(port_value_unnamed),
    FAULT(port_name_differs_from_value),
    FAULT(param_init_missing),
    FAULT(param_attrs_without_init),
    FAULT(param_stored_as_own_type),
    FAULT(param_stored_as_integer),
    FAULT(param_stored_as_no_type),
    FAULT(input_stored),
    FAULT(integer_param_stored),
    FAULT(param_init_unknown),
    FAULT(param_init_attrs_missing),
    FAULT(random_init_of_integer_param),
    FAULT(init_stream_negative),
    FAULT(init_stream_huge),
    FAULT(init_attrs_size_too_small),
    FAULT(range_empty),
    FAULT(range_beyond_dtype),
    FAULT(range_on_float_port),
    FAULT(range_on_float_param),
    FAULT(range_on_integer_param),
    FAULT(output_beyond_values),
    FAULT(output_without_value),
    FAULT(output_name_twice),
    FAULT(graph_without_outputs),
    FAULT(two_values_have_one_name),
    FAULT(value_has_name_of_port),
};

static void test_verify_finds_each_fault(void) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    vt_graph *g = good_graph();
    vt_diag d = {0};
    faults[i].corrupt(g);
    const vt_status s = vt_graph_verify(g, &d);
    CHECK(s == VT_VERIFY && d.code == VT_VERIFY && d.text[0] != 0);
    if (s != VT_VERIFY) fprintf(stderr, "  %s gives %s\n", faults[i].name, vt_status_name(s));
    CHECK(vt_graph_verify(g, NULL) == s);
    vt_graph_free(g);
  }
}

/* ---- a graph with bodies: cond(p, x, x) whose two bodies both give neg(a), exp(neg(a)) ---- */

static vt_status build_graph_with_cond(vt_graph **out, uint32_t group_in_body) {
  vt_graph_builder gb;
  vt_diag d = {0};
  const vt_type x = vector_type(VT_DTYPE_F32, 4), p = {.dtype = VT_DTYPE_BOOL};
  const vt_attr_cond attrs = {.size = sizeof attrs, .first = 1};
  CHECK(vt_graph_begin(&gb, "cond", vt_alloc_default(), &d) == VT_OK);
  const uint32_t in[] = {add_input(&gb, "p", p), add_input(&gb, "x", x), 1};
  for (int i = 0; i < 2; i++) {
    vt_builder *body = gb.b.open(&gb.b, &x, 1);
    const uint32_t a = vt_build1(body, VT_OP_neg, 0);
    if (i == 1) ((vt_graph_builder *)body->self)->group = group_in_body;
    const uint32_t both[] = {a, vt_build1(body, VT_OP_exp, a)};
    gb.b.close(body, both, 2);
  }
  const uint32_t y = gb.b.node(&gb.b, VT_OP_cond, in, 3, &attrs);
  vt_graph_add_result(&gb, "y", y);
  vt_graph_add_result(&gb, "z", y + 1);
  return vt_graph_freeze(&gb, out);
}

static vt_graph *second_body_of_cond(vt_graph *g) { return g->nodes[0].body[1]; }

static void body_operand_is_later(vt_graph *g) { second_body_of_cond(g)->operands[0] = 2; }
static void body_type_changed(vt_graph *g) { second_body_of_cond(g)->values[1].type.dim[0] = 5; }
static void body_op_changed(vt_graph *g) { second_body_of_cond(g)->nodes[1].op = VT_OP_matmul; }
static void body_result_beyond_values(vt_graph *g) { second_body_of_cond(g)->results[1].value = 3; }
static void body_without_results(vt_graph *g) { second_body_of_cond(g)->n_results = 0; }
static void body_result_twice(vt_graph *g) { second_body_of_cond(g)->results[1].value = 1; }
static void body_result_is_argument(vt_graph *g) { second_body_of_cond(g)->results[1].value = 0; }
static void body_name_twice(vt_graph *g) { second_body_of_cond(g)->values[1].name = "a0"; }
static void body_has_param(vt_graph *g) { second_body_of_cond(g)->ports[0].kind = VT_PORT_PARAM; }
static void body_has_symbol(vt_graph *g) { second_body_of_cond(g)->dims.n_symbols = 1; }

/* Verifying a graph verifies its bodies. */
static void test_verify_finds_faults_of_bodies(void) {
  static corrupt_fn *const all[] = {
      body_operand_is_later,   body_type_changed, body_op_changed, body_result_beyond_values,
      body_without_results,    body_result_twice, body_name_twice, body_has_param,
      body_result_is_argument, body_has_symbol};
  vt_graph *g = NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    CHECK(build_graph_with_cond(&g, 0) == VT_OK && vt_graph_verify(g, NULL) == VT_OK);
    all[i](g);
    CHECK(vt_graph_verify(g, NULL) != VT_OK);
    if (vt_graph_verify(g, NULL) == VT_OK) fprintf(stderr, "  fault %zu of a body\n", i);
    vt_graph_free(g);
  }
  g = NULL;
  /* refused: the graph has a group 2 but no group 1 */
  CHECK(build_graph_with_cond(&g, 2) == VT_VERIFY && g == NULL);
}

/* ---- the hash ---- */

static vt_hash256 hash_of_variant(const variant *v) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  vt_hash256 h = {{0}};
  CHECK(build_variant(v, vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) fprintf(stderr, "  %s\n", d.text);
  if (g != NULL) CHECK(vt_graph_hash(g, &h) == VT_OK);
  vt_graph_free(g);
  return h;
}

static void test_hash_depends_on_fields(void) {
  static const variant other[] = {
      {.model = "other"},
      {.x = "z"},
      {.y_out = "z"},
      {.dim = "N"},
      {.activation = VT_OP_silu},
      {.dtype = VT_DTYPE_I32},
      {.keep = 1},
      {.stream = 8},
      {.half = 0x3f000001},
      {.rows = 4},
      {.hi = 4},
      {.std = 0.03},
      {.extra_output = 1},
      {.activation = VT_OP_neg},
      {.stored = VT_DTYPE_F16},
      {.stored = VT_DTYPE_BF16},
      {.no_init = 1},
      {.no_init = 1, .stored = VT_DTYPE_F64},
  };
  enum { N = sizeof other / sizeof *other };
  vt_hash256 all[N + 1];
  all[N] = hash_of_variant(&(variant){0});
  for (size_t i = 0; i < N; i++) {
    all[i] = hash_of_variant(&other[i]);
    for (size_t k = 0; k < i; k++) CHECK(memcmp(&all[i], &all[k], sizeof all[i]) != 0);
    CHECK(memcmp(&all[i], &all[N], sizeof all[i]) != 0);
    if (memcmp(&all[i], &all[N], sizeof all[i]) == 0) fprintf(stderr, "  variant %zu\n", i);
  }
  const vt_hash256 renamed = hash_of_variant(&(variant){.h = "quite_another_name"});
  CHECK(memcmp(&renamed, &all[N], sizeof renamed) == 0);
}

/* ---- names ---- */

typedef struct fixture {
  vt_graph_builder gb;
  vt_diag d;
} fixture;

static void begin_graph_with_input_x(fixture *f) {
  memset(f, 0, sizeof *f);
  CHECK(vt_graph_begin(&f->gb, "names", vt_alloc_default(), &f->d) == VT_OK);
  CHECK(add_input(&f->gb, "x", vector_type(VT_DTYPE_F32, 4)) == 0);
}

static const char *printed_value_name(fixture *f, uint32_t value) {
  static char buffer[16];
  return vt_value_name(f->gb.g, value, buffer);
}

static void test_value_names_made_unique(void) {
  fixture f;
  begin_graph_with_input_x(&f);
  const uint32_t a = vt_build1(&f.gb.b, VT_OP_neg, 0), b = vt_build1(&f.gb.b, VT_OP_neg, 0);
  const uint32_t c = vt_build1(&f.gb.b, VT_OP_neg, 0), e = vt_build1(&f.gb.b, VT_OP_neg, 0);
  vt_graph_name_value(&f.gb, a, "x"); /* the port is already called x */
  vt_graph_name_value(&f.gb, b, "x");
  vt_graph_name_value(&f.gb, c, "x.1"); /* a is already called x.1, so c gets a suffix */
  CHECK(strcmp(printed_value_name(&f, a), "x.1") == 0);
  CHECK(strcmp(printed_value_name(&f, b), "x.2") == 0);
  CHECK(strcmp(printed_value_name(&f, c), "x.1.1") == 0);
  vt_graph_name_value(&f.gb, b, "later"); /* b keeps its first name */
  CHECK(strcmp(printed_value_name(&f, b), "x.2") == 0);
  CHECK(strcmp(printed_value_name(&f, e), "_3") == 0);
  /* `_3` is how e is printed without a name, so e stays unnamed */
  vt_graph_name_value(&f.gb, e, "_3");
  CHECK(f.gb.g->values[e].name == NULL);
  /* `_0` is how another value is printed, so e gets a suffix */
  vt_graph_name_value(&f.gb, e, "_0");
  CHECK(strcmp(printed_value_name(&f, e), "_0.1") == 0);
  vt_graph_name_value(&f.gb, 999, "missing"); /* value 999 does not exist, so nothing happens */
  CHECK(f.gb.status == VT_OK);
  vt_graph_drop(&f.gb);
}

/* Adds more names than the builder's set of names has slots at first, so that the set grows. All
 * names must stay distinct. */
static void test_many_names_stay_distinct(void) {
  fixture f;
  begin_graph_with_input_x(&f);
  enum { N = 1000 };
  for (uint32_t i = 0; i < N; i++) {
    char name[16];
    snprintf(name, sizeof name, "v%u", i % 500);
    vt_graph_name_value(&f.gb, vt_build1(&f.gb.b, VT_OP_neg, 0), name);
  }
  CHECK(strcmp(printed_value_name(&f, 1), "v0") == 0);
  CHECK(strcmp(printed_value_name(&f, 501), "v0.1") == 0);
  CHECK(strcmp(printed_value_name(&f, 1000), "v499.1") == 0);
  vt_graph_add_result(&f.gb, "y", 1);
  vt_graph *g = NULL;
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_OK); /* the verifier checks that names are unique */
  vt_graph_free(g);
}

/* ---- memory ---- */

/* An allocator that stores the size of each allocation in front of it, and checks that the size
 * which the graph passes when it resizes or frees the memory is the same. */
static void *resize_and_check_old_size(void *user, void *p, size_t old_size, size_t new_size) {
  size_t *held = p == NULL ? NULL : (size_t *)p - 2;
  CHECK((held == NULL ? 0 : *held) == old_size);
  *(size_t *)user += new_size - old_size;
  if (new_size == 0) {
    free(held);
    return NULL;
  }
  size_t *made = realloc(held, new_size + 2 * sizeof *made);
  if (made == NULL) exit(1);
  *made = new_size;
  return made + 2;
}

/* A frozen graph keeps no memory that only building needs. Freeing the graph frees everything. */
static void test_frozen_graph_keeps_no_scratch(void) {
  enum { N = 5000 };
  size_t bytes = 0;
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {0};
  const vt_alloc a = {&bytes, resize_and_check_old_size};
  for (int frozen = 0; frozen < 2; frozen++) {
    CHECK(vt_graph_begin(&gb, "sizes", a, &d) == VT_OK);
    uint32_t x = add_input(&gb, "x", vector_type(VT_DTYPE_F32, 4));
    for (uint32_t i = 0; i < N; i++) x = vt_build2(&gb.b, VT_OP_add, x, x);
    vt_graph_add_result(&gb, "y", x);
    if (!frozen) vt_graph_drop(&gb);
    if (frozen) CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
    CHECK(frozen || bytes == 0);
  }
  const size_t least = N * (sizeof(vt_value) + sizeof(vt_node) + 2 * sizeof(uint32_t));
  /* the rest are attributes and the arena's last block */
  CHECK(bytes > least && bytes < least + 64 * N);
  vt_graph_free(g);
  CHECK(bytes == 0);
}

/* ---- failures of the builder ---- */

static void test_wrong_port_names_refused(void) {
  fixture f;
  begin_graph_with_input_x(&f);
  CHECK(add_input(&f.gb, "x", vector_type(VT_DTYPE_F32, 1)) == VT_NO_VALUE);
  CHECK(f.gb.status == VT_VERIFY && strstr(f.d.text, "'x'") != NULL);
  vt_graph_drop(&f.gb);
  begin_graph_with_input_x(&f);
  CHECK(add_input(&f.gb, "_12", vector_type(VT_DTYPE_F32, 1)) == VT_NO_VALUE);
  CHECK(f.gb.status == VT_VERIFY && strstr(f.d.text, "'_12'") != NULL);
  vt_graph_drop(&f.gb);
}

static void test_first_failure_stays(void) {
  fixture f;
  vt_graph *g = NULL;
  begin_graph_with_input_x(&f);
  const uint32_t i = add_input(&f.gb, "i", vector_type(VT_DTYPE_I32, 4));
  f.gb.line = 12;
  f.gb.column = 3;
  f.gb.label = "mix";
  CHECK(vt_build2(&f.gb.b, VT_OP_add, 0, i) == VT_NO_VALUE); /* f32 + i32 */
  CHECK(f.gb.status == VT_VERIFY && f.d.line == 12 && f.d.column == 3);
  CHECK(strncmp(f.d.text, "'mix' = add: ", 13) == 0);
  const uint32_t nodes = f.gb.g->n_nodes, ports = f.gb.g->n_ports;
  /* the node is valid, but an earlier call failed */
  CHECK(vt_build1(&f.gb.b, VT_OP_neg, 0) == VT_NO_VALUE);
  CHECK(add_input(&f.gb, "z", vector_type(VT_DTYPE_F32, 1)) == VT_NO_VALUE);
  vt_graph_add_result(&f.gb, "y", 0);
  CHECK(f.gb.g->n_nodes == nodes && f.gb.g->n_ports == ports && f.gb.g->n_results == 0);
  CHECK(vt_graph_fail(&f.gb, VT_LIMIT, "second") == VT_VERIFY); /* the first failure stays */
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_VERIFY && g == NULL && f.gb.g == NULL);
}

static void test_wrong_ops_and_operands_refused(void) {
  fixture f;
  begin_graph_with_input_x(&f);
  CHECK(vt_build1(&f.gb.b, 999, 0) == VT_NO_VALUE); /* op 999 does not exist */
  CHECK(f.gb.status == VT_INTERNAL);
  vt_graph_drop(&f.gb);
  begin_graph_with_input_x(&f);
  CHECK(vt_build1(&f.gb.b, VT_OP_neg, 7) == VT_NO_VALUE); /* value 7 does not exist */
  CHECK(f.gb.status == VT_INTERNAL);
  CHECK(f.gb.b.type(&f.gb.b, 7) == NULL && f.gb.b.type(&f.gb.b, 0)->rank == 1);
  vt_graph_drop(&f.gb);
  begin_graph_with_input_x(&f);
  CHECK(vt_build2(&f.gb.b, VT_OP_neg, 0, 0) == VT_NO_VALUE); /* neg has one operand too many */
  CHECK(f.gb.status == VT_VERIFY && strncmp(f.d.text, "neg: ", 5) == 0);
  vt_graph_drop(&f.gb);
}

static void test_which_outputs_are_accepted(void) {
  fixture f;
  vt_graph *g = NULL;
  begin_graph_with_input_x(&f);
  vt_graph_add_result(&f.gb, "y", 0);
  vt_graph_add_result(&f.gb, "y", 0);
  CHECK(f.gb.status == VT_VERIFY && strstr(f.d.text, "'y'") != NULL);
  vt_graph_drop(&f.gb);
  /* A graph without an output is refused. */
  begin_graph_with_input_x(&f);
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_VERIFY && g == NULL);
  begin_graph_with_input_x(&f); /* an input may be an output, twice under different names */
  vt_graph_add_result(&f.gb, "y", 0);
  vt_graph_add_result(&f.gb, "x", 0);
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_OK && g != NULL);
  vt_graph_free(g);
  /* An output that is not a value is found when the graph is frozen. */
  begin_graph_with_input_x(&f);
  vt_graph_add_result(&f.gb, "y", 99);
  g = NULL;
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_VERIFY && g == NULL);
}

/* The builder copies names and attributes, so the caller may overwrite its own copies. */
static void test_names_and_attrs_are_copied(void) {
  fixture f;
  char name[] = "w", label[] = "y";
  vt_attr_fill fill = {.size = sizeof fill, .value = 2.5};
  vt_graph *g = NULL;
  begin_graph_with_input_x(&f);
  const uint32_t w = add_param(&f.gb, name, "constant", &fill, vector_type(VT_DTYPE_F32, 4));
  const uint32_t y = vt_build2(&f.gb.b, VT_OP_add, 0, w);
  vt_graph_name_value(&f.gb, y, label);
  vt_graph_add_result(&f.gb, label, y);
  fill.value = 0;
  name[0] = label[0] = '!';
  CHECK(vt_graph_freeze(&f.gb, &g) == VT_OK);
  CHECK(strcmp(g->ports[1].name, "w") == 0 && strcmp(g->values[y].name, "y") == 0);
  CHECK(strcmp(g->results[0].name, "y") == 0);
  CHECK(((const vt_attr_fill *)g->ports[1].init_attrs)->value == 2.5);
  vt_graph_free(g);
  vt_graph_free(NULL);
}

/* Each allocation fails in turn: building must return VT_NOMEM and leak nothing. */
static void test_build_out_of_memory(void) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_graph *g = NULL;
    vt_diag d = {0};
    const vt_status s = build_variant(&(variant){0}, vt_fault_alloc(&fault), &g, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s);
    CHECK((s == VT_OK) == (d.text[0] == 0));
    vt_graph_free(g);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
}

int main(void) {
  test_frozen_graph_keeps_no_scratch();
  test_good_graph_verifies();
  test_printed_text();
  test_verify_finds_each_fault();
  test_verify_finds_faults_of_bodies();
  test_hash_depends_on_fields();
  test_value_names_made_unique();
  test_many_names_stay_distinct();
  test_wrong_port_names_refused();
  test_first_failure_stays();
  test_wrong_ops_and_operands_refused();
  test_which_outputs_are_accepted();
  test_names_and_attrs_are_copied();
  test_build_out_of_memory();
  TEST_DONE();
}
