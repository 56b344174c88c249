/* SPDX-License-Identifier: Apache-2.0
 * fuzz_graph.c - decodes bytes into a small graph of any ops, attributes and bodies. A graph that
 * the op table accepts must build, verify, print, parse, bind, plan and run, and so must its
 * gradient. The configurations below must give the same bits: compositions run as one step or
 * decomposed, with all passes or few, with either schedule, parameters streamed or not, tensors
 * strided or dense, scalar or vector code. Everything is done twice and compared, to find state
 * that outlives a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"
#include "volta/volta.h"
#include "vt_pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The configurations in which a model runs. The first changes the model least: it only decomposes
 * compositions and removes dead nodes. A NULL means the default. */
static const struct config {
  const char *backend, *passes, *schedule, *stream;
} configs[] = {
    {"reference:0", "bind,lower,dead", NULL, NULL},
    {"reference:1", NULL, NULL, NULL},
    {"island:0", NULL, "memory", NULL},
    {"island:1", NULL, NULL, "all"},
    {"cpu:0", NULL, "memory", NULL},
};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* Runs a model in one configuration and sets the digest of its outputs. */
static vt_status run_config(const vt_model *m, const graph_decoded *x, const struct config *w,
                            uint8_t digest[32], vt_diag *d) {
  const vt_options o = {.size = sizeof o,
                        .backend = w->backend,
                        .passes = w->passes,
                        .schedule = w->schedule,
                        .stream = w->stream,
                        .bind = x->bind,
                        .n_bind = vt_model_dims(m)};
  vt_program *p = NULL;
  VT_TRY(vt_program_new(m, &o, &p, d));
  vt_status s = vt_program_init_params(p, 7, d);
  if (s == VT_OK) s = vt_program_random_inputs(p, 1, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) s = vt_program_digest(p, digest, d);
  vt_program_free(p);
  return s;
}

/* Returns 1 if configuration i has the status and the digest of the first. There is one exception:
 * if the first fails with an index fault, another may succeed, because a pass may have removed the
 * op. */
static int agrees_with_first(const vt_status *s, uint8_t digest[CONFIGS][32], int i) {
  if (s[0] == VT_RANGE) return s[i] == VT_RANGE || s[i] == VT_OK;
  return s[i] == s[0] && memcmp(digest[i], digest[0], 32) == 0;
}

static void compare_configs(const vt_model *m, const graph_decoded *x, vt_hasher *h) {
  uint8_t digest[CONFIGS][32] = {{0}};
  vt_status status[CONFIGS];
  vt_diag d[CONFIGS] = {{.code = VT_OK}};
  for (int i = 0; i < CONFIGS; i++) {
    status[i] = run_config(m, x, &configs[i], digest[i], &d[i]);
    const int lacks_message = status[i] != VT_OK && d[i].text[0] == '\0';
    if (agrees_with_first(status, digest, i) && status[i] != VT_INTERNAL && !lacks_message)
      continue;
    fprintf(stderr, "%s gives %s | %s\n%s", configs[i].backend, d[i].text, d[0].text,
            vt_model_text(m));
    abort();
  }
  vt_hash_add_u32(h, (uint32_t)status[0]);
  vt_hash_add(h, digest[0], 32);
}

/* Prints the graph, parses the text as a model, and runs the model in every configuration. */
static void check_graph(const vt_graph *g, const graph_decoded *x, vt_hasher *h) {
  vt_text text;
  vt_model *m = NULL;
  vt_diag d = {.code = VT_OK};
  vt_text_init(&text, vt_alloc_default());
  vt_graph_print(g, 0, &text);
  if (vt_text_status(&text) != VT_OK) abort();
  if (vt_model_parse(text.s, text.n, NULL, &m, &d) != VT_OK) {
    fprintf(stderr, "does not parse: %s\n%s", d.text, text.s);
    abort();
  }
  if (strcmp(text.s, vt_model_text(m)) != 0) {
    fprintf(stderr, "the printed form changes after parsing:\n%s%s", text.s, vt_model_text(m));
    abort();
  }
  vt_hash_add(h, text.s, text.n);
  vt_text_done(&text);
  compare_configs(m, x, h);
  vt_model_free(m);
}

static vt_graph *bind_symbols(const graph_decoded *x) {
  const vt_pass_options o = {.bind = x->bind, .n_bind = x->n_bind, .alloc = vt_alloc_default()};
  vt_graph *g = NULL;
  vt_diag d = {.code = VT_OK};
  if (vt_pass_run(VT_PASS_bind, x->g, &o, &g, &d) == VT_OK) return g;
  if (d.code != VT_INTERNAL && d.text[0] != '\0') return NULL;
  fprintf(stderr, "binding: %s\n", d.text);
  abort();
}

static void check_gradients(const graph_decoded *x, vt_hasher *h) {
  vt_graph *g = bind_symbols(x);
  for (int i = 0; i < 1 + x->twice && g != NULL; i++) {
    vt_graph *reversed = graph_reverse(g);
    vt_graph_free(g);
    g = reversed;
    if (g != NULL) check_graph(g, x, h);
  }
  vt_graph_free(g);
}

/* Decodes and checks a graph; returns a hash of everything that was computed. */
static vt_hash256 check_bytes(const uint8_t *data, size_t size) {
  vt_hasher h;
  vt_hash_init(&h);
  const graph_decoded x = graph_decode(data, size);
  if (x.g != NULL) {
    check_graph(x.g, &x, &h);
    check_gradients(&x, &h);
    vt_graph_free(x.g);
  }
  return vt_hash_done(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const vt_hash256 a = check_bytes(data, size), b = check_bytes(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
