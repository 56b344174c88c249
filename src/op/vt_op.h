/* SPDX-License-Identifier: Apache-2.0
 * vt_op.h - the op table as data: for each op its row of ops.def with its rules, gradient,
 * decomposition and reference kernel, and the initialisers and costs. Every other part of the
 * program looks ops up here. */
#ifndef VT_OP_H
#define VT_OP_H
#include "volta/volta_ops.h"
#include "vt_attr.h"
#include "vt_dim.h"

typedef struct vt_builder vt_builder;

typedef struct vt_type {
  uint32_t dtype, rank;
  int64_t dim[VT_MAX_RANK]; /* entries at and beyond the rank are 0 */
} vt_type;

/* Appends "f32[B, 16]". */
void vt_type_print(const vt_dims *dims, const vt_type *t, vt_text *out);
/* vt_type_text writes the text of a type into a fixed buffer, for diagnostics, and returns
 * `out`. */
enum { VT_TYPE_TEXT = 160 };
const char *vt_type_text(const vt_dims *dims, const vt_type *t, char out[VT_TYPE_TEXT]);
int vt_type_equal(const vt_type *a, const vt_type *b);
/* The number of elements and bytes of a type whose dimensions are bound; VT_LIMIT beyond 2^48
 * bytes. */
vt_status vt_type_size(const vt_type *t, uint64_t *out_count, uint64_t *out_bytes,
                       vt_diag *d) VT_NODISCARD;

/* ---- arguments of the functions that a row names ---- */

/* vt_rule is what the check and the shape rule of an op get: the operand types and the attributes
 * of a node that is to be built. Symbolic dimensions are compared by handle; conditions on their
 * values are checked again once they are bound. */
enum { VT_MAX_RESULTS = 64, VT_MAX_BODIES = 2 };
typedef struct vt_body_type { /* the argument and result types of a body */
  uint32_t n_in, n_out;
  const vt_type *in, *out;
} vt_body_type;
typedef struct vt_rule {
  vt_dims *dims;
  const vt_type *in;
  uint32_t n_in;
  const void *attrs; /* the attributes: a struct of the group that the row names */
  uint32_t n_body;
  const vt_body_type *body;
} vt_rule;
typedef vt_status vt_check_fn(const vt_rule *r, vt_diag *d);
/* Writes the result types into `out`, an array of VT_MAX_RESULTS zeroed types; most ops write only
 * the first. */
typedef vt_status vt_shape_fn(const vt_rule *r, vt_type *out, vt_diag *d);

/* A decomposition writes nodes through `b` and returns the value that replaces the first result of
 * the composition; further results go into out[1], out[2], ... It is only called once every
 * dimension is bound. */
typedef struct vt_lowering {
  vt_builder *b;
  const uint32_t *in; /* ids of the operand values */
  uint32_t n_in;
  const void *attrs;
  uint32_t *out;
} vt_lowering;
typedef uint32_t vt_lower_fn(const vt_lowering *l);

/* A gradient rule writes the nodes that compute d_in, the gradients of the operands, from d_out,
 * those of the results. VT_NO_VALUE stands for a gradient that does not exist; every d_in has it
 * before the call. The rule is only called once every dimension is bound and some d_out exists. */
typedef struct vt_gradient {
  vt_builder *b;
  const uint32_t *in, *out; /* ids of the operands and of the results of the node */
  uint32_t n_in, n_out;
  const void *attrs;
  const uint32_t *d_out;
  uint32_t *d_in;
} vt_gradient;
typedef void vt_grad_fn(const vt_gradient *g);

