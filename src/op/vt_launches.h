/* SPDX-License-Identifier: Apache-2.0
 * vt_launches.h - lists of steps as launches, for backends that run groups of steps as one: a
 * launch is one step with a handler of the backend's (the anchor), or a chain of pointwise steps,
 * or both, the chain then being the tail of the anchor. Made once, run many times. What handlers
 * and chains are belongs to the backend. */
#ifndef VT_LAUNCHES_H
#define VT_LAUNCHES_H
#include "vt_steps.h"

/* ---- what of the arenas is used ---- */

typedef struct vt_arenas {
  uint32_t n;
  uint8_t writes[VT_STEPS_ARENAS]; /* 1: a step writes there */
  uint64_t ends[VT_STEPS_ARENAS];  /* the bytes that the steps need of it */
} vt_arenas;
/* Adds what these steps use, those of bodies too. VT_UNSUPPORTED when they are too many. */
int32_t vt_arenas_note(vt_arenas *a, const vt_bk_step *steps, uint64_t n) VT_NODISCARD;

/* ---- launches ---- */

/* Each backend that binds these to an anchor defines them, as it does vt_bk_device: the row of its
 * table that runs the op, and the anchor together with the chain behind it. */
typedef struct vt_launch_handler vt_launch_handler;
typedef struct vt_launch_epilogue vt_launch_epilogue;

typedef struct vt_launch vt_launch;
typedef struct vt_launches {
  vt_launch *launches;
  uint64_t n, room;
} vt_launches;
struct vt_launch {
  const vt_bk_step *anchor;         /* NULL: a chain alone */
  void *chain;                      /* NULL: the anchor alone */
  const vt_launch_handler *handler; /* of the anchor; NULL: the backend binds none */
  vt_launch_epilogue *tail;         /* NULL: the backend makes none */
  void *kept;                       /* the anchor's memory that outlasts a run; NULL: none */
  vt_view *views; /* of the anchor: operands, results, then what its bodies take and give */
  uint64_t n_views;
  vt_launches *bodies;
  uint64_t first, n; /* steps, as they are counted: one, then those of its bodies */
  uint64_t number;   /* of the anchor */
  uint32_t leaves;   /* bit i: the host looks at result i of the anchor */
};

/* What a backend does while launches are made and freed. */
typedef struct vt_launching {
  const vt_bk_host *host;
  void *user; /* handed to the functions below */
  int (*pointwise)(uint32_t op);
  /* Of steps that all have the shape of the last one's result, none of which but the last is read
   * by others. VT_UNSUPPORTED when they cannot be run as one; of a single step that is a failure.
   */
  int32_t (*chain_new)(void *user, const vt_bk_step *const *steps, uint32_t n, void **out);
  void (*chain_free)(void *user, void *chain);
  /* Looks at at->anchor and at->views, whose data is not there yet; may set handler, tail and kept.
   */
  int32_t (*anchor_new)(void *user, vt_launch *at);
  void (*anchor_free)(void *user, vt_launch *at);
} vt_launching;

/* The steps are those that the backend's step_check has taken: they are not checked again. */
int32_t vt_launches_init(const vt_launching *how, const vt_bk_step *steps, uint64_t n,
                         vt_launches *out) VT_NODISCARD; /* on failure `out` can be done with */
void vt_launches_done(const vt_launching *how, vt_launches *l);

/* The launch whose anchor or chain is the last to write where the result lies, since other values
 * may have had the place before: the one that makes it. *out_which is the anchor's result, or
 * VT_LAUNCH_CHAIN. NULL when there is none, or the anchor's result has gaps. `chain_result` tells
 * the tensor that a chain writes. */
enum { VT_LAUNCH_CHAIN = 64 };
vt_launch *vt_launches_maker(const vt_launches *l, const vt_bk_tensor *result,
                             const vt_bk_tensor *(*chain_result)(const void *chain),
                             uint32_t *out_which);
int64_t vt_tensor_count(const vt_bk_tensor *t); /* elements */

/* ---- running ---- */

/* The tensors of a body, placed. */
typedef struct vt_launch_body {
  const vt_view *in, *out;
  uint32_t n_in, n_out;
} vt_launch_body;
/* The views of the anchor get their data from where the arenas are. */
void vt_launch_place(const vt_launch *at, char *const *base, vt_launch_body body[VT_MAX_BODIES]);
/* The host is told of the steps of a finished launch. */
void vt_launch_tell(const vt_launch *at, const vt_bk_host *host);
#endif
