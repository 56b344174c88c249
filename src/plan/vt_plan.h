/* SPDX-License-Identifier: Apache-2.0
 * vt_plan.h - the plan: what runs in which order and where every byte lies, known before the first
 * step. Built from a bound, lowered graph and a target described as plain data; frozen; consumed by
 * the gateway. Two parts with a digest each: `core` (schedule, lifetimes, offsets, transfers) is
 * the same for every backend that keeps the same compositions whole; `target` adds what one backend
 * asked for: scratch, and dense copies where it takes no strides. */
#ifndef VT_PLAN_H
#define VT_PLAN_H
#include "vt_graph.h"
#include "volta/volta_backend.h"

/* ---- memory ---- */

typedef enum vt_class {
#define VT_CLASS(name, arena, key, device, help) VT_CLASS_##name,
#include "classes.def"
#undef VT_CLASS
  VT_CLASS_COUNT
} vt_class;
const char *vt_class_name(uint32_t c); /* "host_input" */
int vt_class_on_device(uint32_t c);
uint32_t vt_class_arena(uint32_t c); /* the class in whose buffer its bytes lie */

/* Every tensor starts at a multiple of this, on every backend, so that offsets are neutral. */
enum { VT_PLAN_ALIGNMENT = 256 };
#define VT_PLAN_MOST_BYTES ((uint64_t)1 << 48) /* of a class */

/* How a value comes to its bytes. */
typedef enum vt_place {
  VT_PLACE_OWN,  /* bytes of its own */
  VT_PLACE_VIEW, /* other strides over the bytes of `of`; its node is no step */
  VT_PLACE_OVER, /* written over `of`, an operand of its step that nobody reads afterwards */
  VT_PLACE_ARG,  /* an argument of a body that lies where an operand or a result of the step does */
} vt_place;

typedef struct vt_buffer { /* a value */
  uint32_t value;          /* of the graph; names and types in diagnostics come from there */
  uint32_t place, of;      /* a vt_place; the other value of VIEW and OVER, else VT_NO_VALUE */
  uint32_t class;          /* `offset` is into its arena */
  /* The steps between which it lives: from the one that writes it (ports: 0; a view: as what it
   * views) to the last that reads it or a view of it (ports and results: n_steps). A view lives to
   * its own last reader. What a fusion group reads from outside lives to the end of the group, so
   * that a backend may run the group as one. A value nobody reads lives at its own step. */
  uint32_t first, last;
  uint64_t offset, bytes;      /* of its first element; of all its elements, each counted once */
  int64_t stride[VT_MAX_RANK]; /* elements; dense, row-major unless it is a view */
} vt_buffer;

typedef struct vt_plan vt_plan;

/* The bodies of a step: plans of their own whose temporaries share one stretch of this plan's. */
typedef struct vt_nested {
  uint32_t n;
  vt_plan *plan[VT_MAX_BODIES];
  uint64_t offset, bytes;
} vt_nested;

/* Bytes that cross between host and device in every run: inputs in, before step 0; outputs out,
 * after the last (step = n_steps); and parameters that stay in host memory, in before each step
 * that reads them. */
typedef enum vt_direction { VT_TO_DEVICE, VT_FROM_DEVICE } vt_direction;
typedef struct vt_transfer {
  uint32_t value, direction;
  uint32_t step;          /* happens before it */
  uint32_t class;         /* on the device: INPUT, OUTPUT, or TEMP for a parameter's visit */
  uint64_t offset, bytes; /* there */
} vt_transfer;

/* ---- what is asked for ---- */

typedef enum vt_schedule {
  VT_SCHEDULE_SOURCE, /* the order of the graph */
  VT_SCHEDULE_MEMORY, /* of the steps that are ready, the one that frees most; ties: graph order */
} vt_schedule;

typedef struct vt_plan_options {
  uint32_t schedule;
  uint32_t n_stream; /* parameters to keep in host memory, by name; "*" means all */
  const char *const *stream;
} vt_plan_options;

/* A backend as the planner sees it. */
typedef struct vt_target {
  const char *fingerprint;
  uint32_t dense_only; /* steps take dense tensors: views become steps of their own */
  /* Scratch bytes of a step; `self` is the gateway's business. */
  void *self;
  vt_status (*workspace)(void *self, const vt_bk_step *step, uint64_t *out_bytes, vt_diag *d);
} vt_target;

