/* SPDX-License-Identifier: Apache-2.0
 * cpu_program.c - turns a list of steps into launches: binds each step to its handler, makes chains
 * of groups of pointwise steps, and lets an anchor pass its result to its chain while it is in
 * cache. Everything is prepared when the program is built; a run allocates no memory. */
#include <string.h>
#include "cpu_derived.h"
#include "cpu_move.h"
#include "vt_launches.h"
#include "vt_memory.h"

struct vt_bk_program {
  vt_bk_device *dev;
  vt_launches steps;
  vt_arenas arenas;
  uint64_t shared;       /* handle of the shared parameters that runs read; 0: none */
  int has_budget;        /* 1: `cache_budget` has been computed */
  uint64_t cache_budget; /* bytes that may still be cached; used only while the program is built */
  vt_bk_error error;     /* first error of the last run */
};

/* ---- handlers ---- */

enum { EPILOGUE = 1, DENSE = 2 }; /* bits of the column `traits` */
enum {
#define VT_CPU(op, kind, work, cache, run, traits) ROW_##op,
#include "cpu_handlers.def"
#undef VT_CPU
  ROWS
};
static const vt_cpu_handler handlers[ROWS] = {
#define vt_cpu_scratch_none NULL
#define vt_cpu_cache_bytes_none NULL
#define VT_CPU(op, kind, work, cache, run, traits) \
  [ROW_##op] = {#kind, vt_cpu_scratch_##work, vt_cpu_cache_bytes_##cache, vt_cpu_run_##run, traits},
#include "cpu_handlers.def"
#undef VT_CPU
#undef vt_cpu_cache_bytes_none
#undef vt_cpu_scratch_none
};

/* For each op number: its row plus one, or 0 if the op has no handler. */
static const uint8_t row_of[] = {
#define VT_CPU(op, kind, work, cache, run, traits) [VT_OP_##op] = ROW_##op + 1,
#include "cpu_handlers.def"
#undef VT_CPU
};
_Static_assert(ROWS <= UINT8_MAX, "row_of holds the number of every row");

const vt_cpu_handler *vt_cpu_handler_of(uint32_t op) {
  const uint32_t row = op < sizeof row_of ? row_of[op] : 0;
  return row != 0 ? &handlers[row - 1] : NULL;
}

/* ---- cached data ---- */

uint64_t vt_cpu_bytes_to_cache(const vt_cpu_call *c, uint32_t operand, uint64_t bytes) {
  const uint32_t arena = c->step->in[operand].arena;
  const int lasts = arena == VT_BK_ARENA_PARAMETER || arena == VT_BK_ARENA_STATE;
  return lasts ? VT_CPU_LINE + bytes : 0;
}

void *vt_cpu_cached_data(const vt_cpu_call *c, uint32_t operand, int *out_stale) {
  vt_cpu_block_head *head = c->cached;
  *out_stale = 1;
  if (head == NULL || c->version[operand] == 0) return NULL;
  if (head->shared != NULL) {
    *out_stale = vt_cpu_block_begin(head->shared);
    if (*out_stale) *c->filling = head->shared;
  } else {
    *out_stale = head->version != c->version[operand];
    head->version = c->version[operand];
  }
  return (char *)c->cached + VT_CPU_LINE;
}

/* ---- which steps are supported ---- */

enum { MAX_VIEWS = 256 };

/* Sets *out to a call without data, for planning. Returns 0 if the step has more operands than any
 * op that needs scratch. */
static int init_call_without_data(const vt_bk_device *dev, const vt_bk_step *s,
                                  vt_view views[MAX_VIEWS], vt_cpu_call *out) {
  if ((uint64_t)s->n_in + s->n_out > MAX_VIEWS) return 0;
  for (uint32_t i = 0; i < s->n_in; i++) views[i] = vt_step_view(&s->in[i]);
  for (uint32_t i = 0; i < s->n_out; i++) views[s->n_in + i] = vt_step_view(&s->out[i]);
  *out = (vt_cpu_call){.team = &dev->team,
                       .step = s,
                       .in = views,
                       .out = views + s->n_in,
                       .n_in = s->n_in,
                       .n_out = s->n_out,
                       .attrs = s->attrs};
  return 1;
}

static int has_gaps(const vt_bk_tensor *t) {
  const vt_view v = vt_step_view(t);
  return vt_cpu_count(&v) > 0 && !vt_cpu_is_dense(&v);
}

int32_t vt_cpu_step_check(vt_bk_device *dev, const vt_bk_step *s) {
  if (!vt_step_is_well_formed(s)) return VT_UNSUPPORTED;
  if (vt_cpu_chain_lists_op(s->op))
    return vt_cpu_chain_accepts(&dev->team, s) ? VT_OK : VT_UNSUPPORTED;
  const vt_cpu_handler *h = vt_cpu_handler_of(s->op);
  if (h == NULL || (h->traits & DENSE && has_gaps(&s->out[0]))) return VT_UNSUPPORTED;
  return VT_OK;
}

uint64_t vt_cpu_step_scratch_bytes(vt_bk_device *dev, const vt_bk_step *s) {
  const vt_cpu_handler *h = vt_cpu_handler_of(s->op);
  vt_view views[MAX_VIEWS];
  vt_cpu_call call;
  if (h == NULL || h->work == NULL || !init_call_without_data(dev, s, views, &call)) return 0;
  return h->work(&call);
}

/* ---- building ---- */

/* How many bytes the program may cache. Cached data only saves time: without it steps recompute it
 * in every run. Cached data may take half of the memory that remains after the arenas, which are
 * allocated later. */
static uint64_t compute_cache_budget(const vt_arenas *a, int params_are_shared) {
  const uint64_t available = vt_memory_available();
  uint64_t needed = 0;
  if (available == 0) return UINT64_MAX; /* not known */
  for (uint32_t i = 0; i < a->n; i++) {
    if (i == VT_BK_ARENA_PARAMETER && params_are_shared) continue; /* they exist already */
    if (a->ends[i] >= available - needed) return 0;
    needed += a->ends[i];
  }
  return (available - needed) / 2;
}

/* 1 if the program may cache `bytes` more bytes. The system is asked for its free memory only if
 * something is to be cached, because that reads files. */
static int may_cache(vt_bk_program *p, uint64_t bytes) {
  if (!p->has_budget) p->cache_budget = compute_cache_budget(&p->arenas, p->shared != 0);
  p->has_budget = 1;
  return bytes <= p->cache_budget;
}

/* Memory for cached data of this program only, or NULL. */
static void *cache_new(vt_bk_program *p, uint64_t bytes) {
  void *made = vt_cpu_memory_new_uncleared(p->dev->host, bytes);
  if (made == NULL) return NULL;
  p->cache_budget -= bytes;
  memset(made, 0, bytes < VT_CPU_LINE ? (size_t)bytes : VT_CPU_LINE);
  return made;
}

/* Bytes that the steps, and the steps of their bodies, keep between runs. */
static uint64_t bytes_kept_by(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    const vt_cpu_handler *h = vt_cpu_handler_of(steps[i].op);
    vt_view views[MAX_VIEWS];
    vt_cpu_call call;
    for (uint32_t k = 0; k < steps[i].n_body; k++)
      sum += bytes_kept_by(dev, steps[i].body[k].steps, steps[i].body[k].n_steps);
    if (h == NULL || h->cache == NULL || !init_call_without_data(dev, &steps[i], views, &call))
      continue;
    const uint64_t bytes = h->cache(&call);
    if (bytes > 0) sum += vt_cpu_memory_size(bytes);
  }
  return sum;
}

