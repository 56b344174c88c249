/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm.c - matrix products: chooses the tile, whether b is transposed first, and whether k is
 * cut into slices whose partial results are added afterwards. All choices minimize an estimate of
 * the time. */
#include "cuda_epilogue.h"

enum { UNITS = 65535, CHUNK = INT32_MAX }; /* most thread blocks of a grid along y, and along x */
enum {
  FEW_BESIDE = 6, /* resident blocks of the kernels few_... per multiprocessor */
  TURNED = 16     /* a transposed copy of b may take 1/TURNED of the card's memory */
};

/* The layout that a loader of gpu_gemm.cuh needs. */
typedef enum coming { any, along, across } coming;

typedef struct tile {
  uint32_t kernel, bytes;
  int64_t rows, columns, step;
  uint32_t threads, shared, beside, speed;
  coming a, b;
} tile;

/* Padding per line of a stage: none if the loader writes across k. */
#define APART(type, comes) ((comes) == across ? 0 : 16 / sizeof(type))
#define STAGE_BYTES(type, bm, bn, bk, a_comes, b_comes) \
  ((bk) * ((bm) + APART(type, a_comes) + (bn) + APART(type, b_comes)) * sizeof(type))
static const tile tiles[] = {
#define VT_TILE(name, type, bm, bn, bk, tm, tn, stages, beside, speed, a_comes, b_comes) \
  {VT_GPU_##name,                                                                        \
   sizeof(type),                                                                         \
   bm,                                                                                   \
   bn,                                                                                   \
   bk,                                                                                   \
   (bm) / (tm) * ((bn) / (tn)),                                                          \
   (uint32_t)((stages)*STAGE_BYTES(type, bm, bn, bk, a_comes, b_comes) +                 \
              (size_t)(bm) * (bn) * sizeof(type)),                                       \
   beside,                                                                               \
   speed,                                                                                \
   a_comes,                                                                              \
   b_comes},
#include "tiles.def"
#undef VT_TILE
};
enum { TILES = (int)(sizeof tiles / sizeof *tiles) };

static int64_t blocks_of(const vt_gpu_gemm *g) { return vt_cuda_parts(g->k, VT_GPU_BLOCK); }

static int64_t units_of(const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  return way->unit == 0 ? 1 : vt_cuda_most(1, vt_cuda_parts(blocks_of(g), way->unit));
}

static int64_t tiles_of(const vt_gpu_gemm *g, const tile *t) {
  return vt_cuda_parts(g->m, t->rows) * vt_cuda_parts(g->n, t->columns) * g->products;
}

/* ---- the transposed copy of b: [k][columns], each line padded to whole vectors ---- */

static int64_t turned_line(const vt_gpu_gemm *g, int64_t bytes) {
  return vt_cuda_parts(g->n, 16 / bytes) * (16 / bytes);
}

/* Number of copies: products that share b share its copy. */
static int64_t turned_copies(const vt_gpu_gemm *g) {
  int64_t n = 1;
  for (uint32_t i = 0; i < g->rank; i++) n *= g->b.step[i] == 0 ? 1 : g->dim[i];
  return n;
}
static int64_t turned_bytes(const vt_gpu_gemm *g, int64_t bytes) {
  return (int64_t)vt_cuda_aligned(
      (uint64_t)(turned_copies(g) * g->k * turned_line(g, bytes) * bytes));
}

static uint64_t turned_work(uint32_t dtype, const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  return way->turn ? (uint64_t)turned_bytes(g, vt_cuda_bytes_of(dtype)) : 0;
}

static vt_gpu_side turned_side(const vt_gpu_gemm *g, int64_t bytes, void *data) {
  vt_gpu_side s = {.data = data, .across = 1, .along = turned_line(g, bytes), .by_k = 0, .wide = 1};
  int64_t step = g->k * s.along;
  for (uint32_t i = g->rank; i-- > 0;) {
    if (g->b.step[i] == 0) continue;
    s.step[i] = step;
    step *= g->dim[i];
  }
  return s;
}

