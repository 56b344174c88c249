/* SPDX-License-Identifier: Apache-2.0
 * diverge_test.c - searches the divergence of backends with one planted fault and checks the
 * result: the op, its differing element, the reproducer, and the folder that repeats it. The faulty
 * backend is in diverge_test.h. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diverge.h"
#include "diverge_test.h"
#include "volta/volta_tools.h"
#include "vt_test.h"

/* ---- searching ---- */

static vt_status set_values(void *user, vt_program *p, vt_diag *d) {
  (void)user;
  VT_TRY(vt_program_init_params(p, 3, d));
  return vt_program_random_inputs(p, 5, d);
}

static vt_status find_divergence_in_model(const char *text, const vt_options *how,
                                          vt_divergence *out) {
  vt_diag d = {0};
  vt_model *m = NULL;
  runs = first_run = 0;
  vt_status s = vt_model_parse(text, strlen(text), how->alloc, &m, &d);
  if (s == VT_OK) s = vt_diverge_find(m, how, set_values, NULL, out, &d);
  if (s != VT_OK && s != VT_NAME && s != VT_NOMEM) fprintf(stderr, "%s\n", d.text);
  vt_model_free(m);
  return s;
}

static const vt_binding two[] = {{"B", 2}, {"T", 16}};

static vt_status find_divergence_in_lines(const char *lines, vt_divergence *out) {
  const vt_options how = {.size = sizeof how, .backend = "wrong"};
  char text[2048];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", lines);
  return find_divergence_in_model(text, &how, out);
}

static uint32_t op_number(const char *name) {
  const vt_op_info *info = vt_op_find(name);
  CHECK(info != NULL);
  return info == NULL ? 0 : info->number;
}

static int count_lines(const char *text) {
  int n = 0;
  for (; *text != 0; text++) n += *text == '\n';
  return n;
}

/* ---- reading the folder and running it ---- */

static vt_status set_input_from_folder(const char *dir, const char *name, vt_program *p) {
  char path[600];
  vt_archive *a = NULL;
  vt_tensor t = {0};
  const char *key;
  snprintf(path, sizeof path, "%.200s/%.200s.npy", dir, name);
  if (access(path, R_OK) != 0) snprintf(path, sizeof path, "%.200s/%.200s.safetensors", dir, name);
  VT_TRY(vt_archive_read(path, NULL, &a, NULL));
  vt_status s = vt_archive_tensor(a, 0, &key, &t);
  if (s == VT_OK) s = vt_program_set_input(p, name, &t, NULL);
  vt_archive_free(a);
  return s;
}

static vt_status run_folder_model(const char *dir, const char *backend, const vt_divergence *x,
                                  vt_program **out) {
  const vt_policy policy = {
      .size = sizeof policy,
      .capabilities = x->untried ? VT_CAPABILITIES_BELIEVED : VT_CAPABILITIES_TRIED};
  const vt_options o = {.size = sizeof o,
                        .backend = backend,
                        .passes = x->passes,
                        .threads = x->threads,
                        .policy = &policy};
  char path[600];
  vt_model *m = NULL;
  vt_port_info port;
  snprintf(path, sizeof path, "%.200s/model.vt", dir);
  VT_TRY(vt_model_read(path, NULL, &m, NULL));
  vt_status s = vt_program_new(m, &o, out, NULL);
  for (uint32_t i = 0; s == VT_OK && vt_model_port(m, i, &port) == VT_OK; i++) {
    CHECK(port.kind != VT_PORT_PARAM);
    if (port.kind == VT_PORT_INPUT) s = set_input_from_folder(dir, port.name, *out);
  }
  if (s == VT_OK) s = vt_program_run(*out, NULL);
  vt_model_free(m);
  return s;
}

