/* SPDX-License-Identifier: Apache-2.0
 * model.c - loads a model: a frozen graph with its printed form, its hash and the descriptions of
 * its ports. All of these are made when it is loaded, so that a loaded model is const and threads
 * may share it. */
#include <string.h>
#include "model.h"
#include "vt_file.h"
#include "vt_fpenv.h"
#include "vt_parse.h"

enum { MAX_BYTES = 64 * 1024 * 1024 }; /* the most bytes of a model's file */

/* Returns a copy of the text in the model's arena, or NULL when memory is out; frees `t`. */
static const char *copy_and_free_text(vt_model *m, vt_text *t) {
  const char *s = t->n == 0 ? "" : vt_arena_string(&m->arena, t->s, t->n);
  if (vt_text_status(t) != VT_OK) s = NULL;
  vt_text_done(t);
  return s;
}

/* Adds the description of an input or param, or of an output if `port` is NULL; returns 0 when
 * memory is out. */
static int add_port_info(vt_model *m, uint32_t kind, const char *name, uint32_t value,
                         const vt_port *port) {
  vt_port_info *info = &m->ports[m->n_ports++];
  const vt_type *type = &m->g->values[value].type;
  vt_text t;
  *info = (vt_port_info){.kind = kind, .dtype = type->dtype, .rank = type->rank, .name = name};
  vt_text_init(&t, m->a);
  vt_type_print(&m->g->dims, type, &t);
  info->type = copy_and_free_text(m, &t);
  vt_text_init(&t, m->a);
  if (port != NULL) vt_port_print_range_and_init(m->g, port, &t);
  info->extra = copy_and_free_text(m, &t);
  return info->type != NULL && info->extra != NULL;
}

/* Makes the text, the hash and the port infos of the parsed graph. */
static vt_status make_text_hash_and_ports(vt_model *m, vt_diag *d) {
  const vt_graph *g = m->g;
  vt_text t;
  vt_text_init(&t, m->a);
  vt_graph_print(g, 0, &t);
  m->text = copy_and_free_text(m, &t);
  m->ports = VT_NEW_N(&m->arena, vt_port_info, (size_t)g->n_ports + g->n_results);
  int ok = m->text != NULL && m->ports != NULL && vt_graph_hash(g, &m->hash) == VT_OK;
  for (uint32_t i = 0; ok && i < g->n_ports; i++)
    ok = add_port_info(m, g->ports[i].kind, g->ports[i].name, g->ports[i].value, &g->ports[i]);
  for (uint32_t i = 0; ok && i < g->n_results; i++)
    ok = add_port_info(m, VT_PORT_OUTPUT, g->results[i].name, g->results[i].value, NULL);
  return ok ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

static vt_status parse_model_text(vt_model *m, const char *text, size_t n, vt_diag *d) {
  vt_fpenv saved;
  vt_fpenv_enter(&saved); /* parsing rounds literals, so it needs the numerics' own mode */
  vt_status s = vt_parse(text, n, m->a, &m->g, d);
  if (s == VT_OK) s = make_text_hash_and_ports(m, d);
  vt_fpenv_leave(&saved);
  return s;
}

vt_status vt_model_parse(const char *text, size_t n, const vt_alloc *alloc, vt_model **out_model,
                         vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  vt_model *m = vt_alloc_new(a, sizeof *m);
  if (m == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  m->a = a;
  vt_arena_init(&m->arena, a);
  const vt_status s = parse_model_text(m, text, n, d);
  if (s == VT_OK) {
    *out_model = m;
  } else {
    vt_model_free(m);
  }
  return s;
}

vt_status vt_model_read(const char *path, const vt_alloc *alloc, vt_model **out_model, vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  vt_file f;
  VT_TRY(vt_file_read(path, MAX_BYTES, a, &f, d));
  const vt_status s = vt_model_parse((const char *)f.data, f.size, alloc, out_model, d);
  vt_file_done(&f);
  return s;
}

void vt_model_free(vt_model *m) {
  if (m == NULL) return;
  const vt_alloc a = m->a;
  vt_graph_free(m->g);
  vt_arena_done(&m->arena);
  vt_alloc_free(a, m, sizeof *m);
}

const char *vt_model_name(const vt_model *m) { return m->g->name; }
const char *vt_model_text(const vt_model *m) { return m->text; }
void vt_model_hash(const vt_model *m, uint8_t out[32]) { memcpy(out, m->hash.b, 32); }
uint32_t vt_model_ports(const vt_model *m) { return m->n_ports; }
uint32_t vt_model_dims(const vt_model *m) { return m->g->dims.n_symbols; }
uint32_t vt_model_nodes(const vt_model *m) { return m->g->n_nodes; }

const char *vt_model_dim(const vt_model *m, uint32_t i) {
  return i < m->g->dims.n_symbols ? m->g->dims.symbol[i] : NULL;
}

vt_status vt_model_port(const vt_model *m, uint32_t i, vt_port_info *out) {
  if (i >= m->n_ports) return VT_RANGE;
  *out = m->ports[i];
  return VT_OK;
}
