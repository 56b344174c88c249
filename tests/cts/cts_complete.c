/* SPDX-License-Identifier: Apache-2.0
 * cts_complete.c - checks that the suite covers the op table. Every op needs cases for each element
 * type that it accepts, with each standard length and in each class of shapes, unless a table below
 * excuses it. Every gradient needs a case with a grad line. The suite needs enough cases in all. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_parse.h"

enum { TYPES = 32, MAX_OPS = 2000 };

enum shape { RANK_0, RANK_8, EMPTY, ONE, SHAPES };
static const char *const shape_name[SHAPES] = {"rank 0", "rank 8", "a dimension of 0",
                                               "a dimension of 1"};

typedef struct coverage {
  uint32_t cases, grads; /* number of cases of the op; number of its grad lines with a derivative */
  uint32_t types_in_cases; /* a bit for each element type that a first operand has in any case */
  /* a bit for each element type that the op accepts for its first operand */
  uint32_t types_accepted;
  /* by type of the first operand, or of the result without one: a bit for each length of
   * vt_suite_size that is a dimension in the op's own cases */
  uint32_t lengths[TYPES];
  uint32_t shapes; /* a bit for each enum shape that occurs in the op's own cases */
  /* bits for RANK_0 and RANK_8: the op accepts a case whose operand 0 is changed to that rank */
  uint32_t ranks_accepted;
} coverage;

/* Ops whose operands and results have no dimension, and so no length that cases must have. */
static const struct {
  const char *op, *why;
} without_length[] = {{"literal", "its result is a scalar"}};

static const char *excuse_from_lengths(const char *op) {
  for (size_t i = 0; i < sizeof without_length / sizeof *without_length; i++)
    if (strcmp(op, without_length[i].op) == 0) return without_length[i].why;
  return NULL;
}

/* Classes of shapes that an op does not accept, so that no case has them, and the reason. */
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

