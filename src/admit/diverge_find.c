/* SPDX-License-Identifier: Apache-2.0
 * diverge_find.c - the search for a divergence. It takes the graph that really ran, after all
 * passes, and runs it again with every value as an output. The operands of the first node whose
 * result differs agree, because they come before it. That node is run as a model of its own, a
 * subgraph, then with the ops before it. If no value differs in that run, the search tries the
 * groups that run as one launch, then the end of the graph, and at last the whole model. To try a
 * subgraph is to run it on both sides: the tested backend and the reference. */
#include <stdio.h>
#include <string.h>
#include "diverge_search.h"
#include "model.h"
#include "program.h"

/* Limits on the values that become outputs in one run. */
enum { MOST_OUTPUTS = 4096 };
static const uint64_t MOST_BYTES = UINT64_C(512) << 20;

/* How often the subgraph around a diverging node may grow; also the most consecutive nodes of a
 * group that are tried together. */
enum { FEW = 4 };

static vt_status no_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }
static vt_status fail_nothing_differs(vt_diag *d) { return VT_FAIL(d, VT_NAME, "nothing differs"); }

void vt_divergence_done(vt_divergence *x) {
  vt_arena_done(&x->arena);
  memset(x, 0, sizeof *x);
}

/* ---- the report ---- */

/* Stores the first differing output: its value on both sides, and the first element that
 * differs. */
static vt_status store_difference(vt_program *const p[VT_SIDES], uint32_t output,
                                  const vt_compare *c, vt_divergence *x, vt_diag *d) {
  char index[VT_INDEX_TEXT];
  const char *name;
  vt_tensor t;
  VT_TRY(vt_program_output(p[VT_TESTED], output, &name, &t, d));
  VT_TRY(vt_tensor_copy_to_arena(&t, &x->arena, &x->result, d));
  VT_TRY(vt_program_output(p[VT_REFERENCE], output, &name, &t, d));
  VT_TRY(vt_tensor_copy_to_arena(&t, &x->arena, &x->right, d));
  x->output = vt_arena_string(&x->arena, name, strlen(name));
  vt_position_print(&t, c->first, index);
  x->index = vt_arena_string(&x->arena, index, strlen(index));
  x->dtype = t.dtype;
  x->bits = c->first_a;
  x->expected = c->first_b;
  x->differing = c->differing;
  x->compared = c->compared;
  VT_TRY(vt_diverge_element_distance(&x->result, &x->right, c->first, &x->distance, d));
  return x->arena.failed ? no_memory(d) : VT_OK;
}

/* ---- trying one subgraph ---- */

/* Runs a model with the inputs of *out on both sides; VT_NAME if no output differs. */
static vt_status run_and_compare(const vt_diverge_pair *x, const vt_model *m, const char *passes,
                                 vt_divergence *out, vt_diag *d) {
  vt_input_table table = {out->n_inputs, out->names, out->inputs};
  const vt_value_source v = {vt_set_inputs_from_table, &table};
  vt_program *p[VT_SIDES];
  vt_compare c;
  uint32_t output;
  VT_TRY(vt_diverge_pair_run(x, m, passes, &v, p, d));
  vt_status s = vt_diverge_pair_compare(p, &output, &c, d);
  if (s == VT_OK && output == vt_program_outputs(p[VT_REFERENCE])) s = VT_NAME;
  if (s == VT_OK) s = store_difference(p, output, &c, out, d);
  vt_diverge_pair_free(p);
  return s;
}

/* Sets the model, op, signature and inputs of *out from a subgraph. */
static vt_status set_model_of_subgraph(const vt_diverge_pair *x, const vt_subgraph *p,
                                       const vt_value_source *v, vt_divergence *out, vt_diag *d) {
  vt_subgraph_model m;
  VT_TRY(vt_subgraph_write(p, &out->arena, &m, d));
  VT_TRY(vt_subgraph_describe(p, &out->arena, &out->op, &out->signature));
  out->model = m.text;
  out->n_inputs = m.n_inputs;
  out->names = m.names;
  out->inputs = VT_NEW_N(&out->arena, vt_tensor, m.n_inputs);
  if (out->inputs == NULL) return no_memory(d);
  return vt_diverge_reference_values(x, p->g, v, m.values, m.n_inputs, &out->arena, out->inputs, d);
}

