/* SPDX-License-Identifier: Apache-2.0
 * vt_verify.h - the state and the functions that the verifiers of plans share. Everything here is
 * derived from the graph and the plan. No code of the planner is called, so a mistake of the
 * planner is not repeated by the verifiers. */
#ifndef VT_VERIFY_H
#define VT_VERIFY_H
#include "vt_plan.h"

#define VT_NO_STEP UINT32_MAX

/* A plan under verification. vt_verify_open has checked that every index and count of the plan is
 * in range, that the graph allows the place, class, size and strides of every value, and that it
 * asks for exactly these transfers. It has not checked the order of the steps, lifetimes, offsets
 * and backend steps. */
typedef struct vt_verify {
  const vt_plan *p;
  /* For the plan of a body: the plan around it; NULL for the plan of a model. */
  const struct vt_verify *outer;
  uint32_t step, which; /* for the plan of a body: the step of `outer` that has the body, and the
                           body's index in that step */
  vt_arena *scratch;    /* owns the arrays below */
  vt_diag *d;           /* receives the error */
  uint32_t *root; /* by value: the value that holds its bytes, found by following views; itself if
                     it is no view */
  uint32_t *step_of; /* by node: its step; VT_NO_STEP for the node of a view */
  /* By step: index of its first upload in `transfers`. It has n_steps + 1 entries, so that the
   * uploads of step i end where those of step i + 1 start. */
  uint32_t *first_upload;
  uint32_t n_bk_steps;     /* number of backend steps that the plan must have */
  uint32_t *bk_step_node;  /* by backend step: the node it must have */
  uint32_t *bk_step_owner; /* by backend step: the schedule step that it is, or that it is a dense
                              copy for */
} vt_verify;

/* Starts verifying a model's plan. VT_INTERNAL if the plan does not fit its graph. */
vt_status vt_verify_open(vt_verify *v, const vt_plan *p, vt_arena *scratch,
                         vt_diag *d) VT_NODISCARD;
/* Starts verifying the plan of body `which` of a step of `outer`. */
vt_status vt_verify_open_body(vt_verify *v, const vt_verify *outer, uint32_t step,
                              uint32_t which) VT_NODISCARD;

static inline const vt_node *vt_verify_node_of_step(const vt_verify *v, uint32_t step) {
  return &v->p->g->nodes[v->p->step_node[step]];
}
/* The first and the last step of the group of a step. The planner has the same functions; these are
 * separate on purpose, so that both must be right. */
static inline uint32_t vt_verify_group_first(const vt_verify *v, uint32_t step) {
  const uint32_t group = vt_verify_node_of_step(v, step)->group;
  while (group != 0 && step > 0 && vt_verify_node_of_step(v, step - 1)->group == group) step--;
  return step;
}
static inline uint32_t vt_verify_group_last(const vt_verify *v, uint32_t step) {
  const uint32_t group = vt_verify_node_of_step(v, step)->group, end = v->p->n_steps;
  while (group != 0 && step + 1 < end && vt_verify_node_of_step(v, step + 1)->group == group)
    step++;
  return step;
}
static inline int vt_verify_is_port(const vt_verify *v, uint32_t value) {
  return v->p->g->values[value].node == VT_NO_NODE;
}
/* 1 if the value is a strided view of which a dense_only target needs a dense copy. */
int vt_verify_needs_copy(const vt_verify *v, uint32_t value);

/* 1 for a state that a run changes. */
int vt_verify_state_changes(const vt_port *p);
/* 1 if the value is the one whose bytes are the next value of the state that it is written over. */
int vt_verify_writes_state(const vt_verify *v, uint32_t value);
/* Checks that each state that changes is written, and the offsets of all states. */
vt_status vt_verify_states(const vt_verify *v) VT_NODISCARD;
/* Checks that the stores of a plan with safe_state are its last steps. */
vt_status vt_verify_safe_stores(const vt_verify *v) VT_NODISCARD;

/* The class whose buffer holds the bytes of class `class`. */
uint32_t vt_verify_arena_of_class(uint32_t class);

/* The class and offset of a value while a step runs. A streamed parameter, or a view of one, is at
 * the offset of its upload. */
typedef struct vt_location {
  uint32_t class;
  uint64_t offset;
} vt_location;
vt_location vt_verify_location(const vt_verify *v, uint32_t step, uint32_t value);
/* The location of the operand or result of the step around the body that argument `port`
 * aliases. */
vt_location vt_verify_argument_location(const vt_verify *v, uint32_t port);

/* Return VT_INTERNAL with a message such as "the plan misstates the class of 'x'", in which `what`
 * is "misstates the class of"; vt_verify_fail_memory returns VT_NOMEM. */
vt_status vt_verify_fail_value(const vt_verify *v, uint32_t value, const char *what) VT_NODISCARD;
vt_status vt_verify_fail_step(const vt_verify *v, uint32_t step, const char *what) VT_NODISCARD;
vt_status vt_verify_fail_memory(const vt_verify *v) VT_NODISCARD;
#endif
