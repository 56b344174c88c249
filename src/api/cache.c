/* SPDX-License-Identifier: Apache-2.0
 * cache.c - the cache of plans and of passed trials of devices. The most recently used plans are in
 * memory, in a list by last use; more of them are on disk; trials are on disk only. The name of a
 * file has the first digits of its key's hash. The hash only says where to look: an entry is used
 * if its whole key is equal. `note` is the caller's callback, which gets the texts of problems. The
 * lock protects the list and the counts. It is never held while a file is read or written, or while
 * `note` runs. */
#include "cache.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "vt_store.h"

static const uint64_t default_memory = (uint64_t)64 << 20, default_disk = (uint64_t)256 << 20;

struct vt_cache {
  vt_alloc a;
  uint32_t digits; /* hexadecimal digits in the name of a file */
  uint64_t limit;  /* the most bytes that the plans in memory may take */
  vt_store store;  /* the folder; store.folder is -1 without one */
  char dir[4096];  /* absolute path of the folder; "" without a folder or if the path is too long */
  void (*note)(void *user, const char *text); /* the caller's callback for problems, or NULL */
  void *note_user;
  pthread_mutex_t lock; /* protects the fields below */
  /* The ends of the list of plans in memory, which is ordered by last use. */
  vt_cached_plan *newest, *oldest;
  vt_cache_counts counts;
};

/* ---- creation ---- */

void vt_cache_report(void *cache, const char *text) {
  vt_cache *c = cache;
  (void)pthread_mutex_lock(&c->lock);
  c->counts.ignored++;
  (void)snprintf(c->counts.reason, sizeof c->counts.reason, "%s", text);
  (void)pthread_mutex_unlock(&c->lock);
  if (c->note != NULL) c->note(c->note_user, text);
}

static void report_problem(vt_cache *c, const char *what, const char *name, const vt_diag *why) {
  char text[sizeof c->counts.reason];
  (void)snprintf(text, sizeof text, "%s %.160s: %.280s", what, name, why->text);
  vt_cache_report(c, text);
}

/* Stores the absolute path of the folder. Backends open the folder by this path later, when the
 * process may have another working directory. If the path is too long, `dir` stays empty and
 * backends get no folder. */
static void store_absolute_path(vt_cache *c, const char *path) {
  const size_t capacity = sizeof c->dir;
  size_t n = 0;
  if (path[0] != '/') {
    if (getcwd(c->dir, capacity - 1) == NULL) {
      c->dir[0] = 0; /* getcwd leaves its content undefined on failure */
      return;
    }
    n = strlen(c->dir);
    c->dir[n++] = '/';
  }
  const int written = snprintf(c->dir + n, capacity - n, "%s", path);
  if (written < 0 || (size_t)written >= capacity - n) c->dir[0] = 0;
}

static void open_folder(vt_cache *c, const char *path, uint64_t limit) {
  vt_diag why = {0};
  if (vt_store_open(&c->store, path, limit, &why) != VT_OK)
    report_problem(c, "no plans are cached in", path, &why);
  else
    store_absolute_path(c, path);
}

