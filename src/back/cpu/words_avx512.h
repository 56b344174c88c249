/* SPDX-License-Identifier: Apache-2.0
 * words_avx512.h - the vocabulary of the functions: eight lanes. */
#define VT_LANES 8
#include "vt_words_vector.h"
