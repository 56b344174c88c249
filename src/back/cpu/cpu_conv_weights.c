/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv_weights.c - the op conv_weight_grad. For each tap the gradient is a matrix product:
 * output channels of dy times channels of x, contracted over (n, place...). x is copied into grids
 * whose channels are contiguous, so that the elements that a tap reads at one place are contiguous
 * and no tap needs its own copy. Groups of one input and one output channel are columns next to
 * each other, all in one product. An item is what is computed at a time: the gradient of one tap,
 * for some panels of rows (output channels) and one tile of columns (channels of x).
 *
 *   grid [n][phase][L0][L1][L2][channel]        dy, packed [panel of rows][n, place...][row] */
#include <string.h>
#include "cpu_conv.h"
#include "cpu_move.h"

typedef struct layout {
  const vt_cpu_conv_type *k;
  vt_cpu_axis axis[VT_CPU_AXES];
  vt_cpu_grid grid;
  int has_grid;  /* 0: x is gathered element by element for each block */
  int depthwise; /* 1: groups have one channel each, and all are columns of one product */
  int64_t images, groups, rows, depth,
      channels; /* rows, depth: output and input channels of a group */
  /* output places of an image; length and blocks of the contraction */
  int64_t places, length, blocks;
  int levels;
  int64_t panels, parts; /* panels of rows; parts into which the panels are split */
  int64_t tile, tiles;   /* channels of a tile, a multiple of the lanes; number of tiles */
  int64_t height;        /* rows of a panel of dy */
  int64_t taps, items;
  uint64_t jobs, packed_bytes, grid_bytes, scratch_bytes;
} layout;

static void read_step(const vt_cpu_call *c, layout *l) {
  const vt_attr_conv_weight_grad *a = c->attrs;
  const vt_view *x = &c->in[0], *dy = &c->in[1];
  const vt_window_lists w = {.stride = &a->stride, .dilation = &a->dilation, .low = &a->low};
  vt_cpu_conv_read_axes(x, &w, c->out->dim + 2, dy->dim + 2, l->axis);
  l->k = vt_cpu_conv_of(c->team, x->dtype);
  l->has_grid = vt_cpu_grid_layout(l->axis, &l->grid);
  l->images = x->dim[0];
  l->groups = a->groups;
  l->rows = dy->dim[1] / a->groups;
  l->depth = c->out->dim[1];
  l->channels = l->groups * l->depth;
  l->height = l->k->rows;
  l->depthwise = l->has_grid && l->depth == 1 && l->rows == 1;
  if (l->depthwise) {
    l->depth = l->height = l->groups;
    l->groups = 1;
  }
  l->places = l->axis[0].places * l->axis[1].places * l->axis[2].places;
  l->length = l->images * l->places;
  l->blocks = vt_cpu_div_up(l->length, VT_CPU_BLOCK);
  l->levels = vt_cpu_levels_needed(l->blocks);
  l->taps = vt_cpu_tap_count(l->axis);
}

/* Splits channels into tiles of about equal width, and also the rows if there are few taps. */
static layout layout_of(const vt_cpu_call *c) {
  layout l = {0};
  read_step(c, &l);
  const uint64_t bytes = (uint64_t)l.k->bytes;
  const int64_t vectors = vt_cpu_div_up(l.depth, l.k->lanes), wanted = c->team->threads * 8;
  l.tiles = vt_cpu_div_up(l.depth, l.k->columns);
  l.tile = l.tiles > 0 ? vt_cpu_div_up(vectors, l.tiles) * l.k->lanes : l.k->lanes;
  l.panels = vt_cpu_div_up(l.rows, l.k->rows);
  l.parts = 1;
  const int64_t most = l.groups * l.taps * l.tiles;
  if (c->team->threads > 1 && most > 0 && most < wanted) l.parts = vt_cpu_div_up(wanted, most);
  if (l.parts > l.panels) l.parts = l.panels > 0 ? l.panels : 1;
  l.items = most * l.parts;
  const double cost = (double)l.rows * (double)l.length * (double)l.tile / (double)l.parts / 30;
  l.jobs = vt_cpu_job_count(c->team, (uint64_t)l.items, cost);
  const uint64_t rows = (uint64_t)(vt_cpu_div_up(l.panels, l.parts) * l.k->rows);
  const uint64_t panel = l.has_grid ? 0 : VT_CPU_BLOCK * (uint64_t)l.tile;
  l.packed_bytes =
      vt_cpu_round_to_line((uint64_t)(l.groups * l.panels * l.length * l.height) * bytes);
  if (l.has_grid)
    l.grid_bytes = (uint64_t)(l.images * l.grid.channel * l.channels + l.k->columns) * bytes;
  l.grid_bytes = vt_cpu_round_to_line(l.grid_bytes);
  l.scratch_bytes = vt_cpu_round_to_line((rows * (uint64_t)(l.tile * l.levels) + panel) * bytes) +
                    VT_CPU_BLOCK * sizeof(int64_t);
  return l;
}

