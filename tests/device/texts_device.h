/* SPDX-License-Identifier: Apache-2.0
 * texts_device.h - between the kernels of the texts (texts_device.cu) and what judges them
 * (texts_check.c). A text is known by its place in texts.def. Every call leaves its results in
 * s->host, as 64-bit patterns, and returns 0, or a line that says what went wrong on the device. */
#ifndef VT_TEXTS_DEVICE_H
#define VT_TEXTS_DEVICE_H
#include "functions_device.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { TD_SLICE = 1 << 18 }; /* results of a call of the first three kinds */
enum { TD_LISTS = 256 };     /* lists of a call of the others: one a thread */
enum { TD_MOST_PRODUCTS = 4100 };

/* Cases `first` and on of a text, of a cast; blocks `first` and on of random numbers. */
const char *td_text(fd_slot *s, int text, uint64_t first);
const char *td_cast(fd_slot *s, uint32_t from, uint32_t to, uint64_t first);
const char *td_random(fd_slot *s, uint64_t seed, int way, uint64_t first);
/* S of the first n elements of the lists `first` and on. */
const char *td_sum_f32(fd_slot *s, uint64_t first, int64_t n);
const char *td_sum_f64(fd_slot *s, uint64_t first, int64_t n);
/* D of list `first` with each of the lists behind it; with `holes`, only every k that case_present
 * names. */
const char *td_dot_f32(fd_slot *s, uint64_t first, int64_t n, int holes);
const char *td_dot_f64(fd_slot *s, uint64_t first, int64_t n, int holes);
#ifdef __cplusplus
}
#endif
#endif
