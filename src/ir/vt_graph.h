/* SPDX-License-Identifier: Apache-2.0
 * vt_graph.h - the graph of a model: SSA nodes and values in arrays that refer to each other by
 * index. A graph owns every value, node, port and name of its model. A vt_graph_builder makes it,
 * checks each node as it is added, and verifies the whole graph when it freezes it. From then on
 * passes, plans and printers read it as const.
 *
 * The arrays of a model with  input x,  param w,  h = matmul(x, w),  v, i = sort(h),  output v:
 *
 *   ports      [0] "x"    [1] "w"
 *                | value    | value
 *                v          v
 *   values     [0] x      [1] w      [2] h        [3] v      [4] i
 *                                      ^            ^          ^
 *                                      | first_out  | first_out, and n_out = 2
 *   nodes                            [0] matmul   [1] sort
 *                                      | first_in   | first_in
 *                                      v            v
 *   operands                         [0] 0 [1] 1  [2] 2               indices of values
 *   results    [0] "v": value 3                                       the outputs
 *
 * Back from a value: `node` is the index of the node that defines it, or VT_NO_NODE for a port,
 * and `index` says which of that node's results, or which port.
 *
 * A state is a port that lives between runs. Its value is that before the run, wherever it is read;
 * `next` of its port is the value after the run. */
#ifndef VT_GRAPH_H
#define VT_GRAPH_H
#include "vt_builder.h"
#include "vt_hash.h"

#define VT_NO_NODE UINT32_MAX

typedef struct vt_value {
  vt_type type;
  const char *name; /* NULL for an unnamed value, which is printed as _N, N being its node */
  uint32_t node;    /* index of the node that defines the value; VT_NO_NODE for a port's value */
  uint32_t index;   /* which result of that node it is; for a port's value, the index of the port */
} vt_value;

/* The most nodes that a fusion group may have. It is enough for any kernel, and it bounds the cost
 * of a search among the neighbours of a node. */
enum { VT_GROUP_MAX_NODES = 64 };

typedef struct vt_graph vt_graph;

typedef struct vt_node {
  uint32_t op;               /* the op's number in ops.def */
  uint32_t n_in, first_in;   /* its operands are operands[first_in .. first_in + n_in) */
  uint32_t n_out, first_out; /* its results are values[first_out .. first_out + n_out) */
  uint32_t line, column;     /* position in the model's text; 0 if it does not come from a text */
  uint32_t group;    /* number of its fusion group, counted from 1; 0 if it is in no group */
  const void *attrs; /* attributes: a struct of the op's attribute group (vt_attr.h) */
  /* The bodies of a region op (cond, loop). A body is a graph of its own and reads no value of the
   * graph around it: its input ports, in order, are the arguments, and its outputs the results.
   * Each result is a value of a node, and no two results are the same value. */
  uint32_t n_body;
  vt_graph *const *body;
} vt_node;

typedef struct vt_port {
  const char *name;
  uint32_t kind;          /* VT_PORT_INPUT, VT_PORT_PARAM or VT_PORT_STATE */
  uint32_t value;         /* index of the port's value */
  uint32_t next;          /* of a state: index of the value that it has after the run, maybe its own
                             value; VT_NO_VALUE for any other port */
  uint32_t has_range;     /* 1 if the input's integers must be in lo..hi */
  uint32_t init;          /* the initialiser's number in inits.def, never 0 for a state; 0 for an
                             input, and for a param without an initialiser, which must be given a
                             value */
  uint32_t stored;        /* a type that files may hold an f32 param as: f16, bf16 or f64; or 0 */
  int64_t lo, hi;         /* ends of the range, both included: numbers or symbolic dimensions */
  const void *init_attrs; /* attributes of the initialiser, a struct of its attribute group; NULL
                             without an initialiser */
} vt_port;

typedef struct vt_result { /* an output of the graph: its name and the index of its value */
  const char *name;
  uint32_t value;
} vt_result;

struct vt_graph {
  vt_arena arena; /* holds everything except the arrays values, nodes and operands */
  const char *name;
  vt_dims dims;
  uint32_t n_values, n_nodes, n_operands, n_ports, n_results;
  uint32_t cap_values, cap_nodes, cap_operands; /* capacities of these arrays, in items */
  vt_value *values;
  vt_node *nodes;
  uint32_t *operands; /* indices of values: the operand lists of all nodes, one after another */
  vt_port *ports;     /* in order of declaration */
  vt_result *results; /* in order of declaration */
};

void vt_graph_free(vt_graph *g);
/* Checks a finished graph without trusting its builder: indices, single assignment, definition
 * before use, types against the op table, unique names, initialisers, next values of states, bodies
 * and fusion groups.
 * vt_graph_freeze calls it, and graphs come from nowhere else. So every graph is verified before
 * it is decomposed or planned, and after every pass. */
vt_status vt_graph_verify(const vt_graph *g, vt_diag *d) VT_NODISCARD;
/* Appends the graph in the text form, each node on a line with its type. With `canonical`, the
 * values of nodes are printed as if they had no names. */
void vt_graph_print(const vt_graph *g, int canonical, vt_text *out);
/* The types of a body's arguments and results. They are written to `in` and `out`, which must have
 * space for them, and *t points to both. */
