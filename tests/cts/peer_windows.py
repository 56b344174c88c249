# SPDX-License-Identifier: Apache-2.0
"""peer_windows.py - ops with windows over spatial axes, written with NumPy: convolutions, pools, resizing,
blocks; and integer products. Each result is a sum or a maximum over the taps of a window."""
import itertools
import math

import numpy as np

from peer_elementwise import EPS, NP, up
from peer_model import Skip
from peer_numpy import finite_size, order_key, sum_limit


def each(values, n, default):
    """A number for each axis, from a list that is empty (the default), has one number for all, or one for each."""
    values = [values] if isinstance(values, int) else list(values or [default])
    return values * n if len(values) == 1 else values


def lists(a, n, *names):
    return [each(a.get(name), n, 1 if name in ("stride", "dilation") else 0) for name in names]


def taps(kernel):
    return itertools.product(*map(range, kernel))


def take(x, places):
    """The elements of x [N, C, ...] at these positions of each spatial axis, with zeros for positions outside."""
    around = [(0, 0), (0, 0)] + [(0, 1)] * len(places)
    wide = np.pad(x, around)
    rows = [np.where((p >= 0) & (p < d), p, d) for p, d in zip(places, x.shape[2:])]
    return wide[np.ix_(*map(np.arange, x.shape[:2]), *rows)]


def all_of(masks):
    """The mask over all axes that is true where the mask of every axis is."""
    out = np.True_
    for mask in masks:
        out = out[..., None] & mask
    return out


def inside(places, dims):
    """The mask of the positions that are elements, not padding."""
    return all_of((p >= 0) & (p < d) for p, d in zip(places, dims))


def sized(function, x, w, chain, dtype):
    """(result, limit of its error), the limit from the same sum over magnitudes."""
    size = function(finite_size(x), finite_size(w))
    return function(up(x), up(w)), sum_limit(size, min(chain, 256), dtype)


def biased(y, limit, bias, dtype):
    if not bias:
        return y, limit
    b = up(bias[0]).reshape((1, -1) + (1,) * (y.ndim - 2))
    return y + b, limit + EPS[dtype] * (finite_size(y) + finite_size(b))


# ---- convolutions ----

