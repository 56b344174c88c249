// SPDX-License-Identifier: Apache-2.0
// attention_split.cu - attention with few queries, or with heads too wide for attention.cu. Scores
// are stored in memory. D, S and T are the summation orders of docs/numerics.md, with chains of 256
// products. A unit is up to 8 rows of one key head; a piece is 64 keys of v, which are copied
// together. A thread block has some rows and 256 keys, so the keys of one row are shared by many
// blocks:
//   attend_scores   scores, and the greatest of them; attend_deep if D has levels
//   attend_values   weights, and the chains of their products with v
//   attend_results  S of the weights, T of the products, and the quotient
#include "gpu_attend.cuh"

enum {
  BLOCK = VT_ATTEND_BLOCK,  // keys of a thread block, which has a thread per key
  ROWS = VT_ATTEND_ROWS,
  DEPTH = 32,        // columns of q and k that are in shared memory at a time
  STEP = DEPTH + 4,  // floats per row of these columns of q or k, padded
  WIDTH = 64,        // columns of v that are in shared memory at a time
  PIECE = 64,        // keys per piece of v
  WEIGHTS = BLOCK + 4,
  WARPS = BLOCK / 32,
  RESULTS = 128  // threads that compute the result of a row
};

// ---- rows ----

struct attend_unit {  // what a thread block has in shared memory
  attend_range seen[ROWS];
  int64_t head[ROWS], query[ROWS];
};

struct attend_place {
  // batch, key head; slot: the unit's first row in scratch; number of rows
  int64_t b, group, slot, rows;
  int64_t from, to;  // range of keys that any row of the unit attends to
};

// Finds the head and query of a row; the rows of a key head are numbered (head, query).
VT_GPU_FN void locate_row(const vt_gpu_attention &a, const attend_place &p, int64_t row,
                          int64_t &head, int64_t &query) {
  head = p.group * (a.heads / a.groups) + row / a.queries;
  query = row % a.queries;
}
VT_GPU_FN attend_place locate_unit(const vt_gpu_attention &a, int64_t unit, int64_t &first_row) {
  const int64_t pair = (a.first + unit) / a.units;
  attend_place p;
  first_row = (a.first + unit) % a.units * ROWS;
  p.b = pair / a.groups;
  p.group = pair % a.groups;
  p.slot = unit * ROWS;
  p.rows = attend_min(ROWS, a.per_group - first_row);
  p.from = p.to = 0;
  return p;
}

VT_GPU_FN attend_place locate_rows_of_unit(const vt_gpu_attention &a, attend_unit *u) {
  int64_t row;
  attend_place p = locate_unit(a, blockIdx.y, row);
  const int r = threadIdx.x;
  if (r < p.rows) {
    locate_row(a, p, row + r, u->head[r], u->query[r]);
    u->seen[r] = attend_key_range_of(a, p.b, u->query[r]);
  }
  __syncthreads();
  p.from = a.keys;
  for (int i = 0; i < p.rows; i++) {
    if (u->seen[i].hi == 0) continue;
    p.from = attend_min(p.from, u->seen[i].lo);
    p.to = attend_max(p.to, u->seen[i].hi);
  }
  return p;
}

// Returns true if no row of the unit attends to any of the BLOCK keys that begin with `first_key`.
VT_GPU_FN bool is_key_block_unattended(const attend_place &p, int64_t first_key) {
  return first_key >= p.to || first_key + BLOCK <= p.from;
}

VT_GPU_FN bool row_attends_to_key(const vt_gpu_attention &a, const attend_place &p,
                                  const attend_unit *u, int r, int64_t key) {
  if (key < u->seen[r].lo || key >= u->seen[r].hi) return false;
  if (a.mask.data == nullptr) return true;
  return attend_row<uint8_t>(a.mask, p.b, u->head[r], u->query[r])[key * a.mask.step[3]] != 0;
}

// ---- scores ----

