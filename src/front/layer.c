/* SPDX-License-Identifier: Apache-2.0
 * layer.c - the layers: layers.def as structs and tables, the parser of a layer call, and for each
 * layer a function build_LAYER that declares its parameters and adds its ops.
 * Attention heads have the shape (B, heads, T, d). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "layer.h"

typedef vt_status layer_fn(const layer_call *c, uint32_t *out);

/* The order of the axes of a weight. */
enum { LAYOUT_IN_OUT, LAYOUT_OUT_IN };

/* ---- the table ---- */

typedef enum arg_kind {
  ARG_DIM,
  ARG_COUNT,
  ARG_FLAG,
  ARG_REAL,
  ARG_INTS,
  ARG_VALUE,
  ARG_LAYOUT,
  ARG_INIT
} arg_kind;
typedef struct layer_arg {
  const char *name;
  arg_kind kind;
  int required;  /* 1: the call must have this argument */
  size_t offset; /* position in the struct LAYER_args */
} layer_arg;

#define VT_C_DIM int64_t
#define VT_C_COUNT int64_t
#define VT_C_FLAG int64_t
#define VT_C_REAL double
#define VT_C_INTS vt_attr_list
#define VT_C_VALUE uint32_t
#define VT_C_LAYOUT int64_t
#define VT_C_INIT vt_init_spec

#define VT_NEED(layer, kind, field) VT_C_##kind field;
#define VT_MAY(layer, kind, field, ...) VT_C_##kind field;
#define VT_LAYER(layer, fields) \
  typedef struct layer##_args { \
    fields                      \
  } layer##_args;               \
  static layer_fn build_##layer;
#include "layers.def"
#undef VT_LAYER
#undef VT_MAY
#undef VT_NEED

#define VT_NEED(layer, kind, field)
#define VT_MAY(layer, kind, field, ...) .field = __VA_ARGS__,
#define VT_LAYER(layer, fields) static const layer##_args layer##_defaults = {fields};
#include "layers.def"
#undef VT_LAYER
#undef VT_MAY
#undef VT_NEED

#define VT_NEED(layer, kind, field) {#field, ARG_##kind, 1, offsetof(layer##_args, field)},
#define VT_MAY(layer, kind, field, ...) {#field, ARG_##kind, 0, offsetof(layer##_args, field)},
#define VT_LAYER(layer, fields) static const layer_arg layer##_list[] = {fields};
#include "layers.def"
#undef VT_LAYER
#undef VT_MAY
#undef VT_NEED

/* The arguments of any layer. */
typedef union any_args {
#define VT_LAYER(layer, fields) layer##_args layer;
#include "layers.def"
#undef VT_LAYER
} any_args;

typedef struct layer_info {
  const char *name;
  layer_fn *build;
  const layer_arg *args;
  uint32_t n_args;
  const void *defaults; /* a struct LAYER_args with the default values */
  size_t size;          /* bytes of that struct */
} layer_info;

