/* SPDX-License-Identifier: Apache-2.0
 * exec.c - executes a plan on a device. It checks all steps before it takes any memory, takes all
 * memory before the first run, runs inside the numerics environment, and names the node of the
 * first error. Before each step that reads streamed parameters they must be uploaded, so the
 * backend steps (bk steps) are cut there into segments, each a program of its own:
 *
 *   backend steps     0     1     2     3     4     5     6
 *   segments       [segment 0 ][   segment 1    ][segment 2 ]
 *   uploads before             w                 u, v
 *
 * In a plan with safe_state the steps that store states begin a segment too, so that they do not
 * run if another step failed. A run uploads the parameters of a segment, runs its program, and goes
 * on to the next segment. vt_exec_write copies the inputs before the run and vt_exec_read the
 * results after it. */
#include <stdio.h>
#include <string.h>
#include "guard.h"
#include "record.h"
#include "registry.h"
#include "shared.h"
#include "table.h"
#include "vt_memory.h"

/* Consecutive backend steps that run as one program, with no upload between them, and not both
 * stores of states and other steps if the plan has safe_state. */
typedef struct segment {
  vt_bk_program *prog;               /* NULL until it is built */
  uint32_t first, end;               /* its backend steps are first .. end - 1 */
  uint32_t first_step;               /* the schedule step of its first backend step */
  uint32_t first_upload, end_upload; /* range in the plan's list of transfers that has the segment's
                                        uploads, and maybe other transfers */
} segment;

/* The arenas on the device, whose buffers a backend gets, are the classes before the host's.
 * Classes that were appended after it share one of these arenas. */
