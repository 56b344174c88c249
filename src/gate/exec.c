/* SPDX-License-Identifier: Apache-2.0
 * exec.c - a plan on a device: steps checked before anything is taken, all memory taken before the
 * first run, every run inside the numerics environment, its first error named. Parameters that stay
 * in host memory are copied in as the plan says, between programs of the steps around. */
#include <stdio.h>
#include <string.h>
#include "guard.h"
#include "record.h"
#include "registry.h"
#include "table.h"
#include "vt_memory.h"

/* Runs between two visits of parameters that stay in host memory: a program of their own. */
typedef struct segment {
  vt_bk_program *prog;
  uint32_t first, end;             /* runs of the plan */
  uint32_t first_step;             /* of the plan, that comes with them */
  uint32_t first_visit, end_visit; /* transfers of the plan before it; others may lie between */
} segment;

/* What lies on the device comes first, so that a backend is handed no hole. */
_Static_assert(VT_CLASS_HOST + 1 == VT_CLASS_COUNT, "the host's class is the last");
enum { ON_DEVICE = VT_CLASS_HOST };
/* A class is the number of its buffer in the plug-in interface. */
#define IS_ARENA(class, arena) \
  _Static_assert(VT_CLASS_##class == VT_BK_ARENA_##arena, "classes.def and volta_backend.h agree")
IS_ARENA(INPUT, INPUT);
IS_ARENA(PARAM, PARAMETER);
IS_ARENA(GRAD, GRADIENT);
IS_ARENA(STATE, STATE);
IS_ARENA(TEMP, TEMPORARY);
IS_ARENA(WORK, WORKSPACE);
IS_ARENA(OUTPUT, OUTPUT);

/* A place among the runs of a plan: the run, the step that comes next, the number of the run. */
typedef struct cursor {
  uint32_t run, step;
  uint64_t number;
} cursor;

struct vt_exec {
  vt_alloc a;
  vt_device *dev;
  const vt_plan *p;
  uint32_t n_segments, room_segments, at; /* `at`: the one under way */
  segment *segments;
  cursor here; /* among the runs of the segment under way; numbers mostly ascend */
  uint64_t buffer[ON_DEVICE];
  int taken[ON_DEVICE];
  uint8_t *host; /* the parameters that stay there */
  vt_record record;
  int canonical; /* the backend sees to NaN in results */
  int ran;       /* what is copied in next belongs to another run */
  vt_exec_report *report;
  void *report_user;
  uint64_t work_done, work_total;
};

/* ---- runs and their names ---- */

const vt_nested *vt_plan_bodies(const vt_plan *p, uint32_t run, uint32_t *step) {
  const int is_step = *step < p->n_steps && p->run_node[run] == p->step_node[*step];
  return is_step ? &p->nested[(*step)++] : NULL;
}

/* Runs are counted as they are written: one, then those of its bodies. Finds the plan and the run
 * that a number means, which is not below the cursor's; 0 when there is none before run `end`. The
 * cursor goes to the run of `p` that was found or has it in its bodies, or to the end. */
static int find_run(const vt_plan *p, cursor *at, uint32_t end, uint64_t number,
                    const vt_plan **out, uint32_t *out_run) {
  while (at->run < end) {
    if (number == at->number) {
      *out = p;
      *out_run = at->run;
      return 1;
    }
    cursor next = {at->run + 1, at->step, at->number + 1};
    const vt_nested *bodies = vt_plan_bodies(p, at->run, &next.step);
    for (uint32_t k = 0; bodies != NULL && k < bodies->n; k++) {
      const vt_plan *body = bodies->plan[k];
      cursor inner = {.number = next.number};
      if (find_run(body, &inner, body->n_runs, number, out, out_run)) return 1;
      next.number = inner.number;
    }
    *at = next;
  }
  return 0;
}

static void go_to_start(vt_exec *x) {
  const segment *s = &x->segments[x->at];
  x->here = (cursor){.run = s->first, .step = s->first_step};
}

/* A number as the backend gives it, which knows the segment under way alone. */
static int find_here(vt_exec *x, uint64_t number, const vt_plan **out, uint32_t *out_run) {
  if (number < x->here.number) go_to_start(x);
  return find_run(x->p, &x->here, x->segments[x->at].end, number, out, out_run);
}

static const char *node_name(const vt_plan *p, uint32_t run, char buffer[16]) {
  return vt_value_name(p->g, p->g->nodes[p->run_node[run]].first_out, buffer);
}

/* ---- programs ---- */

static uint64_t device_bytes(const vt_plan *p) {
  uint64_t all = 0;
  for (uint32_t c = 0; c < ON_DEVICE; c++) all += p->class_bytes[c]; /* of 2^48 at most */
  return all;
}

static int is_visit(const vt_plan *p, const vt_transfer *t) {
  return t->direction == VT_TO_DEVICE && p->buffers[t->value].class == VT_CLASS_HOST;
}

/* Cuts the runs before each step that parameters are copied in for. Dense copies that stand before
 * the step belong to it: they may be of such a parameter. */
static void cut(vt_exec *x) {
  const vt_plan *p = x->p;
  segment *s = x->segments;
  uint32_t run = 0, step = 0;
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    const vt_transfer *t = &p->transfers[i];
    if (!is_visit(p, t)) continue;
    while (step < t->step) (void)vt_plan_bodies(p, run++, &step);
    if (run > s->first) {
      s->end = run;
      *++s = (segment){.first = run, .first_step = step, .first_visit = i};
    }
    s->end_visit = i + 1;
  }
  s->end = p->n_runs;
  x->n_segments = (uint32_t)(s - x->segments) + 1;
}

