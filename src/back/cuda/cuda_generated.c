/* SPDX-License-Identifier: Apache-2.0
 * cuda_generated.c - generated kernels, compiled by NVRTC: one module per source text and card for
 * the whole process. The first thread that needs a text compiles it; others that need the same text
 * wait. Different texts are compiled in parallel. */
#include "cuda_generated.h"
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cuda_cache.h"
#include "cuda_images.h"
#include "cuda_nvrtc.h"

/* An entry per text and card. A text that could not be compiled keeps its entry, with function
 * NULL, so that it is not tried again. */
typedef struct generated {
  struct generated *next;
  const vt_cuda_card *card;
  vt_hash256 text;
  int busy; /* 1 while a thread compiles the text */
  void *function;
} generated;
/* most entries; there is a limit because modules are never unloaded */
enum { MAX_ENTRIES = 1 << 14 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list below */
static pthread_cond_t entry_done = PTHREAD_COND_INITIALIZER;
static generated *entries;
static uint32_t n_entries;

/* A request for the kernel of a text. */
typedef struct request {
  const vt_bk_device *dev;
  const char *text, *name, *otherwise;
  vt_cuda_cache cache;
  vt_hash256 key; /* key of the cubin in the disk cache */
  vt_alloc a;
  char note[640]; /* note for the user, or "" */
} request;

static void set_note_if_first(request *m, const char *what, const vt_diag *why) {
  if (why->text[0] != 0 && m->note[0] == 0)
    snprintf(m->note, sizeof m->note, "%s: %s", what, why->text);
}

/* ---- the key of a cubin: a hash of everything that it depends on ---- */

static void hash_text(vt_hasher *h, const char *text) {
  vt_hash_add_u64(h, strlen(text));
  vt_hash_add(h, text, strlen(text));
}

static vt_hash256 cache_key_of(const char *text, const vt_nvrtc *n, const vt_nvrtc_options *o) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u32(&h, (uint32_t)n->major);
  vt_hash_add_u32(&h, (uint32_t)n->minor);
  vt_hash_add_u32(&h, (uint32_t)o->n);
  /* the architecture is one of the option words */
  for (int i = 0; i < o->n; i++) hash_text(&h, o->word[i]);
  for (uint32_t i = 0; i < vt_cuda_texts_count; i++) {
    hash_text(&h, vt_cuda_texts[i].name);
    hash_text(&h, vt_cuda_texts[i].text);
  }
  hash_text(&h, text);
  return vt_hash_done(&h);
}

/* ---- compiling ---- */

static vt_status load_cubin(const request *m, const vt_text *cubin, void **function, vt_diag *d) {
  const vt_cu *cu = vt_cuda_card_driver(m->dev->card);
  char text[VT_CU_TEXT];
  void *module = NULL;
  int e = cu->cuModuleLoadData(&module, cubin->s);
  if (e == VT_CU_SUCCESS) e = cu->cuModuleGetFunction(function, module, m->name);
  if (e == VT_CU_SUCCESS) return VT_OK;
  if (module != NULL) (void)cu->cuModuleUnload(module);
  return VT_FAIL(d, e == VT_CU_OUT_OF_MEMORY ? VT_NOMEM : VT_BACKEND,
                 "the GPU does not load it: %s", vt_cu_error_text(cu, e, text));
}

/* Loads a kernel from the disk cache. Any problem with the cached file leads to a new compilation.
 */
static vt_status load_cached(request *m, void **function) {
  vt_diag why = {0};
  vt_text cubin;
  int there = 0;
  vt_text_init(&cubin, m->a);
  vt_status s = vt_cuda_cache_find(&m->cache, &m->key, &cubin, &there, &why);
  if (s == VT_OK) s = there ? load_cubin(m, &cubin, function, &why) : VT_BACKEND;
  vt_text_done(&cubin);
  set_note_if_first(m, "a cached kernel is ignored", &why);
  return s;
}

static void store_in_cache(request *m, const vt_text *cubin) {
  vt_diag why = {0};
  if (vt_cuda_cache_store(&m->cache, &m->key, cubin->s, cubin->n, m->a, &why) != VT_OK)
    set_note_if_first(m, "a kernel is not cached", &why);
}

static vt_status compile_text(request *m, const vt_nvrtc *n, const vt_nvrtc_options *o,
                              void **function) {
  vt_diag why = {0};
  vt_text cubin;
  vt_text_init(&cubin, m->a);
  vt_status s = vt_nvrtc_compile(n, m->text, o, &cubin, &why);
  if (s == VT_OK) s = load_cubin(m, &cubin, function, &why);
  if (s == VT_OK && m->cache.folder != NULL) store_in_cache(m, &cubin);
  vt_text_done(&cubin);
  if (s != VT_OK) set_note_if_first(m, m->otherwise, &why);
  return s;
}

