/* SPDX-License-Identifier: Apache-2.0
 * recurrent_test.c - tests rnn, lstm and gru against their formulas, restated for one member of the
 * batch at a time, and tests their type rules. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, MOST_H = 8 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct cell_case {
  uint32_t op;
  const void *attrs;
  int64_t gates;
  int relu, reset_before, backwards;
  int64_t steps, batch, width, hidden;
  int biased, started, lengths, layout;
} cell_case;

typedef struct operands {
  vt_view in[8];
  uint32_t n, bias, start, length;
} operands;

static vt_view random_view(uint32_t dtype, uint32_t rank, int64_t dim0, int64_t dim1, int64_t dim2,
                           int layout, uint64_t *state) {
  const int64_t dim[3] = {dim0, dim1, dim2};
  return fill_ordinary(view_new(dtype, rank, dim, layout), state);
}

static operands random_operands(const cell_case *s, uint64_t *state) {
  const int64_t wide = s->gates * s->hidden;
  operands o = {.n = 3};
  o.in[0] = random_view(F32, 3, s->steps, s->batch, s->width, s->layout, state);
  o.in[1] = random_view(F32, 2, s->width, wide, 0, (s->layout + 1) % LAYOUTS, state);
  o.in[2] = random_view(F32, 2, s->hidden, wide, 0, (s->layout + 2) % LAYOUTS, state);
  if (s->biased) o.bias = o.n;
  for (int i = 0; i < 2 * s->biased; i++)
    o.in[o.n++] = random_view(F32, 1, wide, 0, 0, s->layout, state);
  if (s->started) o.start = o.n;
  for (int i = 0; s->started && i < (s->gates == 4 ? 2 : 1); i++)
    o.in[o.n++] = random_view(F32, 2, s->batch, s->hidden, 0, s->layout, state);
  if (!s->lengths) return o;
  o.length = o.n;
  o.in[o.n] = view_new(VT_DTYPE_I64, 1, &s->batch, s->layout);
  for (int64_t b = 0; b < s->batch; b++)
    put_bits(&o.in[o.n], b, random_u64(state) % (uint64_t)(s->steps + 2));
  o.n++;
  return o;
}

/* ---- the formulas ---- */

typedef struct member {       /* the state of one member of the batch between time steps */
  float h[MOST_H], s[MOST_H]; /* hidden state, and cell state of an lstm */
} member;

static float input_product_plus_bias(const cell_case *s, const operands *o, int64_t step,
                                     int64_t row, int64_t column) {
  float x[64], w[64];
  for (int64_t i = 0; i < s->width; i++) {
    x[i] = get_f32(&o->in[0], (step * s->batch + row) * s->width + i);
    w[i] = get_f32(&o->in[1], i * s->gates * s->hidden + column);
  }
  const float p = d_f32(x, w, NULL, s->width);
  return o->bias ? p + get_f32(&o->in[o->bias], column) : p;
}

static float state_product_plus_bias(const cell_case *s, const operands *o, const float *h,
                                     int64_t column) {
  float u[MOST_H];
  for (int64_t i = 0; i < s->hidden; i++)
    u[i] = get_f32(&o->in[2], i * s->gates * s->hidden + column);
  const float q = d_f32(h, u, NULL, s->hidden);
  return o->bias ? q + get_f32(&o->in[o->bias + 1], column) : q;
}

static void compute_member_step(const cell_case *s, const operands *o, int64_t t, int64_t b,
                                member *m) {
  const int64_t n = s->hidden;
  float p[4][MOST_H], q[4][MOST_H], reset[MOST_H];
  for (int64_t g = 0; g < s->gates; g++)
    for (int64_t j = 0; j < n; j++) {
      p[g][j] = input_product_plus_bias(s, o, t, b, g * n + j);
      q[g][j] = state_product_plus_bias(s, o, m->h, g * n + j);
    }
  for (int64_t j = 0; s->gates == 3 && j < n; j++)
    reset[j] = vt_f32_sigmoid(p[0][j] + q[0][j]) * m->h[j];
  for (int64_t j = 0; s->reset_before && j < n; j++)
    q[2][j] = state_product_plus_bias(s, o, reset, 2 * n + j);
  for (int64_t j = 0; j < n; j++) {
    const float first = p[0][j] + q[0][j];
    if (s->gates == 1) m->h[j] = s->relu ? (first > 0 ? first : 0.0f) : vt_f32_tanh(first);
    if (s->gates == 4) {
      const float carried = vt_f32_sigmoid(p[1][j] + q[1][j]) * m->s[j];
      const float added = vt_f32_sigmoid(first) * vt_f32_tanh(p[2][j] + q[2][j]);
      m->s[j] = carried + added;
      m->h[j] = vt_f32_sigmoid(p[3][j] + q[3][j]) * vt_f32_tanh(m->s[j]);
    }
    if (s->gates != 3) continue;
    const float r = vt_f32_sigmoid(first), z = vt_f32_sigmoid(p[1][j] + q[1][j]);
    const float inner = s->reset_before ? q[2][j] : r * q[2][j];
    const float candidate = (1.0f - z) * vt_f32_tanh(p[2][j] + inner), carried = z * m->h[j];
    m->h[j] = candidate + carried;
  }
}

