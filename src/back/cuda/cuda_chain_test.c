/* SPDX-License-Identifier: Apache-2.0
 * cuda_chain_test.c - every pointwise kernel, through the ABI, on operands of every layout, against
 * the reference kernels. Bytes next to the results are compared too. Functions run on inputs that
 * are hard to round. Needs a driver: a GPU's, or the emulated one of tests/fake_cuda. */
#include <string.h>
#include "cuda_backend.h"
#include "vt_maps.h"
#include "vt_num.h"
#include "vt_test.h"

enum { ARENA = 1 << 20, GAP = 64 };
static _Alignas(256) char arena[ARENA], expected[ARENA];
static vt_fault fault;
static const vt_bk_api *api;
static vt_bk_device *device;
static uint64_t buffer;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}
static void host_report(void *user, int32_t status, const char *text) {
  (void)user;
  fprintf(stderr, "%d: %s\n", status, text);
}
static const vt_bk_host host = {.size = sizeof host,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .user = &fault,
                                .resize = host_resize,
                                .diag = host_report};

/* ---- values: special ones, random patterns, ordinary numbers ---- */

static uint64_t seed = 1;
static uint64_t random_word(void) {
  uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double random_or_special_value(void) {
  static const double special[] = {0,
                                   -0.0,
                                   0.5,
                                   -0.5,
                                   1,
                                   -1,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   3,
                                   127,
                                   -128,
                                   128,
                                   255,
                                   256,
                                   7,
                                   -3,
                                   1e-40,
                                   -1e-3,
                                   65504,
                                   65520,
                                   0x1p63,
                                   1e300,
                                   1e-310,
                                   3e38,
                                   8388607.5,
                                   1e10,
                                   2147483647,
                                   -2147483648.0,
                                   -1e300,
                                   -4503599627370495.5};
  const uint64_t r = random_word();
  if (r % 4 == 0) return special[(r >> 8) % (sizeof special / sizeof *special)];
  if (r % 16 == 1) return vt_f64_from_bits(UINT64_C(0x7ff0000000000000) | (r >> 63 << 63));
  if (r % 16 == 2) return vt_f64_from_bits(UINT64_C(0x7ff8000000000000));
  return ((double)(r >> 12) * 0x1p-52 - 0.5) * (r % 3 == 0 ? 4 : 300);
}

static void store_random_value(char *at, uint32_t dtype) {
  const double x = random_or_special_value();
  const uint64_t bits = random_word();
  if (dtype >= VT_DTYPE_I8 && dtype < VT_DTYPE_BOOL && bits % 2 == 0)
    memcpy(at, &bits, vt_dtype_bytes(dtype));
  else
    vt_cast(&x, 1, VT_DTYPE_F64, at, 1, dtype, 1);
}

/* ---- a step whose tensors are in one arena ---- */

typedef struct one_step {
  vt_bk_tensor in[3], out;
  vt_bk_step step;
  uint64_t used;
} one_step;

/* Computes *low, the offset of a tensor's lowest element from element 0, and *bytes, the number of
 * bytes from the lowest to the highest element. */
static void byte_span_of(const vt_bk_tensor *t, int64_t *low, int64_t *bytes) {
  int64_t least = 0, most = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    const int64_t reach = t->dim[k] > 0 ? t->stride[k] * (t->dim[k] - 1) : 0;
    least += reach < 0 ? reach : 0;
    most += reach > 0 ? reach : 0;
  }
  *low = least * (int64_t)vt_dtype_bytes(t->dtype);
  *bytes = (most - least + 1) * (int64_t)vt_dtype_bytes(t->dtype);
}

/* Places a tensor after the others, `elements_past_aligned` elements after an aligned address, and
 * fills its whole span. */
static void place_random_tensor(one_step *s, vt_bk_tensor *t, uint64_t elements_past_aligned) {
  const uint64_t size = vt_dtype_bytes(t->dtype);
  int64_t low, bytes;
  byte_span_of(t, &low, &bytes);
  const uint64_t from = s->used + elements_past_aligned * size;
  t->offset = from - (uint64_t)low;
  for (uint64_t i = 0; i < (uint64_t)bytes / size; i++)
    store_random_value(arena + from + i * size, t->dtype);
  s->used = (from + (uint64_t)bytes + 2 * GAP) / GAP * GAP;
}

