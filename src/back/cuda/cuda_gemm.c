/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm.c - matrix products: chooses the tile, whether b is transposed first, and whether k
 * is cut into slices whose partial results are added afterwards. All choices minimize an estimate
 * of the time. A slice of k is some blocks of 256 k; a thin tile has at most 16 rows; across and
 * along are the directions across k and along k. */
#include "cuda_epilogue.h"

enum {
  MAX_SLICES = 65535,
  MAX_X = INT32_MAX
}; /* MAX_SLICES and MAX_X: most thread blocks of a grid along y and along x */
enum {
  SKINNY_RESIDENT = 6, /* resident blocks of the kernels skinny_... per multiprocessor */
  /* a transposed copy of b may take 1/TRANSPOSED_SHARE of the card's memory */
  TRANSPOSED_SHARE = 16
};

/* The layout that a loader of gpu_gemm.cuh needs. */
typedef enum layout { any, along, across } layout;

typedef struct tile {
  uint32_t kernel, bytes;
  int64_t rows, columns, step;
  uint32_t threads, shared, resident, speed;
  layout a, b;
} tile;

/* Elements of padding per line of a stage in shared memory; a loader that writes across k needs
 * none. */
#define PADDING(type, has_layout) ((has_layout) == across ? 0 : 16 / sizeof(type))
#define STAGE_BYTES(type, bm, bn, bk, a_layout, b_layout) \
  ((bk) * ((bm) + PADDING(type, a_layout) + (bn) + PADDING(type, b_layout)) * sizeof(type))
static const tile tiles[] = {
#define VT_TILE(name, type, bm, bn, bk, tm, tn, stages, resident, speed, a_layout, b_layout) \
  {VT_GPU_##name,                                                                            \
   sizeof(type),                                                                             \
   bm,                                                                                       \
   bn,                                                                                       \
   bk,                                                                                       \
   (bm) / (tm) * ((bn) / (tn)),                                                              \
   (uint32_t)((stages)*STAGE_BYTES(type, bm, bn, bk, a_layout, b_layout) +                   \
              (size_t)(bm) * (bn) * sizeof(type)),                                           \
   resident,                                                                                 \
   speed,                                                                                    \
   a_layout,                                                                                 \
   b_layout},
#include "tiles.def"
#undef VT_TILE
};
enum { TILES = (int)(sizeof tiles / sizeof *tiles) };

static int64_t blocks_of_k(const vt_gpu_gemm *g) { return vt_cuda_ceil_div(g->k, VT_GPU_BLOCK); }

static int64_t count_slices_of_k(const vt_gpu_gemm *g, const vt_cuda_variant *variant) {
  return variant->slice == 0 ? 1 : vt_cuda_max(1, vt_cuda_ceil_div(blocks_of_k(g), variant->slice));
}

static int64_t count_tiles(const vt_gpu_gemm *g, const tile *t) {
  return vt_cuda_ceil_div(g->m, t->rows) * vt_cuda_ceil_div(g->n, t->columns) * g->products;
}

/* ---- the transposed copy of b: [k][columns], each line padded to whole vectors ---- */

static int64_t transposed_line_elements(const vt_gpu_gemm *g, int64_t element_bytes) {
  return vt_cuda_ceil_div(g->n, 16 / element_bytes) * (16 / element_bytes);
}

/* Returns the number of transposed copies: products that share b share its copy. */
static int64_t count_transposed_copies(const vt_gpu_gemm *g) {
  int64_t n = 1;
  for (uint32_t i = 0; i < g->rank; i++) n *= g->b.step[i] == 0 ? 1 : g->dim[i];
  return n;
}
static int64_t transposed_bytes(const vt_gpu_gemm *g, int64_t element_bytes) {
  return (int64_t)vt_cuda_align_up(
      (uint64_t)(count_transposed_copies(g) * g->k * transposed_line_elements(g, element_bytes) *
                 element_bytes));
}

static uint64_t transposed_scratch(uint32_t dtype, const vt_gpu_gemm *g,
                                   const vt_cuda_variant *variant) {
  return variant->transpose_b ? (uint64_t)transposed_bytes(g, vt_cuda_bytes_of(dtype)) : 0;
}

