#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py --binary CTS - compares the reference with NumPy, and with PyTorch if it is installed.

The program cts dumps cases, which are evaluated here node by node with the functions of the tables: peer_numpy.py,
peer_composed.py and peer_windows.py for NumPy, peer_torch.py and peer_torch_layers.py for PyTorch, peer_elementwise.py
for both. PyTorch computes in f64, and its autograd is compared with the gradients. The peers are not exact, so each
op has a bound; a difference beyond it is a mistake in Volta or in the table.

  bits    the same bits, with all NaN equal: movement, integers, and single IEEE operations, which the peer
          computes one by one in the type of the op
  ulp     one unit in the last place; the peer computes functions in a wider type
  sum     (length of a chain + 40) * eps * sum of magnitudes: sums and contractions, which the peer adds in
          another order
  close   1e-5 (f64: 1e-12) of the sum of 0.01 and the largest magnitude in the result, because a small result may
          be the difference of larger numbers: compositions in a wider type; the table adds a limit if an error of
          an intermediate value is magnified
  grad    the same with 3e-5 (f64: 1e-11), because a gradient cancels more: comparison with PyTorch's autograd
  steep   the same with 3e-4 (f64: 1e-10), and 3e-5 more for cells: gradients that magnify errors, see STEEP

`bits` and `ulp` are compared on all values, `sum` on all but the widest, the others on ordinary values. An op that no
peer compares must be excused in peer_excuses.py, and so must an op whose gradient autograd does not compare.
--break OP changes the results of one op, to test that this is noticed; --break all changes those of each op, and fails
if one is not noticed. Exit 77: NumPy is not installed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError:
    DEBIAN = "/usr/bin/python3"  # the package python3-numpy installs for this Python, which may not be first in PATH
    if os.path.exists(DEBIAN) and not os.path.samefile(sys.executable, DEBIAN):
        os.execv(DEBIAN, [DEBIAN, "-B", *sys.argv])
    print("SKIPPED: NumPy is not installed")
    sys.exit(77)

import peer_elementwise
import peer_excuses
import peer_torch
from peer_composed import COMPOSED
from peer_model import Model, Skip, evaluate
from peer_numpy import NUMPY
from peer_windows import WINDOWS

HERE = pathlib.Path(__file__).resolve().parent
TOO_MANY_AXES = "bf16 of rank 8, which npy files cannot have"
CALM = {"ordinary", "flat", "few", "zeros"}
DTYPE = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
         "i64": np.int64, "bool": np.bool_, "f16": np.float16, "bf16": np.uint16}
LOOSER = ["bits", "ulp", "sum", "close"]
LIMIT = {"close": {4: 1e-5, 8: 1e-12}, "grad": {4: 3e-5, 8: 1e-11},
         "steep": {4: 3e-4, 8: 1e-10}}
# Ops whose gradients magnify errors, with a number that is added to the error limit. In attention an error of a score
# is an error of an exponent. In cells, 1 - h*h of a saturated gate is only rounding, and is multiplied by the weights
# of every earlier step.
STEEP = {"attention": 0.0, "rnn": 3e-5, "lstm": 3e-5, "gru": 3e-5}


def load(folder, kind, name):
    raw = folder / f"{kind}.{name}.bf16.npy"
    if raw.exists():
        bits = np.load(raw).view(np.uint16)[..., 0]
        return np.where((bits & 0x7fff) > 0x7f80, np.uint16(0x7fc0), bits)  # all NaN are equal
    return np.load(folder / f"{kind}.{name}.npy")


def ports(folder):
    names = [p.name[3:].removesuffix(".npy").removesuffix(".bf16") for p in folder.glob("in.*.npy")]
    return {name: load(folder, "in", name) for name in names}


def wide(x):
    return x.astype(np.longdouble if x.dtype == np.float64 else np.float64)


