/* SPDX-License-Identifier: Apache-2.0
 * cts_complete.c - whether the suite covers the op table: a case for every op, for every type that
 * the op takes, at every one of the standard lengths, in every class of shapes, a derivative
 * checked for every gradient, and enough cases in all. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_parse.h"

enum { TYPES = 32, MOST_OPS = 2000 };

enum shape { RANK_0, RANK_8, EMPTY, ONE, SHAPES };
static const char *const shape_name[SHAPES] = {"rank 0", "rank 8", "a dimension of 0",
                                               "a dimension of 1"};

typedef struct coverage {
  uint32_t cases, grads;
  uint32_t seen, taken; /* element types of the first operand: met in a case; accepted by the op */
  uint32_t lengths[TYPES]; /* a bit for each of vt_suite_size that is a dimension in a case of its
                            * own, by type of the first operand, or of the result if it has none */
  uint32_t shapes;         /* a bit for each of enum shape that its own cases have */
  uint32_t accepted;       /* of RANK_0 and RANK_8: its shape rule takes a case turned into that */
} coverage;

/* Ops that have no dimension to be long. */
static const struct {
  const char *op, *why;
} without_length[] = {{"literal", "its result is a scalar"}};

static const char *why_no_length(const char *op) {
  for (size_t i = 0; i < sizeof without_length / sizeof *without_length; i++)
    if (strcmp(op, without_length[i].op) == 0) return without_length[i].why;
  return NULL;
}

/* Shapes that ops do not take. */
#define NOT(shape) (1u << (shape))
static const struct {
  uint32_t shapes;
  const char *why, *ops;
} excused[] = {
    {NOT(RANK_0), "it goes along an axis",
     "iota argmax argmin cumsum concat split roll sort argsort top_k glu softmax log_softmax "
     "layer_norm rms_norm embedding gather_elements scatter scatter_add scatter_max scatter_min "
     "scatter_elements scatter_elements_add scatter_elements_max scatter_elements_min"},
    {NOT(RANK_0), "it takes matrices or rows of them",
     "matmul matmul_masked matmul_int linear linear_int rope triu tril"},
    {NOT(RANK_0), "it takes batches of channels",
     "group_norm instance_norm batch_norm batch_norm_inference global_max_pool global_avg_pool"},
    {NOT(RANK_0) | NOT(RANK_8), "it takes batches of channels of at most three axes",
     "conv conv_transpose conv_weight_grad conv_int max_pool max_pool_index max_pool_grad avg_pool "
     "avg_pool_grad adaptive_avg_pool adaptive_max_pool resize resize_grad"},
    {NOT(RANK_0) | NOT(RANK_8), "it takes batches of channels of two axes",
     "depth_to_space space_to_depth"},
    {NOT(RANK_0) | NOT(RANK_8), "it takes batches of heads of rows", "attention"},
    {NOT(RANK_0) | NOT(RANK_8), "it takes steps of batches of features", "rnn lstm gru"},
    {NOT(RANK_0) | NOT(RANK_8), "its operand is a row or a matrix", "diag"},
    {NOT(RANK_8), "its result is a row", "shuffle"},
    {NOT(RANK_8) | NOT(EMPTY) | NOT(ONE), "its result is a scalar", "literal"},
    {NOT(EMPTY), "nothing has no least and no greatest element", "dynamic_quantize"},
};
#undef NOT

