/* SPDX-License-Identifier: Apache-2.0
 * words_scalar.h - the vocabulary of the functions of src/num in C11: one lane. */
#define VT_GROUP 1 /* vectors that are computed together */
#include "vt_words.h"
