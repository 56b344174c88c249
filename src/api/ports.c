/* SPDX-License-Identifier: Apache-2.0
 * ports.c - sets the inputs and parameters of a program: to the caller's values, to an output of
 * another program, to the results of the initialisers, which run through the pipeline, or to random
 * values. A port is an input or a parameter. */
#include <stdio.h>
#include <string.h>
#include "program.h"
#include "vt_fpenv.h"
#include "vt_num.h"

static vt_status fail_out_of_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

static vt_status find_port(const vt_program *p, uint32_t kind, const char *name, uint32_t *out,
                           vt_diag *d) {
  for (uint32_t i = 0; i < p->g->n_ports; i++)
    if (p->g->ports[i].kind == kind && strcmp(p->g->ports[i].name, name) == 0) {
      *out = i;
      return VT_OK;
    }
  return VT_FAIL(d, VT_NAME, "the model has no %s '%.100s'",
                 kind == VT_PORT_INPUT ? "input" : "param", name);
}

static vt_status check_type_and_shape(const vt_program *p, uint32_t port, const vt_tensor *t,
                                      vt_diag *d) {
  const vt_type *want = &p->g->values[p->g->ports[port].value].type;
  vt_type have = {.dtype = t->dtype, .rank = t->rank};
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (t->rank <= VT_MAX_RANK) memcpy(have.dim, t->dim, t->rank * sizeof *t->dim);
  if (t->rank <= VT_MAX_RANK && vt_type_equal(&have, want)) return VT_OK;
  have.rank = t->rank <= VT_MAX_RANK ? t->rank : 0;
  return VT_FAIL(d, VT_TENSOR, "'%s' is %s, the model declares %s", p->g->ports[port].name,
                 vt_type_text(&p->g->dims, &have, x), vt_type_text(&p->g->dims, want, y));
}

/* Fails if an element is outside the range that the input declares, so that a bad index is reported
 * with its input before any step uses it. */
static vt_status check_declared_range(const vt_program *p, uint32_t port, const void *data,
                                      uint64_t n, vt_diag *d) {
  const vt_port *x = &p->g->ports[port];
  const uint32_t dtype = p->g->values[x->value].type.dtype;
  if (!x->has_range) return VT_OK;
  for (uint64_t i = 0; i < n; i++) {
    int64_t v;
    vt_cast((const char *)data + i * vt_dtype_bytes(dtype), 1, dtype, &v, 1, VT_DTYPE_I64, 1);
    if (v < x->lo || v > x->hi)
      return VT_FAIL(d, VT_RANGE, "input '%s' holds %lld at position %llu, outside %lld..%lld",
                     x->name, (long long)v, (unsigned long long)i, (long long)x->lo,
                     (long long)x->hi);
  }
  return VT_OK;
}

/* Sets the port to `n` elements, which must be aligned and have no NaN but the canonical one. */
static vt_status write_canonical_data(vt_program *p, uint32_t port, const void *data, uint64_t n,
                                      vt_diag *d) {
  VT_TRY(check_declared_range(p, port, data, n, d));
  VT_TRY(vt_exec_write(p->line.exec, p->g->ports[port].value, data, d));
  p->given[port] = 1;
  return VT_OK;
}

/* The caller's data is copied only if it is unaligned or has an element that must become
 * canonical. */
vt_status vt_program_write(vt_program *p, uint32_t port, const vt_tensor *t, vt_diag *d) {
  uint64_t count, bytes;
  VT_TRY(check_type_and_shape(p, port, t, d));
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, d));
  if (bytes > 0 && t->data == NULL)
    return VT_FAIL(d, VT_TENSOR, "the tensor for '%s' has no data", p->g->ports[port].name);
  const int aligned = (uintptr_t)t->data % vt_dtype_bytes(t->dtype) == 0;
  if (bytes > 0 && aligned && vt_is_canonical(t->data, t->dtype, count))
    return write_canonical_data(p, port, t->data, count, d);
  if (bytes > SIZE_MAX - 1) return fail_out_of_memory(d);
  void *copy = vt_alloc_new(p->a, (size_t)bytes + 1);
  if (copy == NULL) return fail_out_of_memory(d);
  if (bytes > 0) memcpy(copy, t->data, (size_t)bytes);
  vt_canonical(copy, t->dtype, count);
  const vt_status s = write_canonical_data(p, port, copy, count, d);
  vt_alloc_free(p->a, copy, (size_t)bytes + 1);
  return s;
}

vt_status vt_program_set_input(vt_program *p, const char *name, const vt_tensor *t, vt_diag *d) {
  uint32_t port;
  VT_TRY(find_port(p, VT_PORT_INPUT, name, &port, d));
  return vt_program_write(p, port, t, d);
}

