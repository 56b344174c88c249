/* SPDX-License-Identifier: Apache-2.0
 * cuda_program.c - programs: a list of steps as launches, and their runs. Building a program
 * rehearses its steps, which loads every kernel, so a card without memory for them fails before a
 * run. A run issues everything to the stream and returns. The second run over the same buffers is
 * recorded as a CUDA graph, which all later ones replay: nothing is decided or allocated again. A
 * run that writes state after steps that may find an index fault has two parts with a graph each,
 * because after a fault no state may change.
 * If a step waits for results on the host, or the time of every step is measured, each run is
 * issued anew. A rehearsal goes through all steps without issuing anything; a time mark is an
 * event between two launches. */
#include <string.h>
#include "cuda_epilogue.h"
#include "gpu_canonical.h"

/* A result that the host may read. */
typedef struct result {
  uint64_t offset;
  int64_t count;
  uint32_t arena, dtype;
  int canonical; /* 1 if, since the last run, every NaN was replaced by the canonical one */
} result;

/* Most parts of a run: the launches before `split`, and the others. */
enum { PARTS = 2 };

struct vt_bk_program {
  vt_bk_device *dev;
  /* next program in the device's list of programs whose results the host may read */
  vt_bk_program *next;
  vt_launches steps;
  vt_arenas arenas;
  result *results;
  uint64_t n_results;
  int waits;  /* 1 if a step waits for results on the host, so that runs cannot be recorded */
  int faults; /* 1 if a step may record an index fault */
  vt_gpu_fault *fault; /* device address of the fault record */
  vt_gpu_fault *seen;  /* pinned copy of the fault record after the last run */
  vt_bk_error error;
  int ready;                  /* 1 if the last run was issued without an error */
  int unrecorded;             /* 1 if recording failed, so runs are issued step by step */
  char *base[VT_CUDA_ARENAS]; /* addresses of the arenas in the last run */
  /* The first launch that writes state, if a launch before it may find an index fault: there a run
   * waits for the fault record, and goes on only without a fault. 0: a run has one part. */
  uint64_t split;
  uint64_t first_store; /* number of the first step that writes state; UINT64_MAX: none does */
  void *graph[PARTS];   /* graphs of the parts, recorded for the addresses in `base`, or NULL */
  void **time_marks;    /* events before the first launch and after each; NULL if times are not
                           measured */
  uint64_t *begin, *end, n_times;
};

/* ---- handlers ---- */

enum {
#define VT_CUDA(op, work, run) ROW_##op,
#include "cuda_handlers.def"
#undef VT_CUDA
  ROWS
};
static const vt_cuda_handler handlers[ROWS] = {
#define vt_cuda_scratch_none NULL
#define VT_CUDA(op, work, run) [ROW_##op] = {vt_cuda_scratch_##work, vt_cuda_run_##run},
#include "cuda_handlers.def"
#undef VT_CUDA
#undef vt_cuda_scratch_none
};

/* For each op number: its row in the table of handlers, plus one; 0 if the op has no handler. */
static const uint8_t row_of[] = {
#define VT_CUDA(op, work, run) [VT_OP_##op] = ROW_##op + 1,
#include "cuda_handlers.def"
#undef VT_CUDA
};
_Static_assert(ROWS <= UINT8_MAX, "row_of holds the number of every row");

const vt_cuda_handler *vt_cuda_handler_of(uint32_t op) {
  const uint32_t row = op < sizeof row_of ? row_of[op] : 0;
  return row != 0 ? &handlers[row - 1] : NULL;
}

/* ---- steps that are supported ---- */

enum { MOST_VIEWS = 256 };

/* Makes a call that has shapes but no data, to ask for scratch. Returns 0 if the step has more
 * operands than any op that needs scratch. */
