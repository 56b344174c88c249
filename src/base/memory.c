/* SPDX-License-Identifier: Apache-2.0
 * memory.c - how much memory this process can still take, as Linux says it in its files. Elsewhere
 * they are missing, and nothing is known. */
#include "vt_memory.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "vt_file.h"

enum { MOST_TEXT = 16384, MOST_PATH = 1024 };

/* ---- reading ---- */

static int read_text(const char *path, char out[MOST_TEXT]) {
  size_t n;
  if (vt_file_peek(path, out, MOST_TEXT - 1, &n, NULL) != VT_OK) return 0;
  out[n] = 0;
  return 1;
}

/* The number at `s`; 0 when there is none, as in "max". */
static int number_at(const char *s, uint64_t *out) {
  uint64_t n = 0;
  s += strspn(s, " \t");
  if (*s < '0' || *s > '9') return 0;
  for (; *s >= '0' && *s <= '9'; s++) {
    const uint64_t digit = (uint64_t)(*s - '0');
    n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
  }
  *out = n;
  return 1;
}

static int number_in(const char *path, uint64_t *out) {
  char text[MOST_TEXT];
  return read_text(path, text) && number_at(text, out);
}

static const char *next_line(const char *s) {
  s = strchr(s, '\n');
  return s != NULL ? s + 1 : NULL;
}

/* The number after `key` at the start of a line of the file. */
static int number_of(const char *path, const char *key, uint64_t *out) {
  char text[MOST_TEXT];
  const size_t n = strlen(key);
  if (!read_text(path, text)) return 0;
  for (const char *line = text; line != NULL; line = next_line(line))
    if (strncmp(line, key, n) == 0 && number_at(line + n, out)) return 1;
  return 0;
}

static uint64_t left_of(uint64_t limit, uint64_t used) { return limit > used ? limit - used : 0; }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- control groups ---- */

/* Where a version keeps its files, and what they are called. */
typedef struct group_files {
  const char *mark; /* in the line of /proc/self/cgroup before the path */
  const char *top, *limit, *used, *cache;
} group_files;

static const group_files versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* Files that were read and are not in use are counted as used, and given up when needed. */
static uint64_t left_in_group(const group_files *v, const char *folder) {
  char path[MOST_PATH + 64];
  uint64_t limit, used, cache = 0;
  (void)snprintf(path, sizeof path, "%s/%s", folder, v->limit);
  if (!number_in(path, &limit)) return UINT64_MAX;
  (void)snprintf(path, sizeof path, "%s/%s", folder, v->used);
  if (!number_in(path, &used)) return UINT64_MAX;
  (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
  if (!number_of(path, v->cache, &cache)) cache = 0;
  return left_of(limit, left_of(used, cache));
}

/* A group has what its parents leave it. In a container the path may be one that only its host
 * can see: then the top is what there is. */
static uint64_t left_in_groups(const char *root, const group_files *v) {
  char text[MOST_TEXT], folder[MOST_PATH];
  const char *at;
  uint64_t left = UINT64_MAX;
  (void)snprintf(folder, sizeof folder, "%s/proc/self/cgroup", root);
  if (!read_text(folder, text) || (at = strstr(text, v->mark)) == NULL) return left;
  at += strlen(v->mark);
  const int n = (int)strcspn(at, "\n");
  const int all = snprintf(folder, sizeof folder, "%s%s%.*s", root, v->top, n, at);
  const size_t top = strlen(root) + strlen(v->top);
  if (all < 0 || (size_t)all >= sizeof folder) folder[top] = 0;
  for (;;) {
    left = least(left, left_in_group(v, folder));
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= top || slash == NULL) return left;
    *slash = 0;
  }
}

/* ---- together ---- */

uint64_t vt_memory_under(const char *root) {
  char path[MOST_PATH];
  uint64_t left = UINT64_MAX, kib;
  (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (number_of(path, "MemAvailable:", &kib)) left = kib > UINT64_MAX / 1024 ? left : kib * 1024;
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    left = least(left, left_in_groups(root, &versions[i]));
  return left;
}

static uint64_t left_of_addresses(void) {
  struct rlimit limit;
  uint64_t pages;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      !number_in("/proc/self/statm", &pages))
    return UINT64_MAX;
  return left_of((uint64_t)limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

uint64_t vt_memory_available(void) {
  const uint64_t left = least(vt_memory_under(""), left_of_addresses());
  return left == UINT64_MAX ? 0 : left == 0 ? 1 : left;
}
