# SPDX-License-Identifier: Apache-2.0
"""peer_tables.py - op -> the function of NumPy or PyTorch that means the same.

A NumPy entry is (bound, function(operands, attributes, context)); operands keep the types of the
model, and bf16 comes as its bits. A function may give its result and a limit of the error, which is
the bound for `sum` and is added to the bound for `close`. A PyTorch entry is the function alone:
floats come as f64, and autograd goes through it.
"""
import math
import sys
from fractions import Fraction

import numpy as np

import peer_more


class Context:
    def __init__(self, types, shapes):
        self.types, self.shapes = types, shapes  # of the operands and the first result; results

    @property
    def dtype(self):
        return self.types[-1]


NP = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
      "i64": np.int64, "bool": np.bool_, "f16": np.float16}
EPS = {"f32": 2.0**-23, "f64": 2.0**-52}


def up(x):
    return x.astype(np.longdouble if x.dtype == np.float64 else np.float64)


def plain(function):
    return "bits", lambda x, a, c: function(*x)


def smooth(function):
    """A function computed in a wider type."""
    return "ulp", lambda x, a, c: function(*map(up, x))


# ---- element by element ----

def np_erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


def np_sigmoid(x):
    return 1 / (1 + np.exp(-x))


def greater(a, b):
    """The one order: NaN if either is, -0 < +0."""
    if a.dtype.kind != "f":
        return np.maximum(a, b)
    both = (a == 0) & (b == 0)
    return np.where(both, np.where(np.signbit(a) & np.signbit(b), a, np.abs(a)), np.maximum(a, b))


def lesser(a, b):
    if a.dtype.kind != "f":
        return np.minimum(a, b)
    both = (a == 0) & (b == 0)
    return np.where(both, np.where(np.signbit(a) | np.signbit(b), -np.abs(a), a), np.minimum(a, b))


def np_div(a, b):
    if a.dtype.kind == "f":
        return a / b
    safe = np.where(b == 0, np.ones_like(b), b)
    low = np.iinfo(a.dtype).min
    edge = (a == low) & (b == -1) if low < 0 else np.zeros(np.broadcast(a, b).shape, bool)
    safe = np.where(edge, np.ones_like(b), safe)
    quotient = (a - np.fmod(a, safe)) // safe
    return np.where(b == 0, np.zeros_like(a), np.where(edge, np.full_like(a, low), quotient)).astype(a.dtype)


def np_mod(a, b):
    safe = np.where((b == 0) | (b == -1 if a.dtype.kind == "i" else False), np.ones_like(b), b)
    return np.where(b == 0, a, np.fmod(a, safe)).astype(a.dtype)


def np_fma(a, b, c):
    """Products of f32 are exact in f64; those of f64 are formed as rational numbers."""
    wide = up(a) * up(b) + up(c)
    if a.dtype != np.float64:
        return wide
    a, b, c = np.broadcast_arrays(a, b, c)
    wide = np.asarray(wide)
    out = wide.copy()
    for i in np.ndindex(out.shape):
        if np.isfinite(a[i]) and np.isfinite(b[i]) and np.isfinite(c[i]):
            try:
                exact = float(Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i]))
                out[i] = exact if exact else wide[i]  # the sign of a zero
            except OverflowError:
                pass
    return out


def to_float(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x):
    """f32 bits to nearest even."""
    bits = np.ascontiguousarray(x.astype(np.float32)).view(np.uint32).reshape(x.shape)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7fc0), rounded)


def np_cast(x, a, c):
    x = x[0]
    if c.types[0] == "bf16":
        x = to_float(x)
    if c.dtype == "bf16":
        if x.dtype in (np.float64, np.int32, np.int64):
            raise_skip("bf16 from a type wider than f32")
        return to_bf16(x.astype(np.float32))
    if c.dtype == "bool":
        return x != 0
    if x.dtype.kind == "f" and c.dtype in ("i8", "u8", "i32", "i64"):
        info = np.iinfo(NP[c.dtype])
        whole = np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64))
        inside = np.clip(whole, info.min, math.nextafter(float(info.max) + 1, 0))
        return np.where(whole > info.max, info.max, inside.astype(np.int64)).astype(NP[c.dtype])
    return x.astype(NP[c.dtype])


