/* SPDX-License-Identifier: Apache-2.0
 * functions_device.h - between the kernels (functions_device.cu) and the program that judges them
 * (device_check.c). A function is known by its place in functions.def, a way is one of two. Every
 * call returns 0, or a line that says what went wrong on the device. */
#ifndef VT_FUNCTIONS_DEVICE_H
#define VT_FUNCTIONS_DEVICE_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { FD_SLICE = 1 << 24 };
enum { FD_F64, FD_SHORT, FD_WAYS }; /* the core; the short way with the core behind it */

/* One a thread: a stream, and a slice of results there and here. */
typedef struct fd_slot {
  void *stream, *device;
  uint32_t *host;
} fd_slot;

const char *fd_device(char name[256]); /* its name; an error where there is none */
const char *fd_slot_open(fd_slot *s);
void fd_slot_close(fd_slot *s);

/* Whether the function has this way. */
int fd_has(int way, int function);
/* s->host = the results of 2^24 inputs from pattern slice << 24 on, NaN made canonical. */
const char *fd_slice(fd_slot *s, int way, int function, uint32_t slice);
/* s->host = the results of the pairs number `first` and on (pair_of). */
const char *fd_pow(fd_slot *s, uint64_t first);
/* Seconds for 2^32 inputs spread evenly over from..to, nothing written but a checksum. */
const char *fd_time(fd_slot *s, int way, int function, float from, float to, double *seconds);
#ifdef __cplusplus
}
#endif
#endif
