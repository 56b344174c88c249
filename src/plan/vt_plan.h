/* SPDX-License-Identifier: Apache-2.0
 * vt_plan.h - the plan: the order of the steps and the place of every byte, known before the first
 * step. It is built from a bound, lowered graph and a target described as plain data; it never
 * changes afterwards; the gateway runs it. It has two parts with a digest each. The `core`
 * (schedule, lifetimes, offsets, transfers) is the same for every backend that keeps the same
 * compositions whole. The `target` part adds what one backend asked for: scratch, and dense copies
 * of views if the backend takes no strides.
 *
 *   graph      n0: a = cumsum(x)   n1: t = transpose(a)   n2: b = cumsum(t)   n3: y = neg(b)
 *
 *   steps      0 a = cumsum(x)     1 b = cumsum(t)        2 y = neg(b)
 *   step_node  0                   2                      3      (n1 makes a view: it is no step)
 *
 *   buffers      x  own input     a  own temporary    t  view of a    b  own    y  own output
 *   first..last     0..3             0..1                0..1            1..2      2..3
 *
 *   arena of temporaries and outputs, offset upward, one column for each step and one for the end:
 *
 *       768 |                [ scratch 1 ]                      work_offset of backend steps 1, 2
 *       512 |                [ dense t   ]                      dense[t], for a dense_only target
 *       256 |  [ scratch 0 ] [ b                       ]        buffers[b].offset
 *         0 |  [ a                       ] [ y                ] buffers[a].offset, then y's
 *           +---- step 0 ------- step 1 ------ step 2 ---- end
 *
 *   transfers  x in before step 0;  y out before step 3 = n_steps, that is, after the last
 *   bk_steps   0 a = cumsum(x)   1 t = transpose(a)   2 b = cumsum(t)   3 y = neg(b)
 *              (the backend steps of a dense_only target; any other target gets the three steps) */
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
const char *vt_class_name(uint32_t class); /* key of a memory class: "host_input" */
int vt_class_is_on_device(uint32_t class); /* 1 for a memory class on the device, 0 on the host */
uint32_t vt_class_arena(uint32_t class);   /* the class whose buffer holds its bytes */

/* Every tensor starts at a multiple of this number of bytes on every backend, so that the offsets
 * of a plan do not depend on the backend. */
enum { VT_PLAN_ALIGNMENT = 256 };
#define VT_PLAN_MOST_BYTES ((uint64_t)1 << 48) /* largest total size of one memory class */

/* Where the bytes of a value come from. */
typedef enum vt_place {
  VT_PLACE_OWN,  /* the value has bytes of its own */
  VT_PLACE_VIEW, /* the value is `of` seen through other strides; its node is not a step */
  VT_PLACE_OVER, /* the value is written in place over `of`, which no later step reads: an operand,
                    or the state of which the value is, or is stored as, the next value */
  VT_PLACE_ARG,  /* the value is a body's argument that aliases an operand or result of the step */
} vt_place;

/* The buffer of one value: its place in memory, lifetime and size. */
typedef struct vt_buffer {
  uint32_t value; /* id of the value in the graph, which has its name and type */
  uint32_t place; /* where its bytes come from, a vt_place */
  uint32_t of;    /* the value that a VIEW or OVER shares bytes with, else VT_NO_VALUE */
  uint32_t class; /* memory class, a vt_class; its arena holds the bytes */
  /* Lifetime: the first and the last step at which the value must be in memory. `first` is the step
   * that writes it; 0 for a port; for a view, `first` of the viewed value. `last` is the last step
   * that reads the value or a view of it; n_steps for ports, results and next values; the step that
   * writes it, or 0, if nobody reads it. Only a state that a run changes ends with its last reader,
   * although it is a port. A view lives until its own last reader. Operands that a fusion group
   * reads from outside live until the group ends, so that a backend may run the group as one
   * launch.
   */
  uint32_t first, last;
  uint64_t offset; /* offset in bytes of the first element, from the start of the arena */
  uint64_t bytes;  /* bytes that the elements occupy; each shared element counts once */
  int64_t stride[VT_MAX_RANK]; /* strides in elements; those of a dense tensor unless the value is a
                                  view */
} vt_buffer;

