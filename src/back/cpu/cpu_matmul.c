/* SPDX-License-Identifier: Apache-2.0
 * cpu_matmul.c - matmul and linear as products of matrices: leading axes that lie one after the
 * other become rows, the others products of their own; a weight is packed once. */
#include "cpu_gemm.h"

/* One matmul: matrices by their strides, and the leading axes that are left. */
typedef struct matmul {
  const void *a, *b;
  void *y;
  int64_t bytes; /* of a number */
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, y_row, y_column;
  uint32_t rank; /* leading axes */
  int64_t dim[VT_MAX_RANK], a_step[VT_MAX_RANK], b_step[VT_MAX_RANK], y_step[VT_MAX_RANK];
  int64_t products;
  const void *packed; /* all of b */
  const void *bias;
  int64_t bias_step;
} matmul;

/* The stride of x along leading axis i of `rank`: 0 where it has none or is repeated. */
static int64_t lead_step(const vt_view *x, uint32_t rank, uint32_t i) {
  const uint32_t missing = rank + 2 - x->rank;
  return i < missing || x->dim[i - missing] == 1 ? 0 : x->stride[i - missing];
}

static void take_axes(matmul *p, const vt_view *a, const vt_view *b, const vt_view *y) {
  for (uint32_t i = 0; i + 2 < y->rank; i++) {
    if (y->dim[i] == 1) continue;
    p->dim[p->rank] = y->dim[i];
    p->a_step[p->rank] = lead_step(a, y->rank - 2, i);
    p->b_step[p->rank] = lead_step(b, y->rank - 2, i);
    p->y_step[p->rank++] = y->stride[i];
  }
}

/* The last leading axis continues the rows when b does not change along it. */
static void fold_axes(matmul *p) {
  while (p->rank > 0) {
    const uint32_t i = p->rank - 1;
    const int follows = p->a_step[i] == p->m * p->a_row && p->y_step[i] == p->m * p->y_row;
    if (p->b_step[i] != 0 || (p->m != 1 && !follows)) break;
    if (p->m == 1) p->a_row = p->a_step[i], p->y_row = p->y_step[i];
    p->m *= p->dim[i];
    p->rank--;
  }
  p->products = 1;
  for (uint32_t i = 0; i < p->rank; i++) p->products *= p->dim[i];
}

static matmul matmul_of(const vt_cpu_call *c, int64_t turn_a, int64_t turn_b) {
  const vt_view *a = &c->in[0], *b = &c->in[1], *y = c->out;
  const uint32_t ra = a->rank - (turn_a ? 1 : 2), ka = a->rank - (turn_a ? 2 : 1);
  const uint32_t kb = b->rank - (turn_b ? 1 : 2), nb = b->rank - (turn_b ? 2 : 1);
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
  take_axes(&p, a, b, y);
  fold_axes(&p);
  return p;
}

static void get_product(const void *context, int64_t i, vt_cpu_product *out) {
  const matmul *p = context;
  int64_t a = 0, b = 0, y = 0, left = i;
  for (uint32_t r = p->rank; r-- > 0; left /= p->dim[r]) {
    const int64_t at = left % p->dim[r];
    a += at * p->a_step[r], b += at * p->b_step[r], y += at * p->y_step[r];
  }
  out->m = p->m, out->n = p->n, out->k = p->k;
  out->a.data = (const char *)p->a + a * p->bytes;
  out->a.across = p->a_row, out->a.along = p->a_column;
  out->b.data = (const char *)p->b + b * p->bytes;
  out->b.across = p->b_column, out->b.along = p->b_row;
  out->b.packed = p->packed;
  out->c = (char *)p->y + y * p->bytes;
  out->row = p->y_row, out->column = p->y_column;
  out->first = i * p->m * p->n, out->tail_row = p->n;
  out->bias = p->bias, out->bias_step = p->bias_step;
}

static vt_cpu_products products_of(const vt_cpu_call *c, const matmul *p) {
  return (vt_cpu_products){.dtype = c->out->dtype,
                           .n = p->products,
                           .m_each = p->m,
                           .n_each = p->n,
                           .k_each = p->k,
                           .get = get_product,
                           .context = p,
                           .tail = c->tail};
}

/* ---- weights that are kept ---- */

typedef struct kept {
  uint64_t seal; /* of the weight that the panels behind this were made of */
} kept;
enum { KEPT_HEAD = 64, WORTH_KEEPING = 4096 };

static uint64_t keep_bytes(const vt_cpu_call *c, const matmul *p) {
  int shared = 1;
  for (uint32_t i = 0; i < p->rank; i++) shared &= p->b_step[i] == 0;
  if (!shared || !vt_cpu_is_lasting(c, 1) || p->n * p->k < WORTH_KEEPING) return 0;
  return KEPT_HEAD + vt_cpu_gemm_pack_bytes(c->team, c->out->dtype, VT_CPU_COLUMNS, p->n, p->k);
}

static void use_kept(const vt_cpu_call *c, matmul *p) {
  kept *k = c->kept;
  if (k == NULL || c->seal[1] == 0) return;
  p->packed = (char *)c->kept + KEPT_HEAD;
  if (k->seal == c->seal[1]) return;
  const vt_cpu_side side = {.data = p->b, .across = p->b_column, .along = p->b_row};
  vt_cpu_gemm_pack(c->team, c->out->dtype, VT_CPU_COLUMNS, p->n, p->k, &side,
                   (char *)c->kept + KEPT_HEAD);
  k->seal = c->seal[1];
}

/* ---- handlers ---- */

static matmul plain(const vt_cpu_call *c) {
  const vt_attr_matmul *a = c->attrs;
  return matmul_of(c, a->transpose_a, a->transpose_b);
}

static uint64_t work_of(const vt_cpu_call *c, const matmul *p) {
  const vt_cpu_products all = products_of(c, p);
  return vt_cpu_gemm_work(c->team, &all);
}

static vt_status multiply(vt_cpu_call *c, matmul *p) {
  use_kept(c, p);
  const vt_cpu_products all = products_of(c, p);
  vt_cpu_gemm(c->team, &all, c->work);
  return VT_OK;
}

uint64_t work_matmul(const vt_cpu_call *c) {
  const matmul p = plain(c);
  return work_of(c, &p);
}
uint64_t keep_matmul(const vt_cpu_call *c) {
  const matmul p = plain(c);
  return keep_bytes(c, &p);
}
vt_status run_matmul(vt_cpu_call *c) {
  matmul p = plain(c);
  return multiply(c, &p);
}

uint64_t work_linear(const vt_cpu_call *c) {
  const matmul p = matmul_of(c, 0, 0);
  return work_of(c, &p);
}
uint64_t keep_linear(const vt_cpu_call *c) {
  const matmul p = matmul_of(c, 0, 0);
  return keep_bytes(c, &p);
}
vt_status run_linear(vt_cpu_call *c) {
  matmul p = matmul_of(c, 0, 0);
  if (c->n_in == 3) {
    p.bias = c->in[2].data;
    p.bias_step = c->in[2].stride[0];
  }
  return multiply(c, &p);
}