struct scores_shared {
  float k[BLOCK * STEP], q[ROWS * STEP], most[ROWS][WARPS];
  attend_unit unit;
};
static_assert(sizeof(scores_shared) == VT_ATTEND_SCORES_SHARED, "what a launch asks for");

// Loads DEPTH columns of q and of this block's keys, beginning with `column`.
VT_GPU_FN void copy_columns_of_q_and_k(const vt_gpu_attention &a, const attend_place &p,
                                       scores_shared *shared, int64_t first_key, int64_t column) {
  const float *k = attend_row<float>(a.k, p.b, p.group, first_key) + column * a.k.step[3];
  const int64_t n = a.keys - first_key, columns = a.depth - column;
  const int r = threadIdx.x / DEPTH, c = threadIdx.x % DEPTH;
  if (a.wide[1]) {
    for (int i = threadIdx.x; i < BLOCK * DEPTH / 4; i += BLOCK) {
      const int row = i / (DEPTH / 4), at = i % (DEPTH / 4) * 4;
      const bool there = row < n && at < columns;
      vt_async_copy_16(shared->k + row * STEP + at, there ? k + (row * a.k.step[2] + at) : k,
                       there);
    }
  } else {
    for (int row = r; row < BLOCK; row += BLOCK / DEPTH) {
      const bool there = row < n && c < columns;
      vt_async_copy_4(shared->k + row * STEP + c,
                      there ? k + (row * a.k.step[2] + c * a.k.step[3]) : k, there);
    }
  }
  const bool there = r < p.rows && c < columns;
  const int from = there ? r : 0;
  const float *q = attend_row<float>(a.q, p.b, shared->unit.head[from], shared->unit.query[from]);
  vt_async_copy_4(shared->q + r * STEP + c, there ? q + (column + c) * a.q.step[3] : q, there);
  vt_async_close_group();
}

VT_GPU_FN void add_column_products(const scores_shared *shared, int rows, float (&chain)[ROWS]) {
  for (int c = 0; c < DEPTH; c += 4) {
    const float4 k = *(const float4 *)(shared->k + threadIdx.x * STEP + c);
    VT_UNROLL
    for (int r = 0; r < ROWS; r++) {
      if (r >= rows) break;
      const float4 q = *(const float4 *)(shared->q + r * STEP + c);
      chain[r] = __fmaf_rn(q.x, k.x, chain[r]);
      chain[r] = __fmaf_rn(q.y, k.y, chain[r]);
      chain[r] = __fmaf_rn(q.z, k.z, chain[r]);
      chain[r] = __fmaf_rn(q.w, k.w, chain[r]);
    }
  }
}

// Computes D(q, k) of this thread's key with each row, for a depth of at most 8 chains of 256.
VT_GPU_FN void dot_products_shallow(const vt_gpu_attention &a, const attend_place &p,
                                    scores_shared *shared, int64_t first_key, float (&sum)[ROWS]) {
  float chain[ROWS];
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) chain[r] = sum[r] = 0.0f;
  for (int64_t c = 0; c < a.depth; c += DEPTH) {
    copy_columns_of_q_and_k(a, p, shared, first_key, c);
    vt_async_wait<0>();
    __syncthreads();
    add_column_products(shared, (int)p.rows, chain);
    __syncthreads();
    if ((c + DEPTH) % 256 != 0 && c + DEPTH < a.depth) continue;
    VT_UNROLL
    for (int r = 0; r < ROWS; r++) {
      sum[r] = sum[r] + chain[r];
      chain[r] = 0.0f;
    }
  }
}

// Computes D(q, k) for any depth, for one row.
VT_GPU_FN float dot_product_deep(const float *q, int64_t q_step, const float *k, int64_t k_step,
                                 int64_t depth) {
  attend_levels t;
  attend_levels_clear(t);
  for (int64_t c = 0; c < depth; c += 256) {
    const int64_t end = attend_min(c + 256, depth);
    float p = 0.0f;
    for (int64_t i = c; i < end; i++) p = __fmaf_rn(q[i * q_step], k[i * k_step], p);
    attend_levels_add(t, c / 256, p);
  }
  return attend_levels_sum(t);
}

