/* SPDX-License-Identifier: Apache-2.0
 * vt_verify.h - what the verifiers of plans have in common. Everything here is derived from the
 * graph and from what the plan says; nothing of the builder's objects is referred to, so that a
 * mistake made there is not made here again. */
#ifndef VT_VERIFY_H
#define VT_VERIFY_H
#include "vt_plan.h"

#define VT_NO_STEP UINT32_MAX

/* A plan under verification. A body's knows the plan around it. Once open, every index and count of
 * the plan is in range, every value's place, class, size and strides are what the graph allows, and
 * the transfers are those the graph asks for; open are order, time, addresses and runs. */
typedef struct vt_verify {
  const vt_plan *p;
  const struct vt_verify *outer; /* NULL at the top */
  uint32_t step, which;          /* body `which` of that step of `outer` */
  vt_arena *scratch;             /* what follows lies there */
  vt_diag *d;
  uint32_t *root;        /* by value: what it views in the end, or itself */
  uint32_t *step_of;     /* by node; VT_NO_STEP for the node of a view */
  uint32_t *first_visit; /* by step, and one more: its parameters' visits among the transfers */
  uint32_t n_runs;       /* the steps as they must be handed over */
  uint32_t *run_node, *run_step;
} vt_verify;

/* Fails with VT_INTERNAL when the plan is not one of its graph. */
vt_status vt_verify_open(vt_verify *v, const vt_plan *p, vt_arena *scratch,
                         vt_diag *d) VT_NODISCARD;
/* The plan of body `which` of a step of `outer`. */
vt_status vt_verify_open_body(vt_verify *v, const vt_verify *outer, uint32_t step,
                              uint32_t which) VT_NODISCARD;

static inline const vt_node *vt_verify_node(const vt_verify *v, uint32_t step) {
  return &v->p->g->nodes[v->p->step_node[step]];
}
/* The first and the last step of the group that a step is in; worked out here once more on purpose,
 * like everything the planner works out too. */
static inline uint32_t vt_verify_group_first(const vt_verify *v, uint32_t step) {
  const uint32_t group = vt_verify_node(v, step)->group;
  while (group != 0 && step > 0 && vt_verify_node(v, step - 1)->group == group) step--;
  return step;
}
static inline uint32_t vt_verify_group_last(const vt_verify *v, uint32_t step) {
  const uint32_t group = vt_verify_node(v, step)->group, end = v->p->n_steps;
  while (group != 0 && step + 1 < end && vt_verify_node(v, step + 1)->group == group) step++;
  return step;
}
static inline int vt_verify_is_port(const vt_verify *v, uint32_t value) {
  return v->p->g->values[value].node == VT_NO_NODE;
}
/* 1 for a view with gaps that the target wants copied before a step reads it. */
int vt_verify_is_copied(const vt_verify *v, uint32_t value);

/* The class in whose buffer a class lies. */
uint32_t vt_verify_arena(uint32_t class);

/* Where the bytes of a value are when a step runs: a parameter kept in host memory, or a view of
 * one, is where it visits. */
typedef struct vt_spot {
  uint32_t class;
  uint64_t offset;
} vt_spot;
vt_spot vt_verify_spot(const vt_verify *v, uint32_t step, uint32_t value);
/* Where an argument of a body lies that is not its own. */
vt_spot vt_verify_argument(const vt_verify *v, uint32_t port);

/* "the plan misstates the class of 'x'" */
vt_status vt_verify_fail_value(const vt_verify *v, uint32_t value, const char *what) VT_NODISCARD;
vt_status vt_verify_fail_step(const vt_verify *v, uint32_t step, const char *what) VT_NODISCARD;
vt_status vt_verify_fail_memory(const vt_verify *v) VT_NODISCARD;
#endif
