/* SPDX-License-Identifier: Apache-2.0
 * vt_emit.h - a chain of pointwise steps as one function, in the words of a language. The chain is
 * read first: which values come from outside and which step makes each of the others. How a
 * language writes it is data, a dialect; the formulas themselves are called by their names. Sizes
 * and strides are not in the text: one text serves all shapes. */
#ifndef VT_EMIT_H
#define VT_EMIT_H
#include "vt_maps.h"
#include "vt_text.h"

enum { VT_CHAIN_STEPS = 64, VT_CHAIN_SOURCES = 96 };

/* Values are numbered: sources, then the results of steps from VT_CHAIN_SOURCES on. */
typedef struct vt_chain_step {
  uint32_t map, type, made; /* of maps.def; the dtypes of its last operand and of its result */
  uint32_t n_in, in[3];
} vt_chain_step;
typedef struct vt_chain {
  uint32_t n_sources, n_steps;
  const vt_bk_tensor *source[VT_CHAIN_SOURCES], *result;
  vt_chain_step step[VT_CHAIN_STEPS];
} vt_chain;

/* Of steps that all have the shape of the last one's result, with at most `sources` operands from
 * outside. VT_UNSUPPORTED when there are more, or a step has no formula. */
int32_t vt_chain_read(const vt_bk_step *const *s, uint32_t n, uint32_t sources,
                      vt_chain *out) VT_NODISCARD;
/* Whether two tensors are one value, of all that lies in a group at one time. */
int vt_chain_is_same_place(const vt_bk_tensor *a, const vt_bk_tensor *b);
/* Source i becomes the first one. */
void vt_chain_first(vt_chain *c, uint32_t i);
/* Bytes of the largest element of a source or the result. */
uint32_t vt_chain_widest(const vt_chain *c);
/* 1 when a step calls a function of the numerics. */
int vt_chain_has_functions(const vt_chain *c);

/* Pieces of text with words that are replaced:
 *   $T  the type of the element at hand        $I  its number
 *   $N  sources                                $B  bytes of the widest element
 *   $F  the formula of a step                  $K  the name of the whole */
typedef struct vt_dialect {
  const char *name;
  const char *type[VT_DTYPE_BF16 + 1];
  const char *plain;  /* before all, where no function is called */
  const char *begin;  /* $N $B $K */
  const char *load;   /* each source: $T $I */
  const char *open;   /* once all are loaded: $T of the result */
  const char *source; /* a source in a formula: $I */
  const char *value;  /* what a step made, in a formula: $I */
  const char *step;   /* $T $I $F */
  const char *end;    /* $T $I of the result, $K */
} vt_dialect;
extern const vt_dialect vt_dialect_cuda;
extern const vt_dialect vt_dialect_epilogue; /* the steps alone: a kernel comes behind them */

/* Failure is that of `out`. */
void vt_emit_chain(const vt_chain *c, const vt_dialect *d, const char *name, vt_text *out);
#endif
