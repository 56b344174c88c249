/* SPDX-License-Identifier: Apache-2.0
 * gaps.c - free stretches in a treap: a tree by offset in which every node knows the largest gap
 * below it, kept flat by ranks that look random and are not. */
#include "gaps.h"

struct vt_gap {
  uint64_t at, size, most; /* most: the largest in this subtree */
  uint32_t left, right, rank;
};
enum { NONE = 0 };

static uint32_t rank_of(uint32_t i) {
  uint32_t x = i * 0x9e3779b9u; /* the golden ratio spreads neighbours */
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

static void renew(vt_gaps *g, uint32_t i) {
  vt_gap *n = &g->at[i];
  n->most = n->size;
  if (g->at[n->left].most > n->most) n->most = g->at[n->left].most;
  if (g->at[n->right].most > n->most) n->most = g->at[n->right].most;
}

static uint32_t merge(vt_gaps *g, uint32_t a, uint32_t b) {
  if (a == NONE || b == NONE) return a == NONE ? b : a;
  const int a_rules = g->at[a].rank > g->at[b].rank;
  const uint32_t top = a_rules ? a : b;
  if (a_rules) {
    g->at[a].right = merge(g, g->at[a].right, b);
  } else {
    g->at[b].left = merge(g, a, g->at[b].left);
  }
  renew(g, top);
  return top;
}

/* Everything below `offset` to the left. */
static void split(vt_gaps *g, uint32_t i, uint64_t offset, uint32_t *left, uint32_t *right) {
  if (i == NONE) {
    *left = *right = NONE;
    return;
  }
  if (g->at[i].at < offset) {
    split(g, g->at[i].right, offset, &g->at[i].right, right);
    *left = i;
  } else {
    split(g, g->at[i].left, offset, left, &g->at[i].left);
    *right = i;
  }
  renew(g, i);
}

static uint32_t new_gap(vt_gaps *g, uint64_t at, uint64_t size) {
  uint32_t i = g->spare;
  if (i != NONE) {
    g->spare = g->at[i].left;
  } else {
    i = ++g->used;
  }
  g->at[i] = (vt_gap){.at = at, .size = size, .most = size, .rank = rank_of(i)};
  return i;
}

static void drop_gap(vt_gaps *g, uint32_t i) {
  g->at[i].left = g->spare;
  g->spare = i;
}

vt_status vt_gaps_init(vt_gaps *g, uint32_t most, vt_arena *scratch) {
  *g = (vt_gaps){.at =
                     VT_NEW_N(scratch, vt_gap, (size_t)most + 3)}; /* one more gap than stretches */
  if (g->at == NULL) return VT_NOMEM;
  g->root = new_gap(g, 0, UINT64_MAX >> 1);
  return VT_OK;
}

/* The lowest gap of at least `bytes`, taken out of the subtree. */
static uint32_t cut_lowest(vt_gaps *g, uint32_t *at, uint64_t bytes) {
  vt_gap *n = &g->at[*at];
  uint32_t found = *at;
  if (n->left != NONE && g->at[n->left].most >= bytes) {
    found = cut_lowest(g, &n->left, bytes);
  } else if (n->size >= bytes) {
    *at = merge(g, n->left, n->right);
    return found;
  } else {
    found = cut_lowest(g, &n->right, bytes);
  }
  renew(g, *at);
  return found;
}

static void insert(vt_gaps *g, uint32_t i) {
  uint32_t left, right;
  g->at[i].left = g->at[i].right = NONE;
  renew(g, i);
  split(g, g->root, g->at[i].at, &left, &right);
  g->root = merge(g, merge(g, left, i), right);
}

uint64_t vt_gaps_take(vt_gaps *g, uint64_t bytes) {
  const uint32_t i = cut_lowest(g, &g->root, bytes); /* the last one has no end */
  const uint64_t offset = g->at[i].at;
  g->at[i].at += bytes;
  g->at[i].size -= bytes;
  if (g->at[i].size > 0) {
    insert(g, i);
  } else {
    drop_gap(g, i);
  }
  return offset;
}

/* The gap that ends (or begins) at `offset`, taken out; NONE when there is none. */
static uint32_t cut_edge(vt_gaps *g, uint32_t *at, int rightmost, uint64_t offset) {
  if (*at == NONE) return NONE;
  uint32_t *child = rightmost ? &g->at[*at].right : &g->at[*at].left;
  if (*child != NONE) {
    const uint32_t found = cut_edge(g, child, rightmost, offset);
    renew(g, *at);
    return found;
  }
  const uint32_t found = *at;
  const vt_gap *n = &g->at[found];
  if ((rightmost ? n->at + n->size : n->at) != offset) return NONE;
  *at = rightmost ? n->left : n->right;
  return found;
}

void vt_gaps_give(vt_gaps *g, uint64_t offset, uint64_t bytes) {
  uint32_t left, right;
  split(g, g->root, offset, &left, &right);
  const uint32_t below = cut_edge(g, &left, 1, offset);
  const uint32_t above = cut_edge(g, &right, 0, offset + bytes);
  g->root = merge(g, left, right);
  const uint64_t from = below == NONE ? offset : g->at[below].at;
  const uint64_t to = above == NONE ? offset + bytes : g->at[above].at + g->at[above].size;
  if (below != NONE) drop_gap(g, below);
  if (above != NONE) drop_gap(g, above);
  insert(g, new_gap(g, from, to - from));
}
