/* SPDX-License-Identifier: Apache-2.0
 * vt_steps.h - runs lists of steps by the reference kernels of the op table, one step after the
 * other in the calling thread. Backends that use these kernels share it: they own devices and
 * memory and pass addresses of arenas. */
#ifndef VT_STEPS_H
#define VT_STEPS_H
#include "volta/volta_backend.h"
#include "vt_op.h"

/* Which steps a backend accepts, as flags. Without a flag it accepts prims over strided tensors. */
enum {
  VT_STEPS_WHOLE = 1, /* it also accepts compositions, which have kernels of their own */
  VT_STEPS_DENSE = 2, /* it accepts only dense tensors (row-major, without gaps) */
};
enum { VT_STEPS_ARENAS = 16 }; /* the greatest number of arenas that a list of steps may use */
/* The capabilities that a device may declare if it runs these kernels. */
#define VT_STEPS_HAS                                                          \
  (VT_BK_FLOAT64 | VT_BK_INT8_EXACT | VT_BK_ATOMIC_OPS | VT_BK_ROUNDED_MATH | \
   VT_BK_DETERMINISTIC_REDUCTIONS | VT_BK_SUBNORMALS | VT_BK_REGIONS)

/* The view of a tensor of a step; its `data` is NULL until an arena has an address. */
vt_view vt_step_view(const vt_bk_tensor *t);
/* Whether a step is well formed: it has the number of bodies and results and the attribute size
 * that its op requires. */
int vt_step_is_well_formed(const vt_bk_step *step);

/* Whether a backend with the flags `kind` accepts the op at all: the op is a prim, or
 * VT_STEPS_WHOLE is set. */
int32_t vt_steps_accepts_op(uint32_t op, uint32_t kind);
/* VT_OK if the step can be run, otherwise VT_UNSUPPORTED. The steps of its bodies are not checked:
 * each is checked by a call of its own. */
int32_t vt_steps_check(const vt_bk_step *step, uint32_t kind);
/* How many bytes of scratch the kernel of the step needs. */
uint64_t vt_step_scratch_bytes(const vt_bk_step *step, uint32_t kind);

typedef struct vt_bound_step vt_bound_step;
typedef struct vt_steps {
  const vt_bk_host *host;
  uint64_t n_steps, n_views;     /* number of entries of `steps` and `views`, bodies included */
  uint64_t cap_steps, cap_views; /* their capacities */
  vt_bound_step *steps;
  vt_view *views; /* the tensors of all steps; each run sets their `data` */
  uint32_t n_arenas;
  vt_bk_error error; /* the first error of the last run, or the status VT_OK */
} vt_steps;

/* Binds the steps to kernels. The caller keeps `steps` alive as long as `out`. On failure `out` is
 * unchanged. */
int32_t vt_steps_init(const vt_bk_host *host, const vt_bk_step *steps, uint64_t n, uint32_t kind,
                      vt_steps *out) VT_NODISCARD;
void vt_steps_done(vt_steps *p);
/* Runs all steps; base[i] is the address of arena i, for at least n_arenas arenas. A failure is
 * stored in `error`. */
void vt_steps_run(vt_steps *p, char *const *base);
/* Copies `error` into *out, but at most out->size bytes: the struct of this version may be larger
 * than the one that the caller knows. */
void vt_steps_error(const vt_steps *p, vt_bk_error *out);
#endif
