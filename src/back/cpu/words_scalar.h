/* SPDX-License-Identifier: Apache-2.0
 * words_scalar.h - the vocabulary of the functions: one lane of C11. */
#include "vt_words.h"
