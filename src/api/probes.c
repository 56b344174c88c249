/* SPDX-License-Identifier: Apache-2.0
 * probes.c - tries whether a device satisfies the capabilities that it declares. A probe is a small
 * model that runs on the device and on the reference, and every bit must agree. A trial runs the
 * probes of one capability on one device. Before the first use of a capability it runs only the
 * brief probe; `volta doctor` and `volta admit` run all probes of a capability. */
#include "probes.h"
#include <string.h>
#include "cache.h"
#include "plan_key.h"
#include "program.h"
#include "volta/volta_tools.h"
#include "vt_num.h"

/* The kind of values that the inputs of a probe get. */
typedef enum values {
  UNIFORM, /* as the flag --random-inputs draws them */
  TINY,    /* subnormal floats */
  BITS,    /* floats of random bits */
  BYTES,   /* integers of random bits */
  FULL,    /* floats from 2^-7 to 2^8 with random fractions, so that every bit of them is in use */
  HARD     /* arguments from hard.def, whose results are close to a midpoint */
} values;

struct vt_probe {
  uint64_t capability; /* bit of the capability that the probe tries */
  values values;
  int brief;              /* 1: the brief probe, which runs before the first use */
  const char *inputs, *y; /* declarations of inputs; output expressions, separated by ';' */
};

const char vt_probe_functions[] =
#define VT_FUNCTION(name, estimate, oracle) #name "(x); "
#include "functions.def"
#undef VT_FUNCTION
    "pow(a, b)";

static const vt_probe probes[] = {
#define VT_PROBE(capability, values, inputs, y) {capability, values, 0, inputs, y},
#define VT_BRIEF(capability, values, inputs, y) {capability, values, 1, inputs, y},
#include "probes.def"
#undef VT_PROBE
#undef VT_BRIEF
};
enum { N_PROBES = sizeof probes / sizeof *probes, SEED = 20 };

/* Bits of hard arguments, with results close to a midpoint: x for functions, pairs (x, y) for
 * pow. */
static const uint32_t hard[] = {
#define VT_HARD(name, x, want) x,
#include "hard.def"
};
static const uint32_t hard_pow[][2] = {
#define VT_HARD_POW(x, y, want) {x, y},
#include "hard.def"
};
enum { N_HARD = sizeof hard / sizeof *hard, N_HARD_POW = sizeof hard_pow / sizeof *hard_pow };
_Static_assert(N_HARD <= 320, "the first input in probes.def holds all of them");

/* A trial of one capability of one device. */
typedef struct trial {
  vt_options o;           /* options of the programs on the device */
  const vt_device *dev;   /* device whose backend the programs must run on; NULL: any */
  const vt_capability *c; /* the capability */
  int all;                /* 1: run all probes; 0: the brief one, if the device accepts it */
  uint32_t models;        /* number of probes that the device accepted so far */
  const vt_probe *probe;  /* the probe that runs now or has failed; NULL if all passed */
} trial;

/* ---- inputs ---- */

/* Returns the mask of the sign and fraction bits in 32-bit word `k` of an input. A word is one f32,
 * two elements of 16 bits, or half an f64, whose high half is the word with odd `k`. */
static uint32_t sign_and_fraction_mask(uint32_t dtype, uint32_t k) {
  if (dtype == VT_DTYPE_F32) return UINT32_C(0x807fffff);
  if (dtype == VT_DTYPE_F16) return UINT32_C(0x83ff83ff);
  if (dtype == VT_DTYPE_BF16) return UINT32_C(0x807f807f);
  return k % 2 == 1 ? UINT32_C(0x800fffff) : UINT32_MAX;
}

/* Returns the bits of an exponent from -7 to 8, chosen by the exponent bits of `word`. */
static uint32_t small_exponent_bits(uint32_t word, uint32_t dtype) {
  return dtype == VT_DTYPE_F64 ? (0x3f8 + (word >> 20 & 15)) << 20
                               : (0x78 + (word >> 23 & 15)) << 23;
}

