/* SPDX-License-Identifier: Apache-2.0
 * fake_cubin.h - what the compiler without a GPU (fake_nvrtc.cc) hands to the driver without a GPU
 * (fake_kernels.cc): a head, and a library for this processor behind it. */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H
#include <cstdint>

struct fake_cubin {
  char title[16]; /* FAKE_CUBIN */
  uint64_t bytes; /* of the library that follows */
};
#define FAKE_CUBIN "a fake cubin\n"
#endif
