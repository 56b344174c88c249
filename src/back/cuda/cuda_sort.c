/* SPDX-License-Identifier: Apache-2.0
 * cuda_sort.c - sort, argsort and top_k. A value becomes a key, an unsigned integer that is
 * ordered as requested, with the value's index beside it: no two records are equal, so every
 * algorithm gives the same order. A thread block sorts a short line. If only a short head of a
 * long line is wanted, the heads of its tiles are sorted again; else the line is sorted by
 * digits. A tile is the records that one thread block sorts; the head of a line or tile is its
 * first records in order. */
#include "cuda_sort.h"
#include "cuda_walk.h"

/* ---- records ---- */

int vt_cuda_records_are_wide(int key_bits, int64_t n) {
  return key_bits > 32 || n >= (int64_t)UINT32_MAX;
}

static uint64_t bytes_per_record(int wide) {
  return wide ? sizeof(vt_gpu_record) : sizeof(uint64_t);
}

static uint64_t all_records_bytes(const vt_cuda_records *r) {
  return vt_cuda_align_up((uint64_t)r->count * (uint64_t)r->n * bytes_per_record(r->wide));
}

static uint64_t digit_counts_bytes(const vt_cuda_records *r) {
  const int64_t tiles = vt_cuda_ceil_div(r->n, VT_GPU_RADIX_TILE);
  return vt_cuda_align_up((uint64_t)(r->count * VT_GPU_DIGITS * tiles) * sizeof(uint64_t));
}

/* Returns 1 if one thread block can sort a whole line. */
static int line_fits_block(const vt_cuda_records *r) { return r->n <= VT_GPU_SLOTS; }

uint64_t vt_cuda_records_scratch(const vt_cuda_records *r) {
  if (line_fits_block(r)) return all_records_bytes(r);
  const uint64_t totals = (uint64_t)r->count * VT_GPU_DIGITS * sizeof(uint64_t);
  return 2 * all_records_bytes(r) + digit_counts_bytes(r) + totals;
}

static uint32_t block_slots_for(int64_t n) {
  uint32_t slots = 2;
  while (slots < n && slots < VT_GPU_SLOTS) slots *= 2;
  return slots;
}

/* Sorts tiles, one per thread block. A thread handles two records, or more in a large tile; a block
 * has at least one full warp. */
static vt_status sort_tiles(vt_cuda_call *c, const vt_gpu_sort_tiles *a, int wide) {
  const uint32_t threads = a->slots / 2 < 32 ? 32 : a->slots / 2 > 512 ? 512 : a->slots / 2;
  vt_cuda_grid grid = vt_cuda_grid_over(c, a->count * a->tiles * threads, 1, threads);
  grid.shared = (uint32_t)(a->slots * bytes_per_record(wide));
  return vt_cuda_launch(c, wide ? VT_GPU_sort_tiles_long : VT_GPU_sort_tiles_short, grid, a);
}

enum { SHORT = 64 }; /* longest row of prefix sums that one thread computes */

vt_status vt_cuda_exclusive_prefix_sums(vt_cuda_call *c, void *x, int64_t rows, int64_t n,
                                        void *totals) {
  const vt_gpu_scan args = {.x = x, .totals = totals, .rows = rows, .n = n};
  if (n <= SHORT)
    return vt_cuda_launch(c, VT_GPU_sort_scan_short, vt_cuda_grid_over(c, rows, 1, 256), &args);
  return vt_cuda_launch(c, VT_GPU_sort_scan, vt_cuda_grid_over(c, rows * 256, 1, 256), &args);
}

static vt_status sort_by_digit(vt_cuda_call *c, const vt_gpu_sort_digit *a, int wide) {
  const vt_cuda_grid grid = vt_cuda_grid_over(c, a->count * a->tiles * 256, 1, 256);
  const int64_t rows = a->count * VT_GPU_DIGITS;
  VT_TRY(
      vt_cuda_launch(c, wide ? VT_GPU_sort_histogram_long : VT_GPU_sort_histogram_short, grid, a));
  VT_TRY(vt_cuda_exclusive_prefix_sums(c, a->counts, rows, a->tiles, a->totals));
  return vt_cuda_launch(c, wide ? VT_GPU_sort_distribute_long : VT_GPU_sort_distribute_short, grid,
                        a);
}

static vt_status sort_lines_in_blocks(vt_cuda_call *c, const vt_cuda_records *r, void *work) {
  const vt_gpu_sort_tiles args = {.from = work,
                                  .to = work,
                                  .count = r->count,
                                  .n = r->n,
                                  .best = r->n,
                                  .tiles = 1,
                                  .slots = block_slots_for(r->n)};
  return sort_tiles(c, &args, r->wide);
}