static vt_gpu_side transposed_side(const vt_gpu_gemm *g, int64_t element_bytes, void *data) {
  vt_gpu_side s = {.data = data,
                   .across = 1,
                   .along = transposed_line_elements(g, element_bytes),
                   .by_k = 0,
                   .wide = 1};
  int64_t step = g->k * s.along;
  for (uint32_t i = g->rank; i-- > 0;) {
    if (g->b.step[i] == 0) continue;
    s.step[i] = step;
    step *= g->dim[i];
  }
  return s;
}

/* A view of b, with k lines of n numbers for each product that has its own b. */
static vt_view view_of_b(const vt_gpu_gemm *g, uint32_t dtype, const vt_gpu_side *side) {
  vt_view v = {.dtype = dtype, .rank = g->rank + 2, .data = (void *)(uintptr_t)side->data};
  for (uint32_t i = 0; i < g->rank; i++) {
    v.dim[i] = side->step[i] == 0 ? 1 : g->dim[i];
    v.stride[i] = side->step[i];
  }
  v.dim[g->rank] = g->k;
  v.stride[g->rank] = side->along;
  v.dim[g->rank + 1] = g->n;
  v.stride[g->rank + 1] = side->across;
  return v;
}

static vt_status replace_b_by_transpose(vt_cuda_call *c, uint32_t dtype, vt_gpu_gemm *g, void *to) {
  const vt_gpu_side transposed = transposed_side(g, vt_cuda_bytes_of(dtype), to);
  const vt_view now = view_of_b(g, dtype, &g->b), then = view_of_b(g, dtype, &transposed);
  g->b = transposed;
  return vt_cuda_copy_view(c, &then, &now);
}

/* ---- estimated time of a variant ---- */

/* Estimates the cycles of n thread blocks of `work` multiplications each. A multiprocessor with too
 * few warps is slower, but less than proportionally. */
static double launch_cycles(const vt_cuda_traits *traits, const tile *t, int64_t n, double work) {
  /* multiplications per cycle of a multiprocessor; cycles to start a wave of thread blocks */
  const double full = 128.0 * t->speed / 100, start = 1500;
  const int64_t resident = vt_cuda_resident_per_processor(traits, t->shared, t->resident);
  const int64_t wave = traits->processors * resident;
  double time = (double)(n / wave) * ((double)resident * work / full + start);
  if (n % wave > 0) {
    const double here = (double)vt_cuda_ceil_div(n % wave, traits->processors);
    const double busy = 0.45 + 0.55 * here * t->threads / 256.0;
    time += here * work / (full * (busy < 1 ? busy : 1)) + start;
  }
  return time;
}

/* Estimates the cycles of another kernel that reads and writes `bytes`: the copy of b, or the sums
 * of slices. */
static double extra_kernel_cycles(const vt_cuda_traits *traits, double bytes) {
  return 2500 + 2.0 * bytes / (10.0 * traits->processors);
}

static double variant_cycles(const vt_cuda_traits *traits, const vt_gpu_gemm *g,
                             const vt_cuda_variant *variant) {
  const tile *t = &tiles[variant->tile];
  const int64_t slices = count_slices_of_k(g, variant);
  const int64_t k = slices == 1 ? g->k : vt_cuda_min(g->k, variant->slice * VT_GPU_BLOCK);
  const double work = (double)t->rows * (double)t->columns * (double)vt_cuda_max(k, 1);
  double time = launch_cycles(traits, t, count_tiles(g, t) * slices, work);
  if (slices > 1)
    time += extra_kernel_cycles(traits,
                                (double)(slices * g->m) * (double)(g->n * g->products) * t->bytes);
  if (variant->transpose_b)
    time += extra_kernel_cycles(traits, (double)transposed_bytes(g, t->bytes));
  return time;
}

/* ---- operands ---- */

static int64_t absolute(int64_t x) { return x < 0 ? -x : x; }

static int strides_are_multiples(const vt_gpu_gemm *g, const int64_t *strides, int64_t divisor) {
  for (uint32_t i = 0; i < g->rank; i++)
    if (strides[i] % divisor != 0) return 0;
  return 1;
}

