/* SPDX-License-Identifier: Apache-2.0
 * op_recurrent_grad.c - gradients of rnn, lstm and gru. The loop of the decomposition computes
 * the states again, then the gates of all steps are computed at once, and a second loop, the
 * backward loop, goes from the last step to the first. It carries dh and ds, the gradients of
 * the states h and s, and dw, du, db and dc, those of weights and biases, which are summed in
 * this order. A missing gradient counts as -0, which changes no sum. A slope is a gradient. D is
 * the contraction of docs/numerics.md; recurrent.h lists the operands. */
#include "recurrent.h"

enum { MOST = 24 }; /* the greatest number of operands of the backward loop */

/* Ids of the sequences that the backward loop reads, one element per step; in the body of the loop,
 * of the elements of one step. VT_NO_VALUE stands for a sequence that the cell does not have. */
typedef struct sequences {
  uint32_t gate[4], q_n, bend, h, s, next, x, dy;
} sequences;

typedef struct walk_back {
  const vt_direction *d;
  vt_builder *b;         /* builder of the body of the backward loop */
  uint32_t time, active; /* active: bool [B, 1], whether this step is within the length of a batch
                            member; VT_NO_VALUE if the node has no lengths */
  uint32_t u, dh, ds;
  sequences at;    /* the elements of the sequences for this step */
  uint32_t dp, dq; /* gradients of p = linear(x, w, b) and q = linear(h, u, c) */
} walk_back;

/* ---- short ways to write nodes ---- */

static uint32_t build_filled(vt_builder *b, double value, uint32_t rank, const int64_t *dim) {
  return vt_build_broadcast(b, vt_build_number(b, VT_DTYPE_F32, value), rank, dim);
}

/* x times the transpose of w: D over the columns of w. */
static uint32_t times_transposed(vt_builder *b, uint32_t x, uint32_t w) {
  const vt_attr_matmul a = {.size = sizeof a, .transpose_b = 1, .order = VT_ORDER_FMA256};
  const uint32_t in[2] = {x, w};
  return b->node(b, VT_OP_matmul, in, 2, &a);
}

/* From the result y of the function: 1 - y*y, and (dy*y)*(1 - y) */
static uint32_t tanh_slope(vt_builder *b, uint32_t y) { return one_minus(b, times(b, y, y)); }
static uint32_t sigmoid_slope(vt_builder *b, uint32_t dy, uint32_t y) {
  const uint32_t left = times(b, dy, y);
  return times(b, left, one_minus(b, y));
}

static uint32_t join_gates(vt_builder *b, const uint32_t *x, uint32_t n) {
  return vt_recurrent_concat(b, x, n, 1);
}

/* ---- one step back: each function computes dh and ds of the step before ---- */

static void step_back_lstm(walk_back *w, uint32_t *dh, uint32_t *ds) {
  vt_builder *b = w->b;
  const uint32_t *g = w->at.gate, i = g[0], f = g[1], c = g[2], o = g[3];
  const uint32_t out = times(b, w->dh, o);
  const uint32_t e = plus(b, w->ds, times(b, out, tanh_slope(b, w->at.bend)));
  uint32_t da[4];
  da[0] = sigmoid_slope(b, times(b, e, c), i);
  da[1] = sigmoid_slope(b, times(b, e, w->at.s), f);
  const uint32_t ei = times(b, e, i);
  da[2] = times(b, ei, tanh_slope(b, c));
  da[3] = sigmoid_slope(b, times(b, w->dh, w->at.bend), o);
  w->dp = w->dq = join_gates(b, da, 4);
  *ds = times(b, e, f);
  *dh = times_transposed(b, w->dq, w->u);
}

static uint32_t gate_columns(const walk_back *w, uint32_t x, uint32_t first_gate,
                             uint32_t end_gate) {
  const int64_t h = w->d->hidden;
  return vt_recurrent_slice(w->b, x, 1, first_gate * h, end_gate * h);
}