uint64_t vt_cpu_scratch_conv_weight_grad(const vt_cpu_call *c) {
  if (vt_cpu_count(c->out) == 0) return 0;
  const layout l = layout_of(c);
  return l.packed_bytes + l.grid_bytes + l.jobs * l.scratch_bytes;
}

/* ---- packing both operands ---- */

typedef struct gradient {
  const vt_cpu_call *c;
  layout l;
  char *packed, *grid, *scratch;
  uint64_t jobs;
} gradient;

/* Packs one image of dy into a panel of rows: at each place, the elements of the panel's rows
 * (output channels) become contiguous. */
static void pack_image_of_dy(const gradient *g, int64_t panel, int64_t image) {
  const layout *l = &g->l;
  const vt_view *dy = &g->c->in[1];
  const uint32_t last = dy->rank - 1, axes = dy->rank - 2;
  const int64_t bytes = l->k->bytes, rows = l->height, first = panel % l->panels * rows;
  const int64_t left = l->depthwise ? rows : l->rows - first, count = left < rows ? left : rows;
  const int64_t channel = panel / l->panels * l->rows + first;
  const char *from =
      (const char *)dy->data + (image * dy->stride[0] + channel * dy->stride[1]) * bytes;
  char *to = g->packed + (panel * l->length + image * l->places) * rows * bytes;
  const int64_t line = dy->dim[last], up = axes > 1 ? dy->dim[last - 1] : 1;
  if (count < rows) memset(to, 0, (size_t)(l->places * rows * bytes));
  for (int64_t i = 0; i * line < l->places; i++, to += line * rows * bytes) {
    int64_t at = axes > 1 ? i % up * dy->stride[last - 1] : 0;
    if (axes > 2) at += i / up * dy->stride[last - 2];
    l->k->copy(to, rows, from + at * bytes, dy->stride[last], dy->stride[1], line, count);
  }
}

static void pack_dy_job(void *context, uint64_t job) {
  const gradient *g = context;
  const int64_t items = g->l.groups * g->l.panels * g->l.images;
  const int64_t end = vt_cpu_job_first(items, g->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(items, g->jobs, job); i < end; i++)
    pack_image_of_dy(g, i / g->l.images, i % g->l.images);
}

/* Copies the element at position `at` of n channels of x; +0 if `at` is outside of x. */
static void copy_channels_at_position(const gradient *g, int64_t image, int64_t channel, int64_t n,
                                      const int64_t *at, char *to) {
  const layout *l = &g->l;
  const vt_view *x = &g->c->in[0];
  int64_t from = image * x->stride[0] + channel * x->stride[1];
  for (int i = 0; i < VT_CPU_AXES; i++) {
    if (at[i] < 0 || at[i] >= l->axis[i].dim) {
      memset(to, 0, (size_t)(n * l->k->bytes));
      return;
    }
    from += at[i] * l->axis[i].stride;
  }
  l->k->copy(to, n, (const char *)x->data + from * l->k->bytes, 0, x->stride[1], 1, n);
}

/* Fills one line of the grid, whose first element has index `base` along the last axis of x. */
static void copy_x_to_grid_line(const gradient *g, int64_t image, const int64_t *at, int64_t base,
                                char *to) {
  const layout *l = &g->l;
  const vt_view *x = &g->c->in[0];
  const vt_cpu_axis *a = l->axis;
  const int64_t n = l->grid.length[2], place = l->channels * l->k->bytes;
  int64_t first = n, count = 0;
  if (at[0] >= 0 && at[0] < a[0].dim && at[1] >= 0 && at[1] < a[1].dim)
    count = vt_cpu_count_inside(base, a[2].step, n, a[2].dim, &first);
  memset(to, 0, (size_t)(first * place));
  memset(to + (first + count) * place, 0, (size_t)((n - first - count) * place));
  if (count == 0) return;
  const int64_t from = image * x->stride[0] + at[0] * a[0].stride + at[1] * a[1].stride +
                       (base + first * a[2].step) * a[2].stride;
  l->k->copy(to + first * place, l->channels, (const char *)x->data + from * l->k->bytes,
             a[2].step * a[2].stride, x->stride[1], count, l->channels);
}

