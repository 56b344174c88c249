# SPDX-License-Identifier: Apache-2.0
"""peer_more.py - peers of einsum, linear_int, the adaptive pools and diag, for the tables of
peer_tables.py, whose helpers `t` holds."""
import math

import numpy as np


def numpy_table(t):
    def einsum(x, a, c):
        equation, dtype = a["equation"], c.types[0]
        sizes = [t.finite_size(v) for v in x]
        if len(x) > 2 and any(np.any((s > 1e3) | ((s < 1e-3) & (s > 0))) or not np.all(np.isfinite(v))
                              for s, v in zip(sizes, x)):
            t.raise_skip("einsum of three operands that round to nothing or infinity on the way")
        alone = any(sum(label in term for term in equation.replace("->", ",").split(",")) == 1
                    for label in set(equation) - set(",->. "))
        if len(x) == 2 and alone and not all(np.all(np.isfinite(v)) for v in x):
            t.raise_skip("infinities along a label of one operand, which NumPy sums beforehand")
        limit = len(x) * t.sum_limit(np.einsum(equation, *sizes), 256, dtype)
        limit = limit + 256 * np.finfo(t.NP[dtype]).smallest_subnormal
        return np.einsum(equation, *map(t.up, x)), limit

    def linear_int(x, a, c):
        wide = [v.astype(np.int64) for v in x] + [np.int64(0)] * (5 - len(x))
        return ((wide[0] - wide[2]) @ (wide[1] - wide[3]) + wide[4]).astype(np.int32)

    def windows(x, to):
        """Each window of each plane, with its place in the result."""
        sizes = t.each(to, x.ndim - 2, 1)
        for p in np.ndindex(*sizes):
            cut = tuple(slice(i * d // n, -(-(i + 1) * d // n)) for i, d, n in zip(p, x.shape[2:], sizes))
            window = x[(slice(None), slice(None)) + cut]
            yield p, window.reshape(x.shape[:2] + (math.prod(window.shape[2:]),))

    def adaptive_avg(x, a, c):
        y = np.zeros(c.shapes[0], t.up(x[0]).dtype)
        limit = np.zeros(c.shapes[0])
        for p, w in windows(x[0], a["to"]):
            at, n = (slice(None), slice(None)) + p, max(w.shape[-1], 1)
            y[at] = t.up(w).sum(-1) / w.shape[-1] if w.shape[-1] else np.nan
            limit[at] = (t.sum_limit(t.finite_size(w).sum(-1), 32, c.types[0]) + np.abs(y[at]) * t.EPS[c.types[0]]) / n
        return y, np.where(np.isnan(limit), np.inf, limit)

    def adaptive_max(x, a, c):
        y = np.zeros(c.shapes[0], x[0].dtype)
        for p, w in windows(x[0], a["to"]):
            best = w[..., 0]
            for j in range(1, w.shape[-1]):
                best = t.greater(best, w[..., j])
            y[(slice(None), slice(None)) + p] = best
        return y

    return {"einsum": ("sum", einsum), "linear_int": ("bits", linear_int),
            "adaptive_avg_pool": ("sum", adaptive_avg), "adaptive_max_pool": ("bits", adaptive_max),
            "diag": ("bits", lambda x, a, c: np.diag(x[0], a["k"]))}


def torch_table(t, torch, F):
    def adaptive(x, a, c, kinds):
        n = x[0].dim() - 2
        to = t.each(a["to"], n, 1)
        if not x[0].dtype.is_floating_point or x[0].numel() == 0 or 0 in to:
            t.raise_skip("a pool PyTorch does not have")
        return kinds[n - 1](x[0], to)

    return {"einsum": lambda x, a, c: torch.einsum(a["equation"], *x),
            "diag": lambda x, a, c: torch.diag(x[0], a["k"]),
            "adaptive_avg_pool": lambda x, a, c: adaptive(
                x, a, c, [F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d]),
            "adaptive_max_pool": lambda x, a, c: adaptive(
                x, a, c, [F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d])}
