/* SPDX-License-Identifier: Apache-2.0
 * op_recurrent.c - rnn, lstm and gru over a sequence: type rules, the decomposition into a loop,
 * and the nodes that the gradient shares with it. recurrent.h lists the operands x, w, u, b, c,
 * h, s and lengths. In one time step p = linear(x, w, b) is the part of all gates that comes
 * from the input and q = linear(h, u, c) the part that comes from the state; p and q hold one
 * gate after the other along their columns. */
#include "recurrent.h"
#include <string.h>

/* ---- attributes and operands of a node ---- */

static int is_index_dtype(uint32_t dtype) { return dtype == VT_DTYPE_I32 || dtype == VT_DTYPE_I64; }

static int64_t direction_of(vt_cell cell, const void *attrs) {
  if (cell == VT_CELL_LSTM) return ((const vt_attr_lstm *)attrs)->direction;
  if (cell == VT_CELL_GRU) return ((const vt_attr_gru *)attrs)->direction;
  return ((const vt_attr_rnn *)attrs)->direction;
}

vt_recurrent vt_recurrent_read(vt_cell cell, const void *attrs, const uint32_t *dtype,
                               const uint32_t *rank, uint32_t n) {
  static const uint32_t gates[] = {[VT_CELL_RNN] = 1, [VT_CELL_LSTM] = 4, [VT_CELL_GRU] = 3};
  const int64_t direction = direction_of(cell, attrs);
  vt_recurrent r = {.cell = cell,
                    .both = direction == VT_WORD_both,
                    .reverse = direction == VT_WORD_reverse,
                    .gates = gates[cell],
                    .states = cell == VT_CELL_LSTM ? 2 : 1};
  if (cell == VT_CELL_RNN) r.relu = ((const vt_attr_rnn *)attrs)->activation == VT_WORD_relu;
  if (cell == VT_CELL_GRU) r.reset_before = ((const vt_attr_gru *)attrs)->reset_before != 0;
  const uint32_t vector = r.both ? 2 : 1;
  uint32_t i = 3;
  if (i + 1 < n && dtype[i] == VT_DTYPE_F32 && rank[i] == vector && rank[i + 1] == vector)
    r.bias = i, i += 2;
  if (i + r.states <= n && dtype[i] == VT_DTYPE_F32 && rank[i] == vector + 1)
    r.start = i, i += r.states;
  if (i < n && is_index_dtype(dtype[i])) r.length = i++;
  r.stray = i;
  return r;
}

static vt_recurrent read_rule(vt_cell cell, const vt_rule *r) {
  uint32_t dtype[8] = {0}, rank[8] = {0};
  for (uint32_t i = 0; i < r->n_in; i++) dtype[i] = r->in[i].dtype, rank[i] = r->in[i].rank;
  return vt_recurrent_read(cell, r->attrs, dtype, rank, r->n_in);
}

vt_recurrent vt_recurrent_read_values(vt_builder *b, vt_cell cell, const void *attrs,
                                      const uint32_t *in, uint32_t n) {
  uint32_t dtype[8] = {0}, rank[8] = {0};
  for (uint32_t i = 0; i < n; i++) {
    const vt_type *t = b->type(b, in[i]);
    if (t != NULL) dtype[i] = t->dtype, rank[i] = t->rank;
  }
  return vt_recurrent_read(cell, attrs, dtype, rank, n);
}

/* ---- rules ---- */

vt_status check_recurrent(const vt_rule *r, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  for (uint32_t i = 0; i < r->n_in; i++) {
    if (r->in[i].dtype == VT_DTYPE_F32) continue;
    if (i >= 3 && i + 1 == r->n_in && is_index_dtype(r->in[i].dtype)) continue;
    return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected f32%s", i + 1,
                   vt_type_text(r->dims, &r->in[i], text),
                   i < 3 ? "" : ", or lengths of i32 or i64 at the end");
  }
  return VT_OK;
}

typedef struct expected { /* what the shapes of the operands are checked against */
  const vt_rule *r;
  const vt_recurrent *c;
  int64_t batch, hidden;
} expected;

/* Checks that operand i has the shape [first, second], or without `is_matrix` [second], after an
 * axis of length 2 if there are two directions. */
