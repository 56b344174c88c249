/* SPDX-License-Identifier: Apache-2.0
 * cpu_chain_test.c - chains of pointwise steps: operands and results in all layouts, many steps,
 * parts of any length, several thread counts, every instruction set. Compared with the same ops run
 * one after the other by the reference kernels. */
#include <string.h>
#include "cpu_backend.h"
#include "vt_num.h"
#include "vt_test.h"

enum { ARENA = 1 << 21, MAX_OPS = 80 };
static _Alignas(64) char arena[ARENA], expected[ARENA];
static vt_fault fault;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}
static const vt_bk_host host = {
    .size = sizeof host, .abi_major = VT_BK_ABI_MAJOR, .user = &fault, .resize = host_resize};

/* ---- a program: a list of steps in one arena ---- */

typedef struct program {
  vt_bk_tensor in[MAX_OPS][3], out[MAX_OPS];
  vt_bk_step step[MAX_OPS];
  uint32_t n;
  uint64_t used; /* bytes used of the arena */
} program;

static vt_attr_none none = {.size = sizeof none};

static vt_bk_tensor new_dense_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim) {
  vt_bk_tensor t = {.size = sizeof t, .dtype = dtype, .rank = rank};
  int64_t stride = 1;
  for (uint32_t k = rank; k-- > 0;) {
    t.dim[k] = dim[k];
    t.stride[k] = stride;
    stride *= dim[k] > 0 ? dim[k] : 1;
  }
  return t;
}

/* Places the tensor after the used bytes, with as many bytes as its strides span. */
static vt_bk_tensor place_tensor(program *p, vt_bk_tensor t) {
  uint64_t last = 0;
  for (uint32_t k = 0; k < t.rank; k++)
    last += (uint64_t)(t.stride[k] * (t.dim[k] > 0 ? t.dim[k] - 1 : 0));
  t.offset = p->used;
  p->used += ((last + 1) * vt_dtype_bytes(t.dtype) + 63) / 64 * 64;
  if (p->used > ARENA) exit(1);
  return t;
}

static vt_bk_tensor append_step(program *p, uint32_t op, uint32_t n_in, const vt_bk_tensor *in,
                                vt_bk_tensor out) {
  const uint32_t i = p->n++;
  memcpy(p->in[i], in, n_in * sizeof *in);
  p->out[i] = out;
  p->step[i] = (vt_bk_step){.size = sizeof *p->step,
                            .op = op,
                            .n_in = n_in,
                            .n_out = 1,
                            .in = p->in[i],
                            .out = &p->out[i],
                            .attrs = &none,
                            .attrs_size = sizeof none};
  return out;
}

/* ---- the same steps by the reference kernels ---- */

static vt_view view_of(char *base, const vt_bk_tensor *t) {
  vt_view v = vt_step_view(t);
  v.data = base + t->offset;
  return v;
}

/* Returns operand x viewed in the shape of result y; broadcast axes have stride 0. */
static vt_view broadcast_view(vt_view x, const vt_bk_tensor *y) {
  vt_view v = {.dtype = x.dtype, .rank = y->rank, .data = x.data};
  memcpy(v.dim, y->dim, sizeof v.dim);
  for (uint32_t k = 1; k <= x.rank; k++)
    v.stride[y->rank - k] = x.dim[x.rank - k] == 1 ? 0 : x.stride[x.rank - k];
  return v;
}

static void run_reference(const program *p, char *base) {
  for (uint32_t i = 0; i < p->n; i++) {
    const vt_bk_step *s = &p->step[i];
    vt_view in[3], out = view_of(base, s->out);
    for (uint32_t k = 0; k < s->n_in; k++) in[k] = broadcast_view(view_of(base, &s->in[k]), s->out);
    vt_kernel k = {.in = in, .n_in = s->n_in, .n_out = 1, .out = &out, .attrs = s->attrs};
    CHECK(vt_op_get(s->op)->kernel(&k) == VT_OK);
  }
}

/* ---- comparing ---- */

