/* SPDX-License-Identifier: Apache-2.0
 * verify_shape.c - checks the parts of a plan that do not depend on the order of the steps or on
 * offsets. These are counts and indices, which nodes are steps, the place, class and size of every
 * value, and the list of transfers. The other verifiers start from its result (vt_verify_open). The
 * place of a value says where its bytes come from (vt_place). A bk step is a backend step. */
#include <string.h>
#include "vt_layout.h"
#include "vt_sort.h"
#include "vt_verify.h"

vt_status vt_verify_fail_value(const vt_verify *v, uint32_t value, const char *what) {
  char name[16];
  return VT_FAIL(v->d, VT_INTERNAL, "the plan %s '%s'", what, vt_value_name(v->p->g, value, name));
}

vt_status vt_verify_fail_step(const vt_verify *v, uint32_t step, const char *what) {
  return VT_FAIL(v->d, VT_INTERNAL, "step %u of the plan %s", step, what);
}

vt_status vt_verify_fail_memory(const vt_verify *v) {
  return VT_FAIL(v->d, VT_NOMEM, "out of memory");
}

static vt_status fail_plan(const vt_verify *v, const char *what) {
  return VT_FAIL(v->d, VT_INTERNAL, "the plan %s", what);
}

uint32_t vt_verify_arena_of_class(uint32_t class) {
  static const uint32_t arenas[VT_CLASS_COUNT] = {
#define VT_CLASS(name, arena, key, device, help) [VT_CLASS_##name] = VT_CLASS_##arena,
#include "classes.def"
#undef VT_CLASS
  };
  return arenas[class];
}

/* ---- places ---- */

static int is_operand(const vt_graph *g, const vt_node *n, uint32_t value) {
  for (uint32_t k = 0; k < n->n_in; k++)
    if (g->operands[n->first_in + k] == value) return 1;
  return 0;
}

/* Writes for a port of a body whether it has bytes of its own or aliases an operand or result of
 * the node around the body, and which. Any other value has bytes of its own. */
static vt_arg_place place_of_argument(const vt_verify *v, uint32_t value, uint32_t *out_index) {
  if (v->outer == NULL || !vt_verify_is_port(v, value)) return VT_ARG_OWN;
  const vt_node *n = vt_verify_node_of_step(v->outer, v->step);
  return vt_op_body_argument_place(n->op, n->attrs, v->which, v->p->g->values[value].index,
                                   out_index);
}

/* 1 if the graph allows the place that the value has. A view must be the only result of its node,
 * and view the node's only operand. */
static int place_is_allowed(const vt_verify *v, uint32_t value) {
  const vt_graph *g = v->p->g;
  const vt_buffer *b = &v->p->buffers[value];
  const vt_node *n = vt_verify_is_port(v, value) ? NULL : &g->nodes[g->values[value].node];
  uint32_t index;
  switch (b->place) {
    case VT_PLACE_OWN:
      return b->of == VT_NO_VALUE && place_of_argument(v, value, &index) == VT_ARG_OWN;
    case VT_PLACE_ARG:
      return b->of == VT_NO_VALUE && place_of_argument(v, value, &index) != VT_ARG_OWN;
    case VT_PLACE_VIEW:
      return n != NULL && n->n_in == 1 && n->n_out == 1 && g->operands[n->first_in] == b->of;
    case VT_PLACE_OVER:
      return n != NULL && (is_operand(g, n, b->of) || vt_verify_writes_state(v, value));
    default:
      return 0;
  }
}

vt_location vt_verify_argument_location(const vt_verify *v, uint32_t port) {
  const vt_node *n = vt_verify_node_of_step(v->outer, v->step);
  uint32_t index = 0;
  const vt_arg_place place = place_of_argument(v, port, &index);
  const uint32_t value =
      place == VT_ARG_RESULT ? n->first_out + index : v->outer->p->g->operands[n->first_in + index];
  return vt_verify_location(v->outer, v->step, value);
}