/* Returns 1 if a list of words, separated by blanks, has this word. */
static int list_has_word(const char *words, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = strstr(words, word); at != NULL; at = strstr(at + n, word))
    if ((at == words || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ')) return 1;
  return 0;
}

static const char *excuse_from_shape(const char *op, uint32_t shape) {
  for (size_t i = 0; i < sizeof excused / sizeof *excused; i++)
    if (excused[i].shapes >> shape & 1 && list_has_word(excused[i].ops, op)) return excused[i].why;
  return NULL;
}

/* Returns the index in the op table of the op with this number. */
static uint32_t op_index(uint32_t number) {
  uint32_t i = 0;
  while (i < vt_op_total() && vt_op_at(i)->number != number) i++;
  return i;
}

/* Returns 1 if the op of node n accepts operands of these types. */
static int accepts_operands(const vt_graph *g, const vt_node *n, const vt_type *in) {
  vt_type out[VT_MAX_RESULTS];
  uint32_t n_out;
  vt_dims dims = g->dims;
  const vt_rule rule = {.dims = &dims, .in = in, .n_in = n->n_in, .attrs = n->attrs};
  return vt_op_infer(vt_op_get(n->op), &rule, out, &n_out, NULL) == VT_OK;
}

/* Returns a bit for each element type that the op accepts if all operands that have operand 0's
 * type get that type instead. */
static uint32_t accepted_types(const vt_graph *g, const vt_node *n) {
  vt_type in[VT_OP_ANY_IN];
  uint32_t accepted = 0;
  for (uint32_t t = 1; vt_dtype_name(t) != NULL; t++) {
    for (uint32_t k = 0; k < n->n_in; k++) {
      in[k] = g->values[g->operands[n->first_in + k]].type;
      if (in[k].dtype == g->values[g->operands[n->first_in]].type.dtype) in[k].dtype = t;
    }
    if (accepts_operands(g, n, in)) accepted |= 1u << t;
  }
  return accepted;
}

/* Returns the type t changed to rank 0, or to the highest rank by dimensions of 1 in front. */
static vt_type with_rank(vt_type t, enum shape shape) {
  vt_type out = t;
  out.rank = shape == RANK_0 ? 0 : VT_MAX_RANK;
  for (uint32_t k = 0; k < out.rank; k++) {
    const uint32_t before = out.rank - t.rank;
    out.dim[k] = k < before ? 1 : t.dim[k - before];
  }
  return out;
}

/* Returns bits for RANK_0 and RANK_8: the op accepts that rank if all operands that have operand
 * 0's rank get it instead. */
static uint32_t bits_for_accepted_ranks_0_and_8(const vt_graph *g, const vt_node *n) {
  vt_type in[VT_OP_ANY_IN];
  uint32_t accepted = 0;
  for (uint32_t shape = RANK_0; shape <= RANK_8; shape++) {
    const uint32_t rank = g->values[g->operands[n->first_in]].type.rank;
    for (uint32_t k = 0; k < n->n_in; k++) {
      in[k] = g->values[g->operands[n->first_in + k]].type;
      if (in[k].rank == rank) in[k] = with_rank(in[k], shape);
    }
    if (accepts_operands(g, n, in)) accepted |= 1u << shape;
  }
  return accepted;
}

static uint32_t length_bits_of_type(const vt_type *t) {
  uint32_t lengths = 0;
  for (uint32_t k = 0; k < t->rank; k++)
    for (uint32_t i = 0; i < VT_SUITE_SIZES; i++)
      if (t->dim[k] == vt_suite_size[i]) lengths |= 1u << i;
  return lengths;
}

static uint32_t dtype_of_first_operand(const vt_graph *g, const vt_node *n) {
  return g->values[n->n_in > 0 ? g->operands[n->first_in] : n->first_out].type.dtype;
}

static uint32_t length_bits_of_node(const vt_graph *g, const vt_node *n) {
  uint32_t lengths = 0;
  for (uint32_t k = 0; k < n->n_in; k++)
    lengths |= length_bits_of_type(&g->values[g->operands[n->first_in + k]].type);
  for (uint32_t k = 0; k < n->n_out; k++)
    lengths |= length_bits_of_type(&g->values[n->first_out + k].type);
  return lengths;
}

static uint32_t shape_bits_of_type(const vt_type *t) {
  uint32_t shapes = 0;
  if (t->rank == 0) shapes |= 1u << RANK_0;
  if (t->rank == VT_MAX_RANK) shapes |= 1u << RANK_8;
  for (uint32_t k = 0; k < t->rank; k++) {
    if (t->dim[k] == 0) shapes |= 1u << EMPTY;
    if (t->dim[k] == 1) shapes |= 1u << ONE;
  }
  return shapes;
}

/* Only the first operand and the first result count, because other operands may be scalars in a
 * case of any shape. */
static uint32_t shape_bits_of_node(const vt_graph *g, const vt_node *n) {
  uint32_t shapes = shape_bits_of_type(&g->values[n->first_out].type);
  if (n->n_in > 0) shapes |= shape_bits_of_type(&g->values[g->operands[n->first_in]].type);
  return shapes;
}

/* Adds the lengths and shapes of the op's own case; other ops in the same model do not count. */
static void add_lengths_and_shapes(const vt_graph *g, const vt_op_info *op, coverage *c) {
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (g->nodes[i].op == op->number) {
      c->lengths[dtype_of_first_operand(g, &g->nodes[i])] |= length_bits_of_node(g, &g->nodes[i]);
      c->shapes |= shape_bits_of_node(g, &g->nodes[i]);
    }
}

static void add_types_and_ranks(const vt_graph *g, coverage *all) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    coverage *c = &all[op_index(n->op)];
    if (n->n_in == 0 || n->n_body > 0 || n->n_in > VT_OP_ANY_IN) continue;
    c->types_in_cases |= 1u << g->values[g->operands[n->first_in]].type.dtype;
    c->types_accepted |= accepted_types(g, n);
    c->ranks_accepted |= bits_for_accepted_ranks_0_and_8(g, n);
  }
}

static unsigned add_all_models(const vt_suite *s, coverage *all) {
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
    add_types_and_ranks(g, all);
    add_lengths_and_shapes(g, m->block->op, &all[op_index(m->block->op->number)]);
    vt_graph_free(g);
  }
  return failed;
}

