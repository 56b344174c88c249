/* SPDX-License-Identifier: Apache-2.0
 * tools.c - the op table and this installation, as volta_tools.h shows them. */
#include <stdio.h>
#include <string.h>
#include "volta/volta_tools.h"
#include "environment.h"
#include "prepare.h"
#include "vt_cpu.h"
#include "vt_fpenv.h"
#include "vt_gate.h"
#include "vt_num.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "an unknown compiler"
#endif

const char *vt_version(void) { return VT_VERSION " (numerics 1, " COMPILER ")"; }

/* ---- ops ---- */

uint32_t vt_op_count(void) { return vt_op_total(); }

/* "softmax(x, axis=-1)": a required attribute shows its name alone. */
static void sign(const vt_op_info *op, vt_text *t) {
  vt_arena none;
  vt_dims dims;
  vt_arena_init(&none, vt_alloc_default());
  vt_dims_init(&dims, &none);
  vt_text_add(t, "%s(%s%s", op->name, op->operands,
              op->operands[0] != 0 && op->attrs->n_fields > 0 ? ", " : "");
  for (uint32_t i = 0; i < op->attrs->n_fields; i++) {
    vt_attr_field field = op->attrs->fields[i];
    const vt_attr_field *f = &field;
    const vt_attr_group one = {op->attrs->name, op->attrs->size, op->attrs->defaults, 1, f};
    field.late = 0; /* shown here all the same */
    vt_text_add(t, "%s", i == 0 ? "" : ", ");
    if (f->required) {
      vt_text_add(t, "%s", f->name);
    } else {
      vt_attr_print(&one, op->attrs->defaults, &dims, t);
    }
  }
  vt_text_add(t, ")");
}

vt_status vt_op_row_at(uint32_t i, vt_op_row *out) {
  const vt_op_info *op = vt_op_at(i);
  if (op == NULL) return VT_RANGE;
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  sign(op, &t);
  const vt_status s = vt_text_status(&t);
  if (s == VT_OK) {
    *out = (vt_op_row){.number = op->number,
                       .min_in = op->min_in,
                       .max_in = op->max_in,
                       .prim = op->prim,
                       .name = op->name,
                       .numerics = vt_numerics_name(op->numerics),
                       .help = op->help,
                       .results = op->results,
                       .needs = vt_needs_name(op->needs),
                       .flat = op->flat,
                       .operands = op->operands[0] != 0 ? op->operands : "none",
                       .attrs = op->words.attrs,
                       .verify = op->words.verify,
                       .shape = op->words.shape,
                       .decomposition = op->words.lower,
                       .kernel = op->words.kernel,
                       .work = op->words.work,
                       .gradient = op->rule};
    snprintf(out->signature, sizeof out->signature, "%s", t.s);
  }
  vt_text_done(&t);
  return s;
}

vt_status vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d) {
  vt_device *dev;
  vt_alloc a;
  const vt_options options = vt_options_read(o, &a);
  VT_TRY(vt_options_open(&options, a, &dev, d));
  *out = vt_device_lists(dev, number);
  vt_device_close(dev);
  return VT_OK;
}

vt_status vt_op_supported(const char *backend, uint32_t number, int *out, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  return vt_op_supported_by(&o, number, out, d);
}

static void say_support(const vt_device *dev, uint32_t number, char out[VT_OP_SUPPORT]) {
  const vt_op_info *op = vt_op_get(number);
  out[0] = 0;
  if (vt_device_lists(dev, number)) {
    vt_device_way(dev, number, out);
    if (out[0] == 0) snprintf(out, VT_OP_SUPPORT, "itself");
  } else {
    snprintf(out, VT_OP_SUPPORT, "%s", op != NULL && !op->prim ? "decomposed" : "no");
  }
}

_Static_assert(VT_OP_SUPPORT >= (int)VT_DEVICE_WAY, "a device's word fits");

vt_status vt_op_support(const vt_options *o, uint32_t number, char out[VT_OP_SUPPORT], vt_diag *d) {
  vt_device *dev;
  vt_alloc a;
  const vt_options options = vt_options_read(o, &a);
  VT_TRY(vt_options_open(&options, a, &dev, d));
  say_support(dev, number, out);
  vt_device_close(dev);
  return VT_OK;
}

