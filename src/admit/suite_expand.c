/* SPDX-License-Identifier: Apache-2.0
 * suite_expand.c - expands blocks into cases: it replaces variables by their values, names each
 * case, and sorts the cases by name. A block gives a model for every combination of values of its
 * variables, which its `over` lines declare, and a case for every mix. */
#include <string.h>
#include "suite_build.h"
#include "vt_sort.h"

/* Limits on the number of variables of a block, of cases of a suite, and of bytes of its texts. The
 * suite of the library has 73,000 cases and 4 MB. */
enum { MOST_OVER = 16, MOST_CASES = 1 << 20, MOST_BYTES = 1 << 27 };

typedef struct expander {
  vt_suite *s;
  const vt_suite_block *b;    /* the block that is expanded */
  uint32_t choice[MOST_OVER]; /* by `over` line: index of the row of values that is in use */
  vt_text name, text;         /* the model's name and text under construction */
  uint64_t bytes;             /* total size of all texts so far */
  vt_diag *d;
} expander;

static vt_status no_memory(const expander *e) { return VT_FAIL(e->d, VT_NOMEM, "out of memory"); }

static vt_status fail_block(const expander *e, vt_status status, const char *what) {
  (void)VT_FAIL(e->d, status, "%s:%u: %s", e->b->file, e->b->line, what);
  if (e->d != NULL && e->d->line == 0) e->d->line = e->b->line;
  return status;
}

static const char *chosen_value(const expander *e, uint32_t over, uint32_t name) {
  const vt_suite_over *o = &e->b->over[over];
  return o->value[(size_t)e->choice[over] * o->n_names + name];
}

/* The value of the variable whose name starts at `at`, after a $: the longest name that fits. NULL
 * if no name fits. */
static const char *variable_value_at(const expander *e, const char *at, size_t *length) {
  const char *value = NULL;
  *length = 0;
  for (uint32_t i = 0; i < e->b->n_over; i++)
    for (uint32_t k = 0; k < e->b->over[i].n_names; k++) {
      const char *name = e->b->over[i].name[k];
      const size_t n = strlen(name);
      if (n <= *length || strncmp(at, name, n) != 0) continue;
      *length = n;
      value = chosen_value(e, i, k);
    }
  return value;
}

static vt_status write_model_text(expander *e) {
  vt_text *out = &e->text;
  vt_text_add(out, "volta 1\nmodel m {\n");
  for (const char *at = e->b->text; *at != 0;) {
    const size_t plain = strcspn(at, "$");
    vt_text_add_bytes(out, at, plain);
    at += plain;
    if (*at == 0) break;
    size_t length;
    const char *value = variable_value_at(e, at + 1, &length);
    if (value == NULL) {
      char what[64] = "no variable fits '";
      strncat(what, at, 20);
      return fail_block(e, VT_FORMAT, strcat(what, "'"));
    }
    vt_text_add(out, "%s", value);
    at += 1 + length;
  }
  vt_text_add(out, "}\n");
  return VT_OK;
}

static void write_model_name(expander *e) {
  vt_text_add(&e->name, "%s", e->b->name);
  for (uint32_t i = 0; i < e->b->n_over; i++)
    for (uint32_t k = 0; k < e->b->over[i].n_names; k++) {
      vt_text_add(&e->name, "/%s=", e->b->over[i].name[k]);
      for (const char *v = chosen_value(e, i, k); *v != 0; v++)
        if (*v != ' ') vt_text_add_bytes(&e->name, v, 1);
    }
}

/* Copies a text under construction into the suite's arena and empties it; NULL if there is no
 * memory. */
static const char *move_text_to_suite(expander *e, vt_text *t) {
  const char *kept = vt_text_status(t) != VT_OK ? NULL : vt_arena_string(&e->s->arena, t->s, t->n);
  e->bytes += t->n;
  t->n = 0;
  return kept;
}

static vt_status add_case(expander *e, const vt_suite_model *m, int mix, int gradient) {
  vt_suite *s = e->s;
  if (e->bytes > MOST_BYTES) return fail_block(e, VT_LIMIT, "the cases are too large");
  vt_text_add(&e->name, "%s/%s%s", m->name, gradient ? "gradient." : "", vt_mix_name(mix));
  const char *name = move_text_to_suite(e, &e->name);
  vt_case *cases = vt_arena_grow(&s->arena, s->cases, s->n_cases, &s->cap_cases, sizeof *cases);
  if (name == NULL || cases == NULL) return no_memory(e);
  s->cases = cases;
  s->cases[s->n_cases++] = (vt_case){.model = m, .name = name, .mix = mix, .gradient = gradient};
  return VT_OK;
}

