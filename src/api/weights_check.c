/* SPDX-License-Identifier: Apache-2.0
 * weights_check.c - compares weights with the parameters of a model, and lists in one message the
 * missing parameters, the tensors without a parameter, and those of another type. */
#include <stdio.h>
#include <string.h>
#include "model.h"
#include "vt_sort.h"
#include "weights.h"

static int rounds_to_f32(uint32_t dtype) {
  return dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16 || dtype == VT_DTYPE_F64;
}

int vt_weight_fills(const vt_weights *w, uint32_t stored, uint32_t have, uint32_t want) {
  if (have == want) return 1;
  return (have == stored || w->convert) && want == VT_DTYPE_F32 && rounds_to_f32(have);
}

/* The type that a parameter declares for weight files; 0: none. */
static uint32_t stored_type(const vt_port *p) { return p->stored; }

/* ---- finding what does not fit ---- */

/* A tensor that is a parameter of another type. */
typedef struct mismatch {
  const vt_weight_entry *entry;
  const vt_port *port;
} mismatch;

typedef struct findings {
  const vt_graph *g;
  const vt_port **missing;       /* parameters without a tensor */
  const vt_weight_entry **extra; /* tensors without a parameter */
  mismatch *other;               /* tensors of another type or shape */
  uint32_t n_missing, n_extra, n_other;
} findings;

static int by_name(const void *a, const void *b, const void *context) {
  const vt_port *const *x = a, *const *y = b;
  (void)context;
  return strcmp((*x)->name, (*y)->name);
}

/* Lists the ports that tensors can fill, parameters and states, in ascending order of their names;
 * returns their number. */
static uint32_t list_params(const vt_graph *g, const vt_port **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_PARAM || g->ports[i].kind == VT_PORT_STATE)
      out[n++] = &g->ports[i];
  return n;
}

/* 1 if no dimension that the model gives as a number differs. */
static int shape_may_fit(const vt_type *want, const vt_tensor *have) {
  if (want->rank != have->rank) return 0;
  for (uint32_t i = 0; i < want->rank; i++)
    if (!vt_dim_is_symbolic(want->dim[i]) && want->dim[i] != have->dim[i]) return 0;
  return 1;
}

static void compare_type(const vt_weights *w, const vt_port *p, const vt_weight_entry *e,
                         findings *f) {
  const vt_type *want = &f->g->values[p->value].type;
  if (vt_weight_fills(w, stored_type(p), e->tensor.dtype, want->dtype) &&
      shape_may_fit(want, &e->tensor))
    return;
  f->other[f->n_other++] = (mismatch){e, p};
}

/* Goes through parameters and tensors at the same time, as both are in the order of their names. */
static void compare_names(const vt_weights *w, const vt_port *const *params, uint32_t n,
                          findings *f) {
  const vt_weight_list *l = &w->list;
  uint32_t i = 0, k = 0;
  while (i < n || k < l->n_entries) {
    const int c = i == n ? 1 : k == l->n_entries ? -1 : strcmp(params[i]->name, l->entries[k].name);
    if (c == 0)
      compare_type(w, params[i++], &l->entries[k++], f);
    else if (c < 0 && params[i]->kind == VT_PORT_STATE)
      i++; /* it keeps the first value of its initialiser */
    else if (c < 0)
      f->missing[f->n_missing++] = params[i++];
    else
      f->extra[f->n_extra++] = &l->entries[k++];
  }
  if (w->ignore_extra) f->n_extra = 0;
}

/* ---- the message ---- */

enum { MESSAGE = sizeof((vt_diag *)0)->text };

typedef struct message {
  char text[MESSAGE];
  size_t n;
  uint32_t sections; /* sections that are still to be written */
} message;

static void add_text(message *m, const char *text) {
  const size_t room = sizeof m->text - 1 - m->n, n = strlen(text);
  const size_t copied = n < room ? n : room;
  memcpy(m->text + m->n, text, copied);
  m->n += copied;
  m->text[m->n] = '\0';
}

/* A name for the message. A long one is cut, but not inside a character. */
enum { NAME = 72 };
static const char *short_name(const char *name, char out[NAME]) {
  enum { MOST = NAME - 4 };
  size_t n = strlen(name);
  const int cut = n > MOST;
  if (cut) n = MOST;
  while (cut && ((uint8_t)name[n] & 0xc0) == 0x80) n--;
  snprintf(out, NAME, "%.*s%s", (int)n, name, cut ? "..." : "");
  return out;
}

/* 1 if `name` is `part` with more parts in front: "bert.wte.weight" and "wte.weight". */
static int ends_with_parts(const char *name, const char *part) {
  const size_t n = strlen(name), k = strlen(part);
  return n > k && name[n - k - 1] == '.' && strcmp(name + n - k, part) == 0;
}

/* The missing parameter that a tensor may be meant for, or NULL. Only the first ones are compared,
 * so that a large model cannot make the message slow. */
static const char *similar_param(const findings *f, const char *name) {
  enum { MOST = 10000 };
  vt_suggestion s = {.wanted = name};
  const char *other = NULL;
  for (uint32_t i = 0; i < f->n_missing && i < MOST; i++) {
    const char *param = f->missing[i]->name;
    vt_suggestion_consider(&s, param);
    if (other == NULL && (ends_with_parts(name, param) || ends_with_parts(param, name)))
      other = param;
  }
  return s.best != NULL ? s.best : other;
}