static vt_status take_segments(vt_exec *x, vt_diag *d) {
  x->room_segments = 1;
  for (uint32_t i = 0; i < x->p->n_transfers; i++)
    x->room_segments += is_visit(x->p, &x->p->transfers[i]) != 0;
  x->segments = vt_alloc_new(x->a, x->room_segments * sizeof *x->segments);
  if (x->segments == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  cut(x);
  return VT_OK;
}

static vt_status not_built(vt_exec *x, int32_t status, vt_diag *d) {
  const int first = d != NULL && d->code == VT_OK;
  const vt_status s = vt_device_fail(x->dev, status, "build the program", d);
  vt_bk_caps caps = {.size = sizeof caps};
  if (!first || s != VT_NOMEM) return s;
  if (x->dev->api->capabilities(x->dev->dev, &caps) != VT_OK || caps.memory == 0) return s;
  snprintf(d->hint, sizeof d->hint, "its tensors need %llu bytes besides, and '%s' has %llu left",
           (unsigned long long)device_bytes(x->p), x->dev->name, (unsigned long long)caps.memory);
  return s;
}

static vt_status build(vt_exec *x, vt_diag *d) {
  vt_guard_count(VT_COUNT_PROGRAMS);
  for (uint32_t i = 0; i < x->n_segments; i++) {
    segment *s = &x->segments[i];
    vt_bk_program *built = NULL; /* what a failed call leaves here is not looked at */
    const int32_t status =
        x->dev->api->program_build(x->dev->dev, x->p->runs + s->first, s->end - s->first, &built);
    if (status != VT_OK) return not_built(x, status, d);
    if (built == NULL)
      return VT_FAIL(d, VT_ABI, "backend '%s' builds a program and does not give it", x->dev->name);
    s->prog = built;
  }
  return VT_OK;
}

/* ---- results ---- */

static vt_bk_tensor result_tensor(const vt_plan *p, uint32_t value) {
  const vt_type *type = &p->g->values[value].type;
  const vt_buffer *b = &p->buffers[value];
  vt_bk_tensor t = {.size = sizeof t,
                    .dtype = type->dtype,
                    .rank = type->rank,
                    .arena = vt_class_arena(b->class),
                    .offset = b->offset};
  int64_t step = 1;
  for (uint32_t i = type->rank; i-- > 0; step *= type->dim[i]) {
    t.dim[i] = type->dim[i];
    t.stride[i] = step;
  }
  return t;
}

/* Those that no step makes; -1: another kind of memory, of which nothing is known. What entered was
 * made canonical then. */
static int is_given(const vt_plan *p, uint32_t value) {
  const uint32_t class = p->buffers[value].class;
  if (class == VT_CLASS_OUTPUT) return 0;
  return class == VT_CLASS_INPUT || class == VT_CLASS_PARAM || class == VT_CLASS_HOST ? 1 : -1;
}

static uint64_t list_results(const vt_plan *p, vt_bk_tensor *out, int *all_known) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < p->g->n_results; i++) {
    const uint32_t value = p->g->results[i].value;
    if (is_given(p, value) == 0) out[n++] = result_tensor(p, value);
    *all_known &= is_given(p, value) >= 0;
  }
  return n;
}

