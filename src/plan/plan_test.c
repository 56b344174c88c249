/* SPDX-License-Identifier: Apache-2.0
 * plan_test.c - lifetimes, placement and digests of plans, and a verifier that notices every
 * field of a good plan that is changed. */
#include "vt_plan.h"
#include <string.h>
#include "vt_test.h"

/* ---- a target that asks for scratch ---- */

typedef struct asker {
  uint64_t bytes; /* of every step */
  uint32_t calls;
  vt_status status;
} asker;

static vt_status workspace(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  asker *a = self;
  a->calls++;
  if (a->status != VT_OK) return VT_FAIL(d, a->status, "no scratch");
  *out = step->n_in > 0 ? a->bytes : 0;
  return VT_OK;
}

static vt_target target_of(asker *a, const char *fingerprint) {
  return (vt_target){.fingerprint = fingerprint, .self = a, .workspace = workspace};
}

/* ---- graphs ---- */

static uint32_t port(vt_graph_builder *gb, const char *name, uint32_t kind, vt_type type) {
  const vt_init_info *zeros = vt_init_find("zeros");
  const int is_param = kind == VT_PORT_PARAM;
  const vt_port p = {.name = name,
                     .kind = kind,
                     .init = is_param ? zeros->number : 0,
                     .init_attrs = is_param ? zeros->attrs->defaults : NULL};
  return vt_graph_add_port(gb, &p, &type);
}

static vt_type vector(int64_t n) { return (vt_type){.dtype = VT_DTYPE_F32, .rank = 1, .dim = {n}}; }

static void begin(vt_graph_builder *gb, const char *name) {
  if (vt_graph_begin(gb, name, vt_alloc_default(), NULL) != VT_OK) exit(1);
}

