/* SPDX-License-Identifier: Apache-2.0
 * fuzz_bundle.c - reads any bytes as a manifest, if they begin with '{', and as a bundle in one
 * file. A manifest that is accepted is printed in a form that parses to itself; a bundle that is
 * accepted can be checked, and has only files that its manifest lists; what is refused has a
 * message. Then an allocation fails, which the last byte chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vt_alloc.h"
#include "vt_bundle_files.h"
#include "../vt_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/volta-fuzz-XXXXXX";
static int fd = -1;

static void remove_file(void) { (void)unlink(path); }

static void check_message(vt_status s, const vt_diag *d) {
  if (s != d->code || (s == VT_OK) != (d->text[0] == '\0')) abort();
}

/* Parses a copy of a text, and prints what was read. */
static vt_status parse_and_print(const char *text, size_t n, vt_alloc a, vt_text *out, vt_diag *d) {
  vt_arena arena;
  vt_manifest m;
  vt_arena_init(&arena, a);
  char *copy = vt_arena_string(&arena, text, n);
  vt_status s = copy != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "no memory");
  if (s == VT_OK) s = vt_manifest_parse(copy, n, &arena, &m, d);
  if (s == VT_OK) {
    for (uint32_t i = 0; i < m.n_files; i++)
      if (m.files[i].name[0] == '/' || strstr(m.files[i].name, "..") == m.files[i].name) abort();
    vt_manifest_print(&m, out);
    if (vt_text_status(out) != VT_OK) s = VT_FAIL(d, VT_NOMEM, "no memory");
  }
  vt_arena_done(&arena);
  return s;
}

static void check_manifest(const char *data, size_t size) {
  vt_text first, second;
  vt_diag d = {.code = VT_OK}, again = {.code = VT_OK}, failed = {.code = VT_OK};
  vt_fault f = {.left = size > 0 ? 1 + (uint8_t)data[size - 1] % 16 : 1};
  vt_text_init(&first, vt_alloc_default());
  vt_text_init(&second, vt_alloc_default());
  const vt_status s = parse_and_print(data, size, vt_alloc_default(), &first, &d);
  check_message(s, &d);
  if (s == VT_OK) {
    if (parse_and_print(first.s, first.n, vt_alloc_default(), &second, &again) != VT_OK) abort();
    if (first.n != second.n || memcmp(first.s, second.s, first.n) != 0) abort();
  }
  second.n = 0;
  const vt_status with_fault = parse_and_print(data, size, vt_fault_alloc(&f), &second, &failed);
  if (with_fault != VT_NOMEM && with_fault != s) abort();
  if (f.live != 0) abort();
  vt_text_done(&first);
  vt_text_done(&second);
}

static vt_status open_and_check(long left, vt_diag *d) {
  vt_fault f = {.left = left};
  vt_bundle_files b;
  vt_status s = vt_bundle_files_open(path, vt_fault_alloc(&f), &b, d);
  if (s == VT_OK) {
    if (vt_bundle_files_find(&b, VT_BUNDLE_MODEL) == NULL) abort();
    for (uint32_t i = 0; s == VT_OK && i < b.manifest.n_files; i++)
      s = vt_bundle_files_check(&b, &b.manifest.files[i], d);
    vt_bundle_files_close(&b);
  }
  check_message(s, d);
  if (f.live != 0) abort();
  return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vt_diag a = {.code = VT_OK}, b = {.code = VT_OK}, failed = {.code = VT_OK};
  if (fd < 0) {
    fd = mkstemp(path);
    if (fd < 0) exit(1);
    (void)atexit(remove_file);
  }
  if (size > 0 && data[0] == '{') {
    check_manifest((const char *)data, size);
    return 0;
  }
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) exit(1);
  const vt_status s = open_and_check(0, &a);
  if (s != VT_OK && s != VT_FORMAT && s != VT_LIMIT && s != VT_UNSUPPORTED) abort();
  if (open_and_check(0, &b) != s || strcmp(a.text, b.text) != 0) abort();
  const vt_status again = open_and_check(size > 0 ? 1 + data[size - 1] % 32 : 1, &failed);
  if (again != VT_NOMEM && again != s) abort();
  return 0;
}