/* Decides how an operand of `extent` rows or columns is loaded. */
static void set_side_layout(const vt_gpu_gemm *g, vt_gpu_side *s, int64_t extent,
                            int64_t element_bytes) {
  const int64_t v = 16 / element_bytes;
  s->by_k = extent == 1 || (g->k != 1 && s->across != 1 &&
                            (s->along == 1 || absolute(s->along) < absolute(s->across)));
  const int64_t near = s->by_k ? s->along : s->across, line = s->by_k ? s->across : s->along;
  const int64_t here = s->by_k ? g->k : extent, lines = s->by_k ? extent : g->k;
  s->wide = near == 1 && here % v == 0 && (lines == 1 || line % v == 0) &&
            strides_are_multiples(g, s->step, v) && (uintptr_t)s->data % 16 == 0;
}

static void set_load_layouts(vt_gpu_gemm *g, uint32_t dtype) {
  const int64_t bytes = vt_cuda_bytes_of(dtype), v = 16 / bytes;
  set_side_layout(g, &g->a, g->m, bytes);
  set_side_layout(g, &g->b, g->n, bytes);
  g->y_wide = g->y_column == 1 && g->n % v == 0 && (g->m == 1 || g->y_row % v == 0) &&
              strides_are_multiples(g, g->y_step, v) && (uintptr_t)g->y % 16 == 0;
}

/* Returns the product without its addresses. A variant is chosen from its shape only, because the
 * size of scratch was decided before addresses were known. */
static vt_gpu_gemm without_addresses(const vt_gpu_gemm *g, uint32_t dtype) {
  vt_gpu_gemm s = *g;
  s.a.data = s.b.data = s.y = NULL;
  set_load_layouts(&s, dtype);
  return s;
}

/* ---- variants ---- */

static int is_skinny_product(uint32_t dtype, const vt_gpu_gemm *g) {
  return dtype == VT_DTYPE_F32 && g->m <= VT_GPU_SKINNY && blocks_of_k(g) <= MAX_SLICES;
}

/* Returns 1 if the skinny kernels `variant` (VT_CUDA_STREAM or _BAND) can read operand b of the
 * product. */
static int skinny_kernel_can_read_b(const vt_gpu_gemm *g, uint32_t variant) {
  const int streams = g->b.wide && g->k > 0 && g->k % VT_GPU_BLOCK == 0;
  if (variant == VT_CUDA_STREAM) return streams && g->m <= VT_GPU_STREAM;
  if (variant == VT_CUDA_BAND) return streams && g->b.by_k;
  return 1;
}

static int has_layout(const vt_gpu_side *s, layout how) {
  return how == any || (s->wide != 0 && (s->by_k != 0) == (how == along));
}

static int fills_whole_tiles(const vt_gpu_gemm *g, const tile *t) {
  return (t->a == any || g->m >= t->rows) &&
         (t->b == any || (g->n >= t->columns && g->k > 0 && g->k % t->step == 0));
}

static int tile_fits_product(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g,
                             const tile *t) {
  return t->bytes == vt_cuda_bytes_of(dtype) && t->shared <= traits->shared &&
         has_layout(&g->a, t->a) && fills_whole_tiles(g, t);
}

/* Thin tiles compute skinny products only, and slice k if it has several blocks. So the kernels
 * skinny_... can compute the product with the same scratch if a run's b does not allow the tile's
 * loads. */
static int is_thin(const tile *t) { return t->rows <= VT_GPU_SKINNY; }
static int thin_rule_allows_tile(uint32_t dtype, const vt_gpu_gemm *g, const tile *t,
                                 int64_t slice) {
  return !is_thin(t) || (is_skinny_product(dtype, g) && slice == (blocks_of_k(g) > 1));
}

/* A variant is a tile and a slice of k. The slice is one block of 256, or 8 or 64 blocks: such
 * complete groups may be summed separately without changing the order of the sum. */
