/* SPDX-License-Identifier: Apache-2.0
 * cuda_nvrtc.c - the library of NVRTC and its entry points. */
#include "cuda_nvrtc.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_nvrtc nvrtc; /* once found it stays */

static const struct entry {
  const char *name;
  size_t at;
} entries[] = {
#define VT_NVRTC(name, params) {#name, offsetof(vt_nvrtc, name)},
#include "nvrtc.def"
#undef VT_NVRTC
};

/* The newest first; where a toolkit puts it, after what the system knows. */
static const char *const places[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.12",
};

static vt_status start(vt_nvrtc *n, vt_diag *d) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *found = dlsym(n->library, entries[i].name);
    if (found == NULL) return VT_FAIL(d, VT_BACKEND, "the NVRTC here has no %s", entries[i].name);
    memcpy((char *)n + entries[i].at, &found, sizeof found);
  }
  if (n->nvrtcVersion(&n->major, &n->minor) != 0)
    return VT_FAIL(d, VT_BACKEND, "the NVRTC here does not say its version");
  return VT_OK;
}

static vt_status load(vt_diag *d) {
  vt_nvrtc n = {.library = NULL};
  for (size_t i = 0; n.library == NULL && i < sizeof places / sizeof *places; i++)
    n.library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
  if (n.library == NULL)
    return VT_FAIL(d, VT_BACKEND, "there is no NVRTC here (libnvrtc.so.13 or .12)");
  const vt_status s = start(&n, d);
  if (s == VT_OK) {
    nvrtc = n;
  } else {
    dlclose(n.library);
  }
  return s;
}

vt_status vt_nvrtc_get(const vt_nvrtc **out, vt_diag *d) {
  pthread_mutex_lock(&lock);
  const vt_status s = nvrtc.library != NULL ? VT_OK : load(d);
  pthread_mutex_unlock(&lock);
  if (s == VT_OK) *out = &nvrtc;
  return s;
}