static inline void vt_body_type_of(const vt_graph *body, vt_type *in, vt_type *out,
                                   vt_body_type *t) {
  for (uint32_t i = 0; i < body->n_ports; i++) in[i] = body->values[body->ports[i].value].type;
  for (uint32_t i = 0; i < body->n_results; i++) out[i] = body->values[body->results[i].value].type;
  *t = (vt_body_type){body->n_ports, body->n_results, in, out};
}
/* 1 if `name` has the form in which unnamed values are printed: "_12" or "_12.1". */
int vt_name_is_automatic(const char *name);
/* The digest of the canonical printed form, so that names of inner values do not change it. */
vt_status vt_graph_hash(const vt_graph *g, vt_hash256 *out) VT_NODISCARD;
/* Prints the text after a port's type: the range of an input, "in 0..95", or the stored type and
 * the initialiser of a param, "from f16 = normal(std=0.02, stream=7)", or nothing. */
void vt_port_print_range_and_init(const vt_graph *g, const vt_port *p, vt_text *out);
/* The name of a value. An unnamed value is called after its node, "_12", and the second result of
 * that node "_12.1"; `buffer` holds such a name. */
const char *vt_value_name(const vt_graph *g, uint32_t value, char buffer[16]);

/* ---- building ---- */
typedef struct vt_graph_builder {
  vt_builder b; /* the interface for decompositions; the first member, because code casts a pointer
                   to it to a vt_graph_builder * */
  vt_graph *g;  /* the graph being built; NULL once it is frozen or dropped */
  uint32_t cap_ports, cap_results, cap_types; /* capacities of the arrays, in items */
  vt_type *types;                 /* types of the operands of the node that is being added */
  uint32_t line, column, group;   /* copied into every node that is added */
  const char *label;              /* name for a failing node in the diagnostic; may be NULL */
  uint32_t n_names, cap_names;    /* number of names in the set `names`, and of its slots */
  const char **names;             /* open-addressed set of the names in use; never iterated */
  struct vt_graph_builder *outer; /* builder of the graph around this body; NULL if not a body */
  struct vt_graph_builder *inner; /* builder of the body that is open now; NULL if no body is */
  uint32_t depth;                 /* number of bodies around this one; 0 for the graph itself */
  uint32_t n_body;                /* closed bodies that wait for the next node */
  vt_graph *body[VT_MAX_BODIES];  /* those bodies */
  vt_status status;               /* the first failure; after it every call does nothing */
  vt_diag *d;
} vt_graph_builder;

/* Begins an empty graph. `d` receives the builder's first failure and must stay valid until the
 * graph is frozen or dropped. */
vt_status vt_graph_begin(vt_graph_builder *gb, const char *name, vt_alloc a,
                         vt_diag *d) VT_NODISCARD;
/* Copies the symbolic dimensions of another graph, so that their handles are valid in this one. */
void vt_graph_copy_dims(vt_graph_builder *gb, const vt_dims *dims);
/* Opens a body whose arguments have the given names and types, and returns its builder, which the
 * outer builder owns; NULL after a failure. */
vt_graph_builder *vt_graph_open_body(vt_graph_builder *gb, const char *const *names,
                                     const vt_type *types, uint32_t n);
/* Ends a body, which becomes part of the next node that is added to the outer builder. A result
 * that is an argument or repeats another result is copied, so that no two results share memory. */
void vt_graph_close_body(vt_graph_builder *body, const uint32_t *out, uint32_t n);
/* Declares a port (name, kind, range, init, init_attrs are copied; value is set, and next until
 * vt_graph_set_next is called is VT_NO_VALUE) and returns its value. A second port or output of the
 * same name is VT_VERIFY. */
uint32_t vt_graph_add_port(vt_graph_builder *gb, const vt_port *port, const vt_type *type);
/* Sets the next value of a state, which is named by the value of its port. A second call for the
 * same state, or a next value of another type, is VT_VERIFY. A state without a call is VT_VERIFY
 * when the graph is frozen. Only the graph of a model has states, not a body. */
void vt_graph_set_next(vt_graph_builder *gb, uint32_t state, uint32_t next);
/* Names a value that is unnamed; otherwise the value keeps its name. A name that is in use gets the
 * first free suffix .1, .2, ... so that names are unique. */
void vt_graph_name_value(vt_graph_builder *gb, uint32_t value, const char *name);
int vt_graph_has_name(const vt_graph_builder *gb, const char *name);
/* Declares an output. */
void vt_graph_add_result(vt_graph_builder *gb, const char *name, uint32_t value);
/* Records a failure that the caller found, and returns it. If the builder has failed before, the
 * first failure stays and is returned instead. */
vt_status vt_graph_fail(vt_graph_builder *gb, vt_status s, const char *fmt, ...) VT_PRINTF(3, 4);
/* Verifies the graph and passes it to the caller; after a failure it is freed instead. Either way
 * the builder cannot be used again. */
vt_status vt_graph_freeze(vt_graph_builder *gb, vt_graph **out) VT_NODISCARD;
/* Frees the unfinished graph. */
void vt_graph_drop(vt_graph_builder *gb);
#endif
