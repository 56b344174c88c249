// SPDX-License-Identifier: Apache-2.0
// gpu_ints.cuh - loads of 8-bit integers, zero points and biases.
#ifndef VT_GPU_INTS_CUH
#define VT_GPU_INTS_CUH
#include "gpu_words.cuh"

// Returns the value of a byte: of an i8 if `flip` is 0x80, of a u8 if it is 0.
VT_GPU_FN int32_t vt_ints_from_byte(uint8_t byte, uint32_t flip) {
  return (int32_t)(byte ^ flip) - (int32_t)flip;
}
VT_GPU_FN int32_t vt_ints_load(const void *from, int64_t at, uint32_t flip) {
  return vt_ints_from_byte(((const uint8_t *)from)[at], flip);
}
// Returns the zero point at index `at`, or 0 if the operand is absent.
VT_GPU_FN int32_t vt_ints_load_zero_point(const void *from, int64_t at, uint32_t flip) {
  return from == nullptr ? 0 : vt_ints_load(from, at, flip);
}
VT_GPU_FN uint32_t vt_ints_load_bias(const void *from, int64_t at) {
  return from == nullptr ? 0u : (uint32_t)((const int32_t *)from)[at];
}
#endif