vt_status vt_cuda_records_sort(vt_cuda_call *c, const vt_cuda_records *r, void *work, void **out) {
  char *from = work, *to = from + all_records_bytes(r), *counts = to + all_records_bytes(r);
  *out = work;
  if (line_fits_block(r)) return sort_lines_in_blocks(c, r, work);
  for (int shift = 0; shift < r->bits; shift += 8) {
    const vt_gpu_sort_digit args = {.from = from,
                                    .to = to,
                                    .counts = (uint64_t *)(void *)counts,
                                    .totals = (uint64_t *)(void *)(counts + digit_counts_bytes(r)),
                                    .count = r->count,
                                    .n = r->n,
                                    .tiles = vt_cuda_ceil_div(r->n, VT_GPU_RADIX_TILE),
                                    .shift = (uint32_t)shift};
    VT_TRY(sort_by_digit(c, &args, r->wide));
    char *swap = from;
    from = to;
    to = swap;
  }
  *out = from;
  return VT_OK;
}

/* ---- lines ---- */

typedef struct sort_plan {
  vt_cuda_records records; /* one record for each element */
  int64_t best;            /* how many records of a line's head are wanted */
  uint32_t axis;
  int descending;
} sort_plan;

static sort_plan sort_plan_of(const vt_cuda_call *c, int64_t axis, int descending) {
  const vt_view *x = &c->in[0];
  const int bits = 8 * (int)vt_cuda_bytes_of(x->dtype);
  sort_plan s = {.best = c->out->dim[axis], .axis = (uint32_t)axis, .descending = descending};
  s.records = (vt_cuda_records){.count = 1, .n = x->dim[axis], .bits = bits};
  s.records.wide = vt_cuda_records_are_wide(bits, s.records.n);
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != s.axis) s.records.count *= x->dim[i];
  return s;
}

static uint32_t key_kind_of(uint32_t dtype) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return VT_GPU_KEY_F32;
    case VT_DTYPE_F64:
      return VT_GPU_KEY_F64;
    case VT_DTYPE_I8:
      return VT_GPU_KEY_I8;
    case VT_DTYPE_I32:
      return VT_GPU_KEY_I32;
    case VT_DTYPE_I64:
      return VT_GPU_KEY_I64;
    default:
      return VT_GPU_KEY_U8;
  }
}

/* Describes the lines of x along the sorted axis, and where their values and indices are stored;
 * `values` is NULL if only the indices are wanted. */
static vt_gpu_lines lines_to_sort(const vt_cuda_call *c, const sort_plan *s, const vt_view *values,
                                  const vt_view *indices) {
  const vt_view *x = &c->in[0], *to = values == NULL ? indices : values;
  const vt_view others[3] = {vt_cuda_subview_at(x, s->axis, 0), vt_cuda_subview_at(to, s->axis, 0),
                             vt_cuda_subview_at(indices, s->axis, 0)};
  const vt_view *const all[3] = {&others[0], &others[1], &others[2]};
  return (vt_gpu_lines){.x = x->data,
                        .values = values == NULL ? NULL : values->data,
                        .indices = indices->data,
                        .walk = vt_cuda_walk(all, 3),
                        .n = s->records.n,
                        .x_step = x->stride[s->axis],
                        .values_step = to->stride[s->axis],
                        .indices_step = indices->stride[s->axis],
                        .invert = s->descending ? UINT64_MAX >> (64 - s->records.bits) : 0,
                        .kind = key_kind_of(x->dtype),
                        .bytes = vt_cuda_bytes_of(x->dtype)};
}

/* ---- heads: sorts tiles, keeps their first records, and repeats with those ---- */

/* longest head for which heads are sorted; with longer heads the tiles would pass on too many
 * records */
enum { HEAD = VT_GPU_SLOTS / 4 };

/* Returns 1 if the heads of tiles are sorted, 0 if lines are sorted by digits. This depends only on
 * the number of records of a line and on how many are wanted. */
static int sorts_by_heads(const sort_plan *s) {
  return line_fits_block(&s->records) || s->best <= HEAD;
}

static uint64_t tile_heads_bytes(const sort_plan *s, int64_t tiles) {
  const uint64_t records = (uint64_t)s->records.count * (uint64_t)tiles * (uint64_t)s->best;
  return vt_cuda_align_up(records * bytes_per_record(s->records.wide));
}

