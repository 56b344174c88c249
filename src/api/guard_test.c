/* SPDX-License-Identifier: Apache-2.0
 * guard_test.c - a program that needs more memory than this process may have is refused before
 * any of it is allocated, with a message that says how much it needs. A program within the limit
 * runs. */
#include <string.h>
#include <sys/resource.h>
#include "process_test.h"
#include "vt_test.h"

static const char text[] =
    "volta 1\n"
    "model wide {\n"
    "  dim N\n"
    "  input x: f32[N]\n"
    "  output y = exp(x)\n"
    "}\n";

/* ---- an allocator that records its peak ---- */

typedef struct meter {
  size_t live, peak; /* bytes that are allocated now; the most so far */
} meter;

static void *resize_and_record_peak(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = user;
  void *q = new_size > 0 ? realloc(p, new_size) : NULL;
  if (new_size == 0) free(p);
  if (new_size > 0 && q == NULL) return NULL;
  m->live += new_size - (p != NULL ? old_size : 0);
  if (m->live > m->peak) m->peak = m->live;
  return q;
}

static const vt_model *model;

static vt_status open_and_run(const char *backend, int64_t elements, meter *m, vt_diag *d) {
  const vt_alloc a = {.user = m, .resize = resize_and_record_peak};
  const vt_binding bind = {"N", elements};
  const vt_options o = {
      .size = sizeof o, .n_bind = 1, .bind = &bind, .backend = backend, .alloc = &a};
  vt_program *p = NULL;
  *m = (meter){0};
  *d = (vt_diag){0};
  vt_status s = vt_program_new(model, &o, &p, d);
  if (s == VT_OK) s = vt_program_random_inputs(p, 1, d);
  if (s == VT_OK) s = vt_program_run(p, d);
  vt_program_free(p);
  CHECK(m->live == 0);
  return s;
}

static void expect_too_large(const char *backend, int64_t elements) {
  meter m;
  vt_diag d;
  char needs[200];
  CHECK(open_and_run(backend, elements, &m, &d) == VT_NOMEM && vt_status_exit(d.code) == 6);
  CHECK(m.peak < (size_t)4 << 20);
  snprintf(needs, sizeof needs,
           "the program needs %lld bytes (host_input %lld, output %lld) on '%s:0', which has ",
           (long long)elements * 8, (long long)elements * 4, (long long)elements * 4, backend);
  CHECK(strncmp(d.text, needs, strlen(needs)) == 0);
  if (strncmp(d.text, needs, strlen(needs)) != 0) fprintf(stderr, "  %s\n", d.text);
}

int main(void) {
  static const char *const backends[] = {"reference", "island"};
  const rlim_t mib = (rlim_t)1 << 20;
  vt_model *made = NULL;
  meter m;
  vt_diag d = {0};
  struct rlimit limit;
  if (process_virtual_bytes() == 0) {
    fprintf(stderr, "SKIPPED: the system does not say how much memory there is\n");
    return 77;
  }
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &made, &d) == VT_OK);
  model = made;
  for (int i = 0; i < 2; i++) expect_too_large(backends[i], (int64_t)1 << 40); /* needs 8 TiB */
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  limit.rlim_cur = process_virtual_bytes() + 256 * mib;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  for (int i = 0; i < 2; i++) {
    expect_too_large(backends[i], 64 * (int64_t)mib); /* needs 512 MiB */
    CHECK(open_and_run(backends[i], (int64_t)mib, &m, &d) == VT_OK);
  }
  vt_model_free(made);
  TEST_DONE();
}
