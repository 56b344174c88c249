/* SPDX-License-Identifier: Apache-2.0
 * certificate.c - prints and parses certificates, and compares one with a device. The last line of
 * a certificate is its seal, the digest of the text before it. The file is not trusted: the parser
 * accepts only what vt_certificate_print can write, byte for byte. The skip_ functions move the
 * cursor past one item and return 1, or return 0 if the item is not there. */
#include "certificate.h"
#include <stdio.h>
#include <string.h>
#include "vt_file.h"

enum { MAX_BYTES = 16384 }; /* the most bytes of a certificate's file */
/* The form of a field's value: a text in quotes, a decimal number, a list of texts in brackets. */
typedef enum form { TEXT, NUMBER, LIST } form;

static const struct {
  const char *key;
  form form;
} fields[] = {
#define VT_FIELD(key, form) [VT_CERTIFICATE_##key] = {#key, form},
#include "certificate.def"
#undef VT_FIELD
};

/* The digest of the conformance suite, written by the build. */
static const uint8_t suite[32] = {
#include "suite_digest.inc"
};

vt_hash256 vt_certificate_suite_digest(void) {
  vt_hash256 h;
  memcpy(h.b, suite, sizeof h.b);
  return h;
}

/* ---- printing ---- */

static int needs_no_escape(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void vt_certificate_add_quoted_text(vt_text *t, const char *text) {
  vt_text_add(t, "\"");
  for (const char *at = text; *at != 0; at++)
    vt_text_add(t, needs_no_escape(*at) ? "%c" : "\\u%04x", (unsigned char)*at);
  vt_text_add(t, "\"");
}

void vt_certificate_add_capabilities(vt_text *t, uint64_t has) {
  const char *comma = "";
  vt_text_add(t, "[");
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    if ((has & c->bit) == 0) continue;
    vt_text_add(t, "%s\"%s\"", comma, c->name);
    comma = ", ";
  }
  vt_text_add(t, "]");
}

/* Writes the seal of a text: its BLAKE2b-256 in hexadecimal digits. */
static void make_seal(const char *text, size_t n, char out[65]) {
  const vt_hash256 h = vt_hash_bytes(text, n);
  vt_hash_hex(&h, out);
}

void vt_certificate_print(const vt_certificate *c, vt_text *t) {
  char seal[65] = "";
  const size_t start = t->n;
  vt_text_add(t, "{\n");
  for (uint32_t i = 0; i < VT_CERTIFICATE_FIELDS; i++)
    vt_text_add(t, "  \"%s\": %.*s,\n", fields[i].key, (int)c->n[i], c->value[i]);
  if (vt_text_status(t) == VT_OK) make_seal(t->s + start, t->n - start, seal);
  vt_text_add(t, "  \"seal\": \"%s\"\n}\n", seal);
}

/* ---- parsing: each skip_ function moves past one item and returns 1, or returns 0 ---- */

typedef struct cursor {
  const char *at, *end; /* the next byte, and the end of the text */
} cursor;

static int skip_word(cursor *c, const char *word) {
  const size_t n = strlen(word);
  if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0) return 0;
  c->at += n;
  return 1;
}

static int is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* Skips a text in quotes, in which the only escapes are those that vt_certificate_add_quoted_text
 * writes. */
static int skip_quoted_text(cursor *c) {
  if (!skip_word(c, "\"")) return 0;
  while (c->at < c->end && *c->at != '"') {
    if (skip_word(c, "\\u00")) {
      if (c->end - c->at < 2 || !is_hex(c->at[0]) || !is_hex(c->at[1])) return 0;
      c->at += 2;
    } else if (needs_no_escape(*c->at)) {
      c->at++;
    } else {
      return 0;
    }
  }
  return skip_word(c, "\"");
}

static int skip_number(cursor *c) {
  const char *start = c->at;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9') c->at++;
  return c->at > start && (*start != '0' || c->at == start + 1);
}

static int skip_list(cursor *c) {
  if (!skip_word(c, "[")) return 0;
  if (skip_word(c, "]")) return 1;
  do {
    if (!skip_quoted_text(c)) return 0;
  } while (skip_word(c, ", "));
  return skip_word(c, "]");
}

static int parse_field(cursor *c, uint32_t i, vt_certificate *out) {
  if (!skip_word(c, "  \"") || !skip_word(c, fields[i].key) || !skip_word(c, "\": ")) return 0;
  out->value[i] = c->at;
  const int well_formed = fields[i].form == TEXT     ? skip_quoted_text(c)
                          : fields[i].form == NUMBER ? skip_number(c)
                                                     : skip_list(c);
  out->n[i] = (size_t)(c->at - out->value[i]);
  return well_formed && skip_word(c, ",\n");
}

static vt_status check_seal_and_end(cursor *c, const char *text, vt_diag *d) {
  char seal[65];
  make_seal(text, (size_t)(c->at - text), seal);
  if (!skip_word(c, "  \"seal\": \"")) return VT_FAIL(d, VT_FORMAT, "it has no seal");
  if (!skip_word(c, seal))
    return VT_FAIL(d, VT_FORMAT, "its seal is broken: the file was changed after it was issued");
  if (!skip_word(c, "\"\n}\n") || c->at != c->end)
    return VT_FAIL(d, VT_FORMAT, "there are bytes after its seal");
  return VT_OK;
}

