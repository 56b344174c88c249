/* SPDX-License-Identifier: Apache-2.0
 * state.h - the fields of a state, and what programs do with it. Private to the api. */
#ifndef VT_STATE_H
#define VT_STATE_H
#include <stdatomic.h>
#include "pipeline.h"
#include "volta/volta_tools.h"

/* One `state` declaration, bound. */
typedef struct vt_state_entry {
  const char *name;
  vt_type type;
  uint64_t offset, bytes; /* in the arena STATE */
  int lost; /* 1: a run that writes it has failed, and nothing has been written since */
} vt_state_entry;

struct vt_state {
  vt_alloc a;
  vt_arena arena; /* owns the entries and their names */
  atomic_uint_fast64_t references;
  atomic_flag busy; /* set during a run and during each call */
  uint32_t n;
  vt_state_entry *entries; /* in the order of declaration */
  vt_graph *init;          /* computes the first values; its results are the states, in order */
  vt_weights *weights;     /* gives some of the first values instead; may be NULL */
  vt_shared_buffer *buffer;
};

vt_state *vt_state_retain(vt_state *s);
/* 1 if the model's graph declares a state. */
int vt_graph_has_state(const vt_graph *g);
/* VT_TENSOR unless the plan's states have these names, types and places, and `dev` is a device of
 * the same backend and number. */
vt_status vt_state_check_fits(const vt_state *s, const vt_device *dev, const vt_plan *p,
                              vt_diag *d) VT_NODISCARD;
/* Takes the state for a run or a call; VT_USAGE if another thread has it. vt_state_leave gives it
 * back. */
vt_status vt_state_enter(vt_state *s, vt_diag *d) VT_NODISCARD;
void vt_state_leave(vt_state *s);
/* VT_USAGE if a state is lost; the caller has entered it. */
vt_status vt_state_check_not_lost(const vt_state *s, vt_diag *d) VT_NODISCARD;
/* Gives all states the values in an archive, which must have exactly these states. */
vt_status vt_state_load_archive(vt_state *s, const vt_archive *file, vt_diag *d) VT_NODISCARD;
/* Marks the states that the plan writes as lost. */
void vt_state_lose(vt_state *s, const vt_plan *p);
#endif
