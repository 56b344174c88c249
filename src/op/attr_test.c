/* SPDX-License-Identifier: Apache-2.0
 * attr_test.c - tests the tables of attributes: the published layout of the attribute groups, their
 * defaults, and how attributes are printed, found and bound. */
#include <string.h>
#include "vt_attr.h"
#include "vt_num.h"
#include "vt_test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The size of each group and its printed defaults. Layout and order of the fields are part of the
 * ABI, so this second list makes a change fail. */
static const struct {
  const vt_attr_group *group;
  size_t size;
  const char *defaults; /* NULL if a field has no default */
} groups[] = {
    {&vt_attr_group_none, 8, ""},
    {&vt_attr_group_literal, 24, NULL},
    {&vt_attr_group_iota, 96, "shape=[], axis=0, dtype=i64"},
    {&vt_attr_group_cast, 16, NULL},
    {&vt_attr_group_reduce, 88, "axes=[], keep=false"},
    {&vt_attr_group_axis, 16, "axis=-1"},
    {&vt_attr_group_matmul, 32, "transpose_a=false, transpose_b=false, order=fma256"},
    {&vt_attr_group_gather, 24, "axis=0, batch=0"},
    {&vt_attr_group_slice, 224, "start=[], stop=[], step=[]"},
    {&vt_attr_group_pad, 152, "low=[], high=[]"},
    {&vt_attr_group_shape, 80, "shape=[]"},
    {&vt_attr_group_perm, 80, "perm=[]"},
    {&vt_attr_group_random, 88, "shape=[], stream=0"},
    {&vt_attr_group_norm, 16, "eps=1e-05"},
    {&vt_attr_group_attention, 40, "causal=false, scale=0.0, order=fma256"},
    {&vt_attr_group_entropy, 32, "ignore=-100"},
    {&vt_attr_group_einsum, 136, "equation=\"\", order=fma256"},
    {&vt_attr_group_fill, 16, "value=0.0"},
    {&vt_attr_group_normal, 24, "std=1.0, stream=-1"},
    {&vt_attr_group_uniform, 32, "low=-1.0, high=1.0, stream=-1"},
    {&vt_attr_group_fan, 40, "fan_in=0, fan_out=0, stream=-1"},
};

static vt_dims no_dims;

static int prints_as(const vt_attr_group *g, const void *attrs, const vt_dims *dims,
                     const char *want) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_attr_print(g, attrs, dims, &t);
  const char *got = t.s == NULL ? "" : t.s; /* t.s is NULL if nothing was printed */
  const int same = vt_text_status(&t) == VT_OK && strcmp(got, want) == 0;
  if (!same) fprintf(stderr, "%s printed '%s', expected '%s'\n", g->name, got, want);
  vt_text_done(&t);
  return same;
}

static size_t field_bytes(const vt_attr_field *f) {
  if (f->kind == VT_ATTR_TEXT) return sizeof(vt_attr_text);
  const int list = f->kind == VT_ATTR_AXES || f->kind == VT_ATTR_INTS || f->kind == VT_ATTR_DIMS;
  return list ? sizeof(vt_attr_list) : 8;
}

/* ---- layout ---- */

static void test_layout_of_structs(void) {
  for (size_t i = 0; i < COUNT(groups); i++) {
    const vt_attr_group *g = groups[i].group;
    uint64_t size = 0;
    size_t next = sizeof size; /* the fields are stored after `size`, in order and without gaps */
    memcpy(&size, g->defaults, sizeof size);
    CHECK(g->size == groups[i].size && size == g->size);
    for (uint32_t k = 0; k < g->n_fields; k++) {
      const vt_attr_field *f = &g->fields[k];
      CHECK(f->name[0] != 0 && f->offset == next);
      next += field_bytes(f);
      for (uint32_t n = 0; n < k; n++) CHECK(strcmp(f->name, g->fields[n].name) != 0);
      CHECK(vt_attr_find(g, f->name) == f);
    }
    CHECK(next == g->size);
    CHECK(vt_attr_find(g, "") == NULL && vt_attr_find(g, "size") == NULL);
  }
  CHECK(sizeof(vt_attr_list) == 72 && sizeof(vt_attr_text) == 120);
}

