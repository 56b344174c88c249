/* SPDX-License-Identifier: Apache-2.0
 * fuzz_graph.c - bytes become a small graph of any ops with any attributes and bodies. What the op
 * table accepts must build, verify, print, parse, bind, plan and run, its gradient too, and both
 * forms of the reference, with compositions whole and taken apart, must give the same bits.
 * Everything is done twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "graph_bytes.h"
#include "volta/volta.h"
#include "vt_pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every output and the status; what is refused is refused by all. */
static vt_status run(const vt_model *m, const graph_decoded *x, const char *backend,
                     uint8_t digest[32], vt_diag *d) {
  const vt_options o = {
      .size = sizeof o, .backend = backend, .bind = x->bind, .n_bind = vt_model_dims(m)};
  vt_program *p = NULL;
  VT_TRY(vt_program_new(m, &o, &p, d));
  vt_status s = vt_program_init_params(p, 7, d);
  if (s == VT_OK) s = vt_program_random_inputs(p, 1, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  if (s == VT_OK) s = vt_program_digest(p, digest, d);
  vt_program_free(p);
  return s;
}

static void compare(const vt_model *m, const graph_decoded *x, vt_hasher *h) {
  uint8_t digest[2][32] = {{0}};
  vt_status status[2];
  vt_diag d[2] = {{.code = VT_OK}, {.code = VT_OK}};
  status[0] = run(m, x, "reference:0", digest[0], &d[0]);
  status[1] = run(m, x, "reference:1", digest[1], &d[1]);
  if (status[0] != status[1] || memcmp(digest[0], digest[1], 32) != 0) {
    fprintf(stderr, "the references differ: %s | %s\n%s", d[0].text, d[1].text, vt_model_text(m));
    abort();
  }
  if (status[0] == VT_INTERNAL || (status[0] != VT_OK && d[0].text[0] == '\0')) {
    fprintf(stderr, "%s\n%s", d[0].text, vt_model_text(m));
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
  if (vt_pass_run(0, x->g, &o, &g, &d) == VT_OK) return g;
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