def grouped(x, w, groups):
    """The product of [N, G, C/G, P] and [G, O/G, C/G], of shape [N, O, P]."""
    n, spatial = x.shape[0], x.shape[2:]
    rows = x.reshape(n, groups, x.shape[1] // groups, math.prod(spatial))
    y = np.matmul(w.reshape((1, groups, w.shape[0] // groups) + w.shape[1:]), rows)
    return y.reshape((n, w.shape[0]) + spatial)


def convolved(x, w, a, sizes):
    n = x.ndim - 2
    stride, dilation, low = lists(a, n, "stride", "dilation", "low")
    y = np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    for k in taps(w.shape[2:]):
        places = [np.arange(p) * s + j * d - l for p, s, j, d, l in zip(sizes, stride, k, dilation, low)]
        y = y + grouped(take(x, places), w[(slice(None), slice(None)) + k], a.get("groups", 1))
    return y


def np_conv(x, a, c):
    x, w, *bias = x
    y, limit = sized(lambda p, q: convolved(p, q, a, c.shapes[0][2:]), x, w, math.prod(w.shape[1:]), c.dtype)
    return biased(y, limit, bias, c.dtype)


def transposed(x, w, a, sizes):
    """For each tap k, the positions j that it contributes to: j + low - k*dilation is a multiple of the stride."""
    n, groups = x.ndim - 2, a.get("groups", 1)
    stride, dilation, low = lists(a, n, "stride", "dilation", "low")
    out = w.shape[1] * groups
    y = np.zeros((x.shape[0], out, *sizes), x.dtype)
    for k in taps(w.shape[2:]):
        at = [np.arange(p) + l - j * d for p, l, j, d in zip(sizes, low, k, dilation)]
        meets = all_of(i % s == 0 for i, s in zip(at, stride))
        tap = w[(slice(None), slice(None)) + k].reshape(groups, -1, w.shape[1])
        tap = np.swapaxes(tap, 1, 2).reshape(out, -1)
        y = y + np.where(meets, grouped(take(x, [i // s for i, s in zip(at, stride)]), tap, groups), 0)
    return y


def np_conv_transpose(x, a, c):
    x, w, *bias = x
    chain = math.prod(w.shape) // max(w.shape[1], 1)
    y, limit = sized(lambda p, q: transposed(p, q, a, c.shapes[0][2:]), x, w, chain, c.dtype)
    return biased(y, limit, bias, c.dtype)


def weight_slopes(x, dy, a, shape):
    n, groups = x.ndim - 2, a.get("groups", 1)
    stride, dilation, low = lists(a, n, "stride", "dilation", "low")
    dw = np.zeros(shape, x.dtype)
    for k in taps(shape[2:]):
        places = [np.arange(p) * s + j * d - l for p, s, j, d, l in zip(dy.shape[2:], stride, k, dilation, low)]
        seen = take(x, places)
        rows = seen.reshape(seen.shape[0], groups, seen.shape[1] // groups, math.prod(dy.shape[2:]))
        heads = dy.reshape(dy.shape[0], groups, dy.shape[1] // groups, math.prod(dy.shape[2:]))
        dw[(slice(None), slice(None)) + k] = np.einsum("ngop,ngcp->goc", heads, rows).reshape(shape[:2])
    return dw


def np_conv_weight_grad(x, a, c):
    x, dy = x
    chain = math.prod(dy.shape) // max(dy.shape[1], 1)
    return sized(lambda p, q: weight_slopes(p, q, a, tuple(c.shapes[0])), x, dy, chain, c.dtype)


def np_conv_int(x, a, c):
    x, w, *more = [v.astype(np.int64) for v in x]
    if more:
        x = x - more[0]
    if len(more) > 1:
        w = w - more[1].reshape((-1,) + (1,) * (w.ndim - 1))
    y = convolved(x, w, a, c.shapes[0][2:])
    y = y + more[2].reshape((1, -1) + (1,) * (y.ndim - 2)) if len(more) > 2 else y
    return y.astype(np.int32)


def np_matmul_int(x, a, c):
    left, right, *zero = [v.astype(np.int64) for v in x]
    left = left - zero[0] if zero else left
    right = right - zero[1] if len(zero) > 1 else right
    return np.matmul(left, right).astype(np.int32)


def np_linear_int(x, a, c):
    """Integer products of the operands x, w, x_zero?, w_zero?, b?; the sum with b wraps around."""
    y = np_matmul_int(x[:4], a, c).astype(np.int64)
    return (y + x[4] if len(x) > 4 else y).astype(np.int32)


def np_einsum(x, a, c):
    """einsum. With three operands the first product is rounded; with two, labels of only one operand are summed first."""
    finite = all(np.all(np.isfinite(v)) for v in x)
    sizes = [finite_size(v) for v in x]
    if len(x) > 2 and not (finite and all(np.all((s < 1e3) & ((s > 1e-3) | (s == 0))) for s in sizes)):
        raise Skip("products of three that leave the range on the way")
    labels = a["equation"].replace("->", ",").replace(".", "").split(",")
    if len(x) == 2 and not finite and any(sum(l in t for t in labels) == 1 for l in set("".join(labels))):
        raise Skip("infinities along a label of one operand, which NumPy sums beforehand")
    limit = len(x) * sum_limit(np.einsum(a["equation"], *sizes), 256, c.dtype)
    tiny = 256 * np.finfo(NP[c.dtype]).smallest_subnormal  # for products that round to subnormals
    return np.einsum(a["equation"], *map(up, x)), limit + tiny


def np_matmul_masked(x, a, c):
    """A product with a mask; products of absent elements do not count, even if they are NaN or infinite."""
    p, q, present = x
    p = np.swapaxes(p, -1, -2) if a["transpose_a"] else p
    q = np.swapaxes(q, -1, -2) if a["transpose_b"] else q

    def run(p, q):
        terms = p[..., :, :, None] * q[..., None, :, :]
        return np.sum(np.where(present[..., None], terms, 0), axis=-2)
    return sized(run, p, q, p.shape[-1], c.dtype)


# ---- pools ----

def windows(dims, a, sizes):
    """For each tap, the positions of its elements along each axis."""
    n = len(dims)
    kernel = each(a["kernel"], n, 1)
    stride = each(a.get("stride") or kernel, n, 1)
    dilation, low = lists(a, n, "dilation", "low")
    for k in taps(kernel):
        yield [np.arange(p) * s + j * d - l for p, s, j, d, l in zip(sizes, stride, k, dilation, low)]


def winners(x, a, sizes):
    """(maximum of each window, its first position in row-major order of the spatial axes)."""
    shape, dims = x.shape[:2] + tuple(sizes), x.shape[2:]
    best, where, have = np.zeros(shape, x.dtype), np.zeros(shape, np.int64), np.zeros(shape, bool)
    numbers = np.broadcast_to(np.arange(math.prod(dims)).reshape(dims), x.shape)
    for places in windows(dims, a, sizes):
        v, number = take(x, places), take(numbers, places)
        better = inside(places, dims) & (~have | (order_key(v) > order_key(best)))
        best, where, have = np.where(better, v, best), np.where(better, number, where), have | better
    return best, where


def np_max_pool_grad(x, a, c):
    x, dy = x
    where = winners(x, a, dy.shape[2:])[1].reshape(math.prod(x.shape[:2]), math.prod(dy.shape[2:]))
    rows = math.prod(x.shape[2:])
    flat = (where + rows * np.arange(len(where))[:, None]).reshape(-1)

    def put(v):
        dx = np.zeros(x.size, v.dtype)
        np.add.at(dx, flat, v.reshape(-1))
        return dx.reshape(x.shape)
    return put(up(dy)), sum_limit(put(finite_size(dy)), 32, c.dtype)


def counts(dims, a, sizes):
    """The number of positions of each window that the average divides by."""
    n = len(dims)
    low, high = lists(a, n, "low", "high")
    total = np.zeros(tuple(sizes))
    for places in windows(dims, a, sizes):
        if a["count_padding"]:
            total = total + inside([p + l for p, l in zip(places, low)],
                                   [d + l + h for d, l, h in zip(dims, low, high)])
        else:
            total = total + inside(places, dims)
    return total


def np_avg_pool(x, a, c):
    x, sizes = x[0], c.shapes[0][2:]
    total, size = 0, 0
    for places in windows(x.shape[2:], a, sizes):
        total, size = total + take(up(x), places), size + take(finite_size(x), places)
    count = counts(x.shape[2:], a, sizes)
    y = total / count
    return y, sum_limit(size, 32, c.dtype) / np.maximum(count, 1) + EPS[c.dtype] * finite_size(y)


def np_avg_pool_grad(x, a, c):
    dy, dims = x[0], tuple(c.shapes[0][2:])
    share = up(dy) / counts(dims, a, dy.shape[2:])

    def put(v):
        dx = np.zeros(v.shape[:2] + tuple(d + 1 for d in dims), v.dtype)
        for places in windows(dims, a, dy.shape[2:]):
            rows = [np.where((p >= 0) & (p < d), p, d) for p, d in zip(places, dims)]
            np.add.at(dx, np.ix_(*map(np.arange, v.shape[:2]), *rows), v)
        return dx[(slice(None), slice(None)) + tuple(slice(0, d) for d in dims)]
    return put(share), sum_limit(put(finite_size(share)), 32, c.dtype)


def spatial(x):
    return tuple(range(2, x.ndim))


def np_global_max_pool(x, a, c):
    whole = {"kernel": list(x[0].shape[2:])}
    return winners(x[0], whole, [1] * (x[0].ndim - 2))[0]


def np_global_avg_pool(x, a, c):
    x, n = x[0], math.prod(x[0].shape[2:])
    y = np.sum(up(x), axis=spatial(x), keepdims=True) / np.float64(n)
    size = np.sum(finite_size(x), axis=spatial(x), keepdims=True)
    return y, sum_limit(size, 32, c.dtype) / max(n, 1) + EPS[c.dtype] * finite_size(y)


def np_adaptive_pool(pool):
    """The windows of an adaptive pool: of d elements and n results, window p is p*d/n rounded down to (p+1)*d/n
    rounded up."""
    def run(x, a, c):
        x, sizes = x[0], c.shapes[0][2:]
        parts = [np.zeros(c.shapes[0], up(x).dtype if pool is np_global_avg_pool else x.dtype), np.zeros(c.shapes[0])]
        for p in np.ndindex(*sizes):
            cut = tuple(slice(i * d // n, -(-(i + 1) * d // n)) for i, d, n in zip(p, x.shape[2:], sizes))
            found = pool([x[(slice(None), slice(None)) + cut]], a, c)
            for part, v in zip(parts, found if isinstance(found, tuple) else (found,)):
                part[(slice(None), slice(None)) + p] = v.reshape(x.shape[:2])
        return tuple(parts) if pool is np_global_avg_pool else parts[0]
    return run


# ---- resizing ----

def coordinate(i, length, result, a):
    ratio = 1 / a["scale"] if a["scale"] else np.float64(length) / np.float64(result)
    if a["coordinates"] == "align_corners":
        return i * (length - 1) / np.float64(result - 1) if result > 1 else i * 0.0
    if a["coordinates"] == "asymmetric":
        return i * ratio
    if a["coordinates"] == "pytorch_half_pixel" and result == 1:
        return i * 0.0
    return (i + 0.5) * ratio - 0.5


def nearest(c, rounding):
    return {"floor": np.floor(c), "ceil": np.ceil(c), "round_prefer_floor": np.ceil(c - 0.5),
            "round_prefer_ceil": np.floor(c + 0.5)}[rounding]


def cubic(f, a):
    def near(t):
        return (((a + 2) * t - (a + 3)) * t) * t + 1

    def far(t):
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return [far(f + 1), near(f), near(1 - f), far(2 - f)]


def readers(length, result, a):
    """The taps of an axis: for each tap the positions and f32 weights of every result."""
    c = coordinate(np.arange(result).astype(np.float64), length, result, a)
    if a["mode"] == "nearest":
        found = [(nearest(c, a["rounding"]), np.ones(result))]
    elif a["mode"] == "linear":
        c = np.clip(c, 0, length - 1)
        j = np.floor(c)
        found = [(j, 1 - (c - j)), (j + 1, c - j)]
    else:
        j = np.floor(c)
        found = [(j + i - 1, w) for i, w in enumerate(cubic(c - j, a["a"]))]
    return [(np.clip(j, 0, length - 1).astype(np.int64), np.float32(w)) for j, w in found]


def np_resize(x, a, c):
    """Computes in f32 with the op's order of operations, so that the bits agree."""
    x = x[0]
    for axis in reversed(spatial(x)):
        result = c.shapes[0][axis]
        if result == 0:
            x = np.take(x, np.zeros(0, np.int64), axis=axis)
            continue
        found = readers(x.shape[axis], result, a)
        x = np.take(x, found[0][0], axis=axis) if len(found) == 1 else weighted(x, found, axis)
    return x


def weighted(x, found, axis):
    shape = [1] * x.ndim
    shape[axis] = -1
    y, have = None, None
    for places, weight in found:
        w = weight.reshape(shape)
        term = np.take(x, places, axis=axis) * w
        y = term if y is None else np.where(w == 0, y, np.where(have, y + term, term))
        have = w != 0 if have is None else have | (w != 0)
    return y


def np_resize_grad(x, a, c):
    def back(v, weigh):
        for axis in range(2, v.ndim):
            length, result = c.shapes[0][axis], v.shape[axis]
            dx = np.zeros(v.shape[:axis] + (length,) + v.shape[axis + 1:], v.dtype)
            for places, weight in readers(length, result, a) if result and length else []:
                used = weight != 0
                w = weigh(up(weight[used])).reshape((-1,) + (1,) * (v.ndim - axis - 1))
                rows = np.compress(used, v, axis=axis) * w
                np.add.at(dx, (slice(None),) * axis + (places[used],), rows)
            v = dx
        return v
    size = back(finite_size(x[0]), np.abs)
    return back(up(x[0]), np.positive), sum_limit(size, 40 * (x[0].ndim - 2), c.dtype)


# ---- blocks ----

def np_depth_to_space(x, a, c):
    n, ch, h, w = x[0].shape
    b, deep = a["block"], a["mode"] == "DCR"
    k = ch // (b * b)
    y = x[0].reshape((n, b, b, k, h, w) if deep else (n, k, b, b, h, w))
    return y.transpose((0, 3, 4, 1, 5, 2) if deep else (0, 1, 4, 2, 5, 3)).reshape(n, k, h * b, w * b)


def np_space_to_depth(x, a, c):
    n, ch, h, w = x[0].shape
    b = a["block"]
    y = x[0].reshape(n, ch, h // b, b, w // b, b)
    y = y.transpose((0, 3, 5, 1, 2, 4) if a["mode"] == "DCR" else (0, 1, 3, 5, 2, 4))
    return y.reshape(n, ch * b * b, h // b, w // b)


WINDOWS = {
    "conv": ("sum", np_conv), "conv_transpose": ("sum", np_conv_transpose),
    "conv_weight_grad": ("sum", np_conv_weight_grad), "conv_int": ("bits", np_conv_int),
    "matmul_int": ("bits", np_matmul_int), "matmul_masked": ("sum", np_matmul_masked),
    "max_pool": ("bits", lambda x, a, c: winners(x[0], a, c.shapes[0][2:])[0]),
    "max_pool_index": ("bits", lambda x, a, c: winners(x[0], a, c.shapes[0][2:])[1]),
    "max_pool_grad": ("sum", np_max_pool_grad), "avg_pool": ("sum", np_avg_pool),
    "avg_pool_grad": ("sum", np_avg_pool_grad), "global_max_pool": ("bits", np_global_max_pool),
    "global_avg_pool": ("sum", np_global_avg_pool), "resize": ("bits", np_resize),
    "resize_grad": ("sum", np_resize_grad), "depth_to_space": ("bits", np_depth_to_space),
    "space_to_depth": ("bits", np_space_to_depth), "linear_int": ("bits", np_linear_int),
    "einsum": ("sum", np_einsum), "adaptive_avg_pool": ("sum", np_adaptive_pool(np_global_avg_pool)),
    "adaptive_max_pool": ("bits", np_adaptive_pool(np_global_max_pool)),
}
