/* SPDX-License-Identifier: Apache-2.0
 * contracted.c - a*b + c with one rounding. Compilers do it by themselves unless they are told not
 * to (-ffp-contract), and it is faster and closer to the real value. It is another value. */
#include <stdlib.h>
#include "violation.h"

static const char *const ops[] = {"mul", "add", NULL};

static int is_same(const vt_bk_tensor *a, const vt_bk_tensor *b) {
  return a->arena == b->arena && a->offset == b->offset && a->dtype == b->dtype;
}

/* All of it is computed before anything is written: results may lie over operands. */
static float *contract(const vt_bk_program *p, const vt_bk_step *mul, const vt_bk_step *add) {
  const vt_bk_tensor *y = &add->out[0], *c = &add->in[is_same(&mul->out[0], &add->in[0])];
  float *r = malloc((size_t)violation_count(y) * sizeof *r + 1);
  uint64_t n = 0;
  int64_t at[8];
  for (int more = r != NULL && violation_first(y, at); more; more = violation_next(y, at))
    r[n++] = vt_f32_fma(*(float *)violation_element(p, &mul->in[0], y, at),
                        *(float *)violation_element(p, &mul->in[1], y, at),
                        *(float *)violation_element(p, c, y, at));
  return r;
}

static uint64_t run(vt_bk_program *p, uint64_t i) {
  const vt_bk_step *mul = &p->step[i], *add = mul + 1;
  if (i + 1 == p->n_steps || mul->op != VT_OP_mul || add->op != VT_OP_add ||
      mul->out[0].dtype != VT_DTYPE_F32 ||
      is_same(&mul->out[0], &add->in[0]) == is_same(&mul->out[0], &add->in[1]))
    return 0;
  float *r = contract(p, mul, add);
  if (r == NULL) return 0;
  int64_t at[8];
  uint64_t n = 0;
  violation_run_honest(p, i); /* the product may have other readers */
  for (int more = violation_first(add->out, at); more; more = violation_next(add->out, at))
    *(float *)violation_element(p, add->out, add->out, at) = r[n++];
  free(r);
  return 2;
}

const violation vt_violation = {
    .about = "adds products before they are rounded", .ops = ops, .run = run};
