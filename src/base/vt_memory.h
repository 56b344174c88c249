/* SPDX-License-Identifier: Apache-2.0
 * vt_memory.h - how much memory this process can still take. Decides whether, never what. */
#ifndef VT_MEMORY_H
#define VT_MEMORY_H
#include <stdint.h>

/* The least of what the system has left, what its control groups leave, and what the limit of the
 * address space leaves. 0: not known; one who has nothing left is told 1. */
uint64_t vt_memory_available(void);
/* The same of a system whose /proc and /sys lie under `root`, without the limit of the address
 * space: UINT64_MAX when nothing there says. For tests. */
uint64_t vt_memory_under(const char *root);
#endif
