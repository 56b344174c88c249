/* SPDX-License-Identifier: Apache-2.0
 * fuzz_graph.c - bytes become a small graph of any ops with any attributes and bodies. What the op
 * table accepts must build, verify, print, parse, bind, plan and run, its gradient too, and every
 * way to run it must give the same bits: compositions whole or taken apart, passes or none, either
 * schedule, parameters streamed or not, strided or dense, one lane or vectors. Everything is done
 * twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"
#include "volta/volta.h"
#include "vt_pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The ways a model is run. The first does least to it: compositions are taken apart and what is not
 * needed is left out. */
static const struct way {
  const char *backend, *passes, *schedule, *stream;
} ways[] = {
    {"reference:0", "bind,lower,dead", NULL, NULL},
    {"reference:1", NULL, NULL, NULL},
    {"island:0", NULL, "memory", NULL},
    {"island:1", NULL, NULL, "all"},
    {"cpu:0", NULL, "memory", NULL},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Every output and the status; what is refused is refused by all. */
static vt_status run(const vt_model *m, const graph_decoded *x, const struct way *w,
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

/* An identity may leave out an op that would have met an index out of range: then the more is done
 * to a model, the fewer of its runs fail. All else is equal. */
static int agree(const vt_status *s, uint8_t digest[WAYS][32], int i) {
  if (s[0] == VT_RANGE) return s[i] == VT_RANGE || s[i] == VT_OK;
  return s[i] == s[0] && memcmp(digest[i], digest[0], 32) == 0;
}

static void compare(const vt_model *m, const graph_decoded *x, vt_hasher *h) {
  uint8_t digest[WAYS][32] = {{0}};
  vt_status status[WAYS];
  vt_diag d[WAYS] = {{.code = VT_OK}};
  for (int i = 0; i < WAYS; i++) {
    status[i] = run(m, x, &ways[i], digest[i], &d[i]);
    const int silent = status[i] != VT_OK && d[i].text[0] == '\0';
    if (agree(status, digest, i) && status[i] != VT_INTERNAL && !silent) continue;
    fprintf(stderr, "%s gives %s | %s\n%s", ways[i].backend, d[i].text, d[0].text,
            vt_model_text(m));
    abort();
  }
  vt_hash_add_u32(h, (uint32_t)status[0]);
  vt_hash_add(h, digest[0], 32);
}

/* Through the text form, like every model. */
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
    fprintf(stderr, "printed otherwise after parsing:\n%s%s", text.s, vt_model_text(m));
    abort();
  }
  vt_hash_add(h, text.s, text.n);
  vt_text_done(&text);
  compare(m, x, h);
  vt_model_free(m);
}

static vt_graph *bound(const graph_decoded *x) {
  const vt_pass_options o = {.bind = x->bind, .n_bind = x->n_bind, .alloc = vt_alloc_default()};
  vt_graph *g = NULL;
  vt_diag d = {.code = VT_OK};
  if (vt_pass_run(VT_PASS_bind, x->g, &o, &g, &d) == VT_OK) return g;
  if (d.code != VT_INTERNAL && d.text[0] != '\0') return NULL;
  fprintf(stderr, "binding: %s\n", d.text);
  abort();
}

static void check_gradients(const graph_decoded *x, vt_hasher *h) {
  vt_graph *g = bound(x);
  for (int i = 0; i < 1 + x->twice && g != NULL; i++) {
    vt_graph *reversed = graph_reverse(g);
    vt_graph_free(g);
    g = reversed;
    if (g != NULL) check_graph(g, x, h);
  }
  vt_graph_free(g);
}

static vt_hash256 process(const uint8_t *data, size_t size) {
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
  const vt_hash256 a = process(data, size), b = process(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
