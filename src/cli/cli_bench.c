/* SPDX-License-Identifier: Apache-2.0
 * cli_bench.c - makes the stage of a work, which is a row of bench.def: lanes that compute the same
 * from the same operands. A lane is a program of Volta, or a product of the peer (OpenBLAS). The
 * results of all lanes are compared before the lanes are timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_bench.h"

int cli_doctor_fact(const char *key, char *out, size_t n) {
  const char *k;
  for (uint32_t i = 0; (k = vt_doctor_key(i)) != NULL; i++)
    if (strcmp(k, key) == 0) return vt_doctor_value(i, out, n) != NULL;
  return 0;
}

/* ---- rows ---- */

#define BENCH_ROW(suite, kind, m, n, k)
#define BENCH_KIND(kind, dims, shape, peer, m, n, k, inputs, weights, result)   \
  static const cli_kind kind_##kind = {#kind,  shape, inputs,          weights, \
                                       result, dims,  CLI_PEER_##peer, {m, n, k}};
#include "bench.def"
#undef BENCH_KIND
#undef BENCH_ROW

const cli_work cli_works[] = {
#define BENCH_KIND(kind, dims, shape, peer, m, n, k, inputs, weights, result)
#define BENCH_ROW(suite, kind, m, n, k) {#suite, &kind_##kind, {m, n, k}},
#include "bench.def"
#undef BENCH_KIND
#undef BENCH_ROW
    {NULL, NULL, {0, 0, 0}}};

cli_work cli_work_reduced_to_check_sizes(const cli_work *w) {
  cli_work less = *w;
  for (int i = 0; i < 3; i++)
    if (less.size[i] > w->kind->least[i]) less.size[i] = w->kind->least[i];
  return less;
}

static const char letters[] = "MNK";

void cli_work_name(const cli_work *w, char out[CLI_WORK_NAME]) {
  size_t n = (size_t)snprintf(out, CLI_WORK_NAME, "%s ", w->kind->name);
  for (const char *p = w->kind->shape; *p != '\0' && n + 24 < CLI_WORK_NAME; p++) {
    const char *letter = strchr(letters, *p);
    n += letter != NULL ? (size_t)snprintf(out + n, CLI_WORK_NAME - n, "%lld",
                                           (long long)w->size[letter - letters])
                        : (size_t)snprintf(out + n, CLI_WORK_NAME - n, "%c", *p);
  }
}

/* ---- programs ---- */

enum { TEXT_SIZE = 1024, SEED = 1 };

static vt_status parse_kind_model(const cli_kind *k, int weights_as_input, vt_model **out,
                                  cli_error *e) {
  char text[TEXT_SIZE], weights[TEXT_SIZE / 4] = "";
  if (k->weights[0] != '\0')
    snprintf(weights, sizeof weights, "  %s %s%s\n", weights_as_input ? "input" : "param",
             k->weights, weights_as_input ? "" : " = zeros");
  const int n =
      snprintf(text, sizeof text, "volta 1\nmodel %s {\n  dim M, N%s\n  %s\n%s  output y = %s\n}\n",
               k->name, k->dims == 3 ? ", K" : "", k->inputs, weights, k->result);
  return vt_model_parse(text, (size_t)n, NULL, out, &e->diag);
}

static vt_status new_program(const vt_model *m, const cli_work *w, const cli_bench_target *target,
                             vt_program **out, cli_error *e) {
  const vt_binding bind[3] = {{"M", w->size[0]}, {"N", w->size[1]}, {"K", w->size[2]}};
  const vt_options o = {.size = sizeof o,
                        .n_bind = w->kind->dims,
                        .bind = bind,
                        .backend = target->backend,
                        .threads = target->threads,
                        .note = cli_warn};
  return vt_program_new(m, &o, out, &e->diag);
}

static vt_status new_work_program(const cli_work *w, const cli_bench_target *target,
                                  int weights_as_input, vt_program **out, cli_error *e) {
  vt_model *m = NULL;
  VT_TRY(parse_kind_model(w->kind, weights_as_input, &m, e));
  vt_status s = new_program(m, w, target, out, e);
  vt_model_free(m);
  if (s == VT_OK) s = vt_program_init_params(*out, SEED, &e->diag);
  return s;
}

static vt_status allocate_tensor_data(vt_tensor *t, cli_error *e) {
  uint64_t count, bytes;
  VT_TRY(vt_tensor_bytes(t, &count, &bytes, &e->diag));
  t->data = malloc((size_t)bytes + 1);
  return t->data != NULL ? VT_OK : cli_no_memory(e);
}

