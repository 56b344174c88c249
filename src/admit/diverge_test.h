/* SPDX-License-Identifier: Apache-2.0
 * diverge_test.h - a faulty backend for diverge_test.c: `wrong` runs the reference's steps one by
 * one and changes some results. The registry of the test has it and the reference. */
#ifndef DIVERGE_TEST_H
#define DIVERGE_TEST_H
#include <stdlib.h>
#include <string.h>
#include "registry.h"
#include "vt_steps.h"

/* The planted fault: steps of op `from` run as op `to`, in bodies too; or a bit of element 1 of
 * result number `result` of op `flipped` is flipped. */
static struct fault {
  uint32_t from, to, flipped, result;
  uint32_t whole;      /* number of a composition that the backend keeps whole; 0: it keeps no
                          composition whole */
  int in_groups;       /* 1: the fault shows only in groups of several steps */
  int strided;         /* 1: the fault shows only if an operand has strides */
  uint64_t many_steps; /* the fault shows only in programs of at least this many steps */
  uint32_t threads;    /* the fault shows only with this number of threads; 0: with any */
  int once;            /* 1: the fault shows only in the first run of a program with the op */
} fault;
/* Number of runs so far, and number of the first run with a flipped bit. */
static int runs, first_run;

struct vt_bk_device {
  const vt_bk_host *host;
};
enum { MOST = 4096 };
struct vt_bk_program {
  vt_bk_device *dev;
  uint64_t n;
  const vt_bk_step *steps;
  vt_steps *one;   /* by step: a list of steps that has only that step */
  vt_bk_step *own; /* copy of the steps, with the fault planted in it */
  vt_bk_error error;
};

static const vt_bk_api *right; /* the reference */

static int32_t device_count(const vt_bk_host *host, uint32_t *out) {
  (void)host;
  *out = 1;
  return VT_OK;
}
static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  (void)ordinal;
  *out = host->resize(host->user, NULL, 0, sizeof **out);
  if (*out == NULL) return VT_NOMEM;
  (*out)->host = host;
  return VT_OK;
}
static void device_close(vt_bk_device *dev) {
  dev->host->resize(dev->host->user, dev, sizeof *dev, 0);
}
static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .shares_host = 1,
                           .about = "wrong in one thing",
                           .fingerprint = "wrong-1",
                           .has = UINT64_MAX,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING};
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}
static uint32_t step_flags_of_op(uint32_t op) { return op == fault.whole ? VT_STEPS_WHOLE : 0; }
static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  return vt_steps_accepts_op(op, step_flags_of_op(op));
}
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  (void)dev;
  return vt_steps_check(step, step_flags_of_op(step->op));
}
static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out) {
  (void)dev;
  *out = vt_step_scratch_bytes(step, step_flags_of_op(step->op));
  return VT_OK;
}

static int reads_strided_matrix(const vt_bk_step *s) {
  int strided = 0;
  for (uint32_t i = 0; i < s->n_in; i++) {
    const vt_bk_tensor *t = &s->in[i];
    strided |= t->rank == 2 && t->stride[0] != t->dim[1] && t->dim[0] > 1;
  }
  return strided;
}

static int is_step_in_group(const vt_bk_step *all, uint64_t n, uint64_t i) {
  const uint32_t group = all[i].group;
  return group != 0 &&
         ((i > 0 && all[i - 1].group == group) || (i + 1 < n && all[i + 1].group == group));
}

/* 1 if step `i` meets the conditions of the planted fault. */
static int is_step_affected_by_fault(const vt_bk_step *all, uint64_t n, uint64_t i) {
  return (!fault.in_groups || is_step_in_group(all, n, i)) &&
         (!fault.strided || reads_strided_matrix(&all[i])) && n >= fault.many_steps;
}

/* Copies of steps, which are freed at the end of the test. */
static void *copies[MOST * 64];
static uint32_t n_copies;
static void *copy_until_end_of_test(const void *p, size_t size) {
  void *copy = malloc(size + 1);
  if (copy == NULL || n_copies == MOST * 64) exit(1);
  if (size > 0) memcpy(copy, p, size);
  copies[n_copies++] = copy;
  return copy;
}

