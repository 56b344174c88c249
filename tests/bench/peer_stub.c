/* SPDX-License-Identifier: Apache-2.0
 * peer_stub.c - a stand-in for OpenBLAS with the functions that `volta bench` calls. PEER_NAME(x)
 * and peer_int are the function names and the integer type of one of OpenBLAS's builds. With
 * PEER_WRONG the products are wrong. As in OpenBLAS, the core type is chosen when the library is
 * loaded. cblas_sgemv is fastest with the core type Zen and one thread, which is not the default
 * choice. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PEER_WIDE
typedef int64_t peer_int;
#define PEER_NAME(x) scipy_##x##64_
#else
typedef int32_t peer_int;
#define PEER_NAME(x) x
#endif
#define PEER_API __attribute__((visibility("default")))

enum { TRANSPOSED = 112 };

static int threads = 1;
static char core[16] = "Haswell";

__attribute__((constructor)) static void choose_core(void) {
  const char *wanted = getenv("OPENBLAS_CORETYPE");
  if (wanted != NULL && (strcmp(wanted, "Zen") == 0 || strcmp(wanted, "SkylakeX") == 0))
    strcpy(core, wanted);
}

/* Makes the call slow unless the core type is Zen and there is one thread. */
static void delay_unless_fastest(void) {
  const struct timespec t = {.tv_nsec = 5000000};
  if (strcmp(core, "Zen") != 0) nanosleep(&t, NULL);
  if (threads > 1) nanosleep(&t, NULL);
}

PEER_API void PEER_NAME(openblas_set_num_threads)(int n);
PEER_API char *PEER_NAME(openblas_get_corename)(void);
PEER_API char *PEER_NAME(openblas_get_config)(void);
PEER_API void PEER_NAME(cblas_sgemm)(int order, int side_a, int side_b, peer_int m, peer_int n,
                                     peer_int k, float alpha, const float *a, peer_int lda,
                                     const float *b, peer_int ldb, float beta, float *c,
                                     peer_int ldc);
PEER_API void PEER_NAME(cblas_sgemv)(int order, int side, peer_int rows, peer_int columns,
                                     float alpha, const float *a, peer_int lda, const float *x,
                                     peer_int step_x, float beta, float *y, peer_int step_y);

void PEER_NAME(openblas_set_num_threads)(int n) { threads = n; }

char *PEER_NAME(openblas_get_corename)(void) { return core; }

char *PEER_NAME(openblas_get_config)(void) {
  static char text[] = "a stand-in, 0 threads";
  text[12] = (char)('0' + threads % 10);
  return text;
}

static float right_or_wrong_result(float sum) {
#ifdef PEER_WRONG
  return sum + 1;
#else
  return sum;
#endif
}

void PEER_NAME(cblas_sgemm)(int order, int side_a, int side_b, peer_int m, peer_int n, peer_int k,
                            float alpha, const float *a, peer_int lda, const float *b, peer_int ldb,
                            float beta, float *c, peer_int ldc) {
  (void)order, (void)side_a, (void)alpha, (void)beta;
  for (peer_int i = 0; i < m; i++)
    for (peer_int j = 0; j < n; j++) {
      float sum = 0;
      for (peer_int l = 0; l < k; l++)
        sum += a[i * lda + l] * (side_b == TRANSPOSED ? b[j * ldb + l] : b[l * ldb + j]);
      c[i * ldc + j] = right_or_wrong_result(sum);
    }
}

void PEER_NAME(cblas_sgemv)(int order, int side, peer_int rows, peer_int columns, float alpha,
                            const float *a, peer_int lda, const float *x, peer_int step_x,
                            float beta, float *y, peer_int step_y) {
  (void)order, (void)alpha, (void)beta, (void)step_x, (void)step_y;
  delay_unless_fastest();
  const peer_int n = side == TRANSPOSED ? columns : rows, k = side == TRANSPOSED ? rows : columns;
  for (peer_int j = 0; j < n; j++) {
    float sum = 0;
    for (peer_int l = 0; l < k; l++)
      sum += x[l] * (side == TRANSPOSED ? a[l * lda + j] : a[j * lda + l]);
    y[j] = right_or_wrong_result(sum);
  }
}