/* Fills an operand with numbers in [-1, 1) that have 16 bits. Their values do not matter, because
 * all lanes get the same ones. */
static void fill_pseudo_random(float *x, uint64_t n) {
  uint32_t state = (uint32_t)n;
  for (uint64_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    x[i] = (float)((int32_t)(state >> 16) - 32768) * 0x1p-15f;
  }
}

/* Makes the first operand of a product, which the peer needs too. The operands of other kinds of
 * work are random inputs of the programs. */
static vt_status make_first_operand_of_product(const cli_work *w, cli_stage *s, cli_error *e) {
  if (w->kind->peer == CLI_PEER_none) return VT_OK;
  s->x = (vt_tensor){.dtype = VT_DTYPE_F32, .rank = 2, .dim = {w->size[0], w->size[2]}};
  VT_TRY(allocate_tensor_data(&s->x, e));
  fill_pseudo_random(s->x.data, (uint64_t)(w->size[0] * w->size[2]));
  return VT_OK;
}

/* Makes the weights of a product in the shape of the program's parameter, and sets them. */
static vt_status make_and_set_weights(vt_program *p, cli_stage *s, cli_error *e) {
  uint64_t count, bytes;
  VT_TRY(vt_program_get_param(p, "w", &s->w, &e->diag));
  VT_TRY(allocate_tensor_data(&s->w, e));
  VT_TRY(vt_tensor_bytes(&s->w, &count, &bytes, &e->diag));
  fill_pseudo_random(s->w.data, count);
  return vt_program_set_param(p, "w", &s->w, &e->diag);
}

static vt_status add_program_lane(const cli_work *w, const cli_bench_target *target,
                                  const char *name, cli_stage *s, cli_error *e) {
  cli_lane *l = &s->lanes[s->n++];
  const int weights_as_input = s->n > 1;
  l->name = name;
  VT_TRY(new_work_program(w, target, weights_as_input, &l->program, e));
  if (w->kind->weights[0] != '\0' && !weights_as_input)
    VT_TRY(make_and_set_weights(l->program, s, e));
  if (weights_as_input) VT_TRY(vt_program_set_input(l->program, "w", &s->w, &e->diag));
  if (s->x.data != NULL) VT_TRY(vt_program_set_input(l->program, "x", &s->x, &e->diag));
  VT_TRY(vt_program_random_inputs(l->program, SEED, &e->diag));
  return cli_lane_call(l, e);
}

/* Settings of the peer to try: every core type with all threads, half of them, and so on down to
 * one, because more threads are not always faster. The setting with the best call wins. */
enum { MOST_SETTINGS = 64 };

static uint32_t make_lane_per_peer_setting(const cli_bench_target *target,
                                           const cli_lane *template_lane, cli_lane *out) {
  uint32_t n = 0;
  for (uint32_t core = 0; core < cli_peer_core_count(target->peer); core++)
    for (uint32_t t = target->threads; t > 0 && n < MOST_SETTINGS; t /= 2) {
      out[n] = *template_lane;
      out[n++].setting = (cli_setting){core, t};
    }
  return n;
}

static vt_status choose_fastest_peer_setting(const cli_bench_target *target, cli_lane *l,
                                             cli_error *e) {
  cli_lane lanes[MOST_SETTINGS];
  cli_pace pace = target->trial;
  const uint32_t n = make_lane_per_peer_setting(target, l, lanes);
  uint32_t best = 0;
  VT_TRY(cli_lanes_time(lanes, n, &pace, e));
  for (uint32_t i = 1; i < n; i++)
    if (lanes[i].took.best_ns < lanes[best].took.best_ns) best = i;
  l->setting = lanes[best].setting;
  l->trial_ns = lanes[best].took.best_ns;
  return VT_OK;
}

static vt_status add_peer_lane(const cli_work *w, const cli_bench_target *target, cli_stage *s,
                               cli_error *e) {
  const size_t count = (size_t)(w->size[0] * w->size[1]);
  s->c = calloc(count, sizeof *s->c);
  if (s->c == NULL) return cli_no_memory(e);
  const int transposed = w->kind->peer == CLI_PEER_gemv_t;
  const int vector = w->kind->peer != CLI_PEER_gemm;
  cli_lane *l = &s->lanes[s->n++];
  *l = (cli_lane){.name = "openblas",
                  .peer = target->peer,
                  .product = {w->size[0], w->size[1], w->size[2], transposed, vector, s->x.data,
                              s->w.data, s->c}};
  VT_TRY(choose_fastest_peer_setting(target, l, e));
  cli_peer_set_threads(l->peer, l->setting);
  return cli_lane_call(l, e);
}

