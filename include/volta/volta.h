/* SPDX-License-Identifier: Apache-2.0
 * volta.h - the core API: a model is text, a program is a model bound, planned and opened on a
 * backend, a run gives the same bits everywhere.
 *
 *   vt_model_read -> vt_program_new -> vt_program_init_params -> vt_program_set_input
 *                 -> vt_program_run -> vt_program_output
 *
 * Rules: every fallible call returns vt_status and takes a vt_diag last (may be NULL). Outputs are
 * written only on success. Objects are freed by their own *_free; NULL is fine there. Strings
 * handed out live as long as the object they came from. Nothing here prints, exits or aborts.
 * A model may be shared by threads; a program serves one thread at a time. */
#ifndef VOLTA_H
#define VOLTA_H
#include <stddef.h>
#include <stdint.h>
#include "volta_ops.h"
#include "volta_status.h"
#ifdef __cplusplus
extern "C" {
#endif

#define VT_VERSION "0.1.0"
#define VT_NUMERICS_VERSION 1u

/* Host allocator (realloc shape: new_size 0 frees, ptr NULL allocates). NULL functions mean the
 * C library's. */
typedef struct vt_alloc {
  void *user;
  void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
} vt_alloc;

/* A dense row-major tensor that somebody else owns. */
typedef struct vt_tensor {
  uint32_t dtype, rank; /* VT_DTYPE_*, 0..VT_MAX_RANK */
  int64_t dim[VT_MAX_RANK];
  void *data;
} vt_tensor;

VT_API const char *vt_version(void);              /* "0.1.0 (numerics 1, gcc 12.2.0)" */
VT_API const char *vt_dtype_name(uint32_t dtype); /* "f32", or NULL */
VT_API uint32_t vt_dtype_find(const char *name);  /* 0 when there is none */
VT_API uint64_t vt_dtype_bytes(uint32_t dtype);   /* 0 when there is none */
/* Number of elements and bytes; VT_LIMIT when they overflow. */
VT_API vt_status vt_tensor_bytes(const vt_tensor *t, uint64_t *out_count, uint64_t *out_bytes,
                                 vt_diag *d) VT_NODISCARD;

/* ---- models ------------------------------------------------------------------------------- */

typedef struct vt_model vt_model;

/* Parses and verifies a model in the .vt text form. `alloc` may be NULL. */
VT_API vt_status vt_model_parse(const char *text, size_t n, const vt_alloc *alloc,
                                vt_model **out_model, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_model_read(const char *path, const vt_alloc *alloc, vt_model **out_model,
                               vt_diag *d) VT_NODISCARD;
VT_API void vt_model_free(vt_model *m);

VT_API const char *vt_model_name(const vt_model *m);
/* The model in its printed form, one op a line; owned by the model. */
VT_API const char *vt_model_text(const vt_model *m);
/* Content hash of the graph: names of inner values do not enter. */
VT_API void vt_model_hash(const vt_model *m, uint8_t out[32]);

/* What a model declares. */
enum { VT_PORT_INPUT = 1, VT_PORT_PARAM = 2, VT_PORT_OUTPUT = 3 };
typedef struct vt_port_info {
  uint32_t kind, dtype, rank;
  const char *name;
  const char *type;  /* "f32[B, 784]" */
  const char *extra; /* "in 0..95", "= normal(std=0.02)", or "" */
} vt_port_info;
VT_API uint32_t vt_model_ports(const vt_model *m);
VT_API vt_status vt_model_port(const vt_model *m, uint32_t i, vt_port_info *out) VT_NODISCARD;
VT_API uint32_t vt_model_dims(const vt_model *m);
VT_API const char *vt_model_dim(const vt_model *m, uint32_t i); /* NULL past the end */
VT_API uint32_t vt_model_nodes(const vt_model *m);

/* ---- programs ----------------------------------------------------------------------------- */

typedef struct vt_program vt_program;

typedef struct vt_binding {
  const char *name;
  int64_t value;
} vt_binding;

/* Plans made before, see below. */
typedef struct vt_cache vt_cache;

/* What is let through, and what happens to what is not. All zero is strict, and the default; what
 * was in force is part of every report. Set `size`. */
enum { VT_DETERMINISM_STRICT = 0 };                 /* the same bits everywhere, or no run */
enum { VT_PRECISION_LOCKED = 0 };                   /* the types and orders of the model */
enum { VT_FALLBACK_NONE = 0, VT_FALLBACK_CPU = 1 }; /* the whole plan, before its first step */
enum { VT_MIXED_PATH_REFUSED = 0, VT_MIXED_PATH_ALLOWED = 1 }; /* see vt_program_feed */
enum { VT_ADMISSION_REQUIRED = 0, VT_ADMISSION_WAIVED = 1 };   /* of plug-ins; stamped */
/* What a backend declares is tried before it is first relied on: with one model for each
 * capability, with all models where a plug-in has no certificate; a cache keeps on disk what a GPU
 * passed. Believed, it is not tried: for those who compare every bit anyway, and want to see a lie
 * as a difference instead of a refusal. */
enum { VT_CAPABILITIES_TRIED = 0, VT_CAPABILITIES_BELIEVED = 1 };
typedef struct vt_policy {
  uint32_t size;
  uint32_t determinism, precision; /* values other than these are refused */
  uint32_t fallback, mixed_path, admission, capabilities;
} vt_policy;

/* Zero-initialise, set `size`, then what differs from the default. */
typedef struct vt_options {
  uint32_t size; /* sizeof(vt_options) */
  uint32_t n_bind;
  const vt_binding *bind;
  /* "reference", "reference:1"; "cpu", "gpu", the first of its kind; "auto", that or else the CPU;
   * or the path of a plug-in, which has a slash in it: "./libfoo.so", "./libfoo.so:1". NULL:
   * VOLTA_BACKEND, else "reference". */
  const char *backend;
  const vt_alloc *alloc;
  /* Hears how far long work has come: "parameters" or "run", `done` of `total`. May be NULL. */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  void *progress_user;
  /* Which passes run, in which order: "bind,lower,dead". `bind` comes first. No bit of a result
   * depends on it. NULL: all. Without `lower` the backend must run compositions whole. */
  const char *passes;
  /* How the plan is made; none of it changes a bit of a result either.
   * schedule: "source" (NULL: this), the order of the model, or "memory", which keeps less alive.
   */
  const char *schedule;
  /* Parameters to keep in host memory and copy in for each step that reads them: "wte,head.weight",
   * or "all". NULL: none. */
  const char *stream;
  /* The most bytes a plan may take on the device; 0: any number. VT_BUDGET says how many it needs.
   */
  uint64_t memory_budget;
  /* Where plans are looked up and kept; NULL: nowhere. The plan is the same with and without. */
  vt_cache *cache;
  const vt_policy *policy; /* NULL: strict */
  /* The certificate of a plug-in; NULL: beside it, "./libfoo.so.certificate.json", or for its
   * device 1 "./libfoo.so.1.certificate.json". */
  const char *certificate;
  uint32_t threads; /* that the backend may keep busy; 0: VOLTA_THREADS, else as it likes */
  uint32_t measure; /* 1: runs take the time of each step, see vt_program_step */
  const char *isa; /* instructions the backend is held to, "avx2"; NULL: VOLTA_ISA, else the best */
  /* Hears, in one line, of what is no failure: kernels that could not be compiled and are served by
   * others, runs that could not be recorded. Called by the thread that makes or runs the program;
   * while it is made with a cache, the cache hears of them instead. May be NULL. */
  void (*note)(void *user, const char *text);
  void *note_user;
} vt_options;

/* Binds, verifies, lowers, plans, and opens the backend. Every byte the run needs is taken here. */
VT_API vt_status vt_program_new(const vt_model *m, const vt_options *o, vt_program **out_program,
                                vt_diag *d) VT_NODISCARD;
VT_API void vt_program_free(vt_program *p);

/* Parameters: all from their initialisers and a seed, or one by one. A run needs all of them. */
VT_API vt_status vt_program_init_params(vt_program *p, uint64_t seed, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_program_set_param(vt_program *p, const char *name, const vt_tensor *t,
                                      vt_diag *d) VT_NODISCARD;
/* Called with out->data NULL it only says type and shape; otherwise it fills the caller's memory.
 */
VT_API vt_status vt_program_get_param(vt_program *p, const char *name, vt_tensor *out,
                                      vt_diag *d) VT_NODISCARD;
/* Inputs are copied in, with NaN made canonical. Random ones: floats uniform in [-1, 1), integers
 * uniform in the range the model declares, bools fair; drawn by Philox from `seed`, so the same
 * everywhere. An input that already has a value keeps it. */
VT_API vt_status vt_program_set_input(vt_program *p, const char *name, const vt_tensor *t,
                                      vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_program_random_inputs(vt_program *p, uint64_t seed, vt_diag *d) VT_NODISCARD;

/* Runs once. On failure no output is published: the ones of an earlier run are gone too. */
VT_API vt_status vt_program_run(vt_program *p, vt_diag *d) VT_NODISCARD;
/* Outputs in ascending byte order of their names; the data lives until the next run or free. What a
 * device has in memory of its own is copied when it is first asked for. */
VT_API uint32_t vt_program_outputs(const vt_program *p);
VT_API vt_status vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d) VT_NODISCARD;
/* digest(run): over the names and digests of all outputs. */
VT_API vt_status vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d) VT_NODISCARD;

/* The plan as text and its digests; owned by the program. The text is made when it is first asked
 * for, and NULL when memory is out. */
VT_API const char *vt_program_plan(const vt_program *p);
VT_API void vt_program_plan_digest(const vt_program *p, uint8_t out_core[32],
                                   uint8_t out_target[32]);
/* The passes that made the program, in their order: "bind", "lower", ...; NULL past the end. */
VT_API uint32_t vt_program_passes(const vt_program *p);
VT_API const char *vt_program_pass(const vt_program *p, uint32_t i);
/* The graph after `pass`, printed, and its content hash; NULL and VT_NAME for one that did not run.
 * The text is made when it is first asked for, and NULL too when memory is out. With a cache only
 * the graph after the last pass is there; the other texts are NULL. */
VT_API const char *vt_program_pass_text(const vt_program *p, const char *pass);
VT_API vt_status vt_program_pass_hash(const vt_program *p, const char *pass,
                                      uint8_t out[32]) VT_NODISCARD;
VT_API const char *vt_program_backend(const vt_program *p); /* "reference:0" */
/* What its device says of itself, in a sentence: a GPU's is its model, its driver and the options
 * that its kernels were compiled with. */
VT_API const char *vt_program_device(const vt_program *p);
/* 1 when it runs on a plug-in, whose content hash (BLAKE2b-256) is then in `out`; else 0. */
VT_API int vt_program_plugin(const vt_program *p, uint8_t out[32]);
/* 1 when it runs on a plug-in that no certificate admits. */
VT_API int vt_program_unadmitted(const vt_program *p);
/* What was in force when it was made. */
VT_API void vt_program_policy(const vt_program *p, vt_policy *out);
/* Why it does not run on the backend that was asked for; NULL when it does. */
VT_API const char *vt_program_fallback(const vt_program *p);

/* Output number `output` of the last run of `from` becomes an input of `p`: a forward pass feeds
 * its backward pass. Between different backends that is a mixed path: refused, unless the policy of
 * `p` allows it; then `p` says so from there on. */
VT_API vt_status vt_program_feed(vt_program *p, const char *input, vt_program *from,
                                 uint32_t output, vt_diag *d) VT_NODISCARD;
VT_API int vt_program_mixed(const vt_program *p);

/* What the last run cost; read-only observations. Single steps are in volta_tools.h. */
typedef struct vt_run_info {
  uint32_t size;
  uint32_t steps;
  uint64_t wall_ns;
  uint64_t bytes_input, bytes_param, bytes_temp, bytes_output;
  uint64_t runs;     /* that began, this one included */
  uint64_t begin_ns; /* of a clock that only goes forward */
  /* Operations, and bytes that steps read and write, by definition: the same on every backend that
   * has the same steps. docs/metrics.md says what is counted; UINT64_MAX: too many. */
  uint64_t flops, bytes_read, bytes_written;
  /* Bytes and copies between host and device; what is set once for all runs is not among them. */
  uint64_t to_device, from_device, copies_to_device, copies_from_device;
  uint64_t allocations; /* of the library and the backend during the run; 0 after the first */
  uint64_t timed;       /* steps that have a time; 0 unless vt_options.measure is 1 */
} vt_run_info;
VT_API void vt_program_info(const vt_program *p, vt_run_info *out);

/* ---- plans made before -------------------------------------------------------------------- */

/* A cache keeps lowered graphs with their plans, in memory and, if it is given a folder, on disk. A
 * plan is found again by everything it depends on: model, bindings, passes, schedule, streaming,
 * backend, numerics version and this build of the library. All of that is stored and compared, so a
 * plan that is found is the one that would be made. A cache may be shared by programs and threads;
 * it may be freed before the programs that were made with it. In the folder it keeps, too, which
 * GPU of this machine keeps what it declares. docs/plan-cache.md says more. */
typedef struct vt_cache_options {
  uint32_t size;
  uint32_t reserved;
  const char *dir;                   /* made if it is missing; NULL: in memory only */
  uint64_t memory_bytes, disk_bytes; /* the most to be kept; 0: 64 MiB, 256 MiB */
  const vt_alloc *alloc;             /* of plans too; called by every thread that uses the cache */
  /* Hears of what is wrong with the folder or a file in it, in one line; then it goes on without.
   * Called by whatever thread met it. May be NULL. */
  void (*note)(void *user, const char *text);
  void *note_user;
} vt_cache_options;
/* A folder that cannot be used is noted and is no failure. `o` may be NULL. */
VT_API vt_status vt_cache_new(const vt_cache_options *o, vt_cache **out_cache,
                              vt_diag *d) VT_NODISCARD;
VT_API void vt_cache_free(vt_cache *c);

typedef struct vt_cache_counts {
  uint32_t size;
  uint32_t on_disk; /* 1: the folder is in use */
  uint64_t hits_memory, hits_disk, misses;
  uint64_t stored; /* on disk */
  uint64_t evicted_memory, evicted_disk;
  uint64_t ignored; /* what was noted: bad files, a bad folder, files that could not be written */
  uint64_t collisions; /* files of another key that has the same name */
  uint64_t bytes_memory, bytes_disk;
  char reason[480]; /* the last note, or "" */
  uint64_t trials;  /* of capabilities of GPUs, found on disk and not made again */
} vt_cache_counts;
VT_API void vt_cache_info(vt_cache *c, vt_cache_counts *out);

/* ---- digests ------------------------------------------------------------------------------ */

/* BLAKE2b-256 over type, shape and canonical content; defined to the byte in docs/numerics.md. */
VT_API vt_status vt_tensor_digest(const vt_tensor *t, uint8_t out[32], vt_diag *d) VT_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
