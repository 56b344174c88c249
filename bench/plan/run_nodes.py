#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_nodes.py --volta PROGRAM [--check | --self-check] - measures runs of models with very many nodes.

Each model is a chain of pointwise nodes in the largest fusion groups allowed. `volta run` reads,
plans and runs it on the backend cpu; measured are CPU seconds and peak memory. The output is a
Markdown table. --check also fails if 100,000 nodes take more than the limits below, or clearly more
than four times what 25,000 take. --self-check checks made-up measurements against the same limits
and fails if one beyond them is accepted."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

NODES = (25000, 50000, 100000)
MOST_MB = 400
MOST_SECONDS = 2.5  # the page promises 1, but this machine may be slow
MOST_GROWTH = {"MB": 1.1, "s": 1.5}  # how much faster than the number of nodes each may grow


def write_model(path, nodes):
    with open(path, "w", encoding="ascii") as out:
        out.write("volta 1\nmodel nodes {\n  input x0: f32[8]\n")
        for i in range(nodes):
            out.write(f"  x{i + 1} = {('tanh', 'sin', 'exp')[i % 3]}(x{i})\n")
        out.write(f"  output y = x{nodes}\n}}\n")


def measure(volta, folder, nodes):
    model = pathlib.Path(folder) / f"{nodes}.vt"
    write_model(model, nodes)
    command = [volta, "run", str(model), "--backend", "cpu", "--threads", "1", "--random-inputs", "7", "--digest"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"run_nodes: {' '.join(command)} exits with {child.returncode}")
    return {"nodes": nodes, "s": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}


def faults(rows):
    """A sentence for each measurement beyond its limit."""
    small, large, found = rows[0], rows[-1], []
    if large["MB"] > MOST_MB:
        found.append(f"{large['nodes']} nodes take {large['MB']:.0f} MB, more than {MOST_MB}")
    if large["s"] > MOST_SECONDS:
        found.append(f"{large['nodes']} nodes take {large['s']:.2f} s, more than {MOST_SECONDS}")
    for key, most in MOST_GROWTH.items():
        grown = large[key] / small[key] / (large["nodes"] / small["nodes"])
        if grown > most:
            found.append(f"from {small['nodes']} to {large['nodes']} nodes, {key} grow {grown:.2f} times as fast as the number of nodes")
    return found


def self_check():
    good = [{"nodes": n, "s": n * 1e-5, "MB": n * 3e-3} for n in NODES]
    if faults(good):
        sys.exit(f"run_nodes: measurements within the limits are refused: {faults(good)}")
    for key, value in (("MB", 401.0), ("s", 2.6), ("MB", 350.0), ("s", 1.6)):
        if not faults(good[:-1] + [dict(good[-1], **{key: value})]):
            sys.exit(f"run_nodes: {value} {key} are accepted, which is beyond the limit")


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--volta", required=True)
    args.add_argument("--check", action="store_true")
    args.add_argument("--self-check", action="store_true")
    args = args.parse_args()
    if args.self_check:
        self_check()
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(os.path.abspath(args.volta), folder, n) for n in NODES]
    print("| nodes | CPU, s | peak, MB |\n|---|---|---|")
    for row in rows:
        print(f"| {row['nodes']:,} | {row['s']:.2f} | {row['MB']:.0f} |")
    if args.check and faults(rows):
        sys.exit("run_nodes: " + "; ".join(faults(rows)))


main()
