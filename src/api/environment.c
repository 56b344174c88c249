/* SPDX-License-Identifier: Apache-2.0
 * environment.c - reads VOLTA_BACKEND, VOLTA_THREADS and VOLTA_ISA. No other file of the library
 * reads the environment. */
#include <stdlib.h>
#include <string.h>
#include "environment.h"

const char *vt_environment_backend(void) {
  const char *name = getenv("VOLTA_BACKEND");
  return name != NULL && name[0] != 0 ? name : "auto";
}

vt_status vt_environment_threads(uint32_t *out, vt_diag *d) {
  const char *text = getenv("VOLTA_THREADS");
  *out = 0;
  if (text == NULL || text[0] == 0) return VT_OK;
  const size_t digits = strspn(text, "0123456789");
  uint32_t n = 0;
  if (text[digits] == 0 && digits <= 4) n = (uint32_t)strtoul(text, NULL, 10);
  if (n < 1 || n > VT_THREADS_MOST)
    return VT_FAIL(d, VT_USAGE, "VOLTA_THREADS is a number from 1 to %d, not '%.40s'",
                   VT_THREADS_MOST, text);
  *out = n;
  return VT_OK;
}

const char *vt_environment_isa(void) {
  const char *name = getenv("VOLTA_ISA");
  return name != NULL && name[0] != 0 ? name : NULL;
}
