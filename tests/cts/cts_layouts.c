/* SPDX-License-Identifier: Apache-2.0
 * cts_layouts.c - plans make dense tensors, so the strides that a kernel may be given are tried
 * here: the reference kernel of every node of every case runs over operands and results that are
 * spaced out, turned, reversed and repeated (stride 0), and must give the bits of the dense run,
 * write nothing between the elements of its result, and leave its operands alone. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_parse.h"
#include "vt_pool.h"

enum { DENSE, SPACED, TURNED, REVERSED, LAYOUTS };
static const char *const layout_name[] = {"dense", "spaced", "turned", "reversed", "repeated"};

/* ---- views over memory of their own ---- */

enum { GUARD = 1024 }; /* bytes before and behind, for kernels that miss */
typedef struct block {
  vt_view v;
  uint8_t *base;
  size_t bytes; /* guards included */
} block;

static size_t size_of(const vt_view *v) { return (size_t)vt_dtype_bytes(v->dtype); }

static int64_t count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

/* Where element i in row-major order lies, in elements from v->data. */
static int64_t place_of(const vt_view *v, int64_t i) {
  int64_t at = 0;
  for (uint32_t axis = v->rank; axis-- > 0; i /= v->dim[axis])
    at += i % v->dim[axis] * v->stride[axis];
  return at;
}

static uint8_t *element(const vt_view *v, int64_t i) {
  return (uint8_t *)v->data + place_of(v, i) * (int64_t)size_of(v);
}

