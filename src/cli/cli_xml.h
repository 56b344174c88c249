/* SPDX-License-Identifier: Apache-2.0
 * cli_xml.h - the few shapes that pictures are made of, written to a stream in memory. */
#ifndef CLI_XML_H
#define CLI_XML_H
#include <stdio.h>
#include "cli.h"

typedef struct cli_box {
  double x, y, w, h; /* from the upper left corner */
} cli_box;

/* Text between tags or in an attribute: nothing in it can end either. */
void cli_xml_text(FILE *f, const char *text);
/* At most `most` characters of it, with an ellipsis where something was left out. */
void cli_xml_cut(FILE *f, const char *text, size_t most);
/* How many characters of the picture's font of this size go into `width`. */
size_t cli_xml_fits(double width, double font);
/* `name` inside a box: along it, upright if it is narrow and high; 0 when it does not fit. */
int cli_xml_label(FILE *f, const cli_box *b, const char *name);

#endif
