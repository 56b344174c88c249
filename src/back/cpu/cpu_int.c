/* SPDX-License-Identifier: Apache-2.0
 * cpu_int.c - matrix products of 8-bit integers. Rows are packed once by the team, columns one
 * panel at a time by the thread that multiplies them. Panels hold a' = a + 128 for signed rows and
 * b' = b - 128 for unsigned columns, and the zero points are shifted alike, so no difference
 * changes:
 *   sum (a' - za')(b' - zb') = sum a'b' - zb'*(sum a') - za'*(sum b') + k*za'*zb'
 * The left side fits i32 by the rules of the op, so the right side may wrap in between. A strip is
 * one column panel with what its results need. */
#include "cpu_int.h"
#include <string.h>

typedef struct shape { /* sizes of the panels, and how they are split among jobs */
  const vt_cpu_ints *kernels;
  int64_t steps;                      /* groups along k */
  uint64_t row_sums, row_bytes;       /* offset of the sums in a row panel; bytes of a row panel */
  uint64_t column_sums, column_bytes; /* offset of the sums in a column panel; its bytes */
  int64_t row_panels, column_panels, row_parts;
  uint64_t jobs;
} shape;

/* Chooses the panels; rows are split among jobs too if there are not enough column panels for all
 * threads. */
static shape choose_panels_and_jobs(const vt_cpu_team *t, const vt_cpu_int_products *p) {
  const vt_cpu_ints *k = vt_cpu_ints_of(t->kernels);
  const uint64_t step = (uint64_t)(k->group * k->bytes);
  shape s = {.kernels = k, .steps = vt_cpu_div_up(p->k, k->group), .row_parts = 1};
  s.row_panels = vt_cpu_div_up(p->m, k->rows);
  s.column_panels = vt_cpu_div_up(p->n, k->columns);
  s.row_sums = vt_cpu_round_to_line((uint64_t)s.steps * (uint64_t)k->rows * step);
  s.row_bytes = s.row_sums + vt_cpu_round_to_line((uint64_t)k->rows * sizeof(int32_t));
  s.column_sums = vt_cpu_round_to_line((uint64_t)s.steps * (uint64_t)k->columns * step);
  s.column_bytes = s.column_sums + vt_cpu_round_to_line((uint64_t)k->columns * sizeof(int32_t));
  const int64_t items = p->products * s.column_panels, wanted = (int64_t)t->threads * 2;
  if (items > 0 && items < wanted) s.row_parts = vt_cpu_div_up(wanted, items);
  if (s.row_parts > s.row_panels) s.row_parts = s.row_panels > 0 ? s.row_panels : 1;
  const double each = (double)p->m * (double)p->k / (double)s.row_parts * k->columns / 16;
  s.jobs = vt_cpu_job_count(t, (uint64_t)(items * s.row_parts), each);
  return s;
}

/* ---- packing ---- */

typedef struct packing {
  const vt_cpu_int_products *p;
  shape s;
  char *to;
  int64_t items;
  uint64_t jobs;
} packing;

static void pack_row_panel(const packing *a, int64_t item) {
  const int64_t panel = item % a->s.row_panels, first = panel * a->s.kernels->rows;
  vt_cpu_int_side side = {.from = a->p->rows(a->p->context, item / a->s.row_panels),
                          .count = a->p->m - first,
                          .k = a->p->k,
                          .flip = a->p->row_type == VT_DTYPE_I8 ? 0x80 : 0};
  char *to = a->to + (uint64_t)item * a->s.row_bytes;
  if (side.count > a->s.kernels->rows) side.count = a->s.kernels->rows;
  side.from.at += first * side.from.across;
  a->s.kernels->pack_rows(&side, to, (int32_t *)(void *)(to + a->s.row_sums));
}

