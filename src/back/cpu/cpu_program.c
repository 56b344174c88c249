/* SPDX-License-Identifier: Apache-2.0
 * cpu_program.c - a list of steps as launches: each step bound to its handler, groups of pointwise
 * steps to chains, and what a chain starts from told to hand its result on while it is in cache.
 * Everything is made here once; a run takes no memory. */
#include <string.h>
#include "cpu_move.h"
#include "vt_memory.h"

typedef struct list list;

/* One step with a handler, or a chain, or both: the chain is then the tail of the step. */
typedef struct launch {
  const vt_bk_step *anchor; /* NULL: a chain alone */
  const vt_cpu_handler *handler;
  vt_cpu_chain *chain;
  vt_view *views; /* of the anchor: operands, results, then what its bodies take and give */
  void *kept;
  list *bodies;
  uint64_t first, n; /* steps, as they are counted: one, then those of its bodies */
  uint64_t number;   /* of the anchor */
  uint32_t leaves;   /* bit i: the host looks at result i of the anchor */
} launch;

struct list {
  launch *launches;
  uint64_t n;
};

struct vt_bk_program {
  vt_bk_device *dev;
  list steps;
  uint32_t n_arenas;
  uint8_t writes[VT_CPU_ARENAS]; /* arenas that a step writes to */
  uint64_t ends[VT_CPU_ARENAS];  /* of each arena: the bytes that the steps need of it */
  uint64_t may_keep;             /* bytes, while it is made */
  vt_bk_error error;             /* the first of the last run */
};

/* ---- handlers ---- */

static const vt_cpu_handler handlers[] = {
#define vt_cpu_takes_any NULL
#define vt_cpu_work_none NULL
#define vt_cpu_keep_none NULL
#define VT_CPU(op, takes, work, keep, run, tails)                \
  {VT_OP_##op,         vt_cpu_takes_##takes, vt_cpu_work_##work, \
   vt_cpu_keep_##keep, vt_cpu_run_##run,     tails},
#include "handlers.def"
#undef VT_CPU
#undef vt_cpu_keep_none
#undef vt_cpu_work_none
#undef vt_cpu_takes_any
};

const vt_cpu_handler *vt_cpu_handler_of(uint32_t op) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    if (handlers[i].op == op) return &handlers[i];
  return NULL;
}

/* ---- what is kept: a line with the seal that its operand had, then what was made of it ---- */

uint64_t vt_cpu_kept_bytes(const vt_cpu_call *c, uint32_t i, uint64_t bytes) {
  const uint32_t arena = c->step->in[i].arena;
  const int lasts = arena == VT_BK_ARENA_PARAMETER || arena == VT_BK_ARENA_STATE;
  return lasts ? VT_CPU_LINE + bytes : 0;
}

void *vt_cpu_kept(const vt_cpu_call *c, uint32_t i, int *out_stale) {
  uint64_t *seal = c->kept;
  *out_stale = 1;
  if (seal == NULL || c->seal[i] == 0) return NULL;
  *out_stale = *seal != c->seal[i];
  *seal = c->seal[i];
  return (char *)c->kept + VT_CPU_LINE;
}

/* ---- what is taken ---- */

enum { MOST_VIEWS = 256 };

