/* SPDX-License-Identifier: Apache-2.0
 * plan_test.c - checks the decisions of the planner: lifetimes, places, views, values written in
 * place, both schedules, uploads of streamed parameters, dense copies, and the graphs it
 * refuses. */
#include "vt_plan.h"
#include <string.h>
#include "verify_test.h"
#include "vt_test.h"

static vt_type vector_type(int64_t n) {
  return (vt_type){.dtype = VT_DTYPE_F32, .rank = 1, .dim = {n}};
}

static uint32_t add_sum_node(vt_builder *b, uint32_t x) {
  const vt_attr_reduce all = {.size = sizeof all};
  return b->node(b, VT_OP_sum, &x, 1, &all);
}

/* The cumulative sum along axis 0. Its result is as large as the operand, and the op is neither a
 * view nor pointwise. */
static uint32_t add_cumsum_node(vt_builder *b, uint32_t x) {
  const vt_attr_cumsum down = {.size = sizeof down, .axis = 0};
  return b->node(b, VT_OP_cumsum, &x, 1, &down);
}

/* Checks the class, lifetime, offset and size of a value. */
static void check_buffer(const vt_plan *p, uint32_t value, uint32_t class, uint32_t first,
                         uint32_t last, uint64_t offset, uint64_t bytes) {
  const vt_buffer *b = &p->buffers[value];
  const int same = b->value == value && b->class == class && b->first == first && b->last == last &&
                   b->offset == offset && b->bytes == bytes;
  CHECK(same);
  if (!same)
    fprintf(stderr, "  value %u: class %u steps %u..%u +%llu %llu bytes\n", value, b->class,
            b->first, b->last, (unsigned long long)b->offset, (unsigned long long)b->bytes);
}

static void free_plan_and_graph(vt_plan *p, vt_graph *g) {
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- places ---- */

/*   ports  0 x f32[100] input, 1 w f32[100] param
 *   nodes  0 a = x + w   1 b = cumsum a   2 c = a * b   3 e = neg c (an output)   4 f = c + e
 *   results "e" and "f", and "same" which is f once more */
enum { X, W, A, B, C, E, F };
static vt_graph *sample_graph(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "sample");
  add_port(&gb, "x", VT_PORT_INPUT, vector_type(100));
  add_port(&gb, "w", VT_PORT_PARAM, vector_type(100));
  vt_build2(&gb.b, VT_OP_add, X, W);
  add_cumsum_node(&gb.b, A);
  vt_build2(&gb.b, VT_OP_mul, A, B);
  vt_build1(&gb.b, VT_OP_neg, C);
  vt_build2(&gb.b, VT_OP_add, C, E);
  vt_graph_add_result(&gb, "e", E);
  vt_graph_add_result(&gb, "f", F);
  vt_graph_add_result(&gb, "same", F);
  return freeze_or_exit(&gb);
}

/* Checks the plan of the graph above. Each tensor has 400 bytes and takes 512, because tensors
 * start at multiples of 256. c is written in place over a. */
static void test_offsets_of_sample_plan(void) {
  vt_graph *g = sample_graph();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 500, NULL);
  check_buffer(p, X, VT_CLASS_INPUT, 0, 5, 0, 400);
  check_buffer(p, W, VT_CLASS_PARAM, 0, 5, 0, 400);
  check_buffer(p, A, VT_CLASS_TEMP, 0, 2, 0, 400);
  check_buffer(p, B, VT_CLASS_TEMP, 1, 2, 512, 400);
  check_buffer(p, C, VT_CLASS_TEMP, 2, 4, 0, 400);
  check_buffer(p, E, VT_CLASS_OUTPUT, 3, 5, 512, 400); /* where b was */
  check_buffer(p, F, VT_CLASS_OUTPUT, 4, 5, 1024, 400);
  CHECK(p->buffers[C].place == VT_PLACE_OVER && p->buffers[C].of == A);
  CHECK(p->class_bytes[VT_CLASS_INPUT] == 512 && p->class_bytes[VT_CLASS_PARAM] == 512);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 512 && p->class_bytes[VT_CLASS_OUTPUT] == 1024);
  /* The 1000 bytes of scratch of step 4, rounded up: the arena has no free bytes then. */
  CHECK(p->class_bytes[VT_CLASS_WORK] == 1024);
  CHECK(vt_plan_peak_bytes(p) == 512 + 512 + 512 + 1024 + 1024);
  CHECK(vt_plan_arena_bytes(p, VT_CLASS_TEMP) == 512 + 1024 + 1024);
  CHECK(vt_plan_arena_bytes(p, VT_CLASS_WORK) == 0 && vt_plan_arena_bytes(p, VT_CLASS_OUTPUT) == 0);
  /* live at step 4: x, w, c, e, f, and the scratch of a step with two operands */
  CHECK(p->live_bytes == 5 * 400 + 1000 && p->live_step == 4);
  for (uint32_t i = 0; i < p->n_steps; i++) CHECK(p->step_node[i] == i && p->bk_step_node[i] == i);
  /* the scratch of each step starts above the values that live then: a at step 0, a and b at step
   * 1, and so on */
  static const uint64_t above[5] = {512, 1024, 1024, 1024, 1536},
                        bytes[5] = {1000, 500, 1000, 500, 1000};
  for (uint32_t i = 0; i < 5; i++) {
    const vt_bk_step *s = &p->bk_steps[i];
    CHECK(s->work_arena == VT_CLASS_TEMP && s->work_offset == above[i] &&
          s->work_bytes == bytes[i]);
  }
  CHECK(p->n_transfers == 4 && p->transfers[0].value == X && p->transfers[3].value == F);
  CHECK(p->transfers[1].step == 5 && p->transfers[1].direction == VT_FROM_DEVICE);
  free_plan_and_graph(p, g);
}