static const layer_info layers[] = {
#define VT_LAYER(layer, fields)             \
  {#layer,                                  \
   build_##layer,                           \
   layer##_list,                            \
   sizeof layer##_list / sizeof(layer_arg), \
   &layer##_defaults,                       \
   sizeof(layer##_args)},
#include "layers.def"
#undef VT_LAYER
};
enum { N_LAYERS = sizeof layers / sizeof layers[0] };

static const layer_info *find_layer(const char *name) {
  for (size_t i = 0; i < N_LAYERS; i++)
    if (strcmp(layers[i].name, name) == 0) return &layers[i];
  return NULL;
}

static const layer_arg *find_arg(const layer_info *l, const char *name) {
  for (uint32_t i = 0; i < l->n_args; i++)
    if (strcmp(l->args[i].name, name) == 0) return &l->args[i];
  return NULL;
}

int vt_layer_exists(const char *kind) { return find_layer(kind) != NULL; }

int vt_layer_has_arg(const char *kind, const char *arg) {
  const layer_info *l = find_layer(kind);
  return l != NULL && find_arg(l, arg) != NULL;
}

/* ---- reading a call ---- */

static vt_status fail_unknown_layer(vt_parser *p, const char *name) {
  vt_suggestion s = {.wanted = name};
  for (size_t i = 0; i < N_LAYERS; i++) vt_suggestion_consider(&s, layers[i].name);
  const vt_status status = VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "unknown layer '%s'", name);
  vt_parse_add_suggestion(p, &s);
  if (vt_op_find(name) != NULL)
    vt_parse_add_hint(p, "'%s' is an op: it has no name of its own", name);
  return status;
}

static vt_status fail_unknown_arg(vt_parser *p, const layer_info *l, const char *name) {
  vt_suggestion s = {.wanted = name};
  for (uint32_t i = 0; i < l->n_args; i++) vt_suggestion_consider(&s, l->args[i].name);
  const vt_status status =
      VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "the layer '%s' has no argument '%s'", l->name, name);
  vt_parse_add_suggestion(p, &s);
  return status;
}

static vt_status parse_positive_count(vt_parser *p, int64_t *out) {
  const vt_token at = p->tok;
  int64_t v = 0;
  VT_TRY(vt_parse_whole_number(p, &v));
  if (v < 1 || v > VT_DIM_MAX)
    return VT_FAIL_AT(p, &at, VT_VERIFY, "expected a number from 1 to 2^40, not %lld",
                      (long long)v);
  *out = v;
  return VT_OK;
}

static vt_status parse_value_arg(vt_parser *p, uint32_t *out) {
  vt_operand o;
  VT_TRY(vt_parse_value(p, 0, &o));
  *out = o.value;
  return VT_OK;
}

static vt_status parse_layout(vt_parser *p, int64_t *out) {
  char found[VT_TOKEN_TEXT];
  if (!vt_token_is(&p->tok, "in_out") && !vt_token_is(&p->tok, "out_in"))
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "expected the layout in_out or out_in, found %s",
                      vt_token_text(&p->tok, found));
  *out = vt_token_is(&p->tok, "out_in") ? LAYOUT_OUT_IN : LAYOUT_IN_OUT;
  return vt_parse_advance(p);
}

static vt_status parse_arg_value(vt_parser *p, const layer_arg *a, any_args *args) {
  void *place = (unsigned char *)args + a->offset;
  switch (a->kind) {
    case ARG_DIM:
      return vt_parse_dim(p, place);
    case ARG_COUNT:
      return parse_positive_count(p, place);
    case ARG_FLAG:
      return vt_parse_bool(p, place);
    case ARG_REAL:
      return vt_parse_real(p, place);
    case ARG_INTS:
      return vt_parse_int_list(p, place);
    case ARG_VALUE:
      return parse_value_arg(p, place);
    case ARG_LAYOUT:
      return parse_layout(p, place);
    case ARG_INIT:
      return vt_parse_init(p, place);
  }
  return VT_FAIL_AT(p, &p->tok, VT_INTERNAL, "an argument of unknown kind");
}

static vt_status parse_arg(vt_parser *p, const layer_info *l, any_args *args, uint32_t *seen) {
  char name[VT_NAME_MAX + 1];
  if (p->tok.kind != VT_TOKEN_NAME || p->next.kind != '=')
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX,
                      "expected an argument as name=value: '%s' has one operand", l->name);
  vt_parse_copy_name(&p->tok, name);
  const layer_arg *a = find_arg(l, name);
  if (a == NULL) return fail_unknown_arg(p, l, name);
  const uint32_t bit = (uint32_t)1 << (a - l->args);
  if ((*seen & bit) != 0)
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "the argument '%s' is given twice", name);
  *seen |= bit;
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_advance(p));
  return parse_arg_value(p, a, args);
}

