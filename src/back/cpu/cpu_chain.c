/* SPDX-License-Identifier: Apache-2.0
 * cpu_chain.c - chains of pointwise steps: each block of elements passes through all steps while it
 * is in cache.
 *
 * A chain is a list of instructions over contiguous arrays: operands from outside (sources), blocks
 * that hold a value until its last use (slots), and the result. Elements are counted in row-major
 * order of the result's axes, which are joined if the strides of all tensors allow it; a row is the
 * last joined axis. A source or the result has one of three layouts:
 *   FLAT    contiguous in the order of elements: used in place
 *   ONE     a source of a single number: a block is filled with it once
 *   OTHER   if rows are long, each row is used in place, filled, or gathered into a block; if rows
 *           are short, a block takes many rows and is always gathered
 * After vt_cpu_chain_set_arenas only results are written, so threads may share a chain. */
#include <string.h>
#include "cpu_move.h"
#include "vt_maps.h"

enum {
  MAX_STEPS = 64,
  MAX_SOURCES = 96,
  MAX_VALUES = MAX_SOURCES + MAX_STEPS,
  BLOCK_BYTES = 32768, /* bytes of all blocks together */
  MAX_IN_BLOCK = 1024,
  MIN_IN_BLOCK = 64,
  LONG_ROW = 128
};

typedef enum layout { FLAT, ONE, OTHER } layout;

/* A source or the result of the chain: a tensor in memory, with strides along the joined axes. */
typedef struct operand {
  const vt_bk_tensor *t;
  char *data; /* address in this run */
  layout layout;
  int64_t stride[VT_MAX_RANK]; /* in bytes; 0 along broadcast axes */
  uint32_t size;               /* bytes of an element */
} operand;

/* A value has a number: the index of a source, or MAX_SOURCES plus the index of a step. */
typedef struct instruction {
  vt_cpu_map_fn *run;
  uint32_t n_in, in[3], out;
} instruction;

struct vt_cpu_chain {
  const vt_bk_host *host;
  const vt_cpu_team *team;
  uint32_t n_sources, n_steps, rank;
  int64_t dim[VT_MAX_RANK], count, row, block; /* `row` is the last dim; `block` is in elements */
  int takes_rows;                              /* 1: a block takes several rows */
  double cost;                                 /* nanoseconds per element */
  operand source[MAX_SOURCES], result;
  instruction step[MAX_STEPS + 1]; /* one extra step may make the NaNs of the result canonical */
  int64_t at[MAX_VALUES]; /* offset of each value's block in bytes; -1: the value has no block */
};

/* ---- choosing kernels ---- */

int vt_cpu_chain_lists_op(uint32_t op) { return vt_map_of_op(op) != VT_MAP_none; }

static vt_cpu_map_fn *kernel_of(const vt_cpu_maps *maps, const vt_bk_step *s) {
  const uint32_t map = vt_map_of_step(s);
  if (map == VT_MAP_none) return NULL;
  const uint32_t type = s->in[s->n_in - 1].dtype;
  if (map == VT_MAP_cast) return maps->cast[type][s->out[0].dtype];
  return map == VT_MAP_choice ? maps->select[type] : maps->of[map][type];
}

int vt_cpu_chain_accepts(const vt_cpu_team *t, const vt_bk_step *s) {
  return kernel_of(t->kernels->maps, s) != NULL;
}

/* ---- axes ---- */

static operand operand_of(const vt_bk_tensor *t, const vt_bk_tensor *result) {
  operand p = {.t = t, .size = (uint32_t)vt_cpu_bytes_of(t->dtype)};
  for (uint32_t k = 1; k <= t->rank; k++)
    if (t->dim[t->rank - k] != 1)
      p.stride[result->rank - k] = t->stride[t->rank - k] * (int64_t)p.size;
  return p;
}

/* Whether axis `from`, of length dim, continues axis `to`: one step along `to` is as long as the
 * whole of `from`. The two can then be joined. */
static int can_join_axes_of_operand(const operand *p, uint32_t to, uint32_t from, int64_t dim) {
  return p->stride[to] == p->stride[from] * dim;
}

