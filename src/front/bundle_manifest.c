/* SPDX-License-Identifier: Apache-2.0
 * bundle_manifest.c - parses and prints the manifest of a bundle. Members that it does not know are
 * ignored, so that later versions can add some; a missing or repeated one is an error.
 *
 *   {
 *     "digests": {"B=3 inputs=7": "b3fb..."},
 *     "files": {
 *       "model.vt": {"blake2b": "51aa...", "size": 812},
 *       "weights.safetensors": {"blake2b": "09fe...", "size": 814296}
 *     },
 *     "metadata": {"license": "Apache-2.0"},
 *     "model": "1c33...",
 *     "numerics": 1,
 *     "volta_bundle": 1,
 *     "weights": "77d0..."
 *   } */
#include <stdio.h>
#include <string.h>
#include "archive.h"
#include "json.h"
#include "vt_bundle_files.h"
#include "vt_sort.h"

enum { FORMAT = 1, DIGITS = 64 };

/* ---- names and digests ---- */

static int is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

int vt_bundle_name_ok(const char *name) {
  int parts = 0;
  if (strlen(name) > VT_BUNDLE_NAME_MAX) return 0;
  for (const char *c = name;; c++) {
    if (*c == '.' || *c == '\0' || *c == '/') return 0; /* the first byte of a part */
    while (is_name_byte(*c)) c++;
    if (++parts > 2 || (*c != '/' && *c != '\0')) return 0;
    if (*c == '\0') return 1;
  }
}

static int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int parse_hash(const char *text, vt_hash256 *out) {
  if (strlen(text) != DIGITS) return 0;
  for (int i = 0; i < DIGITS / 2; i++) {
    const int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return 0;
    out->b[i] = (uint8_t)(high * 16 + low);
  }
  return 1;
}

/* ---- parsing ---- */

/* The members of the manifest, as bits of those that were seen. */
enum { DIGESTS = 1, FILES = 2, METADATA = 4, MODEL = 8, NUMERICS = 16, BUNDLE = 32, WEIGHTS = 64 };
static const struct member {
  const char *name;
  int bit;
} members[] = {{"digests", DIGESTS}, {"files", FILES},       {"metadata", METADATA},
               {"model", MODEL},     {"numerics", NUMERICS}, {"volta_bundle", BUNDLE},
               {"weights", WEIGHTS}};
enum { N_MEMBERS = sizeof members / sizeof *members, SIZE = 1, BLAKE2B = 2 };

typedef struct parser {
  vt_json j;
  vt_arena *arena;
  vt_manifest m;
  uint32_t cap_files, cap_metadata, cap_digests;
  int seen; /* bits of the members so far */
} parser;

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory for the manifest of a bundle");
}

static vt_status parse_digest(parser *p, vt_hash256 *out) {
  const char *text;
  VT_TRY(vt_json_string(&p->j, &text));
  return parse_hash(text, out) ? VT_OK
                               : vt_json_fail(&p->j,
                                              "a digest has 64 hexadecimal digits, and "
                                              "this has not");
}

/* Marks a member as seen; a member that occurs twice means different things to different readers.
 */
static vt_status see_once(parser *p, int *seen, int bit, const char *name) {
  char what[80];
  if ((*seen & bit) != 0) {
    (void)snprintf(what, sizeof what, "'%.40s' occurs twice", name);
    return vt_json_fail(&p->j, what);
  }
  *seen |= bit;
  return VT_OK;
}

static vt_status parse_file(parser *p, vt_bundle_file *f) {
  int more = 0, seen = 0;
  const char *name;
  VT_TRY(vt_json_begin(&p->j, '{'));
  for (size_t i = 0;; i++) {
    VT_TRY(vt_json_next(&p->j, '}', i, &more));
    if (!more) break;
    VT_TRY(vt_json_member(&p->j, &name));
    if (strcmp(name, "size") == 0) {
      VT_TRY(see_once(p, &seen, SIZE, name));
      VT_TRY(vt_json_whole(&p->j, VT_ARCHIVE_FILE_LIMIT, &f->size));
    } else if (strcmp(name, "blake2b") == 0) {
      VT_TRY(see_once(p, &seen, BLAKE2B, name));
      VT_TRY(parse_digest(p, &f->hash));
    } else {
      VT_TRY(vt_json_skip(&p->j));
    }
  }
  return seen == (SIZE | BLAKE2B) ? VT_OK
                                  : vt_json_fail(&p->j,
                                                 "a file has a 'size' and a 'blake2b', and "
                                                 "one is missing");
}

