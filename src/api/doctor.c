/* SPDX-License-Identifier: Apache-2.0
 * doctor.c - the facts of `volta doctor` about this build and machine, and its checks: whether the
 * arithmetic is right, the reference is complete, the default backend opens, and each device
 * satisfies the capabilities that it declares. An entry is one fact or one check, with its key and
 * its value. The default device is that of a run without --backend. */
#include <stdio.h>
#include <string.h>
#include "volta/volta_tools.h"
#include "environment.h"
#include "probes.h"
#include "vt_cpu.h"
#include "vt_fpenv.h"
#include "vt_num.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "an unknown compiler"
#endif

const char *vt_version(void) { return VT_VERSION " (numerics 1, " COMPILER ")"; }

/* ---- facts ---- */

/* Each print_ function writes the value of one fact or check. */

static void print_numerics_check(char *out, size_t n) {
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  const char *broken = vt_num_self_test();
  vt_fpenv_leave(&saved);
  snprintf(
      out, n, "%s%s",
      broken == NULL ? "ok: no contraction, no reassociation, no flushing" : "FAILED: this build ",
      broken == NULL ? "" : broken);
}

static void print_backends(char *out, size_t n) {
  vt_backend_row row = {.size = sizeof row};
  size_t used = 0;
  out[0] = 0;
  for (uint32_t i = 0; vt_backend_row_at(i, &row, NULL) == VT_OK && used < n; i++)
    used += (size_t)snprintf(out + used, n - used, "%s%s", i == 0 ? "" : " ", row.name);
}

static void print_reference_check(char *out, size_t n) {
  vt_backend_row row = {.size = sizeof row};
  const int ok = vt_backend_row_at(0, &row, NULL) == VT_OK && row.available && row.complete;
  snprintf(out, n, "%s",
           ok ? "ok: the reference runs every prim" : "FAILED: the reference is incomplete");
}

/* Writes whether the default device opens: its name, or the error. */
static void print_default_device_check(char *out, size_t n) {
  const vt_options o = {.size = sizeof o};
  vt_device *dev = NULL;
  vt_diag why = {0};
  const vt_status s = vt_options_open_device(&o, vt_alloc_default(), &dev, &why);
  snprintf(out, n, "%s%s",
           s == VT_OK ? "ok: " : "FAILED: ", s == VT_OK ? vt_device_name(dev) : why.text);
  vt_device_close(dev);
}

static void print_version(char *out, size_t n) { snprintf(out, n, "%s", VT_VERSION); }
static void print_numerics(char *out, size_t n) { snprintf(out, n, "%u", VT_NUMERICS_VERSION); }
static void print_compiler(char *out, size_t n) { snprintf(out, n, "%s", COMPILER); }
static void print_cpu_features(char *out, size_t n) { vt_cpu_list_features(out, n); }
static void print_cores(char *out, size_t n) { snprintf(out, n, "%u", vt_cpu_get()->cores); }
static void print_default_backend(char *out, size_t n) {
  snprintf(out, n, "%s", vt_environment_backend());
}
static void print_fma(char *out, size_t n) {
  snprintf(out, n, "%s", vt_cpu_get()->fma ? "hardware" : "software (same bits, slower)");
}

/* ---- checks of declared capabilities ---- */

/* The line that the doctor prints about one capability; each tried device appends words to it. */
typedef struct report {
  const vt_capability *c;
  char first[80]; /* name of the default device, which is tried first */
  char *out;      /* the caller's buffer of `n` bytes, of which `used` are written */
  size_t n, used;
  int failed; /* 1: a device does not satisfy the capability; no further device is tried */
} report;

/* Appends words about one device, like "3 models on cpu:0"; without the number if `models` is 0. */
static void add_device_words(report *x, const char *what, uint32_t models, const char *device) {
  char count[24] = "";
  if (models != 0) snprintf(count, sizeof count, "%u ", models);
  if (x->used < x->n)
    x->used += (size_t)snprintf(x->out + x->used, x->n - x->used, "%s%s%s %s",
                                x->used == 0 ? "ok: " : ", ", count, what, device);
}

static void try_probes(report *x, const char *backend, const char *device) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  const vt_probe *broken;
  uint32_t models;
  vt_diag why = {0};
  if (vt_capability_try(&o, x->c, vt_alloc_default(), &models, &broken, &why) == VT_OK) {
    add_device_words(x,
                     models == 1   ? "model on"
                     : models != 0 ? "models on"
                                   : "no model is accepted by",
                     models, device);
  } else {
    snprintf(x->out, x->n, "FAILED: %s", why.text);
    x->failed = 1;
  }
}

