/* SPDX-License-Identifier: Apache-2.0
 * abi_test.c - checks that version 1 of the plug-in interface does not change. Every field of
 * volta_backend.h and of the attribute structs has its offset and size of version 1, and a table
 * that does not have all of version 1 is refused before any of its functions is called. */
#include <string.h>
#include "registry.h"
#include "vt_test.h"

/* ---- layout in bytes on a 64-bit machine; rows are appended, never changed ---- */

typedef struct layout_row {
  const char *what;
  size_t offset, bytes, want_offset, want_bytes;
} layout_row;
#define WHOLE(type, want) \
  { #type, 0, sizeof(type), 0, want }
#define FIELD(type, field, want_offset, want) \
  { #type "." #field, offsetof(type, field), sizeof(((type *)0)->field), want_offset, want }

static const layout_row layout[] = {
#define VT_ABI_STRUCT(type, bytes) WHOLE(type, bytes),
#define VT_ABI_FIELD(type, field, offset, bytes) FIELD(type, field, offset, bytes),
#include "abi.def"
#undef VT_ABI_STRUCT
#undef VT_ABI_FIELD
    /* the structs of attributes that the field `attrs` of a step may point to */
    WHOLE(vt_attr_list, 72),
    FIELD(vt_attr_list, n, 0, 8),
    FIELD(vt_attr_list, v, 8, 64),
    WHOLE(vt_attr_text, 120),
    FIELD(vt_attr_text, v, 0, 120),
    WHOLE(vt_attr_none, 8),
    FIELD(vt_attr_none, size, 0, 8),
    WHOLE(vt_attr_literal, 24),
    FIELD(vt_attr_literal, dtype, 8, 8),
    FIELD(vt_attr_literal, bits, 16, 8),
    WHOLE(vt_attr_iota, 96),
    FIELD(vt_attr_iota, shape, 8, 72),
    FIELD(vt_attr_iota, axis, 80, 8),
    FIELD(vt_attr_iota, dtype, 88, 8),
    WHOLE(vt_attr_cast, 16),
    FIELD(vt_attr_cast, dtype, 8, 8),
    WHOLE(vt_attr_reduce, 88),
    FIELD(vt_attr_reduce, axes, 8, 72),
    FIELD(vt_attr_reduce, keep, 80, 8),
    WHOLE(vt_attr_axis, 16),
    FIELD(vt_attr_axis, axis, 8, 8),
    WHOLE(vt_attr_matmul, 32),
    FIELD(vt_attr_matmul, transpose_a, 8, 8),
    FIELD(vt_attr_matmul, transpose_b, 16, 8),
    FIELD(vt_attr_matmul, order, 24, 8),
    WHOLE(vt_attr_gather, 24),
    FIELD(vt_attr_gather, axis, 8, 8),
    FIELD(vt_attr_gather, batch, 16, 8),
    WHOLE(vt_attr_slice, 224),
    FIELD(vt_attr_slice, start, 8, 72),
    FIELD(vt_attr_slice, stop, 80, 72),
    FIELD(vt_attr_slice, step, 152, 72),
    WHOLE(vt_attr_pad, 152),
    FIELD(vt_attr_pad, low, 8, 72),
    FIELD(vt_attr_pad, high, 80, 72),
    WHOLE(vt_attr_shape, 80),
    FIELD(vt_attr_shape, shape, 8, 72),
    WHOLE(vt_attr_perm, 80),
    FIELD(vt_attr_perm, perm, 8, 72),
    WHOLE(vt_attr_random, 88),
    FIELD(vt_attr_random, shape, 8, 72),
    FIELD(vt_attr_random, stream, 80, 8),
    WHOLE(vt_attr_norm, 16),
    FIELD(vt_attr_norm, eps, 8, 8),
    WHOLE(vt_attr_attention, 40),
    FIELD(vt_attr_attention, causal, 8, 8),
    FIELD(vt_attr_attention, scale, 16, 8),
    FIELD(vt_attr_attention, order, 24, 8),
    FIELD(vt_attr_attention, window, 32, 8),
    WHOLE(vt_attr_entropy, 32),
    FIELD(vt_attr_entropy, ignore, 8, 8),
    FIELD(vt_attr_entropy, reduction, 16, 8),
    FIELD(vt_attr_entropy, smoothing, 24, 8),
};

static void test_struct_layout_is_version_1(void) {
  for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
    const layout_row *p = &layout[i];
    const int same = p->offset == p->want_offset && p->bytes == p->want_bytes;
    CHECK(same);
    if (!same) fprintf(stderr, "  %s: %zu bytes at %zu\n", p->what, p->bytes, p->offset);
  }
  CHECK(VT_BK_ABI_MAJOR == 1 && strcmp(VT_BK_SYMBOL, "vt_backend_query") == 0);
  CHECK(VT_OK == 0 && VT_RANGE == 10 && VT_UNSUPPORTED == 12 && VT_NOMEM == 15);
}

/* ---- tables of functions: the only backend of this program returns `offered_table` ---- */

static const vt_bk_api *offered_table;
static uint32_t calls; /* number of calls of functions in the table */

static const vt_bk_api *query_offered_table(const vt_bk_host *host) {
  CHECK(host->size == sizeof *host && host->abi_major == VT_BK_ABI_MAJOR);
  return offered_table;
}

uint32_t vt_registry_backend_count(void) { return 1; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  static vt_proofs proofs;
  static const vt_registry_row row = {"other", query_offered_table, VT_KIND_CPU, &proofs};
  return i == 0 ? &row : NULL;
}

static int32_t device_count(const vt_bk_host *host, uint32_t *out) {
  (void)host;
  calls++;
  *out = 1;
  return VT_OK;
}
static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  static int device;
  (void)host, (void)ordinal;
  calls++;
  *out = (vt_bk_device *)(void *)&device;
  return VT_OK;
}
static void device_close(vt_bk_device *dev) { (void)dev, calls++; }
static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  (void)dev;
  calls++;
  *out = (vt_bk_caps){.size = sizeof *out,
                      .alignment = 1,
                      .about = "a table",
                      .fingerprint = "table",
                      .determinism = VT_BK_DETERMINISM_STRICT,
                      .serves = VT_BK_INFERENCE};
  return VT_OK;
}
/* The functions from here to `wait` are not called when a device is opened. */
static int32_t op_listed(vt_bk_device *dev, uint32_t op) { return (void)dev, (void)op, 0; }
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *s) { return (void)dev, (void)s, 0; }
static int32_t workspace(vt_bk_device *dev, const vt_bk_step *s, uint64_t *out) {
  return (void)dev, (void)s, *out = 0, 0;
}
static int32_t program_build(vt_bk_device *dev, const vt_bk_step *s, uint64_t n,
                             vt_bk_program **out) {
  return (void)dev, (void)s, (void)n, *out = NULL, VT_UNSUPPORTED;
}
static void program_free(vt_bk_program *prog) { (void)prog; }
static int32_t buffer_new(vt_bk_device *dev, uint64_t n, uint64_t *out) {
  return (void)dev, (void)n, *out = 0, VT_NOMEM;
}
static void buffer_free(vt_bk_device *dev, uint64_t handle) { (void)dev, (void)handle; }
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  return (void)dev, (void)host, (void)handle, (void)offset, (void)bytes, (void)to_device, 0;
}
static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n) {
  return (void)prog, (void)buffers, (void)n, 0;
}
static int32_t wait(vt_bk_program *prog, vt_bk_error *out) { return (void)prog, (void)out, 0; }

