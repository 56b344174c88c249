/* SPDX-License-Identifier: Apache-2.0
 * attr.c - the groups of attrs.def as tables of fields, and the functions that loop over the
 * fields. A word is one of the names of words.def, stored as its number. */
#include <string.h>
#include "vt_attr.h"
#include "vt_decimal.h"
#include "vt_num.h"
#include "vt_op.h"

/* The default attributes: one constant struct for each group. The default of a list is empty. */
#define VT_SET_FLAG(field, value) .field = (value),
#define VT_SET_INT(field, value) .field = (value),
#define VT_SET_REAL(field, value) .field = (value),
#define VT_SET_DTYPE(field, value) .field = (value),
#define VT_SET_AXIS(field, value) .field = (value),
#define VT_SET_AXES(field, value) .field = {.n = (value)},
#define VT_SET_INTS(field, value) .field = {.n = (value)},
#define VT_SET_DIMS(field, value) .field = {.n = (value)},
#define VT_SET_BITS(field, value) .field = (value),
#define VT_SET_ORDER(field, value) .field = (value),
#define VT_SET_DIM(field, value) .field = (value),
#define VT_SET_WORD(field, value) .field = (value),
#define VT_SET_TEXT(field, value) .field = {{value}},
#define VT_NOTHING
#define VT_R(kind, field) VT_SET_##kind(field, 0)
#define VT_F(kind, field, value) VT_SET_##kind(field, value)
#define VT_L(kind, field, value) VT_SET_##kind(field, value)
#define VT_ATTRS(group, fields) \
  static const vt_attr_##group default_##group = {.size = sizeof(vt_attr_##group), fields};
#include "attrs.def"
#undef VT_ATTRS
#undef VT_L
#undef VT_F
#undef VT_R

#include "attr_fields.inc"

#define VT_ATTRS(group, fields)                                                                    \
  const vt_attr_group vt_attr_group_##group = {#group, sizeof(vt_attr_##group), &default_##group,  \
                                               sizeof fields_##group / sizeof *fields_##group - 1, \
                                               fields_##group};
#include "attrs.def"
#undef VT_ATTRS

static const struct {
  const char *text;
  int64_t number;
} words[] = {
#define VT_WORD(word, number) {#word, number},
#include "words.def"
#undef VT_WORD
};
enum { N_WORDS = sizeof words / sizeof *words };

const char *vt_word_text(int64_t number) {
  for (uint32_t i = 0; i < N_WORDS; i++)
    if (words[i].number == number) return words[i].text;
  return NULL;
}

int64_t vt_word_find(const char *text) {
  for (uint32_t i = 0; i < N_WORDS; i++)
    if (strcmp(words[i].text, text) == 0) return words[i].number;
  return -1;
}

int64_t *vt_attr_int(void *attrs, const vt_attr_field *f) {
  return (int64_t *)(void *)((char *)attrs + f->offset);
}

double *vt_attr_real(void *attrs, const vt_attr_field *f) {
  return (double *)(void *)((char *)attrs + f->offset);
}

vt_attr_list *vt_attr_ints(void *attrs, const vt_attr_field *f) {
  return (vt_attr_list *)(void *)((char *)attrs + f->offset);
}

vt_attr_text *vt_attr_string(void *attrs, const vt_attr_field *f) {
  return (vt_attr_text *)(void *)((char *)attrs + f->offset);
}

const vt_attr_field *vt_attr_find(const vt_attr_group *g, const char *name) {
  for (uint32_t i = 0; i < g->n_fields; i++)
    if (strcmp(g->fields[i].name, name) == 0) return &g->fields[i];
  return NULL;
}

static void print_list(const vt_attr_list *list, const vt_dims *dims, vt_text *out) {
  vt_text_add(out, "[");
  for (int64_t i = 0; i < list->n; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : ", ");
    vt_dim_print(dims, list->v[i], out);
  }
  vt_text_add(out, "]");
}

static void print_real(double x, vt_text *out) {
  char text[VT_DECIMAL_MAX];
  vt_decimal_print_f64(x, text);
  vt_text_add(out, "%s", text);
}

