// SPDX-License-Identifier: Apache-2.0
// attention.cu - attention with many queries, in one launch. A thread block keeps some queries of
// one head in shared memory and passes over the keys twice, a tile at a time, which is copied
// asynchronously: first for the greatest score of each row, then for the weights, their sum and
// their products with v. Scores stay in memory between the passes, in scratch for the queries of
// the resident blocks only. If even that is too much, scores are computed twice and never stored. A
// row is one query of a head; an absent key is one that a row does not attend to. D, S and T are
// the orders of docs/numerics.md: D(q, k) is the product of a query and a key, S is the sum of a
// row's weights in chunks of 1024, T is the sum of weights times values: fma chains of 256 keys
// (blocks), groups of 8 blocks, and levels of groups.
#include "gpu_attend.cuh"

enum {
  TILE = VT_ATTEND_TILE,
  THREADS = VT_ATTEND_THREADS,
  ACROSS = 16,              // threads of a block that share a row
  DOWN = THREADS / ACROSS,  // rows that the threads process at a time
  KEYS = TILE / ACROSS,     // keys per thread in a tile
  WEIGHTS = TILE + 4        // floats per row of a tile's weights in shared memory, padded
};

// ---- tiles ----

// Copies `rows` rows of `columns` numbers to ROWS rows of D, filled up with +0. Rows are D + 4
// floats apart, so that neighbouring rows are in different banks.
template <int D, int ROWS>
VT_GPU_FN void copy_tile(float *to, const float *from, int64_t row_step, int64_t column_step,
                         int64_t rows, int64_t columns, bool wide) {
  if (wide) {
    _Pragma("unroll 4") for (int i = threadIdx.x; i < ROWS * D / 4; i += THREADS) {
      const int r = i / (D / 4), c = i % (D / 4) * 4;
      const bool there = r < rows && c < columns;
      vt_async_copy_16(to + r * (D + 4) + c, there ? from + (r * row_step + c) : from, there);
    }
  } else {
    _Pragma("unroll 1") for (int i = threadIdx.x; i < ROWS * D; i += THREADS) {
      const int r = i / D, c = i % D;
      const bool there = r < rows && c < columns;
      vt_async_copy_4(to + r * (D + 4) + c, there ? from + (r * row_step + c * column_step) : from,
                      there);
    }
  }
  vt_async_close_group();
}

VT_GPU_FN void multiply_add(float &p, float x, float y) { p = __fmaf_rn(x, y, p); }

// Computes D(q, k) for R rows and KEYS keys of this thread. The depth D is at most 256, so each
// product is one fma chain, added to +0.
template <int D, int R>
VT_GPU_FN void multiply_queries_by_keys(const float *q, const float *k, float (&s)[R][KEYS]) {
  // repetitions of the loop that are unrolled; twice as many would spill registers
  enum { AGAIN = 8 / R };
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  VT_UNROLL
  for (int i = 0; i < R; i++) VT_UNROLL
  for (int j = 0; j < KEYS; j++) s[i][j] = 0.0f;
  _Pragma("unroll AGAIN") for (int c = 0; c < D; c += 4) {
    float4 b[KEYS];
    VT_UNROLL
    for (int j = 0; j < KEYS; j++) b[j] = *(const float4 *)(k + (x + ACROSS * j) * (D + 4) + c);
    VT_UNROLL
    for (int i = 0; i < R; i++) {
      const float4 f = *(const float4 *)(q + (y + DOWN * i) * (D + 4) + c);
      VT_UNROLL
      for (int j = 0; j < KEYS; j++) multiply_add(s[i][j], f.x, b[j].x);
      VT_UNROLL
      for (int j = 0; j < KEYS; j++) multiply_add(s[i][j], f.y, b[j].y);
      VT_UNROLL
      for (int j = 0; j < KEYS; j++) multiply_add(s[i][j], f.z, b[j].z);
      VT_UNROLL
      for (int j = 0; j < KEYS; j++) multiply_add(s[i][j], f.w, b[j].w);
    }
  }
  VT_UNROLL
  for (int i = 0; i < R; i++) VT_UNROLL
  for (int j = 0; j < KEYS; j++) s[i][j] = s[i][j] + 0.0f;
}

