/* SPDX-License-Identifier: Apache-2.0
 * suite.c - functions on a complete suite: its digest, finding cases by name and by pattern, and
 * choosing the short form. */
#include <stdio.h>
#include <string.h>
#include "suite_build.h"

const int64_t vt_suite_size[VT_SUITE_SIZES] = {7,  8,   9,   15,  16,   17,   31,  32,
                                               33, 255, 256, 257, 1023, 1024, 1025};

const char *vt_mix_name(int mix) {
  static const char *const name[VT_MIXES] = {[VT_MIX_ORDINARY] = "ordinary",
                                             [VT_MIX_SPECIAL] = "special",
                                             [VT_MIX_TINY] = "tiny",
                                             [VT_MIX_WIDE] = "wide",
                                             [VT_MIX_ZEROS] = "zeros",
                                             [VT_MIX_FLAT] = "flat",
                                             [VT_MIX_FEW] = "few"};
  return mix >= 0 && mix < VT_MIXES ? name[mix] : NULL;
}

vt_status vt_suite_new(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  vt_suite *s = vt_alloc_new(a, sizeof *s);
  if (s == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  s->alloc = a;
  vt_arena_init(&s->arena, a);
  *out_suite = s;
  return VT_OK;
}

void vt_suite_free(vt_suite *s) {
  if (s == NULL) return;
  const vt_alloc a = s->alloc;
  vt_arena_done(&s->arena);
  vt_alloc_free(a, s, sizeof *s);
}

/* ---- stored digests ---- */

const uint8_t *vt_suite_expected_digest(const vt_suite *s, uint32_t i) {
  return i < s->n_cases ? s->cases[i].expected : NULL;
}

void vt_suite_digest(const vt_suite *s, vt_hash256 *out) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u64(&h, s->n_cases);
  for (uint32_t i = 0; i < s->n_cases; i++) {
    const vt_case *c = &s->cases[i];
    const uint8_t stored = c->expected == NULL ? 0 : 8;
    vt_hash_add(&h, c->name, strlen(c->name) + 1);
    vt_hash_add(&h, &stored, 1);
    if (stored != 0) vt_hash_add(&h, c->expected, stored);
  }
  *out = vt_hash_done(&h);
}

/* ---- by name ---- */

uint32_t vt_suite_find(const vt_suite *s, const char *name) {
  uint32_t lo = 0, hi = s->n_cases;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    const int c = strcmp(s->cases[mid].name, name);
    if (c == 0) return mid;
    if (c < 0) lo = mid + 1;
    if (c > 0) hi = mid;
  }
  return s->n_cases;
}

/* 1 if `s` matches the pattern. After a mismatch the last star is extended by one byte, so the time
 * is at most proportional to the product of the lengths. */
static int matches_glob(const char *pattern, const char *s) {
  const char *star = NULL, *from = NULL;
  while (*s != 0) {
    if (*pattern == '*') {
      star = ++pattern;
      from = s;
    } else if (*pattern == *s) {
      pattern++;
      s++;
    } else if (star != NULL) {
      pattern = star;
      s = ++from;
    } else {
      return 0;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == 0;
}

int vt_suite_case_matches(const vt_suite *s, uint32_t i, const char *pattern) {
  const vt_case *c = &s->cases[i];
  return strcmp(c->model->block->op->name, pattern) == 0 || matches_glob(pattern, c->name);
}

/* ---- the short form ---- */

static int is_lower(char c) { return c >= 'a' && c <= 'z'; }
static int is_word_char(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Prints the element types in the model's text, as "/f32/i64". */
static void list_dtypes_in_text(const vt_suite_model *m, char *out, size_t capacity) {
  size_t n = 0;
  out[0] = 0;
  for (const char *at = m->text + 1; *at != 0 && n + 8 < capacity; at++) {
    if (!is_lower(*at) || is_word_char(at[-1])) continue;
    for (uint32_t t = 1; vt_dtype_name(t) != NULL; t++) {
      const size_t length = strlen(vt_dtype_name(t));
      if (strncmp(at, vt_dtype_name(t), length) == 0 && !is_word_char(at[length]))
        n += (size_t)snprintf(out + n, capacity - n, "/%s", vt_dtype_name(t));
    }
  }
}

/* 1 if `kind` is not in the hash table `seen`, to which it is then added. `slots`, the size of the
 * table, is a power of two greater than the number of kinds. */
static int add_if_unseen(uint64_t *seen, uint64_t slots, const char *kind) {
  const uint64_t h = vt_case_seed(kind) | 1;
  for (uint64_t at = h >> 20;; at++) {
    uint64_t *slot = &seen[at & (slots - 1)];
    if (*slot == h) return 0;
    if (*slot != 0) continue;
    *slot = h;
    return 1;
  }
}

vt_status vt_suite_choose_short(const vt_suite *s, uint8_t *chosen, vt_diag *d) {
  uint64_t slots = 2;
  while (slots < 2 * (uint64_t)s->n_cases) slots *= 2;
  uint64_t *seen = vt_alloc_new(s->alloc, (size_t)slots * sizeof *seen);
  if (seen == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  /* The loop goes backwards, because the first names are those of empty tensors (`S=0,3`), which
   * test nothing. */
  const vt_suite_model *last = NULL; /* cases of one model are next to each other */
  char types[300];
  for (uint32_t i = s->n_cases; i-- > 0;) {
    const vt_case *c = &s->cases[i];
    char kind[400]; /* text of op, mix and element types: one case of each kind is chosen */
    if (c->model != last) list_dtypes_in_text(c->model, types, sizeof types);
    last = c->model;
    snprintf(kind, sizeof kind, "%s/%d%d%s", c->model->block->op->name, c->mix, c->gradient, types);
    chosen[i] = add_if_unseen(seen, slots, kind) || vt_case_seed(s->cases[i].name) % 32 == 0;
  }
  vt_alloc_free(s->alloc, seen, (size_t)slots * sizeof *seen);
  return VT_OK;
}
