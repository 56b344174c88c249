/* SPDX-License-Identifier: Apache-2.0
 * cache_crowd_test.c - eight processes use one folder that has room for a few plans, and are killed
 * at moments nobody chose. Every plan that any of them gets is right, and so is what they leave. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "cache_test.h"
#include "vt_store.h"

enum { PROCESSES = 8, KINDS = 12, KILLS = 60, ROUNDS = 4 };

static vt_model *model;
static uint8_t expected[KINDS][32];

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static int plan_is_right(vt_cache *c, uint32_t kind) {
  const vt_binding bind[] = {{"B", 1 + kind % 6}};
  const vt_options o = {.size = sizeof o,
                        .bind = bind,
                        .n_bind = 1,
                        .backend = kind < 6 ? "reference:0" : "island:1",
                        .cache = c};
  uint8_t core[32], target[32];
  vt_planned *p = NULL;
  if (vt_planned_new(model, &o, &p, NULL) != VT_OK) return 0;
  vt_planned_digest(p, core, target);
  vt_planned_free(p);
  if (c == NULL) memcpy(expected[kind], target, 32);
  return memcmp(target, expected[kind], 32) == 0;
}

/* Room for about five on disk, none in memory. A note is a failure too: nobody but these processes
 * writes here, and none of them writes half of a file. */
static int work(uint32_t seed, uint32_t rounds) {
  vt_cache *c = cache_of(folder, 1, 40000, VT_CACHE_DIGITS);
  int wrong = 0;
  for (uint32_t i = 0; i < rounds; i++) wrong += !plan_is_right(c, next(&seed) % KINDS);
  const vt_cache_counts n = counts_of(c);
  if (n.ignored != 0) fprintf(stderr, "%s\n", n.reason);
  wrong += n.ignored != 0 || n.bytes_disk > 40000 + PROCESSES * 12000;
  vt_cache_free(c);
  return wrong;
}

static pid_t start(uint32_t seed, uint32_t rounds) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)alarm(120); /* nobody is left behind when this test is stopped */
    _exit(work(seed, rounds) != 0);
  }
  CHECK(pid > 0);
  return pid;
}

static int ended_well(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Each is killed a few milliseconds after it started, and another takes its place. */
static void kill_some(void) {
  pid_t pid[PROCESSES];
  uint32_t seed = 1;
  for (uint32_t i = 0; i < PROCESSES; i++) pid[i] = start(i + 1, 1000000);
  for (uint32_t i = 0; i < KILLS; i++) {
    const struct timespec pause = {0, 1000000 * (1 + (long)(next(&seed) % 25))};
    const uint32_t who = next(&seed) % PROCESSES;
    (void)nanosleep(&pause, NULL);
    CHECK(kill(pid[who], SIGKILL) == 0);
    CHECK(!ended_well(pid[who])); /* it did not stop by itself before */
    pid[who] = start(100 + i, 1000000);
  }
  for (uint32_t i = 0; i < PROCESSES; i++) {
    CHECK(kill(pid[i], SIGKILL) == 0);
    (void)ended_well(pid[i]);
  }
}

static int unfinished, finished;
static void count_kinds(const char *path) {
  *(strstr(path, "/.volta-") != NULL ? &unfinished : &finished) += 1;
}
static void make_old(const char *path) {
  const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  if (strstr(path, "/.volta-") != NULL) CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* What the killed were writing is taken away once it is old; what is young may be in work. */
static void check_leavings(void) {
  char path[128];
  for (int i = 0; i < 3; i++) {
    (void)snprintf(path, sizeof path, "%s/.volta-1-%d", folder, i);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "half", 4) == 4 && close(fd) == 0);
    if (i == 0) (void)each_file(make_old);
  }
  CHECK(work(5, 2 * KINDS) == 0);
  unfinished = finished = 0;
  (void)each_file(count_kinds);
  CHECK(unfinished == 2 && finished > 0);
  (void)each_file(make_old);
  CHECK(work(6, 2 * KINDS) == 0);
  unfinished = finished = 0;
  (void)each_file(count_kinds);
  CHECK(unfinished == 0 && finished > 0);
}

static void touch_now(const char *path) { (void)utimensat(AT_FDCWD, path, NULL, 0); }

/* Touches what others read, as fast as it can, until it is killed. */
static pid_t start_toucher(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)alarm(120);
    for (;;) (void)each_file(touch_now);
  }
  CHECK(pid > 0);
  return pid;
}

int main(void) {
  pid_t pid[PROCESSES];
  unsetenv("VOLTA_BACKEND");
  model = model_of(small_model);
  folder_new();
  for (uint32_t i = 0; i < KINDS; i++) CHECK(plan_is_right(NULL, i));
  kill_some();
  const pid_t toucher = start_toucher();
  for (uint32_t i = 0; i < PROCESSES; i++) pid[i] = start(1000 + i, ROUNDS * KINDS);
  for (uint32_t i = 0; i < PROCESSES; i++) CHECK(ended_well(pid[i]));
  CHECK(kill(toucher, SIGKILL) == 0);
  (void)ended_well(toucher);
  check_leavings();
  folder_done();
  vt_model_free(model);
  TEST_DONE();
}
