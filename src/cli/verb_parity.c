/* SPDX-License-Identifier: Apache-2.0
 * verb_parity.c - volta parity MODEL: runs the same model on several backends, compares every bit
 * of their outputs with those of the first, and compares digests with a published one. A lane is
 * one backend with one number of threads; lane 0 is the first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli_json.h"
#include "cli_published.h"
#include "volta/volta_admit.h"

enum { CLI_LABEL = 512 };

/* One run: a backend with a number of threads. Its outputs are compared with those of lane 0. */
typedef struct lane {
  const char *wanted;     /* the backend as the user wrote it; owned by the comparison */
  uint32_t threads;       /* number of threads; 0: the backend's choice */
  vt_program *program;    /* the program; NULL except in lane 0 */
  char *name;             /* full name of the backend, "reference:0" */
  char *label;            /* name in text reports, "reference:0" or "cpu x3" */
  char hex[CLI_HEX_SIZE]; /* digest of the run */
  int plugin, unadmitted; /* 1: the backend is a plug-in; 1: the plug-in has no certificate */
  uint8_t content[32];    /* content hash of the plug-in */
  /* Number of elements that were compared, number that differ, largest distance of two elements. */
  uint64_t compared, differing, largest;
  char *output;              /* output with the first differing element; NULL: no difference */
  uint32_t dtype;            /* type of that element */
  uint64_t first_a, first_b; /* its bits in lane 0, in this lane */
  char index[CLI_TYPE_SIZE]; /* its index, "[3, 0]" */
} lane;

typedef struct comparison {
  char **wanted; /* the backends */
  uint32_t n_wanted;
  lane *lanes;                  /* every backend with every number of threads */
  uint32_t n;                   /* number of lanes */
  char published[CLI_HEX_SIZE]; /* the published digest; "" without --published */
} comparison;

/* ---- which backends ---- */

static vt_status add_backend(comparison *c, const char *name, size_t n, cli_error *e) {
  char *wanted = cli_text_copy(name, n);
  if (wanted == NULL) return cli_no_memory(e);
  c->wanted[c->n_wanted++] = wanted;
  return VT_OK;
}

static vt_status list_all_backends(comparison *c, cli_error *e) {
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r = {.size = sizeof r};
    VT_TRY(vt_backend_row_at(i, &r, &e->diag));
    if (r.available && r.complete) VT_TRY(add_backend(c, r.name, strlen(r.name), e));
  }
  return VT_OK;
}

static vt_status list_given_backends(comparison *c, const char *given, cli_error *e) {
  for (const char *at = given, *next; at != NULL; at = next) {
    const size_t n = strcspn(at, ",");
    next = at[n] == ',' ? at + n + 1 : NULL;
    if (n == 0)
      return VT_FAIL(&e->diag, VT_USAGE, "--backends takes A,B,..., and one of them is empty");
    VT_TRY(add_backend(c, at, n, e));
  }
  return VT_OK;
}

/* 1 if the backend is to run with each number of threads. `cpu` is the only built-in backend that
 * has threads. A plug-in does not say whether it has threads, so it is treated as if it had. */
static int has_threads(const char *backend) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_backend_row r = {.size = sizeof r};
  vt_backend_row_of(&o, &r);
  if (!r.available) return 1; /* a device that is not available: its run will fail and say why */
  return r.admission != VT_BACKEND_BUILT_IN || strncmp(r.name, "cpu:", 4) == 0;
}

/* Makes a lane for each backend with each number of threads; a backend without threads gets one. */
static vt_status list_lanes(comparison *c, const cli_planning *how, cli_error *e) {
  const uint32_t numbers = how->n_threads;
  c->lanes = calloc((size_t)c->n_wanted * (numbers + 1), sizeof *c->lanes);
  if (c->lanes == NULL) return cli_no_memory(e);
  for (uint32_t b = 0; b < c->n_wanted; b++) {
    const int once = numbers == 0 || !has_threads(c->wanted[b]);
    for (uint32_t t = 0; t < (once ? 1 : numbers); t++)
      c->lanes[c->n++] = (lane){.wanted = c->wanted[b], .threads = once ? 0 : how->each[t]};
  }
  return VT_OK;
}