static void step_back_gru(walk_back *w, uint32_t *dh) {
  vt_builder *b = w->b;
  const uint32_t r = w->at.gate[0], z = w->at.gate[1], n = w->at.gate[2];
  const uint32_t fresh = times(b, w->dh, one_minus(b, z));
  const uint32_t dn = times(b, fresh, tanh_slope(b, n));
  const uint32_t moved = times(b, w->dh, minus(b, w->at.h, n));
  uint32_t da[3] = {VT_NO_VALUE, sigmoid_slope(b, moved, z), dn};
  const uint32_t kept = times(b, w->dh, z);
  if (w->d->r->reset_before) {
    const uint32_t k = times_transposed(b, dn, gate_columns(w, w->u, 2, 3));
    da[0] = sigmoid_slope(b, times(b, k, w->at.h), r);
    w->dp = w->dq = join_gates(b, da, 3);
    const uint32_t both = plus(b, kept, times(b, k, r));
    const uint32_t rest = join_gates(b, da, 2);
    *dh = plus(b, both, times_transposed(b, rest, gate_columns(w, w->u, 0, 2)));
    return;
  }
  da[0] = sigmoid_slope(b, times(b, dn, w->at.q_n), r);
  w->dp = join_gates(b, da, 3);
  da[2] = times(b, dn, r);
  w->dq = join_gates(b, da, 3);
  *dh = plus(b, kept, times_transposed(b, w->dq, w->u));
}

static void step_back_rnn(walk_back *w, uint32_t *dh) {
  vt_builder *b = w->b;
  const uint32_t h = w->at.next;
  w->dp = w->d->r->relu ? value_or_zero(b, is_positive(b, h), w->dh)
                        : times(b, w->dh, tanh_slope(b, h));
  w->dq = w->dp;
  *dh = times_transposed(b, w->dq, w->u);
}

/* ---- weights: D and S over the batch; members that have ended are absent ---- */

static uint32_t weight_slope_of_step(const walk_back *w, uint32_t x, uint32_t dp, int64_t rows) {
  vt_builder *b = w->b;
  const vt_attr_matmul a = {.size = sizeof a, .transpose_a = 1, .order = VT_ORDER_FMA256};
  uint32_t in[3] = {x, dp, VT_NO_VALUE};
  if (w->active == VT_NO_VALUE) return b->node(b, VT_OP_matmul, in, 2, &a);
  const int64_t row[2] = {1, w->d->batch}, all[2] = {rows, w->d->batch};
  in[2] = vt_build_broadcast(b, vt_build_reshape(b, w->active, 2, row), 2, all);
  return b->node(b, VT_OP_matmul_masked, in, 3, &a);
}

static uint32_t bias_slope_of_step(const walk_back *w, uint32_t dp) {
  if (w->active != VT_NO_VALUE) dp = value_or_zero(w->b, w->active, dp);
  return vt_build_reduce(w->b, VT_OP_sum, dp, 0, 0);
}

static uint32_t state_weight_slope_of_step(const walk_back *w) {
  const vt_direction *d = w->d;
  if (!d->r->reset_before) return weight_slope_of_step(w, w->at.h, w->dq, d->hidden);
  uint32_t part[2];
  part[0] = weight_slope_of_step(w, w->at.h, gate_columns(w, w->dq, 0, 2), d->hidden);
  part[1] = weight_slope_of_step(w, w->at.bend, gate_columns(w, w->dq, 2, 3), d->hidden);
  return vt_recurrent_concat(w->b, part, 2, 1);
}

/* ---- the sequences ---- */

static uint32_t *sequence_at(sequences *s, uint32_t i) {
  uint32_t *const all[] = {&s->gate[0], &s->gate[1], &s->gate[2], &s->gate[3], &s->q_n, &s->bend,
                           &s->h,       &s->s,       &s->next,    &s->x,       &s->dy};
  return i < sizeof all / sizeof *all ? all[i] : NULL;
}

/* The states before every step, in the order of time: the first state, joined with the states after
 * every step but the last. */
static uint32_t states_before(const vt_direction *d, uint32_t first, uint32_t after) {
  vt_builder *b = d->b;
  const int64_t one[3] = {1, d->batch, d->hidden};
  const int64_t skip = d->backwards ? 1 : 0;
  uint32_t part[2];
  const uint32_t start = vt_build_reshape(b, first, 3, one);
  const uint32_t rest = vt_recurrent_slice(b, after, 3, skip, d->steps - 1 + skip);
  part[d->backwards ? 1 : 0] = start;
  part[d->backwards ? 0 : 1] = rest;
  return vt_recurrent_concat(b, part, 2, 0);
}