int vt_cuda_gemm_variant_at(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g,
                            uint32_t index, vt_cuda_variant *out) {
  static const int64_t slices[] = {0, 1, VT_GPU_GROUP, VT_GPU_GROUP * VT_GPU_GROUP};
  const vt_gpu_gemm shape = without_addresses(g, dtype);
  for (uint32_t t = 0; t < TILES; t++)
    for (uint32_t u = 0; u < sizeof slices / sizeof *slices; u++) {
      const vt_cuda_variant variant = {
          .tile = t, .transpose_b = !has_layout(&shape.b, tiles[t].b), .slice = slices[u]};
      const int64_t n = count_slices_of_k(g, &variant);
      if (!tile_fits_product(traits, dtype, &shape, &tiles[t]) ||
          (u > 0 && (n < 2 || n > MAX_SLICES)))
        continue;
      if (!thin_rule_allows_tile(dtype, g, &tiles[t], slices[u])) continue;
      if (variant.transpose_b &&
          transposed_scratch(dtype, g, &variant) > traits->memory / TRANSPOSED_SHARE)
        continue;
      if (index-- == 0) {
        *out = variant;
        return 1;
      }
    }
  for (uint32_t t = VT_CUDA_SKINNY; is_skinny_product(dtype, g) && t <= VT_CUDA_BAND; t++)
    if (skinny_kernel_can_read_b(&shape, t) && index-- == 0) {
      *out = (vt_cuda_variant){.tile = t, .slice = 1};
      return 1;
    }
  return 0;
}

/* Chooses the variant for a skinny product. If the kernels skinny_... need more thread blocks than
 * the card can hold, it is faster to stream b or to read it by a thin tile. */
static vt_cuda_variant choose_skinny_variant(const vt_cuda_traits *traits, uint32_t dtype,
                                             const vt_gpu_gemm *g) {
  const vt_gpu_gemm shape = without_addresses(g, dtype);
  const int64_t blocks =
      vt_cuda_ceil_div(g->n, VT_GPU_SKINNY_COLUMNS) * g->products * blocks_of_k(g);
  const int large = blocks > SKINNY_RESIDENT * traits->processors;
  vt_cuda_variant variant = {.tile = VT_CUDA_SKINNY, .slice = 1};
  if (!large) return variant;
  if (g->m <= VT_GPU_STREAM) {
    if (skinny_kernel_can_read_b(&shape, VT_CUDA_STREAM)) variant.tile = VT_CUDA_STREAM;
    return variant;
  }
  if (skinny_kernel_can_read_b(&shape, VT_CUDA_BAND)) variant.tile = VT_CUDA_BAND;
  for (uint32_t t = 0; t < TILES; t++)
    if (is_thin(&tiles[t]) && tile_fits_product(traits, dtype, &shape, &tiles[t]) &&
        has_layout(&shape.b, tiles[t].b)) {
      variant.tile = t;
      variant.slice = blocks_of_k(g) > 1;
    }
  return variant;
}

static vt_cuda_variant choose_variant(const vt_cuda_traits *traits, uint32_t dtype,
                                      const vt_gpu_gemm *g) {
  vt_cuda_variant best = {0}, variant;
  double least = -1;
  if (is_skinny_product(dtype, g)) return choose_skinny_variant(traits, dtype, g);
  for (uint32_t i = 0; vt_cuda_gemm_variant_at(traits, dtype, g, i, &variant); i++) {
    const double cost = variant_cycles(traits, g, &variant);
    if (least < 0 || cost < least) {
      best = variant;
      least = cost;
    }
  }
  return best;
}

/* Returns how many levels of sums are stored in scratch: all but the first and the last. */
static int64_t count_stored_levels(const vt_gpu_gemm *g, const vt_cuda_variant *variant) {
  int64_t top = 0;
  for (int64_t most = VT_GPU_GROUP; most < blocks_of_k(g); most *= VT_GPU_GROUP) top++;
  return variant->slice != 0 || top < 2 ? 0 : top - 1;
}

/* Returns the bytes of scratch for partial results of slices, or for levels of sums. */
static uint64_t sums_scratch_bytes(uint32_t dtype, const vt_gpu_gemm *g,
                                   const vt_cuda_variant *variant) {
  const uint64_t bytes = vt_cuda_bytes_of(dtype), slices = (uint64_t)count_slices_of_k(g, variant);
  if (slices > 1) return slices * (uint64_t)(g->products * g->m * g->n) * bytes;
  if (variant->tile >= VT_CUDA_SKINNY) return 0;
  const tile *t = &tiles[variant->tile];
  return (uint64_t)(count_tiles(g, t) * count_stored_levels(g, variant) * t->rows * t->columns) *
         bytes;
}

