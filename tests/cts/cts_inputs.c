/* SPDX-License-Identifier: Apache-2.0
 * cts_inputs.c - the values that cases are run on, drawn from a seed that is made of the case's
 * name. A change here changes every stored digest.
 *
 *   ordinary  floats about 1 of both signs; every bit pattern of an integer
 *   special   ordinary with infinities, NaN, zeros, subnormals and the edges of types sprinkled in
 *   tiny      subnormals and the least normal numbers; integers about 0
 *   wide      every exponent; integers of every magnitude
 *   zeros     zeros of both signs; 0
 *   flat      one value everywhere, not exact in binary
 *   few       a handful of values, so that many are equal
 * An integer input with a range stays in it. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_hash.h"

uint64_t cts_seed(const char *name) {
  const vt_hash256 h = vt_hash_bytes(name, strlen(name));
  uint64_t seed = 0;
  for (int i = 0; i < 8; i++) seed |= (uint64_t)h.b[i] << (8 * i);
  return seed;
}

/* splitmix64 */
uint64_t cts_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

double cts_uniform(uint64_t *state) { return (double)(cts_random(state) >> 11) * 0x1p-53; }

/* How special values are mixed into one tensor. */
typedef struct sprinkle {
  unsigned rare; /* one element in 2^rare is special */
  int nan;       /* NaN is among them */
} sprinkle;

/* ---- floats, as bits ---- */

typedef struct format {
  unsigned bits, fraction; /* all, and of the fraction */
  uint64_t flat, few[8];
} format;

/* 0.1 and -2 -1 -0 +0 1 1 1.5 2 in each format. */
static const format f32 = {
    32,
    23,
    0x3dcccccd,
    {0xc0000000, 0xbf800000, 0x80000000, 0, 0x3f800000, 0x3f800000, 0x3fc00000, 0x40000000}};
static const format f64 = {
    64,
    52,
    0x3fb999999999999a,
    {0xc000000000000000, 0xbff0000000000000, 0x8000000000000000, 0, 0x3ff0000000000000,
     0x3ff0000000000000, 0x3ff8000000000000, 0x4000000000000000}};
static const format f16 = {
    16, 10, 0x2e66, {0xc000, 0xbc00, 0x8000, 0, 0x3c00, 0x3c00, 0x3e00, 0x4000}};
static const format bf16 = {
    16, 7, 0x3dcd, {0xc000, 0xbf80, 0x8000, 0, 0x3f80, 0x3f80, 0x3fc0, 0x4000}};

static const format *format_of(uint32_t dtype) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return &f32;
    case VT_DTYPE_F64:
      return &f64;
    case VT_DTYPE_F16:
      return &f16;
    case VT_DTYPE_BF16:
      return &bf16;
    default:
      return NULL;
  }
}

static uint64_t float_of(const format *f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  return (sign & 1) << (f->bits - 1) | exponent << f->fraction |
         (fraction & ((UINT64_C(1) << f->fraction) - 1));
}

static uint64_t ordinary_float(const format *f, uint64_t *state) {
  const uint64_t r = cts_random(state), bias = (UINT64_C(1) << (f->bits - f->fraction - 2)) - 1;
  return float_of(f, r >> 63, bias - 7 + (r >> 52 & 0x3ff) % 12, r);
}

/* Infinity, zero, the greatest, the least normal, subnormals, numbers with few bits, whole numbers
 * at the ends of the integer types and halves of them, and any bits at all. */
static uint64_t special_float(const format *f, const sprinkle *how, uint64_t *state) {
  const uint64_t r = cts_random(state), u = cts_random(state), sign = r >> 63;
  const uint64_t top = (UINT64_C(1) << (f->bits - f->fraction - 1)) - 1, bias = top / 2;
  switch (r % 16) {
    case 0:
    case 1:
      return float_of(f, sign, 0, 0);
    case 2:
      return float_of(f, sign, top, 0);
    case 3:
      return how->nan ? float_of(f, sign, top, u | 1) : float_of(f, sign, top, 0);
    case 4:
      return float_of(f, sign, top - 1, UINT64_MAX);
    case 5:
      return float_of(f, sign, 1, 0);
    case 6:
      return float_of(f, sign, 0, u);
    case 7:
      return float_of(f, sign, 0, u & 1 ? 1 : UINT64_MAX);
    case 8:
      return float_of(f, sign, bias, u & 1 ? u >> 1 & 1 : 0);
    case 9:
    case 10:
      return float_of(f, sign, (u >> 8) % top, u & 1);
    case 11:
      return float_of(f, sign, bias + (u >> 8) % (f->bits < 32 ? 14 : 66), 0);
    case 12:
      return float_of(f, sign, bias + (u >> 8) % 8, u << (f->fraction - 4));
    default:
      return float_of(f, sign, (u >> 32) % top, u);
  }
}

