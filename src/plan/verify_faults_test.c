/* SPDX-License-Identifier: Apache-2.0
 * verify_faults_test.c - plans that are wrong although their parts agree with each other, such as
 * two values that overlap. The verifiers must refuse them. The sweep of the allocation verifier is
 * also compared with a check of every pair of values, and timed on many values. A chain is a value
 * and all values written in place over it. */
#include <string.h>
#include <time.h>
#include "verify_test.h"

/* Expects `verify` to refuse the plan with a message that contains `text`. */
static void expect_refused(const vt_plan *p, vt_status (*verify)(const vt_plan *, vt_diag *),
                           const char *text) {
  vt_diag d = {0};
  const vt_status s = verify(p, &d);
  CHECK(s == VT_INTERNAL && strstr(d.text, text) != NULL);
  if (s != VT_INTERNAL || strstr(d.text, text) == NULL)
    fprintf(stderr, "  '%s' instead of '%s'\n", d.text, text);
  CHECK(verify(p, NULL) == s);
}

static vt_type vector_type(int64_t n) {
  return (vt_type){.dtype = VT_DTYPE_F32, .rank = 1, .dim = {n}};
}

/* ---- the sweep compared with a check of every pair ---- */

/* 1 if `value` is `start` or was written in place over it, possibly through other values. */
static int is_in_chain(const vt_plan *p, uint32_t value, uint32_t start) {
  while (p->buffers[value].place == VT_PLACE_OVER) value = p->buffers[value].of;
  return value == start;
}

static void set_offset_of_chain(vt_plan *p, uint32_t start, uint64_t offset) {
  for (uint32_t i = 0; i < p->n_buffers; i++)
    if (is_in_chain(p, i, start)) p->buffers[i].offset = offset;
}

static int overlap_in_time_and_place(const vt_buffer *a, const vt_buffer *b) {
  return vt_class_arena(a->class) == vt_class_arena(b->class) && a->first <= b->last &&
         b->first <= a->last && a->offset < b->offset + b->bytes &&
         b->offset < a->offset + a->bytes;
}

/* 1 if no pair of values overlaps wrongly, and the arena of temporaries has the right size. */
static int is_allocation_valid(const vt_plan *p) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *a = &p->buffers[i];
    const uint64_t above = (a->offset + a->bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT;
    if (vt_class_arena(a->class) == VT_CLASS_TEMP && above * VT_PLAN_ALIGNMENT > end)
      end = above * VT_PLAN_ALIGNMENT;
    for (uint32_t k = 0; k < i; k++) {
      const vt_buffer *b = &p->buffers[k];
      if (overlap_in_time_and_place(a, b) && a->of != k && b->of != i) return 0;
    }
  }
  return end == vt_plan_arena_bytes(p, VT_CLASS_TEMP);
}

/* A graph of adds and negations of vectors of four lengths, drawn by a fixed generator. */
static vt_graph *random_graph(uint32_t seed) {
  enum { KINDS = 4 };
  vt_graph_builder gb;
  uint32_t last[KINDS], before[KINDS];
  begin_graph(&gb, "drawn");
  for (uint32_t k = 0; k < KINDS; k++) {
    const char name[2] = {(char)('a' + k), 0};
    last[k] = before[k] = add_port(&gb, name, VT_PORT_INPUT, vector_type(64 + 60 * (int64_t)k));
  }
  for (uint32_t i = 0; i < 40; i++) {
    seed = seed * 1664525 + 1013904223;
    const uint32_t k = seed >> 30, two = seed >> 20 & 1;
    const uint32_t made = two ? vt_build2(&gb.b, VT_OP_add, last[k], before[k])
                              : vt_build1(&gb.b, VT_OP_neg, before[k]);
    before[k] = seed >> 21 & 1 ? last[k] : before[k];
    last[k] = made;
  }
  for (uint32_t k = 0; k < KINDS; k++) {
    const char name[3] = {'o', (char)('a' + k), 0};
    vt_graph_add_result(&gb, name, vt_build2(&gb.b, VT_OP_add, last[k], before[k]));
  }
  return freeze_or_exit(&gb);
}

/* Moves each temporary to each offset; after each move the verifier must agree with
 * is_allocation_valid. */
