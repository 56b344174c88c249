/* SPDX-License-Identifier: Apache-2.0
 * cpu_sort.c - the ops sort, argsort and top_k along an axis. Each value becomes a key, an unsigned
 * integer that grows in the requested order, and its index is sorted along with it. Equal keys keep
 * their order, whether ascending or descending. */
#include <string.h>
#include "cpu_move.h"
#include "cpu_radix.h"

/* ---- keys ---- */

/* All bits of a negative number are inverted and the sign bit of others is set, so that keys grow
 * with values; every NaN has the highest key. */
static uint64_t key_of_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return x == x ? u ^ ((0u - (u >> 31)) | 0x80000000u) : UINT32_MAX;
}

static uint64_t key_of_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return x == x ? u ^ ((UINT64_C(0) - (u >> 63)) | UINT64_C(1) << 63) : UINT64_MAX;
}

static uint64_t key_of(const vt_view *x, int64_t at) {
  switch (x->dtype) {
    case VT_DTYPE_F32:
      return key_of_f32(((const float *)x->data)[at]);
    case VT_DTYPE_F64:
      return key_of_f64(((const double *)x->data)[at]);
    case VT_DTYPE_I8:
      return (uint8_t)((const int8_t *)x->data)[at] ^ 0x80u;
    case VT_DTYPE_I32:
      return (uint32_t)((const int32_t *)x->data)[at] ^ 0x80000000u;
    case VT_DTYPE_I64:
      return (uint64_t)((const int64_t *)x->data)[at] ^ UINT64_C(1) << 63;
    default:
      return ((const uint8_t *)x->data)[at];
  }
}

/* ---- one line ---- */

/* The lines of x along an axis, and the results that the first elements of each line go to. */
typedef struct sorting {
  const vt_view *x, *values, *indices; /* values may be NULL */
  vt_cpu_walk walk; /* over the other axes: offsets in x, values, indices, in elements */
  uint32_t axis;
  int64_t n, wanted;   /* elements of a line; how many of them are wanted */
  int64_t slots;       /* capacity of the scratch in elements */
  int bits;            /* bits of a key */
  uint64_t key_mask;   /* mask that keys are XORed with: all bits if descending, else 0 */
  int64_t count;       /* number of lines */
  uint64_t jobs, each; /* jobs; bytes of scratch of each */
  char *work;
} sorting;

/* Whether a key of at most 32 bits and its index fit one 64-bit word. */
static int fits_one_word(int bits, int64_t n) { return bits <= 32 && n <= (int64_t)UINT32_MAX; }

static void store_result(const sorting *s, const vt_cpu_walk *w, int64_t i, int64_t index) {
  const size_t size = (size_t)vt_cpu_bytes_of(s->x->dtype);
  const int64_t from = w->at[0] + index * s->x->stride[s->axis];
  ((int64_t *)s->indices->data)[w->at[2] + i * s->indices->stride[s->axis]] = index;
  if (s->values == NULL) return;
  const int64_t to = w->at[1] + i * s->values->stride[s->axis];
  memcpy((char *)s->values->data + to * (int64_t)size,
         (const char *)s->x->data + from * (int64_t)size, size);
}

static uint64_t key_in_line(const sorting *s, const vt_cpu_walk *w, int64_t i) {
  return key_of(s->x, w->at[0] + i * s->x->stride[s->axis]) ^ s->key_mask;
}

/* Sorts a line whose keys and indices fit words. If fewer elements are wanted than the line has,
 * the scratch may be shorter than the line: whenever it is full, it is sorted and only the wanted
 * elements stay. Later elements that do not come before the last of these are skipped; they have
 * higher indices, so ties are decided rightly. */
static void sort_as_words(const sorting *s, const vt_cpu_walk *w, uint64_t *words) {
  uint64_t *other = words + s->slots, limit = UINT64_MAX;
  int64_t n = 0;
  for (int64_t i = 0; i < s->n; i++) {
    const uint64_t word = key_in_line(s, w, i) << 32 | (uint64_t)i;
    if (word >= limit) continue;
    words[n++] = word;
    if (n < s->slots || i + 1 == s->n) continue;
    const uint64_t *sorted = vt_cpu_radix_sort_words(words, other, n, s->bits);
    n = s->wanted;
    if (sorted != words) memcpy(words, sorted, (size_t)n * sizeof *words);
    limit = words[n - 1];
  }
  const uint64_t *sorted = vt_cpu_radix_sort_words(words, other, n, s->bits);
  for (int64_t i = 0; i < s->wanted; i++) store_result(s, w, i, (int64_t)(sorted[i] & UINT32_MAX));
}