/* Whether a list of words has this one. */
static int lists(const char *words, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = strstr(words, word); at != NULL; at = strstr(at + n, word))
    if ((at == words || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ')) return 1;
  return 0;
}

static const char *why_not_shaped(const char *op, uint32_t shape) {
  for (size_t i = 0; i < sizeof excused / sizeof *excused; i++)
    if (excused[i].shapes >> shape & 1 && lists(excused[i].ops, op)) return excused[i].why;
  return NULL;
}

static uint32_t index_of(uint32_t number) {
  uint32_t i = 0;
  while (i < vt_op_total() && vt_op_at(i)->number != number) i++;
  return i;
}

/* Whether the op's rules take these operands. */
static int infers(const vt_graph *g, const vt_node *n, const vt_type *in) {
  vt_type out[VT_MAX_RESULTS];
  uint32_t n_out;
  vt_dims dims = g->dims;
  const vt_rule rule = {.dims = &dims, .in = in, .n_in = n->n_in, .attrs = n->attrs};
  return vt_op_infer(vt_op_get(n->op), &rule, out, &n_out, NULL) == VT_OK;
}

/* Which types would do in place of operand 0's, wherever it stands. */
static uint32_t types_taken(const vt_graph *g, const vt_node *n) {
  vt_type in[VT_OP_ANY_IN];
  uint32_t taken = 0;
  for (uint32_t t = 1; vt_dtype_name(t) != NULL; t++) {
    for (uint32_t k = 0; k < n->n_in; k++) {
      in[k] = g->values[g->operands[n->first_in + k]].type;
      if (in[k].dtype == g->values[g->operands[n->first_in]].type.dtype) in[k].dtype = t;
    }
    if (infers(g, n, in)) taken |= 1u << t;
  }
  return taken;
}

/* A type of another rank: of rank 0, or of the highest with ones before its dimensions. */
static vt_type turned(vt_type t, enum shape shape) {
  vt_type out = t;
  out.rank = shape == RANK_0 ? 0 : VT_MAX_RANK;
  for (uint32_t k = 0; k < out.rank; k++) {
    const uint32_t before = out.rank - t.rank;
    out.dim[k] = k < before ? 1 : t.dim[k - before];
  }
  return out;
}

/* Which of the two ranks would do in place of operand 0's, wherever it stands. */
static uint32_t ranks_accepted(const vt_graph *g, const vt_node *n) {
  vt_type in[VT_OP_ANY_IN];
  uint32_t accepted = 0;
  for (uint32_t shape = RANK_0; shape <= RANK_8; shape++) {
    const uint32_t rank = g->values[g->operands[n->first_in]].type.rank;
    for (uint32_t k = 0; k < n->n_in; k++) {
      in[k] = g->values[g->operands[n->first_in + k]].type;
      if (in[k].rank == rank) in[k] = turned(in[k], shape);
    }
    if (infers(g, n, in)) accepted |= 1u << shape;
  }
  return accepted;
}

static uint32_t lengths_of(const vt_type *t) {
  uint32_t lengths = 0;
  for (uint32_t k = 0; k < t->rank; k++)
    for (uint32_t i = 0; i < VT_SUITE_SIZES; i++)
      if (t->dim[k] == vt_suite_size[i]) lengths |= 1u << i;
  return lengths;
}

static uint32_t type_of(const vt_graph *g, const vt_node *n) {
  return g->values[n->n_in > 0 ? g->operands[n->first_in] : n->first_out].type.dtype;
}

static uint32_t lengths_met(const vt_graph *g, const vt_node *n) {
  uint32_t lengths = 0;
  for (uint32_t k = 0; k < n->n_in; k++)
    lengths |= lengths_of(&g->values[g->operands[n->first_in + k]].type);
  for (uint32_t k = 0; k < n->n_out; k++) lengths |= lengths_of(&g->values[n->first_out + k].type);
  return lengths;
}

static uint32_t shapes_of(const vt_type *t) {
  uint32_t shapes = 0;
  if (t->rank == 0) shapes |= 1u << RANK_0;
  if (t->rank == VT_MAX_RANK) shapes |= 1u << RANK_8;
  for (uint32_t k = 0; k < t->rank; k++) {
    if (t->dim[k] == 0) shapes |= 1u << EMPTY;
    if (t->dim[k] == 1) shapes |= 1u << ONE;
  }
  return shapes;
}

/* Of the first operand and the first result: others may be scalars beside any shape. */
static uint32_t shapes_met(const vt_graph *g, const vt_node *n) {
  uint32_t shapes = shapes_of(&g->values[n->first_out].type);
  if (n->n_in > 0) shapes |= shapes_of(&g->values[g->operands[n->first_in]].type);
  return shapes;
}

/* Lengths and shapes count where a case about the op has them, not where the op stands beside
 * another. */
static void note_sizes(const vt_graph *g, const vt_op_info *op, coverage *c) {
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].op == op->number) {
      c->lengths[type_of(g, &g->nodes[i])] |= lengths_met(g, &g->nodes[i]);
      c->shapes |= shapes_met(g, &g->nodes[i]);
    }
}

static void note_nodes(const vt_graph *g, coverage *all) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    coverage *c = &all[index_of(n->op)];
    if (n->n_in == 0 || n->n_body > 0 || n->n_in > VT_OP_ANY_IN) continue;
    c->seen |= 1u << g->values[g->operands[n->first_in]].type.dtype;
    c->taken |= types_taken(g, n);
    c->accepted |= ranks_accepted(g, n);
  }
}