static void test_sweep_finds_every_overlap(void) {
  uint32_t right = 0, wrong = 0;
  for (uint32_t seed = 1; seed <= 100; seed++) {
    vt_graph *g = random_graph(seed);
    vt_plan *p = build_plan_or_exit(g, seed & 1, 0, 0, NULL);
    CHECK(is_allocation_valid(p));
    for (uint32_t i = 0; i < p->n_buffers; i++) {
      const uint64_t old = p->buffers[i].offset, end = vt_plan_arena_bytes(p, VT_CLASS_TEMP);
      if (p->buffers[i].class != VT_CLASS_TEMP || p->buffers[i].place != VT_PLACE_OWN) continue;
      for (uint64_t at = 0; at + p->buffers[i].bytes <= end; at += VT_PLAN_ALIGNMENT) {
        set_offset_of_chain(p, i, at);
        const int fine = is_allocation_valid(p);
        CHECK((vt_verify_allocation(p, NULL) == VT_OK) == fine);
        right += fine != 0;
        wrong += fine == 0;
      }
      set_offset_of_chain(p, i, old);
    }
    vt_plan_free(p);
    vt_graph_free(g);
  }
  CHECK(right > 500 && wrong > 500);
  printf("moved values: %u plans valid, %u invalid\n", right, wrong);
}

/* ---- values written in place over bytes still in use ---- */

/*   values  0 x, 1 w (ports)   2 a = x + w   3 t = transpose a   4 b = a + t   5 c = neg a
 *           6 d = neg c (a result)   7 e = b * c   8 f = matmul e e   9 h = f + d (a result) */
enum { X, W, A, T, B, C, D, E, F, H };
static vt_graph *graph_of_square_matrices(void) {
  vt_graph_builder gb;
  const vt_type type = {VT_DTYPE_F32, 2, {16, 16}};
  begin_graph(&gb, "square");
  add_port(&gb, "x", VT_PORT_INPUT, type);
  add_port(&gb, "w", VT_PORT_PARAM, type);
  vt_build2(&gb.b, VT_OP_add, X, W);
  add_transpose_node(&gb.b, A);
  vt_build2(&gb.b, VT_OP_add, A, T);
  vt_build1(&gb.b, VT_OP_neg, A);
  vt_build1(&gb.b, VT_OP_neg, C);
  vt_build2(&gb.b, VT_OP_mul, B, C);
  vt_build2(&gb.b, VT_OP_matmul, E, E);
  vt_build2(&gb.b, VT_OP_add, F, D);
  vt_graph_add_result(&gb, "d", D);
  vt_graph_add_result(&gb, "h", H);
  return freeze_or_exit(&gb);
}

/* Declares `value` to be written in place over `of`; expects a refusal that contains `text`. */
static void expect_in_place_refused(uint32_t value, uint32_t of, const char *text) {
  vt_graph *g = graph_of_square_matrices();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  vt_buffer *b = &p->buffers[value];
  b->place = VT_PLACE_OVER;
  b->of = of;
  b->class = p->buffers[of].class;
  b->offset = p->buffers[of].offset;
  for (uint32_t i = 0; i < g->n_results; i++)
    if (g->results[i].value == value) b->class = VT_CLASS_TEMP;
  for (uint32_t v = value + 1; v < p->n_buffers;
       v++) /* sets the class of the views of `value` and of the values written over it */
    if (p->buffers[v].of != VT_NO_VALUE) p->buffers[v].class = p->buffers[p->buffers[v].of].class;
  expect_refused(p, vt_verify_allocation, text);
  vt_plan_free(p);
  vt_graph_free(g);
}

static void test_wrong_in_place_is_refused(void) {
  expect_in_place_refused(A, X, "writes over bytes still in use: '_0'"); /* X is a port */
  /* A is read later, and the same step reads it transposed */
  expect_in_place_refused(B, A, "writes over bytes still in use: '_2'");
  expect_in_place_refused(B, T, "writes over bytes still in use: '_2'"); /* T is a view */
  expect_in_place_refused(F, E, "writes over bytes still in use: '_6'"); /* F is not pointwise */
  expect_in_place_refused(H, F, "misstates the class of '_7'"); /* H is a result: own bytes */
  expect_in_place_refused(E, A, "misstates the place of '_5'"); /* A is not an operand of E */
  expect_in_place_refused(D, C, "misstates the class of '_4'"); /* D is a result: own bytes */
}

/* A temporary that claims to be a result, with the sums of the classes changed to agree, is
 * refused. */
