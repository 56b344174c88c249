/* SPDX-License-Identifier: Apache-2.0
 * cpu_move.h - places: views of views, walks along axes, and copies between strided places, for the
 * handlers that move elements. */
#ifndef VT_CPU_MOVE_H
#define VT_CPU_MOVE_H
#include <string.h>
#include "cpu_backend.h"

/* ---- views of views ---- */

vt_view vt_cpu_part(const vt_view *v, uint32_t axis, int64_t first, int64_t n);
/* The axes first .. first + n - 1 alone, at the start of all others. */
vt_view vt_cpu_some_axes(const vt_view *v, uint32_t first, uint32_t n);
/* One element in the place of all those of a shape. */
vt_view vt_cpu_everywhere(const vt_view *shape, const void *element);
int vt_cpu_is_dense(const vt_view *v);
/* The same elements in another shape; they must be dense. */
vt_view vt_cpu_reshaped(const vt_view *v, uint32_t rank, const int64_t *dim);

/* ---- walks ---- */

/* An odometer in row-major order; at[k] follows something that has the strides stride[k]. */
enum { VT_CPU_FOLLOWED = 3 };
typedef struct vt_cpu_walk {
  uint32_t rank;
  int64_t dim[VT_MAX_RANK], index[VT_MAX_RANK];
  int64_t stride[VT_CPU_FOLLOWED][VT_MAX_RANK], at[VT_CPU_FOLLOWED];
} vt_cpu_walk;
void vt_cpu_walk_axis(vt_cpu_walk *w, int64_t dim, int64_t a, int64_t b, int64_t c); /* one more */
/* Along the axes of a view, which at[0] follows in elements. */
vt_cpu_walk vt_cpu_walk_of(const vt_view *v);
int64_t vt_cpu_walk_count(const vt_cpu_walk *w);
/* From the start to place n. */
void vt_cpu_walk_to(vt_cpu_walk *w, int64_t n);
/* `n` places on, along the last axis and not beyond its end. */
void vt_cpu_walk_on(vt_cpu_walk *w, int64_t n);
/* How many places are left along the last axis, or `most` if these are fewer. */
int64_t vt_cpu_walk_left(const vt_cpu_walk *w, int64_t most);

/* ---- lines and planes ---- */

/* Which of the sizes of vt_cpu_moves it is; VT_CPU_SIZES - 1 at most. */
unsigned vt_cpu_size_index(int64_t size);
/* n elements of 1, 2, 4 or 8 bytes, so many bytes apart in either place. Lines may be short, so it
 * is made where it is used. */
static inline void vt_cpu_copy_apart(char *to, int64_t to_step, const char *from, int64_t from_step,
                                     int64_t size, int64_t n) {
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
    vt_cpu_copy_apart(to, to_step, from, from_step, size, n);
  }
}

/* ---- paths: found once, gone any number of times ---- */

/* The axes of a shape as they lie in two places, strides in bytes: at least one, those of length 1
 * left out, those that lie one behind the other in both places joined, those that are far apart in
 * `to` first. */
typedef struct vt_cpu_lines {
  uint32_t n;
  int64_t dim[VT_MAX_RANK], to[VT_MAX_RANK], from[VT_MAX_RANK];
} vt_cpu_lines;
/* `from` has the shape of `to`; its strides may be 0 or less than 0. `data` is not looked at. */
vt_cpu_lines vt_cpu_lines_of(const vt_view *to, const vt_view *from);

typedef struct vt_cpu_path {
  vt_cpu_lines axes;     /* the last two are a plane, those before are walked */
  vt_cpu_plane plane;    /* from the first element of either place: `to` and `from` are not set */
  vt_cpu_plane_fn *copy; /* NULL: columns lie side by side in both places */
  int64_t size;          /* of an element, which may be several small ones side by side */
  int64_t count;         /* elements; 0: there is nothing to do */
  double cost;           /* nanoseconds for each, about */
} vt_cpu_path;
vt_cpu_path vt_cpu_path_of(const vt_cpu_kernels *k, const vt_view *to, const vt_view *from);
/* All of it, by this thread. */
void vt_cpu_path_go(const vt_cpu_path *p, char *to, const char *from);
#endif
