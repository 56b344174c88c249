/* SPDX-License-Identifier: Apache-2.0
 * shared.c - buffers that several executions share. The device of a shared buffer only holds it: it
 * allocates, copies and frees, and runs nothing. */
#include "shared.h"
#include "guard.h"
#include "table.h"

int vt_device_can_share_buffers(const vt_device *dev) {
  return VT_BK_HAS(dev->api, vt_bk_api, buffer_share);
}

/* Refuses a buffer that is larger than the free memory: a system that overcommits memory would
 * grant it, and kill the process when it is filled. */
static vt_status check_free_memory(const vt_shared_buffer *s, vt_diag *d) {
  vt_bk_caps caps = {.size = sizeof caps};
  const int32_t got = s->home->api->capabilities(s->home->dev, &caps);
  if (got != VT_OK) return vt_device_fail_call(s->home, got, "state its capabilities", d);
  vt_caps_clear_unwritten(&caps);
  if (caps.memory == 0 || s->bytes <= caps.memory) return VT_OK;
  return VT_FAIL(d, VT_NOMEM, "%s need %llu bytes on '%s', which has %llu left",
                 s->writable ? "the states" : "the parameters", (unsigned long long)s->bytes,
                 s->home->name, (unsigned long long)caps.memory);
}

static vt_status alloc_buffer(vt_shared_buffer *s, vt_diag *d) {
  vt_guard guard;
  if (!vt_device_can_share_buffers(s->home))
    return VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' cannot share buffers between programs",
                   s->home->name);
  vt_guard_enter(&guard);
  const vt_status fits = check_free_memory(s, d);
  const int32_t got =
      fits == VT_OK ? s->home->api->buffer_new(s->home->dev, s->bytes, &s->handle) : VT_NOMEM;
  vt_guard_leave(&guard);
  if (fits != VT_OK) return fits;
  s->allocated = got == VT_OK;
  if (s->allocated) return VT_OK;
  return vt_device_fail_call(s->home, got, "take memory for a shared buffer", d);
}

vt_status vt_shared_buffer_new(vt_device *home, uint64_t bytes, int writable, vt_alloc a,
                               vt_shared_buffer **out, vt_diag *d) {
  vt_shared_buffer *s = vt_alloc_new(a, sizeof *s);
  if (s == NULL) {
    vt_device_close(home);
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  }
  *s = (vt_shared_buffer){.a = a, .home = home, .bytes = bytes, .writable = writable};
  const vt_status status = alloc_buffer(s, d);
  if (status == VT_OK) {
    *out = s;
  } else {
    vt_shared_buffer_free(s);
  }
  return status;
}

static vt_status copy(const vt_shared_buffer *s, uint64_t offset, void *host, uint64_t bytes,
                      int to_device, vt_diag *d) {
  vt_guard guard;
  if (offset > s->bytes || bytes > s->bytes - offset)
    return VT_FAIL(d, VT_INTERNAL, "a copy exceeds its shared buffer");
  if (bytes == 0) return VT_OK;
  vt_guard_count_event(VT_COUNT_COPIES);
  vt_guard_enter(&guard);
  const int32_t got =
      s->home->api->copy(s->home->dev, host, s->handle, offset, bytes, to_device != 0);
  vt_guard_leave(&guard);
  return got == VT_OK ? VT_OK : vt_device_fail_call(s->home, got, "copy a tensor", d);
}

vt_status vt_shared_buffer_write(vt_shared_buffer *s, uint64_t offset, const void *data,
                                 uint64_t bytes, vt_diag *d) {
  void *host;
  /* Drops const, because the ABI has one pointer for both directions; it only reads here. */
  memcpy(&host, &data, sizeof host);
  if (s->shared && !s->writable)
    return VT_FAIL(d, VT_INTERNAL, "shared parameters cannot be written");
  return copy(s, offset, host, bytes, 1, d);
}

vt_status vt_shared_buffer_read(const vt_shared_buffer *s, uint64_t offset, void *data,
                                uint64_t bytes, vt_diag *d) {
  return copy(s, offset, data, bytes, 0, d);
}

vt_status vt_shared_buffer_share(vt_shared_buffer *s, vt_diag *d) {
  VT_TRY(vt_shared_buffer_attach(s, s->home, d));
  s->shared = 1;
  return VT_OK;
}

vt_status vt_shared_buffer_attach(const vt_shared_buffer *s, vt_device *dev, vt_diag *d) {
  vt_guard guard;
  vt_guard_enter(&guard);
  const int32_t got = dev->api->buffer_share(dev->dev, s->handle, s->writable != 0);
  vt_guard_leave(&guard);
  return got == VT_OK ? VT_OK : vt_device_fail_call(dev, got, "share a buffer", d);
}

int vt_shared_buffer_is_for(const vt_shared_buffer *s, const vt_device *dev) {
  const vt_hash256 *x = vt_device_plugin_digest(s->home), *y = vt_device_plugin_digest(dev);
  if (x == NULL || y == NULL) return x == y && strcmp(s->home->name, dev->name) == 0;
  return memcmp(x, y, sizeof *x) == 0 && strcmp(s->home->name, dev->name) == 0;
}

vt_status vt_shared_buffer_check(const vt_shared_buffer *s, const vt_device *dev, int writable,
                                 uint64_t bytes, vt_diag *d) {
  if (s->shared && s->writable == writable && s->bytes == bytes && vt_shared_buffer_is_for(s, dev))
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "a shared buffer is not the arena of this plan");
}

vt_device *vt_shared_buffer_home(const vt_shared_buffer *s) { return s->home; }

void vt_shared_buffer_free(vt_shared_buffer *s) {
  vt_guard guard;
  if (s == NULL) return;
  const vt_alloc a = s->a;
  vt_guard_enter(&guard);
  if (s->allocated) s->home->api->buffer_free(s->home->dev, s->handle);
  vt_guard_leave(&guard);
  vt_device_close(s->home);
  vt_alloc_free(a, s, sizeof *s);
}