/* Tries the capability on one device and writes the device's name to `out_device`. A device that
 * does not open is skipped, because `check.backend` and `volta backends` say why. The reference is
 * not tried, because it defines the results. */
static void check_capability_of_device(report *x, const char *backend, char out_device[80]) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_device *dev = NULL;
  if (x->failed || vt_options_open_device(&o, vt_alloc_default(), &dev, NULL) != VT_OK) return;
  const int is_reference = vt_device_is_reference(dev),
            built_in = vt_device_plugin_digest(dev) == NULL;
  const int has = (vt_device_caps(dev)->has & x->c->bit) != 0;
  snprintf(out_device, 80, "%s", vt_device_name(dev));
  vt_device_close(dev);
  if (has && !is_reference) try_probes(x, built_in ? out_device : backend, out_device);
  if (!has) add_device_words(x, "not declared by", 0, out_device);
}

/* Tries the capability on every device of the first backend of this kind; skips the default device,
 * which was tried before. */
static void check_other_devices_of_kind(report *x, vt_kind kind) {
  const char *wanted = vt_registry_first_of_kind(kind), *name = NULL;
  char device[80];
  uint32_t devices = 0;
  for (uint32_t i = 0; wanted != NULL && i < vt_registry_backend_count(); i++) {
    if (vt_registry_backend_at(i, &name, &devices, NULL) != VT_OK || strcmp(name, wanted) != 0)
      continue;
    for (uint32_t k = 0; k < devices; k++) {
      snprintf(device, sizeof device, "%s:%u", name, k);
      if (strcmp(device, x->first) != 0) check_capability_of_device(x, device, device);
    }
  }
}

/* Tries capability number i on the default device, then on every other CPU and GPU device of this
 * machine, and writes the line about it. */
static void print_capability_check(uint32_t i, char *out, size_t n) {
  report x = {.c = vt_capability_at(i), .out = out, .n = n};
  snprintf(out, n, "ok: there is no device to try");
  check_capability_of_device(&x, vt_environment_backend(), x.first);
  check_other_devices_of_kind(&x, VT_KIND_CPU);
  check_other_devices_of_kind(&x, VT_KIND_GPU);
}

/* ---- the list of facts and checks ---- */

typedef struct fact {
  const char *key;
  void (*print)(char *out, size_t n); /* writes the value into a buffer of `n` bytes */
} fact;
static const fact facts[] = {
    {"version", print_version},   {"numerics", print_numerics},
    {"compiler", print_compiler}, {"cpu", print_cpu_features},
    {"cores", print_cores},       {"fma", print_fma},
    {"backends", print_backends}, {"backend.default", print_default_backend},
};
static const fact checks[] = {
    {"check.numerics", print_numerics_check},
    {"check.reference", print_reference_check},
    {"check.backend", print_default_device_check},
};
static const char *const capabilities[] = {
#define VT_CAPABILITY(bit, name, help) "check." name,
#include "capabilities.def"
#undef VT_CAPABILITY
};
enum { N_FACTS = sizeof facts / sizeof *facts, N_CHECKS = sizeof checks / sizeof *checks };

static const char *key_and_value_of_check(uint32_t i, char *buffer, size_t n) {
  if (i >= N_CHECKS + VT_CAPABILITIES) return NULL;
  if (n > 0 && i < N_CHECKS) checks[i].print(buffer, n);
  if (n > 0 && i >= N_CHECKS) print_capability_check(i - N_CHECKS, buffer, n);
  return i < N_CHECKS ? checks[i].key : capabilities[i - N_CHECKS];
}

/* Returns the key of entry `i` and writes its value to `buffer` unless n is 0. The order is: the
 * facts of this file, those of the backends, the checks. Returns NULL past the last entry. */
static const char *key_and_value_of_entry(uint32_t i, char *buffer, size_t n) {
  uint32_t n_backend = 0;
  if (i < N_FACTS) {
    if (n > 0) facts[i].print(buffer, n);
    return facts[i].key;
  }
  const char *key = vt_registry_fact(i - N_FACTS, buffer, n);
  if (key != NULL) return key;
  while (vt_registry_fact(n_backend, NULL, 0) != NULL) n_backend++;
  return key_and_value_of_check(i - N_FACTS - n_backend, buffer, n);
}

const char *vt_doctor_key(uint32_t i) { return key_and_value_of_entry(i, NULL, 0); }

const char *vt_doctor_value(uint32_t i, char *buffer, size_t n) {
  if (n == 0 || key_and_value_of_entry(i, buffer, n) == NULL) return NULL;
  return buffer;
}
