/* SPDX-License-Identifier: Apache-2.0
 * fuzz_tensors.h - functions shared by the fuzz targets of the tensor formats. Any bytes must be
 * read or refused with a reason, and reading them twice must give the same bits or the same
 * message. */
#ifndef FUZZ_TENSORS_H
#define FUZZ_TENSORS_H
#include <stdlib.h>
#include <string.h>
#include "archive.h"
#include "vt_hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void hash_tensor(vt_hasher *h, const char *name, const vt_tensor *t) {
  uint64_t count, bytes;
  if (t->rank > VT_MAX_RANK || vt_tensor_bytes(t, &count, &bytes, NULL) != VT_OK) abort();
  if (name[0] != '\0' && !vt_archive_name_ok(name)) abort();
  vt_hash_add(h, name, strlen(name) + 1);
  vt_hash_add_u32(h, t->dtype);
  vt_hash_add_u32(h, t->rank);
  vt_hash_add(h, t->dim, t->rank * sizeof t->dim[0]);
  vt_hash_add(h, t->data, (size_t)bytes);
}

/* Returns a hash of the tensors that a reader gave, or of its error message. Frees the archive. */
static inline vt_hash256 hash_outcome(vt_status s, const vt_diag *d, vt_archive *ar) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u32(&h, (uint32_t)s);
  if ((s == VT_OK) != (ar != NULL) || s != d->code) abort();
  if (s != VT_OK && d->text[0] == '\0') abort();
  vt_hash_add(&h, d->text, strlen(d->text));
  for (uint32_t i = 0; ar != NULL && i < vt_archive_count(ar); i++) {
    const char *name;
    vt_tensor t;
    if (vt_archive_tensor(ar, i, &name, &t) != VT_OK) abort();
    hash_tensor(&h, name, &t);
  }
  vt_archive_free(ar);
  return vt_hash_done(&h);
}

static inline vt_hash256 hash_of_read(vt_reader_fn *reader, const uint8_t *data, size_t size) {
  const vt_source src = vt_source_from_memory(data, size);
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  const vt_status s = vt_archive_read_source(&src, reader, vt_alloc_default(), &ar, &d);
  return hash_outcome(s, &d, ar);
}

static inline int read_twice(vt_reader_fn *reader, const uint8_t *data, size_t size) {
  const vt_hash256 a = hash_of_read(reader, data, size), b = hash_of_read(reader, data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
#endif
