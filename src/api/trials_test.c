/* SPDX-License-Identifier: Apache-2.0
 * trials_test.c - a trial of a GPU that passed is kept in the folder of a cache: another process
 * does not make it again, unless anything that it depends on is another. What failed is not kept,
 * and a file that is damaged, or that others may have written, is not believed. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cache.h"
#include "wrapped_test.h"

static char folder[64], notes[2048], only[512];
static vt_model *model;

static void take_note(void *user, const char *text) {
  (void)user;
  strncat(notes, text, sizeof notes - strlen(notes) - 1);
}

/* How many files of the folder end in `suffix`; the path of the last is in `only`. */
static int files(const char *suffix) {
  int n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    const char *dot = strrchr(e->d_name, '.');
    if (dot == NULL || strcmp(dot, suffix) != 0) continue;
    snprintf(only, sizeof only, "%s/%.255s", folder, e->d_name);
    n++;
  }
  if (dir != NULL) closedir(dir);
  return n;
}

static void empty_folder(void) {
  while (files(".trial") + files(".plan") > 0)
    if (unlink(only) != 0) CHECK(rmdir(only) == 0);
}

/* ---- one process ---- */

typedef struct outcome {
  vt_status status;
  uint32_t runs;    /* of models that the capability was tried with */
  uint64_t trials;  /* that were found */
  uint64_t ignored; /* notes */
} outcome;

/* A process that needs subnormals: it knows of no trial, and has `wrapped` as it is. */
static outcome process(const char *backend, const char *isa, uint64_t disk) {
  const vt_cache_options co = {
      .size = sizeof co, .dir = folder, .note = take_note, .disk_bytes = disk};
  vt_cache_counts n = {.size = sizeof n};
  vt_cache *c = NULL;
  vt_program *p = NULL;
  const uint32_t row = backend[0] == 'i' ? WRAPPED_ISLAND : WRAPPED_FAKE;
  const uint32_t before = wrapped.calls[row][WRAPPED_RUN];
  notes[0] = 0;
  wrapped_forget();
  CHECK(vt_cache_new(&co, &c, NULL) == VT_OK);
  const vt_options o = {.size = sizeof o, .backend = backend, .isa = isa, .cache = c};
  const vt_status s = vt_program_new(model, &o, &p, NULL);
  vt_program_free(p);
  vt_cache_info(c, &n);
  vt_cache_free(c);
  return (outcome){s, wrapped.calls[row][WRAPPED_RUN] - before, n.trials, n.ignored};
}

static void expect_tried(const char *backend, const char *isa) {
  const outcome x = process(backend, isa, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0);
}

static void expect_found(const char *backend, const char *isa) {
  const outcome x = process(backend, isa, 0);
  CHECK(x.status == VT_OK && x.runs == 0 && x.trials == 1 && x.ignored == 0);
}

/* ---- what it depends on ---- */

static void test_kept(void) {
  struct stat st;
  wrapped_reset();
  empty_folder();
  expect_tried("fake", NULL);
  CHECK(files(".trial") == 1 && stat(only, &st) == 0 && (st.st_mode & 0777) == 0600);
  expect_found("fake", NULL);
  expect_found("fake:0", NULL);
  expect_found("gpu", NULL);
  wrapped.breaks = VT_BK_SUBNORMALS; /* a trial would see it, and there is none */
  expect_found("fake", NULL);
  wrapped_reset();
  expect_tried("fake:1", NULL);
  expect_tried("fake", "avx2");
  wrapped.print = "fake-1 of another driver";
  expect_tried("fake", NULL);
  expect_found("fake", NULL);
  wrapped_reset();
  wrapped.has &= ~VT_BK_REGIONS;
  expect_tried("fake", NULL);
  wrapped_reset();
  expect_found("fake", NULL); /* and none of these took the place of another */
  expect_found("fake:1", NULL);
  expect_found("fake", "avx2");
  CHECK(files(".trial") == 5);
}

/* One file for each capability: what another model needs besides is tried. */
static void test_each_capability(void) {
  vt_model *more = model_of("x: f32[4]", "neg(exp(x))"), *least = model;
  wrapped_reset();
  empty_folder();
  expect_tried("fake", NULL);
  model = more;
  outcome x = process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 1 && files(".trial") == 2);
  x = process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 0 && x.trials == 2);
  model = least;
  vt_model_free(more);
}

