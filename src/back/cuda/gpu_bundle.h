/* SPDX-License-Identifier: Apache-2.0
 * gpu_bundle.h - the argument struct of the kernels in bundle.cu, and how a launch distributes
 * lines over thread blocks. C and CUDA include it. S is the summation order of docs/numerics.md, in
 * chunks of 1024 elements. A line may run along any axes of the tensor.
 *
 * A bundle is `wide` neighbouring lines. A team of thread blocks holds it in shared memory; each
 * block has some chunks of all its lines. Element k of line g is at k*step + g*line_step. Lines
 * that are interleaved in x stay interleaved, so that copies into shared memory are coalesced:
 *
 *   x interleaved (step > wide):      k=0: g0 g1 g2 .. pad | k=1: g0 g1 g2 .. pad | ...
 *   x not interleaved (step = 1):     g0: k0 k1 k2 .. gap  | g1: k0 k1 k2 .. gap  | ... */
#ifndef VT_GPU_BUNDLE_H
#define VT_GPU_BUNDLE_H
#include "gpu_row_layout.h"

enum {
  VT_GPU_BUNDLE_ROWS, /* kind of softmax and of norms, which have a result per element */
  VT_GPU_BUNDLE_LOGS, /* kind of log_softmax, which has a result per element */
  VT_GPU_BUNDLE_ONE,  /* kind of logsumexp and of var, which have a result per line */
  VT_GPU_BUNDLE_ROOT  /* kind of std, which has a result per line */
};

/* A line of at most NOT_LONG elements is summed by LANES threads, which together have the 32 lanes
 * of S; a longer line by a warp. Lines of at most VT_GPU_SHORT elements are not bundled: one thread
 * holds a line in registers. */
enum { VT_GPU_BUNDLE_NOT_LONG = 128, VT_GPU_BUNDLE_LANES = 4, VT_GPU_SHORT_THREADS = 128 };

typedef struct vt_gpu_bundle {
  const void *x;
  void *y;
  const void *gamma, *beta; /* gain and bias of a norm, or NULL */
  /* where the mean u and S(d*d), d = x - u, of each line are stored; NULL if they are not wanted */
  void *shift, *sum;
  /* exchange buffers, two per team, and a counter per team, for teams of several blocks */
  void *exchange, *arrived;
  int64_t n, divisor; /* elements of a line; what var divides the sum of squares by */
  double eps;
  /* VT_GPU_BUNDLE_<kind>; centred: 1 to subtract the mean u, 0 if u counts as 0 */
  uint32_t kind, centred;
  uint32_t wide, step, line_step; /* lines of a bundle, a power of 2; steps as in the header */
  uint32_t blocks, chunks;        /* thread blocks of a team; chunks of each block */
  /* 1 if x (y) has neighbouring lines interleaved: neighbours in memory belong to different lines
   */
  uint32_t x_interleaved, y_interleaved;
  vt_gpu_walk lines, along; /* walks over the lines and along a line; operands x, y, gamma, beta */
} vt_gpu_bundle;

typedef struct vt_gpu_bundle_layout {
  /* as in vt_gpu_bundle, and the number of teams; wide is 0 if the lines do not fit in shared
   * memory */
  int64_t wide, step, line_step, teams, blocks, chunks;
  uint32_t threads, shared; /* threads and bytes of shared memory per block */
} vt_gpu_bundle_layout;

/* The lines to distribute: `lines` lines of n elements of `bytes` bytes, and whether x and y have
 * neighbouring lines interleaved. */
typedef struct vt_gpu_bundle_shape {
  int64_t lines, n, bytes;
  int x_interleaved, y_interleaved;
} vt_gpu_bundle_shape;

/* Returns the bytes of a team's two exchange buffers, which hold one partial result per chunk and
 * line. */
static inline int64_t vt_gpu_bundle_exchange_bytes(int64_t wide, int64_t n, int64_t element_bytes) {
  return 2 * wide * vt_gpu_ceil_div(n, VT_GPU_CHUNK) * element_bytes;
}
/* Returns the bytes of shared memory for `wide` lines in addition to elements and exchange buffers:
 * the offset of each line in each operand, two statistics per line, and a gap after it. */
static inline int64_t vt_gpu_bundle_table_bytes(const vt_gpu_bundle_shape *shape, int64_t wide) {
  enum { GAP = 7 };
  const int64_t numbers = 2 + (shape->x_interleaved ? 0 : GAP);
  return wide * (VT_GPU_OPERANDS * (int64_t)sizeof(int64_t) + numbers * shape->bytes);
}