static uint64_t some_float(const format *f, int mix, const sprinkle *how, uint64_t *state) {
  const uint64_t r = cts_random(state);
  const uint64_t top = (UINT64_C(1) << (f->bits - f->fraction - 1)) - 1;
  switch (mix) {
    case CTS_SPECIAL:
      return r >> (64 - how->rare) == 0 ? special_float(f, how, state) : ordinary_float(f, state);
    case CTS_TINY:
      return float_of(f, r >> 63, r >> 62 & 1, cts_random(state));
    case CTS_WIDE:
      return float_of(f, r >> 63, (r >> 32 & 0xffffff) % top, cts_random(state));
    case CTS_ZEROS:
      return float_of(f, r >> 63, 0, 0);
    case CTS_FLAT:
      return f->flat;
    case CTS_FEW:
      return f->few[r >> 61];
    default:
      return ordinary_float(f, state);
  }
}

/* ---- integers ---- */

static uint64_t special_int(unsigned bits, uint64_t *state) {
  const uint64_t r = cts_random(state), top = UINT64_C(1) << (bits - 1);
  const uint64_t edge[8] = {0, 1, UINT64_MAX, top, top - 1, top + 1, bits, bits - 1};
  return edge[r >> 61];
}

static uint64_t some_int(unsigned bits, int mix, const sprinkle *how, uint64_t *state) {
  const uint64_t r = cts_random(state);
  switch (mix) {
    case CTS_SPECIAL:
      return r >> (64 - how->rare) == 0 ? special_int(bits, state) : cts_random(state);
    case CTS_TINY:
      return r % 7 - 3;
    case CTS_WIDE:
      return (r & 1 ? UINT64_MAX : 0) ^ cts_random(state) >> (64 - bits) >> (r >> 1) % bits;
    case CTS_ZEROS:
      return 0;
    case CTS_FLAT:
      return 7;
    case CTS_FEW:
      return r % 4 - 1;
    default:
      return r;
  }
}

static uint64_t int_between(int64_t lo, int64_t hi, int mix, uint64_t seed, uint64_t *state) {
  const uint64_t r = cts_random(state), n = (uint64_t)hi - (uint64_t)lo + 1, from = (uint64_t)lo;
  switch (mix) {
    case CTS_SPECIAL:
      return r >> 62 == 0 ? from : r >> 62 == 1 ? (uint64_t)hi : from + (n == 0 ? r : r % n);
    case CTS_ZEROS:
      return lo <= 0 && hi >= 0 ? 0 : from;
    case CTS_FLAT:
      return from + (n == 0 ? seed : seed % n);
    case CTS_FEW:
      return from + r % (n < 3 && n > 0 ? n : 3);
    default:
      return from + (n == 0 ? r : r % n);
  }
}

static uint64_t some_bool(int mix, uint64_t *state) {
  const uint64_t r = cts_random(state);
  return mix == CTS_ZEROS ? 0 : mix == CTS_FLAT ? 1 : mix == CTS_FEW ? r >> 61 == 0 : r >> 63;
}

int cts_port_range(const vt_port_info *info, int64_t *lo, int64_t *hi) {
  char *end;
  if (strncmp(info->extra, "in ", 3) != 0) return 0;
  *lo = strtoll(info->extra + 3, &end, 10);
  if (strncmp(end, "..", 2) != 0) return 0;
  *hi = strtoll(end + 2, &end, 10);
  return *end == 0;
}

/* ---- tensors ---- */

uint64_t cts_count(const vt_tensor *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
  return n;
}

/* The dimensions of "f32[2, 3]". */
static void take_dims(vt_tensor *t, const vt_port_info *info) {
  const char *s = strchr(info->type, '[') + 1;
  *t = (vt_tensor){.dtype = info->dtype, .rank = info->rank};
  for (uint32_t i = 0; i < info->rank; i++) {
    char *rest;
    t->dim[i] = strtoll(s, &rest, 10);
    if (rest == s) cts_die("a case has the symbolic type %s", info->type);
    s = rest + strspn(rest, ", ");
  }
}

