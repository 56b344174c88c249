# SPDX-License-Identifier: Apache-2.0
"""peer_composed.py - compositions written with NumPy: activations, norms, attention, losses,
rotary positions, quantisation, recurrent cells, and random numbers.

Entries with the bound `close` compute in a wider type. A composition of a few single operations is computed in
its own type, and its bits are compared.
"""
import math

import numpy as np

from peer_elementwise import EPS, NP, greater, lesser, np_cast, np_erf, np_sigmoid, up
from peer_model import Context, Skip
from peer_numpy import np_sort, order_key, sum_limit

SQRT1_2 = 0.7071067811865476


def close(function):
    return "close", lambda x, a, c: function(*[up(v) if v.dtype.kind == "f" else v for v in x], a)


def exactly(function):
    """A function that computes in the type of the op: operands and attributes have it, each operation rounds once."""
    def run(x, a, c):
        kind = NP[c.dtype]
        return function(*x, {k: kind(v) if isinstance(v, float) else v for k, v in a.items()})
    return "bits", run


def number(x, value):
    return x.dtype.type(value)


# ---- activations ----

def np_clamp(x, lo, hi):
    return lesser(greater(x, np.broadcast_to(number(x, lo), x.shape)), np.broadcast_to(number(x, hi), x.shape))


def softshrink(x, a):
    l = number(x, a["l"])
    return np.where((-l <= x) & (x <= l), number(x, 0), np.where(x > l, x - l, x + l))


def hardsigmoid(x, a):
    return np_clamp(number(x, a["alpha"]) * x + number(x, a["beta"]), 0, 1)


def hardswish(x, a):
    return x * hardsigmoid(x, {"alpha": 1 / 6, "beta": 0.5})


def selu(x, a):
    scale, both = (np.uint32(bits).view(np.float32).astype(np.float64) for bits in (0x3f867d5f, 0x3fe10966))
    return np.where(x > 0, scale * x, both * np.expm1(x))


def glu(x, a, c):
    left, right = np.split(up(x[0]), 2, axis=a["axis"])
    return left * np_sigmoid(right)


def gelu(x):
    return 0.5 * x * (1 + np_erf(x * SQRT1_2))


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    d = x - np.max(x, axis=axis, keepdims=True)
    return d - np.log(np.sum(np.exp(d), axis=axis, keepdims=True))


def real(x, a, name):
    """An attribute rounded to the type of the op: f32 if its operands came as f64, f64 if they came wider."""
    return np.float64(np.float32(a[name])) if x.dtype == np.float64 else np.longdouble(a[name])


def per_channel(x, s):
    """The slopes in a shape that broadcasts: one for each channel, axis 1, or one for all."""
    return s.reshape((-1,) + (1,) * (x.ndim - 2)) if s.ndim == 1 and x.ndim > 2 else s


# ---- norms ----

def normed(x, axes, eps):
    d = x - x.mean(axis=axes, keepdims=True)
    v = (d * d).mean(axis=axes, keepdims=True) + eps
    if np.any(np.abs(v) < 1e-6 * np.max(x * x, axis=axes, keepdims=True, initial=0)):
        raise Skip("a variance of nothing but rounding")
    return d / np.sqrt(v)


def scaled(y, scale, shape=None):
    scale = [s.reshape(shape) if shape else s for s in scale]
    y = y * scale[0] if scale else y
    return y + scale[1] if len(scale) > 1 else y


def channels(x):
    """The shape that makes a vector broadcast along axis 1."""
    return (1, -1) + (1,) * (x.ndim - 2)


def layer_norm(x, *more):
    """Normalises over the last axes, as many as gamma has."""
    *scale, a = more
    axes = tuple(range(-(scale[0].ndim if scale else 1), 0))
    return scaled(normed(x, axes, real(x, a, "eps")), scale)


def rms_norm(x, *more):
    *scale, a = more
    return scaled(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + real(x, a, "eps")), scale)


def group_norm(x, *more):
    *scale, a = more
    if x.size == 0:
        return x
    rows = x.reshape(x.shape[0], a["groups"], -1)
    y = normed(rows, (2,), real(x, a, "eps")).reshape(x.shape)
    return scaled(y, scale, channels(x))


def instance_norm(x, *more):
    *scale, a = more
    if x.size == 0:
        return x
    y = normed(x, tuple(range(2, x.ndim)), real(x, a, "eps"))
    return scaled(y, scale, channels(x))


