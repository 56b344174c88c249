/* SPDX-License-Identifier: Apache-2.0
 * verify_test.c - damages every field of every struct, or part, of valid plans in turn and checks
 * that the verifiers notice. plan_fields.def lists the fields. */
#include "verify_test.h"
#include <stddef.h>
#include <string.h>

/* ---- the table of fields ---- */

typedef enum field_kind { U32, U64, U32S, U64S, POINTER, IDENTITY, OUTSIDE, HOLE } field_kind;

typedef struct part { /* a struct of a plan under test */
  const char *of;     /* name of the struct's type */
  void *at;           /* address of the struct */
  vt_plan *top;       /* the whole plan */
  vt_plan *plan;      /* the plan that the struct belongs to: `top`, or that of a body */
} part;
typedef struct damage { /* a changed field of the struct `what`: its value before and after */
  const part *what;
  uint64_t before, after;
} damage;
/* 1 if a plan is still valid after the damage. Rows of plan_fields.def name such functions. */
typedef int accept_fn(const damage *d);

static int accept_never(const damage *d) { return d == NULL; }
static int accept_zero(const damage *d) { return d->after == 0; }
static int accept_if_no_operands(const damage *d) {
  return ((const vt_bk_step *)d->what->at)->n_in == 0;
}
static int accept_scratch_inside_arena(const damage *d) {
  const vt_bk_step *s = d->what->at;
  const uint64_t end = vt_plan_arena_bytes(d->what->top, VT_CLASS_TEMP);
  return s->work_offset % VT_PLAN_ALIGNMENT == 0 && s->work_bytes <= end &&
         s->work_offset <= end - s->work_bytes;
}

