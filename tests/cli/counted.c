/* SPDX-License-Identifier: Apache-2.0
 * counted.c - linked with the command, counts all calls into the backends. When the program ends,
 * it appends a line to the file that VOLTA_COUNTED names. The line has the calls that did not come
 * from the gateway, the objects that were not freed, and the number of devices, programs, runs and
 * copies. Each number is given as counted by the gateway and by the backends. */
#include "wrapped_test.h"

__attribute__((constructor)) static void reset_counts(void) { wrapped_reset(); }

static unsigned total_calls_of_kind(int call) {
  unsigned n = 0;
  for (int row = 0; row < WRAPPED_ROWS; row++) n += wrapped.calls[row][call];
  return n;
}

__attribute__((destructor)) static void write_counts(void) {
  const char *path = getenv("VOLTA_COUNTED");
  FILE *f = path != NULL ? fopen(path, "a") : NULL;
  const vt_gate_counts n = vt_gate_get_counts();
  if (f == NULL) return;
  fprintf(
      f,
      "outside %u modes %u held %ld devices %llu=%u programs %llu=%u runs %llu=%u copies %llu=%u\n",
      (unsigned)wrapped.outside, (unsigned)wrapped.bad_modes, (long)wrapped.live,
      (unsigned long long)n.devices, total_calls_of_kind(WRAPPED_OPEN),
      (unsigned long long)n.programs, total_calls_of_kind(WRAPPED_BUILD),
      (unsigned long long)n.runs, total_calls_of_kind(WRAPPED_RUN), (unsigned long long)n.copies,
      total_calls_of_kind(WRAPPED_COPY));
  (void)fclose(f);
}