// Adds to p the weight e of one key times C columns of v. With CAREFUL it skips an absent key.
template <bool CAREFUL, int C>
VT_GPU_FN void add_weighted_value(float e, const float (&v)[C], float (&p)[C]) {
  if (CAREFUL && attend_is_absent_weight(e)) return;
  VT_UNROLL
  for (int c = 0; c < C; c++) multiply_add(p[c], e, v[c]);
}

// Adds the products of a tile's weights with v to p. A thread has C columns: four contiguous ones,
// and four more that are 64 columns further.
template <bool CAREFUL, int D, int R>
VT_GPU_FN void add_weighted_values(const float *e, const float *v, float (&p)[R][D / ACROSS]) {
  enum { C = D / ACROSS };
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  _Pragma("unroll 2") for (int j = 0; j < TILE; j += 4) {
    float w[4][C];
    VT_UNROLL
    for (int u = 0; u < 4; u++) VT_UNROLL
    for (int c = 0; c < C; c += 4) {
      const float4 f = *(const float4 *)(v + (j + u) * (D + 4) + 4 * x + ACROSS * c);
      w[u][c] = f.x;
      w[u][c + 1] = f.y;
      w[u][c + 2] = f.z;
      w[u][c + 3] = f.w;
    }
    VT_UNROLL
    for (int i = 0; i < R; i++) {
      const float4 f = *(const float4 *)(e + (y + DOWN * i) * WEIGHTS + j);
      add_weighted_value<CAREFUL, C>(f.x, w[0], p[i]);
      add_weighted_value<CAREFUL, C>(f.y, w[1], p[i]);
      add_weighted_value<CAREFUL, C>(f.z, w[2], p[i]);
      add_weighted_value<CAREFUL, C>(f.w, w[3], p[i]);
    }
  }
}

// ---- a block of queries ----

struct attend_block {
  int64_t pair, b, h, first;  // pair of batch b and head h; first query of this block
  const float *k, *v;
  // No row attends to a key outside from .. to - 1; `from` is rounded down to a multiple of TILE.
  int from, to;
  // All rows attend to keys common_from .. common_to - 1; with a mask this range is empty.
  int common_from, common_to;
};

template <int D, int R>
struct attend_shared {  // what a thread block has in shared memory
  enum { ROWS = DOWN * R };
  float q[ROWS * (D + 4)], stage[2][TILE * (D + 4)], e[ROWS * WEIGHTS];
  int lo[ROWS], hi[ROWS];
  float most[ROWS];  // greatest score of each row
  attend_block block;
  // for thread column x: lane x of S of each row; a register has lane x + 16
  float even[R][THREADS];
};
static_assert(sizeof(attend_shared<64, 8>) == VT_ATTEND_64_SHARED, "what a launch asks for");
static_assert(sizeof(attend_shared<128, 4>) == VT_ATTEND_128_SHARED, "what a launch asks for");

// Finds the range of keys that each row attends to, and the ranges that any row and that all rows
// attend to. Rows after the last one get its range; their results are not stored.
template <int D, int R>
VT_GPU_FN void find_keys_of_rows(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                 attend_block &t) {
  enum { ROWS = DOWN * R };
  const int r = threadIdx.x;
  if (r < ROWS) {
    const attend_range x = attend_key_range_of(a, t.b, attend_min(t.first + r, a.queries - 1));
    shared->lo[r] = (int)x.lo;
    shared->hi[r] = (int)x.hi;
  }
  __syncthreads();
  t.from = VT_ATTEND_LONGEST;
  t.to = 0;
  t.common_from = 0;
  t.common_to = VT_ATTEND_LONGEST;
  for (int i = 0; i < ROWS; i++) {
    const int lo = shared->lo[i], hi = shared->hi[i];
    if (hi > 0) {
      t.from = min(t.from, lo);
      t.to = max(t.to, hi);
    }
    t.common_from = max(t.common_from, lo);
    t.common_to = min(t.common_to, hi);
  }
  t.from = t.to == 0 ? 0 : t.from / TILE * TILE;
  if (a.mask.data != nullptr) t.common_to = 0;
}

