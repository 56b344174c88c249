/* SPDX-License-Identifier: Apache-2.0
 * probe.c - starts the program of probe_main.c in a child process, reads its report and turns the
 * report and the exit status into a status and a message. The program's file is embedded in the
 * library, so it need not be found and cannot be replaced by another. A report has a line for each
 * stage of the probe that began, and at last "ok" or a refusal. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "probe.h"
#include "vt_clock.h"

static const unsigned char image[] = {
#include "probe_image.inc"
};

enum {
  FIRST_FD = 10, /* lowest descriptor for the ends of pipes, above those that the child uses */
  STEP_MS = 20,  /* milliseconds to wait for output before each check whether the child has ended */
  TEXT_BYTES = 2000, /* capacity for the text that is read from a pipe */
  LAST_READS = 32    /* most reads from the pipes after the child has ended */
};

/* The text read from a pipe; text beyond the capacity is read and dropped. */
typedef struct pipe_text {
  int fd; /* the reading end; -1 once it is closed */
  size_t n;
  char text[TEXT_BYTES];
} pipe_text;

typedef struct child {
  pid_t pid;
  int has_status, status; /* 1: the exit status is known; the exit status */
  int timed_out;          /* 1: the child did not end in time */
  pipe_text report;       /* lines of probe_main.c, on descriptor 4 */
  pipe_text printed;      /* output of the plug-in, on descriptors 1 and 2 */
} child;

/* ---- starting ---- */

static vt_status fail_system(const char *what, int error, vt_diag *d) {
  return VT_FAIL(d, VT_BACKEND, "plug-ins cannot be probed: %s: %s", what, strerror(error));
}

/* Opens a pipe whose ends are above descriptor 4: the child gets other files at 0 to 4. */
static int open_pipe(int out[2]) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  int error = 0;
  for (int i = 0; i < 2; i++) {
    out[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, FIRST_FD);
    if (out[i] < 0) error = errno;
    close(ends[i]);
  }
  return error;
}

static void close_pipe(int ends[2]) {
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0) close(ends[i]);
}

static int spawn_program(child *c, const char *path, char *ordinal,
                         posix_spawn_file_actions_t *files, posix_spawnattr_t *how) {
  static char name[] = "volta-probe", locale[] = "LC_ALL=C";
  char *const arguments[] = {name, ordinal, NULL}, *const environment[] = {locale, NULL};
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  (void)posix_spawnattr_setsigmask(how, &none);
  (void)posix_spawnattr_setsigdefault(how, &all);
  /* The child leads a process group, so that processes started by it can be killed with it. */
  (void)posix_spawnattr_setpgroup(how, 0);
  (void)posix_spawnattr_setflags(
      how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  return posix_spawn(&c->pid, path, files, how, arguments, environment);
}

static int spawn_child(child *c, int program, int plugin, int report, int printed,
                       uint32_t ordinal) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  char path[VT_SEALED_PATH], number[16];
  vt_sealed_path(program, path);
  snprintf(number, sizeof number, "%u", ordinal);
  int error = posix_spawn_file_actions_init(&files);
  if (error != 0) return error;
  error = posix_spawnattr_init(&how);
  if (error == 0) {
    error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&files, printed, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&files, printed, 2);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&files, plugin, 3);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&files, report, 4);
    if (error == 0) error = spawn_program(c, path, number, &files, &how);
    posix_spawnattr_destroy(&how);
  }
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/* ---- reading its output ---- */

