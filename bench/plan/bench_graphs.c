/* SPDX-License-Identifier: Apache-2.0
 * bench_graphs.c - the five forms of graphs: blocks (transformer blocks), chain (each node reads
 * the one before), pointwise (a chain that can be fused), wide (many values alive) and drawn
 * (random operands). Few nodes are equal, so that the pass `cse` removes few of them and the later
 * passes work on graphs of nearly the stated size. */
#include "bench_graphs.h"
#include <stdio.h>

static uint32_t add_matrix(vt_graph_builder *gb, const char *name, int64_t rows, int64_t columns,
                           int is_param) {
  const vt_init_info *zeros = vt_init_find("zeros");
  const vt_type type = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {rows, columns}};
  const vt_port p = {.name = name,
                     .kind = is_param ? VT_PORT_PARAM : VT_PORT_INPUT,
                     .init = is_param ? zeros->number : 0,
                     .init_attrs = is_param ? zeros->attrs->defaults : NULL};
  return vt_graph_add_port(gb, &p, &type);
}

static uint32_t add_matmul(vt_builder *b, uint32_t x, uint32_t y) {
  return vt_build2(b, VT_OP_matmul, x, y);
}

static uint32_t add_transpose(vt_builder *b, uint32_t x) {
  const vt_attr_perm a = {.size = sizeof a, .perm = {.n = 2, .v = {1, 0}}};
  return b->node(b, VT_OP_transpose, &x, 1, &a);
}

/* Adds the op cumsum, whose result is as large as its operand and is never written over it. */
static uint32_t add_cumsum(vt_builder *b, uint32_t x) {
  const vt_attr_cumsum down = {.size = sizeof down, .axis = 0};
  return b->node(b, VT_OP_cumsum, &x, 1, &down);
}

/* ---- blocks: transformer blocks, each with one head, two layers and its own parameters ---- */

/* BLOCK: number of nodes of a transformer block. ROWS, WIDTH: shape of the values between
 * blocks. */
enum { BLOCK = 13, ROWS = 64, WIDTH = 64 };

static uint32_t add_transformer_block(vt_graph_builder *gb, uint32_t x, uint32_t number) {
  vt_builder *b = &gb->b;
  static const struct {
    const char *name;
    int64_t rows, columns;
  } weights[] = {{"q", WIDTH, WIDTH}, {"k", WIDTH, WIDTH},      {"v", WIDTH, WIDTH},
                 {"o", WIDTH, WIDTH}, {"up", WIDTH, 4 * WIDTH}, {"down", 4 * WIDTH, WIDTH}};
  uint32_t w[6];
  for (uint32_t i = 0; i < 6; i++) {
    char name[40];
    snprintf(name, sizeof name, "h.%u.%s", number, weights[i].name);
    w[i] = add_matrix(gb, name, weights[i].rows, weights[i].columns, 1);
  }
  const uint32_t scores =
      add_matmul(b, add_matmul(b, x, w[0]), add_transpose(b, add_matmul(b, x, w[1])));
  const uint32_t seen = add_matmul(b, vt_build1(b, VT_OP_exp, scores), add_matmul(b, x, w[2]));
  x = vt_build2(b, VT_OP_add, x, add_matmul(b, seen, w[3]));
  const uint32_t up = vt_build1(b, VT_OP_tanh, add_matmul(b, x, w[4]));
  return vt_build2(b, VT_OP_add, x, add_matmul(b, up, w[5]));
}

static void grow_transformer_blocks(vt_graph_builder *gb, uint32_t nodes) {
  uint32_t x = add_matrix(gb, "x", ROWS, WIDTH, 0);
  for (uint32_t i = 0; i < nodes / BLOCK; i++) x = add_transformer_block(gb, x, i);
  vt_graph_add_result(gb, "y", x);
}

/* ---- chain: each node reads the value before it, which is not used again ---- */

static void grow_chain(vt_graph_builder *gb, uint32_t nodes) {
  static const uint32_t ops[] = {VT_OP_tanh, VT_OP_neg, VT_OP_exp};
  uint32_t x = add_matrix(gb, "x", ROWS, WIDTH, 0);
  for (uint32_t i = 0; i < nodes; i++)
    x = i % 4 == 0 ? add_cumsum(&gb->b, x) : vt_build1(&gb->b, ops[i % 4 - 1], x);
  vt_graph_add_result(gb, "y", x);
}