/* Sets out->untried if the capability probes would refuse the backend, so that the model runs only
 * without them. */
static vt_status set_untried_if_probes_refuse(const vt_diverge_pair *x, const vt_model *m,
                                              const char *passes, vt_divergence *out, vt_diag *d) {
  vt_program *p = NULL;
  const vt_status s = vt_diverge_pair_new_program(x, VT_TESTED, m, passes, 0, &p, NULL);
  vt_program_free(p);
  out->untried = s != VT_OK;
  return s == VT_NOMEM ? no_memory(d) : VT_OK;
}

/* Sets out->threads if the model diverges only with the number of threads that the caller set. */
static vt_status set_threads_if_they_matter(const vt_diverge_pair *x, const vt_model *m,
                                            const char *passes, vt_divergence *out, vt_diag *d) {
  vt_diverge_pair any = *x;
  if (x->side[VT_TESTED].threads == 0) return VT_OK;
  any.side[VT_TESTED].threads = 0;
  const vt_status s = run_and_compare(&any, m, passes, out, NULL);
  if (s != VT_OK) out->threads = x->side[VT_TESTED].threads;
  return s == VT_NOMEM ? no_memory(d) : VT_OK;
}

static vt_status run_subgraph(const vt_diverge_pair *x, const vt_subgraph *p,
                              const vt_value_source *v, const char *passes, vt_divergence *out,
                              vt_diag *d) {
  vt_model *m = NULL;
  VT_TRY(set_model_of_subgraph(x, p, v, out, d));
  VT_TRY(vt_model_parse(out->model, strlen(out->model), &x->a, &m, d));
  vt_status s = run_and_compare(x, m, passes, out, d);
  /* The subgraph agrees, but a pass may have removed the op, or folded it on the reference. */
  if (s == VT_NAME && passes == NULL) {
    passes = "bind,lower";
    s = run_and_compare(x, m, passes, out, d);
  }
  if (s == VT_OK) s = set_threads_if_they_matter(x, m, passes, out, d);
  if (s == VT_OK) s = set_untried_if_probes_refuse(x, m, passes, out, d);
  if (passes != NULL) out->passes = vt_arena_string(&out->arena, passes, strlen(passes));
  vt_model_free(m);
  return s == VT_OK && out->arena.failed ? no_memory(d) : s;
}

vt_status vt_subgraph_run_alone(const vt_diverge_pair *x, const vt_subgraph *p,
                                const vt_value_source *v, const char *passes, vt_divergence *out,
                                vt_diag *d) {
  vt_divergence found = {.isolated = 1};
  vt_diag why = {0};
  vt_arena_init(&found.arena, x->a);
  const vt_status s = run_subgraph(x, p, v, passes, &found, &why);
  if (s == VT_OK) {
    vt_divergence_done(out);
    *out = found;
    return VT_OK;
  }
  vt_divergence_done(&found);
  return s == VT_NOMEM ? no_memory(d) : VT_NAME; /* a subgraph that cannot run shows nothing */
}

/* ---- the first value that differs ---- */

/* The state of a search in one graph, which is a model's or a body's. */
typedef struct graph_search {
  const vt_diverge_pair *x;
  const vt_graph *g;
  const vt_value_source *v; /* values for the ports of the graph */
  vt_arena *scratch;
} graph_search;

static uint64_t bytes_of_value(const vt_graph *g, uint32_t value) {
  uint64_t count, bytes;
  const vt_status s = vt_type_size(&g->values[value].type, &count, &bytes, NULL);
  return s == VT_OK ? bytes : MOST_BYTES;
}

/* The number of values, starting at `first`, that one run can have as outputs; at least one. */
static uint32_t count_outputs_for_one_run(const vt_graph *g, const uint32_t *values, uint32_t n,
                                          uint32_t first) {
  uint64_t bytes = bytes_of_value(g, values[first]);
  uint32_t k = 1;
  while (first + k < n && k < MOST_OUTPUTS && bytes < MOST_BYTES)
    bytes += bytes_of_value(g, values[first + k++]);
  return k;
}

