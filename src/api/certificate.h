/* SPDX-License-Identifier: Apache-2.0
 * certificate.h - certificates of admitted backends: printing and parsing their text, and deciding
 * whether one covers a device. A certificate says which tests a backend with which file content
 * passed. It is not a signature, because whoever can write one can write another; its seal only
 * detects accidental damage and edits by hand. Private to the library. */
#ifndef VT_CERTIFICATE_H
#define VT_CERTIFICATE_H
#include "vt_gate.h"
#include "vt_text.h"

/* Numbers of the fields, in the order in which they are printed. */
enum {
#define VT_FIELD(key, form) VT_CERTIFICATE_##key,
#include "certificate.def"
#undef VT_FIELD
  VT_CERTIFICATE_FIELDS
};
#define VT_CERTIFICATE_FORMAT "volta certificate 1"
enum { VT_CERTIFICATE_PATH = 4200 }; /* bytes of a buffer for the path of a certificate */
/* Writes the default path of the certificate of a plug-in's device, a file in the plug-in's
 * folder. */
void vt_certificate_path(const char *plugin, uint32_t device, char out[VT_CERTIFICATE_PATH]);

/* A parsed certificate: spans of its text, by field. */
typedef struct vt_certificate {
  const char *value[VT_CERTIFICATE_FIELDS]; /* values as written, with their quotes or brackets */
  size_t n[VT_CERTIFICATE_FIELDS];          /* bytes of each value */
} vt_certificate;

/* Appends `text` in quotes; all bytes but plain ASCII are escaped. */
void vt_certificate_add_quoted_text(vt_text *t, const char *text);
/* Appends the names of the capabilities in the bit set `has`, as a list. */
void vt_certificate_add_capabilities(vt_text *t, uint64_t has);
/* Appends the whole certificate: every field, then the seal. */
void vt_certificate_print(const vt_certificate *c, vt_text *t);
/* Parses the exact form that vt_certificate_print writes; VT_FORMAT says what is wrong with any
 * other text. The values point into `text`. */
vt_status vt_certificate_parse(const char *text, size_t n, vt_certificate *out,
                               vt_diag *d) VT_NODISCARD;
/* Returns 1 if the certificate was issued for this device, this file content and the tests of this
 * build; otherwise returns 0, and `why` says what differs. */
int vt_certificate_covers(const vt_certificate *c, const vt_plugin_candidate *b,
                          char why[VT_WHY_BYTES]);
/* Decides whether a certificate file admits a device: the callback for vt_device_options.certified.
 * `path` is the file; NULL means the default path next to the plug-in. */
int vt_certificate_admits(const void *path, const vt_plugin_candidate *b, char why[VT_WHY_BYTES]);
/* The digest of the conformance suite that is built into this library. */
vt_hash256 vt_certificate_suite_digest(void);
#endif