static void test_required_fields(void) {
  static const struct {
    const vt_attr_group *group;
    const char *name;
    uint32_t required;
    vt_attr_kind kind;
  } rows[] = {{&vt_attr_group_cast, "dtype", 1, VT_ATTR_DTYPE},
              {&vt_attr_group_literal, "bits", 1, VT_ATTR_BITS},
              {&vt_attr_group_iota, "shape", 1, VT_ATTR_DIMS},
              {&vt_attr_group_iota, "dtype", 0, VT_ATTR_DTYPE},
              {&vt_attr_group_slice, "stop", 1, VT_ATTR_DIMS},
              {&vt_attr_group_slice, "step", 0, VT_ATTR_INTS},
              {&vt_attr_group_reduce, "axes", 0, VT_ATTR_AXES},
              {&vt_attr_group_perm, "perm", 1, VT_ATTR_AXES},
              {&vt_attr_group_axis, "axis", 0, VT_ATTR_AXIS},
              {&vt_attr_group_norm, "eps", 0, VT_ATTR_REAL},
              {&vt_attr_group_attention, "causal", 0, VT_ATTR_FLAG},
              {&vt_attr_group_attention, "order", 0, VT_ATTR_ORDER},
              {&vt_attr_group_entropy, "ignore", 0, VT_ATTR_INT}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const vt_attr_field *f = vt_attr_find(rows[i].group, rows[i].name);
    CHECK(f != NULL && f->required == rows[i].required && f->kind == rows[i].kind);
  }
}

/* vt_attr_ints, vt_attr_int and vt_attr_real return the struct's field that a row of the table
 * describes. */
static void test_field_accessors(void) {
  vt_attr_iota a = {.size = sizeof a, .shape = {2, {3, 4}}, .axis = 1, .dtype = VT_DTYPE_F32};
  vt_attr_norm n = {.size = sizeof n, .eps = 0.25};
  const vt_attr_group *g = &vt_attr_group_iota;
  CHECK(vt_attr_ints(&a, vt_attr_find(g, "shape")) == &a.shape);
  CHECK(vt_attr_int(&a, vt_attr_find(g, "axis")) == &a.axis);
  CHECK(vt_attr_int(&a, vt_attr_find(g, "dtype")) == &a.dtype);
  CHECK(vt_attr_real(&n, vt_attr_find(&vt_attr_group_norm, "eps")) == &n.eps);
}

/* ---- printing ---- */

static void test_defaults_print_as_listed(void) {
  for (size_t i = 0; i < COUNT(groups); i++)
    if (groups[i].defaults != NULL)
      CHECK(prints_as(groups[i].group, groups[i].group->defaults, &no_dims, groups[i].defaults));
}

static void test_print_attributes(void) {
  const vt_attr_reduce r = {.size = sizeof r, .axes = {2, {0, 2}}, .keep = 1};
  const vt_attr_cast c = {.size = sizeof c, .dtype = VT_DTYPE_BF16};
  const vt_attr_attention t = {.size = sizeof t, .causal = 1, .scale = 0.1, .order = 1};
  const vt_attr_attention late = {.size = sizeof late, .order = 1, .window = 7};
  const vt_attr_entropy e = {.size = sizeof e, .ignore = INT64_MIN};
  const vt_attr_literal l = {.size = sizeof l, .dtype = VT_DTYPE_F64, .bits = UINT64_MAX};
  const vt_attr_pad p = {.size = sizeof p, .low = {1, {3}}, .high = {1, {-4}}};
  CHECK(prints_as(&vt_attr_group_reduce, &r, &no_dims, "axes=[0, 2], keep=true"));
  CHECK(prints_as(&vt_attr_group_cast, &c, &no_dims, "dtype=bf16"));
  CHECK(prints_as(&vt_attr_group_attention, &t, &no_dims, "causal=true, scale=0.1, order=fma256"));
  CHECK(prints_as(&vt_attr_group_attention, &late, &no_dims,
                  "causal=false, scale=0.0, order=fma256, window=7"));
  CHECK(prints_as(&vt_attr_group_entropy, &e, &no_dims,
                  "ignore=-9223372036854775808, reduction=none"));
  CHECK(prints_as(&vt_attr_group_literal, &l, &no_dims, "dtype=f64, bits=0xffffffffffffffff"));
  CHECK(prints_as(&vt_attr_group_pad, &p, &no_dims, "low=[3], high=[-4]"));
  const vt_attr_einsum sum = {.size = sizeof sum, .equation = {"ij,jk->ik"}, .order = 1};
  CHECK(prints_as(&vt_attr_group_einsum, &sum, &no_dims, "equation=\"ij,jk->ik\", order=fma256"));
}