static void pack_columns(const vt_cpu_int_products *p, const shape *s, int64_t product,
                         int64_t panel, void *scratch, char *to) {
  const int64_t first = panel * s->kernels->columns, left = p->n - first;
  vt_cpu_int_side side = {.count = left < s->kernels->columns ? left : s->kernels->columns,
                          .k = p->k,
                          .flip = p->column_type == VT_DTYPE_U8 ? 0x80 : 0};
  side.from = p->columns(p->context, product, first, side.count, scratch);
  s->kernels->pack_columns(&side, to, (int32_t *)(void *)(to + s->column_sums));
}

static void pack_rows_job(void *context, uint64_t job) {
  const packing *a = context;
  const int64_t end = vt_cpu_job_first(a->items, a->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(a->items, a->jobs, job); i < end; i++) pack_row_panel(a, i);
}

static void pack_columns_job(void *context, uint64_t job) {
  const packing *a = context;
  const int64_t end = vt_cpu_job_first(a->items, a->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(a->items, a->jobs, job); i < end; i++)
    pack_columns(a->p, &a->s, 0, i, NULL, a->to + (uint64_t)i * a->s.column_bytes);
}

uint64_t vt_cpu_int_packed_rows_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p) {
  const shape s = choose_panels_and_jobs(t, p);
  return (uint64_t)(p->row_sets * s.row_panels) * s.row_bytes;
}

void vt_cpu_int_rows_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out) {
  packing a = {.p = p, .s = choose_panels_and_jobs(t, p), .to = out};
  a.items = p->row_sets * a.s.row_panels;
  a.jobs = vt_cpu_job_count(t, (uint64_t)a.items, (double)p->k * a.s.kernels->rows / 2);
  vt_cpu_run_jobs(t, a.jobs, pack_rows_job, &a);
}

uint64_t vt_cpu_int_packed_columns_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p) {
  const shape s = choose_panels_and_jobs(t, p);
  return (uint64_t)s.column_panels * s.column_bytes;
}

void vt_cpu_int_columns_pack(const vt_cpu_team *t, const vt_cpu_int_products *p, void *out) {
  packing a = {.p = p, .s = choose_panels_and_jobs(t, p), .to = out};
  a.items = a.s.column_panels;
  a.jobs = vt_cpu_job_count(t, (uint64_t)a.items, (double)p->k * a.s.kernels->columns / 2);
  vt_cpu_run_jobs(t, a.jobs, pack_columns_job, &a);
}

/* ---- multiplying ---- */

typedef struct product_run {
  const vt_cpu_int_products *p;
  shape s;
  const char *rows;
  char *scratch; /* for each job: a packed column panel, then scratch for the function `columns` */
} product_run;

/* A column panel with the zero point, the sum and the bias of each column. */
typedef struct strip {
  vt_cpu_int_place at;
  const char *panel;
  int64_t first, count;
  uint32_t zero[VT_CPU_INT_COLUMNS_MAX], sum[VT_CPU_INT_COLUMNS_MAX], bias[VT_CPU_INT_COLUMNS_MAX];
} strip;

static uint32_t read_number_or_zero(const vt_cpu_numbers *v, int64_t i) {
  if (v->data == NULL) return 0;
  if (v->dtype == VT_DTYPE_I8) return (uint32_t)((const int8_t *)v->data)[i * v->step];
  if (v->dtype == VT_DTYPE_U8) return ((const uint8_t *)v->data)[i * v->step];
  return (uint32_t)((const int32_t *)v->data)[i * v->step];
}

static void begin_strip(const product_run *u, int64_t product, int64_t panel, char *scratch,
                        strip *out) {
  const vt_cpu_int_products *p = u->p;
  const int64_t columns = u->s.kernels->columns, left = p->n - panel * columns;
  const uint32_t shift = p->column_type == VT_DTYPE_U8 ? 128 : 0;
  out->first = panel * columns;
  out->count = left < columns ? left : columns;
  out->panel = scratch;
  if (p->packed_columns != NULL) {
    out->panel = (const char *)p->packed_columns + (uint64_t)panel * u->s.column_bytes;
  } else {
    pack_columns(p, &u->s, product, panel, scratch + u->s.column_bytes, scratch);
  }
  p->place(p->context, product, &out->at);
  memcpy(out->sum, out->panel + u->s.column_sums, (size_t)columns * sizeof *out->sum);
  for (int64_t j = 0; j < out->count; j++) {
    out->zero[j] = read_number_or_zero(&out->at.zb, out->first + j) - shift;
    out->bias[j] = read_number_or_zero(&out->at.column_bias, out->first + j);
  }
}

