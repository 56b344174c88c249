/* SPDX-License-Identifier: Apache-2.0
 * volta_admit.h - admission: what a backend must show before its results count. It is asked the
 * whole conformance suite over what it declares, the rules of the numerics one by one, its declared
 * capabilities, the example models, and all of it again under other circumstances. Every bit is
 * compared; there is no tolerance anywhere. The rules of volta.h hold. */
#ifndef VOLTA_ADMIT_H
#define VOLTA_ADMIT_H
#include "volta.h"
#ifdef __cplusplus
extern "C" {
#endif

/* What stands above every report of a backend that gives other bits. */
#define VT_DIVERGES "Accelerated backend diverges from CPU semantics. This is forbidden."

/* The checks, in the order in which they are made; the first that fails ends it. NULL past the end.
 */
VT_API uint32_t vt_admission_checks(void);
VT_API const char *vt_admission_check(uint32_t i);       /* "rules" */
VT_API const char *vt_admission_check_about(uint32_t i); /* what it asks, in a sentence */

typedef struct vt_admit_options {
  uint32_t size;
  uint32_t brief; /* 1: a part of the suite and the small examples; no certificate comes of it */
  const char *backend; /* "island:1", or the path of a plug-in */
  /* Checks that are left out, a bit each; no certificate comes of it. For those who test checks. */
  uint64_t skip;
  uint32_t jobs; /* cases that run at once; 0: as many as there are processors */
  uint32_t reserved;
  /* Where the model and the inputs of a failure are written; NULL: nowhere. The folder is made. */
  const char *reproducer;
  const vt_alloc *alloc; /* called by every job */
  void (*progress)(void *user, const char *check, uint64_t done, uint64_t total);
  void *progress_user;
} vt_admit_options;

enum { VT_VERDICT_REFUSED = 0, VT_VERDICT_PASSED = 1, VT_VERDICT_ADMITTED = 2 };

/* What was found. PASSED is what a brief form, or one with checks left out, can come to. */
typedef struct vt_admission vt_admission;
/* VT_OK whatever the verdict; otherwise the backend could not even be asked. */
VT_API vt_status vt_admit(const vt_admit_options *o, vt_admission **out, vt_diag *d) VT_NODISCARD;
VT_API void vt_admission_free(vt_admission *a);
VT_API uint32_t vt_admission_verdict(const vt_admission *a);
/* The certificate as JSON, NULL unless it is admitted; the same bytes for the same backend. */
VT_API const char *vt_admission_certificate(const vt_admission *a);
/* Where the certificate of this plug-in is looked for when vt_options.certificate names no other:
 * "./libfoo.so.certificate.json"; of device 1, "./libfoo.so.1.certificate.json". NULL for a backend
 * that is built in, which needs none. */
VT_API const char *vt_admission_place(const vt_admission *a);
/* The same by its name, before it is judged: 1, and the path in `out`; 0 for a name that is no path
 * of a plug-in, or too little room. */
VT_API int vt_admission_place_of(const char *backend, char *out, size_t room);

typedef struct vt_admission_counts {
  uint32_t size;
  uint32_t rules, capabilities, examples;         /* that were tried */
  uint64_t cases, undeclared;                     /* of the suite: run, and not declared */
  uint64_t repeated, reordered, threaded, spoilt; /* runs under other circumstances */
} vt_admission_counts;
VT_API void vt_admission_count(const vt_admission *a, vt_admission_counts *out);

/* Why it was refused; strings live as long as the admission, and are "" where they do not apply. */
typedef struct vt_refusal {
  uint32_t size;
  uint32_t differs;           /* 1: the fields from `op` on say where */
  const char *check;          /* "rules", "suite", ... */
  const char *subject;        /* the rule, case, capability or example: "products are rounded" */
  const char *reason;         /* one sentence */
  const char *op;             /* the first that diverges: "matmul" */
  const char *signature;      /* "matmul(f32[5, 600], f32[600, 7]) -> f32[5, 7]" */
  const char *output, *index; /* its result, and the first element that differs: "[3, 0]" */
  uint32_t dtype, reserved;
  uint64_t bits, expected; /* of the backend, and of the reference */
  uint64_t distance;       /* in representable values between the two */
  uint64_t differing, compared;
  const char *model;   /* the smallest model that shows it, as text */
  const char *command; /* what runs it from the folder of the reproducer; "" when none is written */
  const char *unwritten; /* why none is, though one was wanted: a folder that cannot be used */
  const char *folder;    /* where a model, its inputs and a page are; "" when nothing is written */
  const char *again; /* where no run of one model shows it: what asks all again, run from here */
} vt_refusal;
/* VT_NAME when it was not refused. */
VT_API vt_status vt_admission_refusal(const vt_admission *a, vt_refusal *out) VT_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
