/* SPDX-License-Identifier: Apache-2.0
 * cached_plan.c - a cached plan: its reference count, the memory that it takes, and its form in a
 * file. That form lists, among others, the line and column of each node in the model's text. A span
 * is a range of the file's bytes that is still to be parsed; skip_ and parse_ functions move it
 * past one item and return 1, or return 0 if the item is not there. */
#include <string.h>
#include "cached_plan.h"
#include "vt_parse.h"

/* ---- life ---- */

/* Allocates with k->a and adds the change to k->bytes, so that a cache can keep to its limit. */
static void *resize_and_count_bytes(void *user, void *p, size_t old_size, size_t new_size) {
  vt_cached_plan *k = user;
  void *q = k->a.resize(k->a.user, p, old_size, new_size);
  if (q == NULL && new_size != 0) return NULL;
  if (p != NULL) atomic_fetch_sub(&k->bytes, old_size);
  atomic_fetch_add(&k->bytes, new_size);
  return q;
}

vt_alloc vt_cached_plan_counting_alloc(vt_cached_plan *k) {
  return (vt_alloc){.user = k, .resize = resize_and_count_bytes};
}

vt_cached_plan *vt_cached_plan_new(const char *key, size_t n_key, const vt_pass_list *list,
                                   vt_alloc a) {
  vt_cached_plan *k = vt_alloc_new(a, sizeof *k);
  char *copy = k != NULL ? vt_alloc_new(a, n_key + 1) : NULL;
  if (copy == NULL) {
    vt_alloc_free(a, k, sizeof *k);
    return NULL;
  }
  memcpy(copy, key, n_key);
  k->a = a.resize != NULL ? a : vt_alloc_default();
  k->key = copy;
  k->n_key = n_key;
  k->hash = vt_hash_bytes(key, n_key);
  k->list = *list;
  atomic_init(&k->holders, 1);
  atomic_init(&k->bytes, sizeof *k + n_key + 1);
  return k;
}

vt_cached_plan *vt_cached_plan_retain(vt_cached_plan *k) {
  atomic_fetch_add(&k->holders, 1);
  return k;
}

void vt_cached_plan_release(vt_cached_plan *k) {
  if (k == NULL || atomic_fetch_sub(&k->holders, 1) != 1) return;
  const vt_alloc a = k->a;
  vt_plan_free(k->plan);
  vt_graph_free(k->g);
  vt_alloc_free(a, k->key, k->n_key + 1);
  vt_alloc_free(a, k, sizeof *k);
}

/* ---- printing ---- */

/* The parts of a file, in the order in which they are written. */
typedef enum part { KEY, PASSES, GRAPH, PLAN, PLACES, PARTS } part;
static const char *const part_name[PARTS] = {
    [KEY] = "key", [PASSES] = "passes", [GRAPH] = "graph", [PLAN] = "plan", [PLACES] = "places"};
static const char magic[] = "volta plan entry 1\n";

enum { HASH_LINE = 65 }; /* bytes of the last line: 64 digits and the end of the line */

static void print_passes(const vt_cached_plan *k, vt_text *out) {
  for (uint32_t i = 0; i < k->list.n; i++) {
    char hex[65];
    vt_hash_hex(&k->after[i], hex);
    vt_text_add(out, "%s %s\n", vt_pass_at(k->list.at[i])->name, hex);
  }
}

/* Prints the line and column of each node, each node before the nodes of its bodies. */
static void print_node_lines(const vt_graph *g, vt_text *out) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    vt_text_add(out, "%u %u\n", n->line, n->column);
    for (uint32_t b = 0; b < n->n_body; b++) print_node_lines(n->body[b], out);
  }
}

static void print_head(const size_t part_bytes[PARTS], vt_text *out) {
  vt_text_add(out, "%s", magic);
  for (uint32_t i = 0; i < PARTS; i++) vt_text_add(out, "%s %zu\n", part_name[i], part_bytes[i]);
}

void vt_cached_plan_print(const vt_cached_plan *k, vt_text *out) {
  vt_text body;
  size_t size[PARTS] = {[KEY] = k->n_key};
  char hex[65];
  vt_text_init(&body, out->a);
  print_passes(k, &body);
  size[PASSES] = body.n;
  vt_graph_print(k->g, 0, &body);
  size[GRAPH] = body.n - size[PASSES];
  vt_plan_print(k->plan, 1, &body);
  size[PLAN] = body.n - size[PASSES] - size[GRAPH];
  print_node_lines(k->g, &body);
  size[PLACES] = body.n - size[PASSES] - size[GRAPH] - size[PLAN];
  print_head(size, out);
  vt_text_add_bytes(out, k->key, k->n_key);
  vt_text_add_bytes(out, body.s, body.n);
  const vt_hash256 h = vt_hash_bytes(out->s, out->n);
  vt_hash_hex(&h, hex);
  vt_text_add(out, "%s\n", hex);
  if (vt_text_status(&body) != VT_OK) out->failed = 1;
  vt_text_done(&body);
}