template <bool DEEP>
VT_GPU_FN float deep_or_shallow_dot_product(const vt_gpu_attention &a, const attend_place &p,
                                            const attend_unit *u, int r, int64_t key,
                                            float shallow) {
  if (!DEEP || key >= a.keys) return shallow;
  return dot_product_deep(attend_row<float>(a.q, p.b, u->head[r], u->query[r]), a.q.step[3],
                          attend_row<float>(a.k, p.b, p.group, key), a.k.step[3], a.depth);
}

template <bool DEEP>
VT_GPU_FN void compute_scores_and_max(const vt_gpu_attention &a) {
  scores_shared *shared = vt_shared<scores_shared>();
  const int64_t first = (int64_t)blockIdx.x * BLOCK, key = first + threadIdx.x;
  const attend_place p = locate_rows_of_unit(a, &shared->unit);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum[ROWS] = {0};
  if (is_key_block_unattended(p, first)) return;
  if (!DEEP) dot_products_shallow(a, p, shared, first, sum);
  VT_UNROLL
  for (int r = 0; r < ROWS; r++) {
    if (r >= p.rows) break;
    const bool seen = row_attends_to_key(a, p, &shared->unit, r, key);
    const float d = deep_or_shallow_dot_product<DEEP>(a, p, &shared->unit, r, key, sum[r]);
    const float *bias = attend_row<float>(a.bias, p.b, shared->unit.head[r], shared->unit.query[r]);
    const float s = seen ? attend_score(a, d, a.bias.data == nullptr ? nullptr : bias, key) : 0.0f;
    if (seen) a.scores[(p.slot + r) * a.stride + key] = s;
    const float m = attend_max_lanes<16>(seen ? s : attend_minus_infinity());
    if (lane == 0) shared->most[r][warp] = m;
  }
  __syncthreads();
  if (threadIdx.x >= p.rows) return;
  float m = attend_minus_infinity();
  for (int w = 0; w < WARPS; w++) m = attend_max_score(m, shared->most[threadIdx.x][w]);
  a.most[(p.slot + threadIdx.x) * a.blocks + blockIdx.x] = m;
}

VT_KERNEL(attend_scores, vt_gpu_attention, 256) { compute_scores_and_max<false>(a); }
VT_KERNEL(attend_deep, vt_gpu_attention, 256) { compute_scores_and_max<true>(a); }

// ---- weights and their products with v ----

struct values_shared {
  float v[BLOCK * WIDTH], e[ROWS * WEIGHTS], most[ROWS];
  attend_unit unit;
};
static_assert(sizeof(values_shared) == VT_ATTEND_VALUES_SHARED, "what a launch asks for");

// Finds the greatest score of each row; a warp does one row.
VT_GPU_FN void find_max_scores(const vt_gpu_attention &a, const attend_place &p,
                               values_shared *shared) {
  const int lane = threadIdx.x % 32, r = threadIdx.x / 32;
  float m = attend_minus_infinity();
  if (r < p.rows && shared->unit.seen[r].hi > 0) {
    const attend_range x = shared->unit.seen[r];
    for (int64_t i = x.lo / BLOCK + lane; i <= (x.hi - 1) / BLOCK; i += 32)
      m = attend_max_score(m, a.most[(p.slot + r) * a.blocks + i]);
  }
  m = attend_max_lanes<16>(m);
  if (lane == 0) shared->most[r] = m;
}

static __device__ __noinline__ float exp_accurate(float x) {
  return vt_s_narrow(vt_core_exp(vt_s_widen(x)));
}
VT_GPU_FN float exp_quick_or_accurate(float x) {
  const vt_ff_rounded y = vt_ff_try_exp(x);
  return y.sure ? y.y : exp_accurate(x);
}