static int can_join_axes_of_all(const vt_cpu_chain *c, uint32_t to, uint32_t from) {
  for (uint32_t i = 0; i < c->n_sources; i++)
    if (!can_join_axes_of_operand(&c->source[i], to, from, c->dim[from])) return 0;
  return can_join_axes_of_operand(&c->result, to, from, c->dim[from]);
}

static void replace_axis(vt_cpu_chain *c, uint32_t to, uint32_t from, int64_t dim) {
  c->dim[to] = dim;
  for (uint32_t i = 0; i < c->n_sources; i++) c->source[i].stride[to] = c->source[i].stride[from];
  c->result.stride[to] = c->result.stride[from];
}

/* Drops axes of length 1 and joins neighbours that continue each other; at least one axis is
 * left. */
static void join_axes(vt_cpu_chain *c) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->rank; k++) {
    if (c->dim[k] == 1) continue;
    if (n > 0 && can_join_axes_of_all(c, n - 1, k)) {
      replace_axis(c, n - 1, k, c->dim[n - 1] * c->dim[k]);
    } else {
      replace_axis(c, n, k, c->dim[k]);
      n++;
    }
  }
  c->rank = n > 0 ? n : 1;
  if (n == 0) c->dim[0] = 1;
  c->row = c->dim[c->rank - 1];
}

static layout layout_of(const vt_cpu_chain *c, const operand *p) {
  int64_t dense = p->size, any = 0;
  int flat = 1;
  for (uint32_t k = c->rank; k-- > 0;) {
    flat &= p->stride[k] == dense || c->dim[k] == 1;
    any |= c->dim[k] == 1 ? 0 : p->stride[k];
    dense *= c->dim[k];
  }
  return flat ? FLAT : any == 0 ? ONE : OTHER;
}

/* ---- building ---- */

static int have_same_place(const vt_bk_tensor *a, const vt_bk_tensor *b) {
  return a->arena == b->arena && a->offset == b->offset && a->dtype == b->dtype &&
         a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim) == 0 &&
         memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* The number of the value that operand t of step i reads, or MAX_VALUES if there are too many
 * sources. Places are reused, so the latest step before i that wrote the place is searched for
 * first. */
static uint32_t find_or_add_value(vt_cpu_chain *c, const vt_bk_step *const *s, uint32_t i,
                                  const vt_bk_tensor *t) {
  for (uint32_t k = i; k-- > 0;)
    if (have_same_place(t, &s[k]->out[0])) return MAX_SOURCES + k;
  for (uint32_t k = 0; k < c->n_sources; k++)
    if (have_same_place(t, c->source[k].t)) return k;
  if (c->n_sources == MAX_SOURCES) return MAX_VALUES;
  c->source[c->n_sources] = operand_of(t, c->result.t);
  return c->n_sources++;
}

static int32_t add_step(vt_cpu_chain *c, const vt_bk_step *const *s, uint32_t i) {
  instruction *to = &c->step[i];
  *to = (instruction){.run = kernel_of(c->team->kernels->maps, s[i]), .out = MAX_SOURCES + i};
  if (to->run == NULL) return VT_UNSUPPORTED;
  for (to->n_in = 0; to->n_in < s[i]->n_in; to->n_in++) {
    to->in[to->n_in] = find_or_add_value(c, s, i, &s[i]->in[to->n_in]);
    if (to->in[to->n_in] == MAX_VALUES) return VT_UNSUPPORTED;
  }
  c->cost += 0.001 * vt_map_picoseconds_per_element(vt_map_of_op(s[i]->op)) + 0.1;
  return VT_OK;
}

/* The allocator of slots. Offsets and sizes are in bytes per element of a block. A slot is free
 * again after the last step that reads its value. */
typedef struct slots {
  uint32_t n, size[MAX_VALUES], until[MAX_VALUES]; /* until: last step that uses the slot */
  int64_t begins[MAX_VALUES], end;
} slots;

