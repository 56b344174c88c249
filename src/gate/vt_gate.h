/* SPDX-License-Identifier: Apache-2.0
 * vt_gate.h - the runtime gateway, the only caller of backends. It owns the registry of backends,
 * the devices opened through the ABI, and the executions of plans. It sets the floating-point mode
 * around every call to a backend, turns error statuses of backends into diagnostics, and counts
 * devices, programs, runs, copies and checks. */
#ifndef VT_GATE_H
#define VT_GATE_H
#include "vt_plan.h"

/* ---- registry ---- */
uint32_t vt_registry_backend_count(void); /* number of backends in this binary */
/* Writes the name of backend `i`, such as "reference", and the number of its devices; VT_BACKEND if
 * it cannot count them. */
vt_status vt_registry_backend_at(uint32_t i, const char **out_name, uint32_t *out_devices,
                                 vt_diag *d) VT_NODISCARD;
/* The kinds of backends; backends.def says for what each kind is chosen. The reference is of the
 * kind TRUTH. */
typedef enum vt_kind { VT_KIND_CPU, VT_KIND_GPU, VT_KIND_TRUTH, VT_KIND_TEST } vt_kind;
/* The name of the first backend of a kind that has a device, or NULL. */
const char *vt_registry_first_of_kind(vt_kind kind);
/* 1 if the name could be opened on some machine, because it is a path or names a backend; 0 if it
 * is misspelt. */
int vt_registry_knows_name(const char *name);
/* Fact `i` that a backend reports about this build and machine. Returns its key ("cuda.driver"), or
 * NULL past the end; writes its sentence to `out` unless `n` is 0. */
const char *vt_registry_fact(uint32_t i, char *out, size_t n);

/* ---- devices ---- */
typedef struct vt_device vt_device;
/* A device of a plug-in, with what is needed to ask whether a certificate, the record of a passed
 * admission, covers it. */
typedef struct vt_plugin_candidate {
  const char *path;          /* path of the plug-in */
  uint32_t device;           /* number of the device */
  const vt_hash256 *content; /* digest of the plug-in's file */
  const char *isa;           /* instruction set that the device is limited to; NULL: not limited */
  const char *fingerprint;   /* fingerprint of the device; NULL while it is not open */
  uint64_t has;              /* capabilities that the device declares; 0 while it is not open */
} vt_plugin_candidate;
enum { VT_WHY_BYTES = 160 }; /* capacity for the reason why no certificate covers a device */
/* The options for opening a device. All zero means strict: plug-ins need a certificate. */
typedef struct vt_device_options {
  uint32_t admission; /* whether a plug-in needs a certificate, VT_ADMISSION_* */
  /* Returns 1 if a certificate covers the device; if not, it may write a reason to `why`. It is
   * called before the plug-in is loaded and again when its device is open. NULL: no certificate
   * covers any device. */
  int (*certified)(const void *user, const vt_plugin_candidate *b, char why[VT_WHY_BYTES]);
  const void *user;  /* first argument of `certified` */
  uint32_t threads;  /* most threads that the backend may use; 0: the backend decides */
  uint32_t measure;  /* 1: the backend measures the time of every step */
  const char *isa;   /* instruction set to limit the backend to, or NULL; the text is copied */
  const char *cache; /* folder for the backend's files; NULL: the backend stores no files; the text
                        is copied */
  uint64_t cache_bytes; /* limit on the bytes in `cache` */
  /* Called with the backend's notes while programs are built or run; may be NULL. */
  void (*note)(void *user, const char *text);
  void *note_user; /* first argument of `note` */
} vt_device_options;
/* Opens a device. `name` is "reference" or "reference:1"; "gpu" or "gpu:1"; or, with a slash in it,
 * the path of a plug-in: "./libfoo.so", "/opt/libfoo.so:1". A plug-in is probed in a child process
 * before this process loads it. */
vt_status vt_device_open_with_options(const vt_device_options *how, const char *name, vt_alloc a,
                                      vt_device **out, vt_diag *d) VT_NODISCARD;
/* Opens a device with all options zero. */
vt_status vt_device_open(const char *name, vt_alloc a, vt_device **out, vt_diag *d) VT_NODISCARD;
void vt_device_close(vt_device *dev);
/* Replaces the `note` function of the options. */
void vt_device_set_note_listener(vt_device *dev, void (*note)(void *user, const char *text),
                                 void *user);
/* The name of the device, from backend and number: "reference:0". */
const char *vt_device_name(const vt_device *dev);
/* The kind of the device's backend; VT_KIND_TEST for a plug-in. */
vt_kind vt_device_kind(const vt_device *dev);
/* The digest of the plug-in's file; NULL for a built-in device. */
const vt_hash256 *vt_device_plugin_digest(const vt_device *dev);
/* 1 if the device is a plug-in's and no certificate covers it. */
int vt_device_unadmitted(const vt_device *dev);
/* The instruction set that the device is limited to; "" if it is not limited. */
const char *vt_device_isa(const vt_device *dev);
const vt_bk_caps *vt_device_caps(const vt_device *dev);
/* The bits of vt_bk_caps.has that a probe has confirmed in this process, and a function that adds
 * such bits. Devices of one backend with the same number and instruction set share them. */
