/* SPDX-License-Identifier: Apache-2.0
 * cli_xml.h - text and labels of SVG pictures, written to a stream. */
#ifndef CLI_XML_H
#define CLI_XML_H
#include <stdio.h>
#include "cli.h"

typedef struct cli_box {
  double x, y, w, h; /* upper left corner, width, height */
} cli_box;

/* Writes text for use between tags or in an attribute, with special characters escaped. */
void cli_xml_text(FILE *f, const char *text);
/* Writes at most `most` characters of the text; a longer text is cut and ends in "...". */
void cli_xml_text_cut(FILE *f, const char *text, size_t most);
/* Number of characters of a monospaced font of size `font_size` that fit into `width`. */
size_t cli_xml_chars_that_fit(double width, double font_size);
/* Draws `name` inside a box, horizontally or, in a narrow high box, vertically. Returns 0 and draws
 * nothing if it does not fit. */
int cli_xml_label_if_fits(FILE *f, const cli_box *b, const char *name);

#endif
