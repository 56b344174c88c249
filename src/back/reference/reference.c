/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the reference backend: the kernels of the op table, one step after the other, one
 * thread, behind the plug-in ABI like any other backend. It is the semantic authority.
 *   device 0  runs prims; compositions reach it as the ops that define them
 *   device 1  runs compositions whole, by their second implementation
 * The two must agree to the last bit. */
#include <string.h>
#include "vt_op.h"
#include "volta/volta_backend.h"

vt_backend_query_fn vt_reference_query;

struct vt_bk_device {
  const vt_bk_host *host;
  uint32_t ordinal;
};

typedef struct bound_step { /* a step with its kernel looked up */
  const vt_bk_step *step;
  const vt_op_info *op;
  uint32_t first_view; /* of its operands; results after them, then what its bodies take and give */
  uint32_t n_inner;    /* steps of its bodies; they follow it */
} bound_step;

struct vt_bk_program {
  vt_bk_device *dev;
  uint64_t n_steps, n_views, room_steps, room_views; /* bodies included */
  bound_step *steps;
  vt_view *views; /* data is filled in by each run */
  vt_bk_error error;
};

/* ---- devices ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 2;
  return VT_OK;
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  vt_bk_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  *dev = (vt_bk_device){host, ordinal};
  *out_dev = dev;
  return VT_OK;
}

static void device_close(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  host->resize(host->user, dev, sizeof *dev, 0);
}

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  static const char *const about[2] = {"scalar reference; compositions as the ops that define them",
                                       "scalar reference; compositions by their own kernels"};
  static const char *const print[2] = {"reference-1 prims", "reference-1 whole"};
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .about = about[dev->ordinal],
                           .fingerprint = print[dev->ordinal]};
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

static int32_t op_listed(vt_bk_device *dev, uint32_t number) {
  const vt_op_info *op = vt_op_get(number);
  return op != NULL && (op->prim || dev->ordinal == 1);
}

/* ---- steps ---- */

static vt_view view_of(const vt_bk_tensor *t) {
  vt_view v = {.dtype = t->dtype, .rank = t->rank};
  memcpy(v.dim, t->dim, sizeof v.dim);
  memcpy(v.stride, t->stride, sizeof v.stride);
  return v;
}

/* The kernels take every type and layout that the verifier lets through. A group is a hint that
 * need not be taken: its steps run one after the other. */
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  const vt_op_info *op = vt_op_get(step->op);
  if (op == NULL || !op_listed(dev, step->op) || step->region != 0 ||
      step->n_body != vt_op_bodies(op) || step->n_out == 0 ||
      (vt_op_results(op) != 0 && step->n_out != vt_op_results(op)) ||
      step->attrs_size != op->attrs->size)
    return VT_UNSUPPORTED;
  return VT_OK;
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  const vt_op_info *op = vt_op_get(step->op);
  enum { MOST = 8 };
  vt_view in[MOST];
  *out_bytes = 0;
  if (op == NULL || op->work == NULL || step->n_in > MOST || !op_listed(dev, step->op))
    return VT_OK;
  for (uint32_t i = 0; i < step->n_in; i++) in[i] = view_of(&step->in[i]);
  *out_bytes = op->work(in, step->n_in);
  return VT_OK;
}

static void *host_new(const vt_bk_host *host, uint64_t n, uint64_t size) {
  void *p = host->resize(host->user, NULL, 0, n * size + 1);
  if (p != NULL) memset(p, 0, (size_t)(n * size));
  return p;
}

static void host_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size) {
  if (p != NULL) host->resize(host->user, p, n * size + 1, 0);
}

static void program_free(vt_bk_program *prog) {
  const vt_bk_host *host = prog->dev->host;
  host_free(host, prog->views, prog->room_views, sizeof *prog->views);
  host_free(host, prog->steps, prog->room_steps, sizeof *prog->steps);
  host_free(host, prog, 1, sizeof *prog);
}

/* Steps and views of a list, bodies included; 0 when a step is not supported. */
static int count(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n, uint64_t *n_steps,
                 uint64_t *n_views) {
  for (uint64_t i = 0; i < n; i++) {
    const vt_bk_step *s = &steps[i];
    if (step_check(dev, s) != VT_OK) return 0;
    *n_steps += 1;
    *n_views += (uint64_t)s->n_in + s->n_out;
    for (uint32_t k = 0; k < s->n_body; k++) {
      *n_views += (uint64_t)s->body[k].n_in + s->body[k].n_out;
      if (!count(dev, s->body[k].steps, s->body[k].n_steps, n_steps, n_views)) return 0;
    }
  }
  return 1;
}

static void add_views(vt_bk_program *prog, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) prog->views[prog->n_views++] = view_of(&t[i]);
}