uint64_t vt_cuda_gemm_variant_scratch(uint32_t dtype, const vt_gpu_gemm *g,
                                      const vt_cuda_variant *variant) {
  return transposed_scratch(dtype, g, variant) + sums_scratch_bytes(dtype, g, variant);
}

/* Returns 1 if the product is computed as y^T = b^T a^T, which turns few columns into few rows. */
int vt_cuda_gemm_runs_transposed(const vt_gpu_gemm *g) {
  return g->n <= VT_GPU_SKINNY && g->m > g->n;
}

static vt_gpu_gemm product_as_computed(const vt_gpu_gemm *g) {
  vt_gpu_gemm t = *g;
  if (!vt_cuda_gemm_runs_transposed(g)) return t;
  t.a = g->b;
  t.b = g->a;
  t.m = g->n;
  t.n = g->m;
  t.y_row = g->y_column;
  t.y_column = g->y_row;
  t.bias_row = g->bias_column;
  t.bias_column = g->bias_row;
  return t;
}

/* ---- slices of k ---- */

void vt_cuda_gemm_redirect_to_partials(vt_gpu_gemm *g, void *partials) {
  int64_t step = g->m * g->n;
  for (uint32_t i = g->rank; i-- > 0; step *= g->dim[i]) g->y_step[i] = step;
  g->y = partials;
  g->y_row = g->n;
  g->y_column = 1;
  g->y_slice = step;
  g->bias = NULL;
}

uint32_t vt_cuda_gemm_sum_kernel(uint32_t dtype) {
  return dtype == VT_DTYPE_F64 ? VT_GPU_sum_slices_f64 : VT_GPU_sum_slices_f32;
}

vt_status vt_cuda_gemm_sum_slices(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                                  int64_t slice, void *partials) {
  vt_gpu_gemm sums = *g;
  sums.partials = partials;
  sums.slice = slice;
  sums.y_slice = g->products * g->m * g->n;
  return vt_cuda_launch_product(c, vt_cuda_gemm_sum_kernel(dtype),
                                vt_cuda_grid_over(c, sums.y_slice, 1, 256), &sums, sizeof sums);
}

/* ---- launches ---- */

/* Returns tile t if the operands' addresses allow its loaders; else a tile that loads any layout
 * and needs no more scratch. */
static const tile *loadable_tile_for(const vt_gpu_gemm *g, const tile *t) {
  if (has_layout(&g->a, t->a) && has_layout(&g->b, t->b)) return t;
  for (uint32_t i = 0; i < TILES; i++)
    if (tiles[i].a == any && tiles[i].b == any && tiles[i].bytes == t->bytes &&
        t->rows % tiles[i].rows == 0 && t->columns % tiles[i].columns == 0)
      return &tiles[i];
  return t;
}

/* Launches `blocks` thread blocks along x, at most `most_per_launch` at a time. If `partial` is 0,
 * the kernel stores results of the product, which may have an epilogue; if it is 1, partial
 * results. */
static vt_status launch_in_parts(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                 int64_t blocks, int64_t most_per_launch, int partial,
                                 vt_gpu_gemm *g) {
  for (g->first = 0; g->first < blocks; g->first += most_per_launch) {
    grid.x = (uint32_t)vt_cuda_min(blocks - g->first, most_per_launch);
    VT_TRY(partial ? vt_cuda_launch(c, kernel, grid, g)
                   : vt_cuda_launch_product(c, kernel, grid, g, sizeof *g));
  }
  return VT_OK;
}

/* A kernel whose thread blocks add the slices of a tile themselves. */
typedef struct slicing_kernel {
  /* kernel number; threads of a block; floats of shared memory of a block */
  uint32_t kernel, threads, floats;
  int64_t columns; /* columns that a thread block computes */
} slicing_kernel;

