/* SPDX-License-Identifier: Apache-2.0
 * cts_digests.c - writes cts.digests: for each case the first eight bytes of its run digest and its
 * name, ascending by name. */
#include "cts.h"
#include "vt_file.h"

int cts_digests_write(const char *folder, const vt_suite *s, const uint8_t *const *start) {
  char path[4096];
  vt_text t;
  vt_file_writer w;
  vt_diag d = {0};
  snprintf(path, sizeof path, "%s/cts.digests", folder);
  vt_text_init(&t, vt_alloc_default());
  vt_text_add(&t,
              "# The start of each case's digest, written by `cts --write` from the reference.\n");
  for (uint32_t i = 0; i < s->n_cases; i++) {
    for (int k = 0; k < 8; k++) vt_text_add(&t, "%02x", start[i][k]);
    vt_text_add(&t, " %s\n", s->cases[i].name);
  }
  vt_status status = vt_text_status(&t);
  if (status == VT_OK) status = vt_file_create(path, &w, &d);
  if (status == VT_OK) status = vt_file_write(&w, t.s, t.n, &d);
  if (status == VT_OK) status = vt_file_commit(&w, &d);
  vt_text_done(&t);
  if (status != VT_OK) fprintf(stderr, "cts: %s: %s\n", path, d.text);
  return status == VT_OK;
}
