/* SPDX-License-Identifier: Apache-2.0
 * cuda_memory.c - memory of the card, and copies between it and the host. They go through two
 * buffers of pinned memory, so that one is filled while the other is transferred. An upload returns
 * when the host's bytes are no longer needed; it is complete before any work that is issued after
 * it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "cuda_backend.h"

enum { PIECES = 2, PIECE_BYTES = 4 << 20, POOL = 16 };

struct vt_cuda_staging {
  const vt_cuda_card *card; /* card for which the memory was pinned; NULL if nothing is allocated */
  int borrowed;
  char *piece[PIECES];
  void *done[PIECES]; /* an event per piece, after which the piece may be reused */
  uint32_t next;
};

/* Staging memory of closed devices, for the next device on the same card: pinning memory takes
 * longer than many programs run. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_cuda_staging pool[POOL];

void *vt_cuda_host_memory_new(const vt_bk_host *host, uint64_t n, uint64_t size) {
  void *p = host->resize(host->user, NULL, 0, n * size + 1);
  if (p != NULL) memset(p, 0, (size_t)(n * size));
  return p;
}

void vt_cuda_host_memory_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size) {
  if (p != NULL) host->resize(host->user, p, n * size + 1, 0);
}

static const vt_cu *driver_of(const vt_bk_device *dev) { return vt_cuda_card_driver(dev->card); }

/* ---- staging ---- */

static void staging_free_memory(const vt_cu *cu, vt_cuda_staging *s) {
  for (uint32_t i = 0; i < PIECES; i++) {
    if (s->done[i] != NULL) (void)cu->cuEventDestroy(s->done[i]);
    if (s->piece[i] != NULL) (void)cu->cuMemFreeHost(s->piece[i]);
  }
  *s = (vt_cuda_staging){.borrowed = s->borrowed};
}

static int staging_allocate_pinned(const vt_bk_device *dev, vt_cuda_staging *s) {
  const vt_cu *cu = driver_of(dev);
  int e = VT_CU_SUCCESS;
  for (uint32_t i = 0; i < PIECES && e == VT_CU_SUCCESS; i++) {
    void *piece = NULL;
    e = cu->cuMemHostAlloc(&piece, PIECE_BYTES, 0);
    s->piece[i] = piece;
    if (e == VT_CU_SUCCESS) e = cu->cuEventCreate(&s->done[i], 0);
    if (e == VT_CU_SUCCESS) e = cu->cuEventRecord(s->done[i], dev->stream);
  }
  if (e != VT_CU_SUCCESS) staging_free_memory(cu, s);
  return e;
}

/* Takes staging memory from the pool, if possible with memory already pinned for this card; NULL if
 * all slots are in use. */
static vt_cuda_staging *staging_borrow(const vt_cuda_card *card) {
  vt_cuda_staging *found = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < POOL; i++) {
    vt_cuda_staging *s = &pool[i];
    if (!s->borrowed && (s->card == card || (s->card == NULL && found == NULL))) found = s;
    if (found != NULL && found->card == card) break;
  }
  if (found != NULL) found->borrowed = 1;
  pthread_mutex_unlock(&lock);
  return found;
}

static void staging_give_back(vt_cuda_staging *s) {
  pthread_mutex_lock(&lock);
  s->borrowed = 0;
  pthread_mutex_unlock(&lock);
}

static int staging_is_in_pool(const vt_cuda_staging *s) { return s >= pool && s < pool + POOL; }

uint64_t vt_cuda_staging_bytes(void) { return (uint64_t)PIECES * PIECE_BYTES; }

int32_t vt_cuda_staging_new(vt_bk_device *dev) {
  vt_cuda_staging *s = staging_borrow(dev->card);
  if (s == NULL) s = vt_cuda_host_memory_new(dev->host, 1, sizeof *s);
  if (s == NULL) return VT_NOMEM;
  const int e = s->card == dev->card ? VT_CU_SUCCESS : staging_allocate_pinned(dev, s);
  if (e == VT_CU_SUCCESS) {
    s->card = dev->card;
    dev->staging = s;
    return VT_OK;
  }
  if (staging_is_in_pool(s))
    staging_give_back(s);
  else
    vt_cuda_host_memory_free(dev->host, s, 1, sizeof *s);
  return vt_cuda_report_driver_error(dev, e, "pin memory for copies");
}

/* Returns staging memory to the pool after waiting for its copies, because the next owner uses
 * another stream. */
void vt_cuda_staging_free(vt_bk_device *dev) {
  vt_cuda_staging *s = dev->staging;
  if (s == NULL) return;
  if (driver_of(dev)->cuStreamSynchronize(dev->stream) == VT_CU_SUCCESS && staging_is_in_pool(s)) {
    staging_give_back(s);
    return;
  }
  staging_free_memory(driver_of(dev), s);
  if (staging_is_in_pool(s))
    staging_give_back(s);
  else
    vt_cuda_host_memory_free(dev->host, s, 1, sizeof *s);
}

static uint32_t take_next_piece(vt_cuda_staging *s) {
  const uint32_t k = s->next;
  s->next = (k + 1) % PIECES;
  return k;
}

