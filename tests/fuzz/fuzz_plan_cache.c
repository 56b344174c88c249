/* SPDX-License-Identifier: Apache-2.0
 * fuzz_plan_cache.c - reads any bytes as an entry of the plan cache, once unchanged and once with
 * the right checksum, so that the fuzzer reaches the code after it. An accepted entry must have a
 * graph and a plan that verify, and must print the same bytes. */
#include <stdlib.h>
#include <string.h>
#include "cached_plan.h"
#include "vt_fpenv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HASH_LINE = 65 }; /* bytes of the last line: 64 hexadecimal digits and a newline */
static const char key[] = "fuzz\n";
static const vt_pass_list list = {2, {VT_PASS_bind, VT_PASS_lower}};

static vt_status need_no_scratch(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  (void)self;
  (void)step;
  (void)d;
  *out = 0;
  return VT_OK;
}

static void check_accepted_entry(const vt_cached_plan *k, const uint8_t *data, size_t size) {
  vt_text again;
  if (vt_graph_verify(k->g, NULL) != VT_OK || vt_plan_verify(k->plan, NULL) != VT_OK) abort();
  vt_text_init(&again, vt_alloc_default());
  vt_cached_plan_print(k, &again);
  if (vt_text_status(&again) != VT_OK) exit(1);
  if (again.n != size || memcmp(again.s, data, size) != 0) abort();
  vt_text_done(&again);
}

/* Reads and checks an entry; returns a hash of the message. */
static vt_hash256 check_bytes(const uint8_t *data, size_t size) {
  const vt_target t = {.fingerprint = "fuzz-1", .workspace = need_no_scratch};
  vt_cached_plan *k = NULL;
  vt_diag d = {0};
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  const vt_status s =
      vt_cached_plan_parse(data, size, key, sizeof key - 1, &list, &t, vt_alloc_default(), &k, &d);
  if (s == VT_OK) check_accepted_entry(k, data, size);
  if (s != VT_OK && (k != NULL || d.code != s || d.text[0] == 0)) abort();
  if (s != VT_OK && s != VT_FORMAT && s != VT_NAME && s != VT_NOMEM) abort();
  vt_cached_plan_release(k);
  vt_fpenv_leave(&saved);
  return vt_hash_bytes(d.text, strlen(d.text));
}

static void check_twice(const uint8_t *data, size_t size) {
  const vt_hash256 a = check_bytes(data, size), b = check_bytes(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char hex[65];
  check_twice(data, size);
  if (size < HASH_LINE) return 0;
  uint8_t *mended = malloc(size);
  if (mended == NULL) exit(1);
  memcpy(mended, data, size);
  const vt_hash256 h = vt_hash_bytes(data, size - HASH_LINE);
  vt_hash_hex(&h, hex);
  memcpy(mended + size - HASH_LINE, hex, 64);
  mended[size - 1] = '\n';
  check_twice(mended, size);
  free(mended);
  return 0;
}