static vt_status parse_files(parser *p) {
  int more = 0;
  VT_TRY(vt_json_begin(&p->j, '{'));
  for (size_t i = 0;; i++) {
    vt_bundle_file f = {.src = {.fd = -1}};
    VT_TRY(vt_json_next(&p->j, '}', i, &more));
    if (!more) return VT_OK;
    VT_TRY(vt_json_member(&p->j, &f.name));
    if (!vt_bundle_name_ok(f.name) || strcmp(f.name, VT_BUNDLE_MANIFEST) == 0)
      return vt_json_fail(&p->j, "no file of a bundle may have this name");
    if (p->m.n_files == VT_BUNDLE_FILES_MAX)
      return VT_FAIL(p->j.d, VT_LIMIT, "the bundle has more than %d files", VT_BUNDLE_FILES_MAX);
    VT_TRY(parse_file(p, &f));
    vt_bundle_file *list =
        vt_arena_grow(p->arena, p->m.files, p->m.n_files, &p->cap_files, sizeof *list);
    if (list == NULL) return fail_no_memory(p->j.d);
    list[p->m.n_files++] = f;
    p->m.files = list;
  }
}

/* Parses an object of strings. */
static vt_status parse_pairs(parser *p, vt_bundle_pair **list, uint32_t *n, uint32_t *cap) {
  int more = 0;
  VT_TRY(vt_json_begin(&p->j, '{'));
  for (size_t i = 0;; i++) {
    vt_bundle_pair pair;
    VT_TRY(vt_json_next(&p->j, '}', i, &more));
    if (!more) return VT_OK;
    VT_TRY(vt_json_member(&p->j, &pair.key));
    VT_TRY(vt_json_string(&p->j, &pair.value));
    if (*n == VT_BUNDLE_PAIRS_MAX)
      return VT_FAIL(p->j.d, VT_LIMIT, "the manifest has more than %d entries of one kind",
                     VT_BUNDLE_PAIRS_MAX);
    vt_bundle_pair *grown = vt_arena_grow(p->arena, *list, *n, cap, sizeof *grown);
    if (grown == NULL) return fail_no_memory(p->j.d);
    grown[(*n)++] = pair;
    *list = grown;
  }
}

static vt_status parse_digests(parser *p) {
  vt_hash256 hash;
  VT_TRY(parse_pairs(p, &p->m.digests, &p->m.n_digests, &p->cap_digests));
  for (uint32_t i = 0; i < p->m.n_digests; i++)
    if (!parse_hash(p->m.digests[i].value, &hash))
      return vt_json_fail(&p->j, "one of the 'digests' before is not 64 hexadecimal digits");
  return VT_OK;
}

static vt_status parse_version(parser *p) {
  uint64_t version = 0;
  VT_TRY(vt_json_whole(&p->j, UINT32_MAX, &version));
  if (version == FORMAT) return VT_OK;
  return VT_FAIL(p->j.d, VT_UNSUPPORTED,
                 "the bundle has format %llu; this version of volta reads format %d",
                 (unsigned long long)version, FORMAT);
}

static vt_status parse_member(parser *p, int bit) {
  uint64_t numerics = 0;
  switch (bit) {
    case DIGESTS:
      return parse_digests(p);
    case FILES:
      return parse_files(p);
    case METADATA:
      return parse_pairs(p, &p->m.metadata, &p->m.n_metadata, &p->cap_metadata);
    case MODEL:
      return parse_digest(p, &p->m.model);
    case WEIGHTS:
      return parse_digest(p, &p->m.weights);
    case BUNDLE:
      return parse_version(p);
    case NUMERICS:
      VT_TRY(vt_json_whole(&p->j, UINT32_MAX, &numerics));
      p->m.numerics = (uint32_t)numerics;
      return VT_OK;
    default:
      return vt_json_skip(&p->j);
  }
}