/* Neither what failed nor what was not tried, and only of GPUs that are built in: a plug-in is of
 * another kind (plugins_check.c). */
static void test_not_kept(void) {
  wrapped_reset();
  empty_folder();
  wrapped.breaks = VT_BK_SUBNORMALS;
  for (int i = 0; i < 2; i++) {
    const outcome x = process("fake", NULL, 0);
    CHECK(x.status == VT_BACKEND && x.runs == 1 && x.trials == 0 && files(".trial") == 0);
  }
  wrapped_reset();
  wrapped.accepts = VT_OP_neg; /* no model is accepted */
  vt_model *negative = model_of("x: f32[4]", "neg(x)"), *least = model;
  model = negative;
  CHECK(process("fake", NULL, 0).status == VT_OK && files(".trial") == 0);
  model = least;
  vt_model_free(negative);
  wrapped_reset();
  CHECK(process("island:1", NULL, 0).runs == 1 && process("island:1", NULL, 0).runs == 1);
  CHECK(files(".trial") == 0);
}

/* ---- hostile files and folders ---- */

static void write_over(const void *bytes, size_t n, mode_t mode) {
  const int fd = open(only, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0 && close(fd) == 0);
}

/* It is noted and not believed, and replaced. */
static void expect_ignored(const char *why) {
  const outcome x = process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0 && x.ignored == 1);
  CHECK(strstr(notes, "the kept trial is ignored, ") == notes && strstr(notes, why) != NULL);
  if (strstr(notes, why) == NULL) fprintf(stderr, "  expected '%s': %s\n", why, notes);
  expect_found("fake", NULL);
}

static void test_files(void) {
  static char bytes[8192];
  wrapped_reset();
  empty_folder();
  expect_tried("fake", NULL);
  CHECK(files(".trial") == 1);
  const int fd = open(only, O_RDONLY);
  const ssize_t n = read(fd, bytes, sizeof bytes);
  CHECK(close(fd) == 0 && n > 100 && n < (ssize_t)sizeof bytes);
  for (ssize_t i = 0; i < n; i += 37) { /* of every part */
    bytes[i] ^= 1;
    write_over(bytes, (size_t)n, 0600);
    bytes[i] ^= 1;
    expect_ignored("it is damaged");
  }
  write_over("", 0, 0600);
  expect_ignored("it is damaged");
  write_over(bytes, (size_t)n - 1, 0600);
  expect_ignored("it is damaged");
  write_over(bytes, (size_t)n + 1, 0600);
  expect_ignored("it is damaged");
  write_over(bytes, (size_t)n, 0622);
  expect_ignored("others than its owner may write");
  CHECK(unlink(only) == 0 && mkfifo(only, 0600) == 0);
  expect_ignored("not a regular file");
  CHECK(unlink(only) == 0 && symlink("/dev/null", only) == 0);
  expect_ignored("cannot be opened");
  if (geteuid() == 0) {
    CHECK(chown(only, 12345, 12345) == 0);
    expect_ignored("belongs to another user");
  }
  const outcome x = process("fake", NULL, 20); /* no room for it */
  CHECK(x.status == VT_OK && x.runs == 1 && strstr(notes, "the trial is not kept, ") != NULL);
}

static void expect_no_folder(const char *why) {
  const outcome x = process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0 && x.ignored == 1);
  CHECK(strstr(notes, why) != NULL);
}

static void test_folders(void) {
  wrapped_reset();
  empty_folder();
  expect_tried("fake", NULL);
  CHECK(chmod(folder, 0777) == 0);
  expect_no_folder("others than its owner");
  CHECK(chmod(folder, 0700) == 0);
  expect_found("fake", NULL);
  if (geteuid() != 0) return;
  CHECK(chown(folder, 12345, 12345) == 0);
  expect_no_folder("belongs to another user");
  CHECK(chown(folder, 0, 0) == 0);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  unsetenv("VOLTA_ISA");
  snprintf(folder, sizeof folder, "/tmp/volta-trials-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  model = model_of("x: f32[4]", "neg(x + x)");
  test_kept();
  test_each_capability();
  test_not_kept();
  test_files();
  test_folders();
  empty_folder();
  CHECK(rmdir(folder) == 0);
  vt_model_free(model);
  TEST_DONE();
}
