/* SPDX-License-Identifier: Apache-2.0
 * probes_test.c - declared capabilities are tried before their first use. Every probe runs and
 * every probe can fail. A device that does not satisfy a capability is refused before any step of
 * the model runs, and the message names the capability. Nothing is tried twice. The brief probe,
 * which runs before the first use, finds a fault in any of its ops; all probes together find the
 * others. */
#include "probes.h"
#include <pthread.h>
#include "program.h"
#include "volta/volta_tools.h"
#include "wrapped_test.h"

static const struct row {
  uint64_t bit;
  const char *inputs, *y;
  int brief;
} rows[] = {
#define VT_PROBE(capability, values, inputs, y) {capability, inputs, y, 0},
#define VT_BRIEF(capability, values, inputs, y) {capability, inputs, y, 1},
#include "probes.def"
#undef VT_PROBE
#undef VT_BRIEF
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Number of probes of a capability, the brief one included. */
static uint32_t count_probes(uint64_t bit) {
  uint32_t n = 0;
  for (size_t i = 0; i < ROWS; i++) n += rows[i].bit == bit;
  return n;
}

static const struct row *brief_probe(uint64_t bit) {
  size_t i = 0;
  while (i < ROWS && (rows[i].bit != bit || !rows[i].brief)) i++;
  CHECK(i < ROWS);
  return &rows[i];
}

/* Tries a capability with all its probes; `out_accepted` receives how many of them the device
 * accepted. */
static vt_status try_all_probes(const char *backend, const vt_capability *c, uint32_t *out_accepted,
                                vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  const vt_probe *broken = NULL;
  const vt_status s = vt_capability_try(&o, c, vt_alloc_default(), out_accepted, &broken, d);
  CHECK((s == VT_OK) == (broken == NULL));
  return s;
}

/* ---- every probe runs, and finds a fault ---- */

static void test_all_probes_run(void) {
  static const char *const backends[] = {"island:0", "island:1", "reference:1", "fake"};
  uint32_t all = 0;
  wrapped_reset();
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
      uint32_t models = 0;
      vt_diag d = {0};
      CHECK(try_all_probes(backends[b], c, &models, &d) == VT_OK && models == count_probes(c->bit));
      if (d.text[0] != 0) fprintf(stderr, "  %s\n", d.text);
    }
    uint32_t brief = 0;
    for (size_t k = 0; k < ROWS; k++) brief += rows[k].bit == c->bit && rows[k].brief;
    CHECK(brief == 1 && count_probes(c->bit) > 1);
    all += count_probes(c->bit);
  }
  CHECK(all == ROWS); /* no probe has an unknown capability */
}

/* Returns the op that computes the result of an expression in the lowered model. */
static uint32_t op_of_expression(const char *inputs, const char *y) {
  const vt_options o = {.size = sizeof o, .backend = "reference", .passes = "bind,lower"};
  vt_model *m = model_of_expression(inputs, y);
  vt_program *p = NULL;
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  const uint32_t op = p->line.plan->bk_steps[p->line.plan->n_bk_steps - 1].op;
  vt_program_free(p);
  vt_model_free(m);
  return op;
}

/* Copies the expression at `*at` to `out` and moves `*at` behind it; returns 0 if there is none. */
static int copy_next_expression(const char **at, char out[200]) {
  *at += strspn(*at, "; ");
  const size_t n = strcspn(*at, ";");
  snprintf(out, 200, "%.*s", (int)n, *at);
  *at += n;
  return n > 0;
}

static const vt_capability *capability_of(uint64_t bit) {
  uint32_t i = 0;
  while (vt_capability_at(i) != NULL && vt_capability_at(i)->bit != bit) i++;
  CHECK(vt_capability_at(i) != NULL);
  return vt_capability_at(i);
}

/* If one bit of the results of an op is wrong, the probes of its capability find it. */
static void test_probes_find_faults(void) {
  for (size_t i = 0; i < ROWS; i++) {
    const vt_capability *c = capability_of(rows[i].bit);
    uint32_t models = 0;
    vt_diag d = {0};
    if (rows[i].brief) continue;
    wrapped_reset();
    wrapped.broken_op = op_of_expression(rows[i].inputs, rows[i].y);
    CHECK(try_all_probes("fake", c, &models, &d) == VT_BACKEND);
    CHECK(strstr(d.text, "backend 'fake:0' declares ") != NULL && strstr(d.text, c->name) != NULL);
    CHECK(strstr(d.text, "and does not keep it: ") != NULL && strstr(d.text, " at [") != NULL);
    if (d.text[0] == 0) fprintf(stderr, "  %s\n", rows[i].y);
  }
}

