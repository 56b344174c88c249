/* SPDX-License-Identifier: Apache-2.0
 * gen_ops.c - writes files from the op tables. The build makes three of them:
 *   gen_ops header  volta/volta_ops.h: what a plug-in needs to read a step
 *   gen_ops fields  attr_fields.inc: the fields of every attribute group, with their offsets
 *   gen_ops order   op_order.inc: the rows of all families by ascending number
 * A number that stands twice makes it fail, and the build with it. The fourth is stored with the
 * sources, because kernels for GPUs are compiled from them alone:
 *   gen_ops maps         src/emit/maps.def: the ops that have a formula
 *   gen_ops maps FILE    fails, and the build with it, unless FILE is what `gen_ops maps` writes */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void head(void) {
  puts("/* SPDX-License-Identifier: Apache-2.0");
  puts(
      " * volta_ops.h - GENERATED from dtypes.def, attrs.def and ops.def: element types, op "
      "numbers and");
  puts(
      " * attribute layouts. Numbers and layouts are ABI: they are appended to, never changed. */");
  puts("#ifndef VOLTA_OPS_H\n#define VOLTA_OPS_H\n#include <stdint.h>\n");
  puts("#define VT_MAX_RANK 8\n");
}

static void dtypes(void) {
  puts("/* Element types. */");
#define VT_DTYPE(name, NAME, number, bytes, class) \
  printf("#define VT_DTYPE_%s %du /* %s, %d bytes */\n", #NAME, number, #name, bytes);
#include "dtypes.def"
#undef VT_DTYPE
  puts("\n/* Orders of a contraction. */\n#define VT_ORDER_FMA256 1\n");
  puts("/* Words of attributes. */");
#define VT_WORD(word, number) printf("#define VT_WORD_%s %d\n", #word, number);
#include "words.def"
#undef VT_WORD
  puts("");
}

static void attrs(void) {
  puts("/* Lists inside attributes: n entries of v are used, the others are 0. */");
  puts("typedef struct vt_attr_list {\n  int64_t n, v[8];\n} vt_attr_list;\n");
  puts("/* A text inside attributes: what follows its end is 0, and its last byte always is. */");
  puts("typedef struct vt_attr_text {\n  char v[120];\n} vt_attr_text;\n");
#define VT_C_FLAG "int64_t"
#define VT_C_INT "int64_t"
#define VT_C_REAL "double"
#define VT_C_DTYPE "int64_t"
#define VT_C_AXIS "int64_t"
#define VT_C_AXES "vt_attr_list"
#define VT_C_INTS "vt_attr_list"
#define VT_C_DIMS "vt_attr_list"
#define VT_C_BITS "uint64_t"
#define VT_C_ORDER "int64_t"
#define VT_C_DIM "int64_t"
#define VT_C_WORD "int64_t"
#define VT_C_TEXT "vt_attr_text"
#define VT_NOTHING
#define VT_R(kind, field) printf("  %s %s;\n", VT_C_##kind, #field);
#define VT_F(kind, field, value) VT_R(kind, field)
#define VT_L(kind, field, value) VT_R(kind, field)
#define VT_ATTRS(group, fields)                  \
  puts("typedef struct vt_attr_" #group " {");   \
  puts("  uint64_t size; /* of this struct */"); \
  fields puts("} vt_attr_" #group ";\n");
#include "attrs.def"
#undef VT_ATTRS
#undef VT_L
#undef VT_F
#undef VT_R
}

/* A row cannot name its own struct inside a macro argument, so the offsets are written out here. */
static void fields(void) {
  puts("/* attr_fields.inc - GENERATED from attrs.def. */");
  const char *group = "";
#define VT_FIELD(kind, field, required, late)                                                    \
  printf("    {\"%s\", VT_ATTR_%s, %d, %d, offsetof(vt_attr_%s, %s)},\n", field, kind, required, \
         late, group, field);
#define VT_R(kind, field) VT_FIELD(#kind, #field, 1, 0)
#define VT_F(kind, field, value) VT_FIELD(#kind, #field, 0, 0)
#define VT_L(kind, field, value) VT_FIELD(#kind, #field, 0, 1)
#define VT_ATTRS(name, list)                                     \
  group = #name;                                                 \
  printf("static const vt_attr_field fields_%s[] = {\n", group); \
  list puts("    {0},\n};");
#include "attrs.def"
#undef VT_ATTRS
#undef VT_L
#undef VT_F
#undef VT_R
}

typedef struct row {
  const char *name;
  int number, operands;
  const char *class, *attrs, *verify, *shape;
  const char *formula; /* formula or fused; NULL where there is none */
  int cost;
} row;
#define VT_FORM_opaque NULL, 0
#define VT_FORM_pointwise NULL, 0
#define VT_FORM_anchor NULL, 0
#define VT_FORM_formula(ps) "formula", ps
#define VT_FORM_fused(ps) "fused", ps
static row rows[] = {
#define VT_OP(name, no, class, lo, hi, operands, results, attrs, num, needs, form, verify, shape, \
              gradient, lower, kernel, work, help)                                                \
  {#name, no, hi, #class, #attrs, #verify, #shape, VT_FORM_##form},
#include "ops.def"
#undef VT_OP
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static int by_number(const void *a, const void *b) {
  return ((const row *)a)->number - ((const row *)b)->number;
}

/* The families stand in files of their own; the numbers go across them. */
static int sort_rows(void) {
  qsort(rows, N_ROWS, sizeof *rows, by_number);
  for (int i = 1; i < N_ROWS; i++) {
    if (rows[i].number != rows[i - 1].number) continue;
    fprintf(stderr, "gen_ops: '%s' and '%s' both have the number %d\n", rows[i - 1].name,
            rows[i].name, rows[i].number);
    return 0;
  }
  return 1;
}

static void ops(void) {
  puts("/* Op numbers; the attributes an op carries are named beside it. */");
  for (int i = 0; i < N_ROWS; i++)
    printf("#define VT_OP_%s %du /* %s, vt_attr_%s */\n", rows[i].name, rows[i].number,
           rows[i].class, rows[i].attrs);
}

static void order(void) {
  puts("/* op_order.inc - GENERATED from ops.def. */");
  for (int i = 0; i < N_ROWS; i++) printf("VT_ROW(%s)\n", rows[i].name);
}

/* ---- maps.def ---- */

static const char maps_head[] =
    "/* SPDX-License-Identifier: Apache-2.0\n"
    " * maps.def - GENERATED from ops.def by `make maps`: the pointwise ops that have a formula of "
    "their\n"
    " * own, in ascending number.\n"
    " *   n       operands, all of one type\n"
    " *   result  same: of that type; truth: bool\n"
    " *   float, integer, truth\n"
    " *           yes: a formula of map_float.inc, map_int.inc for each of these types; no: there "
    "is "
    "none;\n"
    " *           fused: a formula that multiplies and adds at once; f32: a function of the "
    "numerics "
    "or\n"
    " *           made of one, for that type alone\n"
    " *   cost    picoseconds an element, about, once the operands are at hand\n"
    " *\n"
    " *     op          n  result float  integer  truth  cost */\n";

/* The types that a rule accepts, as columns of maps.def. */
static const struct accepted {
  const char *verify, *floats, *integers, *truths;
} accepted[] = {
    {"check_f32", "f32", "no", "no"},     {"check_float", "yes", "no", "no"},
    {"check_number", "yes", "yes", "no"}, {"check_integer", "no", "yes", "no"},
    {"check_bits", "no", "yes", "yes"},   {"check_compute", "yes", "yes", "yes"},
};
/* The type that a rule gives the result. */
static const struct given {
  const char *shape, *result;
} given[] = {{"shape_same", "same"},
             {"shape_broadcast", "same"},
             {"shape_compare", "truth"},
             {"shape_truth", "truth"}};

static char made[32768];
static size_t n_made;

static void add(const char *format, ...) {
  va_list list;
  va_start(list, format);
  n_made += (size_t)vsnprintf(made + n_made, sizeof made - n_made, format, list);
  va_end(list);
  if (n_made >= sizeof made) exit(1);
}

static int refuse(const row *r, const char *rule) {
  fprintf(stderr,
          "gen_ops: '%s' has a formula, and gen_ops.c does not know which types '%s' stands for\n",
          r->name, rule);
  return 0;
}

/* A column, with the comma behind it. */
static void cell(const char *word, int width) {
  add("%s,%*s", word, width - (int)strlen(word), "");
}

static int add_map(const row *r) {
  const struct accepted *types = NULL;
  const char *result = NULL;
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
    if (strcmp(accepted[i].verify, r->verify) == 0) types = &accepted[i];
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    if (strcmp(given[i].shape, r->shape) == 0) result = given[i].result;
  if (types == NULL) return refuse(r, r->verify);
  if (result == NULL) return refuse(r, r->shape);
  add("VT_MAP(");
  cell(r->name, 11);
  add("%d, ", r->operands);
  cell(result, 6);
  cell(strcmp(r->formula, "fused") == 0 ? "fused" : types->floats, 6);
  cell(types->integers, 8);
  cell(types->truths, 6);
  add("%d)\n", r->cost);
  return 1;
}

static int maps(void) {
  add("%s", maps_head);
  for (int i = 0; i < N_ROWS; i++)
    if (rows[i].formula != NULL && !add_map(&rows[i])) return 0;
  return 1;
}

/* The stored file against what the rows say now. */
static int matches(const char *path) {
  static char stored[sizeof made];
  FILE *f = fopen(path, "rb");
  const size_t n = f != NULL ? fread(stored, 1, sizeof stored, f) : 0;
  if (f != NULL) fclose(f);
  if (n == n_made && memcmp(stored, made, n) == 0) return 1;
  fprintf(stderr, "gen_ops: %s is not what the op table says; `make maps` writes it\n", path);
  return 0;
}

int main(int argc, char **argv) {
  if (!sort_rows()) return 1;
  if (argc >= 2 && strcmp(argv[1], "maps") == 0) {
    if (!maps() || (argc > 2 && !matches(argv[2]))) return 1;
    if (argc == 2) fputs(made, stdout);
  } else if (argc == 2 && strcmp(argv[1], "fields") == 0) {
    fields();
  } else if (argc == 2 && strcmp(argv[1], "order") == 0) {
    order();
  } else {
    head();
    dtypes();
    attrs();
    ops();
    puts("\n#endif");
  }
  return ferror(stdout) || fflush(stdout) != 0;
}
