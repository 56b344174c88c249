/* SPDX-License-Identifier: Apache-2.0
 * cuda_conv_tiles.c - convolutions as matrix products: chooses the tile, and whether the
 * contracted axis is cut into slices of k whose partial results are added afterwards. k is the
 * contracted axis, cut into blocks of 256, groups of 8 blocks, and groups of groups, as the
 * summation order of docs/numerics.md requires. */
#include "cuda_epilogue.h"

enum { MAX_SLICES = 65535, LEAST_ROWS = 8 };

typedef struct tile {
  uint32_t kernel, bytes;
  int64_t rows, columns;
  uint32_t threads, shared, resident, speed;
} tile;

/* Shared memory of a tile has stages of the operands, the sums of a group, and the tables that map
 * two blocks of k to taps. */
#define STAGE_BYTES(type, bm, bn, bk) ((bk) * ((bm) + (bn) + 32 / sizeof(type)) * sizeof(type))
#define ALL_BYTES(type, bm, bn, bk, stages)                                        \
  (uint32_t)((stages)*STAGE_BYTES(type, bm, bn, bk) + (bm) * (bn) * sizeof(type) + \
             2 * VT_GPU_BLOCK * sizeof(vt_gpu_tap))
static const tile tiles[] = {
#define VT_CONV_TILE(name, type, bm, bn, bk, tm, tn, stages, resident, speed) \
  {VT_GPU_##name,                                                             \
   sizeof(type),                                                              \
   bm,                                                                        \
   bn,                                                                        \
   (bm) / (tm) * ((bn) / (tn)),                                               \
   ALL_BYTES(type, bm, bn, bk, stages),                                       \
   resident,                                                                  \
   speed},
#include "conv_tiles.def"
#undef VT_CONV_TILE
};
enum { TILES = (int)(sizeof tiles / sizeof *tiles) };

/* ---- convolutions as products ---- */

/* Returns 1 if several axes can be merged into one, and stores the merged stride in *out. Axes of
 * length 1 do not matter. */
static int merge_strides(const int64_t *dim, const int64_t *stride, int n, int64_t *out) {
  int64_t length = 1, near = 1;
  for (int i = n; i-- > 0;) {
    if (dim[i] == 1) continue;
    if (length == 1) near = stride[i];
    if (stride[i] != near * length) return 0;
    length *= dim[i];
  }
  *out = near;
  return 1;
}

static int merged_weight_stride(const vt_gpu_direct_conv *s, int64_t *out) {
  const vt_gpu_direct_conv_axis *x = s->axis;
  const int64_t dim[] = {s->depth, x[0].taps, x[1].taps, x[2].taps};
  const int64_t stride[] = {s->w_channel, x[0].weight, x[1].weight, x[2].weight};
  return merge_strides(dim, stride, 4, out);
}

static int merged_output_stride(const vt_gpu_direct_conv *s, int64_t *out) {
  const vt_gpu_direct_conv_axis *x = s->axis;
  const int64_t dim[] = {x[0].places, x[1].places, x[2].places};
  const int64_t stride[] = {x[0].out, x[1].out, x[2].out};
  return merge_strides(dim, stride, 3, out);
}

static int64_t count_output_positions(const vt_gpu_direct_conv *s) {
  return s->axis[0].places * s->axis[1].places * s->axis[2].places;
}

/* Returns 1 if, along this axis with a single tap, no output position reads padding. */
static int single_tap_reads_no_padding(const vt_gpu_direct_conv_axis *a) {
  return a->classes == 0 && a->base == 0 && (a->places - 1) * a->step < a->dim;
}

int vt_cuda_conv_describe_gemm(const vt_gpu_direct_conv *s, vt_gpu_gemm *out) {
  const vt_gpu_direct_conv_axis *last = &s->axis[VT_GPU_AXES - 1];
  if (s->groups != 1 || count_output_positions(s) != last->places || s->length != s->depth)
    return 0;
  for (int i = 0; i < VT_GPU_AXES; i++)
    if (!single_tap_reads_no_padding(&s->axis[i])) return 0;
  *out = (vt_gpu_gemm){.a = {.data = s->w, .across = s->w_row, .along = s->w_channel},
                       .b = {.data = s->x,
                             .across = last->stride * last->step,
                             .along = s->x_channel,
                             .step = {s->x_image}},
                       .y = s->y,
                       .y_row = s->y_row,
                       .y_column = last->out,
                       .y_step = {s->y_image},
                       .bias = s->bias,
                       .bias_row = s->bias_step,
                       .m = s->rows,
                       .n = last->places,
                       .k = s->depth,
                       .products = s->images,
                       .dim = {s->images},
                       .rank = 1};
  return 1;
}

