/* SPDX-License-Identifier: Apache-2.0
 * cpu_backend.h - private to src/back/cpu: declarations that its files share. A device is a team of
 * threads and the kernels of one instruction set; a program is a list of launches; a launch is one
 * step, or a group of steps that run as one. Jobs are split by outputs only, so no bit of a result
 * depends on the number of threads.
 *
 *   cpu_backend.c    the ABI: devices, memory, the team
 *   cpu_isa.c        chooses the kernels for this processor
 *   cpu_program.c    binds steps to their handlers once and runs them any number of times
 *   cpu_chain.c      pointwise steps, several of which run as one
 *   cpu_derived.c    packed weights that programs share
 *   cpu_canonical.c      makes the NaNs of results canonical that the host reads after a run
 *
 * Handlers split an op into jobs and choose the kernels that do them (cpu_handlers.def).
 *   cpu_matmul.c     matrix products (cpu_gemm); integer products (cpu_matmul_int, cpu_int)
 *   cpu_conv.c       convolutions: cpu_conv_transpose, cpu_conv_weights, cpu_conv_int;
 *                    direct convolution (cpu_direct_conv) over a padded grid (cpu_grid)
 *   cpu_attention.c  attention: its split into chunks; the kernels for one chunk (cpu_attend)
 *   cpu_levels.c     the sums of blocks of 256 products
 *   cpu_reduce.c     reductions along axes (cpu_axes)
 *   cpu_rows.c       ops row by row: cpu_softmax, cpu_norm, cpu_cumsum
 *   cpu_move.c       copies (cpu_copy) between strided tensors (cpu_walk); cpu_pool, cpu_random
 *   cpu_index.c      gathers; cpu_scatter, cpu_sort (cpu_radix)
 *   cpu_region.c     loop and cond
 *
 * Kernels are written once and compiled for each instruction set (isa.def) by kern_*.c and fun_*.c.
 *   kern_*.inc       kernels over the vector types of a vec_*.h; kern_*.h declare them
 *   map_*.inc        loops over pointwise formulas (emit/maps.def)
 *   fun_*.inc        exp, tanh, ...: texts of src/num over the vectors of a words_*.h (funs.def) */
#ifndef VT_CPU_BACKEND_H
#define VT_CPU_BACKEND_H
#include "volta/volta_backend.h"
#include "cpu_kernels.h"
#include "vt_op.h"
#include "vt_pool.h"
#include "vt_launches.h"

typedef struct vt_cpu_chain vt_cpu_chain;
typedef struct vt_cpu_call vt_cpu_call;
typedef struct vt_cpu_store vt_cpu_store; /* see cpu_derived.h */

/* ---- sizes ---- */

enum { VT_CPU_LINE = 64 }; /* bytes of a cache line; all memory of this backend is aligned to it */
static inline int64_t vt_cpu_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t vt_cpu_max(int64_t a, int64_t b) { return a > b ? a : b; }
/* n / each, rounded up; and n rounded up to a multiple of `each`. */
static inline int64_t vt_cpu_div_up(int64_t n, int64_t each) { return n / each + (n % each != 0); }
static inline int64_t vt_cpu_round_up(int64_t n, int64_t each) {
  return vt_cpu_div_up(n, each) * each;
}
static inline uint64_t vt_cpu_round_to_line(uint64_t bytes) {
  return (bytes + VT_CPU_LINE - 1) / VT_CPU_LINE * VT_CPU_LINE;
}

/* ---- the team ---- */

/* The threads of a device and the kernels that they run. */
typedef struct vt_cpu_team {
  const vt_cpu_kernels *kernels;
  vt_pool *pool;
  uint32_t threads;
} vt_cpu_team;

/* Runs jobs 0 .. n-1 in any order, on any threads of the team, and waits for all of them. A job may
 * write only memory that belongs to its number. */
void vt_cpu_run_jobs(const vt_cpu_team *t, uint64_t n, vt_job_fn *fn, void *context);
/* How many jobs `items` should be split into if each item costs about `ns_per_item` nanoseconds: 1
 * if waking other threads takes longer than it saves, else a few jobs per thread. */
uint64_t vt_cpu_job_count(const vt_cpu_team *t, uint64_t items, double ns_per_item);
/* The first item of a job, if `items` items are split among `jobs` jobs. A job ends where the next
 * one begins. */
