/* SPDX-License-Identifier: Apache-2.0
 * case_inputs.c - draws the input values of cases from a seed that is derived from the case's name.
 * A change in this file changes every stored digest.
 *
 *   ordinary  floats of both signs with magnitudes near 1; any bit pattern of an integer
 *   special   ordinary values mixed with infinities, NaN, zeros, subnormals and limits of the types
 *   tiny      subnormals and the smallest normal numbers; integers near 0
 *   wide      floats of any exponent; integers of any magnitude
 *   zeros     zeros of both signs; the integer 0
 *   flat      the same value everywhere, which is not exact in binary
 *   few       one of a few values, so that many elements are equal
 * Values of an integer input with a declared range are in that range. */
#include <stdlib.h>
#include <string.h>
#include "vt_suite.h"

uint64_t vt_case_seed(const char *name) {
  const vt_hash256 h = vt_hash_bytes(name, strlen(name));
  uint64_t seed = 0;
  for (int i = 0; i < 8; i++) seed |= (uint64_t)h.b[i] << (8 * i);
  return seed;
}

/* Returns the next number of the random generator splitmix64. */
uint64_t vt_case_next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* How special values are mixed into a tensor. */
typedef struct special_mix {
  unsigned rare; /* one element in 2^rare is special */
  int nan;       /* 1: NaN is among the special values */
} special_mix;

/* ---- floats, as bits ---- */

typedef struct format {
  unsigned bits, fraction; /* width of the format and of its fraction, in bits */
  uint64_t flat, few[8];   /* the value of the mix `flat`, and those of the mix `few` */
} format;

/* The mix `flat` is 0.1, and `few` is -2 -1 -0 +0 1 1 1.5 2, in each format. */
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

static const format *format_of_dtype(uint32_t dtype) {
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

static uint64_t make_float(const format *f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  return (sign & 1) << (f->bits - 1) | exponent << f->fraction |
         (fraction & ((UINT64_C(1) << f->fraction) - 1));
}

static uint64_t draw_ordinary_float(const format *f, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state),
                 bias = (UINT64_C(1) << (f->bits - f->fraction - 2)) - 1;
  return make_float(f, r >> 63, bias - 7 + (r >> 52 & 0x3ff) % 12, r);
}

/* Draws one of: a zero, an infinity, a NaN if `how` has them, the greatest float, the smallest
 * normal one, a subnormal, a power of two or the float above it, a power of two up to the limits of
 * the integer types, a number of 1 to 248 with five significant bits, any finite bit pattern. Each
 * has either sign. */
static uint64_t draw_special_float(const format *f, const special_mix *how, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state), u = vt_case_next_random(state), sign = r >> 63;
  const uint64_t top = (UINT64_C(1) << (f->bits - f->fraction - 1)) - 1, bias = top / 2;
  switch (r % 16) {
    case 0:
    case 1:
      return make_float(f, sign, 0, 0);
    case 2:
      return make_float(f, sign, top, 0);
    case 3:
      return how->nan ? make_float(f, sign, top, u | 1) : make_float(f, sign, top, 0);
    case 4:
      return make_float(f, sign, top - 1, UINT64_MAX);
    case 5:
      return make_float(f, sign, 1, 0);
    case 6:
      return make_float(f, sign, 0, u);
    case 7:
      return make_float(f, sign, 0, u & 1 ? 1 : UINT64_MAX);
    case 8:
      return make_float(f, sign, bias, u & 1 ? u >> 1 & 1 : 0);
    case 9:
    case 10:
      return make_float(f, sign, (u >> 8) % top, u & 1);
    case 11:
      return make_float(f, sign, bias + (u >> 8) % (f->bits < 32 ? 14 : 66), 0);
    case 12:
      return make_float(f, sign, bias + (u >> 8) % 8, u << (f->fraction - 4));
    default:
      return make_float(f, sign, (u >> 32) % top, u);
  }
}