/* Strides for a layout; returns the elements it spans, and where the first one lies. */
static int64_t lay_out(vt_view *v, int layout, int64_t *first) {
  int64_t next = layout == SPACED ? 3 : 1;
  *first = layout == SPACED ? 2 : 0;
  for (uint32_t n = 0; n < v->rank; n++) {
    const uint32_t axis = layout == TURNED ? n : v->rank - 1 - n;
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
  b.bytes = (size_t)lay_out(&b.v, layout, &first) * size_of(&b.v) + 2 * GUARD;
  b.base = aligned_alloc(64, (b.bytes + 64) / 64 * 64);
  if (b.base == NULL) cts_die("out of memory");
  memset(b.base, 0xa5, b.bytes);
  b.v.data = b.base + GUARD + (size_t)first * size_of(&b.v);
  return b;
}

static block block_copy(const vt_view *from, int layout) {
  block b = block_new(from->dtype, from->rank, from->dim, layout);
  const int64_t n = count(from);
  for (int64_t i = 0; i < n; i++) memcpy(element(&b.v, i), element(from, i), size_of(from));
  return b;
}

/* One slice along `axis` that every index of the axis sees. */
static block block_repeat(const vt_view *from, uint32_t axis) {
  vt_view slice = *from;
  slice.dim[axis] = 1;
  block b = block_copy(&slice, DENSE);
  b.v.dim[axis] = from->dim[axis];
  b.v.stride[axis] = 0;
  return b;
}

static int wrote_between(const block *b) {
  uint8_t *mine = calloc(b->bytes + 1, 1);
  int found = 0;
  if (mine == NULL) cts_die("out of memory");
  for (int64_t i = 0, n = count(&b->v); i < n; i++)
    memset(mine + (element(&b->v, i) - b->base), 1, size_of(&b->v));
  for (size_t i = 0; i < b->bytes; i++) found |= !mine[i] && b->base[i] != 0xa5;
  free(mine);
  return found;
}

/* ---- running one node ---- */

typedef struct node_run {
  const vt_graph *g;
  const vt_node *n;
  const vt_op_info *op;
  char *said;
} node_run;

typedef struct kernel_run {
  vt_status status;
  uint64_t position;
  int64_t value;
  block out[VT_MAX_RESULTS];
} kernel_run;

static void free_run(const node_run *r, kernel_run *k) {
  for (uint32_t i = 0; i < r->n->n_out; i++) free(k->out[i].base);
}

static void run_kernel(const node_run *r, const vt_view *in, int layout, kernel_run *out) {
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

static uint64_t bits_of(const vt_view *v, int64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, element(v, i), size_of(v));
  if (v->dtype != VT_DTYPE_BOOL) vt_canonical(&bits, v->dtype, 1);
  return bits;
}

static void compare(const node_run *r, const kernel_run *dense, const kernel_run *other,
                    const char *what) {
  if (other->status != dense->status ||
      (dense->status == VT_RANGE &&
       (other->position != dense->position || other->value != dense->value))) {
    snprintf(r->said, 300, "%s, %s: ends with %s, dense with %s", r->op->name, what,
             vt_status_name(other->status), vt_status_name(dense->status));
    return;
  }
  for (uint32_t k = 0; dense->status == VT_OK && k < r->n->n_out; k++) {
    const vt_view *a = &other->out[k].v, *b = &dense->out[k].v;
    for (int64_t i = 0, n = count(b); i < n; i++) {
      const uint64_t x = bits_of(a, i), y = bits_of(b, i);
      if (x == y) continue;
      snprintf(r->said, 300, "%s, %s: result %u[%lld] is %llx, dense has %llx", r->op->name, what,
               k, (long long)i, (unsigned long long)x, (unsigned long long)y);
      return;
    }
    if (wrote_between(&other->out[k]))
      snprintf(r->said, 300, "%s, %s: wrote beside the elements of its result", r->op->name, what);
  }
}

/* ---- the layouts ---- */

static void copy_all(const node_run *r, const vt_view *in, int layout, block *out, vt_view *views) {
  for (uint32_t i = 0; i < r->n->n_in; i++) {
    /* Operands differ in layout from each other, so that a mix-up of strides shows. */
    const int own = i == 0 || layout == DENSE ? layout : 1 + (layout + (int)i) % (LAYOUTS - 1);
    out[i] = block_copy(&in[i], own);
    views[i] = out[i].v;
  }
}

static void check_untouched(const node_run *r, const vt_view *in, const block *copy,
                            const char *what) {
  for (uint32_t k = 0; k < r->n->n_in; k++)
    for (int64_t i = 0, n = count(&in[k]); i < n; i++)
      if (memcmp(element(&in[k], i), element(&copy[k].v, i), size_of(&in[k])) != 0) {
        snprintf(r->said, 300, "%s, %s: wrote into an operand", r->op->name, what);
        return;
      }
}

static void try_layout(const node_run *r, const vt_view *in, const kernel_run *dense, int layout) {
  block copy[VT_OP_ANY_IN];
  vt_view views[VT_OP_ANY_IN];
  kernel_run k = {0};
  copy_all(r, in, layout, copy, views);
  run_kernel(r, views, 1 + layout % (LAYOUTS - 1), &k);
  compare(r, dense, &k, layout_name[layout]);
  check_untouched(r, in, copy, layout_name[layout]);
  free_run(r, &k);
  for (uint32_t i = 0; i < r->n->n_in; i++) free(copy[i].base);
}

/* Operand k repeated along an axis: the dense run gets the same values written out. */
static void try_repeat(const node_run *r, const vt_view *in, uint32_t k, uint32_t axis) {
  vt_view views[VT_OP_ANY_IN];
  kernel_run dense = {0}, repeated = {0};
  memcpy(views, in, r->n->n_in * sizeof *in);
  block slice = block_repeat(&in[k], axis), full = block_copy(&slice.v, DENSE);
  views[k] = full.v;
  run_kernel(r, views, DENSE, &dense);
  views[k] = slice.v;
  run_kernel(r, views, SPACED, &repeated);
  compare(r, &dense, &repeated, "repeated");
  free_run(r, &dense);
  free_run(r, &repeated);
  free(slice.base);
  free(full.base);
}

/* Runs the node densely, keeps that result, and tries the rest. */
static vt_status check_node(const node_run *r, const vt_view *in, block *values) {
  kernel_run dense = {0};
  run_kernel(r, in, DENSE, &dense);
  for (int layout = SPACED; layout < LAYOUTS; layout++) try_layout(r, in, &dense, layout);
  for (uint32_t k = 0; k < r->n->n_in; k++)
    for (uint32_t axis = 0; axis < in[k].rank; axis++)
      if (in[k].dim[axis] > 1) try_repeat(r, in, k, axis);
  for (uint32_t i = 0; i < r->n->n_out; i++) values[r->n->first_out + i] = dense.out[i];
  return dense.status;
}

/* Nodes with bodies cannot be run by themselves: what follows them is not looked at. */
static void check_nodes(const vt_graph *g, block *values, char *said) {
  for (uint32_t i = 0; i < g->n_nodes && said[0] == 0; i++) {
    const vt_node *n = &g->nodes[i];
    const node_run r = {g, n, vt_op_get(n->op), said};
    vt_view in[VT_OP_ANY_IN];
    if (n->n_body > 0 || n->n_in > VT_OP_ANY_IN) return;
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = values[g->operands[n->first_in + k]].v;
    if (check_node(&r, in, values) != VT_OK) return;
  }
}

/* ---- one case ---- */

static void take_inputs(const vt_graph *g, const vt_case_inputs *in, block *values) {
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_tensor *t = &in->input[i].t;
    vt_view v = {.dtype = t->dtype, .rank = t->rank, .data = t->data};
    int64_t first;
    memcpy(v.dim, t->dim, sizeof v.dim);
    (void)lay_out(&v, DENSE, &first);
    vt_canonical(t->data, t->dtype, cts_count(t));
    values[g->ports[i].value] = block_copy(&v, DENSE);
  }
}

static void check_case(const vt_case *c, char *said) {
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
    take_inputs(g, &in, values);
    check_nodes(g, values, said);
    for (uint32_t i = 0; i < g->n_values; i++) free(values[i].base);
    free(values);
    vt_case_inputs_done(&in);
  } else {
    snprintf(said, 300, "%.290s", d.text);
  }
  vt_model_free(m);
  vt_graph_free(g);
}

/* ---- all of them ---- */

typedef struct verdict {
  const vt_case *c;
  char said[300];
} verdict;

static void job(void *context, uint64_t i) {
  verdict *v = &((verdict *)context)[i];
  check_case(v->c, v->said);
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
  vt_pool_run(pool, n, job, v); /* the pool computes in the right environment */
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].said[0] == 0) continue;
    failed++;
    printf("FAILED %s (layouts)\n  %s\n  repeat: cts --layouts --only '%s'\n", v[i].c->name,
           v[i].said, v[i].c->name);
  }
  printf("layouts: %u cases, %u failed\n", n, failed);
  vt_pool_free(pool);
  free(v);
  return failed;
}