static vt_status choose_lanes(const cli_args *a, const cli_planning *how, comparison *c,
                              cli_error *e) {
  const char *given = cli_flag_value(a, "backends");
  const size_t room = given != NULL ? strlen(given) + 1 : vt_backend_count() + 1;
  c->wanted = calloc(room, sizeof *c->wanted);
  if (c->wanted == NULL) return cli_no_memory(e);
  VT_TRY(given != NULL ? list_given_backends(c, given, e) : list_all_backends(c, e));
  VT_TRY(list_lanes(c, how, e));
  if (c->n >= 2 || (c->n == 1 && cli_flag_value(a, "published") != NULL)) return VT_OK;
  return VT_FAIL(&e->diag, VT_USAGE,
                 "parity needs two runs: two backends, cpu with two numbers of threads, or one "
                 "backend and --published");
}

/* ---- running and comparing ---- */

static vt_status set_first_difference(lane *x, const char *name, const vt_tensor *t,
                                      const vt_compare *v, cli_error *e) {
  x->output = cli_text_copy(name, strlen(name));
  if (x->output == NULL) return cli_no_memory(e);
  x->dtype = t->dtype;
  x->first_a = v->first_a;
  x->first_b = v->first_b;
  cli_index_text(t, v->first, x->index);
  return VT_OK;
}

static vt_status compare_output(lane *x, vt_program *first, vt_program *p, uint32_t i,
                                cli_error *e) {
  const char *name_a, *name_b;
  vt_tensor a, b;
  vt_compare v = {.size = sizeof v};
  VT_TRY(vt_program_output(first, i, &name_a, &a, &e->diag));
  VT_TRY(vt_program_output(p, i, &name_b, &b, &e->diag));
  VT_TRY(vt_tensor_compare(&a, &b, &v, &e->diag));
  x->compared += v.compared;
  x->differing += v.differing;
  if (v.largest > x->largest) x->largest = v.largest;
  return v.differing != 0 && x->output == NULL ? set_first_difference(x, name_a, &a, &v, e) : VT_OK;
}

/* Names a lane. With --threads the label is the name as the user wrote it and the number, "cpu x3".
 */
static vt_status name_lane(const cli_job *j, lane *x, const vt_program *p, cli_error *e) {
  const char *full = vt_program_backend(p);
  const size_t n = strlen(x->wanted);
  const int whole = strncmp(full, x->wanted, n) != 0 || j->how.n_threads == 0;
  char text[CLI_LABEL];
  int used = snprintf(text, sizeof text, "%s", whole ? full : x->wanted);
  if (x->threads != 0 && used > 0 && (size_t)used < sizeof text)
    snprintf(text + used, sizeof text - (size_t)used, " x%u", x->threads);
  x->name = cli_text_copy(full, strlen(full));
  x->label = cli_text_copy(text, strlen(text));
  return x->name != NULL && x->label != NULL ? VT_OK : cli_no_memory(e);
}

static vt_status run_and_compare_program(const cli_job *j, lane *x, vt_program *p,
                                         vt_program *first, cli_error *e) {
  uint8_t digest[32];
  VT_TRY(name_lane(j, x, p, e));
  x->plugin = vt_program_plugin(p, x->content);
  x->unadmitted = vt_program_unadmitted(p);
  cli_narrate_if_verbose("running on %s\n", x->label);
  VT_TRY(cli_job_run(j, p, e));
  VT_TRY(vt_program_digest(p, digest, &e->diag));
  cli_hex(digest, x->hex);
  for (uint32_t i = 0; first != NULL && i < vt_program_outputs(p); i++)
    VT_TRY(compare_output(x, first, p, i, e));
  return VT_OK;
}

static vt_status run_lane(const cli_job *j, comparison *c, uint32_t i, cli_error *e) {
  vt_program *p = NULL;
  cli_job own = *j;
  own.how.threads = c->lanes[i].threads;
  VT_TRY(cli_job_new_program(&own, c->lanes[i].wanted, &p, e));
  const vt_status s = run_and_compare_program(j, &c->lanes[i], p, c->lanes[0].program, e);
  if (i == 0) c->lanes[0].program = p;
  if (i != 0) vt_program_free(p);
  return s;
}

