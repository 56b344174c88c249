#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py --volta PROGRAM [--only TEXT] [--rounds N] [--out FILE] - compares Volta and PyTorch on a GPU, in one run:
the suite of `volta bench cuda`, whose products PyTorch gives to cuBLAS, and the forward pass of GPT-2 with 124 million
parameters over 4 x 1024 tokens. f32, PyTorch eager.

Both are timed as a caller sees them: from the call until the GPU is done, so every number includes a launch and a wait.
`graph` times PyTorch's work recorded as a CUDA graph, as Volta's is; GPT-2 is not recorded. PyTorch is timed before Volta
and again after it; times are medians of all calls. If Volta has several results for a work, the shortest counts. `of copy`
is the time of a copy on the GPU that reads and writes as many bytes, timed in the same way, divided by Volta's time:
softmax and layer_norm are compared with it.

PyTorch is measured at its fastest setting (bench/settings.py). The setting is chosen for each work, eager and in a graph,
and printed in the last column: cuBLAS's default workspace or a larger one, products by cuBLAS or cuBLASLt, convolutions
as cuDNN picks them or as it measures them, attention by each of the kernels for f32. TF32 stays off, because it drops
bits of the operands, and products of f32 are compared."""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cpu")]
from peers import Gpt2  # noqa: E402
from settings import Peer, serve, timed  # noqa: E402

GPT2 = "gpt2_124m B=4,T=1024"
FIRST_FOR_GPU = "sgemm 512x512x512"
TURN_S, TRIAL_S = 0.25, 0.02
LARGE = {"CUBLAS_WORKSPACE_CONFIG": ":65536:2", "CUBLASLT_WORKSPACE_SIZE": "131072"}


def timed_on(torch, call, seconds=TURN_S):
    """Time from a call until the GPU is done."""
    def whole():
        call()
        torch.cuda.synchronize()
    return timed(whole, seconds, warm=3, least=5)


def recorded(torch, call):
    """Records the call as a CUDA graph; returns a function that replays it."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph.replay


def copy_ns(torch, total):
    """Time of a copy that reads and writes `total` bytes together: the better of a call and a graph."""
    x = torch.zeros(max(total // 8, 1), device="cuda")
    y = torch.empty_like(x)
    took = [timed_on(torch, call)[1] for call in (lambda: y.copy_(x), recorded(torch, lambda: y.copy_(x)))]
    torch.cuda.empty_cache()
    return min(took)


def works(torch):
    f, made = torch.nn.functional, {}

    def draw(*shape):
        return torch.rand(*shape, device="cuda") - 0.5

    def product(m, k, n, transposed=False):
        x, w = draw(m, k), draw(n, k) if transposed else draw(k, n)
        return lambda: x @ (w.T if transposed else w)

    def row(op, m, n):
        x, g, b = draw(m, n), draw(n), draw(n)
        return (lambda: f.softmax(x, -1)) if op == "softmax" else (lambda: f.layer_norm(x, (n,), g, b))

    for n in (128, 256, 512, 1024, 2048, 4096, 8192):
        made[f"sgemm {n}x{n}x{n}"] = lambda n=n: product(n, n, n)
    for m in (2, 4, 8, 16):
        made[f"sgemm {m}x4096x4096"] = lambda m=m: product(m, 4096, 4096)
    made["sgemv 4096x4096"] = lambda: product(1, 4096, 4096)
    made["sgemv_t 4096x4096"] = lambda: product(1, 4096, 4096, True)
    made["sgemv 14336x4096"] = lambda: product(1, 14336, 4096)
    made["sgemv_t 14336x4096"] = lambda: product(1, 4096, 14336, True)
    for op in ("softmax", "layer_norm"):
        for m, n in ((65536, 768), (16384, 4096), (2048, 50257)):
            made[f"{op} {m}x{n}"] = lambda op=op, m=m, n=n: row(op, m, n)
    for op in ("gelu", "exp"):
        made[f"{op} 8192x4096"] = lambda op=op: (lambda x: lambda: getattr(f if op == "gelu" else torch, op)(x))(draw(8192, 4096))
    made["conv2d 3x3 64->64 56x56"] = lambda: (lambda x, w: lambda: f.conv2d(x, w, padding=1))(draw(1, 64, 56, 56), draw(64, 64, 3, 3))
    made["attention 12 heads 1024x64"] = lambda: (lambda q, k, v: lambda: f.scaled_dot_product_attention(
        q, k, v, is_causal=True))(*(draw(1, 12, 1024, 64) for _ in range(3)))
    made[GPT2] = lambda: gpt2(torch, draw)
    return made


def gpt2(torch, draw):
    p = {"wte.weight": draw(50257, 768), "wpe": draw(1024, 768), "ln_f.gamma": draw(768), "ln_f.beta": draw(768)}
    for i in range(12):
        for norm in ("ln_1", "ln_2"):
            p[f"h.{i}.{norm}.gamma"], p[f"h.{i}.{norm}.beta"] = draw(768), draw(768)
        for name, a, b in (("attn.q", 768, 768), ("attn.k", 768, 768), ("attn.v", 768, 768), ("attn.o", 768, 768),
                           ("fc", 768, 3072), ("proj", 3072, 768)):
            p[f"h.{i}.{name}.weight"], p[f"h.{i}.{name}.bias"] = 0.05 * draw(a, b), draw(b)
    model, tokens = Gpt2(torch, p), torch.randint(0, 50257, (4, 1024), device="cuda")
    return lambda: model(tokens)


class PyTorch:
    name = "PyTorch"

    @staticmethod
    def environments():
        return {"": {}, "large workspace": LARGE}

    @staticmethod
    def options(environment, work, graph):
        if work.startswith(("sgem", "gpt2")):
            return {blas: {"graph": graph, "blas": blas} for blas in ("cublas", "cublaslt")}
        if environment:  # the environment affects products only
            return {}
        if work.startswith("conv2d"):
            return {"": {"graph": graph}, "cudnn benchmark": {"graph": graph, "cudnn": True}}
        if work.startswith("attention"):
            return {"": {"graph": graph}, **{kernel.lower(): {"graph": graph, "kernel": kernel}
                                             for kernel in ("EFFICIENT_ATTENTION", "MATH")}}
        return {"": {"graph": graph}}

    def __init__(self):
        import torch
        self.torch, self.made = torch, (None, None)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    def about(self):
        return self.torch.__version__, list(works(self.torch))

    def gpu(self):
        return self.torch.cuda.get_device_name()

    def copy(self, total):
        return copy_ns(self.torch, total)

    def call_of(self, work):
        if self.made[0] != work:
            self.drop()
            self.made = work, works(self.torch)[work]()
        return self.made[1]

    def drop(self):
        """Frees the memory of the last work, before another process needs it."""
        self.made = None, None
        self.torch.cuda.empty_cache()

    def turn(self, work, seconds, graph, blas=None, cudnn=False, kernel=None):
        torch, attention = self.torch, contextlib.nullcontext()
        if blas:
            torch.backends.cuda.preferred_blas_library(blas)
        if kernel:
            attention = torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, kernel))
        torch.backends.cudnn.benchmark = cudnn
        with torch.inference_mode(), attention:
            call = self.call_of(work)
            return timed_on(torch, recorded(torch, call) if graph else call, seconds)


