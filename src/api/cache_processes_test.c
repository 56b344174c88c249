/* SPDX-License-Identifier: Apache-2.0
 * cache_processes_test.c - eight processes share one cache folder that has space for a few plans;
 * they request random plans and are killed at random moments. Every plan that a process gets is
 * right, and the unfinished files that killed processes leave behind do no harm. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "cache_test.h"
#include "vt_store.h"

/* KINDS: number of different plans. KILLS: number of processes that are killed. ROUNDS: how often,
 * on average, each process requests each plan after the kills. */
enum { PROCESSES = 8, KINDS = 12, KILLS = 60, ROUNDS = 4 };

static vt_model *model;
static uint8_t expected[KINDS][32]; /* digest of each plan, made without a cache */

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static int plan_has_expected_digest(vt_cache *c, uint32_t plan_number) {
  const vt_binding bind[] = {{"B", 1 + plan_number % 6}};
  const vt_options o = {.size = sizeof o,
                        .bind = bind,
                        .n_bind = 1,
                        .backend = plan_number < 6 ? "reference:0" : "island:1",
                        .cache = c};
  uint8_t core[32], target[32];
  vt_planned *p = NULL;
  if (vt_planned_new(model, &o, &p, NULL) != VT_OK) return 0;
  vt_planned_digest(p, core, target);
  vt_planned_free(p);
  if (c == NULL) memcpy(expected[plan_number], target, 32);
  return memcmp(target, expected[plan_number], 32) == 0;
}

/* Requests `n` random plans with a cache that has space for about five plans on disk and for none
 * in memory; returns the number of failures. A file that the cache ignores is a failure too,
 * because only these processes write to the folder, and a file appears complete or not at all. */
static int count_wrong_random_plans(uint32_t seed, uint32_t n) {
  vt_cache *c = new_cache(folder, 1, 40000, VT_CACHE_DIGITS);
  int wrong = 0;
  for (uint32_t i = 0; i < n; i++)
    wrong += !plan_has_expected_digest(c, next_random(&seed) % KINDS);
  const vt_cache_counts counts = read_counts(c);
  if (counts.ignored != 0) fprintf(stderr, "%s\n", counts.reason);
  wrong += counts.ignored != 0 || counts.bytes_disk > 40000 + PROCESSES * 12000;
  vt_cache_free(c);
  return wrong;
}

static pid_t start_requesting_process(uint32_t seed, uint32_t n) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)alarm(120); /* the child ends itself in case this test is stopped */
    _exit(count_wrong_random_plans(seed, n) != 0);
  }
  CHECK(pid > 0);
  return pid;
}

/* Waits for a process to end; returns 1 if it exited with 0. */
static int ends_with_success(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Kills a random process every few milliseconds and starts another in its place. */
static void kill_random_processes(void) {
  pid_t pid[PROCESSES];
  uint32_t seed = 1;
  for (uint32_t i = 0; i < PROCESSES; i++) pid[i] = start_requesting_process(i + 1, 1000000);
  for (uint32_t i = 0; i < KILLS; i++) {
    const struct timespec pause = {0, 1000000 * (1 + (long)(next_random(&seed) % 25))};
    const uint32_t who = next_random(&seed) % PROCESSES;
    (void)nanosleep(&pause, NULL);
    CHECK(kill(pid[who], SIGKILL) == 0);
    /* The process was killed while it still ran; it did not exit by itself before. */
    CHECK(!ends_with_success(pid[who]));
    pid[who] = start_requesting_process(100 + i, 1000000);
  }
  for (uint32_t i = 0; i < PROCESSES; i++) {
    CHECK(kill(pid[i], SIGKILL) == 0);
    (void)ends_with_success(pid[i]);
  }
}

static int unfinished, finished;
static void count_finished_or_unfinished(const char *path) {
  *(strstr(path, "/.volta-") != NULL ? &unfinished : &finished) += 1;
}
static void make_file_old_if_unfinished(const char *path) {
  const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  if (strstr(path, "/.volta-") != NULL) CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* An unfinished file is removed once it is old; a young one stays, because a process may still be
 * writing it. */
static void check_unfinished_files(void) {
  char path[128];
  for (int i = 0; i < 3; i++) {
    (void)snprintf(path, sizeof path, "%s/.volta-1-%d", folder, i);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "half", 4) == 4 && close(fd) == 0);
    if (i == 0) (void)for_each_file(make_file_old_if_unfinished);
  }
  CHECK(count_wrong_random_plans(5, 2 * KINDS) == 0);
  unfinished = finished = 0;
  (void)for_each_file(count_finished_or_unfinished);
  CHECK(unfinished == 2 && finished > 0);
  (void)for_each_file(make_file_old_if_unfinished);
  CHECK(count_wrong_random_plans(6, 2 * KINDS) == 0);
  unfinished = finished = 0;
  (void)for_each_file(count_finished_or_unfinished);
  CHECK(unfinished == 0 && finished > 0);
}

static void set_file_time_to_now(const char *path) { (void)utimensat(AT_FDCWD, path, NULL, 0); }

/* Starts a process that changes the times of all files as fast as it can, until it is killed. */
static pid_t start_touching_process(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)alarm(120);
    for (;;) (void)for_each_file(set_file_time_to_now);
  }
  CHECK(pid > 0);
  return pid;
}

int main(void) {
  pid_t pid[PROCESSES];
  unsetenv("VOLTA_BACKEND");
  model = parse_model(small_model);
  folder_new();
  for (uint32_t i = 0; i < KINDS; i++) CHECK(plan_has_expected_digest(NULL, i));
  kill_random_processes();
  const pid_t toucher = start_touching_process();
  for (uint32_t i = 0; i < PROCESSES; i++)
    pid[i] = start_requesting_process(1000 + i, ROUNDS * KINDS);
  for (uint32_t i = 0; i < PROCESSES; i++) CHECK(ends_with_success(pid[i]));
  CHECK(kill(toucher, SIGKILL) == 0);
  (void)ends_with_success(toucher);
  check_unfinished_files();
  folder_done();
  vt_model_free(model);
  TEST_DONE();
}
