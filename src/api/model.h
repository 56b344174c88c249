/* SPDX-License-Identifier: Apache-2.0
 * model.h - what a loaded model holds; private to the api. */
#ifndef VT_MODEL_H
#define VT_MODEL_H
#include "vt_graph.h"

struct vt_model {
  vt_alloc a;
  vt_arena arena;
  vt_graph *g;
  const char *text;
  vt_hash256 hash;
  uint32_t n_ports;
  vt_port_info *ports; /* inputs and params as declared, then outputs */
};
#endif
