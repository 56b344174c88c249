# SPDX-License-Identifier: Apache-2.0
"""peer_numpy.py - the table op -> (bound, function of NumPy) of reductions, contractions, movement and indices.

A function takes operands, attributes and a context. The operands have the types of the model, and bf16 is given as
bits. It returns a result, a pair (result, limit of its error), or a list of results. The limit is the bound for `sum`,
and is added to the bound for `close`.
"""
import math

import numpy as np

from peer_elementwise import EPS, NP, greater, lesser, np_cast, to_float, up
from peer_model import Context

# ---- reductions ----

def finite_size(x):
    """The magnitudes of the elements, with 0 for infinities and NaN."""
    return np.where(np.isfinite(x), np.abs(up(x)), 0)


def sum_limit(size, chain, dtype):
    """The limit, or infinity, which means not compared, if an intermediate sum may overflow."""
    room = np.finfo(NP[dtype]).max / 4
    return np.where(size < room, (chain + 40) * EPS[dtype] * size, np.inf)


def axes_of(x, a):
    return tuple(a.get("axes") or range(x.ndim)) if not isinstance(a.get("axes"), int) else (a["axes"],)


def np_sum(x, a, c):
    x, axes, keep = x[0], axes_of(x[0], a), a.get("keep", False)
    if x.dtype.kind != "f":
        return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)
    n = math.prod(x.shape[i] for i in axes)
    size = np.sum(finite_size(x), axis=axes, keepdims=keep)
    limit = sum_limit(size, min(n, 32), c.types[0])
    return np.sum(up(x), axis=axes, keepdims=keep), limit


def np_extreme(function):
    def reduce(x, a, c):
        x, axes, keep = x[0], axes_of(x[0], a), a.get("keep", False)
        if x.dtype.kind != "f":
            pick = np.max if function is greater else np.min
            return pick(x, axis=axes, keepdims=keep)
        rest = [i for i in range(x.ndim) if i not in axes]
        rows = np.transpose(x, rest + list(axes)).reshape(
            [x.shape[i] for i in rest] + [math.prod(x.shape[i] for i in axes)])
        best = rows[..., 0]
        for i in range(1, rows.shape[-1]):
            best = function(best, rows[..., i])
        return best.reshape([1 if i in axes else d for i, d in enumerate(x.shape)]) if keep else best
    return "bits", reduce


def order_key(x):
    """Integers that are ordered like the elements, with NaN and signed zeros."""
    if x.dtype.kind != "f":
        return x
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}").astype(np.int64).reshape(x.shape)
    top = np.int64(1) << (x.dtype.itemsize * 8 - 1) if x.dtype.itemsize < 8 else None
    low = np.where(bits < 0, (-(bits + top) - 1 - top) if top is not None else np.iinfo(np.int64).min - bits - 1, bits)
    return np.where(np.isnan(x), np.iinfo(np.int64).max, low)


def np_mean(x, a, c):
    total = np_sum(x, a, c)
    n = math.prod(x[0].shape[i] for i in axes_of(x[0], a))
    count = np.float64(n)
    return total[0] / count, (total[1] + np.abs(total[0]) * EPS[c.types[0]]) / max(n, 1)


def np_prod(x, a, c):
    """Products are compared only if no intermediate product can overflow or underflow in any order."""
    x, axes, keep = x[0], axes_of(x[0], a), a.get("keep", False)
    if x.dtype.kind != "f":
        return np.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)
    y = np.prod(up(x), axis=axes, keepdims=keep)
    size = np.where(np.isfinite(x) & (x != 0), np.abs(np.log2(np.abs(up(x)))), 0)
    room = np.sum(size, axis=axes, keepdims=keep) < {"f32": 120, "f64": 1000}[c.dtype]
    n = math.prod(x.shape[i] for i in axes)
    return y, np.where(room, (n + 40) * EPS[c.dtype] * finite_size(y), np.inf)


