/* SPDX-License-Identifier: Apache-2.0
 * environment.h - the environment variables that can choose something. They never decide bits. */
#ifndef VT_ENVIRONMENT_H
#define VT_ENVIRONMENT_H

/* VOLTA_BACKEND, or "reference". */
const char *vt_environment_backend(void);
#endif
