# SPDX-License-Identifier: Apache-2.0
"""peer_torch_layers.py - the layers of PyTorch: convolutions, pools, resizing, norms, attention,
losses, cells. Importing it needs PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from peer_composed import keys_seen, uniform_of
from peer_elementwise import EPS
from peer_model import Skip
from peer_windows import each, lists


class Loose:
    """Results with a further limit of their error, caused by an intermediate value; `steep`: the gradient magnifies
    that error too much to be compared."""

    def __init__(self, results, slack, steep=False):
        self.results, self.slack, self.steep = results, slack, steep


def some(x, c):
    if min((v.numel() for v in x), default=1) == 0 or 0 in c.shapes[0]:
        raise Skip("layers of nothing (PyTorch)")


# ---- convolutions ----

def around(x, low, high, value=0.0):
    """Pads the spatial axes; a negative padding cuts x."""
    return F.pad(x, [p for pair in zip(reversed(low), reversed(high)) for p in pair], value=value)


def conv(x, a, c):
    some(x, c)
    n = x[0].dim() - 2
    stride, dilation, low, high = lists(a, n, "stride", "dilation", "low", "high")
    f = [F.conv1d, F.conv2d, F.conv3d][n - 1]
    return f(around(x[0], low, high), *x[1:], stride=stride, dilation=dilation, groups=a.get("groups", 1))


def conv_int(x, a, c):
    x, w, *more = [v.double() for v in x]
    x = x - more[0] if more else x
    w = w - more[1].reshape((-1,) + (1,) * (w.dim() - 1)) if len(more) > 1 else w
    y = conv([x, w], a, c).long()
    y = y + more[2].long().reshape((1, -1) + (1,) * (y.dim() - 2)) if len(more) > 2 else y
    return y.to(torch.int32)


def conv_transpose(x, a, c):
    """The transposed convolution without padding; padding then cuts it, and `extra` adds positions without a tap."""
    some(x, c)
    n = x[0].dim() - 2
    stride, dilation, low = lists(a, n, "stride", "dilation", "low")
    f = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
    y = f(x[0], x[1], stride=stride, dilation=dilation, groups=a.get("groups", 1))
    sizes = zip(c.shapes[0][2:], low, y.shape[2:])
    y = around(y, [-l for l in low], [size + l - d for size, l, d in sizes])
    return y + x[2].reshape((1, -1) + (1,) * n) if len(x) == 3 else y


def conv_weight_grad(x, a, c):
    some(x, c)
    x, dy = x
    n = x.dim() - 2
    stride, dilation, low = lists(a, n, "stride", "dilation", "low")
    need = [(p - 1) * s + d * (k - 1) + 1 for p, s, d, k in
            zip(dy.shape[2:], stride, dilation, c.shapes[0][2:])]
    wide = around(x, low, [m - i - l for m, i, l in zip(need, x.shape[2:], low)])
    f = [torch.nn.grad.conv1d_weight, torch.nn.grad.conv2d_weight, torch.nn.grad.conv3d_weight][n - 1]
    return f(wide, tuple(c.shapes[0]), dy, stride=stride, dilation=dilation, groups=a.get("groups", 1))


# ---- pools: padded explicitly, so that every window is complete ----

def framed(x, a, sizes, value):
    n = x.dim() - 2
    kernel = each(a["kernel"], n, 1)
    stride = each(a.get("stride") or kernel, n, 1)
    dilation, low = lists(a, n, "dilation", "low")
    need = [(p - 1) * s + d * (k - 1) + 1 for p, s, d, k in zip(sizes, stride, dilation, kernel)]
    high = [m - i - l for m, i, l in zip(need, x.shape[2:], low)]
    return around(x, low, high, value), kernel, stride, dilation, low


def largest(x, a, sizes):
    if not x.dtype.is_floating_point:
        raise Skip("integers (PyTorch)")
    n = x.dim() - 2
    wide, kernel, stride, dilation, low = framed(x, a, sizes, -np.inf)
    f = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
    y, index = f(wide, kernel, stride, 0, dilation, return_indices=True)
    at = np.unravel_index(index.numpy(), wide.shape[2:])
    at = np.ravel_multi_index([i - l for i, l in zip(at, low)], x.shape[2:])
    return y, torch.tensor(at)


def max_pool(x, a, c, which=0):
    some(x, c)
    return largest(x[0], a, c.shapes[0][2:])[which]


def averaged(x, a, sizes):
    n = x.dim() - 2
    if each(a.get("dilation"), n, 1) != [1] * n:
        raise Skip("averages with dilation (PyTorch)")
    f = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][n - 1]
    low, high = lists(a, n, "low", "high")
    counted = torch.ones_like(x[:1, :1])
    counted = around(counted, low, high, 1.0) if a["count_padding"] else around(counted, low, [0] * n)
    counted = framed(counted, {**a, "low": [0] * n}, sizes, 0.0)[0]
    wide, kernel, stride = framed(x, a, sizes, 0.0)[:3]
    return f(wide, kernel, stride) / f(counted, kernel, stride)


def avg_pool(x, a, c):
    some(x, c)
    return averaged(x[0], a, c.shapes[0][2:])


def through(f, at, dy):
    """The gradient that autograd computes from dy, which can be differentiated again."""
    at = at.detach().requires_grad_()
    return torch.autograd.grad(f(at), at, dy, create_graph=True)[0]


def max_pool_grad(x, a, c):
    some(x, c)
    return through(lambda v: largest(v, a, x[1].shape[2:])[0], x[0], x[1])


def avg_pool_grad(x, a, c):
    some(x, c)
    zeros = torch.zeros(c.shapes[0], dtype=torch.float64)
    return through(lambda v: averaged(v, a, x[0].shape[2:]), zeros, x[0])


def global_max_pool(x, a, c):
    some(x, c)
    if not x[0].dtype.is_floating_point:
        raise Skip("integers (PyTorch)")
    n = x[0].dim() - 2
    return [F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d][n - 1](x[0], [1] * n) \
        if n <= 3 else torch.amax(x[0], tuple(range(2, n + 2)), True)


def adaptive(*kinds):
    def run(x, a, c):
        some(x, c)
        if not x[0].dtype.is_floating_point:
            raise Skip("integers (PyTorch)")
        return kinds[x[0].dim() - 3](x[0], c.shapes[0][2:])
    return run


def global_avg_pool(x, a, c):
    return x[0].mean(tuple(range(2, x[0].dim())), keepdim=True)


# ---- resizing ----

def interpolation(a, lengths, sizes):
    """(PyTorch's name of the mode, whether corners are aligned)."""
    where = a["coordinates"]
    if where == "pytorch_half_pixel" and 1 not in sizes:
        where = "half_pixel"
    if a["mode"] == "nearest":
        modes = {("asymmetric", "floor"): "nearest", ("half_pixel", "round_prefer_ceil"): "nearest-exact"}
        if (where, a["rounding"]) in modes:
            return modes[where, a["rounding"]], None
    elif where in ("half_pixel", "align_corners"):
        if a["mode"] == "linear":
            return ["linear", "bilinear", "trilinear"][len(lengths) - 1], where == "align_corners"
        if len(lengths) < 3 and a["a"] == -0.75:
            return "bicubic", where == "align_corners"
    raise Skip("coordinates or a rounding that PyTorch does not have")


def resized(x, a, sizes):
    if not x.dtype.is_floating_point:
        raise Skip("integers (PyTorch)")
    mode, corners = interpolation(a, x.shape[2:], sizes)
    flat = mode == "bicubic" and x.dim() == 3
    x, sizes = (x[:, :, None], [1, *sizes]) if flat else (x, list(sizes))
    named = {"size": sizes}
    if a["scale"]:
        named = {"scale_factor": [1.0, a["scale"]] if flat else a["scale"], "recompute_scale_factor": False}
    y = F.interpolate(x, mode=mode, align_corners=corners, **named)
    return y[:, :, 0] if flat else y


def resize(x, a, c):
    some(x, c)
    return resized(x[0], a, c.shapes[0][2:])


def resize_grad(x, a, c):
    some(x, c)
    zeros = torch.zeros(c.shapes[0], dtype=torch.float64)
    return through(lambda v: resized(v, a, x[0].shape[2:]), zeros, x[0])


# ---- norms ----

def rms_norm(x, a, c):
    """rms_norm from simpler operations, because PyTorch has it only since 2.4 and Debian 12 offers 1.13."""
    y = x[0] * torch.rsqrt(x[0].square().mean(dim=-1, keepdim=True) + a["eps"])
    return y * x[1] if len(x) > 1 else y


def instance_norm(x, a, c):
    some(x, c)
    if x[0][0, 0].numel() == 1:
        raise Skip("statistics of one number (PyTorch)")
    return F.instance_norm(x[0], weight=x[1] if len(x) > 1 else None, bias=x[2] if len(x) > 2 else None,
                           eps=a["eps"])


def group_norm(x, a, c):
    some(x, c)
    if x[0].numel() == a["groups"] * len(x[0]):
        raise Skip("statistics of one number (PyTorch)")
    return F.group_norm(x[0], a["groups"], *x[1:], eps=a["eps"])


def positive(a):
    if a["eps"] <= 0:
        raise Skip("an eps that PyTorch does not have")


def batch_norm(x, a, c):
    some(x, c)
    positive(a)
    x, gamma, beta, mean, var = x
    mean, var = mean.detach().clone(), var.detach().clone()
    y = F.batch_norm(x, mean, var, gamma, beta, True, a["momentum"], a["eps"])
    return [y, mean, var]


def batch_norm_inference(x, a, c):
    some(x, c)
    positive(a)
    x, gamma, beta, mean, var = x
    return F.batch_norm(x, mean.detach(), var.detach(), gamma, beta, False, 0.0, a["eps"])


# ---- attention ----

def attention(x, a, c):
    q, k, v, *more = x
    if min(q.numel(), k.numel(), v.numel()) == 0:
        raise Skip("layers of nothing (PyTorch)")
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for t in (k, v))
    bias = [t for t in more if t.dtype.is_floating_point]
    size = float((q.abs() @ k.abs().transpose(-1, -2)).max()) * abs(a["scale"] or q.shape[3] ** -0.5)
    size += float(bias[0].abs().max()) if bias and bias[0].numel() else 0
    shape = (*q.shape[:3], k.shape[2])
    seen = torch.tensor(keys_seen(shape, [t.detach().numpy() for t in more], a)[0]).expand(shape)
    some_key = seen.any(dim=-1, keepdim=True)
    mask = torch.zeros(shape, dtype=torch.float64) + (bias[0] if bias else 0)
    mask = torch.where(seen | ~some_key, mask, -np.inf)
    # Attention is computed from simpler operations, because PyTorch has it as one function only since 2.0 and Debian 12
    # offers 1.13.
    scores = q @ k.transpose(-1, -2) * (a["scale"] or q.shape[3] ** -0.5) + mask
    y = torch.softmax(scores, dim=-1) @ v
    # An absolute error of attention's scores is a relative error of its weights.
    return Loose([torch.where(some_key, y, 0.0)], 2 * EPS["f32"] * size * float(v.abs().max()), size > 200)


