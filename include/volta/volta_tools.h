/* SPDX-License-Identifier: Apache-2.0
 * volta_tools.h - what tools around a run need: tensor files, comparison of results, the op table,
 * plans, metrics, the backends and the state of this installation. The rules of volta.h hold. */
#ifndef VOLTA_TOOLS_H
#define VOLTA_TOOLS_H
#include "volta.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- tensor files: npy, npz, safetensors, IDX (packed by gzip or not), CSV ------------------ */

/* A file read and checked whole: named tensors, in file order (npy, IDX, CSV: one, with an empty
 * name).
 * NaN is canonical after reading. Tensors live as long as the archive. */
typedef struct vt_archive vt_archive;
/* The format is told by content, not by the name of the file; but CSV, which has no mark of its
 * own, by a name that ends in ".csv". */
VT_API vt_status vt_archive_read(const char *path, const vt_alloc *alloc, vt_archive **out,
                                 vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_archive_parse(const void *bytes, size_t n, const vt_alloc *alloc,
                                  vt_archive **out, vt_diag *d) VT_NODISCARD;
VT_API void vt_archive_free(vt_archive *a);
VT_API const char *vt_archive_format(
    const vt_archive *a); /* "npy", "npz", "safetensors", "idx", "csv" */
VT_API uint32_t vt_archive_count(const vt_archive *a);
VT_API vt_status vt_archive_tensor(const vt_archive *a, uint32_t i, const char **out_name,
                                   vt_tensor *out) VT_NODISCARD;
VT_API vt_status vt_archive_find(const vt_archive *a, const char *name, vt_tensor *out,
                                 vt_diag *d) VT_NODISCARD;

/* Written to a temporary name and renamed. bf16 has no npy form: VT_UNSUPPORTED. */
VT_API vt_status vt_npy_write(const char *path, const vt_tensor *t, vt_diag *d) VT_NODISCARD;
/* Names are written in ascending byte order; duplicates are VT_NAME. */
VT_API vt_status vt_safetensors_write(const char *path, uint32_t n, const char *const *names,
                                      const vt_tensor *tensors, vt_diag *d) VT_NODISCARD;

/* The bytes that numpy.savez writes: npy files, stored. Names as above. */
VT_API vt_status vt_npz_write(const char *path, uint32_t n, const char *const *names,
                              const vt_tensor *tensors, vt_diag *d) VT_NODISCARD;

/* A table of numbers as text. Each is rounded once, straight to the type that is asked for. */
typedef struct vt_csv_options {
  uint32_t size;
  uint32_t dtype;     /* f32, f64 or i64; 0: i64 if every number is a whole one, else f64 */
  const char *column; /* NULL: all, [rows, columns]; else the one of that name, [rows] */
} vt_csv_options;
VT_API vt_status vt_csv_read(const char *path, const vt_csv_options *options, const vt_alloc *alloc,
                             vt_archive **out, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_csv_parse(const void *bytes, size_t n, const vt_csv_options *options,
                              const vt_alloc *alloc, vt_archive **out, vt_diag *d) VT_NODISCARD;

/* Any bytes: the file is there whole or not at all. */
VT_API vt_status vt_bytes_write(const char *path, const void *bytes, size_t n,
                                vt_diag *d) VT_NODISCARD;

/* ---- comparison ----------------------------------------------------------------------------- */

/* Two tensors of one type and shape, bit for bit, every NaN being one value. */
typedef struct vt_compare {
  uint32_t size;
  uint32_t reserved;
  uint64_t compared, differing;
  uint64_t first;            /* row-major index of the first differing element */
  uint64_t first_a, first_b; /* its bit patterns */
  uint64_t largest;          /* largest distance, in representable values (integers: difference) */
} vt_compare;
VT_API vt_status vt_tensor_compare(const vt_tensor *a, const vt_tensor *b, vt_compare *out,
                                   vt_diag *d) VT_NODISCARD;

/* ---- the op table --------------------------------------------------------------------------- */

typedef struct vt_op_row {
  uint32_t number, min_in, max_in;
  uint32_t prim; /* 1: a backend owes it; 0: a composition, decomposed unless listed as fused */
  const char *name;
  char signature[160];  /* "softmax(x, axis=-1)" */
  const char *numerics; /* "exact", "rounded", "ordered", "move", "random", "bodies", "composed" */
  const char *help;     /* one sentence */
  const char *results;  /* "y", "values, indices"; "..." where their number is not fixed */
  const char *needs;    /* of a backend: "plain", "reductions", "int8", "regions", "collisions" */
  const char *flat;     /* why it has no gradient; NULL where it has one */
  /* The functions that the row names, each in src/op; "none" and "no_work" where there is none. */
  const char *operands, *attrs, *verify, *shape, *decomposition, *kernel, *work;
  const char *gradient; /* NULL where it has none */
} vt_op_row;
VT_API uint32_t vt_op_count(void);
VT_API vt_status vt_op_row_at(uint32_t i, vt_op_row *out) VT_NODISCARD; /* ascending number */
/* 1 if `backend` ("reference:1") runs op `number` itself, 0 if not. */
VT_API vt_status vt_op_supported(const char *backend, uint32_t number, int *out,
                                 vt_diag *d) VT_NODISCARD;
/* The same of `o->backend`, which may be a plug-in that `o->policy` lets in. */
VT_API vt_status vt_op_supported_by(const vt_options *o, uint32_t number, int *out,
                                    vt_diag *d) VT_NODISCARD;

/* What `o->backend` makes of op `number`, in a word: its own where it runs the op itself ("vector",
 * "move", "region"; "itself" where it has none), "decomposed", or "no". */
#define VT_OP_SUPPORT 16
VT_API vt_status vt_op_support(const vt_options *o, uint32_t number, char out[VT_OP_SUPPORT],
                               vt_diag *d) VT_NODISCARD;

/* ---- plans: every byte of a run, before any is taken ------------------------------------------
 */

/* A model bound, lowered and planned for a backend that is asked and not used. Same options and
 * same plan as vt_program_new. */
typedef struct vt_planned vt_planned;
VT_API vt_status vt_planned_new(const vt_model *m, const vt_options *o, vt_planned **out,
                                vt_diag *d) VT_NODISCARD;
VT_API void vt_planned_free(vt_planned *p);
VT_API const char *vt_planned_backend(const vt_planned *p); /* "reference:0" */
/* As of programs. */
VT_API int vt_planned_plugin(const vt_planned *p, uint8_t out[32]);
VT_API int vt_planned_unadmitted(const vt_planned *p);
VT_API const char *vt_planned_fallback(const vt_planned *p);
/* The plan as text, and its digests: `core` is the same for every backend that keeps the same
 * compositions whole, `target` is the backend's own. */
VT_API const char *vt_planned_text(const vt_planned *p);
VT_API void vt_planned_digest(const vt_planned *p, uint8_t out_core[32], uint8_t out_target[32]);

/* Classes of memory: "host_input", "parameter", ... say what bytes are there for; all but those of
 * vt_memory_class_on_device() = 0 lie on the device. NULL past the end. An arena is one stretch of
 * bytes, named by the first of its classes: temporaries, workspace and outputs share one. */
enum { VT_MEMORY_CLASSES = 8 };
VT_API const char *vt_memory_class(uint32_t i);
VT_API int vt_memory_class_on_device(uint32_t i);
VT_API uint32_t vt_memory_class_arena(uint32_t i);

typedef struct vt_plan_info {
  uint32_t size;
  uint32_t nodes, steps; /* of the lowered graph; bodies not counted in */
  uint32_t views;        /* values that are others seen through strides */
  uint32_t in_place;     /* values written over an operand */
  uint32_t groups;       /* of nodes that a backend may run as one */
  uint32_t transfers, dense_copies;
  uint64_t bytes[VT_MEMORY_CLASSES];
  uint64_t peak; /* on the device: the sum of its classes */
  uint64_t live; /* the most alive at one time: nothing in this order of steps does with less */
  uint64_t to_device, from_device; /* bytes that cross in one run; params that stay are not in it */
  uint32_t fullest, reserved;      /* the first step with `live` bytes; `steps`: after the last */
} vt_plan_info;
VT_API void vt_planned_info(const vt_planned *p, vt_plan_info *out);

/* Stretches of memory with their lifetimes, for pictures: values with bytes of their own, visits of
 * parameters ("wte visits"), dense copies of views ("h dense"), and what bodies take ("bodies"); at
 * each step also its scratch ("scratch"). Offsets are into the arena of the class. */
typedef struct vt_plan_lifetime {
  uint32_t size, memory_class;
  uint32_t first, last; /* steps; `last` may be vt_plan_info.steps: to the end */
  uint64_t offset, bytes;
  const char *name; /* lives as long as the plan */
  const char *type; /* "f32[4, 1024]"; "" for what is no value */
} vt_plan_lifetime;
VT_API uint32_t vt_planned_stretches(const vt_planned *p);
/* Filled up to the caller's `size`; VT_NAME past the end. */
VT_API vt_status vt_planned_lifetime(const vt_planned *p, uint32_t i,
                                     vt_plan_lifetime *out) VT_NODISCARD;
/* "h = matmul(x, w)": what step `i` does; NULL past the end. */
VT_API const char *vt_planned_step(const vt_planned *p, uint32_t i);

/* ---- metrics: what runs took; looked at, never acted upon ------------------------------------
 */

/* What a backend runs, in order: the steps of the plan, and the dense copies of views that one asks
 * for which takes no strides. Times are of the last run, in nanoseconds of a clock that only goes
 * forward; both are 0 for what was not measured: without vt_options.measure nothing is, and a
 * backend that tells nothing of its steps leaves them so. */
typedef struct vt_step_info {
  uint32_t size;
  uint32_t op;         /* number */
  uint32_t group;      /* neighbours that may have run as one; 0: none */
  uint32_t dense_copy; /* 1: no step of the model */
  const char *name;    /* of its first result */
  const char *op_name;
  const char *type; /* of its first result: "f32[4, 256]" */
  uint64_t begin_ns, end_ns;
  uint64_t flops, bytes_read, bytes_written; /* by definition, see vt_run_info */
} vt_step_info;
VT_API uint32_t vt_program_steps(const vt_program *p);
/* Filled up to the caller's `size`; VT_NAME past the end. The names are made when they are first
 * asked for. */
VT_API vt_status vt_program_step(vt_program *p, uint32_t i, vt_step_info *out,
                                 vt_diag *d) VT_NODISCARD;

/* Copies between host and device of the last run: inputs before it, outputs after it, parameters
 * that stay in host memory. None are listed unless vt_options.measure is 1. */
typedef struct vt_copy_info {
  uint32_t size;
  uint32_t to_device;
  const char *name; /* of the value */
  uint64_t bytes, begin_ns, end_ns;
} vt_copy_info;
VT_API uint32_t vt_program_copies(const vt_program *p);
VT_API vt_status vt_program_copy(vt_program *p, uint32_t i, vt_copy_info *out,
                                 vt_diag *d) VT_NODISCARD;

/* How a program was made, on the same clock: "device", each pass, "plan", "check", "try", "open",
 * all within "program"; and "parameters", with what making their initialisers took. In the order in
 * which they ended. */
typedef struct vt_phase_info {
  uint32_t size;
  uint32_t reserved;
  const char *name;
  uint64_t begin_ns, end_ns;
} vt_phase_info;
VT_API uint32_t vt_program_phases(const vt_program *p);
VT_API vt_status vt_program_phase(const vt_program *p, uint32_t i, vt_phase_info *out) VT_NODISCARD;

/* ---- backends and this installation ------------------------------------------------------------
 */

/* What devices declare: "supports_float64", ... NULL past the end. */
enum { VT_CAPABILITY_COUNT = 7 };
VT_API const char *vt_capability_name(uint32_t i);
VT_API const char *vt_capability_about(uint32_t i);

enum { VT_BACKEND_BUILT_IN = 0, VT_BACKEND_ADMITTED = 1, VT_BACKEND_UNADMITTED = 2 };
typedef struct vt_backend_row {
  uint32_t size;
  int available;         /* the device opens */
  int complete;          /* runs every prim: can run any model */
  uint32_t prims, comps; /* that it runs itself */
  uint32_t capabilities; /* bit i: it declares vt_capability_name(i) */
  int strict;            /* it promises the bits of the reference */
  int infers, trains;    /* which plans it serves */
  uint32_t alignment;    /* of tensors, in bytes */
  int dense_only;        /* it takes no strides */
  int shares_host;       /* its memory is the host's own */
  uint32_t admission;    /* VT_BACKEND_* */
  vt_status status;      /* why it does not open; VT_OK when it does */
  uint64_t memory;       /* bytes that are left; 0: not known */
  char name[80];         /* "reference:0" */
  char about[160];       /* one sentence, or why the device does not open */
} vt_backend_row;
/* Those that are built in. Set `size`. */
VT_API uint32_t vt_backend_count(void);
VT_API vt_status vt_backend_row_at(uint32_t i, vt_backend_row *out, vt_diag *d) VT_NODISCARD;
/* The device that `o->backend` names, which may be a plug-in, admitted or not: it is asked and does
 * not run. */
VT_API void vt_backend_row_of(const vt_options *o, vt_backend_row *out);

/* Facts about this build and machine, as key and value; NULL past the end. The facts whose key
 * starts with "check." have a value that starts with "ok" or "FAILED". The value of "check." and
 * the name of a capability takes as long as running all models of it does: on the device that a run
 * would take, and on every CPU and GPU. */
VT_API const char *vt_doctor_key(uint32_t i);
VT_API const char *vt_doctor_value(uint32_t i, char *buffer, size_t n);

#ifdef __cplusplus
}
#endif
#endif