/* Runs the model of the folder `dir` on both sides; the results must be those of the divergence. */
static void check_folder_repeats_divergence(const char *dir, const vt_divergence *x) {
  static const char *const backend[2] = {"wrong:0", "reference:0"};
  const vt_tensor *want[2] = {&x->result, &x->right};
  for (int side = 0; side < 2; side++) {
    vt_program *p = NULL;
    int found = 0;
    CHECK(run_folder_model(dir, backend[side], x, &p) == VT_OK);
    for (uint32_t i = 0; p != NULL && i < vt_program_outputs(p); i++) {
      const char *name;
      vt_tensor t;
      vt_compare c = {.size = sizeof c};
      CHECK(vt_program_output(p, i, &name, &t, NULL) == VT_OK);
      if (strcmp(name, x->output) != 0) continue;
      found = vt_tensor_compare(&t, want[side], &c, NULL) == VT_OK && c.differing == 0;
    }
    CHECK(found);
    vt_program_free(p);
  }
}

static char folder[] = "/tmp/volta-diverge-XXXXXX";

static void remove_folder_tree(const char *path) {
  char command[700];
  snprintf(command, sizeof command, "rm -r '%s'", path);
  CHECK(system(command) == 0);
}

static void write_and_check_folder(const vt_divergence *x) {
  char path[600];
  vt_text command;
  vt_text_init(&command, vt_alloc_default());
  snprintf(path, sizeof path, "%s/it", folder);
  CHECK(vt_divergence_write(x, path, "wrong:0", &command, NULL) == VT_OK);
  CHECK(strstr(command.s, "volta parity model.vt") == command.s + (x->threads == 0 ? 0 : 16));
  CHECK((strstr(command.s, " --untried") != NULL) == (x->untried != 0));
  CHECK(strstr(command.s, " --backends reference:0,wrong:0") != NULL);
  CHECK(strstr(command.s, "unadmitted") == NULL);
  CHECK((strstr(command.s, " --passes bind,lower ") != NULL) == (x->passes != NULL));
  check_folder_repeats_divergence(path, x);
  vt_text_done(&command);
}

/* ---- models and faults ---- */

/* Checks what must hold for every divergence: it differs, its numbers are right, and its folder
 * repeats it. */
static void check_divergence(const vt_divergence *x) {
  vt_compare c = {.size = sizeof c};
  CHECK(vt_tensor_compare(&x->result, &x->right, &c, NULL) == VT_OK);
  CHECK(c.differing == x->differing && c.differing > 0 && c.compared == x->compared);
  CHECK(c.first_a == x->bits && c.first_b == x->expected && x->bits != x->expected);
  CHECK(x->distance > 0 && x->distance <= c.largest);
  write_and_check_folder(x);
}

static void expect_diverging_op(const char *lines, const char *op_name, const char *signature,
                                int nodes) {
  vt_divergence x = {0};
  const vt_status s = find_divergence_in_lines(lines, &x);
  CHECK(s == VT_OK);
  if (s != VT_OK) fprintf(stderr, "nothing found in\n%s\n", lines);
  if (s != VT_OK) return;
  if (strcmp(x.op, op_name) != 0 || strcmp(x.signature, signature) != 0)
    fprintf(stderr, "found %s: %s\n%s", x.op, x.signature, x.model);
  CHECK(strcmp(x.op, op_name) == 0);
  CHECK(strcmp(x.signature, signature) == 0);
  CHECK(x.isolated);
  /* lines of the model: version, name, closing brace, each input, each op, the output */
  if (nodes > 0) CHECK(count_lines(x.model) == 3 + (int)x.n_inputs + nodes + 1);
  if (nodes > 0 && count_lines(x.model) != 3 + (int)x.n_inputs + nodes + 1)
    fprintf(stderr, "%s", x.model);
  check_divergence(&x);
  vt_divergence_done(&x);
}

