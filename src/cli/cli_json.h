/* SPDX-License-Identifier: Apache-2.0
 * cli_json.h - reports as JSON. Seeds, bit patterns and distances have 64 bits and are written as
 * strings, because many readers store numbers as f64; other numbers stay numbers. If memory runs
 * out while a report is built, cli_json_print fails instead of printing a part of it. */
#ifndef CLI_JSON_H
#define CLI_JSON_H
#include <jansson.h>
#include "cli.h"

/* A JSON string; bytes that are not UTF-8 are written as \xNN. */
json_t *cli_json_text(const char *text);
json_t *cli_json_u64_text(uint64_t v);          /* a string with the decimal digits of `v` */
json_t *cli_json_hex(const uint8_t digest[32]); /* 64 hexadecimal digits */
/* A bit pattern as a hexadecimal string, with all digits of the type. */
json_t *cli_json_bits_hex(uint32_t dtype, uint64_t bits);
json_t *cli_json_shape(const vt_tensor *t);
/* A list of the first CLI_FIRST_VALUES elements. */
json_t *cli_json_first_elements(const vt_tensor *t, uint64_t count);
json_t *cli_json_error(const vt_diag *d);

/* Add `v` to a list or an object and take over the reference to it. */
void cli_json_append(json_t *list, json_t *v);
void cli_json_set(json_t *object, const char *key, json_t *v);

/* Prints `root` to standard output and releases it; VT_NOMEM if `root` is NULL. */
vt_status cli_json_print(json_t *root, cli_error *e) VT_NODISCARD;
/* Writes `root` to a file, or to standard output if `path` is "-", and releases it. Numbers get 15
 * digits, which is enough for measured values. */
vt_status cli_json_write(json_t *root, const char *path, cli_error *e) VT_NODISCARD;
/* A JSON number; values above 2^63 - 1 become 2^63 - 1. */
json_t *cli_json_number(uint64_t v);

#endif
