/* SPDX-License-Identifier: Apache-2.0
 * cuda_backend.h - private to src/back/cuda: what its files share. A card is a GPU with the kernels
 * of this binary on it, one for the whole process; a device is a card and a stream of work; a
 * program is a list of launches: one step, or a group of them run as one. They are rehearsed while
 * the program is built, which loads their kernels; the first run issues them, the next one records
 * them as a graph, and every later one replays the graph. Work is split by outputs alone, so no bit
 * depends on the model of the GPU.
 *
 *   cuda_driver.c    the driver's entry points (cu.def)
 *   cuda_card.c      GPUs, their contexts, modules of kernels (kernels.def)
 *   cuda_backend.c   the ABI: devices and what they can do
 *   cuda_memory.c    buffers, staging, copies
 *   cuda_program.c   steps bound to their handlers once, run many times, recorded and replayed
 *   cuda_launch.c    what handlers issue
 *   cuda_copy.c      copies between tensors of one shape
 *   cuda_chain.c     pointwise steps, several of them as one where they can be compiled:
 *   cuda_fused.c     groups of them as kernels, whose texts are made by src/emit,
 *   cuda_epilogue.c      the end of a product and the steps behind it as one kernel,
 *   cuda_made.c      compiled while a program is built (cuda_nvrtc.c) and kept (cuda_cache.c)
 *
 * Handlers (cuda_handlers.def): which kernels do an op, and on what grid. They only issue work;
 * nothing in them waits, except vt_cuda_fetch.
 *
 * Kernels (*.cu) are written over the words of gpu_words.cuh; what a kernel is given is one struct,
 * declared in a gpu_*.h that C and CUDA both read. */
#ifndef VT_CUDA_BACKEND_H
#define VT_CUDA_BACKEND_H
#include "volta/volta_backend.h"
#include "cuda_driver.h"
#include "gpu_fault.h"
#include "vt_alloc.h"
#include "vt_launches.h"

typedef struct vt_cuda_card vt_cuda_card;
typedef struct vt_cuda_call vt_cuda_call;
typedef struct vt_cuda_chain vt_cuda_chain;
typedef struct vt_launch_epilogue vt_cuda_epilogue;

/* ---- kernels ---- */

enum {
#define VT_GPU(name, args) VT_GPU_##name,
#include "kernels.def"
#undef VT_GPU
  VT_GPU_TOTAL
};

/* Kernels that differ in the bytes of an element, or in its type: VT_CUDA_SIZES(pad)[4] is pad_4.
 * They are named one by one, so that nothing depends on the order of kernels.def. */
