/* SPDX-License-Identifier: Apache-2.0
 * cpu_direct_conv.c - direct convolution, shared by the team; cpu_direct_conv.h draws the grid.
 * Weights are packed into panels of rows. A round copies a few images of x into grids. Then each
 * job takes strips, which are ranges of an image's positions (places, counted with the padding of
 * the grid), through all blocks of the contraction, stores the results and runs the epilogue. */
#include "cpu_direct_conv.h"
#include <string.h>

typedef struct layout {
  const vt_cpu_conv_type *k;
  int has_grid;
  vt_cpu_grid grid;
  int64_t length[VT_CPU_AXES]; /* positions per axis: places, and the padding of the grid */
  int64_t span;                /* number of all positions from the first place to the last */
  int64_t depth, blocks;       /* length of the contraction, and its blocks */
  int levels;
  int64_t panels, parts; /* row panels; parts into which panels are split if there are few strips */
  int64_t strip, strips; /* positions of a strip, whole tiles; strips of an image */
  int64_t tiles;         /* tiles of columns (positions) of an image */
  int64_t round;         /* images that are copied into grids at a time */
  uint64_t jobs;
  uint64_t packed_bytes, at_bytes, grid_bytes, scratch_bytes;
} layout;

/* ---- layout ---- */

static int has_trivial_taps(const vt_cpu_direct_conv *s) {
  for (int i = 0; i < VT_CPU_AXES; i++)
    if (s->axis[i].taps != 1 || s->axis[i].step != 1 || s->axis[i].base != 0) return 0;
  return 1;
}

static int64_t span_of_places(const vt_cpu_axis *a, const int64_t *length) {
  if (a[0].places == 0 || a[1].places == 0 || a[2].places == 0) return 0;
  return ((a[0].places - 1) * length[1] + a[1].places - 1) * length[2] + a[2].places;
}

/* Decides for a grid unless the results in its padding, which are computed in vain, cost more than
 * gathering columns would. */
static void choose_grid(const vt_cpu_direct_conv *s, layout *l) {
  const int64_t lanes = l->k->lanes;
  for (int i = 0; i < VT_CPU_AXES; i++) l->length[i] = s->axis[i].places;
  l->span = span_of_places(s->axis, l->length);
  l->has_grid = !has_trivial_taps(s) && vt_cpu_grid_layout(s->axis, &l->grid);
  if (!l->has_grid) return;
  const int64_t span = span_of_places(s->axis, l->grid.length);
  l->has_grid = vt_cpu_div_up(span, lanes) * 4 <= vt_cpu_div_up(l->span, lanes) * 5 + 4;
  if (!l->has_grid) return;
  memcpy(l->length, l->grid.length, sizeof l->length);
  l->span = span;
}

/* Chooses strips whose sums stay in the nearest caches, such that every thread gets as many as any
 * other. */
static void choose_strips(const vt_cpu_team *t, const vt_cpu_direct_conv *s, layout *l) {
  enum { CACHE_BYTES = 64 << 10, MAX_TILES = 64 };
  const int64_t columns = l->k->columns, tiles = vt_cpu_div_up(l->span, columns);
  const int64_t each = (s->rows + 1) * columns * l->k->bytes * l->levels;
  const int64_t wanted = (int64_t)t->threads * 8;
  const int64_t all = tiles * s->images * s->groups;
  int64_t n = CACHE_BYTES / each;
  if (n > all / wanted) n = all / wanted;
  if (n > MAX_TILES) n = MAX_TILES;
  if (n < 1) n = 1;
  l->tiles = tiles;
  l->strips = vt_cpu_min(vt_cpu_round_up(vt_cpu_div_up(tiles, n), t->threads), tiles);
  l->strip = tiles > 0 ? vt_cpu_div_up(tiles, l->strips) * columns : columns;
  l->panels = vt_cpu_div_up(s->rows, l->k->rows);
  l->parts = 1;
  const int64_t items = l->strips * s->images * s->groups;
  if (t->threads > 1 && items > 0 && items < wanted / 2)
    l->parts = vt_cpu_div_up(wanted / 2, items);
  if (l->parts > l->panels) l->parts = l->panels > 0 ? l->panels : 1;
}

static void choose_images_per_round(const vt_cpu_direct_conv *s, layout *l) {
  const int64_t image = l->has_grid ? s->groups * s->depth * l->grid.channel * l->k->bytes : 0;
  const int64_t most = 1 << 20;
  l->round = s->images;
  if (image > 0 && l->round > most / image) l->round = most / image;
  if (l->round < 1) l->round = 1;
  l->grid_bytes = vt_cpu_round_to_line((uint64_t)(l->round * image + l->k->columns * l->k->bytes));
}

