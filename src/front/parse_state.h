/* SPDX-License-Identifier: Apache-2.0
 * parse_state.h - what the files of the parser share: the state of one parse, names in scope, and
 * the pieces of the grammar that call each other. Nothing outside src/front includes it.
 *
 * A parse is one walk over the text that builds the graph as it goes. There is no tree in between:
 * a repeat goes back to its opening brace, so memory follows the graph and not the text. */
#ifndef VT_PARSE_STATE_H
#define VT_PARSE_STATE_H
#include "lex.h"
#include "vt_graph.h"

enum {
  VT_TEXT_MAX = 64 * 1024 * 1024, /* bytes of text, every repeat written out */
  VT_NESTING_MAX = 200,           /* brackets, calls, signs and repeats inside each other */
  VT_EXPANSION_MAX = 1000000,     /* nodes, names and iterations of repeats */
  VT_LOOKUPS_MAX = 10000000,      /* names looked for, once for every scope tried */
  VT_OPERANDS_MAX = 4096,         /* of one call */
  VT_OUTPUTS_MAX = 10000,
  VT_POLYS_MAX = 10000, /* different dimensions made of symbols */
  VT_ATTRS_MAX = 512,   /* bytes of any attribute struct */
};
/* The largest number in a dimension expression, constants and coefficients alike: no sum of two
 * of them comes near the numbers that are handles of vt_dim.h. */
#define VT_WHOLE_MAX ((int64_t)1 << 60)

/* ---- names ---- */

typedef enum vt_entry_kind {
  VT_ENTRY_SYMBOL,   /* dim B */
  VT_ENTRY_CONSTANT, /* dim V = 96 */
  VT_ENTRY_PORT,     /* an input or a parameter: never rebound */
  VT_ENTRY_VALUE,    /* assigned */
} vt_entry_kind;

typedef struct vt_entry {
  const char *name;
  vt_entry_kind kind;
  uint32_t line;  /* where it was declared or last assigned */
  uint32_t value; /* PORT, VALUE */
  uint32_t times; /* how many values were called so */
  int64_t dim;    /* SYMBOL, CONSTANT */
} vt_entry;

/* A hash table over strings; entries keep the order in which they came. */
typedef struct vt_names {
  vt_arena *arena;
  vt_entry *entry;
  uint32_t n, cap;
  uint32_t *slot; /* index + 1 into `entry`; 0 = free */
  uint32_t n_slots;
} vt_names;

/* One repeat around the place; `n` bytes of the parser's prefix are its scope, "h.0.". */
typedef struct vt_scope {
  const struct vt_scope *up;
  size_t n;
} vt_scope;

vt_entry *vt_names_find(const vt_names *t, const char *name); /* NULL: not there */
/* A new entry for a name that is not there; NULL: out of memory. Moves the others. */
vt_entry *vt_names_add(vt_names *t, const char *name);

/* The best of the candidates offered, for "did you mean". */
typedef struct vt_suggestion {
  const char *wanted, *best;
  unsigned cost;
} vt_suggestion;
void vt_suggestion_try(vt_suggestion *s, const char *candidate);

/* A body being read. What it uses from outside becomes an argument of its own, in order of first
 * use, and an operand of the op it belongs to. */
typedef struct vt_frame {
  struct vt_frame *up;
  vt_graph_builder *gb, *outer_gb;
  vt_names names, *outer_names;
  uint32_t *captured; /* values outside */
  uint32_t n_captured, cap_captured;
} vt_frame;

/* ---- the parser ---- */

/* An expression on its way. A literal has no type until it meets the operand beside it. */
typedef struct vt_operand {
  vt_token at;    /* the literal, or where the expression starts */
  uint32_t value; /* VT_NO_VALUE: a literal */
  uint32_t negative, is_name;
} vt_operand;

