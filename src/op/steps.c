/* SPDX-License-Identifier: Apache-2.0
 * steps.c - runs lists of steps by the kernels of the op table. vt_steps_init checks the steps,
 * looks their kernels up and builds their views once. A run places the views and calls the kernels;
 * a kernel with bodies runs them through its runner. A run stops at the first error. */
#include "vt_steps.h"
#include <string.h>
#include "vt_layout.h"

struct vt_bound_step { /* a step, bound to its kernel */
  const vt_bk_step *step;
  const vt_op_info *op;
  uint32_t first_view; /* index of its views: operands, results, then the arguments and results of
                          its bodies */
  uint32_t n_inner; /* number of steps of its bodies, at all depths; they are stored directly after
                       the step */
};

/* ---- steps that are accepted ---- */

vt_view vt_step_view(const vt_bk_tensor *t) {
  vt_view v = {.dtype = t->dtype, .rank = t->rank};
  memcpy(v.dim, t->dim, sizeof v.dim);
  memcpy(v.stride, t->stride, sizeof v.stride);
  return v;
}

static int are_tensors_dense(const vt_bk_tensor *t, uint32_t n) {
  int dense = 1;
  for (uint32_t i = 0; i < n; i++) {
    vt_type type = {.dtype = t[i].dtype, .rank = t[i].rank};
    vt_layout layout = {0};
    memcpy(type.dim, t[i].dim, sizeof type.dim);
    memcpy(layout.stride, t[i].stride, sizeof layout.stride);
    dense = dense && vt_layout_is_dense(&type, &layout);
  }
  return dense;
}

static int step_is_dense(const vt_bk_step *s) {
  int dense = are_tensors_dense(s->in, s->n_in) && are_tensors_dense(s->out, s->n_out);
  for (uint32_t k = 0; k < s->n_body; k++)
    dense = dense && are_tensors_dense(s->body[k].in, s->body[k].n_in) &&
            are_tensors_dense(s->body[k].out, s->body[k].n_out);
  return dense;
}

int32_t vt_steps_accepts_op(uint32_t number, uint32_t kind) {
  const vt_op_info *op = vt_op_get(number);
  return op != NULL && (op->prim || (kind & VT_STEPS_WHOLE) != 0);
}

int vt_step_is_well_formed(const vt_bk_step *step) {
  const vt_op_info *op = vt_op_get(step->op);
  return op != NULL && step->region == 0 && step->n_body == vt_op_body_count(op) &&
         step->n_out > 0 &&
         (vt_op_result_count(op) == 0 || step->n_out == vt_op_result_count(op)) &&
         step->attrs_size == op->attrs->size;
}

/* The kernels accept every type and layout that the verifier accepts. That a step belongs to a
 * group is only a hint: its kernel runs by itself. */
int32_t vt_steps_check(const vt_bk_step *step, uint32_t kind) {
  if (!vt_step_is_well_formed(step) || !vt_steps_accepts_op(step->op, kind)) return VT_UNSUPPORTED;
  return (kind & VT_STEPS_DENSE) == 0 || step_is_dense(step) ? VT_OK : VT_UNSUPPORTED;
}

uint64_t vt_step_scratch_bytes(const vt_bk_step *step, uint32_t kind) {
  const vt_op_info *op = vt_op_get(step->op);
  enum { MOST = 8 };
  vt_view in[MOST];
  if (op == NULL || op->work == NULL || step->n_in > MOST || !vt_steps_accepts_op(step->op, kind))
    return 0;
  for (uint32_t i = 0; i < step->n_in; i++) in[i] = vt_step_view(&step->in[i]);
  return op->work(in, step->n_in);
}

/* ---- binding ---- */

static void *host_new(const vt_bk_host *host, uint64_t n, uint64_t size) {
  void *p = host->resize(host->user, NULL, 0, n * size + 1);
  if (p != NULL) memset(p, 0, (size_t)(n * size));
  return p;
}

static void host_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size) {
  if (p != NULL) host->resize(host->user, p, n * size + 1, 0);
}

static void extend_arena_count(vt_steps *p, uint32_t arena) {
  if (arena >= p->n_arenas) p->n_arenas = arena < VT_STEPS_ARENAS ? arena + 1 : UINT32_MAX;
}

static void count_tensors(vt_steps *p, const vt_bk_tensor *t, uint32_t n) {
  p->cap_views += n;
  for (uint32_t i = 0; i < n; i++) extend_arena_count(p, t[i].arena);
}

/* Counts the steps, views and arenas of a list, bodies included, into p; returns 0 if a step is not
 * supported. */
static int check_and_count_list(vt_steps *p, const vt_bk_step *steps, uint64_t n, uint32_t kind) {
  for (uint64_t i = 0; i < n; i++) {
    const vt_bk_step *s = &steps[i];
    if (vt_steps_check(s, kind) != VT_OK) return 0;
    p->cap_steps += 1;
    count_tensors(p, s->in, s->n_in);
    count_tensors(p, s->out, s->n_out);
    if (s->work_bytes > 0) extend_arena_count(p, s->work_arena);
    for (uint32_t k = 0; k < s->n_body; k++) {
      count_tensors(p, s->body[k].in, s->body[k].n_in);
      count_tensors(p, s->body[k].out, s->body[k].n_out);
      if (!check_and_count_list(p, s->body[k].steps, s->body[k].n_steps, kind)) return 0;
    }
  }
  return 1;
}

static void add_views(vt_steps *p, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) p->views[p->n_views++] = vt_step_view(&t[i]);
}

