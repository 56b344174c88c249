/* SPDX-License-Identifier: Apache-2.0
 * text.c - the growing string, and the most similar name for "did you mean". */
#include "vt_text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void vt_text_init(vt_text *t, vt_alloc a) { *t = (vt_text){.a = a}; }

void vt_text_done(vt_text *t) {
  vt_alloc_free(t->a, t->s, t->cap);
  *t = (vt_text){.a = t->a};
}

vt_status vt_text_status(const vt_text *t) { return t->failed ? VT_NOMEM : VT_OK; }

/* Makes sure that `more` bytes and the terminating 0 fit. On failure the text written so far stays
 * allocated, because its owner still has to free it. */
static int reserve_bytes(vt_text *t, size_t more) {
  if (t->failed) return 0;
  if (more >= SIZE_MAX / 2 - t->n) return t->failed = 1, 0;
  const size_t want = t->n + more + 1;
  if (want <= t->cap) return 1;
  size_t cap = t->cap < 64 ? 64 : t->cap * 2;
  if (cap < want) cap = want;
  const vt_alloc a = t->a.resize != NULL ? t->a : vt_alloc_default();
  char *s = a.resize(a.user, t->s, t->cap, cap);
  if (s == NULL) return t->failed = 1, 0;
  t->s = s;
  t->cap = cap;
  return 1;
}

void vt_text_add_bytes(vt_text *t, const void *p, size_t n) {
  if (!reserve_bytes(t, n)) return;
  if (n != 0) memcpy(t->s + t->n, p, n);
  t->n += n;
  t->s[t->n] = 0;
}

/* ---- formats ---- */

/* Formats with vsnprintf into the free capacity, and again after growing if that was too small. */
static void add_printf(vt_text *t, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  const size_t space = t->cap - t->n;
  const int n = vsnprintf(space != 0 ? t->s + t->n : NULL, space, fmt, ap);
  const int fits = n >= 0 && ((size_t)n < space || reserve_bytes(t, (size_t)n));
  if (fits && (size_t)n >= space) (void)vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
  if (fits) t->n += (size_t)n;
  if (n < 0) t->failed = 1;
  va_end(again);
}

size_t vt_text_digits(char out[20], uint64_t x) {
  size_t n = 0;
  char reversed[20];
  do reversed[n++] = (char)('0' + x % 10);
  while ((x /= 10) != 0);
  for (size_t i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
  return n;
}

static void add_number(vt_text *t, uint64_t magnitude, int negative) {
  char digits[21] = "-";
  vt_text_add_bytes(t, digits, vt_text_digits(digits + negative, magnitude) + (size_t)negative);
}

static void add_signed(vt_text *t, int64_t x) {
  add_number(t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0);
}

/* Formats %s, %u, %llu and %lld, the conversions that printers of graphs and plans use most,
 * without vsnprintf. Returns 0 at any other conversion; a part of the text may have been added by
 * then. */
static int add_common_conversions(vt_text *t, const char *fmt, va_list ap) {
  for (;;) {
    const char *percent = strchr(fmt, '%');
    vt_text_add_bytes(t, fmt, percent != NULL ? (size_t)(percent - fmt) : strlen(fmt));
    if (percent == NULL) return 1;
    fmt = percent + 1;
    if (*fmt == 's') {
      const char *s = va_arg(ap, const char *);
      s = s != NULL ? s : "(null)"; /* as printf does */
      vt_text_add_bytes(t, s, strlen(s));
      fmt++;
    } else if (*fmt == 'u') {
      add_number(t, va_arg(ap, unsigned), 0);
      fmt++;
    } else if (strncmp(fmt, "llu", 3) == 0) {
      add_number(t, va_arg(ap, unsigned long long), 0);
      fmt += 3;
    } else if (strncmp(fmt, "lld", 3) == 0) {
      add_signed(t, va_arg(ap, long long));
      fmt += 3;
    } else {
      return 0;
    }
  }
}

/* Adds all of the formatted text, or nothing if memory runs out. Printing a plan adds tens of
 * thousands of short pieces, and vsnprintf would dominate its time; so add_common_conversions is
 * tried first.
 */
void vt_text_add(vt_text *t, const char *fmt, ...) {
  const size_t start = t->n;
  va_list ap, again;
  if (t->failed) return;
  va_start(ap, fmt);
  va_copy(again, ap);
  if (!add_common_conversions(t, fmt, ap) && !t->failed) {
    t->n = start;
    add_printf(t, fmt, again);
  }
  if (t->failed) t->n = start;
  if (t->s != NULL) t->s[t->n] = 0;
  va_end(again);
  va_end(ap);
}

/* ---- suggestions ---- */

enum { DISTANCE_NAME = 64, DISTANCE_LIMIT = 3, DISTANCE_FAR = 99 };

static unsigned min3(unsigned a, unsigned b, unsigned c) {
  const unsigned m = a < b ? a : b;
  return m < c ? m : c;
}

/* Returns the length of s, at most DISTANCE_NAME + 1, so that a hostile name of a megabyte costs
 * nothing. */
static size_t bounded_length(const char *s) {
  size_t n = 0;
  while (n <= DISTANCE_NAME && s[n] != 0) n++;
  return n;
}

unsigned vt_text_distance(const char *a, const char *b) {
  const size_t na = bounded_length(a), nb = bounded_length(b);
  if (na > DISTANCE_NAME || nb > DISTANCE_NAME) return DISTANCE_FAR;
  unsigned row[DISTANCE_NAME + 1]; /* row[j]: the edit distance from a[0..i) to b[0..j) */
  for (size_t j = 0; j <= nb; j++) row[j] = (unsigned)j;
  for (size_t i = 1; i <= na; i++) {
    unsigned diagonal = row[0];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= nb; j++) {
      const unsigned kept = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = min3(kept, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[nb] <= DISTANCE_LIMIT ? row[nb] : DISTANCE_FAR;
}

/* Considers a candidate for "did you mean". Its distance is the number of edits that change the
 * wanted word into it, at most 2 or 3, or fewer for a short word; two swapped letters are two
 * edits. Among candidates with the same distance, one that is as long as the wanted word wins, then
 * the first. */
void vt_suggestion_consider(vt_suggestion *s, const char *candidate) {
  const size_t n = strlen(s->wanted);
  const unsigned distance = vt_text_distance(s->wanted, candidate);
  if (distance > (n < 4 ? n / 2 : n < 9 ? 2 : 3)) return;
  const unsigned cost = 2 * distance + (strlen(candidate) != n);
  if (s->best != NULL && cost >= s->cost) return;
  s->best = candidate;
  s->cost = cost;
}
