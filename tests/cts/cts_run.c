/* SPDX-License-Identifier: Apache-2.0
 * cts_run.c - one case on one backend, through the public API alone: parse, open, give, run,
 * digest. A case that has the wrong digest is run on the reference too, to show where they part. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_hash.h"

char *cts_case_text(const cts_case *c, char why[200]) {
  if (c->gradient) return cts_gradient_text(c->model, why);
  char *copy = malloc(strlen(c->model->text) + 1);
  if (copy == NULL) cts_die("out of memory");
  return strcpy(copy, c->model->text);
}

static void VT_PRINTF(2, 3) say(cts_outcome *out, const char *format, ...) {
  const size_t n = strlen(out->said);
  va_list ap;
  va_start(ap, format);
  vsnprintf(out->said + n, sizeof out->said - n, format, ap);
  va_end(ap);
  out->failed = 1;
}

/* A model, its inputs, and the program on one backend. */
typedef struct trial {
  vt_model *m;
  cts_inputs in;
} trial;

static int uses(const vt_model *m, const char *op) {
  char call[64];
  snprintf(call, sizeof call, " = %s(", op);
  return strstr(vt_model_text(m), call) != NULL;
}

/* A literal is printed by its type alone. */
static int is_about(const cts_case *c, const vt_model *m) {
  const char *op = c->model->block->op->name;
  return c->gradient || c->model->block->op->number == VT_OP_literal || uses(m, op);
}

static int begin(const cts_case *c, trial *t, cts_outcome *out) {
  char why[200];
  vt_diag d = {0};
  char *text = cts_case_text(c, why);
  if (text == NULL) {
    say(out, "no gradient: %s", why);
    return 0;
  }
  if (vt_model_parse(text, strlen(text), NULL, &t->m, &d) != VT_OK)
    say(out, "the model does not parse: line %u: %s\n%s", d.line, d.text, text);
  free(text);
  if (t->m == NULL) return 0;
  if (!is_about(c, t->m)) say(out, "the model does not use '%s'", c->model->block->op->name);
  cts_inputs_new(&t->in, t->m);
  cts_inputs_draw(&t->in, c->mix, cts_seed(c->name));
  return 1;
}

static void end(trial *t) {
  cts_inputs_free(&t->in);
  vt_model_free(t->m);
}

static vt_program *open_and_run(const trial *t, const char *backend, vt_status *s, vt_diag *d) {
  /* Nothing may be folded, dropped or shared on the way: the backend is to run the op itself. */
  const vt_policy policy = {.size = sizeof policy,
                            .admission = VT_ADMISSION_WAIVED}; /* plug-ins are tested here */
  const vt_options o = {
      .size = sizeof o, .backend = backend, .passes = "bind,lower", .policy = &policy};
  vt_program *p = NULL;
  *s = vt_program_new(t->m, &o, &p, d);
  if (*s == VT_OK) *s = cts_inputs_give(&t->in, p, d);
  if (*s == VT_OK) *s = vt_program_run(p, d);
  return p;
}

/* The words about an index out of range, without the node, which a decomposition may rename. */
static const char *range_words(vt_status s, const vt_diag *d) {
  return s == VT_RANGE ? strstr(d->text, "index ") : NULL;
}

/* ---- where two backends part ---- */

static void show_element(cts_outcome *out, const char *name, const char *backend,
                         const vt_compare *c, const vt_tensor *t) {
  say(out, "output %s (%s): %llu of %llu elements differ; [%llu] is %0*llx, reference has %0*llx",
      name, backend, (unsigned long long)c->differing, (unsigned long long)c->compared,
      (unsigned long long)c->first, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_a, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_b);
}

/* 1 when an output differs. */
static int compare_outputs(vt_program *p, vt_program *q, const char *backend, cts_outcome *out) {
  for (uint32_t i = 0; i < vt_program_outputs(q); i++) {
    vt_tensor a, b;
    const char *name;
    vt_compare c = {.size = sizeof c};
    vt_diag d = {0};
    if (vt_program_output(p, i, &name, &a, &d) != VT_OK ||
        vt_program_output(q, i, &name, &b, &d) != VT_OK ||
        vt_tensor_compare(&a, &b, &c, &d) != VT_OK) {
      say(out, "%s", d.text);
      return 1;
    }
    if (c.differing == 0) continue;
    show_element(out, name, backend, &c, &a);
    return 1;
  }
  return 0;
}

/* Beside the reference's other device when the reference itself is at fault. */
static void explain(const trial *t, vt_program *p, const char *backend, cts_outcome *out) {
  const char *beside = strcmp(backend, "reference:0") == 0 ? "reference:1" : "reference:0";
  vt_diag d = {0};
  vt_status s;
  vt_program *q = open_and_run(t, beside, &s, &d);
  if (s != VT_OK) {
    say(out, "%s: %s", beside, d.text);
  } else if (!compare_outputs(p, q, backend, out)) {
    say(out, "%s and %s agree: what is stored is of something else", backend, beside);
  }
  vt_program_free(q);
}

/* ---- a case ---- */

/* The two devices of the reference stand for two implementations only if each really runs its own:
 * device 0 takes compositions apart, device 1 keeps them. */
static void check_lowering(const cts_case *c, const vt_program *p, const char *backend,
                           cts_outcome *out) {
  const int whole = strcmp(backend, "reference:1") == 0;
  char call[64];
  if (c->gradient || c->model->block->op->prim || strncmp(backend, "reference:", 10) != 0) return;
  snprintf(call, sizeof call, " = %s(", c->model->block->op->name);
  if ((strstr(vt_program_pass_text(p, "lower"), call) != NULL) != whole)
    say(out, whole ? "was taken apart" : "was not taken apart");
}

static void take_digest(const cts_case *c, vt_program *p, vt_status s, vt_diag *d,
                        cts_outcome *out) {
  const char *words = range_words(s, d);
  if (s == VT_OK) s = vt_program_digest(p, out->digest, d);
  if (s == VT_OK) return;
  if (words == NULL || !c->model->block->may_fail) {
    say(out, "%s [%s]", d->text, vt_status_name(s));
    return;
  }
  const vt_hash256 h = vt_hash_bytes(words, strlen(words));
  memcpy(out->digest, h.b, sizeof out->digest);
}

void cts_run(const cts_case *c, const char *backend, const uint8_t *stored, cts_outcome *out) {
  trial t = {0};
  vt_diag d = {0};
  vt_status s;
  *out = (cts_outcome){0};
  if (!begin(c, &t, out)) return;
  vt_program *p = open_and_run(&t, backend, &s, &d);
  if (p != NULL) check_lowering(c, p, backend, out);
  take_digest(c, p, s, &d, out);
  if (!out->failed && stored != NULL && memcmp(out->digest, stored, 8) != 0) {
    if (s == VT_OK) explain(&t, p, backend, out);
    if (s != VT_OK) say(out, "it fails otherwise than stored: %s", d.text);
  }
  vt_program_free(p);
  end(&t);
}
