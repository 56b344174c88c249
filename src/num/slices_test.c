/* SPDX-License-Identifier: Apache-2.0
 * slices_test.c - one whole slice of 2^24 inputs a function against exhaustive.digests, which were
 * made when all 2^32 inputs agreed with MPFR. Which slice is chosen by a hash of the sources, so
 * that every change is checked somewhere else.
 *   slices_test [NAME:SLICE]...    these slices of these functions instead */
#include <string.h>
#include "num_test.h"
#include "vt_file.h"
#include "vt_fpenv.h"
#include "vt_hash.h"

enum { SLICE = 1 << 24, LIMIT = 1 << 20 };

static const struct {
  const char *name;
  float (*call)(float x);
} functions[] = {
#define VT_FUNCTION(name, estimate, judge) {#name, vt_f32_##name},
#include "functions.def"
#undef VT_FUNCTION
};

static const char *const sources[] = {
    "src/num/functions.c", "src/num/vt_core.h",  "src/num/fn_exp.inc", "src/num/fn_log.inc",
    "src/num/fn_trig.inc", "src/num/fn_arc.inc", "src/num/fn_erf.inc"};

static unsigned choose_slice(void) {
  vt_hasher h;
  vt_hash_init(&h);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    vt_file f;
    CHECK(vt_file_read(sources[i], LIMIT, vt_alloc_default(), &f, NULL) == VT_OK);
    vt_hash_add(&h, f.data, f.size);
    vt_file_done(&f);
  }
  return vt_hash_done(&h).b[0];
}

/* The digest that stands in the file for a function and a slice, or NULL. */
static const char *published(const char *text, const char *name, unsigned slice) {
  char key[32];
  snprintf(key, sizeof key, "%s %3u ", name, slice);
  for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, strlen(key)) == 0) return line + strlen(key);
  }
  return NULL;
}

static void test_slice(unsigned f, unsigned slice, uint32_t *results, const char *text) {
  char hex[65];
  for (uint32_t i = 0; i < SLICE; i++) {
    const float y = functions[f].call(vt_f32_from_bits((uint32_t)slice << 24 | i));
    results[i] = y != y ? 0x7fc00000u : vt_f32_bits(y);
  }
  const vt_hash256 h = vt_hash_bytes(results, (size_t)SLICE * sizeof *results);
  const char *want = published(text, functions[f].name, slice);
  vt_hash_hex(&h, hex);
  if (want == NULL || strncmp(hex, want, 32) != 0)
    fprintf(stderr, "%s: slice %u is %.32s\n", functions[f].name, slice, hex);
  CHECK(want != NULL && strncmp(hex, want, 32) == 0);
}

/* One argument NAME:SLICE; 0 when there is no such function or slice. */
static int test_named(const char *argument, uint32_t *results, const char *text) {
  const char *colon = strchr(argument, ':');
  const unsigned long slice = colon == NULL ? SLICE : strtoul(colon + 1, NULL, 10);
  for (unsigned f = 0; slice < 256 && f < sizeof functions / sizeof *functions; f++)
    if (strncmp(argument, functions[f].name, (size_t)(colon - argument)) == 0 &&
        functions[f].name[colon - argument] == 0) {
      test_slice(f, (unsigned)slice, results, text);
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
  CHECK(vt_file_read("src/num/exhaustive.digests", LIMIT, vt_alloc_default(), &digests, NULL) ==
        VT_OK);
  if (vt_test_failed) return 1;
  const unsigned slice = choose_slice();
  vt_fpenv_enter(&saved);
  for (int i = 1; i < argc; i++) CHECK(test_named(argv[i], results, (const char *)digests.data));
  for (unsigned f = 0; argc == 1 && f < sizeof functions / sizeof *functions; f++)
    test_slice(f, (slice + f * 23) % 256, results, (const char *)digests.data);
  vt_fpenv_leave(&saved);
  vt_file_done(&digests);
  free(results);
  TEST_DONE();
}