/* ---- doctor ---- */

static void say_self_test(char *out, size_t n) {
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  const char *broken = vt_num_self_test();
  vt_fpenv_leave(&saved);
  snprintf(
      out, n, "%s%s",
      broken == NULL ? "ok: no contraction, no reassociation, no flushing" : "FAILED: this build ",
      broken == NULL ? "" : broken);
}

static void say_backends(char *out, size_t n) {
  vt_backend_row row = {.size = sizeof row};
  size_t used = 0;
  out[0] = 0;
  for (uint32_t i = 0; vt_backend_row_at(i, &row, NULL) == VT_OK && used < n; i++)
    used += (size_t)snprintf(out + used, n - used, "%s%s", i == 0 ? "" : " ", row.name);
}

static void say_reference(char *out, size_t n) {
  vt_backend_row row = {.size = sizeof row};
  const int ok = vt_backend_row_at(0, &row, NULL) == VT_OK && row.available && row.complete;
  snprintf(out, n, "%s",
           ok ? "ok: the reference runs every prim" : "FAILED: the reference is incomplete");
}

/* As a run that names none would open it. */
static void say_opened(char *out, size_t n) {
  const vt_options o = {.size = sizeof o};
  vt_device *dev = NULL;
  vt_diag why = {0};
  const vt_status s = vt_options_open(&o, vt_alloc_default(), &dev, &why);
  snprintf(out, n, "%s%s",
           s == VT_OK ? "ok: " : "FAILED: ", s == VT_OK ? vt_device_name(dev) : why.text);
  vt_device_close(dev);
}

static void say_version(char *out, size_t n) { snprintf(out, n, "%s", VT_VERSION); }
static void say_numerics(char *out, size_t n) { snprintf(out, n, "%u", VT_NUMERICS_VERSION); }
static void say_compiler(char *out, size_t n) { snprintf(out, n, "%s", COMPILER); }
static void say_cpu(char *out, size_t n) { vt_cpu_describe(out, n); }
static void say_cores(char *out, size_t n) { snprintf(out, n, "%u", vt_cpu_get()->cores); }
static void say_chosen(char *out, size_t n) { snprintf(out, n, "%s", vt_environment_backend()); }
static void say_fma(char *out, size_t n) {
  snprintf(out, n, "%s", vt_cpu_get()->fma ? "hardware" : "software (same bits, slower)");
}

typedef struct fact {
  const char *key;
  void (*say)(char *out, size_t n);
} fact;
static const fact facts[] = {
    {"version", say_version},   {"numerics", say_numerics},
    {"compiler", say_compiler}, {"cpu", say_cpu},
    {"cores", say_cores},       {"fma", say_fma},
    {"backends", say_backends}, {"backend.default", say_chosen},
};
static const fact checks[] = {
    {"check.numerics", say_self_test},
    {"check.reference", say_reference},
    {"check.backend", say_opened},
};
enum { N_FACTS = sizeof facts / sizeof *facts, N_CHECKS = sizeof checks / sizeof *checks };

/* Ours, those of backends, then the checks. */
static const char *doctor_at(uint32_t i, char *buffer, size_t n) {
  uint32_t theirs = 0;
  const fact *f = i < N_FACTS ? &facts[i] : NULL;
  if (f == NULL) {
    const char *key = vt_registry_fact(i - N_FACTS, buffer, n);
    if (key != NULL) return key;
    while (vt_registry_fact(theirs, NULL, 0) != NULL) theirs++;
    if (i - N_FACTS - theirs >= N_CHECKS) return NULL;
    f = &checks[i - N_FACTS - theirs];
  }
  if (n > 0) f->say(buffer, n);
  return f->key;
}

const char *vt_doctor_key(uint32_t i) { return doctor_at(i, NULL, 0); }

const char *vt_doctor_value(uint32_t i, char *buffer, size_t n) {
  if (n == 0 || doctor_at(i, buffer, n) == NULL) return NULL;
  return buffer;
}