enum { N_ARENAS = VT_CLASS_HOST };
_Static_assert(N_ARENAS == 7, "the plug-in interface has seven arenas");
/* The number of such a class is also the number of its buffer in the plug-in interface. */
#define IS_ARENA(class, arena) \
  _Static_assert(VT_CLASS_##class == VT_BK_ARENA_##arena, "classes.def and volta_backend.h agree")
IS_ARENA(INPUT, INPUT);
IS_ARENA(PARAM, PARAMETER);
IS_ARENA(GRAD, GRADIENT);
IS_ARENA(STATE, STATE);
IS_ARENA(TEMP, TEMPORARY);
IS_ARENA(WORK, WORKSPACE);
IS_ARENA(OUTPUT, OUTPUT);

/* A position in the list of backend steps. */
typedef struct cursor {
  uint32_t index; /* index in the plan's list of backend steps */
  uint32_t step;  /* the schedule step that this backend step belongs to */
  /* The number by which a backend reports this step; steps of bodies are counted too. */
  uint64_t number;
} cursor;

struct vt_exec {
  vt_alloc a;
  vt_device *dev;
  const vt_plan *p;
  uint32_t n_segments, max_segments; /* number of segments, and of those allocated */
  uint32_t at;                       /* index of the running segment */
  segment *segments;
  cursor cursor; /* last position found in the running segment; the next search starts there */
  uint64_t buffer[N_ARENAS]; /* by arena: the backend's handle of its buffer */
  int taken[N_ARENAS];       /* by arena: 1 once its buffer is allocated */
  vt_exec_shared shared;     /* buffers of others, which the execution uses and does not free */
  uint8_t *host;             /* the streamed parameters, in host memory */
  vt_record record;          /* times and copies of the last run */
  int canonical;             /* 1: the backend promises that every NaN in results is canonical */
  int ran; /* 1 between a run and the next copy to the device, which starts the counts of the next
              run */
  vt_exec_report *report; /* called with the progress of a run, or NULL */
  void *report_user;      /* first argument of `report` */
  uint32_t first_store;   /* the first backend step that writes a state; n_bk_steps: none */
  int stored;             /* 1: the last run failed, and may have written states before */
  /* Progress of the running run, in the units of progress_units_of_bk_step. */
  uint64_t units_done, units_total;
};

/* ---- backend steps and their names ---- */

const vt_nested *vt_plan_next_bodies_of_bk_step(const vt_plan *p, uint32_t index, uint32_t *step) {
  const int is_step = *step < p->n_steps && p->bk_step_node[index] == p->step_node[*step];
  return is_step ? &p->nested[(*step)++] : NULL;
}

/* Finds the backend step with the given number among the steps of `p`, and of their bodies, before
 * index `end`: sets its plan and its index there, or returns 0. A step has a number, and the steps
 * of its bodies have the numbers after it. `number` must not be below that of the cursor, which
 * moves to the step of `p` that was found or whose bodies have the step found, or to the end. */
static int find_bk_step(const vt_plan *p, cursor *position, uint32_t end, uint64_t number,
                        const vt_plan **out, uint32_t *out_index) {
  while (position->index < end) {
    if (number == position->number) {
      *out = p;
      *out_index = position->index;
      return 1;
    }
    cursor next = {position->index + 1, position->step, position->number + 1};
    const vt_nested *bodies = vt_plan_next_bodies_of_bk_step(p, position->index, &next.step);
    for (uint32_t k = 0; bodies != NULL && k < bodies->n; k++) {
      const vt_plan *body = bodies->plan[k];
      cursor inner = {.number = next.number};
      if (find_bk_step(body, &inner, body->n_bk_steps, number, out, out_index)) return 1;
      next.number = inner.number;
    }
    *position = next;
  }
  return 0;
}

static void reset_cursor(vt_exec *x) {
  const segment *s = &x->segments[x->at];
  x->cursor = (cursor){.index = s->first, .step = s->first_step};
}

/* Finds the backend step with a number that a backend gives, which counts within the running
 * segment. */
static int find_bk_step_in_segment(vt_exec *x, uint64_t number, const vt_plan **out,
                                   uint32_t *out_index) {
  if (number < x->cursor.number) reset_cursor(x);
  return find_bk_step(x->p, &x->cursor, x->segments[x->at].end, number, out, out_index);
}

/* The name of the first result of a backend step. */
static const char *name_of_bk_step_result(const vt_plan *p, uint32_t index, char buffer[16]) {
  return vt_value_name(p->g, p->g->nodes[p->bk_step_node[index]].first_out, buffer);
}

/* ---- programs ---- */

/* The shared buffer that is arena `c` of the execution; NULL if the execution allocates it. */
static const vt_shared_buffer *shared_arena(const vt_exec *x, uint32_t c) {
  return c == VT_CLASS_PARAM ? x->shared.params : c == VT_CLASS_STATE ? x->shared.state : NULL;
}

/* The bytes of class `c` that the execution allocates itself: none in a shared buffer. */
static uint64_t own_bytes(const vt_exec *x, uint32_t c) {
  if (c == VT_CLASS_KEPT || shared_arena(x, vt_class_arena(c)) != NULL) return 0;
  return x->p->class_bytes[c];
}

static uint64_t own_bytes_on_device(const vt_exec *x) {
  uint64_t all = 0;
  /* The sum cannot overflow, because each class has at most 2^48 bytes. */
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (vt_class_is_on_device(c)) all += own_bytes(x, c);
  return all;
}

/* 1 for the transfer of a streamed parameter. */
static int is_upload_of_streamed(const vt_plan *p, const vt_transfer *t) {
  return t->direction == VT_TO_DEVICE && p->buffers[t->value].class == VT_CLASS_HOST;
}

/* Ends the last segment before the schedule step `step` and begins another there, unless the last
 * has no steps yet. `upload` is the first transfer that may be an upload of the new segment. The
 * dense copies that run just before the step go into the new segment too, because they may read an
 * uploaded parameter. `at` is the end of the steps that are in segments. */
static void cut_before_step(vt_exec *x, cursor *at, uint32_t step, uint32_t upload) {
  segment *last = &x->segments[x->n_segments - 1];
  while (at->step < step) (void)vt_plan_next_bodies_of_bk_step(x->p, at->index++, &at->step);
  if (at->index == last->first) return;
  last->end = at->index;
  x->segments[x->n_segments++] = (segment){
      .first = at->index, .first_step = step, .first_upload = upload, .end_upload = upload};
}

/* Cuts the backend steps into segments: before each step that has uploads, and before the steps
 * that store states safely. */
static void cut_segments(vt_exec *x) {
  const vt_plan *p = x->p;
  const uint32_t store = vt_plan_first_safe_store(p);
  cursor at = {0};
  int stores = store < p->n_steps;
  x->n_segments = 1;
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    const vt_transfer *t = &p->transfers[i];
    if (!is_upload_of_streamed(p, t)) continue;
    if (stores && t->step >= store) {
      cut_before_step(x, &at, store, i);
      stores = 0;
    }
    cut_before_step(x, &at, t->step, i);
    x->segments[x->n_segments - 1].end_upload = i + 1;
  }
  if (stores) cut_before_step(x, &at, store, p->n_transfers);
  x->segments[x->n_segments - 1].end = p->n_bk_steps;
}

