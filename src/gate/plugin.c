/* SPDX-License-Identifier: Apache-2.0
 * plugin.c - loads plug-ins, backends in files, from a path that the user gave. The content is
 * copied and sealed first, so that the bytes that are hashed, probed by a child and loaded here are
 * the same, whatever happens to the file meanwhile. No folder is ever searched. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "guard.h"
#include "plugin.h"
#include "probe.h"

/* The plug-ins loaded by this process, protected by `lock`. They are never unloaded: a plug-in may
 * have threads of its own, and its functions and strings may still be in use. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_plugin *loaded;

/* A hold: as long as it exists, its path means its plug-in, whatever the file contains by now. */
struct vt_hold {
  char path[VT_PLUGIN_PATH];
  vt_plugin *plugin;
  vt_hold *next;
};
static vt_hold *held; /* the list of all holds, protected by `lock` */

void vt_plugin_display_name(const char *path, char out[VT_PLUGIN_NAME]) {
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
  size_t n = 0;
  for (; name[n] != 0 && n + 1 < VT_PLUGIN_NAME; n++)
    out[n] = name[n] > ' ' && name[n] <= '~' && name[n] != ':' ? name[n] : '_';
  out[n] = 0;
}

/* ---- the file ---- */

static vt_status read_plugin_file(const char *path, vt_sealed *out, vt_diag *d) {
  static const char elf[4] = {0x7f, 'E', 'L', 'F'};
  vt_diag why = {0};
  char head[4] = "";
  const vt_status s = vt_sealed_read(path, VT_SEALED_MAX_BYTES, out, &why);
  if (s != VT_OK) return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: %s", path, why.text);
  if (pread(out->fd, head, sizeof head, 0) == sizeof head && memcmp(head, elf, sizeof elf) == 0)
    return VT_OK;
  vt_sealed_close(out);
  return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it is not an ELF file", path);
}

static vt_status fail_not_admitted(const vt_plugin_candidate *b, const char *why, vt_diag *d) {
  char hex[65];
  vt_hash_hex(b->content, hex);
  const vt_status s =
      VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' (content %.16s) is not admitted: %s", b->path, hex,
              why[0] != 0 ? why : "nothing shows that it gives the bits of the reference");
  if (d != NULL && d->hint[0] == 0)
    snprintf(d->hint, sizeof d->hint,
             "`volta admit` tries it and writes a certificate; --allow-unadmitted "
             "(vt_policy.admission) runs it all the same and stamps the report");
  return s;
}

vt_status vt_plugin_check_admission(const vt_plugin_candidate *b, const vt_device_options *how,
                                    int *out_certified, vt_diag *d) {
  char why[VT_WHY_BYTES] = "";
  *out_certified = how->certified != NULL && how->certified(how->user, b, why);
  if (*out_certified || how->admission == VT_ADMISSION_WAIVED) return VT_OK;
  return fail_not_admitted(b, why, d);
}

/* ---- loading into this process ---- */

/* Loads the sealed copy through the path of its descriptor. The descriptor stays open, so that no
 * other plug-in gets the same path: the loader takes two libraries with the same path for one. */
static vt_status load_library(vt_plugin *p, const char *path, vt_diag *d) {
  char through[VT_SEALED_PATH];
  vt_guard guard;
  vt_sealed_path(p->image.fd, through);
  vt_guard_enter(&guard); /* the library's constructors may change the mode of this thread */
  void *library = dlopen(through, RTLD_NOW | RTLD_LOCAL);
  vt_guard_leave(&guard);
  if (library == NULL) {
    const char *text = dlerror();
    return VT_FAIL(d, VT_BACKEND, "plug-in '%.200s' is refused: it cannot be loaded: %.200s", path,
                   text != NULL ? text : "no reason is given");
  }
  *(void **)&p->query = dlsym(library, VT_BK_SYMBOL);
  if (p->query != NULL) return VT_OK;
  dlclose(library);
  return VT_FAIL(d, VT_ABI, "plug-in '%.200s' is refused: it has no symbol " VT_BK_SYMBOL, path);
}

static vt_plugin *find_loaded_plugin(const vt_hash256 *hash) {
  vt_plugin *p = loaded;
  while (p != NULL && memcmp(p->image.hash.b, hash->b, sizeof hash->b) != 0) p = p->next;
  return p;
}

/* The bit in vt_plugin.probed of a device. Devices after the first 64 have no bit, so they are
 * probed each time. */
static uint64_t probed_bit(uint32_t ordinal) { return ordinal < 64 ? (uint64_t)1 << ordinal : 0; }

