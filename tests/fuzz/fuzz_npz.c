/* SPDX-License-Identifier: Apache-2.0
 * fuzz_npz.c - reads any bytes as an npz file. */
#include "fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return read_twice(vt_npz_parse, data, size);
}