/* Parses "x, argument=..., ...)", the rest of a layer call after its opening bracket. */
static vt_status parse_operand_and_arguments(vt_parser *p, const layer_info *l, layer_call *c,
                                             any_args *args) {
  char close[VT_NAME_MAX + 64];
  uint32_t seen = 0;
  vt_operand x;
  int more = 1;
  if (p->tok.kind == ')' || (p->tok.kind == VT_TOKEN_NAME && p->next.kind == '='))
    return VT_FAIL_AT(p, &p->tok, VT_SYNTAX, "'%s' needs an operand before its arguments", l->name);
  VT_TRY(vt_parse_value(p, 0, &x));
  snprintf(close, sizeof close, "')' to close the layer '%s'", c->name);
  VT_TRY(vt_parse_list_continues(p, &c->at, ')', close, &more));
  while (more) {
    VT_TRY(parse_arg(p, l, args, &seen));
    VT_TRY(vt_parse_list_continues(p, &c->at, ')', close, &more));
  }
  for (uint32_t i = 0; i < l->n_args; i++)
    if (l->args[i].required && (seen >> i & 1) == 0)
      return VT_FAIL_AT(p, &c->at, VT_VERIFY, "'%s' needs the argument '%s'", l->name,
                        l->args[i].name);
  c->x = x.value;
  c->type = *p->gb->b.type(&p->gb->b, x.value);
  return VT_OK;
}

vt_status vt_parse_layer(vt_parser *p, uint32_t *out) {
  char kind[VT_NAME_MAX + 1], name[VT_NAME_MAX + 1];
  any_args args;
  layer_call c = {.p = p, .at = p->tok, .name = name, .args = &args};
  vt_parse_copy_name(&p->tok, kind);
  vt_parse_copy_name(&p->next, name);
  const layer_info *l = find_layer(kind);
  if (l == NULL) return fail_unknown_layer(p, kind);
  memcpy(&args, l->defaults, l->size);
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_advance(p));
  VT_TRY(vt_parse_expect(p, '(', "'(' after the name of the layer"));
  VT_TRY(parse_operand_and_arguments(p, l, &c, &args));
  return l->build(&c, out);
}

/* ---- building ---- */

vt_status vt_layer_add_node(const layer_call *c, uint32_t op, const uint32_t *in, uint32_t n_in,
                            const void *attrs, uint32_t *out) {
  vt_parser *p = c->p;
  p->gb->line = c->at.line;
  p->gb->column = c->at.column;
  const uint32_t v = p->gb->b.node(&p->gb->b, op, in, n_in, attrs);
  VT_TRY(vt_parse_check_builder(p, &c->at));
  *out = v;
  return VT_OK;
}

vt_status vt_layer_declare(const layer_call *c, const char *part, const vt_param_spec *spec,
                           char full[VT_NAME_MAX + 1], uint32_t *out) {
  for (uint32_t i = 0; i < spec->type.rank; i++) {
    const int64_t dim = spec->type.dim[i];
    if (!vt_dim_is_symbolic(dim) && (dim < 0 || dim > VT_DIM_MAX))
      return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "the layer '%s' would need a dimension of %lld",
                        c->name, (long long)dim);
  }
  VT_TRY(vt_scope_full_name(c->p, &c->at, c->name, part, full));
  return vt_parse_add_param(c->p, &c->at, full, spec, out);
}

static vt_param_spec spec_of(uint32_t kind, uint32_t rank, const int64_t *dim,
                             const vt_init_spec *init) {
  vt_param_spec spec = {.kind = kind, .type = {.dtype = VT_DTYPE_F32, .rank = rank}, .init = *init};
  memcpy(spec.type.dim, dim, rank * sizeof *dim);
  return spec;
}

/* Declares a parameter f32[dim...]. */
static vt_status add_param(const layer_call *c, const char *part, uint32_t rank, const int64_t *dim,
                           const vt_init_spec *init, uint32_t *out) {
  char full[VT_NAME_MAX + 1];
  const vt_param_spec spec = spec_of(VT_PORT_PARAM, rank, dim, init);
  return vt_layer_declare(c, part, &spec, full, out);
}