typedef struct vt_plan vt_plan;

/* The bodies of a step, such as the branches of a cond. Each has a plan of its own; their
 * temporaries share one range of bytes in the arena of this plan, because only one body runs at a
 * time. */
typedef struct vt_nested {
  uint32_t n;                   /* number of bodies */
  vt_plan *plan[VT_MAX_BODIES]; /* the plan of each body, owned by the plan around it */
  uint64_t offset, bytes;       /* the shared range of bytes: its start and its size */
} vt_nested;

/* The direction of a transfer, a copy between host and device that happens in every run. Inputs are
 * copied in before step 0, outputs are copied out after the last step (step = n_steps). A streamed
 * parameter, which stays in host memory, is copied in before each step or group that reads it. */
typedef enum vt_direction { VT_TO_DEVICE, VT_FROM_DEVICE } vt_direction;
typedef struct vt_transfer {
  uint32_t value;         /* id of the value to copy */
  uint32_t direction;     /* to or from the device, a vt_direction */
  uint32_t step;          /* the copy happens before this step */
  uint32_t class;         /* device memory class: INPUT, OUTPUT, or TEMP for a streamed parameter */
  uint64_t offset, bytes; /* the range of bytes in device memory: its start and its size */
} vt_transfer;

/* ---- options and target ---- */

typedef enum vt_schedule {
  VT_SCHEDULE_SOURCE, /* the order of the graph */
  VT_SCHEDULE_MEMORY, /* next is the ready step with the lowest price: bytes that it allocates minus
                         bytes that it frees; ties go by graph order */
} vt_schedule;

typedef struct vt_plan_options {
  uint32_t schedule;         /* order of the steps, a vt_schedule */
  uint32_t n_stream;         /* number of names in `stream` */
  const char *const *stream; /* names of the parameters to keep in host memory; "*" means all */
  uint32_t safe_state; /* 1: states are written after all other steps, so that a run which fails
                          before has not changed them */
} vt_plan_options;

/* A backend as the planner sees it. */
typedef struct vt_target {
  const char *fingerprint; /* changes whenever a plan for this backend might change */
  uint32_t dense_only; /* 1: steps take dense tensors only, so strided views are copied before */
  void *self;          /* passed to `workspace`; the planner does not look inside */
  /* Writes the bytes of scratch that the backend needs for a step. */
  vt_status (*workspace)(void *self, const vt_bk_step *step, uint64_t *out_bytes, vt_diag *d);
  /* Writes the bytes that the backend keeps for a program of these steps. It is asked after all
   * calls of `workspace`. NULL: none. */
  vt_status (*kept)(void *self, const vt_bk_step *steps, uint64_t n, uint64_t *out_bytes,
                    vt_diag *d);
} vt_target;

/* ---- the plan ---- */

#define VT_NO_OFFSET UINT64_MAX /* an entry of `dense`: the value has no dense copy */

struct vt_plan {
  vt_arena arena;    /* owns the memory of all arrays of the plan */
  const vt_graph *g; /* the planned graph; must outlive the plan */

  /* the core part */
  uint32_t schedule;      /* rule that ordered the steps, a vt_schedule */
  uint32_t safe_state;    /* 1: the last steps store the states, and no other step writes them */
  uint32_t n_steps;       /* number of steps, views not counted */
  uint32_t n_buffers;     /* number of values of the graph */
  uint32_t n_transfers;   /* number of copies between host and device in one run */
  uint32_t *step_node;    /* by step: its node in the graph */
  vt_buffer *buffers;     /* by value id: the memory of the value */
  vt_nested *nested;      /* by step: its bodies; few steps have bodies */
  vt_transfer *transfers; /* in ascending order of step; a body's plan has no transfers */
  uint64_t class_bytes[VT_CLASS_COUNT]; /* bytes of each class; the bytes of WORK belong to the
                                           target part */

