#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py - measures the same work in Volta, PyTorch and ONNX Runtime on the CPU, in alternation.

Volta runs as `volta bench ... --json`, and each peer in processes of its own (bench/settings.py). In each round every
library has one turn; the report has the best call of all turns and the median. The work is the suite `cpu` without its
matrix products, and GPT-2 with 124 million parameters over 128 tokens. The peers get the parameters that Volta drew for
GPT-2, and their logits must equal Volta's up to rounding before any of them is measured. A peer that is missing or
cannot do a work is left out, and the report says why. bench/peers.sh installs the Python packages that this needs.

A peer is measured at its fastest setting, which is chosen for each work and number of threads and named in the report.
The settings of PyTorch: its defaults, threads bound to cores and, on a CPU with AVX-512, limited to AVX2. The settings
of ONNX Runtime: waiting threads spin or sleep, and all graph optimisations or only the basic ones. For both: all
threads, half of them, and so on down to one. VOLTA_ISA=avx2 limits Volta and PyTorch to AVX2.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from settings import Peer, serve, threads_down, timed  # noqa: E402

MODEL = "examples/gpt2_124m.vt"
GPT2 = "gpt2_124m B=1,T=128"
TURN_S, TRIAL_S = 0.3, 0.05  # seconds of a turn, and of a turn while the setting is chosen
REST_S = 0.05  # pause before a turn, because idle threads of the previous library spin for a while
AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


# ---- PyTorch -------------------------------------------------------------------------------------

class Gpt2:
    """examples/gpt2_124m.vt in PyTorch. The three projections of attention are one product, because PyTorch is fastest
    that way."""

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


def has_avx512():
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    return cpuinfo.is_file() and "avx512f" in cpuinfo.read_text(encoding="utf-8").split()


class PyTorch:
    name = "PyTorch"

    @staticmethod
    def environments():
        bound = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
        if os.environ.get("VOLTA_ISA") == "avx2":
            return {"": AVX2, "bound": {**AVX2, **bound}}
        return {"": {}, "bound": bound, **({"avx2": AVX2} if has_avx512() else {})}

    @staticmethod
    def options(environment, work, threads):
        return {f"x{n}": {"threads": n} for n in threads_down(threads)}

    def __init__(self, data):
        import torch  # fails if it is not installed: then the peer is missing
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

    def about(self):
        return self.version, list(self.works)

    def logits_distance(self, tokens, expected):
        """The largest difference of its logits from those in the file `expected`, for the tokens in the file `tokens`."""
        import numpy as np
        with self.torch.inference_mode():
            found = self.gpt2(self.torch.from_numpy(np.load(tokens).astype(np.int64))).numpy()
        return float(np.abs(found - np.load(expected)).max())

    def turn(self, work, seconds, threads):
        self.torch.set_num_threads(threads)
        with self.torch.inference_mode():
            return timed(self.works[work], seconds)


# ---- ONNX Runtime --------------------------------------------------------------------------------

class OnnxRuntime:
    name = "ONNX Runtime"

    @staticmethod
    def environments():
        return {"": {}}

    @staticmethod
    def options(environment, work, threads):
        return {f"x{n}{'' if spin else ' asleep'}{'' if every else ' basic'}": {"threads": n, "spin": spin, "every": every}
                for n in threads_down(threads) for spin in ([True, False] if n > 1 else [True]) for every in (True, False)}

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
        """A model of one node, and its inputs by name. The names in `weights` are constants of the model."""
        h, np_helper = self.onnx.helper, self.onnx.numpy_helper
        info = [h.make_tensor_value_info(n, 1, self.a[n].shape) for n in names if n not in weights]
        graph = h.make_graph([h.make_node(op, names, ["y"], **attributes)], op, info,
                             [h.make_tensor_value_info("y", 1, None)],
                             [np_helper.from_array(self.a[n], n) for n in weights])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=9)
        return model.SerializeToString(), {n: self.a[n] for n in names if n not in weights}

    def about(self):
        return self.version, list(self.works)

    def turn(self, work, seconds, threads, spin, every):
        model, inputs = self.works[work]
        options, level = self.runtime.SessionOptions(), self.runtime.GraphOptimizationLevel
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spin else "0")
        options.graph_optimization_level = level.ORT_ENABLE_ALL if every else level.ORT_ENABLE_BASIC
        session = self.runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return timed(lambda: session.run(None, inputs), seconds)


# ---- Volta, and the data -------------------------------------------------------------------------

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
    """The inputs of the works: random arrays, and GPT-2's parameters as Volta drew them, if they are in the folder."""

    def __init__(self, folder):
        import numpy as np
        r = np.random.default_rng(1)
        draw = lambda *shape: (r.random(shape, dtype=np.float32) * 2 - 1)  # noqa: E731
        self.arrays = {"x": draw(1024, 1024), "gamma": draw(1024), "beta": draw(1024), "image": draw(1, 64, 56, 56),
                       "kernel": draw(64, 64, 3, 3), "q": draw(1, 12, 128, 64), "k": draw(1, 12, 128, 64),
                       "v": draw(1, 12, 128, 64), "tokens": r.integers(0, 50257, (1, 128))}
        path = folder / "p.safetensors"
        self.params = read_safetensors(np, path) if path.is_file() else {}


