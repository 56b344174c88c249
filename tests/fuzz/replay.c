/* SPDX-License-Identifier: Apache-2.0
 * replay.c - runs a fuzz target on stored inputs: replay [--every=N] FILE... With --every=N it runs
 * only the first and every Nth file after it, unless VOLTA_TEST_FULL or VOLTA_CORPUS_FULL is set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vt_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Returns 1 if the file was read. */
static int replay_file(const char *path) {
  enum { LIMIT = 64 * 1024 * 1024 };
  vt_diag d = {0};
  vt_file f;
  if (vt_file_read(path, LIMIT, vt_alloc_default(), &f, &d) != VT_OK) {
    fprintf(stderr, "%s\n", d.text);
    return 0;
  }
  (void)LLVMFuzzerTestOneInput(f.data, f.size);
  vt_file_done(&f);
  return 1;
}

int main(int argc, char **argv) {
  int first = 1, every = 1, n = 0;
  if (argc > 1 && strncmp(argv[1], "--every=", 8) == 0) {
    first = 2;
    const int all = getenv("VOLTA_TEST_FULL") != NULL || getenv("VOLTA_CORPUS_FULL") != NULL;
    every = all ? 1 : atoi(argv[1] + 8);
  }
  for (int i = first; every > 0 && i < argc; i += every, n++)
    if (!replay_file(argv[i])) return 1;
  printf("%d inputs replayed\n", n);
  return n == 0; /* a replay of no inputs fails, because the set-up must be broken */
}
