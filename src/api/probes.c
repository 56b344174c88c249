/* SPDX-License-Identifier: Apache-2.0
 * probes.c - does a device keep what it declares? Each probe is a model of one op that runs on it
 * and on the reference, and every bit must agree. */
#include "probes.h"
#include <stdio.h>
#include <string.h>
#include "program.h"
#include "volta/volta_tools.h"
#include "vt_num.h"

/* UNIFORM is what --random-inputs gives; FULL is f64 about 1 with every bit of its fraction in use.
 */
typedef enum values { UNIFORM, TINY, BITS, BYTES, FULL } values;

struct vt_probe {
  uint64_t capability;
  values values;
  const char *inputs, *y;
};

static const vt_probe rows[] = {
#define VT_PROBE(capability, values, inputs, y) {capability, values, inputs, y},
#include "probes.def"
#undef VT_PROBE
};
enum { ROWS = sizeof rows / sizeof *rows, SEED = 20 };

/* A capability that is tried: how programs are made, and of what backend they must be. */
typedef struct trial {
  vt_options o;
  const vt_device *dev; /* NULL: whichever is opened */
  const vt_capability *c;
  uint32_t *models; /* that it could be tried with */
} trial;

/* ---- inputs ---- */

/* Sign and fraction of the element that word `k` is of, or is two of. */
static uint32_t fraction_of(uint32_t dtype, uint32_t k) {
  if (dtype == VT_DTYPE_F32) return UINT32_C(0x807fffff);
  if (dtype == VT_DTYPE_F16) return UINT32_C(0x83ff83ff);
  if (dtype == VT_DTYPE_BF16) return UINT32_C(0x807f807f);
  return k % 2 == 1 ? UINT32_C(0x800fffff) : UINT32_MAX;
}

/* Random bits, which a mask makes subnormal, or of an exponent from -7 to 8. */
static uint32_t bend(uint32_t word, uint32_t dtype, uint32_t k, values how) {
  const uint32_t kept = word & fraction_of(dtype, k);
  if (how == TINY) return kept;
  if (how == FULL && k % 2 == 1) return kept | (0x3f8 + (word >> 20 & 15)) << 20;
  return word;
}

static void fill(void *data, uint64_t bytes, uint32_t dtype, uint32_t stream, values how) {
  uint32_t words[4];
  for (uint64_t i = 0; i < bytes; i += sizeof words) {
    const uint64_t n = bytes - i < sizeof words ? bytes - i : sizeof words;
    vt_philox(SEED, stream, 0, i / sizeof words, words);
    for (uint32_t k = 0; k < 4; k++) words[k] = bend(words[k], dtype, k, how);
    memcpy((char *)data + i, words, (size_t)n);
  }
}

