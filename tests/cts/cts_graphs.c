/* SPDX-License-Identifier: Apache-2.0
 * cts_graphs.c - checks that decompositions and gradients write the same graph with every compiler.
 * C does not define the order in which arguments are evaluated. So if two arguments of a call write
 * nodes, their numbers depend on the compiler. graphs.digests has one digest per op. It covers the
 * printed graphs of all models of the op: the lowered model, its gradient, the lowered gradient. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_file.h"
#include "vt_hash.h"
#include "vt_parse.h"
#include "vt_pass.h"

static const char file_name[] = "graphs.digests";

/* ---- one model ---- */

static _Noreturn void die_at_model(const vt_suite_model *m, const vt_diag *d) {
  cts_die("%s: %s", m->name, d->text);
}

static void hash_printed_graph(vt_hasher *h, const vt_graph *g) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 1, &t);
  if (vt_text_status(&t) != VT_OK) cts_die("out of memory");
  vt_hash_add_u64(h, t.n);
  vt_hash_add(h, t.s, t.n);
  vt_text_done(&t);
}

static unsigned undeclared; /* number of compositions whose row lacks a needed capability */
/* Counts and reports a composition whose prims need a capability that its own row does not declare.
 * A backend that runs the composition as one step needs that capability too. */
static void check_declared_needs(const vt_op_info *own, const vt_graph *g) {
  static const vt_op_info *last;
  for (uint32_t i = 0; i < g->n_nodes && last != own; i++) {
    const vt_op_info *op = vt_op_get(g->nodes[i].op);
    const int counts = op->needs == VT_NEEDS_collisions || op->needs == VT_NEEDS_int8;
    if (!counts || own->needs == op->needs) continue;
    printf("FAILED %s: it is decomposed into %s, whose needs its row does not declare\n", own->name,
           op->name);
    undeclared++, last = own;
  }
}

/* Adds the printed graph of a model after lowering to prims. */
static void hash_lowered_graph(vt_hasher *h, const vt_suite_model *m, const char *text) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  vt_graph *written = NULL, *bound = NULL, *lowered = NULL;
  vt_diag d = {0};
  if (vt_parse(text, strlen(text), o.alloc, &written, &d) != VT_OK ||
      vt_pass_bind(written, &o, &bound, &d) != VT_OK ||
      vt_pass_lower(bound, &o, &lowered, &d) != VT_OK)
    die_at_model(m, &d);
  if (text == m->text) check_declared_needs(m->block->op, lowered);
  hash_printed_graph(h, lowered);
  vt_graph_free(lowered);
  vt_graph_free(bound);
  vt_graph_free(written);
}

static void hash_model_graphs(vt_hasher *h, const vt_suite_model *m) {
  vt_text gradient;
  vt_diag d = {0};
  vt_hash_add(h, m->name, strlen(m->name) + 1);
  hash_lowered_graph(h, m, m->text);
  if (!vt_suite_has_gradient(m->block)) return;
  vt_text_init(&gradient, vt_alloc_default());
  if (vt_suite_write_gradient(m, vt_alloc_default(), &gradient, &d) != VT_OK) die_at_model(m, &d);
  vt_hash_add(h, gradient.s, gradient.n + 1);
  hash_lowered_graph(h, m, gradient.s);
  vt_text_done(&gradient);
}

/* ---- all models, sorted by op and name ---- */

static int compare_by_op_and_name(const void *a, const void *b) {
  const vt_suite_model *x = *(vt_suite_model *const *)a, *y = *(vt_suite_model *const *)b;
  const int c = strcmp(x->block->op->name, y->block->op->name);
  return c != 0 ? c : strcmp(x->name, y->name);
}

static vt_suite_model **sorted_models(const vt_suite *s) {
  vt_suite_model **m = malloc(s->n_models * sizeof *m + 1);
  if (m == NULL) cts_die("out of memory");
  memcpy(m, s->model, s->n_models * sizeof *m);
  qsort(m, s->n_models, sizeof *m, compare_by_op_and_name);
  return m;
}

/* Writes one line per op, such as "0123456789abcdef softmax". */
static void write_digest_lines(const vt_suite *s, vt_text *out) {
  vt_suite_model **m = sorted_models(s);
  vt_text_add(out,
              "# One digest for each op of the graphs that its models become, written by "
              "`cts --write-graphs`.\n");
  for (uint32_t i = 0; i < s->n_models;) {
    const vt_op_info *op = m[i]->block->op;
    vt_hasher h;
    vt_hash_init(&h);
    for (; i < s->n_models && m[i]->block->op == op; i++) hash_model_graphs(&h, m[i]);
    const vt_hash256 digest = vt_hash_done(&h);
    for (int k = 0; k < 8; k++) vt_text_add(out, "%02x", digest.b[k]);
    vt_text_add(out, " %s\n", op->name);
  }
  free(m);
  if (vt_text_status(out) != VT_OK) cts_die("out of memory");
}

/* Prints, with the message `what`, the op of each line of `text` that is not in `in`; returns their
 * number. */
static unsigned report_missing_lines(const char *text, const char *in, const char *what) {
  unsigned n = 0;
  while (*text != 0) {
    const size_t length = strcspn(text, "\n");
    char line[300];
    snprintf(line, sizeof line, "\n%.*s\n", (int)(length < 290 ? length : 290), text);
    if (text[0] != '#' && strstr(in, line) == NULL && n++ < 400)
      printf("FAILED %s: %s\n", length > 17 ? strtok(line + 18, "\n") : "?", what);
    text += length + (text[length] == '\n');
  }
  return n;
}

unsigned cts_check_graphs(const vt_suite *s, const char *folder) {
  char path[4096];
  vt_text now;
  vt_file stored;
  vt_diag d = {0};
  vt_text_init(&now, vt_alloc_default());
  write_digest_lines(s, &now);
  snprintf(path, sizeof path, "%s/%s", folder, file_name);
  if (vt_file_read(path, 1 << 24, vt_alloc_default(), &stored, &d) != VT_OK) cts_die("%s", d.text);
  const char *lines = (const char *)stored.data;
  unsigned failed =
      report_missing_lines(now.s, lines, "the graphs of its models differ from the stored ones");
  if (failed == 0)
    failed = report_missing_lines(lines, now.s, "a digest is stored, but there are no models");
  printf("graphs: %u models, %u ops differ\n", s->n_models, failed);
  vt_file_done(&stored);
  vt_text_done(&now);
  return failed + undeclared;
}

unsigned cts_write_graphs(const vt_suite *s, const char *folder) {
  char path[4096];
  vt_text now;
  vt_file_writer w;
  vt_diag d = {0};
  vt_text_init(&now, vt_alloc_default());
  write_digest_lines(s, &now);
  snprintf(path, sizeof path, "%s/%s", folder, file_name);
  vt_status status = vt_file_create(path, &w, &d);
  if (status == VT_OK) status = vt_file_write(&w, now.s, now.n, &d);
  if (status == VT_OK) status = vt_file_commit(&w, &d);
  vt_text_done(&now);
  if (status != VT_OK) fprintf(stderr, "cts: %s: %s\n", path, d.text);
  return status != VT_OK;
}
