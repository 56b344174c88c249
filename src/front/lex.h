/* SPDX-License-Identifier: Apache-2.0
 * lex.h - the .vt text as tokens with positions.
 * A lexer is a plain value: copying it saves a place in the text, assigning it goes back there.
 * Tokens point into the text and own nothing. */
#ifndef VT_LEX_H
#define VT_LEX_H
#include "vt_text.h"

enum { VT_NAME_MAX = 200 }; /* bytes in a name */

/* A mark of one character is its own kind: '(', '=', '+', ... */
enum {
  VT_TOKEN_END = 0,
  VT_TOKEN_LINE = '\n', /* the end of a line outside () and [] */
  VT_TOKEN_NAME = 256,
  VT_TOKEN_INT,    /* decimal digits only */
  VT_TOKEN_REAL,   /* 0.5, 1e-5, 0x1.8p-3, inf, nan */
  VT_TOKEN_EQ,     /* == */
  VT_TOKEN_NE,     /* != */
  VT_TOKEN_LE,     /* <= */
  VT_TOKEN_GE,     /* >= */
  VT_TOKEN_RANGE,  /* .. */
  VT_TOKEN_QUOTED, /* "ij,jk->ik", the marks included */
};

typedef struct vt_token {
  uint32_t kind;
  uint32_t line, column; /* from 1; columns count bytes */
  uint32_t n;
  const char *s; /* n bytes of the text */
} vt_token;

typedef struct vt_lexer {
  const char *text;
  size_t n, at, line_start;
  uint32_t line;
  uint32_t open; /* ( and [ not closed yet: newlines inside are blanks */
} vt_lexer;

/* `text` must stay; at most UINT32_MAX bytes. */
void vt_lex_init(vt_lexer *l, const char *text, size_t n);
/* The next token; VT_SYNTAX or VT_LIMIT with a position for bytes that are none. */
vt_status vt_lex_next(vt_lexer *l, vt_token *out, vt_diag *d) VT_NODISCARD;

int vt_token_is(const vt_token *t, const char *word); /* a name spelled so */
/* "end of line", "'relu'"; cut where it is long. Returns `out`. */
enum { VT_TOKEN_TEXT = 64 };
const char *vt_token_describe(const vt_token *t, char out[VT_TOKEN_TEXT]);
/* 1 when all of s[0..n) is well-formed UTF-8. */
int vt_utf8_valid(const char *s, size_t n);
#endif
