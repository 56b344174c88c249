/* SPDX-License-Identifier: Apache-2.0
 * vt_pass.h - the passes, each of which takes a graph and returns another. Owns the list of passes
 * (passes.def) and applies them one at a time; which run, and in which order, the caller chooses.
 */
#ifndef VT_PASS_H
#define VT_PASS_H
#include "vt_graph.h"

/* Runs graphs for the pass `fold`. `run` executes a graph without ports as a program on the
 * reference backend. It writes the bytes of result i to out[i], contiguous and with canonical NaNs;
 * out[i] has space for the result's type. */
typedef struct vt_eval {
  vt_status (*run)(void *user, const vt_graph *g, void *const *out, vt_diag *d);
  void *user;
} vt_eval;

typedef struct vt_pass_options {
  const vt_binding *bind; /* numbers for symbolic dimensions */
  uint32_t n_bind;
  /* Returns 1 if the target has a kernel for composition `op`, so that `lower` keeps it; NULL if
   * the target has no kernel for any composition. */
  int (*listed)(const void *target, uint32_t op);
  const void *target;  /* first argument of `listed` */
  const vt_eval *eval; /* how `fold` runs graphs; if NULL, it folds no constants */
  vt_alloc alloc;      /* allocator of the new graph and of a pass's scratch */
} vt_pass_options;

typedef vt_status vt_pass_fn(const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                             vt_diag *d);
typedef struct vt_pass_info {
  const char *name;
  vt_pass_fn *run;
  const char *help;
} vt_pass_info;

#define VT_PASS(name, function, help) vt_pass_fn function;
#include "passes.def"
#undef VT_PASS
enum {
#define VT_PASS(name, function, help) VT_PASS_##name,
#include "passes.def"
#undef VT_PASS
  VT_PASS_COUNT
};

uint32_t vt_pass_total(void);
const vt_pass_info *vt_pass_at(uint32_t i);

/* The passes to run, in their order. */
typedef struct vt_pass_list {
  uint32_t n, at[VT_PASS_COUNT]; /* at[0 .. n) are indices into passes.def */
} vt_pass_list;
/* Parses a list like "bind,lower,dead". NULL means all passes in the order of passes.def. `bind`
 * must come first. An unknown name, or one that occurs twice, is VT_USAGE. */
vt_status vt_pass_list_parse(const char *names, vt_pass_list *out, vt_diag *d) VT_NODISCARD;

/* Runs pass i. *out is a new graph, which has been verified. Every pass except `bind` needs a graph
 * whose dimensions are bound. */
vt_status vt_pass_run(uint32_t i, const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                      vt_diag *d) VT_NODISCARD;

/* Turns a failure of a bound graph into one of its bindings: the model was valid before, so the
 * numbers must be the cause. VT_VERIFY and VT_LIMIT become VT_BIND, and the bindings are appended
 * to the message of these and of VT_BIND. Without bindings, or for any other status, s is
 * returned as it is. */
vt_status vt_pass_blame_bindings(const vt_pass_options *o, vt_status s, vt_diag *d);

/* Builds the graph that computes the initial values of the params of a bound graph, or of its
 * states, from two inputs, the i64 scalars `seed` and `step`. `kind` is VT_PORT_PARAM or
 * VT_PORT_STATE. The graph has one output per port of that kind that has an initialiser, with the
 * port's name. This is not a pass of the pipeline. *out is NULL if no such port has an initialiser.
 */
vt_status vt_pass_build_init(const vt_graph *g, uint32_t kind, const vt_pass_options *o,
                             vt_graph **out, vt_diag *d) VT_NODISCARD;
#endif
