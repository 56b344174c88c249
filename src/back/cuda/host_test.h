/* SPDX-License-Identifier: Apache-2.0
 * host_test.h - a host for tests that open a device themselves: it allocates memory and prints
 * messages. */
#ifndef VT_HOST_TEST_H
#define VT_HOST_TEST_H
#include <stdio.h>
#include <stdlib.h>
#include "cuda_backend.h"

extern vt_backend_query_fn vt_cuda_query;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}
static void host_report(void *user, int32_t status, const char *text) {
  (void)user;
  fprintf(stderr, "%d: %s\n", (int)status, text);
}
static const vt_bk_host test_host = {.size = sizeof test_host,
                                     .abi_major = VT_BK_ABI_MAJOR,
                                     .resize = host_resize,
                                     .diag = host_report};
#endif
