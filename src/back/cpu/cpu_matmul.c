/* SPDX-License-Identifier: Apache-2.0
 * cpu_matmul.c - the ops matmul, linear and matmul_masked as matrix products. Leading axes that are
 * contiguous with the rows become rows, others become separate products. A constant weight is
 * packed once. matmul_masked, in which some products are absent, computes each row by itself. */
#include "cpu_gemm.h"

/* One step: its matrices by their strides in elements, and the leading axes that remain. */
typedef struct matmul {
  const void *a, *b;
  void *y;
  int64_t bytes; /* bytes of a number */
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, y_row, y_column;
  uint32_t rank; /* number of leading axes */
  int64_t dim[VT_MAX_RANK], a_step[VT_MAX_RANK], b_step[VT_MAX_RANK], y_step[VT_MAX_RANK];
  int64_t products;
  const void *packed; /* all panels of b, or NULL */
  const void *bias;   /* bias[j*bias_step] is added to column j; NULL: no bias */
  int64_t bias_step;
  const uint8_t *present; /* [i, k] is 0 if product k is absent from row i; NULL: all are present */
  int64_t p_row, p_column, p_step[VT_MAX_RANK];
} matmul;

/* The stride of x along leading axis i of `rank`: 0 if x lacks the axis or is broadcast along
 * it. */
static int64_t lead_stride(const vt_view *x, uint32_t rank, uint32_t i) {
  const uint32_t missing = rank + 2 - x->rank;
  return i < missing || x->dim[i - missing] == 1 ? 0 : x->stride[i - missing];
}

static void read_lead_axes(matmul *p, const vt_view *a, const vt_view *b, const vt_view *y,
                           const vt_view *present) {
  for (uint32_t i = 0; i + 2 < y->rank; i++) {
    if (y->dim[i] == 1) continue;
    p->dim[p->rank] = y->dim[i];
    p->a_step[p->rank] = lead_stride(a, y->rank - 2, i);
    p->b_step[p->rank] = lead_stride(b, y->rank - 2, i);
    p->p_step[p->rank] = present != NULL ? lead_stride(present, y->rank - 2, i) : 0;
    p->y_step[p->rank++] = y->stride[i];
  }
}

/* Joins leading axes with the rows as long as b does not change along them, and a and y are
 * contiguous over axis and rows. */
static void join_lead_axes(matmul *p) {
  while (p->rank > 0) {
    const uint32_t i = p->rank - 1;
    const int is_contiguous = p->a_step[i] == p->m * p->a_row && p->y_step[i] == p->m * p->y_row;
    if (p->b_step[i] != 0 || (p->m != 1 && !is_contiguous)) break;
    if (p->m == 1) {
      p->a_row = p->a_step[i];
      p->y_row = p->y_step[i];
    }
    p->m *= p->dim[i];
    p->rank--;
  }
}

static int64_t count_products(const matmul *p) {
  int64_t n = 1;
  for (uint32_t i = 0; i < p->rank; i++) n *= p->dim[i];
  return n;
}

/* Reads the matrices of the step, without joining axes. `present` is the third operand of
 * matmul_masked, or NULL. */
static matmul read_matrices(const vt_cpu_call *c, int64_t transpose_a, int64_t transpose_b,
                            const vt_view *present) {
  const vt_view *a = &c->in[0], *b = &c->in[1], *y = c->out;
  const uint32_t ra = a->rank - (transpose_a ? 1 : 2), ka = a->rank - (transpose_a ? 2 : 1);
  const uint32_t kb = b->rank - (transpose_b ? 1 : 2), nb = b->rank - (transpose_b ? 2 : 1);
  matmul p = {.a = a->data,
              .b = b->data,
              .y = y->data,
              .bytes = (int64_t)vt_cpu_bytes_of(y->dtype),
              .m = a->dim[ra],
              .n = b->dim[nb],
              .k = a->dim[ka],
              .a_row = a->stride[ra],
              .a_column = a->stride[ka],
              .b_row = b->stride[kb],
              .b_column = b->stride[nb],
              .y_row = y->stride[y->rank - 2],
              .y_column = y->stride[y->rank - 1]};
  read_lead_axes(&p, a, b, y, present);
  return p;
}

static matmul read_joined_matrices(const vt_cpu_call *c, int64_t transpose_a, int64_t transpose_b) {
  matmul p = read_matrices(c, transpose_a, transpose_b, NULL);
  join_lead_axes(&p);
  p.products = count_products(&p);
  return p;
}

