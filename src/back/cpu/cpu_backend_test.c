/* SPDX-License-Identifier: Apache-2.0
 * cpu_backend_test.c - the backend through its ABI table: it uses the threads and instruction set
 * that the host names, cached weights are never older than the weights, the lowest index fault is
 * reported, results have only canonical NaNs, and failed allocations leak nothing. A bench is an
 * open device whose host counts allocations. A subject is a step y = op(x, w) whose handler caches
 * data derived from the weights w. */
#include <string.h>
#include "cpu_backend.h"
#include "vt_cpu.h"
#include "vt_memory.h"
#include "vt_test.h"

vt_backend_query_fn vt_cpu_query;

/* ---- a host that counts allocations ---- */

typedef struct counting_host {
  vt_fault fault;
  uint64_t bytes; /* bytes that the backend has allocated */
  int32_t status;
  char reason[160];
} counting_host;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  counting_host *h = user;
  void *q = vt_fault_resize(&h->fault, p, (size_t)old_size, (size_t)new_size);
  if (q != NULL || new_size == 0) h->bytes += new_size - old_size;
  return q;
}

static void host_diag(void *user, int32_t status, const char *text) {
  counting_host *h = user;
  h->status = status;
  snprintf(h->reason, sizeof h->reason, "%s", text);
}

enum { ARENAS = VT_BK_ARENA_OUTPUT + 1, CAPACITY = 1 << 18, WORK_AT = 1 << 17 };

typedef struct bench {
  counting_host h;
  vt_bk_host host;
  const vt_bk_api *api;
  vt_bk_device *dev;
} bench;

static int32_t bench_open(bench *b, uint32_t threads, const char *isa) {
  b->h.bytes = 0;
  b->host = (vt_bk_host){.size = sizeof b->host,
                         .abi_major = VT_BK_ABI_MAJOR,
                         .user = &b->h,
                         .resize = host_resize,
                         .diag = host_diag,
                         .threads = threads,
                         .isa = isa};
  b->api = vt_cpu_query(&b->host);
  b->dev = NULL;
  return b->api->device_open(&b->host, 0, &b->dev);
}

static void bench_close(bench *b) {
  if (b->dev != NULL) b->api->device_close(b->dev);
  CHECK(b->h.fault.live == 0 && b->h.bytes == 0);
}

/* ---- threads and instruction sets ---- */

static int about_contains(bench *b, const char *what) {
  vt_bk_caps caps = {.size = sizeof caps};
  CHECK(b->api->capabilities(b->dev, &caps) == VT_OK);
  return strstr(caps.about, what) != NULL;
}

static void check_thread_count(uint32_t asked, const char *isa, uint32_t got) {
  bench b = {0};
  char words[40];
  snprintf(words, sizeof words, ", %u thread%s", got, got == 1 ? "" : "s");
  CHECK(bench_open(&b, asked, isa) == VT_OK);
  CHECK(about_contains(&b, words) && b.dev->team.threads == got);
  bench_close(&b);
}

/* Tests hosts that were compiled when vt_bk_host had no `isa`, or no `threads`: the backend must
 * not read these fields. */
static void test_hosts_without_isa_or_threads(void) {
  const uint32_t cores = vt_cpu_get()->cores;
  bench b = {0};
  CHECK(bench_open(&b, 3, "nonsense") == VT_UNSUPPORTED);
  b.host.size = offsetof(vt_bk_host, isa);
  CHECK(b.api->device_open(&b.host, 0, &b.dev) == VT_OK && b.dev->team.threads == 3);
  b.api->device_close(b.dev);
  b.host.size = offsetof(vt_bk_host, threads);
  CHECK(b.api->device_open(&b.host, 0, &b.dev) == VT_OK && b.dev->team.threads == cores);
  bench_close(&b);
}

