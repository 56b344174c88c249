/* SPDX-License-Identifier: Apache-2.0
 * probe.c - starting the program of probe_main.c, listening to it, and what is made of what it
 * says. The program is carried inside the library: nothing has to be found, and nothing else can be
 * found in its place. */
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

enum { FIRST_FD = 10, STEP_MS = 20, KEPT = 2000, LAST = 32 };

/* What came through a pipe; what does not fit is read and dropped. */
typedef struct heard {
  int fd;
  size_t n;
  char text[KEPT];
} heard;

typedef struct child {
  pid_t pid;
  int known, status; /* `known`: its status is */
  int late;
  heard report, printed;
} child;

/* ---- starting ---- */

static vt_status failed(const char *what, int error, vt_diag *d) {
  return VT_FAIL(d, VT_BACKEND, "plug-ins cannot be probed here: %s: %s", what, strerror(error));
}

/* Both ends above the descriptors that the child's own are put in place of. */
static int make_pipe(int out[2]) {
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

static int spawn_with(child *c, const char *path, char *ordinal, posix_spawn_file_actions_t *files,
                      posix_spawnattr_t *how) {
  static char name[] = "volta-probe", locale[] = "LC_ALL=C";
  char *const arguments[] = {name, ordinal, NULL}, *const environment[] = {locale, NULL};
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  (void)posix_spawnattr_setsigmask(how, &none);
  (void)posix_spawnattr_setsigdefault(how, &all);
  (void)posix_spawnattr_setpgroup(how, 0); /* so that what it starts ends with it */
  (void)posix_spawnattr_setflags(
      how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  return posix_spawn(&c->pid, path, files, how, arguments, environment);
}

static int spawn(child *c, int program, int plugin, int report, int printed, uint32_t ordinal) {
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
    if (error == 0) error = spawn_with(c, path, number, &files, &how);
    posix_spawnattr_destroy(&how);
  }
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/* ---- listening ---- */

/* 1 while there may be more to come. */
static int listen_to(heard *h) {
  char chunk[512];
  const ssize_t n = read(h->fd, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  const size_t room = KEPT - 1 - h->n, kept = (size_t)n < room ? (size_t)n : room;
  memcpy(h->text + h->n, chunk, kept);
  h->n += kept;
  h->text[h->n] = 0;
  return n > 0;
}

/* Whether anything was heard within `ms`; a pipe at its end is not listened to any more. */
static int hear(child *c, int ms) {
  heard *const all[2] = {&c->report, &c->printed};
  struct pollfd polled[2];
  for (int i = 0; i < 2; i++) polled[i] = (struct pollfd){.fd = all[i]->fd, .events = POLLIN};
  if (poll(polled, 2, ms) <= 0) return 0;
  int any = 0;
  for (int i = 0; i < 2; i++) {
    if (polled[i].revents == 0) continue;
    const int more = listen_to(all[i]);
    if (!more) {
      close(all[i]->fd);
      all[i]->fd = -1;
    }
    any |= more;
  }
  return any;
}

/* Whether the child has ended. It is not reaped here: until then its number is its own. */
static int has_ended(child *c) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == c->pid;
}

/* A host that ignores or reaps its children hides the status. */
static void reap(child *c) {
  pid_t got;
  do {
    got = waitpid(c->pid, &c->status, 0);
  } while (got < 0 && errno == EINTR);
  c->known = got == c->pid;
}

static void attend(child *c, uint32_t ms) {
  const uint64_t start = vt_clock_ns(), limit = (uint64_t)ms * 1000000;
  while (!has_ended(c) && !c->late) {
    (void)hear(c, STEP_MS);
    c->late = vt_clock_ns() - start > limit;
  }
  (void)kill(-c->pid, SIGKILL); /* it, if it is late, and what it may have started */
  for (int i = 0; i < LAST && hear(c, 0); i++) continue;
  reap(c);
}

/* ---- what is made of it ---- */

static const char *moment(const char *stage) {
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

static const char *signal_text(int number, char text[24]) {
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

/* Foreign text in a message: one line, nothing that a terminal obeys. */
static void tame(char *text, size_t longest) {
  size_t n = 0;
  for (; text[n] != 0 && n < longest; n++)
    if ((unsigned char)text[n] < ' ' || (unsigned char)text[n] > '~') text[n] = ' ';
  while (n > 0 && text[n - 1] == ' ') n--;
  text[n] = 0;
}

/* The lines of the report: the last thing begun, and the verdict that follows it, NULL when there
 * is none. "ok" counts at the end alone: somebody else might say it too. */
typedef struct account {
  const char *stage;
  char *why; /* of a refusal; "" when there is nothing against it */
  vt_status status;
} account;

static account read_report(char *text) {
  account a = {"", NULL, VT_BACKEND};
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

static vt_status judge_end(const child *c, const account *a, const char *path, uint32_t ms,
                           vt_diag *d) {
  char text[24];
  if (c->late)
    return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it did not finish within %g s %s",
                   path, ms / 1000.0, moment(a->stage));
  if (c->known && WIFSIGNALED(c->status))
    return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it crashed (%s) %s", path,
                   signal_text(WTERMSIG(c->status), text), moment(a->stage));
  const int code = c->known ? WEXITSTATUS(c->status) : 0;
  if (a->why != NULL && (a->why[0] != 0 || code == 0)) return VT_OK;
  return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it ended its process (exit %d) %s",
                 path, code, moment(a->stage));
}

static vt_status judge(child *c, const char *path, uint32_t ms, vt_diag *d) {
  const account a = read_report(c->report.text);
  VT_TRY(judge_end(c, &a, path, ms, d));
  tame(a.why, 300);
  if (a.why[0] != 0) return VT_FAIL(d, a.status, "plug-in '%.200s' is refused: %s", path, a.why);
  tame(c->printed.text, 60);
  if (c->printed.n > 0)
    return VT_FAIL(d, VT_ABI, "plug-in '%.200s' is refused: it prints '%s'", path, c->printed.text);
  return VT_OK;
}

/* One at a time, so that no child gets the ends of another's pipes. */
static int start(child *c, int program, int plugin, uint32_t ordinal) {
  static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
  int report[2] = {-1, -1}, printed[2] = {-1, -1};
  pthread_mutex_lock(&starting);
  int error = make_pipe(report);
  if (error == 0) error = make_pipe(printed);
  if (error == 0) error = spawn(c, program, plugin, report[1], printed[1], ordinal);
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
  const int error = start(&c, program->fd, plugin->fd, ordinal);
  if (error != 0) return failed("cannot start a process", error, d);
  attend(&c, ms);
  if (c.report.fd >= 0) close(c.report.fd);
  if (c.printed.fd >= 0) close(c.printed.fd);
  return judge(&c, path, ms, d);
}

vt_status vt_probe_run(const vt_sealed *plugin, uint32_t ordinal, const char *path, uint32_t ms,
                       vt_diag *d) {
  vt_sealed program;
  vt_diag why = {0};
  if (vt_sealed_bytes(image, sizeof image, "volta-probe", &program, &why) != VT_OK)
    return VT_FAIL(d, VT_BACKEND, "plug-ins cannot be probed here: %s", why.text);
  const vt_status s = run_child(&program, plugin, ordinal, path, ms, d);
  vt_sealed_close(&program);
  return s;
}