static int upload(vt_bk_device *dev, uint64_t device_address, const char *host, uint64_t bytes) {
  const vt_cu *cu = driver_of(dev);
  vt_cuda_staging *s = dev->staging;
  int e = VT_CU_SUCCESS;
  for (uint64_t done = 0, n; done < bytes && e == VT_CU_SUCCESS; done += n) {
    const uint32_t k = take_next_piece(s);
    n = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
    e = cu->cuEventSynchronize(s->done[k]);
    memcpy(s->piece[k], host + done, (size_t)n);
    if (e == VT_CU_SUCCESS)
      e = cu->cuMemcpyHtoDAsync(device_address + done, s->piece[k], (size_t)n, dev->stream);
    if (e == VT_CU_SUCCESS) e = cu->cuEventRecord(s->done[k], dev->stream);
  }
  return e;
}

/* Downloads piece i while piece i - 1 is copied to the caller's memory. */
static int download(vt_bk_device *dev, char *host, uint64_t device_address, uint64_t bytes) {
  const vt_cu *cu = driver_of(dev);
  vt_cuda_staging *s = dev->staging;
  uint64_t asked = 0, done = 0, size[PIECES] = {0};
  uint32_t first = s->next;
  int e = VT_CU_SUCCESS;
  while (done < bytes && e == VT_CU_SUCCESS) {
    while (asked < bytes && asked - done < (PIECES - 1) * (uint64_t)PIECE_BYTES + 1 &&
           e == VT_CU_SUCCESS) {
      const uint32_t k = take_next_piece(s);
      size[k] = bytes - asked < PIECE_BYTES ? bytes - asked : PIECE_BYTES;
      e = cu->cuMemcpyDtoHAsync(s->piece[k], device_address + asked, (size_t)size[k], dev->stream);
      if (e == VT_CU_SUCCESS) e = cu->cuEventRecord(s->done[k], dev->stream);
      asked += size[k];
    }
    if (e == VT_CU_SUCCESS) e = cu->cuEventSynchronize(s->done[first]);
    if (e == VT_CU_SUCCESS) memcpy(host + done, s->piece[first], (size_t)size[first]);
    done += size[first];
    first = (first + 1) % PIECES;
  }
  return e;
}

/* ---- buffers ---- */

static int32_t report_no_memory(vt_bk_device *dev, uint64_t bytes) {
  size_t available = 0, total = 0;
  char text[200];
  (void)driver_of(dev)->cuMemGetInfo(&available, &total);
  snprintf(text, sizeof text, "%llu bytes are needed on the GPU, and %llu of its %llu are free",
           (unsigned long long)bytes, (unsigned long long)available, (unsigned long long)total);
  return vt_cuda_report(dev->host, VT_NOMEM, text);
}

/* handle of a buffer of zero bytes; no allocation has this address */
enum { NO_BYTES = VT_CUDA_ALIGNMENT };

int32_t vt_cuda_buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  uint64_t at = NO_BYTES;
  int e = VT_CU_SUCCESS;
  const int32_t entered = vt_cuda_enter_device(dev);
  if (entered != VT_OK) return entered;
  if (bytes > 0)
    e = bytes > SIZE_MAX ? VT_CU_OUT_OF_MEMORY : driver_of(dev)->cuMemAlloc(&at, (size_t)bytes);
  const int32_t s = e == VT_CU_OUT_OF_MEMORY
                        ? report_no_memory(dev, bytes)
                        : vt_cuda_report_driver_error(dev, e, "allocate memory");
  vt_cuda_card_leave(dev->card);
  if (s == VT_OK) *out_handle = at;
  return s;
}

void vt_cuda_buffer_free(vt_bk_device *dev, uint64_t handle) {
  if (handle == NO_BYTES || vt_cuda_card_enter(dev->card) != VT_CU_SUCCESS) return;
  (void)driver_of(dev)->cuMemFree(handle);
  vt_cuda_card_leave(dev->card);
}

/* All devices of a card have the same context, so they can read each other's buffers. The uploads
 * of this device must be complete before another stream reads the buffer. */
int32_t vt_cuda_buffer_share(vt_bk_device *dev, uint64_t handle, uint32_t writable) {
  (void)handle;
  (void)writable;
  const int32_t entered = vt_cuda_enter_device(dev);
  if (entered != VT_OK) return entered;
  const int e = driver_of(dev)->cuStreamSynchronize(dev->stream);
  vt_cuda_card_leave(dev->card);
  return vt_cuda_report_driver_error(dev, e, "wait for uploads");
}

int32_t vt_cuda_buffer_copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset,
                            uint64_t bytes, uint32_t to_device) {
  const uint64_t at = handle + offset;
  int32_t s = vt_cuda_enter_device(dev);
  if (s != VT_OK) return s;
  if (!to_device) s = (int32_t)vt_cuda_programs_canonicalize(dev, at, bytes);
  if (s == VT_OK) {
    const int e = to_device ? upload(dev, at, host, bytes) : download(dev, host, at, bytes);
    s = vt_cuda_report_driver_error(dev, e, to_device ? "upload a tensor" : "download a tensor");
  }
  vt_cuda_card_leave(dev->card);
  return s;
}

static void *host_resize(void *user, void *p, size_t old_size, size_t new_size) {
  const vt_bk_host *host = user;
  return host->resize(host->user, p, old_size, new_size);
}

vt_alloc vt_cuda_host_allocator(const vt_bk_host *host) {
  return (vt_alloc){.resize = host_resize, .user = (void *)(uintptr_t)host};
}
