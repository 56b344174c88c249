/* SPDX-License-Identifier: Apache-2.0
 * moved_test.h - for the tests of moves: teams of every instruction set and several thread counts,
 * and tensors of pseudo-random numbers. */
#ifndef VT_MOVED_TEST_H
#define VT_MOVED_TEST_H
#include <string.h>
#include "cpu_move.h"
#include "vt_num.h"
#include "vt_test.h"

static const char *const moved_isas[] = {"scalar", "sse2", "avx2", "avx512"};
static const unsigned moved_threads[] = {1, 2, 3, 7};

/* Calls `test` with each team that this machine can run. */
static inline void moved_run_on_all_teams(void (*test)(const vt_cpu_team *t)) {
  for (size_t i = 0; i < sizeof moved_isas / sizeof *moved_isas; i++)
    for (size_t k = 0; k < sizeof moved_threads / sizeof *moved_threads; k++) {
      vt_fault f = {0};
      vt_diag d = {0};
      vt_cpu_team t = {.kernels = vt_cpu_kernels_of(moved_isas[i]), .threads = moved_threads[k]};
      if (t.kernels == NULL) continue;
      CHECK(vt_pool_new(t.threads, vt_fault_alloc(&f), &t.pool, &d) == VT_OK);
      const int before = vt_test_failed;
      test(&t);
      if (vt_test_failed > before)
        (void)fprintf(stderr, "  ... on %s with %u threads\n", moved_isas[i], t.threads);
      vt_pool_free(t.pool);
    }
}

static inline uint64_t moved_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 24;
}

static inline int64_t moved_random_below(uint64_t *seed, int64_t n) {
  return (int64_t)(moved_random(seed) % (uint64_t)n);
}

/* Memory that the test must free, filled with a pattern so that a read of unwritten bytes shows. */
static inline void *moved_alloc_poisoned(int64_t bytes) {
  void *p = malloc((size_t)bytes + 64);
  if (p == NULL) exit(2);
  memset(p, 0xa5, (size_t)bytes + 64);
  return p;
}

static inline vt_view moved_dense_view(uint32_t dtype, uint32_t rank, const int64_t *dim,
                                       void *data) {
  vt_view v = {.dtype = dtype, .data = data};
  return vt_cpu_reshape_view(&v, rank, dim);
}
#endif
