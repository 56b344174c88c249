/* SPDX-License-Identifier: Apache-2.0
 * fuzz_idx.c - reads any bytes as an idx file. */
#include "fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return read_twice(vt_idx_parse, data, size);
}
