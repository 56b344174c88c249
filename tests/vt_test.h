/* SPDX-License-Identifier: Apache-2.0
 * vt_test.h - the test framework: CHECK, TEST_DONE and an allocator that fails on request. Each
 * *_test.c is one program. */
#ifndef VT_TEST_H
#define VT_TEST_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "volta/volta.h"

/* Returns 1 in `make test-full`, which runs the long forms of tests. */
static inline int vt_test_is_long(void) { return getenv("VOLTA_TEST_FULL") != NULL; }

static int vt_test_failed;
/* With VOLTA_TEST_FIRST the program ends at the first failure: scripts that plant faults need no
 * more. */
static inline void vt_test_fail(const char *file, int line, const char *text) {
  vt_test_failed++;
  fprintf(stderr, "%s:%d: CHECK(%s)\n", file, line, text);
  if (getenv("VOLTA_TEST_FIRST") != NULL) exit(1);
}
#define CHECK(x) ((x) ? (void)0 : vt_test_fail(__FILE__, __LINE__, #x))
#define TEST_DONE() return vt_test_failed != 0

/* An allocator that counts, and fails on request to test how callers handle it. */
typedef struct vt_fault {
  long left;  /* number of the first request that fails, as do all after it; 0: none fails */
  long live;  /* number of blocks that are allocated now */
  long asked; /* number of requests so far */
} vt_fault;
static inline void *vt_fault_resize(void *user, void *p, size_t old_size, size_t new_size) {
  vt_fault *f = (vt_fault *)user;
  (void)old_size;
  if (new_size == 0) {
    f->live -= p != NULL;
    free(p);
    return NULL;
  }
  f->asked++;
  if (f->left > 0 && f->asked >= f->left) return NULL;
  void *q = realloc(p, new_size);
  if (q != NULL && p == NULL) f->live++;
  return q;
}
static inline vt_alloc vt_fault_alloc(vt_fault *f) {
  vt_alloc a;
  a.user = f;
  a.resize = vt_fault_resize;
  return a;
}
#endif
