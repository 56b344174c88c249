#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py - the same work by Volta, PyTorch and ONNX Runtime on the CPU, by turns in one run.

Volta runs as `volta bench ... --json` in a process of its own, the others in this one. In each round
everybody has a turn; the best call of all turns is kept, and the median. The work is what the suite
`cpu` has besides products, and GPT-2 with 124 million parameters over 128 tokens. The others get the
parameters that Volta drew for it, and their logits must be Volta's up to rounding before any of them
is timed. A peer that is missing or cannot do a work is left out, and the report says why.
bench/peers.sh makes the Python that this needs.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = "examples/gpt2_124m.vt"
GPT2 = "gpt2_124m B=1,T=128"
TURN_S = 0.3
REST_S = 0.05  # threads of whoever ran before still look for work for a while


# ---- PyTorch -------------------------------------------------------------------------------------

class Gpt2:
    """examples/gpt2_124m.vt in PyTorch; the three projections of attention as one product, which is
    how PyTorch does them fastest."""

    def __init__(self, torch, params):
        self.torch, self.f, self.p = torch, torch.nn.functional, params
        for i in range(12):
            for part, axis in (("weight", 1), ("bias", 0)):
                self.p[f"h.{i}.qkv.{part}"] = torch.cat([params[f"h.{i}.attn.{x}.{part}"] for x in "qkv"], axis)

    def norm(self, name, x):
        return self.f.layer_norm(x, (768,), self.p[name + ".gamma"], self.p[name + ".beta"], 1e-5)

    def linear(self, name, x):
        rows = x.reshape(-1, x.shape[-1])
        y = self.torch.addmm(self.p[name + ".bias"], rows, self.p[name + ".weight"])
        return y.view(*x.shape[:-1], y.shape[-1])

    def attention(self, i, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, 12, 64).transpose(1, 2) for y in self.linear(f"h.{i}.qkv", x).split(768, 2))
        y = self.f.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.linear(f"h.{i}.attn.o", y.transpose(1, 2).reshape(b, t, c))

    def __call__(self, tokens):
        x = self.p["wte.weight"][tokens] + self.p["wpe"][: tokens.shape[1]]
        for i in range(12):
            x = x + self.attention(i, self.norm(f"h.{i}.ln_1", x))
            m = self.f.gelu(self.linear(f"h.{i}.fc", self.norm(f"h.{i}.ln_2", x)), approximate="tanh")
            x = x + self.linear(f"h.{i}.proj", m)
        return self.norm("ln_f", x) @ self.p["wte.weight"].T


class PyTorch:
    name = "PyTorch"

    def __init__(self, data):
        import torch  # where it is missing, the peer is
        self.torch, self.version = torch, f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
        f, t = torch.nn.functional, {name: torch.from_numpy(a) for name, a in data.arrays.items()}
        gpt2 = Gpt2(torch, {name: torch.from_numpy(a) for name, a in data.params.items()}) if data.params else None
        self.gpt2 = gpt2
        self.works = {
            "softmax 1024x1024": lambda: f.softmax(t["x"], dim=-1),
            "layer_norm 1024x1024": lambda: f.layer_norm(t["x"], (1024,), t["gamma"], t["beta"]),
            "gelu 1024x1024": lambda: f.gelu(t["x"]),
            "tanh 1024x1024": lambda: torch.tanh(t["x"]),
            "exp 1024x1024": lambda: torch.exp(t["x"]),
            "conv2d 3x3 64->64 56x56": lambda: f.conv2d(t["image"], t["kernel"], padding=1),
            "attention 12 heads 128x64": lambda: f.scaled_dot_product_attention(t["q"], t["k"], t["v"], is_causal=True),
            GPT2: lambda: gpt2(t["tokens"]),
        }

    def logits(self, tokens):
        with self.torch.inference_mode():
            return self.gpt2(self.torch.from_numpy(tokens)).numpy()

    def turn(self, work, threads):
        self.torch.set_num_threads(threads)
        with self.torch.inference_mode():
            return timed(self.works[work])