static vt_status add_model(expander *e) {
  vt_suite *s = e->s;
  VT_TRY(write_model_text(e));
  write_model_name(e);
  vt_suite_model *m = VT_NEW(&s->arena, vt_suite_model);
  vt_suite_model **models =
      vt_arena_grow(&s->arena, s->model, s->n_models, &s->cap_models, sizeof *s->model);
  if (models == NULL) return no_memory(e);
  *m = (vt_suite_model){e->b, move_text_to_suite(e, &e->name), move_text_to_suite(e, &e->text)};
  if (m->name == NULL || m->text == NULL) return no_memory(e);
  s->model = models;
  s->model[s->n_models++] = m;
  for (int mix = 0; mix < VT_MIXES; mix++)
    if (e->b->mixes >> mix & 1) VT_TRY(add_case(e, m, mix, 0));
  for (int mix = 0; vt_suite_has_gradient(e->b) && mix <= VT_MIX_SPECIAL; mix++)
    VT_TRY(add_case(e, m, mix, 1));
  return VT_OK;
}

/* Fails if the block makes too many cases. They are counted before any is made, because the numbers
 * of values of all variables multiply. */
static vt_status check_case_count(const expander *e) {
  const vt_suite_block *b = e->b;
  uint64_t n = vt_suite_has_gradient(b) ? VT_MIX_SPECIAL + 1 : 0;
  for (int mix = 0; mix < VT_MIXES; mix++) n += b->mixes >> mix & 1;
  for (uint32_t i = 0; i < b->n_over && n <= MOST_CASES; i++) n *= b->over[i].n_values;
  return n > MOST_CASES - e->s->n_cases ? fail_block(e, VT_LIMIT, "too many cases") : VT_OK;
}

/* Adds a model for every combination of values; the first variable changes fastest. */
static vt_status expand_block(expander *e) {
  uint32_t i;
  if (e->b->n_over > MOST_OVER) return fail_block(e, VT_FORMAT, "too many variables");
  VT_TRY(check_case_count(e));
  memset(e->choice, 0, sizeof e->choice);
  do {
    VT_TRY(add_model(e));
    for (i = 0; i < e->b->n_over && ++e->choice[i] == e->b->over[i].n_values; i++) e->choice[i] = 0;
  } while (i < e->b->n_over);
  return VT_OK;
}

static vt_status expand_blocks(expander *e) {
  for (uint32_t i = 0; i < e->s->n_blocks; i++) {
    e->b = e->s->block[i];
    VT_TRY(expand_block(e));
  }
  return VT_OK;
}

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_case *)a)->name, ((const vt_case *)b)->name);
}

static vt_status sort_cases(vt_suite *s, vt_diag *d) {
  const vt_status status = vt_sort(s->cases, s->n_cases, sizeof *s->cases, by_name, NULL, s->alloc);
  if (status != VT_OK) return VT_FAIL(d, status, "%s", vt_status_text(status));
  for (uint32_t i = 1; i < s->n_cases; i++) {
    const vt_suite_block *one = s->cases[i - 1].model->block, *two = s->cases[i].model->block;
    if (strcmp(s->cases[i - 1].name, s->cases[i].name) != 0) continue;
    (void)VT_FAIL(d, VT_FORMAT, "%s:%u: two cases are called %.200s, the other one by %s:%u",
                  two->file, two->line, s->cases[i].name, one->file, one->line);
    if (d != NULL && d->line == 0) d->line = two->line;
    return VT_FORMAT;
  }
  return VT_OK;
}

vt_status vt_suite_expand(vt_suite *s, vt_diag *d) {
  expander e = {.s = s, .d = d};
  vt_text_init(&e.name, s->alloc);
  vt_text_init(&e.text, s->alloc);
  const vt_status status = expand_blocks(&e);
  vt_text_done(&e.name);
  vt_text_done(&e.text);
  VT_TRY(status);
  return sort_cases(s, d);
}
