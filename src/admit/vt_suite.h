/* SPDX-License-Identifier: Apache-2.0
 * vt_suite.h - the conformance suite: test cases for backends, with digests of the reference's
 * results. Case files (*.cts, docs/conformance.md) are expanded into cases. A case is a model, a
 * kind of input values, and the first bytes of the digest that its run must have. The library
 * contains the suite that it was built with; a folder of case files gives another.
 *
 *   vt_suite_built_in or vt_suite_read, vt_suite_choose_short, vt_case_run for each, vt_suite_free
 *
 * A suite is never changed after it was read, so its cases may run in several threads at once. */
#ifndef VT_SUITE_H
#define VT_SUITE_H
#include "vt_arena.h"
#include "vt_hash.h"
#include "vt_op.h"
#include "vt_text.h"

/* ---- the contents of a suite ---- */

/* A mix is a kind of input values; case_inputs.c describes each. */
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
const char *vt_mix_name(int mix); /* name of a mix, "ordinary"; NULL for a number out of range */

/* The lengths that the word `sizes` stands for in an `over` line: they are around the widths of
 * vectors and around the ends of blocks and chunks. */
enum { VT_SUITE_SIZES = 15 };
extern const int64_t vt_suite_size[VT_SUITE_SIZES];

/* A line `grad x` or `given x` of a case file, either with `in lo..hi`. */
typedef struct vt_suite_domain {
  const char *input; /* name of the input */
  int wanted;        /* 1 for `grad`: the gradient by this input is tested */
  double lo, hi;     /* range from which the input's values are drawn when derivatives are tested */
} vt_suite_domain;

/* A line `over A & B = 1 & 2 | 3 & 4` of a case file, which gives rows of values to variables. */
typedef struct vt_suite_over {
  uint32_t n_names, n_values; /* number of variables in a row, and of rows */
  const char **name;          /* the variables */
  const char **value;         /* n_values rows with a text for each variable */
} vt_suite_over;

/* The lines from `case` to `end` of a case file, not yet expanded. */
typedef struct vt_suite_block {
  const char *file; /* name of the case file: "norm.cts" */
  uint32_t line;    /* number of the line with the word `case` */
  const vt_op_info *op;
  const char *name; /* name of the block: "softmax.wide" */
  const char *text; /* lines of the model, with variables such as $S */
  uint32_t mixes;   /* the mixes in use: bit VT_MIX_x is set for mix x */
  /* Used and allocated lengths of `over` and `domain`. */
  uint32_t n_over, n_domains, cap_over, cap_domains;
  vt_suite_over *over;
  vt_suite_domain *domain;
  int straight; /* 1: line `straight x`: the gradient by definition differs from the function's
                   slope */
  int may_fail; /* 1: line `expect range`: the run may fail with an index out of range */
} vt_suite_block;

/* The model of a block with one value for each variable. */
typedef struct vt_suite_model {
  const vt_suite_block *block;
  const char *name; /* name of the model, from the block's name and the variables:
                       "softmax.wide/S=1,5/A=0" */
  const char *text; /* the model in the text form */
} vt_suite_model;

typedef struct vt_case {
  const vt_suite_model *model; /* the model that the case runs; its op is model->block->op */
  const char *name;            /* name of the case, from the model's name and the mix:
                                  "softmax.wide/S=1,5/A=0/special" */
  int mix;                     /* kind of input values, VT_MIX_* */
  int gradient;                /* 1: the model's gradient is run instead of the model */
  const uint8_t *expected;     /* first eight bytes of the stored digest; NULL: not stored */
} vt_case;

/* A model of examples/ with its published digest. */
typedef struct vt_suite_example {
  const char *name;       /* name of the model's file: "mlp.vt" */
  const char *text;       /* the model in the text form */
  uint32_t n_bind;        /* number of values in `bind` */
  const vt_binding *bind; /* values of the symbolic dimensions */
  uint64_t seed;          /* seed of the parameters, for vt_program_init_params */
  uint64_t inputs_seed;   /* seed of the inputs, for vt_program_random_inputs */
  uint8_t digest[32];     /* published digest of the run */
} vt_suite_example;

typedef struct vt_suite {
  vt_alloc alloc;
  vt_arena arena;                                           /* owns all arrays and texts below */
  uint32_t n_blocks, n_models, n_cases, n_examples;         /* used lengths of the arrays below */
  uint32_t cap_blocks, cap_models, cap_cases, cap_examples; /* allocated lengths */
  vt_suite_block **block;
  vt_suite_model **model;
  vt_case *cases;            /* in ascending byte order of their names, which are unique */
  vt_suite_example *example; /* the examples, which only the built-in suite has */
  uint32_t n_left_over;      /* number of digests in cts.digests whose name is not that of a case */
  const char *left_over;     /* the first of these names, or NULL */
} vt_suite;

/* ---- reading ---- */

/* Reads every *.cts of a folder and its cts.digests. A malformed file gives VT_FORMAT and a message
 * that starts with "FILE:LINE: "; a file that expands to too many cases gives VT_LIMIT. `alloc` may
 * be NULL. */
vt_status vt_suite_read(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                        vt_diag *d) VT_NODISCARD;
/* Reads a folder like vt_suite_read, but without cts.digests: no case has an expected digest. */
vt_status vt_suite_read_cases(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                              vt_diag *d) VT_NODISCARD;
/* Reads the suite in the library, with the examples. Every case has an expected digest; VT_INTERNAL
 * if the digests were stored for other cases. */