/* ---- pointwise: a chain of ops that can all be fused ---- */

static void grow_pointwise(vt_graph_builder *gb, uint32_t nodes) {
  static const uint32_t ops[] = {VT_OP_tanh, VT_OP_sin, VT_OP_exp};
  uint32_t x = add_matrix(gb, "x", ROWS, WIDTH, 0);
  for (uint32_t i = 0; i < nodes; i++) x = vt_build1(&gb->b, ops[i % 3], x);
  vt_graph_add_result(gb, "y", x);
}

/* ---- wide: constants, their products with the input, and the sum of the products; a third each
 * ---- */

static void grow_wide_sum(vt_graph_builder *gb, uint32_t nodes) {
  const uint32_t x = add_matrix(gb, "x", ROWS, WIDTH, 0), n = nodes / 3;
  uint32_t sum = x, last = x;
  for (uint32_t i = 0; i < n; i++) { /* the constants differ, so no two products are equal */
    const uint32_t factor = vt_build_number(&gb->b, VT_DTYPE_F32, 1.5 + i);
    last = vt_build2(&gb->b, VT_OP_mul, x, factor);
  }
  /* Each product directly follows its constant, so the products have the value numbers last, last -
   * 2, and so on. */
  for (uint32_t i = 0; i < n; i++) sum = vt_build2(&gb->b, VT_OP_add, sum, last - 2 * i);
  vt_graph_add_result(gb, "y", sum);
}

/* ---- drawn: each node reads random values among the 48 newest of its size ---- */

enum { SIZES = 4, YOUNG = 48 };

typedef struct drawn {
  uint64_t state;            /* state of the random generator */
  uint32_t of[SIZES][YOUNG]; /* ring buffer of the newest values of each size */
  uint32_t n[SIZES];         /* how many values of each size were added so far */
} drawn;

/* A random number below `below`. */
static uint32_t random_below(drawn *d, uint32_t below) {
  d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(d->state >> 33) % below;
}

/* Returns a random value among the newest ones of this size. */
static uint32_t pick_value(drawn *d, uint32_t size) {
  const uint32_t most = d->n[size] < YOUNG ? d->n[size] : YOUNG;
  return d->of[size][random_below(d, most)];
}

static void remember_value(drawn *d, uint32_t size, uint32_t value) {
  d->of[size][d->n[size]++ % YOUNG] = value;
}

static void grow_random(vt_graph_builder *gb, uint32_t nodes) {
  static const uint32_t two[] = {VT_OP_add, VT_OP_mul, VT_OP_sub, VT_OP_maximum};
  drawn d = {.state = 1};
  for (uint32_t i = 0; i < SIZES; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%u", i);
    remember_value(&d, i, add_matrix(gb, name, ROWS << i, WIDTH, 0));
  }
  for (uint32_t i = 0; i < nodes; i++) {
    const uint32_t size = random_below(&d, SIZES), x = pick_value(&d, size);
    const uint32_t y = random_below(&d, 3) == 0
                           ? add_cumsum(&gb->b, x)
                           : vt_build2(&gb->b, two[random_below(&d, 4)], x, pick_value(&d, size));
    remember_value(&d, size, y);
  }
  for (uint32_t i = 0; i < SIZES; i++) {
    char name[8];
    snprintf(name, sizeof name, "y%u", i);
    vt_graph_add_result(gb, name, d.of[i][(d.n[i] - 1) % YOUNG]);
  }
}

const bench_form bench_forms[] = {
    {"blocks", "transformer blocks with parameters of their own", grow_transformer_blocks},
    {"chain", "each node reads the value before it", grow_chain},
    {"pointwise", "a chain of pointwise ops in the largest fusion groups allowed", grow_pointwise},
    {"wide", "a third of the nodes alive at once", grow_wide_sum},
    {"drawn", "random operands among the 48 newest values of each of four sizes", grow_random},
    {NULL, NULL, NULL}};

vt_graph *bench_graph_new(const bench_form *f, uint32_t nodes) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {0};
  if (vt_graph_begin(&gb, f->name, vt_alloc_default(), &d) != VT_OK) return NULL;
  f->grow(&gb, nodes);
  return vt_graph_freeze(&gb, &g) == VT_OK ? g : NULL;
}
