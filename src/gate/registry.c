/* SPDX-License-Identifier: Apache-2.0
 * registry.c - the table of the backends built into this binary. It is the only object that refers
 * to a backend's query function. */
#include "registry.h"

#define VT_BACKEND(name, query, kind) vt_backend_query_fn query;
#include "backends.def"
#undef VT_BACKEND

enum {
#define VT_BACKEND(name, query, kind) INDEX_##name,
#include "backends.def"
#undef VT_BACKEND
  TOTAL
};
static vt_proofs proofs[TOTAL];

static const vt_registry_row rows[TOTAL] = {
#define VT_BACKEND(name, query, kind) \
  [INDEX_##name] = {#name, query, VT_KIND_##kind, &proofs[INDEX_##name]},
#include "backends.def"
#undef VT_BACKEND
};

uint32_t vt_registry_backend_count(void) { return TOTAL; }

const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < vt_registry_backend_count() ? &rows[i] : NULL;
}