static void get_product(const void *context, int64_t i, vt_cpu_product *out) {
  const matmul *p = context;
  int64_t a = 0, b = 0, y = 0, left = i;
  for (uint32_t r = p->rank; r-- > 0; left /= p->dim[r]) {
    const int64_t at = left % p->dim[r];
    a += at * p->a_step[r];
    b += at * p->b_step[r];
    y += at * p->y_step[r];
  }
  out->m = p->m;
  out->n = p->n;
  out->k = p->k;
  out->a.data = (const char *)p->a + a * p->bytes;
  out->a.across = p->a_row;
  out->a.along = p->a_column;
  out->b.data = (const char *)p->b + b * p->bytes;
  out->b.across = p->b_column;
  out->b.along = p->b_row;
  out->packed = p->packed;
  out->c = (char *)p->y + y * p->bytes;
  out->row = p->y_row;
  out->column = p->y_column;
  out->first = i * p->m * p->n;
  out->epilogue_row = p->n;
  out->bias = p->bias;
  out->bias_step = p->bias_step;
}

static vt_cpu_products products_of(const vt_cpu_call *c, const matmul *p) {
  return (vt_cpu_products){.dtype = c->out->dtype,
                           .n = p->products,
                           .m_each = p->m,
                           .n_each = p->n,
                           .k_each = p->k,
                           .get = get_product,
                           .context = p,
                           .contiguous = p->packed == NULL && p->b_column == 1,
                           .packed = p->packed != NULL,
                           .epilogue = c->epilogue};
}

/* ---- cached weights ---- */

enum { MIN_CACHED = 4096 };

static uint64_t b_cache_bytes(const vt_cpu_call *c, const matmul *p) {
  int shared = 1;
  for (uint32_t i = 0; i < p->rank; i++) shared &= p->b_step[i] == 0;
  if (!shared || p->n * p->k < MIN_CACHED) return 0;
  return vt_cpu_bytes_to_cache(c, 1, vt_cpu_gemm_pack_bytes(c->team, c->out->dtype, p->n, p->k));
}

static void use_or_pack_cached_panels(const vt_cpu_call *c, matmul *p) {
  int stale;
  void *panels = vt_cpu_cached_data(c, 1, &stale);
  const vt_cpu_side side = {.data = p->b, .across = p->b_column, .along = p->b_row};
  if (panels != NULL && stale) vt_cpu_gemm_pack(c->team, c->out->dtype, p->n, p->k, &side, panels);
  p->packed = panels;
}

/* ---- handlers ---- */

static matmul read_matmul(const vt_cpu_call *c) {
  const vt_attr_matmul *a = c->attrs;
  return read_joined_matrices(c, a->transpose_a, a->transpose_b);
}

/* The larger of the scratch sizes for a packed b and for an unpacked one, because there may be no
 * memory to cache b. */
static uint64_t scratch_bytes(const vt_cpu_call *c, const matmul *p) {
  vt_cpu_products all = products_of(c, p);
  const uint64_t unpacked = vt_cpu_gemm_scratch_bytes(c->team, &all);
  if (b_cache_bytes(c, p) == 0) return unpacked;
  all.contiguous = 0;
  all.packed = 1;
  const uint64_t packed = vt_cpu_gemm_scratch_bytes(c->team, &all);
  return packed > unpacked ? packed : unpacked;
}

static vt_status run_products(vt_cpu_call *c, matmul *p) {
  use_or_pack_cached_panels(c, p);
  const vt_cpu_products all = products_of(c, p);
  vt_cpu_gemm(c->team, &all, c->work);
  return VT_OK;
}

uint64_t vt_cpu_scratch_matmul(const vt_cpu_call *c) {
  const matmul p = read_matmul(c);
  return scratch_bytes(c, &p);
}
uint64_t vt_cpu_cache_bytes_matmul(const vt_cpu_call *c) {
  const matmul p = read_matmul(c);
  return b_cache_bytes(c, &p);
}
vt_status vt_cpu_run_matmul(vt_cpu_call *c) {
  matmul p = read_matmul(c);
  return run_products(c, &p);
}

uint64_t vt_cpu_scratch_linear(const vt_cpu_call *c) {
  const matmul p = read_joined_matrices(c, 0, 0);
  return scratch_bytes(c, &p);
}
uint64_t vt_cpu_cache_bytes_linear(const vt_cpu_call *c) {
  const matmul p = read_joined_matrices(c, 0, 0);
  return b_cache_bytes(c, &p);
}
vt_status vt_cpu_run_linear(vt_cpu_call *c) {
  matmul p = read_joined_matrices(c, 0, 0);
  if (c->n_in == 3) {
    p.bias = c->in[2].data;
    p.bias_step = c->in[2].stride[0];
  }
  return run_products(c, &p);
}

