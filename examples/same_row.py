#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_row.py VOLTA - one row computed alone and in batches, by NumPy, by PyTorch and by Volta.

The model is examples/mlp.vt: two matrix products with a ReLU between them. All three get the same
weights and the same row, and nothing is random from run to run. The program prints, for each batch
size, a hash of the bytes of that row's ten logits. Needs NumPy; PyTorch is left out if it is not
installed.
"""
import hashlib
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

MODEL = pathlib.Path(__file__).with_name("mlp.vt")
BATCHES = (1, 2, 16, 64)


def numpy_logits(p, x):
    return np.maximum(x @ p["w1"] + p["b1"], 0) @ p["w2"]


def torch_logits(p, x):
    import torch
    p, x = {name: torch.from_numpy(value) for name, value in p.items()}, torch.from_numpy(x)
    return (torch.relu(x @ p["w1"] + p["b1"]) @ p["w2"]).numpy()


def volta_logits(backend):
    def logits(p, x):
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/params.npz", **p)
            np.save(f"{folder}/x.npy", x)
            subprocess.run([sys.argv[1], "run", MODEL, "--backend", backend, "--bind", f"B={len(x)}", "--quiet",
                            "--params", f"{folder}/params.npz", "--in", f"x={folder}/x.npy", "--out", folder],
                           check=True, stdout=subprocess.DEVNULL)
            return np.load(f"{folder}/logits.npy")
    return logits


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    draw = np.random.default_rng(7)
    params = {"w1": draw.standard_normal((784, 256), dtype=np.float32) / 20,
              "b1": np.zeros(256, dtype=np.float32),
              "w2": draw.standard_normal((256, 10), dtype=np.float32) / 11}
    rows = draw.standard_normal((max(BATCHES), 784), dtype=np.float32)
    runtimes = {f"NumPy {np.__version__}": numpy_logits}
    if importlib.util.find_spec("torch"):
        import torch
        runtimes[f"PyTorch {torch.__version__.split('+')[0]}"] = torch_logits
    runtimes.update({f"Volta, {backend}": volta_logits(backend) for backend in ("reference", "cpu")})
    print(f"{'batch of':18}" + "".join(f"{n:<14}" for n in BATCHES).rstrip())
    for name, logits in runtimes.items():
        hashes = [hashlib.blake2b(logits(params, rows[:n])[0].tobytes(), digest_size=6).hexdigest() for n in BATCHES]
        print(f"{name:18}" + "".join(f"{h:14}" for h in hashes) + f"{len(set(hashes))} result"
              + "s" * (len(set(hashes)) > 1))


if __name__ == "__main__":
    main()
