# SPDX-License-Identifier: Apache-2.0
"""peer_torch.py - the table op -> equivalent function of PyTorch. Floats are given as f64, and autograd works on all
functions, so that one table serves for results and gradients."""
import numpy as np

from peer_elementwise import floats, kind_of, torch_elementwise
from peer_model import Skip

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None
else:
    from peer_torch_layers import LAYERS, Loose


class Value:
    """A value of PyTorch: the tensor for the next node, and the tensor that is compared."""

    def __init__(self, raw, dtype, scale=0.0, steep=False):
        self.raw, self.scale, self.steep = raw, scale, steep
        self.tensor = raw.float().double() if dtype == "f32" and raw.dtype == torch.float64 else raw


class Torch:
    def __init__(self):
        self.table = {**torch_elementwise(), **movement(), **reductions(), **LAYERS}

    def values(self, arrays, types):
        if set(types.values()) & {"f16", "bf16"}:
            raise Skip("storage types (PyTorch)")
        values = {}
        for name, array in arrays.items():
            x = torch.tensor(array)
            x = x.double().requires_grad_() if x.dtype.is_floating_point else x
            values[name] = Value(x, "f64")
        return values

    def apply(self, node, operands):
        if node.op not in self.table:
            raise Skip(f"{node.op} is no function of PyTorch")
        if {"f16", "bf16"} & set(node.dtypes):
            raise Skip("storage types (PyTorch)")
        result = self.table[node.op]([o.tensor for o in operands], node.attrs, node.context)
        more = (result.slack, result.steep) if isinstance(result, Loose) else ()
        result = result.results if isinstance(result, Loose) else result
        results = result if isinstance(result, (list, tuple)) else [result]
        return [Value(r, d, *more) for r, d in zip(results, node.dtypes)]

    def index(self, i):
        return Value(torch.tensor(i), "i64")

    def row(self, value, i):
        return Value(value.tensor[i], "f64")

    def stack(self, values, dtype, shape):
        return Value(torch.stack([v.tensor for v in values]) if values else torch.zeros(shape), "f64")

    def truth(self, value):
        return bool(value.tensor)

    def gradients(self, folder, model, values, load):
        """Input name -> its gradient, or None if the loss does not depend on the input."""
        if any(v.steep for v in values.values()):
            raise Skip("scores whose rounding shows in the gradient (PyTorch)")
        loss = torch.zeros(())
        for output, source in model.outputs.items():
            if (folder / f"in.dy.{output}.npy").exists():
                loss = loss + (values[source].raw * torch.tensor(load(folder, "in", f"dy.{output}"))).sum()
        names = [p.name[7:-4] for p in sorted(folder.glob("out.dx.*.npy"))]
        if not loss.requires_grad:
            return dict.fromkeys(names)
        found = torch.autograd.grad(loss, [values[n].raw for n in names], allow_unused=True)
        return {n: None if dx is None else dx.numpy() for n, dx in zip(names, found)}


# ---- reductions ----

def dims(x, a):
    axes = a.get("axes")
    return [axes] if isinstance(axes, int) else list(axes or range(x.dim()))


def reduced(f):
    def run(x, a, c):
        if not x[0].dtype.is_floating_point:
            raise Skip("integers (PyTorch)")
        axes = dims(x[0], a)
        return f(x[0], axes, a.get("keep", False)) if axes else f(x[0][None], [0], False)
    return run


def extreme(f):
    return reduced(lambda x, axes, keep: f(x, dim=axes, keepdim=keep))


def prod(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, dim=axis, keepdim=keep)
    return x


def truth(f):
    def run(x, a, c):
        y, keep = x[0], a.get("keep", False)
        for axis in sorted(dims(y, a), reverse=True):
            y = f(y, dim=axis, keepdim=keep)
        return y
    return run


def spread(root):
    def run(x, a, c):
        axes = dims(x[0], a)
        if not axes or min(x[0].shape, default=1) == 0:
            raise Skip("a variance of nothing (PyTorch)")
        f = torch.std if root else torch.var
        return f(x[0], dim=axes, correction=a["correction"], keepdim=a.get("keep", False))
    return run


