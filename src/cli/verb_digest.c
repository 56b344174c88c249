/* SPDX-License-Identifier: Apache-2.0
 * verb_digest.c - volta digest FILE: prints the digest of each tensor of a file, one per line, or
 * the hash of a model; for an index of shards also the digest of all tensors together. */
#include "cli_json.h"
#include "cli_model.h"
#include "cli_tensors.h"

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

/* The hash of a model; for a bundle also the digest of its weights, which are read. */
static vt_status digest_model(const char *path, json_t *list, cli_error *e) {
  cli_model m;
  uint8_t hash[32];
  VT_TRY(cli_model_open(path, &m, e));
  vt_model_hash(m.model, hash);
  vt_status s = print_or_append_digest(hash, vt_model_name(m.model), "model", list);
  if (s == VT_OK && m.bundle != NULL)
    s = vt_weights_digest(vt_bundle_weights(m.bundle), hash, &e->diag);
  if (s == VT_OK && m.bundle != NULL)
    s = print_or_append_digest(hash, cli_basename(path), "weights", list);
  cli_model_close(&m);
  return s;
}

static vt_status digest_tensors(cli_tensors *file, json_t *list, cli_error *e) {
  for (uint32_t i = 0; i < cli_tensors_count(file); i++) {
    const char *name;
    vt_tensor t;
    uint8_t digest[32];
    char type[CLI_TYPE_SIZE];
    VT_TRY(cli_tensors_at(file, i, &name, &t, e));
    VT_TRY(vt_tensor_digest(&t, digest, &e->diag));
    cli_type_text(&t, type);
    VT_TRY(print_or_append_digest(digest, name, type, list));
  }
  return VT_OK;
}

/* The digest of all tensors of an index, which does not depend on the shards that they are in. */
static vt_status digest_weights(const char *path, const vt_weights *w, json_t *list, cli_error *e) {
  uint8_t digest[32];
  VT_TRY(vt_weights_digest(w, digest, &e->diag));
  return print_or_append_digest(digest, cli_basename(path), "weights", list);
}

static vt_status digest_file(const char *path, json_t *list, cli_error *e) {
  cli_tensors file;
  VT_TRY(cli_tensors_open(path, &file, e));
  vt_status s = digest_tensors(&file, list, e);
  if (s == VT_OK && file.weights != NULL) s = digest_weights(path, file.weights, list, e);
  cli_tensors_close(&file);
  return s;
}

vt_status verb_digest(const cli_args *a, cli_error *e) {
  const char *path = a->operands[0];
  const int as_json = cli_flag_value(a, "json") != NULL;
  json_t *list = as_json ? json_array() : NULL;
  e->path = path;
  const vt_status s = cli_ends_with(path, ".vt") || cli_path_is_bundle(path)
                          ? digest_model(path, list, e)
                          : digest_file(path, list, e);
  if (s == VT_OK && as_json)
    return cli_json_print(json_pack("{s:o, s:o}", "file", cli_json_text(path), "digests", list), e);
  json_decref(list);
  return s;
}
