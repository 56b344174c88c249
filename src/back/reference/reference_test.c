/* SPDX-License-Identifier: Apache-2.0
 * reference_test.c - the reference backend through its ABI table: the steps that it accepts and
 * refuses, how it reports an index out of range, and that it leaks nothing. The tests of the op
 * table check the bits of its kernels. */
#include <string.h>
#include "volta/volta_backend.h"
#include "vt_op.h"
#include "vt_test.h"

vt_backend_query_fn vt_reference_query;

/* ---- a host that counts allocations and steps ---- */

typedef struct counting_host {
  vt_fault fault;
  uint64_t steps; /* finished steps that were reported */
} counting_host;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  counting_host *h = user;
  if (new_size > (uint64_t)1 << 40) return NULL;
  return vt_fault_resize(&h->fault, p, (size_t)old_size, (size_t)new_size);
}

static void host_diag(void *user, int32_t status, const char *text) {
  (void)user;
  (void)status;
  (void)text;
}

static void host_progress(void *user, uint64_t step) {
  counting_host *h = user;
  CHECK(step == h->steps);
  h->steps++;
}

static vt_bk_host make_host(counting_host *h) {
  return (vt_bk_host){.size = sizeof(vt_bk_host),
                      .abi_major = VT_BK_ABI_MAJOR,
                      .user = h,
                      .resize = host_resize,
                      .diag = host_diag,
                      .progress = host_progress};
}

/* ---- two steps over one arena: t = x + x at 64, y = gather(t, index) ----
 * x f32[2, 3] at 0, t at 64, index i32[2] at 128, y f32[2, 3] at 192 */

static vt_bk_tensor matrix_tensor(uint64_t offset) {
  return (vt_bk_tensor){.size = sizeof(vt_bk_tensor),
                        .dtype = VT_DTYPE_F32,
                        .rank = 2,
                        .dim = {2, 3},
                        .stride = {3, 1},
                        .offset = offset};
}

typedef struct two_steps {
  vt_bk_tensor add_in[2], add_out, gather_in[2], gather_out;
  vt_attr_none none;
  vt_attr_gather rows;
  vt_bk_step steps[2];
} two_steps;

static void fill_add_and_gather(two_steps *t) {
  *t = (two_steps){.add_in = {matrix_tensor(0), matrix_tensor(0)},
                   .add_out = matrix_tensor(64),
                   .gather_in = {matrix_tensor(64),
                                 {.size = sizeof(vt_bk_tensor),
                                  .dtype = VT_DTYPE_I32,
                                  .rank = 1,
                                  .dim = {2},
                                  .stride = {1},
                                  .offset = 128}},
                   .gather_out = matrix_tensor(192),
                   .none = {.size = sizeof t->none},
                   .rows = {.size = sizeof t->rows}};
  t->steps[0] = (vt_bk_step){.size = sizeof *t->steps,
                             .op = VT_OP_add,
                             .n_in = 2,
                             .n_out = 1,
                             .in = t->add_in,
                             .out = &t->add_out,
                             .attrs = &t->none,
                             .attrs_size = sizeof t->none};
  t->steps[1] = t->steps[0];
  t->steps[1].op = VT_OP_gather;
  t->steps[1].in = t->gather_in;
  t->steps[1].out = &t->gather_out;
  t->steps[1].attrs = &t->rows;
  t->steps[1].attrs_size = sizeof t->rows;
}

typedef struct life {
  counting_host h;
  vt_bk_host host;
  const vt_bk_api *api;
  vt_bk_device *dev;
  vt_bk_program *prog;
  uint64_t buffer;
  int has_buffer;
} life;

static int32_t begin_session(life *l, uint32_t ordinal, const two_steps *t) {
  l->host = make_host(&l->h);
  l->api = vt_reference_query(&l->host);
  int32_t s = l->api->device_open(&l->host, ordinal, &l->dev);
  if (s == VT_OK) s = l->api->program_build(l->dev, t->steps, 2, &l->prog);
  if (s == VT_OK) s = l->api->buffer_new(l->dev, 256, &l->buffer);
  l->has_buffer = s == VT_OK;
  return s;
}

static void end_session(life *l) {
  if (l->has_buffer) l->api->buffer_free(l->dev, l->buffer);
  if (l->prog != NULL) l->api->program_free(l->prog);
  if (l->dev != NULL) l->api->device_close(l->dev);
  CHECK(l->h.fault.live == 0);
}

