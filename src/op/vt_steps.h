/* SPDX-License-Identifier: Apache-2.0
 * vt_steps.h - lists of steps run by the kernels of the op table, one after the other, in the
 * calling thread. What backends over these kernels share: they own devices and memory, and hand
 * over addresses. */
#ifndef VT_STEPS_H
#define VT_STEPS_H
#include "volta/volta_backend.h"
#include "vt_op.h"

/* What is taken. Without any: prims over strided tensors. */
enum {
  VT_STEPS_WHOLE = 1, /* compositions too, by their own kernels */
  VT_STEPS_DENSE = 2, /* dense tensors alone, row-major */
};
enum { VT_STEPS_ARENAS = 16 }; /* at most */
/* What these kernels keep, and so a device over them may declare. */
#define VT_STEPS_HAS                                                          \
  (VT_BK_FLOAT64 | VT_BK_INT8_EXACT | VT_BK_ATOMIC_OPS | VT_BK_ROUNDED_MATH | \
   VT_BK_DETERMINISTIC_REDUCTIONS | VT_BK_SUBNORMALS | VT_BK_REGIONS)

/* A tensor of a step as kernels see it, its data not placed yet. */
vt_view vt_step_view(const vt_bk_tensor *t);
/* 1 when a step has the bodies, results and attributes of its op. */
int vt_step_is_whole(const vt_bk_step *step);

int32_t vt_steps_listed(uint32_t op, uint32_t kind);
/* VT_OK or VT_UNSUPPORTED; bodies are checked through their own steps. */
int32_t vt_steps_check(const vt_bk_step *step, uint32_t kind);
uint64_t vt_steps_workspace(const vt_bk_step *step, uint32_t kind);

typedef struct vt_bound_step vt_bound_step;
typedef struct vt_steps {
  const vt_bk_host *host;
  uint64_t n_steps, n_views, room_steps, room_views; /* bodies included */
  vt_bound_step *steps;
  vt_view *views; /* data is filled in by each run */
  uint32_t n_arenas;
  vt_bk_error error; /* the first of the last run */
} vt_steps;

/* The caller keeps `steps` alive for as long as `out` lives. On failure `out` is as before. */
int32_t vt_steps_init(const vt_bk_host *host, const vt_bk_step *steps, uint64_t n, uint32_t kind,
                      vt_steps *out) VT_NODISCARD;
void vt_steps_done(vt_steps *p);
/* `base` holds the addresses of at least n_arenas arenas. A failure is left in `error`. */
void vt_steps_run(vt_steps *p, char *const *base);
/* `error`, up to the size the caller knows. */
void vt_steps_error(const vt_steps *p, vt_bk_error *out);
#endif