# ---- ONNX Runtime --------------------------------------------------------------------------------

class OnnxRuntime:
    name = "ONNX Runtime"

    def __init__(self, data):
        import onnx
        import onnxruntime
        self.onnx, self.runtime, self.a = onnx, onnxruntime, data.arrays
        self.version = f"ONNX Runtime {onnxruntime.__version__}"
        self.works = {
            "softmax 1024x1024": self.node("Softmax", ["x"]),
            "layer_norm 1024x1024": self.node("LayerNormalization", ["x", "gamma", "beta"], weights=["gamma", "beta"]),
            "gelu 1024x1024": self.node("Gelu", ["x"]),
            "tanh 1024x1024": self.node("Tanh", ["x"]),
            "exp 1024x1024": self.node("Exp", ["x"]),
            "conv2d 3x3 64->64 56x56": self.node("Conv", ["image", "kernel"], ["kernel"], pads=[1, 1, 1, 1]),
        }

    def node(self, op, names, weights=(), **attributes):
        """A model of one node, and its inputs; what is no input is kept in the model."""
        h, np_helper = self.onnx.helper, self.onnx.numpy_helper
        info = [h.make_tensor_value_info(n, 1, self.a[n].shape) for n in names if n not in weights]
        graph = h.make_graph([h.make_node(op, names, ["y"], **attributes)], op, info,
                             [h.make_tensor_value_info("y", 1, None)],
                             [np_helper.from_array(self.a[n], n) for n in weights])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=9)
        return model.SerializeToString(), {n: self.a[n] for n in names if n not in weights}

    def turn(self, work, threads):
        model, inputs = self.works[work]
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = self.runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return timed(lambda: session.run(None, inputs))


# ---- Volta, and what all work on -----------------------------------------------------------------

class Volta:
    name = "Volta"

    def __init__(self, path, backend):
        self.path, self.backend = path, backend

    def run(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            sys.exit(f"peers.py: {self.path} {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def bench(self, work, threads, *words):
        return json.loads(self.run("bench", *words, "--threads", str(threads), "--backend", self.backend, "--json"))

    def turn(self, work, threads):
        suite = ["model", MODEL, "--bind", "B=1,T=128", "--rounds", "3"] if work == GPT2 else [
            "cpu", "--only", work, "--rounds", "5"]
        report = self.bench(work, threads, *suite)
        self.about = report["devices"][0]["about"]
        found = next(r for r in report["results"] if r["work"] == work and r["weights"] != "input")
        return found["best_ns"], found["median_ns"]


class Data:
    """What everybody works on: small arrays, and GPT-2's parameters as Volta drew them."""

    def __init__(self, np):
        r = np.random.default_rng(1)
        draw = lambda *shape: (r.random(shape, dtype=np.float32) * 2 - 1)  # noqa: E731
        self.arrays = {"x": draw(1024, 1024), "gamma": draw(1024), "beta": draw(1024), "image": draw(1, 64, 56, 56),
                       "kernel": draw(64, 64, 3, 3), "q": draw(1, 12, 128, 64), "k": draw(1, 12, 128, 64),
                       "v": draw(1, 12, 128, 64), "tokens": r.integers(0, 50257, (1, 128))}
        self.params, self.logits = {}, None

    def draw_gpt2(self, np, volta):
        tokens = self.arrays["tokens"][:, :16].astype(np.int32)
        with tempfile.TemporaryDirectory(prefix="volta-peers-") as folder:
            np.save(f"{folder}/tokens.npy", tokens)
            volta.run("run", MODEL, "--bind", "B=1,T=16", "--in", f"tokens={folder}/tokens.npy", "--backend",
                      volta.backend, "--save-params", f"{folder}/p.safetensors", "--out", folder, "--quiet")
            self.params = read_safetensors(np, f"{folder}/p.safetensors")
            self.logits = np.load(f"{folder}/logits.npy")
        return tokens.astype(np.int64)


def read_safetensors(np, path):
    raw = pathlib.Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + size])
    head.pop("__metadata__", None)
    return {name: np.frombuffer(raw, np.float32, (t["data_offsets"][1] - t["data_offsets"][0]) // 4,
                                8 + size + t["data_offsets"][0]).reshape(t["shape"]).copy() for name, t in head.items()}


