/* SPDX-License-Identifier: Apache-2.0
 * volta_backend.h - the plug-in ABI. Stands alone: includes nothing of the project.
 *
 * Rules of this header (checked by a layout test):
 *  1. Only fixed-width integers, pointers and structs of them. No enum, bool, long, bit-field or
 *     struct passed by value.
 *  2. Every struct starts with `size`; fields are appended, never moved. A reader looks at a field
 *     only if it lies within the writer's `size`.
 *  3. Whoever allocates frees. Strings passed in live for the call, strings passed out live as long
 *     as the object that returned them.
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

/* Arenas of a plan: each is one buffer. Temporaries, results and scratch share the one arena
 * TEMPORARY; the buffers of WORKSPACE and OUTPUT have no bytes. What lies in PARAMETER and STATE
 * changes between runs only where `copy` or a step writes it, so whatever is derived from it may be
 * kept until then. */
#define VT_BK_ARENA_INPUT 0u
#define VT_BK_ARENA_PARAMETER 1u
#define VT_BK_ARENA_GRADIENT 2u
#define VT_BK_ARENA_STATE 3u
#define VT_BK_ARENA_TEMPORARY 4u
#define VT_BK_ARENA_WORKSPACE 5u
#define VT_BK_ARENA_OUTPUT 6u

/* Where a value lies and what it looks like. */
typedef struct vt_bk_tensor {
  uint32_t size, dtype, rank, arena; /* dtype: volta_ops.h; arena: index into run's buffers */
  int64_t dim[8], stride[8];         /* elements; unused entries are 0 */
  uint64_t offset;                   /* bytes into the arena */
} vt_bk_tensor;

struct vt_bk_step;

/* A body of a region step (loop, cond): a list of steps of its own. Arguments and results have
 * places like any tensor; an argument may lie where an operand or a result of the step lies, and
 * is then not copied. What runs when is said by the op. */
typedef struct vt_bk_body {
  uint32_t size, n_in, n_out, reserved;
  const vt_bk_tensor *in, *out;
  uint64_t n_steps;
  const struct vt_bk_step *steps;
} vt_bk_body;

/* One step of a plan: plain data, no pointers into the graph, everything needed to decide whether
 * it can run and then to run it.
 *
 * Neighbours with one number in `group`, at most 64, may be run as one: all of them, or each alone.
 * What they read from outside the group lives to its end; parameters that are streamed come in
 * before its first step and stay to its last. Values made and read inside need not be stored. The
 * last result may lie over an operand from outside that members read only at the place written.
 * Scratch of a member overlaps no value that the group reads or makes, but scratch of members may
 * overlap each other. Where a step with another number stands between members (a dense copy), each
 * is run alone. */
typedef struct vt_bk_step {
  uint32_t size;
  uint32_t op; /* explicit number of a row of ops.def */
  uint32_t n_in, n_out;
  uint32_t group, region; /* fusion group, see above; nested step list; 0 = none */
  const vt_bk_tensor *in, *out;
  const void *attrs; /* layout given by volta_ops.h; NULL for an op without attributes */
  uint64_t attrs_size;
  uint32_t work_arena, reserved; /* where the bytes asked for by `workspace` lie */
  uint64_t work_offset, work_bytes;
  uint32_t n_body, reserved_2;
  const vt_bk_body *body;
} vt_bk_step;

/* What the host offers to the backend. */
typedef struct vt_bk_host {
  uint32_t size, abi_major;
  void *user;
  void *(*resize)(void *user, void *ptr, uint64_t old_size, uint64_t new_size);
  /* The reason behind a status that is about to be returned, or behind a count of no devices. */
  void (*diag)(void *user, int32_t status, const char *text);
  /* Step `step` of the run under way is finished: for reports alone, and only from the thread that
   * called `run`. A backend may leave it out; VT_BK_HAS says whether the host has it. */
  void (*progress)(void *user, uint64_t step);
  uint32_t threads; /* how many the backend may keep busy; 0: as it likes. No bit depends on it */
  uint32_t measure; /* 1: the time of every step is wanted, see vt_bk_metrics */
  const char *isa;  /* instructions it is held to, "avx2"; NULL: the best there are */
  /* A folder in which it may keep what takes long to make, in files of its own; nothing there is to
   * be trusted, and anything may vanish. It lives as long as the device. NULL: nothing is kept. */
  const char *cache;
  /* What a user may want to know and is no failure; while a program is built or run, and from the
   * thread that builds or runs it. */
  void (*note)(void *user, const char *text);
  uint64_t cache_bytes; /* the most that may lie in `cache`, files of others counted */
} vt_bk_host;

/* What a device declares in vt_bk_caps.has. Whatever a plan needs of these and the device does not
 * declare is refused when it is planned; whatever is declared is tried before it is first used, and
 * a device that does not keep it is refused. */