static vt_status alloc_segments(vt_exec *x, vt_diag *d) {
  x->max_segments = 1 + (x->p->safe_state != 0);
  for (uint32_t i = 0; i < x->p->n_transfers; i++)
    x->max_segments += is_upload_of_streamed(x->p, &x->p->transfers[i]) != 0;
  x->segments = vt_alloc_new(x->a, x->max_segments * sizeof *x->segments);
  if (x->segments == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  cut_segments(x);
  return VT_OK;
}

/* Reports a failed build. If memory was short, a hint says how much the tensors need in
 * addition. */
static vt_status fail_build(vt_exec *x, int32_t status, vt_diag *d) {
  const int first = d != NULL && d->code == VT_OK;
  const vt_status s = vt_device_fail_call(x->dev, status, "build the program", d);
  vt_bk_caps caps = {.size = sizeof caps};
  if (!first || s != VT_NOMEM) return s;
  if (x->dev->api->capabilities(x->dev->dev, &caps) != VT_OK || caps.memory == 0) return s;
  snprintf(d->hint, sizeof d->hint, "its tensors need %llu more bytes, and '%s' has %llu left",
           (unsigned long long)own_bytes_on_device(x), x->dev->name,
           (unsigned long long)caps.memory);
  return s;
}

static vt_status build_programs(vt_exec *x, vt_diag *d) {
  vt_guard_count_event(VT_COUNT_PROGRAMS);
  for (uint32_t i = 0; i < x->n_segments; i++) {
    segment *s = &x->segments[i];
    vt_bk_program *built = NULL; /* set by the backend; read only if the call succeeds */
    const int32_t status = x->dev->api->program_build(x->dev->dev, x->p->bk_steps + s->first,
                                                      s->end - s->first, &built);
    if (status != VT_OK) return fail_build(x, status, d);
    if (built == NULL)
      return VT_FAIL(d, VT_ABI, "backend '%s' reports a built program but returns none",
                     x->dev->name);
    s->prog = built;
  }
  return VT_OK;
}

/* ---- results ---- */

/* A result as the dense tensor that the host reads. */
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

/* 0 if a step writes the result; 1 if the result is a port, whose NaN were made canonical when it
 * was written; -1 if its class does not tell. */
static int is_port_or_unknown(const vt_plan *p, uint32_t value) {
  const uint32_t class = p->buffers[value].class;
  if (class == VT_CLASS_OUTPUT) return 0;
  return class == VT_CLASS_INPUT || class == VT_CLASS_PARAM || class == VT_CLASS_HOST ? 1 : -1;
}

/* Lists the results that steps write; clears *all_known if is_port_or_unknown does not know for one
 * of the results. */
static uint64_t list_written_results(const vt_plan *p, vt_bk_tensor *out, int *all_known) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < p->g->n_results; i++) {
    const uint32_t value = p->g->results[i].value;
    if (is_port_or_unknown(p, value) == 0) out[n++] = result_tensor(p, value);
    *all_known &= is_port_or_unknown(p, value) >= 0;
  }
  return n;
}

/* Tells the backend where the results are; the backend may promise in return that every NaN in them
 * is canonical. A plug-in is not asked, because no admission test would notice a broken promise. */