/* 1 if two lanes agree: their digests are equal, and either both or neither differ from lane 0 in
 * an element. */
static int lanes_agree(const lane *a, const lane *b) {
  return strcmp(a->hex, b->hex) == 0 && (a->differing != 0) == (b->differing != 0);
}

static int lane_differs(const comparison *c, uint32_t i) {
  return !lanes_agree(&c->lanes[i], &c->lanes[0]);
}

static int any_lane_differs(const comparison *c) {
  int any = 0;
  for (uint32_t i = 1; i < c->n; i++) any |= lane_differs(c, i);
  return any;
}

static int lane_differs_from_published(const comparison *c, uint32_t i) {
  return strcmp(c->lanes[i].hex, c->published) != 0;
}

static uint32_t count_lanes_unlike_published(const comparison *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) n += lane_differs_from_published(c, i) != 0;
  return n;
}

static int all_lanes_as_published(const comparison *c) {
  return count_lanes_unlike_published(c) == 0;
}

/* ---- reports ---- */

static void print_first_difference(const comparison *c, const lane *x) {
  const int digits = (int)(2 * vt_dtype_bytes(x->dtype));
  char a[CLI_VALUE_SIZE], b[CLI_VALUE_SIZE];
  cli_text_of_element_bits(x->dtype, x->first_a, a);
  cli_text_of_element_bits(x->dtype, x->first_b, b);
  cli_print("  first ");
  cli_print_escaped(x->output);
  cli_print("%s: %s has %0*" PRIx64 " (%s), %s has %0*" PRIx64 " (%s)\n", x->index,
            c->lanes[0].label, digits, x->first_a, a, x->label, digits, x->first_b, b);
}

static void print_lane(const comparison *c, uint32_t i) {
  const lane *x = &c->lanes[i];
  cli_print("%s  %s", x->hex, x->label);
  if (i != 0) {
    cli_print("  ");
    cli_print_count(x->compared, "element");
    cli_print(" compared, %" PRIu64 " differ", x->differing);
  }
  if (x->differing != 0) cli_print(", largest distance %" PRIu64, x->largest);
  cli_print("\n");
  if (x->output != NULL) print_first_difference(c, x);
}

/* 1 if an earlier lane agrees with lane `i`, so that the verdict has named lane `i` already. */
static int agrees_with_earlier_lane(const comparison *c, uint32_t i) {
  int any = 0;
  for (uint32_t j = 0; j < i; j++) any |= lanes_agree(&c->lanes[j], &c->lanes[i]);
  return any;
}

/* Prints "AGREES" if every lane has the published digest, else the lanes that differ from it. */
static void print_published_verdict(const comparison *c) {
  const uint32_t n = count_lanes_unlike_published(c);
  cli_print("; published: %s: %s", c->published, n == 0 ? "AGREES" : "DIFFERS");
  const char *before = " from ";
  for (uint32_t i = 0; n < c->n && i < c->n; i++) {
    if (!lane_differs_from_published(c, i)) continue;
    cli_print("%s%s", before, c->lanes[i].label);
    before = ", ";
  }
}

/* Prints the verdict, "A = C: digest != B: digest": lanes that agree are joined by =. */
static void print_verdict(const comparison *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    if (agrees_with_earlier_lane(c, i)) continue;
    cli_print("%s%s", i == 0 ? "" : " != ", c->lanes[i].label);
    for (uint32_t j = i + 1; j < c->n; j++)
      if (lanes_agree(&c->lanes[i], &c->lanes[j])) cli_print(" = %s", c->lanes[j].label);
    cli_print(": %s", c->lanes[i].hex);
  }
  if (c->published[0] != '\0') print_published_verdict(c);
  cli_print("\n");
}

static vt_status report_text(const comparison *c) {
  for (uint32_t i = 0; i < c->n; i++) print_lane(c, i);
  print_verdict(c);
  return VT_OK;
}

