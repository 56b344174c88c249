/* SPDX-License-Identifier: Apache-2.0
 * cuda_epilogue_test.c - a matrix product or a convolution and its epilogue as one kernel, through
 * the ABI. Results have the bits that the reference kernels give step by step, for every product
 * kernel and every layout of the operands; bytes next to the result stay unchanged. With the
 * emulated driver of tests/fake_cuda the log tells whether it was one kernel. Skipped without a
 * device. */
#include "card_test.h"

enum { STEPS = 4, TENSORS = 12, RUNS = 3 };

/* The steps of one group: a product and its epilogue. */
typedef struct group {
  uint32_t n, n_tensors;
  vt_view view[TENSORS];
  vt_bk_tensor out[STEPS], in[STEPS][3];
  vt_bk_step step[STEPS];
} group;

/* ---- tensors and steps ---- */

static vt_view *add_unaligned_view(device *d, group *s, uint32_t dtype, uint32_t rank,
                                   const int64_t *dim, uint64_t bytes_past_aligned) {
  vt_view *v = &s->view[s->n_tensors++];
  *v = add_dense_tensor(d, dtype, rank, dim, bytes_past_aligned);
  if (dtype == VT_DTYPE_BOOL)
    for (int64_t i = 0; i < vt_cuda_element_count(v); i++) ((uint8_t *)v->data)[i] &= 1;
  return v;
}
static vt_view *add_dense_view(device *d, group *s, uint32_t dtype, uint32_t rank,
                               const int64_t *dim) {
  return add_unaligned_view(d, s, dtype, rank, dim, 0);
}

/* Adds a tensor whose axes are stored in reverse order. */
static vt_view *add_transposed_view(device *d, group *s, uint32_t dtype, uint32_t rank,
                                    const int64_t *dim) {
  int64_t reversed[8] = {0};
  for (uint32_t i = 0; i < rank; i++) reversed[i] = dim[rank - 1 - i];
  vt_view *v = add_dense_view(d, s, dtype, rank, reversed);
  for (uint32_t i = 0; i < rank; i++) v->dim[i] = dim[i];
  for (uint32_t i = 0; i < rank / 2; i++) {
    const int64_t stride = v->stride[i];
    v->stride[i] = v->stride[rank - 1 - i];
    v->stride[rank - 1 - i] = stride;
  }
  return v;
}

static vt_bk_tensor tensor_of(const device *d, const vt_view *v) {
  vt_bk_tensor t = {.size = sizeof t,
                    .dtype = v->dtype,
                    .rank = v->rank,
                    .offset = (uint64_t)((char *)v->data - d->host)};
  memcpy(t.dim, v->dim, sizeof t.dim);
  memcpy(t.stride, v->stride, sizeof t.stride);
  return t;
}

/* Adds a step to the group and returns `to`. The step keeps the pointer `attrs`. */
static vt_view *add_step(device *d, group *s, uint32_t op, vt_view *to, vt_view *const *from,
                         uint32_t n, const void *attrs, uint64_t attrs_size) {
  const uint32_t i = s->n++;
  for (uint32_t k = 0; k < n; k++) s->in[i][k] = tensor_of(d, from[k]);
  s->out[i] = tensor_of(d, to);
  s->step[i] = (vt_bk_step){.size = sizeof s->step[i],
                            .op = op,
                            .n_in = n,
                            .n_out = 1,
                            .group = 1,
                            .in = s->in[i],
                            .out = &s->out[i],
                            .attrs = attrs,
                            .attrs_size = attrs_size};
  return to;
}

static vt_view *add_pointwise_step(device *d, group *s, uint32_t op, vt_view *to, vt_view *a,
                                   vt_view *b, vt_view *c) {
  static const vt_attr_none none = {.size = sizeof none};
  static const vt_attr_cast to_half = {.size = sizeof to_half, .dtype = VT_DTYPE_BF16};
  vt_view *const from[3] = {a, b, c};
  const int cast = op == VT_OP_cast;
  return add_step(d, s, op, to, from,
                  c != NULL   ? 3
                  : b != NULL ? 2
                              : 1,
                  cast ? (const void *)&to_half : &none, cast ? sizeof to_half : sizeof none);
}