uint64_t vt_device_proven_caps(const vt_device *dev);
void vt_device_add_proven_caps(vt_device *dev, uint64_t caps);
/* 1 if the device has a kernel for op number `op`. It has the type of vt_pass_options.listed. */
int vt_device_lists_op(const void *dev, uint32_t op);
/* Writes the name that the device gives for its kernel variant of an op, "vector"; "" if it gives
 * none. */
enum { VT_DEVICE_VARIANT = 16 };
void vt_device_kernel_variant(const vt_device *dev, uint32_t op, char out[VT_DEVICE_VARIANT]);
/* The device as a target for the planner; valid as long as the device. */
vt_target vt_device_target(vt_device *dev);

/* Holds a plug-in: until the hold is released, opening the same path gives the content that was
 * loaded for `dev`, whatever happens to the file. So a test of many programs tests one content, and
 * the file is read and hashed only once. *out is NULL for a built-in device, and vt_hold_release
 * accepts NULL. */
typedef struct vt_hold vt_hold;
vt_status vt_device_hold_plugin(const vt_device *dev, const char *name, vt_hold **out,
                                vt_diag *d) VT_NODISCARD;
void vt_hold_release(vt_hold *h);
/* The length of the path in the name of a plug-in's device: the whole name, or the part before the
 * device number ":1", which has at most four digits. The number goes to *out_ordinal. */
size_t vt_device_path_length(const char *name, uint32_t *out_ordinal);

/* ---- capabilities: what plans need and devices declare ---- */
enum { VT_CAPABILITIES = 7 };
typedef struct vt_capability {
  uint64_t bit;     /* its bit in vt_bk_caps.has, such as VT_BK_FLOAT64 */
  const char *name; /* name of the capability: "supports_float64" */
  const char *help; /* the promise of a device that declares the capability */
} vt_capability;
const vt_capability *vt_capability_at(uint32_t i); /* capability number `i`; NULL past the end */
/* The bits of all capabilities that the steps of a plan need. */
uint64_t vt_plan_needed_caps(const vt_plan *p);
/* Checks, before any memory is taken, that the device declares the capabilities that the steps need
 * and accepts every step. VT_UNSUPPORTED names the op and the capability. If the plan is the one
 * that the device accepted last, the device is not asked again. */
vt_status vt_device_check_plan(vt_device *dev, const vt_plan *p, vt_diag *d) VT_NODISCARD;

/* ---- phases: the time that preparing an execution takes ---- */
/* Phases of a program's preparation, such as opening the device or planning, are recorded as they
 * end, and may be nested. They serve reports only. At most VT_PHASES are recorded per device;
 * further phases are dropped. */
enum { VT_PHASES = 64 };
typedef struct vt_phase {
  const char *name;
  uint64_t begin_ns, end_ns; /* when the phase began and ended, by vt_clock_ns */
} vt_phase;
uint64_t vt_phase_begin(void);
/* Records a phase that began at `begin` and ends now. `name` must outlive the device. */
void vt_phase_end(vt_device *dev, const char *name, uint64_t begin);
/* Phase `i`; NULL past the end. */
const vt_phase *vt_device_phase(const vt_device *dev, uint32_t i);

/* ---- the guard ---- */
/* 1 in a thread that is inside a call of the gateway to a backend. */
int vt_gate_is_inside_call(void);
/* The number of times that backends left the floating-point mode changed in this thread. The
 * gateway restores the mode each time; admission refuses a backend that does this. */
uint64_t vt_gate_count_mode_changes(void);
/* Counts since the process began: devices opened, programs built, runs begun, copies made, plans
 * checked by a device. */
typedef struct vt_gate_counts {
  uint64_t devices, programs, runs, copies, checks;
} vt_gate_counts;
vt_gate_counts vt_gate_get_counts(void);

/* ---- executions: a plan on a device, with its memory ---- */
typedef struct vt_exec vt_exec;

/* A buffer that executions on devices of one backend and number share: an arena of parameters,
 * which is filled once and then only read, by any number of executions at the same time; or an
 * arena of state, which executions read and write one after the other. The device that holds it is
 * its own, so that it outlives any execution. Executions keep no reference: the owner frees it
 * after them. */
typedef struct vt_shared_buffer vt_shared_buffer;
/* Allocates a buffer of `bytes` bytes on `home`, which it closes at the end, after a failure as
 * well. VT_UNSUPPORTED if the backend cannot share buffers. */
vt_status vt_shared_buffer_new(vt_device *home, uint64_t bytes, int writable, vt_alloc a,
                               vt_shared_buffer **out, vt_diag *d) VT_NODISCARD;
vt_status vt_shared_buffer_write(vt_shared_buffer *s, uint64_t offset, const void *data,
                                 uint64_t bytes, vt_diag *d) VT_NODISCARD;
vt_status vt_shared_buffer_read(const vt_shared_buffer *s, uint64_t offset, void *data,
                                uint64_t bytes, vt_diag *d) VT_NODISCARD;
/* Must be called after writing, before an execution uses the buffer. Parameters cannot be written
 * any more. */
