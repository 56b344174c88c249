#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py --binary CTS - the reference against NumPy, and against PyTorch where it is installed.

Cases are dumped by the conformance program and evaluated here node by node with the functions of
the tables in peer_tables.py. The peers are not exact, so each op has a bound; a disagreement beyond
it is a mistake in Volta or in the table.

  bits    the same bits, NaN being one value: movement, integers, one IEEE operation
  ulp     one unit in the last place, the peer computing in a wider type: functions
  sum     (length of a chain + 40) * eps * sum of magnitudes: sums and contractions
  close   1e-5 (f64: 1e-12) of the largest magnitude in the result plus 0.01, since a small result
          may be the difference of larger numbers: compositions; attention and cross_entropy add
          what an error of their scores makes
  grad    the same with 3e-4 (f64: 1e-9), since a gradient cancels more: against PyTorch's autograd

`bits` and `ulp` are compared on all values, `sum` on all but the widest, the others on ordinary
values. --break OP spoils the results of one op, to see that it is noticed. Exit 77: no NumPy.
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
    print("SKIPPED: NumPy is not installed")
    sys.exit(77)

import peer_tables

HERE = pathlib.Path(__file__).resolve().parent
CALM = {"ordinary", "flat", "few", "zeros"}
LOOSER = ["bits", "ulp", "sum", "close"]
DTYPE = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
         "i64": np.int64, "bool": np.bool_, "f16": np.float16, "bf16": np.uint16}

TARGET = re.compile(r"([\w.]+): (\w+)\[([^\]]*)\]")


class Skip(Exception):
    """This case has no equivalent, and why."""


class Node:
    def __init__(self, targets, op, operands, attrs):
        self.targets, self.op, self.operands, self.attrs = targets, op, operands, attrs


