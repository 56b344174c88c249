/* SPDX-License-Identifier: Apache-2.0
 * device.c - opens a backend's device by name. It checks the table of functions and the
 * capabilities, so that the rest of the gateway can rely on them. Every call to a backend is made
 * in the numerics environment, whatever floating-point mode the host program is in. It also lists
 * the backends of the registry, the table of backends built into the library. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "guard.h"
#include "plugin.h"
#include "registry.h"
#include "table.h"

_Static_assert((int)VT_TABLE_ALIGNMENT == (int)VT_PLAN_ALIGNMENT,
               "plans align tensors as backends may ask");

/* ---- the functions that the host offers to backends ---- */

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  const vt_device *dev = user;
  if (new_size > SIZE_MAX || old_size > SIZE_MAX) return NULL;
  return dev->a.resize(dev->a.user, p, (size_t)old_size, (size_t)new_size);
}

static void host_store_reason(void *user, int32_t status, const char *text) {
  vt_device *dev = user;
  (void)status;
  snprintf(dev->reason, sizeof dev->reason, "%s", text != NULL ? text : "");
}

static void host_step_done(void *user, uint64_t step) {
  const vt_device *dev = user;
  if (dev->running != NULL) vt_exec_step_done(dev->running, step);
}

static void host_forward_note(void *user, const char *text) {
  const vt_device *dev = user;
  vt_guard guard;
  if (dev->note == NULL || text == NULL) return;
  vt_guard_enter(&guard);
  dev->note(dev->note_user, text);
  vt_guard_leave(&guard); /* restores the mode that the listener may have changed */
}

/* 1 for a status that a backend may return. The other statuses, for differing results, files, usage
 * and broken invariants, have exit codes of their own, and only the host may report them. */
static int is_backend_status(int32_t status) {
  return status == VT_UNSUPPORTED || status == VT_BACKEND || status == VT_ABI || status == VT_NOMEM;
}

vt_status vt_device_fail_call(vt_device *dev, int32_t status, const char *what, vt_diag *d) {
  const vt_status s = is_backend_status(status) ? (vt_status)status : VT_BACKEND;
  char odd[40] = "";
  if (!is_backend_status(status)) snprintf(odd, sizeof odd, " (it answers %d)", (int)status);
  (void)VT_FAIL(d, s, "backend '%s' cannot %s: %s%s", dev->name, what,
                dev->reason[0] != 0 ? dev->reason : vt_status_text(s), odd);
  dev->reason[0] = 0; /* the reason must not appear in a later message */
  return s;
}

static void init_host_functions(vt_device *dev, const vt_device_options *how, vt_alloc a) {
  dev->a = a.resize != NULL ? a : vt_alloc_default();
  dev->host = (vt_bk_host){.size = sizeof dev->host,
                           .abi_major = VT_BK_ABI_MAJOR,
                           .user = dev,
                           .resize = host_resize,
                           .diag = host_store_reason,
                           .progress = host_step_done,
                           .threads = how->threads,
                           .measure = how->measure != 0,
                           .note = host_forward_note};
  dev->note = how->note;
  dev->note_user = how->note_user;
  if (how->cache != NULL && strlen(how->cache) < sizeof dev->cache) {
    memcpy(dev->cache, how->cache, strlen(how->cache) + 1);
    dev->host.cache = dev->cache;
    dev->host.cache_bytes = how->cache_bytes;
  }
  if (how->isa == NULL) return;
  snprintf(dev->isa, sizeof dev->isa, "%s", how->isa);
  dev->host.isa = dev->isa;
}

/* ---- finding and checking a backend ---- */

static vt_status load_table(vt_device *dev, const vt_registry_row *row, vt_diag *d) {
  char text[VT_TABLE_TEXT];
  const vt_bk_api *api = row->query(&dev->host);
  const char *fault = vt_table_find_fault(api, text);
  if (fault != NULL)
    return VT_FAIL(d, VT_ABI, "backend '%s' does not offer the whole of ABI version %u: %s",
                   row->name, VT_BK_ABI_MAJOR, fault);
  dev->api = api;
  return VT_OK;
}

