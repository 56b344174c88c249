/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.c - loads OpenBLAS by dlopen, once for each core type, and calls it. Such a loaded
 * library is a copy. Builds of OpenBLAS differ in the spelling of their function names and in the
 * width of their integers. */
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

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* constants of cblas.h */

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

/* The library as it was loaded for one core type. */
typedef struct copy {
  void *library; /* handle of dlopen */
  int wide;      /* 1: the integers of the library have 64 bits */
  void *gemm, *gemv;
  threads_fn *threads;
  config_fn *config, *core; /* `core` is NULL in old builds, which do not tell their core type */
} copy;

/* Core types that are tried in addition to the one that OpenBLAS chooses, and the instruction sets
 * they need. SkylakeX is in the list because OpenBLAS does not choose it on processors that it does
 * not know. */
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

/* Spellings of function names in different builds: a prefix, then for instance cblas_sgemm, then a
 * suffix; `wide` is 1 if such a build has 64-bit integers. */
static const struct {
  const char *prefix, *suffix;
  int wide;
} spellings[] = {{"", "", 0}, {"scipy_", "64_", 1}, {"", "64_", 1}, {"scipy_", "", 0}};
enum { SPELLINGS = sizeof spellings / sizeof *spellings, SYMBOL_SIZE = 80 };

static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
enum { NAMES = sizeof names / sizeof *names };

static void *find_symbol(void *library, int spelling, const char *stem) {
  char text[SYMBOL_SIZE] = "";
  strcat(text, spellings[spelling].prefix);
  strcat(text, stem);
  strcat(text, spellings[spelling].suffix);
  return dlsym(library, text);
}

/* Looks up the functions of a library; returns 0 if one is missing. A library whose number of
 * threads cannot be set is rejected, because the comparison would not be fair. */
static int bind_symbols(copy *c) {
  for (int i = 0; i < SPELLINGS; i++) {
    c->wide = spellings[i].wide;
    c->gemm = find_symbol(c->library, i, "cblas_sgemm");
    c->gemv = find_symbol(c->library, i, "cblas_sgemv");
    *(void **)&c->threads = find_symbol(c->library, i, "openblas_set_num_threads");
    *(void **)&c->config = find_symbol(c->library, i, "openblas_get_config");
    *(void **)&c->core = find_symbol(c->library, i, "openblas_get_corename");
    if (c->gemm != NULL && c->gemv != NULL && c->threads != NULL && c->config != NULL) return 1;
  }
  return 0;
}

static vt_status fail_not_found(const char *path, cli_error *e) {
  const char *why = path != NULL ? dlerror() : NULL;
  const vt_status s = path != NULL ? VT_FAIL(&e->diag, VT_BACKEND, "OpenBLAS cannot be loaded: %s",
                                             why != NULL ? why : "no reason is given")
                                   : VT_FAIL(&e->diag, VT_BACKEND,
                                             "OpenBLAS is not found: there is neither %s nor %s",
                                             names[0], names[1]);
  cli_set_hint(e, "give one by --peer FILE or VOLTA_OPENBLAS; those in numpy and scipy work too");
  return s;
}

static vt_status load_first_copy(cli_peer *p, const char *path, cli_error *e) {
  const char *const *list = path != NULL ? &path : names;
  copy *c = &p->copies[0];
  for (int i = 0; i < (path != NULL ? 1 : NAMES) && c->library == NULL; i++) {
    p->name = list[i];
    c->library = dlopen(p->name, RTLD_NOW | RTLD_LOCAL);
  }
  if (c->library == NULL) return fail_not_found(path, e);
  p->n = 1;
  if (bind_symbols(c)) return VT_OK;
  return VT_FAIL(
      &e->diag, VT_BACKEND,
      "%s is not OpenBLAS: it lacks cblas_sgemm, cblas_sgemv, openblas_set_num_threads or "
      "openblas_get_config, under the names of 64-bit builds too",
      p->name);
}

/* ---- core types ---- */

/* Copies a file to an in-memory file, so that the loader treats it as another library. Returns its
 * descriptor; -1 on failure. */
