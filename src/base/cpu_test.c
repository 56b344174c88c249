/* SPDX-License-Identifier: Apache-2.0
 * cpu_test.c - the detected features and processor count agree with those that the kernel reports.
 */
#define _GNU_SOURCE /* declares sched_setaffinity */
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt_cpu.h"
#include "vt_test.h"

static void test_features_are_consistent(void) {
  const vt_cpu *c = vt_cpu_get();
  CHECK(c == vt_cpu_get());
  CHECK(c->cores >= 1);
  CHECK(!c->vnni || c->avx512);
  CHECK(!c->avx512 || (c->avx2 && c->fma && c->f16c));
  CHECK(!(c->sse2 && c->neon));
}

/* A child process that may run on one processor only must count one, however many the machine has.
 * This test runs before this process detects its own features. */
static void test_cores_respect_affinity(void) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0) _exit(0);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) _exit(0);
    _exit(vt_cpu_get()->cores != 1);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int has_word(const char *text, const char *word) {
  const size_t n = strlen(word);
  for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word))
    if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\n' || p[n] == 0)) return 1;
  return 0;
}

static void test_feature_list_has_whole_names(void) {
  const vt_cpu *c = vt_cpu_get();
  char text[64], small[64];
  vt_cpu_list_features(text, sizeof text);
  CHECK(has_word(text, "sse2") == c->sse2 && has_word(text, "fma") == c->fma);
  CHECK(has_word(text, "f16c") == c->f16c);
  CHECK(has_word(text, "avx2") == c->avx2 && has_word(text, "avx512") == c->avx512);
  CHECK(has_word(text, "vnni") == c->vnni && has_word(text, "neon") == c->neon);
  for (size_t n = 0; n < sizeof small;
       n++) { /* names of features are never cut in half, and nothing is written past the end */
    memset(small, '#', sizeof small);
    vt_cpu_list_features(small, n);
    for (size_t i = n; i < sizeof small; i++) CHECK(small[i] == '#');
    if (n == 0) continue;
    CHECK(strlen(small) < n && (small[0] == 0 || has_word(text, small) || strchr(small, ' ')));
  }
}

/* The kernel, like our detection, lists a feature only if it saves the registers of that feature.
 */
static void test_features_agree_with_kernel(void) {
  static char line[16384];
  FILE *f = fopen("/proc/cpuinfo", "r");
  if (f == NULL) return;
  while (fgets(line, sizeof line, f) != NULL)
    if (strncmp(line, "flags", 5) == 0) break;
  fclose(f);
  if (strncmp(line, "flags", 5) != 0) return;
  const vt_cpu *c = vt_cpu_get();
  CHECK(has_word(line, "sse2") == c->sse2);
  CHECK(has_word(line, "fma") == c->fma);
  CHECK(has_word(line, "f16c") == c->f16c);
  CHECK(has_word(line, "avx2") == c->avx2);
  CHECK((has_word(line, "avx512f") && has_word(line, "avx512bw") && has_word(line, "avx512dq") &&
         has_word(line, "avx512vl")) == c->avx512);
  CHECK(!c->vnni || has_word(line, "avx512_vnni"));
}

int main(void) {
  test_cores_respect_affinity(); /* must run before the features are detected */
  test_features_are_consistent();
  test_feature_list_has_whole_names();
  test_features_agree_with_kernel();
  TEST_DONE();
}
