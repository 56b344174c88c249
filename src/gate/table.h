/* SPDX-License-Identifier: Apache-2.0
 * table.h - checks of a backend's table of functions and of its capabilities. The gateway and the
 * program that probes plug-ins both use it, so that both check the same. */
#ifndef VT_TABLE_H
#define VT_TABLE_H
#include "volta/volta_backend.h"

enum { VT_TABLE_ALIGNMENT = 256, VT_TABLE_TEXT = 160 };
/* NULL if the table has everything that version 1 of the ABI requires; else a sentence about "it",
 * the backend, that names the fault. The sentence may be in `text`. Nothing beyond the size that
 * the table states is read. The second function checks capabilities in the same way. */
const char *vt_table_find_fault(const vt_bk_api *api, char text[VT_TABLE_TEXT]);
const char *vt_caps_find_fault(const vt_bk_caps *caps, char text[VT_TABLE_TEXT]);
/* Clears the fields beyond the size that the backend wrote. */
void vt_caps_clear_unwritten(vt_bk_caps *caps);
#endif