static void check_batch_member(const cell_case *s, const operands *o, const vt_view *out,
                               int64_t b) {
  const char *name = vt_op_get(s->op)->name;
  member m = {{0}, {0}};
  for (int64_t j = 0; o->start && j < s->hidden; j++) {
    m.h[j] = get_f32(&o->in[o->start], b * s->hidden + j);
    if (s->gates == 4) m.s[j] = get_f32(&o->in[o->start + 1], b * s->hidden + j);
  }
  const int64_t length = o->length ? (int64_t)get_bits(&o->in[o->length], b) : s->steps;
  for (int64_t i = 0; i < s->steps; i++) {
    const int64_t t = s->backwards ? s->steps - 1 - i : i;
    if (t < length) compute_member_step(s, o, t, b, &m);
    for (int64_t j = 0; j < s->hidden; j++)
      expect_bits(name, &out[0], (t * s->batch + b) * s->hidden + j,
                  t < length ? vt_f32_bits(m.h[j]) : 0);
  }
  for (int64_t j = 0; j < s->hidden; j++) {
    expect_bits(name, &out[1], b * s->hidden + j, vt_f32_bits(m.h[j]));
    if (s->gates == 4) expect_bits(name, &out[2], b * s->hidden + j, vt_f32_bits(m.s[j]));
  }
}

static void check_cell(const cell_case *s, uint64_t *state) {
  const vt_op_info *op = vt_op_get(s->op);
  test_seed = *state;
  const operands o = random_operands(s, state);
  const int64_t y[3] = {s->steps, s->batch, s->hidden}, last[2] = {s->batch, s->hidden};
  const vt_view out[3] = {view_new(F32, 3, y, s->layout), view_new(F32, 2, last, DENSE),
                          view_new(F32, 2, last, s->layout)};
  vt_kernel k = {.in = o.in,
                 .n_in = o.n,
                 .out = out,
                 .n_out = s->gates == 4 ? 3 : 2,
                 .attrs = s->attrs,
                 .work = hold_new_memory((size_t)op->work(o.in, o.n) + 1)};
  CHECK(op->kernel(&k) == VT_OK);
  for (uint32_t i = 0; i < k.n_out; i++) check_gaps_unwritten(op->name, &out[i]);
  for (int64_t b = 0; b < s->batch; b++) check_batch_member(s, &o, out, b);
  free_held();
}

static const vt_attr_rnn rnn_plain = {
    .size = sizeof rnn_plain, .direction = VT_WORD_forward, .activation = VT_WORD_tanh};
static const vt_attr_rnn rnn_relu = {
    .size = sizeof rnn_relu, .direction = VT_WORD_reverse, .activation = VT_WORD_relu};
static const vt_attr_rnn rnn_odd = {
    .size = sizeof rnn_odd, .direction = VT_WORD_forward, .activation = VT_WORD_mean};
static const vt_attr_lstm lstm_plain = {.size = sizeof lstm_plain, .direction = VT_WORD_forward};
static const vt_attr_lstm lstm_back = {.size = sizeof lstm_back, .direction = VT_WORD_reverse};
static const vt_attr_lstm lstm_both = {.size = sizeof lstm_both, .direction = VT_WORD_both};
static const vt_attr_lstm lstm_odd = {.size = sizeof lstm_odd, .direction = 999};
static const vt_attr_gru gru_plain = {.size = sizeof gru_plain, .direction = VT_WORD_forward};
static const vt_attr_gru gru_before = {
    .size = sizeof gru_before, .direction = VT_WORD_reverse, .reset_before = 1};

