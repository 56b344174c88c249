#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bench.py --volta V --diverging V --peers DIR - tests `volta bench` at its smallest sizes.

The report must have the keys that readers of bench/results use. Stand-ins for both builds of OpenBLAS must be called,
agree with Volta and be measured at their fastest setting. A peer that multiplies wrongly and a backend that is wrong in
one bit must be reported.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

RECORD = {"work", "threads", "weights", "best_ns", "median_ns", "calls", "flops", "bytes", "digest"}
PEER = {"peer_best_ns", "peer_median_ns", "peer_setting", "ratio", "ratio_median"}
ROOT = {"suite", "version", "quick", "rounds", "devices", "compare", "results"}
KINDS = ["sgemm", "sgemv", "sgemv_t", "softmax", "layer_norm", "gelu", "tanh", "exp", "conv2d", "attention"]
faults = []


def expect(holds, sentence):
    if not holds:
        faults.append(sentence)


def bench(volta, *words, **variables):
    # bench runs without OPENBLAS_CORETYPE, because the user's value would keep it from trying other core types.
    around = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    done = subprocess.run([volta, "bench", *words], capture_output=True, text=True, env={**around, **variables})
    return done.returncode, done.stdout, done.stderr


def report(volta, *words, **variables):
    code, out, err = bench(volta, *words, "--json", **variables)
    expect(code == 0, f"bench {' '.join(words)}: exit {code}: {err}")
    return json.loads(out) if code == 0 else {"results": [], "devices": []}


def check_record(r, compared):
    product = r["work"].startswith(("sgemm ", "sgemv ", "sgemv_t "))
    wanted = RECORD | (PEER if compared and product else set())
    expect(set(r) == wanted, f"{r['work']}: has {sorted(r)}, not {sorted(wanted)}")
    expect(0 < r["best_ns"] <= r["median_ns"] and r["calls"] > 0, f"{r['work']}: impossible times")
    expect(r["weights"] in ("parameter", "input", "none"), f"{r['work']}: weights {r['weights']}")
    if compared and product:
        ratio = r["peer_best_ns"] / r["best_ns"]
        expect(abs(r["ratio"] / ratio - 1) < 1e-9, f"{r['work']}: ratio {r['ratio']}, not {ratio}")


def check_suite(volta, backend, peer):
    flags = ["--compare", "openblas", "--peer", str(peer)] if peer else []
    # OPENBLAS_CORETYPE limits bench to one core type, which saves time; check_settings tests all core types.
    found = report(volta, "cpu", "--quick", "--threads", "1,3", "--backend", backend, *flags, OPENBLAS_CORETYPE="Haswell")
    expect(set(found) == ROOT, f"the report has {sorted(found)}")
    expect([d["threads"] for d in found["devices"]] == [1, 3], "the numbers of threads are not those of --threads")
    for r in found["results"]:
        check_record(r, peer is not None)
    kinds = list(dict.fromkeys(r["work"].split()[0] for r in found["results"]))
    expect(kinds == KINDS, f"{backend}: measured {kinds}")
    both = {(r["weights"], r["threads"]) for r in found["results"] if r["work"].startswith("sgemm ")}
    expect(len(both) == 4, f"{backend}: products with {sorted(both)}")
    if peer:
        expect(found["compare"]["config"].startswith("a stand-in"), "the report lacks the peer's configuration")


def check_settings(volta, peer):
    """Tests that bench tries the right core types. The stand-in is fastest as Zen, tried if there is AVX2, with one thread."""
    facts = json.loads(subprocess.run([volta, "doctor", "--json"], capture_output=True, check=True).stdout)["facts"]
    isas = facts["cpu"].split()
    every = ["Haswell", *(["Zen"] if "avx2" in isas else []), *(["SkylakeX"] if "avx512" in isas else [])]
    for variables, cores in (({}, every), ({"VOLTA_ISA": "avx2"}, [c for c in every if c != "SkylakeX"]),
                             ({"OPENBLAS_CORETYPE": "SkylakeX"}, ["SkylakeX"])):
        found = report(volta, "cpu", "--quick", "--only", "sgemv", "--threads", "1,3", "--backend", "reference", "--compare",
                       "openblas", "--peer", str(peer), **variables)
        best = ("Zen" if "Zen" in cores else cores[0]) + " x1"
        expect(found["compare"]["cores"] == cores, f"{variables}: tried {found['compare']['cores']}, not {cores}")
        settings = {r["peer_setting"] for r in found["results"]}
        expect(settings == {best}, f"{variables}: measured at {sorted(settings)}, not at {best}")


def check_model(volta):
    found = report(volta, "model", "examples/mlp.vt", "--bind", "B=2", "--quick", "--threads", "1", "--backend",
                   "reference")
    expect([r["work"] for r in found["results"]] == ["mlp B=2"], "the model is not measured once")


def check_refused(volta, code, words, sentence):
    got, _, err = bench(volta, *words)
    expect(got == code and sentence in err, f"bench {' '.join(words)}: exit {got}: {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("volta", "diverging", "peers"):
        parser.add_argument("--" + flag, required=True)
    args = parser.parse_args()
    peers = pathlib.Path(args.peers)
    for peer in (None, peers / "peer_narrow.so", peers / "peer_wide.so"):
        check_suite(args.volta, "reference", peer)
    check_suite(args.volta, "cpu", None)
    check_settings(args.volta, peers / "peer_wide.so")
    check_model(args.volta)
    quick = ["cpu", "--quick", "--only", "sgem", "--threads", "1", "--backend", "reference"]
    check_refused(args.volta, 1, [*quick, "--compare", "openblas", "--peer", str(peers / "peer_wrong.so")], "in openblas")
    tanh = ["cpu", "--quick", "--only", "tanh", "--threads", "1", "--backend", "reference:1"]
    check_refused(args.diverging, 1, tanh, "differ in")
    print("\n".join(faults) if faults else f"volta bench: {len(KINDS)} kinds of work, two peers, two faults found")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