/* A call without data; 0 when it has more operands than any op that asks for memory. */
static int shape_call(const vt_bk_device *dev, const vt_bk_step *s, vt_view views[MOST_VIEWS],
                      vt_cpu_call *out) {
  if ((uint64_t)s->n_in + s->n_out > MOST_VIEWS) return 0;
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

int32_t vt_cpu_step_check(vt_bk_device *dev, const vt_bk_step *s) {
  vt_view views[MOST_VIEWS];
  vt_cpu_call call;
  if (!vt_step_is_whole(s)) return VT_UNSUPPORTED;
  if (vt_cpu_chain_lists(s->op)) return vt_cpu_chain_takes(&dev->team, s) ? VT_OK : VT_UNSUPPORTED;
  const vt_cpu_handler *h = vt_cpu_handler_of(s->op);
  if (h == NULL) return VT_UNSUPPORTED;
  if (h->takes == NULL) return VT_OK;
  return shape_call(dev, s, views, &call) && h->takes(&call) ? VT_OK : VT_UNSUPPORTED;
}

uint64_t vt_cpu_step_work(vt_bk_device *dev, const vt_bk_step *s) {
  const vt_cpu_handler *h = vt_cpu_handler_of(s->op);
  vt_view views[MOST_VIEWS];
  vt_cpu_call call;
  if (h == NULL || h->work == NULL || !shape_call(dev, s, views, &call)) return 0;
  return h->work(&call);
}

/* ---- making ---- */

static void list_free(const vt_bk_host *host, list *l);

static void launch_free(const vt_bk_host *host, launch *at) {
  if (at->chain != NULL) vt_cpu_chain_free(at->chain);
  for (uint32_t k = 0; at->bodies != NULL && k < at->anchor->n_body; k++)
    list_free(host, &at->bodies[k]);
  vt_cpu_memory_free(host, at->bodies);
  vt_cpu_memory_free(host, at->kept);
  vt_cpu_memory_free(host, at->views);
}

static void list_free(const vt_bk_host *host, list *l) {
  for (uint64_t i = 0; l->launches != NULL && i < l->n; i++) launch_free(host, &l->launches[i]);
  vt_cpu_memory_free(host, l->launches);
}

static int32_t note_bytes(vt_bk_program *p, uint32_t arena, uint64_t end) {
  if (arena >= VT_CPU_ARENAS) return VT_UNSUPPORTED;
  if (arena >= p->n_arenas) p->n_arenas = arena + 1;
  if (end > p->ends[arena]) p->ends[arena] = end;
  return VT_OK;
}

/* Behind the last element of a tensor in its arena. */
static uint64_t end_of(const vt_bk_tensor *t) {
  int64_t last = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->dim[i] == 0) return t->offset;
    if (t->stride[i] > 0) last += (t->dim[i] - 1) * t->stride[i];
  }
  return t->offset + (uint64_t)(last + 1) * vt_cpu_bytes_of(t->dtype);
}

static int32_t note_tensors(vt_bk_program *p, const vt_bk_tensor *t, uint32_t n, int written) {
  int32_t status = VT_OK;
  for (uint32_t i = 0; i < n && status == VT_OK; i++) {
    status = note_bytes(p, t[i].arena, end_of(&t[i]));
    if (status == VT_OK && written) p->writes[t[i].arena] = 1;
  }
  return status;
}

static int32_t note_steps(vt_bk_program *p, const vt_bk_step *s, uint64_t n);

static int32_t note_body(vt_bk_program *p, const vt_bk_body *b) {
  int32_t status = note_tensors(p, b->in, b->n_in, 1);
  if (status == VT_OK) status = note_tensors(p, b->out, b->n_out, 1);
  return status == VT_OK ? note_steps(p, b->steps, b->n_steps) : status;
}

/* What of the arenas the steps use, those of bodies too. */
static int32_t note_steps(vt_bk_program *p, const vt_bk_step *s, uint64_t n) {
  int32_t status = VT_OK;
  for (; n > 0 && status == VT_OK; n--, s++) {
    status = note_tensors(p, s->in, s->n_in, 0);
    if (status == VT_OK) status = note_tensors(p, s->out, s->n_out, 1);
    for (uint32_t k = 0; k < s->n_body && status == VT_OK; k++) status = note_body(p, &s->body[k]);
    if (status == VT_OK && s->work_bytes > 0)
      status = note_bytes(p, s->work_arena, s->work_offset + s->work_bytes);
  }
  return status;
}

static uint64_t count_steps(const vt_bk_step *s) {
  uint64_t n = 1;
  for (uint32_t k = 0; k < s->n_body; k++)
    for (uint64_t i = 0; i < s->body[k].n_steps; i++) n += count_steps(&s->body[k].steps[i]);
  return n;
}

static int32_t build_list(vt_bk_program *p, const vt_bk_step *steps, uint64_t n, uint64_t number,
                          list *out);

static int32_t build_bodies(vt_bk_program *p, launch *at) {
  const vt_bk_step *s = at->anchor;
  uint64_t number = at->number + 1;
  if (s->n_body == 0) return VT_OK;
  at->bodies = vt_cpu_memory_new(p->dev->host, s->n_body * sizeof *at->bodies);
  if (at->bodies == NULL) return VT_NOMEM;
  for (uint32_t k = 0; k < s->n_body; k++) {
    const vt_bk_body *b = &s->body[k];
    const int32_t status = build_list(p, b->steps, b->n_steps, number, &at->bodies[k]);
    if (status != VT_OK) return status;
    for (uint64_t i = 0; i < b->n_steps; i++) number += count_steps(&b->steps[i]);
  }
  return VT_OK;
}

static vt_view *add_views(vt_view *v, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) *v++ = vt_step_view(&t[i]);
  return v;
}

/* What is kept saves time alone: without it, or without memory for it, steps do the same work in
 * every run. It may take half of what the arenas leave, for which memory is taken only later. */
