/* SPDX-License-Identifier: Apache-2.0
 * shared.h - the fields of shared parameters, for the executions that read them. Private to the
 * gateway. */
#ifndef VT_SHARED_H
#define VT_SHARED_H
#include <string.h>
#include "registry.h"

struct vt_shared_params {
  vt_alloc a;
  vt_device *home; /* holds the buffer; closed with it */
  uint64_t bytes, handle;
  int allocated, sealed;
};
/* Tells a device that programs which are built on it from now on read the parameters. */
vt_status vt_shared_params_attach(const vt_shared_params *s, vt_device *dev,
                                  vt_diag *d) VT_NODISCARD;
#endif
