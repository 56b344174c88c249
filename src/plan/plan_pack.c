/* SPDX-License-Identifier: Apache-2.0
 * plan_pack.c - packs items into one arena so that items that live at the same time do not overlap:
 *
 *   offset
 *     |  [ a  steps 0..2 ][ d  3..5 ]
 *     |  [ b  steps 1..4      ]
 *     +------------------------------> steps
 *
 * Some items may have fixed offsets already. There are three heuristics:
 *
 *   by size   largest item first, each at the lowest offset that is free during its lifetime;
 *             O(n^2), so it is used only up to MOST_PAIRS pairs of items
 *   by birth  in order of first step, each in the lowest gap that it fits into; O(n log n), used
 *             only if no item is fixed; the lower of this packing and the one by size is taken
 *   on top    each item above all items that live at the same time; O(n log n), used if items are
 *             fixed and there are too many pairs for the packing by size */
#include "gaps.h"
#include "plan_pack.h"
#include "vt_sort.h"

#define MOST_PAIRS ((uint64_t)1 << 26) /* most pairs of items that packing by size may compare */

static int by_number(uint32_t x, uint32_t y) { return x < y ? -1 : x > y; }

static int by_first(const void *a, const void *b, const void *context) {
  const vt_pack_item *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return s[x].first != s[y].first ? by_number(s[x].first, s[y].first) : by_number(x, y);
}

static int by_last(const void *a, const void *b, const void *context) {
  const vt_pack_item *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return s[x].last != s[y].last ? by_number(s[x].last, s[y].last) : by_number(x, y);
}

static int by_size(const void *a, const void *b, const void *context) {
  const vt_pack_item *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (s[x].bytes != s[y].bytes) return s[x].bytes > s[y].bytes ? -1 : 1;
  return by_number(x, y);
}

static int by_offset(const void *a, const void *b, const void *context) {
  const vt_pack_item *s = context;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (*s[x].offset != *s[y].offset) return *s[x].offset < *s[y].offset ? -1 : 1;
  return by_number(x, y);
}

/* The indices `from` to `to` - 1 of items, sorted by `order`; NULL if there is no memory. */
static uint32_t *sorted_indices(const vt_packing *k, uint32_t from, uint32_t to, vt_order_fn *order,
                                vt_arena *scratch) {
  const uint32_t n = to - from;
  uint32_t *list = VT_NEW_N(scratch, uint32_t, n);
  for (uint32_t i = 0; list != NULL && i < n; i++) list[i] = from + i;
  return list != NULL && vt_sort(list, n, sizeof *list, order, k->at, scratch->a) == VT_OK ? list
                                                                                           : NULL;
}

/* ---- by birth ---- */

static vt_status place_by_birth(const vt_packing *k, uint64_t *offset, vt_arena *scratch) {
  const uint32_t *births = sorted_indices(k, 0, k->n, by_first, scratch);
  const uint32_t *deaths = sorted_indices(k, 0, k->n, by_last, scratch);
  uint32_t dead = 0;
  vt_gaps gaps;
  if (births == NULL || deaths == NULL || vt_gaps_init(&gaps, k->n, scratch) != VT_OK)
    return VT_NOMEM;
  for (uint32_t i = 0; i < k->n; i++) {
    const vt_pack_item *x = &k->at[births[i]];
    for (; k->at[deaths[dead]].last < x->first; dead++)
      vt_gaps_free(&gaps, offset[deaths[dead]], k->at[deaths[dead]].bytes);
    offset[births[i]] = vt_gaps_alloc(&gaps, x->bytes);
  }
  return VT_OK;
}

/* ---- by size ---- */

typedef struct placed { /* an item that already has an offset */
  uint32_t first, last; /* its lifetime in steps */
  uint64_t from, to;    /* its range of bytes */
} placed;
typedef struct placed_list { /* the items placed so far, in ascending order of `from` */
  placed *at;
  uint32_t n;
} placed_list;

static void insert_placed(placed_list *s, const vt_pack_item *x, uint64_t offset) {
  uint32_t i = s->n++;
  for (; i > 0 && s->at[i - 1].from > offset; i--) s->at[i] = s->at[i - 1];
  s->at[i] = (placed){x->first, x->last, offset, offset + x->bytes};
}

/* The lowest offset at which `x` overlaps no placed item that lives at the same time. */
static uint64_t lowest_free_offset(const placed_list *s, const vt_pack_item *x) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    const placed *y = &s->at[i];
    if (y->last < x->first || y->first > x->last) continue;
    if (y->from >= at + x->bytes) break;
    if (y->to > at) at = y->to;
  }
  return at;
}

static vt_status place_by_size(const vt_packing *k, uint64_t *offset, vt_arena *scratch) {
  const uint32_t *fixed = sorted_indices(k, 0, k->fixed, by_offset, scratch);
  const uint32_t *order = sorted_indices(k, k->fixed, k->n, by_size, scratch);
  placed_list s = {VT_NEW_N(scratch, placed, k->n), 0};
  if (fixed == NULL || order == NULL || s.at == NULL) return VT_NOMEM;
  for (uint32_t i = 0; i < k->fixed; i++)
    insert_placed(&s, &k->at[fixed[i]], *k->at[fixed[i]].offset);
  for (uint32_t i = 0; i < k->n - k->fixed; i++) {
    const vt_pack_item *x = &k->at[order[i]];
    offset[order[i]] = lowest_free_offset(&s, x);
    insert_placed(&s, x, offset[order[i]]);
  }
  return VT_OK;
}