/* A tensor as a kernel sees it: a pointer to its first element, with strides. */
typedef struct vt_view {
  uint32_t dtype, rank;
  int64_t dim[VT_MAX_RANK], stride[VT_MAX_RANK]; /* strides in elements */
  void *data;
} vt_view;
typedef struct vt_kernel vt_kernel;
typedef struct vt_kernel_body { /* a body of a region op, ready to run */
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  /* Computes `out` from `in`; `body` is the number of this body. */
  vt_status (*run)(vt_kernel *k, uint32_t body);
} vt_kernel_body;
struct vt_kernel {
  const vt_view *in;
  uint32_t n_in, n_out, n_body;
  const vt_view *out;
  const vt_kernel_body *body;
  void *runner; /* private data of the function `run` of the bodies */
  const void *attrs;
  void *work;        /* scratch, 64-byte aligned, of as many bytes as the function `work` of the row
                        returns; or NULL */
  uint64_t position; /* set if the kernel returns VT_RANGE: row-major position of the element of the
                        index that is out of range */
  int64_t value;     /* set with `position`: the value of the element that is out of range */
};
/* A reference kernel computes `out` from `in`. If an element of an index is out of range, it
 * returns VT_RANGE and sets `position` and `value`. */
typedef vt_status vt_kernel_fn(vt_kernel *k);
/* Returns the scratch bytes of a kernel for these operands, whose `data` may be NULL. */
typedef uint64_t vt_work_fn(const vt_view *in, uint32_t n_in);

/* The numerics of an op: the rule that fixes its bits. ops.def explains each. */
typedef enum vt_numerics {
  VT_NUMERICS_exact,
  VT_NUMERICS_rounded,
  VT_NUMERICS_ordered,
  VT_NUMERICS_move,
  VT_NUMERICS_random,
  VT_NUMERICS_bodies,
  VT_NUMERICS_composed,
} vt_numerics;

/* The capability that a backend needs to run an op. ops.def explains each. */
typedef enum vt_needs {
  VT_NEEDS_plain,
  VT_NEEDS_reductions,
  VT_NEEDS_int8,
  VT_NEEDS_regions,
  VT_NEEDS_collisions,
} vt_needs;

/* The role that an op can have in a fusion group, and what its result may be written over. ops.def
 * explains each; VT_FORM_NONE is `opaque`. */
typedef enum vt_form { VT_FORM_NONE, VT_FORM_POINTWISE, VT_FORM_ANCHOR, VT_FORM_UPDATE } vt_form;

/* The columns of a row of ops.def as text, verbatim, for listings. */
typedef struct vt_op_words {
  const char *attrs, *verify, *shape, *lower, *kernel, *work;
} vt_op_words;

typedef struct vt_op_info { /* a row of ops.def */
  const char *name;
  uint32_t number, prim;   /* prim: 1 for a prim, 0 for a composition */
  uint32_t min_in, max_in; /* least and greatest number of operands; VT_OP_ANY_IN: no upper limit */
  const char *operands;    /* names of the operands: "x, w, b?" */
  const char *results;     /* names of the results: "y", "values, indices", "y..." */
  const vt_attr_group *attrs;
  vt_numerics numerics;
  vt_needs needs;
  vt_form form;
  vt_check_fn *check;
  vt_shape_fn *shape;
  vt_grad_fn *grad;
  const char *flat;   /* reason why the op has no gradient; NULL if it has one */
  const char *rule;   /* name of the function `grad`; NULL if there is no gradient */
  vt_lower_fn *lower; /* the decomposition; NULL for a prim */
  vt_kernel_fn *kernel;
  vt_work_fn *work; /* returns the scratch bytes of the kernel; NULL if it needs no scratch */
  const char *help;
  vt_op_words words;
} vt_op_info;
enum { VT_OP_ANY_IN = 99 };

uint32_t vt_op_total(void);
const vt_op_info *vt_op_at(uint32_t i);         /* the rows by ascending op number */
const vt_op_info *vt_op_get(uint32_t number);   /* returns NULL if no op has the number */
const vt_op_info *vt_op_find(const char *name); /* returns NULL if no op has the name */
/* Checks the number of operands, their types and the attributes of a node and infers its result
 * types. `out` holds VT_MAX_RESULTS types. The verifier checks nothing else that is specific to an
 * op. */