/* Reads once from a pipe; returns 0 at the end of the pipe or on an error. */
static int read_pipe(pipe_text *h) {
  char chunk[512];
  const ssize_t n = read(h->fd, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const size_t left = TEXT_BYTES - 1 - h->n, used = (size_t)n < left ? (size_t)n : left;
  memcpy(h->text + h->n, chunk, used);
  h->n += used;
  h->text[h->n] = 0;
  return n > 0;
}

/* Waits up to `ms` milliseconds for output of the child and reads it; returns 1 if there was some.
 * A pipe that has come to its end is closed. */
static int wait_and_read_pipes(child *c, int ms) {
  pipe_text *const all[2] = {&c->report, &c->printed};
  struct pollfd polled[2];
  for (int i = 0; i < 2; i++) polled[i] = (struct pollfd){.fd = all[i]->fd, .events = POLLIN};
  if (poll(polled, 2, ms) <= 0) return 0;
  int any = 0;
  for (int i = 0; i < 2; i++) {
    if (polled[i].revents == 0) continue;
    const int more = read_pipe(all[i]);
    if (!more) {
      close(all[i]->fd);
      all[i]->fd = -1;
    }
    any |= more;
  }
  return any;
}

/* 1 if the child has ended. Its exit status is not collected here, so that its process id cannot be
 * reused before read_until_end_or_kill kills its process group. */
static int has_child_ended(child *c) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == c->pid;
}

/* Collects the exit status, which stays unknown if the host program ignores or reaps its
 * children. */
static void collect_exit_status(child *c) {
  pid_t got;
  do {
    got = waitpid(c->pid, &c->status, 0);
  } while (got < 0 && errno == EINTR);
  c->has_status = got == c->pid;
}

/* Reads output until the child ends or `ms` milliseconds have passed; then kills the child and the
 * processes that it started. */
static void read_until_end_or_kill(child *c, uint32_t ms) {
  const uint64_t start_child = vt_clock_ns(), limit = (uint64_t)ms * 1000000;
  while (!has_child_ended(c) && !c->timed_out) {
    (void)wait_and_read_pipes(c, STEP_MS);
    c->timed_out = vt_clock_ns() - start_child > limit;
  }
  (void)kill(-c->pid, SIGKILL); /* kills the child and the processes that it started */
  for (int i = 0; i < LAST_READS && wait_and_read_pipes(c, 0); i++) continue;
  collect_exit_status(c);
}

/* ---- evaluating report and status ---- */

/* A phrase for the last stage that the child reported. */
static const char *phrase_for_stage(const char *stage) {
  static const struct {
    const char *stage, *text;
  } rows[] = {{"load", "while it was loaded"},
              {"query", "while its table was asked for"},
              {"count", "while its devices were counted"},
              {"open", "while its device was opened"},
              {"caps", "while its capabilities were asked for"},
              {"list", "while its ops were asked for"},
              {"close", "while its device was closed"},
              {"end", "while its process came to an end"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].stage, stage) == 0) return rows[i].text;
  return "before it was loaded";
}

static const char *name_of_signal(int number, char text[24]) {
  static const struct {
    int number;
    const char *name;
  } rows[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"},
              {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"},
              {SIGKILL, "SIGKILL"}, {SIGSYS, "SIGSYS"}, {SIGTERM, "SIGTERM"}};
  snprintf(text, 24, "signal %d", number);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].number == number) return rows[i].name;
  return text;
}

/* Makes text of a plug-in safe for a message: one line of at most `longest` printable
 * characters. */
static void make_printable(char *text, size_t longest) {
  size_t n = 0;
  for (; text[n] != 0 && n < longest; n++)
    if ((unsigned char)text[n] < ' ' || (unsigned char)text[n] > '~') text[n] = ' ';
  while (n > 0 && text[n - 1] == ' ') n--;
  text[n] = 0;
}

/* The content of a report. "ok" counts only after the last stage has begun, because the plug-in
 * might write "ok" itself. */
typedef struct report_result {
  const char *stage; /* the last stage that began */
  char *why;         /* reason of a refusal; "" after "ok"; NULL if the report has neither */
  vt_status status;  /* status that the refusal reports */
} report_result;