static int class_is_allowed(const vt_verify *v, uint32_t value, int result) {
  const vt_buffer *b = &v->p->buffers[value];
  const vt_value *x = &v->p->g->values[value];
  if (b->place == VT_PLACE_VIEW) return b->class == v->p->buffers[b->of].class;
  if (b->place == VT_PLACE_ARG) return b->class == vt_verify_argument_location(v, value).class;
  if (v->outer != NULL) return b->class == VT_CLASS_TEMP;
  if (x->node != VT_NO_NODE && result) return b->class == VT_CLASS_OUTPUT;
  if (b->place == VT_PLACE_OVER) return b->class == v->p->buffers[b->of].class;
  if (x->node != VT_NO_NODE) return b->class == VT_CLASS_TEMP;
  if (v->p->g->ports[x->index].kind == VT_PORT_STATE) return b->class == VT_CLASS_MODEL_STATE;
  if (v->p->g->ports[x->index].kind != VT_PORT_PARAM) return b->class == VT_CLASS_INPUT;
  return b->class == VT_CLASS_PARAM || b->class == VT_CLASS_HOST;
}

/* ---- sizes ---- */

/* Checks the strides, offset and bytes of a value. If it is a view, the viewed value has been
 * verified before. */
static vt_status verify_layout(const vt_verify *v, uint32_t value) {
  const vt_graph *g = v->p->g;
  const vt_buffer *b = &v->p->buffers[value];
  const vt_type *type = &g->values[value].type;
  vt_layout want;
  uint64_t count, bytes;
  if (vt_type_size(type, &count, &bytes, NULL) != VT_OK)
    return vt_verify_fail_value(v, value, "has a tensor that is too large:");
  vt_layout_dense(type, &want);
  if (b->place == VT_PLACE_VIEW) {
    const vt_node *n = &g->nodes[g->values[value].node];
    const vt_buffer *of = &v->p->buffers[b->of];
    vt_layout from = {.first = 0};
    memcpy(from.stride, of->stride, sizeof from.stride);
    if (!vt_op_result_view(n->op, n->attrs, &g->values[b->of].type, &from, type, &want))
      return vt_verify_fail_value(v, value, "has a view that its op does not allow:");
    bytes = vt_layout_span_bytes(type, &want);
    if (b->offset - of->offset != want.first * vt_dtype_bytes(type->dtype))
      return vt_verify_fail_value(v, value, "misplaces the first element of the view");
  }
  if (memcmp(b->stride, want.stride, sizeof want.stride) != 0)
    return vt_verify_fail_value(v, value, "misstates the strides of");
  return b->bytes == bytes ? VT_OK : vt_verify_fail_value(v, value, "misstates the size of");
}

/* ---- values ---- */

static vt_status verify_shape_of_value(vt_verify *v, uint32_t value, int result) {
  const vt_buffer *b = &v->p->buffers[value];
  if (b->value != value) return vt_verify_fail_value(v, value, "has another value at the index of");
  if (!place_is_allowed(v, value)) return vt_verify_fail_value(v, value, "misstates the place of");
  v->root[value] = b->place == VT_PLACE_VIEW ? v->root[b->of] : value;
  if (result && b->place == VT_PLACE_VIEW)
    return vt_verify_fail_value(v, value, "keeps no bytes of its own for the result");
  if (!class_is_allowed(v, value, result))
    return vt_verify_fail_value(v, value, "misstates the class of");
  return verify_layout(v, value);
}

/* Verifies all values: ports come first, then nodes in order, so that a viewed value is verified
 * before its view. */
static vt_status verify_values(vt_verify *v) {
  const vt_graph *g = v->p->g;
  uint8_t *result = VT_NEW_N(v->scratch, uint8_t, g->n_values);
  v->root = VT_NEW_N(v->scratch, uint32_t, g->n_values);
  if (result == NULL || v->root == NULL) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < g->n_results; i++) result[g->results[i].value] = 1;
  for (uint32_t i = 0; i < g->n_ports; i++)
    VT_TRY(verify_shape_of_value(v, g->ports[i].value, result[g->ports[i].value]));
  for (uint32_t i = 0; i < g->n_nodes; i++)
    for (uint32_t k = 0; k < g->nodes[i].n_out; k++)
      VT_TRY(
          verify_shape_of_value(v, g->nodes[i].first_out + k, result[g->nodes[i].first_out + k]));
  return VT_OK;
}

/* ---- steps ---- */

