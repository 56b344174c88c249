/* SPDX-License-Identifier: Apache-2.0
 * program.h - what a program holds; private to the api. */
#ifndef VT_PROGRAM_H
#define VT_PROGRAM_H
#include <stdatomic.h>
#include "prepare.h"

/* An allocator that counts what is asked of it, and passes it on. */
typedef struct vt_counted {
  vt_alloc below;
  atomic_ullong asked;
} vt_counted;
vt_alloc vt_counted_alloc(vt_counted *c);

/* A run of the plan in words. */
typedef struct vt_step_words {
  const char *name, *type;
} vt_step_words;

struct vt_program {
  vt_counted counted; /* under `a`, which all that belongs to the program is taken from */
  vt_alloc a;
  vt_arena arena;
  vt_device *dev;
  vt_pipeline line;
  vt_terms terms;
  int mixed;            /* an input came from another backend */
  const vt_graph *g;    /* the one that runs */
  uint8_t *given;       /* a port has its value; by port index */
  uint32_t *order;      /* results in ascending byte order of their names */
  vt_tensor *results;   /* in that order; NULL data when empty */
  uint8_t *in_place;    /* a result is looked at where the device has it; else it is a copy */
  uint8_t *read;        /* 1: what is there is of the last run */
  int published;        /* the last run succeeded */
  uint64_t allocations; /* while the last run ran */
  vt_arena word_arena;  /* of what follows */
  vt_step_words *words; /* by run; NULL until asked for */
  const char **names;   /* by value, likewise */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  void *progress_user;
  vt_text *texts; /* one for each pass that ran, then the plan's; printed when first asked for */
};

/* vt_program_new, and the flags of vt_prepare. */
vt_status vt_program_make(const vt_model *m, const vt_options *o, int how, vt_program **out_program,
                          vt_diag *d) VT_NODISCARD;

/* Reports of the execution of `line`, under the name `what`, reach the caller of the program. */
typedef struct vt_watch {
  vt_program *p;
  const char *what;
} vt_watch;
void vt_program_watch(vt_watch *w, vt_exec *x);

/* The tensor a port or result declares, without data. */
vt_tensor vt_tensor_like(const vt_type *t);
/* A host copy of `t` with canonical NaN, written to the device; VT_TENSOR when it does not fit. */
vt_status vt_program_write(vt_program *p, uint32_t port, const vt_tensor *t,
                           vt_diag *d) VT_NODISCARD;
#endif
