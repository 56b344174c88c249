/* SPDX-License-Identifier: Apache-2.0
 * vt_parse.h - parses the .vt text form: gives a verified graph, or a diagnostic with line, column,
 * the text of the line and a suggestion. docs/text-form.md has the grammar. */
#ifndef VT_PARSE_H
#define VT_PARSE_H
#include "vt_graph.h"

vt_status vt_parse(const char *text, size_t n, vt_alloc a, vt_graph **out, vt_diag *d) VT_NODISCARD;
#endif
