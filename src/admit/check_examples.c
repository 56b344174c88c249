/* SPDX-License-Identifier: Apache-2.0
 * check_examples.c - the checks capabilities and examples: every declared capability is probed, and
 * the example models must have their published digests. */
#include <stdio.h>
#include <string.h>
#include "admission.h"
#include "probes.h"

/* ---- capabilities ---- */

static vt_status set_probe_values(void *user, vt_program *p, vt_diag *d) {
  return vt_probe_set_inputs(*(const vt_probe **)user, p, d);
}

/* Refuses the backend. The model of `broken`, the probe that failed, is run again to find the
 * diverging op. */
static vt_status refuse_capability(vt_admission *a, const char *name, const char *reason,
                                   const vt_probe *broken, vt_diag *d) {
  const vt_options how = vt_admission_options(a, "bind,lower", 0);
  vt_model *m = NULL;
  VT_TRY(vt_probe_parse_model(broken, &a->a, &m, d));
  const vt_evidence e = {.m = m, .how = &how, .give = set_probe_values, .user = &broken};
  const vt_status s = vt_admission_refuse(a, name, reason, &e, d);
  vt_model_free(m);
  return s;
}

static vt_status try_capability(vt_admission *a, const vt_capability *c, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  const vt_probe *broken = NULL;
  uint32_t models = 0;
  vt_diag why = {0};
  const vt_status s = vt_capability_try(&how, c, a->a, &models, &broken, &why);
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s", why.text);
  if (s != VT_OK) return refuse_capability(a, c->name, why.text, broken, d);
  a->counts.capabilities += models != 0;
  return VT_OK;
}

vt_status vt_check_capabilities(vt_admission *a, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_device *dev = NULL;
  VT_TRY(vt_options_open_device(&how, a->a, &dev, d));
  const uint64_t has = vt_device_caps(dev)->has;
  vt_device_close(dev);
  for (uint32_t i = 0; i < VT_CAPABILITIES && !a->refused; i++) {
    const vt_capability *c = vt_capability_at(i);
    vt_admission_report_progress(a, i, VT_CAPABILITIES);
    if ((has & c->bit) != 0) VT_TRY(try_capability(a, c, d));
  }
  return VT_OK;
}

/* ---- examples ---- */

static vt_status set_example_values(void *user, vt_program *p, vt_diag *d) {
  const vt_suite_example *x = user;
  VT_TRY(vt_program_init_params(p, x->seed, d));
  return vt_program_random_inputs(p, x->inputs_seed, d);
}

/* 1 if the example is tested: the short form tests only the small models. */
static int must_example_be_tested(const vt_admission *a, const vt_suite_example *x) {
  static const char *const small[] = {"mlp.vt", "quant_mlp.vt", "tiny_transformer.vt", "cnn.vt",
                                      "lstm.vt"};
  if (!a->o.brief) return 1;
  for (size_t i = 0; i < sizeof small / sizeof *small; i++)
    if (strcmp(x->name, small[i]) == 0) return 1;
  return 0;
}

static vt_status run_and_check_example(vt_admission *a, vt_suite_example *x, const vt_evidence *e,
                                       vt_diag *d) {
  char reason[600];
  uint8_t digest[32];
  vt_program *p = NULL;
  vt_diag why = {0};
  vt_status s = vt_program_new_with_flags(e->m, e->how, VT_PREPARE_UNTRIED, &p, &why);
  /* An example that the device does not support is no fault, and it may lack memory for large
   * ones. */
  if (s == VT_UNSUPPORTED || s == VT_NOMEM) return VT_OK;
  if (s == VT_OK) s = set_example_values(x, p, &why);
  /* The backend lacks an op that initialises parameters, which is no fault. */
  const int lacks = s == VT_UNSUPPORTED;
  if (s == VT_OK) s = vt_program_run(p, &why);
  if (s == VT_OK) s = vt_program_digest(p, digest, &why);
  vt_program_free(p);
  if (lacks) return VT_OK;
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s: %.300s", x->name, why.text);
  a->counts.examples++;
  if (s == VT_OK && memcmp(digest, x->digest, sizeof digest) == 0) return VT_OK;
  snprintf(reason, sizeof reason, "%s%s",
           s == VT_OK ? "it does not have the published digest" : "it fails: ", why.text);
  return vt_admission_refuse(a, x->name, reason, e, d);
}

static vt_status try_example(vt_admission *a, vt_suite_example *x, vt_diag *d) {
  vt_options how = vt_admission_options(a, NULL, 0);
  vt_model *m = NULL;
  how.bind = x->bind;
  how.n_bind = x->n_bind;
  VT_TRY(vt_model_parse(x->text, strlen(x->text), &a->a, &m, d));
  const vt_evidence e = {.m = m, .how = &how, .give = set_example_values, .user = x};
  const vt_status s = run_and_check_example(a, x, &e, d);
  vt_model_free(m);
  return s;
}

vt_status vt_check_examples(vt_admission *a, vt_diag *d) {
  VT_TRY(vt_admission_load_suite(a, d));
  for (uint32_t i = 0; i < a->suite->n_examples && !a->refused; i++) {
    vt_admission_report_progress(a, i, a->suite->n_examples);
    if (must_example_be_tested(a, &a->suite->example[i]))
      VT_TRY(try_example(a, &a->suite->example[i], d));
  }
  return VT_OK;
}