static vt_graph *freeze(vt_graph_builder *gb) {
  vt_graph *g = NULL;
  CHECK(vt_graph_freeze(gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* nothing below makes sense */
  return g;
}

/* The sample all corruptions start from:
 *   ports  0 x f32[100] input, 1 w f32[100] param
 *   nodes  0 a = x + w   1 b = neg a   2 c = a * b   3 e = neg c (e is an output)   4 f = c + e
 *   values 2..6; results "e" and "f", and "same" which is f once more */
enum { X, W, A, B, C, E, F };
static vt_graph *sample(void) {
  vt_graph_builder gb;
  begin(&gb, "sample");
  port(&gb, "x", VT_PORT_INPUT, vector(100));
  port(&gb, "w", VT_PORT_PARAM, vector(100));
  vt_build2(&gb.b, VT_OP_add, X, W);
  vt_build1(&gb.b, VT_OP_neg, A);
  vt_build2(&gb.b, VT_OP_mul, A, B);
  vt_build1(&gb.b, VT_OP_neg, C);
  vt_build2(&gb.b, VT_OP_add, C, E);
  vt_graph_add_result(&gb, "e", E);
  vt_graph_add_result(&gb, "f", F);
  vt_graph_add_result(&gb, "same", F);
  return freeze(&gb);
}

static vt_plan *plan_for(const vt_graph *g, uint64_t scratch, const char *fingerprint) {
  asker a = {.bytes = scratch};
  const vt_target t = target_of(&a, fingerprint);
  vt_plan *p = NULL;
  vt_diag d = {0};
  CHECK(vt_plan_build(g, &t, vt_alloc_default(), &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1);
  CHECK(a.calls == g->n_nodes && vt_plan_verify(p, &d) == VT_OK && d.code == VT_OK);
  return p;
}

static void check_buffer(const vt_plan *p, uint32_t v, uint32_t class, uint32_t first,
                         uint32_t last, uint64_t offset, uint64_t bytes) {
  const vt_buffer *b = &p->buffers[v];
  const int same = b->value == v && b->class == class && b->first == first && b->last == last &&
                   b->offset == offset && b->bytes == bytes;
  CHECK(same);
  if (!same)
    fprintf(stderr, "  value %u: class %u steps %u..%u +%llu %llu bytes\n", v, b->class, b->first,
            b->last, (unsigned long long)b->offset, (unsigned long long)b->bytes);
}

/* 400 bytes take 512 each: every tensor starts at a multiple of 256. */
static void test_sample(void) {
  vt_graph *g = sample();
  vt_plan *p = plan_for(g, 1000, "test");
  check_buffer(p, X, VT_CLASS_INPUT, 0, 5, 0, 400);
  check_buffer(p, W, VT_CLASS_PARAM, 0, 5, 0, 400);
  check_buffer(p, A, VT_CLASS_TEMP, 0, 2, 0, 400);
  check_buffer(p, B, VT_CLASS_TEMP, 1, 2, 512, 400);
  check_buffer(p, C, VT_CLASS_TEMP, 2, 4, 1024, 400);
  check_buffer(p, E, VT_CLASS_OUTPUT, 3, 5, 0, 400);
  check_buffer(p, F, VT_CLASS_OUTPUT, 4, 5, 512, 400);
  CHECK(p->class_bytes[VT_CLASS_INPUT] == 512 && p->class_bytes[VT_CLASS_PARAM] == 512);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 1536 && p->class_bytes[VT_CLASS_OUTPUT] == 1024);
  CHECK(p->class_bytes[VT_CLASS_WORK] == 1024); /* 1000, rounded up; shared by all steps */
  for (uint32_t i = 0; i < p->n_steps; i++)
    CHECK(p->step_node[i] == i && p->steps[i].work_bytes == 1000 && p->steps[i].work_offset == 0);
  vt_plan_free(p);
  vt_graph_free(g);
}

static void test_step(void) {
  vt_graph *g = sample();
  vt_plan *p = plan_for(g, 0, "test");
  const vt_bk_step *s = &p->steps[2];
  CHECK(s->size == sizeof *s && s->op == VT_OP_mul && s->n_in == 2 && s->n_out == 1);
  CHECK(s->attrs == g->nodes[2].attrs && s->attrs_size == sizeof(vt_attr_none));
  CHECK(s->in[1].arena == VT_CLASS_TEMP && s->in[1].offset == 512);
  CHECK(s->out[0].dtype == VT_DTYPE_F32 && s->out[0].rank == 1 && s->out[0].dim[0] == 100);
  CHECK(s->out[0].stride[0] == 1 && s->out[0].offset == 1024 && s->work_bytes == 0);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* However long the chain, two buffers take turns: the operand lives while its result is made. */
static void test_chain(void) {
  vt_graph_builder gb;
  begin(&gb, "chain");
  uint32_t v = port(&gb, "x", VT_PORT_INPUT, vector(64));
  for (int i = 0; i < 50; i++) v = vt_build1(&gb.b, i % 2 ? VT_OP_neg : VT_OP_abs, v);
  vt_graph_add_result(&gb, "y", v);
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 0, "test");
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 512 && p->class_bytes[VT_CLASS_OUTPUT] == 256);
  for (uint32_t i = 1; i < 50; i++) CHECK(p->buffers[i].offset == (i % 2 ? 0 : 256));
  vt_plan_free(p);
  vt_graph_free(g);
}

/* First fit: a gap that is large enough is taken before new ground, a smaller one is not. */
static void test_first_fit(void) {
  vt_graph_builder gb;
  begin(&gb, "gaps");
  const vt_attr_slice half = {
      .size = sizeof half, .start = {.n = 1, .v = {0}}, .stop = {.n = 1, .v = {64}}};
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, vector(128));
  const uint32_t big = vt_build1(&gb.b, VT_OP_neg, x);                  /* 512 bytes at 0 */
  const uint32_t small = gb.b.node(&gb.b, VT_OP_slice, &big, 1, &half); /* 256 at 512 */
  const uint32_t other = vt_build1(&gb.b, VT_OP_neg, x);                /* big is dead: at 0 */
  const uint32_t more = vt_build1(&gb.b, VT_OP_neg, small);             /* 256: behind both */
  const uint32_t cut = gb.b.node(&gb.b, VT_OP_slice, &other, 1, &half); /* small's place */
  const uint32_t wide = vt_build2(&gb.b, VT_OP_add, other, other);      /* 512: no gap, on top */
  const uint32_t sum = vt_build2(&gb.b, VT_OP_add, cut, more);
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_add, sum, sum));
  vt_graph_add_result(&gb, "z", vt_build1(&gb.b, VT_OP_neg, wide));
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 0, "test");
  CHECK(p->buffers[big].offset == 0 && p->buffers[small].offset == 512);
  CHECK(p->buffers[other].offset == 0 && p->buffers[more].offset == 768);
  CHECK(p->buffers[cut].offset == 512 && p->buffers[wide].offset == 1024);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 1536);
  vt_plan_free(p);
  vt_graph_free(g);
}

