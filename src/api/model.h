/* SPDX-License-Identifier: Apache-2.0
 * model.h - the fields of a loaded model: its graph, and texts about it that are made once when it
 * is loaded. Private to the api. */
#ifndef VT_MODEL_H
#define VT_MODEL_H
#include "vt_graph.h"

struct vt_model {
  vt_alloc a;          /* the caller's allocator */
  vt_arena arena;      /* owns the texts and the port infos */
  vt_graph *g;         /* the parsed graph; owned */
  const char *text;    /* the model in printed form */
  vt_hash256 hash;     /* content hash of the graph */
  uint32_t n_ports;    /* number of entries in `ports` */
  vt_port_info *ports; /* inputs and params in the order of declaration, then outputs */
};
#endif
