/* SPDX-License-Identifier: Apache-2.0
 * vt_launches.h - turns a list of steps into launches, for backends that run a group of steps as
 * one. A launch is one step that a handler of the backend runs (the anchor), or a chain of
 * pointwise steps, or both: then the chain is the epilogue of the anchor. Launches are built once
 * and run many times. Handlers and chains belong to the backend.
 *
 *     steps      matmul  add  relu | exp | loop { mul add }
 *     launches   [anchor + chain   ] [chain] [anchor, bodies -> [chain]] */
#ifndef VT_LAUNCHES_H
#define VT_LAUNCHES_H
#include "vt_steps.h"

/* ---- arenas that steps use ---- */

typedef struct vt_arenas {
  uint32_t n;
  uint8_t writes[VT_STEPS_ARENAS]; /* 1 for an arena that a step writes to */
  uint64_t ends[VT_STEPS_ARENAS];  /* how many bytes of each arena the steps need */
} vt_arenas;
/* Records in `a` the arenas that these steps and the steps of their bodies use. VT_UNSUPPORTED if
 * an arena's number is not below VT_STEPS_ARENAS. */
int32_t vt_arenas_include(vt_arenas *a, const vt_bk_step *steps, uint64_t n) VT_NODISCARD;

/* ---- launches ---- */

/* Two types that each backend defines for itself, as it does vt_bk_device: the row of its handler
 * table that runs an op, and the kernel that runs an anchor together with its epilogue. */
typedef struct vt_launch_handler vt_launch_handler;
typedef struct vt_launch_epilogue vt_launch_epilogue;

typedef struct vt_launch vt_launch;
typedef struct vt_launches {
  vt_launch *launches;
  uint64_t n, cap; /* number of launches, and capacity of the array */
} vt_launches;
struct vt_launch {
  /* the anchor, a step that a handler runs; NULL if there is only a chain */
  const vt_bk_step *anchor;
  void *chain; /* the chain of pointwise steps, built by the backend; NULL if there is only the
                  anchor */
  const vt_launch_handler *handler; /* handler of the anchor; NULL if the backend sets none */
  vt_launch_epilogue *epilogue;     /* kernel of anchor and chain; NULL if the backend sets none */
  void *kept; /* memory that the backend keeps for the anchor from one run to the next, or NULL */
  vt_view *views; /* views of the anchor: its operands, its results, then the arguments and results
                     of its bodies */
  uint64_t n_views;
  vt_launches *bodies; /* one list per body of the anchor */
  uint64_t first, n; /* the launch does the steps first .. first+n-1; a step comes before the steps
                        of its bodies */
  uint64_t number;   /* number of the anchor's step */
  uint32_t leaves;   /* bit i is set if the host reads result i of the anchor */
};

/* The functions of a backend that are called while launches are built and freed. */
typedef struct vt_launch_callbacks {
  const vt_bk_host *host;
  void *user;                    /* first argument of the functions below */
  int (*pointwise)(uint32_t op); /* whether the op may be part of a chain */
  /* Builds a chain of n steps, all of whose results have the shape of the last result. No step
   * outside the chain reads a result of the chain but the last one. VT_UNSUPPORTED if the steps
   * cannot run as one launch; for a single step that is a failure. */
  int32_t (*chain_new)(void *user, const vt_bk_step *const *steps, uint32_t n, void **out);
  void (*chain_free)(void *user, void *chain);
  /* Prepares at->anchor with at->views, whose data is not set yet; may set handler, epilogue and
   * kept. */
  int32_t (*anchor_new)(void *user, vt_launch *at);
  void (*anchor_free)(void *user, vt_launch *at);
} vt_launch_callbacks;

/* Builds the launches of `steps`, which the backend's step_check has accepted; they are not checked
 * again. After a failure `out` must still be passed to vt_launches_done. */
int32_t vt_launches_init(const vt_launch_callbacks *how, const vt_bk_step *steps, uint64_t n,
                         vt_launches *out) VT_NODISCARD;
void vt_launches_done(const vt_launch_callbacks *how, vt_launches *l);

/* Finds the last launch that writes to the place (arena and offset) of `result`; earlier launches
 * may have stored other values there. *out_which is the index of the anchor's result, or
 * VT_LAUNCH_CHAIN. Returns NULL if no launch writes `result`, or an anchor writes it with gaps.
 * `chain_result` returns the tensor that a chain writes. */
enum { VT_LAUNCH_CHAIN = 64 };
vt_launch *vt_launches_find_writer(const vt_launches *l, const vt_bk_tensor *result,
                                   const vt_bk_tensor *(*chain_result)(const void *chain),
                                   uint32_t *out_which);
int64_t vt_tensor_count(const vt_bk_tensor *t); /* the number of elements of a tensor */

/* ---- running ---- */

/* The argument and result tensors of a body, with addresses. */
typedef struct vt_launch_body {
  const vt_view *in, *out;
  uint32_t n_in, n_out;
} vt_launch_body;
/* Sets the addresses of the anchor's views; base[i] is the address of arena i. body[k] gets the
 * tensors of body k of the anchor. */
void vt_launch_place_views(const vt_launch *at, char *const *base,
                           vt_launch_body body[VT_MAX_BODIES]);
/* Reports the steps of a finished launch to the host's `progress` callback. */
void vt_launch_report_progress(const vt_launch *at, const vt_bk_host *host);
#endif
