/* SPDX-License-Identifier: Apache-2.0
 * fused_ptx.c - compiles generated kernels to PTX for the audit: chains that together have every
 * formula of every type and every cast. It also compiles every product kernel with an epilogue.
 * `fused_ptx FOLDER ARCH` writes one file per kernel; a kernel's name says which fused operations
 * it may have. Exits with 77 without NVRTC. */
#include <stdlib.h>
#include <string.h>
#include "cuda_generated.h"
#include "cuda_nvrtc.h"
#include "cuda_epilogue.h"
#include "gpu_fused.h"
#include "vt_emit.h"
#include "vt_test.h"

enum { LONGEST = 56 };
typedef struct generator {
  const char *folder, *kind;
  const vt_nvrtc *nvrtc;
  vt_nvrtc_options options;
  uint32_t files, n;
  vt_bk_tensor now, in[VT_CHAIN_STEPS][3], out[VT_CHAIN_STEPS];
  vt_bk_step step[VT_CHAIN_STEPS];
} generator;

static vt_bk_tensor rank_1_tensor_at(uint32_t arena, uint64_t place, uint32_t dtype) {
  return (vt_bk_tensor){.size = sizeof(vt_bk_tensor),
                        .dtype = dtype,
                        .rank = 1,
                        .arena = arena,
                        .dim = {100},
                        .stride = {1},
                        .offset = place * 1024};
}

static void write_file(const generator *f, const vt_text *ptx) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s_%u.ptx", f->folder, f->kind, f->files);
  FILE *to = fopen(path, "w");
  CHECK(to != NULL);
  if (to == NULL) return;
  CHECK(fputs(ptx->s, to) >= 0);
  CHECK(fclose(to) == 0);
}

static void write_chain(const void *chain, const char *name, vt_text *out) {
  vt_emit_chain(chain, &vt_dialect_cuda, name, out);
}

static void compile_kernel(generator *f, vt_cuda_write_fn *write, const void *what) {
  char name[64];
  vt_diag d = {0};
  vt_text text, ptx;
  snprintf(name, sizeof name, "%s_%u", f->kind, f->files);
  vt_text_init(&text, vt_alloc_default());
  vt_text_init(&ptx, vt_alloc_default());
  write(what, name, &text);
  CHECK(vt_text_status(&text) == VT_OK);
  const vt_status s = vt_nvrtc_compile(f->nvrtc, text.s, &f->options, &ptx, &d);
  if (s != VT_OK) fprintf(stderr, "%s: %s\n", name, d.text);
  CHECK(s == VT_OK);
  if (s == VT_OK) write_file(f, &ptx);
  vt_text_done(&ptx);
  vt_text_done(&text);
  f->files++;
}

/* Compiles the steps that were added so far as one kernel, and begins the next chain with a new
 * source. */
static void compile_chain(generator *f) {
  const vt_bk_step *members[VT_CHAIN_STEPS];
  vt_chain chain;
  for (uint32_t i = 0; i < f->n; i++) members[i] = &f->step[i];
  if (f->n > 0) {
    CHECK(vt_chain_read(members, f->n, VT_FUSED_SOURCES, &chain) == VT_OK);
    compile_kernel(f, write_chain, &chain);
  }
  f->n = 0;
  f->now = rank_1_tensor_at(0, 0, VT_DTYPE_F32);
}

static void add_step(generator *f, uint32_t op, uint32_t operand_type, uint32_t result_type,
                     uint32_t n_in) {
  const uint32_t i = f->n++;
  f->out[i] = rank_1_tensor_at(4, i, result_type);
  f->in[i][0] = f->now;
  for (uint32_t k = 1; k < n_in; k++)
    f->in[i][k] = rank_1_tensor_at(0, 8 * operand_type + k, operand_type);
  f->step[i] = (vt_bk_step){.size = sizeof f->step[i],
                            .op = op,
                            .n_in = n_in,
                            .n_out = 1,
                            .in = f->in[i],
                            .out = &f->out[i]};
  f->now = f->out[i];
}

static void add_cast_if_needed(generator *f, uint32_t to) {
  if (f->now.dtype != to) add_step(f, VT_OP_cast, to, to, 1);
}

