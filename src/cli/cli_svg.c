/* SPDX-License-Identifier: Apache-2.0
 * cli_svg.c - draws the memory of a plan as a picture. The steps go from left to right. Memory
 * classes are stacked, so the top is the peak. Temporaries and scratch are drawn to scale. Memory
 * that is used during the whole run would dwarf them, so it is drawn as bands of fixed height.
 *
 *              +--------------------------------+  budget, if it is given
 *   temporary  |  [ _12 ]     [ _19 ]           |  <- peak
 *              |[ _11      ][ _15 ]             |
 *   workspace  |      ||    |                   |
 *   output     | [ _13 ]              [ logits ]|
 *   ...        +--------------------------------+
 *               0        10       20     steps */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_plan.h"
#include "cli_xml.h"

enum {
  LEFT = 190,
  RIGHT = 24,
  TOP = 112,
  PLOT = 986, /* width of the panels */
  WIDTH = LEFT + PLOT + RIGHT,
  SCALED = 420, /* height of the panel that is to scale */
  BAND = 40,
  GAP = 6,
  END = 26, /* width of the part of the x axis after the last step */
  BOTTOM = 74
};

/* How a memory class is drawn. Classes that share an arena share a panel. */
typedef struct style {
  const char *name, *about; /* name of the class, note below it */
  int scaled;               /* 1: drawn to scale, with offsets on the axis */
  const char *tint[3];      /* colours, used in turn so that neighbours differ */
} style;
/* Classes from the bottom of the picture to its top. */
enum {
  HOST_PARAMETER,
  PARAMETER,
  GRADIENT,
  OPTIMIZER_STATE,
  STATE,
  BACKEND,
  INPUT,
  OUTPUT,
  WORKSPACE,
  TEMPORARY,
  N_STYLES
};
static const style styles[N_STYLES] = {
    [HOST_PARAMETER] = {"host_parameter", "in host", 0, {"#c9c9c9", "#bdbdbd", "#d4d4d4"}},
    [PARAMETER] = {"parameter", "not to scale", 0, {"#a9c4e6", "#98b7de", "#b9d0ec"}},
    [GRADIENT] = {"gradient", "not to scale", 0, {"#d9b3d9", "#cfa3cf", "#e2c3e2"}},
    [OPTIMIZER_STATE] = {"optimizer_state", "not to scale", 0, {"#c9b8e0", "#bda9d8", "#d5c7e8"}},
    [STATE] = {"state", "not to scale", 0, {"#e0b8c4", "#d8a9b7", "#e8c7d1"}},
    [BACKEND] = {"backend_memory", "not to scale", 0, {"#c8cfa8", "#bbc497", "#d4dab9"}},
    [INPUT] = {"host_input", "not to scale", 0, {"#a5d6c9", "#93ccbd", "#b6dfd4"}},
    [OUTPUT] = {"output", "to scale", 1, {"#f0c08a", "#eab376", "#f5cd9f"}},
    [WORKSPACE] = {"workspace", "to scale", 1, {"#d98880", "#cf7a72", "#e29a93"}},
    [TEMPORARY] = {"temporary", "to scale", 1, {"#8fc98f", "#7dbd7d", "#a3d5a3"}},
};
_Static_assert((int)N_STYLES == (int)VT_MEMORY_CLASSES, "every class of memory has a style");

/* The part of the picture that shows one arena. */
typedef struct panel {
  const style *style;
  uint32_t class; /* the first memory class of the arena */
  uint64_t bytes; /* bytes of the arena */
  cli_box box;
} panel;

typedef struct picture {
  FILE *f;
  const cli_plan_job *j;
  const vt_planned *p;
  vt_plan_info info;
  panel panels[N_STYLES]; /* panels from bottom to top */
  uint32_t n;             /* number of panels */
  double scale, step;     /* height of a byte, width of a step */
  double top, height;     /* y of the top panel, height of the picture */
} picture;

/* ---- layout ---- */

