/* SPDX-License-Identifier: Apache-2.0
 * op_recurrent_kernel.c - kernels of rnn, lstm and gru, the second implementation: one member of
 * the batch after the other, with its states in scratch. A member is one sequence of the batch;
 * recurrent.h lists the operands x, w, u, b, c, h, s and lengths. */
#include "recurrent.h"
#include "vt_num.h"

typedef struct line { /* a vector; `stride` is the distance between its elements */
  const float *at;
  int64_t stride;
} line;

typedef struct cell_run {
  const vt_recurrent *r;
  int64_t width, hidden;
  const float *w, *u;
  int64_t w_row, w_column, u_row, u_column; /* strides */
  line b, c;                   /* the biases b and c; `at` is NULL if the node has no biases */
  line x;                      /* the row of x for this step */
  float *h, *next, *s, *reset; /* scratch: the states h, h' (after the step) and s; for a gru also
                                  r, or r*h with reset_before */
} cell_run;

uint64_t scratch_recurrent(const vt_view *in, uint32_t n_in) {
  return n_in < 3 ? 0 : (uint64_t)in[2].dim[in[2].rank - 2] * 4 * sizeof(float);
}

static float gate_input(const cell_run *k, int64_t column) {
  const float v =
      vt_dot_f32(k->x.at, k->x.stride, k->w + column * k->w_column, k->w_row, NULL, 0, k->width);
  return k->b.at == NULL ? v : v + k->b.at[column * k->b.stride];
}

static float gate_state(const cell_run *k, const float *h, int64_t column) {
  const float v = vt_dot_f32(h, 1, k->u + column * k->u_column, k->u_row, NULL, 0, k->hidden);
  return k->c.at == NULL ? v : v + k->c.at[column * k->c.stride];
}

static float gate_sum(const cell_run *k, int64_t gate, int64_t j) {
  const int64_t column = gate * k->hidden + j;
  const float p = gate_input(k, column);
  return p + gate_state(k, k->h, column);
}

static void rnn_step(const cell_run *k) {
  for (int64_t j = 0; j < k->hidden; j++) {
    const float a = gate_sum(k, 0, j);
    k->next[j] = k->r->relu ? vt_f32_max(a, 0.0f) : vt_f32_tanh(a);
  }
}

static void lstm_step(const cell_run *k) {
  for (int64_t j = 0; j < k->hidden; j++) {
    const float i = vt_f32_sigmoid(gate_sum(k, 0, j)), f = vt_f32_sigmoid(gate_sum(k, 1, j));
    const float g = vt_f32_tanh(gate_sum(k, 2, j)), o = vt_f32_sigmoid(gate_sum(k, 3, j));
    const float kept = f * k->s[j], fresh = i * g;
    k->s[j] = kept + fresh;
    k->next[j] = o * vt_f32_tanh(k->s[j]);
  }
}

static void gru_step(const cell_run *k) {
  const int64_t n_gate = 2 * k->hidden;
  for (int64_t j = 0; j < k->hidden; j++) {
    const float r = vt_f32_sigmoid(gate_sum(k, 0, j));
    k->reset[j] = k->r->reset_before ? r * k->h[j] : r;
  }
  for (int64_t j = 0; j < k->hidden; j++) {
    const float z = vt_f32_sigmoid(gate_sum(k, 1, j));
    const float p = gate_input(k, n_gate + j);
    const float q = k->r->reset_before ? gate_state(k, k->reset, n_gate + j)
                                       : k->reset[j] * gate_state(k, k->h, n_gate + j);
    const float n = vt_f32_tanh(p + q), fresh = (1.0f - z) * n, kept = z * k->h[j];
    k->next[j] = fresh + kept;
  }
}

static void cell_step(const cell_run *k) {
  if (k->r->cell == VT_CELL_LSTM) {
    lstm_step(k);
  } else if (k->r->cell == VT_CELL_GRU) {
    gru_step(k);
  } else {
    rnn_step(k);
  }
  for (int64_t j = 0; j < k->hidden; j++) k->h[j] = k->next[j];
}

/* ---- operands and results ---- */

/* The part of an operand for `direction`. If the node has both directions, the first axis, of
 * length 2, selects the direction. */
