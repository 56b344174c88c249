/* SPDX-License-Identifier: Apache-2.0
 * diverge_search.h - the two tools of the search for a divergence. A divergence pair runs one model
 * on both sides, the tested backend and the reference, and compares the results. A subgraph is a
 * set of nodes of a graph that is written as a model. Private to diverge_*.c and refusal.c. */
#ifndef VT_DIVERGE_PARTS_H
#define VT_DIVERGE_PARTS_H
#include "diverge.h"
#include "volta/volta_tools.h"
#include "vt_graph.h"

/* ---- divergence pairs ---- */

enum { VT_TESTED, VT_REFERENCE, VT_SIDES };
typedef struct vt_diverge_pair {
  vt_options side[VT_SIDES];
  vt_alloc a;
} vt_diverge_pair;

/* The function that sets the values of a graph's ports in a program. */
typedef struct vt_value_source {
  vt_diverge_set_values *give; /* sets the values in a program */
  void *user;                  /* first argument of `give` */
} vt_value_source;
/* Inputs by name, which vt_set_inputs_from_table sets; it is its argument `user`. */
typedef struct vt_input_table {
  uint32_t n;
  const char *const *names;
  const vt_tensor *t;
} vt_input_table;
vt_diverge_set_values vt_set_inputs_from_table;

/* Creates a program of one side with the given passes. Bindings, streamed parameters and the memory
 * budget belong to the caller's model and are left out. `prepare_flags` has flags of vt_prepare.
 * With VT_PREPARE_UNTRIED declared capabilities are not probed, because a false declaration must
 * show in the results. */
vt_status vt_diverge_pair_new_program(const vt_diverge_pair *x, int side, const vt_model *m,
                                      const char *passes, int prepare_flags, vt_program **out,
                                      vt_diag *d) VT_NODISCARD;
/* Sets the values of a program and runs it. */
vt_status vt_diverge_set_values_and_run(const vt_value_source *v, vt_program *p,
                                        vt_diag *d) VT_NODISCARD;
/* Creates and runs the programs of both sides; on failure both are freed. */
vt_status vt_diverge_pair_run(const vt_diverge_pair *x, const vt_model *m, const char *passes,
                              const vt_value_source *v, vt_program *out[VT_SIDES],
                              vt_diag *d) VT_NODISCARD;
void vt_diverge_pair_free(vt_program *p[VT_SIDES]);
/* Writes the number of the first output that differs, in ascending order of names, and the
 * comparison. *out_output is the number of outputs if all agree. */
vt_status vt_diverge_pair_compare(vt_program *const p[VT_SIDES], uint32_t *out_output,
                                  vt_compare *out, vt_diag *d) VT_NODISCARD;

/* The number of representable values between the elements at one position of two results. */
vt_status vt_diverge_element_distance(const vt_tensor *a, const vt_tensor *b, uint64_t element,
                                      uint64_t *out, vt_diag *d) VT_NODISCARD;

/* Makes a model of the graph whose outputs are these values, in this order, with new names. */
vt_status vt_model_with_outputs(const vt_graph *g, const uint32_t *values, uint32_t n, vt_alloc a,
                                vt_model **out, vt_diag *d) VT_NODISCARD;
/* Computes these values of `g` on the reference; the tensors are allocated in `keep`. */
vt_status vt_diverge_reference_values(const vt_diverge_pair *x, const vt_graph *g,
                                      const vt_value_source *v, const uint32_t *values, uint32_t n,
                                      vt_arena *keep, vt_tensor *out, vt_diag *d) VT_NODISCARD;
vt_status vt_tensor_copy_to_arena(const vt_tensor *t, vt_arena *keep, vt_tensor *out,
                                  vt_diag *d) VT_NODISCARD;

/* ---- subgraphs ---- */

typedef struct vt_subgraph {
  const vt_graph *g;
  uint8_t *has; /* by node of g: 1 if it is in the subgraph */
  uint32_t n_results;
  const vt_result *results; /* the results; if a name is NULL, the result gets the name of its value
                               or a new one */
  uint32_t first, last;     /* the nodes to report as diverging */
} vt_subgraph;

/* Adds to the subgraph the nodes whose results it reads; returns 0 if no node was added. */
int vt_subgraph_add_producers(vt_subgraph *p, vt_arena *scratch);
/* A subgraph as a model in the text form. */
typedef struct vt_subgraph_model {
  const char *text;
  uint32_t n_inputs;
  const char **names; /* names of the inputs */
  uint32_t *values;   /* by input: the value of the graph that it stands for */
} vt_subgraph_model;
vt_status vt_subgraph_write(const vt_subgraph *p, vt_arena *keep, vt_subgraph_model *out,
                            vt_diag *d) VT_NODISCARD;
/* Prints the nodes p->first .. p->last as an op, "mul+add", and as a signature, "matmul(f32[5,
 * 600], f32[600, 7]) -> f32[5, 7]". */
vt_status vt_subgraph_describe(const vt_subgraph *p, vt_arena *keep, const char **op,
                               const char **signature) VT_NODISCARD;

/* ---- the search ---- */

/* Runs the subgraph alone. If it diverges, *out is replaced by that divergence; else VT_NAME. */
vt_status vt_subgraph_run_alone(const vt_diverge_pair *x, const vt_subgraph *p,
                                const vt_value_source *v, const char *passes, vt_divergence *out,
                                vt_diag *d) VT_NODISCARD;
/* Finds the first diverging op of `g` and the smallest model that diverges; VT_NAME if none of the
 * subgraphs tried diverges. */
vt_status vt_diverge_find_in_graph(const vt_diverge_pair *x, const vt_graph *g,
                                   const vt_value_source *v, vt_divergence *out,
                                   vt_diag *d) VT_NODISCARD;
/* Searches the bodies of a node like vt_diverge_find_in_graph, with the values that the bodies get
 * when the node runs. */
vt_status vt_diverge_find_in_body(const vt_diverge_pair *x, const vt_graph *g, uint32_t node,
                                  const vt_value_source *v, vt_divergence *out,
                                  vt_diag *d) VT_NODISCARD;
#endif
