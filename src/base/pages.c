/* SPDX-License-Identifier: Apache-2.0
 * pages.c - advises the system (madvise) to use large pages, if the system leaves that choice to
 * programs. */
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "vt_memory.h"

enum { LARGE = 2 << 20, WORTH_ASKING = 2 * LARGE };

/* The advice covers the whole pages inside the range. If the system refuses it, nothing changes. */
void vt_memory_use_large_pages(void *p, size_t n) {
#ifdef MADV_HUGEPAGE
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)p % page) % page;
  if (n < WORTH_ASKING) return;
  (void)madvise((char *)p + before, (n - before) / page * page, MADV_HUGEPAGE);
#else
  (void)p, (void)n;
#endif
}