static void set_gather_fields(const vt_gpu_direct_conv *s, vt_gpu_conv *v) {
  v->x = s->x;
  v->x_image = s->x_image;
  v->x_group = s->x_group;
  vt_gpu_gather *to = &v->gather;
  to->x_channel = (int32_t)s->x_channel;
  for (int i = 0; i < VT_GPU_AXES; i++) {
    const vt_gpu_direct_conv_axis *a = &s->axis[i];
    to->dim[i] = (int32_t)a->dim;
    to->stride[i] = (int32_t)a->stride;
    to->step[i] = (int32_t)a->step;
    to->base[i] = (int32_t)a->base;
    to->delta[i] = (int32_t)a->delta;
    to->places[i] = (int32_t)a->places;
    to->taps[i] = (int32_t)a->taps;
  }
}

int vt_cuda_conv_describe_tiled(const vt_cuda_call *c, const vt_gpu_direct_conv *s,
                                vt_gpu_conv *out) {
  int64_t along, column;
  if (!s->small || s->rows < LEAST_ROWS || !merged_weight_stride(s, &along) ||
      !merged_output_stride(s, &column))
    return 0;
  for (int i = 0; i < VT_GPU_AXES; i++)
    if (s->axis[i].classes != 0) return 0;
  *out = (vt_gpu_conv){.g = {.a = {.data = s->w,
                                   .across = s->w_row,
                                   .along = along,
                                   .step = {0, s->w_group},
                                   .by_k = s->length > 1 && s->w_row != 1},
                             .y = s->y,
                             .y_row = s->y_row,
                             .y_column = column,
                             .y_step = {s->y_image, s->y_group},
                             .bias = s->bias,
                             .bias_row = s->bias_step,
                             .bias_group = s->rows * s->bias_step,
                             .m = s->rows,
                             .n = count_output_positions(s),
                             .k = s->length,
                             .products = s->images * s->groups,
                             .dim = {s->images, s->groups},
                             .rank = 2}};
  set_gather_fields(s, out);
  (void)c;
  return 1;
}

/* ---- estimated time of a variant ---- */

static int64_t blocks_of_k(const vt_gpu_conv *v) { return vt_cuda_ceil_div(v->g.k, VT_GPU_BLOCK); }

static int64_t count_slices_of_k(const vt_gpu_conv *v, const vt_cuda_variant *variant) {
  return variant->slice == 0 ? 1 : vt_cuda_ceil_div(blocks_of_k(v), variant->slice);
}

static int64_t count_tiles(const vt_gpu_conv *v, const tile *t) {
  return vt_cuda_ceil_div(v->g.m, t->rows) * vt_cuda_ceil_div(v->g.n, t->columns) * v->g.products;
}

/* Estimates the cycles of a variant. Resident thread blocks share a multiprocessor's speed; one
 * block with few warps cannot reach that speed. */
static double variant_cycles(const vt_cuda_traits *traits, const vt_gpu_conv *v,
                             const vt_cuda_variant *variant) {
  const tile *t = &tiles[variant->tile];
  const int64_t slices = count_slices_of_k(v, variant), n = count_tiles(v, t) * slices;
  const int64_t k = slices == 1 ? v->g.k : vt_cuda_min(v->g.k, variant->slice * VT_GPU_BLOCK);
  const double work = (double)(t->rows * t->columns) * (double)k, each = 1.28 * t->speed;
  const int64_t wave = (int64_t)traits->processors * t->resident, rest = n % wave;
  double time = (double)(n / wave) * (t->resident * work / each + 1500);
  if (rest > 0) {
    const double here = (double)vt_cuda_ceil_div(rest, traits->processors);
    const double busy = here * t->threads / 256.0;
    time += here * work / (each * (busy < 1 ? busy : 1)) + 1500;
  }
  if (slices == 1) return time;
  const double results = (double)v->g.products * (double)v->g.m * (double)v->g.n;
  return time + 2500 + 2.0 * (double)slices * results * t->bytes / (10.0 * traits->processors);
}

/* ---- variants ---- */

/* A variant is a tile and a slice of k, which is one block of 256, or 8 or 64 blocks, that is
 * complete groups. */
int vt_cuda_conv_variant_at(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_conv *v,
                            uint32_t index, vt_cuda_variant *out) {
  static const int64_t slices[] = {0, 1, VT_GPU_GROUP, VT_GPU_GROUP * VT_GPU_GROUP};
  for (uint32_t t = 0; t < TILES; t++)
    for (uint32_t u = 0; u < sizeof slices / sizeof *slices; u++) {
      const vt_cuda_variant variant = {.tile = t, .slice = slices[u]};
      const int64_t n = count_slices_of_k(v, &variant);
      if (tiles[t].bytes != vt_cuda_bytes_of(dtype) || tiles[t].shared > traits->shared) continue;
      if ((u > 0 && (n < 2 || n > MAX_SLICES)) || count_tiles(v, &tiles[t]) > INT32_MAX) continue;
      if (index-- == 0) {
        *out = variant;
        return 1;
      }
    }
  return 0;
}