/* A view of b, with k lines of n numbers for each product that has its own b. */
static vt_view view_of_b(const vt_gpu_gemm *g, uint32_t dtype, const vt_gpu_side *s) {
  vt_view v = {.dtype = dtype, .rank = g->rank + 2, .data = (void *)(uintptr_t)s->data};
  for (uint32_t i = 0; i < g->rank; i++) {
    v.dim[i] = s->step[i] == 0 ? 1 : g->dim[i];
    v.stride[i] = s->step[i];
  }
  v.dim[g->rank] = g->k;
  v.stride[g->rank] = s->along;
  v.dim[g->rank + 1] = g->n;
  v.stride[g->rank + 1] = s->across;
  return v;
}

static vt_status turn_over(vt_cuda_call *c, uint32_t dtype, vt_gpu_gemm *g, void *to) {
  const vt_gpu_side turned = turned_side(g, vt_cuda_bytes_of(dtype), to);
  const vt_view now = view_of_b(g, dtype, &g->b), then = view_of_b(g, dtype, &turned);
  g->b = turned;
  return vt_cuda_copy_view(c, &then, &now);
}

/* ---- estimated time of a variant ---- */

/* Estimates the cycles of n thread blocks of `work` multiplications each. A multiprocessor with too
 * few warps is slower, but less than proportionally. */
static double time_of(const vt_cuda_traits *traits, const tile *t, int64_t n, double work) {
  /* multiplications per cycle; cycles to start a wave */
  const double full = 128.0 * t->speed / 100, start = 1500;
  const int64_t beside = vt_cuda_resident(traits, t->shared, t->beside);
  const int64_t wave = traits->processors * beside;
  double time = (double)(n / wave) * ((double)beside * work / full + start);
  if (n % wave > 0) {
    const double here = (double)vt_cuda_parts(n % wave, traits->processors);
    const double busy = 0.45 + 0.55 * here * t->threads / 256.0;
    time += here * work / (full * (busy < 1 ? busy : 1)) + start;
  }
  return time;
}

/* Estimates the cycles of another kernel that reads and writes `bytes`: the copy of b, or the sums
 * of slices. */
static double pass_of(const vt_cuda_traits *traits, double bytes) {
  return 2500 + 2.0 * bytes / (10.0 * traits->processors);
}

static double cost_of(const vt_cuda_traits *traits, const vt_gpu_gemm *g,
                      const vt_cuda_variant *way) {
  const tile *t = &tiles[way->tile];
  const int64_t units = units_of(g, way);
  const int64_t k = units == 1 ? g->k : vt_cuda_least(g->k, way->unit * VT_GPU_BLOCK);
  const double work = (double)t->rows * (double)t->columns * (double)vt_cuda_most(k, 1);
  double time = time_of(traits, t, tiles_of(g, t) * units, work);
  if (units > 1)
    time += pass_of(traits, (double)(units * g->m) * (double)(g->n * g->products) * t->bytes);
  if (way->turn) time += pass_of(traits, (double)turned_bytes(g, t->bytes));
  return time;
}

/* ---- operands ---- */

static int64_t size(int64_t x) { return x < 0 ? -x : x; }

static int steps_fit(const vt_gpu_gemm *g, const int64_t *step, int64_t v) {
  for (uint32_t i = 0; i < g->rank; i++)
    if (step[i] % v != 0) return 0;
  return 1;
}

/* Decides how an operand of `n` rows or columns is loaded. */
static void read_side(const vt_gpu_gemm *g, vt_gpu_side *s, int64_t n, int64_t bytes) {
  const int64_t v = 16 / bytes;
  s->by_k = n == 1 ||
            (g->k != 1 && s->across != 1 && (s->along == 1 || size(s->along) < size(s->across)));
  const int64_t near = s->by_k ? s->along : s->across, line = s->by_k ? s->across : s->along;
  const int64_t here = s->by_k ? g->k : n, lines = s->by_k ? n : g->k;
  s->wide = near == 1 && here % v == 0 && (lines == 1 || line % v == 0) &&
            steps_fit(g, s->step, v) && (uintptr_t)s->data % 16 == 0;
}

