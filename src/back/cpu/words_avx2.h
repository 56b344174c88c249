/* SPDX-License-Identifier: Apache-2.0
 * words_avx2.h - the vocabulary of the functions: four lanes. */
#define VT_LANES 4
#include "vt_words_vector.h"
