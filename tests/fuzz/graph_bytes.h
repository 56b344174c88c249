/* SPDX-License-Identifier: Apache-2.0
 * graph_bytes.h - graphs as short strings of bytes, for fuzz_graph. Any bytes are some graph, a
 * change of a byte is a small change of the graph, and rows added to the tables of ops, words,
 * element types and initialisers leave the meaning of older bytes alone: all are named by their
 * numbers. The layout, one byte each unless said otherwise:
 *
 *   head       number of symbols, then the value of each; bit 7 of the first: gradients of
 *              gradients are wanted too
 *   ports      their number; each: element type (bit 7: a param), rank, its dimensions as numbers,
 *              then for integers lo and hi as numbers, or initialiser and attributes
 *   nodes      until the bytes end: page and number of the op (1000 * page + number), operands
 *              beyond the fewest, each operand counted back from the newest value, attributes,
 *              then for each body: how many nodes, the nodes, how many results, the results as
 *              operands are
 *   attribute  an optional one starts with a byte, odd for the default, and is then left out
 *   number     low half the value, high half its form (enum graph_form) */
#ifndef VT_GRAPH_BYTES_H
#define VT_GRAPH_BYTES_H
#include "vt_graph.h"

enum graph_form {                      /* below: the value itself */
                  GRAPH_NEGATIVE = 10, /* -value */
                  GRAPH_WIDE = 11,     /* value * 256 + the next byte */
                  GRAPH_SYMBOLIC = 12, /* a dimension made of symbols; graph_poly says which */
                  GRAPH_EXTREME = 13,  /* one of a few as large as can be */
                  GRAPH_RAW = 14       /* the next eight bytes, little-endian */
};

enum {
  GRAPH_SYMBOLS = 2,
  GRAPH_PORTS = 12,
  GRAPH_NODES = 48,
  GRAPH_BODY_NODES = 15,
  GRAPH_BODY_RESULTS = 4,
  GRAPH_OPERANDS = 12,
  GRAPH_DEPTH = 2,
  GRAPH_ELEMENTS = 2048, /* of any value */
  GRAPH_TRIPS = 8,       /* of a loop */
  GRAPH_RESULTS = 6,
  GRAPH_REALS = 15,
  GRAPH_TWICE = 0x80 /* in the first byte */
};

extern const char *const graph_symbol[GRAPH_SYMBOLS];
extern const double graph_real[GRAPH_REALS];

typedef struct graph_decoded {
  vt_graph *g; /* NULL when the bytes give no node at all */
  int twice;
  uint32_t n_bind;
  vt_binding bind[GRAPH_SYMBOLS];
} graph_decoded;

/* Aborts when something the op table accepts is refused by the builder or the verifier. */
graph_decoded graph_decode(const uint8_t *data, size_t size);
/* Dimension `which` (0..15) made of the symbols declared in `dims`. */
int64_t graph_poly(vt_dims *dims, uint32_t which);

/* The gradient graph of a bound graph: it takes what that takes and dy.NAME for every float output
 * and gives dx.NAME for every input that a gradient reaches. NULL where none reaches any, or where
 * it is beyond a limit; aborts where a gradient rule is refused. */
vt_graph *graph_reverse(const vt_graph *g);
#endif
