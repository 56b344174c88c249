/* SPDX-License-Identifier: Apache-2.0
 * fake_cubin.h - the image that the fake NVRTC (fake_nvrtc.cc) produces and the emulated driver
 * (fake_kernels.cc) loads: a head, followed by a shared library for the CPU. */
#ifndef FAKE_CUBIN_H
#define FAKE_CUBIN_H
#include <cstdint>

struct fake_cubin {
  char title[16]; /* the text FAKE_CUBIN, padded with zeros */
  uint64_t bytes; /* bytes of the library that is stored after the head */
};
#define FAKE_CUBIN "a fake cubin\n"
#endif
