/* SPDX-License-Identifier: Apache-2.0
 * registry.c - which backends exist, and what they know of this machine. The only object that
 * refers to a backend's functions. */
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
#define VT_BACKEND(name, query, kind) {#name, query, VT_KIND_##kind, &proofs[INDEX_##name]},
#include "backends.def"
#undef VT_BACKEND
};

uint32_t vt_registry_total(void) { return TOTAL; }

const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < vt_registry_total() ? &rows[i] : NULL;
}

/* ---- facts ---- */

typedef void say_fn(char *out, size_t n);
#define VT_FACT(key, say) say_fn say;
#include "facts.def"
#undef VT_FACT

static const struct fact {
  const char *key;
  say_fn *say;
} facts[] = {
#define VT_FACT(key, say) {key, say},
#include "facts.def"
#undef VT_FACT
};
enum { FACTS = sizeof facts / sizeof *facts };

const char *vt_registry_fact(uint32_t i, char *out, size_t n) {
  if (i >= FACTS) return NULL;
  if (n > 0) facts[i].say(out, n);
  return facts[i].key;
}
