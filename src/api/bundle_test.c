/* SPDX-License-Identifier: Apache-2.0
 * bundle_test.c - tests bundles: what is written is what is opened and run, from a folder and from
 * one file; damaged and hostile bundles are refused; every allocation fails once. */
#include "bundle_test.h"
#include <sys/stat.h>

/* ---- writing, opening and running ---- */

static void write_state(const char *path, float first) {
  static const char *const names[] = {"n"};
  float data[3] = {first, 2, 3};
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {3}, .data = data};
  CHECK(vt_safetensors_write(path, 1, names, &t, NULL) == VT_OK);
}

/* Writes a bundle with everything in it. */
static vt_status write_all(const char *path, vt_weights *w, const vt_alloc *a, vt_diag *d) {
  static const vt_bundle_pair metadata[] = {{"note", "a \"b\"\n\xc3\xa4"}, {"author", "me"}};
  static const vt_bundle_pair digests[] = {
      {"B=2 inputs=3", "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789"}};
  static const vt_binding bind[] = {{"B", 2}};
  const vt_options plan = {.size = sizeof plan, .bind = bind, .n_bind = 1, .backend = "reference"};
  const vt_options *const plans[] = {&plan, &plan}; /* the same plan is written once */
  vt_bundle_contents c = make_contents(w);
  c.n_metadata = 2;
  c.metadata = metadata;
  c.n_digests = 1;
  c.digests = digests;
  c.n_plans = 2;
  c.plans = plans;
  c.state = file_path("state.safetensors");
  c.alloc = a;
  return vt_bundle_write(path, &c, d);
}

/* The digest of a run with the same weights and state, without a bundle. */
static void run_without_bundle(vt_weights *w, float first, uint8_t out[32]) {
  static const vt_binding bind[] = {{"B", 2}};
  vt_model *m = NULL;
  vt_state *s = NULL;
  float data[3] = {first, 2, 3};
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {3}, .data = data};
  vt_options o = {
      .size = sizeof o, .bind = bind, .n_bind = 1, .backend = "reference", .weights = w};
  CHECK(vt_model_parse(model_text, sizeof model_text - 1, NULL, &m, NULL) == VT_OK);
  CHECK(vt_state_new(m, &o, 0, &s, NULL) == VT_OK);
  CHECK(vt_state_set(s, "n", &t, NULL) == VT_OK);
  o.state = s;
  CHECK(run_digest(m, &o, out, NULL) == VT_OK);
  vt_state_free(s);
  vt_model_free(m);
}

static void check_manifest(const vt_bundle *b) {
  static const char *const has[] = {
      "\"author\": \"me\",\n    \"note\": \"a \\\"b\\\"\\u000a\xc3\xa4\"", /* sorted, escaped */
      "\"B=2 inputs=3\": "
      "\"abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789\"",
      "\"model.vt\": {\"blake2b\": \"",
      "\"numerics\": 1,\n  \"volta_bundle\": 1,\n  \"weights\": "};
  for (size_t i = 0; i < sizeof has / sizeof *has; i++)
    CHECK(strstr(vt_bundle_manifest(b), has[i]) != NULL);
}

static void check_weights_of_bundle(const vt_bundle *b) {
  vt_weights *w = vt_bundle_weights(b);
  vt_weight_info info = {.size = sizeof info};
  uint16_t data[3];
  CHECK(vt_weights_count(w) == 2); /* the tensor that is no parameter is left out */
  CHECK(vt_weights_info(w, 0, &info, NULL) == VT_OK && info.dtype == VT_DTYPE_F16);
  CHECK(vt_weights_get(w, 0, data, NULL) == VT_OK && data[1] == 0x4000);
}

