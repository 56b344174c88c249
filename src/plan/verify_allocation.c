/* SPDX-License-Identifier: Apache-2.0
 * verify_allocation.c - checks the memory of a plan without code of the planner: lifetimes, bounds,
 * sums, and a sweep over the steps that finds any two ranges of bytes that live at the same time
 * and overlap.
 *
 * The sweep works on extents, ranges of bytes with a lifetime. A value and all views of it are one
 * extent. A value written in place has an extent that begins after that of the value below it
 * ends. Uploaded parameters and scratch live for their whole group, the bytes that bodies use for
 * their step. Live extents do not overlap, so a new one is only compared with its neighbours in
 * address order, which a tree over all extents finds. */
#include <stdio.h>
#include <string.h>
#include "vt_layout.h"
#include "vt_sort.h"
#include "vt_verify.h"

/* ---- lifetimes ---- */

/* The lifetime of a value, derived from the graph and the order of the steps. */
typedef struct life {
  uint32_t first, last; /* its first and last step */
  uint32_t reader; /* 1 + the last step that reads the value or a view of it; 0 if no step does */
  /* The value written in place over this one; VT_NO_VALUE if there is no such value. */
  uint32_t over;
} life;

/* 1 if the operand of node `n` is made by a member of the node's group. Any other operand of a
 * member is read until the group ends. */
static int is_made_in_group(const vt_verify *v, const vt_node *n, uint32_t operand) {
  const vt_graph *g = v->p->g;
  return n->group != 0 && !vt_verify_is_port(v, operand) &&
         g->nodes[g->values[operand].node].group == n->group;
}

static void find_last_readers(const vt_verify *v, life *lives) {
  const vt_graph *g = v->p->g;
  uint32_t last = 0; /* last step of the group that step i is in */
  for (uint32_t i = v->p->n_steps; i-- > 0;) {
    const vt_node *n = vt_verify_node_of_step(v, i);
    const int alone = i + 1 == v->p->n_steps || n->group == 0;
    if (alone || vt_verify_node_of_step(v, i + 1)->group != n->group) last = i;
    for (uint32_t k = 0; k < n->n_in; k++) {
      const uint32_t operand = g->operands[n->first_in + k], root = v->root[operand];
      const uint32_t read = is_made_in_group(v, n, operand) ? i : last;
      if (lives[operand].reader <= read) lives[operand].reader = read + 1;
      if (lives[root].reader <= read) lives[root].reader = read + 1;
    }
  }
}

/* Extends lifetimes for groups. The result of an anchor, a member that is not pointwise, is in
 * memory and read until the group ends. So the last value that is written over it in place lives
 * until then. */
static void extend_results_to_group_end(const vt_verify *v, uint32_t step, life *lives) {
  const vt_node *n = vt_verify_node_of_step(v, step);
  const uint32_t end = vt_verify_group_last(v, step);
  if (n->group == 0 || vt_op_form(n->op) == VT_FORM_POINTWISE) return;
  for (uint32_t k = 0; k < n->n_out; k++) {
    uint32_t at = n->first_out + k;
    for (uint32_t i = step + 1; i <= end; i++) {
      const uint32_t y = vt_verify_node_of_step(v, i)->first_out;
      if (v->p->buffers[y].place == VT_PLACE_OVER && v->p->buffers[y].of == at) at = y;
    }
    if (lives[at].last < end) lives[at].last = end;
  }
}

static void find_lifetimes(const vt_verify *v, life *lives) {
  const vt_graph *g = v->p->g;
  find_last_readers(v, lives);
  for (uint32_t i = 0; i < v->p->n_buffers; i++) {
    const uint32_t node = g->values[v->root[i]].node;
    life *x = &lives[i];
    x->first = node == VT_NO_NODE ? 0 : v->step_of[node];
    x->last = x->reader > 0 ? x->reader - 1 : x->first;
    x->over = VT_NO_VALUE;
  }
  for (uint32_t i = 0; i < v->p->n_steps; i++) extend_results_to_group_end(v, i, lives);
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    const uint32_t at_end = vt_verify_state_changes(p) ? p->next : p->value;
    lives[at_end].last = lives[v->root[at_end]].last = v->p->n_steps;
  }
  for (uint32_t i = 0; i < g->n_results; i++) lives[g->results[i].value].last = v->p->n_steps;
}

