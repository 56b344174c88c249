/* SPDX-License-Identifier: Apache-2.0
 * vt_emit.h - source text for a chain of pointwise steps, as one function. vt_chain_read first
 * finds which values come from outside (sources) and which step computes each of the others. A
 * dialect is a table of text pieces that says how a language writes the chain; formulas are called
 * by name. Sizes and strides are not part of the text, so one text serves all shapes. */
#ifndef VT_EMIT_H
#define VT_EMIT_H
#include "vt_maps.h"
#include "vt_text.h"

enum { VT_CHAIN_STEPS = 64, VT_CHAIN_SOURCES = 96 };

/* A value has a number: sources are 0 .. VT_CHAIN_SOURCES - 1, and the result of step i is
 * VT_CHAIN_SOURCES + i. */
typedef struct vt_chain_step {
  uint32_t map;         /* the row of maps.def that the step uses, or VT_MAP_cast, VT_MAP_choice */
  uint32_t type, made;  /* `type`: dtype of the last operand; `made`: dtype of the result */
  uint32_t n_in, in[3]; /* numbers of the values that the step reads */
} vt_chain_step;
typedef struct vt_chain {
  uint32_t n_sources, n_steps;
  /* The operands from outside; the result of the last step. */
  const vt_bk_tensor *source[VT_CHAIN_SOURCES], *result;
  vt_chain_step step[VT_CHAIN_STEPS];
} vt_chain;

/* Reads n steps that all have the shape of the last one's result and together read at most
 * `max_sources` operands from outside. Returns VT_UNSUPPORTED if they read more, or if a step has
 * no formula. */
int32_t vt_chain_read(const vt_bk_step *const *steps, uint32_t n, uint32_t max_sources,
                      vt_chain *out) VT_NODISCARD;
/* Returns 1 if a and b have the same place, type, shape and strides; if both are alive at the same
 * time, they are then the same value. */
int vt_chain_is_same_tensor(const vt_bk_tensor *a, const vt_bk_tensor *b);
/* Exchanges source 0 and source i, and their numbers in the operands of all steps. */
void vt_chain_swap_first_source(vt_chain *c, uint32_t i);
/* Returns the bytes of one element of the widest type among the sources and the result. */
uint32_t vt_chain_widest_element_bytes(const vt_chain *c);
/* Returns 1 if a step calls a function of src/num (exp, tanh, ...). */
int vt_chain_calls_functions(const vt_chain *c);

/* Pieces of source text with placeholders, which are replaced:
 *   $T  the type of the value that the piece is about   $I  the number of that value
 *   $N  the number of sources                           $B  bytes of the widest element
 *   $F  the formula of the step                         $K  the name of the kernel */
typedef struct vt_dialect {
  const char *name;
  const char *type[VT_DTYPE_BF16 + 1]; /* type names of the language, by dtype */
  /* Text that is written first if the chain calls no function of src/num. */
  const char *plain;
  const char *begin;  /* opens the function; has $N $B $K */
  const char *load;   /* loads one source; has $T $I */
  const char *open;   /* written after all loads, opens the loop; has $T of the result */
  const char *source; /* a source as an operand in a formula; has $I */
  const char *value;  /* the result of an earlier step as an operand in a formula; has $I */
  const char *step;   /* computes one step; has $T $I $F */
  const char *end;    /* stores the result and closes the function; has $T $I of the result, $K */
} vt_dialect;
extern const vt_dialect vt_dialect_cuda;
/* A function with only the steps; the caller writes the epilogue kernel that calls it. */
extern const vt_dialect vt_dialect_epilogue;

/* Appends the text of the chain to `out`; a failure is kept in the state of `out`. */
void vt_emit_chain(const vt_chain *c, const vt_dialect *d, const char *name, vt_text *out);
#endif
