/* SPDX-License-Identifier: Apache-2.0
 * vt_memory.h - how much memory this process can still take, and of what pages. Decides whether,
 * and how soon, never what. */
#ifndef VT_MEMORY_H
#define VT_MEMORY_H
#include <stddef.h>
#include <stdint.h>

/* The least of what the system has left, what its control groups leave, and what the limit of the
 * address space leaves. 0: not known; one who has nothing left is told 1. */
uint64_t vt_memory_available(void);
/* The same of a system whose /proc and /sys lie under `root`, without the limit of the address
 * space: UINT64_MAX when nothing there says. For tests. */
uint64_t vt_memory_under(const char *root);

/* Asks that n bytes from p on, not used yet, be few large pages where they are enough for some: an
 * address in them is then found sooner. */
void vt_memory_in_large_pages(void *p, size_t n);
#endif
