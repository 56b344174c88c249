/* SPDX-License-Identifier: Apache-2.0
 * vt_suite.h - the conformance suite: what a backend is asked, and what the reference answered.
 * Case files (*.cts, docs/conformance.md) are expanded into cases; a case is a model, a kind of
 * values, and the start of the digest that a run of it must have. The library carries the suite
 * that it was built with; a folder of case files gives another.
 *
 *   vt_suite_built_in | vt_suite_read -> vt_suite_choose_short -> vt_case_run for each ->
 * vt_suite_free
 *
 * A suite that was read is never changed again: its cases may run in several threads at once. */
#ifndef VT_SUITE_H
#define VT_SUITE_H
#include "vt_arena.h"
#include "vt_hash.h"
#include "vt_op.h"
#include "vt_text.h"

/* ---- what a suite is made of ---- */

/* What the values of the inputs are like; case_inputs.c says what each is. */
enum {
  VT_MIX_ORDINARY,
  VT_MIX_SPECIAL,
  VT_MIX_TINY,
  VT_MIX_WIDE,
  VT_MIX_ZEROS,
  VT_MIX_FLAT,
  VT_MIX_FEW,
  VT_MIXES
};
const char *vt_mix_name(int mix); /* "ordinary"; NULL when there is none */

/* What `sizes` stands for in an `over` line: lengths around the widths of vectors, and around the
 * ends of blocks and chunks. */
enum { VT_SUITE_SIZES = 15 };
extern const int64_t vt_suite_size[VT_SUITE_SIZES];

/* A line `grad x` or `given x`, either with `in lo..hi`. */
typedef struct vt_suite_domain {
  const char *input;
  int wanted; /* the derivative by it is asked for */
  double lo, hi;
} vt_suite_domain;

/* A line `over A & B = 1 & 2 | 3 & 4`: n_values rows of n_names texts. */
typedef struct vt_suite_over {
  uint32_t n_names, n_values;
  const char **name, **value;
} vt_suite_over;

/* From `case` to `end`, as written. */
typedef struct vt_suite_block {
  const char *file; /* "norm.cts" */
  uint32_t line;
  const vt_op_info *op;
  const char *name; /* "softmax.wide" */
  const char *text; /* lines of the model, variables and all */
  uint32_t mixes;   /* a bit each */
  uint32_t n_over, n_domains, cap_over, cap_domains;
  vt_suite_over *over;
  vt_suite_domain *domain;
  int straight; /* `straight x`: a gradient that is by definition not the slope */
  int may_fail; /* `expect range`: an index may be out of range */
} vt_suite_block;

/* A block with one value for each variable. */
typedef struct vt_suite_model {
  const vt_suite_block *block;
  const char *name; /* "softmax.wide/S=1,5/A=0" */
  const char *text;
} vt_suite_model;

typedef struct vt_case {
  const vt_suite_model *model; /* its op is model->block->op */
  const char *name;            /* "softmax.wide/S=1,5/A=0/special" */
  int mix;                     /* VT_MIX_* */
  int gradient;                /* the model's gradient is run instead of the model */
  const uint8_t *expected;     /* the first eight bytes of its digest, or NULL: none is stored */
} vt_case;

/* A model of examples/ with a digest that is published. */
typedef struct vt_suite_example {
  const char *name; /* "mlp.vt" */
  const char *text;
  uint32_t n_bind;
  const vt_binding *bind;
  uint64_t seed;        /* for vt_program_init_params */
  uint64_t inputs_seed; /* for vt_program_random_inputs */
  uint8_t digest[32];   /* of the run */
} vt_suite_example;

typedef struct vt_suite {
  vt_alloc alloc;
  vt_arena arena; /* everything below lies here */
  uint32_t n_blocks, n_models, n_cases, n_examples;
  uint32_t cap_blocks, cap_models, cap_cases, cap_examples;
  vt_suite_block **block;
  vt_suite_model **model;
  vt_case *cases;            /* ascending by the bytes of their names, each name once */
  vt_suite_example *example; /* of the built-in suite; as published */
  uint32_t n_left_over;      /* stored digests that are of no case */
  const char *left_over;     /* the first of them, or NULL */
} vt_suite;

/* ---- reading ---- */

/* Every *.cts of a folder, and its cts.digests. A file that is wrong is VT_FORMAT, and the text
 * starts with "FILE:LINE: "; one that asks for too much is VT_LIMIT. `alloc` may be NULL. */
vt_status vt_suite_read(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                        vt_diag *d) VT_NODISCARD;
/* The same without cts.digests: nothing is expected of any case. */
vt_status vt_suite_read_cases(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                              vt_diag *d) VT_NODISCARD;
/* The one that the library carries, with the examples. Every case has an answer; cases that are not
 * those the answers were stored for are VT_INTERNAL. */
