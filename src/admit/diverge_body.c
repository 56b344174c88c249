/* SPDX-License-Identifier: Apache-2.0
 * diverge_body.c - searches the bodies of a diverging op. A body reads nothing from outside, so it
 * runs as a model with the arguments that the op would pass. A loop runs iteration by iteration on
 * values of the reference, up to the first iteration in which the two sides differ. The sides are
 * the tested backend and the reference. */
#include <string.h>
#include "diverge_search.h"
#include "prepare.h"

typedef struct body_run {
  const vt_diverge_pair *x;
  const vt_node *n;          /* the node with the body */
  const vt_graph *body;      /* the body that runs */
  uint32_t which;            /* index of `body` among the bodies of the node */
  vt_arena keep;             /* owns operands and arguments */
  const vt_tensor *operands; /* operands of the node, computed by the reference */
  int64_t iteration;         /* current iteration of a loop */
  const char **names;        /* names of the body's arguments */
  vt_tensor *args;           /* values of the arguments in this iteration */
  vt_program *p[VT_SIDES];   /* the programs that run the body, one for each side */
} body_run;

static vt_status no_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* The slice at index `i` of the first axis of `t`, without a copy. */
static vt_status slice_of_first_axis(const vt_tensor *t, int64_t i, vt_tensor *out, vt_diag *d) {
  uint64_t count, bytes;
  vt_tensor one = {.dtype = t->dtype, .rank = t->rank - 1};
  memcpy(one.dim, t->dim + 1, one.rank * sizeof *one.dim);
  VT_TRY(vt_tensor_bytes(&one, &count, &bytes, d));
  one.data = (char *)t->data + (uint64_t)i * bytes;
  *out = one;
  return VT_OK;
}

/* Sets the arguments of this iteration. Carried values are set from the loop's operands in the
 * first iteration only; later copy_results_to_carried_args has updated them. */
static vt_status set_args_of_iteration(body_run *s, vt_diag *d) {
  for (uint32_t i = 0; i < s->body->n_ports; i++) {
    uint32_t index = 0;
    const vt_arg_place place =
        vt_op_body_argument_place(s->n->op, s->n->attrs, s->which, i, &index);
    if (place == VT_ARG_OWN && i == 0) {
      s->args[i] = (vt_tensor){.dtype = VT_DTYPE_I64, .data = &s->iteration};
    } else if (place == VT_ARG_OWN) {
      VT_TRY(slice_of_first_axis(&s->operands[index], s->iteration, &s->args[i], d));
    } else if (s->iteration == 0 && place == VT_ARG_RESULT) {
      VT_TRY(vt_tensor_copy_to_arena(&s->operands[index], &s->keep, &s->args[i], d));
    } else if (s->iteration == 0) {
      s->args[i] = s->operands[index];
    }
  }
  return VT_OK;
}

/* Copies the reference's results to the carried arguments, which have the same types. */
static vt_status copy_results_to_carried_args(body_run *s, vt_diag *d) {
  for (uint32_t i = 0; i < s->body->n_ports; i++) {
    uint32_t index = 0;
    uint64_t count, bytes;
    const char *name;
    vt_tensor t;
    if (vt_op_body_argument_place(s->n->op, s->n->attrs, s->which, i, &index) != VT_ARG_RESULT)
      continue;
    VT_TRY(vt_program_output(s->p[VT_REFERENCE], index, &name, &t, d));
    VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
    if (bytes > 0) memcpy(s->args[i].data, t.data, (size_t)bytes);
  }
  return VT_OK;
}

/* Runs iterations until the results of one differ: VT_OK, with the arguments of that iteration in
 * `args`. VT_NAME if all iterations agree. */
static vt_status find_differing_iteration(body_run *s, const vt_value_source *v, vt_diag *d) {
  const int64_t iterations =
      s->n->op == VT_OP_loop ? ((const vt_attr_loop *)s->n->attrs)->count : (int64_t)1;
  for (s->iteration = 0; s->iteration < iterations; s->iteration++) {
    uint32_t output;
    vt_compare c;
    VT_TRY(set_args_of_iteration(s, d));
    for (int i = 0; i < VT_SIDES; i++) VT_TRY(vt_diverge_set_values_and_run(v, s->p[i], d));
    VT_TRY(vt_diverge_pair_compare(s->p, &output, &c, d));
    if (output < vt_program_outputs(s->p[VT_REFERENCE])) return VT_OK;
    VT_TRY(copy_results_to_carried_args(s, d));
  }
  return VT_NAME;
}

/* Creates the body's programs on both sides and finds the iteration that differs. */
static vt_status run_body_on_both_sides(body_run *s, const vt_value_source *v, vt_diag *d) {
  uint32_t *values = VT_NEW_N(&s->keep, uint32_t, s->body->n_results);
  vt_model *m = NULL;
  if (values == NULL) return no_memory(d);
  for (uint32_t i = 0; i < s->body->n_results; i++) values[i] = s->body->results[i].value;
  VT_TRY(vt_model_with_outputs(s->body, values, s->body->n_results, s->x->a, &m, d));
  vt_status status = VT_OK;
  for (int i = 0; status == VT_OK && i < VT_SIDES; i++)
    status = vt_diverge_pair_new_program(s->x, i, m, "bind,lower", VT_PREPARE_UNTRIED, &s->p[i], d);
  if (status == VT_OK) status = find_differing_iteration(s, v, d);
  vt_diverge_pair_free(s->p);
  vt_model_free(m);
  return status;
}

static vt_status search_body(body_run *s, vt_divergence *out, vt_diag *d) {
  const vt_graph *body = s->body;
  s->names = VT_NEW_N(&s->keep, const char *, body->n_ports);
  s->args = VT_NEW_N(&s->keep, vt_tensor, body->n_ports);
  if (s->names == NULL || s->args == NULL) return no_memory(d);
  for (uint32_t i = 0; i < body->n_ports; i++) s->names[i] = body->ports[i].name;
  vt_input_table table = {body->n_ports, s->names, s->args};
  const vt_value_source v = {vt_set_inputs_from_table, &table};
  VT_TRY(run_body_on_both_sides(s, &v, d));
  return vt_diverge_find_in_graph(s->x, body, &v, out, d);
}

vt_status vt_diverge_find_in_body(const vt_diverge_pair *x, const vt_graph *g, uint32_t node,
                                  const vt_value_source *v, vt_divergence *out, vt_diag *d) {
  body_run s = {.x = x, .n = &g->nodes[node]};
  vt_arena_init(&s.keep, x->a);
  vt_tensor *operands = VT_NEW_N(&s.keep, vt_tensor, s.n->n_in);
  vt_status status = operands == NULL
                         ? no_memory(d)
                         : vt_diverge_reference_values(x, g, v, g->operands + s.n->first_in,
                                                       s.n->n_in, &s.keep, operands, d);
  s.operands = operands;
  if (status == VT_OK && s.n->n_body == 2) s.which = *(const uint8_t *)operands[0].data ? 0 : 1;
  if (status == VT_OK) s.body = s.n->body[s.which];
  if (status == VT_OK) status = search_body(&s, out, d);
  vt_arena_done(&s.keep);
  return status;
}
