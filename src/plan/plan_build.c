/* SPDX-License-Identifier: Apache-2.0
 * plan_build.c - the schedule is the order of the graph; temporaries share one arena by first fit
 * over their lifetimes:
 *
 *   offset
 *     |  [ a  steps 0..2 ][ d  3..5 ]
 *     |  [ b  steps 1..4      ]
 *     +------------------------------> steps
 */
#include <string.h>
#include "vt_plan.h"

const char *vt_class_name(uint32_t c) {
  static const char *const names[VT_CLASS_COUNT] = {"input", "param", "temp", "output", "work"};
  return c < VT_CLASS_COUNT ? names[c] : "?";
}

static vt_status out_of_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* ---- lifetimes ---- */

static void class_ports(vt_plan *p) {
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    vt_buffer *b = &p->buffers[p->g->ports[i].value];
    b->class = p->g->ports[i].kind == VT_PORT_PARAM ? VT_CLASS_PARAM : VT_CLASS_INPUT;
    b->last = p->n_steps;
  }
}

static void class_results(vt_plan *p) {
  for (uint32_t i = 0; i < p->g->n_results; i++) {
    vt_buffer *b = &p->buffers[p->g->results[i].value];
    if (b->class == VT_CLASS_TEMP) b->class = VT_CLASS_OUTPUT;
    b->last = p->n_steps;
  }
}

static vt_status size_value(const vt_graph *g, uint32_t v, uint64_t *out_bytes, vt_diag *d) {
  vt_diag why = {0};
  char name[16];
  uint64_t count;
  const vt_status s = vt_type_size(&g->values[v].type, &count, out_bytes, &why);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "'%s': %s", vt_value_name(g, v, name), why.text);
}

static vt_status set_lifetimes(vt_plan *p, vt_diag *d) {
  const vt_graph *g = p->g;
  for (uint32_t v = 0; v < g->n_values; v++) {
    p->buffers[v] = (vt_buffer){.value = v, .class = VT_CLASS_TEMP};
    VT_TRY(size_value(g, v, &p->buffers[v].bytes, d));
  }
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_out; k++)
      p->buffers[n->first_out + k].first = p->buffers[n->first_out + k].last = i;
    for (uint32_t k = 0; k < n->n_in; k++) p->buffers[g->operands[n->first_in + k]].last = i;
  }
  return VT_OK;
}

/* ---- offsets ---- */

static uint64_t rounded(uint64_t bytes) {
  return (bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
}

/* Buffers that live to the end lie one after the other. */
static vt_status place_kept(vt_plan *p, vt_diag *d) {
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    vt_buffer *b = &p->buffers[v];
    uint64_t *top = &p->class_bytes[b->class];
    if (b->class == VT_CLASS_TEMP) continue;
    b->offset = *top;
    if (!vt_size_add(*top, rounded(b->bytes), top) || *top > (uint64_t)1 << 48)
      return VT_FAIL(d, VT_LIMIT, "the %s tensors are beyond 2^48 bytes together",
                     vt_class_name(b->class));
  }
  return VT_OK;
}

typedef struct stretch { /* of the temporaries, in use until `last` */
  uint64_t offset, bytes;
  uint32_t last;
} stretch;
typedef struct live_set { /* ascending offset */
  stretch *at;
  uint32_t n;
} live_set;

static void drop_dead(live_set *live, uint32_t step) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < live->n; i++)
    if (live->at[i].last >= step) live->at[kept++] = live->at[i];
  live->n = kept;
}

