/* SPDX-License-Identifier: Apache-2.0
 * alloc.c - the default allocator, wrappers around any allocator (vt_alloc_raw leaves
 * memory uninitialised, vt_alloc_new zeroes it), and overflow-checked arithmetic on sizes, which
 * returns 1 if the result fits. */
#include "vt_alloc.h"
#include <stdlib.h>
#include <string.h>

static void *libc_resize(void *user, void *ptr, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size != 0) return realloc(ptr, new_size);
  free(ptr);
  return NULL;
}

vt_alloc vt_alloc_default(void) { return (vt_alloc){.resize = libc_resize}; }

static vt_alloc allocator_or_default(vt_alloc a) {
  return a.resize != NULL ? a : vt_alloc_default();
}

/* A new size of 0 would mean "free" to the allocator, so at least one byte is requested. */
static size_t nonzero_size(size_t bytes) { return bytes != 0 ? bytes : 1; }

void *vt_alloc_raw(vt_alloc a, size_t bytes) {
  const vt_alloc use = allocator_or_default(a);
  return use.resize(use.user, NULL, 0, nonzero_size(bytes));
}

void *vt_alloc_new(vt_alloc a, size_t bytes) {
  void *p = vt_alloc_raw(a, bytes);
  if (p != NULL) memset(p, 0, nonzero_size(bytes));
  return p;
}

void vt_alloc_free(vt_alloc a, void *p, size_t bytes) {
  if (p == NULL) return;
  const vt_alloc use = allocator_or_default(a);
  use.resize(use.user, p, nonzero_size(bytes), 0);
}

int vt_size_mul(uint64_t a, uint64_t b, uint64_t *out) {
  if (b != 0 && a > UINT64_MAX / b) return 0;
  *out = a * b;
  return 1;
}

int vt_size_add(uint64_t a, uint64_t b, uint64_t *out) {
  if (a > UINT64_MAX - b) return 0;
  *out = a + b;
  return 1;
}

/* Multiplies the magnitudes of a and b as unsigned numbers. The largest product that fits depends
 * on its sign, because INT64_MIN has a magnitude one larger than INT64_MAX. */
int vt_i64_mul(int64_t a, int64_t b, int64_t *out) {
  const uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  const uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  const int negative = (a < 0) != (b < 0);
  uint64_t u;
  if (!vt_size_mul(ua, ub, &u) || u > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
  if (!negative)
    *out = (int64_t)u;
  else
    *out = u == 0 ? 0 : -(int64_t)(u - 1) - 1;
  return 1;
}

int vt_i64_add(int64_t a, int64_t b, int64_t *out) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return 0;
  *out = a + b;
  return 1;
}