// Starts a block of queries. The last queries come first: with causal attention they have the most
// keys. Values that are the same for all threads are kept in shared memory, to save registers.
template <int D, int R>
VT_GPU_FN void begin_query_block(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                 int64_t number) {
  enum { ROWS = DOWN * R };
  const int64_t tiles = attend_ceil_div(a.queries, ROWS), before = number / a.pairs;
  attend_block t;
  t.pair = number - before * a.pairs;
  t.b = t.pair / a.heads;
  t.h = t.pair - t.b * a.heads;
  t.first = (tiles - 1 - before) * ROWS;
  const int64_t group = t.h / (a.heads / a.groups);
  t.k = attend_row<float>(a.k, t.b, group, 0);
  t.v = attend_row<float>(a.v, t.b, group, 0);
  copy_tile<D, ROWS>(shared->q, attend_row<float>(a.q, t.b, t.h, t.first), a.q.step[2], a.q.step[3],
                     a.queries - t.first, a.depth, a.wide[0]);
  find_keys_of_rows<D, R>(a, shared, t);
  if (threadIdx.x == 0) shared->block = t;
  __syncthreads();
}

// Returns bit KEYS*i + j for row i and key j of this thread in a tile: 1 if the row attends to the
// key.
template <int D, int R>
VT_GPU_FN uint32_t attended_key_bits(const vt_gpu_attention &a, const attend_shared<D, R> *shared,
                                     const attend_block &t, int tile) {
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  uint32_t seen = 0;
  if (t.common_from <= tile && tile + TILE <= t.common_to) return ATTEND_ALL;
  for (int i = 0; i < R; i++) {
    const int r = y + DOWN * i;
    const uint8_t *mask =
        attend_row<uint8_t>(a.mask, t.b, t.h, attend_min(t.first + r, a.queries - 1));
    for (int j = 0; j < KEYS; j++) {
      const int key = tile + x + ACROSS * j;
      bool here = shared->lo[r] <= key && key < shared->hi[r];
      if (here && a.mask.data != nullptr) here = mask[key * a.mask.step[3]] != 0;
      seen |= (uint32_t)here << (KEYS * i + j);
    }
  }
  return seen;
}

// Turns the products s of queries and keys into scores: scales them and adds the bias. The scores
// of absent keys are meaningless.
template <int R>
VT_GPU_FN void scale_and_bias(const vt_gpu_attention &a, const attend_block &t, int tile,
                              uint32_t seen, float (&s)[R][KEYS]) {
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  VT_UNROLL
  for (int i = 0; i < R; i++) VT_UNROLL
  for (int j = 0; j < KEYS; j++) s[i][j] = s[i][j] * a.scale;
  if (a.bias.data == nullptr) return;
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const int64_t query = attend_min(t.first + y + DOWN * i, a.queries - 1);
    const float *bias = attend_row<float>(a.bias, t.b, t.h, query);
    VT_UNROLL
    for (int j = 0; j < KEYS; j++)
      if (seen >> (KEYS * i + j) & 1)
        s[i][j] = s[i][j] + bias[(tile + x + ACROSS * j) * a.bias.step[3]];
  }
}

template <int D>
VT_GPU_FN void copy_keys(const vt_gpu_attention &a, const attend_block &t, int tile, float *to) {
  copy_tile<D, TILE>(to, t.k + tile * a.k.step[2], a.k.step[2], a.k.step[3], a.keys - tile, a.depth,
                     a.wide[1]);
}
template <int D>
VT_GPU_FN void copy_values(const vt_gpu_attention &a, const attend_block &t, int tile, float *to) {
  copy_tile<D, TILE>(to, t.v + tile * a.v.step[2], a.v.step[2], a.v.step[3], a.keys - tile, a.width,
                     a.wide[2]);
}

// ---- stored scores: each thread reads only the scores that it wrote ----

template <int R>
VT_GPU_FN float *stored_scores_address(const vt_gpu_attention &a, const attend_block &t, int tile) {
  return a.scores + blockIdx.x * a.stride + (tile - t.from) * (THREADS * R * KEYS / TILE) +
         4 * threadIdx.x;
}
template <int R>
VT_GPU_FN void store_scores(float *to, const float (&s)[R][KEYS]) {
  static_assert(KEYS == 4, "16 bytes a row");
  VT_UNROLL
  for (int i = 0; i < R; i++)
    *(float4 *)(to + 4 * THREADS * i) = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
}

