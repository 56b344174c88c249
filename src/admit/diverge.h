/* SPDX-License-Identifier: Apache-2.0
 * diverge.h - where two backends part: from a model whose results differ to the first op that gives
 * other bits though its operands agree, and to the smallest model that shows it again. Everything
 * is run, nothing is guessed: what is handed out was seen to differ. */
#ifndef VT_DIVERGE_H
#define VT_DIVERGE_H
#include "volta/volta.h"
#include "vt_arena.h"
#include "vt_text.h"

/* For a fault that no run of the model alone shows: who saw it, and what is run to see it again. */
typedef struct vt_sighting {
  const char *check, *subject, *reason, *command;
} vt_sighting;

typedef struct vt_divergence {
  vt_arena arena;             /* everything below */
  const char *op;             /* "matmul"; of a group that is run as one, "mul+add" */
  const char *signature;      /* "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output, *index; /* name of the result, and its first element that differs: "[3, 0]" */
  uint32_t dtype;
  uint64_t bits, expected;      /* of that element: the backend's, and the reference's */
  uint64_t distance;            /* in representable values between the two */
  uint64_t differing, compared; /* elements of that result */
  const char *model;            /* the smallest model as text; parses, runs alone */
  const char *passes;           /* that show it; NULL: all, as without the option */
  int untried;                  /* 1: a backend that is tried first is refused before it runs it */
  uint32_t threads;             /* that show it; 0: any number */
  uint32_t n_inputs;
  const char **names;
  vt_tensor *inputs;       /* of the smallest model, values of the reference */
  vt_tensor result, right; /* what the backend and the reference give for `output` */
  int isolated; /* 1: the op shows it, alone or with a few before it; 0: only the whole model does,
                   and `model` is that, with parameters as inputs */
} vt_divergence;

/* Gives a program its params and inputs. Called for every program that is made, whose params and
 * inputs are those of the model without symbols; each time it must give the same values. */
typedef vt_status vt_diverge_give(void *user, vt_program *p, vt_diag *d);

/* `how` is how the backend under judgement runs; it is held to "reference:0". VT_NAME when no
 * output differs. A failure of either run is returned as it is. */
vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_give *give,
                          void *user, vt_divergence *out, vt_diag *d) VT_NODISCARD;
/* All of the model with its inputs, for a fault that was seen and does not show again. `op` and
 * `signature` are those of the node that makes the first result that is made; what was seen is for
 * the caller to fill in. VT_NAME when nothing in the model is run. */
vt_status vt_diverge_keep(const vt_model *m, const vt_options *how, vt_diverge_give *give,
                          void *user, vt_divergence *out, vt_diag *d) VT_NODISCARD;
void vt_divergence_done(vt_divergence *x); /* zeroed memory is fine */

/* Writes FOLDER/model.vt, FOLDER/NAME.npy for every input (NAME.safetensors for bf16, which npy
 * cannot hold) and FOLDER/README.txt: all of them or none. A folder that holds an older one of
 * these is replaced; any other that is not empty is VT_IO. `backend` is how the user named it,
 * relative to the current folder. `out_command` gets what shows it again, run in FOLDER: "volta
 * parity model.vt --in x=x.npy --backends reference:0,../libfoo.so --allow-unadmitted". */
vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) VT_NODISCARD;
/* The same with a page that says how it was seen, for one that vt_diverge_keep made. */
vt_status vt_divergence_write_seen(const vt_divergence *x, const vt_sighting *seen,
                                   const char *folder, const char *backend,
                                   vt_diag *d) VT_NODISCARD;
/* "[3, 0]": where element `i` of a dense tensor is. */
enum { VT_INDEX_TEXT = VT_MAX_RANK * 24 + 3 };
void vt_index_print(const vt_tensor *t, uint64_t i, char out[VT_INDEX_TEXT]);
/* Adds a word as a shell reads it back. */
void vt_text_word(vt_text *out, const char *word);
#endif