static void test_bk_step_fields(void) {
  vt_graph *g = sample_graph();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const vt_bk_step *s = &p->bk_steps[2];
  CHECK(s->size == sizeof *s && s->op == VT_OP_mul && s->n_in == 2 && s->n_out == 1);
  CHECK(s->attrs == g->nodes[2].attrs && s->attrs_size == sizeof(vt_attr_none));
  CHECK(s->in[0].arena == VT_CLASS_TEMP && s->in[1].arena == VT_CLASS_TEMP);
  CHECK(s->out[0].dtype == VT_DTYPE_F32 && s->out[0].rank == 1 && s->out[0].dim[0] == 100);
  CHECK(s->out[0].stride[0] == 1 && s->out[0].offset == 0 && s->work_bytes == 0);
  free_plan_and_graph(p, g);
}

/* A chain of pointwise ops needs one buffer, however long it is: each value is written in place
 * over the one before. */
static void test_chain_in_one_buffer(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "chain");
  uint32_t v = add_port(&gb, "x", VT_PORT_INPUT, vector_type(64));
  for (int i = 0; i < 50; i++) v = vt_build1(&gb.b, i % 2 ? VT_OP_neg : VT_OP_abs, v);
  vt_graph_add_result(&gb, "y", add_sum_node(&gb.b, v));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 256 && p->class_bytes[VT_CLASS_OUTPUT] == 256);
  for (uint32_t i = 2; i <= 50; i++)
    CHECK(p->buffers[i].place == VT_PLACE_OVER && p->buffers[i].of == i - 1);
  CHECK(p->buffers[1].place == VT_PLACE_OWN); /* not over x: an input is never overwritten */
  free_plan_and_graph(p, g);
}

/* Adds the result sum(v) to the graph, plans it and returns the place of v. */
static uint32_t place_of_value(vt_graph_builder *gb, uint32_t value) {
  vt_graph_add_result(gb, "y", add_sum_node(&gb->b, value));
  vt_graph *g = freeze_or_exit(gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const uint32_t place = p->buffers[value].place;
  free_plan_and_graph(p, g);
  return place;
}

/* When a result may be written in place over an operand, and when not. */
static void test_when_result_is_in_place(void) {
  vt_graph_builder gb;
  const vt_type square = {VT_DTYPE_F32, 2, {16, 16}};
  begin_graph(&gb, "transposed"); /* the second operand reads the same bytes in another order */
  uint32_t a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, square));
  const uint32_t seen = add_transpose_node(&gb.b, a);
  CHECK(place_of_value(&gb, vt_build2(&gb.b, VT_OP_add, a, seen)) == VT_PLACE_OWN);
  begin_graph(&gb, "read later");
  a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, square));
  uint32_t b = vt_build1(&gb.b, VT_OP_neg, a);
  vt_graph_add_result(&gb, "later", add_sum_node(&gb.b, a));
  CHECK(place_of_value(&gb, b) == VT_PLACE_OWN);
  begin_graph(&gb, "repeated"); /* the result has another shape */
  a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, vector_type(16)));
  b = add_port(&gb, "z", VT_PORT_INPUT, square);
  CHECK(place_of_value(&gb, vt_build2(&gb.b, VT_OP_add, a, b)) == VT_PLACE_OWN);
  begin_graph(&gb, "narrower"); /* a bool result has fewer bytes than its f32 operand */
  a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, square));
  const uint32_t is = vt_build2(&gb.b, VT_OP_lt, a, a);
  CHECK(place_of_value(&gb, vt_build_cast(&gb.b, is, VT_DTYPE_F32)) == VT_PLACE_OWN);
  begin_graph(&gb, "as wide"); /* an i32 result has as many bytes as its f32 operand */
  a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, square));
  b = vt_build_cast(&gb.b, a, VT_DTYPE_I32);
  CHECK(place_of_value(&gb, b) == VT_PLACE_OVER);
  begin_graph(&gb, "twice");
  a = add_cumsum_node(&gb.b, add_port(&gb, "x", VT_PORT_INPUT, square));
  CHECK(place_of_value(&gb, vt_build2(&gb.b, VT_OP_mul, a, a)) == VT_PLACE_OVER);
}