  /* the target part */
  uint64_t live_bytes; /* most bytes live on the device at any one step, without alignment gaps; no
                        * placement of this step order needs less */
  const char *fingerprint; /* fingerprint of the target; NULL in the plan of a body */
  uint32_t live_step;   /* the first step at which live_bytes live; n_steps: after the last step */
  uint32_t dense_only;  /* 1: the target takes dense tensors only */
  uint32_t n_bk_steps;  /* number of backend steps: the steps, and for a dense_only target the dense
                           copies */
  vt_bk_step *bk_steps; /* the backend steps; their attributes point into the graph */
  uint32_t *bk_step_node; /* by backend step: its node in the graph */
  uint64_t *dense; /* by value: offset in the arena of a view's dense copy, or VT_NO_OFFSET */
  vt_hash256 core, target; /* digests of the printed plan without and with its target part */
};

/* The number of the fusion group that a step is in; 0 if the step is in no group. */
static inline uint32_t vt_plan_group_at(const vt_plan *p, uint32_t step) {
  return p->g->nodes[p->step_node[step]].group;
}
/* The first and the last step of the group that a step is in; the step itself if it is in no
 * group. */
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

/* 1 for a state that a run changes. A step stores it, or writes it in place. */
static inline int vt_plan_state_changes(const vt_port *p) {
  return p->kind == VT_PORT_STATE && p->next != p->value;
}
/* The first of the steps that store states, all of which are last, in a plan with safe_state;
 * n_steps in any other plan. */
static inline uint32_t vt_plan_first_safe_store(const vt_plan *p) {
  uint32_t stores = 0;
  for (uint32_t i = 0; p->safe_state && i < p->g->n_ports; i++)
    stores += vt_plan_state_changes(&p->g->ports[i]) != 0;
  return p->n_steps - stores;
}

/* Builds the plan of a bound graph to which the pass `state` was applied last, if it has states;
 * else VT_USAGE. */
vt_status vt_plan_build(const vt_graph *g, const vt_plan_options *o, const vt_target *t, vt_alloc a,
                        vt_plan **out, vt_diag *d) VT_NODISCARD;
void vt_plan_free(vt_plan *p);
/* The bytes of all arenas in device memory together. */
uint64_t vt_plan_peak_bytes(const vt_plan *p);
/* Bytes of one arena, which is the sum over the classes that share it. */
uint64_t vt_plan_arena_bytes(const vt_plan *p, uint32_t arena);
/* Writes the lifetime of each dense copy by value; the entries of values without a copy are
 * meaningless. A copy lives from the step that it is made for to the end of the group that reads it
 * last. */
void vt_plan_lifetimes_of_copies(const vt_plan *p, uint32_t *first, uint32_t *last);

/* The verifiers check a plan with code that shares nothing with the builder; a plan that fails is
 * never run. The schedule: every node runs once, after its operands are written, and every backend
 * step agrees with its node and buffers. The allocation: lifetimes, sizes and bounds are right, and
 * two values that live at the same time overlap only if one is a view of the other or is written
 * over it in place. */
vt_status vt_verify_schedule(const vt_plan *p, vt_diag *d) VT_NODISCARD;
vt_status vt_verify_allocation(const vt_plan *p, vt_diag *d) VT_NODISCARD;
vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) VT_NODISCARD; /* runs both verifiers */

/* Prints the plan with one line per buffer, transfer and step. `with_target` != 0 adds the target
 * part. */
void vt_plan_print(const vt_plan *p, int with_target, vt_text *out);
/* Writes both digests, which are hashes of the printed plan without and with its target part. The
 * only error is VT_NOMEM. */
vt_status vt_plan_hash(const vt_plan *p, vt_hash256 *out_core, vt_hash256 *out_target) VT_NODISCARD;
/* Prints step `i` in the form "h = matmul(x, w)". */
void vt_plan_print_step(const vt_plan *p, uint32_t i, vt_text *out);
/* Reads a plan of graph `g` from a text that vt_plan_print wrote with the target part. VT_FORMAT if
 * any byte of the text differs from that of the plan printed again. The plan returned has been
 * verified. */
vt_status vt_plan_parse(const vt_graph *g, const char *text, size_t n, vt_alloc a, vt_plan **out,
                        vt_diag *d) VT_NODISCARD;
#endif
