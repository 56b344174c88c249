/* SPDX-License-Identifier: Apache-2.0
 * cpu_direct_conv.h - private to src/back/cpu: direct convolution, to which conv and conv_transpose
 * are both reduced. Output [image, group, row, place...] is D over (channel of the group, tap...)
 * of w[row, channel, tap...] * x[place*step + offset of the tap], where x is +0 outside of its
 * bounds. Rows are the output channels of a group; a place is the position of an output on the
 * axes.
 *
 * There are two variants. Usually x is copied into a grid: it is padded and split into phases, the
 * remainders of its index by the step. Then the elements that one tap reads for a row of places,
 * and for most of all places, are contiguous:
 *
 *   [channel][phase][L0][L1][L2]     place p of an axis with tap t reads element p + quotient of t
 *                                    in the phase of t's remainder; L = places + largest quotient
 *
 * Places are then counted through the grid, padding included, and results in the padding at the
 * ends of rows are dropped. If the grid would be large compared with x, or no tap needs padding or
 * an offset, columns are gathered block by block into a panel instead. */
#ifndef VT_CPU_DIRECT_CONV_H
#define VT_CPU_DIRECT_CONV_H
#include "cpu_levels.h"

enum { VT_CPU_AXES = 3 };

/* One axis of the window: tap t at place p reads x[p*step + base + t*delta], 0 <= t < taps, 0 <= p
 * < places. */
typedef struct vt_cpu_axis {
  int64_t dim, stride; /* of x: extent and stride in elements */
  int64_t step, places, taps, base, delta;
  int64_t weight; /* elements of w from one tap to the next */
  int64_t out;    /* elements of y from one place to the next */
} vt_cpu_axis;
/* The axis of one tap and one place, in place of an axis that the tensors lack. */
vt_cpu_axis vt_cpu_axis_absent(void);

typedef struct vt_cpu_direct_conv {
  uint32_t dtype;                      /* f32 or f64 */
  int64_t images, groups, rows, depth; /* rows and depth: output and input channels of a group */
  vt_cpu_axis axis[VT_CPU_AXES];
  const void *x, *w, *bias; /* bias: one number per output channel, or NULL */
  void *y;
  int64_t x_image, x_channel, w_group, w_row, w_channel, y_image, y_channel,
      bias_step;          /* strides in elements */
  vt_cpu_chain *epilogue; /* pointwise steps to run on y, which must be dense; or NULL */
  const void *packed;     /* weights packed by vt_cpu_direct_conv_pack, or NULL */
  uint8_t outside;        /* the byte that vt_cpu_gather_columns writes for elements outside of x */
} vt_cpu_direct_conv;

void vt_cpu_direct_conv_run(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *work);
uint64_t vt_cpu_direct_conv_scratch_bytes(const vt_cpu_team *t, const vt_cpu_direct_conv *s);
uint64_t vt_cpu_direct_conv_pack_bytes(const vt_cpu_team *t, const vt_cpu_direct_conv *s);
void vt_cpu_direct_conv_pack(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *out);

/* ---- building blocks, shared with the other convolutions ---- */

const vt_cpu_conv_type *vt_cpu_conv_of(const vt_cpu_team *t, uint32_t dtype);
int64_t vt_cpu_tap_count(const vt_cpu_axis axis[VT_CPU_AXES]);
int64_t vt_cpu_gcd(int64_t a, int64_t b);

/* The layout of one channel of x in a grid. */
typedef struct vt_cpu_grid {
  int64_t phases[VT_CPU_AXES], length[VT_CPU_AXES];
  int64_t phase, channel; /* elements of one phase, and of a channel with all its phases */
} vt_cpu_grid;
/* Sets *out to the layout of a grid for these axes. Returns 0 if the grid would be so large that
 * gathering is better. */
int vt_cpu_grid_layout(const vt_cpu_axis axis[VT_CPU_AXES], vt_cpu_grid *out);
/* Copies one channel of one image of x into the grid at `to`. */
void vt_cpu_grid_copy_channel(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                              const vt_cpu_conv_type *k, const char *x, char *to);
/* The index in x of element i along one axis of a phase of the grid. */
int64_t vt_cpu_grid_index_in_x(const vt_cpu_axis *a, int64_t phase, int64_t i);
/* How many of the n indices base, base + step, ... are in 0 .. dim-1; *out_first is the
 * first of them. */
int64_t vt_cpu_count_inside(int64_t base, int64_t step, int64_t n, int64_t dim, int64_t *out_first);
/* The offset of tap number `tap` (counted over all axes) in a channel of the grid. */
int64_t vt_cpu_grid_tap_offset(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                               int64_t tap);

/* Neighbouring places: `n` of them along the last axis, starting at `place`. `skipped` counts
 * positions in the padding between the start of the search and `place`. */
typedef struct vt_cpu_places {
  int64_t skipped, n, place[VT_CPU_AXES];
} vt_cpu_places;
/* Finds the first places at or after position `from` and before position `end`, where `length`
 * positions are counted along each axis. n is 0 if there are none. */
vt_cpu_places vt_cpu_next_places(const vt_cpu_axis axis[VT_CPU_AXES], const int64_t *length,
                                 int64_t from, int64_t end);
/* Columns to gather: for taps first .. first+n-1, counted over (channel, tap...), the elements of x
 * that they read at places from .. from+count-1, which are counted without padding. */
typedef struct vt_cpu_columns {
  int64_t first, n, from, count;
  int64_t width; /* elements from one tap's row in the destination to the next */
} vt_cpu_columns;
/* Writes to[i*width + j] for tap first+i and place from+j. */
void vt_cpu_gather_columns(const vt_cpu_direct_conv *s, const char *x, const vt_cpu_columns *c,
                           char *to, const vt_cpu_conv_type *k);
#endif
