/* SPDX-License-Identifier: Apache-2.0
 * words_sse2.h - the vocabulary of the functions of src/num: four lanes, whose f64 need two
 * registers. There is no table lookup and no fma instruction. */
#define VT_LANES 4
#define VT_GROUP 1 /* vectors that are computed together */
#include "vt_words_vector.h"
