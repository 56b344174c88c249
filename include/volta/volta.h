/* SPDX-License-Identifier: Apache-2.0
 * volta.h - the core API. A model is read from text. A program is a model with its dimensions
 * bound, planned and opened on a backend. A run gives the same bits on every backend.
 *
 *   vt_model_read -> vt_program_new -> vt_program_init_params -> vt_program_set_input
 *                 -> vt_program_run -> vt_program_output
 *
 * Rules: every fallible call returns vt_status and takes a vt_diag last, which may be NULL. Outputs
 * are written only on success. Each object is freed by its own *_free function, which accepts NULL.
 * A returned string lives as long as the object that returned it. No function prints, exits or
 * aborts. Threads may share a model; only one thread at a time may use a program. */
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

/* Allocator for host memory. `resize` works like realloc: it frees if new_size is 0 and allocates
 * if ptr is NULL. If `resize` is NULL, the C library's allocator is used. */
typedef struct vt_alloc {
  void *user; /* passed to `resize` unchanged */
  void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
} vt_alloc;

/* A contiguous row-major tensor. The struct does not own the data. */
typedef struct vt_tensor {
  uint32_t dtype, rank;     /* VT_DTYPE_*; number of axes, 0..VT_MAX_RANK */
  int64_t dim[VT_MAX_RANK]; /* extent of each of the `rank` axes */
  void *data;
} vt_tensor;

VT_API const char *vt_version(void);              /* "0.1.0 (numerics 1, gcc 12.2.0)" */
VT_API const char *vt_dtype_name(uint32_t dtype); /* "f32"; NULL for an unknown type */
VT_API uint32_t vt_dtype_find(const char *name);  /* VT_DTYPE_*; 0 for an unknown name */
VT_API uint64_t vt_dtype_bytes(uint32_t dtype);   /* bytes of one element; 0 if unknown */
/* Computes the number of elements and bytes of a tensor; VT_LIMIT if one of them overflows. */
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
/* The model in its printed form, with one op per line; owned by the model. */
VT_API const char *vt_model_text(const vt_model *m);
/* Content hash of the graph. The names of inner values do not affect it. */
VT_API void vt_model_hash(const vt_model *m, uint8_t out[32]);

/* Ports: the inputs, parameters, states and outputs that a model declares. */
enum { VT_PORT_INPUT = 1, VT_PORT_PARAM = 2, VT_PORT_OUTPUT = 3, VT_PORT_STATE = 4 };
typedef struct vt_port_info {
  uint32_t kind, dtype, rank; /* VT_PORT_*, VT_DTYPE_*, number of axes */
  const char *name;
  const char *type;  /* declared type with symbolic dimensions: "f32[B, 784]" */
  const char *extra; /* range of an input "in 0..95", initialiser "= normal(std=0.02)", or "" */
} vt_port_info;
VT_API uint32_t vt_model_ports(const vt_model *m);
VT_API vt_status vt_model_port(const vt_model *m, uint32_t i, vt_port_info *out) VT_NODISCARD;
VT_API uint32_t vt_model_dims(const vt_model *m);
/* Name of symbolic dimension `i`; NULL past the end. */
VT_API const char *vt_model_dim(const vt_model *m, uint32_t i);
VT_API uint32_t vt_model_nodes(const vt_model *m);

/* ---- weights ------------------------------------------------------------------------------ */

/* Weights are named tensors that programs read as their parameters. They never change after they
 * are made, so any number of programs and threads share them; all functions below may be called by
 * several threads at the same time. The elements of a file are read when a program is created,
 * directly into the memory that it will use: programs with the same parameters on the same device
 * share one copy there, and what the backend derives from it. The files must stay unchanged until
 * the weights are freed; a file that changes is noticed and is VT_IO. See docs/weights.md. */
typedef struct vt_weights vt_weights;

typedef struct vt_weights_options {
  uint32_t size;         /* sizeof(vt_weights_options) */
  uint32_t ignore_extra; /* 1: tensors that are not parameters of a model are not an error */
  /* 1: tensors of f16, bf16 and f64 fill parameters of f32, with each element rounded once. */
  uint32_t convert;
  uint32_t reserved;
  const char *map; /* rules that rename tensors, one per line: "pattern = name"; may be NULL */
  /* Allocator for host memory, called by every thread that uses the weights; NULL: the C library's.
   */
  const vt_alloc *alloc;
} vt_weights_options;

