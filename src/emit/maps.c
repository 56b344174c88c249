/* SPDX-License-Identifier: Apache-2.0
 * maps.c - decides whether a step is pointwise, and which map it uses: the row of maps.def with the
 * formula of its op, or one of the numbers for cast, select and where. */
#include "vt_maps.h"

/* The entries of the columns float, integer and truth of maps.def: is there a formula for their
 * types? */
enum {
  HAS_no = 0,
  HAS_yes = 1,
  HAS_fused = 1, /* a formula for every type of the column */
  HAS_f32 = 2    /* a formula for f32 only, a function of src/num */
};
static const struct row {
  uint32_t n_in, truth, cost, has_float, has_integer, has_truth;
  const char *name;
} rows[VT_MAPS] = {
#define VT_RESULT_same 0
#define VT_RESULT_truth 1
#define VT_MAP(op, n, result, f, i, t, cost) \
  [VT_MAP_##op] = {n, VT_RESULT_##result, cost, HAS_##f, HAS_##i, HAS_##t, #op},
#include "maps.def"
#undef VT_MAP
};
enum { PLAIN_COST = 300 };

const char *vt_map_name(uint32_t map) { return rows[map].name; }
int vt_map_gives_truth(uint32_t map) { return map < VT_MAPS && rows[map].truth; }
int vt_map_calls_function(uint32_t map) { return map < VT_MAPS && rows[map].has_float == HAS_f32; }

int vt_map_has_formula(uint32_t map, uint32_t dtype) {
  if (map >= VT_MAPS) return map != VT_MAP_none;
  switch (dtype) {
    case VT_DTYPE_F32:
      return rows[map].has_float != HAS_no;
    case VT_DTYPE_F64:
      return rows[map].has_float == HAS_yes;
    case VT_DTYPE_I8:
    case VT_DTYPE_U8:
    case VT_DTYPE_I32:
    case VT_DTYPE_I64:
      return rows[map].has_integer != HAS_no;
    case VT_DTYPE_BOOL:
      return rows[map].has_truth != HAS_no;
    default:
      return 0;
  }
}

/* For each op number: its map plus one, or 0 if the op is not pointwise. */
static const uint8_t map_of[] = {
#define VT_MAP(op, n, result, f, i, t, cost) [VT_OP_##op] = VT_MAP_##op + 1,
#include "maps.def"
#undef VT_MAP
    [VT_OP_cast] = VT_MAP_cast + 1,
    [VT_OP_select] = VT_MAP_choice + 1,
    [VT_OP_where] = VT_MAP_choice + 1};
_Static_assert(VT_MAP_none <= UINT8_MAX, "map_of holds the number of every row");

uint32_t vt_map_of_op(uint32_t op) {
  const uint32_t map = op < sizeof map_of ? map_of[op] : 0;
  return map != 0 ? map - 1 : VT_MAP_none;
}

uint32_t vt_map_picoseconds_per_element(uint32_t map) {
  return map < VT_MAPS ? rows[map].cost : PLAIN_COST;
}

/* ---- steps ---- */

static int broadcasts_to(const vt_bk_tensor *x, const vt_bk_tensor *y) {
  if (x->rank > y->rank || y->rank > VT_MAX_RANK) return 0;
  for (uint32_t k = 1; k <= x->rank; k++) {
    const int64_t d = x->dim[x->rank - k];
    if (d != 1 && d != y->dim[y->rank - k]) return 0;
  }
  return 1;
}

static int is_known_type(uint32_t dtype) { return dtype >= VT_DTYPE_F32 && dtype <= VT_DTYPE_BF16; }

/* Returns 1 if the operands from number `first` on all have the type of the last operand. */
static int share_type_of_last_operand(const vt_bk_step *s, uint32_t first) {
  for (uint32_t i = first; i < s->n_in; i++)
    if (s->in[i].dtype != s->in[s->n_in - 1].dtype) return 0;
  return 1;
}

static int has_valid_types(const vt_bk_step *s, uint32_t row) {
  const uint32_t type = s->in[s->n_in - 1].dtype, made = s->out[0].dtype;
  if (!is_known_type(type) || !is_known_type(made)) return 0;
  if (row == VT_MAP_cast) return s->n_in == 1;
  if (row == VT_MAP_choice)
    return s->n_in == 3 && s->in[0].dtype == VT_DTYPE_BOOL && share_type_of_last_operand(s, 1) &&
           made == type;
  return s->n_in == rows[row].n_in && share_type_of_last_operand(s, 0) &&
         made == (rows[row].truth ? VT_DTYPE_BOOL : type);
}

uint32_t vt_map_of_step(const vt_bk_step *s) {
  const uint32_t row = vt_map_of_op(s->op);
  if (row == VT_MAP_none || s->n_in == 0 || s->n_in > 3 || s->n_out != 1) return VT_MAP_none;
  for (uint32_t i = 0; i < s->n_in; i++)
    if (!broadcasts_to(&s->in[i], &s->out[0])) return VT_MAP_none;
  return has_valid_types(s, row) ? row : VT_MAP_none;
}