/* ---- epilogues ---- */

/* y + r, stored over r. */
static void add_residual_epilogue(device *d, group *s, vt_view *y) {
  vt_view *r = add_dense_view(d, s, y->dtype, y->rank, y->dim);
  add_pointwise_step(d, s, VT_OP_add, r, y, r, NULL);
}

/* Adds the epilogue max(y * w + r, r), with w along the last axis and r transposed. */
static void add_scaled_maximum_epilogue(device *d, group *s, vt_view *y) {
  vt_view *w = add_dense_view(d, s, y->dtype, 1, &y->dim[y->rank - 1]),
          *r = add_transposed_view(d, s, y->dtype, y->rank, y->dim),
          *m = add_dense_view(d, s, y->dtype, y->rank, y->dim),
          *t = add_dense_view(d, s, y->dtype, y->rank, y->dim),
          *z = add_dense_view(d, s, y->dtype, y->rank, y->dim);
  add_pointwise_step(d, s, VT_OP_mul, m, y, w, NULL);
  add_pointwise_step(d, s, VT_OP_add, t, m, r, NULL);
  add_pointwise_step(d, s, VT_OP_maximum, z, t, r, NULL);
}

/* Adds the epilogue gelu(y), cast to bf16. */
static void add_gelu_bf16_epilogue(device *d, group *s, vt_view *y) {
  vt_view *g = add_dense_view(d, s, y->dtype, y->rank, y->dim),
          *z = add_dense_view(d, s, VT_DTYPE_BF16, y->rank, y->dim);
  add_pointwise_step(d, s, VT_OP_gelu, g, y, NULL, NULL);
  add_pointwise_step(d, s, VT_OP_cast, z, g, NULL, NULL);
}

/* Adds the epilogue (mask ? y : one number) * y. */
static void add_masked_epilogue(device *d, group *s, vt_view *y) {
  vt_view *mask = add_dense_view(d, s, VT_DTYPE_BOOL, y->rank, y->dim),
          *one = add_dense_view(d, s, y->dtype, 0, NULL),
          *t = add_dense_view(d, s, y->dtype, y->rank, y->dim),
          *z = add_dense_view(d, s, y->dtype, y->rank, y->dim);
  add_pointwise_step(d, s, VT_OP_select, t, mask, y, one);
  add_pointwise_step(d, s, VT_OP_mul, z, t, y, NULL);
}

/* Adds the epilogue relu(y) + 1, stored over y. */
static void add_in_place_epilogue(device *d, group *s, vt_view *y) {
  vt_view *t = add_dense_view(d, s, y->dtype, y->rank, y->dim),
          *one = add_dense_view(d, s, y->dtype, 0, NULL);
  add_pointwise_step(d, s, VT_OP_relu, t, y, NULL, NULL);
  add_pointwise_step(d, s, VT_OP_add, y, t, one, NULL);
}

/* Adds a step that is no epilogue: y + the first element of y, which needs all of y stored. */
static void add_first_element_reader(device *d, group *s, vt_view *y) {
  vt_view *first = &s->view[s->n_tensors++];
  vt_view *z = add_dense_view(d, s, y->dtype, y->rank, y->dim);
  *first = (vt_view){.dtype = y->dtype, .data = y->data};
  add_pointwise_step(d, s, VT_OP_add, z, y, first, NULL);
}

typedef void epilogue_fn(device *d, group *s, vt_view *y);

/* ---- products ---- */

typedef struct product {
  const char *name;
  uint32_t op, dtype, rank; /* rank: that of a and of y */
  int64_t a[4], b[4], y[4];
  uint32_t b_rank;
  int transpose_b, bias;
  /* 1 if the product's kernel runs any epilogue, because it has few rows or columns, or a sliced
   * k */
  int any_epilogue;
  uint64_t late, late_b; /* bytes that a and b are away from aligned addresses */
} product;

