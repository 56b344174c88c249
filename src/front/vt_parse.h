/* SPDX-License-Identifier: Apache-2.0
 * vt_parse.h - the .vt text form: text in, a verified graph out, or a diagnostic with line, column,
 * the line itself and a suggestion. The grammar is docs/text-form.md. */
#ifndef VT_PARSE_H
#define VT_PARSE_H
#include "vt_graph.h"

vt_status vt_parse(const char *text, size_t n, vt_alloc a, vt_graph **out, vt_diag *d) VT_NODISCARD;
#endif
