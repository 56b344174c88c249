/* SPDX-License-Identifier: Apache-2.0
 * cts_derivative.c - checks gradients against differences of the outputs. For each input x that a
 * `grad` line names, it compares the change of the weighted sum of all float outputs between x -
 * h*v and x + h*v with sum(dx * 2hv). The direction v is a single element or all elements.
 *
 * The gradient passes if, for one of several h, |difference - sum(dx * step)| is at most
 * the sum of relative * sum|dx * step|, 16 * eps * sum|weight * y| over the outputs that changed,
 * and 16 * eps * max|step| * sum|weight * y| over all outputs (rounding of a slope that is 0).
 * `relative` is 2e-3 if any value is f32, and 1e-6 if all are f64. `step` is 2hv after rounding.
 * If a function bends within the steps, no h passes, so a point that fails is drawn again,
 * at most twice. */
#include <stdlib.h>
#include <string.h>
#include "cts.h"
#include "vt_pool.h"

enum {
  POINTS = 3,  /* points to try before the gradient fails */
  SINGLES = 6, /* directions of a single element, per input */
  ALL = 2,     /* directions through all elements, per input */
  STEPS = 4    /* values of h to try, per direction */
};

typedef struct checker {
  const vt_suite_model *model;
  vt_model *m, *dm;   /* the model and the model of its gradient */
  vt_program *f, *df; /* the program of the model and that of its gradient */
  /* inputs of the model; the same inputs moved by h*v; inputs of the gradient */
  vt_case_inputs in, moved, d_in;
  int f32; /* 1 if the model has a value of f32 */
} checker;

/* Returns 1 if `full` is the prefix followed by the name. */
static int is_prefixed_name(const char *prefix, const char *name, const char *full) {
  return strncmp(full, prefix, strlen(prefix)) == 0 && strcmp(full + strlen(prefix), name) == 0;
}

static vt_case_input *find_input(vt_case_inputs *in, const char *prefix, const char *name) {
  for (uint32_t i = 0; i < in->n; i++)
    if (is_prefixed_name(prefix, name, in->input[i].info.name)) return &in->input[i];
  return NULL;
}

static vt_status run_with_inputs(const vt_case_inputs *in, vt_program *p, vt_diag *d) {
  VT_TRY(vt_case_inputs_set(in, p, d));
  return vt_program_run(p, d);
}

static int is_float(uint32_t dtype) { return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64; }

/* ---- one direction ---- */

/* The change of the weighted sum of the outputs along a direction; the formula is in the header. */
typedef struct change {
  double difference; /* weighted sum of the outputs' changes */
  double expected;   /* sum(dx * step) */
  double size;       /* sum|dx * step| */
  double noise;      /* 16 * eps * sum|weight * y| over the outputs that changed */
  double weight;     /* 16 * eps * sum|weight * y| over all outputs */
  double step;       /* max|step| */
} change;

/* The direction v: one element of one input, or random numbers for all its elements. */
typedef struct direction {
  const char *input;
  uint64_t element; /* index of the element; UINT64_MAX: all elements */
  uint64_t seed;
} direction;

/* Returns element i of v. */
static double direction_component(const direction *v, uint64_t i) {
  if (v->element != UINT64_MAX) return i == v->element ? 1 : 0;
  uint64_t state = v->seed + i;
  return 2 * cts_uniform(&state) - 1;
}

/* Sets the moved inputs to the inputs of the model plus h times the direction v. */
static void move_inputs(checker *c, const direction *v, double h) {
  for (uint32_t k = 0; k < c->in.n; k++) {
    const vt_case_input *from = &c->in.input[k];
    vt_case_input *to = &c->moved.input[k];
    const uint64_t n = cts_count_elements(&from->t);
    memcpy(to->t.data, from->t.data, (size_t)(n * vt_dtype_bytes(from->t.dtype)));
    if (strcmp(from->info.name, v->input) != 0) continue;
    for (uint64_t i = 0; i < n; i++)
      cts_store_element(&to->t, i, cts_load_element(&from->t, i) + h * direction_component(v, i));
  }
}