static vt_bk_tensor dense_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim) {
  vt_bk_tensor t = {.size = sizeof t, .dtype = dtype, .rank = rank};
  int64_t stride = 1;
  for (uint32_t k = rank; k-- > 0; stride *= dim[k] > 0 ? dim[k] : 1) {
    t.dim[k] = dim[k];
    t.stride[k] = stride;
  }
  return t;
}

static vt_view broadcast_view_of(char *base, const vt_bk_tensor *t, const vt_bk_tensor *y) {
  vt_view v = {.dtype = t->dtype, .rank = y->rank, .data = base + t->offset};
  memcpy(v.dim, y->dim, sizeof v.dim);
  for (uint32_t k = 1; k <= t->rank; k++)
    v.stride[y->rank - k] = t->dim[t->rank - k] == 1 ? 0 : t->stride[t->rank - k];
  return v;
}

static void run_reference(const one_step *s) {
  vt_view in[3], out = broadcast_view_of(expected, &s->out, &s->out);
  for (uint32_t k = 0; k < s->step.n_in; k++)
    in[k] = broadcast_view_of(expected, &s->in[k], &s->out);
  vt_kernel k = {.in = in, .n_in = s->step.n_in, .n_out = 1, .out = &out, .attrs = s->step.attrs};
  CHECK(vt_op_get(s->step.op)->kernel(&k) == VT_OK);
}

/* Copies `arena` to the device, runs the step there and copies `arena` back. Returns 1 if every
 * call succeeded. */
static int run_step_on_device(const one_step *s) {
  vt_bk_program *p = NULL;
  vt_bk_error error = {.size = sizeof error};
  int32_t status = api->copy(device, arena, buffer, 0, s->used, 1);
  if (status == VT_OK) status = api->step_check(device, &s->step);
  if (status == VT_OK) status = api->program_build(device, &s->step, 1, &p);
  if (status == VT_OK) status = api->run(p, &buffer, 1);
  if (status == VT_OK) status = api->wait(p, &error);
  if (status == VT_OK) status = api->copy(device, arena, buffer, 0, s->used, 0);
  if (p != NULL) api->program_free(p);
  return status == VT_OK;
}

/* Makes all NaNs of the results canonical and compares the arenas of both sides, including the
 * bytes between and around the elements of the result. */
static int arenas_are_equal(const one_step *s) {
  int64_t low, bytes;
  byte_span_of(&s->out, &low, &bytes);
  const uint64_t from = s->out.offset + (uint64_t)low,
                 n = (uint64_t)bytes / vt_dtype_bytes(s->out.dtype);
  vt_canonical(arena + from, s->out.dtype, n);
  vt_canonical(expected + from, s->out.dtype, n);
  return memcmp(arena, expected, (size_t)s->used) == 0;
}

static void run_and_compare(const one_step *s, const char *how) {
  memcpy(expected, arena, (size_t)s->used);
  run_reference(s);
  const int ran = run_step_on_device(s), same = ran && arenas_are_equal(s);
  if (!same)
    fprintf(stderr, "%s of %s to %s, %s: %s\n", vt_op_get(s->step.op)->name,
            vt_dtype_name(s->in[s->step.n_in - 1].dtype), vt_dtype_name(s->out.dtype), how,
            ran ? "other bits" : "did not run");
  CHECK(same);
}

/* ---- layouts ---- */

/* The kernel to test: an op, its operand and result types, and its attributes. */
typedef struct kernel {
  uint32_t op, n_in, types[3], result_type;
  const void *attrs;
  uint64_t attrs_size;
} kernel;

static void describe_dense_step(one_step *s, const kernel *k, uint32_t rank, const int64_t *dim) {
  *s = (one_step){.out = dense_tensor(k->result_type, rank, dim)};
  for (uint32_t i = 0; i < k->n_in; i++) s->in[i] = dense_tensor(k->types[i], rank, dim);
  s->step = (vt_bk_step){.size = sizeof s->step,
                         .op = k->op,
                         .n_in = k->n_in,
                         .n_out = 1,
                         .in = s->in,
                         .out = &s->out,
                         .attrs = k->attrs,
                         .attrs_size = k->attrs_size};
}

static void place_run_and_compare(one_step *s, const char *how) {
  for (uint32_t i = 0; i < s->step.n_in; i++) place_random_tensor(s, &s->in[i], 0);
  place_random_tensor(s, &s->out, 0);
  run_and_compare(s, how);
}