static int64_t alloc_slot(slots *all, uint32_t size, uint32_t from, uint32_t until) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->size[i] == size && all->until[i] < from) {
      all->until[i] = until;
      return all->begins[i];
    }
  const uint32_t i = all->n++;
  all->size[i] = size;
  all->until[i] = until;
  all->begins[i] = all->end;
  all->end += size;
  return all->begins[i];
}

static uint32_t last_step_that_reads(const vt_cpu_chain *c, uint32_t value) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < c->n_steps; i++)
    for (uint32_t k = 0; k < c->step[i].n_in; k++)
      if (c->step[i].in[k] == value) last = i;
  return last;
}

/* Whether the elements of a source or of the result pass through a block, because kernels cannot
 * use them in place. */
static int needs_block(const vt_cpu_chain *c, const operand *p) {
  if (p->layout == FLAT) return 0;
  return p->layout == ONE || c->takes_rows || p->stride[c->rank - 1] != (int64_t)p->size;
}

static int32_t assign_blocks(vt_cpu_chain *c, const vt_bk_step *const *s) {
  slots all = {0};
  for (uint32_t i = 0; i < MAX_VALUES; i++) c->at[i] = -1;
  /* The block of a source is reserved for the whole chain, because it may be filled only once. */
  for (uint32_t i = 0; i < c->n_sources; i++)
    if (needs_block(c, &c->source[i]))
      c->at[i] = alloc_slot(&all, c->source[i].size, 0, c->n_steps);
  for (uint32_t i = 0; i < c->n_steps; i++) {
    const int last = i + 1 == c->n_steps;
    if (last && !needs_block(c, &c->result)) break;
    const uint32_t size = (uint32_t)vt_cpu_bytes_of(s[i]->out[0].dtype);
    const uint32_t until = last ? c->n_steps : last_step_that_reads(c, c->step[i].out);
    c->at[c->step[i].out] = alloc_slot(&all, size, i, until);
  }
  c->block = all.end == 0 ? INT64_C(1) << 20 : BLOCK_BYTES / all.end / 64 * 64;
  if (c->block < MIN_IN_BLOCK) return VT_UNSUPPORTED;
  if (all.end > 0 && c->block > MAX_IN_BLOCK) c->block = MAX_IN_BLOCK;
  for (uint32_t i = 0; i < MAX_VALUES; i++)
    if (c->at[i] > 0) c->at[i] *= c->block;
  return VT_OK;
}

static int32_t build_chain(vt_cpu_chain *c, const vt_bk_step *const *s, uint32_t n) {
  const vt_bk_tensor *y = &s[n - 1]->out[0];
  c->n_steps = n;
  c->rank = y->rank;
  c->count = 1;
  memcpy(c->dim, y->dim, sizeof c->dim);
  for (uint32_t k = 0; k < y->rank; k++) c->count *= y->dim[k];
  c->result = operand_of(y, y);
  for (uint32_t i = 0; i < n; i++) {
    const int32_t status = add_step(c, s, i);
    if (status != VT_OK) return status;
  }
  join_axes(c);
  int all_simple = 1;
  for (uint32_t i = 0; i < c->n_sources; i++) {
    c->source[i].layout = layout_of(c, &c->source[i]);
    all_simple &= c->source[i].layout != OTHER;
  }
  c->result.layout = layout_of(c, &c->result);
  if (c->result.layout == ONE) c->result.layout = OTHER;
  all_simple &= c->result.layout == FLAT;
  c->takes_rows = !all_simple && c->row < LONG_ROW;
  if (all_simple) c->row = c->count; /* every tensor is used in place, so rows do not matter */
  return assign_blocks(c, s);
}

int32_t vt_cpu_chain_new(const vt_bk_host *host, const vt_cpu_team *t, const vt_bk_step *const *s,
                         uint32_t n, vt_cpu_chain **out) {
  if (n == 0 || n > MAX_STEPS) return VT_UNSUPPORTED;
  vt_cpu_chain *c = vt_cpu_memory_new_uncleared(
      host, sizeof *c); /* left uninitialised, since chains usually use a small part of it */
  if (c == NULL) return VT_NOMEM;
  c->host = host;
  c->team = t;
  c->n_sources = 0;
  c->cost = 0;
  const int32_t status = build_chain(c, s, n);
  if (status == VT_OK) {
    *out = c;
  } else {
    vt_cpu_chain_free(c);
  }
  return status;
}