vt_status vt_program_feed(vt_program *p, const char *input, vt_program *from, uint32_t output,
                          vt_diag *d) {
  const char *name;
  vt_tensor t;
  const int mixed = !vt_device_same_backend(p->dev, from->dev);
  VT_TRY(vt_program_output(from, output, &name, &t, d));
  if (mixed && p->terms.policy.mixed_path != VT_MIXED_PATH_ALLOWED)
    return VT_FAIL(d, VT_UNSUPPORTED,
                   "'%s' on %s would take '%s' from %s: the policy does not allow a mixed path",
                   input, vt_device_name(p->dev), name, vt_device_name(from->dev));
  VT_TRY(vt_program_set_input(p, input, &t, d));
  p->mixed |= mixed;
  return VT_OK;
}

/* Weights never change under the programs that share them. */
static vt_status check_own_params(const vt_program *p, vt_diag *d) {
  if (p->line.weights == NULL) return VT_OK;
  return VT_FAIL(d, VT_USAGE,
                 "the parameters of this program are shared weights, which cannot be set");
}

vt_status vt_program_set_param(vt_program *p, const char *name, const vt_tensor *t, vt_diag *d) {
  uint32_t port;
  VT_TRY(check_own_params(p, d));
  VT_TRY(find_port(p, VT_PORT_PARAM, name, &port, d));
  return vt_program_write(p, port, t, d);
}

vt_status vt_program_get_param(vt_program *p, const char *name, vt_tensor *out, vt_diag *d) {
  uint32_t port;
  VT_TRY(find_port(p, VT_PORT_PARAM, name, &port, d));
  const uint32_t value = p->g->ports[port].value;
  if (out->data == NULL) {
    *out = vt_tensor_without_data(&p->g->values[value].type);
    return VT_OK;
  }
  if (!p->given[port]) return VT_FAIL(d, VT_NAME, "the param '%s' has no value", name);
  VT_TRY(check_type_and_shape(p, port, out, d));
  return vt_exec_read(p->line.exec, value, out->data, d);
}

/* ---- initialisers ---- */

/* Sets one param of the program to a result of the initialisers. */
static vt_status set_initial_param(vt_program *p, vt_pipeline *init, const vt_result *r,
                                   uint32_t port, vt_diag *d) {
  const uint64_t bytes = init->plan->buffers[r->value].bytes;
  if (bytes > SIZE_MAX - 1) return fail_out_of_memory(d);
  vt_tensor t = vt_tensor_without_data(&p->g->values[p->g->ports[port].value].type);
  t.data = vt_alloc_new(p->a, (size_t)bytes + 1);
  if (t.data == NULL) return fail_out_of_memory(d);
  vt_status s = vt_exec_read(init->exec, r->value, t.data, d);
  if (s == VT_OK) s = vt_program_write(p, port, &t, d);
  vt_alloc_free(p->a, t.data, (size_t)bytes + 1);
  return s;
}

static int has_initialiser(const vt_port *x) { return x->kind == VT_PORT_PARAM && x->init != 0; }

/* 1 if only the caller can give the port a value, and has not. */
static int must_be_given(const vt_program *p, uint32_t port) {
  const vt_port *x = &p->g->ports[port];
  return x->kind == VT_PORT_PARAM && x->init == 0 && !p->given[port];
}

/* Fails if a param has neither an initialiser nor a value. The message lists as many of them as fit
 * and counts the others. */
static vt_status check_params_without_init(const vt_program *p, vt_diag *d) {
  enum { MOST = 300 }; /* bytes of names: the message has space for them and for the number */
  char list[MOST + 32] = "";
  size_t at = 0;
  uint32_t others = 0;
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const char *name = p->g->ports[i].name;
    if (!must_be_given(p, i)) continue;
    if (others > 0 || at + strlen(name) + sizeof ", ''" > MOST)
      others++;
    else
      at += (size_t)snprintf(list + at, MOST - at, "%s'%s'", at == 0 ? "" : ", ", name);
  }
  if (at == 0 && others == 0) return VT_OK;
  if (others > 0) (void)snprintf(list + at, sizeof list - at, " and %u more", others);
  const vt_status s =
      VT_FAIL(d, VT_NAME, "parameters without an initialiser must be given a value: %s", list);
  if (d != NULL && d->hint[0] == 0) (void)snprintf(d->hint, sizeof d->hint, "give --params FILE");
  return s;
}

/* Runs the initialisers and sets the params that have one. */
static vt_status run_initialisers(vt_program *p, vt_pipeline *init, vt_diag *d) {
  const vt_graph *g = vt_pipeline_final_graph(init);
  vt_watch watch = {p, "parameters"};
  vt_program_watch_progress(&watch, init->exec);
  VT_TRY(vt_exec_run(init->exec, d));
  uint32_t port = 0; /* the results are in the order of the params with an initialiser */
  for (uint32_t i = 0; i < g->n_results; i++, port++) {
    while (port < p->g->n_ports && !has_initialiser(&p->g->ports[port])) port++;
    if (port == p->g->n_ports || strcmp(p->g->ports[port].name, g->results[i].name) != 0)
      return VT_FAIL(d, VT_INTERNAL, "the initialisers are not in the order of the params");
    VT_TRY(set_initial_param(p, init, &g->results[i], port, d));
  }
  return VT_OK;
}