static uint64_t all_heads_bytes(const sort_plan *s) {
  const int64_t tiles = vt_cuda_ceil_div(s->records.n, VT_GPU_SLOTS);
  const int64_t more = vt_cuda_ceil_div(tiles * s->best, VT_GPU_SLOTS);
  return line_fits_block(&s->records) ? 0 : tile_heads_bytes(s, tiles) + tile_heads_bytes(s, more);
}

static vt_status sort_lines_by_heads(vt_cuda_call *c, const sort_plan *s,
                                     const vt_gpu_lines *lines) {
  vt_gpu_sort_tiles args = {.lines = *lines,
                            .count = s->records.count,
                            .n = s->records.n,
                            .best = s->best,
                            .tiles = vt_cuda_ceil_div(s->records.n, VT_GPU_SLOTS),
                            .slots = block_slots_for(s->records.n)};
  char *buffer = c->work, *other = args.tiles > 1 ? buffer + tile_heads_bytes(s, args.tiles) : NULL;
  while (args.tiles > 1) {
    args.to = buffer;
    VT_TRY(sort_tiles(c, &args, s->records.wide));
    args.from = buffer;
    args.n = args.tiles * args.best;
    args.tiles = vt_cuda_ceil_div(args.n, VT_GPU_SLOTS);
    args.slots = block_slots_for(args.n);
    buffer = other;
    other = (char *)(uintptr_t)args.from;
  }
  args.to = NULL;
  return sort_tiles(c, &args, s->records.wide);
}

/* ---- whole lines ---- */

static vt_status sort_lines_by_digits(vt_cuda_call *c, const sort_plan *s,
                                      const vt_gpu_lines *lines) {
  const vt_cuda_records *r = &s->records;
  vt_gpu_sort_keys args = {
      .lines = *lines, .records = c->work, .count = r->count, .n = r->n, .best = s->best};
  VT_TRY(vt_cuda_launch(c, r->wide ? VT_GPU_sort_keys_long : VT_GPU_sort_keys_short,
                        vt_cuda_grid_over(c, r->count * r->n, 1, 256), &args));
  VT_TRY(vt_cuda_records_sort(c, r, c->work, &args.records));
  return vt_cuda_launch(c, r->wide ? VT_GPU_sort_results_long : VT_GPU_sort_results_short,
                        vt_cuda_grid_over(c, r->count * s->best, 1, 256), &args);
}

static uint64_t sort_scratch_bytes(const sort_plan *s) {
  if (s->records.count == 0 || s->best == 0) return 0;
  return sorts_by_heads(s) ? all_heads_bytes(s) : vt_cuda_records_scratch(&s->records);
}

static vt_status sort_lines(vt_cuda_call *c, const sort_plan *s, const vt_view *values,
                            const vt_view *indices) {
  if (s->records.count == 0 || s->best == 0) return VT_OK;
  const vt_gpu_lines lines = lines_to_sort(c, s, values, indices);
  return sorts_by_heads(s) ? sort_lines_by_heads(c, s, &lines) : sort_lines_by_digits(c, s, &lines);
}

/* ---- ops ---- */

static sort_plan plan_of_sort(const vt_cuda_call *c) {
  const vt_attr_sort *a = c->attrs;
  return sort_plan_of(c, a->axis, a->descending != 0);
}

uint64_t vt_cuda_scratch_sort(const vt_cuda_call *c) {
  const sort_plan s = plan_of_sort(c);
  return sort_scratch_bytes(&s);
}

vt_status vt_cuda_run_sort(vt_cuda_call *c) {
  const sort_plan s = plan_of_sort(c);
  return sort_lines(c, &s, &c->out[0], &c->out[1]);
}

vt_status vt_cuda_run_argsort(vt_cuda_call *c) {
  const sort_plan s = plan_of_sort(c);
  return sort_lines(c, &s, NULL, &c->out[0]);
}

static sort_plan plan_of_top_k(const vt_cuda_call *c) {
  const vt_attr_top_k *a = c->attrs;
  return sort_plan_of(c, a->axis, !a->least);
}

uint64_t vt_cuda_scratch_top_k(const vt_cuda_call *c) {
  const sort_plan s = plan_of_top_k(c);
  return sort_scratch_bytes(&s);
}

vt_status vt_cuda_run_top_k(vt_cuda_call *c) {
  const sort_plan s = plan_of_top_k(c);
  return sort_lines(c, &s, &c->out[0], &c->out[1]);
}