def same_bits(got, want):
    if got.dtype.kind == "f":
        nan = np.isnan(got) & np.isnan(want)
        bits = f"u{got.dtype.itemsize}"
        return nan | (got.view(bits) == want.astype(got.dtype).view(bits))
    return got == want


def errors(got, want, bound, scale):
    """The error of each element in units of the bound; `want` is in a wider type unless the bound is bits."""
    if bound == "bits" or got.dtype.kind != "f":
        fits = same_bits(np.ascontiguousarray(got), np.ascontiguousarray(want)).reshape(got.shape)
        return np.where(fits, 0.0, np.inf)
    narrow = np.asarray(want).astype(got.dtype)
    equal = (np.isnan(got) & np.isnan(narrow)) | (got == narrow)
    finite = np.isfinite(got) & np.isfinite(narrow)
    error = np.abs(wide(got) - want)
    if bound == "ulp":
        limit = np.spacing(np.abs(narrow)).astype(np.float64)
    elif bound == "sum":
        # The rounding error of subnormals is absolute: up to the smallest subnormal, however small the terms of the
        # sum.
        limit = scale + 16 * float(np.finfo(got.dtype).smallest_subnormal)
    else:
        top = np.max(np.abs(narrow[np.isfinite(narrow)]), initial=0.0)
        limit = LIMIT[bound][got.dtype.itemsize] * (top + 1e-2) + scale
    units = np.where(finite, error / np.where(limit == 0, 1e-300, limit), np.inf)
    return np.where(equal | np.isinf(limit), 0.0, units).astype(np.float64)


class Value:
    """A value of NumPy: `array` is rounded to the type, for the next node; `raw` is unrounded, for the comparison."""

    def __init__(self, array, dtype, bound="bits", scale=0.0):
        self.raw, self.bound, self.scale = np.asarray(array), bound, scale
        self.array = self.raw.astype(DTYPE[dtype], copy=False)


class NumPy:
    table = {**peer_elementwise.NUMPY, **NUMPY, **COMPOSED, **WINDOWS}

    def apply(self, node, operands):
        if node.op not in self.table:
            raise Skip(f"NumPy has no function for {node.op}")
        kind, function = self.table[node.op]
        result = function([o.array for o in operands], node.attrs, node.context)
        results = result if isinstance(result, list) else [result]
        before = [o.bound for o in operands if o.bound != "bits"]
        loose = any(o.array.dtype.kind == "f" for o in operands)
        bound = "close" if before else kind if loose else "bits"
        return [Value(r[0], d, bound, r[1]) if isinstance(r, tuple) else Value(r, d, bound)
                for r, d in zip(results, node.dtypes)]

    def index(self, i):
        return Value(i, "i64")

    def row(self, value, i):
        return Value(value.array[i], self.name(value), self.after(value))

    def stack(self, values, dtype, shape):
        if not values:
            return Value(np.zeros(shape), dtype)
        bound = "close" if any(v.bound != "bits" for v in values) else "bits"
        return Value(np.stack([v.array for v in values]), dtype, bound)

    def truth(self, value):
        return bool(value.array)

    @staticmethod
    def after(value):
        return "bits" if value.bound == "bits" else "close"

    @staticmethod
    def name(value):
        return next(k for k, v in DTYPE.items() if v == value.array.dtype)


def idle(op, peer, compared, excuses):
    if compared == (op in excuses):
        yield f"{op}: " + (f"excused from {peer}, but compared" if compared else f"not compared with {peer}")


class Tally:
    """The comparisons of one op."""

    def __init__(self):
        self.cases, self.gradients, self.bounds = 0, 0, set()
        self.outputs = {"NumPy": 0, "PyTorch": 0, "autograd": 0}
        self.worst = {"NumPy": 0.0, "PyTorch": 0.0, "autograd": 0.0}