/* ---- values written over others ---- */

/* 1 if the node reads the bytes of `of` through `operand` only at the position that it writes, or
 * does not read them. */
static int reads_only_in_place(const vt_verify *v, const vt_node *n, uint32_t operand,
                               uint32_t of) {
  const vt_type *x = &v->p->g->values[of].type, *y = &v->p->g->values[n->first_out].type;
  if (v->root[operand] != of) return 1;
  return operand == of && vt_op_form(n->op) == VT_FORM_POINTWISE && x->rank == y->rank &&
         memcmp(x->dim, y->dim, sizeof x->dim) == 0;
}

/* 1 if the value may be written in place over the value `of` of its buffer. That value is not a
 * result of the graph, because it dies at this step and results live to the end; a port is
 * recognised by having no node. */
static int may_be_written_in_place(const vt_verify *v, const life *lives, uint32_t value) {
  const vt_graph *g = v->p->g;
  const vt_buffer *b = &v->p->buffers[value], *of = &v->p->buffers[b->of];
  const vt_type *x = &g->values[value].type, *y = &g->values[b->of].type;
  const vt_node *n = &g->nodes[g->values[value].node];
  int fits = vt_op_form(n->op) == VT_FORM_POINTWISE && !vt_verify_is_port(v, b->of) &&
             (of->place == VT_PLACE_OWN || of->place == VT_PLACE_OVER) && b->class == of->class &&
             lives[b->of].last == lives[value].first && lives[b->of].over == VT_NO_VALUE &&
             b->offset == of->offset && vt_dtype_bytes(x->dtype) == vt_dtype_bytes(y->dtype) &&
             x->rank == y->rank && memcmp(x->dim, y->dim, sizeof x->dim) == 0;
  for (uint32_t i = lives[value].first;; i--) { /* the node, then earlier members of its group */
    const vt_node *m = vt_verify_node_of_step(v, i);
    if (m->group != n->group || (n->group == 0 && m != n)) break;
    for (uint32_t k = 0; fits && k < m->n_in; k++)
      fits = reads_only_in_place(v, m, g->operands[m->first_in + k], b->of);
    if (i == 0) break;
  }
  return fits;
}

/* 1 if the value, a view of the state or the state, has all its bytes in their order. */
static int is_whole_state(const vt_verify *v, uint32_t value, uint32_t state) {
  const vt_buffer *x = &v->p->buffers[value], *y = &v->p->buffers[state];
  vt_layout dense;
  vt_layout_dense(&v->p->g->values[value].type, &dense);
  return x->offset == y->offset && x->bytes == y->bytes &&
         memcmp(x->stride, dense.stride, sizeof dense.stride) == 0;
}

/* 1 if node `m` does not read the state through its operand `k`, or reads each element before `n`
 * overwrites it: `n` updates that operand, or `m` reads it only at the position that it computes.
 */
static int reads_state_in_time(const vt_verify *v, const vt_node *m, uint32_t k, const vt_node *n,
                               uint32_t state) {
  const uint32_t operand = v->p->g->operands[m->first_in + k];
  const vt_type *x = &v->p->g->values[operand].type, *y = &v->p->g->values[m->first_out].type;
  if (v->root[operand] != state) return 1;
  if (!is_whole_state(v, operand, state)) return 0;
  if (m == n && k == 0 && vt_op_form(n->op) == VT_FORM_UPDATE) return 1;
  return vt_op_form(m->op) == VT_FORM_POINTWISE && x->rank == y->rank &&
         memcmp(x->dim, y->dim, sizeof x->dim) == 0;
}

/* 1 if the value may be written over the state of its buffer. All steps that read the state must be
 * earlier, except for the step itself and members of its group. */