static uint32_t find_memory_class(const char *name) {
  uint32_t c = 0;
  while (vt_memory_class(c) != NULL && strcmp(vt_memory_class(c), name) != 0) c++;
  return c;
}

static const style *style_of(uint32_t class) {
  const style *s = styles;
  while (find_memory_class(s->name) != class) s++;
  return s;
}

static uint64_t arena_bytes(const picture *g, uint32_t arena) {
  uint64_t bytes = 0;
  for (uint32_t c = 0; c < VT_MEMORY_CLASSES; c++)
    if (vt_memory_class_arena(c) == arena) bytes += cli_class_bytes(&g->info, c);
  return bytes;
}

/* Makes a panel for each arena that is not empty. */
static void add_panel_per_used_arena(picture *g) {
  for (uint32_t i = 0; i < N_STYLES; i++) {
    const uint32_t c = find_memory_class(styles[i].name);
    const uint64_t bytes = arena_bytes(g, c);
    if (bytes == 0) continue;
    g->panels[g->n++] = (panel){.style = &styles[i], .class = c, .bytes = bytes};
    if (styles[i].scaled) g->scale = SCALED / (double)bytes;
  }
  g->step = (PLOT - END) / (g->info.steps != 0 ? (double)g->info.steps : 1);
}

static void stack_panels(picture *g) {
  double y = TOP;
  for (uint32_t i = g->n; i-- > 0;) {
    panel *p = &g->panels[i];
    p->box = (cli_box){LEFT, y, PLOT, p->style->scaled ? SCALED : BAND};
    y += p->box.h + GAP;
  }
  g->top = TOP;
  g->height = y + BOTTOM;
}

/* The box of a lifetime: its steps horizontally, its bytes vertically from the panel's bottom. */
static cli_box lifetime_box(const picture *g, const panel *p, const vt_plan_lifetime *s) {
  const double end = s->last < g->info.steps ? LEFT + (s->last + 1) * g->step : LEFT + PLOT;
  const double unit = p->box.h / (double)p->bytes;
  const double x = LEFT + s->first * g->step;
  const double h = (double)s->bytes * unit;
  return (cli_box){x, p->box.y + p->box.h - (double)s->offset * unit - h, end - x, h};
}

/* ---- panels ---- */

/* Text of the step that defines the value of a lifetime; NULL if no step defines it. */
static const char *defining_step_text(const picture *g, const vt_plan_lifetime *s) {
  const char *does = vt_planned_step(g->p, s->first);
  const size_t n = strlen(s->name);
  return does != NULL && strncmp(does, s->name, n) == 0 && strchr(" ,", does[n]) != NULL ? does
                                                                                         : NULL;
}

static void draw_tooltip(const picture *g, const vt_plan_lifetime *s) {
  const char *does = defining_step_text(g, s);
  char size[CLI_SIZE_TEXT];
  cli_size_text(s->bytes, size);
  fputs("<title>", g->f);
  cli_xml_text(g->f, s->name);
  fputs(s->type[0] != '\0' ? " " : "", g->f);
  cli_xml_text(g->f, s->type);
  fprintf(g->f, ": %" PRIu64 " bytes (%s) at %" PRIu64 ", steps %u to %u", s->bytes, size,
          s->offset, s->first, s->last < g->info.steps ? s->last : g->info.steps);
  fputs(does != NULL ? "&#10;" : "", g->f);
  cli_xml_text_cut(g->f, does != NULL ? does : "", 160);
  fputs("</title>", g->f);
}

/* Draws the name of a value, with its op if that fits: "_71 = mul". */
static void draw_value_name(const picture *g, const vt_plan_lifetime *s, const cli_box *b) {
  const char *does = defining_step_text(g, s), *open = does != NULL ? strchr(does, '(') : NULL;
  char longer[64];
  if (open != NULL && snprintf(longer, sizeof longer, "%.*s", (int)(open - does), does) > 0 &&
      cli_xml_label_if_fits(g->f, b, longer))
    return;
  (void)cli_xml_label_if_fits(g->f, b, s->name);
}

