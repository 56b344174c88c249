/* SPDX-License-Identifier: Apache-2.0
 * shared.h - the fields of shared buffers, for the executions that use them. Private to the
 * gateway. */
#ifndef VT_SHARED_H
#define VT_SHARED_H
#include <string.h>
#include "registry.h"

struct vt_shared_buffer {
  vt_alloc a;
  vt_device *home; /* holds the buffer; closed with it */
  uint64_t bytes, handle;
  int writable;  /* 1: an arena of state; 0: of parameters */
  int allocated; /* 1: the handle is valid */
  int shared;    /* 1: vt_shared_buffer_share has been called */
};
/* Tells a device that programs which are built on it from now on use the buffer. */
vt_status vt_shared_buffer_attach(const vt_shared_buffer *s, vt_device *dev,
                                  vt_diag *d) VT_NODISCARD;
/* VT_INTERNAL unless the buffer can be an arena of `bytes` bytes of a program on the device. */
vt_status vt_shared_buffer_check(const vt_shared_buffer *s, const vt_device *dev, int writable,
                                 uint64_t bytes, vt_diag *d) VT_NODISCARD;
#endif