static vt_status tell_backend_results(vt_exec *x, vt_diag *d) {
  const uint32_t n = x->p->g->n_results;
  int all_known = 1;
  if (x->dev->plugin != NULL || x->n_segments != 1 ||
      !VT_BK_HAS(x->dev->api, vt_bk_api, program_results))
    return VT_OK;
  vt_bk_tensor *results = vt_alloc_new(x->a, (n + 1) * sizeof *results);
  if (results == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const uint64_t made = list_written_results(x->p, results, &all_known);
  const int32_t s = x->dev->api->program_results(x->segments[0].prog, results, made);
  x->canonical = s == VT_OK && all_known;
  vt_alloc_free(x->a, results, (n + 1) * sizeof *results);
  return VT_OK;
}

int vt_exec_has_canonical_nan(const vt_exec *x) { return x->canonical; }

/* ---- memory ---- */

/* The sides on which memory is needed. */
typedef enum side { HOST_ONLY = 1, DEVICE_ONLY = 2, BOTH_SIDES = 3 } side;

static int class_is_on(uint32_t class, side where) {
  return (where & (vt_class_is_on_device(class) ? DEVICE_ONLY : HOST_ONLY)) != 0;
}

/* Prints the bytes of the classes on some side as "17 bytes (host_input 5, temporary 12)" and
 * returns their sum. */
enum { NEEDS_TEXT = 480 }; /* a line with all classes of memory */

static uint64_t print_bytes_needed(const vt_exec *x, side where, char out[NEEDS_TEXT]) {
  uint64_t all = 0;
  size_t n = 0;
  /* The sum cannot overflow, because each class has at most 2^48 bytes. */
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (class_is_on(c, where)) all += own_bytes(x, c);
  n += (size_t)snprintf(out, NEEDS_TEXT, "%llu bytes (", (unsigned long long)all);
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (class_is_on(c, where) && own_bytes(x, c) > 0)
      n += (size_t)snprintf(out + n, NEEDS_TEXT - n, "%s %llu, ", vt_class_name(c),
                            (unsigned long long)own_bytes(x, c));
  memcpy(out + n - (n >= 2 && out[n - 2] == ',' ? 2 : 1), ")", 2);
  return all;
}

/* Refuses a program that needs more memory than is free, before any is taken: a system that
 * overcommits memory would kill the process when the memory is touched. If the device's memory is
 * the host's, the needs of both are added. */
static vt_status check_free_memory(vt_exec *x, vt_diag *d) {
  char needs[NEEDS_TEXT];
  vt_bk_caps caps = {.size = sizeof caps};
  const int32_t s = x->dev->api->capabilities(x->dev->dev, &caps);
  if (s != VT_OK) return vt_device_fail_call(x->dev, s, "state its capabilities", d);
  vt_caps_clear_unwritten(&caps);
  if (print_bytes_needed(x, DEVICE_ONLY, needs) > caps.memory && caps.memory != 0)
    return VT_FAIL(d, VT_NOMEM, "the program needs %s on '%s', which has %llu left", needs,
                   x->dev->name, (unsigned long long)caps.memory);
  if (x->p->class_bytes[VT_CLASS_HOST] == 0) return VT_OK;
  const uint64_t left = vt_memory_available();
  const side where = caps.shares_host != 0 ? BOTH_SIDES : HOST_ONLY;
  if (print_bytes_needed(x, where, needs) > left && left != 0)
    return VT_FAIL(d, VT_NOMEM, "the program needs %s on the host, which has %llu left", needs,
                   (unsigned long long)left);
  return VT_OK;
}

/* Reports that the buffer of a class could not be allocated. `who` is the backend or the host;
 * `why` is the backend's reason, or "". */
static vt_status fail_allocation(const vt_exec *x, uint32_t class, const char *who, const char *why,
                                 vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "%s has no %llu bytes for the %s tensors%s%s", who,
                 (unsigned long long)vt_plan_arena_bytes(x->p, class), vt_class_name(class),
                 why[0] != 0 ? ": " : "", why);
}

static vt_status alloc_buffers(vt_exec *x, vt_diag *d) {
  char who[100];
  snprintf(who, sizeof who, "backend '%s'", x->dev->name);
  x->dev->reason[0] = 0; /* drops the reason of an earlier failure */
  for (uint32_t c = 0; c < N_ARENAS; c++) {
    if (shared_arena(x, c) != NULL) {
      x->buffer[c] = shared_arena(x, c)->handle;
      continue;
    }
    const int32_t s =
        x->dev->api->buffer_new(x->dev->dev, vt_plan_arena_bytes(x->p, c), &x->buffer[c]);
    if (s == VT_NOMEM) {
      (void)fail_allocation(x, c, who, x->dev->reason, d);
      x->dev->reason[0] = 0; /* the message above has the reason */
      return VT_NOMEM;
    }
    if (s != VT_OK) return vt_device_fail_call(x->dev, s, "take memory", d);
    x->taken[c] = 1;
  }
  const uint64_t bytes = x->p->class_bytes[VT_CLASS_HOST];
  if (bytes == 0) return VT_OK;
  x->host = bytes <= SIZE_MAX ? vt_alloc_new(x->a, (size_t)bytes) : NULL;
  return x->host != NULL ? VT_OK : fail_allocation(x, VT_CLASS_HOST, "the host", "", d);
}