static vt_bk_step *copy_steps_with_fault(const vt_bk_step *steps, uint64_t n) {
  vt_bk_step *own = copy_until_end_of_test(steps, (size_t)n * sizeof *own);
  for (uint64_t i = 0; i < n; i++) {
    if (own[i].op == fault.from && fault.from != 0 && is_step_affected_by_fault(steps, n, i))
      own[i].op = fault.to;
    vt_bk_body *body = copy_until_end_of_test(own[i].body, own[i].n_body * sizeof *body);
    for (uint32_t k = 0; k < own[i].n_body; k++)
      body[k].steps = copy_steps_with_fault(body[k].steps, body[k].n_steps);
    own[i].body = body;
  }
  return own;
}

static void program_free(vt_bk_program *p) {
  const vt_bk_host *host = p->dev->host;
  for (uint64_t i = 0; i < p->n; i++) vt_steps_done(&p->one[i]);
  host->resize(host->user, p->one, (p->n + 1) * sizeof *p->one, 0);
  host->resize(host->user, p, sizeof *p, 0);
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out) {
  const vt_bk_host *host = dev->host;
  vt_bk_program *p = host->resize(host->user, NULL, 0, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  *p = (vt_bk_program){.dev = dev, .steps = steps, .own = copy_steps_with_fault(steps, n)};
  p->one = host->resize(host->user, NULL, 0, (n + 1) * sizeof *p->one);
  int32_t s = p->one == NULL ? VT_NOMEM : VT_OK;
  for (uint64_t i = 0; s == VT_OK && i < n; i++) {
    memset(&p->one[i], 0, sizeof p->one[i]);
    s = vt_steps_init(host, &p->own[i], 1, step_flags_of_op(steps[i].op), &p->one[i]);
    if (s == VT_OK) p->n++;
  }
  if (s == VT_OK) {
    *out = p;
  } else {
    const uint64_t made = p->n;
    for (uint64_t i = 0; i < made; i++) vt_steps_done(&p->one[i]);
    if (p->one != NULL) host->resize(host->user, p->one, (n + 1) * sizeof *p->one, 0);
    host->resize(host->user, p, sizeof *p, 0);
  }
  return s;
}

static void flip_result_bit(const vt_bk_program *p, uint64_t i, char *const *base) {
  const vt_bk_step *s = &p->steps[i];
  if (fault.threads != 0 && p->dev->host->threads != fault.threads) return;
  if (s->op != fault.flipped || fault.flipped == 0 || fault.result >= s->n_out) return;
  if (!is_step_affected_by_fault(p->steps, p->n, i) ||
      (fault.once && first_run != 0 && runs != first_run))
    return;
  first_run = runs;
  const vt_bk_tensor *t = &s->out[fault.result];
  int64_t count = 1;
  for (uint32_t a = 0; a < t->rank; a++) count *= t->dim[a];
  const uint64_t at = count > 1 && t->rank > 0 ? vt_dtype_bytes(t->dtype) : 0;
  if (count > 0) base[t->arena][t->offset + at] ^= 1;
}

static int32_t run(vt_bk_program *p, const uint64_t *buffers, uint64_t n) {
  char *base[VT_STEPS_ARENAS] = {NULL};
  for (uint64_t i = 0; i < n && i < VT_STEPS_ARENAS; i++) base[i] = (char *)(uintptr_t)buffers[i];
  p->error = (vt_bk_error){.size = sizeof p->error};
  runs++;
  for (uint64_t i = 0; i < p->n && p->error.status == VT_OK; i++) {
    vt_steps_run(&p->one[i], base);
    vt_steps_error(&p->one[i], &p->error);
    flip_result_bit(p, i, base);
  }
  return VT_OK;
}
static int32_t wait(vt_bk_program *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return VT_OK;
}
static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out) {
  /* Our device may be passed to the reference, because its function reads only dev->host. */
  return right->buffer_new(dev, bytes, out);
}
static void buffer_free(vt_bk_device *dev, uint64_t handle) { right->buffer_free(dev, handle); }
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  return right->copy(dev, host, handle, offset, bytes, to_device);
}

vt_backend_query_fn vt_reference_query;
static const vt_bk_api *wrong_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "wrong",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait};
  right = vt_reference_query(host);
  return &api;
}

static vt_proofs proofs[2];
static const vt_registry_row rows[] = {{"reference", vt_reference_query, VT_KIND_CPU, &proofs[0]},
                                       {"wrong", wrong_query, VT_KIND_TEST, &proofs[1]}};
uint32_t vt_registry_backend_count(void) { return sizeof rows / sizeof *rows; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < vt_registry_backend_count() ? &rows[i] : NULL;
}

#endif
