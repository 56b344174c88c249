/* SPDX-License-Identifier: Apache-2.0
 * certificate_issue.c - writes the certificate of an admitted backend. The same build gives the
 * same backend the same bytes each time. A certificate is a text of fields, one per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "admission.h"
#include "certificate.h"
#include "vt_sealed.h"

/* ---- the file that contains a built-in backend ---- */

/* Parses a line of /proc/self/maps, such as "55d0-55e0 r-xp 00000000 08:01 1234
 * /usr/lib/libvolta.so". Returns 1 and the path if the line's range of addresses contains
 * `address`. */
static int path_if_mapped(char *line, uintptr_t address, const char **out) {
  char *rest;
  const uint64_t first = strtoull(line, &rest, 16);
  const uint64_t end = *rest == '-' ? strtoull(rest + 1, &rest, 16) : 0;
  if (address < first || address >= end) return 0;
  char *path = strchr(rest, '/');
  if (path == NULL) return 0;
  path[strcspn(path, "\n")] = 0;
  *out = path;
  return 1;
}

/* Hashes the file that this code was loaded from. A certificate of a built-in backend covers this
 * content. */
static vt_status hash_own_file(vt_hash256 *out, vt_diag *d) {
  char line[4300];
  const char *path = NULL;
  vt_sealed image = {0};
  FILE *maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return VT_FAIL(d, VT_IO, "/proc/self/maps cannot be read");
  while (path == NULL && fgets(line, sizeof line, maps) != NULL)
    (void)path_if_mapped(line, (uintptr_t)(void (*)(void))vt_admit, &path);
  fclose(maps);
  if (path == NULL) return VT_FAIL(d, VT_IO, "the file that contains Volta is not found");
  VT_TRY(vt_sealed_read(path, VT_SEALED_MAX_BYTES, &image, d));
  *out = image.hash;
  vt_sealed_close(&image);
  return VT_OK;
}

/* ---- the fields ---- */

typedef struct draft {
  vt_arena *arena; /* owns the texts of the fields */
  vt_certificate c;
} draft;

static void set_field(draft *x, uint32_t field, const char *value) {
  x->c.n[field] = strlen(value);
  x->c.value[field] = vt_arena_string(x->arena, value, x->c.n[field]);
}

static void set_number_field(draft *x, uint32_t field, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  set_field(x, field, text);
}

static void set_quoted_field(draft *x, uint32_t field, const char *value) {
  vt_text t;
  vt_text_init(&t, x->arena->a);
  vt_certificate_add_quoted_text(&t, value);
  if (vt_text_status(&t) == VT_OK) set_field(x, field, t.s);
  if (vt_text_status(&t) != VT_OK) x->arena->failed = 1;
  vt_text_done(&t);
}

static void set_hash_field(draft *x, uint32_t field, const vt_hash256 *h) {
  char hex[65];
  vt_hash_hex(h, hex);
  set_quoted_field(x, field, hex);
}

static void set_capability_field(draft *x, uint64_t caps) {
  vt_text t;
  vt_text_init(&t, x->arena->a);
  vt_certificate_add_capabilities(&t, caps);
  if (vt_text_status(&t) == VT_OK) set_field(x, VT_CERTIFICATE_capabilities, t.s);
  if (vt_text_status(&t) != VT_OK) x->arena->failed = 1;
  vt_text_done(&t);
}

static void set_count_fields(draft *x, const vt_admission_counts *c) {
  set_number_field(x, VT_CERTIFICATE_rules, c->rules);
  set_number_field(x, VT_CERTIFICATE_tried, c->capabilities);
  set_number_field(x, VT_CERTIFICATE_cases, c->cases);
  set_number_field(x, VT_CERTIFICATE_undeclared, c->undeclared);
  set_number_field(x, VT_CERTIFICATE_repeated, c->repeated);
  set_number_field(x, VT_CERTIFICATE_spoilt, c->spoilt);
  set_number_field(x, VT_CERTIFICATE_threaded, c->threaded);
  set_number_field(x, VT_CERTIFICATE_reordered, c->reordered);
  set_number_field(x, VT_CERTIFICATE_examples, c->examples);
}

static void set_build_fields(draft *x) {
  const vt_hash256 suite = vt_certificate_suite_digest();
  set_quoted_field(x, VT_CERTIFICATE_format, VT_CERTIFICATE_FORMAT);
  set_quoted_field(x, VT_CERTIFICATE_volta, VT_VERSION);
  set_number_field(x, VT_CERTIFICATE_numerics, VT_NUMERICS_VERSION);
  set_number_field(x, VT_CERTIFICATE_abi, VT_BK_ABI_MAJOR);
  set_hash_field(x, VT_CERTIFICATE_suite, &suite);
}

/* The gateway prefixes the fingerprint of a plug-in's device with the content and a space; the
 * certificate has the device's own fingerprint. */
static vt_status set_device_fields(draft *x, const vt_device *dev, vt_diag *d) {
  const vt_bk_caps *caps = vt_device_caps(dev);
  const vt_hash256 *plugin = vt_device_plugin_digest(dev);
  const char *name = vt_device_name(dev), *print = caps->fingerprint;
  vt_hash256 content;
  if (plugin != NULL) print = strchr(print, ' ') + 1;
  if (plugin != NULL) content = *plugin;
  if (plugin == NULL) VT_TRY(hash_own_file(&content, d));
  set_quoted_field(x, VT_CERTIFICATE_backend, name);
  set_number_field(x, VT_CERTIFICATE_device, strtoull(strrchr(name, ':') + 1, NULL, 10));
  set_quoted_field(x, VT_CERTIFICATE_about, caps->about);
  set_hash_field(x, VT_CERTIFICATE_content, &content);
  set_quoted_field(x, VT_CERTIFICATE_fingerprint, print);
  set_capability_field(x, caps->has);
  set_quoted_field(x, VT_CERTIFICATE_isa, vt_device_isa(dev));
  return VT_OK;
}

/* ---- the certificate ---- */

static vt_status set_all_fields(const vt_admission *a, draft *x, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_device *dev = NULL;
  VT_TRY(vt_options_open_device(&how, a->a, &dev, d));
  const vt_status s = set_device_fields(x, dev, d);
  vt_device_close(dev);
  set_build_fields(x);
  set_count_fields(x, &a->counts);
  return s;
}

vt_status vt_admission_issue_certificate(vt_admission *a, vt_diag *d) {
  draft x = {.arena = &a->arena};
  vt_text t;
  VT_TRY(set_all_fields(a, &x, d));
  if (vt_arena_status(&a->arena) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_text_init(&t, a->a);
  vt_certificate_print(&x.c, &t);
  a->certificate = vt_text_status(&t) == VT_OK ? vt_arena_string(&a->arena, t.s, t.n) : NULL;
  vt_text_done(&t);
  return a->certificate != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}