static void prepare(vt_gpu_gemm *g, uint32_t dtype) {
  const int64_t bytes = vt_cuda_bytes_of(dtype), v = 16 / bytes;
  read_side(g, &g->a, g->m, bytes);
  read_side(g, &g->b, g->n, bytes);
  g->y_wide = g->y_column == 1 && g->n % v == 0 && (g->m == 1 || g->y_row % v == 0) &&
              steps_fit(g, g->y_step, v) && (uintptr_t)g->y % 16 == 0;
}

/* The product without addresses. Variants are chosen from it, because scratch was sized before
 * addresses were known. */
static vt_gpu_gemm shape_of(const vt_gpu_gemm *g, uint32_t dtype) {
  vt_gpu_gemm s = *g;
  s.a.data = s.b.data = s.y = NULL;
  prepare(&s, dtype);
  return s;
}

/* ---- variants ---- */

static int is_few(uint32_t dtype, const vt_gpu_gemm *g) {
  return dtype == VT_DTYPE_F32 && g->m <= VT_GPU_FEW && blocks_of(g) <= UNITS;
}

/* Returns 1 if the skinny kernels `which` can read this b. */
static int has_few(const vt_gpu_gemm *g, uint32_t which) {
  const int streams = g->b.wide && g->k > 0 && g->k % VT_GPU_BLOCK == 0;
  if (which == VT_CUDA_STREAM) return streams && g->m <= VT_GPU_STREAM;
  if (which == VT_CUDA_BAND) return streams && g->b.by_k;
  return 1;
}

static int comes(const vt_gpu_side *s, coming how) {
  return how == any || (s->wide != 0 && (s->by_k != 0) == (how == along));
}

static int is_whole(const vt_gpu_gemm *g, const tile *t) {
  return (t->a == any || g->m >= t->rows) &&
         (t->b == any || (g->n >= t->columns && g->k > 0 && g->k % t->step == 0));
}

static int fits(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g, const tile *t) {
  return t->bytes == vt_cuda_bytes_of(dtype) && t->shared <= traits->shared && comes(&g->a, t->a) &&
         is_whole(g, t);
}

/* Thin tiles are for skinny products only, and need a sliced k if it has several blocks: if b turns
 * out unreadable for them at run time, the kernels few_... must be able to take over with the same
 * scratch. */
static int is_thin(const tile *t) { return t->rows <= VT_GPU_FEW; }
static int suits(uint32_t dtype, const vt_gpu_gemm *g, const tile *t, int64_t unit) {
  return !is_thin(t) || (is_few(dtype, g) && unit == (blocks_of(g) > 1));
}

/* A slice of k is one block, or complete groups of 8 or of 64 blocks: their sums may be added
 * separately without changing the order. */
int vt_cuda_gemm_variant(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g,
                         uint32_t i, vt_cuda_variant *out) {
  static const int64_t units[] = {0, 1, VT_GPU_GROUP, VT_GPU_GROUP * VT_GPU_GROUP};
  const vt_gpu_gemm shape = shape_of(g, dtype);
  for (uint32_t t = 0; t < TILES; t++)
    for (uint32_t u = 0; u < sizeof units / sizeof *units; u++) {
      const vt_cuda_variant way = {
          .tile = t, .turn = !comes(&shape.b, tiles[t].b), .unit = units[u]};
      const int64_t n = units_of(g, &way);
      if (!fits(traits, dtype, &shape, &tiles[t]) || (u > 0 && (n < 2 || n > UNITS))) continue;
      if (!suits(dtype, g, &tiles[t], units[u])) continue;
      if (way.turn && turned_work(dtype, g, &way) > traits->memory / TURNED) continue;
      if (i-- == 0) {
        *out = way;
        return 1;
      }
    }
  for (uint32_t t = VT_CUDA_FEW; is_few(dtype, g) && t <= VT_CUDA_BAND; t++)
    if (has_few(&shape, t) && i-- == 0) {
      *out = (vt_cuda_variant){.tile = t, .unit = 1};
      return 1;
    }
  return 0;
}

/* The kernel for a skinny product. If there are more thread blocks than the card can hold, b is
 * better streamed or read by a thin tile. */