vt_status vt_certificate_parse(const char *text, size_t n, vt_certificate *out, vt_diag *d) {
  cursor c = {text, text + n};
  vt_certificate x = {0};
  if (!skip_word(&c, "{\n")) return VT_FAIL(d, VT_FORMAT, "it is not a certificate");
  for (uint32_t i = 0; i < VT_CERTIFICATE_FIELDS; i++)
    if (!parse_field(&c, i, &x))
      return VT_FAIL(d, VT_FORMAT,
                     "it is not a certificate: its field '%s' is missing or malformed",
                     fields[i].key);
  VT_TRY(check_seal_and_end(&c, text, d));
  *out = x;
  return VT_OK;
}

/* ---- comparison with a device: each has_ function compares one field with a value ---- */

static int has_value(const vt_certificate *c, uint32_t field, const char *value) {
  return strlen(value) == c->n[field] && memcmp(value, c->value[field], c->n[field]) == 0;
}

static int has_text(const vt_certificate *c, uint32_t field, const char *value) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_certificate_add_quoted_text(&t, value);
  const int same = vt_text_status(&t) == VT_OK && has_value(c, field, t.s);
  vt_text_done(&t);
  return same;
}

static int has_capabilities(const vt_certificate *c, uint32_t field, uint64_t has) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_certificate_add_capabilities(&t, has);
  const int same = vt_text_status(&t) == VT_OK && has_value(c, field, t.s);
  vt_text_done(&t);
  return same;
}

static int has_hash(const vt_certificate *c, uint32_t field, const vt_hash256 *h) {
  char hex[65];
  vt_hash_hex(h, hex);
  return has_text(c, field, hex);
}

static int has_number(const vt_certificate *c, uint32_t field, uint32_t value) {
  char text[16];
  snprintf(text, sizeof text, "%u", value);
  return has_value(c, field, text);
}

int vt_certificate_covers(const vt_certificate *c, const vt_plugin_candidate *b,
                          char why[VT_WHY_BYTES]) {
  const vt_hash256 suite_digest = vt_certificate_suite_digest();
  const char *mismatch = NULL;
  if (!has_text(c, VT_CERTIFICATE_format, VT_CERTIFICATE_FORMAT))
    mismatch = "has another format";
  else if (!has_hash(c, VT_CERTIFICATE_content, b->content))
    mismatch = "was issued for a file with other content";
  else if (!has_number(c, VT_CERTIFICATE_device, b->device))
    mismatch = "was issued for another device of the plug-in";
  else if (!has_number(c, VT_CERTIFICATE_numerics, VT_NUMERICS_VERSION))
    mismatch = "was issued for another version of the numerics";
  else if (!has_number(c, VT_CERTIFICATE_abi, VT_BK_ABI_MAJOR))
    mismatch = "was issued for another version of the ABI";
  else if (!has_hash(c, VT_CERTIFICATE_suite, &suite_digest))
    mismatch = "was issued with another conformance suite than this build has";
  else if (!has_text(c, VT_CERTIFICATE_isa, b->isa != NULL ? b->isa : ""))
    mismatch = "was issued for another instruction set (VOLTA_ISA)";
  else if (b->fingerprint != NULL && !has_text(c, VT_CERTIFICATE_fingerprint, b->fingerprint))
    mismatch = "was issued for a device with another fingerprint";
  else if (b->fingerprint != NULL && !has_capabilities(c, VT_CERTIFICATE_capabilities, b->has))
    mismatch = "was issued for a device that declares other capabilities";
  if (mismatch != NULL) snprintf(why, VT_WHY_BYTES, "its certificate %s", mismatch);
  return mismatch == NULL;
}

/* ---- the file ---- */

static vt_status read_certificate_file(const char *path, vt_file *file, vt_certificate *c,
                                       vt_diag *d) {
  VT_TRY(vt_file_read(path, MAX_BYTES, vt_alloc_default(), file, d));
  const vt_status s = vt_certificate_parse((const char *)file->data, file->size, c, d);
  if (s != VT_OK) vt_file_done(file);
  return s;
}

void vt_certificate_path(const char *plugin, uint32_t device, char out[VT_CERTIFICATE_PATH]) {
  char number[16] = "";
  if (device != 0) snprintf(number, sizeof number, ".%u", device);
  snprintf(out, VT_CERTIFICATE_PATH, "%.4095s%s.certificate.json", plugin, number);
}

int vt_certificate_admits(const void *path, const vt_plugin_candidate *b, char why[VT_WHY_BYTES]) {
  char default_path[VT_CERTIFICATE_PATH];
  const char *from = path;
  vt_file file;
  vt_certificate c;
  vt_diag d = {0};
  vt_certificate_path(b->path, b->device, default_path);
  const vt_status s = read_certificate_file(from != NULL ? from : default_path, &file, &c, &d);
  if (s == VT_IO && from == NULL) return 0; /* there is no default file; `why` stays empty */
  if (s != VT_OK) {
    snprintf(why, VT_WHY_BYTES, "its certificate cannot be used: %.120s", d.text);
    return 0;
  }
  const int covers = vt_certificate_covers(&c, b, why);
  vt_file_done(&file);
  return covers;
}