/* Writes the index in `values` of the first value that differs between the sides; n if all
 * agree. */
static vt_status find_first_differing_in_list(const graph_search *gs, const char *passes,
                                              const uint32_t *values, uint32_t n, uint32_t *out,
                                              vt_diag *d) {
  vt_model *m = NULL;
  vt_program *p[VT_SIDES];
  vt_compare c;
  VT_TRY(vt_model_with_outputs(gs->g, values, n, gs->x->a, &m, d));
  vt_status s = vt_diverge_pair_run(gs->x, m, passes, gs->v, p, d);
  if (s == VT_OK) {
    s = vt_diverge_pair_compare(p, out, &c, d);
    vt_diverge_pair_free(p);
  }
  vt_model_free(m);
  return s;
}

/* Finds the first differing value among the results of all nodes. With `groups`, groups run as one
 * launch and only results of their last nodes are compared. VT_NAME if no value differs. */
static vt_status find_first_differing_value(const graph_search *gs, int groups, uint32_t *out,
                                            vt_diag *d) {
  const vt_graph *g = gs->g;
  uint32_t *values = VT_NEW_N(gs->scratch, uint32_t, g->n_values), n = 0, found = 0;
  if (values == NULL) return no_memory(d);
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *node = &g->nodes[i];
    const int inner =
        node->group != 0 && i + 1 < g->n_nodes && g->nodes[i + 1].group == node->group;
    for (uint32_t k = 0; k < node->n_out && !(groups && inner); k++)
      values[n++] = node->first_out + k;
  }
  for (uint32_t at = 0, k; at < n; at += k) {
    k = count_outputs_for_one_run(g, values, n, at);
    VT_TRY(find_first_differing_in_list(gs, groups ? "bind,lower,dead,fuse" : "bind,lower,dead",
                                        values + at, k, &found, d));
    if (found == k) continue;
    *out = values[at + found];
    return VT_OK;
  }
  return VT_NAME;
}

/* ---- subgraphs around a node ---- */

/* Makes a subgraph of the nodes first .. last, whose results are those of the last one. */
static vt_status init_subgraph_of_nodes(vt_subgraph *p, const graph_search *gs, uint32_t first,
                                        uint32_t last, vt_diag *d) {
  const vt_graph *g = gs->g;
  const vt_node *n = &g->nodes[last];
  vt_result *results = VT_NEW_N(gs->scratch, vt_result, n->n_out);
  uint8_t *has = VT_NEW_N(gs->scratch, uint8_t, g->n_nodes);
  *p = (vt_subgraph){g, has, n->n_out, results, first, last};
  if (p->has == NULL || results == NULL) return no_memory(d);
  memset(p->has + first, 1, last - first + 1);
  for (uint32_t i = 0; i < n->n_out; i++) results[i] = (vt_result){NULL, n->first_out + i};
  return VT_OK;
}

/* Runs the subgraph, and as long as it does not diverge lets it grow by the nodes that it reads
 * from, up to `most` times. The number of levels added doubles each time. */
static vt_status try_with_predecessors(const graph_search *gs, vt_subgraph *p, uint32_t most,
                                       vt_divergence *out, vt_diag *d) {
  uint32_t by = 1;
  vt_status s = vt_subgraph_run_alone(gs->x, p, gs->v, NULL, out, d);
  for (uint32_t i = 0; s == VT_NAME && i < most; i++, by *= 2) {
    int grown = 0;
    for (uint32_t k = 0; k < by && vt_subgraph_add_producers(p, gs->scratch); k++) grown = 1;
    if (!grown) break;
    s = vt_subgraph_run_alone(gs->x, p, gs->v, NULL, out, d);
  }
  return s == VT_NAME && gs->scratch->failed ? no_memory(d) : s;
}