#define VT_CUDA_SIZES(name)                    \
  ((const uint32_t[]){[1] = VT_GPU_##name##_1, \
                      [2] = VT_GPU_##name##_2, \
                      [4] = VT_GPU_##name##_4, \
                      [8] = VT_GPU_##name##_8})
#define VT_CUDA_SIZES_TO_16(name)              \
  ((const uint32_t[]){[1] = VT_GPU_##name##_1, \
                      [2] = VT_GPU_##name##_2, \
                      [4] = VT_GPU_##name##_4, \
                      [8] = VT_GPU_##name##_8, \
                      [16] = VT_GPU_##name##_16})
#define VT_CUDA_TYPES(name)                                 \
  ((const uint32_t[]){[VT_DTYPE_F32] = VT_GPU_##name##_f32, \
                      [VT_DTYPE_F64] = VT_GPU_##name##_f64, \
                      [VT_DTYPE_I8] = VT_GPU_##name##_i8,   \
                      [VT_DTYPE_U8] = VT_GPU_##name##_u8,   \
                      [VT_DTYPE_I32] = VT_GPU_##name##_i32, \
                      [VT_DTYPE_I64] = VT_GPU_##name##_i64, \
                      [VT_DTYPE_BOOL] = VT_GPU_##name##_u8})

/* Blocks and threads of a launch, and the bytes of shared memory that are sized by it. */
typedef struct vt_cuda_grid {
  uint32_t x, y, z, threads, shared;
} vt_cuda_grid;

/* Issues kernel number `kernel` with the struct that its row of kernels.def names. A grid with a
 * zero in it launches nothing. In a rehearsal these only make ready what they would issue. */
vt_status vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid, const void *args);
/* The same where blocks wait for each other, so that all of them have to run at once. The driver
 * refuses what the card has no room for. */
vt_status vt_cuda_launch_at_once(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                 const void *args);
/* The same for a function of a module that was compiled here. */
vt_status vt_cuda_launch_function(vt_cuda_call *c, void *function, vt_cuda_grid grid,
                                  const void *args);
/* Bytes of device memory set to a value, and copied from one place to another. */
vt_status vt_cuda_fill(vt_cuda_call *c, void *to, uint8_t value, uint64_t bytes);
vt_status vt_cuda_move(vt_cuda_call *c, void *to, const void *from, uint64_t bytes);
/* Copies bytes of device memory to the host, and waits for them. A program that does so cannot be
 * recorded, which its rehearsal finds out: there the bytes are zero, and the handler also does what
 * it would do for other ones. */
vt_status vt_cuda_fetch(vt_cuda_call *c, void *to, const void *from, uint64_t bytes);

/* ---- cards ---- */

enum { VT_CUDA_OLDEST = 8 }; /* the compute capability that kernels need: 8.0 */
/* What decides how work is laid out; no bit depends on it. */
typedef struct vt_cuda_traits {
  int ordinal, major, minor, processors; /* 9, 0: sm_90 */
  int at_once;                           /* 1: it can run blocks that wait for each other */
  uint32_t shared;                       /* bytes that one block may have */
  uint64_t memory;                       /* bytes */
  char name[96];
} vt_cuda_traits;

uint32_t vt_cuda_cards(vt_diag *d); /* 0 with a reason when there are none */
vt_status vt_cuda_card_get(uint32_t ordinal, vt_cuda_card **out, vt_diag *d) VT_NODISCARD;
const vt_cuda_traits *vt_cuda_card_traits(const vt_cuda_card *card);
const vt_cu *vt_cuda_card_driver(const vt_cuda_card *card);
/* The card is what calls of this thread are about until `leave`. A code of the driver. */
int vt_cuda_card_enter(const vt_cuda_card *card) VT_NODISCARD;
void vt_cuda_card_leave(const vt_cuda_card *card);
/* The function of a kernel, its module loaded when it is first asked for, ready for launches with
 * `shared` bytes of shared memory. */
vt_status vt_cuda_card_kernel(vt_cuda_card *card, uint32_t kernel, uint32_t shared, void **out,
                              vt_diag *d) VT_NODISCARD;
/* The same for a function of a module that was compiled here. */
vt_status vt_cuda_card_allow(const vt_cuda_card *card, void *function, uint32_t shared,
                             vt_diag *d) VT_NODISCARD;

/* ---- devices ---- */

enum { VT_CUDA_ARENAS = VT_STEPS_ARENAS, VT_CUDA_ALIGNMENT = 256 };
typedef struct vt_cuda_staging vt_cuda_staging;
enum { VT_CUDA_COUNTERS = 1 << 12 };
struct vt_bk_device {
  const vt_bk_host *host;
  vt_cuda_card *card;
  void *stream;
  vt_cuda_staging *staging;
  vt_bk_program *programs; /* whose results the host may look at */
  uint32_t *counters;      /* on the card, VT_CUDA_COUNTERS of them: 0 whenever no kernel runs */
  char fingerprint[160], about[200];
};
/* Says the reason to the host and returns the status: VT_NOMEM where the driver is out of memory,
 * else VT_BACKEND. VT_OK for VT_CU_SUCCESS. */
int32_t vt_cuda_answer(const vt_bk_device *dev, int error, const char *what);
int32_t vt_cuda_refuse(const vt_bk_host *host, int32_t status, const char *text);
/* Enters the device's card; why it cannot is said. */
int32_t vt_cuda_enter(const vt_bk_device *dev) VT_NODISCARD;
/* Tells the host what a user may want to know and is no failure. */
void vt_cuda_note(const vt_bk_device *dev, const char *text);

int32_t vt_cuda_staging_new(vt_bk_device *dev);
void vt_cuda_staging_free(vt_bk_device *dev);
int32_t vt_cuda_buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle);
void vt_cuda_buffer_free(vt_bk_device *dev, uint64_t handle);
int32_t vt_cuda_copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset,
                     uint64_t bytes, uint32_t to_device);
/* Memory of the host, zeroed; NULL when there is none. Freed with the size it was asked with. */
void *vt_cuda_memory_new(const vt_bk_host *host, uint64_t n, uint64_t size);
void vt_cuda_memory_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size);
/* The host's memory for what takes a vt_alloc; as long as the host is there. */
vt_alloc vt_cuda_alloc(const vt_bk_host *host);

/* ---- handlers ---- */

/* One step. While it is planned only the shapes are there; later `data` of a view is an address on
 * the card, which is not looked at here. */
struct vt_cuda_call {
  vt_bk_device *dev;
  const vt_cuda_traits *traits;
  const vt_bk_step *step;
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  const void *attrs;
  void *work; /* what `work` asked for, aligned; what it holds is anything */
  const vt_launch_body *body;
  void *runner;
  vt_gpu_fault *fault;    /* on the card */
  int *faults;            /* set to 1: the record may be used in this run */
  int *waits;             /* set to 1 in a rehearsal: a run waits for what the card has computed */
  uint64_t number;        /* of the step, as errors count them */
  int rehearsal;          /* 1: addresses are none, and nothing is issued */
  vt_cuda_epilogue *tail; /* NULL: none; else what the kernel that ends a product may do with it */
  char *const *base;      /* for that: where the arenas are */
  int tailed;             /* set to 1: it was done */
};
typedef vt_status vt_cuda_run_fn(vt_cuda_call *c);
typedef uint64_t vt_cuda_bytes_fn(const vt_cuda_call *c);

/* A row of cuda_handlers.def. */
typedef struct vt_launch_handler {
  vt_cuda_bytes_fn *work; /* NULL: a step needs no scratch */
  vt_cuda_run_fn *run;
} vt_cuda_handler;
const vt_cuda_handler *vt_cuda_handler_of(uint32_t op); /* NULL when there is none */
/* The steps of body `which`, from its `in` to its `out`. */
vt_status vt_cuda_body_run(vt_cuda_call *c, uint32_t which);

/* vt_cuda_work_none is declared too and never defined: the table has NULL for it. */
#define VT_CUDA(op, work, run)          \
  vt_cuda_bytes_fn vt_cuda_work_##work; \
  vt_cuda_run_fn vt_cuda_run_##run;
#include "cuda_handlers.def"
#undef VT_CUDA

/* ---- chains: pointwise steps ---- */

/* 1 when there are kernels for the op, and for this step of it. */
int vt_cuda_chain_lists(uint32_t op);
int vt_cuda_chain_takes(const vt_bk_step *s);
/* Of steps that all have the shape of the last one's result, none of which but the last is read by
 * others. VT_UNSUPPORTED when they cannot be compiled as one; a single step never is. */
int32_t vt_cuda_chain_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_chain **out) VT_NODISCARD;
void vt_cuda_chain_free(vt_bk_device *dev, vt_cuda_chain *chain);
/* Issues it; `base` says where the arenas are. */
vt_status vt_cuda_chain_run(const vt_cuda_chain *chain, vt_cuda_call *c, char *const *base);

/* ---- moves ---- */

/* The elements of one tensor into those of another of the same shape and type, any strides. */
vt_status vt_cuda_copy_view(vt_cuda_call *c, const vt_view *to, const vt_view *from);
/* A tensor without its axis `axis`, at place `i` along it. */
vt_view vt_cuda_at(const vt_view *v, uint32_t axis, int64_t i);

/* ---- indices that must lie in a range ---- */

/* After the kernels that looked at indices and left the lowest faulty position in `fault`: keeps it
 * with its value, if it is the first of the run. `index` is what positions count in, row-major. */
vt_status vt_cuda_settle(vt_cuda_call *c, const vt_view *index);

/* ---- sizes ---- */

static inline int64_t vt_cuda_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t vt_cuda_most(int64_t a, int64_t b) { return a > b ? a : b; }
/* How many parts of `each` n has, the last maybe smaller. */
static inline int64_t vt_cuda_parts(int64_t n, int64_t each) { return n / each + (n % each != 0); }
static inline uint64_t vt_cuda_aligned(uint64_t bytes) {
  return (bytes + VT_CUDA_ALIGNMENT - 1) / VT_CUDA_ALIGNMENT * VT_CUDA_ALIGNMENT;
}
enum { VT_CUDA_SYSTEM = 1024 }; /* bytes of shared memory that a block costs besides its own */
/* Blocks with so much shared memory that a processor has at once: at least 1, at most `most`. */
static inline int64_t vt_cuda_resident(const vt_cuda_traits *t, uint32_t shared, int64_t most) {
  const int64_t room = ((int64_t)t->shared + VT_CUDA_SYSTEM) / ((int64_t)shared + VT_CUDA_SYSTEM);
  return vt_cuda_most(1, vt_cuda_least(most, room));
}
int64_t vt_cuda_count(const vt_view *v);
int vt_cuda_is_dense(const vt_view *v);
uint32_t vt_cuda_bytes_of(uint32_t dtype); /* of one element */
/* A line of n threads' worth of work, `each` to a thread, in blocks of `threads`; so many blocks at
 * most that a thread goes on with what lies a whole grid further. */
vt_cuda_grid vt_cuda_line(const vt_cuda_call *c, int64_t n, int64_t each, uint32_t threads);

/* ---- programs ---- */

int32_t vt_cuda_step_check(vt_bk_device *dev, const vt_bk_step *s);
uint64_t vt_cuda_step_work(vt_bk_device *dev, const vt_bk_step *s);
int32_t vt_cuda_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                              vt_bk_program **out);
void vt_cuda_program_free(vt_bk_program *p);
int32_t vt_cuda_program_results(vt_bk_program *p, const vt_bk_tensor *results, uint64_t n);
/* What of these bytes is a result has the canonical NaN and no other from here on, until the next
 * run. */
vt_status vt_cuda_programs_leave(vt_bk_device *dev, uint64_t at, uint64_t bytes);
int32_t vt_cuda_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers);
int32_t vt_cuda_program_wait(vt_bk_program *p, vt_bk_error *out);
int32_t vt_cuda_program_metrics(vt_bk_program *p, vt_bk_metrics *out);
#endif
