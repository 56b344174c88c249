/* SPDX-License-Identifier: Apache-2.0
 * slices_test.c - one slice of 2^24 inputs of each function against exhaustive.digests, which were
 * written when all 2^32 inputs agreed with MPFR. A hash of the sources chooses the slice, so that
 * each change is checked on different inputs.
 *
 *   slices_test [NAME:SLICE]...    these slices of these functions instead */
#include "slice_test.h"
#include "vt_fpenv.h"

static const struct {
  const char *name;
  float (*call)(float x);
} functions[] = {
#define VT_FUNCTION(name, estimate, oracle) {#name, vt_f32_##name},
#include "functions.def"
#undef VT_FUNCTION
};

/* Tests one argument NAME:SLICE; returns 0 if there is no such function or slice. */
static int test_argument(const char *argument, uint32_t *results, const vt_file *digests) {
  unsigned long slice;
  for (unsigned f = 0; f < N_FUNCTIONS; f++)
    if (parse_slice_argument(argument, functions[f].name, &slice) && slice < 256) {
      test_slice(functions[f].name, functions[f].call, (unsigned)slice, results, digests);
      return 1;
    }
  fprintf(stderr, "slices_test: no such function or slice: %s\n", argument);
  return 0;
}

int main(int argc, char **argv) {
  vt_fpenv saved;
  vt_file digests;
  uint32_t *results = malloc((size_t)SLICE * sizeof *results);
  CHECK(results != NULL);
  if (results == NULL || !read_digests(&digests)) return 1;
  const unsigned slice = choose_slice();
  vt_fpenv_enter(&saved);
  for (int i = 1; i < argc; i++) CHECK(test_argument(argv[i], results, &digests));
  for (unsigned f = 0; argc == 1 && f < N_FUNCTIONS; f++)
    test_slice(functions[f].name, functions[f].call, (slice + f * 23) % 256, results, &digests);
  vt_fpenv_leave(&saved);
  vt_file_done(&digests);
  free(results);
  TEST_DONE();
}
