/* SPDX-License-Identifier: Apache-2.0
 * plan_state_test.c - checks how states are planned: their places, which next values are written in
 * place, the order of the steps that write them, safe stores, and the graphs that are refused. Then
 * it damages plans in ways that keep their parts in agreement; the verifiers must refuse them. */
#include <string.h>
#include "verify_test.h"
#include "vt_layout.h"

static const vt_type square = {VT_DTYPE_F32, 2, {16, 16}};

static uint32_t add_cumsum_node(vt_builder *b, uint32_t x) {
  const vt_attr_cumsum down = {.size = sizeof down, .axis = 0};
  return b->node(b, VT_OP_cumsum, &x, 1, &down);
}

/* A graph with the input x, the param w and the state k, all of type f32[16, 16]. */
enum { X, W, K };
static void begin_square(vt_graph_builder *gb) {
  begin_graph(gb, "square");
  add_port(gb, "x", VT_PORT_INPUT, square);
  add_port(gb, "w", VT_PORT_PARAM, square);
  add_port(gb, "k", VT_PORT_STATE, square);
}

static void free_plan_and_graph(vt_plan *p, vt_graph *g) {
  vt_plan_free(p);
  vt_graph_free(g);
}

static void check_buffer(const vt_plan *p, uint32_t value, uint32_t place, uint32_t of,
                         uint32_t class, uint32_t first, uint32_t last, uint64_t offset) {
  const vt_buffer *b = &p->buffers[value];
  const int same = b->place == place && b->of == of && b->class == class && b->first == first &&
                   b->last == last && b->offset == offset;
  CHECK(same);
  if (!same)
    fprintf(stderr, "  value %u: place %u of %u class %u steps %u..%u +%llu\n", value, b->place,
            b->of, b->class, b->first, b->last, (unsigned long long)b->offset);
}

/* ---- places ---- */

/* States follow each other in the order of declaration, in the arena STATE. `a` is written in
 * place, `b` is stored, because it is read later; `c` does not change. */
static void test_places_of_states(void) {
  vt_graph_builder gb;
  const vt_type odd = {VT_DTYPE_F32, 1, {100}};
  begin_graph(&gb, "places");
  const uint32_t b = add_port(&gb, "b", VT_PORT_STATE, odd);
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, odd);
  const uint32_t c = add_port(&gb, "c", VT_PORT_STATE, (vt_type){VT_DTYPE_I64, 0, {0}});
  const uint32_t a = add_port(&gb, "a", VT_PORT_STATE, odd);
  const uint32_t next_a = vt_build2(&gb.b, VT_OP_add, a, x);
  const uint32_t next_b = vt_build2(&gb.b, VT_OP_mul, b, x);
  const uint32_t y = vt_build2(&gb.b, VT_OP_add, b, next_a);
  vt_graph_add_result(&gb, "y", y);
  vt_graph_add_result(&gb, "c", c);
  vt_graph_set_next(&gb, c, c);
  add_store_node(&gb, b, next_b);
  add_store_node(&gb, a, next_a);
  const uint32_t store_b = y + 1, store_a = y + 2;
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const uint32_t n = p->n_steps, state = VT_CLASS_MODEL_STATE, none = VT_NO_VALUE;
  CHECK(n == 4 && p->class_bytes[state] == 512 + 256 + 512 && p->class_bytes[VT_CLASS_STATE] == 0);
  CHECK(vt_plan_arena_bytes(p, VT_CLASS_STATE) == 1280 && vt_plan_arena_bytes(p, state) == 0);
  CHECK(vt_class_arena(state) == VT_CLASS_STATE && vt_class_is_on_device(state));
  check_buffer(p, b, VT_PLACE_OWN, none, state, 0, 2, 0);
  check_buffer(p, c, VT_PLACE_OWN, none, state, 0, n, 512);
  check_buffer(p, a, VT_PLACE_OWN, none, state, 0, 0, 768);
  check_buffer(p, next_a, VT_PLACE_OVER, a, state, 0, n, 768);
  CHECK(p->buffers[next_b].place == VT_PLACE_OWN && p->buffers[next_b].class == VT_CLASS_TEMP);
  check_buffer(p, store_b, VT_PLACE_OVER, b, state, 3, n, 0);
  check_buffer(p, store_a, VT_PLACE_VIEW, next_a, state, 0, n, 768);
  CHECK(p->step_node[3] == g->values[store_b].node && p->bk_steps[3].op == VT_OP_reshape);
  CHECK(p->bk_steps[3].out[0].arena == VT_CLASS_STATE && p->bk_steps[3].out[0].offset == 0);
  CHECK(p->bk_steps[0].in[0].arena == VT_CLASS_STATE && p->bk_steps[0].out[0].offset == 768);
  /* x is copied in; y and the unchanged state c are copied out. No state is copied for a run. */
  CHECK(p->n_transfers == 3 && p->transfers[2].value == c && p->transfers[2].class == state);
  CHECK(vt_plan_peak_bytes(p) == 1280 + 512 + vt_plan_arena_bytes(p, VT_CLASS_TEMP));
  free_plan_and_graph(p, g);
}

