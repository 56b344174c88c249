// SPDX-License-Identifier: Apache-2.0
// random.cu - random numbers, each a function of seed, stream, step and position. A thread draws
// blocks of four.
#include "gpu_words.cuh"
#include "gpu_random.h"
#include "vt_words_cuda.h"
#include "vt_core.h"
#include "fn_exp.inc"
#include "fn_log.inc"
#include "fn_trig.inc"
#include "fn_arc.inc"
#include "fn_erf.inc"
#include "fs_all.inc"

VT_FN vt_s vt_s_log(vt_s x) { return vt_ff_log(x); }
VT_FN vt_s vt_s_sin(vt_s x) { return vt_ff_sin(x); }
VT_FN vt_s vt_s_cos(vt_s x) { return vt_ff_cos(x); }
#include "philox.inc"

struct draw_bits {
  typedef int64_t type;
  VT_GPU_FN int64_t of(const vt_four &f, int k) { return (int64_t)f.w[k]; }
};
struct draw_uniform {
  typedef float type;
  VT_GPU_FN float of(const vt_four &f, int k) { return vt_uniform(f.w[k]); }
};
struct draw_normal {
  typedef float type;
  VT_GPU_FN float of(const vt_four &f, int k) { return vt_normal(f.w[k & ~1], f.w[k | 1], k & 1); }
};

template <class D>
VT_GPU_FN void fill_random(const vt_gpu_random &a) {
  const uint64_t seed = *a.seed;
  const uint32_t step = (uint32_t)*a.step;
  for (int64_t i = vt_gpu_first_item(); 4 * i < a.walk.n; i += vt_gpu_grid_stride()) {
    const vt_four f = vt_philox_block(seed, a.stream, step, (uint64_t)i);
    VT_UNROLL
    for (int k = 0; k < 4; k++) {
      if (4 * i + k >= a.walk.n) break;
      int64_t at[1];
      vt_offsets<1>(a.walk, 4 * i + k, at);
      ((typename D::type *)a.to)[at[0]] = D::of(f, k);
    }
  }
}

VT_KERNEL(random_bits, vt_gpu_random, 256) { fill_random<draw_bits>(a); }
VT_KERNEL(random_uniform, vt_gpu_random, 256) { fill_random<draw_uniform>(a); }
VT_KERNEL(random_normal, vt_gpu_random, 256) { fill_random<draw_normal>(a); }