/* Tries the first diverging node, and then the bodies of that node. */
static vt_status try_first_node(const graph_search *gs, vt_divergence *out, vt_diag *d) {
  vt_subgraph part;
  uint32_t value;
  VT_TRY(find_first_differing_value(gs, 0, &value, d));
  const uint32_t node = gs->g->values[value].node;
  VT_TRY(init_subgraph_of_nodes(&part, gs, node, node, d));
  VT_TRY(try_with_predecessors(gs, &part, FEW, out, d));
  if (gs->g->nodes[node].n_body == 0) return VT_OK;
  const vt_status s = vt_diverge_find_in_body(gs->x, gs->g, node, gs->v, out, NULL);
  /* If the bodies do not diverge by themselves, *out is the op with its bodies. */
  return s == VT_NOMEM ? no_memory(d) : VT_OK;
}

/* Tries each sequence of 2 to FEW consecutive nodes of the group first .. last: a wrong fusion
 * often needs only two ops. */
static vt_status try_consecutive_nodes(const graph_search *gs, uint32_t first, uint32_t last,
                                       vt_divergence *out, vt_diag *d) {
  vt_status s = VT_NAME;
  for (uint32_t n = 2; s == VT_NAME && n <= FEW && n < last - first + 1; n++)
    for (uint32_t i = first; s == VT_NAME && i + n - 1 <= last; i++) {
      vt_subgraph part;
      VT_TRY(init_subgraph_of_nodes(&part, gs, i, i + n - 1, d));
      s = vt_subgraph_run_alone(gs->x, &part, gs->v, NULL, out, d);
    }
  return s;
}

/* Tries the first diverging group: first a few consecutive nodes of it, then all of it. */
static vt_status try_first_group(const graph_search *gs, vt_divergence *out, vt_diag *d) {
  const vt_graph *g = gs->g;
  vt_subgraph part;
  uint32_t value, any = 0;
  for (uint32_t i = 0; i < g->n_nodes; i++) any |= g->nodes[i].group;
  if (any == 0) return VT_NAME;
  VT_TRY(find_first_differing_value(gs, 1, &value, d));
  const uint32_t last = g->values[value].node;
  uint32_t first = last;
  while (g->nodes[last].group != 0 && first > 0 &&
         g->nodes[first - 1].group == g->nodes[last].group)
    first--;
  const vt_status s = try_consecutive_nodes(gs, first, last, out, d);
  if (s != VT_NAME) return s;
  VT_TRY(init_subgraph_of_nodes(&part, gs, first, last, d));
  return try_with_predecessors(gs, &part, FEW, out, d);
}

/* Errors other than VT_NOMEM in a run mean only that this attempt found nothing. */
vt_status vt_diverge_find_in_graph(const vt_diverge_pair *x, const vt_graph *g,
                                   const vt_value_source *v, vt_divergence *out, vt_diag *d) {
  vt_arena scratch;
  const graph_search gs = {x, g, v, &scratch};
  vt_arena_init(&scratch, x->a);
  vt_status s = try_first_node(&gs, out, NULL);
  if (s != VT_OK && s != VT_NOMEM) s = try_first_group(&gs, out, NULL);
  vt_arena_done(&scratch);
  if (s == VT_NOMEM) return no_memory(d);
  return s == VT_OK ? VT_OK : VT_NAME;
}

/* ---- the whole search ---- */

typedef struct search {
  vt_diverge_pair x;
  vt_value_source v;  /* sets the values of the caller's model */
  const char *passes; /* the caller's passes */
  vt_model *bound;    /* the model after the pass `bind` */
  vt_model *ran;      /* the model after all passes, which is what ran */
  const char *output; /* name of the first output that differs */
  vt_arena arena;     /* owns `output` and subgraphs */
  vt_divergence seen; /* the difference in the caller's model */
} search;

static const vt_result *find_result_by_name(const vt_graph *g, const char *name) {
  const vt_result *r = NULL;
  for (uint32_t i = 0; i < g->n_results; i++)
    if (strcmp(g->results[i].name, name) == 0) r = &g->results[i];
  return r;
}

/* Tries the node that makes the differing output, with more and more nodes before it, up to all
 * that it needs. */