def raise_skip(why):
    import __main__
    raise __main__.Skip(why)


def np_literal(x, a, c):
    v = a["value"]
    if c.dtype == "bf16":
        raise_skip("bf16 literal")
    return np.array(v).astype(NP[c.dtype])


def np_iota(x, a, c):
    shape = [1] * len(a["shape"])
    if shape:
        shape[a["axis"]] = -1
        line = np.arange(a["shape"][a["axis"]]).reshape(shape)
    return np.broadcast_to(line, a["shape"]).astype(NP[c.dtype])


def shift(x, n, left):
    width = x.dtype.itemsize * 8
    inside = (n >= 0) & (n < width)
    m = np.where(inside, n, 0)
    moved = np.left_shift(x, m) if left else np.right_shift(x, m)
    beyond = np.where(x < 0, -1, 0) if not left and x.dtype.kind == "i" else np.zeros_like(x)
    return np.where(inside, moved, beyond).astype(x.dtype)


# ---- reductions ----

def finite_size(x):
    """Magnitudes, infinities and NaN left out."""
    return np.where(np.isfinite(x), np.abs(up(x)), 0)


def sum_limit(size, chain, dtype):
    """Infinite, and so not compared, where a sum on the way may overflow."""
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
    """Integers that ascend in the one order."""
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
    if batch or index.shape[-1] == 0:
        raise_skip("gather_nd with batch axes, or of whole tensors")
    return x[tuple(np.moveaxis(index, -1, 0))]


def np_split(x, a, c):
    ends = np.cumsum([s[a["axis"]] for s in c.shapes])[:-1]
    return np.split(x[0], ends, axis=a["axis"])


def np_one_hot(x, a, c):
    if c.dtype == "bf16":
        raise_skip("bf16")
    if c.dtype not in ("f16", "f32", "f64") and (a["on"], a["off"]) != (1, 0):
        raise_skip("one_hot of other integers")
    hit = x[0][..., None] == np.arange(a["depth"])
    return np.where(hit, a["on"], a["off"]).astype(NP[c.dtype])


def np_slice(x, a, c):
    steps = a.get("step") or [1] * x[0].ndim
    return x[0][tuple(slice(*p) for p in zip(a["start"], a["stop"], steps))]


def np_pad(x, a, c):
    return np.pad(x[0], list(zip(a["low"], a["high"])), constant_values=x[1]) if x[0].ndim else x[0]


# ---- compositions, in a wider type ----

def close(function):
    return "close", lambda x, a, c: function(*[up(v) if v.dtype.kind == "f" else v for v in x], a)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    d = x - np.max(x, axis=axis, keepdims=True)
    return d - np.log(np.sum(np.exp(d), axis=axis, keepdims=True))


def real(x, a, name):
    """An attribute in the type of the op: operands of f32 come as f64, those of f64 wider still."""
    return np.float64(np.float32(a[name])) if x.dtype == np.float64 else np.longdouble(a[name])


def per_channel(x, s):
    """A slope for each channel, axis 1, or one for all."""
    return s.reshape((-1,) + (1,) * (x.ndim - 2)) if s.ndim == 1 and x.ndim > 2 else s


def layer_norm(x, *more):
    """Over as many last axes as gamma has."""
    *scale, a = more
    axes = tuple(range(-(scale[0].ndim if scale else 1), 0))
    d = x - x.mean(axis=axes, keepdims=True)
    v = (d * d).mean(axis=axes, keepdims=True) + real(x, a, "eps")
    if np.any(np.abs(v) < 1e-6 * np.max(x * x, axis=axes, keepdims=True, initial=0)):
        raise_skip("a variance of nothing but rounding")
    y = d / np.sqrt(v)
    y = y * scale[0] if scale else y
    return y + scale[1] if len(scale) > 1 else y