int64_t vt_cpu_job_first(int64_t items, uint64_t jobs, uint64_t job);

/* ---- handlers ---- */

/* One step as its handler sees it. While the program is planned only the shapes are known: `data`
 * of the views, `work` and `cached` are not set. */
struct vt_cpu_call {
  const vt_cpu_team *team;
  const vt_bk_step *step;
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  const void *attrs;
  void *work; /* scratch of the size that the handler's `work` returned, 64-byte aligned, with
                 undefined content; never NULL during a run, even if the size is 0 */
  /* memory of the size that the handler's `cache` returned; it outlives the run, and its first
   * VT_CPU_LINE bytes are 0 when the program is built. NULL if memory is short, so handlers must
   * also work without it */
  void *cached;
  vt_cpu_chain *epilogue; /* pointwise steps to run on the result, see below; or NULL */
  /* for each operand: its content version, which changes whenever its content does; 0: unknown.
   * NULL while the program is planned */
  const uint64_t *version;
  /* Set by vt_cpu_cached_data to a shared block that this call fills; it is ended after `run`. */
  struct vt_cpu_block **filling;
  const vt_launch_body *body;
  void *runner;
  /* Bit i: the host reads result i after the run, so every NaN in it must be canonical. A handler
   * that has done this while the result was in cache clears the bit. */
  uint32_t leaves;
  uint64_t position; /* set with VT_RANGE: lowest faulty position in the index operand */
  int64_t value;     /* set with VT_RANGE: the index at `position`, which is out of range */
};
typedef vt_status vt_cpu_run_fn(vt_cpu_call *c);
typedef uint64_t vt_cpu_bytes_fn(const vt_cpu_call *c);

/* A row of cpu_handlers.def, which describes its columns. */
typedef struct vt_launch_handler {
  const char *kind; /* one word for lists of ops: "vector", "move" or "region" */
  vt_cpu_bytes_fn *work, *cache;
  vt_cpu_run_fn *run;
  uint32_t traits;
} vt_cpu_handler;
const vt_cpu_handler *vt_cpu_handler_of(uint32_t op); /* NULL if the op has no handler */
/* Handlers may cache data derived from an operand, for example packed weights, until the operand
 * changes. A handler's `cache` returns what this function returns: the bytes to cache for derived
 * data of `bytes` bytes, or 0 if the operand is neither a parameter nor state, because other
 * operands change in every run. */
uint64_t vt_cpu_bytes_to_cache(const vt_cpu_call *c, uint32_t operand, uint64_t bytes);
/* Called by a handler's `run`: returns the address of the cached data, or NULL if nothing is
 * cached. If *out_stale is not 0, the operand has changed, and the handler must compute the data
 * again before using it. */
void *vt_cpu_cached_data(const vt_cpu_call *c, uint32_t operand, int *out_stale);
/* Runs the steps of body number `body` of a loop or cond. The steps read the tensors `in` of the
 * body and write its `out`. */
vt_status vt_cpu_body_run(vt_cpu_call *c, uint32_t body);

/* A column `none` also declares a function, which is never defined: the table of handlers has NULL
 * for it. */
#define VT_CPU(op, kind, work, cache, run, traits)                   \
  vt_cpu_bytes_fn vt_cpu_scratch_##work, vt_cpu_cache_bytes_##cache; \
  vt_cpu_run_fn vt_cpu_run_##run;
#include "cpu_handlers.def"
#undef VT_CPU

/* ---- chains: each block of elements passes through all pointwise steps of a group ---- */

/* vt_cpu_chain_lists_op: whether chains have any kernel for the op. vt_cpu_chain_accepts: whether
 * they have one for the types and shapes of step s. */
int vt_cpu_chain_lists_op(uint32_t op);
int vt_cpu_chain_accepts(const vt_cpu_team *t, const vt_bk_step *s);
/* Makes a chain of n steps, whose results all have the shape of the last one; only the last result
 * is read by other steps. Returns VT_UNSUPPORTED if there are too many steps to run as one; one
 * step is never too many. */
int32_t vt_cpu_chain_new(const vt_bk_host *host, const vt_cpu_team *t, const vt_bk_step *const *s,
                         uint32_t n, vt_cpu_chain **out) VT_NODISCARD;