static vt_init_spec init_without_args(const char *name) {
  const vt_init_info *info = vt_init_find(name);
  return (vt_init_spec){info, info->attrs->defaults};
}

static vt_init_spec weight_init_or_default(const vt_init_spec *given) {
  static const vt_attr_normal small = {.size = sizeof small, .std = 0.02, .stream = -1};
  return given->info != NULL ? *given : (vt_init_spec){vt_init_find("normal"), &small};
}

static vt_status operand_last_dim(const layer_call *c, int64_t *out) {
  if (c->type.rank == 0)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "the layer '%s' needs an operand with an axis",
                      c->name);
  *out = c->type.dim[c->type.rank - 1];
  return VT_OK;
}

/* ---- weights of products ---- */

static vt_status add_transpose(const layer_call *c, uint32_t x, vt_attr_list perm, uint32_t *out) {
  const vt_attr_perm attrs = {.size = sizeof attrs, .perm = perm};
  return vt_layer_add_node(c, VT_OP_transpose, &x, 1, &attrs, out);
}

/* Makes an initialiser that reads fans from the shape read them from [out, in]. */
static vt_status read_fans_out_in(const layer_call *c, vt_init_spec *init) {
  if (init->info->attrs != &vt_attr_group_fan) return VT_OK;
  vt_attr_fan *attrs = vt_arena_copy(&c->p->arena, init->attrs, sizeof *attrs);
  if (attrs == NULL) return vt_parse_fail_nomem(c->p);
  attrs->out_in = 1;
  init->attrs = attrs;
  return VT_OK;
}

/* The right operand of a product, which is [in, out] for the op. */
typedef struct weight {
  const char *part; /* of the parameter's name: ".q.weight" */
  int64_t in, out;
  int64_t layout;           /* order of the two axes in the parameter */
  const vt_init_spec *init; /* initialiser that the layer was given */
} weight;

/* Declares a weight and writes the value [in, out]. For a parameter [out, in] that is its
 * transpose, which costs nothing at run time where the planner makes it a view. */
static vt_status add_weight(const layer_call *c, const weight *w, uint32_t *out) {
  const vt_attr_list swap = {.n = 2, .v = {1, 0}};
  vt_init_spec init = weight_init_or_default(w->init);
  if (w->layout == LAYOUT_IN_OUT)
    return add_param(c, w->part, 2, (const int64_t[]){w->in, w->out}, &init, out);
  VT_TRY(read_fans_out_in(c, &init));
  VT_TRY(add_param(c, w->part, 2, (const int64_t[]){w->out, w->in}, &init, out));
  return add_transpose(c, *out, swap, out);
}

/* A linear projection x @ weight + bias. */
typedef struct projection {
  const char *part;         /* prefix of the two parameters' names: "" or ".q" */
  int64_t in, out;          /* widths of x and of the result */
  int64_t bias;             /* 1: the projection has a bias */
  int64_t layout;           /* order of the axes of the weight */
  const vt_init_spec *init; /* initialiser of the weight */
} projection;
static vt_status add_projection(const layer_call *c, const projection *j, uint32_t x,
                                uint32_t *out) {
  char name[32], bias[32];
  const vt_init_spec zeros = init_without_args("zeros");
  const weight w = {name, j->in, j->out, j->layout, j->init};
  uint32_t in[3] = {x};
  snprintf(name, sizeof name, "%s.weight", j->part);
  snprintf(bias, sizeof bias, "%s.bias", j->part);
  VT_TRY(add_weight(c, &w, &in[1]));
  if (j->bias) VT_TRY(add_param(c, bias, 1, &j->out, &zeros, &in[2]));
  return vt_layer_add_node(c, VT_OP_linear, in, j->bias ? 3 : 2, NULL, out);
}

static vt_status build_linear(const layer_call *c, uint32_t *out) {
  const linear_args *a = c->args;
  projection j = {
      .part = "", .out = a->out, .bias = a->bias, .layout = a->layout, .init = &a->init};
  VT_TRY(operand_last_dim(c, &j.in));
  return add_projection(c, &j, c->x, out);
}