static void test_wrong_class_is_refused(void) {
  vt_graph *g = graph_of_square_matrices();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  p->buffers[F].class = VT_CLASS_OUTPUT;
  p->class_bytes[VT_CLASS_OUTPUT] += p->buffers[F].bytes;
  p->class_bytes[VT_CLASS_TEMP] -= p->buffers[F].bytes;
  expect_refused(p, vt_verify_allocation, "misstates the class of '_6'");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* A result written over an operand that dies at the step is refused if the step also reads the
 * operand transposed. */
static void test_over_transposed_is_refused(void) {
  vt_graph_builder gb;
  const vt_type type = {VT_DTYPE_F32, 2, {16, 16}};
  begin_graph(&gb, "transposed");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, type);
  const uint32_t a = vt_build1(&gb.b, VT_OP_neg, x);
  const uint32_t b = vt_build2(&gb.b, VT_OP_add, a, add_transpose_node(&gb.b, a));
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, b));
  vt_graph *g = freeze_or_exit(&gb);
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  CHECK(p->buffers[b].place == VT_PLACE_OWN);
  p->buffers[b].place = VT_PLACE_OVER;
  p->buffers[b].of = a;
  p->buffers[b].class = p->buffers[a].class;
  p->buffers[b].offset = p->buffers[a].offset;
  expect_refused(p, vt_verify_allocation, "writes over bytes still in use: '_2'");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- uploads, bodies, copies, scratch ---- */

static uint32_t first_step_of_op(const vt_plan *p, uint32_t op) {
  for (uint32_t i = 0; i < p->n_steps; i++)
    if (p->g->nodes[p->step_node[i]].op == op) return i;
  exit(1);
}

/* An upload moved onto a value that lives at the step of the upload is refused. */
static void test_upload_overlap_is_refused(void) {
  vt_graph *g = graph_with_every_feature();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, "w");
  uint32_t moved = 0;
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    vt_transfer *t = &p->transfers[i];
    const uint64_t was = t->offset;
    if (t->class != VT_CLASS_TEMP) continue;
    for (uint32_t v = 0; v < p->n_buffers; v++) {
      const vt_buffer *b = &p->buffers[v];
      const int live = b->first <= t->step && t->step <= b->last && b->bytes > 0;
      if (!live || b->class != VT_CLASS_TEMP || b->place == VT_PLACE_VIEW) continue;
      t->offset = b->offset;
      expect_refused(p, vt_verify_allocation, "");
      moved++;
    }
    t->offset = was;
  }
  CHECK(moved > 0 && vt_verify_allocation(p, NULL) == VT_OK);
  vt_plan_free(p);
  vt_graph_free(g);
}

static int is_argument_or_view_of_it(const vt_plan *p, uint32_t value) {
  while (p->buffers[value].place == VT_PLACE_VIEW) value = p->buffers[value].of;
  return p->buffers[value].place == VT_PLACE_ARG;
}

static void shift_offsets(vt_plan *p, uint64_t bytes) {
  for (uint32_t i = 0; i < p->n_buffers; i++)
    if (!is_argument_or_view_of_it(p, i)) p->buffers[i].offset += bytes;
}

/* Bodies whose values were moved onto the operand of their cond are refused. */
static void test_moved_bodies_are_refused(void) {
  vt_graph *g = graph_with_every_feature();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const uint32_t step = first_step_of_op(p, VT_OP_cond);
  vt_nested *nested = &p->nested[step];
  const uint64_t top = vt_plan_arena_bytes(p, VT_CLASS_TEMP) - nested->bytes;
  uint64_t onto = p->buffers[g->operands[g->nodes[p->step_node[step]].first_in + 1]].offset;
  if (onto > top) onto = top; /* this lower offset still overlaps the operand */
  for (uint32_t k = 0; k < nested->n; k++) shift_offsets(nested->plan[k], onto - nested->offset);
  nested->offset = onto;
  expect_refused(p, vt_verify_allocation, "the bodies of step");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* A graph in which one step reads two views that need dense copies. */
static vt_graph *graph_with_two_views(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "views");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t y = add_port(&gb, "y", VT_PORT_INPUT, tall_type);
  const uint32_t s = add_transpose_node(&gb.b, x), t = add_transpose_node(&gb.b, y);
  vt_graph_add_result(&gb, "z", vt_build2(&gb.b, VT_OP_add, s, t));
  return freeze_or_exit(&gb);
}