vt_status vt_shared_buffer_share(vt_shared_buffer *s, vt_diag *d) VT_NODISCARD;
void vt_shared_buffer_free(vt_shared_buffer *s);
/* The device that holds the buffer. */
vt_device *vt_shared_buffer_home(const vt_shared_buffer *s);
/* 1 if the device is of the same backend and number, and of the same content of a plug-in. */
int vt_shared_buffer_is_for(const vt_shared_buffer *s, const vt_device *dev);
/* 1 if the device's backend can share buffers. */
int vt_device_can_share_buffers(const vt_device *dev);

/* Creates an execution: checks every step (VT_UNSUPPORTED names op and types) and the free memory
 * (VT_NOMEM says how much is needed, before any is taken), builds the programs and allocates all
 * memory. */
vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out,
                      vt_diag *d) VT_NODISCARD;
/* The shared buffers of an execution; each may be NULL. */
typedef struct vt_exec_shared {
  const vt_shared_buffer *params; /* the PARAMETER arena; then vt_exec_write may not write it */
  const vt_shared_buffer *state;  /* the STATE arena */
} vt_exec_shared;
/* Does the same for an execution that has shared buffers. They must have been shared and have the
 * bytes of the plan's arenas. */
vt_status vt_exec_new_shared(vt_device *dev, const vt_plan *p, const vt_exec_shared *shared,
                             vt_alloc a, vt_exec **out, vt_diag *d) VT_NODISCARD;
/* Makes the execution use another shared STATE arena of the same size. */
vt_status vt_exec_set_state(vt_exec *x, const vt_shared_buffer *state, vt_diag *d) VT_NODISCARD;
void vt_exec_free(vt_exec *x);
/* Writes a part of a value: `bytes` bytes from byte `at` of its buffer on. */
vt_status vt_exec_write_part(vt_exec *x, uint32_t value, uint64_t at, const void *data,
                             uint64_t bytes, vt_diag *d) VT_NODISCARD;
/* Copy between the caller's memory, `data`, and the buffer of a value, which is on the device or,
 * for a streamed parameter, on the host. */
vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) VT_NODISCARD;
vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) VT_NODISCARD;
/* The address of a result that the host can read between runs, valid until the execution is freed;
 * NULL if the result must be copied by vt_exec_read. */
void *vt_exec_result_address(vt_exec *x, uint32_t value);
/* 1 if the backend promises that every NaN in results is the canonical one. */
int vt_exec_has_canonical_nan(const vt_exec *x);
vt_status vt_exec_run(vt_exec *x, vt_diag *d) VT_NODISCARD;
/* 1 if the last run failed, and not before its first step that writes a state. A backend writes no
 * state after an index fault. */
int vt_exec_may_have_written_state(const vt_exec *x);
/* Poisons the memory that a run must write before it reads it (temporaries, scratch and outputs) by
 * filling it with a byte. Admission tests use it to notice reads of unwritten memory. */
vt_status vt_exec_poison(vt_exec *x, uint8_t byte, vt_diag *d) VT_NODISCARD;
/* Sets a function that is called as steps of later runs end, with the part `done` of `total` that
 * the run has done. Both grow with the operations and bytes of steps. The function cannot change
 * results. */
typedef void vt_exec_report(void *user, uint64_t done, uint64_t total);
void vt_exec_set_progress(vt_exec *x, vt_exec_report *report, void *user);
/* Writes the bytes copied for the last run: its inputs, streamed parameters during it, and
 * everything read since. */
void vt_exec_bytes_copied(const vt_exec *x, uint64_t *out_to_device, uint64_t *out_from_device);
uint64_t vt_exec_last_run_ns(const vt_exec *x); /* wall time of the last run */

/* ---- metrics of runs, which only reports read ---- */
typedef struct vt_exec_counts {
  uint64_t runs;                   /* runs begun since the execution was created */
  uint64_t begin_ns, wall_ns;      /* start and wall time of the last run */
  uint64_t to_device, from_device; /* bytes copied for the last run, as by vt_exec_bytes_copied */
  uint64_t copies_to_device, copies_from_device; /* number of these copies */
  uint64_t timed; /* number of backend steps that have a time; 0 unless the device measures */
} vt_exec_counts;
vt_exec_counts vt_exec_get_counts(const vt_exec *x);
/* The cost of backend step `step` by the definition of its op; it does not depend on a run. */
vt_cost vt_exec_step_cost(const vt_exec *x, uint32_t step);
/* Writes when backend step `step` began and ended in the last run; returns 0 if that is not
 * known. */
int vt_exec_step_time(const vt_exec *x, uint32_t step, uint64_t *out_begin, uint64_t *out_end);
/* A copy made for the last run. Copies are listed in order, if the device measures. */
typedef struct vt_copy_record {
  uint32_t value, direction; /* id of the copied value; direction of the copy, a vt_direction */
  uint64_t bytes, begin_ns, end_ns;
} vt_copy_record;
const vt_copy_record *vt_exec_copy_at(const vt_exec *x,
                                      uint32_t i); /* copy `i`; NULL past the end */
#endif
