/* SPDX-License-Identifier: Apache-2.0
 * diverge_test.c - backends that are right but for one thing, and what is found of them: the op,
 * its element, a model that shows it alone, and a folder that shows it again. The registry of this
 * program is its own: `wrong` runs the reference's steps one by one and spoils some. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diverge.h"
#include "registry.h"
#include "volta/volta_tools.h"
#include "vt_steps.h"
#include "vt_test.h"

/* ---- the wrong backend ---- */

/* What is wrong with it. Steps of op `from` run as op `to`, in bodies too; or a bit of element 1 of
 * result `result` of op `spoilt` is turned over. */
static struct fault {
  uint32_t from, to, spoilt, result;
  uint32_t whole;      /* a composition that it runs itself */
  int in_groups;       /* only in groups of several steps */
  int strided;         /* only where an operand is no dense tensor */
  uint64_t many_steps; /* only in programs of so many steps, or more */
  uint32_t threads;    /* only with so many */
  int once;            /* only in the first run that has the op */
} fault;
static int runs, first_run; /* in this process; the first that was spoilt */

struct vt_bk_device {
  const vt_bk_host *host;
};
enum { MOST = 4096 };
struct vt_bk_program {
  vt_bk_device *dev;
  uint64_t n;
  const vt_bk_step *steps;
  vt_steps *one;   /* a list for each step */
  vt_bk_step *own; /* the steps as they are run */
  vt_bk_error error;
};

static const vt_bk_api *right;

static int32_t device_count(const vt_bk_host *host, uint32_t *out) {
  (void)host;
  *out = 1;
  return VT_OK;
}
static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  (void)ordinal;
  *out = host->resize(host->user, NULL, 0, sizeof **out);
  if (*out == NULL) return VT_NOMEM;
  (*out)->host = host;
  return VT_OK;
}
static void device_close(vt_bk_device *dev) {
  dev->host->resize(dev->host->user, dev, sizeof *dev, 0);
}
static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .shares_host = 1,
                           .about = "wrong in one thing",
                           .fingerprint = "wrong-1",
                           .has = UINT64_MAX,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING};
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}
static uint32_t kind_of(uint32_t op) { return op == fault.whole ? VT_STEPS_WHOLE : 0; }
static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  return vt_steps_listed(op, kind_of(op));
}
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  (void)dev;
  return vt_steps_check(step, kind_of(step->op));
}
static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out) {
  (void)dev;
  *out = vt_steps_workspace(step, kind_of(step->op));
  return VT_OK;
}

static int is_strided(const vt_bk_step *s) {
  int strided = 0;
  for (uint32_t i = 0; i < s->n_in; i++) {
    const vt_bk_tensor *t = &s->in[i];
    strided |= t->rank == 2 && t->stride[0] != t->dim[1] && t->dim[0] > 1;
  }
  return strided;
}

static int is_grouped(const vt_bk_step *all, uint64_t n, uint64_t i) {
  const uint32_t group = all[i].group;
  return group != 0 &&
         ((i > 0 && all[i - 1].group == group) || (i + 1 < n && all[i + 1].group == group));
}

static int sins(const vt_bk_step *all, uint64_t n, uint64_t i) {
  return (!fault.in_groups || is_grouped(all, n, i)) && (!fault.strided || is_strided(&all[i])) &&
         n >= fault.many_steps;
}

/* Copies live as long as the test: it is short. */
static void *kept[MOST * 64];
static uint32_t n_kept;
static void *keep(const void *p, size_t size) {
  void *copy = malloc(size + 1);
  if (copy == NULL || n_kept == MOST * 64) exit(1);
  memcpy(copy, p, size);
  kept[n_kept++] = copy;
  return copy;
}

static vt_bk_step *corrupt(const vt_bk_step *steps, uint64_t n) {
  vt_bk_step *own = keep(steps, (size_t)n * sizeof *own);
  for (uint64_t i = 0; i < n; i++) {
    if (own[i].op == fault.from && fault.from != 0 && sins(steps, n, i)) own[i].op = fault.to;
    vt_bk_body *body = keep(own[i].body, own[i].n_body * sizeof *body);
    for (uint32_t k = 0; k < own[i].n_body; k++)
      body[k].steps = corrupt(body[k].steps, body[k].n_steps);
    own[i].body = body;
  }
  return own;
}