static vt_cuda_variant choose_variant(const vt_cuda_call *c, const vt_gpu_conv *v) {
  vt_cuda_variant best = {0}, variant;
  double least = -1;
  for (uint32_t i = 0; vt_cuda_conv_variant_at(c->traits, c->out->dtype, v, i, &variant); i++) {
    const double cost = variant_cycles(c->traits, v, &variant);
    if (least < 0 || cost < least) {
      best = variant;
      least = cost;
    }
  }
  return best;
}

/* Returns how many levels of sums are stored in scratch: all but the first and the last. */
static int64_t count_stored_levels(const vt_gpu_conv *v, const vt_cuda_variant *variant) {
  int64_t top = 0;
  for (int64_t most = VT_GPU_GROUP; most < blocks_of_k(v); most *= VT_GPU_GROUP) top++;
  return variant->slice != 0 || top < 2 ? 0 : top - 1;
}

uint64_t vt_cuda_conv_variant_scratch(uint32_t dtype, const vt_gpu_conv *v,
                                      const vt_cuda_variant *variant) {
  const uint64_t bytes = vt_cuda_bytes_of(dtype), slices = (uint64_t)count_slices_of_k(v, variant);
  const tile *t = &tiles[variant->tile];
  if (slices > 1) return slices * (uint64_t)(v->g.products * v->g.m * v->g.n) * bytes;
  return (uint64_t)(count_tiles(v, t) * count_stored_levels(v, variant) * t->rows * t->columns) *
         bytes;
}

/* ---- launches ---- */

/* Sets y_wide: results are stored 16 bytes at a time if all rows are aligned and whole. */
static void decide_wide_stores(vt_gpu_conv *v, uint32_t dtype) {
  vt_gpu_gemm *g = &v->g;
  const int64_t each = 16 / (int64_t)vt_cuda_bytes_of(dtype);
  g->y_wide = g->y_column == 1 && g->n % each == 0 && g->y_row % each == 0 &&
              g->y_step[0] % each == 0 && g->y_step[1] % each == 0 && (uintptr_t)g->y % 16 == 0;
}

vt_status vt_cuda_conv_run_variant(vt_cuda_call *c, const vt_gpu_conv *v,
                                   const vt_cuda_variant *variant) {
  const tile *t = &tiles[variant->tile];
  const int64_t slices = count_slices_of_k(v, variant);
  vt_gpu_conv now = *v;
  now.g.slice = variant->slice == 0 ? v->g.k : variant->slice * VT_GPU_BLOCK;
  now.g.levels = c->work;
  now.g.tiles_m = (uint32_t)vt_cuda_ceil_div(v->g.m, t->rows);
  now.g.tiles_n = (uint32_t)vt_cuda_ceil_div(v->g.n, t->columns);
  if (slices > 1) vt_cuda_gemm_redirect_to_partials(&now.g, c->work);
  decide_wide_stores(&now, c->out->dtype);
  const vt_cuda_grid grid = {(uint32_t)count_tiles(v, t), (uint32_t)slices, 1, t->threads,
                             t->shared};
  if (slices == 1) return vt_cuda_launch_product(c, t->kernel, grid, &now, sizeof now);
  VT_TRY(vt_cuda_launch(c, t->kernel, grid, &now));
  return vt_cuda_gemm_sum_slices(c, c->out->dtype, &v->g, now.g.slice, c->work);
}

uint64_t vt_cuda_conv_scratch(const vt_cuda_call *c, const vt_gpu_conv *v) {
  const vt_cuda_variant variant = choose_variant(c, v);
  return vt_cuda_conv_variant_scratch(c->out->dtype, v, &variant);
}

uint32_t vt_cuda_conv_result_kernel(const vt_cuda_call *c, const vt_gpu_conv *v) {
  const vt_cuda_variant variant = choose_variant(c, v);
  return count_slices_of_k(v, &variant) > 1 ? vt_cuda_gemm_sum_kernel(c->out->dtype)
                                            : tiles[variant.tile].kernel;
}

vt_status vt_cuda_conv_run(vt_cuda_call *c, const vt_gpu_conv *v) {
  const vt_cuda_variant variant = choose_variant(c, v);
  return vt_cuda_conv_run_variant(c, v, &variant);
}
