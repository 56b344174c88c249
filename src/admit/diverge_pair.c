/* SPDX-License-Identifier: Apache-2.0
 * diverge_pair.c - divergence pairs: runs one model with the same values on the tested backend and
 * on the reference, and finds the first output that differs. Only bits are compared. */
#include <stdio.h>
#include <string.h>
#include "diverge_search.h"
#include "program.h"

static vt_status no_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* ---- running ---- */

vt_status vt_set_inputs_from_table(void *user, vt_program *p, vt_diag *d) {
  const vt_input_table *table = user;
  for (uint32_t i = 0; i < table->n; i++)
    VT_TRY(vt_program_set_input(p, table->names[i], &table->t[i], d));
  return VT_OK;
}

vt_status vt_diverge_pair_new_program(const vt_diverge_pair *x, int side, const vt_model *m,
                                      const char *passes, int prepare_flags, vt_program **out,
                                      vt_diag *d) {
  vt_options o = x->side[side];
  o.passes = passes;
  o.bind = NULL;
  o.n_bind = 0;
  o.stream = NULL;
  o.memory_budget = 0;
  return vt_program_new_with_flags(m, &o, prepare_flags, out, d);
}

vt_status vt_diverge_set_values_and_run(const vt_value_source *v, vt_program *p, vt_diag *d) {
  VT_TRY(v->give(v->user, p, d));
  return vt_program_run(p, d);
}

void vt_diverge_pair_free(vt_program *p[VT_SIDES]) {
  for (int i = 0; i < VT_SIDES; i++) {
    vt_program_free(p[i]);
    p[i] = NULL;
  }
}

vt_status vt_diverge_pair_run(const vt_diverge_pair *x, const vt_model *m, const char *passes,
                              const vt_value_source *v, vt_program *out[VT_SIDES], vt_diag *d) {
  vt_status s = VT_OK;
  memset(out, 0, VT_SIDES * sizeof *out);
  for (int i = 0; s == VT_OK && i < VT_SIDES; i++) {
    s = vt_diverge_pair_new_program(x, i, m, passes, VT_PREPARE_UNTRIED, &out[i], d);
    if (s == VT_OK) s = vt_diverge_set_values_and_run(v, out[i], d);
  }
  if (s != VT_OK) vt_diverge_pair_free(out);
  return s;
}

vt_status vt_diverge_pair_compare(vt_program *const p[VT_SIDES], uint32_t *out_output,
                                  vt_compare *out, vt_diag *d) {
  const uint32_t n = vt_program_outputs(p[VT_REFERENCE]);
  for (uint32_t i = 0; i < n; i++) {
    const char *name;
    vt_tensor t[VT_SIDES];
    vt_compare c = {.size = sizeof c};
    for (int k = 0; k < VT_SIDES; k++) VT_TRY(vt_program_output(p[k], i, &name, &t[k], d));
    VT_TRY(vt_tensor_compare(&t[VT_TESTED], &t[VT_REFERENCE], &c, d));
    if (c.differing == 0) continue;
    *out = c;
    *out_output = i;
    return VT_OK;
  }
  *out_output = n;
  return VT_OK;
}

vt_status vt_diverge_element_distance(const vt_tensor *a, const vt_tensor *b, uint64_t element,
                                      uint64_t *out, vt_diag *d) {
  const uint64_t at = element * vt_dtype_bytes(a->dtype);
  const vt_tensor x = {.dtype = a->dtype, .data = (char *)a->data + at};
  const vt_tensor y = {.dtype = b->dtype, .data = (char *)b->data + at};
  vt_compare c = {.size = sizeof c};
  VT_TRY(vt_tensor_compare(&x, &y, &c, d));
  *out = c.largest;
  return VT_OK;
}

