/* SPDX-License-Identifier: Apache-2.0
 * cuda_launch.c - what handlers call to issue work: kernel launches, fills, copies, and the
 * recording of index faults. */
#include "cuda_backend.h"
#include "cuda_walk.h"
#include <stdio.h>
#include <string.h>

int32_t vt_cuda_report(const vt_bk_host *host, int32_t status, const char *text) {
  if (VT_BK_HAS(host, vt_bk_host, diag)) host->diag(host->user, status, text);
  return status;
}

int32_t vt_cuda_report_driver_error(const vt_bk_device *dev, int error, const char *what) {
  char text[VT_CU_TEXT], all[VT_CU_TEXT + 120];
  if (error == VT_CU_SUCCESS) return VT_OK;
  snprintf(all, sizeof all, "the GPU cannot %s: %s", what,
           vt_cu_error_text(vt_cuda_card_driver(dev->card), error, text));
  return vt_cuda_report(dev->host, error == VT_CU_OUT_OF_MEMORY ? VT_NOMEM : VT_BACKEND, all);
}

int32_t vt_cuda_enter_device(const vt_bk_device *dev) {
  return vt_cuda_report_driver_error(dev, vt_cuda_card_enter(dev->card), "be used");
}

void vt_cuda_send_note(const vt_bk_device *dev, const char *text) {
  if (VT_BK_HAS(dev->host, vt_bk_host, note)) dev->host->note(dev->host->user, text);
}

/* ---- sizes ---- */

int64_t vt_cuda_element_count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

int vt_cuda_is_dense(const vt_view *v) {
  int64_t step = 1;
  for (uint32_t i = v->rank; i-- > 0; step *= v->dim[i])
    if (v->dim[i] != 1 && v->stride[i] != step) return 0;
  return 1;
}

uint32_t vt_cuda_bytes_of(uint32_t dtype) { return (uint32_t)vt_dtype_bytes(dtype); }

/* The grid has at most thirty-two blocks per multiprocessor, which is more than can be resident,
 * but few enough to start quickly. */
vt_cuda_grid vt_cuda_grid_over(const vt_cuda_call *c, int64_t items, int64_t items_per_thread,
                               uint32_t threads) {
  const int64_t blocks = vt_cuda_ceil_div(items, items_per_thread * threads),
                most = 32 * c->traits->processors;
  return (vt_cuda_grid){.x = (uint32_t)vt_cuda_min(blocks, most), 1, 1, threads, 0};
}

/* ---- issuing ---- */

static vt_status launch_function(vt_cuda_call *c, void *function, vt_cuda_grid g, int cooperative,
                                 const void *args) {
  const vt_cu *cu = vt_cuda_card_driver(c->dev->card);
  void *params[1] = {NULL};
  if (c->rehearsal) return VT_OK;
  /* the driver copies the struct to which params[0] points */
  memcpy(&params[0], &args, sizeof args);
  const int e = cooperative ? cu->cuLaunchCooperativeKernel(function, g.x, g.y, g.z, g.threads, 1,
                                                            1, g.shared, c->dev->stream, params)
                            : cu->cuLaunchKernel(function, g.x, g.y, g.z, g.threads, 1, 1, g.shared,
                                                 c->dev->stream, params, NULL);
  return (vt_status)vt_cuda_report_driver_error(c->dev, e, "launch a kernel");
}

static int is_empty_grid(vt_cuda_grid g) { return g.x == 0 || g.y == 0 || g.z == 0; }

static vt_status launch_kernel(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid g, int cooperative,
                               const void *args) {
  vt_diag d = {0};
  void *function = NULL;
  if (is_empty_grid(g)) return VT_OK;
  const vt_status s = vt_cuda_card_kernel(c->dev->card, kernel, g.shared, &function, &d);
  if (s != VT_OK) return (vt_status)vt_cuda_report(c->dev->host, (int32_t)s, d.text);
  return launch_function(c, function, g, cooperative, args);
}

vt_status vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid g, const void *args) {
  return launch_kernel(c, kernel, g, 0, args);
}

vt_status vt_cuda_launch_cooperative(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid g,
                                     const void *args) {
  return launch_kernel(c, kernel, g, 1, args);
}

vt_status vt_cuda_launch_function(vt_cuda_call *c, void *function, vt_cuda_grid g,
                                  const void *args) {
  return is_empty_grid(g) ? VT_OK : launch_function(c, function, g, 0, args);
}

static uint64_t device_address(const void *p) { return (uint64_t)(uintptr_t)p; }

vt_status vt_cuda_set_bytes(vt_cuda_call *c, void *to, uint8_t value, uint64_t bytes) {
  const vt_cu *cu = vt_cuda_card_driver(c->dev->card);
  if (bytes == 0 || c->rehearsal) return VT_OK;
  const int e = cu->cuMemsetD8Async(device_address(to), value, (size_t)bytes, c->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(c->dev, e, "fill memory");
}

vt_status vt_cuda_copy_on_device(vt_cuda_call *c, void *to, const void *from, uint64_t bytes) {
  const vt_cu *cu = vt_cuda_card_driver(c->dev->card);
  if (bytes == 0 || to == from || c->rehearsal) return VT_OK;
  const int e = cu->cuMemcpyDtoDAsync(device_address(to), device_address(from), (size_t)bytes,
                                      c->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(c->dev, e, "copy memory");
}

vt_status vt_cuda_fetch_to_host(vt_cuda_call *c, void *to, const void *from, uint64_t bytes) {
  const vt_cu *cu = vt_cuda_card_driver(c->dev->card);
  if (c->rehearsal) {
    *c->waits = 1;
    memset(to, 0, (size_t)bytes);
    return VT_OK;
  }
  int e = cu->cuMemcpyDtoHAsync(to, device_address(from), (size_t)bytes, c->dev->stream);
  if (e == VT_CU_SUCCESS) e = cu->cuStreamSynchronize(c->dev->stream);
  return (vt_status)vt_cuda_report_driver_error(c->dev, e, "copy a value to the host");
}

/* ---- faults ---- */

vt_status vt_cuda_record_fault(vt_cuda_call *c, const vt_view *index) {
  const vt_view *const all[1] = {index};
  const vt_gpu_record_fault args = {.fault = c->fault,
                                    .step = c->number,
                                    .index = index->data,
                                    .wide = index->dtype == VT_DTYPE_I64,
                                    .walk = vt_cuda_walk(all, 1)};
  *c->faults = 1;
  return vt_cuda_launch(c, VT_GPU_record_fault, (vt_cuda_grid){1, 1, 1, 32, 0}, &args);
}
