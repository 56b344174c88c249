/* SPDX-License-Identifier: Apache-2.0
 * cpu_direct_conv.h - private to src/back/cpu: taps that slide over a field, which is what
 * convolutions and transposed ones come down to. Output [image, group, row, place...] is D over
 * (channel of the group, tap...) of w[row, channel, tap...] * x[place*step + tap's offset] where x
 * is +0 outside of itself. Rows are the output channels of a group.
 *
 * Two ways. Mostly x is copied into a grid: padded, and cut into phases by the step, so that a tap
 * at all places of a row, and at most of those of a field, is a run of neighbours:
 *
 *   [channel][phase][L0][L1][L2]     place p of an axis with tap t: p + t's quotient, in the phase
 *                                    of t's remainder; L = places + the largest quotient
 *
 * Places are then counted through the grid, and results at its ends, which belong to no place, are
 * dropped. Where a grid would be large against x, or all taps fall together, columns are gathered
 * block by block into a panel instead. */
#ifndef VT_CPU_DIRECT_CONV_H
#define VT_CPU_DIRECT_CONV_H
#include "cpu_levels.h"

enum { VT_CPU_AXES = 3 };

/* Tap t at place p is x[p*step + base + t*delta]; 0 <= t < taps, 0 <= p < places. */
typedef struct vt_cpu_axis {
  int64_t dim, stride; /* of x */
  int64_t step, places, taps, base, delta;
  int64_t weight; /* from a tap to the next, elements of w */
  int64_t out;    /* from a place to the next, elements of y */
} vt_cpu_axis;
/* An axis that is not there. */
vt_cpu_axis vt_cpu_axis_none(void);

typedef struct vt_cpu_direct_conv {
  uint32_t dtype; /* f32 or f64 */
  int64_t images, groups, rows, depth;
  vt_cpu_axis axis[VT_CPU_AXES];
  const void *x, *w, *bias; /* bias: NULL or one number a row */
  void *y;
  int64_t x_image, x_channel, w_group, w_row, w_channel, y_image, y_channel,
      bias_step;      /* elements */
  vt_cpu_chain *tail; /* wants y to be dense */
  const void *packed; /* weights, from vt_cpu_direct_conv_pack; or NULL */
  uint8_t outside;    /* what each byte is outside of x, for vt_cpu_gather */
} vt_cpu_direct_conv;

void vt_cpu_direct_conv_run(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *work);
uint64_t vt_cpu_direct_conv_work(const vt_cpu_team *t, const vt_cpu_direct_conv *s);
uint64_t vt_cpu_direct_conv_pack_bytes(const vt_cpu_team *t, const vt_cpu_direct_conv *s);
void vt_cpu_direct_conv_pack(const vt_cpu_team *t, const vt_cpu_direct_conv *s, void *out);

/* ---- parts ---- */

const vt_cpu_conv_type *vt_cpu_conv_of(const vt_cpu_team *t, uint32_t dtype);
int64_t vt_cpu_taps(const vt_cpu_axis axis[VT_CPU_AXES]);
int64_t vt_cpu_gcd(int64_t a, int64_t b);

/* How x lies in a grid. */
typedef struct vt_cpu_grid {
  int64_t phases[VT_CPU_AXES], length[VT_CPU_AXES];
  int64_t phase, channel; /* elements of one phase, and of a channel with all of them */
} vt_cpu_grid;
/* 0 where the grid would be too large to be worth it. */
int vt_cpu_grid_of(const vt_cpu_axis axis[VT_CPU_AXES], vt_cpu_grid *out);
/* One channel of one image. */
void vt_cpu_grid_fill(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                      const vt_cpu_conv_type *k, const char *x, char *to);
/* Which element of x element i of an axis of a phase is. */
int64_t vt_cpu_grid_index(const vt_cpu_axis *a, int64_t phase, int64_t i);
/* Which of n elements at base, base + step, ... are inside of 0 .. dim-1: so many from *out_first
 * on. */
int64_t vt_cpu_inside(int64_t base, int64_t step, int64_t n, int64_t dim, int64_t *out_first);
/* Where tap `number` of all axes stands in a channel. */
int64_t vt_cpu_grid_at(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES], int64_t number);

/* Neighbouring places: from `place` on, `n` of them along the last axis. `skipped` places of the
 * counting come before and belong to nothing. */
typedef struct vt_cpu_places {
  int64_t skipped, n, place[VT_CPU_AXES];
} vt_cpu_places;
/* From number `from` on when `length` are counted along each axis; ends before `end`. n is 0 when
 * there are none left. */
vt_cpu_places vt_cpu_places_at(const vt_cpu_axis axis[VT_CPU_AXES], const int64_t *length,
                               int64_t from, int64_t end);
/* What taps first .. first+n-1 of (channel, tap...) meet at places from .. from+count-1, which are
 * counted without gaps: to[i*width + j]. */
void vt_cpu_gather(const vt_cpu_direct_conv *s, const char *x, int64_t first, int64_t n,
                   int64_t from, int64_t count, int64_t width, char *to, const vt_cpu_conv_type *k);
#endif
