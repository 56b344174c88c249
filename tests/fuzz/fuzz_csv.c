/* SPDX-License-Identifier: Apache-2.0
 * fuzz_csv.c - reads any bytes as a CSV file. The first byte chooses the element type, and whether
 * to read one column or all. */
#include "fuzz_tensors.h"

static vt_hash256 read_once(const vt_csv_options *o, const uint8_t *data, size_t size) {
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  const vt_status s = vt_csv_parse(data, size, o, NULL, &ar, &d);
  return hash_outcome(s, &d, ar);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint32_t types[4] = {0, VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_I64};
  if (size == 0) return 0;
  const vt_csv_options o = {
      .size = sizeof o, .dtype = types[data[0] & 3], .column = (data[0] & 4) != 0 ? "a" : NULL};
  const vt_hash256 a = read_once(&o, data + 1, size - 1), b = read_once(&o, data + 1, size - 1);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