/* Turns a word of random bits into one of this kind: exponent 0 for TINY, small for FULL. */
static uint32_t word_of_kind(uint32_t word, uint32_t dtype, uint32_t k, values kind) {
  const uint32_t fraction = word & sign_and_fraction_mask(dtype, k);
  if (kind == TINY) return fraction;
  if (kind == FULL && (dtype == VT_DTYPE_F32 || k % 2 == 1))
    return fraction | small_exponent_bits(word, dtype);
  return word;
}

/* Returns the bits of element `i` of input number `input` for HARD. Input 0 is the argument of all
 * functions; 1 and 2 are the arguments of pow. */
static uint32_t hard_argument_bits(uint32_t input, uint64_t i) {
  return input == 0 ? hard[i % N_HARD] : hard_pow[i % N_HARD_POW][input - 1];
}

/* Draws four words of input number `input`, of which the first is word number 4 * block. */
static void draw_words(uint32_t words[4], uint64_t block, uint32_t dtype, uint32_t input,
                       values kind) {
  if (kind != HARD) vt_philox(SEED, input, 0, block, words);
  for (uint32_t k = 0; k < 4; k++)
    words[k] = kind == HARD ? hard_argument_bits(input, 4 * block + k)
                            : word_of_kind(words[k], dtype, k, kind);
}

static void fill_input(void *data, uint64_t bytes, uint32_t dtype, uint32_t input, values kind) {
  uint32_t words[4];
  for (uint64_t i = 0; i < bytes; i += sizeof words) {
    const uint64_t n = bytes - i < sizeof words ? bytes - i : sizeof words;
    draw_words(words, i / sizeof words, dtype, input, kind);
    memcpy((char *)data + i, words, (size_t)n);
  }
}

/* Sets input `i` to values from a random stream of its own, because with two equal inputs every
 * difference would be 0 and every quotient 1. */
