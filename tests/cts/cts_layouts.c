/* SPDX-License-Identifier: Apache-2.0
 * cts_layouts.c - tests kernels with all strides that they must support, because plans mostly have
 * dense tensors. The reference kernel of every node of every case runs on operands and results
 * that are spaced out, transposed, reversed or repeated (stride 0). It must give the bits of the
 * dense run, write nothing between the elements of its results, and not change its operands. A
 * block is a tensor with its memory and the guards around it. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_parse.h"
#include "vt_pool.h"

enum { DENSE, SPACED, TRANSPOSED, REVERSED, LAYOUTS };
static const char *const layout_name[] = {"dense", "spaced", "transposed", "reversed", "repeated"};

/* ---- tensors in memory of their own ---- */

enum { GUARD = 1024 }; /* bytes before and after a tensor, for kernels that write outside of it */
typedef struct block {
  vt_view v;     /* the tensor */
  uint8_t *base; /* start of the allocated memory */
  size_t bytes;  /* size of the allocated memory, with a guard on each side */
} block;

static size_t element_bytes(const vt_view *v) { return (size_t)vt_dtype_bytes(v->dtype); }

static int64_t count_elements(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

/* Returns the offset from v->data, in elements, of element i in row-major order. */
static int64_t element_offset(const vt_view *v, int64_t i) {
  int64_t at = 0;
  for (uint32_t axis = v->rank; axis-- > 0; i /= v->dim[axis])
    at += i % v->dim[axis] * v->stride[axis];
  return at;
}

static uint8_t *element_address(const vt_view *v, int64_t i) {
  return (uint8_t *)v->data + element_offset(v, i) * (int64_t)element_bytes(v);
}

/* Sets the strides of a layout. Returns a number of elements that is enough for the tensor and the
 * gaps around it, and sets *first to the position of the tensor's first element among them. */
static int64_t set_strides_of_layout(vt_view *v, int layout, int64_t *first) {
  int64_t next = layout == SPACED ? 3 : 1;
  *first = layout == SPACED ? 2 : 0;
  for (uint32_t n = 0; n < v->rank; n++) {
    const uint32_t axis = layout == TRANSPOSED ? n : v->rank - 1 - n;
    const int64_t dim = v->dim[axis] > 0 ? v->dim[axis] : 1;
    v->stride[axis] = layout == REVERSED ? -next : next;
    if (layout == REVERSED) *first += (dim - 1) * next;
    next = next * dim + (layout == SPACED ? 2 : 0);
  }
  return next + *first;
}

static block block_new(uint32_t dtype, uint32_t rank, const int64_t *dim, int layout) {
  block b = {.v = {.dtype = dtype, .rank = rank}};
  int64_t first;
  memcpy(b.v.dim, dim, rank * sizeof *dim);
  b.bytes = (size_t)set_strides_of_layout(&b.v, layout, &first) * element_bytes(&b.v) + 2 * GUARD;
  b.base = aligned_alloc(64, (b.bytes + 64) / 64 * 64);
  if (b.base == NULL) cts_die("out of memory");
  memset(b.base, 0xa5, b.bytes);
  b.v.data = b.base + GUARD + (size_t)first * element_bytes(&b.v);
  return b;
}

static block block_copy(const vt_view *from, int layout) {
  block b = block_new(from->dtype, from->rank, from->dim, layout);
  const int64_t n = count_elements(from);
  for (int64_t i = 0; i < n; i++)
    memcpy(element_address(&b.v, i), element_address(from, i), element_bytes(from));
  return b;
}

/* Returns a copy of index 0 along `axis`, repeated for every index of the axis by stride 0. */
static block block_repeat(const vt_view *from, uint32_t axis) {
  vt_view slice = *from;
  slice.dim[axis] = 1;
  block b = block_copy(&slice, DENSE);
  b.v.dim[axis] = from->dim[axis];
  b.v.stride[axis] = 0;
  return b;
}

/* Returns 1 if a byte outside of the elements was written. */
static int wrote_outside_elements(const block *b) {
  uint8_t *is_element = calloc(b->bytes + 1, 1);
  int found = 0;
  if (is_element == NULL) cts_die("out of memory");
  for (int64_t i = 0, n = count_elements(&b->v); i < n; i++)
    memset(is_element + (element_address(&b->v, i) - b->base), 1, element_bytes(&b->v));
  for (size_t i = 0; i < b->bytes; i++) found |= !is_element[i] && b->base[i] != 0xa5;
  free(is_element);
  return found;
}

/* ---- one node ---- */

typedef struct node_check {
  const vt_graph *g;
  const vt_node *n;
  const vt_op_info *op;
  char *message; /* buffer of 300 bytes for the message of the first failure */
} node_check;

/* The outcome of a kernel: its results, or an index fault with its position and value. */
typedef struct kernel_run {
  vt_status status;
  uint64_t position;
  int64_t value;
  block out[VT_MAX_RESULTS];
} kernel_run;

static void free_results(const node_check *r, kernel_run *k) {
  for (uint32_t i = 0; i < r->n->n_out; i++) free(k->out[i].base);
}

static void run_kernel(const node_check *r, const vt_view *in, int layout, kernel_run *out) {
  vt_view results[VT_MAX_RESULTS];
  for (uint32_t i = 0; i < r->n->n_out; i++) {
    const vt_type *t = &r->g->values[r->n->first_out + i].type;
    out->out[i] = block_new(t->dtype, t->rank, t->dim, layout);
    results[i] = out->out[i].v;
  }
  vt_kernel k = {
      .in = in, .n_in = r->n->n_in, .n_out = r->n->n_out, .out = results, .attrs = r->n->attrs};
  const uint64_t work = r->op->work == NULL ? 0 : r->op->work(in, r->n->n_in);
  k.work = work == 0 ? NULL : aligned_alloc(64, (size_t)(work + 63) / 64 * 64);
  out->status = r->op->kernel(&k);
  out->position = k.position;
  out->value = k.value;
  free(k.work);
}

/* Returns the bits of element i, with NaN made canonical. */
static uint64_t canonical_bits_at(const vt_view *v, int64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, element_address(v, i), element_bytes(v));
  if (v->dtype != VT_DTYPE_BOOL) vt_canonical(&bits, v->dtype, 1);
  return bits;
}