static sequences build_sequences(const vt_direction *d, uint32_t dy) {
  vt_builder *b = d->b;
  const vt_recurrent *r = d->r;
  uint32_t run[4], state[2] = {VT_NO_VALUE, VT_NO_VALUE};
  const uint32_t p = vt_recurrent_linear(b, d->x, d->w, d->bias);
  vt_recurrent_loop(d, p, 1, run);
  for (uint32_t i = 0; i < r->states; i++) state[i] = states_before(d, d->start[i], run[2 + i]);
  const vt_cell_step step = vt_recurrent_step(b, r, p, state, d->u, d->c);
  sequences s = {.q_n = step.q_n, .bend = step.bend, .h = state[0], .s = state[1], .x = d->x};
  for (uint32_t i = 0; i < 4; i++) s.gate[i] = i < r->gates ? step.gate[i] : VT_NO_VALUE;
  if (r->cell == VT_CELL_RNN) s.gate[0] = VT_NO_VALUE;
  s.next = r->cell == VT_CELL_RNN ? step.next[0] : VT_NO_VALUE;
  s.dy = dy;
  return s;
}

/* ---- the loop back ---- */

typedef struct slopes { /* gradients of the operands for one direction */
  uint32_t x, w, u, b, c, start[2];
} slopes;

static uint32_t output_slope(const vt_gradient *g, const vt_direction *d, uint32_t which) {
  if (g->d_out[0] == VT_NO_VALUE || !d->r->both) return g->d_out[0];
  return vt_recurrent_slice(d->b, g->d_out[0], 1, which * d->hidden, (which + 1) * d->hidden);
}

static uint32_t last_state_slope(const vt_gradient *g, const vt_direction *d, uint32_t i,
                                 uint32_t which) {
  const int64_t dim[2] = {d->batch, d->hidden};
  if (g->d_out[1 + i] == VT_NO_VALUE) return build_filled(d->b, -0.0, 2, dim);
  return d->r->both ? vt_recurrent_pick_direction(d->b, g->d_out[1 + i], which) : g->d_out[1 + i];
}

/* Lists in in[] the first operands of the backward loop, the initial values of what it carries: dh,
 * (ds), dw, du, (db, dc); returns their number. */
static uint32_t carried_operands(const vt_gradient *g, const vt_direction *d, uint32_t which,
                                 uint32_t *in) {
  const int64_t wide = d->hidden * d->r->gates;
  const int64_t w[2] = {d->width, wide}, u[2] = {d->hidden, wide};
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->r->states; i++) in[n++] = last_state_slope(g, d, i, which);
  in[n++] = build_filled(d->b, 0.0, 2, w);
  in[n++] = build_filled(d->b, 0.0, 2, u);
  for (uint32_t i = 0; d->c != VT_NO_VALUE && i < 2; i++)
    in[n++] = build_filled(d->b, 0.0, 1, &wide);
  return n;
}

static vt_builder *open_body(const vt_direction *d, const uint32_t *in, uint32_t n) {
  vt_type types[MOST + 1] = {{.dtype = VT_DTYPE_I64}};
  for (uint32_t i = 0; i < n; i++) {
    const vt_type *t = d->b->type(d->b, in[i]);
    if (t == NULL) return NULL;
    types[1 + i] = *t;
  }
  return d->b->open(d->b, types, n + 1);
}

static void step_back(walk_back *w, uint32_t *dh, uint32_t *ds) {
  if (w->at.dy != VT_NO_VALUE) w->dh = plus(w->b, w->at.dy, w->dh);
  *ds = VT_NO_VALUE;
  if (w->d->r->cell == VT_CELL_LSTM) {
    step_back_lstm(w, dh, ds);
  } else if (w->d->r->cell == VT_CELL_GRU) {
    step_back_gru(w, dh);
  } else {
    step_back_rnn(w, dh);
  }
}

/* Writes the body of the backward loop; returns the number of its results. The carried values are
 * its first arguments after the index. */
