/* SPDX-License-Identifier: Apache-2.0
 * cuda_driver.h - the CUDA driver, found when it is first asked for: no header of CUDA, nothing to
 * link with. Every entry point is a row of cu.def. */
#ifndef VT_CUDA_DRIVER_H
#define VT_CUDA_DRIVER_H
#include <stddef.h>
#include <stdint.h>
#include "volta/volta_status.h"

typedef struct vt_cu {
  void *library;
  int version; /* of the driver, 12040: 12.4 */
#define VT_CU(name, since, params) int(*name) params;
#include "cu.def"
#undef VT_CU
} vt_cu;

/* The numbers of the driver's interface that are used here. */
enum {
  VT_CU_SUCCESS = 0,
  VT_CU_OUT_OF_MEMORY = 2,
  VT_CU_NO_DEVICE = 100,
  VT_CU_ATTRIBUTE_PROCESSORS = 16,
  VT_CU_ATTRIBUTE_MAJOR = 75,
  VT_CU_ATTRIBUTE_MINOR = 76,
  VT_CU_ATTRIBUTE_AT_ONCE = 95, /* whether blocks of a launch can be had to run at once */
  VT_CU_ATTRIBUTE_SHARED_OPTIN = 97,
  VT_CU_FUNCTION_SHARED = 8, /* the most dynamic shared memory of a launch */
  VT_CU_STREAM_NON_BLOCKING = 1,
  VT_CU_CAPTURE_THREAD_LOCAL = 1,
};

/* VT_OK, or VT_BACKEND with what is missing. Found once in a process; a second call is cheap. */
vt_status vt_cu_get(const vt_cu **out, vt_diag *d) VT_NODISCARD;
/* "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; returns `out`. */
enum { VT_CU_TEXT = 160 };
const char *vt_cu_text(const vt_cu *cu, int error, char out[VT_CU_TEXT]);
#endif
