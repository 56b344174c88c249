/* SPDX-License-Identifier: Apache-2.0
 * cache_test.h - what the tests of the cache share: a folder of their own, a small model, and a
 * plan made fresh to hold others to. */
#ifndef VT_CACHE_TEST_H
#define VT_CACHE_TEST_H
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cache.h"
#include "vt_test.h"
#include "volta/volta_tools.h"

/* Bodies, a composition, a constant to fold, and a range that an index can leave. */
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

static inline vt_model *model_of(const char *text) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
  if (m == NULL) {
    fprintf(stderr, "%s (line %u)\n", d.text, d.line);
    exit(1);
  }
  return m;
}

/* A folder that is removed with all in it by folder_done. */
static char folder[64];

static inline void folder_new(void) {
  (void)snprintf(folder, sizeof folder, "/tmp/volta-cache-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
}

/* Calls `see` with the path of each file of the folder; returns how many there are. */
static inline int each_file(void (*see)(const char *path)) {
  int n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    char path[512];
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    (void)snprintf(path, sizeof path, "%s/%.255s", folder, e->d_name);
    if (see != NULL) see(path);
    n++;
  }
  if (dir != NULL) closedir(dir);
  return n;
}

static inline void remove_file(const char *path) {
  if (unlink(path) != 0) (void)rmdir(path);
}

static inline void folder_done(void) {
  (void)each_file(remove_file);
  CHECK(rmdir(folder) == 0);
}

static inline vt_cache *cache_of(const char *dir, uint64_t memory, uint64_t disk, uint32_t digits) {
  const vt_cache_options o = {
      .size = sizeof o, .dir = dir, .memory_bytes = memory, .disk_bytes = disk};
  vt_cache *c = NULL;
  CHECK(vt_cache_make(&o, digits, &c, NULL) == VT_OK);
  return c;
}

static inline vt_cache_counts counts_of(vt_cache *c) {
  vt_cache_counts n = {.size = sizeof n};
  vt_cache_info(c, &n);
  return n;
}

static inline vt_planned *plan_of(const vt_model *m, vt_options o, vt_cache *c) {
  vt_planned *p = NULL;
  vt_diag d = {0};
  o.size = sizeof o;
  o.cache = c;
  CHECK(vt_planned_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "%s\n", d.text);
  return p;
}

/* 1 when a plan that may come from the cache is the one that is made without. */
static inline int same_plan(const vt_model *m, vt_options o, vt_cache *c) {
  vt_planned *fresh = plan_of(m, o, NULL), *kept = plan_of(m, o, c);
  uint8_t a[2][32], b[2][32];
  if (fresh == NULL || kept == NULL) return 0;
  vt_planned_digest(fresh, a[0], a[1]);
  vt_planned_digest(kept, b[0], b[1]);
  const int same =
      memcmp(a, b, sizeof a) == 0 && strcmp(vt_planned_text(fresh), vt_planned_text(kept)) == 0;
  vt_planned_free(fresh);
  vt_planned_free(kept);
  return same;
}
#endif
