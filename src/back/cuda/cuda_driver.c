/* SPDX-License-Identifier: Apache-2.0
 * cuda_driver.c - loads the driver's library and its entry points. They are requested by version,
 * so that a newer driver gives the meaning that this code was written for. */
#define _GNU_SOURCE /* declares dl_iterate_phdr */
#include "cuda_driver.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef int get_proc_fn(const char *name, void **out, int version, uint64_t flags, int *status);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_cu driver; /* the library's entry points; set once, and the library is never unloaded */

static const struct entry {
  const char *name;
  int since;
  size_t at;
} entries[] = {
#define VT_CU(name, since, params) {#name, since, offsetof(vt_cu, name)},
#include "cu.def"
#undef VT_CU
};

const char *vt_cu_error_text(const vt_cu *cu, int error, char out[VT_CU_TEXT]) {
  const char *name = NULL, *text = NULL;
  (void)cu->cuGetErrorName(error, &name);
  (void)cu->cuGetErrorString(error, &text);
  snprintf(out, VT_CU_TEXT, "%s (%s)", text != NULL ? text : "an error without a description",
           name != NULL ? name : "unknown");
  return out;
}

/* dlsym returns functions as object pointers; memcpy converts them without undefined behaviour. */
static get_proc_fn *find_get_proc_address(void *library) {
  void *found = dlsym(library, "cuGetProcAddress_v2");
  get_proc_fn *fn = NULL;
  memcpy(&fn, &found, sizeof fn);
  return fn;
}

static vt_status find_entry_points(vt_cu *cu, vt_diag *d) {
  get_proc_fn *get = find_get_proc_address(cu->library);
  if (get == NULL)
    return VT_FAIL(d, VT_BACKEND, "the CUDA driver is older than 12.0: it has no cuGetProcAddress");
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *found = NULL;
    int status = 0;
    if (get(entries[i].name, &found, entries[i].since, 0, &status) != VT_CU_SUCCESS ||
        found == NULL)
      return VT_FAIL(d, VT_BACKEND, "the CUDA driver has no %s of version %d.%d", entries[i].name,
                     entries[i].since / 1000, entries[i].since % 1000 / 10);
    memcpy((char *)cu + entries[i].at, &found, sizeof found);
  }
  return VT_OK;
}

static vt_status init_driver(vt_cu *cu, vt_diag *d) {
  char text[VT_CU_TEXT];
  VT_TRY(find_entry_points(cu, d));
  const int error = cu->cuInit(0);
  if (error == VT_CU_NO_DEVICE) return VT_FAIL(d, VT_BACKEND, "no CUDA device is visible here");
  if (error != VT_CU_SUCCESS)
    return VT_FAIL(d, VT_BACKEND, "the CUDA driver does not start: %s",
                   vt_cu_error_text(cu, error, text));
  if (cu->cuDriverGetVersion(&cu->version) != VT_CU_SUCCESS) cu->version = 0;
  return VT_OK;
}

/* Writes whether the first object, which is the program itself, names a dynamic linker. */
static int find_dynamic_linker(struct dl_phdr_info *program, size_t size, void *out_found) {
  int *found = out_found;
  (void)size;
  for (int i = 0; i < program->dlpi_phnum; i++) *found |= program->dlpi_phdr[i].p_type == PT_INTERP;
  return 1;
}

/* A program that is linked statically has no dynamic linker. There a library that dlopen loads gets
 * a second C library, and calls into it crash, so the driver is not loaded. */
static vt_status check_program_can_load_libraries(vt_diag *d) {
  int found = 0;
  (void)dl_iterate_phdr(find_dynamic_linker, &found);
  if (found) return VT_OK;
  return VT_FAIL(d, VT_BACKEND,
                 "this program is linked statically, so it cannot load the CUDA driver");
}

static vt_status load_driver(vt_diag *d) {
  VT_TRY(check_program_can_load_libraries(d));
  vt_cu cu = {.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
  if (cu.library == NULL) {
    const char *why = dlerror();
    return VT_FAIL(d, VT_BACKEND, "there is no CUDA driver here: %s", why != NULL ? why : "");
  }
  /* A driver cannot be unloaded safely once it was called, so the library stays loaded after a
   * failure too. */
  const vt_status s = init_driver(&cu, d);
  if (s == VT_OK) driver = cu;
  return s;
}

vt_status vt_cu_get(const vt_cu **out, vt_diag *d) {
  pthread_mutex_lock(&lock);
  const vt_status s = driver.library != NULL ? VT_OK : load_driver(d);
  pthread_mutex_unlock(&lock);
  if (s == VT_OK) *out = &driver;
  return s;
}
