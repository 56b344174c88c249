/* SPDX-License-Identifier: Apache-2.0
 * cpu_move.h - views of parts of tensors, walks along axes, and copies between strided tensors, for
 * the handlers that move elements. */
#ifndef VT_CPU_MOVE_H
#define VT_CPU_MOVE_H
#include <string.h>
#include "cpu_backend.h"

/* ---- views of views ---- */

/* The part of v at indices first .. first + n - 1 along one axis. */
vt_view vt_cpu_slice(const vt_view *v, uint32_t axis, int64_t first, int64_t n);
/* The part of v that has only the axes first .. first + n - 1, at index 0 of all others. */
vt_view vt_cpu_select_axes(const vt_view *v, uint32_t first, uint32_t n);
/* A view of `shape` in which every position is the same element. */
vt_view vt_cpu_repeat_element(const vt_view *shape, const void *element);
int vt_cpu_is_dense(const vt_view *v);
/* The same elements in another shape; v must be dense. */
vt_view vt_cpu_reshape_view(const vt_view *v, uint32_t rank, const int64_t *dim);

/* ---- walks ---- */

/* An odometer over the positions of a shape, in row-major order. at[k] is the offset of the current
 * position in a tensor with the strides stride[k]; the caller chooses the units. */
enum { VT_CPU_WALK_TENSORS = 3 };
typedef struct vt_cpu_walk {
  uint32_t rank;
  int64_t dim[VT_MAX_RANK], index[VT_MAX_RANK];
  int64_t stride[VT_CPU_WALK_TENSORS][VT_MAX_RANK], at[VT_CPU_WALK_TENSORS];
} vt_cpu_walk;
void vt_cpu_walk_add_axis(vt_cpu_walk *w, int64_t dim, int64_t stride_0, int64_t stride_1,
                          int64_t stride_2); /* appends an axis with these strides */
/* A walk over the positions of a view; at[0] is the offset in it, in elements. */
vt_cpu_walk vt_cpu_walk_of(const vt_view *v);
int64_t vt_cpu_walk_count(const vt_cpu_walk *w);
/* Moves the walk, which is at its start, to a position. */
void vt_cpu_walk_set(vt_cpu_walk *w, int64_t position);
/* Advances by `n` positions along the last axis, not past its end. */
void vt_cpu_walk_advance(vt_cpu_walk *w, int64_t n);
/* How many positions are left along the last axis, at most `most`. */
int64_t vt_cpu_walk_left_in_line(const vt_cpu_walk *w, int64_t most);

/* ---- lines and planes ---- */

/* The index of an element size in the tables of vt_cpu_moves; VT_CPU_SIZES - 1 at most. */
unsigned vt_cpu_size_index(int64_t size);
/* Copies n elements of 1, 2, 4 or 8 bytes between addresses with byte strides to_step and
 * from_step. Inline, because lines are often short. */
static inline void vt_cpu_copy_strided(char *to, int64_t to_step, const char *from,
                                       int64_t from_step, int64_t size, int64_t n) {
  switch (size) {
    case 1:
      for (int64_t i = 0; i < n; i++) to[i * to_step] = from[i * from_step];
      break;
    case 2:
      for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, 2);
      break;
    case 4:
      for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, 4);
      break;
    default:
      for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, 8);
      break;
  }
}
static inline void vt_cpu_copy_line(char *to, int64_t to_step, const char *from, int64_t from_step,
                                    int64_t size, int64_t n) {
  if (to_step == size && from_step == size) {
    memcpy(to, from, (size_t)(n * size));
  } else {
    vt_cpu_copy_strided(to, to_step, from, from_step, size, n);
  }
}

/* ---- paths: computed once per pair of layouts, used for any number of copies ---- */

/* The axes of a shape with its strides, in bytes, in two layouts. There is at least one axis; axes
 * of length 1 are dropped, axes that are contiguous in both layouts are joined, and axes are sorted
 * by falling stride in `to`. */
typedef struct vt_cpu_joint_axes {
  uint32_t n;
  int64_t dim[VT_MAX_RANK], to[VT_MAX_RANK], from[VT_MAX_RANK];
} vt_cpu_joint_axes;
/* The joint axes of two views. `from` has the shape of `to`; its strides may be 0 or negative.
 * `data` is not used. */
vt_cpu_joint_axes vt_cpu_joint_axes_of(const vt_view *to, const vt_view *from);

typedef struct vt_cpu_path {
  vt_cpu_joint_axes axes; /* the last two form a plane; the others are walked */
  vt_cpu_plane plane;     /* the first plane; its `to` and `from` are not set */
  /* Kernel for a plane; NULL if its columns are contiguous in both layouts. */
  vt_cpu_plane_fn *copy;
  int64_t size;  /* bytes of an element, which may be several small elements joined */
  int64_t count; /* number of elements; 0 if there is nothing to copy */
  double cost;   /* approximate nanoseconds per element */
} vt_cpu_path;
vt_cpu_path vt_cpu_path_of(const vt_cpu_kernels *k, const vt_view *to, const vt_view *from);
/* Copies all elements, on this thread. */
void vt_cpu_path_copy(const vt_cpu_path *p, char *to, const char *from);
#endif