static vt_cuda_variant few_way(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm shape = shape_of(g, dtype);
  const int64_t blocks = vt_cuda_parts(g->n, VT_GPU_FEW_COLUMNS) * g->products * blocks_of(g);
  const int large = blocks > FEW_BESIDE * traits->processors;
  vt_cuda_variant way = {.tile = VT_CUDA_FEW, .unit = 1};
  if (!large) return way;
  if (g->m <= VT_GPU_STREAM) {
    if (has_few(&shape, VT_CUDA_STREAM)) way.tile = VT_CUDA_STREAM;
    return way;
  }
  if (has_few(&shape, VT_CUDA_BAND)) way.tile = VT_CUDA_BAND;
  for (uint32_t t = 0; t < TILES; t++)
    if (is_thin(&tiles[t]) && fits(traits, dtype, &shape, &tiles[t]) &&
        comes(&shape.b, tiles[t].b)) {
      way.tile = t;
      way.unit = blocks_of(g) > 1;
    }
  return way;
}

static vt_cuda_variant choose(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g) {
  vt_cuda_variant best = {0}, way;
  double least = -1;
  if (is_few(dtype, g)) return few_way(traits, dtype, g);
  for (uint32_t i = 0; vt_cuda_gemm_variant(traits, dtype, g, i, &way); i++) {
    const double cost = cost_of(traits, g, &way);
    if (least < 0 || cost < least) {
      best = way;
      least = cost;
    }
  }
  return best;
}

/* Levels of sums that are stored in scratch: all but the first and the last. */
static int64_t levels_of(const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  int64_t top = 0;
  for (int64_t most = VT_GPU_GROUP; most < blocks_of(g); most *= VT_GPU_GROUP) top++;
  return way->unit != 0 || top < 2 ? 0 : top - 1;
}

/* Bytes of scratch for partial results of slices, or for levels of sums. */
static uint64_t sums_work(uint32_t dtype, const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  const uint64_t bytes = vt_cuda_bytes_of(dtype), units = (uint64_t)units_of(g, way);
  if (units > 1) return units * (uint64_t)(g->products * g->m * g->n) * bytes;
  if (way->tile >= VT_CUDA_FEW) return 0;
  const tile *t = &tiles[way->tile];
  return (uint64_t)(tiles_of(g, t) * levels_of(g, way) * t->rows * t->columns) * bytes;
}

uint64_t vt_cuda_variant_work(uint32_t dtype, const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  return turned_work(dtype, g, way) + sums_work(dtype, g, way);
}

/* y^T = b^T a^T: a product with few columns is computed as one with few rows. */
int vt_cuda_gemm_is_turned(const vt_gpu_gemm *g) { return g->n <= VT_GPU_FEW && g->m > g->n; }

