/* SPDX-License-Identifier: Apache-2.0
 * plan_parse.c - reads a printed plan back. Decisions (order, places, offsets, scratch) are taken
 * from the text; whatever follows from them (sizes, strides, lifetimes, backend steps) is computed
 * again. Then the plan is verified and must print exactly the same text. So the text is not
 * trusted, and it need not come from this builder. The place of a value says where its bytes come
 * from (vt_place). */
#include <stdio.h>
#include "planner.h"

typedef struct reader {
  const char *at, *end; /* the text not yet read */
  vt_planner *q;        /* the plan being filled, of the model or of a body */
  uint64_t kept;        /* bytes that the backend keeps, from the target part */
  int ok;               /* 0 once the text is malformed; then all functions that read do nothing */
} reader;

/* ---- words and numbers ---- */

static void expect_word(reader *r, const char *word) {
  const size_t n = strlen(word);
  r->ok = r->ok && (size_t)(r->end - r->at) >= n && memcmp(r->at, word, n) == 0;
  if (r->ok) r->at += n;
}

static int skip_word_if_next(reader *r, const char *word) {
  const size_t n = strlen(word);
  if (!r->ok || (size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return 0;
  r->at += n;
  return 1;
}

static uint64_t read_number(reader *r) {
  uint64_t x = 0;
  int digits = 0;
  for (; r->ok && r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, digits++) {
    r->ok = x < UINT64_MAX / 10;
    x = x * 10 + (uint64_t)(*r->at - '0');
  }
  r->ok = r->ok && digits > 0;
  return x;
}

/* Reads a number, which must be below `limit`. */
static uint32_t read_index(reader *r, uint32_t limit) {
  const uint64_t x = read_number(r);
  r->ok = r->ok && x < limit;
  return r->ok ? (uint32_t)x : 0;
}

static void skip_line(reader *r) {
  const char *stop = r->ok ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
  r->ok = stop != NULL;
  if (r->ok) r->at = stop + 1;
}

static void skip_indent(reader *r) {
  while (r->ok && r->at < r->end && *r->at == ' ') r->at++;
}

static uint32_t read_class(reader *r) {
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++) {
    reader ahead = *r;
    if (!skip_word_if_next(&ahead, vt_class_name(c)) || !skip_word_if_next(&ahead, " ")) continue;
    *r = ahead;
    return c;
  }
  r->ok = 0;
  return 0;
}

static void read_class_bytes(reader *r, uint32_t c) {
  expect_word(r, "  ");
  expect_word(r, vt_class_name(c));
  expect_word(r, " ");
  r->q->p->class_bytes[c] = read_number(r);
  expect_word(r, " bytes\n");
}

/* ---- values ---- */

/* Reads the place of value `v`. A view or a value written in place names the operand whose bytes it
 * shares, which has a lower number than `v`. */
static vt_status read_place(reader *r, uint32_t v, vt_buffer *b) {
  const vt_graph *g = r->q->p->g;
  const int port = g->values[v].node == VT_NO_NODE;
  if (skip_word_if_next(r, " view ")) {
    const uint32_t of = read_index(r, v);
    r->ok = r->ok && !port && vt_plan_try_view(r->q, v, b) && b->of == of;
  } else if (skip_word_if_next(r, " over ")) {
    b->of = read_index(r, v);
    b->place = VT_PLACE_OVER;
  } else if (skip_word_if_next(r, " arg")) {
    b->place = VT_PLACE_ARG;
  } else {
    expect_word(r, " own");
  }
  return VT_OK;
}

static vt_status read_value(reader *r, uint32_t v) {
  vt_buffer *b = &r->q->p->buffers[v];
  VT_TRY(vt_plan_init_buffer(r->q, v, b));
  skip_indent(r);
  expect_word(r, "value ");
  r->ok = r->ok && read_number(r) == v;
  VT_TRY(read_place(r, v, b));
  expect_word(r, " ");
  b->class = read_class(r);
  expect_word(r, "+");
  b->offset = read_number(r);
  skip_line(r);
  return VT_OK;
}

/* ---- steps ---- */

static vt_status read_schedule(reader *r);

/* The number of bytes that a body uses, of the range that starts at `base` in the arena. */
static uint64_t bytes_of_body(const vt_plan *body, uint64_t base) {
  uint64_t most = 0;
  for (uint32_t v = 0; v < body->n_buffers; v++) {
    const vt_buffer *b = &body->buffers[v];
    const uint64_t end = vt_plan_align_up(b->offset - base + b->bytes);
    if (b->place == VT_PLACE_OWN && b->bytes > 0 && end > most) most = end;
  }
  for (uint32_t i = 0; i < body->n_steps; i++) {
    const uint64_t end = vt_plan_align_up(body->nested[i].offset - base + body->nested[i].bytes);
    if (body->nested[i].bytes > 0 && end > most) most = end;
  }
  return most;
}

static vt_status read_bodies(reader *r, uint32_t step) {
  vt_planner *q = r->q;
  const vt_node *n = &q->p->g->nodes[q->p->step_node[step]];
  vt_nested *nested = &q->p->nested[step];
  if (n->n_body == 0) return VT_OK;
  skip_indent(r);
  expect_word(r, "bodies +");
  nested->offset = read_number(r);
  expect_word(r, " ");
  nested->bytes = read_number(r);
  expect_word(r, " bytes\n");
  for (uint32_t k = 0; r->ok && k < n->n_body; k++) {
    vt_plan *body = vt_plan_new(n->body[k], q->p->arena.a);
    if (body == NULL) return vt_plan_no_memory(q->d);
    nested->plan[nested->n++] = body;
    vt_planner inner = {.p = body, .o = q->o, .owner = n, .which = k, .d = q->d};
    inner.scratch = q->scratch;
    body->schedule = q->p->schedule;
    skip_indent(r);
    expect_word(r, "body ");
    r->ok = r->ok && read_number(r) == k;
    expect_word(r, " {\n");
    r->q = &inner;
    const vt_status s = read_schedule(r);
    r->q = q;
    VT_TRY(s);
    body->class_bytes[VT_CLASS_TEMP] = bytes_of_body(body, nested->offset);
    skip_indent(r);
    expect_word(r, "}\n");
  }
  r->ok = r->ok && nested->n == n->n_body;
  return VT_OK;
}

/* Reads a step. A node may be read only once, and must not be the node of a view, because a plan
 * has capacity for one step per node that is not a view's. */
static vt_status read_step(reader *r, uint8_t *seen) {
  vt_plan *p = r->q->p;
  r->ok = r->ok && read_number(r) == p->n_steps;
  expect_word(r, " node ");
  const uint32_t node = read_index(r, p->g->n_nodes);
  r->ok = r->ok && !seen[node] && !vt_plan_is_view(p, &p->g->nodes[node]);
  if (!r->ok) return VT_OK;
  seen[node] = 1;
  skip_line(r);
  p->step_node[p->n_steps++] = node;
  return read_bodies(r, p->n_steps - 1);
}

/* Reads the device offset of each transfer, that is, of each copy between host and device of an
 * input, a streamed parameter or an output. More than `capacity` transfers are malformed. */
static void read_transfer_offsets(reader *r, uint64_t *offsets, uint32_t capacity, uint32_t *n) {
  for (;;) {
    reader ahead = *r;
    if (!skip_word_if_next(&ahead, "  transfer ")) return;
    *r = ahead;
    (void)read_class(r);
    expect_word(r, "+");
    r->ok = r->ok && *n < capacity;
    if (!r->ok) return;
    offsets[(*n)++] = read_number(r);
    skip_line(r);
  }
}

/* Reads the values, transfers and steps of a plan or of a body's plan. */
static vt_status read_schedule(reader *r) {
  vt_planner *q = r->q;
  vt_plan *p = q->p;
  const vt_graph *g = p->g;
  VT_TRY(vt_plan_alloc_arrays(p, q->d));
  const uint32_t capacity = q->owner == NULL ? g->n_ports + g->n_results + g->n_operands : 0;
  uint8_t *seen = VT_NEW_N(q->scratch, uint8_t, g->n_nodes);
  uint64_t *offsets = VT_NEW_N(q->scratch, uint64_t, capacity);
  uint32_t n = 0;
  q->holder = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (vt_arena_status(q->scratch) != VT_OK) return vt_plan_no_memory(q->d);
  for (uint32_t v = 0; r->ok && v < g->n_values; v++) VT_TRY(read_value(r, v));
  read_transfer_offsets(r, offsets, capacity, &n);
  for (int more = 1; r->ok && more;) {
    reader ahead = *r;
    skip_indent(&ahead);
    more = skip_word_if_next(&ahead, "step ");
    if (!more) break;
    *r = ahead;
    VT_TRY(read_step(r, seen));
  }
  if (!r->ok) return VT_OK;
  vt_plan_set_lifetimes_from_reads(q);
  vt_plan_extend_lives_for_groups(q);
  if (q->owner != NULL) return VT_OK;
  VT_TRY(vt_plan_list_transfers(q));
  r->ok = p->n_transfers == n;
  for (uint32_t i = 0; r->ok && i < n; i++) {
    vt_transfer *t = &p->transfers[i];
    t->offset = offsets[i];
    /* only uploads are temporaries; they happen before a step, which a result's transfer does not
     */
    r->ok = t->direction == VT_TO_DEVICE || t->class != VT_CLASS_TEMP;
  }
  return VT_OK;
}

/* ---- the target part ---- */

/* The function `workspace` of the target while a plan is parsed: it reads the scratch bytes of the
 * next backend step from the text. The planner calls it in the order in which the steps are
 * printed. */
static vt_status read_scratch_bytes(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  reader *r = self;
  (void)step;
  (void)d;
  expect_word(r, "  run ");
  (void)read_number(r);
  expect_word(r, " work ");
  *out = read_number(r);
  skip_line(r);
  return r->ok ? VT_OK : VT_FORMAT;
}

static vt_status get_kept_bytes(void *self, const vt_bk_step *steps, uint64_t n, uint64_t *out,
                                vt_diag *d) {
  const reader *r = self;
  (void)steps;
  (void)n;
  (void)d;
  *out = r->kept;
  return VT_OK;
}

static vt_status read_target(reader *r, vt_target *t) {
  expect_word(r, "}\ntarget {\n  fingerprint ");
  const char *start = r->at;
  skip_line(r);
  if (!r->ok) return VT_OK;
  t->fingerprint = vt_arena_string(r->q->scratch, start, (size_t)(r->at - start) - 1);
  if (t->fingerprint == NULL) return vt_plan_no_memory(r->q->d);
  expect_word(r, "  dense_only ");
  t->dense_only = read_index(r, 2);
  expect_word(r, "\n");
  skip_line(r); /* the content of the lines `workspace` and `live` is computed again */
  if (skip_word_if_next(r, "  backend_memory ")) {
    r->kept = read_number(r);
    expect_word(r, " bytes\n");
  }
  skip_line(r);
  t->self = r;
  t->workspace = read_scratch_bytes;
  t->kept = get_kept_bytes;
  return VT_OK;
}

static vt_status read_header(reader *r) {
  char numerics[32];
  vt_plan *p = r->q->p;
  snprintf(numerics, sizeof numerics, "plan 3, numerics %u\n", VT_NUMERICS_VERSION);
  expect_word(r, numerics);
  expect_word(r, "core ");
  expect_word(r, p->g->name);
  expect_word(r, " {\n  schedule ");
  p->schedule = skip_word_if_next(r, "memory\n") ? VT_SCHEDULE_MEMORY : VT_SCHEDULE_SOURCE;
  if (p->schedule == VT_SCHEDULE_SOURCE) expect_word(r, "source\n");
  p->safe_state = (uint32_t)skip_word_if_next(r, "  state_mode safe\n");
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++) {
    reader ahead = *r;
    expect_word(&ahead, "  ");
    if (c == VT_CLASS_MODEL_STATE && !skip_word_if_next(&ahead, vt_class_name(c))) continue;
    if (c != VT_CLASS_WORK && c != VT_CLASS_KEPT) read_class_bytes(r, c);
  }
  return VT_OK;
}