static void count_cases_and_grads(const vt_suite *s, coverage *all) {
  for (uint32_t i = 0; i < s->n_cases; i++)
    all[op_index(s->cases[i].model->block->op->number)].cases++;
  for (uint32_t i = 0; i < s->n_blocks; i++)
    for (uint32_t k = 0; k < s->block[i]->n_domains; k++)
      all[op_index(s->block[i]->op->number)].grads += s->block[i]->domain[k].wanted != 0;
}

/* Prints the lengths that are missing, for the type `type_name` unless it is empty; returns 1 if
 * any are.
 */
static unsigned report_missing_lengths(const vt_op_info *op, const char *type_name,
                                       uint32_t missing) {
  if (missing == 0) return 0;
  printf("FAILED %s%s%s: no case has the length", op->name, type_name[0] != 0 ? " of " : "",
         type_name);
  for (uint32_t i = 0; i < VT_SUITE_SIZES; i++)
    if (missing >> i & 1) printf(" %lld", (long long)vt_suite_size[i]);
  return printf("\n") > 0;
}

/* Checks the lengths for each type that the op accepts, or for all types together if its rules do
 * not say which it accepts. */
static unsigned check_lengths(const vt_op_info *op, const coverage *c) {
  const uint32_t all = (1u << VT_SUITE_SIZES) - 1;
  const char *why = excuse_from_lengths(op->name);
  uint32_t any = 0;
  unsigned failed = 0;
  for (uint32_t t = 0; t < TYPES; t++) any |= c->lengths[t];
  if (why != NULL && any != 0)
    return printf("FAILED %s: excused from lengths (%s), and it has some\n", op->name, why) > 0;
  if (why != NULL || c->cases == 0) return 0;
  for (uint32_t t = 1; t < TYPES; t++)
    if (c->types_accepted >> t & 1)
      failed += report_missing_lengths(op, vt_dtype_name(t), all & ~c->lengths[t]);
  return c->types_accepted != 0 ? failed : report_missing_lengths(op, "", all & ~any);
}

static unsigned check_shapes(const vt_op_info *op, const coverage *c) {
  unsigned failed = 0;
  for (uint32_t i = 0; i < SHAPES && c->cases > 0; i++) {
    const char *why = excuse_from_shape(op->name, i);
    const int met = c->shapes >> i & 1, takes = met || (c->ranks_accepted >> i & 1);
    if (why != NULL && takes)
      failed += printf("FAILED %s: excused from %s (%s), and takes it\n", op->name, shape_name[i],
                       why) > 0;
    if (why == NULL && !met)
      failed += printf("FAILED %s: no case has %s\n", op->name, shape_name[i]) > 0;
  }
  return failed;
}

static unsigned check_op_coverage(const vt_op_info *op, const coverage *c, int gradients_required) {
  unsigned failed = check_lengths(op, c) + check_shapes(op, c);
  if (c->cases == 0) failed += printf("FAILED %s: no case\n", op->name) > 0;
  for (uint32_t t = 1; t < TYPES; t++)
    if (c->types_accepted >> t & ~(c->types_in_cases >> t) & 1)
      failed += printf("FAILED %s: takes %s, and no case has it\n", op->name, vt_dtype_name(t)) > 0;
  if (op->grad != NULL && c->grads == 0)
    failed += printf("FAILED %s: has a gradient, and no case has a grad line\n", op->name) > 0;
  if (op->grad == NULL && op->flat[0] == 0 && gradients_required)
    failed += printf("FAILED %s: has no gradient and does not say why\n", op->name) > 0;
  return failed;
}

unsigned cts_check_complete(const vt_suite *s, uint32_t least, int gradients_required) {
  coverage *all = calloc(MAX_OPS, sizeof *all);
  if (all == NULL || vt_op_total() >= MAX_OPS) cts_die("out of memory");
  count_cases_and_grads(s, all);
  unsigned failed = add_all_models(s, all);
  for (uint32_t i = 0; i < vt_op_total(); i++)
    failed += check_op_coverage(vt_op_at(i), &all[i], gradients_required);
  if (s->n_cases < least)
    failed += printf("FAILED %u cases, at least %u are required\n", s->n_cases, least) > 0;
  printf("complete: %u ops, %u models, %u cases, %u gaps\n", vt_op_total(), s->n_models, s->n_cases,
         failed);
  free(all);
  return failed;
}