static vt_view *add_product(device *d, group *s, const product *p) {
  static vt_attr_matmul matmul;
  static vt_attr_conv conv;
  static const vt_attr_none none = {.size = sizeof none};
  vt_view *from[3] = {add_unaligned_view(d, s, p->dtype, p->rank, p->a, p->late),
                      add_unaligned_view(d, s, p->dtype, p->b_rank, p->b, p->late_b)};
  if (p->bias)
    from[2] = add_dense_view(d, s, p->dtype, 1, &p->y[p->op == VT_OP_conv ? 1 : p->rank - 1]);
  vt_view *y = add_dense_view(d, s, p->dtype, p->rank, p->y);
  const void *attrs = &none;
  uint64_t size = sizeof none;
  if (p->op == VT_OP_matmul) {
    matmul = (vt_attr_matmul){.size = sizeof matmul, .transpose_b = p->transpose_b};
    attrs = &matmul;
    size = sizeof matmul;
  } else if (p->op == VT_OP_conv) {
    const int64_t around = p->b[2] / 2;
    conv = (vt_attr_conv){.size = sizeof conv,
                          .stride = {.n = 2, .v = {1, 1}},
                          .dilation = {.n = 2, .v = {1, 1}},
                          .low = {.n = 2, .v = {around, around}},
                          .high = {.n = 2, .v = {around, around}},
                          .groups = p->a[1] / p->b[1]};
    attrs = &conv;
    size = sizeof conv;
  }
  return add_step(d, s, p->op, y, from, p->bias ? 3 : 2, attrs, size);
}

/* ---- runs ---- */

static vt_view broadcast_view_in(const char *base, const vt_bk_tensor *t, const vt_bk_tensor *y) {
  vt_view v = {.dtype = t->dtype, .rank = y->rank};
  const char *at = base + t->offset;
  memcpy(&v.data, &at, sizeof v.data);
  memcpy(v.dim, y->dim, sizeof v.dim);
  for (uint32_t k = 1; k <= t->rank; k++)
    v.stride[y->rank - k] = t->dim[t->rank - k] == 1 ? 0 : t->stride[t->rank - k];
  return v;
}

/* Runs each step with its reference kernel on the copy of the buffer in d->want. */
static void run_reference_steps(device *d, const group *s) {
  memcpy(d->want, d->host, d->used);
  for (uint32_t i = 0; i < s->n; i++) {
    const vt_bk_step *step = &s->step[i];
    const vt_op_info *op = vt_op_get(step->op);
    vt_view in[3], out = broadcast_view_in(d->want, step->out, step->out);
    for (uint32_t k = 0; k < step->n_in; k++)
      in[k] = broadcast_view_in(d->want, &step->in[k], i == 0 ? &step->in[k] : step->out);
    vt_kernel k = {.in = in, .n_in = step->n_in, .out = &out, .n_out = 1, .attrs = step->attrs};
    k.work = malloc((op->work != NULL ? (size_t)op->work(in, step->n_in) : 0) + 1);
    CHECK(k.work != NULL && op->kernel(&k) == VT_OK);
    free(k.work);
  }
}

/* Runs the steps as one program, with scratch after everything else. The first run is issued, the
 * second recorded, the third replayed; each begins with the same operands. */
static void run_group_three_times(device *d, group *s) {
  vt_bk_program *p = NULL;
  vt_bk_error error = {.size = sizeof error};
  uint64_t bytes = 0;
  CHECK(d->api->workspace(d->dev, &s->step[0], &bytes) == VT_OK);
  s->step[0].work_offset = (d->used + 255) / 256 * 256;
  s->step[0].work_bytes = bytes;
  CHECK(s->step[0].work_offset + bytes <= CAPACITY);
  CHECK(d->api->program_build(d->dev, s->step, s->n, &p) == VT_OK);
  for (int i = 0; p != NULL && i < RUNS; i++) {
    CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 1) == VT_OK);
    CHECK(d->api->run(p, &d->buffer, 1) == VT_OK);
    CHECK(d->api->wait(p, &error) == VT_OK);
  }
  CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 0) == VT_OK);
  if (p != NULL) d->api->program_free(p);
}

/* Clears the values inside the group on both sides, because they need not be stored; all other
 * bytes are compared. */
static void clear_inner_values(device *d, const group *s) {
  for (uint32_t i = 0; i + 1 < s->n; i++) {
    const vt_bk_tensor *t = &s->out[i];
    /* the group's result was stored over this value */
    if (t->offset == s->out[s->n - 1].offset) continue;
    uint64_t n = vt_cuda_bytes_of(t->dtype);
    for (uint32_t k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k];
    memset(d->want + t->offset, 0, (size_t)n);
    memset(d->host + t->offset, 0, (size_t)n);
  }
}

