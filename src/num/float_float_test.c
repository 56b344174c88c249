/* SPDX-License-Identifier: Apache-2.0
 * float_float_test.c - the functions with a float-float phase (vt_ff_phase.h), which decides most
 * inputs. Compares one slice of 2^24 inputs of each function (in the short form of the test of
 * every fourth) with exhaustive.digests; a hash of the sources chooses the slice. Compares random
 * inputs of every class with the scalar functions. Checks that the float-float phase decides common
 * inputs.
 *
 *   float_float_test [NAME:SLICE]...    only these functions, and these slices of them */
#include "slice_test.h"
#include "vt_fpenv.h"
#include "vt_core.h"
#include "fn_exp.inc"
#include "fn_log.inc"
#include "fn_trig.inc"
#include "fn_erf.inc"
#include "fs_all.inc"

enum { TRIES = 1000000 };

typedef struct function {
  const char *name;
  vt_ff_rounded (*float_float)(float x);
  float (*two_phase)(float x), (*expected)(float x);
  float from, to;
  unsigned rare;
} function;
static const function functions[] = {
#define VT_FF_FUNCTION(name, from, to, rare) \
  {#name, vt_ff_try_##name, vt_ff_##name, vt_f32_##name, from, to, rare},
#include "ff_functions.def"
#undef VT_FF_FUNCTION
};
enum { N_SHORTS = sizeof functions / sizeof *functions };

/* ---- slices ---- */

/* Returns one of the slices with |x| from 2^-9 to 2^7, where the float-float phase decides most
 * inputs; also a negative slice if the function is defined there. */
static unsigned common_slice(const function *f, unsigned chosen) {
  const unsigned negative = f->from < 0 ? chosen / 8 % 2 : 0;
  return negative << 7 | (0x3b + chosen % 8);
}

static void test_slices(uint32_t *results, const vt_file *digests) {
  const unsigned chosen = choose_slice(), step = is_long_form() ? 1 : 4;
  for (unsigned f = chosen % step; f < N_SHORTS; f += step)
    test_slice(functions[f].name, functions[f].two_phase, common_slice(&functions[f], chosen + f),
               results, digests);
}

/* ---- random inputs ---- */

/* Returns a random common input: numbers of both signs are uniformly distributed over the range; of
 * a range with one sign, the patterns are uniformly distributed. */
static float common_input(const function *f, uint64_t *state) {
  const uint64_t r = random_u64(state);
  const double u = (double)(r >> 11) * 0x1p-53;
  if (f->from < 0) return (float)((double)f->from + ((double)f->to - (double)f->from) * u);
  const uint32_t first = vt_f32_bits(f->from), last = vt_f32_bits(f->to);
  return vt_f32_from_bits(first + (uint32_t)(r % (last - first + 1)));
}

static void test_random_inputs(const function *f, uint64_t seed) {
  uint64_t state = seed;
  unsigned wrong = 0;
  for (int i = 0; i < TRIES; i++) {
    const float x = i % 2 ? any_f32(&state) : common_input(f, &state);
    const float y = f->two_phase(x), expected = f->expected(x);
    if (!same_f32(y, expected) && wrong++ == 0)
      fprintf(stderr, "%s(%a) is %a, not %a (seed %llu)\n", f->name, (double)x, (double)y,
              (double)expected, (unsigned long long)seed);
  }
  CHECK(wrong == 0);
}

static void test_common_inputs_decided(const function *f, uint64_t seed) {
  uint64_t state = seed;
  unsigned undecided = 0;
  for (int i = 0; i < TRIES; i++) undecided += f->float_float(common_input(f, &state)).sure == 0;
  if (undecided > TRIES / f->rare)
    fprintf(stderr, "%s: %u of %d left to the core\n", f->name, undecided, TRIES);
  CHECK(undecided <= TRIES / f->rare);
}

/* Zeros are decided by the float-float phase if they are in the range, and keep their sign; NaN is
 * never decided. */
static void test_zeros_and_nan(const function *f) {
  const float zero = 0.0f, nan = vt_f32_from_bits(0x7fc00000u);
  CHECK(same_f32(f->two_phase(zero), f->expected(zero)) &&
        same_f32(f->two_phase(-zero), f->expected(-zero)));
  CHECK(f->float_float(nan).sure == 0);
  CHECK(f->from > 0 || f->float_float(zero).sure != 0);
}

static void test_one_function(unsigned f) {
  test_zeros_and_nan(&functions[f]);
  test_common_inputs_decided(&functions[f], 7 * f + 1);
  test_random_inputs(&functions[f], 7 * f + 2);
}

/* Tests one argument NAME:SLICE; returns 0 if there is no such function or slice. */
static int test_argument(const char *argument, uint32_t *results, const vt_file *digests) {
  unsigned long slice;
  for (unsigned f = 0; f < N_SHORTS; f++)
    if (parse_slice_argument(argument, functions[f].name, &slice) && slice < 256) {
      test_one_function(f);
      test_slice(functions[f].name, functions[f].two_phase, (unsigned)slice, results, digests);
      return 1;
    }
  fprintf(stderr, "float_float_test: no such function or slice: %s\n", argument);
  return 0;
}

int main(int argc, char **argv) {
  vt_fpenv saved;
  vt_file digests;
  uint32_t *results = malloc((size_t)SLICE * sizeof *results);
  CHECK(results != NULL);
  if (results == NULL || !read_digests(&digests)) return 1;
  vt_fpenv_enter(&saved);
  for (int i = 1; i < argc; i++) CHECK(test_argument(argv[i], results, &digests));
  for (unsigned f = 0; argc == 1 && f < N_SHORTS; f++) test_one_function(f);
  if (argc == 1) test_slices(results, &digests);
  vt_fpenv_leave(&saved);
  vt_file_done(&digests);
  free(results);
  TEST_DONE();
}
