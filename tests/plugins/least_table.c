/* SPDX-License-Identifier: Apache-2.0
 * least_table.c - has the shortest table that version 1 of the ABI allows. The memory after it,
 * where the optional functions would be, cannot be read. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include "test_plugin.h"

enum { PAGE = 65536, LEAST = 128 };

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  static vt_bk_api *made;
  (void)host;
  if (made != NULL) return made;
  char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (two == MAP_FAILED || mprotect(two + PAGE, PAGE, PROT_NONE) != 0) return NULL;
  plugin_table()->size = LEAST;
  made = (vt_bk_api *)(void *)(two + PAGE - LEAST);
  memcpy((void *)made, plugin_table(), LEAST);
  return made;
}
