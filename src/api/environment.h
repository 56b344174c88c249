/* SPDX-License-Identifier: Apache-2.0
 * environment.h - the environment variables that replace options the caller left out. None of them
 * changes a bit of a result. Private to the api. */
#ifndef VT_ENVIRONMENT_H
#define VT_ENVIRONMENT_H
#include "volta/volta_status.h"

enum {
  VT_THREADS_MOST = 4096, /* the most threads that a caller may ask for */
  VT_ISA_LONGEST = 15     /* the most characters in the name of an instruction set */
};
/* The value of VOLTA_BACKEND, or "auto" if it is unset or empty. */
const char *vt_environment_backend(void);
/* The value of VOLTA_THREADS, or 0 if it is unset or empty; VT_USAGE if it is not a number from 1
 * to VT_THREADS_MOST. */
vt_status vt_environment_threads(uint32_t *out, vt_diag *d) VT_NODISCARD;
/* The value of VOLTA_ISA, or NULL if it is unset or empty. */
const char *vt_environment_isa(void);
#endif
