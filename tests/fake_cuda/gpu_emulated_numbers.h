/* SPDX-License-Identifier: Apache-2.0
 * gpu_emulated_numbers.h - CUDA primitives of a single thread: bits, arithmetic, conversions,
 * memory. A part of gpu_emulated.h. */
#ifndef VT_GPU_EMULATED_NUMBERS_H
#define VT_GPU_EMULATED_NUMBERS_H

/* ---- bits ---- */

template <class To, class From>
VT_GPU_FN To vt_gpu_bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}
VT_GPU_FN unsigned __float_as_uint(float x) { return vt_gpu_bit_cast<unsigned>(x); }
VT_GPU_FN int __float_as_int(float x) { return vt_gpu_bit_cast<int>(x); }
VT_GPU_FN float __uint_as_float(unsigned x) { return vt_gpu_bit_cast<float>(x); }
VT_GPU_FN float __int_as_float(int x) { return vt_gpu_bit_cast<float>(x); }
VT_GPU_FN long long __double_as_longlong(double x) { return vt_gpu_bit_cast<long long>(x); }
VT_GPU_FN double __longlong_as_double(long long x) { return vt_gpu_bit_cast<double>(x); }
VT_GPU_FN int __double2loint(double x) { return (int)(unsigned)vt_gpu_bit_cast<uint64_t>(x); }
VT_GPU_FN int __double2hiint(double x) {
  return (int)(unsigned)(vt_gpu_bit_cast<uint64_t>(x) >> 32);
}
VT_GPU_FN double __hiloint2double(int hi, int lo) {
  return vt_gpu_bit_cast<double>((uint64_t)(unsigned)hi << 32 | (unsigned)lo);
}

VT_GPU_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
VT_GPU_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((uint64_t)x); }
VT_GPU_FN int __popc(unsigned x) { return __builtin_popcount(x); }
VT_GPU_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
VT_GPU_FN int __ffs(int x) { return __builtin_ffs(x); }
VT_GPU_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
VT_GPU_FN unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
VT_GPU_FN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
VT_GPU_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned how) {
  const uint64_t both = (uint64_t)b << 32 | a;
  unsigned y = 0;
  for (unsigned i = 0; i < 4; i++) y |= (unsigned)(both >> (how >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return y;
}
VT_GPU_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned by) {
  return (unsigned)(((uint64_t)hi << 32 | lo) << (by & 31) >> 32);
}
VT_GPU_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned by) {
  return (unsigned)(((uint64_t)hi << 32 | lo) >> (by & 31));
}

/* ---- integers ---- */

VT_GPU_FN int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
VT_GPU_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
VT_GPU_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ typedef unsigned __int128 wide;
  return (unsigned long long)((wide)a * b >> 64);
}
VT_GPU_FN long long __mul64hi(long long a, long long b) {
  __extension__ typedef __int128 wide;
  return (long long)((wide)a * b >> 64);
}
VT_GPU_FN int __dp4a(int a, int b, int c) {
  unsigned sum = (unsigned)c; /* the sum is unsigned, because it may wrap */
  for (unsigned i = 0; i < 4; i++)
    sum += (unsigned)((int8_t)(uint8_t)((unsigned)a >> 8 * i) *
                      (int8_t)(uint8_t)((unsigned)b >> 8 * i));
  return (int)sum;
}
VT_GPU_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (unsigned i = 0; i < 4; i++) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
  return c;
}

#define VT_GPU_MIN_MAX(T)                             \
  VT_GPU_FN T min(T a, T b) { return a < b ? a : b; } \
  VT_GPU_FN T max(T a, T b) { return a > b ? a : b; }
VT_GPU_MIN_MAX(int)
VT_GPU_MIN_MAX(unsigned)
VT_GPU_MIN_MAX(long)
VT_GPU_MIN_MAX(unsigned long)
VT_GPU_MIN_MAX(long long)
VT_GPU_MIN_MAX(unsigned long long)
VT_GPU_FN float min(float a, float b) { return fminf(a, b); }
VT_GPU_FN float max(float a, float b) { return fmaxf(a, b); }
VT_GPU_FN double min(double a, double b) { return fmin(a, b); }
VT_GPU_FN double max(double a, double b) { return fmax(a, b); }

