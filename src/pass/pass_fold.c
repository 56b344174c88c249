/* SPDX-License-Identifier: Apache-2.0
 * pass_fold.c - constants are computed once, through the gateway like everything else.
 *
 * A node is constant when all its operands are. The constants that something else reads are
 * gathered from the graph and all its bodies into one closed graph, which is run; a value of which
 * all elements have the same bits becomes a literal, repeated where it is no scalar. Others stay:
 * a graph holds no tables. A run that fails folds nothing, so that the failure is reported where
 * it always was; ops with bodies are not run ahead of time, because a loop may be long. */
#include <stdio.h>
#include <string.h>
#include "rewrite.h"

enum { MOST_ELEMENTS = 65536 }; /* of any constant */
static const uint64_t MOST_WORK = (uint64_t)1 << 24;

/* What is known of one graph or body. */
typedef struct place {
  uint8_t *constant; /* by node */
  uint32_t *copy;    /* by value: the same in the closed graph; VT_NO_VALUE: not there */
  uint32_t *result;  /* by value: which result of the closed graph it is; VT_NO_VALUE: none */
} place;

typedef struct answer { /* to one result of the closed graph */
  int uniform;
  uint64_t bits;
} answer;

typedef struct folding {
  const vt_pass_options *o;
  vt_graph_builder gb; /* the closed graph */
  vt_arena scratch;
  uint32_t n_places, cap_places, next; /* places are in the order in which graphs are begun */
  place *places;
  uint64_t work_left;
  answer *answers;
  vt_diag *d;
} folding;

static vt_status out_of_memory(const folding *f) {
  return VT_FAIL(f->d, VT_NOMEM, "out of memory");
}

/* ---- which nodes are constant ---- */

static uint64_t count_of(const vt_graph *g, uint32_t value) {
  uint64_t count, bytes;
  return vt_type_size(&g->values[value].type, &count, &bytes, NULL) == VT_OK ? count : UINT64_MAX;
}

/* An upper bound of the elements a kernel walks over. What computes an element from others at its
 * own place, or moves it, does so once; of the rest all that is known is that no element of a
 * result takes more than every operand. */
static uint64_t work_of(const vt_graph *g, const vt_node *n) {
  const vt_op_info *op = vt_op_get(n->op);
  uint64_t given = 1, taken = 1, work;
  for (uint32_t i = 0; i < n->n_out; i++) given += count_of(g, n->first_out + i);
  for (uint32_t i = 0; i < n->n_in; i++) taken += count_of(g, g->operands[n->first_in + i]);
  const int once = vt_op_form(n->op) == VT_FORM_POINTWISE || op->numerics == VT_NUMERICS_move;
  const int known = once ? vt_size_add(given, taken, &work) : vt_size_mul(given, taken, &work);
  return known ? work : UINT64_MAX;
}

static int is_constant(folding *f, const vt_graph *g, const place *p, const vt_node *n) {
  if (n->n_body > 0) return 0;
  for (uint32_t i = 0; i < n->n_in; i++) {
    const uint32_t from = g->values[g->operands[n->first_in + i]].node;
    if (from == VT_NO_NODE || !p->constant[from]) return 0;
  }
  for (uint32_t i = 0; i < n->n_out; i++)
    if (count_of(g, n->first_out + i) > MOST_ELEMENTS) return 0;
  const uint64_t work = work_of(g, n);
  if (work > f->work_left) return 0;
  f->work_left -= work;
  return 1;
}

/* A literal, or one repeated: what folding gives, and never folds again. */
static int is_plain(const vt_graph *g, uint32_t value) {
  const vt_node *n = &g->nodes[g->values[value].node];
  if (n->op == VT_OP_literal) return 1;
  if (n->op != VT_OP_broadcast) return 0;
  const uint32_t from = g->values[g->operands[n->first_in]].node;
  return from != VT_NO_NODE && g->nodes[from].op == VT_OP_literal;
}

