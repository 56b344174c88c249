/* SPDX-License-Identifier: Apache-2.0
 * cpu_backend.h - private to src/back/cpu: what its files share. A device is a team of threads and
 * the kernels of one instruction set; a program is a list of launches; a launch is one step, or a
 * group of them run as one. Work is split by outputs alone, so no bit depends on the team.
 *
 *   cpu_backend.c    the ABI: devices, memory, the team
 *   cpu_isa.c        which kernels run here
 *   cpu_program.c    steps bound to their handlers once, run many times
 *   cpu_chain.c      pointwise steps, several of them as one
 *   cpu_leave.c      what the host looks at after a run
 *
 * Handlers: how an op is split into jobs, and which kernels do them (cpu_handlers.def).
 *   cpu_matmul.c     products of matrices (cpu_gemm); of integers (cpu_matmul_int, cpu_int)
 *   cpu_conv.c       convolutions: cpu_conv_transpose, cpu_conv_weights, cpu_conv_int;
 *                    taps that slide (cpu_direct_conv) over a grid (cpu_grid)
 *   cpu_attention.c  attention: how it is cut; what is done to some rows (cpu_attend)
 *   cpu_levels.c     how long contractions are added up
 *   cpu_reduce.c       reductions along axes (cpu_axes)
 *   cpu_rows.c       row by row: cpu_softmax, cpu_norm, cpu_running
 *   cpu_move.c       copies (cpu_copy) between places (cpu_place); cpu_pool, cpu_random
 *   cpu_index.c      gathers; cpu_scatter, cpu_sort (cpu_radix)
 *   cpu_region.c     loop and cond
 *
 * Kernels, written once and compiled for each instruction set (isa.def) by kern_*.c and fun_*.c.
 *   kern_*.inc       over the words of a vec_*.h; kern_*.h say what they do
 *   map_*.inc        loops over pointwise formulas (emit/maps.def)
 *   fun_*.inc        exp, tanh, ...: texts of src/num over the words of a words_*.h (funs.def) */
#ifndef VT_CPU_BACKEND_H
#define VT_CPU_BACKEND_H
#include "volta/volta_backend.h"
#include "cpu_kernels.h"
#include "vt_op.h"
#include "vt_pool.h"
#include "vt_launches.h"

typedef struct vt_cpu_chain vt_cpu_chain;
typedef struct vt_cpu_call vt_cpu_call;

/* ---- sizes ---- */

enum { VT_CPU_LINE = 64 }; /* bytes of a line of cache, to which all memory here is aligned */
static inline int64_t vt_cpu_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t vt_cpu_most(int64_t a, int64_t b) { return a > b ? a : b; }
/* How many parts of `each` n has, the last maybe smaller; and what they come to when it is not. */
static inline int64_t vt_cpu_parts(int64_t n, int64_t each) { return n / each + (n % each != 0); }
static inline int64_t vt_cpu_whole(int64_t n, int64_t each) { return vt_cpu_parts(n, each) * each; }
static inline uint64_t vt_cpu_to_line(uint64_t bytes) {
  return (bytes + VT_CPU_LINE - 1) / VT_CPU_LINE * VT_CPU_LINE;
}

/* ---- the team ---- */

typedef struct vt_cpu_team {
  const vt_cpu_kernels *kernels;
  vt_pool *pool;
  uint32_t threads;
} vt_cpu_team;

/* Jobs 0..n-1, in any order, in any thread. A job may use what belongs to its number alone. */
void vt_cpu_share(const vt_cpu_team *t, uint64_t n, vt_job_fn *fn, void *context);
/* How many jobs `items` are best cut into when each costs about `cost` nanoseconds: 1 where waking
 * the others would take longer than it saves, else some a thread. */
uint64_t vt_cpu_jobs(const vt_cpu_team *t, uint64_t items, double cost);
/* The first of the items of job j of n: those of job j end where those of job j + 1 begin. */
int64_t vt_cpu_first(int64_t items, uint64_t n, uint64_t j);

/* ---- handlers ---- */

/* One step. While it is planned only the shapes are there: `data`, `work` and `kept` are not. */
struct vt_cpu_call {
  const vt_cpu_team *team;
  const vt_bk_step *step;
  const vt_view *in, *out;
  uint32_t n_in, n_out;
  const void *attrs;
  void *work;           /* what `work` asked for, 64-byte aligned; what it holds is anything. Never
                           NULL in a run: it may have no bytes */
  void *kept;           /* what `keep` asked for, its first VT_CPU_LINE bytes 0 when the program is
                           built; NULL where memory is short: it may only save time */
  vt_cpu_chain *tail;   /* pointwise steps on the result, see below; NULL: none */
  const uint64_t *seal; /* of each operand: as long as it is the same, what the operand holds is the
                           same, for ever; 0: that is not known. NULL while planned */
  const vt_launch_body *body;
  void *runner;
  uint32_t leaves;   /* bit i: result i is looked at after the run, and every NaN in it must be the
                        canonical one. Who has seen to it while it was in cache clears the bit */
  uint64_t position; /* set with VT_RANGE: the lowest at fault, and the index there */
  int64_t value;
};
typedef vt_status vt_cpu_run_fn(vt_cpu_call *c);
typedef uint64_t vt_cpu_bytes_fn(const vt_cpu_call *c);