static void test_host_chooses_thread_count(void) {
  check_thread_count(1, NULL, 1);
  check_thread_count(3, NULL, 3);
  check_thread_count(3, "scalar", 3);
  check_thread_count(0, NULL, vt_cpu_get()->cores);
  check_thread_count(4096, NULL, VT_POOL_MAX_THREADS);
  check_thread_count(UINT32_MAX, NULL, VT_POOL_MAX_THREADS);
}

static void test_host_chooses_isa(void) {
  static const char *const names[] = {"scalar", "sse2", "avx2", "avx512"};
  static const char *const wrong[] = {"", "avx", "AVX2", "avx2 ", "nonsense"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bench b = {0};
    const int here = vt_cpu_kernels_of(names[i]) != NULL;
    CHECK(bench_open(&b, 1, names[i]) == (here ? VT_OK : VT_BACKEND));
    CHECK(here ? about_contains(&b, names[i])
               : b.h.status == VT_BACKEND && strstr(b.h.reason, names[i]));
    bench_close(&b);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    bench b = {0};
    CHECK(bench_open(&b, 1, wrong[i]) == VT_UNSUPPORTED && b.dev == NULL);
    CHECK(b.h.status == VT_UNSUPPORTED && strstr(b.h.reason, "scalar sse2 avx2 avx512") != NULL);
    bench_close(&b);
  }
}

/* ---- steps ---- */

static vt_bk_tensor new_dense_tensor(uint32_t dtype, uint32_t arena, uint64_t offset, uint32_t rank,
                                     const int64_t *dim) {
  vt_bk_tensor t = {
      .size = sizeof t, .dtype = dtype, .rank = rank, .arena = arena, .offset = offset};
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0; stride *= dim[i]) {
    t.dim[i] = dim[i];
    t.stride[i] = stride;
  }
  return t;
}

static const vt_attr_none none = {sizeof none};
static const vt_attr_matmul plain = {.size = sizeof plain},
                            transposed_b = {sizeof transposed_b, 0, 1, 0};
static const vt_attr_conv conv = {.size = sizeof conv, .groups = 1};
static const vt_attr_conv_int conv_int = {.size = sizeof conv_int, .groups = 1};
static const vt_attr_conv_transpose transposed = {
    .size = sizeof transposed, .stride = {2, {2, 2}}, .groups = 1};
static const vt_attr_gather gather = {.size = sizeof gather};

