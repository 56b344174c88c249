/* SPDX-License-Identifier: Apache-2.0
 * cli_sweep.c - volta plan --sweep B=1,2,4: a table with a plan for each value. If the flag is
 * given several times there is a plan for each combination; the last dim varies fastest. An axis is
 * one --sweep flag, a row is one plan of the table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_json.h"
#include "cli_plan.h"
#include "cli_progress.h"

enum { MOST_AXES = 8, MOST_PLANS = 10000 };

/* One --sweep flag. */
typedef struct axis {
  char *name;     /* name of the dim; owned */
  int64_t *value; /* its sizes */
  uint32_t n;     /* number of sizes */
} axis;

/* One plan of the table. */
typedef struct row {
  int64_t value[MOST_AXES]; /* size of each axis */
  vt_plan_info info;
} row;

typedef struct sweep {
  const cli_plan_job *j;
  axis axes[MOST_AXES];
  uint32_t n_axes, n_rows;
  row *rows;
} sweep;

/* ---- reading the flags ---- */

static vt_status parse_value(const axis *x, const char *text, size_t n, int64_t *out,
                             cli_error *e) {
  char *end = NULL;
  errno = 0;
  const long long v = strtoll(text, &end, 10);
  const int digit = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && n > 1);
  if (!digit || end != text + n || errno != 0)
    return VT_FAIL(&e->diag, VT_BIND, "--sweep %s: '%.*s' is not a whole number", x->name,
                   n < 60 ? (int)n : 60, text);
  *out = v;
  return VT_OK;
}

static vt_status parse_values(axis *x, const char *list, cli_error *e) {
  x->value = calloc(strlen(list) + 1, sizeof *x->value);
  if (x->value == NULL) return cli_no_memory(e);
  for (const char *at = list, *next; at != NULL; at = next) {
    const size_t n = strcspn(at, ",");
    next = at[n] == ',' ? at + n + 1 : NULL;
    VT_TRY(parse_value(x, at, n, &x->value[x->n], e));
    x->n++;
  }
  return VT_OK;
}

static vt_status refuse_repeated_dim(const sweep *w, const char *name, cli_error *e) {
  for (uint32_t i = 0; i + 1 < w->n_axes; i++)
    if (strcmp(w->axes[i].name, name) == 0)
      return VT_FAIL(&e->diag, VT_USAGE, "--sweep gives '%s' twice", name);
  if (cli_bind_find(&w->j->bind, name, strlen(name)) != NULL)
    return VT_FAIL(&e->diag, VT_USAGE, "--bind and --sweep both give '%s'", name);
  return VT_OK;
}

static vt_status refuse_repeated_sizes(const axis *x, cli_error *e) {
  for (uint32_t i = 1; i < x->n; i++)
    for (uint32_t k = 0; k < i; k++)
      if (x->value[k] == x->value[i])
        return VT_FAIL(&e->diag, VT_USAGE, "--sweep gives %s=%" PRId64 " twice", x->name,
                       x->value[i]);
  return VT_OK;
}

static vt_status parse_axis(sweep *w, const char *text, cli_error *e) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text)
    return VT_FAIL(&e->diag, VT_USAGE, "--sweep takes NAME=N,N,..., not '%s'", text);
  if (w->n_axes == MOST_AXES)
    return VT_FAIL(&e->diag, VT_USAGE, "--sweep is given for more than %d dims", MOST_AXES);
  axis *x = &w->axes[w->n_axes++];
  x->name = cli_text_copy(text, (size_t)(equals - text));
  if (x->name == NULL) return cli_no_memory(e);
  VT_TRY(refuse_repeated_dim(w, x->name, e));
  return parse_values(x, equals + 1, e);
}

