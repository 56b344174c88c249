/* SPDX-License-Identifier: Apache-2.0
 * parse_state.h - declarations shared by the files of the parser: the state of one parse, names in
 * scope, and the functions for parts of the grammar. Private to src/front.
 *
 * The parser builds the graph while it reads the text, without a syntax tree. A repeat goes back to
 * its opening brace and reads its body again, so memory grows with the graph, not with the text. */
#ifndef VT_PARSE_STATE_H
#define VT_PARSE_STATE_H
#include "lex.h"
#include "vt_graph.h"

enum {
  /* Bytes of text that are read; text that is read again counts again. */
  VT_TEXT_MAX = 64 * 1024 * 1024,
  VT_NESTING_MAX = 200,       /* depth of nested brackets, calls, signs, bodies and repeats */
  VT_EXPANSION_MAX = 1000000, /* nodes, names and iterations of repeats, in total */
  VT_LOOKUPS_MAX = 10000000,  /* lookups of names, counting each scope that is searched */
  VT_OPERANDS_MAX = 4096,     /* operands of one call */
  VT_OUTPUTS_MAX = 10000,     /* outputs of a model */
  VT_POLYS_MAX = 10000,       /* different dimensions that contain symbols */
  VT_ATTRS_MAX = 512,         /* bytes of an attribute struct */
};
/* Limit on constants and coefficients in dimension expressions. Sums of two of them cannot reach
 * the numbers that vt_dim.h uses as handles of polynomials. */
#define VT_WHOLE_MAX ((int64_t)1 << 60)

/* ---- names ---- */

/* The meaning of a name. */
typedef enum vt_entry_kind {
  VT_ENTRY_SYMBOL,   /* a symbolic dimension: dim B */
  VT_ENTRY_CONSTANT, /* a constant dimension: dim V = 96 */
  VT_ENTRY_PORT,     /* an input, a parameter or a state; it cannot be assigned */
  VT_ENTRY_VALUE,    /* an assigned value */
} vt_entry_kind;

typedef struct vt_entry {
  const char *name;
  vt_entry_kind kind;
  uint32_t line;   /* line on which it was declared or last assigned */
  uint32_t column; /* column of its declaration on that line */
  uint32_t value;  /* value id, for PORT and VALUE */
  uint32_t times;  /* number of values that were given this name */
  int64_t dim;     /* dimension, for SYMBOL and CONSTANT */
} vt_entry;

/* A hash table of names; the entries are in the order in which they were added. */
typedef struct vt_names {
  vt_arena *arena;
  vt_entry *entry;
  uint32_t n, cap;  /* number of entries, capacity of `entry` */
  uint32_t *slot;   /* hash table: index into `entry` plus 1; 0: free */
  uint32_t n_slots; /* a power of two */
} vt_names;

/* One iteration of a repeat that encloses the current position. The first `n` bytes of the parser's
 * prefix are its scope, "h.0.". */
typedef struct vt_scope {
  const struct vt_scope *up; /* the next outer repeat */
  size_t n;
} vt_scope;

/* Returns the entry of a name; NULL: not found. */
vt_entry *vt_names_find(const vt_names *t, const char *name);
/* Adds an entry for a name that is not in the table; NULL: out of memory. Pointers to other entries
 * become invalid. */
vt_entry *vt_names_add(vt_names *t, const char *name);

/* A body that is being read. Each value that it uses from outside becomes an argument of the body,
 * in order of first use, and an operand of the op to which the body belongs. */
typedef struct vt_open_body {
  struct vt_open_body *up;         /* the enclosing body; NULL: the model */
  vt_graph_builder *gb, *outer_gb; /* builder of the body, of what encloses it */
  vt_names names, *outer_names;
  uint32_t *captured; /* the outer values that became arguments */
  uint32_t n_captured, cap_captured;
} vt_open_body;

/* ---- the parser ---- */

/* An expression that was read. A literal stays untyped until the other operand of its op, or the
 * context, determines its type. */
typedef struct vt_operand {
  vt_token at;                /* the literal, or the first token of the expression */
  uint32_t value;             /* value id; VT_NO_VALUE: an untyped literal */
  uint32_t negative, is_name; /* 1: the literal has a minus sign; 1: the expression is a name */
} vt_operand;

/* An initialiser in the text. */
typedef struct vt_init_spec {
  const vt_init_info *info; /* NULL: no initialiser was written */
  const void *attrs;        /* attribute struct of the initialiser's group */
} vt_init_spec;

/* The declaration of a parameter or a state. */
typedef struct vt_param_spec {
  uint32_t kind; /* VT_PORT_PARAM or VT_PORT_STATE */
  vt_type type;
  uint32_t stored; /* a type that files may hold it as; 0: only its own */
  vt_init_spec init;
} vt_param_spec;