// Returns one of two buffers in shared memory for scores that were stored. They use the memory of
// the queries and of the second tile of keys, which are no longer needed. One is loaded while the
// other is in use.
template <int D, int R>
VT_GPU_FN float *score_buffer(attend_shared<D, R> *shared, int which) {
  static_assert(THREADS * R * KEYS <= sizeof shared->q / 4,
                "scores of a tile fit where queries do");
  static_assert(sizeof shared->q <= sizeof *shared->stage, "and where keys do");
  return (which == 0 ? shared->q : shared->stage[1]) + 4 * threadIdx.x;
}
template <int R>
VT_GPU_FN void prefetch_scores(float *to, const float *from) {
  VT_UNROLL
  for (int i = 0; i < R; i++) vt_async_copy_16(to + 4 * THREADS * i, from + 4 * THREADS * i, true);
  vt_async_close_group();
}
template <int R>
VT_GPU_FN void load_scores(const float *from, float (&s)[R][KEYS]) {
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const float4 f = *(const float4 *)(from + 4 * THREADS * i);
    s[i][0] = f.x;
    s[i][1] = f.y;
    s[i][2] = f.z;
    s[i][3] = f.w;
  }
}

// The first pass: finds the greatest score of each row. Unless scores are stored (KEPT), it starts
// loading the first tile of keys again into stage[now] and returns now.
template <bool KEPT, int D, int R>
VT_GPU_FN int find_maxima_in_first_pass(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                        const attend_block &t) {
  int now = 0;
  float m[R];
  VT_UNROLL
  for (int i = 0; i < R; i++) m[i] = attend_minus_infinity();
  copy_keys<D>(a, t, t.from, shared->stage[0]);
  for (int tile = t.from; tile < t.to; tile += TILE) {
    float s[R][KEYS];
    vt_async_wait<0>();
    __syncthreads();
    if (!KEPT || tile + TILE < t.to)
      copy_keys<D>(a, t, tile + TILE < t.to ? tile + TILE : t.from, shared->stage[now ^ 1]);
    multiply_queries_by_keys<D, R>(shared->q, shared->stage[now], s);
    const uint32_t seen = attended_key_bits<D, R>(a, shared, t, tile);
    scale_and_bias<R>(a, t, tile, seen, s);
    if (KEPT) store_scores<R>(stored_scores_address<R>(a, t, tile), s);
    VT_UNROLL
    for (int i = 0; i < R; i++) VT_UNROLL
    for (int j = 0; j < KEYS; j++)
      m[i] = seen >> (KEYS * i + j) & 1 ? attend_max_score(m[i], s[i][j]) : m[i];
    now ^= 1;
  }
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const float most = attend_max_lanes<ACROSS / 2>(m[i]);
    if (threadIdx.x % ACROSS == 0) shared->most[threadIdx.x / ACROSS + DOWN * i] = most;
  }
  return now;
}

// Computes the exp of arguments that the quick phase left undecided; `e` holds them in place of
// weights, and bit KEYS*i + j of `open` marks them.
VT_GPU_FN void finish_undecided_weights(float *e, uint32_t open) {
  while (open != 0) {
    const int bit = __ffs((int)open) - 1;
    float *at = e + DOWN * (bit / KEYS) * WEIGHTS + ACROSS * (bit % KEYS);
    *at = vt_s_narrow(vt_core_exp(vt_s_widen(*at)));
    open &= open - 1;
  }
}

// Computes the weights of a tile and adds them to lanes x and x + 16 of S of each row.
template <int D, int R>
VT_GPU_FN void compute_and_sum_weights(attend_shared<D, R> *shared, vt_exp_entry table,
                                       uint32_t seen, const float (&s)[R][KEYS],
                                       float (&upper_lane)[R]) {
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  float *e = shared->e + y * WEIGHTS + x;
  uint32_t open = 0;
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const float m = shared->most[y + DOWN * i];
    VT_UNROLL
    for (int j = 0; j < KEYS; j++) {
      const uint32_t bit = 1u << (KEYS * i + j);
      const float z = s[i][j] - m;
      float w;
      const bool sure = vt_exp_quick(table, z, w);
      e[DOWN * i * WEIGHTS + ACROSS * j] = (seen & bit) == 0 ? attend_absent_weight()
                                           : sure            ? w
                                                             : z;
      open |= sure ? 0 : seen & bit;
    }
  }
  finish_undecided_weights(e, open);
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const float *of_row = e + DOWN * i * WEIGHTS;
    const float even = shared->even[i][threadIdx.x] + of_row[0];
    upper_lane[i] = (upper_lane[i] + of_row[ACROSS]) + of_row[3 * ACROSS];
    shared->even[i][threadIdx.x] = even + of_row[2 * ACROSS];
  }
}