/* Writes x and the indices, runs, and returns the error. */
static vt_bk_error run_with_indices(life *l, int32_t first, int32_t second) {
  float x[6] = {1, 2, 3, 4, 5, 6};
  int32_t index[2] = {first, second};
  vt_bk_error e = {.size = sizeof e, .status = 99};
  l->h.steps = 0;
  CHECK(l->api->copy(l->dev, x, l->buffer, 0, sizeof x, 1) == VT_OK);
  CHECK(l->api->copy(l->dev, index, l->buffer, 128, sizeof index, 1) == VT_OK);
  CHECK(l->api->run(l->prog, &l->buffer, 1) == VT_OK);
  CHECK(l->api->wait(l->prog, &e) == VT_OK);
  return e;
}

static void test_run_adds_then_gathers(void) {
  static const float want[6] = {8, 10, 12, 2, 4, 6};
  two_steps t;
  fill_add_and_gather(&t);
  for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
    life l = {0};
    float y[6];
    CHECK(begin_session(&l, ordinal, &t) == VT_OK && l.buffer % 64 == 0);
    CHECK(run_with_indices(&l, 1, 0).status == VT_OK && l.h.steps == 2);
    CHECK(l.api->copy(l.dev, y, l.buffer, 192, sizeof y, 0) == VT_OK);
    CHECK(memcmp(y, want, sizeof y) == 0);
    end_session(&l);
  }
}

/* Tests that strides are used: x is read as its own transpose, which a dense walk would get wrong.
 * */
static void test_strides_are_used(void) {
  static const float want[6] = {2, 6, 10, 4, 8, 12}; /* rows (1 3 5) (2 4 6), doubled */
  two_steps t;
  life l = {0};
  float y[6];
  fill_add_and_gather(&t);
  for (int i = 0; i < 2; i++) {
    t.add_in[i].stride[0] = 1;
    t.add_in[i].stride[1] = 2;
  }
  CHECK(begin_session(&l, 0, &t) == VT_OK);
  CHECK(run_with_indices(&l, 0, 1).status == VT_OK);
  CHECK(l.api->copy(l.dev, y, l.buffer, 192, sizeof y, 0) == VT_OK);
  CHECK(memcmp(y, want, sizeof y) == 0);
  end_session(&l);
}

static void test_index_faults_are_reported(void) {
  two_steps t;
  life l = {0};
  fill_add_and_gather(&t);
  CHECK(begin_session(&l, 0, &t) == VT_OK);
  vt_bk_error e = run_with_indices(&l, 0, 2);
  CHECK(e.status == VT_RANGE && e.step == 1 && e.position == 1 && e.value == 2);
  CHECK(l.h.steps == 1);           /* the failed step is not reported as finished */
  e = run_with_indices(&l, -1, 7); /* the lowest position is reported */
  CHECK(e.status == VT_RANGE && e.step == 1 && e.position == 0 && e.value == -1);
  e = run_with_indices(&l, 1, 1); /* a later run starts without an error */
  CHECK(e.status == VT_OK && e.step == 0 && e.position == 0);
  vt_bk_error early = {.size = offsetof(vt_bk_error, step), .step = 55};
  (void)run_with_indices(&l, 0, 2);
  CHECK(l.api->wait(l.prog, &early) == VT_OK && early.status == VT_RANGE && early.step == 55);
  end_session(&l);
}

/* ---- accepted and refused steps ---- */

static void test_listed_ops_and_capabilities(void) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_reference_query(&host);
  vt_bk_device *dev[2] = {NULL, NULL};
  uint32_t devices = 0;
  CHECK(api->device_count(&host, &devices) == VT_OK && devices == 2);
  for (uint32_t i = 0; i < 2; i++) {
    vt_bk_caps caps = {.size = sizeof caps};
    CHECK(api->device_open(&host, i, &dev[i]) == VT_OK);
    CHECK(api->capabilities(dev[i], &caps) == VT_OK && caps.alignment == 64);
    CHECK(strcmp(caps.fingerprint, i == 0 ? "reference-1 prims" : "reference-1 whole") == 0);
  }
  for (uint32_t op = 0; op < 2000; op++) {
    const vt_op_info *info = vt_op_get(op);
    CHECK(api->op_listed(dev[0], op) == (info != NULL && info->prim));
    CHECK(api->op_listed(dev[1], op) == (info != NULL));
  }
  api->device_close(dev[0]);
  api->device_close(dev[1]);
  CHECK(h.fault.live == 0);
}

