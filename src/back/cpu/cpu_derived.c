/* SPDX-License-Identifier: Apache-2.0
 * cpu_derived.c - the store of a shared buffer: finds the block for what a step derives, counts its
 * users, and lets exactly one thread fill it. */
#include "cpu_derived.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "vt_hash.h"

struct vt_cpu_block {
  vt_cpu_store *store;
  vt_cpu_block *next;
  vt_hash256 key;
  uint64_t users;
  pthread_mutex_t filling; /* held while a thread fills the data */
  atomic_int filled;
  vt_cpu_block_head *head; /* head and data */
};

struct vt_cpu_store {
  const vt_bk_host *host;
  pthread_mutex_t lock; /* protects the list, the counts of users and calls of the allocator */
  vt_cpu_block *first;
};

vt_cpu_store *vt_cpu_store_new(const vt_bk_host *host) {
  vt_cpu_store *s = vt_cpu_memory_new(host, sizeof *s);
  if (s == NULL) return NULL;
  s->host = host;
  if (pthread_mutex_init(&s->lock, NULL) == 0) return s;
  vt_cpu_memory_free(host, s);
  return NULL;
}

void vt_cpu_store_free(vt_cpu_store *s) {
  if (s == NULL) return;
  (void)pthread_mutex_destroy(&s->lock);
  vt_cpu_memory_free(s->host, s);
}

/* ---- keys ---- */

static void add_shape(vt_hasher *h, const vt_view *v, uint32_t first_axis) {
  vt_hash_add_u32(h, v->dtype);
  vt_hash_add_u32(h, v->rank);
  for (uint32_t i = first_axis; i < v->rank; i++) {
    vt_hash_add_u64(h, (uint64_t)v->dim[i]);
    vt_hash_add_u64(h, (uint64_t)v->stride[i]);
  }
}

/* Matrix products derive the same panels of b whatever the number of rows of a is. */
static int is_matrix_product(uint32_t op) {
  return op == VT_OP_matmul || op == VT_OP_linear || op == VT_OP_matmul_int;
}

/* Everything that derived data depends on: the kernels, the step with its attributes, the operand
 * and its place, and for a convolution the other shapes, which decide how axes are joined. The
 * first axis of the other shapes is the batch, on which nothing depends. */
static vt_hash256 key_of(const vt_cpu_call *c, uint32_t i, uint64_t bytes) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add(&h, c->team->kernels->isa, strlen(c->team->kernels->isa) + 1);
  vt_hash_add_u32(&h, c->step->op);
  vt_hash_add_u64(&h, c->step->in[i].offset);
  vt_hash_add_u64(&h, bytes);
  vt_hash_add_u64(&h, c->step->attrs_size);
  if (c->step->attrs_size > 0) vt_hash_add(&h, c->attrs, (size_t)c->step->attrs_size);
  add_shape(&h, &c->in[i], 0);
  vt_hash_add_u32(&h, c->out[0].dtype);
  if (!is_matrix_product(c->step->op)) {
    add_shape(&h, &c->in[0], 1);
    add_shape(&h, &c->out[0], 1);
  }
  return vt_hash_done(&h);
}

/* ---- blocks ---- */

static vt_cpu_block *find_block(const vt_cpu_store *s, const vt_hash256 *key) {
  vt_cpu_block *b = s->first;
  while (b != NULL && memcmp(&b->key, key, sizeof *key) != 0) b = b->next;
  return b;
}

static vt_cpu_block *block_new(vt_cpu_store *s, const vt_hash256 *key, uint64_t bytes) {
  vt_cpu_block *b = vt_cpu_memory_new(s->host, sizeof *b);
  if (b == NULL) return NULL;
  b->head = vt_cpu_memory_new_uncleared(s->host, bytes);
  if (b->head == NULL || pthread_mutex_init(&b->filling, NULL) != 0) {
    vt_cpu_memory_free(s->host, b->head);
    vt_cpu_memory_free(s->host, b);
    return NULL;
  }
  *b->head = (vt_cpu_block_head){.shared = b};
  b->store = s;
  b->key = *key;
  b->next = s->first;
  s->first = b;
  return b;
}

vt_cpu_block_head *vt_cpu_store_get(vt_cpu_store *s, const vt_cpu_call *c, uint32_t i,
                                    uint64_t bytes) {
  const vt_hash256 key = key_of(c, i, bytes);
  (void)pthread_mutex_lock(&s->lock);
  vt_cpu_block *b = find_block(s, &key);
  if (b == NULL) b = block_new(s, &key, bytes);
  if (b != NULL) b->users++;
  (void)pthread_mutex_unlock(&s->lock);
  return b != NULL ? b->head : NULL;
}

void vt_cpu_store_put(vt_cpu_block *b) {
  vt_cpu_store *s = b->store;
  (void)pthread_mutex_lock(&s->lock);
  if (--b->users == 0) {
    vt_cpu_block **at = &s->first;
    while (*at != b) at = &(*at)->next;
    *at = b->next;
    (void)pthread_mutex_destroy(&b->filling);
    vt_cpu_memory_free(s->host, b->head);
    vt_cpu_memory_free(s->host, b);
  }
  (void)pthread_mutex_unlock(&s->lock);
}

int vt_cpu_block_begin(vt_cpu_block *b) {
  if (atomic_load_explicit(&b->filled, memory_order_acquire)) return 0;
  (void)pthread_mutex_lock(&b->filling);
  if (!atomic_load_explicit(&b->filled, memory_order_relaxed)) return 1;
  (void)pthread_mutex_unlock(&b->filling);
  return 0;
}

void vt_cpu_block_end(vt_cpu_block *b, int filled) {
  if (filled) atomic_store_explicit(&b->filled, 1, memory_order_release);
  (void)pthread_mutex_unlock(&b->filling);
}