/* A value goes into the lowest gap that is large enough, otherwise above all others. */
static void test_value_takes_first_fitting_gap(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "gaps");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, vector_type(256));
  const uint32_t z = add_port(&gb, "z", VT_PORT_INPUT, vector_type(128));
  const uint32_t big = add_cumsum_node(&gb.b, x);   /* 1024 bytes at offset 0 */
  const uint32_t small = add_cumsum_node(&gb.b, z); /* 512 bytes at 1024 */
  const uint32_t t = add_sum_node(&gb.b, big);      /* 256 bytes at 1536; big is not read again */
  const uint32_t more = add_cumsum_node(&gb.b, z);  /* 512 bytes at 0 */
  /* The value has 1024 bytes above all others, because the gap at 512 is too small. */
  const uint32_t other = add_cumsum_node(&gb.b, x);
  const uint32_t last = add_cumsum_node(&gb.b, z); /* 512 bytes at 512 */
  uint32_t all = add_sum_node(&gb.b, small);       /* 256 bytes above all others, live to the end */
  all = vt_build2(&gb.b, VT_OP_add, all, add_sum_node(&gb.b, more));
  all = vt_build2(&gb.b, VT_OP_add, all, add_sum_node(&gb.b, other));
  all = vt_build2(&gb.b, VT_OP_add, all, add_sum_node(&gb.b, last));
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_add, all, t));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[big].offset == 0 && p->buffers[small].offset == 1024);
  CHECK(p->buffers[t].offset == 1536 && p->buffers[more].offset == 0);
  CHECK(p->buffers[other].offset == 1792 && p->buffers[last].offset == 512);
  CHECK(vt_plan_arena_bytes(p, VT_CLASS_TEMP) == 3072);
  free_plan_and_graph(p, g);
}

/* ---- views ---- */

static void check_view(const vt_plan *p, uint32_t view, uint32_t of, uint64_t offset,
                       uint64_t bytes, int64_t stride_0, int64_t stride_1) {
  const vt_buffer *b = &p->buffers[view];
  CHECK(b->place == VT_PLACE_VIEW && b->of == of && b->bytes == bytes);
  CHECK(b->offset == p->buffers[of].offset + offset && b->class == p->buffers[of].class);
  CHECK(b->stride[0] == stride_0 && b->stride[1] == stride_1);
}

static void test_which_values_are_views(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "views");
  /* The type has 64 rows of 16 bytes. */
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t t = add_transpose_node(b, x), c = add_slice_rows_node(b, x),
                 tc = add_transpose_node(b, c);
  const uint32_t r = vt_build_reshape(b, x, 2, wide), tr = vt_build_reshape(b, t, 2, wide);
  const vt_attr_slice odd = {
      .size = sizeof odd, .start = {.n = 2, .v = {1, 0}}, .stop = {.n = 2, .v = {64, 4}}};
  const uint32_t o = b->node(b, VT_OP_slice, &x, 1, &odd);
  uint32_t all = add_sum_node(b, tc);
  all = vt_build2(b, VT_OP_add, all, add_sum_node(b, r));
  all = vt_build2(b, VT_OP_add, all, add_sum_node(b, tr));
  all = vt_build2(b, VT_OP_add, all, add_sum_node(b, o));
  vt_graph_add_result(&gb, "y", all);
  vt_graph_add_result(&gb, "kept", add_transpose_node(b, x));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  check_view(p, t, x, 0, 1024, 1, 4);
  check_view(p, c, x, 256, 512, 4, 1);
  check_view(p, tc, c, 0, 512, 1, 4);
  check_view(p, r, x, 0, 1024, 64, 1);
  /* The result is not a view, because reshaping a strided view needs a copy. */
  CHECK(p->buffers[tr].place == VT_PLACE_OWN);
  /* The slice is not a view, because it would start at byte 16, which is not aligned. */
  CHECK(p->buffers[o].place == VT_PLACE_OWN);
  /* The result is not a view, because results are dense. */
  CHECK(p->buffers[g->results[1].value].place == VT_PLACE_OWN);
  CHECK(p->n_steps == g->n_nodes - 4);
  free_plan_and_graph(p, g);
}

/* A value lives as long as a view of it is read. */
static void test_views_keep_viewed_value_alive(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "alive");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t a = add_cumsum_node(b, x), t = add_transpose_node(b, a), n = add_cumsum_node(b, x);
  const uint32_t first = add_sum_node(b, n);
  vt_graph_add_result(&gb, "y", vt_build2(b, VT_OP_add, first, add_sum_node(b, t)));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[a].last == 3 && p->buffers[t].first == 0 && p->buffers[t].last == 3);
  CHECK(p->buffers[n].offset != p->buffers[a].offset);
  free_plan_and_graph(p, g);
}

/* A dense_only target gets one dense copy of the transposed view, before the first step that reads
 * it. */
