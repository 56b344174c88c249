/* SPDX-License-Identifier: Apache-2.0
 * verb_backends.c - volta backends [PLUGIN.so...]: lists each device with what it declares and
 * whether it is admitted; with --markdown, the page with a table of the declarations. */
#include <inttypes.h>
#include <string.h>
#include "cli_json.h"

typedef struct listing {
  json_t *list;    /* rows of the JSON report; NULL: rows are printed as text */
  vt_status worst; /* first failure of a backend that was named on the command line */
} listing;

static const char *admission_word(const vt_backend_row *r) {
  static const char *const words[] = {[VT_BACKEND_BUILT_IN] = "built in",
                                      [VT_BACKEND_ADMITTED] = "admitted",
                                      [VT_BACKEND_UNADMITTED] = "unadmitted"};
  return r->available ? words[r->admission] : "-";
}

static const char *served_plans(const vt_backend_row *r) {
  if (r->infers && r->trains) return "inference, training";
  return r->infers ? "inference" : r->trains ? "training" : "nothing";
}

/* ---- text ---- */

/* The name may be a path and `about` is written by a plug-in, so both are escaped. */
static void print_row(const vt_backend_row *r) {
  char name[4 * sizeof r->name], about[4 * sizeof r->about];
  cli_print("%-12s  %-11s  %-10s  %-8s  %3u prims  %3u comps  %s\n",
            cli_escape_text(r->name, name, sizeof name), r->available ? "available" : "unavailable",
            admission_word(r), r->complete ? "complete" : "partial", r->prims, r->comps,
            cli_escape_text(r->about, about, sizeof about));
  if (!r->available) return;
  cli_print("  determinism %s; serves %s; alignment %u%s%s\n", r->strict ? "strict" : "none",
            served_plans(r), r->alignment, r->dense_only ? "; dense tensors only" : "",
            r->shares_host ? "; in host memory" : "");
  cli_print(" ");
  for (uint32_t i = 0; i < VT_CAPABILITY_COUNT; i++)
    if ((r->capabilities >> i & 1) != 0) cli_print(" %s", vt_capability_name(i));
  cli_print(r->capabilities != 0 ? "\n" : " declares no capability\n");
}

/* ---- JSON ---- */

static json_t *json_capabilities(const vt_backend_row *r) {
  json_t *o = json_object();
  for (uint32_t i = 0; i < VT_CAPABILITY_COUNT; i++)
    cli_json_set(o, vt_capability_name(i), json_boolean((r->capabilities >> i & 1) != 0));
  return o;
}

static json_t *json_row(const vt_backend_row *r) {
  json_t *o =
      json_pack("{s:o, s:b, s:s, s:b, s:i, s:i, s:o}", "name", cli_json_text(r->name), "available",
                r->available, "admission", admission_word(r), "complete", r->complete, "prims",
                (int)r->prims, "comps", (int)r->comps, "about", cli_json_text(r->about));
  if (!r->available) return o;
  cli_json_set(o, "determinism", json_string(r->strict ? "strict" : "none"));
  cli_json_set(o, "inference", json_boolean(r->infers));
  cli_json_set(o, "training", json_boolean(r->trains));
  cli_json_set(o, "alignment", json_integer((json_int_t)r->alignment));
  cli_json_set(o, "dense_only", json_boolean(r->dense_only));
  cli_json_set(o, "shares_host", json_boolean(r->shares_host));
  cli_json_set(o, "memory", json_integer((json_int_t)r->memory));
  cli_json_set(o, "capabilities", json_capabilities(r));
  return o;
}

/* ---- the page docs/governance/backend-capability-matrix.md ---- */

static const char page_head[] =
    "# What each backend declares\n\n"
    "For whoever chooses a backend or writes one. Written by `volta backends --markdown`. A plan "
    "that needs a capability which its device does not declare is\n"
    "refused at planning time. A declared capability is probed before it is first used, and a "
    "device "
    "that fails the probe is refused.\n"
    "[adding-a-backend.md](../adding-a-backend.md#capabilities) says which steps need which "
    "capability. Plug-ins: `volta backends ./libfoo.so`. A GPU declares the\n"
    "same as `cpu`, but serves only inference: `volta backends cuda`.\n";

/* A function that returns the text of a cell of the Markdown table: a fact about device `r`, or
 * whether `r` declares capability `i`. */
