#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory.py --volta PROGRAM [--write | --self-check] - tests that plans take no more memory than memory.json allows.

memory.json has, for the examples at stated bindings, the bytes of each class as `volta plan --json` prints them. The
test fails if

  an example has no baseline, or a baseline no example;
  a class or the peak exceeds its baseline by more than `tolerance_percent`;
  the peak exceeds the most bytes live at one step by more than the row's `bound_percent`.

It names each number that has become smaller; `make baselines` (--write) then updates the numbers and keeps rows,
tolerance and bounds, which are written by hand. --self-check plants each fault and fails if it is not found."""
import argparse
import copy
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILE = HERE / "memory.json"
ROW = ("model", "bind", "bound_percent")  # by hand; the rest of a row is measured
MEASURED = ("host_input", "parameter", "gradient", "optimizer_state", "temporary", "workspace", "output",
            "host_parameter", "state", "backend_memory", "peak", "live")


def plan(volta, row):
    command = [os.path.abspath(volta), "plan", f"examples/{row['model']}", "--bind", row["bind"], "--backend",
               "reference:0", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    return {key: report[key] for key in MEASURED}


def compare(row, now, tolerance):
    """(what is wrong, what is better) of one row."""
    name, wrong, better = f"{row['model']} {row['bind']}", [], []
    for key in MEASURED:
        if key not in row:
            wrong.append(f"{name}: no baseline for {key}; `make baselines` writes it")
        elif now[key] * 100 > row[key] * (100 + tolerance) and key != "live":
            wrong.append(f"{name}: {key} takes {now[key]} bytes, the baseline is {row[key]}")
        elif now[key] < row[key] and key != "live":
            better.append(f"{name}: {key} takes {now[key]} bytes, less than the baseline of {row[key]}")
    if now["peak"] * 100 > now["live"] * (100 + row["bound_percent"]):
        wrong.append(f"{name}: the peak of {now['peak']} bytes is {100 * now['peak'] / now['live'] - 100:.1f} % above "
                     f"the {now['live']} that are alive at one time; at most {row['bound_percent']} % are allowed")
    return wrong, better


def check(baselines, examples, measure):
    """All that is wrong, all that is better."""
    wrong, better = [], []
    for model in sorted(set(examples) - {row["model"] for row in baselines["rows"]}):
        wrong.append(f"examples/{model} has no row in bench/baselines/memory.json")
    for row in baselines["rows"]:
        if row["model"] not in examples:
            wrong.append(f"there is no examples/{row['model']}, and bench/baselines/memory.json has a row for it")
            continue
        w, b = compare(row, measure(row), baselines["tolerance_percent"])
        wrong, better = wrong + w, better + b
    return wrong, better


def write(baselines, volta):
    rows = [{**{key: row[key] for key in ROW}, **plan(volta, row)} for row in baselines["rows"]]
    text = json.dumps({**baselines, "rows": rows}, indent=2) + "\n"
    if FILE.read_text(encoding="utf-8") != text:
        FILE.write_text(text, encoding="utf-8")
        print("bench/baselines/memory.json: written")


def self_check(baselines, examples, measure):
    """Each fault by itself must be found, and nothing without one."""
    def damaged(change):
        copied = copy.deepcopy(baselines)
        change(copied)
        return copied

    first = baselines["rows"][0]
    faults = {
        "a row is missing": lambda b: b["rows"].pop(0) and b["rows"].__setitem__(
            slice(None), [r for r in b["rows"] if r["model"] != first["model"]]),
        "a row has no example": lambda b: b["rows"].append({**first, "model": "no.vt"}),
        "a number is missing": lambda b: b["rows"][0].pop("temporary"),
        "a class is exceeded by a byte": lambda b: b["rows"][0].update(temporary=first["temporary"] - 1),
        "the peak is exceeded": lambda b: b["rows"][0].update(peak=first["peak"] - 1),
        "the bound is exceeded": lambda b: b["rows"][0].update(bound_percent=-1),
    }
    missed = [name for name, change in faults.items() if not check(damaged(change), examples, measure)[0]]
    grown = damaged(lambda b: b["rows"][0].update(temporary=first["temporary"] + 1))
    found = check(grown, examples, measure)
    if found[0] or not found[1]:
        missed.append("a class has become smaller")
    tolerant = damaged(lambda b: (b.update(tolerance_percent=1), b["rows"][0].update(peak=first["peak"] - 1)))
    if check(tolerant, examples, measure)[0]:
        missed.append("a tolerance is not kept")
    print("\n".join(f"not found: {name}" for name in missed) or f"{len(faults) + 2} planted faults found")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", required=True, help="path of volta")
    parser.add_argument("--write", action="store_true", help="renew the numbers")
    parser.add_argument("--self-check", action="store_true", help="see that faults are found")
    args = parser.parse_args()
    if not FILE.is_file():
        sys.exit("bench/baselines/memory.json is missing")
    baselines = json.loads(FILE.read_text(encoding="utf-8"))
    examples = {path.name for path in (ROOT / "examples").glob("*.vt")}
    if args.write:
        write(baselines, args.volta)
        baselines = json.loads(FILE.read_text(encoding="utf-8"))
    known = {}

    def measure(row):
        key = row["model"], row["bind"]
        if key not in known:
            known[key] = plan(args.volta, row)
        return known[key]

    if args.self_check:
        return self_check(baselines, examples, measure)
    wrong, better = check(baselines, examples, measure)
    print("\n".join(wrong + better) or f"{len(baselines['rows'])} plans take what is written down")
    if better:
        print("plans have become smaller: `make baselines` writes the numbers down")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