/* ---- creating an execution ---- */

static uint32_t find_first_store(const vt_plan *p) {
  for (uint32_t i = 0; i < p->n_bk_steps; i++)
    for (uint32_t k = 0; k < p->bk_steps[i].n_out; k++)
      if (p->bk_steps[i].out[k].arena == VT_BK_ARENA_STATE) return i;
  return p->n_bk_steps;
}

int vt_exec_may_have_written_state(const vt_exec *x) { return x->stored; }

static vt_status init_exec(vt_exec *x, vt_diag *d) {
  x->first_store = find_first_store(x->p);
  VT_TRY(check_free_memory(x, d));
  VT_TRY(vt_record_init(&x->record, x->p, x->dev->host.measure != 0, x->a, d));
  VT_TRY(alloc_segments(x, d));
  if (x->shared.params != NULL) VT_TRY(vt_shared_buffer_attach(x->shared.params, x->dev, d));
  if (x->shared.state != NULL) VT_TRY(vt_shared_buffer_attach(x->shared.state, x->dev, d));
  VT_TRY(build_programs(x, d));
  VT_TRY(tell_backend_results(x, d));
  return alloc_buffers(x, d);
}

/* Checks the digests of a plan against its text, because caches identify a plan by its digests. */
static vt_status check_plan_digests(const vt_plan *p, vt_diag *d) {
  vt_hash256 core, target;
  if (vt_plan_hash(p, &core, &target) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (memcmp(&core, &p->core, sizeof core) == 0 && memcmp(&target, &p->target, sizeof target) == 0)
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the plan does not match its digest");
}

vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out, vt_diag *d) {
  const vt_exec_shared none = {0};
  return vt_exec_new_shared(dev, p, &none, a, out, d);
}

/* Checks that the shared buffers can be arenas of the plan on the device. */
static vt_status check_shared(const vt_device *dev, const vt_plan *p, const vt_exec_shared *shared,
                              vt_diag *d) {
  if (shared->params != NULL)
    VT_TRY(
        vt_shared_buffer_check(shared->params, dev, 0, vt_plan_arena_bytes(p, VT_CLASS_PARAM), d));
  if (shared->state == NULL) return VT_OK;
  return vt_shared_buffer_check(shared->state, dev, 1, vt_plan_arena_bytes(p, VT_CLASS_STATE), d);
}