/* Fills line `line` of the grid, lines being counted over (image, phase, L0, L1). */
static void fill_grid_line(const gradient *g, int64_t line) {
  const layout *l = &g->l;
  const vt_cpu_grid *d = &l->grid;
  const int64_t lines = d->channel / d->length[2], image = line / lines;
  int64_t at[VT_CPU_AXES - 1], phase[VT_CPU_AXES];
  int64_t rest = line % lines, number = rest / d->length[1] / d->length[0];
  phase[2] = number % d->phases[2];
  phase[1] = number / d->phases[2] % d->phases[1];
  phase[0] = number / d->phases[2] / d->phases[1];
  at[1] = vt_cpu_grid_index_in_x(&l->axis[1], phase[1], rest % d->length[1]);
  at[0] = vt_cpu_grid_index_in_x(&l->axis[0], phase[0], rest / d->length[1] % d->length[0]);
  char *to = g->grid + line * d->length[2] * l->channels * l->k->bytes;
  copy_x_to_grid_line(g, image, at, vt_cpu_grid_index_in_x(&l->axis[2], phase[2], 0), to);
}

static void fill_grid_job(void *context, uint64_t job) {
  const gradient *g = context;
  const int64_t lines = g->l.images * (g->l.grid.channel / g->l.grid.length[2]);
  const int64_t end = vt_cpu_job_first(lines, g->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(lines, g->jobs, job); i < end; i++) fill_grid_line(g, i);
}

/* ---- products ---- */

typedef struct item {
  int64_t group, tap, channel, count, first_panel, end_panel;
  vt_cpu_levels sums; /* [rows][tile] */
  int64_t *at;
  char *panel;
} item;

/* Stores the offsets in the grid of places first .. first + n - 1, which are counted over all
 * images. */
static void list_offsets_of_places(const layout *l, int64_t first, int64_t n, int64_t *at) {
  const int64_t length[VT_CPU_AXES] = {l->axis[0].places, l->axis[1].places, l->axis[2].places};
  for (int64_t i = 0; i < n;) {
    const int64_t image = (first + i) / l->places, place = (first + i) % l->places;
    const int64_t end = place + n - i < l->places ? place + n - i : l->places;
    const vt_cpu_places p = vt_cpu_next_places(l->axis, length, place, end);
    const int64_t from = image * l->grid.channel +
                         (p.place[0] * l->grid.length[1] + p.place[1]) * l->grid.length[2] +
                         p.place[2];
    for (int64_t j = 0; j < p.n; j++) at[i + j] = (from + j) * l->channels;
    i += p.n;
  }
}

static void gather_columns_of_block(const gradient *g, const item *p, int64_t first, int64_t n) {
  const layout *l = &g->l;
  const vt_cpu_axis *a = l->axis;
  const int64_t tap[VT_CPU_AXES] = {p->tap / a[2].taps / a[1].taps, p->tap / a[2].taps % a[1].taps,
                                    p->tap % a[2].taps};
  for (int64_t i = 0; i < n; i++) {
    const int64_t place = (first + i) % l->places;
    const int64_t on[VT_CPU_AXES] = {place / a[2].places / a[1].places,
                                     place / a[2].places % a[1].places, place % a[2].places};
    int64_t at[VT_CPU_AXES];
    for (int d = 0; d < VT_CPU_AXES; d++)
      at[d] = on[d] * a[d].step + a[d].base + tap[d] * a[d].delta;
    copy_channels_at_position(g, (first + i) / l->places, p->group * l->depth + p->channel,
                              p->count, at, p->panel + i * l->tile * l->k->bytes);
    p->at[i] = i * l->tile;
  }
}

static const char *find_or_gather_columns(const gradient *g, const item *p, int64_t first,
                                          int64_t n) {
  const layout *l = &g->l;
  if (!l->has_grid) {
    gather_columns_of_block(g, p, first, n);
    return p->panel;
  }
  list_offsets_of_places(l, first, n, p->at);
  const int64_t from = vt_cpu_grid_tap_offset(&l->grid, l->axis, p->tap) * l->channels;
  return g->grid + (from + p->group * l->depth + p->channel) * l->k->bytes;
}

/* Adds to the sums of an item the products over places first .. first + n - 1 (one block); if
 * `fresh`, the sums start from +0. */
