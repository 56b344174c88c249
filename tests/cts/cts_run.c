/* SPDX-License-Identifier: Apache-2.0
 * cts_run.c - one case on one backend. A case that has the wrong digest is run on the reference
 * too, to show where they part. */
#include <stdarg.h>
#include <string.h>
#include "cts.h"

static void VT_PRINTF(2, 3) say(cts_outcome *out, const char *format, ...) {
  const size_t n = strlen(out->said);
  va_list ap;
  va_start(ap, format);
  vsnprintf(out->said + n, sizeof out->said - n, format, ap);
  va_end(ap);
  out->failed = 1;
}

/* A case that is open: its model and its inputs. */
typedef struct trial {
  vt_model *m;
  vt_case_inputs in;
} trial;

/* Plug-ins are what is tested here. */
static const vt_policy unadmitted = {.size = sizeof unadmitted, .admission = VT_ADMISSION_WAIVED};

static vt_options options_for(const char *backend) {
  return (vt_options){.size = sizeof(vt_options), .backend = backend, .policy = &unadmitted};
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
  const vt_options how = options_for(beside);
  vt_diag d = {0};
  vt_program *q = NULL;
  if (vt_case_start(t->m, &t->in, &how, &q, &d) != VT_OK) {
    say(out, "%s: %s", beside, d.text);
  } else if (!compare_outputs(p, q, backend, out)) {
    say(out, "%s and %s agree: what is stored is of something else", backend, beside);
  }
  vt_program_free(q);
}

/* ---- a case ---- */

/* The two devices of the reference stand for two implementations only if each really runs its own:
 * device 0 takes compositions apart, device 1 keeps them. */
static void check_lowering(const vt_case *c, const vt_program *p, const char *backend,
                           cts_outcome *out) {
  const int whole = strcmp(backend, "reference:1") == 0;
  char call[64];
  if (c->gradient || c->model->block->op->prim || strncmp(backend, "reference:", 10) != 0) return;
  snprintf(call, sizeof call, " = %s(", c->model->block->op->name);
  if ((strstr(vt_program_pass_text(p, "lower"), call) != NULL) != whole)
    say(out, whole ? "was taken apart" : "was not taken apart");
}

static void judge(const vt_case_result *r, const uint8_t *other, const trial *t, vt_program *p,
                  const char *backend, cts_outcome *out) {
  const int apart = r->outcome == VT_CASE_DIFFERS ||
                    (other != NULL && memcmp(r->digest, other, sizeof r->digest) != 0);
  memcpy(out->digest, r->digest, sizeof out->digest);
  if (r->outcome == VT_CASE_FAILED || r->outcome == VT_CASE_UNSUPPORTED) {
    say(out, "%s [%s]", r->text, vt_status_name(r->status));
  } else if (!out->failed && apart && r->status == VT_OK) {
    explain(t, p, backend, out);
  } else if (!out->failed && apart) {
    say(out, "%s", r->text[0] != 0 ? r->text : "the devices fail differently");
  }
}

void cts_run(const vt_suite *s, uint32_t i, const char *backend, const uint8_t *other,
             cts_outcome *out) {
  const vt_case *c = &s->cases[i];
  const vt_options how = options_for(backend);
  trial t = {0};
  vt_diag d = {0};
  vt_program *p = NULL;
  vt_case_result r;
  *out = (cts_outcome){0};
  const vt_status opened = vt_case_open(s, i, NULL, &t.m, &t.in, &d);
  if (opened != VT_OK) {
    say(out, "%s", d.text);
    if (opened == VT_SYNTAX || opened == VT_VERIFY) say(out, "\n%s", c->model->text);
    return;
  }
  vt_case_try(s, i, t.m, &t.in, &how, &p, &r);
  if (p != NULL) check_lowering(c, p, backend, out);
  judge(&r, other, &t, p, backend, out);
  vt_program_free(p);
  vt_case_inputs_done(&t.in);
  vt_model_free(t.m);
}