static report_result read_report(char *text) {
  report_result a = {"", NULL, VT_BACKEND};
  for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = 0;
    if (a.why != NULL) continue;
    if (strcmp(line, "ok") == 0) {
      if (strcmp(a.stage, "end") == 0) a.why = line + 2;
    } else if (strncmp(line, "no ", 3) == 0) {
      a.status = strncmp(line, "no 14 ", 6) == 0 ? VT_ABI : VT_BACKEND;
      a.why = line + 3 + strspn(line + 3, "0123456789 ");
    } else {
      a.stage = line;
    }
  }
  return a;
}

/* Refuses a plug-in that hung, crashed or exited without a verdict. */
static vt_status check_exit_of_child(const child *c, const report_result *a, const char *path,
                                     uint32_t ms, vt_diag *d) {
  char text[24];
  if (c->timed_out)
    return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it did not finish within %g s %s",
                   path, ms / 1000.0, phrase_for_stage(a->stage));
  if (c->has_status && WIFSIGNALED(c->status))
    return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it crashed (%s) %s", path,
                   name_of_signal(WTERMSIG(c->status), text), phrase_for_stage(a->stage));
  const int code = c->has_status ? WEXITSTATUS(c->status) : 0;
  if (a->why != NULL && (a->why[0] != 0 || code == 0)) return VT_OK;
  return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it ended its process (exit %d) %s",
                 path, code, phrase_for_stage(a->stage));
}

/* Refuses a plug-in by the exit of its child, by the verdict, or because it printed something. */
static vt_status status_of_ended_child(child *c, const char *path, uint32_t ms, vt_diag *d) {
  const report_result a = read_report(c->report.text);
  VT_TRY(check_exit_of_child(c, &a, path, ms, d));
  make_printable(a.why, 300);
  if (a.why[0] != 0) return VT_FAIL(d, a.status, "plug-in '%.200s' is refused: %s", path, a.why);
  make_printable(c->printed.text, 60);
  if (c->printed.n > 0)
    return VT_FAIL(d, VT_ABI, "plug-in '%.200s' is refused: it prints '%s'", path, c->printed.text);
  return VT_OK;
}

/* Only one child is started at a time, so that no child inherits the pipes of another. */
static int start_child(child *c, int program, int plugin, uint32_t ordinal) {
  static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
  int report[2] = {-1, -1}, printed[2] = {-1, -1};
  pthread_mutex_lock(&starting);
  int error = open_pipe(report);
  if (error == 0) error = open_pipe(printed);
  if (error == 0) error = spawn_child(c, program, plugin, report[1], printed[1], ordinal);
  pthread_mutex_unlock(&starting);
  if (error != 0) {
    close_pipe(report);
    close_pipe(printed);
    return error;
  }
  close(report[1]);
  close(printed[1]);
  c->report.fd = report[0];
  c->printed.fd = printed[0];
  return 0;
}

static vt_status run_child(const vt_sealed *program, const vt_sealed *plugin, uint32_t ordinal,
                           const char *path, uint32_t ms, vt_diag *d) {
  child c = {.pid = -1};
  const int error = start_child(&c, program->fd, plugin->fd, ordinal);
  if (error != 0) return fail_system("cannot start a process", error, d);
  read_until_end_or_kill(&c, ms);
  if (c.report.fd >= 0) close(c.report.fd);
  if (c.printed.fd >= 0) close(c.printed.fd);
  return status_of_ended_child(&c, path, ms, d);
}

vt_status vt_probe_run(const vt_sealed *plugin, uint32_t ordinal, const char *path, uint32_t ms,
                       vt_diag *d) {
  vt_sealed program;
  vt_diag why = {0};
  if (vt_sealed_bytes(image, sizeof image, "volta-probe", &program, &why) != VT_OK)
    return VT_FAIL(d, VT_BACKEND, "plug-ins cannot be probed: %s", why.text);
  const vt_status s = run_child(&program, plugin, ordinal, path, ms, d);
  vt_sealed_close(&program);
  return s;
}
