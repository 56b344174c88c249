/* SPDX-License-Identifier: Apache-2.0
 * plugins_check.c - tests that the gateway refuses every plug-in that breaks a rule, for its own
 * reason, without any effect on this process, and lets in those that keep the rules.
 *
 *   plugins_check FOLDER   FOLDER has the built plug-ins of tests/plugins */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test_plugin.h"
#include "probe.h"
#include "probes.h"
#include "vt_clock.h"
#include "vt_file.h"
#include "vt_gate.h"
#include "vt_test.h"

static const char *built;                            /* the folder of the built plug-ins */
static char scratch[] = "/tmp/volta-plugins-XXXXXX"; /* a folder for files that the tests create */

/* ---- the state of this process ---- */

static int count_open_files(void) {
  int n = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL) n++;
  if (folder != NULL) closedir(folder);
  return n;
}

static int has_children(void) { return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD; }

/* Runs a small model on the reference; refused plug-ins must not change its digest. */
static void run_reference(uint8_t out[32]) {
  static const char text[] =
      "volta 1\nmodel m {\n  input x: f32[4, 8]\n  input y: f32[4, 8]\n"
      "  z = relu(x * y + 1.5) - exp(x)\n  output z\n}\n";
  const vt_options o = {.size = sizeof o, .backend = "reference"};
  vt_model *m = NULL;
  vt_program *p = NULL;
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &m, NULL) == VT_OK);
  CHECK(m != NULL && vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(vt_program_random_inputs(p, 7, NULL) == VT_OK && vt_program_run(p, NULL) == VT_OK);
  CHECK(vt_program_digest(p, out, NULL) == VT_OK && !vt_program_unadmitted(p));
  vt_program_free(p);
  vt_model_free(m);
}

/* Writes the path of the built plug-in `name` or, if the name starts with +, of a file in the
 * scratch folder. */
static void write_plugin_path(const char *name, char out[256]) {
  snprintf(out, 256, "%s/%s.so", name[0] == '+' ? scratch : built, name + (name[0] == '+'));
}

/* ---- plug-ins that are refused ---- */

