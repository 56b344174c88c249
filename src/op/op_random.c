/* SPDX-License-Identifier: Apache-2.0
 * op_random.c - numbers drawn by Philox, each a function of seed, stream, step and its row-major
 * index, and ops that use them: bernoulli, dropout, categorical, shuffle. Philox returns blocks
 * of four 32-bit words; block i holds the words of indices 4i .. 4i+3. A composition is written
 * as ops (the definition) and as a kernel (the second implementation). */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- rules ---- */

static vt_status check_stream(int64_t stream, vt_diag *d) {
  if (stream >= 0 && stream <= UINT32_MAX) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "stream %lld is outside 0..2^32-1", (long long)stream);
}

static vt_status random_shape(uint32_t dtype, const vt_attr_list *shape, int64_t stream,
                              vt_type *out, vt_diag *d) {
  VT_TRY(check_stream(stream, d));
  if (shape->n < 0 || shape->n > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "a shape of rank %lld: at most %d", (long long)shape->n,
                   VT_MAX_RANK);
  out->dtype = dtype;
  out->rank = (uint32_t)shape->n;
  memcpy(out->dim, shape->v, (size_t)shape->n * sizeof *out->dim);
  return VT_OK;
}

vt_status shape_random(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_random *a = r->attrs;
  return random_shape(VT_DTYPE_F32, &a->shape, a->stream, out, d);
}

vt_status shape_random_bits(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_random *a = r->attrs;
  return random_shape(VT_DTYPE_I64, &a->shape, a->stream, out, d);
}

static int is_finite(double x) { return x - x == 0; }

vt_status shape_uniform(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_random_uniform_range *a = r->attrs;
  if (!is_finite(a->low) || !is_finite(a->high))
    return VT_FAIL(d, VT_VERIFY, "uniform needs a finite low and a finite high");
  return random_shape(VT_DTYPE_F32, &a->shape, a->stream, out, d);
}

vt_status shape_random_integer(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_random_integer *a = r->attrs;
  if (a->low > a->high || (uint64_t)a->high - (uint64_t)a->low > UINT32_MAX)
    return VT_FAIL(d, VT_VERIFY, "the range %lld..%lld holds no integer or more than 2^32",
                   (long long)a->low, (long long)a->high);
  return random_shape(VT_DTYPE_I64, &a->shape, a->stream, out, d);
}

/* the limit 2^38: the decomposition draws four words for each number, and a dimension is at most
 * 2^40 */
enum { MOST_SHUFFLED_BITS = 38 };
vt_status shape_shuffle(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_shuffle *a = r->attrs;
  if (!vt_dim_is_symbolic(a->n) && (a->n < 0 || a->n > INT64_C(1) << MOST_SHUFFLED_BITS))
    return VT_FAIL(d, VT_VERIFY, "n=%lld is outside 0..2^%d", (long long)a->n, MOST_SHUFFLED_BITS);
  const vt_attr_list shape = {.n = 1, .v = {a->n}};
  return random_shape(VT_DTYPE_I64, &shape, a->stream, out, d);
}

/* Checks the operands x, seed and step of an op that draws one number for each element of x: f32,
 * and two scalars i64. */
vt_status check_x_seed_step(const vt_rule *r, vt_diag *d) {
  char type[VT_TYPE_TEXT];
  if (r->in[0].dtype != VT_DTYPE_F32)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected f32",
                   vt_type_text(r->dims, &r->in[0], type));
  for (uint32_t i = 1; i < 3; i++)
    if (r->in[i].dtype != VT_DTYPE_I64 || r->in[i].rank != 0)
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected i64[]", i + 1,
                     vt_type_text(r->dims, &r->in[i], type));
  return VT_OK;
}

vt_status shape_bernoulli(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_stream(((const vt_attr_stream *)r->attrs)->stream, d));
  *out = r->in[0];
  out->dtype = VT_DTYPE_BOOL;
  return VT_OK;
}

