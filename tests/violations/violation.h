/* SPDX-License-Identifier: Apache-2.0
 * violation.h - a backend with one planted fault. violation.c has the devices, the memory and the
 * steps, which run the reference's own kernels. Each other file of this folder fills the struct
 * `violation` below with the ops that the backend lists and the hooks that do something wrong. */
#ifndef VT_VIOLATION_H
#define VT_VIOLATION_H
#include "vt_num.h"
#include "vt_steps.h"

/* A program. Each step has a vt_steps list of its own, so that a hook can run between two steps. */
struct vt_bk_program {
  vt_bk_device *dev;
  const vt_bk_host *host;
  const vt_bk_step *step;
  uint64_t n_steps;
  vt_steps *reference; /* n_steps lists of one step each, which run it as the reference does */
  uint64_t runs;       /* number of finished runs */
  char *base[VT_STEPS_ARENAS]; /* start of each arena in the current run */
  vt_bk_error error;           /* outcome of the latest run */
};

typedef struct violation {
  const char *about; /* description that the backend gives of its device */
  /* names of the ops that the backend lists, ended by NULL; NULL: every prim */
  const char *const *ops;
  /* capabilities that the backend declares in addition to VT_BK_SUBNORMALS */
  uint64_t has;
  uint64_t scratch; /* bytes of scratch per step in addition to the reference's */
  /* Hooks that change what the backend does; each may be NULL. */
  /* 1 if the backend accepts a step of a listed op; NULL: always */
  int (*accepts)(const vt_bk_step *s);
  void (*on_build)(vt_bk_program *p);  /* called after a program is built */
  void (*after_run)(vt_bk_program *p); /* called at the end of each run */
  /* Runs step `i` and any number of steps after it, and returns how many it ran; 0 leaves step `i`
   * to the reference. */
  uint64_t (*run_steps)(vt_bk_program *p, uint64_t i);
  void (*after_step)(vt_bk_program *p, const vt_bk_step *s); /* called after each step */
  /* Replacements for the functions of the numerics library with the same names; each may be NULL.
   */
  float (*exp)(float x);
  float (*max)(float a, float b);
  float (*dot)(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n);
  void (*sum_add)(vt_sum_f32 *s, float x);
  float (*sum_done)(vt_sum_f32 *s);
} violation;

extern const violation vt_violation;

/* Runs step `i` as the reference does. */
void violation_run_reference(vt_bk_program *p, uint64_t i);
/* Returns the address, within the scratch of a step, of the bytes that vt_violation.scratch asks
 * for. */
void *violation_scratch(const vt_bk_program *p, const vt_bk_step *s);
/* Returns how many copies into the device of this program there were so far. */
uint64_t violation_count_copies(const vt_bk_program *p);
/* Returns the program that runs in this thread, or NULL between runs. */
const vt_bk_program *violation_current(void);

/* Walk the positions of a tensor in row-major order:
 * int64_t at[8]; for (more = first; more; more = next). Both return 0 after the last position. */
int violation_first_position(const vt_bk_tensor *t, int64_t at[8]);
int violation_next_position(const vt_bk_tensor *t, int64_t at[8]);
uint64_t violation_count_elements(const vt_bk_tensor *t);
/* Returns the address of the element of operand or result `t` that belongs to the position `at` of
 * the tensor `like`. The last axes are aligned, and `t` is broadcast along axes that it lacks or
 * that have extent 1. */
void *violation_element(const vt_bk_program *p, const vt_bk_tensor *t, const vt_bk_tensor *like,
                        const int64_t at[8]);
/* Calls `f` for each element of those results of step `s` that have this type. */
void violation_for_each_element(const vt_bk_program *p, const vt_bk_step *s, uint32_t dtype,
                                void (*f)(void *element));
/* Computes a contraction in the order D, but with blocks of `block` products. */
float violation_dot_in_blocks(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n,
                              int64_t block);
#endif