static void check_bundle(const char *path, const uint8_t expected[32]) {
  vt_bundle *b = NULL;
  vt_diag d = {.code = VT_BUDGET, .text = "stale"};
  uint8_t digest[32];
  CHECK(vt_bundle_is_at(path) && vt_bundle_open(path, NULL, &b, &d) == VT_OK && d.code == VT_OK);
  if (b == NULL) {
    fprintf(stderr, "%s\n", d.text);
    exit(1);
  }
  CHECK(vt_bundle_check(b, &d) == VT_OK);
  CHECK(strcmp(vt_bundle_text(b), model_text) == 0 && vt_bundle_has_state(b));
  check_manifest(b);
  check_weights_of_bundle(b);
  const vt_options o = {.bundle = b};
  CHECK(vt_bundle_plans(b) == 1 && vt_bundle_plans_used(b) == 0);
  CHECK(run_digest(vt_bundle_model(b), &o, digest, &d) == VT_OK);
  CHECK(memcmp(digest, expected, 32) == 0);
  CHECK(vt_bundle_plans_used(b) == 1);
  const vt_options other = {.bundle = b, .schedule = "memory"}; /* another key: planned as usual */
  CHECK(run_digest(vt_bundle_model(b), &other, digest, &d) == VT_OK);
  CHECK(memcmp(digest, expected, 32) == 0 && vt_bundle_plans_used(b) == 1);
  vt_bundle_free(b);
}

/* A program outlives its bundle. */
static void check_program_outlives(const char *path, const uint8_t expected[32]) {
  static const vt_binding bind[] = {{"B", 2}};
  vt_bundle *b = NULL;
  vt_program *p = NULL;
  uint8_t digest[32];
  CHECK(vt_bundle_open(path, NULL, &b, NULL) == VT_OK);
  const vt_options o = {
      .size = sizeof o, .bind = bind, .n_bind = 1, .backend = "reference", .bundle = b};
  CHECK(vt_program_new(vt_bundle_model(b), &o, &p, NULL) == VT_OK);
  vt_bundle_free(b);
  CHECK(vt_program_random_inputs(p, 3, NULL) == VT_OK && vt_program_run(p, NULL) == VT_OK);
  CHECK(vt_program_digest(p, digest, NULL) == VT_OK && memcmp(digest, expected, 32) == 0);
  vt_program_free(p);
}

static void test_written_is_opened(void) {
  vt_weights *w = make_weights(1), *other = make_weights(2);
  uint8_t first[32], second[32];
  vt_diag d = {.code = VT_BUDGET, .text = "stale"};
  write_state(file_path("state.safetensors"), 1);
  run_without_bundle(w, 1, first);
  run_without_bundle(other, 1, second);
  CHECK(memcmp(first, second, 32) != 0);
  const char *const paths[] = {file_path("b.vtz"), file_path("b")};
  for (int i = 0; i < 2; i++) {
    CHECK(write_all(paths[i], w, NULL, &d) == VT_OK && d.code == VT_OK);
    check_bundle(paths[i], first);
    check_program_outlives(paths[i], first);
    CHECK(write_all(paths[i], other, NULL, &d) == VT_OK); /* replaces it */
    check_bundle(paths[i], second);
    CHECK(write_all(paths[i], w, NULL, &d) == VT_OK);
  }
  vt_weights_free(w);
  vt_weights_free(other);
}

/* An open bundle stays what it was when another one takes its place. */
static void test_open_bundle_is_not_replaced(void) {
  vt_weights *w = make_weights(1), *other = make_weights(2);
  const char *const paths[] = {file_path("r.vtz"), file_path("r")};
  for (int i = 0; i < 2; i++) {
    vt_bundle *b = NULL;
    uint8_t before[32], after[32];
    CHECK(write_all(paths[i], w, NULL, NULL) == VT_OK);
    CHECK(vt_bundle_open(paths[i], NULL, &b, NULL) == VT_OK);
    CHECK(write_all(paths[i], other, NULL, NULL) == VT_OK);
    CHECK(vt_bundle_check(b, NULL) == VT_OK);
    CHECK(vt_weights_digest(vt_bundle_weights(b), after, NULL) == VT_OK);
    vt_bundle_free(b);
    CHECK(write_all(paths[i], w, NULL, NULL) == VT_OK);
    CHECK(vt_bundle_open(paths[i], NULL, &b, NULL) == VT_OK);
    CHECK(vt_weights_digest(vt_bundle_weights(b), before, NULL) == VT_OK);
    CHECK(memcmp(before, after, 32) == 0);
    vt_bundle_free(b);
  }
  vt_weights_free(w);
  vt_weights_free(other);
}

