/* SPDX-License-Identifier: Apache-2.0
 * volta_backend.h - the plug-in ABI: the functions that a backend gives to the host and the other
 * way round. It includes no other header of the project.
 *
 * Rules of this header (checked by a layout test):
 *  1. Only fixed-width integers, pointers and structs of them. No enum, bool, long, bit-field or
 *     struct passed by value.
 *  2. Every struct starts with `size`; fields are appended, never moved. A reader uses a field only
 *     if it is within the writer's `size`.
 *  3. The side that allocates memory frees it. A string that is passed to a function lives for the
 *     call; a string that is returned lives as long as the object that returned it.
 *  4. A backend never aborts, prints, or changes the floating-point mode of the host. It is called
 *     with round-to-nearest and subnormals kept; threads of its own set this themselves.
 *  5. Status values are those of status.def: 0 is success. */
#ifndef VOLTA_BACKEND_H
#define VOLTA_BACKEND_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define VT_BK_ABI_MAJOR 1u /* change = incompatible */
#define VT_BK_SYMBOL "vt_backend_query"

typedef struct vt_bk_device vt_bk_device;   /* opaque, owned by the backend */
typedef struct vt_bk_program vt_bk_program; /* opaque, owned by the backend */

/* Arenas of a plan: each is one buffer. Temporaries, results and scratch share the arena TEMPORARY;
 * the buffers of WORKSPACE and OUTPUT have no bytes. The contents of PARAMETER and STATE change
 * only when `copy` or a step writes them, so a backend may cache data that is derived from them
 * until then. */
#define VT_BK_ARENA_INPUT 0u
#define VT_BK_ARENA_PARAMETER 1u
#define VT_BK_ARENA_GRADIENT 2u
#define VT_BK_ARENA_STATE 3u
#define VT_BK_ARENA_TEMPORARY 4u
#define VT_BK_ARENA_WORKSPACE 5u
#define VT_BK_ARENA_OUTPUT 6u

/* Type, shape and position of a value. */
typedef struct vt_bk_tensor {
  uint32_t size, dtype, rank, arena; /* dtype: see volta_ops.h; arena: index into run's buffers */
  int64_t dim[8], stride[8];         /* extents and strides, in elements; unused entries are 0 */
  uint64_t offset;                   /* position of the first element in the arena, in bytes */
} vt_bk_tensor;

struct vt_bk_step;

/* A body of a region step (loop, cond): a list of steps of its own. Arguments and results have a
 * position like any tensor. An argument may have the same position as an operand or a result of the
 * step; then it is not copied. The op defines when a body runs. */
typedef struct vt_bk_body {
  uint32_t size, n_in, n_out, reserved; /* n_in, n_out: number of arguments, of results */
  const vt_bk_tensor *in, *out;         /* arguments and results */
  uint64_t n_steps;
  const struct vt_bk_step *steps;
} vt_bk_body;

/* One step of a plan. It is plain data without pointers into the graph, and holds everything that
 * the backend needs to decide whether it can run the step, and to run it.
 *
 * Consecutive steps with the same nonzero `group`, at most 64, may run as one launch. A backend
 * runs either all steps of a group as one, or each step separately. The host guarantees:
 *  - Values that the group reads from outside live until the end of the group. Streamed parameters
 *    are copied in before its first step and stay until its last.
 *  - Values that are only used inside the group need not be stored.
 *  - The last result may share memory with an operand from outside, if the group reads that operand
 *    only at the element it writes.
 *  - The scratch of a step overlaps no value that the group reads or writes. The scratch of two
 *    steps of the group may overlap.
 * If a step with another number (a dense copy) is between steps of a group, each must run
 * separately.
 *
 * A pointwise step may have its result at the place of an operand of the same shape: each element
 * is read before it is written. If the device declares `updates_in_place`, a step of an op whose
 * form is `update` (scatter, scatter_nd, scatter_elements and their add, max and min) may have its
 * result at the place of operand 0, in the arena STATE. Then the bytes that no update names must
 * stay as they are and need not be written, and no other operand overlaps the result. */
typedef struct vt_bk_step {
  uint32_t size;
  uint32_t op;          /* op number, as in ops.def and volta_ops.h */
  uint32_t n_in, n_out; /* number of operands, of results */
  /* group: number of the group, see above; 0: no group. region: always 0, the bodies of a step are
   * in `body`. */
  uint32_t group, region;
  const vt_bk_tensor *in, *out; /* operands and results */
  const void *attrs;   /* the op's attribute struct of volta_ops.h; NULL: it has no attributes */
  uint64_t attrs_size; /* bytes of `attrs` */
  uint32_t work_arena, reserved;    /* arena of the scratch that `workspace` asked for */
  uint64_t work_offset, work_bytes; /* position and length of that scratch in the arena */
  uint32_t n_body, reserved_2;      /* n_body: number of bodies */
  const vt_bk_body *body;
} vt_bk_step;

