/* SPDX-License-Identifier: Apache-2.0
 * emit.c - writes the source text of a chain: takes the text pieces of a dialect, which is a table
 * of them for one language, and replaces their placeholders ($T, $I, ...). */
#include <stdio.h>
#include <string.h>
#include "vt_emit.h"

/* ---- the dialects ---- */

/* The text pieces that both CUDA dialects share. */
#define CUDA_TYPES                                                                         \
  {                                                                                        \
    [VT_DTYPE_F32] = "float", [VT_DTYPE_F64] = "double", [VT_DTYPE_I8] = "int8_t",         \
    [VT_DTYPE_U8] = "uint8_t", [VT_DTYPE_I32] = "int32_t", [VT_DTYPE_I64] = "int64_t",     \
    [VT_DTYPE_BOOL] = "uint8_t", [VT_DTYPE_F16] = "uint16_t", [VT_DTYPE_BF16] = "uint16_t" \
  }
#define CUDA_PLAIN "#define VT_GPU_WITHOUT_FUN\n"
#define CUDA_OPEN                  \
  "    vt_fused_group<$T, G> y;\n" \
  "    VT_UNROLL\n"                \
  "    for (int k = 0; k < G; k++) {\n"
#define CUDA_STEP "      const $T v$I = $F;\n"
#define CUDA_CLOSE        \
  "      y.v[k] = v$I;\n" \
  "    }\n"

const vt_dialect vt_dialect_cuda = {
    .name = "cuda",
    .type = CUDA_TYPES,
    .plain = CUDA_PLAIN,
    .begin =
        "#include \"gpu_fused.cuh\"\n\n"
        "struct vt_fused_steps {\n"
        "  enum { N = $N, BYTES = $B };\n"
        "  template <int G>\n"
        "  VT_GPU_FN void run(const vt_gpu_fused &m, const int64_t (&at)[N + 1]) {\n",
    .load = "    const vt_fused_group<$T, G> x$I = vt_fused_load<$T, G>(m, $I, at[1 + $I]);\n",
    .open = CUDA_OPEN,
    .source = "x$I.v[k]",
    .value = "v$I",
    .step = CUDA_STEP,
    .end = CUDA_CLOSE
    "    vt_fused_store<$T, G>(m, at[0], y);\n"
    "  }\n"
    "};\n\n"
    "VT_KERNEL($K, vt_gpu_fused, VT_FUSED_THREADS) { vt_fused_run<vt_fused_steps>(a); }\n",
};

const vt_dialect vt_dialect_epilogue = {
    .name = "cuda, behind a product",
    .type = CUDA_TYPES,
    .plain = CUDA_PLAIN,
    .begin =
        "#include \"gpu_epilogue.cuh\"\n\n"
        "struct vt_epilogue_steps {\n"
        "  enum { N = $N };\n"
        "  template <class E, int G, int W>\n"
        "  VT_GPU_FN void run(const vt_gpu_epilogue &m, const vt_epilogue_here<E, G, W> &h) {\n",
    .load = "    const vt_fused_group<$T, G> x$I = vt_epilogue_load<$T, $I>(m, h);\n",
    .open = CUDA_OPEN,
    .source = "x$I.v[k]",
    .value = "v$I",
    .step = CUDA_STEP,
    .end = CUDA_CLOSE
    "    vt_epilogue_store(m, h, y);\n"
    "  }\n"
    "};\n\n",
};

/* ---- placeholders ---- */

/* The values that the placeholders of the current piece are replaced by. */
typedef struct placeholders {
  const vt_chain *c;
  const vt_dialect *d;
  const char *name;
  uint32_t type, number;
  const vt_chain_step *step; /* the step whose formula replaces $F; NULL if the piece has no $F */
} placeholders;

static void emit_piece(const placeholders *w, const char *piece, vt_text *out);

static void emit_operand(const placeholders *w, uint32_t value, vt_text *out) {
  placeholders one = *w;
  const int made = value >= VT_CHAIN_SOURCES;
  one.number = made ? value - VT_CHAIN_SOURCES : value;
  one.step = NULL;
  emit_piece(&one, made ? w->d->value : w->d->source, out);
}

/* Writes the first n arguments of a formula, as in "a, b, 0": a missing operand is written as 0. */
static void emit_operands(const placeholders *w, uint32_t n, vt_text *out) {
  for (uint32_t k = 0; k < n; k++) {
    if (k > 0) vt_text_add(out, ", ");
    if (k < w->step->n_in)
      emit_operand(w, w->step->in[k], out);
    else
      vt_text_add(out, "0");
  }
}

static void emit_choice(const placeholders *w, vt_text *out) {
  emit_operand(w, w->step->in[0], out);
  vt_text_add(out, " ? ");
  emit_operand(w, w->step->in[1], out);
  vt_text_add(out, " : ");
  emit_operand(w, w->step->in[2], out);
}

static void emit_formula(const placeholders *w, vt_text *out) {
  const vt_chain_step *s = w->step;
  const char *type = vt_dtype_name(s->type);
  if (s->map == VT_MAP_choice) {
    emit_choice(w, out);
  } else if (s->map == VT_MAP_cast) {
    vt_text_add(out, "cast_%s_%s(", type, vt_dtype_name(s->made));
    emit_operands(w, 1, out);
    vt_text_add(out, ")");
  } else {
    const int truth = vt_map_gives_truth(s->map);
    vt_text_add(out, "%s_%s(", type, vt_map_name(s->map));
    emit_operands(w, truth ? 2 : 3, out);
    vt_text_add(out, truth ? ") != 0" : ")");
  }
}

static void emit_placeholder(const placeholders *w, char word, vt_text *out) {
  switch (word) {
    case 'T':
      vt_text_add(out, "%s", w->d->type[w->type]);
      break;
    case 'I':
      vt_text_add(out, "%u", w->number);
      break;
    case 'N':
      vt_text_add(out, "%u", w->c->n_sources);
      break;
    case 'B':
      vt_text_add(out, "%u", vt_chain_widest_element_bytes(w->c));
      break;
    case 'K':
      vt_text_add(out, "%s", w->name);
      break;
    case 'F':
      if (w->step != NULL) emit_formula(w, out);
      break;
    default:
      break;
  }
}

static void emit_piece(const placeholders *w, const char *piece, vt_text *out) {
  while (*piece != 0) {
    const size_t n = strcspn(piece, "$");
    vt_text_add_bytes(out, piece, n);
    piece += n;
    if (*piece == 0 || piece[1] == 0) return;
    emit_placeholder(w, piece[1], out);
    piece += 2;
  }
}

/* ---- the whole text ---- */

void vt_emit_chain(const vt_chain *c, const vt_dialect *d, const char *name, vt_text *out) {
  placeholders w = {.c = c, .d = d, .name = name, .type = c->result->dtype};
  if (!vt_chain_calls_functions(c)) emit_piece(&w, d->plain, out);
  emit_piece(&w, d->begin, out);
  for (uint32_t i = 0; i < c->n_sources; i++) {
    w.type = c->source[i]->dtype;
    w.number = i;
    emit_piece(&w, d->load, out);
  }
  w.type = c->result->dtype;
  emit_piece(&w, d->open, out);
  for (uint32_t i = 0; i < c->n_steps; i++) {
    w.type = c->step[i].made;
    w.number = i;
    w.step = &c->step[i];
    emit_piece(&w, d->step, out);
  }
  w.step = NULL;
  emit_piece(&w, d->end, out);
}