def np_cumsum(x, a, c):
    x, axis = x[0], a["axis"]
    line = np.flip(x, axis) if a["reverse"] else x

    def running(v, dtype):
        y = np.cumsum(v, axis=axis, dtype=dtype)
        if a["exclusive"] and x.shape[axis]:
            y = np.roll(y, 1, axis)
            y[(slice(None),) * axis + (0,)] = 0
        return np.flip(y, axis) if a["reverse"] else y
    if x.dtype.kind != "f":
        return running(line, x.dtype)
    size = running(finite_size(line), None)
    return running(up(line), None), sum_limit(size, 64 + x.shape[axis] // 1024, c.dtype)


def np_argmin(x, a, c):
    key = order_key(x[0])
    if x[0].dtype.kind == "f":
        key = np.where(np.isnan(x[0]), np.iinfo(np.int64).min, key)
    return np.argmin(key, axis=a["axis"])


def np_truth(function):
    return "bits", lambda x, a, c: function(x[0], axis=axes_of(x[0], a), keepdims=a.get("keep", False))


def over_axes(function):
    """A row for a composition that reduces over `axes`, computed in a wider type."""
    return "close", lambda x, a, c: function(up(x[0]), axes_of(x[0], a), a.get("keep", False), a)


def logsumexp(x, axes, keep, a):
    m = np.max(x, axis=axes, keepdims=True)
    d = np.where(np.isinf(m), 0, x - m)
    y = np.where(np.isinf(m), m, m + np.log(np.sum(np.exp(d), axis=axes, keepdims=True)))
    y, size = (v if keep else np.squeeze(v, axes) for v in (y, np.abs(m)))
    # A result near 0 is the difference of two larger numbers, so its error may be as large as their rounding error.
    return y, 4 * EPS["f32"] * (1 + np.where(np.isfinite(size), size, 0))


def variance(x, axes, keep, a):
    d = x - np.mean(x, axis=axes, keepdims=True)
    n = math.prod(x.shape[i] for i in axes) - a["correction"]
    return np.sum(d * d, axis=axes, keepdims=keep) / np.float64(n)


def np_argsort(x, a, c):
    key = order_key(x[0]).astype(np.int64)
    return np.argsort(~key if a.get("descending") else key, axis=a["axis"], kind="stable")


def np_sort(x, a, c):
    index = np_argsort(x, a, c)
    return [np.take_along_axis(x[0], index, a["axis"]), index]


def np_top_k(x, a, c):
    values, index = np_sort(x, {"axis": a["axis"], "descending": not a["least"]}, c)
    head = tuple(slice(0, d) for d in c.shapes[0])
    return [values[head], index[head]]


# ---- contractions ----

def turned(x, flag):
    return np.swapaxes(x, -1, -2) if flag else x


def product(a, b, dtype):
    size = np.matmul(finite_size(a), finite_size(b))
    return np.matmul(up(a), up(b)), sum_limit(size, min(a.shape[-1], 256), dtype)


def np_matmul(x, a, c):
    return product(turned(x[0], a["transpose_a"]), turned(x[1], a["transpose_b"]), c.types[0])


def np_linear(x, a, c):
    y, limit = product(x[0], x[1], c.types[0])
    if len(x) == 3:
        limit = limit + EPS[c.types[0]] * (np.abs(y) + np.abs(up(x[2])))
        y = y + up(x[2])
    return y, limit


# ---- movement ----

def np_gather(x, a, c):
    x, index, axis, batch = x[0], x[1], a.get("axis", 0), a.get("batch", 0)
    if batch == 0:
        return np.take(x, index, axis=axis)
    rows = x.reshape((-1,) + x.shape[batch:])
    picks = index.reshape((-1,) + index.shape[batch:])
    out = [np.take(r, i, axis=axis - batch) for r, i in zip(rows, picks)]
    return np.stack(out).reshape(x.shape[:batch] + out[0].shape)


def np_gather_elements(x, a, c):
    x, index, axis = x[0], x[1], a["axis"]
    part = tuple(slice(None) if i == axis % x.ndim else slice(0, d) for i, d in enumerate(index.shape))
    return np.take_along_axis(x[part], index, axis)


def np_gather_nd(x, a, c):
    x, index, batch = x[0], x[1], a.get("batch", 0)
    rows = x.reshape((math.prod(x.shape[:batch]),) + x.shape[batch:])
    picks = index.reshape((len(rows),) + index.shape[batch:])
    if index.shape[-1] == 0:  # each index selects the whole operand
        return np.broadcast_to(x.reshape(x.shape[:batch] + (1,) * (index.ndim - 1 - batch) + x.shape[batch:]),
                               c.shapes[0])
    out = [r[tuple(np.moveaxis(i, -1, 0))] for r, i in zip(rows, picks)]
    return np.stack(out).reshape(c.shapes[0]) if out else np.zeros(c.shapes[0], x.dtype)


def np_scatter(gather, how):
    """Scatters updates to the positions that a gather with the same indices would read."""
    def run(x, a, c):
        base, index, updates = x
        shape = Context(c.types, [updates.shape])
        places = np.arange(base.size).reshape(base.shape)
        places = gather([places, index], a, shape).reshape(-1)
        return how(base, places, updates.reshape(-1), c)
    return ("sum" if how is put_sum else "bits"), run


def put_last(base, places, updates, c):
    y = base.reshape(-1).copy()
    for p, u in zip(places, updates):
        y[p] = u
    return y.reshape(base.shape)


def put_sum(base, places, updates, c):
    if base.dtype.kind != "f":
        y = base.reshape(-1).copy()
        np.add.at(y, places, updates)
        return y.reshape(base.shape)
    total, size, count = up(base).reshape(-1), finite_size(base).reshape(-1), np.zeros(base.size)
    np.add.at(total, places, up(updates))
    np.add.at(size, places, finite_size(updates))
    np.add.at(count, places, 1)
    limit = np.where(count > 0, sum_limit(size, 32, c.dtype), 0)
    return total.reshape(base.shape), limit.reshape(base.shape)


def put_extreme(function):
    def put(base, places, updates, c):
        y = base.reshape(-1).copy()
        for p, u in zip(places, updates):
            y[p] = function(y[p], u)
        return y.reshape(base.shape)
    return put


def np_nonzero(x, a, c):
    places = np.argwhere(to_float(x[0]) if c.types[0] == "bf16" else x[0])
    out = np.full((a["bound"], x[0].ndim), -1)
    head = places[:a["bound"]]
    out[:len(head)] = head
    return [out, np.int64(len(places))]


def np_split(x, a, c):
    ends = np.cumsum([s[a["axis"]] for s in c.shapes])[:-1]
    return np.split(x[0], ends, axis=a["axis"])


def np_one_hot(x, a, c):
    hit = x[0][..., None] == np.arange(a["depth"])
    kind = Context(["f64", c.dtype], None)
    return np.where(hit, *(np_cast([np.float64(a[v])], a, kind) for v in ("on", "off")))


def np_slice(x, a, c):
    steps = a.get("step") or [1] * x[0].ndim
    return x[0][tuple(slice(*p) for p in zip(a["start"], a["stop"], steps))]


def np_pad(x, a, c):
    return np.pad(x[0], list(zip(a["low"], a["high"])), constant_values=x[1]) if x[0].ndim else x[0]


NUMPY = {
    "sum": ("sum", np_sum), "mean": ("sum", np_mean), "max": np_extreme(greater),
    "min": np_extreme(lesser),
    "prod": ("sum", np_prod), "cumsum": ("sum", np_cumsum), "argmin": ("bits", np_argmin),
    "any": np_truth(np.any), "all": np_truth(np.all), "nonzero": ("bits", np_nonzero),
    "logsumexp": over_axes(logsumexp), "var": over_axes(variance),
    "std": over_axes(lambda *v: np.sqrt(variance(*v))),
    "sum_square": over_axes(lambda x, axes, keep, a: np.sum(x * x, axis=axes, keepdims=keep)),
    "norm_l1": over_axes(lambda x, axes, keep, a: np.sum(np.abs(x), axis=axes, keepdims=keep)),
    "norm_l2": over_axes(lambda x, axes, keep, a: np.sqrt(np.sum(x * x, axis=axes, keepdims=keep))),
    "argmax": ("bits", lambda x, a, c: np.argmax(order_key(x[0]), axis=a["axis"])),
    "matmul": ("sum", np_matmul), "linear": ("sum", np_linear),
    "gather": ("bits", np_gather), "embedding": ("bits", np_gather),
    "gather_elements": ("bits", np_gather_elements),
    "concat": ("bits", lambda x, a, c: np.concatenate(x, axis=a["axis"])),
    "stack": ("bits", lambda x, a, c: np.stack(x, axis=a["axis"])),
    "slice": ("bits", np_slice), "pad": ("bits", np_pad),
    "reshape": ("bits", lambda x, a, c: x[0].reshape(a["shape"])),
    "transpose": ("bits", lambda x, a, c: np.transpose(x[0], a["perm"])),
    "broadcast": ("bits", lambda x, a, c: np.broadcast_to(x[0], a["shape"])),
    "sort": ("bits", np_sort), "argsort": ("bits", np_argsort), "top_k": ("bits", np_top_k),
    "gather_nd": ("bits", np_gather_nd), "split": ("bits", np_split), "one_hot": ("bits", np_one_hot),
    "squeeze": ("bits", lambda x, a, c: x[0].reshape(c.shapes[0])),
    "unsqueeze": ("bits", lambda x, a, c: x[0].reshape(c.shapes[0])),
    "flatten": ("bits", lambda x, a, c: x[0].reshape(c.shapes[0])),
    "tile": ("bits", lambda x, a, c: np.tile(x[0], a["repeats"])),
    "flip": ("bits", lambda x, a, c: np.flip(x[0], axes_of(x[0], a))),
    "roll": ("bits", lambda x, a, c: np.roll(x[0], a["shift"], a["axis"])),
    "triu": ("bits", lambda x, a, c: np.triu(x[0], a["k"])),
    "diag": ("bits", lambda x, a, c: np.diag(x[0], a["k"])),
    "tril": ("bits", lambda x, a, c: np.tril(x[0], a["k"])),
}
for name, gather in {"scatter": np_gather, "scatter_elements": np_gather_elements,
                     "scatter_nd": np_gather_nd}.items():
    NUMPY[name] = np_scatter(gather, put_last)
    NUMPY[name + "_add"] = np_scatter(gather, put_sum)
    NUMPY[name + "_max"] = np_scatter(gather, put_extreme(greater))
    NUMPY[name + "_min"] = np_scatter(gather, put_extreme(lesser))