/* Not of a plug-in: nothing that judges backends would see that it does not keep it. */
static vt_status tell_results(vt_exec *x, vt_diag *d) {
  const uint32_t n = x->p->g->n_results;
  int all_known = 1;
  if (x->dev->plugin != NULL || x->n_segments != 1 ||
      !VT_BK_HAS(x->dev->api, vt_bk_api, program_results))
    return VT_OK;
  vt_bk_tensor *results = vt_alloc_new(x->a, (n + 1) * sizeof *results);
  if (results == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const uint64_t made = list_results(x->p, results, &all_known);
  const int32_t s = x->dev->api->program_results(x->segments[0].prog, results, made);
  x->canonical = s == VT_OK && all_known;
  vt_alloc_free(x->a, results, (n + 1) * sizeof *results);
  return VT_OK;
}

int vt_exec_canonical(const vt_exec *x) { return x->canonical; }

/* ---- memory ---- */

/* What is needed and what for: "17 bytes (host_input 5, temporary 12)". */
static uint64_t describe(const vt_plan *p, uint32_t first, uint32_t end, char out[320]) {
  uint64_t all = 0;
  size_t n = 0;
  for (uint32_t c = first; c < end; c++) all += p->class_bytes[c]; /* of 2^48 at most */
  n += (size_t)snprintf(out, 320, "%llu bytes (", (unsigned long long)all);
  for (uint32_t c = first; c < end; c++)
    if (p->class_bytes[c] > 0)
      n += (size_t)snprintf(out + n, 320 - n, "%s %llu, ", vt_class_name(c),
                            (unsigned long long)p->class_bytes[c]);
  memcpy(out + n - (n >= 2 && out[n - 2] == ',' ? 2 : 1), ")", 2);
  return all;
}

/* Too much is refused before any of it is taken: a system that promises memory it does not have
 * would end the process when it is touched. What the host keeps comes on top of what the device
 * takes where both have the same memory. */
static vt_status check_memory(vt_exec *x, vt_diag *d) {
  char needs[320];
  vt_bk_caps caps = {.size = sizeof caps};
  const int32_t s = x->dev->api->capabilities(x->dev->dev, &caps);
  if (s != VT_OK) return vt_device_fail(x->dev, s, "state its capabilities", d);
  vt_caps_trim(&caps);
  if (describe(x->p, 0, ON_DEVICE, needs) > caps.memory && caps.memory != 0)
    return VT_FAIL(d, VT_NOMEM, "the program needs %s on '%s', which has %llu left", needs,
                   x->dev->name, (unsigned long long)caps.memory);
  if (x->p->class_bytes[VT_CLASS_HOST] == 0) return VT_OK;
  const uint64_t left = vt_memory_available();
  const uint32_t first = caps.shares_host != 0 ? 0 : VT_CLASS_HOST;
  if (describe(x->p, first, VT_CLASS_COUNT, needs) > left && left != 0)
    return VT_FAIL(d, VT_NOMEM, "the program needs %s on the host, which has %llu left", needs,
                   (unsigned long long)left);
  return VT_OK;
}

/* `why` is what a backend said of it, or "". */
static vt_status no_room(const vt_exec *x, uint32_t c, const char *who, const char *why,
                         vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "%s has no %llu bytes for the %s tensors%s%s", who,
                 (unsigned long long)vt_plan_arena_bytes(x->p, c), vt_class_name(c),
                 why[0] != 0 ? ": " : "", why);
}

static vt_status take_memory(vt_exec *x, vt_diag *d) {
  char who[100];
  snprintf(who, sizeof who, "backend '%s'", x->dev->name);
  x->dev->reason[0] = 0; /* what it said before is not why */
  for (uint32_t c = 0; c < ON_DEVICE; c++) {
    const int32_t s =
        x->dev->api->buffer_new(x->dev->dev, vt_plan_arena_bytes(x->p, c), &x->buffer[c]);
    if (s == VT_NOMEM) {
      (void)no_room(x, c, who, x->dev->reason, d);
      x->dev->reason[0] = 0; /* it is told once */
      return VT_NOMEM;
    }
    if (s != VT_OK) return vt_device_fail(x->dev, s, "take memory", d);
    x->taken[c] = 1;
  }
  const uint64_t bytes = x->p->class_bytes[VT_CLASS_HOST];
  if (bytes == 0) return VT_OK;
  x->host = bytes <= SIZE_MAX ? vt_alloc_new(x->a, (size_t)bytes) : NULL;
  return x->host != NULL ? VT_OK : no_room(x, VT_CLASS_HOST, "the host", "", d);
}

