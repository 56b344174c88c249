/* SPDX-License-Identifier: Apache-2.0
 * planner.h - how the builder of plans is put together; private to it.
 *
 *   vt_plan_see     plan_view.c   which values are views, and the classes of the others
 *   vt_plan_order   plan_order.c  which node runs when
 *   vt_plan_live    plan_life.c   from which step to which a value lives; what is written over what
 *   vt_plan_place   plan_place.c  offsets
 *   vt_plan_settle  plan_steps.c  bodies learn where their surroundings lie
 *   vt_plan_hand    plan_steps.c  the steps as a backend gets them
 */
#ifndef VT_PLANNER_H
#define VT_PLANNER_H
#include "vt_plan.h"

/* One graph on its way to a plan: the model's, or a body's. */
typedef struct vt_planner {
  vt_plan *p;
  const vt_plan_options *o;
  const vt_node *owner; /* whose body `which` the graph is; NULL: the model */
  uint32_t which;
  vt_arena *scratch;
  uint32_t *holder; /* by value: itself, or the value whose bytes it views in the end */
  vt_diag *d;
} vt_planner;

static inline uint64_t vt_plan_rounded(uint64_t bytes) {
  return (bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
}
static inline vt_status vt_plan_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "out of memory");
}
static inline int vt_plan_is_view(const vt_plan *p, const vt_node *n) {
  return n->n_out == 1 && p->buffers[n->first_out].place == VT_PLACE_VIEW;
}

vt_status vt_plan_see(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_order(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_live(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_place(vt_planner *q) VT_NODISCARD;
void vt_plan_settle(vt_plan *p);
vt_status vt_plan_hand(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
/* The same for a plan that was read: scratch and its places are there already. */
vt_status vt_plan_hand_again(vt_plan *p, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
#endif
