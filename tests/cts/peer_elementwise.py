# SPDX-License-Identifier: Apache-2.0
"""peer_elementwise.py - pointwise ops for both peers: the table NUMPY for NumPy, torch_elementwise() for
PyTorch. peer_composed.py has the compositions for NumPy.

A row of NUMPY has a bound and a function of operands, attributes and a context. The operands have the types of
the model, and bf16 is given as bits. PyTorch's functions get floats as f64, so that autograd works on them.
"""
import math
from fractions import Fraction

import numpy as np

from peer_model import Skip

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

NP = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
      "i64": np.int64, "bool": np.bool_, "f16": np.float16}
EPS = {"f32": 2.0**-23, "f64": 2.0**-52}


def up(x):
    return x.astype(np.longdouble if x.dtype == np.float64 else np.float64)


def plain(function):
    return "bits", lambda x, a, c: function(*x)


def smooth(function):
    """A row for a function that is computed in a wider type."""
    return "ulp", lambda x, a, c: function(*map(up, x))


# ---- NumPy ----

def np_erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


def np_sigmoid(x):
    return 1 / (1 + np.exp(-x))


def greater(a, b):
    """Minimum or maximum: NaN if an operand is NaN, and -0 < +0."""
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
    """a * b + c with one rounding. Products of f32 are exact in f64; those of f64 are computed as fractions."""
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
                out[i] = exact if exact else wide[i]  # a fraction of 0 has no sign, so `wide` gives it
            except OverflowError:
                pass
    return out


def to_float(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bf16(x):
    """f64 to bf16, rounded once to nearest even: first to f32 towards zero, whose last bit marks an inexact value."""
    exact = x.astype(np.longdouble)
    short = exact.astype(np.float32)
    short = np.where(np.abs(short) > np.abs(exact), np.nextafter(short, np.float32(0)), short)
    bits = np.ascontiguousarray(short).view(np.uint32).reshape(x.shape) | (short != exact)
    rounded = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(exact), np.uint16(0x7fc0), rounded)


def np_cast(x, a, c):
    x = x[0]
    if c.types[0] == "bf16":
        x = to_float(x)
    if c.dtype == "bf16":
        return to_bf16(x)
    if c.dtype == "bool":
        return x != 0
    if x.dtype.kind == "f" and c.dtype in ("i8", "u8", "i32", "i64"):
        info = np.iinfo(NP[c.dtype])
        whole = np.trunc(np.where(np.isnan(x), 0, x).astype(np.float64))
        inside = np.clip(whole, info.min, math.nextafter(float(info.max) + 1, 0))
        return np.where(whole > info.max, info.max, inside.astype(np.int64)).astype(NP[c.dtype])
    return x.astype(NP[c.dtype])


def np_literal(x, a, c):
    v = np.array(a["value"])
    return to_bf16(v) if c.dtype == "bf16" else v.astype(NP[c.dtype])


def np_iota(x, a, c):
    shape = [1] * len(a["shape"])
    if shape:
        shape[a["axis"]] = -1
        line = np.arange(a["shape"][a["axis"]]).reshape(shape)
    return np.broadcast_to(line, a["shape"]).astype(NP[c.dtype])


def np_shift(x, n, left):
    width = x.dtype.itemsize * 8
    inside = (n >= 0) & (n < width)
    m = np.where(inside, n, 0)
    moved = np.left_shift(x, m) if left else np.right_shift(x, m)
    beyond = np.where(x < 0, -1, 0) if not left and x.dtype.kind == "i" else np.zeros_like(x)
    return np.where(inside, moved, beyond).astype(x.dtype)


NUMPY = {
    "literal": ("bits", np_literal), "iota": ("bits", np_iota), "cast": ("bits", np_cast),
    "neg": plain(np.negative), "abs": plain(np.abs), "sqrt": plain(np.sqrt),
    "add": plain(np.add), "sub": plain(np.subtract), "mul": plain(np.multiply),
    "div": plain(np_div), "mod": plain(np_mod), "maximum": plain(greater), "minimum": plain(lesser),
    "eq": plain(np.equal), "ne": plain(np.not_equal), "lt": plain(np.less),
    "le": plain(np.less_equal), "gt": plain(np.greater), "ge": plain(np.greater_equal),
    "and": plain(np.bitwise_and), "or": plain(np.bitwise_or), "xor": plain(np.bitwise_xor),
    "not": plain(np.invert), "select": plain(np.where), "where": plain(np.where),
    "shl": plain(lambda x, n: np_shift(x, n, True)), "shr": plain(lambda x, n: np_shift(x, n, False)),
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
    "sign": plain(lambda x: np.sign(x) + np.zeros_like(x)),
}


# ---- PyTorch ----