static layout layout_of(const vt_cpu_team *t, const vt_cpu_direct_conv *s) {
  layout l = {.k = vt_cpu_conv_of(t, s->dtype)};
  const uint64_t bytes = (uint64_t)l.k->bytes;
  l.depth = s->depth * vt_cpu_tap_count(s->axis);
  l.blocks = vt_cpu_div_up(l.depth, VT_CPU_BLOCK);
  l.levels = vt_cpu_levels_needed(l.blocks);
  choose_grid(s, &l);
  choose_strips(t, s, &l);
  choose_images_per_round(s, &l);
  const int64_t items = l.round * s->groups * l.strips * l.parts;
  const double cost = (double)s->rows * (double)l.depth * (double)l.strip / (double)l.parts / 30;
  l.jobs = vt_cpu_job_count(t, (uint64_t)items, cost);
  const uint64_t rows = (uint64_t)(vt_cpu_div_up(l.panels, l.parts) * l.k->rows);
  const uint64_t panel = l.has_grid ? 0 : VT_CPU_BLOCK * (uint64_t)l.k->columns * bytes;
  l.packed_bytes = (uint64_t)(s->groups * l.panels * l.depth * l.k->rows) * bytes;
  l.at_bytes =
      vt_cpu_round_to_line((uint64_t)(l.has_grid ? l.depth : VT_CPU_BLOCK) * sizeof(int64_t));
  l.scratch_bytes =
      vt_cpu_round_to_line(rows * (uint64_t)l.strip * (uint64_t)l.levels * bytes + panel);
  return l;
}

uint64_t vt_cpu_direct_conv_pack_bytes(const vt_cpu_team *t, const vt_cpu_direct_conv *s) {
  return layout_of(t, s).packed_bytes;
}

/* An empty result needs no scratch, even if x is large. */
static int has_empty_result(const vt_cpu_direct_conv *s, const layout *l) {
  return s->images == 0 || s->groups == 0 || s->rows == 0 || l->span == 0;
}

uint64_t vt_cpu_direct_conv_scratch_bytes(const vt_cpu_team *t, const vt_cpu_direct_conv *s) {
  const layout l = layout_of(t, s);
  if (has_empty_result(s, &l)) return 0;
  return vt_cpu_round_to_line(l.packed_bytes) + l.at_bytes + l.grid_bytes +
         l.jobs * l.scratch_bytes;
}

/* ---- weights ---- */

typedef struct packing {
  const vt_cpu_direct_conv *s;
  layout l;
  char *to;
  int64_t items;
  uint64_t jobs;
} packing;

/* Packs one panel of rows as [k][rows], one tap of all channels at a time; missing rows are +0. */
static void pack_panel(const packing *p, int64_t item) {
  const vt_cpu_direct_conv *s = p->s;
  const vt_cpu_axis *a = s->axis;
  const int64_t rows = p->l.k->rows, bytes = p->l.k->bytes, taps = vt_cpu_tap_count(a);
  const int64_t first = item % p->l.panels * rows, left = s->rows - first;
  const int64_t count = left < rows ? left : rows;
  char *to = p->to + item * p->l.depth * rows * bytes;
  const int64_t from = item / p->l.panels * s->w_group + first * s->w_row;
  if (count < rows) memset(to, 0, (size_t)(p->l.depth * rows * bytes));
  for (int64_t t = 0; t < taps; t++) {
    const int64_t at = from + t % a[2].taps * a[2].weight +
                       t / a[2].taps % a[1].taps * a[1].weight +
                       t / a[2].taps / a[1].taps * a[0].weight;
    p->l.k->copy(to + t * rows * bytes, taps * rows, (const char *)s->w + at * bytes, s->w_channel,
                 s->w_row, s->depth, count);
  }
}

static void pack_weights_job(void *context, uint64_t job) {
  const packing *p = context;
  const int64_t end = vt_cpu_job_first(p->items, p->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(p->items, p->jobs, job); i < end; i++) pack_panel(p, i);
}

void vt_cpu_direct_conv_pack(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *out) {
  packing p = {.s = s, .l = layout_of(t, s), .to = out};
  p.items = s->groups * p.l.panels;
  p.jobs = vt_cpu_job_count(t, (uint64_t)p.items, (double)p.l.depth * 8);
  vt_cpu_run_jobs(t, p.jobs, pack_weights_job, &p);
}

/* ---- strips ---- */