// Computes S of the weights of a chunk of keys. It stays in `sum` if a row has only one chunk; else
// it is stored in a.sums.
template <int D, int R>
VT_GPU_FN void finish_weight_chunk_sum(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                       const attend_block &t, int chunk, float (&sum)[R]) {
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const int64_t query = t.first + y + DOWN * i;
    const float s = attend_sum_lanes<ACROSS / 2>(shared->even[i][threadIdx.x] + sum[i]);
    shared->even[i][threadIdx.x] = 0.0f;
    sum[i] = a.sums_stride == 1 ? s : 0.0f;
    if (a.sums_stride > 1 && x == 0 && query < a.queries)
      a.sums[(t.pair * a.queries + query) * a.sums_stride + chunk] = s;
  }
}

// Computes S of each row's weights from the sums of its chunks; chunks without keys count +0.
template <int R>
VT_GPU_FN void sum_weight_chunks(const vt_gpu_attention &a, const attend_block &t,
                                 float (&sum)[R]) {
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  const int from = t.from / VT_ATTEND_CHUNK, to = (t.to + VT_ATTEND_CHUNK - 1) / VT_ATTEND_CHUNK;
  if (a.sums_stride == 1) return;
  __syncwarp();
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const int64_t query = attend_min(t.first + y + DOWN * i, a.queries - 1);
    const float *of_row = a.sums + (t.pair * a.queries + query) * a.sums_stride;
    float s[2] = {0.0f, 0.0f};
    for (int c = x; c < to; c += 2 * ACROSS) {
      if (c >= from) s[0] = s[0] + of_row[c];
      if (c + ACROSS >= from && c + ACROSS < to) s[1] = s[1] + of_row[c + ACROSS];
    }
    sum[i] = attend_sum_lanes<ACROSS / 2>(s[0] + s[1]);
  }
}

// ---- levels of T above the first: in memory, because they are used once per 2,048 keys ----

// Adds group_sum, the sum of group number `group`, to level 1 of T at `at`, and passes the sums of
// complete groups on to higher levels.
VT_GPU_FN void carry_to_levels(float *at, int64_t level_step, int levels, int group,
                               float group_sum) {
  for (int i = 1; i < levels; i++, at += level_step, group /= VT_ATTEND_GROUP) {
    const float sum = *at + group_sum;
    const bool whole = group % VT_ATTEND_GROUP == VT_ATTEND_GROUP - 1 && i + 1 < levels;
    *at = whole ? 0.0f : sum;
    if (!whole) return;
    group_sum = sum;
  }
}
VT_GPU_FN float sum_levels(const float *at, int64_t level_step, int levels, float x) {
  for (int i = 1; i < levels; i++, at += level_step) x = *at + x;
  return x;
}

template <int C>
VT_GPU_FN int column_of_own_result(int index) {
  return 4 * (int)(threadIdx.x % ACROSS) + index / 4 * 64 + index % 4;
}

enum { LEVELS_CLEAR, LEVELS_CARRY, LEVELS_END };
template <int WHAT, int R, int C>
VT_GPU_FN void clear_carry_or_sum_levels(const vt_gpu_attention &a, const attend_block &t,
                                         int group, float (&sum)[R][C]) {
  const int64_t level_step = a.pairs * a.queries * a.width;
  if (a.levels == 1) return;
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const int64_t query = t.first + threadIdx.x / ACROSS + DOWN * i;
    VT_UNROLL
    for (int c = 0; c < C; c++) {
      const int column = column_of_own_result<C>(c);
      if (query >= a.queries || column >= a.width) continue;
      float *at = a.upper + (t.pair * a.queries + query) * a.width + column;
      if (WHAT == LEVELS_CLEAR)
        for (int l = 1; l < a.levels; l++) at[(l - 1) * level_step] = 0.0f;
      if (WHAT == LEVELS_CARRY) {
        carry_to_levels(at, level_step, (int)a.levels, group, sum[i][c]);
        sum[i][c] = 0.0f;
      }
      if (WHAT == LEVELS_END) sum[i][c] = sum_levels(at, level_step, (int)a.levels, sum[i][c]);
    }
  }
}