static int copy_to_memory_file(const char *path) {
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

/* Loads another copy of the library. The in-memory file stays open, so that the next copy gets
 * another /proc/self/fd name: the loader identifies libraries by name too. */
static int load_another_copy(const copy *first, copy *out) {
  Dl_info about;
  char name[32];
  const int file = dladdr(first->gemm, &about) != 0 ? copy_to_memory_file(about.dli_fname) : -1;
  *out = (copy){0};
  if (file < 0) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  out->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return out->library != NULL && bind_symbols(out);
}

static const char *core_name_of(const copy *c) { return c->core != NULL ? c->core() : "unknown"; }

static int has_copy_for_core(const cli_peer *p, const char *name) {
  int any = 0;
  for (uint32_t i = 0; i < p->n; i++) any |= strcasecmp(core_name_of(&p->copies[i]), name) == 0;
  return any;
}

/* Loads a copy with core type `name`. A build without this core type chooses one that is loaded
 * already; that copy is dropped. */
static void load_copy_for_core(cli_peer *p, const char *name) {
  copy *c = &p->copies[p->n];
  if (has_copy_for_core(p, name)) return;
  (void)setenv(core_variable, name, 1);
  if (load_another_copy(&p->copies[0], c) && strcasecmp(core_name_of(c), name) == 0) p->n++;
}

static int isa_rank(const char *isa) {
  static const char *const ranks[] = {"scalar", "sse2", "avx2", "avx512"};
  for (int i = 0; i < (int)(sizeof ranks / sizeof *ranks); i++)
    if (strcmp(isa, ranks[i]) == 0) return i;
  return -1;
}

/* 1 if the processor has instruction set `isa` and, if `obey_volta_isa` is 1, VOLTA_ISA allows
 * it. */
static int has_isa(const char *isa, int obey_volta_isa) {
  char about[ISA_SIZE];
  const char *limit = obey_volta_isa ? getenv("VOLTA_ISA") : NULL;
  if (!cli_doctor_fact("cpu", about, sizeof about) || strstr(about, isa) == NULL) return 0;
  return limit == NULL || limit[0] == '\0' || isa_rank(limit) >= isa_rank(isa);
}

/* Loads OpenBLAS with each core type. If VOLTA_ISA excludes AVX-512 and the processor has it, the
 * first copy must not choose its core type itself. */
static vt_status load_copies_for_all_cores(cli_peer *p, const char *path, cli_error *e) {
  const int held = has_isa("avx512", 0) && !has_isa("avx512", 1) && has_isa("avx2", 1);
  if (held) (void)setenv(core_variable, cores[0].name, 1);
  VT_TRY(load_first_copy(p, path, e));
  for (int i = 0; i < CORES; i++)
    if (has_isa(cores[i].isa, 1)) load_copy_for_core(p, cores[i].name);
  (void)unsetenv(core_variable);
  return VT_OK;
}

static int is_nonempty(const char *text) { return text != NULL && text[0] != '\0'; }

vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) {
  const char *variable = getenv("VOLTA_OPENBLAS");
  if (path == NULL && is_nonempty(variable)) path = variable;
  cli_peer *p = calloc(1, sizeof *p);
  if (p == NULL) return cli_no_memory(e);
  const vt_status s = is_nonempty(getenv(core_variable)) ? load_first_copy(p, path, e)
                                                         : load_copies_for_all_cores(p, path, e);
  if (s == VT_OK) *out = p;
  if (s != VT_OK) cli_peer_close(p);
  return s;
}

/* The library stays loaded, because its threads may still exist. */
void cli_peer_close(cli_peer *p) { free(p); }

const char *cli_peer_library(const cli_peer *p) { return p->name; }
const char *cli_peer_config(const cli_peer *p) { return p->copies[0].config(); }
uint32_t cli_peer_core_count(const cli_peer *p) { return p->n; }
const char *cli_peer_core_name(const cli_peer *p, uint32_t i) {
  return core_name_of(&p->copies[i]);
}

void cli_peer_set_threads(const cli_peer *p, cli_setting s) {
  p->copies[s.core].threads((int)s.threads);
}

/* ---- products ---- */

static void call_gemm(const copy *c, const cli_product *q) {
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

/* Calls gemv with w as a row-major matrix. If w is (k,n), the sum over k goes down its columns, so
 * gemv must transpose it. */
static void call_gemv(const copy *c, const cli_product *q) {
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
    call_gemv(&p->copies[core], q);
  else
    call_gemm(&p->copies[core], q);
}