static void draw_lifetime(const picture *g, const panel *p, const vt_plan_lifetime *s, uint32_t i) {
  const cli_box b = lifetime_box(g, p, s);
  const int edged = b.w >= 3 && b.h >= 3; /* the edge would hide a smaller box */
  fprintf(g->f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"%s>", b.x,
          b.y, b.w, b.h, style_of(s->memory_class)->tint[i % 3], edged ? " class=\"e\"" : "");
  draw_tooltip(g, s);
  fputs("</rect>\n", g->f);
  draw_value_name(g, s, &b);
}

/* Prints the classes of a panel and their bytes at its left. Returns the height of that text. */
static double draw_panel_label(const picture *g, const panel *p) {
  double up = p->style->scaled ? 18 : 22; /* distance from the panel's bottom */
  for (uint32_t i = 0; i < N_STYLES; i++) {
    const uint32_t c = find_memory_class(styles[i].name);
    if (vt_memory_class_arena(c) != p->class || cli_class_bytes(&g->info, c) == 0) continue;
    const double y = p->box.y + p->box.h - up;
    char size[CLI_SIZE_TEXT];
    cli_size_text(cli_class_bytes(&g->info, c), size);
    fprintf(g->f, "<rect x=\"16\" y=\"%.1f\" width=\"9\" height=\"9\" fill=\"%s\"/>\n", y - 8,
            styles[i].tint[1]);
    fprintf(g->f, "<text class=\"c\" x=\"30\" y=\"%.1f\">%s</text>\n", y, styles[i].name);
    fprintf(g->f, "<text class=\"m\" x=\"30\" y=\"%.1f\">%s, %s</text>\n", y + 13, size,
            styles[i].about);
    up += 32;
  }
  return up - 14;
}

static void draw_panel(const picture *g, const panel *p) {
  vt_plan_lifetime s = {.size = sizeof s};
  uint32_t n = 0;
  fprintf(g->f, "<rect class=\"p\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
          p->box.x, p->box.y, p->box.w, p->box.h);
  for (uint32_t i = 0; vt_planned_lifetime(g->p, i, &s) == VT_OK; i++)
    if (vt_memory_class_arena(s.memory_class) == p->class) draw_lifetime(g, p, &s, n++);
}

/* ---- axes ---- */

/* Distance between ticks: the smallest of 1, 2, 5, 10, 20, ..., or with `by_twos` the smallest
 * power of two, that divides `range` into at most `most_intervals` intervals. */
static uint64_t tick_distance(uint64_t range, uint64_t most_intervals, int by_twos) {
  uint64_t t = 1;
  for (uint32_t i = 0; range / t > most_intervals; i++)
    t = by_twos ? t * 2 : i % 3 == 1 ? t / 2 * 5 : t * 2;
  return t;
}

