/* SPDX-License-Identifier: Apache-2.0
 * cpu_backend.c - the vectorised, threaded CPU backend behind the plug-in ABI. There is one device;
 * the host chooses its threads and instruction set. Its memory is the host's own. */
#include "cpu_backend.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "cpu_derived.h"
#include "vt_cpu.h"
#include "vt_memory.h"

vt_backend_query_fn vt_cpu_query;

/* ---- memory ---- */

_Static_assert(sizeof(vt_cpu_buffer_header) <= VT_CPU_LINE,
               "a block fits before the bytes it is of");

uint64_t vt_cpu_memory_size(uint64_t bytes) { return bytes + 2 * VT_CPU_LINE; }

void *vt_cpu_memory_new_uncleared(const vt_bk_host *host, uint64_t bytes) {
  const uint64_t size = vt_cpu_memory_size(bytes);
  char *base = size > bytes ? host->resize(host->user, NULL, 0, size) : NULL;
  if (base == NULL) return NULL;
  vt_memory_use_large_pages(base, (size_t)size);
  char *data = base + VT_CPU_LINE + (VT_CPU_LINE - (uintptr_t)base % VT_CPU_LINE) % VT_CPU_LINE;
  const vt_cpu_buffer_header head = {
      .size = size, .base = base, .version = vt_cpu_new_content_version()};
  memcpy(data - sizeof head, &head, sizeof head);
  return data;
}

void *vt_cpu_memory_new(const vt_bk_host *host, uint64_t bytes) {
  void *p = vt_cpu_memory_new_uncleared(host, bytes);
  if (p != NULL) memset(p, 0, (size_t)bytes);
  return p;
}

vt_cpu_buffer_header *vt_cpu_buffer_header_of(uint64_t handle) {
  return (vt_cpu_buffer_header *)(void *)((char *)(uintptr_t)handle - sizeof(vt_cpu_buffer_header));
}

void vt_cpu_memory_free(const vt_bk_host *host, void *p) {
  if (p == NULL) return;
  const vt_cpu_buffer_header head = *vt_cpu_buffer_header_of((uint64_t)(uintptr_t)p);
  host->resize(host->user, head.base, head.size, 0);
}

uint64_t vt_cpu_new_content_version(void) {
  static atomic_uint_fast64_t last;
  return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  void *p = vt_cpu_memory_new_uncleared(dev->host, bytes);
  if (p == NULL) return VT_NOMEM;
  *out_handle = (uint64_t)(uintptr_t)p;
  return VT_OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  vt_cpu_store_free(vt_cpu_buffer_header_of(handle)->store);
  vt_cpu_memory_free(dev->host, (void *)(uintptr_t)handle);
}

/* The first call, by the device that allocated the buffer, creates its store. Nothing is derived
 * from a buffer that changes. */
static int32_t buffer_share(vt_bk_device *dev, uint64_t handle, uint32_t writable) {
  if (writable) return VT_OK;
  vt_cpu_buffer_header *head = vt_cpu_buffer_header_of(handle);
  if (head->store == NULL) head->store = vt_cpu_store_new(dev->host);
  if (head->store == NULL) return VT_NOMEM;
  dev->shared = handle;
  return VT_OK;
}

/* A handle is the address of the buffer's bytes. */
static void *buffer_map(vt_bk_device *dev, uint64_t handle) {
  (void)dev;
  return (void *)(uintptr_t)handle;
}

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  if (to_device) {
    vt_cpu_buffer_header_of(handle)->version = vt_cpu_new_content_version();
    memcpy(at, host, (size_t)bytes);
  } else {
    memcpy(host, at, (size_t)bytes);
  }
  return VT_OK;
}

/* ---- the team ---- */

void vt_cpu_run_jobs(const vt_cpu_team *t, uint64_t n, vt_job_fn *fn, void *context) {
  vt_pool_run(t->pool, n, fn, context);
}

/* A thread that is polling for jobs takes half a microsecond to start one and report back; a
 * sleeping thread takes longer. Four jobs per thread even out delays of single threads. */
uint64_t vt_cpu_job_count(const vt_cpu_team *t, uint64_t items, double ns_per_item) {
  const double wake_ns = 2500;
  const double whole = (double)items * ns_per_item;
  if (t->threads == 1 || whole < 2 * wake_ns) return 1;
  uint64_t jobs = (uint64_t)t->threads * 4;
  if (whole / wake_ns < (double)jobs) jobs = (uint64_t)(whole / wake_ns);
  if (jobs < 2) jobs = 2;
  return jobs < items ? jobs : items > 0 ? items : 1;
}

int64_t vt_cpu_job_first(int64_t items, uint64_t jobs, uint64_t job) {
  const int64_t each = items / (int64_t)jobs, more = items % (int64_t)jobs, at = (int64_t)job;
  return at * each + (at < more ? at : more);
}

