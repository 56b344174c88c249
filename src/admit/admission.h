/* SPDX-License-Identifier: Apache-2.0
 * admission.h - the state of an admission, which its checks share. Private to src/admit. */
#ifndef VT_ADMISSION_H
#define VT_ADMISSION_H
#include <stdatomic.h>
#include "diverge.h"
#include "program.h"
#include "volta/volta_tools.h"
#include "volta/volta_admit.h"
#include "vt_pool.h"
#include "vt_suite.h"

/* Whether the backend supports a case; unknown until the case was planned or run. */
enum { VT_DECLARED_UNKNOWN, VT_DECLARED_NO, VT_DECLARED_YES };

struct vt_admission {
  vt_alloc a;
  vt_arena arena; /* owns the arrays and texts of this struct */
  vt_admit_options o;
  const char *backend; /* full name of the device, "island:0", or the path of a plug-in */
  vt_policy waived;    /* a policy that allows plug-ins without a certificate */
  vt_suite *suite;     /* the conformance suite; NULL until vt_admission_load_suite */
  vt_pool *pool;       /* threads that run cases */
  vt_hold *hold;       /* keeps a plug-in's content fixed during the admission; NULL if built in */
  uint8_t *in_short;   /* by case: 1 if the case is in the short form of the suite */
  uint32_t n_cases;    /* length of `cases` */
  uint32_t *cases;     /* the cases that this admission runs, by their numbers in the suite */
  uint32_t n_selected; /* length of `selected` */
  uint32_t *selected;  /* the cases that some checks run again with variations, by their numbers in
                          the suite */
  /* By op number: 1 if the backend accepted a program that has the op. */
  _Atomic uint8_t *accepted_ops;
  uint64_t *step_ops; /* by case: a bit set of the ops of its plan's steps, `words` numbers long */
  uint32_t words;
  uint8_t *declared; /* by case: whether the backend supports it, VT_DECLARED_* */
  uint32_t listed;   /* number of ops that the backend lists */
  const char *check; /* name of the running check */
  vt_admission_counts counts;
  int refused; /* 1: the backend is refused, and `refusal` says why */
  vt_refusal refusal;
  uint32_t verdict;        /* result of the admission, VT_VERDICT_* */
  const char *certificate; /* text of the certificate if the backend is admitted, else NULL */
  const char *place; /* path at which the gateway looks for a plug-in's certificate, else NULL */
};

/* A check. It returns VT_OK if it could be carried out; a fault of the backend is no error, but
 * sets `refused`. */
typedef vt_status vt_admission_check_fn(vt_admission *a, vt_diag *d);
#define VT_CHECK(name, about) vt_admission_check_fn vt_check_##name;
#include "checks.def"
#undef VT_CHECK

/* Options for programs on the tested backend; valid as long as the admission. */
vt_options vt_admission_options(const vt_admission *a, const char *passes, uint32_t threads);
void vt_admission_report_progress(const vt_admission *a, uint64_t done, uint64_t total);

/* Writes the certificate of an admitted backend to a->certificate. */
vt_status vt_admission_issue_certificate(vt_admission *a, vt_diag *d) VT_NODISCARD;

/* ---- differences and refusals ---- */

/* The first element that differs between two runs. */
typedef struct vt_difference {
  int found;                              /* 0: the runs have the same bits */
  char output[100], index[VT_INDEX_TEXT]; /* name of the output, position as "[3, 0]" */
  uint32_t dtype;
  uint64_t bits, expected; /* the element in the tested run, and in the reference run */
  uint64_t distance;       /* number of representable values between `bits` and `expected` */
  /* Number of elements of the output that differ, and of all its elements. */
  uint64_t differing, compared;
} vt_difference;
vt_status vt_difference_between_runs(vt_program *tested, vt_program *reference, vt_difference *out,
                                     vt_diag *d) VT_NODISCARD;

/* The run that showed a fault: what is needed to run it again. */
typedef struct vt_evidence {
  const vt_model *m;
  const vt_options *how;
  vt_diverge_set_values *give; /* sets the inputs and parameters of the run, the same each time */
  void *user;                  /* first argument of `give` */
  /* The difference that the run showed, reported if it does not show again; or NULL. */
  const vt_difference *seen;
  const char *op; /* name of the op to report if the fault does not show again; or NULL */
} vt_evidence;
/* Refuses the backend; only the first call has an effect. It runs the evidence again to find the
 * first diverging op, and writes a reproducer. `e` is NULL if there was no run. */
vt_status vt_admission_refuse(vt_admission *a, const char *subject, const char *reason,
                              const vt_evidence *e, vt_diag *d) VT_NODISCARD;

/* ---- cases ---- */

typedef struct vt_case_outcome {
  vt_case_result r;
  vt_difference seen;
  uint32_t threads; /* number of threads of the run; 0: the backend chose */
  char reason[200]; /* why the case did not pass; "" if that follows from `r` */
} vt_case_outcome;
/* Runs case `i` of the suite in the way of one check. It is called from several threads at once. */
typedef void vt_case_fn(const vt_admission *a, uint32_t i, vt_case_outcome *out);
/* Calls `run_case` for each case of `list`, many at once or one after the other, and refuses the
 * backend for the first case that did not pass. *count rises by the number of cases that passed.
 * Cases that the backend does not support are skipped. */
vt_status vt_admission_run_cases(vt_admission *a, const uint32_t *list, uint32_t n, int at_once,
                                 vt_case_fn *run_case, uint64_t *count, vt_diag *d) VT_NODISCARD;
/* Runs a case once with all passes, and finds the first difference if its digest is wrong. */
void vt_admission_run_case(const vt_admission *a, uint32_t i, vt_case_outcome *out);
/* Finds the first difference between a program that ran a case and the reference. */
void vt_admission_find_difference(const vt_admission *a, const vt_model *m,
                                  const vt_case_inputs *in, vt_program *p, vt_difference *out);
/* Reads the suite and chooses the cases to run, unless an earlier check has done so. It is called
 * late, because most faulty backends are refused by earlier checks. */
vt_status vt_admission_load_suite(vt_admission *a, vt_diag *d) VT_NODISCARD;
/* Sets `selected` unless it is set: a limited number of cases that the backend supports, among them
 * some of every op. */
vt_status vt_admission_select_cases(vt_admission *a, vt_diag *d) VT_NODISCARD;
#endif