/* Opens the weights in `n` files: safetensors, npz, or an index of safetensors shards
 * ("model.safetensors.index.json"). Two tensors of the same name are VT_NAME. `o` may be NULL. A
 * failure in the map has its line in `d`. */
VT_API vt_status vt_weights_read(uint32_t n, const char *const *paths, const vt_weights_options *o,
                                 vt_weights **out_weights, vt_diag *d) VT_NODISCARD;
/* Makes weights from copies of the caller's tensors. */
VT_API vt_status vt_weights_copy(uint32_t n, const char *const *names, const vt_tensor *tensors,
                                 const vt_weights_options *o, vt_weights **out_weights,
                                 vt_diag *d) VT_NODISCARD;
/* Adds a reference and returns `w`; vt_weights_free drops one, and the last one frees the weights.
 * A program keeps a reference to the weights that it was created with. */
VT_API vt_weights *vt_weights_retain(vt_weights *w);
VT_API void vt_weights_free(vt_weights *w);

typedef struct vt_weight_info {
  uint32_t size;        /* sizeof(vt_weight_info); set by the caller */
  uint32_t dtype, rank; /* VT_DTYPE_* of the elements in the file; number of axes */
  uint32_t reserved;
  int64_t dim[VT_MAX_RANK];
  const char *name;      /* name after renaming; lives as long as the weights */
  const char *name_read; /* name in the file, before renaming */
  const char *path;      /* the file; NULL for a copied tensor */
} vt_weight_info;
VT_API uint32_t vt_weights_count(const vt_weights *w);
/* Tensor `i`, in ascending byte order of the names after renaming; VT_RANGE past the end. */
VT_API vt_status vt_weights_info(const vt_weights *w, uint32_t i, vt_weight_info *out,
                                 vt_diag *d) VT_NODISCARD;
/* Reads the elements of tensor `i` to `out`, which must have room for all of them and has
 * unspecified content after a failure. */
VT_API vt_status vt_weights_get(const vt_weights *w, uint32_t i, void *out,
                                vt_diag *d) VT_NODISCARD;
/* Digest of the names and tensors as the files have them: the run digest of docs/numerics.md over
 * the names before renaming. Reads all elements. */
VT_API vt_status vt_weights_digest(const vt_weights *w, uint8_t out[32], vt_diag *d) VT_NODISCARD;
/* VT_OK if every parameter of the model has its tensor, and every tensor its parameter. Otherwise
 * one message lists the missing parameters, the tensors without a parameter with the most similar
 * names, and those of another type. Shapes that depend on bindings are compared when a program is
 * created. */
VT_API vt_status vt_weights_check(const vt_weights *w, const vt_model *m, vt_diag *d) VT_NODISCARD;

/* ---- state -------------------------------------------------------------------------------- */

/* The values of a model's states on one device. They live between runs: any number of programs of
 * the model on that device use one state, one run at a time, so a program for a prompt and a
 * program for single tokens continue each other without a copy through the host. One thread at a
 * time may use a state, in a run or in a call below; a second one gets VT_USAGE.
 *
 * If a run fails after it has begun to write states, they are lost: they cannot be read or used by
 * a run until each of them is set, reset or loaded. See docs/state.md. */
typedef struct vt_state vt_state;
struct vt_options;

/* Makes the state of a model on the device that the options name and gives it its first values: the
 * initialisers' with `seed`, or those of o->weights for the states that are in them. The bindings
 * must have the dimensions that declarations of states use; others are ignored. */
VT_API vt_status vt_state_new(const vt_model *m, const struct vt_options *o, uint64_t seed,
                              vt_state **out_state, vt_diag *d) VT_NODISCARD;
/* Frees the state when no program uses it any more. */
VT_API void vt_state_free(vt_state *s);
VT_API uint32_t vt_state_count(const vt_state *s);
/* Name and type of state `i`, in the order of declaration; VT_RANGE past the end. */
VT_API vt_status vt_state_at(const vt_state *s, uint32_t i, const char **out_name, vt_tensor *out,
                             vt_diag *d) VT_NODISCARD;