/* The functions and settings that the host gives to the backend. */
typedef struct vt_bk_host {
  uint32_t size, abi_major;
  void *user; /* first argument of the functions below */
  /* Allocator that works like realloc: frees if new_size is 0, allocates if ptr is NULL. */
  void *(*resize)(void *user, void *ptr, uint64_t old_size, uint64_t new_size);
  /* Gives the reason for a status that is about to be returned, or for a device count of 0. */
  void (*diag)(void *user, int32_t status, const char *text);
  /* Reports that step `step` of the current run is finished. It may be called only from the thread
   * that called `run`. The calls are optional and only used in reports; VT_BK_HAS says whether the
   * host has this function. */
  void (*progress)(void *user, uint64_t step);
  uint32_t threads; /* limit on the backend's threads; 0: no limit. No bit may depend on it */
  uint32_t measure; /* 1: the host wants the time of every step, see vt_bk_metrics */
  const char *isa;  /* instruction set not to exceed, "avx2"; NULL: the best available */
  /* Folder in which the backend may store files of its own that are slow to make. Their content
   * must be checked before use, and any file may vanish. The string lives as long as the device.
   * NULL: the backend must store nothing. */
  const char *cache;
  /* Tells the user about an event that is not a failure. It may be called while a program is built
   * or run, from the thread that builds or runs it. */
  void (*note)(void *user, const char *text);
  /* Limit on the total bytes of all files in the folder `cache`, including files of other
   * programs. */
  uint64_t cache_bytes;
} vt_bk_host;

/* Bits of vt_bk_caps.has: what a device declares. A plan that needs a capability which its device
 * does not declare is refused at planning time. A probe tests each declared capability before it is
 * first used; a device that fails its probe is refused. */
#define VT_BK_FLOAT64 UINT64_C(1)                  /* computes in f64 */
#define VT_BK_INT8_EXACT UINT64_C(2)               /* sums products of i8 and u8 exactly */
#define VT_BK_ATOMIC_OPS UINT64_C(4)               /* no write to a shared element is lost */
#define VT_BK_DETERMINISTIC_REDUCTIONS UINT64_C(8) /* sums in the order of docs/numerics.md */
#define VT_BK_ROUNDED_MATH UINT64_C(16)            /* functions are correctly rounded */
#define VT_BK_SUBNORMALS UINT64_C(32)              /* never flushes subnormals to zero */
#define VT_BK_REGIONS UINT64_C(64)                 /* runs steps with bodies: loop, cond */

#define VT_BK_DETERMINISM_STRICT 1u /* promises the bits of the reference in every run */

#define VT_BK_INFERENCE 1u /* runs plans for inference */
#define VT_BK_TRAINING 2u  /* runs plans with gradients and state of an optimiser */

/* Properties of a device. The backend fills the struct up to the caller's `size`. */
typedef struct vt_bk_caps {
  uint32_t size;
  uint32_t alignment;        /* alignment of every tensor's offset, in bytes; a power of two */
  uint32_t dense_only;       /* 1: the device accepts contiguous tensors only */
  uint32_t shares_host;      /* 1: device memory is host memory */
  const char *about;         /* one sentence about the device */
  const char *fingerprint;   /* must change whenever a plan for this device might change */
  uint64_t memory;           /* bytes that programs can still allocate now; 0: not known */
  uint64_t has;              /* declared capabilities, VT_BK_FLOAT64 | ... */
  uint32_t determinism;      /* VT_BK_DETERMINISM_STRICT; 0: nothing is promised */
  uint32_t serves;           /* VT_BK_INFERENCE | VT_BK_TRAINING */
  uint32_t updates_in_place; /* 1: a scatter may have its result at the place of its first operand,
                                see vt_bk_step; 0: the host asks for no such step */
  uint32_t reserved;
} vt_bk_caps;

/* The first error of a run: the one with the lowest step, then with the lowest position. No step
 * after it may write the arena STATE. */
typedef struct vt_bk_error {
  uint32_t size;
  int32_t status; /* 0: no error */
  /* Number of the step; the steps of the bodies of a step are counted directly after that step. */
  uint64_t step;
  /* Row-major position of the index that is out of range, in the operand with the indices. */
  uint64_t position;
  int64_t value; /* the index that is out of range */
} vt_bk_error;

/* The times of the last run's steps, without steps of bodies, in nanoseconds since the run began.
 */
typedef struct vt_bk_metrics {
  uint32_t size, reserved;
  uint64_t n_steps;            /* length of `begin` and `end`; 0: nothing was measured */
  const uint64_t *begin, *end; /* start and end of each step; valid until the next run */
} vt_bk_metrics;