/* The lowest gap that fits; ties cannot arise, since offsets of live stretches differ. */
static vt_status place_first_fit(live_set *live, vt_plan *p, uint64_t bytes, uint32_t last,
                                 uint64_t *out_offset, vt_diag *d) {
  const uint64_t need = rounded(bytes);
  uint64_t at = 0;
  uint32_t i = 0;
  *out_offset = 0;
  if (bytes == 0) return VT_OK;
  for (; i < live->n; i++) {
    if (live->at[i].offset - at >= need) break;
    at = live->at[i].offset + live->at[i].bytes;
  }
  memmove(&live->at[i + 1], &live->at[i], (live->n - i) * sizeof *live->at);
  live->at[i] = (stretch){at, need, last};
  live->n++;
  *out_offset = at;
  if (at + need > p->class_bytes[VT_CLASS_TEMP]) p->class_bytes[VT_CLASS_TEMP] = at + need;
  if (p->class_bytes[VT_CLASS_TEMP] > (uint64_t)1 << 48)
    return VT_FAIL(d, VT_LIMIT, "the temporaries are beyond 2^48 bytes together");
  return VT_OK;
}

static vt_status place_value(live_set *live, vt_plan *p, uint32_t v, vt_diag *d) {
  vt_buffer *b = &p->buffers[v];
  if (b->class != VT_CLASS_TEMP) return VT_OK;
  return place_first_fit(live, p, b->bytes, b->last, &b->offset, d);
}

/* Arguments that a body keeps come first and stay; then each step's results and the stretch that
 * its bodies share. */
static vt_status place_temporaries(vt_plan *p, vt_diag *d) {
  live_set live = {VT_NEW_N(&p->arena, stretch, (size_t)p->n_buffers + p->n_steps + 1), 0};
  if (live.at == NULL) return out_of_memory(d);
  for (uint32_t i = 0; i < p->g->n_ports; i++)
    VT_TRY(place_value(&live, p, p->g->ports[i].value, d));
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[i];
    drop_dead(&live, i);
    for (uint32_t k = 0; k < n->n_out; k++) VT_TRY(place_value(&live, p, n->first_out + k, d));
    VT_TRY(place_first_fit(&live, p, p->nested[i].bytes, i, &p->nested[i].offset, d));
  }
  return VT_OK;
}

/* ---- steps ---- */

static vt_bk_tensor tensor_of(const vt_plan *p, uint32_t v) {
  const vt_type *t = &p->g->values[v].type;
  vt_bk_tensor x = {.size = sizeof x,
                    .dtype = t->dtype,
                    .rank = t->rank,
                    .arena = p->buffers[v].class,
                    .offset = p->buffers[v].offset};
  int64_t stride = 1;
  for (uint32_t i = t->rank; i-- > 0;) {
    x.dim[i] = t->dim[i];
    x.stride[i] = stride;
    stride *= t->dim[i] > 0 ? t->dim[i] : 1;
  }
  return x;
}

/* What a body takes and gives, where it lies. */
static vt_status make_body(vt_plan *p, const vt_plan *body, vt_bk_body *out, vt_diag *d) {
  const vt_graph *g = body->g;
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_ports);
  vt_bk_tensor *given = VT_NEW_N(&p->arena, vt_bk_tensor, g->n_results);
  if (in == NULL || given == NULL) return out_of_memory(d);
  for (uint32_t i = 0; i < g->n_ports; i++) in[i] = tensor_of(body, g->ports[i].value);
  for (uint32_t i = 0; i < g->n_results; i++) given[i] = tensor_of(body, g->results[i].value);
  *out = (vt_bk_body){.size = sizeof *out,
                      .n_in = g->n_ports,
                      .n_out = g->n_results,
                      .in = in,
                      .out = given,
                      .n_steps = body->n_steps,
                      .steps = body->steps};
  return VT_OK;
}

