/* SPDX-License-Identifier: Apache-2.0
 * texts_check.h - checks the numerics other than functions on the device against the CPU. */
#ifndef VT_TEXTS_CHECK_H
#define VT_TEXTS_CHECK_H
/* Checks all texts and prints one line for each. Returns 1 if a result differs or the device fails.
 * If `plant` is 1, one bit per slice is inverted. */
int texts_check(int plant);
#endif
