/* SPDX-License-Identifier: Apache-2.0
 * gpu_share.h - how the blocks of a launch share long rows. Read by C and by CUDA. */
#ifndef VT_GPU_SHARE_H
#define VT_GPU_SHARE_H
#include "gpu_rows.h"

/* Several teams of blocks have a row each. A block has `chunks` of its team's row, which its warps
 * take by turns; `keep` of them stay on chip. More than one block a row have to run at once. */
typedef struct vt_gpu_sharing {
  int64_t teams, blocks, chunks, keep, warps;
  uint32_t shared; /* bytes of each block */
} vt_gpu_sharing;

/* What of a card decides: its processors, the shared memory of one, what a block costs of that
 * besides its own; and the counters that there are, one for each team of several blocks: none where
 * blocks cannot wait for each other. */
typedef struct vt_gpu_room {
  int64_t processors, shared, system, counters;
} vt_gpu_room;

enum { VT_GPU_CHUNK_BYTES = VT_GPU_CHUNK * 4 };

static inline int64_t vt_gpu_parts(int64_t n, int64_t each) { return (n + each - 1) / each; }
static inline int64_t vt_gpu_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Chunks of a block, of a row that is cut so that none has more than `room` if that can be, and,
 * where there are few rows, so that every block has some of one, of `least` chunks if there are. */
static inline int64_t vt_gpu_cut(int64_t lines, int64_t chunks, int64_t room, int64_t least,
                                 int64_t at_once) {
  const int64_t few = vt_gpu_least(at_once / lines, vt_gpu_parts(chunks, least));
  const int64_t all = vt_gpu_parts(chunks, room);
  return vt_gpu_parts(chunks, vt_gpu_least(all > few ? all : few, at_once));
}
static inline int64_t vt_gpu_teams(vt_gpu_room r, int64_t lines, int64_t blocks, int64_t at_once) {
  return vt_gpu_least(lines,
                      blocks == 1 ? 32 * r.processors : vt_gpu_least(at_once / blocks, r.counters));
}

/* With `beside` blocks on each processor. A row is cut so that all of it stays, and, where there
 * are few rows, so that every processor has some of one. */
static inline vt_gpu_sharing vt_gpu_share_resident(vt_gpu_room r, int64_t lines, int64_t chunks,
                                                   int64_t beside) {
  enum { LEAST = 4 }; /* chunks of a block that are worth a meeting */
  const int64_t rooms = 2 * (int64_t)sizeof(float) * chunks; /* of a team of one, on chip too */
  const int64_t bytes = (r.shared + r.system) / beside - r.system - rooms;
  const int64_t room = bytes < VT_GPU_CHUNK_BYTES ? 1 : bytes / VT_GPU_CHUNK_BYTES;
  const int64_t at_once = r.processors * beside;
  vt_gpu_sharing s = {0, 0, 0, 0, 0, 0};
  s.chunks = vt_gpu_cut(lines, chunks, room, LEAST, at_once);
  s.blocks = vt_gpu_parts(chunks, s.chunks);
  s.keep = vt_gpu_least(s.chunks, room);
  s.warps = vt_gpu_parts(s.chunks, vt_gpu_parts(s.chunks, VT_GPU_LONG_WARPS / beside));
  s.teams = vt_gpu_teams(r, lines, s.blocks, at_once);
  s.shared = (uint32_t)(s.keep * VT_GPU_CHUNK_BYTES + (s.blocks == 1 ? rooms : 0));
  return s;
}

/* While one block waits for memory or for its team, those beside it compute. A row that leaves room
 * for two others has a block for itself, which waits for nobody. */
static inline vt_gpu_sharing vt_gpu_share(vt_gpu_room r, int64_t lines, int64_t chunks) {
  enum { MOST_BESIDE = 8, CHUNKS = 6 }; /* on a processor; of a block, so that meetings are few */
  const int64_t each = CHUNKS * VT_GPU_CHUNK_BYTES + 2 * (int64_t)sizeof(float) * chunks + r.system;
  const int64_t room = vt_gpu_least((r.shared + r.system) / each, MOST_BESIDE);
  for (int64_t beside = 4; beside >= 3; beside--) {
    const vt_gpu_sharing s = vt_gpu_share_resident(r, lines, chunks, beside);
    if (s.blocks == 1 && s.keep == s.chunks) return s;
  }
  return vt_gpu_share_resident(r, lines, chunks, room > 1 ? room : 1);
}
#endif
