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

/* An archive: a tensor file that was read and checked completely. It is a list of named tensors in
 * file order. An npy, IDX or CSV file gives one tensor with an empty name. Every NaN is canonical.
 * The tensors live as long as the archive. */
typedef struct vt_archive vt_archive;
/* The content decides the format. Only CSV, which has no signature, is recognised by a file name
 * that ends in ".csv". */
VT_API vt_status vt_archive_read(const char *path, const vt_alloc *alloc, vt_archive **out,
                                 vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_archive_parse(const void *bytes, size_t n, const vt_alloc *alloc,
                                  vt_archive **out, vt_diag *d) VT_NODISCARD;
VT_API void vt_archive_free(vt_archive *a);
/* The format of the file: "npy", "npz", "safetensors", "idx", "csv". */
VT_API const char *vt_archive_format(const vt_archive *a);
VT_API uint32_t vt_archive_count(const vt_archive *a);
VT_API vt_status vt_archive_tensor(const vt_archive *a, uint32_t i, const char **out_name,
                                   vt_tensor *out) VT_NODISCARD;
VT_API vt_status vt_archive_find(const vt_archive *a, const char *name, vt_tensor *out,
                                 vt_diag *d) VT_NODISCARD;

/* Writes the file under a temporary name and renames it. bf16 has no npy form and is
 * VT_UNSUPPORTED. */
VT_API vt_status vt_npy_write(const char *path, const vt_tensor *t, vt_diag *d) VT_NODISCARD;
/* Tensors are written in ascending byte order of their names; two equal names are VT_NAME. */
VT_API vt_status vt_safetensors_write(const char *path, uint32_t n, const char *const *names,
                                      const vt_tensor *tensors, vt_diag *d) VT_NODISCARD;

/* Writes the same bytes as numpy.savez: uncompressed npy files in a zip file. Order and names are
 * as in vt_safetensors_write. */
VT_API vt_status vt_npz_write(const char *path, uint32_t n, const char *const *names,
                              const vt_tensor *tensors, vt_diag *d) VT_NODISCARD;

/* CSV: a table of numbers as text. Each number is rounded once, directly to the requested type. */
typedef struct vt_csv_options {
  uint32_t size;  /* sizeof(vt_csv_options) */
  uint32_t dtype; /* f32, f64 or i64; 0: i64 if all numbers are integers, else f64 */
  /* Name of the column to read, which gives shape [rows]; NULL: all columns, which give shape
   * [rows, columns]. */
  const char *column;
} vt_csv_options;
VT_API vt_status vt_csv_read(const char *path, const vt_csv_options *options, const vt_alloc *alloc,
                             vt_archive **out, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_csv_parse(const void *bytes, size_t n, const vt_csv_options *options,
                              const vt_alloc *alloc, vt_archive **out, vt_diag *d) VT_NODISCARD;

/* Writes a file of any bytes. The file appears complete or not at all. */
VT_API vt_status vt_bytes_write(const char *path, const void *bytes, size_t n,
                                vt_diag *d) VT_NODISCARD;

/* ---- writing bundles ------------------------------------------------------------------------ */

typedef struct vt_bundle_pair {
  const char *key, *value; /* UTF-8 */
} vt_bundle_pair;

/* The parts of a bundle. Zero-initialise, and set `size`. */
typedef struct vt_bundle_contents {
  uint32_t size; /* sizeof(vt_bundle_contents) */
  uint32_t n_metadata, n_digests, n_plans;
  const char *model; /* the model in the text form, which is kept as it is */
  size_t model_bytes;
  /* The tensors of all parameters, and of any states. The others are left out. They keep their
   * types and get the names of the parameters. NULL: the model has no parameters. */
  vt_weights *weights;
  /* Path of a file of vt_state_save with the first values of the states; NULL: there is none. */
  const char *state;
  const vt_bundle_pair *metadata; /* any texts, such as a licence; each key once */
  /* Published digests, for whoever wants to compare: the key says of which run, and the value has
   * 64 hexadecimal digits. */
  const vt_bundle_pair *digests;
  /* A plan is made and stored for each of these; only what plans depend on is read. */
  const vt_options *const *plans;
  const vt_alloc *alloc; /* NULL: the C library's */
} vt_bundle_contents;

/* Writes a bundle: one file if `path` ends in ".vtz", else a folder. It is complete, synced and put
 * in place in one step: whoever opens the path, and a process that is killed at any moment, leaves
 * or sees the old bundle or the new one. A folder is replaced only if it is a bundle, and only
 * where the file system can exchange two folders. */
VT_API vt_status vt_bundle_write(const char *path, const vt_bundle_contents *c,
                                 vt_diag *d) VT_NODISCARD;

/* ---- comparison ----------------------------------------------------------------------------- */

/* Result of comparing two tensors of one type and shape bit for bit. All NaNs are equal. */
typedef struct vt_compare {
  uint32_t size; /* sizeof(vt_compare); set by the caller */
  uint32_t reserved;
  uint64_t compared, differing; /* number of elements that were compared, number that differ */
  uint64_t first;               /* row-major index of the first differing element */
  uint64_t first_a, first_b;    /* bit patterns of that element in a and b */
  uint64_t largest; /* largest distance of two elements: in representable values, or the difference
                     * of two integers */
} vt_compare;
VT_API vt_status vt_tensor_compare(const vt_tensor *a, const vt_tensor *b, vt_compare *out,
                                   vt_diag *d) VT_NODISCARD;

/* ---- the op table --------------------------------------------------------------------------- */

typedef struct vt_op_row {
  uint32_t number, min_in, max_in; /* number of the op; least and greatest number of operands */
  uint32_t prim; /* 1: a complete backend must run it; 0: a composition, which is decomposed unless
                  * the backend lists it */
  const char *name;
  char signature[160];  /* "softmax(x, axis=-1)" */
  const char *numerics; /* "exact", "rounded", "ordered", "move", "random", "bodies", "composed" */
  const char *help;     /* one sentence */
  const char *results;  /* names of the results: "values, indices"; "..." if the number varies */
  const char *needs;    /* what a backend must be able to do: "plain", "reductions", "int8",
                         * "regions", "collisions" */
  const char *flat;     /* the reason why the op has no gradient; NULL if it has one */
  /* Names of the row's functions in src/op. A missing one is "none", a missing `work` "no_work". */
  const char *operands, *attrs, *verify, *shape, *decomposition, *kernel, *work;
  const char *gradient; /* name of the gradient function; NULL if the op has no gradient */
} vt_op_row;
VT_API uint32_t vt_op_count(void);
/* Row `i` of the op table; rows are in ascending order of op numbers. */
VT_API vt_status vt_op_row_at(uint32_t i, vt_op_row *out) VT_NODISCARD;
/* Writes 1 to `out` if `backend` ("reference:1") runs op `number` itself, else 0. */
VT_API vt_status vt_op_supported(const char *backend, uint32_t number, int *out,
                                 vt_diag *d) VT_NODISCARD;
/* Like vt_op_supported, for `o->backend`, which may be a plug-in if `o->policy` allows it. */
VT_API vt_status vt_op_supported_by(const vt_options *o, uint32_t number, int *out,
                                    vt_diag *d) VT_NODISCARD;

/* One word on how `o->backend` handles op `number`: "no", "decomposed" into other ops, or the
 * backend's own word for how it runs the op ("vector", "move", "region"; "itself" if the backend
 * gives no word). */
#define VT_OP_SUPPORT 16
VT_API vt_status vt_op_support(const vt_options *o, uint32_t number, char out[VT_OP_SUPPORT],
                               vt_diag *d) VT_NODISCARD;

/* ---- plans: all memory of a run, known before it is allocated ---------------------------------
 */

/* A model that was bound, lowered and planned for a backend, without allocating memory on its
 * device. Options and plan are those of vt_program_new. */
typedef struct vt_planned vt_planned;
VT_API vt_status vt_planned_new(const vt_model *m, const vt_options *o, vt_planned **out,
                                vt_diag *d) VT_NODISCARD;
VT_API void vt_planned_free(vt_planned *p);
VT_API const char *vt_planned_backend(const vt_planned *p); /* "reference:0" */
/* For a plan, what vt_program_plugin, vt_program_unadmitted and vt_program_fallback are for a
 * program. */
VT_API int vt_planned_plugin(const vt_planned *p, uint8_t out[32]);
VT_API int vt_planned_unadmitted(const vt_planned *p);
VT_API const char *vt_planned_fallback(const vt_planned *p);
/* The plan as text, and its two digests. `core` is equal for all backends that run the same
 * compositions themselves; `target` also covers what is specific to the backend. */
VT_API const char *vt_planned_text(const vt_planned *p);
VT_API void vt_planned_digest(const vt_planned *p, uint8_t out_core[32], uint8_t out_target[32]);

/* Memory classes say what bytes are used for: "host_input", "parameter", ...; the name is NULL past
 * the end. vt_memory_class_on_device is 1 if the class is in device memory. An arena is one block
 * of memory that one or more classes share: temporaries, workspace and outputs share an arena.
 * vt_memory_class_arena gives the first class of the arena that class `i` is in. */
enum { VT_MEMORY_CLASSES = 10 };
VT_API const char *vt_memory_class(uint32_t i);
VT_API int vt_memory_class_on_device(uint32_t i);
VT_API uint32_t vt_memory_class_arena(uint32_t i);

typedef struct vt_plan_info {
  uint32_t size;         /* sizeof(vt_plan_info); set by the caller */
  uint32_t nodes, steps; /* nodes of the lowered graph, steps of the plan; without bodies */
  uint32_t views;        /* values that are another value's memory seen through other strides */
  uint32_t in_place;     /* values that are written over an operand or over a state */
  uint32_t groups;       /* groups of steps that a backend may run as one launch */
  uint32_t transfers;    /* copies between host and device in one run */
  uint32_t dense_copies; /* copies that make a view contiguous for a backend without strides */
  uint64_t bytes[8];     /* bytes of the first eight memory classes; the others have fields of
                            their own, below */
  uint64_t peak;         /* bytes of device memory: the sum of the classes that are on the device */
  uint64_t live; /* most bytes live at any one step; no placement of this step order needs less */
  uint64_t to_device, from_device; /* bytes copied in one run, without parameters that stay on the
                                    * device */
  /* First step at which as many bytes as `live` are live; equal to `steps` if they are live only
   * after the last step. */
  uint32_t fullest, reserved;
  uint64_t bytes_state; /* bytes of the class "state": the states of the model */
  /* Bytes of the class "backend_memory": what the backend keeps for the steps, such as packed
   * weights. */
  uint64_t bytes_backend;
} vt_plan_info;
VT_API void vt_planned_info(const vt_planned *p, vt_plan_info *out);

/* A block of memory and its lifetime, for drawing the plan. Each value with bytes of its own has
 * one lifetime. Further lifetimes are those of a streamed parameter while it is on the device ("wte
 * visits"), a dense copy of a view ("h dense"), the memory of bodies ("bodies") and the scratch of
 * a step ("scratch"). */
typedef struct vt_plan_lifetime {
  uint32_t size, memory_class; /* sizeof(vt_plan_lifetime), set by the caller; class of memory */
  uint32_t first, last;        /* first and last step; last = vt_plan_info.steps: to the end */
  uint64_t offset, bytes;      /* position in the arena of the class, and length */
  const char *name;            /* name of the value; lives as long as the plan */
  const char *type;            /* type of the value, "f32[4, 1024]"; "" for other memory */
} vt_plan_lifetime;
VT_API uint32_t vt_planned_lifetimes(const vt_planned *p); /* number of lifetimes */
/* Writes lifetime `i`, up to the caller's `size`; VT_NAME past the end. */
VT_API vt_status vt_planned_lifetime(const vt_planned *p, uint32_t i,
                                     vt_plan_lifetime *out) VT_NODISCARD;
/* The old names of the struct and of the two functions above. They are accepted for one version. */
typedef vt_plan_lifetime vt_plan_stretch;
VT_API uint32_t vt_planned_stretches(const vt_planned *p);
VT_API vt_status vt_planned_stretch(const vt_planned *p, uint32_t i,
                                    vt_plan_lifetime *out) VT_NODISCARD;
/* Step `i` as text, "h = matmul(x, w)"; NULL past the end. */
VT_API const char *vt_planned_step(const vt_planned *p, uint32_t i);

/* ---- metrics: times and counts of runs; no decision of the library depends on them ------------
 */

/* One step that the backend runs: a step of the plan, or a dense copy of a view for a backend that
 * accepts no strides. The begin and end times are of the last run, in nanoseconds of a monotonic
 * clock. They are 0 if the step was not measured, because vt_options.measure is 0 or because the
 * backend does not report its steps. */
typedef struct vt_step_info {
  uint32_t size;       /* sizeof(vt_step_info); set by the caller */
  uint32_t op;         /* op number */
  uint32_t group;      /* number of the group that the step may have run in; 0: no group */
  uint32_t dense_copy; /* 1: a dense copy, which is not a step of the model */
  const char *name;    /* name of the step's first result */
  const char *op_name; /* "matmul" */
  const char *type;    /* type of the step's first result: "f32[4, 256]" */
  uint64_t begin_ns, end_ns;
  uint64_t flops, bytes_read, bytes_written; /* computed from shapes, see vt_run_info */
} vt_step_info;
VT_API uint32_t vt_program_steps(const vt_program *p);
/* Writes step `i`, up to the caller's `size`; VT_NAME past the end. The first call builds the names
 * of all steps. */
VT_API vt_status vt_program_step(vt_program *p, uint32_t i, vt_step_info *out,
                                 vt_diag *d) VT_NODISCARD;

/* One copy between host and device of the last run: of an input before the run, of an output after
 * it, or of a parameter that stays in host memory. The list is empty unless vt_options.measure is
 * 1. */
typedef struct vt_copy_info {
  uint32_t size;      /* sizeof(vt_copy_info); set by the caller */
  uint32_t to_device; /* 1: from host to device; 0: from device to host */
  const char *name;   /* name of the value */
  uint64_t bytes, begin_ns, end_ns;
} vt_copy_info;
VT_API uint32_t vt_program_copies(const vt_program *p);
VT_API vt_status vt_program_copy(vt_program *p, uint32_t i, vt_copy_info *out,
                                 vt_diag *d) VT_NODISCARD;

/* One phase of creating a program, on the same clock: "device", each pass, "plan", "check", "try"
 * and "open", all within "program"; and "parameters", which includes computing their initialisers.
 * Phases are listed in the order in which they ended. */
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

/* Name of capability `i` that a device may declare, "supports_float64", and a sentence about it;
 * NULL past the end. */
enum { VT_CAPABILITY_COUNT = 7 };
VT_API const char *vt_capability_name(uint32_t i);
VT_API const char *vt_capability_about(uint32_t i);

enum { VT_BACKEND_BUILT_IN = 0, VT_BACKEND_ADMITTED = 1, VT_BACKEND_UNADMITTED = 2 };
typedef struct vt_backend_row {
  uint32_t size;         /* sizeof(vt_backend_row); set by the caller */
  int available;         /* 1: the device can be opened */
  int complete;          /* 1: the device runs every prim, so it can run any model */
  uint32_t prims, comps; /* how many prims the device runs itself, and how many compositions */
  uint32_t capabilities; /* bit i is set if the device declares vt_capability_name(i) */
  int strict;            /* 1: the device promises the bits of the reference */
  int infers, trains;    /* 1: the device runs plans for inference; 1: plans for training */
  uint32_t alignment;    /* alignment of tensors that the device needs, in bytes */
  int dense_only;        /* 1: the device accepts contiguous tensors only */
  int shares_host;       /* 1: the device's memory is host memory */
  uint32_t admission;    /* VT_BACKEND_* */
  vt_status status;      /* why the device cannot be opened; VT_OK if it can */
  uint64_t memory;       /* free bytes on the device; 0: not known */
  char name[80];         /* "reference:0" */
  char about[160];       /* one sentence about the device, or why it cannot be opened */
} vt_backend_row;
/* Number of devices of built-in backends, and the row of device `i`. */
VT_API uint32_t vt_backend_count(void);
VT_API vt_status vt_backend_row_at(uint32_t i, vt_backend_row *out, vt_diag *d) VT_NODISCARD;
/* The row of the device that `o->backend` names, which may be a plug-in without a certificate: the
 * device is opened for its description, and runs nothing. */
VT_API void vt_backend_row_of(const vt_options *o, vt_backend_row *out);

/* Facts about this build and machine as key and value; NULL past the end. If the key starts with
 * "check.", the value starts with "ok" or "FAILED". Reading the value of a key such as
 * "check.supports_float64", which names a capability, is slow: it runs all probe models of that
 * capability on the default device and on every CPU and GPU. */
VT_API const char *vt_doctor_key(uint32_t i);
VT_API const char *vt_doctor_value(uint32_t i, char *buffer, size_t n);

#ifdef __cplusplus
}
#endif
#endif
