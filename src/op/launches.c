/* SPDX-License-Identifier: Apache-2.0
 * launches.c - builds launches from a list of steps: finds and checks groups, prepares the views
 * of each anchor, builds a list of launches for each body. It does not depend on the backend. A
 * launch is an anchor (one step), a chain of pointwise steps, or both; a place is an offset in
 * an arena. */
#include "vt_launches.h"
#include <string.h>
#include "vt_layout.h"

/* ---- tensors ---- */

int64_t vt_tensor_count(const vt_bk_tensor *t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= t->dim[i];
  return n;
}

static int is_dense(const vt_bk_tensor *t) {
  int64_t step = 1;
  for (uint32_t i = t->rank; i-- > 0; step *= t->dim[i])
    if (t->dim[i] != 1 && t->stride[i] != step) return 0;
  return 1;
}

/* Byte offset of the end of a tensor in its arena. */
static uint64_t end_in_arena(const vt_bk_tensor *t) {
  int64_t last = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->dim[i] == 0) return t->offset;
    if (t->stride[i] > 0) last += (t->dim[i] - 1) * t->stride[i];
  }
  return t->offset + (uint64_t)(last + 1) * vt_dtype_bytes(t->dtype);
}

/* ---- arenas ---- */

static int32_t extend_arena(vt_arenas *a, uint32_t arena, uint64_t end) {
  if (arena >= VT_STEPS_ARENAS) return VT_UNSUPPORTED;
  if (arena >= a->n) a->n = arena + 1;
  if (end > a->ends[arena]) a->ends[arena] = end;
  return VT_OK;
}

static int32_t include_tensors(vt_arenas *a, const vt_bk_tensor *t, uint32_t n, int written) {
  int32_t status = VT_OK;
  for (uint32_t i = 0; i < n && status == VT_OK; i++) {
    status = extend_arena(a, t[i].arena, end_in_arena(&t[i]));
    if (status == VT_OK && written) a->writes[t[i].arena] = 1;
  }
  return status;
}

/* Whether an argument of a body is an operand of its step, which the body reads in place. Nothing
 * is written to such an argument: a weight that a loop reads stays as it is. */
static int is_operand_in_place(const vt_bk_step *s, uint32_t body, uint32_t arg) {
  const vt_bk_tensor *t = &s->body[body].in[arg];
  uint32_t i = 0;
  if (s->op != VT_OP_loop && s->op != VT_OP_cond) return 0;
  if (vt_op_body_argument_place(s->op, s->attrs, body, arg, &i) != VT_ARG_OPERAND || i >= s->n_in)
    return 0;
  return s->in[i].arena == t->arena && s->in[i].offset == t->offset;
}

static int32_t include_body(vt_arenas *a, const vt_bk_step *s, uint32_t body) {
  const vt_bk_body *b = &s->body[body];
  int32_t status = VT_OK;
  for (uint32_t i = 0; i < b->n_in && status == VT_OK; i++)
    status = include_tensors(a, &b->in[i], 1, !is_operand_in_place(s, body, i));
  if (status == VT_OK) status = include_tensors(a, b->out, b->n_out, 1);
  return status == VT_OK ? vt_arenas_include(a, b->steps, b->n_steps) : status;
}

int32_t vt_arenas_include(vt_arenas *a, const vt_bk_step *s, uint64_t n) {
  int32_t status = VT_OK;
  for (; n > 0 && status == VT_OK; n--, s++) {
    status = include_tensors(a, s->in, s->n_in, 0);
    if (status == VT_OK) status = include_tensors(a, s->out, s->n_out, 1);
    for (uint32_t k = 0; k < s->n_body && status == VT_OK; k++) status = include_body(a, s, k);
    if (status == VT_OK && s->work_bytes > 0)
      status = extend_arena(a, s->work_arena, s->work_offset + s->work_bytes);
  }
  return status;
}

/* ---- memory ---- */

static void *host_new(const vt_bk_host *host, uint64_t n, uint64_t size) {
  void *p = host->resize(host->user, NULL, 0, n * size + 1);
  if (p != NULL) memset(p, 0, (size_t)(n * size));
  return p;
}

static void host_free(const vt_bk_host *host, void *p, uint64_t n, uint64_t size) {
  if (p != NULL) host->resize(host->user, p, n * size + 1, 0);
}

static void launch_free(const vt_launch_callbacks *how, vt_launch *at) {
  if (at->chain != NULL) how->chain_free(how->user, at->chain);
  if (at->anchor == NULL) return;
  how->anchor_free(how->user, at);
  for (uint32_t k = 0; at->bodies != NULL && k < at->anchor->n_body; k++)
    vt_launches_done(how, &at->bodies[k]);
  host_free(how->host, at->bodies, at->anchor->n_body, sizeof *at->bodies);
  host_free(how->host, at->views, at->n_views, sizeof *at->views);
}