static vt_status check_shape(const expected *w, uint32_t i, int is_matrix, int64_t first,
                             int64_t second, const char *what, vt_diag *d) {
  const vt_type *t = &w->r->in[i];
  int64_t dim[3];
  uint32_t n = 0;
  char text[VT_TYPE_TEXT];
  if (w->c->both) dim[n++] = 2;
  if (is_matrix) dim[n++] = first;
  dim[n++] = second;
  int fits = t->rank == n;
  for (uint32_t a = 0; fits && a < n; a++) fits = t->dim[a] == dim[a];
  if (fits) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected %s%s", i + 1,
                 vt_type_text(w->r->dims, t, text), what,
                 w->c->both ? " for each of the two directions" : "");
}

static vt_status check_operand_shapes(const expected *w, vt_diag *d) {
  const vt_rule *r = w->r;
  const vt_recurrent *c = w->c;
  const int64_t wide = w->hidden * c->gates;
  char text[VT_TYPE_TEXT];
  VT_TRY(check_shape(w, 1, 1, r->in[0].dim[2], wide, "[I, gates*H]", d));
  VT_TRY(check_shape(w, 2, 1, w->hidden, wide, "[H, gates*H]", d));
  for (uint32_t i = 0; c->bias != 0 && i < 2; i++)
    VT_TRY(check_shape(w, c->bias + i, 0, 0, wide, "a bias [gates*H]", d));
  for (uint32_t i = 0; c->start != 0 && i < c->states; i++)
    VT_TRY(check_shape(w, c->start + i, 1, w->batch, w->hidden, "a state [B, H]", d));
  if (c->length != 0 && (r->in[c->length].rank != 1 || r->in[c->length].dim[0] != w->batch))
    return VT_FAIL(d, VT_VERIFY, "the lengths are %s, expected one for each of the batch",
                   vt_type_text(r->dims, &r->in[c->length], text));
  if (c->stray != r->n_in)
    return VT_FAIL(d, VT_VERIFY,
                   "operand %u is %s, expected two biases, then %s, then lengths, or none of them",
                   c->stray + 1, vt_type_text(r->dims, &r->in[c->stray], text),
                   c->states == 2 ? "the states h and s" : "the state h");
  return VT_OK;
}

static vt_status recurrent_shape(vt_cell cell, const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_recurrent c = read_rule(cell, r);
  const int64_t direction = direction_of(cell, r->attrs);
  const vt_type *x = &r->in[0], *u = &r->in[2];
  const uint32_t lead = c.both ? 1 : 0;
  char text[VT_TYPE_TEXT];
  if (direction != VT_WORD_forward && direction != VT_WORD_reverse && direction != VT_WORD_both)
    return VT_FAIL(d, VT_VERIFY, "direction=%s, expected forward, reverse or both",
                   vt_word_text(direction) == NULL ? "?" : vt_word_text(direction));
  if (x->rank != 3)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected [T, B, I]",
                   vt_type_text(r->dims, x, text));
  if (u->rank != 2 + lead || vt_dim_is_symbolic(u->dim[lead]) || u->dim[lead] > VT_DIM_MAX / 8)
    return VT_FAIL(d, VT_VERIFY, "operand 3 is %s, expected %s[H, gates*H], H a number",
                   vt_type_text(r->dims, u, text), c.both ? "for both directions " : "");
  const expected w = {r, &c, x->dim[1], u->dim[lead]};
  VT_TRY(check_operand_shapes(&w, d));
  out[0] = *x;
  out[0].dim[2] = w.hidden * (c.both ? 2 : 1);
  vt_type state = {.dtype = VT_DTYPE_F32};
  if (c.both) state.dim[state.rank++] = 2;
  state.dim[state.rank++] = w.batch;
  state.dim[state.rank++] = w.hidden;
  for (uint32_t i = 0; i < c.states; i++) out[1 + i] = state;
  return VT_OK;
}

vt_status shape_rnn(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t word = ((const vt_attr_rnn *)r->attrs)->activation;
  if (word != VT_WORD_tanh && word != VT_WORD_relu)
    return VT_FAIL(d, VT_VERIFY, "activation=%s, expected tanh or relu",
                   vt_word_text(word) == NULL ? "?" : vt_word_text(word));
  return recurrent_shape(VT_CELL_RNN, r, out, d);
}
vt_status shape_lstm(const vt_rule *r, vt_type *out, vt_diag *d) {
  return recurrent_shape(VT_CELL_LSTM, r, out, d);
}
vt_status shape_gru(const vt_rule *r, vt_type *out, vt_diag *d) {
  return recurrent_shape(VT_CELL_GRU, r, out, d);
}

/* ---- short ways to write nodes ---- */