/* An initialiser as written. `info` NULL: none was. */
typedef struct vt_init_spec {
  const vt_init_info *info;
  const void *attrs; /* a struct of its group */
} vt_init_spec;

typedef struct vt_parser {
  vt_lexer lex;
  vt_token tok, next;         /* the one to be read now, and the one after */
  vt_graph_builder root, *gb; /* the model's, and the one written now: a body's inside a body */
  vt_arena arena;
  vt_names *names; /* what is called how, where the parser is */
  vt_names root_names, streams, results;
  struct vt_frame *frame; /* the body being read; NULL: none */
  uint32_t targets;       /* names to the left of the call to be read */
  vt_operand *stack;      /* operands of the calls being read, innermost on top */
  uint32_t n_stack, cap_stack;
  const vt_scope *scope;
  char prefix[VT_NAME_MAX + 1];
  void *attrs; /* VT_ATTRS_MAX bytes of the arena, for the attributes being read or changed */
  uint32_t depth;
  uint64_t lookups, iterations, rewound; /* names looked for; of repeats; bytes read again */
  uint64_t closed;                       /* nodes and names of bodies that are finished */
  int begun;                             /* the graph was */
  vt_diag diag;
} vt_parser;

/* ---- failing (scope.c) ---- */

/* Stamps a failure that has no place yet; returns `s`. */
vt_status vt_parse_at(vt_parser *p, const vt_token *at, vt_status s);
#define VT_FAIL_AT(p, at, s, ...) vt_parse_at((p), (at), VT_FAIL(&(p)->diag, (s), __VA_ARGS__))
/* Adds a hint to the failure on record unless it has one. */
void vt_parse_hint(vt_parser *p, const char *fmt, ...) VT_PRINTF(2, 3);
void vt_parse_suggest(vt_parser *p, const vt_suggestion *s);
vt_status vt_parse_nomem(vt_parser *p);
/* Nodes, names and iterations so far, and the failure when they are too many. */
uint64_t vt_parse_size(const vt_parser *p);
vt_status vt_parse_too_large(vt_parser *p, const vt_token *at);
vt_status vt_parse_bounded(vt_parser *p, const vt_token *at);
/* The status of the builder, with the place stamped, then of the bounds. */
vt_status vt_parse_built(vt_parser *p, const vt_token *at);

/* ---- tokens (scope.c) ---- */
vt_status vt_parse_advance(vt_parser *p) VT_NODISCARD;
/* Reads a token of this kind; `what` completes "expected ..., found ...". */
vt_status vt_parse_expect(vt_parser *p, uint32_t kind, const char *what) VT_NODISCARD;
/* Reads a comma and goes on (1), or stops at a `close` mark, which it reads too (0). `from` is
 * where the list was opened. */
vt_status vt_parse_more(vt_parser *p, const vt_token *from, uint32_t close, const char *what,
                        int *out_more) VT_NODISCARD;
/* Counts a nesting: enter may fail, leave cannot. */
vt_status vt_parse_enter(vt_parser *p) VT_NODISCARD;
void vt_parse_leave(vt_parser *p);
void vt_parse_text(const vt_token *t, char out[VT_NAME_MAX + 1]); /* a name as a string */

/* ---- scopes (scope.c) ---- */
/* What a name means here: bodies from the innermost outwards, then the model. */
vt_entry *vt_scope_find(vt_parser *p, const char *name);
/* In the model: scopes of repeats from the innermost outwards, then the name itself. */
vt_entry *vt_scope_find_root(vt_parser *p, const char *name);
/* The failure for a name that means nothing. */
vt_status vt_scope_unknown(vt_parser *p, const vt_token *at, const char *name);
/* "h.0." + name + part, which must fit into a name. */
vt_status vt_scope_join(vt_parser *p, const vt_token *at, const char *name, const char *part,
                        char out[VT_NAME_MAX + 1]) VT_NODISCARD;
/* 0 for words that cannot be names: types, true, false, and _12, which stands for an unnamed
 * value. */