static vt_status parse_members(parser *p) {
  int more = 0;
  const char *name;
  VT_TRY(vt_json_begin(&p->j, '{'));
  for (size_t i = 0;; i++) {
    int bit = 0;
    VT_TRY(vt_json_next(&p->j, '}', i, &more));
    if (!more) break;
    VT_TRY(vt_json_member(&p->j, &name));
    for (int k = 0; k < N_MEMBERS; k++)
      if (strcmp(name, members[k].name) == 0) bit = members[k].bit;
    if (bit != 0) VT_TRY(see_once(p, &p->seen, bit, name));
    VT_TRY(parse_member(p, bit));
  }
  VT_TRY(vt_json_end(&p->j));
  for (int k = 0; k < N_MEMBERS; k++)
    if ((p->seen & members[k].bit) == 0)
      return VT_FAIL(p->j.d, VT_FORMAT, "the manifest has no '%s'", members[k].name);
  return VT_OK;
}

/* ---- order ---- */

static int files_by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_bundle_file *)a)->name, ((const vt_bundle_file *)b)->name);
}

static int pairs_by_key(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_bundle_pair *)a)->key, ((const vt_bundle_pair *)b)->key);
}

/* Sorts pairs; *out_twice is a key that occurs twice, or NULL. */
static vt_status sort_pairs(vt_bundle_pair *list, uint32_t n, vt_alloc a, const char **out_twice) {
  *out_twice = NULL;
  if (n == 0) return VT_OK;
  VT_TRY(vt_sort(list, n, sizeof *list, pairs_by_key, NULL, a));
  for (uint32_t i = 1; i < n; i++)
    if (strcmp(list[i - 1].key, list[i].key) == 0) *out_twice = list[i].key;
  return VT_OK;
}

static vt_status sort_parsed_pairs(vt_bundle_pair *list, uint32_t n, vt_alloc a, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  const char *twice;
  if (sort_pairs(list, n, a, &twice) != VT_OK) return fail_no_memory(d);
  if (twice == NULL) return VT_OK;
  return VT_FAIL(d, VT_FORMAT, "the manifest has '%s' twice",
                 vt_archive_escape(twice, strlen(twice), q));
}

static vt_status sort_lists(parser *p, vt_diag *d) {
  vt_manifest *m = &p->m;
  VT_TRY(sort_parsed_pairs(m->metadata, m->n_metadata, p->arena->a, d));
  VT_TRY(sort_parsed_pairs(m->digests, m->n_digests, p->arena->a, d));
  if (m->n_files != 0 &&
      vt_sort(m->files, m->n_files, sizeof *m->files, files_by_name, NULL, p->arena->a) != VT_OK)
    return fail_no_memory(d);
  for (uint32_t i = 1; i < m->n_files; i++)
    if (strcmp(m->files[i - 1].name, m->files[i].name) == 0)
      return VT_FAIL(d, VT_FORMAT, "the manifest has the file '%s' twice", m->files[i].name);
  return VT_OK;
}

vt_status vt_manifest_parse(char *text, size_t n, vt_arena *arena, vt_manifest *out, vt_diag *d) {
  parser p = {.j = {.text = text, .n = n, .name = "the manifest", .d = d}, .arena = arena};
  VT_TRY(parse_members(&p));
  VT_TRY(sort_lists(&p, d));
  *out = p.m;
  return VT_OK;
}

/* ---- pairs of a caller ---- */

static int is_utf8(const char *s) {
  for (size_t n = strlen(s), k; n != 0; s += k, n -= k) {
    k = vt_archive_utf8_char_length((const uint8_t *)s, n);
    if (k == 0) return 0;
  }
  return 1;
}

static vt_status check_pair(const vt_bundle_pair *p, const char *what, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  vt_hash256 hash;
  if (p->key == NULL || p->value == NULL)
    return VT_FAIL(d, VT_USAGE, "a key or value of %s is NULL", what);
  vt_archive_escape(p->key, strlen(p->key), q);
  if (p->key[0] == '\0' || strlen(p->key) > VT_BUNDLE_KEY_MAX)
    return VT_FAIL(d, VT_USAGE, "a key of %s has 1 to %d bytes, not %zu", what, VT_BUNDLE_KEY_MAX,
                   strlen(p->key));
  if (!is_utf8(p->key) || !is_utf8(p->value))
    return VT_FAIL(d, VT_USAGE, "the %s '%s' is not UTF-8", what, q);
  if (strcmp(what, "digest") == 0 && !parse_hash(p->value, &hash))
    return VT_FAIL(d, VT_USAGE, "the digest '%s' is not 64 hexadecimal digits", q);
  return VT_OK;
}

