/* SPDX-License-Identifier: Apache-2.0
 * vt_op.h - the op table as data. Everything that asks "what is this op?" asks here. */
#ifndef VT_OP_H
#define VT_OP_H
#include "volta/volta_ops.h"
#include "vt_attr.h"
#include "vt_dim.h"

typedef struct vt_builder vt_builder;

typedef struct vt_type {
  uint32_t dtype, rank;
  int64_t dim[VT_MAX_RANK]; /* unused entries are 0 */
} vt_type;

/* "f32[B, 16]" */
void vt_type_print(const vt_dims *dims, const vt_type *t, vt_text *out);
/* The same into a fixed buffer, for diagnostics; returns `out`. */
enum { VT_TYPE_TEXT = 160 };
const char *vt_type_text(const vt_dims *dims, const vt_type *t, char out[VT_TYPE_TEXT]);
int vt_type_equal(const vt_type *a, const vt_type *b);
/* Elements and bytes of a type without symbols; VT_LIMIT beyond 2^48 bytes. */
vt_status vt_type_size(const vt_type *t, uint64_t *out_count, uint64_t *out_bytes,
                       vt_diag *d) VT_NODISCARD;

/* ---- what a row's functions see ---- */

/* Type rules: operands and attributes of a node to be. Symbolic dimensions are compared by
 * handle; what depends on their values is checked again once they are bound. */
enum { VT_MAX_RESULTS = 64, VT_MAX_BODIES = 2 };
typedef struct vt_body_type { /* what goes into a body and what comes out */
  uint32_t n_in, n_out;
  const vt_type *in, *out;
} vt_body_type;
typedef struct vt_rule {
  vt_dims *dims;
  const vt_type *in;
  uint32_t n_in;
  const void *attrs; /* a struct of the row's group */
  uint32_t n_body;
  const vt_body_type *body;
} vt_rule;
typedef vt_status vt_check_fn(const vt_rule *r, vt_diag *d);
/* `out` has room for VT_MAX_RESULTS types, all 0; most ops set the first alone. */
typedef vt_status vt_shape_fn(const vt_rule *r, vt_type *out, vt_diag *d);

/* Decomposition: writes nodes through `b`, returns the value that replaces the composition. One
 * with several results puts the others into out[1], out[2], ...
 * Only called when every dimension is bound. */
typedef struct vt_lowering {
  vt_builder *b;
  const uint32_t *in; /* value ids */
  uint32_t n_in;
  const void *attrs;
  uint32_t *out;
} vt_lowering;
typedef uint32_t vt_lower_fn(const vt_lowering *l);

/* Gradient: writes the nodes that give d_in from d_out. What no gradient flows into or out of is
 * VT_NO_VALUE, and every d_in is that before the call. Only called when every dimension is bound
 * and some d_out is there. */
typedef struct vt_gradient {
  vt_builder *b;
  const uint32_t *in, *out; /* operands and results of the node */
  uint32_t n_in, n_out;
  const void *attrs;
  const uint32_t *d_out;
  uint32_t *d_in;
} vt_gradient;
typedef void vt_grad_fn(const vt_gradient *g);

/* Reference kernel: operands as strided views. An index out of range is reported by VT_RANGE with
 * its row-major position and value. */
typedef struct vt_view {
  uint32_t dtype, rank;
  int64_t dim[VT_MAX_RANK], stride[VT_MAX_RANK]; /* elements */
  void *data;
} vt_view;
typedef struct vt_kernel vt_kernel;
typedef struct vt_kernel_body { /* a body of a region op, ready to run */
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  vt_status (*run)(vt_kernel *k, uint32_t body); /* from `in` to `out` */
} vt_kernel_body;
struct vt_kernel {
  const vt_view *in;
  uint32_t n_in, n_out, n_body;
  const vt_view *out;
  const vt_kernel_body *body;
  void *runner; /* of whoever runs the kernel, for `run` */
  const void *attrs;
  void *work;        /* as many bytes as the row's `work` asks for, 64-byte aligned; or NULL */
  uint64_t position; /* set with VT_RANGE */
  int64_t value;
};
typedef vt_status vt_kernel_fn(vt_kernel *k);
typedef uint64_t vt_work_fn(const vt_view *in, uint32_t n_in); /* `data` is not looked at */

/* What fixes the bits of an op; ops.def explains each. */
typedef enum vt_numerics {
  VT_NUMERICS_exact,
  VT_NUMERICS_rounded,
  VT_NUMERICS_ordered,
  VT_NUMERICS_move,
  VT_NUMERICS_random,
  VT_NUMERICS_bodies,
  VT_NUMERICS_composed,
} vt_numerics;

/* What a backend must be capable of to run an op. */
typedef enum vt_needs {
  VT_NEEDS_plain,
  VT_NEEDS_reductions,
  VT_NEEDS_int8,
  VT_NEEDS_regions,
  VT_NEEDS_collisions,
} vt_needs;