/* Tries a capability the way it is tried before its first use, on a device that was not tried yet:
 * with the brief probe, or with all probes if the device is unadmitted. */
static vt_status try_before_first_use(uint64_t bit, int unadmitted, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = "fake"};
  vt_device *dev = NULL;
  wrapped_forget_capability_trials();
  CHECK(vt_options_open_device(&o, vt_alloc_default(), &dev, d) == VT_OK);
  if (dev == NULL) exit(1);
  dev->unadmitted = unadmitted;
  const vt_status s = vt_capabilities_try(dev, &o, bit, vt_alloc_default(), d);
  CHECK((vt_device_proven_caps(dev) == bit) == (s == VT_OK));
  vt_device_close(dev);
  return s;
}

/* Returns the op of the expression that the message of a failed trial names. */
static uint32_t op_that_message_names(const struct row *r, const vt_diag *d) {
  const char *at = r->y, *named = strstr(d->text, "does not keep it: ");
  char y[200], words[80];
  while (named != NULL && copy_next_expression(&at, y)) {
    snprintf(words, sizeof words, "does not keep it: %.*s", (int)strcspn(y, "\n"), y);
    if (strncmp(named, words, strlen(words)) == 0) return op_of_expression(r->inputs, y);
  }
  return 0;
}

/* A fault in any op of a brief probe is found before the first use, and the message names the
 * op. */
static void test_brief_probes_find_faults(void) {
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const struct row *r = brief_probe(vt_capability_at(i)->bit);
    const char *at = r->y;
    char y[200];
    while (copy_next_expression(&at, y)) {
      vt_diag d = {0};
      wrapped_reset();
      CHECK(try_before_first_use(r->bit, 0, &d) == VT_OK);
      wrapped.broken_op = op_of_expression(r->inputs, y);
      CHECK(try_before_first_use(r->bit, 0, &d) == VT_BACKEND);
      CHECK(strstr(d.text, vt_capability_at(i)->name) != NULL);
      CHECK(op_that_message_names(r, &d) == wrapped.broken_op);
      if (op_that_message_names(r, &d) != wrapped.broken_op)
        fprintf(stderr, "  %s: %s\n", y, d.text);
    }
  }
}

/* The probe of rounded functions uses the arguments of hard.def, where a nearly right function
 * fails. */
static void test_hard_arguments_find_faults(void) {
  static const uint32_t exps[] = {
#define VT_HARD(name, x, want) VT_OP_##name == VT_OP_exp ? want : 0,
#include "hard.def"
  };
  static const uint32_t pows[] = {
#define VT_HARD_POW(x, y, want) want,
#include "hard.def"
  };
  const struct { uint32_t op, want; } cases[] = {{VT_OP_exp, exps[0]}, {VT_OP_pow, pows[0]}};
  for (size_t i = 0; i < 2; i++) {
    char words[80];
    vt_diag d = {0};
    wrapped_reset();
    wrapped.broken_op = cases[i].op;
    CHECK(try_before_first_use(VT_BK_ROUNDED_MATH, 0, &d) == VT_BACKEND);
    snprintf(words, sizeof words, "at [0], the reference %08x", cases[i].want);
    CHECK(strstr(d.text, words) != NULL);
  }
}

/* The ops conv and conv_int are in no brief probe, so a fault in them is found only if all probes
 * run. Every other op of a probe is in the brief probe of its capability. */
static void test_ops_not_in_brief(void) {
  static const uint32_t not_in_brief[] = {VT_OP_conv, VT_OP_conv_int};
  for (size_t i = 0; i < ROWS; i++) {
    int found_later = 0;
    uint32_t models;
    vt_diag d = {0};
    if (rows[i].brief) continue;
    wrapped_reset();
    wrapped.broken_op = op_of_expression(rows[i].inputs, rows[i].y);
    for (size_t k = 0; k < sizeof not_in_brief / sizeof *not_in_brief; k++)
      found_later |= wrapped.broken_op == not_in_brief[k];
    CHECK(try_before_first_use(rows[i].bit, 0, &d) == (found_later ? VT_OK : VT_BACKEND));
    if ((d.text[0] == 0) != found_later) fprintf(stderr, "  %s: '%s'\n", rows[i].y, d.text);
    CHECK(try_before_first_use(rows[i].bit, 1, NULL) == VT_BACKEND);
    CHECK(try_all_probes("fake", capability_of(rows[i].bit), &models, NULL) == VT_BACKEND);
  }
}