def ours(volta, work, rounds, backend="cuda", threads=1):
    suite = ["model", "examples/gpt2_124m.vt", "--bind", work.split()[1]] if work == GPT2 else [backend, "--only", work]
    words = [*suite, "--backend", backend, "--threads", str(threads), "--rounds", str(rounds)]
    done = subprocess.run([volta, "bench", *words, "--json"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    rows = [r for r in json.loads(done.stdout)["results"] if r["work"].startswith(work)]
    return min(rows, key=lambda r: r["median_ns"])


def measure(peer, volta, work, rounds):
    """Returns Volta's result, and PyTorch's time and setting, eager and in a graph. Settings are chosen first; eager is timed
    before and after Volta."""
    modes = (False,) if work == GPT2 else (False, True)
    chosen = {graph: peer.choose(work, graph, TRIAL_S, by_median=True)[1] for graph in modes}
    took = {graph: [peer.turn(work, setting, TURN_S)[1]] for graph, setting in chosen.items()}
    eager = chosen[False]
    for worker in peer.workers.values():
        worker.ask("drop")
    r = ours(volta, work, rounds)
    took[False].append(peer.turn(work, eager, TURN_S)[1])
    return r, {graph: (statistics.median(took[graph]), setting.name) for graph, setting in chosen.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    parser.add_argument("--serve", choices=["PyTorch"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(PyTorch)
    if not args.volta:
        parser.error("--volta names the program to measure")
    return compare(args)


def compare(args):
    peer = Peer(PyTorch, [__file__])
    volta, first = str(pathlib.Path(args.volta).resolve()), next(iter(peer.workers.values()))
    copy, gpu = 8 * (1 << 28) / first.ask("copy", 8 * (1 << 28)), first.ask("gpu")
    report = {"gpu": gpu, "pytorch": peer.version, "copy_gb_s": copy, "rows": []}
    print(f"{gpu}, PyTorch {peer.version}; copy {copy:.0f} GB/s; microseconds, medians")
    print(f"{'work':28} {'volta':>10} {'pytorch':>10} {'graph':>10} {'ratio':>7} {'in graph':>8} {'GFLOP/s':>9} {'GB/s':>7} "
          f"{'of copy':>7}  PyTorch's fastest setting; in a graph")
    for work in peer.works:
        if args.only not in work:
            continue
        try:
            r, theirs = measure(peer, volta, work, args.rounds)
        except RuntimeError as why:
            print(f"{work:28} {why}")
            continue
        a, (b, eager), (g, graph) = r["median_ns"], theirs[False], theirs.get(True, (None, None))
        c = first.ask("copy", r["bytes"])
        in_graph = [f"{g / 1e3:.1f}", f"{g / a:.2f}"] if g else ["-", "-"]
        report["rows"].append({"work": work, "volta_ns": a, "pytorch_ns": b, "graph_ns": g, "best_ns": r["best_ns"],
                               "copy_ns": c, "flops": r["flops"], "bytes": r["bytes"], "digest": r["digest"],
                               "pytorch_setting": eager, "graph_setting": graph})
        print(f"{work:28} {a / 1e3:10.1f} {b / 1e3:10.1f} {in_graph[0]:>10} {b / a:7.2f} {in_graph[1]:>8} {r['flops'] / a:9.0f} "
              f"{r['bytes'] / a:7.0f} {c / a:7.2f}  {eager or 'as it comes'}; {graph or 'as it comes' if g else '-'}", flush=True)
    for r in report["rows"]:
        if r["work"] == FIRST_FOR_GPU:  # from this size on the GPU backend must be faster than the CPU backend
            r["cpu_ns"] = ours(volta, r["work"], args.rounds, "cpu", os.cpu_count())["median_ns"]
            print(f"{r['work']} by our cpu backend, {os.cpu_count()} threads: {r['cpu_ns'] / 1e3:.1f} us, "
                  f"{r['cpu_ns'] / r['volta_ns']:.1f} times as long")
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