static vt_status count_devices(vt_device *dev, const vt_registry_row *row, uint32_t *out,
                               vt_diag *d) {
  VT_TRY(load_table(dev, row, d));
  const int32_t s = dev->api->device_count(&dev->host, out);
  return s == VT_OK ? VT_OK : vt_device_fail_call(dev, s, "count its devices", d);
}

vt_status vt_registry_backend_at(uint32_t i, const char **out_name, uint32_t *out_devices,
                                 vt_diag *d) {
  const vt_registry_row *row = vt_registry_row_at(i);
  vt_device probe = {0};
  const vt_device_options plain = {0};
  uint32_t devices = 0;
  if (row == NULL) return VT_FAIL(d, VT_BACKEND, "there is no backend number %u", i);
  init_host_functions(&probe, &plain, vt_alloc_default());
  snprintf(probe.name, sizeof probe.name, "%s", row->name);
  vt_guard guard;
  vt_guard_enter(&guard);
  const vt_status s = count_devices(&probe, row, &devices, d);
  vt_guard_leave(&guard);
  if (s != VT_OK) return s;
  *out_name = row->name;
  *out_devices = devices;
  return VT_OK;
}

static vt_status fail_unknown_name(const char *name, vt_diag *d) {
  char known[120] = "";
  for (uint32_t i = 0; i < vt_registry_backend_count(); i++) {
    const size_t n = strlen(known);
    snprintf(known + n, sizeof known - n, "%s%s", i == 0 ? "" : ", ", vt_registry_row_at(i)->name);
  }
  const vt_status s = VT_FAIL(
      d, VT_BACKEND, "there is no backend '%.60s'; there are: %s, and gpu, auto", name, known);
  const size_t n = strlen(name);
  if (d != NULL && d->hint[0] == 0 && n > 3 && strcmp(name + n - 3, ".so") == 0)
    snprintf(d->hint, sizeof d->hint, "a plug-in is named by a path, as in ./%.100s", name);
  return s;
}

/* Splits "name" or "name:ordinal"; returns the length of the name, or 0 if the text after the colon
 * is not a number of at most four digits. */
static size_t split_name(const char *name, uint32_t *out_ordinal) {
  const char *colon = strrchr(name, ':');
  *out_ordinal = 0;
  if (colon == NULL) return strlen(name);
  const size_t digits = strspn(colon + 1, "0123456789");
  if (digits == 0 || digits > 4 || colon[1 + digits] != 0) return 0;
  for (size_t i = 1; i <= digits; i++)
    *out_ordinal = *out_ordinal * 10 + (uint32_t)(colon[i] - '0');
  return (size_t)(colon - name);
}

static const vt_registry_row *find_registry_row(const char *name, size_t n) {
  for (uint32_t i = 0; i < vt_registry_backend_count(); i++) {
    const vt_registry_row *row = vt_registry_row_at(i);
    if (strlen(row->name) == n && memcmp(row->name, name, n) == 0) return row;
  }
  return NULL;
}

/* The first backend of a kind that has a device, or NULL. */
static const vt_registry_row *first_row_of_kind(vt_kind kind) {
  for (uint32_t i = 0; i < vt_registry_backend_count(); i++) {
    const vt_registry_row *row = vt_registry_row_at(i);
    const char *name;
    uint32_t devices = 0;
    if (row->kind == kind && vt_registry_backend_at(i, &name, &devices, NULL) == VT_OK &&
        devices > 0)
      return row;
  }
  return NULL;
}

const char *vt_registry_first_of_kind(vt_kind kind) {
  const vt_registry_row *row = first_row_of_kind(kind);
  return row != NULL ? row->name : NULL;
}

static vt_status fail_no_gpu(vt_diag *d) {
  const vt_status s =
      VT_FAIL(d, VT_BACKEND, "there is no GPU that a backend of this build can use");
  if (d != NULL && d->hint[0] == 0)
    snprintf(d->hint, sizeof d->hint, "--fallback cpu runs on the CPU instead, with the same bits");
  return s;
}