static void test_strides(void) {
  vt_graph_builder gb;
  begin(&gb, "strides");
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_I8, 4, {2, 3, 1, 5}});
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, x));
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 0, "test");
  static const int64_t want[8] = {15, 5, 5, 1};
  CHECK(memcmp(p->steps[0].in[0].stride, want, sizeof want) == 0);
  CHECK(p->buffers[x].bytes == 30);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* Nothing takes no memory, wherever it stands; a scalar takes one element. */
static void test_empty(void) {
  vt_graph_builder gb;
  begin(&gb, "empty");
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 2, {0, 1 << 20}});
  const uint32_t s = port(&gb, "s", VT_PORT_INPUT, (vt_type){VT_DTYPE_F64, 0, {0}});
  const uint32_t n = vt_build1(&gb.b, VT_OP_neg, x), m = vt_build1(&gb.b, VT_OP_neg, n);
  vt_graph_add_result(&gb, "m", m);
  vt_graph_add_result(&gb, "s", s);
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 0, "test");
  CHECK(p->buffers[x].bytes == 0 && p->buffers[n].bytes == 0 && p->buffers[m].bytes == 0);
  CHECK(p->buffers[s].bytes == 8 && p->class_bytes[VT_CLASS_INPUT] == 256);
  CHECK(p->class_bytes[VT_CLASS_TEMP] == 0 && p->class_bytes[VT_CLASS_OUTPUT] == 0);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* Outputs that are ports stay where ports are; a graph may have no step at all. */
static void test_port_results(void) {
  vt_graph_builder gb;
  begin(&gb, "ports");
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, vector(1));
  const uint32_t w = port(&gb, "w", VT_PORT_PARAM, vector(1));
  vt_graph_add_result(&gb, "x", x);
  vt_graph_add_result(&gb, "again", x);
  vt_graph_add_result(&gb, "w", w);
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 0, "test");
  check_buffer(p, x, VT_CLASS_INPUT, 0, 0, 0, 4);
  check_buffer(p, w, VT_CLASS_PARAM, 0, 0, 0, 4);
  CHECK(p->n_steps == 0 && p->class_bytes[VT_CLASS_OUTPUT] == 0);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- digests ---- */