/* A state that no step reads, and one whose next value is computed by the first step. */
static void test_state_that_is_not_read(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t v = vt_build2(&gb.b, VT_OP_add, X, W), y = vt_build1(&gb.b, VT_OP_neg, v);
  vt_graph_add_result(&gb, "y", y);
  add_store_node(&gb, K, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  check_buffer(p, K, VT_PLACE_OWN, VT_NO_VALUE, VT_CLASS_MODEL_STATE, 0, 0, 0);
  check_buffer(p, v, VT_PLACE_OVER, K, VT_CLASS_MODEL_STATE, 0, 2, 0);
  CHECK(p->n_steps == 2 && p->live_bytes == 4 * 1024 && p->live_step == 1);
  free_plan_and_graph(p, g);
}

/* Between its last read and its store a state needs no bytes, in theory; the peak has them. */
static void test_live_bytes_with_store(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t v = vt_build2(&gb.b, VT_OP_matmul, K, X);
  vt_graph_add_result(&gb, "y", add_cumsum_node(&gb.b, v));
  add_store_node(&gb, K, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  /* step 0: x, w, k, v; step 1: x, w, v, y; step 2: x, w, v, y, the state again; end: x, w, y, k */
  CHECK(p->n_steps == 3 && p->live_bytes == 5 * 1024 && p->live_step == 2);
  CHECK(p->buffers[K].last == 0);
  free_plan_and_graph(p, g);
}

/* ---- when a next value is written in place ---- */

/* Adds the store of k, freezes the graph and plans it in both orders. 1 if v is written in place.
 */
static int is_in_place(vt_graph_builder *gb, uint32_t v) {
  int in_place = -1;
  if (gb->g->n_results == 0) vt_graph_add_result(gb, "x", X);
  add_store_node(gb, K, v);
  vt_graph *g = freeze_or_exit(gb);
  for (uint32_t i = 0; i < 4; i++) {
    vt_plan *p = build_plan_or_exit(g, i & 1, i >> 1, 100, NULL);
    const vt_buffer *b = &p->buffers[v], *store = &p->buffers[g->ports[K].next];
    const int now = b->place == VT_PLACE_OVER && b->of == K;
    CHECK(now ? store->place == VT_PLACE_VIEW && store->of == v
              : store->place == VT_PLACE_OVER && store->of == K);
    CHECK(in_place == -1 || in_place == now); /* the same in each order */
    in_place = now;
    vt_plan_free(p);
  }
  vt_graph_free(g);
  return in_place;
}

static uint32_t add_result(vt_graph_builder *gb, uint32_t value) {
  char name[8];
  snprintf(name, sizeof name, "r%u", gb->g->n_results);
  vt_graph_add_result(gb, name, value);
  return value;
}

static void test_next_values_in_place(void) {
  vt_graph_builder gb;
  begin_square(&gb); /* the node reads the state */
  CHECK(is_in_place(&gb, vt_build2(&gb.b, VT_OP_add, K, X)));
  begin_square(&gb);
  CHECK(is_in_place(&gb, vt_build2(&gb.b, VT_OP_mul, K, K)));
  begin_square(&gb); /* the node reads other values only, also if it is not pointwise */
  CHECK(is_in_place(&gb, add_cumsum_node(&gb.b, X)));
  begin_square(&gb); /* other nodes read the state, and a view of it, before */
  add_result(&gb, add_cumsum_node(&gb.b, K));
  add_result(&gb, add_cumsum_node(&gb.b, add_transpose_node(&gb.b, K)));
  CHECK(is_in_place(&gb, vt_build2(&gb.b, VT_OP_add, K, X)));
  begin_square(&gb); /* other nodes read the next value later, and a view of it */
  const uint32_t v = vt_build2(&gb.b, VT_OP_add, K, X);
  add_result(&gb, add_cumsum_node(&gb.b, v));
  add_result(&gb, add_cumsum_node(&gb.b, add_transpose_node(&gb.b, v)));
  CHECK(is_in_place(&gb, v));
  begin_square(&gb); /* a pointwise member of the group reads the state */
  gb.group = 1;
  uint32_t m = vt_build2(&gb.b, VT_OP_lt, K, X);
  m = vt_build3(&gb.b, VT_OP_select, m, X, W);
  gb.group = 0;
  CHECK(is_in_place(&gb, m));
  begin_square(&gb); /* an anchor of the group reads another value */
  gb.group = 1;
  m = vt_build2(&gb.b, VT_OP_matmul, X, W);
  m = vt_build2(&gb.b, VT_OP_add, m, K);
  gb.group = 0;
  CHECK(is_in_place(&gb, m));
}

static void test_next_values_not_in_place(void) {
  vt_graph_builder gb;
  begin_square(&gb); /* a later node reads the state */
  uint32_t v = vt_build2(&gb.b, VT_OP_add, K, X);
  add_result(&gb, add_cumsum_node(&gb.b, K));
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* a later node reads a view of the state, which was defined before */
  uint32_t t = add_transpose_node(&gb.b, K);
  v = vt_build2(&gb.b, VT_OP_add, K, X);
  add_result(&gb, add_cumsum_node(&gb.b, t));
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* the node reads the state in another order, too */
  CHECK(!is_in_place(&gb, vt_build2(&gb.b, VT_OP_add, K, add_transpose_node(&gb.b, K))));
  begin_square(&gb); /* the node is not pointwise */
  CHECK(!is_in_place(&gb, add_cumsum_node(&gb.b, K)));
  begin_square(&gb); /* the anchor of the group reads the state */
  gb.group = 1;
  v = vt_build2(&gb.b, VT_OP_matmul, K, W);
  v = vt_build2(&gb.b, VT_OP_add, v, K);
  gb.group = 0;
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* a member of the group reads the state in another order */
  t = add_transpose_node(&gb.b, K);
  gb.group = 1;
  v = vt_build2(&gb.b, VT_OP_add, X, t);
  v = vt_build2(&gb.b, VT_OP_add, v, K);
  gb.group = 0;
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* the value is a result */
  CHECK(!is_in_place(&gb, add_result(&gb, vt_build2(&gb.b, VT_OP_add, K, X))));
  begin_square(&gb); /* the value is an input, or a view of an input or of the state */
  CHECK(!is_in_place(&gb, X));
  begin_square(&gb);
  CHECK(!is_in_place(&gb, add_transpose_node(&gb.b, X)));
  begin_square(&gb);
  CHECK(!is_in_place(&gb, add_transpose_node(&gb.b, K)));
}

static void test_more_next_values_not_in_place(void) {
  vt_graph_builder gb;
  begin_square(&gb); /* the value is the next one of two states */
  const uint32_t k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  uint32_t v = vt_build2(&gb.b, VT_OP_add, K, X);
  add_store_node(&gb, k2, v);
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* a node with bodies reads the value */
  const vt_attr_loop once = {.size = sizeof once, .count = 1, .carried = 1};
  v = vt_build2(&gb.b, VT_OP_add, K, X);
  const vt_type takes[2] = {{.dtype = VT_DTYPE_I64}, square};
  vt_builder *body = gb.b.open(&gb.b, takes, 2);
  const uint32_t out = vt_build1(body, VT_OP_neg, 1);
  gb.b.close(body, &out, 1);
  add_result(&gb, gb.b.node(&gb.b, VT_OP_loop, &v, 1, &once));
  CHECK(!is_in_place(&gb, v));
  begin_square(&gb); /* the node has two results */
  const vt_attr_sort by = {.size = sizeof by, .axis = 1};
  CHECK(!is_in_place(&gb, gb.b.node(&gb.b, VT_OP_sort, &(uint32_t){X}, 1, &by)));
  begin_graph(&gb, "late"); /* the value is older than the state */
  add_port(&gb, "x", VT_PORT_INPUT, square);
  v = vt_build1(&gb.b, VT_OP_neg, X);
  CHECK(add_port(&gb, "k", VT_PORT_STATE, square) == 2);
  gb.g->ports[1].next = VT_NO_VALUE;
  add_store_node(&gb, 2, v);
  vt_graph_add_result(&gb, "x", X);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[v].place == VT_PLACE_OWN);
  free_plan_and_graph(p, g);
}

/* base[64, 4] is the state; the scatter writes two rows. */
static void test_scatters_in_place(void) {
  static const uint32_t ops[] = {VT_OP_scatter_nd, VT_OP_scatter_nd_add, VT_OP_scatter_nd_max,
                                 VT_OP_scatter_nd_min};
  const vt_type index = {VT_DTYPE_I64, 2, {2, 1}}, all = {VT_DTYPE_I64, 2, {64, 1}};
  enum { BASE, OTHER, INDEX, ALL };
  for (uint32_t i = 0; i < 4 + 3; i++) {
    vt_graph_builder gb;
    begin_graph(&gb, "scatter");
    add_port(&gb, "base", VT_PORT_STATE, tall_type);
    add_port(&gb, "other", VT_PORT_INPUT, tall_type);
    add_port(&gb, "index", VT_PORT_INPUT, index);
    add_port(&gb, "all", VT_PORT_INPUT, all);
    uint32_t in[3] = {BASE, INDEX, add_first_rows_node(&gb.b, i == 4 ? BASE : OTHER)};
    if (i == 5) { /* the state is the updates */
      in[0] = OTHER;
      in[1] = ALL;
      in[2] = BASE;
    }
    if (i == 6) { /* the state is the base and the updates */
      in[1] = ALL;
      in[2] = BASE;
    }
    const uint32_t v = gb.b.node(&gb.b, ops[i % 4], in, 3, NULL);
    vt_graph_add_result(&gb, "y", add_cumsum_node(&gb.b, v));
    add_store_node(&gb, BASE, v);
    vt_graph *g = freeze_or_exit(&gb);
    vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
    CHECK((p->buffers[v].place == VT_PLACE_OVER) == (i < 4));
    if (i < 4) CHECK(p->bk_steps[0].out[0].offset == p->bk_steps[0].in[0].offset);
    free_plan_and_graph(p, g);
  }
}

/* The state is read, and its next value is given, through reshapes, as a decomposed scatter does.
 */
static void test_reshaped_values_in_place(void) {
  static const int64_t flat[1] = {256}, slices[3] = {1, 64, 4};
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t line = vt_build_reshape(&gb.b, K, 1, flat);
  const uint32_t w = vt_build1(&gb.b, VT_OP_neg, line);
  const uint32_t v = vt_build_reshape(&gb.b, w, 2, square.dim);
  vt_graph_add_result(&gb, "x", X);
  add_store_node(&gb, K, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  check_buffer(p, w, VT_PLACE_OVER, K, VT_CLASS_MODEL_STATE, 0, 1, 0);
  check_buffer(p, v, VT_PLACE_VIEW, w, VT_CLASS_MODEL_STATE, 0, 0, 0);
  check_buffer(p, g->ports[K].next, VT_PLACE_VIEW, v, VT_CLASS_MODEL_STATE, 0, 1, 0);
  CHECK(p->n_steps == 1);
  free_plan_and_graph(p, g);
  begin_graph(&gb, "scatter");
  const uint32_t base = add_port(&gb, "base", VT_PORT_STATE, tall_type);
  const uint32_t at = add_port(&gb, "at", VT_PORT_INPUT, (vt_type){VT_DTYPE_I64, 3, {1, 2, 1}});
  const uint32_t rows = add_port(&gb, "rows", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 3, {1, 2, 4}});
  const vt_attr_gather_nd batch = {.size = sizeof batch, .batch = 1};
  const uint32_t in[3] = {vt_build_reshape(&gb.b, base, 3, slices), at, rows};
  const uint32_t s = gb.b.node(&gb.b, VT_OP_scatter_nd, in, 3, &batch);
  vt_graph_add_result(&gb, "at", at);
  add_store_node(&gb, base, vt_build_reshape(&gb.b, s, 2, tall_type.dim));
  g = freeze_or_exit(&gb);
  p = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 1, 0, NULL);
  CHECK(p->buffers[s].place == VT_PLACE_OVER && p->n_bk_steps == 1);
  free_plan_and_graph(p, g);
}