static void test_dense_only_target_gets_copies(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "dense");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t t = add_transpose_node(b, x), r = vt_build_reshape(b, x, 2, wide);
  const uint32_t first = add_sum_node(b, r), second = add_sum_node(b, t),
                 third = add_sum_node(b, t);
  uint32_t all = vt_build2(b, VT_OP_add, first, second);
  vt_graph_add_result(&gb, "y", vt_build2(b, VT_OP_add, all, third));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *strided = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 100, NULL);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 1, 100, NULL);
  CHECK(strided->n_bk_steps == 5 && p->n_bk_steps == 6 && p->n_steps == 5);
  CHECK(p->bk_step_node[0] == g->values[first].node && p->bk_step_node[1] == g->values[t].node);
  /* The copy is above the three sums, at 0, 256 and 512. */
  CHECK(p->dense[t] == 768 && p->dense[r] == VT_NO_OFFSET);
  CHECK(p->bk_steps[1].out[0].arena == VT_CLASS_TEMP &&
        p->bk_steps[2].in[0].arena == VT_CLASS_TEMP);
  CHECK(p->bk_steps[2].in[0].stride[0] == 64 && p->bk_steps[3].in[0].offset == 768);
  /* Step 2 has its scratch in the bytes of the third sum, which is not live yet. */
  CHECK(p->bk_steps[2].work_offset == 512);
  /* Step 3 has its scratch above the copy, because the third sum is live now. */
  CHECK(p->bk_steps[3].work_offset == 768 + 1024);
  CHECK(p->class_bytes[VT_CLASS_WORK] == 1024 + 256);
  CHECK(memcmp(&p->core, &strided->core, sizeof p->core) == 0);
  vt_plan_free(strided);
  free_plan_and_graph(p, g);
}

/* ---- order ---- */

/* In graph order four large tensors are made before the first is summed. The memory schedule makes
 * and sums one after the other, in the same bytes. */
static void test_memory_schedule_saves_memory(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "order");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, vector_type(1024));
  uint32_t made[4], sums[4];
  for (int i = 0; i < 4; i++) made[i] = add_cumsum_node(b, x);
  for (int i = 0; i < 4; i++) sums[i] = add_sum_node(b, made[i]);
  uint32_t all = vt_build2(b, VT_OP_add, sums[0], sums[1]);
  all = vt_build2(b, VT_OP_add, all, vt_build2(b, VT_OP_add, sums[2], sums[3]));
  vt_graph_add_result(&gb, "y", all);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *source = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  vt_plan *memory = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  vt_plan *again = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  CHECK(vt_plan_arena_bytes(source, VT_CLASS_TEMP) == 4 * 4096 + 256);
  CHECK(memory->class_bytes[VT_CLASS_TEMP] <= 4096 + 4 * 256);
  /* The first tensor is made, then summed. */
  CHECK(memory->step_node[0] == 0 && memory->step_node[1] == 4);
  CHECK(memcmp(&again->core, &memory->core, sizeof again->core) == 0);
  CHECK(memcmp(&source->core, &memory->core, sizeof again->core) != 0);
  vt_plan_free(source);
  vt_plan_free(again);
  free_plan_and_graph(memory, g);
}

/* ---- parameters that stay in host memory ---- */

static void test_uploads_of_streamed_params(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "streamed");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, tall_type);
  const uint32_t v = add_port(&gb, "v", VT_PORT_PARAM, tall_type);
  const uint32_t p0 = vt_build2(b, VT_OP_mul, x, w), p1 = vt_build2(b, VT_OP_add, p0, w);
  const uint32_t cut_v = add_slice_rows_node(b, v), q = vt_build2(b, VT_OP_mul, cut_v, cut_v);
  const uint32_t first = add_sum_node(b, p1);
  vt_graph_add_result(&gb, "y", vt_build2(b, VT_OP_add, first, add_sum_node(b, q)));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *all = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, "*");
  vt_plan *one = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, "v");
  CHECK(all->class_bytes[VT_CLASS_PARAM] == 0 && all->class_bytes[VT_CLASS_HOST] == 2048);
  CHECK(one->class_bytes[VT_CLASS_PARAM] == 1024 && one->class_bytes[VT_CLASS_HOST] == 1024);
  /* the transfers: x in; w in before each of its two steps; v in before its only step; y out */
  CHECK(all->n_transfers == 5 && all->transfers[1].value == w && all->transfers[1].step == 0);
  CHECK(all->transfers[2].value == w && all->transfers[2].step == 1);
  CHECK(all->transfers[3].value == v && all->transfers[3].class == VT_CLASS_TEMP);
  const vt_bk_step *last = &all->bk_steps[2];
  CHECK(last->in[0].arena == VT_CLASS_TEMP);
  CHECK(last->in[0].offset == all->transfers[3].offset + 256); /* the view starts at row 16 */
  vt_plan_free(one);
  free_plan_and_graph(all, g);
}

/* ---- groups, which may run as one launch ---- */