class Peers:
    def __init__(self, spoil, whole):
        self.broken, self.whole = spoil, whole
        self.tally, self.failed, self.skipped = {}, [], {}
        self.numpy = NumPy()
        self.torch = peer_torch.Torch() if peer_torch.torch else None

    def spoil(self, model, got):
        if self.broken != "all" and self.broken not in [n.op for n in model.nodes]:
            return got
        return ~got if got.dtype.kind == "b" else got + (1 if got.dtype.kind != "f" else 1e-2)

    def compare(self, peer, name, output, got, want, bound, scale=0.0):
        want, tally = np.asarray(want), self.tally[self.op]
        if want.shape != got.shape:
            self.failed.append(f"{name} {output}: shape {got.shape}, {peer} has {want.shape}")
            return
        units = errors(got, want, bound, scale)
        tally.bounds |= {bound} if peer == "NumPy" else set()
        tally.outputs[peer] += got.size > 0  # an empty output shows nothing
        worst = float(np.max(units, initial=0.0))
        if worst <= 1:
            tally.worst[peer] = max(tally.worst[peer], worst)
            return
        at = tuple(np.argwhere(~(units <= 1))[0])
        self.failed.append(f"{name} {output}{list(map(int, at))}: {got[at]!r}, {peer} has "
                           f"{want[at]!r} (bound: {bound})")

    def run_numpy(self, folder, name, mix, model):
        values = {k: Value(v, model.ports[k]) for k, v in ports(folder).items()}
        if set(model.ports) - set(values):
            raise Skip(TOO_MANY_AXES)
        with np.errstate(all="ignore"):
            evaluate(model, values, self.numpy)
        for output, source in model.outputs.items():
            value = values[source]
            if (value.bound == "close" and mix not in CALM) or (value.bound == "sum" and mix == "wide"):
                self.skip("values beyond the bound")
                continue
            got = self.spoil(model, load(folder, "out", output))
            want = value.array if value.bound == "bits" else value.raw
            self.compare("NumPy", name, output, got, want, value.bound, value.scale)

    def run_torch(self, folder, name, mix, model, gradient):
        if mix != "ordinary":
            raise Skip("values beyond the ordinary (PyTorch)")
        values = self.torch.values(ports(folder), model.ports)
        evaluate(model, values, self.torch)
        if gradient:
            for key, want in self.torch.gradients(folder, model, values, load).items():
                got = self.spoil(model, load(folder, "out", f"dx.{key}"))
                want = np.zeros(got.shape) if want is None else want
                self.compare("autograd", name, f"dx.{key}", got, want, "steep" if self.op in STEEP else "grad",
                           STEEP.get(self.op, 0.0))
            return
        for output, source in model.outputs.items():
            got = self.spoil(model, load(folder, "out", output))
            want = values[source].raw.detach().numpy()
            want = want.astype(got.dtype) if got.dtype.kind != "f" else want
            self.compare("PyTorch", name, output, got, want, "close", values[source].scale)

    def skip(self, why):
        self.skipped.setdefault(why, []).append(self.op)

    def case(self, folder):
        name, mix = (folder / "name").read_text(), (folder / "mix").read_text()
        gradient = (folder / "forward.vt").exists()
        self.op = re.split(r"[./]", name)[0]
        tally = self.tally.setdefault(self.op, Tally())
        tally.cases += 1
        tally.gradients += gradient
        if (folder / "range").exists():
            self.skip("an index out of range")
            return
        if not list(folder.glob("out.*")):
            self.skip(TOO_MANY_AXES)
            return
        model = Model((folder / ("forward.vt" if gradient else "model.vt")).read_text())
        if not gradient:
            self.attempt("NumPy", name, self.run_numpy, folder, name, mix, model)
        if self.torch:
            self.attempt("PyTorch", name, self.run_torch, folder, name, mix, model, gradient)

    def attempt(self, peer, name, run, *arguments):
        try:
            run(*arguments)
        except Skip as why:
            self.skip(str(why))
        except (ValueError, IndexError, KeyError, TypeError, RuntimeError, AttributeError) as problem:
            self.failed.append(f"{name}: {peer}: {type(problem).__name__}: {problem}")

    def unexcused(self):
        """Yields ops that no peer compares and no excuse covers, and excuses that are no longer needed."""
        for op, t in sorted(self.tally.items()):
            compared = t.outputs["NumPy"] + t.outputs["PyTorch"] > 0
            yield from idle(op, "a peer", compared, peer_excuses.OPS)
            if self.torch and self.whole:  # the short form has too few cases for this
                yield from idle(op, "PyTorch", t.outputs["PyTorch"] > 0, peer_excuses.TORCH)
                if t.gradients:
                    yield from idle(op, "autograd", t.outputs["autograd"] > 0, peer_excuses.GRADIENTS)

    def table(self):
        print(f"{'op':22}{'cases':>7}  {'bound':6}{'NumPy':>8}{'worst':>8}{'PyTorch':>9}{'worst':>8}{'autograd':>10}{'worst':>8}")
        for op, t in sorted(self.tally.items()):
            line = f"{op:22}{t.cases:7}  {max(t.bounds, key=LOOSER.index, default='-'):6}"
            for peer, space in (("NumPy", 8), ("PyTorch", 9), ("autograd", 10)):
                n = t.outputs[peer]
                line += f"{n or '-':>{space}}" + (f"{t.worst[peer]:8.2g}" if n else f"{'-':>8}")
            print(line)

    def noticed(self):
        """The exit code of --break all: every op must have failed."""
        failed = {re.split(r"[./: ]", line)[0] for line in self.failed}
        missed = sorted(set(self.tally) - failed)
        print(f"changed: {len(self.tally)} ops, not noticed: {' '.join(missed) or 'none'}")
        return 1 if missed or not self.tally else 0

    def report(self):
        if self.broken == "all":
            return self.noticed()
        self.table()
        print("\nnot compared (cases): " + "; ".join(
            f"{why} {len(ops)}" for why, ops in sorted(self.skipped.items())))
        for title, excuses in (("neither peer has", peer_excuses.OPS), ("PyTorch lacks", peer_excuses.TORCH),
                               ("autograd lacks", peer_excuses.GRADIENTS)):
            for op, why in sorted(excuses.items()):
                if op in self.tally:
                    print(f"{title} {op}: {why}")
        self.failed += self.unexcused()
        ops = {}
        for line in self.failed:
            ops.setdefault(re.split(r"[./: ]", line)[0], []).append(line)
        for op, lines in ops.items():
            print("\n".join(f"FAILED {line}" for line in lines[:8]))
            if len(lines) > 8:
                print(f"FAILED {op}: {len(lines) - 8} more")
        for peer in ("NumPy", "PyTorch", "autograd"):
            parts = [t.outputs[peer] for t in self.tally.values()]
            print(f"{peer}: {sum(parts)} outputs of {sum(n > 0 for n in parts)} ops compared")
        if self.torch is None:
            print("PyTorch is not installed: only NumPy is compared")
        print(f"peers: {len(self.failed)} failed")
        return 1 if self.failed or not self.tally else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, help="the built cts")
    parser.add_argument("--short", nargs="?", const="yes", help="the short form; =env: unless VOLTA_TEST_FULL is set")
    parser.add_argument("--only", action="append", default=[], help="the option --only of cts")
    parser.add_argument("--break", dest="spoil", help="an op whose results are changed, or all")
    arguments = parser.parse_args()
    short = arguments.short == "yes" or (arguments.short == "env" and not os.environ.get("VOLTA_TEST_FULL"))
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    peers = Peers(arguments.spoil, not short)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, because there are many small files
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        command = [arguments.binary, "--cases", str(HERE), "--dump", folder]
        command += ["--short"] if short else []
        for pattern in arguments.only:
            command += ["--only", pattern]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-2000:] + done.stderr[-2000:])
            return 1
        for case in sorted(pathlib.Path(folder).iterdir()):
            peers.case(case)
    return peers.report()


if __name__ == "__main__":
    sys.exit(main())