/* A next value that is another view of what was computed must be copied. */
static void test_transposed_values_are_stored(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t w = vt_build1(&gb.b, VT_OP_neg, K), t = add_transpose_node(&gb.b, w);
  vt_graph_add_result(&gb, "x", X);
  add_store_node(&gb, K, t);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[w].place == VT_PLACE_OWN && p->buffers[t].place == VT_PLACE_VIEW);
  CHECK(p->buffers[g->ports[K].next].place == VT_PLACE_OVER && p->n_steps == 2);
  free_plan_and_graph(p, g);
}

/* Two states that get each other's value, and a state that gets its own value in another order:
 * each value is copied before the first store, and never a view of a state. */
static void test_stores_read_no_state(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  const uint32_t k3 = add_port(&gb, "k3", VT_PORT_STATE, square);
  const uint32_t a = vt_build_reshape(&gb.b, k2, 2, square.dim);
  const uint32_t b = vt_build_reshape(&gb.b, K, 2, square.dim);
  const uint32_t c = add_transpose_node(&gb.b, k3);
  vt_graph_add_result(&gb, "x", X);
  add_store_node(&gb, K, a);
  add_store_node(&gb, k2, b);
  add_store_node(&gb, k3, c);
  vt_graph *g = freeze_or_exit(&gb);
  for (uint32_t i = 0; i < 4; i++) {
    vt_plan *p = build_plan_or_exit(g, i & 1, i >> 1, 0, NULL);
    CHECK(p->buffers[a].place == VT_PLACE_OWN && p->buffers[a].class == VT_CLASS_TEMP);
    CHECK(p->buffers[b].place == VT_PLACE_OVER && p->buffers[b].of == k2);
    CHECK(p->buffers[c].place == VT_PLACE_OWN && p->buffers[c].class == VT_CLASS_TEMP);
    CHECK(p->n_steps == 5 && p->buffers[a].first < p->buffers[b].first);
    vt_plan_free(p);
  }
  vt_graph_free(g);
}