/* Bytes that a backend keeps for a program from program_build to program_free, besides the arenas
 * of its plan. */
typedef struct vt_bk_memory {
  uint32_t size, reserved;
  uint64_t device; /* memory of the device: packed weights, records of errors */
  uint64_t host;   /* host memory, if the device has a memory of its own: buffers for copies */
} vt_bk_memory;

/* The functions that the backend gives to the host. Those marked optional may be NULL. */
typedef struct vt_bk_api {
  uint32_t size, abi_major;
  const char *name; /* "reference", "cpu", "cuda" */
  /* Writes the number of devices; 0 devices are not a failure. */
  int32_t (*device_count)(const vt_bk_host *host, uint32_t *out_count);
  int32_t (*device_open)(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev);
  void (*device_close)(vt_bk_device *dev);
  int32_t (*capabilities)(vt_bk_device *dev, vt_bk_caps *out_caps);
  /* 1 if the device has a kernel for op `op`. A composition that is listed is not decomposed. */
  int32_t (*op_listed)(vt_bk_device *dev, uint32_t op);
  /* VT_OK if the device can run the step, else VT_UNSUPPORTED. `run` must never refuse a step that
   * was accepted here, so a case that is not known to work must be refused. */
  int32_t (*step_check)(vt_bk_device *dev, const vt_bk_step *step);
  /* Bytes of scratch that the step needs. */
  int32_t (*workspace)(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes);
  /* Builds a program from steps. The host keeps `steps` alive until program_free. */
  int32_t (*program_build)(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                           vt_bk_program **out_prog);
  void (*program_free)(vt_bk_program *prog);
  int32_t (*buffer_new)(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle);
  void (*buffer_free)(vt_bk_device *dev, uint64_t handle);
  int32_t (*copy)(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                  uint32_t to_device);
  int32_t (*run)(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers);
  int32_t (*wait)(vt_bk_program *prog, vt_bk_error *out_error);
  /* Optional. Called after `wait` if `measure` is 1. Without it the host times steps by the calls
   * of `progress`. */
  int32_t (*metrics)(vt_bk_program *prog, vt_bk_metrics *out_metrics);
  /* Optional. Returns the host address of a buffer if the host can read and write its bytes there
   * between runs; NULL if it cannot. The host then reads results in place instead of copying them.
   * The address is valid until `buffer_free`. It is not called for PARAMETER and STATE, because
   * their contents may change only through `copy` or a step. */
  void *(*buffer_map)(vt_bk_device *dev, uint64_t handle);
  /* Optional. Called before the first run with the results that the host may read after each run.
   * VT_OK promises that every NaN in them is canonical after `wait`, read by `copy` or through
   * `buffer_map`. After any other status the host makes the NaNs canonical itself. */
  int32_t (*program_results)(vt_bk_program *prog, const vt_bk_tensor *results, uint64_t n_results);
  /* Optional. One short lower-case word on how the device runs an op that it lists: "vector",
   * "move", "region"; NULL: no word. Only lists of ops show it. It lives as long as the device. */
  const char *(*op_way)(vt_bk_device *dev, uint32_t op);
  /* Optional. Lets programs of several devices use the buffer `handle`; all are devices of this
   * backend with the same number, in any thread. The host calls it first on the device that
   * allocated and filled the buffer, and then on each device whose programs will use it. When it
   * returns, all earlier copies of `dev` to the buffer are complete. The buffer is freed by the
   * device that allocated it, after the programs. Without this function every program has its own
   * copy of parameters, and a model with states is refused.
   *   writable = 0: the arena PARAMETER of programs that are built on `dev` from now on. No copy
   * and no step writes it until it is freed, so the programs may read it at the same time, and the
   *   backend may share what it derives from it, such as packed weights, among them.
   *   writable = 1: the arena STATE. The programs use it one after the other. */
  int32_t (*buffer_share)(vt_bk_device *dev, uint64_t handle, uint32_t writable);
  /* Optional. Says, before any memory is taken, what the backend will keep for a program of these
   * steps. It counts towards the memory budget. Without this function it is taken to be nothing. */
  int32_t (*program_memory)(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                            vt_bk_memory *out_memory);
} vt_bk_api;

/* Type of the one function that a plug-in exports, VT_BK_SYMBOL. It returns NULL if the backend
 * does not support `host->abi_major`. */
typedef const vt_bk_api *vt_backend_query_fn(const vt_bk_host *host);

/* 1 if struct `p` of type `type` is large enough to have `field` and the field is not NULL. */
#define VT_BK_HAS(p, type, field) \
  ((p)->size >= offsetof(type, field) + sizeof((p)->field) && (p)->field != NULL)

#ifdef __cplusplus
}
#endif
#endif
