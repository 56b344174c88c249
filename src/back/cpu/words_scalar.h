/* SPDX-License-Identifier: Apache-2.0
 * words_scalar.h - the vocabulary of the functions: one lane of C11. */
#define VT_GROUP 1 /* so many vectors are computed side by side */
#include "vt_words.h"