/* y = (x * w) + v computed by a group of two steps, then z = x + y outside the group. */
static vt_graph *graph_with_group(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "grouped");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, tall_type);
  const uint32_t v = add_port(&gb, "v", VT_PORT_PARAM, tall_type);
  const uint32_t a = add_cumsum_node(b, x), c = add_cumsum_node(b, x);
  gb.group = 1;
  const uint32_t m = vt_build2(b, VT_OP_mul, a, w), y = vt_build2(b, VT_OP_add, m, v);
  gb.group = 0;
  vt_graph_add_result(&gb, "z", add_sum_node(b, vt_build2(b, VT_OP_add, c, y)));
  return freeze_or_exit(&gb);
}
enum { GX, GW, GV, GA, GC, GM, GY };

/* The operands of a group live from its first step to its last: the second member does not reuse
 * the bytes of a, and both parameters are uploaded before the first member. */
static void test_group_operands_live_to_its_end(void) {
  vt_graph *g = graph_with_group();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, "*");
  CHECK(p->buffers[GA].first == 0 && p->buffers[GA].last == 3 && p->buffers[GM].last == 3);
  CHECK(p->buffers[GM].place == VT_PLACE_OWN && p->buffers[GY].place == VT_PLACE_OVER);
  CHECK(p->n_transfers == 4 && p->transfers[1].value == GW && p->transfers[2].value == GV);
  CHECK(p->transfers[1].step == 2 && p->transfers[2].step == 2);
  CHECK(p->transfers[1].offset != p->transfers[2].offset);
  const vt_bk_step *second = &p->bk_steps[3];
  CHECK(second->group == 1 && second->in[1].arena == VT_CLASS_TEMP);
  CHECK(second->in[1].offset == p->transfers[2].offset);
  CHECK(p->bk_steps[2].group == 1 && p->bk_steps[4].group == 0);
  free_plan_and_graph(p, g);
}

/* If a group runs as one launch, the result of its anchor is in memory and read until the group
 * ends. The group is y = (x q < v ? w : v) + w. */
static void test_anchor_result_lives_in_group(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "anchored");
  const vt_type square = {VT_DTYPE_F32, 2, {4, 4}};
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t q = add_port(&gb, "q", VT_PORT_PARAM, square);
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, tall_type);
  const uint32_t v = add_port(&gb, "v", VT_PORT_PARAM, tall_type);
  gb.group = 1;
  const uint32_t r = vt_build2(b, VT_OP_matmul, x, q), less = vt_build2(b, VT_OP_lt, r, v);
  const uint32_t y = vt_build2(b, VT_OP_add, vt_build3(b, VT_OP_select, less, w, v), w);
  gb.group = 0;
  vt_graph_add_result(&gb, "z", add_sum_node(b, y));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const vt_buffer *made = &p->buffers[r], *result = &p->buffers[y];
  CHECK(made->place == VT_PLACE_OWN && made->last == result->first && result->first == 3);
  CHECK(made->offset >= result->offset + result->bytes ||
        result->offset >= made->offset + made->bytes);
  free_plan_and_graph(p, g);
}

/* The price of a group counts only bytes that outlive it. This group leaves as many bytes as it
 * frees, so it is scheduled before the second cumsum, which is later in the graph. */
static void test_group_price_has_outer_bytes(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "price");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, vector_type(4096));
  uint32_t v = add_cumsum_node(b, x);
  gb.group = 1;
  for (int i = 0; i < 5; i++) v = vt_build1(b, VT_OP_tanh, v);
  gb.group = 0;
  const uint32_t chain = add_sum_node(b, v), other = add_sum_node(b, add_cumsum_node(b, x));
  vt_graph_add_result(&gb, "y", vt_build2(b, VT_OP_add, chain, other));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *source = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  vt_plan *memory = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  CHECK(vt_plan_peak_bytes(memory) <= vt_plan_peak_bytes(source));
  vt_plan_free(source);
  free_plan_and_graph(memory, g);
}

/* ---- text ---- */