static vt_status build_embedding(const layer_call *c, uint32_t *out) {
  const embedding_args *a = c->args;
  const vt_init_spec init = weight_init_or_default(&a->init);
  const int64_t shape[2] = {a->rows, a->width};
  uint32_t in[2] = {0, c->x};
  VT_TRY(add_param(c, ".weight", 2, shape, &init, &in[0]));
  return vt_layer_add_node(c, VT_OP_embedding, in, 2, NULL, out);
}

static vt_status build_norm(const layer_call *c, uint32_t op, double eps, int has_beta,
                            uint32_t *out) {
  const vt_init_spec ones = init_without_args("ones"), zeros = init_without_args("zeros");
  vt_attr_norm attrs = {.size = sizeof attrs, .eps = eps};
  uint32_t in[3] = {c->x};
  int64_t n = 0;
  VT_TRY(operand_last_dim(c, &n));
  VT_TRY(add_param(c, ".gamma", 1, &n, &ones, &in[1]));
  if (has_beta) VT_TRY(add_param(c, ".beta", 1, &n, &zeros, &in[2]));
  return vt_layer_add_node(c, op, in, has_beta ? 3 : 2, &attrs, out);
}

static vt_status build_layer_norm(const layer_call *c, uint32_t *out) {
  return build_norm(c, VT_OP_layer_norm, ((const layer_norm_args *)c->args)->eps, 1, out);
}

static vt_status build_rms_norm(const layer_call *c, uint32_t *out) {
  return build_norm(c, VT_OP_rms_norm, ((const rms_norm_args *)c->args)->eps, 0, out);
}

/* ---- channels: x is [N, C, ...] ---- */

/* Expands a list for `axes` spatial axes: a single number is repeated for each axis, and an empty
 * list stays empty, which is the op's default. */
static vt_status expand_per_axis(const layer_call *c, const char *what, const vt_attr_list *given,
                                 uint32_t axes, vt_attr_list *out) {
  vt_attr_list all = *given;
  if (given->n == 1)
    for (all.n = 0; all.n < (int64_t)axes; all.n++) all.v[all.n] = given->v[0];
  if (all.n != 0 && all.n != (int64_t)axes)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "%s has %lld entries where x has %u spatial axes",
                      what, (long long)all.n, axes);
  *out = all;
  return VT_OK;
}

/* Computes the shape of the weight, [out, C/groups, kernel...]. */
static vt_status conv_weight_shape(const layer_call *c, const conv_args *a, int64_t *shape) {
  vt_parser *p = c->p;
  char type[VT_TYPE_TEXT];
  vt_attr_list kernel;
  if (c->type.rank < 3)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY,
                      "conv needs an operand [N, C, ...] of rank 3 or above, not %s",
                      vt_type_text(p->gb->b.dims, &c->type, type));
  if (!vt_dim_is_symbolic(c->type.dim[1]) && c->type.dim[1] % a->groups != 0)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY, "groups=%lld does not divide the %lld channels",
                      (long long)a->groups, (long long)c->type.dim[1]);
  if (a->kernel.n == 0) return VT_FAIL_AT(p, &c->at, VT_VERIFY, "kernel needs an entry");
  VT_TRY(expand_per_axis(c, "kernel", &a->kernel, c->type.rank - 2, &kernel));
  for (int64_t i = 0; i < kernel.n; i++) shape[2 + i] = kernel.v[i];
  shape[0] = a->out;
  return vt_parse_set_failure_position(
      p, &c->at, vt_dim_div(p->gb->b.dims, c->type.dim[1], a->groups, &shape[1], &p->diag));
}