static int same_hash(const vt_hash256 *a, const vt_hash256 *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static void test_digests(void) {
  vt_graph *g = sample();
  vt_plan *p = plan_for(g, 0, "one"), *q = plan_for(g, 0, "one");
  vt_plan *other = plan_for(g, 0, "two"), *scratch = plan_for(g, 64, "one");
  CHECK(same_hash(&p->core, &q->core) && same_hash(&p->target, &q->target));
  CHECK(same_hash(&p->core, &other->core) && !same_hash(&p->target, &other->target));
  CHECK(same_hash(&p->core, &scratch->core) && !same_hash(&p->target, &scratch->target));
  CHECK(!same_hash(&p->core, &p->target));
  vt_plan_free(p);
  vt_plan_free(q);
  vt_plan_free(other);
  vt_plan_free(scratch);
  vt_graph_free(g);
}

static void test_print(void) {
  static const char want[] =
      "plan 1, numerics 1\n"
      "core chain {\n"
      "  input 256 bytes\n"
      "  param 0 bytes\n"
      "  temp 256 bytes\n"
      "  output 256 bytes\n"
      "  x: f32[4] input +0 16 bytes, steps 0..2\n"
      "  _0: f32[4] temp +0 16 bytes, steps 0..1\n"
      "  _1: f32[] output +0 4 bytes, steps 1..2\n"
      "  step 0: _0 = neg(x)\n"
      "  step 1: _1 = sum(_0, axes=[], keep=false)\n"
      "}\n"
      "target test {\n"
      "  work 256 bytes\n"
      "  step 0: work +0 10 bytes\n"
      "  step 1: work +0 10 bytes\n"
      "}\n";
  vt_graph_builder gb;
  vt_text t;
  begin(&gb, "chain");
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, vector(4));
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_sum, vt_build1(&gb.b, VT_OP_neg, x)));
  vt_graph *g = freeze(&gb);
  vt_plan *p = plan_for(g, 10, "test");
  vt_text_init(&t, vt_alloc_default());
  vt_plan_print(p, 1, &t);
  CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0);
  if (strcmp(t.s, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- corruption: each one alone must be noticed ---- */

static vt_bk_tensor *in_of(vt_plan *p, uint32_t step) { /* a copy that may be written to */
  static vt_bk_tensor copy[4];
  memcpy(copy, p->steps[step].in, p->steps[step].n_in * sizeof *copy);
  p->steps[step].in = copy;
  return copy;
}
static vt_bk_tensor *out_of(vt_plan *p, uint32_t step) {
  static vt_bk_tensor copy;
  copy = p->steps[step].out[0];
  p->steps[step].out = &copy;
  return &copy;
}

/* The buffer and the tensors of every step that names it, so that only the place is at fault. */
static void place_at(vt_plan *p, uint32_t value, uint32_t class, uint64_t offset) {
  static vt_bk_tensor copies[8][3];
  p->buffers[value].class = class;
  p->buffers[value].offset = offset;
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[i];
    memcpy(copies[i], p->steps[i].in, n->n_in * sizeof *copies[i]);
    copies[i][2] = p->steps[i].out[0];
    for (uint32_t k = 0; k < 3; k++) {
      const uint32_t named = k == 2 ? n->first_out : p->g->operands[n->first_in + k];
      if ((k < 2 && k >= n->n_in) || named != value) continue;
      copies[i][k].arena = class;
      copies[i][k].offset = offset;
    }
    p->steps[i].in = copies[i];
    p->steps[i].out = &copies[i][2];
  }
}

static void move_to(vt_plan *p, uint32_t value, uint64_t offset) {
  place_at(p, value, p->buffers[value].class, offset);
}

static void overlap_temp(vt_plan *p) { move_to(p, B, 0); }
static void overlap_partly(vt_plan *p) { move_to(p, B, 256); }
static void overlap_output(vt_plan *p) { move_to(p, F, 0); }
static void beyond_the_end(vt_plan *p) { move_to(p, C, 1280); }
static void far_beyond(vt_plan *p) { move_to(p, C, (uint64_t)1 << 63); }
static void not_aligned(vt_plan *p) { move_to(p, C, 1024 + 64); }
static void arena_too_small(vt_plan *p) { p->class_bytes[VT_CLASS_TEMP] = 1024; }
static void arena_gone(vt_plan *p) { p->class_bytes[VT_CLASS_INPUT] = 0; }

static void first_early(vt_plan *p) { p->buffers[C].first = 1; }
static void first_late(vt_plan *p) { p->buffers[C].first = 3; }
static void last_early(vt_plan *p) { p->buffers[C].last = 3; }
static void last_late(vt_plan *p) { p->buffers[C].last = 5; }
static void output_dies(vt_plan *p) { p->buffers[E].last = 4; }
static void input_dies(vt_plan *p) { p->buffers[X].last = 0; }
static void lifetime_backwards(vt_plan *p) { p->buffers[B].first = 3; }
static void bytes_less(vt_plan *p) { p->buffers[A].bytes = 396; }
static void bytes_more(vt_plan *p) { p->buffers[A].bytes = 404; }
static void bytes_none(vt_plan *p) { p->buffers[A].bytes = 0; }
static void value_other(vt_plan *p) { p->buffers[A].value = B; }
static void class_output(vt_plan *p) { p->buffers[A].class = VT_CLASS_OUTPUT; }
static void class_of_output(vt_plan *p) { p->buffers[F].class = VT_CLASS_TEMP; }
static void class_of_param(vt_plan *p) { p->buffers[W].class = VT_CLASS_INPUT; }
static void class_work(vt_plan *p) { p->buffers[A].class = VT_CLASS_WORK; }
static void temp_among_outputs(vt_plan *p) { /* where there is room for it */
  p->class_bytes[VT_CLASS_OUTPUT] = 1536;
  place_at(p, A, VT_CLASS_OUTPUT, 1024);
}
static void class_unknown(vt_plan *p) { p->buffers[A].class = 77; }
static void fewer_buffers(vt_plan *p) { p->n_buffers--; }
static void fewer_steps(vt_plan *p) { p->n_steps--; }

static void step_size(vt_plan *p) { p->steps[1].size -= 8; }
static void step_op(vt_plan *p) { p->steps[1].op = VT_OP_abs; }
static void step_n_in(vt_plan *p) { p->steps[2].n_in = 1; }
static void step_n_out(vt_plan *p) { p->steps[2].n_out = 2; }
static void step_group(vt_plan *p) { p->steps[2].group = 1; }
static void step_region(vt_plan *p) { p->steps[2].region = 1; }
static void step_attrs(vt_plan *p) { p->steps[2].attrs = p->steps[1].attrs; }
static void step_attrs_gone(vt_plan *p) { p->steps[2].attrs = NULL; }
static void step_attrs_size(vt_plan *p) { p->steps[2].attrs_size++; }
static void step_of_another(vt_plan *p) { p->step_node[1] = 2; }
static void step_of_none(vt_plan *p) { p->step_node[1] = 99; }
static void steps_swapped(vt_plan *p) { /* b before a, and all the rest says so too */
  const vt_bk_step s = p->steps[0];
  p->steps[0] = p->steps[1];
  p->steps[1] = s;
  p->step_node[0] = 1;
  p->step_node[1] = 0;
  p->buffers[A].first = 1;
  p->buffers[B].first = 0;
}
static void work_bytes(vt_plan *p) { p->steps[2].work_bytes = 1025; }
static void work_offset(vt_plan *p) { p->steps[2].work_offset = 256; }
static void work_offset_huge(vt_plan *p) { p->steps[2].work_offset = UINT64_MAX - 255; }
static void work_arena(vt_plan *p) { p->steps[2].work_arena = VT_CLASS_TEMP; }
static void work_gone(vt_plan *p) { p->class_bytes[VT_CLASS_WORK] = 0; }

static void in_dtype(vt_plan *p) { in_of(p, 2)[0].dtype = VT_DTYPE_I32; }
static void in_rank(vt_plan *p) { in_of(p, 2)[0].rank = 0; }
static void in_rank_nine(vt_plan *p) { in_of(p, 2)[0].rank = 9; }
static void in_dim(vt_plan *p) { in_of(p, 2)[1].dim[0] = 101; }
static void in_dim_unused(vt_plan *p) { in_of(p, 2)[1].dim[1] = 1; }
static void in_stride(vt_plan *p) { in_of(p, 2)[1].stride[0] = 2; }
static void in_stride_unused(vt_plan *p) { in_of(p, 2)[1].stride[7] = 1; }
static void in_offset(vt_plan *p) { in_of(p, 2)[1].offset = 0; }
static void in_arena(vt_plan *p) { in_of(p, 2)[1].arena = VT_CLASS_OUTPUT; }
static void in_size(vt_plan *p) { in_of(p, 2)[1].size = 8; }
static void out_dim(vt_plan *p) { out_of(p, 0)->dim[0] = 99; }
static void out_stride(vt_plan *p) { out_of(p, 0)->stride[0] = 0; }
static void out_offset(vt_plan *p) { out_of(p, 0)->offset = 512; }
static void out_arena(vt_plan *p) { out_of(p, 0)->arena = VT_CLASS_PARAM; }

typedef void corrupt_fn(vt_plan *p);
#define FAULT(f) \
  { #f, f }
static const struct {
  const char *name;
  corrupt_fn *corrupt;
} faults[] = {
    FAULT(overlap_temp),
    FAULT(overlap_partly),
    FAULT(overlap_output),
    FAULT(beyond_the_end),
    FAULT(far_beyond),
    FAULT(not_aligned),
    FAULT(arena_too_small),
    FAULT(arena_gone),
    FAULT(first_early),
    FAULT(first_late),
    FAULT(last_early),
    FAULT(last_late),
    FAULT(output_dies),
    FAULT(input_dies),
    FAULT(lifetime_backwards),
    FAULT(bytes_less),
    FAULT(bytes_more),
    FAULT(bytes_none),
    FAULT(value_other),
    FAULT(class_output),
    FAULT(class_of_output),
    FAULT(class_of_param),
    FAULT(class_work),
    FAULT(class_unknown),
    FAULT(temp_among_outputs),
    FAULT(fewer_buffers),
    FAULT(fewer_steps),
    FAULT(step_size),
    FAULT(step_op),
    FAULT(step_n_in),
    FAULT(step_n_out),
    FAULT(step_group),
    FAULT(step_region),
    FAULT(step_attrs),
    FAULT(step_attrs_gone),
    FAULT(step_attrs_size),
    FAULT(step_of_another),
    FAULT(step_of_none),
    FAULT(steps_swapped),
    FAULT(work_bytes),
    FAULT(work_offset),
    FAULT(work_offset_huge),
    FAULT(work_arena),
    FAULT(work_gone),
    FAULT(in_dtype),
    FAULT(in_rank),
    FAULT(in_rank_nine),
    FAULT(in_dim),
    FAULT(in_dim_unused),
    FAULT(in_stride),
    FAULT(in_stride_unused),
    FAULT(in_offset),
    FAULT(in_arena),
    FAULT(in_size),
    FAULT(out_dim),
    FAULT(out_stride),
    FAULT(out_offset),
    FAULT(out_arena),
};

static void test_verify_notices(void) {
  vt_graph *g = sample();
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    vt_plan *p = plan_for(g, 1000, "test");
    vt_diag d = {0};
    faults[i].corrupt(p);
    const vt_status s = vt_plan_verify(p, &d);
    CHECK(s == VT_INTERNAL && d.code == VT_INTERNAL && d.text[0] != 0);
    if (s != VT_INTERNAL) fprintf(stderr, "  %s gives %s\n", faults[i].name, vt_status_name(s));
    CHECK(vt_plan_verify(p, NULL) == s);
    vt_plan_free(p);
  }
  vt_graph_free(g);
}

/* A place that is free at that time is as good as the one chosen: no false alarm. */
static void test_verify_accepts(void) {
  vt_graph *g = sample();
  vt_plan *p = plan_for(g, 1000, "test");
  vt_diag d = {0};
  p->class_bytes[VT_CLASS_TEMP] = 4096;
  move_to(p, C, 2048);
  CHECK(vt_plan_verify(p, &d) == VT_OK);
  vt_plan_free(p);
  vt_graph_free(g);
}

/* ---- limits and failures ---- */

typedef struct meter {
  vt_fault fault;
  size_t largest;
} meter;

static void *meter_resize(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = user;
  if (new_size > m->largest) m->largest = new_size;
  return vt_fault_resize(&m->fault, p, old_size, new_size);
}

/* Plans y = neg(x0) beside as many ports of a type as it takes to be too large. */
static void expect_limit(vt_type type, uint32_t copies, uint32_t kind, const char *text) {
  vt_graph_builder gb;
  asker a = {0};
  const vt_target t = target_of(&a, "test");
  meter m = {{0}, 0};
  vt_plan *p = NULL;
  vt_diag d = {0};
  begin(&gb, "limit");
  for (uint32_t i = 0; i < copies; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%u", i);
    port(&gb, name, kind, type);
  }
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, 0));
  vt_graph *g = freeze(&gb);
  CHECK(vt_plan_build(g, &t, (vt_alloc){&m, meter_resize}, &p, &d) == VT_LIMIT && p == NULL);
  CHECK(d.code == VT_LIMIT && strstr(d.text, text) != NULL);
  if (strstr(d.text, text) == NULL) fprintf(stderr, "  '%s' has no '%s'\n", d.text, text);
  CHECK(m.fault.live == 0 && m.largest < 1 << 20);
  vt_graph_free(g);
}