/* ---- matmul_masked ---- */

typedef struct masked_run {
  matmul p;
  const vt_cpu_gemm_type *g;
  vt_cpu_chain *epilogue;
  char *work;
  uint64_t jobs;
} masked_run;

static matmul read_matmul_masked(const vt_cpu_call *c) {
  const vt_attr_matmul *a = c->attrs;
  const vt_view *present = &c->in[2];
  matmul p = read_matrices(c, a->transpose_a, a->transpose_b, present);
  p.present = present->data;
  p.p_row = present->stride[present->rank - 2];
  p.p_column = present->stride[present->rank - 1];
  p.products = count_products(&p);
  return p;
}

/* The number of jobs of matmul_masked: at most one per thread, because each job may need its own
 * copy of b. */
static uint64_t count_masked_jobs(const vt_cpu_call *c, const matmul *p) {
  const double per_ns = 20;
  const uint64_t rows = (uint64_t)(p->products * p->m);
  const uint64_t jobs = vt_cpu_job_count(c->team, rows, 2.0 * (double)p->n * (double)p->k / per_ns);
  return jobs < c->team->threads ? jobs : c->team->threads;
}

/* Bytes of a copy of b whose columns are contiguous; 0 if those of b are. */
static uint64_t b_copy_bytes(const matmul *p) {
  return p->b_column == 1 ? 0 : vt_cpu_round_to_line((uint64_t)(p->n * p->k * p->bytes));
}

uint64_t vt_cpu_scratch_matmul_masked(const vt_cpu_call *c) {
  const matmul p = read_matmul_masked(c);
  return count_masked_jobs(c, &p) * b_copy_bytes(&p);
}

/* The start of matrix number i of each operand. */
typedef struct matrix_addresses {
  const char *a, *b;
  const uint8_t *present;
  char *y;
} matrix_addresses;

static matrix_addresses matrix_starts(const matmul *p, int64_t i) {
  int64_t a = 0, b = 0, y = 0, mask = 0, left = i;
  for (uint32_t r = p->rank; r-- > 0; left /= p->dim[r]) {
    const int64_t at = left % p->dim[r];
    a += at * p->a_step[r];
    b += at * p->b_step[r];
    y += at * p->y_step[r];
    mask += at * p->p_step[r];
  }
  return (matrix_addresses){(const char *)p->a + a * p->bytes, (const char *)p->b + b * p->bytes,
                            p->present + mask, (char *)p->y + y * p->bytes};
}

/* Computes rows from .. end - 1 of matrix number i. */
static void compute_masked_rows(const masked_run *run, int64_t i, int64_t from, int64_t end,
                                char *copy) {
  const matmul *p = &run->p;
  const matrix_addresses at = matrix_starts(p, i);
  vt_cpu_masked m = {.b = at.b,
                     .a_step = p->a_column,
                     .b_row = p->b_row,
                     .present_step = p->p_column,
                     .k = p->k,
                     .n = p->n,
                     .y_step = p->y_column};
  if (p->b_column != 1) {
    run->g->pack(at.b, p->b_column, p->b_row, p->n, p->n, p->k, copy);
    m.b = copy;
    m.b_row = p->n;
  }
  for (int64_t r = from; r < end; r++) {
    m.a = at.a + r * p->a_row * p->bytes;
    m.present = at.present + r * p->p_row;
    m.y = at.y + r * p->y_row * p->bytes;
    run->g->masked(&m);
    if (run->epilogue != NULL) vt_cpu_chain_run_part(run->epilogue, (i * p->m + r) * p->n, p->n);
  }
}

static void masked_rows_job(void *context, uint64_t job) {
  const masked_run *run = context;
  const int64_t m = run->p.m, rows = run->p.products * m;
  const int64_t end = vt_cpu_job_first(rows, run->jobs, job + 1);
  char *copy = run->work + job * b_copy_bytes(&run->p);
  for (int64_t r = vt_cpu_job_first(rows, run->jobs, job), next; r < end; r = next) {
    const int64_t i = r / m;
    next = (i + 1) * m < end ? (i + 1) * m : end;
    compute_masked_rows(run, i, r - i * m, next - i * m, copy);
  }
}

vt_status vt_cpu_run_matmul_masked(vt_cpu_call *c) {
  masked_run run = {.p = read_matmul_masked(c),
                    .g = vt_cpu_gemm_of(c->team, c->out->dtype),
                    .epilogue = c->epilogue,
                    .work = c->work};
  run.jobs = count_masked_jobs(c, &run.p);
  if (run.p.n > 0) vt_cpu_run_jobs(c->team, run.jobs, masked_rows_job, &run);
  return VT_OK;
}
