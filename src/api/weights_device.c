/* SPDX-License-Identifier: Apache-2.0
 * weights_device.c - loads weights onto devices. Elements go from a file to their final place
 * through two pieces of a megabyte, one as they are read and one as the parameter's type, so
 * loading needs no more memory than that besides the parameters themselves.
 *
 *   file -> piece read -> (cast) piece of the parameter's type -> device
 *
 * A copy is made by the first program that needs it. Other threads that need the same copy wait for
 * it; if making it fails, each of them tries for itself. */
#include "weights_device.h"
#include <stdio.h>
#include <string.h>
#include "program.h"
#include "vt_num.h"

struct vt_device_weights {
  vt_device_weights *next;
  vt_hash256 key;
  uint64_t users;          /* under the lock of the weights */
  pthread_mutex_t loading; /* held while the copy is made */
  int loaded;              /* written before `loading` is released */
  vt_shared_buffer *arena;
};

/* ---- loading one tensor ---- */

enum { PIECE_BYTES = 1 << 20 };

/* Where the elements of one tensor go: to a shared buffer, or to a value of an execution if
 * `buffer` is NULL. */
typedef struct target {
  vt_shared_buffer *buffer;
  uint64_t offset; /* of the tensor in the buffer */
  vt_exec *exec;
  uint32_t value;
} target;

static vt_status write_piece(const target *to, uint64_t at, const void *data, uint64_t bytes,
                             vt_diag *d) {
  if (to->buffer == NULL) return vt_exec_write_part(to->exec, to->value, at, data, bytes, d);
  return vt_shared_buffer_write(to->buffer, to->offset + at, data, bytes, d);
}

/* Reads all elements of a tensor and writes them as type `want`. `read` has two pieces. */
static vt_status load_elements(vt_weight_reader *r, uint32_t want, uint8_t *read, const target *to,
                               vt_diag *d) {
  const uint32_t have = r->entry->tensor.dtype;
  const uint64_t from_bytes = vt_dtype_bytes(have), to_bytes = vt_dtype_bytes(want);
  const uint64_t most = PIECE_BYTES / (from_bytes > to_bytes ? from_bytes : to_bytes);
  uint8_t *typed = read + PIECE_BYTES;
  for (uint64_t done = 0, n; done < r->entry->count; done += n) {
    n = r->entry->count - done < most ? r->entry->count - done : most;
    VT_TRY(vt_weight_reader_next(r, read, n * from_bytes, d));
    if (have != want) {
      vt_cast(read, 1, have, typed, 1, want, n);
      vt_canonical(typed, want, n);
    }
    VT_TRY(write_piece(to, done * to_bytes, have != want ? typed : read, n * to_bytes, d));
  }
  return vt_weight_reader_check_end(r, d);
}