/* Reads the value of the doctor's check of a capability. */
static void read_doctor_check(const char *name, char out[512]) {
  char key[80];
  uint32_t i = 0;
  snprintf(key, sizeof key, "check.%s", name);
  while (vt_doctor_key(i) != NULL && strcmp(vt_doctor_key(i), key) != 0) i++;
  CHECK(vt_doctor_value(i, out, 512) == out);
}

/* The doctor's check says how many probes each device ran, or names the one that failed. It runs
 * all probes, so it finds a fault in conv. */
static void test_doctor_checks(void) {
  char value[512], want[200];
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    const uint32_t n = count_probes(c->bit);
    wrapped_reset();
    read_doctor_check(c->name, value);
    snprintf(want, sizeof want, "ok: %u models on fake:0, %u models on fake:1", n, n);
    CHECK(strcmp(value, want) == 0);
    wrapped.broken_op = VT_OP_conv;
    read_doctor_check(c->name, value);
    snprintf(want, sizeof want, "FAILED: backend 'fake:0' declares %s and does not keep it: conv(",
             c->name);
    const int has_conv = c->bit == VT_BK_DETERMINISTIC_REDUCTIONS;
    CHECK(strncmp(value, has_conv ? want : "ok: ", strlen(has_conv ? want : "ok: ")) == 0);
    wrapped_reset();
    wrapped.declares = ~c->bit;
    read_doctor_check(c->name, value);
    CHECK(strcmp(value, "ok: not declared by fake:0, not declared by fake:1") == 0);
    wrapped.declares = UINT64_MAX;
    wrapped.only_op = VT_OP_neg;
    read_doctor_check(c->name, value);
    CHECK(strcmp(value, "ok: no model is accepted by fake:0, no model is accepted by fake:1") == 0);
    wrapped_reset();
    wrapped.fails = WRAPPED_OPEN;
    wrapped.status = VT_BACKEND;
    read_doctor_check(c->name, value);
    CHECK(strcmp(value, "ok: there is no device to try") == 0);
  }
}

/* The probes notice a device that rounds f64 operands to f32 when they are copied to it. */
static void test_narrowed_operands_are_found(void) {
  uint32_t tried = 0;
  vt_diag d = {0};
  wrapped_reset();
  wrapped.narrows = 1;
  CHECK(try_all_probes("fake", capability_of(VT_BK_FLOAT64), &tried, &d) == VT_BACKEND);
  /* The first probe found the fault. */
  CHECK(strstr(d.text, "and does not keep it: ") != NULL && tried == 1);
  CHECK(try_before_first_use(VT_BK_FLOAT64, 0, NULL) == VT_BACKEND);
}

/* ---- before the first use ---- */

/* Models that need one capability and as few others as possible. No probe has the op neg, so a
 * count of its steps shows whether the model ran. */
static const struct {
  uint64_t bit;
  const char *inputs, *y;
} models[] = {
    {VT_BK_FLOAT64, "x: f64[4]", "neg(x + x)"},
    {VT_BK_INT8_EXACT, "x: i8[2, 3]\n input z: i8[3, 2]", "neg(matmul_int(x, z))"},
    {VT_BK_ATOMIC_OPS, "b: i32[7]\n input i: i64[5, 1] in 0..6\n input u: i32[5]",
     "neg(scatter_nd_add(b, i, u))"},
    {VT_BK_DETERMINISTIC_REDUCTIONS, "x: f32[4]", "neg(sum(x, axes=[0]))"},
    {VT_BK_ROUNDED_MATH, "x: f32[4]", "neg(exp(x))"},
    {VT_BK_SUBNORMALS, "x: f32[4]", "neg(x + x)"},
    {VT_BK_REGIONS, "x: f32[9]\n input u: f32[3, 9]",
     "neg(loop(x, u, count=3, carried=1, each=1) (i, h, v) {\n give h + v\n })"},
};
enum { MODELS = sizeof models / sizeof *models };

static vt_status make_and_free_program(const vt_model *m, const char *backend, const char *isa,
                                       vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = backend, .isa = isa};
  vt_program *p = NULL;
  const vt_status s = vt_program_new(m, &o, &p, d);
  vt_program_free(p);
  CHECK(wrapped.live == 0 && wrapped.outside == 0);
  return s;
}

