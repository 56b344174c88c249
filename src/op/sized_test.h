/* SPDX-License-Identifier: Apache-2.0
 * sized_test.h - a builder that only infers types and runs nothing. It finds the bytes of the
 * largest value of a decomposition, for sizes that are too large to run in a test. */
#ifndef VT_SIZED_TEST_H
#define VT_SIZED_TEST_H
#include "op_test.h"
#include "vt_builder.h"

enum { SIZED_MAX = 200 };
static struct sized {
  vt_dims dims;
  uint32_t n;
  vt_type type[SIZED_MAX];
  uint64_t most; /* bytes of the largest value that was added */
  vt_diag d;
} sized;

static inline uint32_t sized_add_value(const vt_type *t) {
  uint64_t count, bytes;
  if (sized.n == SIZED_MAX || vt_type_size(t, &count, &bytes, &sized.d) != VT_OK)
    return VT_NO_VALUE;
  if (bytes > sized.most) sized.most = bytes;
  sized.type[sized.n] = *t;
  return sized.n++;
}

static inline uint32_t sized_add_node(vt_builder *b, uint32_t number, const uint32_t *in,
                                      uint32_t n, const void *attrs) {
  const vt_op_info *op = vt_op_get(number);
  vt_type types[8], out[VT_MAX_RESULTS];
  uint32_t n_out = 0;
  (void)b;
  for (uint32_t i = 0; i < n; i++) {
    if (in[i] >= sized.n) return VT_NO_VALUE;
    types[i] = sized.type[in[i]];
  }
  const vt_rule r = {.dims = &sized.dims,
                     .in = types,
                     .n_in = n,
                     .attrs = attrs == NULL ? op->attrs->defaults : attrs};
  if (vt_op_infer(op, &r, out, &n_out, &sized.d) != VT_OK) return VT_NO_VALUE;
  return sized_add_value(&out[0]);
}

static inline const vt_type *sized_value_type(const vt_builder *b, uint32_t value) {
  (void)b;
  return value < sized.n ? &sized.type[value] : NULL;
}

/* Checks the decomposition of an op on operands that its type rule accepts. It can be built, its
 * result has the op's type, and none of its values has more than `most_bytes` bytes. `in_types` is
 * a text of types, as in a rule_case. */
static inline void check_largest_value_bytes(uint32_t number, const void *attrs,
                                             const char *in_types, uint64_t most_bytes) {
  const vt_op_info *op = vt_op_get(number);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  vt_type types[8] = {{0}};
  uint32_t ids[8] = {0}, more[VT_MAX_RESULTS];
  vt_arena arena;
  memset(&sized, 0, sizeof sized);
  vt_arena_init(&arena, vt_alloc_default());
  vt_dims_init(&sized.dims, &arena);
  vt_builder b = {
      .self = &sized, .dims = &sized.dims, .node = sized_add_node, .type = sized_value_type};
  const uint32_t n = parse_types(&sized.dims, in_types, types);
  for (uint32_t i = 0; i < n; i++) ids[i] = sized_add_value(&types[i]);
  const uint32_t whole = sized_add_node(&b, number, ids, n, a);
  const vt_lowering l = {.b = &b, .in = ids, .n_in = n, .attrs = a, .out = more};
  const uint32_t parts = whole == VT_NO_VALUE ? VT_NO_VALUE : op->lower(&l);
  if (parts == VT_NO_VALUE) {
    report_test_failure(op->name, sized.d.text);
  } else if (!vt_type_equal(&sized.type[whole], &sized.type[parts])) {
    report_test_failure(op->name, "the decomposition gives another type");
  } else if (sized.most > most_bytes) {
    report_test_failure(op->name, "the decomposition holds more than it should");
  }
  vt_arena_done(&arena);
}
#endif