static void test_plan_prints_expected_text(void) {
  static const char want[] =
      "plan 3, numerics 1\n"
      "core chain {\n"
      "  schedule source\n"
      "  host_input 256 bytes\n"
      "  parameter 0 bytes\n"
      "  gradient 0 bytes\n"
      "  optimizer_state 0 bytes\n"
      "  temporary 256 bytes\n"
      "  output 256 bytes\n"
      "  host_parameter 0 bytes\n"
      "  value 0 own host_input +0: x f32[2, 2], 16 bytes, steps 0..2\n"
      "  value 1 own temporary +0: _0 f32[2, 2], 16 bytes, steps 0..1\n"
      "  value 2 view 1 temporary +0: _1 f32[2, 2], 16 bytes, steps 0..1, strides 1 2\n"
      "  value 3 own output +256: _2 f32[], 4 bytes, steps 1..2\n"
      "  transfer host_input +0: x in before step 0, 16 bytes\n"
      "  transfer output +256: _2 out before step 2, 4 bytes\n"
      "  step 0 node 0: _0 = neg(x)\n"
      "  step 1 node 2: _2 = sum(_1, axes=[], keep=false)\n"
      "}\n"
      "target {\n"
      "  fingerprint test\n"
      "  dense_only 0\n"
      "  workspace 256 bytes\n"
      "  live 46 bytes at step 1\n"
      "  run 0 work 10: node 0, workspace +256\n"
      "  run 1 work 10: node 2, workspace +512\n"
      "}\n";
  vt_graph_builder gb;
  vt_text t;
  begin_graph(&gb, "chain");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 2, {2, 2}});
  vt_graph_add_result(
      &gb, "y", add_sum_node(&gb.b, add_transpose_node(&gb.b, vt_build1(&gb.b, VT_OP_neg, x))));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 10, NULL);
  vt_text_init(&t, vt_alloc_default());
  vt_plan_print(p, 1, &t);
  CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0);
  if (strcmp(t.s, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
  free_plan_and_graph(p, g);
}

static int prints_as_text(const vt_plan *p, const char *text, size_t n) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_plan_print(p, 1, &t);
  const int same = vt_text_status(&t) == VT_OK && t.n == n && memcmp(t.s, text, n) == 0;
  vt_text_done(&t);
  return same;
}

/* A plan read back equals the plan that was printed. With a byte changed it is refused, unless the
 * text is exactly that of another valid plan of the graph. */
static void test_parse_printed_plan(uint32_t schedule, uint32_t dense, const char *stream) {
  vt_graph *g = graph_with_every_feature();
  vt_plan *p = build_plan_or_exit(g, schedule, dense, 30, stream), *q = NULL;
  vt_text t;
  vt_diag d = {0};
  vt_text_init(&t, vt_alloc_default());
  vt_plan_print(p, 1, &t);
  CHECK(vt_plan_parse(g, t.s, t.n, vt_alloc_default(), &q, &d) == VT_OK &&
        prints_as_text(q, t.s, t.n));
  CHECK(q != NULL && memcmp(&q->core, &p->core, 32) == 0 &&
        memcmp(&q->target, &p->target, 32) == 0);
  CHECK(q != NULL && q->n_bk_steps == p->n_bk_steps &&
        vt_plan_peak_bytes(q) == vt_plan_peak_bytes(p));
  vt_plan_free(q);
  uint32_t others = 0;
  const size_t step = vt_test_is_long() ? 1 : 7;
  for (size_t i = dense; i < t.n; i += step) {
    const char was = t.s[i];
    t.s[i] = was == '1' ? '2' : was == '0' ? '7' : (char)(was ^ 1);
    q = NULL;
    if (vt_plan_parse(g, t.s, t.n, vt_alloc_default(), &q, NULL) == VT_OK) {
      others++;
      CHECK(prints_as_text(q, t.s, t.n) && vt_plan_verify(q, NULL) == VT_OK);
    }
    vt_plan_free(q);
    t.s[i] = was;
    CHECK(vt_plan_parse(g, t.s, i, vt_alloc_default(), &q, NULL) == VT_FORMAT);
  }
  /* The texts that are valid plans have other scratch bytes, fingerprints or free offsets. */
  CHECK(others < t.n / 20);
  vt_text_done(&t);
  free_plan_and_graph(p, g);
}

/* ---- digests ---- */

static void test_target_changes_own_digest_only(void) {
  vt_graph *g = sample_graph();
  uint64_t bytes = 0;
  const vt_target one = {"one", 0, &bytes, scratch_of_step, NULL},
                  two = {"two", 0, &bytes, scratch_of_step, NULL};
  vt_plan *p = NULL, *q = NULL;
  CHECK(vt_plan_build(g, NULL, &one, vt_alloc_default(), &p, NULL) == VT_OK);
  CHECK(vt_plan_build(g, NULL, &two, vt_alloc_default(), &q, NULL) == VT_OK);
  CHECK(memcmp(&p->core, &q->core, 32) == 0 && memcmp(&p->target, &q->target, 32) != 0);
  CHECK(memcmp(&p->core, &p->target, 32) != 0);
  vt_plan_free(q);
  free_plan_and_graph(p, g);
}

/* ---- refusals ---- */

typedef struct meter { /* an allocator that records the largest block */
  vt_fault fault;
  size_t largest;
} meter;

static void *resize_and_record_largest(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = user;
  if (new_size > m->largest) m->largest = new_size;
  return vt_fault_resize(&m->fault, p, old_size, new_size);
}

static vt_status keep_seven_bytes_per_step(void *self, const vt_bk_step *steps, uint64_t n,
                                           uint64_t *out, vt_diag *d) {
  (void)self;
  (void)steps;
  (void)d;
  *out = 7 * n;
  return VT_OK;
}

/* The bytes that a backend keeps count in the target part, the peak and the live bytes, and nowhere
 * in the core; a plan that is parsed again has them, too. */