/* Copy one state to or from the caller's memory; `t` must have the state's type and shape. */
VT_API vt_status vt_state_get(vt_state *s, const char *name, vt_tensor *t, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_state_set(vt_state *s, const char *name, const vt_tensor *t,
                              vt_diag *d) VT_NODISCARD;
/* Gives all states their first values again, as vt_state_new does. */
VT_API vt_status vt_state_reset(vt_state *s, uint64_t seed, vt_diag *d) VT_NODISCARD;
/* Write all states to a safetensors file, and read them from one, which must have exactly these
 * names, types and shapes; a file that does not fit changes nothing. */
VT_API vt_status vt_state_save(vt_state *s, const char *path, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_state_load(vt_state *s, const char *path, vt_diag *d) VT_NODISCARD;
/* The run digest of docs/numerics.md over the names and tensors of all states. */
VT_API vt_status vt_state_digest(vt_state *s, uint8_t out[32], vt_diag *d) VT_NODISCARD;
/* 1 if a state is lost. */
VT_API int vt_state_is_lost(const vt_state *s);

/* ---- bundles ------------------------------------------------------------------------------ */

/* A bundle is a model with all that it needs to run: its weights, first values of its states, and
 * plans. It is a folder, or one file with the name *.vtz; see docs/bundles.md. An open bundle never
 * changes, so threads may share it. Weights are read in place, also from the one file. */
typedef struct vt_bundle vt_bundle;

/* 1 if there is a folder or a zip file at `path`: something that vt_bundle_open may open, and that
 * is not the text of a model. */
VT_API int vt_bundle_is_at(const char *path);
/* Opens a bundle: checks its names, sizes and manifest, and the hash and graph of its model. The
 * elements of the weights are not read; vt_bundle_check reads and checks all content. A bundle that
 * is replaced while it is open stays as it was opened. `alloc` may be NULL. */
VT_API vt_status vt_bundle_open(const char *path, const vt_alloc *alloc, vt_bundle **out_bundle,
                                vt_diag *d) VT_NODISCARD;
/* Frees the bundle and its model. Programs that were created from it stay valid. */
VT_API void vt_bundle_free(vt_bundle *b);
/* The model and the weights, owned by the bundle; see vt_weights_retain. */
VT_API const vt_model *vt_bundle_model(const vt_bundle *b);
VT_API vt_weights *vt_bundle_weights(const vt_bundle *b);
/* The text of the model as it is in the bundle, and of manifest.json, which also lists metadata and
 * published digests. */
VT_API const char *vt_bundle_text(const vt_bundle *b);
VT_API const char *vt_bundle_manifest(const vt_bundle *b);
/* 1 if the bundle has first values of the states; vt_bundle_load_state gives them to a state of its
 * model, as vt_state_load does. vt_state_new does that itself if its options have the bundle. */
VT_API int vt_bundle_has_state(const vt_bundle *b);
VT_API vt_status vt_bundle_load_state(const vt_bundle *b, vt_state *s, vt_diag *d) VT_NODISCARD;
/* Reads all content and compares it with the manifest: the hash of each file, and the digest of the
 * weights. Tensors of the state must be states of the model. */
VT_API vt_status vt_bundle_check(const vt_bundle *b, vt_diag *d) VT_NODISCARD;
/* Number of plans in the bundle, and how often one of them was used instead of a new one. */
VT_API uint32_t vt_bundle_plans(const vt_bundle *b);
VT_API uint64_t vt_bundle_plans_used(const vt_bundle *b);

/* ---- programs ----------------------------------------------------------------------------- */

typedef struct vt_program vt_program;

typedef struct vt_binding {
  const char *name;
  int64_t value;
} vt_binding;

/* A cache of plans; see vt_cache_new. */
typedef struct vt_cache vt_cache;

/* The policy: what a caller allows. All zero is the strict policy, which is the default. Every
 * report contains the policy that was in force. Set `size`. */
/* Results have the same bits on every backend, or the program is refused. */
enum { VT_DETERMINISM_STRICT = 0 };
/* Types and summation orders are those of the model; nothing is narrowed. */
enum { VT_PRECISION_LOCKED = 0 };
/* If the backend is unavailable or lacks an op: refuse, or move the whole program to the CPU. The
 * choice is made before the first step. */
enum { VT_FALLBACK_NONE = 0, VT_FALLBACK_CPU = 1 };
/* Whether outputs of one backend may feed a program on another backend; see vt_program_feed. */
enum { VT_MIXED_PATH_REFUSED = 0, VT_MIXED_PATH_ALLOWED = 1 };
/* Whether a plug-in needs a certificate. If it is waived, every report says "unadmitted". */
enum { VT_ADMISSION_REQUIRED = 0, VT_ADMISSION_WAIVED = 1 };
/* TRIED: probes test what a backend declares before it is first used: one model per capability, or
 * all probe models if a plug-in has no certificate. A cache with a folder records that a GPU has
 * passed its probes. BELIEVED: no probes. This is for callers who compare every bit themselves and
 * want a wrong declaration to show as a difference in results, not as a refusal. */
enum { VT_CAPABILITIES_TRIED = 0, VT_CAPABILITIES_BELIEVED = 1 };
typedef struct vt_policy {
  uint32_t size; /* sizeof(vt_policy) */
  /* VT_DETERMINISM_STRICT and VT_PRECISION_LOCKED, which are the only values. */
  uint32_t determinism, precision;
  uint32_t fallback, mixed_path, admission, capabilities;
} vt_policy;

/* Options of a program. Zero-initialise, set `size`, then set the fields that should differ from
 * their defaults. */
typedef struct vt_options {
  uint32_t size;          /* sizeof(vt_options) */
  uint32_t n_bind;        /* number of entries in `bind` */
  const vt_binding *bind; /* values of the symbolic dimensions */
  /* The backend: "reference" or "reference:1" for device 1; "cpu" or "gpu" for the first device of
   * that kind; "auto" for the first GPU, or the CPU if there is no GPU; or the path of a plug-in,
   * which must contain a slash: "./libfoo.so", "./libfoo.so:1". NULL means VOLTA_BACKEND if it is
   * set, else "auto". The choice changes no bit of a result. */
  const char *backend;
  const vt_alloc *alloc; /* allocator for host memory; NULL: the C library's */
  /* Called during long work with its progress: `what` is "parameters" or "run", `done` of `total`
   * units are finished. May be NULL. */
  void (*progress)(void *user, const char *what, uint64_t done, uint64_t total);
  void *progress_user; /* `user` of `progress` */
  /* Names of the passes to run, in order: "bind,lower,dead". `bind` must come first. NULL runs all
   * passes. The choice changes no bit of a result. Without `lower`, the backend must run
   * compositions itself. */
  const char *passes;
  /* Order of the steps: "source" keeps the order of the model and is the default (NULL); "memory"
   * chooses an order that needs less memory. The choice changes no bit of a result. */
  const char *schedule;
  /* Parameters that stay in host memory and are copied to the device for each step that reads them:
   * "wte,head.weight", or "all". NULL: none. */
  const char *stream;
  /* Limit on the device memory of the plan, in bytes; 0: no limit. A plan that needs more fails
   * with VT_BUDGET, whose message says how many bytes it needs. */
  uint64_t memory_budget;
  /* Cache in which the plan is looked up and stored; NULL: no cache. It does not change the plan.
   */
  vt_cache *cache;
  const vt_policy *policy; /* what is allowed; NULL: the strict policy */
  /* Path of the certificate of a plug-in. NULL: next to the plug-in,
   * "./libfoo.so.certificate.json", or "./libfoo.so.1.certificate.json" for its device 1. */
  const char *certificate;
  uint32_t threads; /* limit on the backend's threads; 0: VOLTA_THREADS, else its own choice */
  uint32_t measure; /* 1: each run records the time of every step, see vt_program_step */
  /* Instruction set that the backend must not exceed, "avx2"; NULL: VOLTA_ISA, else the best one
   * that the processor has. */
  const char *isa;
  /* Called with one line of text about an event that is not a failure: a generated kernel that
   * could not be compiled and was replaced by another kernel, or a run that could not be recorded.
   * The caller is the thread that creates or runs the program. While a program is created with a
   * cache, the cache's `note` is called instead. May be NULL. */
  void (*note)(void *user, const char *text);
  void *note_user; /* `user` of `note` */
  /* The parameters of the program, which then has no others: vt_program_init_params and
   * vt_program_set_param are refused. NULL: parameters are set by these functions. */
  vt_weights *weights;
  /* The state that runs use; NULL: the program makes one of its own, with seed 0, if the model has
   * states. vt_program_set_state replaces it. */
  vt_state *state;
  /* How a failed run leaves states: "in_place" (the default, NULL) writes states as early as it
   * can, and a run that fails loses them; "safe" keeps a second copy of the states that change,
   * writes them after all other steps, and leaves them as they were if a run fails. */
  const char *state_mode;
  /* The bundle that the model is from: vt_bundle_model(bundle). It gives the weights, unless
   * `weights` is set; the first values of the state, unless `state` is set; and the plan, if it has
   * the one that would be made. It may be freed after the program was created. */
  const vt_bundle *bundle;
} vt_options;

/* Binds, verifies, lowers and plans the model, and opens the backend. All memory that a run needs
 * is allocated in this call. */
VT_API vt_status vt_program_new(const vt_model *m, const vt_options *o, vt_program **out_program,
                                vt_diag *d) VT_NODISCARD;
VT_API void vt_program_free(vt_program *p);

/* Sets all parameters from their initialisers and a seed, or one parameter by name. All parameters
 * must be set before a run. */
VT_API vt_status vt_program_init_params(vt_program *p, uint64_t seed, vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_program_set_param(vt_program *p, const char *name, const vt_tensor *t,
                                      vt_diag *d) VT_NODISCARD;
/* Reads a parameter. If out->data is NULL, only type and shape are written to `out`; otherwise the
 * elements are copied to out->data too. */
VT_API vt_status vt_program_get_param(vt_program *p, const char *name, vt_tensor *out,
                                      vt_diag *d) VT_NODISCARD;
/* Copies a tensor into an input, with NaN canonical; or fills every input that has no value yet
 * with random elements. Random floats are uniform in [-1, 1), integers are uniform in the range
 * that the model declares, bools are true with probability 1/2. Philox draws them from `seed`, so
 * they are the same on every machine. */
VT_API vt_status vt_program_set_input(vt_program *p, const char *name, const vt_tensor *t,
                                      vt_diag *d) VT_NODISCARD;
VT_API vt_status vt_program_random_inputs(vt_program *p, uint64_t seed, vt_diag *d) VT_NODISCARD;

/* The state that the program's runs use; NULL if the model has no states. */
VT_API vt_state *vt_program_state(vt_program *p);
/* Makes the program use another state of the same model on the same device, with the same sizes. */
VT_API vt_status vt_program_set_state(vt_program *p, vt_state *s, vt_diag *d) VT_NODISCARD;

/* Runs the program once. After a failure no output can be read, not even one of an earlier run. */
VT_API vt_status vt_program_run(vt_program *p, vt_diag *d) VT_NODISCARD;
/* Outputs, in ascending byte order of their names. The data of an output lives until the next run
 * or vt_program_free. An output in device memory is copied to the host by the first call that reads
 * it. */
VT_API uint32_t vt_program_outputs(const vt_program *p);
VT_API vt_status vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                                   vt_diag *d) VT_NODISCARD;
/* Digest of the last run: it covers the names and the digests of all outputs. */
VT_API vt_status vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d) VT_NODISCARD;

/* The plan as text, owned by the program, and its two digests (see vt_planned_digest). The text is
 * built by the first call; it is NULL if memory runs out. */
VT_API const char *vt_program_plan(const vt_program *p);
VT_API void vt_program_plan_digest(const vt_program *p, uint8_t out_core[32],
                                   uint8_t out_target[32]);
/* Number of passes that were run on the model, and name of pass `i` in the order in which they ran:
 * "bind", "lower", ...; NULL past the end. */
VT_API uint32_t vt_program_passes(const vt_program *p);
VT_API const char *vt_program_pass(const vt_program *p, uint32_t i);
/* The graph after `pass` in its printed form, and its content hash. For a pass that did not run the
 * text is NULL and the status VT_NAME. The text is built by the first call; it is NULL if memory
 * runs out. A program made with a cache has only the graph after the last pass: the texts of the
 * other passes are NULL. */
VT_API const char *vt_program_pass_text(const vt_program *p, const char *pass);
VT_API vt_status vt_program_pass_hash(const vt_program *p, const char *pass,
                                      uint8_t out[32]) VT_NODISCARD;
VT_API const char *vt_program_backend(const vt_program *p); /* "reference:0" */
/* The device's description of itself, one sentence. A GPU names its model, its driver and the
 * options that its kernels were compiled with. */
VT_API const char *vt_program_device(const vt_program *p);
/* Returns 1 if the program runs on a plug-in, and writes the BLAKE2b-256 hash of the plug-in's file
 * to `out`; otherwise returns 0. */
VT_API int vt_program_plugin(const vt_program *p, uint8_t out[32]);
/* 1 if the program runs on a plug-in that no certificate admits. */
VT_API int vt_program_unadmitted(const vt_program *p);
/* The policy that was in force when the program was created. */
VT_API void vt_program_policy(const vt_program *p, vt_policy *out);
/* The reason why the program fell back to the CPU; NULL if it runs on the requested backend. */
VT_API const char *vt_program_fallback(const vt_program *p);

/* Copies output number `output` of the last run of `from` to an input of `p`, as a forward pass
 * feeds its backward pass. If the two programs run on different backends, this is a mixed path: it
 * is refused unless the policy of `p` allows it, and afterwards vt_program_mixed(p) is 1. */
VT_API vt_status vt_program_feed(vt_program *p, const char *input, vt_program *from,
                                 uint32_t output, vt_diag *d) VT_NODISCARD;
VT_API int vt_program_mixed(const vt_program *p);

/* Costs of the last run. Nothing in the library depends on them. Single steps are in
 * volta_tools.h. */
typedef struct vt_run_info {
  uint32_t size;    /* sizeof(vt_run_info); set by the caller */
  uint32_t steps;   /* steps of the plan */
  uint64_t wall_ns; /* duration of the run, in nanoseconds */
  uint64_t bytes_input, bytes_param, bytes_temp, bytes_output; /* memory of the plan by use */
  uint64_t runs;     /* number of runs that have begun, this one included */
  uint64_t begin_ns; /* start of the run on a monotonic clock */
  /* Arithmetic operations, and bytes that steps read and write. They are computed from the shapes,
   * so they are equal on all backends that have the same steps. docs/metrics.md defines the counts.
   * UINT64_MAX stands for an overflow. */
  uint64_t flops, bytes_read, bytes_written;
  /* Bytes and number of copies between host and device during the run. Parameters that were set
   * before and stay on the device are not counted. */
  uint64_t to_device, from_device, copies_to_device, copies_from_device;
  uint64_t allocations; /* allocations by library and backend during the run; 0 after the first */
  uint64_t timed;       /* steps that have a time; 0 unless vt_options.measure is 1 */
  uint64_t bytes_state; /* memory of the plan for states */
} vt_run_info;
VT_API void vt_program_info(const vt_program *p, vt_run_info *out);

/* ---- the cache of plans ------------------------------------------------------------------- */

/* A cache stores lowered graphs with their plans, in memory and, if it has a folder, on disk. The
 * key of a plan is everything that the plan depends on: model, bindings, passes, schedule,
 * streaming, backend, numerics version and this build of the library. The whole key is stored and
 * compared, so a plan that is found is the plan that would be made. Programs and threads may share
 * a cache, and it may be freed before the programs that were made with it. The folder also records
 * which GPUs of this machine have passed the probes of their capabilities. See
 * docs/plan-cache.md. */
typedef struct vt_cache_options {
  uint32_t size; /* sizeof(vt_cache_options) */
  uint32_t reserved;
  const char *dir; /* folder, created if it is missing; NULL: the cache is in memory only */
  uint64_t memory_bytes, disk_bytes; /* limits in bytes; 0: 64 MiB in memory, 256 MiB on disk */
  /* Allocator of the cache and of the plans in it; called by every thread that uses the cache. */
  const vt_alloc *alloc;
  /* Called with one line of text if the folder or a file in it cannot be used. The cache then works
   * without it. The caller is the thread that noticed the problem. May be NULL. */
  void (*note)(void *user, const char *text);
  void *note_user; /* `user` of `note` */
} vt_cache_options;
/* A folder that cannot be used is reported through `note` and is not a failure. `o` may be NULL. */
VT_API vt_status vt_cache_new(const vt_cache_options *o, vt_cache **out_cache,
                              vt_diag *d) VT_NODISCARD;
VT_API void vt_cache_free(vt_cache *c);

typedef struct vt_cache_counts {
  uint32_t size;    /* sizeof(vt_cache_counts); set by the caller */
  uint32_t on_disk; /* 1: the folder is in use */
  /* Lookups that found the plan in memory, found it on disk, did not find it. */
  uint64_t hits_memory, hits_disk, misses;
  uint64_t stored;                       /* plans written to disk */
  uint64_t evicted_memory, evicted_disk; /* plans removed to stay within the limits */
  uint64_t ignored; /* problems reported through `note`: a bad file or folder, a failed write */
  /* Files that have the name of the wanted key, but hold a plan with another key. */
  uint64_t collisions;
  uint64_t bytes_memory, bytes_disk; /* bytes in use now */
  char reason[480];                  /* text of the last note, or "" */
  uint64_t trials; /* GPU capabilities whose probe result was found on disk, not run again */
} vt_cache_counts;
VT_API void vt_cache_info(vt_cache *c, vt_cache_counts *out);

/* ---- digests ------------------------------------------------------------------------------ */

/* BLAKE2b-256 of type, shape and elements, with NaN canonical; docs/numerics.md defines the hashed
 * bytes. */
VT_API vt_status vt_tensor_digest(const vt_tensor *t, uint8_t out[32], vt_diag *d) VT_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
