/* SPDX-License-Identifier: Apache-2.0
 * shared_weights_test.c - programs over shared weights: the bits of a program with parameters of
 * its own, one copy per device and layout, what is packed of it shared too, several threads at a
 * time, and nothing left when the last program and the weights are freed. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "vt_test.h"

/* B is only in the input, so programs with any B have the same parameters. N is in a parameter. */
static const char text[] =
    "volta 1\n"
    "model m {\n"
    "  dim B, N\n"
    "  input x: f32[B, 96]\n"
    "  input image: f32[B, 4, 9, 9]\n"
    "  param w: f32[96, 128]\n"
    "  param u: f32[96, 128]\n"
    "  param v: f32[128, 96] from f16\n"
    "  param k: f32[8, 4, 3, 3]\n"
    "  param n: f32[N]\n"
    "  y = matmul(tanh(matmul(x, w)), v)\n"
    "  output y = y + matmul(y, matmul(w, v))\n"
    "  output z = conv(image, k)\n"
    "  output t = matmul(x, u)\n"
    "  output s = sum(n)\n"
    "}\n";
enum { TENSORS = 5, WIDE = 96 * 128, TAPS = 8 * 4 * 3 * 3, LENGTH = 5 };

/* u has the shape of w, so that only their places tell apart what is packed of them. */
static float w[WIDE], u[WIDE], v[WIDE], k[TAPS], n[LENGTH];
static uint16_t v_half[WIDE];
static const char *const names[TENSORS] = {"w", "v", "k", "n", "u"};
static vt_model *model;

/* Values whose order of summation shows in the last bit. */
static void fill(float *to, int count, uint64_t state) {
  for (int i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    to[i] = ldexpf((float)(int32_t)(state >> 40) - 8388608.0f, -24 + (int)(state >> 32 & 3));
  }
}

/* f16 numbers m * 2^-10 for 1024 <= m < 2048, and the same numbers as f32. */
static void fill_half(void) {
  for (int i = 0; i < WIDE; i++) {
    const uint16_t m = (uint16_t)(i * 37 % 1024);
    v_half[i] = (uint16_t)(0x3c00 | m);
    v[i] = ldexpf((float)(1024 + m), -10);
  }
}

static vt_tensor tensor_of(int i, int half) {
  static void *const data[TENSORS] = {w, v, k, n, u};
  static const vt_tensor types[TENSORS] = {{.rank = 2, .dim = {96, 128}},
                                           {.rank = 2, .dim = {128, 96}},
                                           {.rank = 4, .dim = {8, 4, 3, 3}},
                                           {.rank = 1, .dim = {LENGTH}},
                                           {.rank = 2, .dim = {96, 128}}};
  vt_tensor t = types[i];
  t.dtype = half && i == 1 ? VT_DTYPE_F16 : VT_DTYPE_F32;
  t.data = half && i == 1 ? (void *)v_half : data[i];
  return t;
}

static vt_weights *new_weights(const vt_alloc *alloc) {
  const vt_weights_options o = {.size = sizeof o, .alloc = alloc};
  vt_tensor t[TENSORS];
  vt_weights *made = NULL;
  vt_diag d = {0};
  for (int i = 0; i < TENSORS; i++) t[i] = tensor_of(i, 1);
  CHECK(vt_weights_copy(TENSORS, names, t, &o, &made, &d) == VT_OK);
  return made;
}

typedef struct setup {
  const char *backend, *isa;
  int64_t batch;
  vt_weights *weights; /* NULL: parameters are set one by one */
} setup;

static vt_status new_program(const setup *s, vt_program **out, vt_diag *d) {
  const vt_binding bind[] = {{"B", s->batch}, {"N", LENGTH}};
  const vt_options o = {.size = sizeof o,
                        .n_bind = 2,
                        .bind = bind,
                        .backend = s->backend,
                        .isa = s->isa,
                        .threads = 2,
                        .weights = s->weights};
  vt_status status = vt_program_new(model, &o, out, d);
  for (int i = 0; status == VT_OK && s->weights == NULL && i < TENSORS; i++) {
    const vt_tensor t = tensor_of(i, 0);
    status = vt_program_set_param(*out, names[i], &t, d);
  }
  return status;
}

