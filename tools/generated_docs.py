#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated_docs.py - compares the committed pages that programs generate with what the programs write now, or with
--write updates them."""
import argparse
import os
import pathlib
import subprocess
import sys

FILES = {  # file -> (the program that generates it, its arguments)
    "docs/volta.1": ("gen", ["man"]),
    "completions/volta.bash": ("gen", ["bash"]),
    "completions/volta.zsh": ("gen", ["zsh"]),
    "completions/volta.fish": ("gen", ["fish"]),
    "docs/ops.md": ("volta", ["ops", "--markdown"]),
    "docs/governance/backend-capability-matrix.md": ("volta", ["backends", "--markdown"]),
    "docs/plan-tiny_transformer.svg": ("volta", ["plan", "examples/tiny_transformer.vt", "--bind", "B=2,T=16",
                                                 "--memory-budget", "640KiB", "--backend", "reference:0", "--svg", "-"]),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gen", required=True, help="path of gen_cli_docs")
    parser.add_argument("--volta", required=True, help="path of volta")
    parser.add_argument("--write", action="store_true", help="write instead of comparing")
    args = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    stale = 0
    for name, (program, arguments) in FILES.items():
        command = [os.path.abspath(getattr(args, program)), *arguments]
        now = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=root).stdout
        path = root / name
        if path.is_file() and path.read_bytes() == now:
            continue
        if args.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(now)
            print(f"{name}: written")
        else:
            stale += 1
            print(f"{name}: differs from what `{' '.join([pathlib.Path(command[0]).name, *arguments])}` "
                  "prints; `make docs` writes it")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