def cumsum(x, a, c):
    axis = a["axis"]
    line = torch.flip(x[0], [axis]) if a["reverse"] else x[0]
    y = torch.cumsum(line, axis)
    if a["exclusive"] and y.shape[axis]:
        y = torch.cat([torch.zeros_like(y.narrow(axis, 0, 1)), y.narrow(axis, 0, y.shape[axis] - 1)], axis)
    return torch.flip(y, [axis]) if a["reverse"] else y


def sort(x, a, c):
    return list(torch.sort(x[0], dim=a["axis"], descending=a["descending"], stable=True))


def top_k(x, a, c):
    """The first elements of a stable sort, because torch.topk does not define the order of equal values."""
    axis = a["axis"]
    found = sort(x, {"axis": axis, "descending": not a["least"]}, c)
    return [v.narrow(axis, 0, c.shapes[0][axis]) for v in found]


def nonzero(x, a, c):
    places = torch.nonzero(x[0])
    rows = torch.full((a["bound"], x[0].dim()), -1)
    rows[:min(len(places), a["bound"])] = places[:a["bound"]]
    return [rows, torch.tensor(len(places))]


def matrix(x, flag):
    return x.transpose(-1, -2) if flag else x


def reductions():
    return {
        "sum": reduced(lambda x, axes, keep: x.sum(dim=axes, keepdim=keep)),
        "mean": reduced(lambda x, axes, keep: x.mean(dim=axes, keepdim=keep)),
        "max": extreme(torch.amax), "min": extreme(torch.amin), "prod": reduced(prod),
        "argmax": floats(lambda x, a, c: torch.argmax(x[0], dim=a["axis"])),
        "argmin": floats(lambda x, a, c: torch.argmin(x[0], dim=a["axis"])),
        "any": truth(torch.any), "all": truth(torch.all), "cumsum": floats(cumsum),
        "logsumexp": reduced(lambda x, axes, keep: torch.logsumexp(x, dim=axes, keepdim=keep)),
        "var": floats(spread(False)), "std": floats(spread(True)),
        "sum_square": reduced(lambda x, axes, keep: (x * x).sum(dim=axes, keepdim=keep)),
        "norm_l1": reduced(lambda x, axes, keep: torch.linalg.vector_norm(x, 1, axes, keep)),
        "norm_l2": reduced(lambda x, axes, keep: torch.linalg.vector_norm(x, 2, axes, keep)),
        "sort": sort, "argsort": lambda x, a, c: sort(x, a, c)[1], "top_k": top_k, "nonzero": nonzero,
        "matmul": lambda x, a, c: matrix(x[0], a["transpose_a"]) @ matrix(x[1], a["transpose_b"]),
        "matmul_masked": lambda x, a, c: torch.where(
            x[2], matrix(x[0], a["transpose_a"]), 0.0) @ matrix(x[1], a["transpose_b"]),
        "linear": lambda x, a, c: x[0] @ x[1] + (x[2] if len(x) == 3 else 0),
        "matmul_int": matmul_int, "einsum": lambda x, a, c: torch.einsum(a["equation"], *x),
        "linear_int": lambda x, a, c: (matmul_int(x[:4], a, c).long() + (x[4] if len(x) > 4 else 0)).to(torch.int32),
    }


def matmul_int(x, a, c):
    left, right, *zero = [v.double() for v in x]
    left = left - zero[0] if zero else left
    right = right - zero[1] if len(zero) > 1 else right
    return (left @ right).to(torch.int32)


# ---- movement ----

def places(x, index, a, shape, how):
    """The flat positions in x that a gather reads, computed by NumPy's gather of all positions."""
    import peer_numpy
    flat = np.arange(x.numel()).reshape(tuple(x.shape))
    gather = getattr(peer_numpy, "np_" + how)
    found = gather([flat, index.numpy()], a, peer_numpy.Context([], [list(shape)]))
    return torch.tensor(np.array(found))


def gather(x, a, c):
    if a.get("batch", 0):
        return torch.take(x[0], places(*x, a, c.shapes[0], "gather"))
    axis, index = a.get("axis", 0), x[1]
    flat = torch.index_select(x[0], axis, index.reshape(-1).long())
    return flat.reshape(x[0].shape[:axis] + index.shape + x[0].shape[axis + 1:])


def gather_nd(x, a, c):
    return torch.take(x[0], places(*x, a, c.shapes[0], "gather_nd"))