/* ---- devices ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return VT_OK;
}

static int32_t refuse(const vt_bk_host *host, int32_t status, const char *text) {
  if (VT_BK_HAS(host, vt_bk_host, diag)) host->diag(host->user, status, text);
  return status;
}

/* Sets *out to the kernels of the instruction set that the host asks for. The host does not know
 * the names in isa.def, so the backend reports unknown ones. */
static int32_t choose_kernels(const vt_bk_host *host, const vt_cpu_kernels **out) {
  const char *name = VT_BK_HAS(host, vt_bk_host, isa) ? host->isa : NULL;
  char text[160];
  *out = vt_cpu_kernels_of(name);
  if (*out != NULL) return VT_OK;
  if (vt_cpu_isa_known(name)) {
    snprintf(text, sizeof text, "this processor has no %s instructions", name);
    return refuse(host, VT_BACKEND, text);
  }
  snprintf(text, sizeof text, "unknown instruction set '%.60s'; known:"
#define VT_ISA(isa, has) " " #isa
#include "isa.def"
#undef VT_ISA
           ,
           name);
  return refuse(host, VT_UNSUPPORTED, text);
}

/* The number of threads to use: the host's limit, or all processors if it sets none. */
static uint32_t choose_thread_count(const vt_bk_host *host) {
  const int says = host->size >= offsetof(vt_bk_host, threads) + sizeof host->threads;
  const uint32_t asked = says ? host->threads : 0;
  const uint32_t wanted = asked != 0 ? asked : vt_cpu_get()->cores;
  if (wanted == 0) return 1;
  return wanted < VT_POOL_MAX_THREADS ? wanted : VT_POOL_MAX_THREADS;
}

static void format_about_and_fingerprint(vt_bk_device *dev) {
  const char *isa = dev->team.kernels->isa;
  snprintf(dev->about, sizeof dev->about, "vector kernels for %s, %u thread%s", isa,
           dev->team.threads, dev->team.threads == 1 ? "" : "s");
  snprintf(dev->fingerprint, sizeof dev->fingerprint, "cpu-1 %s x%u", isa, dev->team.threads);
}

static void *resize_through_host(void *user, void *ptr, size_t old_size, size_t new_size) {
  const vt_bk_host *host = user;
  return host->resize(host->user, ptr, old_size, new_size);
}

/* The allocator of the host. The cast drops `const`, but the host is never written through it. */
static vt_alloc host_allocator(const vt_bk_host *host) {
  vt_alloc a = {.resize = resize_through_host};
  memcpy(&a.user, &host, sizeof host);
  return a;
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  const vt_cpu_kernels *kernels;
  (void)ordinal;
  const int32_t s = choose_kernels(host, &kernels);
  if (s != VT_OK) return s;
  vt_bk_device *dev = vt_cpu_memory_new(host, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  dev->host = host;
  dev->team = (vt_cpu_team){.kernels = kernels, .threads = choose_thread_count(host)};
  vt_diag d = {0};
  const vt_status made = vt_pool_new(dev->team.threads, host_allocator(host), &dev->team.pool, &d);
  if (made != VT_OK) {
    vt_cpu_memory_free(host, dev);
    return refuse(host, (int32_t)made, d.text);
  }
  format_about_and_fingerprint(dev);
  *out_dev = dev;
  return VT_OK;
}

static void device_close(vt_bk_device *dev) {
  vt_pool_free(dev->team.pool);
  vt_cpu_memory_free(dev->host, dev);
}

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = VT_CPU_LINE,
                           .shares_host = 1,
                           .about = dev->about,
                           .fingerprint = dev->fingerprint,
                           .memory = out->size >= sizeof caps ? vt_memory_available() : 0,
                           .has = VT_STEPS_HAS,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING,
                           .updates_in_place = 1};
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  return vt_cpu_chain_lists_op(op) || vt_cpu_handler_of(op) != NULL;
}

static const char *op_way(vt_bk_device *dev, uint32_t op) {
  const vt_cpu_handler *h = vt_cpu_handler_of(op);
  (void)dev;
  return h != NULL ? h->kind : "vector";
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  *out_bytes = vt_cpu_step_scratch_bytes(dev, step);
  return VT_OK;
}

const vt_bk_api *vt_cpu_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "cpu",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = vt_cpu_step_check,
                                .workspace = workspace,
                                .program_build = vt_cpu_program_build,
                                .program_free = vt_cpu_program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = vt_cpu_program_run,
                                .wait = vt_cpu_program_wait,
                                .buffer_map = buffer_map,
                                .program_results = vt_cpu_program_canonicalize_results,
                                .op_way = op_way,
                                .buffer_share = buffer_share,
                                .program_memory = vt_cpu_program_memory};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}
