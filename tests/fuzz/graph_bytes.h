/* SPDX-License-Identifier: Apache-2.0
 * graph_bytes.h - the encoding of graphs as short byte strings, for fuzz_graph. Any bytes decode to
 * a graph, and a changed byte makes a small change of the graph. Ops, words, element types and
 * initialisers are encoded by their numbers, so new rows in their tables do not change the meaning
 * of stored bytes. The layout; each item is one byte unless said otherwise:
 *
 *   head       number of symbols, then the value of each. Bit 7 of the first byte: also check
 *              gradients of gradients
 *   ports      number of ports; for each: element type (bit 7: it is a param), rank, dimensions as
 *              numbers; then, for an input of integers, lo and hi as numbers, or for a param its
 *              initialiser and attributes
 *   nodes      until the bytes end: page and number of the op (1000 * page + number), number of
 *              operands above the op's minimum, each operand counted back from the newest value,
 *              attributes; then for each body its number of nodes, the nodes, its number of
 *              results, and the results encoded like operands
 *   attribute  an optional one starts with a byte; if it is odd, the default is used and no value
 *              follows
 *   number     the low four bits are the value, the high four bits its form (enum graph_form)
 */
#ifndef VT_GRAPH_BYTES_H
#define VT_GRAPH_BYTES_H
#include "vt_graph.h"

/* Forms of a number; every other form is the value itself. */
enum graph_form {
  GRAPH_NEGATIVE = 10, /* -value */
  GRAPH_WIDE = 11,     /* value * 256 + the next byte */
  GRAPH_SYMBOLIC = 12, /* the dimension with symbols that graph_symbolic_dim makes of the value */
  GRAPH_EXTREME = 13,  /* an entry of a table of extreme numbers */
  GRAPH_RAW = 14       /* the next eight bytes, little-endian */
};

/* Limits of a decoded graph, which keep its run short. */
enum {
  GRAPH_SYMBOLS = 2,
  GRAPH_PORTS = 12,
  GRAPH_NODES = 48,
  GRAPH_BODY_NODES = 15,
  GRAPH_BODY_RESULTS = 4,
  GRAPH_OPERANDS = 12,   /* the most operands of a node */
  GRAPH_DEPTH = 2,       /* the most levels of nested bodies */
  GRAPH_ELEMENTS = 2048, /* the most elements of a value */
  GRAPH_TRIPS = 8,       /* the most iterations of a loop */
  GRAPH_RESULTS = 6,
  GRAPH_REALS = 15,  /* number of entries of the table graph_real */
  GRAPH_TWICE = 0x80 /* bit of the first byte: check gradients of gradients */
};

extern const char *const graph_symbol[GRAPH_SYMBOLS];
extern const double graph_real[GRAPH_REALS];

typedef struct graph_decoded {
  vt_graph *g; /* NULL if the bytes have no node */
  int twice;   /* 1: check gradients of gradients */
  uint32_t n_bind;
  vt_binding bind[GRAPH_SYMBOLS];
} graph_decoded;

/* Aborts if the builder or the verifier refuses a node that the op table accepts. */
graph_decoded graph_decode(const uint8_t *data, size_t size);
/* Returns the symbolic dimension number `which` (0..15), made of the symbols declared in `dims`. */
int64_t graph_symbolic_dim(vt_dims *dims, uint32_t which);

/* Returns the gradient graph of a bound graph. Its inputs are those of g and dy.NAME for every
 * float output; its outputs are dx.NAME for every input that a gradient reaches. Returns NULL if
 * there is no such input or a limit is exceeded. Aborts if the nodes that a gradient rule writes
 * are refused. */
vt_graph *graph_reverse(const vt_graph *g);
#endif
