/* SPDX-License-Identifier: Apache-2.0
 * bench_graphs.h - graphs of a given number of nodes, in four forms. */
#ifndef BENCH_GRAPHS_H
#define BENCH_GRAPHS_H
#include "vt_graph.h"

typedef struct bench_form {
  const char *name, *about;
  void (*grow)(vt_graph_builder *gb, uint32_t nodes);
} bench_form;

/* Ends with a row whose name is NULL. */
extern const bench_form bench_forms[];

/* NULL when memory is out. The number of nodes is met within a dozen. */
vt_graph *bench_graph_new(const bench_form *f, uint32_t nodes);

#endif