static void test_cells(void) {
  static const cell_case cells[] = {
      {.op = VT_OP_rnn, .attrs = &rnn_plain, .gates = 1},
      {.op = VT_OP_rnn, .attrs = &rnn_relu, .gates = 1, .relu = 1, .backwards = 1},
      {.op = VT_OP_lstm, .attrs = &lstm_plain, .gates = 4},
      {.op = VT_OP_lstm, .attrs = &lstm_back, .gates = 4, .backwards = 1},
      {.op = VT_OP_gru, .attrs = &gru_plain, .gates = 3},
      {.op = VT_OP_gru, .attrs = &gru_before, .gates = 3, .reset_before = 1, .backwards = 1},
  };
  static const int64_t sizes[][4] = {{1, 1, 1, 1}, {4, 3, 5, 2}, {3, 2, 40, 7}, {2, 1, 3, 8}};
  uint64_t state = 71;
  for (int64_t i = 0; i < COUNT(cells); i++)
    for (int64_t z = 0; z < COUNT(sizes); z++)
      for (int bits = 0; bits < 8; bits++) {
        cell_case s = cells[i];
        s.steps = sizes[z][0], s.batch = sizes[z][1], s.width = sizes[z][2];
        s.hidden = sizes[z][3];
        s.biased = bits & 1, s.started = bits >> 1 & 1, s.lengths = bits >> 2;
        s.layout = bits % LAYOUTS;
        check_cell(&s, &state);
      }
}

static void test_type_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_rnn, NULL, "f32[T, B, 3]; f32[3, 4]; f32[4, 4]", "f32[T, B, 4]"},
      {VT_OP_lstm, NULL, "f32[T, B, 3]; f32[3, 8]; f32[2, 8]; f32[8]; f32[8]", "f32[T, B, 2]"},
      {VT_OP_lstm, NULL, "f32[T, B, 3]; f32[3, 8]; f32[2, 8]; f32[B, 2]; f32[B, 2]",
       "f32[T, B, 2]"},
      {VT_OP_lstm, NULL,
       "f32[T, B, 3]; f32[3, 8]; f32[2, 8]; f32[8]; f32[8]; f32[B, 2]; f32[B, 2]; i32[B]",
       "f32[T, B, 2]"},
      {VT_OP_lstm, &lstm_both, "f32[T, B, 3]; f32[2, 3, 8]; f32[2, 2, 8]", "f32[T, B, 4]"},
      {VT_OP_gru, NULL, "f32[T, B, V]; f32[V, 6]; f32[2, 6]; i64[B]", "f32[T, B, 2]"},
      {VT_OP_gru, NULL, "f32[T, 3]; f32[3, 6]; f32[2, 6]", "!verify: expected [T, B, I]"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[V, 6]", "!verify: H a number"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 8]; f32[2, 6]", "!verify: expected [I, gates*H]"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 8]", "!verify: expected [H, gates*H]"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 6]; f32[6]; f32[5]",
       "!verify: operand 5 is f32[5], expected a bias"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 6]; f32[6]",
       "!verify: operand 4 is f32[6], expected two biases"},
      {VT_OP_lstm, NULL, "f32[T, B, 3]; f32[3, 8]; f32[2, 8]; f32[B, 2]",
       "!verify: the states h and s"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 6]; f32[T, 2]",
       "!verify: expected a state [B, H]"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 6]; i64[T]", "!verify: the lengths are"},
      {VT_OP_gru, NULL, "f32[T, B, 3]; f32[3, 6]; f32[2, 6]; bool[B]", "!verify: expected f32"},
      {VT_OP_gru, NULL, "f64[T, B, 3]; f64[3, 6]; f64[2, 6]", "!verify: expected f32"},
      {VT_OP_lstm, &lstm_both, "f32[T, B, 3]; f32[3, 8]; f32[2, 8]", "!verify: both directions"},
      {VT_OP_lstm, &lstm_odd, "f32[T, B, 3]; f32[3, 8]; f32[2, 8]", "!verify: direction=?"},
      {VT_OP_rnn, &rnn_odd, "f32[T, B, 3]; f32[3, 4]; f32[4, 4]", "!verify: activation=mean"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_cells();
  test_type_rules();
  TEST_DONE();
}
