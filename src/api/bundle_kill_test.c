/* SPDX-License-Identifier: Apache-2.0
 * bundle_kill_test.c - a process that writes two bundles over each other is killed at random
 * moments: under the name is always one of them, complete, also for a reader that opens it while it
 * is replaced; and the next writer removes what was left behind. */
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "bundle_test.h"

static uint8_t expected[2][32]; /* digests of the weights of the two bundles */
static long time_of_write;      /* in nanoseconds */

static void write_one(const char *path, float seed) {
  static const vt_binding bind[] = {{"B", 2}};
  const vt_options plan = {.size = sizeof plan, .bind = bind, .n_bind = 1, .backend = "reference"};
  const vt_options *const plans[] = {&plan};
  vt_weights *w = make_weights(seed);
  vt_bundle_contents c = make_contents(w);
  vt_diag d = {.code = VT_OK};
  c.n_plans = 1;
  c.plans = plans;
  CHECK(vt_bundle_write(path, &c, &d) == VT_OK);
  if (d.code != VT_OK) fprintf(stderr, "%s\n", d.text);
  vt_weights_free(w);
}

/* Opens and checks the bundle, and returns which of the two it is; -1: neither. */
static int which_bundle(const char *path) {
  vt_bundle *b = NULL;
  uint8_t digest[32];
  vt_diag d = {.code = VT_OK};
  int which = -1;
  if (vt_bundle_open(path, NULL, &b, &d) == VT_OK && vt_bundle_check(b, &d) == VT_OK &&
      vt_weights_digest(vt_bundle_weights(b), digest, &d) == VT_OK)
    which = memcmp(digest, expected[0], 32) == 0   ? 0
            : memcmp(digest, expected[1], 32) == 0 ? 1
                                                   : -1;
  if (which < 0) fprintf(stderr, "%s\n", d.text);
  vt_bundle_free(b);
  return which;
}

/* Starts a process that writes the two bundles in turn, `first` (0 or 1) first. */
static pid_t start_writer(const char *path, int first) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  (void)alarm(60); /* it ends itself in case this test is stopped */
  for (int i = 0;; i++) write_one(path, (float)(1 + (first + i) % 2));
}

static int count_entries(void) {
  int n = 0;
  DIR *list = opendir(folder);
  if (list == NULL) exit(1);
  while (readdir(list) != NULL) n++;
  closedir(list);
  return n;
}

/* Reads the bundle for a random time while a process writes it, then kills that process. */
static void read_and_kill(const char *path, uint32_t *seed, int seen[2], int *left) {
  struct timespec begin, now, pause = {0, 0};
  const pid_t pid = start_writer(path, 1 - which_bundle(path));
  *seed = *seed * 1664525 + 1013904223;
  const long wait = (long)((uint64_t)(*seed >> 8) * (uint64_t)(4 * time_of_write) >> 24);
  CHECK(pid > 0);
  pause.tv_sec = wait / 2 / 1000000000;
  pause.tv_nsec = wait / 2 % 1000000000;
  (void)nanosleep(&pause, NULL);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    CHECK(which_bundle(path) >= 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < wait / 2);
  (void)kill(pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0) continue;
  const int which = which_bundle(path);
  CHECK(which >= 0);
  if (which >= 0) seen[which]++;
  *left += count_entries() > 3; /* ".", ".." and the bundle */
}

static void test_kills(const char *path, int kills) {
  struct timespec begin, end;
  uint32_t seed = 5;
  int seen[2] = {0, 0}, left = 0;
  write_one(path, 2);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  write_one(path, 1);
  clock_gettime(CLOCK_MONOTONIC, &end);
  time_of_write = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
  for (int i = 0; i < kills; i++) read_and_kill(path, &seed, seen, &left);
  write_one(path, 1);
  CHECK(which_bundle(path) == 0);
  CHECK(count_entries() == 3);
  CHECK(seen[0] > 0 && seen[1] > 0 && left > 0); /* the kills came at different moments */
  fprintf(stderr, "%d kills: %d and %d, staging left %d times, %.1f ms\n", kills, seen[0], seen[1],
          left, (double)time_of_write / 1e6);
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s", path);
  CHECK(system(command) == 0);
}

/* Writers of one bundle at the same time: the last one wins, and none removes the staging folder of
 * another that lives. */
static void test_concurrent_writers(const char *path) {
  pid_t pid[3];
  write_one(path, 1);
  for (int i = 0; i < 3; i++) {
    pid[i] = fork();
    if (pid[i] != 0) continue;
    for (int k = 0; k < 20; k++) write_one(path, (float)(1 + (i + k) % 2));
    _exit(vt_test_failed != 0);
  }
  for (int i = 0; i < 100; i++) CHECK(which_bundle(path) >= 0);
  for (int i = 0; i < 3; i++) {
    int status = 0;
    while (waitpid(pid[i], &status, 0) < 0) continue;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  write_one(path, 1);
  CHECK(which_bundle(path) == 0 && count_entries() == 3);
  char command[600];
  snprintf(command, sizeof command, "rm -rf %s", path);
  CHECK(system(command) == 0);
}

int main(void) {
  const int kills = vt_test_is_long() ? 200 : 20;
  unsetenv("VOLTA_BACKEND");
  make_folder(0);
  for (int i = 0; i < 2; i++) {
    const char *path = file_path("first.vtz");
    vt_bundle *b = NULL;
    write_one(path, (float)(1 + i));
    CHECK(vt_bundle_open(path, NULL, &b, NULL) == VT_OK);
    CHECK(vt_weights_digest(vt_bundle_weights(b), expected[i], NULL) == VT_OK);
    vt_bundle_free(b);
    CHECK(unlink(path) == 0);
  }
  test_kills(file_path("net.vtz"), kills);
  test_kills(file_path("net"), kills);
  test_concurrent_writers(file_path("net.vtz"));
  test_concurrent_writers(file_path("net"));
  TEST_DONE();
}
