/* SPDX-License-Identifier: Apache-2.0
 * cpu.c - detects the features of the processor and whether the operating system saves their
 * registers. One of the two files of the project with code that depends on the processor type. */
#define _GNU_SOURCE /* declares sched_getaffinity */
#include "vt_cpu.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static vt_cpu features;
static pthread_once_t features_once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
#include <cpuid.h>

enum {
  LEAF1_ECX_FMA = 1 << 12,
  LEAF1_ECX_OSXSAVE = 1 << 27,
  LEAF1_ECX_AVX = 1 << 28,
  LEAF1_ECX_F16C = 1 << 29,
  LEAF7_EBX_AVX2 = 1 << 5,
  LEAF7_EBX_AVX512F = 1 << 16,
  LEAF7_EBX_AVX512DQ = 1 << 17,
  LEAF7_EBX_AVX512BW = 1 << 30,
  LEAF7_ECX_VNNI = 1 << 11,
  XCR0_YMM = 0x06, /* bits of XCR0: the system saves xmm and the upper halves of ymm */
  XCR0_ZMM = 0xe6  /* and also the mask registers, the upper halves of zmm0..15, and zmm16..31 */
};
static const unsigned LEAF7_EBX_AVX512VL = 1u << 31; /* bit 31 does not fit an enumerator */

static unsigned read_xcr0(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static int has_all_bits(unsigned word, unsigned mask) { return (word & mask) == mask; }

/* A feature counts only if the operating system saves the registers that it needs: otherwise the
 * first context switch would destroy them. */
static void detect_features(vt_cpu *c) {
  unsigned a, b, c1 = 0, d, b7 = 0, c7 = 0;
  c->sse2 = 1; /* SSE2 is part of the architecture */
  if (!__get_cpuid(1, &a, &b, &c1, &d) || !has_all_bits(c1, LEAF1_ECX_OSXSAVE)) return;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d)) b7 = c7 = 0;
  const unsigned saved = read_xcr0();
  const int avx = has_all_bits(c1, LEAF1_ECX_AVX) && has_all_bits(saved, XCR0_YMM);
  const unsigned skylake =
      LEAF7_EBX_AVX512F | LEAF7_EBX_AVX512DQ | LEAF7_EBX_AVX512BW | LEAF7_EBX_AVX512VL;
  c->fma = avx && has_all_bits(c1, LEAF1_ECX_FMA);
  c->f16c = avx && has_all_bits(c1, LEAF1_ECX_F16C);
  c->avx2 = avx && has_all_bits(b7, LEAF7_EBX_AVX2);
  c->avx512 =
      c->avx2 && c->fma && c->f16c && has_all_bits(b7, skylake) && has_all_bits(saved, XCR0_ZMM);
  c->vnni = c->avx512 && has_all_bits(c7, LEAF7_ECX_VNNI);
}

void vt_cpu_pause(void) { __builtin_ia32_pause(); }

#elif defined(__aarch64__)
void vt_cpu_pause(void) { __asm__ volatile("yield"); }
static void detect_features(vt_cpu *c) {
  c->neon = c->fma = 1; /* NEON and its fma are part of the architecture */
}
#else
void vt_cpu_pause(void) {}
static void detect_features(vt_cpu *c) { (void)c; }
#endif

/* Counts the processors that this process may run on, which may be fewer than the machine has. */
static unsigned count_cores(void) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
#if defined(__linux__)
  cpu_set_t given;
  if (sched_getaffinity(0, sizeof given, &given) == 0 && CPU_COUNT(&given) > 0)
    return (unsigned)CPU_COUNT(&given);
#endif
  return online > 0 ? (unsigned)online : 1;
}

static void detect_features_and_cores(void) {
  features.cores = count_cores();
  detect_features(&features);
}

const vt_cpu *vt_cpu_get(void) {
  pthread_once(&features_once, detect_features_and_cores);
  return &features;
}

void vt_cpu_list_features(char *out, size_t n) {
  const vt_cpu *c = vt_cpu_get();
  const struct {
    const char *name;
    int usable;
  } all[] = {{"sse2", c->sse2},     {"fma", c->fma},   {"f16c", c->f16c}, {"avx2", c->avx2},
             {"avx512", c->avx512}, {"vnni", c->vnni}, {"neon", c->neon}};
  size_t used = 0;
  if (n != 0) out[0] = 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    const size_t needed = strlen(all[i].name) + 2; /* the name, a blank and the terminating 0 */
    if (!all[i].usable || used + needed > n) continue;
    used += (size_t)snprintf(out + used, n - used, "%s%s", used != 0 ? " " : "", all[i].name);
  }
}
