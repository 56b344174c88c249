/* SPDX-License-Identifier: Apache-2.0
 * poison_test.c - tests two functions of the gateway that admission uses: filling memory with
 * poison before a run, and noticing that a backend left the floating-point mode changed. */
#include <string.h>
#include "guard.h"
#include "hostile_fpenv.h"
#include "vt_gate.h"
#include "vt_test.h"

/* ---- h = add(x, x); y = mul(h, x) ---- */

enum { X, H, Y, N = 3000 };

static vt_graph *sample_graph(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type x = {VT_DTYPE_F32, 1, {N}};
  CHECK(vt_graph_begin(&gb, "sample", vt_alloc_default(), NULL) == VT_OK);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &x);
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_add, X, X), "h");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_mul, H, X), "y");
  vt_graph_add_result(&gb, "y", Y);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the tests cannot go on without a graph */
  return g;
}

static int all_bytes_are(const void *p, size_t n, uint8_t byte) {
  const uint8_t *b = p;
  for (size_t i = 0; i < n; i++)
    if (b[i] != byte) return 0;
  return 1;
}

static int is_expected_result(const float *y) {
  for (int i = 0; i < N; i++)
    if (y[i] != 2 * (float)i * (float)i) return 0;
  return 1;
}

/* Poison fills every byte of temporaries and outputs but no input, and a run afterwards is
 * correct. */
static void test_poison_fills_memory(const char *device) {
  static float in[N], h[N], y[N];
  vt_graph *g = sample_graph();
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  for (int i = 0; i < N; i++) in[i] = (float)i;
  CHECK(vt_device_open(device, vt_alloc_default(), &dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(dev);
  CHECK(vt_plan_build(g, &(vt_plan_options){0}, &target, vt_alloc_default(), &p, NULL) == VT_OK);
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, NULL) == VT_OK);
  CHECK(vt_exec_write(x, X, in, NULL) == VT_OK);
  for (int byte = 0; byte < 256; byte += 85) {
    CHECK(vt_exec_poison(x, (uint8_t)byte, NULL) == VT_OK);
    CHECK(vt_exec_read(x, H, h, NULL) == VT_OK && all_bytes_are(h, sizeof h, (uint8_t)byte));
    CHECK(vt_exec_read(x, Y, y, NULL) == VT_OK && all_bytes_are(y, sizeof y, (uint8_t)byte));
    CHECK(vt_exec_run(x, NULL) == VT_OK && vt_exec_read(x, Y, y, NULL) == VT_OK);
    CHECK(is_expected_result(y));
  }
  vt_exec_free(x);
  vt_plan_free(p);
  vt_device_close(dev);
  vt_graph_free(g);
}

/* A mode that is left changed inside a guard counts once. A listener that changes the mode in a
 * nested guard, which restores it, does not count. */
static void test_counting_mode_changes(void) {
  const hostile_words mine = hostile_read_words();
  const uint64_t before = vt_gate_count_mode_changes();
  vt_guard outer, inner;
  vt_guard_enter(&outer);
  vt_guard_leave(&outer);
  CHECK(vt_gate_count_mode_changes() == before);
  vt_guard_enter(&outer);
  vt_guard_enter(&inner);
  hostile_write_words(hostile_worst_words());
  vt_guard_leave(&inner);
  vt_guard_leave(&outer);
  CHECK(vt_gate_count_mode_changes() == before);
  vt_guard_enter(&outer);
  hostile_write_words(hostile_worst_words());
  vt_guard_leave(&outer);
  CHECK(vt_gate_count_mode_changes() == before + 1);
  CHECK(hostile_words_equal(hostile_read_words(), mine));
}

int main(void) {
  test_poison_fills_memory("reference:0");
  test_poison_fills_memory("island:0");
  test_poison_fills_memory("island:1");
  test_counting_mode_changes();
  TEST_DONE();
}