typedef struct vt_parser {
  vt_lexer lex;
  vt_token tok, next;         /* the current token and the one after it */
  vt_graph_builder root, *gb; /* builder of the model; builder in use, of the innermost body */
  vt_arena arena;
  vt_names *names;           /* names of the innermost body, or of the model */
  vt_names root_names;       /* names of the model */
  vt_names streams;          /* random streams in use, by their number as text */
  vt_names results;          /* names of the outputs */
  struct vt_open_body *body; /* the innermost body that is being read; NULL: none */
  uint32_t targets;          /* number of names to the left of the call that is read next */
  vt_operand *stack;         /* operands of the calls that are being read, innermost on top */
  uint32_t n_stack, cap_stack;
  const vt_scope *scope;        /* the innermost repeat; NULL: none */
  char prefix[VT_NAME_MAX + 1]; /* scopes of the repeats, "h.0." */
  void *attrs;    /* VT_ATTRS_MAX bytes for the attributes that are being read or changed */
  uint32_t depth; /* current nesting */
  uint64_t lookups, iterations, rewound; /* lookups of names; iterations of repeats; bytes of text
                                          * that were read again */
  uint64_t closed;                       /* number of nodes and names in bodies that are finished */
  int begun;                             /* 1: the graph was begun and must be dropped on failure */
  vt_diag diag;
} vt_parser;

/* ---- failures (scope.c) ---- */

/* Gives a failure the position of token `at` unless it has one already; returns `s`. */
vt_status vt_parse_set_failure_position(vt_parser *p, const vt_token *at, vt_status s);
#define VT_FAIL_AT(p, at, s, ...) \
  vt_parse_set_failure_position((p), (at), VT_FAIL(&(p)->diag, (s), __VA_ARGS__))
/* Adds a hint to the recorded failure unless it has one. */
void vt_parse_add_hint(vt_parser *p, const char *fmt, ...) VT_PRINTF(2, 3);
/* Adds the hint "did you mean" if there is a suggestion. */
void vt_parse_add_suggestion(vt_parser *p, const vt_suggestion *s);
vt_status vt_parse_fail_nomem(vt_parser *p);
/* Number of nodes, names and iterations so far, which VT_EXPANSION_MAX limits. */
uint64_t vt_parse_expansion_size(const vt_parser *p);
/* The failure of a model that exceeds VT_EXPANSION_MAX or VT_TEXT_MAX. */
vt_status vt_parse_fail_too_large(vt_parser *p, const vt_token *at);
/* VT_LIMIT if nodes, names, lookups or dimensions exceed their limits. */
vt_status vt_parse_check_limits(vt_parser *p, const vt_token *at);
/* Checks the status of the graph builder, with the position of `at`, and then the limits. */
vt_status vt_parse_check_builder(vt_parser *p, const vt_token *at);

/* ---- tokens (scope.c) ---- */
vt_status vt_parse_advance(vt_parser *p) VT_NODISCARD; /* goes to the next token */
/* Reads a token of this kind; `what` completes the message "expected ..., found ...". */
vt_status vt_parse_expect(vt_parser *p, uint32_t kind, const char *what) VT_NODISCARD;
/* Reads the token after an element of a list: a comma (writes 1: another element follows) or the
 * closing bracket `close` (writes 0). `opening` is the token that opened the list. */
vt_status vt_parse_list_continues(vt_parser *p, const vt_token *opening, uint32_t close,
                                  const char *what, int *out_more) VT_NODISCARD;
/* Enter and leave a level of nesting; entering fails beyond VT_NESTING_MAX. */
vt_status vt_parse_enter_nesting(vt_parser *p) VT_NODISCARD;
void vt_parse_leave_nesting(vt_parser *p);
/* Copies the text of a name token. */
void vt_parse_copy_name(const vt_token *t, char out[VT_NAME_MAX + 1]);

/* ---- scopes (scope.c) ---- */
/* Finds the meaning of a name at the current position: searches the bodies from the innermost
 * outwards, then the model. NULL: unknown. */
vt_entry *vt_scope_find(vt_parser *p, const char *name);
/* Finds the meaning of a name in the model only: searches the scopes of repeats from the innermost
 * outwards, then the name without a scope. */
vt_entry *vt_scope_find_in_model(vt_parser *p, const char *name);
/* The failure for an unknown name, with a suggestion. */
vt_status vt_scope_fail_unknown(vt_parser *p, const vt_token *at, const char *name);
/* Writes the full name of a parameter: the prefix of the repeats, "h.0.", then `name` and `part`.
 * VT_LIMIT if it is too long. */
vt_status vt_scope_full_name(vt_parser *p, const vt_token *at, const char *name, const char *part,
                             char out[VT_NAME_MAX + 1]) VT_NODISCARD;
/* 0 for words that cannot be declared: types, true, false, and names of unnamed values, "_12". */
int vt_scope_name_allowed(const char *name);
int vt_scope_is_automatic_name(
    const char *name); /* 1 for the printed name of an unnamed value, "_12" */
/* Adds an entry. If the name exists already, the failure names the line of its declaration. */
vt_status vt_scope_declare(vt_parser *p, const vt_token *at, const char *name,
                           vt_entry **out) VT_NODISCARD;

/* ---- pieces of the grammar ---- */