int32_t vt_cpu_program_memory(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                              vt_bk_memory *out) {
  const vt_bk_memory m = {.size = sizeof m, .device = bytes_kept_by(dev, steps, n)};
  memcpy(out, &m, out->size < sizeof m ? out->size : sizeof m);
  return VT_OK;
}

static int32_t chain_new(void *user, const vt_bk_step *const *s, uint32_t n, void **out) {
  const vt_bk_program *p = user;
  vt_cpu_chain *made = NULL;
  const int32_t status = vt_cpu_chain_new(p->dev->host, &p->dev->team, s, n, &made);
  *out = made;
  return status;
}

static void chain_free(void *user, void *chain) {
  (void)user;
  vt_cpu_chain_free(chain);
}

/* The operand from which handlers derive data, if they do. */
enum { DERIVED_FROM = 1 };

/* Memory for the data that an anchor keeps between runs; NULL if it keeps none or memory is short.
 * Anchors that read shared parameters share the memory. */
static void *kept_new(vt_bk_program *p, const vt_cpu_call *call, uint64_t bytes) {
  if (bytes == 0 || !may_cache(p, bytes)) return NULL;
  if (p->shared == 0 || call->step->in[DERIVED_FROM].arena != VT_BK_ARENA_PARAMETER)
    return cache_new(p, bytes);
  void *block =
      vt_cpu_store_get(vt_cpu_buffer_header_of(p->shared)->store, call, DERIVED_FROM, bytes);
  if (block != NULL) p->cache_budget -= bytes;
  return block;
}