/* Launches a slicing kernel. One launch has at most as many tiles as the device has counters,
 * because each tile needs one. */
static vt_status launch_slicing_kernel(vt_cuda_call *c, vt_gpu_gemm *g, slicing_kernel k,
                                       int64_t slices) {
  const vt_cuda_grid grid = {1, (uint32_t)slices, 1, k.threads, k.floats * (uint32_t)sizeof(float)};
  g->tiles_m = 1;
  g->tiles_n = (uint32_t)vt_cuda_ceil_div(g->n, k.columns);
  g->partials = slices > 1 ? c->work : NULL;
  g->y_slice = g->products * g->m * g->n;
  g->arrived = slices > 1 ? c->dev->counters : NULL;
  return launch_in_parts(c, k.kernel, grid, g->tiles_n * g->products,
                         slices > 1 ? VT_CUDA_COUNTERS : MAX_X, 0, g);
}

static uint32_t skinny_kernel_rows(const vt_gpu_gemm *g) {
  return g->m <= 4 ? 4 : g->m <= 8 ? 8 : 16;
}

static uint32_t skinny_kernel(const vt_gpu_gemm *g) {
  const uint32_t rows = skinny_kernel_rows(g);
  return rows == 4 ? VT_GPU_skinny_4 : rows == 8 ? VT_GPU_skinny_8 : VT_GPU_skinny_16;
}

static vt_status launch_skinny(vt_cuda_call *c, vt_gpu_gemm *g, int64_t slices) {
  const uint32_t rows = skinny_kernel_rows(g);
  const slicing_kernel k = {
      .kernel = skinny_kernel(g),
      .threads = VT_GPU_SKINNY_THREADS,
      .floats = rows * VT_GPU_BLOCK + VT_GPU_SKINNY_COLUMNS * VT_GPU_SKINNY_PITCH,
      .columns = VT_GPU_SKINNY_COLUMNS};
  return launch_slicing_kernel(c, g, k, slices);
}

static uint32_t stream_kernel(const vt_gpu_gemm *g) {
  if (g->m == 1) return g->b.by_k ? VT_GPU_stream_along_1 : VT_GPU_stream_across_1;
  return g->b.by_k ? VT_GPU_stream_along_4 : VT_GPU_stream_across_4;
}

static vt_status launch_stream(vt_cuda_call *c, vt_gpu_gemm *g, int64_t slices) {
  const uint32_t rows = g->m == 1 ? 1 : VT_GPU_STREAM;
  if (!g->b.wide) return launch_skinny(c, g, slices);
  const slicing_kernel k = {
      .kernel = stream_kernel(g),
      .threads = VT_GPU_STREAM_THREADS,
      .floats = rows * VT_GPU_BLOCK + (g->b.by_k ? VT_GPU_STREAM_FLOATS : 0),
      .columns = g->b.by_k ? VT_GPU_STREAM_THREADS : 2 * VT_GPU_STREAM_THREADS};
  return launch_slicing_kernel(c, g, k, slices);
}

/* Launches the kernel band_..., and another kernel that adds the slices, because they are more than
 * one thread block should add. */
static vt_status launch_band(vt_cuda_call *c, vt_gpu_gemm *g, int64_t slices) {
  const vt_cuda_grid grid = {1, (uint32_t)slices, 1, VT_GPU_STREAM_THREADS,
                             VT_GPU_BAND_FLOATS * (uint32_t)sizeof(float)};
  if (!g->b.wide || !g->b.by_k) return launch_skinny(c, g, slices);
  g->tiles_m = 1;
  g->tiles_n = (uint32_t)vt_cuda_ceil_div(g->n, VT_GPU_STREAM_THREADS);
  g->partials = slices > 1 ? c->work : NULL;
  g->y_slice = g->products * g->m * g->n;
  g->arrived = NULL;
  /* the kernel numbers thread blocks in 32 bits */
  const int64_t most = vt_cuda_min(MAX_X, UINT32_MAX / slices);
  VT_TRY(
      launch_in_parts(c, VT_GPU_band_along, grid, g->tiles_n * g->products, most, slices > 1, g));
  return slices > 1 ? vt_cuda_gemm_sum_slices(c, VT_DTYPE_F32, g, g->slice, c->work) : VT_OK;
}

