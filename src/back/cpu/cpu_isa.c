/* SPDX-License-Identifier: Apache-2.0
 * cpu_isa.c - chooses the kernels for this processor: the last row of isa.def that was compiled and
 * that the processor has, or the row of a given name. Choosing executes no instruction of any of
 * them. */
#include <string.h>
#include "cpu_kernels.h"
#include "vt_cpu.h"

typedef struct isa {
  const char *name;
  const vt_cpu_kernels *kernels; /* NULL: not compiled for this architecture */
  int is_present;
} isa;

enum {
#define VT_ISA(name, has) ISA_##name,
#include "isa.def"
#undef VT_ISA
  ISAS
};

/* The only test of the architecture: kernels of other architectures are not compiled. */
#if defined(__x86_64__)
#define COMPILED(name) &vt_cpu_##name
#define VNNI &vt_cpu_ints_vnni
#else
#define COMPILED(name) (ISA_##name == ISA_scalar ? &vt_cpu_scalar : NULL)
#define VNNI NULL
#endif

static void list_instruction_sets(isa rows[ISAS]) {
  const vt_cpu *cpu = vt_cpu_get();
#define VT_ISA(name, has) rows[ISA_##name] = (isa){#name, COMPILED(name), has};
#include "isa.def"
#undef VT_ISA
}

const vt_cpu_kernels *vt_cpu_kernels_of(const char *name) {
  isa rows[ISAS];
  const vt_cpu_kernels *best = NULL;
  list_instruction_sets(rows);
  for (int i = 0; i < ISAS; i++)
    if (rows[i].is_present && rows[i].kernels != NULL &&
        (name == NULL || strcmp(name, rows[i].name) == 0))
      best = rows[i].kernels;
  return best;
}

int vt_cpu_isa_known(const char *name) {
  isa rows[ISAS];
  list_instruction_sets(rows);
  for (int i = 0; i < ISAS; i++)
    if (strcmp(name, rows[i].name) == 0) return 1;
  return 0;
}

const vt_cpu_ints *vt_cpu_ints_of(const vt_cpu_kernels *k) {
  const vt_cpu_ints *vnni = VNNI;
  isa rows[ISAS];
  list_instruction_sets(rows);
  return vnni != NULL && vt_cpu_get()->vnni && k == rows[ISA_avx512].kernels ? vnni : k->ints;
}
