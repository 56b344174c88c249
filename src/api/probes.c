/* SPDX-License-Identifier: Apache-2.0
 * probes.c - does a device keep what it declares? A probe is a small model that runs on the device
 * and on the reference, and every bit must agree. Before the first use of a capability one brief
 * probe is enough; `volta doctor` and `volta admit` run all of them. */
#include "probes.h"
#include <string.h>
#include "cache.h"
#include "plan_key.h"
#include "program.h"
#include "volta/volta_tools.h"
#include "vt_num.h"

/* UNIFORM is what --random-inputs gives; FULL is about 1 with every bit of the fraction in use;
 * HARD is what separates a right function from a nearly right one. */
typedef enum values { UNIFORM, TINY, BITS, BYTES, FULL, HARD } values;

struct vt_probe {
  uint64_t capability;
  values values;
  int brief;              /* 1: the one that is run before the first use */
  const char *inputs, *y; /* the outputs are the expressions of `y`, with a ';' between them */
};

const char vt_probe_functions[] =
#define VT_FUNCTION(name, estimate, judge) #name "(x); "
#include "functions.def"
#undef VT_FUNCTION
    "pow(a, b)";

static const vt_probe rows[] = {
#define VT_PROBE(capability, values, inputs, y) {capability, values, 0, inputs, y},
#define VT_BRIEF(capability, values, inputs, y) {capability, values, 1, inputs, y},
#include "probes.def"
#undef VT_PROBE
#undef VT_BRIEF
};
enum { ROWS = sizeof rows / sizeof *rows, SEED = 20 };

static const uint32_t hard[] = {
#define VT_HARD(name, x, want) x,
#include "hard.def"
};
static const uint32_t hard_pow[][2] = {
#define VT_HARD_POW(x, y, want) {x, y},
#include "hard.def"
};
enum { HARDS = sizeof hard / sizeof *hard, HARD_POWS = sizeof hard_pow / sizeof *hard_pow };
_Static_assert(HARDS <= 320, "the first input in probes.def holds all of them");

/* A capability that is tried: how programs are made, and of what backend they must be. */
typedef struct trial {
  vt_options o;
  const vt_device *dev; /* NULL: whichever is opened */
  const vt_capability *c;
  int all;             /* 1: with all probes; 0: with the brief one, if the device accepts it */
  uint32_t models;     /* that it was tried with */
  const vt_probe *now; /* the one under way */
} trial;

/* ---- inputs ---- */

/* Sign and fraction of the element that word `k` is of, or is two of. */
static uint32_t fraction_of(uint32_t dtype, uint32_t k) {
  if (dtype == VT_DTYPE_F32) return UINT32_C(0x807fffff);
  if (dtype == VT_DTYPE_F16) return UINT32_C(0x83ff83ff);
  if (dtype == VT_DTYPE_BF16) return UINT32_C(0x807f807f);
  return k % 2 == 1 ? UINT32_C(0x800fffff) : UINT32_MAX;
}

/* Bits of an exponent from -7 to 8, where the sign and the fraction are kept. */
static uint32_t exponent_of(uint32_t word, uint32_t dtype) {
  return dtype == VT_DTYPE_F64 ? (0x3f8 + (word >> 20 & 15)) << 20
                               : (0x78 + (word >> 23 & 15)) << 23;
}

/* Random bits, which a mask makes subnormal, or of size about 1. */
static uint32_t bend(uint32_t word, uint32_t dtype, uint32_t k, values how) {
  const uint32_t kept = word & fraction_of(dtype, k);
  if (how == TINY) return kept;
  if (how == FULL && (dtype == VT_DTYPE_F32 || k % 2 == 1)) return kept | exponent_of(word, dtype);
  return word;
}

/* Element `i` of the first, second or third input. */
static uint32_t hard_word(uint32_t input, uint64_t i) {
  return input == 0 ? hard[i % HARDS] : hard_pow[i % HARD_POWS][input - 1];
}

static void draw(uint32_t words[4], uint64_t at, uint32_t dtype, uint32_t input, values how) {
  if (how != HARD) vt_philox(SEED, input, 0, at, words);
  for (uint32_t k = 0; k < 4; k++)
    words[k] = how == HARD ? hard_word(input, 4 * at + k) : bend(words[k], dtype, k, how);
}