void vt_position_print(const vt_tensor *t, uint64_t element, char out[VT_INDEX_TEXT]) {
  int64_t at[VT_MAX_RANK] = {0};
  for (uint32_t a = t->rank; a-- > 0;) {
    const uint64_t size = t->dim[a] > 0 ? (uint64_t)t->dim[a] : 1;
    at[a] = (int64_t)(element % size);
    element /= size;
  }
  size_t n = (size_t)snprintf(out, VT_INDEX_TEXT, "[");
  for (uint32_t a = 0; a < t->rank; a++)
    n += (size_t)snprintf(out + n, VT_INDEX_TEXT - n, "%s%lld", a == 0 ? "" : ", ",
                          (long long)at[a]);
  snprintf(out + n, VT_INDEX_TEXT - n, "]");
}

/* ---- intermediate values ---- */

/* The graph is printed with other outputs and parsed again, so that no code here copies a graph.
 * Groups are removed, because a value inside a group may not be an output. */
vt_status vt_model_with_outputs(const vt_graph *g, const uint32_t *values, uint32_t n, vt_alloc a,
                                vt_model **out, vt_diag *d) {
  enum { NAME = 16 };
  vt_arena scratch;
  vt_text text;
  vt_arena_init(&scratch, a);
  vt_text_init(&text, a);
  vt_graph view = *g;
  char *names = VT_NEW_N(&scratch, char, (size_t)n *NAME);
  vt_node *nodes = VT_NEW_N(&scratch, vt_node, g->n_nodes);
  view.name = "middle";
  view.nodes = nodes;
  view.results = VT_NEW_N(&scratch, vt_result, n);
  view.n_results = n;
  vt_status s = scratch.failed ? no_memory(d) : VT_OK;
  for (uint32_t i = 0; s == VT_OK && i < n; i++) {
    /* The leading zeros make the names sort like the numbers. */
    snprintf(names + (size_t)i * NAME, NAME, "o%08u", i);
    view.results[i] = (vt_result){names + (size_t)i * NAME, values[i]};
  }
  for (uint32_t i = 0; s == VT_OK && i < g->n_nodes; i++) {
    nodes[i] = g->nodes[i];
    nodes[i].group = 0;
  }
  if (s == VT_OK) vt_graph_print(&view, 0, &text);
  if (s == VT_OK && vt_text_status(&text) != VT_OK) s = no_memory(d);
  if (s == VT_OK) s = vt_model_parse(text.s, text.n, &a, out, d);
  vt_text_done(&text);
  vt_arena_done(&scratch);
  return s;
}

vt_status vt_tensor_copy_to_arena(const vt_tensor *t, vt_arena *keep, vt_tensor *out, vt_diag *d) {
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, d));
  void *data = bytes < SIZE_MAX ? VT_NEW_N(keep, char, (size_t)bytes) : NULL;
  if (data == NULL) return no_memory(d);
  if (bytes > 0) memcpy(data, t->data, (size_t)bytes);
  *out = *t;
  out->data = data;
  return VT_OK;
}

static vt_status copy_outputs_to_arena(vt_program *p, vt_arena *keep, vt_tensor *out, vt_diag *d) {
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    const char *name;
    vt_tensor t;
    VT_TRY(vt_program_output(p, i, &name, &t, d));
    VT_TRY(vt_tensor_copy_to_arena(&t, keep, &out[i], d));
  }
  return VT_OK;
}

vt_status vt_diverge_reference_values(const vt_diverge_pair *x, const vt_graph *g,
                                      const vt_value_source *v, const uint32_t *values, uint32_t n,
                                      vt_arena *keep, vt_tensor *out, vt_diag *d) {
  vt_model *m = NULL;
  vt_program *p = NULL;
  if (n == 0) return VT_OK;
  VT_TRY(vt_model_with_outputs(g, values, n, x->a, &m, d));
  vt_status s = vt_diverge_pair_new_program(x, VT_REFERENCE, m, "bind,lower,dead", 0, &p, d);
  if (s == VT_OK) s = vt_diverge_set_values_and_run(v, p, d);
  if (s == VT_OK) s = copy_outputs_to_arena(p, keep, out, d);
  vt_program_free(p);
  vt_model_free(m);
  return s;
}