vt_status shape_dropout(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_dropout *a = r->attrs;
  VT_TRY(check_stream(a->stream, d));
  if (!(a->p >= 0 && a->p <= 1)) return VT_FAIL(d, VT_VERIFY, "p must lie in 0..1");
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_categorical(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_categorical *a = r->attrs;
  const vt_type *x = &r->in[0];
  char type[VT_TYPE_TEXT];
  VT_TRY(check_stream(a->stream, d));
  if (a->axis < 0 || a->axis >= (int64_t)x->rank || x->dim[a->axis] == 0)
    return VT_FAIL(d, VT_VERIFY, "nothing to draw from along axis %lld of %s", (long long)a->axis,
                   vt_type_text(r->dims, x, type));
  const int64_t length = x->dim[a->axis];
  if (a->k < 0 || a->k > VT_DIM_MAX || (!vt_dim_is_symbolic(length) && a->k > length))
    return VT_FAIL(d, VT_VERIFY, "k=%lld of axis %lld of %s: expected 0 to its length",
                   (long long)a->k, (long long)a->axis, vt_type_text(r->dims, x, type));
  out->dtype = VT_DTYPE_I64;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (i != a->axis) out->dim[out->rank++] = x->dim[i];
    if (i == a->axis && a->k > 0) out->dim[out->rank++] = a->k;
  }
  return VT_OK;
}

/* ---- drawing ---- */

/* The source of the words of one tensor: words[] is a copy of block number `block`. */
typedef struct source {
  uint64_t seed, block;
  uint32_t stream, step, words[4];
} source;

static source new_source(const vt_view *seed, const vt_view *step, int64_t stream) {
  return (source){.seed = *(const uint64_t *)seed->data,
                  .block = UINT64_MAX,
                  .stream = (uint32_t)stream,
                  .step = (uint32_t) * (const uint64_t *)step->data};
}

static const uint32_t *draw_block_of_index(source *s, uint64_t index) {
  if (s->block != index / 4) vt_philox(s->seed, s->stream, s->step, index / 4, s->words);
  s->block = index / 4;
  return s->words;
}

static uint32_t draw_word(source *s, uint64_t index) {
  return draw_block_of_index(s, index)[index % 4];
}
static float draw_uniform(source *s, uint64_t index) {
  return vt_philox_uniform(draw_block_of_index(s, index), index);
}

static vt_status draw_all(vt_kernel *k, float (*element)(const uint32_t *, uint64_t)) {
  source s = new_source(&k->in[0], &k->in[1], ((const vt_attr_random *)k->attrs)->stream);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((float *)k->out->data)[w.at[0]] = element(draw_block_of_index(&s, (uint64_t)i), (uint64_t)i);
  return VT_OK;
}

vt_status kernel_random_uniform(vt_kernel *k) { return draw_all(k, vt_philox_uniform); }
vt_status kernel_random_normal(vt_kernel *k) { return draw_all(k, vt_philox_normal); }

vt_status kernel_random_bits(vt_kernel *k) {
  source s = new_source(&k->in[0], &k->in[1], ((const vt_attr_random *)k->attrs)->stream);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((int64_t *)k->out->data)[w.at[0]] = draw_word(&s, (uint64_t)i);
  return VT_OK;
}

/* Writes `op`, an op that draws numbers, with the given shape, for a decomposition; seed[] = {seed,
 * step}. */
static uint32_t build_draw(const vt_lowering *l, uint32_t op, const uint32_t *seed, uint32_t rank,
                           const int64_t *dim, int64_t stream) {
  vt_attr_random a = {.size = sizeof a, .shape = {.n = rank}, .stream = stream};
  memcpy(a.shape.v, dim, rank * sizeof *dim);
  return l->b->node(l->b, op, seed, 2, &a);
}

/* ---- uniform: low + (u * f32(high - low)) ---- */

