/* SPDX-License-Identifier: Apache-2.0
 * cpu_gemm.c - matrix products from panels, which cpu_gemm.h draws. A product is split into pieces
 * by rows and columns; a thread takes one piece after the other and works through it one block of k
 * at a time. An area is the part of a piece whose panels are in use: a panel of a stays in the
 * first cache while it passes over as many panels of b as fit the second. The result itself holds
 * the sum of a group of blocks; a longer k needs further sums, one for each level of groups. They
 * are in scratch, for some rows of the piece at a time (a region). */
#include "cpu_gemm.h"
#include <stdatomic.h>
#include <string.h>

typedef struct sizes {
  const vt_cpu_gemm_type *g;
  int64_t m, n, k;
  int64_t block_m, block_n; /* rows and columns that are computed at a time */
  int64_t region;           /* rows whose level sums are in scratch at a time */
  int64_t blocks, levels;
  int64_t cuts_m, cuts_n; /* pieces of a product along m and n */
  int streams;            /* 1: b is read in place, not packed */
  int fresh;              /* 1: each panel of b is used right after it is packed, and only once */
  uint64_t workers;
  uint64_t bytes_a, bytes_b, bytes_level; /* scratch of one worker */
} sizes;

static uint64_t round_bytes_to_line(int64_t bytes) { return vt_cpu_round_to_line((uint64_t)bytes); }

const vt_cpu_gemm_type *vt_cpu_gemm_of(const vt_cpu_team *t, uint32_t dtype) {
  return dtype == VT_DTYPE_F32 ? t->kernels->gemms->f32 : t->kernels->gemms->f64;
}

/* Packs rows (or columns) first .. end - 1 of one operand at k0 .. k0 + k - 1. */
static void pack_panels(const vt_cpu_gemm_type *g, const vt_cpu_side *s, int64_t first, int64_t end,
                        int64_t tile, int64_t k0, int64_t k, char *panel) {
  const char *from = (const char *)s->data + (first * s->across + k0 * s->along) * g->bytes;
  g->pack(from, s->across, s->along, end - first, tile, k, panel);
}

/* ---- sizes ---- */

enum { MAX_STREAM_ROWS = 2 * VT_CPU_SKINNY_ROWS };

/* Whether a product has so few rows that it should read a contiguous b in place: packing b would
 * take longer than the product. */
static int is_skinny(const vt_cpu_gemm_type *g, int64_t rows) {
  return rows <= vt_cpu_min(MAX_STREAM_ROWS, g->rows);
}

enum { MANY_ROWS = 64, PIECES = 2 };

/* Splits the longer side, in multiples of a tile: one piece per thread, or more if pieces are
 * large, to even out delays of single threads. Each piece packs its own operands. If b is already
 * packed, rows are split if there are many, and columns if there are very few: then no operand is
 * packed twice, and smaller pieces cost nothing. */
static void split_pieces(sizes *s, const vt_cpu_team *t, int64_t products, int packed) {
  const double flops_each = 2.0 * (double)s->m * (double)s->n * (double)s->k, per_ns = 100;
  const uint64_t jobs = vt_cpu_job_count(t, (uint64_t)products * 64, flops_each / per_ns / 64);
  const int64_t threads = vt_cpu_min(t->threads, (int64_t)jobs);
  const int64_t wanted = vt_cpu_div_up(threads, products);
  const int64_t high = vt_cpu_div_up(s->m, s->g->rows), wide = vt_cpu_div_up(s->n, s->g->columns);
  s->cuts_m = s->cuts_n = 1;
  if (wanted > 1 && packed && s->m >= wanted * MANY_ROWS) {
    s->cuts_m = vt_cpu_min(PIECES * wanted, s->m / MANY_ROWS);
  } else if (wanted > 1 && packed && s->m <= VT_CPU_SKINNY_ROWS) {
    s->cuts_n = vt_cpu_min(2 * PIECES * wanted, wide);
  } else if (wanted > 1 && wide >= high) {
    s->cuts_n = vt_cpu_min(s->n >= 2 * wanted * s->block_n ? 2 * wanted : wanted, wide);
  } else if (wanted > 1) {
    s->cuts_m = vt_cpu_min(wanted, high);
  }
  s->workers = (uint64_t)vt_cpu_min(products * s->cuts_m * s->cuts_n, threads);
}

