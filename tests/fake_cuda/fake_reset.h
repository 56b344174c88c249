/* SPDX-License-Identifier: Apache-2.0
 * fake_reset.h - for programs that use the emulated driver of tests/fake_cuda: changes its
 * configuration while it is in use. */
#ifndef VT_FAKE_RESET_H
#define VT_FAKE_RESET_H
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Sets an environment variable of the driver and resets it, so that it counts its calls from 1
 * again. Returns 0 if the driver is not the emulated one. */
static inline int fake_set_and_reset(const char *name, const char *value) {
  typedef void reset_fn(void);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *found = NULL;
  reset_fn *reset = NULL;
  setenv(name, value, 1);
  if (driver != NULL) found = dlsym(driver, "fake_cuda_reset");
  if (found == NULL) return 0;
  memcpy(&reset, &found, sizeof reset);
  reset();
  return 1;
}
#endif