vt_status vt_cache_new_with_name_digits(const vt_cache_options *o, uint32_t digits, vt_cache **out,
                                        vt_diag *d) {
  vt_cache_options options = {0};
  if (o != NULL) memcpy(&options, o, o->size < sizeof options ? o->size : sizeof options);
  const int given = options.alloc != NULL && options.alloc->resize != NULL;
  const vt_alloc a = given ? *options.alloc : vt_alloc_default();
  vt_cache *c = vt_alloc_new(a, sizeof *c);
  if (c == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (pthread_mutex_init(&c->lock, NULL) != 0) {
    vt_alloc_free(a, c, sizeof *c);
    return VT_FAIL(d, VT_NOMEM, "the system cannot create another lock");
  }
  c->a = a;
  c->digits = digits;
  c->limit = options.memory_bytes != 0 ? options.memory_bytes : default_memory;
  c->note = options.note;
  c->note_user = options.note_user;
  c->store.folder = -1;
  const uint64_t disk = options.disk_bytes != 0 ? options.disk_bytes : default_disk;
  if (options.dir != NULL) open_folder(c, options.dir, disk);
  *out = c;
  return VT_OK;
}

vt_status vt_cache_new(const vt_cache_options *o, vt_cache **out, vt_diag *d) {
  return vt_cache_new_with_name_digits(o, VT_CACHE_DIGITS, out, d);
}

void vt_cache_free(vt_cache *c) {
  if (c == NULL) return;
  const vt_alloc a = c->a;
  for (vt_cached_plan *k = c->newest, *next; k != NULL; k = next) {
    next = k->older;
    vt_cached_plan_release(k);
  }
  vt_store_close(&c->store);
  (void)pthread_mutex_destroy(&c->lock);
  vt_alloc_free(a, c, sizeof *c);
}

vt_alloc vt_cache_alloc(const vt_cache *c) { return c->a; }

const char *vt_cache_folder(const vt_cache *c, uint64_t *out_limit) {
  *out_limit = c->store.limit;
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

/* ---- plans in memory; the caller holds the lock ---- */

static void unlink_from_list(vt_cache *c, vt_cached_plan *k) {
  *(k->newer != NULL ? &k->newer->older : &c->newest) = k->older;
  *(k->older != NULL ? &k->older->newer : &c->oldest) = k->newer;
  k->newer = k->older = NULL;
}

static void link_as_newest(vt_cache *c, vt_cached_plan *k) {
  k->older = c->newest;
  *(c->newest != NULL ? &c->newest->newer : &c->oldest) = k;
  c->newest = k;
}

static vt_cached_plan *find_in_list(const vt_cache *c, const char *key, size_t n,
                                    const vt_hash256 *hash) {
  vt_cached_plan *k = c->newest;
  while (k != NULL && (memcmp(&k->hash, hash, sizeof *hash) != 0 || k->n_key != n ||
                       memcmp(k->key, key, n) != 0))
    k = k->older;
  return k;
}

/* Adds a plan to the list in memory. If the list already has a plan with the same key, because two
 * threads made it at the same time, nothing is added. Returns the plans that were evicted, chained
 * by `older`; the caller releases them after unlocking. */
static vt_cached_plan *add_to_list_and_evict(vt_cache *c, vt_cached_plan *k) {
  vt_cached_plan *evicted = NULL;
  if (find_in_list(c, k->key, k->n_key, &k->hash) != NULL) return NULL;
  k->weight = atomic_load(&k->bytes);
  if (k->weight > c->limit) return NULL;
  link_as_newest(c, vt_cached_plan_retain(k));
  c->counts.bytes_memory += k->weight;
  while (c->counts.bytes_memory > c->limit) {
    vt_cached_plan *last = c->oldest;
    unlink_from_list(c, last);
    c->counts.bytes_memory -= last->weight;
    c->counts.evicted_memory++;
    last->older = evicted;
    evicted = last;
  }
  return evicted;
}

/* ---- plans in memory; the lock is taken inside ---- */

static void add_in_memory(vt_cache *c, vt_cached_plan *k) {
  (void)pthread_mutex_lock(&c->lock);
  vt_cached_plan *evicted = add_to_list_and_evict(c, k);
  (void)pthread_mutex_unlock(&c->lock);
  while (evicted != NULL) {
    vt_cached_plan *next = evicted->older;
    evicted->older = NULL;
    vt_cached_plan_release(evicted);
    evicted = next;
  }
}

static vt_cached_plan *find_in_memory(vt_cache *c, const char *key, size_t n) {
  const vt_hash256 hash = vt_hash_bytes(key, n);
  (void)pthread_mutex_lock(&c->lock);
  vt_cached_plan *k = find_in_list(c, key, n, &hash);
  if (k != NULL) {
    unlink_from_list(c, k);
    link_as_newest(c, k);
    vt_cached_plan_retain(k);
    c->counts.hits_memory++;
  }
  (void)pthread_mutex_unlock(&c->lock);
  return k;
}

/* ---- on disk ---- */

static void add_to_count(vt_cache *c, uint64_t *which, uint64_t n) {
  (void)pthread_mutex_lock(&c->lock);
  *which += n;
  (void)pthread_mutex_unlock(&c->lock);
}

static void make_file_name(const vt_cache *c, const char *key, size_t n, const char *suffix,
                           char out[VT_STORE_NAME_MAX]) {
  const vt_hash256 hash = vt_hash_bytes(key, n);
  char hex[65];
  vt_hash_hex(&hash, hex);
  (void)snprintf(out, VT_STORE_NAME_MAX, "%.*s%s", (int)c->digits, hex, suffix);
}

/* Reads the plan of a key from its file. *out stays NULL if the file is missing, has another key or
 * is not trusted. */
static vt_status find_on_disk(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                              const vt_target *t, vt_cached_plan **out, vt_diag *d) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_file f;
  int exists = 0;
  if (c->store.folder < 0) return VT_OK;
  make_file_name(c, key, n_key, ".plan", name);
  vt_status s = vt_store_read(&c->store, name, c->a, &exists, &f, &why);
  if (s == VT_OK && !exists) return VT_OK;
  if (s == VT_OK) {
    s = vt_cached_plan_parse(f.data, f.size, key, n_key, list, t, c->a, out, &why);
    vt_file_done(&f);
  }
  if (s == VT_NOMEM) return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (s == VT_OK) {
    vt_store_touch(&c->store, name);
    add_to_count(c, &c->counts.hits_disk, 1);
  } else if (s == VT_NAME) {
    add_to_count(c, &c->counts.collisions, 1);
  } else {
    report_problem(c, "the cached plan is ignored,", name, &why);
  }
  return VT_OK;
}

static void add_on_disk(vt_cache *c, const vt_cached_plan *k) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_text bytes;
  uint64_t removed = 0;
  if (c->store.folder < 0) return;
  make_file_name(c, k->key, k->n_key, ".plan", name);
  vt_text_init(&bytes, c->a);
  vt_cached_plan_print(k, &bytes);
  vt_status s = vt_text_status(&bytes);
  if (s != VT_OK) s = VT_FAIL(&why, s, "out of memory");
  if (s == VT_OK) s = vt_store_write(&c->store, name, bytes.s, bytes.n, c->a, &removed, &why);
  vt_text_done(&bytes);
  if (s != VT_OK) {
    report_problem(c, "the plan is not cached,", name, &why);
    return;
  }
  add_to_count(c, &c->counts.stored, 1);
  add_to_count(c, &c->counts.evicted_disk, removed);
}