static uint32_t write_backward_body(walk_back *w, uint32_t carried, uint32_t *returned) {
  const vt_direction *d = w->d;
  vt_builder *b = w->b;
  const uint32_t states = d->r->states, first = 1 + states;
  const uint32_t dh_next = 1, ds_next = 2;
  uint32_t dh, ds, n = 0;
  w->dh = dh_next;
  w->ds = ds_next;
  step_back(w, &dh, &ds);
  if (w->active != VT_NO_VALUE) {
    dh = select_by(b, w->active, dh, dh_next);
    if (states == 2) ds = select_by(b, w->active, ds, ds_next);
  }
  returned[n++] = dh;
  if (states == 2) returned[n++] = ds;
  returned[n++] = plus(b, first, weight_slope_of_step(w, w->at.x, w->dp, d->width));
  returned[n++] = plus(b, first + 1, state_weight_slope_of_step(w));
  if (carried > states + 2) {
    returned[n++] = plus(b, first + 2, bias_slope_of_step(w, w->dp));
    returned[n++] = plus(b, first + 3, bias_slope_of_step(w, w->dq));
  }
  returned[n++] = w->dp;
  return n;
}

/* Writes the backward loop; returns the id of its first result. */
static uint32_t build_backward_loop(const vt_direction *d, sequences *s, uint32_t *in,
                                    uint32_t carried) {
  uint32_t n = carried, returned[8];
  in[n++] = d->u;
  if (d->length != VT_NO_VALUE) in[n++] = d->length;
  const uint32_t first = n;
  for (uint32_t i = 0; sequence_at(s, i) != NULL; i++)
    if (*sequence_at(s, i) != VT_NO_VALUE) in[n++] = *sequence_at(s, i);
  walk_back w = {.d = d, .b = open_body(d, in, n), .active = VT_NO_VALUE};
  if (w.b == NULL) return VT_NO_VALUE;
  w.u = 1 + carried;
  w.time = vt_recurrent_step_time(w.b, 0, d->steps, !d->backwards);
  if (d->length != VT_NO_VALUE) w.active = vt_build2(w.b, VT_OP_lt, w.time, 2 + carried);
  uint32_t arg = 1 + first;
  for (uint32_t i = 0; sequence_at(s, i) != NULL; i++) {
    const int there = *sequence_at(s, i) != VT_NO_VALUE;
    *sequence_at(&w.at, i) = there ? vt_recurrent_element(w.b, arg++, w.time) : VT_NO_VALUE;
  }
  const uint32_t n_out = write_backward_body(&w, carried, returned);
  w.b->close(w.b, returned, n_out);
  const vt_attr_loop a = {.size = sizeof a, .count = d->steps, .carried = carried};
  return d->b->node(d->b, VT_OP_loop, in, n, &a);
}

/* dx = D(dp, w), and +0 for steps beyond the length of a batch member. */
static uint32_t input_slope(const vt_direction *d, uint32_t dp) {
  vt_builder *b = d->b;
  const uint32_t dx = times_transposed(b, dp, d->w);
  if (d->length == VT_NO_VALUE) return dx;
  const int64_t third[3] = {1, d->batch, 1};
  const vt_attr_iota a = {
      .size = sizeof a, .shape = {.n = 3, .v = {d->steps, 1, 1}}, .dtype = VT_DTYPE_I64};
  const uint32_t t = b->node(b, VT_OP_iota, NULL, 0, &a);
  const uint32_t active = vt_build2(b, VT_OP_lt, t, vt_build_reshape(b, d->length, 3, third));
  return value_or_zero(b, active, dx);
}

/* The gradient of initial state i, from v, which the backward loop returned. For a batch member of
 * length 0 it is +0, unless the last state has a gradient, which then passes through. */
static uint32_t initial_state_slope(const vt_gradient *g, const vt_direction *d, uint32_t i,
                                    uint32_t v) {
  if (d->length == VT_NO_VALUE || g->d_out[1 + i] != VT_NO_VALUE) return v;
  const uint32_t any = compared(d->b, VT_OP_gt, d->length, 0.0);
  return value_or_zero(d->b, any, v);
}

