/* SPDX-License-Identifier: Apache-2.0
 * verb_bundle.c - volta bundle MODEL -o OUT: writes a model with its parameters, and with state,
 * metadata, digests and plans if they are given, to a folder or to one file. */
#include <stdlib.h>
#include <string.h>
#include "cli_params.h"

enum { MODEL_LIMIT = 64 * 1024 * 1024 };

/* One --plan. */
typedef struct plan {
  char *text; /* memory of the backend's name */
  cli_bind bind;
  vt_options options;
} plan;

typedef struct parts {
  cli_job job; /* the model and --params */
  char *text;  /* the text of the model if it is in a file */
  vt_bundle_pair *metadata, *digests;
  plan *plans;
  const vt_options **options; /* those of the plans */
  vt_bundle_contents contents;
} parts;

static uint32_t count_flags(const cli_args *a, const char *name) {
  uint32_t n = 0;
  while (cli_flag_value_at(a, name, n) != NULL) n++;
  return n;
}

/* ---- metadata and digests ---- */

/* Splits "KEY=VALUE" at the first '=' or at the last one. The key is copied to *out_key. */
static vt_status split_pair(const char *flag, const char *text, int at_last, vt_bundle_pair *out,
                            cli_error *e) {
  const char *equals = at_last ? strrchr(text, '=') : strchr(text, '=');
  if (equals == NULL || equals == text)
    return VT_FAIL(&e->diag, VT_USAGE, "--%s takes KEY=%s, not '%s'", flag,
                   at_last ? "HEX" : "VALUE", text);
  out->key = cli_text_copy(text, (size_t)(equals - text));
  out->value = equals + 1;
  return out->key != NULL ? VT_OK : cli_no_memory(e);
}

static vt_status read_pairs(const cli_args *a, const char *flag, int at_last, vt_bundle_pair **out,
                            uint32_t *out_n, cli_error *e) {
  const uint32_t n = count_flags(a, flag);
  *out = calloc((size_t)n + 1, sizeof **out);
  if (*out == NULL) return cli_no_memory(e);
  for (*out_n = 0; *out_n < n; (*out_n)++)
    VT_TRY(split_pair(flag, cli_flag_value_at(a, flag, *out_n), at_last, &(*out)[*out_n], e));
  return VT_OK;
}

static void free_pairs(vt_bundle_pair *list, uint32_t n) {
  for (uint32_t i = 0; list != NULL && i < n; i++) free((char *)(uintptr_t)list[i].key);
  free(list);
}

/* ---- plans ---- */

/* Splits "BACKEND:NAME=N,...", where the backend may have colons too, as in reference:1:B=2. */
static vt_status read_plan(const char *text, plan *out, cli_error *e) {
  const char *equals = strchr(text, '=');
  out->text = cli_text_copy(text, strlen(text));
  if (out->text == NULL) return cli_no_memory(e);
  char *colon = NULL;
  for (char *c = out->text; equals != NULL && c < out->text + (equals - text); c++)
    if (*c == ':') colon = c;
  if (text[0] == '\0' || colon == out->text || (equals != NULL && colon == NULL))
    return VT_FAIL(&e->diag, VT_USAGE, "--plan takes BACKEND or BACKEND:NAME=N,..., not '%s'",
                   text);
  if (colon != NULL) {
    *colon = '\0';
    VT_TRY(cli_bind_parse_text("plan", colon + 1, &out->bind, e));
  }
  out->options = (vt_options){.size = sizeof out->options,
                              .n_bind = out->bind.n,
                              .bind = out->bind.row,
                              .backend = out->text,
                              .note = cli_warn};
  return VT_OK;
}

static vt_status read_plans(const cli_args *a, parts *p, cli_error *e) {
  const uint32_t n = count_flags(a, "plan");
  p->plans = calloc((size_t)n + 1, sizeof *p->plans);
  p->options = calloc((size_t)n + 1, sizeof *p->options);
  if (p->plans == NULL || p->options == NULL) return cli_no_memory(e);
  for (uint32_t *i = &p->contents.n_plans; *i < n;) {
    plan *x = &p->plans[(*i)++];
    VT_TRY(read_plan(cli_flag_value_at(a, "plan", *i - 1), x, e));
    p->options[*i - 1] = &x->options;
  }
  return VT_OK;
}

/* ---- all of it ---- */

static void parts_free(parts *p) {
  free_pairs(p->metadata, p->contents.n_metadata);
  free_pairs(p->digests, p->contents.n_digests);
  for (uint32_t i = 0; i < p->contents.n_plans; i++) {
    cli_bind_free(&p->plans[i].bind);
    free(p->plans[i].text);
  }
  free(p->plans);
  free((void *)p->options);
  free(p->text);
  cli_job_close(&p->job);
}

/* Reads the model, with its text, and the parameters, which those of a bundle are unless there are
 * others. */
static vt_status read_model(const cli_args *a, parts *p, cli_error *e) {
  cli_job *j = &p->job;
  j->path = a->operands[0];
  VT_TRY(cli_model_open(j->path, &j->source, e));
  j->model = j->source.model;
  if (j->source.bundle == NULL) VT_TRY(cli_file_read(j->path, MODEL_LIMIT, &p->text, e));
  VT_TRY(cli_job_open_params(a, j, e));
  p->contents.model = p->text != NULL ? p->text : vt_bundle_text(j->source.bundle);
  p->contents.model_bytes = strlen(p->contents.model);
  p->contents.weights = j->weights != NULL ? j->weights : vt_bundle_weights(j->source.bundle);
  return VT_OK;
}

static vt_status write_bundle(const cli_args *a, parts *p, const char *out, cli_error *e) {
  vt_bundle_contents *c = &p->contents;
  c->size = sizeof *c;
  VT_TRY(read_model(a, p, e));
  VT_TRY(read_pairs(a, "meta", 0, &p->metadata, &c->n_metadata, e));
  VT_TRY(read_pairs(a, "digest", 1, &p->digests, &c->n_digests, e));
  VT_TRY(read_plans(a, p, e));
  c->state = cli_flag_value(a, "state");
  c->metadata = p->metadata;
  c->digests = p->digests;
  c->plans = p->options;
  const vt_status s = vt_bundle_write(out, c, &e->diag);
  if (s == VT_BIND) cli_set_hint(e, "--plan BACKEND:NAME=N,... gives dims their sizes");
  if (s == VT_NAME && c->weights == NULL) cli_set_hint(e, "--params gives them");
  if (s != VT_OK && e->diag.line != 0) e->path = p->job.path;
  if (s == VT_OK) cli_narrate("wrote %s\n", out);
  return s;
}

vt_status verb_bundle(const cli_args *a, cli_error *e) {
  parts p = {.text = NULL};
  const char *out = cli_flag_value(a, "out");
  if (out == NULL)
    return VT_FAIL(&e->diag, VT_USAGE,
                   "-o is missing: it names the folder or the .vtz file to write");
  const vt_status s = write_bundle(a, &p, out, e);
  parts_free(&p);
  return s;
}