/* The plan keeps the steps alive for as long as the program lives. */
static void bind_steps(vt_bk_program *prog, const vt_bk_step *steps, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    const vt_bk_step *s = &steps[i];
    bound_step *b = &prog->steps[prog->n_steps++];
    *b = (bound_step){s, vt_op_get(s->op), (uint32_t)prog->n_views, 0};
    add_views(prog, s->in, s->n_in);
    add_views(prog, s->out, s->n_out);
    for (uint32_t k = 0; k < s->n_body; k++) {
      add_views(prog, s->body[k].in, s->body[k].n_in);
      add_views(prog, s->body[k].out, s->body[k].n_out);
    }
    const uint64_t before = prog->n_steps;
    for (uint32_t k = 0; k < s->n_body; k++) bind_steps(prog, s->body[k].steps, s->body[k].n_steps);
    b->n_inner = (uint32_t)(prog->n_steps - before);
  }
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  const vt_bk_host *host = dev->host;
  uint64_t n_views = 0, n_all = 0;
  if (!count(dev, steps, n_steps, &n_all, &n_views)) return VT_UNSUPPORTED;
  if (n_views > UINT32_MAX || n_all > UINT32_MAX) return VT_LIMIT;
  vt_bk_program *prog = host_new(host, 1, sizeof *prog);
  if (prog == NULL) return VT_NOMEM;
  prog->dev = dev;
  prog->room_steps = n_all;
  prog->room_views = n_views;
  prog->steps = host_new(host, n_all, sizeof *prog->steps);
  prog->views = host_new(host, n_views, sizeof *prog->views);
  if (prog->steps == NULL || prog->views == NULL) {
    program_free(prog);
    return VT_NOMEM;
  }
  bind_steps(prog, steps, n_steps);
  *out_prog = prog;
  return VT_OK;
}

/* ---- memory: a header before 64-byte aligned bytes; a handle is the address ---- */

enum { ALIGN = 64 };
typedef struct block {
  uint64_t size; /* of the whole allocation */
  void *base;
} block;

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  const uint64_t size = bytes + sizeof(block) + ALIGN;
  if (size < bytes) return VT_NOMEM;
  char *base = dev->host->resize(dev->host->user, NULL, 0, size);
  if (base == NULL) return VT_NOMEM;
  char *data = base + sizeof(block);
  data += (ALIGN - (uintptr_t)data % ALIGN) % ALIGN;
  const block head = {size, base};
  memcpy(data - sizeof head, &head, sizeof head);
  *out_handle = (uint64_t)(uintptr_t)data;
  return VT_OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  block head;
  memcpy(&head, (char *)(uintptr_t)handle - sizeof head, sizeof head);
  dev->host->resize(dev->host->user, head.base, head.size, 0);
}

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  if (to_device) {
    memcpy(at, host, (size_t)bytes);
  } else {
    memcpy(host, at, (size_t)bytes);
  }
  return VT_OK;
}

/* ---- running ---- */

/* One run: where the arenas are, and which step is at work. */
typedef struct runner {
  vt_bk_program *prog;
  const uint64_t *buffers;
  uint64_t at; /* index of the bound step */
} runner;

static void place(const runner *r, vt_view *v, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    v[i].data = (char *)(uintptr_t)r->buffers[t[i].arena] + t[i].offset;
}

static vt_status run_steps(vt_bk_program *prog, const uint64_t *buffers, uint64_t first, uint64_t n,
                           int top);

/* Body 0 follows its step, body 1 follows body 0. */
static vt_status run_body(vt_kernel *k, uint32_t which) {
  const runner *r = k->runner;
  const bound_step *b = &r->prog->steps[r->at];
  uint64_t first = r->at + 1, n = 0;
  for (uint32_t i = 0; i <= which; i++) {
    first += n;
    n = 0;
    for (uint64_t s = 0; s < b->step->body[i].n_steps; s++)
      n += 1 + r->prog->steps[first + n].n_inner;
  }
  return run_steps(r->prog, r->buffers, first, n, 0);
}

static vt_status run_step(vt_bk_program *prog, const uint64_t *buffers, uint64_t at, vt_kernel *k) {
  const bound_step *b = &prog->steps[at];
  const vt_bk_step *s = b->step;
  runner r = {prog, buffers, at};
  vt_kernel_body body[VT_MAX_BODIES];
  vt_view *in = prog->views + b->first_view, *out = in + s->n_in, *next = out + s->n_out;
  place(&r, in, s->in, s->n_in);
  place(&r, out, s->out, s->n_out);
  for (uint32_t i = 0; i < s->n_body; i++) {
    const vt_bk_body *from = &s->body[i];
    place(&r, next, from->in, from->n_in);
    place(&r, next + from->n_in, from->out, from->n_out);
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
  if (s->work_bytes > 0) k->work = (char *)(uintptr_t)buffers[s->work_arena] + s->work_offset;
  return b->op->kernel(k);
}

/* The first failure is on record already when it comes from inside a body. */
static void note_error(vt_bk_program *prog, vt_status s, uint64_t step, const vt_kernel *k) {
  if (prog->error.status != VT_OK) return;
  prog->error.status = (int32_t)s;
  prog->error.step = step;
  prog->error.position = k->position;
  prog->error.value = k->value;
}

static vt_status run_steps(vt_bk_program *prog, const uint64_t *buffers, uint64_t first, uint64_t n,
                           int top) {
  const vt_bk_host *host = prog->dev->host;
  for (uint64_t i = first; i < first + n; i += 1 + prog->steps[i].n_inner) {
    vt_kernel k;
    const vt_status s = run_step(prog, buffers, i, &k);
    if (s != VT_OK) {
      note_error(prog, s, i, &k);
      return s;
    }
    if (top && VT_BK_HAS(host, vt_bk_host, progress)) host->progress(host->user, i);
  }
  return VT_OK;
}

static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  (void)n_buffers;
  prog->error = (vt_bk_error){.size = sizeof prog->error};
  (void)run_steps(prog, buffers, 0, prog->n_steps, 1); /* a failure is reported by wait */
  return VT_OK;
}

static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  memcpy(out, &prog->error, out->size < sizeof prog->error ? out->size : sizeof prog->error);
  return VT_OK;
}

const vt_bk_api *vt_reference_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "reference",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}