typedef struct conv_run {
  const vt_cpu_direct_conv *s;
  layout l;
  const char *packed;
  const int64_t *at;
  char *grid, *scratch;
  int64_t first_image, images; /* images of this round */
  uint64_t grid_jobs;
} conv_run;

/* The part of the result that is computed at a time: some panels of rows of one group and image, at
 * positions from .. end - 1. */
typedef struct strip {
  int64_t image, group, from, end;
  int64_t first_panel, end_panel;
  vt_cpu_levels sums; /* [rows][strip] */
  char *panel;
} strip;

static const char *find_or_gather_columns(const conv_run *u, const strip *p, int64_t block,
                                          int64_t n, int64_t from, int64_t count) {
  const vt_cpu_direct_conv *s = u->s;
  const int64_t channel = p->group * s->depth, bytes = u->l.k->bytes;
  if (u->l.has_grid) {
    const int64_t image = p->image - u->first_image;
    const int64_t at = (image * s->groups * s->depth + channel) * u->l.grid.channel + from;
    return u->grid + at * bytes;
  }
  const char *x = (const char *)s->x + (p->image * s->x_image + channel * s->x_channel) * bytes;
  const vt_cpu_columns c = {block * VT_CPU_BLOCK, n, from, count, u->l.k->columns};
  vt_cpu_gather_columns(s, x, &c, p->panel, u->l.k);
  return p->panel;
}

static void multiply_tile(const conv_run *u, const strip *p, int64_t block, int64_t n,
                          int64_t from) {
  const layout *l = &u->l;
  const int64_t left = p->end - from, count = left < l->k->columns ? left : l->k->columns;
  const int vectors = (int)vt_cpu_div_up(count, l->k->lanes);
  const char *b = find_or_gather_columns(u, p, block, n, from, count);
  const int64_t *at = l->has_grid ? u->at + block * VT_CPU_BLOCK : u->at;
  for (int64_t i = p->first_panel; i < p->end_panel; i++) {
    const int64_t rows = u->s->rows - i * l->k->rows;
    const int64_t k = (p->group * l->panels + i) * l->depth + block * VT_CPU_BLOCK;
    char *t =
        p->sums.at + ((i - p->first_panel) * l->k->rows * l->strip + from - p->from) * l->k->bytes;
    l->k->tile[rows < l->k->rows ? rows - 1 : l->k->rows - 1](
        n, u->packed + k * l->k->rows * l->k->bytes, b, at, t, l->strip, vectors,
        block % VT_CPU_GROUP == 0);
  }
}

/* Stores one row of the strip at its places in y, and runs the epilogue on these elements. */
static void store_row_and_run_epilogue(const conv_run *u, const strip *p, int64_t row,
                                       const char *from) {
  const vt_cpu_direct_conv *s = u->s;
  const vt_cpu_axis *a = s->axis;
  const int64_t bytes = u->l.k->bytes, channel = p->group * s->rows + row;
  const char *bias = s->bias;
  if (bias != NULL) bias += channel * s->bias_step * bytes;
  char *y = (char *)s->y + (p->image * s->y_image + channel * s->y_channel) * bytes;
  int64_t first = -1, n = 0;
  for (int64_t at = p->from; at < p->end;) {
    const vt_cpu_places r = vt_cpu_next_places(a, u->l.length, at, p->end);
    if (r.n == 0) break;
    const int64_t to = r.place[0] * a[0].out + r.place[1] * a[1].out + r.place[2] * a[2].out;
    u->l.k->store(y + to * bytes, a[2].out, from + (at + r.skipped - p->from) * bytes, r.n, bias);
    if (first < 0) first = p->image * s->y_image + channel * s->y_channel + to;
    n += r.n;
    at += r.skipped + r.n;
  }
  if (s->epilogue != NULL && n > 0) vt_cpu_chain_run_part(s->epilogue, first, n);
}

static void run_strip(const conv_run *u, const strip *p) {
  const layout *l = &u->l;
  if (l->levels > 1 || l->blocks == 0) vt_cpu_levels_clear(&p->sums);
  for (int64_t b = 0; b < l->blocks; b++) {
    const int64_t left = l->depth - b * VT_CPU_BLOCK;
    const int64_t n = left < VT_CPU_BLOCK ? left : VT_CPU_BLOCK;
    for (int64_t from = p->from; from < p->end; from += l->k->columns)
      multiply_tile(u, p, b, n, from);
    vt_cpu_levels_carry(&p->sums, b);
  }
  const char *sums = vt_cpu_levels_total(&p->sums);
  const int64_t first = p->first_panel * l->k->rows;
  int64_t end = p->end_panel * l->k->rows;
  if (end > u->s->rows) end = u->s->rows;
  for (int64_t i = first; i < end; i++)
    store_row_and_run_epilogue(u, p, i, sums + (i - first) * l->strip * l->k->bytes);
}

