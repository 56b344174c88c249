/* SPDX-License-Identifier: Apache-2.0
 * cost.c - the operations and bytes of a step by costs.def: by the definition of the op,
 * independent of the kernels of a backend, so that they are the same for all backends. flops_X
 * is the rule X of the column `flops` of costs.def, chosen_bytes the rule `chosen` of the column
 * `reads`: the bytes of at most as many elements as the result has. */
#include "cost.h"
#include <string.h>
#include "vt_window.h"
#include "volta/volta_backend.h"

uint64_t vt_cost_sum(uint64_t a, uint64_t b) {
  uint64_t out;
  return vt_size_add(a, b, &out) ? out : UINT64_MAX;
}

uint64_t vt_cost_times(uint64_t a, uint64_t b) {
  uint64_t out;
  return vt_size_mul(a, b, &out) ? out : UINT64_MAX;
}

void vt_cost_add(vt_cost *sum, const vt_cost *c) {
  sum->flops = vt_cost_sum(sum->flops, c->flops);
  sum->bytes_read = vt_cost_sum(sum->bytes_read, c->bytes_read);
  sum->bytes_written = vt_cost_sum(sum->bytes_written, c->bytes_written);
}

/* The product of the dimensions from axis `first_axis` to the last axis. */
static uint64_t elements_from_axis(const vt_type *t, uint32_t first_axis) {
  uint64_t n = 1;
  for (uint32_t i = first_axis; i < t->rank; i++) n = vt_cost_times(n, (uint64_t)t->dim[i]);
  return n;
}

static uint64_t elements(const vt_type *t) { return elements_from_axis(t, 0); }

/* ---- operations ---- */

typedef uint64_t flops_fn(const vt_cost_site *s);

static uint64_t flops_nothing(const vt_cost_site *s) {
  (void)s;
  return 0;
}

static uint64_t flops_by_numerics(const vt_cost_site *s) {
  const vt_numerics numerics = s->op->numerics;
  const int each = numerics == VT_NUMERICS_exact || numerics == VT_NUMERICS_rounded;
  return each ? elements(&s->out[0]) : 0;
}

static uint64_t flops_twice(const vt_cost_site *s) {
  return vt_cost_times(2, elements(&s->out[0]));
}

static uint64_t flops_operand(const vt_cost_site *s) { return elements(&s->in[0]); }
static uint64_t flops_updates(const vt_cost_site *s) { return elements(&s->in[2]); }

static uint64_t flops_sorting(const vt_cost_site *s) {
  const vt_attr_sort *a = s->attrs;
  const int64_t line = s->in[0].dim[a->axis];
  uint64_t rounds = 0;
  while ((int64_t)1 << rounds < line) rounds++;
  return vt_cost_times(elements(&s->in[0]), rounds);
}

/* The operations of a contraction: two for each product, of which each element of the result sums
 * `depth`, and `bias` more for each element of the result. */
static uint64_t contraction_flops(const vt_cost_site *s, uint64_t depth, uint64_t bias) {
  const uint64_t each = vt_cost_sum(vt_cost_times(2, depth), bias);
  return vt_cost_times(elements(&s->out[0]), each);
}

static uint64_t flops_product(const vt_cost_site *s) {
  const vt_attr_matmul *a = s->attrs;
  const vt_type *x = &s->in[0];
  return contraction_flops(s, (uint64_t)x->dim[x->rank - (a->transpose_a ? 2 : 1)], 0);
}

static uint64_t flops_product_int(const vt_cost_site *s) {
  return contraction_flops(s, (uint64_t)s->in[0].dim[s->in[0].rank - 1], 0);
}

/* 1 if a convolution has a bias, otherwise 0. The bias is the last operand that the op can have. */
static uint64_t has_bias(const vt_cost_site *s) { return s->n_in == s->op->max_in; }

static uint64_t flops_conv(const vt_cost_site *s) {
  return contraction_flops(s, elements_from_axis(&s->in[1], 1), has_bias(s));
}

static uint64_t flops_conv_weight_grad(const vt_cost_site *s) {
  const vt_type *dy = &s->in[1];
  return contraction_flops(s, vt_cost_times((uint64_t)dy->dim[0], elements_from_axis(dy, 2)), 0);
}

/* Counts, along one axis, the pairs of an output (0 .. outputs-1) and a tap for which output + low
 * - tap*dilation is a multiple of the stride: the pairs that have a product. Taps that are equal
 * modulo the stride pair with the same outputs. */
