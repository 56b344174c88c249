/* SPDX-License-Identifier: Apache-2.0
 * admission.h - an admission under way: what the checks share. Private to the room. */
#ifndef VT_ADMISSION_H
#define VT_ADMISSION_H
#include <stdatomic.h>
#include "diverge.h"
#include "program.h"
#include "volta/volta_tools.h"
#include "volta/volta_admit.h"
#include "vt_pool.h"
#include "vt_suite.h"

/* What is known of a case: whether the backend declares it. */
enum { VT_DECLARED_UNKNOWN, VT_DECLARED_NO, VT_DECLARED_YES };

struct vt_admission {
  vt_alloc a;
  vt_arena arena; /* everything below that is not freed by itself */
  vt_admit_options o;
  const char *backend; /* by its full name, "island:0", whatever was said; or a path */
  vt_policy waived;    /* plug-ins are what is judged here */
  vt_suite *suite;     /* NULL until vt_admission_suite */
  vt_pool *pool;
  vt_hold *hold;    /* of a plug-in: it stays what it was when the first question was asked */
  uint8_t *few;     /* by number of the case: it is of the short choice */
  uint32_t n_cases; /* of the suite, in this form of admission */
  uint32_t *cases;
  uint32_t n_selected; /* of those that it runs, for runs under other circumstances */
  uint32_t *selected;
  _Atomic uint8_t *taken; /* by number of the op: it is in a program that the backend took */
  uint64_t *steps;        /* by number of the case, `words` each: bits of the ops it is a step of */
  uint32_t words;
  uint8_t *declared; /* by number of the case: VT_DECLARED_* */
  uint32_t listed;   /* ops */
  const char *check; /* under way */
  vt_admission_counts counts;
  int refused;
  vt_refusal refusal;
  uint32_t verdict;
  const char *certificate, *place;
};

/* A check gives VT_OK when it could be made; what it found is `refused`. */
typedef vt_status vt_inquiry(vt_admission *a, vt_diag *d);
#define VT_CHECK(name, about) vt_inquiry vt_check_##name;
#include "checks.def"
#undef VT_CHECK

/* Options for the backend under judgement; they live as long as the admission. */
vt_options vt_admission_options(const vt_admission *a, const char *passes, uint32_t threads);
void vt_admission_progress(const vt_admission *a, uint64_t done, uint64_t total);

/* Writes the certificate of one that is admitted. */
vt_status vt_admission_certify(vt_admission *a, vt_diag *d) VT_NODISCARD;

/* ---- differences and refusals ---- */

/* The first element that differs between two runs. */
typedef struct vt_difference {
  int found;
  char output[100], index[VT_INDEX_TEXT];
  uint32_t dtype;
  uint64_t bits, expected, distance, differing, compared;
} vt_difference;
vt_status vt_difference_find(vt_program *p, vt_program *right, vt_difference *out,
                             vt_diag *d) VT_NODISCARD;

/* What was run when a fault showed. */
typedef struct vt_evidence {
  const vt_model *m;
  const vt_options *how;
  vt_diverge_give *give; /* the values, as they were */
  void *user;
  const vt_difference *seen; /* for what cannot be shown again; or NULL */
  const char *op;            /* that it is about, for the same; or NULL */
} vt_evidence;
/* Says why, once: runs the evidence again to find the op, and writes what reproduces it. */
vt_status vt_admission_refuse(vt_admission *a, const char *subject, const char *reason,
                              const vt_evidence *e, vt_diag *d) VT_NODISCARD;

/* ---- cases ---- */

typedef struct vt_case_outcome {
  vt_case_result r;
  vt_difference seen;
  uint32_t threads; /* that it was run with; 0: as the backend likes */
  char reason[200]; /* why it did not pass */
} vt_case_outcome;
/* Something done with case `i` of the suite; several threads may be at it. */
typedef void vt_case_fn(const vt_admission *a, uint32_t i, vt_case_outcome *out);
/* Goes through cases, many at once or one after the other, and refuses for the first that did not
 * pass. `count` rises with those that did; what the backend does not declare is passed over. */
vt_status vt_admission_cases(vt_admission *a, const uint32_t *list, uint32_t n, int at_once,
                             vt_case_fn *way, uint64_t *count, vt_diag *d) VT_NODISCARD;
/* Runs it as it is, and looks where it differs. */
void vt_admission_run(const vt_admission *a, uint32_t i, vt_case_outcome *out);
/* What differs between a program that ran a case and the reference, to have both bit patterns. */
void vt_admission_look(const vt_admission *a, const vt_model *m, const vt_case_inputs *in,
                       vt_program *p, vt_difference *out);
/* Reads the suite and chooses cases, once: most wrong backends fall before. */
vt_status vt_admission_suite(vt_admission *a, vt_diag *d) VT_NODISCARD;
/* Fills `selected`, once: cases that it runs, some of every op, and no more than there is time for.
 */
vt_status vt_admission_select(vt_admission *a, vt_diag *d) VT_NODISCARD;
#endif
