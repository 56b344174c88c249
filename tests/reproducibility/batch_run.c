/* SPDX-License-Identifier: Apache-2.0
 * batch_run.c - runs a model with any number of rows. It writes the model's text with that number
 * as dimension, and copies the rows of the inputs from those of the whole batch. */
#include <stdio.h>
#include <string.h>
#include "batch.h"

/* ---- the text ---- */

static int starts_with(const char *line, const char *word) {
  return strncmp(line, word, strlen(word)) == 0;
}

/* Writes a line such as "input x: f32[4, 7]" with n as its first dimension; a scalar is not
 * changed. */
static void add_declaration_of_rows(vt_text *out, const char *line, size_t length, int64_t n) {
  const char *open = memchr(line, '[', length);
  if (open == NULL || open[1] == ']') {
    vt_text_add_bytes(out, line, length);
    return;
  }
  const size_t head = (size_t)(open - line) + 1, dim = strcspn(open + 1, ",]");
  vt_text_add_bytes(out, line, head);
  vt_text_add(out, "%lld", (long long)n);
  vt_text_add_bytes(out, open + 1 + dim, length - head - dim);
}

/* Writes "dim B, T" as "dim B = 3, T = 16" for n = 3; returns 0 if the line is another one. */
static int add_dim_line(vt_text *out, const char *at, int64_t n) {
  if (!starts_with(at, "dim B")) return 0;
  vt_text_add(out, starts_with(at, "dim B, T") ? "  dim B = %lld, T = 16\n" : "  dim B = %lld\n",
              (long long)n);
  return 1;
}

static void write_model(const batch *b, int64_t n, vt_text *out) {
  uint32_t port = 0;
  for (const char *line = b->text; *line != 0;) {
    const size_t length = strcspn(line, "\n") + (strchr(line, '\n') != NULL);
    const char *at = line + strspn(line, " ");
    const int declares = starts_with(at, "input ") || starts_with(at, "param ");
    const int has_rows = declares && !b->example && (b->rows_of >> port & 1) != 0;
    if (has_rows) add_declaration_of_rows(out, line, length, n);
    if (!has_rows && !add_dim_line(out, at, n)) vt_text_add_bytes(out, line, length);
    port += declares != 0;
    line += length;
  }
}

/* ---- the values ---- */

static void copy_rows(vt_case_input *to, const vt_case_input *from, int64_t first, int64_t n) {
  uint64_t count, bytes;
  if (vt_tensor_bytes(&to->t, &count, &bytes, NULL) != VT_OK || bytes == 0) return;
  const size_t row = (size_t)bytes / (size_t)n;
  memcpy(to->t.data, (const char *)from->t.data + (size_t)first * row, (size_t)bytes);
}

/* Gives each row of an example's input the same minimum and maximum, so that a quantisation scale
 * of the whole batch is that of each row. */
static void set_row_extremes(vt_case_input *x, int64_t n) {
  uint64_t count, bytes;
  if (x->t.dtype != VT_DTYPE_F32 || vt_tensor_bytes(&x->t, &count, &bytes, NULL) != VT_OK) return;
  float *at = x->t.data;
  for (int64_t i = 0; i < n; i++) {
    at[(uint64_t)i * (count / (uint64_t)n)] = -64.0f;
    at[(uint64_t)i * (count / (uint64_t)n) + 1] = 64.0f;
  }
}

static int input_has_rows(const batch *b, const vt_case_inputs *in, uint32_t i) {
  if (b->example) return in->input[i].info.kind == VT_PORT_INPUT;
  return (b->rows_of >> i & 1) != 0;
}

/* Draws the inputs of n rows, or copies the rows from `first` of `all`. */
static void set_inputs_of_rows(const batch *b, int64_t n, const vt_case_inputs *all, int64_t first,
                               vt_case_inputs *in) {
  if (all == NULL) vt_case_inputs_draw(in, VT_MIX_ORDINARY, vt_case_seed(b->name));
  for (uint32_t i = 0; i < in->n; i++) {
    const int rows = input_has_rows(b, in, i);
    if (all != NULL) copy_rows(&in->input[i], &all->input[i], rows ? first : 0, rows ? n : 1);
    if (all == NULL && b->example && rows) set_row_extremes(&in->input[i], n);
  }
}

/* ---- the run ---- */

/* Initialises the parameters of an example and sets its inputs. */
static vt_status set_example_ports(const batch_run *r, vt_diag *d) {
  VT_TRY(vt_program_init_params(r->p, 0, d));
  for (uint32_t i = 0; i < r->in.n; i++)
    if (r->in.input[i].info.kind == VT_PORT_INPUT)
      VT_TRY(vt_program_set_input(r->p, r->in.input[i].info.name, &r->in.input[i].t, d));
  return VT_OK;
}

vt_status batch_run_start(const batch *b, int64_t n, const vt_case_inputs *all, int64_t first,
                          const vt_options *how, batch_run *out, vt_diag *d) {
  vt_text text;
  *out = (batch_run){0};
  vt_text_init(&text, vt_alloc_default());
  write_model(b, n, &text);
  const vt_status s = vt_model_parse(text.s, text.n, NULL, &out->m, d);
  vt_text_done(&text);
  if (s != VT_OK) return s;
  VT_TRY(vt_case_inputs_init(out->m, NULL, &out->in, d));
  set_inputs_of_rows(b, n, all, first, &out->in);
  if (!b->example) return vt_case_run_program(out->m, &out->in, how, &out->p, d);
  VT_TRY(vt_program_new(out->m, how, &out->p, d));
  VT_TRY(set_example_ports(out, d));
  return vt_program_run(out->p, d);
}

void batch_run_done(batch_run *r) {
  vt_program_free(r->p);
  vt_case_inputs_done(&r->in);
  vt_model_free(r->m);
  *r = (batch_run){0};
}

/* ---- the results ---- */

int batch_run_outputs_have_rows(batch_run *r, int64_t n) {
  for (uint32_t i = 0; i < vt_program_outputs(r->p); i++) {
    const char *name;
    vt_tensor t;
    if (vt_program_output(r->p, i, &name, &t, NULL) != VT_OK) return 0;
    if (t.rank == 0 || t.dim[0] != n) return 0;
  }
  return 1;
}

int batch_rows_equal(batch_run *a, int64_t i, batch_run *b, int64_t k) {
  for (uint32_t o = 0; o < vt_program_outputs(a->p); o++) {
    const char *name;
    vt_tensor x, y;
    uint64_t count, bytes;
    if (vt_program_output(a->p, o, &name, &x, NULL) != VT_OK ||
        vt_program_output(b->p, o, &name, &y, NULL) != VT_OK ||
        vt_tensor_bytes(&x, &count, &bytes, NULL) != VT_OK)
      return 0;
    const size_t row = (size_t)bytes / (size_t)x.dim[0];
    if (row != 0 && memcmp((const char *)x.data + (size_t)i * row,
                           (const char *)y.data + (size_t)k * row, row) != 0)
      return 0;
  }
  return 1;
}