static void fill_arena_and_expected(const program *p) {
  for (uint64_t i = 0; i < p->used / 4; i++) {
    const uint32_t u = (uint32_t)i * 2654435761u;
    const float x = i % 11 == 0 ? vt_f32_from_bits(u) : (float)(int32_t)u * 0x1p-29f;
    memcpy(arena + 4 * i, &x, 4);
  }
  for (uint64_t i = 0; i < p->used; i += 64) memcpy(expected + i, arena + i, 64);
}

/* Compares the result and everything after it in the arena, so that writes between its elements or
 * past its end show. */
static int is_same_result(const program *p) {
  const vt_bk_tensor *t = &p->out[p->n - 1];
  const uint64_t from = t->offset, bytes = p->used - from;
  if (t->dtype == VT_DTYPE_F32) {
    vt_canonical(arena + from, VT_DTYPE_F32, bytes / 4);
    vt_canonical(expected + from, VT_DTYPE_F32, bytes / 4);
  }
  return memcmp(arena + from, expected + from, (size_t)bytes) == 0;
}

static void run_in_parts(const vt_cpu_chain *c, int64_t count, int64_t part) {
  for (int64_t at = 0; at < count; at += part)
    vt_cpu_chain_run_part(c, at, count - at < part ? count - at : part);
}

/* Compares the chain with the reference. It runs in parts of `part` elements; 0: all elements at
 * once, by the team. */
static void compare_chain_with_reference(const program *p, const vt_cpu_team *team, int64_t part,
                                         const char *name) {
  const vt_bk_step *steps[MAX_OPS];
  char *const base[1] = {arena};
  vt_cpu_chain *c = NULL;
  for (uint32_t i = 0; i < p->n; i++) {
    steps[i] = &p->step[i];
    CHECK(vt_cpu_chain_accepts(team, steps[i]));
  }
  fill_arena_and_expected(p);
  run_reference(p, expected);
  const int32_t status = vt_cpu_chain_new(&host, team, steps, p->n, &c);
  CHECK(status == VT_OK);
  if (status != VT_OK) return;
  int64_t count = 1;
  for (uint32_t k = 0; k < p->out[p->n - 1].rank; k++) count *= p->out[p->n - 1].dim[k];
  vt_cpu_chain_set_arenas(c, base);
  if (part == 0)
    vt_cpu_chain_run(c);
  else
    run_in_parts(c, count, part);
  const int same = is_same_result(p);
  if (!same)
    fprintf(stderr, "%s: %s x%u, parts of %lld\n", name, team->kernels->isa, team->threads,
            (long long)part);
  CHECK(same);
  vt_cpu_chain_free(c);
}

static void compare_chain_in_many_parts(const program *p, const vt_cpu_team *team,
                                        const char *name) {
  static const int64_t parts[] = {0, 1000003, 1, 7, 64, 129, 1000};
  int64_t count = 1;
  for (uint32_t k = 0; k < p->out[p->n - 1].rank; k++) count *= p->out[p->n - 1].dim[k];
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i] == 0 || parts[i] * 3000 > count)
      compare_chain_with_reference(p, team, parts[i], name);
}

/* ---- cases ---- */

/* A tensor of this shape in the layout `layout`: 0 dense, 1 along the last axis only, 2 a single
 * number, 3 along the first axis only, 4 every second element, 5 reversed order of axes. */
static vt_bk_tensor tensor_in_layout(program *p, int layout, uint32_t rank, const int64_t *dim) {
  int64_t d[VT_MAX_RANK];
  memcpy(d, dim, rank * sizeof *d);
  for (uint32_t k = 0; k < rank; k++)
    if ((layout == 1 && k + 1 < rank) || layout == 2 || (layout == 3 && k > 0)) d[k] = 1;
  vt_bk_tensor t = new_dense_tensor(VT_DTYPE_F32, layout == 2 && rank > 2 ? 0 : rank, d);
  for (uint32_t k = 0; layout == 4 && k < rank; k++) t.stride[k] *= 2;
  int64_t stride = 1;
  for (uint32_t k = 0; layout == 5 && k < rank; k++) {
    t.stride[k] = stride;
    stride *= d[k] > 0 ? d[k] : 1;
  }
  return place_tensor(p, t);
}

