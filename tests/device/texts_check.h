/* SPDX-License-Identifier: Apache-2.0
 * texts_check.h - the texts that are not functions on the device, against this processor. */
#ifndef VT_TEXTS_CHECK_H
#define VT_TEXTS_CHECK_H
/* One line a text. 1 when something differs or fails. `plant`: turn one bit a slice. */
int texts_check(int plant);
#endif