def scatter(how, combine):
    def run(x, a, c):
        base, index, updates = x
        to = places(base, index, a, updates.shape, how).reshape(-1)
        return combine(base.reshape(-1), to, updates.reshape(-1)).reshape(base.shape)
    return run


def last(base, to, updates):
    """Scatters so that the last of several updates of a position wins, which PyTorch does not guarantee."""
    if len(torch.unique(to)) == len(to):
        return base.scatter(0, to, updates)
    chosen = np.arange(len(base))
    chosen[to.numpy()] = len(base) + np.arange(len(to))
    return torch.cat([base, updates])[torch.tensor(chosen)]


def slices(x, a, c):
    steps = a.get("step") or [1] * x[0].dim()
    return x[0][tuple(slice(*p) for p in zip(a["start"], a["stop"], steps))]


def pad(x, a, c):
    y = x[1].expand(c.shapes[0]).clone()
    y[tuple(slice(l, l + n) for l, n in zip(a["low"], x[0].shape))] = x[0]
    return y


def one_hot(x, a, c):
    inside = bool(((x[0] >= 0) & (x[0] < a["depth"])).all())
    if not inside or a["depth"] == 0 or (a["on"], a["off"]) != (1, 0):
        raise Skip("an index without a place, or other values (PyTorch)")
    return F.one_hot(x[0].long(), a["depth"]).to(kind_of(c.dtype))


def reshaped(x, a, c):
    return x[0].reshape(c.shapes[0])


def blocks(deep, shuffle):
    """Mode CRD is PyTorch's pixel shuffle; DCR is the same with its channels reordered first."""
    def run(x, a, c):
        b, x = a["block"], x[0]
        if x.numel() == 0:
            raise Skip("blocks of nothing (PyTorch)")
        n, ch, h, w = x.shape
        if shuffle and a["mode"] == deep:
            x = x.reshape(n, b * b, ch // (b * b), h, w).transpose(1, 2).reshape(n, ch, h, w)
        y = F.pixel_shuffle(x, b) if shuffle else F.pixel_unshuffle(x, b)
        if not shuffle and a["mode"] == deep:
            y = y.reshape(n, ch, b * b, h // b, w // b).transpose(1, 2).reshape(n, ch * b * b, h // b, w // b)
        return y
    return run


def movement():
    table = {
        "gather": gather, "embedding": gather, "gather_nd": gather_nd, "slice": slices, "pad": pad,
        "gather_elements": lambda x, a, c: torch.gather(x[0], a["axis"], x[1].long()),
        "concat": lambda x, a, c: torch.cat(x, dim=a["axis"]),
        "stack": lambda x, a, c: torch.stack(x, dim=a["axis"]),
        "split": lambda x, a, c: torch.split(x[0], [s[a["axis"]] for s in c.shapes], dim=a["axis"]),
        "reshape": reshaped, "squeeze": reshaped, "unsqueeze": reshaped, "flatten": reshaped,
        "transpose": lambda x, a, c: x[0].permute(a["perm"]),
        "broadcast": lambda x, a, c: x[0].broadcast_to(a["shape"]),
        "tile": lambda x, a, c: x[0].repeat(a["repeats"]),
        "flip": lambda x, a, c: torch.flip(x[0], dims(x[0], a)),
        "roll": lambda x, a, c: torch.roll(x[0], a["shift"], a["axis"]),
        "diag": lambda x, a, c: torch.diag(x[0], a["k"]),
        "triu": lambda x, a, c: torch.triu(x[0], a["k"]), "tril": lambda x, a, c: torch.tril(x[0], a["k"]),
        "one_hot": one_hot, "depth_to_space": blocks("DCR", True), "space_to_depth": blocks("DCR", False),
    }
    for name, how in (("scatter", "gather"), ("scatter_elements", "gather_elements"), ("scatter_nd", "gather_nd")):
        table[name] = scatter(how, last)
        table[name + "_add"] = scatter(how, lambda b, i, u: b.scatter_add(0, i, u))
        table[name + "_max"] = scatter(how, lambda b, i, u: b.scatter_reduce(0, i, u, "amax"))
        table[name + "_min"] = scatter(how, lambda b, i, u: b.scatter_reduce(0, i, u, "amin"))
    return table