static int is_node_of_view(const vt_plan *p, const vt_node *n) {
  return n->n_out == 1 && p->buffers[n->first_out].place == VT_PLACE_VIEW;
}

static vt_status verify_bodies_of_step(const vt_verify *v, uint32_t step) {
  const vt_node *n = vt_verify_node_of_step(v, step);
  const vt_nested *nested = &v->p->nested[step];
  int fits =
      nested->n == n->n_body && (n->n_body > 0 || (nested->offset == 0 && nested->bytes == 0));
  for (uint32_t k = 0; fits && k < VT_MAX_BODIES; k++)
    fits = k < n->n_body ? nested->plan[k] != NULL && nested->plan[k]->g == n->body[k]
                         : nested->plan[k] == NULL;
  if (!fits) return vt_verify_fail_step(v, step, "has other bodies than its node");
  for (uint32_t k = 0; k < n->n_in && n->n_body > 0; k++)
    if (v->p->buffers[v->p->g->operands[n->first_in + k]].place == VT_PLACE_VIEW)
      return vt_verify_fail_step(v, step, "has bodies and reads a view");
  return VT_OK;
}

/* Every node must be exactly one step, except that a node of a view is not a step. */
static vt_status verify_steps(vt_verify *v) {
  const vt_plan *p = v->p;
  uint32_t n = 0;
  v->step_of = VT_NEW_N(v->scratch, uint32_t, p->g->n_nodes);
  if (v->step_of == NULL) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < p->g->n_nodes; i++) {
    v->step_of[i] = VT_NO_STEP;
    n += !is_node_of_view(p, &p->g->nodes[i]);
  }
  if (p->n_steps != n || (n > 0 && (p->step_node == NULL || p->nested == NULL)))
    return fail_plan(v, "has another number of steps than its graph");
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t node = p->step_node[i];
    if (node >= p->g->n_nodes || v->step_of[node] != VT_NO_STEP ||
        is_node_of_view(p, &p->g->nodes[node]))
      return vt_verify_fail_step(v, i, "has no node of its own");
    v->step_of[node] = i;
    VT_TRY(verify_bodies_of_step(v, i));
  }
  return VT_OK;
}

/* ---- transfers ---- */

/* Checks that the next transfer is `want` and advances *checked, the number of transfers checked.
 * The offset of an upload is not checked here: `want` has VT_NO_OFFSET then. */
static vt_status expect_transfer(const vt_verify *v, const vt_transfer *want, uint32_t *checked) {
  if (*checked >= v->p->n_transfers)
    return vt_verify_fail_value(v, want->value, "lacks a transfer of");
  const vt_transfer *t = &v->p->transfers[*checked];
  if (t->value != want->value || t->direction != want->direction || t->step != want->step ||
      t->class != want->class || t->bytes != want->bytes ||
      (want->offset != VT_NO_OFFSET && t->offset != want->offset))
    return vt_verify_fail_value(v, want->value, "misstates a transfer of");
  (*checked)++;
  return VT_OK;
}

/* Expects the transfer of an input or a result, unless it has no bytes or stays in host memory. */
static vt_status expect_port_transfer(const vt_verify *v, uint32_t value, uint32_t direction,
                                      uint32_t step, uint32_t *checked) {
  const vt_buffer *b = &v->p->buffers[value];
  if (b->bytes == 0 || b->class == VT_CLASS_HOST) return VT_OK;
  const vt_transfer want = {value, direction, step, b->class, b->offset, b->bytes};
  return expect_transfer(v, &want, checked);
}

static int by_number(const void *a, const void *b, const void *context) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  (void)context;
  return x < y ? -1 : x > y;
}

typedef struct upload_list { /* the streamed parameters that a step or group reads */
  uint32_t *port, n;         /* their ports, and the number of ports */
  uint32_t *seen;            /* by port: 1 + the last step in whose list the port was */
} upload_list;

/* Adds the streamed parameters that step `member` of a group reads; the group starts at step
 * `step`. */
