/* SPDX-License-Identifier: Apache-2.0
 * words_sse2.h - the vocabulary of the functions: four lanes, those of f64 in two registers. There
 * is no lookup and no fma. */
#define VT_LANES 4
#define VT_GROUP 1 /* so many vectors are computed side by side */
#include "vt_words_vector.h"