/* ---- the closed graph ---- */

/* A constant that something else reads becomes a result. This marks it until it has a number. */
static const uint32_t WANTED = VT_NO_VALUE - 1;

static void want(const vt_graph *g, place *p, uint32_t value) {
  const uint32_t node = g->values[value].node;
  if (node == VT_NO_NODE || !p->constant[node] || is_plain(g, value)) return;
  if (count_of(g, value) > 0) p->result[value] = WANTED;
}

static void want_all(const vt_graph *g, place *p) {
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; !p->constant[i] && k < g->nodes[i].n_in; k++)
      want(g, p, g->operands[g->nodes[i].first_in + k]);
  for (uint32_t i = 0; i < g->n_results; i++) want(g, p, g->results[i].value);
}

/* Marks in `needed` the nodes behind what is wanted. */
static void mark_needed(const vt_graph *g, const place *p, uint8_t *needed) {
  for (uint32_t i = g->n_nodes; i-- > 0;) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_out; k++) needed[i] |= p->result[n->first_out + k] == WANTED;
    for (uint32_t k = 0; needed[i] && k < n->n_in; k++)
      needed[g->values[g->operands[n->first_in + k]].node] = 1;
  }
}

static vt_status copy_node(folding *f, const vt_graph *g, place *p, const vt_node *n) {
  uint32_t *in = VT_NEW_N(&f->scratch, uint32_t, n->n_in);
  char name[16];
  if (in == NULL) return out_of_memory(f);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = p->copy[g->operands[n->first_in + k]];
  const uint32_t made = f->gb.b.node(&f->gb.b, n->op, in, n->n_in, n->attrs);
  for (uint32_t k = 0; k < n->n_out && f->gb.status == VT_OK; k++) {
    p->copy[n->first_out + k] = made + k;
    if (p->result[n->first_out + k] != WANTED) continue;
    p->result[n->first_out + k] = f->gb.g->n_results;
    snprintf(name, sizeof name, "%u", f->gb.g->n_results);
    vt_graph_add_result(&f->gb, name, made + k);
  }
  return f->gb.status;
}

static vt_status new_place(folding *f, const vt_graph *g, place *out) {
  place *all = vt_arena_grow(&f->scratch, f->places, f->n_places, &f->cap_places, sizeof *all);
  *out = (place){VT_NEW_N(&f->scratch, uint8_t, g->n_nodes),
                 VT_NEW_N(&f->scratch, uint32_t, g->n_values),
                 VT_NEW_N(&f->scratch, uint32_t, g->n_values)};
  if (vt_arena_status(&f->scratch) != VT_OK) return out_of_memory(f);
  for (uint32_t i = 0; i < g->n_values; i++) out->copy[i] = out->result[i] = VT_NO_VALUE;
  f->places = all;
  all[f->n_places++] = *out;
  return VT_OK;
}

static vt_status gather(folding *f, const vt_graph *g) {
  place p;
  uint8_t *needed = VT_NEW_N(&f->scratch, uint8_t, g->n_nodes);
  VT_TRY(new_place(f, g, &p));
  for (uint32_t i = 0; i < g->n_nodes; i++)
    p.constant[i] = (uint8_t)is_constant(f, g, &p, &g->nodes[i]);
  want_all(g, &p);
  mark_needed(g, &p, needed);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (needed[i]) VT_TRY(copy_node(f, g, &p, &g->nodes[i]));
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_body; k++) VT_TRY(gather(f, g->nodes[i].body[k]));
  return VT_OK;
}

/* ---- running it ---- */

static void judge(const char *bytes, uint64_t count, uint64_t size, answer *out) {
  out->uniform = 1;
  for (uint64_t i = 1; out->uniform && i < count; i++)
    out->uniform = memcmp(bytes, bytes + i * size, (size_t)size) == 0;
  memcpy(&out->bits, bytes, (size_t)size); /* little-endian, like everything in memory */
}

