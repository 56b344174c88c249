/* SPDX-License-Identifier: Apache-2.0
 * cache.c - plans that were made before: the youngest in memory, more of them on disk; and trials
 * of devices that passed. The hash of
 * a key only says where to look; what is found there is used if the whole key is the same. The lock
 * is held for the list and the counts, never while a file is read or written or somebody is told.
 */
#include "cache.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "vt_store.h"

static const uint64_t default_memory = (uint64_t)64 << 20, default_disk = (uint64_t)256 << 20;

struct vt_cache {
  vt_alloc a;
  uint32_t digits;
  uint64_t limit; /* of what is in memory */
  vt_store store;
  char dir[4096]; /* where the store is, from the root; "": nowhere that can be said */
  void (*note)(void *user, const char *text);
  void *note_user;
  pthread_mutex_t lock; /* of what follows */
  vt_kept *newest, *oldest;
  vt_cache_counts counts;
};

/* ---- making ---- */

void vt_cache_note(void *cache, const char *text) {
  vt_cache *c = cache;
  (void)pthread_mutex_lock(&c->lock);
  c->counts.ignored++;
  (void)snprintf(c->counts.reason, sizeof c->counts.reason, "%s", text);
  (void)pthread_mutex_unlock(&c->lock);
  if (c->note != NULL) c->note(c->note_user, text);
}

static void tell(vt_cache *c, const char *what, const char *name, const vt_diag *why) {
  char text[sizeof c->counts.reason];
  (void)snprintf(text, sizeof text, "%s %.160s: %.280s", what, name, why->text);
  vt_cache_note(c, text);
}

/* A backend opens the folder by its path, when the process may be in another one. What does not fit
 * is no path: nothing of a backend's is kept then. */
static void keep_path(vt_cache *c, const char *path) {
  const size_t room = sizeof c->dir;
  size_t n = 0;
  if (path[0] != '/') {
    if (getcwd(c->dir, room - 1) == NULL) {
      c->dir[0] = 0; /* it may be anything */
      return;
    }
    n = strlen(c->dir);
    c->dir[n++] = '/';
  }
  const int written = snprintf(c->dir + n, room - n, "%s", path);
  if (written < 0 || (size_t)written >= room - n) c->dir[0] = 0;
}

static void open_store(vt_cache *c, const char *path, uint64_t limit) {
  vt_diag why = {0};
  if (vt_store_open(&c->store, path, limit, &why) != VT_OK)
    tell(c, "no plans are kept in", path, &why);
  else
    keep_path(c, path);
}

