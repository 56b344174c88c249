/* SPDX-License-Identifier: Apache-2.0
 * cpu_move.h - copies between strided places, for the handlers that move elements: a path is found
 * once and gone any number of times. */
#ifndef VT_CPU_MOVE_H
#define VT_CPU_MOVE_H
#include "cpu_backend.h"

/* How the elements of one shape lie in two places. Axes of length 1 are left out, axes that lie one
 * behind the other in both places are one, those that are far apart in `to` come first. The last
 * two are a plane for a kernel; strides are bytes. */
typedef struct vt_cpu_path {
  uint32_t outer; /* axes besides the plane */
  int64_t dim[VT_MAX_RANK], to[VT_MAX_RANK], from[VT_MAX_RANK];
  vt_cpu_plane plane;    /* from the first element of either place: `to` and `from` are not set */
  vt_cpu_plane_fn *copy; /* NULL: columns lie side by side in both places */
  int64_t size;          /* of an element, which may be several small ones side by side */
  int64_t count;         /* elements; 0: there is nothing to do */
  double cost;           /* nanoseconds for each, about */
} vt_cpu_path;

/* `from` has the shape of `to`; its strides may be 0 or less than 0. `data` is not looked at. */
vt_cpu_path vt_cpu_path_of(const vt_cpu_kernels *k, const vt_view *to, const vt_view *from);
/* All of it, by this thread. */
void vt_cpu_path_go(const vt_cpu_path *p, char *to, const char *from);
/* All of it, by the team where that pays. */
void vt_cpu_path_share(const vt_cpu_team *t, const vt_cpu_path *p, char *to, const char *from);

/* Views of views. */
vt_view vt_cpu_part(const vt_view *v, uint32_t axis, int64_t first, int64_t n);
/* The axes first .. first + n - 1 alone, at the start of all others. */
vt_view vt_cpu_axes(const vt_view *v, uint32_t first, uint32_t n);
/* One element in the place of all those of a shape. */
vt_view vt_cpu_everywhere(const vt_view *shape, const void *element);
int vt_cpu_is_dense(const vt_view *v);
/* The same elements in another shape; they must be dense. */
vt_view vt_cpu_reshaped(const vt_view *v, uint32_t rank, const int64_t *dim);
#endif