static vt_status run_program(vt_program *p, uint8_t digest[32], vt_diag *d) {
  vt_status s = vt_program_random_inputs(p, 7, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  return s == VT_OK ? vt_program_digest(p, digest, d) : s;
}

static void run_setup(const setup *s, uint8_t digest[32]) {
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(new_program(s, &p, &d) == VT_OK);
  if (p != NULL) CHECK(run_program(p, digest, &d) == VT_OK);
  if (d.code != VT_OK) fprintf(stderr, "%s: %s\n", s->backend, d.text);
  vt_program_free(p);
}

/* ---- the same bits ---- */

static const char *backends[] = {"reference:0", "reference:1", "island:0", "island:1", "cpu:0"};
static int n_backends = sizeof backends / sizeof *backends;

static void test_same_bits_as_own_parameters(vt_weights *shared) {
  for (int64_t batch = 1; batch <= 3; batch += 2) {
    uint8_t own[32], digest[32];
    run_setup(&(setup){"reference:0", NULL, batch, NULL}, own);
    for (int i = 0; i < n_backends; i++) {
      memset(digest, 0, sizeof digest);
      run_setup(&(setup){backends[i], NULL, batch, shared}, digest);
      CHECK(memcmp(own, digest, 32) == 0);
    }
  }
}

/* Programs of other batches and instruction sets over one copy: whatever one of them has packed
 * must not be read by another that packs differently. All are alive at the same time. */
static void test_programs_over_one_copy(vt_weights *shared) {
  static const char *const isas[] = {"scalar", "sse2", "avx2", NULL};
  vt_program *p[8] = {NULL};
  for (int i = 0; i < 8; i++) {
    vt_diag d = {0};
    const setup s = {"cpu", isas[i / 2], i % 2 == 0 ? 1 : 40, shared};
    if (new_program(&s, &p[i], &d) != VT_OK) CHECK(d.code == VT_BACKEND); /* lacks the set */
  }
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 8; i++) {
      uint8_t own[32], digest[32] = {0};
      vt_diag d = {0};
      run_setup(&(setup){"reference:0", NULL, i % 2 == 0 ? 1 : 40, NULL}, own);
      if (p[i] == NULL) continue;
      CHECK(run_program(p[i], digest, &d) == VT_OK);
      CHECK(memcmp(own, digest, 32) == 0);
    }
  for (int i = 0; i < 8; i++) vt_program_free(p[i]);
}

/* ---- one copy ---- */

/* Counts the bytes that the weights' allocator has given out. */
typedef struct byte_count {
  pthread_mutex_t lock;
  long long bytes;
  vt_fault fault;
} byte_count;

static void *count_bytes(void *user, void *ptr, size_t old_size, size_t new_size) {
  byte_count *c = user;
  (void)pthread_mutex_lock(&c->lock);
  void *q = vt_fault_resize(&c->fault, ptr, old_size, new_size);
  if (q != NULL || new_size == 0)
    c->bytes += (long long)new_size - (ptr != NULL ? (long long)old_size : 0);
  (void)pthread_mutex_unlock(&c->lock);
  return q;
}

/* Every byte of a copy and of what is packed of it comes from the allocator of the weights. A
 * second program may add only some of its own bookkeeping. */
static void test_one_copy_per_device(void) {
  byte_count c = {.lock = PTHREAD_MUTEX_INITIALIZER};
  const vt_alloc a = {&c, count_bytes};
  const long long parameters = (3 * WIDE + TAPS + LENGTH) * (long long)sizeof(float);
  for (int i = 0; i < n_backends; i++) {
    vt_weights *shared = new_weights(&a);
    vt_program *first = NULL, *second = NULL;
    uint8_t digest[32];
    vt_diag d = {0};
    const long long before = c.bytes;
    CHECK(new_program(&(setup){backends[i], NULL, 2, shared}, &first, &d) == VT_OK);
    CHECK(run_program(first, digest, &d) == VT_OK);
    const long long one = c.bytes;
    /* Only these backends allocate buffers with the allocator of the host. */
    if (strncmp(backends[i], "cpu", 3) == 0 || strncmp(backends[i], "reference", 9) == 0)
      CHECK(one - before >= parameters);
    CHECK(new_program(&(setup){backends[i], NULL, 3, shared}, &second, &d) == VT_OK);
    CHECK(run_program(second, digest, &d) == VT_OK);
    CHECK(c.bytes == one);
    vt_program_free(first);
    CHECK(run_program(second, digest, &d) == VT_OK);
    vt_program_free(second);
    CHECK(c.bytes == before);
    vt_weights_free(shared);
    CHECK(c.bytes == 0);
  }
}

