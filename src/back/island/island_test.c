/* SPDX-License-Identifier: Apache-2.0
 * island_test.c - the backend `island` through its ABI table. A session (life) is a device with the
 * program y = x + x. Only `copy` and `run` can access its memory, handles of freed buffers are
 * refused, copies stay inside their buffer, device 1 accepts only dense tensors, and nothing leaks.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "volta/volta_backend.h"
#include "vt_op.h"
#include "vt_test.h"

vt_backend_query_fn vt_island_query;

/* ---- a host that counts allocations and steps, and may read an address during a run ---- */

typedef struct counting_host {
  vt_fault fault;
  int32_t status;
  char reason[80];
  uint32_t steps;
  const volatile float *look;
  float seen;
} counting_host;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  counting_host *h = user;
  return vt_fault_resize(&h->fault, p, (size_t)old_size, (size_t)new_size);
}

static void host_diag(void *user, int32_t status, const char *text) {
  counting_host *h = user;
  h->status = status;
  snprintf(h->reason, sizeof h->reason, "%s", text);
}

static void host_progress(void *user, uint64_t step) {
  counting_host *h = user;
  CHECK(step == h->steps);
  h->steps++;
  if (h->look != NULL) h->seen = *h->look;
}

/* ---- a session: y = x + x, with x f32[2, 3] at 0 of the first arena and y at 64 of the second
 * ---- */

enum { FIRST, SECOND, ARENAS, PAGES = 1237 };

typedef struct life {
  counting_host h;
  vt_bk_host host;
  const vt_bk_api *api;
  vt_bk_device *dev;
  vt_bk_program *prog;
  uint64_t buffer[ARENAS];
  uint32_t n_buffers;
  vt_bk_tensor in[2], out;
  vt_attr_none none;
  vt_bk_step step;
} life;

static vt_bk_tensor matrix_tensor(uint32_t arena, uint64_t offset) {
  return (vt_bk_tensor){.size = sizeof(vt_bk_tensor),
                        .dtype = VT_DTYPE_F32,
                        .rank = 2,
                        .arena = arena,
                        .dim = {2, 3},
                        .stride = {3, 1},
                        .offset = offset};
}

static int32_t begin_session(life *l, uint32_t ordinal) {
  l->host = (vt_bk_host){.size = sizeof l->host,
                         .abi_major = VT_BK_ABI_MAJOR,
                         .user = &l->h,
                         .resize = host_resize,
                         .diag = host_diag,
                         .progress = host_progress};
  l->in[0] = l->in[1] = matrix_tensor(FIRST, 0);
  l->out = matrix_tensor(SECOND, 64);
  l->none.size = sizeof l->none;
  l->step = (vt_bk_step){.size = sizeof l->step,
                         .op = VT_OP_add,
                         .n_in = 2,
                         .n_out = 1,
                         .in = l->in,
                         .out = &l->out,
                         .attrs = &l->none,
                         .attrs_size = sizeof l->none};
  l->api = vt_island_query(&l->host);
  int32_t s = l->api->device_open(&l->host, ordinal, &l->dev);
  if (s == VT_OK) s = l->api->program_build(l->dev, &l->step, 1, &l->prog);
  for (; s == VT_OK && l->n_buffers < ARENAS; l->n_buffers += s == VT_OK)
    s = l->api->buffer_new(l->dev, 88, &l->buffer[l->n_buffers]);
  return s;
}

static void end_session(life *l) {
  for (uint32_t i = 0; i < l->n_buffers; i++) l->api->buffer_free(l->dev, l->buffer[i]);
  if (l->prog != NULL) l->api->program_free(l->prog);
  if (l->dev != NULL) l->api->device_close(l->dev);
  CHECK(l->h.fault.live == 0);
}

static void test_run_doubles_x(void) {
  for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
    life l = {0};
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    vt_bk_error e = {.size = sizeof e, .status = 99};
    CHECK(begin_session(&l, ordinal) == VT_OK);
    CHECK(l.api->copy(l.dev, x, l.buffer[FIRST], 0, sizeof x, 1) == VT_OK);
    CHECK(l.api->run(l.prog, l.buffer, ARENAS) == VT_OK && l.api->wait(l.prog, &e) == VT_OK);
    CHECK(l.api->copy(l.dev, y, l.buffer[SECOND], 64, sizeof y, 0) == VT_OK);
    for (int i = 0; i < 6; i++) CHECK(y[i] == 2 * x[i]);
    CHECK(e.status == VT_OK && l.h.steps == 1);
    end_session(&l);
  }
}

