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

/* Of a short line a few threads have all the lanes of S, of others a warp. The shortest are no
 * bundles: a thread has one in registers. */
enum { VT_GPU_BUNDLE_SHORT = 128, VT_GPU_BUNDLE_LANES = 4, VT_GPU_BUNDLE_SHORTEST = 16 };
enum { VT_GPU_SHORT_THREADS = 128 };

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

/* What lies before the elements in a block's shared memory: where each line begins in the operands,
 * two numbers of it, a gap that it may have, and the rooms of a team of one. */
static inline int64_t vt_gpu_bundle_rooms(int64_t wide, int64_t n, int64_t bytes) {
  return 2 * wide * vt_gpu_parts(n, VT_GPU_CHUNK) * bytes;
}
static inline int64_t vt_gpu_bundle_head(int64_t wide, int64_t bytes) {
  return wide * (VT_GPU_OPERANDS * (int64_t)sizeof(int64_t) + 3 * bytes);
}

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

/* Lines side by side lie so far apart from one element to the next that those which threads read at
 * once, several elements of several lines, are in all banks. */
static inline int64_t vt_gpu_bundle_step(const vt_gpu_bundled *w, int64_t wide) {
  const int64_t gap = w->n <= VT_GPU_BUNDLE_SHORT ? VT_GPU_LANES / VT_GPU_BUNDLE_LANES : 1;
  return !w->x_beside || wide == 1 ? 1 : wide + gap;
}

/* With `beside` blocks on each processor. */
static inline vt_gpu_bundling vt_gpu_bundle_beside(vt_gpu_room r, const vt_gpu_bundled *w,
                                                   int64_t wide, int64_t beside) {
  enum { LEAST = 2 }; /* chunks of a block that are worth a meeting */
  const int64_t chunks = vt_gpu_parts(w->n, VT_GPU_CHUNK), at_once = r.processors * beside;
  const int64_t step = vt_gpu_bundle_step(w, wide), bundles = vt_gpu_parts(w->lines, wide);
  const int64_t of_chunk = vt_gpu_least(w->n, VT_GPU_CHUNK) * (step == 1 ? wide : step) * w->bytes;
  const int64_t rooms = vt_gpu_bundle_rooms(wide, w->n, w->bytes);
  const int64_t head = vt_gpu_bundle_head(wide, w->bytes);
  const int64_t left = (r.shared + r.system) / beside - r.system - head - rooms;
  vt_gpu_bundling b = {0, step, 1, 0, 0, 0, 0, 0};
  if (left < of_chunk) return b;
  const int64_t all = vt_gpu_parts(chunks, left / of_chunk);
  const int64_t few = vt_gpu_least(at_once / bundles, vt_gpu_parts(chunks, LEAST));
  b.chunks = vt_gpu_parts(chunks, vt_gpu_least(all > few ? all : few, at_once));
  b.blocks = vt_gpu_parts(chunks, b.chunks);
  if (b.chunks > left / of_chunk) return b;
  b.wide = wide;
  if (step == 1) b.apart = vt_gpu_least(w->n, b.chunks * VT_GPU_CHUNK) | 1;
  b.threads = (uint32_t)(VT_GPU_LONG_THREADS / beside);
  b.teams = vt_gpu_least(
      bundles, b.blocks == 1 ? 32 * r.processors : vt_gpu_least(at_once / b.blocks, r.counters));
  b.shared = (uint32_t)(head + (b.blocks == 1 ? rooms : 0) + b.chunks * of_chunk);
  return b;
}

/* As many lines together as leave every processor something to do; of lines that lie side by side
 * at least those that memory gives at once. While one block waits, those beside it compute. */
static inline vt_gpu_bundling vt_gpu_bundle_of(vt_gpu_room r, const vt_gpu_bundled *w) {
  enum { MOST = 128, SECTOR = 32 };
  const int64_t least = w->x_beside || w->y_beside ? SECTOR / w->bytes : 1;
  vt_gpu_bundling b = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int64_t beside = 4; beside >= 1; beside /= 4)
    for (int64_t wide = MOST; wide >= 1; wide /= 2) {
      b = vt_gpu_bundle_beside(r, w, wide, beside);
      if (b.wide > 0 && (wide <= least || vt_gpu_parts(w->lines, wide) >= 2 * r.processors))
        return b;
    }
  return b;
}
#endif