static sizes sizes_of(const vt_cpu_team *t, const vt_cpu_products *p) {
  sizes s = {.g = vt_cpu_gemm_of(t, p->dtype), .m = p->m_each, .n = p->n_each, .k = p->k_each};
  const int64_t f32_bytes = 4, narrow = s.g->bytes / f32_bytes;
  if (p->n <= 0 || s.m <= 0 || s.n <= 0) return s;
  s.blocks = vt_cpu_div_up(s.k, VT_CPU_BLOCK);
  s.levels = 1;
  for (int64_t m = s.blocks; m > VT_CPU_GROUP; m = vt_cpu_div_up(m, VT_CPU_GROUP)) s.levels++;
  s.block_m = vt_cpu_round_up(512 / narrow, s.g->rows);
  s.fresh = s.m <= s.block_m;
  s.block_n = (s.fresh || s.g->cached_columns * narrow < 1024 ? 2048 : 1024) / narrow;
  s.region = 4 * s.block_m;
  s.streams = p->contiguous && is_skinny(s.g, s.m);
  if (s.streams) /* so few columns that the fma chains of all rows stay in a cache */
    s.block_n = vt_cpu_round_up(4096 / narrow / s.m, s.g->columns);
  split_pieces(&s, t, p->n, p->packed);
  const int64_t rows = vt_cpu_round_up(vt_cpu_min(s.m, s.block_m), s.g->rows) + s.g->rows;
  const int64_t columns =
      vt_cpu_min(vt_cpu_round_up(s.n, s.g->columns), s.fresh ? s.g->cached_columns : s.block_n);
  const int64_t depth = vt_cpu_min(s.k, VT_CPU_BLOCK);
  s.bytes_a = round_bytes_to_line(rows * depth * s.g->bytes);
  s.bytes_b = round_bytes_to_line((s.streams ? s.block_n * s.m : columns * depth) * s.g->bytes);
  if (s.levels > 1)
    s.bytes_level = round_bytes_to_line(vt_cpu_min(s.m, s.region) * s.block_n * s.g->bytes) *
                    (uint64_t)(s.levels - 1);
  return s;
}

uint64_t vt_cpu_gemm_scratch_bytes(const vt_cpu_team *t, const vt_cpu_products *p) {
  const sizes s = sizes_of(t, p);
  return s.workers * (s.bytes_a + s.bytes_b + s.bytes_level);
}

/* ---- one piece ---- */

/* The piece of one product that a thread works on. */
typedef struct piece {
  const sizes *s;
  vt_cpu_product p;
  vt_cpu_chain *epilogue;
  int64_t tile_m; /* rows of a panel of a */
  char *a, *b;    /* scratch for panels */
  char *level[VT_CPU_LEVELS];
  int64_t m0, m1, n0, n1; /* rows m0 .. m1 - 1 and columns n0 .. n1 - 1 */
} piece;

/* The part of a piece that is computed at a time: some rows and columns, with their panels for one
 * block of k. */
typedef struct area {
  const char *a, *b;      /* first panels of a and b */
  int64_t a_next, b_next; /* bytes from one panel to the next */
  int64_t i0, i1, j0, j1; /* rows i0 .. i1 - 1 and columns j0 .. j1 - 1 of the product */
  int64_t b0;             /* column at which b begins */
  int64_t k0, k1;
  int64_t top; /* first row of the region */
} area;

static char *result_address(const piece *w, int64_t i, int64_t j) {
  return (char *)w->p.c + (i * w->p.row + j * w->p.column) * w->s->g->bytes;
}

static char *level_address(const piece *w, int64_t level, const area *r, int64_t i) {
  return w->level[level] + (i - r->top) * w->s->block_n * w->s->g->bytes;
}

/* Whether the area's block of k is the first one of a group. */
static int is_first_block_of_group(const area *r) {
  return r->k0 / VT_CPU_BLOCK % VT_CPU_GROUP == 0;
}

/* Computes a tile of a result whose columns are not contiguous: gathers it, adds to it, writes it
 * back. */
static void multiply_strided_tile(const piece *w, const area *r, vt_cpu_tile_fn *tile,
                                  const char *a, const char *b, char *c, int64_t rows,
                                  int64_t width) {
  const vt_cpu_gemm_type *g = w->s->g;
  _Alignas(64) char hold[VT_CPU_MAX_ROWS * 64 * sizeof(float)];
  const int64_t strided = w->p.column;
  for (int64_t i = 0; i < rows && !is_first_block_of_group(r); i++)
    g->add(hold + i * g->columns * g->bytes, 1, c + i * w->p.row * g->bytes, strided, width, 1);
  tile(r->k1 - r->k0, a, w->tile_m, b, hold, g->columns, width, is_first_block_of_group(r));
  for (int64_t i = 0; i < rows; i++)
    g->add(c + i * w->p.row * g->bytes, strided, hold + i * g->columns * g->bytes, 1, width, 1);
}