# ---- measuring -----------------------------------------------------------------------------------

def timed(call):
    """Nanoseconds of the best call and of the median one in a turn, after two that do not count."""
    call(), call()
    took, end = [], time.perf_counter() + TURN_S
    while not took or time.perf_counter() < end:
        begin = time.perf_counter_ns()
        call()
        took.append(time.perf_counter_ns() - begin)
    return min(took), statistics.median(took)


def measure(lanes, work, threads, rounds):
    """Per lane the best of all turns, and the median of their medians."""
    turns = {lane.name: [] for lane in lanes}
    for r in range(rounds):
        for lane in lanes[r % len(lanes):] + lanes[:r % len(lanes)]:
            time.sleep(REST_S)
            turns[lane.name].append(lane.turn(work, threads))
    return {name: (int(min(t[0] for t in all_)), int(statistics.median(t[1] for t in all_)))
            for name, all_ in turns.items()}


def records(found, work, threads):
    best, median = found.pop("Volta")
    for peer, (peer_best, peer_median) in found.items():
        yield {"work": work, "threads": threads, "peer": peer, "best_ns": best, "median_ns": median,
               "peer_best_ns": peer_best, "peer_median_ns": peer_median, "ratio": peer_best / best,
               "ratio_median": peer_median / median}


def open_peers(names, data):
    peers, missing = [], {}
    for kind in (PyTorch, OnnxRuntime):
        if kind.name not in names:
            missing[kind.name] = "not asked for"
            continue
        try:
            peers.append(kind(data))
        except Exception as error:  # whatever keeps it from serving is the reason shown
            missing[kind.name] = f"{type(error).__name__}: {error}"
    return peers, missing


def check_logits(np, data, peers, tokens):
    for peer in peers:
        if hasattr(peer, "logits"):
            apart = float(np.abs(peer.logits(tokens) - data.logits).max())
            if not apart < 1e-3:
                sys.exit(f"peers.py: {peer.name} runs another GPT-2: its logits are {apart} apart")


def show(r):
    print(f"{r['work']:28} {r['threads']:7}  {r['peer']:13} {r['best_ns'] / 1e3:11.1f} {r['peer_best_ns'] / 1e3:11.1f} "
          f"{r['ratio']:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", default="build/volta", help="the binary to measure")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--threads", default="1,2", help="as in 1,2")
    parser.add_argument("--only", default="", help="the work whose name has this in it")
    parser.add_argument("--peers", default="PyTorch,ONNX Runtime", help="whom to measure beside Volta")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="write the results there as JSON")
    args = parser.parse_args()
    import numpy as np
    volta = Volta(str(pathlib.Path(args.volta).resolve()), args.backend)
    data = Data(np)
    tokens = data.draw_gpt2(np, volta) if args.only in GPT2 else None
    peers, missing = open_peers(args.peers.split(","), data)
    if not peers:
        sys.exit(f"peers.py: nobody to compare with: {missing}")
    if tokens is not None:
        check_logits(np, data, peers, tokens)
    works = list(dict.fromkeys(w for p in peers for w in p.works if args.only in w))
    print(f"{'work':28} {'threads':>7}  {'peer':13} {'Volta us':>11} {'peer us':>11} {'ratio':>6}")
    results = []
    for work in works:
        for threads in map(int, args.threads.split(",")):
            lanes = [volta] + [p for p in peers if work in p.works]
            new = list(records(measure(lanes, work, threads, args.rounds), work, threads))
            results += new
            for r in new:
                show(r)
    report = {"device": volta.about, "peers": {p.name: p.version for p in peers}, "missing": missing, "results": results}
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