static int may_be_written_over_state(const vt_verify *v, const life *lives, uint32_t value) {
  const vt_graph *g = v->p->g;
  const vt_buffer *b = &v->p->buffers[value], *of = &v->p->buffers[b->of];
  const vt_node *n = &g->nodes[g->values[value].node];
  int fits = of->place == VT_PLACE_OWN && b->class == of->class && n->n_out == 1 &&
             lives[b->of].last <= lives[value].first && lives[b->of].over == VT_NO_VALUE &&
             b->offset == of->offset && b->bytes == of->bytes;
  for (uint32_t i = lives[value].first; fits; i--) { /* the node, then earlier members */
    const vt_node *m = vt_verify_node_of_step(v, i);
    if (m != n && (n->group == 0 || m->group != n->group)) break;
    for (uint32_t k = 0; fits && k < m->n_in; k++) fits = reads_state_in_time(v, m, k, n, b->of);
    if (i == 0) break;
  }
  return fits;
}

static vt_status verify_lifetimes(const vt_verify *v, life *lives) {
  find_lifetimes(v, lives);
  for (uint32_t i = 0; i < v->p->n_buffers; i++) {
    const vt_buffer *b = &v->p->buffers[i];
    if (b->first != lives[i].first || b->last != lives[i].last)
      return vt_verify_fail_value(v, i, "misstates the lifetime of");
    if (b->place != VT_PLACE_OVER) continue;
    const int fits = vt_verify_writes_state(v, i) ? may_be_written_over_state(v, lives, i)
                                                  : may_be_written_in_place(v, lives, i);
    if (!fits) return vt_verify_fail_value(v, i, "writes over bytes still in use:");
    lives[b->of].over = i;
  }
  return VT_OK;
}

/* ---- extents ---- */

typedef enum extent_kind {
  EXTENT_VALUE,   /* the bytes of a value */
  EXTENT_UPLOAD,  /* the device copy of a streamed parameter */
  EXTENT_BODIES,  /* the values of a step's bodies; the kinds after this one are in the target part
                   */
  EXTENT_COPY,    /* the dense copy of a view */
  EXTENT_SCRATCH, /* the scratch of a step */
  EXTENT_BODY_COPIES, /* the dense copies in a step's bodies */
  EXTENT_BODY_SCRATCH /* the scratch of the steps of a step's bodies */
} extent_kind;

/* A range of bytes with a lifetime. */
typedef struct extent {
  /* An extent_kind, and the id of the value or step that the extent belongs to. */
  uint32_t kind, id;
  uint32_t arena, first, last; /* class of its arena; first and last step of its lifetime */
  uint64_t offset, bytes;      /* first byte and number of bytes */
} extent;

typedef struct extent_list {
  extent *at; /* the extents; allocated for the most that the plan can have */
  uint32_t n;
} extent_list;

typedef struct extent_name { /* a buffer for the name of an extent in a message */
  char text[64];
} extent_name;

static const char *print_extent_name(const vt_verify *v, const extent *e, extent_name *out) {
  static const char *const what[] = {[EXTENT_VALUE] = "'",
                                     [EXTENT_UPLOAD] = "the upload of '",
                                     [EXTENT_BODIES] = "the bodies",
                                     [EXTENT_COPY] = "the copy of '",
                                     [EXTENT_SCRATCH] = "the scratch",
                                     [EXTENT_BODY_COPIES] = "copies in the bodies",
                                     [EXTENT_BODY_SCRATCH] = "scratch in the bodies"};
  char name[16];
  if (e->kind == EXTENT_VALUE || e->kind == EXTENT_UPLOAD || e->kind == EXTENT_COPY) {
    (void)snprintf(out->text, sizeof out->text, "%s%.40s'", what[e->kind],
                   vt_value_name(v->p->g, e->id, name));
  } else {
    (void)snprintf(out->text, sizeof out->text, "%s of step %u", what[e->kind], e->id);
  }
  return out->text;
}

static vt_status fail_overlap(const vt_verify *v, const extent *a, const extent *b) {
  extent_name x, y;
  return VT_FAIL(v->d, VT_INTERNAL, "the plan lets %s and %s overlap", print_extent_name(v, a, &x),
                 print_extent_name(v, b, &y));
}

/* ---- the sweep ---- */

/* The set of live extents, by index in address order, as a complete binary tree. */
typedef struct alive_tree {
  uint32_t leaves; /* number of leaves, a power of two */
  uint8_t *any;    /* by tree node: 1 if any extent of its subtree is live; node 1 is the root */
} alive_tree;
#define NONE UINT32_MAX