/* A step y = op(x, w) of an op that caches data derived from w: its types and shapes. */
typedef struct subject {
  uint32_t op, type, result_type;
  const void *attrs;
  uint64_t attrs_size;
  uint32_t rank;
  int64_t x[4], w[4], y[4];
} subject;
#define ATTRS(a) &a, sizeof a
static const subject subjects[] = {
    {VT_OP_matmul, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(plain), 2, {20, 64}, {64, 70}, {20, 70}},
    {VT_OP_matmul, VT_DTYPE_F64, VT_DTYPE_F64, ATTRS(plain), 2, {20, 64}, {64, 70}, {20, 70}},
    {VT_OP_matmul, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(transposed_b), 2, {1, 64}, {70, 64}, {1, 70}},
    {VT_OP_linear, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(none), 2, {20, 64}, {64, 70}, {20, 70}},
    {VT_OP_matmul_int, VT_DTYPE_I8, VT_DTYPE_I32, ATTRS(none), 2, {20, 64}, {64, 70}, {20, 70}},
    {VT_OP_conv,
     VT_DTYPE_F32,
     VT_DTYPE_F32,
     ATTRS(conv),
     4,
     {2, 4, 6, 7},
     {8, 4, 3, 3},
     {2, 8, 4, 5}},
    {VT_OP_conv_int,
     VT_DTYPE_I8,
     VT_DTYPE_I32,
     ATTRS(conv_int),
     4,
     {2, 4, 6, 7},
     {8, 4, 3, 3},
     {2, 8, 4, 5}},
    {VT_OP_conv_transpose,
     VT_DTYPE_F32,
     VT_DTYPE_F32,
     ATTRS(transposed),
     4,
     {2, 4, 5, 4},
     {4, 8, 3, 3},
     {2, 8, 11, 9}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* A subject on a device, with a buffer for each arena: x is in the arena of inputs, w in a given
 * arena, y among temporaries. */
typedef struct subject_run {
  bench *b;
  const subject *s;
  vt_bk_tensor in[2], out, both[2];
  vt_bk_step step, twice; /* twice: w = w + w */
  uint64_t buffer[ARENAS];
} subject_run;

static uint64_t bytes_of_tensor(const vt_bk_tensor *t) {
  const vt_view v = vt_step_view(t);
  return (uint64_t)vt_cpu_count(&v) * vt_cpu_bytes_of(t->dtype);
}

static uint64_t new_buffer(bench *b) {
  uint64_t handle = 0;
  CHECK(b->api->buffer_new(b->dev, CAPACITY, &handle) == VT_OK);
  return handle;
}

static void subject_open(subject_run *w, bench *b, const subject *s, uint32_t arena) {
  memset(w, 0, sizeof *w);
  w->b = b;
  w->s = s;
  w->in[0] = new_dense_tensor(s->type, VT_BK_ARENA_INPUT, 128, s->rank, s->x);
  w->in[1] = w->both[0] = w->both[1] = new_dense_tensor(s->type, arena, 64, s->rank, s->w);
  w->out = new_dense_tensor(s->result_type, VT_BK_ARENA_TEMPORARY, 192, s->rank, s->y);
  w->step = (vt_bk_step){.size = sizeof w->step,
                         .op = s->op,
                         .n_in = 2,
                         .n_out = 1,
                         .in = w->in,
                         .out = &w->out,
                         .attrs = s->attrs,
                         .attrs_size = s->attrs_size,
                         .work_arena = VT_BK_ARENA_TEMPORARY,
                         .work_offset = WORK_AT};
  CHECK(b->api->step_check(b->dev, &w->step) == VT_OK);
  CHECK(b->api->workspace(b->dev, &w->step, &w->step.work_bytes) == VT_OK);
  w->twice = (vt_bk_step){.size = sizeof w->twice,
                          .op = VT_OP_add,
                          .n_in = 2,
                          .n_out = 1,
                          .in = w->both,
                          .out = w->both,
                          .attrs = &none,
                          .attrs_size = sizeof none};
  for (int i = 0; i < ARENAS; i++) w->buffer[i] = new_buffer(b);
}

static void subject_close(subject_run *w) {
  for (int i = 0; i < ARENAS; i++) w->b->api->buffer_free(w->b->dev, w->buffer[i]);
}

/* Writes pseudo-random integers that are small enough to be exact in all types. */
static void write_random(subject_run *w, const vt_bk_tensor *t, uint32_t seed) {
  static union {
    float f32[CAPACITY / 8];
    double f64[CAPACITY / 8];
    int8_t i8[CAPACITY];
  } v;
  const uint64_t bytes = bytes_of_tensor(t), n = bytes / vt_cpu_bytes_of(t->dtype);
  for (uint64_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    const int x = (int)(seed >> 26) - 32;
    if (t->dtype == VT_DTYPE_F32) v.f32[i] = (float)x;
    if (t->dtype == VT_DTYPE_F64) v.f64[i] = x;
    if (t->dtype == VT_DTYPE_I8) v.i8[i] = (int8_t)x;
  }
  CHECK(w->b->api->copy(w->b->dev, &v, w->buffer[t->arena], t->offset, bytes, 1) == VT_OK);
}

static vt_bk_program *build_program(subject_run *w, const vt_bk_step *steps, uint64_t n) {
  vt_bk_program *p = NULL;
  CHECK(w->b->api->program_build(w->b->dev, steps, n, &p) == VT_OK);
  return p;
}

static int32_t run_program(subject_run *w, vt_bk_program *p) {
  vt_bk_error e = {.size = sizeof e};
  if (w->b->api->run(p, w->buffer, ARENAS) != VT_OK || w->b->api->wait(p, &e) != VT_OK) return -1;
  return e.status;
}

static char *mapped_address(subject_run *w, const vt_bk_tensor *t) {
  return (char *)w->b->api->buffer_map(w->b->dev, w->buffer[t->arena]) + t->offset;
}

/* Stores in `out` the result of a new program, which has nothing cached. */
static void store_result_of_new_program(subject_run *w, char out[CAPACITY]) {
  vt_bk_program *p = build_program(w, &w->step, 1);
  CHECK(run_program(w, p) == VT_OK);
  memcpy(out, mapped_address(w, &w->out), bytes_of_tensor(&w->out));
  memset(mapped_address(w, &w->out), 0x5a, bytes_of_tensor(&w->out));
  w->b->api->program_free(p);
}

static int run_gives_result(subject_run *w, vt_bk_program *p, const char *expected) {
  memset(mapped_address(w, &w->out), 0x5a, bytes_of_tensor(&w->out));
  return run_program(w, p) == VT_OK &&
         memcmp(mapped_address(w, &w->out), expected, bytes_of_tensor(&w->out)) == 0;
}

/* ---- cached weights ---- */

static char one[CAPACITY], two[CAPACITY], three[CAPACITY];

/* The backend does not notice a write that bypasses `copy`. So an unchanged result shows that
 * weights are cached at all. */
static void check_result_after_copy(subject_run *w) {
  char *weight = mapped_address(w, &w->in[1]);
  vt_bk_program *p = build_program(w, &w->step, 1);
  write_random(w, &w->in[1], 2);
  store_result_of_new_program(w, two);
  write_random(w, &w->in[1], 1);
  store_result_of_new_program(w, one);
  CHECK(memcmp(one, two, bytes_of_tensor(&w->out)) != 0);
  CHECK(run_gives_result(w, p, one) && run_gives_result(w, p, one));
  memset(weight, 0, bytes_of_tensor(&w->in[1]));
  CHECK(run_gives_result(w, p, one));
  write_random(w, &w->in[1], 2);
  CHECK(run_gives_result(w, p, two));
  const uint64_t last = bytes_of_tensor(&w->in[1]) - 8;
  CHECK(w->b->api->copy(w->b->dev, one + 3, w->buffer[w->in[1].arena], w->in[1].offset + last, 8,
                        1) == VT_OK);
  store_result_of_new_program(w, three);
  CHECK(run_gives_result(w, p, three));
  write_random(w, &w->in[1], 1);
  CHECK(run_gives_result(w, p, one));
  w->b->api->program_free(p);
}

/* Runs one program with two sets of weights alternately, and with a buffer at the address of a
 * freed one. */
static void check_result_after_buffer_change(subject_run *w) {
  const uint32_t arena = w->in[1].arena;
  const uint64_t first = w->buffer[arena];
  vt_bk_program *p = build_program(w, &w->step, 1);
  CHECK(run_gives_result(w, p, one));
  for (int i = 0; i < 3; i++) {
    w->buffer[arena] = new_buffer(w->b);
    write_random(w, &w->in[1], i % 2 == 0 ? 2 : 1);
    CHECK(run_gives_result(w, p, i % 2 == 0 ? two : one));
    w->b->api->buffer_free(w->b->dev, w->buffer[arena]);
  }
  w->buffer[arena] = first;
  CHECK(run_gives_result(w, p, one));
  w->b->api->program_free(p);
}

/* Runs a program that changes its weights after using them, and another that only reads them. */
static void check_result_after_step_writes(subject_run *w) {
  const vt_bk_step steps[] = {w->step, w->twice};
  vt_bk_program *both = build_program(w, steps, 2), *reads = build_program(w, &w->step, 1);
  vt_bk_program *writes = build_program(w, &w->twice, 1);
  write_random(w, &w->in[1], 1);
  for (int i = 0; i < 2; i++) {
    store_result_of_new_program(w, three);
    CHECK(run_gives_result(w, reads, three) && run_gives_result(w, both, three));
    store_result_of_new_program(w, two);
    CHECK(memcmp(two, three, bytes_of_tensor(&w->out)) != 0);
    CHECK(run_gives_result(w, reads, two));
    CHECK(run_program(w, writes) == VT_OK);
    store_result_of_new_program(w, three);
    CHECK(run_gives_result(w, reads, three));
  }
  w->b->api->program_free(writes);
  w->b->api->program_free(reads);
  w->b->api->program_free(both);
}

/* Runs a loop that adds up x * w, x * 2w and x * 4w: its body doubles w in each iteration, so
 * anything cached in the first iteration is wrong in the second. All numbers are small integers. */
static void test_weights_written_in_loop(void) {
  static const vt_attr_loop thrice = {.size = sizeof thrice, .count = 3, .carried = 1};
  bench b = {0};
  subject_run w;
  CHECK(bench_open(&b, 1, NULL) == VT_OK);
  subject_open(&w, &b, &subjects[0], VT_BK_ARENA_STATE);
  const uint64_t each = (bytes_of_tensor(&w.out) + 63) / 64 * 64,
                 n = bytes_of_tensor(&w.out) / sizeof(float);
  /* the sum before the loop, as argument and as result of the body, after the loop */
  vt_bk_tensor sum[4] = {w.out, w.out, w.out, w.out};
  for (uint64_t i = 0; i < 4; i++) sum[i].offset += (i + 1) * each;
  const vt_bk_tensor number =
      new_dense_tensor(VT_DTYPE_I64, VT_BK_ARENA_TEMPORARY, sum[3].offset + each, 0, NULL);
  const vt_bk_tensor added[] = {sum[1], w.out}, arguments[] = {number, sum[1]};
  vt_bk_step add = w.twice;
  add.in = added;
  add.out = &sum[2];
  const vt_bk_step steps[] = {w.step, add, w.twice};
  const vt_bk_body body = {.size = sizeof body,
                           .n_in = 2,
                           .n_out = 1,
                           .in = arguments,
                           .out = &sum[2],
                           .n_steps = 3,
                           .steps = steps};
  const vt_bk_step loop = {.size = sizeof loop,
                           .op = VT_OP_loop,
                           .n_in = 1,
                           .n_out = 1,
                           .in = &sum[0],
                           .out = &sum[3],
                           .attrs = &thrice,
                           .attrs_size = sizeof thrice,
                           .n_body = 1,
                           .body = &body};
  vt_bk_program *p = build_program(&w, &loop, 1);
  write_random(&w, &w.in[0], 77);
  write_random(&w, &w.in[1], 1);
  store_result_of_new_program(&w, one);
  memset(mapped_address(&w, &sum[0]), 0, bytes_of_tensor(&sum[0]));
  CHECK(run_program(&w, p) == VT_OK);
  const float *y = (const float *)(const void *)mapped_address(&w, &sum[3]);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < n; i++) {
    float x;
    memcpy(&x, one + i * sizeof x, sizeof x);
    wrong += y[i] != 7 * x;
  }
  CHECK(wrong == 0);
  b.api->program_free(p);
  subject_close(&w);
  bench_close(&b);
}

/* Checks that the result does not depend on whether there is memory to cache weights. */
static void check_result_without_cache_memory(subject_run *w) {
  vt_fault *f = &w->b->h.fault;
  int built = 0;
  write_random(w, &w->in[1], 1);
  for (long k = 1; k < 20 && built < 3; k++) {
    vt_bk_program *p = NULL;
    f->left = f->asked + k;
    const int32_t status = w->b->api->program_build(w->b->dev, &w->step, 1, &p);
    f->left = 0;
    CHECK(status == VT_OK || (status == VT_NOMEM && p == NULL));
    if (status != VT_OK) continue;
    built++;
    CHECK(run_gives_result(w, p, one) && run_gives_result(w, p, one));
    w->b->api->program_free(p);
  }
  CHECK(built == 3);
}

static void test_cached_weights_stay_current(uint32_t threads) {
  bench b = {0};
  CHECK(bench_open(&b, threads, NULL) == VT_OK);
  for (int i = 0; i < SUBJECTS; i++)
    for (uint32_t arena = VT_BK_ARENA_PARAMETER; arena <= VT_BK_ARENA_STATE; arena += 2) {
      subject_run w;
      subject_open(&w, &b, &subjects[i], arena);
      write_random(&w, &w.in[0], 77);
      check_result_after_copy(&w);
      check_result_after_buffer_change(&w);
      check_result_after_step_writes(&w);
      check_result_without_cache_memory(&w);
      subject_close(&w);
    }
  bench_close(&b);
}

/* ---- memory ---- */

static uint64_t bytes_allocated_by_program(subject_run *w, const vt_bk_step *steps, uint64_t n) {
  const uint64_t before = w->b->h.bytes;
  vt_bk_program *p = build_program(w, steps, n);
  const uint64_t bytes = w->b->h.bytes - before;
  w->b->api->program_free(p);
  CHECK(w->b->h.bytes == before);
  return bytes;
}

/* Tests that nothing is cached if the arenas, which are allocated later, need all available memory.
 * */
static void test_no_cache_in_little_memory(void) {
  static const subject large = {VT_OP_matmul, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(plain), 2,
                                {20, 160},    {160, 160},   {20, 160}};
  const uint64_t cached = 160 * 160 * sizeof(float);
  bench b = {0};
  subject_run w;
  CHECK(bench_open(&b, 1, NULL) == VT_OK);
  subject_open(&w, &b, &large, VT_BK_ARENA_PARAMETER);
  CHECK(bytes_allocated_by_program(&w, &w.step, 1) >= cached);
  w.in[0].offset = UINT64_C(1) << 50;
  CHECK(vt_memory_available() == 0 || bytes_allocated_by_program(&w, &w.step, 1) < cached);
  subject_close(&w);
  bench_close(&b);
}

#define MIB(n) ((uint64_t)(n) << 20)

/* Tests that scratch is proportional to the size of the step, whatever its shapes: 0 if there is
 * nothing to do, and never the result of an overflow. */
static void test_scratch_grows_with_step_only(uint32_t threads) {
  enum { WIDE = 1000000, M = 1 << 20 };
  static const vt_attr_conv padded = {
      .size = sizeof padded, .low = {1, {WIDE}}, .high = {1, {WIDE}}, .groups = 1};
  static const vt_attr_conv_weight_grad gradient = {.size = sizeof gradient, .groups = 1};
  static const struct {
    subject s;
    uint64_t most;
  } steps[] = {
      {{VT_OP_conv,
        VT_DTYPE_F32,
        VT_DTYPE_F32,
        ATTRS(conv),
        4,
        {0, 1, M, M},
        {1, 1, 3, 3},
        {0, 1, M - 2, M - 2}},
       0},
      {{VT_OP_conv,
        VT_DTYPE_F32,
        VT_DTYPE_F32,
        ATTRS(conv),
        4,
        {1, 1, M, M},
        {0, 1, 3, 3},
        {1, 0, M - 2, M - 2}},
       0},
      {{VT_OP_conv_transpose,
        VT_DTYPE_F32,
        VT_DTYPE_F32,
        ATTRS(transposed),
        4,
        {0, 1, M, M},
        {1, 1, 2, 2},
        {0, 1, 2 * M, 2 * M}},
       0},
      {{VT_OP_conv_int,
        VT_DTYPE_I8,
        VT_DTYPE_I32,
        ATTRS(conv_int),
        4,
        {0, 1, M, M},
        {1, 1, 3, 3},
        {0, 1, M - 2, M - 2}},
       0},
      {{VT_OP_conv_weight_grad,
        VT_DTYPE_F32,
        VT_DTYPE_F32,
        ATTRS(gradient),
        4,
        {1, 1, M, M},
        {1, 0, M - 2, M - 2},
        {0, 1, 3, 3}},
       0},
      {{VT_OP_matmul, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(plain), 2, {M, 0}, {0, M}, {M, M}},
       MIB(8192)},
      {{VT_OP_matmul, VT_DTYPE_F32, VT_DTYPE_F32, ATTRS(plain), 2, {0, M}, {M, M}, {0, M}}, 0},
      {{VT_OP_matmul, VT_DTYPE_F64, VT_DTYPE_F64, ATTRS(plain), 2, {M, 4 * M}, {4 * M, M}, {M, M}},
       MIB(1 << 20)},
      {{VT_OP_conv,
        VT_DTYPE_F32,
        VT_DTYPE_F32,
        ATTRS(padded),
        3,
        {1, 1024, 1},
        {1, 1024, 1},
        {1, 1, 2 * WIDE + 1}},
       MIB(256)},
  };
  bench b = {0};
  CHECK(bench_open(&b, threads, NULL) == VT_OK);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    subject_run w;
    subject_open(&w, &b, &steps[i].s, VT_BK_ARENA_PARAMETER);
    if (w.step.work_bytes > steps[i].most)
      fprintf(stderr, "step %zu asks for %llu bytes\n", i, (unsigned long long)w.step.work_bytes);
    CHECK(w.step.work_bytes <= steps[i].most);
    subject_close(&w);
  }
  bench_close(&b);
}

