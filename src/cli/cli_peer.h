/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.h - OpenBLAS as the peer of `volta bench --compare`: it is loaded by dlopen when that
 * flag is given, and never linked. */
#ifndef CLI_PEER_H
#define CLI_PEER_H
#include "cli.h"

typedef struct cli_peer cli_peer;

/* How a product is computed by OpenBLAS. It has kernels for several core types, chooses one when it
 * is loaded, and its choice is not always the fastest. So it is loaded once for each core type that
 * the processor can run, and for each product all core types and several numbers of threads are
 * tried. */
typedef struct cli_setting {
  uint32_t core, threads; /* index of the core type, number of threads */
} cli_setting;

/* Loads OpenBLAS from `path`; NULL: from VOLTA_OPENBLAS, else by the names under which systems
 * install it. If it is not found the status is VT_BACKEND, and the message says where it was
 * searched. OPENBLAS_CORETYPE selects one core type; VOLTA_ISA=avx2 excludes those with AVX-512. */
vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) VT_NODISCARD;
void cli_peer_close(cli_peer *p);

const char *cli_peer_library(const cli_peer *p); /* file name or path that was loaded */
/* OpenBLAS's own text about its version and build. */
const char *cli_peer_config(const cli_peer *p);
uint32_t cli_peer_core_count(const cli_peer *p); /* number of core types that were loaded */
/* Name of core type `i`, "SkylakeX"; number 0 is the one that OpenBLAS chose itself. */
const char *cli_peer_core_name(const cli_peer *p, uint32_t i);
/* Sets the number of threads of core type `s.core` to `s.threads`. */
void cli_peer_set_threads(const cli_peer *p, cli_setting s);

/* A product of contiguous f32 matrices: c (m,n) = x (m,k) * w (k,n), or x * transpose of w (n,k).
 */
typedef struct cli_product {
  int64_t m, n, k;
  int transposed; /* 1: w is (n,k) */
  int vector;     /* 1: m is 1, and gemv computes it instead of gemm */
  const float *x, *w;
  float *c;
} cli_product;
/* Computes the product, with the number of threads that cli_peer_set_threads set. */
void cli_peer_multiply(const cli_peer *p, uint32_t core, const cli_product *q);

#endif