static vt_view direction_view(const vt_view *v, const vt_recurrent *r, int64_t direction) {
  if (!r->both) return *v;
  vt_view one = vt_view_drop_axis(v, 0);
  one.data = (float *)v->data + direction * v->stride[0];
  return one;
}

/* Loads the initial `state` (0: h, 1: s) of a batch member into `to`; +0 if the node has no initial
 * states. */
static void load_state(const vt_kernel *k, const cell_run *c, int64_t direction, int64_t member,
                       uint32_t state, float *to) {
  const vt_recurrent *r = c->r;
  vt_view v = {0};
  if (r->start != 0) v = direction_view(&k->in[r->start + state], r, direction);
  for (int64_t j = 0; j < c->hidden; j++)
    to[j] = r->start == 0 ? 0.0f : ((const float *)v.data)[member * v.stride[0] + j * v.stride[1]];
}

static void store_state(const vt_kernel *k, const cell_run *c, int64_t direction, int64_t member,
                        uint32_t state, const float *from) {
  const vt_view v = direction_view(&k->out[1 + state], c->r, direction);
  for (int64_t j = 0; j < c->hidden; j++)
    ((float *)v.data)[member * v.stride[0] + j * v.stride[1]] = from[j];
}

static void run_member(const vt_kernel *k, cell_run *c, int64_t direction, int64_t member) {
  const vt_recurrent *r = c->r;
  const vt_view *x = &k->in[0], *y = &k->out[0], *l = &k->in[r->length];
  const int64_t steps = x->dim[0], backwards = r->reverse || direction == 1;
  const int64_t length =
      r->length == 0 ? steps : vt_load_int(l->data, l->dtype, member * l->stride[0]);
  load_state(k, c, direction, member, 0, c->h);
  if (r->states == 2) load_state(k, c, direction, member, 1, c->s);
  for (int64_t i = 0; i < steps; i++) {
    const int64_t t = backwards ? steps - 1 - i : i;
    float *to = (float *)y->data + t * y->stride[0] + member * y->stride[1] +
                direction * c->hidden * y->stride[2];
    c->x = (line){(const float *)x->data + t * x->stride[0] + member * x->stride[1], x->stride[2]};
    if (t < length) cell_step(c);
    for (int64_t j = 0; j < c->hidden; j++) to[j * y->stride[2]] = t < length ? c->h[j] : 0.0f;
  }
  store_state(k, c, direction, member, 0, c->h);
  if (r->states == 2) store_state(k, c, direction, member, 1, c->s);
}

static vt_status run_cell(vt_kernel *k, vt_cell cell) {
  uint32_t dtype[8], rank[8];
  for (uint32_t i = 0; i < k->n_in; i++) dtype[i] = k->in[i].dtype, rank[i] = k->in[i].rank;
  const vt_recurrent r = vt_recurrent_read(cell, k->attrs, dtype, rank, k->n_in);
  for (int64_t which = 0; which < (r.both ? 2 : 1); which++) {
    const vt_view w = direction_view(&k->in[1], &r, which);
    const vt_view u = direction_view(&k->in[2], &r, which);
    const int64_t n = u.dim[0];
    cell_run c = {.r = &r,
                  .width = w.dim[0],
                  .hidden = n,
                  .w = w.data,
                  .u = u.data,
                  .w_row = w.stride[0],
                  .w_column = w.stride[1],
                  .u_row = u.stride[0],
                  .u_column = u.stride[1],
                  .h = k->work};
    if (r.bias != 0) {
      const vt_view b = direction_view(&k->in[r.bias], &r, which);
      const vt_view v = direction_view(&k->in[r.bias + 1], &r, which);
      c.b = (line){b.data, b.stride[0]};
      c.c = (line){v.data, v.stride[0]};
    }
    if (n > 0) c.next = c.h + n, c.s = c.h + 2 * n, c.reset = c.h + 3 * n;
    for (int64_t b = 0; b < k->in[0].dim[1]; b++) run_member(k, &c, which, b);
  }
  return VT_OK;
}

vt_status kernel_rnn(vt_kernel *k) { return run_cell(k, VT_CELL_RNN); }
vt_status kernel_lstm(vt_kernel *k) { return run_cell(k, VT_CELL_LSTM); }
vt_status kernel_gru(vt_kernel *k) { return run_cell(k, VT_CELL_GRU); }
