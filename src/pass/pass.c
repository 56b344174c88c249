/* SPDX-License-Identifier: Apache-2.0
 * pass.c - the list of passes: parses a choice of them and runs one. */
#include "vt_pass.h"
#include <stdio.h>
#include <string.h>

static const vt_pass_info passes[] = {
#define VT_PASS(name, function, help) {#name, function, help},
#include "passes.def"
#undef VT_PASS
};

uint32_t vt_pass_total(void) { return VT_PASS_COUNT; }

const vt_pass_info *vt_pass_at(uint32_t i) { return i < VT_PASS_COUNT ? &passes[i] : NULL; }

/* ---- parsing a list ---- */

/* Fails with the unknown name, and with the names of all passes as the hint. */
static vt_status fail_unknown_pass(const char *name, size_t n, vt_diag *d) {
  const vt_status s = VT_FAIL(d, VT_USAGE, "there is no pass '%.*s'", n > 40 ? 40 : (int)n, name);
  if (d == NULL || d->hint[0] != 0) return s;
  size_t used = 0;
  for (uint32_t i = 0; i < VT_PASS_COUNT && used < sizeof d->hint; i++)
    used += (size_t)snprintf(d->hint + used, sizeof d->hint - used, "%s%s",
                             i == 0 ? "the passes are " : ", ", passes[i].name);
  return s;
}

static vt_status add_pass(vt_pass_list *list, const char *name, size_t n, vt_diag *d) {
  uint32_t at = 0;
  while (at < VT_PASS_COUNT &&
         (strlen(passes[at].name) != n || memcmp(passes[at].name, name, n) != 0))
    at++;
  if (at == VT_PASS_COUNT) return fail_unknown_pass(name, n, d);
  for (uint32_t i = 0; i < list->n; i++)
    if (list->at[i] == at)
      return VT_FAIL(d, VT_USAGE, "the pass '%s' is listed twice", passes[at].name);
  list->at[list->n++] = at;
  return VT_OK;
}

vt_status vt_pass_list_parse(const char *names, vt_pass_list *out, vt_diag *d) {
  vt_pass_list list = {0};
  for (; names == NULL && list.n < VT_PASS_COUNT; list.n++) list.at[list.n] = list.n;
  while (names != NULL) {
    const char *end = strchr(names, ',');
    VT_TRY(add_pass(&list, names, end != NULL ? (size_t)(end - names) : strlen(names), d));
    names = end != NULL ? end + 1 : NULL;
  }
  if (list.at[0] != VT_PASS_bind)
    return VT_FAIL(d, VT_USAGE, "the pass 'bind' must come first in the list");
  *out = list;
  return VT_OK;
}

/* ---- running ---- */

vt_status vt_pass_run(uint32_t i, const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                      vt_diag *d) {
  if (i != VT_PASS_bind && g->dims.n_symbols > 0)
    return VT_FAIL(d, VT_INTERNAL, "the pass '%s' runs before the dimensions are bound",
                   passes[i].name);
  return passes[i].run(g, o, out, d);
}
