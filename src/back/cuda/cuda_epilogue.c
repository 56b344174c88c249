/* SPDX-License-Identifier: Apache-2.0
 * cuda_epilogue.c - epilogues of matrix products: decides which steps become one, generates its
 * kernel, and finds the memory of its operands. An epilogue saves one write and one read of the
 * product, which is worth a compilation only for large products. A side is a tensor of the
 * epilogue, with the strides that lead to the element that belongs to a result of the product. */
#include "cuda_epilogue.h"
#include <stddef.h>
#include <string.h>
#include "cuda_chain.h"
#include "cuda_generated.h"

enum {
  /* bytes that a product must read and write to get an epilogue */
  LEAST_BYTES = 1 << 20,
  MAX_STEPS = 4, /* most steps of an epilogue of a tiled kernel */
  MAX_COST = 200 /* highest cost of a step's formula in the epilogue of a tiled kernel */
};

struct vt_launch_epilogue {
  uint32_t kernel; /* the product kernel that the generated kernel replaces */
  void *function;
  uint32_t n, rank, group; /* numbers of sides, of leading axes, and of results in 16 bytes */
  uint32_t shared;         /* bytes of dynamic shared memory that the generated kernel may use */
  const vt_bk_tensor *tensor[VT_GPU_EPILOGUE_SOURCES]; /* tensor that each side describes */
  vt_gpu_epilogue args; /* the generated kernel's arguments; their addresses are set at launch */
  int64_t columns;
};

/* ---- kernels that store results of products ---- */

