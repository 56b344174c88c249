/* SPDX-License-Identifier: Apache-2.0
 * cuda_card.c - the GPUs of this machine, one card object each for the whole process, with its
 * context and modules of kernels. A card stays open once it was requested, because loading its
 * kernels takes longer than most programs run. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "cuda_backend.h"
#include "cuda_images.h"

enum { MOST_CARDS = 32 };
/* Dynamic shared memory that every kernel may use without asking the driver: 48 KiB less 1 KiB for
 * what a kernel declares statically. */
enum { PLAIN_SHARED = 47 * 1024 };

struct vt_cuda_card {
  const vt_cu *cu;
  vt_cuda_traits traits;
  int device;
  void *context; /* the driver's context; NULL until the card is requested */
  void *module[VT_CUDA_MODULES];
  void *function[VT_GPU_TOTAL];
  /* bytes of dynamic shared memory that each kernel's function may use */
  uint32_t shared[VT_GPU_TOTAL];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vt_cuda_card cards[MOST_CARDS];

/* Kernels in the order of kernels.def; a row with NULL precedes the kernels of each module. */
static const struct entry {
  const char *kernel; /* NULL if the kernels of the next module begin after this row */
} entries[] = {
#define VT_GPU_MODULE(name) {NULL},
#define VT_GPU(name, args) {#name},
#include "kernels.def"
#undef VT_GPU
};

static const char *kernel_name(uint32_t kernel, uint32_t *out_module) {
  uint32_t module = 0, i = 0, at = 0;
  for (;; i++) {
    if (entries[i].kernel == NULL)
      module++;
    else if (at++ == kernel)
      break;
  }
  *out_module = module - 1;
  return entries[i].kernel;
}

static vt_status report_error(const vt_cuda_card *card, int error, const char *what, vt_diag *d) {
  char text[VT_CU_TEXT];
  const vt_status s = error == VT_CU_OUT_OF_MEMORY ? VT_NOMEM : VT_BACKEND;
  return VT_FAIL(d, s, "GPU %d cannot %s: %s", card->traits.ordinal, what,
                 vt_cu_error_text(card->cu, error, text));
}

/* ---- finding ---- */

uint32_t vt_cuda_card_count(vt_diag *d) {
  const vt_cu *cu;
  int n = 0;
  if (vt_cu_get(&cu, d) != VT_OK) return 0;
  if (cu->cuDeviceGetCount(&n) != VT_CU_SUCCESS || n <= 0) {
    (void)VT_FAIL(d, VT_BACKEND, "no CUDA device is visible here");
    return 0;
  }
  return n < MOST_CARDS ? (uint32_t)n : MOST_CARDS;
}

static vt_status query_traits(vt_cuda_card *card, int ordinal, vt_diag *d) {
  const vt_cu *cu = card->cu;
  vt_cuda_traits *t = &card->traits;
  int shared = 0;
  size_t memory = 0;
  t->ordinal = ordinal;
  int e = cu->cuDeviceGet(&card->device, ordinal);
  if (e == 0) e = cu->cuDeviceGetName(t->name, sizeof t->name, card->device);
  if (e == 0) e = cu->cuDeviceGetAttribute(&t->major, VT_CU_ATTRIBUTE_MAJOR, card->device);
  if (e == 0) e = cu->cuDeviceGetAttribute(&t->minor, VT_CU_ATTRIBUTE_MINOR, card->device);
  if (e == 0)
    e = cu->cuDeviceGetAttribute(&t->processors, VT_CU_ATTRIBUTE_PROCESSORS, card->device);
  if (e == 0) e = cu->cuDeviceGetAttribute(&shared, VT_CU_ATTRIBUTE_SHARED_OPTIN, card->device);
  if (e == 0)
    e = cu->cuDeviceGetAttribute(&t->cooperative, VT_CU_ATTRIBUTE_COOPERATIVE, card->device);
  if (e == 0) e = cu->cuDeviceTotalMem(&memory, card->device);
  if (e != 0) return report_error(card, e, "be queried", d);
  t->shared = (uint32_t)shared;
  t->memory = memory;
  t->name[sizeof t->name - 1] = 0;
  if (t->major < VT_CUDA_OLDEST)
    return VT_FAIL(d, VT_BACKEND, "%s has compute capability %d.%d, and kernels need %d.0", t->name,
                   t->major, t->minor, VT_CUDA_OLDEST);
  return VT_OK;
}

static vt_status open_card(uint32_t ordinal, vt_diag *d) {
  vt_cuda_card *card = &cards[ordinal], made = {.cu = NULL};
  VT_TRY(vt_cu_get(&made.cu, d));
  VT_TRY(query_traits(&made, (int)ordinal, d));
  const int e = made.cu->cuDevicePrimaryCtxRetain(&made.context, made.device);
  if (e != VT_CU_SUCCESS) return report_error(&made, e, "be used", d);
  *card = made;
  return VT_OK;
}

vt_status vt_cuda_card_get(uint32_t ordinal, vt_cuda_card **out, vt_diag *d) {
  const uint32_t n = vt_cuda_card_count(d);
  if (n == 0) return VT_BACKEND;
  if (ordinal >= n) return VT_FAIL(d, VT_BACKEND, "there is no GPU %u: there are %u", ordinal, n);
  if (vt_cuda_images_count == 0)
    return VT_FAIL(d, VT_BACKEND, "this build has no kernels for CUDA: it was made without nvcc");
  pthread_mutex_lock(&lock);
  const vt_status s = cards[ordinal].context != NULL ? VT_OK : open_card(ordinal, d);
  pthread_mutex_unlock(&lock);
  if (s == VT_OK) *out = &cards[ordinal];
  return s;
}

const vt_cuda_traits *vt_cuda_card_traits(const vt_cuda_card *card) { return &card->traits; }
const vt_cu *vt_cuda_card_driver(const vt_cuda_card *card) { return card->cu; }

int vt_cuda_card_enter(const vt_cuda_card *card) {
  return card->cu->cuCtxPushCurrent(card->context);
}

void vt_cuda_card_leave(const vt_cuda_card *card) {
  void *context;
  (void)card->cu->cuCtxPopCurrent(&context);
}

/* ---- kernels ---- */

vt_status vt_cuda_card_allow_shared(const vt_cuda_card *card, void *function, uint32_t shared,
                                    vt_diag *d) {
  if (shared <= PLAIN_SHARED) return VT_OK;
  const int e = card->cu->cuFuncSetAttribute(function, VT_CU_FUNCTION_SHARED, (int)shared);
  return e == VT_CU_SUCCESS ? VT_OK
                            : report_error(card, e, "provide the shared memory of a kernel", d);
}

/* The message states the reason before the architectures, because the list of backends shows only
 * its first sentence. */
static vt_status report_load_error(const vt_cuda_card *card, int e, const char *module,
                                   vt_diag *d) {
  char what[80];
  vt_diag reason = {0};
  snprintf(what, sizeof what, "load the kernels of '%s'", module);
  const vt_status s = report_error(card, e, what, &reason);
  return VT_FAIL(d, s, "%s; they are for %s", reason.text, vt_cuda_architectures);
}

static vt_status load_kernel(vt_cuda_card *card, uint32_t kernel, vt_diag *d) {
  uint32_t module;
  const char *name = kernel_name(kernel, &module);
  char what[240];
  if (card->module[module] == NULL) {
    const int e = card->cu->cuModuleLoadData(&card->module[module], vt_cuda_images[module].bytes);
    if (e != VT_CU_SUCCESS) return report_load_error(card, e, vt_cuda_images[module].module, d);
  }
  const int e = card->cu->cuModuleGetFunction(&card->function[kernel], card->module[module], name);
  snprintf(what, sizeof what, "find the kernel '%s'", name);
  return e == VT_CU_SUCCESS ? VT_OK : report_error(card, e, what, d);
}

static vt_status load_kernel_allow_shared(vt_cuda_card *card, uint32_t kernel, uint32_t shared,
                                          vt_diag *d) {
  if (card->function[kernel] == NULL) VT_TRY(load_kernel(card, kernel, d));
  if (shared <= card->shared[kernel]) return VT_OK;
  VT_TRY(vt_cuda_card_allow_shared(card, card->function[kernel], shared, d));
  card->shared[kernel] = shared;
  return VT_OK;
}

vt_status vt_cuda_card_kernel(vt_cuda_card *card, uint32_t kernel, uint32_t shared, void **out,
                              vt_diag *d) {
  pthread_mutex_lock(&lock);
  const vt_status s = load_kernel_allow_shared(card, kernel, shared, d);
  if (s == VT_OK) *out = card->function[kernel];
  pthread_mutex_unlock(&lock);
  return s;
}