static json_t *json_lane(const comparison *c, uint32_t i) {
  const lane *x = &c->lanes[i];
  json_t *o = json_pack("{s:s, s:s}", "backend", x->name, "digest", x->hex);
  cli_stamp_add_json(o, &(cli_stamp){x->name, x->plugin ? x->content : NULL, x->unadmitted, NULL});
  if (x->threads != 0) cli_json_set(o, "threads", json_integer((json_int_t)x->threads));
  if (i == 0) return o;
  cli_json_set(o, "agrees", json_boolean(!lane_differs(c, i)));
  cli_json_set(o, "compared", json_integer((json_int_t)x->compared));
  cli_json_set(o, "differing", json_integer((json_int_t)x->differing));
  cli_json_set(o, "largest", cli_json_u64_text(x->largest));
  if (x->output != NULL)
    cli_json_set(o, "first",
                 json_pack("{s:o, s:s, s:o, s:o}", "output", cli_json_text(x->output), "index",
                           x->index, "expected", cli_json_bits_hex(x->dtype, x->first_a), "found",
                           cli_json_bits_hex(x->dtype, x->first_b)));
  return o;
}

static vt_status report_json(const cli_job *j, const comparison *c, cli_error *e) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < c->n; i++) cli_json_append(list, json_lane(c, i));
  json_t *root =
      json_pack("{s:s, s:o, s:o, s:b}", "model", vt_model_name(j->model), "bind",
                cli_bind_json(&j->bind), "backends", list, "agree", !any_lane_differs(c));
  cli_json_set(root, "policy", cli_policy_json(&j->how.policy));
  if (c->published[0] != '\0')
    cli_json_set(
        root, "published",
        json_pack("{s:s, s:b}", "digest", c->published, "agrees", all_lanes_as_published(c)));
  return cli_json_print(root, e);
}

/* ---- the verb ---- */

static vt_status comparison_status(const comparison *c, cli_error *e) {
  if (any_lane_differs(c)) return VT_FAIL(&e->diag, VT_DIFFERS, "%s", VT_DIVERGES);
  if (c->published[0] == '\0' || all_lanes_as_published(c)) return VT_OK;
  return VT_FAIL(&e->diag, VT_DIFFERS, "the run does not have the published digest");
}

static vt_status run_comparison(const cli_args *a, const cli_job *j, comparison *c, cli_error *e) {
  const char *published = cli_flag_value(a, "published");
  VT_TRY(choose_lanes(a, &j->how, c, e));
  if (published != NULL) VT_TRY(cli_published_find(published, j, c->published, e));
  for (uint32_t i = 0; i < c->n; i++) VT_TRY(run_lane(j, c, i, e));
  VT_TRY(cli_flag_value(a, "json") != NULL ? report_json(j, c, e) : report_text(c));
  return comparison_status(c, e);
}

static void comparison_free(comparison *c) {
  for (uint32_t i = 0; i < c->n; i++) {
    vt_program_free(c->lanes[i].program);
    free(c->lanes[i].name);
    free(c->lanes[i].label);
    free(c->lanes[i].output);
  }
  for (uint32_t i = 0; i < c->n_wanted; i++) free(c->wanted[i]);
  free(c->wanted);
  free(c->lanes);
}

vt_status verb_parity(const cli_args *a, cli_error *e) {
  /* A published run depends only on two seeds, so that anybody can repeat it. */
  VT_TRY(cli_refuse_both(a, "published", "params", e));
  VT_TRY(cli_refuse_both(a, "published", "in", e));
  cli_job j;
  comparison c = {0};
  vt_status s = cli_job_open(a, &j, e);
  if (s == VT_OK && j.source.bundle != NULL && cli_flag_value(a, "published") != NULL)
    s = VT_FAIL(&e->diag, VT_USAGE,
                "--published is about a model with parameters from a seed, and %s is a bundle",
                j.path);
  if (s == VT_OK) s = run_comparison(a, &j, &c, e);
  comparison_free(&c);
  cli_job_close(&j);
  return s;
}
