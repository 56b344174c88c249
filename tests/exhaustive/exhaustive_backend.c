/* SPDX-License-Identifier: Apache-2.0
 * exhaustive_backend.c - checks every function of functions.def on all 2^32 inputs as a backend
 * computes it. Each function is a model of one op that is run through the library, one slice of
 * 2^24 bit patterns at a time; the digests are compared with those of exhaustive.digests, which
 * MPFR confirmed for the scalar functions.
 *
 *   exhaustive_backend --against FILE [--backend NAME] [--isa NAME] [--func NAME]...
 *                      [--slices A..B] [--part I/N] [--jobs N] [--plant]
 *
 * --part checks every Nth slice, beginning with the Ith. --plant flips one bit of one result in
 * each slice, so that every slice must differ. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta.h"
#include "vt_clock.h"
#include "vt_file.h"
#include "vt_hash.h"
#include "vt_pool.h"

enum { SLICE = 1 << 24, SLICES = 256 };

static const char *const functions[] = {
#define VT_FUNCTION(name, estimate, oracle) #name,
#include "functions.def"
#undef VT_FUNCTION
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct options {
  const char *against, *backend, *isa, *func[FUNCTIONS];
  unsigned n_func, from, to, part, parts, jobs;
  int plant;
} options;

static _Noreturn void exit_with_error(const char *what, const char *why) {
  fprintf(stderr, "exhaustive_backend: %s: %s\n", what, why);
  exit(2);
}

/* ---- one slice ---- */

typedef struct function_check {
  const options *o;
  const char *name;
  vt_model *m;
  vt_file digests;
  atomic_uint next; /* next slice that no worker has claimed */
  uint8_t differs[SLICES];
} function_check;

/* Returns the stored digest of a slice, or NULL. */
static const char *stored_digest(const function_check *w, unsigned slice) {
  char key[32];
  snprintf(key, sizeof key, "\n%s %3u ", w->name, slice);
  const char *at = strstr((const char *)w->digests.data, key + (slice == 0));
  return at != NULL ? at + strlen(key + (slice == 0)) : NULL;
}

/* The program and the inputs that one worker uses for all its slices. */
typedef struct worker {
  vt_program *p;
  uint32_t *x;
} worker;

static vt_status compute_slice(const function_check *w, worker *at, unsigned slice, char hex[65],
                               vt_diag *d) {
  vt_tensor x = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {SLICE}, .data = at->x}, y;
  const char *name;
  for (uint32_t i = 0; i < SLICE; i++) at->x[i] = (uint32_t)slice << 24 | i;
  VT_TRY(vt_program_set_input(at->p, "x", &x, d));
  VT_TRY(vt_program_run(at->p, d));
  VT_TRY(vt_program_output(at->p, 0, &name, &y, d));
  if (w->o->plant) ((uint32_t *)y.data)[slice * 65521u % SLICE] ^= 1;
  const vt_hash256 h = vt_hash_bytes(y.data, sizeof(uint32_t) * SLICE);
  vt_hash_hex(&h, hex);
  return VT_OK;
}

static void check_slice(function_check *w, worker *at, unsigned slice) {
  vt_diag d = {0};
  char hex[65];
  const char *want = stored_digest(w, slice);
  if (want == NULL) exit_with_error(w->name, "no digest is stored");
  if (compute_slice(w, at, slice, hex, &d) != VT_OK) exit_with_error(w->name, d.text);
  w->differs[slice] = strncmp(hex, want, 32) != 0;
}

/* The job of a worker: claims and checks slices until none is left. */
static void check_slices(void *context, uint64_t job) {
  function_check *w = context;
  const vt_options how = {
      .size = sizeof how, .backend = w->o->backend, .isa = w->o->isa, .threads = 1};
  worker at = {.x = malloc(sizeof(uint32_t) * SLICE)};
  vt_diag d = {0};
  (void)job;
  if (at.x == NULL) exit_with_error(w->name, "out of memory");
  if (vt_program_new(w->m, &how, &at.p, &d) != VT_OK) exit_with_error(w->name, d.text);
  for (unsigned i; (i = atomic_fetch_add(&w->next, 1)) <= w->o->to;)
    if (i % w->o->parts == w->o->part - 1) check_slice(w, &at, i);
  vt_program_free(at.p);
  free(at.x);
}

/* ---- one function ---- */