const vt_bk_tensor *vt_cpu_chain_result(const vt_cpu_chain *c) { return c->result.t; }

void vt_cpu_chain_append_canonicalize(vt_cpu_chain *c) {
  vt_cpu_map_fn *canonical = c->team->kernels->maps->canonical[c->result.t->dtype];
  const instruction *last = &c->step[c->n_steps - 1];
  if (canonical == NULL || last->run == canonical) return;
  c->step[c->n_steps++] = (instruction){canonical, 1, {last->out}, last->out};
}

void vt_cpu_chain_free(vt_cpu_chain *c) { vt_cpu_memory_free(c->host, c); }

void vt_cpu_chain_set_arenas(vt_cpu_chain *c, char *const *base) {
  for (uint32_t i = 0; i < c->n_sources; i++)
    c->source[i].data = base[c->source[i].t->arena] + c->source[i].t->offset;
  c->result.data = base[c->result.t->arena] + c->result.t->offset;
}

/* ---- copies between tensors and blocks ---- */

/* The offset in tensor p of element `first`, in bytes. */
static int64_t byte_offset_of_element(const vt_cpu_chain *c, const operand *p, int64_t first) {
  int64_t offset = 0;
  for (uint32_t k = c->rank; k-- > 0;) {
    offset += first % c->dim[k] * p->stride[k];
    first /= c->dim[k];
  }
  return offset;
}

/* A row of a tensor: its address, and its index along each axis but the last. */
typedef struct row_position {
  char *data;
  int64_t at[VT_MAX_RANK];
} row_position;

static row_position find_row(const vt_cpu_chain *c, const operand *p, int64_t number) {
  row_position r = {.data = p->data};
  for (uint32_t k = c->rank - 1; k-- > 0;) {
    r.at[k] = number % c->dim[k];
    r.data += r.at[k] * p->stride[k];
    number /= c->dim[k];
  }
  return r;
}

static void next_row(const vt_cpu_chain *c, const operand *p, row_position *r) {
  for (uint32_t k = c->rank - 1; k-- > 0;) {
    r->data += p->stride[k];
    if (++r->at[k] < c->dim[k]) return;
    r->data -= p->stride[k] * c->dim[k];
    r->at[k] = 0;
  }
}

/* Copies elements first .. first + n - 1 to a block, or from it if `from_block` is set: row by
 * row. */
static void copy_rows(const vt_cpu_chain *c, const operand *p, int64_t first, int64_t n,
                      char *block, int from_block) {
  const int64_t length = c->dim[c->rank - 1], step = p->stride[c->rank - 1], size = p->size;
  row_position r = find_row(c, p, first / length);
  int64_t column = first % length;
  for (int64_t done = 0; done < n; column = 0, next_row(c, p, &r)) {
    const int64_t here = length - column < n - done ? length - column : n - done;
    char *there = r.data + column * step;
    if (from_block)
      vt_cpu_copy_line(there, step, block + done * size, size, p->size, here);
    else
      vt_cpu_copy_line(block + done * size, size, there, step, p->size, here);
    done += here;
  }
}

/* ---- running ---- */

/* A range of elements that one thread takes through the chain: the addresses of all values for the
 * current block. */
typedef struct part {
  const vt_cpu_chain *c;
  char *blocks;
  void *at[MAX_VALUES];
} part;

/* Prepares a part of n elements: sets the addresses of all blocks, and fills the blocks of sources
 * that are a single number. */