vt_status vt_exec_new_shared(vt_device *dev, const vt_plan *p, const vt_exec_shared *shared,
                             vt_alloc a, vt_exec **out, vt_diag *d) {
  VT_TRY(check_shared(dev, p, shared, d));
  VT_TRY(vt_plan_verify(p, d));
  VT_TRY(check_plan_digests(p, d));
  VT_TRY(vt_device_check_plan(dev, p, d));
  vt_exec *x = vt_alloc_new(a, sizeof *x);
  if (x == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  x->a = a;
  x->dev = dev;
  x->p = p;
  x->shared = *shared;
  vt_guard guard;
  vt_guard_enter(&guard);
  const vt_status s = init_exec(x, d);
  vt_guard_leave(&guard);
  if (s == VT_OK) {
    *out = x;
  } else {
    vt_exec_free(x);
  }
  return s;
}

vt_status vt_exec_set_state(vt_exec *x, const vt_shared_buffer *state, vt_diag *d) {
  VT_TRY(vt_shared_buffer_check(state, x->dev, 1, vt_plan_arena_bytes(x->p, VT_CLASS_STATE), d));
  if (x->shared.state == NULL)
    return VT_FAIL(d, VT_INTERNAL, "the execution has a STATE arena of its own");
  VT_TRY(vt_shared_buffer_attach(state, x->dev, d));
  x->shared.state = state;
  x->buffer[VT_CLASS_STATE] = state->handle;
  return VT_OK;
}

void vt_exec_free(vt_exec *x) {
  if (x == NULL) return;
  const vt_alloc a = x->a;
  vt_guard guard;
  vt_guard_enter(&guard);
  for (uint32_t c = 0; c < N_ARENAS; c++)
    if (x->taken[c]) x->dev->api->buffer_free(x->dev->dev, x->buffer[c]);
  for (uint32_t i = 0; i < x->n_segments; i++)
    if (x->segments[i].prog != NULL) x->dev->api->program_free(x->segments[i].prog);
  vt_guard_leave(&guard);
  vt_alloc_free(a, x->host, (size_t)x->p->class_bytes[VT_CLASS_HOST]);
  vt_alloc_free(a, x->segments, x->max_segments * sizeof *x->segments);
  vt_record_done(&x->record);
  vt_alloc_free(a, x, sizeof *x);
}

/* ---- copies ---- */

/* 1 for a class that is copied to the device once for all runs; such copies are not counted for a
 * run. */
static int is_class_kept_between_runs(uint32_t class) {
  return class == VT_CLASS_PARAM || class == VT_CLASS_GRAD || class == VT_CLASS_STATE ||
         class == VT_CLASS_MODEL_STATE;
}

/* Makes and records one copy between `host` and the device, in the direction of `t`. */
static vt_status copy_and_record(vt_exec *x, void *host, const vt_transfer *t, vt_diag *d) {
  const uint32_t to_device = t->direction == VT_TO_DEVICE;
  if (t->bytes == 0) return VT_OK;
  vt_guard_count_event(VT_COUNT_COPIES);
  const uint64_t begin = vt_record_now_if_measuring(&x->record);
  const int32_t s = x->dev->api->copy(x->dev->dev, host, x->buffer[vt_class_arena(t->class)],
                                      t->offset, t->bytes, to_device);
  if (s != VT_OK) return vt_device_fail_call(x->dev, s, "copy a tensor", d);
  if (!to_device || !is_class_kept_between_runs(t->class)) vt_record_add_copy(&x->record, t, begin);
  return VT_OK;
}

/* Starts the counts of the next run if there was a run. A run's counts include the copies before it
 * and after it, so this is called by the first copy to the device after a run, and by a run. */
static void reset_copy_counts_after_run(vt_exec *x) {
  if (x->ran) vt_record_reset_copies(&x->record);
  x->ran = 0;
}

vt_status vt_exec_write_part(vt_exec *x, uint32_t value, uint64_t at, const void *data,
                             uint64_t bytes, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  const vt_transfer t = {value, VT_TO_DEVICE, 0, b->class, b->offset + at, bytes};
  void *host;
  vt_guard guard;
  /* Drops const, because the ABI has one pointer for both directions; it only reads here. */
  memcpy(&host, &data, sizeof host);
  if (at > b->bytes || bytes > b->bytes - at)
    return VT_FAIL(d, VT_INTERNAL, "a write outside the buffer of a value");
  if (b->class == VT_CLASS_PARAM && x->shared.params != NULL)
    return VT_FAIL(d, VT_INTERNAL, "shared parameters cannot be written");
  reset_copy_counts_after_run(x);
  if (b->class == VT_CLASS_HOST) {
    if (bytes > 0) memcpy(x->host + t.offset, data, (size_t)bytes);
    return VT_OK;
  }
  vt_guard_enter(&guard);
  const vt_status s = copy_and_record(x, host, &t, d);
  vt_guard_leave(&guard);
  return s;
}

vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) {
  return vt_exec_write_part(x, value, 0, data, x->p->buffers[value].bytes, d);
}

vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  const vt_transfer t = {value, VT_FROM_DEVICE, 0, b->class, b->offset, b->bytes};
  vt_guard guard;
  if (b->class == VT_CLASS_HOST) {
    if (b->bytes > 0) memcpy(data, x->host + b->offset, (size_t)b->bytes);
    return VT_OK;
  }
  vt_guard_enter(&guard);
  const vt_status s = copy_and_record(x, data, &t, d);
  vt_guard_leave(&guard);
  return s;
}

/* Returns NULL unless the value is of class OUTPUT and in memory that the host can map. Inputs,
 * parameters and states get NULL even if their memory can be mapped, because they outlive a run and
 * the caller might write to them. */
void *vt_exec_result_address(vt_exec *x, uint32_t value) {
  const vt_buffer *b = &x->p->buffers[value];
  vt_guard guard;
  if (b->class != VT_CLASS_OUTPUT || !VT_BK_HAS(x->dev->api, vt_bk_api, buffer_map)) return NULL;
  vt_guard_enter(&guard);
  char *base = x->dev->api->buffer_map(x->dev->dev, x->buffer[vt_class_arena(b->class)]);
  vt_guard_leave(&guard);
  return base != NULL ? base + b->offset : NULL;
}

