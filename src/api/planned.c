/* SPDX-License-Identifier: Apache-2.0
 * planned.c - a plan that is inspected and not run: its text, its sums, its steps as text, and its
 * lifetimes, from which pictures are drawn. A lifetime is a block of memory with the steps during
 * which it is in use. */
#include <string.h>
#include "prepare.h"
#include "vt_fpenv.h"
#include "volta/volta_tools.h"

struct vt_planned {
  vt_alloc a;
  vt_arena arena;
  vt_device *dev;
  vt_pipeline line;
  vt_terms terms;
  const char *text;            /* the plan in printed form */
  const char **step;           /* text of each step, such as "h = matmul(x, w)" */
  vt_plan_lifetime *lifetimes; /* the lifetimes of all blocks of memory */
  uint32_t n_lifetimes;
};
_Static_assert((int)VT_MEMORY_CLASSES == (int)VT_CLASS_COUNT, "the api names every class");

const char *vt_memory_class(uint32_t i) { return i < VT_CLASS_COUNT ? vt_class_name(i) : NULL; }
int vt_memory_class_on_device(uint32_t i) { return vt_class_is_on_device(i); }
uint32_t vt_memory_class_arena(uint32_t i) { return vt_class_arena(i); }

/* ---- texts and lifetimes ---- */

/* Returns a copy of the text in the arena, or NULL when memory is out; frees `t`. */
static const char *copy_and_free_text(vt_planned *p, vt_text *t) {
  const char *s = vt_text_status(t) == VT_OK ? vt_arena_string(&p->arena, t->s, t->n) : NULL;
  vt_text_done(t);
  return s;
}

static const char *text_of_step(vt_planned *p, uint32_t i) {
  vt_text t;
  vt_text_init(&t, p->a);
  vt_plan_print_step(p->line.plan, i, &t);
  return copy_and_free_text(p, &t);
}

static const char *text_of_type(vt_planned *p, uint32_t value) {
  const vt_graph *g = p->line.plan->g;
  vt_text t;
  vt_text_init(&t, p->a);
  vt_type_print(&g->dims, &g->values[value].type, &t);
  return copy_and_free_text(p, &t);
}

/* Returns `name` in the printf format `form`, which has one %s. */
static const char *format_name(vt_planned *p, const char *form, const char *name) {
  vt_text t;
  vt_text_init(&t, p->a);
  vt_text_add(&t, form, name);
  return copy_and_free_text(p, &t);
}

/* Adds a lifetime to the list unless its block has no bytes. */
static void add_lifetime(vt_planned *p, vt_plan_lifetime s) {
  if (s.bytes > 0) p->lifetimes[p->n_lifetimes++] = s;
}

/* Adds one lifetime for each value and the values that are written over it; it ends with the last
 * of these. `lifetime_of` is scratch with an entry per value. */
static void add_value_lifetimes(vt_planned *p, uint32_t *lifetime_of) {
  const vt_plan *plan = p->line.plan;
  char name[16];
  for (uint32_t v = 0; v < plan->n_buffers; v++) {
    const vt_buffer *b = &plan->buffers[v];
    if (b->place == VT_PLACE_VIEW || b->bytes == 0) continue;
    if (b->place == VT_PLACE_OVER) {
      lifetime_of[v] = lifetime_of[b->of];
      p->lifetimes[lifetime_of[v]].last = b->last;
      continue;
    }
    lifetime_of[v] = p->n_lifetimes;
    add_lifetime(p,
                 (vt_plan_lifetime){.memory_class = b->class,
                                    .first = b->first,
                                    .last = b->last,
                                    .offset = b->offset,
                                    .bytes = b->bytes,
                                    .name = format_name(p, "%s", vt_value_name(plan->g, v, name)),
                                    .type = text_of_type(p, v)});
  }
}

/* Adds the lifetimes of the copies of parameters that stay in host memory. A copy is on the device
 * until the last step of the group that it is made for. */