def batch_norm(x, gamma, beta, mean, var, a):
    axes = (0,) + tuple(range(2, x.ndim))
    w = real(x, a, "momentum")
    k = 1 - w
    y = scaled(normed(x, axes, real(x, a, "eps")), [gamma, beta], channels(x)) if x.size else x
    u = x.mean(axis=axes)
    squares = ((x - u.reshape(channels(x))) ** 2).sum(axis=axes)
    n = math.prod(x.shape[i] for i in axes)
    return [y, k * mean + w * u, k * var + w * squares / (n - 1)]


def batch_norm_inference(x, gamma, beta, mean, var, a):
    shape = channels(x)
    y = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + real(x, a, "eps"))
    return scaled(y, [gamma, beta], shape)


# ---- attention ----

def keys_seen(shape, more, a):
    """(mask of the keys that each query sees, bias). The optional operands are distinguished by their types."""
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
        raise Skip("absent keys beside infinite values")
    s = np.where(seen, s + bias, -np.inf)
    m = np.max(s, axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(m), m, 0))
    e = np.where(np.isposinf(m) | (np.isneginf(m) & np.any(seen, axis=-1, keepdims=True)), np.nan, e)
    l = np.sum(e, axis=-1, keepdims=True)
    y = np.where(l == 0, 0, np.matmul(e, v) / np.where(l == 0, 1, l))
    # In attention an absolute error of the scores is a relative error of the weights e, the exponentials of the scores.
    size = np.max(np.matmul(np.abs(q), np.swapaxes(np.abs(k), -1, -2)), initial=0) * abs(scale)
    size = size + np.max(np.abs(bias), initial=0)
    return y, 2 * EPS["f32"] * size * np.max(np.abs(v), initial=0)