uint32_t vt_recurrent_slice(vt_builder *b, uint32_t x, uint32_t axis_from_end, int64_t from,
                            int64_t to) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_attr_slice a = {.size = sizeof a, .start = {.n = t->rank}, .stop = {.n = t->rank}};
  for (uint32_t i = 0; i < t->rank; i++) a.stop.v[i] = t->dim[i];
  a.start.v[t->rank - axis_from_end] = from;
  a.stop.v[t->rank - axis_from_end] = to;
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

uint32_t vt_recurrent_pick_direction(vt_builder *b, uint32_t x, uint32_t which) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type of_x = *t;
  const uint32_t one = vt_recurrent_slice(b, x, of_x.rank, which, (int64_t)which + 1);
  return vt_build_reshape(b, one, of_x.rank - 1, of_x.dim + 1);
}

uint32_t vt_recurrent_reverse_time(vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t n = t->dim[0];
  const vt_attr_iota a = {.size = sizeof a, .shape = {.n = 1, .v = {n}}, .dtype = VT_DTYPE_I64};
  const uint32_t last = vt_build_int(b, VT_DTYPE_I64, n - 1);
  const uint32_t index = minus(b, last, b->node(b, VT_OP_iota, NULL, 0, &a));
  return vt_build2(b, VT_OP_gather, x, index);
}

uint32_t vt_recurrent_element(vt_builder *b, uint32_t x, uint32_t time) {
  return vt_build2(b, VT_OP_gather, x, time);
}

uint32_t vt_recurrent_step_time(vt_builder *b, uint32_t index, int64_t steps, int backwards) {
  return backwards ? minus(b, vt_build_int(b, VT_DTYPE_I64, steps - 1), index) : index;
}

uint32_t vt_recurrent_concat(vt_builder *b, const uint32_t *x, uint32_t n, int64_t axis) {
  const vt_attr_axis a = {.size = sizeof a, .axis = axis};
  return n == 1 ? x[0] : b->node(b, VT_OP_concat, x, n, &a);
}

uint32_t vt_recurrent_linear(vt_builder *b, uint32_t x, uint32_t w, uint32_t bias) {
  const uint32_t in[3] = {x, w, bias};
  return b->node(b, VT_OP_linear, in, bias == VT_NO_VALUE ? 2 : 3, NULL);
}

/* ---- one time step ---- */

static uint32_t gate_columns(vt_builder *b, uint32_t x, const vt_recurrent *r, uint32_t gate) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t h = t->dim[t->rank - 1] / r->gates;
  return r->gates == 1 ? x : vt_recurrent_slice(b, x, 1, gate * h, (gate + 1) * h);
}

/* op(p_i + q_i), i the number of the gate */
static uint32_t build_gate(vt_builder *b, const vt_recurrent *r, uint32_t op, uint32_t p,
                           uint32_t q, uint32_t gate) {
  const uint32_t left = gate_columns(b, p, r, gate);
  return vt_build1(b, op, plus(b, left, gate_columns(b, q, r, gate)));
}

typedef struct step_input { /* ids of the values that one time step reads */
  uint32_t p, q;            /* p = linear(x, w, b), q = linear(h, u, c) */
  const uint32_t *state;    /* h, s */
  uint32_t u, c;
} step_input;

static void step_lstm(vt_builder *b, const vt_recurrent *r, const step_input *x,
                      vt_cell_step *out) {
  const uint32_t p = x->p, q = x->q, s = x->state[1];
  for (uint32_t i = 0; i < 4; i++)
    out->gate[i] = build_gate(b, r, i == 2 ? VT_OP_tanh : VT_OP_sigmoid, p, q, i);
  const uint32_t kept = times(b, out->gate[1], s);
  out->next[1] = plus(b, kept, times(b, out->gate[0], out->gate[2]));
  out->bend = vt_build1(b, VT_OP_tanh, out->next[1]);
  out->next[0] = times(b, out->gate[3], out->bend);
}

static uint32_t linear_of_gru_gate(vt_builder *b, uint32_t x, uint32_t u, uint32_t c,
                                   uint32_t gate) {
  const vt_recurrent three = {.gates = 3};
  const uint32_t part = gate_columns(b, u, &three, gate);
  return vt_recurrent_linear(b, x, part,
                             c == VT_NO_VALUE ? VT_NO_VALUE : gate_columns(b, c, &three, gate));
}

