/* SPDX-License-Identifier: Apache-2.0
 * cli_json.h - reports as JSON. Numbers that a reader may hold as f64 stay numbers; seeds, bit
 * patterns and distances have 64 bits and are strings. When memory runs out anywhere while a report
 * is built, cli_json_print says so instead of printing half of it. */
#ifndef CLI_JSON_H
#define CLI_JSON_H
#include <jansson.h>
#include "cli.h"

/* A string; bytes that are not UTF-8 are written as \xNN. */
json_t *cli_json_text(const char *text);
json_t *cli_json_u64(uint64_t v);                     /* a string */
json_t *cli_json_hex(const uint8_t digest[32]);       /* 64 digits */
json_t *cli_json_bits(uint32_t dtype, uint64_t bits); /* as wide as the type */
json_t *cli_json_shape(const vt_tensor *t);
json_t *cli_json_elements(const vt_tensor *t, uint64_t count); /* the first few */
json_t *cli_json_error(const vt_diag *d);

/* Both take `v` over. */
void cli_json_append(json_t *list, json_t *v);
void cli_json_set(json_t *object, const char *key, json_t *v);

/* Prints and releases `root`; NULL is VT_NOMEM. */
vt_status cli_json_print(json_t *root, cli_error *e) VT_NODISCARD;
/* Writes measured numbers, to 15 digits, to a file and releases `root`; "-" is standard output. */
vt_status cli_json_write(json_t *root, const char *path, cli_error *e) VT_NODISCARD;
/* A number; one beyond 2^63 - 1 is that. */
json_t *cli_json_number(uint64_t v);

#endif