void vt_launches_done(const vt_launch_callbacks *how, vt_launches *l) {
  for (uint64_t i = 0; l->launches != NULL && i < l->n; i++) launch_free(how, &l->launches[i]);
  host_free(how->host, l->launches, l->cap, sizeof *l->launches);
  *l = (vt_launches){0};
}

/* ---- building ---- */

static uint64_t count_steps(const vt_bk_step *s) {
  uint64_t n = 1;
  for (uint32_t k = 0; k < s->n_body; k++)
    for (uint64_t i = 0; i < s->body[k].n_steps; i++) n += count_steps(&s->body[k].steps[i]);
  return n;
}

static int32_t build_list(const vt_launch_callbacks *how, const vt_bk_step *steps, uint64_t n,
                          uint64_t number, vt_launches *out);

static int32_t build_bodies(const vt_launch_callbacks *how, vt_launch *at) {
  const vt_bk_step *s = at->anchor;
  uint64_t number = at->number + 1;
  if (s->n_body == 0) return VT_OK;
  at->bodies = host_new(how->host, s->n_body, sizeof *at->bodies);
  if (at->bodies == NULL) return VT_NOMEM;
  for (uint32_t k = 0; k < s->n_body; k++) {
    const vt_bk_body *b = &s->body[k];
    const int32_t status = build_list(how, b->steps, b->n_steps, number, &at->bodies[k]);
    if (status != VT_OK) return status;
    for (uint64_t i = 0; i < b->n_steps; i++) number += count_steps(&b->steps[i]);
  }
  return VT_OK;
}

static vt_view *add_views(vt_view *v, const vt_bk_tensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) *v++ = vt_step_view(&t[i]);
  return v;
}

static int32_t build_anchor(const vt_launch_callbacks *how, const vt_bk_step *s, uint64_t number,
                            vt_launch *at) {
  at->anchor = s;
  at->number = number;
  at->n_views = (uint64_t)s->n_in + s->n_out;
  for (uint32_t k = 0; k < s->n_body; k++)
    at->n_views += (uint64_t)s->body[k].n_in + s->body[k].n_out;
  at->views = host_new(how->host, at->n_views, sizeof *at->views);
  if (at->views == NULL) return VT_NOMEM;
  vt_view *v = add_views(at->views, s->in, s->n_in);
  v = add_views(v, s->out, s->n_out);
  for (uint32_t k = 0; k < s->n_body; k++) {
    v = add_views(v, s->body[k].in, s->body[k].n_in);
    v = add_views(v, s->body[k].out, s->body[k].n_out);
  }
  const int32_t status = how->anchor_new(how->user, at);
  return status == VT_OK ? build_bodies(how, at) : status;
}

static int32_t build_single(const vt_launch_callbacks *how, const vt_bk_step *s, uint64_t number,
                            vt_launch *at) {
  *at = (vt_launch){.first = number, .n = count_steps(s), .number = number};
  return how->pointwise(s->op) ? how->chain_new(how->user, &s, 1, &at->chain)
                               : build_anchor(how, s, number, at);
}

/* The number of steps of the group that starts at step s, if it can run as one launch; otherwise 1.
 * A group has at most one anchor, and only steps without a group may be between its members. */
enum { MOST_MEMBERS = 64 };
static uint32_t group_length(const vt_launch_callbacks *how, const vt_bk_step *s, uint64_t n) {
  uint32_t length = 1, anchors = !how->pointwise(s->op);
  if (s->group == 0) return 1;
  while (length < n && s[length].group == s->group) anchors += !how->pointwise(s[length++].op);
  if (length > MOST_MEMBERS || anchors > 1) return 1;
  uint64_t next = length;
  while (next < n && s[next].group == 0) next++;
  return next < n && s[next].group == s->group ? 1 : length;
}

/* Whether a member of the group before the anchor has its result at the place of the anchor's
 * result. The group is then not one launch: a chain tells values apart by their places, and would
 * confuse these two, because the anchor is not part of it. */
static int is_anchor_place_reused(const vt_bk_step *s, uint32_t anchor) {
  const vt_bk_tensor *y = &s[anchor].out[0];
  for (uint32_t i = 0; i < anchor; i++)
    if (s[i].out[0].arena == y->arena && s[i].out[0].offset == y->offset) return 1;
  return 0;
}

/* Builds one launch from the n members of a group: the anchor first, then the pointwise steps as
 * its epilogue. In a group the anchor reads no result of a pointwise step. VT_UNSUPPORTED if the
 * members cannot run as one launch. */
static int32_t build_group(const vt_launch_callbacks *how, const vt_bk_step *s, uint32_t n,
                           uint64_t number, vt_launch *at) {
  const vt_bk_step *members[MOST_MEMBERS] = {NULL};
  uint32_t pointwise = 0;
  *at = (vt_launch){.first = number, .n = n, .number = number};
  for (uint32_t i = 0; i < n; i++) {
    if (how->pointwise(s[i].op))
      members[pointwise++] = &s[i];
    else if (is_anchor_place_reused(s, i))
      return VT_UNSUPPORTED;
  }
  int32_t status = how->chain_new(how->user, members, pointwise, &at->chain);
  for (uint32_t i = 0; i < n && status == VT_OK; i++)
    if (!how->pointwise(s[i].op)) status = build_anchor(how, &s[i], number + i, at);
  return status;
}