uint32_t lower_uniform(const vt_lowering *l) {
  const vt_attr_random_uniform_range *a = l->attrs;
  vt_builder *b = l->b;
  const uint32_t u =
      build_draw(l, VT_OP_random_uniform, l->in, (uint32_t)a->shape.n, a->shape.v, a->stream);
  const uint32_t span = vt_build_number(b, VT_DTYPE_F32, a->high - a->low);
  const uint32_t low = vt_build_number(b, VT_DTYPE_F32, a->low);
  return vt_build2(b, VT_OP_add, low, vt_build2(b, VT_OP_mul, u, span));
}

vt_status kernel_uniform(vt_kernel *k) {
  const vt_attr_random_uniform_range *a = k->attrs;
  source s = new_source(&k->in[0], &k->in[1], a->stream);
  const float low = (float)a->low, span = (float)(a->high - a->low);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float part = draw_uniform(&s, (uint64_t)i) * span;
    ((float *)k->out->data)[w.at[0]] = low + part;
  }
  return VT_OK;
}

/* ---- random_integer: low + floor(word * count / 2^32), count up to 2^32 ---- */

/* low + floor(word * count / 2^32). The product may need 64 bits without a sign, so it is formed
 * from the halves of the word: with word = a*2^16 + b it is (a*count + b*count/2^16) / 2^16, each
 * quotient rounded down. */
uint32_t lower_random_integer(const vt_lowering *l) {
  const vt_attr_random_integer *a = l->attrs;
  vt_builder *b = l->b;
  const uint32_t word =
      build_draw(l, VT_OP_random_bits, l->in, (uint32_t)a->shape.n, a->shape.v, a->stream);
  const uint32_t half = vt_build_int(b, VT_DTYPE_I64, 65536);
  const uint32_t count = vt_build_int(b, VT_DTYPE_I64, a->high - a->low + 1);
  const uint32_t high = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_div, word, half), count);
  const uint32_t low = vt_build2(b, VT_OP_mul, vt_build2(b, VT_OP_mod, word, half), count);
  const uint32_t sum = vt_build2(b, VT_OP_add, high, vt_build2(b, VT_OP_div, low, half));
  const uint32_t least = vt_build_int(b, VT_DTYPE_I64, a->low);
  return vt_build2(b, VT_OP_add, least, vt_build2(b, VT_OP_div, sum, half));
}

vt_status kernel_random_integer(vt_kernel *k) {
  const vt_attr_random_integer *a = k->attrs;
  source s = new_source(&k->in[0], &k->in[1], a->stream);
  const uint64_t count = (uint64_t)a->high - (uint64_t)a->low + 1;
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const uint64_t above = (uint64_t)draw_word(&s, (uint64_t)i) * count >> 32;
    ((int64_t *)k->out->data)[w.at[0]] = a->low + (int64_t)above;
  }
  return VT_OK;
}

/* ---- bernoulli: u < p ---- */

uint32_t lower_bernoulli(const vt_lowering *l) {
  vt_type p;
  if (!vt_build_read_type(l->b, l->in[0], &p)) return VT_NO_VALUE;
  const uint32_t u = build_draw(l, VT_OP_random_uniform, l->in + 1, p.rank, p.dim,
                                ((const vt_attr_stream *)l->attrs)->stream);
  return vt_build2(l->b, VT_OP_lt, u, l->in[0]);
}

vt_status kernel_bernoulli(vt_kernel *k) {
  source s = new_source(&k->in[1], &k->in[2], ((const vt_attr_stream *)k->attrs)->stream);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    ((uint8_t *)k->out->data)[w.at[0]] =
        draw_uniform(&s, (uint64_t)i) < ((const float *)k->in[0].data)[w.at[1]];
  return VT_OK;
}

/* ---- dropout: u >= f32(p) ? x * f32(1 / (1 - p)) : +0 ---- */