static void prepare_blocks(part *p, int64_t n) {
  const vt_cpu_chain *c = p->c;
  const int64_t most = n < c->block ? n : c->block;
  for (uint32_t i = 0; i < c->n_sources; i++) {
    const operand *x = &c->source[i];
    if (c->at[i] >= 0) p->at[i] = p->blocks + c->at[i];
    if (x->layout == ONE) vt_cpu_copy_line(p->at[i], x->size, x->data, 0, x->size, most);
  }
  for (uint32_t i = 0; i < c->n_steps; i++)
    if (c->at[c->step[i].out] >= 0) p->at[c->step[i].out] = p->blocks + c->at[c->step[i].out];
}

static void load_source(part *p, uint32_t i, int64_t first, int64_t n, int new_row) {
  const vt_cpu_chain *c = p->c;
  const operand *x = &c->source[i];
  const int64_t step = x->stride[c->rank - 1];
  if (x->layout == ONE) return;
  if (x->layout == FLAT) {
    p->at[i] = x->data + first * x->size;
  } else if (!c->takes_rows && step == (int64_t)x->size) {
    p->at[i] = x->data + byte_offset_of_element(c, x, first);
  } else if (c->takes_rows || step != 0) {
    copy_rows(c, x, first, n, p->at[i], 0);
  } else if (new_row) { /* the row has one number, repeated */
    vt_cpu_copy_line(p->at[i], x->size, x->data + byte_offset_of_element(c, x, first), 0, x->size,
                     c->block);
  }
}

static void run_steps_on_block(part *p, int64_t first, int64_t n, int new_row) {
  const vt_cpu_chain *c = p->c;
  const uint32_t last = c->step[c->n_steps - 1].out;
  const int direct = c->at[last] < 0;
  for (uint32_t i = 0; i < c->n_sources; i++) load_source(p, i, first, n, new_row);
  if (direct)
    p->at[last] =
        c->result.data + (c->result.layout == FLAT ? first * c->result.size
                                                   : byte_offset_of_element(c, &c->result, first));
  for (uint32_t i = 0; i < c->n_steps; i++) {
    const instruction *s = &c->step[i];
    const void *in[3] = {NULL, NULL, NULL};
    for (uint32_t k = 0; k < s->n_in; k++) in[k] = p->at[s->in[k]];
    s->run(p->at[s->out], in, n);
  }
  if (!direct) copy_rows(c, &c->result, first, n, p->at[last], 1);
}

void vt_cpu_chain_run_part(const vt_cpu_chain *c, int64_t first, int64_t n) {
  _Alignas(64) char blocks[BLOCK_BYTES];
  part p = {.c = c, .blocks = blocks};
  int new_row = 1;
  prepare_blocks(&p, n);
  for (int64_t done = 0; done < n;) {
    const int64_t at = first + done, row_left = c->row - at % c->row;
    int64_t here = n - done < c->block ? n - done : c->block;
    if (!c->takes_rows && row_left < here) here = row_left;
    run_steps_on_block(&p, at, here, new_row);
    new_row = !c->takes_rows && here == row_left;
    done += here;
  }
}

/* ---- shared by the team ---- */

typedef struct chain_jobs {
  const vt_cpu_chain *c;
  uint64_t jobs;
} chain_jobs;

/* Parts begin at multiples of 64 elements, so they begin at cache lines if the result does. */
enum { GRAIN = 64 }; /* in elements */
static int64_t first_element_of_job(const chain_jobs *s, uint64_t job) {
  const int64_t first = vt_cpu_job_first(vt_cpu_div_up(s->c->count, GRAIN), s->jobs, job) * GRAIN;
  return vt_cpu_min(first, s->c->count);
}

static void run_chain_job(void *context, uint64_t job) {
  const chain_jobs *s = context;
  const int64_t first = first_element_of_job(s, job), end = first_element_of_job(s, job + 1);
  vt_cpu_chain_run_part(s->c, first, end - first);
}

void vt_cpu_chain_run(const vt_cpu_chain *c) {
  const uint64_t grains = (uint64_t)vt_cpu_div_up(c->count, GRAIN);
  chain_jobs s = {c, vt_cpu_job_count(c->team, grains, c->cost * GRAIN)};
  if (c->count == 0) return;
  vt_cpu_run_jobs(c->team, s.jobs, run_chain_job, &s);
}