static void test_limits(void) {
  const int64_t k = (int64_t)1 << 20, half = (int64_t)1 << 23;
  const vt_type over = {VT_DTYPE_F32, 3, {k, k, 65}}; /* 65 * 2^42, over 2^48 */
  const vt_type cube = {VT_DTYPE_F32, 4, {k * k, k * k, k * k, k * k}};
  const vt_type product = {VT_DTYPE_I8, 8, {half, half, half, half, half, half, half, half}};
  const vt_type hollow = {VT_DTYPE_F32, 3, {k * k, 0, k * k}};
  const vt_type most = {VT_DTYPE_F32, 3, {k, k, 40}}; /* one fits, two together do not */
  expect_limit(over, 1, VT_PORT_INPUT, "'x0': a tensor of");
  expect_limit(cube, 1, VT_PORT_PARAM, "'x0': a tensor has more elements");
  expect_limit(product, 1, VT_PORT_INPUT, "'x0': a tensor has more elements");
  expect_limit(hollow, 1, VT_PORT_INPUT, "'x0': a tensor has more elements");
  expect_limit(most, 2, VT_PORT_INPUT, "the input tensors are beyond 2^48 bytes");
  expect_limit(most, 2, VT_PORT_PARAM, "the param tensors are beyond 2^48 bytes");
}

