/* SPDX-License-Identifier: Apache-2.0
 * table.h - what a backend's table and capabilities must look like. Part of the gateway and of the
 * program that probes plug-ins, so that both ask the same. */
#ifndef VT_TABLE_H
#define VT_TABLE_H
#include "volta/volta_backend.h"

enum { VT_TABLE_ALIGNMENT = 256, VT_TABLE_TEXT = 160 };
/* NULL when everything that version 1 owes is there; else what is not, said of "it". `text` is
 * where the sentence may be made. Nothing beyond the table's own size is read. */
const char *vt_table_fault(const vt_bk_api *api, char text[VT_TABLE_TEXT]);
const char *vt_caps_fault(const vt_bk_caps *caps, char text[VT_TABLE_TEXT]);
/* Makes 0 of what lies beyond the size that the writer gave. */
void vt_caps_trim(vt_bk_caps *caps);
#endif