static void set_extent_alive(alive_tree *t, uint32_t i, uint8_t alive) {
  i += t->leaves;
  t->any[i] = alive;
  for (i /= 2; i > 0; i /= 2) t->any[i] = t->any[2 * i] | t->any[2 * i + 1];
}

/* The nearest live extent below extent `i` (`above` 0) or above it (`above` 1), or NONE. The search
 * climbs until a sibling on that side has a live leaf, then descends to the nearest such leaf. */
static uint32_t live_neighbour(const alive_tree *t, uint32_t i, uint32_t above) {
  i += t->leaves;
  while (i > 1 && (i % 2 == above || !t->any[i ^ 1])) i /= 2;
  if (i <= 1) return NONE;
  i ^= 1;
  while (i < t->leaves) i = 2 * i + (t->any[2 * i + (1 - above)] ? 1 - above : above);
  return i - t->leaves;
}

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int by_address(const void *a, const void *b, const void *context) {
  const extent *x = a, *y = b;
  (void)context;
  if (x->arena != y->arena) return compare_numbers(x->arena, y->arena);
  if (x->offset != y->offset) return compare_numbers(x->offset, y->offset);
  return x->kind != y->kind ? compare_numbers(x->kind, y->kind) : compare_numbers(x->id, y->id);
}

static int by_first(const void *a, const void *b, const void *context) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const extent *at = context;
  return at[x].first != at[y].first ? compare_numbers(at[x].first, at[y].first)
                                    : compare_numbers(x, y);
}

static int by_last(const void *a, const void *b, const void *context) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const extent *at = context;
  return at[x].last != at[y].last ? compare_numbers(at[x].last, at[y].last) : compare_numbers(x, y);
}

/* 1 if two extents do not overlap; `low` must not start after `high`. */
static int are_disjoint(const extent *low, const extent *high) {
  return low->arena != high->arena || high->offset - low->offset >= low->bytes;
}

/* Makes extent `i` live; fails if it overlaps a live one. */
static vt_status make_extent_live(const vt_verify *v, alive_tree *t, const extent *at, uint32_t i) {
  const uint32_t below = live_neighbour(t, i, 0), above = live_neighbour(t, i, 1);
  if (below != NONE && !are_disjoint(&at[below], &at[i]))
    return fail_overlap(v, &at[i], &at[below]);
  if (above != NONE && !are_disjoint(&at[i], &at[above]))
    return fail_overlap(v, &at[i], &at[above]);
  set_extent_alive(t, i, 1);
  return VT_OK;
}

/* Goes through the starts and ends of lifetimes in the order of steps; fails on the first
 * overlap. */
static vt_status sweep_extents(const vt_verify *v, const extent_list *list) {
  const vt_alloc a = v->scratch->a;
  uint32_t *births = VT_NEW_N(v->scratch, uint32_t, list->n);
  uint32_t *deaths = VT_NEW_N(v->scratch, uint32_t, list->n);
  alive_tree tree = {1, NULL};
  while (tree.leaves < list->n) tree.leaves *= 2;
  tree.any = VT_NEW_N(v->scratch, uint8_t, (size_t)tree.leaves * 2);
  if (vt_arena_status(v->scratch) != VT_OK) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < list->n; i++) births[i] = deaths[i] = i;
  if (vt_sort(list->at, list->n, sizeof *list->at, by_address, NULL, a) != VT_OK ||
      vt_sort(births, list->n, sizeof *births, by_first, list->at, a) != VT_OK ||
      vt_sort(deaths, list->n, sizeof *deaths, by_last, list->at, a) != VT_OK)
    return vt_verify_fail_memory(v);
  uint32_t dead = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    while (list->at[deaths[dead]].last < list->at[births[i]].first)
      set_extent_alive(&tree, deaths[dead++], 0);
    VT_TRY(make_extent_live(v, &tree, list->at, births[i]));
  }
  return VT_OK;
}

/* ---- arenas ---- */