static vt_status parse_axes(sweep *w, const cli_args *a, cli_error *e) {
  const char *text;
  uint64_t rows = 1;
  for (uint32_t i = 0; (text = cli_flag_value_at(a, "sweep", i)) != NULL; i++) {
    VT_TRY(parse_axis(w, text, e));
    /* Cannot overflow: `rows` was at most MOST_PLANS, and an axis has fewer sizes than the flag
     * has characters. */
    rows *= w->axes[i].n;
    if (rows > MOST_PLANS)
      return VT_FAIL(&e->diag, VT_USAGE, "--sweep asks for more than %d plans", MOST_PLANS);
    /* Compares each pair of sizes, but there are at most MOST_PLANS sizes. */
    VT_TRY(refuse_repeated_sizes(&w->axes[i], e));
  }
  w->n_rows = (uint32_t)rows;
  w->rows = calloc(rows, sizeof *w->rows);
  return w->rows != NULL ? VT_OK : cli_no_memory(e);
}

/* ---- planning ---- */

/* Sets the size of each axis in row `row_index`. If `row_index` is written as a number with one
 * digit per axis, the lowest for the last axis, each digit is an index into the sizes of its axis.
 */
static void set_row_sizes(const sweep *w, uint32_t row_index, row *r) {
  for (uint32_t k = w->n_axes; k-- > 0;) {
    r->value[k] = w->axes[k].value[row_index % w->axes[k].n];
    row_index /= w->axes[k].n;
  }
}

static vt_status plan_row(const sweep *w, row *r, vt_binding *bind, cli_error *e) {
  const cli_bind *given = &w->j->bind;
  const cli_bind all = {.row = bind, .n = given->n + w->n_axes};
  vt_planned *p = NULL;
  for (uint32_t k = 0; k < w->n_axes; k++)
    bind[given->n + k] = (vt_binding){w->axes[k].name, r->value[k]};
  VT_TRY(cli_plan_new(w->j, &all, &w->j->how, &p, e));
  r->info.size = sizeof r->info;
  vt_planned_info(p, &r->info);
  vt_planned_free(p);
  return VT_OK;
}

static vt_status plan_rows(const sweep *w, cli_error *e) {
  vt_binding *bind = calloc((size_t)w->j->bind.n + w->n_axes, sizeof *bind);
  if (bind == NULL) return cli_no_memory(e);
  vt_status s = VT_OK;
  for (uint32_t i = 0; i < w->j->bind.n; i++) bind[i] = w->j->bind.row[i];
  for (uint32_t i = 0; s == VT_OK && i < w->n_rows; i++) {
    cli_progress_show("plans", i, w->n_rows);
    set_row_sizes(w, i, &w->rows[i]);
    s = plan_row(w, &w->rows[i], bind, e);
  }
  cli_progress_clear();
  free(bind);
  return s;
}

/* ---- the table ---- */

static int fits_budget(const sweep *w, const row *r) {
  return w->j->how.budget == 0 || r->info.peak <= w->j->how.budget;
}

/* A memory class has a column if it is not empty in some row. */
static int class_has_column(const sweep *w, uint32_t class) {
  for (uint32_t i = 0; i < w->n_rows; i++)
    if (cli_class_bytes(&w->rows[i].info, class) != 0) return 1;
  return 0;
}

static int axis_column_width(const sweep *w, uint32_t axis_index) {
  int most = (int)strlen(w->axes[axis_index].name);
  for (uint32_t i = 0; i < w->axes[axis_index].n; i++) {
    const int n = snprintf(NULL, 0, "%" PRId64, w->axes[axis_index].value[i]);
    if (n > most) most = n;
  }
  return most;
}

static void print_column_heads(const sweep *w) {
  for (uint32_t k = 0; k < w->n_axes; k++)
    cli_print("%s%*s", k == 0 ? "" : "  ", axis_column_width(w, k), w->axes[k].name);
  for (uint32_t c = 0; vt_memory_class(c) != NULL; c++)
    if (class_has_column(w, c)) cli_print("  %14s", vt_memory_class(c));
  cli_print("  %14s  %10s  peak/live%s\n", "peak", "", w->j->how.budget != 0 ? "  budget" : "");
}