/* ---- parsing: skip_ and parse_ move `from` past an item and return 1, or return 0 ---- */

typedef struct span {
  const char *s;
  size_t n;
} span;

static vt_status fail_as_damaged(const char *what, vt_diag *d) {
  return VT_FAIL(d, VT_FORMAT, "it is damaged: %s", what);
}

static vt_status fail_no_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

static int skip_word(span *from, const char *word) {
  const size_t n = strlen(word);
  if (from->n < n || memcmp(from->s, word, n) != 0) return 0;
  *from = (span){from->s + n, from->n - n};
  return 1;
}

/* Parses a decimal number that has no leading zeros and is at most `most`. */
static int parse_number(span *from, uint64_t most, uint64_t *out) {
  uint64_t x = 0;
  size_t n = 0;
  for (; n < from->n && n < 19 && from->s[n] >= '0' && from->s[n] <= '9'; n++)
    x = x * 10 + (uint64_t)(from->s[n] - '0');
  if (n == 0 || x > most || (n > 1 && from->s[0] == '0')) return 0;
  *from = (span){from->s + n, from->n - n};
  *out = x;
  return 1;
}

/* Finds the parts in `all`, the file without its last line; the lengths that it states must add up
 * exactly. */
static vt_status split_parts(span all, span parts[PARTS], vt_diag *d) {
  if (!skip_word(&all, magic)) return fail_as_damaged("its first line is wrong", d);
  for (uint32_t i = 0; i < PARTS; i++) {
    uint64_t size;
    if (!skip_word(&all, part_name[i]) || !skip_word(&all, " ") ||
        !parse_number(&all, all.n, &size) || !skip_word(&all, "\n"))
      return fail_as_damaged("its lengths cannot be read", d);
    parts[i].n = (size_t)size;
  }
  for (uint32_t i = 0; i < PARTS; i++) {
    if (parts[i].n > all.n) return fail_as_damaged("its lengths are not those of its parts", d);
    parts[i].s = all.s;
    all = (span){all.s + parts[i].n, all.n - parts[i].n};
  }
  return all.n == 0 ? VT_OK : fail_as_damaged("its lengths are not those of its parts", d);
}

/* Checks the hash in the last line and cuts that line off. */
static vt_status check_and_cut_hash(span *all, vt_diag *d) {
  char hex[66];
  if (all->n < HASH_LINE) return fail_as_damaged("it is too short", d);
  all->n -= HASH_LINE;
  const vt_hash256 h = vt_hash_bytes(all->s, all->n);
  vt_hash_hex(&h, hex);
  hex[64] = '\n';
  if (memcmp(hex, all->s + all->n, HASH_LINE) != 0)
    return fail_as_damaged("its checksum is wrong", d);
  return VT_OK;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_hash(span *from, vt_hash256 *out) {
  if (from->n < 64) return 0;
  for (uint32_t i = 0; i < 32; i++) {
    const int high = hex_digit(from->s[2 * i]), low = hex_digit(from->s[2 * i + 1]);
    if (high < 0 || low < 0) return 0;
    out->b[i] = (uint8_t)(high * 16 + low);
  }
  *from = (span){from->s + 64, from->n - 64};
  return 1;
}

static vt_status read_passes(span from, vt_cached_plan *k, vt_diag *d) {
  for (uint32_t i = 0; i < k->list.n; i++)
    if (!skip_word(&from, vt_pass_at(k->list.at[i])->name) || !skip_word(&from, " ") ||
        !parse_hash(&from, &k->after[i]) || !skip_word(&from, "\n"))
      return fail_as_damaged("its passes cannot be read", d);
  return from.n == 0 ? VT_OK : fail_as_damaged("its passes cannot be read", d);
}

/* Fails if the text is not the printed form of the graph that was parsed from it, because then
 * vt_cached_plan_print did not write it. */
static vt_status check_graph_is_printed_form(span text, const vt_graph *g, vt_alloc a, vt_diag *d) {
  vt_text again;
  vt_text_init(&again, a);
  vt_graph_print(g, 0, &again);
  vt_status s = vt_text_status(&again) == VT_OK ? VT_OK : fail_no_memory(d);
  if (s == VT_OK && (again.n != text.n || memcmp(again.s, text.s, text.n) != 0))
    s = fail_as_damaged("its graph is not in the printed form", d);
  vt_text_done(&again);
  return s;
}

/* The parser's diagnostic is dropped, because it names lines of the cache's file, which no user
 * wrote. */
static vt_status read_graph(span from, vt_cached_plan *k, vt_diag *d) {
  vt_diag why = {0};
  vt_hash256 hash;
  const vt_status s = vt_parse(from.s, from.n, vt_cached_plan_counting_alloc(k), &k->g, &why);
  if (s == VT_NOMEM) return fail_no_memory(d);
  if (s != VT_OK) return fail_as_damaged("its graph cannot be read", d);
  if (vt_graph_hash(k->g, &hash) != VT_OK) return fail_no_memory(d);
  if (memcmp(&hash, &k->after[k->list.n - 1], sizeof hash) != 0)
    return fail_as_damaged("its graph does not have the stored hash", d);
  return check_graph_is_printed_form(from, k->g, k->a, d);
}

static int read_node_lines(span *from, vt_graph *g) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    uint64_t line, column;
    if (!parse_number(from, UINT32_MAX, &line) || !skip_word(from, " ") ||
        !parse_number(from, UINT32_MAX, &column) || !skip_word(from, "\n"))
      return 0;
    g->nodes[i].line = (uint32_t)line;
    g->nodes[i].column = (uint32_t)column;
    for (uint32_t b = 0; b < g->nodes[i].n_body; b++)
      if (!read_node_lines(from, g->nodes[i].body[b])) return 0;
  }
  return 1;
}

