/* SPDX-License-Identifier: Apache-2.0
 * verb_digest.c - volta digest FILE: prints the digest of each tensor of a file, one per line, or
 * the hash of a model. */
#include "cli_json.h"

static vt_status print_or_append_digest(const uint8_t digest[32], const char *name,
                                        const char *type, json_t *list) {
  char hex[CLI_HEX_SIZE];
  cli_hex(digest, hex);
  if (list != NULL) {
    cli_json_append(list, json_pack("{s:s, s:o, s:s}", "digest", hex, "name", cli_json_text(name),
                                    "type", type));
    return VT_OK;
  }
  cli_print("%s  ", hex);
  cli_print_escaped(name[0] != '\0' ? name : "-"); /* the tensor of a npy file has no name */
  cli_print("  %s\n", type);
  return VT_OK;
}

static vt_status digest_model(const char *path, json_t *list, cli_error *e) {
  vt_model *m = NULL;
  uint8_t hash[32];
  VT_TRY(vt_model_read(path, NULL, &m, &e->diag));
  vt_model_hash(m, hash);
  const vt_status s = print_or_append_digest(hash, vt_model_name(m), "model", list);
  vt_model_free(m);
  return s;
}

static vt_status digest_tensors(const vt_archive *ar, json_t *list, cli_error *e) {
  for (uint32_t i = 0; i < vt_archive_count(ar); i++) {
    const char *name;
    vt_tensor t;
    uint8_t digest[32];
    char type[CLI_TYPE_SIZE];
    VT_TRY(vt_archive_tensor(ar, i, &name, &t));
    VT_TRY(vt_tensor_digest(&t, digest, &e->diag));
    cli_type_text(&t, type);
    VT_TRY(print_or_append_digest(digest, name, type, list));
  }
  return VT_OK;
}

static vt_status digest_archive(const char *path, json_t *list, cli_error *e) {
  vt_archive *ar = NULL;
  VT_TRY(vt_archive_read(path, NULL, &ar, &e->diag));
  const vt_status s = digest_tensors(ar, list, e);
  vt_archive_free(ar);
  return s;
}

vt_status verb_digest(const cli_args *a, cli_error *e) {
  const char *path = a->operands[0];
  const int as_json = cli_flag_value(a, "json") != NULL;
  json_t *list = as_json ? json_array() : NULL;
  e->path = path;
  const vt_status s =
      cli_ends_with(path, ".vt") ? digest_model(path, list, e) : digest_archive(path, list, e);
  if (s == VT_OK && as_json)
    return cli_json_print(json_pack("{s:o, s:o}", "file", cli_json_text(path), "digests", list), e);
  json_decref(list);
  return s;
}
