/* SPDX-License-Identifier: Apache-2.0
 * plan_class.c - what the classes of memory are called, where they lie, and sums over them. */
#include "vt_plan.h"

static const struct {
  const char *key;
  uint32_t arena;
  int device;
} classes[VT_CLASS_COUNT] = {
#define VT_CLASS(name, arena, key, device, help) \
  [VT_CLASS_##name] = {key, VT_CLASS_##arena, device},
#include "classes.def"
#undef VT_CLASS
};

const char *vt_class_name(uint32_t c) { return c < VT_CLASS_COUNT ? classes[c].key : "?"; }

int vt_class_on_device(uint32_t c) { return c < VT_CLASS_COUNT && classes[c].device; }

uint32_t vt_class_arena(uint32_t c) { return c < VT_CLASS_COUNT ? classes[c].arena : c; }

uint64_t vt_plan_arena_bytes(const vt_plan *p, uint32_t arena) {
  uint64_t sum = 0; /* eight classes of at most 2^48 bytes */
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (classes[c].arena == arena) sum += p->class_bytes[c];
  return sum;
}

uint64_t vt_plan_peak(const vt_plan *p) {
  uint64_t sum = 0;
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (vt_class_on_device(c)) sum += p->class_bytes[c];
  return sum;
}
