/* SPDX-License-Identifier: Apache-2.0
 * cpu_attention_test.c - attention has the bits of the reference kernel, on every instruction set
 * of this processor and with several thread counts. Shapes are around each size at which work is
 * split; operands are transposed, have gaps or are reversed; there are masks, infinities and
 * NaN. */
#include <string.h>
#include "cpu_backend.h"
#include "vt_alloc.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_test.h"

enum { MASK = 1, BIAS = 2, LENGTH = 4, CAPACITY = 1 << 19 };
typedef enum layout { STRAIGHT, SPLIT_HEADS, TRANSPOSED, REVERSED, STRIDED } layout;

typedef struct shape {
  int64_t batch, heads, groups, queries, keys, depth, width;
  int64_t causal, window;
  double scale;
  unsigned extras;
  layout order;
  int wild; /* 1: infinities and NaN in k and v, also at keys that no row may see */
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, STRAIGHT, 0},
    {2, 3, 1, 5, 7, 4, 3, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 2, 2, 50, 70, 64, 64, 1, 0, 0, 0, SPLIT_HEADS, 0},
    {1, 2, 1, 49, 130, 33, 17, 0, 0, 0.3, MASK | BIAS | LENGTH, STRAIGHT, 1},
    {2, 2, 2, 13, 129, 16, 70, 1, 0, 0, MASK, TRANSPOSED, 1},
    {1, 2, 2, 97, 97, 8, 8, 1, 0, 0, 0, STRAIGHT, 1},
    {1, 1, 1, 100, 300, 5, 16, 1, 20, 0, 0, REVERSED, 1},
    {1, 1, 1, 60, 300, 5, 16, 0, 9, -2, BIAS, STRIDED, 1},
    {1, 1, 1, 100, 300, 5, 16, 1, 20, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 60, 300, 5, 16, 0, 9, 0, MASK, STRIDED, 0},
    {1, 2, 2, 3, 2100, 4, 6, 1, 1030, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 30, 2100, 4, 6, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 4, 2, 1, 1500, 16, 48, 1, 0, 0, 0, STRAIGHT, 0},
    {2, 4, 2, 1, 700, 8, 20, 1, 0, 0, LENGTH, SPLIT_HEADS, 1},
    {1, 2, 2, 3, 2100, 4, 6, 1, 1030, 0, MASK, STRAIGHT, 1},
    {1, 1, 1, 1, 17000, 2, 3, 0, 0, 0, BIAS, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 255, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 257, 4, 0, 0, 0, 0, TRANSPOSED, 0},
    {1, 1, 1, 7, 20, 2048, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 2049, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 2, 3, 16641, 2, 0, 0, 0, 0, STRAIGHT, 0},
    /* causal, with more queries than keys: the first queries see no key */
    {1, 1, 1, 15, 4, 6, 2, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 0, 6, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 0, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 0, 2, 0, 0, 0.5, MASK, STRAIGHT, 0},
    {1, 1, 1, 0, 300, 3, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {0, 1, 1, 3, 5, 3, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 3, 0, 0, 0, 0, 0, STRAIGHT, 0},
};

/* ---- values ---- */

static uint64_t random_next(uint64_t *s) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return *s >> 33;
}

static float random_float(uint64_t *s, int wild) {
  static const uint32_t odd[] = {0x7f800000u, 0xff800000u, 0x7fc00000u,
                                 0x80000000u, 1u,          0x7f7fffffu};
  const uint64_t r = random_next(s);
  if (wild && r % 1999 == 0) return vt_f32_from_bits(odd[r / 1999 % 6]);
  return (float)((double)(r & 0xffffff) * 0x1p-22 - 2.0);
}

/* Sets strides: axes 1 and 2 or axes 2 and 3 are exchanged in memory, or strides are doubled or
 * negated. */
static void set_strides(vt_view *v, layout order) {
  int axes[4] = {0, 1, 2, 3};
  int64_t step = order == STRIDED ? 2 : 1;
  if (order == SPLIT_HEADS) {
    axes[1] = 2;
    axes[2] = 1;
  }
  if (order == TRANSPOSED) {
    axes[2] = 3;
    axes[3] = 2;
  }
  for (int i = 3; i >= 0; i--) {
    v->stride[axes[i]] = step;
    step *= v->dim[axes[i]] > 0 ? v->dim[axes[i]] : 1;
  }
  if (order != REVERSED) return;
  v->data = (float *)v->data + step - 1;
  for (int i = 0; i < 4; i++) v->stride[i] = -v->stride[i];
}

static vt_view f32_view_without_strides(float *data, int64_t b, int64_t h, int64_t t, int64_t d) {
  return (vt_view){.dtype = VT_DTYPE_F32, .rank = 4, .dim = {b, h, t, d}, .data = data};
}

typedef struct operands {
  float q[CAPACITY], k[CAPACITY], v[CAPACITY], bias[CAPACITY];
  uint8_t mask[CAPACITY];
  int64_t length[4];
  vt_view in[6];
  uint32_t n;
} operands;