static vt_status launch_tiles(vt_cuda_call *c, vt_gpu_gemm *g, const tile *chosen, int64_t slices) {
  const tile *t = loadable_tile_for(g, chosen);
  g->tiles_m = (uint32_t)vt_cuda_ceil_div(g->m, t->rows);
  g->tiles_n = (uint32_t)vt_cuda_ceil_div(g->n, t->columns);
  return launch_in_parts(c, t->kernel,
                         (vt_cuda_grid){1, (uint32_t)slices, 1, t->threads, t->shared},
                         count_tiles(g, t), MAX_X, slices > 1, g);
}

/* Returns 1 if the variant is a thin tile that cannot load b, because b's address is less aligned
 * than its strides promised. */
static int thin_tile_cannot_load(uint32_t dtype, const vt_gpu_gemm *g,
                                 const vt_cuda_variant *variant) {
  vt_gpu_gemm now = *g;
  if (variant->tile >= VT_CUDA_SKINNY || !is_thin(&tiles[variant->tile]) || variant->transpose_b)
    return 0;
  set_load_layouts(&now, dtype);
  return !has_layout(&now.b, tiles[variant->tile].b);
}

vt_status vt_cuda_gemm_run_variant(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                                   const vt_cuda_variant *variant) {
  static const vt_cuda_variant skinny = {.tile = VT_CUDA_SKINNY, .slice = 1};
  if (thin_tile_cannot_load(dtype, g, variant)) variant = &skinny;
  const int64_t slices = count_slices_of_k(g, variant);
  vt_gpu_gemm now = *g;
  if (g->m == 0 || g->n == 0 || g->products == 0) return VT_OK;
  void *sums = c->work == NULL ? NULL : (char *)c->work + transposed_scratch(dtype, g, variant);
  now.slice = variant->slice == 0 ? g->k : variant->slice * VT_GPU_BLOCK;
  now.levels = sums;
  if (slices > 1 && variant->tile < VT_CUDA_SKINNY) vt_cuda_gemm_redirect_to_partials(&now, sums);
  set_load_layouts(&now, dtype);
  if (variant->transpose_b) VT_TRY(replace_b_by_transpose(c, dtype, &now, c->work));
  if (variant->tile == VT_CUDA_SKINNY) return launch_skinny(c, &now, slices);
  if (variant->tile == VT_CUDA_STREAM) return launch_stream(c, &now, slices);
  if (variant->tile == VT_CUDA_BAND) return launch_band(c, &now, slices);
  VT_TRY(launch_tiles(c, &now, &tiles[variant->tile], slices));
  return slices > 1 ? vt_cuda_gemm_sum_slices(c, dtype, g, now.slice, sums) : VT_OK;
}

/* Returns the kernel that is chosen by the shapes; a run may use another kernel if operands are not
 * aligned. */
uint32_t vt_cuda_gemm_result_kernel(const vt_cuda_traits *traits, uint32_t dtype,
                                    const vt_gpu_gemm *g) {
  const vt_gpu_gemm flip = product_as_computed(g), t = without_addresses(&flip, dtype);
  const vt_cuda_variant variant = choose_variant(traits, dtype, &t);
  if (variant.tile == VT_CUDA_SKINNY) return skinny_kernel(&t);
  if (variant.tile == VT_CUDA_STREAM) return stream_kernel(&t);
  if (count_slices_of_k(&t, &variant) > 1) return vt_cuda_gemm_sum_kernel(dtype);
  return variant.tile == VT_CUDA_BAND ? VT_GPU_band_along : tiles[variant.tile].kernel;
}

uint64_t vt_cuda_gemm_scratch(const vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm t = product_as_computed(g);
  const vt_cuda_variant variant = choose_variant(c->traits, dtype, &t);
  return vt_cuda_gemm_variant_scratch(dtype, &t, &variant);
}

vt_status vt_cuda_gemm_run(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm t = product_as_computed(g);
  const vt_cuda_variant variant = choose_variant(c->traits, dtype, &t);
  return vt_cuda_gemm_run_variant(c, dtype, &t, &variant);
}
