/* SPDX-License-Identifier: Apache-2.0
 * cuda_backend.c - GPUs behind the plug-in ABI. Neither building nor loading this needs anything of
 * CUDA: without a driver there are no devices, and opening one reports what is missing. */
#include "cuda_backend.h"
#include <stdio.h>
#include <string.h>
#include "cuda_images.h"
#include "cuda_options.h"

vt_backend_query_fn vt_cuda_query;

/* ---- devices ---- */

/* A missing driver or GPU is not an error: the function reports 0 devices and tells the host
 * why. */
static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  vt_diag d = {0};
  *out_count = vt_cuda_card_count(&d);
  if (*out_count == 0) (void)vt_cuda_report(host, VT_BACKEND, d.text);
  return VT_OK;
}

/* The fingerprint has everything that decides the size of scratch and so the plan: the number of
 * multiprocessors, shared memory and memory. */
static void set_about_and_fingerprint(vt_bk_device *dev) {
  const vt_cuda_traits *t = vt_cuda_card_traits(dev->card);
  const int version = vt_cuda_card_driver(dev->card)->version;
  snprintf(dev->about, sizeof dev->about, "%s, sm_%d%d, driver %d.%d, kernels %s", t->name,
           t->major, t->minor, version / 1000, version % 1000 / 10, VT_CUDA_OPTIONS);
  snprintf(dev->fingerprint, sizeof dev->fingerprint, "cuda-1 sm_%d%d x%d %u %llu %s", t->major,
           t->minor, t->processors, t->shared, (unsigned long long)t->memory, VT_CUDA_OPTIONS);
}

/* Loads one kernel, so that a binary without kernels for this GPU fails when the device is opened,
 * not during a run. */
static int32_t check_kernels_load(const vt_bk_device *dev) {
  vt_diag d = {0};
  void *function;
  const vt_status s = vt_cuda_card_kernel(dev->card, VT_GPU_record_fault, 0, &function, &d);
  return s == VT_OK ? VT_OK : vt_cuda_report(dev->host, (int32_t)s, d.text);
}

static int32_t create_device_resources(vt_bk_device *dev) {
  const int32_t tried = check_kernels_load(dev);
  if (tried != VT_OK) return tried;
  const vt_cu *cu = vt_cuda_card_driver(dev->card);
  const size_t bytes = VT_CUDA_COUNTERS * sizeof *dev->counters;
  uint64_t at = 0;
  int e = cu->cuStreamCreate(&dev->stream, VT_CU_STREAM_NON_BLOCKING);
  if (e != VT_CU_SUCCESS) return vt_cuda_report_driver_error(dev, e, "create a stream");
  e = cu->cuMemAlloc(&at, bytes);
  dev->counters = (uint32_t *)(uintptr_t)at;
  if (e == VT_CU_SUCCESS) e = cu->cuMemsetD8Async(at, 0, bytes, dev->stream);
  return e == VT_CU_SUCCESS ? vt_cuda_staging_new(dev)
                            : vt_cuda_report_driver_error(dev, e, "allocate memory for a device");
}

static void device_close(vt_bk_device *dev) {
  const vt_cu *cu = vt_cuda_card_driver(dev->card);
  if (vt_cuda_card_enter(dev->card) == VT_CU_SUCCESS) {
    vt_cuda_staging_free(dev);
    if (dev->counters != NULL) (void)cu->cuMemFree((uint64_t)(uintptr_t)dev->counters);
    if (dev->stream != NULL) (void)cu->cuStreamDestroy(dev->stream);
    vt_cuda_card_leave(dev->card);
  }
  vt_cuda_host_memory_free(dev->host, dev, 1, sizeof *dev);
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  vt_diag d = {0};
  vt_cuda_card *card;
  const vt_status s = vt_cuda_card_get(ordinal, &card, &d);
  if (s != VT_OK) return vt_cuda_report(host, (int32_t)s, d.text);
  vt_bk_device *dev = vt_cuda_host_memory_new(host, 1, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  dev->host = host;
  dev->card = card;
  int32_t made = vt_cuda_enter_device(dev);
  if (made == VT_OK) {
    made = create_device_resources(dev);
    vt_cuda_card_leave(card);
  }
  set_about_and_fingerprint(dev);
  if (made == VT_OK) {
    *out_dev = dev;
  } else {
    device_close(dev);
  }
  return made;
}

static uint64_t available_memory(const vt_bk_device *dev) {
  size_t available = 0, total = 0;
  if (vt_cuda_card_enter(dev->card) != VT_CU_SUCCESS) return 0;
  if (vt_cuda_card_driver(dev->card)->cuMemGetInfo(&available, &total) != VT_CU_SUCCESS)
    available = 0;
  vt_cuda_card_leave(dev->card);
  return available;
}

/* Capabilities of every card that can be opened, which has compute capability VT_CUDA_OLDEST or
 * newer. */
static const uint64_t capability_bits =
    VT_BK_FLOAT64 |    /* f64 is supported, with fma */
    VT_BK_INT8_EXACT | /* 8-bit products are summed exactly, in i32 (gpu_ints.h) */
    /* scatters sort rows by position and need no atomic operations (cuda_scatter.c) */
    VT_BK_ATOMIC_OPS |
    VT_BK_DETERMINISTIC_REDUCTIONS | /* no sum depends on which thread block finishes first */
    /* functions are those of src/num, and the compiler contracts no operations */
    VT_BK_ROUNDED_MATH | VT_BK_SUBNORMALS | /* subnormals are not flushed (cuda_options.h) */
    VT_BK_REGIONS;                          /* cuda_region.c */

static int32_t report_capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = VT_CUDA_ALIGNMENT,
                           .about = dev->about,
                           .fingerprint = dev->fingerprint,
                           .memory = available_memory(dev),
                           .has = capability_bits,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE,
                           .updates_in_place = 1};
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

static int32_t is_op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  return vt_cuda_is_pointwise(op) || vt_cuda_handler_of(op) != NULL;
}

static int32_t step_workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  *out_bytes = vt_cuda_step_scratch(dev, step);
  return VT_OK;
}

const vt_bk_api *vt_cuda_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "cuda",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = report_capabilities,
                                .op_listed = is_op_listed,
                                .step_check = vt_cuda_step_check,
                                .workspace = step_workspace,
                                .program_build = vt_cuda_program_build,
                                .program_free = vt_cuda_program_free,
                                .buffer_new = vt_cuda_buffer_new,
                                .buffer_free = vt_cuda_buffer_free,
                                .copy = vt_cuda_buffer_copy,
                                .run = vt_cuda_program_run,
                                .wait = vt_cuda_program_wait,
                                .metrics = vt_cuda_program_metrics,
                                .program_results = vt_cuda_program_set_results,
                                .buffer_share = vt_cuda_buffer_share,
                                .program_memory = vt_cuda_program_memory};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}