/* Reads the capabilities into the device. Only the free memory among them changes; exec.c reads it
 * again before it takes memory. */
static vt_status read_caps(vt_device *dev, vt_diag *d) {
  char text[VT_TABLE_TEXT];
  vt_bk_caps caps = {.size = sizeof caps};
  const int32_t s = dev->api->capabilities(dev->dev, &caps);
  if (s != VT_OK) return vt_device_fail_call(dev, s, "state its capabilities", d);
  const char *fault = vt_caps_find_fault(&caps, text);
  if (fault != NULL)
    return VT_FAIL(d, VT_ABI, "backend '%s' states impossible capabilities: %s", dev->name, fault);
  vt_caps_clear_unwritten(&caps);
  dev->caps = caps;
  return VT_OK;
}

/* The index of an instruction set in the entries of vt_proofs; VT_PROOF_ISAS if no entry is left.
 * Each instruction set has its own entry, because its kernels differ and must be probed. */
static uint32_t find_or_add_isa(const char *isa) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char known[VT_PROOF_ISAS][sizeof((vt_device *)0)->isa];
  uint32_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < VT_PROOF_ISAS && strcmp(known[i], isa) != 0 && (i == 0 || known[i][0] != 0)) i++;
  if (i < VT_PROOF_ISAS) snprintf(known[i], sizeof known[i], "%s", isa);
  pthread_mutex_unlock(&lock);
  return i;
}

static _Atomic uint64_t *entry_of_confirmed_caps(const vt_device *dev, vt_proofs *p,
                                                 uint32_t ordinal) {
  const uint32_t slot = find_or_add_isa(dev->isa);
  return ordinal < VT_PROOFS && slot < VT_PROOF_ISAS ? &p->confirmed[ordinal][slot] : NULL;
}

static vt_status open_device(vt_device *dev, const vt_registry_row *row, uint32_t ordinal,
                             vt_diag *d) {
  uint32_t devices = 0;
  snprintf(dev->name, sizeof dev->name, "%s:%u", row->name, ordinal);
  VT_TRY(count_devices(dev, row, &devices, d));
  if (devices == 0 && dev->reason[0] != 0)
    return VT_FAIL(d, VT_BACKEND, "backend '%s' has no usable device: %s", row->name, dev->reason);
  if (ordinal >= devices)
    return VT_FAIL(d, VT_BACKEND, "backend '%s' has %u device%s, there is no number %u", row->name,
                   devices, devices == 1 ? "" : "s", ordinal);
  vt_bk_device *opened = NULL; /* set by the backend; read only if the call succeeds */
  const int32_t s = dev->api->device_open(&dev->host, ordinal, &opened);
  if (s != VT_OK) return vt_device_fail_call(dev, s, "open its device", d);
  if (opened == NULL)
    return VT_FAIL(d, VT_ABI, "backend '%s' reports an open device but returns none", dev->name);
  dev->dev = opened;
  dev->kind = row->kind;
  dev->proven = entry_of_confirmed_caps(dev, row->proofs, ordinal);
  vt_guard_count_event(VT_COUNT_DEVICES);
  return read_caps(dev, d);
}

static vt_status open_device_guarded(vt_device *dev, const vt_registry_row *row, uint32_t ordinal,
                                     vt_diag *d) {
  vt_guard guard;
  vt_guard_enter(&guard);
  const vt_status s = open_device(dev, row, ordinal, d);
  vt_guard_leave(&guard);
  return s;
}

/* Adds the digest of the plug-in's file to the fingerprint. So a plan for a plug-in is valid only
 * for this build of it: another build may behave differently under the same fingerprint. */
static void set_plugin_fingerprint(vt_device *dev, const vt_plugin *p) {
  char hex[65];
  vt_hash_hex(&p->image.hash, hex);
  snprintf(dev->print, sizeof dev->print, "%s %s", hex, dev->caps.fingerprint);
  dev->caps.fingerprint = dev->print;
}

size_t vt_device_path_length(const char *name, uint32_t *out_ordinal) {
  const size_t n = split_name(name, out_ordinal);
  return n != 0 ? n : strlen(name);
}