/* Lets the k-th allocation and all later ones fail, for every k: the result is an error status, or
 * a program that runs. */
static void test_open_and_build_out_of_memory(void) {
  int built = 0;
  for (long k = 1; k < 60 && !built; k++) {
    bench b = {.h.fault.left = k};
    vt_bk_program *p = NULL;
    vt_bk_tensor t[2];
    const int64_t dim[] = {64, 64};
    t[0] = new_dense_tensor(VT_DTYPE_F32, VT_BK_ARENA_PARAMETER, 0, 2, dim);
    t[1] = t[0];
    const vt_bk_step s = {.size = sizeof s,
                          .op = VT_OP_add,
                          .n_in = 2,
                          .n_out = 1,
                          .in = t,
                          .out = t,
                          .attrs = &none,
                          .attrs_size = sizeof none};
    int32_t status = bench_open(&b, 2, NULL);
    if (status == VT_OK) status = b.api->program_build(b.dev, &s, 1, &p);
    CHECK(status == VT_OK || status == VT_NOMEM);
    built = status == VT_OK;
    CHECK(built == (p != NULL));
    if (p != NULL) b.api->program_free(p);
    bench_close(&b);
  }
  CHECK(built);
}

/* ---- errors and results ---- */

enum { INDICES = 20000, ROWS = 1000 };

