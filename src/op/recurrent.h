/* SPDX-License-Identifier: Apache-2.0
 * recurrent.h - what a node of rnn, lstm or gru says, for its decomposition, its gradient and its
 * kernel. Operands x [T, B, I], w [I, G*H], u [H, G*H], then as they are given: biases b and c
 * [G*H], states h and, of an lstm, s [B, H], lengths [B]. In both directions everything but x and
 * the lengths has a first axis of 2. Private to src/op. */
#ifndef VT_RECURRENT_H
#define VT_RECURRENT_H
#include "formula.h"
#include "op_rows.h"

typedef enum vt_cell { VT_CELL_RNN, VT_CELL_LSTM, VT_CELL_GRU } vt_cell;

typedef struct vt_recurrent {
  vt_cell cell;
  int relu, reset_before;
  int both, reverse;
  uint32_t gates, states;
  uint32_t bias, start, length; /* operands; 0: there is none. c follows b, s follows h */
  uint32_t stray;               /* the first operand that is none of these */
} vt_recurrent;

/* From the attributes of the op and the types of its operands. */
vt_recurrent vt_recurrent_read(vt_cell cell, const void *attrs, const uint32_t *dtype,
                               const uint32_t *rank, uint32_t n);

/* ---- one direction of it, as values of a graph ---- */
typedef struct vt_direction {
  vt_builder *b;
  const vt_recurrent *r;
  int backwards; /* from T-1 to 0 */
  int64_t steps, batch, width, hidden;
  uint32_t x, w, u, bias, c; /* bias and c: VT_NO_VALUE without */
  uint32_t start[2];         /* h, s */
  uint32_t length;           /* i64 [B, 1], or VT_NO_VALUE */
} vt_direction;

int vt_direction_read(vt_direction *d, vt_builder *b, const vt_recurrent *r, const uint32_t *in,
                      uint32_t which);
vt_recurrent vt_recurrent_of(vt_builder *b, vt_cell cell, const void *attrs, const uint32_t *in,
                             uint32_t n);

/* One step, or with sequences for p, h and s all steps at once. */
typedef struct vt_step {
  uint32_t gate[4]; /* i f g o, or r z n */
  uint32_t q_n;     /* of a gru */
  uint32_t bend;    /* tanh(s') of an lstm; r*h of a gru with reset before */
  uint32_t next[2]; /* h', s' */
} vt_step;
vt_step vt_recurrent_step(vt_builder *b, const vt_recurrent *r, uint32_t p, const uint32_t *state,
                          uint32_t u, uint32_t c);

uint32_t vt_recurrent_linear(vt_builder *b, uint32_t x, uint32_t w, uint32_t bias);
/* Elements from .. to-1 along an axis counted from the end, 1 being the last. */
uint32_t vt_recurrent_part(vt_builder *b, uint32_t x, uint32_t from_end, int64_t from, int64_t to);
/* Of everything with a first axis of 2, the one for a direction. */
uint32_t vt_recurrent_half(vt_builder *b, uint32_t x, uint32_t which);
/* Along the first axis the other way round. */
uint32_t vt_recurrent_flip(vt_builder *b, uint32_t x);
/* Element t, a scalar, of a sequence. */
uint32_t vt_recurrent_at(vt_builder *b, uint32_t x, uint32_t t);
/* index, or steps - 1 - index */
uint32_t vt_recurrent_time(vt_builder *b, uint32_t index, int64_t steps, int turned);
uint32_t vt_recurrent_join(vt_builder *b, const uint32_t *x, uint32_t n, int64_t axis);

/* The loop forwards. out[0], out[1]: the last states; out[2]: y, or with `states` out[2], out[3]
 * the states after every step, in the order of time. */
void vt_recurrent_run(const vt_direction *d, uint32_t p, int states, uint32_t out[4]);
#endif
