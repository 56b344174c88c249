/* SPDX-License-Identifier: Apache-2.0
 * environment.c - the only file of the library that reads the environment. */
#include <stdlib.h>
#include "environment.h"

const char *vt_environment_backend(void) {
  const char *name = getenv("VOLTA_BACKEND");
  return name != NULL && name[0] != 0 ? name : "reference";
}