/* ---- what is refused ---- */

static void expect(vt_status s, const vt_diag *d, vt_status want, const char *says) {
  const int ok = s == want && d->code == want && strstr(d->text, says) != NULL;
  CHECK(ok);
  if (!ok) fprintf(stderr, "  %s: '%s', not '%s'\n", vt_status_name(s), d->text, says);
}

static void expect_not_opened(const char *path, vt_status want, const char *says) {
  vt_bundle *b = NULL;
  vt_diag d = {.code = VT_OK};
  expect(vt_bundle_open(path, NULL, &b, &d), &d, want, says);
  CHECK(b == NULL);
  vt_bundle_free(b);
}

static void expect_not_checked(const char *path, const char *says) {
  vt_bundle *b = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_bundle_open(path, NULL, &b, &d) == VT_OK);
  if (b != NULL) expect(vt_bundle_check(b, &d), &d, VT_FORMAT, says);
  vt_bundle_free(b);
}

/* Runs a shell command in the test folder. */
static void shell(const char *command) {
  char all[1024];
  snprintf(all, sizeof all, "cd %s && %s", folder, command);
  CHECK(system(all) == 0);
}

/* Makes a fresh copy of the bundle "b" in "h" and changes it. */
static const char *changed(const char *command) {
  char all[900];
  snprintf(all, sizeof all, "rm -rf h && cp -r b h && cd h && %s", command);
  shell(all);
  return file_path("h");
}

static void test_folders_refused(void) {
  expect_not_opened(changed("rm manifest.json"), VT_IO, "is a folder without 'manifest.json'");
  expect_not_opened(changed("rm weights.safetensors"), VT_IO, "weights.safetensors: No such file");
  expect_not_opened(changed("touch extra"), VT_FORMAT, "'extra' is in the bundle, but not in its");
  expect_not_opened(changed("touch plans/extra"), VT_FORMAT, "'plans/extra' is in the bundle");
  expect_not_opened(changed("mkdir more"), VT_FORMAT, "'more' is in the bundle");
  expect_not_opened(changed("printf x >> weights.safetensors"), VT_FORMAT,
                    "'weights.safetensors' has 175 bytes, but the manifest says 174");
  expect_not_opened(changed("mv model.vt ../m && ln -s ../m model.vt"), VT_IO, "symbolic link");
  expect_not_opened(changed("mv plans ../p && ln -s ../p plans; true"), VT_IO, "plans/");
  shell("rm -rf p m");
  expect_not_opened(changed("sed -i s/0.comment/x/ model.vt; sed -i 's/A comment/B comment/' "
                            "model.vt"),
                    VT_FORMAT, "'model.vt' is damaged");
  expect_not_opened(changed("rm -r plans; ln -s /etc plans"), VT_IO, "plans/");
  expect_not_opened(changed("rm model.vt && mkfifo model.vt"), VT_IO, "not a regular file");
  expect_not_checked(changed("printf X | dd of=weights.safetensors bs=1 seek=150 conv=notrunc "
                             "2>/dev/null"),
                     "'weights.safetensors' is damaged");
  expect_not_checked(
      changed("printf X | dd of=$(ls plans/*) bs=1 seek=40 conv=notrunc 2>/dev/null"),
      ".plan' is damaged");
}