/* ---- making ---- */

static vt_status fill(vt_exec *x, vt_diag *d) {
  VT_TRY(check_memory(x, d));
  VT_TRY(vt_record_init(&x->record, x->p, x->dev->host.measure != 0, x->a, d));
  VT_TRY(take_segments(x, d));
  VT_TRY(build(x, d));
  VT_TRY(tell_results(x, d));
  return take_memory(x, d);
}

/* Digests are what a plan is known by: they must be those of what it says. */
static vt_status check_digests(const vt_plan *p, vt_diag *d) {
  vt_hash256 core, target;
  if (vt_plan_hash(p, &core, &target) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (memcmp(&core, &p->core, sizeof core) == 0 && memcmp(&target, &p->target, sizeof target) == 0)
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the plan is not the one its digest names");
}

vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out, vt_diag *d) {
  VT_TRY(vt_plan_verify(p, d));
  VT_TRY(check_digests(p, d));
  VT_TRY(vt_device_accepts(dev, p, d));
  vt_exec *x = vt_alloc_new(a, sizeof *x);
  if (x == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  x->a = a;
  x->dev = dev;
  x->p = p;
  vt_guard guard;
  vt_guard_enter(&guard);
  const vt_status s = fill(x, d);
  vt_guard_leave(&guard);
  if (s == VT_OK) {
    *out = x;
  } else {
    vt_exec_free(x);
  }
  return s;
}

void vt_exec_free(vt_exec *x) {
  if (x == NULL) return;
  const vt_alloc a = x->a;
  vt_guard guard;
  vt_guard_enter(&guard);
  for (uint32_t c = 0; c < ON_DEVICE; c++)
    if (x->taken[c]) x->dev->api->buffer_free(x->dev->dev, x->buffer[c]);
  for (uint32_t i = 0; i < x->n_segments; i++)
    if (x->segments[i].prog != NULL) x->dev->api->program_free(x->segments[i].prog);
  vt_guard_leave(&guard);
  vt_alloc_free(a, x->host, (size_t)x->p->class_bytes[VT_CLASS_HOST]);
  vt_alloc_free(a, x->segments, x->room_segments * sizeof *x->segments);
  vt_record_done(&x->record);
  vt_alloc_free(a, x, sizeof *x);
}

/* ---- copies ---- */

/* What is copied in once, for all runs to come, is no part of what a run costs. */
static int stays(uint32_t class) {
  return class == VT_CLASS_PARAM || class == VT_CLASS_GRAD || class == VT_CLASS_STATE;
}

static vt_status copy(vt_exec *x, void *host, const vt_transfer *t, vt_diag *d) {
  const uint32_t to_device = t->direction == VT_TO_DEVICE;
  if (t->bytes == 0) return VT_OK;
  vt_guard_count(VT_COUNT_COPIES);
  const uint64_t begin = vt_record_now(&x->record);
  const int32_t s = x->dev->api->copy(x->dev->dev, host, x->buffer[vt_class_arena(t->class)],
                                      t->offset, t->bytes, to_device);
  if (s != VT_OK) return vt_device_fail(x->dev, s, "copy a tensor", d);
  if (!to_device || !stays(t->class)) vt_record_copy(&x->record, t, begin);
  return VT_OK;
}

/* The copies before a run and those after it are counted together with it. */
static void begin_count(vt_exec *x) {
  if (x->ran) vt_record_forget_copies(&x->record);
  x->ran = 0;
}

static vt_status move(vt_exec *x, uint32_t value, void *host, vt_direction direction, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  const vt_transfer t = {value, direction, 0, b->class, b->offset, b->bytes};
  vt_guard guard;
  vt_guard_enter(&guard);
  const vt_status s = copy(x, host, &t, d);
  vt_guard_leave(&guard);
  return s;
}

vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  void *host;
  memcpy(&host, &data, sizeof host); /* the ABI has one pointer for both directions */
  begin_count(x);
  if (b->class != VT_CLASS_HOST) return move(x, value, host, VT_TO_DEVICE, d);
  if (b->bytes > 0) memcpy(x->host + b->offset, data, (size_t)b->bytes);
  return VT_OK;
}

vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  if (b->class != VT_CLASS_HOST) return move(x, value, data, VT_FROM_DEVICE, d);
  if (b->bytes > 0) memcpy(data, x->host + b->offset, (size_t)b->bytes);
  return VT_OK;
}

/* Inputs and parameters are not handed out: they outlive a run, and who looks might write. */
void *vt_exec_result(vt_exec *x, uint32_t value) {
  const vt_buffer *b = &x->p->buffers[value];
  vt_guard guard;
  if (b->class != VT_CLASS_OUTPUT || !VT_BK_HAS(x->dev->api, vt_bk_api, buffer_map)) return NULL;
  vt_guard_enter(&guard);
  char *base = x->dev->api->buffer_map(x->dev->dev, x->buffer[vt_class_arena(b->class)]);
  vt_guard_leave(&guard);
  return base != NULL ? base + b->offset : NULL;
}

static vt_status visit(vt_exec *x, const segment *s, vt_diag *d) {
  for (uint32_t i = s->first_visit; i < s->end_visit; i++) {
    const vt_transfer *t = &x->p->transfers[i];
    if (is_visit(x->p, t)) VT_TRY(copy(x, x->host + x->p->buffers[t->value].offset, t, d));
  }
  return VT_OK;
}

/* ---- spoiling ---- */

/* Temporaries, results and scratch lie in one arena. */
static vt_status spoil(vt_exec *x, uint8_t *bytes, uint64_t n, vt_diag *d) {
  const uint64_t total = vt_plan_arena_bytes(x->p, VT_CLASS_TEMP);
  for (uint64_t at = 0; at < total; at += n) {
    const uint64_t here = total - at < n ? total - at : n;
    vt_guard_count(VT_COUNT_COPIES);
    const int32_t s = x->dev->api->copy(x->dev->dev, bytes, x->buffer[VT_CLASS_TEMP], at, here, 1);
    if (s != VT_OK) return vt_device_fail(x->dev, s, "fill its memory", d);
  }
  return VT_OK;
}

vt_status vt_exec_poison(vt_exec *x, uint8_t byte, vt_diag *d) {
  uint8_t bytes[4096];
  vt_guard guard;
  memset(bytes, byte, sizeof bytes);
  vt_guard_enter(&guard);
  const vt_status s = spoil(x, bytes, sizeof bytes, d);
  vt_guard_leave(&guard);
  return s;
}

void vt_exec_traffic(const vt_exec *x, uint64_t *out_to_device, uint64_t *out_from_device) {
  *out_to_device = x->record.counts.to_device;
  *out_from_device = x->record.counts.from_device;
}

/* ---- errors ---- */

/* An index out of range is the fault of what the model was given: it gets the node's place. */
static vt_status range_error(const vt_plan *p, uint32_t run, const vt_bk_error *e, vt_diag *d) {
  const int first = d != NULL && d->code == VT_OK;
  const vt_node *n = &p->g->nodes[p->run_node[run]];
  char name[16];
  (void)VT_FAIL(d, VT_RANGE, "'%s' = %s: index %lld at position %llu is out of range",
                node_name(p, run, name), vt_op_get(n->op)->name, (long long)e->value,
                (unsigned long long)e->position);
  if (first) {
    d->line = n->line;
    d->column = n->column;
  }
  return VT_RANGE;
}

/* The first error of a run, by name: node, position, index. */
static vt_status name_error(vt_exec *x, const vt_bk_error *e, vt_diag *d) {
  char name[16], what[240];
  const vt_plan *p = NULL;
  uint32_t run = 0;
  const int known = find_here(x, e->step, &p, &run);
  if (e->status == VT_RANGE && known) return range_error(p, run, e, d);
  if (e->status == VT_RANGE)
    return VT_FAIL(d, VT_RANGE, "'?' = ?: index %lld at position %llu is out of range",
                   (long long)e->value, (unsigned long long)e->position);
  snprintf(what, sizeof what, "run '%s'", known ? node_name(p, run, name) : "?");
  return vt_device_fail(x->dev, e->status, what, d);
}

