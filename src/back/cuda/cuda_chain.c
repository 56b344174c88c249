/* SPDX-License-Identifier: Apache-2.0
 * cuda_chain.c - pointwise steps: one is a kernel of this binary, several are compiled as one where
 * that is possible. Where all operands lie so that groups of neighbours can be loaded at once, a
 * kernel takes groups (gpu_map.h); which way is taken changes no bit. */
#include "cuda_chain.h"
#include "cuda_walk.h"
#include "gpu_map.h"
#include "vt_maps.h"

enum { TYPES = VT_DTYPE_BF16 + 1, MOST_VIEWS = 4, THREADS = 256 };

struct vt_cuda_chain {
  vt_cuda_fused *fused; /* NULL: a single step */
  const vt_bk_step *step;
  uint32_t kernel;
};

/* ---- which kernel: its number plus one, 0 where there is none ---- */

#define VT_ROW_no(op, type) 0
#define VT_ROW_yes(op, type) VT_GPU_map_##type##_##op + 1
#define VT_ROW_fused VT_ROW_yes
#define VT_ROW_f32(op, type) VT_ROW_f32_##type(op)
#define VT_ROW_f32_f32(op) VT_GPU_map_f32_##op + 1
#define VT_ROW_f32_f64(op) 0
static const uint16_t maps[VT_MAPS][TYPES] = {
#define VT_MAP(op, n, result, f, i, t, cost)                                                    \
  [VT_MAP_##op] = {[VT_DTYPE_F32] = VT_ROW_##f(op, f32),  [VT_DTYPE_F64] = VT_ROW_##f(op, f64), \
                   [VT_DTYPE_I8] = VT_ROW_##i(op, i8),    [VT_DTYPE_U8] = VT_ROW_##i(op, u8),   \
                   [VT_DTYPE_I32] = VT_ROW_##i(op, i32),  [VT_DTYPE_I64] = VT_ROW_##i(op, i64), \
                   [VT_DTYPE_BOOL] = VT_ROW_##t(op, bool)},
#include "maps.def"
#undef VT_MAP
};

/* The first cast of each type stands before those to the others, in the order of their numbers. */
static const uint16_t casts[TYPES] = {
    [VT_DTYPE_F32] = VT_GPU_map_cast_f32_f32,   [VT_DTYPE_F64] = VT_GPU_map_cast_f64_f32,
    [VT_DTYPE_I8] = VT_GPU_map_cast_i8_f32,     [VT_DTYPE_U8] = VT_GPU_map_cast_u8_f32,
    [VT_DTYPE_I32] = VT_GPU_map_cast_i32_f32,   [VT_DTYPE_I64] = VT_GPU_map_cast_i64_f32,
    [VT_DTYPE_BOOL] = VT_GPU_map_cast_bool_f32, [VT_DTYPE_F16] = VT_GPU_map_cast_f16_f32,
    [VT_DTYPE_BF16] = VT_GPU_map_cast_bf16_f32};
_Static_assert(VT_GPU_map_cast_f32_bf16 - VT_GPU_map_cast_f32_f32 == VT_DTYPE_BF16 - VT_DTYPE_F32,
               "kernels_cast.def has the types in the order of dtypes.def");

static uint32_t choice_of(uint32_t bytes) {
  return bytes == 1   ? VT_GPU_map_choice_1
         : bytes == 2 ? VT_GPU_map_choice_2
         : bytes == 4 ? VT_GPU_map_choice_4
                      : VT_GPU_map_choice_8;
}

static uint32_t kernel_of(const vt_bk_step *s) {
  const uint32_t map = vt_map_of_step(s);
  if (map == VT_MAP_none) return 0;
  const uint32_t type = s->in[s->n_in - 1].dtype;
  if (map == VT_MAP_cast) return casts[type] + s->out[0].dtype - VT_DTYPE_F32 + 1;
  if (map == VT_MAP_choice) return choice_of(vt_cuda_bytes_of(type)) + 1;
  return maps[map][type];
}

int vt_cuda_chain_lists(uint32_t op) { return vt_map_of(op) != VT_MAP_none; }
int vt_cuda_chain_takes(const vt_bk_device *dev, const vt_bk_step *s) {
  return (void)dev, kernel_of(s) != 0;
}

/* ---- making ---- */

static int32_t fill(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n, vt_cuda_chain *c) {
  if (n > 1) return vt_cuda_fused_new(dev, s, n, &c->fused);
  const uint32_t kernel = kernel_of(s[0]);
  if (kernel == 0) return VT_UNSUPPORTED;
  c->step = s[0];
  c->kernel = kernel - 1;
  return VT_OK;
}

int32_t vt_cuda_chain_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_chain **out) {
  if (n == 0) return VT_UNSUPPORTED;
  vt_cuda_chain *c = vt_cuda_memory_new(dev->host, 1, sizeof *c);
  if (c == NULL) return VT_NOMEM;
  const int32_t status = fill(dev, s, n, c);
  if (status == VT_OK) {
    *out = c;
  } else {
    vt_cuda_memory_free(dev->host, c, 1, sizeof *c);
  }
  return status;
}