static void test_manifests_refused(void) {
#define IN "sed -i '"
#define MANIFEST "' manifest.json"
  expect_not_opened(changed(IN "s/\"numerics\": 1,//" MANIFEST), VT_FORMAT, "has no 'numerics'");
  expect_not_opened(changed(IN "s/\"numerics\": 1/\"numerics\": 2/" MANIFEST), VT_UNSUPPORTED,
                    "version 2 of the numerics");
  expect_not_opened(changed(IN "s/volta_bundle\": 1/volta_bundle\": 2/" MANIFEST), VT_UNSUPPORTED,
                    "the bundle has format 2");
  expect_not_opened(changed(IN "s/model.vt/..\\/model.vt/" MANIFEST), VT_FORMAT,
                    "no file of a bundle may have this name");
  expect_not_opened(changed(IN "s/model.vt/\\/etc\\/passwd/" MANIFEST), VT_FORMAT,
                    "no file of a bundle may have this name");
  expect_not_opened(changed(IN "s/\"model\": \"/\"model\": \"0/" MANIFEST), VT_FORMAT,
                    "64 hexadecimal digits");
  expect_not_opened(changed(IN "s/\"model\": \"[0-9a-f]\\{4\\}/\"model\": \"ffff/" MANIFEST),
                    VT_FORMAT, "the model does not have the hash");
  expect_not_opened(changed(IN "s/\"author\"/\"note\"/" MANIFEST), VT_FORMAT, "'note' twice");
  expect_not_opened(changed(IN "s/\"model\": /\"weights\": /" MANIFEST), VT_FORMAT,
                    "'weights' occurs twice");
  expect_not_opened(changed(IN "/weights.safetensors/d; s/\\(state.*\\),$/\\1/" MANIFEST),
                    VT_FORMAT, "does not list 'weights.safetensors'");
  expect_not_opened(changed("head -c 200 manifest.json > m; mv m manifest.json"), VT_FORMAT,
                    "the manifest is wrong at byte");
  expect_not_opened(changed("head -c 17000000 /dev/zero > manifest.json"), VT_LIMIT, "accepted");
  /* what is not known is ignored */
  vt_bundle *b = NULL;
  CHECK(vt_bundle_open(changed(IN "s/\"numerics\"/\"later\": [1, {}], \"numerics\"/" MANIFEST),
                       NULL, &b, NULL) == VT_OK);
  vt_bundle_free(b);
  expect_not_checked(changed(IN "s/\"weights\": \"[0-9a-f]\\{4\\}/\"weights\": \"ffff/" MANIFEST),
                     "the weights do not have the digest");
}

/* Damages one byte, or cuts the file, at every position. A bundle that is still accepted must be
 * the same model with the same weights and state: a zip file has bytes without meaning, such as
 * dates. */
static void test_every_damaged_byte(void) {
  size_t n;
  uint8_t *bytes = read_bytes(file_path("b.vtz"), &n), hash[32], weights[32], found[32];
  char *manifest = NULL;
  vt_bundle *b = NULL;
  const char *path = file_path("damaged.vtz");
  uint32_t accepted = 0;
  CHECK(vt_bundle_open(file_path("b.vtz"), NULL, &b, NULL) == VT_OK);
  vt_model_hash(vt_bundle_model(b), hash);
  CHECK(vt_weights_digest(vt_bundle_weights(b), weights, NULL) == VT_OK);
  manifest = strdup(vt_bundle_manifest(b));
  vt_bundle_free(b);
  for (size_t i = 0; i < 2 * n; i++) {
    vt_diag d = {.code = VT_OK};
    b = NULL;
    if (i < n) bytes[i] ^= 0x11;
    write_bytes(path, bytes, i < n ? n : i - n);
    if (i < n) bytes[i] ^= 0x11;
    vt_status s = vt_bundle_open(path, NULL, &b, &d);
    if (s == VT_OK) s = vt_bundle_check(b, &d);
    CHECK((s == VT_OK) == (d.text[0] == '\0'));
    if (s == VT_OK) {
      accepted++;
      vt_model_hash(vt_bundle_model(b), found);
      CHECK(memcmp(found, hash, 32) == 0 && strcmp(vt_bundle_manifest(b), manifest) == 0);
      CHECK(vt_weights_digest(vt_bundle_weights(b), found, NULL) == VT_OK);
      CHECK(memcmp(found, weights, 32) == 0);
    }
    CHECK(i < n || s != VT_OK);
    vt_bundle_free(b);
  }
  CHECK(accepted < 200);
  free(manifest);
  free(bytes);
}

