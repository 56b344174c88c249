/* SPDX-License-Identifier: Apache-2.0
 * plan_class.c - the name, arena and side (device or host) of each memory class, and the sums of a
 * plan's bytes over classes. */
#include "vt_plan.h"

static const struct {
  const char *key; /* name in printed plans and in JSON */
  uint32_t arena;  /* the class whose buffer holds the bytes of this class */
  int device;      /* 1: device memory, 0: host memory */
} classes[VT_CLASS_COUNT] = {
#define VT_CLASS(name, arena, key, device, help) \
  [VT_CLASS_##name] = {key, VT_CLASS_##arena, device},
#include "classes.def"
#undef VT_CLASS
};

const char *vt_class_name(uint32_t class) {
  return class < VT_CLASS_COUNT ? classes[class].key : "?";
}

int vt_class_is_on_device(uint32_t class) {
  return class < VT_CLASS_COUNT && classes[class].device;
}

uint32_t vt_class_arena(uint32_t class) {
  return class < VT_CLASS_COUNT ? classes[class].arena : class;
}

uint64_t vt_plan_arena_bytes(const vt_plan *p, uint32_t arena) {
  uint64_t sum = 0; /* cannot overflow: nine classes of at most 2^48 bytes */
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (classes[c].arena == arena) sum += p->class_bytes[c];
  return sum;
}

uint64_t vt_plan_peak_bytes(const vt_plan *p) {
  uint64_t sum = 0;
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (vt_class_is_on_device(c)) sum += p->class_bytes[c];
  return sum;
}
