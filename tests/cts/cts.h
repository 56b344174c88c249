/* SPDX-License-Identifier: Apache-2.0
 * cts.h - the conformance suite: what its files share. Cases are written down in *.cts, expanded
 * here, run on a backend chosen by name, and compared with stored digests. */
#ifndef VT_CTS_H
#define VT_CTS_H
#include <stdio.h>
#include "vt_arena.h"
#include "vt_graph.h"
#include "vt_text.h"
#include "volta/volta_tools.h"

/* What the values of the inputs are like; cts_inputs.c says what each is. */
enum { CTS_ORDINARY, CTS_SPECIAL, CTS_TINY, CTS_WIDE, CTS_ZEROS, CTS_FLAT, CTS_FEW, CTS_MIXES };
extern const char *const cts_mix_name[CTS_MIXES];

/* What `sizes` stands for in an `over` line: lengths around the widths of vectors, and around the
 * ends of blocks and chunks. Every op has cases at all of them. */
enum { CTS_SIZES = 15 };
extern const int64_t cts_size[CTS_SIZES];

/* A line `grad x` or `given x`, either with `in lo..hi`. */
typedef struct cts_domain {
  const char *input;
  int wanted; /* the derivative by it is checked */
  double lo, hi;
} cts_domain;

/* A line `over A & B = 1 & 2 | 3 & 4`: n_values rows of n_names texts. */
typedef struct cts_over {
  uint32_t n_names, n_values;
  const char **name, **value;
} cts_over;

/* From `case` to `end`, as written. */
typedef struct cts_block {
  const char *file;
  uint32_t line;
  const vt_op_info *op;
  const char *name; /* "softmax.wide" */
  const char *text; /* lines of the model, variables and all */
  uint32_t mixes;   /* a bit each */
  uint32_t n_over, n_domains, cap_over, cap_domains;
  cts_over *over;
  cts_domain *domain;
  int straight; /* `straight x`: a gradient that is by definition not the slope */
  int may_fail; /* `expect range`: an index may be out of range */
} cts_block;

/* A block with one value for each variable. */
typedef struct cts_model {
  const cts_block *block;
  const char *name; /* "softmax.wide/S=1,5/A=0" */
  const char *text;
} cts_model;

typedef struct cts_case {
  const cts_model *model;
  const char *name; /* "softmax.wide/S=1,5/A=0/special" */
  int mix;
  int gradient; /* the model's gradient is run instead of the model */
} cts_case;

typedef struct cts_suite {
  vt_arena arena;
  uint32_t n_blocks, n_models, n_cases, cap_blocks, cap_models, cap_cases;
  cts_block **block;
  cts_model **model;
  cts_case *cases; /* ascending by name */
} cts_suite;

/* Says what is wrong with the suite itself (not with a backend) and ends the program with 2. */
_Noreturn void cts_die(const char *format, ...) VT_PRINTF(1, 2);

/* Reads every *.cts of a folder and expands it. */
void cts_suite_read(cts_suite *s, const char *folder);
void cts_suite_done(cts_suite *s);
/* 1 where `pattern` is the op, or fits the whole name (`*` stands for anything). */
int cts_matches(const cts_model *m, const char *name, const char *pattern);
/* One case for each op, element types and mix, and a few more: its index in `chosen` is set. */
void cts_choose_short(const cts_suite *s, uint8_t *chosen);

/* ---- values ---- */

uint64_t cts_seed(const char *name);
uint64_t cts_random(uint64_t *state);
/* Uniform in [0, 1). */
double cts_uniform(uint64_t *state);

typedef struct cts_port { /* an input or param with a value */
  vt_port_info info;
  vt_tensor t;
} cts_port;
typedef struct cts_inputs {
  uint32_t n;
  cts_port *port;
} cts_inputs;
/* Memory for everything the model takes, in the order of declaration; no values yet. */
void cts_inputs_new(cts_inputs *in, const vt_model *m);
void cts_inputs_free(cts_inputs *in);
void cts_inputs_draw(cts_inputs *in, int mix, uint64_t seed);
/* Integers and bools like an ordinary mix, floats spread over -2..2 or the domain of the block: no
 * two elements of a tensor close together, none close to the middle. */
void cts_inputs_spread(cts_inputs *in, const cts_block *b, uint64_t seed);
vt_status cts_inputs_give(const cts_inputs *in, vt_program *p, vt_diag *d) VT_NODISCARD;
uint64_t cts_count(const vt_tensor *t);
double cts_load(const vt_tensor *t, uint64_t i); /* f32 and f64 */
void cts_store(vt_tensor *t, uint64_t i, double x);
/* 1 and the numbers where a port declares a range. */
int cts_port_range(const vt_port_info *info, int64_t *lo, int64_t *hi);

/* ---- running ---- */

/* The model a case runs: the one written, or its gradient. NULL with the reason in `why` when the
 * gradient cannot be formed; free it. */
char *cts_case_text(const cts_case *c, char why[200]);

typedef struct cts_outcome {
  int failed;
  uint8_t digest[32];
  char said[700]; /* why it failed */
} cts_outcome;
/* Runs a case on one backend. `stored` is the digest to have, or NULL. */
void cts_run(const cts_case *c, const char *backend, const uint8_t *stored, cts_outcome *out);

/* ---- stored digests: the first eight bytes of each ---- */

typedef struct cts_digests {
  char *bytes;
  uint32_t n;
  const char **name;
  uint8_t (*digest)[8];
} cts_digests;
void cts_digests_read(cts_digests *d, const char *folder);
const uint8_t *cts_digests_find(const cts_digests *d, const char *name);
void cts_digests_free(cts_digests *d);
int cts_digests_write(const char *folder, const cts_suite *s, const cts_outcome *outcomes);

/* ---- the other ways to look at the suite; each writes to stdout and returns the failures ---- */

typedef struct cts_selection {
  const cts_suite *suite;
  const uint8_t *chosen; /* by case */
  unsigned jobs;
} cts_selection;

/* Forms the gradient graph of a model as text; NULL and the reason where there is none. */
char *cts_gradient_text(const cts_model *m, char why[200]);
int cts_has_gradient(const cts_block *b);
unsigned cts_check_gradients(const cts_selection *s);
unsigned cts_check_layouts(const cts_selection *s);
unsigned cts_check_complete(const cts_suite *s, uint32_t least, int gradients_required);
/* The graphs that models become, against graphs.digests in the folder; or that file, written. */
unsigned cts_check_graphs(const cts_suite *s, const char *folder);
unsigned cts_write_graphs(const cts_suite *s, const char *folder);
unsigned cts_dump(const cts_selection *s, const char *folder);
void cts_write_string(FILE *f, const char *s); /* as JSON */
#endif