static void test_false_declaration_is_refused(void) {
  for (size_t i = 0; i < MODELS; i++) {
    vt_model *m = model_of_expression(models[i].inputs, models[i].y);
    char words[120];
    snprintf(words, sizeof words, "backend 'fake:0' declares %s and does not keep it: ",
             capability_of(models[i].bit)->name);
    wrapped_forget_capability_trials();
    for (int again = 0; again < 3; again++) { /* a failed trial is repeated at the next use */
      vt_diag d = {0};
      wrapped_reset();
      wrapped.broken_capability = models[i].bit;
      CHECK(make_and_free_program(m, "fake", NULL, &d) == VT_BACKEND &&
            vt_status_exit(d.code) == 5);
      CHECK(strncmp(d.text, words, strlen(words)) == 0);
      if (strncmp(d.text, words, strlen(words)) != 0) fprintf(stderr, "  %s\n", d.text);
      CHECK(wrapped.calls[WRAPPED_FAKE][WRAPPED_RUN] > 0);
      CHECK(wrapped.ran[WRAPPED_FAKE][VT_OP_neg] == 0);
    }
    vt_diag d = {0};
    wrapped_reset();
    CHECK(make_and_free_program(m, "fake", NULL, &d) == VT_OK && d.text[0] == 0);
    vt_model_free(m);
  }
}

static uint32_t count_device_runs(void) { return wrapped.calls[WRAPPED_FAKE][WRAPPED_RUN]; }

/* A trial before the first use runs one model, once for each device and each instruction set.
 * Capabilities that the model does not need are not tried. */
static void test_capability_tried_once(void) {
  vt_model *m = model_of_expression("x: f32[4]", "neg(x + x)"),
           *more = model_of_expression("x: f32[4]", "neg(exp(x))");
  wrapped_reset();
  wrapped_forget_capability_trials();
  CHECK(make_and_free_program(m, "fake:0", NULL, NULL) == VT_OK && count_device_runs() == 1);
  CHECK(wrapped.ran[WRAPPED_FAKE][VT_OP_exp] == 0);
  CHECK(make_and_free_program(m, "fake:0", NULL, NULL) == VT_OK && count_device_runs() == 1);
  CHECK(make_and_free_program(m, "gpu", NULL, NULL) == VT_OK && count_device_runs() == 1);
  CHECK(make_and_free_program(m, "fake:1", NULL, NULL) == VT_OK && count_device_runs() == 2);
  CHECK(make_and_free_program(m, "fake:1", "avx2", NULL) == VT_OK && count_device_runs() == 3);
  CHECK(make_and_free_program(m, "fake:1", "avx2", NULL) == VT_OK && count_device_runs() == 3);
  CHECK(make_and_free_program(more, "fake:0", NULL, NULL) == VT_OK);
  CHECK(count_device_runs() == 4 && wrapped.ran[WRAPPED_FAKE][VT_OP_exp] > 0);
  wrapped_reset(); /* from here: the reference is not tried */
  CHECK(make_and_free_program(more, "reference:0", NULL, NULL) == VT_OK);
  CHECK(make_and_free_program(more, "reference:1", NULL, NULL) == VT_OK);
  CHECK(wrapped.calls[WRAPPED_REFERENCE][WRAPPED_RUN] == 0);
  vt_model_free(m);
  vt_model_free(more);
}

/* All probes of a capability run if no certificate covers the device. If the device does not accept
 * the brief probe, all others that it accepts run. */
static void test_when_all_probes_run(void) {
  const uint32_t all = count_probes(VT_BK_SUBNORMALS);
  wrapped_reset();
  CHECK(try_before_first_use(VT_BK_SUBNORMALS, 1, NULL) == VT_OK && count_device_runs() == all);
  wrapped_reset();
  wrapped.refused_op = VT_OP_tanh;
  CHECK(try_before_first_use(VT_BK_SUBNORMALS, 0, NULL) == VT_OK && count_device_runs() == all - 2);
  wrapped.broken_op = VT_OP_sqrt;
  CHECK(try_before_first_use(VT_BK_SUBNORMALS, 0, NULL) == VT_BACKEND);
}

/* If a device accepts no probe, the capability is not proven: it is tried again when a later model
 * needs it. */
static void test_untried_is_unproven(void) {
  vt_model *least = model_of_expression("x: f32[4]", "neg(x)"),
           *more = model_of_expression("x: f32[4]", "neg(x + x)");
  vt_diag d = {0};
  wrapped_reset();
  wrapped_forget_capability_trials();
  wrapped.only_op = VT_OP_neg;
  CHECK(make_and_free_program(least, "fake", NULL, NULL) == VT_OK && count_device_runs() == 0);
  wrapped.only_op = 0;
  wrapped.broken_capability = VT_BK_SUBNORMALS;
  CHECK(make_and_free_program(more, "fake", NULL, &d) == VT_BACKEND);
  CHECK(strstr(d.text, "declares preserves_subnormals and does not keep it") != NULL);
  vt_model_free(least);
  vt_model_free(more);
}

