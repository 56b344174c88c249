/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.c - OpenBLAS by dlopen. Its builds differ in the names of their functions and in the
 * width of their integers; what is the same is called through one table. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "cli_peer.h"

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* as cblas.h numbers them */

typedef void gemm32_fn(int, int, int, int32_t, int32_t, int32_t, float, const float *, int32_t,
                       const float *, int32_t, float, float *, int32_t);
typedef void gemm64_fn(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t,
                       const float *, int64_t, float, float *, int64_t);
typedef void gemv32_fn(int, int, int32_t, int32_t, float, const float *, int32_t, const float *,
                       int32_t, float, float *, int32_t);
typedef void gemv64_fn(int, int, int64_t, int64_t, float, const float *, int64_t, const float *,
                       int64_t, float, float *, int64_t);
typedef void threads_fn(int);
typedef char *config_fn(void);

struct cli_peer {
  void *library;
  const char *name;
  int wide; /* its integers have 64 bits */
  void *gemm, *gemv;
  threads_fn *threads;
  config_fn *config;
};

/* How a build spells its functions: PREFIX cblas_sgemm SUFFIX. */
static const struct {
  const char *prefix, *suffix;
  int wide;
} spellings[] = {{"", "", 0}, {"scipy_", "64_", 1}, {"", "64_", 1}, {"scipy_", "", 0}};
enum { SPELLINGS = sizeof spellings / sizeof *spellings, SYMBOL_SIZE = 80 };

static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
enum { NAMES = sizeof names / sizeof *names };

static void *symbol(void *library, int spelling, const char *stem) {
  char text[SYMBOL_SIZE] = "";
  strcat(text, spellings[spelling].prefix);
  strcat(text, stem);
  strcat(text, spellings[spelling].suffix);
  return dlsym(library, text);
}

/* A BLAS whose threads cannot be set cannot be compared with. */
static int bind_symbols(cli_peer *p) {
  for (int i = 0; i < SPELLINGS; i++) {
    p->wide = spellings[i].wide;
    p->gemm = symbol(p->library, i, "cblas_sgemm");
    p->gemv = symbol(p->library, i, "cblas_sgemv");
    *(void **)&p->threads = symbol(p->library, i, "openblas_set_num_threads");
    *(void **)&p->config = symbol(p->library, i, "openblas_get_config");
    if (p->gemm != NULL && p->gemv != NULL && p->threads != NULL && p->config != NULL) return 1;
  }
  return 0;
}

static vt_status not_found(const char *path, cli_error *e) {
  const char *why = path != NULL ? dlerror() : NULL;
  const vt_status s = path != NULL ? VT_FAIL(&e->diag, VT_BACKEND, "OpenBLAS cannot be loaded: %s",
                                             why != NULL ? why : "no reason is given")
                                   : VT_FAIL(&e->diag, VT_BACKEND,
                                             "OpenBLAS is not found: there is neither %s nor %s",
                                             names[0], names[1]);
  cli_hint(e, "--peer FILE or VOLTA_OPENBLAS names one; those of numpy and scipy serve too");
  return s;
}

static vt_status load(cli_peer *p, const char *path, cli_error *e) {
  const char *const *list = path != NULL ? &path : names;
  for (int i = 0; i < (path != NULL ? 1 : NAMES) && p->library == NULL; i++) {
    p->name = list[i];
    p->library = dlopen(p->name, RTLD_NOW | RTLD_LOCAL);
  }
  if (p->library == NULL) return not_found(path, e);
  if (bind_symbols(p)) return VT_OK;
  return VT_FAIL(
      &e->diag, VT_BACKEND,
      "%s is no OpenBLAS: it lacks cblas_sgemm, cblas_sgemv, openblas_set_num_threads or "
      "openblas_get_config, also with the marks of 64-bit builds",
      p->name);
}

vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) {
  const char *variable = getenv("VOLTA_OPENBLAS");
  if (path == NULL && variable != NULL && variable[0] != '\0') path = variable;
  cli_peer *p = calloc(1, sizeof *p);
  if (p == NULL) return cli_no_memory(e);
  const vt_status s = load(p, path, e);
  if (s == VT_OK) *out = p;
  if (s != VT_OK) cli_peer_close(p);
  return s;
}

/* Its threads may still be about: the library stays loaded. */
void cli_peer_close(cli_peer *p) { free(p); }

const char *cli_peer_library(const cli_peer *p) { return p->name; }
const char *cli_peer_config(const cli_peer *p) { return p->config(); }
void cli_peer_threads(const cli_peer *p, uint32_t n) { p->threads((int)n); }

/* ---- products ---- */

static void gemm(const cli_peer *p, const cli_product *q) {
  const int side = q->transposed ? TRANSPOSED : PLAIN;
  const int64_t ldw = q->transposed ? q->k : q->n;
  gemm32_fn *narrow;
  gemm64_fn *wide;
  if (p->wide) {
    *(void **)&wide = p->gemm;
    wide(ROW_MAJOR, PLAIN, side, q->m, q->n, q->k, 1, q->x, q->k, q->w, ldw, 0, q->c, q->n);
    return;
  }
  *(void **)&narrow = p->gemm;
  narrow(ROW_MAJOR, PLAIN, side, (int32_t)q->m, (int32_t)q->n, (int32_t)q->k, 1, q->x,
         (int32_t)q->k, q->w, (int32_t)ldw, 0, q->c, (int32_t)q->n);
}

/* The matrix as it lies in memory, and whether its rows or its columns are summed over. */
static void gemv(const cli_peer *p, const cli_product *q) {
  const int side = q->transposed ? PLAIN : TRANSPOSED;
  const int64_t rows = q->transposed ? q->n : q->k, columns = q->transposed ? q->k : q->n;
  gemv32_fn *narrow;
  gemv64_fn *wide;
  if (p->wide) {
    *(void **)&wide = p->gemv;
    wide(ROW_MAJOR, side, rows, columns, 1, q->w, columns, q->x, 1, 0, q->c, 1);
    return;
  }
  *(void **)&narrow = p->gemv;
  narrow(ROW_MAJOR, side, (int32_t)rows, (int32_t)columns, 1, q->w, (int32_t)columns, q->x, 1, 0,
         q->c, 1);
}

void cli_peer_multiply(const cli_peer *p, const cli_product *q) {
  if (q->vector)
    gemv(p, q);
  else
    gemm(p, q);
}
