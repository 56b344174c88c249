/* SPDX-License-Identifier: Apache-2.0
 * texts_device.h - the interface between the kernels (texts_device.cu) and the program that
 * checks them (texts_check.c). A text is identified by its index in texts.def. Every function
 * stores its results in s->host as 64-bit patterns, and returns NULL or an error message of the
 * device. A list is the operands of one sum or dot product, generated from its number; S and D
 * are the summation orders of docs/numerics.md. Names begin with td_ for texts on the device. */
#ifndef VT_TEXTS_DEVICE_H
#define VT_TEXTS_DEVICE_H
#include "functions_device.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  TD_SLICE = 1 << 18
}; /* TD_SLICE: results per call of td_compute_text, td_compute_casts and td_compute_randoms */
/* lists per call of the functions for sums and dot products, one list per thread */
enum { TD_LISTS = 256 };
enum { TD_MOST_PRODUCTS = 4100 };

/* Compute the results of TD_SLICE consecutive cases of a text or a cast, or blocks of random
 * numbers, beginning with `first_number`. */
const char *td_compute_text(fd_slot *s, int text, uint64_t first_number);
const char *td_compute_casts(fd_slot *s, uint32_t from, uint32_t to, uint64_t first_number);
const char *td_compute_randoms(fd_slot *s, uint64_t seed, int variant, uint64_t first_number);
/* Compute S of the first n elements of each of TD_LISTS lists, beginning with list `first_list`. */
const char *td_compute_sums_f32(fd_slot *s, uint64_t first_list, int64_t n);
const char *td_compute_sums_f64(fd_slot *s, uint64_t first_list, int64_t n);
/* Compute D of list `first_list` with each of the TD_LISTS lists after it. If `holes` is 1,
 * products for which case_is_product_present returns 0 are skipped. */
const char *td_compute_dots_f32(fd_slot *s, uint64_t first_list, int64_t n, int holes);
const char *td_compute_dots_f64(fd_slot *s, uint64_t first_list, int64_t n, int holes);
#ifdef __cplusplus
}
#endif
#endif