static vt_status try_output_node(search *s, vt_divergence *out, vt_diag *d) {
  const vt_graph *g = s->ran->g;
  const graph_search gs = {&s->x, g, &s->v, &s->arena};
  const vt_result *r = find_result_by_name(g, s->output);
  vt_subgraph part;
  if (r == NULL || g->values[r->value].node == VT_NO_NODE) return VT_NAME;
  const uint32_t node = g->values[r->value].node;
  VT_TRY(init_subgraph_of_nodes(&part, &gs, node, node, d));
  VT_TRY(try_with_predecessors(&gs, &part, 32, out, d));
  uint32_t left = 0;
  for (uint32_t i = 0; i < g->n_nodes; i++) left += !part.has[i] && g->nodes[i].op != VT_OP_literal;
  out->isolated = left > 0;
  return VT_OK;
}

static vt_status make_subgraph_of_whole_model(search *s, const vt_result *r, vt_subgraph *out,
                                              vt_diag *d) {
  const vt_graph *g = s->bound->g;
  const uint32_t node = r == NULL ? VT_NO_NODE : g->values[r->value].node;
  if (node == VT_NO_NODE) return fail_nothing_differs(d); /* the output is a port: no node runs */
  *out = (vt_subgraph){
      g, VT_NEW_N(&s->arena, uint8_t, g->n_nodes), g->n_results, g->results, node, node};
  if (out->has == NULL) return no_memory(d);
  memset(out->has, 1, g->n_nodes);
  return VT_OK;
}

/* Uses the whole model, with parameters as inputs. It may agree this time, for instance if the
 * fault depends on earlier runs; then the difference of the first run is reported. */
static vt_status use_whole_model(search *s, vt_divergence *out, vt_diag *d) {
  vt_subgraph part;
  VT_TRY(make_subgraph_of_whole_model(s, find_result_by_name(s->bound->g, s->output), &part, d));
  vt_status status = vt_subgraph_run_alone(&s->x, &part, &s->v, s->passes, out, d);
  if (status == VT_NAME) {
    VT_TRY(set_model_of_subgraph(&s->x, &part, &s->v, &s->seen, d));
    VT_TRY(set_untried_if_probes_refuse(&s->x, s->bound, s->passes, &s->seen, d));
    s->seen.threads = s->x.side[VT_TESTED].threads;
    if (s->passes != NULL)
      s->seen.passes = vt_arena_string(&s->seen.arena, s->passes, strlen(s->passes));
    if (s->seen.arena.failed) return no_memory(d);
    *out = s->seen;
    memset(&s->seen, 0, sizeof s->seen);
    status = VT_OK;
  }
  out->isolated = 0;
  return status;
}

/* ---- the first run ---- */

static vt_status parse_text_after_pass(const search *s, const vt_program *p, const char *pass,
                                       vt_model **out, vt_diag *d) {
  const char *text = vt_program_pass_text(p, pass);
  if (text == NULL) return no_memory(d);
  return vt_model_parse(text, strlen(text), &s->x.a, out, d);
}

static vt_status store_first_run_if_differing(search *s, vt_program *const p[VT_SIDES],
                                              vt_diag *d) {
  vt_compare c;
  uint32_t output;
  VT_TRY(vt_diverge_pair_compare(p, &output, &c, d));
  if (output == vt_program_outputs(p[VT_REFERENCE])) return fail_nothing_differs(d);
  VT_TRY(store_difference(p, output, &c, &s->seen, d));
  s->output = vt_arena_string(&s->arena, s->seen.output, strlen(s->seen.output));
  if (s->output == NULL) return no_memory(d);
  const uint32_t last = vt_program_passes(p[VT_TESTED]) - 1;
  VT_TRY(parse_text_after_pass(s, p[VT_TESTED], "bind", &s->bound, d));
  return parse_text_after_pass(s, p[VT_TESTED], vt_program_pass(p[VT_TESTED], last), &s->ran, d);
}

/* Runs both sides with the caller's options, except those that could hide a difference
 * (init_options_of_pair). */