static vt_status make_step(vt_plan *p, uint32_t i, vt_diag *d) {
  const vt_graph *g = p->g;
  const vt_node *n = &g->nodes[i];
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_in);
  vt_bk_tensor *out = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_out);
  vt_bk_body *body = VT_NEW_N(&p->arena, vt_bk_body, n->n_body);
  if (in == NULL || out == NULL || body == NULL) return out_of_memory(d);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = tensor_of(p, g->operands[n->first_in + k]);
  for (uint32_t k = 0; k < n->n_out; k++) out[k] = tensor_of(p, n->first_out + k);
  for (uint32_t k = 0; k < n->n_body; k++) VT_TRY(make_body(p, p->nested[i].plan[k], &body[k], d));
  p->step_node[i] = i;
  p->steps[i] = (vt_bk_step){.size = sizeof *p->steps,
                             .op = n->op,
                             .n_in = n->n_in,
                             .n_out = n->n_out,
                             .group = n->group,
                             .in = in,
                             .out = out,
                             .attrs = n->attrs,
                             .attrs_size = vt_op_get(n->op)->attrs->size,
                             .work_arena = VT_CLASS_WORK,
                             .n_body = n->n_body,
                             .body = n->n_body > 0 ? body : NULL};
  return VT_OK;
}

/* Steps run one after the other, so they share one stretch of scratch; those of bodies too. */
static vt_status ask_workspace(vt_plan *p, const vt_target *t, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    uint64_t bytes = 0;
    VT_TRY(t->workspace(t->self, &p->steps[i], &bytes, d));
    if (bytes > (uint64_t)1 << 48)
      return VT_FAIL(d, VT_LIMIT, "step %u asks for scratch beyond 2^48 bytes", i);
    p->steps[i].work_bytes = bytes;
    uint64_t most = rounded(bytes);
    for (uint32_t k = 0; k < p->nested[i].n; k++) {
      vt_plan *body = p->nested[i].plan[k];
      VT_TRY(ask_workspace(body, t, d));
      if (body->class_bytes[VT_CLASS_WORK] > most) most = body->class_bytes[VT_CLASS_WORK];
    }
    if (most > p->class_bytes[VT_CLASS_WORK]) p->class_bytes[VT_CLASS_WORK] = most;
  }
  return VT_OK;
}

static vt_status hash_print(const vt_plan *p, int target, vt_hash256 *out, vt_diag *d) {
  vt_text text;
  vt_text_init(&text, p->arena.a);
  vt_plan_print(p, target, &text);
  const vt_status s = vt_text_status(&text);
  if (s == VT_OK) *out = vt_hash_bytes(text.s, text.n);
  vt_text_done(&text);
  return s == VT_OK ? VT_OK : out_of_memory(d);
}

/* ---- plans and the plans of their bodies ---- */

static vt_status measure(vt_plan *p, const vt_node *owner, uint32_t which, vt_diag *d);

static vt_plan *new_plan(const vt_graph *g, vt_alloc a) {
  vt_plan *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return NULL;
  vt_arena_init(&p->arena, a);
  p->g = g;
  p->n_steps = g->n_nodes;
  p->n_buffers = g->n_values;
  return p;
}

/* Bodies of one step share a stretch as large as the largest of them. */
static vt_status measure_bodies(vt_plan *p, uint32_t i, vt_diag *d) {
  const vt_node *n = &p->g->nodes[i];
  vt_nested *nested = &p->nested[i];
  for (uint32_t k = 0; k < n->n_body; k++) {
    vt_plan *body = new_plan(n->body[k], p->arena.a);
    if (body == NULL) return out_of_memory(d);
    nested->plan[nested->n++] = body;
    VT_TRY(measure(body, n, k, d));
    if (body->class_bytes[VT_CLASS_TEMP] > nested->bytes)
      nested->bytes = body->class_bytes[VT_CLASS_TEMP];
  }
  return VT_OK;
}

/* Arguments and results of a body live as long as it runs. An argument that lies where an operand
 * or a result lies takes no room here; until its place is known it is of no class. */
static void class_body(vt_plan *p, const vt_node *owner, uint32_t which) {
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    vt_buffer *b = &p->buffers[p->g->ports[i].value];
    uint32_t index;
    b->last = p->n_steps;
    if (vt_op_body_place(owner->op, owner->attrs, which, i, &index) != VT_ARG_OWN)
      b->class = VT_CLASS_COUNT;
  }
  for (uint32_t i = 0; i < p->g->n_results; i++)
    p->buffers[p->g->results[i].value].last = p->n_steps;
}