/* ---- checks before anything is timed ---- */

static vt_status get_first_output(vt_program *p, vt_tensor *out, cli_error *e) {
  const char *name;
  return vt_program_output(p, 0, &name, out, &e->diag);
}

static vt_status check_first_outputs_same_bits(vt_program *a, vt_program *b, const char *what,
                                               cli_error *e) {
  vt_tensor x, y;
  vt_compare v = {.size = sizeof v};
  VT_TRY(get_first_output(a, &x, e));
  VT_TRY(get_first_output(b, &y, e));
  VT_TRY(vt_tensor_compare(&x, &y, &v, &e->diag));
  if (v.differing == 0) return VT_OK;
  return VT_FAIL(&e->diag, VT_DIFFERS, "%s: %s and %s differ in %llu of %llu elements", what,
                 vt_program_backend(a), vt_program_backend(b), (unsigned long long)v.differing,
                 (unsigned long long)v.compared);
}

/* Checks that the peer computed the same product. Its bits may differ from ours, because it sums in
 * another order. Every product of two operands is below 1, so a sum is below k. */
static vt_status check_peer_product_close(const cli_work *w, const cli_stage *s, cli_error *e) {
  const double most = 1e-5 * (double)w->size[2] + 1e-3;
  vt_tensor y;
  VT_TRY(get_first_output(s->lanes[0].program, &y, e));
  const float *ours = y.data;
  for (int64_t i = 0; i < w->size[0] * w->size[1]; i++) {
    const double error = (double)ours[i] - (double)s->c[i];
    if (error <= most && error >= -most) continue;
    return VT_FAIL(&e->diag, VT_DIFFERS, "element %lld of the product is %g, in openblas %g",
                   (long long)i, (double)ours[i], (double)s->c[i]);
  }
  return VT_OK;
}

static vt_status open_lanes(const cli_work *w, const cli_bench_target *target, cli_stage *s,
                            cli_error *e) {
  const int weights = w->kind->weights[0] != '\0';
  VT_TRY(make_first_operand_of_product(w, s, e));
  VT_TRY(add_program_lane(w, target, weights ? "parameter" : "none", s, e));
  if (weights) VT_TRY(add_program_lane(w, target, "input", s, e));
  if (weights)
    VT_TRY(check_first_outputs_same_bits(s->lanes[0].program, s->lanes[1].program,
                                         "weights as an input", e));
  if (target->peer == NULL || w->kind->peer == CLI_PEER_none) return VT_OK;
  VT_TRY(add_peer_lane(w, target, s, e));
  return check_peer_product_close(w, s, e);
}

vt_status cli_stage_open(const cli_work *w, const cli_bench_target *target, cli_stage *out,
                         cli_error *e) {
  cli_stage s = {0};
  const vt_status status = open_lanes(w, target, &s, e);
  if (status == VT_OK) *out = s;
  if (status != VT_OK) cli_stage_close(&s);
  return status;
}

void cli_stage_close(cli_stage *s) {
  for (uint32_t i = 0; i < s->n; i++) vt_program_free(s->lanes[i].program);
  free(s->x.data);
  free(s->w.data);
  free(s->c);
  *s = (cli_stage){0};
}

vt_status cli_work_check_against_reference(const cli_work *w, const cli_bench_target *target,
                                           cli_error *e) {
  const cli_work less = cli_work_reduced_to_check_sizes(w);
  const cli_bench_target own = {.backend = target->backend, .threads = target->threads};
  const cli_bench_target truth = {.backend = "reference", .threads = 1};
  cli_stage a = {0}, b = {0};
  char name[CLI_WORK_NAME];
  cli_work_name(&less, name);
  vt_status s = cli_stage_open(&less, &truth, &a, e);
  if (s == VT_OK) s = cli_stage_open(&less, &own, &b, e);
  if (s == VT_OK)
    s = check_first_outputs_same_bits(a.lanes[0].program, b.lanes[0].program, name, e);
  cli_stage_close(&a);
  cli_stage_close(&b);
  return s;
}
