/* SPDX-License-Identifier: Apache-2.0
 * memory_test.c - what is left, from files as Linux writes them and from the limits of this very
 * process. */
#include "vt_memory.h"
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "process_test.h"
#include "vt_test.h"

static char root[64];

/* ---- a system made of files ---- */

/* "a/b/c" under the root, with its folders. */
static void put(const char *name, const char *text) {
  char path[512];
  const int n = snprintf(path, sizeof path, "%s/%s", root, name);
  for (char *at = path + strlen(root) + 1; at < path + n; at++) {
    if (*at != '/') continue;
    *at = 0;
    (void)mkdir(path, 0700);
    *at = '/';
  }
  FILE *f = fopen(path, "w");
  CHECK(f != NULL);
  if (f == NULL) exit(1);
  CHECK(fputs(text, f) >= 0);
  CHECK(fclose(f) == 0);
}

static void clear(void) {
  char command[160];
  snprintf(command, sizeof command, "rm -rf %s/proc %s/sys", root, root);
  CHECK(system(command) == 0);
}

static void test_meminfo(void) {
  clear();
  CHECK(vt_memory_under(root) == UINT64_MAX);
  put("proc/meminfo", "MemTotal:  8000 kB\nMemFree:  1000 kB\nMemAvailable:    3000 kB\nX: 1\n");
  CHECK(vt_memory_under(root) == (uint64_t)3000 * 1024);
  put("proc/meminfo", "MemAvailable: 7 kB");
  CHECK(vt_memory_under(root) == 7 * 1024);
  put("proc/meminfo", "NotMemAvailable: 7 kB\n MemAvailable: 8 kB\n");
  CHECK(vt_memory_under(root) == UINT64_MAX);
  put("proc/meminfo", "MemAvailable: 99999999999999999999999 kB\n");
  CHECK(vt_memory_under(root) == UINT64_MAX);
  put("proc/meminfo", "");
  CHECK(vt_memory_under(root) == UINT64_MAX);
}

static void test_groups(void) {
  clear();
  put("proc/self/cgroup", "0::/a/b\n");
  CHECK(vt_memory_under(root) == UINT64_MAX);
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.current", "500\n");
  CHECK(vt_memory_under(root) == UINT64_MAX);
  put("sys/fs/cgroup/a/b/memory.max", "18446744073709552616\n"); /* 2^64 + 1000 */
  CHECK(vt_memory_under(root) == UINT64_MAX - 500);
  put("sys/fs/cgroup/a/b/memory.max", "10000\n");
  CHECK(vt_memory_under(root) == 9500);
  put("sys/fs/cgroup/a/memory.max", "9000\n"); /* a parent that leaves less */
  put("sys/fs/cgroup/a/memory.current", "8000\n");
  CHECK(vt_memory_under(root) == 1000);
  put("sys/fs/cgroup/a/memory.stat", "anon 7000\nfile 900\nxinactive_file 5\ninactive_file 600\n");
  CHECK(vt_memory_under(root) == 1600);             /* what was read from files is given up */
  put("sys/fs/cgroup/a/memory.current", "12000\n"); /* already over */
  CHECK(vt_memory_under(root) == 0);
  put("proc/meminfo", "MemAvailable: 1 kB\n");
  put("sys/fs/cgroup/a/memory.current", "0\n");
  CHECK(vt_memory_under(root) == 1024); /* the least of all */
}

/* Version 1, and a container that sees itself at the top. */
static void test_old_groups(void) {
  clear();
  put("proc/self/cgroup", "5:devices:/x\n4:cpu,memory:/no\n3:memory:/seen/outside\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1024\n");
  CHECK(vt_memory_under(root) == 3072);
  put("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  CHECK(vt_memory_under(root) == 4072);
  put("sys/fs/cgroup/memory.max", "100\n");
  put("sys/fs/cgroup/memory.current", "99\n");
  CHECK(vt_memory_under(root) == 1); /* version 2 beside it */
}

/* A path too long for our buffer: the top is looked at. */
static void test_long_path(void) {
  char text[3000] = "0::";
  clear();
  for (size_t i = 3; i < sizeof text - 1; i++) text[i] = i % 100 ? 'x' : '/';
  put("proc/self/cgroup", text);
  put("sys/fs/cgroup/memory.max", "100\n");
  put("sys/fs/cgroup/memory.current", "30\n");
  CHECK(vt_memory_under(root) == 70);
}

/* ---- this process ---- */

static void test_limit(void) {
  const uint64_t mib = (uint64_t)1 << 20, before = vt_memory_available(), size = process_size();
  struct rlimit limit, old;
  CHECK(getrlimit(RLIMIT_AS, &old) == 0);
  if (size == 0 || old.rlim_cur != RLIM_INFINITY) return; /* no Linux, or limited already */
  CHECK(before > 0);
  limit = (struct rlimit){size + 96 * mib, old.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  const uint64_t left = vt_memory_available();
  CHECK(left <= 96 * mib && left + 8 * mib > (before < 96 * mib ? before : 96 * mib));
  limit.rlim_cur = size / 2;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(vt_memory_available() == 1);
  CHECK(setrlimit(RLIMIT_AS, &old) == 0);
}

int main(void) {
  snprintf(root, sizeof root, "/tmp/volta_memory_%ld", (long)getpid());
  CHECK(mkdir(root, 0700) == 0);
  test_meminfo();
  test_groups();
  test_old_groups();
  test_long_path();
  test_limit();
  clear();
  CHECK(rmdir(root) == 0);
  TEST_DONE();
}
