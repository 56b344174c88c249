/* SPDX-License-Identifier: Apache-2.0
 * verb_admit.c - volta admit BACKEND: runs the admission of a backend in a child process, and
 * prints the verdict, writes the certificate, or reports why the backend is refused. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli_json.h"
#include "cli_progress.h"
#include "volta/volta_admit.h"

enum { PATH_SIZE = 4300 }; /* most bytes of a path */

/* ---- running the admission ---- */

/* Pipe to which the child process writes the name of each check; -1: this is not the child. */
static int check_pipe = -1;

static void show_progress_and_tell_parent(void *user, const char *check, uint64_t done,
                                          uint64_t total) {
  static const char *last;
  (void)user;
  if (check_pipe >= 0 && check != last) (void)!write(check_pipe, check, strlen(check) + 1);
  last = check;
  cli_progress_show(check, done, total);
}

/* The folder for a reproducer if no flag names one: "volta-refusal-libfoo.so". The caller frees
 * it. */
static char *default_reproducer_folder(const char *backend) {
  static const char start[] = "volta-refusal-";
  const char *name = cli_basename(backend);
  char *path = malloc(sizeof start + strlen(name));
  if (path == NULL) return NULL;
  sprintf(path, "%s%s", start, name);
  for (char *at = path; *at != 0; at++)
    if (*at == ':') *at = '-';
  return path;
}

static vt_status run_admission(const cli_args *a, const char *folder, vt_admission **out,
                               cli_error *e) {
  uint64_t jobs;
  VT_TRY(cli_flag_value_u64(a, "jobs", 0, &jobs, e));
  if (cli_flag_value(a, "jobs") != NULL && (jobs == 0 || jobs > 1024))
    return VT_FAIL(&e->diag, VT_USAGE, "--jobs takes a number from 1 to 1024");
  const vt_admit_options o = {.size = sizeof o,
                              .backend = a->operands[0],
                              .brief = cli_flag_value(a, "short") != NULL,
                              .jobs = (uint32_t)jobs,
                              .reproducer = folder,
                              .progress = show_progress_and_tell_parent};
  const vt_status s = vt_admit(&o, out, &e->diag);
  cli_progress_clear();
  return s;
}

/* ---- reports ---- */

static void print_counts(const vt_admission *a) {
  vt_admission_counts c = {.size = sizeof c};
  vt_admission_count(a, &c);
  cli_print("  rules         %u\n  capabilities  %u\n", c.rules, c.capabilities);
  cli_print("  suite         %" PRIu64 " cases run, %" PRIu64 " not declared\n", c.cases,
            c.undeclared);
  cli_print("  repeat        %" PRIu64 "\n  spoilt        %" PRIu64 "\n  threads       %" PRIu64
            "\n  order         %" PRIu64 "\n  examples      %u\n",
            c.repeated, c.spoilt, c.threaded, c.reordered, c.examples);
}

static void print_differing_element(const vt_refusal *r) {
  const int digits = (int)(2 * vt_dtype_bytes(r->dtype));
  char have[CLI_VALUE_SIZE], want[CLI_VALUE_SIZE];
  cli_text_of_element_bits(r->dtype, r->bits, have);
  cli_text_of_element_bits(r->dtype, r->expected, want);
  cli_print("  element  ");
  cli_print_escaped(r->output);
  cli_print("%s\n  has      %0*" PRIx64 " (%s)\n  must be  %0*" PRIx64 " (%s)\n", r->index, digits,
            r->bits, have, digits, r->expected, want);
  cli_print("  distance %" PRIu64 "%s\n", r->distance, r->distance == UINT64_MAX ? " (NaN)" : "");
  cli_print("  differ   %" PRIu64 " of %" PRIu64 " elements\n", r->differing, r->compared);
}

static void print_labelled_unless_empty(const char *label, const char *text) {
  if (text[0] == 0) return;
  cli_print("  %-8s ", label);
  cli_print_escaped(text);
  cli_print("\n");
}

static void print_refusal(const vt_refusal *r) {
  print_labelled_unless_empty("check", r->check);
  print_labelled_unless_empty("subject", r->subject);
  print_labelled_unless_empty("reason", r->reason);
  print_labelled_unless_empty("op", r->op);
  print_labelled_unless_empty("in", r->signature);
  if (r->differs) print_differing_element(r);
  print_labelled_unless_empty("unwritten", r->unwritten);
  print_labelled_unless_empty("written", r->folder);
  /* This command is to be started in the folder of the reproducer. */
  print_labelled_unless_empty("shows it", r->command);
  print_labelled_unless_empty("again",
                              r->again); /* this command is to be started in the current folder */
}

static const char *verdict_name(const vt_admission *a) {
  static const char *const name[] = {[VT_VERDICT_REFUSED] = "REFUSED",
                                     [VT_VERDICT_PASSED] = "PASSED",
                                     [VT_VERDICT_ADMITTED] = "ADMITTED"};
  return name[vt_admission_verdict(a)];
}