/* ---- the plan ---- */

#define VT_NO_OFFSET UINT64_MAX

struct vt_plan {
  vt_arena arena;
  const vt_graph *g; /* kept alive by the owner of the plan */

  /* core */
  uint32_t schedule;
  uint32_t n_steps, n_buffers, n_transfers;
  uint32_t *step_node;    /* the node of each step, in order; nodes of views have none */
  vt_buffer *buffers;     /* by value id */
  vt_nested *nested;      /* by step; most have no body */
  vt_transfer *transfers; /* ascending step; bodies have none */
  uint64_t class_bytes[VT_CLASS_COUNT]; /* WORK belongs to the target part */

  /* target */
  uint64_t live_bytes; /* the most on the device at once, unaligned: no plan does with less */
  const char *fingerprint;
  uint32_t live_step; /* the first at which it is so much; n_steps: after the last */
  uint32_t dense_only;
  uint32_t n_runs;    /* steps as they are handed over: with those of views for a dense target */
  vt_bk_step *runs;   /* attributes point into the graph */
  uint32_t *run_node; /* the node of each */
  uint64_t *dense;    /* by value: where the dense copy of a view lies, or VT_NO_OFFSET */
  vt_hash256 core, target;
};

/* The first and the last step of the group that a step is in. */
static inline uint32_t vt_plan_group_at(const vt_plan *p, uint32_t step) {
  return p->g->nodes[p->step_node[step]].group;
}
static inline uint32_t vt_plan_group_first(const vt_plan *p, uint32_t step) {
  const uint32_t group = vt_plan_group_at(p, step);
  while (group != 0 && step > 0 && vt_plan_group_at(p, step - 1) == group) step--;
  return step;
}
static inline uint32_t vt_plan_group_last(const vt_plan *p, uint32_t step) {
  const uint32_t group = vt_plan_group_at(p, step);
  while (group != 0 && step + 1 < p->n_steps && vt_plan_group_at(p, step + 1) == group) step++;
  return step;
}

vt_status vt_plan_build(const vt_graph *g, const vt_plan_options *o, const vt_target *t, vt_alloc a,
                        vt_plan **out, vt_diag *d) VT_NODISCARD;
void vt_plan_free(vt_plan *p);
/* All that is on the device at once, and what one of its buffers takes. */
uint64_t vt_plan_peak(const vt_plan *p);
uint64_t vt_plan_arena_bytes(const vt_plan *p, uint32_t arena);
/* The steps between which the dense copy of each value that has one lives: from the one that it is
 * made for to the end of the group that reads it last. */
void vt_plan_copy_lives(const vt_plan *p, uint32_t *first, uint32_t *last);

/* Checked again from the outside, by code that shares nothing with the builder; a plan that fails
 * is never run. Schedule: every node runs once, after what it reads; every step says what its node
 * and buffers say. Allocation: lifetimes, sizes, bounds, and no two that live at once overlap
 * unless one is a view of the other or is written over it. */
vt_status vt_verify_schedule(const vt_plan *p, vt_diag *d) VT_NODISCARD;
vt_status vt_verify_allocation(const vt_plan *p, vt_diag *d) VT_NODISCARD;
vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) VT_NODISCARD; /* both */

/* One line a buffer, a transfer, a step. `target` adds the target part. */
void vt_plan_print(const vt_plan *p, int target, vt_text *out);
/* Both digests: the hash of what is printed without the target part and with it. VT_NOMEM at
 * worst. */
vt_status vt_plan_hash(const vt_plan *p, vt_hash256 *out_core, vt_hash256 *out_target) VT_NODISCARD;
/* "h = matmul(x, w)" */
void vt_plan_print_step(const vt_plan *p, uint32_t i, vt_text *out);
/* Reads what print wrote with the target part, for the same graph; anything else, to the byte, is
 * VT_FORMAT. The plan is verified. */
vt_status vt_plan_parse(const vt_graph *g, const char *text, size_t n, vt_alloc a, vt_plan **out,
                        vt_diag *d) VT_NODISCARD;
#endif
