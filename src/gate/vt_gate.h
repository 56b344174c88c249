/* SPDX-License-Identifier: Apache-2.0
 * vt_gate.h - the runtime gateway: the only caller of backends. Owns the registry, devices opened
 * through the ABI, and executions of plans. Sets the floating-point environment around everything
 * that computes, turns a backend's answers into diagnostics, and counts what it does. */
#ifndef VT_GATE_H
#define VT_GATE_H
#include "vt_plan.h"

/* ---- registry ---- */
uint32_t vt_registry_total(void);
/* "reference" with its number of devices; VT_BACKEND when it cannot say. */
vt_status vt_registry_at(uint32_t i, const char **out_name, uint32_t *out_devices,
                         vt_diag *d) VT_NODISCARD;
/* The first backend of a kind that has a device: its name, or NULL. */
typedef enum vt_kind { VT_KIND_CPU, VT_KIND_GPU, VT_KIND_TRUTH, VT_KIND_TEST } vt_kind;
const char *vt_registry_first(vt_kind kind);
/* Whether a name could be opened, here or where there are other devices and files: 0 when it is
 * misspelt. */
int vt_registry_knows(const char *name);
/* What a backend says of this build and machine ("cuda.driver"): the key, NULL past the end; the
 * sentence is looked for only where there is room for it. */
const char *vt_registry_fact(uint32_t i, char *out, size_t n);

/* ---- devices ---- */
typedef struct vt_device vt_device;
/* A device of a plug-in that asks to be let in. */
typedef struct vt_bearer {
  const char *path;
  uint32_t device; /* its number */
  const vt_hash256 *content;
  const char *isa;         /* the instructions that it is held to; NULL: none */
  const char *fingerprint; /* as the device itself gives it; NULL: it is not open yet */
  uint64_t has;            /* and what it declares, once it is open */
} vt_bearer;
/* How a device is opened; all zero is strict. */
enum { VT_WHY_NOT = 160 };
typedef struct vt_opening {
  uint32_t admission; /* VT_ADMISSION_* */
  /* Whether a certificate covers it; `why` gets the reason when none does, if there is more to say
   * than that. It is asked before the plug-in is loaded and again when its device is open. NULL:
   * none covers anything. */
  int (*certified)(const void *user, const vt_bearer *b, char why[VT_WHY_NOT]);
  const void *user;
  uint32_t threads, measure; /* for the backend */
  const char *isa;           /* kept; may be NULL */
  const char *cache;         /* kept; NULL: the backend has no folder to keep things in */
  uint64_t cache_bytes;      /* the most that may lie there */
  /* What the backend notes while programs are built or run; NULL: nobody is told. */
  void (*note)(void *user, const char *text);
  void *note_user;
} vt_opening;
/* `name` is "reference" or "reference:1"; "gpu" or "gpu:1"; with a slash in it, the path of a
 * plug-in, which is probed in a child process before this one loads it: "./libfoo.so",
 * "/opt/libfoo.so:1". */
vt_status vt_device_open_as(const vt_opening *how, const char *name, vt_alloc a, vt_device **out,
                            vt_diag *d) VT_NODISCARD;
/* Strictly. */
vt_status vt_device_open(const char *name, vt_alloc a, vt_device **out, vt_diag *d) VT_NODISCARD;
void vt_device_close(vt_device *dev);
/* Who hears the backend's notes from here on, in place of whom the opening named. */
void vt_device_hear(vt_device *dev, void (*note)(void *user, const char *text), void *user);
const char *vt_device_name(const vt_device *dev); /* "reference:0" */
vt_kind vt_device_kind(const vt_device *dev);     /* VT_KIND_TEST for a plug-in */
/* The content of the plug-in; NULL for a device that is built in. */
const vt_hash256 *vt_device_plugin(const vt_device *dev);
int vt_device_unadmitted(const vt_device *dev);
const char *vt_device_isa(const vt_device *dev); /* the instructions it is held to; "": none */
const vt_bk_caps *vt_device_caps(const vt_device *dev);
/* What the device is trusted to keep, of vt_bk_caps.has: set by those who tried it, and shared by
 * all devices of one backend and number in this process. */
uint64_t vt_device_proven(const vt_device *dev);
void vt_device_prove(vt_device *dev, uint64_t caps);
/* 1 when the device has a kernel for op number `op`. The shape fits vt_pass_options.listed. */
int vt_device_lists(const void *dev, uint32_t op);
/* How it does that, in the device's own word; "" where it has none. */
enum { VT_DEVICE_VARIANT = 16 };
void vt_device_variant(const vt_device *dev, uint32_t op, char out[VT_DEVICE_VARIANT]);
/* The device as the planner sees it; valid as long as the device. */
vt_target vt_device_target(vt_device *dev);

/* Until it is let go, the path that a device was opened by means the content that was loaded: one
 * who judges many programs judges one content, whatever happens to the file, and does not have it
 * read and hashed for each. `out` is NULL for a device that is built in, and that may be let go. */
typedef struct vt_hold vt_hold;
vt_status vt_device_hold(const vt_device *dev, const char *name, vt_hold **out,
                         vt_diag *d) VT_NODISCARD;
