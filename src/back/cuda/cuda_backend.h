/* SPDX-License-Identifier: Apache-2.0
 * cuda_backend.h - private to src/back/cuda: the types and functions that its files share. A card
 * is a GPU with the kernels of this binary, one object per GPU for the whole process. A device is a
 * card and a stream. A program is a list of launches, each for one step or for one group. Building
 * a program rehearses its launches, which loads their kernels. The first run issues them, the
 * second records them as a CUDA graph, and later runs replay the graph. Threads are assigned to
 * results only, never to parts of a sum, so no bit depends on the GPU's model.
 *
 *   cuda_driver.c    loads the driver's entry points (cu.def)
 *   cuda_card.c      GPUs, their contexts, and modules of kernels (kernels.def)
 *   cuda_backend.c   the ABI: opens devices and declares what they can do
 *   cuda_memory.c    buffers, staging memory, copies
 *   cuda_program.c   binds steps to handlers once; runs, records and replays them
 *   cuda_launch.c    what handlers call to issue kernels and copies
 *   cuda_copy.c      copies between tensors of one shape
 *   cuda_chain.c     pointwise steps, singly or as chains
 *   cuda_fused.c     generated kernels for chains; src/emit writes their source text
 *   cuda_epilogue.c  generated kernels for a matrix product and its epilogue
 *   cuda_generated.c      compiles generated kernels (cuda_nvrtc.c) and caches them (cuda_cache.c)
 *
 * Handlers (cuda_handlers.def) choose the kernels of an op and their grids. They only issue work.
 * Only vt_cuda_fetch_to_host waits for the GPU. A rehearsal of a step calls its handler without
 * issuing anything.
 *
 * Kernels (*.cu) use the portable primitives of gpu_words.cuh only. A kernel takes one struct,
 * declared in a gpu_*.h that both C and CUDA include. */
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

/* Kernel numbers by bytes of an element or by its type: VT_CUDA_SIZES(pad)[4] is VT_GPU_pad_4. Each
 * number is named, so nothing depends on the order of kernels.def. */
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

/* Thread blocks of a launch along each axis, threads per block, and bytes of dynamic shared memory
 * per block. */
typedef struct vt_cuda_grid {
  uint32_t x, y, z, threads, shared;
} vt_cuda_grid;

/* Issues kernel number `kernel` with the struct that its row of kernels.def names. A grid with a
 * zero extent launches nothing. In a rehearsal this only loads the kernel; it launches nothing. */
vt_status vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid, const void *args);
/* Cooperative launch: like vt_cuda_launch, for kernels whose thread blocks wait for each other, so
 * all blocks must be resident at the same time. Fails if the card cannot hold them all. */
vt_status vt_cuda_launch_cooperative(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                     const void *args);
/* Like vt_cuda_launch, for a function of a module that NVRTC compiled. */
vt_status vt_cuda_launch_function(vt_cuda_call *c, void *function, vt_cuda_grid grid,
                                  const void *args);
/* vt_cuda_set_bytes sets `bytes` bytes of device memory to a value; vt_cuda_copy_on_device copies
 * them within device memory. */
vt_status vt_cuda_set_bytes(vt_cuda_call *c, void *to, uint8_t value, uint64_t bytes);
vt_status vt_cuda_copy_on_device(vt_cuda_call *c, void *to, const void *from, uint64_t bytes);
/* Copies bytes of device memory to the host and waits for them. A program that calls this cannot be
 * recorded as a graph; its rehearsal notices that. In a rehearsal the bytes are zero, and the
 * handler must also rehearse the launches that it would issue for other values. */
vt_status vt_cuda_fetch_to_host(vt_cuda_call *c, void *to, const void *from, uint64_t bytes);

/* ---- cards ---- */

enum { VT_CUDA_OLDEST = 8 }; /* the kernels run on GPUs of compute capability 8.0 or higher */
/* Properties of a GPU that decide grids and kernel variants. No bit of a result depends on them. */
typedef struct vt_cuda_traits {
  /* Driver's device number; compute capability, for instance 9 and 0 for sm_90; multiprocessors. */
  int ordinal, major, minor, processors;
  int cooperative; /* 1 if the GPU supports cooperative launches */
  uint32_t shared; /* most bytes of shared memory that one thread block may have */
  uint64_t memory; /* bytes of device memory */
  char name[96];
} vt_cuda_traits;

/* Returns the number of usable GPUs. If it is 0, d has the reason. */
uint32_t vt_cuda_card_count(vt_diag *d);
vt_status vt_cuda_card_get(uint32_t ordinal, vt_cuda_card **out, vt_diag *d) VT_NODISCARD;
const vt_cuda_traits *vt_cuda_card_traits(const vt_cuda_card *card);
const vt_cu *vt_cuda_card_driver(const vt_cuda_card *card);
/* Makes the card's context current for the driver calls of this thread, until `leave`. Returns a
 * status of the driver. */