static uint64_t draw_float(const format *f, int mix, const special_mix *how, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state);
  const uint64_t top = (UINT64_C(1) << (f->bits - f->fraction - 1)) - 1;
  switch (mix) {
    case VT_MIX_SPECIAL:
      return r >> (64 - how->rare) == 0 ? draw_special_float(f, how, state)
                                        : draw_ordinary_float(f, state);
    case VT_MIX_TINY:
      return make_float(f, r >> 63, r >> 62 & 1, vt_case_next_random(state));
    case VT_MIX_WIDE:
      return make_float(f, r >> 63, (r >> 32 & 0xffffff) % top, vt_case_next_random(state));
    case VT_MIX_ZEROS:
      return make_float(f, r >> 63, 0, 0);
    case VT_MIX_FLAT:
      return f->flat;
    case VT_MIX_FEW:
      return f->few[r >> 61];
    default:
      return draw_ordinary_float(f, state);
  }
}

/* ---- integers ---- */

static uint64_t draw_special_int(unsigned bits, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state), top = UINT64_C(1) << (bits - 1);
  const uint64_t edge[8] = {0, 1, UINT64_MAX, top, top - 1, top + 1, bits, bits - 1};
  return edge[r >> 61];
}

static uint64_t draw_int(unsigned bits, int mix, const special_mix *how, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state);
  switch (mix) {
    case VT_MIX_SPECIAL:
      return r >> (64 - how->rare) == 0 ? draw_special_int(bits, state)
                                        : vt_case_next_random(state);
    case VT_MIX_TINY:
      return r % 7 - 3;
    case VT_MIX_WIDE:
      return (r & 1 ? UINT64_MAX : 0) ^
             vt_case_next_random(state) >> (64 - bits) >> (r >> 1) % bits;
    case VT_MIX_ZEROS:
      return 0;
    case VT_MIX_FLAT:
      return 7;
    case VT_MIX_FEW:
      return r % 4 - 1;
    default:
      return r;
  }
}

static uint64_t draw_int_in_range(int64_t lo, int64_t hi, int mix, uint64_t seed, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state), n = (uint64_t)hi - (uint64_t)lo + 1,
                 from = (uint64_t)lo;
  switch (mix) {
    case VT_MIX_SPECIAL:
      return r >> 62 == 0 ? from : r >> 62 == 1 ? (uint64_t)hi : from + (n == 0 ? r : r % n);
    case VT_MIX_ZEROS:
      return lo <= 0 && hi >= 0 ? 0 : from;
    case VT_MIX_FLAT:
      return from + (n == 0 ? seed : seed % n);
    case VT_MIX_FEW:
      return from + r % (n < 3 && n > 0 ? n : 3);
    default:
      return from + (n == 0 ? r : r % n);
  }
}

static uint64_t draw_bool(int mix, uint64_t *state) {
  const uint64_t r = vt_case_next_random(state);
  return mix == VT_MIX_ZEROS  ? 0
         : mix == VT_MIX_FLAT ? 1
         : mix == VT_MIX_FEW  ? r >> 61 == 0
                              : r >> 63;
}

/* Returns 1 and the limits if the port declares a range. */
static int read_declared_range(const vt_port_info *info, int64_t *lo, int64_t *hi) {
  char *end;
  if (strncmp(info->extra, "in ", 3) != 0) return 0;
  *lo = strtoll(info->extra + 3, &end, 10);
  if (strncmp(end, "..", 2) != 0) return 0;
  *hi = strtoll(end + 2, &end, 10);
  return *end == 0;
}

/* ---- tensors ---- */

/* Parses the dimensions of a type such as "f32[2, 3]"; returns 0 if one is symbolic. */
static int parse_type_of_port(vt_tensor *t, const vt_port_info *info) {
  const char *s = strchr(info->type, '[');
  *t = (vt_tensor){.dtype = info->dtype, .rank = info->rank};
  for (uint32_t i = 0; i < info->rank; i++) {
    char *rest;
    if (s == NULL || *s == ']') return 0;
    t->dim[i] = strtoll(s + 1, &rest, 10);
    if (rest == s + 1 || (*rest != ',' && *rest != ']')) return 0;
    s = rest;
  }
  return 1;
}

