/* SPDX-License-Identifier: Apache-2.0
 * vt_test.h - the whole test framework. One *_test.c = one program. */
#ifndef VT_TEST_H
#define VT_TEST_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "volta/volta.h"

/* The long forms of tests run in `make test-full`. */
static inline int vt_test_is_long(void) { return getenv("VOLTA_TEST_FULL") != NULL; }

static int vt_test_failed;
/* With VOLTA_TEST_FIRST one failure is enough, for who only asks whether there is any. */
static inline void vt_test_fail(const char *file, int line, const char *text) {
  vt_test_failed++;
  fprintf(stderr, "%s:%d: CHECK(%s)\n", file, line, text);
  if (getenv("VOLTA_TEST_FIRST") != NULL) exit(1);
}
#define CHECK(x) ((x) ? (void)0 : vt_test_fail(__FILE__, __LINE__, #x))
#define TEST_DONE() return vt_test_failed != 0

/* Counting allocator: fails the k-th request (left = k; 0 = never) and every one after it. */
typedef struct vt_fault {
  long left, live, asked;
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