static const struct row {
  /* name of a built plug-in, or + and the name of a file that create_files_that_are_not_plugins
   * writes */
  const char *name;
  vt_status want;
  const char *why; /* part of the message with which the plug-in is refused */
  uint32_t ms;     /* time limit of the probe, which is then called directly; 0: open a device */
} rows[] = {
    {"+missing", VT_BACKEND, "cannot open it: No such file", 0},
    {"+folder", VT_BACKEND, "it is a folder", 0},
    {"+fifo", VT_BACKEND, "it is not a regular file", 0},
    {"+empty", VT_BACKEND, "it is not an ELF file", 0},
    {"+text", VT_BACKEND, "it is not an ELF file", 0},
    {"+cut_head", VT_BACKEND, "it cannot be loaded: ", 0},
    {"+cut_half", VT_BACKEND, "", 0},
    {"+machine", VT_BACKEND, "it cannot be loaded: ", 0},
    {"+program", VT_BACKEND, "it cannot be loaded: cannot dynamically load", 0},
    {"no_symbol", VT_ABI, "it has no symbol vt_backend_query", 0},
    {"undefined_symbol", VT_BACKEND, "it cannot be loaded: undefined symbol: nobody_has_this", 0},
    {"no_table", VT_ABI, "it returns no table", 0},
    {"other_major", VT_ABI, "it speaks version 2 of the ABI, this is version 1", 0},
    {"short_table", VT_ABI, "its table has 96 bytes, version 1 has 128", 0},
    {"huge_table", VT_ABI, "its table cannot have 1048576 bytes", 0},
    {"odd_table", VT_ABI, "its table cannot have 180 bytes", 0},
    {"holed_table", VT_ABI, "its table has no copy", 0},
    {"torn_table", VT_BACKEND, "it crashed (SIGSEGV) while its table was asked for", 0},
    {"no_name", VT_ABI, "its name is empty or longer than 60 bytes", 0},
    {"caps_beyond", VT_ABI, "it writes beyond the size it is given for its capabilities", 0},
    {"caps_short", VT_ABI, "its capabilities cannot have 4 bytes", 0},
    {"caps_alignment", VT_ABI, "it wants tensors aligned to 48 bytes", 0},
    {"caps_lines", VT_ABI, "its fingerprint has control characters", 0},
    {"caps_error", VT_BACKEND, "it cannot state its capabilities: out of memory", 0},
    {"count_error", VT_BACKEND, "it cannot count its devices: the driver  [31mis old", 0},
    {"no_devices", VT_BACKEND, "it has 0 devices, there is no number 0", 0},
    {"open_error", VT_BACKEND, "it cannot open its device: unknown status", 0},
    {"open_nothing", VT_ABI, "it reports an open device but returns none", 0},
    {"listed_lies", VT_ABI, "it answers neither 0 nor 1", 0},
    {"prints", VT_ABI, "it prints 'hello from a plug-in'", 0},
    {"prints_errors", VT_ABI, "it prints ' [2Jwarning'", 0},
    {"prints_report", VT_BACKEND, "it ended its process (exit 0) while its table was asked for", 0},
    {"rounding", VT_ABI, "it changes the floating-point mode of its host", 0},
    {"crash_load", VT_BACKEND, "it crashed (SIGSEGV) while it was loaded", 0},
    {"crash_end", VT_BACKEND, "it crashed (SIGSEGV) while its process came to an end", 0},
    {"crash_query", VT_BACKEND, "it crashed (SIGSEGV) while its table was asked for", 0},
    {"crash_open", VT_BACKEND, "it crashed (SIGSEGV) while its device was opened", 0},
    {"crash_caps", VT_BACKEND, "it crashed (SIGSEGV) while its capabilities were asked for", 0},
    {"crash_close", VT_BACKEND, "it crashed (SIGSEGV) while its device was closed", 0},
    {"abort_query", VT_BACKEND, "it crashed (SIGABRT) while its table was asked for", 0},
    {"abort_open", VT_BACKEND, "it crashed (SIGABRT) while its device was opened", 0},
    {"abort_caps", VT_BACKEND, "it crashed (SIGABRT) while its capabilities were asked for", 0},
    {"exit_query", VT_BACKEND, "it ended its process (exit 0) while its table was asked for", 0},
    {"exit_open", VT_BACKEND, "it ended its process (exit 3) while its device was opened", 0},
    {"exit_caps", VT_BACKEND, "it ended its process (exit 0) while its capabilities were", 0},
    {"hang_load", VT_BACKEND, "it did not finish within 0.4 s while it was loaded", 400},
    {"hang_open", VT_BACKEND, "it did not finish within 0.4 s while its device was opened", 400},
    {"hang_caps", VT_BACKEND, "it did not finish within 0.4 s while its capabilities", 400},
    {"prints_forever", VT_BACKEND, "it did not finish within 0.4 s while its table was", 400},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Opens a device; `waive_admission`: 1 waives admission. */
static vt_status try_to_open_device(const char *path, int waive_admission, vt_diag *d) {
  const vt_device_options how = {.admission =
                                     waive_admission ? VT_ADMISSION_WAIVED : VT_ADMISSION_REQUIRED};
  vt_device *dev = NULL;
  const vt_status s = vt_device_open_with_options(&how, path, vt_alloc_default(), &dev, d);
  CHECK((s == VT_OK) == (dev != NULL));
  if (dev != NULL) CHECK(vt_device_unadmitted(dev) && vt_device_plugin_digest(dev) != NULL);
  vt_device_close(dev);
  return s;
}

/* Probes a plug-in in a process of its own, with a time limit. */
static vt_status run_probe(const char *path, uint32_t ms, vt_diag *d) {
  vt_sealed image;
  CHECK(vt_sealed_read(path, 1 << 24, &image, NULL) == VT_OK);
  const vt_status s = vt_probe_run(&image, 0, path, ms, d);
  vt_sealed_close(&image);
  return s;
}

static void test_rule_breakers_refused(const uint8_t reference_digest[32]) {
  for (size_t i = 0; i < ROWS; i++) {
    char path[256];
    vt_diag d = {0};
    uint8_t again[32];
    const int files = count_open_files();
    write_plugin_path(rows[i].name, path);
    const vt_status s =
        rows[i].ms != 0 ? run_probe(path, rows[i].ms, &d) : try_to_open_device(path, 1, &d);
    const int right = s == rows[i].want && strstr(d.text, rows[i].why) != NULL &&
                      strstr(d.text, "is refused: ") != NULL && vt_status_exit(s) == 5;
    CHECK(right);
    if (!right) fprintf(stderr, "  %s: %s [%s]\n", rows[i].name, d.text, vt_status_name(s));
    CHECK(count_open_files() == files && !has_children());
    run_reference(again);
    CHECK(memcmp(reference_digest, again, 32) == 0);
  }
}

/* ---- files that are not plug-ins ---- */

static void write_file(const char *name, const void *p, size_t n) {
  char path[256];
  write_plugin_path(name, path);
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

/* Copies a plug-in or a file. `part`: 0 the whole file, 1 its first 64 bytes, n its first nth part.
 * `machine`: 1 changes the ELF machine. */
static void copy_file(const char *from, const char *to, size_t part, int machine) {
  vt_file f;
  char path[256];
  if (from[0] != '/') write_plugin_path(from, path);
  CHECK(vt_file_read(from[0] != '/' ? path : from, 1 << 26, vt_alloc_default(), &f, NULL) == VT_OK);
  if (machine)
    f.data[18] = 0xf3, f.data[19] = 0; /* e_machine: RISC-V, on which Volta does not run */
  write_file(to, f.data, part == 0 ? f.size : part == 1 ? 64 : f.size / part);
  vt_file_done(&f);
}

static void create_files_that_are_not_plugins(void) {
  char path[256];
  write_plugin_path("+folder", path);
  CHECK(mkdir(path, 0700) == 0);
  write_plugin_path("+fifo", path);
  CHECK(mkfifo(path, 0600) == 0);
  write_file("+empty", "", 0);
  write_file("+text", "#!/bin/sh\n", 10);
  copy_file("good", "+cut_head", 1, 0);
  copy_file("good", "+cut_half", 2, 0);
  copy_file("good", "+machine", 0, 1);
  copy_file("/proc/self/exe", "+program", 0, 0);
}

/* ---- plug-ins that are let in ---- */

static void test_unadmitted_plugins_refused(void) {
  char path[256];
  vt_diag d = {0};
  write_plugin_path("good", path);
  CHECK(try_to_open_device(path, 0, &d) == VT_BACKEND && strstr(d.text, "is not admitted") != NULL);
  CHECK(strstr(d.hint, "--allow-unadmitted") != NULL);
  memset(&d, 0, sizeof d);
  /* No code of a plug-in that is not admitted runs: even one that would hang is refused at once. */
  write_plugin_path("hang_query", path);
  CHECK(try_to_open_device(path, 0, &d) == VT_BACKEND && strstr(d.text, "is not admitted") != NULL);
}

/* Opens the device PATH:ORDINAL and checks its name. */
static void check_device_opens(const char *path, const char *ordinal, const char *want_name) {
  char name[300];
  vt_diag d = {0};
  vt_device *dev = NULL;
  const vt_device_options how = {.admission = VT_ADMISSION_WAIVED};
  snprintf(name, sizeof name, "%s%s", path, ordinal);
  CHECK(vt_device_open_with_options(&how, name, vt_alloc_default(), &dev, &d) == VT_OK);
  if (dev == NULL) {
    fprintf(stderr, "  %s\n", d.text);
    return;
  }
  CHECK(strcmp(vt_device_name(dev), want_name) == 0);
  CHECK(strlen(vt_device_target(dev).fingerprint) == 64 + 1 + strlen("plugin-1"));
  vt_device_close(dev);
}

static void test_good_plugins_open(void) {
  char path[256];
  write_plugin_path("good", path);
  check_device_opens(path, "", "good.so:0");
  check_device_opens(path, ":2", "good.so:2");
  const int files = count_open_files();
  for (int i = 0; i < 100; i++)
    check_device_opens(path, ":0", "good.so:0"); /* loads the file only once */
  CHECK(count_open_files() == files && !has_children());
  vt_diag d = {0};
  char name[300];
  snprintf(name, sizeof name, "%s:3", path);
  CHECK(try_to_open_device(name, 1, &d) == VT_BACKEND && strstr(d.text, "no number 3") != NULL);
}

/* ---- versions of the structs ---- */

/* Builds a program with the output y = `expression` on a plug-in. */
static vt_status try_to_build_program(const char *path, const char *expression, vt_diag *d) {
  const vt_policy policy = {.size = sizeof policy, .admission = VT_ADMISSION_WAIVED};
  const vt_options o = {.size = sizeof o, .backend = path, .policy = &policy};
  char text[200];
  vt_model *m = NULL;
  vt_program *p = NULL;
  const int n = snprintf(text, sizeof text,
                         "volta 1\nmodel m {\n  input x: f32[4]\n  output y = %s\n}\n", expression);
  CHECK(vt_model_parse(text, (size_t)n, NULL, &m, NULL) == VT_OK);
  const vt_status s = vt_program_new(m, &o, &p, d);
  CHECK((s == VT_OK) == (p != NULL));
  vt_program_free(p);
  vt_model_free(m);
  return s;
}

/* Plug-ins with older, newer or minimal structs can be opened. They refuse the model x + x, and
 * `why` is part of the message. */
static void test_structs_of_other_sizes(void) {
  static const struct {
    const char *name, *why;
    vt_status want;
  } later[] = {{"caps_old", "does not promise the bits of the reference", VT_UNSUPPORTED},
               {"good", "does not run 'y' = add giving f32[4]", VT_UNSUPPORTED},
               {"caps_unknown", "does not run 'y' = add giving f32[4]", VT_UNSUPPORTED},
               {"least_table", "does not run 'y' = add giving f32[4]", VT_UNSUPPORTED},
               {"liar", "declares preserves_subnormals and does not keep it", VT_BACKEND}};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
    char path[256], name[80];
    vt_diag d = {0};
    write_plugin_path(later[i].name, path);
    snprintf(name, sizeof name, "%s.so:0", later[i].name);
    check_device_opens(path, "", name);
    CHECK(try_to_build_program(path, "x + x", &d) == later[i].want &&
          strstr(d.text, later[i].why) != NULL);
    CHECK(strstr(d.text, name) != NULL);
    if (strstr(d.text, later[i].why) == NULL) fprintf(stderr, "  %s: %s\n", name, d.text);
  }
}

static vt_device *open_without_admission(const char *path) {
  const vt_device_options how = {.admission = VT_ADMISSION_WAIVED};
  vt_device *dev = NULL;
  CHECK(vt_device_open_with_options(&how, path, vt_alloc_default(), &dev, NULL) == VT_OK);
  if (dev == NULL) exit(1);
  return dev;
}

/* A plug-in with the file name `reference` is not the reference. */
static void test_plugin_named_reference(void) {
  char path[256], there[256];
  vt_diag d = {0};
  snprintf(there, sizeof there, "%s/reference", scratch);
  copy_file("liar", "+false", 0, 0);
  write_plugin_path("+false", path);
  CHECK(rename(path, there) == 0);
  vt_device *dev = open_without_admission(there), *true_one = open_without_admission("reference");
  CHECK(strcmp(vt_device_name(dev), vt_device_name(true_one)) == 0);
  CHECK(!vt_device_same_backend(dev, true_one) && !vt_device_same_backend(true_one, dev));
  vt_device_close(dev);
  vt_device_close(true_one);
  CHECK(try_to_build_program(there, "x + x", &d) == VT_BACKEND);
  CHECK(strstr(d.text, "and does not keep it") != NULL);
}

/* Two plug-ins are the same if their files have the same content, whatever their paths. */
static void test_same_content_is_same_backend(void) {
  char path[256], copied[256], other[260], number[260];
  copy_file("good", "+good_again", 0, 0);
  write_plugin_path("good", path);
  write_plugin_path("+good_again", copied);
  write_plugin_path("good_too", other);
  snprintf(number, sizeof number, "%s:2", path);
  vt_device *dev = open_without_admission(path), *again = open_without_admission(copied),
            *too = open_without_admission(other);
  vt_device *second = open_without_admission(number);
  CHECK(vt_device_same_backend(dev, again) && vt_device_same_backend(dev, second));
  CHECK(!vt_device_same_backend(dev, too) && !vt_device_same_backend(too, dev));
  vt_device_close(again);
  vt_device_close(too);
  vt_device_close(second);
  vt_device_close(dev);
}

/* Capabilities must be tried on the plug-in that was opened. In this test the name leads to another
 * backend by the time of the trial, which must be noticed. */
static void test_replaced_before_trial(void) {
  char path[256];
  vt_diag d = {0};
  const vt_options o = {.size = sizeof o, .backend = "island"};
  write_plugin_path("caps_unknown", path);
  vt_device *dev = open_without_admission(path);
  CHECK(vt_capabilities_try(dev, &o, VT_BK_SUBNORMALS, vt_alloc_default(), &d) == VT_BACKEND);
  CHECK(strstr(d.text, "backend 'caps_unknown.so:0' was replaced while it was tried") != NULL);
  CHECK(vt_device_proven_caps(dev) == 0 && vt_device_kind(dev) == VT_KIND_TEST);
  vt_device_close(dev);
}

/* A file with new content is another plug-in; a device that was opened before keeps the old one. */
static void test_replaced_file(void) {
  char path[256];
  vt_device *first = NULL, *second = NULL;
  const vt_device_options how = {.admission = VT_ADMISSION_WAIVED};
  write_plugin_path("+swapped", path);
  copy_file("good", "+swapped", 0, 0);
  CHECK(vt_device_open_with_options(&how, path, vt_alloc_default(), &first, NULL) == VT_OK);
  copy_file("good_too", "+swapped", 0, 0); /* in place */
  CHECK(vt_device_open_with_options(&how, path, vt_alloc_default(), &second, NULL) == VT_OK);
  if (first == NULL || second == NULL) exit(1);
  CHECK(memcmp(vt_device_plugin_digest(first)->b, vt_device_plugin_digest(second)->b, 32) != 0);
  CHECK(strcmp(vt_device_target(first).fingerprint, vt_device_target(second).fingerprint) != 0);
  CHECK(strcmp(vt_device_caps(first)->about, "a plug-in") == 0);
  CHECK(strcmp(vt_device_caps(second)->about, "another plug-in") == 0);
  vt_device_close(first);
  vt_device_close(second);
}

/* While a hold on a plug-in exists, opening its path gives the held content, although the file has
 * changed. */
static void test_held_content_stays(void) {
  char path[256], second[300];
  vt_device *dev[4] = {NULL};
  vt_hold *hold = NULL, *again = NULL;
  const vt_device_options waived = {.admission = VT_ADMISSION_WAIVED}, strict = {0};
  write_plugin_path("+held", path);
  snprintf(second, sizeof second, "%s:1", path);
  copy_file("good", "+held", 0, 0);
  CHECK(vt_device_open_with_options(&waived, path, vt_alloc_default(), &dev[0], NULL) == VT_OK);
  if (dev[0] == NULL) exit(1);
  CHECK(vt_device_hold_plugin(dev[0], path, &hold, NULL) == VT_OK && hold != NULL);
  CHECK(vt_device_hold_plugin(dev[0], second, &again, NULL) == VT_OK && again != NULL);
  copy_file("good_too", "+held", 0, 0);
  CHECK(vt_device_open_with_options(&waived, second, vt_alloc_default(), &dev[1], NULL) == VT_OK);
  CHECK(vt_device_open_with_options(&strict, path, vt_alloc_default(), &dev[2], NULL) ==
        VT_BACKEND);
  vt_hold_release(hold);
  CHECK(vt_device_open_with_options(&waived, path, vt_alloc_default(), &dev[2], NULL) == VT_OK);
  vt_hold_release(again);
  CHECK(vt_device_open_with_options(&waived, path, vt_alloc_default(), &dev[3], NULL) == VT_OK);
  if (dev[1] == NULL || dev[2] == NULL || dev[3] == NULL) exit(1);
  CHECK(strcmp(vt_device_caps(dev[1])->about, "a plug-in") == 0 && vt_device_unadmitted(dev[1]));
  CHECK(strcmp(vt_device_caps(dev[2])->about, "a plug-in") == 0);
  CHECK(strcmp(vt_device_caps(dev[3])->about, "another plug-in") == 0);
  for (int i = 0; i < 4; i++) vt_device_close(dev[i]);
  hold = (vt_hold *)1;
  CHECK(vt_device_open("reference", vt_alloc_default(), &dev[0], NULL) == VT_OK);
  CHECK(vt_device_hold_plugin(dev[0], "reference", &hold, NULL) == VT_OK && hold == NULL);
  vt_hold_release(NULL);
  vt_device_close(dev[0]);
}

/* A process that a plug-in starts while it is probed does not delay the probe, and is ended. */
static void test_orphaned_child_is_ended(void) {
  char path[256];
  const uint64_t start = vt_clock_ns();
  write_plugin_path("orphan", path);
  CHECK(run_probe(path, 5000, NULL) == VT_OK);
  CHECK(vt_clock_ns() - start < (uint64_t)4000 * 1000000);
}

static void *open_many_times(void *path) {
  for (int i = 0; i < 20; i++)
    check_device_opens(path, i % 2 == 0 ? "" : ":1", i % 2 ? "good.so:1" : "good.so:0");
  return NULL;
}

static void test_threads_open_one_plugin(void) {
  char path[256];
  pthread_t threads[4];
  write_plugin_path("good", path);
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, open_many_times, path) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

typedef struct attempt {
  char path[256];
  vt_status status;
  vt_diag d;
} attempt;

static void *try_to_open_in_thread(void *context) {
  attempt *x = context;
  x->status = try_to_open_device(x->path, 1, &x->d);
  return NULL;
}

/* While one plug-in hangs, until its limit of ten seconds, other threads can open plug-ins: one
 * that is already loaded and one that is not. */
static void test_hanging_open_blocks_no_other(void) {
  static attempt hanging;
  char path[256], fresh[256];
  pthread_t thread;
  write_plugin_path("hang_query", hanging.path);
  write_plugin_path("good", path);
  copy_file("good_too", "+fresh", 0, 0);
  write_plugin_path("+fresh", fresh);
  FILE *f = fopen(fresh, "ab");
  CHECK(f != NULL && fputc(0, f) == 0 && fclose(f) == 0);
  CHECK(pthread_create(&thread, NULL, try_to_open_in_thread, &hanging) == 0);
  (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  const uint64_t start = vt_clock_ns();
  check_device_opens(path, "", "good.so:0");
  check_device_opens(fresh, "", "fresh.so:0");
  CHECK(vt_clock_ns() - start < (uint64_t)6000 * 1000000);
  CHECK(pthread_join(thread, NULL) == 0 && vt_clock_ns() - start > (uint64_t)8000 * 1000000);
  CHECK(hanging.status == VT_BACKEND && !has_children());
  CHECK(strstr(hanging.d.text, "it did not finish within 10 s while its table was asked") != NULL);
}

/* If the host ignores SIGCHLD, the exit status of the probe is unknown, and only its report counts.
 */
static void test_probe_with_sigchld_ignored(void) {
  char path[256];
  vt_diag d = {0};
  signal(SIGCHLD, SIG_IGN);
  write_plugin_path("good", path);
  CHECK(run_probe(path, 5000, NULL) == VT_OK);
  write_plugin_path("crash_open", path);
  CHECK(run_probe(path, 5000, &d) == VT_BACKEND && strstr(d.text, "was opened") != NULL);
  signal(SIGCHLD, SIG_DFL);
}

/* If descriptors 0, 1 and 2 are closed, files that are opened get these numbers, which the child
 * uses for its own streams; the probe must still work. */
static void test_probe_with_closed_descriptors(void) {
  char path[256];
  int kept[3];
  write_plugin_path("good", path);
  for (int i = 0; i < 3; i++) kept[i] = dup(i);
  for (int i = 0; i < 3; i++) close(i);
  const vt_status s = run_probe(path, 5000, NULL);
  for (int i = 0; i < 3; i++) dup2(kept[i], i), close(kept[i]);
  CHECK(s == VT_OK);
}

static void remove_files(void) {
  char path[600];
  DIR *folder = opendir(scratch);
  for (const struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
    snprintf(path, sizeof path, "%s/%s", scratch, e->d_name);
    if (unlink(path) != 0) (void)rmdir(path);
  }
  if (folder != NULL) closedir(folder);
  rmdir(scratch);
}

int main(int argc, char **argv) {
  uint8_t digest[32];
  if (argc != 2 || mkdtemp(scratch) == NULL) return 1;
  built = argv[1];
  run_reference(digest);
  create_files_that_are_not_plugins();
  test_unadmitted_plugins_refused();
  test_rule_breakers_refused(digest);
  test_good_plugins_open();
  test_structs_of_other_sizes();
  test_plugin_named_reference();
  test_same_content_is_same_backend();
  test_replaced_before_trial();
  test_replaced_file();
  test_held_content_stays();
  test_orphaned_child_is_ended();
  test_threads_open_one_plugin();
  test_hanging_open_blocks_no_other();
  test_probe_with_sigchld_ignored();
  test_probe_with_closed_descriptors();
  remove_files();
  /* A plug-in that was let in by mistake may end this process with any exit code, so CTest looks
   * for this line. */
  if (vt_test_failed == 0) printf("all %d were refused, the others let in\n", (int)ROWS);
  TEST_DONE();
}