def one(f):
    return lambda x, a, c: f(*x)


def floats(f):
    def run(x, a, c):
        if not all(v.dtype.is_floating_point for v in x):
            raise Skip("integers (PyTorch)")
        return f(x, a, c)
    return run


def torch_fma(x, a, c):
    if c.dtype == "f64":
        raise Skip("fma of f64 (PyTorch)")
    return x[0] * x[1] + x[2]


def kind_of(dtype):
    return {"f32": torch.float64, "f64": torch.float64, "i8": torch.int8, "u8": torch.uint8,
            "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}[dtype]


def torch_cast(x, a, c):
    if c.dtype not in ("f32", "f64") or not x[0].dtype.is_floating_point:
        raise Skip("casts of integers (PyTorch)")
    return x[0]


def torch_iota(x, a, c):
    shape = [1] * len(a["shape"])
    shape[a["axis"]] = -1
    line = torch.arange(a["shape"][a["axis"]], dtype=kind_of(c.dtype))
    return line.reshape(shape).expand(a["shape"])


def torch_mod(x, a, c):
    """A remainder that avoids the operands for which PyTorch would trap, and puts in the op's results for them."""
    zero = x[1] == 0
    edge = zero | (x[1] == -1) if c.dtype != "u8" else zero
    rest = torch.fmod(x[0], torch.where(edge, torch.ones_like(x[1]), x[1]))
    return torch.where(zero, x[0], rest)


def torch_shift(f, up):
    def run(x, a, c):
        x, n = torch.broadcast_tensors(*x)
        inside = (n >= 0) & (n < x.element_size() * 8)
        beyond = torch.zeros_like(x) if up or c.dtype == "u8" else torch.where(x < 0, -1, 0).to(x.dtype)
        return torch.where(inside, f(x, torch.where(inside, n, 0)), beyond)
    return run


def along_channels(x, s):
    return s.reshape((-1,) + (1,) * (x.dim() - 2)) if s.dim() == 1 and x.dim() > 2 else s


def torch_elementwise():
    unary = """neg abs sqrt rsqrt exp log sin cos tanh erf sigmoid exp2 expm1 log2 log10 log1p tan asin acos
        atan sinh cosh asinh acosh atanh floor ceil trunc round sign relu square reciprocal"""
    table = {name: floats(one(getattr(torch, name))) for name in unary.split()}
    table.update({name: floats(one(f)) for name, f in {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
        "maximum": torch.maximum, "minimum": torch.minimum, "silu": F.silu, "gelu": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "relu6": F.relu6, "selu": F.selu,
        "softplus": F.softplus, "mish": F.mish, "hardswish": F.hardswish, "softsign": F.softsign,
        "log_sigmoid": F.logsigmoid, "tanhshrink": F.tanhshrink, "swiglu": lambda a, b: F.silu(a) * b,
        "geglu": lambda a, b: F.gelu(a) * b}.items()})
    table.update({name: one(getattr(torch, name)) for name in "eq ne lt le gt ge".split()})
    table.update({name: one(getattr(torch, f"bitwise_{name}")) for name in "and or not xor".split()})
    table.update({
        "fma": torch_fma, "select": one(torch.where), "where": one(torch.where), "cast": torch_cast, "iota": torch_iota,
        "literal": lambda x, a, c: torch.tensor(a["value"], dtype=kind_of(c.dtype)),
        "mod": torch_mod, "shl": torch_shift(torch.bitwise_left_shift, True), "shr": torch_shift(torch.bitwise_right_shift, False),
        "is_nan": one(torch.isnan), "is_inf": one(torch.isinf), "is_finite": one(torch.isfinite),
        "clamp": lambda x, a, c: torch.clamp(x[0], a["lo"], a["hi"]),
        "hardtanh": lambda x, a, c: F.hardtanh(x[0], a["lo"], a["hi"]),
        "leaky_relu": lambda x, a, c: F.leaky_relu(x[0], a["slope"]),
        "elu": lambda x, a, c: F.elu(x[0], a["alpha"]), "celu": lambda x, a, c: F.celu(x[0], a["alpha"]),
        "softshrink": lambda x, a, c: F.softshrink(x[0], a["l"]),
        "hardshrink": lambda x, a, c: F.hardshrink(x[0], a["l"]),
        "threshold": lambda x, a, c: F.threshold(x[0], a["l"], a["value"]),
        "hardsigmoid": lambda x, a, c: F.hardtanh(a["alpha"] * x[0] + a["beta"], 0, 1),
        "glu": lambda x, a, c: F.glu(x[0], a["axis"]),
        "prelu": lambda x, a, c: torch.where(x[0] > 0, x[0], along_channels(*x) * x[0]),
    })
    return table