// Ends a block of keys: adds its chains p to the sums of their group and clears them.
template <int R, int C>
VT_GPU_FN void add_key_block_to_group(const vt_gpu_attention &a, const attend_block &t, int block,
                                      float (&p)[R][C], float (&sum)[R][C]) {
  VT_UNROLL
  for (int i = 0; i < R; i++) VT_UNROLL
  for (int c = 0; c < C; c++) {
    sum[i][c] = sum[i][c] + p[i][c];
    p[i][c] = 0.0f;
  }
  if (block % VT_ATTEND_GROUP == VT_ATTEND_GROUP - 1)
    clear_carry_or_sum_levels<LEVELS_CARRY, R, C>(a, t, block / VT_ATTEND_GROUP, sum);
}

// Starts loading the values of a tile and computes its scores meanwhile; returns the address at
// which the values will be.
template <int D, int R>
VT_GPU_FN const float *prefetch_values_compute_scores(const vt_gpu_attention &a,
                                                      attend_shared<D, R> *shared,
                                                      const attend_block &t, int tile,
                                                      uint32_t seen, int now, float (&s)[R][KEYS]) {
  copy_values<D>(a, t, tile, shared->stage[now ^ 1]);
  multiply_queries_by_keys<D, R>(shared->q, shared->stage[now], s);
  scale_and_bias<R>(a, t, tile, seen, s);
  return shared->stage[now ^ 1];
}
template <int D, int R>
VT_GPU_FN const float *prefetch_values_load_scores(const vt_gpu_attention &a,
                                                   attend_shared<D, R> *shared,
                                                   const attend_block &t, int tile, int now,
                                                   float (&s)[R][KEYS]) {
  copy_values<D>(a, t, tile, shared->stage[0]);
  load_scores<R>(score_buffer<D, R>(shared, now), s);
  return shared->stage[0];
}

// Starts loading what the next tile needs first: its scores if they were stored (KEPT), else its
// keys.
template <bool KEPT, int D, int R>
VT_GPU_FN void prefetch_scores_or_keys(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                       const attend_block &t, int tile, int to) {
  if (KEPT) {
    prefetch_scores<R>(score_buffer<D, R>(shared, to), stored_scores_address<R>(a, t, tile));
  } else {
    copy_keys<D>(a, t, tile, shared->stage[to]);
  }
}

// The second pass: computes weights, their sums, and their products with v.
template <bool KEPT, int D, int R>
VT_GPU_FN void sum_values_in_second_pass(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                         const attend_block &t, int now, float (&total)[R],
                                         float (&sum)[R][D / ACROSS]) {
  enum { C = D / ACROSS };
  const vt_exp_entry table = vt_exp_load_entry();
  float p[R][C];
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    total[i] = shared->even[i][threadIdx.x] = 0.0f;
    VT_UNROLL
    for (int c = 0; c < C; c++) p[i][c] = sum[i][c] = 0.0f;
  }
  clear_carry_or_sum_levels<LEVELS_CLEAR, R, C>(a, t, 0, sum);
  for (int tile = t.from; tile < t.to; tile += TILE) {
    const int next = tile + TILE;
    const bool last = next >= t.to, whole = t.common_from <= tile && next <= t.common_to;
    float s[R][KEYS];
    vt_async_wait<0>();
    __syncthreads();
    const uint32_t seen = attended_key_bits<D, R>(a, shared, t, tile);
    const float *v = KEPT ? prefetch_values_load_scores<D, R>(a, shared, t, tile, now, s)
                          : prefetch_values_compute_scores<D, R>(a, shared, t, tile, seen, now, s);
    now ^= KEPT;
    if (KEPT && !last) prefetch_scores_or_keys<KEPT, D, R>(a, shared, t, next, now);
    compute_and_sum_weights<D, R>(shared, table, seen, s, total);
    if (last || next % VT_ATTEND_CHUNK == 0)
      finish_weight_chunk_sum<D, R>(a, shared, t, tile / VT_ATTEND_CHUNK, total);
    if (KEPT && !last) {
      vt_async_wait<1>();
    } else {
      vt_async_wait<0>();
    }
    __syncthreads();
    if (!KEPT && !last) prefetch_scores_or_keys<KEPT, D, R>(a, shared, t, next, now);
    if (whole) {
      add_weighted_values<false, D, R>(shared->e, v, p);
    } else {
      add_weighted_values<true, D, R>(shared->e, v, p);
    }
    if (last || next % VT_ATTEND_BLOCK == 0)
      add_key_block_to_group<R, C>(a, t, tile / VT_ATTEND_BLOCK, p, sum);
  }
  clear_carry_or_sum_levels<LEVELS_END, R, C>(a, t, 0, sum);
}

