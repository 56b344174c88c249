/* SPDX-License-Identifier: Apache-2.0
 * vt_maps.h - the pointwise ops and the map that a step uses: a row of maps.def, which names the
 * formula of an op. The formulas are the texts map_*.inc and cast_*.inc, which each backend
 * compiles for its processor. select, where and cast have no row in maps.def; their maps have
 * numbers after the rows. */
#ifndef VT_MAPS_H
#define VT_MAPS_H
#include "vt_steps.h"

enum {
#define VT_MAP(op, n, result, f, i, t, cost) VT_MAP_##op,
#include "maps.def"
#undef VT_MAP
  VT_MAPS,
  VT_MAP_cast = VT_MAPS, /* the op cast */
  VT_MAP_choice,         /* the ops select and where */
  VT_MAP_none            /* the op is not pointwise */
};

/* The map of an op: a row of maps.def, VT_MAP_cast, VT_MAP_choice or VT_MAP_none. */
uint32_t vt_map_of_op(uint32_t op);
/* The approximate cost of an op, in picoseconds per element. */
uint32_t vt_map_picoseconds_per_element(uint32_t map);
const char *vt_map_name(uint32_t map); /* the name of the op of a row of maps.def */
/* Returns 1 if the result of the row is a truth value; 0 for numbers that are not a row of
 * maps.def. */
int vt_map_gives_truth(uint32_t map);
/* Returns 1 if the formula calls a function of src/num; 0 for numbers that are not a row of
 * maps.def. */
int vt_map_calls_function(uint32_t map);
/* Returns 1 if there is a formula for operands of this type. */
int vt_map_has_formula(uint32_t map, uint32_t dtype);
/* Returns the map of step s, or VT_MAP_none. The step must have the operands, results and matching
 * types of its op, and its operands must broadcast to the result's shape. vt_map_has_formula says
 * whether there is a formula for the type of its last operand. */
uint32_t vt_map_of_step(const vt_bk_step *s);
#endif