vt_status vt_suite_built_in(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
void vt_suite_free(vt_suite *s);

/* ---- all cases ---- */

/* The digest by which certificates name a suite. It is BLAKE2b-256 over the number of cases as u64
 * (little-endian), and then over the cases in ascending byte order of their names. For each case it
 * hashes the name, a byte 0, the number of stored bytes of its digest as one byte (8, or 0 if no
 * digest is stored), and these bytes. */
void vt_suite_digest(const vt_suite *s, vt_hash256 *out);
/* The first eight bytes of the digest that case `i` must have, or NULL. */
const uint8_t *vt_suite_expected_digest(const vt_suite *s, uint32_t i);
/* The number of the case with this name; n_cases if not found. */
uint32_t vt_suite_find(const vt_suite *s, const char *name);
/* 1 if `pattern` is the op of case `i`, or matches its whole name (`*` matches any text). */
int vt_suite_case_matches(const vt_suite *s, uint32_t i, const char *pattern);
/* Chooses the cases of the short form: at least one for each combination of op, element types and
 * mix, and a few more. chosen[i] becomes 1 for these and 0 for the others. */
vt_status vt_suite_choose_short(const vt_suite *s, uint8_t *chosen, vt_diag *d) VT_NODISCARD;

/* 1 if the block has a `grad` line and its op has a gradient rule. */
int vt_suite_has_gradient(const vt_suite_block *b);
/* Appends the gradient of a model to `out`, as a model in the text form. Its inputs are those of
 * the model and dy.NAME for every float output; its outputs are dx.NAME for every input in a `grad`
 * line. */
vt_status vt_suite_write_gradient(const vt_suite_model *m, vt_alloc a, vt_text *out,
                                  vt_diag *d) VT_NODISCARD;

/* ---- one case ---- */

/* Appends the model that the case runs, in the text form: that of the case file, or its
 * gradient. */
vt_status vt_case_model_text(const vt_suite *s, uint32_t i, vt_text *out, vt_diag *d) VT_NODISCARD;
/* Parses the model that the case runs; VT_FORMAT if it does not use the op of the case. */
vt_status vt_case_model(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                        vt_diag *d) VT_NODISCARD;

/* The value of one input or parameter of a model. */
typedef struct vt_case_input {
  vt_port_info info; /* name and type of the input; its texts belong to the model */
  vt_tensor t;
} vt_case_input;
/* The values of all inputs and parameters, in the order of declaration. */
typedef struct vt_case_inputs {
  vt_arena arena;
  uint32_t n;
  vt_case_input *input;
} vt_case_inputs;
/* Allocates zeros for all inputs and parameters of a model without symbolic dimensions. The model
 * must outlive `out`. `vt_case_inputs_done` may be called on zeroed memory. */
vt_status vt_case_inputs_init(const vt_model *m, const vt_alloc *alloc, vt_case_inputs *out,
                              vt_diag *d) VT_NODISCARD;
void vt_case_inputs_done(vt_case_inputs *in);
/* Draws every element of all inputs, or of one input, from the values of a mix. */
void vt_case_inputs_draw(vt_case_inputs *in, int mix, uint64_t seed);
void vt_case_input_draw(vt_case_input *x, int mix, uint64_t seed);
/* Sets all inputs and parameters of a program. */
vt_status vt_case_inputs_set(const vt_case_inputs *in, vt_program *p, vt_diag *d) VT_NODISCARD;
/* The seed derived from a name. The function after it returns the next number of the random
 * generator splitmix64. */
uint64_t vt_case_seed(const char *name);
uint64_t vt_case_next_random(uint64_t *state);

/* Opens a case: its model and its inputs. The caller frees both, the inputs first. */
vt_status vt_case_open(const vt_suite *s, uint32_t i, const vt_alloc *alloc, vt_model **out_model,
                       vt_case_inputs *out_inputs, vt_diag *d) VT_NODISCARD;

enum {
  VT_CASE_PASSED,      /* the run's digest starts with the stored bytes */
  VT_CASE_DIFFERS,     /* the run's digest starts with other bytes */
  VT_CASE_UNSUPPORTED, /* vt_program_new returned VT_UNSUPPORTED: the backend refuses the model */
  VT_CASE_FAILED,      /* the case cannot be read, opened or run */
  VT_CASE_UNKNOWN      /* the case ran, but no digest is stored to compare with */
};
typedef struct vt_case_result {
  int outcome;      /* whether the case passed, VT_CASE_* */
  vt_status status; /* status of the run; if a case expects an index out of range, VT_RANGE, and the
                       digest is that of the message */
  uint8_t digest[32]; /* digest of the run; zeros if unsupported or failed */
  char text[480];     /* the reason why the case did not pass, or "" */
} vt_case_result;

/* Runs a case with the options `how`. If `how->passes` is NULL, they are "bind,lower", because
 * other passes might fold, drop or share the op, and then the backend would not run it. Memory
 * comes from how->alloc and is all freed. */
void vt_case_run(const vt_suite *s, uint32_t i, const vt_options *how, vt_case_result *out);
/* Runs a case that is open. *out_program becomes the program, which the caller frees, or NULL if it
 * could not be created. */
void vt_case_run_opened(const vt_suite *s, uint32_t i, const vt_model *m, const vt_case_inputs *in,
                        const vt_options *how, vt_program **out_program, vt_case_result *out);
/* Sets the result of a case whose run ended with `status` and the message `d`. `p` is its program,
 * or NULL. */
void vt_case_result_of_run(const vt_suite *s, uint32_t i, vt_program *p, vt_status status,
                           vt_diag *d, vt_case_result *out);
/* Creates a program with the options as in vt_case_run, sets its inputs and runs it. On failure
 * *out_program is the program if it was created, else NULL. Declared capabilities are not probed
 * first, because the case itself tests the backend. */
vt_status vt_case_run_program(const vt_model *m, const vt_case_inputs *in, const vt_options *how,
                              vt_program **out_program, vt_diag *d) VT_NODISCARD;
#endif