static vt_status build_conv(const layer_call *c, uint32_t *out) {
  const conv_args *a = c->args;
  const vt_init_spec init = a->init.info != NULL ? a->init : init_without_args("he_normal");
  const vt_init_spec zeros = init_without_args("zeros");
  vt_attr_conv attrs = {.size = sizeof attrs, .groups = a->groups, .order = VT_ORDER_FMA256};
  int64_t shape[VT_MAX_RANK];
  uint32_t in[3] = {c->x};
  VT_TRY(conv_weight_shape(c, a, shape));
  VT_TRY(expand_per_axis(c, "stride", &a->stride, c->type.rank - 2, &attrs.stride));
  VT_TRY(expand_per_axis(c, "pad", &a->pad, c->type.rank - 2, &attrs.low));
  attrs.high = attrs.low;
  VT_TRY(add_param(c, ".weight", c->type.rank, shape, &init, &in[1]));
  if (a->bias) VT_TRY(add_param(c, ".bias", 1, &a->out, &zeros, &in[2]));
  return vt_layer_add_node(c, VT_OP_conv, in, a->bias ? 3 : 2, &attrs, out);
}

/* Declares one of the running statistics: a state that runs leave unchanged. */
static vt_status add_statistic(const layer_call *c, const char *part, const vt_init_spec *init,
                               uint32_t *out) {
  char full[VT_NAME_MAX + 1];
  const vt_param_spec spec = spec_of(VT_PORT_STATE, 1, &c->type.dim[1], init);
  VT_TRY(vt_layer_declare(c, part, &spec, full, out));
  return vt_parse_keep_state(c->p, &c->at, full);
}

/* Batch normalisation for inference, with running statistics. */
static vt_status build_batch_norm(const layer_call *c, uint32_t *out) {
  const vt_init_spec ones = init_without_args("ones"), zeros = init_without_args("zeros");
  const vt_attr_norm attrs = {.size = sizeof attrs, .eps = ((const batch_norm_args *)c->args)->eps};
  uint32_t in[5] = {c->x};
  char type[VT_TYPE_TEXT];
  if (c->type.rank < 2)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY,
                      "batch_norm needs an operand [N, C, ...] of rank 2 or above, not %s",
                      vt_type_text(c->p->gb->b.dims, &c->type, type));
  VT_TRY(add_param(c, ".gamma", 1, &c->type.dim[1], &ones, &in[1]));
  VT_TRY(add_param(c, ".beta", 1, &c->type.dim[1], &zeros, &in[2]));
  VT_TRY(add_statistic(c, ".mean", &zeros, &in[3]));
  VT_TRY(add_statistic(c, ".var", &ones, &in[4]));
  return vt_layer_add_node(c, VT_OP_batch_norm_inference, in, 5, &attrs, out);
}

/* ---- attention ---- */

static vt_status add_reshape(const layer_call *c, uint32_t x, const int64_t *dim, int64_t rank,
                             uint32_t *out) {
  vt_attr_shape attrs = {.size = sizeof attrs, .shape = {.n = rank}};
  memcpy(attrs.shape.v, dim, (size_t)rank * sizeof *dim);
  return vt_layer_add_node(c, VT_OP_reshape, &x, 1, &attrs, out);
}

static vt_status add_head_transpose(const layer_call *c, uint32_t x, uint32_t *out) {
  const vt_attr_list swap = {.n = 4, .v = {0, 2, 1, 3}};
  return add_transpose(c, x, swap, out);
}

/* Projects x to (B, T, heads*d) and splits it into heads: (B, heads, T, d). */
static vt_status project_and_split_heads(const layer_call *c, const projection *j, int64_t heads,
                                         int64_t d, uint32_t *out) {
  const int64_t split[4] = {c->type.dim[0], c->type.dim[1], heads, d};
  uint32_t x = c->x;
  VT_TRY(add_projection(c, j, x, &x));
  VT_TRY(add_reshape(c, x, split, 4, &x));
  return add_head_transpose(c, x, out);
}