static void program_free(vt_bk_program *p) {
  const vt_bk_host *host = p->dev->host;
  for (uint64_t i = 0; i < p->n; i++) vt_steps_done(&p->one[i]);
  host->resize(host->user, p->one, (p->n + 1) * sizeof *p->one, 0);
  host->resize(host->user, p, sizeof *p, 0);
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out) {
  const vt_bk_host *host = dev->host;
  vt_bk_program *p = host->resize(host->user, NULL, 0, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  *p = (vt_bk_program){.dev = dev, .steps = steps, .own = corrupt(steps, n)};
  p->one = host->resize(host->user, NULL, 0, (n + 1) * sizeof *p->one);
  int32_t s = p->one == NULL ? VT_NOMEM : VT_OK;
  for (uint64_t i = 0; s == VT_OK && i < n; i++) {
    memset(&p->one[i], 0, sizeof p->one[i]);
    s = vt_steps_init(host, &p->own[i], 1, kind_of(steps[i].op), &p->one[i]);
    if (s == VT_OK) p->n++;
  }
  if (s == VT_OK) {
    *out = p;
  } else {
    const uint64_t made = p->n;
    for (uint64_t i = 0; i < made; i++) vt_steps_done(&p->one[i]);
    if (p->one != NULL) host->resize(host->user, p->one, (n + 1) * sizeof *p->one, 0);
    host->resize(host->user, p, sizeof *p, 0);
  }
  return s;
}

static void spoil(const vt_bk_program *p, uint64_t i, char *const *base) {
  const vt_bk_step *s = &p->steps[i];
  if (fault.threads != 0 && p->dev->host->threads != fault.threads) return;
  if (s->op != fault.spoilt || fault.spoilt == 0 || fault.result >= s->n_out) return;
  if (!sins(p->steps, p->n, i) || (fault.once && first_run != 0 && runs != first_run)) return;
  first_run = runs;
  const vt_bk_tensor *t = &s->out[fault.result];
  int64_t count = 1;
  for (uint32_t a = 0; a < t->rank; a++) count *= t->dim[a];
  const uint64_t at = count > 1 && t->rank > 0 ? vt_dtype_bytes(t->dtype) : 0;
  if (count > 0) base[t->arena][t->offset + at] ^= 1;
}

static int32_t run(vt_bk_program *p, const uint64_t *buffers, uint64_t n) {
  char *base[VT_STEPS_ARENAS] = {NULL};
  for (uint64_t i = 0; i < n && i < VT_STEPS_ARENAS; i++) base[i] = (char *)(uintptr_t)buffers[i];
  p->error = (vt_bk_error){.size = sizeof p->error};
  runs++;
  for (uint64_t i = 0; i < p->n && p->error.status == VT_OK; i++) {
    vt_steps_run(&p->one[i], base);
    vt_steps_error(&p->one[i], &p->error);
    spoil(p, i, base);
  }
  return VT_OK;
}
static int32_t wait(vt_bk_program *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return VT_OK;
}
static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out) {
  return right->buffer_new(dev, bytes, out); /* of a device it reads the host alone */
}
static void buffer_free(vt_bk_device *dev, uint64_t handle) { right->buffer_free(dev, handle); }
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  return right->copy(dev, host, handle, offset, bytes, to_device);
}

vt_backend_query_fn vt_reference_query;
static const vt_bk_api *wrong_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "wrong",
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
  right = vt_reference_query(host);
  return &api;
}

static vt_proofs proofs[2];
static const vt_registry_row rows[] = {{"reference", vt_reference_query, VT_KIND_CPU, &proofs[0]},
                                       {"wrong", wrong_query, VT_KIND_TEST, &proofs[1]}};
uint32_t vt_registry_total(void) { return sizeof rows / sizeof *rows; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < vt_registry_total() ? &rows[i] : NULL;
}