vt_status vt_cache_make(const vt_cache_options *o, uint32_t digits, vt_cache **out, vt_diag *d) {
  vt_cache_options options = {0};
  if (o != NULL) memcpy(&options, o, o->size < sizeof options ? o->size : sizeof options);
  const int given = options.alloc != NULL && options.alloc->resize != NULL;
  const vt_alloc a = given ? *options.alloc : vt_alloc_default();
  vt_cache *c = vt_alloc_new(a, sizeof *c);
  if (c == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (pthread_mutex_init(&c->lock, NULL) != 0) {
    vt_alloc_free(a, c, sizeof *c);
    return VT_FAIL(d, VT_NOMEM, "the system has no room for a lock");
  }
  c->a = a;
  c->digits = digits;
  c->limit = options.memory_bytes != 0 ? options.memory_bytes : default_memory;
  c->note = options.note;
  c->note_user = options.note_user;
  c->store.folder = -1;
  const uint64_t disk = options.disk_bytes != 0 ? options.disk_bytes : default_disk;
  if (options.dir != NULL) open_store(c, options.dir, disk);
  *out = c;
  return VT_OK;
}

vt_status vt_cache_new(const vt_cache_options *o, vt_cache **out, vt_diag *d) {
  return vt_cache_make(o, VT_CACHE_DIGITS, out, d);
}

void vt_cache_free(vt_cache *c) {
  if (c == NULL) return;
  const vt_alloc a = c->a;
  for (vt_kept *k = c->newest, *next; k != NULL; k = next) {
    next = k->older;
    vt_kept_release(k);
  }
  vt_store_close(&c->store);
  (void)pthread_mutex_destroy(&c->lock);
  vt_alloc_free(a, c, sizeof *c);
}

vt_alloc vt_cache_alloc(const vt_cache *c) { return c->a; }

const char *vt_cache_folder(const vt_cache *c, uint64_t *out_most) {
  *out_most = c->store.limit;
  return c->store.folder >= 0 && c->dir[0] != 0 ? c->dir : NULL;
}

void vt_cache_info(vt_cache *c, vt_cache_counts *out) {
  (void)pthread_mutex_lock(&c->lock);
  vt_cache_counts now = c->counts;
  (void)pthread_mutex_unlock(&c->lock);
  now.size = out->size;
  now.on_disk = c->store.folder >= 0;
  now.bytes_disk = vt_store_bytes(&c->store, c->a);
  memcpy(out, &now, out->size < sizeof now ? out->size : sizeof now);
}

/* ---- in memory; the lock is held ---- */

static void unlink_kept(vt_cache *c, vt_kept *k) {
  *(k->newer != NULL ? &k->newer->older : &c->newest) = k->older;
  *(k->older != NULL ? &k->older->newer : &c->oldest) = k->newer;
  k->newer = k->older = NULL;
}

static void link_newest(vt_cache *c, vt_kept *k) {
  k->older = c->newest;
  *(c->newest != NULL ? &c->newest->newer : &c->oldest) = k;
  c->newest = k;
}

static vt_kept *find_kept(const vt_cache *c, const char *key, size_t n, const vt_hash256 *hash) {
  vt_kept *k = c->newest;
  while (k != NULL && (memcmp(&k->hash, hash, sizeof *hash) != 0 || k->n_key != n ||
                       memcmp(k->key, key, n) != 0))
    k = k->older;
  return k;
}

/* The plan is in the list already when two threads have made it at once. Returns what is to be let
 * go without the lock, chained by `older`. */
static vt_kept *add_kept(vt_cache *c, vt_kept *k) {
  vt_kept *gone = NULL;
  if (find_kept(c, k->key, k->n_key, &k->hash) != NULL) return NULL;
  k->weight = atomic_load(&k->bytes);
  if (k->weight > c->limit) return NULL;
  link_newest(c, vt_kept_hold(k));
  c->counts.bytes_memory += k->weight;
  while (c->counts.bytes_memory > c->limit) {
    vt_kept *last = c->oldest;
    unlink_kept(c, last);
    c->counts.bytes_memory -= last->weight;
    c->counts.evicted_memory++;
    last->older = gone;
    gone = last;
  }
  return gone;
}

static void keep_in_memory(vt_cache *c, vt_kept *k) {
  (void)pthread_mutex_lock(&c->lock);
  vt_kept *gone = add_kept(c, k);
  (void)pthread_mutex_unlock(&c->lock);
  while (gone != NULL) {
    vt_kept *next = gone->older;
    gone->older = NULL;
    vt_kept_release(gone);
    gone = next;
  }
}

static vt_kept *find_in_memory(vt_cache *c, const char *key, size_t n) {
  const vt_hash256 hash = vt_hash_bytes(key, n);
  (void)pthread_mutex_lock(&c->lock);
  vt_kept *k = find_kept(c, key, n, &hash);
  if (k != NULL) {
    unlink_kept(c, k);
    link_newest(c, k);
    vt_kept_hold(k);
    c->counts.hits_memory++;
  }
  (void)pthread_mutex_unlock(&c->lock);
  return k;
}

/* ---- on disk ---- */

static void count(vt_cache *c, uint64_t *which, uint64_t n) {
  (void)pthread_mutex_lock(&c->lock);
  *which += n;
  (void)pthread_mutex_unlock(&c->lock);
}

static void name_file(const vt_cache *c, const char *key, size_t n, const char *suffix,
                      char out[VT_STORE_NAME_MAX]) {
  const vt_hash256 hash = vt_hash_bytes(key, n);
  char hex[65];
  vt_hash_hex(&hash, hex);
  (void)snprintf(out, VT_STORE_NAME_MAX, "%.*s%s", (int)c->digits, hex, suffix);
}

/* NULL in *out: the file is absent, of another key, or not to be trusted. */
static vt_status find_on_disk(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                              const vt_target *t, vt_kept **out, vt_diag *d) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_file f;
  int there = 0;
  if (c->store.folder < 0) return VT_OK;
  name_file(c, key, n_key, ".plan", name);
  vt_status s = vt_store_read(&c->store, name, c->a, &there, &f, &why);
  if (s == VT_OK && !there) return VT_OK;
  if (s == VT_OK) {
    s = vt_kept_parse(f.data, f.size, key, n_key, list, t, c->a, out, &why);
    vt_file_done(&f);
  }
  if (s == VT_NOMEM) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (s == VT_OK) {
    vt_store_touch(&c->store, name);
    count(c, &c->counts.hits_disk, 1);
  } else if (s == VT_NAME) {
    count(c, &c->counts.collisions, 1);
  } else {
    tell(c, "the cached plan is ignored,", name, &why);
  }
  return VT_OK;
}