static vt_status set_probe_input(vt_program *p, uint32_t i, values kind, vt_diag *d) {
  const vt_port *port = &p->g->ports[i];
  vt_tensor t = vt_tensor_without_data(&p->g->values[port->value].type);
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
  t.data = vt_alloc_new(p->a, (size_t)bytes);
  if (t.data == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  fill_input(t.data, bytes, t.dtype, i, kind);
  const vt_status s = vt_program_set_input(p, port->name, &t, d);
  vt_alloc_free(p->a, t.data, (size_t)bytes);
  return s;
}

vt_status vt_probe_set_inputs(const vt_probe *x, vt_program *p, vt_diag *d) {
  if (x->values == UNIFORM) return vt_program_random_inputs(p, SEED, d);
  for (uint32_t i = 0; i < p->g->n_ports; i++) VT_TRY(set_probe_input(p, i, x->values, d));
  return VT_OK;
}

/* ---- one probe on a device and on the reference ---- */

/* Creates and runs a program of the probe's model. `out_accepted` is 0 if the device does not
 * accept a step, which is always found when the program is created. */
static vt_status run_probe_on(const vt_model *m, const vt_options *o, const vt_probe *x,
                              int *out_accepted, vt_program **out, vt_diag *d) {
  vt_program *p = NULL;
  vt_status s = vt_program_new_with_flags(m, o, VT_PREPARE_UNTRIED, &p, d);
  *out_accepted = s != VT_UNSUPPORTED;
  if (s == VT_OK) s = vt_probe_set_inputs(x, p, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) {
    *out = p;
  } else {
    vt_program_free(p);
  }
  return s;
}

/* Fails if the program runs on another backend than `dev`: a plug-in's file may have been replaced
 * since `dev` was opened. */
static vt_status check_same_backend(const vt_program *p, const vt_device *dev, vt_diag *d) {
  if (dev == NULL || vt_device_same_backend(p->dev, dev)) return VT_OK;
  return VT_FAIL(d, VT_BACKEND, "backend '%s' was replaced while it was tried",
                 vt_device_name(dev));
}

/* Points *out to the probe's output expression number `k` and returns its length; returns 0 if
 * there is none. */
static size_t find_expression(const vt_probe *x, uint32_t k, const char **out) {
  const char *at = x->y;
  while (k-- > 0 && at != NULL) {
    at = strchr(at, ';');
    if (at != NULL) at += 1 + strspn(at + 1, " ");
  }
  *out = at;
  return at != NULL ? strcspn(at, ";") : 0;
}

/* Compares output `k` of the programs on the device and on the reference. Outputs are in the order
 * of their names y00, y01, ..., so output `k` is the value of expression `k`. */
static vt_status compare_output(const vt_probe *x, uint32_t k, const vt_capability *c,
                                vt_program *p, vt_program *q, vt_diag *d) {
  vt_compare v = {.size = sizeof v};
  const char *name, *y;
  vt_tensor a, b;
  VT_TRY(vt_program_output(p, k, &name, &a, d));
  VT_TRY(vt_program_output(q, k, &name, &b, d));
  VT_TRY(vt_tensor_compare(&a, &b, &v, d));
  if (v.differing == 0) return VT_OK;
  const int digits = (int)(2 * vt_dtype_bytes(a.dtype));
  const size_t n = find_expression(x, k, &y);
  return VT_FAIL(d, VT_BACKEND,
                 "backend '%s' declares %s and does not keep it: %.*s gives %0*llx at [%llu], the "
                 "reference %0*llx",
                 vt_program_backend(p), c->name, n < 60 ? (int)n : 60, y, digits,
                 (unsigned long long)v.first_a, (unsigned long long)v.first, digits,
                 (unsigned long long)v.first_b);
}

static vt_status compare_with_reference(trial *t, const vt_model *m, vt_diag *d) {
  const vt_options reference = {.size = sizeof reference,
                                .backend = "reference:0",
                                .passes = "bind,lower",
                                .alloc = t->o.alloc,
                                .threads = t->o.threads,
                                .isa = t->o.isa};
  vt_program *p = NULL, *q = NULL;
  int accepted;
  vt_diag why = {0};
  vt_status s = run_probe_on(m, &t->o, t->probe, &accepted, &p, &why);
  if (!accepted) return VT_OK; /* the device refuses the model, which is no fault */
  if (s != VT_OK)
    return VT_FAIL(d, s == VT_NOMEM ? VT_NOMEM : VT_BACKEND, "trying %s of '%.60s' fails: %.300s",
                   t->c->name, t->o.backend, why.text);
  t->models++;
  s = check_same_backend(p, t->dev, d);
  if (s == VT_OK) s = run_probe_on(m, &reference, t->probe, &accepted, &q, d);
  for (uint32_t k = 0; s == VT_OK && k < vt_program_outputs(p); k++)
    s = compare_output(t->probe, k, t->c, p, q, d);
  vt_program_free(p);
  vt_program_free(q);
  return s;
}

vt_status vt_probe_parse_model(const vt_probe *x, const vt_alloc *a, vt_model **out, vt_diag *d) {
  const char *y;
  size_t n;
  vt_text t;
  vt_text_init(&t, *a);
  vt_text_add(&t, "volta 1\nmodel probe {\n input %s\n", x->inputs);
  for (uint32_t k = 0; (n = find_expression(x, k, &y)) != 0; k++)
    vt_text_add(&t, " output y%02u = %.*s\n", k, (int)n, y);
  vt_text_add(&t, "}\n");
  vt_status s = vt_text_status(&t);
  s = s == VT_OK ? vt_model_parse(t.s, t.n, a, out, d) : VT_FAIL(d, s, "out of memory");
  vt_text_done(&t);
  return s;
}

static vt_status run_probe(trial *t, vt_diag *d) {
  vt_model *m = NULL;
  VT_TRY(vt_probe_parse_model(t->probe, t->o.alloc, &m, d));
  const vt_status s = compare_with_reference(t, m, d);
  vt_model_free(m);
  return s;
}

/* ---- capabilities ---- */

/* Runs the brief probe of the capability (brief = 1) or all its other probes (brief = 0). */
static vt_status run_brief_or_other_probes(trial *t, int brief, vt_diag *d) {
  for (uint32_t i = 0; i < N_PROBES; i++) {
    t->probe = &probes[i];
    if (probes[i].capability == t->c->bit && probes[i].brief == brief) VT_TRY(run_probe(t, d));
  }
  t->probe = NULL;
  return VT_OK;
}

/* Runs all probes of the capability if t->all, else only the brief one; if the device does not
 * accept the brief one, runs the others instead. Of all probes the brief one runs last, because the
 * message of a failed probe of a single op says more. */
static vt_status run_trial(trial *t, const vt_options *o, vt_alloc a, vt_diag *d) {
  const vt_policy policy = {.size = sizeof policy, .admission = VT_ADMISSION_WAIVED};
  t->o = (vt_options){.size = sizeof t->o,
                      .backend = o->backend,
                      .passes = "bind,lower",
                      .alloc = &a,
                      .policy = &policy,
                      .threads = o->threads,
                      .isa = o->isa};
  VT_TRY(run_brief_or_other_probes(t, !t->all, d));
  return t->all || t->models == 0 ? run_brief_or_other_probes(t, t->all, d) : VT_OK;
}

vt_status vt_capability_try(const vt_options *o, const vt_capability *c, vt_alloc a,
                            uint32_t *out_models, const vt_probe **out_broken, vt_diag *d) {
  trial t = {.c = c, .all = 1};
  const vt_status s = run_trial(&t, o, a, d);
  *out_models = t.models;
  *out_broken = t.probe;
  return s;
}

/* Runs a trial of the capability on `dev`. If it passes, the capability is proven in this process,
 * unless the device accepted no probe. A plug-in that no certificate covers gets all probes,
 * because admission has not run them on it. */
static vt_status try_capability_on_device(vt_device *dev, const vt_options *o,
                                          const vt_capability *c, vt_alloc a, vt_diag *d) {
  trial t = {.dev = dev, .c = c, .all = vt_device_unadmitted(dev)};
  VT_TRY(run_trial(&t, o, a, d));
  if (t.models != 0) vt_device_add_proven_caps(dev, c->bit);
  return VT_OK;
}

/* Does the same as try_capability_on_device for a GPU, but does not repeat a trial that passed
 * according to the cache, because it takes long to load the kernels of a GPU. */
static vt_status try_capability_cached(vt_device *dev, const vt_options *o, const vt_capability *c,
                                       vt_alloc a, vt_diag *d) {
  vt_text key;
  vt_text_init(&key, a);
  vt_status s = vt_trial_key(dev, c, &key);
  if (s != VT_OK) {
    s = VT_FAIL(d, s, "out of memory");
  } else if (vt_cache_has_trial(o->cache, &key)) {
    vt_device_add_proven_caps(dev, c->bit);
  } else {
    s = try_capability_on_device(dev, o, c, a, d);
    if (s == VT_OK && (vt_device_proven_caps(dev) & c->bit) != 0)
      vt_cache_add_trial(o->cache, &key);
  }
  vt_text_done(&key);
  return s;
}

/* Tries each capability in the bit set `untried`. */
static vt_status try_each_capability(vt_device *dev, const vt_options *o, uint64_t untried,
                                     vt_alloc a, vt_diag *d) {
  const int cached = o->cache != NULL && vt_device_kind(dev) == VT_KIND_GPU;
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    const vt_capability *c = vt_capability_at(i);
    if ((untried & c->bit) != 0)
      VT_TRY((cached ? try_capability_cached : try_capability_on_device)(dev, o, c, a, d));
  }
  return VT_OK;
}

/* The trials open the device again by its name. The hold makes sure that this opens the plug-in's
 * file content that `dev` was opened with, even if the file changes meanwhile. */
vt_status vt_capabilities_try(vt_device *dev, const vt_options *o, uint64_t needs, vt_alloc a,
                              vt_diag *d) {
  const uint64_t untried = needs & vt_device_caps(dev)->has & ~vt_device_proven_caps(dev);
  vt_hold *hold = NULL;
  if (untried == 0) return VT_OK;
  VT_TRY(vt_device_hold_plugin(dev, o->backend, &hold, d));
  const vt_status s = try_each_capability(dev, o, untried, a, d);
  vt_hold_release(hold);
  return s;
}