/* Device 0 supports strides; device 1 refuses them and says why. */
static void test_only_device_0_takes_strides(void) {
  life l = {0}, dense = {0};
  uint64_t n = 0;
  vt_bk_program *prog = NULL;
  CHECK(begin_session(&l, 0) == VT_OK && begin_session(&dense, 1) == VT_OK);
  CHECK(dense.api->step_check(dense.dev, &dense.step) == VT_OK);
  for (int i = 0; i < 3; i++) {
    vt_bk_tensor *t = i < 2 ? &dense.in[i] : &dense.out;
    t->stride[0] = 1;
    t->stride[1] = 2;
    dense.h.reason[0] = 0;
    CHECK(l.api->step_check(l.dev, &dense.step) == VT_OK);
    CHECK(dense.api->step_check(dense.dev, &dense.step) == VT_UNSUPPORTED);
    CHECK(strcmp(dense.h.reason, "this device accepts only dense tensors") == 0);
    CHECK(dense.api->program_build(dense.dev, &dense.step, 1, &prog) == VT_UNSUPPORTED);
    *t = matrix_tensor(t->arena, t->offset);
  }
  dense.step.op = VT_OP_relu; /* a composition: refused by both, and not because of strides */
  dense.h.reason[0] = 0;
  CHECK(dense.api->step_check(dense.dev, &dense.step) == VT_UNSUPPORTED && dense.h.reason[0] == 0);
  CHECK(l.api->step_check(l.dev, &dense.step) == VT_UNSUPPORTED);
  CHECK(l.api->workspace(l.dev, &l.step, &n) == VT_OK && n == 0 && prog == NULL);
  end_session(&l);
  end_session(&dense);
}

static void test_capabilities_of_both_devices(void) {
  for (uint32_t i = 0; i < 2; i++) {
    life l = {0};
    vt_bk_caps caps = {.size = sizeof caps};
    vt_bk_caps early = {.size = offsetof(vt_bk_caps, memory), .memory = 77};
    CHECK(begin_session(&l, i) == VT_OK && l.api->capabilities(l.dev, &caps) == VT_OK);
    CHECK(caps.alignment == 64 && caps.dense_only == i && caps.memory > 0);
    CHECK(strcmp(caps.fingerprint, i == 0 ? "island-1 strided" : "island-1 dense") == 0);
    CHECK(l.api->capabilities(l.dev, &early) == VT_OK && early.memory == 77);
    for (uint32_t op = 0; op < 2000; op++) {
      const vt_op_info *info = vt_op_get(op);
      CHECK(l.api->op_listed(l.dev, op) == (info != NULL && info->prim));
    }
    l.host.abi_major++;
    CHECK(vt_island_query(&l.host) == NULL);
    end_session(&l);
  }
}

/* ---- handles and bounds ---- */

static void expect_no_copy(life *l, uint64_t handle, uint64_t offset, uint64_t bytes,
                           const char *why) {
  char host[8] = "kept...";
  for (uint32_t to_device = 0; to_device < 2; to_device++) {
    l->h.reason[0] = 0;
    CHECK(l->api->copy(l->dev, host, handle, offset, bytes, to_device) == VT_INTERNAL);
    CHECK(strcmp(l->h.reason, why) == 0 && strcmp(host, "kept...") == 0);
  }
}

static void test_wrong_handles_are_refused(void) {
  static const char none[] = "there is no such buffer";
  life l = {0}, other = {0};
  uint64_t again = 0, wrong[ARENAS];
  CHECK(begin_session(&l, 0) == VT_OK && begin_session(&other, 1) == VT_OK);
  const uint64_t gone = l.buffer[FIRST];
  expect_no_copy(&l, 0, 0, 0, none);
  expect_no_copy(&l, UINT64_MAX, 0, 0, none);
  expect_no_copy(&l, gone + ((uint64_t)1 << 32), 0, 0, none);
  expect_no_copy(&l, gone + 100, 0, 0, none);
  expect_no_copy(&l, other.buffer[FIRST], 0, 0, none);
  l.api->buffer_free(l.dev, gone);
  expect_no_copy(&l, gone, 0, 0, none);
  CHECK(l.api->buffer_new(l.dev, 8, &again) == VT_OK && again != gone);
  /* the slot has a new buffer, which the old handle does not reach */
  expect_no_copy(&l, gone, 0, 0, none);
  l.api->buffer_free(l.dev, gone); /* and the old handle does not free the new buffer */
  CHECK(l.api->copy(l.dev, wrong, again, 0, 8, 0) == VT_OK);
  memcpy(wrong, l.buffer, sizeof wrong);
  CHECK(l.api->run(l.prog, wrong, ARENAS) == VT_INTERNAL && strcmp(l.h.reason, none) == 0);
  CHECK(l.h.steps == 0);
  l.buffer[FIRST] = again;
  CHECK(l.api->run(l.prog, l.buffer, 1) == VT_INTERNAL && l.h.steps == 0);
  end_session(&l);
  end_session(&other);
}

static void test_copies_stay_inside_buffer(void) {
  static const char leaves[] = "a copy exceeds its buffer";
  life l = {0};
  char host[88] = {0};
  CHECK(begin_session(&l, 0) == VT_OK);
  /* beyond the buffer, but still inside its page */
  expect_no_copy(&l, l.buffer[FIRST], 81, 8, leaves);
  expect_no_copy(&l, l.buffer[FIRST], 89, 0, leaves);
  expect_no_copy(&l, l.buffer[FIRST], 0, UINT64_MAX, leaves);
  expect_no_copy(&l, l.buffer[FIRST], UINT64_MAX, 2, leaves);
  CHECK(l.api->copy(l.dev, host, l.buffer[FIRST], 88, 0, 1) == VT_OK);
  CHECK(l.api->copy(l.dev, host, l.buffer[FIRST], 0, 88, 1) == VT_OK);
  end_session(&l);
}