static void check_add_mul_in_layouts(const vt_cpu_team *team, uint32_t rank, const int64_t *dim,
                                     int layout_digits) {
  static program p;
  char name[80];
  p.n = 0;
  p.used = 0;
  const vt_bk_tensor a = tensor_in_layout(&p, layout_digits / 100 % 10, rank, dim);
  const vt_bk_tensor b = tensor_in_layout(&p, layout_digits / 10 % 10, rank, dim),
                     c = tensor_in_layout(&p, layout_digits % 10, rank, dim);
  const vt_bk_tensor inner = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, rank, dim));
  const vt_bk_tensor y = tensor_in_layout(&p, layout_digits / 1000, rank, dim);
  append_step(&p, VT_OP_add, 2, (vt_bk_tensor[]){a, b}, inner);
  append_step(&p, VT_OP_mul, 2, (vt_bk_tensor[]){inner, c}, y);
  snprintf(name, sizeof name, "rank %u, last axis %lld, layouts %04d", rank,
           rank > 0 ? (long long)dim[rank - 1] : 1, layout_digits);
  compare_chain_in_many_parts(&p, team, name);
}

static void test_shapes_and_layouts(const vt_cpu_team *team) {
  static const struct {
    uint32_t rank;
    int64_t dim[VT_MAX_RANK];
  } shapes[] = {{0, {0}},
                {1, {1}},
                {1, {3000}},
                {2, {3, 5}},
                {2, {40, 200}},
                {2, {200, 3}},
                {3, {5, 7, 130}},
                {4, {2, 3, 16, 17}},
                {2, {0, 7}},
                {2, {1, 500}},
                {8, {2, 1, 3, 2, 1, 2, 5, 3}}};
  static const int layouts[] = {1, 10, 21, 32, 143, 300, 450, 505, 4012, 4305, 5000, 5051, 5213};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
      check_add_mul_in_layouts(team, shapes[i].rank, shapes[i].dim, layouts[k]);
}

/* Tests a chain with types of several widths: y = f32(x < c ? f64(x) : f64(x) * f64(x)), where
 * f64(x) is read by two steps. */
static void test_mixed_types(const vt_cpu_team *team) {
  static program p;
  static vt_attr_cast wide = {.size = sizeof wide, .dtype = VT_DTYPE_F64};
  static vt_attr_cast narrow = {.size = sizeof narrow, .dtype = VT_DTYPE_F32};
  const int64_t dim[2] = {33, 150}, row[1] = {150};
  p.n = 0;
  p.used = 0;
  const vt_bk_tensor x = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, dim));
  const vt_bk_tensor c = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 1, row));
  const vt_bk_tensor less = place_tensor(&p, new_dense_tensor(VT_DTYPE_BOOL, 2, dim));
  const vt_bk_tensor x64 = place_tensor(&p, new_dense_tensor(VT_DTYPE_F64, 2, dim));
  const vt_bk_tensor square = place_tensor(&p, new_dense_tensor(VT_DTYPE_F64, 2, dim));
  const vt_bk_tensor picked = place_tensor(&p, new_dense_tensor(VT_DTYPE_F64, 2, dim));
  const vt_bk_tensor y = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, dim));
  append_step(&p, VT_OP_lt, 2, (vt_bk_tensor[]){x, c}, less);
  append_step(&p, VT_OP_cast, 1, &x, x64);
  append_step(&p, VT_OP_mul, 2, (vt_bk_tensor[]){x64, x64}, square);
  append_step(&p, VT_OP_select, 3, (vt_bk_tensor[]){less, x64, square}, picked);
  append_step(&p, VT_OP_cast, 1, &picked, y);
  p.step[1].attrs = &wide;
  p.step[1].attrs_size = sizeof wide;
  p.step[4].attrs = &narrow;
  p.step[4].attrs_size = sizeof narrow;
  compare_chain_in_many_parts(&p, team, "types");
}

/* Tests sixty steps that each read two earlier values. Results reuse places in the arena, and the
 * last result aliases the first operand. */