static void test_print_literals(void) {
  static const struct {
    uint32_t dtype;
    uint64_t bits;
    const char *want;
  } rows[] = {{VT_DTYPE_F32, 0x3f000000, "0.5"},
              {VT_DTYPE_F32, 0x80000000, "-0.0"},
              {VT_DTYPE_F32, 0x00000001, "1e-45"},
              {VT_DTYPE_F32, 0x7f800000, "inf"},
              {VT_DTYPE_F32, 0x7fc00000, "nan"},
              {VT_DTYPE_F64, UINT64_C(0x3fb999999999999a), "0.1"},
              {VT_DTYPE_F64, UINT64_C(0xfff0000000000000), "-inf"},
              {VT_DTYPE_F16, 0x3c00, "1.0"},
              {VT_DTYPE_F16, 0xc000, "-2.0"},
              {VT_DTYPE_BF16, 0x3fc0, "1.5"},
              {VT_DTYPE_BOOL, 1, "true"},
              {VT_DTYPE_BOOL, 0, "false"},
              {VT_DTYPE_U8, 255, "255"},
              {VT_DTYPE_I8, 0x80, "-128"},
              {VT_DTYPE_I32, 0x80000000, "-2147483648"},
              {VT_DTYPE_I32, 0x7fffffff, "2147483647"},
              {VT_DTYPE_I64, UINT64_C(1) << 63, "-9223372036854775808"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    vt_text t;
    vt_text_init(&t, vt_alloc_default());
    vt_literal_print(rows[i].dtype, rows[i].bits, &t);
    CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, rows[i].want) == 0);
    if (strcmp(t.s, rows[i].want) != 0) fprintf(stderr, "'%s' not '%s'\n", t.s, rows[i].want);
    vt_text_done(&t);
  }
}

/* ---- binding ---- */

typedef struct symbols {
  vt_arena arena;
  vt_dims dims;
  int64_t b, t, both; /* B, T, B*T */
} symbols;

static void declare_symbols(symbols *s) {
  vt_arena_init(&s->arena, vt_alloc_default());
  vt_dims_init(&s->dims, &s->arena);
  CHECK(vt_dim_declare(&s->dims, "B", &s->b, NULL) == VT_OK);
  CHECK(vt_dim_declare(&s->dims, "T", &s->t, NULL) == VT_OK);
  CHECK(vt_dim_mul(&s->dims, s->b, s->t, &s->both, NULL) == VT_OK);
}

static void test_bind_replaces_symbols(void) {
  symbols s;
  const int64_t value[2] = {3, 5};
  void *out = NULL;
  declare_symbols(&s);
  const vt_attr_slice a = {
      .size = sizeof a, .start = {2, {s.b, 1}}, .stop = {2, {s.both, s.t}}, .step = {2, {1, 7}}};
  CHECK(prints_as(&vt_attr_group_slice, &a, &s.dims, "start=[B, 1], stop=[B*T, T], step=[1, 7]"));
  CHECK(vt_attr_bind(&vt_attr_group_slice, &a, &s.dims, value, &s.arena, &out, NULL) == VT_OK);
  const vt_attr_slice *b = out;
  CHECK(b != &a && b->size == sizeof *b && a.start.v[0] == s.b);
  CHECK(b->start.n == 2 && b->start.v[0] == 3 && b->start.v[1] == 1);
  CHECK(b->stop.n == 2 && b->stop.v[0] == 15 && b->stop.v[1] == 5);
  CHECK(b->step.n == 2 && b->step.v[0] == 1 && b->step.v[1] == 7);
  vt_arena_done(&s.arena);
}

/* An attribute group without dimensions is copied unchanged. */
static void test_bind_without_dimensions(void) {
  symbols s;
  const int64_t value[2] = {3, 5};
  const vt_attr_attention a = {.size = sizeof a, .causal = 1, .scale = 0.5, .order = 1};
  void *out = NULL;
  declare_symbols(&s);
  CHECK(vt_attr_bind(&vt_attr_group_attention, &a, &s.dims, value, &s.arena, &out, NULL) == VT_OK);
  CHECK(out != NULL && memcmp(out, &a, sizeof a) == 0);
  vt_arena_done(&s.arena);
}

static void test_bind_overflow_and_no_memory(void) {
  symbols s;
  const int64_t value[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  void *const before = &s;
  void *out = before;
  vt_diag d = {0};
  vt_fault f = {.left = 1};
  declare_symbols(&s);
  const vt_attr_shape a = {.size = sizeof a, .shape = {1, {s.both}}};
  CHECK(vt_attr_bind(&vt_attr_group_shape, &a, &s.dims, value, &s.arena, &out, &d) == VT_BIND);
  CHECK(out == before && strstr(d.text, "overflows") != NULL);
  vt_arena poor;
  vt_arena_init(&poor, vt_fault_alloc(&f));
  CHECK(vt_attr_bind(&vt_attr_group_shape, &a, &s.dims, value, &poor, &out, NULL) == VT_NOMEM);
  CHECK(out == before);
  vt_arena_done(&poor);
  vt_arena_done(&s.arena);
}

int main(void) {
  test_layout_of_structs();
  test_required_fields();
  test_field_accessors();
  test_defaults_print_as_listed();
  test_print_attributes();
  test_print_literals();
  test_bind_replaces_symbols();
  test_bind_without_dimensions();
  test_bind_overflow_and_no_memory();
  TEST_DONE();
}