static void test_row_lengths(const kernel *k) {
  static const int64_t lengths[] = {0, 1, 3, 4, 5, 8, 17, 259};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    one_step s;
    describe_dense_step(&s, k, 1, &lengths[i]);
    place_run_and_compare(&s, "a line");
  }
}

/* Tests with one operand, or the result, that does not begin at the start of a group of
 * elements. */
static void test_unaligned_operands(const kernel *k) {
  const int64_t n = 37;
  for (uint32_t late = 0; late <= k->n_in; late++) {
    one_step s;
    describe_dense_step(&s, k, 1, &n);
    for (uint32_t i = 0; i < k->n_in; i++) place_random_tensor(&s, &s.in[i], late == i);
    place_random_tensor(&s, &s.out, late == k->n_in);
    run_and_compare(&s, "not aligned");
  }
}

/* Tests with a result stored over an operand, for each operand whose elements have the result's
 * size. */
static void test_in_place(const kernel *k) {
  const int64_t dim[2] = {9, 7};
  for (uint32_t over = 0; over < k->n_in; over++) {
    one_step s;
    if (vt_dtype_bytes(k->types[over]) != vt_dtype_bytes(k->result_type)) continue;
    describe_dense_step(&s, k, 2, dim);
    for (uint32_t i = 0; i < k->n_in; i++) place_random_tensor(&s, &s.in[i], 0);
    s.out.offset = s.in[over].offset;
    run_and_compare(&s, "in place");
  }
}

/* Tests with each operand in turn broadcast from one number, a row or a column, with row lengths
 * that groups divide and others. */
static void test_broadcast_operands(const kernel *k) {
  static const int64_t shapes[2][2] = {{5, 8}, {5, 7}};
  for (uint32_t i = 0; i < 2 * 3 * k->n_in; i++) {
    const int64_t *dim = shapes[i % 2], column[2] = {dim[0], 1};
    const uint32_t which = i / 6, how = i / 2 % 3;
    one_step s;
    describe_dense_step(&s, k, 2, dim);
    s.in[which] = how == 0   ? dense_tensor(k->types[which], 0, dim)
                  : how == 1 ? dense_tensor(k->types[which], 1, dim + 1)
                             : dense_tensor(k->types[which], 2, column);
    place_run_and_compare(&s, how == 0 ? "one number" : how == 1 ? "a row" : "a column");
  }
}

/* Tests transposed, negative and padded strides, and many axes. */
static void test_operand_strides(const kernel *k) {
  static const int64_t cube[3] = {3, 4, 8}, many[8] = {2, 1, 2, 3, 1, 2, 2, 4};
  one_step s;
  describe_dense_step(&s, k, 3, cube);
  s.in[0].stride[0] = 1;
  s.in[0].stride[1] = 24;
  s.in[0].stride[2] = 3;
  place_run_and_compare(&s, "transposed");
  describe_dense_step(&s, k, 3, cube);
  s.in[k->n_in - 1].stride[2] = -1;
  s.in[k->n_in - 1].stride[0] = -32;
  place_run_and_compare(&s, "backwards");
  describe_dense_step(&s, k, 3, cube);
  s.out.stride[0] = 80;
  s.out.stride[1] = 16;
  place_run_and_compare(&s, "gaps between rows");
  describe_dense_step(&s, k, 3, cube);
  s.in[0].stride[0] = 39;
  s.in[0].stride[1] = 9;
  place_run_and_compare(&s, "rows that are not aligned");
  describe_dense_step(&s, k, 3, cube);
  s.out.stride[0] = 130;
  s.out.stride[1] = 33;
  s.out.stride[2] = 4;
  place_run_and_compare(&s, "gaps between elements");
  describe_dense_step(&s, k, 8, many);
  s.in[0] = dense_tensor(k->types[0], 6, many + 2);
  s.in[0].dim[0] = 1;
  s.in[0].stride[0] = 0;
  place_run_and_compare(&s, "many axes");
  describe_dense_step(&s, k, 0, many);
  place_run_and_compare(&s, "no axes");
}

static void test_all_layouts(const kernel *k) {
  test_row_lengths(k);
  test_unaligned_operands(k);
  test_in_place(k);
  test_broadcast_operands(k);
  test_operand_strides(k);
}

/* ---- kernels ---- */