static int make_call_without_data(vt_bk_device *dev, const vt_bk_step *s, vt_view views[MOST_VIEWS],
                                  vt_cuda_call *out) {
  if ((uint64_t)s->n_in + s->n_out > MOST_VIEWS) return 0;
  for (uint32_t i = 0; i < s->n_in; i++) views[i] = vt_step_view(&s->in[i]);
  for (uint32_t i = 0; i < s->n_out; i++) views[s->n_in + i] = vt_step_view(&s->out[i]);
  *out = (vt_cuda_call){.dev = dev,
                        .traits = vt_cuda_card_traits(dev->card),
                        .step = s,
                        .in = views,
                        .out = views + s->n_in,
                        .n_in = s->n_in,
                        .n_out = s->n_out,
                        .attrs = s->attrs};
  return 1;
}

int32_t vt_cuda_step_check(vt_bk_device *dev, const vt_bk_step *s) {
  (void)dev; /* dev is not used: every card supports the same steps */
  if (!vt_step_is_well_formed(s)) return VT_UNSUPPORTED;
  const int takes = vt_cuda_is_pointwise(s->op) ? vt_cuda_has_pointwise_kernel(s)
                                                : vt_cuda_handler_of(s->op) != NULL;
  return takes ? VT_OK : VT_UNSUPPORTED;
}

uint64_t vt_cuda_step_scratch(vt_bk_device *dev, const vt_bk_step *s) {
  const vt_cuda_handler *h = vt_cuda_handler_of(s->op);
  vt_view views[MOST_VIEWS];
  vt_cuda_call call;
  if (h == NULL || h->work == NULL || !make_call_without_data(dev, s, views, &call)) return 0;
  return h->work(&call);
}

/* ---- building ---- */

static int32_t chain_new(void *user, const vt_bk_step *const *s, uint32_t n, void **out) {
  vt_cuda_chain *made = NULL;
  const int32_t status = vt_cuda_chain_new(((vt_bk_program *)user)->dev, s, n, &made);
  *out = made;
  return status;
}

static void chain_free(void *user, void *chain) {
  vt_cuda_chain_free(((vt_bk_program *)user)->dev, chain);
}

static int32_t anchor_new(void *user, vt_launch *at) {
  const vt_bk_program *p = user;
  at->handler = vt_cuda_handler_of(at->anchor->op);
  if (at->handler == NULL) return VT_UNSUPPORTED;
  return at->chain == NULL ? VT_OK : vt_cuda_epilogue_new(p->dev, at, &at->epilogue);
}

static void anchor_free(void *user, vt_launch *at) {
  const vt_bk_program *p = user;
  if (at->epilogue != NULL) vt_cuda_epilogue_free(p->dev, at->epilogue);
}

static vt_launch_callbacks launch_callbacks_of(vt_bk_program *p) {
  return (vt_launch_callbacks){.host = p->dev->host,
                               .user = p,
                               .pointwise = vt_cuda_is_pointwise,
                               .chain_new = chain_new,
                               .chain_free = chain_free,
                               .anchor_new = anchor_new,
                               .anchor_free = anchor_free};
}

static const vt_cu *driver_of(const vt_bk_program *p) { return vt_cuda_card_driver(p->dev->card); }

static int clear_fault_record(vt_bk_program *p) {
  return driver_of(p)->cuMemsetD8Async((uint64_t)(uintptr_t)p->fault, 0xff, sizeof *p->fault,
                                       p->dev->stream);
}

static int32_t new_fault_record(vt_bk_program *p) {
  uint64_t at = 0;
  void *seen = NULL;
  int e = driver_of(p)->cuMemAlloc(&at, sizeof *p->fault);
  p->fault = (vt_gpu_fault *)(uintptr_t)at;
  if (e == VT_CU_SUCCESS) e = driver_of(p)->cuMemHostAlloc(&seen, sizeof *p->seen, 0);
  p->seen = seen;
  if (e == VT_CU_SUCCESS) e = clear_fault_record(p);
  return vt_cuda_report_driver_error(p->dev, e, "allocate memory for a program");
}