static unsigned note_models(const vt_suite *s, coverage *all) {
  unsigned failed = 0;
  for (uint32_t i = 0; i < s->n_models; i++) {
    const vt_suite_model *m = s->model[i];
    vt_graph *g = NULL;
    vt_diag d = {0};
    if (vt_parse(m->text, strlen(m->text), vt_alloc_default(), &g, &d) != VT_OK) {
      printf("FAILED %s:%u: %s: %s\n", m->block->file, m->block->line, m->name, d.text);
      failed++;
      continue;
    }
    note_nodes(g, all);
    note_sizes(g, m->block->op, &all[index_of(m->block->op->number)]);
    vt_graph_free(g);
  }
  return failed;
}

static void note_blocks(const vt_suite *s, coverage *all) {
  for (uint32_t i = 0; i < s->n_cases; i++)
    all[index_of(s->cases[i].model->block->op->number)].cases++;
  for (uint32_t i = 0; i < s->n_blocks; i++)
    for (uint32_t k = 0; k < s->block[i]->n_domains; k++)
      all[index_of(s->block[i]->op->number)].grads += s->block[i]->domain[k].wanted != 0;
}

static unsigned say_lengths(const vt_op_info *op, const char *of, uint32_t missing) {
  if (missing == 0) return 0;
  printf("FAILED %s%s%s: no case has the length", op->name, of[0] != 0 ? " of " : "", of);
  for (uint32_t i = 0; i < VT_SUITE_SIZES; i++)
    if (missing >> i & 1) printf(" %lld", (long long)vt_suite_size[i]);
  return printf("\n") > 0;
}

/* For each type that the op takes; for all of them together where its rules do not say. */
static unsigned judge_lengths(const vt_op_info *op, const coverage *c) {
  const uint32_t all = (1u << VT_SUITE_SIZES) - 1;
  const char *why = why_no_length(op->name);
  uint32_t any = 0;
  unsigned failed = 0;
  for (uint32_t t = 0; t < TYPES; t++) any |= c->lengths[t];
  if (why != NULL && any != 0)
    return printf("FAILED %s: excused from lengths (%s), and it has some\n", op->name, why) > 0;
  if (why != NULL || c->cases == 0) return 0;
  for (uint32_t t = 1; t < TYPES; t++)
    if (c->taken >> t & 1) failed += say_lengths(op, vt_dtype_name(t), all & ~c->lengths[t]);
  return c->taken != 0 ? failed : say_lengths(op, "", all & ~any);
}

static unsigned judge_shapes(const vt_op_info *op, const coverage *c) {
  unsigned failed = 0;
  for (uint32_t i = 0; i < SHAPES && c->cases > 0; i++) {
    const char *why = why_not_shaped(op->name, i);
    const int met = c->shapes >> i & 1, takes = met || (c->accepted >> i & 1);
    if (why != NULL && takes)
      failed += printf("FAILED %s: excused from %s (%s), and takes it\n", op->name, shape_name[i],
                       why) > 0;
    if (why == NULL && !met)
      failed += printf("FAILED %s: no case has %s\n", op->name, shape_name[i]) > 0;
  }
  return failed;
}

static unsigned judge(const vt_op_info *op, const coverage *c, int gradients_required) {
  unsigned failed = judge_lengths(op, c) + judge_shapes(op, c);
  if (c->cases == 0) failed += printf("FAILED %s: no case\n", op->name) > 0;
  for (uint32_t t = 1; t < TYPES; t++)
    if (c->taken >> t & ~(c->seen >> t) & 1)
      failed += printf("FAILED %s: takes %s, and no case has it\n", op->name, vt_dtype_name(t)) > 0;
  if (op->grad != NULL && c->grads == 0)
    failed += printf("FAILED %s: has a gradient, and no case has a grad line\n", op->name) > 0;
  if (op->grad == NULL && op->flat[0] == 0 && gradients_required)
    failed += printf("FAILED %s: has no gradient and does not say why\n", op->name) > 0;
  return failed;
}

unsigned cts_check_complete(const vt_suite *s, uint32_t least, int gradients_required) {
  coverage *all = calloc(MOST_OPS, sizeof *all);
  if (all == NULL || vt_op_total() >= MOST_OPS) cts_die("out of memory");
  note_blocks(s, all);
  unsigned failed = note_models(s, all);
  for (uint32_t i = 0; i < vt_op_total(); i++)
    failed += judge(vt_op_at(i), &all[i], gradients_required);
  if (s->n_cases < least)
    failed += printf("FAILED %u cases, at least %u are asked for\n", s->n_cases, least) > 0;
  printf("complete: %u ops, %u models, %u cases, %u gaps\n", vt_op_total(), s->n_models, s->n_cases,
         failed);
  free(all);
  return failed;
}