/* Returns the address of element [i, j] of the current group's sums, and sets *row_step to the
 * elements from one row to the next. */
static char *sum_address(const piece *w, const area *r, int64_t i, int64_t j, int64_t *row_step) {
  *row_step = w->s->levels > 1 ? w->s->block_n : w->p.row;
  return w->s->levels > 1 ? level_address(w, 0, r, i) + (j - r->j0) * w->s->g->bytes
                          : result_address(w, i, j);
}

/* Adds one block of k to one tile at row i and column j, or to several tiles before column `end`;
 * returns how many columns they have. */
static int64_t multiply_tiles(const piece *w, const area *r, int64_t i, int64_t j, int64_t end,
                              const char *a, const char *b) {
  const vt_cpu_gemm_type *g = w->s->g;
  const int64_t rows = vt_cpu_min(r->i1 - i, w->tile_m), width = vt_cpu_min(end - j, g->columns);
  const int64_t k = r->k1 - r->k0, panels = rows <= VT_CPU_SKINNY_ROWS ? g->panels[rows - 1] : 1;
  const int strided = w->s->levels == 1 && w->p.column != 1;
  vt_cpu_tile_fn *tile = g->tile[rows - 1][width > g->columns / 2];
  int64_t row;
  char *c = sum_address(w, r, i, j, &row);
  if (strided) {
    multiply_strided_tile(w, r, tile, a, b, c, rows, width);
  } else if (panels > 1 && end - j >= panels * g->columns) {
    g->wide[rows - 1](k, a, w->tile_m, b, r->b_next / g->bytes, c, row, is_first_block_of_group(r));
    return panels * g->columns;
  } else {
    tile(k, a, w->tile_m, b, c, row, width, is_first_block_of_group(r));
  }
  return width;
}

static void multiply_columns(const piece *w, const area *r, int64_t from, int64_t end) {
  const int64_t columns = w->s->g->columns;
  const char *a = r->a;
  for (int64_t i = r->i0; i < r->i1; i += w->tile_m, a += r->a_next)
    for (int64_t j = from; j < end;)
      j += multiply_tiles(w, r, i, j, end, a, r->b + (j - r->b0) / columns * r->b_next);
}

/* Adds one block of k to all rows of the area, a few rows at a time. b is read in place; the fma
 * chains are in scratch. */
static void multiply_area_by_unpacked_b(const piece *w, const area *r) {
  const vt_cpu_gemm_type *g = w->s->g;
  const vt_cpu_side *b = &w->p.b;
  const int64_t n = r->j1 - r->j0, row = vt_cpu_round_up(n, g->columns), bytes = g->bytes;
  const char *from = (const char *)b->data + (r->k0 * b->along + r->j0) * bytes;
  for (int64_t i = r->i0; i < r->i1; i += VT_CPU_SKINNY_ROWS) {
    const int64_t rows = vt_cpu_min(r->i1 - i, VT_CPU_SKINNY_ROWS), at = i - r->i0;
    g->stream[rows - 1](r->k1 - r->k0, r->a + at * bytes, w->tile_m, from, b->along, n,
                        w->b + at * row * bytes, row);
  }
  for (int64_t i = r->i0; i < r->i1; i++) {
    int64_t next;
    char *c = sum_address(w, r, i, r->j0, &next);
    g->add(c, w->s->levels > 1 ? 1 : w->p.column, w->b + (i - r->i0) * row * bytes, 1, n,
           is_first_block_of_group(r));
  }
}

/* Adds the sums of complete groups to the next level; after the last block of k, adds up all
 * levels. The latter may add a sum to a level that is empty (+0), which changes no bit, because a
 * sum that starts at +0 is never -0. */