/* Reads all float outputs into one list, which the caller frees. */
static vt_status read_float_outputs(vt_program *p, double **out, uint64_t *out_n, vt_diag *d) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    const char *name;
    vt_tensor t;
    VT_TRY(vt_program_output(p, i, &name, &t, d));
    if (!is_float(t.dtype)) continue;
    const uint64_t count = cts_count_elements(&t);
    double *more = realloc(*out, (size_t)(n + count + 1) * sizeof *more);
    if (more == NULL) cts_die("out of memory");
    *out = more;
    for (uint64_t k = 0; k < count; k++) more[n++] = cts_load_element(&t, k);
  }
  *out_n = n;
  return VT_OK;
}

/* Returns the weights of the outputs in the same order: the inputs dy of the gradient. */
static double *read_output_weights(checker *c) {
  double *w = NULL;
  uint64_t n = 0;
  for (uint32_t i = 0; i < vt_program_outputs(c->f); i++) {
    const char *name;
    vt_tensor t;
    if (vt_program_output(c->f, i, &name, &t, NULL) != VT_OK || !is_float(t.dtype)) continue;
    const vt_case_input *dy = find_input(&c->d_in, "dy.", name);
    double *more = realloc(w, (size_t)(n + cts_count_elements(&t) + 1) * sizeof *more);
    if (more == NULL) cts_die("out of memory");
    w = more;
    for (uint64_t k = 0; k < cts_count_elements(&t); k++)
      w[n++] = dy == NULL ? 0 : cts_load_element(&dy->t, k);
  }
  return w;
}

static double magnitude(double x) { return x < 0 ? -x : x; }

static void sum_output_change(const checker *c, const double *weights, const double *up,
                              const double *down, uint64_t n, change *out) {
  const double eps = c->f32 ? 0x1p-24 : 0x1p-53;
  for (uint64_t i = 0; i < n; i++) {
    out->weight += 16 * eps * magnitude(weights[i] * up[i]);
    if (up[i] == down[i]) continue;
    out->difference += weights[i] * (up[i] - down[i]);
    out->noise += 16 * eps * magnitude(weights[i]) * (magnitude(up[i]) + magnitude(down[i])) / 2;
  }
}

static void sum_input_change(checker *c, const direction *v, const vt_tensor *dx, double h,
                             change *out) {
  const vt_case_input *p = find_input(&c->moved, "", v->input);
  const uint64_t n = cts_count_elements(&p->t);
  double *up = malloc((size_t)n * sizeof *up + 1);
  if (up == NULL) cts_die("out of memory");
  move_inputs(c, v, h);
  for (uint64_t i = 0; i < n; i++) up[i] = cts_load_element(&p->t, i);
  move_inputs(c, v, -h);
  for (uint64_t i = 0; i < n; i++) {
    const double step = up[i] - cts_load_element(&p->t, i), part = cts_load_element(dx, i) * step;
    if (magnitude(step) > out->step) out->step = magnitude(step);
    out->expected += part;
    out->size += magnitude(part);
  }
  free(up);
}

static vt_status measure_change(checker *c, const direction *v, const vt_tensor *dx, double h,
                                change *out, vt_diag *d) {
  double *up = NULL, *down = NULL, *w = NULL;
  uint64_t n = 0;
  *out = (change){0};
  move_inputs(c, v, h);
  vt_status s = run_with_inputs(&c->moved, c->f, d);
  if (s == VT_OK) s = read_float_outputs(c->f, &up, &n, d);
  move_inputs(c, v, -h);
  if (s == VT_OK) s = run_with_inputs(&c->moved, c->f, d);
  if (s == VT_OK) s = read_float_outputs(c->f, &down, &n, d);
  if (s == VT_OK) {
    w = read_output_weights(c);
    sum_output_change(c, w, up, down, n, out);
    sum_input_change(c, v, dx, h, out);
  }
  free(up);
  free(down);
  free(w);
  return s;
}