static uint64_t most_kept(const vt_bk_program *p) {
  const uint64_t available = vt_memory_available();
  uint64_t needed = 0;
  if (available == 0) return UINT64_MAX; /* not known */
  for (uint32_t i = 0; i < p->n_arenas; i++) {
    if (p->ends[i] >= available - needed) return 0;
    needed += p->ends[i];
  }
  return (available - needed) / 2;
}

static void *keep(vt_bk_program *p, uint64_t bytes) {
  if (bytes == 0 || bytes > p->may_keep) return NULL;
  void *made = vt_cpu_memory_take(p->dev->host, bytes);
  if (made == NULL) return NULL;
  p->may_keep -= bytes;
  memset(made, 0, bytes < VT_CPU_LINE ? (size_t)bytes : VT_CPU_LINE);
  return made;
}

static int32_t build_anchor(vt_bk_program *p, const vt_bk_step *s, uint64_t number, launch *at) {
  const vt_bk_host *host = p->dev->host;
  vt_view views[MOST_VIEWS];
  vt_cpu_call call;
  uint64_t n = (uint64_t)s->n_in + s->n_out;
  for (uint32_t k = 0; k < s->n_body; k++) n += (uint64_t)s->body[k].n_in + s->body[k].n_out;
  at->anchor = s;
  at->number = number;
  at->handler = vt_cpu_handler_of(s->op);
  at->views = vt_cpu_memory_new(host, n * sizeof *at->views);
  if (at->views == NULL) return VT_NOMEM;
  vt_view *v = add_views(at->views, s->in, s->n_in);
  v = add_views(v, s->out, s->n_out);
  for (uint32_t k = 0; k < s->n_body; k++) {
    v = add_views(v, s->body[k].in, s->body[k].n_in);
    v = add_views(v, s->body[k].out, s->body[k].n_out);
  }
  if (at->handler->keep != NULL && shape_call(p->dev, s, views, &call))
    at->kept = keep(p, at->handler->keep(&call));
  return build_bodies(p, at);
}

static int32_t build_chain(vt_bk_program *p, const vt_bk_step *const *s, uint32_t n, launch *at) {
  return vt_cpu_chain_new(p->dev->host, &p->dev->team, s, n, &at->chain);
}

static int32_t build_one(vt_bk_program *p, const vt_bk_step *s, uint64_t number, launch *at) {
  *at = (launch){.first = number, .n = count_steps(s), .number = number};
  return vt_cpu_chain_lists(s->op) ? build_chain(p, &s, 1, at) : build_anchor(p, s, number, at);
}

/* How many steps from s on are a group that may be run as one; 1: none. The numbers of a group that
 * something else stands in between come again later. */
enum { MOST_MEMBERS = 64 };
static uint32_t group_length(const vt_bk_step *s, uint64_t n) {
  uint32_t length = 1, anchors = !vt_cpu_chain_lists(s->op);
  if (s->group == 0) return 1;
  while (length < n && s[length].group == s->group) anchors += !vt_cpu_chain_lists(s[length++].op);
  if (length > MOST_MEMBERS || anchors > 1) return 1;
  for (uint64_t i = length; i < n; i++)
    if (s[i].group == s->group) return 1;
  return length;
}

/* A place may be used again inside a group. The chain tells values by their places, and the anchor
 * is not part of it: a member before the anchor must not have left its value where the anchor's
 * goes. */
static int is_reused(const vt_bk_step *s, uint32_t anchor) {
  const vt_bk_tensor *y = &s[anchor].out[0];
  for (uint32_t i = 0; i < anchor; i++)
    if (s[i].out[0].arena == y->arena && s[i].out[0].offset == y->offset) return 1;
  return 0;
}

/* The anchor goes before the pointwise steps, none of which it reads; they are its tail. What
 * cannot be run as one is VT_UNSUPPORTED. */
static int32_t build_group(vt_bk_program *p, const vt_bk_step *s, uint32_t n, uint64_t number,
                           launch *at) {
  const vt_bk_step *members[MOST_MEMBERS] = {NULL};
  uint32_t pointwise = 0;
  int32_t status = VT_OK;
  *at = (launch){.first = number, .n = n, .number = number};
  for (uint32_t i = 0; i < n; i++) {
    if (vt_cpu_chain_lists(s[i].op))
      members[pointwise++] = &s[i];
    else if (is_reused(s, i))
      return VT_UNSUPPORTED;
  }
  status = build_chain(p, members, pointwise, at);
  for (uint32_t i = 0; i < n && status == VT_OK; i++)
    if (!vt_cpu_chain_lists(s[i].op)) status = build_anchor(p, &s[i], number + i, at);
  return status;
}

