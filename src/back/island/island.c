/* SPDX-License-Identifier: Apache-2.0
 * island.c - a test backend: the kernels of the op table over memory that only `copy` and `run` can
 * access, like a device with memory of its own. A host that wrongly accesses buffers directly fails
 * with this backend, without a GPU.
 *   device 0  accepts any strides
 *   device 1  accepts only dense tensors
 * Each buffer has its own pages, which are inaccessible (PROT_NONE) except inside `copy` and `run`.
 * A handle is a number that does not reveal the address; handles of freed buffers are refused. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vt_memory.h"
#include "vt_steps.h"

vt_backend_query_fn vt_island_query;

/* A buffer that devices share. It is in a list of the whole process, under `lock`. Its pages are
 * accessible only while a run or a copy uses them, and only for reading unless it is writable. */
typedef struct shared_buffer {
  struct shared_buffer *next;
  uint64_t handle;
  char *pages;
  uint64_t bytes, mapped;
  uint64_t users;    /* runs and copies that use the pages now */
  uint32_t writable; /* 1: they may write, too */
} shared_buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static shared_buffer *all_shared;

/* One entry of a device's table of buffers. */
typedef struct slot {
  char *pages;           /* NULL: the slot is free */
  uint64_t bytes;        /* size of the buffer */
  uint64_t mapped;       /* size of the mapping, in whole pages, at least one */
  uint32_t generation;   /* a number that no other buffer of the process has had */
  shared_buffer *shared; /* NULL: the buffer is not shared */
} slot;

struct vt_bk_device {
  const vt_bk_host *host;
  uint32_t ordinal, n_slots;
  slot *slots;
};

struct vt_bk_program {
  vt_bk_device *dev;
  vt_steps steps;
};

static int32_t refuse(const vt_bk_device *dev, int32_t status, const char *why) {
  dev->host->diag(dev->host->user, status, why);
  return status;
}

/* ---- devices ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 2;
  return VT_OK;
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  vt_bk_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  *dev = (vt_bk_device){.host = host, .ordinal = ordinal};
  *out_dev = dev;
  return VT_OK;
}

static void unshare(const vt_bk_device *dev, shared_buffer *b) {
  (void)pthread_mutex_lock(&lock);
  shared_buffer **at = &all_shared;
  while (*at != b) at = &(*at)->next;
  *at = b->next;
  (void)pthread_mutex_unlock(&lock);
  dev->host->resize(dev->host->user, b, sizeof *b, 0);
}

static void free_slot(const vt_bk_device *dev, slot *s) {
  if (s->shared != NULL) unshare(dev, s->shared);
  if (s->pages != NULL) (void)munmap(s->pages, (size_t)s->mapped);
  *s = (slot){0};
}

static void device_close(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  for (uint32_t i = 0; i < dev->n_slots; i++) free_slot(dev, &dev->slots[i]);
  if (dev->slots != NULL)
    host->resize(host->user, dev->slots, dev->n_slots * sizeof *dev->slots, 0);
  host->resize(host->user, dev, sizeof *dev, 0);
}

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  static const char *const about[2] = {
      "scalar kernels over memory that only copies reach",
      "scalar kernels over memory that only copies reach; dense tensors only"};
  static const char *const print[2] = {"island-1 strided", "island-1 dense"};
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .dense_only = dev->ordinal == 1,
                           .shares_host = 1,
                           .about = about[dev->ordinal],
                           .fingerprint = print[dev->ordinal],
                           .memory = out->size >= sizeof caps ? vt_memory_available() : 0,
                           .has = VT_STEPS_HAS,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING,
                           .updates_in_place = 1};
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

static uint32_t accepted_steps_of(const vt_bk_device *dev) {
  return dev->ordinal == 1 ? VT_STEPS_DENSE : 0;
}

static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  return vt_steps_accepts_op(op, accepted_steps_of(dev));
}

static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  const int32_t s = vt_steps_check(step, accepted_steps_of(dev));
  if (s != VT_OK && vt_steps_check(step, 0) == VT_OK)
    return refuse(dev, s, "this device accepts only dense tensors");
  return s;
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  *out_bytes = vt_step_scratch_bytes(step, accepted_steps_of(dev));
  return VT_OK;
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  vt_bk_program *prog = dev->host->resize(dev->host->user, NULL, 0, sizeof *prog);
  if (prog == NULL) return VT_NOMEM;
  prog->dev = dev;
  const int32_t s = vt_steps_init(dev->host, steps, n_steps, accepted_steps_of(dev), &prog->steps);
  if (s == VT_OK) {
    *out_prog = prog;
  } else {
    dev->host->resize(dev->host->user, prog, sizeof *prog, 0);
  }
  return s;
}

static void program_free(vt_bk_program *prog) {
  const vt_bk_host *host = prog->dev->host;
  vt_steps_done(&prog->steps);
  host->resize(host->user, prog, sizeof *prog, 0);
}

/* ---- memory ---- */