uint32_t lower_dropout(const vt_lowering *l) {
  const vt_attr_dropout *a = l->attrs;
  vt_builder *b = l->b;
  vt_type x;
  if (!vt_build_read_type(b, l->in[0], &x)) return VT_NO_VALUE;
  const uint32_t u = build_draw(l, VT_OP_random_uniform, l->in + 1, x.rank, x.dim, a->stream);
  const uint32_t keep = vt_build2(b, VT_OP_ge, u, vt_build_number(b, VT_DTYPE_F32, a->p));
  const uint32_t scale = vt_build_number(b, VT_DTYPE_F32, 1.0 / (1.0 - a->p));
  const uint32_t kept = vt_build2(b, VT_OP_mul, l->in[0], scale);
  return vt_build3(b, VT_OP_select, keep, kept, vt_build_number(b, VT_DTYPE_F32, 0.0));
}

vt_status kernel_dropout(vt_kernel *k) {
  const vt_attr_dropout *a = k->attrs;
  source s = new_source(&k->in[1], &k->in[2], a->stream);
  const double kept = 1.0 - a->p;
  const float p = (float)a->p, scale = (float)(1.0 / kept);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float x = ((const float *)k->in[0].data)[w.at[1]];
    ((float *)k->out->data)[w.at[0]] = draw_uniform(&s, (uint64_t)i) < p ? 0.0f : x * scale;
  }
  return VT_OK;
}

/* dx is the dropout of dy with the same seed and step, which drops the same elements. */
void grad_dropout(const vt_gradient *g) {
  const uint32_t in[3] = {g->d_out[0], g->in[1], g->in[2]};
  g->d_in[0] = g->b->node(g->b, VT_OP_dropout, in, 3, g->attrs);
}

/* ---- categorical: the greatest of x - log(-log(v)), v = ((word >> 9) + 0.5) * 2^-23 ---- */

static uint32_t build_perturbed_logits(const vt_lowering *l, const vt_type *x, int64_t stream) {
  vt_builder *b = l->b;
  const uint32_t word = build_draw(l, VT_OP_random_bits, l->in + 1, x->rank, x->dim, stream);
  const uint32_t top = vt_build2(b, VT_OP_div, word, vt_build_int(b, VT_DTYPE_I64, 512));
  const uint32_t bits = vt_build_cast(b, top, VT_DTYPE_F32);
  const uint32_t mid = vt_build2(b, VT_OP_add, bits, vt_build_number(b, VT_DTYPE_F32, 0.5));
  const uint32_t v = vt_build2(b, VT_OP_mul, mid, vt_build_bits(b, VT_DTYPE_F32, 0x34000000u));
  const uint32_t log = vt_build1(b, VT_OP_neg, vt_build1(b, VT_OP_log, v));
  return vt_build2(b, VT_OP_sub, l->in[0], vt_build1(b, VT_OP_log, log));
}

uint32_t lower_categorical(const vt_lowering *l) {
  const vt_attr_categorical *a = l->attrs;
  const vt_attr_axis along = {.size = sizeof along, .axis = a->axis};
  const vt_attr_sort down = {.size = sizeof down, .axis = a->axis, .descending = 1};
  vt_type x;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const uint32_t numbers = build_perturbed_logits(l, &x, a->stream);
  if (a->k == 0) return l->b->node(l->b, VT_OP_argmax, &numbers, 1, &along);
  const uint32_t sorted = l->b->node(l->b, VT_OP_sort, &numbers, 1, &down);
  if (sorted == VT_NO_VALUE) return VT_NO_VALUE;
  return vt_build_slice(l->b, sorted + 1, (uint32_t)a->axis, 0, a->k);
}

/* The scratch bytes for the perturbed logits of one line. The attributes with the op's axis are not
 * passed to this function, so it takes the longest axis. */
uint64_t scratch_categorical(const vt_view *in, uint32_t n_in) {
  int64_t longest = 0;
  (void)n_in;
  for (uint32_t i = 0; i < in[0].rank; i++)
    if (in[0].dim[i] > longest) longest = in[0].dim[i];
  return vt_view_count(&in[0]) == 0 ? 0 : sizeof(float) * (uint64_t)longest;
}

static int is_greater_number_before(const void *context, int64_t i, int64_t j) {
  const float *numbers = context;
  if (vt_f32_above(numbers[i], numbers[j])) return 1;
  return i < j && !vt_f32_above(numbers[j], numbers[i]);
}

