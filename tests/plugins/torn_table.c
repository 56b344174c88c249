/* SPDX-License-Identifier: Apache-2.0
 * torn_table.c - has a table of which only the first half can be read. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (two == MAP_FAILED || mprotect(two + page, page, PROT_NONE) != 0) return NULL;
  char *table = two + page - sizeof(vt_bk_api) / 2;
  memcpy(table, plugin_table(), sizeof(vt_bk_api) / 2);
  return (const vt_bk_api *)(const void *)table;
}
