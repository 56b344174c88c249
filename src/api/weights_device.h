/* SPDX-License-Identifier: Apache-2.0
 * weights_device.h - the elements of weights where programs read them: one copy for each device and
 * layout of parameters, which all programs with this layout on this device share, or the program's
 * own arena if the backend cannot share. Private to the api. */
#ifndef VT_WEIGHTS_DEVICE_H
#define VT_WEIGHTS_DEVICE_H
#include "vt_gate.h"
#include "weights.h"

typedef struct vt_device_weights vt_device_weights;

/* The program that weights are loaded for. */
typedef struct vt_weights_load {
  vt_weights *weights;
  const vt_device *dev;
  const vt_device_options *opening; /* the options that `dev` was opened with */
  const char *backend;              /* the name that `dev` was opened by */
  const vt_plan *plan;              /* the plan whose parameters they are */
} vt_weights_load;

/* Returns the copy for this device and plan, which is loaded now unless it exists; the caller drops
 * it with vt_device_weights_release, after its execution. *out is NULL if the backend cannot share:
 * then vt_weights_fill loads the parameters into the execution. */
vt_status vt_device_weights_get(const vt_weights_load *l, vt_device_weights **out,
                                vt_diag *d) VT_NODISCARD;
void vt_device_weights_release(vt_weights *w, vt_device_weights *c);
/* The arena of parameters for vt_exec_new_shared; NULL if `c` is NULL. */
const vt_shared_buffer *vt_device_weights_arena(const vt_device_weights *c);
/* Loads the tensor `name` as elements of type and shape `want` into a buffer, from byte `offset`
 * on. Returns VT_NAME and sets no message if the weights have no tensor of this name. */
vt_status vt_weights_load_tensor(const vt_weights *w, const char *name, const vt_type *want,
                                 const vt_dims *dims, vt_shared_buffer *to, uint64_t offset,
                                 vt_diag *d) VT_NODISCARD;

/* Loads into the execution every parameter that is not in `c`, which may be NULL: those that stay
 * in host memory, and all of them without a copy. */
vt_status vt_weights_fill(const vt_weights_load *l, const vt_device_weights *c, vt_exec *x,
                          vt_diag *d) VT_NODISCARD;
/* VT_TENSOR if a parameter of the plan has another shape in the weights. */
vt_status vt_weights_check_shapes(const vt_weights *w, const vt_plan *p, vt_diag *d) VT_NODISCARD;
#endif