static void add_param_copy_lifetimes(vt_planned *p) {
  const vt_plan *plan = p->line.plan;
  char name[16];
  for (uint32_t i = 0; i < plan->n_transfers; i++) {
    const vt_transfer *t = &plan->transfers[i];
    if (t->class != VT_CLASS_TEMP) continue;
    add_lifetime(p, (vt_plan_lifetime){
                        .memory_class = t->class,
                        .first = t->step,
                        .last = vt_plan_group_last(plan, t->step),
                        .offset = t->offset,
                        .bytes = t->bytes,
                        .name = format_name(p, "%s visits", vt_value_name(plan->g, t->value, name)),
                        .type = text_of_type(p, t->value)});
  }
}

/* Adds the lifetimes of the dense copies of views. `first` and `last` are scratch with an entry per
 * value. */
static void add_dense_copy_lifetimes(vt_planned *p, uint32_t *first, uint32_t *last) {
  const vt_plan *plan = p->line.plan;
  char name[16];
  vt_plan_lifetimes_of_copies(plan, first, last);
  for (uint32_t v = 0; v < plan->n_buffers; v++) {
    const vt_type *type = &plan->g->values[v].type;
    uint64_t elements, bytes;
    if (plan->dense[v] == VT_NO_OFFSET || vt_type_size(type, &elements, &bytes, NULL) != VT_OK)
      continue;
    add_lifetime(
        p, (vt_plan_lifetime){.memory_class = VT_CLASS_WORK,
                              .first = first[v],
                              .last = last[v],
                              .offset = plan->dense[v],
                              .bytes = bytes,
                              .name = format_name(p, "%s dense", vt_value_name(plan->g, v, name)),
                              .type = text_of_type(p, v)});
  }
}

/* Adds the lifetimes of each step's bodies and of its scratch. A step may be several launches:
 * those that make the dense copies that it reads, then its own. Their scratch has the same offset,
 * so the largest of them counts. */
static void add_step_lifetimes(vt_planned *p) {
  const vt_plan *plan = p->line.plan;
  vt_plan_lifetime scratch = {.memory_class = VT_CLASS_WORK, .name = "scratch", .type = ""};
  for (uint32_t r = 0, step = 0; r < plan->n_bk_steps; r++) {
    const vt_bk_step *s = &plan->bk_steps[r];
    if (s->work_bytes > scratch.bytes) {
      scratch.bytes = s->work_bytes;
      scratch.offset = s->work_offset;
    }
    if (plan->bk_step_node[r] != plan->step_node[step]) continue;
    add_lifetime(p, (vt_plan_lifetime){.memory_class = VT_CLASS_TEMP,
                                       .first = step,
                                       .last = step,
                                       .offset = plan->nested[step].offset,
                                       .bytes = plan->nested[step].bytes,
                                       .name = "bodies",
                                       .type = ""});
    scratch.first = scratch.last = step++;
    add_lifetime(p, scratch);
    scratch.bytes = 0;
  }
}

/* Makes all texts and lifetimes. */
static vt_status make_texts_and_lifetimes(vt_planned *p, vt_diag *d) {
  const vt_plan *plan = p->line.plan;
  const size_t max_lifetimes =
      (size_t)plan->n_buffers + plan->n_transfers + plan->n_steps + plan->n_bk_steps + 1;
  p->lifetimes = VT_NEW_N(&p->arena, vt_plan_lifetime, max_lifetimes);
  p->step = VT_NEW_N(&p->arena, const char *, plan->n_steps);
  uint32_t *scratch_a = VT_NEW_N(&p->arena, uint32_t, plan->n_buffers);
  uint32_t *scratch_b = VT_NEW_N(&p->arena, uint32_t, plan->n_buffers);
  vt_text t;
  vt_text_init(&t, p->a);
  vt_plan_print(plan, 1, &t);
  p->text = copy_and_free_text(p, &t);
  if (vt_arena_status(&p->arena) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < plan->n_steps; i++) p->step[i] = text_of_step(p, i);
  add_value_lifetimes(p, scratch_a);
  add_param_copy_lifetimes(p);
  add_dense_copy_lifetimes(p, scratch_a, scratch_b);
  add_step_lifetimes(p);
  if (p->text != NULL && vt_arena_status(&p->arena) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_NOMEM, "out of memory");
}

