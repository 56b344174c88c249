/* SPDX-License-Identifier: Apache-2.0
 * functions_device.h - the interface between the kernels (functions_device.cu) and the program that
 * checks them (device_check.c). A function is identified by its index in functions.def, and has one
 * or two variants. Functions that return a string return NULL, or an error message of the device.
 * Names begin with fd_ for functions on the device. */
#ifndef VT_FUNCTIONS_DEVICE_H
#define VT_FUNCTIONS_DEVICE_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { FD_SLICE = 1 << 24 };
/* variants: FD_F64, the accurate phase in f64; FD_SHORT, the quick phase, with the accurate phase
 * as its fallback */
enum { FD_F64, FD_SHORT, FD_VARIANTS };

/* One per CPU thread: a stream, and a slice of results in device and in host memory. */
typedef struct fd_slot {
  void *stream, *device;
  uint32_t *host;
} fd_slot;

/* writes the name of the device; fails without a device */
const char *fd_device_name(char name[256]);
const char *fd_slot_open(fd_slot *s);
void fd_slot_close(fd_slot *s);

/* Returns 1 if the function has this variant. */
int fd_has_variant(int variant, int function);
/* Computes into s->host the results of the 2^24 inputs that begin with bit pattern slice << 24;
 * NaNs are canonical. */
const char *fd_compute_slice(fd_slot *s, int variant, int function, uint32_t slice);
/* Computes into s->host the results of the pairs (pow_pair_bits) that begin with number
 * `first_pair`. */
const char *fd_compute_pow(fd_slot *s, uint64_t first_pair);
/* Measures the seconds for 2^32 inputs spread evenly over from..to; only a checksum is stored. */
const char *fd_time_function(fd_slot *s, int variant, int function, float from, float to,
                             double *seconds);
#ifdef __cplusplus
}
#endif
#endif