static void store_result_row(const product_run *u, const strip *t, int64_t i, uint32_t sum,
                             const int32_t *from) {
  const uint32_t shift = u->p->row_type == VT_DTYPE_I8 ? 128 : 0;
  const uint32_t zero = read_number_or_zero(&t->at.za, i) + shift;
  const uint32_t each = (uint32_t)u->p->k * zero - sum,
                 bias = read_number_or_zero(&t->at.row_bias, i);
  int32_t *y = t->at.y + i * t->at.row + t->first;
  for (int64_t j = 0; j < t->count; j++)
    y[j] = (int32_t)((uint32_t)from[j] + t->zero[j] * each - zero * t->sum[j] + t->bias[j] + bias);
}

static void multiply_panel(const product_run *u, const strip *t, int64_t row_set, int64_t panel) {
  const vt_cpu_ints *k = u->s.kernels;
  const char *rows = u->rows + (uint64_t)(row_set * u->s.row_panels + panel) * u->s.row_bytes;
  const int64_t first = panel * k->rows, left = u->p->m - first;
  const int64_t height = left < k->rows ? left : k->rows;
  int32_t y[VT_CPU_INT_ROWS_MAX * VT_CPU_INT_COLUMNS_MAX];
  uint32_t sums[VT_CPU_INT_ROWS_MAX];
  memcpy(sums, rows + u->s.row_sums, (size_t)height * sizeof *sums);
  k->tile[height - 1](u->s.steps, rows, t->panel, y);
  for (int64_t i = 0; i < height; i++)
    store_result_row(u, t, first + i, sums[i], y + i * k->columns);
}

static void multiply_job(void *context, uint64_t job) {
  const product_run *u = context;
  const shape *s = &u->s;
  const int64_t items = u->p->products * s->column_panels * s->row_parts;
  const int64_t end = vt_cpu_job_first(items, s->jobs, job + 1);
  char *scratch = u->scratch + job * (s->column_bytes + vt_cpu_round_to_line(u->p->scratch_bytes));
  strip t;
  for (int64_t i = vt_cpu_job_first(items, s->jobs, job); i < end; i++) {
    const int64_t part = i % s->row_parts, panel = i / s->row_parts % s->column_panels;
    const int64_t product = i / s->row_parts / s->column_panels;
    const int64_t last =
        vt_cpu_job_first(s->row_panels, (uint64_t)s->row_parts, (uint64_t)part + 1);
    begin_strip(u, product, panel, scratch, &t);
    for (int64_t r = vt_cpu_job_first(s->row_panels, (uint64_t)s->row_parts, (uint64_t)part);
         r < last; r++)
      multiply_panel(u, &t, product % u->p->row_sets, r);
  }
}

uint64_t vt_cpu_int_scratch_bytes(const vt_cpu_team *t, const vt_cpu_int_products *p) {
  const shape s = choose_panels_and_jobs(t, p);
  return vt_cpu_int_packed_rows_bytes(t, p) +
         s.jobs * (s.column_bytes + vt_cpu_round_to_line(p->scratch_bytes));
}

void vt_cpu_int_multiply(const vt_cpu_team *t, const vt_cpu_int_products *p, void *work) {
  product_run u = {
      .p = p, .s = choose_panels_and_jobs(t, p), .rows = p->packed_rows, .scratch = work};
  if (p->products == 0 || p->m == 0 || p->n == 0) return;
  if (u.rows == NULL) {
    vt_cpu_int_rows_pack(t, p, work);
    u.rows = work;
    u.scratch += vt_cpu_int_packed_rows_bytes(t, p);
  }
  vt_cpu_run_jobs(t, u.s.jobs, multiply_job, &u);
}