/* A handle is, from the highest bit: the generation of the slot, the number of the device, the
 * number of the slot plus one. It is never 0, and no two buffers of a process have the same
 * handle. */
enum { MOST_SLOTS = 1 << 20 };

static uint64_t handle_of_slot(const vt_bk_device *dev, uint32_t i) {
  return (uint64_t)dev->slots[i].generation << 32 | (uint64_t)dev->ordinal << 24 | (i + 1);
}

static slot *slot_of_handle(const vt_bk_device *dev, uint64_t handle) {
  /* A handle whose low bits are 0 gives UINT32_MAX, which is past the end. */
  const uint32_t i = (uint32_t)(handle & 0xffffff) - 1;
  if (i >= dev->n_slots || dev->slots[i].pages == NULL || handle_of_slot(dev, i) != handle)
    return NULL;
  return &dev->slots[i];
}

static int32_t grow_slots(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  const uint32_t n = dev->n_slots == 0 ? 16 : 2 * dev->n_slots;
  if (n > MOST_SLOTS) return VT_LIMIT;
  slot *more = host->resize(host->user, dev->slots, dev->n_slots * sizeof *more, n * sizeof *more);
  if (more == NULL) return VT_NOMEM;
  memset(more + dev->n_slots, 0, (n - dev->n_slots) * sizeof *more);
  dev->slots = more;
  dev->n_slots = n;
  return VT_OK;
}

static uint32_t new_generation(void) {
  static atomic_uint last;
  return atomic_fetch_add(&last, 1) + 1;
}

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t mapped = (bytes / page + 1) * page;
  uint32_t i = 0;
  if (mapped < bytes || mapped > SIZE_MAX) return VT_NOMEM;
  while (i < dev->n_slots && dev->slots[i].pages != NULL) i++;
  const int32_t s = i == dev->n_slots ? grow_slots(dev) : VT_OK;
  if (s != VT_OK) return s;
  void *pages = mmap(NULL, (size_t)mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return VT_NOMEM;
  dev->slots[i] = (slot){pages, bytes, mapped, new_generation(), NULL};
  *out_handle = handle_of_slot(dev, i);
  return VT_OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  slot *s = slot_of_handle(dev, handle);
  if (s != NULL) free_slot(dev, s);
}

static int set_page_access(const slot *s, int protection) {
  return mprotect(s->pages, (size_t)s->mapped, protection) == 0;
}

/* ---- shared buffers ---- */

static int32_t buffer_share(vt_bk_device *dev, uint64_t handle, uint32_t writable) {
  slot *s = slot_of_handle(dev, handle);
  if (s == NULL || s->shared != NULL) return VT_OK; /* another device owns it, or it is shared */
  shared_buffer *b = dev->host->resize(dev->host->user, NULL, 0, sizeof *b);
  if (b == NULL) return VT_NOMEM;
  *b = (shared_buffer){.handle = handle,
                       .pages = s->pages,
                       .bytes = s->bytes,
                       .mapped = s->mapped,
                       .writable = writable};
  s->shared = b;
  (void)pthread_mutex_lock(&lock);
  b->next = all_shared;
  all_shared = b;
  (void)pthread_mutex_unlock(&lock);
  return VT_OK;
}