static void carry_complete_groups(const piece *w, const area *r) {
  const vt_cpu_gemm_type *g = w->s->g;
  const int64_t done = vt_cpu_div_up(r->k1, VT_CPU_BLOCK), top = w->s->levels - 1;
  int64_t unit = VT_CPU_GROUP;
  for (int64_t l = 0; l < top && (done % unit == 0 || r->k1 == w->s->k); l++) {
    const int first = (vt_cpu_div_up(done, unit) - 1) % VT_CPU_GROUP == 0;
    for (int64_t i = r->i0; i < r->i1; i++) {
      char *to = l + 1 == top ? result_address(w, i, r->j0) : level_address(w, l + 1, r, i);
      g->add(to, l + 1 == top ? w->p.column : 1, level_address(w, l, r, i), 1, r->j1 - r->j0,
             first);
    }
    unit *= VT_CPU_GROUP;
  }
}

static void apply_bias_and_epilogue(const piece *w, const area *r) {
  const vt_cpu_product *p = &w->p;
  const vt_cpu_gemm_type *g = w->s->g;
  const int64_t n = r->j1 - r->j0;
  for (int64_t i = r->i0; i < r->i1; i++) {
    if (p->bias != NULL)
      g->add(result_address(w, i, r->j0), p->column,
             (const char *)p->bias + r->j0 * p->bias_step * g->bytes, p->bias_step, n, 0);
    if (w->epilogue != NULL)
      vt_cpu_chain_run_part(w->epilogue, p->first + i * p->epilogue_row + r->j0, n);
  }
}

static void pack_area_rows(const piece *w, area *r) {
  const int64_t k = r->k1 - r->k0;
  pack_panels(w->s->g, &w->p.a, r->i0, r->i1, w->tile_m, r->k0, k, w->a);
  r->a = w->a;
  r->a_next = k * w->tile_m * w->s->g->bytes;
}

/* Packs columns from .. end - 1 of b, or finds them if all of b is packed. Then the panels of one
 * block of k are contiguous: they are read together, and gaps between them might all be the same
 * power of two, which would defeat the cache. */
static void pack_area_columns(const piece *w, area *r, int64_t from, int64_t end) {
  const vt_cpu_gemm_type *g = w->s->g;
  const int64_t k = r->k1 - r->k0;
  r->b0 = from;
  r->b = w->b;
  r->b_next = k * g->columns * g->bytes;
  if (w->p.packed == NULL) {
    pack_panels(g, &w->p.b, from, end, g->columns, r->k0, k, w->b);
    return;
  }
  const int64_t at = r->k0 * vt_cpu_round_up(w->s->n, g->columns) + from * k;
  r->b = (const char *)w->p.packed + at * g->bytes;
}

static void multiply_area(const piece *w, area *r) {
  const int64_t cached = w->s->g->cached_columns;
  for (int64_t j = r->j0; j < r->j1; j += cached) {
    const int64_t end = vt_cpu_min(j + cached, r->j1);
    if (w->s->fresh) pack_area_columns(w, r, j, end);
    multiply_columns(w, r, j, end);
  }
}

static void run_block_of_k(const piece *w, area *r, int64_t end_row) {
  const int64_t high = w->s->block_m / w->tile_m * w->tile_m;
  for (int64_t i = r->top; i < end_row; i += high) {
    r->i0 = i;
    r->i1 = vt_cpu_min(i + high, end_row);
    pack_area_rows(w, r);
    if (w->s->streams) {
      multiply_area_by_unpacked_b(w, r);
    } else {
      multiply_area(w, r);
    }
    if (w->s->levels > 1) carry_complete_groups(w, r);
    if (r->k1 == w->s->k) apply_bias_and_epilogue(w, r);
  }
}

static void run_all_blocks_of_k(const piece *w, area *r, int64_t end_row) {
  r->k0 = 0;
  do {
    r->k1 = vt_cpu_min(r->k0 + VT_CPU_BLOCK, w->s->k);
    if (!w->s->streams && !w->s->fresh) pack_area_columns(w, r, r->j0, r->j1);
    run_block_of_k(w, r, end_row);
    r->k0 = r->k1;
  } while (r->k0 < w->s->k);
}

static void run_all_areas(const piece *w) {
  area r = {0};
  const int64_t high = w->s->region / w->tile_m * w->tile_m;
  for (r.j0 = w->n0; r.j0 < w->n1; r.j0 = r.j1) {
    r.j1 = vt_cpu_min(r.j0 + w->s->block_n, w->n1);
    if (w->s->levels == 1) {
      r.top = w->m0;
      run_all_blocks_of_k(w, &r, w->m1);
      continue;
    }
    for (r.top = w->m0; r.top < w->m1; r.top += high)
      run_all_blocks_of_k(w, &r, vt_cpu_min(r.top + high, w->m1));
  }
}