/* Uploads the streamed parameters of a segment. */
static vt_status upload_streamed_params(vt_exec *x, const segment *s, vt_diag *d) {
  for (uint32_t i = s->first_upload; i < s->end_upload; i++) {
    const vt_transfer *t = &x->p->transfers[i];
    if (is_upload_of_streamed(x->p, t))
      VT_TRY(copy_and_record(x, x->host + x->p->buffers[t->value].offset, t, d));
  }
  return VT_OK;
}

/* ---- poison ---- */

/* Fills the arena of temporaries, results and scratch with copies of the `n` bytes. */
static vt_status poison_arena(vt_exec *x, uint8_t *bytes, uint64_t n, vt_diag *d) {
  const uint64_t total = vt_plan_arena_bytes(x->p, VT_CLASS_TEMP);
  for (uint64_t at = 0; at < total; at += n) {
    const uint64_t chunk = total - at < n ? total - at : n;
    vt_guard_count_event(VT_COUNT_COPIES);
    const int32_t s = x->dev->api->copy(x->dev->dev, bytes, x->buffer[VT_CLASS_TEMP], at, chunk, 1);
    if (s != VT_OK) return vt_device_fail_call(x->dev, s, "fill its memory", d);
  }
  return VT_OK;
}

vt_status vt_exec_poison(vt_exec *x, uint8_t byte, vt_diag *d) {
  uint8_t bytes[4096];
  vt_guard guard;
  memset(bytes, byte, sizeof bytes);
  vt_guard_enter(&guard);
  const vt_status s = poison_arena(x, bytes, sizeof bytes, d);
  vt_guard_leave(&guard);
  return s;
}

void vt_exec_bytes_copied(const vt_exec *x, uint64_t *out_to_device, uint64_t *out_from_device) {
  *out_to_device = x->record.counts.to_device;
  *out_from_device = x->record.counts.from_device;
}

/* ---- errors ---- */

/* Reports an index out of range. It is a mistake in the model's inputs, so the message has the line
 * and column of the node. */
static vt_status fail_index_fault(const vt_plan *p, uint32_t index, const vt_bk_error *e,
                                  vt_diag *d) {
  const int first = d != NULL && d->code == VT_OK;
  const vt_node *n = &p->g->nodes[p->bk_step_node[index]];
  char name[16];
  (void)VT_FAIL(d, VT_RANGE, "'%s' = %s: index %lld at position %llu is out of range",
                name_of_bk_step_result(p, index, name), vt_op_get(n->op)->name, (long long)e->value,
                (unsigned long long)e->position);
  if (first) {
    d->line = n->line;
    d->column = n->column;
  }
  return VT_RANGE;
}

/* Reports the first error of a run: the node, and for an index out of range its position and
 * value. */
static vt_status fail_with_error(vt_exec *x, const vt_bk_error *e, vt_diag *d) {
  char name[16], what[240];
  const vt_plan *p = NULL;
  uint32_t index = 0;
  const int known = find_bk_step_in_segment(x, e->step, &p, &index);
  if (e->status == VT_RANGE && known) return fail_index_fault(p, index, e, d);
  if (e->status == VT_RANGE)
    return VT_FAIL(d, VT_RANGE, "'?' = ?: index %lld at position %llu is out of range",
                   (long long)e->value, (unsigned long long)e->position);
  snprintf(what, sizeof what, "run '%s'", known ? name_of_bk_step_result(p, index, name) : "?");
  return vt_device_fail_call(x->dev, e->status, what, d);
}

/* ---- progress ---- */

/* The share of a backend step in the progress of a run, from its operations and the bytes that it
 * writes. Both are capped so that the sum over a plan cannot overflow. */
static uint64_t progress_units_of_bk_step(const vt_exec *x, uint32_t index) {
  const vt_cost *c = &x->record.costs[index];
  const uint64_t most = UINT64_C(1) << 48;
  return (c->flops < most ? c->flops : most) / 16 +
         (c->bytes_written < most ? c->bytes_written : most) / 16 + 1;
}

