/* SPDX-License-Identifier: Apache-2.0
 * cuda_driver.h - loads the CUDA driver's library when it is first needed. It needs no header of
 * CUDA and links with nothing. Every entry point is a row of cu.def. */
#ifndef VT_CUDA_DRIVER_H
#define VT_CUDA_DRIVER_H
#include <stddef.h>
#include <stdint.h>
#include "volta/volta_status.h"

typedef struct vt_cu {
  void *library;
  int version; /* version of the driver: 12040 means 12.4 */
#define VT_CU(name, since, params) int(*name) params;
#include "cu.def"
#undef VT_CU
} vt_cu;

/* Status codes, attributes and flags, with the values of the driver's interface. */
enum {
  VT_CU_SUCCESS = 0,
  VT_CU_OUT_OF_MEMORY = 2,
  VT_CU_NO_DEVICE = 100,
  VT_CU_ATTRIBUTE_PROCESSORS = 16,
  VT_CU_ATTRIBUTE_MAJOR = 75,
  VT_CU_ATTRIBUTE_MINOR = 76,
  /* attribute of a device: whether it supports cooperative launches */
  VT_CU_ATTRIBUTE_COOPERATIVE = 95,
  VT_CU_ATTRIBUTE_SHARED_OPTIN = 97,
  /* attribute of a function: the most bytes of dynamic shared memory that a launch may have */
  VT_CU_FUNCTION_SHARED = 8,
  VT_CU_STREAM_NON_BLOCKING = 1,
  VT_CU_CAPTURE_THREAD_LOCAL = 1,
};

/* Loads the driver once per process; later calls return the same table. VT_BACKEND if a library or
 * an entry point is missing, which d names. */
vt_status vt_cu_get(const vt_cu **out, vt_diag *d) VT_NODISCARD;
/* Writes a text like "out of memory (CUDA_ERROR_OUT_OF_MEMORY)" to `out` and returns it. */
enum { VT_CU_TEXT = 160 };
const char *vt_cu_error_text(const vt_cu *cu, int error, char out[VT_CU_TEXT]);
#endif
