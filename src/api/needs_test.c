/* SPDX-License-Identifier: Apache-2.0
 * needs_test.c - a device that does not declare a capability refuses a plan that needs it, and
 * accepts a plan that does not. Also the requirements on the device as a whole: determinism,
 * inference, training. */
#include "program.h"
#include "volta/volta_tools.h"
#include "wrapped_test.h"

typedef struct row {
  uint64_t bit;                     /* the capability */
  const char *op;                   /* name of the op in the message of the refusal */
  const char *inputs, *y;           /* a model that needs the capability */
  const char *other_inputs, *other; /* a model that does not need it */
} row;

static const row rows[] = {
    {VT_BK_FLOAT64, "add", "x: f64[4]", "x + x", "x: f64[4, 2]", "transpose(x, perm=[1, 0])"},
    {VT_BK_INT8_EXACT, "matmul_int", "x: i8[2, 3]\n input z: i8[3, 2]", "matmul_int(x, z)",
     "x: i32[2, 3]", "x * x"},
    {VT_BK_ATOMIC_OPS, "scatter_nd_add", "b: i32[7]\n input i: i64[5, 1]\n input u: i32[5]",
     "scatter_nd_add(b, i, u)", "x: f32[7, 2]\n input i: i64[5]", "gather(x, i)"},
    {VT_BK_DETERMINISTIC_REDUCTIONS, "sum", "x: f32[4]", "sum(x, axes=[0])", "x: f32[4]",
     "max(x, axes=[0])"},
    {VT_BK_ROUNDED_MATH, "exp", "x: f32[4]", "exp(x)", "x: f32[4]", "sqrt(x) / x"},
    {VT_BK_SUBNORMALS, "mul", "x: f32[4]", "x * x", "x: i32[4]", "x * x"},
    {VT_BK_REGIONS, "loop", "x: f32[9]\n input u: f32[3, 9]",
     "loop(x, u, count=3, carried=1, each=1) (i, h, v) {\n give h + v\n }", "x: f32[9]", "x + x"},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Makes a program of the model on `fake`, or only a plan if `planned`. */
static vt_status plan_or_open(const vt_model *m, int planned, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = "fake"};
  vt_program *p = NULL;
  vt_planned *q = NULL;
  const vt_status s = planned ? vt_planned_new(m, &o, &q, d) : vt_program_new(m, &o, &p, d);
  CHECK((s == VT_OK) == (p != NULL || q != NULL) && d->code == s);
  vt_program_free(p);
  vt_planned_free(q);
  return s;
}

static void expect_refused(const vt_model *m, const char *words[2]) {
  for (int planned = 0; planned < 2; planned++) {
    vt_diag d = {0};
    const uint32_t built = wrapped.calls[WRAPPED_FAKE][WRAPPED_BUILD];
    CHECK(plan_or_open(m, planned, &d) == VT_UNSUPPORTED && vt_status_exit(d.code) == 4);
    for (int i = 0; i < 2; i++) CHECK(strstr(d.text, words[i]) != NULL);
    if (strstr(d.text, words[0]) == NULL) fprintf(stderr, "  %s\n", d.text);
    CHECK(wrapped.calls[WRAPPED_FAKE][WRAPPED_BUILD] == built);
    CHECK(wrapped.calls[WRAPPED_FAKE][WRAPPED_NEW] == 0 && wrapped.live == 0);
  }
}

static void expect_accepted(const vt_model *m) {
  for (int planned = 0; planned < 2; planned++) {
    vt_diag d = {0};
    CHECK(plan_or_open(m, planned, &d) == VT_OK && d.text[0] == 0);
    if (d.text[0] != 0) fprintf(stderr, "  %s\n", d.text);
  }
}

static const char *capability_name_of(uint64_t bit) {
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++)
    if (vt_capability_at(i)->bit == bit) return vt_capability_at(i)->name;
  return "?";
}

static void test_undeclared_capabilities(void) {
  uint64_t seen = 0;
  for (size_t i = 0; i < ROWS; i++) {
    char names[2][80];
    const char *words[2] = {names[0], names[1]};
    vt_model *with = model_of_expression(rows[i].inputs, rows[i].y);
    vt_model *without = model_of_expression(rows[i].other_inputs, rows[i].other);
    snprintf(names[0], sizeof names[0], "it does not declare %s", capability_name_of(rows[i].bit));
    snprintf(names[1], sizeof names[1], "backend 'fake:0' does not run 'y' = %s giving ",
             rows[i].op);
    wrapped_reset();
    expect_accepted(with);
    wrapped_reset();
    /* All bits but the needed one are declared; bits without a capability have no effect. */
    wrapped.declares = ~rows[i].bit;
    expect_refused(with, words);
    expect_accepted(without);
    wrapped_reset();
    wrapped.declares = 0; /* as a plug-in that was built before the field existed */
    vt_diag d = {0};
    CHECK(plan_or_open(with, 0, &d) == VT_UNSUPPORTED);
    vt_model_free(with);
    vt_model_free(without);
    seen |= rows[i].bit;
  }
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) CHECK((seen & vt_capability_at(i)->bit) != 0);
  CHECK(vt_capability_at(VT_CAPABILITIES) == NULL);
}

