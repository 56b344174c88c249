/* SPDX-License-Identifier: Apache-2.0
 * case_run.c - runs one case with given options through the public API: it parses the model,
 * creates a program, sets the inputs, runs it, and compares the digest with the stored one. If a
 * case expects an index out of range, its digest is that of the error message. */
#include <stdio.h>
#include <string.h>
#include "program.h"
#include "vt_suite.h"

/* ---- the model of a case ---- */

static vt_status add_model_text(const vt_case *c, vt_alloc a, vt_text *out, vt_diag *d) {
  if (c->gradient) return vt_suite_write_gradient(c->model, a, out, d);
  vt_text_add_bytes(out, c->model->text, strlen(c->model->text));
  return vt_text_status(out) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

vt_status vt_case_model_text(const vt_suite *s, uint32_t i, vt_text *out, vt_diag *d) {
  return add_model_text(&s->cases[i], out->a, out, d);
}

/* 1 if the model uses the op of its case. The answer is always 1 for a literal, which is printed as
 * a number with its type, and for a gradient, which need not use the op. */
static int model_uses_op_of_case(const vt_case *c, const vt_model *m) {
  const vt_op_info *op = c->model->block->op;
  char call[64];
  if (c->gradient || op->number == VT_OP_literal) return 1;
  snprintf(call, sizeof call, " = %s(", op->name);
  return strstr(vt_model_text(m), call) != NULL;
}

static vt_status parse_model(const vt_case *c, const vt_text *text, const vt_alloc *alloc,
                             vt_model **out_model, vt_diag *d) {
  vt_diag why = {0};
  vt_model *m = NULL;
  const vt_status s = vt_model_parse(text->s, text->n, alloc, &m, &why);
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s", why.text);
  if (s != VT_OK) return VT_FAIL(d, s, "the model does not parse: line %u: %s", why.line, why.text);
  if (!model_uses_op_of_case(c, m)) {
    vt_model_free(m);
    return VT_FAIL(d, VT_FORMAT, "the model does not use '%s'", c->model->block->op->name);
  }
  *out_model = m;
  return VT_OK;
}

vt_status vt_case_model(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                        vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  vt_text text;
  vt_text_init(&text, a);
  vt_status status = add_model_text(&s->cases[i], a, &text, d);
  if (status == VT_OK) status = parse_model(&s->cases[i], &text, alloc, out_model, d);
  vt_text_done(&text);
  return status;
}

vt_status vt_case_open(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                       vt_case_inputs *out_inputs, vt_diag *d) {
  vt_model *m = NULL;
  VT_TRY(vt_case_model(s, i, alloc, &m, d));
  const vt_status status = vt_case_inputs_init(m, alloc, out_inputs, d);
  if (status != VT_OK) {
    vt_model_free(m);
    return status;
  }
  vt_case_inputs_draw(out_inputs, s->cases[i].mix, vt_case_seed(s->cases[i].name));
  *out_model = m;
  return VT_OK;
}

/* ---- the run of a case ---- */

vt_status vt_case_run_program(const vt_model *m, const vt_case_inputs *in, const vt_options *how,
                              vt_program **out_program, vt_diag *d) {
  vt_alloc a;
  vt_options o = vt_options_copy(how, &a);
  o.size = sizeof o;
  if (o.passes == NULL) o.passes = "bind,lower";
  *out_program = NULL;
  VT_TRY(vt_program_new_with_flags(m, &o, VT_PREPARE_UNTRIED, out_program, d));
  VT_TRY(vt_case_inputs_set(in, *out_program, d));
  return vt_program_run(*out_program, d);
}

/* The message about an index out of range, starting after the node's name, because a decomposition
 * may rename the node; NULL if the run has no such error or the case does not expect one. */
static const char *index_error_text(const vt_case *c, vt_status s, const vt_diag *d) {
  return s == VT_RANGE && c->model->block->may_fail ? strstr(d->text, "index ") : NULL;
}

/* Sets the digest of the run, or of the expected error message; returns 0 if the run failed. */
static int set_digest_of_run(const vt_case *c, vt_program *p, vt_diag *d, vt_case_result *out) {
  const char *words = index_error_text(c, out->status, d);
  if (words != NULL) {
    const vt_hash256 h = vt_hash_bytes(words, strlen(words));
    memcpy(out->digest, h.b, sizeof out->digest);
    return 1;
  }
  if (out->status == VT_OK) out->status = vt_program_digest(p, out->digest, d);
  return out->status == VT_OK;
}

static void print_8_bytes_as_hex(char *out, const uint8_t bytes[8]) {
  for (int i = 0; i < 8; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static int compare_with_stored_digest(const vt_case *c, const vt_diag *d, vt_case_result *out) {
  char have[17], want[17];
  if (c->expected == NULL) return VT_CASE_UNKNOWN;
  if (memcmp(out->digest, c->expected, 8) == 0) return VT_CASE_PASSED;
  print_8_bytes_as_hex(have, out->digest);
  print_8_bytes_as_hex(want, c->expected);
  if (out->status == VT_OK)
    snprintf(out->text, sizeof out->text, "the digest starts %s, stored is %s", have, want);
  if (out->status != VT_OK)
    snprintf(out->text, sizeof out->text, "it fails differently than stored: %.440s", d->text);
  return VT_CASE_DIFFERS;
}

static void set_failure(const vt_diag *d, int outcome, vt_case_result *out) {
  out->outcome = outcome;
  memset(out->digest, 0, sizeof out->digest);
  snprintf(out->text, sizeof out->text, "%s", d->text);
}

void vt_case_result_of_run(const vt_suite *s, uint32_t i, vt_program *p, vt_status status,
                           vt_diag *d, vt_case_result *out) {
  const vt_case *c = &s->cases[i];
  *out = (vt_case_result){.status = status};
  if (p == NULL && status == VT_UNSUPPORTED) {
    set_failure(d, VT_CASE_UNSUPPORTED, out);
  } else if (!set_digest_of_run(c, p, d, out)) {
    set_failure(d, VT_CASE_FAILED, out);
  } else {
    out->outcome = compare_with_stored_digest(c, d, out);
  }
}

void vt_case_run_opened(const vt_suite *s, uint32_t i, const vt_model *m, const vt_case_inputs *in,
                        const vt_options *how, vt_program **out_program, vt_case_result *out) {
  vt_diag d = {0};
  const vt_status status = vt_case_run_program(m, in, how, out_program, &d);
  vt_case_result_of_run(s, i, *out_program, status, &d, out);
}

void vt_case_run(const vt_suite *s, uint32_t i, const vt_options *how, vt_case_result *out) {
  vt_alloc a;
  vt_diag d = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_case_inputs in = {0};
  (void)vt_options_copy(how, &a);
  const vt_status status = vt_case_open(s, i, &a, &m, &in, &d);
  if (status == VT_OK) vt_case_run_opened(s, i, m, &in, how, &p, out);
  if (status != VT_OK) {
    *out = (vt_case_result){.status = status};
    set_failure(&d, VT_CASE_FAILED, out);
  }
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
}