/* The process remembers trials of a few instruction sets; others are tried every time. */
static void test_many_instruction_sets(void) {
  vt_model *m = model_of_expression("x: f32[4]", "neg(x + x)");
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 2 * VT_PROOF_ISAS; i++) {
      char isa[16];
      snprintf(isa, sizeof isa, "set%d", i);
      wrapped_reset();
      CHECK(make_and_free_program(m, "fake:1", isa, NULL) == VT_OK);
      /* Earlier tests already used two instruction sets: the default and avx2. */
      const int remembered = i < VT_PROOF_ISAS - 2;
      CHECK(count_device_runs() == (round == 0 || !remembered));
    }
  vt_model_free(m);
}

/* If a probe cannot run, the device is refused, whatever the error is. */
static void test_probe_error_refuses_device(void) {
  static const int calls[] = {WRAPPED_BUILD, WRAPPED_NEW, WRAPPED_COPY, WRAPPED_RUN, WRAPPED_WAIT};
  static const int32_t statuses[] = {VT_BACKEND, VT_NOMEM, VT_LIMIT, 9999, VT_UNSUPPORTED};
  vt_model *m = model_of_expression("x: f32[4]", "neg(x + x)");
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++) {
      vt_diag d = {0};
      wrapped_reset();
      wrapped_forget_capability_trials();
      wrapped.fails = calls[i];
      wrapped.status = statuses[k];
      const vt_status s = make_and_free_program(m, "fake", NULL, &d);
      /* The device refuses every program. */
      if (statuses[k] == VT_UNSUPPORTED && calls[i] < WRAPPED_COPY) {
        CHECK(s == VT_UNSUPPORTED);
        continue;
      }
      CHECK(s == (statuses[k] == VT_NOMEM ? VT_NOMEM : VT_BACKEND));
      CHECK(strstr(d.text, "trying preserves_subnormals of 'fake' fails: ") == d.text);
      CHECK(wrapped.ran[WRAPPED_FAKE][VT_OP_neg] == 0);
    }
  wrapped_reset();
  wrapped_forget_capability_trials();
  wrapped.changes_mode = 1;
  vt_diag d = {0};
  CHECK(make_and_free_program(m, "fake", NULL, &d) == VT_BACKEND);
  CHECK(strstr(d.text, "leaves another floating-point mode behind") != NULL);
  vt_model_free(m);
}

/* ---- several threads at once ---- */

typedef struct task {
  const vt_model *m;
  vt_status status;
} task;

static void *use_device_first(void *context) {
  task *t = context;
  const vt_options o = {.size = sizeof o, .backend = "fake"};
  vt_program *p = NULL;
  t->status = vt_program_new(t->m, &o, &p, NULL);
  if (t->status == VT_OK) t->status = vt_program_random_inputs(p, 1, NULL);
  if (t->status == VT_OK) t->status = vt_program_run(p, NULL);
  vt_program_free(p);
  return NULL;
}

static void test_first_use_in_threads(void) {
  enum { N = 4 };
  vt_model *m = model_of_expression("x: f32[4]", "neg(exp(x) + sum(x, axes=[0]))");
  for (int broken = 0; broken < 2; broken++) {
    pthread_t thread[N];
    task tasks[N];
    wrapped_reset();
    wrapped_forget_capability_trials();
    wrapped.broken_capability = broken ? VT_BK_ROUNDED_MATH : 0;
    for (int i = 0; i < N; i++) {
      tasks[i] = (task){.m = m};
      CHECK(pthread_create(&thread[i], NULL, use_device_first, &tasks[i]) == 0);
    }
    for (int i = 0; i < N; i++) {
      CHECK(pthread_join(thread[i], NULL) == 0);
      CHECK(tasks[i].status == (broken ? VT_BACKEND : VT_OK));
    }
    CHECK(wrapped.ran[WRAPPED_FAKE][VT_OP_neg] == (broken ? 0 : N));
    CHECK(wrapped.live == 0 && wrapped.outside == 0 && wrapped.bad_modes == 0);
  }
  vt_model_free(m);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  unsetenv("VOLTA_ISA");
  test_all_probes_run();
  test_probes_find_faults();
  test_brief_probes_find_faults();
  test_hard_arguments_find_faults();
  test_ops_not_in_brief();
  test_doctor_checks();
  test_narrowed_operands_are_found();
  test_false_declaration_is_refused();
  test_capability_tried_once();
  test_when_all_probes_run();
  test_untried_is_unproven();
  test_many_instruction_sets();
  test_probe_error_refuses_device();
  test_first_use_in_threads();
  TEST_DONE();
}