static void expect_accepted(const vt_bk_step *step, uint32_t ordinal) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_reference_query(&host);
  vt_bk_device *dev = NULL;
  CHECK(api->device_open(&host, ordinal, &dev) == VT_OK);
  CHECK(api->step_check(dev, step) == VT_OK);
  api->device_close(dev);
  CHECK(h.fault.live == 0);
}

static void expect_refused(const vt_bk_step *step, uint32_t ordinal) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_reference_query(&host);
  vt_bk_device *dev = NULL;
  vt_bk_program *prog = NULL;
  CHECK(api->device_open(&host, ordinal, &dev) == VT_OK);
  CHECK(api->step_check(dev, step) == VT_UNSUPPORTED);
  CHECK(api->program_build(dev, step, 1, &prog) == VT_UNSUPPORTED && prog == NULL);
  api->device_close(dev);
  CHECK(h.fault.live == 0);
}

static void test_refused_steps(void) {
  two_steps t;
  fill_add_and_gather(&t);
  vt_bk_step s = t.steps[0];
  s.op = 999;
  expect_refused(&s, 1);
  s = t.steps[0];
  s.op = VT_OP_relu; /* a composition on the device that runs only prims */
  expect_refused(&s, 0);
  s = t.steps[0];
  s.attrs_size = 16;
  expect_refused(&s, 0);
  s = t.steps[0];
  s.n_out = 2;
  expect_refused(&s, 0);
  s = t.steps[0];
  s.group = 1; /* a hint that a backend may ignore */
  expect_accepted(&s, 0);
  s = t.steps[0];
  s.region = 1;
  expect_refused(&s, 0);
}

/* Tests that only attention needs scratch, and only on the device that runs it as a whole. */
static void test_only_attention_needs_scratch(void) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_reference_query(&host);
  const vt_bk_tensor heads = {.size = sizeof heads,
                              .dtype = VT_DTYPE_F32,
                              .rank = 4,
                              .dim = {1, 2, 5, 3},
                              .stride = {30, 15, 3, 1}};
  const vt_bk_tensor in[3] = {heads, heads, heads};
  two_steps t;
  vt_bk_step s;
  uint64_t bytes[3] = {99, 99, 99};
  fill_add_and_gather(&t);
  s = t.steps[0];
  s.op = VT_OP_attention;
  s.n_in = 3;
  s.in = in;
  for (uint32_t i = 0; i < 2; i++) {
    vt_bk_device *dev = NULL;
    CHECK(api->device_open(&host, i, &dev) == VT_OK);
    CHECK(api->workspace(dev, &s, &bytes[i]) == VT_OK);
    CHECK(api->workspace(dev, &t.steps[0], &bytes[2]) == VT_OK && bytes[2] == 0);
    api->device_close(dev);
  }
  CHECK(bytes[0] == 0 && bytes[1] >= 5 * sizeof(float));
}

static void test_query_and_abi_version(void) {
  counting_host h = {0};
  vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_reference_query(&host);
  CHECK(api != NULL && api->size == sizeof *api && strcmp(api->name, "reference") == 0);
  host.abi_major = VT_BK_ABI_MAJOR + 1;
  CHECK(vt_reference_query(&host) == NULL);
}

static void test_session_out_of_memory(void) {
  two_steps t;
  long asked = 0;
  fill_add_and_gather(&t);
  for (long left = 0; left <= asked; left++) {
    life l = {.h = {.fault = {.left = left}}};
    CHECK(begin_session(&l, 0, &t) == (left == 0 ? VT_OK : VT_NOMEM));
    if (left == 0) asked = l.h.fault.asked;
    end_session(&l);
  }
  CHECK(asked == 5); /* the allocations are device, program, steps, views, buffer */
}

static void test_huge_buffers_are_refused(void) {
  const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 79, UINT64_MAX - 80, (uint64_t)1 << 63};
  two_steps t;
  life l = {0};
  fill_add_and_gather(&t);
  CHECK(begin_session(&l, 0, &t) == VT_OK);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint64_t handle = 7;
    CHECK(l.api->buffer_new(l.dev, sizes[i], &handle) == VT_NOMEM && handle == 7);
  }
  end_session(&l);
}

int main(void) {
  test_query_and_abi_version();
  test_run_adds_then_gathers();
  test_strides_are_used();
  test_index_faults_are_reported();
  test_listed_ops_and_capabilities();
  test_refused_steps();
  test_only_attention_needs_scratch();
  test_session_out_of_memory();
  test_huge_buffers_are_refused();
  TEST_DONE();
}
