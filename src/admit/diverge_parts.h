/* SPDX-License-Identifier: Apache-2.0
 * diverge_parts.h - what the search for a divergence is made of: a duel runs one model on both
 * sides, a part is some nodes of a graph as a model of their own. For diverge_*.c,
 * and duels for refusal.c. */
#ifndef VT_DIVERGE_PARTS_H
#define VT_DIVERGE_PARTS_H
#include "diverge.h"
#include "volta/volta_tools.h"
#include "vt_graph.h"

/* ---- duels ---- */

enum { VT_JUDGED, VT_RIGHT, VT_SIDES };
typedef struct vt_diverge_pair {
  vt_options side[VT_SIDES];
  vt_alloc a;
} vt_diverge_pair;

/* Values for the ports of a graph. */
typedef struct vt_giver {
  vt_diverge_give *give;
  void *user;
} vt_giver;
/* For `user` of this one: inputs by name. */
typedef struct vt_given_table {
  uint32_t n;
  const char *const *names;
  const vt_tensor *t;
} vt_given_table;
vt_diverge_give vt_give_table;

/* Makes a program of one side, with other passes and without what belongs to the caller's model.
 * `how` has flags of vt_prepare: what a backend declares is not tried before it is compared,
 * because a lie has to show itself in the bits. */
vt_status vt_diverge_pair_make(const vt_diverge_pair *x, int side, const vt_model *m,
                               const char *passes, int how, vt_program **out,
                               vt_diag *d) VT_NODISCARD;
/* Gives and runs. */
vt_status vt_diverge_pair_start(const vt_giver *v, vt_program *p, vt_diag *d) VT_NODISCARD;
/* Both sides made, given and run; on failure neither is there. */
vt_status vt_diverge_pair_run(const vt_diverge_pair *x, const vt_model *m, const char *passes,
                              const vt_giver *v, vt_program *out[VT_SIDES],
                              vt_diag *d) VT_NODISCARD;
void vt_diverge_pair_end(vt_program *p[VT_SIDES]);
/* The first output, in ascending order of names, that differs: its number, and how. Their number
 * when none does. */
vt_status vt_diverge_pair_compare(vt_program *const p[VT_SIDES], uint32_t *out_output,
                                  vt_compare *out, vt_diag *d) VT_NODISCARD;

/* How far apart the elements number `i` of two results are: compared as two scalars. */
vt_status vt_diverge_pair_distance(const vt_tensor *a, const vt_tensor *b, uint64_t i,
                                   uint64_t *out, vt_diag *d) VT_NODISCARD;

/* The graph as a model whose outputs are these values, in this order, under names of their own. */
vt_status vt_outputs_model(const vt_graph *g, const uint32_t *values, uint32_t n, vt_alloc a,
                           vt_model **out, vt_diag *d) VT_NODISCARD;
/* What the reference gives for these values of `g`, in `keep`. */
vt_status vt_diverge_pair_values(const vt_diverge_pair *x, const vt_graph *g, const vt_giver *v,
                                 const uint32_t *values, uint32_t n, vt_arena *keep, vt_tensor *out,
                                 vt_diag *d) VT_NODISCARD;
vt_status vt_tensor_keep(const vt_tensor *t, vt_arena *keep, vt_tensor *out,
                         vt_diag *d) VT_NODISCARD;

/* ---- parts ---- */

typedef struct vt_part {
  const vt_graph *g;
  uint8_t *has; /* by node */
  uint32_t n_results;
  const vt_result *results; /* names NULL: made up where the value has none */
  uint32_t first, last;     /* the nodes that are blamed */
} vt_part;

/* Adds the nodes that the part reads from; 0 when there are none. */
int vt_part_grow(vt_part *p, vt_arena *scratch);
/* The part as text, with its inputs: their names, and which values of the graph they are. */
typedef struct vt_part_model {
  const char *text;
  uint32_t n_inputs;
  const char **names;
  uint32_t *values;
} vt_part_model;
vt_status vt_part_write(const vt_part *p, vt_arena *keep, vt_part_model *out,
                        vt_diag *d) VT_NODISCARD;
/* "mul+add", and "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]", of the nodes that are blamed. */
vt_status vt_part_describe(const vt_part *p, vt_arena *keep, const char **op,
                           const char **signature) VT_NODISCARD;

/* ---- the search ---- */

/* Whether the part alone shows it. Then *out is replaced; otherwise VT_NAME. */
vt_status vt_part_try(const vt_diverge_pair *x, const vt_part *p, const vt_giver *v,
                      const char *passes, vt_divergence *out, vt_diag *d) VT_NODISCARD;
/* The first op of `g` that parts, to the smallest model; VT_NAME when none does by itself. */
vt_status vt_diverge_inside(const vt_diverge_pair *x, const vt_graph *g, const vt_giver *v,
                            vt_divergence *out, vt_diag *d) VT_NODISCARD;
/* The same in the bodies of node `node`, with what they are given when it runs. */
vt_status vt_diverge_body(const vt_diverge_pair *x, const vt_graph *g, uint32_t node,
                          const vt_giver *v, vt_divergence *out, vt_diag *d) VT_NODISCARD;
#endif
