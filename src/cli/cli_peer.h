/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.h - OpenBLAS, to be measured against: found when it is asked for, never linked. */
#ifndef CLI_PEER_H
#define CLI_PEER_H
#include "cli.h"

typedef struct cli_peer cli_peer;

/* OpenBLAS has kernels for several core types, picks one when it is loaded, and does not always
 * pick the fastest. So it is loaded once for each core type that the processor has the instructions
 * for, and the core type and the number of threads are chosen for each product by trying them. */
typedef struct cli_setting {
  uint32_t core, threads;
} cli_setting;

/* `path` NULL: VOLTA_OPENBLAS, else the names that systems install it by. VT_BACKEND says where it
 * was looked for. OPENBLAS_CORETYPE names the one core type to load; VOLTA_ISA=avx2 excludes those
 * of AVX-512. */
vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) VT_NODISCARD;
void cli_peer_close(cli_peer *p);

const char *cli_peer_library(const cli_peer *p); /* what was opened */
const char *cli_peer_config(const cli_peer *p);  /* version and build, as it says them itself */
uint32_t cli_peer_cores(const cli_peer *p);
const char *cli_peer_core(const cli_peer *p,
                          uint32_t i); /* "SkylakeX"; the first is its own pick */
void cli_peer_threads(const cli_peer *p, cli_setting s);

/* A product of dense f32 matrices: c (m,n) = x (m,k) times w (k,n), or w (n,k) the other way round.
 */
typedef struct cli_product {
  int64_t m, n, k;
  int transposed; /* w is (n,k) */
  int vector;     /* m is 1, and the function for a vector is to do it */
  const float *x, *w;
  float *c;
} cli_product;
/* With the number of threads that cli_peer_threads set. */
void cli_peer_multiply(const cli_peer *p, uint32_t core, const cli_product *q);

#endif