/* Returns 1 if each step has the scratch that the target asks for. Only the target knows how much a
 * step needs, so the plan's verifier cannot check it. */
static int plan_has_scratch_of_target(const vt_plan *p, const vt_target *t) {
  for (uint32_t r = 0; r < p->n_bk_steps; r++) {
    uint64_t bytes = 0;
    if (t->workspace(t->self, &p->bk_steps[r], &bytes, NULL) != VT_OK ||
        bytes != p->bk_steps[r].work_bytes)
      return 0;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t b = 0; b < p->nested[i].n; b++)
      if (!plan_has_scratch_of_target(p->nested[i].plan[b], t)) return 0;
  return 1;
}

static vt_status read_plan(span from, vt_cached_plan *k, const vt_target *t, vt_diag *d) {
  vt_diag why = {0};
  const vt_status s =
      vt_plan_parse(k->g, from.s, from.n, vt_cached_plan_counting_alloc(k), &k->plan, &why);
  if (s == VT_NOMEM) return fail_no_memory(d);
  if (s != VT_OK) return fail_as_damaged("its plan does not fit its graph", d);
  if (strcmp(k->plan->fingerprint, t->fingerprint) != 0 || k->plan->dense_only != t->dense_only ||
      !plan_has_scratch_of_target(k->plan, t))
    return fail_as_damaged("its plan is not for this target", d);
  return VT_OK;
}

static vt_status read_all_parts(const span parts[PARTS], vt_cached_plan *k, const vt_target *t,
                                vt_diag *d) {
  span places = parts[PLACES];
  VT_TRY(read_passes(parts[PASSES], k, d));
  VT_TRY(read_graph(parts[GRAPH], k, d));
  if (!read_node_lines(&places, k->g) || places.n != 0)
    return fail_as_damaged("its places cannot be read", d);
  return read_plan(parts[PLAN], k, t, d);
}

vt_status vt_cached_plan_parse(const void *bytes, size_t n, const char *key, size_t n_key,
                               const vt_pass_list *list, const vt_target *t, vt_alloc a,
                               vt_cached_plan **out, vt_diag *d) {
  span all = {bytes, n}, parts[PARTS];
  VT_TRY(check_and_cut_hash(&all, d));
  VT_TRY(split_parts(all, parts, d));
  if (parts[KEY].n != n_key || memcmp(parts[KEY].s, key, n_key) != 0)
    return VT_FAIL(d, VT_NAME, "it is the plan of another key");
  vt_cached_plan *k = vt_cached_plan_new(key, n_key, list, a);
  if (k == NULL) return fail_no_memory(d);
  const vt_status s = read_all_parts(parts, k, t, d);
  if (s == VT_OK) {
    *out = k;
  } else {
    vt_cached_plan_release(k);
  }
  return s;
}