def rope(x, a, c):
    """Rotary positions: the angles are those of f32; PyTorch computes the rotation and its gradient."""
    x, position = x
    d = a["width"] or x.shape[-1]
    exponent = torch.arange(0, d, 2).float() / d
    power = torch.pow(torch.tensor(a["base"]).float().double(), exponent.double()).float()
    angle = (position.float()[..., None] * (1 / power)).double()
    first = slice(0, d, 2) if a["interleaved"] else slice(0, d // 2)
    second = slice(1, d, 2) if a["interleaved"] else slice(d // 2, d)
    turned = torch.complex(x[..., first], x[..., second]) * torch.polar(torch.ones_like(angle), angle)
    y = x.clone()
    y[..., first], y[..., second] = turned.real, turned.imag
    return y


# ---- losses ----

def class_loss(f):
    def run(x, a, c):
        smooth = {"label_smoothing": a["smoothing"]} if a.get("smoothing", 0) else {}
        reduction = a.get("reduction", "mean")
        y = f(x[0].reshape(-1, x[0].shape[-1]), x[1].reshape(-1).long(), ignore_index=a["ignore"],
              weight=x[2].detach() if len(x) > 2 else None, reduction=reduction, **smooth)
        return y.reshape(x[1].shape) if reduction == "none" else y
    return run


def loss(f, *names):
    def run(x, a, c):
        reduction = {"batch": "batchmean"}.get(a["reduction"], a["reduction"])
        return f(*x, reduction=reduction, **{n: a[n] for n in names})
    return run


class Bce(torch.autograd.Function):
    """A loss that PyTorch refuses outside of 0..1; its gradient exists there and is compared."""

    @staticmethod
    def forward(ctx, x, t, reduction):
        ctx.save_for_backward(x, t)
        ctx.how = ("none", "mean", "sum").index(reduction)
        e = (t - 1) * torch.log1p(-x).clamp(min=-100) - t * torch.log(x).clamp(min=-100)
        return {"none": e, "mean": e.mean(), "sum": e.sum()}[reduction]

    @staticmethod
    def backward(ctx, dy):
        return torch.ops.aten.binary_cross_entropy_backward(dy, *ctx.saved_tensors, None, ctx.how), None, None


def bce(x, t, reduction):
    if all(bool(((v >= 0) & (v <= 1)).all()) for v in (x, t)):
        return F.binary_cross_entropy(x, t, reduction=reduction)
    return Bce.apply(x, t, reduction)


# ---- quantisation ----

def of_tensor(x, c, kind):
    """(scale, zero point, PyTorch's type) of a whole tensor."""
    x, scale, zp = x
    if scale.dim() or zp.dim() or not 0 < float(scale) < np.inf:
        raise Skip("scales that PyTorch does not have")
    return x, float(scale), int(zp), torch.qint8 if kind == "i8" else torch.quint8


def quantize(x, a, c):
    x, scale, zp, kind = of_tensor(x, c, c.types[2])
    return torch.quantize_per_tensor(x.detach().float(), scale, zp, kind).int_repr()


def dequantize(x, a, c):
    q, scale, zp, _ = of_tensor(x, c, c.types[0])
    return torch._make_per_tensor_quantized_tensor(q, scale, zp).dequantize().double()


def fake_quantize(x, a, c):
    x, scale, zp = x
    if scale.dim() != zp.dim() or not bool((scale > 0).all()):
        raise Skip("scales that PyTorch does not have")
    low, high = (-128, 127) if c.types[2] == "i8" else (0, 255)
    scale, zp = scale.detach().float(), zp.int()
    if scale.dim() == 0:
        return torch.fake_quantize_per_tensor_affine(x.float(), scale, zp, low, high).double()
    axis = a["axis"] % x.dim()
    return torch.fake_quantize_per_channel_affine(x.float(), scale, zp, axis, low, high).double()


# ---- cells ----

def recurrent(states, cell):
    def run(x, a, c):
        x, w, u, *more = x
        if min(v.numel() for v in (x, w, u)) == 0:
            raise Skip("layers of nothing (PyTorch)")
        both = a["direction"] == "both"
        floats = [v for v in more if v.dtype.is_floating_point]
        lengths = [v for v in more if not v.dtype.is_floating_point]
        groups = [[w, u], [v for v in floats if v.dim() == w.dim() - 1], [v for v in floats if v.dim() == w.dim()]]
        many = lengths[0].clamp(max=len(x)) if lengths else torch.full((x.shape[1],), len(x))
        runs = []
        for i in range(2 if both else 1):
            (wi, ui), biases, start = [[v[i] for v in g] if both else g for g in groups]
            start = list(start) or [torch.zeros(x.shape[1], ui.shape[0], dtype=x.dtype)] * states
            weights = [wi.T, ui.T, *(biases or [None, None])]
            runs.append(one_way(x, start, weights, many, i == 1 or a["direction"] == "reverse", (cell, a)))
        y = torch.cat([r[0] for r in runs], dim=-1)
        ends = [torch.stack([r[1][j] for r in runs]) if both else runs[0][1][j] for j in range(states)]
        return Loose([y] + ends, 4 * EPS["f32"] * max(r[2] for r in runs))
    return run


def one_way(x, now, weights, many, back, how):
    """y, the last states, and the largest sum of magnitudes in a gate, which bounds the gate's rounding error."""
    cell, a = how
    y, size = [None] * len(x), 0.0
    sizes = [v.detach().abs() for v in weights if v is not None]
    for t in reversed(range(len(x))) if back else range(len(x)):
        live = (t < many)[:, None]
        new = cell(x[t], now, weights, a)
        gate = x[t].detach().abs() @ sizes[0].T + now[0].detach().abs() @ sizes[1].T + sum(sizes[2:])
        size = max(size, float(gate.max()))
        y[t] = torch.where(live, new[0], 0.0)
        now = [torch.where(live, n, o) for n, o in zip(new, now)]
    return torch.stack(y), now, size


def rnn_cell(x, now, weights, a):
    return [(torch.rnn_relu_cell if a["activation"] == "relu" else torch.rnn_tanh_cell)(x, now[0], *weights)]


def gru_cell(x, now, weights, a):
    if a["reset_before"]:
        raise Skip("a reset before the product (PyTorch)")
    return [torch.gru_cell(x, now[0], *weights)]


def dropout(x, a, c):
    """Dropout with the draws of peer_composed.py; PyTorch computes the scaling and the gradient."""
    drawn = uniform_of([x[1].numpy(), x[2].numpy()], a, c)
    kept = torch.tensor(drawn >= np.float32(a["p"]))
    return torch.where(kept, x[0] / (1 - a["p"]) if a["p"] < 1 else x[0], 0.0)


LAYERS = {
    "conv": conv, "conv_int": conv_int, "conv_transpose": conv_transpose, "conv_weight_grad": conv_weight_grad,
    "max_pool": max_pool, "max_pool_index": lambda x, a, c: max_pool(x, a, c, 1), "avg_pool": avg_pool,
    "max_pool_grad": max_pool_grad, "avg_pool_grad": avg_pool_grad, "global_max_pool": global_max_pool,
    "adaptive_avg_pool": adaptive(F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d),
    "adaptive_max_pool": adaptive(F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d),
    "global_avg_pool": global_avg_pool, "resize": resize, "resize_grad": resize_grad,
    "softmax": lambda x, a, c: torch.softmax(x[0], a["axis"]),
    "log_softmax": lambda x, a, c: torch.log_softmax(x[0], a["axis"]),
    "layer_norm": lambda x, a, c: F.layer_norm(
        x[0], x[1].shape if len(x) > 1 else x[0].shape[-1:], *x[1:], eps=a["eps"]),
    "rms_norm": rms_norm, "instance_norm": instance_norm, "group_norm": group_norm,
    "batch_norm": batch_norm, "batch_norm_inference": batch_norm_inference,
    "attention": attention, "rope": rope, "cross_entropy": class_loss(F.cross_entropy),
    "nll": class_loss(F.nll_loss), "mse": loss(F.mse_loss), "l1": loss(F.l1_loss),
    "huber": loss(F.huber_loss, "delta"), "smooth_l1": loss(F.smooth_l1_loss, "beta"), "bce": loss(bce),
    "bce_with_logits": loss(F.binary_cross_entropy_with_logits), "kl_div": loss(F.kl_div),
    "quantize": quantize, "dequantize": dequantize, "fake_quantize": fake_quantize, "dropout": dropout, "rnn": recurrent(1, rnn_cell),
    "lstm": recurrent(2, lambda x, now, weights, a: torch.lstm_cell(x, now, *weights)),
    "gru": recurrent(1, gru_cell),
}
