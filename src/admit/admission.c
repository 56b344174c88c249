/* SPDX-License-Identifier: Apache-2.0
 * admission.c - runs an admission: it opens the backend, runs the checks of checks.def in order
 * until one fails, and gives the verdict. */
#include "admission.h"
#include <stdio.h>
#include <string.h>
#include "certificate.h"
#include "vt_cpu.h"

static const struct {
  const char *name, *about;
  vt_admission_check_fn *run;
} checks[] = {
#define VT_CHECK(name, about) {#name, about, vt_check_##name},
#include "checks.def"
#undef VT_CHECK
};
enum { CHECKS = sizeof checks / sizeof *checks };

uint32_t vt_admission_checks(void) { return CHECKS; }
const char *vt_admission_check(uint32_t i) { return i < CHECKS ? checks[i].name : NULL; }
const char *vt_admission_check_about(uint32_t i) { return i < CHECKS ? checks[i].about : NULL; }

/* ---- what the checks share ---- */

vt_options vt_admission_options(const vt_admission *a, const char *passes, uint32_t threads) {
  return (vt_options){.size = sizeof(vt_options),
                      .backend = a->backend,
                      .alloc = &a->a,
                      .passes = passes,
                      .policy = &a->waived,
                      .threads = threads};
}

void vt_admission_report_progress(const vt_admission *a, uint64_t done, uint64_t total) {
  if (a->o.progress != NULL) a->o.progress(a->o.progress_user, a->check, done, total);
}

/* ---- opening ---- */

static vt_status out_of_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* Prints the path of the certificate of a plug-in, which is next to the plug-in's file. Returns 0
 * for a built-in backend or if the path does not fit. */
int vt_admission_place_of(const char *backend, char *out, size_t capacity) {
  char path[VT_CERTIFICATE_PATH], place[VT_CERTIFICATE_PATH];
  uint32_t number;
  if (strchr(backend, '/') == NULL) return 0;
  const size_t n = vt_device_path_length(backend, &number);
  snprintf(path, sizeof path, "%.*s", (int)n, backend);
  vt_certificate_path(path, number, place);
  return (size_t)snprintf(out, capacity, "%s", place) < capacity;
}

static vt_status set_certificate_path(vt_admission *a, vt_diag *d) {
  char place[VT_CERTIFICATE_PATH];
  if (!vt_admission_place_of(a->o.backend, place, sizeof place)) return VT_OK;
  a->place = vt_arena_string(&a->arena, place, strlen(place));
  return a->place != NULL ? VT_OK : out_of_memory(d);
}

/* Stores the full name of the opened device, so that a name such as "auto" means the same device in
 * all checks and no check falls back to another. */
static vt_status set_backend_name(vt_admission *a, const char *device, vt_diag *d) {
  a->backend = vt_arena_string(&a->arena, device, strlen(device));
  return a->backend != NULL ? VT_OK : out_of_memory(d);
}

/* Opens the device once to count its ops and to learn its name. If it does not open, the admission
 * returns an error and no verdict. */
static vt_status inspect_device(vt_admission *a, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_device *dev = NULL;
  VT_TRY(vt_options_open_device(&how, a->a, &dev, d));
  for (uint32_t i = 0; i < vt_op_total(); i++)
    a->listed += vt_device_lists_op(dev, vt_op_at(i)->number) != 0;
  vt_status s = vt_device_hold_plugin(dev, a->o.backend, &a->hold, d);
  if (s == VT_OK)
    s = vt_device_plugin_digest(dev) != NULL ? set_certificate_path(a, d)
                                             : set_backend_name(a, vt_device_name(dev), d);
  vt_device_close(dev);
  return s;
}

static vt_status open_admission(vt_admission *a, vt_diag *d) {
  const unsigned jobs = a->o.jobs != 0 ? a->o.jobs : vt_cpu_get()->cores;
  if (a->o.backend == NULL) return VT_FAIL(d, VT_USAGE, "no backend to admit is named");
  VT_TRY(inspect_device(a, d));
  return vt_pool_new(jobs, a->a, &a->pool, d);
}

/* ---- running the checks ---- */

static vt_status run_checks(vt_admission *a, vt_diag *d) {
  for (uint32_t i = 0; i < CHECKS && !a->refused; i++) {
    if ((a->o.skip >> i & 1) != 0) continue;
    a->check = checks[i].name;
    VT_TRY(checks[i].run(a, d));
  }
  return VT_OK;
}

static int has_tested_anything(const vt_admission *a) {
  const vt_admission_counts *c = &a->counts;
  return (c->rules | c->capabilities | c->examples | c->cases | c->repeated | c->spoilt |
          c->threaded | c->reordered) != 0;
}

static uint32_t verdict_of(const vt_admission *a) {
  const uint64_t all = (UINT64_C(1) << CHECKS) - 1;
  if (a->refused) return VT_VERDICT_REFUSED;
  return a->o.brief != 0 || (a->o.skip & all) != 0 ? VT_VERDICT_PASSED : VT_VERDICT_ADMITTED;
}

static vt_status run_admission(vt_admission *a, vt_diag *d) {
  if (a->listed != 0) VT_TRY(run_checks(a, d));
  a->check = "suite";
  if (!a->refused && !has_tested_anything(a))
    VT_TRY(vt_admission_refuse(a, "", "it runs nothing that could be judged", NULL, d));
  a->verdict = verdict_of(a);
  return a->verdict == VT_VERDICT_ADMITTED ? vt_admission_issue_certificate(a, d) : VT_OK;
}

vt_status vt_admit(const vt_admit_options *o, vt_admission **out, vt_diag *d) {
  const int given = o->alloc != NULL && o->alloc->resize != NULL;
  const vt_alloc alloc = given ? *o->alloc : vt_alloc_default();
  vt_admission *a = vt_alloc_new(alloc, sizeof *a);
  if (a == NULL) return out_of_memory(d);
  memcpy(&a->o, o, o->size < sizeof a->o ? o->size : sizeof a->o);
  a->a = alloc;
  a->backend = a->o.backend;
  a->waived = (vt_policy){.size = sizeof a->waived, .admission = VT_ADMISSION_WAIVED};
  a->counts.size = sizeof a->counts;
  vt_arena_init(&a->arena, alloc);
  vt_status s = open_admission(a, d);
  if (s == VT_OK) s = run_admission(a, d);
  if (s == VT_OK) {
    *out = a;
  } else {
    vt_admission_free(a);
  }
  return s;
}

void vt_admission_free(vt_admission *a) {
  if (a == NULL) return;
  const vt_alloc alloc = a->a;
  vt_pool_free(a->pool);
  vt_hold_release(a->hold);
  vt_suite_free(a->suite);
  vt_arena_done(&a->arena);
  vt_alloc_free(alloc, a, sizeof *a);
}

/* ---- reading the result ---- */

uint32_t vt_admission_verdict(const vt_admission *a) { return a->verdict; }
const char *vt_admission_certificate(const vt_admission *a) { return a->certificate; }
const char *vt_admission_place(const vt_admission *a) { return a->place; }

void vt_admission_count(const vt_admission *a, vt_admission_counts *out) {
  vt_admission_counts c = a->counts;
  c.size = out->size;
  memcpy(out, &c, out->size < sizeof c ? out->size : sizeof c);
}

vt_status vt_admission_refusal(const vt_admission *a, vt_refusal *out) {
  vt_refusal r = a->refusal;
  if (!a->refused) return VT_NAME;
  r.size = out->size;
  memcpy(out, &r, out->size < sizeof r ? out->size : sizeof r);
  return VT_OK;
}