static float perturb_logit(float x, uint32_t word) {
  const float v = ((float)(word >> 9) + 0.5f) * 0x1p-23f;
  return x - vt_f32_log(-vt_f32_log(v));
}

/* Second implementation of categorical: line by line, with the words drawn one by one. */
vt_status kernel_categorical(vt_kernel *k) {
  const vt_attr_categorical *a = k->attrs;
  const uint32_t axis = (uint32_t)a->axis;
  const vt_view *x = &k->in[0], others = vt_view_drop_axis(x, axis);
  const vt_view y = a->k == 0 ? *k->out : vt_view_drop_axis(k->out, axis);
  source s = new_source(&k->in[1], &k->in[2], a->stream);
  const int64_t n = x->dim[axis];
  int64_t inner = 1;
  for (uint32_t i = axis + 1; i < x->rank; i++) inner *= x->dim[i];
  float *numbers = k->work;
  vt_walk w;
  vt_walk_init(&w, others.rank, others.dim);
  vt_walk_view(&w, &y);
  vt_walk_view(&w, &others);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t first = i / inner * inner * n +
                          i % inner; /* row-major index in x of the first element of the line */
    for (int64_t j = 0; j < n; j++)
      numbers[j] = perturb_logit(((const float *)x->data)[w.at[1] + j * x->stride[axis]],
                                 draw_word(&s, (uint64_t)(first + j * inner)));
    vt_rank_best(is_greater_number_before, numbers, n, (int64_t *)k->out->data + w.at[0],
                 a->k == 0 ? 1 : k->out->stride[axis], a->k == 0 ? 1 : a->k);
  }
  return VT_OK;
}

/* ---- shuffle: 0 .. n-1 sorted by (word 0 of block i, word 1 of block i, i) ---- */

/* The sort key of a number is one i64 made of two words of its block, such that the signed order of
 * the keys is the unsigned order of the pairs of words. */
uint32_t lower_shuffle(const vt_lowering *l) {
  const vt_attr_shuffle *a = l->attrs;
  vt_builder *b = l->b;
  const uint32_t words =
      build_draw(l, VT_OP_random_bits, l->in, 2, (int64_t[]){a->n, 4}, a->stream);
  const uint32_t first = vt_build_reshape(b, vt_build_slice(b, words, 1, 0, 1), 1, &a->n);
  const uint32_t second = vt_build_reshape(b, vt_build_slice(b, words, 1, 1, 2), 1, &a->n);
  const uint32_t centred =
      vt_build2(b, VT_OP_sub, first, vt_build_int(b, VT_DTYPE_I64, INT64_C(1) << 31));
  const uint32_t high =
      vt_build2(b, VT_OP_mul, centred, vt_build_int(b, VT_DTYPE_I64, INT64_C(1) << 32));
  const vt_attr_sort up = {.size = sizeof up};
  const uint32_t key = vt_build2(b, VT_OP_add, high, second);
  const uint32_t sorted = b->node(b, VT_OP_sort, &key, 1, &up);
  return sorted == VT_NO_VALUE ? VT_NO_VALUE : sorted + 1;
}

static int is_shuffled_before(const void *context, int64_t i, int64_t j) {
  const source *s = context;
  uint32_t p[4], q[4];
  vt_philox(s->seed, s->stream, s->step, (uint64_t)i, p);
  vt_philox(s->seed, s->stream, s->step, (uint64_t)j, q);
  if (p[0] != q[0]) return p[0] < q[0];
  return p[1] != q[1] ? p[1] < q[1] : i < j;
}

vt_status kernel_shuffle(vt_kernel *k) {
  const source s = new_source(&k->in[0], &k->in[1], ((const vt_attr_shuffle *)k->attrs)->stream);
  vt_rank_best(is_shuffled_before, &s, k->out->dim[0], k->out->data, k->out->stride[0],
               k->out->dim[0]);
  return VT_OK;
}