/* ---- progress ---- */

/* Operations and bytes, held to what no sum over a plan can overflow with. */
static uint64_t work_of(const vt_exec *x, uint32_t run) {
  const vt_cost *c = &x->record.costs[run];
  const uint64_t most = UINT64_C(1) << 48;
  return (c->flops < most ? c->flops : most) / 16 +
         (c->bytes_written < most ? c->bytes_written : most) / 16 + 1;
}

void vt_exec_watch(vt_exec *x, vt_exec_report *report, void *user) {
  x->report = report;
  x->report_user = user;
  x->work_total = 0;
  for (uint32_t i = 0; i < x->p->n_runs; i++) x->work_total += work_of(x, i);
}

void vt_exec_note(vt_exec *x, uint64_t step) {
  const vt_plan *p = NULL;
  uint32_t index = 0;
  if (x->report == NULL && !x->record.measure) return;
  if (!find_here(x, step, &p, &index) || p != x->p) return;
  vt_record_step(&x->record, index);
  if (x->report == NULL) return;
  vt_guard guard;
  x->work_done += work_of(x, index);
  vt_guard_enter(&guard);
  x->report(x->report_user, x->work_done, x->work_total);
  vt_guard_leave(&guard); /* whatever mode the listener leaves behind */
  vt_record_resume(&x->record);
}

/* ---- runs ---- */

/* The backend's own times, where it offers them: it knows better than those who wait for it. */
static void ask_times(vt_exec *x, const segment *s, uint64_t begin) {
  vt_bk_metrics m = {.size = sizeof m};
  if (!x->record.measure || !VT_BK_HAS(x->dev->api, vt_bk_api, metrics)) return;
  const int32_t status = x->dev->api->metrics(s->prog, &m);
  vt_record_steps(&x->record, s->first, s->end, status == VT_OK ? &m : NULL, begin);
}

static vt_status run_segment(vt_exec *x, const segment *segment_at, vt_diag *d) {
  vt_bk_error e = {.size = sizeof e};
  go_to_start(x);
  VT_TRY(visit(x, segment_at, d));
  vt_record_resume(&x->record);
  const uint64_t begin = vt_record_now(&x->record);
  x->dev->running = x;
  int32_t s = x->dev->api->run(segment_at->prog, x->buffer, ON_DEVICE);
  if (s == VT_OK) s = x->dev->api->wait(segment_at->prog, &e);
  x->dev->running = NULL;
  if (s != VT_OK) return vt_device_fail(x->dev, s, "run", d);
  if (!vt_fpenv_kept()) /* who knows in which one it computed */
    return VT_FAIL(d, VT_BACKEND, "backend '%s' leaves another floating-point mode behind",
                   x->dev->name);
  if (e.status != VT_OK) return name_error(x, &e, d);
  ask_times(x, segment_at, begin);
  return VT_OK;
}

static vt_status run_guarded(vt_exec *x, vt_diag *d) {
  begin_count(x);
  x->ran = 1;
  x->dev->reason[0] = 0;
  x->work_done = 0;
  for (x->at = 0; x->at < x->n_segments; x->at++) VT_TRY(run_segment(x, &x->segments[x->at], d));
  return VT_OK;
}

vt_status vt_exec_run(vt_exec *x, vt_diag *d) {
  vt_guard guard;
  vt_record_begin(&x->record);
  vt_guard_count(VT_COUNT_RUNS);
  vt_guard_enter(&guard);
  const vt_status s = run_guarded(x, d);
  vt_guard_leave(&guard);
  vt_record_end(&x->record);
  return s;
}

/* ---- looking ---- */

uint64_t vt_exec_wall_ns(const vt_exec *x) { return x->record.counts.wall_ns; }

vt_exec_counts vt_exec_count(const vt_exec *x) { return vt_record_counts(&x->record); }

vt_cost vt_exec_cost(const vt_exec *x, uint32_t run) { return x->record.costs[run]; }

int vt_exec_time(const vt_exec *x, uint32_t run, uint64_t *out_begin, uint64_t *out_end) {
  return vt_record_time(&x->record, run, out_begin, out_end);
}

const vt_copied *vt_exec_copy(const vt_exec *x, uint32_t i) {
  return i < x->record.n_copies ? &x->record.copies[i] : NULL;
}
