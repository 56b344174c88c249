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

/* A fault that one run of the model does not show: the check that found it, its subject and reason,
 * and the command that repeats the check. */
typedef struct vt_fault_report {
  const char *check, *subject, *reason, *command;
} vt_fault_report;

typedef struct vt_divergence {
  vt_arena arena;        /* owns everything below */
  const char *op;        /* name of the op: "matmul"; of a group that runs as one: "mul+add" */
  const char *signature; /* op and types: "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output;    /* name of the diverging result */
  const char *index;     /* position of its first element that differs: "[3, 0]" */
  uint32_t dtype;
  uint64_t bits, expected;      /* that element: the backend's bits, and the reference's */
  uint64_t distance;            /* number of representable values between the two */
  uint64_t differing, compared; /* number of elements of the result */
  const char *model;            /* the reproducer as text */
  const char *passes;           /* passes with which it diverges; NULL: all, the default */
  int untried;       /* 1: the capability probes refuse the backend, so they must be switched off */
  uint32_t threads;  /* number of threads with which it diverges; 0: any number */
  uint32_t n_inputs; /* number of inputs of the reproducer */
  const char **names;      /* their names */
  vt_tensor *inputs;       /* their values, computed by the reference */
  vt_tensor result, right; /* `output` as the backend and as the reference compute it */
  int isolated; /* 1: the reproducer is the op, or the op and a few before it; 0: only the whole
                 * model diverges, and the reproducer is that, with parameters as inputs */
} vt_divergence;

/* Sets the parameters and inputs of a program. It is called for every program that is created for
 * the bound model, and must set the same values each time. */
typedef vt_status vt_diverge_set_values(void *user, vt_program *p, vt_diag *d);

/* Finds the divergence of a model that runs with the options `how`, compared with "reference:0".
 * VT_NAME if no output differs. An error of either run is returned unchanged. */
vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_set_values *give,
                          void *user, vt_divergence *out, vt_diag *d) VT_NODISCARD;
/* Makes a divergence of the whole model with its inputs, without a search. It is for a fault that
 * does not show again. `op` and `signature` are those of the node that makes the first result; the
 * caller sets the fields of the difference. VT_NAME if the model has no node to run. */
vt_status vt_diverge_whole_model(const vt_model *m, const vt_options *how,
                                 vt_diverge_set_values *give, void *user, vt_divergence *out,
                                 vt_diag *d) VT_NODISCARD;
void vt_divergence_done(vt_divergence *x); /* also valid for zeroed memory */

/* Writes FOLDER/model.vt, FOLDER/NAME.npy for every input (NAME.safetensors for bf16, which npy
 * cannot hold) and FOLDER/README.txt: all of them or none. A folder that holds an older one of
 * these is replaced; any other that is not empty is VT_IO. `backend` is how the user named it,
 * relative to the current folder. `out_command` gets what shows it again, run in FOLDER: "volta
 * parity model.vt --in x=x.npy --backends reference:0,../libfoo.so --allow-unadmitted". */
vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) VT_NODISCARD;
/* The same with a page that describes the fault report, for a divergence that
 * vt_diverge_whole_model made. */
vt_status vt_divergence_write_report(const vt_divergence *x, const vt_fault_report *seen,
                                     const char *folder, const char *backend,
                                     vt_diag *d) VT_NODISCARD;
/* Prints the position of element `i` of a dense tensor as "[3, 0]". */
enum { VT_INDEX_TEXT = VT_MAX_RANK * 24 + 3 };
void vt_index_print(const vt_tensor *t, uint64_t i, char out[VT_INDEX_TEXT]);
/* Appends a word, quoted for a shell if necessary. */
void vt_text_shell_word(vt_text *out, const char *word);
#endif
