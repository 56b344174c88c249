/* SPDX-License-Identifier: Apache-2.0
 * certificate.h - certificates: the text of one, and whether it covers a device. A certificate says
 * what was asked of which bytes. It is no signature: who can write it can write another, and its
 * seal tells accidents and edits by hand. For the library alone. */
#ifndef VT_CERTIFICATE_H
#define VT_CERTIFICATE_H
#include "vt_gate.h"
#include "vt_text.h"

enum {
#define VT_FIELD(key, form) VT_CERTIFICATE_##key,
#include "certificate.def"
#undef VT_FIELD
  VT_CERTIFICATE_FIELDS
};
#define VT_CERTIFICATE_FORMAT "volta certificate 1"
/* Where the one of a plug-in's device lies unless somebody says otherwise. */
enum { VT_CERTIFICATE_PATH = 4200 };
void vt_certificate_place(const char *plugin, uint32_t device, char out[VT_CERTIFICATE_PATH]);

/* The values as they are written: text in quotes, numbers, lists. */
typedef struct vt_certificate {
  const char *value[VT_CERTIFICATE_FIELDS];
  size_t n[VT_CERTIFICATE_FIELDS];
} vt_certificate;

/* A text in quotes, in ASCII. */
void vt_certificate_quote(vt_text *t, const char *text);
/* Capabilities as a list of their names. */
void vt_certificate_list(vt_text *t, uint64_t has);
/* The whole of it: every field, then the seal. */
void vt_certificate_print(const vt_certificate *c, vt_text *t);
/* Reads what vt_certificate_print wrote and nothing else: VT_FORMAT says what is wrong. The values
 * lie in `text`. */
vt_status vt_certificate_parse(const char *text, size_t n, vt_certificate *out,
                               vt_diag *d) VT_NODISCARD;
/* Whether it is about this device, these bytes, and what this build asks. */
int vt_certificate_covers(const vt_certificate *c, const vt_bearer *b, char why[VT_WHY_NOT]);
/* vt_opening.certified: `path` is the file, or NULL for the one beside the plug-in. */
int vt_certificate_admits(const void *path, const vt_bearer *b, char why[VT_WHY_NOT]);
/* The digest of the suite that this build carries. */
vt_hash256 vt_certificate_suite(void);
#endif
