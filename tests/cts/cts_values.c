/* SPDX-License-Identifier: Apache-2.0
 * cts_values.c - random inputs for the check of derivatives, and access to elements as doubles. The
 * inputs of ordinary runs are drawn by the suite itself. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"

double cts_uniform(uint64_t *state) { return (double)(vt_case_next_random(state) >> 11) * 0x1p-53; }

void cts_inputs_init(vt_case_inputs *in, const vt_model *m) {
  vt_diag d = {0};
  cts_require_ok(vt_case_inputs_init(m, NULL, in, &d), &d);
}

uint64_t cts_count_elements(const vt_tensor *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
  return n;
}

double cts_load_element(const vt_tensor *t, uint64_t i) {
  return t->dtype == VT_DTYPE_F32 ? (double)((const float *)t->data)[i]
                                  : ((const double *)t->data)[i];
}

void cts_store_element(vt_tensor *t, uint64_t i, double x) {
  if (t->dtype == VT_DTYPE_F32) {
    ((float *)t->data)[i] = (float)x;
  } else {
    ((double *)t->data)[i] = x;
  }
}

/* Divides the domain into an even number of equal cells and puts each element into a cell of its
 * own, away from the cell's edges. The middle of the domain, where many functions bend, is an edge.
 */
static void draw_spread_out_elements(vt_case_input *p, double lo, double hi, uint64_t seed) {
  uint64_t state = seed;
  const uint64_t n = cts_count_elements(&p->t), cells = n < 32 ? 32 : n + n % 2;
  uint64_t *cell = malloc((size_t)cells * sizeof *cell);
  if (cell == NULL) cts_die("out of memory");
  for (uint64_t i = 0; i < cells; i++) cell[i] = i;
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t j = i + vt_case_next_random(&state) % (cells - i), t = cell[i];
    cell[i] = cell[j];
    cell[j] = t;
    const double at = (double)cell[i] + 0.25 + 0.5 * cts_uniform(&state);
    cts_store_element(&p->t, i, lo + (hi - lo) * at / (double)cells);
  }
  free(cell);
}

void cts_inputs_draw_spread_out(vt_case_inputs *in, const vt_suite_block *b, uint64_t seed) {
  for (uint32_t i = 0; i < in->n; i++) {
    vt_case_input *p = &in->input[i];
    const uint64_t own = seed ^ vt_case_seed(p->info.name);
    double lo = -2, hi = 2;
    for (uint32_t k = 0; k < b->n_domains; k++)
      if (strcmp(b->domain[k].input, p->info.name) == 0) lo = b->domain[k].lo, hi = b->domain[k].hi;
    if (p->t.dtype == VT_DTYPE_F32 || p->t.dtype == VT_DTYPE_F64) {
      draw_spread_out_elements(p, lo, hi, own);
    } else {
      vt_case_input_draw(p, VT_MIX_ORDINARY, own);
    }
  }
}