vt_status vt_suite_built_in(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
void vt_suite_free(vt_suite *s);

/* ---- all cases ---- */

/* What certificates name a suite by: BLAKE2b-256 over the number of cases as u64 (little-endian)
 * and for each case, in ascending order of the bytes of their names, the name, a byte 0, a byte
 * that says how many bytes are stored (8, or 0 where none are), and these bytes. */
void vt_suite_digest(const vt_suite *s, vt_hash256 *out);
/* The first eight bytes of the digest that case `i` must have, or NULL. */
const uint8_t *vt_suite_expected(const vt_suite *s, uint32_t i);
/* The case of this name; n_cases when there is none. */
uint32_t vt_suite_find(const vt_suite *s, const char *name);
/* 1 where `pattern` is the op of case `i`, or fits its whole name (`*` stands for anything). */
int vt_suite_matches(const vt_suite *s, uint32_t i, const char *pattern);
/* One case for each op, element types and mix, and a few more: chosen[i] becomes 1 for these and 0
 * for the others. */
vt_status vt_suite_choose_short(const vt_suite *s, uint8_t *chosen, vt_diag *d) VT_NODISCARD;

/* 1 where a `grad` line asks for a derivative that the op has a rule for. */
int vt_suite_has_gradient(const vt_suite_block *b);
/* Adds the gradient of a model to `out`, as a model of its own: it takes what the model takes and
 * dy.NAME for every float output, and gives dx.NAME for every input that a `grad` line names. */
vt_status vt_suite_gradient(const vt_suite_model *m, vt_alloc a, vt_text *out,
                            vt_diag *d) VT_NODISCARD;

/* ---- one case ---- */

/* Adds the text of the model that the case runs: the one written, or its gradient. */
vt_status vt_case_text(const vt_suite *s, uint32_t i, vt_text *out, vt_diag *d) VT_NODISCARD;
/* The same parsed; VT_FORMAT when it is not about the op that the case is written for. */
vt_status vt_case_model(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                        vt_diag *d) VT_NODISCARD;

/* Values for what a model takes, in the order of declaration. */
typedef struct vt_case_input {
  vt_port_info info; /* its texts are the model's */
  vt_tensor t;
} vt_case_input;
typedef struct vt_case_inputs {
  vt_arena arena;
  uint32_t n;
  vt_case_input *input;
} vt_case_inputs;
/* Zeros for everything that a model without symbolic dimensions takes. The model has to live as
 * long. `vt_case_inputs_done` may be called on zeroed memory. */
vt_status vt_case_inputs_init(const vt_model *m, const vt_alloc *alloc, vt_case_inputs *out,
                              vt_diag *d) VT_NODISCARD;
void vt_case_inputs_done(vt_case_inputs *in);
/* Draws every element of all inputs; of one alone, from a seed of its own. */
void vt_case_inputs_draw(vt_case_inputs *in, int mix, uint64_t seed);
void vt_case_input_draw(vt_case_input *x, int mix, uint64_t seed);
/* Hands all of them to a program. */
vt_status vt_case_inputs_give(const vt_case_inputs *in, vt_program *p, vt_diag *d) VT_NODISCARD;
/* The seed that a name stands for, and the next number of a sequence (splitmix64). */
uint64_t vt_case_seed(const char *name);
uint64_t vt_case_random(uint64_t *state);

/* Model and inputs of a case, to be run by hand; the caller frees both, the inputs first. */
vt_status vt_case_open(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                       vt_case_inputs *out_inputs, vt_diag *d) VT_NODISCARD;

enum {
  VT_CASE_PASSED,      /* the digest starts as is stored */
  VT_CASE_DIFFERS,     /* it starts otherwise */
  VT_CASE_UNSUPPORTED, /* vt_program_new says VT_UNSUPPORTED: the backend does not declare it */
  VT_CASE_FAILED,      /* the case cannot be read, opened or run */
  VT_CASE_UNKNOWN      /* it ran, and nothing is stored to compare it with */
};
typedef struct vt_case_result {
  int outcome;
  vt_status status;   /* of the run. VT_RANGE may be the right answer: then it has a digest too */
  uint8_t digest[32]; /* unless unsupported or failed */
  char text[480];     /* why it did not pass, or "" */
} vt_case_result;

/* Runs a case with these options; `passes` NULL stands for "bind,lower": nothing may be folded,
 * dropped or shared on the way, so that the backend runs the op itself. Everything that is taken is
 * given back. Memory comes from how->alloc. */
void vt_case_run(const vt_suite *s, uint32_t i, const vt_options *how, vt_case_result *out);
/* The same of a case that is open. The program is handed out where there is one (else NULL), to be
 * compared with another; the caller frees it. */
void vt_case_try(const vt_suite *s, uint32_t i, const vt_model *m, const vt_case_inputs *in,
                 const vt_options *how, vt_program **out_program, vt_case_result *out);
/* What a run of a case comes to that ended with `status` and `d`; `p` is NULL where there is no
 * program. */
void vt_case_verdict(const vt_suite *s, uint32_t i, vt_program *p, vt_status status, vt_diag *d,
                     vt_case_result *out);
/* Opens a program with these options as above, gives it the inputs and runs it. On failure it is
 * handed out as far as it came (or NULL). Nothing that the device declares is tried before: a case
 * judges by itself. */
vt_status vt_case_start(const vt_model *m, const vt_case_inputs *in, const vt_options *how,
                        vt_program **out_program, vt_diag *d) VT_NODISCARD;
#endif
