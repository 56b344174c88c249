#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda_infer.py --volta PROGRAM [--backend cuda] (--check | --write) - inference on a GPU gives the digests that
are written down, and takes no more of its memory.

cuda-infer-parity.json has for every row of examples/published.digests the digest, and the bytes that the plan
takes on the GPU that it names; how much scratch some steps have depends on its processors. --check fails when a
digest differs, from the file or from what is published, when a plan takes more than `tolerance_percent` above
its row on that GPU, and when an example has no row. --write renews the bytes; a digest that differs from the
published one is never written."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILE = HERE / "cuda-infer-parity.json"


def published():
    rows = []
    for line in (ROOT / "examples/published.digests").read_text().splitlines():
        if line and not line.startswith("#"):
            digest, model, bind, seed, inputs = line.split()
            rows.append({"model": model, "bind": bind, "seed": seed.partition("=")[2],
                         "inputs": inputs.partition("=")[2], "digest": digest})
    return rows


def ask(volta, *words):
    done = subprocess.run([os.path.abspath(volta), *words], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def device(volta, backend):
    """The model of the GPU."""
    about = json.loads(ask(volta, "backends", backend, "--json"))["backends"][0]["about"]
    return about.partition(",")[0]


def measure(volta, backend, row):
    """The row as it is here, today."""
    place = [f"examples/{row['model']}", "--bind", row["bind"], "--backend", backend]
    digest = ask(volta, "run", *place, "--seed", row["seed"], "--random-inputs", row["inputs"], "--digest").split()[0]
    return {**row, "digest": digest, "peak": json.loads(ask(volta, "plan", *place, "--json"))["peak"]}


def compare(now, right, kept, tolerance):
    """All that is wrong with one row; a tolerance of None is for a GPU that the bytes are not of."""
    name, wrong = f"{right['model']} {right['bind']}", []
    if now["digest"] != right["digest"]:
        wrong.append(f"{name}: {now['digest']} is not the published {right['digest']}")
    if kept is None:
        return wrong + [f"{name}: no row in {FILE.name}; --write makes one"]
    if now["digest"] != kept["digest"]:
        wrong.append(f"{name}: {now['digest']} is not the {kept['digest']} of {FILE.name}")
    if tolerance is not None and now["peak"] * 100 > kept["peak"] * (100 + tolerance):
        wrong.append(f"{name}: the plan takes {now['peak']} bytes, and {kept['peak']} are written down")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", required=True)
    parser.add_argument("--backend", default="cuda")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    args = parser.parse_args()
    kept = json.loads(FILE.read_text()) if FILE.exists() else {"tolerance_percent": 2, "rows": []}
    here = device(args.volta, args.backend)
    tolerance = kept["tolerance_percent"] if kept.get("device") == here else None
    wrong, rows = [], []
    for right in published():
        now = measure(args.volta, args.backend, right)
        old = next((r for r in kept["rows"] if (r["model"], r["bind"]) == (right["model"], right["bind"])), None)
        wrong += compare(now, right, now if args.write else old, tolerance)
        rows.append(now)
        print(f"{now['digest']}  {now['peak']:>12}  {now['model']} {now['bind']}")
    for line in wrong:
        print(line, file=sys.stderr)
    if args.write and not wrong:
        FILE.write_text(json.dumps({**kept, "device": here, "rows": rows}, indent=1) + "\n")
    besides = f"; bytes are compared on {kept.get('device')} alone" if args.check and tolerance is None else ""
    print(f"baseline: {len(rows)} examples, {len(wrong)} differences{besides}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
