/* SPDX-License-Identifier: Apache-2.0
 * op_blocks.c - depth_to_space and space_to_depth, which move channels into blocks of pixels and
 * back. Both only move elements, and each is the gradient of the other. The tensor with more
 * pixels is called wide, the one with more channels deep. */
#include <string.h>
#include "op_rows.h"

/* ---- shapes ---- */

static vt_status check_blocks(const vt_rule *r, vt_diag *d) {
  const vt_attr_blocks *a = r->attrs;
  char text[VT_TYPE_TEXT];
  if (r->in[0].rank != 4)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected [N, C, H, W]",
                   vt_type_text(r->dims, &r->in[0], text));
  if (a->block < 1 || a->block > 1 << 16)
    return VT_FAIL(d, VT_VERIFY, "block=%lld: expected 1..65536", (long long)a->block);
  if (a->mode != VT_WORD_DCR && a->mode != VT_WORD_CRD)
    return VT_FAIL(d, VT_VERIFY, "the mode is DCR or CRD");
  return VT_OK;
}

static vt_status divide_axis(const vt_rule *r, uint32_t axis, int64_t by, int64_t *out,
                             vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (vt_dim_div(r->dims, r->in[0].dim[axis], by, out, NULL) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "axis %u of %s is not a multiple of %lld", axis,
                 vt_type_text(r->dims, &r->in[0], text), (long long)by);
}

vt_status shape_depth_to_space(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t block = ((const vt_attr_blocks *)r->attrs)->block;
  VT_TRY(check_blocks(r, d));
  *out = r->in[0];
  VT_TRY(divide_axis(r, 1, block * block, &out->dim[1], d));
  VT_TRY(vt_dim_mul(r->dims, r->in[0].dim[2], block, &out->dim[2], d));
  return vt_dim_mul(r->dims, r->in[0].dim[3], block, &out->dim[3], d);
}

vt_status shape_space_to_depth(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t block = ((const vt_attr_blocks *)r->attrs)->block;
  VT_TRY(check_blocks(r, d));
  *out = r->in[0];
  VT_TRY(vt_dim_mul(r->dims, r->in[0].dim[1], block * block, &out->dim[1], d));
  VT_TRY(divide_axis(r, 2, block, &out->dim[2], d));
  return divide_axis(r, 3, block, &out->dim[3], d);
}

/* ---- as ops: reshape, transpose, reshape ---- */

static uint32_t rearrange(vt_builder *b, uint32_t x, const int64_t split[6], const int64_t perm[6],
                          const int64_t merged[4]) {
  vt_attr_perm a = {.size = sizeof a, .perm = {.n = 6}};
  memcpy(a.perm.v, perm, 6 * sizeof *perm);
  const uint32_t six = vt_build_reshape(b, x, 6, split);
  return vt_build_reshape(b, b->node(b, VT_OP_transpose, &six, 1, &a), 4, merged);
}

uint32_t lower_depth_to_space(const vt_lowering *l) {
  static const int64_t dcr[6] = {0, 3, 4, 1, 5, 2}, crd[6] = {0, 1, 4, 2, 5, 3};
  const vt_attr_blocks *a = l->attrs;
  const vt_type *t = l->b->type(l->b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t n = t->dim[0], s = a->block, c = t->dim[1] / (s * s), h = t->dim[2], w = t->dim[3];
  const int64_t dcr_split[6] = {n, s, s, c, h, w}, crd_split[6] = {n, c, s, s, h, w};
  const int64_t merged[4] = {n, c, h * s, w * s};
  const int first = a->mode == VT_WORD_DCR;
  return rearrange(l->b, l->in[0], first ? dcr_split : crd_split, first ? dcr : crd, merged);
}

uint32_t lower_space_to_depth(const vt_lowering *l) {
  static const int64_t dcr[6] = {0, 3, 5, 1, 2, 4}, crd[6] = {0, 1, 3, 5, 2, 4};
  const vt_attr_blocks *a = l->attrs;
  const vt_type *t = l->b->type(l->b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t n = t->dim[0], c = t->dim[1], s = a->block, h = t->dim[2] / s, w = t->dim[3] / s;
  const int64_t split[6] = {n, c, h, s, w, s}, merged[4] = {n, c * s * s, h, w};
  return rearrange(l->b, l->in[0], split, a->mode == VT_WORD_DCR ? dcr : crd, merged);
}

/* ---- second implementation: copies element [n, c, y, x] of the wide tensor from or to its
 * position in the deep one ---- */

static void copy_blocks(const vt_kernel *k, const vt_view *wide, const vt_view *deep, int to_wide) {
  const vt_attr_blocks *a = k->attrs;
  const int64_t s = a->block, channels = wide->dim[1];
  const size_t size = vt_dtype_bytes(wide->dtype);
  vt_walk w;
  vt_walk_init(&w, 4, wide->dim);
  vt_walk_view(&w, wide);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t c = w.index[1], in_block = w.index[2] % s * s + w.index[3] % s;
    const int64_t channel = a->mode == VT_WORD_DCR ? in_block * channels + c : c * s * s + in_block;
    const int64_t at = w.index[0] * deep->stride[0] + channel * deep->stride[1] +
                       w.index[2] / s * deep->stride[2] + w.index[3] / s * deep->stride[3];
    char *p = (char *)wide->data + w.at[0] * (int64_t)size;
    char *q = (char *)deep->data + at * (int64_t)size;
    memcpy(to_wide ? p : q, to_wide ? q : p, size);
  }
}

vt_status kernel_depth_to_space(vt_kernel *k) {
  copy_blocks(k, k->out, &k->in[0], 1);
  return VT_OK;
}

vt_status kernel_space_to_depth(vt_kernel *k) {
  copy_blocks(k, &k->in[0], k->out, 0);
  return VT_OK;
}

/* ---- gradients ---- */

void grad_depth_to_space(const vt_gradient *g) {
  g->d_in[0] = g->b->node(g->b, VT_OP_space_to_depth, g->d_out, 1, g->attrs);
}

void grad_space_to_depth(const vt_gradient *g) {
  g->d_in[0] = g->b->node(g->b, VT_OP_depth_to_space, g->d_out, 1, g->attrs);
}