static int32_t anchor_new(void *user, vt_launch *at) {
  vt_bk_program *p = user;
  const vt_cpu_handler *h = vt_cpu_handler_of(at->anchor->op);
  vt_view views[MAX_VIEWS];
  vt_cpu_call call;
  if (h == NULL) return VT_UNSUPPORTED;
  at->handler = h;
  if (h->cache != NULL && init_call_without_data(p->dev, at->anchor, views, &call))
    at->kept = kept_new(p, &call, h->cache(&call));
  return VT_OK;
}

static void anchor_free(void *user, vt_launch *at) {
  const vt_cpu_block_head *head = at->kept;
  if (head != NULL && head->shared != NULL)
    vt_cpu_store_put(head->shared);
  else
    vt_cpu_memory_free(((vt_bk_program *)user)->dev->host, at->kept);
}

static vt_launch_callbacks launch_callbacks(vt_bk_program *p) {
  return (vt_launch_callbacks){.host = p->dev->host,
                               .user = p,
                               .pointwise = vt_cpu_chain_lists_op,
                               .chain_new = chain_new,
                               .chain_free = chain_free,
                               .anchor_new = anchor_new,
                               .anchor_free = anchor_free};
}

int32_t vt_cpu_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out) {
  vt_bk_program *p = vt_cpu_memory_new(dev->host, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  p->dev = dev;
  p->shared = dev->shared;
  p->error.size = sizeof p->error;
  const vt_launch_callbacks how = launch_callbacks(p);
  int32_t s = vt_arenas_include(&p->arenas, steps, n);
  if (s == VT_OK) s = vt_launches_init(&how, steps, n, &p->steps);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_cpu_program_free(p);
  }
  return s;
}

void vt_cpu_program_free(vt_bk_program *p) {
  const vt_launch_callbacks how = launch_callbacks(p);
  vt_launches_done(&how, &p->steps);
  vt_cpu_memory_free(p->dev->host, p);
}

/* ---- results that the host reads ---- */

static const vt_bk_tensor *chain_result(const void *chain) { return vt_cpu_chain_result(chain); }

int32_t vt_cpu_program_canonicalize_results(vt_bk_program *p, const vt_bk_tensor *results,
                                            uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    uint32_t which;
    if (vt_tensor_count(&results[i]) == 0) continue; /* an empty tensor may have any place */
    vt_launch *at = vt_launches_find_writer(&p->steps, &results[i], chain_result, &which);
    if (at == NULL) return VT_UNSUPPORTED;
    if (which == VT_LAUNCH_CHAIN) {
      vt_cpu_chain_append_canonicalize(at->chain);
    } else {
      at->leaves |= 1u << which;
    }
  }
  return VT_OK;
}

/* ---- running ---- */

typedef struct runner {
  vt_bk_program *p;
  char *base[VT_CPU_ARENAS];
  uint64_t version[VT_CPU_ARENAS]; /* content version of each arena; 0: a step writes to it during
                                   the run */
  const vt_launch *at; /* the launch that is running, whose bodies vt_cpu_body_run may run */
} runner;

static vt_status run_launches(runner *r, const vt_launches *l, int is_top_level);

vt_status vt_cpu_body_run(vt_cpu_call *c, uint32_t body) {
  runner *r = c->runner;
  const vt_launch *at = r->at;
  const vt_status s = run_launches(r, &at->bodies[body], 0);
  r->at = at;
  return s;
}