#define VT_BK_FLOAT64 UINT64_C(1)                  /* computes in f64 */
#define VT_BK_INT8_EXACT UINT64_C(2)               /* sums products of i8 and u8 exactly */
#define VT_BK_ATOMIC_OPS UINT64_C(4)               /* writes that meet at one place all count */
#define VT_BK_DETERMINISTIC_REDUCTIONS UINT64_C(8) /* sums in the order that is laid down */
#define VT_BK_ROUNDED_MATH UINT64_C(16)            /* functions are rounded correctly */
#define VT_BK_SUBNORMALS UINT64_C(32)              /* keeps subnormals, in and out */
#define VT_BK_REGIONS UINT64_C(64)                 /* runs steps with bodies: loop, cond */

#define VT_BK_DETERMINISM_STRICT 1u /* the bits of the reference, always */

#define VT_BK_INFERENCE 1u
#define VT_BK_TRAINING 2u /* plans with gradients and state */

/* What a device can do; filled up to the caller's `size`. */
typedef struct vt_bk_caps {
  uint32_t size;
  uint32_t alignment; /* of every tensor's offset, in bytes; a power of two */
  uint32_t dense_only;
  uint32_t shares_host;    /* 1: its memory is the host's own */
  const char *about;       /* one sentence */
  const char *fingerprint; /* changes whenever a plan for this device might change */
  uint64_t memory;         /* bytes that programs may still take here, right now; 0: not known */
  uint64_t has;            /* VT_BK_FLOAT64 | ... */
  uint32_t determinism;    /* VT_BK_DETERMINISM_STRICT; 0: nothing is promised */
  uint32_t serves;         /* VT_BK_INFERENCE | VT_BK_TRAINING */
} vt_bk_caps;

/* The first error of a run: lowest step, then lowest position. */
typedef struct vt_bk_error {
  uint32_t size;
  int32_t status;    /* 0: none */
  uint64_t step;     /* steps are counted as they are written: one, then those of its bodies */
  uint64_t position; /* row-major position in the operand at fault */
  int64_t value;     /* the index met there */
} vt_bk_error;

/* The times of the last run's steps, bodies not among them, in nanoseconds since it began. */
typedef struct vt_bk_metrics {
  uint32_t size, reserved;
  uint64_t n_steps;            /* 0: nothing was measured */
  const uint64_t *begin, *end; /* one of each a step; they live until the next run */
} vt_bk_metrics;

/* What the backend offers to the host. */
typedef struct vt_bk_api {
  uint32_t size, abi_major;
  const char *name; /* "reference", "cpu", "cuda" */
  int32_t (*device_count)(const vt_bk_host *host, uint32_t *out_count);
  int32_t (*device_open)(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev);
  void (*device_close)(vt_bk_device *dev);
  int32_t (*capabilities)(vt_bk_device *dev, vt_bk_caps *out_caps);
  /* 1 when the device has a kernel for op `op` (for a composition: wants it whole). */
  int32_t (*op_listed)(vt_bk_device *dev, uint32_t op);
  /* VT_OK or VT_UNSUPPORTED. Must be decided here, never while running; the default is no. */
  int32_t (*step_check)(vt_bk_device *dev, const vt_bk_step *step);
  int32_t (*workspace)(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes);
  int32_t (*program_build)(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                           vt_bk_program **out_prog);
  void (*program_free)(vt_bk_program *prog);
  int32_t (*buffer_new)(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle);
  void (*buffer_free)(vt_bk_device *dev, uint64_t handle);
  int32_t (*copy)(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                  uint32_t to_device);
  int32_t (*run)(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers);
  int32_t (*wait)(vt_bk_program *prog, vt_bk_error *out_error);
  /* May be left out: then steps are timed by `progress`. Asked after `wait`, if `measure` is 1. */
  int32_t (*metrics)(vt_bk_program *prog, vt_bk_metrics *out_metrics);
  /* May be left out. Where the bytes of a buffer lie, when the host can read and write them there
   * between runs: results are then looked at where they are instead of being copied. NULL: it
   * cannot. Holds until `buffer_free`. Not asked for PARAMETER and STATE, which change as said. */
  void *(*buffer_map)(vt_bk_device *dev, uint64_t handle);
  /* May be left out. Told before the first run: what the host may look at after each. VT_OK: in
   * what it sees of them after `wait`, by `copy` or through `buffer_map`, every NaN is the
   * canonical one; anything else: the host sees to it. */
  int32_t (*program_results)(vt_bk_program *prog, const vt_bk_tensor *results, uint64_t n_results);
  /* May be left out. How the device does an op that it lists, in one short word of small letters,
   * for lists alone: "vector", "move", "region". It lives as long as the device; NULL: no word. */
  const char *(*op_way)(vt_bk_device *dev, uint32_t op);
} vt_bk_api;

/* The one exported symbol. Returns NULL when it cannot serve `host->abi_major`. */
typedef const vt_bk_api *vt_backend_query_fn(const vt_bk_host *host);

#define VT_BK_HAS(p, type, field) \
  ((p)->size >= offsetof(type, field) + sizeof((p)->field) && (p)->field != NULL)

#ifdef __cplusplus
}
#endif
#endif