/* Sizes, lifetimes, and offsets from the start of the plan's own stretch. `owner` is the node whose
 * body `which` this is, or NULL. */
static vt_status measure(vt_plan *p, const vt_node *owner, uint32_t which, vt_diag *d) {
  p->steps = VT_NEW_N(&p->arena, vt_bk_step, p->n_steps);
  p->step_node = VT_NEW_N(&p->arena, uint32_t, p->n_steps);
  p->buffers = VT_NEW_N(&p->arena, vt_buffer, p->n_buffers);
  p->nested = VT_NEW_N(&p->arena, vt_nested, p->n_steps);
  if (vt_arena_status(&p->arena) != VT_OK) return out_of_memory(d);
  VT_TRY(set_lifetimes(p, d));
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(measure_bodies(p, i, d));
  if (owner != NULL) {
    class_body(p, owner, which);
  } else {
    class_ports(p);
    class_results(p);
    VT_TRY(place_kept(p, d));
  }
  return place_temporaries(p, d);
}

/* Bodies move to where their stretch lies and learn where their arguments are. */
static void settle_bodies(vt_plan *p);

static void settle_body(const vt_plan *p, const vt_node *n, uint32_t which, vt_plan *body,
                        uint64_t base) {
  for (uint32_t v = 0; v < body->n_buffers; v++)
    if (body->buffers[v].class == VT_CLASS_TEMP) body->buffers[v].offset += base;
  for (uint32_t i = 0; i < body->n_steps; i++) body->nested[i].offset += base;
  for (uint32_t i = 0; i < body->g->n_ports; i++) {
    vt_buffer *b = &body->buffers[body->g->ports[i].value];
    uint32_t index;
    const vt_arg_place place = vt_op_body_place(n->op, n->attrs, which, i, &index);
    if (place == VT_ARG_OWN) continue;
    const vt_buffer *from =
        &p->buffers[place == VT_ARG_RESULT ? n->first_out + index
                                           : p->g->operands[n->first_in + index]];
    b->class = from->class;
    b->offset = from->offset;
  }
  settle_bodies(body);
}

static void settle_bodies(vt_plan *p) {
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      settle_body(p, &p->g->nodes[i], k, p->nested[i].plan[k], p->nested[i].offset);
}

static vt_status make_steps(vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    for (uint32_t k = 0; k < p->nested[i].n; k++) VT_TRY(make_steps(p->nested[i].plan[k], d));
    VT_TRY(make_step(p, i, d));
  }
  return VT_OK;
}

static vt_status fill(vt_plan *p, const vt_target *t, vt_diag *d) {
  p->fingerprint = vt_arena_string(&p->arena, t->fingerprint, strlen(t->fingerprint));
  if (p->fingerprint == NULL) return out_of_memory(d);
  VT_TRY(measure(p, NULL, 0, d));
  settle_bodies(p);
  VT_TRY(make_steps(p, d));
  VT_TRY(ask_workspace(p, t, d));
  VT_TRY(hash_print(p, 0, &p->core, d));
  VT_TRY(hash_print(p, 1, &p->target, d));
  return vt_plan_verify(p, d);
}

vt_status vt_plan_build(const vt_graph *g, const vt_target *t, vt_alloc a, vt_plan **out,
                        vt_diag *d) {
  if (g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "a graph is planned before its dimensions are bound");
  vt_plan *p = new_plan(g, a);
  if (p == NULL) return out_of_memory(d);
  const vt_status s = fill(p, t, d);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_plan_free(p);
  }
  return s;
}

void vt_plan_free(vt_plan *p) {
  if (p == NULL) return;
  const vt_alloc a = p->arena.a;
  for (uint32_t i = 0; p->nested != NULL && i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) vt_plan_free(p->nested[i].plan[k]);
  vt_arena_done(&p->arena);
  vt_alloc_free(a, p, sizeof *p);
}