static vt_status run(folding *f, const vt_graph *g) {
  void **bytes = VT_NEW_N(&f->scratch, void *, g->n_results);
  f->answers = VT_NEW_N(&f->scratch, answer, g->n_results);
  for (uint32_t i = 0; bytes != NULL && i < g->n_results; i++)
    bytes[i] = vt_arena_array(&f->scratch, (size_t)count_of(g, g->results[i].value), 8);
  if (vt_arena_status(&f->scratch) != VT_OK) return out_of_memory(f);
  vt_diag why = {0};
  const vt_status s = f->o->eval->run(f->o->eval->user, g, bytes, &why);
  if (s == VT_NOMEM) return out_of_memory(f);
  for (uint32_t i = 0; s == VT_OK && i < g->n_results; i++) {
    const vt_type *t = &g->values[g->results[i].value].type;
    judge(bytes[i], count_of(g, g->results[i].value), vt_dtype_bytes(t->dtype), &f->answers[i]);
  }
  return VT_OK;
}

/* ---- writing ---- */

static vt_status begin(vt_site *s) {
  folding *f = *(folding *const *)s->how->self;
  s->own = &f->places[f->next++];
  return VT_OK;
}

/* The literal that stands for result k of a node; VT_NO_VALUE: it is not folded. */
static uint32_t literal_for(vt_site *s, const vt_node *n, uint32_t k) {
  const folding *f = *(folding *const *)s->how->self;
  const vt_type *t = &s->g->values[n->first_out + k].type;
  const uint32_t result = ((const place *)s->own)->result[n->first_out + k];
  if (result == VT_NO_VALUE || !f->answers[result].uniform) return VT_NO_VALUE;
  const uint32_t x = vt_build_bits(&s->gb->b, t->dtype, f->answers[result].bits);
  return t->rank == 0 ? x : vt_build_broadcast(&s->gb->b, x, t->rank, t->dim);
}

static vt_status write_node(vt_site *s, const vt_node *n, const uint32_t *in, uint32_t *out) {
  uint32_t folded[VT_MAX_RESULTS], n_folded = 0;
  for (uint32_t k = 0; k < n->n_out; k++) {
    folded[k] = literal_for(s, n, k);
    n_folded += folded[k] != VT_NO_VALUE;
  }
  if (n_folded < n->n_out) VT_TRY(vt_rewrite_keep(s, n, in, out));
  for (uint32_t k = 0; k < n->n_out; k++)
    if (folded[k] != VT_NO_VALUE) out[k] = folded[k];
  return s->gb->status;
}

static vt_status rewrite(folding *f, const vt_graph *g, vt_graph **out) {
  folding *const self = f;
  const vt_rewrite how = {.self = &self, .begin = begin, .node = write_node};
  return vt_rewrite_run(&how, g, f->o->alloc, out, f->d);
}

/* Drops the closed graph once it is no longer needed. */
static vt_status answer_all(folding *f, const vt_graph *g) {
  vt_graph *closed = NULL;
  vt_status s = gather(f, g);
  const int any = s == VT_OK && f->gb.g->n_results > 0;
  if (!any) {
    vt_graph_drop(&f->gb);
    return s;
  }
  VT_TRY(vt_graph_freeze(&f->gb, &closed));
  s = run(f, closed);
  vt_graph_free(closed);
  return s;
}

vt_status vt_pass_fold(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  folding f = {.o = o, .work_left = o->eval != NULL ? MOST_WORK : 0, .d = d};
  VT_TRY(vt_graph_begin(&f.gb, "constants", o->alloc, d));
  vt_arena_init(&f.scratch, o->alloc);
  vt_status s = answer_all(&f, g);
  if (s == VT_OK) s = rewrite(&f, g, out);
  vt_arena_done(&f.scratch);
  return s;
}
