/* SPDX-License-Identifier: Apache-2.0
 * planner.h - the stages of the plan builder, which plan_build.c calls in this order; private to
 * src/plan. Each stage takes the plan so far and adds one thing:
 *
 *   vt_plan_find_stores     plan_state.c  the nodes that store states
 *   vt_plan_init_buffers    plan_view.c   sizes and classes of values, and which values are views
 *   vt_plan_choose_states_in_place
 *                           plan_state.c  next values that are written over their state at once
 *   vt_plan_order_steps     plan_order.c  the order of the steps
 *   vt_plan_set_lifetimes   plan_life.c   lifetimes, results written in place, transfers
 *   vt_plan_place_values    plan_place.c  offsets of values that have bytes of their own
 *   vt_plan_place_aliases   plan_place.c  offsets of views, in-place results and bodies' arguments
 *   vt_plan_build_bk_steps  plan_steps.c  backend steps, their dense copies and scratch
 *   vt_plan_set_live_bytes  plan_bound.c  the fewest bytes that any placement needs
 */
#ifndef VT_PLANNER_H
#define VT_PLANNER_H
#include <string.h>
#include "plan_pack.h"
#include "vt_plan.h"

/* The state of building a plan from one graph, which is the model's or a body's. */
typedef struct vt_planner {
  vt_plan *p;               /* the plan under construction */
  const vt_plan_options *o; /* the caller's options */
  const vt_node *owner;     /* the node that has this graph as a body; NULL for the model's graph */
  uint32_t which;           /* index of the body among those of `owner` */
  vt_arena *scratch;        /* memory that is needed only while planning */
  uint32_t *holder; /* by value: the value that holds its bytes, found by following views; itself if
                       it is no view */
  uint32_t *stores; /* by value: the value of the state that it is the store of; VT_NO_VALUE for
                       others. NULL while a plan is parsed */
  uint32_t n_stores; /* number of states that change */
  vt_diag *d;        /* receives the error */
} vt_planner;

/* Which views a value may be: any; any but a view of a state, because a store reads it; none,
 * because it is a result or an operand of a node with bodies. */
typedef enum vt_plan_viewable {
  VT_PLAN_ANY_VIEW,
  VT_PLAN_NO_VIEW_OF_STATE,
  VT_PLAN_NO_VIEW
} vt_plan_viewable;

static inline uint64_t vt_plan_align_up(uint64_t bytes) {
  return (bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
}
static inline vt_status vt_plan_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "out of memory");
}
static inline int vt_plan_is_view(const vt_plan *p, const vt_node *n) {
  return n->n_out == 1 && p->buffers[n->first_out].place == VT_PLACE_VIEW;
}

static inline int vt_plan_is_state(const vt_graph *g, uint32_t value) {
  const vt_value *v = &g->values[value];
  return v->node == VT_NO_NODE && g->ports[v->index].kind == VT_PORT_STATE;
}

/* Functions that plan_parse.c uses too. */

/* Sets the buffer of a value to a dense temporary with bytes of its own. */
vt_status vt_plan_init_buffer(const vt_planner *q, uint32_t value, vt_buffer *b) VT_NODISCARD;
/* Makes the buffer a view of the operand of its node and returns 1; returns 0 if it cannot be
 * one. */
int vt_plan_try_view(const vt_planner *q, uint32_t value, vt_buffer *b);
void vt_plan_set_lifetimes_from_reads(vt_planner *q);
/* Extends lifetimes to the end of a group. Which results are written in place must be decided
 * before. */
void vt_plan_extend_lives_for_groups(vt_planner *q);
/* Lists the transfers without offsets; vt_plan_place_values and vt_plan_place_aliases set these. */
vt_status vt_plan_list_transfers(vt_planner *q) VT_NODISCARD;

/* Finds the stores of the states that change; VT_USAGE if the pass `state` was not the last. */
vt_status vt_plan_find_stores(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_init_buffers(vt_planner *q) VT_NODISCARD;
/* Decides which next values are written in place over their state. `viewable` has, by value, a
 * vt_plan_viewable. */
vt_status vt_plan_choose_states_in_place(vt_planner *q, const uint8_t *viewable) VT_NODISCARD;
/* 1 if the node reads its operand `value` only at the position that it writes, so that its result
 * may be written over the bytes of `value` if they are in row-major order. */
int vt_plan_reads_at_own_position(const vt_plan *p, const vt_node *n, uint32_t value);
vt_status vt_plan_order_steps(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_set_lifetimes(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_place_values(vt_planner *q) VT_NODISCARD;
/* Lists the items of the arena of temporaries: values, streamed parameters and the ranges of
 * bodies. The list has capacity for the copies and scratch that a target adds. */
vt_status vt_plan_list_items(vt_plan *p, vt_arena *scratch, vt_packing *out,
                             vt_diag *d) VT_NODISCARD;
/* Appends an item of `bytes` that lives from step `first` to `last`; vt_pack writes its offset to
 * *offset. An item of zero bytes is not appended. */
void vt_plan_add_item(vt_packing *k, uint32_t first, uint32_t last, uint64_t bytes,
                      uint64_t *offset);
void vt_plan_place_aliases(vt_plan *p);
/* Writes the class and offset that the value has while `step` runs; a streamed parameter is then in
 * the bytes of its upload. `holder` is the value that holds its bytes (see vt_planner). */
void vt_plan_locate_value(const vt_plan *p, uint32_t step, uint32_t value, uint32_t holder,
                          uint32_t *class, uint64_t *offset);
vt_status vt_plan_build_bk_steps(vt_plan *p, const vt_target *t, vt_arena *scratch,
                                 vt_diag *d) VT_NODISCARD;
vt_status vt_plan_set_live_bytes(vt_plan *p, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
/* An empty plan of graph `g`; NULL if there is no memory. */
vt_plan *vt_plan_new(const vt_graph *g, vt_alloc a);
/* Allocates the arrays whose lengths the graph decides. */
vt_status vt_plan_alloc_arrays(vt_plan *p, vt_diag *d) VT_NODISCARD;
/* Adds the target part to a plan whose core is complete, hashes the plan and verifies it. */
vt_status vt_plan_add_target_part(vt_plan *p, const vt_target *t, vt_arena *scratch,
                                  vt_diag *d) VT_NODISCARD;
#endif