static const vt_bk_api whole = {.size = sizeof whole,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "other",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait};

static vt_status open_with_table(const vt_bk_api *api) {
  vt_fault fault = {0};
  vt_device *dev = NULL;
  vt_diag d = {0};
  offered_table = api;
  calls = 0;
  const vt_status s = vt_device_open("other", vt_fault_alloc(&fault), &dev, &d);
  CHECK((s == VT_OK) == (dev != NULL) && d.code == s);
  if (s != VT_OK) CHECK(calls == 0 && strstr(d.text, "'other'") != NULL);
  const char *name = NULL;
  uint32_t devices = 0;
  CHECK(vt_registry_backend_at(0, &name, &devices, NULL) == s && (name != NULL) == (s == VT_OK));
  vt_device_close(dev);
  CHECK(fault.live == 0);
  return s;
}

/* A copy of `whole` with the 8 bytes of one pointer cleared. */
static vt_bk_api table_without_field_at(size_t offset) {
  static const unsigned char none[8];
  vt_bk_api api = whole;
  memcpy((char *)&api + offset, none, sizeof none);
  return api;
}

static void test_incomplete_tables_are_refused(void) {
  CHECK(open_with_table(&whole) == VT_OK && calls > 0);
  CHECK(open_with_table(NULL) == VT_ABI);
  for (size_t at = offsetof(vt_bk_api, name); at < offsetof(vt_bk_api, metrics); at += 8) {
    const vt_bk_api holed = table_without_field_at(at);
    CHECK(open_with_table(&holed) == VT_ABI);
  }
}

/* A table that says it is short is not read beyond its size: nothing after that is allocated
 * here. */
static void test_tables_of_other_sizes(void) {
  for (uint32_t size = 0; size < offsetof(vt_bk_api, metrics); size += 4) {
    const size_t bytes = size < 8 ? 8 : size; /* size and version are always readable */
    void *memory = malloc(bytes);
    if (memory == NULL) exit(1);
    memcpy(memory, &whole, bytes);
    memcpy(memory, &size, sizeof size);
    CHECK(open_with_table(memory) == VT_ABI);
    free(memory);
  }
  for (uint32_t size = offsetof(vt_bk_api, metrics); size < sizeof whole; size += 8) {
    /* A table of an earlier minor version is accepted, because it has all required functions. */
    void *memory = malloc(size);
    if (memory == NULL) exit(1);
    memcpy(memory, &whole, size);
    memcpy(memory, &size, sizeof size);
    CHECK(open_with_table(memory) == VT_OK);
    free(memory);
  }
  struct {
    vt_bk_api api;
    uint64_t more[4];
  } longer = {.api = whole};
  /* A table of a later minor version is accepted; its additional fields are ignored. */
  longer.api.size = sizeof longer;
  CHECK(open_with_table(&longer.api) == VT_OK);
}

static void test_other_major_is_refused(void) {
  const uint32_t versions[] = {0, 2, UINT32_MAX};
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
    vt_bk_api api = whole;
    api.abi_major = versions[i];
    CHECK(open_with_table(&api) == VT_ABI);
  }
}

int main(void) {
  test_struct_layout_is_version_1();
  test_incomplete_tables_are_refused();
  test_tables_of_other_sizes();
  test_other_major_is_refused();
  TEST_DONE();
}
