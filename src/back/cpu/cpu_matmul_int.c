/* SPDX-License-Identifier: Apache-2.0
 * cpu_matmul_int.c - the ops matmul_int and linear_int: matrix products of i8 and u8, exact in
 * i32. */
#include "cpu_int.h"
#include "cpu_move.h"

/* The leading axes of the result, and the strides of the operands along them: 0 if broadcast. */
typedef struct batch {
  uint32_t axes;
  int64_t dim[VT_MAX_RANK], a[VT_MAX_RANK], b[VT_MAX_RANK];
} batch;

typedef struct product {
  const vt_cpu_call *c;
  const vt_view *a, *b, *y;
  batch lead;
} product;

static int64_t lead_stride(const vt_view *v, uint32_t axis, uint32_t axes) {
  const uint32_t own = v->rank - 2, skipped = axes - own;
  if (axis < skipped || v->dim[axis - skipped] == 1) return 0;
  return v->stride[axis - skipped];
}

/* Whether all leading axes can be joined with the rows into one product: the rows of a must be
 * contiguous over all leading axes, and b must not change along them. */
static int can_join_into_one_product(const product *p) {
  int64_t step = p->a->stride[p->a->rank - 2], rows = p->a->dim[p->a->rank - 2];
  for (uint32_t i = p->lead.axes; i-- > 0;) {
    if (p->lead.dim[i] != 1 && (p->lead.b[i] != 0 || p->lead.a[i] != step * rows)) return 0;
    rows *= p->lead.dim[i];
  }
  return 1;
}

static int64_t batch_offset(const batch *l, const int64_t *stride, int64_t i) {
  int64_t at = 0;
  for (uint32_t axis = l->axes; axis-- > 0; i /= l->dim[axis])
    at += i % l->dim[axis] * stride[axis];
  return at;
}

static vt_cpu_bytes get_rows(const void *context, int64_t set) {
  const product *p = context;
  return (vt_cpu_bytes){(const uint8_t *)p->a->data + batch_offset(&p->lead, p->lead.a, set),
                        p->a->stride[p->a->rank - 1], p->a->stride[p->a->rank - 2]};
}

static vt_cpu_bytes get_columns(const void *context, int64_t i, int64_t first, int64_t count,
                                void *scratch) {
  const product *p = context;
  const int64_t step = p->b->stride[p->b->rank - 1];
  (void)count;
  (void)scratch;
  return (vt_cpu_bytes){
      (const uint8_t *)p->b->data + batch_offset(&p->lead, p->lead.b, i) + first * step,
      p->b->stride[p->b->rank - 2], step};
}

static vt_cpu_numbers numbers_of_operand(const vt_cpu_call *c, uint32_t i) {
  if (c->n_in <= i) return (vt_cpu_numbers){.data = NULL};
  return (vt_cpu_numbers){c->in[i].data, c->in[i].dtype,
                          c->in[i].rank == 0 ? 0 : c->in[i].stride[0]};
}

static void get_result_place(const void *context, int64_t i, vt_cpu_int_place *out) {
  const product *p = context;
  const int64_t n = p->y->dim[p->y->rank - 1], m = p->y->dim[p->y->rank - 2];
  *out = (vt_cpu_int_place){.y = (int32_t *)p->y->data + i * m * n,
                            .row = n,
                            .za = numbers_of_operand(p->c, 2),
                            .zb = numbers_of_operand(p->c, 3),
                            .column_bias = numbers_of_operand(p->c, 4)};
}

static void read_step(const vt_cpu_call *c, product *p, vt_cpu_int_products *out) {
  *p = (product){.c = c, .a = &c->in[0], .b = &c->in[1], .y = c->out};
  int64_t n = 1;
  p->lead.axes = p->y->rank - 2;
  for (uint32_t i = 0; i < p->lead.axes; i++) {
    p->lead.dim[i] = p->y->dim[i];
    p->lead.a[i] = lead_stride(p->a, i, p->lead.axes);
    p->lead.b[i] = lead_stride(p->b, i, p->lead.axes);
    n *= p->y->dim[i];
  }
  const int one = can_join_into_one_product(p);
  *out = (vt_cpu_int_products){.products = one ? 1 : n,
                               .m = p->y->dim[p->y->rank - 2] * (one ? n : 1),
                               .n = p->y->dim[p->y->rank - 1],
                               .k = p->a->dim[p->a->rank - 1],
                               .row_sets = one ? 1 : n,
                               .row_type = p->a->dtype,
                               .column_type = p->b->dtype,
                               .rows = get_rows,
                               .columns = get_columns,
                               .place = get_result_place,
                               .context = p};
}

uint64_t vt_cpu_scratch_matmul_int(const vt_cpu_call *c) {
  product p;
  vt_cpu_int_products all;
  if (vt_cpu_count(c->out) == 0) return 0;
  read_step(c, &p, &all);
  return vt_cpu_int_scratch_bytes(c->team, &all);
}

uint64_t vt_cpu_cache_bytes_matmul_int(const vt_cpu_call *c) {
  product p;
  vt_cpu_int_products all;
  read_step(c, &p, &all);
  if (c->in[1].rank != 2) return 0;
  return vt_cpu_bytes_to_cache(c, 1, vt_cpu_int_packed_columns_bytes(c->team, &all));
}

vt_status vt_cpu_run_matmul_int(vt_cpu_call *c) {
  product p;
  vt_cpu_int_products all;
  int stale;
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  read_step(c, &p, &all);
  void *panels = vt_cpu_cached_data(c, 1, &stale);
  if (panels != NULL && stale) vt_cpu_int_columns_pack(c->team, &all, panels);
  all.packed_columns = panels;
  vt_cpu_int_multiply(c->team, &all, c->work);
  return VT_OK;
}
