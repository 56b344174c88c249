/* SPDX-License-Identifier: Apache-2.0
 * fuzz_safetensors.c - reads any bytes as a safetensors file. */
#include "fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return read_twice(vt_safetensors_parse, data, size);
}
