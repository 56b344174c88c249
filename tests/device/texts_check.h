/* SPDX-License-Identifier: Apache-2.0
 * texts_check.h - checks the numerics other than functions on the device against the CPU. */
#ifndef VT_TEXTS_CHECK_H
#define VT_TEXTS_CHECK_H
/* Prints one line per text. Returns 1 if something differs or fails. `plant` inverts one bit per
 * slice. */
int texts_check(int plant);
#endif