static void check_reported_fault(subject_run *w, vt_bk_program *p, uint64_t position,
                                 int64_t value) {
  vt_bk_error e = {.size = sizeof e};
  CHECK(w->b->api->run(p, w->buffer, ARENAS) == VT_OK && w->b->api->wait(p, &e) == VT_OK);
  CHECK(e.status == VT_RANGE && e.step == 1 && e.position == position && e.value == value);
}

/* Tests steps with several indices out of range, in the parts of different threads: the lowest
 * position is reported, whichever thread was first. */
static void test_lowest_fault_is_reported(void) {
  static const int64_t rows[] = {ROWS}, indices[] = {INDICES};
  bench b = {0};
  subject_run w;
  CHECK(bench_open(&b, 7, NULL) == VT_OK);
  subject_open(&w, &b, &subjects[0], VT_BK_ARENA_PARAMETER);
  const vt_bk_tensor in[] = {new_dense_tensor(VT_DTYPE_F32, VT_BK_ARENA_PARAMETER, 0, 1, rows),
                             new_dense_tensor(VT_DTYPE_I32, VT_BK_ARENA_INPUT, 0, 1, indices)};
  const vt_bk_tensor out = new_dense_tensor(VT_DTYPE_F32, VT_BK_ARENA_TEMPORARY, 0, 1, indices);
  const vt_bk_step lookup = {.size = sizeof lookup,
                             .op = VT_OP_gather,
                             .n_in = 2,
                             .n_out = 1,
                             .in = in,
                             .out = &out,
                             .attrs = &gather,
                             .attrs_size = sizeof gather};
  const vt_bk_step steps[] = {w.twice, lookup, lookup};
  vt_bk_program *p = build_program(&w, steps, 3);
  int32_t *index = (int32_t *)(void *)mapped_address(&w, &in[1]);
  memset(mapped_address(&w, &in[0]), 0, ROWS * sizeof(float));
  memset(index, 0, INDICES * sizeof *index);
  CHECK(run_program(&w, p) == VT_OK);
  for (int i = 0; i < 20; i++) {
    index[INDICES - 1] = INT32_MIN;
    index[15000] = -3;
    index[777] = ROWS;
    check_reported_fault(&w, p, 777, ROWS);
    index[777] = ROWS - 1;
    check_reported_fault(&w, p, 15000, -3);
    index[15000] = 0;
    check_reported_fault(&w, p, INDICES - 1, INT32_MIN);
  }
  index[INDICES - 1] = 0;
  CHECK(run_program(&w, p) == VT_OK);
  b.api->program_free(p);
  subject_close(&w);
  bench_close(&b);
}