static void compare_runs(const node_check *r, const kernel_run *dense, const kernel_run *other,
                         const char *what) {
  if (other->status != dense->status ||
      (dense->status == VT_RANGE &&
       (other->position != dense->position || other->value != dense->value))) {
    snprintf(r->message, 300, "%s, %s: ends with %s, dense with %s", r->op->name, what,
             vt_status_name(other->status), vt_status_name(dense->status));
    return;
  }
  for (uint32_t k = 0; dense->status == VT_OK && k < r->n->n_out; k++) {
    const vt_view *a = &other->out[k].v, *b = &dense->out[k].v;
    for (int64_t i = 0, n = count_elements(b); i < n; i++) {
      const uint64_t x = canonical_bits_at(a, i), y = canonical_bits_at(b, i);
      if (x == y) continue;
      snprintf(r->message, 300, "%s, %s: result %u[%lld] is %llx, dense has %llx", r->op->name,
               what, k, (long long)i, (unsigned long long)x, (unsigned long long)y);
      return;
    }
    if (wrote_outside_elements(&other->out[k]))
      snprintf(r->message, 300, "%s, %s: wrote outside of the elements of its result", r->op->name,
               what);
  }
}

/* ---- the layouts ---- */

static void copy_operands(const node_check *r, const vt_view *in, int layout, block *out,
                          vt_view *views) {
  for (uint32_t i = 0; i < r->n->n_in; i++) {
    /* The operands get different layouts, so that a kernel that mixes up their strides fails. */
    const int own = i == 0 || layout == DENSE ? layout : 1 + (layout + (int)i) % (LAYOUTS - 1);
    out[i] = block_copy(&in[i], own);
    views[i] = out[i].v;
  }
}

static void check_operands_untouched(const node_check *r, const vt_view *in, const block *copy,
                                     const char *what) {
  for (uint32_t k = 0; k < r->n->n_in; k++)
    for (int64_t i = 0, n = count_elements(&in[k]); i < n; i++)
      if (memcmp(element_address(&in[k], i), element_address(&copy[k].v, i),
                 element_bytes(&in[k])) != 0) {
        snprintf(r->message, 300, "%s, %s: wrote into an operand", r->op->name, what);
        return;
      }
}

static void check_bits_same_in_layout(const node_check *r, const vt_view *in,
                                      const kernel_run *dense, int layout) {
  block copy[VT_OP_ANY_IN];
  vt_view views[VT_OP_ANY_IN];
  kernel_run k = {0};
  copy_operands(r, in, layout, copy, views);
  run_kernel(r, views, 1 + layout % (LAYOUTS - 1), &k);
  compare_runs(r, dense, &k, layout_name[layout]);
  check_operands_untouched(r, in, copy, layout_name[layout]);
  free_results(r, &k);
  for (uint32_t i = 0; i < r->n->n_in; i++) free(copy[i].base);
}

/* Runs the kernel with operand k repeated along an axis by stride 0, and again with a dense copy of
 * that operand, and compares the results. */