/* Computes the width of one head and the total width of all key heads. */
static vt_status head_widths(const layer_call *c, int64_t heads, int64_t kv_heads,
                             int64_t *out_head_width, int64_t *out_kv_width) {
  vt_parser *p = c->p;
  char type[VT_TYPE_TEXT];
  if (c->type.rank != 3)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY,
                      "attention needs an operand of rank 3 [B, T, C], not %s",
                      vt_type_text(p->gb->b.dims, &c->type, type));
  if (heads % kv_heads != 0)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY, "kv_heads=%lld does not divide heads=%lld",
                      (long long)kv_heads, (long long)heads);
  const int64_t width = c->type.dim[2];
  if (!vt_dim_is_symbolic(width) && width % heads != 0)
    return VT_FAIL_AT(p, &c->at, VT_VERIFY, "heads=%lld does not divide the width %lld",
                      (long long)heads, (long long)width);
  int64_t d = 0;
  VT_TRY(vt_parse_set_failure_position(p, &c->at,
                                       vt_dim_div(p->gb->b.dims, width, heads, &d, &p->diag)));
  VT_TRY(vt_parse_set_failure_position(
      p, &c->at, vt_dim_mul(p->gb->b.dims, d, kv_heads, out_kv_width, &p->diag)));
  *out_head_width = d;
  return VT_OK;
}

/* Joins the heads, (B, heads, T, d) -> (B, T, C), and adds the output projection. */
static vt_status merge_heads_and_project(const layer_call *c, uint32_t x, uint32_t *out) {
  const attention_args *a = c->args;
  const int64_t width = c->type.dim[2];
  const vt_init_spec *init = a->out_init.info != NULL ? &a->out_init : &a->init;
  const projection o = {".o", width, width, a->bias, a->layout, init};
  VT_TRY(add_head_transpose(c, x, &x));
  VT_TRY(add_reshape(c, x, c->type.dim, 3, &x));
  return add_projection(c, &o, x, out);
}

/* Appends mask and length to the operands. Their types are checked here, because the op tells its
 * optional operands apart by their types. */
static vt_status add_mask_and_length(const layer_call *c, uint32_t *in, uint32_t *n) {
  const attention_args *a = c->args;
  vt_builder *b = &c->p->gb->b;
  char type[VT_TYPE_TEXT];
  const vt_type *mask = b->type(b, a->mask), *length = b->type(b, a->length);
  if (mask != NULL && mask->dtype != VT_DTYPE_BOOL)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "the mask is %s, expected bool",
                      vt_type_text(b->dims, mask, type));
  if (length != NULL && length->dtype != VT_DTYPE_I32 && length->dtype != VT_DTYPE_I64)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "the length is %s, expected i32 or i64",
                      vt_type_text(b->dims, length, type));
  if (mask != NULL) in[(*n)++] = a->mask;
  if (length != NULL) in[(*n)++] = a->length;
  return VT_OK;
}

/* Sets up the cache and checks the arguments that go with it. */
static vt_status begin_cache(const layer_call *c, int64_t kv_heads, int64_t d, vt_kv_cache *k) {
  const attention_args *a = c->args;
  if (a->cache == -1 || a->position == VT_NO_VALUE)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "cache and position are given together");
  if (!a->causal)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY,
                      "a cache needs causal=true: later keys are not known");
  if (a->length != VT_NO_VALUE)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "with a cache the length is that of the cache");
  *k = (vt_kv_cache){.shape = {c->type.dim[0], kv_heads, a->cache, d}, .position = a->position};
  return vt_layer_begin_cache(c, k);
}

