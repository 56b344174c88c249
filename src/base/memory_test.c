/* SPDX-License-Identifier: Apache-2.0
 * memory_test.c - the memory that is available, from imitated files of Linux and from the limits of
 * this process. */
#include "vt_memory.h"
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "process_test.h"
#include "vt_test.h"

static char root[64];

/* ---- imitated system files ---- */

/* Writes the file "a/b/c" under the root, creating its folders. */
static void write_file(const char *name, const char *text) {
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

static void remove_files(void) {
  char command[160];
  snprintf(command, sizeof command, "rm -rf %s/proc %s/sys", root, root);
  CHECK(system(command) == 0);
}

static void test_available_of_meminfo(void) {
  remove_files();
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
  write_file("proc/meminfo",
             "MemTotal:  8000 kB\nMemFree:  1000 kB\nMemAvailable:    3000 kB\nX: 1\n");
  CHECK(vt_memory_available_under(root) == (uint64_t)3000 * 1024);
  write_file("proc/meminfo", "MemAvailable: 7 kB");
  CHECK(vt_memory_available_under(root) == 7 * 1024);
  write_file("proc/meminfo", "NotMemAvailable: 7 kB\n MemAvailable: 8 kB\n");
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
  write_file("proc/meminfo", "MemAvailable: 99999999999999999999999 kB\n");
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
  write_file("proc/meminfo", "");
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
}

static void test_least_of_control_groups(void) {
  remove_files();
  write_file("proc/self/cgroup", "0::/a/b\n");
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
  write_file("sys/fs/cgroup/a/b/memory.max", "max\n");
  write_file("sys/fs/cgroup/a/b/memory.current", "500\n");
  CHECK(vt_memory_available_under(root) == UINT64_MAX);
  write_file("sys/fs/cgroup/a/b/memory.max",
             "18446744073709552616\n"); /* 2^64 + 1000, which saturates */
  CHECK(vt_memory_available_under(root) == UINT64_MAX - 500);
  write_file("sys/fs/cgroup/a/b/memory.max", "10000\n");
  CHECK(vt_memory_available_under(root) == 9500);
  write_file("sys/fs/cgroup/a/memory.max", "9000\n"); /* a parent group that has less memory left */
  write_file("sys/fs/cgroup/a/memory.current", "8000\n");
  CHECK(vt_memory_available_under(root) == 1000);
  write_file("sys/fs/cgroup/a/memory.stat",
             "anon 7000\nfile 900\nxinactive_file 5\ninactive_file 600\n");
  CHECK(vt_memory_available_under(root) == 1600); /* the file cache can be reclaimed */
  /* the group uses more than its limit allows */
  write_file("sys/fs/cgroup/a/memory.current", "12000\n");
  CHECK(vt_memory_available_under(root) == 0);
  write_file("proc/meminfo", "MemAvailable: 1 kB\n");
  write_file("sys/fs/cgroup/a/memory.current", "0\n");
  CHECK(vt_memory_available_under(root) == 1024); /* the minimum of all limits */
}

/* Control groups of version 1, in a container where only the root group's files are visible. */
static void test_control_groups_v1(void) {
  remove_files();
  write_file("proc/self/cgroup", "5:devices:/x\n4:cpu,memory:/no\n3:memory:/seen/outside\n0::/\n");
  write_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  write_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1024\n");
  CHECK(vt_memory_available_under(root) == 3072);
  write_file("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  CHECK(vt_memory_available_under(root) == 4072);
  write_file("sys/fs/cgroup/memory.max", "100\n");
  write_file("sys/fs/cgroup/memory.current", "99\n");
  CHECK(vt_memory_available_under(root) == 1); /* a limit of version 2 counts as well */
}

/* With a path too long for the buffer, the root group is read. */
static void test_too_long_group_path_means_root(void) {
  char text[3000] = "0::";
  remove_files();
  for (size_t i = 3; i < sizeof text - 1; i++) text[i] = i % 100 ? 'x' : '/';
  write_file("proc/self/cgroup", text);
  write_file("sys/fs/cgroup/memory.max", "100\n");
  write_file("sys/fs/cgroup/memory.current", "30\n");
  CHECK(vt_memory_available_under(root) == 70);
}

/* ---- this process ---- */

static void test_address_space_limit(void) {
  const uint64_t mib = (uint64_t)1 << 20, before = vt_memory_available(),
                 size = process_virtual_bytes();
  struct rlimit limit, old;
  CHECK(getrlimit(RLIMIT_AS, &old) == 0);
  /* this is not Linux, or the address space is limited already */
  if (size == 0 || old.rlim_cur != RLIM_INFINITY) return;
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
  test_available_of_meminfo();
  test_least_of_control_groups();
  test_control_groups_v1();
  test_too_long_group_path_means_root();
  test_address_space_limit();
  remove_files();
  CHECK(rmdir(root) == 0);
  TEST_DONE();
}