/* A row of cpu_handlers.def, which says what its columns are. */
typedef struct vt_launch_handler {
  const char *way; /* for lists of ops */
  vt_cpu_bytes_fn *work, *keep;
  vt_cpu_run_fn *run;
  uint32_t traits;
} vt_cpu_handler;
const vt_cpu_handler *vt_cpu_handler_of(uint32_t op); /* NULL when there is none */
/* What is made of operand i and kept until the operand holds something else. For `keep`: `bytes`
 * and what it takes to know that; 0 where the operand is not among parameters or state. */
uint64_t vt_cpu_kept_bytes(const vt_cpu_call *c, uint32_t i, uint64_t bytes);
/* For `run`: where it stands, or NULL where nothing is kept. *out_stale is 0 when it is there and
 * right; else it has to be made before it is used. */
void *vt_cpu_kept(const vt_cpu_call *c, uint32_t i, int *out_stale);
/* The steps of body `which`, from its `in` to its `out`. */
vt_status vt_cpu_body_run(vt_cpu_call *c, uint32_t which);

/* `none` is declared too and never defined: the table has NULL for it. */
#define VT_CPU(op, way, work, keep, run, traits)          \
  vt_cpu_bytes_fn vt_cpu_work_##work, vt_cpu_keep_##keep; \
  vt_cpu_run_fn vt_cpu_run_##run;
#include "cpu_handlers.def"
#undef VT_CPU

/* ---- chains: pointwise steps, each block of elements through all of them ---- */

/* 1 when there are kernels for the op, and for this step of it. */
int vt_cpu_chain_lists(uint32_t op);
int vt_cpu_chain_takes(const vt_cpu_team *t, const vt_bk_step *s);
/* Of steps that all have the shape of the last one's result, none of which but the last is read by
 * others. VT_UNSUPPORTED when they are too many to be run as one; a single step never is. */
int32_t vt_cpu_chain_new(const vt_bk_host *host, const vt_cpu_team *t, const vt_bk_step *const *s,
                         uint32_t n, vt_cpu_chain **out) VT_NODISCARD;
void vt_cpu_chain_free(vt_cpu_chain *c);
/* Where the arenas are in this run; before any of it is run. */
void vt_cpu_chain_place(vt_cpu_chain *c, char *const *base);
/* Elements first .. first + n - 1 of the result, counted row-major. Called by a handler for a tail,
 * from the thread that has just made these elements of the step before. */
void vt_cpu_chain_part(const vt_cpu_chain *c, int64_t first, int64_t n);
/* All of it, shared by the team. */
void vt_cpu_chain_run(const vt_cpu_chain *c);

/* The tensor that it writes; from now on with one NaN alone. */
const vt_bk_tensor *vt_cpu_chain_result(const vt_cpu_chain *c);
void vt_cpu_chain_leave(vt_cpu_chain *c);

/* ---- what leaves a program ---- */

/* The one NaN in n elements; does nothing to types that have none. */
void vt_cpu_leave_part(const vt_cpu_team *t, uint32_t dtype, void *data, int64_t n);
/* The same in a whole tensor without gaps, shared by the team. */
void vt_cpu_leave(const vt_cpu_team *t, const vt_view *v);

/* ---- moves ---- */

/* The elements of one tensor into those of another of the same shape and type, any strides. */
void vt_cpu_copy(const vt_cpu_team *t, const vt_view *to, const vt_view *from);
/* A tensor without its axis `axis`, at place `i` along it. */
vt_view vt_cpu_at(const vt_view *v, uint32_t axis, int64_t i);
int64_t vt_cpu_count(const vt_view *v);
uint64_t vt_cpu_bytes_of(uint32_t dtype); /* of one element */

/* ---- programs ---- */

enum { VT_CPU_ARENAS = VT_STEPS_ARENAS };
struct vt_bk_device {
  const vt_bk_host *host;
  vt_cpu_team team;
  char fingerprint[64], about[120];
};
/* What a buffer of the device has before its bytes. */
typedef struct vt_cpu_block {
  uint64_t size; /* of the whole allocation */
  void *base;
  uint64_t seal; /* another one whenever something was copied into it or a program wrote to it */
} vt_cpu_block;
vt_cpu_block *vt_cpu_block_of(uint64_t handle);
uint64_t vt_cpu_seal_new(void); /* a number never given before */

/* VT_OK or VT_UNSUPPORTED, decided by shapes and types alone. */
int32_t vt_cpu_step_check(vt_bk_device *dev, const vt_bk_step *s);
uint64_t vt_cpu_step_work(vt_bk_device *dev, const vt_bk_step *s);

int32_t vt_cpu_program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out);
void vt_cpu_program_free(vt_bk_program *p);
int32_t vt_cpu_program_results(vt_bk_program *p, const vt_bk_tensor *results, uint64_t n);
int32_t vt_cpu_program_run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers);
int32_t vt_cpu_program_wait(vt_bk_program *p, vt_bk_error *out);

/* Memory of the host; NULL when there is none. `new` is zeroed, `take` is not even touched. */
void *vt_cpu_memory_new(const vt_bk_host *host, uint64_t bytes);
void *vt_cpu_memory_take(const vt_bk_host *host, uint64_t bytes);
void vt_cpu_memory_free(const vt_bk_host *host, void *p);
#endif