/* Begins or ends the use of a shared buffer. Returns NULL if no shared buffer has this handle, or
 * its pages could not be made accessible. */
static const shared_buffer *use_shared(uint64_t handle, int begins) {
  int ok = 1;
  (void)pthread_mutex_lock(&lock);
  shared_buffer *b = all_shared;
  while (b != NULL && b->handle != handle) b = b->next;
  if (b != NULL && begins && b->users++ == 0)
    ok = mprotect(b->pages, (size_t)b->mapped, PROT_READ | (b->writable ? PROT_WRITE : 0)) == 0;
  if (b != NULL && !begins && --b->users == 0)
    ok = mprotect(b->pages, (size_t)b->mapped, PROT_NONE) == 0;
  (void)pthread_mutex_unlock(&lock);
  return ok ? b : NULL;
}

static int32_t copy_shared(const vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset,
                           uint64_t bytes, uint32_t to_device) {
  const shared_buffer *b = use_shared(handle, 1);
  if (b == NULL) return refuse(dev, VT_INTERNAL, "there is no such buffer");
  const int inside = offset <= b->bytes && bytes <= b->bytes - offset;
  const int allowed = inside && (!to_device || b->writable);
  if (allowed)
    memcpy(to_device ? b->pages + offset : host, to_device ? host : b->pages + offset,
           (size_t)bytes);
  (void)use_shared(handle, 0);
  if (allowed) return VT_OK;
  return refuse(dev, VT_INTERNAL,
                inside ? "shared parameters cannot be written" : "a copy exceeds its buffer");
}

/* ---- copies ---- */

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  const slot *s = slot_of_handle(dev, handle);
  if (s == NULL || s->shared != NULL)
    return copy_shared(dev, host, handle, offset, bytes, to_device);
  if (offset > s->bytes || bytes > s->bytes - offset)
    return refuse(dev, VT_INTERNAL, "a copy exceeds its buffer");
  if (bytes == 0) return VT_OK;
  if (!set_page_access(s, PROT_READ | PROT_WRITE))
    return refuse(dev, VT_NOMEM, "the buffer could not be made accessible");
  memcpy(to_device ? s->pages + offset : host, to_device ? host : s->pages + offset, (size_t)bytes);
  return set_page_access(s, PROT_NONE)
             ? VT_OK
             : refuse(dev, VT_INTERNAL, "the buffer could not be made inaccessible again");
}

/* ---- running ---- */

/* Makes the arenas of a run accessible or inaccessible, and stores their addresses in `base`. */
static int32_t set_arena_access(const vt_bk_program *prog, const uint64_t *buffers, int protection,
                                char *base[VT_STEPS_ARENAS]) {
  const vt_bk_device *dev = prog->dev;
  int32_t status = VT_OK;
  for (uint32_t i = 0; i < prog->steps.n_arenas; i++) {
    const slot *s = slot_of_handle(dev, buffers[i]);
    if (s == NULL || s->shared != NULL) {
      const shared_buffer *b = use_shared(buffers[i], protection != PROT_NONE);
      if (b == NULL) status = refuse(dev, VT_INTERNAL, "there is no such buffer");
      if (b != NULL) base[i] = b->pages;
    } else if (!set_page_access(s, protection)) {
      status = refuse(dev, VT_NOMEM, "a buffer could not be made accessible or inaccessible");
    } else {
      base[i] = s->pages;
    }
  }
  return status;
}

static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  char *base[VT_STEPS_ARENAS] = {NULL};
  if (n_buffers < prog->steps.n_arenas)
    return refuse(prog->dev, VT_INTERNAL, "a run has too few buffers");
  const int32_t opened = set_arena_access(prog, buffers, PROT_READ | PROT_WRITE, base);
  if (opened == VT_OK) vt_steps_run(&prog->steps, base);
  const int32_t closed = set_arena_access(prog, buffers, PROT_NONE, base);
  return opened != VT_OK ? opened : closed; /* the error of a failed step is returned by wait */
}

static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  vt_steps_error(&prog->steps, out);
  return VT_OK;
}

const vt_bk_api *vt_island_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "island",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait,
                                .buffer_share = buffer_share};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}
