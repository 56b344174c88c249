/* SPDX-License-Identifier: Apache-2.0
 * pointwise.c - a plug-in backend that is built outside of Volta's tree. It computes a few
 * pointwise ops on f32 on the host and refuses all other steps in step_check, so it can run every
 * plan that it accepts. It needs only volta_backend.h and volta_ops.h.
 *
 *   one device; its memory is host memory; tensors may be strided and operands may broadcast
 *
 * A kernel computes one row: y = op(a, b) over n elements of the last axis, where ys, as and bs are
 * the strides of y, a and b. */
#include <string.h>
#include <volta/volta_backend.h>
#include <volta/volta_ops.h>

/* Status codes of status.def, whose values never change. */
enum { OK = 0, UNSUPPORTED = 12, BACKEND = 13, NOMEM = 15 };

struct vt_bk_device {
  const vt_bk_host *host;
};

/* A program is only a pointer to its steps: the host keeps them alive until program_free. */
struct vt_bk_program {
  vt_bk_device *dev;
  const vt_bk_step *steps;
  uint64_t n_steps;
};

/* ---- kernels ---- */

typedef void row_fn(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n);

static void neg_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  (void)b, (void)bs;
  for (int64_t i = 0; i < n; i++) y[i * ys] = -a[i * as];
}

static void abs_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  (void)b, (void)bs;
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &a[i * as], sizeof bits);
    bits &= 0x7fffffffu;
    memcpy(&y[i * ys], &bits, sizeof bits);
  }
}

static void add_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = a[i * as] + b[i * bs];
}

static void sub_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = a[i * as] - b[i * bs];
}

static void mul_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = a[i * as] * b[i * bs];
}

static void div_row(float *y, int64_t ys, const float *a, int64_t as, const float *b, int64_t bs,
                    int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = a[i * as] / b[i * bs];
}

static int is_negative(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 31);
}

/* A NaN operand gives NaN, and -0 is less than +0: a plain `a > b ? a : b` gets both wrong. */
static float larger(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return is_negative(a) ? b : a;
  return a > b ? a : b;
}

static float smaller(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return is_negative(a) ? a : b;
  return a < b ? a : b;
}

static void maximum_row(float *y, int64_t ys, const float *a, int64_t as, const float *b,
                        int64_t bs, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = larger(a[i * as], b[i * bs]);
}

static void minimum_row(float *y, int64_t ys, const float *a, int64_t as, const float *b,
                        int64_t bs, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i * ys] = smaller(a[i * as], b[i * bs]);
}

/* ---- the supported ops with their kernels; `literal` only stores a value: it has no kernel ----
 */

static const struct kernel {
  uint32_t op;
  row_fn *row;
} kernels[] = {
    {VT_OP_literal, NULL}, {VT_OP_neg, neg_row},         {VT_OP_abs, abs_row},
    {VT_OP_add, add_row},  {VT_OP_sub, sub_row},         {VT_OP_mul, mul_row},
    {VT_OP_div, div_row},  {VT_OP_maximum, maximum_row}, {VT_OP_minimum, minimum_row},
};

static const struct kernel *find_kernel(uint32_t op) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (kernels[i].op == op) return &kernels[i];
  return NULL;
}

static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  return find_kernel(op) != NULL;
}

static int32_t refuse_step(vt_bk_device *dev, const char *why) {
  dev->host->diag(dev->host->user, UNSUPPORTED, why);
  return UNSUPPORTED;
}

/* Accepts a step only if its op has a kernel and all its tensors are f32. */
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  if (find_kernel(step->op) == NULL) return refuse_step(dev, "pointwise has no kernel for it");
  for (uint32_t i = 0; i < step->n_in; i++)
    if (step->in[i].dtype != VT_DTYPE_F32) return refuse_step(dev, "pointwise computes in f32");
  if (step->n_out != 1 || step->out->dtype != VT_DTYPE_F32)
    return refuse_step(dev, "pointwise computes in f32");
  return OK;
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  (void)dev, (void)step;
  *out_bytes = 0;
  return OK;
}

/* ---- running a step ---- */

/* Address of a tensor's first element. */
static float *first_element(const vt_bk_tensor *t, const uint64_t *buffers) {
  return (float *)(void *)((char *)(uintptr_t)buffers[t->arena] + t->offset);
}

/* Stride of operand `t` along axis `axis` of a result of rank `result_rank`. The last axes of both
 * are aligned. An axis that the operand lacks, or whose extent is 1, is broadcast: its stride is 0.
 */
static int64_t stride_along_result_axis(const vt_bk_tensor *t, uint32_t result_rank,
                                        uint32_t axis) {
  if (axis + t->rank < result_rank) return 0;
  const uint32_t own = axis + t->rank - result_rank;
  return t->dim[own] == 1 ? 0 : t->stride[own];
}

