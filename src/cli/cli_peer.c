/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.c - OpenBLAS by dlopen, once for each core type. Its builds differ in the names of their
 * functions and in the width of their integers; what is the same is called through one table. */
#define _GNU_SOURCE /* dladdr, memfd_create */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cli_bench.h"

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

/* The library as loaded for one core type. */
typedef struct copy {
  void *library;
  int wide; /* its integers have 64 bits */
  void *gemm, *gemv;
  threads_fn *threads;
  config_fn *config, *core; /* old builds do not say their core type */
} copy;

/* The core types that are tried beside the one that OpenBLAS picks, and the instructions they need.
 * SkylakeX is what it does not pick on processors that it does not know. */
static const struct {
  const char *name, *isa;
} cores[] = {{"Haswell", "avx2"}, {"Zen", "avx2"}, {"SkylakeX", "avx512"}};
enum { CORES = sizeof cores / sizeof *cores, ISA_SIZE = 64 };
static const char core_variable[] = "OPENBLAS_CORETYPE";

struct cli_peer {
  const char *name;
  copy copies[1 + CORES];
  uint32_t n;
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
static int bind_symbols(copy *c) {
  for (int i = 0; i < SPELLINGS; i++) {
    c->wide = spellings[i].wide;
    c->gemm = symbol(c->library, i, "cblas_sgemm");
    c->gemv = symbol(c->library, i, "cblas_sgemv");
    *(void **)&c->threads = symbol(c->library, i, "openblas_set_num_threads");
    *(void **)&c->config = symbol(c->library, i, "openblas_get_config");
    *(void **)&c->core = symbol(c->library, i, "openblas_get_corename");
    if (c->gemm != NULL && c->gemv != NULL && c->threads != NULL && c->config != NULL) return 1;
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

static vt_status load_first(cli_peer *p, const char *path, cli_error *e) {
  const char *const *list = path != NULL ? &path : names;
  copy *c = &p->copies[0];
  for (int i = 0; i < (path != NULL ? 1 : NAMES) && c->library == NULL; i++) {
    p->name = list[i];
    c->library = dlopen(p->name, RTLD_NOW | RTLD_LOCAL);
  }
  if (c->library == NULL) return not_found(path, e);
  p->n = 1;
  if (bind_symbols(c)) return VT_OK;
  return VT_FAIL(
      &e->diag, VT_BACKEND,
      "%s is no OpenBLAS: it lacks cblas_sgemm, cblas_sgemv, openblas_set_num_threads or "
      "openblas_get_config, also with the marks of 64-bit builds",
      p->name);
}

/* ---- core types ---- */

/* The bytes of a file as one in memory, which the loader takes for another library; -1: no. */
static int copy_file(const char *path) {
  char bytes[1 << 16];
  const int from = open(path, O_RDONLY | O_CLOEXEC);
  const int to = from >= 0 ? memfd_create("openblas", MFD_CLOEXEC) : -1;
  ssize_t n = to >= 0 ? 1 : -1;
  while (n > 0) {
    n = read(from, bytes, sizeof bytes);
    if (n > 0 && write(to, bytes, (size_t)n) != n) n = -1;
  }
  if (from >= 0) close(from);
  if (n == 0 || to < 0) return to;
  close(to);
  return -1;
}

/* The file stays open, so that the next copy has another name: the loader goes by names too. */
static int open_copy(const copy *first, copy *out) {
  Dl_info about;
  char name[32];
  const int file = dladdr(first->gemm, &about) != 0 ? copy_file(about.dli_fname) : -1;
  *out = (copy){0};
  if (file < 0) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  out->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return out->library != NULL && bind_symbols(out);
}

static const char *core_of(const copy *c) { return c->core != NULL ? c->core() : "unknown"; }

static int has_core(const cli_peer *p, const char *name) {
  int any = 0;
  for (uint32_t i = 0; i < p->n; i++) any |= strcasecmp(core_of(&p->copies[i]), name) == 0;
  return any;
}

/* A build that lacks the core type picks one as before. */
static void add_core(cli_peer *p, const char *name) {
  copy *c = &p->copies[p->n];
  if (has_core(p, name)) return;
  (void)setenv(core_variable, name, 1);
  if (open_copy(&p->copies[0], c) && strcasecmp(core_of(c), name) == 0) p->n++;
}

static int rank_of(const char *isa) {
  static const char *const ranks[] = {"scalar", "sse2", "avx2", "avx512"};
  for (int i = 0; i < (int)(sizeof ranks / sizeof *ranks); i++)
    if (strcmp(isa, ranks[i]) == 0) return i;
  return -1;
}

/* Whether the processor has the instructions and, asked for that, VOLTA_ISA does not exclude them.
 */
static int has_isa(const char *isa, int held) {
  char about[ISA_SIZE];
  const char *limit = held ? getenv("VOLTA_ISA") : NULL;
  if (!cli_fact("cpu", about, sizeof about) || strstr(about, isa) == NULL) return 0;
  return limit == NULL || limit[0] == '\0' || rank_of(limit) >= rank_of(isa);
}

/* Where VOLTA_ISA excludes AVX-512 that the processor has, OpenBLAS must not pick by itself. */
static vt_status load_all(cli_peer *p, const char *path, cli_error *e) {
  const int held = has_isa("avx512", 0) && !has_isa("avx512", 1) && has_isa("avx2", 1);
  if (held) (void)setenv(core_variable, cores[0].name, 1);
  VT_TRY(load_first(p, path, e));
  for (int i = 0; i < CORES; i++)
    if (has_isa(cores[i].isa, 1)) add_core(p, cores[i].name);
  (void)unsetenv(core_variable);
  return VT_OK;
}

static int is_set(const char *text) { return text != NULL && text[0] != '\0'; }

vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) {
  const char *variable = getenv("VOLTA_OPENBLAS");
  if (path == NULL && is_set(variable)) path = variable;
  cli_peer *p = calloc(1, sizeof *p);
  if (p == NULL) return cli_no_memory(e);
  const vt_status s = is_set(getenv(core_variable)) ? load_first(p, path, e) : load_all(p, path, e);
  if (s == VT_OK) *out = p;
  if (s != VT_OK) cli_peer_close(p);
  return s;
}

/* Its threads may still be about: the library stays loaded. */
void cli_peer_close(cli_peer *p) { free(p); }

const char *cli_peer_library(const cli_peer *p) { return p->name; }
const char *cli_peer_config(const cli_peer *p) { return p->copies[0].config(); }
uint32_t cli_peer_cores(const cli_peer *p) { return p->n; }
const char *cli_peer_core(const cli_peer *p, uint32_t i) { return core_of(&p->copies[i]); }

void cli_peer_threads(const cli_peer *p, cli_setting s) {
  p->copies[s.core].threads((int)s.threads);
}

/* ---- products ---- */

static void gemm(const copy *c, const cli_product *q) {
  const int side = q->transposed ? TRANSPOSED : PLAIN;
  const int64_t ldw = q->transposed ? q->k : q->n;
  gemm32_fn *narrow;
  gemm64_fn *wide;
  if (c->wide) {
    *(void **)&wide = c->gemm;
    wide(ROW_MAJOR, PLAIN, side, q->m, q->n, q->k, 1, q->x, q->k, q->w, ldw, 0, q->c, q->n);
    return;
  }
  *(void **)&narrow = c->gemm;
  narrow(ROW_MAJOR, PLAIN, side, (int32_t)q->m, (int32_t)q->n, (int32_t)q->k, 1, q->x,
         (int32_t)q->k, q->w, (int32_t)ldw, 0, q->c, (int32_t)q->n);
}

/* The matrix as it lies in memory, and whether its rows or its columns are summed over. */
static void gemv(const copy *c, const cli_product *q) {
  const int side = q->transposed ? PLAIN : TRANSPOSED;
  const int64_t rows = q->transposed ? q->n : q->k, columns = q->transposed ? q->k : q->n;
  gemv32_fn *narrow;
  gemv64_fn *wide;
  if (c->wide) {
    *(void **)&wide = c->gemv;
    wide(ROW_MAJOR, side, rows, columns, 1, q->w, columns, q->x, 1, 0, q->c, 1);
    return;
  }
  *(void **)&narrow = c->gemv;
  narrow(ROW_MAJOR, side, (int32_t)rows, (int32_t)columns, 1, q->w, (int32_t)columns, q->x, 1, 0,
         q->c, 1);
}

void cli_peer_multiply(const cli_peer *p, uint32_t core, const cli_product *q) {
  if (q->vector)
    gemv(&p->copies[core], q);
  else
    gemm(&p->copies[core], q);
}