static uint64_t rounded_to_alignment(uint64_t bytes) {
  return (bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
}

typedef struct range {
  uint64_t from, to;
} range;

/* 1 if the range of bytes is aligned and inside `r`. Zero bytes may have any aligned offset that is
 * not above the end. */
static int is_aligned_and_inside(uint64_t offset, uint64_t bytes, range r) {
  return offset % VT_PLAN_ALIGNMENT == 0 && (offset >= r.from || bytes == 0) && offset <= r.to &&
         bytes <= r.to - offset;
}

/* The bytes of an arena that values may use. The values of a body must be in the range that its
 * step reserves for bodies. */
static range range_for_values(const vt_verify *v, uint32_t arena) {
  range r = {0, 0};
  if (v->outer != NULL) {
    const vt_nested *own = &v->outer->p->nested[v->step];
    return (range){own->offset, own->offset + own->bytes};
  }
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (vt_verify_arena_of_class(c) == arena && c != VT_CLASS_WORK) r.to += v->p->class_bytes[c];
  return r;
}

/* ---- bounds ---- */

static vt_status verify_offset_of_value(const vt_verify *v, uint32_t value) {
  const vt_buffer *b = &v->p->buffers[value];
  int fits;
  if (b->place == VT_PLACE_ARG) {
    fits = b->offset == vt_verify_argument_location(v, value).offset;
  } else if (b->place == VT_PLACE_VIEW) {
    const vt_buffer *root = &v->p->buffers[v->root[value]];
    fits = is_aligned_and_inside(b->offset, b->bytes,
                                 (range){root->offset, root->offset + root->bytes});
  } else {
    fits = is_aligned_and_inside(b->offset, b->bytes,
                                 range_for_values(v, vt_verify_arena_of_class(b->class)));
  }
  return fits ? VT_OK : vt_verify_fail_value(v, value, "misplaces");
}

static vt_status verify_all_bounds(const vt_verify *v) {
  const vt_plan *p = v->p;
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (p->class_bytes[c] > VT_PLAN_MOST_BYTES)
      return VT_FAIL(v->d, VT_INTERNAL, "class %u of the plan is beyond 2^48 bytes", c);
  const range temporaries = range_for_values(v, VT_CLASS_TEMP);
  for (uint32_t i = 0; i < p->n_buffers; i++) VT_TRY(verify_offset_of_value(v, i));
  for (uint32_t i = 0; i < p->n_steps; i++) {
    if (!is_aligned_and_inside(p->nested[i].offset, p->nested[i].bytes, temporaries) &&
        p->nested[i].n > 0)
      return vt_verify_fail_step(v, i, "places its bodies outside their arena");
    for (uint32_t k = v->first_upload[i]; k < v->first_upload[i + 1]; k++)
      if (!is_aligned_and_inside(p->transfers[k].offset, p->transfers[k].bytes, temporaries))
        return vt_verify_fail_step(v, i, "places an upload outside its arena");
  }
  return VT_OK;
}

/* ---- collecting the extents ---- */

/* The bytes that dense copies and scratch take in a plan and its bodies. */
typedef struct target_bytes {
  /* The ranges in use, from their first byte to their last; `to` is 0 if there is none. */
  range copies, scratch;
  range all; /* the range that copies and scratch may use */
} target_bytes;

static void widen_range(range *r, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  if (r->to == 0 || offset < r->from) r->from = offset;
  if (offset + bytes > r->to) r->to = offset + bytes;
}

static void add_extent(extent_list *list, extent e) {
  if (e.bytes > 0) list->at[list->n++] = e;
}

static void add_value_extents(const vt_verify *v, const life *lives, extent_list *out) {
  const vt_plan *p = v->p;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *b = &p->buffers[i];
    const life *x = &lives[i];
    /* A value ends before the step that writes over it. A state may have ended before anyway, or,
     * if step 0 writes over it, has no step left. */
    const uint32_t shared = x->over != VT_NO_VALUE && x->last == lives[x->over].first;
    if ((b->place == VT_PLACE_OWN || b->place == VT_PLACE_OVER) && x->last + 1 > x->first + shared)
      add_extent(out, (extent){EXTENT_VALUE, i, vt_verify_arena_of_class(b->class), x->first,
                               x->last - shared, b->offset, b->bytes});
  }
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_nested *n = &p->nested[i];
    add_extent(out, (extent){EXTENT_BODIES, i, VT_CLASS_TEMP, i, i, n->offset, n->bytes});
    for (uint32_t k = v->first_upload[i]; k < v->first_upload[i + 1]; k++) {
      const vt_transfer *t = &p->transfers[k];
      const uint32_t last = vt_verify_group_last(v, i);
      add_extent(out, (extent){EXTENT_UPLOAD, t->value, t->class, i, last, t->offset, t->bytes});
    }
  }
}