static void bind_steps(vt_steps *p, const vt_bk_step *steps, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    const vt_bk_step *s = &steps[i];
    vt_bound_step *b = &p->steps[p->n_steps++];
    *b = (vt_bound_step){s, vt_op_get(s->op), (uint32_t)p->n_views, 0};
    add_views(p, s->in, s->n_in);
    add_views(p, s->out, s->n_out);
    for (uint32_t k = 0; k < s->n_body; k++) {
      add_views(p, s->body[k].in, s->body[k].n_in);
      add_views(p, s->body[k].out, s->body[k].n_out);
    }
    const uint64_t before = p->n_steps;
    for (uint32_t k = 0; k < s->n_body; k++) bind_steps(p, s->body[k].steps, s->body[k].n_steps);
    b->n_inner = (uint32_t)(p->n_steps - before);
  }
}

int32_t vt_steps_init(const vt_bk_host *host, const vt_bk_step *steps, uint64_t n, uint32_t kind,
                      vt_steps *out) {
  vt_steps p = {.host = host, .error = {.size = sizeof p.error}};
  if (!check_and_count_list(&p, steps, n, kind)) return VT_UNSUPPORTED;
  if (p.cap_views > UINT32_MAX || p.cap_steps > UINT32_MAX || p.n_arenas > VT_STEPS_ARENAS)
    return VT_LIMIT;
  p.steps = host_new(host, p.cap_steps, sizeof *p.steps);
  p.views = host_new(host, p.cap_views, sizeof *p.views);
  if (p.steps == NULL || p.views == NULL) {
    vt_steps_done(&p);
    return VT_NOMEM;
  }
  bind_steps(&p, steps, n);
  *out = p;
  return VT_OK;
}

void vt_steps_done(vt_steps *p) {
  host_free(p->host, p->views, p->cap_views, sizeof *p->views);
  host_free(p->host, p->steps, p->cap_steps, sizeof *p->steps);
}

/* ---- running ---- */

/* The state that a kernel with bodies needs to run them: the arena addresses and the step of the
 * kernel. */
typedef struct runner {
  vt_steps *p;
  char *const *base;
  uint64_t at; /* index of the current step in p->steps */
} runner;

static void place_views(const runner *r, vt_view *v, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) v[i].data = r->base[t[i].arena] + t[i].offset;
}

static vt_status run_steps(vt_steps *p, char *const *base, uint64_t first, uint64_t n,
                           int is_top_level);

/* Runs body `which` of the current step. The steps of body 0 are stored directly after the step,
 * those of body 1 after those of body 0. */
static vt_status run_body(vt_kernel *k, uint32_t which) {
  const runner *r = k->runner;
  const vt_bound_step *b = &r->p->steps[r->at];
  uint64_t first = r->at + 1, n = 0;
  for (uint32_t i = 0; i <= which; i++) {
    first += n;
    n = 0;
    for (uint64_t s = 0; s < b->step->body[i].n_steps; s++) n += 1 + r->p->steps[first + n].n_inner;
  }
  return run_steps(r->p, r->base, first, n, 0);
}

static vt_status run_step(vt_steps *p, char *const *base, uint64_t at, vt_kernel *k) {
  const vt_bound_step *b = &p->steps[at];
  const vt_bk_step *s = b->step;
  runner r = {p, base, at};
  vt_kernel_body body[VT_MAX_BODIES];
  vt_view *in = p->views + b->first_view, *out = in + s->n_in, *next = out + s->n_out;
  place_views(&r, in, s->in, s->n_in);
  place_views(&r, out, s->out, s->n_out);
  for (uint32_t i = 0; i < s->n_body; i++) {
    const vt_bk_body *from = &s->body[i];
    place_views(&r, next, from->in, from->n_in);
    place_views(&r, next + from->n_in, from->out, from->n_out);
    body[i] = (vt_kernel_body){next, next + from->n_in, from->n_in, from->n_out, run_body};
    next += from->n_in + from->n_out;
  }
  *k = (vt_kernel){.in = in,
                   .n_in = s->n_in,
                   .n_out = s->n_out,
                   .n_body = s->n_body,
                   .out = out,
                   .body = body,
                   .runner = &r,
                   .attrs = s->attrs};
  if (s->work_bytes > 0) k->work = base[s->work_arena] + s->work_offset;
  return b->op->kernel(k);
}

/* Records the first error of a run. If a step fails because its body failed, the error of the body
 * is recorded already. */
static void record_error(vt_steps *p, vt_status s, uint64_t step, const vt_kernel *k) {
  if (p->error.status != VT_OK) return;
  p->error.status = (int32_t)s;
  p->error.step = step;
  p->error.position = k->position;
  p->error.value = k->value;
}

static vt_status run_steps(vt_steps *p, char *const *base, uint64_t first, uint64_t n,
                           int is_top_level) {
  for (uint64_t i = first; i < first + n; i += 1 + p->steps[i].n_inner) {
    vt_kernel k;
    const vt_status s = run_step(p, base, i, &k);
    if (s != VT_OK) {
      record_error(p, s, i, &k);
      return s;
    }
    if (is_top_level && VT_BK_HAS(p->host, vt_bk_host, progress))
      p->host->progress(p->host->user, i);
  }
  return VT_OK;
}

void vt_steps_run(vt_steps *p, char *const *base) {
  p->error = (vt_bk_error){.size = sizeof p->error};
  (void)run_steps(p, base, 0, p->n_steps, 1);
}

void vt_steps_error(const vt_steps *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
}