/* Adds a step for a row of maps.def, and a step that adds a source to its result. Without the
 * second step the compiler could use that a bool or a sign has only a few values. */
static void add_steps_of_row(generator *f, uint32_t op, uint32_t n_in, uint32_t type) {
  const uint32_t result = vt_map_gives_truth(vt_map_of_op(op)) ? VT_DTYPE_BOOL : type;
  add_cast_if_needed(f, type);
  add_step(f, op, type, result, n_in);
  add_step(f, result == VT_DTYPE_BOOL ? VT_OP_xor : VT_OP_add, result, result, 2);
  if (f->n >= LONGEST) compile_chain(f);
}

static const struct {
  uint32_t op, n_in;
} rows[] = {
#define VT_MAP(op, n, result, f, i, t, cost) {VT_OP_##op, n},
#include "maps.def"
#undef VT_MAP
};
enum { ROWS = sizeof rows / sizeof *rows };

static void emit_formulas(generator *f) {
  f->kind = "plain";
  for (uint32_t t = VT_DTYPE_F32; t <= VT_DTYPE_BF16; t++)
    for (uint32_t i = 0; i < ROWS; i++)
      if (vt_map_has_formula(i, t) && !vt_map_calls_function(i) && rows[i].op != VT_OP_fma)
        add_steps_of_row(f, rows[i].op, rows[i].n_in, t);
  compile_chain(f);
}

static void emit_casts(generator *f) {
  f->kind = "cast";
  for (uint32_t from = VT_DTYPE_F32; from <= VT_DTYPE_BF16; from++)
    for (uint32_t to = VT_DTYPE_F32; to <= VT_DTYPE_BF16; to++) {
      add_cast_if_needed(f, from);
      add_cast_if_needed(f, to);
      if (f->n >= LONGEST) compile_chain(f);
    }
  compile_chain(f);
}

static void emit_functions(generator *f) {
  f->kind = "functions";
  for (uint32_t i = 0; i < ROWS; i++)
    if (vt_map_calls_function(i)) add_steps_of_row(f, rows[i].op, rows[i].n_in, VT_DTYPE_F32);
  compile_chain(f);
}

static void emit_fma(generator *f) {
  f->kind = "contraction";
  add_steps_of_row(f, VT_OP_fma, 3, VT_DTYPE_F32);
  compile_chain(f);
  f->kind = "wide";
  add_steps_of_row(f, VT_OP_fma, 3, VT_DTYPE_F64);
  compile_chain(f);
}

/* For each product kernel, compiles it with the epilogue product * source + source. */
static void emit_epilogues(generator *f) {
  vt_cuda_epilogue_kernel epilogue;
  uint32_t type;
  for (uint32_t i = 0; vt_cuda_product_kernel_at(i, &epilogue.kernel, &type); i++) {
    vt_chain chain;
    const int sums =
        epilogue.kernel == VT_GPU_sum_slices_f32 || epilogue.kernel == VT_GPU_sum_slices_f64;
    f->kind = sums ? "plain" : type == VT_DTYPE_F32 ? "contraction" : "wide";
    f->n = 0, f->now = rank_1_tensor_at(0, 0, type);
    add_step(f, VT_OP_mul, type, type, 2);
    add_step(f, VT_OP_add, type, type, 2);
    const vt_bk_step *const members[2] = {&f->step[0], &f->step[1]};
    CHECK(vt_chain_read(members, 2, VT_GPU_EPILOGUE_SOURCES, &chain) == VT_OK);
    epilogue.chain = &chain;
    compile_kernel(f, vt_cuda_epilogue_write_text, &epilogue);
  }
}

int main(int argc, char **argv) {
  static generator f;
  vt_diag d = {0};
  if (argc != 3) return 2;
  if (vt_nvrtc_get(&f.nvrtc, &d) != VT_OK) {
    printf("SKIPPED: %s\n", d.text);
    return 77;
  }
  f.folder = argv[1];
  vt_nvrtc_options_init(&f.options, atoi(argv[2]), VT_NVRTC_PTX);
  compile_chain(&f);
  emit_formulas(&f);
  emit_casts(&f);
  emit_functions(&f);
  emit_fma(&f);
  emit_epilogues(&f);
  printf("%u kernels\n", f.files);
  TEST_DONE();
}