/* Adds the dense copies of views. A copy lives from the step it is made for to the end of the group
 * that reads it last. */
static vt_status check_and_add_copy_extents(const vt_verify *v, extent_list *out, target_bytes *a) {
  const vt_graph *g = v->p->g;
  extent *copies = VT_NEW_N(v->scratch, extent, v->p->n_buffers);
  if (copies == NULL) return vt_verify_fail_memory(v);
  for (uint32_t r = 0; r < v->n_bk_steps; r++) {
    const vt_node *n = &g->nodes[v->bk_step_node[r]];
    const uint32_t value = n->first_out, i = v->bk_step_owner[r];
    uint64_t count, bytes = 0;
    if (vt_verify_needs_copy(v, value)) {
      VT_TRY(vt_type_size(&g->values[value].type, &count, &bytes, v->d));
      copies[value] = (extent){EXTENT_COPY, value, VT_CLASS_TEMP, i, i, v->p->dense[value], bytes};
      if (!is_aligned_and_inside(v->p->dense[value], bytes, a->all))
        return vt_verify_fail_value(v, value, "misplaces the copy of");
      widen_range(&a->copies, v->p->dense[value], bytes);
    }
    for (uint32_t k = 0; k < n->n_in; k++)
      copies[g->operands[n->first_in + k]].last = vt_verify_group_last(v, i);
  }
  for (uint32_t i = 0; i < v->p->n_buffers; i++) add_extent(out, copies[i]);
  return VT_OK;
}

/* 1 if the scratch of a backend step is inside `all`; without scratch its offset must be 0. */
static int scratch_fits(const vt_bk_step *s, range all) {
  if (s->work_arena != VT_CLASS_TEMP) return 0;
  return s->work_bytes == 0 ? s->work_offset == 0
                            : is_aligned_and_inside(s->work_offset, s->work_bytes, all);
}

/* Adds the scratch of steps. The members of a group, and a step and its dense copies, do not run at
 * the same time. So their scratch is one extent, from its first byte to its last. */
static vt_status check_and_add_scratch_extents(const vt_verify *v, extent_list *out,
                                               target_bytes *a) {
  range *unit = VT_NEW_N(v->scratch, range, v->p->n_steps);
  if (unit == NULL) return vt_verify_fail_memory(v);
  for (uint32_t r = 0; r < v->n_bk_steps; r++) {
    const vt_bk_step *s = &v->p->bk_steps[r];
    if (!scratch_fits(s, a->all))
      return vt_verify_fail_step(v, v->bk_step_owner[r], "misplaces its scratch");
    widen_range(&unit[vt_verify_group_first(v, v->bk_step_owner[r])], s->work_offset,
                s->work_bytes);
    widen_range(&a->scratch, s->work_offset, s->work_bytes);
  }
  for (uint32_t i = 0; i < v->p->n_steps; i++)
    add_extent(out, (extent){EXTENT_SCRATCH, i, VT_CLASS_TEMP, i, vt_verify_group_last(v, i),
                             unit[i].from, unit[i].to - unit[i].from});
  return VT_OK;
}

/* ---- sums ---- */

/* By arena: the aligned end, counted from `start`, of the highest extent of a kind up to
 * `last_kind`. */
static void find_ends_of_arenas(const extent_list *list, uint64_t start, uint32_t last_kind,
                                uint64_t *end) {
  for (uint32_t i = 0; i < list->n; i++) {
    const extent *e = &list->at[i];
    const uint64_t at = rounded_to_alignment(e->offset + e->bytes - start);
    if (e->kind <= last_kind && at > end[e->arena]) end[e->arena] = at;
  }
}