/* Tests that results hold only the canonical NaN, even if inputs hold NaNs of any bit pattern.
 * program_results refuses a tensor that no step writes. */
static void test_results_have_canonical_nans(void) {
  bench b = {0};
  subject_run w;
  CHECK(bench_open(&b, 3, NULL) == VT_OK);
  for (int i = 0; i < SUBJECTS; i++) {
    if (subjects[i].result_type != VT_DTYPE_F32) continue;
    subject_open(&w, &b, &subjects[i], VT_BK_ARENA_PARAMETER);
    vt_bk_program *p = build_program(&w, &w.step, 1);
    CHECK(b.api->program_results(p, &w.in[0], 1) == VT_UNSUPPORTED);
    CHECK(b.api->program_results(p, &w.out, 1) == VT_OK);
    memset(mapped_address(&w, &w.in[0]), 0xff, bytes_of_tensor(&w.in[0]));
    write_random(&w, &w.in[1], 1);
    CHECK(run_program(&w, p) == VT_OK);
    const uint32_t *bits = (const uint32_t *)(const void *)mapped_address(&w, &w.out);
    uint64_t wrong = 0;
    for (uint64_t k = 0; k < bytes_of_tensor(&w.out) / 4; k++) wrong += bits[k] != 0x7fc00000u;
    CHECK(wrong == 0);
    b.api->program_free(p);
    subject_close(&w);
  }
  bench_close(&b);
}

int main(void) {
  test_host_chooses_thread_count();
  test_hosts_without_isa_or_threads();
  test_host_chooses_isa();
  test_cached_weights_stay_current(1);
  test_cached_weights_stay_current(3);
  test_weights_written_in_loop();
  test_no_cache_in_little_memory();
  test_scratch_grows_with_step_only(1);
  test_scratch_grows_with_step_only(1024);
  test_open_and_build_out_of_memory();
  test_lowest_fault_is_reported();
  test_results_have_canonical_nans();
  TEST_DONE();
}
