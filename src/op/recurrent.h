/* SPDX-License-Identifier: Apache-2.0
 * recurrent.h - reads a node of rnn, lstm or gru, for its decomposition, its gradient and its
 * kernel, and writes the nodes that decomposition and gradient share. In formulas p = linear(x,
 * w, b), q = linear(h, u, c); h' and s' are the states after a step. Private to src/op.
 *
 *     operands    x [T, B, I], w [I, G*H], u [H, G*H], G the number of gates
 *     optional    biases b and c [G*H]; states h and, for an lstm, s [B, H]; lengths [B]
 *
 * If the direction is `both`, every operand but x and the lengths has a first axis of length 2. */
#ifndef VT_RECURRENT_H
#define VT_RECURRENT_H
#include "formula.h"
#include "op_rows.h"

typedef enum vt_cell { VT_CELL_RNN, VT_CELL_LSTM, VT_CELL_GRU } vt_cell;

typedef struct vt_recurrent {
  vt_cell cell;
  int relu, reset_before;       /* relu: an attribute of rnn; reset_before: of gru */
  int both, reverse;            /* the attribute direction; both fields 0: forward */
  uint32_t gates, states;       /* number of gates G; number of states: h, or h and s */
  uint32_t bias, start, length; /* operand index of b, of h and of the lengths; 0 if the node does
                                   not have it. c follows b, s follows h */
  uint32_t stray; /* index of the first operand that fits no optional operand; the number of
                     operands if all fit */
} vt_recurrent;

/* Reads the attributes, and finds the optional operands by their dtypes and ranks. */
vt_recurrent vt_recurrent_read(vt_cell cell, const void *attrs, const uint32_t *dtype,
                               const uint32_t *rank, uint32_t n);

/* ---- one direction of a node, as values of a graph ---- */
typedef struct vt_direction {
  vt_builder *b;
  const vt_recurrent *r;
  int backwards; /* 1 if time runs from T-1 to 0 */
  int64_t steps, batch, width, hidden;
  uint32_t x, w, u, bias, c; /* ids of the operand values for this direction; bias (b) and c are
                                VT_NO_VALUE if the node has no biases */
  uint32_t start[2];         /* the initial states h and s */
  uint32_t length;           /* the lengths as i64 [B, 1], or VT_NO_VALUE */
} vt_direction;

/* Reads direction `which` (0 or 1) of a node; returns 0 if an earlier node failed. */
int vt_direction_read(vt_direction *d, vt_builder *b, const vt_recurrent *r, const uint32_t *in,
                      uint32_t which);
/* The same as vt_recurrent_read, with the types of the values in[0 .. n-1]. */
vt_recurrent vt_recurrent_read_values(vt_builder *b, vt_cell cell, const void *attrs,
                                      const uint32_t *in, uint32_t n);

/* The values of one time step, or if p, h and s are sequences, of all steps at once. */
typedef struct vt_cell_step {
  uint32_t gate[4]; /* gates after their activation: i f g o of an lstm, r z n of a gru */
  /* for a gru without reset_before: q of gate n, the part that comes from the state */
  uint32_t q_n;
  uint32_t bend;    /* tanh(s') for an lstm; r*h for a gru with reset_before */
  uint32_t next[2]; /* the new states h' and s' */
} vt_cell_step;
/* Writes one time step. p = linear(x, w, b) is the part of all gates that comes from the input;
 * state[] = {h, s}. */
vt_cell_step vt_recurrent_step(vt_builder *b, const vt_recurrent *r, uint32_t p,
                               const uint32_t *state, uint32_t u, uint32_t c);

/* Writes linear(x, w, bias); bias may be VT_NO_VALUE. */
uint32_t vt_recurrent_linear(vt_builder *b, uint32_t x, uint32_t w, uint32_t bias);
/* Writes the slice of elements from .. to-1 of x along an axis; axis_from_end counts from the end,
 * 1 being the last axis. */
uint32_t vt_recurrent_slice(vt_builder *b, uint32_t x, uint32_t axis_from_end, int64_t from,
                            int64_t to);
/* Writes the part of x for direction `which`, 0 or 1, which is the index along its first axis of
 * length 2. */
uint32_t vt_recurrent_pick_direction(vt_builder *b, uint32_t x, uint32_t which);
/* Writes x reversed along its first axis. */
uint32_t vt_recurrent_reverse_time(vt_builder *b, uint32_t x);
/* Writes element `time` of the sequence x; `time` is the id of a scalar value. */
uint32_t vt_recurrent_element(vt_builder *b, uint32_t x, uint32_t time);
/* Writes the time step of a loop index: the index itself, or if `backwards` steps - 1 - index. */
uint32_t vt_recurrent_step_time(vt_builder *b, uint32_t index, int64_t steps, int backwards);
/* Writes the concatenation of n values along `axis`. */
uint32_t vt_recurrent_concat(vt_builder *b, const uint32_t *x, uint32_t n, int64_t axis);

/* Writes the loop over time. out[0] and out[1] are the last states. out[2] is y, or if
 * `collect_states` is set, out[2] and out[3] are the states after every step; y and these states
 * are in the order of time. */
void vt_recurrent_loop(const vt_direction *d, uint32_t p, int collect_states, uint32_t out[4]);
#endif