enum { MAX_VERSIONS = 8 }; /* operands beyond this number are never cached */

/* The address of the scratch of steps that need none. It is not NULL, because adding 0 to NULL
 * would be undefined. */
static _Alignas(VT_CPU_LINE) char empty_scratch[VT_CPU_LINE];

static void record_first_error(vt_bk_program *p, vt_status s, uint64_t step, const vt_cpu_call *c) {
  if (p->error.status != VT_OK) return; /* a step inside a body has already recorded the error */
  p->error.status = (int32_t)s;
  p->error.step = step;
  p->error.position = c->position;
  p->error.value = c->value;
}

static int applies_epilogue(const vt_launch *at) {
  return at->anchor != NULL && at->handler->traits & EPILOGUE;
}

static vt_status run_anchor(runner *r, const vt_launch *at) {
  const vt_bk_step *s = at->anchor;
  vt_launch_body body[VT_MAX_BODIES];
  uint64_t version[MAX_VERSIONS] = {0};
  const vt_view *in = at->views, *out = in + s->n_in;
  vt_launch_place_views(at, r->base, body);
  for (uint32_t i = 0; i < s->n_in && i < MAX_VERSIONS; i++)
    version[i] = r->version[s->in[i].arena];
  r->at = at;
  vt_cpu_block *filling = NULL;
  vt_cpu_call call = {.team = &r->p->dev->team,
                      .step = s,
                      .in = in,
                      .out = out,
                      .n_in = s->n_in,
                      .n_out = s->n_out,
                      .attrs = s->attrs,
                      .cached = at->kept,
                      .epilogue = applies_epilogue(at) ? at->chain : NULL,
                      .version = version,
                      .filling = &filling,
                      .body = body,
                      .runner = r,
                      .leaves = at->leaves};
  call.work = s->work_bytes > 0 ? r->base[s->work_arena] + s->work_offset : empty_scratch;
  const vt_status status = at->handler->run(&call);
  if (filling != NULL) vt_cpu_block_end(filling, status == VT_OK);
  if (status != VT_OK) record_first_error(r->p, status, at->number, &call);
  for (uint32_t i = 0; status == VT_OK && call.leaves >> i != 0 && i < s->n_out; i++)
    if (call.leaves >> i & 1) vt_cpu_canonicalize(&r->p->dev->team, &out[i]);
  return status;
}

static vt_status run_launch(runner *r, const vt_launch *at) {
  if (at->chain != NULL) vt_cpu_chain_set_arenas(at->chain, r->base);
  if (at->anchor != NULL) VT_TRY(run_anchor(r, at));
  if (at->chain != NULL && !applies_epilogue(at)) vt_cpu_chain_run(at->chain);
  return VT_OK;
}

static vt_status run_launches(runner *r, const vt_launches *l, int is_top_level) {
  for (uint64_t i = 0; i < l->n; i++) {
    VT_TRY(run_launch(r, &l->launches[i]));
    if (is_top_level) vt_launch_report_progress(&l->launches[i], r->p->dev->host);
  }
  return VT_OK;
}

int32_t vt_cpu_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers) {
  runner r = {.p = p};
  p->error = (vt_bk_error){.size = sizeof p->error};
  if (n_buffers < p->arenas.n) return VT_INTERNAL;
  if (p->shared != 0 &&
      (n_buffers <= VT_BK_ARENA_PARAMETER || buffers[VT_BK_ARENA_PARAMETER] != p->shared))
    return VT_INTERNAL; /* the blocks in use were derived from the shared buffer */
  for (uint32_t i = 0; i < p->arenas.n; i++) {
    vt_cpu_buffer_header *block = vt_cpu_buffer_header_of(buffers[i]);
    if (p->arenas.writes[i]) block->version = vt_cpu_new_content_version();
    r.base[i] = (char *)(uintptr_t)buffers[i];
    r.version[i] = p->arenas.writes[i] ? 0 : block->version;
  }
  (void)run_launches(&r, &p->steps, 1);
  return VT_OK; /* vt_cpu_program_wait returns the error of a failed step */
}

int32_t vt_cpu_program_wait(vt_bk_program *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return VT_OK;
}