static void test_kept_bytes(void) {
  vt_graph *g = sample_graph();
  uint64_t bytes = 0;
  const vt_target plain = {"test", 0, &bytes, scratch_of_step, NULL},
                  keeps = {"test", 0, &bytes, scratch_of_step, keep_seven_bytes_per_step};
  vt_plan *p = NULL, *q = NULL, *again = NULL;
  vt_text text;
  vt_diag d = {0};
  CHECK(vt_plan_build(g, NULL, &plain, vt_alloc_default(), &p, &d) == VT_OK);
  CHECK(vt_plan_build(g, NULL, &keeps, vt_alloc_default(), &q, &d) == VT_OK);
  const uint64_t kept = 7 * (uint64_t)q->n_bk_steps;
  CHECK(p->class_bytes[VT_CLASS_KEPT] == 0 && q->class_bytes[VT_CLASS_KEPT] == kept && kept > 0);
  CHECK(vt_plan_peak_bytes(q) == vt_plan_peak_bytes(p) + kept);
  CHECK(q->live_bytes == p->live_bytes + kept && q->live_step == p->live_step);
  CHECK(memcmp(&p->core, &q->core, sizeof p->core) == 0);
  CHECK(memcmp(&p->target, &q->target, sizeof p->target) != 0);
  vt_text_init(&text, vt_alloc_default());
  vt_plan_print(q, 1, &text);
  CHECK(vt_plan_parse(g, text.s, text.n, vt_alloc_default(), &again, &d) == VT_OK);
  CHECK(again != NULL && again->class_bytes[VT_CLASS_KEPT] == kept);
  vt_text_done(&text);
  vt_plan_free(again);
  vt_plan_free(q);
  vt_plan_free(p);
  vt_graph_free(g);
}

static void expect_build_failure(vt_graph *g, const vt_plan_options *o, uint64_t scratch,
                                 vt_status want, const char *text) {
  const vt_target t = {"test", 0, &scratch, scratch_of_step, NULL};
  meter m = {{0}, 0};
  vt_plan *p = NULL;
  vt_diag d = {0};
  CHECK(vt_plan_build(g, o, &t, (vt_alloc){&m, resize_and_record_largest}, &p, &d) == want &&
        p == NULL);
  CHECK(d.code == want && strstr(d.text, text) != NULL);
  if (strstr(d.text, text) == NULL) fprintf(stderr, "  '%s' has no '%s'\n", d.text, text);
  CHECK(m.fault.live == 0 && m.largest < 1 << 20);
  vt_graph_free(g);
}

/* y = neg(x0), in a graph with `copies` ports of that type and kind. */
static vt_graph *graph_of_ports(vt_type type, uint32_t copies, uint32_t kind) {
  vt_graph_builder gb;
  begin_graph(&gb, "limit");
  for (uint32_t i = 0; i < copies; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%u", i);
    add_port(&gb, name, kind, type);
  }
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, 0));
  return freeze_or_exit(&gb);
}

static void test_too_large_ports_are_refused(void) {
  const int64_t k = (int64_t)1 << 20, half = (int64_t)1 << 23;
  const vt_type over = {VT_DTYPE_F32, 3, {k, k, 65}}; /* 65 * 2^42, over 2^48 */
  const vt_type cube = {VT_DTYPE_F32, 4, {k * k, k * k, k * k, k * k}};
  const vt_type product = {VT_DTYPE_I8, 8, {half, half, half, half, half, half, half, half}};
  const vt_type hollow = {VT_DTYPE_F32, 3, {k * k, 0, k * k}};
  const vt_type most = {VT_DTYPE_F32, 3, {k, k, 40}}; /* one tensor fits, two together do not */
  const uint32_t in = VT_PORT_INPUT, param = VT_PORT_PARAM;
  expect_build_failure(graph_of_ports(over, 1, in), NULL, 0, VT_LIMIT, "'x0': a tensor of");
  expect_build_failure(graph_of_ports(cube, 1, param), NULL, 0, VT_LIMIT,
                       "'x0': a tensor has more elements");
  expect_build_failure(graph_of_ports(product, 1, in), NULL, 0, VT_LIMIT,
                       "a tensor has more elements");
  expect_build_failure(graph_of_ports(hollow, 1, in), NULL, 0, VT_LIMIT,
                       "a tensor has more elements");
  expect_build_failure(graph_of_ports(most, 2, in), NULL, 0, VT_LIMIT,
                       "the host_input tensors are beyond");
  expect_build_failure(graph_of_ports(most, 2, param), NULL, 0, VT_LIMIT,
                       "the parameter tensors are beyond");
}

static void test_large_temporaries_are_refused(void) {
  vt_graph_builder gb;
  const int64_t k = (int64_t)1 << 20;
  begin_graph(&gb, "limit");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 3, {k, k, 40}});
  const uint32_t y = vt_build1(&gb.b, VT_OP_neg, x), z = vt_build1(&gb.b, VT_OP_neg, x);
  vt_graph_add_result(&gb, "y", add_sum_node(&gb.b, vt_build2(&gb.b, VT_OP_add, y, z)));
  expect_build_failure(freeze_or_exit(&gb), NULL, 0, VT_LIMIT,
                       "temporaries and results are beyond 2^48 bytes");
}

