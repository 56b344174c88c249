/* SPDX-License-Identifier: Apache-2.0
 * vt_pass.h - graph in, graph out. Owns the pipeline of passes.def. */
#ifndef VT_PASS_H
#define VT_PASS_H
#include "vt_graph.h"

/* Runs a graph without ports, through the gateway like any other, and puts the bytes of result i,
 * dense, with one NaN, into out[i]: as many as its type says. */
typedef struct vt_eval {
  vt_status (*run)(void *user, const vt_graph *g, void *const *out, vt_diag *d);
  void *user;
} vt_eval;

typedef struct vt_pass_options {
  const vt_binding *bind;
  uint32_t n_bind;
  /* 1 when the target runs composition `op` whole; NULL means none. */
  int (*listed)(const void *target, uint32_t op);
  const void *target;
  const vt_eval *eval; /* NULL: constants are not folded */
  vt_alloc alloc;
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

/* Which passes run, in which order. */
typedef struct vt_pass_list {
  uint32_t n, at[VT_PASS_COUNT];
} vt_pass_list;
/* "bind,lower,dead"; NULL: all, in the order of passes.def. `bind` must come first; a name that is
 * none, or comes twice, is VT_USAGE. */
vt_status vt_pass_choose(const char *names, vt_pass_list *out, vt_diag *d) VT_NODISCARD;

/* Runs pass i. out is a new graph, verified when it was frozen. Every pass but `bind` needs a bound
 * graph. */
vt_status vt_pass_run(uint32_t i, const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                      vt_diag *d) VT_NODISCARD;

/* What is possible in general and is not with the dimensions bound as they are is the bindings'
 * fault: VT_VERIFY, VT_LIMIT and VT_BIND become VT_BIND, and the text names them. */
vt_status vt_pass_blame(const vt_pass_options *o, vt_status s, vt_diag *d);

/* The graph that computes the first values of all params of a bound graph from the inputs `seed`
 * and `step` (i64 scalars): one output a param, of its name. Another way from graph to graph, not
 * a stage of the pipeline. A graph without params gives *out = NULL. */
vt_status vt_pass_init(const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                       vt_diag *d) VT_NODISCARD;
#endif