/* A group is run as one, or each of its members alone: once its first was, so are the others, for
 * its values lie where only that order leaves them. */
static int is_begun(const vt_bk_step *steps, uint64_t i) {
  for (uint64_t k = 0; steps[i].group != 0 && k < i; k++)
    if (steps[k].group == steps[i].group) return 1;
  return 0;
}

/* Step i and, with it, others of its group. Members of a group without bodies count one each. */
static int32_t build_next(vt_bk_program *p, const vt_bk_step *steps, uint64_t i, uint64_t end,
                          uint64_t number, launch *at, uint64_t *out_taken) {
  const vt_bk_step *s = &steps[i];
  const uint32_t n = is_begun(steps, i) ? 1 : group_length(s, end - i);
  if (n > 1) {
    const int32_t status = build_group(p, s, n, number, at);
    *out_taken = n;
    if (status != VT_UNSUPPORTED) return status;
    launch_free(p->dev->host, at);
  }
  *out_taken = 1;
  return build_one(p, s, number, at);
}

static int32_t build_list(vt_bk_program *p, const vt_bk_step *steps, uint64_t n, uint64_t number,
                          list *out) {
  uint64_t taken = 0;
  out->launches = vt_cpu_memory_new(p->dev->host, n * sizeof *out->launches);
  if (out->launches == NULL) return VT_NOMEM;
  for (uint64_t i = 0; i < n; i++)
    if (vt_cpu_step_check(p->dev, &steps[i]) != VT_OK) return VT_UNSUPPORTED;
  for (uint64_t i = 0; i < n; i += taken) {
    launch *at = &out->launches[out->n++];
    const int32_t status = build_next(p, steps, i, n, number, at, &taken);
    if (status != VT_OK) return status;
    number += at->n;
  }
  return VT_OK;
}

int32_t vt_cpu_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out) {
  vt_bk_program *p = vt_cpu_memory_new(dev->host, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  p->dev = dev;
  p->error.size = sizeof p->error;
  int32_t s = note_steps(p, steps, n);
  p->may_keep = most_kept(p);
  if (s == VT_OK) s = build_list(p, steps, n, 0, &p->steps);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_cpu_program_free(p);
  }
  return s;
}

void vt_cpu_program_free(vt_bk_program *p) {
  const vt_bk_host *host = p->dev->host;
  list_free(host, &p->steps);
  vt_cpu_memory_free(host, p);
}

/* ---- what the host looks at ---- */

static int64_t count_of(const vt_bk_tensor *t) {
  const vt_view v = vt_step_view(t);
  return vt_cpu_count(&v);
}

/* What has no elements may lie anywhere. */
static int is_there(const vt_bk_tensor *t, const vt_bk_tensor *result) {
  return t->arena == result->arena && t->offset == result->offset && t->dtype == result->dtype &&
         count_of(t) >= count_of(result);
}

static int is_dense(const vt_bk_tensor *t) {
  const vt_view v = vt_step_view(t);
  return vt_cpu_is_dense(&v);
}

/* 1 when the launch makes the result and will leave it with one NaN. */
static int leave(launch *at, const vt_bk_tensor *result) {
  if (at->chain != NULL && is_there(vt_cpu_chain_result(at->chain), result)) {
    vt_cpu_chain_leave(at->chain);
    return 1;
  }
  for (uint32_t i = 0; at->anchor != NULL && i < at->anchor->n_out && i < 32; i++)
    if (is_there(&at->anchor->out[i], result) && is_dense(&at->anchor->out[i])) {
      at->leaves |= 1u << i;
      return 1;
    }
  return 0;
}

/* The last that writes there makes the result; before it other values may have had the place. */
int32_t vt_cpu_program_results(vt_bk_program *p, const vt_bk_tensor *results, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    uint64_t at = p->steps.n;
    if (count_of(&results[i]) == 0) continue;
    while (at > 0 && !leave(&p->steps.launches[at - 1], &results[i])) at--;
    if (at == 0) return VT_UNSUPPORTED;
  }
  return VT_OK;
}

/* ---- running ---- */

typedef struct runner {
  vt_bk_program *p;
  char *base[VT_CPU_ARENAS];
  uint64_t seal[VT_CPU_ARENAS]; /* 0: something is written there during the run */
  const launch *at;             /* whose bodies may be run */
} runner;