int vt_cuda_card_enter(const vt_cuda_card *card) VT_NODISCARD;
void vt_cuda_card_leave(const vt_cuda_card *card);
/* Returns the function of a kernel, allowed to use `shared` bytes of dynamic shared memory. The
 * first call for a kernel loads its module. */
vt_status vt_cuda_card_kernel(vt_cuda_card *card, uint32_t kernel, uint32_t shared, void **out,
                              vt_diag *d) VT_NODISCARD;
/* Raises the dynamic shared memory that a function may use to `shared` bytes. For functions of
 * modules that NVRTC compiled. */
vt_status vt_cuda_card_allow_shared(const vt_cuda_card *card, void *function, uint32_t shared,
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
  vt_bk_program *programs; /* list of the programs whose results the host may read */
  uint32_t *counters; /* VT_CUDA_COUNTERS counters in device memory; all 0 while no kernel runs */
  char fingerprint[160], about[200];
};
/* Reports a driver's error to the host and returns its status: VT_OK for VT_CU_SUCCESS, VT_NOMEM if
 * the driver is out of memory, else VT_BACKEND. */
int32_t vt_cuda_report_driver_error(const vt_bk_device *dev, int error, const char *what);
int32_t vt_cuda_report(const vt_bk_host *host, int32_t status, const char *text);
/* Makes the context of the device's card current; on failure reports why to the host. */
int32_t vt_cuda_enter_device(const vt_bk_device *dev) VT_NODISCARD;
/* Passes information for the user to the host; it is not an error. */
void vt_cuda_send_note(const vt_bk_device *dev, const char *text);

int32_t vt_cuda_staging_new(vt_bk_device *dev);
void vt_cuda_staging_free(vt_bk_device *dev);
int32_t vt_cuda_buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle);
int32_t vt_cuda_buffer_share(vt_bk_device *dev, uint64_t handle, uint32_t writable);
void vt_cuda_buffer_free(vt_bk_device *dev, uint64_t handle);
int32_t vt_cuda_buffer_copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset,
                            uint64_t bytes, uint32_t to_device);
/* Allocates n * size bytes of host memory and zeroes them; returns NULL if there is no memory. Free
 * it with the same n and size. */
void *vt_cuda_host_memory_new(const vt_bk_host *host, uint64_t n, uint64_t size);
void vt_cuda_host_memory_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size);
/* Wraps the host's allocator as a vt_alloc. It is valid as long as the host. */
vt_alloc vt_cuda_host_allocator(const vt_bk_host *host);

/* ---- handlers ---- */

/* One step as its handler sees it. While scratch is being planned only the shapes are set. Later
 * `data` of a view is a device address, which the host must not dereference. */
struct vt_cuda_call {
  vt_bk_device *dev;
  const vt_cuda_traits *traits;
  const vt_bk_step *step;
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  const void *attrs;
  void *work; /* scratch of the size that the handler's `work` returned, aligned, uninitialized */
  const vt_launch_body *body;
  void *runner;
  vt_gpu_fault *fault; /* device address of the run's fault record */
  int *faults;         /* vt_cuda_record_fault sets it to 1: the step may write the fault record */
  /* vt_cuda_fetch_to_host sets it to 1 in a rehearsal: a run will wait for results on the host */
  int *waits;
  uint64_t number;            /* number of the step in its program, which error records give */
  int rehearsal;              /* 1 in a rehearsal: addresses are NULL and nothing is issued */
  vt_cuda_epilogue *epilogue; /* epilogue to run inside the product's kernel, or NULL */
  char *const *base;          /* addresses of the arenas, for the epilogue's operands */
  int epilogue_done;          /* set to 1 when the product's kernel ran the epilogue */
};
typedef vt_status vt_cuda_run_fn(vt_cuda_call *c);
typedef uint64_t vt_cuda_bytes_fn(const vt_cuda_call *c);

/* The handler of an op: a row of cuda_handlers.def. */
typedef struct vt_launch_handler {
  vt_cuda_bytes_fn *work; /* returns bytes of scratch of a step; NULL if none is needed */
  vt_cuda_run_fn *run;
} vt_cuda_handler;
const vt_cuda_handler *vt_cuda_handler_of(uint32_t op); /* returns NULL if the op has no handler */
/* Issues the steps of the region's body number `body`, from its inputs to its outputs. */
vt_status vt_cuda_body_issue(vt_cuda_call *c, uint32_t body);

/* vt_cuda_scratch_none is declared but never defined: the table of handlers has NULL for it. */
#define VT_CUDA(op, work, run)             \
  vt_cuda_bytes_fn vt_cuda_scratch_##work; \
  vt_cuda_run_fn vt_cuda_run_##run;
