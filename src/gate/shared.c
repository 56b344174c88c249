/* SPDX-License-Identifier: Apache-2.0
 * shared.c - a PARAMETER arena that several executions read. Its device only holds it: it
 * allocates, fills and frees the buffer, and runs nothing. */
#include "shared.h"
#include "guard.h"

int vt_device_can_share_params(const vt_device *dev) {
  return VT_BK_HAS(dev->api, vt_bk_api, buffer_share);
}

vt_status vt_shared_params_new(vt_device *home, uint64_t bytes, vt_alloc a, vt_shared_params **out,
                               vt_diag *d) {
  vt_guard guard;
  vt_shared_params *s = vt_alloc_new(a, sizeof *s);
  if (s == NULL) {
    vt_device_close(home);
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  }
  *s = (vt_shared_params){.a = a, .home = home, .bytes = bytes};
  vt_status status = VT_OK;
  if (!vt_device_can_share_params(home))
    status = VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' cannot share parameters", home->name);
  vt_guard_enter(&guard);
  if (status == VT_OK) {
    const int32_t got = home->api->buffer_new(home->dev, bytes, &s->handle);
    s->allocated = got == VT_OK;
    if (got != VT_OK) status = vt_device_fail_call(home, got, "take memory for parameters", d);
  }
  vt_guard_leave(&guard);
  if (status == VT_OK) {
    *out = s;
  } else {
    vt_shared_params_free(s);
  }
  return status;
}

vt_status vt_shared_params_write(vt_shared_params *s, uint64_t offset, const void *data,
                                 uint64_t bytes, vt_diag *d) {
  vt_guard guard;
  void *host;
  /* Drops const, because the ABI has one pointer for both directions; it only reads here. */
  memcpy(&host, &data, sizeof host);
  if (s->sealed || offset > s->bytes || bytes > s->bytes - offset)
    return VT_FAIL(d, VT_INTERNAL, "a write outside shared parameters, or after they were sealed");
  if (bytes == 0) return VT_OK;
  vt_guard_count_event(VT_COUNT_COPIES);
  vt_guard_enter(&guard);
  const int32_t got = s->home->api->copy(s->home->dev, host, s->handle, offset, bytes, 1);
  vt_guard_leave(&guard);
  return got == VT_OK ? VT_OK : vt_device_fail_call(s->home, got, "copy a parameter", d);
}

vt_status vt_shared_params_seal(vt_shared_params *s, vt_diag *d) {
  VT_TRY(vt_shared_params_attach(s, s->home, d));
  s->sealed = 1;
  return VT_OK;
}

vt_status vt_shared_params_attach(const vt_shared_params *s, vt_device *dev, vt_diag *d) {
  vt_guard guard;
  vt_guard_enter(&guard);
  const int32_t got = dev->api->buffer_share(dev->dev, s->handle, 0);
  vt_guard_leave(&guard);
  return got == VT_OK ? VT_OK : vt_device_fail_call(dev, got, "share parameters", d);
}

void vt_shared_params_free(vt_shared_params *s) {
  vt_guard guard;
  if (s == NULL) return;
  const vt_alloc a = s->a;
  vt_guard_enter(&guard);
  if (s->allocated) s->home->api->buffer_free(s->home->dev, s->handle);
  vt_guard_leave(&guard);
  vt_device_close(s->home);
  vt_alloc_free(a, s, sizeof *s);
}
