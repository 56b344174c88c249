/* SPDX-License-Identifier: Apache-2.0
 * gaps.c - the gaps of an arena in a treap: a search tree by offset in which each node also has the
 * size of the largest gap of its subtree. A node's rank is a hash of its index, so the tree stays
 * balanced and every run builds the same tree. */
#include "gaps.h"

struct vt_gap {
  uint64_t at, size;    /* the gap: its offset and its bytes */
  uint64_t most;        /* size of the largest gap in the subtree */
  uint32_t left, right; /* indices of the children; NONE if there is no child */
  uint32_t rank;        /* heap order: a parent has a rank no lower than its children */
};
enum { NONE = 0 };

static uint32_t rank_of(uint32_t i) {
  /* Multiplying by the golden ratio gives neighbouring indices distant ranks. */
  uint32_t x = i * 0x9e3779b9u;
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  return x ^ x >> 13;
}

/* Recomputes the largest gap of the subtree of node `i` from its children. */
static void update_largest_gap(vt_gaps *g, uint32_t i) {
  vt_gap *n = &g->at[i];
  n->most = n->size;
  if (g->at[n->left].most > n->most) n->most = g->at[n->left].most;
  if (g->at[n->right].most > n->most) n->most = g->at[n->right].most;
}

/* Merges two trees and returns the root; all gaps of `a` must be below those of `b`. */
static uint32_t merge_trees(vt_gaps *g, uint32_t a, uint32_t b) {
  if (a == NONE || b == NONE) return a == NONE ? b : a;
  const int a_rules = g->at[a].rank > g->at[b].rank;
  const uint32_t top = a_rules ? a : b;
  if (a_rules) {
    g->at[a].right = merge_trees(g, g->at[a].right, b);
  } else {
    g->at[b].left = merge_trees(g, a, g->at[b].left);
  }
  update_largest_gap(g, top);
  return top;
}

/* Splits the tree with root `i` into the gaps that start below `offset` (*left) and the others
 * (*right). */
static void split_tree(vt_gaps *g, uint32_t i, uint64_t offset, uint32_t *left, uint32_t *right) {
  if (i == NONE) {
    *left = *right = NONE;
    return;
  }
  if (g->at[i].at < offset) {
    split_tree(g, g->at[i].right, offset, &g->at[i].right, right);
    *left = i;
  } else {
    split_tree(g, g->at[i].left, offset, left, &g->at[i].left);
    *right = i;
  }
  update_largest_gap(g, i);
}

static uint32_t new_gap(vt_gaps *g, uint64_t offset, uint64_t size) {
  uint32_t i = g->spare;
  if (i != NONE) {
    g->spare = g->at[i].left;
  } else {
    i = ++g->used;
  }
  g->at[i] = (vt_gap){.at = offset, .size = size, .most = size, .rank = rank_of(i)};
  return i;
}

static void recycle_gap_node(vt_gaps *g, uint32_t i) {
  g->at[i].left = g->spare;
  g->spare = i;
}

vt_status vt_gaps_init(vt_gaps *g, uint32_t most_ranges, vt_arena *scratch) {
  *g = (vt_gaps){.at = VT_NEW_N(scratch, vt_gap,
                                (size_t)most_ranges + 3)}; /* n allocated ranges leave n + 1 gaps */
  if (g->at == NULL) return VT_NOMEM;
  g->root = new_gap(g, 0, UINT64_MAX >> 1);
  return VT_OK;
}

/* Removes the lowest gap of at least `bytes` from the subtree with root *root; returns the index of
 * its node. */
static uint32_t remove_lowest_fitting_gap(vt_gaps *g, uint32_t *root, uint64_t bytes) {
  vt_gap *n = &g->at[*root];
  uint32_t found = *root;
  if (n->left != NONE && g->at[n->left].most >= bytes) {
    found = remove_lowest_fitting_gap(g, &n->left, bytes);
  } else if (n->size >= bytes) {
    *root = merge_trees(g, n->left, n->right);
    return found;
  } else {
    found = remove_lowest_fitting_gap(g, &n->right, bytes);
  }
  update_largest_gap(g, *root);
  return found;
}

static void insert_gap(vt_gaps *g, uint32_t i) {
  uint32_t left, right;
  g->at[i].left = g->at[i].right = NONE;
  update_largest_gap(g, i);
  split_tree(g, g->root, g->at[i].at, &left, &right);
  g->root = merge_trees(g, merge_trees(g, left, i), right);
}

uint64_t vt_gaps_alloc(vt_gaps *g, uint64_t bytes) {
  /* A gap is always found, because the last one has no end. */
  const uint32_t i = remove_lowest_fitting_gap(g, &g->root, bytes);
  const uint64_t offset = g->at[i].at;
  g->at[i].at += bytes;
  g->at[i].size -= bytes;
  if (g->at[i].size > 0) {
    insert_gap(g, i);
  } else {
    recycle_gap_node(g, i);
  }
  return offset;
}

/* Removes the rightmost gap of the subtree with root *root if it ends at `offset`, or the leftmost
 * if it begins there; returns the index of its node, or NONE if the gap does not touch `offset`. */
static uint32_t remove_edge_gap_touching(vt_gaps *g, uint32_t *root, int rightmost,
                                         uint64_t offset) {
  if (*root == NONE) return NONE;
  uint32_t *child = rightmost ? &g->at[*root].right : &g->at[*root].left;
  if (*child != NONE) {
    const uint32_t found = remove_edge_gap_touching(g, child, rightmost, offset);
    update_largest_gap(g, *root);
    return found;
  }
  const uint32_t found = *root;
  const vt_gap *n = &g->at[found];
  if ((rightmost ? n->at + n->size : n->at) != offset) return NONE;
  *root = rightmost ? n->left : n->right;
  return found;
}

void vt_gaps_free(vt_gaps *g, uint64_t offset, uint64_t bytes) {
  uint32_t left, right;
  split_tree(g, g->root, offset, &left, &right);
  const uint32_t below = remove_edge_gap_touching(g, &left, 1, offset);
  const uint32_t above = remove_edge_gap_touching(g, &right, 0, offset + bytes);
  g->root = merge_trees(g, left, right);
  const uint64_t from = below == NONE ? offset : g->at[below].at;
  const uint64_t to = above == NONE ? offset + bytes : g->at[above].at + g->at[above].size;
  if (below != NONE) recycle_gap_node(g, below);
  if (above != NONE) recycle_gap_node(g, above);
  insert_gap(g, new_gap(g, from, to - from));
}
