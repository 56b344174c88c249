/* SPDX-License-Identifier: Apache-2.0
 * fuzz_parse.c - parses any bytes as a model. They parse or are refused with a message. The printed
 * form of a model must parse again and print the same. Doing all twice must give the same text or
 * the same message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "vt_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The parser reads at most this many bytes. A longer printed form is not parsed again. */
enum { TEXT_MAX = 64 * 1024 * 1024 };

static void check_failure_has_message(vt_status s, const vt_diag *d) {
  if (d->code != s || d->text[0] == 0) abort();
  if (d->line == 0 && s != VT_NOMEM && s != VT_LIMIT) abort();
}

static vt_text print_graph(const vt_graph *g) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 0, &t);
  if (vt_text_status(&t) != VT_OK) exit(1);
  return t;
}

static void check_parses_again(const vt_text *first) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  if (vt_parse(first->s, first->n, vt_alloc_default(), &g, &d) != VT_OK) abort();
  vt_text second = print_graph(g);
  if (second.n != first->n || memcmp(second.s, first->s, first->n) != 0) abort();
  vt_text_done(&second);
  vt_graph_free(g);
}

/* Parses and checks the bytes; returns a hash of the printed form or the message. */
static vt_hash256 check_bytes(const uint8_t *data, size_t size) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  const vt_status s = vt_parse((const char *)data, size, vt_alloc_default(), &g, &d);
  if (s != VT_OK) {
    check_failure_has_message(s, &d);
    return vt_hash_bytes(d.text, strlen(d.text));
  }
  vt_text first = print_graph(g);
  vt_graph_free(g);
  if (first.n <= TEXT_MAX) check_parses_again(&first);
  const vt_hash256 h = vt_hash_bytes(first.s, first.n);
  vt_text_done(&first);
  return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const vt_hash256 a = check_bytes(data, size), b = check_bytes(data, size);
  if (memcmp(&a, &b, sizeof a) != 0) abort();
  return 0;
}
