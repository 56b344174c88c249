/* SPDX-License-Identifier: Apache-2.0
 * diverge.c - where two backends part, found by running the whole model on both. */
#include "diverge.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "program.h"

/* ---- finding ---- */

static vt_status start(const vt_model *m, const vt_options *o, vt_diverge_give *give, void *user,
                       vt_program **out, vt_diag *d) {
  VT_TRY(vt_program_make(m, o, VT_PREPARE_UNTRIED, out, d));
  VT_TRY(give(user, *out, d));
  return vt_program_run(*out, d);
}

static const char *index_text(vt_arena *ar, const vt_tensor *t, uint64_t at) {
  char text[200] = "[";
  size_t n = 1;
  uint64_t rest = 1;
  for (uint32_t i = 0; i < t->rank; i++) rest *= (uint64_t)t->dim[i];
  for (uint32_t i = 0; i < t->rank; i++) {
    rest /= (uint64_t)t->dim[i];
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu", i == 0 ? "" : ", ",
                          (unsigned long long)(at / rest));
    at %= rest;
  }
  snprintf(text + n, sizeof text - n, "]");
  return vt_arena_string(ar, text, strlen(text));
}

static vt_status copy_tensor(vt_arena *ar, vt_tensor *t, vt_diag *d) {
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, d));
  t->data = vt_arena_copy(ar, t->data, (size_t)bytes);
  return t->data != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

static vt_status take(vt_divergence *x, const char *name, const vt_tensor *a, const vt_tensor *b,
                      const vt_compare *c, vt_diag *d) {
  x->output = vt_arena_string(&x->arena, name, strlen(name));
  x->index = index_text(&x->arena, a, c->first);
  x->dtype = a->dtype;
  x->bits = c->first_a;
  x->expected = c->first_b;
  x->distance = c->largest;
  x->differing = c->differing;
  x->compared = c->compared;
  x->result = *a;
  x->right = *b;
  VT_TRY(copy_tensor(&x->arena, &x->result, d));
  return copy_tensor(&x->arena, &x->right, d);
}

static vt_status compare(vt_program *p, vt_program *q, vt_divergence *x, vt_diag *d) {
  for (uint32_t i = 0; i < vt_program_outputs(q); i++) {
    vt_compare c = {.size = sizeof c};
    const char *name;
    vt_tensor a, b;
    VT_TRY(vt_program_output(p, i, &name, &a, d));
    VT_TRY(vt_program_output(q, i, &name, &b, d));
    VT_TRY(vt_tensor_compare(&a, &b, &c, d));
    if (c.differing != 0) return take(x, name, &a, &b, &c, d);
  }
  return VT_FAIL(d, VT_NAME, "nothing differs");
}

static vt_status keep_inputs(const vt_model *m, vt_program *q, vt_divergence *x, vt_diag *d) {
  const char *text = vt_model_text(m);
  (void)q;
  x->model = vt_arena_string(&x->arena, text, strlen(text));
  x->op = x->signature = "";
  return vt_arena_status(&x->arena) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_give *give,
                          void *user, vt_divergence *out, vt_diag *d) {
  vt_alloc a;
  const vt_options theirs = vt_options_read(how, &a);
  vt_options ours = {.size = sizeof ours, .backend = "reference:0", .alloc = theirs.alloc};
  vt_divergence x = {0};
  vt_program *p = NULL, *q = NULL;
  ours.bind = theirs.bind;
  ours.n_bind = theirs.n_bind;
  ours.passes = theirs.passes;
  vt_arena_init(&x.arena, a);
  vt_status s = start(m, how, give, user, &p, d);
  if (s == VT_OK) s = start(m, &ours, give, user, &q, d);
  if (s == VT_OK) s = compare(p, q, &x, d);
  if (s == VT_OK) s = keep_inputs(m, q, &x, d);
  vt_program_free(p);
  vt_program_free(q);
  if (s == VT_OK) *out = x;
  if (s != VT_OK) vt_divergence_done(&x);
  return s;
}

void vt_divergence_done(vt_divergence *x) {
  vt_arena_done(&x->arena);
  *x = (vt_divergence){0};
}

/* ---- writing ---- */

vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) {
  char path[4096];
  (void)mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/model.vt", folder);
  VT_TRY(vt_bytes_write(path, x->model, strlen(x->model), d));
  vt_text_add(out_command, "volta parity model.vt --backends reference:0,%s --allow-unadmitted",
              backend);
  for (uint32_t i = 0; i < x->n_inputs; i++) {
    snprintf(path, sizeof path, "%s/%s.npy", folder, x->names[i]);
    VT_TRY(vt_npy_write(path, &x->inputs[i], d));
    vt_text_add(out_command, " --in %s=%s.npy", x->names[i], x->names[i]);
  }
  return vt_text_status(out_command) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}