static vt_status load_entry(const vt_weights *w, const vt_weight_entry *e, uint32_t want,
                            const target *to, vt_diag *d) {
  vt_weight_reader r;
  uint8_t *pieces = vt_alloc_raw(w->a, 2 * (size_t)PIECE_BYTES);
  if (pieces == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_status s = vt_weight_reader_open(&w->list, e, &r, d);
  if (s == VT_OK) {
    s = load_elements(&r, want, pieces, to, d);
    vt_weight_reader_close(&r);
  }
  vt_alloc_free(w->a, pieces, 2 * (size_t)PIECE_BYTES);
  return s;
}

/* VT_TENSOR if the tensor has another shape than the model declares. */
static vt_status check_shape(const vt_weight_entry *e, const vt_type *want, const vt_dims *dims,
                             vt_diag *d) {
  const vt_tensor *t = &e->tensor;
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (t->rank == want->rank && memcmp(t->dim, want->dim, t->rank * sizeof *t->dim) == 0)
    return VT_OK;
  vt_type have = {.dtype = t->dtype, .rank = t->rank};
  memcpy(have.dim, t->dim, sizeof have.dim);
  return VT_FAIL(d, VT_TENSOR, "'%.100s' is %s in the weights, the model declares %s", e->name,
                 vt_type_text(dims, &have, x), vt_type_text(dims, want, y));
}

vt_status vt_weights_load_tensor(const vt_weights *w, const char *name, const vt_type *want,
                                 const vt_dims *dims, vt_shared_buffer *to, uint64_t offset,
                                 vt_diag *d) {
  const vt_weight_entry *e = vt_weight_list_find(&w->list, name);
  const target at = {.buffer = to, .offset = offset};
  if (e == NULL) return VT_NAME;
  if (!vt_weight_fills(w, 0, e->tensor.dtype, want->dtype))
    return VT_FAIL(d, VT_TENSOR, "'%.100s' is %s in the weights, the model declares %s", name,
                   vt_dtype_name(e->tensor.dtype), vt_dtype_name(want->dtype));
  VT_TRY(check_shape(e, want, dims, d));
  return load_entry(w, e, want->dtype, &at, d);
}

/* ---- loading parameters ---- */

static vt_status find_param(const vt_weights *w, const char *name, const vt_weight_entry **out,
                            vt_diag *d) {
  *out = vt_weight_list_find(&w->list, name);
  if (*out != NULL) return VT_OK;
  return VT_FAIL(d, VT_NAME, "the weights have no tensor for the param '%.100s'", name);
}

/* Loads the parameters of class PARAM into `to`, or into `x` if it is NULL; and with `host` those
 * that stay in host memory into `x`. */
static vt_status load_params(const vt_weights *w, const vt_plan *p, vt_shared_buffer *to,
                             vt_exec *x, int host, vt_diag *d) {
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    const vt_buffer *b = &p->buffers[port->value];
    const target at = {.buffer = to, .offset = b->offset, .exec = x, .value = port->value};
    const vt_weight_entry *e;
    if (port->kind != VT_PORT_PARAM || (b->class == VT_CLASS_HOST) != host) continue;
    VT_TRY(find_param(w, port->name, &e, d));
    VT_TRY(load_entry(w, e, p->g->values[port->value].type.dtype, &at, d));
  }
  return VT_OK;
}

/* ---- keys ---- */

/* Copies are equal if the device is, and every parameter has the same name, type and place. */
static vt_hash256 key_of(const vt_weights_load *l) {
  const vt_plan *p = l->plan;
  const vt_hash256 *plugin = vt_device_plugin_digest(l->dev);
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add(&h, vt_device_name(l->dev), strlen(vt_device_name(l->dev)) + 1);
  if (plugin != NULL) vt_hash_add(&h, plugin->b, sizeof plugin->b);
  vt_hash_add_u64(&h, vt_plan_arena_bytes(p, VT_CLASS_PARAM));
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    const vt_buffer *b = &p->buffers[port->value];
    const vt_type *t = &p->g->values[port->value].type;
    if (port->kind != VT_PORT_PARAM || b->class != VT_CLASS_PARAM) continue;
    vt_hash_add(&h, port->name, strlen(port->name) + 1);
    vt_hash_add_u64(&h, b->offset);
    vt_hash_add_u32(&h, t->dtype);
    vt_hash_add_u32(&h, t->rank);
    for (uint32_t k = 0; k < t->rank; k++) vt_hash_add_u64(&h, (uint64_t)t->dim[k]);
  }
  return vt_hash_done(&h);
}

/* ---- copies ---- */

/* Opens a second device of the same backend and number, which holds the copy. */
static vt_status open_home(const vt_weights_load *l, vt_device **out, vt_diag *d) {
  vt_device_options how = *l->opening;
  const vt_hash256 *plugin = vt_device_plugin_digest(l->dev);
  how.threads = 1; /* it runs nothing */
  how.measure = 0;
  how.note = NULL;
  how.cache = NULL;
  VT_TRY(vt_device_open_with_options(&how, plugin != NULL ? l->backend : vt_device_name(l->dev),
                                     l->weights->a, out, d));
  const vt_hash256 *opened = vt_device_plugin_digest(*out);
  if (plugin == NULL || (opened != NULL && memcmp(plugin, opened, sizeof *plugin) == 0))
    return VT_OK;
  vt_device_close(*out);
  return VT_FAIL(d, VT_BACKEND, "the file of the plug-in '%.100s' changed", l->backend);
}