/* ---- trials, on disk only, because the gateway knows those that passed in this process ---- */

int vt_cache_has_trial(vt_cache *c, const vt_text *key) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  vt_file f;
  int exists = 0;
  if (c->store.folder < 0) return 0;
  make_file_name(c, key->s, key->n, ".trial", name);
  vt_status s = vt_store_read(&c->store, name, c->a, &exists, &f, &why);
  if (s == VT_OK && !exists) return 0;
  if (s == VT_OK) {
    if (f.size != key->n || memcmp(f.data, key->s, key->n) != 0)
      s = VT_FAIL(&why, VT_FORMAT, "it is damaged");
    vt_file_done(&f);
  }
  if (s == VT_OK) {
    vt_store_touch(&c->store, name);
    add_to_count(c, &c->counts.trials, 1);
  } else {
    report_problem(c, "the cached trial is ignored,", name, &why);
  }
  return s == VT_OK;
}

void vt_cache_add_trial(vt_cache *c, const vt_text *key) {
  char name[VT_STORE_NAME_MAX];
  vt_diag why = {0};
  uint64_t removed = 0;
  if (c->store.folder < 0) return;
  make_file_name(c, key->s, key->n, ".trial", name);
  if (vt_store_write(&c->store, name, key->s, key->n, c->a, &removed, &why) != VT_OK)
    report_problem(c, "the trial is not cached,", name, &why);
  add_to_count(c, &c->counts.evicted_disk, removed);
}

/* ---- plans in memory and on disk ---- */

vt_status vt_cache_find_plan(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                             const vt_target *t, vt_cached_plan **out, vt_diag *d) {
  vt_cached_plan *k = find_in_memory(c, key, n_key);
  if (k == NULL) {
    VT_TRY(find_on_disk(c, key, n_key, list, t, &k, d));
    if (k != NULL) {
      add_in_memory(c, k);
    } else {
      add_to_count(c, &c->counts.misses, 1);
    }
  }
  *out = k;
  return VT_OK;
}

void vt_cache_add_plan(vt_cache *c, vt_cached_plan *k) {
  add_in_memory(c, k);
  add_on_disk(c, k);
}
