/* SPDX-License-Identifier: Apache-2.0
 * json.h - reads JSON from a text in memory: the headers of safetensors files and the indexes of
 * their shards. The caller asks for what it expects next, so no tree is built; the tree of a
 * hostile text may be fifty times as large as the text. Every failure names the position.
 * Private to src/front.
 *
 *   vt_json j = {.text = text, .n = n, .name = "the index", .d = d};
 *   VT_TRY(vt_json_begin(&j, '{'));
 *   for (size_t i = 0;; i++) {
 *     VT_TRY(vt_json_next(&j, '}', i, &more));
 *     if (!more) break;
 *     VT_TRY(vt_json_member(&j, &name));
 *     VT_TRY(strcmp(name, "steps") == 0 ? vt_json_whole(&j, 1000, &steps) : vt_json_skip(&j));
 *   }
 *   VT_TRY(vt_json_end(&j)); */
#ifndef VT_JSON_H
#define VT_JSON_H
#include <stddef.h>
#include <stdint.h>
#include "volta/volta_status.h"

enum { VT_JSON_DEPTH_MAX = 64 }; /* depth of nested arrays and objects in a value that is skipped */

typedef struct vt_json {
  char *text;       /* is changed: strings are unescaped in place, which never makes them longer */
  size_t n, at;     /* length of the text, position in it */
  uint64_t offset;  /* position of text[0] in its file; messages count from the start of the file */
  const char *name; /* what messages call the text: "the index" */
  vt_diag *d;
} vt_json;

/* VT_FORMAT: "NAME is wrong at byte N: WHAT". */
vt_status vt_json_fail(const vt_json *j, const char *what) VT_NODISCARD;

/* Skips space and returns the next byte without consuming it; 0 at the end. It shows what kind of
 * value follows. */
char vt_json_peek(vt_json *j);
/* Consumes `c` if it is the next byte after space; returns 1 if it was. */
int vt_json_accept(vt_json *j, char c);

/* Reads the byte that opens a list, '{' or '['. */
vt_status vt_json_begin(vt_json *j, char open) VT_NODISCARD;
/* Reads the separator before element number `i` of a list: writes 1 to `out_more` if an element
 * follows, or 0 if the list ends with `close`. */
vt_status vt_json_next(vt_json *j, char close, size_t i, int *out_more) VT_NODISCARD;
/* Reads the name of a member of an object, and the colon after it. A name that occurs twice is the
 * caller's to notice. */
vt_status vt_json_member(vt_json *j, const char **out) VT_NODISCARD;
/* Checks that only space follows. */
vt_status vt_json_end(vt_json *j) VT_NODISCARD;

/* Reads a string, which lives in the text. It is UTF-8 and has no control characters below 0x20
 * unless they are escaped. An escaped U+0000 is refused, because it would end the string in C but
 * not in other readers. */
vt_status vt_json_string(vt_json *j, const char **out) VT_NODISCARD;
/* Reads a whole number from 0 to `max`: only digits, without sign, fraction, exponent or leading
 * zero. A larger one is VT_LIMIT, anything else VT_FORMAT. The scan does not touch the diag, for
 * callers with messages of their own. */
vt_status vt_json_scan_whole(vt_json *j, uint64_t max, uint64_t *out) VT_NODISCARD;
vt_status vt_json_whole(vt_json *j, uint64_t max, uint64_t *out) VT_NODISCARD;
/* Reads any number, rounded once to f64; VT_LIMIT if it rounds to an infinity. */
vt_status vt_json_number(vt_json *j, double *out) VT_NODISCARD;
vt_status vt_json_bool(vt_json *j, int *out) VT_NODISCARD; /* true or false */
vt_status vt_json_null(vt_json *j) VT_NODISCARD;
/* Reads a value of any kind and drops it; its syntax is checked. VT_LIMIT if it is nested too deep.
 */
vt_status vt_json_skip(vt_json *j) VT_NODISCARD;
#endif
