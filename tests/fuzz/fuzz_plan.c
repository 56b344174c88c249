/* SPDX-License-Identifier: Apache-2.0
 * fuzz_plan.c - reads bytes as the text of a plan. The first byte chooses a graph, the rest is the
 * text. A plan that the reader accepts must verify for that graph and print the same text. */
#include <stdlib.h>
#include <string.h>
#include "vt_parse.h"
#include "vt_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const models[] = {
    "volta 1\nmodel a {\n  input x: f32[2, 3]\n  param w: f32[3, 4] = zeros\n"
    "  h = relu(matmul(x, w))\n  output y = h + h\n  output z = transpose(h, perm=[1, 0])\n}\n",
    "volta 1\nmodel b {\n  input x: f32[4]\n  t = slice(x, start=[1], stop=[3])\n"
    "  y = cond(sum(t) > 0.0) {\n    give exp(t)\n  } else {\n    give neg(t)\n  }\n"
    "  output y\n}\n",
    "volta 1\nmodel c {\n  input h0: f32[2]\n  input x: f32[3, 2]\n  param w: f32[2] = ones\n"
    "  h, ys = loop(h0, x, count=3, carried=1, each=1) (i, h, xt) {\n"
    "    h = tanh(xt * w + h)\n    give h, h * 2.0\n  }\n  output h\n  output ys\n}\n",
    "volta 1\nmodel d {\n  input x: i32[0, 2]\n  input s: f64[]\n  output y = neg(x)\n"
    "  v, i = sort(cast(x, dtype=f32), axis=0)\n  output v\n  output i\n"
    "  output r = s * s\n}\n",
};
enum { STATES = sizeof models / sizeof *models, MODELS };

static uint32_t add_state(vt_graph_builder *gb, const char *name, int64_t n) {
  const vt_type type = {VT_DTYPE_F32, 2, {n, 2}};
  const vt_init_info *zeros = vt_init_find("zeros");
  const vt_port p = {.name = name,
                     .kind = VT_PORT_STATE,
                     .init = zeros->number,
                     .init_attrs = zeros->attrs->defaults};
  return vt_graph_add_port(gb, &p, &type);
}

/* A graph with states, as the pass `state` leaves it: a = a + x in place, b = c and c = -b stored,
 * d unchanged. */
static vt_graph *graph_with_states(void) {
  static const int64_t rows[2] = {2, 2};
  vt_graph_builder gb;
  vt_graph *g = NULL;
  if (vt_graph_begin(&gb, "states", vt_alloc_default(), NULL) != VT_OK) abort();
  const vt_type type = {VT_DTYPE_F32, 2, {2, 2}};
  const vt_port x = {.name = "x", .kind = VT_PORT_INPUT};
  const uint32_t in = vt_graph_add_port(&gb, &x, &type);
  const uint32_t a = add_state(&gb, "a", 2), b = add_state(&gb, "b", 2), c = add_state(&gb, "c", 2);
  const uint32_t d = add_state(&gb, "d", 100);
  const uint32_t sum = vt_build2(&gb.b, VT_OP_add, a, in), less = vt_build1(&gb.b, VT_OP_neg, b);
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_mul, b, sum));
  const uint32_t old = vt_build_reshape(&gb.b, c, 2, rows);
  vt_graph_add_result(&gb, "old", old);
  vt_graph_set_next(&gb, a, vt_build_reshape(&gb.b, sum, 2, rows));
  vt_graph_set_next(&gb, b, vt_build_reshape(&gb.b, old, 2, rows));
  vt_graph_set_next(&gb, c, vt_build_reshape(&gb.b, less, 2, rows));
  vt_graph_set_next(&gb, d, d);
  if (vt_graph_freeze(&gb, &g) != VT_OK) abort();
  return g;
}

static vt_graph *parse_model(uint32_t i) {
  vt_graph *g = NULL;
  if (i == STATES) return graph_with_states();
  if (vt_parse(models[i], strlen(models[i]), vt_alloc_default(), &g, NULL) != VT_OK) abort();
  return g;
}

static void check_accepted_plan(const vt_plan *p, const char *text, size_t n) {
  vt_text again;
  vt_diag d = {0};
  if (vt_plan_verify(p, &d) != VT_OK) abort();
  vt_text_init(&again, vt_alloc_default());
  vt_plan_print(p, 1, &again);
  if (vt_text_status(&again) != VT_OK) exit(1);
  if (again.n != n || memcmp(again.s, text, n) != 0) abort();
  vt_text_done(&again);
}

static vt_status need_no_scratch(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  (void)self;
  (void)step;
  (void)d;
  *out = 0;
  return VT_OK;
}

/* Checks that the printed plan of each graph can be read. If the form of plans had changed, the
 * corpus would contain only refused plans, and this fails. */
static void check_printed_plans(void) {
  const vt_target t = {.fingerprint = "fuzz-1", .workspace = need_no_scratch};
  for (uint32_t i = 0; i < MODELS; i++) {
    vt_text text;
    vt_plan *built = NULL, *read = NULL;
    vt_graph *g = parse_model(i);
    if (vt_plan_build(g, NULL, &t, vt_alloc_default(), &built, NULL) != VT_OK) abort();
    vt_text_init(&text, vt_alloc_default());
    vt_plan_print(built, 1, &text);
    if (vt_plan_parse(g, text.s, text.n, vt_alloc_default(), &read, NULL) != VT_OK) abort();
    check_accepted_plan(read, text.s, text.n);
    vt_text_done(&text);
    vt_plan_free(read);
    vt_plan_free(built);
    vt_graph_free(g);
  }
}

/* Reads and checks a plan; returns a hash of the status and the message. */
static vt_hash256 check_bytes(const uint8_t *data, size_t size) {
  vt_diag d = {0};
  vt_plan *p = NULL;
  vt_graph *g = parse_model(data[0] % MODELS);
  const char *text = (const char *)data + 1;
  const vt_status s = vt_plan_parse(g, text, size - 1, vt_alloc_default(), &p, &d);
  if (s == VT_OK) check_accepted_plan(p, text, size - 1);
  if (s != VT_OK && (p != NULL || d.code != s || d.text[0] == 0)) abort();
  if (s != VT_OK && s != VT_FORMAT && s != VT_NOMEM) abort();
  vt_plan_free(p);
  vt_graph_free(g);
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u32(&h, (uint32_t)s);
  vt_hash_add(&h, d.text, strlen(d.text));
  return vt_hash_done(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return check_printed_plans(), 0;
  const vt_hash256 a = check_bytes(data, size), b = check_bytes(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
