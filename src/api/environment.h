/* SPDX-License-Identifier: Apache-2.0
 * environment.h - the environment variables that can choose something. They never decide bits. */
#ifndef VT_ENVIRONMENT_H
#define VT_ENVIRONMENT_H
#include "volta/volta_status.h"

enum { VT_THREADS_MOST = 4096, VT_ISA_LONGEST = 15 };
/* VOLTA_BACKEND, or "reference". */
const char *vt_environment_backend(void);
/* VOLTA_THREADS: 0 when it is not set; VT_USAGE when it is no number from 1 to 4096. */
vt_status vt_environment_threads(uint32_t *out, vt_diag *d) VT_NODISCARD;
/* VOLTA_ISA, or NULL. */
const char *vt_environment_isa(void);
#endif