static uint64_t count_output_tap_products(const vt_window *w, int64_t outputs) {
  uint64_t pairs = 0;
  for (int64_t tap = 0; tap < w->stride && tap < w->kernel; tap++) {
    const int64_t taps = (w->kernel - tap - 1) / w->stride + 1;
    const int64_t rest = (tap * (w->dilation % w->stride) - w->low) % w->stride;
    const int64_t first = rest < 0 ? rest + w->stride : rest;
    const int64_t met = first < outputs ? (outputs - first - 1) / w->stride + 1 : 0;
    pairs = vt_cost_sum(pairs, vt_cost_times((uint64_t)taps, (uint64_t)met));
  }
  return pairs;
}

static uint64_t flops_conv_transpose(const vt_cost_site *s) {
  const vt_attr_conv_transpose *a = s->attrs;
  const vt_window_lists l = {NULL, &a->stride, &a->dilation, &a->low, &a->high};
  const vt_type *w = &s->in[1], *y = &s->out[0];
  uint64_t products = vt_cost_times((uint64_t)y->dim[0], (uint64_t)y->dim[1]);
  products = vt_cost_times(products, (uint64_t)(w->dim[0] / a->groups));
  for (uint32_t i = 0; i + 2 < y->rank; i++) {
    const vt_window axis = vt_window_axis(&l, i, w->dim[2 + i], 1);
    products = vt_cost_times(products, count_output_tap_products(&axis, y->dim[2 + i]));
  }
  return vt_cost_sum(vt_cost_times(2, products), vt_cost_times(elements(y), has_bias(s)));
}

/* ---- the table ---- */

typedef enum reads { READS_all, READS_chosen } reads;
typedef struct row {
  uint32_t op;
  flops_fn *flops;
  reads first;
} row;
static const row rows[] = {
#define VT_COST(name, flops, reads) {VT_OP_##name, flops_##flops, READS_##reads},
#include "costs.def"
#undef VT_COST
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const row *find_row(uint32_t number) {
  for (uint32_t i = 0; i < N_ROWS; i++)
    if (rows[i].op == number) return &rows[i];
  return NULL;
}

int vt_cost_has_row(uint32_t number) { return find_row(number) != NULL; }

uint64_t vt_cost_prim_flops(const vt_cost_site *s) {
  const row *r = find_row(s->op->number);
  return r != NULL ? r->flops(s) : flops_by_numerics(s);
}

uint64_t vt_cost_iterations(const vt_op_info *op, const void *attrs) {
  return op->number == VT_OP_loop ? (uint64_t)((const vt_attr_loop *)attrs)->count : 1;
}

/* ---- bytes ---- */

/* The number of elements that a tensor has in memory: an axis of stride 0 repeats elements and adds
 * none. */
static uint64_t stored_elements(const vt_bk_tensor *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->stride[i] != 0 || t->dim[i] == 0) n = vt_cost_times(n, (uint64_t)t->dim[i]);
  return n;
}

static uint64_t stored_bytes(const vt_bk_tensor *t) {
  return vt_cost_times(stored_elements(t), vt_dtype_bytes(t->dtype));
}

static uint64_t chosen_bytes(const vt_bk_tensor *x, const vt_bk_tensor *y) {
  const uint64_t has = stored_elements(x), wanted = stored_elements(y);
  return vt_cost_times(has < wanted ? has : wanted, vt_dtype_bytes(x->dtype));
}

/* 1 if the result is at the place of the first operand: only elements that an update names are
 * written. */
static int updates_in_place(const vt_bk_step *s) {
  return vt_op_form(s->op) == VT_FORM_UPDATE && s->in[0].arena == s->out[0].arena &&
         s->in[0].offset == s->out[0].offset;
}

/* An update in place writes as many elements of its first operand as there are updates, and reads
 * them if it combines them with the updates. */
static void count_bytes_of_update(const vt_bk_step *s, vt_cost *out) {
  const uint64_t bytes = chosen_bytes(&s->in[0], &s->in[2]);
  const int combines = vt_op_get(s->op)->needs == VT_NEEDS_collisions;
  out->bytes_read = vt_cost_sum(stored_bytes(&s->in[1]), stored_bytes(&s->in[2]));
  if (combines) out->bytes_read = vt_cost_sum(out->bytes_read, bytes);
  out->bytes_written = bytes;
}