static slopes slopes_without_steps(const vt_gradient *g, const vt_direction *d, uint32_t which) {
  const int64_t wide = d->hidden * d->r->gates;
  const int64_t x[3] = {0, d->batch, d->width}, w[2] = {d->width, wide}, u[2] = {d->hidden, wide};
  const int64_t state[2] = {d->batch, d->hidden};
  slopes s = {.x = build_filled(d->b, 0.0, 3, x)};
  s.w = build_filled(d->b, 0.0, 2, w);
  s.u = build_filled(d->b, 0.0, 2, u);
  s.b = build_filled(d->b, 0.0, 1, &wide);
  s.c = s.b;
  for (uint32_t i = 0; i < d->r->states; i++)
    s.start[i] = g->d_out[1 + i] == VT_NO_VALUE ? build_filled(d->b, 0.0, 2, state)
                                                : last_state_slope(g, d, i, which);
  return s;
}

static slopes slopes_of_direction(const vt_gradient *g, const vt_direction *d, uint32_t which) {
  if (d->steps == 0) return slopes_without_steps(g, d, which);
  uint32_t in[MOST];
  sequences s = build_sequences(d, output_slope(g, d, which));
  const uint32_t states = d->r->states, carried = carried_operands(g, d, which, in);
  const uint32_t v = build_backward_loop(d, &s, in, carried);
  if (v == VT_NO_VALUE) return (slopes){VT_NO_VALUE, v, v, v, v, {v, v}};
  slopes out = {.w = v + states, .u = v + states + 1, .b = v + states + 2, .c = v + states + 3};
  const uint32_t dp = v + carried;
  out.x = input_slope(d, d->backwards ? dp : vt_recurrent_reverse_time(d->b, dp));
  for (uint32_t i = 0; i < states; i++) out.start[i] = initial_state_slope(g, d, i, v + i);
  return out;
}

/* ---- from the directions to the operands ---- */

static void set_gradients(const vt_gradient *g, const vt_recurrent *r, const slopes *s) {
  g->d_in[0] = s->x;
  g->d_in[1] = s->w;
  g->d_in[2] = s->u;
  if (r->bias != 0) g->d_in[r->bias] = s->b, g->d_in[r->bias + 1] = s->c;
  for (uint32_t i = 0; r->start != 0 && i < r->states; i++) g->d_in[r->start + i] = s->start[i];
}

static uint32_t stack_pair(vt_builder *b, uint32_t x, uint32_t y) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_type one = *t;
  for (uint32_t i = one.rank++; i > 0; i--) one.dim[i] = one.dim[i - 1];
  one.dim[0] = 1;
  uint32_t part[2] = {vt_build_reshape(b, x, one.rank, one.dim), VT_NO_VALUE};
  part[1] = vt_build_reshape(b, y, one.rank, one.dim);
  return vt_recurrent_concat(b, part, 2, 0);
}

static void set_gradients_of_both_directions(const vt_gradient *g, const vt_recurrent *r,
                                             const slopes s[2]) {
  vt_builder *b = g->b;
  slopes all = {.x = plus(b, s[1].x, s[0].x)};
  all.w = stack_pair(b, s[0].w, s[1].w);
  all.u = stack_pair(b, s[0].u, s[1].u);
  if (r->bias != 0) {
    all.b = stack_pair(b, s[0].b, s[1].b);
    all.c = stack_pair(b, s[0].c, s[1].c);
  }
  for (uint32_t i = 0; r->start != 0 && i < r->states; i++)
    all.start[i] = stack_pair(b, s[0].start[i], s[1].start[i]);
  set_gradients(g, r, &all);
}

static void grad_cell(vt_cell cell, const vt_gradient *g) {
  const vt_recurrent r = vt_recurrent_read_values(g->b, cell, g->attrs, g->in, g->n_in);
  vt_direction d;
  slopes s[2];
  for (uint32_t i = 0; i < (r.both ? 2u : 1u); i++) {
    if (!vt_direction_read(&d, g->b, &r, g->in, i)) return;
    s[i] = slopes_of_direction(g, &d, i);
  }
  if (r.both) {
    set_gradients_of_both_directions(g, &r, s);
  } else {
    set_gradients(g, &r, &s[0]);
  }
}

void grad_rnn(const vt_gradient *g) { grad_cell(VT_CELL_RNN, g); }
void grad_lstm(const vt_gradient *g) { grad_cell(VT_CELL_LSTM, g); }
void grad_gru(const vt_gradient *g) { grad_cell(VT_CELL_GRU, g); }