static void test_no_divergence_is_found(void) {
  vt_divergence x = {0};
  fault = (struct fault){0};
  CHECK(find_divergence_in_lines("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_NAME);
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  CHECK(find_divergence_in_lines("input x: f32[3]\ny = tanh(x)\noutput y", &x) == VT_NAME);
  CHECK(x.op == NULL);
  const vt_policy odd = {.size = sizeof odd, .capabilities = VT_CAPABILITIES_BELIEVED + 1};
  const vt_options how = {.size = sizeof how, .backend = "wrong", .policy = &odd};
  static const char text[] = "volta 1\nmodel m {\ninput x: f32[3]\ny = exp(x)\noutput y\n}\n";
  vt_diag d = {0};
  vt_model *m = NULL;
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
  CHECK(vt_diverge_find(m, &how, set_values, NULL, &x, &d) == VT_USAGE);
  vt_model_free(m);
}

static void test_fault_in_one_op_is_found(void) {
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  expect_diverging_op(
      "input x: f32[3, 4]\nh = tanh(x)\ne = exp(h)\ny = sqrt(e)\nz = exp(y)\noutput z", "exp",
      "exp(f32[3, 4]) -> f32[3, 4]", 1);
  /* Names with dots, and a literal operand, which the reproducer contains. */
  fault = (struct fault){.from = op_number("add"), .to = op_number("sub")};
  expect_diverging_op("input a.b.c: f32[2]\nh = a.b.c * 2.0\ny.0 = tanh(h) + 1.5\noutput y.0",
                      "add", "add(f32[2], f32[]) -> f32[2]", 2);
  /* An op that reads one operand twice, and an op that reads a parameter. */
  fault = (struct fault){.flipped = op_number("mul")};
  expect_diverging_op("input x: f32[5]\nparam w: f32[5] = normal\nz = x * w\ny = z - x\noutput y",
                      "mul", "mul(f32[5], f32[5]) -> f32[5]", 1);
  expect_diverging_op("input x: f32[5]\nz = tanh(x)\ny = z * z\noutput y", "mul",
                      "mul(f32[5], f32[5]) -> f32[5]", 1);
  /* An op without operands. */
  fault = (struct fault){.flipped = op_number("iota")};
  expect_diverging_op(
      "input x: i64[4] in 0..9\nz = iota(shape=[4], axis=0, dtype=i64)\ny = x + z\noutput y",
      "iota", "iota() -> i64[4]", 1);
}

static void test_fault_is_found_in_each_dtype(void) {
  fault = (struct fault){.from = op_number("add"), .to = op_number("sub")};
  expect_diverging_op("input x: i32[2, 3] in 0..5\ny = x + x * x\noutput y", "add",
                      "add(i32[2, 3], i32[2, 3]) -> i32[2, 3]", 1);
  fault = (struct fault){.flipped = op_number("cast")};
  expect_diverging_op("input x: f32[4]\ny = cast(x, dtype=bf16)\noutput y", "cast",
                      "cast(f32[4]) -> bf16[4]", 1);
  fault = (struct fault){.flipped = op_number("concat")};
  expect_diverging_op("input x: f32[4]\nh = cast(x, dtype=bf16)\ny = concat(h, h)\noutput y",
                      "concat", "concat(bf16[4], bf16[4]) -> bf16[8]", 1);
  fault = (struct fault){.flipped = op_number("gather")};
  expect_diverging_op("input x: f32[4, 3]\ninput i: i64[2] in 0..3\ny = gather(x, i)\noutput y",
                      "gather", "gather(f32[4, 3], i64[2]) -> f32[2, 3]", 1);
}

static void test_wrong_nan_is_found(void) {
  vt_divergence x = {0};
  fault = (struct fault){.from = op_number("log"), .to = op_number("log1p")};
  CHECK(find_divergence_in_lines("input x: f32[8]\nh = abs(x) - 1.0\ny = log(h)\noutput y", &x) ==
        VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "log") == 0 && x.dtype == VT_DTYPE_F32);
  CHECK(x.expected == 0x7fc00000 && x.bits != x.expected && x.distance == UINT64_MAX);
  CHECK(x.index != NULL && strcmp(x.index, "[0]") == 0);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
}

static void test_fault_in_second_result(void) {
  vt_divergence x = {0};
  fault = (struct fault){.flipped = op_number("sort"), .result = 1};
  CHECK(find_divergence_in_lines("input x: f32[2, 9]\nv, i = sort(x)\n"
                                 "output v\noutput i",
                                 &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "sort") == 0);
  CHECK(x.op != NULL && strcmp(x.output, "i") == 0 && x.dtype == VT_DTYPE_I64);
  CHECK(x.op != NULL && strcmp(x.index, "[0, 1]") == 0 && x.distance == 1 && x.differing == 1);
  CHECK(x.op != NULL && strcmp(x.signature, "sort(f32[2, 9]) -> f32[2, 9], i64[2, 9]") == 0);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
}

/* If the backend keeps a composition whole, the diverging op is the composition, otherwise one of
 * the ops that define it. */
static void test_fault_in_whole_composition(void) {
  const char *lines = "input x: f32[2, 5]\nh = softmax(tanh(x))\ny = h - 0.25\noutput y";
  fault = (struct fault){.whole = op_number("softmax"), .flipped = op_number("softmax")};
  expect_diverging_op(lines, "softmax", "softmax(f32[2, 5]) -> f32[2, 5]", 1);
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  expect_diverging_op(lines, "exp", "exp(f32[2, 5]) -> f32[2, 5]", 1);
}

static void test_faults_in_bodies(void) {
  const char *loop =
      "input x: f32[3, 4]\ninput w: f32[4]\nparam h0: f32[4] = zeros\n"
      "last, all = loop(h0, x, count=3, carried=1, each=1) (i, h, xt) {\n"
      "g = tanh(h + xt) * w\ne = exp(g * cast(i, dtype=f32))\ngive g + e, e\n}\n"
      "y = last * 2.0\noutput y\noutput all";
  /* exp2 differs from exp except at 0, which is the operand in the first iteration. */
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  expect_diverging_op(loop, "exp", "exp(f32[4]) -> f32[4]", 1);
  /* The loop differs only in its second iteration, which needs the carried value of the first. */
  vt_divergence x = {0};
  CHECK(find_divergence_in_lines(
            "param h0: f32[2] = zeros\ny = loop(h0, count=3, carried=1) (i, h) {\n"
            "give exp(h)\n}\noutput y",
            &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "exp") == 0 && x.n_inputs == 1);
  CHECK(x.op != NULL && *(const uint32_t *)x.inputs[0].data == 0x3f800000); /* the bits of exp(0) */
  vt_divergence_done(&x);
  /* The fault is in the loop itself, not in its body. */
  fault = (struct fault){.flipped = op_number("loop"), .result = 1};
  expect_diverging_op(loop, "loop", "loop(f32[4], f32[3, 4], f32[4]) -> f32[4], f32[3, 4]", 0);
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  expect_diverging_op(
      "input x: f32[4]\np = max(x) < 0.0\n"
      "y = cond(p) {\ngive exp(tanh(x))\n} else {\nq = x * 3.0\ngive exp(q)\n}\noutput y",
      "exp", "exp(f32[4]) -> f32[4]", 1);
  /* A faulty op in a loop inside a branch of a cond. */
  expect_diverging_op(
      "input x: f32[4]\ns = tanh(x)\np = max(x) < 0.0\n"
      "y = cond(p) {\ngive s * 2.0\n} else {\n"
      "z = loop(s, count=5, carried=1) (i, h) {\ngive exp(h) - 1.0\n}\ngive z\n}\noutput y",
      "exp", "exp(f32[4]) -> f32[4]", 1);
}

/* Faults that one op by itself does not show: one only in a group that runs as one launch, one only
 * with a strided operand. */
static void test_fault_needs_neighbours(void) {
  fault = (struct fault){.from = op_number("add"), .to = op_number("sub"), .in_groups = 1};
  expect_diverging_op(
      "input x: f32[4]\ninput b: f32[4]\nm = cumsum(x)\nh = tanh(tanh(m) * b + x)\ny = "
      "cumsum(h)\noutput y",
      "mul+add", "mul+add(f32[4], f32[4], f32[4]) -> f32[4]", 2);
  fault = (struct fault){.flipped = op_number("matmul"), .strided = 1};
  expect_diverging_op(
      "input x: f32[3, 4]\ninput w: f32[5, 4]\nh = tanh(x)\nv = tanh(w)\n"
      "y = matmul(h, transpose(v, perm=[1, 0]))\noutput y",
      "matmul", "matmul(f32[3, 4], f32[4, 5]) -> f32[3, 5]", 0);
}

static const char chain[] =
    "input x: f32[4]\nparam w: f32[4] = normal\na = tanh(x)\nb = cumsum(a)\nc = b * w\nd = "
    "cumsum(c)\n"
    "e = tanh(d)\nf = cumsum(e)\noutput f";

/* Faults that show only in the whole model, or in nearly all of it. */
static void test_fault_needs_whole_model(void) {
  vt_divergence x = {0};
  fault = (struct fault){.flipped = op_number("tanh"), .many_steps = 6};
  CHECK(find_divergence_in_lines(chain, &x) == VT_OK);
  CHECK(x.model != NULL && strstr(x.model, "input w: f32[4]\n") != NULL);
  CHECK(x.op != NULL && x.n_inputs == 2 && !x.isolated);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
  x = (vt_divergence){0};
  fault = (struct fault){.flipped = op_number("cumsum"), .many_steps = 3};
  CHECK(find_divergence_in_lines(chain, &x) == VT_OK && x.isolated);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
}

/* A fault in an op on constants: with all passes, constant folding would compute it on the
 * reference. */
static void test_fault_hidden_by_folding(void) {
  const vt_options how = {.size = sizeof how, .backend = "wrong", .passes = "bind,lower"};
  static const char text[] =
      "volta 1\nmodel m {\ninput x: f32[4]\ne = exp(f32(0.5))\ny = x * e\noutput y\n}\n";
  vt_divergence x = {0};
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  CHECK(find_divergence_in_model(text, &how, &x) == VT_OK);
  CHECK(x.passes != NULL && strcmp(x.passes, "bind,lower") == 0 && x.n_inputs == 0);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
}

/* The report has the number of threads only if the fault depends on it. */
static void test_thread_count_in_report(void) {
  const vt_options how = {.size = sizeof how, .backend = "wrong", .threads = 3};
  char text[1024];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", chain);
  for (uint32_t threads = 0; threads <= 3; threads += 3) {
    vt_divergence x = {0};
    fault = (struct fault){.flipped = op_number("tanh"), .threads = threads};
    CHECK(find_divergence_in_model(text, &how, &x) == VT_OK && x.isolated && x.threads == threads);
    if (x.op != NULL) check_divergence(&x);
    vt_divergence_done(&x);
  }
}

/* A fault that shows in the first run only: the report has the difference of that run. */
static void test_fault_of_first_run_only(void) {
  vt_divergence x = {0};
  const vt_options how = {.size = sizeof how, .backend = "wrong", .passes = "bind,lower,dead"};
  char text[1024];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", chain);
  vt_compare c = {.size = sizeof c};
  /* No program has that many steps, so the fault does not show. */
  fault = (struct fault){.flipped = op_number("tanh"), .many_steps = 7};
  CHECK(find_divergence_in_model(text, &how, &x) == VT_NAME);
  fault = (struct fault){.flipped = op_number("cumsum"), .once = 1};
  CHECK(find_divergence_in_model(text, &how, &x) == VT_OK);
  CHECK(x.model != NULL && !x.isolated && x.n_inputs == 2 && strcmp(x.output, "f") == 0);
  CHECK(x.passes != NULL && strcmp(x.passes, how.passes) == 0);
  CHECK(vt_tensor_compare(&x.result, &x.right, &c, NULL) == VT_OK && c.differing == x.differing);
  vt_divergence_done(&x);
}

/* A graph with more values than one run may have as outputs. */
static void test_search_in_many_values(void) {
  enum { LONG = 5000 };
  const vt_options how = {.size = sizeof how, .backend = "wrong", .passes = "bind,lower"};
  vt_divergence x = {0};
  vt_text text;
  vt_text_init(&text, vt_alloc_default());
  vt_text_add(&text, "volta 1\nmodel m {\ninput x: f32[2]\nh = neg(x)\n");
  for (int i = 0; i < LONG; i++) vt_text_add(&text, "h = neg(h)\n");
  vt_text_add(&text, "h = exp(h)\nh = exp(h)\noutput h\n}\n");
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  CHECK(find_divergence_in_model(text.s, &how, &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "exp") == 0 && strcmp(x.output, "h.5001") == 0);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
  vt_text_done(&text);
}

static void check_search_in_example(const char *path, const char *op_name, uint32_t n_bind,
                                    const char *output) {
  const vt_options how = {.size = sizeof how, .backend = "wrong", .bind = two, .n_bind = n_bind};
  vt_model *m = NULL;
  vt_divergence x = {0};
  CHECK(vt_model_read(path, NULL, &m, NULL) == VT_OK);
  CHECK(vt_diverge_find(m, &how, set_values, NULL, &x, NULL) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, op_name) == 0 && x.isolated);
  CHECK(x.op != NULL && strcmp(x.output, output) != 0);
  if (x.op != NULL) check_divergence(&x);
  vt_divergence_done(&x);
  vt_model_free(m);
}

