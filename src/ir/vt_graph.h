/* SPDX-License-Identifier: Apache-2.0
 * vt_graph.h - the graph: SSA nodes in arrays, uint32_t ids, frozen after build.
 * Owns every value, node, port and name of a model. Produced by a vt_graph_builder, which verifies
 * as it goes and once more on freezing; consumed as const by passes, plans and printers. */
#ifndef VT_GRAPH_H
#define VT_GRAPH_H
#include "vt_builder.h"
#include "vt_hash.h"

#define VT_NO_NODE UINT32_MAX

typedef struct vt_value {
  vt_type type;
  const char *name; /* NULL: printed as _N after its node */
  uint32_t node;    /* VT_NO_NODE: a port */
  uint32_t index;   /* which output of the node; which port */
} vt_value;

/* As many nodes as a fusion group may have: enough for any kernel, and a bound on what asking about
 * a node's neighbours costs. */
enum { VT_GROUP_MOST = 64 };

typedef struct vt_graph vt_graph;

typedef struct vt_node {
  uint32_t op;               /* number of ops.def */
  uint32_t n_in, first_in;   /* operand[first_in .. first_in + n_in) */
  uint32_t n_out, first_out; /* values first_out .. first_out + n_out */
  uint32_t line, column;     /* where it was written; 0 = nowhere */
  uint32_t group;            /* fusion group, from 1 on in each graph; 0 = none */
  const void *attrs;         /* a struct of the op's group */
  /* Bodies of a region op: graphs of their own, closed, of which arguments are the ports (inputs,
   * in order) and results the outputs. Each result is a value of a node, and no two are one. */
  uint32_t n_body;
  vt_graph *const *body;
} vt_node;

typedef struct vt_port {
  const char *name;
  uint32_t kind; /* VT_PORT_INPUT, VT_PORT_PARAM */
  uint32_t value;
  uint32_t has_range; /* integers of an input lie in lo..hi (may be symbolic) */
  uint32_t init;      /* number of inits.def; params only, never 0 there */
  int64_t lo, hi;
  const void *init_attrs;
} vt_port;

typedef struct vt_result { /* an output */
  const char *name;
  uint32_t value;
} vt_result;

struct vt_graph {
  vt_arena arena; /* holds all but the three arrays below, which have room for their `room` */
  const char *name;
  vt_dims dims;
  uint32_t n_values, n_nodes, n_operands, n_ports, n_results;
  uint32_t room_values, room_nodes, room_operands;
  vt_value *values;
  vt_node *nodes;
  uint32_t *operands;
  vt_port *ports;     /* in order of declaration */
  vt_result *results; /* in order of declaration */
};

void vt_graph_free(vt_graph *g);
/* Everything again from the outside: ids, single assignment, order of definition, types against
 * the op table, names unique, initialisers. vt_graph_freeze runs it, and nothing else makes a
 * graph, so every graph is verified once: before any lowering and after every pass. */
vt_status vt_graph_verify(const vt_graph *g, vt_diag *d) VT_NODISCARD;
/* The printed form: one op a line with its type. With `canonical`, inner values lose their names.
 */
void vt_graph_print(const vt_graph *g, int canonical, vt_text *out);
/* What a body takes and gives; `in` and `out` have room for it. */
static inline void vt_body_type_of(const vt_graph *body, vt_type *in, vt_type *out,
                                   vt_body_type *t) {
  for (uint32_t i = 0; i < body->n_ports; i++) in[i] = body->values[body->ports[i].value].type;
  for (uint32_t i = 0; i < body->n_results; i++) out[i] = body->values[body->results[i].value].type;
  *t = (vt_body_type){body->n_ports, body->n_results, in, out};
}
/* 1 for the form in which values without a name are printed. */
int vt_name_is_automatic(const char *name);
vt_status vt_graph_hash(const vt_graph *g, vt_hash256 *out) VT_NODISCARD;
/* What follows a port's type: "in 0..95", "= normal(std=0.02, stream=7)", or nothing. */
void vt_port_print_extra(const vt_graph *g, const vt_port *p, vt_text *out);
/* "x", or for a value without a name "_12" after its node, "_12.1" for its second result. */
const char *vt_value_name(const vt_graph *g, uint32_t value, char buffer[16]);

/* ---- building ---- */
typedef struct vt_graph_builder {
  vt_builder b; /* first: decompositions see this part only */
  vt_graph *g;
  uint32_t cap_ports, cap_results, cap_types;
  vt_type *types;               /* of the operands of the node that is being added */
  uint32_t line, column, group; /* stamped on the nodes to come */
  const char *label;            /* what a failing node is called in the diagnostic; may be NULL */
  uint32_t n_names, cap_names;
  const char **names; /* open-addressed set of the names in use; never iterated */
  struct vt_graph_builder *outer, *inner; /* whose body this is; its body that is open; or NULL */
  uint32_t depth, n_body;                 /* bodies around it; bodies ready for the next node */
  vt_graph *body[VT_MAX_BODIES];
  vt_status status;
  vt_diag *d;
} vt_graph_builder;

/* `d` receives the first failure of anything the builder does until it is frozen or dropped. */
vt_status vt_graph_begin(vt_graph_builder *gb, const char *name, vt_alloc a,
                         vt_diag *d) VT_NODISCARD;
/* Copies the symbols of another graph, so that its handles mean the same here. */
void vt_graph_use_dims(vt_graph_builder *gb, const vt_dims *dims);
/* What the parser opens a body with: names for its arguments. NULL after a failure. */
vt_graph_builder *vt_graph_open(vt_graph_builder *gb, const char *const *names,
                                const vt_type *types, uint32_t n);
/* Ends a body; it waits for the next node of the builder around it. A result that is an argument,
 * or the same as another, is copied, so that each has a place of its own. */
void vt_graph_close(vt_graph_builder *body, const uint32_t *out, uint32_t n);
/* Declares a port (name, kind, range, init, init_attrs are copied; value is set) and returns its
 * value. A second port or output of the same name is VT_VERIFY. */
uint32_t vt_graph_add_port(vt_graph_builder *gb, const vt_port *port, const vt_type *type);
/* Names a value that has none; keeps the old name otherwise. A name that is taken gets the first
 * free suffix .1, .2, ... so that values stay unique. */
void vt_graph_name(vt_graph_builder *gb, uint32_t value, const char *name);
int vt_graph_has_name(const vt_graph_builder *gb, const char *name);
void vt_graph_add_result(vt_graph_builder *gb, const char *name, uint32_t value);
/* Records a failure found by the caller, unless there is one already. */
vt_status vt_graph_fail(vt_graph_builder *gb, vt_status s, const char *fmt, ...) VT_PRINTF(3, 4);
/* Verifies and hands the graph over; on failure everything is freed. The builder is spent. */
vt_status vt_graph_freeze(vt_graph_builder *gb, vt_graph **out) VT_NODISCARD;
void vt_graph_drop(vt_graph_builder *gb);
#endif