/* Returns 1 if the gradient passes for one of the steps. NaN never passes. */
static int gradient_passes(checker *c, const direction *v, const vt_tensor *dx, double width,
                           vt_diag *d) {
  static const double steps[2][STEPS] = {{0x1p-8, 0x1p-12, 0x1p-16, 0x1p-20},
                                         {0x1p-8, 0x1p-9, 0x1p-10, 0x1p-11}};
  const double relative = c->f32 ? 2e-3 : 1e-6;
  change last = {0};
  for (int i = 0; i < STEPS; i++) {
    if (measure_change(c, v, dx, steps[c->f32][i] * width, &last, d) != VT_OK) return 0;
    const double bound = relative * last.size + last.noise + last.step * last.weight;
    if (magnitude(last.difference - last.expected) <= bound) return 1;
  }
  (void)VT_FAIL(d, VT_DIFFERS, "by %s[%lld]: the outputs change by %.9g, the gradient says %.9g",
                v->input, v->element == UINT64_MAX ? -1LL : (long long)v->element, last.difference,
                last.expected);
  return 0;
}

/* ---- one point ---- */

static int check_input_gradient(checker *c, const vt_suite_domain *dom, const vt_tensor *dx,
                                uint64_t seed, vt_diag *d) {
  uint64_t state = seed;
  const uint64_t n = cts_count_elements(dx);
  for (uint64_t i = 0; i < SINGLES + ALL; i++) {
    direction v = {dom->input, i < SINGLES ? i : UINT64_MAX, vt_case_next_random(&state)};
    if (i < SINGLES && n > SINGLES) v.element = v.seed % n;
    if (n == 0 || (i < SINGLES && v.element >= n)) continue;
    if (!gradient_passes(c, &v, dx, dom->hi - dom->lo, d)) return 0;
  }
  return 1;
}

/* Draws the inputs of the model, and those of the gradient: the same and weights away from 0. */
static void draw_point(checker *c, uint64_t seed) {
  cts_inputs_draw_spread_out(&c->in, c->model->block, seed);
  for (uint32_t i = 0; i < c->d_in.n; i++) {
    vt_case_input *p = &c->d_in.input[i];
    const vt_case_input *same = find_input(&c->in, "", p->info.name);
    const uint64_t n = cts_count_elements(&p->t);
    if (same != NULL) memcpy(p->t.data, same->t.data, (size_t)(n * vt_dtype_bytes(p->t.dtype)));
    uint64_t state = seed ^ vt_case_seed(p->info.name);
    for (uint64_t k = 0; same == NULL && k < n; k++) {
      const double u = cts_uniform(&state);
      cts_store_element(&p->t, k, u < 0.5 ? u - 1.25 : u + 0.25);
    }
  }
}

static vt_status check_point(checker *c, uint64_t seed, vt_diag *d) {
  const vt_suite_block *b = c->model->block;
  draw_point(c, seed);
  VT_TRY(run_with_inputs(&c->in, c->f, d));
  VT_TRY(run_with_inputs(&c->d_in, c->df, d));
  for (uint32_t i = 0; i < b->n_domains; i++)
    for (uint32_t k = 0; b->domain[i].wanted && k < vt_program_outputs(c->df); k++) {
      const char *name;
      vt_tensor dx;
      VT_TRY(vt_program_output(c->df, k, &name, &dx, d));
      if (is_prefixed_name("dx.", b->domain[i].input, name) &&
          !check_input_gradient(c, &b->domain[i], &dx, seed + i, d))
        return VT_DIFFERS;
    }
  return VT_OK;
}

/* ---- one model ---- */