static vt_status split_plugin_name(const char *name, char path[VT_PLUGIN_PATH], uint32_t *ordinal,
                                   vt_diag *d) {
  const size_t n = vt_device_path_length(name, ordinal);
  if (n >= VT_PLUGIN_PATH)
    return VT_FAIL(d, VT_BACKEND, "the path of a plug-in is longer than %d bytes: '%.60s...'",
                   VT_PLUGIN_PATH - 1, name);
  memcpy(path, name, n);
  path[n] = 0;
  return VT_OK;
}

/* Opens a device of a plug-in. A name is the path of a plug-in exactly if it has a slash. */
static vt_status open_device_of_plugin(vt_device *dev, const char *name,
                                       const vt_device_options *how, vt_diag *d) {
  uint32_t ordinal;
  char shown[VT_PLUGIN_NAME], path[VT_PLUGIN_PATH];
  vt_plugin *plugin = NULL;
  VT_TRY(split_plugin_name(name, path, &ordinal, d));
  VT_TRY(vt_plugin_load(path, ordinal, how, &plugin, d));
  vt_plugin_display_name(path, shown);
  const vt_registry_row row = {shown, plugin->query, VT_KIND_TEST, &plugin->proofs};
  dev->plugin = plugin;
  VT_TRY(open_device_guarded(dev, &row, ordinal, d));
  const vt_plugin_candidate b = {.path = path,
                                 .device = ordinal,
                                 .content = &plugin->image.hash,
                                 .isa = how->isa,
                                 .fingerprint = dev->caps.fingerprint,
                                 .has = dev->caps.has};
  int certified;
  VT_TRY(vt_plugin_check_admission(&b, how, &certified, d));
  dev->unadmitted = !certified;
  set_plugin_fingerprint(dev, plugin);
  return VT_OK;
}

vt_status vt_device_hold_plugin(const vt_device *dev, const char *name, vt_hold **out, vt_diag *d) {
  char path[VT_PLUGIN_PATH];
  uint32_t ordinal;
  *out = NULL;
  if (dev->plugin == NULL) return VT_OK;
  VT_TRY(split_plugin_name(name, path, &ordinal, d));
  return vt_plugin_hold(dev->plugin, path, out, d);
}

static int names_gpu(const char *name, size_t n) { return n == 3 && memcmp(name, "gpu", 3) == 0; }

int vt_registry_knows_name(const char *name) {
  uint32_t ordinal;
  if (strchr(name, '/') != NULL) return 1;
  const size_t n = split_name(name, &ordinal);
  return names_gpu(name, n) || find_registry_row(name, n) != NULL;
}

static vt_status open_by_name(vt_device *dev, const char *name, const vt_device_options *how,
                              vt_diag *d) {
  uint32_t ordinal;
  if (strchr(name, '/') != NULL) return open_device_of_plugin(dev, name, how, d);
  const size_t n = split_name(name, &ordinal);
  const vt_registry_row *row = find_registry_row(name, n);
  if (names_gpu(name, n)) {
    row = first_row_of_kind(VT_KIND_GPU);
    if (row == NULL) return fail_no_gpu(d);
  }
  if (row == NULL && n == 3 && memcmp(name, "cpu", 3) == 0) row = first_row_of_kind(VT_KIND_CPU);
  return row != NULL ? open_device_guarded(dev, row, ordinal, d) : fail_unknown_name(name, d);
}