/* Whether an earlier step of the group of step i has a launch of its own. A group is either one
 * launch or a launch for each step: once its first step has one of its own, so have the others,
 * because their values are only in place in the order of the steps. */
static int has_group_begun_earlier(const vt_bk_step *steps, uint64_t i) {
  uint64_t k = i;
  while (k > 0 && steps[i].group != 0 && steps[k - 1].group == 0) k--;
  return k > 0 && steps[i].group != 0 && steps[k - 1].group == steps[i].group;
}

/* Builds the launch that starts with step i; *out_used is the number of entries of `steps` in it.
 * The steps of a group have no bodies, so each counts as one step. */
static int32_t build_next(const vt_launch_callbacks *how, const vt_bk_step *steps, uint64_t i,
                          uint64_t end, uint64_t number, vt_launch *at, uint64_t *out_used) {
  const vt_bk_step *s = &steps[i];
  const uint32_t n = has_group_begun_earlier(steps, i) ? 1 : group_length(how, s, end - i);
  if (n > 1) {
    const int32_t status = build_group(how, s, n, number, at);
    *out_used = n;
    if (status != VT_UNSUPPORTED) return status;
    launch_free(how, at);
  }
  *out_used = 1;
  return build_single(how, s, number, at);
}

static int32_t build_list(const vt_launch_callbacks *how, const vt_bk_step *steps, uint64_t n,
                          uint64_t number, vt_launches *out) {
  uint64_t used = 0;
  out->cap = n;
  out->launches = host_new(how->host, n, sizeof *out->launches);
  if (out->launches == NULL) return VT_NOMEM;
  for (uint64_t i = 0; i < n; i += used) {
    vt_launch *at = &out->launches[out->n++];
    const int32_t status = build_next(how, steps, i, n, number, at, &used);
    if (status != VT_OK) return status;
    number += at->n;
  }
  return VT_OK;
}

int32_t vt_launches_init(const vt_launch_callbacks *how, const vt_bk_step *steps, uint64_t n,
                         vt_launches *out) {
  *out = (vt_launches){0};
  return build_list(how, steps, n, 0, out);
}

/* ---- results ---- */

static int is_same_place(const vt_bk_tensor *t, const vt_bk_tensor *result) {
  return t->arena == result->arena && t->offset == result->offset && t->dtype == result->dtype &&
         vt_tensor_count(t) >= vt_tensor_count(result);
}

static int writes_result(const vt_launch *at, const vt_bk_tensor *result,
                         const vt_bk_tensor *(*chain_result)(const void *chain),
                         uint32_t *out_which) {
  *out_which = VT_LAUNCH_CHAIN;
  if (at->chain != NULL && is_same_place(chain_result(at->chain), result)) return 1;
  for (uint32_t i = 0; at->anchor != NULL && i < at->anchor->n_out && i < 32; i++)
    if (is_same_place(&at->anchor->out[i], result) && is_dense(&at->anchor->out[i])) {
      *out_which = i;
      return 1;
    }
  return 0;
}

vt_launch *vt_launches_find_writer(const vt_launches *l, const vt_bk_tensor *result,
                                   const vt_bk_tensor *(*chain_result)(const void *chain),
                                   uint32_t *out_which) {
  for (uint64_t i = l->n; i > 0; i--)
    if (writes_result(&l->launches[i - 1], result, chain_result, out_which))
      return &l->launches[i - 1];
  return NULL;
}

/* ---- running ---- */

static vt_view *place_views(vt_view *v, const vt_bk_tensor *t, uint32_t n, char *const *base) {
  for (uint32_t i = 0; i < n; i++) v[i].data = base[t[i].arena] + t[i].offset;
  return v + n;
}

void vt_launch_place_views(const vt_launch *at, char *const *base,
                           vt_launch_body body[VT_MAX_BODIES]) {
  const vt_bk_step *s = at->anchor;
  vt_view *next = place_views(at->views, s->in, s->n_in, base);
  next = place_views(next, s->out, s->n_out, base);
  for (uint32_t i = 0; i < s->n_body; i++) {
    const vt_bk_body *from = &s->body[i];
    vt_view *results = place_views(next, from->in, from->n_in, base);
    body[i] = (vt_launch_body){next, results, from->n_in, from->n_out};
    next = place_views(results, from->out, from->n_out, base);
  }
}

void vt_launch_report_progress(const vt_launch *at, const vt_bk_host *host) {
  /* a loop or cond reports one step; the steps of its bodies are not reported */
  const uint64_t steps = at->chain != NULL ? at->n : 1;
  if (!VT_BK_HAS(host, vt_bk_host, progress)) return;
  for (uint64_t i = 0; i < steps; i++) host->progress(host->user, at->first + i);
}
