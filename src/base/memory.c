/* SPDX-License-Identifier: Apache-2.0
 * memory.c - how much memory this process can still allocate, read from Linux's files under /proc
 * and /sys. On other systems these are missing, and the answer is "unknown". */
#include "vt_memory.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "vt_file.h"

enum { MAX_TEXT = 16384, MAX_PATH_BYTES = 1024 };

/* ---- reading ---- */

static int read_file_text(const char *path, char out[MAX_TEXT]) {
  size_t n;
  if (vt_file_peek(path, out, MAX_TEXT - 1, &n, NULL) != VT_OK) return 0;
  out[n] = 0;
  return 1;
}

/* Parses the decimal number at `s`, after blanks, and saturates; returns 0 at any other text, such
 * as "max". */
static int parse_number(const char *s, uint64_t *out) {
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

static int read_number(const char *path, uint64_t *out) {
  char text[MAX_TEXT];
  return read_file_text(path, text) && parse_number(text, out);
}

static const char *next_line(const char *s) {
  s = strchr(s, '\n');
  return s != NULL ? s + 1 : NULL;
}

/* Reads the number that follows `key` at the start of a line of the file. */
static int read_number_after(const char *path, const char *key, uint64_t *out) {
  char text[MAX_TEXT];
  const size_t n = strlen(key);
  if (!read_file_text(path, text)) return 0;
  for (const char *line = text; line != NULL; line = next_line(line))
    if (strncmp(line, key, n) == 0 && parse_number(line + n, out)) return 1;
  return 0;
}

static uint64_t remaining_below_limit(uint64_t limit, uint64_t used) {
  return limit > used ? limit - used : 0;
}

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- control groups ---- */

/* Names of the files of one version of control groups. */
typedef struct group_files {
  const char *mark;  /* text before the group's path in its line of /proc/self/cgroup */
  const char *top;   /* folder of the root group */
  const char *limit; /* file with the limit in bytes */
  const char *used;  /* file with the bytes in use */
  const char *cache; /* key, in memory.stat, of the file cache that can be reclaimed */
} group_files;

static const group_files versions[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* Returns the bytes that a group may still allocate; UINT64_MAX if it has no limit. Cached files
 * count as used, but the system reclaims them when memory is needed, so they are subtracted. */
static uint64_t bytes_left_in_group(const group_files *v, const char *folder) {
  char path[MAX_PATH_BYTES + 64];
  uint64_t limit, used, cache = 0;
  (void)snprintf(path, sizeof path, "%s/%s", folder, v->limit);
  if (!read_number(path, &limit)) return UINT64_MAX;
  (void)snprintf(path, sizeof path, "%s/%s", folder, v->used);
  if (!read_number(path, &used)) return UINT64_MAX;
  (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
  if (!read_number_after(path, v->cache, &cache)) cache = 0;
  return remaining_below_limit(limit, remaining_below_limit(used, cache));
}

/* Returns the minimum over the group of this process and all its parents. In a container the path
 * may be one that only the host can see: then only the root group's files exist. A path too long
 * for the buffer means the root group as well. */
static uint64_t bytes_left_in_own_groups(const char *root, const group_files *v) {
  char text[MAX_TEXT], folder[MAX_PATH_BYTES];
  const char *at;
  uint64_t left = UINT64_MAX;
  (void)snprintf(folder, sizeof folder, "%s/proc/self/cgroup", root);
  if (!read_file_text(folder, text) || (at = strstr(text, v->mark)) == NULL) return left;
  at += strlen(v->mark);
  const int n = (int)strcspn(at, "\n");
  const int all = snprintf(folder, sizeof folder, "%s%s%.*s", root, v->top, n, at);
  const size_t top = strlen(root) + strlen(v->top);
  if (all < 0 || (size_t)all >= sizeof folder) folder[top] = 0;
  for (;;) {
    left = min_u64(left, bytes_left_in_group(v, folder));
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= top || slash == NULL) return left;
    *slash = 0;
  }
}

/* ---- all limits together ---- */

uint64_t vt_memory_available_under(const char *root) {
  char path[MAX_PATH_BYTES];
  uint64_t left = UINT64_MAX, kib;
  (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (read_number_after(path, "MemAvailable:", &kib))
    left = kib > UINT64_MAX / 1024 ? left : kib * 1024;
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    left = min_u64(left, bytes_left_in_own_groups(root, &versions[i]));
  return left;
}

static uint64_t bytes_left_in_address_space(void) {
  struct rlimit limit;
  uint64_t pages;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      !read_number("/proc/self/statm", &pages))
    return UINT64_MAX;
  return remaining_below_limit((uint64_t)limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

uint64_t vt_memory_available(void) {
  const uint64_t left = min_u64(vt_memory_available_under(""), bytes_left_in_address_space());
  return left == UINT64_MAX ? 0 : left == 0 ? 1 : left;
}