static const struct {
  uint32_t op, n_in, truth, has[VT_DTYPE_BF16 + 1];
} rows[] = {
#define VT_RESULT_same 0
#define VT_RESULT_truth 1
#define VT_HAS_no 0
#define VT_HAS_yes 1
#define VT_HAS_fused 1
#define VT_HAS_f32 0
#define VT_MAP(op, n, result, f, i, t, cost) \
  {VT_OP_##op,                               \
   n,                                        \
   VT_RESULT_##result,                       \
   {0, 1 - VT_NO_##f, VT_HAS_##f, VT_HAS_##i, VT_HAS_##i, VT_HAS_##i, VT_HAS_##i, VT_HAS_##t}},
#define VT_NO_no 1
#define VT_NO_yes 0
#define VT_NO_fused 0
#define VT_NO_f32 0
#include "maps.def"
#undef VT_MAP
};

static void test_kernels_of_maps_def(void) {
  static const vt_attr_none none = {.size = sizeof none};
  for (int r = 0; r < VT_MAPS; r++)
    for (uint32_t t = VT_DTYPE_F32; t <= VT_DTYPE_BF16; t++) {
      const kernel k = {rows[r].op, rows[r].n_in, {t, t, t}, rows[r].truth ? VT_DTYPE_BOOL : t,
                        &none,      sizeof none};
      if (rows[r].has[t]) test_all_layouts(&k);
    }
}

static void test_select(void) {
  static const vt_attr_none none = {.size = sizeof none};
  for (uint32_t t = VT_DTYPE_F32; t <= VT_DTYPE_BF16; t++) {
    const kernel k = {VT_OP_select, 3, {VT_DTYPE_BOOL, t, t}, t, &none, sizeof none};
    test_all_layouts(&k);
  }
}

static void test_casts(void) {
  for (uint32_t from = VT_DTYPE_F32; from <= VT_DTYPE_BF16; from++)
    for (uint32_t to = VT_DTYPE_F32; to <= VT_DTYPE_BF16; to++) {
      const vt_attr_cast a = {.size = sizeof a, .dtype = to};
      const kernel k = {VT_OP_cast, 1, {from}, to, &a, sizeof a};
      test_all_layouts(&k);
    }
}

/* ---- functions ---- */

static const uint32_t hard[] = {
#define VT_EDGE(name, x, want) x,
#include "edges.def"
#define VT_HARD(name, x, want) x,
#include "hard.def"
    0, 0x80000000u, 1, 0x807fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffa00001u};

static void test_function_on_hard_inputs(uint32_t op) {
  static const vt_attr_none none = {.size = sizeof none};
  const int64_t n = sizeof hard / sizeof *hard + 4096;
  const kernel k = {op, 1, {VT_DTYPE_F32}, VT_DTYPE_F32, &none, sizeof none};
  one_step s;
  describe_dense_step(&s, &k, 1, &n);
  place_random_tensor(&s, &s.in[0], 0);
  place_random_tensor(&s, &s.out, 0);
  memcpy(arena + s.in[0].offset, hard, sizeof hard);
  for (uint32_t i = 0; i < 4096; i++) {
    const uint32_t u = i * 1048573u;
    memcpy(arena + s.in[0].offset + sizeof hard + 4 * i, &u, 4);
  }
  run_and_compare(&s, "hard inputs");
}

static void test_hard_inputs(void) {
#define VT_FUNCTION(name, estimate, oracle) test_function_on_hard_inputs(VT_OP_##name);
#include "functions.def"
#undef VT_FUNCTION
}

/* Tests a tensor with more elements than a launch has threads, so that threads repeat the
 * grid-stride loop. */
static void test_more_elements_than_threads(void) {
  static const vt_attr_none none = {.size = sizeof none};
  const kernel k = {VT_OP_add, 2, {VT_DTYPE_I8, VT_DTYPE_I8}, VT_DTYPE_I8, &none, sizeof none};
  const int64_t n = 300003;
  one_step s;
  describe_dense_step(&s, &k, 1, &n);
  place_run_and_compare(&s, "long");
}

int main(void) {
  vt_backend_query_fn vt_cuda_query;
  _Static_assert(ARENA > 4 * 8 * (sizeof hard / 4 + 4096), "the hard inputs fit");
  api = vt_cuda_query(&host);
  if (api->device_open(&host, 0, &device) != VT_OK) return 77;
  CHECK(api->buffer_new(device, ARENA, &buffer) == VT_OK);
  test_kernels_of_maps_def();
  test_select();
  test_casts();
  test_hard_inputs();
  test_more_elements_than_threads();
  api->buffer_free(device, buffer);
  api->device_close(device);
  CHECK(fault.live == 0);
  TEST_DONE();
}