static void count_bytes(const vt_bk_step *s, vt_cost *out) {
  const row *r = find_row(s->op);
  const int chosen = r != NULL && r->first == READS_chosen;
  for (uint32_t i = 0; i < s->n_in; i++) {
    const int some = i == 0 && chosen && s->n_out > 0;
    const uint64_t bytes = some ? chosen_bytes(&s->in[0], &s->out[0]) : stored_bytes(&s->in[i]);
    out->bytes_read = vt_cost_sum(out->bytes_read, bytes);
  }
  for (uint32_t i = 0; i < s->n_out; i++)
    out->bytes_written = vt_cost_sum(out->bytes_written, stored_bytes(&s->out[i]));
}

/* ---- steps ---- */

static void copy_types(const vt_bk_tensor *t, uint32_t n, vt_type *out) {
  for (uint32_t i = 0; i < n; i++) {
    out[i] = (vt_type){.dtype = t[i].dtype, .rank = t[i].rank};
    memcpy(out[i].dim, t[i].dim, sizeof out[i].dim);
  }
}

/* The cost of a step without bodies. `scratch_types` is scratch for the types of all its operands
 * and results. */
static vt_status node_cost(const vt_bk_step *step, vt_type *scratch_types, vt_alloc a, vt_cost *out,
                           vt_diag *d) {
  const vt_op_info *op = vt_op_get(step->op);
  const void *attrs = step->attrs != NULL ? step->attrs : op->attrs->defaults;
  const vt_cost_site site = {op,         attrs,      scratch_types, scratch_types + step->n_in,
                             step->n_in, step->n_out};
  copy_types(step->in, step->n_in, scratch_types);
  copy_types(step->out, step->n_out, scratch_types + step->n_in);
  if (updates_in_place(step)) {
    count_bytes_of_update(step, out);
  } else {
    count_bytes(step, out);
  }
  if (!op->prim) return vt_cost_composition_flops(&site, a, &out->flops, d);
  out->flops = vt_cost_prim_flops(&site);
  return VT_OK;
}

static vt_status cost_without_bodies(const vt_bk_step *step, vt_alloc a, vt_cost *out, vt_diag *d) {
  vt_type few[16];
  const size_t n = (size_t)step->n_in + step->n_out;
  if (n <= sizeof few / sizeof *few) return node_cost(step, few, a, out, d);
  vt_type *many = vt_alloc_new(a, n * sizeof *many);
  if (many == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const vt_status s = node_cost(step, many, a, out, d);
  vt_alloc_free(a, many, n * sizeof *many);
  return s;
}

static vt_status body_cost(const vt_bk_body *body, vt_alloc a, vt_cost *out, vt_diag *d) {
  for (uint64_t i = 0; i < body->n_steps; i++) {
    vt_cost one = {0};
    VT_TRY(vt_step_cost(&body->steps[i], a, &one, d));
    vt_cost_add(out, &one);
  }
  return VT_OK;
}

static uint64_t greater_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The cost of a loop or cond is that of its bodies: the step itself moves no bytes. */
static vt_status region_cost(const vt_bk_step *step, vt_alloc a, vt_cost *out, vt_diag *d) {
  const uint64_t iterations = vt_cost_iterations(vt_op_get(step->op), step->attrs);
  for (uint32_t k = 0; k < step->n_body; k++) {
    vt_cost one = {0};
    VT_TRY(body_cost(&step->body[k], a, &one, d));
    out->flops = greater_of(out->flops, vt_cost_times(iterations, one.flops));
    out->bytes_read = greater_of(out->bytes_read, vt_cost_times(iterations, one.bytes_read));
    out->bytes_written =
        greater_of(out->bytes_written, vt_cost_times(iterations, one.bytes_written));
  }
  return VT_OK;
}

vt_status vt_step_cost(const vt_bk_step *step, vt_alloc a, vt_cost *out, vt_diag *d) {
  vt_cost cost = {0};
  if (vt_op_get(step->op) == NULL)
    return VT_FAIL(d, VT_INTERNAL, "there is no op number %u", step->op);
  VT_TRY(step->n_body > 0 ? region_cost(step, a, &cost, d)
                          : cost_without_bodies(step, a, &cost, d));
  *out = cost;
  return VT_OK;
}
