/* SPDX-License-Identifier: Apache-2.0
 * diverge.h - where two backends part: the first op whose result differs though its operands agree,
 * and the smallest model that shows it. Private to the room. */
#ifndef VT_DIVERGE_H
#define VT_DIVERGE_H
#include "volta/volta_tools.h"
#include "vt_arena.h"
#include "vt_text.h"

typedef struct vt_divergence {
  vt_arena arena;             /* everything below */
  const char *op, *signature; /* "matmul", "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output, *index; /* the name of the result, "[3, 0]" */
  uint32_t dtype;
  uint64_t bits, expected, distance, differing, compared;
  const char *model; /* text of the smallest model, which runs alone */
  uint32_t n_inputs; /* what it takes, with the values of the reference */
  const char **names;
  vt_tensor *inputs;
  vt_tensor result, right; /* of the backend and of the reference */
  int isolated; /* 1: the one op alone shows it; 0: only the whole model, which `model` is then */
} vt_divergence;

/* Gives params and inputs their values; called for every program that is made. */
typedef vt_status vt_diverge_give(void *user, vt_program *p, vt_diag *d);
/* VT_NAME when nothing differs. */
vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_give *give,
                          void *user, vt_divergence *out, vt_diag *d) VT_NODISCARD;
void vt_divergence_done(vt_divergence *x);
/* FOLDER/model.vt and a file for each input; `backend` is how the user names it. `out_command` gets
 * what shows the difference again, from inside the folder. */
vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) VT_NODISCARD;
#endif