/* ---- on top ---- */

/* The height that items reach at each step: a segment tree of maxima with lazy updates, a complete
 * binary tree in which each node covers a range of steps. */
typedef struct skyline {
  uint64_t *all; /* by node: a height that every step of the node's range has at least */
  uint64_t *any; /* by node: the greatest height of the steps in the node's range */
} skyline;
typedef struct span { /* a range of steps, both ends included */
  uint32_t from, to;
} span;

static uint64_t highest_in_range(const skyline *t, uint32_t node, span covers, span asked) {
  if (asked.to < covers.from || covers.to < asked.from) return 0;
  if (asked.from <= covers.from && covers.to <= asked.to) return t->any[node];
  const uint32_t middle = covers.from + (covers.to - covers.from) / 2;
  const uint64_t left = highest_in_range(t, 2 * node, (span){covers.from, middle}, asked);
  const uint64_t right = highest_in_range(t, 2 * node + 1, (span){middle + 1, covers.to}, asked);
  const uint64_t most = left > right ? left : right;
  return most > t->all[node] ? most : t->all[node];
}

static void raise_range(skyline *t, uint32_t node, span covers, span raised, uint64_t height) {
  if (raised.to < covers.from || covers.to < raised.from) return;
  if (t->any[node] < height) t->any[node] = height;
  if (raised.from <= covers.from && covers.to <= raised.to) {
    if (t->all[node] < height) t->all[node] = height;
    return;
  }
  const uint32_t middle = covers.from + (covers.to - covers.from) / 2;
  raise_range(t, 2 * node, (span){covers.from, middle}, raised, height);
  raise_range(t, 2 * node + 1, (span){middle + 1, covers.to}, raised, height);
}

static vt_status place_on_top(const vt_packing *k, uint64_t *offset, vt_arena *scratch) {
  span all = {0, 0};
  for (uint32_t i = 0; i < k->n; i++)
    if (k->at[i].last > all.to) all.to = k->at[i].last;
  skyline t = {VT_NEW_N(scratch, uint64_t, 4 * ((size_t)all.to + 1)),
               VT_NEW_N(scratch, uint64_t, 4 * ((size_t)all.to + 1))};
  if (t.all == NULL || t.any == NULL) return VT_NOMEM;
  for (uint32_t i = 0; i < k->n; i++) {
    const vt_pack_item *x = &k->at[i];
    const span lives = {x->first, x->last};
    offset[i] = i < k->fixed ? *x->offset : highest_in_range(&t, 1, all, lives);
    raise_range(&t, 1, all, lives, offset[i] + x->bytes);
  }
  return VT_OK;
}

/* ---- choosing among the three ---- */

static uint64_t end_of_highest_item(const vt_packing *k, const uint64_t *offset) {
  uint64_t top = k->top;
  for (uint32_t i = k->fixed; i < k->n; i++)
    if (offset[i] + k->at[i].bytes > top) top = offset[i] + k->at[i].bytes;
  return top;
}

void vt_pack_fix_all(vt_packing *k) {
  for (; k->fixed < k->n; k->fixed++) {
    const vt_pack_item *x = &k->at[k->fixed];
    if (*x->offset + x->bytes > k->top) k->top = *x->offset + x->bytes;
  }
}

static vt_status place_items(vt_packing *k, vt_arena *scratch) {
  const int small = (uint64_t)k->n * (k->n - k->fixed) <= MOST_PAIRS;
  uint64_t *best = VT_NEW_N(scratch, uint64_t, k->n), *other = VT_NEW_N(scratch, uint64_t, k->n);
  if (best == NULL || other == NULL) return VT_NOMEM;
  if (k->fixed == 0) VT_TRY(place_by_birth(k, best, scratch));
  if (k->fixed > 0 && !small) VT_TRY(place_on_top(k, best, scratch));
  if (small) VT_TRY(place_by_size(k, other, scratch));
  if (small && (k->fixed > 0 || end_of_highest_item(k, other) < end_of_highest_item(k, best)))
    best = other;
  for (uint32_t i = k->fixed; i < k->n; i++) *k->at[i].offset = best[i];
  return VT_OK;
}

vt_status vt_pack(vt_packing *k, vt_arena *scratch, vt_diag *d) {
  /* Limit on the sum of all bytes, so that no offset overflows. */
  uint64_t left = (uint64_t)1 << 62;
  if (k->n == k->fixed) return VT_OK;
  for (uint32_t i = 0; i < k->n; i++) {
    if (k->at[i].bytes > left) return VT_FAIL(d, VT_LIMIT, "the tensors are beyond 2^62 bytes");
    left -= k->at[i].bytes;
  }
  if (place_items(k, scratch) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_pack_fix_all(k);
  return VT_OK;
}