// Divides by the sums of weights and stores the results. A sum is 0 only for a row without keys,
// whose result is 0.
template <int R, int C>
VT_GPU_FN void divide_and_store_results(const vt_gpu_attention &a, const attend_block &t,
                                        const float (&total)[R], const float (&sum)[R][C]) {
  VT_UNROLL
  for (int i = 0; i < R; i++) {
    const int64_t query = t.first + threadIdx.x / ACROSS + DOWN * i;
    if (query >= a.queries) continue;
    float *out = (float *)attend_row<float>(a.out, t.b, t.h, query), y[C];
    VT_UNROLL
    for (int c = 0; c < C; c++) y[c] = total[i] == 0.0f ? 0.0f : sum[i][c] / total[i];
    VT_UNROLL
    for (int c = 0; c < C; c += 4) {
      const int column = column_of_own_result<C>(c);
      if (a.wide_out && column < a.width) {
        *(float4 *)(out + column) = make_float4(y[c], y[c + 1], y[c + 2], y[c + 3]);
        continue;
      }
      VT_UNROLL
      for (int n = 0; n < 4; n++)
        if (column + n < a.width) out[(column + n) * a.out.step[3]] = y[c + n];
    }
  }
}

template <bool KEPT, int D, int R>
VT_GPU_FN void attend_query_block(const vt_gpu_attention &a, attend_shared<D, R> *shared,
                                  int64_t number) {
  enum { C = D / ACROSS };
  const attend_block &t = shared->block;
  float total[R], sum[R][C];
  begin_query_block<D, R>(a, shared, number);
  int now = find_maxima_in_first_pass<KEPT, D, R>(a, shared, t);
  if (KEPT) {
    __syncthreads();
    now = 0;
    if (t.from < t.to) prefetch_scores_or_keys<KEPT, D, R>(a, shared, t, t.from, now);
  }
  sum_values_in_second_pass<KEPT, D, R>(a, shared, t, now, total, sum);
  sum_weight_chunks<R>(a, t, total);
  divide_and_store_results<R, C>(a, t, total, sum);
  vt_async_wait<0>();
}

// A thread block processes more than one tile of queries if storing scores for all tiles at once
// would need more scratch than there is. It goes through the tiles forwards and then backwards, so
// that a block with a long tile gets a short one next.
template <bool KEPT, int D, int R>
VT_GPU_FN void attend_query_blocks(const vt_gpu_attention &a) {
  attend_shared<D, R> *shared = vt_shared<attend_shared<D, R>>();
  const int64_t all = attend_ceil_div(a.queries, DOWN * R) * a.pairs;
  bool back = false;
  for (int64_t first = 0; first < all; first += gridDim.x, back = !back) {
    const int64_t number = first + (back ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
    if (first > 0) __syncthreads();
    if (number < all) attend_query_block<KEPT, D, R>(a, shared, number);
  }
}

VT_KERNEL_RESIDENT(attend_64, vt_gpu_attention, THREADS, 3) { attend_query_blocks<true, 64, 8>(a); }
VT_KERNEL_RESIDENT(attend_128, vt_gpu_attention, THREADS, 2) {
  attend_query_blocks<true, 128, 4>(a);
}
VT_KERNEL_RESIDENT(attend_64_long, vt_gpu_attention, THREADS, 3) {
  attend_query_blocks<false, 64, 8>(a);
}
VT_KERNEL_RESIDENT(attend_128_long, vt_gpu_attention, THREADS, 2) {
  attend_query_blocks<false, 128, 4>(a);
}