static const char *copy_value(const char *value, int is_digest, vt_arena *arena) {
  vt_hash256 hash;
  char hex[DIGITS + 1];
  if (!is_digest || !parse_hash(value, &hash)) return vt_arena_string(arena, value, strlen(value));
  vt_hash_hex(&hash, hex);
  return vt_arena_string(arena, hex, DIGITS);
}

vt_status vt_bundle_pairs_copy(const vt_bundle_pair *pairs, uint32_t n, const char *what,
                               vt_arena *arena, vt_bundle_pair **out, vt_diag *d) {
  const char *twice;
  char q[VT_QUOTE_MAX];
  if (n > VT_BUNDLE_PAIRS_MAX)
    return VT_FAIL(d, VT_LIMIT, "a bundle has at most %d entries of %s", VT_BUNDLE_PAIRS_MAX, what);
  vt_bundle_pair *list = VT_NEW_N(arena, vt_bundle_pair, n);
  if (list == NULL) return fail_no_memory(d);
  for (uint32_t i = 0; i < n; i++) {
    VT_TRY(check_pair(&pairs[i], what, d));
    list[i].key = vt_arena_string(arena, pairs[i].key, strlen(pairs[i].key));
    list[i].value = copy_value(pairs[i].value, strcmp(what, "digest") == 0, arena);
  }
  if (vt_arena_status(arena) != VT_OK || sort_pairs(list, n, arena->a, &twice) != VT_OK)
    return fail_no_memory(d);
  if (twice != NULL)
    return VT_FAIL(d, VT_USAGE, "the %s '%s' is given twice", what,
                   vt_archive_escape(twice, strlen(twice), q));
  *out = list;
  return VT_OK;
}

/* ---- printing ---- */

static void print_string(vt_text *t, const char *s) {
  vt_text_add(t, "\"");
  for (; *s != '\0'; s++) {
    if ((uint8_t)*s < 0x20)
      vt_text_add(t, "\\u%04x", (unsigned)(uint8_t)*s);
    else if (*s == '"' || *s == '\\')
      vt_text_add(t, "\\%c", *s);
    else
      vt_text_add_bytes(t, s, 1);
  }
  vt_text_add(t, "\"");
}

static void print_hash(vt_text *t, const char *name, const vt_hash256 *hash, const char *after) {
  char hex[DIGITS + 1];
  vt_hash_hex(hash, hex);
  vt_text_add(t, "\"%s\": \"%s\"%s", name, hex, after);
}

static void print_pairs(vt_text *t, const char *name, const vt_bundle_pair *list, uint32_t n) {
  vt_text_add(t, "  \"%s\": {", name);
  for (uint32_t i = 0; i < n; i++) {
    vt_text_add(t, "%s\n    ", i != 0 ? "," : "");
    print_string(t, list[i].key);
    vt_text_add(t, ": ");
    print_string(t, list[i].value);
  }
  vt_text_add(t, "%s},\n", n != 0 ? "\n  " : "");
}

static void print_files(vt_text *t, const vt_manifest *m) {
  vt_text_add(t, "  \"files\": {");
  for (uint32_t i = 0; i < m->n_files; i++) {
    vt_text_add(t, "%s\n    ", i != 0 ? "," : "");
    print_string(t, m->files[i].name);
    vt_text_add(t, ": {");
    print_hash(t, "blake2b", &m->files[i].hash, ", ");
    vt_text_add(t, "\"size\": %llu}", (unsigned long long)m->files[i].size);
  }
  vt_text_add(t, "%s},\n", m->n_files != 0 ? "\n  " : "");
}

void vt_manifest_print(const vt_manifest *m, vt_text *out) {
  vt_text_add(out, "{\n");
  print_pairs(out, "digests", m->digests, m->n_digests);
  print_files(out, m);
  print_pairs(out, "metadata", m->metadata, m->n_metadata);
  vt_text_add(out, "  ");
  print_hash(out, "model", &m->model, ",\n");
  vt_text_add(out, "  \"numerics\": %u,\n  \"volta_bundle\": %d,\n  ", m->numerics, FORMAT);
  print_hash(out, "weights", &m->weights, "\n");
  vt_text_add(out, "}\n");
}