static json_t *json_counts(const vt_admission *a) {
  vt_admission_counts c = {.size = sizeof c};
  vt_admission_count(a, &c);
  return json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "rules", (int)c.rules,
                   "capabilities", (int)c.capabilities, "cases", (json_int_t)c.cases, "undeclared",
                   (json_int_t)c.undeclared, "repeated", (json_int_t)c.repeated, "spoilt",
                   (json_int_t)c.spoilt, "threaded", (json_int_t)c.threaded, "reordered",
                   (json_int_t)c.reordered, "examples", (int)c.examples);
}

static json_t *json_refusal(const vt_refusal *r) {
  json_t *o =
      json_pack("{s:s, s:o, s:o, s:b}", "check", r->check, "subject", cli_json_text(r->subject),
                "reason", cli_json_text(r->reason), "differs", (int)r->differs);
  if (r->differs) {
    cli_json_set(o, "op", cli_json_text(r->op));
    cli_json_set(o, "signature", cli_json_text(r->signature));
    cli_json_set(o, "output", cli_json_text(r->output));
    cli_json_set(o, "index", cli_json_text(r->index));
    cli_json_set(o, "found", cli_json_bits_hex(r->dtype, r->bits));
    cli_json_set(o, "expected", cli_json_bits_hex(r->dtype, r->expected));
    cli_json_set(o, "distance", cli_json_u64_text(r->distance));
    cli_json_set(o, "differing", json_integer((json_int_t)r->differing));
    cli_json_set(o, "compared", json_integer((json_int_t)r->compared));
  }
  cli_json_set(o, "model", cli_json_text(r->model));
  if (r->unwritten[0] != 0) cli_json_set(o, "unwritten", cli_json_text(r->unwritten));
  if (r->folder[0] != 0) cli_json_set(o, "reproducer", cli_json_text(r->folder));
  if (r->command[0] != 0) cli_json_set(o, "command", cli_json_text(r->command));
  if (r->again[0] != 0) cli_json_set(o, "again", cli_json_text(r->again));
  return o;
}

static vt_status report_json(const cli_args *a, const vt_admission *x, const char *certificate,
                             cli_error *e) {
  vt_refusal r = {.size = sizeof r};
  json_t *root = json_pack("{s:o, s:s, s:o}", "backend", cli_json_text(a->operands[0]), "verdict",
                           verdict_name(x), "counts", json_counts(x));
  if (certificate != NULL) cli_json_set(root, "certificate", cli_json_text(certificate));
  if (vt_admission_refusal(x, &r) == VT_OK) cli_json_set(root, "refusal", json_refusal(&r));
  return cli_json_print(root, e);
}

static void report_text(const cli_args *a, const vt_admission *x, const char *certificate) {
  vt_refusal r = {.size = sizeof r};
  const int refused = vt_admission_refusal(x, &r) == VT_OK;
  if (refused) cli_print("%s\n", VT_DIVERGES);
  cli_print("%s: ", verdict_name(x));
  cli_print_escaped(a->operands[0]);
  cli_print("%s\n",
            vt_admission_verdict(x) == VT_VERDICT_PASSED ? " (short form: no certificate)" : "");
  if (refused) print_refusal(&r);
  if (!refused) print_counts(x);
  if (certificate != NULL) print_labelled_unless_empty("certificate", certificate);
}

/* ---- the certificate ---- */

/* Removes an older certificate next to a plug-in that is refused now, because it would still admit
 * the plug-in. */
static void remove_certificate(const char *backend) {
  char place[PATH_SIZE];
  if (vt_admission_place_of(backend, place, sizeof place) && remove(place) == 0)
    cli_narrate("volta: withdrew %s\n", place);
}

/* 1 if the file of a plug-in is readable. A device number may follow its path. */
static int plugin_exists(const char *backend) {
  char path[PATH_SIZE];
  const char *colon = strrchr(backend, ':');
  const size_t n = colon != NULL ? (size_t)(colon - backend) : strlen(backend);
  if (access(backend, R_OK) == 0) return 1;
  return n < sizeof path && snprintf(path, sizeof path, "%.*s", (int)n, backend) > 0 &&
         access(path, R_OK) == 0;
}

/* Tests before the long admission that the certificate can be written. If the plug-in does not
 * exist nothing is tested, because opening it gives a better message. */
static vt_status check_certificate_writable(const cli_args *a, cli_error *e) {
  const char *given = cli_flag_value(a, "out"), *backend = a->operands[0];
  if (cli_flag_value(a, "short") != NULL && given == NULL) return VT_OK;
  if (cli_flag_value(a, "short") != NULL)
    return VT_FAIL(&e->diag, VT_USAGE, "--short gives no certificate that --out could write");
  if (given != NULL) return cli_file_check_writable(given, e);
  char place[PATH_SIZE];
  if (!vt_admission_place_of(backend, place, sizeof place) || !plugin_exists(backend)) return VT_OK;
  const vt_status s = cli_file_check_writable(place, e);
  if (s == VT_IO) snprintf(e->diag.hint, sizeof e->diag.hint, "--out FILE writes it elsewhere");
  return s;
}

