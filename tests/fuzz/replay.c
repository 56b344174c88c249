/* SPDX-License-Identifier: Apache-2.0
 * replay.c - runs a fuzz target over files instead of a fuzzer: replay FILE...
 * A target does everything twice and compares, so that one that keeps state shows it. */
#include <stdio.h>
#include <stdlib.h>
#include "vt_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv) {
  enum { LIMIT = 64 * 1024 * 1024 };
  for (int i = 1; i < argc; i++) {
    vt_diag d = {0};
    vt_file f;
    if (vt_file_read(argv[i], LIMIT, vt_alloc_default(), &f, &d) != VT_OK) {
      fprintf(stderr, "%s\n", d.text);
      return 1;
    }
    (void)LLVMFuzzerTestOneInput(f.data, f.size);
    vt_file_done(&f);
  }
  printf("%d inputs replayed\n", argc - 1);
  return argc == 1; /* no input is a broken set-up, not a success */
}