VT_GPU_FN void compute_weights_of_key(const vt_gpu_attention &a, const attend_place &p,
                                      values_shared *shared, int64_t key) {
  for (int r = 0; r < p.rows; r++) {
    float *s = a.scores + (p.slot + r) * a.stride + key;
    float e = attend_absent_weight();
    if (row_attends_to_key(a, p, &shared->unit, r, key))
      e = exp_quick_or_accurate(*s - shared->most[r]);
    if (key < a.keys) *s = e;
    shared->e[r * WEIGHTS + threadIdx.x] = e;
  }
}

// Loads PIECE keys of v, WIDTH columns of each.
VT_GPU_FN void copy_piece_of_v(const vt_gpu_attention &a, const attend_place &p,
                               values_shared *shared, int64_t first_key, int piece,
                               int64_t column) {
  const int64_t at = first_key + piece * PIECE, n = a.keys - at, columns = a.width - column;
  const float *v = attend_row<float>(a.v, p.b, p.group, first_key) + column * a.v.step[3];
  const float *from = v + piece * PIECE * a.v.step[2];
  float *to = shared->v + piece * PIECE * WIDTH;
  if (a.wide[2]) {
    for (int i = threadIdx.x; i < PIECE * WIDTH / 4; i += BLOCK) {
      const int r = i / (WIDTH / 4), c = i % (WIDTH / 4) * 4;
      const bool there = r < n && c < columns;
      vt_async_copy_16(to + r * WIDTH + c, there ? from + (r * a.v.step[2] + c) : v, there);
    }
  } else {
    for (int i = threadIdx.x; i < PIECE * WIDTH; i += BLOCK) {
      const int r = i / WIDTH, c = i % WIDTH;
      const bool there = r < n && c < columns;
      vt_async_copy_4(to + r * WIDTH + c, there ? from + (r * a.v.step[2] + c * a.v.step[3]) : v,
                      there);
    }
  }
  vt_async_close_group();
}

// AT_ONCE: rows that the threads process at a time; EACH: rows per thread
enum { AT_ONCE = BLOCK / WIDTH, EACH = ROWS / AT_ONCE };

// Waits for piece N of v and extends the chains by its products with the weights.
template <int N>
VT_GPU_FN void add_products_with_piece_of_v(const values_shared *shared, int rows,
                                            float (&chain)[EACH]) {
  const int column = threadIdx.x % WIDTH, row = threadIdx.x / WIDTH;
  const float *v = shared->v + N * PIECE * WIDTH + column;
  vt_async_wait<BLOCK / PIECE - 1 - N>();
  __syncthreads();
  if (row >= rows) return;
  _Pragma("unroll 4") for (int j = 0; j < PIECE; j += 4) {
    VT_UNROLL
    for (int i = 0; i < EACH; i++) {
      const float *e = shared->e + (row + AT_ONCE * i) * WEIGHTS + N * PIECE + j;
      const float4 w = *(const float4 *)e;
      if (!attend_is_absent_weight(w.x)) chain[i] = __fmaf_rn(w.x, v[j * WIDTH], chain[i]);
      if (!attend_is_absent_weight(w.y)) chain[i] = __fmaf_rn(w.y, v[(j + 1) * WIDTH], chain[i]);
      if (!attend_is_absent_weight(w.z)) chain[i] = __fmaf_rn(w.z, v[(j + 2) * WIDTH], chain[i]);
      if (!attend_is_absent_weight(w.w)) chain[i] = __fmaf_rn(w.w, v[(j + 3) * WIDTH], chain[i]);
    }
  }
}

