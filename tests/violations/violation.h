/* SPDX-License-Identifier: Apache-2.0
 * violation.h - a backend that is the reference in everything but one sin. violation.c has the
 * devices, the memory and the steps, over the reference's own kernels; a file beside it says which
 * ops there are and what is done wrong, in the one struct below. */
#ifndef VT_VIOLATION_H
#define VT_VIOLATION_H
#include "vt_num.h"
#include "vt_steps.h"

/* A program: a list of its own for every step, so that a sin can come between two of them. */
struct vt_bk_program {
  vt_bk_device *dev;
  const vt_bk_host *host;
  const vt_bk_step *step;
  uint64_t n_steps;
  vt_steps *honest;            /* the reference's way to run each step */
  uint64_t runs;               /* that are over */
  char *base[VT_STEPS_ARENAS]; /* of the run under way */
  vt_bk_error error;
};

typedef struct violation {
  const char *about;
  const char *const *ops; /* those it has, to NULL; left out: every prim */
  uint64_t has;           /* capabilities, besides VT_BK_SUBNORMALS */
  uint64_t work;          /* bytes of scratch that each step gets after the reference's own */
  /* All of these may be left out. */
  int (*is_taken)(const vt_bk_step *s); /* of the ops it has; left out: all steps */
  void (*built)(vt_bk_program *p);
  void (*ran)(vt_bk_program *p);
  /* Runs steps from `i` on and says how many; 0 leaves step `i` to the reference. */
  uint64_t (*run)(vt_bk_program *p, uint64_t i);
  void (*after)(vt_bk_program *p, const vt_bk_step *s);
  /* In place of the numerics library's. */
  float (*exp)(float x);
  float (*max)(float a, float b);
  float (*dot)(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
  void (*sum_add)(vt_sum_f32 *s, float x);
  float (*sum_done)(vt_sum_f32 *s);
} violation;

extern const violation vt_violation;

void violation_run_honest(vt_bk_program *p, uint64_t i);
/* The bytes of `work`, within the scratch of a step. */
void *violation_work(const vt_bk_program *p, const vt_bk_step *s);
/* How often anything was copied into the device of a program. */
uint64_t violation_copies(const vt_bk_program *p);
/* The program whose kernels are at work in this thread. */
const vt_bk_program *violation_at_work(void);

/* Positions of a tensor in order: int64_t at[8]; for (more = first; more; more = next). */
int violation_first(const vt_bk_tensor *t, int64_t at[8]);
int violation_next(const vt_bk_tensor *t, int64_t at[8]);
uint64_t violation_count(const vt_bk_tensor *t);
/* What operand or result `t` has at the position `at` of `like`: axes are aligned at the last, and
 * one that is missing or 1 is repeated. */
void *violation_element(const vt_bk_program *p, const vt_bk_tensor *t, const vt_bk_tensor *like,
                        const int64_t at[8]);
/* Gives each element of the results that are of this type to `f`. */
void violation_each(const vt_bk_program *p, const vt_bk_step *s, uint32_t dtype,
                    void (*f)(void *element));
/* The contraction D with blocks of another length. */
float violation_dot_in_blocks(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n,
                              int64_t block);
#endif
