/* SPDX-License-Identifier: Apache-2.0
 * counted.c - linked with the command it makes one whose backends note every call: at its end it
 * adds a line to the file that VOLTA_COUNTED names: what came from outside of the gateway, what is
 * still held, and how often it was gone through, by the gateway's count and by the backends'. */
#include "wrapped_test.h"

__attribute__((constructor)) static void begin(void) { wrapped_reset(); }

static unsigned calls(int call) {
  unsigned n = 0;
  for (int row = 0; row < WRAPPED_ROWS; row++) n += wrapped.calls[row][call];
  return n;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("VOLTA_COUNTED");
  FILE *f = path != NULL ? fopen(path, "a") : NULL;
  const vt_gate_counts n = vt_gate_get_counts();
  if (f == NULL) return;
  fprintf(
      f,
      "outside %u modes %u held %ld devices %llu=%u programs %llu=%u runs %llu=%u copies %llu=%u\n",
      (unsigned)wrapped.outside, (unsigned)wrapped.bad_modes, (long)wrapped.live,
      (unsigned long long)n.devices, calls(WRAPPED_OPEN), (unsigned long long)n.programs,
      calls(WRAPPED_BUILD), (unsigned long long)n.runs, calls(WRAPPED_RUN),
      (unsigned long long)n.copies, calls(WRAPPED_COPY));
  (void)fclose(f);
}
