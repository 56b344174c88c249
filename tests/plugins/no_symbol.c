/* SPDX-License-Identifier: Apache-2.0
 * no_symbol.c - does not export vt_backend_query. */
#include "test_plugin.h"

EXPORT const vt_bk_api *other_query(void);
const vt_bk_api *other_query(void) { return plugin_table(); }