/* Adds an input for the port, filled with zeros. */
static vt_status add_input_of_port(vt_case_inputs *in, const vt_port_info *info, vt_diag *d) {
  vt_case_input *x = &in->input[in->n];
  uint64_t count, bytes;
  x->info = *info;
  if (!parse_type_of_port(&x->t, info))
    return VT_FAIL(d, VT_FORMAT, "a case has the symbolic type %.100s", info->type);
  VT_TRY(vt_tensor_bytes(&x->t, &count, &bytes, d));
  x->t.data = vt_arena_array(&in->arena, (size_t)bytes, 1);
  if (x->t.data == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  in->n++;
  return VT_OK;
}

static vt_status add_inputs_of_model(vt_case_inputs *in, const vt_model *m, vt_diag *d) {
  vt_port_info info;
  in->input = VT_NEW_N(&in->arena, vt_case_input, vt_model_ports(m));
  if (in->input == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; vt_model_port(m, i, &info) == VT_OK; i++)
    if (info.kind != VT_PORT_OUTPUT) VT_TRY(add_input_of_port(in, &info, d));
  return VT_OK;
}

vt_status vt_case_inputs_init(const vt_model *m, const vt_alloc *alloc, vt_case_inputs *out,
                              vt_diag *d) {
  vt_case_inputs in = {0};
  vt_arena_init(&in.arena, alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default());
  const vt_status s = add_inputs_of_model(&in, m, d);
  if (s == VT_OK) *out = in;
  if (s != VT_OK) vt_case_inputs_done(&in);
  return s;
}

void vt_case_inputs_done(vt_case_inputs *in) {
  vt_arena_done(&in->arena);
  *in = (vt_case_inputs){0};
}

static uint64_t element_count(const vt_tensor *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
  return n;
}

void vt_case_input_draw(vt_case_input *x, int mix, uint64_t seed) {
  static const unsigned rare[4] = {1, 3, 5, 8};
  uint64_t state = seed;
  const format *f = format_of_dtype(x->t.dtype);
  const size_t size = (size_t)vt_dtype_bytes(x->t.dtype);
  const uint64_t n = element_count(&x->t), how = vt_case_next_random(&state);
  const special_mix s = {rare[n <= 8 ? how % 2 : how % 4], how >> 63 == 0};
  int64_t lo = 0, hi = 0;
  const int ranged = read_declared_range(&x->info, &lo, &hi);
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t bits = f != NULL                     ? draw_float(f, mix, &s, &state)
                          : x->t.dtype == VT_DTYPE_BOOL ? draw_bool(mix, &state)
                          : ranged ? draw_int_in_range(lo, hi, mix, seed, &state)
                                   : draw_int((unsigned)size * 8, mix, &s, &state);
    memcpy((char *)x->t.data + i * size, &bits, size);
  }
}

void vt_case_inputs_draw(vt_case_inputs *in, int mix, uint64_t seed) {
  for (uint32_t i = 0; i < in->n; i++)
    vt_case_input_draw(&in->input[i], mix, seed ^ vt_case_seed(in->input[i].info.name));
}

vt_status vt_case_inputs_set(const vt_case_inputs *in, vt_program *p, vt_diag *d) {
  for (uint32_t i = 0; i < in->n; i++) {
    const vt_case_input *x = &in->input[i];
    if (x->info.kind == VT_PORT_INPUT) VT_TRY(vt_program_set_input(p, x->info.name, &x->t, d));
    if (x->info.kind == VT_PORT_PARAM) VT_TRY(vt_program_set_param(p, x->info.name, &x->t, d));
  }
  return VT_OK;
}
