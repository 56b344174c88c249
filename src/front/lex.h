/* SPDX-License-Identifier: Apache-2.0
 * lex.h - splits .vt text into tokens with positions.
 * A lexer is a plain value: a copy saves the position in the text, and assigning the copy goes back
 * to it. Tokens point into the text and own nothing. */
#ifndef VT_LEX_H
#define VT_LEX_H
#include "vt_text.h"

enum { VT_NAME_MAX = 200 }; /* most bytes of a name */

/* Kinds of tokens. An operator or bracket of one character is its own kind: '(', '=', '+', ... */
enum {
  VT_TOKEN_END = 0,     /* end of the text */
  VT_TOKEN_LINE = '\n', /* the end of a line outside () and [] */
  VT_TOKEN_NAME = 256,
  VT_TOKEN_INT,    /* decimal digits only */
  VT_TOKEN_REAL,   /* 0.5, 1e-5, 0x1.8p-3, inf, nan */
  VT_TOKEN_EQ,     /* == */
  VT_TOKEN_NE,     /* != */
  VT_TOKEN_LE,     /* <= */
  VT_TOKEN_GE,     /* >= */
  VT_TOKEN_RANGE,  /* .. */
  VT_TOKEN_QUOTED, /* "ij,jk->ik", including the quotes */
};

typedef struct vt_token {
  uint32_t kind;         /* VT_TOKEN_*, or the character */
  uint32_t line, column; /* position, from 1; columns count bytes */
  uint32_t n;            /* length in bytes */
  const char *s;         /* the `n` bytes, in the text */
} vt_token;

typedef struct vt_lexer {
  const char *text;
  size_t n, at, line_start; /* length of the text, position, start of the current line */
  uint32_t line;            /* number of the current line, from 1 */
  uint32_t open;            /* number of open ( and [; a newline inside them is a blank */
} vt_lexer;

/* The text must outlive the lexer and its tokens; it has at most UINT32_MAX bytes. */
void vt_lex_init(vt_lexer *l, const char *text, size_t n);
/* Reads the next token. Bytes that are not a token are VT_SYNTAX or VT_LIMIT, with a position. */
vt_status vt_lex_next(vt_lexer *l, vt_token *out, vt_diag *d) VT_NODISCARD;

int vt_token_is(const vt_token *t, const char *word); /* 1 if the token is the name `word` */
/* The token as text for messages: "end of line", "'relu'". A long one is cut. Returns `out`. */
enum { VT_TOKEN_TEXT = 64 };
const char *vt_token_text(const vt_token *t, char out[VT_TOKEN_TEXT]);
/* 1 if the bytes s[0..n) are well-formed UTF-8. */
int vt_utf8_valid(const char *s, size_t n);
#endif