void vt_hold_release(vt_hold *h);
/* How many bytes of the name of a plug-in's device are its path: all, or those before ":1", the
 * number of the device, which has four digits at most. */
size_t vt_device_path(const char *name, uint32_t *out_ordinal);

/* ---- capabilities: what plans need and devices declare ---- */
enum { VT_CAPABILITIES = 7 };
typedef struct vt_capability {
  uint64_t bit;
  const char *name; /* "supports_float64" */
  const char *help; /* what a device that declares it promises */
} vt_capability;
const vt_capability *vt_capability_at(uint32_t i); /* NULL past the end */
/* All that the steps of a plan need of a device. */
uint64_t vt_plan_needs(const vt_plan *p);
/* Whether the device can run the plan, decided before anything is taken: it declares what every
 * step needs, and accepts every step. VT_UNSUPPORTED names the op and the capability. A plan of the
 * digest that it accepted last is not asked about again. */
vt_status vt_device_accepts(vt_device *dev, const vt_plan *p, vt_diag *d) VT_NODISCARD;

/* ---- the time that making takes ---- */
/* Steps on the way to an execution, as they end; one may lie within another. For reports alone, and
 * no more than so many: further ones are dropped. */
enum { VT_PHASES = 64 };
typedef struct vt_phase {
  const char *name;
  uint64_t begin_ns, end_ns; /* of vt_clock_ns */
} vt_phase;
uint64_t vt_phase_begin(void);
void vt_phase_end(vt_device *dev, const char *name,
                  uint64_t begin);                                 /* `name` outlives the device */
const vt_phase *vt_device_phase(const vt_device *dev, uint32_t i); /* NULL past the end */

/* ---- the guard ---- */
/* 1 in a thread that is inside a call of the gateway to a backend. */
int vt_gate_inside(void);
/* How often in this thread a backend left the floating-point mode other than it found it. The mode
 * is put right each time; admission refuses who does that. */
uint64_t vt_gate_strayed(void);
/* What went through the gateway since the process began. */
typedef struct vt_gate_counts {
  uint64_t devices, programs, runs, copies, checks;
} vt_gate_counts;
vt_gate_counts vt_gate_count(void);

/* ---- executions: a plan on a device, with its memory ---- */
typedef struct vt_exec vt_exec;
/* Checks every step (VT_UNSUPPORTED names op and types) and that there is memory (VT_NOMEM says how
 * much, before any is taken), builds the programs, takes all memory. */
vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out,
                      vt_diag *d) VT_NODISCARD;
void vt_exec_free(vt_exec *x);
/* Between the caller's memory and the buffer of a value, on the device or kept on the host. */
vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) VT_NODISCARD;
vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) VT_NODISCARD;
/* Where a result lies, when the host may look at it there between runs, until the execution is
 * freed; NULL: it has to be read. */
void *vt_exec_result(vt_exec *x, uint32_t value);
/* 1 when the backend leaves no NaN but the canonical one in results. */
int vt_exec_canonical(const vt_exec *x);
vt_status vt_exec_run(vt_exec *x, vt_diag *d) VT_NODISCARD;
/* Fills what a run must write before it reads it - temporaries, scratch, outputs - with a byte. For
 * those who judge backends. */
vt_status vt_exec_poison(vt_exec *x, uint8_t byte, vt_diag *d) VT_NODISCARD;
/* `report` hears of the steps of later runs: how much of the work is done, in units that grow with
 * the multiplications of a step. It cannot change anything. */
typedef void vt_exec_report(void *user, uint64_t done, uint64_t total);
void vt_exec_watch(vt_exec *x, vt_exec_report *report, void *user);
/* Bytes copied for the last run: inputs before it, parameters that stay on the host while it ran,
 * and whatever was read since. */
void vt_exec_traffic(const vt_exec *x, uint64_t *out_to_device, uint64_t *out_from_device);
uint64_t vt_exec_wall_ns(const vt_exec *x); /* of the last run */

/* ---- metrics: what runs took, looked at and never acted upon ---- */
typedef struct vt_exec_counts {
  uint64_t runs; /* that began */
  uint64_t begin_ns, wall_ns;
  uint64_t to_device, from_device; /* bytes, as above */
  uint64_t copies_to_device, copies_from_device;
  uint64_t timed; /* runs of the plan that have a time; 0 unless the device measures */
} vt_exec_counts;
vt_exec_counts vt_exec_count(const vt_exec *x); /* of the last run */
/* What run `run` of the plan costs by definition; known before it ran. */
vt_cost vt_exec_cost(const vt_exec *x, uint32_t run);
/* When it began and ended in the last run; 0 when nobody said. */
int vt_exec_time(const vt_exec *x, uint32_t run, uint64_t *out_begin, uint64_t *out_end);
/* The copies of the last run in their order, if the device measures. */
typedef struct vt_copied {
  uint32_t value, direction; /* vt_direction */
  uint64_t bytes, begin_ns, end_ns;
} vt_copied;
const vt_copied *vt_exec_copy(const vt_exec *x, uint32_t i); /* NULL past the end */
#endif
