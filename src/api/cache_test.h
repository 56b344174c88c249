/* SPDX-License-Identifier: Apache-2.0
 * cache_test.h - helpers of the cache's tests: a temporary folder, a small model, and the
 * comparison of a plan from the cache with one that is made without a cache. */
#ifndef VT_CACHE_TEST_H
#define VT_CACHE_TEST_H
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cache.h"
#include "vt_test.h"
#include "volta/volta_tools.h"

/* A model with bodies, a composition, a constant to fold, and an index with a declared range. */
static const char small_model[] =
    "volta 1\n"
    "model small {\n"
    "  dim B\n"
    "  input x: f32[B, 4]\n"
    "  input i: i32[B] in 0..4\n"
    "  param w: f32[5, 4] = normal(std=0.5, stream=1)\n"
    "  h = softmax(matmul(x, w, transpose_b=true)) * (2.0 * 3.0)\n"
    "  z = cond(sum(h) > 0.0) {\n"
    "    give relu(h)\n"
    "  } else {\n"
    "    give neg(h)\n"
    "  }\n"
    "  output y = z\n"
    "  output g = gather(w, i)\n"
    "}\n";

static inline vt_model *parse_model(const char *text) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
  if (m == NULL) {
    fprintf(stderr, "%s (line %u)\n", d.text, d.line);
    exit(1);
  }
  return m;
}

/* A temporary folder; folder_done removes it with its files. */
static char folder[64];

static inline void folder_new(void) {
  (void)snprintf(folder, sizeof folder, "/tmp/volta-cache-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
}

/* Calls `on_file`, unless it is NULL, with the path of each file in the folder; returns their
 * number. */
static inline int for_each_file(void (*on_file)(const char *path)) {
  int n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    char path[512];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    (void)snprintf(path, sizeof path, "%s/%.255s", folder, e->d_name);
    if (on_file != NULL) on_file(path);
    n++;
  }
  if (dir != NULL) closedir(dir);
  return n;
}

static inline void remove_file(const char *path) {
  if (unlink(path) != 0) (void)rmdir(path);
}

static inline void folder_done(void) {
  (void)for_each_file(remove_file);
  CHECK(rmdir(folder) == 0);
}

static inline vt_cache *new_cache(const char *dir, uint64_t memory_limit, uint64_t disk_limit,
                                  uint32_t name_digits) {
  const vt_cache_options o = {
      .size = sizeof o, .dir = dir, .memory_bytes = memory_limit, .disk_bytes = disk_limit};
  vt_cache *c = NULL;
  CHECK(vt_cache_new_with_name_digits(&o, name_digits, &c, NULL) == VT_OK);
  return c;
}

static inline vt_cache_counts read_counts(vt_cache *c) {
  vt_cache_counts n = {.size = sizeof n};
  vt_cache_info(c, &n);
  return n;
}

static inline vt_planned *plan_model(const vt_model *m, vt_options o, vt_cache *c) {
  vt_planned *p = NULL;
  vt_diag d = {0};
  o.size = sizeof o;
  o.cache = c;
  CHECK(vt_planned_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "%s\n", d.text);
  return p;
}

/* Returns 1 if the plan that the cache gives, whether new or cached, equals the plan that is made
 * without a cache. */
static inline int gives_same_plan(const vt_model *m, vt_options o, vt_cache *c) {
  vt_planned *fresh = plan_model(m, o, NULL), *cached = plan_model(m, o, c);
  uint8_t a[2][32], b[2][32];
  if (fresh == NULL || cached == NULL) return 0;
  vt_planned_digest(fresh, a[0], a[1]);
  vt_planned_digest(cached, b[0], b[1]);
  const int same =
      memcmp(a, b, sizeof a) == 0 && strcmp(vt_planned_text(fresh), vt_planned_text(cached)) == 0;
  vt_planned_free(fresh);
  vt_planned_free(cached);
  return same;
}
#endif