static vt_status make_copy(const vt_weights_load *l, vt_device_weights *c, vt_diag *d) {
  vt_device *home = NULL;
  const uint64_t bytes = vt_plan_arena_bytes(l->plan, VT_CLASS_PARAM);
  VT_TRY(open_home(l, &home, d));
  VT_TRY(vt_shared_buffer_new(home, bytes, 0, l->weights->a, &c->arena, d));
  VT_TRY(load_params(l->weights, l->plan, c->arena, NULL, 0, d));
  VT_TRY(vt_shared_buffer_share(c->arena, d));
  c->loaded = 1;
  return VT_OK;
}

static void unlink_copy(vt_weights *w, const vt_device_weights *c) {
  vt_device_weights **at = &w->copies;
  while (*at != NULL && *at != c) at = &(*at)->next;
  if (*at != NULL) *at = c->next;
}

void vt_device_weights_release(vt_weights *w, vt_device_weights *c) {
  if (c == NULL) return;
  (void)pthread_mutex_lock(&w->lock);
  const int last = --c->users == 0;
  if (last) unlink_copy(w, c);
  (void)pthread_mutex_unlock(&w->lock);
  if (!last) return;
  vt_shared_buffer_free(c->arena);
  (void)pthread_mutex_destroy(&c->loading);
  vt_alloc_free(w->a, c, sizeof *c);
}

/* Finds the copy with this key and counts the caller as its user, or adds a new one, which the
 * caller must make: then *out_new is 1 and the caller holds `loading`. */
static vt_status find_or_add_copy(vt_weights *w, const vt_hash256 *key, vt_device_weights **out,
                                  int *out_new, vt_diag *d) {
  (void)pthread_mutex_lock(&w->lock);
  vt_device_weights *c = w->copies;
  while (c != NULL && memcmp(&c->key, key, sizeof *key) != 0) c = c->next;
  *out_new = c == NULL;
  if (c == NULL) c = vt_alloc_new(w->a, sizeof *c);
  if (c != NULL && *out_new && pthread_mutex_init(&c->loading, NULL) != 0) {
    vt_alloc_free(w->a, c, sizeof *c);
    c = NULL;
  }
  if (c != NULL) c->users++;
  if (c != NULL && *out_new) {
    c->key = *key;
    c->next = w->copies;
    w->copies = c;
    (void)pthread_mutex_lock(&c->loading); /* nobody else knows the copy yet */
  }
  (void)pthread_mutex_unlock(&w->lock);
  *out = c;
  return c != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

/* Takes a copy that failed out of the list, so that nobody finds it any more. */
static void retire_copy(vt_weights *w, const vt_device_weights *c) {
  (void)pthread_mutex_lock(&w->lock);
  unlink_copy(w, c);
  (void)pthread_mutex_unlock(&w->lock);
}

vt_status vt_device_weights_get(const vt_weights_load *l, vt_device_weights **out, vt_diag *d) {
  *out = NULL;
  if (!vt_device_can_share_buffers(l->dev)) return VT_OK;
  const vt_hash256 key = key_of(l);
  for (;;) {
    vt_device_weights *c = NULL;
    int is_new = 0;
    VT_TRY(find_or_add_copy(l->weights, &key, &c, &is_new, d));
    if (!is_new) (void)pthread_mutex_lock(&c->loading);
    const vt_status s = is_new ? make_copy(l, c, d) : VT_OK;
    const int loaded = c->loaded;
    if (s != VT_OK) retire_copy(l->weights, c);
    (void)pthread_mutex_unlock(&c->loading);
    if (loaded) {
      *out = c;
      return VT_OK;
    }
    vt_device_weights_release(l->weights, c);
    if (s != VT_OK) return s;
  }
}

const vt_shared_buffer *vt_device_weights_arena(const vt_device_weights *c) {
  return c != NULL ? c->arena : NULL;
}

vt_status vt_weights_fill(const vt_weights_load *l, const vt_device_weights *c, vt_exec *x,
                          vt_diag *d) {
  if (c == NULL) VT_TRY(load_params(l->weights, l->plan, NULL, x, 0, d));
  return load_params(l->weights, l->plan, NULL, x, 1, d);
}

vt_status vt_weights_check_shapes(const vt_weights *w, const vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    const vt_weight_entry *e;
    if (port->kind != VT_PORT_PARAM) continue;
    VT_TRY(find_param(w, port->name, &e, d));
    VT_TRY(check_shape(e, &p->g->values[port->value].type, &p->g->dims, d));
  }
  return VT_OK;
}