static void test_writing_refused(void) {
  vt_weights *w = make_weights(1);
  vt_bundle_contents c = make_contents(w);
  vt_bundle_pair pair[2] = {{"k", "v"}, {"k", "w"}};
  vt_diag d = {.code = VT_BUDGET, .text = "stale"};
  const char *path = file_path("n.vtz");
#define REFUSED(want, says) expect(vt_bundle_write(path, &c, &d), &d, want, says)
  expect(vt_bundle_write(NULL, &c, &d), &d, VT_USAGE, "path of the bundle is NULL");
  expect(vt_bundle_write(path, NULL, &d), &d, VT_USAGE, "are NULL");
  c.size = 0;
  REFUSED(VT_USAGE, "size is 0");
  c = make_contents(NULL);
  REFUSED(VT_NAME, "needs weights");
  c = make_contents(w);
  c.model_bytes -= 2;
  REFUSED(VT_SYNTAX, "");
  c = make_contents(w);
  c.n_metadata = 2;
  REFUSED(VT_USAGE, "a list of the contents");
  c.metadata = pair;
  REFUSED(VT_USAGE, "'k' is given twice");
  pair[1].key = "\xff";
  REFUSED(VT_USAGE, "not UTF-8");
  c = make_contents(w);
  c.n_digests = 1;
  c.digests = pair;
  REFUSED(VT_USAGE, "not 64 hexadecimal digits");
  c = make_contents(w);
  c.state = file_path("missing");
  REFUSED(VT_IO, "missing");
  CHECK(!vt_bundle_is_at(path)); /* nothing was written */
  c = make_contents(w);
  shell("mkdir -p mine/in && touch mine/file");
  path = file_path("mine");
  REFUSED(VT_IO, "the folder will not be replaced: ");
  shell("rm -rf h && cp -r b h && touch h/mine");
  path = file_path("h");
  REFUSED(VT_IO, "'mine' is in the bundle, but not in its manifest");
  shell("test -e mine/file && test -e h/mine");
  path = file_path("mine.vtz");
  shell("mkdir mine.vtz");
  REFUSED(VT_IO, "is not a regular file");
  path = file_path("state.safetensors");
  REFUSED(VT_IO, "is not a folder");
  path = file_path("no/such.vtz");
  REFUSED(VT_IO, "No such file");
  shell("test -z \"$(ls -A | grep volta-)\""); /* no staging folder is left */
  vt_weights_free(w);
}

static void test_usage(void) {
  static const char other[] = "volta 1\nmodel m {\n  input x: f32[2]\n  output x\n}\n";
  vt_bundle *b = NULL;
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {.code = VT_BUDGET, .text = "stale"};
  expect(vt_bundle_open(NULL, NULL, &b, &d), &d, VT_USAGE, "NULL");
  expect(vt_bundle_open("x", NULL, NULL, &d), &d, VT_USAGE, "NULL");
  expect(vt_bundle_check(NULL, &d), &d, VT_USAGE, "NULL");
  expect(vt_bundle_load_state(NULL, NULL, &d), &d, VT_USAGE, "NULL");
  CHECK(!vt_bundle_is_at(NULL) && vt_bundle_model(NULL) == NULL && vt_bundle_plans(NULL) == 0);
  vt_bundle_free(NULL);
  CHECK(vt_bundle_open(file_path("b"), NULL, &b, &d) == VT_OK);
  d = (vt_diag){.code = VT_OK};
  CHECK(vt_model_parse(other, strlen(other), NULL, &m, &d) == VT_OK);
  const vt_options o = {.size = sizeof o, .backend = "reference", .bundle = b};
  if (m != NULL)
    expect(vt_program_new(m, &o, &p, &d), &d, VT_USAGE, "the model is not that of the bundle");
  vt_model_free(m);
  vt_bundle_free(b);
}

