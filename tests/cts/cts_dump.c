/* SPDX-License-Identifier: Apache-2.0
 * cts_dump.c - writes cases to files, for comparison with other programs. Each case gets a folder
 * with its name, the printed model, and in.NAME.npy and out.NAME.npy. npy has no bf16, so such
 * tensors are written as bytes with one more axis, in NAME.bf16.npy. The folder of a gradient also
 * has the model that it is the gradient of. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "cts.h"

static void create_folder(const char *path) {
  if (mkdir(path, 0777) != 0 && errno != EEXIST) cts_die("%s cannot be created", path);
}

static void write_text(const char *folder, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  if (f == NULL) cts_die("%s cannot be written", path);
  const int bad = fputs(text, f) < 0;
  if (fclose(f) != 0 || bad) cts_die("%s cannot be written", path);
}

static void write_tensor(const char *folder, const char *kind, const char *name,
                         const vt_tensor *t) {
  char path[4096];
  vt_diag d = {0};
  vt_tensor x = *t;
  const int raw = t->dtype == VT_DTYPE_BF16;
  if (raw && t->rank == VT_MAX_RANK) return;
  if (raw) {
    x.dtype = VT_DTYPE_U8;
    x.dim[x.rank++] = 2;
  }
  snprintf(path, sizeof path, "%s/%s.%s%s.npy", folder, kind, name, raw ? ".bf16" : "");
  if (vt_npy_write(path, &x, &d) != VT_OK) cts_die("%s: %s", path, d.text);
}

static vt_status write_outputs(vt_program *p, const char *folder, vt_diag *d) {
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    const char *name;
    vt_tensor t;
    VT_TRY(vt_program_output(p, i, &name, &t, d));
    write_tensor(folder, "out", name, &t);
  }
  return VT_OK;
}

static vt_status dump_run(const vt_suite *s, uint32_t i, const char *folder, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = "reference:0"};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_case_inputs in = {0};
  VT_TRY(vt_case_open(s, i, NULL, &m, &in, d));
  write_text(folder, "model.vt", vt_model_text(m));
  for (uint32_t k = 0; k < in.n; k++)
    write_tensor(folder, "in", in.input[k].info.name, &in.input[k].t);
  vt_status status = vt_program_new(m, &o, &p, d);
  if (status == VT_OK) status = vt_case_inputs_set(&in, p, d);
  if (status == VT_OK) status = vt_program_run(p, d);
  if (status == VT_OK) status = write_outputs(p, folder, d);
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
  return status;
}

static void dump_differentiated_model(const vt_case *c, const char *folder) {
  vt_model *m = NULL;
  if (vt_model_parse(c->model->text, strlen(c->model->text), NULL, &m, NULL) == VT_OK)
    write_text(folder, "forward.vt", vt_model_text(m));
  vt_model_free(m);
}

/* Returns 1 if the case failed. If an index may be out of range and is, the folder gets a file
 * `range` with the message instead of outputs, and the case has not failed. */
static unsigned dump_case(const vt_suite *s, uint32_t i, const char *folder) {
  const vt_case *c = &s->cases[i];
  vt_diag d = {0};
  create_folder(folder);
  write_text(folder, "name", c->name);
  write_text(folder, "mix", vt_mix_name(c->mix));
  if (c->gradient) dump_differentiated_model(c, folder);
  const vt_status status = dump_run(s, i, folder, &d);
  const int ranged = status == VT_RANGE && c->model->block->may_fail;
  if (ranged) write_text(folder, "range", d.text);
  if (status == VT_OK || ranged) return 0;
  printf("FAILED %s: %s\n", c->name, d.text);
  return 1;
}

unsigned cts_dump_cases(const cts_selection *s, const char *folder) {
  unsigned failed = 0, n = 0;
  create_folder(folder);
  for (uint32_t i = 0; i < s->suite->n_cases; i++) {
    char path[4096];
    if (!s->chosen[i]) continue;
    snprintf(path, sizeof path, "%s/%06u", folder, i);
    failed += dump_case(s->suite, i, path);
    n++;
  }
  printf("dumped %u cases, %u failed\n", n, failed);
  return failed;
}