#include "cuda_handlers.def"
#undef VT_CUDA

/* ---- chains: pointwise steps ---- */

/* vt_cuda_is_pointwise returns 1 if there are pointwise kernels for the op,
 * vt_cuda_has_pointwise_kernel if there is one for the step. */
int vt_cuda_is_pointwise(uint32_t op);
int vt_cuda_has_pointwise_kernel(const vt_bk_step *s);
/* Builds a chain from steps that have the shape of the last one's result. Only the last step's
 * result may be read by other steps. VT_UNSUPPORTED if the steps cannot be compiled as one kernel;
 * a single step is always supported. */
int32_t vt_cuda_chain_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_chain **out) VT_NODISCARD;
void vt_cuda_chain_free(vt_bk_device *dev, vt_cuda_chain *chain);
/* Issues the chain; base[i] is the address of arena i. */
vt_status vt_cuda_chain_run(const vt_cuda_chain *chain, vt_cuda_call *c, char *const *base);

/* ---- moves ---- */

/* Copies the elements of one tensor to another of the same shape and type; strides are arbitrary.
 */
vt_status vt_cuda_copy_view(vt_cuda_call *c, const vt_view *to, const vt_view *from);
/* Returns the slice of a tensor at index `i` of axis `axis`; the slice lacks that axis. */
vt_view vt_cuda_subview_at(const vt_view *v, uint32_t axis, int64_t i);

/* ---- indices that must lie in a range ---- */

/* Issue this after the kernels that left the lowest faulty position in `fault`. It records that
 * position with its step and value, if it is the first fault of the run. Positions count row-major
 * in `index`. */
vt_status vt_cuda_record_fault(vt_cuda_call *c, const vt_view *index);

/* ---- sizes ---- */

static inline int64_t vt_cuda_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t vt_cuda_max(int64_t a, int64_t b) { return a > b ? a : b; }
/* Returns n / each, rounded up. */
static inline int64_t vt_cuda_ceil_div(int64_t n, int64_t each) {
  return n / each + (n % each != 0);
}
static inline uint64_t vt_cuda_align_up(uint64_t bytes) {
  return (bytes + VT_CUDA_ALIGNMENT - 1) / VT_CUDA_ALIGNMENT * VT_CUDA_ALIGNMENT;
}
/* Bytes of shared memory that the system reserves per thread block. */
enum { VT_CUDA_RESERVED_SHARED = 1024 };
/* How many thread blocks with `shared_bytes` of shared memory are resident on a multiprocessor: at
 * least 1, at most `most`. */
static inline int64_t vt_cuda_resident_per_processor(const vt_cuda_traits *t, uint32_t shared_bytes,
                                                     int64_t most) {
  const int64_t room = ((int64_t)t->shared + VT_CUDA_RESERVED_SHARED) /
                       ((int64_t)shared_bytes + VT_CUDA_RESERVED_SHARED);
  return vt_cuda_max(1, vt_cuda_min(most, room));
}
int64_t vt_cuda_element_count(const vt_view *v);
int vt_cuda_is_dense(const vt_view *v);
uint32_t vt_cuda_bytes_of(uint32_t dtype); /* returns the bytes of one element of the type */
/* A one-dimensional grid over `items` items, `items_per_thread` per thread, in blocks of `threads`.
 * The number of blocks is limited, so threads may go round a grid-stride loop more than once. */
vt_cuda_grid vt_cuda_grid_over(const vt_cuda_call *c, int64_t items, int64_t items_per_thread,
                               uint32_t threads);

/* ---- programs ---- */

int32_t vt_cuda_step_check(vt_bk_device *dev, const vt_bk_step *s);
uint64_t vt_cuda_step_scratch(vt_bk_device *dev, const vt_bk_step *s);
/* Writes the bytes that a program takes besides its arenas: on the device for its fault record and
 * counters, on the host for the pinned memory for copies and for reading the record. */
int32_t vt_cuda_program_memory(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                               vt_bk_memory *out);
/* Bytes of pinned memory that a device has for copies. */
uint64_t vt_cuda_staging_bytes(void);
int32_t vt_cuda_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                              vt_bk_program **out);
void vt_cuda_program_free(vt_bk_program *p);
int32_t vt_cuda_program_set_results(vt_bk_program *p, const vt_bk_tensor *results, uint64_t n);
/* Writes the canonical NaN over every NaN of those results of the device's programs that are in
 * these bytes. It stays until a run writes the results again. */
vt_status vt_cuda_programs_canonicalize(vt_bk_device *dev, uint64_t address, uint64_t bytes);
int32_t vt_cuda_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers);
int32_t vt_cuda_program_wait(vt_bk_program *p, vt_bk_error *out);
int32_t vt_cuda_program_metrics(vt_bk_program *p, vt_bk_metrics *out);
#endif
