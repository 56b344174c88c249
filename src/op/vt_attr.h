/* SPDX-License-Identifier: Apache-2.0
 * vt_attr.h - the attribute groups of attrs.def as data: for each group its fields with their kinds
 * and offsets. Printing, parsing, binding and hashing are each one loop over the fields. */
#ifndef VT_ATTR_H
#define VT_ATTR_H
#include <stddef.h>
#include "volta/volta_ops.h"
#include "vt_dim.h"

typedef enum vt_attr_kind {
  VT_ATTR_FLAG,
  VT_ATTR_INT,
  VT_ATTR_REAL,
  VT_ATTR_DTYPE,
  VT_ATTR_AXIS,
  VT_ATTR_AXES,
  VT_ATTR_INTS,
  VT_ATTR_DIMS,
  VT_ATTR_BITS,
  VT_ATTR_ORDER,
  VT_ATTR_DIM,
  VT_ATTR_WORD,
  VT_ATTR_TEXT,
} vt_attr_kind;

typedef struct vt_attr_field {
  const char *name;
  vt_attr_kind kind;
  uint32_t required;
  uint32_t late; /* 1 if the field was added after the first release of its group: it is not printed
                    if it has its default */
  size_t offset; /* byte offset of the field in the group's struct; the field is an int64_t, double,
                    vt_attr_list or vt_attr_text */
} vt_attr_field;

typedef struct vt_attr_group {
  const char *name;
  size_t size;
  /* a struct of the group, in which `size` and every optional field are set */
  const void *defaults;
  uint32_t n_fields;
  const vt_attr_field *fields;
} vt_attr_group;

#define VT_NOTHING
#define VT_ATTRS(group, fields) extern const vt_attr_group vt_attr_group_##group;
#include "attrs.def"
#undef VT_ATTRS
#undef VT_NOTHING

/* The word that has a number, and the number of a word, by words.def; NULL and -1 if there is no
 * such word. */
const char *vt_word_text(int64_t number);
int64_t vt_word_find(const char *text);

/* Return a pointer to field `f` inside `attrs`, a struct of its group. */
int64_t *vt_attr_int(void *attrs, const vt_attr_field *f);
double *vt_attr_real(void *attrs, const vt_attr_field *f);
vt_attr_list *vt_attr_ints(void *attrs, const vt_attr_field *f);
vt_attr_text *vt_attr_string(void *attrs, const vt_attr_field *f);
const vt_attr_field *vt_attr_find(const vt_attr_group *g, const char *name);

/* Appends every field in table order in the syntax of the text form: "axis=1, keep=true". A BITS
 * field is appended as a hexadecimal bit pattern, because its value would need the dtype;
 * vt_literal_print appends a literal as a value. */
void vt_attr_print(const vt_attr_group *g, const void *attrs, const vt_dims *dims, vt_text *out);
/* Appends the value of a literal as text: "0.5", "-3", "true". */
void vt_literal_print(uint32_t dtype, uint64_t bits, vt_text *out);
/* Copies `attrs` into the arena `ar` and replaces every dimension by its value; value[i] is the
 * value of symbol i. */
vt_status vt_attr_bind(const vt_attr_group *g, const void *attrs, const vt_dims *dims,
                       const int64_t *value, vt_arena *ar, void **out, vt_diag *d) VT_NODISCARD;
#endif