/* ---- trials ---- */

/* Returns how many kernels with an epilogue a run should launch. It is 0 if the epilogue has a
 * costly function and the product a tiled kernel, if the operands' axes cannot be merged like the
 * product's, or if another source overlaps the product, so that it must be stored. It is also 0 if
 * an operand is not aligned and another kernel computes the product. */
static uint32_t expected_epilogue_launches(const product *p, epilogue_fn *epilogue) {
  if (p->late_b != 0) return 0;
  if (epilogue == add_gelu_bf16_epilogue) return (uint32_t)p->any_epilogue;
  return !(epilogue == add_scaled_maximum_epilogue && p->op == VT_OP_conv) &&
         epilogue != add_first_element_reader && p->late == 0;
}

/* Runs the product with the epilogue and compares. Two of the three runs launch kernels; the third
 * replays the graph. */
static void try_product_with_epilogue(device *d, const product *p, epilogue_fn *epilogue,
                                      const char *how) {
  const uint32_t epilogues = count_log_lines("cuLaunchKernel epilogue_"),
                 chains = count_log_lines("cuLaunchKernel fused_") +
                          count_log_lines("cuLaunchKernel map_");
  static group s;
  s = (group){0};
  d->used = 0;
  epilogue(d, &s, add_product(d, &s, p));
  run_reference_steps(d, &s);
  run_group_three_times(d, &s);
  clear_inner_values(d, &s);
  const int64_t bad = count_differing_elements(d->want, d->host, d->used, s.out[s.n - 1].dtype);
  if (bad != 0) fprintf(stderr, "%s, %s: %lld differ\n", p->name, how, (long long)bad);
  CHECK(bad == 0);
  if (!driver_is_logged()) return;
  const uint32_t now = count_log_lines("cuLaunchKernel epilogue_") - epilogues;
  const uint32_t then =
      count_log_lines("cuLaunchKernel fused_") + count_log_lines("cuLaunchKernel map_") - chains;
  if (now != 2 * expected_epilogue_launches(p, epilogue))
    fprintf(stderr, "%s, %s: %u kernels with an epilogue\n", p->name, how, now);
  CHECK(now == 2 * expected_epilogue_launches(p, epilogue));
  CHECK((then == 0) == (now > 0));
}