static void test_faults_in_example_models(void) {
  fault = (struct fault){.from = op_number("erf"), .to = op_number("tanh")};
  check_search_in_example("examples/tiny_transformer.vt", "erf", 2, "logits");
  fault = (struct fault){.from = op_number("tanh"), .to = op_number("sigmoid")};
  check_search_in_example("examples/lstm.vt", "tanh", 2, "logits");
}

/* ---- memory, and folders ---- */

static void test_search_out_of_memory(void) {
  vt_fault f = {0};
  const vt_alloc a = vt_fault_alloc(&f);
  const vt_options how = {.size = sizeof how, .backend = "wrong", .alloc = &a};
  static const char text[] =
      "volta 1\nmodel m {\ninput x: f32[4]\nh = tanh(x)\ny = exp(h)\noutput y\n}\n";
  vt_status s = VT_NOMEM;
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  const long step = vt_test_is_long() ? 1 : 7;
  for (f.left = 1; s == VT_NOMEM && f.left < 1000000; f.left += step) {
    vt_divergence x = {0};
    f.asked = 0;
    s = find_divergence_in_model(text, &how, &x);
    CHECK(s == VT_NOMEM || (s == VT_OK && strcmp(x.op, "exp") == 0));
    if (s == VT_OK) vt_divergence_done(&x);
    CHECK(f.live == 0);
  }
  CHECK(s == VT_OK);
}

