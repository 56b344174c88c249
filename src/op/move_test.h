/* SPDX-License-Identifier: Apache-2.0
 * move_test.h - shared by the tests of ops that move elements, in addition to op_test.h:
 * coordinates of elements, a check that bits were copied, and runs of ops with several results. */
#ifndef VT_MOVE_TEST_H
#define VT_MOVE_TEST_H
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, I32 = VT_DTYPE_I32, I64 = VT_DTYPE_I64, TYPES = 9 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct index {
  int64_t at[VT_MAX_RANK];
} index;

static inline index coordinates_of(const vt_view *v, int64_t i) {
  index x = {{0}};
  for (uint32_t axis = v->rank; axis-- > 0; i /= v->dim[axis]) x.at[axis] = i % v->dim[axis];
  return x;
}

static inline int64_t row_major_index(const vt_view *v, const int64_t *at) {
  int64_t i = 0;
  for (uint32_t axis = 0; axis < v->rank; axis++) i = i * v->dim[axis] + at[axis];
  return i;
}

static inline uint64_t bits_at_index(const vt_view *v, const int64_t *at) {
  return get_bits(v, row_major_index(v, at));
}

static inline vt_view random_view(uint32_t dtype, uint32_t rank, const int64_t *dim, int layout,
                                  uint64_t *state) {
  test_seed = *state;
  return fill_any(view_new(dtype, rank, dim, layout), state);
}

/* A view of random integers in 0 .. limit-1. */
static inline vt_view random_integers_below(uint32_t dtype, uint32_t rank, const int64_t *dim,
                                            int64_t limit, int layout, uint64_t *state) {
  const vt_view v = view_new(dtype, rank, dim, layout);
  for (int64_t i = 0; i < count_of_view(&v); i++)
    put_bits(&v, i, (random_u64(state) >> 8) % (uint64_t)limit);
  return v;
}

/* Checks that element i of y has exactly the bits `want`, the payload of a NaN included. */
static inline void check_copied(const char *name, const vt_view *y, int64_t i, uint64_t want) {
  if (get_bits(y, i) != want) (void)expect_bits(name, y, i, want);
  CHECK(get_bits(y, i) == want);
}

typedef struct run_results {
  vt_status status;
  uint32_t n;
  vt_view out[VT_MAX_RESULTS];
  uint64_t position;
  int64_t value;
} run_results;

/* Runs the reference kernel of an op with several results, each of which is allocated in `layout`.
 * If attrs is NULL, the defaults are used. */
static inline run_results run_op_with_results(uint32_t number, const void *attrs, const vt_view *in,
                                              uint32_t n, int layout) {
  const vt_op_info *op = vt_op_get(number);
  run_results r = {.n = 0};
  vt_type types[8], out[VT_MAX_RESULTS];
  vt_arena arena;
  vt_dims dims;
  vt_arena_init(&arena, vt_alloc_default());
  vt_dims_init(&dims, &arena);
  for (uint32_t i = 0; i < n; i++) types[i] = type_of_view(&in[i]);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  const vt_rule rule = {.dims = &dims, .in = types, .n_in = n, .attrs = a};
  r.status = vt_op_infer(op, &rule, out, &r.n, NULL);
  vt_arena_done(&arena);
  if (r.status != VT_OK) return r;
  for (uint32_t i = 0; i < r.n; i++)
    r.out[i] = view_new(out[i].dtype, out[i].rank, out[i].dim, layout);
  vt_kernel k = {.in = in, .n_in = n, .out = r.out, .n_out = r.n, .attrs = a};
  if (op->work != NULL) k.work = hold_new_memory((size_t)op->work(in, n) + 1);
  r.status = op->kernel(&k);
  r.position = k.position;
  r.value = k.value;
  for (uint32_t i = 0; i < r.n; i++) check_gaps_unwritten(op->name, &r.out[i]);
  return r;
}
#endif
