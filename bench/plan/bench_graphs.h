/* SPDX-License-Identifier: Apache-2.0
 * bench_graphs.h - makes graphs of a given size in five forms, to measure passes and planning. */
#ifndef BENCH_GRAPHS_H
#define BENCH_GRAPHS_H
#include "vt_graph.h"

typedef struct bench_form {
  const char *name, *about; /* name of the form, and what its graphs look like */
  /* Adds a graph of about `nodes` nodes with its inputs and results. */
  void (*grow)(vt_graph_builder *gb, uint32_t nodes);
} bench_form;

/* The forms; the last row has the name NULL. */
extern const bench_form bench_forms[];

/* A graph with at most a dozen nodes fewer than `nodes`; NULL when memory is out. */
vt_graph *bench_graph_new(const bench_form *f, uint32_t nodes);

#endif