static void test_moved_copies_are_refused(void) {
  vt_graph *g = graph_with_two_views();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 1, 100, NULL);
  CHECK(p->n_bk_steps == 3 && p->dense[2] != VT_NO_OFFSET && p->dense[3] != VT_NO_OFFSET);
  const uint64_t old = p->dense[3];
  p->dense[3] = p->dense[2];
  expect_refused(p, vt_verify_allocation, "the copy of '_1' and the copy of '_0' overlap");
  p->dense[3] = old + 1;
  expect_refused(p, vt_verify_allocation, "misplaces the copy of '_1'");
  p->dense[3] = old;
  p->bk_steps[2].work_offset = p->dense[3];
  expect_refused(p, vt_verify_allocation, "the scratch of step 0 and the copy of '_1' overlap");
  p->bk_steps[2].work_offset = vt_plan_arena_bytes(p, VT_CLASS_TEMP);
  expect_refused(p, vt_verify_allocation, "step 0 of the plan misplaces its scratch");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* Scratch of a body that was moved onto the scratch of its step is refused. */
static void test_moved_body_scratch_is_refused(void) {
  vt_graph *g = graph_with_every_feature();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 1000, NULL);
  const uint32_t step = first_step_of_op(p, VT_OP_loop);
  CHECK(p->bk_steps[step].n_body == 1 && p->bk_steps[step].work_bytes > 0);
  p->nested[step].plan[0]->bk_steps[0].work_offset = p->bk_steps[step].work_offset;
  expect_refused(p, vt_verify_allocation,
                 "scratch in the bodies of step 6 and the scratch of step 6");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* A group of two that may run as one launch: m = transpose(x) * w, y = m < v. The dense copy and
 * the scratch, which only the first member needs, must not overlap the result of the second. */
enum { GX, GW, GV, GT, GM, GY };
static vt_graph *graph_of_comparison(void) {
  vt_graph_builder gb;
  begin_graph(&gb, "compared");
  add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  add_port(&gb, "w", VT_PORT_PARAM, wide_type);
  add_port(&gb, "v", VT_PORT_PARAM, wide_type);
  add_transpose_node(&gb.b, GX);
  gb.group = 1;
  vt_build2(&gb.b, VT_OP_mul, GT, GW);
  vt_build2(&gb.b, VT_OP_lt, GM, GV);
  gb.group = 0;
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_not, GY));
  return freeze_or_exit(&gb);
}

static void test_overlap_in_group_is_refused(void) {
  vt_graph *g = graph_of_comparison();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 1, 100, NULL);
  const uint64_t copy = p->dense[GT];
  CHECK(p->n_bk_steps == 4 && p->bk_step_node[0] == g->values[GT].node &&
        p->buffers[GY].first == 1);
  p->dense[GT] = p->buffers[GY].offset;
  expect_refused(p, vt_verify_allocation, "'_2' and the copy of '_0' overlap");
  p->dense[GT] = copy;
  for (uint32_t r = 0; r < 3; r++) p->bk_steps[r].work_bytes = p->bk_steps[r].work_offset = 0;
  p->bk_steps[1].work_bytes = 100;
  p->bk_steps[1].work_offset = p->buffers[GY].offset;
  expect_refused(p, vt_verify_allocation, "'_2' and the scratch of step 0 overlap");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- order ---- */

/* Refused: a group whose members are not next to each other, and a group number out of range. */
static void test_broken_groups_are_refused(void) {
  vt_graph *g = graph_of_square_matrices();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  g->nodes[2].group = p->bk_steps[1].group = 1;
  g->nodes[3].group = p->bk_steps[2].group = 1;
  CHECK(vt_verify_schedule(p, NULL) == VT_OK);
  g->nodes[5].group = p->bk_steps[4].group = 1;
  expect_refused(p, vt_verify_schedule, "step 4 of the plan is torn from its fusion group");
  g->nodes[5].group = p->bk_steps[4].group = 1000;
  expect_refused(p, vt_verify_schedule, "step 4 of the plan has a group number out of range");
  vt_plan_free(p);
  vt_graph_free(g);
}

static void test_wrong_order_is_refused(void) {
  vt_graph *g = graph_of_square_matrices();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 0, 0, NULL);
  const uint32_t first = p->step_node[0];
  p->step_node[0] = p->step_node[p->n_steps - 1];
  p->step_node[p->n_steps - 1] = first;
  expect_refused(p, vt_verify_schedule, "step 0 of the plan reads the result of step");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- many values, and no values ---- */