/* Creates an event before the first launch and one after each, if the host measures times. */
static int32_t new_time_marks(vt_bk_program *p) {
  const vt_bk_host *host = p->dev->host;
  const int wanted = host->size >= offsetof(vt_bk_host, measure) + sizeof host->measure;
  int e = VT_CU_SUCCESS;
  if (!wanted || !host->measure) return VT_OK;
  for (uint64_t i = 0; i < p->steps.n; i++)
    p->n_times += p->steps.launches[i].chain != NULL ? p->steps.launches[i].n : 1;
  p->time_marks = vt_cuda_host_memory_new(host, p->steps.n + 1, sizeof *p->time_marks);
  p->begin = vt_cuda_host_memory_new(host, p->n_times, sizeof *p->begin);
  p->end = vt_cuda_host_memory_new(host, p->n_times, sizeof *p->end);
  if (p->time_marks == NULL || p->begin == NULL || p->end == NULL) return VT_NOMEM;
  for (uint64_t i = 0; i <= p->steps.n && e == VT_CU_SUCCESS; i++)
    e = driver_of(p)->cuEventCreate(&p->time_marks[i], 0);
  return vt_cuda_report_driver_error(p->dev, e, "create an event");
}

static vt_status rehearse(vt_bk_program *p);

/* Number of a step and the steps of its bodies. */
static uint64_t count_with_bodies(const vt_bk_step *s) {
  uint64_t n = 1;
  for (uint32_t k = 0; k < s->n_body; k++)
    for (uint64_t i = 0; i < s->body[k].n_steps; i++) n += count_with_bodies(&s->body[k].steps[i]);
  return n;
}

static uint64_t number_of_first_store(const vt_bk_step *steps, uint64_t n) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < n; number += count_with_bodies(&steps[i++]))
    for (uint32_t k = 0; k < steps[i].n_out; k++)
      if (steps[i].out[k].arena == VT_BK_ARENA_STATE) return number;
  return UINT64_MAX;
}

static int32_t build_program(vt_bk_program *p, const vt_bk_step *steps, uint64_t n) {
  const vt_launch_callbacks how = launch_callbacks_of(p);
  p->first_store = number_of_first_store(steps, n);
  int32_t s = vt_arenas_include(&p->arenas, steps, n);
  if (s == VT_OK) s = vt_launches_init(&how, steps, n, &p->steps);
  if (s == VT_OK) s = new_fault_record(p);
  if (s == VT_OK) s = new_time_marks(p);
  return s == VT_OK ? (int32_t)rehearse(p) : s;
}

int32_t vt_cuda_program_memory(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                               vt_bk_memory *out) {
  (void)steps;
  (void)n;
  const vt_bk_memory m = {.size = sizeof m,
                          .device = sizeof(vt_gpu_fault) + VT_CUDA_COUNTERS * sizeof *dev->counters,
                          .host = vt_cuda_staging_bytes() + sizeof(vt_gpu_fault)};
  memcpy(out, &m, out->size < sizeof m ? out->size : sizeof m);
  return VT_OK;
}

int32_t vt_cuda_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                              vt_bk_program **out) {
  vt_bk_program *p = vt_cuda_host_memory_new(dev->host, 1, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  p->dev = dev;
  int32_t s = vt_cuda_enter_device(dev);
  if (s == VT_OK) {
    s = build_program(p, steps, n);
    vt_cuda_card_leave(dev->card);
  }
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_cuda_program_free(p);
  }
  return s;
}

static void free_graphs(vt_bk_program *p) {
  for (uint32_t i = 0; i < PARTS; i++) {
    if (p->graph[i] != NULL) (void)driver_of(p)->cuGraphExecDestroy(p->graph[i]);
    p->graph[i] = NULL;
  }
}

static void free_card_resources(vt_bk_program *p) {
  const vt_cu *cu = driver_of(p);
  (void)cu->cuStreamSynchronize(p->dev->stream);
  free_graphs(p);
  for (uint64_t i = 0; p->time_marks != NULL && i <= p->steps.n; i++)
    if (p->time_marks[i] != NULL) (void)cu->cuEventDestroy(p->time_marks[i]);
  if (p->fault != NULL) (void)cu->cuMemFree((uint64_t)(uintptr_t)p->fault);
  if (p->seen != NULL) (void)cu->cuMemFreeHost(p->seen);
}

