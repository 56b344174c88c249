/* SPDX-License-Identifier: Apache-2.0
 * vt_memory.h - how much memory this process can still allocate, and a hint for large pages.
 * Decides whether a program runs and how fast, never which bits it computes. */
#ifndef VT_MEMORY_H
#define VT_MEMORY_H
#include <stddef.h>
#include <stdint.h>

/* Bytes that this process can still allocate: the minimum of the system's available memory, the
 * remainder of each control group, and the remainder of the address-space limit. Returns 0 if
 * nothing is known, and 1 if nothing is left. */
uint64_t vt_memory_available(void);
/* Like vt_memory_available, for a system whose /proc and /sys are under the folder `root`, and
 * without the address-space limit. Returns UINT64_MAX if none of its files gives a limit. For
 * tests. */
uint64_t vt_memory_available_under(const char *root);

/* Advises the system to back the n bytes at p, which have not been touched yet, with large pages,
 * so that address translation costs less. Does nothing for ranges too small to hold several large
 * pages. */
void vt_memory_use_large_pages(void *p, size_t n);
#endif