static void test_limit_of_temporaries(void) {
  vt_graph_builder gb;
  asker a = {0};
  const vt_target t = target_of(&a, "test");
  vt_plan *p = NULL;
  vt_diag d = {0};
  const int64_t k = (int64_t)1 << 20;
  begin(&gb, "limit");
  const uint32_t x = port(&gb, "x", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 3, {k, k, 40}});
  const uint32_t y = vt_build1(&gb.b, VT_OP_neg, x), z = vt_build1(&gb.b, VT_OP_neg, x);
  const uint32_t both = vt_build2(&gb.b, VT_OP_add, y, z);
  const vt_attr_reduce all = {.size = sizeof all};
  vt_graph_add_result(&gb, "y", gb.b.node(&gb.b, VT_OP_sum, &both, 1, &all));
  vt_graph *g = freeze(&gb);
  CHECK(vt_plan_build(g, &t, vt_alloc_default(), &p, &d) == VT_LIMIT && p == NULL);
  CHECK(strstr(d.text, "the temporaries are beyond 2^48 bytes") != NULL);
  vt_graph_free(g);
}

static void test_target_failures(void) {
  vt_graph *g = sample();
  asker a = {.status = VT_UNSUPPORTED};
  vt_target t = target_of(&a, "test");
  vt_plan *p = NULL;
  vt_diag d = {0};
  CHECK(vt_plan_build(g, &t, vt_alloc_default(), &p, &d) == VT_UNSUPPORTED && p == NULL);
  CHECK(a.calls == 1 && strcmp(d.text, "no scratch") == 0);
  const uint64_t huge[] = {((uint64_t)1 << 48) + 1, UINT64_MAX - 100, UINT64_MAX};
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    a = (asker){.bytes = huge[i]};
    memset(&d, 0, sizeof d);
    CHECK(vt_plan_build(g, &t, vt_alloc_default(), &p, &d) == VT_LIMIT && p == NULL);
  }
  vt_graph_free(g);
}