def rope(x, a, c):
    """Cosines and sines of angles rounded to f32, because positions are large and the rounding of angles shows.
    NumPy's own functions of f32, and on some processors of f64, are not accurate enough."""
    x, position = x
    d = a["width"] or x.shape[-1]
    exponent = np.arange(0, d, 2).astype(np.float32) / np.float32(d)
    power = rounded(lambda e: np.power(np.longdouble(np.float32(a["base"])), e), exponent)
    angle = position.astype(np.float32)[..., None] * (np.float32(1) / power)
    cos, sin = rounded(np.cos, angle), rounded(np.sin, angle)
    first = slice(0, d, 2) if a["interleaved"] else slice(0, d // 2)
    second = slice(1, d, 2) if a["interleaved"] else slice(d // 2, d)
    y, x0, x1 = x.copy(), x[..., first], x[..., second]
    y[..., first] = x0 * cos - x1 * sin
    y[..., second] = x1 * cos + x0 * sin
    return y


# ---- losses ----

def class_loss(rows, slack, t, weight, a):
    """Reduces the losses of rows [n], each with an error of at most `slack`; t are the targets."""
    targets, reduction = t.reshape(-1), a.get("reduction", "mean")
    kept = targets != a["ignore"]
    w = weight[0][np.where(kept, targets, 0)] if weight else np.ones(len(targets))
    rows = np.where(kept, w * rows, 0)
    w = np.where(kept, w, 0)
    eps = 40 * EPS["f32" if rows.dtype == np.float64 else "f64"]
    if reduction == "none":
        return rows.reshape(t.shape), np.max(np.abs(w), initial=0) * slack
    total, count = np.sum(rows), np.sum(w)
    error = slack * np.sum(np.abs(w)) + eps * np.sum(np.abs(rows))
    if reduction == "sum":
        return np.asarray(total), error
    # If class weights have both signs, their sum `count` may be smaller than its rounding error.
    y = np.asarray(total / count)
    return y, (error + np.abs(y) * eps * np.sum(np.abs(w))) / np.abs(count)


def cross_entropy(x, t, *more):
    *weight, a = more
    logs, targets = log_softmax(x, -1).reshape(-1, x.shape[-1]), t.reshape(-1)
    # A loss near 0 is the difference of two larger numbers, so its error may be as large as their rounding error.
    slack = 4 * EPS["f32"] * (1 + np.max(np.abs(logs[np.isfinite(logs)]), initial=0))
    rows = -logs[np.arange(len(targets)), np.where(targets != a["ignore"], targets, 0)]
    smoothing = a.get("smoothing", 0)
    if smoothing:
        rows = (1 - smoothing) * rows - smoothing * logs.mean(axis=1)
    return class_loss(rows, slack, t, weight, a)


def nll(x, t, *more):
    *weight, a = more
    targets = t.reshape(-1)
    rows = x.reshape(-1, x.shape[-1])
    return class_loss(-rows[np.arange(len(targets)), np.where(targets != a["ignore"], targets, 0)],
                      0, t, weight, a)


def loss(function):
    """A loss that is computed for each element."""
    def run(x, a, c):
        e = function(*map(up, x), a)
        if a["reduction"] == "none":
            return e
        limit = sum_limit(np.sum(np.abs(e[np.isfinite(e)])), 32, c.dtype)
        many = {"sum": 1, "mean": e.size, "batch": e.shape[0] if e.ndim else 1}[a["reduction"]]
        return np.sum(e) / np.float64(many), limit / np.float64(max(many, 1))
    return "close", run


def huber(x, t, a):
    d, delta = np.abs(x - t), real(x, a, "delta")
    return np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def smooth_l1(x, t, a):
    d, beta = np.abs(x - t), real(x, a, "beta")
    return np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)


def bce(x, t, a):
    return (t - 1) * np.maximum(np.log1p(-x), -100) - t * np.maximum(np.log(x), -100)


def kl_div(x, t, a):
    return np.where(t == 0, 0, t * (np.log(t) - x))


# ---- quantisation: f32, each operation one rounding ----

def along(v, x, a):
    """A scale or zero point that broadcasts: one number, or one for each index along the axis."""
    if v.ndim == 0:
        return v
    shape = [1] * x.ndim
    shape[a["axis"]] = -1
    return v.reshape(shape)


def into(x, zp, kind):
    info = np.iinfo(NP[kind])
    return np_cast([np_clamp(x + zp.astype(np.float32), info.min, info.max)], {}, Context(["f32", kind], None))


def quantize(x, a, c):
    x, scale, zp = x
    return into(np.round(x / along(scale, x, a)), along(zp, x, a), c.types[2])


def dequantize(x, a, c):
    q, scale, zp = x
    return (q.astype(np.int32) - along(zp, q, a).astype(np.int32)).astype(np.float32) * along(scale, q, a)


def fake_quantize(x, a, c):
    return dequantize([quantize(x, a, c), x[1], x[2]], a, c)


def dynamic_quantize(x, a, c):
    zero = np.zeros(1, np.float32)
    line = np.concatenate([x[0].reshape(-1), zero])
    low, high = (lesser if sign < 0 else greater for sign in (-1, 1))
    least = most = zero[0]
    for v in line:
        least, most = low(v, least), high(v, most)
    scale = (most - least) / np.float32(255)
    zp = into(np.round(zero[0] - least / scale), np.uint8(0), "u8")
    return [into(np.round(x[0] / scale), zp, "u8"), scale, zp]


def requantize(x, a, c):
    acc, sa, sb, sy, zy = x
    product = acc.astype(np.float32) * (sa * along(sb, acc, a))
    return into(np.round(product / sy), zy, c.types[4])


# ---- recurrent cells ----

def recurrent(gates, cell, states):
    """Runs a recurrent op; `cell` takes both products of its gates, p and q, the states, and the state's weights."""
    def run(x, a, c):
        x, w, u, *more = [up(v) if v.dtype.kind == "f" else v for v in x]
        both = a["direction"] == "both"
        lengths = [v for v in more if v.dtype.kind == "i"]
        biases = [v for v in more if v.dtype.kind == "f" and v.ndim == w.ndim - 1]
        start = [v for v in more if v.dtype.kind == "f" and v.ndim == w.ndim]
        many = np.minimum(lengths[0], x.shape[0]) if lengths else np.full(x.shape[1], x.shape[0])
        runs = []
        for i in range(2 if both else 1):
            parts = [[v[i] for v in group] if both else group for group in ([w, u], biases, start)]
            back = both and i == 1 or a["direction"] == "reverse"
            runs.append(one_way(x, *parts[0], parts[1], parts[2], many, back, (gates, cell, states, a)))
        y = np.concatenate([r[0] for r in runs], axis=-1)
        ends = [np.stack([r[1][j] for r in runs]) if both else runs[0][1][j] for j in range(states)]
        slack = 4 * EPS["f32"] * max(r[2] for r in runs)
        return [(v, slack) for v in [y] + ends]
    return "close", run


def one_way(x, w, u, biases, start, many, back, how):
    """y, the last states, and the largest sum of magnitudes in a gate, which bounds the gate's rounding error."""
    gates, cell, states, a = how
    hidden = u.shape[0]
    now = list(start) or [np.zeros((x.shape[1], hidden), x.dtype)] * states
    b, d = biases or [np.zeros(gates * hidden)] * 2
    y, size = np.zeros((x.shape[0], x.shape[1], hidden), x.dtype), 0.0
    for t in reversed(range(len(x))) if back else range(len(x)):
        live = (t < many)[:, None]
        new = cell(x[t] @ w + b, now[0] @ u + d, now, (u, d), a)
        gate = np.abs(x[t]) @ np.abs(w) + np.abs(now[0]) @ np.abs(u) + np.abs(b) + np.abs(d)
        size = max(size, np.max(gate, initial=0, where=np.isfinite(gate)))
        y[t] = np.where(live, new[0], 0)
        now = [np.where(live, n, o) for n, o in zip(new, now)]
    return y, now, size


def rnn_cell(p, q, now, state, a):
    return [np.maximum(p + q, 0) if a["activation"] == "relu" else np.tanh(p + q)]


def lstm_cell(p, q, now, state, a):
    i, f, g, o = np.split(p + q, 4, axis=-1)
    s = np_sigmoid(f) * now[1] + np_sigmoid(i) * np.tanh(g)
    return [np_sigmoid(o) * np.tanh(s), s]


def gru_cell(p, q, now, state, a):
    (pr, pz, pn), (qr, qz, qn) = (np.split(v, 3, axis=-1) for v in (p, q))
    r, z = np_sigmoid(pr + qr), np_sigmoid(pz + qz)
    if a["reset_before"]:
        u, d = (np.split(v, 3, axis=-1)[2] for v in state)
        n = np.tanh(pn + (r * now[0]) @ u + d)
    else:
        n = np.tanh(pn + r * qn)
    return [(1 - z) * n + z * now[0]]


# ---- random numbers: Philox4x32-10 ----

def philox(seed, stream, step, block):
    """The random words of Philox, as an array [block, 4]."""
    low, size = np.uint64(0xffffffff), np.uint64(32)
    seed = int(seed) % 2**64
    key = [seed & 0xffffffff, seed >> 32]
    block = block.astype(np.uint64)
    x = [block & low, block >> size, np.full_like(block, stream % 2**32), np.full_like(block, int(step) % 2**32)]
    for _ in range(10):
        p, q = np.uint64(0xd2511f53) * x[0], np.uint64(0xcd9e8d57) * x[2]
        x = [q >> size ^ x[1] ^ np.uint64(key[0]), q & low, p >> size ^ x[3] ^ np.uint64(key[1]), p & low]
        key = [(key[0] + 0x9e3779b9) % 2**32, (key[1] + 0xbb67ae85) % 2**32]
    return np.stack(x, axis=-1)


def words(seed, step, shape, a):
    n = math.prod(shape)
    return philox(seed, a["stream"], step, np.arange(-(-n // 4))).reshape(-1)[:n].reshape(shape)


def fraction(w):
    """f32 in [0, 1) from 24 bits of each word."""
    return (w >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


def uniform_of(x, a, c):
    return fraction(words(x[-2], x[-1], c.shapes[0], a))


def rounded(function, x):
    """A function of f32, computed in a wider type and rounded once, which is right unless it is a rare near-tie."""
    return function(x.astype(np.longdouble)).astype(np.float32)


def normal_of(x, a, c):
    n = math.prod(c.shapes[0])
    w = philox(x[0], a["stream"], x[1], np.arange(-(-n // 4))).reshape(-1, 2)
    u, t = fraction(w[:, 0] + np.uint64(256)), fraction(w[:, 1])
    radius = np.sqrt(np.float32(-2) * rounded(np.log, u))
    angle = t * np.float32(2 * math.pi)
    both = np.stack([radius * rounded(np.cos, angle), radius * rounded(np.sin, angle)], axis=-1)
    return both.reshape(-1)[:n].reshape(c.shapes[0])


def uniform_range(x, a, c):
    return np.float32(a["low"]) + uniform_of(x, a, c) * np.float32(a["high"] - a["low"])


def random_integer(x, a, c):
    many = np.uint64(a["high"] - a["low"] + 1)
    return (words(*x, c.shapes[0], a) * many >> np.uint64(32)).astype(np.int64) + a["low"]


def dropout(x, a, c):
    kept = uniform_of(x, a, c) >= np.float32(a["p"])
    return np.where(kept, x[0] * np.float32(np.float64(1) / (1 - a["p"])), np.float32(0))


def shuffle(x, a, c):
    w = philox(x[0], a["stream"], x[1], np.arange(c.shapes[0][0]))
    return np.lexsort((w[:, 1], w[:, 0]))


def categorical(x, a, c):
    """The index of the largest draw. If two draws were nearly equal, rounding could choose the other one."""
    w = words(x[1], x[2], x[0].shape, a)
    v = ((w >> np.uint64(9)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)
    score = x[0] - rounded(np.log, -rounded(np.log, v))
    if a["k"] == 0:
        return np.argmax(order_key(score), axis=a["axis"])
    return np_sort([score], {"axis": a["axis"], "descending": True}, c)[1][tuple(map(slice, c.shapes[0]))]


def with_axis(function):
    return "close", lambda x, a, c: function(up(x[0]), a["axis"])


COMPOSED = {
    "silu": close(lambda x, a: x * np_sigmoid(x)), "gelu": close(lambda x, a: gelu(x)),
    "gelu_tanh": close(lambda x, a: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "softmax": with_axis(softmax), "log_softmax": with_axis(log_softmax),
    "layer_norm": close(layer_norm), "rms_norm": close(rms_norm), "group_norm": close(group_norm),
    "instance_norm": close(instance_norm), "batch_norm": close(batch_norm),
    "batch_norm_inference": close(batch_norm_inference), "attention": close(attention),
    "cross_entropy": close(cross_entropy), "nll": close(nll),
    "clamp": exactly(lambda x, a: np_clamp(x, a["lo"], a["hi"])),
    "hardtanh": exactly(lambda x, a: np_clamp(x, a["lo"], a["hi"])),
    "relu6": exactly(lambda x, a: np_clamp(x, 0, 6)), "reciprocal": exactly(lambda x, a: number(x, 1) / x),
    "leaky_relu": exactly(lambda x, a: np.where(x > 0, x, a["slope"] * x)),
    "prelu": exactly(lambda x, s, a: np.where(x > 0, x, per_channel(x, s) * x)),
    "softsign": exactly(lambda x, a: x / (number(x, 1) + np.abs(x))),
    "softshrink": exactly(softshrink), "hardsigmoid": exactly(hardsigmoid), "hardswish": exactly(hardswish),
    "hardshrink": exactly(lambda x, a: np.where((-a["l"] <= x) & (x <= a["l"]), number(x, 0), x)),
    "threshold": exactly(lambda x, a: np.where(x <= a["l"], a["value"], x)),
    "elu": close(lambda x, a: np.where(x > 0, x, real(x, a, "alpha") * np.expm1(x))),
    "celu": close(lambda x, a: np.where(x > 0, x, real(x, a, "alpha") * np.expm1(x / real(x, a, "alpha")))),
    "selu": close(selu), "glu": ("close", glu),
    "softplus": close(lambda x, a: np.logaddexp(x, 0)), "log_sigmoid": close(lambda x, a: -np.logaddexp(-x, 0)),
    "swiglu": close(lambda x, y, a: x * np_sigmoid(x) * y), "geglu": close(lambda x, y, a: gelu(x) * y),
    "tanhshrink": close(lambda x, a: x - np.tanh(x)), "mish": close(lambda x, a: x * np.tanh(np.logaddexp(x, 0))),
    "rope": ("bits", rope),
    "mse": loss(lambda x, t, a: (x - t) ** 2), "l1": loss(lambda x, t, a: np.abs(x - t)),
    "huber": loss(huber), "smooth_l1": loss(smooth_l1), "bce": loss(bce), "kl_div": loss(kl_div),
    "bce_with_logits": loss(lambda x, t, a: np.logaddexp(x, 0) - x * t),
    "quantize": ("bits", quantize), "dequantize": ("bits", dequantize), "fake_quantize": ("bits", fake_quantize),
    "dynamic_quantize": ("bits", dynamic_quantize), "requantize": ("bits", requantize),
    "rnn": recurrent(1, rnn_cell, 1), "lstm": recurrent(4, lstm_cell, 2), "gru": recurrent(3, gru_cell, 1),
    "random_bits": ("bits", lambda x, a, c: words(*x, c.shapes[0], a).astype(np.int64)),
    "random_uniform": ("bits", uniform_of), "random_normal": ("bits", normal_of),
    "uniform": ("bits", uniform_range), "random_integer": ("bits", random_integer),
    "bernoulli": ("bits", lambda x, a, c: uniform_of(x, a, c) < x[0]), "dropout": ("bits", dropout),
    "shuffle": ("bits", shuffle), "categorical": ("bits", categorical),
}