enum { ITEM = 2 * VT_TYPE_TEXT + NAME + 32 };
/* Writes item number `i` of a section. */
typedef void item_fn(const findings *f, uint32_t i, char out[ITEM]);

static void print_missing(const findings *f, uint32_t i, char out[ITEM]) {
  char q[NAME];
  snprintf(out, ITEM, "'%s'", short_name(f->missing[i]->name, q));
}

static void print_extra(const findings *f, uint32_t i, char out[ITEM]) {
  char q[NAME], k[NAME];
  const char *similar = similar_param(f, f->extra[i]->name);
  snprintf(out, ITEM, similar != NULL ? "'%s' (like '%s'?)" : "'%s'",
           short_name(f->extra[i]->name, q), similar != NULL ? short_name(similar, k) : "");
}

static void print_other(const findings *f, uint32_t i, char out[ITEM]) {
  char q[NAME], x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  const mismatch *m = &f->other[i];
  vt_type have = {.dtype = m->entry->tensor.dtype, .rank = m->entry->tensor.rank};
  memcpy(have.dim, m->entry->tensor.dim, sizeof have.dim);
  snprintf(out, ITEM, "'%s' is %s, not %s", short_name(m->entry->name, q),
           vt_type_text(&f->g->dims, &have, x),
           vt_type_text(&f->g->dims, &f->g->values[m->port->value].type, y));
}

/* Adds "TITLE: a, b and 3 more". The sections share the rest of the message, so that a long list
 * does not hide the next one. */
static void add_section(message *m, const char *title, const findings *f, uint32_t n,
                        item_fn *print) {
  enum { AND_MORE = 24 }; /* bytes of " and N more; " */
  char item[ITEM], more[AND_MORE + 8];
  uint32_t i = 0;
  if (n == 0) return;
  const size_t end = m->n + (sizeof m->text - 1 - m->n) / m->sections--;
  add_text(m, title);
  for (; i < n; i++) {
    print(f, i, item);
    if (i > 0 && m->n + strlen(item) + 2 + AND_MORE > end) break;
    if (i > 0) add_text(m, ", ");
    add_text(m, item);
  }
  snprintf(more, sizeof more, " and %u more", n - i);
  if (i < n) add_text(m, more);
  if (m->sections > 0) add_text(m, "; ");
}

static void set_hint(const findings *f, vt_diag *d) {
  int rounds = 0;
  for (uint32_t i = 0; i < f->n_other; i++)
    rounds |= rounds_to_f32(f->other[i].entry->tensor.dtype) &&
              f->g->values[f->other[i].port->value].type.dtype == VT_DTYPE_F32;
  if (d == NULL || d->hint[0] != '\0') return;
  snprintf(d->hint, sizeof d->hint, "%s%s%s%s",
           f->n_missing != 0 && f->n_extra != 0 ? "--params-map renames tensors; " : "",
           f->n_extra != 0 ? "--ignore-extra accepts tensors that are not parameters" : "",
           f->n_extra != 0 && rounds ? "; " : "",
           rounds ? "--convert-params rounds f16, bf16 and f64 to f32" : "");
}

static vt_status report(const vt_model *m, const findings *f, vt_diag *d) {
  message x = {.n = 0};
  char q[NAME];
  x.sections =
      (f->n_missing != 0 ? 1u : 0) + (f->n_extra != 0 ? 1u : 0) + (f->n_other != 0 ? 1u : 0);
  if (x.sections == 0) return VT_OK;
  add_text(&x, "the weights do not fit model ");
  add_text(&x, short_name(vt_model_name(m), q));
  add_text(&x, ": ");
  add_section(&x, "missing: ", f, f->n_missing, print_missing);
  add_section(&x, "not parameters: ", f, f->n_extra, print_extra);
  add_section(&x, "of another type: ", f, f->n_other, print_other);
  const vt_status s =
      VT_FAIL(d, f->n_missing + f->n_extra != 0 ? VT_NAME : VT_TENSOR, "%s", x.text);
  set_hint(f, d);
  return s;
}

static vt_status compare(const vt_weights *w, const vt_model *m, vt_arena *arena, vt_diag *d) {
  const vt_graph *g = m->g;
  const vt_port **params = VT_NEW_N(arena, const vt_port *, g->n_ports);
  findings f = {.g = g,
                .missing = VT_NEW_N(arena, const vt_port *, g->n_ports),
                .extra = VT_NEW_N(arena, const vt_weight_entry *, w->list.n_entries),
                .other = VT_NEW_N(arena, mismatch, g->n_ports)};
  if (vt_arena_status(arena) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to compare weights with a model");
  const uint32_t n = list_params(g, params);
  if (vt_sort(params, n, sizeof *params, by_name, NULL, w->a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to compare weights with a model");
  compare_names(w, params, n, &f);
  return report(m, &f, d);
}

vt_status vt_weights_check(const vt_weights *w, const vt_model *m, vt_diag *d) {
  vt_arena arena;
  vt_diag_clear(d);
  if (w == NULL || m == NULL) return VT_FAIL(d, VT_USAGE, "the weights or the model are NULL");
  vt_arena_init(&arena, w->a);
  const vt_status s = compare(w, m, &arena, d);
  vt_arena_done(&arena);
  return s;
}