vt_status vt_program_init_params(vt_program *p, uint64_t seed, vt_diag *d) {
  const vt_pass_options o = {.alloc = p->a};
  vt_graph *g = NULL;
  vt_pipeline init;
  vt_fpenv saved;
  VT_TRY(check_params_without_init(p, d));
  const uint64_t begin = vt_phase_begin();
  VT_TRY(check_own_params(p, d));
  vt_fpenv_enter(&saved);
  vt_status s = vt_pass_build_init(p->g, VT_PORT_PARAM, &o, &g, d);
  if (s == VT_OK && g != NULL) {
    s = vt_pipeline_build_init(&init, g, p->dev, p->a, seed, d);
    if (s == VT_OK) {
      s = run_initialisers(p, &init, d);
      vt_pipeline_done(&init);
    }
    vt_graph_free(g);
  }
  vt_fpenv_leave(&saved);
  if (s == VT_OK) vt_phase_end(p->dev, "parameters", begin);
  return s;
}

/* ---- random inputs ---- */

/* Draws uniform floats in [-1, 1). */
static void draw_uniform_floats(vt_tensor *t, uint64_t n, uint64_t seed, uint32_t stream) {
  uint32_t words[4];
  for (uint64_t i = 0; i < n; i++) {
    if (i % 4 == 0) vt_philox(seed, stream, 0, i / 4, words);
    const float x = -1.0f + vt_philox_uniform(words, i) * 2.0f; /* a + u*(b - a) for [a, b) */
    vt_cast(&x, 1, VT_DTYPE_F32, (char *)t->data + i * vt_dtype_bytes(t->dtype), 1, t->dtype, 1);
  }
}

/* Draws integers lo + floor(word * count / 2^32) from 32-bit random words. The product is exact in
 * 64 bits because count <= 2^32. */
static void draw_integers(vt_tensor *t, uint64_t n, uint64_t seed, uint32_t stream, int64_t lo,
                          uint64_t count) {
  uint32_t words[4];
  for (uint64_t i = 0; i < n; i++) {
    if (i % 4 == 0) vt_philox(seed, stream, 0, i / 4, words);
    const int64_t x = lo + (int64_t)(words[i % 4] * count >> 32);
    vt_cast(&x, 1, VT_DTYPE_I64, (char *)t->data + i * vt_dtype_bytes(t->dtype), 1, t->dtype, 1);
  }
}

static vt_status draw_elements(const vt_port *x, vt_tensor *t, uint64_t n, uint64_t seed,
                               vt_diag *d) {
  const uint32_t stream = vt_random_stream_of(x->name);
  const int is_integer = t->dtype == VT_DTYPE_I8 || t->dtype == VT_DTYPE_U8 ||
                         t->dtype == VT_DTYPE_I32 || t->dtype == VT_DTYPE_I64;
  if (t->dtype == VT_DTYPE_BOOL) {
    draw_integers(t, n, seed, stream, 0, 2);
  } else if (!is_integer) {
    draw_uniform_floats(t, n, seed, stream);
  } else if (!x->has_range) {
    return VT_FAIL(
        d, VT_USAGE,
        "the input '%s' holds integers and declares no range to draw from: give it a value",
        x->name);
  } else {
    const uint64_t count = (uint64_t)x->hi - (uint64_t)x->lo + 1;
    if (x->lo > x->hi || count == 0 || count > (uint64_t)1 << 32)
      return VT_FAIL(
          d, VT_USAGE,
          "the range %lld..%lld of '%s' is empty or has more than 2^32 integers: give it a value",
          (long long)x->lo, (long long)x->hi, x->name);
    draw_integers(t, n, seed, stream, x->lo, count);
  }
  return VT_OK;
}

static vt_status set_port_randomly(vt_program *p, uint32_t port, uint64_t seed, vt_diag *d) {
  vt_tensor t = vt_tensor_without_data(&p->g->values[p->g->ports[port].value].type);
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
  if (bytes > SIZE_MAX - 1) return fail_out_of_memory(d);
  t.data = vt_alloc_new(p->a, (size_t)bytes + 1);
  if (t.data == NULL) return fail_out_of_memory(d);
  vt_status s = draw_elements(&p->g->ports[port], &t, count, seed, d);
  if (s == VT_OK) s = vt_program_write(p, port, &t, d);
  vt_alloc_free(p->a, t.data, (size_t)bytes + 1);
  return s;
}

vt_status vt_program_random_inputs(vt_program *p, uint64_t seed, vt_diag *d) {
  vt_fpenv saved;
  vt_status s = VT_OK;
  vt_fpenv_enter(&saved);
  for (uint32_t i = 0; s == VT_OK && i < p->g->n_ports; i++)
    if (p->g->ports[i].kind == VT_PORT_INPUT && !p->given[i]) s = set_port_randomly(p, i, seed, d);
  vt_fpenv_leave(&saved);
  return s;
}