static void add_streamed_params(const vt_verify *v, uint32_t step, uint32_t member,
                                upload_list *list) {
  const vt_node *n = vt_verify_node_of_step(v, member);
  for (uint32_t k = 0; k < n->n_in; k++) {
    const uint32_t root = v->root[v->p->g->operands[n->first_in + k]];
    if (v->p->buffers[root].class != VT_CLASS_HOST || v->p->buffers[root].bytes == 0) continue;
    const uint32_t port = v->p->g->values[root].index;
    if (list->seen[port] == step + 1) continue;
    list->seen[port] = step + 1;
    list->port[list->n++] = port;
  }
}

static vt_status expect_uploads(const vt_verify *v, uint32_t step, upload_list *list,
                                uint32_t *checked) {
  const vt_graph *g = v->p->g;
  list->n = 0;
  /* The uploads of a group are listed before its first step. */
  if (vt_verify_group_first(v, step) != step) return VT_OK;
  for (uint32_t i = step; i <= vt_verify_group_last(v, step); i++)
    add_streamed_params(v, step, i, list);
  if (vt_sort(list->port, list->n, sizeof *list->port, by_number, NULL, v->scratch->a) != VT_OK)
    return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < list->n; i++) {
    const uint32_t value = g->ports[list->port[i]].value;
    const vt_transfer want = {value,         VT_TO_DEVICE, step,
                              VT_CLASS_TEMP, VT_NO_OFFSET, v->p->buffers[value].bytes};
    VT_TRY(expect_transfer(v, &want, checked));
  }
  return VT_OK;
}

/* Transfers are inputs, then uploads step by step, then results. The plan of a body has no
 * transfers, because the step around it has all that the body reads in device memory. */
static vt_status verify_transfers(vt_verify *v) {
  const vt_plan *p = v->p;
  const vt_graph *g = p->g;
  upload_list list = {VT_NEW_N(v->scratch, uint32_t, g->n_ports), 0,
                      VT_NEW_N(v->scratch, uint32_t, g->n_ports)};
  uint32_t at = 0;
  v->first_upload = VT_NEW_N(v->scratch, uint32_t, (size_t)p->n_steps + 1);
  if (list.port == NULL || list.seen == NULL || v->first_upload == NULL)
    return vt_verify_fail_memory(v);
  if (p->n_transfers > 0 && p->transfers == NULL) return fail_plan(v, "lacks its transfers");
  for (uint32_t i = 0; v->outer == NULL && i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_INPUT)
      VT_TRY(expect_port_transfer(v, g->ports[i].value, VT_TO_DEVICE, 0, &at));
  for (uint32_t i = 0; i < p->n_steps; i++) {
    v->first_upload[i] = at;
    VT_TRY(expect_uploads(v, i, &list, &at));
  }
  v->first_upload[p->n_steps] = at;
  for (uint32_t i = 0; v->outer == NULL && i < g->n_results; i++)
    VT_TRY(expect_port_transfer(v, g->results[i].value, VT_FROM_DEVICE, p->n_steps, &at));
  return at == p->n_transfers ? VT_OK
                              : fail_plan(v, "has transfers that its graph does not ask for");
}

/* The upload of a streamed parameter for a step, or NULL. The uploads of a step are listed in the
 * order of the ports. */
static const vt_transfer *find_upload(const vt_verify *v, uint32_t step, uint32_t value) {
  const vt_graph *g = v->p->g;
  const uint32_t first = vt_verify_group_first(v, step);
  uint32_t lo = v->first_upload[first], hi = v->first_upload[first + 1];
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    const vt_transfer *t = &v->p->transfers[mid];
    if (t->value == value) return t;
    if (g->values[t->value].index < g->values[value].index) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return NULL;
}

/* Where the value is while the step runs. A value without bytes has no upload, so its offset does
 * not matter. */
vt_location vt_verify_location(const vt_verify *v, uint32_t step, uint32_t value) {
  const vt_buffer *b = &v->p->buffers[value];
  if (b->class != VT_CLASS_HOST) return (vt_location){b->class, b->offset};
  const vt_transfer *t = find_upload(v, step, v->root[value]);
  const uint64_t from_start = b->offset - v->p->buffers[v->root[value]].offset;
  return (vt_location){VT_CLASS_TEMP, (t == NULL ? 0 : t->offset) + from_start};
}

/* ---- backend steps ---- */