void vt_cuda_program_free(vt_bk_program *p) {
  const vt_bk_host *host = p->dev->host;
  const vt_launch_callbacks how = launch_callbacks_of(p);
  if (vt_cuda_card_enter(p->dev->card) == VT_CU_SUCCESS) {
    free_card_resources(p);
    vt_cuda_card_leave(p->dev->card);
  }
  vt_cuda_host_memory_free(host, p->time_marks, p->steps.n + 1, sizeof *p->time_marks);
  vt_launches_done(&how, &p->steps);
  vt_cuda_host_memory_free(host, p->begin, p->n_times, sizeof *p->begin);
  vt_cuda_host_memory_free(host, p->end, p->n_times, sizeof *p->end);
  for (vt_bk_program **at = &p->dev->programs; *at != NULL; at = &(*at)->next)
    if (*at == p) {
      *at = p->next;
      break;
    }
  vt_cuda_host_memory_free(host, p->results, p->n_results, sizeof *p->results);
  vt_cuda_host_memory_free(host, p, 1, sizeof *p);
}

/* ---- issuing ---- */

typedef struct runner {
  vt_bk_program *p;
  const vt_launch *at; /* the launch being issued, whose bodies its handler may run */
  int rehearsal;
} runner;

static vt_cuda_call call_without_step(runner *r) {
  vt_bk_program *p = r->p;
  return (vt_cuda_call){.dev = p->dev,
                        .traits = vt_cuda_card_traits(p->dev->card),
                        .runner = r,
                        .rehearsal = r->rehearsal,
                        .fault = p->fault,
                        .faults = &p->faults,
                        .waits = &p->waits};
}

static vt_status issue_launches(runner *r, const vt_launches *l, uint64_t first, uint64_t end,
                                int marks_times);

vt_status vt_cuda_body_issue(vt_cuda_call *c, uint32_t body) {
  runner *r = c->runner;
  const vt_launch *at = r->at;
  const vt_status s = issue_launches(r, &at->bodies[body], 0, at->bodies[body].n, 0);
  r->at = at;
  return s;
}

/* Issues an anchor. *epilogue_done is set to 1 if the anchor's kernel ran the epilogue too. */
static vt_status issue_anchor(runner *r, const vt_launch *at, int *epilogue_done) {
  const vt_bk_step *s = at->anchor;
  vt_launch_body body[VT_MAX_BODIES];
  vt_cuda_call c = call_without_step(r);
  vt_launch_place_views(at, r->p->base, body);
  r->at = at;
  c.step = s;
  c.attrs = s->attrs;
  c.number = at->number;
  c.body = body;
  c.in = at->views;
  c.n_in = s->n_in;
  c.out = at->views + s->n_in;
  c.n_out = s->n_out;
  if (s->work_bytes > 0) c.work = r->p->base[s->work_arena] + s->work_offset;
  c.epilogue = at->epilogue;
  c.base = r->p->base;
  const vt_status status = at->handler->run(&c);
  *epilogue_done = c.epilogue_done;
  return status;
}

static vt_status issue_launch(runner *r, const vt_launch *at) {
  int epilogue_done = 0;
  if (at->anchor != NULL) VT_TRY(issue_anchor(r, at, &epilogue_done));
  if (at->chain == NULL || epilogue_done) return VT_OK;
  vt_cuda_call c = call_without_step(r);
  c.number = at->first;
  return vt_cuda_chain_run(at->chain, &c, r->p->base);
}

