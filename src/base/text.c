/* SPDX-License-Identifier: Apache-2.0
 * text.c - the growing string, and the edit distance behind "did you mean". */
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

/* Makes room for `more` bytes and the terminating 0. A failure keeps what was written so far,
 * because the owner still has to free it. */
static int reserve(vt_text *t, size_t more) {
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

void vt_text_bytes(vt_text *t, const void *p, size_t n) {
  if (!reserve(t, n)) return;
  if (n != 0) memcpy(t->s + t->n, p, n);
  t->n += n;
  t->s[t->n] = 0;
}

/* Formats into the room there is; once more when that was not enough. */
void vt_text_add(vt_text *t, const char *fmt, ...) {
  va_list ap, again;
  if (t->failed) return;
  va_start(ap, fmt);
  va_copy(again, ap);
  const size_t room = t->cap - t->n;
  const int n = vsnprintf(room != 0 ? t->s + t->n : NULL, room, fmt, ap);
  const int fits = n >= 0 && ((size_t)n < room || reserve(t, (size_t)n));
  if (fits && (size_t)n >= room) (void)vsnprintf(t->s + t->n, (size_t)n + 1, fmt, again);
  if (fits) t->n += (size_t)n;
  if (n < 0) t->failed = 1;
  if (t->s != NULL) t->s[t->n] = 0; /* nothing of what did not fit stays */
  va_end(again);
  va_end(ap);
}

enum { DISTANCE_NAME = 64, DISTANCE_LIMIT = 3, DISTANCE_FAR = 99 };

static unsigned min3(unsigned a, unsigned b, unsigned c) {
  const unsigned m = a < b ? a : b;
  return m < c ? m : c;
}

/* Bounded so that a hostile name of a megabyte costs nothing. */
static size_t short_length(const char *s) {
  size_t n = 0;
  while (n <= DISTANCE_NAME && s[n] != 0) n++;
  return n;
}

unsigned vt_text_distance(const char *a, const char *b) {
  const size_t na = short_length(a), nb = short_length(b);
  if (na > DISTANCE_NAME || nb > DISTANCE_NAME) return DISTANCE_FAR;
  unsigned row[DISTANCE_NAME + 1]; /* distances from a[0..i) to every b[0..j) */
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