static void test_needs_bound(void) {
  vt_graph_builder gb;
  asker a = {0};
  const vt_target t = target_of(&a, "test");
  vt_plan *p = NULL;
  vt_diag d = {0};
  int64_t dim;
  begin(&gb, "symbolic");
  CHECK(vt_dim_declare(&gb.g->dims, "B", &dim, &d) == VT_OK);
  vt_graph_add_result(&gb, "y", port(&gb, "x", VT_PORT_INPUT, vector(dim)));
  vt_graph *g = freeze(&gb);
  CHECK(vt_plan_build(g, &t, vt_alloc_default(), &p, &d) == VT_INTERNAL && p == NULL);
  vt_graph_free(g);
}

/* Every allocation failing in turn: said so, nothing kept. */
static void test_out_of_memory(void) {
  vt_graph *g = sample();
  asker a = {.bytes = 100};
  const vt_target t = target_of(&a, "test");
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_plan *p = NULL;
    vt_diag d = {0};
    const vt_status s = vt_plan_build(g, &t, vt_fault_alloc(&fault), &p, &d);
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
  test_sample();
  test_step();
  test_chain();
  test_first_fit();
  test_strides();
  test_empty();
  test_port_results();
  test_digests();
  test_print();
  test_verify_notices();
  test_verify_accepts();
  test_limits();
  test_limit_of_temporaries();
  test_target_failures();
  test_needs_bound();
  test_out_of_memory();
  TEST_DONE();
}