/* ---- finding ---- */

static vt_status give(void *user, vt_program *p, vt_diag *d) {
  (void)user;
  VT_TRY(vt_program_init_params(p, 3, d));
  return vt_program_random_inputs(p, 5, d);
}

static vt_status find_with(const char *text, const vt_options *how, vt_divergence *out) {
  vt_diag d = {0};
  vt_model *m = NULL;
  runs = first_run = 0;
  vt_status s = vt_model_parse(text, strlen(text), how->alloc, &m, &d);
  if (s == VT_OK) s = vt_diverge_find(m, how, give, NULL, out, &d);
  if (s != VT_OK && s != VT_NAME && s != VT_NOMEM) fprintf(stderr, "%s\n", d.text);
  vt_model_free(m);
  return s;
}

static const vt_binding two[] = {{"B", 2}, {"T", 16}};

static vt_status find(const char *lines, vt_divergence *out) {
  const vt_options how = {.size = sizeof how, .backend = "wrong"};
  char text[2048];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", lines);
  return find_with(text, &how, out);
}

static uint32_t op(const char *name) {
  const vt_op_info *info = vt_op_find(name);
  CHECK(info != NULL);
  return info == NULL ? 0 : info->number;
}

static int count_lines(const char *text) {
  int n = 0;
  for (; *text != 0; text++) n += *text == '\n';
  return n;
}

/* ---- the folder, read back and run ---- */

static vt_status read_input(const char *in, const char *name, vt_program *p) {
  char path[600];
  vt_archive *a = NULL;
  vt_tensor t = {0};
  const char *key;
  snprintf(path, sizeof path, "%.200s/%.200s.npy", in, name);
  if (access(path, R_OK) != 0) snprintf(path, sizeof path, "%.200s/%.200s.safetensors", in, name);
  VT_TRY(vt_archive_read(path, NULL, &a, NULL));
  vt_status s = vt_archive_tensor(a, 0, &key, &t);
  if (s == VT_OK) s = vt_program_set_input(p, name, &t, NULL);
  vt_archive_free(a);
  return s;
}

static vt_status run_folder(const char *in, const char *backend, const vt_divergence *x,
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
  snprintf(path, sizeof path, "%.200s/model.vt", in);
  VT_TRY(vt_model_read(path, NULL, &m, NULL));
  vt_status s = vt_program_new(m, &o, out, NULL);
  for (uint32_t i = 0; s == VT_OK && vt_model_port(m, i, &port) == VT_OK; i++) {
    CHECK(port.kind != VT_PORT_PARAM);
    if (port.kind == VT_PORT_INPUT) s = read_input(in, port.name, *out);
  }
  if (s == VT_OK) s = vt_program_run(*out, NULL);
  vt_model_free(m);
  return s;
}