static void multiply_block(const gradient *g, const item *p, int64_t first, int64_t n, int fresh) {
  const layout *l = &g->l;
  const int vectors = (int)vt_cpu_div_up(p->count, l->k->lanes);
  const char *columns = find_or_gather_columns(g, p, first, n);
  if (l->depthwise) {
    const int64_t at = first * l->height + p->channel;
    l->k->depthwise(n, g->packed + at * l->k->bytes, l->height, columns, p->at, p->sums.at, vectors,
                    fresh);
    return;
  }
  for (int64_t i = p->first_panel; i < p->end_panel; i++) {
    const int64_t rows = l->rows - i * l->k->rows;
    const int64_t at = ((p->group * l->panels + i) * l->length + first) * l->k->rows;
    char *sums = p->sums.at + (i - p->first_panel) * l->k->rows * l->tile * l->k->bytes;
    l->k->tile[rows < l->k->rows ? rows - 1 : l->k->rows - 1](
        n, g->packed + at * l->k->bytes, columns, p->at, sums, l->tile, vectors, fresh);
  }
}

static void multiply_item(const gradient *g, const item *p) {
  const layout *l = &g->l;
  if (l->levels > 1 || l->blocks == 0) vt_cpu_levels_clear(&p->sums);
  for (int64_t b = 0; b < l->blocks; b++) {
    const int64_t first = b * VT_CPU_BLOCK, left = l->length - first;
    multiply_block(g, p, first, left < VT_CPU_BLOCK ? left : VT_CPU_BLOCK, b % VT_CPU_GROUP == 0);
    vt_cpu_levels_carry(&p->sums, b);
  }
}

static void store_item(const gradient *g, const item *p) {
  const layout *l = &g->l;
  const char *sums = vt_cpu_levels_total(&p->sums);
  const int64_t first = p->first_panel * l->k->rows, bytes = l->k->bytes;
  int64_t end = p->end_panel * l->k->rows;
  if (end > l->rows) end = l->rows;
  for (int64_t i = first; i < end; i++) {
    const int64_t to = ((p->group * l->rows + i) * l->depth + p->channel) * l->taps + p->tap;
    l->k->store((char *)g->c->out->data + to * bytes, l->taps, sums + (i - first) * l->tile * bytes,
                p->count, NULL);
  }
}

static void item_job(void *context, uint64_t job) {
  const gradient *g = context;
  const layout *l = &g->l;
  const int64_t end = vt_cpu_job_first(l->items, l->jobs, job + 1);
  const int64_t rows = vt_cpu_div_up(l->panels, l->parts) * l->k->rows;
  char *scratch = g->scratch + job * l->scratch_bytes;
  item p = {.at = (int64_t *)(void *)scratch};
  scratch += VT_CPU_BLOCK * sizeof(int64_t);
  p.sums = vt_cpu_levels_init(l->k->add, l->k->bytes, scratch, rows * l->tile, l->levels);
  p.panel = scratch + rows * l->tile * l->levels * l->k->bytes;
  for (int64_t i = vt_cpu_job_first(l->items, l->jobs, job); i < end; i++) {
    const uint64_t part = (uint64_t)(i % l->parts);
    const int64_t rest = i / l->parts / l->taps;
    p.first_panel = vt_cpu_job_first(l->panels, (uint64_t)l->parts, part);
    p.end_panel = vt_cpu_job_first(l->panels, (uint64_t)l->parts, part + 1);
    p.tap = i / l->parts % l->taps;
    p.channel = rest % l->tiles * l->tile;
    p.group = rest / l->tiles;
    p.count = l->depth - p.channel < l->tile ? l->depth - p.channel : l->tile;
    multiply_item(g, &p);
    store_item(g, &p);
  }
}

vt_status vt_cpu_run_conv_weight_grad(vt_cpu_call *c) {
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  gradient g = {.c = c, .l = layout_of(c), .packed = c->work};
  const layout *l = &g.l;
  g.grid = g.packed + l->packed_bytes;
  g.scratch = g.grid + l->grid_bytes;
  g.jobs = vt_cpu_job_count(c->team, (uint64_t)(l->groups * l->panels * l->images),
                            (double)l->places * 2);
  if (l->length > 0) vt_cpu_run_jobs(c->team, g.jobs, pack_dy_job, &g);
  if (l->has_grid && l->images > 0) {
    const int64_t n = l->images * l->grid.channel;
    g.jobs = vt_cpu_job_count(c->team, (uint64_t)(n / l->grid.length[2]),
                              (double)(l->grid.length[2] * l->channels) / 2);
    vt_cpu_run_jobs(c->team, g.jobs, fill_grid_job, &g);
    memset(g.grid + n * l->channels * l->k->bytes, 0, (size_t)(l->k->columns * l->k->bytes));
  }
  vt_cpu_run_jobs(c->team, l->jobs, item_job, &g);
  return VT_OK;
}