/* Checks the bytes of each class against the extents. An arena ends where its highest extent ends.
 * In the arena of temporaries, OUTPUT is the sum of the results, WORK is the part above the highest
 * value, and the rest is TEMP. All of the arena of states is MODEL_STATE. A body has only TEMP, for
 * its values. */
static vt_status verify_class_bytes(const vt_verify *v, const extent_list *list) {
  uint64_t sum[VT_CLASS_COUNT] = {0}, all[VT_CLASS_COUNT] = {0};
  const vt_plan *p = v->p;
  find_ends_of_arenas(list, v->outer == NULL ? 0 : range_for_values(v, VT_CLASS_TEMP).from,
                      EXTENT_BODIES, sum);
  find_ends_of_arenas(list, 0, EXTENT_BODY_SCRATCH, all);
  if (v->outer == NULL && all[VT_CLASS_TEMP] > sum[VT_CLASS_TEMP])
    sum[VT_CLASS_WORK] = all[VT_CLASS_TEMP] - sum[VT_CLASS_TEMP];
  for (uint32_t i = 0; i < p->n_buffers; i++)
    if (p->buffers[i].class == VT_CLASS_OUTPUT && p->buffers[i].place == VT_PLACE_OWN)
      sum[VT_CLASS_OUTPUT] += rounded_to_alignment(p->buffers[i].bytes);
  sum[VT_CLASS_TEMP] -= sum[VT_CLASS_OUTPUT]; /* cannot wrap: all results are live at the end */
  sum[VT_CLASS_MODEL_STATE] = sum[VT_CLASS_STATE];
  sum[VT_CLASS_STATE] = 0;
  if (v->outer == NULL && p->class_bytes[VT_CLASS_KEPT] <= VT_PLAN_MOST_BYTES)
    sum[VT_CLASS_KEPT] = p->class_bytes[VT_CLASS_KEPT]; /* only the backend knows */
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (p->class_bytes[c] != sum[c])
      return VT_FAIL(v->d, VT_INTERNAL, "class %u of the plan takes %llu bytes, not %llu", c,
                     (unsigned long long)sum[c], (unsigned long long)p->class_bytes[c]);
  return VT_OK;
}

/* ---- live bytes ---- */

static int is_on_device(uint32_t class) {
  static const uint8_t device[VT_CLASS_COUNT] = {
#define VT_CLASS(name, arena, key, device, help) [VT_CLASS_##name] = device,
#include "classes.def"
#undef VT_CLASS
  };
  return device[class];
}

/* Live bytes of a backend step in addition to values and copies: its scratch, and the live bytes of
 * its largest body. */
static uint64_t live_bytes_of_scratch_and_body(const vt_verify *v, uint32_t bk_step) {
  const uint32_t step = v->bk_step_owner[bk_step];
  const vt_nested *nested = &v->p->nested[step];
  uint64_t bodies = 0;
  for (uint32_t k = 0; v->bk_step_node[bk_step] == v->p->step_node[step] && k < nested->n; k++)
    if (nested->plan[k]->live_bytes > bodies) bodies = nested->plan[k]->live_bytes;
  return v->p->bk_steps[bk_step].work_bytes + bodies;
}

/* Checks the plan's live_bytes and live_step. Bytes by step are stored as differences, which may
 * wrap; their sums do not, because they count extents that do not overlap. */