void vt_cuda_chain_free(vt_bk_device *dev, vt_cuda_chain *chain) {
  if (chain->fused != NULL) vt_cuda_fused_free(dev, chain->fused);
  vt_cuda_memory_free(dev->host, chain, 1, sizeof *chain);
}

/* ---- groups ---- */

static uint32_t group_of(const vt_view *const *v, uint32_t n) {
  uint32_t bytes = 1;
  for (uint32_t k = 0; k < n; k++)
    if (vt_cuda_bytes_of(v[k]->dtype) > bytes) bytes = vt_cuda_bytes_of(v[k]->dtype);
  return VT_GPU_GROUP(bytes);
}

/* Whether operand k has its elements in aligned groups along the last axis, or one for all. */
static int is_grouped(const vt_gpu_walk *w, uint32_t k, const vt_view *v, uint32_t group) {
  const uint32_t last = w->rank - 1;
  if (w->stride[k][last] == 0) return k > 0;
  int fits = w->stride[k][last] == 1 &&
             (uintptr_t)v->data % ((uintptr_t)group * vt_cuda_bytes_of(v->dtype)) == 0;
  for (uint32_t r = 0; r < last; r++) fits = fits && w->stride[k][r] % group == 0;
  return fits;
}

/* With several axes a group must not reach into the next row. */
static int can_group(const vt_gpu_walk *w, const vt_view *const *v, uint32_t n, uint32_t group) {
  if (w->rank == 0 || w->n < group) return 0;
  int fits = w->rank == 1 || w->dim[w->rank - 1] % group == 0;
  for (uint32_t k = 0; k < n; k++) fits = fits && is_grouped(w, k, v[k], group);
  return fits;
}

static void take_groups(vt_gpu_map *m, const vt_view *const *v, uint32_t n) {
  vt_gpu_walk *w = &m->walk;
  const uint32_t group = group_of(v, n);
  if (!can_group(w, v, n, group)) return;
  const uint32_t last = w->rank - 1;
  m->grouped = 1;
  m->rest = (uint32_t)(w->n % group);
  w->n /= group;
  w->dim[last] /= group;
  for (uint32_t k = 0; k < n; k++) {
    if (w->stride[k][last] == 0) m->one |= 1u << (k - 1);
    w->stride[k][last] *= group;
  }
}

/* ---- running ---- */

static vt_view view_of(const vt_bk_tensor *t, char *const *base) {
  vt_view v = vt_step_view(t);
  v.data = base[t->arena] + t->offset;
  return v;
}

static vt_status run_one(const vt_bk_step *s, uint32_t kernel, vt_cuda_call *c, char *const *base) {
  vt_view view[MOST_VIEWS] = {view_of(&s->out[0], base)};
  const vt_view *v[MOST_VIEWS] = {&view[0]};
  vt_gpu_map m = {.to = view[0].data};
  for (uint32_t k = 0; k < s->n_in; k++) {
    view[k + 1] = view_of(&s->in[k], base);
    v[k + 1] = &view[k + 1];
    m.from[k] = view[k + 1].data;
  }
  m.walk = vt_cuda_walk(v, s->n_in + 1);
  take_groups(&m, v, s->n_in + 1);
  return vt_cuda_launch(c, kernel, vt_cuda_line(c, m.walk.n + m.rest, 1, THREADS), &m);
}

vt_status vt_cuda_chain_run(const vt_cuda_chain *chain, vt_cuda_call *c, char *const *base) {
  if (chain->fused != NULL) return vt_cuda_fused_run(chain->fused, c, base);
  return run_one(chain->step, chain->kernel, c, base);
}