static vt_status make_first_run(search *s, const vt_model *m, vt_diag *d) {
  vt_program *p[VT_SIDES] = {NULL};
  vt_status status = VT_OK;
  for (int i = 0; status == VT_OK && i < VT_SIDES; i++) {
    status = vt_program_new_with_flags(m, &s->x.side[i], VT_PREPARE_UNTRIED, &p[i], d);
    if (status == VT_OK) status = vt_diverge_set_values_and_run(&s->v, p[i], d);
  }
  if (status == VT_OK) status = store_first_run_if_differing(s, p, d);
  vt_diverge_pair_free(p);
  return status;
}

static void init_options_of_pair(vt_diverge_pair *x, const vt_options *how) {
  vt_options o = vt_options_copy(how, &x->a);
  o.size = sizeof o;
  o.cache = NULL; /* a cached program has its last graph only, not the one after `bind` */
  o.progress = NULL;
  o.measure = 0;
  x->side[VT_TESTED] = x->side[VT_REFERENCE] = o;
  x->side[VT_REFERENCE].backend = "reference:0";
  x->side[VT_REFERENCE].policy = NULL;
  x->side[VT_REFERENCE].certificate = x->side[VT_REFERENCE].isa = NULL;
}

static void init_search(search *s, const vt_options *how, vt_divergence *found) {
  init_options_of_pair(&s->x, how);
  s->passes = s->x.side[VT_TESTED].passes;
  vt_arena_init(&s->arena, s->x.a);
  vt_arena_init(&s->seen.arena, s->x.a);
  vt_arena_init(&found->arena, s->x.a);
}

/* Frees the search and moves the result to *out. */
static vt_status finish_search(search *s, vt_status status, vt_divergence *found,
                               vt_divergence *out) {
  vt_divergence_done(&s->seen);
  vt_model_free(s->bound);
  vt_model_free(s->ran);
  vt_arena_done(&s->arena);
  if (status == VT_OK) {
    *out = *found;
  } else {
    vt_divergence_done(found);
  }
  return status;
}

vt_status vt_diverge_find(const vt_model *m, const vt_options *how, vt_diverge_set_values *give,
                          void *user, vt_divergence *out, vt_diag *d) {
  search s = {.v = {give, user}};
  vt_divergence found = {.isolated = 0};
  init_search(&s, how, &found);
  vt_status status = make_first_run(&s, m, d);
  if (status == VT_OK) {
    status = vt_diverge_find_in_graph(&s.x, s.ran->g, &s.v, &found, d);
    if (status == VT_NAME) status = try_output_node(&s, &found, d);
    if (status == VT_NAME) status = use_whole_model(&s, &found, d);
  }
  return finish_search(&s, status, &found, out);
}

/* ---- a divergence without a search ---- */

static vt_status make_bound_model(search *s, const vt_model *m, vt_diag *d) {
  vt_options o = s->x.side[VT_REFERENCE];
  vt_program *p = NULL;
  o.passes = "bind,lower";
  VT_TRY(vt_program_new_with_flags(m, &o, VT_PREPARE_UNTRIED, &p, d));
  const vt_status status = parse_text_after_pass(s, p, "bind", &s->bound, d);
  vt_program_free(p);
  return status;
}

static vt_status make_divergence_of_whole_model(search *s, const vt_model *m, vt_divergence *out,
                                                vt_diag *d) {
  vt_subgraph part;
  const vt_result *r = NULL;
  VT_TRY(make_bound_model(s, m, d));
  for (uint32_t i = s->bound->g->n_results; i-- > 0;)
    if (s->bound->g->values[s->bound->g->results[i].value].node != VT_NO_NODE)
      r = &s->bound->g->results[i];
  VT_TRY(make_subgraph_of_whole_model(s, r, &part, d));
  out->output = out->index = "";
  return set_model_of_subgraph(&s->x, &part, &s->v, out, d);
}

vt_status vt_diverge_whole_model(const vt_model *m, const vt_options *how,
                                 vt_diverge_set_values *give, void *user, vt_divergence *out,
                                 vt_diag *d) {
  search s = {.v = {give, user}};
  vt_divergence found = {.isolated = 0};
  init_search(&s, how, &found);
  return finish_search(&s, make_divergence_of_whole_model(&s, m, &found, d), &found, out);
}