VT_KERNEL(attend_values, vt_gpu_attention, 256) {
  values_shared *shared = vt_shared<values_shared>();
  const int64_t first = (int64_t)blockIdx.x * BLOCK, key = first + threadIdx.x;
  const attend_place p = locate_rows_of_unit(a, &shared->unit);
  const int rows = (int)p.rows, row = threadIdx.x / WIDTH;
  if (is_key_block_unattended(p, first)) return;
  for (int r = rows; r < ROWS; r++) shared->e[r * WEIGHTS + threadIdx.x] = attend_absent_weight();
  find_max_scores(a, p, shared);
  for (int64_t c = 0; c < a.width; c += WIDTH) {
    const int64_t column = c + threadIdx.x % WIDTH;
    float chain[EACH] = {0};
    for (int i = 0; i < BLOCK / PIECE; i++) copy_piece_of_v(a, p, shared, first, i, c);
    __syncthreads();
    if (c == 0) compute_weights_of_key(a, p, shared, key);
    add_products_with_piece_of_v<0>(shared, rows, chain);
    add_products_with_piece_of_v<1>(shared, rows, chain);
    add_products_with_piece_of_v<2>(shared, rows, chain);
    add_products_with_piece_of_v<3>(shared, rows, chain);
    VT_UNROLL
    for (int i = 0; i < EACH; i++) {
      const int64_t at = p.slot + row + AT_ONCE * i;
      if (row + AT_ONCE * i < rows && column < a.width)
        a.products[(at * a.blocks + blockIdx.x) * a.width + column] = chain[i];
    }
    __syncthreads();
  }
}

// ---- results ----

// Returns S of a chunk in which only x[lo .. hi - 1] count; the others count +0. One warp computes
// it.
VT_GPU_FN float sum_chunk_in_range(const float *x, int64_t chunk, int64_t lo, int64_t hi) {
  const int64_t from = chunk * VT_ATTEND_CHUNK, end = attend_min(hi, from + VT_ATTEND_CHUNK);
  float s = 0.0f;
  for (int64_t i = from + threadIdx.x % 32; i < end; i += 32)
    if (i >= lo) s = s + x[i];
  return attend_sum_lanes<16>(s);
}

// Returns S of a row's weights. The warps sum chunks in parallel: first chunks of weights, then
// chunks of those sums, and so on.
VT_GPU_FN float sum_weights(const vt_gpu_attention &a, int64_t slot, attend_range keys) {
  const float *from = a.scores + slot * a.stride;
  float *to = a.sums + slot * a.sums_stride;
  int64_t n = a.keys;
  if (keys.hi == 0) return 0.0f;
  for (;;) {
    const int64_t end = attend_ceil_div(keys.hi, VT_ATTEND_CHUNK);
    for (int64_t c = keys.lo / VT_ATTEND_CHUNK + threadIdx.x / 32; c < end; c += RESULTS / 32) {
      const float s = sum_chunk_in_range(from, c, keys.lo, keys.hi);
      if (threadIdx.x % 32 == 0) to[c] = s;
    }
    __syncthreads();
    if (n <= VT_ATTEND_CHUNK) return to[0];
    from = to;
    n = attend_ceil_div(n, VT_ATTEND_CHUNK);
    to += n;
    keys.lo /= VT_ATTEND_CHUNK;
    keys.hi = end;
  }
}

VT_KERNEL(attend_results, vt_gpu_attention, RESULTS) {
  const int64_t slot = blockIdx.x;
  int64_t row, h, i;
  const attend_place p = locate_unit(a, slot / ROWS, row);
  if (slot % ROWS >= p.rows) return;
  locate_row(a, p, row + slot % ROWS, h, i);
  const attend_range x = attend_key_range_of(a, p.b, i);
  const float sum = sum_weights(a, slot, x);
  const float *products = a.products + slot * a.blocks * a.width;
  float *out = (float *)attend_row<float>(a.out, p.b, h, i);
  for (int64_t c = threadIdx.x; c < a.width; c += RESULTS) {
    attend_levels t;
    attend_levels_clear(t);
    for (int64_t b = x.lo / BLOCK; b * BLOCK < x.hi; b++)
      attend_levels_add(t, b, products[b * a.width + c]);
    const float y = attend_levels_sum(t);
    out[c * a.out.step[3]] = sum == 0.0f ? 0.0f : y / sum;
  }
}