/* Tests more buffers than the first table has slots, and slots that are used again. */
static void test_many_buffers_reuse_slots(void) {
  enum { N = 100 };
  life l = {0};
  uint64_t handle[N];
  CHECK(begin_session(&l, 0) == VT_OK);
  for (int round = 0; round < 3; round++) {
    for (uint64_t i = 0; i < N; i++) {
      CHECK(l.api->buffer_new(l.dev, 8 * (i % 2), &handle[i]) == VT_OK);
      if (i % 2) CHECK(l.api->copy(l.dev, &i, handle[i], 0, 8, 1) == VT_OK);
    }
    for (uint64_t i = 1; i < N; i += 2) {
      uint64_t held = 0;
      CHECK(l.api->copy(l.dev, &held, handle[i], 0, 8, 0) == VT_OK && held == i);
    }
    for (int i = 0; i < N; i++) l.api->buffer_free(l.dev, handle[i]);
  }
  end_session(&l);
}

static void test_failed_allocations(void) {
  const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 4096, (uint64_t)1 << 62};
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    life l = {.h = {.fault = {.left = left}}};
    CHECK(begin_session(&l, 0) == (left == 0 ? VT_OK : VT_NOMEM));
    for (size_t i = 0; left == 0 && i < sizeof sizes / sizeof *sizes; i++) {
      uint64_t handle = 7;
      CHECK(l.api->buffer_new(l.dev, sizes[i], &handle) == VT_NOMEM && handle == 7);
    }
    if (left == 0) asked = l.h.fault.asked;
    end_session(&l);
  }
  CHECK(asked == 5); /* the allocations are device, program, steps, views, table of slots */
}

/* ---- no other access ---- */

/* The address of a mapping of this size without any access rights; NULL if no mapping has. */
static const float *find_inaccessible_pages(uint64_t bytes) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[600];
  const float *found = NULL;
  if (maps == NULL) {
    fprintf(stderr, "SKIPPED: there is no /proc/self/maps to find buffers in\n");
    exit(vt_test_failed != 0 ? 1 : 77);
  }
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long long from, to;
    char mode[5];
    if (sscanf(line, "%llx-%llx %4s", &from, &to, mode) == 3 && to - from == bytes &&
        strcmp(mode, "---p") == 0)
      found = (const float *)(uintptr_t)from;
  }
  fclose(maps);
  return found;
}

/* Whether a child process that reads at p is terminated by SIGSEGV. */
static int read_is_caught(const volatile void *p) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* otherwise a sanitizer would report the signal */
    _exit(*(const volatile char *)p == 0 ? 3 : 4);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return 0;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void test_direct_access_fails(void) {
  const uint64_t bytes = PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
  life l = {0};
  float x[6] = {1, 2, 3, 4, 5, 6};
  CHECK(begin_session(&l, 0) == VT_OK);
  CHECK(find_inaccessible_pages(bytes) == NULL);
  for (int i = 0; i < ARENAS; i++) l.api->buffer_free(l.dev, l.buffer[i]);
  CHECK(l.api->buffer_new(l.dev, bytes - 1, &l.buffer[FIRST]) == VT_OK);
  /* found before another mapping can be merged with this one */
  const float *at = find_inaccessible_pages(bytes);
  CHECK(at != NULL);
  if (at == NULL) exit(1);
  CHECK(l.api->buffer_new(l.dev, 88, &l.buffer[SECOND]) == VT_OK);
  CHECK(read_is_caught(at));
  CHECK(!read_is_caught(x) && l.buffer[FIRST] != (uint64_t)(uintptr_t)at);
  CHECK(l.api->copy(l.dev, x, l.buffer[FIRST], 0, sizeof x, 1) == VT_OK);
  CHECK(read_is_caught(at));
  l.h.look = at + 4; /* accessible during the run, which shows that the address is right */
  CHECK(l.api->run(l.prog, l.buffer, ARENAS) == VT_OK && l.h.seen == 5);
  CHECK(read_is_caught(at));
  CHECK(l.api->copy(l.dev, x, l.buffer[FIRST], 0, sizeof x, 0) == VT_OK);
  CHECK(read_is_caught(at));
  l.buffer[SECOND] ^= (uint64_t)1 << 40; /* a refused run makes its arenas inaccessible again */
  CHECK(l.api->run(l.prog, l.buffer, ARENAS) == VT_INTERNAL && read_is_caught(at));
  l.buffer[SECOND] ^= (uint64_t)1 << 40;
  l.n_buffers = 0; /* buffers that are not freed by the test are freed with their device */
  end_session(&l);
  CHECK(find_inaccessible_pages(bytes) == NULL);
}

int main(void) {
  test_run_doubles_x();
  test_only_device_0_takes_strides();
  test_capabilities_of_both_devices();
  test_wrong_handles_are_refused();
  test_copies_stay_inside_buffer();
  test_many_buffers_reuse_slots();
  test_failed_allocations();
  test_direct_access_fails();
  TEST_DONE();
}
