/* SPDX-License-Identifier: Apache-2.0
 * texts_device.h - the interface between the kernels (texts_device.cu) and the program that checks
 * them (texts_check.c). A text is identified by its index in texts.def. Every function stores its
 * results in s->host as 64-bit patterns, and returns NULL or an error message of the device. */
#ifndef VT_TEXTS_DEVICE_H
#define VT_TEXTS_DEVICE_H
#include "functions_device.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  TD_SLICE = 1 << 18
}; /* results per call of td_compute_text, td_compute_casts and td_compute_randoms */
enum { TD_LISTS = 256 }; /* lists per call of the others, one per thread */
enum { TD_MOST_PRODUCTS = 4100 };

/* Results of TD_SLICE consecutive cases of a text or a cast, or blocks of random numbers, beginning
 * with number `first`. */
const char *td_compute_text(fd_slot *s, int text, uint64_t first);
const char *td_compute_casts(fd_slot *s, uint32_t from, uint32_t to, uint64_t first);
const char *td_compute_randoms(fd_slot *s, uint64_t seed, int variant, uint64_t first);
/* S of the first n elements of each of TD_LISTS lists, beginning with number `first`. */
const char *td_compute_sums_f32(fd_slot *s, uint64_t first, int64_t n);
const char *td_compute_sums_f64(fd_slot *s, uint64_t first, int64_t n);
/* D of list `first` with each of the TD_LISTS lists after it; with `holes`, only of the k that
 * case_present names. */
const char *td_compute_dots_f32(fd_slot *s, uint64_t first, int64_t n, int holes);
const char *td_compute_dots_f64(fd_slot *s, uint64_t first, int64_t n, int holes);
#ifdef __cplusplus
}
#endif
#endif