def rms_norm(x, *more):
    *scale, a = more
    y = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + real(x, a, "eps"))
    return y * scale[0] if scale else y


def keys_seen(shape, more, a):
    """Which key each query sees, and the bias; further operands are told apart by their types."""
    tq, tk = shape[2], shape[3]
    seen, bias, length = np.ones(shape, bool), 0, np.full((shape[0], 1, 1, 1), tk)
    for extra in more:
        if extra.dtype == bool:
            seen = seen & extra
        elif extra.dtype.kind == "f":
            bias = extra
        else:
            length = extra.reshape(-1, 1, 1, 1)
    j, p = np.arange(tk), np.arange(tq).reshape(-1, 1) + length - tq
    seen = seen & (j < length)
    window = a.get("window", 0)
    if a["causal"]:
        seen = seen & (j <= p)
    if window:
        seen = seen & (j > p - window)
        seen = seen if a["causal"] else seen & (j < p + window)
    return seen, bias


def attention(q, k, v, *more):
    *more, a = more
    group = q.shape[1] // k.shape[1] if k.shape[1] else 1
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scale = a["scale"] or 1 / np.sqrt(np.float64(q.shape[3]))
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    seen, bias = keys_seen(s.shape, more, a)
    if k.shape[2] == 0 or s.size == 0:
        return np.zeros(q.shape[:3] + v.shape[3:]), 0
    if not np.all(np.isfinite(v)) and not np.all(seen):
        raise_skip("absent keys beside infinite values")
    s = np.where(seen, s + bias, -np.inf)
    m = np.max(s, axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(m), m, 0))
    e = np.where(np.isposinf(m) | (np.isneginf(m) & np.any(seen, axis=-1, keepdims=True)), np.nan, e)
    l = np.sum(e, axis=-1, keepdims=True)
    y = np.where(l == 0, 0, np.matmul(e, v) / np.where(l == 0, 1, l))
    # An error of the scores is one of the logarithm of e.
    size = np.max(np.matmul(np.abs(q), np.swapaxes(np.abs(k), -1, -2)), initial=0) * abs(scale)
    size = size + np.max(np.abs(bias), initial=0)
    return y, 2 * EPS["f32"] * size * np.max(np.abs(v), initial=0)


def cross_entropy(x, t, *more):
    *weight, a = more
    if weight or a.get("smoothing", 0):
        raise_skip("weights and smoothing")
    rows, targets = log_softmax(x, -1).reshape(-1, x.shape[-1]), t.reshape(-1)
    kept = targets != a["ignore"]
    picked = -rows[np.arange(len(targets)), np.where(kept, targets, 0)]
    reduction = a.get("reduction", "mean")
    # A row near 0 is the difference of two numbers that are not.
    slack = 4 * EPS["f32"] * (1 + np.max(np.abs(rows[np.isfinite(rows)]), initial=0))
    if reduction == "none":
        return np.where(kept, picked, 0).reshape(t.shape), slack
    total, many = np.sum(picked[kept]), np.float64(np.sum(kept))
    if reduction == "sum":
        return np.asarray(total), slack * many
    return np.asarray(total / many), slack


def with_axis(function):
    return "close", lambda x, a, c: function(up(x[0]), a["axis"])