static vt_status save_certificate_and_report(const cli_args *a, const vt_admission *x,
                                             cli_error *e) {
  const char *given = cli_flag_value(a, "out"), *text = vt_admission_certificate(x);
  const char *path = text == NULL ? NULL : given != NULL ? given : vt_admission_place(x);
  const vt_status written = path != NULL ? cli_file_write(path, text, strlen(text), e) : VT_OK;
  const char *certificate = written == VT_OK ? path : NULL;
  cli_error other = {0};
  vt_status s = VT_OK;
  if (cli_flag_value(a, "json") != NULL) s = report_json(a, x, certificate, &other);
  if (cli_flag_value(a, "json") == NULL) report_text(a, x, certificate);
  if (vt_admission_verdict(x) == VT_VERDICT_REFUSED) remove_certificate(a->operands[0]);
  if (written != VT_OK) return written;
  if (s != VT_OK) *e = other;
  if (s != VT_OK || vt_admission_verdict(x) != VT_VERDICT_REFUSED) return s;
  return VT_FAIL(&e->diag, VT_DIFFERS, "%.100s is refused", a->operands[0]);
}

static vt_status admit_backend(const cli_args *a, cli_error *e) {
  const char *given = cli_flag_value(a, "reproducer");
  char *folder = given != NULL ? cli_text_copy(given, strlen(given))
                               : default_reproducer_folder(a->operands[0]);
  vt_admission *x = NULL;
  if (folder == NULL) return cli_no_memory(e);
  vt_status s = check_certificate_writable(a, e);
  if (s == VT_OK) s = run_admission(a, folder, &x, e);
  if (s == VT_OK) s = save_certificate_and_report(a, x, e);
  vt_admission_free(x);
  free(folder);
  return s;
}

/* ---- the child process: a backend may crash ---- */

static const char *signal_name(int number) {
  return number == SIGSEGV   ? "SIGSEGV"
         : number == SIGBUS  ? "SIGBUS"
         : number == SIGABRT ? "SIGABRT"
         : number == SIGFPE  ? "SIGFPE"
         : number == SIGILL  ? "SIGILL"
                             : "a signal";
}

static vt_status report_crash(const cli_args *a, const char *check, int signal_number,
                              cli_error *e) {
  const char *name = a->operands[0];
  remove_certificate(name);
  if (cli_flag_value(a, "json") != NULL) {
    VT_TRY(
        cli_json_print(json_pack("{s:o, s:s, s:{s:s, s:s+, s:b}}", "backend", cli_json_text(name),
                                 "verdict", "REFUSED", "refusal", "check", check, "reason",
                                 "it crashes: ", signal_name(signal_number), "differs", 0),
                       e));
  } else {
    cli_print("%s\nREFUSED: ", VT_DIVERGES);
    cli_print_escaped(name);
    cli_print("\n  check    %s\n  reason   it crashes: %s\n", check, signal_name(signal_number));
  }
  return VT_FAIL(&e->diag, VT_DIFFERS, "%.100s is refused", name);
}

/* Reads names of checks until the child closes the pipe, and returns the last one in `check`. */
static void read_last_check(int pipe_fd, char check[32]) {
  size_t n = 0;
  char c, next[32];
  snprintf(check, 32, "opening");
  for (ssize_t r; (r = read(pipe_fd, &c, 1)) == 1 || (r < 0 && errno == EINTR);) {
    if (r != 1) continue;
    if (n < sizeof next) next[n++] = c;
    if (c != 0) continue;
    if (n <= sizeof next && next[n - 1] == 0) memcpy(check, next, n);
    n = 0;
  }
}

/* The parent: exits with the exit code of the child, which prints all reports. Only if a signal
 * kills the child does the parent print the report. */
static vt_status watch_child(const cli_args *a, pid_t child, int pipe_fd, cli_error *e) {
  char check[32];
  int status = 0;
  read_last_check(pipe_fd, check);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return VT_FAIL(&e->diag, VT_INTERNAL, "the child process is lost");
  if (WIFSIGNALED(status)) return report_crash(a, check, WTERMSIG(status), e);
  exit(WEXITSTATUS(status));
}

vt_status verb_admit(const cli_args *a, cli_error *e) {
  int ends[2];
  if (pipe(ends) != 0) return cli_no_memory(e);
  const pid_t child = fork();
  if (child < 0) return cli_no_memory(e);
  close(ends[child == 0 ? 0 : 1]);
  if (child != 0) return watch_child(a, child, ends[0], e);
  check_pipe = ends[1];
  return admit_backend(a, e);
}