/* Each from a stream of its own: of two that are equal, the difference is 0 and the quotient 1. */
static vt_status fill_port(vt_program *p, uint32_t i, values how, vt_diag *d) {
  const vt_port *port = &p->g->ports[i];
  vt_tensor t = vt_tensor_like(&p->g->values[port->value].type);
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
  t.data = vt_alloc_new(p->a, (size_t)bytes);
  if (t.data == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  fill(t.data, bytes, t.dtype, i, how);
  const vt_status s = vt_program_set_input(p, port->name, &t, d);
  vt_alloc_free(p->a, t.data, (size_t)bytes);
  return s;
}

vt_status vt_probe_give(const vt_probe *x, vt_program *p, vt_diag *d) {
  if (x->values == UNIFORM) return vt_program_random_inputs(p, SEED, d);
  for (uint32_t i = 0; i < p->g->n_ports; i++) VT_TRY(fill_port(p, i, x->values, d));
  return VT_OK;
}

/* ---- one model on two devices ---- */

/* A step is refused when it is planned or not at all: then `out_accepted` is 0. */
static vt_status run_on(const vt_model *m, const vt_options *o, const vt_probe *x,
                        int *out_accepted, vt_program **out, vt_diag *d) {
  vt_program *p = NULL;
  vt_status s = vt_program_make(m, o, VT_PREPARE_UNTRIED, &p, d);
  *out_accepted = s != VT_UNSUPPORTED;
  if (s == VT_OK) s = vt_probe_give(x, p, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_program_free(p);
  }
  return s;
}

/* What the capability is tried with: a file may be another by now. */
static vt_status check_subject(const vt_program *p, const vt_device *dev, vt_diag *d) {
  if (dev == NULL || vt_device_same_backend(p->dev, dev)) return VT_OK;
  return VT_FAIL(d, VT_BACKEND, "backend '%s' was replaced while it was tried",
                 vt_device_name(dev));
}

static vt_status compare(const vt_probe *x, const vt_capability *c, vt_program *p, vt_program *q,
                         vt_diag *d) {
  vt_compare v = {.size = sizeof v};
  const char *name;
  vt_tensor a, b;
  VT_TRY(vt_program_output(p, 0, &name, &a, d));
  VT_TRY(vt_program_output(q, 0, &name, &b, d));
  VT_TRY(vt_tensor_compare(&a, &b, &v, d));
  if (v.differing == 0) return VT_OK;
  const int digits = (int)(2 * vt_dtype_bytes(a.dtype));
  return VT_FAIL(d, VT_BACKEND,
                 "backend '%s' declares %s and does not keep it: %.60s gives %0*llx at [%llu], the "
                 "reference %0*llx",
                 vt_program_backend(p), c->name, x->y, digits, (unsigned long long)v.first_a,
                 (unsigned long long)v.first, digits, (unsigned long long)v.first_b);
}

static vt_status run_both(const vt_probe *x, const trial *t, const vt_model *m, vt_diag *d) {
  const vt_options own = {
      .size = sizeof own, .backend = "reference:0", .passes = "bind,lower", .alloc = t->o.alloc};
  vt_program *p = NULL, *q = NULL;
  int accepted;
  vt_diag why = {0};
  vt_status s = run_on(m, &t->o, x, &accepted, &p, &why);
  if (!accepted) return VT_OK; /* it never said that it runs this */
  if (s != VT_OK)
    return VT_FAIL(d, s == VT_NOMEM ? VT_NOMEM : VT_BACKEND, "trying %s of '%.60s' fails: %.300s",
                   t->c->name, t->o.backend, why.text);
  *t->models += 1;
  s = check_subject(p, t->dev, d);
  if (s == VT_OK) s = run_on(m, &own, x, &accepted, &q, d);
  if (s == VT_OK) s = compare(x, t->c, p, q, d);
  vt_program_free(p);
  vt_program_free(q);
  return s;
}

vt_status vt_probe_model(const vt_probe *x, const vt_alloc *a, vt_model **out, vt_diag *d) {
  char text[400];
  const int n =
      snprintf(text, sizeof text, "volta 1\nmodel probe {\n input %s\n y = %s\n output y\n}\n",
               x->inputs, x->y);
  return vt_model_parse(text, (size_t)n, a, out, d);
}

static vt_status run_probe(const vt_probe *x, const trial *t, vt_diag *d) {
  vt_model *m = NULL;
  VT_TRY(vt_probe_model(x, t->o.alloc, &m, d));
  const vt_status s = run_both(x, t, m, d);
  vt_model_free(m);
  return s;
}

/* ---- capabilities ---- */

static vt_status try_one(const vt_options *o, const vt_device *dev, const vt_capability *c,
                         vt_alloc a, uint32_t *out_models, const vt_probe **out_broken,
                         vt_diag *d) {
  const vt_policy policy = {.size = sizeof policy, .admission = VT_ADMISSION_WAIVED};
  const trial t = {.o = {.size = sizeof t.o,
                         .backend = o->backend,
                         .passes = "bind,lower",
                         .alloc = &a,
                         .policy = &policy,
                         .threads = o->threads,
                         .isa = o->isa},
                   .dev = dev,
                   .c = c,
                   .models = out_models};
  *out_models = 0;
  for (uint32_t i = 0; i < ROWS; i++) {
    if (rows[i].capability != c->bit) continue;
    *out_broken = &rows[i];
    VT_TRY(run_probe(&rows[i], &t, d));
  }
  *out_broken = NULL;
  return VT_OK;
}

vt_status vt_capability_try(const vt_options *o, const vt_capability *c, vt_alloc a,
                            uint32_t *out_models, const vt_probe **out_broken, vt_diag *d) {
  return try_one(o, NULL, c, a, out_models, out_broken, d);
}

static vt_status try_all(vt_device *dev, const vt_options *o, uint64_t open, vt_alloc a,
                         vt_diag *d) {
  for (uint32_t i = 0; open != 0 && i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    const vt_probe *broken;
    uint32_t models;
    if ((open & c->bit) == 0) continue;
    VT_TRY(try_one(o, dev, c, a, &models, &broken, d));
    if (models != 0) vt_device_prove(dev, c->bit); /* what could not be tried shows nothing */
    open &= ~c->bit;
  }
  return VT_OK;
}

/* The trials open the device anew, by its name: what is tried must be what was let in, whatever
 * becomes of the file meanwhile. */
vt_status vt_capabilities_try(vt_device *dev, const vt_options *o, uint64_t needs, vt_alloc a,
                              vt_diag *d) {
  const uint64_t open = needs & vt_device_caps(dev)->has & ~vt_device_proven(dev);
  vt_hold *hold = NULL;
  if (open == 0) return VT_OK;
  VT_TRY(vt_device_hold(dev, o->backend, &hold, d));
  const vt_status s = try_all(dev, o, open, a, d);
  vt_hold_release(hold);
  return s;
}