/* 50000 values are all live before they are added in pairs; the time to verify must not be
 * quadratic. */
static void test_time_with_many_live_values(void) {
  enum { LEAVES = 50000 };
  static uint32_t level[LEAVES];
  vt_graph_builder gb;
  begin_graph(&gb, "many");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, vector_type(64));
  for (uint32_t i = 0; i < LEAVES; i++) level[i] = vt_build1(&gb.b, VT_OP_neg, x);
  for (uint32_t n = LEAVES; n > 1; n = (n + 1) / 2)
    for (uint32_t i = 0; i < n / 2; i++) {
      level[i] = vt_build2(&gb.b, VT_OP_add, level[i], level[n - 1 - i]);
    }
  vt_graph_add_result(&gb, "y", level[0]);
  vt_graph *g = freeze_or_exit(&gb);
  const clock_t start = clock();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 0, NULL);
  const clock_t built = clock();
  CHECK(vt_plan_verify(p, NULL) == VT_OK);
  printf("%u steps: built in %.3f s, verified in %.3f s\n", p->n_steps,
         (double)(built - start) / CLOCKS_PER_SEC, (double)(clock() - built) / CLOCKS_PER_SEC);
  CHECK(p->n_steps == 2 * LEAVES - 1 &&
        p->class_bytes[VT_CLASS_TEMP] + 256 == (uint64_t)LEAVES * 256);
  /* Moves the last of the LEAVES values onto another. */
  p->buffers[LEAVES].offset = p->buffers[LEAVES / 3].offset;
  p->buffers[LEAVES].class = p->buffers[LEAVES / 3].class;
  expect_refused(p, vt_verify_allocation, "overlap");
  vt_plan_free(p);
  vt_graph_free(g);
}

/* A value without bytes and views of such a value may have any offset; a graph may have no step. */
static void test_empty_values_may_be_anywhere(void) {
  vt_graph_builder gb;
  const vt_attr_slice right = {
      .size = sizeof right, .start = {.n = 2, .v = {0, 64}}, .stop = {.n = 2, .v = {0, 128}}};
  begin_graph(&gb, "none");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 2, {0, 128}});
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, (vt_type){VT_DTYPE_F32, 2, {0, 128}});
  const uint32_t s = gb.b.node(&gb.b, VT_OP_slice, &x, 1, &right);
  const uint32_t t = gb.b.node(&gb.b, VT_OP_slice, &w, 1, &right);
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_add, s, t));
  vt_graph *g = freeze_or_exit(&gb);
  for (uint32_t i = 0; i < 4; i++)
    vt_plan_free(build_plan_or_exit(g, VT_SCHEDULE_SOURCE, i & 1, 10, i & 2 ? "*" : NULL));
  vt_graph_free(g);
  begin_graph(&gb, "nothing");
  vt_graph_add_result(&gb, "y", add_port(&gb, "x", VT_PORT_INPUT, vector_type(3)));
  g = freeze_or_exit(&gb);
  vt_plan_free(build_plan_or_exit(g, VT_SCHEDULE_SOURCE, 0, 10, NULL));
  vt_graph_free(g);
}

/* Each allocation of the verifiers fails in turn. */
static void test_verifiers_out_of_memory(void) {
  vt_graph *g = graph_with_every_feature();
  vt_plan *p = build_plan_or_exit(g, VT_SCHEDULE_MEMORY, 1, 100, "*");
  const vt_alloc usual = p->arena.a;
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_diag d = {0};
    p->arena.a = vt_fault_alloc(&fault);
    const vt_status s = vt_plan_verify(p, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s && fault.live == 0);
  }
  CHECK(asked > 10);
  p->arena.a = usual;
  vt_plan_free(p);
  vt_graph_free(g);
}

int main(void) {
  test_sweep_finds_every_overlap();
  test_wrong_in_place_is_refused();
  test_wrong_class_is_refused();
  test_over_transposed_is_refused();
  test_upload_overlap_is_refused();
  test_moved_bodies_are_refused();
  test_moved_copies_are_refused();
  test_moved_body_scratch_is_refused();
  test_overlap_in_group_is_refused();
  test_broken_groups_are_refused();
  test_wrong_order_is_refused();
  test_time_with_many_live_values();
  test_empty_values_may_be_anywhere();
  test_verifiers_out_of_memory();
  TEST_DONE();
}
