/* SPDX-License-Identifier: Apache-2.0
 * process_test.h - the memory that this process uses, from Linux's /proc; 0 if /proc cannot be
 * read. */
#ifndef VT_PROCESS_TEST_H
#define VT_PROCESS_TEST_H
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static inline uint64_t process_memory_bytes(int resident) {
  unsigned long long pages[2] = {0};
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%llu %llu", &pages[0], &pages[1]) != 2) pages[0] = pages[1] = 0;
  if (f != NULL) fclose(f);
  return (uint64_t)pages[resident] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the bytes of the address space. */
static inline uint64_t process_virtual_bytes(void) { return process_memory_bytes(0); }

/* Returns the bytes in physical memory. smaps_rollup counts page by page and is preferred: the
 * counter in statm is kept per processor and may be off by hundreds of pages. */
static inline uint64_t process_resident_bytes(void) {
  char line[256];
  unsigned long long kib = 0;
  FILE *f = fopen("/proc/self/smaps_rollup", "r");
  while (f != NULL && kib == 0 && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "Rss: %llu", &kib) != 1) kib = 0;
  if (f != NULL) fclose(f);
  return kib != 0 ? (uint64_t)kib * 1024 : process_memory_bytes(1);
}
#endif