static vt_status find_or_compile(request *m, void **function) {
  const vt_cuda_traits *t = vt_cuda_card_traits(m->dev->card);
  const vt_nvrtc *n;
  vt_nvrtc_options o;
  /* a missing NVRTC is not noted; `volta doctor` reports it */
  if (vt_nvrtc_get(&n, NULL) != VT_OK) return VT_BACKEND;
  vt_nvrtc_options_init(&o, t->major * 10 + t->minor, VT_NVRTC_CUBIN);
  m->key = cache_key_of(m->text, n, &o);
  if (m->cache.folder != NULL && load_cached(m, function) == VT_OK) return VT_OK;
  return compile_text(m, n, &o, function);
}

/* ---- the list of entries ---- */

/* entries outlive the host, so they do not use its allocator */
static vt_alloc process_alloc(void) { return vt_alloc_default(); }

static generated *find_entry(const vt_cuda_card *card, const vt_hash256 *text) {
  generated *at = entries;
  while (at != NULL && (at->card != card || memcmp(&at->text, text, sizeof *text) != 0))
    at = at->next;
  return at;
}

/* Returns the finished entry of a text; if another thread compiles the text, waits for it. If there
 * is no entry, adds one and sets *must_compile: the caller must compile the text. NULL if the list
 * is full or memory ran out. */
static generated *claim_entry(const vt_cuda_card *card, const vt_hash256 *text, int *must_compile) {
  generated *one;
  *must_compile = 0;
  pthread_mutex_lock(&lock);
  while ((one = find_entry(card, text)) != NULL && one->busy) pthread_cond_wait(&entry_done, &lock);
  if (one == NULL && n_entries < MAX_ENTRIES &&
      (one = vt_alloc_new(process_alloc(), sizeof *one)) != NULL) {
    *one = (generated){.next = entries, .card = card, .text = *text, .busy = 1};
    entries = one;
    n_entries++;
    *must_compile = 1;
  }
  pthread_mutex_unlock(&lock);
  return one;
}

static void remove_entry(generated *one) {
  generated **at = &entries;
  while (*at != one) at = &(*at)->next;
  *at = one->next;
  n_entries--;
  vt_alloc_free(process_alloc(), one, sizeof *one);
}

/* Completes an entry. After an allocation failure it is removed, so that the next program tries
 * again. */
static void *complete_entry(generated *one, vt_status s, void *function) {
  if (s != VT_OK) function = NULL;
  pthread_mutex_lock(&lock);
  if (s == VT_NOMEM) {
    remove_entry(one);
  } else {
    one->function = function;
    one->busy = 0;
  }
  pthread_cond_broadcast(&entry_done);
  pthread_mutex_unlock(&lock);
  return function;
}

static int32_t get_kernel(const vt_bk_device *dev, const char *text, const char *name,
                          const char *otherwise, void **out_function) {
  const vt_bk_host *host = dev->host;
  const vt_hash256 hash = vt_hash_bytes(text, strlen(text));
  request m = {.dev = dev,
               .text = text,
               .name = name,
               .otherwise = otherwise,
               .a = vt_cuda_host_allocator(host)};
  int mine;
  if (host->size >= offsetof(vt_bk_host, cache_bytes) + sizeof host->cache_bytes)
    m.cache = (vt_cuda_cache){host->cache, host->cache_bytes};
  generated *const one = claim_entry(dev->card, &hash, &mine);
  void *function = one != NULL && !mine ? one->function : NULL;
  if (mine) {
    const vt_status s = find_or_compile(&m, &function);
    function = complete_entry(one, s, function);
  }
  if (m.note[0] != 0) vt_cuda_send_note(dev, m.note);
  if (function == NULL) return VT_UNSUPPORTED;
  *out_function = function;
  return VT_OK;
}

/* ---- names ---- */

enum { NAME = 40 };

static void name_kernel(const char *prefix, const vt_text *text, char out[NAME]) {
  const vt_hash256 hash = vt_hash_bytes(text->s, text->n);
  char hex[65];
  vt_hash_hex(&hash, hex);
  snprintf(out, NAME, "%s_%.16s", prefix, hex);
}

int32_t vt_cuda_generated_get(const vt_bk_device *dev, const vt_cuda_source *source,
                              void **out_function) {
  char name[NAME];
  vt_text plain, text;
  int32_t status = VT_NOMEM;
  vt_text_init(&plain, vt_cuda_host_allocator(dev->host));
  vt_text_init(&text, vt_cuda_host_allocator(dev->host));
  source->write(source->what, source->prefix, &plain);
  if (vt_text_status(&plain) == VT_OK) {
    name_kernel(source->prefix, &plain, name);
    source->write(source->what, name, &text);
    if (vt_text_status(&text) == VT_OK)
      status = get_kernel(dev, text.s, name, source->otherwise, out_function);
  }
  vt_text_done(&text);
  vt_text_done(&plain);
  return status;
}