static int count_entries(const char *path) {
  DIR *dir = opendir(path);
  int n = 0;
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) n += e->d_name[0] != '.';
  if (dir != NULL) closedir(dir);
  return n;
}

static void test_writing_divergence_folders(void) {
  vt_divergence x = {0};
  char path[600], other[700];
  vt_diag d = {0};
  vt_text command;
  fault = (struct fault){.from = op_number("exp"), .to = op_number("exp2")};
  CHECK(find_divergence_in_lines("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_OK);
  vt_text_init(&command, vt_alloc_default());
  snprintf(path, sizeof path, "%s/other/", folder);
  CHECK(mkdir(path, 0700) == 0); /* an existing empty folder may be used */
  CHECK(vt_divergence_write(&x, path, "./lib foo.so:1", &command, &d) == VT_OK);
  CHECK(strstr(command.s, "/lib foo.so:1' --allow-unadmitted") != NULL);
  CHECK(strstr(command.s, " 'reference:0,/") != NULL);
  snprintf(other, sizeof other, "%s/mine.txt", path);
  CHECK(vt_bytes_write(other, "mine", 4, NULL) == VT_OK);
  /* Refused, because the folder has a foreign file. */
  CHECK(vt_divergence_write(&x, path, "wrong", &command, &d) == VT_IO);
  CHECK(access(other, R_OK) == 0);
  snprintf(other, sizeof other, "%s/model.vt", path);
  CHECK(access(other, R_OK) == 0); /* no file was removed */
  snprintf(path, sizeof path, "%s/foreign", folder);
  snprintf(other, sizeof other, "%s/weights.npy", path);
  CHECK(mkdir(path, 0700) == 0 && vt_bytes_write(other, "mine", 4, NULL) == VT_OK);
  CHECK(vt_divergence_write(&x, path, "wrong", &command, NULL) == VT_IO);
  CHECK(access(other, R_OK) == 0);
  snprintf(other, sizeof other, "%s/none/it", folder);
  CHECK(vt_divergence_write(&x, other, "wrong", &command, NULL) == VT_IO);
  vt_divergence_done(&x);
  vt_text_done(&command);
  /* In a folder inside the current one, the plug-in's path starts with "..". */
  CHECK(chdir(folder) == 0);
  vt_text_init(&command, vt_alloc_default());
  CHECK(find_divergence_in_lines("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_OK);
  CHECK(vt_divergence_write(&x, "near", "./libfoo.so", &command, NULL) == VT_OK);
  CHECK(strcmp(command.s,
               "volta parity model.vt --in x=x.npy --backends "
               "reference:0,../libfoo.so --allow-unadmitted") == 0);
  vt_text_done(&command);
  vt_divergence_done(&x);
  /* There are the folders it, other, foreign and near; no temporary folder is left. */
  CHECK(count_entries(".") == 4);
}

/* A report on a fault that was seen earlier has the whole model, though nothing differs now. */
static void test_fault_report_in_folder(void) {
  static const char text[] =
      "volta 1\nmodel m {\ninput x: f32[3]\ninput z: f32[3]\noutput a = x\noutput y = x + z\n}";
  static const char through[] = "volta 1\nmodel m {\ninput x: f32[3]\noutput a = x\n}";
  const vt_options how = {.size = sizeof how, .backend = "wrong:0"};
  const vt_fault_report seen = {"order", "add/1", "it was wrong", "volta admit './a b.so' --short"};
  vt_divergence x = {0};
  vt_model *m = NULL;
  char page[2000] = "";
  fault = (struct fault){0};
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, NULL) == VT_OK);
  CHECK(vt_diverge_whole_model(m, &how, set_values, NULL, &x, NULL) == VT_OK);
  CHECK(strcmp(x.op, "add") == 0 && x.n_inputs == 2 && x.compared == 0);
  CHECK(vt_divergence_write_report(&x, &seen, "seen", "./a b.so", NULL) == VT_OK);
  CHECK(count_entries("seen") == 4);
  FILE *f = fopen("seen/README.txt", "rb");
  CHECK(f != NULL && fread(page, 1, sizeof page - 1, f) > 0);
  if (f != NULL) fclose(f);
  CHECK(strstr(page, "\n  volta admit './a b.so' --short\n") != NULL);
  CHECK(strstr(page, "it was wrong\n") != NULL && strstr(page, "it gives") == NULL);
  x.output = "y", x.index = "[1]", x.dtype = VT_DTYPE_F32, x.bits = 7, x.compared = 3;
  /* The folder of the older report is replaced. */
  CHECK(vt_divergence_write_report(&x, &seen, "seen", "./a b.so", NULL) == VT_OK);
  f = fopen("seen/README.txt", "rb");
  CHECK(f != NULL && fread(page, 1, sizeof page - 1, f) > 0);
  if (f != NULL) fclose(f);
  CHECK(strstr(page, "it gives   0x00000007 (f32)\n") != NULL);
  vt_divergence_done(&x);
  vt_model_free(m);
  CHECK(vt_model_parse(through, strlen(through), NULL, &m, NULL) == VT_OK);
  /* There is no divergence, because no node runs. */
  CHECK(vt_diverge_whole_model(m, &how, set_values, NULL, &x, NULL) == VT_NAME);
  vt_model_free(m);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 77;
  test_no_divergence_is_found();
  test_fault_in_one_op_is_found();
  test_fault_is_found_in_each_dtype();
  test_wrong_nan_is_found();
  test_fault_in_second_result();
  test_fault_in_whole_composition();
  test_faults_in_bodies();
  test_fault_needs_neighbours();
  test_fault_needs_whole_model();
  test_fault_hidden_by_folding();
  test_thread_count_in_report();
  test_fault_of_first_run_only();
  test_search_in_many_values();
  test_faults_in_example_models();
  test_search_out_of_memory();
  test_writing_divergence_folders();
  test_fault_report_in_folder();
  remove_folder_tree(folder);
  while (n_copies > 0) free(copies[--n_copies]);
  TEST_DONE();
}