/* Offset in elements at which row `row` of the result begins in operand `t`. A row is a range of
 * the last axis; rows are counted in row-major order. */
static int64_t row_offset_in_elements(const vt_bk_tensor *t, const vt_bk_tensor *result,
                                      int64_t row) {
  int64_t at = 0;
  for (uint32_t axis = result->rank - 1; axis-- > 0;) {
    at += row % result->dim[axis] * stride_along_result_axis(t, result->rank, axis);
    row /= result->dim[axis];
  }
  return at;
}

static void run_rows(const vt_bk_step *step, row_fn *row, const uint64_t *buffers) {
  const vt_bk_tensor *y = step->out, *a = step->in, *b = &step->in[step->n_in - 1];
  float *py = first_element(y, buffers);
  const float *pa = first_element(a, buffers), *pb = first_element(b, buffers);
  if (y->rank == 0) {
    row(py, 0, pa, 0, pb, 0, 1);
    return;
  }
  const uint32_t last = y->rank - 1;
  int64_t rows = 1;
  for (uint32_t axis = 0; axis < last; axis++) rows *= y->dim[axis];
  for (int64_t r = 0; r < rows; r++)
    row(py + row_offset_in_elements(y, y, r), y->stride[last], pa + row_offset_in_elements(a, y, r),
        stride_along_result_axis(a, y->rank, last), pb + row_offset_in_elements(b, y, r),
        stride_along_result_axis(b, y->rank, last), y->dim[last]);
}

static void run_step(const vt_bk_step *step, const uint64_t *buffers) {
  const struct kernel *k = find_kernel(step->op);
  if (k->row != NULL) {
    run_rows(step, k->row, buffers);
  } else { /* the op literal has no kernel: its bits are stored unchanged */
    const vt_attr_literal *literal = step->attrs;
    const uint32_t bits = (uint32_t)literal->bits;
    memcpy(first_element(step->out, buffers), &bits, sizeof bits);
  }
}

static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  const vt_bk_host *host = prog->dev->host;
  (void)n_buffers;
  for (uint64_t i = 0; i < prog->n_steps; i++) {
    run_step(&prog->steps[i], buffers);
    if (VT_BK_HAS(host, vt_bk_host, progress)) host->progress(host->user, i);
  }
  return OK;
}

/* `run` is synchronous and cannot fail, so there is nothing to wait for and no error to report. */
static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  const vt_bk_error none = {.size = sizeof none};
  (void)prog;
  memcpy(out, &none, out->size < sizeof none ? out->size : sizeof none);
  return OK;
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  vt_bk_program *prog = dev->host->resize(dev->host->user, NULL, 0, sizeof *prog);
  if (prog == NULL) return NOMEM;
  *prog = (vt_bk_program){dev, steps, n_steps};
  *out_prog = prog;
  return OK;
}

static void program_free(vt_bk_program *prog) {
  const vt_bk_host *host = prog->dev->host;
  host->resize(host->user, prog, sizeof *prog, 0);
}

/* ---- memory: a block holds the size of a buffer, then its bytes; a handle is the address of the
 * bytes ---- */

enum { ALIGNMENT = 16 }; /* alignment of the host's allocator, and therefore of every buffer */

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  char *p = NULL;
  if (bytes <= UINT64_MAX - ALIGNMENT)
    p = dev->host->resize(dev->host->user, NULL, 0, bytes + ALIGNMENT);
  if (p == NULL) return NOMEM;
  memcpy(p, &bytes, sizeof bytes);
  *out_handle = (uint64_t)(uintptr_t)(p + ALIGNMENT);
  return OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  char *p = (char *)(uintptr_t)handle - ALIGNMENT;
  uint64_t bytes;
  memcpy(&bytes, p, sizeof bytes);
  dev->host->resize(dev->host->user, p, bytes + ALIGNMENT, 0);
}

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  memcpy(to_device ? at : host, to_device ? host : at, (size_t)bytes);
  return OK;
}

/* ---- the device ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return OK;
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  if (ordinal != 0) return BACKEND;
  vt_bk_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return NOMEM;
  dev->host = host;
  *out_dev = dev;
  return OK;
}

static void device_close(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  host->resize(host->user, dev, sizeof *dev, 0);
}

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = ALIGNMENT,
                           .about = "f32 element by element, an example of a plug-in",
                           .fingerprint = "pointwise-1",
                           .has = VT_BK_SUBNORMALS,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE};
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return OK;
}

/* The only exported symbol. */
vt_backend_query_fn vt_backend_query;

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "pointwise",
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