static void test_many_steps(const vt_cpu_team *team) {
  static program p;
  const int64_t dim[2] = {21, 140};
  vt_bk_tensor value[3], spare[3];
  p.n = 0;
  p.used = 0;
  const vt_bk_tensor bias = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 1, dim + 1));
  for (int k = 0; k < 3; k++) spare[k] = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, dim));
  value[0] = value[1] = value[2] = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, dim));
  const vt_bk_tensor x = value[0];
  for (int i = 0; i < 60; i++) {
    static const uint32_t ops[] = {VT_OP_add, VT_OP_maximum, VT_OP_sub, VT_OP_mul, VT_OP_minimum};
    const vt_bk_tensor in[2] = {value[0], i % 7 == 0 ? bias : i % 3 == 0 ? x : value[1]};
    const vt_bk_tensor made = append_step(&p, ops[i % 5], 2, in, i == 59 ? x : spare[i % 3]);
    value[1] = value[0];
    value[0] = made;
  }
  compare_chain_in_many_parts(&p, team, "sixty steps");
}

/* Tests that a failed allocation gives VT_NOMEM and leaks nothing. */
static void test_failed_allocation(const vt_cpu_team *team) {
  static program p;
  vt_cpu_chain *c = NULL;
  const int64_t dim[1] = {9};
  p.n = 0;
  p.used = 0;
  const vt_bk_tensor x = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 1, dim)),
                     y = place_tensor(&p, x);
  append_step(&p, VT_OP_exp, 1, &x, y);
  const vt_bk_step *steps[] = {&p.step[0]};
  fault.asked = 0;
  fault.left = 1;
  CHECK(vt_cpu_chain_new(&host, team, steps, 1, &c) == VT_NOMEM && c == NULL);
  fault.left = 0;
  CHECK(fault.live == 0);
}

/* Tests that chains refuse the steps that they do not support. */
static void test_unsupported_steps(const vt_cpu_team *team) {
  static program p;
  const int64_t dim[2] = {4, 5}, other[2] = {4, 3};
  p.n = 0;
  p.used = 0;
  const vt_bk_tensor x = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, dim));
  const vt_bk_tensor z = place_tensor(&p, new_dense_tensor(VT_DTYPE_F32, 2, other));
  const vt_bk_tensor i = place_tensor(&p, new_dense_tensor(VT_DTYPE_I32, 2, dim));
  const vt_bk_tensor in[3][2] = {{x, z}, {x, i}, {i, i}};
  for (int k = 0; k < 3; k++) {
    append_step(&p, VT_OP_add, 2, in[k], x);
    CHECK(!vt_cpu_chain_accepts(team, &p.step[k]));
  }
  append_step(&p, VT_OP_exp, 1, &i, i);
  CHECK(!vt_cpu_chain_accepts(team, &p.step[3]));
  CHECK(!vt_cpu_chain_lists_op(VT_OP_matmul) && vt_cpu_chain_lists_op(VT_OP_exp));
}

static void run_all_tests_with_team(const vt_cpu_kernels *kernels, uint32_t threads) {
  vt_cpu_team team = {.kernels = kernels, .threads = threads};
  const vt_status s = vt_pool_new(threads, vt_alloc_default(), &team.pool, NULL);
  CHECK(s == VT_OK);
  if (s != VT_OK) return;
  test_shapes_and_layouts(&team);
  test_mixed_types(&team);
  test_many_steps(&team);
  test_failed_allocation(&team);
  test_unsupported_steps(&team);
  vt_pool_free(team.pool);
}

int main(void) {
  static const char *const names[] = {
#define VT_ISA(name, has) #name,
#include "isa.def"
#undef VT_ISA
  };
  static const uint32_t threads[] = {1, 2, 3, 7};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const vt_cpu_kernels *kernels = vt_cpu_kernels_of(names[i]);
    for (size_t k = 0; kernels != NULL && k < sizeof threads / sizeof *threads; k++)
      run_all_tests_with_team(kernels, threads[k]);
  }
  CHECK(fault.live == 0);
  TEST_DONE();
}