/* A plan that was made by another build, or is damaged, is not used, and the run is right. */
static void count_note(void *user, const char *text) {
  CHECK(strstr(text, "a plan of the bundle is ignored") != NULL);
  ++*(int *)user;
}

static void test_damaged_plan_is_not_used(const uint8_t expected[32]) {
  vt_bundle *b = NULL;
  uint8_t digest[32];
  int notes = 0;
  const char *path =
      changed("printf X | dd of=$(ls plans/*) bs=1 seek=40 conv=notrunc 2>/dev/null");
  CHECK(vt_bundle_open(path, NULL, &b, NULL) == VT_OK);
  const vt_options o = {.bundle = b, .note = count_note, .note_user = &notes};
  CHECK(run_digest(vt_bundle_model(b), &o, digest, NULL) == VT_OK);
  CHECK(memcmp(digest, expected, 32) == 0);
  CHECK(vt_bundle_plans_used(b) == 0 && notes == 1);
  vt_bundle_free(b);
}

/* ---- allocations ---- */

static vt_status open_and_check(const char *path, vt_fault *f) {
  const vt_alloc a = vt_fault_alloc(f);
  vt_bundle *b = NULL;
  uint8_t digest[32];
  vt_diag d = {.code = VT_OK};
  vt_status s = vt_bundle_open(path, &a, &b, &d);
  if (s == VT_OK) s = vt_bundle_check(b, &d);
  const vt_options o = {.alloc = &a, .bundle = b};
  if (s == VT_OK) s = run_digest(vt_bundle_model(b), &o, digest, &d);
  CHECK(s == d.code);
  vt_bundle_free(b);
  return s;
}

static vt_status write_once(const char *path, vt_fault *f) {
  const vt_alloc a = vt_fault_alloc(f);
  vt_weights *w = make_weights(1);
  vt_diag d = {.code = VT_OK};
  const vt_status s = write_all(path, w, &a, &d);
  CHECK(s == d.code);
  vt_weights_free(w);
  return s;
}

static void fail_each_allocation(vt_status (*call)(const char *path, vt_fault *f),
                                 const char *name) {
  char path[600];
  vt_fault f = {.left = 0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK(call(path, &f) == VT_OK && f.live == 0);
  const long asked = f.asked;
  CHECK(asked > 20);
  for (long i = 1; i <= asked; i++) {
    f = (vt_fault){.left = i};
    const vt_status s = call(path, &f);
    CHECK(s == VT_NOMEM && f.live == 0);
    if (s != VT_NOMEM || f.live != 0)
      fprintf(stderr, "  %s, allocation %ld of %ld: %s, %ld blocks are left\n", path, i, asked,
              vt_status_name(s), f.live);
  }
}

int main(void) {
  uint8_t expected[32];
  unsetenv("VOLTA_BACKEND");
  make_folder(1);
  test_written_is_opened();
  test_open_bundle_is_not_replaced();
  test_folders_refused();
  test_manifests_refused();
  test_every_damaged_byte();
  test_writing_refused();
  test_usage();
  vt_weights *w = make_weights(1);
  run_without_bundle(w, 1, expected);
  vt_weights_free(w);
  test_damaged_plan_is_not_used(expected);
  fail_each_allocation(open_and_check, "b.vtz");
  fail_each_allocation(open_and_check, "b");
  fail_each_allocation(write_once, "o.vtz");
  fail_each_allocation(write_once, "o");
  TEST_DONE();
}