static vt_status build_attention(const layer_call *c, uint32_t *out) {
  const attention_args *a = c->args;
  const int64_t kv_heads = a->kv_heads > 0 ? a->kv_heads : a->heads;
  int64_t d = 0, kv = 0;
  VT_TRY(head_widths(c, a->heads, kv_heads, &d, &kv));
  const int64_t width = c->type.dim[2];
  const projection q = {".q", width, width, a->bias, a->layout, &a->init};
  const projection k = {".k", width, kv, a->bias, a->layout, &a->init};
  const projection v = {".v", width, kv, a->bias, a->layout, &a->init};
  const vt_attr_attention attrs = {
      .size = sizeof attrs, .causal = a->causal, .order = VT_ORDER_FMA256, .window = a->window};
  const int cached = a->cache != -1 || a->position != VT_NO_VALUE;
  uint32_t in[5], n = 3, x = 0;
  vt_kv_cache cache = {0};
  VT_TRY(add_mask_and_length(c, in, &n));
  if (cached) VT_TRY(begin_cache(c, kv_heads, d, &cache));
  VT_TRY(project_and_split_heads(c, &q, a->heads, d, &in[0]));
  VT_TRY(project_and_split_heads(c, &k, kv_heads, d, &in[1]));
  VT_TRY(project_and_split_heads(c, &v, kv_heads, d, &in[2]));
  if (cached) VT_TRY(vt_layer_write_cache(c, &cache, in, &n));
  VT_TRY(vt_layer_add_node(c, VT_OP_attention, in, n, &attrs, &x));
  return merge_heads_and_project(c, x, out);
}

/* ---- recurrent cells: x [T, B, I] gives the states of every step, [T, B, hidden] ---- */

typedef struct cell {
  uint32_t op;
  int64_t gates, hidden, bias; /* number of gates; width of the state; 1: the cell has biases */
  int64_t layout;              /* order of the axes of the weights */
  const vt_init_spec *init;    /* initialiser of the weights */
  const void *attrs;           /* attributes of the op */
} cell;

static vt_status build_recurrent_cell(const layer_call *c, const cell *k, uint32_t *out) {
  const vt_init_spec zeros = init_without_args("zeros");
  uint32_t in[5] = {c->x};
  int64_t width = 0;
  VT_TRY(operand_last_dim(c, &width));
  if (k->hidden > VT_DIM_MAX / k->gates)
    return VT_FAIL_AT(c->p, &c->at, VT_VERIFY, "hidden=%lld is too wide", (long long)k->hidden);
  const int64_t wide = k->gates * k->hidden;
  const weight w = {".weight", width, wide, k->layout, k->init};
  const weight u = {".state_weight", k->hidden, wide, k->layout, k->init};
  VT_TRY(add_weight(c, &w, &in[1]));
  VT_TRY(add_weight(c, &u, &in[2]));
  if (k->bias) {
    VT_TRY(add_param(c, ".bias", 1, &wide, &zeros, &in[3]));
    VT_TRY(add_param(c, ".state_bias", 1, &wide, &zeros, &in[4]));
  }
  return vt_layer_add_node(c, k->op, in, k->bias ? 5 : 3, k->attrs, out);
}

static int64_t direction_word(int64_t reverse) {
  return reverse ? VT_WORD_reverse : VT_WORD_forward;
}

static vt_status build_rnn(const layer_call *c, uint32_t *out) {
  const rnn_args *a = c->args;
  const vt_attr_rnn attrs = {
      .size = sizeof attrs, .direction = direction_word(a->reverse), .activation = VT_WORD_tanh};
  const cell k = {VT_OP_rnn, 1, a->hidden, a->bias, a->layout, &a->init, &attrs};
  return build_recurrent_cell(c, &k, out);
}

static vt_status build_lstm(const layer_call *c, uint32_t *out) {
  const lstm_args *a = c->args;
  const vt_attr_lstm attrs = {.size = sizeof attrs, .direction = direction_word(a->reverse)};
  const cell k = {VT_OP_lstm, 4, a->hidden, a->bias, a->layout, &a->init, &attrs};
  return build_recurrent_cell(c, &k, out);
}

static vt_status build_gru(const layer_call *c, uint32_t *out) {
  const gru_args *a = c->args;
  const vt_attr_gru attrs = {.size = sizeof attrs, .direction = direction_word(a->reverse)};
  const cell k = {VT_OP_gru, 3, a->hidden, a->bias, a->layout, &a->init, &attrs};
  return build_recurrent_cell(c, &k, out);
}
