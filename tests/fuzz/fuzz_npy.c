/* SPDX-License-Identifier: Apache-2.0
 * fuzz_npy.c - reads any bytes as an npy file. */
#include "fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return read_twice(vt_npy_parse, data, size);
}
