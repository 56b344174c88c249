/* SPDX-License-Identifier: Apache-2.0
 * cuda_facts.c - describes the CUDA support of this build and machine in words. Each part may be
 * missing; the text then says so. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "cuda_backend.h"
#include "cuda_facts.h"
#include "cuda_images.h"
#include "cuda_nvrtc.h"

/* Writes the driver's release, like ", release 550.54.15", because several releases support one
 * CUDA version; or "" if the system does not tell. It is read from a file with the line "NVRM
 * version: NVIDIA UNIX x86_64 Kernel Module 550.54.15 Tue Mar 5". */
static void say_driver_release(char out[60]) {
  char line[200] = "", *rest = NULL;
  FILE *f = fopen("/proc/driver/nvidia/version", "r");
  out[0] = 0;
  if (f == NULL) return;
  if (fgets(line, sizeof line, f) == NULL) line[0] = 0;
  (void)fclose(f);
  for (char *w = strtok_r(line, " \t\n", &rest); w != NULL; w = strtok_r(NULL, " \t\n", &rest)) {
    if (!isdigit((unsigned char)w[0]) || strchr(w, '.') == NULL) continue;
    snprintf(out, 60, ", release %.40s", w);
    return;
  }
}

void vt_cuda_say_driver(char *out, size_t n) {
  const vt_cu *cu;
  char release[60];
  vt_diag why = {0};
  if (vt_cu_get(&cu, &why) != VT_OK) {
    snprintf(out, n, "unavailable: %s", why.text);
    return;
  }
  say_driver_release(release);
  snprintf(out, n, "for CUDA %d.%d%s", cu->version / 1000, cu->version % 1000 / 10, release);
}

/* Writes "0 NVIDIA H200 (9.0, 139 GiB)" or "1 Tesla T4 (7.5, 15 GiB), too old: kernels need 8.0".
 */
static int say_device(const vt_cu *cu, int i, char *out, size_t n) {
  char name[96] = "?", old[40] = "";
  int device = 0, major = 0, minor = 0;
  size_t bytes = 0;
  (void)cu->cuDeviceGet(&device, i);
  (void)cu->cuDeviceGetName(name, sizeof name, device);
  (void)cu->cuDeviceGetAttribute(&major, VT_CU_ATTRIBUTE_MAJOR, device);
  (void)cu->cuDeviceGetAttribute(&minor, VT_CU_ATTRIBUTE_MINOR, device);
  (void)cu->cuDeviceTotalMem(&bytes, device);
  if (major < VT_CUDA_OLDEST)
    snprintf(old, sizeof old, ", too old: kernels need %d.0", VT_CUDA_OLDEST);
  return snprintf(out, n, "%s%d %.95s (%d.%d, %zu GiB)%s", i == 0 ? "" : "; ", i, name, major,
                  minor, bytes >> 30, old);
}

void vt_cuda_say_devices(char *out, size_t n) {
  vt_diag why = {0};
  const vt_cu *cu;
  const uint32_t total = vt_cuda_card_count(&why);
  size_t used = 0;
  if (total == 0 || vt_cu_get(&cu, &why) != VT_OK) {
    snprintf(out, n, "none");
    return; /* without a driver there is nothing to list; vt_cuda_say_driver gives the reason */
  }
  for (uint32_t i = 0; i < total && used < n; i++)
    used += (size_t)say_device(cu, (int)i, out + used, n - used);
}

void vt_cuda_say_kernels(char *out, size_t n) {
  if (vt_cuda_images_count == 0) {
    snprintf(out, n, "missing: this build was made without nvcc");
  } else if (vt_cuda_compiler[0] == 0) {
    snprintf(out, n, "stand-ins: this build is for tests without a GPU");
  } else {
    snprintf(out, n, "%s, by %s", vt_cuda_architectures, vt_cuda_compiler);
  }
}

void vt_cuda_say_nvrtc(char *out, size_t n) {
  const vt_nvrtc *nvrtc;
  vt_diag why = {0};
  if (vt_nvrtc_get(&nvrtc, &why) == VT_OK) {
    snprintf(out, n, "%d.%d", nvrtc->major, nvrtc->minor);
  } else {
    snprintf(out, n, "missing: %s; groups run step by step", why.text);
  }
}