static int is_wanted(const options *o, const char *name) {
  int yes = o->n_func == 0;
  for (unsigned i = 0; i < o->n_func; i++) yes |= strcmp(o->func[i], name) == 0;
  return yes;
}

static unsigned check_function(function_check *w, vt_pool *pool) {
  const uint64_t begin = vt_clock_ns();
  unsigned differ = 0, n = 0;
  char text[256];
  vt_diag d = {0};
  const int length =
      snprintf(text, sizeof text, "volta 1\nmodel f {\n  input x: f32[%d]\n  output y = %s(x)\n}\n",
               SLICE, w->name);
  if (vt_model_parse(text, (size_t)length, NULL, &w->m, &d) != VT_OK)
    exit_with_error(w->name, d.text);
  memset(w->differs, 0, sizeof w->differs);
  atomic_store(&w->next, w->o->from);
  vt_pool_run(pool, w->o->jobs, check_slices, w);
  for (unsigned i = w->o->from; i <= w->o->to; i++) {
    n += i % w->o->parts == w->o->part - 1;
    differ += w->differs[i];
    if (w->differs[i]) printf("FAILED %s: slice %u\n", w->name, i);
  }
  vt_model_free(w->m);
  printf("%-8s %3u slices of 2^24 inputs, %u differ, %.1f s\n", w->name, n, differ,
         (double)(vt_clock_ns() - begin) * 1e-9);
  fflush(stdout);
  return differ;
}

/* ---- options ---- */

static void parse_option(options *o, const char *word, const char *value) {
  if (strcmp(word, "--against") == 0)
    o->against = value;
  else if (strcmp(word, "--backend") == 0)
    o->backend = value;
  else if (strcmp(word, "--isa") == 0)
    o->isa = value;
  else if (strcmp(word, "--jobs") == 0)
    o->jobs = (unsigned)atoi(value);
  else if (strcmp(word, "--func") == 0 && o->n_func < FUNCTIONS)
    o->func[o->n_func++] = value;
  else if (strcmp(word, "--slices") == 0 && sscanf(value, "%u..%u", &o->from, &o->to) == 2)
    return;
  else if (strcmp(word, "--part") == 0 && sscanf(value, "%u/%u", &o->part, &o->parts) == 2)
    return;
  else
    exit_with_error(word, "not an option, or not a value of it");
}

static void read_options(int argc, char **argv, options *o) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  *o = (options){.backend = "cpu", .to = SLICES - 1, .part = 1, .parts = 1};
  o->jobs = cores > 0 && cores < 64 ? (unsigned)cores : 1;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--plant") == 0) {
      o->plant = 1;
      continue;
    }
    if (i + 1 == argc) exit_with_error(argv[i], "takes a value");
    parse_option(o, argv[i], argv[i + 1]);
    i++;
  }
  if (o->against == NULL) exit_with_error("--against FILE", "is missing");
  if (o->to >= SLICES || o->from > o->to) exit_with_error("--slices", "takes A..B, from 0 to 255");
  if (o->jobs < 1 || o->jobs > 256) exit_with_error("--jobs", "takes a number from 1 to 256");
  if (o->part < 1 || o->part > o->parts) exit_with_error("--part", "takes I/N, I from 1 to N");
  for (unsigned i = 0; i < o->n_func; i++) {
    unsigned k = 0;
    while (k < FUNCTIONS && strcmp(functions[k], o->func[i]) != 0) k++;
    if (k == FUNCTIONS) exit_with_error(o->func[i], "there is no such function");
  }
}

int main(int argc, char **argv) {
  static options o;
  static function_check w = {.o = &o};
  vt_pool *pool = NULL;
  vt_diag d = {0};
  unsigned differ = 0, n = 0;
  read_options(argc, argv, &o);
  if (vt_file_read(o.against, 1 << 20, vt_alloc_default(), &w.digests, &d) != VT_OK ||
      vt_pool_new(o.jobs, vt_alloc_default(), &pool, &d) != VT_OK)
    exit_with_error(o.against, d.text);
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    w.name = functions[i];
    if (!is_wanted(&o, w.name)) continue;
    differ += check_function(&w, pool);
    n++;
  }
  printf("%u functions on %s%s%s: %u slices differ\n", n, o.backend, o.isa != NULL ? " " : "",
         o.isa != NULL ? o.isa : "", differ);
  vt_pool_free(pool);
  vt_file_done(&w.digests);
  return differ != 0;
}
