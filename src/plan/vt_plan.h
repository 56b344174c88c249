/* SPDX-License-Identifier: Apache-2.0
 * vt_plan.h - the plan: what runs in which order and where every byte lies, known before the first
 * step. Built from a bound, lowered graph and a target described as plain data; frozen; consumed by
 * the gateway. Two parts with a digest each: `core` (schedule, lifetimes, offsets) is the same for
 * every backend that keeps the same compositions whole; `target` adds what one backend asked for.
 */
#ifndef VT_PLAN_H
#define VT_PLAN_H
#include "vt_graph.h"
#include "volta/volta_backend.h"

/* Memory classes; each is one arena. */
typedef enum vt_class {
  VT_CLASS_INPUT,
  VT_CLASS_PARAM,
  VT_CLASS_TEMP,
  VT_CLASS_OUTPUT,
  VT_CLASS_WORK,
  VT_CLASS_COUNT
} vt_class;
const char *vt_class_name(uint32_t c);

/* Every tensor starts at a multiple of this, on every backend, so that offsets are neutral. */
enum { VT_PLAN_ALIGNMENT = 256 };

/* A backend as the planner sees it. */
typedef struct vt_target {
  const char *fingerprint;
  /* Scratch bytes of a step; `self` is the gateway's business. */
  void *self;
  vt_status (*workspace)(void *self, const vt_bk_step *step, uint64_t *out_bytes, vt_diag *d);
} vt_target;

typedef struct vt_buffer { /* one value that has memory */
  uint32_t value;          /* of the graph; names and types in diagnostics come from there */
  uint32_t class;
  uint32_t first, last; /* steps between which it lives; ports live from 0, results to the end */
  uint64_t offset, bytes;
} vt_buffer;

typedef struct vt_plan vt_plan;

/* The bodies of a step: plans of their own whose temporaries share one stretch of this plan's. */
typedef struct vt_nested {
  uint32_t n;
  vt_plan *plan[VT_MAX_BODIES];
  uint64_t offset, bytes;
} vt_nested;

struct vt_plan {
  vt_arena arena;
  const vt_graph *g;           /* kept alive by the owner of the plan */
  uint32_t n_steps, n_buffers; /* one step a node, one buffer a value */
  vt_bk_step *steps;           /* attributes point into the graph */
  uint32_t *step_node;         /* the node each step came from */
  vt_buffer *buffers;          /* one a value, by value id */
  vt_nested *nested;           /* one a step; most have no body */
  uint64_t class_bytes[VT_CLASS_COUNT];
  const char *fingerprint;
  vt_hash256 core, target;
};

vt_status vt_plan_build(const vt_graph *g, const vt_target *t, vt_alloc a, vt_plan **out,
                        vt_diag *d) VT_NODISCARD;
void vt_plan_free(vt_plan *p);
/* Order, bounds and overlap again, from the outside; a plan that fails is never run. */
vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) VT_NODISCARD;
/* One line a buffer, one line a step. `target` adds the target part. */
void vt_plan_print(const vt_plan *p, int target, vt_text *out);
#endif