typedef const char *cell(const vt_backend_row *r, uint32_t i);
static const char *yes_or_no(int is) { return is ? "yes" : "no"; }
static const char *capability_cell(const vt_backend_row *r, uint32_t i) {
  return yes_or_no((r->capabilities >> i & 1) != 0);
}
static const char *prims_cell(const vt_backend_row *r, uint32_t i) {
  return (void)i, r->complete ? "all prims" : "some prims";
}
static const char *determinism_cell(const vt_backend_row *r, uint32_t i) {
  return (void)i, r->strict ? "strict" : "none";
}
static const char *served_plans_cell(const vt_backend_row *r, uint32_t i) {
  return (void)i, served_plans(r);
}
static const char *strides_cell(const vt_backend_row *r, uint32_t i) {
  return (void)i, yes_or_no(!r->dense_only);
}
static const char *separator_cell(const vt_backend_row *r, uint32_t i) {
  return (void)r, (void)i, "---";
}
static const char *host_memory_cell(const vt_backend_row *r, uint32_t i) {
  return (void)i, yes_or_no(r->shares_host);
}

/* The page must be the same on every machine, so only devices that every machine has get a
 * column. */
static int is_on_every_machine(const vt_backend_row *r) {
  return strncmp(r->name, "cuda:", 5) != 0;
}

static vt_status print_table_line(const char *head, cell *cell_text, uint32_t capability,
                                  cli_error *e) {
  cli_print("| %s |", head);
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r = {.size = sizeof r};
    VT_TRY(vt_backend_row_at(i, &r, &e->diag));
    if (is_on_every_machine(&r))
      cli_print(" %s |", cell_text != NULL ? cell_text(&r, capability) : r.name);
  }
  cli_print("\n");
  return VT_OK;
}

static vt_status print_markdown(cli_error *e) {
  cli_print("%s\n", page_head);
  VT_TRY(print_table_line("", NULL, 0, e));
  VT_TRY(print_table_line("---", separator_cell, 0, e));
  for (uint32_t i = 0; i < VT_CAPABILITY_COUNT; i++)
    VT_TRY(print_table_line(vt_capability_name(i), capability_cell, i, e));
  VT_TRY(print_table_line("determinism", determinism_cell, 0, e));
  VT_TRY(print_table_line("serves", served_plans_cell, 0, e));
  VT_TRY(print_table_line("runs itself", prims_cell, 0, e));
  VT_TRY(print_table_line("takes strides", strides_cell, 0, e));
  VT_TRY(print_table_line("in host memory", host_memory_cell, 0, e));
  cli_print("\n");
  for (uint32_t i = 0; i < VT_CAPABILITY_COUNT; i++)
    cli_print("- `%s`: %s.\n", vt_capability_name(i), vt_capability_about(i));
  return VT_OK;
}

/* ---- the verb ---- */

static void print_or_append_row(listing *l, const vt_backend_row *r) {
  if (l->list != NULL) cli_json_append(l->list, json_row(r));
  if (l->list == NULL) print_row(r);
}

static vt_status show_built_in_backends(listing *l, cli_error *e) {
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r = {.size = sizeof r};
    VT_TRY(vt_backend_row_at(i, &r, &e->diag));
    print_or_append_row(l, &r);
  }
  return VT_OK;
}

/* A backend that is named on the command line must be available. */
static void show_named_backends(listing *l, const cli_args *a, cli_error *e) {
  for (uint32_t i = 0; i < a->n_operands; i++) {
    const vt_options o = {.size = sizeof o, .backend = a->operands[i]};
    vt_backend_row r = {.size = sizeof r};
    vt_backend_row_of(&o, &r);
    print_or_append_row(l, &r);
    if (r.available || l->worst != VT_OK) continue;
    l->worst = VT_FAIL(&e->diag, r.status, "%s", r.about);
  }
}

vt_status verb_backends(const cli_args *a, cli_error *e) {
  const int as_json = cli_flag_value(a, "json") != NULL;
  VT_TRY(cli_refuse_both(a, "json", "markdown", e));
  if (cli_flag_value(a, "markdown") != NULL) return print_markdown(e);
  listing l = {.list = as_json ? json_array() : NULL};
  vt_status s = VT_OK;
  if (a->n_operands == 0) s = show_built_in_backends(&l, e);
  show_named_backends(&l, a, e);
  if (s == VT_OK && as_json)
    s = cli_json_print(json_pack("{s:o}", "backends", l.list), e);
  else
    json_decref(l.list);
  return s == VT_OK ? l.worst : s;
}
