/* SPDX-License-Identifier: Apache-2.0
 * trials_test.c - a trial of a GPU that passed is recorded in the cache's folder. Another process
 * does not repeat it, unless something that it depends on has changed. A failed trial is not
 * recorded, and a file that is damaged or that others may have written is ignored, with a note: a
 * text for the caller's callback. The only file is the one whose path count_files_and_save_path
 * saved last. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cache.h"
#include "wrapped_test.h"

/* Texts of all notes of one process; path of a file in the folder. */
static char folder[64], notes[2048], only[512];
static vt_model *model;

static void append_note(void *user, const char *text) {
  (void)user;
  strncat(notes, text, sizeof notes - strlen(notes) - 1);
}

/* Counts the files of the folder whose name ends in `suffix`; writes the path of the last one to
 * `only`. */
static int count_files_and_save_path(const char *suffix) {
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

static void remove_cache_files(void) {
  while (count_files_and_save_path(".trial") + count_files_and_save_path(".plan") > 0)
    if (unlink(only) != 0) CHECK(rmdir(only) == 0);
}

/* ---- one process ---- */

typedef struct outcome {
  vt_status status;
  uint32_t runs;    /* number of runs of probes */
  uint64_t trials;  /* number of trials that were found in the cache */
  uint64_t ignored; /* number of files that were ignored with a note */
} outcome;

/* Stands for a new process that opens a program of `model`: no trial of an earlier one is
 * remembered, and the device behaves as `wrapped` says. */
static outcome open_as_new_process(const char *backend, const char *isa, uint64_t disk_limit) {
  const vt_cache_options co = {
      .size = sizeof co, .dir = folder, .note = append_note, .disk_bytes = disk_limit};
  vt_cache_counts n = {.size = sizeof n};
  vt_cache *c = NULL;
  vt_program *p = NULL;
  const uint32_t row = backend[0] == 'i' ? WRAPPED_ISLAND : WRAPPED_FAKE;
  const uint32_t before = wrapped.calls[row][WRAPPED_RUN];
  notes[0] = 0;
  wrapped_forget_capability_trials();
  CHECK(vt_cache_new(&co, &c, NULL) == VT_OK);
  const vt_options o = {.size = sizeof o, .backend = backend, .isa = isa, .cache = c};
  const vt_status s = vt_program_new(model, &o, &p, NULL);
  vt_program_free(p);
  vt_cache_info(c, &n);
  vt_cache_free(c);
  return (outcome){s, wrapped.calls[row][WRAPPED_RUN] - before, n.trials, n.ignored};
}

/* Expects that the trial of the device runs. */
static void expect_trial_runs(const char *backend, const char *isa) {
  const outcome x = open_as_new_process(backend, isa, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0);
}

/* Expects that the trial of the device is found in the cache and does not run. */
static void expect_trial_found(const char *backend, const char *isa) {
  const outcome x = open_as_new_process(backend, isa, 0);
  CHECK(x.status == VT_OK && x.runs == 0 && x.trials == 1 && x.ignored == 0);
}

/* ---- what a recorded trial depends on ---- */

static void test_what_repeats_a_trial(void) {
  struct stat st;
  wrapped_reset();
  remove_cache_files();
  expect_trial_runs("fake", NULL);
  CHECK(count_files_and_save_path(".trial") == 1 && stat(only, &st) == 0 &&
        (st.st_mode & 0777) == 0600);
  expect_trial_found("fake", NULL);
  expect_trial_found("fake:0", NULL);
  expect_trial_found("gpu", NULL);
  /* The device now breaks what it declares, but nobody notices, because no trial runs. */
  wrapped.broken_capability = VT_BK_SUBNORMALS;
  expect_trial_found("fake", NULL);
  wrapped_reset();
  expect_trial_runs("fake:1", NULL);
  expect_trial_runs("fake", "avx2");
  wrapped.fingerprint = "fake-1 of another driver";
  expect_trial_runs("fake", NULL);
  expect_trial_found("fake", NULL);
  wrapped_reset();
  wrapped.declares &= ~VT_BK_REGIONS;
  expect_trial_runs("fake", NULL);
  wrapped_reset();
  expect_trial_found("fake", NULL); /* no file of a trial has replaced another */
  expect_trial_found("fake:1", NULL);
  expect_trial_found("fake", "avx2");
  CHECK(count_files_and_save_path(".trial") == 5);
}

/* Each capability has a file of its own: for a model that needs one more capability, only that one
 * is tried. */
static void test_one_file_per_capability(void) {
  vt_model *more = model_of_expression("x: f32[4]", "neg(exp(x))"), *least = model;
  wrapped_reset();
  remove_cache_files();
  expect_trial_runs("fake", NULL);
  model = more;
  outcome x = open_as_new_process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 1 &&
        count_files_and_save_path(".trial") == 2);
  x = open_as_new_process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 0 && x.trials == 2);
  model = least;
  vt_model_free(more);
}

