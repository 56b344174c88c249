/* SPDX-License-Identifier: Apache-2.0
 * weights.h - the fields of a vt_weights: the list of its tensors, and the copies of them on
 * devices. Private to the api. */
#ifndef VT_WEIGHTS_H
#define VT_WEIGHTS_H
#include <pthread.h>
#include <stdatomic.h>
#include "vt_weight_files.h"

struct vt_device_weights;

struct vt_weights {
  vt_alloc a;
  atomic_uint references;
  uint32_t ignore_extra, convert; /* as in vt_weights_options */
  vt_weight_list list;            /* never changes after creation */
  pthread_mutex_t lock;           /* protects `copies` */
  struct vt_device_weights *copies;
};

/* 1 if tensors of type `have` may fill a parameter of type `want`. `stored` is the type that the
 * parameter declares for weight files, or 0. Without it or vt_weights_options.convert, nothing is
 * converted. */
int vt_weight_fills(const vt_weights *w, uint32_t stored, uint32_t have, uint32_t want);

/* Makes weights of the tensors in bytes begin..end of an open source, a safetensors file that
 * messages call `path`. They convert, because whoever wrote a bundle has checked that. */
vt_status vt_weights_open_range(const vt_source *src, const char *path, uint64_t begin,
                                uint64_t end, vt_alloc a, vt_weights **out,
                                vt_diag *d) VT_NODISCARD;

/* Empties a diag at the start of a public function, so that one with an earlier failure, which the
 * first failure of this call could not replace, does no harm. `d` may be NULL. */
void vt_diag_clear(vt_diag *d);
#endif
