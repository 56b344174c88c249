/* SPDX-License-Identifier: Apache-2.0
 * cpu_copy_test.c - copies between any two sets of strides: compared with a walk that copies one
 * element at a time; nothing else may be written. */
#include "moved_test.h"

enum { CAPACITY = 1 << 18 };

/* Chooses a shape of about `most` elements, in which some axes have length 1; returns the rank. */
static uint32_t random_shape(uint64_t *seed, int64_t most, int64_t dim[VT_MAX_RANK]) {
  const uint32_t rank = (uint32_t)moved_random_below(seed, VT_MAX_RANK + 1);
  for (uint32_t i = 0; i < rank; i++) {
    const int64_t kind = moved_random_below(seed, 8);
    dim[i] = kind == 0 ? 1 : kind == 1 ? most : 1 + moved_random_below(seed, 9);
    if (dim[i] > most) dim[i] = most;
    most /= dim[i];
  }
  return rank;
}

/* Sets strides for the axes in a random order, with gaps between some of them; returns how many
 * elements they span. */
static int64_t set_random_strides(uint64_t *seed, vt_view *v) {
  uint32_t order[VT_MAX_RANK];
  int64_t stride = 1;
  for (uint32_t i = 0; i < v->rank; i++) order[i] = i;
  for (uint32_t i = v->rank; i-- > 1 && moved_random_below(seed, 3) > 0;) {
    const uint32_t k = (uint32_t)moved_random_below(seed, i + 1), swap = order[i];
    order[i] = order[k];
    order[k] = swap;
  }
  for (uint32_t i = v->rank; i-- > 0;) {
    v->stride[order[i]] = stride;
    stride *= v->dim[order[i]];
    if (moved_random_below(seed, 6) == 0) stride += moved_random_below(seed, 4);
  }
  return stride;
}

/* Makes some axes broadcast and some reversed. */
static void broadcast_and_reverse_axes(uint64_t *seed, vt_view *v, int64_t size) {
  for (uint32_t i = 0; i < v->rank; i++) {
    const int64_t kind = moved_random_below(seed, 8);
    if (kind == 0) v->stride[i] = 0;
    if (kind != 1) continue;
    v->data = (char *)v->data + (v->dim[i] - 1) * v->stride[i] * size;
    v->stride[i] = -v->stride[i];
  }
}

static void copy_each_element(const vt_view *to, const vt_view *from, size_t size) {
  vt_cpu_walk a = vt_cpu_walk_of(to), b = vt_cpu_walk_of(from);
  for (int64_t n = vt_cpu_count(to); n > 0; n--) {
    memcpy((char *)to->data + a.at[0] * (int64_t)size,
           (const char *)from->data + b.at[0] * (int64_t)size, size);
    vt_cpu_walk_advance(&a, 1);
    vt_cpu_walk_advance(&b, 1);
  }
}

static const uint32_t types[] = {VT_DTYPE_U8, VT_DTYPE_F16, VT_DTYPE_F32, VT_DTYPE_F64};

static void check_random_copy(const vt_cpu_team *t, uint64_t *seed, int64_t most, char *from,
                              char *got, char *want) {
  vt_view to = {.dtype = types[moved_random_below(seed, 4)]};
  const int64_t size = (int64_t)vt_cpu_bytes_of(to.dtype);
  to.rank = random_shape(seed, most, to.dim);
  vt_view x = to;
  const int64_t a = set_random_strides(seed, &to), b = set_random_strides(seed, &x);
  if ((a > b ? a : b) * size > CAPACITY) return;
  x.data = from;
  broadcast_and_reverse_axes(seed, &x, size);
  memset(got, 0xa5, (size_t)(a * size) + 64);
  memset(want, 0xa5, (size_t)(a * size) + 64);
  to.data = want;
  copy_each_element(&to, &x, (size_t)size);
  to.data = got;
  vt_cpu_copy(t, &to, &x);
  CHECK(memcmp(got, want, (size_t)(a * size) + 64) == 0);
}

static void test_any_strides(const vt_cpu_team *t) {
  char *from = moved_alloc_poisoned(CAPACITY), *got = moved_alloc_poisoned(CAPACITY),
       *want = moved_alloc_poisoned(CAPACITY);
  uint64_t seed = 1;
  for (int64_t i = 0; i < CAPACITY; i++) from[i] = (char)moved_random(&seed);
  for (int i = 0; i < 300; i++)
    check_random_copy(t, &seed, i % 10 == 0 ? 30000 : 600, from, got, want);
  free(from);
  free(got);
  free(want);
}

/* Transposes that are large enough for several threads, with incomplete tiles at both edges. */
static void check_transpose(const vt_cpu_team *t, uint32_t dtype, int64_t rows, int64_t columns) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(dtype), bytes = rows * columns * size;
  char *from = moved_alloc_poisoned(bytes), *got = moved_alloc_poisoned(bytes),
       *want = moved_alloc_poisoned(bytes);
  uint64_t seed = 3;
  for (int64_t i = 0; i < bytes; i++) from[i] = (char)moved_random(&seed);
  vt_view to = moved_dense_view(dtype, 2, (int64_t[]){rows, columns}, want), x = to;
  x.data = from;
  x.stride[0] = 1;
  x.stride[1] = rows;
  copy_each_element(&to, &x, (size_t)size);
  to.data = got;
  vt_cpu_copy(t, &to, &x);
  CHECK(memcmp(got, want, (size_t)bytes + 64) == 0);
  free(from);
  free(got);
  free(want);
}

static void test_transposes(const vt_cpu_team *t) {
  check_transpose(t, VT_DTYPE_F32, 257, 129);
  check_transpose(t, VT_DTYPE_F32, 16, 16);
  check_transpose(t, VT_DTYPE_F32, 15, 17);
  check_transpose(t, VT_DTYPE_F32, 3, 4000);
  check_transpose(t, VT_DTYPE_F64, 130, 65);
  check_transpose(t, VT_DTYPE_U8, 130, 300);
  check_transpose(t, VT_DTYPE_F16, 100, 31);
}

int main(void) {
  moved_run_on_all_teams(test_any_strides);
  moved_run_on_all_teams(test_transposes);
  TEST_DONE();
}