/* A plan needs the capabilities that the bodies of its loops need, and the refusal names the op in
 * the body. */
static void test_capabilities_of_loop_body(void) {
  const char *words[2] = {"it does not declare correctly_rounded_math", "= exp giving f32[9]"};
  vt_model *m =
      model_of_expression("x: f32[9]\n input u: f32[3, 9]",
                          "loop(x, u, count=3, carried=1, each=1) (i, h, v) {\n e = exp(v)\n give "
                          "h + e\n }");
  wrapped_reset();
  wrapped.declares = ~VT_BK_ROUNDED_MATH;
  expect_refused(m, words);
  vt_model_free(m);
}

/* A composition that a backend runs as one op needs the capabilities for what its kernel may use:
 * sums and functions. */
static void test_capabilities_of_composition(void) {
  const vt_options o = {.size = sizeof o, .backend = "reference:1"};
  vt_model *m = model_of_expression("x: f32[4, 9]", "softmax(x)");
  vt_program *p = NULL;
  wrapped_reset();
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(p->line.plan->n_bk_steps == 1 && p->line.plan->bk_steps[0].op == VT_OP_softmax);
  CHECK(vt_plan_needed_caps(p->line.plan) ==
        (VT_BK_DETERMINISTIC_REDUCTIONS | VT_BK_ROUNDED_MATH | VT_BK_SUBNORMALS));
  vt_program_free(p);
  vt_model_free(m);
}

/* ---- the device as a whole ---- */

static void test_determinism_and_inference(void) {
  vt_model *m = model_of_expression("x: f32[4]", "x + x");
  const char *words[2] = {"does not promise the bits of the reference", "'fake:0'"};
  for (uint32_t level = 0; level < 4; level++) {
    wrapped_reset();
    wrapped.determinism = level;
    if (level == VT_BK_DETERMINISM_STRICT) {
      expect_accepted(m);
    } else {
      expect_refused(m, words);
    }
  }
  words[0] = "does not serve inference";
  wrapped_reset();
  wrapped.serves = VT_BK_TRAINING;
  expect_refused(m, words);
  wrapped.serves = 0;
  expect_refused(m, words);
  wrapped.serves = VT_BK_INFERENCE;
  expect_accepted(m);
  vt_model_free(m);
}

/* A plan that has gradients or state of an optimiser is a training plan; one with states of the
 * model is not. */
static void test_training_plan_needs_training(void) {
  static const uint32_t classes[3] = {VT_CLASS_GRAD, VT_CLASS_STATE, VT_CLASS_MODEL_STATE};
  for (int served = 0; served < 2; served++)
    for (int c = 0; c < 3; c++) {
      const int accepted = served || c == 2;
      vt_model *m = model_of_expression("x: f32[4]", "x + x");
      const vt_options o = {.size = sizeof o, .backend = "fake"};
      vt_program *p = NULL;
      vt_diag d = {0};
      wrapped_reset();
      wrapped.serves = served ? VT_BK_INFERENCE | VT_BK_TRAINING : VT_BK_INFERENCE;
      CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
      if (p == NULL) exit(1);
      p->line.plan->class_bytes[classes[c]] = 64;
      CHECK(vt_device_check_plan(p->dev, p->line.plan, &d) == (accepted ? VT_OK : VT_UNSUPPORTED));
      CHECK(accepted || strstr(d.text, "backend 'fake:0' does not serve training") != NULL);
      p->line.plan->class_bytes[classes[c]] = 0;
      vt_program_free(p);
      vt_model_free(m);
    }
}

/* ---- how often a device checks a plan ---- */

/* A device checks each step once, when the plan is made, and not again when the program is made of
 * the plan. The next device that is opened checks it again. */
static void test_plan_checked_once(void) {
  const vt_policy policy = {.size = sizeof policy, .capabilities = VT_CAPABILITIES_BELIEVED};
  const vt_options o = {.size = sizeof o, .backend = "fake", .policy = &policy};
  vt_model *m = model_of_expression("x: f32[4, 9]", "softmax(x + 1)");
  wrapped_reset();
  for (uint32_t i = 1; i <= 2; i++) {
    vt_program *p = NULL;
    CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
    if (p == NULL) exit(1);
    CHECK(p->line.plan->n_bk_steps > 3);
    CHECK(wrapped.calls[WRAPPED_FAKE][WRAPPED_CHECK] == i * p->line.plan->n_bk_steps);
    vt_program_free(p);
  }
  vt_model_free(m);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  test_undeclared_capabilities();
  test_capabilities_of_loop_body();
  test_capabilities_of_composition();
  test_determinism_and_inference();
  test_training_plan_needs_training();
  test_plan_checked_once();
  CHECK(wrapped.live == 0 && wrapped.outside == 0 && wrapped.bad_modes == 0);
  TEST_DONE();
}