void cts_inputs_new(cts_inputs *in, const vt_model *m) {
  vt_port_info info;
  in->n = 0;
  in->port = calloc(vt_model_ports(m) + 1, sizeof *in->port);
  if (in->port == NULL) cts_die("out of memory");
  for (uint32_t i = 0; vt_model_port(m, i, &info) == VT_OK; i++) {
    if (info.kind == VT_PORT_OUTPUT) continue;
    cts_port *p = &in->port[in->n++];
    p->info = info;
    take_dims(&p->t, &info);
    p->t.data = calloc((size_t)(cts_count(&p->t) * vt_dtype_bytes(info.dtype)) + 1, 1);
    if (p->t.data == NULL) cts_die("out of memory");
  }
}

void cts_inputs_free(cts_inputs *in) {
  for (uint32_t i = 0; i < in->n; i++) free(in->port[i].t.data);
  free(in->port);
  *in = (cts_inputs){0};
}

static void draw_port(cts_port *p, int mix, uint64_t seed) {
  static const unsigned rare[4] = {1, 3, 5, 8};
  uint64_t state = seed;
  const format *f = format_of(p->t.dtype);
  const size_t size = (size_t)vt_dtype_bytes(p->t.dtype);
  const uint64_t n = cts_count(&p->t), how = cts_random(&state);
  const sprinkle s = {rare[n <= 8 ? how % 2 : how % 4], how >> 63 == 0};
  int64_t lo, hi;
  const int ranged = cts_port_range(&p->info, &lo, &hi);
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t bits = f != NULL                     ? some_float(f, mix, &s, &state)
                          : p->t.dtype == VT_DTYPE_BOOL ? some_bool(mix, &state)
                          : ranged                      ? int_between(lo, hi, mix, seed, &state)
                                   : some_int((unsigned)size * 8, mix, &s, &state);
    memcpy((char *)p->t.data + i * size, &bits, size);
  }
}

void cts_inputs_draw(cts_inputs *in, int mix, uint64_t seed) {
  for (uint32_t i = 0; i < in->n; i++)
    draw_port(&in->port[i], mix, seed ^ cts_seed(in->port[i].info.name));
}

/* ---- values for derivatives ---- */

double cts_load(const vt_tensor *t, uint64_t i) {
  return t->dtype == VT_DTYPE_F32 ? (double)((const float *)t->data)[i]
                                  : ((const double *)t->data)[i];
}

void cts_store(vt_tensor *t, uint64_t i, double x) {
  if (t->dtype == VT_DTYPE_F32) {
    ((float *)t->data)[i] = (float)x;
  } else {
    ((double *)t->data)[i] = x;
  }
}

/* An even number of equal cells over the domain, at most one element in each and away from its
 * edges: the middle of the domain, where many functions bend, is an edge. */
static void spread_port(cts_port *p, double lo, double hi, uint64_t seed) {
  uint64_t state = seed;
  const uint64_t n = cts_count(&p->t), cells = n < 32 ? 32 : n + n % 2;
  uint64_t *cell = malloc((size_t)cells * sizeof *cell);
  if (cell == NULL) cts_die("out of memory");
  for (uint64_t i = 0; i < cells; i++) cell[i] = i;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t j = i + cts_random(&state) % (cells - i), t = cell[i];
    cell[i] = cell[j];
    cell[j] = t;
    const double at = (double)cell[i] + 0.25 + 0.5 * cts_uniform(&state);
    cts_store(&p->t, i, lo + (hi - lo) * at / (double)cells);
  }
  free(cell);
}

void cts_inputs_spread(cts_inputs *in, const cts_block *b, uint64_t seed) {
  for (uint32_t i = 0; i < in->n; i++) {
    cts_port *p = &in->port[i];
    const uint64_t own = seed ^ cts_seed(p->info.name);
    double lo = -2, hi = 2;
    for (uint32_t k = 0; k < b->n_domains; k++)
      if (strcmp(b->domain[k].input, p->info.name) == 0) lo = b->domain[k].lo, hi = b->domain[k].hi;
    if (p->t.dtype == VT_DTYPE_F32 || p->t.dtype == VT_DTYPE_F64) {
      spread_port(p, lo, hi, own);
    } else {
      draw_port(p, CTS_ORDINARY, own);
    }
  }
}

vt_status cts_inputs_give(const cts_inputs *in, vt_program *p, vt_diag *d) {
  for (uint32_t i = 0; i < in->n; i++) {
    const cts_port *x = &in->port[i];
    if (x->info.kind == VT_PORT_INPUT) VT_TRY(vt_program_set_input(p, x->info.name, &x->t, d));
    if (x->info.kind == VT_PORT_PARAM) VT_TRY(vt_program_set_param(p, x->info.name, &x->t, d));
  }
  return VT_OK;
}