static void step_gru(vt_builder *b, const vt_recurrent *r, const step_input *x, vt_cell_step *out) {
  const uint32_t p = x->p, q = x->q, h = x->state[0];
  out->gate[0] = build_gate(b, r, VT_OP_sigmoid, p, q, 0);
  out->gate[1] = build_gate(b, r, VT_OP_sigmoid, p, q, 1);
  const uint32_t p_n = gate_columns(b, p, r, 2);
  uint32_t inner;
  if (r->reset_before) {
    out->bend = times(b, out->gate[0], h);
    inner = linear_of_gru_gate(b, out->bend, x->u, x->c, 2);
  } else {
    out->q_n = gate_columns(b, q, r, 2);
    inner = times(b, out->gate[0], out->q_n);
  }
  out->gate[2] = vt_build1(b, VT_OP_tanh, plus(b, p_n, inner));
  const uint32_t fresh = times(b, one_minus(b, out->gate[1]), out->gate[2]);
  out->next[0] = plus(b, fresh, times(b, out->gate[1], h));
}

vt_cell_step vt_recurrent_step(vt_builder *b, const vt_recurrent *r, uint32_t p,
                               const uint32_t *state, uint32_t u, uint32_t c) {
  vt_cell_step out = {.q_n = VT_NO_VALUE, .bend = VT_NO_VALUE, .next = {VT_NO_VALUE, VT_NO_VALUE}};
  const step_input x = {p, vt_recurrent_linear(b, state[0], u, c), state, u, c};
  if (r->cell == VT_CELL_LSTM) {
    step_lstm(b, r, &x, &out);
  } else if (r->cell == VT_CELL_GRU) {
    step_gru(b, r, &x, &out);
  } else {
    const uint32_t a = plus(b, x.p, x.q);
    out.next[0] = r->relu ? at_least(b, a, 0.0) : vt_build1(b, VT_OP_tanh, a);
  }
  return out;
}

/* ---- the loop ---- */

static uint32_t build_zeros(vt_builder *b, int64_t rows, int64_t columns) {
  const int64_t dim[2] = {rows, columns};
  return vt_build_broadcast(b, vt_build_number(b, VT_DTYPE_F32, 0.0), 2, dim);
}

int vt_direction_read(vt_direction *d, vt_builder *b, const vt_recurrent *r, const uint32_t *in,
                      uint32_t which) {
  const vt_type *x = b->type(b, in[0]), *u = b->type(b, in[2]);
  if (x == NULL || u == NULL) return 0;
  const int64_t column[2] = {x->dim[1], 1};
  *d = (vt_direction){.b = b, .r = r, .backwards = r->reverse || which == 1, .x = in[0]};
  d->steps = x->dim[0], d->batch = x->dim[1], d->width = x->dim[2];
  d->hidden = u->dim[u->rank - 2];
  d->bias = d->c = d->length = VT_NO_VALUE;
  d->w = r->both ? vt_recurrent_pick_direction(b, in[1], which) : in[1];
  d->u = r->both ? vt_recurrent_pick_direction(b, in[2], which) : in[2];
  if (r->bias != 0) {
    d->bias = r->both ? vt_recurrent_pick_direction(b, in[r->bias], which) : in[r->bias];
    d->c = r->both ? vt_recurrent_pick_direction(b, in[r->bias + 1], which) : in[r->bias + 1];
  }
  for (uint32_t i = 0; i < r->states; i++) {
    if (r->start == 0) {
      d->start[i] = build_zeros(b, d->batch, d->hidden);
    } else {
      const uint32_t s = in[r->start + i];
      d->start[i] = r->both ? vt_recurrent_pick_direction(b, s, which) : s;
    }
  }
  if (r->length != 0)
    d->length = vt_build_cast(b, vt_build_reshape(b, in[r->length], 2, column), VT_DTYPE_I64);
  return 1;
}

/* Lists the operands of the loop in in[]: the initial states, which the loop carries, then p, u,
 * and c and the lengths if the node has them; returns their number. */
static uint32_t loop_operands(const vt_direction *d, uint32_t p, uint32_t u, uint32_t *in) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->r->states; i++) in[n++] = d->start[i];
  in[n++] = p;
  in[n++] = u;
  if (d->c != VT_NO_VALUE) in[n++] = d->c;
  if (d->length != VT_NO_VALUE) in[n++] = d->length;
  return n;
}

static vt_builder *open_body(vt_builder *b, const uint32_t *in, uint32_t n) {
  vt_type types[32] = {{.dtype = VT_DTYPE_I64}};
  for (uint32_t i = 0; i < n; i++) {
    const vt_type *t = b->type(b, in[i]);
    if (t == NULL) return NULL;
    types[1 + i] = *t;
  }
  return b->open(b, types, n + 1);
}