/* Returns the least odd multiple of `unit` that is at least n. */
static inline int64_t vt_gpu_odd_multiple(int64_t n, int64_t unit) {
  return unit * (vt_gpu_ceil_div(n, unit) | 1);
}
/* Returns the distance between neighbouring elements of a line in shared memory, chosen so that the
 * lanes of a warp read from different banks: they read 32 elements of a line, or 4 elements of each
 * of 8 interleaved lines (4 lines if elements have 8 bytes). */
static inline int64_t vt_gpu_bundle_element_step(const vt_gpu_bundle_shape *shape, int64_t wide) {
  if (!shape->x_interleaved || wide == 1) return 1;
  return shape->n > VT_GPU_BUNDLE_NOT_LONG ? wide + 1
                                           : vt_gpu_odd_multiple(wide, 32 / shape->bytes);
}
/* Returns the distance between neighbouring lines of `elements` elements that are stored one after
 * the other, chosen so that the lanes of a warp read from different banks. */
static inline int64_t vt_gpu_bundle_line_step(const vt_gpu_bundle_shape *shape, int64_t elements) {
  return shape->n > VT_GPU_BUNDLE_NOT_LONG ? elements | 1
                                           : vt_gpu_odd_multiple(elements, VT_GPU_BUNDLE_LANES);
}

/* Distributes bundles of `wide` lines with `resident` resident blocks per multiprocessor. wide is 0
 * in the result unless all chunks of a team's lines fit in shared memory. A team of one block has
 * its exchange buffers in shared memory too. */
static inline vt_gpu_bundle_layout vt_gpu_bundle_layout_for_residents(
    vt_gpu_limits limits, const vt_gpu_bundle_shape *shape, int64_t wide, int64_t resident) {
  /* a team gets several blocks only if each has at least LEAST chunks, because synchronizing
   * costs time */
  enum { LEAST = 2 };
  const int64_t chunks = vt_gpu_ceil_div(shape->n, VT_GPU_CHUNK),
                bundles = vt_gpu_ceil_div(shape->lines, wide);
  const int64_t at_once = limits.counters == 0 ? 1 : limits.processors * resident;
  const int64_t step = vt_gpu_bundle_element_step(shape, wide);
  const int64_t chunk =
      vt_gpu_min(shape->n, VT_GPU_CHUNK) * (step == 1 ? wide : step) * shape->bytes;
  const int64_t exchange = vt_gpu_bundle_exchange_bytes(wide, shape->n, shape->bytes);
  const int64_t head = vt_gpu_bundle_table_bytes(shape, wide);
  const int64_t left = (limits.shared + limits.system) / resident - limits.system - head;
  const int64_t fit =
      chunks * chunk + exchange <= left ? chunks : vt_gpu_min(left / chunk, chunks - 1);
  vt_gpu_bundle_layout b = {0, step, 1, 0, 0, 0, 0, 0};
  if (left < chunk || fit < 1) return b;
  b.chunks = vt_gpu_chunks_per_block(bundles, chunks, fit, LEAST, at_once);
  b.blocks = vt_gpu_ceil_div(chunks, b.chunks);
  if (b.chunks > fit) return b;
  b.wide = wide;
  if (step == 1)
    b.line_step = vt_gpu_bundle_line_step(shape, vt_gpu_min(shape->n, b.chunks * VT_GPU_CHUNK));
  b.threads = (uint32_t)(VT_GPU_LONG_THREADS / resident);
  b.teams = vt_gpu_team_count(limits, bundles, b.blocks, at_once);
  b.shared = (uint32_t)(head + (b.blocks == 1 ? exchange : 0) + b.chunks * chunk);
  return b;
}

/* Chooses as many lines per bundle as still give every multiprocessor work. Interleaved lines come
 * at least in the number that a memory sector holds, if they fit. Several blocks per multiprocessor
 * are preferred: while one waits, the others compute. */
static inline vt_gpu_bundle_layout vt_gpu_bundle_layout_of(vt_gpu_limits limits,
                                                           const vt_gpu_bundle_shape *shape) {
  enum { MOST = 128, SECTOR = 32 };
  const int64_t least = shape->x_interleaved || shape->y_interleaved ? SECTOR / shape->bytes : 1;
  vt_gpu_bundle_layout b = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int64_t resident = 4; resident >= 1; resident /= 2)
    for (int64_t wide = MOST; wide >= (resident > 1 ? least : 1); wide /= 2) {
      b = vt_gpu_bundle_layout_for_residents(limits, shape, wide, resident);
      if (b.wide > 0 &&
          (wide <= least || vt_gpu_ceil_div(shape->lines, wide) >= 2 * limits.processors))
        return b;
    }
  return b;
}
#endif