/* A kernel that stores results of products, and its name in gpu_products.cuh. */
typedef struct product_kernel {
  uint32_t kernel, dtype;
  /* 1 for skinny kernels and kernels that sum slices of k, which may run any chain as epilogue */
  int any_chain;
  const char *name, *args_type;
} product_kernel;
#define PRODUCT(name, dtype, any_chain) \
  { VT_GPU_##name, dtype, any_chain, #name, "vt_gpu_gemm_epilogue" }
#define DTYPE_float VT_DTYPE_F32
#define DTYPE_double VT_DTYPE_F64
static const product_kernel product_kernels[] = {
#define VT_TILE(name, type, bm, bn, bk, tm, tn, stages, resident, speed, a, b) \
  PRODUCT(name, DTYPE_##type, 0),
#include "tiles.def"
#undef VT_TILE
#define VT_CONV_TILE(name, type, bm, bn, bk, tm, tn, stages, resident, speed) \
  {VT_GPU_##name, DTYPE_##type, 0, #name, "vt_gpu_conv_epilogue"},
#include "conv_tiles.def"
#undef VT_CONV_TILE
    PRODUCT(sum_slices_f32, VT_DTYPE_F32, 1),  PRODUCT(sum_slices_f64, VT_DTYPE_F64, 1),
    PRODUCT(skinny_4, VT_DTYPE_F32, 1),        PRODUCT(skinny_8, VT_DTYPE_F32, 1),
    PRODUCT(skinny_16, VT_DTYPE_F32, 1),       PRODUCT(stream_across_1, VT_DTYPE_F32, 1),
    PRODUCT(stream_across_4, VT_DTYPE_F32, 1), PRODUCT(stream_along_1, VT_DTYPE_F32, 1),
    PRODUCT(stream_along_4, VT_DTYPE_F32, 1),
};

static const product_kernel *find_product_kernel(uint32_t kernel) {
  for (size_t i = 0; i < sizeof product_kernels / sizeof *product_kernels; i++)
    if (product_kernels[i].kernel == kernel) return &product_kernels[i];
  return NULL;
}

int vt_cuda_product_kernel_at(uint32_t i, uint32_t *kernel, uint32_t *dtype) {
  if (i >= sizeof product_kernels / sizeof *product_kernels) return 0;
  *kernel = product_kernels[i].kernel;
  *dtype = product_kernels[i].dtype;
  return 1;
}

void vt_cuda_epilogue_write_text(const void *epilogue, const char *name, vt_text *out) {
  const vt_cuda_epilogue_kernel *k = epilogue;
  const product_kernel *e = find_product_kernel(k->kernel);
  vt_emit_chain(k->chain, &vt_dialect_epilogue, name, out);
  vt_text_add(out, "#include \"gpu_products.cuh\"\nVT_KERNEL_EPILOGUE(%s, %s, %s)\n", name, e->name,
              e->args_type);
}

/* ---- products ---- */

static int describe_product(const vt_cuda_call *c, vt_cuda_product *out) {
  switch (c->step->op) {
    case VT_OP_matmul:
      return vt_cuda_product_of_matmul(c, out);
    case VT_OP_linear:
      return vt_cuda_product_of_linear(c, out);
    case VT_OP_conv:
      return vt_cuda_product_of_conv(c, out);
    default:
      return 0;
  }
}

static uint32_t result_kernel_of(const vt_cuda_call *c, const vt_cuda_product *p) {
  return p->tiled ? vt_cuda_conv_result_kernel(c, &p->v)
                  : vt_cuda_gemm_result_kernel(c->traits, c->out->dtype, &p->v.g);
}

static int moves_enough_bytes(const vt_cuda_call *c) {
  int64_t bytes = vt_cuda_element_count(c->out) * vt_cuda_bytes_of(c->out->dtype);
  for (uint32_t i = 0; i < c->n_in; i++)
    bytes += vt_cuda_element_count(&c->in[i]) * vt_cuda_bytes_of(c->in[i].dtype);
  return vt_cuda_element_count(c->out) > 0 && bytes >= LEAST_BYTES;
}

/* Returns 1 if the kernel should run the chain as an epilogue. A tiled kernel has little other work
 * while it stores results, so it takes only a few cheap steps; a kernel of its own has more threads
 * for expensive ones. Skinny products finish before a second kernel would start, and sums of slices
 * have enough threads, so they take any chain. */
static int should_run_epilogue(uint32_t kernel, const vt_chain *chain) {
  const product_kernel *e = find_product_kernel(kernel);
  if (e == NULL || e->any_chain) return e != NULL;
  int cheap = chain->n_steps <= MAX_STEPS;
  for (uint32_t i = 0; i < chain->n_steps; i++) {
    const uint32_t map = chain->step[i].map;
    /* ops without a row in maps.def, casts and select, are cheap */
    cheap = cheap && (map >= VT_MAPS || vt_map_picoseconds_per_element(map) <= MAX_COST);
  }
  return cheap;
}

/* ---- operands ---- */

static int has_shape_of(const vt_bk_tensor *t, const vt_view *y) {
  return t->rank == y->rank && memcmp(t->dim, y->dim, y->rank * sizeof *y->dim) == 0;
}

/* Returns a view of t, broadcast to the shape of y. */
static vt_view broadcast_view(const vt_bk_tensor *t, const vt_view *y) {
  vt_view v = *y;
  v.dtype = t->dtype;
  for (uint32_t i = 0; i < y->rank; i++) {
    const uint32_t missing = y->rank - t->rank;
    v.stride[i] = i < missing || t->dim[i - missing] == 1 ? 0 : t->stride[i - missing];
  }
  return v;
}

/* Describes tensor v, which has y's shape, as a side: with the strides of rows, columns and leading
 * axes that the product's result would have in it. Returns 0 if its axes cannot be merged as those
 * of y are. */
static int describe_side(const vt_cuda_call *c, const vt_cuda_product *p, const vt_view *v,
                         vt_gpu_epilogue_side *out) {
  vt_cuda_call as = *c;
  vt_cuda_product q;
  as.out = v;
  if (!describe_product(&as, &q) || q.tiled != p->tiled) return 0;
  const vt_gpu_gemm *g = &q.v.g, *want = &p->v.g;
  if (g->rank != want->rank || g->m != want->m || g->n != want->n) return 0;
  *out = (vt_gpu_epilogue_side){.row = g->y_row, .column = g->y_column};
  memcpy(out->step, g->y_step, sizeof out->step);
  return 1;
}

/* Returns 1 if two tensors may share bytes of an arena. */
static int may_overlap(const vt_bk_tensor *a, const vt_bk_tensor *b) {
  const vt_bk_tensor *const t[2] = {a, b};
  int64_t from[2], to[2];
  if (a->arena != b->arena) return 0;
  for (int k = 0; k < 2; k++) {
    const int64_t bytes = (int64_t)vt_dtype_bytes(t[k]->dtype);
    from[k] = (int64_t)t[k]->offset;
    to[k] = from[k] + bytes;
    for (uint32_t i = 0; i < t[k]->rank; i++) {
      const int64_t reach = t[k]->stride[i] * (t[k]->dim[i] - 1) * bytes;
      *(reach < 0 ? &from[k] : &to[k]) += reach;
    }
  }
  return from[0] < to[1] && from[1] < to[0];
}

/* Makes the product y the chain's first source. Returns 0 if another source may share bytes with y:
 * the source needs the stored product, but an epilogue does not store it. */
static int make_product_first_source(vt_chain *chain, const vt_bk_tensor *y) {
  uint32_t found = chain->n_sources;
  for (uint32_t i = 0; i < chain->n_sources; i++) {
    if (vt_chain_is_same_tensor(chain->source[i], y))
      found = i;
    else if (may_overlap(chain->source[i], y))
      return 0;
  }
  if (found == chain->n_sources) return 0;
  vt_chain_swap_first_source(chain, found);
  return 1;
}

static int describe_sides(const vt_cuda_call *c, const vt_cuda_product *p, const vt_chain *chain,
                          vt_cuda_epilogue *t) {
  t->n = chain->n_sources;
  for (uint32_t i = 0; i < t->n; i++) {
    t->tensor[i] = i == 0 ? chain->result : chain->source[i];
    const vt_view v = broadcast_view(t->tensor[i], c->out);
    if (!describe_side(c, p, &v, &t->args.side[i])) return 0;
  }
  return 1;
}

/* ---- building ---- */

/* Swaps rows and columns: products with few columns are computed as their transposes. */
static void transpose_sides(vt_cuda_epilogue *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    vt_gpu_epilogue_side *s = &t->args.side[i];
    const int64_t row = s->row;
    s->row = s->column;
    s->column = row;
  }
}

static int plan_epilogue(const vt_cuda_call *c, vt_chain *chain, vt_cuda_epilogue *t) {
  vt_cuda_product p;
  if (!moves_enough_bytes(c) || !describe_product(c, &p) || !has_shape_of(chain->result, c->out))
    return 0;
  if (!make_product_first_source(chain, c->step->out) || !describe_sides(c, &p, chain, t)) return 0;
  t->kernel = result_kernel_of(c, &p);
  if (!should_run_epilogue(t->kernel, chain)) return 0;
  t->group = 16 / vt_cuda_bytes_of(c->out->dtype);
  t->columns = p.v.g.n;
  t->rank = p.v.g.rank;
  if (!p.tiled && vt_cuda_gemm_runs_transposed(&p.v.g)) {
    transpose_sides(t);
    t->columns = p.v.g.m;
  }
  return 1;
}

int32_t vt_cuda_epilogue_new(vt_bk_device *dev, const vt_launch *at, vt_cuda_epilogue **out) {
  const vt_bk_step *s = at->anchor;
  const vt_cuda_call c = {.dev = dev,
                          .traits = vt_cuda_card_traits(dev->card),
                          .step = s,
                          .in = at->views,
                          .n_in = s->n_in,
                          .out = at->views + s->n_in,
                          .n_out = s->n_out,
                          .attrs = s->attrs};
  vt_cuda_epilogue t = {0};
  vt_chain chain;
  *out = NULL;
  if (vt_cuda_chain_describe(at->chain, VT_GPU_EPILOGUE_SOURCES, &chain) != VT_OK) return VT_OK;
  if (!plan_epilogue(&c, &chain, &t)) return VT_OK;
  const vt_cuda_epilogue_kernel kernel = {.chain = &chain, .kernel = t.kernel};
  const vt_cuda_source source = {
      .prefix = "epilogue",
      .write = vt_cuda_epilogue_write_text,
      .what = &kernel,
      .otherwise = "the steps after a product run as a kernel of their own"};
  const int32_t status = vt_cuda_generated_get(dev, &source, &t.function);
  if (status != VT_OK) return status == VT_UNSUPPORTED ? VT_OK : status;
  *out = vt_cuda_host_memory_new(dev->host, 1, sizeof **out);
  if (*out == NULL) return VT_NOMEM;
  **out = t;
  return VT_OK;
}

void vt_cuda_epilogue_free(vt_bk_device *dev, vt_cuda_epilogue *epilogue) {
  vt_cuda_host_memory_free(dev->host, epilogue, 1, sizeof *epilogue);
}

/* ---- running ---- */

/* Returns 1 if, in this side, the elements for every group of results are contiguous and
 * aligned. */
static uint32_t allows_wide_access(const vt_gpu_epilogue_side *s, const vt_cuda_epilogue *t,
                                   uint32_t dtype) {
  const int64_t group = t->group, bytes = group * (int64_t)vt_cuda_bytes_of(dtype);
  int fits = s->column == 1 && s->row % group == 0 && t->columns % group == 0;
  for (uint32_t i = 0; i < t->rank; i++) fits = fits && s->step[i] % group == 0;
  return fits && (uintptr_t)s->data % (uintptr_t)bytes == 0;
}

static vt_gpu_epilogue epilogue_args(const vt_cuda_epilogue *t, char *const *base) {
  vt_gpu_epilogue args = t->args;
  for (uint32_t i = 0; i < t->n; i++) {
    args.side[i].data = base[t->tensor[i]->arena] + t->tensor[i]->offset;
    args.side[i].wide = allows_wide_access(&args.side[i], t, t->tensor[i]->dtype);
  }
  return args;
}

/* The generated kernel's arguments are those of the product, directly followed by those of the
 * epilogue. */
_Static_assert(offsetof(vt_gpu_gemm_epilogue, epilogue) == sizeof(vt_gpu_gemm) &&
                   offsetof(vt_gpu_conv_epilogue, epilogue) == sizeof(vt_gpu_conv),
               "there is no padding between them");

static vt_status allow_shared_bytes(vt_cuda_call *c, vt_cuda_epilogue *t, uint32_t shared) {
  vt_diag d = {0};
  if (shared <= t->shared) return VT_OK;
  const vt_status s = vt_cuda_card_allow_shared(c->dev->card, t->function, shared, &d);
  if (s != VT_OK) return (vt_status)vt_cuda_report(c->dev->host, (int32_t)s, d.text);
  t->shared = shared;
  return VT_OK;
}

vt_status vt_cuda_launch_product(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                 const void *args, size_t bytes) {
  _Alignas(vt_gpu_conv_epilogue) char all[sizeof(vt_gpu_conv_epilogue)];
  if (c->epilogue == NULL || c->epilogue->kernel != kernel)
    return vt_cuda_launch(c, kernel, grid, args);
  VT_TRY(allow_shared_bytes(c, c->epilogue, grid.shared));
  const vt_gpu_epilogue epilogue = epilogue_args(c->epilogue, c->base);
  memcpy(all, args, bytes);
  memcpy(all + bytes, &epilogue, sizeof epilogue);
  c->epilogue_done = 1;
  return vt_cuda_launch_function(c, c->epilogue->function, grid, all);
}