static void check_repeated_operand(const node_check *r, const vt_view *in, uint32_t operand,
                                   uint32_t axis) {
  vt_view views[VT_OP_ANY_IN];
  kernel_run dense = {0}, repeated = {0};
  memcpy(views, in, r->n->n_in * sizeof *in);
  block slice = block_repeat(&in[operand], axis), full = block_copy(&slice.v, DENSE);
  views[operand] = full.v;
  run_kernel(r, views, DENSE, &dense);
  views[operand] = slice.v;
  run_kernel(r, views, SPACED, &repeated);
  compare_runs(r, &dense, &repeated, "repeated");
  free_results(r, &dense);
  free_results(r, &repeated);
  free(slice.base);
  free(full.base);
}

/* Runs the node with dense tensors, stores these results in `values`, and checks the other layouts.
 */
static vt_status check_node(const node_check *r, const vt_view *in, block *values) {
  kernel_run dense = {0};
  run_kernel(r, in, DENSE, &dense);
  for (int layout = SPACED; layout < LAYOUTS; layout++)
    check_bits_same_in_layout(r, in, &dense, layout);
  for (uint32_t k = 0; k < r->n->n_in; k++)
    for (uint32_t axis = 0; axis < in[k].rank; axis++)
      if (in[k].dim[axis] > 1) check_repeated_operand(r, in, k, axis);
  for (uint32_t i = 0; i < r->n->n_out; i++) values[r->n->first_out + i] = dense.out[i];
  return dense.status;
}

/* Stops at a node with a body, because it has no kernel of its own and later nodes may need its
 * result. */
static void check_nodes(const vt_graph *g, block *values, char *message) {
  for (uint32_t i = 0; i < g->n_nodes && message[0] == 0; i++) {
    const vt_node *n = &g->nodes[i];
    const node_check r = {g, n, vt_op_get(n->op), message};
    vt_view in[VT_OP_ANY_IN];
    if (n->n_body > 0 || n->n_in > VT_OP_ANY_IN) return;
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = values[g->operands[n->first_in + k]].v;
    if (check_node(&r, in, values) != VT_OK) return;
  }
}

/* ---- one case ---- */

static void copy_inputs(const vt_graph *g, const vt_case_inputs *in, block *values) {
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_tensor *t = &in->input[i].t;
    vt_view v = {.dtype = t->dtype, .rank = t->rank, .data = t->data};
    int64_t first;
    memcpy(v.dim, t->dim, sizeof v.dim);
    (void)set_strides_of_layout(&v, DENSE, &first);
    vt_canonical(t->data, t->dtype, cts_count_elements(t));
    values[g->ports[i].value] = block_copy(&v, DENSE);
  }
}

static void check_case(const vt_case *c, char *message) {
  vt_graph *g = NULL;
  vt_model *m = NULL;
  vt_diag d = {0};
  vt_case_inputs in = {0};
  const char *text = c->model->text;
  if (vt_parse(text, strlen(text), vt_alloc_default(), &g, &d) == VT_OK &&
      vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK) {
    block *values = calloc(g->n_values + 1, sizeof *values);
    if (values == NULL) cts_die("out of memory");
    cts_inputs_init(&in, m);
    vt_case_inputs_draw(&in, c->mix, vt_case_seed(c->name));
    copy_inputs(g, &in, values);
    check_nodes(g, values, message);
    for (uint32_t i = 0; i < g->n_values; i++) free(values[i].base);
    free(values);
    vt_case_inputs_done(&in);
  } else {
    snprintf(message, 300, "%.290s", d.text);
  }
  vt_model_free(m);
  vt_graph_free(g);
}

/* ---- all cases ---- */

typedef struct verdict {
  const vt_case *c;
  char message[300];
} verdict;

static void check_case_job(void *context, uint64_t i) {
  verdict *v = &((verdict *)context)[i];
  check_case(v->c, v->message);
}

unsigned cts_check_layouts(const cts_selection *s) {
  verdict *v = calloc(s->suite->n_cases + 1, sizeof *v);
  vt_pool *pool = NULL;
  vt_diag d = {0};
  uint32_t n = 0;
  unsigned failed = 0;
  if (v == NULL || vt_pool_new(s->jobs, vt_alloc_default(), &pool, &d) != VT_OK)
    cts_die("out of memory");
  for (uint32_t i = 0; i < s->suite->n_cases; i++)
    if (s->chosen[i] && !s->suite->cases[i].gradient) v[n++].c = &s->suite->cases[i];
  vt_pool_run(pool, n, check_case_job, v); /* the pool sets the floating-point environment */
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].message[0] == 0) continue;
    failed++;
    printf("FAILED %s (layouts)\n  %s\n  repeat: cts --layouts --only '%s'\n", v[i].c->name,
           v[i].message, v[i].c->name);
  }
  printf("layouts: %u cases, %u failed\n", n, failed);
  vt_pool_free(pool);
  free(v);
  return failed;
}