int vt_verify_needs_copy(const vt_verify *v, uint32_t value) {
  const vt_buffer *b = &v->p->buffers[value];
  vt_layout l = {.first = 0};
  if (v->p->dense_only == 0 || b->place != VT_PLACE_VIEW) return 0;
  memcpy(l.stride, b->stride, sizeof l.stride);
  return !vt_layout_is_dense(&v->p->g->values[value].type, &l);
}

typedef struct bk_step_list {
  vt_verify *v;
  uint8_t *copied; /* by value: 1 once its dense copy is listed */
  uint32_t *chain; /* scratch: a view, the view that it reads, and so on */
} bk_step_list;

static void add_bk_step(vt_verify *v, uint32_t node, uint32_t step) {
  v->bk_step_node[v->n_bk_steps] = node;
  v->bk_step_owner[v->n_bk_steps++] = step;
}

/* Lists the dense copy of a view before the first step that reads the view, and after the copy of
 * the view that it reads itself. */
static void add_dense_copies(const bk_step_list *list, uint32_t value, uint32_t step) {
  vt_verify *v = list->v;
  uint32_t n = 0;
  while (vt_verify_needs_copy(v, value) && !list->copied[value]) {
    list->copied[value] = 1;
    list->chain[n++] = value;
    value = v->p->buffers[value].of;
  }
  while (n-- > 0) add_bk_step(v, v->p->g->values[list->chain[n]].node, step);
}

static vt_status list_bk_steps(vt_verify *v) {
  const vt_graph *g = v->p->g;
  const bk_step_list list = {v, VT_NEW_N(v->scratch, uint8_t, g->n_values),
                             VT_NEW_N(v->scratch, uint32_t, g->n_values)};
  v->bk_step_node = VT_NEW_N(v->scratch, uint32_t, g->n_nodes);
  v->bk_step_owner = VT_NEW_N(v->scratch, uint32_t, g->n_nodes);
  if (vt_arena_status(v->scratch) != VT_OK) return vt_verify_fail_memory(v);
  for (uint32_t i = 0; i < v->p->n_steps; i++) {
    const vt_node *n = vt_verify_node_of_step(v, i);
    for (uint32_t k = 0; k < n->n_in; k++) add_dense_copies(&list, g->operands[n->first_in + k], i);
    add_bk_step(v, v->p->step_node[i], i);
  }
  if (v->p->n_bk_steps != v->n_bk_steps ||
      (v->n_bk_steps > 0 && (v->p->bk_steps == NULL || v->p->bk_step_node == NULL)))
    return fail_plan(v, "has another number of backend steps than its steps and views need");
  return VT_OK;
}

/* ---- opening a plan ---- */

static vt_status verify_shape_of_plan(vt_verify *v) {
  const vt_plan *p = v->p, *around = v->outer == NULL ? p : v->outer->p;
  if (p->g == NULL || p->n_buffers != p->g->n_values ||
      (p->n_buffers > 0 && (p->buffers == NULL || p->dense == NULL)))
    return fail_plan(v, "does not have the values of its graph");
  if (p->schedule > VT_SCHEDULE_MEMORY || p->schedule != around->schedule)
    return fail_plan(v, "has an invalid schedule");
  if (p->safe_state > (v->outer == NULL)) return fail_plan(v, "has an invalid mode of its states");
  if (p->dense_only > 1 || p->dense_only != around->dense_only ||
      (p->fingerprint == NULL) != (v->outer != NULL))
    return fail_plan(v, "has an invalid target");
  VT_TRY(verify_values(v));
  VT_TRY(verify_steps(v));
  VT_TRY(verify_transfers(v));
  return list_bk_steps(v);
}

vt_status vt_verify_open(vt_verify *v, const vt_plan *p, vt_arena *scratch, vt_diag *d) {
  *v = (vt_verify){.p = p, .scratch = scratch, .d = d};
  return verify_shape_of_plan(v);
}

vt_status vt_verify_open_body(vt_verify *v, const vt_verify *outer, uint32_t step, uint32_t which) {
  *v = (vt_verify){.p = outer->p->nested[step].plan[which],
                   .outer = outer,
                   .step = step,
                   .which = which,
                   .scratch = outer->scratch,
                   .d = outer->d};
  return verify_shape_of_plan(v);
}