/* ---- order ---- */

/* In the order for memory the next value of k would be computed first, because it needs no bytes.
 * It waits for the readers of k, and so does the store of k2 for those of k2. */
static void test_writers_wait_for_readers(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  const uint32_t view = add_transpose_node(&gb.b, K);
  const uint32_t r = add_cumsum_node(&gb.b, K), s = add_cumsum_node(&gb.b, view);
  const uint32_t v = vt_build2(&gb.b, VT_OP_add, K, X), v2 = vt_build1(&gb.b, VT_OP_neg, W);
  const uint32_t t = add_cumsum_node(&gb.b, k2);
  const uint32_t sum = vt_build2(&gb.b, VT_OP_add, vt_build2(&gb.b, VT_OP_matmul, r, s), t);
  vt_graph_add_result(&gb, "y", sum);
  add_store_node(&gb, K, v);
  add_store_node(&gb, k2, v2);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  CHECK(p->buffers[v].place == VT_PLACE_OVER && p->buffers[g->ports[3].next].of == k2);
  CHECK(p->buffers[v].first > p->buffers[r].first && p->buffers[v].first > p->buffers[s].first);
  CHECK(p->buffers[g->ports[3].next].first > p->buffers[t].first);
  free_plan_and_graph(p, g);
}

/* With safe states no next value is written in place, and all stores come last. */
static void test_safe_states(void) {
  vt_graph *g = graph_with_every_feature();
  for (uint32_t i = 0; i < 2; i++) {
    const vt_plan_options o = {.schedule = i, .safe_state = 1};
    vt_plan *p = build_plan_with_options(g, &o, 0, 0);
    const uint32_t first = vt_plan_first_safe_store(p);
    CHECK(p->safe_state == 1 && first == p->n_steps - 4);
    for (uint32_t s = 0; s < p->n_steps; s++) {
      const vt_buffer *b = &p->buffers[g->nodes[p->step_node[s]].first_out];
      CHECK((b->class == VT_CLASS_MODEL_STATE) == (s >= first));
    }
    vt_plan_free(p);
  }
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->safe_state == 0 && vt_plan_first_safe_store(p) == p->n_steps);
  free_plan_and_graph(p, g);
}

