/* SPDX-License-Identifier: Apache-2.0
 * diverge.h - finds where a backend diverges from the reference. From a model whose results differ
 * it finds the first diverging op, whose operands agree and whose result does not, and a
 * reproducer, the smallest model found that still diverges. Whatever it reports was run and seen to
 * differ. */
#ifndef VT_DIVERGE_H
#define VT_DIVERGE_H
#include "volta/volta.h"
#include "vt_arena.h"
#include "vt_text.h"

/* A fault that one run of the model does not show: the check that found it, the case or op that
 * showed it, the reason of the refusal, and the command that repeats the check. */
typedef struct vt_fault_report {
  const char *check, *subject, *reason, *command;
} vt_fault_report;

typedef struct vt_divergence {
  vt_arena arena; /* owns everything below */
  /* Name of the op, "matmul", or of a group's ops, "mul+add", if it runs as one launch. */
  const char *op;
  const char *signature; /* op and types: "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output;    /* name of the diverging result */
  const char *index;     /* position in that result of the first element that differs: "[3, 0]" */
  uint32_t dtype;
  uint64_t bits, expected; /* bits of that element from the backend, and from the reference */
  uint64_t distance;       /* number of representable values between `bits` and `expected` */
  /* Number of elements of the result that differ, and of all its elements. */
  uint64_t differing, compared;
  const char *model;  /* the reproducer's model, in the text form */
  const char *passes; /* passes with which the reproducer diverges; NULL: all, the default */
  int untried;       /* 1: the capability probes refuse the backend, so they must be switched off */
  uint32_t threads;  /* number of threads with which the reproducer diverges; 0: any number */
  uint32_t n_inputs; /* number of inputs of the reproducer */
  const char **names; /* names of the inputs */
  vt_tensor *inputs;  /* values of the inputs, computed by the reference */
  /* The result `output` as the backend computes it, and as the reference does. */
  vt_tensor result, right;
  int isolated; /* 1: the reproducer is one op, or one op and a few before it; 0: only the whole
                   model diverges, so the reproducer is the whole model with its parameters as
                   inputs */
} vt_divergence;

/* Sets the parameters and inputs of a program. It is called for every program that is created for
 * the bound model, and must set the same values each time. */
typedef vt_status vt_diverge_set_values(void *user, vt_program *p, vt_diag *d);

/* Finds the divergence between "reference:0" and the backend of the options `how`. VT_NAME if no
 * output differs. An error of either run is returned unchanged. */
vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_set_values *give,
                          void *user, vt_divergence *out, vt_diag *d) VT_NODISCARD;
/* Makes a divergence of the whole model with its inputs, without a search, for a fault that does
 * not show again. `op` and `signature` are those of the node that makes the first result; the
 * caller sets `index`, `bits`, `expected` and the counts. VT_NAME if the model has no node to
 * run. */
vt_status vt_diverge_whole_model(const vt_model *m, const vt_options *how,
                                 vt_diverge_set_values *give, void *user, vt_divergence *out,
                                 vt_diag *d) VT_NODISCARD;
void vt_divergence_done(vt_divergence *x); /* frees the fields; does nothing for zeroed memory */

/* Writes FOLDER/model.vt, FOLDER/NAME.npy for every input (NAME.safetensors for bf16, which npy
 * cannot hold) and FOLDER/README.txt: all of them or none. A folder that holds an older divergence
 * is replaced; for any other that is not empty VT_IO is returned. `backend` is the name that the
 * user gave, with a path relative to the current folder. `out_command` gets the command that shows
 * the divergence again in FOLDER: "volta parity model.vt --in x=x.npy --backends
 * reference:0,../libfoo.so --allow-unadmitted". */
vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) VT_NODISCARD;
/* Writes the folder for a divergence of vt_diverge_whole_model; README.txt then describes the fault
 * report. */
vt_status vt_divergence_write_report(const vt_divergence *x, const vt_fault_report *seen,
                                     const char *folder, const char *backend,
                                     vt_diag *d) VT_NODISCARD;
/* Prints the position of element `i` of a dense tensor as "[3, 0]". */
enum { VT_INDEX_TEXT = VT_MAX_RANK * 24 + 3 };
void vt_position_print(const vt_tensor *t, uint64_t element, char out[VT_INDEX_TEXT]);
/* Appends a word, quoted for a shell if necessary. */
void vt_text_add_shell_word(vt_text *out, const char *word);
#endif
