/* SPDX-License-Identifier: Apache-2.0
 * identities.h - the rows of identities.def. Private to src/pass. */
#ifndef VT_IDENTITIES_H
#define VT_IDENTITIES_H
#include "rewrite.h"

/* A node of one result that is about to be written. */
typedef struct vt_spot {
  vt_graph_builder *gb;
  uint32_t op, n_in;
  const uint32_t *in;
  const void *attrs;
  vt_type type; /* of its result */
} vt_spot;

typedef struct vt_identity {
  const char *name;
  /* The value that stands for the node; VT_NO_VALUE where the identity does not apply. */
  uint32_t (*apply)(const vt_spot *s);
  const char *why;
} vt_identity;

uint32_t vt_identity_total(void);
const vt_identity *vt_identity_at(uint32_t i);
/* The node, or what an identity says stands for it. */
uint32_t vt_spot_write(const vt_spot *s);
#endif