/* Without states that change, the option changes nothing, not even the digest. */
static void test_safe_without_changes(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_add, K, X));
  vt_graph_set_next(&gb, K, K);
  vt_graph *g = freeze_or_exit(&gb);
  const vt_plan_options o = {.safe_state = 1};
  vt_plan *p = build_plan_with_options(g, &o, 0, 0),
          *q = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->safe_state == 0 && memcmp(&p->target, &q->target, sizeof p->target) == 0);
  vt_plan_free(q);
  free_plan_and_graph(p, g);
}

/* ---- text ---- */

static void test_text_of_states(void) {
  static const char want[] =
      "plan 3, numerics 1\n"
      "core square {\n"
      "  schedule source\n"
      "  state_mode safe\n"
      "  host_input 1024 bytes\n"
      "  parameter 1024 bytes\n"
      "  gradient 0 bytes\n"
      "  optimizer_state 0 bytes\n"
      "  temporary 1024 bytes\n"
      "  output 0 bytes\n"
      "  host_parameter 0 bytes\n"
      "  state 1024 bytes\n"
      "  value 0 own host_input +0: x f32[16, 16], 1024 bytes, steps 0..2\n"
      "  value 1 own parameter +0: w f32[16, 16], 1024 bytes, steps 0..2\n"
      "  value 2 own state +0: k f32[16, 16], 1024 bytes, steps 0..0\n"
      "  value 3 own temporary +0: _0 f32[16, 16], 1024 bytes, steps 0..1\n"
      "  value 4 over 2 state +0: _1 f32[16, 16], 1024 bytes, steps 1..2\n"
      "  transfer host_input +0: x in before step 0, 1024 bytes\n"
      "  transfer host_input +0: x out before step 2, 1024 bytes\n"
      "  step 0 node 0: _0 = add(k, x)\n"
      "  step 1 node 1: _1 = reshape(_0, shape=[16, 16])\n"
      "}\n";
  vt_graph_builder gb;
  vt_text t;
  begin_square(&gb);
  vt_graph_add_result(&gb, "x", X);
  add_store_node(&gb, K, vt_build2(&gb.b, VT_OP_add, K, X));
  vt_graph *g = freeze_or_exit(&gb);
  const vt_plan_options o = {.safe_state = 1};
  vt_plan *p = build_plan_with_options(g, &o, 0, 0);
  vt_text_init(&t, vt_alloc_default());
  vt_plan_print(p, 0, &t);
  CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0);
  if (strcmp(t.s, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
  free_plan_and_graph(p, g);
}

/* Plans with states are read back; a text with another mode or sum is refused. */
static void test_parse_plans_with_states(void) {
  vt_graph *g = graph_with_every_feature();
  for (uint32_t i = 0; i < 4; i++) {
    const vt_plan_options o = {.schedule = i & 1, .safe_state = i >> 1};
    vt_plan *p = build_plan_with_options(g, &o, i & 1, 30), *q = NULL;
    vt_text t;
    vt_text_init(&t, vt_alloc_default());
    vt_plan_print(p, 1, &t);
    CHECK(vt_text_status(&t) == VT_OK);
    CHECK(vt_plan_parse(g, t.s, t.n, vt_alloc_default(), &q, NULL) == VT_OK);
    CHECK(q != NULL && memcmp(&q->core, &p->core, 32) == 0 &&
          memcmp(&q->target, &p->target, 32) == 0 && q->safe_state == i >> 1);
    vt_plan_free(q);
    char *line = strstr(t.s, "  state 4096 bytes\n");
    CHECK(line != NULL);
    if (line == NULL) exit(1);
    line[8] = '5';
    CHECK(vt_plan_parse(g, t.s, t.n, vt_alloc_default(), &q, NULL) == VT_FORMAT);
    line[8] = '4';
    memmove(line, line + 19, t.n - (size_t)(line + 19 - t.s) + 1); /* drops the line */
    CHECK(vt_plan_parse(g, t.s, t.n - 19, vt_alloc_default(), &q, NULL) == VT_FORMAT);
    vt_text_done(&t);
    vt_plan_free(p);
  }
  vt_graph_free(g);
}

/* ---- graphs that are refused ---- */

static void expect_no_store(vt_graph_builder *gb, const char *state) {
  uint64_t none = 0;
  char want[80];
  const vt_target t = {"test", 0, &none, scratch_of_step, NULL};
  vt_plan *p = NULL;
  vt_diag d = {0};
  if (gb->g->n_results == 0) vt_graph_add_result(gb, "x", X);
  vt_graph *g = freeze_or_exit(gb);
  snprintf(want, sizeof want, "the state '%s' has no store at the end of the graph", state);
  CHECK(vt_plan_build(g, NULL, &t, vt_alloc_default(), &p, &d) == VT_USAGE && p == NULL);
  CHECK(strcmp(d.text, want) == 0 && strstr(d.hint, "'state'") != NULL);
  if (strcmp(d.text, want) != 0) fprintf(stderr, "  '%s'\n", d.text);
  vt_graph_free(g);
}

static void test_graphs_without_stores_are_refused(void) {
  vt_graph_builder gb;
  begin_square(&gb); /* the next value is no reshape */
  vt_graph_set_next(&gb, K, vt_build1(&gb.b, VT_OP_neg, K));
  expect_no_store(&gb, "k");
  begin_square(&gb); /* the next value is a port */
  vt_graph_set_next(&gb, K, X);
  expect_no_store(&gb, "k");
  begin_square(&gb); /* the store reads the value of a state */
  add_store_node(&gb, K, K);
  expect_no_store(&gb, "k");
  begin_square(&gb); /* a node follows the store */
  add_store_node(&gb, K, X);
  vt_build1(&gb.b, VT_OP_neg, X);
  expect_no_store(&gb, "k");
  begin_square(&gb); /* two states share a store */
  uint32_t k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  const uint32_t store = vt_build_reshape(&gb.b, X, 2, square.dim);
  vt_graph_set_next(&gb, k2, store);
  vt_graph_set_next(&gb, K, store);
  expect_no_store(&gb, "k2");
  begin_square(&gb); /* a store reads a store */
  k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  add_store_node(&gb, K, X);
  add_store_node(&gb, k2, gb.g->n_values - 1);
  expect_no_store(&gb, "k");
  begin_square(&gb); /* a result is a store, or the value of a state that changes */
  add_store_node(&gb, K, X);
  vt_graph_add_result(&gb, "y", gb.g->n_values - 1);
  expect_no_store(&gb, "k");
  begin_square(&gb);
  vt_graph_add_result(&gb, "y", K);
  add_store_node(&gb, K, X);
  expect_no_store(&gb, "k");
}

static void test_too_large_states_are_refused(void) {
  vt_graph_builder gb;
  const int64_t k = (int64_t)1 << 20;
  uint64_t none = 0;
  const vt_target t = {"test", 0, &none, scratch_of_step, NULL};
  vt_plan *p = NULL;
  vt_diag d = {0};
  begin_graph(&gb, "large");
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t s =
        add_port(&gb, i == 0 ? "a" : "b", VT_PORT_STATE, (vt_type){VT_DTYPE_F32, 3, {k, k, 40}});
    vt_graph_set_next(&gb, s, s);
  }
  vt_graph *g = freeze_or_exit(&gb);
  CHECK(vt_plan_build(g, NULL, &t, vt_alloc_default(), &p, &d) == VT_LIMIT && p == NULL);
  CHECK(strcmp(d.text, "the state tensors are beyond 2^48 bytes together") == 0);
  vt_graph_free(g);
}