void vt_exec_set_progress(vt_exec *x, vt_exec_report *report, void *user) {
  x->report = report;
  x->report_user = user;
  x->units_total = 0;
  for (uint32_t i = 0; i < x->p->n_bk_steps; i++) x->units_total += progress_units_of_bk_step(x, i);
}

void vt_exec_step_done(vt_exec *x, uint64_t step) {
  const vt_plan *p = NULL;
  uint32_t index = 0;
  if (x->report == NULL && !x->record.measure) return;
  if (!find_bk_step_in_segment(x, step, &p, &index) || p != x->p) return;
  vt_record_step_ends(&x->record, index);
  if (x->report == NULL) return;
  vt_guard guard;
  x->units_done += progress_units_of_bk_step(x, index);
  vt_guard_enter(&guard);
  x->report(x->report_user, x->units_done, x->units_total);
  vt_guard_leave(&guard); /* restores the mode that the listener may have changed */
  vt_record_step_begins(&x->record);
}

/* ---- running ---- */

/* Takes the backend's own step times if it offers them: they are more exact than the times of its
 * progress reports. */
static void read_backend_times(vt_exec *x, const segment *s, uint64_t begin) {
  vt_bk_metrics m = {.size = sizeof m};
  if (!x->record.measure || !VT_BK_HAS(x->dev->api, vt_bk_api, metrics)) return;
  const int32_t status = x->dev->api->metrics(s->prog, &m);
  vt_record_set_backend_times(&x->record, s->first, s->end, status == VT_OK ? &m : NULL, begin);
}

static vt_status run_segment(vt_exec *x, const segment *segment_at, vt_diag *d) {
  vt_bk_error e = {.size = sizeof e};
  reset_cursor(x);
  VT_TRY(upload_streamed_params(x, segment_at, d));
  vt_record_step_begins(&x->record);
  const uint64_t begin = vt_record_now_if_measuring(&x->record);
  x->stored = x->first_store < segment_at->end;
  x->dev->running = x;
  int32_t s = x->dev->api->run(segment_at->prog, x->buffer, N_ARENAS);
  if (s == VT_OK) s = x->dev->api->wait(segment_at->prog, &e);
  x->dev->running = NULL;
  if (s != VT_OK) return vt_device_fail_call(x->dev, s, "run", d);
  if (!vt_fpenv_is_active()) /* steps may have computed in the wrong mode */
    return VT_FAIL(d, VT_BACKEND, "backend '%s' leaves another floating-point mode behind",
                   x->dev->name);
  if (e.status != VT_OK) {
    const vt_status failed = fail_with_error(x, &e, d);
    x->stored &= x->cursor.index >= x->first_store; /* fail_with_error has moved it to the step */
    return failed;
  }
  read_backend_times(x, segment_at, begin);
  return VT_OK;
}

static vt_status run_all_segments(vt_exec *x, vt_diag *d) {
  reset_copy_counts_after_run(x);
  x->ran = 1;
  x->dev->reason[0] = 0;
  x->units_done = 0;
  x->stored = 0;
  for (x->at = 0; x->at < x->n_segments; x->at++) VT_TRY(run_segment(x, &x->segments[x->at], d));
  x->stored = 0;
  return VT_OK;
}

vt_status vt_exec_run(vt_exec *x, vt_diag *d) {
  vt_guard guard;
  vt_record_begin_run(&x->record);
  vt_guard_count_event(VT_COUNT_RUNS);
  vt_guard_enter(&guard);
  const vt_status s = run_all_segments(x, d);
  vt_guard_leave(&guard);
  vt_record_end_run(&x->record);
  return s;
}

/* ---- times and counts of the last run ---- */

uint64_t vt_exec_last_run_ns(const vt_exec *x) { return x->record.counts.wall_ns; }

vt_exec_counts vt_exec_get_counts(const vt_exec *x) { return vt_record_counts(&x->record); }

vt_cost vt_exec_step_cost(const vt_exec *x, uint32_t step) { return x->record.costs[step]; }

int vt_exec_step_time(const vt_exec *x, uint32_t step, uint64_t *out_begin, uint64_t *out_end) {
  return vt_record_step_time(&x->record, step, out_begin, out_end);
}

const vt_copy_record *vt_exec_copy_at(const vt_exec *x, uint32_t i) {
  return i < x->record.n_copies ? &x->record.copies[i] : NULL;
}