static vt_status fail_malformed(vt_diag *d) {
  return VT_FAIL(d, VT_FORMAT, "the text is not a printed plan of this graph");
}

/* Fails unless the plan prints as exactly this text. */
static vt_status check_same_text(const vt_plan *p, const char *text, size_t n, vt_diag *d) {
  vt_text again;
  vt_text_init(&again, p->arena.a);
  vt_plan_print(p, 1, &again);
  vt_status s = vt_text_status(&again) == VT_OK ? VT_OK : vt_plan_no_memory(d);
  if (s == VT_OK && (again.n != n || memcmp(again.s, text, n) != 0)) s = fail_malformed(d);
  vt_text_done(&again);
  return s;
}

static vt_status read_plan(vt_plan *p, const char *text, size_t n, vt_arena *scratch, vt_diag *d) {
  static const vt_plan_options none = {0};
  vt_planner q = {.p = p, .o = &none, .scratch = scratch, .d = d};
  reader r = {.at = text, .end = text + n, .q = &q, .ok = 1};
  vt_target t = {0};
  vt_diag why = {0};
  VT_TRY(read_header(&r));
  if (r.ok) VT_TRY(read_schedule(&r));
  if (r.ok) VT_TRY(read_target(&r, &t));
  if (!r.ok) return fail_malformed(d);
  const vt_status s = vt_plan_add_target_part(p, &t, scratch, &why);
  if (s == VT_NOMEM) return vt_plan_no_memory(d);
  return s == VT_OK ? check_same_text(p, text, n, d) : fail_malformed(d);
}

vt_status vt_plan_parse(const vt_graph *g, const char *text, size_t n, vt_alloc a, vt_plan **out,
                        vt_diag *d) {
  vt_arena scratch;
  if (g->dims.n_symbols > 0) return fail_malformed(d);
  vt_plan *p = vt_plan_new(g, a);
  if (p == NULL) return vt_plan_no_memory(d);
  vt_arena_init(&scratch, a);
  const vt_status s = read_plan(p, text, n, &scratch, d);
  vt_arena_done(&scratch);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_plan_free(p);
  }
  return s;
}