static void print_field(const vt_attr_field *f, const char *place, const vt_dims *dims,
                        vt_text *out) {
  int64_t whole;
  double real;
  vt_attr_list list;
  memcpy(&whole, place, sizeof whole);
  memcpy(&real, place, sizeof real);
  switch (f->kind) {
    case VT_ATTR_FLAG:
      vt_text_add(out, "%s", whole ? "true" : "false");
      return;
    case VT_ATTR_INT:
    case VT_ATTR_AXIS:
      vt_text_add(out, "%lld", (long long)whole);
      return;
    case VT_ATTR_REAL:
      print_real(real, out);
      return;
    case VT_ATTR_DTYPE:
      vt_text_add(out, "%s", vt_dtype_name((uint32_t)whole));
      return;
    case VT_ATTR_BITS:
      vt_text_add(out, "0x%llx", (unsigned long long)whole);
      return;
    case VT_ATTR_ORDER:
      vt_text_add(out, "fma256");
      return;
    case VT_ATTR_DIM:
      vt_dim_print(dims, whole, out);
      return;
    case VT_ATTR_WORD:
      vt_text_add(out, "%s", vt_word_text(whole) != NULL ? vt_word_text(whole) : "?");
      return;
    case VT_ATTR_TEXT:
      vt_text_add(out, "\"%.*s\"", (int)sizeof(vt_attr_text), place);
      return;
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
    case VT_ATTR_DIMS:
      memcpy(&list, place, sizeof list);
      print_list(&list, dims, out);
      return;
  }
}

/* Whether attributes are printed without field f: it is late (added after the first release of its
 * group) and has its default. Every late field is 8 bytes long. */
static int is_left_out(const vt_attr_group *g, const vt_attr_field *f, const void *attrs) {
  return f->late && memcmp((const char *)attrs + f->offset, (const char *)g->defaults + f->offset,
                           sizeof(int64_t)) == 0;
}

void vt_attr_print(const vt_attr_group *g, const void *attrs, const vt_dims *dims, vt_text *out) {
  for (uint32_t i = 0; i < g->n_fields; i++) {
    if (is_left_out(g, &g->fields[i], attrs)) continue;
    vt_text_add(out, "%s%s=", i == 0 ? "" : ", ", g->fields[i].name);
    print_field(&g->fields[i], (const char *)attrs + g->fields[i].offset, dims, out);
  }
}

void vt_literal_print(uint32_t dtype, uint64_t bits, vt_text *out) {
  char text[VT_DECIMAL_MAX] = "";
  switch (dtype) {
    case VT_DTYPE_F32:
      vt_decimal_print_f32(vt_f32_from_bits((uint32_t)bits), text);
      break;
    case VT_DTYPE_F64:
      vt_decimal_print_f64(vt_f64_from_bits(bits), text);
      break;
    case VT_DTYPE_F16:
      vt_decimal_print_f32(vt_f16_to_f32((uint16_t)bits), text);
      break;
    case VT_DTYPE_BF16:
      vt_decimal_print_f32(vt_bf16_to_f32((uint16_t)bits), text);
      break;
    case VT_DTYPE_BOOL:
      vt_text_add(out, "%s", bits ? "true" : "false");
      return;
    case VT_DTYPE_U8:
      vt_text_add(out, "%u", (unsigned)(uint8_t)bits);
      return;
    case VT_DTYPE_I8:
      vt_text_add(out, "%d", (int)(int8_t)bits);
      return;
    case VT_DTYPE_I32:
      vt_text_add(out, "%ld", (long)(int32_t)bits);
      return;
    default:
      vt_text_add(out, "%lld", (long long)bits);
      return;
  }
  vt_text_add(out, "%s", text);
}

vt_status vt_attr_bind(const vt_attr_group *g, const void *attrs, const vt_dims *dims,
                       const int64_t *value, vt_arena *ar, void **out, vt_diag *d) {
  void *copy = vt_arena_copy(ar, attrs, g->size);
  if (copy == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < g->n_fields; i++) {
    int64_t *one = vt_attr_int(copy, &g->fields[i]);
    if (g->fields[i].kind == VT_ATTR_DIM) VT_TRY(vt_dim_bind(dims, value, *one, one, d));
    if (g->fields[i].kind != VT_ATTR_DIMS) continue;
    vt_attr_list *list = vt_attr_ints(copy, &g->fields[i]);
    for (int64_t k = 0; k < list->n; k++)
      VT_TRY(vt_dim_bind(dims, value, list->v[k], &list->v[k], d));
  }
  *out = copy;
  return VT_OK;
}