/* Probes the plug-in unless this process has probed the same content and device before. The lock is
 * not held while the child process runs, because a hanging plug-in would block threads that open
 * another. Two threads may therefore probe the same plug-in at once; both get the same answer. */
static vt_status probe_unless_known(const vt_sealed *image, uint32_t ordinal, const char *path,
                                    vt_diag *d) {
  pthread_mutex_lock(&lock);
  const vt_plugin *p = find_loaded_plugin(&image->hash);
  const int known = p != NULL && (p->probed & probed_bit(ordinal)) != 0;
  pthread_mutex_unlock(&lock);
  return known ? VT_OK : vt_probe_run(image, ordinal, path, VT_PROBE_MS, d);
}

/* Loads the plug-in and adds it to the list, which takes ownership of *image. */
static vt_status load_and_add_plugin(vt_sealed *image, const char *path, vt_plugin **out,
                                     vt_diag *d) {
  const vt_alloc a = vt_alloc_default(); /* a plug-in outlives the caller's allocator */
  vt_plugin *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  p->image = *image;
  const vt_status s = load_library(p, path, d);
  if (s != VT_OK) {
    vt_alloc_free(a, p, sizeof *p);
    return s;
  }
  *image = (vt_sealed){0};
  p->next = loaded;
  loaded = p;
  *out = p;
  return VT_OK;
}

/* Finds or loads a plug-in that has been probed; the caller holds the lock. The list is searched
 * again, because another thread may have loaded the plug-in in the meantime. */
static vt_status find_or_load_plugin(vt_sealed *image, uint32_t ordinal, const char *path,
                                     vt_plugin **out, vt_diag *d) {
  vt_plugin *p = find_loaded_plugin(&image->hash);
  if (p == NULL) VT_TRY(load_and_add_plugin(image, path, &p, d));
  p->probed |= probed_bit(ordinal);
  *out = p;
  return VT_OK;
}

/* ---- holds ---- */

vt_status vt_plugin_hold(vt_plugin *p, const char *path, vt_hold **out, vt_diag *d) {
  vt_hold *h = vt_alloc_new(vt_alloc_default(), sizeof *h);
  if (h == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  h->plugin = p;
  snprintf(h->path, sizeof h->path, "%s", path);
  pthread_mutex_lock(&lock);
  h->next = held;
  held = h;
  pthread_mutex_unlock(&lock);
  *out = h;
  return VT_OK;
}

void vt_hold_release(vt_hold *h) {
  if (h == NULL) return;
  pthread_mutex_lock(&lock);
  vt_hold **at = &held;
  while (*at != h) at = &(*at)->next;
  *at = h->next;
  pthread_mutex_unlock(&lock);
  vt_alloc_free(vt_alloc_default(), h, sizeof *h);
}

static vt_plugin *find_held_plugin(const char *path) {
  pthread_mutex_lock(&lock);
  const vt_hold *h = held;
  while (h != NULL && strcmp(h->path, path) != 0) h = h->next;
  vt_plugin *p = h != NULL ? h->plugin : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

/* Checks the admission of a plug-in that is held, and probes its device. */
static vt_status admit_held_plugin(vt_plugin *p, const char *path, uint32_t ordinal,
                                   const vt_device_options *how, vt_diag *d) {
  int certified;
  const vt_plugin_candidate b = {
      .path = path, .device = ordinal, .content = &p->image.hash, .isa = how->isa};
  VT_TRY(vt_plugin_check_admission(&b, how, &certified, d));
  VT_TRY(probe_unless_known(&p->image, ordinal, path, d));
  pthread_mutex_lock(&lock);
  p->probed |= probed_bit(ordinal);
  pthread_mutex_unlock(&lock);
  return VT_OK;
}

vt_status vt_plugin_load(const char *path, uint32_t ordinal, const vt_device_options *how,
                         vt_plugin **out, vt_diag *d) {
  vt_plugin *p = find_held_plugin(path);
  if (p != NULL) {
    VT_TRY(admit_held_plugin(p, path, ordinal, how, d));
    *out = p;
    return VT_OK;
  }
  vt_sealed image = {0};
  VT_TRY(read_plugin_file(path, &image, d));
  int certified;
  const vt_plugin_candidate b = {
      .path = path, .device = ordinal, .content = &image.hash, .isa = how->isa};
  vt_status s = vt_plugin_check_admission(&b, how, &certified, d);
  if (s == VT_OK) s = probe_unless_known(&image, ordinal, path, d);
  if (s == VT_OK) {
    pthread_mutex_lock(&lock);
    s = find_or_load_plugin(&image, ordinal, path, out, d);
    pthread_mutex_unlock(&lock);
  }
  vt_sealed_close(&image);
  return s;
}