static void keep_on_disk(vt_cache *c, const vt_kept *k) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_text bytes;
  uint64_t removed = 0;
  if (c->store.folder < 0) return;
  name_file(c, k->key, k->n_key, ".plan", name);
  vt_text_init(&bytes, c->a);
  vt_kept_print(k, &bytes);
  vt_status s = vt_text_status(&bytes);
  if (s != VT_OK) s = VT_FAIL(&why, s, "out of memory");
  if (s == VT_OK) s = vt_store_write(&c->store, name, bytes.s, bytes.n, c->a, &removed, &why);
  vt_text_done(&bytes);
  if (s != VT_OK) {
    tell(c, "the plan is not kept,", name, &why);
    return;
  }
  count(c, &c->counts.stored, 1);
  count(c, &c->counts.evicted_disk, removed);
}

/* ---- trials, on disk alone: what passed in this process is known to the gateway ---- */

int vt_cache_passed(vt_cache *c, const vt_text *key) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_file f;
  int there = 0;
  if (c->store.folder < 0) return 0;
  name_file(c, key->s, key->n, ".trial", name);
  vt_status s = vt_store_read(&c->store, name, c->a, &there, &f, &why);
  if (s == VT_OK && !there) return 0;
  if (s == VT_OK) {
    if (f.size != key->n || memcmp(f.data, key->s, key->n) != 0)
      s = VT_FAIL(&why, VT_FORMAT, "it is damaged");
    vt_file_done(&f);
  }
  if (s == VT_OK) {
    vt_store_touch(&c->store, name);
    count(c, &c->counts.trials, 1);
  } else {
    tell(c, "the kept trial is ignored,", name, &why);
  }
  return s == VT_OK;
}

void vt_cache_keep_passed(vt_cache *c, const vt_text *key) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  uint64_t removed = 0;
  if (c->store.folder < 0) return;
  name_file(c, key->s, key->n, ".trial", name);
  if (vt_store_write(&c->store, name, key->s, key->n, c->a, &removed, &why) != VT_OK)
    tell(c, "the trial is not kept,", name, &why);
  count(c, &c->counts.evicted_disk, removed);
}

/* ---- both ---- */

vt_status vt_cache_find(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                        const vt_target *t, vt_kept **out, vt_diag *d) {
  vt_kept *k = find_in_memory(c, key, n_key);
  if (k == NULL) {
    VT_TRY(find_on_disk(c, key, n_key, list, t, &k, d));
    if (k != NULL) {
      keep_in_memory(c, k);
    } else {
      count(c, &c->counts.misses, 1);
    }
  }
  *out = k;
  return VT_OK;
}

void vt_cache_keep(vt_cache *c, vt_kept *k) {
  keep_in_memory(c, k);
  keep_on_disk(c, k);
}