int vt_scope_may_name(const char *name);
int vt_scope_is_unnamed(const char *name); /* _12 */
/* A new entry, or the failure that names the line of the old one. */
vt_status vt_scope_declare(vt_parser *p, const vt_token *at, const char *name,
                           vt_entry **out) VT_NODISCARD;

/* ---- pieces of the grammar ---- */

/* parse_attr.c */
vt_status vt_parse_dim(vt_parser *p, int64_t *out) VT_NODISCARD;
vt_status vt_parse_whole(vt_parser *p, int64_t *out) VT_NODISCARD; /* a dim that is constant */
vt_status vt_parse_real(vt_parser *p, double *out) VT_NODISCARD;
vt_status vt_parse_flag(vt_parser *p, int64_t *out) VT_NODISCARD;
/* Whole numbers in brackets, or a single one. */
vt_status vt_parse_ints(vt_parser *p, vt_attr_list *out) VT_NODISCARD;
vt_status vt_parse_type(vt_parser *p, vt_type *out) VT_NODISCARD;
vt_status vt_parse_init(vt_parser *p, vt_init_spec *out) VT_NODISCARD;
/* "name=value, ... )" into p->attrs; the closing mark is read. `of` names what the attributes
 * belong to, `first` is the type of operand 0 (NULL: none). */
vt_status vt_parse_attrs(vt_parser *p, const vt_attr_group *g, const vt_token *of,
                         const vt_type *first) VT_NODISCARD;
/* p->attrs as a copy of `attrs`, a struct of the group. */
vt_status vt_parse_load(vt_parser *p, const vt_attr_group *g, const void *attrs) VT_NODISCARD;

/* parse_literal.c: a literal node of this type from a number, true or false. */
vt_status vt_parse_literal(vt_parser *p, const vt_operand *o, uint32_t dtype,
                           uint32_t *out) VT_NODISCARD;
int vt_literal_is_bool(const vt_token *t);
int vt_literal_starts(const vt_token *t); /* a number, true or false */

/* parse_region.c: the bodies of a call whose operands and attributes are read; operands that they
 * take from outside are added to *in. */
vt_status vt_parse_bodies(vt_parser *p, const vt_op_info *op, const vt_token *of, void *attrs,
                          uint32_t **in, uint32_t *n) VT_NODISCARD;
/* The value that a name means here; one from outside a body is taken into it. */
vt_status vt_parse_value_of(vt_parser *p, const vt_token *at, const char *name,
                            uint32_t *out) VT_NODISCARD;

/* parse.c: statements up to the closing brace, which is left to be read. */
vt_status vt_parse_block(vt_parser *p) VT_NODISCARD;
vt_status vt_parse_skip_lines(vt_parser *p) VT_NODISCARD;
vt_status vt_parse_name(vt_parser *p, const char *what, vt_token *at,
                        char out[VT_NAME_MAX + 1]) VT_NODISCARD;

/* parse_expr.c */
vt_status vt_parse_expr(vt_parser *p, vt_operand *out) VT_NODISCARD;
/* The same with a value at the end; a literal alone becomes `dtype` (0: its own default). */
vt_status vt_parse_value(vt_parser *p, uint32_t dtype, vt_operand *out) VT_NODISCARD;

/* layer.c: a call `kind name(...)`, both names still to be read. */
vt_status vt_parse_layer(vt_parser *p, uint32_t *out) VT_NODISCARD;
/* 1 when there is a layer `kind` that takes an argument `arg`. */
int vt_layer_takes(const char *kind, const char *arg);
int vt_layer_exists(const char *kind);

/* parse.c: a parameter under its full name, with its stream settled. */
vt_status vt_parse_param(vt_parser *p, const vt_token *at, const char *name, const vt_type *type,
                         const vt_init_spec *init, uint32_t *out) VT_NODISCARD;
#endif
