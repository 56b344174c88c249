/* SPDX-License-Identifier: Apache-2.0
 * verb_inspect.c - volta inspect FILE: describes each tensor of a file; for a model it prints the
 * report of `volta info`. */
#include <inttypes.h>
#include "cli_info.h"
#include "cli_json.h"
#include "cli_model.h"
#include "cli_tensors.h"

typedef struct facts {
  const char *name;
  vt_tensor t;
  uint64_t count, bytes, nan, inf; /* elements; bytes; elements that are NaN, infinite */
  char type[CLI_TYPE_SIZE];
} facts;

static vt_status collect_facts(cli_tensors *file, uint32_t i, facts *out, cli_error *e) {
  facts f = {0};
  VT_TRY(cli_tensors_at(file, i, &f.name, &f.t, e));
  VT_TRY(vt_tensor_bytes(&f.t, &f.count, &f.bytes, &e->diag));
  for (uint64_t k = 0; k < f.count && cli_dtype_is_float(f.t.dtype); k++) {
    const double v = cli_element_number(&f.t, k);
    f.nan += (uint64_t)cli_is_nan(v);
    f.inf += (uint64_t)cli_is_inf(v);
  }
  cli_type_text(&f.t, f.type);
  *out = f;
  return VT_OK;
}

static void print_facts(const facts *f) {
  cli_print_escaped(f->name[0] != '\0' ? f->name : "-");
  cli_print("  %s  ", f->type);
  cli_print_count(f->count, "element");
  cli_print(", ");
  cli_print_count(f->bytes, "byte");
  if (cli_dtype_is_float(f->t.dtype))
    cli_print(", %" PRIu64 " nan, %" PRIu64 " inf", f->nan, f->inf);
  cli_print("\n");
  if (f->count == 0) return;
  cli_print("  ");
  cli_print_first_elements(&f->t, f->count);
  cli_print("\n");
}

static json_t *json_facts(const facts *f) {
  return json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:o}", "name", cli_json_text(f->name),
                   "dtype", vt_dtype_name(f->t.dtype), "shape", cli_json_shape(&f->t), "elements",
                   (json_int_t)f->count, "bytes", (json_int_t)f->bytes, "nan", (json_int_t)f->nan,
                   "inf", (json_int_t)f->inf, "values", cli_json_first_elements(&f->t, f->count));
}

static vt_status report_text(cli_tensors *file, cli_error *e) {
  cli_print_escaped(e->path);
  cli_print(": %s, ", cli_tensors_format(file));
  cli_print_count(cli_tensors_count(file), "tensor");
  cli_print("\n");
  for (uint32_t i = 0; i < cli_tensors_count(file); i++) {
    facts f;
    VT_TRY(collect_facts(file, i, &f, e));
    print_facts(&f);
  }
  return VT_OK;
}

static vt_status report_json(cli_tensors *file, cli_error *e) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < cli_tensors_count(file); i++) {
    facts f;
    const vt_status s = collect_facts(file, i, &f, e);
    if (s != VT_OK) {
      json_decref(list);
      return s;
    }
    cli_json_append(list, json_facts(&f));
  }
  return cli_json_print(json_pack("{s:o, s:s, s:o}", "file", cli_json_text(e->path), "format",
                                  cli_tensors_format(file), "tensors", list),
                        e);
}

vt_status verb_inspect(const cli_args *a, cli_error *e) {
  const int as_json = cli_flag_value(a, "json") != NULL;
  e->path = a->operands[0];
  if (cli_ends_with(e->path, ".vt") || cli_path_is_bundle(e->path))
    return cli_info_report(e->path, &(cli_bind){0}, as_json, e);
  cli_tensors file;
  VT_TRY(cli_tensors_open(e->path, &file, e));
  const vt_status s = as_json ? report_json(&file, e) : report_text(&file, e);
  cli_tensors_close(&file);
  return s;
}
