/* SPDX-License-Identifier: Apache-2.0
 * gen_ops.c - writes files from the op tables. The build generates three of them:
 *   gen_ops header  volta/volta_ops.h: numbers and attribute structs, for plug-ins
 *   gen_ops fields  attr_fields.inc: the fields of every attribute group, with their offsets
 *   gen_ops order   op_order.inc: the rows of all families by ascending number
 * It fails if two ops have the same number. The fourth file, src/emit/maps.def with the ops that
 * have a formula, is committed, because GPU kernels are compiled from the source files only:
 *   gen_ops maps       prints it
 *   gen_ops maps FILE  fails unless FILE is the output of `gen_ops maps`
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_header_start(void) {
  puts("/* SPDX-License-Identifier: Apache-2.0");
  puts(
      " * volta_ops.h - GENERATED from dtypes.def, attrs.def and ops.def: element types, op "
      "numbers and");
  puts(
      " * attribute layouts. Numbers and layouts are ABI: they are appended to, never changed. */");
  puts("#ifndef VOLTA_OPS_H\n#define VOLTA_OPS_H\n#include <stdint.h>\n");
  puts("#define VT_MAX_RANK 8\n");
}

static void print_dtypes_and_words(void) {
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

static void print_attr_structs(void) {
  puts(
      "/* A list in a struct of attributes: the first n entries of v are used, the others are 0. "
      "*/");
  puts("typedef struct vt_attr_list {\n  int64_t n, v[8];\n} vt_attr_list;\n");
  puts(
      "/* A text in a struct of attributes; all bytes after its end are 0, and the last byte of v "
      "is 0. */");
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

/* Prints the table of the fields of every attribute group. It is generated because a macro for a
 * field in attrs.def cannot name the struct that the field belongs to. */
static void print_attr_fields(void) {
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

/* A row of the op table. */
typedef struct row {
  const char *name;
  int number, operands; /* `operands`: the largest number of operands */
  const char *class, *attrs, *verify, *shape;
  const char *formula; /* "formula" or "fused"; NULL if the op has no formula */
  int cost;            /* picoseconds per element */
} row;
#define VT_FORM_opaque NULL, 0
#define VT_FORM_pointwise NULL, 0
#define VT_FORM_anchor NULL, 0
#define VT_FORM_update NULL, 0
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

static int compare_numbers(const void *a, const void *b) {
  return ((const row *)a)->number - ((const row *)b)->number;
}

/* Sorts the rows by number, across all families; returns 0 if two rows have the same number. */
static int sort_rows(void) {
  qsort(rows, N_ROWS, sizeof *rows, compare_numbers);
  for (int i = 1; i < N_ROWS; i++) {
    if (rows[i].number != rows[i - 1].number) continue;
    fprintf(stderr, "gen_ops: '%s' and '%s' both have the number %d\n", rows[i - 1].name,
            rows[i].name, rows[i].number);
    return 0;
  }
  return 1;
}

static void print_op_numbers(void) {
  puts("/* Op numbers, each with the class of the op and its struct of attributes. */");
  for (int i = 0; i < N_ROWS; i++)
    printf("#define VT_OP_%s %du /* %s, vt_attr_%s */\n", rows[i].name, rows[i].number,
           rows[i].class, rows[i].attrs);
}

static void print_op_order(void) {
  puts("/* op_order.inc - GENERATED from ops.def. */");
  for (int i = 0; i < N_ROWS; i++) printf("VT_ROW(%s)\n", rows[i].name);
}

/* ---- maps.def ---- */

static const char maps_head[] =
    "/* SPDX-License-Identifier: Apache-2.0\n"
    " * maps.def - GENERATED from ops.def by `make maps`: the pointwise ops that have a formula, "
    "in\n"
    " * ascending order of their numbers.\n"
    " *   n       number of operands, which have one type\n"
    " *   result  same: the type of the operands; truth: bool\n"
    " *   float, integer, truth\n"
    " *           the formula for operands of these types. yes: in map_float.inc or map_int.inc; "
    "no:\n"
    " *           there is none; fused: one that multiplies and adds with one rounding; f32: a "
    "function\n"
    " *           of the numerics, or a formula with one, for f32 only\n"
    " *   cost    approximate picoseconds per element, without loading the operands\n"
    " *\n"
    " *     op          n  result float  integer  truth  cost */\n";

/* For each rule that checks operands: its columns `float`, `integer` and `truth` of maps.def. */
static const struct accepted {
  const char *verify, *floats, *integers, *truths;
} accepted[] = {
    {"check_f32", "f32", "no", "no"},     {"check_float", "yes", "no", "no"},
    {"check_number", "yes", "yes", "no"}, {"check_integer", "no", "yes", "no"},
    {"check_bits", "no", "yes", "yes"},   {"check_compute", "yes", "yes", "yes"},
};
/* For each rule that infers the result: its column `result` of maps.def. */
static const struct inferred {
  const char *shape, *result;
} inferred[] = {{"shape_same", "same"},
                {"shape_broadcast", "same"},
                {"shape_compare", "truth"},
                {"shape_truth", "truth"}};

static char maps_text[32768]; /* the text of maps.def */
static size_t n_maps_text;

/* Appends formatted text to maps_text. */
static void append_to_maps(const char *format, ...) {
  va_list list;
  va_start(list, format);
  n_maps_text +=
      (size_t)vsnprintf(maps_text + n_maps_text, sizeof maps_text - n_maps_text, format, list);
  va_end(list);
  if (n_maps_text >= sizeof maps_text) exit(1);
}

/* Reports an op whose rule is in neither table; returns 0. */
static int report_unknown_rule(const row *r, const char *rule) {
  fprintf(stderr,
          "gen_ops: '%s' has a formula, and gen_ops.c does not know which types '%s' stands for\n",
          r->name, rule);
  return 0;
}

/* Appends a column of this width, with a comma after the word. */
static void append_maps_cell(const char *word, int width) {
  append_to_maps("%s,%*s", word, width - (int)strlen(word), "");
}

/* Appends the row of an op; returns 0 if the types of its rules are unknown. */
static int append_maps_row(const row *r) {
  const struct accepted *types = NULL;
  const char *result = NULL;
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
    if (strcmp(accepted[i].verify, r->verify) == 0) types = &accepted[i];
  for (size_t i = 0; i < sizeof inferred / sizeof *inferred; i++)
    if (strcmp(inferred[i].shape, r->shape) == 0) result = inferred[i].result;
  if (types == NULL) return report_unknown_rule(r, r->verify);
  if (result == NULL) return report_unknown_rule(r, r->shape);
  append_to_maps("VT_MAP(");
  append_maps_cell(r->name, 11);
  append_to_maps("%d, ", r->operands);
  append_maps_cell(result, 6);
  append_maps_cell(strcmp(r->formula, "fused") == 0 ? "fused" : types->floats, 6);
  append_maps_cell(types->integers, 8);
  append_maps_cell(types->truths, 6);
  append_to_maps("%d)\n", r->cost);
  return 1;
}

static int format_maps(void) {
  append_to_maps("%s", maps_head);
  for (int i = 0; i < N_ROWS; i++)
    if (rows[i].formula != NULL && !append_maps_row(&rows[i])) return 0;
  return 1;
}

/* Returns 1 if the file has the same bytes as maps_text. */
static int file_equals_maps(const char *path) {
  static char stored[sizeof maps_text];
  FILE *f = fopen(path, "rb");
  const size_t n = f != NULL ? fread(stored, 1, sizeof stored, f) : 0;
  if (f != NULL) fclose(f);
  if (n == n_maps_text && memcmp(stored, maps_text, n) == 0) return 1;
  fprintf(stderr, "gen_ops: %s is not what the op table says; `make maps` writes it\n", path);
  return 0;
}

int main(int argc, char **argv) {
  if (!sort_rows()) return 1;
  if (argc >= 2 && strcmp(argv[1], "maps") == 0) {
    if (!format_maps() || (argc > 2 && !file_equals_maps(argv[2]))) return 1;
    if (argc == 2) fputs(maps_text, stdout);
  } else if (argc == 2 && strcmp(argv[1], "fields") == 0) {
    print_attr_fields();
  } else if (argc == 2 && strcmp(argv[1], "order") == 0) {
    print_op_order();
  } else {
    print_header_start();
    print_dtypes_and_words();
    print_attr_structs();
    print_op_numbers();
    puts("\n#endif");
  }
  return ferror(stdout) || fflush(stdout) != 0;
}