/* If u is a transposed value, the loop reads that value and the body transposes it, where the
 * result is a view: an operand of a loop must be dense, so a transposed weight would be copied
 * before each run, and a backend could not keep a packed form of the copy. */
void vt_recurrent_loop(const vt_direction *d, uint32_t p, int collect_states, uint32_t out[4]) {
  vt_builder *b = d->b;
  const uint32_t n_states = d->r->states;
  vt_attr_perm swap = {.size = sizeof swap};
  const uint32_t from =
      b->untransposed == NULL ? VT_NO_VALUE : b->untransposed(b, d->u, &swap.perm);
  const int is_transposed = from != VT_NO_VALUE;
  uint32_t in[8], returned[4], at = 1 + n_states;
  const uint32_t n = loop_operands(d, p, is_transposed ? from : d->u, in);
  vt_builder *k = open_body(b, in, n);
  out[0] = out[1] = out[2] = out[3] = VT_NO_VALUE;
  if (k == NULL) return;
  const uint32_t state[2] = {1, 2};
  const uint32_t time = vt_recurrent_step_time(k, 0, d->steps, d->backwards);
  const uint32_t row = vt_recurrent_element(k, at++, time);
  uint32_t u = at++;
  if (is_transposed) u = k->node(k, VT_OP_transpose, &u, 1, &swap);
  const uint32_t c = d->c == VT_NO_VALUE ? VT_NO_VALUE : at++;
  vt_cell_step step = vt_recurrent_step(k, d->r, row, state, u, c);
  uint32_t y = step.next[0], n_out = 0;
  if (d->length != VT_NO_VALUE) {
    const uint32_t active = vt_build2(k, VT_OP_lt, time, at);
    for (uint32_t i = 0; i < n_states; i++)
      step.next[i] = select_by(k, active, step.next[i], state[i]);
    if (!collect_states) y = value_or_zero(k, active, y);
  }
  for (uint32_t i = 0; i < n_states; i++) returned[n_out++] = step.next[i];
  if (!collect_states) returned[n_out++] = y;
  for (uint32_t i = 0; collect_states && i < n_states; i++) returned[n_out++] = step.next[i];
  k->close(k, returned, n_out);
  const vt_attr_loop a = {.size = sizeof a, .count = d->steps, .carried = n_states};
  const uint32_t v = b->node(b, VT_OP_loop, in, n, &a);
  if (v == VT_NO_VALUE) return;
  for (uint32_t i = 0; i < n_states; i++) out[i] = v + i;
  for (uint32_t i = n_states; i < n_out; i++)
    out[2 + i - n_states] = d->backwards ? vt_recurrent_reverse_time(b, v + i) : v + i;
}

static uint32_t stack_directions(vt_builder *b, const uint32_t x[2], int64_t rows,
                                 int64_t columns) {
  const int64_t dim[3] = {1, rows, columns};
  uint32_t part[2];
  for (uint32_t i = 0; i < 2; i++) part[i] = vt_build_reshape(b, x[i], 3, dim);
  return vt_recurrent_concat(b, part, 2, 0);
}

static uint32_t lower_cell(vt_cell cell, const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_recurrent r = vt_recurrent_read_values(b, cell, l->attrs, l->in, l->n_in);
  vt_direction d;
  uint32_t made[2][4];
  for (uint32_t i = 0; i < (r.both ? 2u : 1u); i++) {
    if (!vt_direction_read(&d, b, &r, l->in, i)) return VT_NO_VALUE;
    vt_recurrent_loop(&d, vt_recurrent_linear(b, d.x, d.w, d.bias), 0, made[i]);
  }
  if (!r.both) {
    for (uint32_t i = 0; i < r.states; i++) l->out[1 + i] = made[0][i];
    return made[0][2];
  }
  for (uint32_t i = 0; i < r.states; i++) {
    const uint32_t pair[2] = {made[0][i], made[1][i]};
    l->out[1 + i] = stack_directions(b, pair, d.batch, d.hidden);
  }
  const uint32_t y[2] = {made[0][2], made[1][2]};
  return vt_recurrent_concat(b, y, 2, 2);
}

uint32_t lower_rnn(const vt_lowering *l) { return lower_cell(VT_CELL_RNN, l); }
uint32_t lower_lstm(const vt_lowering *l) { return lower_cell(VT_CELL_LSTM, l); }
uint32_t lower_gru(const vt_lowering *l) { return lower_cell(VT_CELL_GRU, l); }
