/* SPDX-License-Identifier: Apache-2.0
 * vt_maps.h - the pointwise ops: the rows of maps.def, and which of them a step is. The formulas
 * are texts (map_*.inc, cast_*.inc) that a backend compiles for its processor; selections and casts
 * have no row, and are taken like the others. */
#ifndef VT_MAPS_H
#define VT_MAPS_H
#include "vt_steps.h"

enum {
#define VT_MAP(op, n, result, f, i, t, cost) VT_MAP_##op,
#include "maps.def"
#undef VT_MAP
  VT_MAPS,
  VT_MAP_cast = VT_MAPS, /* what else an op can be: from one type to another, */
  VT_MAP_choice,         /* select and where, */
  VT_MAP_none            /* not pointwise */
};

uint32_t vt_map_of(uint32_t op);    /* one of these */
uint32_t vt_map_cost(uint32_t map); /* picoseconds an element, about */
/* Of a row of maps.def: its name, whether its result is a truth value, whether it is a function of
 * the numerics or made of one; the last is 0 for what has no row. */
const char *vt_map_name(uint32_t map);
int vt_map_is_truth(uint32_t map);
int vt_map_is_function(uint32_t map);
/* 1 when there is a formula for operands of that type. */
int vt_map_has(uint32_t map, uint32_t dtype);
/* The same for a step, if it has the operands and the result that its op has, all of the types that
 * belong together, and its operands stretch to the result's shape; otherwise VT_MAP_none. Whether
 * there is a formula for the type of its last operand is another question. */
uint32_t vt_map_of_step(const vt_bk_step *s);
#endif