/* ---- the team ---- */

typedef struct gemm_run {
  const vt_cpu_products *p;
  sizes s;
  char *work;
  atomic_int_fast64_t next; /* first piece that no thread has taken */
} gemm_run;

/* The first row or column of piece i; pieces begin at multiples of a tile. */
static int64_t first_index_of_piece(int64_t count, int64_t tile, int64_t cuts, int64_t i) {
  return vt_cpu_min(
      count, tile * vt_cpu_job_first(vt_cpu_div_up(count, tile), (uint64_t)cuts, (uint64_t)i));
}

static void run_piece(gemm_run *c, piece *w, int64_t number) {
  const sizes *s = &c->s;
  const int64_t each = s->cuts_m * s->cuts_n, i = number % each / s->cuts_n, j = number % s->cuts_n;
  memset(&w->p, 0, sizeof w->p);
  c->p->get(c->p->context, number / each, &w->p);
  w->m0 = first_index_of_piece(s->m, s->g->rows, s->cuts_m, i);
  w->m1 = first_index_of_piece(s->m, s->g->rows, s->cuts_m, i + 1);
  w->n0 = first_index_of_piece(s->n, s->g->columns, s->cuts_n, j);
  w->n1 = first_index_of_piece(s->n, s->g->columns, s->cuts_n, j + 1);
  /* All panels of a have the same height, which is as close to a full tile as possible. */
  w->tile_m = vt_cpu_div_up(w->m1 - w->m0, vt_cpu_div_up(w->m1 - w->m0, s->g->rows));
  run_all_areas(w);
}

static void run_pieces_job(void *context, uint64_t job) {
  gemm_run *c = context;
  const sizes *s = &c->s;
  const int64_t pieces = c->p->n * s->cuts_m * s->cuts_n;
  piece w = {.s = s, .epilogue = c->p->epilogue};
  w.a = c->work + job * (s->bytes_a + s->bytes_b + s->bytes_level);
  w.b = w.a + s->bytes_a;
  for (int64_t l = 0; l + 1 < s->levels; l++)
    w.level[l] = w.b + s->bytes_b + s->bytes_level / (uint64_t)(s->levels - 1) * (uint64_t)l;
  for (;;) {
    const int64_t at = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
    if (at >= pieces) return;
    run_piece(c, &w, at);
  }
}

void vt_cpu_gemm(const vt_cpu_team *t, const vt_cpu_products *p, void *work) {
  gemm_run c = {.p = p, .s = sizes_of(t, p), .work = work};
  if (c.s.workers == 0) return;
  atomic_init(&c.next, 0);
  vt_cpu_run_jobs(t, c.s.workers, run_pieces_job, &c);
}

/* ---- packing all of b ---- */

typedef struct packing {
  const vt_cpu_gemm_type *g;
  const vt_cpu_side *b;
  int64_t n, k, panels;
  uint64_t jobs;
  char *out;
} packing;

uint64_t vt_cpu_gemm_pack_bytes(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k) {
  const vt_cpu_gemm_type *g = vt_cpu_gemm_of(t, dtype);
  return (uint64_t)(vt_cpu_round_up(n, g->columns) * k * g->bytes);
}

static void pack_b_job(void *context, uint64_t job) {
  const packing *p = context;
  const int64_t tile = p->g->columns;
  const int64_t first = vt_cpu_job_first(p->panels, p->jobs, job) * tile;
  const int64_t end = vt_cpu_min(vt_cpu_job_first(p->panels, p->jobs, job + 1) * tile, p->n);
  for (int64_t k0 = 0, k; k0 < p->k; k0 += k) {
    k = vt_cpu_min(p->k - k0, VT_CPU_BLOCK);
    char *to = p->out + (k0 * p->panels * tile + first * k) * p->g->bytes;
    pack_panels(p->g, p->b, first, end, tile, k0, k, to);
  }
}

void vt_cpu_gemm_pack(const vt_cpu_team *t, uint32_t dtype, int64_t n, int64_t k,
                      const vt_cpu_side *b, void *out) {
  packing p = {.g = vt_cpu_gemm_of(t, dtype), .b = b, .n = n, .k = k, .out = out};
  p.panels = vt_cpu_div_up(n, p.g->columns);
  p.jobs = vt_cpu_job_count(t, (uint64_t)p.panels, (double)(p.g->columns * k) / 2);
  vt_cpu_run_jobs(t, p.jobs, pack_b_job, &p);
}