/* ---- what is refused ---- */

static void test_parameters_cannot_change(vt_weights *shared) {
  vt_program *p = NULL;
  vt_diag d = {0};
  float got[WIDE];
  vt_tensor t = tensor_of(1, 0);
  CHECK(new_program(&(setup){"cpu", NULL, 1, shared}, &p, &d) == VT_OK);
  CHECK(vt_program_set_param(p, "v", &t, &d) == VT_USAGE);
  d = (vt_diag){0};
  CHECK(vt_program_init_params(p, 1, &d) == VT_USAGE);
  d = (vt_diag){0};
  t.data = got;
  CHECK(vt_program_get_param(p, "v", &t, &d) == VT_OK);
  CHECK(memcmp(got, v, sizeof got) == 0);
  vt_program_free(p);
}

static void test_shape_that_does_not_fit(vt_weights *shared) {
  const vt_binding bind[] = {{"B", 1}, {"N", LENGTH + 1}};
  const vt_options o = {
      .size = sizeof o, .n_bind = 2, .bind = bind, .backend = "cpu", .weights = shared};
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(vt_program_new(model, &o, &p, &d) == VT_TENSOR && p == NULL);
  CHECK(strcmp(d.text, "'n' is f32[5] in the weights, the model declares f32[6]") == 0);
}

/* ---- threads ---- */

typedef struct worker {
  vt_weights *weights;
  int64_t batch;
  uint8_t expected[32];
  uint32_t wrong;
} worker;

static void *make_and_run_programs(void *context) {
  worker *x = context;
  for (int i = 0; i < 6; i++) {
    const setup s = {backends[i * 2 % n_backends], NULL, x->batch, x->weights};
    vt_program *p = NULL;
    vt_diag d = {0};
    uint8_t digest[32] = {0};
    if (new_program(&s, &p, &d) == VT_OK)
      for (int r = 0; r < 3; r++)
        x->wrong += run_program(p, digest, &d) != VT_OK || memcmp(digest, x->expected, 32) != 0;
    else
      x->wrong++;
    vt_program_free(p);
  }
  return NULL;
}

static void test_threads(void) {
  enum { THREADS = 4 };
  vt_weights *shared = new_weights(NULL);
  worker x[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    x[i] = (worker){.weights = vt_weights_retain(shared), .batch = 1 + i};
    run_setup(&(setup){"reference:0", NULL, x[i].batch, NULL}, x[i].expected);
  }
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&thread[i], NULL, make_and_run_programs, &x[i]) == 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(x[i].wrong == 0);
    vt_weights_free(x[i].weights);
  }
  vt_weights_free(shared);
}

/* ---- out of memory ---- */

static void test_out_of_memory_while_loading(void) {
  for (int i = 0; i < n_backends; i++) {
    byte_count c = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const vt_alloc a = {&c, count_bytes};
    vt_weights *shared = new_weights(&a);
    const long asked = c.fault.asked, live = c.fault.live;
    vt_status s = VT_NOMEM;
    for (long at = 1; s != VT_OK && at < 1000; at++) {
      vt_program *p = NULL;
      vt_diag d = {0};
      c.fault.asked = asked;
      c.fault.left = asked + at;
      s = new_program(&(setup){backends[i], NULL, 2, shared}, &p, &d);
      CHECK(s == VT_OK || (s == VT_NOMEM && p == NULL));
      vt_program_free(p);
      CHECK(c.fault.live == live);
    }
    CHECK(s == VT_OK);
    vt_weights_free(shared);
    CHECK(c.fault.live == 0);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) backends[0] = argv[1], n_backends = 1;
  vt_diag d = {0};
  fill(w, WIDE, 1);
  fill(u, WIDE, 4);
  fill(k, TAPS, 2);
  fill(n, LENGTH, 3);
  fill_half();
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &model, &d) == VT_OK);
  if (model == NULL) TEST_DONE();
  vt_weights *shared = new_weights(NULL);
  test_same_bits_as_own_parameters(shared);
  test_programs_over_one_copy(shared);
  test_one_copy_per_device();
  test_parameters_cannot_change(shared);
  test_shape_that_does_not_fit(shared);
  vt_weights_free(shared);
  test_threads();
  test_out_of_memory_while_loading();
  vt_model_free(model);
  TEST_DONE();
}