def cut(text):
    """Splits at the commas outside of brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        quoted ^= c == '"'
        if c == "," and depth == 0 and not quoted:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def value(text):
    if text.startswith("["):
        return [value(v) for v in cut(text[1:-1])]
    if text.startswith('"'):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float, float.fromhex):
        try:
            return read(text)
        except ValueError:
            pass
    return text


class Model:
    """The printed form: one op a line."""

    def __init__(self, text):
        self.types, self.ports, self.nodes, self.outputs = {}, {}, [], {}
        for line in text.splitlines()[2:]:
            line = line.strip()
            if line.endswith("{") or line.startswith("give "):
                raise Skip("bodies")
            if line.startswith(("input ", "param ")):
                name, dtype, _ = TARGET.match(line.split(" ", 1)[1]).groups()
                self.types[name] = self.ports[name] = dtype
            elif line.startswith("output "):
                name, _, source = line[7:].partition(" = ")
                self.outputs[name] = source or name
            elif " = " in line:
                self.node(line)

    def node(self, line):
        left, right = line.split(" = ", 1)
        targets = TARGET.findall(left)
        op, inside = re.fullmatch(r"(\w+)\((.*)\)", right).groups()
        if op in DTYPE:
            op, inside = "literal", f"dtype={op}, value={inside}"
        words = cut(inside)
        attrs = dict(w.split("=", 1) for w in words if "=" in w)
        self.nodes.append(Node([t[0] for t in targets], op, [w for w in words if "=" not in w],
                               {k: value(v) for k, v in attrs.items()}))
        self.nodes[-1].shapes = [[int(d) for d in t[2].split(",") if d.strip()] for t in targets]
        for name, dtype, _ in targets:
            self.types[name] = dtype


def load(folder, kind, name):
    raw = folder / f"{kind}.{name}.bf16.npy"
    if raw.exists():
        bits = np.load(raw).view(np.uint16)[..., 0]
        return np.where((bits & 0x7fff) > 0x7f80, np.uint16(0x7fc0), bits)  # NaN is one value
    return np.load(folder / f"{kind}.{name}.npy")


def wide(x):
    return x.astype(np.longdouble if x.dtype == np.float64 else np.float64)


def same_bits(got, want):
    if got.dtype.kind == "f":
        nan = np.isnan(got) & np.isnan(want)
        bits = f"u{got.dtype.itemsize}"
        return nan | (got.view(bits) == want.astype(got.dtype).view(bits))
    return got == want


def within(got, want, bound, scale):
    """Elements that fit; `want` is in a wider type unless the bound is bits."""
    if bound == "bits" or got.dtype.kind not in "f":
        return same_bits(np.ascontiguousarray(got), np.ascontiguousarray(want)).reshape(got.shape)
    narrow = np.asarray(want).astype(got.dtype)
    equal = (np.isnan(got) & np.isnan(narrow)) | (got == narrow)
    finite = np.isfinite(got) & np.isfinite(narrow)
    error = np.abs(wide(got) - want)
    if bound == "ulp":
        limit = np.spacing(np.abs(narrow)).astype(np.float64)
    elif bound == "sum":
        limit = scale
    else:
        eps = {"close": {4: 1e-5, 8: 1e-12}, "grad": {4: 3e-4, 8: 1e-9}}[bound][got.dtype.itemsize]
        top = np.max(np.abs(narrow[np.isfinite(narrow)]), initial=0.0)
        limit = eps * (top + 1e-2) + scale
    return equal | (finite & (error <= limit)) | np.isinf(limit)


class Peers:
    def __init__(self, arguments):
        self.arguments = arguments
        self.compared, self.failed, self.skipped = {}, [], {}
        self.torch = peer_tables.torch_table()

    def skip(self, why):
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def spoil(self, model, got):
        if self.arguments.spoil not in [n.op for n in model.nodes]:
            return got
        return ~got if got.dtype.kind == "b" else got + (1 if got.dtype.kind != "f" else 1e-2)

    def judge(self, peer, name, op, output, got, want, bound, scale):
        want = np.asarray(want)
        if want.shape != got.shape:
            self.failed.append(f"{name} {output}: shape {got.shape}, {peer} has {want.shape}")
            return
        fits = within(got, want, bound, scale)
        self.compared.setdefault(peer, {}).setdefault(op, 0)
        self.compared[peer][op] += 1
        if np.all(fits):
            return
        at = tuple(np.argwhere(~fits)[0])
        self.failed.append(f"{name} {output}{list(map(int, at))}: {got[at]!r}, {peer} has "
                           f"{want[at]!r} (bound: {bound})")

    def numpy(self, folder, name, mix, model):
        env, bound = {}, "bits"
        scale = 0.0
        for port in folder.glob("in.*.npy"):
            key = port.name[3:].removesuffix(".npy").removesuffix(".bf16")
            env[key] = load(folder, "in", key)
        if any(t == "bf16" and n not in env for n, t in model.ports.items()):
            raise Skip("bf16 of rank 8")
        for node in model.nodes:
            entry = peer_tables.NUMPY.get(node.op)
            if entry is None:
                raise Skip(node.op)
            kind, function = entry
            loose = any(env[o].dtype.kind == "f" for o in node.operands if o in env)
            operands = [env[o] for o in node.operands]
            types = [model.types[o] for o in node.operands] + [model.types[node.targets[0]]]
            with np.errstate(all="ignore"):
                result = function(operands, node.attrs, peer_tables.Context(types, node.shapes))
            if isinstance(result, tuple):
                result, scale = result
            if loose and kind != "bits":
                bound = kind if bound == "bits" else "close"
            results = result if isinstance(result, list) else [result]
            for target, r in zip(node.targets, results):
                env[target] = np.asarray(r)
            if node is not model.nodes[-1]:
                for t in node.targets:
                    env[t] = env[t].astype(DTYPE[model.types[t]], copy=False)
        self.check_numpy(folder, name, mix, model, env, bound, scale)

    def check_numpy(self, folder, name, mix, model, env, bound, scale):
        if (bound == "close" and mix not in CALM) or (bound == "sum" and mix == "wide"):
            raise Skip("values beyond the bound")
        for output, source in model.outputs.items():
            got = self.spoil(model, load(folder, "out", output))
            want = env[source]
            if bound == "bits":
                want = want.astype(got.dtype, copy=False)
            self.judge("NumPy", name, name.split("/")[0].split(".")[0], output, got, want, bound,
                       scale)

    def run_torch(self, folder, name, mix, model, gradient):
        if self.torch is None or mix != "ordinary":
            return
        import torch
        env = {}
        for port in folder.glob("in.*.npy"):
            key = port.name[3:].removesuffix(".npy")
            if key.endswith(".bf16"):
                raise Skip("bf16")
            x = torch.tensor(load(folder, "in", key))
            env[key] = x.double().requires_grad_() if x.dtype.is_floating_point else x
        for node in model.nodes:
            if node.op not in self.torch:
                raise Skip(f"{node.op} (PyTorch)")
            types = [model.types[o] for o in node.operands] + [model.types[node.targets[0]]]
            if any(t in ("f16", "bf16") for t in types):
                raise Skip("storage types (PyTorch)")
            result = self.torch[node.op]([env[o] for o in node.operands], node.attrs,
                                         peer_tables.Context(types, node.shapes))
            results = result if isinstance(result, (list, tuple)) else [result]
            if model.types[node.targets[0]] == "f32" and node is not model.nodes[-1]:
                results = [r.float().double() for r in results]  # what the next node is given
            env.update(zip(node.targets, results))
        if gradient:
            self.torch_gradient(folder, name, model, env)
            return
        for output, source in model.outputs.items():
            got = self.spoil(model, load(folder, "out", output))
            want = env[source].detach().numpy()
            if got.dtype.kind != "f":
                want = want.astype(got.dtype)
            self.judge("PyTorch", name, name.split("/")[0].split(".")[0], output, got, want, "close", 0)

    def torch_gradient(self, folder, name, model, env):
        import torch
        loss = 0
        for output, source in model.outputs.items():
            if (folder / f"in.dy.{output}.npy").exists():
                loss = loss + (env[source] * torch.tensor(load(folder, "in", f"dy.{output}"))).sum()
        wanted = [p.name[7:-4] for p in sorted(folder.glob("out.dx.*.npy"))]
        for key, dx in zip(wanted, torch.autograd.grad(loss, [env[k] for k in wanted], allow_unused=True)):
            got = self.spoil(model, load(folder, "out", f"dx.{key}"))
            want = np.zeros(got.shape) if dx is None else dx.numpy()
            self.judge("PyTorch", name, name.split("/")[0].split(".")[0], f"dx.{key}", got, want, "grad", 0)

    def case(self, folder):
        name, mix = (folder / "name").read_text(), (folder / "mix").read_text()
        gradient = (folder / "forward.vt").exists()
        if not list(folder.glob("out.*")):
            self.skip("an index out of range")
            return
        for peer in ("numpy", "torch"):
            try:
                model = Model((folder / ("forward.vt" if gradient else "model.vt")).read_text())
                if peer == "torch":
                    self.run_torch(folder, name, mix, model, gradient)
                elif not gradient:
                    self.numpy(folder, name, mix, model)
            except Skip as why:
                self.skip(str(why))
            except (ValueError, IndexError, KeyError, TypeError, RuntimeError) as problem:
                self.failed.append(f"{name}: {peer}: {type(problem).__name__}: {problem}")

    def report(self):
        ops = {}
        for line in self.failed:
            ops.setdefault(re.split(r"[./ ]", line)[0], []).append(line)
        for op, lines in ops.items():
            print("\n".join(f"FAILED {line}" for line in lines[:8]))
            if len(lines) > 8:
                print(f"FAILED {op}: {len(lines) - 8} more")
        for peer, ops in self.compared.items():
            print(f"{peer}: {sum(ops.values())} outputs of {len(ops)} ops compared")
        if self.torch is None:
            print("PyTorch is not installed: its part is left out")
        print("not compared: " + ", ".join(f"{why} {n}" for why, n in sorted(self.skipped.items())))
        print(f"peers: {len(self.failed)} failed")
        return 1 if self.failed or not self.compared else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, help="the built cts")
    parser.add_argument("--short", nargs="?", const="yes", help="the short form; =env by VOLTA_TEST_FULL")
    parser.add_argument("--only", action="append", default=[], help="as for cts")
    parser.add_argument("--break", dest="spoil", help="an op whose results are spoiled")
    arguments = parser.parse_args()
    short = arguments.short == "yes" or (arguments.short == "env" and not os.environ.get("VOLTA_TEST_FULL"))
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    peers = Peers(arguments)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # many small files, each synced
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