static vt_status record_time_mark(vt_bk_program *p, uint64_t i) {
  if (p->time_marks == NULL) return VT_OK;
  const int e = driver_of(p)->cuEventRecord(p->time_marks[i], p->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(p->dev, e, "record an event");
}

static vt_status issue_launches(runner *r, const vt_launches *l, uint64_t first, uint64_t end,
                                int marks_times) {
  for (uint64_t i = first; i < end; i++) {
    VT_TRY(issue_launch(r, &l->launches[i]));
    if (marks_times) VT_TRY(record_time_mark(r->p, i + 1));
  }
  return VT_OK;
}

static uint32_t count_parts(const vt_bk_program *p) { return p->split > 0 ? 2 : 1; }

/* Issues the launches of a part, and a copy of the fault record to the host. */
static vt_status issue_part(vt_bk_program *p, uint32_t part) {
  runner r = {.p = p};
  const uint64_t first = part == 0 ? 0 : p->split;
  const uint64_t end = part + 1 < count_parts(p) ? p->split : p->steps.n;
  if (part == 0) VT_TRY(record_time_mark(p, 0));
  VT_TRY(issue_launches(&r, &p->steps, first, end, 1));
  if (!p->faults) return VT_OK;
  const int e = driver_of(p)->cuMemcpyDtoHAsync(p->seen, (uint64_t)(uintptr_t)p->fault,
                                                sizeof *p->seen, p->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(p->dev, e, "copy the fault record");
}

/* The first launch that writes state; the number of launches if there is none. */
static uint64_t find_first_store(const vt_bk_program *p) {
  uint64_t i = 0;
  while (i < p->steps.n && p->steps.launches[i].first + p->steps.launches[i].n <= p->first_store)
    i++;
  return i;
}

/* Goes through the steps as a run does, without issuing anything, which loads the kernels that they
 * need. Arenas get fake addresses that are aligned as real ones are and do not overlap. */
static vt_status rehearse(vt_bk_program *p) {
  runner r = {.p = p, .rehearsal = 1};
  for (uint64_t i = 0; i < VT_CUDA_ARENAS; i++) p->base[i] = (char *)(uintptr_t)((i + 1) << 48);
  const uint64_t store = find_first_store(p);
  VT_TRY(issue_launches(&r, &p->steps, 0, store, 0));
  if (p->faults && store < p->steps.n) p->split = store;
  return issue_launches(&r, &p->steps, store, p->steps.n, 0);
}

/* ---- results that the host reads ---- */

static int canonical_nan_kernel_of(uint32_t dtype) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return VT_GPU_fix_nan_f32;
    case VT_DTYPE_F64:
      return VT_GPU_fix_nan_f64;
    case VT_DTYPE_F16:
    case VT_DTYPE_BF16:
      return VT_GPU_fix_nan_half;
    default:
      return -1; /* no kernel is needed: the type has no NaN */
  }
}

static vt_status write_canonical_nans(vt_bk_program *p, const result *r, int rehearsal) {
  runner no_body = {.p = p, .rehearsal = rehearsal};
  vt_cuda_call c = call_without_step(&no_body);
  const int kernel = canonical_nan_kernel_of(r->dtype);
  const vt_gpu_canonical args = {.data = p->base[r->arena] + r->offset,
                                 .n = r->count,
                                 .infinity = r->dtype == VT_DTYPE_F16 ? 0x7c00u : 0x7f80u};
  if (kernel < 0 || args.n == 0) return VT_OK;
  return vt_cuda_launch(&c, (uint32_t)kernel, vt_cuda_grid_over(&c, args.n, 4, 256), &args);
}

/* Writes canonical NaNs only when the host copies results, so results that stay on the device keep
 * their NaNs. */
vt_status vt_cuda_programs_canonicalize(vt_bk_device *dev, uint64_t address, uint64_t bytes) {
  for (vt_bk_program *p = dev->programs; p != NULL; p = p->next)
    for (uint64_t i = 0; i < p->n_results; i++) {
      result *r = &p->results[i];
      const uint64_t from = (uint64_t)(uintptr_t)p->base[r->arena] + r->offset;
      const uint64_t end = from + (uint64_t)r->count * (uint64_t)vt_cuda_bytes_of(r->dtype);
      if (r->canonical || from >= address + bytes || end <= address) continue;
      VT_TRY(write_canonical_nans(p, r, 0));
      r->canonical = 1;
    }
  return VT_OK;
}

/* Loads the kernels that write canonical NaNs, so that a run does not have to. */
static int32_t load_canonical_nan_kernels(vt_bk_program *p) {
  int32_t s = vt_cuda_enter_device(p->dev);
  if (s != VT_OK) return s;
  for (uint64_t i = 0; i < p->n_results && s == VT_OK; i++)
    s = (int32_t)write_canonical_nans(p, &p->results[i], 1);
  vt_cuda_card_leave(p->dev->card);
  return s;
}

