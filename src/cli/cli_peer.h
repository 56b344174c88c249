/* SPDX-License-Identifier: Apache-2.0
 * cli_peer.h - OpenBLAS, to be measured against: found when it is asked for, never linked. */
#ifndef CLI_PEER_H
#define CLI_PEER_H
#include "cli.h"

typedef struct cli_peer cli_peer;

/* `path` NULL: VOLTA_OPENBLAS, else the names that systems install it by. VT_BACKEND says where it
 * was looked for. */
vt_status cli_peer_open(const char *path, cli_peer **out, cli_error *e) VT_NODISCARD;
void cli_peer_close(cli_peer *p);

const char *cli_peer_library(const cli_peer *p); /* what was opened */
const char *cli_peer_config(const cli_peer *p);  /* version and build, as it says them itself */
void cli_peer_threads(const cli_peer *p, uint32_t n);

/* A product of dense f32 matrices: c (m,n) = x (m,k) times w (k,n), or w (n,k) the other way round.
 */
typedef struct cli_product {
  int64_t m, n, k;
  int transposed; /* w is (n,k) */
  int vector;     /* m is 1, and the function for a vector is to do it */
  const float *x, *w;
  float *c;
} cli_product;
void cli_peer_multiply(const cli_peer *p, const cli_product *q);

#endif