vt_status vt_planned_new(const vt_model *m, const vt_options *o, vt_planned **out, vt_diag *d) {
  vt_alloc a;
  const vt_options options = vt_options_copy(o, &a);
  vt_planned *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  p->a = a;
  vt_arena_init(&p->arena, a);
  vt_fpenv saved;
  /* The pass `lower` rounds coefficients, so it needs the numerics' own mode. */
  vt_fpenv_enter(&saved);
  vt_status s = vt_prepare(m, &options, a, 0, &p->dev, &p->line, &p->terms, d);
  if (s == VT_OK) s = make_texts_and_lifetimes(p, d);
  vt_fpenv_leave(&saved);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_planned_free(p);
  }
  return s;
}

void vt_planned_free(vt_planned *p) {
  if (p == NULL) return;
  const vt_alloc a = p->a;
  vt_pipeline_done(&p->line);
  vt_device_close(p->dev);
  vt_arena_done(&p->arena);
  vt_alloc_free(a, p, sizeof *p);
}

/* ---- queries ---- */

const char *vt_planned_backend(const vt_planned *p) { return vt_device_name(p->dev); }
int vt_planned_unadmitted(const vt_planned *p) { return vt_device_unadmitted(p->dev); }

int vt_planned_plugin(const vt_planned *p, uint8_t out[32]) {
  const vt_hash256 *hash = vt_device_plugin_digest(p->dev);
  if (hash != NULL) memcpy(out, hash->b, sizeof hash->b);
  return hash != NULL;
}

const char *vt_planned_fallback(const vt_planned *p) {
  return p->terms.fallback[0] != 0 ? p->terms.fallback : NULL;
}

const char *vt_planned_text(const vt_planned *p) { return p->text; }

void vt_planned_digest(const vt_planned *p, uint8_t out_core[32], uint8_t out_target[32]) {
  memcpy(out_core, p->line.plan->core.b, 32);
  memcpy(out_target, p->line.plan->target.b, 32);
}

void vt_planned_info(const vt_planned *p, vt_plan_info *out) {
  const vt_plan *plan = p->line.plan;
  const vt_graph *g = plan->g;
  vt_plan_info info = {.size = out->size,
                       .nodes = g->n_nodes,
                       .steps = plan->n_steps,
                       .transfers = plan->n_transfers,
                       .dense_copies = plan->n_bk_steps - plan->n_steps,
                       .peak = vt_plan_peak_bytes(plan),
                       .live = plan->live_bytes,
                       .fullest = plan->live_step};
  for (uint32_t v = 0; v < plan->n_buffers; v++) {
    info.views += plan->buffers[v].place == VT_PLACE_VIEW;
    info.in_place += plan->buffers[v].place == VT_PLACE_OVER;
  }
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].group > info.groups) info.groups = g->nodes[i].group;
  for (uint32_t i = 0; i < plan->n_transfers; i++) {
    const vt_transfer *t = &plan->transfers[i];
    *(t->direction == VT_TO_DEVICE ? &info.to_device : &info.from_device) += t->bytes;
  }
  memcpy(info.bytes, plan->class_bytes, sizeof info.bytes);
  info.bytes_state = plan->class_bytes[VT_CLASS_MODEL_STATE];
  info.bytes_backend = plan->class_bytes[VT_CLASS_KEPT];
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
}

uint32_t vt_planned_lifetimes(const vt_planned *p) { return p->n_lifetimes; }

vt_status vt_planned_lifetime(const vt_planned *p, uint32_t i, vt_plan_lifetime *out) {
  if (i >= p->n_lifetimes) return VT_NAME;
  vt_plan_lifetime s = p->lifetimes[i];
  s.size = out->size;
  memcpy(out, &s, s.size < sizeof s ? s.size : sizeof s);
  return VT_OK;
}

const char *vt_planned_step(const vt_planned *p, uint32_t i) {
  return i < p->line.plan->n_steps ? p->step[i] : NULL;
}