/* ---- damaged plans ---- */

static void expect_refused(const vt_plan *p, vt_status (*verify)(const vt_plan *, vt_diag *),
                           const char *text) {
  vt_diag d = {0};
  const vt_status s = verify(p, &d);
  CHECK(s == VT_INTERNAL && strstr(d.text, text) != NULL);
  if (s != VT_INTERNAL || strstr(d.text, text) == NULL)
    fprintf(stderr, "  '%s' instead of '%s'\n", d.text, text);
}

/* Swaps two neighbouring steps of which neither reads the other, with their backend steps and the
 * `first` of their results. */
static void swap_steps(vt_plan *p, uint32_t i) {
  const uint32_t node = p->step_node[i];
  const vt_bk_step s = p->bk_steps[i];
  p->step_node[i] = p->bk_step_node[i] = p->step_node[i + 1];
  p->step_node[i + 1] = p->bk_step_node[i + 1] = node;
  p->bk_steps[i] = p->bk_steps[i + 1];
  p->bk_steps[i + 1] = s;
  for (uint32_t k = 0; k < 2; k++)
    p->buffers[p->g->nodes[p->step_node[i + k]].first_out].first = i + k;
}

/* r = cumsum(k) at step 0, v = k + x in place at step 1; swapped, r reads what v has overwritten.
 */