int32_t vt_cuda_program_set_results(vt_bk_program *p, const vt_bk_tensor *results, uint64_t n) {
  const vt_bk_host *host = p->dev->host;
  if (p->results != NULL) return VT_UNSUPPORTED; /* results may be set only once */
  for (uint64_t i = 0; i < n; i++) {
    const vt_view v = vt_step_view(&results[i]);
    if (!vt_cuda_is_dense(&v) || results[i].arena >= VT_CUDA_ARENAS) return VT_UNSUPPORTED;
  }
  p->results = vt_cuda_host_memory_new(host, n, sizeof *p->results);
  if (p->results == NULL) return VT_NOMEM;
  p->n_results = n;
  for (uint64_t i = 0; i < n; i++) {
    const vt_view v = vt_step_view(&results[i]);
    p->results[i] = (result){.offset = results[i].offset,
                             .count = vt_cuda_element_count(&v),
                             .arena = results[i].arena,
                             .dtype = v.dtype,
                             .canonical = 1};
  }
  p->next = p->dev->programs;
  p->dev->programs = p;
  return load_canonical_nan_kernels(p);
}

/* ---- recording ---- */

static vt_status instantiate_graph(vt_bk_program *p, uint32_t part, void *recorded) {
  const int e = driver_of(p)->cuGraphInstantiateWithFlags(&p->graph[part], recorded, 0);
  if (e != VT_CU_SUCCESS) p->graph[part] = NULL;
  return (vt_status)vt_cuda_report_driver_error(p->dev, e, "instantiate a graph");
}

/* Records a part of a run as a graph. Recording executes nothing, so the caller can still issue the
 * part if recording fails. The capture is ended even after an error. */
static vt_status record_graph(vt_bk_program *p, uint32_t part) {
  const vt_cu *cu = driver_of(p);
  void *recorded = NULL;
  int e = cu->cuStreamBeginCapture(p->dev->stream, VT_CU_CAPTURE_THREAD_LOCAL);
  if (e != VT_CU_SUCCESS)
    return (vt_status)vt_cuda_report_driver_error(p->dev, e, "begin a graph capture");
  vt_status s = issue_part(p, part);
  e = cu->cuStreamEndCapture(p->dev->stream, &recorded);
  if (s == VT_OK) s = (vt_status)vt_cuda_report_driver_error(p->dev, e, "end a graph capture");
  if (s == VT_OK) s = instantiate_graph(p, part, recorded);
  if (recorded != NULL) (void)cu->cuGraphDestroy(recorded);
  return s;
}

