/* SPDX-License-Identifier: Apache-2.0
 * program.h - the fields of a program, and functions on programs for the rest of the library.
 * Private to the library. */
#ifndef VT_PROGRAM_H
#define VT_PROGRAM_H
#include <stdatomic.h>
#include "prepare.h"

/* An allocator that counts requests and forwards them to another allocator. */
typedef struct vt_counting {
  vt_alloc inner;         /* the allocator that requests are forwarded to */
  atomic_ullong requests; /* number of allocations and reallocations so far */
} vt_counting;
vt_alloc vt_counting_alloc(vt_counting *c);

/* The texts of a step for the metrics. */
typedef struct vt_step_label {
  const char *name, *type; /* name and type of the step's first result */
} vt_step_label;

struct vt_program {
  vt_counting counting; /* counts the requests to `a` */
  vt_alloc a;           /* allocator of everything that the program owns */
  vt_arena arena;       /* owns the arrays below, except labels, names and texts */
  vt_device *dev;
  vt_pipeline line;
  vt_terms terms;
  int mixed;         /* 1: an output of a program on another backend was fed to an input */
  const vt_graph *g; /* the graph after the last pass; this graph runs */
  uint8_t *given;    /* for each port: 1 if it has a value */
  uint32_t *order;   /* result indices in ascending byte order of their names */
  /* The outputs, in the order of `order`; their data pointers are set when the program is
   * created. */
  vt_tensor *results;
  /* For each output: 1 if its data is the device's own memory, 0 if it is a copy. */
  uint8_t *in_place;
  uint8_t *read;         /* for each output: 1 if its data is that of the last run */
  int published;         /* 1: the last run succeeded and its outputs may be read */
  uint64_t allocations;  /* number of allocation requests during the last run */
  vt_arena label_arena;  /* owns `labels` and `names` */
  vt_step_label *labels; /* for each launch: name and type; NULL until first requested */
  const char **names;    /* for each value: its name; NULL until first requested */
  /* The caller's progress callback, or NULL, and its first argument. */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  void *progress_user;
  vt_text
      *texts; /* the graph after each pass that ran, then the plan; each printed when requested */
};

/* Creates a program as vt_program_new does. `flags` are those of vt_prepare; VT_PREPARE_OPEN is
 * added. */
vt_status vt_program_new_with_flags(const vt_model *m, const vt_options *o, int flags,
                                    vt_program **out_program, vt_diag *d) VT_NODISCARD;

/* Connects an execution to the progress callback of a program. */
typedef struct vt_watch {
  vt_program *p;
  const char *what; /* what the callback is told: "run" or "parameters" */
} vt_watch;
/* Sends the progress of `x` to the progress callback of w->p, if there is one. `w` must outlive the
 * runs. */
void vt_program_watch_progress(vt_watch *w, vt_exec *x);

/* A tensor of this type and shape, without data. */
vt_tensor vt_tensor_without_data(const vt_type *t);
/* Sets the value of a port: checks type, shape and range, replaces each NaN by the canonical one
 * and writes the data to the device. VT_TENSOR if the type or shape is not the declared one. */
vt_status vt_program_write(vt_program *p, uint32_t port, const vt_tensor *t,
                           vt_diag *d) VT_NODISCARD;
#endif
