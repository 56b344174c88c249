/* SPDX-License-Identifier: Apache-2.0
 * volta_admit.h - admission: the tests that a backend must pass before its results count. They are
 * the conformance suite for all ops that it declares, a test for each rule of the numerics, the
 * probes of its capabilities and the example models. Cases run again repeated, reordered, with
 * other thread counts and in poisoned memory. Every bit is compared; there is no tolerance. The
 * rules of volta.h hold. */
#ifndef VOLTA_ADMIT_H
#define VOLTA_ADMIT_H
#include "volta.h"
#ifdef __cplusplus
extern "C" {
#endif

/* First line of every report about a backend whose results differ in bits. */
#define VT_DIVERGES "Accelerated backend diverges from CPU semantics. This is forbidden."

/* The checks of an admission, in the order in which they run. The first one that fails ends it. */
VT_API uint32_t vt_admission_checks(void);
VT_API const char *vt_admission_check(uint32_t i);       /* name, "rules"; NULL past the end */
VT_API const char *vt_admission_check_about(uint32_t i); /* one sentence; NULL past the end */

typedef struct vt_admit_options {
  uint32_t size;  /* sizeof(vt_admit_options) */
  uint32_t brief; /* 1: run only a part of the suite and the small examples, without certificate */
  const char *backend; /* "island:1", or the path of a plug-in */
  /* Bit i skips check i; then there is no certificate. For tests of the checks themselves. */
  uint64_t skip;
  uint32_t jobs; /* number of cases that run in parallel; 0: one per processor */
  uint32_t reserved;
  /* Folder in which the model and the inputs of a failure are written; it is created. NULL: nothing
   * is written. */
  const char *reproducer;
  const vt_alloc *alloc; /* called by all jobs, so it must be thread-safe */
  /* Called during check `check`: `done` of `total` cases are finished. May be NULL. */
  void (*progress)(void *user, const char *check, uint64_t done, uint64_t total);
  void *progress_user; /* `user` of `progress` */
} vt_admit_options;

/* PASSED is the best verdict if `brief` or `skip` left checks out: there is no certificate. */
enum { VT_VERDICT_REFUSED = 0, VT_VERDICT_PASSED = 1, VT_VERDICT_ADMITTED = 2 };

/* The result of an admission. */
typedef struct vt_admission vt_admission;
/* Runs the checks. Returns VT_OK for every verdict; a failure means that the backend could not be
 * tested at all. */
VT_API vt_status vt_admit(const vt_admit_options *o, vt_admission **out, vt_diag *d) VT_NODISCARD;
VT_API void vt_admission_free(vt_admission *a);
VT_API uint32_t vt_admission_verdict(const vt_admission *a);
/* The certificate as JSON, NULL unless the verdict is ADMITTED. The same backend always gets the
 * same bytes. */
VT_API const char *vt_admission_certificate(const vt_admission *a);
/* Path at which a program looks for the certificate of this plug-in, unless vt_options.certificate
 * names another one: "./libfoo.so.certificate.json", or for device 1
 * "./libfoo.so.1.certificate.json". NULL for a built-in backend, which needs no certificate. */
VT_API const char *vt_admission_place(const vt_admission *a);
/* The path of vt_admission_place, from the name of a backend and without an admission. Writes the
 * path to the `room` bytes at `out` and returns 1; returns 0 if the name is not the path of a
 * plug-in or if the result does not fit. */
VT_API int vt_admission_place_of(const char *backend, char *out, size_t room);

typedef struct vt_admission_counts {
  uint32_t size; /* sizeof(vt_admission_counts); set by the caller */
  /* Numbers of rules, capabilities and example models that were tested. */
  uint32_t rules, capabilities, examples;
  /* Suite cases that ran; suite cases of ops that the backend does not declare. */
  uint64_t cases, undeclared;
  /* Numbers of runs that were repeats, in another order, with other thread counts, in poisoned
   * memory. */
  uint64_t repeated, reordered, threaded, spoilt;
} vt_admission_counts;
VT_API void vt_admission_count(const vt_admission *a, vt_admission_counts *out);

/* Why a backend was refused. Strings live as long as the admission; a string that does not apply is
 * "". */
typedef struct vt_refusal {
  uint32_t size;         /* sizeof(vt_refusal); set by the caller */
  uint32_t differs;      /* 1: bits differ; then `op` and the fields down to `compared` apply */
  const char *check;     /* the check that failed: "rules", "suite", ... */
  const char *subject;   /* the rule, case, capability or example: "products are rounded" */
  const char *reason;    /* one sentence */
  const char *op;        /* the first diverging op: "matmul" */
  const char *signature; /* "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output, *index; /* result of that op, and its first differing element: "[3, 0]" */
  uint32_t dtype, reserved;   /* type of that element */
  uint64_t bits, expected;    /* bit pattern of the element on the backend, on the reference */
  uint64_t distance;          /* distance between the two, in representable values */
  /* Number of elements that differ, number of elements that were compared. */
  uint64_t differing, compared;
  const char *model;     /* text of the smallest model that shows the failure */
  const char *command;   /* command that runs `model`, to be started in `folder` */
  const char *unwritten; /* why no reproducer could be written, for instance an unusable folder */
  const char *folder;    /* folder with the model, its inputs and a README */
  const char *again;     /* command that repeats the admission, to be started in the current folder;
                          * set if no single run of one model shows the failure */
} vt_refusal;
/* VT_NAME if the backend was not refused. */
VT_API vt_status vt_admission_refusal(const vt_admission *a, vt_refusal *out) VT_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