/* What an op can be in a fusion group. */
typedef enum vt_form { VT_FORM_NONE, VT_FORM_POINTWISE, VT_FORM_ANCHOR } vt_form;

/* What a row says, word for word. */
typedef struct vt_op_words {
  const char *attrs, *verify, *shape, *lower, *kernel, *work;
} vt_op_words;

typedef struct vt_op_info {
  const char *name;
  uint32_t number, prim, min_in, max_in;
  const char *operands; /* "x, w, b?" */
  const char *results;  /* "y", "values, indices", "y..." */
  const vt_attr_group *attrs;
  vt_numerics numerics;
  vt_needs needs;
  vt_form form;
  vt_check_fn *check;
  vt_shape_fn *shape;
  vt_grad_fn *grad;
  const char *flat;   /* why there is no gradient; NULL where there is one */
  const char *rule;   /* the name of `grad`; NULL where there is none */
  vt_lower_fn *lower; /* NULL for a prim */
  vt_kernel_fn *kernel;
  vt_work_fn *work; /* NULL: none needed */
  const char *help;
  vt_op_words words;
} vt_op_info;
enum { VT_OP_ANY_IN = 99 };

uint32_t vt_op_total(void);
const vt_op_info *vt_op_at(uint32_t i);         /* ascending number */
const vt_op_info *vt_op_get(uint32_t number);   /* NULL when there is none */
const vt_op_info *vt_op_find(const char *name); /* NULL when there is none */
/* Arity, types and shape of one node; the whole of what the verifier knows about an op. */
vt_status vt_op_infer(const vt_op_info *op, const vt_rule *r, vt_type *out, uint32_t *out_n,
                      vt_diag *d) VT_NODISCARD; /* room for VT_MAX_RESULTS */
/* How many bodies a node of this op has, and what each of them takes. `out` has room for
 * VT_MAX_REGION_ARGS types. */
enum { VT_MAX_REGION_ARGS = 256 };
uint32_t vt_op_bodies(const vt_op_info *op);
vt_status vt_op_body_takes(const vt_op_info *op, const vt_rule *r, uint32_t body, vt_type *out,
                           uint32_t *out_n, vt_diag *d) VT_NODISCARD;
/* The operand behind the last one of a body, and what the attributes say once there are n more. */
uint32_t vt_op_body_end(const vt_op_info *op, const void *attrs, uint32_t n_in, uint32_t body);
void vt_op_body_grow(const vt_op_info *op, void *attrs, uint32_t body, uint32_t n);
/* Where an argument of a body may live without being copied. */
typedef enum vt_arg_place { VT_ARG_OWN, VT_ARG_OPERAND, VT_ARG_RESULT } vt_arg_place;
vt_arg_place vt_op_body_place(uint32_t op, const void *attrs, uint32_t body, uint32_t arg,
                              uint32_t *out_index);
/* How many results a node of this op has; 0 when that depends on attributes or bodies. */
uint32_t vt_op_results(const vt_op_info *op);
/* The words of the rows, for readers. */
const char *vt_numerics_name(vt_numerics numerics);
const char *vt_needs_name(vt_needs needs);
/* VT_FORM_NONE for a number that no op has. */
vt_form vt_op_form(uint32_t number);

/* ---- costs ---- */
/* What a step of a plan takes by definition, whoever runs it: costs.def says what is counted. Sums
 * that do not fit stay at UINT64_MAX. */
typedef struct vt_cost {
  uint64_t flops, bytes_read, bytes_written;
} vt_cost;
void vt_cost_add(vt_cost *sum, const vt_cost *c);
/* Of one step with its bodies: a loop counts its body as often as it runs, a cond the body that
 * costs more. VT_NOMEM at worst. */
struct vt_bk_step;
vt_status vt_step_cost(const struct vt_bk_step *step, vt_alloc a, vt_cost *out,
                       vt_diag *d) VT_NODISCARD;
/* 1 when costs.def has a row for the op. */
int vt_cost_has_row(uint32_t number);

/* ---- initialisers ---- */
typedef struct vt_init_args {
  vt_builder *b;
  const vt_type *type; /* bound */
  const void *attrs;
  uint32_t seed, step; /* value ids, i64[] */
} vt_init_args;
typedef uint32_t vt_init_fn(const vt_init_args *a);
typedef struct vt_init_info {
  const char *name;
  uint32_t number;
  const vt_attr_group *attrs;
  vt_init_fn *build;
  const char *formula;
} vt_init_info;
uint32_t vt_init_total(void);
const vt_init_info *vt_init_at(uint32_t i);
const vt_init_info *vt_init_get(uint32_t number);
const vt_init_info *vt_init_find(const char *name);
/* The stream a name stands for: the first four bytes, little-endian, of its BLAKE2b-256. */
uint32_t vt_stream_of(const char *name);
#endif