vt_status vt_op_infer(const vt_op_info *op, const vt_rule *r, vt_type *out, uint32_t *out_n,
                      vt_diag *d) VT_NODISCARD;
/* The number of bodies of a node of this op, and the argument types of one of them. `out` holds
 * VT_MAX_REGION_ARGS types. */
enum { VT_MAX_REGION_ARGS = 256 };
uint32_t vt_op_body_count(const vt_op_info *op);
vt_status vt_op_body_argument_types(const vt_op_info *op, const vt_rule *r, uint32_t body,
                                    vt_type *out, uint32_t *out_n, vt_diag *d) VT_NODISCARD;
/* How the text form parses the operands of an op with bodies: vt_op_body_operands_end is the index
 * one past the last operand that belongs to body `body`; vt_op_body_add_operands updates the
 * attributes after n more operands were added to the body. */
uint32_t vt_op_body_operands_end(const vt_op_info *op, const void *attrs, uint32_t n_in,
                                 uint32_t body);
void vt_op_body_add_operands(const vt_op_info *op, void *attrs, uint32_t body, uint32_t n);
/* Where an argument of a body may be stored: in memory of its own, or without a copy in operand or
 * result *out_index of the node. */
typedef enum vt_arg_place { VT_ARG_OWN, VT_ARG_OPERAND, VT_ARG_RESULT } vt_arg_place;
vt_arg_place vt_op_body_argument_place(uint32_t op, const void *attrs, uint32_t body, uint32_t arg,
                                       uint32_t *out_index);
/* The number of results of a node of this op; 0 if it depends on attributes or bodies. */
uint32_t vt_op_result_count(const vt_op_info *op);
/* The names of numerics and needs as ops.def writes them, for listings. */
const char *vt_numerics_name(vt_numerics numerics);
const char *vt_needs_name(vt_needs needs);
/* The form of an op; VT_FORM_NONE if no op has the number. */
vt_form vt_op_form(uint32_t number);
/* 1 if an op of this form can be in a fusion group. */
static inline int vt_form_can_be_in_group(vt_form form) {
  return form == VT_FORM_POINTWISE || form == VT_FORM_ANCHOR;
}

/* ---- costs ---- */
/* The operations and bytes of a step of a plan by definition, independent of the backend that runs
 * it; costs.def says what is counted. A sum that overflows stays at UINT64_MAX. */
typedef struct vt_cost {
  uint64_t flops, bytes_read, bytes_written;
} vt_cost;
void vt_cost_add(vt_cost *sum, const vt_cost *c);
/* The cost of one step. A loop counts its body once per iteration; a cond counts the maximum over
 * its bodies. It fails only with VT_NOMEM, or VT_INTERNAL for an unknown op. */
struct vt_bk_step;
vt_status vt_step_cost(const struct vt_bk_step *step, vt_alloc a, vt_cost *out,
                       vt_diag *d) VT_NODISCARD;
/* Whether costs.def has a row for the op. */
int vt_cost_has_row(uint32_t number);

/* ---- initialisers ---- */
typedef struct vt_init_args {
  vt_builder *b;
  const vt_type *type; /* type of the parameter; every dimension is bound */
  const void *attrs;
  uint32_t seed, step; /* values of type i64[]: the seed and the step of the random numbers */
} vt_init_args;
/* An initialiser writes nodes through `b` and returns the first value of the parameter. */
typedef uint32_t vt_init_fn(const vt_init_args *a);
typedef struct vt_init_info {
  const char *name;
  uint32_t number;
  const vt_attr_group *attrs;
  vt_init_fn *build;
  const char *formula;
} vt_init_info;
uint32_t vt_init_count(void);
const vt_init_info *vt_init_at(uint32_t i);
const vt_init_info *vt_init_get(uint32_t number);
const vt_init_info *vt_init_find(const char *name);
/* The random stream of a parameter name: the first four bytes, little-endian, of its
 * BLAKE2b-256. */
uint32_t vt_random_stream_of(const char *name);
#endif
