/* SPDX-License-Identifier: Apache-2.0
 * cpu_cumsum.c - the op cumsum: a running sum along each row, chunk by chunk. */
#include <string.h>
#include "cpu_rows.h"

enum { CHUNK_BYTES = VT_REDUCE_CHUNK * 8 };

/* With `exclusive` each sum is stored one position later, and the last sum is dropped. */
static void cumsum_row(const vt_cpu_rowwise *r, int64_t line, const void *from, void *to) {
  _Alignas(64) char sums[CHUNK_BYTES];
  vt_cpu_running_fn *const kernel = r->call->team->kernels->reductions->running[r->dtype];
  const int exclusive = ((const vt_attr_cumsum *)r->call->attrs)->exclusive != 0;
  const char *x = from;
  char *y = to, carry[8] = {0};
  (void)line;
  if (exclusive) memcpy(y, carry, (size_t)r->size);
  for (int64_t i = 0, n; i < r->n; i += n) {
    n = r->n - i < VT_REDUCE_CHUNK ? r->n - i : VT_REDUCE_CHUNK;
    kernel(x + i * r->size, n, carry, exclusive ? sums : y + i * r->size);
    const int64_t some = i + n == r->n ? n - 1 : n;
    if (exclusive) memcpy(y + (i + 1) * r->size, sums, (size_t)(some * r->size));
  }
}

/* Views rows in reversed order, because the reversed running sum is the running sum of the reversed
 * row. */
static void reverse_rows(vt_cpu_rowwise *r) {
  const int64_t last = (r->n - 1) * r->size;
  if (r->n == 0) return;
  if (r->x != NULL) r->x += last * r->along.x[0];
  if (r->y != NULL) r->y += last * r->along.y[0];
  r->along.x[0] = -r->along.x[0];
  r->along.y[0] = -r->along.y[0];
}

static void init_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  const vt_attr_cumsum *a = c->attrs;
  vt_cpu_rows_init(r, c, 1u << a->axis);
  r->row = cumsum_row;
  r->cost = 0.5;
  if (a->reverse) reverse_rows(r);
}

uint64_t vt_cpu_scratch_cumsum(const vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  return vt_cpu_rows_scratch_bytes(&r);
}

vt_status vt_cpu_run_cumsum(vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  vt_cpu_rows_run(c, &r);
  return VT_OK;
}
