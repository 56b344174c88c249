/* SPDX-License-Identifier: Apache-2.0
 * cli_bench_small.c - volta bench cuda --small: the fixed costs of a step: upload of a tensor, one
 * step that does almost no work, and download of the result, for sizes of one element and more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cli_bench.h"
#include "cli_json.h"

enum { CALLS = 201, WARM = 20 };
static const int64_t sizes[] = {1, 64, 1024, 16384, 262144, 1048576};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const char model_text[] =
    "volta 1\nmodel small {\n  dim N\n  input x: f32[N]\n  output y = x + x\n}\n";

/* Median times in nanoseconds. */
typedef struct costs {
  uint64_t in, run, out; /* upload, run, download */
} costs;
/* Times of all calls in nanoseconds. */
typedef struct samples {
  uint64_t in[CALLS], run[CALLS], out[CALLS];
} samples;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare_ns(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t median(uint64_t *ns) {
  qsort(ns, CALLS, sizeof *ns, compare_ns);
  return ns[CALLS / 2];
}

static vt_status time_upload_run_download(vt_program *p, const vt_tensor *x, uint64_t stamps_ns[4],
                                          cli_error *e) {
  const char *name;
  vt_tensor y;
  stamps_ns[0] = now_ns();
  VT_TRY(vt_program_set_input(p, "x", x, &e->diag));
  stamps_ns[1] = now_ns();
  VT_TRY(vt_program_run(p, &e->diag));
  stamps_ns[2] = now_ns();
  VT_TRY(vt_program_output(p, 0, &name, &y, &e->diag));
  stamps_ns[3] = now_ns();
  return VT_OK;
}

static vt_status measure_median_costs(vt_program *p, const vt_tensor *x, samples *s, costs *out,
                                      cli_error *e) {
  uint64_t at[4];
  for (int i = -WARM; i < CALLS; i++) {
    VT_TRY(time_upload_run_download(p, x, at, e));
    if (i < 0) continue;
    s->in[i] = at[1] - at[0], s->run[i] = at[2] - at[1], s->out[i] = at[3] - at[2];
  }
  *out = (costs){median(s->in), median(s->run), median(s->out)};
  return VT_OK;
}

static vt_status measure_backend(const vt_model *m, const char *backend, const vt_tensor *x,
                                 samples *s, costs *out, cli_error *e) {
  const vt_binding bind = {"N", x->dim[0]};
  const vt_options o = {
      .size = sizeof o, .n_bind = 1, .bind = &bind, .backend = backend, .threads = 1};
  vt_program *p = NULL;
  VT_TRY(vt_program_new(m, &o, &p, &e->diag));
  const vt_status status = measure_median_costs(p, x, s, out, e);
  vt_program_free(p);
  return status;
}

static void print_or_append_costs(int64_t n_elements, costs device, costs cpu, json_t *list) {
  if (list == NULL)
    cli_print("%9lld %11.1f %9.1f %10.1f %11.1f\n", (long long)n_elements * 4,
              (double)device.in / 1e3, (double)device.run / 1e3, (double)device.out / 1e3,
              (double)cpu.run / 1e3);
  else
    cli_json_append(
        list, json_pack("{s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)n_elements * 4, "in_ns",
                        (json_int_t)device.in, "run_ns", (json_int_t)device.run, "out_ns",
                        (json_int_t)device.out, "cpu_run_ns", (json_int_t)cpu.run));
}

static vt_status measure_and_report_sizes(const vt_model *m, const char *backend, float *data,
                                          samples *s, json_t *list, cli_error *e) {
  for (int i = 0; i < SIZES; i++) {
    const vt_tensor x = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {sizes[i]}, .data = data};
    costs device = {0}, cpu = {0};
    VT_TRY(measure_backend(m, backend, &x, s, &device, e));
    VT_TRY(measure_backend(m, "cpu", &x, s, &cpu, e));
    print_or_append_costs(sizes[i], device, cpu, list);
  }
  return VT_OK;
}

vt_status cli_bench_small(const char *backend, int as_json, cli_error *e) {
  json_t *list = as_json ? json_array() : NULL;
  vt_model *m = NULL;
  float *data = calloc((size_t)sizes[SIZES - 1], sizeof *data);
  samples *s = malloc(sizeof *s);
  vt_status status = data == NULL || s == NULL ? cli_no_memory(e) : VT_OK;
  if (status == VT_OK) status = vt_model_parse(model_text, strlen(model_text), NULL, &m, &e->diag);
  if (status == VT_OK && !as_json)
    cli_print("%9s %11s %9s %10s %11s\n", "bytes", "in us", "run us", "out us", "cpu run us");
  if (status == VT_OK) status = measure_and_report_sizes(m, backend, data, s, list, e);
  if (status == VT_OK && as_json) {
    status = cli_json_print(json_pack("{s:s, s:o}", "backend", backend, "sizes", list), e);
  } else {
    json_decref(list);
  }
  vt_model_free(m);
  free(s);
  free(data);
  return status;
}