void vt_cpu_chain_free(vt_cpu_chain *c);
/* Sets the addresses of the arenas of this run; must be called before the chain runs. */
void vt_cpu_chain_set_arenas(vt_cpu_chain *c, char *const *base);
/* Runs the chain for elements first .. first + n - 1 of the result, in row-major order. A handler
 * calls it to apply an epilogue, on the thread that has just computed these elements of the
 * anchor. */
void vt_cpu_chain_run_part(const vt_cpu_chain *c, int64_t first, int64_t n);
/* Runs the chain for all elements, with all threads of the team. */
void vt_cpu_chain_run(const vt_cpu_chain *c);

/* The tensor that the chain writes. After vt_cpu_chain_append_canonicalize every NaN in it is
 * canonical.
 */
const vt_bk_tensor *vt_cpu_chain_result(const vt_cpu_chain *c);
void vt_cpu_chain_append_canonicalize(vt_cpu_chain *c);

/* ---- canonical NaNs ---- */

/* Makes every NaN in n elements canonical; does nothing to types without NaN. */
void vt_cpu_canonicalize_part(const vt_cpu_team *t, uint32_t dtype, void *data, int64_t n);
/* Makes every NaN of a tensor without gaps canonical, with all threads of the team. */
void vt_cpu_canonicalize(const vt_cpu_team *t, const vt_view *v);

/* ---- moves ---- */

/* Copies the elements of `from` to `to`, which has the same shape and type. Both may have any
 * strides. */
void vt_cpu_copy(const vt_cpu_team *t, const vt_view *to, const vt_view *from);
/* The view without its axis `axis`, at index `i` along it. */
vt_view vt_cpu_drop_axis(const vt_view *v, uint32_t axis, int64_t i);
int64_t vt_cpu_count(const vt_view *v);
uint64_t vt_cpu_bytes_of(uint32_t dtype); /* bytes of one element */

/* ---- programs ---- */

enum { VT_CPU_ARENAS = VT_STEPS_ARENAS };
struct vt_bk_device {
  const vt_bk_host *host;
  vt_cpu_team team;
  char fingerprint[64], about[120];
  uint64_t shared; /* handle of the shared parameters of programs built from now on; 0: none */
};
/* Header in front of the bytes of each buffer of a device. */
typedef struct vt_cpu_buffer_header {
  uint64_t size; /* bytes of the whole allocation */
  void *base;    /* start of the allocation */
  /* Content version: a new number after each copy or program that writes the buffer. */
  uint64_t version;
  vt_cpu_store *store; /* blocks derived from a shared buffer; NULL if the buffer is not shared */
} vt_cpu_buffer_header;
vt_cpu_buffer_header *vt_cpu_buffer_header_of(uint64_t handle);
uint64_t vt_cpu_new_content_version(void); /* a number that was never returned before */

/* Whether the backend supports step s: VT_OK or VT_UNSUPPORTED, decided by its op, shapes and types
 * only. */
int32_t vt_cpu_step_check(vt_bk_device *dev, const vt_bk_step *s);
uint64_t vt_cpu_step_scratch_bytes(vt_bk_device *dev, const vt_bk_step *s);

/* Writes the bytes that a program of these steps keeps between runs: data derived from parameters.
 */
int32_t vt_cpu_program_memory(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                              vt_bk_memory *out);
int32_t vt_cpu_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out);
void vt_cpu_program_free(vt_bk_program *p);
int32_t vt_cpu_program_canonicalize_results(vt_bk_program *p, const vt_bk_tensor *results,
                                            uint64_t n);
int32_t vt_cpu_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers);
int32_t vt_cpu_program_wait(vt_bk_program *p, vt_bk_error *out);

/* Memory from the host, or NULL. vt_cpu_memory_new zeroes it; vt_cpu_memory_new_uncleared does not
 * touch it. */
/* Bytes that the host is asked for when `bytes` bytes are allocated. */
uint64_t vt_cpu_memory_size(uint64_t bytes);
void *vt_cpu_memory_new(const vt_bk_host *host, uint64_t bytes);
void *vt_cpu_memory_new_uncleared(const vt_bk_host *host, uint64_t bytes);
void vt_cpu_memory_free(const vt_bk_host *host, void *p);
#endif
