/* SPDX-License-Identifier: Apache-2.0
 * launches_test.c - which steps become one launch: a fusion group whole, or each of its members
 * alone, wherever dense copies stand and whatever the backend refuses. */
#include "vt_launches.h"
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_test.h"

enum { MOST = 2000 };

/* A backend that runs anything: pointwise is `add`, and chains of a refused length are not run. */
typedef struct backend {
  uint32_t refused;
  long live; /* chains */
} backend;

static void *resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}

static int pointwise(uint32_t op) { return op == VT_OP_add; }
static int32_t chain_new(void *user, const vt_bk_step *const *s, uint32_t n, void **out) {
  backend *b = user;
  if (n == b->refused) return VT_UNSUPPORTED;
  b->live++;
  memcpy(out, &s[0], sizeof *out); /* the first of it stands for the chain */
  return VT_OK;
}
static void chain_free(void *user, void *chain) {
  (void)chain;
  ((backend *)user)->live--;
}
static int32_t anchor_new(void *user, vt_launch *at) {
  (void)user, (void)at;
  return VT_OK;
}
static void anchor_free(void *user, vt_launch *at) { (void)user, (void)at; }

/* Steps as letters: a capital is an anchor, a small letter pointwise, both of the group that the
 * letter numbers; a dot is a dense copy, of no group. Returns the lengths of the launches. */
static const char *launch(const char *steps, uint32_t refused) {
  static vt_bk_step list[MOST];
  static vt_bk_tensor place[MOST];
  static char text[MOST * 3];
  backend b = {.refused = refused};
  const vt_bk_host host = {.size = sizeof host, .resize = resize};
  const vt_launching how = {&host, &b, pointwise, chain_new, chain_free, anchor_new, anchor_free};
  const size_t n = strlen(steps);
  vt_launches l;
  for (size_t i = 0; i < n; i++) {
    const int small = steps[i] >= 'a', none = steps[i] == '.';
    place[i] = (vt_bk_tensor){.size = sizeof place[i], .offset = 256 * i};
    list[i] = (vt_bk_step){.size = sizeof list[i],
                           .op = small  ? VT_OP_add
                                 : none ? VT_OP_transpose
                                        : VT_OP_matmul,
                           .n_out = 1,
                           .out = &place[i],
                           .group = none ? 0 : (uint32_t)((steps[i] | 32) - 'a' + 1)};
  }
  CHECK(vt_launches_init(&how, list, n, &l) == VT_OK);
  size_t used = 0, at = 0;
  text[0] = 0;
  for (uint64_t i = 0; i < l.n; i++) {
    CHECK(l.launches[i].first == at);
    at += (size_t)l.launches[i].n;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", i == 0 ? "" : " ",
                             (unsigned long long)l.launches[i].n);
  }
  CHECK(at == n);
  vt_launches_done(&how, &l);
  CHECK(b.live == 0);
  return text;
}

static void expect(const char *steps, uint32_t refused, const char *want) {
  const char *got = launch(steps, refused);
  CHECK(strcmp(got, want) == 0);
  if (strcmp(got, want) != 0) fprintf(stderr, "  %s gives %s and not %s\n", steps, got, want);
}

static void test_groups(void) {
  expect("", 0, "");
  expect("a", 0, "1");
  expect("aaa", 0, "3");
  expect("..aa.bbb..", 0, "1 1 2 1 3 1 1");
  expect("aabbb", 0, "2 3");
  expect("Aaa", 0, "3");
  expect("aAa", 0, "3");
  expect("AaA", 0, "1 1 1"); /* two anchors */
  expect("bbAaA", 0, "2 1 1 1");
}

/* A part of a group is never run as one. */
static void test_torn(void) {
  expect("aa.aa", 0, "1 1 1 1 1");
  expect("aaa..a.bb", 0, "1 1 1 1 1 1 1 2");
  expect("a...aaa", 0, "1 1 1 1 1 1 1");
  expect("b.aa.aa.b.b", 0, "1 1 1 1 1 1 1 1 1 1 1");
}

/* What the backend refuses as one is run step by step, to the end of the group. */
static void test_refused(void) {
  expect("aaabb", 3, "1 1 1 2");
  expect("aaa.bbb", 3, "1 1 1 1 1 1 1");
  expect("Aaaabb", 3, "1 1 1 1 2");
}

static void test_long(void) {
  char steps[200];
  memset(steps, 'a', sizeof steps);
  steps[64] = 0;
  expect(steps, 0, "64");
  steps[64] = 'a';
  steps[65] = 0;
  CHECK(strncmp(launch(steps, 0), "1 1 1 1", 7) == 0);
}

int main(void) {
  test_groups();
  test_torn();
  test_refused();
  test_long();
  TEST_DONE();
}