static vt_status replay_graph(vt_bk_program *p, uint32_t part) {
  const int e = driver_of(p)->cuGraphLaunch(p->graph[part], p->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(p->dev, e, "launch a graph");
}

/* ---- running ---- */

/* Sets the addresses of the arenas; returns 1 if they are those of the last successful run. */
static int set_arenas_return_if_same(vt_bk_program *p, const uint64_t *buffers) {
  int same = p->ready;
  for (uint32_t i = 0; i < p->arenas.n; i++) {
    char *at = (char *)(uintptr_t)buffers[i];
    same = same && p->base[i] == at;
    p->base[i] = at;
  }
  return same;
}

/* Replays the graph of a part, recording it first if needed; if it cannot be recorded, issues the
 * part. */
static vt_status run_recorded(vt_bk_program *p, uint32_t part) {
  if (p->graph[part] != NULL || record_graph(p, part) == VT_OK) return replay_graph(p, part);
  p->unrecorded = 1;
  VT_TRY(issue_part(p, part));
  vt_cuda_send_note(p->dev,
                    "a graph of the program could not be made: its steps are issued one by one");
  return VT_OK;
}

/* Waits for the first part of a run. *out_goes_on is 0 if it has found an index fault, which
 * vt_cuda_program_wait reports. */
static vt_status wait_for_first_part(vt_bk_program *p, int *out_goes_on) {
  const int e = driver_of(p)->cuStreamSynchronize(p->dev->stream);
  *out_goes_on = p->seen->none != 0;
  return (vt_status)vt_cuda_report_driver_error(p->dev, e, "run the steps before a state changes");
}

static vt_status run_parts(vt_bk_program *p, int recorded) {
  int goes_on = 1;
  VT_TRY(recorded ? run_recorded(p, 0) : issue_part(p, 0));
  if (p->split > 0) VT_TRY(wait_for_first_part(p, &goes_on));
  if (p->split == 0 || !goes_on) return VT_OK;
  return recorded && !p->unrecorded ? run_recorded(p, 1) : issue_part(p, 1);
}

static vt_status run_program(vt_bk_program *p, const uint64_t *buffers) {
  const int same = set_arenas_return_if_same(p, buffers);
  const int records = !p->waits && p->time_marks == NULL && !p->unrecorded;
  p->error = (vt_bk_error){.size = sizeof p->error};
  for (uint64_t i = 0; i < p->n_results; i++) p->results[i].canonical = 0;
  if (!same && (p->graph[0] != NULL || p->graph[1] != NULL)) {
    (void)driver_of(p)->cuStreamSynchronize(p->dev->stream);
    free_graphs(p);
  }
  const vt_status s = run_parts(p, same && records);
  p->ready = s == VT_OK;
  return s;
}

/* Clears the fault record after a run that failed for another reason: nobody asks for that run's
 * index fault, and the next run must not report it. */
static void clear_stale_fault(vt_bk_program *p) {
  if (p->faults) (void)clear_fault_record(p);
}

int32_t vt_cuda_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers) {
  if (n_buffers < p->arenas.n) return VT_INTERNAL;
  const int32_t entered = vt_cuda_enter_device(p->dev);
  if (entered != VT_OK) return entered;
  const vt_status s = run_program(p, buffers);
  if (s != VT_OK) clear_stale_fault(p);
  vt_cuda_card_leave(p->dev->card);
  return (int32_t)s;
}

static int move_fault_to_error(vt_bk_program *p) {
  if (!p->faults || p->seen->none != 0) return VT_CU_SUCCESS;
  p->error.status = VT_RANGE;
  p->error.step = p->seen->step;
  p->error.position = p->seen->position;
  p->error.value = p->seen->value;
  return clear_fault_record(p);
}

int32_t vt_cuda_program_wait(vt_bk_program *p, vt_bk_error *out) {
  const int32_t entered = vt_cuda_enter_device(p->dev);
  if (entered != VT_OK) return entered;
  int e = driver_of(p)->cuStreamSynchronize(p->dev->stream);
  if (e == VT_CU_SUCCESS)
    e = move_fault_to_error(p);
  else
    clear_stale_fault(p);
  const int32_t s = vt_cuda_report_driver_error(p->dev, e, "finish a run");
  vt_cuda_card_leave(p->dev->card);
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return s;
}

/* ---- times ---- */

static uint64_t time_to_mark_ns(const vt_bk_program *p, uint64_t mark) {
  float ms = 0;
  if (driver_of(p)->cuEventElapsedTime(&ms, p->time_marks[0], p->time_marks[mark]) !=
          VT_CU_SUCCESS ||
      ms < 0)
    ms = 0;
  return (uint64_t)((double)ms * 1e6);
}

/* Reports the times of the steps. The first step of a group gets the time of the whole group. */
int32_t vt_cuda_program_metrics(vt_bk_program *p, vt_bk_metrics *out) {
  vt_bk_metrics m = {.size = sizeof m};
  if (p->time_marks != NULL && vt_cuda_card_enter(p->dev->card) == VT_CU_SUCCESS) {
    uint64_t step = 0, before = 0;
    for (uint64_t i = 0; i < p->steps.n; i++) {
      const vt_launch *at = &p->steps.launches[i];
      const uint64_t after = time_to_mark_ns(p, i + 1), n = at->chain != NULL ? at->n : 1;
      for (uint64_t k = 0; k < n; k++, step++) {
        p->begin[step] = k == 0 ? before : after;
        p->end[step] = after;
      }
      before = after;
    }
    vt_cuda_card_leave(p->dev->card);
    m.n_steps = step;
    m.begin = p->begin;
    m.end = p->end;
  }
  memcpy(out, &m, out->size < sizeof m ? out->size : sizeof m);
  return VT_OK;
}
