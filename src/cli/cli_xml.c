/* SPDX-License-Identifier: Apache-2.0
 * cli_xml.c - writes text of SVG pictures: escaped, cut, or as a label that fits into a box. */
#include "cli_xml.h"
#include <string.h>

enum { LABEL = 11 };

static void put_escaped(FILE *f, char c) {
  if (c == '<')
    fputs("&lt;", f);
  else if (c == '>')
    fputs("&gt;", f);
  else if (c == '&')
    fputs("&amp;", f);
  else if (c == '"')
    fputs("&quot;", f);
  else
    putc((unsigned char)c < 0x20 || (unsigned char)c >= 0x7f ? '?' : c, f);
}

void cli_xml_text(FILE *f, const char *text) {
  for (; *text != '\0'; text++) put_escaped(f, *text);
}

void cli_xml_text_cut(FILE *f, const char *text, size_t most) {
  const size_t n = strlen(text);
  const size_t keep = n <= most ? n : most > 3 ? most - 3 : 0;
  for (size_t i = 0; i < keep; i++) put_escaped(f, text[i]);
  if (keep < n) fputs("...", f);
}

/* The font is monospaced: each character is 0.602 of the font size wide, plus some margin. */
size_t cli_xml_chars_that_fit(double width, double font_size) {
  const double n = width / (0.61 * font_size);
  return n < 0 ? 0 : (size_t)n;
}

int cli_xml_label_if_fits(FILE *f, const cli_box *b, const char *name) {
  const size_t n = strlen(name);
  const double x = b->x + b->w / 2, y = b->y + b->h / 2;
  const int along = b->h >= LABEL + 1 && cli_xml_chars_that_fit(b->w - 4, LABEL) >= n;
  const int upright = b->w >= LABEL + 1 && cli_xml_chars_that_fit(b->h - 4, LABEL) >= n;
  if (!along && !upright) return 0;
  fprintf(f, "<text class=\"n\" x=\"%.1f\" y=\"%.1f\"", x, y + 4);
  if (!along) fprintf(f, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
  fputs(">", f);
  cli_xml_text(f, name);
  fputs("</text>\n", f);
  return 1;
}