/* An offset in the unit that suits `largest`: on an axis of a few MiB, 256 KiB is "0.25 MiB". */
static void offset_text(uint64_t offset, uint64_t largest, char out[CLI_SIZE_TEXT]) {
  static const char *const name[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  uint32_t i = 0;
  double unit = 1;
  for (; (double)largest >= 1024 * unit && i + 1 < sizeof name / sizeof name[0]; i++) unit *= 1024;
  snprintf(out, CLI_SIZE_TEXT, "%g %s", (double)offset / unit, name[i]);
}

static void draw_offset_axis(const picture *g, const panel *p) {
  const uint64_t every = tick_distance(p->bytes, 9, 1);
  const double free_from = p->box.y + p->box.h - draw_panel_label(g, p);
  for (uint64_t at = 0; p->style->scaled && at <= p->bytes; at += every) {
    const double y = p->box.y + p->box.h - (double)at / (double)p->bytes * p->box.h;
    char size[CLI_SIZE_TEXT];
    offset_text(at, p->bytes, size);
    fprintf(g->f, "<line class=\"t\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT - 5, y,
            LEFT + PLOT, y);
    if (y < free_from) /* the panel's label covers lower positions */
      fprintf(g->f, "<text class=\"a\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 9, y + 4, size);
  }
}

static void draw_step_axis(const picture *g) {
  const uint64_t every = tick_distance(g->info.steps, 16, 0);
  const double y = g->height - BOTTOM;
  for (uint64_t i = 0; i <= g->info.steps; i += every)
    fprintf(g->f,
            "<line class=\"x\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"s\" x=\"%.1f\" y=\"%.1f\">%" PRIu64 "</text>\n",
            LEFT + (double)i * g->step, y, LEFT + (double)i * g->step, y + 5,
            LEFT + (double)i * g->step, y + 17, i);
  fprintf(g->f, "<text class=\"s\" x=\"%d\" y=\"%.1f\">step</text>\n", LEFT + PLOT / 2, y + 33);
  fprintf(g->f, "<text class=\"m\" x=\"%d\" y=\"%.1f\">end</text>\n", LEFT + PLOT - END + 5,
          y + 33);
}

/* ---- marks ---- */

static void draw_peak(const picture *g) {
  char size[CLI_SIZE_TEXT];
  cli_size_text(g->info.peak, size);
  fprintf(g->f,
          "<line class=\"k\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n"
          "<text class=\"k\" x=\"%d\" y=\"%.1f\">peak %s, %" PRIu64 " bytes in all</text>\n",
          LEFT, g->top, LEFT + PLOT, g->top, LEFT + PLOT, g->top - 5, size, g->info.peak);
}

/* Draws the budget at its height if that is within the scaled panel; otherwise at the edge, with
 * the note "not to scale". */
static void draw_budget(const picture *g) {
  const uint64_t budget = g->j->how.budget, peak = g->info.peak;
  if (budget == 0) return;
  const double off =
      ((double)peak - (double)budget) * g->scale; /* distance from the peak downwards */
  const int above = off<-24, below = off> SCALED || g->scale == 0;
  const double y = above ? g->top - 24 : below ? g->top + SCALED : g->top + off;
  char size[CLI_SIZE_TEXT], far[CLI_SIZE_TEXT];
  cli_size_text(budget, size);
  cli_size_text(budget > peak ? budget - peak : peak - budget, far);
  fprintf(g->f, "<line class=\"b\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT, y,
          LEFT + PLOT, y);
  fprintf(g->f, "<text class=\"b\" x=\"%d\" y=\"%.1f\">%sbudget %s: %s %s the peak</text>\n", LEFT,
          y + (budget < peak ? 13 : -5), above || below ? "not to scale: " : "", size, far,
          budget >= peak ? "above" : "below");
}

static void draw_fullest_step(const picture *g) {
  const char *does = vt_planned_step(g->p, g->info.fullest);
  if (does == NULL) return;
  char text[40];
  const double x = LEFT + (g->info.fullest + 0.5) * g->step, y = g->height - BOTTOM;
  const int n = snprintf(text, sizeof text, "most alive at step %u: ", g->info.fullest);
  fprintf(g->f, "<line class=\"f\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x, g->top,
          x, y + 5);
  fprintf(g->f, "<text class=\"f\" x=\"%d\" y=\"%.1f\">%s", LEFT, y + 52, text);
  cli_xml_text_cut(g->f, does, cli_xml_chars_that_fit(PLOT, 12) - (size_t)n);
  fputs("</text>\n", g->f);
}

/* ---- head, title and legend ---- */

/* The picture has its own background and colours, so it looks the same on light and dark pages. */
static void draw_svg_head(const picture *g) {
  fprintf(g->f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
          "height=\"%.0f\" font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" "
          "font-size=\"11\">\n<style>\n",
          WIDTH, g->height, WIDTH, g->height);
  fputs(
      ".e{stroke:#fff;stroke-width:.6}.p{fill:#f4f4f2}text{fill:#222}\n"
      ".n{text-anchor:middle;pointer-events:none}.c{font-weight:bold}.m{fill:#666}\n"
      ".a{text-anchor:end;fill:#666}.s{text-anchor:middle;fill:#444}.x{stroke:#888}\n"
      ".t{stroke:#000;stroke-opacity:.13}.h{font-size:18px;font-weight:bold}\n"
      "line.k{stroke:#b00020;stroke-width:1.6}text.k{text-anchor:end;fill:#b00020}\n"
      "line.b{stroke:#6a1b9a;stroke-width:1.6;stroke-dasharray:7 4}\n"
      "text.b{fill:#6a1b9a;stroke:#fff;stroke-width:3px;paint-order:stroke}\n"
      "line.f{stroke:#b00020;stroke-dasharray:2 3}text.f{fill:#b00020;font-size:12px}\n</style>\n",
      g->f);
  fprintf(g->f, "<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, g->height);
}

static void draw_title(const picture *g) {
  char live[CLI_SIZE_TEXT];
  cli_size_text(g->info.live, live);
  fputs("<text class=\"h\" x=\"16\" y=\"30\">", g->f);
  cli_xml_text_cut(g->f, vt_model_name(g->j->source.model), 60);
  fputs("</text>\n<text class=\"m\" x=\"16\" y=\"50\">", g->f);
  for (uint32_t i = 0; i < g->j->bind.n; i++)
    fprintf(g->f, "%s=%" PRId64 "%s", g->j->bind.row[i].name, g->j->bind.row[i].value,
            i + 1 < g->j->bind.n ? " " : ", ");
  fprintf(g->f,
          "%s, schedule %s: %u steps, at most %s alive at one time, the peak is %.4f times that",
          vt_planned_backend(g->p), g->j->how.schedule != NULL ? g->j->how.schedule : "source",
          g->info.steps, live, cli_peak_to_live_ratio(&g->info));
  fputs("</text>\n", g->f);
}

/* Explains the colours of the panel that temporaries, scratch and outputs share. */
static void draw_legend(const picture *g) {
  static const struct {
    uint32_t style;
    const char *text;
  } row[] = {{TEMPORARY, "temporary"}, {WORKSPACE, "scratch, copies"}, {OUTPUT, "output"}};
  double x = LEFT + PLOT - 300;
  for (uint32_t i = 0; i < 3; i++) {
    fprintf(g->f,
            "<rect x=\"%.0f\" y=\"21\" width=\"9\" height=\"9\" fill=\"%s\"/>"
            "<text x=\"%.0f\" y=\"30\">%s</text>\n",
            x, styles[row[i].style].tint[1], x + 14, row[i].text);
    x += 36 + 6.8 * (double)strlen(row[i].text);
  }
}

static void draw_picture(const picture *g) {
  draw_svg_head(g);
  draw_title(g);
  draw_legend(g);
  for (uint32_t i = 0; i < g->n; i++) draw_panel(g, &g->panels[i]);
  for (uint32_t i = 0; i < g->n; i++) draw_offset_axis(g, &g->panels[i]);
  draw_step_axis(g);
  draw_fullest_step(g);
  draw_peak(g);
  draw_budget(g);
  fputs("</svg>\n", g->f);
}

static vt_status write_picture(const char *path, const char *bytes, size_t n, cli_error *e) {
  if (strcmp(path, "-") == 0) {
    cli_write(bytes, n);
    return VT_OK;
  }
  VT_TRY(cli_file_write(path, bytes, n, e));
  cli_narrate("wrote %s\n", path);
  return VT_OK;
}

vt_status cli_svg_write(const char *path, const cli_plan_job *j, const vt_planned *p,
                        cli_error *e) {
  picture g = {.j = j, .p = p, .info = {.size = sizeof g.info}};
  char *bytes = NULL;
  size_t n = 0;
  vt_planned_info(p, &g.info);
  add_panel_per_used_arena(&g);
  stack_panels(&g);
  g.f = open_memstream(&bytes, &n);
  if (g.f == NULL) return cli_no_memory(e);
  draw_picture(&g);
  const int lost = ferror(g.f) != 0;
  vt_status s = fclose(g.f) != 0 || lost ? cli_no_memory(e) : VT_OK;
  if (s == VT_OK) s = write_picture(path, bytes, n, e);
  free(bytes);
  return s;
}