static void test_read_after_write_is_refused(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t r = add_cumsum_node(&gb.b, K), v = vt_build2(&gb.b, VT_OP_add, K, X);
  vt_graph_add_result(&gb, "r", r);
  add_store_node(&gb, K, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  CHECK(p->n_steps == 2 && p->buffers[r].first == 0 && p->buffers[v].place == VT_PLACE_OVER);
  swap_steps(p, 0);
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use: '_1'");
  free_plan_and_graph(p, g);
}

/* The graph under a plan with a value in place is changed so that the node, or a member of its
 * group, reads the state where it is already overwritten. */
static void test_wrong_reads_in_place_are_refused(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t t = add_transpose_node(&gb.b, K);
  vt_graph_add_result(&gb, "r", add_cumsum_node(&gb.b, t));
  gb.group = 1;
  const uint32_t m = vt_build2(&gb.b, VT_OP_add, K, X), v = vt_build2(&gb.b, VT_OP_mul, m, X);
  gb.group = 0;
  add_store_node(&gb, K, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  vt_node *member = &g->nodes[g->values[m].node], *last = &g->nodes[g->values[v].node];
  CHECK(p->buffers[v].place == VT_PLACE_OVER && vt_verify_allocation(p, NULL) == VT_OK);
  p->buffers[t].last = p->buffers[v].first;
  g->operands[last->first_in + 1] = t; /* the node reads a view */
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use: '_3'");
  g->operands[last->first_in + 1] = X;
  g->operands[member->first_in + 1] = t; /* a member of its group reads a view */
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use: '_3'");
  g->operands[member->first_in + 1] = X;
  p->buffers[t].last = 0;
  last->op = VT_OP_matmul; /* the node reads only its group's value, so it may be anything */
  CHECK(vt_verify_allocation(p, NULL) == VT_OK);
  last->op = VT_OP_mul;
  member->op = VT_OP_matmul; /* a member reads the state at other positions */
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use: '_3'");
  member->op = VT_OP_add;
  CHECK(vt_verify_allocation(p, NULL) == VT_OK);
  free_plan_and_graph(p, g);
}

static void test_wrong_updates_in_place_are_refused(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "scatter");
  const uint32_t base = add_port(&gb, "base", VT_PORT_STATE, tall_type);
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t rows = add_first_rows_node(&gb.b, x), old = add_first_rows_node(&gb.b, base);
  vt_graph_add_result(&gb, "r", add_cumsum_node(&gb.b, old));
  const uint32_t v = add_scatter_node(&gb.b, base, rows);
  add_store_node(&gb, base, v);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  vt_node *n = &g->nodes[g->values[v].node];
  CHECK(p->buffers[v].place == VT_PLACE_OVER && vt_verify_allocation(p, NULL) == VT_OK);
  g->operands[n->first_in + 2] = old; /* the updates are rows of the state */
  p->buffers[old].last = p->buffers[v].first;
  p->buffers[rows].last = 0;
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use:");
  g->operands[n->first_in + 2] = rows;
  p->buffers[old].last = 0;
  p->buffers[rows].last = p->buffers[v].first;
  CHECK(vt_verify_allocation(p, NULL) == VT_OK);
  g->operands[n->first_in + 2] = base; /* the updates are the state */
  p->buffers[rows].last = 0;
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use:");
  g->operands[n->first_in + 2] = rows;
  p->buffers[rows].last = p->buffers[v].first;
  n->op = VT_OP_gather_nd; /* the op does not update its first operand */
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use:");
  free_plan_and_graph(p, g);
}

/* Two states of one size, stored by two steps. */
static vt_plan *plan_of_two_states(vt_graph **out_g, uint32_t safe) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t k2 = add_port(&gb, "k2", VT_PORT_STATE, square);
  vt_graph_add_result(&gb, "a", vt_build1(&gb.b, VT_OP_neg, X));
  vt_graph_add_result(&gb, "b", vt_build1(&gb.b, VT_OP_abs, X));
  add_store_node(&gb, K, X);
  add_store_node(&gb, k2, W);
  *out_g = freeze_or_exit(&gb);
  const vt_plan_options o = {.schedule = VT_SCHEDULE_MEMORY, .safe_state = safe};
  vt_plan *p = build_plan_with_options(*out_g, &o, 0, 0);
  CHECK(p->n_steps == 4);
  return p;
}

static void move_value(vt_plan *p, uint32_t value, uint64_t offset) {
  p->buffers[value].offset = offset;
  for (uint32_t i = 0; i < p->n_bk_steps; i++)
    if (p->g->nodes[p->bk_step_node[i]].first_out == value) {
      vt_bk_tensor *t = (vt_bk_tensor *)(uintptr_t)p->bk_steps[i].out;
      t->offset = offset;
    }
}