/* What is in the folder gives what the divergence says. */
static void check_folder(const char *in, const vt_divergence *x) {
  static const char *const backend[2] = {"wrong:0", "reference:0"};
  const vt_tensor *want[2] = {&x->result, &x->right};
  for (int side = 0; side < 2; side++) {
    vt_program *p = NULL;
    int found = 0;
    CHECK(run_folder(in, backend[side], x, &p) == VT_OK);
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

static void empty_folder(const char *path) {
  char command[700];
  snprintf(command, sizeof command, "rm -r '%s'", path);
  CHECK(system(command) == 0);
}

static void check_written(const vt_divergence *x) {
  char path[600];
  vt_text command;
  vt_text_init(&command, vt_alloc_default());
  snprintf(path, sizeof path, "%s/it", folder);
  CHECK(vt_divergence_write(x, path, "wrong:0", &command, NULL) == VT_OK);
  CHECK(strstr(command.s, "volta parity model.vt") == command.s + (x->threads == 0 ? 0 : 16));
  CHECK((strstr(command.s, " --untried") != NULL) == (x->untried != 0));
  CHECK(strstr(command.s, " --backends reference:0,wrong:0") != NULL);
  CHECK(strstr(command.s, "unadmitted") == NULL);
  check_folder(path, x);
  vt_text_done(&command);
}

/* ---- cases ---- */

/* Everything that must hold whatever was found. */
static void check_sound(const vt_divergence *x) {
  vt_compare c = {.size = sizeof c};
  CHECK(vt_tensor_compare(&x->result, &x->right, &c, NULL) == VT_OK);
  CHECK(c.differing == x->differing && c.differing > 0 && c.compared == x->compared);
  CHECK(c.first_a == x->bits && c.first_b == x->expected && x->bits != x->expected);
  CHECK(x->distance > 0 && x->distance <= c.largest);
  check_written(x);
}

static void expect(const char *lines, const char *name, const char *signature, int nodes) {
  vt_divergence x = {0};
  const vt_status s = find(lines, &x);
  CHECK(s == VT_OK);
  if (s != VT_OK) fprintf(stderr, "nothing found in\n%s\n", lines);
  if (s != VT_OK) return;
  if (strcmp(x.op, name) != 0 || strcmp(x.signature, signature) != 0)
    fprintf(stderr, "found %s: %s\n%s", x.op, x.signature, x.model);
  CHECK(strcmp(x.op, name) == 0);
  CHECK(strcmp(x.signature, signature) == 0);
  CHECK(x.isolated);
  /* version, model, end, an input each, an op each, an output each */
  if (nodes > 0) CHECK(count_lines(x.model) == 3 + (int)x.n_inputs + nodes + 1);
  if (nodes > 0 && count_lines(x.model) != 3 + (int)x.n_inputs + nodes + 1)
    fprintf(stderr, "%s", x.model);
  check_sound(&x);
  vt_divergence_done(&x);
}

static void test_none(void) {
  vt_divergence x = {0};
  fault = (struct fault){0};
  CHECK(find("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_NAME);
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  CHECK(find("input x: f32[3]\ny = tanh(x)\noutput y", &x) == VT_NAME);
  CHECK(x.op == NULL);
}

static void test_middle(void) {
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  expect("input x: f32[3, 4]\nh = tanh(x)\ne = exp(h)\ny = sqrt(e)\nz = exp(y)\noutput z", "exp",
         "exp(f32[3, 4]) -> f32[3, 4]", 1);
  /* Names with dots, and a literal that goes along. */
  fault = (struct fault){.from = op("add"), .to = op("sub")};
  expect("input a.b.c: f32[2]\nh = a.b.c * 2.0\ny.0 = tanh(h) + 1.5\noutput y.0", "add",
         "add(f32[2], f32[]) -> f32[2]", 2);
  /* One operand twice, one that is a parameter. */
  fault = (struct fault){.spoilt = op("mul")};
  expect("input x: f32[5]\nparam w: f32[5] = normal\nz = x * w\ny = z - x\noutput y", "mul",
         "mul(f32[5], f32[5]) -> f32[5]", 1);
  expect("input x: f32[5]\nz = tanh(x)\ny = z * z\noutput y", "mul",
         "mul(f32[5], f32[5]) -> f32[5]", 1);
  /* No operand at all. */
  fault = (struct fault){.spoilt = op("iota")};
  expect("input x: i64[4] in 0..9\nz = iota(shape=[4], axis=0, dtype=i64)\ny = x + z\noutput y",
         "iota", "iota() -> i64[4]", 1);
}

static void test_types(void) {
  fault = (struct fault){.from = op("add"), .to = op("sub")};
  expect("input x: i32[2, 3] in 0..5\ny = x + x * x\noutput y", "add",
         "add(i32[2, 3], i32[2, 3]) -> i32[2, 3]", 1);
  fault = (struct fault){.spoilt = op("cast")};
  expect("input x: f32[4]\ny = cast(x, dtype=bf16)\noutput y", "cast", "cast(f32[4]) -> bf16[4]",
         1);
  fault = (struct fault){.spoilt = op("concat")};
  expect("input x: f32[4]\nh = cast(x, dtype=bf16)\ny = concat(h, h)\noutput y", "concat",
         "concat(bf16[4], bf16[4]) -> bf16[8]", 1);
  fault = (struct fault){.spoilt = op("gather")};
  expect("input x: f32[4, 3]\ninput i: i64[2] in 0..3\ny = gather(x, i)\noutput y", "gather",
         "gather(f32[4, 3], i64[2]) -> f32[2, 3]", 1);
}

static void test_nan(void) {
  vt_divergence x = {0};
  fault = (struct fault){.from = op("log"), .to = op("log1p")};
  CHECK(find("input x: f32[8]\nh = abs(x) - 1.0\ny = log(h)\noutput y", &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "log") == 0 && x.dtype == VT_DTYPE_F32);
  CHECK(x.expected == 0x7fc00000 && x.bits != x.expected && x.distance == UINT64_MAX);
  CHECK(x.index != NULL && strcmp(x.index, "[0]") == 0);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
}

static void test_second_result(void) {
  vt_divergence x = {0};
  fault = (struct fault){.spoilt = op("sort"), .result = 1};
  CHECK(find("input x: f32[2, 9]\nv, i = sort(x)\n"
             "output v\noutput i",
             &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "sort") == 0);
  CHECK(x.op != NULL && strcmp(x.output, "i") == 0 && x.dtype == VT_DTYPE_I64);
  CHECK(x.op != NULL && strcmp(x.index, "[0, 1]") == 0 && x.distance == 1 && x.differing == 1);
  CHECK(x.op != NULL && strcmp(x.signature, "sort(f32[2, 9]) -> f32[2, 9], i64[2, 9]") == 0);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
}

/* A composition that the backend keeps is one op; another is the ops that define it. */
static void test_whole_composition(void) {
  const char *lines = "input x: f32[2, 5]\nh = softmax(tanh(x))\ny = h - 0.25\noutput y";
  fault = (struct fault){.whole = op("softmax"), .spoilt = op("softmax")};
  expect(lines, "softmax", "softmax(f32[2, 5]) -> f32[2, 5]", 1);
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  expect(lines, "exp", "exp(f32[2, 5]) -> f32[2, 5]", 1);
}

static void test_bodies(void) {
  const char *loop =
      "input x: f32[3, 4]\ninput w: f32[4]\nparam h0: f32[4] = zeros\n"
      "last, all = loop(h0, x, count=3, carried=1, each=1) (i, h, xt) {\n"
      "g = tanh(h + xt) * w\ne = exp(g * cast(i, dtype=f32))\ngive g + e, e\n}\n"
      "y = last * 2.0\noutput y\noutput all";
  /* exp2 differs from exp but where the operand is 0, as it is in the first turn. */
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  expect(loop, "exp", "exp(f32[4]) -> f32[4]", 1);
  /* The loop itself, and nothing in it. */
  fault = (struct fault){.spoilt = op("loop"), .result = 1};
  expect(loop, "loop", "loop(f32[4], f32[3, 4], f32[4]) -> f32[4], f32[3, 4]", 0);
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  expect(
      "input x: f32[4]\np = max(x) < 0.0\n"
      "y = cond(p) {\ngive exp(tanh(x))\n} else {\nq = x * 3.0\ngive exp(q)\n}\noutput y",
      "exp", "exp(f32[4]) -> f32[4]", 1);
  /* A loop in a branch. */
  expect(
      "input x: f32[4]\ns = tanh(x)\np = max(x) < 0.0\n"
      "y = cond(p) {\ngive s * 2.0\n} else {\n"
      "z = loop(s, count=5, carried=1) (i, h) {\ngive exp(h) - 1.0\n}\ngive z\n}\noutput y",
      "exp", "exp(f32[4]) -> f32[4]", 1);
}

/* What a single op does not show: a group that is run as one, an operand that is a view. */
static void test_neighbours(void) {
  fault = (struct fault){.from = op("add"), .to = op("sub"), .in_groups = 1};
  expect(
      "input x: f32[4]\ninput b: f32[4]\nm = cumsum(x)\nh = tanh(tanh(m) * b + x)\ny = "
      "cumsum(h)\noutput y",
      "mul+add", "mul+add(f32[4], f32[4], f32[4]) -> f32[4]", 2);
  fault = (struct fault){.spoilt = op("matmul"), .strided = 1};
  expect(
      "input x: f32[3, 4]\ninput w: f32[5, 4]\nh = tanh(x)\nv = tanh(w)\n"
      "y = matmul(h, transpose(v, perm=[1, 0]))\noutput y",
      "matmul", "matmul(f32[3, 4], f32[4, 5]) -> f32[3, 5]", 0);
}

static const char chain[] =
    "input x: f32[4]\nparam w: f32[4] = normal\na = tanh(x)\nb = cumsum(a)\nc = b * w\nd = "
    "cumsum(c)\n"
    "e = tanh(d)\nf = cumsum(e)\noutput f";

/* Only in the whole, or in what is nearly the whole. */
static void test_whole_model(void) {
  vt_divergence x = {0};
  fault = (struct fault){.spoilt = op("tanh"), .many_steps = 6};
  CHECK(find(chain, &x) == VT_OK);
  CHECK(x.model != NULL && strstr(x.model, "input w: f32[4]\n") != NULL);
  CHECK(x.op != NULL && x.n_inputs == 2 && !x.isolated);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
  x = (vt_divergence){0};
  fault = (struct fault){.spoilt = op("cumsum"), .many_steps = 3};
  CHECK(find(chain, &x) == VT_OK && x.isolated);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
}

/* As many threads as it takes; where it takes no certain number, none is asked for. */
static void test_threads(void) {
  const vt_options how = {.size = sizeof how, .backend = "wrong", .threads = 3};
  char text[1024];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", chain);
  for (uint32_t threads = 0; threads <= 3; threads += 3) {
    vt_divergence x = {0};
    fault = (struct fault){.spoilt = op("tanh"), .threads = threads};
    CHECK(find_with(text, &how, &x) == VT_OK && x.isolated && x.threads == threads);
    if (x.op != NULL) check_sound(&x);
    vt_divergence_done(&x);
  }
}

/* What does not come again: the report is of what was seen. */
static void test_not_again(void) {
  vt_divergence x = {0};
  const vt_options how = {.size = sizeof how, .backend = "wrong", .passes = "bind,lower,dead"};
  char text[1024];
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", chain);
  vt_compare c = {.size = sizeof c};
  fault = (struct fault){.spoilt = op("tanh"), .many_steps = 7}; /* never */
  CHECK(find_with(text, &how, &x) == VT_NAME);
  fault = (struct fault){.spoilt = op("cumsum"), .once = 1};
  CHECK(find_with(text, &how, &x) == VT_OK);
  CHECK(x.model != NULL && !x.isolated && x.n_inputs == 2 && strcmp(x.output, "f") == 0);
  CHECK(x.passes != NULL && strcmp(x.passes, how.passes) == 0);
  CHECK(vt_tensor_compare(&x.result, &x.right, &c, NULL) == VT_OK && c.differing == x.differing);
  vt_divergence_done(&x);
}

/* More values than one run has outputs for. */
static void test_long(void) {
  enum { LONG = 5000 };
  const vt_options how = {.size = sizeof how, .backend = "wrong", .passes = "bind,lower"};
  vt_divergence x = {0};
  vt_text text;
  vt_text_init(&text, vt_alloc_default());
  vt_text_add(&text, "volta 1\nmodel m {\ninput x: f32[2]\nh = neg(x)\n");
  for (int i = 0; i < LONG; i++) vt_text_add(&text, "h = neg(h)\n");
  vt_text_add(&text, "h = exp(h)\nh = exp(h)\noutput h\n}\n");
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  CHECK(find_with(text.s, &how, &x) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, "exp") == 0 && strcmp(x.output, "h.5001") == 0);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
  vt_text_done(&text);
}

static void test_example(const char *path, const char *name, uint32_t n_bind, const char *output) {
  const vt_options how = {.size = sizeof how, .backend = "wrong", .bind = two, .n_bind = n_bind};
  vt_model *m = NULL;
  vt_divergence x = {0};
  CHECK(vt_model_read(path, NULL, &m, NULL) == VT_OK);
  CHECK(vt_diverge_find(m, &how, give, NULL, &x, NULL) == VT_OK);
  CHECK(x.op != NULL && strcmp(x.op, name) == 0 && x.isolated);
  CHECK(x.op != NULL && strcmp(x.output, output) != 0);
  if (x.op != NULL) check_sound(&x);
  vt_divergence_done(&x);
  vt_model_free(m);
}

static void test_examples(void) {
  fault = (struct fault){.from = op("erf"), .to = op("tanh")};
  test_example("examples/tiny_transformer.vt", "erf", 2, "logits");
  fault = (struct fault){.from = op("tanh"), .to = op("sigmoid")};
  test_example("examples/lstm.vt", "tanh", 2, "logits");
}

/* ---- memory, and folders ---- */

static void test_no_memory(void) {
  vt_fault f = {0};
  const vt_alloc a = vt_fault_alloc(&f);
  const vt_options how = {.size = sizeof how, .backend = "wrong", .alloc = &a};
  static const char text[] =
      "volta 1\nmodel m {\ninput x: f32[4]\nh = tanh(x)\ny = exp(h)\noutput y\n}\n";
  vt_status s = VT_NOMEM;
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  const long step = vt_test_is_long() ? 1 : 7;
  for (f.left = 1; s == VT_NOMEM && f.left < 1000000; f.left += step) {
    vt_divergence x = {0};
    f.asked = 0;
    s = find_with(text, &how, &x);
    CHECK(s == VT_NOMEM || (s == VT_OK && strcmp(x.op, "exp") == 0));
    if (s == VT_OK) vt_divergence_done(&x);
    CHECK(f.live == 0);
  }
  CHECK(s == VT_OK);
}

static void test_folder(void) {
  vt_divergence x = {0};
  char path[600], other[700];
  vt_diag d = {0};
  vt_text command;
  fault = (struct fault){.from = op("exp"), .to = op("exp2")};
  CHECK(find("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_OK);
  vt_text_init(&command, vt_alloc_default());
  snprintf(path, sizeof path, "%s/other/", folder);
  CHECK(mkdir(path, 0700) == 0); /* empty: taken */
  CHECK(vt_divergence_write(&x, path, "./lib foo.so:1", &command, &d) == VT_OK);
  CHECK(strstr(command.s, "/lib foo.so:1' --allow-unadmitted") != NULL);
  CHECK(strstr(command.s, " 'reference:0,/") != NULL);
  snprintf(other, sizeof other, "%s/mine.txt", path);
  CHECK(vt_bytes_write(other, "mine", 4, NULL) == VT_OK);
  CHECK(vt_divergence_write(&x, path, "wrong", &command, &d) == VT_IO); /* more than ours in it */
  CHECK(access(other, R_OK) == 0);
  snprintf(other, sizeof other, "%s/none/it", folder);
  CHECK(vt_divergence_write(&x, other, "wrong", &command, NULL) == VT_IO);
  vt_divergence_done(&x);
  vt_text_done(&command);
  /* From a folder in the current one a plug-in is one step up. */
  CHECK(chdir(folder) == 0);
  vt_text_init(&command, vt_alloc_default());
  CHECK(find("input x: f32[3]\ny = exp(x)\noutput y", &x) == VT_OK);
  CHECK(vt_divergence_write(&x, "near", "./libfoo.so", &command, NULL) == VT_OK);
  CHECK(strcmp(command.s,
               "volta parity model.vt --in x=x.npy --backends "
               "reference:0,../libfoo.so --allow-unadmitted") == 0);
  vt_text_done(&command);
  vt_divergence_done(&x);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 77;
  test_none();
  test_middle();
  test_types();
  test_nan();
  test_second_result();
  test_whole_composition();
  test_bodies();
  test_neighbours();
  test_whole_model();
  test_threads();
  test_not_again();
  test_long();
  test_examples();
  test_no_memory();
  test_folder();
  empty_folder(folder);
  while (n_kept > 0) free(kept[--n_kept]);
  TEST_DONE();
}