/* A trial is not recorded if it failed, if the device accepted no probe, or if the device is not a
 * built-in GPU. Plug-ins are not GPUs (plugins_check.c tests that). */
static void test_unrecorded_trials(void) {
  wrapped_reset();
  remove_cache_files();
  wrapped.broken_capability = VT_BK_SUBNORMALS;
  for (int i = 0; i < 2; i++) {
    const outcome x = open_as_new_process("fake", NULL, 0);
    CHECK(x.status == VT_BACKEND && x.runs == 1 && x.trials == 0 &&
          count_files_and_save_path(".trial") == 0);
  }
  wrapped_reset();
  wrapped.only_op = VT_OP_neg; /* the device accepts no probe */
  vt_model *negative = model_of_expression("x: f32[4]", "neg(x)"), *least = model;
  model = negative;
  CHECK(open_as_new_process("fake", NULL, 0).status == VT_OK &&
        count_files_and_save_path(".trial") == 0);
  model = least;
  vt_model_free(negative);
  wrapped_reset();
  CHECK(open_as_new_process("island:1", NULL, 0).runs == 1 &&
        open_as_new_process("island:1", NULL, 0).runs == 1);
  CHECK(count_files_and_save_path(".trial") == 0);
}

/* ---- hostile files and folders ---- */

static void overwrite_only_file(const void *bytes, size_t n, mode_t mode) {
  const int fd = open(only, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0 && close(fd) == 0);
}

/* Expects that the file `only` is ignored with a note and then replaced. */
static void expect_file_ignored(const char *why) {
  const outcome x = open_as_new_process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0 && x.ignored == 1);
  CHECK(strstr(notes, "the cached trial is ignored, ") == notes && strstr(notes, why) != NULL);
  if (strstr(notes, why) == NULL) fprintf(stderr, "  expected '%s': %s\n", why, notes);
  expect_trial_found("fake", NULL);
}

static void test_hostile_files_are_ignored(void) {
  static char bytes[8192];
  wrapped_reset();
  remove_cache_files();
  expect_trial_runs("fake", NULL);
  CHECK(count_files_and_save_path(".trial") == 1);
  const int fd = open(only, O_RDONLY);
  const ssize_t n = read(fd, bytes, sizeof bytes);
  CHECK(close(fd) == 0 && n > 100 && n < (ssize_t)sizeof bytes);
  for (ssize_t i = 0; i < n; i += 37) { /* changes a byte in every part of the key */
    bytes[i] ^= 1;
    overwrite_only_file(bytes, (size_t)n, 0600);
    bytes[i] ^= 1;
    expect_file_ignored("it is damaged");
  }
  overwrite_only_file("", 0, 0600);
  expect_file_ignored("it is damaged");
  overwrite_only_file(bytes, (size_t)n - 1, 0600);
  expect_file_ignored("it is damaged");
  overwrite_only_file(bytes, (size_t)n + 1, 0600);
  expect_file_ignored("it is damaged");
  overwrite_only_file(bytes, (size_t)n, 0622);
  expect_file_ignored("others than its owner may write");
  CHECK(unlink(only) == 0 && mkfifo(only, 0600) == 0);
  expect_file_ignored("not a regular file");
  CHECK(unlink(only) == 0 && symlink("/dev/null", only) == 0);
  expect_file_ignored("cannot be opened");
  if (geteuid() == 0) {
    CHECK(chown(only, 12345, 12345) == 0);
    expect_file_ignored("belongs to another user");
  }
  const outcome x = open_as_new_process("fake", NULL, 20); /* a disk limit too small for the file */
  CHECK(x.status == VT_OK && x.runs == 1 && strstr(notes, "the trial is not cached, ") != NULL);
}

static void expect_folder_refused(const char *why) {
  const outcome x = open_as_new_process("fake", NULL, 0);
  CHECK(x.status == VT_OK && x.runs == 1 && x.trials == 0 && x.ignored == 1);
  CHECK(strstr(notes, why) != NULL);
}

static void test_hostile_folders_are_refused(void) {
  wrapped_reset();
  remove_cache_files();
  expect_trial_runs("fake", NULL);
  CHECK(chmod(folder, 0777) == 0);
  expect_folder_refused("others than its owner");
  CHECK(chmod(folder, 0700) == 0);
  expect_trial_found("fake", NULL);
  if (geteuid() != 0) return;
  CHECK(chown(folder, 12345, 12345) == 0);
  expect_folder_refused("belongs to another user");
  CHECK(chown(folder, 0, 0) == 0);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  unsetenv("VOLTA_ISA");
  snprintf(folder, sizeof folder, "/tmp/volta-trials-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  model = model_of_expression("x: f32[4]", "neg(x + x)");
  test_what_repeats_a_trial();
  test_one_file_per_capability();
  test_unrecorded_trials();
  test_hostile_files_are_ignored();
  test_hostile_folders_are_refused();
  remove_cache_files();
  CHECK(rmdir(folder) == 0);
  vt_model_free(model);
  TEST_DONE();
}