static vt_status verify_live_bytes(const vt_verify *v, const extent_list *list) {
  const uint32_t n = v->p->n_steps + 1;
  uint64_t *change = VT_NEW_N(v->scratch, uint64_t, (size_t)n + 1), live = 0, most = 0;
  uint64_t *extra = VT_NEW_N(v->scratch, uint64_t, n);
  uint32_t at = 0;
  if (change == NULL || extra == NULL) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < list->n; i++) {
    const extent *e = &list->at[i];
    const int counts =
        e->kind == EXTENT_VALUE || e->kind == EXTENT_UPLOAD || e->kind == EXTENT_COPY;
    if (!is_on_device(e->arena) || !counts) continue;
    change[e->first] += e->bytes;
    change[e->last + 1] -= e->bytes;
  }
  for (uint32_t r = 0; r < v->n_bk_steps; r++)
    if (live_bytes_of_scratch_and_body(v, r) > extra[v->bk_step_owner[r]])
      extra[v->bk_step_owner[r]] = live_bytes_of_scratch_and_body(v, r);
  for (uint32_t i = 0; i < n; i++) {
    live += change[i];
    if (live + extra[i] <= most) continue;
    most = live + extra[i];
    at = i;
  }
  most += v->p->class_bytes[VT_CLASS_KEPT];
  if (v->p->live_bytes == most && v->p->live_step == at) return VT_OK;
  return VT_FAIL(v->d, VT_INTERNAL, "the plan has %llu bytes alive at step %u, not %llu at step %u",
                 (unsigned long long)most, at, (unsigned long long)v->p->live_bytes,
                 v->p->live_step);
}

/* ---- plans and the plans of their bodies ---- */

static vt_status verify_memory_of_plan(const vt_verify *v, target_bytes *out);

static vt_status verify_memory_of_bodies(const vt_verify *v, uint32_t step, extent_list *out,
                                         target_bytes *a) {
  const vt_nested *nested = &v->p->nested[step];
  target_bytes inner = {.all = a->all};
  uint64_t most = 0;
  for (uint32_t k = 0; k < nested->n; k++) {
    vt_verify body;
    VT_TRY(vt_verify_open_body(&body, v, step, k));
    VT_TRY(verify_memory_of_plan(&body, &inner));
    if (body.p->class_bytes[VT_CLASS_TEMP] > most) most = body.p->class_bytes[VT_CLASS_TEMP];
  }
  if (most != nested->bytes)
    return vt_verify_fail_step(v, step, "misstates the bytes of its bodies");
  const range *c = &inner.copies, *s = &inner.scratch;
  add_extent(
      out, (extent){EXTENT_BODY_COPIES, step, VT_CLASS_TEMP, step, step, c->from, c->to - c->from});
  add_extent(out, (extent){EXTENT_BODY_SCRATCH, step, VT_CLASS_TEMP, step, step, s->from,
                           s->to - s->from});
  widen_range(&a->copies, c->from, c->to - c->from);
  widen_range(&a->scratch, s->from, s->to - s->from);
  return VT_OK;
}

/* Verifies a plan and its bodies and widens *a by their copies and scratch. */
static vt_status verify_memory_of_plan(const vt_verify *v, target_bytes *a) {
  const vt_plan *p = v->p;
  const size_t most = 2 * ((size_t)p->n_buffers + 2 * (size_t)p->n_steps) + p->n_transfers;
  life *lives = VT_NEW_N(v->scratch, life, p->n_buffers);
  extent_list list = {VT_NEW_N(v->scratch, extent, most), 0};
  if (lives == NULL || list.at == NULL) return vt_verify_fail_memory(v);
  VT_TRY(verify_lifetimes(v, lives));
  VT_TRY(verify_all_bounds(v));
  add_value_extents(v, lives, &list);
  VT_TRY(check_and_add_copy_extents(v, &list, a));
  VT_TRY(check_and_add_scratch_extents(v, &list, a));
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(verify_memory_of_bodies(v, i, &list, a));
  VT_TRY(sweep_extents(v, &list));
  VT_TRY(verify_class_bytes(v, &list));
  return verify_live_bytes(v, &list);
}

static vt_status open_and_verify_plan(const vt_plan *p, vt_arena *scratch, vt_diag *d) {
  vt_verify v;
  target_bytes a = {.all = {0, 0}};
  VT_TRY(vt_verify_open(&v, p, scratch, d));
  VT_TRY(vt_verify_states(&v));
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (vt_verify_arena_of_class(c) == VT_CLASS_TEMP) a.all.to += p->class_bytes[c];
  return verify_memory_of_plan(&v, &a);
}

vt_status vt_verify_allocation(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_arena_init(&scratch, p->arena.a);
  const vt_status s = open_and_verify_plan(p, &scratch, d);
  vt_arena_done(&scratch);
  return s;
}

vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) {
  VT_TRY(vt_verify_schedule(p, d));
  return vt_verify_allocation(p, d);
}