SQRT1_2 = 0.7071067811865476
NUMPY = {
    "literal": ("bits", np_literal), "iota": ("bits", np_iota), "cast": ("bits", np_cast),
    "neg": plain(np.negative), "abs": plain(np.abs), "sqrt": plain(np.sqrt),
    "add": plain(np.add), "sub": plain(np.subtract), "mul": plain(np.multiply),
    "div": plain(np_div), "mod": plain(np_mod), "maximum": plain(greater), "minimum": plain(lesser),
    "eq": plain(np.equal), "ne": plain(np.not_equal), "lt": plain(np.less),
    "le": plain(np.less_equal), "gt": plain(np.greater), "ge": plain(np.greater_equal),
    "and": plain(np.bitwise_and), "or": plain(np.bitwise_or), "xor": plain(np.bitwise_xor),
    "not": plain(np.invert), "select": plain(np.where), "where": plain(np.where),
    "shl": plain(lambda x, n: shift(x, n, True)), "shr": plain(lambda x, n: shift(x, n, False)),
    "floor": plain(np.floor), "ceil": plain(np.ceil), "trunc": plain(np.trunc),
    "round": plain(np.round), "is_nan": plain(np.isnan), "is_inf": plain(np.isinf),
    "is_finite": plain(np.isfinite), "square": plain(np.square),
    "relu": plain(lambda x: greater(x, np.zeros_like(x))),
    "fma": ("ulp", lambda x, a, c: np_fma(*x)),
    "rsqrt": smooth(lambda x: 1 / np.sqrt(x)), "exp": smooth(np.exp), "log": smooth(np.log),
    "sin": smooth(np.sin), "cos": smooth(np.cos), "tanh": smooth(np.tanh), "erf": smooth(np_erf),
    "sigmoid": smooth(np_sigmoid), "pow": smooth(np.power), "exp2": smooth(np.exp2),
    "expm1": smooth(np.expm1), "log2": smooth(np.log2), "log10": smooth(np.log10),
    "log1p": smooth(np.log1p), "tan": smooth(np.tan), "asin": smooth(np.arcsin),
    "acos": smooth(np.arccos), "atan": smooth(np.arctan), "sinh": smooth(np.sinh),
    "cosh": smooth(np.cosh), "asinh": smooth(np.arcsinh), "acosh": smooth(np.arccosh),
    "atanh": smooth(np.arctanh),
    "sum": ("sum", np_sum), "mean": ("sum", np_mean), "max": np_extreme(greater),
    "min": np_extreme(lesser),
    "argmax": ("bits", lambda x, a, c: np.argmax(order_key(x[0]), axis=a["axis"])),
    "sign": plain(lambda x: np.sign(x) + np.zeros_like(x)),
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
    "tril": ("bits", lambda x, a, c: np.tril(x[0], a["k"])),
    "silu": close(lambda x, a: x * np_sigmoid(x)),
    "gelu": close(lambda x, a: 0.5 * x * (1 + np_erf(x * SQRT1_2))),
    "gelu_tanh": close(lambda x, a: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "softmax": with_axis(softmax), "log_softmax": with_axis(log_softmax),
    "layer_norm": close(layer_norm),
    "rms_norm": close(rms_norm),
    "attention": close(attention), "cross_entropy": close(cross_entropy),
    "clamp": close(lambda x, a: np.clip(x, real(x, a, "lo"), real(x, a, "hi"))),
    "hardtanh": close(lambda x, a: np.clip(x, real(x, a, "lo"), real(x, a, "hi"))),
    "relu6": close(lambda x, a: np.clip(x, 0, 6)), "reciprocal": close(lambda x, a: 1 / x),
    "leaky_relu": close(lambda x, a: np.where(x > 0, x, real(x, a, "slope") * x)),
    "elu": close(lambda x, a: np.where(x > 0, x, real(x, a, "alpha") * np.expm1(x))),
    "softplus": close(lambda x, a: np.logaddexp(x, 0)),
    "softsign": close(lambda x, a: x / (1 + np.abs(x))),
    "log_sigmoid": close(lambda x, a: -np.logaddexp(-x, 0)),
    "swiglu": close(lambda x, y, a: x * np_sigmoid(x) * y),
    "celu": close(lambda x, a: np.where(x > 0, x, real(x, a, "alpha") * np.expm1(x / real(x, a, "alpha")))),
    "prelu": close(lambda x, s, a: np.where(x > 0, x, per_channel(x, s) * x)),
    "tanhshrink": close(lambda x, a: x - np.tanh(x)),
    "hardshrink": close(lambda x, a: np.where(np.abs(x) <= real(x, a, "l"), 0, x)),
    "threshold": close(lambda x, a: np.where(x > real(x, a, "l"), x, real(x, a, "value"))),
    "mish": close(lambda x, a: x * np.tanh(np.logaddexp(x, 0))),
}


# ---- PyTorch ----

def each(values, n, default):
    """One number for every axis: none means the default, one number goes for all."""
    values = [values] if isinstance(values, int) else list(values or [default])
    return values * n if len(values) == 1 else values


NUMPY.update(peer_more.numpy_table(sys.modules[__name__]))

def torch_table():
    try:
        import torch
        import torch.nn.functional as F
    except ImportError:
        return None
    kind = {"f32": torch.float64, "f64": torch.float64, "i8": torch.int8, "u8": torch.uint8,
            "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}

    def one(f):
        return lambda x, a, c: f(*x)

    def dims(x, a):
        axes = a.get("axes")
        return [axes] if isinstance(axes, int) else list(axes or range(x.dim()))

    def reduced(f):
        def run(x, a, c):
            if not x[0].dtype.is_floating_point:
                raise_skip("integers (PyTorch)")
            axes = dims(x[0], a)
            return f(x[0], axes, a.get("keep", False)) if axes else x[0]
        return run

    def extreme(f):
        return reduced(lambda x, axes, keep: f(x, dim=axes, keepdim=keep))

    def attend(x, a, c):
        if len(x) > 3 or a.get("window", 0):
            raise_skip("further operands of attention (PyTorch)")
        q, k, v = x
        if min(q.numel(), k.numel(), v.numel()) == 0:
            raise_skip("empty attention (PyTorch)")
        k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for t in (k, v))
        size = (q.abs() @ k.abs().transpose(-1, -2)).max() * abs(a["scale"] or q.shape[3] ** -0.5)
        if size > 200:
            raise_skip("scores whose rounding shows (PyTorch)")
        tq, tk = q.shape[2], k.shape[2]
        seen = torch.arange(tk)[None, :] <= torch.arange(tq)[:, None] + tk - tq
        if a["causal"] and not bool(seen.any(dim=1).all()):
            raise_skip("queries without keys (PyTorch)")
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen if a["causal"] else None,
                                              scale=a["scale"] or None)

    def entropy(x, a, c):
        y = F.cross_entropy(x[0].reshape(-1, x[0].shape[-1]), x[1].reshape(-1).long(),
                            weight=x[2].detach() if len(x) > 2 else None, ignore_index=a["ignore"],
                            reduction=a.get("reduction", "mean"),
                            label_smoothing=a.get("smoothing", 0.0))
        return y.reshape(x[1].shape) if a.get("reduction", "mean") == "none" else y

    def fma(x, a, c):
        if c.dtype == "f64":
            raise_skip("fma of f64 (PyTorch)")
        return x[0] * x[1] + x[2]

    def turn(x, flag):
        return x.transpose(-1, -2) if flag else x

    def gather(x, a, c):
        if a.get("batch", 0):
            raise_skip("gather with batch axes (PyTorch)")
        axis, index = a.get("axis", 0), x[1]
        flat = torch.index_select(x[0], axis, index.reshape(-1).long())
        return flat.reshape(x[0].shape[:axis] + index.shape + x[0].shape[axis + 1:])

    def cut(x, a, c):
        steps = a.get("step") or [1] * x[0].dim()
        return x[0][tuple(slice(*p) for p in zip(a["start"], a["stop"], steps))]

    def pad(x, a, c):
        y = x[1].expand(c.shapes[0]).clone()
        y[tuple(slice(l, l + n) for l, n in zip(a["low"], x[0].shape))] = x[0]
        return y

    def literal(x, a, c):
        return torch.tensor(a["value"], dtype=kind[c.dtype])

    def cast(x, a, c):
        if c.dtype not in ("f32", "f64") or not x[0].dtype.is_floating_point:
            raise_skip("casts of integers (PyTorch)")
        return x[0]

    def conv(x, a, c, back=False):
        n = x[0].dim() - 2
        if min(v.numel() for v in x) == 0 or 0 in c.shapes[0]:
            raise_skip("convolutions of nothing (PyTorch)")
        low, high = each(a.get("low"), n, 0), each(a.get("high"), n, 0)
        if back and low != high:
            raise_skip("uneven padding (PyTorch)")
        f = [F.conv1d, F.conv2d, F.conv3d][n - 1] if not back else \
            [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
        named = {"stride": each(a.get("stride"), n, 1), "dilation": each(a.get("dilation"), n, 1),
                 "groups": a.get("groups", 1)}
        if back:
            named.update(padding=low, output_padding=each(a.get("extra"), n, 0))
            return f(*x, **named)
        around = [p for pair in zip(reversed(low), reversed(high)) for p in pair]
        return f(F.pad(x[0], around), *x[1:], **named)

    def pool(x, a, c, largest):
        n = x[0].dim() - 2
        low, high = each(a.get("low"), n, 0), each(a.get("high"), n, 0)
        kernel, dilation = each(a["kernel"], n, 1), each(a.get("dilation"), n, 1)
        if low != high or a.get("ceil") or any(2 * l > k for l, k in zip(low, kernel)) or x[0].numel() == 0:
            raise_skip("a window PyTorch does not have")
        if not x[0].dtype.is_floating_point:
            raise_skip("integers (PyTorch)")
        stride = each(a.get("stride") or kernel, n, 1)
        if largest:
            f = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
            return f(x[0], kernel, stride, low, dilation)
        if dilation != [1] * n:
            raise_skip("a window PyTorch does not have")
        f = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][n - 1]
        return f(x[0], kernel, stride, low, False, a.get("count_padding", False))

    def sort(x, a, c):
        values, indices = torch.sort(x[0], dim=a["axis"], descending=a["descending"], stable=True)
        return [values, indices]

    def floats(f):
        def run(x, a, c):
            if not all(v.dtype.is_floating_point for v in x):
                raise_skip("integers (PyTorch)")
            return f(x, a, c)
        return run

    unary = """neg abs sqrt rsqrt exp log sin cos tanh erf sigmoid exp2 expm1 log2 log10 log1p tan asin acos
        atan sinh cosh asinh acosh atanh floor ceil trunc round sign relu square reciprocal"""
    table = {name: floats(one(getattr(torch, name))) for name in unary.split()}
    table.update({name: floats(one(f)) for name, f in {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
        "maximum": torch.maximum, "minimum": torch.minimum,
        "silu": F.silu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "relu6": F.relu6, "selu": F.selu, "softplus": F.softplus, "mish": F.mish,
        "hardswish": F.hardswish, "softsign": F.softsign, "log_sigmoid": F.logsigmoid,
        "tanhshrink": F.tanhshrink, "swiglu": lambda a, b: F.silu(a) * b,
        "geglu": lambda a, b: F.gelu(a) * b}.items()})
    table.update({name: one(getattr(torch, name)) for name in "eq ne lt le gt ge".split()})
    table.update({
        "fma": fma, "and": one(torch.bitwise_and), "or": one(torch.bitwise_or), "not": one(torch.bitwise_not),
        "xor": one(torch.bitwise_xor),
        "select": one(torch.where), "where": one(torch.where), "literal": literal, "cast": cast,
        "sum": reduced(lambda x, axes, keep: x.sum(dim=axes, keepdim=keep)),
        "mean": reduced(lambda x, axes, keep: x.mean(dim=axes, keepdim=keep)),
        "max": extreme(torch.amax), "min": extreme(torch.amin),
        "argmax": floats(lambda x, a, c: torch.argmax(x[0], dim=a["axis"])),
        "matmul": lambda x, a, c: turn(x[0], a["transpose_a"]) @ turn(x[1], a["transpose_b"]),
        "matmul_masked": lambda x, a, c: torch.where(
            x[2], turn(x[0], a["transpose_a"]), 0.0) @ turn(x[1], a["transpose_b"]),
        "linear": lambda x, a, c: x[0] @ x[1] + (x[2] if len(x) == 3 else 0),
        "gather": gather, "embedding": gather, "slice": cut, "pad": pad,
        "concat": lambda x, a, c: torch.cat(x, dim=a["axis"]),
        "stack": lambda x, a, c: torch.stack(x, dim=a["axis"]),
        "reshape": lambda x, a, c: x[0].reshape(a["shape"]),
        "squeeze": lambda x, a, c: x[0].reshape(c.shapes[0]),
        "unsqueeze": lambda x, a, c: x[0].reshape(c.shapes[0]),
        "flatten": lambda x, a, c: x[0].reshape(c.shapes[0]),
        "transpose": lambda x, a, c: x[0].permute(a["perm"]),
        "broadcast": lambda x, a, c: x[0].broadcast_to(a["shape"]),
        "tile": lambda x, a, c: x[0].repeat(a["repeats"]),
        "flip": lambda x, a, c: torch.flip(x[0], dims(x[0], a)),
        "roll": lambda x, a, c: torch.roll(x[0], a["shift"], a["axis"]),
        "triu": lambda x, a, c: torch.triu(x[0], a["k"]),
        "tril": lambda x, a, c: torch.tril(x[0], a["k"]),
        "softmax": lambda x, a, c: torch.softmax(x[0], a["axis"]),
        "log_softmax": lambda x, a, c: torch.log_softmax(x[0], a["axis"]),
        "layer_norm": lambda x, a, c: F.layer_norm(
            x[0], x[1].shape if len(x) > 1 else x[0].shape[-1:], *x[1:], eps=a["eps"]),
        "rms_norm": lambda x, a, c: x[0] * torch.rsqrt(
            (x[0] ** 2).mean(-1, keepdim=True) + a["eps"]) * (x[1] if len(x) > 1 else 1),
        "attention": attend, "cross_entropy": entropy,
        "clamp": lambda x, a, c: torch.clamp(x[0], a["lo"], a["hi"]),
        "hardtanh": lambda x, a, c: F.hardtanh(x[0], a["lo"], a["hi"]),
        "leaky_relu": lambda x, a, c: F.leaky_relu(x[0], a["slope"]),
        "elu": lambda x, a, c: F.elu(x[0], a["alpha"]),
        "celu": lambda x, a, c: F.celu(x[0], a["alpha"]),
        "softshrink": lambda x, a, c: F.softshrink(x[0], a["l"]),
        "hardshrink": lambda x, a, c: F.hardshrink(x[0], a["l"]),
        "threshold": lambda x, a, c: F.threshold(x[0], a["l"], a["value"]),
        "glu": lambda x, a, c: F.glu(x[0], a["axis"]),
        "max_pool": lambda x, a, c: pool(x, a, c, True),
        "avg_pool": lambda x, a, c: pool(x, a, c, False),
        "gather_elements": lambda x, a, c: torch.gather(x[0], a["axis"], x[1].long()),
        "sort": sort, "argsort": lambda x, a, c: sort(x, a, c)[1],
        "prelu": lambda x, a, c: torch.where(x[0] > 0, x[0], per_channel(*x) * x[0]),
        "conv": conv, "conv_transpose": lambda x, a, c: conv(x, a, c, back=True),
    })
    table.update(peer_more.torch_table(sys.modules[__name__], torch, F))
    return table