/* Programs share the states, so a plan may not choose their offsets, and must store each. */
static void test_wrong_places_of_states_are_refused(void) {
  enum { K2 = 3 };
  vt_graph *g;
  vt_plan *p = plan_of_two_states(&g, 0);
  const uint32_t s = g->ports[K].next, s2 = g->ports[K2].next;
  move_value(p, K, 1024); /* swaps the two */
  move_value(p, s, 1024);
  move_value(p, K2, 0);
  move_value(p, s2, 0);
  CHECK(vt_verify_schedule(p, NULL) == VT_OK); /* all parts agree */
  expect_refused(p, vt_verify_allocation, "does not place in order the state 'k'");
  move_value(p, K, 0);
  move_value(p, s, 0);
  move_value(p, K2, 1024);
  move_value(p, s2, 1024);
  CHECK(vt_plan_verify(p, NULL) == VT_OK);
  p->buffers[s].of = K2; /* swaps the stores */
  move_value(p, s, 1024);
  p->buffers[s2].of = K;
  move_value(p, s2, 0);
  expect_refused(p, vt_verify_allocation, "misstates the place of '_2'");
  p->buffers[s].of = K;
  move_value(p, s, 0);
  p->buffers[s2].of = K2;
  move_value(p, s2, 1024);
  g->ports[K2].next = s; /* the graph wants something else */
  expect_refused(p, vt_verify_allocation, "misstates the place of '_3'");
  g->ports[K2].next = X;
  expect_refused(p, vt_verify_allocation, "misstates the place of '_3'");
  g->ports[K2].next = s2;
  CHECK(vt_plan_verify(p, NULL) == VT_OK);
  free_plan_and_graph(p, g);
}

/* The next value is a view of a value in place, but in another order than the state. */
static void test_other_order_of_next_value_is_refused(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t w = vt_build1(&gb.b, VT_OP_neg, K), t = add_transpose_node(&gb.b, w);
  vt_graph_add_result(&gb, "y", add_cumsum_node(&gb.b, t));
  add_store_node(&gb, K, w);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[w].place == VT_PLACE_OVER && p->buffers[t].place == VT_PLACE_VIEW);
  const uint32_t store = g->ports[K].next;
  p->buffers[store].last = p->buffers[store].first;
  p->buffers[t].last = p->n_steps;
  g->ports[K].next = t;
  expect_refused(p, vt_verify_allocation, "does not store the next value of 'k'");
  free_plan_and_graph(p, g);
}

/* A changed state that no value is written over is refused. */
static void test_missing_store_is_refused(void) {
  vt_graph_builder gb;
  begin_square(&gb);
  const uint32_t v = vt_build2(&gb.b, VT_OP_add, X, W);
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, v));
  vt_graph_set_next(&gb, K, K);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  g->ports[K].next = v;
  expect_refused(p, vt_verify_allocation, "does not store the next value of 'k'");
  g->ports[K].next = K;
  CHECK(vt_plan_verify(p, NULL) == VT_OK);
  free_plan_and_graph(p, g);
}

static void test_unsafe_order_is_refused(void) {
  vt_graph *g;
  vt_plan *p = plan_of_two_states(&g, 1);
  CHECK(vt_plan_first_safe_store(p) == 2 && vt_plan_verify(p, NULL) == VT_OK);
  swap_steps(p, 2); /* two stores may be swapped */
  CHECK(vt_verify_schedule(p, NULL) == VT_OK);
  swap_steps(p, 1); /* a store before another step */
  expect_refused(p, vt_verify_schedule, "does not store them last");
  p->safe_state = 0;
  CHECK(vt_verify_schedule(p, NULL) == VT_OK);
  free_plan_and_graph(p, g);
  /* A plan with a value in place is not safe, and neither is one without changes. */
  vt_graph_builder gb;
  begin_square(&gb);
  vt_graph_add_result(&gb, "x", X);
  add_store_node(&gb, K, vt_build2(&gb.b, VT_OP_add, K, X));
  g = freeze_or_exit(&gb);
  p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  p->safe_state = 1;
  expect_refused(p, vt_verify_schedule, "has safe states and no step that stores 'k'");
  p->safe_state = 0;
  free_plan_and_graph(p, g);
  begin_square(&gb);
  vt_graph_add_result(&gb, "x", X);
  vt_graph_set_next(&gb, K, K);
  g = freeze_or_exit(&gb);
  p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  p->safe_state = 1;
  expect_refused(p, vt_verify_schedule, "does not store them last");
  free_plan_and_graph(p, g);
}

int main(void) {
  test_places_of_states();
  test_state_that_is_not_read();
  test_live_bytes_with_store();
  test_next_values_in_place();
  test_next_values_not_in_place();
  test_more_next_values_not_in_place();
  test_scatters_in_place();
  test_reshaped_values_in_place();
  test_transposed_values_are_stored();
  test_stores_read_no_state();
  test_writers_wait_for_readers();
  test_safe_states();
  test_safe_without_changes();
  test_text_of_states();
  test_parse_plans_with_states();
  test_graphs_without_stores_are_refused();
  test_too_large_states_are_refused();
  test_read_after_write_is_refused();
  test_wrong_reads_in_place_are_refused();
  test_wrong_updates_in_place_are_refused();
  test_wrong_places_of_states_are_refused();
  test_other_order_of_next_value_is_refused();
  test_missing_store_is_refused();
  test_unsafe_order_is_refused();
  TEST_DONE();
}