static void fill(void *data, uint64_t bytes, uint32_t dtype, uint32_t input, values how) {
  uint32_t words[4];
  for (uint64_t i = 0; i < bytes; i += sizeof words) {
    const uint64_t n = bytes - i < sizeof words ? bytes - i : sizeof words;
    draw(words, i / sizeof words, dtype, input, how);
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

/* Expression `k` of a probe; 0 past the last. */
static size_t expression(const vt_probe *x, uint32_t k, const char **out) {
  const char *at = x->y;
  while (k-- > 0 && at != NULL) {
    at = strchr(at, ';');
    if (at != NULL) at += 1 + strspn(at + 1, " ");
  }
  *out = at;
  return at != NULL ? strcspn(at, ";") : 0;
}

/* Outputs come in the order of their names, which is that of the expressions. */
static vt_status compare(const vt_probe *x, uint32_t k, const vt_capability *c, vt_program *p,
                         vt_program *q, vt_diag *d) {
  vt_compare v = {.size = sizeof v};
  const char *name, *y;
  vt_tensor a, b;
  VT_TRY(vt_program_output(p, k, &name, &a, d));
  VT_TRY(vt_program_output(q, k, &name, &b, d));
  VT_TRY(vt_tensor_compare(&a, &b, &v, d));
  if (v.differing == 0) return VT_OK;
  const int digits = (int)(2 * vt_dtype_bytes(a.dtype));
  const size_t n = expression(x, k, &y);
  return VT_FAIL(d, VT_BACKEND,
                 "backend '%s' declares %s and does not keep it: %.*s gives %0*llx at [%llu], the "
                 "reference %0*llx",
                 vt_program_backend(p), c->name, n < 60 ? (int)n : 60, y, digits,
                 (unsigned long long)v.first_a, (unsigned long long)v.first, digits,
                 (unsigned long long)v.first_b);
}

static vt_status run_both(trial *t, const vt_model *m, vt_diag *d) {
  const vt_options own = {
      .size = sizeof own, .backend = "reference:0", .passes = "bind,lower", .alloc = t->o.alloc};
  vt_program *p = NULL, *q = NULL;
  int accepted;
  vt_diag why = {0};
  vt_status s = run_on(m, &t->o, t->now, &accepted, &p, &why);
  if (!accepted) return VT_OK; /* it never said that it runs this */
  if (s != VT_OK)
    return VT_FAIL(d, s == VT_NOMEM ? VT_NOMEM : VT_BACKEND, "trying %s of '%.60s' fails: %.300s",
                   t->c->name, t->o.backend, why.text);
  t->models++;
  s = check_subject(p, t->dev, d);
  if (s == VT_OK) s = run_on(m, &own, t->now, &accepted, &q, d);
  for (uint32_t k = 0; s == VT_OK && k < vt_program_outputs(p); k++)
    s = compare(t->now, k, t->c, p, q, d);
  vt_program_free(p);
  vt_program_free(q);
  return s;
}

vt_status vt_probe_model(const vt_probe *x, const vt_alloc *a, vt_model **out, vt_diag *d) {
  const char *y;
  size_t n;
  vt_text t;
  vt_text_init(&t, *a);
  vt_text_add(&t, "volta 1\nmodel probe {\n input %s\n", x->inputs);
  for (uint32_t k = 0; (n = expression(x, k, &y)) != 0; k++)
    vt_text_add(&t, " output y%02u = %.*s\n", k, (int)n, y);
  vt_text_add(&t, "}\n");
  vt_status s = vt_text_status(&t);
  s = s == VT_OK ? vt_model_parse(t.s, t.n, a, out, d) : VT_FAIL(d, s, "out of memory");
  vt_text_done(&t);
  return s;
}

static vt_status run_probe(trial *t, vt_diag *d) {
  vt_model *m = NULL;
  VT_TRY(vt_probe_model(t->now, t->o.alloc, &m, d));
  const vt_status s = run_both(t, m, d);
  vt_model_free(m);
  return s;
}

/* ---- capabilities ---- */

static vt_status run_rows(trial *t, int brief, vt_diag *d) {
  for (uint32_t i = 0; i < ROWS; i++) {
    t->now = &rows[i];
    if (rows[i].capability == t->c->bit && rows[i].brief == brief) VT_TRY(run_probe(t, d));
  }
  t->now = NULL;
  return VT_OK;
}

/* Where all probes run, the brief one is the last: a refusal by a probe of one op says more. */
static vt_status try_one(trial *t, const vt_options *o, vt_alloc a, vt_diag *d) {
  const vt_policy policy = {.size = sizeof policy, .admission = VT_ADMISSION_WAIVED};
  t->o = (vt_options){.size = sizeof t->o,
                      .backend = o->backend,
                      .passes = "bind,lower",
                      .alloc = &a,
                      .policy = &policy,
                      .threads = o->threads,
                      .isa = o->isa};
  VT_TRY(run_rows(t, !t->all, d));
  return t->all || t->models == 0 ? run_rows(t, t->all, d) : VT_OK;
}

vt_status vt_capability_try(const vt_options *o, const vt_capability *c, vt_alloc a,
                            uint32_t *out_models, const vt_probe **out_broken, vt_diag *d) {
  trial t = {.c = c, .all = 1};
  const vt_status s = try_one(&t, o, a, d);
  *out_models = t.models;
  *out_broken = t.now;
  return s;
}

/* A trial that passes proves the capability, unless the device accepted no model. A plug-in that no
 * certificate covers gets all probes, because nobody has run them on it before. */
static vt_status try_device(vt_device *dev, const vt_options *o, const vt_capability *c, vt_alloc a,
                            vt_diag *d) {
  trial t = {.dev = dev, .c = c, .all = vt_device_unadmitted(dev)};
  VT_TRY(try_one(&t, o, a, d));
  if (t.models != 0) vt_device_prove(dev, c->bit);
  return VT_OK;
}

/* Loading the kernels of a GPU takes long, so what passed is kept for the processes to come. */
static vt_status try_gpu(vt_device *dev, const vt_options *o, const vt_capability *c, vt_alloc a,
                         vt_diag *d) {
  vt_text key;
  vt_text_init(&key, a);
  vt_status s = vt_trial_key(dev, c, &key);
  if (s != VT_OK) {
    s = VT_FAIL(d, s, "out of memory");
  } else if (vt_cache_passed(o->cache, &key)) {
    vt_device_prove(dev, c->bit);
  } else {
    s = try_device(dev, o, c, a, d);
    if (s == VT_OK && (vt_device_proven(dev) & c->bit) != 0) vt_cache_keep_passed(o->cache, &key);
  }
  vt_text_done(&key);
  return s;
}

static vt_status try_all(vt_device *dev, const vt_options *o, uint64_t open, vt_alloc a,
                         vt_diag *d) {
  const int kept = o->cache != NULL && vt_device_kind(dev) == VT_KIND_GPU;
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    if ((open & c->bit) != 0) VT_TRY((kept ? try_gpu : try_device)(dev, o, c, a, d));
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
