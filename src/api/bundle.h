/* SPDX-License-Identifier: Apache-2.0
 * bundle.h - a bundle as the rest of the api uses it: it completes the options of a program and
 * finds plans. Private to the api. */
#ifndef VT_BUNDLE_H
#define VT_BUNDLE_H
#include "cached_plan.h"
#include "vt_bundle_files.h"

struct vt_bundle {
  vt_alloc a;
  vt_bundle_files files;
  vt_model *model;
  const char *text; /* of the model, as it is in the file */
  vt_weights *weights;
  uint32_t n_plans;
  atomic_ullong *plans_used; /* apart from the bundle, which is const to those that count */
};

/* If the options have a bundle, checks that `m` is its model, and sets the weights unless they are
 * set. */
vt_status vt_bundle_options(const vt_model *m, vt_options *o, vt_diag *d) VT_NODISCARD;

/* The key of a plan, and what a stored plan is compared with. */
typedef struct vt_bundle_query {
  const char *key;
  size_t n_key;
  const vt_pass_list *list;
  const vt_target *target;
  void (*note)(void *user, const char *text); /* is told about a plan that is refused; or NULL */
  void *note_user;
} vt_bundle_query;
/* Writes the plan of this key with a reference for the caller; NULL if it is not in the bundle. A
 * plan that is damaged or not for this target is refused as one of a cache is: it is as if it were
 * missing. The only failure is VT_NOMEM. */
vt_status vt_bundle_find_plan(const vt_bundle *b, const vt_bundle_query *q, vt_alloc a,
                              vt_cached_plan **out, vt_diag *d) VT_NODISCARD;
/* Checks that the tensors of a file are the states of a model, with their types and ranks; messages
 * name `path`. */
vt_status vt_bundle_check_state(const vt_model *m, const vt_archive *file, const char *path,
                                vt_diag *d) VT_NODISCARD;
/* Writes the name of the file of a plan. */
enum { VT_BUNDLE_PLAN_NAME = 64 };
void vt_bundle_plan_name(const char *key, size_t n_key, char out[VT_BUNDLE_PLAN_NAME]);
#endif