static void test_invalid_options_are_refused(void) {
  const char *none = "none";
  const vt_plan_options o = {.n_stream = 1, .stream = &none};
  expect_build_failure(sample_graph(), &o, 0, VT_NAME, "no param 'none'");
  expect_build_failure(sample_graph(), NULL, ((uint64_t)1 << 48) + 1, VT_LIMIT,
                       "scratch beyond 2^48");
  expect_build_failure(sample_graph(), NULL, UINT64_MAX / 2, VT_LIMIT, "scratch beyond 2^48");
}

static void test_unbound_graph_is_refused(void) {
  vt_graph_builder gb;
  int64_t dim;
  begin_graph(&gb, "symbolic");
  CHECK(vt_dim_declare(&gb.g->dims, "B", &dim, NULL) == VT_OK);
  vt_graph_add_result(&gb, "y", add_port(&gb, "x", VT_PORT_INPUT, vector_type(dim)));
  expect_build_failure(freeze_or_exit(&gb), NULL, 0, VT_INTERNAL,
                       "before its dimensions are bound");
}

/* A tensor without elements takes no memory; a scalar takes that of one element. */
static void test_empty_tensors_take_no_memory(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "empty");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 2, {0, 1 << 20}});
  const uint32_t s = add_port(&gb, "s", VT_PORT_INPUT, (vt_type){VT_DTYPE_F64, 0, {0}});
  const uint32_t n = vt_build1(&gb.b, VT_OP_neg, x), m = vt_build1(&gb.b, VT_OP_neg, n);
  vt_graph_add_result(&gb, "m", m);
  vt_graph_add_result(&gb, "s", s);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[x].bytes == 0 && p->buffers[n].bytes == 0 && p->buffers[m].bytes == 0);
  CHECK(p->buffers[s].bytes == 8 && p->class_bytes[VT_CLASS_INPUT] == 256);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 0 && p->class_bytes[VT_CLASS_OUTPUT] == 0);
  CHECK(p->n_transfers == 2); /* those of the scalar: in and out */
  free_plan_and_graph(p, g);
}

/* Results that are ports stay in the class of the port; a graph may have no step. */
static void test_results_that_are_ports(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "ports");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, vector_type(1));
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, vector_type(1));
  vt_graph_add_result(&gb, "x", x);
  vt_graph_add_result(&gb, "again", x);
  vt_graph_add_result(&gb, "w", w);
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  check_buffer(p, x, VT_CLASS_INPUT, 0, 0, 0, 4);
  check_buffer(p, w, VT_CLASS_PARAM, 0, 0, 0, 4);
  CHECK(p->n_steps == 0 && p->class_bytes[VT_CLASS_OUTPUT] == 0 && p->live_bytes == 8);
  free_plan_and_graph(p, g);
}

/* Each allocation fails in turn: the planner returns VT_NOMEM and frees everything. */
static void test_planner_out_of_memory(void) {
  vt_graph *g = graph_with_every_feature();
  uint64_t bytes = 100;
  const char *w = "w";
  const vt_plan_options o = {.schedule = VT_SCHEDULE_MEMORY, .n_stream = 1, .stream = &w};
  const vt_target t = {"test", 1, &bytes, scratch_of_step, NULL};
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_plan *p = NULL;
    vt_diag d = {0};
    const vt_status s = vt_plan_build(g, &o, &t, vt_fault_alloc(&fault), &p, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s && (s == VT_OK) == (p != NULL));
    CHECK((s == VT_OK) == (d.text[0] == 0));
    vt_plan_free(p);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
  vt_graph_free(g);
}

int main(void) {
  test_kept_bytes();
  test_offsets_of_sample_plan();
  test_bk_step_fields();
  test_chain_in_one_buffer();
  test_when_result_is_in_place();
  test_value_takes_first_fitting_gap();
  test_which_values_are_views();
  test_views_keep_viewed_value_alive();
  test_dense_only_target_gets_copies();
  test_memory_schedule_saves_memory();
  test_uploads_of_streamed_params();
  test_group_operands_live_to_its_end();
  test_anchor_result_lives_in_group();
  test_group_price_has_outer_bytes();
  test_plan_prints_expected_text();
  test_parse_printed_plan(VT_SCHEDULE_SOURCE, 0, NULL);
  test_parse_printed_plan(VT_SCHEDULE_MEMORY, 1, "w");
  test_target_changes_own_digest_only();
  test_too_large_ports_are_refused();
  test_large_temporaries_are_refused();
  test_invalid_options_are_refused();
  test_unbound_graph_is_refused();
  test_empty_tensors_take_no_memory();
  test_results_that_are_ports();
  test_planner_out_of_memory();
  TEST_DONE();
}