static void sort_as_records(const sorting *s, const vt_cpu_walk *w, vt_cpu_record *r) {
  vt_cpu_record *other = r + s->slots;
  uint64_t limit = 0;
  int is_limited = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < s->n; i++) {
    const vt_cpu_record one = {key_in_line(s, w, i), i};
    if (is_limited && one.key >= limit) continue;
    r[n++] = one;
    if (n < s->slots || i + 1 == s->n) continue;
    const vt_cpu_record *sorted = vt_cpu_radix_sort(r, other, n, s->bits);
    n = s->wanted;
    if (sorted != r) memcpy(r, sorted, (size_t)n * sizeof *r);
    limit = r[n - 1].key;
    is_limited = 1;
  }
  const vt_cpu_record *sorted = vt_cpu_radix_sort(r, other, n, s->bits);
  for (int64_t i = 0; i < s->wanted; i++) store_result(s, w, i, sorted[i].at);
}

/* ---- all lines ---- */

static void sort_job(void *context, uint64_t job) {
  const sorting *s = context;
  const int64_t first = vt_cpu_job_first(s->count, s->jobs, job);
  void *work = s->work + job * s->each;
  vt_cpu_walk w = s->walk;
  vt_cpu_walk_set(&w, first);
  for (int64_t i = vt_cpu_job_first(s->count, s->jobs, job + 1) - first; i > 0; i--) {
    if (fits_one_word(s->bits, s->n)) {
      sort_as_words(s, &w, work);
    } else {
      sort_as_records(s, &w, work);
    }
    vt_cpu_walk_advance(&w, 1);
  }
}

enum { SMALL = 512 }; /* so few elements that sorting them is quick */

/* Prepares the sort along `axis`. Each job has its own scratch, so there are at most as many jobs
 * as threads. */
static sorting init_sorting(const vt_cpu_call *c, uint32_t axis, int descending) {
  const vt_view *x = &c->in[0];
  sorting s = {.x = x, .axis = axis, .n = x->dim[axis], .wanted = c->out->dim[axis], .count = 1};
  s.bits = 8 * (int)vt_cpu_bytes_of(x->dtype);
  s.key_mask = descending ? UINT64_MAX >> (64 - s.bits) : 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis) s.count *= x->dim[i];
  s.jobs = vt_cpu_job_count(c->team, (uint64_t)s.count, 20.0 * (double)s.n);
  if (s.jobs > c->team->threads) s.jobs = c->team->threads;
  const uint64_t record = fits_one_word(s.bits, s.n) ? sizeof(uint64_t) : sizeof(vt_cpu_record);
  s.slots = s.wanted < s.n / 8 ? 4 * s.wanted + SMALL : s.n;
  if (s.slots > s.n) s.slots = s.n;
  s.each = 2 * record * (uint64_t)s.slots;
  return s;
}

static vt_status sort_lines(vt_cpu_call *c, sorting *s, const vt_view *values,
                            const vt_view *indices) {
  const vt_view *x = s->x;
  s->values = values;
  s->indices = indices;
  s->work = c->work;
  if (s->n == 0 || s->wanted == 0 || s->count == 0) return VT_OK;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != s->axis)
      vt_cpu_walk_add_axis(&s->walk, x->dim[i], x->stride[i],
                           values == NULL ? 0 : values->stride[i], indices->stride[i]);
  vt_cpu_run_jobs(c->team, s->jobs, sort_job, s);
  return VT_OK;
}

static sorting init_sort_of_all(const vt_cpu_call *c) {
  const vt_attr_sort *a = c->attrs;
  return init_sorting(c, (uint32_t)a->axis, a->descending != 0);
}

uint64_t vt_cpu_scratch_sort(const vt_cpu_call *c) {
  const sorting s = init_sort_of_all(c);
  return s.jobs * s.each;
}

vt_status vt_cpu_run_sort(vt_cpu_call *c) {
  sorting s = init_sort_of_all(c);
  return sort_lines(c, &s, &c->out[0], &c->out[1]);
}

vt_status vt_cpu_run_argsort(vt_cpu_call *c) {
  sorting s = init_sort_of_all(c);
  return sort_lines(c, &s, NULL, &c->out[0]);
}

static sorting init_top_k(const vt_cpu_call *c) {
  const vt_attr_top_k *a = c->attrs;
  return init_sorting(c, (uint32_t)a->axis, !a->least);
}

uint64_t vt_cpu_scratch_top_k(const vt_cpu_call *c) {
  const sorting s = init_top_k(c);
  return s.jobs * s.each;
}

vt_status vt_cpu_run_top_k(vt_cpu_call *c) {
  sorting s = init_top_k(c);
  return sort_lines(c, &s, &c->out[0], &c->out[1]);
}
