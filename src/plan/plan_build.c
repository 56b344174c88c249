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
    p->buffers[n->first_out].first = p->buffers[n->first_out].last = i;
    for (uint32_t k = 0; k < n->n_in; k++) p->buffers[g->operands[n->first_in + k]].last = i;
  }
  class_ports(p);
  class_results(p);
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

typedef struct live_set { /* ids of placed temporaries, ascending offset */
  uint32_t *id, n;
} live_set;

static void drop_dead(live_set *live, const vt_plan *p, uint32_t step) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < live->n; i++)
    if (p->buffers[live->id[i]].last >= step) live->id[kept++] = live->id[i];
  live->n = kept;
}

/* The lowest gap that fits; ties cannot arise, since offsets of live buffers differ. */
static void place_first_fit(live_set *live, vt_plan *p, uint32_t v) {
  vt_buffer *b = &p->buffers[v];
  const uint64_t need = rounded(b->bytes);
  uint64_t at = 0;
  uint32_t i = 0;
  for (; i < live->n; i++) {
    const vt_buffer *other = &p->buffers[live->id[i]];
    if (other->offset - at >= need) break;
    at = other->offset + rounded(other->bytes);
  }
  memmove(&live->id[i + 1], &live->id[i], (live->n - i) * sizeof *live->id);
  live->id[i] = v;
  live->n++;
  b->offset = at;
  if (at + need > p->class_bytes[VT_CLASS_TEMP]) p->class_bytes[VT_CLASS_TEMP] = at + need;
}

static vt_status place_temporaries(vt_plan *p, vt_diag *d) {
  live_set live = {VT_NEW_N(&p->arena, uint32_t, (size_t)p->n_buffers + 1), 0};
  if (live.id == NULL) return out_of_memory(d);
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const uint32_t v = p->g->nodes[i].first_out;
    drop_dead(&live, p, i);
    if (p->buffers[v].class != VT_CLASS_TEMP || p->buffers[v].bytes == 0) continue;
    place_first_fit(&live, p, v);
    if (p->class_bytes[VT_CLASS_TEMP] > (uint64_t)1 << 48)
      return VT_FAIL(d, VT_LIMIT, "the temporaries are beyond 2^48 bytes together");
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

static vt_status make_step(vt_plan *p, uint32_t i, vt_diag *d) {
  const vt_graph *g = p->g;
  const vt_node *n = &g->nodes[i];
  vt_bk_tensor *in = VT_NEW_N(&p->arena, vt_bk_tensor, n->n_in);
  vt_bk_tensor *out = VT_NEW(&p->arena, vt_bk_tensor);
  if (in == NULL || out == NULL) return out_of_memory(d);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = tensor_of(p, g->operands[n->first_in + k]);
  *out = tensor_of(p, n->first_out);
  p->step_node[i] = i;
  p->steps[i] = (vt_bk_step){.size = sizeof *p->steps,
                             .op = n->op,
                             .n_in = n->n_in,
                             .n_out = 1,
                             .in = in,
                             .out = out,
                             .attrs = n->attrs,
                             .attrs_size = vt_op_get(n->op)->attrs->size,
                             .work_arena = VT_CLASS_WORK};
  return VT_OK;
}

/* Steps run one after the other, so they share one stretch of scratch. */
static vt_status ask_workspace(vt_plan *p, const vt_target *t, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    uint64_t bytes = 0;
    VT_TRY(t->workspace(t->self, &p->steps[i], &bytes, d));
    if (bytes > (uint64_t)1 << 48)
      return VT_FAIL(d, VT_LIMIT, "step %u asks for scratch beyond 2^48 bytes", i);
    p->steps[i].work_bytes = bytes;
    if (rounded(bytes) > p->class_bytes[VT_CLASS_WORK])
      p->class_bytes[VT_CLASS_WORK] = rounded(bytes);
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

static vt_status fill(vt_plan *p, const vt_target *t, vt_diag *d) {
  p->steps = VT_NEW_N(&p->arena, vt_bk_step, p->n_steps);
  p->step_node = VT_NEW_N(&p->arena, uint32_t, p->n_steps);
  p->buffers = VT_NEW_N(&p->arena, vt_buffer, p->n_buffers);
  p->fingerprint = vt_arena_string(&p->arena, t->fingerprint, strlen(t->fingerprint));
  VT_TRY(vt_arena_status(&p->arena) == VT_OK ? VT_OK : out_of_memory(d));
  VT_TRY(set_lifetimes(p, d));
  VT_TRY(place_kept(p, d));
  VT_TRY(place_temporaries(p, d));
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(make_step(p, i, d));
  VT_TRY(ask_workspace(p, t, d));
  VT_TRY(hash_print(p, 0, &p->core, d));
  VT_TRY(hash_print(p, 1, &p->target, d));
  return vt_plan_verify(p, d);
}

vt_status vt_plan_build(const vt_graph *g, const vt_target *t, vt_alloc a, vt_plan **out,
                        vt_diag *d) {
  if (g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "a graph is planned before its dimensions are bound");
  vt_plan *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return out_of_memory(d);
  vt_arena_init(&p->arena, a);
  p->g = g;
  p->n_steps = g->n_nodes;
  p->n_buffers = g->n_values;
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
  vt_arena_done(&p->arena);
  vt_alloc_free(a, p, sizeof *p);
}
