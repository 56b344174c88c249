/* SPDX-License-Identifier: Apache-2.0
 * gpu_bundle.h - lines that lie anywhere, on chip: what the kernels of bundle.cu are given, and how
 * a launch shares them. Read by C and by CUDA.
 *
 * A bundle is some neighbouring lines. A team of blocks has it in shared memory, each block some
 * chunks of all its lines: element k of line g is at k*step + g*apart there, so that what lies side
 * by side in x does so here. */
#ifndef VT_GPU_BUNDLE_H
#define VT_GPU_BUNDLE_H
#include "gpu_share.h"

enum {
  VT_GPU_BUNDLE_ROWS, /* softmax; norms */
  VT_GPU_BUNDLE_LOGS, /* log_softmax */
  VT_GPU_BUNDLE_ONE,  /* a number a line: logsumexp; var */
  VT_GPU_BUNDLE_ROOT  /* std */
};

/* Of a line that is not long a few threads have all the lanes of S, of others a warp. Those of
 * VT_GPU_SHORT are no bundles: a thread has one in registers. */
enum { VT_GPU_BUNDLE_NOT_LONG = 128, VT_GPU_BUNDLE_LANES = 4, VT_GPU_SHORT_THREADS = 128 };

typedef struct vt_gpu_bundle {
  const void *x;
  void *y;
  const void *gamma, *beta; /* NULL: none */
  void *shift, *sum;        /* a number a line: u and S(d*d) are left there; NULL: they are not */
  void *rooms, *arrived;    /* where teams of several blocks meet: two rooms and a counter each */
  int64_t n, divisor;       /* of a line; of var */
  double eps;
  uint32_t kind, centred;      /* centred: 1, or u is 0 */
  uint32_t wide, step, apart;  /* lines of a bundle, a power of 2; see above */
  uint32_t blocks, chunks;     /* of a team; of each block */
  uint32_t x_beside, y_beside; /* 1: neighbours in memory are of neighbouring lines */
  vt_gpu_walk lines, along;    /* operand 0: x, 1: y, 2: gamma, 3: beta */
} vt_gpu_bundle;

typedef struct vt_gpu_bundling {
  int64_t wide, step, apart, teams, blocks, chunks; /* wide 0: there is no room for it */
  uint32_t threads, shared;                         /* of each block */
} vt_gpu_bundling;

/* What is to be shared: lines of n elements of some bytes; whether x has neighbours of neighbouring
 * lines side by side, and whether y has. */
typedef struct vt_gpu_bundled {
  int64_t lines, n, bytes;
  int x_beside, y_beside;
} vt_gpu_bundled;

/* Bytes of the rooms in which the chunks of a team's lines leave what they gave. */
static inline int64_t vt_gpu_bundle_rooms(int64_t wide, int64_t n, int64_t bytes) {
  return 2 * wide * vt_gpu_parts(n, VT_GPU_CHUNK) * bytes;
}
/* What a block has on chip besides elements and rooms: where each line begins in the operands, two
 * numbers of it, and a gap behind it. */
static inline int64_t vt_gpu_bundle_head(const vt_gpu_bundled *w, int64_t wide) {
  enum { GAP = 7 };
  const int64_t numbers = 2 + (w->x_beside ? 0 : GAP);
  return wide * (VT_GPU_OPERANDS * (int64_t)sizeof(int64_t) + numbers * w->bytes);
}

/* The least odd multiple of `unit` that is not less than n. */
static inline int64_t vt_gpu_odd_up(int64_t n, int64_t unit) {
  return unit * (vt_gpu_parts(n, unit) | 1);
}
/* From an element of a line to the next. What the lanes of a warp read at once is in all banks: 32
 * elements of a line, or 4 of each of 8 (or 4, of 8 bytes each) that lie side by side. */
static inline int64_t vt_gpu_bundle_step(const vt_gpu_bundled *w, int64_t wide) {
  if (!w->x_beside || wide == 1) return 1;
  return w->n > VT_GPU_BUNDLE_NOT_LONG ? wide + 1 : vt_gpu_odd_up(wide, 32 / w->bytes);
}
/* The same for lines that lie behind one another, `count` elements of each. */
static inline int64_t vt_gpu_bundle_apart(const vt_gpu_bundled *w, int64_t count) {
  return w->n > VT_GPU_BUNDLE_NOT_LONG ? count | 1 : vt_gpu_odd_up(count, VT_GPU_BUNDLE_LANES);
}

/* With `beside` blocks on each processor. All chunks of a team's lines stay, or there is no room.
 * The rooms of a team of one are on chip too. */
static inline vt_gpu_bundling vt_gpu_bundle_resident(vt_gpu_room r, const vt_gpu_bundled *w,
                                                     int64_t wide, int64_t beside) {
  enum { LEAST = 2 }; /* chunks of a block that are worth a meeting */
  const int64_t chunks = vt_gpu_parts(w->n, VT_GPU_CHUNK), bundles = vt_gpu_parts(w->lines, wide);
  const int64_t at_once = r.counters == 0 ? 1 : r.processors * beside;
  const int64_t step = vt_gpu_bundle_step(w, wide);
  const int64_t chunk = vt_gpu_least(w->n, VT_GPU_CHUNK) * (step == 1 ? wide : step) * w->bytes;
  const int64_t rooms = vt_gpu_bundle_rooms(wide, w->n, w->bytes);
  const int64_t head = vt_gpu_bundle_head(w, wide);
  const int64_t left = (r.shared + r.system) / beside - r.system - head;
  const int64_t room =
      chunks * chunk + rooms <= left ? chunks : vt_gpu_least(left / chunk, chunks - 1);
  vt_gpu_bundling b = {0, step, 1, 0, 0, 0, 0, 0};
  if (left < chunk || room < 1) return b;
  b.chunks = vt_gpu_cut(bundles, chunks, room, LEAST, at_once);
  b.blocks = vt_gpu_parts(chunks, b.chunks);
  if (b.chunks > room) return b;
  b.wide = wide;
  if (step == 1) b.apart = vt_gpu_bundle_apart(w, vt_gpu_least(w->n, b.chunks * VT_GPU_CHUNK));
  b.threads = (uint32_t)(VT_GPU_LONG_THREADS / beside);
  b.teams = vt_gpu_teams(r, bundles, b.blocks, at_once);
  b.shared = (uint32_t)(head + (b.blocks == 1 ? rooms : 0) + b.chunks * chunk);
  return b;
}

/* As many lines together as leave every processor something to do; of lines that lie side by side
 * at least those that memory gives at once, while there is room. While one block waits, those
 * beside it compute. */
static inline vt_gpu_bundling vt_gpu_bundle_of(vt_gpu_room r, const vt_gpu_bundled *w) {
  enum { MOST = 128, SECTOR = 32 };
  const int64_t least = w->x_beside || w->y_beside ? SECTOR / w->bytes : 1;
  vt_gpu_bundling b = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int64_t beside = 4; beside >= 1; beside /= 2)
    for (int64_t wide = MOST; wide >= (beside > 1 ? least : 1); wide /= 2) {
      b = vt_gpu_bundle_resident(r, w, wide, beside);
      if (b.wide > 0 && (wide <= least || vt_gpu_parts(w->lines, wide) >= 2 * r.processors))
        return b;
    }
  return b;
}
#endif
