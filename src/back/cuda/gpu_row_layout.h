/* SPDX-License-Identifier: Apache-2.0
 * gpu_row_layout.h - how a launch distributes long rows over its thread blocks. C and CUDA
 * include it. A chunk is 1024 elements, a unit of the summation order S of docs/numerics.md; the
 * warps of a block process one chunk each. */
#ifndef VT_GPU_ROW_LAYOUT_H
#define VT_GPU_ROW_LAYOUT_H
#include "gpu_rows.h"

/* A distribution: `teams` teams of `blocks` thread blocks process one row each at a time. A block
 * has `chunks` chunks of its team's row, which its warps process in turn; `keep` of them stay in
 * shared memory. If a team has more than one block, all blocks must be resident at the same time.
 */
typedef struct vt_gpu_row_layout {
  int64_t teams, blocks, chunks, keep, warps;
  uint32_t shared; /* bytes of shared memory of each thread block */
} vt_gpu_row_layout;

/* Limits of a card: its multiprocessors, the shared memory of one, and the part of that which the
 * system reserves per block. `counters` is the number of counters for barriers, one per team of
 * several blocks; it is 0 if blocks cannot wait for each other. */
typedef struct vt_gpu_limits {
  int64_t processors, shared, system, counters;
} vt_gpu_limits;

enum { VT_GPU_CHUNK_BYTES = VT_GPU_CHUNK * 4 };

static inline int64_t vt_gpu_ceil_div(int64_t n, int64_t each) { return (n + each - 1) / each; }
static inline int64_t vt_gpu_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns the chunks per block. A row is cut so that no block has more than `chunks_that_fit`, if
 * the card can hold that many blocks. If there are few lines, rows are cut further, so that more
 * blocks get work, of at least `least_chunks` each. */
static inline int64_t vt_gpu_chunks_per_block(int64_t lines, int64_t chunks,
                                              int64_t chunks_that_fit, int64_t least_chunks,
                                              int64_t resident_blocks) {
  const int64_t few = vt_gpu_min(resident_blocks / lines, vt_gpu_ceil_div(chunks, least_chunks));
  const int64_t all = vt_gpu_ceil_div(chunks, chunks_that_fit);
  return vt_gpu_ceil_div(chunks, vt_gpu_min(all > few ? all : few, resident_blocks));
}
static inline int64_t vt_gpu_team_count(vt_gpu_limits limits, int64_t lines, int64_t blocks,
                                        int64_t resident_blocks) {
  return vt_gpu_min(lines, blocks == 1 ? 32 * limits.processors
                                       : vt_gpu_min(resident_blocks / blocks, limits.counters));
}

/* Distributes rows with `resident` resident blocks per multiprocessor. A row is cut so that all of
 * it stays in shared memory and, if there are few rows, so that every multiprocessor has a part of
 * one. */
static inline vt_gpu_row_layout vt_gpu_row_layout_for_residents(vt_gpu_limits limits, int64_t lines,
                                                                int64_t chunks, int64_t resident) {
  /* a row gets several blocks only if each has at least LEAST chunks, because synchronizing
   * costs time */
  enum { LEAST = 4 };
  /* bytes of the exchange buffers, in shared memory if a team is one block */
  const int64_t exchange = 2 * (int64_t)sizeof(float) * chunks;
  const int64_t bytes = (limits.shared + limits.system) / resident - limits.system - exchange;
  const int64_t fit = bytes < VT_GPU_CHUNK_BYTES ? 1 : bytes / VT_GPU_CHUNK_BYTES;
  const int64_t at_once = limits.processors * resident;
  vt_gpu_row_layout s = {0, 0, 0, 0, 0, 0};
  s.chunks = vt_gpu_chunks_per_block(lines, chunks, fit, LEAST, at_once);
  s.blocks = vt_gpu_ceil_div(chunks, s.chunks);
  s.keep = vt_gpu_min(s.chunks, fit);
  s.warps = vt_gpu_ceil_div(s.chunks, vt_gpu_ceil_div(s.chunks, VT_GPU_LONG_WARPS / resident));
  s.teams = vt_gpu_team_count(limits, lines, s.blocks, at_once);
  s.shared = (uint32_t)(s.keep * VT_GPU_CHUNK_BYTES + (s.blocks == 1 ? exchange : 0));
  return s;
}

/* Chooses the number of resident blocks: while one waits for memory or for its team, the others
 * compute. If three or four blocks fit with a whole row each, a row gets a block of its own, which
 * waits for no other. */
static inline vt_gpu_row_layout vt_gpu_row_layout_of(vt_gpu_limits limits, int64_t lines,
                                                     int64_t chunks) {
  /* most resident blocks per multiprocessor; chunks per block with which synchronizing blocks costs
   * little */
  enum { MAX_RESIDENT = 8, CHUNKS = 6 };
  const int64_t each =
      CHUNKS * VT_GPU_CHUNK_BYTES + 2 * (int64_t)sizeof(float) * chunks + limits.system;
  const int64_t fit = vt_gpu_min((limits.shared + limits.system) / each, MAX_RESIDENT);
  for (int64_t resident = 4; resident >= 3; resident--) {
    const vt_gpu_row_layout s = vt_gpu_row_layout_for_residents(limits, lines, chunks, resident);
    if (s.blocks == 1 && s.keep == s.chunks) return s;
  }
  return vt_gpu_row_layout_for_residents(limits, lines, chunks, fit > 1 ? fit : 1);
}
#endif
