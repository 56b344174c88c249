/* SPDX-License-Identifier: Apache-2.0
 * cuda_atomic.c - the CUDA backend as a plug-in with one planted fault. Where it would launch
 * reduce_lines_f32 for the chunks of long sums, it launches the kernel of cuda_atomic.cu, whose
 * threads add their terms in the order in which they arrive. The linker redirects the backend's
 * launches to this file (--wrap). */
#include <pthread.h>
#include "cuda_backend.h"
#include "gpu_reduce.h"

/* Embeds the compiled module of cuda_atomic.cu in this library. */
__asm__(
    ".pushsection .rodata\n.balign 16\n.globl cuda_atomic_image\n.hidden cuda_atomic_image\n"
    "cuda_atomic_image:\n.incbin \"" CUDA_ATOMIC_IMAGE "\"\n.byte 0\n.popsection\n");
extern const char cuda_atomic_image[] __attribute__((visibility("hidden")));

__attribute__((visibility("default"))) vt_backend_query_fn vt_backend_query;
vt_backend_query_fn vt_cuda_query;
vt_status __real_vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                const void *args);
vt_status __wrap_vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                const void *args);

const vt_bk_api *vt_backend_query(const vt_bk_host *host) { return vt_cuda_query(host); }

/* Finds the planted kernel. The first launch on a card loads it, because a capture must not load
 * modules. */
static vt_status load_planted_kernel(const vt_cuda_call *c, void **out) {
  enum { CARDS = 32 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static void *function[CARDS];
  const vt_cu *cu = vt_cuda_card_driver(c->dev->card);
  void **mine = &function[c->traits->ordinal % CARDS], *module = NULL;
  int e = VT_CU_SUCCESS;
  pthread_mutex_lock(&lock);
  if (*mine == NULL) {
    e = cu->cuModuleLoadData(&module, cuda_atomic_image);
    if (e == VT_CU_SUCCESS) e = cu->cuModuleGetFunction(mine, module, "cuda_atomic");
  }
  *out = *mine;
  pthread_mutex_unlock(&lock);
  return (vt_status)vt_cuda_report_driver_error(c->dev, e, "load the planted kernel");
}

/* The planted kernel puts the sum into the first chunk and leaves zeros in the others. The kernel
 * of the next level is the backend's own and adds these chunk results; the zeros change nothing. */
vt_status __wrap_vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                const void *args) {
  const vt_gpu_reduce *a = args;
  void *function = NULL;
  if (kernel != VT_GPU_reduce_lines_f32 || a->kind != VT_GPU_REDUCE_SUM || a->chunks == 1)
    return __real_vt_cuda_launch(c, kernel, grid, args);
  VT_TRY(load_planted_kernel(c, &function));
  VT_TRY(vt_cuda_set_bytes(c, a->y, 0, (uint64_t)(a->lines.n * a->chunks) * sizeof(float)));
  return vt_cuda_launch_function(c, function, grid, args);
}