vt_status vt_device_open_with_options(const vt_device_options *how, const char *name, vt_alloc a,
                                      vt_device **out, vt_diag *d) {
  const uint64_t begin = vt_phase_begin();
  vt_device *dev = vt_alloc_new(a, sizeof *dev);
  if (dev == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  init_host_functions(dev, how, a);
  const vt_status s = open_by_name(dev, name, how, d);
  if (s == VT_OK) {
    vt_phase_end(dev, "device", begin);
    *out = dev;
  } else {
    vt_device_close(dev);
  }
  return s;
}

vt_status vt_device_open(const char *name, vt_alloc a, vt_device **out, vt_diag *d) {
  const vt_device_options strict = {0};
  return vt_device_open_with_options(&strict, name, a, out, d);
}

void vt_device_close(vt_device *dev) {
  if (dev == NULL) return;
  const vt_alloc a = dev->a;
  vt_guard guard;
  vt_guard_enter(&guard);
  if (dev->dev != NULL) dev->api->device_close(dev->dev);
  vt_guard_leave(&guard);
  vt_alloc_free(a, dev, sizeof *dev);
}

void vt_device_set_note_listener(vt_device *dev, void (*note)(void *user, const char *text),
                                 void *user) {
  dev->note = note;
  dev->note_user = user;
}

const char *vt_device_name(const vt_device *dev) { return dev->name; }
vt_kind vt_device_kind(const vt_device *dev) { return dev->kind; }

const vt_hash256 *vt_device_plugin_digest(const vt_device *dev) {
  return dev->plugin != NULL ? &dev->plugin->image.hash : NULL;
}

int vt_device_unadmitted(const vt_device *dev) { return dev->unadmitted; }
const char *vt_device_isa(const vt_device *dev) { return dev->isa; }

uint64_t vt_device_proven_caps(const vt_device *dev) {
  return dev->proven != NULL ? atomic_load(dev->proven) : 0;
}

void vt_device_add_proven_caps(vt_device *dev, uint64_t caps) {
  if (dev->proven != NULL) atomic_fetch_or(dev->proven, caps);
}

const vt_bk_caps *vt_device_caps(const vt_device *dev) { return &dev->caps; }

int vt_device_lists_op(const void *dev, uint32_t op) {
  const vt_device *x = dev;
  vt_guard guard;
  vt_guard_enter(&guard);
  const int32_t listed = x->api->op_listed(x->dev, op);
  vt_guard_leave(&guard);
  return listed == 1;
}

/* Writes the name of the kernel variant that the backend gives for an op, or "" unless the name is
 * one short word of lower-case letters. */
void vt_device_kernel_variant(const vt_device *dev, uint32_t op, char out[VT_DEVICE_VARIANT]) {
  vt_guard guard;
  out[0] = 0;
  if (!VT_BK_HAS(dev->api, vt_bk_api, op_way)) return;
  vt_guard_enter(&guard);
  const char *word = dev->api->op_way(dev->dev, op);
  vt_guard_leave(&guard);
  const size_t n = word != NULL ? strnlen(word, VT_DEVICE_VARIANT) : 0;
  if (n == 0 || n == VT_DEVICE_VARIANT || strspn(word, "abcdefghijklmnopqrstuvwxyz") != n) return;
  memcpy(out, word, n + 1);
}

static vt_status target_workspace(void *self, const vt_bk_step *step, uint64_t *out, vt_diag *d) {
  vt_device *dev = self;
  vt_guard guard;
  vt_guard_enter(&guard);
  const int32_t s = dev->api->workspace(dev->dev, step, out);
  vt_guard_leave(&guard);
  return s == VT_OK ? VT_OK : vt_device_fail_call(dev, s, "size its scratch", d);
}

static vt_status ask_for_kept_bytes(void *self, const vt_bk_step *steps, uint64_t n, uint64_t *out,
                                    vt_diag *d) {
  vt_device *dev = self;
  vt_guard guard;
  vt_bk_memory m = {.size = sizeof m};
  *out = 0;
  if (!VT_BK_HAS(dev->api, vt_bk_api, program_memory)) return VT_OK;
  vt_guard_enter(&guard);
  const int32_t s = dev->api->program_memory(dev->dev, steps, n, &m);
  vt_guard_leave(&guard);
  if (s != VT_OK) return vt_device_fail_call(dev, s, "say what memory it keeps", d);
  *out = m.size >= offsetof(vt_bk_memory, host) ? m.device : 0;
  return VT_OK;
}

vt_target vt_device_target(vt_device *dev) {
  return (vt_target){.fingerprint = dev->caps.fingerprint,
                     .dense_only = dev->caps.dense_only != 0,
                     .self = dev,
                     .workspace = target_workspace,
                     .kept = ask_for_kept_bytes};
}