/* ---- arithmetic, rounded once ---- */

VT_GPU_FN float __fadd_rn(float a, float b) { return a + b; }
VT_GPU_FN float __fsub_rn(float a, float b) { return a - b; }
VT_GPU_FN float __fmul_rn(float a, float b) { return a * b; }
VT_GPU_FN float __fdiv_rn(float a, float b) { return a / b; }
VT_GPU_FN float __frcp_rn(float a) { return 1.0f / a; }
VT_GPU_FN float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
VT_GPU_FN float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VT_GPU_FN double __dadd_rn(double a, double b) { return a + b; }
VT_GPU_FN double __dsub_rn(double a, double b) { return a - b; }
VT_GPU_FN double __dmul_rn(double a, double b) { return a * b; }
VT_GPU_FN double __ddiv_rn(double a, double b) { return a / b; }
VT_GPU_FN double __drcp_rn(double a) { return 1.0 / a; }
VT_GPU_FN double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
VT_GPU_FN double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

/* ---- conversions ---- */

/* Converts to an integer as the device does: to the nearest representable one. NaN gives 0, except
 * to or from 64 bits: then it gives only the highest bit. */
template <class To, class From>
VT_GPU_FN To vt_gpu_saturate_to_integer(From x) {
  typedef std::numeric_limits<To> limits;
  /* 1 above the greatest integer, a power of two, so the conversion is exact */
  const From above = (From)(limits::max() / 2 + 1) * 2;
  if (x != x)
    return sizeof(To) == 8 || sizeof(From) == 8 ? (To)((uint64_t)1 << (sizeof(To) * 8 - 1)) : (To)0;
  if (x >= above) return limits::max();
  if (x < (From)limits::min()) return limits::min();
  return (To)x;
}
#define VT_GPU_TO_INTEGER(name, To, From)                            \
  VT_GPU_FN To name##_rz(From x) {                                   \
    return vt_gpu_saturate_to_integer<To>((From)__builtin_trunc(x)); \
  }                                                                  \
  VT_GPU_FN To name##_rn(From x) {                                   \
    return vt_gpu_saturate_to_integer<To>((From)__builtin_rint(x));  \
  }                                                                  \
  VT_GPU_FN To name##_rd(From x) {                                   \
    return vt_gpu_saturate_to_integer<To>((From)__builtin_floor(x)); \
  }                                                                  \
  VT_GPU_FN To name##_ru(From x) { return vt_gpu_saturate_to_integer<To>((From)__builtin_ceil(x)); }
VT_GPU_TO_INTEGER(__float2int, int, float)
VT_GPU_TO_INTEGER(__float2uint, unsigned, float)
VT_GPU_TO_INTEGER(__float2ll, long long, float)
VT_GPU_TO_INTEGER(__float2ull, unsigned long long, float)
VT_GPU_TO_INTEGER(__double2int, int, double)
VT_GPU_TO_INTEGER(__double2uint, unsigned, double)
VT_GPU_TO_INTEGER(__double2ll, long long, double)
VT_GPU_TO_INTEGER(__double2ull, unsigned long long, double)

VT_GPU_FN float __int2float_rn(int x) { return (float)x; }
VT_GPU_FN float __uint2float_rn(unsigned x) { return (float)x; }
VT_GPU_FN float __ll2float_rn(long long x) { return (float)x; }
VT_GPU_FN float __ull2float_rn(unsigned long long x) { return (float)x; }
VT_GPU_FN double __int2double_rn(int x) { return x; }
VT_GPU_FN double __uint2double_rn(unsigned x) { return x; }
VT_GPU_FN double __ll2double_rn(long long x) { return (double)x; }
VT_GPU_FN double __ull2double_rn(unsigned long long x) { return (double)x; }
VT_GPU_FN float __double2float_rn(double x) { return (float)x; }

