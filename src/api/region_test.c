/* SPDX-License-Identifier: Apache-2.0
 * region_test.c - tests the ops loop and cond through the whole library. Values are carried,
 * collected and captured, and the branch that is not taken does not run. Also tested: the message
 * of a failure in a body, and a loop compared with the same steps unrolled. */
#include <string.h>
#include "volta/volta.h"
#include "vt_alloc.h"
#include "vt_test.h"

enum { MOST = 64 };

typedef struct outcome {
  vt_status status;
  vt_diag diag;
  uint32_t n;          /* number of elements in `whole`; 0 if the output is not i64 */
  int64_t whole[MOST]; /* elements of the first output, if it is i64 */
  uint8_t digest[32];
} outcome;

static void read_first_i64_output(vt_program *p, outcome *o) {
  const char *name;
  vt_tensor t = {0};
  uint64_t count = 0, bytes = 0;
  CHECK(vt_program_output(p, 0, &name, &t, &o->diag) == VT_OK);
  CHECK(vt_tensor_bytes(&t, &count, &bytes, NULL) == VT_OK);
  if (t.dtype != vt_dtype_find("i64") || count > MOST) return;
  o->n = (uint32_t)count;
  if (bytes > 0) memcpy(o->whole, t.data, (size_t)bytes);
}

static outcome run_on_device(const char *body, const char *backend) {
  static char text[4000];
  outcome o = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  const vt_options options = {.size = sizeof options, .backend = backend};
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", body);
  o.status = vt_model_parse(text, strlen(text), NULL, &m, &o.diag);
  if (o.status == VT_OK) o.status = vt_program_new(m, &options, &p, &o.diag);
  if (o.status == VT_OK) o.status = vt_program_init_params(p, 3, &o.diag);
  if (o.status == VT_OK) o.status = vt_program_random_inputs(p, 5, &o.diag);
  if (o.status == VT_OK) o.status = vt_program_run(p, &o.diag);
  if (o.status == VT_OK) {
    read_first_i64_output(p, &o);
    CHECK(vt_program_digest(p, o.digest, &o.diag) == VT_OK);
  }
  vt_program_free(p);
  vt_model_free(m);
  return o;
}

static outcome run_on_both_devices(const char *body) {
  const outcome a = run_on_device(body, "reference:0"), b = run_on_device(body, "reference:1");
  if (a.status != VT_OK) fprintf(stderr, "  %s\n", a.diag.text);
  CHECK(a.status == b.status && memcmp(a.digest, b.digest, sizeof a.digest) == 0);
  return a;
}

static void expect_elements(const char *body, uint32_t n, const int64_t *want) {
  const outcome o = run_on_both_devices(body);
  CHECK(o.status == VT_OK && o.n == n && memcmp(o.whole, want, n * sizeof *want) == 0);
  for (uint32_t i = 0; i < o.n && i < n; i++)
    if (o.whole[i] != want[i])
      fprintf(stderr, "  [%u] is %lld, not %lld in\n%s\n", i, (long long)o.whole[i],
              (long long)want[i], body);
}
#define EXPECT(body, ...)                                       \
  do {                                                          \
    const int64_t want_[] = {__VA_ARGS__};                      \
    expect_elements(body, sizeof want_ / sizeof *want_, want_); \
  } while (0)

static void test_loops(void) {
  /* The sum of the loop index is carried, and its value in each iteration is collected. */
  EXPECT("_, y = loop(i64(0), count=5, carried=1) (i, s) {\n s = s + i\n give s, s\n}\noutput y", 0,
         1, 3, 6, 10);
  /* Two carried values are exchanged: both are read before either is written. */
  EXPECT(
      "a, b = loop(i64(1), i64(2), count=3, carried=2) (i, s, t) {\n give t, s\n}\n"
      "output y = concat(reshape(a, shape=[1]), reshape(b, shape=[1]), axis=0)",
      2, 1);
  EXPECT(
      "_, b, f = loop(i64(0), i64(1), count=8, carried=2) (i, a, b) {\n give b, a + b, a\n}\n"
      "output f",
      0, 1, 1, 2, 3, 5, 8, 13);
  /* The body reads an element of an operand and a captured value, and gives one value three
   * times. */
  EXPECT(
      "x = iota(shape=[4], axis=0) * 10\nk = i64(3)\n"
      "s, y, z = loop(i64(0), x, count=4, carried=1, each=1) (i, s, e) {\n t = s + e * k\n"
      " give t, t, t\n}\noutput r = y + z - s",
      -180, -120, 0, 180);
  /* With 0 iterations the loop gives the initial value, and the collected result is empty. */
  EXPECT(
      "s, y = loop(i64(7), count=0, carried=1) (i, s) {\n give s + 1, s\n}\n"
      "output r = concat(reshape(s, shape=[1]), y, axis=0)",
      7);
  /* A loop without carried values. */
  EXPECT("y = loop(count=3) (i) {\n give i * i\n}\noutput y", 0, 1, 4);
}

