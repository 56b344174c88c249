/* SPDX-License-Identifier: Apache-2.0
 * diverge_body.c - into the bodies of an op that parts: a body is closed, so it runs as a model of
 * its own, with what the op would hand it. A loop is followed turn by turn on values of the
 * reference, up to the first turn in which the two sides part. */
#include <string.h>
#include "diverge_parts.h"
#include "prepare.h"

typedef struct stage {
  const vt_diverge_pair *x;
  const vt_node *n;
  const vt_graph *body;
  uint32_t which; /* of the bodies */
  vt_arena keep;
  const vt_tensor *operands;
  int64_t turn;
  const char **names; /* of the arguments */
  vt_tensor *args;
  vt_program *p[VT_SIDES];
} stage;

static vt_status no_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* Element i along the first axis. */
static vt_status element_of(const vt_tensor *t, int64_t i, vt_tensor *out, vt_diag *d) {
  uint64_t count, bytes;
  vt_tensor one = {.dtype = t->dtype, .rank = t->rank - 1};
  memcpy(one.dim, t->dim + 1, one.rank * sizeof *one.dim);
  VT_TRY(vt_tensor_bytes(&one, &count, &bytes, d));
  one.data = (char *)t->data + (uint64_t)i * bytes;
  *out = one;
  return VT_OK;
}

/* What goes in at this turn. Carried values are in their place already, but at the first. */
static vt_status set_args(stage *s, vt_diag *d) {
  for (uint32_t i = 0; i < s->body->n_ports; i++) {
    uint32_t index = 0;
    const vt_arg_place place = vt_op_body_place(s->n->op, s->n->attrs, s->which, i, &index);
    if (place == VT_ARG_OWN && i == 0) {
      s->args[i] = (vt_tensor){.dtype = VT_DTYPE_I64, .data = &s->turn};
    } else if (place == VT_ARG_OWN) {
      VT_TRY(element_of(&s->operands[index], s->turn, &s->args[i], d));
    } else if (s->turn == 0 && place == VT_ARG_RESULT) {
      VT_TRY(vt_tensor_keep(&s->operands[index], &s->keep, &s->args[i], d));
    } else if (s->turn == 0) {
      s->args[i] = s->operands[index];
    }
  }
  return VT_OK;
}

/* The reference's results become what is carried; they have the same types. */
static vt_status carry(stage *s, vt_diag *d) {
  for (uint32_t i = 0; i < s->body->n_ports; i++) {
    uint32_t index = 0;
    uint64_t count, bytes;
    const char *name;
    vt_tensor t;
    if (vt_op_body_place(s->n->op, s->n->attrs, s->which, i, &index) != VT_ARG_RESULT) continue;
    VT_TRY(vt_program_output(s->p[VT_RIGHT], index, &name, &t, d));
    VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
    if (bytes > 0) memcpy(s->args[i].data, t.data, (size_t)bytes);
  }
  return VT_OK;
}

/* VT_OK with `args` as they are at the first turn that parts; VT_NAME when none does. */
static vt_status follow(stage *s, const vt_giver *v, vt_diag *d) {
  const int64_t turns =
      s->n->op == VT_OP_loop ? ((const vt_attr_loop *)s->n->attrs)->count : (int64_t)1;
  for (s->turn = 0; s->turn < turns; s->turn++) {
    uint32_t output;
    vt_compare c;
    VT_TRY(set_args(s, d));
    for (int i = 0; i < VT_SIDES; i++) VT_TRY(vt_diverge_pair_start(v, s->p[i], d));
    VT_TRY(vt_diverge_pair_compare(s->p, &output, &c, d));
    if (output < vt_program_outputs(s->p[VT_RIGHT])) return VT_OK;
    VT_TRY(carry(s, d));
  }
  return VT_NAME;
}

static vt_status perform(stage *s, const vt_giver *v, vt_diag *d) {
  uint32_t *values = VT_NEW_N(&s->keep, uint32_t, s->body->n_results);
  vt_model *m = NULL;
  if (values == NULL) return no_memory(d);
  for (uint32_t i = 0; i < s->body->n_results; i++) values[i] = s->body->results[i].value;
  VT_TRY(vt_outputs_model(s->body, values, s->body->n_results, s->x->a, &m, d));
  vt_status status = VT_OK;
  for (int i = 0; status == VT_OK && i < VT_SIDES; i++)
    status = vt_diverge_pair_make(s->x, i, m, "bind,lower", VT_PREPARE_UNTRIED, &s->p[i], d);
  if (status == VT_OK) status = follow(s, v, d);
  vt_diverge_pair_end(s->p);
  vt_model_free(m);
  return status;
}

static vt_status enter(stage *s, vt_divergence *out, vt_diag *d) {
  const vt_graph *body = s->body;
  s->names = VT_NEW_N(&s->keep, const char *, body->n_ports);
  s->args = VT_NEW_N(&s->keep, vt_tensor, body->n_ports);
  if (s->names == NULL || s->args == NULL) return no_memory(d);
  for (uint32_t i = 0; i < body->n_ports; i++) s->names[i] = body->ports[i].name;
  vt_given_table table = {body->n_ports, s->names, s->args};
  const vt_giver v = {vt_give_table, &table};
  VT_TRY(perform(s, &v, d));
  return vt_diverge_inside(s->x, body, &v, out, d);
}

vt_status vt_diverge_body(const vt_diverge_pair *x, const vt_graph *g, uint32_t node,
                          const vt_giver *v, vt_divergence *out, vt_diag *d) {
  stage s = {.x = x, .n = &g->nodes[node]};
  vt_arena_init(&s.keep, x->a);
  vt_tensor *operands = VT_NEW_N(&s.keep, vt_tensor, s.n->n_in);
  vt_status status = operands == NULL ? no_memory(d)
                                      : vt_diverge_pair_values(x, g, v, g->operands + s.n->first_in,
                                                               s.n->n_in, &s.keep, operands, d);
  s.operands = operands;
  if (status == VT_OK && s.n->n_body == 2) s.which = *(const uint8_t *)operands[0].data ? 0 : 1;
  if (status == VT_OK) s.body = s.n->body[s.which];
  if (status == VT_OK) status = enter(&s, out, d);
  vt_arena_done(&s.keep);
  return status;
}