static vt_gpu_gemm flipped(const vt_gpu_gemm *g) {
  vt_gpu_gemm t = *g;
  if (!vt_cuda_gemm_is_turned(g)) return t;
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

void vt_cuda_gemm_apart(vt_gpu_gemm *g, void *part) {
  int64_t step = g->m * g->n;
  for (uint32_t i = g->rank; i-- > 0; step *= g->dim[i]) g->y_step[i] = step;
  g->y = part;
  g->y_row = g->n;
  g->y_column = 1;
  g->y_unit = step;
  g->bias = NULL;
}

uint32_t vt_cuda_gemm_summing(uint32_t dtype) {
  return dtype == VT_DTYPE_F64 ? VT_GPU_parts_f64 : VT_GPU_parts_f32;
}

vt_status vt_cuda_gemm_sum(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g, int64_t unit,
                           void *part) {
  vt_gpu_gemm sums = *g;
  sums.part = part;
  sums.unit = unit;
  sums.y_unit = g->products * g->m * g->n;
  return vt_cuda_launch_end(c, vt_cuda_gemm_summing(dtype), vt_cuda_line(c, sums.y_unit, 1, 256),
                            &sums, sizeof sums);
}

/* ---- launches ---- */

/* If the operands' addresses do not allow the loaders of tile t, returns a tile that loads any
 * layout and needs no more scratch. */
static const tile *tile_for(const vt_gpu_gemm *g, const tile *t) {
  if (comes(&g->a, t->a) && comes(&g->b, t->b)) return t;
  for (uint32_t i = 0; i < TILES; i++)
    if (tiles[i].a == any && tiles[i].b == any && tiles[i].bytes == t->bytes &&
        t->rows % tiles[i].rows == 0 && t->columns % tiles[i].columns == 0)
      return &tiles[i];
  return t;
}

/* Launches at most `most` blocks along x at a time. The results are those of the product, which may
 * have an epilogue, unless `parts` says that they are partial results. */
static vt_status launch_all(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid, int64_t blocks,
                            int64_t most, int parts, vt_gpu_gemm *g) {
  for (g->first = 0; g->first < blocks; g->first += most) {
    grid.x = (uint32_t)vt_cuda_least(blocks - g->first, most);
    VT_TRY(parts ? vt_cuda_launch(c, kernel, grid, g)
                 : vt_cuda_launch_end(c, kernel, grid, g, sizeof *g));
  }
  return VT_OK;
}

/* Launches a kernel that adds its slices itself. A launch has at most as many tiles as the device
 * has counters. */
static vt_status launch_parts(vt_cuda_call *c, vt_gpu_gemm *g, uint32_t kernel, int64_t columns,
                              int64_t units, uint32_t threads, uint32_t floats) {
  const vt_cuda_grid grid = {1, (uint32_t)units, 1, threads, floats * (uint32_t)sizeof(float)};
  g->tiles_m = 1;
  g->tiles_n = (uint32_t)vt_cuda_parts(g->n, columns);
  g->part = units > 1 ? c->work : NULL;
  g->y_unit = g->products * g->m * g->n;
  g->arrived = units > 1 ? c->dev->counters : NULL;
  return launch_all(c, kernel, grid, g->tiles_n * g->products, units > 1 ? VT_CUDA_COUNTERS : CHUNK,
                    0, g);
}

static uint32_t few_rows(const vt_gpu_gemm *g) { return g->m <= 4 ? 4 : g->m <= 8 ? 8 : 16; }

static uint32_t few_kernel(const vt_gpu_gemm *g) {
  const uint32_t rows = few_rows(g);
  return rows == 4 ? VT_GPU_few_4 : rows == 8 ? VT_GPU_few_8 : VT_GPU_few_16;
}

static vt_status launch_few(vt_cuda_call *c, vt_gpu_gemm *g, int64_t units) {
  const uint32_t rows = few_rows(g);
  return launch_parts(c, g, few_kernel(g), VT_GPU_FEW_COLUMNS, units, VT_GPU_FEW_THREADS,
                      rows * VT_GPU_BLOCK + VT_GPU_FEW_COLUMNS * VT_GPU_FEW_PITCH);
}

static uint32_t stream_kernel(const vt_gpu_gemm *g) {
  if (g->m == 1) return g->b.by_k ? VT_GPU_stream_along_1 : VT_GPU_stream_across_1;
  return g->b.by_k ? VT_GPU_stream_along_4 : VT_GPU_stream_across_4;
}

static vt_status launch_stream(vt_cuda_call *c, vt_gpu_gemm *g, int64_t units) {
  const uint32_t rows = g->m == 1 ? 1 : VT_GPU_STREAM;
  if (!g->b.wide) return launch_few(c, g, units);
  return g->b.by_k ? launch_parts(c, g, stream_kernel(g), VT_GPU_STREAM_THREADS, units,
                                  VT_GPU_STREAM_THREADS, rows * VT_GPU_BLOCK + VT_GPU_STREAM_ROOM)
                   : launch_parts(c, g, stream_kernel(g), 2 * VT_GPU_STREAM_THREADS, units,
                                  VT_GPU_STREAM_THREADS, rows * VT_GPU_BLOCK);
}

/* The slices are added by another kernel, because there are more than one thread block should add.
 */
static vt_status launch_band(vt_cuda_call *c, vt_gpu_gemm *g, int64_t units) {
  const vt_cuda_grid grid = {1, (uint32_t)units, 1, VT_GPU_STREAM_THREADS,
                             VT_GPU_BAND_ROOM * (uint32_t)sizeof(float)};
  if (!g->b.wide || !g->b.by_k) return launch_few(c, g, units);
  g->tiles_m = 1;
  g->tiles_n = (uint32_t)vt_cuda_parts(g->n, VT_GPU_STREAM_THREADS);
  g->part = units > 1 ? c->work : NULL;
  g->y_unit = g->products * g->m * g->n;
  g->arrived = NULL;
  /* blocks are numbered in 32 bits */
  const int64_t most = vt_cuda_least(CHUNK, UINT32_MAX / units);
  VT_TRY(launch_all(c, VT_GPU_band_along, grid, g->tiles_n * g->products, most, units > 1, g));
  return units > 1 ? vt_cuda_gemm_sum(c, VT_DTYPE_F32, g, g->unit, c->work) : VT_OK;
}

static vt_status launch_tiles(vt_cuda_call *c, vt_gpu_gemm *g, const tile *chosen, int64_t units) {
  const tile *t = tile_for(g, chosen);
  g->tiles_m = (uint32_t)vt_cuda_parts(g->m, t->rows);
  g->tiles_n = (uint32_t)vt_cuda_parts(g->n, t->columns);
  return launch_all(c, t->kernel, (vt_cuda_grid){1, (uint32_t)units, 1, t->threads, t->shared},
                    tiles_of(g, t), CHUNK, units > 1, g);
}

/* Returns 1 if a thin tile cannot load b, because its address is not aligned as its shape promised.
 */
static int is_thwarted(uint32_t dtype, const vt_gpu_gemm *g, const vt_cuda_variant *way) {
  vt_gpu_gemm now = *g;
  if (way->tile >= VT_CUDA_FEW || !is_thin(&tiles[way->tile]) || way->turn) return 0;
  prepare(&now, dtype);
  return !comes(&now.b, tiles[way->tile].b);
}

vt_status vt_cuda_gemm_by(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                          const vt_cuda_variant *way) {
  static const vt_cuda_variant few = {.tile = VT_CUDA_FEW, .unit = 1};
  if (is_thwarted(dtype, g, way)) way = &few;
  const int64_t units = units_of(g, way);
  vt_gpu_gemm now = *g;
  if (g->m == 0 || g->n == 0 || g->products == 0) return VT_OK;
  void *sums = c->work == NULL ? NULL : (char *)c->work + turned_work(dtype, g, way);
  now.unit = way->unit == 0 ? g->k : way->unit * VT_GPU_BLOCK;
  now.levels = sums;
  if (units > 1 && way->tile < VT_CUDA_FEW) vt_cuda_gemm_apart(&now, sums);
  prepare(&now, dtype);
  if (way->turn) VT_TRY(turn_over(c, dtype, &now, c->work));
  if (way->tile == VT_CUDA_FEW) return launch_few(c, &now, units);
  if (way->tile == VT_CUDA_STREAM) return launch_stream(c, &now, units);
  if (way->tile == VT_CUDA_BAND) return launch_band(c, &now, units);
  VT_TRY(launch_tiles(c, &now, &tiles[way->tile], units));
  return units > 1 ? vt_cuda_gemm_sum(c, dtype, g, now.unit, sums) : VT_OK;
}

/* The kernel that is expected from shapes; a run may take another if operands are not aligned. */
uint32_t vt_cuda_gemm_kernel(const vt_cuda_traits *traits, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm flip = flipped(g), t = shape_of(&flip, dtype);
  const vt_cuda_variant way = choose(traits, dtype, &t);
  if (way.tile == VT_CUDA_FEW) return few_kernel(&t);
  if (way.tile == VT_CUDA_STREAM) return stream_kernel(&t);
  if (units_of(&t, &way) > 1) return vt_cuda_gemm_summing(dtype);
  return way.tile == VT_CUDA_BAND ? VT_GPU_band_along : tiles[way.tile].kernel;
}

uint64_t vt_cuda_gemm_work(const vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm t = flipped(g);
  const vt_cuda_variant way = choose(c->traits, dtype, &t);
  return vt_cuda_variant_work(dtype, &t, &way);
}

vt_status vt_cuda_gemm(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g) {
  const vt_gpu_gemm t = flipped(g);
  const vt_cuda_variant way = choose(c->traits, dtype, &t);
  return vt_cuda_gemm_by(c, dtype, &t, &way);
}