static vt_status open_programs(checker *c, const char *text, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = "reference:0"};
  VT_TRY(vt_model_parse(c->model->text, strlen(c->model->text), NULL, &c->m, d));
  VT_TRY(vt_model_parse(text, strlen(text), NULL, &c->dm, d));
  VT_TRY(vt_program_new(c->m, &o, &c->f, d));
  VT_TRY(vt_program_new(c->dm, &o, &c->df, d));
  cts_inputs_init(&c->in, c->m);
  cts_inputs_init(&c->moved, c->m);
  cts_inputs_init(&c->d_in, c->dm);
  c->f32 = strstr(vt_model_text(c->m), "f32[") != NULL;
  return VT_OK;
}

static vt_status check_points(checker *c, const char *text, vt_diag *d) {
  VT_TRY(open_programs(c, text, d));
  vt_status s = VT_OK;
  for (int i = 0; i < POINTS; i++) {
    *d = (vt_diag){0};
    s = check_point(c, vt_case_seed(c->model->name) + (uint64_t)i, d);
    if (s != VT_DIFFERS) return s;
  }
  return s;
}

static void check_model_gradient(const vt_suite_model *m, const char *text, char *message) {
  checker c = {.model = m};
  vt_diag d = {0};
  if (check_points(&c, text, &d) != VT_OK) snprintf(message, 700, "%s", d.text);
  vt_program_free(c.f);
  vt_program_free(c.df);
  vt_model_free(c.m);
  vt_model_free(c.dm);
  vt_case_inputs_done(&c.in);
  vt_case_inputs_done(&c.moved);
  vt_case_inputs_done(&c.d_in);
}

/* ---- all models ---- */

typedef struct verdict {
  const vt_suite_model *model;
  char message[700]; /* why the gradient failed, or empty */
} verdict;

static void check_listed_model(void *context, uint64_t i) {
  verdict *v = &((verdict *)context)[i];
  vt_text text;
  vt_diag d = {0};
  vt_text_init(&text, vt_alloc_default());
  if (vt_suite_write_gradient(v->model, vt_alloc_default(), &text, &d) == VT_OK) {
    check_model_gradient(v->model, text.s, v->message);
  } else {
    snprintf(v->message, sizeof v->message, "%s", d.text);
  }
  vt_text_done(&text);
}

/* Lists the models of the chosen gradient cases, each once, and returns their number. Blocks marked
 * `straight` are left out. */
static uint32_t list_models_with_gradient(const cts_selection *s, verdict *out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->suite->n_cases; i++) {
    const vt_case *c = &s->suite->cases[i];
    if (s->chosen[i] && c->gradient && !c->model->block->straight &&
        (n == 0 || out[n - 1].model != c->model))
      out[n++].model = c->model;
  }
  return n;
}

/* Returns the number of blocks with a grad line whose op has no gradient. */
static uint32_t count_needless_grad_lines(const vt_suite *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_blocks; i++) {
    const vt_suite_block *b = s->block[i];
    n += b->op->grad == NULL && b->n_domains > 0;
  }
  return n;
}

unsigned cts_check_gradients(const cts_selection *s) {
  verdict *v = calloc(s->suite->n_cases + 1, sizeof *v);
  vt_pool *pool = NULL;
  vt_diag d = {0};
  unsigned failed = 0;
  if (v == NULL || vt_pool_new(s->jobs, vt_alloc_default(), &pool, &d) != VT_OK)
    cts_die("out of memory");
  const uint32_t n = list_models_with_gradient(s, v);
  vt_pool_run(pool, n, check_listed_model, v);
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].message[0] == 0) continue;
    failed++;
    printf("FAILED %s (gradient)\n  %s\n  repeat: cts --grad --only '%s/*'\n", v[i].model->name,
           v[i].message, v[i].model->name);
  }
  printf("gradients: %u models checked, %u failed, %u cases skipped: their op has no gradient\n", n,
         failed, count_needless_grad_lines(s->suite));
  vt_pool_free(pool);
  free(v);
  return failed;
}
