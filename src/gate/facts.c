/* SPDX-License-Identifier: Apache-2.0
 * facts.c - facts that backends report about this build and machine, for `volta doctor`. facts.def
 * lists them. */
#include "registry.h"

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