static void add_optional_operands(operands *o, const shape *s, uint64_t *seed) {
  for (int i = 0; i < CAPACITY && s->extras != 0; i++) {
    o->mask[i] = random_next(seed) % 3 != 0;
    o->bias[i] = random_float(seed, s->wild);
  }
  /* the mask is shared by all heads, the bias by all queries */
  if (s->extras & MASK)
    o->in[o->n++] = (vt_view){.dtype = VT_DTYPE_BOOL,
                              .rank = 4,
                              .dim = {s->batch, 1, s->queries, s->keys},
                              .stride = {s->queries * s->keys, 0, s->keys, 1},
                              .data = o->mask};
  if (s->extras & BIAS)
    o->in[o->n++] = (vt_view){.dtype = VT_DTYPE_F32,
                              .rank = 3,
                              .dim = {s->heads, 1, s->keys},
                              .stride = {2 * s->keys, 0, 2},
                              .data = o->bias};
  if (s->extras & LENGTH)
    o->in[o->n++] = (vt_view){
        .dtype = VT_DTYPE_I64, .rank = 1, .dim = {s->batch}, .stride = {1}, .data = o->length};
}

static void init_operands(operands *o, const shape *s, uint64_t seed) {
  for (int i = 0; i < CAPACITY; i++) {
    o->q[i] = random_float(&seed, 0);
    o->k[i] = random_float(&seed, s->wild);
    o->v[i] = random_float(&seed, s->wild);
  }
  for (int i = 0; i < 4; i++) o->length[i] = s->keys - 2 - i * s->keys / 3;
  o->in[0] = f32_view_without_strides(o->q, s->batch, s->heads, s->queries, s->depth);
  o->in[1] = f32_view_without_strides(o->k, s->batch, s->groups, s->keys, s->depth);
  o->in[2] = f32_view_without_strides(o->v, s->batch, s->groups, s->keys, s->width);
  o->n = 3;
  for (int i = 0; i < 3; i++) set_strides(&o->in[i], s->order);
  add_optional_operands(o, s, &seed);
}

/* ---- runs ---- */

static void *alloc_poisoned(uint64_t bytes) {
  void *p = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  if (p == NULL) exit(1);
  memset(p, 0x7f, (size_t)bytes); /* results must not depend on the content of scratch */
  return p;
}

static vt_view result_view(const shape *s, float *data) {
  vt_view y = f32_view_without_strides(data, s->batch, s->heads, s->queries, s->width);
  set_strides(&y, s->order == STRIDED ? STRAIGHT : s->order);
  return y;
}

static void run_reference(const operands *o, const shape *s, const vt_attr_attention *a, float *y) {
  const vt_op_info *op = vt_op_get(VT_OP_attention);
  const vt_view out = result_view(s, y);
  vt_kernel k = {.in = o->in, .n_in = o->n, .out = &out, .n_out = 1, .attrs = a};
  k.work = alloc_poisoned(op->work(o->in, o->n));
  CHECK(op->kernel(&k) == VT_OK);
  free(k.work);
}

static void run_cpu(const vt_cpu_team *team, const operands *o, const shape *s,
                    const vt_attr_attention *a, float *y) {
  const vt_view out = result_view(s, y);
  vt_cpu_call c = {.team = team, .in = o->in, .n_in = o->n, .out = &out, .n_out = 1, .attrs = a};
  c.work = alloc_poisoned(vt_cpu_scratch_attention(&c));
  CHECK(vt_cpu_run_attention(&c) == VT_OK);
  free(c.work);
}

static int64_t count_differing(const float *x, const float *y, int64_t n) {
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    bad += x[i] != x[i] ? y[i] == y[i] : vt_f32_bits(x[i]) != vt_f32_bits(y[i]);
  return bad;
}

static void compare_result(const vt_cpu_team *team, const operands *o, const shape *s,
                           const float *want) {
  const vt_attr_attention a = {
      .size = sizeof a, .causal = s->causal, .window = s->window, .scale = s->scale};
  const int64_t n = s->batch * s->heads * s->queries * s->width;
  float *y = alloc_poisoned((uint64_t)n * sizeof *y);
  run_cpu(team, o, s, &a, y);
  const int64_t bad = count_differing(want, y, n);
  if (bad != 0)
    fprintf(stderr, "shape %d on %s x%u: %lld of %lld differ\n", (int)(s - shapes),
            team->kernels->isa, team->threads, (long long)bad, (long long)n);
  CHECK(bad == 0);
  free(y);
}

static void check_shape_on_all_teams(const vt_cpu_team *teams, int n_teams, operands *o,
                                     const shape *s) {
  const vt_attr_attention a = {
      .size = sizeof a, .causal = s->causal, .window = s->window, .scale = s->scale};
  const int64_t n = s->batch * s->heads * s->queries * s->width;
  float *want = alloc_poisoned((uint64_t)n * sizeof *want);
  init_operands(o, s, 17);
  run_reference(o, s, &a, want);
  for (int i = 0; i < n_teams; i++) compare_result(&teams[i], o, s, want);
  free(want);
}

int main(void) {
  static const char *const isas[] = {"scalar", "sse2", "avx2", "avx512"};
  static const unsigned threads[] = {1, 2, 3, 7};
  vt_cpu_team teams[16];
  int n = 0;
  vt_fpenv env;
  vt_fpenv_enter(&env);
  operands *o = alloc_poisoned(sizeof *o);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      const vt_cpu_kernels *kernels = vt_cpu_kernels_of(isas[i]);
      if (kernels == NULL) continue;
      teams[n] = (vt_cpu_team){.kernels = kernels, .threads = threads[j]};
      CHECK(vt_pool_new(threads[j], vt_alloc_default(), &teams[n].pool, NULL) == VT_OK);
      n++;
    }
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    check_shape_on_all_teams(teams, n, o, &shapes[i]);
  while (n > 0) vt_pool_free(teams[--n].pool);
  free(o);
  TEST_DONE();
}