static void print_row(const sweep *w, const row *r) {
  char size[CLI_SIZE_TEXT];
  cli_size_text(r->info.peak, size);
  for (uint32_t k = 0; k < w->n_axes; k++)
    cli_print("%s%*" PRId64, k == 0 ? "" : "  ", axis_column_width(w, k), r->value[k]);
  for (uint32_t c = 0; vt_memory_class(c) != NULL; c++)
    if (class_has_column(w, c)) cli_print("  %14" PRIu64, cli_class_bytes(&r->info, c));
  cli_print("  %14" PRIu64 "  %10s  %9.4f", r->info.peak, size, cli_peak_to_live_ratio(&r->info));
  if (w->j->how.budget != 0) cli_print("  %s", fits_budget(w, r) ? "met" : "NOT MET");
  cli_print("\n");
}

static json_t *json_row(const sweep *w, const row *r) {
  json_t *bind = json_object(), *o = json_object();
  for (uint32_t k = 0; k < w->n_axes; k++)
    cli_json_set(bind, w->axes[k].name, json_integer((json_int_t)r->value[k]));
  cli_json_set(o, "bind", bind);
  for (uint32_t c = 0; vt_memory_class(c) != NULL; c++)
    cli_json_set(o, vt_memory_class(c), json_integer((json_int_t)cli_class_bytes(&r->info, c)));
  cli_json_set(o, "peak", json_integer((json_int_t)r->info.peak));
  cli_json_set(o, "live", json_integer((json_int_t)r->info.live));
  cli_json_set(o, "ratio", json_real(cli_peak_to_live_ratio(&r->info)));
  if (w->j->how.budget != 0) cli_json_set(o, "fits", json_boolean(fits_budget(w, r)));
  return o;
}

static vt_status print_json(const sweep *w, cli_error *e) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < w->n_rows; i++) cli_json_append(list, json_row(w, &w->rows[i]));
  json_t *o = json_pack("{s:s, s:o}", "model", vt_model_name(w->j->source.model), "bind",
                        cli_bind_json(&w->j->bind));
  cli_planning_add_json(&w->j->how, o);
  cli_json_set(o, "sweep", list);
  return cli_json_print(o, e);
}

static vt_status check_all_rows_fit_budget(const sweep *w, cli_error *e) {
  uint32_t over = 0;
  uint64_t most = 0;
  for (uint32_t i = 0; i < w->n_rows; i++) {
    over += !fits_budget(w, &w->rows[i]);
    if (w->rows[i].info.peak > most) most = w->rows[i].info.peak;
  }
  if (over == 0) return VT_OK;
  const vt_status s =
      VT_FAIL(&e->diag, VT_BUDGET, "%u of %u plans need more than the budget, %" PRIu64 " bytes",
              over, w->n_rows, w->j->how.budget);
  cli_set_hint(e, "the smallest budget that works for all is %" PRIu64, most);
  return s;
}

static vt_status report_sweep(sweep *w, const cli_args *a, cli_error *e) {
  VT_TRY(parse_axes(w, a, e));
  VT_TRY(plan_rows(w, e));
  if (cli_flag_value(a, "json") != NULL) {
    VT_TRY(print_json(w, e));
  } else {
    print_column_heads(w);
    for (uint32_t i = 0; i < w->n_rows; i++) print_row(w, &w->rows[i]);
  }
  return check_all_rows_fit_budget(w, e);
}

vt_status cli_sweep_report(const cli_args *a, const cli_plan_job *j, cli_error *e) {
  sweep w = {.j = j};
  const vt_status s = report_sweep(&w, a, e);
  for (uint32_t k = 0; k < w.n_axes; k++) {
    free(w.axes[k].name);
    free(w.axes[k].value);
  }
  free(w.rows);
  return s;
}