static vt_status run_list(runner *r, const list *l, int top);

vt_status vt_cpu_body_run(vt_cpu_call *c, uint32_t which) {
  runner *r = c->runner;
  const launch *at = r->at;
  const vt_status s = run_list(r, &at->bodies[which], 0);
  r->at = at;
  return s;
}

static vt_view *place(const runner *r, vt_view *v, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) v[i].data = r->base[t[i].arena] + t[i].offset;
  return v + n;
}

enum { MOST_SEALS = 8 }; /* operands beyond them are never kept */

/* Where scratch of no bytes lies: NULL is no place from which to count, not even by 0. */
static _Alignas(VT_CPU_LINE) char nowhere[VT_CPU_LINE];

static void note_error(vt_bk_program *p, vt_status s, uint64_t step, const vt_cpu_call *c) {
  if (p->error.status != VT_OK) return; /* from inside a body */
  p->error.status = (int32_t)s;
  p->error.step = step;
  p->error.position = c->position;
  p->error.value = c->value;
}

static vt_status run_anchor(runner *r, const launch *at) {
  const vt_bk_step *s = at->anchor;
  vt_cpu_body body[VT_MAX_BODIES];
  uint64_t seal[MOST_SEALS] = {0};
  vt_view *in = at->views, *out = place(r, in, s->in, s->n_in);
  vt_view *next = place(r, out, s->out, s->n_out);
  for (uint32_t i = 0; i < s->n_body; i++) {
    const vt_bk_body *from = &s->body[i];
    vt_view *results = place(r, next, from->in, from->n_in);
    body[i] = (vt_cpu_body){next, results, from->n_in, from->n_out};
    next = place(r, results, from->out, from->n_out);
  }
  for (uint32_t i = 0; i < s->n_in && i < MOST_SEALS; i++) seal[i] = r->seal[s->in[i].arena];
  r->at = at;
  vt_cpu_call call = {.team = &r->p->dev->team,
                      .step = s,
                      .in = in,
                      .out = out,
                      .n_in = s->n_in,
                      .n_out = s->n_out,
                      .attrs = s->attrs,
                      .kept = at->kept,
                      .tail = at->handler->tails ? at->chain : NULL,
                      .seal = seal,
                      .body = body,
                      .runner = r,
                      .leaves = at->leaves};
  call.work = s->work_bytes > 0 ? r->base[s->work_arena] + s->work_offset : nowhere;
  const vt_status status = at->handler->run(&call);
  if (status != VT_OK) note_error(r->p, status, at->number, &call);
  for (uint32_t i = 0; status == VT_OK && call.leaves >> i != 0 && i < s->n_out; i++)
    if (call.leaves >> i & 1) vt_cpu_leave(&r->p->dev->team, &out[i]);
  return status;
}

static vt_status run_launch(runner *r, const launch *at) {
  if (at->chain != NULL) vt_cpu_chain_place(at->chain, r->base);
  if (at->anchor != NULL) VT_TRY(run_anchor(r, at));
  if (at->chain != NULL && (at->anchor == NULL || !at->handler->tails)) vt_cpu_chain_run(at->chain);
  return VT_OK;
}

static void tell(const runner *r, const launch *at) {
  const vt_bk_host *host = r->p->dev->host;
  const uint64_t steps = at->chain != NULL ? at->n : 1; /* those of a body are not told of */
  if (!VT_BK_HAS(host, vt_bk_host, progress)) return;
  for (uint64_t i = 0; i < steps; i++) host->progress(host->user, at->first + i);
}

static vt_status run_list(runner *r, const list *l, int top) {
  for (uint64_t i = 0; i < l->n; i++) {
    VT_TRY(run_launch(r, &l->launches[i]));
    if (top) tell(r, &l->launches[i]);
  }
  return VT_OK;
}

int32_t vt_cpu_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers) {
  runner r = {.p = p};
  p->error = (vt_bk_error){.size = sizeof p->error};
  if (n_buffers < p->n_arenas) return VT_INTERNAL;
  for (uint32_t i = 0; i < p->n_arenas; i++) {
    vt_cpu_block *block = vt_cpu_block_of(buffers[i]);
    if (p->writes[i]) block->seal = vt_cpu_seal_new();
    r.base[i] = (char *)(uintptr_t)buffers[i];
    r.seal[i] = p->writes[i] ? 0 : block->seal;
  }
  (void)run_list(&r, &p->steps, 1);
  return VT_OK; /* a failure is reported by wait */
}

int32_t vt_cpu_program_wait(vt_bk_program *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return VT_OK;
}