/* ---- memory ---- */

template <class T>
VT_GPU_FN T __ldg(const T *p) {
  return *p;
}
template <class T>
VT_GPU_FN T __ldcs(const T *p) {
  return *p;
}
template <class T>
VT_GPU_FN T __ldcg(const T *p) {
  return *p;
}
template <class T>
VT_GPU_FN T __ldca(const T *p) {
  return *p;
}
template <class T>
VT_GPU_FN void __stcs(T *p, T x) {
  *p = x;
}
template <class T>
VT_GPU_FN void __stcg(T *p, T x) {
  *p = x;
}
VT_GPU_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
VT_GPU_FN void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* Replaces *p by next(*p) atomically and returns the old value. It needs a loop, because blocks may
 * run on several operating-system threads. */
template <class T, class F>
VT_GPU_FN T vt_gpu_atomic_update(T *p, F next) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  while (
      !__atomic_compare_exchange_n(p, &old, next(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}
#define VT_GPU_ATOMICS(T)                                                                   \
  VT_GPU_FN T atomicMin(T *p, T x) {                                                        \
    return vt_gpu_atomic_update(p, [=](T y) { return y < x ? y : x; });                     \
  }                                                                                         \
  VT_GPU_FN T atomicMax(T *p, T x) {                                                        \
    return vt_gpu_atomic_update(p, [=](T y) { return y > x ? y : x; });                     \
  }                                                                                         \
  VT_GPU_FN T atomicExch(T *p, T x) { return __atomic_exchange_n(p, x, __ATOMIC_SEQ_CST); } \
  VT_GPU_FN T atomicAnd(T *p, T x) { return __atomic_fetch_and(p, x, __ATOMIC_SEQ_CST); }   \
  VT_GPU_FN T atomicOr(T *p, T x) { return __atomic_fetch_or(p, x, __ATOMIC_SEQ_CST); }     \
  VT_GPU_FN T atomicXor(T *p, T x) { return __atomic_fetch_xor(p, x, __ATOMIC_SEQ_CST); }   \
  VT_GPU_FN T atomicCAS(T *p, T old, T x) {                                                 \
    __atomic_compare_exchange_n(p, &old, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
    return old;                                                                             \
  }
VT_GPU_ATOMICS(int)
VT_GPU_ATOMICS(unsigned)
VT_GPU_ATOMICS(unsigned long long)
VT_GPU_FN long long atomicMin(long long *p, long long x) {
  return vt_gpu_atomic_update(p, [=](long long y) { return y < x ? y : x; });
}
VT_GPU_FN long long atomicMax(long long *p, long long x) {
  return vt_gpu_atomic_update(p, [=](long long y) { return y > x ? y : x; });
}
VT_GPU_FN int atomicAdd(int *p, int x) { return __atomic_fetch_add(p, x, __ATOMIC_SEQ_CST); }
VT_GPU_FN unsigned atomicAdd(unsigned *p, unsigned x) {
  return __atomic_fetch_add(p, x, __ATOMIC_SEQ_CST);
}
VT_GPU_FN unsigned long long atomicAdd(unsigned long long *p, unsigned long long x) {
  return __atomic_fetch_add(p, x, __ATOMIC_SEQ_CST);
}
VT_GPU_FN int atomicSub(int *p, int x) { return __atomic_fetch_sub(p, x, __ATOMIC_SEQ_CST); }
VT_GPU_FN unsigned atomicSub(unsigned *p, unsigned x) {
  return __atomic_fetch_sub(p, x, __ATOMIC_SEQ_CST);
}
/* Adds 1 to *p, or sets it to 0 if it is `most` or more. Returns the old value. */
VT_GPU_FN unsigned atomicInc(unsigned *p, unsigned most) {
  return vt_gpu_atomic_update(p, [=](unsigned y) { return y >= most ? 0u : y + 1; });
}
#endif