/* parse_attr.c */
vt_status vt_parse_dim(vt_parser *p, int64_t *out) VT_NODISCARD;
/* Reads a dimension without symbols. */
vt_status vt_parse_whole_number(vt_parser *p, int64_t *out) VT_NODISCARD;
vt_status vt_parse_real(vt_parser *p, double *out) VT_NODISCARD;
vt_status vt_parse_bool(vt_parser *p, int64_t *out) VT_NODISCARD; /* reads true or false */
/* Reads a list of whole numbers in brackets, or a single number, which is a list of length 1. */
vt_status vt_parse_int_list(vt_parser *p, vt_attr_list *out) VT_NODISCARD;
vt_status vt_parse_dtype(vt_parser *p, uint32_t *out) VT_NODISCARD;
vt_status vt_parse_type(vt_parser *p, vt_type *out) VT_NODISCARD;
vt_status vt_parse_init(vt_parser *p, vt_init_spec *out) VT_NODISCARD;
/* Reads "name=value, ... )" including the closing bracket into p->attrs. `callee` is the name of
 * the op or initialiser; `first_type` is the type of operand 0, NULL without operands. */
vt_status vt_parse_attrs(vt_parser *p, const vt_attr_group *g, const vt_token *callee,
                         const vt_type *first_type) VT_NODISCARD;
/* Copies `attrs`, an attribute struct of the group, to p->attrs. */
vt_status vt_parse_copy_attrs(vt_parser *p, const vt_attr_group *g, const void *attrs) VT_NODISCARD;

/* parse_literal.c: adds a literal node of type `dtype` for a number, true or false. */
vt_status vt_parse_literal(vt_parser *p, const vt_operand *o, uint32_t dtype,
                           uint32_t *out) VT_NODISCARD;
int vt_token_is_bool_literal(const vt_token *t);
int vt_token_starts_literal(
    const vt_token *t); /* 1 if `t` begins a literal: a number, true or false */
/* 1 if the current token begins a dimension expression that is not a number alone. */
int vt_parse_starts_dimension(vt_parser *p);
/* Adds the value of a dimension, i64[]. */
vt_status vt_parse_dim_as_value(vt_parser *p, const vt_token *at, int64_t dim,
                                uint32_t *out) VT_NODISCARD;

/* parse_region.c: reads the bodies of a call after its operands and attributes. Values that the
 * bodies use from outside are added to the `*n` operands at `*in`. */
vt_status vt_parse_bodies(vt_parser *p, const vt_op_info *op, const vt_token *callee, void *attrs,
                          uint32_t **in, uint32_t *n) VT_NODISCARD;
/* The value with this name. A value from outside the current body becomes an argument of the body.
 */
vt_status vt_parse_find_or_capture_value(vt_parser *p, const vt_token *at, const char *name,
                                         uint32_t *out) VT_NODISCARD;

/* parse.c: reads statements up to the closing brace, which stays the current token. */
vt_status vt_parse_statements(vt_parser *p) VT_NODISCARD;
vt_status vt_parse_skip_newlines(vt_parser *p) VT_NODISCARD;
vt_status vt_parse_name(vt_parser *p, const char *what, vt_token *at,
                        char out[VT_NAME_MAX + 1]) VT_NODISCARD;
/* Parses the expression to the right of `name =`. Messages about its nodes contain the name. */
vt_status vt_parse_named_expr(vt_parser *p, const char *name, uint32_t dtype,
                              vt_operand *out) VT_NODISCARD;

/* parse_states.c: read the rest of a state statement, of a next statement. */
vt_status vt_parse_state(vt_parser *p) VT_NODISCARD;
vt_status vt_parse_next(vt_parser *p) VT_NODISCARD;
/* Sets the next value of a state; both are values of the model. */
vt_status vt_parse_set_next(vt_parser *p, const vt_token *at, uint32_t state,
                            uint32_t next) VT_NODISCARD;
/* Makes the state with this full name its own next value: runs leave it unchanged. */
vt_status vt_parse_keep_state(vt_parser *p, const vt_token *at, const char *full) VT_NODISCARD;
/* Fails where a state is declared if it has no next value. */
vt_status vt_parse_check_next_values(vt_parser *p) VT_NODISCARD;
int vt_parse_has_state(const vt_parser *p); /* 1 if the model has declared a state */

/* parse_expr.c */
vt_status vt_parse_expr(vt_parser *p, vt_operand *out) VT_NODISCARD;
/* Reads an expression and makes it a value: a single literal becomes a node of type `dtype`, or of
 * its default type if `dtype` is 0. */
vt_status vt_parse_value(vt_parser *p, uint32_t dtype, vt_operand *out) VT_NODISCARD;

/* layer.c: reads a layer call `kind name(...)`; the current token is the kind. */
vt_status vt_parse_layer(vt_parser *p, uint32_t *out) VT_NODISCARD;
/* 1 if there is a layer `kind` and it has an argument `arg`. */
int vt_layer_has_arg(const char *kind, const char *arg);
int vt_layer_exists(const char *kind);

/* parse.c: adds a parameter or a state under its full name, and chooses its random stream. */
vt_status vt_parse_add_param(vt_parser *p, const vt_token *at, const char *name,
                             const vt_param_spec *spec, uint32_t *out) VT_NODISCARD;
#endif