def draw_gpt2(volta, folder):
    """Writes GPT-2's parameters, 16 tokens and their logits to files in the folder."""
    import numpy as np
    np.save(folder / "tokens.npy", np.random.default_rng(1).integers(0, 50257, (1, 16), dtype=np.int32))
    volta.run("run", MODEL, "--bind", "B=1,T=16", "--in", f"tokens={folder}/tokens.npy", "--backend", volta.backend,
              "--save-params", f"{folder}/p.safetensors", "--out", str(folder), "--quiet")


def read_safetensors(np, path):
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + size])
    head.pop("__metadata__", None)
    return {name: np.frombuffer(raw, np.float32, (t["data_offsets"][1] - t["data_offsets"][0]) // 4,
                                8 + size + t["data_offsets"][0]).reshape(t["shape"]).copy() for name, t in head.items()}


# ---- measuring -----------------------------------------------------------------------------------

def measure(volta, peers, work, threads, rounds):
    """Yields for each library: its name, the best call of all turns, the median of the medians, and its setting."""
    chosen = {p.name: p.choose(work, threads, TRIAL_S) for p in peers}
    lanes = {volta.name: lambda: volta.turn(work, threads)}
    lanes |= {p.name: lambda p=p: p.turn(work, chosen[p.name][1], TURN_S) for p in peers}
    turns, order = {name: [] for name in lanes}, list(lanes)
    for r in range(rounds):
        for name in order[r % len(order):] + order[:r % len(order)]:
            time.sleep(REST_S)
            turns[name].append(lanes[name]())
    for name, all_ in turns.items():
        trial, setting = chosen.get(name, (float("inf"), None))
        yield name, int(min(trial, *(t[0] for t in all_))), int(statistics.median(t[1] for t in all_)), setting


def records(found, work, threads):
    (_, best, median, _), *peers = found
    for peer, peer_best, peer_median, setting in peers:
        yield {"work": work, "threads": threads, "peer": peer, "best_ns": best, "median_ns": median,
               "peer_best_ns": peer_best, "peer_median_ns": peer_median, "peer_setting": setting.name,
               "ratio": peer_best / best, "ratio_median": peer_median / median}


KINDS = {kind.name: kind for kind in (PyTorch, OnnxRuntime)}


def open_peers(names, folder):
    peers, missing = [], {}
    for name, kind in KINDS.items():
        if name not in names:
            missing[name] = "not selected by --peers"
            continue
        try:
            peers.append(Peer(kind, [__file__, "--data", str(folder)]))
        except RuntimeError as error:
            missing[name] = str(error)
    return peers, missing


def check_logits(peers, folder):
    for peer in peers:
        if GPT2 in peer.works:
            for worker in peer.workers.values():
                distance = worker.ask("logits_distance", f"{folder}/tokens.npy", f"{folder}/logits.npy")
                if not distance < 1e-3:
                    sys.exit(f"peers.py: {peer.name} runs another GPT-2: its logits differ by {distance}")


def show(r):
    print(f"{r['work']:28} {r['threads']:7}  {r['peer']:13} {r['best_ns'] / 1e3:11.1f} {r['peer_best_ns'] / 1e3:11.1f} "
          f"{r['ratio']:6.2f}  {r['peer_setting']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", default="build/volta", help="the binary to measure")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, as in 1,2")
    parser.add_argument("--only", default="", help="measure only works whose name contains this")
    parser.add_argument("--peers", default="PyTorch,ONNX Runtime", help="libraries to measure in addition to Volta")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", help="file for the results, as JSON")
    parser.add_argument("--serve", choices=list(KINDS), help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(lambda: KINDS[args.serve](Data(pathlib.Path(args.data))))
    with tempfile.TemporaryDirectory(prefix="volta-peers-") as folder:
        return compare(args, pathlib.Path(folder))


def compare(args, folder):
    volta = Volta(str(pathlib.Path(args.volta).resolve()), args.backend)
    if args.only in GPT2:
        draw_gpt2(volta, folder)
    peers, missing = open_peers(args.peers.split(","), folder)
    if not peers:
        sys.exit(f"peers.py: there is no library to compare with: {missing}")
    if args.only in GPT2:
        check_logits(peers, folder)
    works = list(dict.fromkeys(w for p in peers for w in p.works if args.only in w))
    print(f"{'work':28} {'threads':>7}  {'peer':13} {'Volta us':>11} {'peer us':>11} {'ratio':>6}  its fastest setting")
    results = []
    for work in works:
        for threads in map(int, args.threads.split(",")):
            able = [p for p in peers if work in p.works]
            new = list(records(measure(volta, able, work, threads, args.rounds), work, threads))
            results += new
            for r in new:
                show(r)
    report = {"device": volta.about, "peers": {p.name: p.version for p in peers}, "missing": missing, "results": results}
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