static void test_nested_bodies(void) {
  EXPECT(
      "y = loop(count=3) (i) {\n"
      " s = loop(i64(0), count=4, carried=1) (j, t) {\n  give t + i * j\n }\n give s\n}\noutput y",
      0, 6, 12);
  EXPECT(
      "y = loop(count=4) (i) {\n"
      " r = cond(i < 2) {\n  give i + 100\n } else {\n  give -i\n }\n give r\n}\noutput y",
      100, 101, -2, -3);
}

/* The branch of a cond that is not taken does not run: its index would be out of range. */
static void test_untaken_branch_does_not_run(void) {
  const char *model =
      "x = iota(shape=[3], axis=0)\nfar = i64(9)\n"
      "y = cond(%s) {\n give gather(x, far, axis=0)\n} else {\n give sum(x)\n}\noutput y";
  char text[400];
  snprintf(text, sizeof text, model, "false");
  EXPECT(text, 3);
  snprintf(text, sizeof text, model, "true");
  const outcome o = run_on_device(text, "reference:0");
  CHECK(o.status == VT_RANGE && strstr(o.diag.text, "gather: index 9 at position 0") != NULL);
  CHECK(o.diag.line == 6); /* the line of the failing node in the body */
}

/* A loop gives the same bits as its steps written one after another, also with parameters and
 * compositions. */
static void test_loop_equals_unrolled_loop(void) {
  const char *head =
      "input x: f32[3, 2, 5]\nparam w: f32[5, 4] = he_normal(stream=1)\n"
      "param u: f32[4, 4] = he_normal(stream=2)\nparam h0: f32[2, 4] = normal(std=1.0, stream=3)\n";
  char looped[1000], plain[1600];
  snprintf(looped, sizeof looped,
           "%sh, y = loop(h0, x, count=3, carried=1, each=1) (i, h, e) {\n"
           " n = gelu(matmul(e, w) + matmul(h, u))\n give softmax(n), n\n}\noutput h\noutput y",
           head);
  size_t at = (size_t)snprintf(plain, sizeof plain, "%sh = h0\n", head);
  for (int i = 0; i < 3; i++)
    at +=
        (size_t)snprintf(plain + at, sizeof plain - at,
                         "e = reshape(slice(x, start=[%d, 0, 0], stop=[%d, 2, 5]), shape=[2, 5])\n"
                         "n%d = gelu(matmul(e, w) + matmul(h, u))\nh = softmax(n%d)\n",
                         i, i + 1, i, i);
  snprintf(plain + at, sizeof plain - at,
           "output h\noutput y = reshape(concat(n0, n1, n2, axis=0), shape=[3, 2, 4])");
  const outcome a = run_on_both_devices(looped), b = run_on_both_devices(plain);
  CHECK(a.status == VT_OK && b.status == VT_OK);
  CHECK(memcmp(a.digest, b.digest, sizeof a.digest) == 0);
}

/* Lets each allocation of parser, passes, planner and run fail in turn; nothing leaks. */
static void test_region_out_of_memory(void) {
  static const char text[] =
      "volta 1\nmodel m {\ninput x: f32[2]\ny = loop(x, count=2, carried=1) (i, s) {\n"
      " r = cond(i < 1) {\n  give s + x\n } else {\n  give s\n }\n give r\n}\noutput y\n}\n";
  for (long left = 1;; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc alloc = vt_fault_alloc(&fault);
    const vt_options o = {.size = sizeof o, .backend = "reference:0", .alloc = &alloc};
    vt_model *m = NULL;
    vt_program *p = NULL;
    vt_diag d = {0};
    vt_status s = vt_model_parse(text, sizeof text - 1, &alloc, &m, &d);
    if (s == VT_OK) s = vt_program_new(m, &o, &p, &d);
    if (s == VT_OK) s = vt_program_random_inputs(p, 1, &d);
    if (s == VT_OK) s = vt_program_run(p, &d);
    vt_program_free(p);
    vt_model_free(m);
    CHECK(fault.live == 0 && (s == VT_OK || s == VT_NOMEM));
    if (s == VT_OK || vt_test_failed > 5) break;
  }
}

int main(void) {
  test_loops();
  test_nested_bodies();
  test_untaken_branch_does_not_run();
  test_loop_equals_unrolled_loop();
  test_region_out_of_memory();
  TEST_DONE();
}
