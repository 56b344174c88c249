/* SPDX-License-Identifier: Apache-2.0
 * planner.h - how the builder of plans is put together; private to it.
 *
 *   vt_plan_see     plan_view.c   which values are views, and the classes of the others
 *   vt_plan_order   plan_order.c  which node runs when
 *   vt_plan_live    plan_life.c   from which step to which a value lives; what is written over what
 *   vt_plan_place   plan_place.c  offsets of what has bytes of its own
 *   vt_plan_settle  plan_place.c  the others follow; bodies learn where their surroundings lie
 *   vt_plan_hand    plan_steps.c  the steps as a backend gets them, their copies and scratch
 *   vt_plan_bound   plan_bound.c  how few bytes would do
 */
#ifndef VT_PLANNER_H
#define VT_PLANNER_H
#include <string.h>
#include "plan_pack.h"
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

/* Pieces that the reader of plans uses too. */
vt_status vt_plan_size(const vt_planner *q, uint32_t v, vt_buffer *b) VT_NODISCARD; /* as OWN */
int vt_plan_view(const vt_planner *q, uint32_t v, vt_buffer *b); /* as VIEW of its operand, or 0 */
void vt_plan_lifetimes(vt_planner *q);
void vt_plan_keep_for_groups(vt_planner *q); /* after it is known what is written over what */
vt_status vt_plan_transfers(vt_planner *q) VT_NODISCARD; /* without offsets */

vt_status vt_plan_see(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_order(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_live(vt_planner *q) VT_NODISCARD;
vt_status vt_plan_place(vt_planner *q) VT_NODISCARD;
/* All that shares the arena of the temporaries, and room for what a target adds to it. */
vt_status vt_plan_stretches(vt_plan *p, vt_arena *scratch, vt_packing *out,
                            vt_diag *d) VT_NODISCARD;
void vt_plan_add(vt_packing *k, uint32_t first, uint32_t last, uint64_t bytes, uint64_t *offset);
void vt_plan_settle(vt_plan *p);
/* Where a value lies while `step` runs: a parameter in host memory is on a visit. */
void vt_plan_locate(const vt_plan *p, uint32_t step, uint32_t v, uint32_t holder, uint32_t *class,
                    uint64_t *offset);
vt_status vt_plan_hand(vt_plan *p, const vt_target *t, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
vt_status vt_plan_bound(vt_plan *p, vt_arena *scratch, vt_diag *d) VT_NODISCARD;
/* A plan with room for everything the graph decides, and the same for the bodies of its nodes. */
vt_plan *vt_plan_new(const vt_graph *g, vt_alloc a);
vt_status vt_plan_room(vt_plan *p, vt_diag *d) VT_NODISCARD;
/* From a core that is complete to a verified plan. */
vt_status vt_plan_finish(vt_plan *p, const vt_target *t, vt_arena *scratch,
                         vt_diag *d) VT_NODISCARD;
#endif