static const struct field {
  const char *of, *name;
  size_t at, bytes;
  field_kind kind;
  accept_fn *accept;
} fields[] = {
#define VT_FIELD(type, name, kind, accept, why) \
  {#type, #name, offsetof(type, name), sizeof(((type *)NULL)->name), kind, accept},
#define VT_HOLE(type, bytes) {#type, "", 0, bytes, HOLE, accept_never},
#include "plan_fields.def"
#undef VT_FIELD
#undef VT_HOLE
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Checks that the rows of a struct cover it without a gap from its first byte to its last. */
static void check_rows_cover_struct(const char *struct_name, size_t bytes) {
  size_t end = 0;
  for (size_t i = 0; i < N_FIELDS; i++) {
    if (strcmp(fields[i].of, struct_name) != 0) continue;
    CHECK(fields[i].kind == HOLE || fields[i].at == end);
    if (fields[i].kind != HOLE && fields[i].at != end)
      fprintf(stderr, "  no row before %s.%s\n", struct_name, fields[i].name);
    end = (fields[i].kind == HOLE ? end : fields[i].at) + fields[i].bytes;
  }
  CHECK(end == bytes);
  if (end != bytes) fprintf(stderr, "  no row for the end of %s\n", struct_name);
}

static void test_field_table_is_complete(void) {
  /* A new field in the padding of vt_nested would shift these values. */
  const vt_nested in_order = {1, {NULL}, 2, 3};
  CHECK(in_order.n == 1 && in_order.offset == 2 && in_order.bytes == 3);
  check_rows_cover_struct("vt_plan", sizeof(vt_plan));
  check_rows_cover_struct("vt_buffer", sizeof(vt_buffer));
  check_rows_cover_struct("vt_nested", sizeof(vt_nested));
  check_rows_cover_struct("vt_transfer", sizeof(vt_transfer));
  check_rows_cover_struct("vt_bk_step", sizeof(vt_bk_step));
  check_rows_cover_struct("vt_bk_tensor", sizeof(vt_bk_tensor));
  check_rows_cover_struct("vt_bk_body", sizeof(vt_bk_body));
  for (size_t i = 0; i < N_FIELDS; i++)
    if (fields[i].kind == OUTSIDE)
      CHECK(strcmp(fields[i].of, "vt_plan") == 0 && strstr("arena g core target", fields[i].name));
}

/* ---- the parts of a plan ---- */

typedef struct part_list {
  part at[4096];
  size_t n;
} part_list;

static void add_part(part_list *l, const char *of, const void *at, vt_plan *top, vt_plan *plan) {
  if (l->n == sizeof l->at / sizeof *l->at) exit(1);
  part *x = &l->at[l->n++];
  *x = (part){of, NULL, top, plan};
  memcpy(&x->at, &at, sizeof at); /* drops const: the memory of the plan's arena is writable */
}

static void add_tensor_parts(part_list *l, const vt_bk_tensor *t, uint32_t n, vt_plan *top,
                             vt_plan *p) {
  for (uint32_t i = 0; i < n; i++) add_part(l, "vt_bk_tensor", &t[i], top, p);
}

static void add_parts_of_bk_step(part_list *l, const vt_bk_step *s, vt_plan *top, vt_plan *p) {
  add_part(l, "vt_bk_step", s, top, p);
  add_tensor_parts(l, s->in, s->n_in, top, p);
  add_tensor_parts(l, s->out, s->n_out, top, p);
  for (uint32_t k = 0; k < s->n_body; k++) {
    add_part(l, "vt_bk_body", &s->body[k], top, p);
    add_tensor_parts(l, s->body[k].in, s->body[k].n_in, top, p);
    add_tensor_parts(l, s->body[k].out, s->body[k].n_out, top, p);
  }
}

static void add_parts_of_plan(part_list *l, vt_plan *top, vt_plan *p) {
  add_part(l, "vt_plan", p, top, p);
  for (uint32_t i = 0; i < p->n_buffers; i++) add_part(l, "vt_buffer", &p->buffers[i], top, p);
  for (uint32_t i = 0; i < p->n_transfers; i++)
    add_part(l, "vt_transfer", &p->transfers[i], top, p);
  for (uint32_t i = 0; i < p->n_bk_steps; i++) add_parts_of_bk_step(l, &p->bk_steps[i], top, p);
  for (uint32_t i = 0; i < p->n_steps; i++) {
    add_part(l, "vt_nested", &p->nested[i], top, p);
    for (uint32_t k = 0; k < p->nested[i].n; k++) add_parts_of_plan(l, top, p->nested[i].plan[k]);
  }
}

/* ---- damage ---- */

typedef struct tally { /* by field: number of damaged plans, and of those refused */
  uint64_t tried[N_FIELDS], noticed[N_FIELDS];
} tally;

/* Verifies the plan after a damage and counts the result; the plan may be valid only if the field's
 * row accepts the damage. */
static void expect_damage_is_noticed(const part *x, size_t field, uint64_t before, uint64_t after,
                                     tally *count) {
  vt_diag d = {0};
  const damage change = {x, before, after};
  const vt_status s = vt_plan_verify(x->top, &d);
  count->tried[field]++;
  count->noticed[field] += s == VT_INTERNAL;
  const int fine = (s == VT_INTERNAL && d.code == s && d.text[0] != 0) ||
                   (s == VT_OK && fields[field].accept(&change));
  CHECK(fine);
  if (!fine)
    fprintf(stderr, "  %s.%s from %llu to %llu gives %s\n", x->of, fields[field].name,
            (unsigned long long)before, (unsigned long long)after, vt_status_name(s));
}

static uint64_t read_number_at(const void *at, size_t width) {
  uint32_t narrow;
  uint64_t value;
  memcpy(&narrow, at, sizeof narrow);
  if (width == sizeof narrow) return narrow;
  memcpy(&value, at, sizeof value);
  return value;
}

static void write_number_at(void *at, size_t width, uint64_t value) {
  const uint32_t narrow = (uint32_t)value;
  memcpy(at, width == sizeof narrow ? (const void *)&narrow : (const void *)&value, width);
}

/* Replaces a number by its neighbours, by extremes, and by values that are one alignment away. */
static void damage_number(const part *x, size_t field, void *at, size_t width, tally *count) {
  const uint64_t old = read_number_at(at, width), high = (uint64_t)1 << (width * 8 - 1);
  const uint64_t changed[] = {
      old + 1,    old - 1,   0,         UINT64_MAX, old * 2,
      old ^ high, old + 256, old - 256, 1,          old + ((uint64_t)1 << 20)};
  for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
    write_number_at(at, width, changed[i]);
    if (read_number_at(at, width) != old)
      expect_damage_is_noticed(x, field, old, read_number_at(at, width), count);
  }
  write_number_at(at, width, old);
}

/* Swaps two numbers of the same field, each of which a valid plan might have. */
static void swap_numbers(const part *x, size_t field, void *a, void *b, size_t width,
                         tally *count) {
  const uint64_t in_a = read_number_at(a, width), in_b = read_number_at(b, width);
  if (in_a == in_b) return;
  write_number_at(a, width, in_b);
  write_number_at(b, width, in_a);
  expect_damage_is_noticed(x, field, in_a, in_b, count);
  write_number_at(a, width, in_a);
  write_number_at(b, width, in_b);
}

static void damage_pointer(const part *x, size_t field, void *at, tally *count) {
  void *old, *const none = NULL;
  memcpy(&old, at, sizeof old);
  if (old == NULL) return;
  memcpy(at, &none, sizeof none);
  expect_damage_is_noticed(x, field, 1, 0, count);
  memcpy(at, &old, sizeof old);
}

static size_t length_of_array(const part *x, size_t field) {
  if (strcmp(fields[field].name, "dense") == 0) return x->plan->n_buffers;
  return strcmp(fields[field].name, "bk_step_node") == 0 ? x->plan->n_bk_steps : x->plan->n_steps;
}

static void damage_array(const part *x, size_t field, char *at, tally *count) {
  const size_t width = fields[field].kind == U32S ? 4 : 8, n = length_of_array(x, field);
  char *list;
  damage_pointer(x, field, at, count);
  memcpy(&list, at, sizeof list);
  for (size_t i = 0; i < n; i++) damage_number(x, field, list + i * width, width, count);
  for (size_t i = 1; i < n; i++)
    swap_numbers(x, field, list + i * width, list + (i - 1) * width, width, count);
}

/* Damages one field. `next` is another struct of the same type, with which numbers are swapped, or
 * NULL. */
static void damage_field(const part *x, const part *next, size_t field, tally *count) {
  const struct field *f = &fields[field];
  char *at = (char *)x->at + f->at;
  const size_t width = f->kind == U32 ? 4 : 8;
  if (f->kind == U32S || f->kind == U64S) damage_array(x, field, at, count);
  if (f->kind == POINTER) damage_pointer(x, field, at, count);
  for (size_t i = 0; f->kind == IDENTITY && i < f->bytes; i += width)
    damage_pointer(x, field, at + i, count);
  for (size_t i = 0; (f->kind == U32 || f->kind == U64) && i < f->bytes; i += width)
    damage_number(x, field, at + i, width, count);
  for (size_t i = 0; next != NULL && f->kind <= IDENTITY && f->kind != POINTER && f->kind != U32S &&
                     f->kind != U64S && i < f->bytes;
       i += width)
    swap_numbers(x, field, at + i, (char *)next->at + f->at + i, width, count);
}

static const part *next_part_of_same_type(const part_list *l, size_t i) {
  for (size_t k = i + 1; k < l->n; k++)
    if (strcmp(l->at[k].of, l->at[i].of) == 0) return &l->at[k];
  return NULL;
}

static void damage_plan(vt_plan *p, tally *count) {
  static part_list l;
  l.n = 0;
  add_parts_of_plan(&l, p, p);
  for (size_t i = 0; i < l.n; i++)
    for (size_t f = 0; f < N_FIELDS; f++)
      if (strcmp(fields[f].of, l.at[i].of) == 0)
        damage_field(&l.at[i], next_part_of_same_type(&l, i), f, count);
  CHECK(vt_plan_verify(p, NULL) == VT_OK);
}

static void test_damage_to_each_field(void) {
  static tally count;
  vt_graph *g = graph_with_every_feature();
  const char *all = "*";
  for (uint32_t i = 0; i < 16; i++) {
    /* The short form tests the numbers 0, 3, 5, 6 and 9, which have each option on and off. */
    if (!vt_test_is_long() && (0x269u >> i & 1) == 0) continue;
    const vt_plan_options o = {
        .schedule = i & 1, .n_stream = i >> 2 & 1, .stream = &all, .safe_state = i >> 3};
    vt_plan *p = build_plan_with_options(g, &o, i >> 1 & 1, i & 1 ? 1000 : 0);
    damage_plan(p, &count);
    vt_plan_free(p);
  }
  uint64_t noticed = 0;
  for (size_t i = 0; i < N_FIELDS; i++) {
    const int looked_at = fields[i].kind != OUTSIDE && fields[i].kind != HOLE;
    CHECK(!looked_at || (count.tried[i] > 0 && count.noticed[i] > 0));
    /* A row that accepts damage is needed: some damage to its field was not noticed. */
    CHECK(fields[i].accept == accept_never || count.noticed[i] < count.tried[i]);
    if (looked_at && count.noticed[i] == 0)
      fprintf(stderr, "  %s.%s is never noticed\n", fields[i].of, fields[i].name);
    noticed += count.noticed[i];
  }
  printf("%llu kinds of damage noticed\n", (unsigned long long)noticed);
  vt_graph_free(g);
}

int main(void) {
  test_field_table_is_complete();
  test_damage_to_each_field();
  TEST_DONE();
}