#define F32 VT_DTYPE_F32
#define F64 VT_DTYPE_F64
#define MATMUL VT_OP_matmul
#define CONV VT_OP_conv
static const product products[] = {
    {"rows", MATMUL, F32, 2, {256, 64}, {64, 1024}, {256, 1024}, 2, 0, 0, 0, 0, 0},
    {"batch", MATMUL, F32, 3, {3, 70, 40}, {3, 40, 1500}, {3, 70, 1500}, 3, 0, 0, 0, 0, 0},
    {"cut", MATMUL, F32, 2, {131, 33}, {33, 2051}, {131, 2051}, 2, 0, 0, 0, 0, 0},
    {"late", MATMUL, F32, 2, {256, 64}, {64, 1024}, {256, 1024}, 2, 0, 0, 0, 4, 0},
    {"one", MATMUL, F32, 2, {1, 1024}, {1024, 2048}, {1, 2048}, 2, 0, 0, 1, 0, 0},
    {"along", MATMUL, F32, 2, {1, 1024}, {2048, 1024}, {1, 2048}, 2, 1, 0, 1, 0, 0},
    {"few", VT_OP_linear, F32, 2, {5, 510}, {510, 600}, {5, 600}, 2, 0, 1, 1, 0, 0},
    {"thin", VT_OP_linear, F32, 2, {9, 512}, {512, 600}, {9, 600}, 2, 0, 1, 1, 0, 0},
    {"band", MATMUL, F32, 2, {9, 512}, {600, 512}, {9, 600}, 2, 1, 0, 1, 0, 0},
    {"late thin", MATMUL, F32, 2, {9, 512}, {512, 600}, {9, 600}, 2, 0, 0, 1, 0, 4},
    {"late band", MATMUL, F32, 2, {9, 512}, {600, 512}, {9, 600}, 2, 1, 0, 1, 0, 4},
    {"thin alone", MATMUL, F32, 2, {9, 256}, {256, 4096}, {9, 4096}, 2, 0, 0, 0, 0, 0},
    {"three", MATMUL, F32, 2, {3, 1024}, {1024, 2048}, {3, 2048}, 2, 0, 0, 1, 0, 0},
    {"three along", MATMUL, F32, 2, {3, 1024}, {2048, 1024}, {3, 2048}, 2, 1, 0, 1, 0, 0},
    {"split", MATMUL, F32, 2, {40, 4096}, {4096, 72}, {40, 72}, 2, 0, 0, 1, 0, 0},
    {"split double", MATMUL, F64, 2, {40, 2048}, {2048, 72}, {40, 72}, 2, 0, 0, 1, 0, 0},
    {"double", MATMUL, F64, 2, {200, 50}, {50, 700}, {200, 700}, 2, 0, 0, 0, 0, 0},
    {"conv", CONV, F32, 4, {4, 16, 40, 40}, {34, 8, 3, 3}, {4, 34, 40, 40}, 4, 0, 1, 0, 0, 0},
    {"conv cut", CONV, F32, 4, {1, 512, 6, 6}, {128, 256, 3, 3}, {1, 128, 6, 6}, 4, 0, 1, 1, 0, 0},
    {"transposed", MATMUL, F32, 2, {3000, 100}, {100, 4}, {3000, 4}, 2, 0, 0, 1, 0, 0},
    {"long", VT_OP_linear, F32, 2, {1030, 2600}, {2600, 65}, {1030, 65}, 2, 0, 1, 0, 0, 0},
    {"conv 1x1", CONV, F32, 4, {2, 40, 41, 41}, {50, 40, 1, 1}, {2, 50, 41, 41}, 4, 0, 1, 0, 0, 0},
};
static const struct {
  const char *name;
  epilogue_fn *epilogue;
} epilogue_list[] = {{"residual", add_residual_epilogue}, {"scaled", add_scaled_maximum_epilogue},
                     {"rounded", add_gelu_bf16_epilogue}, {"masked", add_masked_epilogue},
                     {"over", add_in_place_epilogue},     {"own", add_first_element_reader}};
enum {
  PRODUCTS = sizeof products / sizeof *products,
  EPILOGUES = sizeof epilogue_list / sizeof *epilogue_list
};

/* The cases of the short test: each kind of kernel and each epilogue, with few texts to compile. */
static const struct {
  const char *product, *epilogue;
} shorter[] = {{"rows", "residual"},    {"late", "residual"}, {"rows", "own"},
               {"cut", "scaled"},       {"one", "rounded"},   {"few", "masked"},
               {"conv", "residual"},    {"long", "over"},     {"thin", "rounded"},
               {"split", "masked"},     {"three", "masked"},  {"late band", "masked"},
               {"conv cut", "residual"}};

static int is_in_short_test(const char *name, const char *epilogue) {
  int found = vt_test_is_long();
  for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
    found |= strcmp(shorter[i].product, name) == 0 && strcmp(shorter[i].epilogue, epilogue) == 0;
  return found;
}

static void try_all_products_and_epilogues(device *d) {
  for (size_t p = 0; p < PRODUCTS; p++)
    for (size_t f = 0; f < EPILOGUES; f++) {
      /* add_gelu_bf16_epilogue uses gelu, which is for f32 only */
      const int has =
          products[p].dtype == F32 || epilogue_list[f].epilogue != add_gelu_bf16_epilogue;
      if (has && is_in_short_test(products[p].name, epilogue_list[f].name))
        try_product_with_epilogue(d, &products[p], epilogue_list[f].epilogue,
                                  epilogue_list[f].name);
    }
}

int main(void) {
  device d;
  vt_fpenv env;
  setenv("FAKE_NVRTC", "compile", 1);
  begin_driver_log();
  if (!test_device_open(&d, &env)) return 77;
  try_all_products_and_epilogues(&d);
  vt_fpenv_leave(&env);
  test_device_close(&d);
  TEST_DONE();
}