static void strip_job(void *context, uint64_t job) {
  const conv_run *u = context;
  const layout *l = &u->l;
  const int64_t items = u->images * u->s->groups * l->strips * l->parts;
  const int64_t end = vt_cpu_job_first(items, l->jobs, job + 1);
  const int64_t rows = vt_cpu_div_up(l->panels, l->parts) * l->k->rows;
  char *scratch = u->scratch + job * l->scratch_bytes;
  strip p = {.sums =
                 vt_cpu_levels_init(l->k->add, l->k->bytes, scratch, rows * l->strip, l->levels)};
  p.panel = scratch + rows * l->strip * l->levels * l->k->bytes;
  for (int64_t i = vt_cpu_job_first(items, l->jobs, job); i < end; i++) {
    const uint64_t part = (uint64_t)(i % l->parts);
    const int64_t number = i / l->parts % l->strips, rest = i / l->parts / l->strips;
    p.first_panel = vt_cpu_job_first(l->panels, (uint64_t)l->parts, part);
    p.end_panel = vt_cpu_job_first(l->panels, (uint64_t)l->parts, part + 1);
    p.group = rest % u->s->groups;
    p.image = u->first_image + rest / u->s->groups;
    p.from = vt_cpu_job_first(l->tiles, (uint64_t)l->strips, (uint64_t)number) * l->k->columns;
    p.end = vt_cpu_job_first(l->tiles, (uint64_t)l->strips, (uint64_t)number + 1) * l->k->columns;
    if (p.end > l->span) p.end = l->span;
    run_strip(u, &p);
  }
}

/* ---- rounds ---- */

static void fill_grid_job(void *context, uint64_t job) {
  const conv_run *u = context;
  const vt_cpu_direct_conv *s = u->s;
  const int64_t channels = s->groups * s->depth, items = u->images * channels;
  const int64_t bytes = u->l.k->bytes, end = vt_cpu_job_first(items, u->grid_jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(items, u->grid_jobs, job); i < end; i++) {
    const int64_t at = (u->first_image + i / channels) * s->x_image + i % channels * s->x_channel;
    vt_cpu_grid_copy_channel(&u->l.grid, s->axis, u->l.k, (const char *)s->x + at * bytes,
                             u->grid + i * u->l.grid.channel * bytes);
  }
}

static void run_round(const vt_cpu_team *t, conv_run *u) {
  const layout *l = &u->l;
  const int64_t channels = u->images * u->s->groups * u->s->depth;
  if (l->has_grid) {
    u->grid_jobs = vt_cpu_job_count(t, (uint64_t)channels, (double)l->grid.channel / 4);
    vt_cpu_run_jobs(t, u->grid_jobs, fill_grid_job, u);
    memset(u->grid + channels * l->grid.channel * l->k->bytes, 0,
           (size_t)(l->k->columns * l->k->bytes));
  }
  vt_cpu_run_jobs(t, l->jobs, strip_job, u);
}

/* Stores, for each k of the contraction, the offset of the elements that it reads: in the grid, or
 * in a panel of gathered columns. */
static void store_offset_of_each_k(const vt_cpu_direct_conv *s, const layout *l, int64_t *at) {
  const int64_t taps = vt_cpu_tap_count(s->axis), n = l->has_grid ? l->depth : VT_CPU_BLOCK;
  for (int64_t i = 0; i < n; i++)
    at[i] = l->has_grid
                ? i / taps * l->grid.channel + vt_cpu_grid_tap_offset(&l->grid, s->axis, i % taps)
                : i * l->k->columns;
}

void vt_cpu_direct_conv_run(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *work) {
  conv_run u = {.s = s, .l = layout_of(t, s), .packed = s->packed};
  char *at = work;
  if (has_empty_result(s, &u.l)) return;
  if (u.packed == NULL) {
    vt_cpu_direct_conv_pack(t, s, at);
    u.packed = at;
    at += vt_cpu_round_to_line(u.l.packed_bytes);
  }
  store_offset_of_each_k(s, &u.l, (int64_t *)(void *)at);
  u.at = (const int64_t *)(const void *)at;
  u.grid = at + u.l.at_bytes;
  u.scratch = u.grid + u.l.grid_bytes;
  for (int64_t i = 0; i < s->images; i += u.l.round) {
    u.first_image = i;
    u.images = s->images - i < u.l.round ? s->images - i : u.l.round;
    run_round(t, &u);
  }
}
