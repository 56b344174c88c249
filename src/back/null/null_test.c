/* SPDX-License-Identifier: Apache-2.0
 * null_test.c - the template follows the rules of the ABI: it refuses every step, copies correctly,
 * and leaks nothing, whichever allocation fails. */
#include <string.h>
#include "volta/volta_backend.h"
#include "vt_test.h"

vt_backend_query_fn vt_null_query;

/* ---- a host that counts allocations ---- */

typedef struct counting_host {
  vt_fault fault;
  int32_t status;
  char reason[80];
} counting_host;

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  counting_host *h = user;
  if (new_size > (uint64_t)1 << 40) return NULL;
  return vt_fault_resize(&h->fault, p, (size_t)old_size, (size_t)new_size);
}

static void host_diag(void *user, int32_t status, const char *text) {
  counting_host *h = user;
  h->status = status;
  snprintf(h->reason, sizeof h->reason, "%s", text);
}

static vt_bk_host make_host(counting_host *h) {
  return (vt_bk_host){.size = sizeof(vt_bk_host),
                      .abi_major = VT_BK_ABI_MAJOR,
                      .user = h,
                      .resize = host_resize,
                      .diag = host_diag};
}

static void test_query_and_abi_version(void) {
  counting_host h = {0};
  vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_null_query(&host);
  CHECK(api != NULL && api->size == sizeof *api && api->abi_major == VT_BK_ABI_MAJOR);
  CHECK(strcmp(api->name, "null") == 0);
  host.abi_major = VT_BK_ABI_MAJOR + 1;
  CHECK(vt_null_query(&host) == NULL);
  CHECK(h.fault.asked == 0); /* a query allocates nothing */
}

static void test_steps_are_refused(void) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_null_query(&host);
  const vt_bk_step step = {.size = sizeof step, .op = 3, .n_in = 1, .n_out = 1};
  uint32_t devices = 0;
  uint64_t scratch = 7;
  vt_bk_device *dev = NULL;
  vt_bk_program *prog = NULL;
  CHECK(api->device_count(&host, &devices) == VT_OK && devices == 1);
  CHECK(api->device_open(&host, 0, &dev) == VT_OK && dev != NULL);
  for (uint32_t op = 0; op < 2000; op++) CHECK(api->op_listed(dev, op) == 0);
  CHECK(api->step_check(dev, &step) == VT_UNSUPPORTED);
  CHECK(h.status == VT_UNSUPPORTED && h.reason[0] != 0);
  CHECK(api->workspace(dev, &step, &scratch) == VT_OK && scratch == 0);
  CHECK(api->program_build(dev, &step, 1, &prog) == VT_UNSUPPORTED && prog == NULL);
  api->device_close(dev);
  CHECK(h.fault.live == 0);
}

/* capabilities writes the fields up to the size that the caller knows, and none beyond it. */
static void test_capabilities_of_older_host(void) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_null_query(&host);
  vt_bk_device *dev = NULL;
  vt_bk_caps caps = {.size = sizeof caps};
  CHECK(api->device_open(&host, 0, &dev) == VT_OK);
  CHECK(api->capabilities(dev, &caps) == VT_OK);
  CHECK(caps.alignment == 64 && caps.about != NULL && strcmp(caps.fingerprint, "null-1") == 0);
  vt_bk_caps early = {.size = offsetof(vt_bk_caps, about)};
  CHECK(api->capabilities(dev, &early) == VT_OK && early.alignment == 64);
  CHECK(early.about == NULL && early.fingerprint == NULL);
  api->device_close(dev);
}

/* A whole session with a program without steps: buffers, copies, and a run that changes nothing. */
static int32_t run_session(const vt_bk_host *host) {
  const vt_bk_api *api = vt_null_query(host);
  vt_bk_device *dev = NULL;
  vt_bk_program *prog = NULL;
  uint64_t buffers[2] = {0, 0}, made = 0;
  char in[] = "abcdef", out[7] = "";
  vt_bk_error error = {.size = sizeof error, .status = 99};
  int32_t s = api->device_open(host, 0, &dev);
  if (s == VT_OK) s = api->program_build(dev, NULL, 0, &prog);
  for (; s == VT_OK && made < 2; made += s == VT_OK)
    s = api->buffer_new(dev, 16 * made, &buffers[made]);
  if (s == VT_OK) s = api->copy(dev, in, buffers[1], 8, 6, 1);
  if (s == VT_OK) s = api->run(prog, buffers, 2);
  if (s == VT_OK) s = api->wait(prog, &error);
  if (s == VT_OK) s = api->copy(dev, out, buffers[1], 8, 6, 0);
  if (s == VT_OK) CHECK(strcmp(out, "abcdef") == 0 && error.status == VT_OK);
  while (made > 0) api->buffer_free(dev, buffers[--made]);
  if (prog != NULL) api->program_free(prog);
  if (dev != NULL) api->device_close(dev);
  return s;
}

static void test_failed_allocations(void) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    counting_host h = {.fault = {.left = left}};
    const vt_bk_host host = make_host(&h);
    CHECK(run_session(&host) == (left == 0 ? VT_OK : VT_NOMEM));
    if (left == 0) asked = h.fault.asked;
    CHECK(h.fault.live == 0);
  }
  CHECK(asked == 4);
}

static void test_huge_buffers_are_refused(void) {
  counting_host h = {0};
  const vt_bk_host host = make_host(&h);
  const vt_bk_api *api = vt_null_query(&host);
  const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 8, (uint64_t)1 << 63};
  vt_bk_device *dev = NULL;
  CHECK(api->device_open(&host, 0, &dev) == VT_OK);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint64_t handle = 7;
    CHECK(api->buffer_new(dev, sizes[i], &handle) == VT_NOMEM && handle == 7);
  }
  api->device_close(dev);
  CHECK(h.fault.live == 0);
}

int main(void) {
  test_query_and_abi_version();
  test_steps_are_refused();
  test_capabilities_of_older_host();
  test_failed_allocations();
  test_huge_buffers_are_refused();
  TEST_DONE();
}
