#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tables_match.py [FOLDER] - tests that the tables of src/num, or of FOLDER, have the bytes that tools/num/gen_*.py
write.

Exit status 0, or 1 with the first differing line of each table, or 77 if mpmath, sollya or the right version of
clang-format, which decides the layout, is missing.
"""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "version 14."


def formatter():
    """The name of a clang-format of the version that check_format.sh uses, or None."""
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if VERSION in said:
                return name
    return None


def missing():
    if importlib.util.find_spec("mpmath") is None:
        return "mpmath (Debian, Ubuntu: python3-mpmath)"
    if shutil.which("sollya") is None:
        return "sollya (Debian, Ubuntu: sollya)"
    return None if formatter() else "clang-format 14 (Debian, Ubuntu: clang-format-14)"


def generated(script, name):
    made = subprocess.run([sys.executable, "-B", script], capture_output=True, check=True).stdout
    return subprocess.run([formatter(), "--style=file", f"--assume-filename=src/num/{name}"],
                          input=made, capture_output=True, check=True, cwd=ROOT).stdout


def first_difference(want, found):
    want, found = want.splitlines(), found.splitlines()
    for line, (a, b) in enumerate(zip(want, found), 1):
        if a != b:
            return line
    return min(len(want), len(found)) + 1


def table_of(script):
    """The table that a script writes, from `gen_x.py ... > NAME` in its header, or None."""
    said = re.search(rf"^#.*\b{script.name}.*> (\w+\.inc)$", script.read_text(), re.M)
    return said[1] if said else None


def complaints(folder):
    unwritten = {path.name for path in folder.glob("*tables.inc")}
    for script in sorted((ROOT / "tools/num").glob("gen_*.py")):
        name = table_of(script)
        if name not in unwritten:
            yield f"{script.name}: its header names no table of {folder.name}/"
            continue
        unwritten.remove(name)
        want, found = generated(script, name), (folder / name).read_bytes()
        if want != found:
            yield f"{name}:{first_difference(want, found)}: differs from the output of {script.name}"
    for name in sorted(unwritten):
        yield f"{name}: no script in tools/num writes it"


def main():
    lacking = missing()
    if lacking:
        print(f"SKIPPED: no {lacking} here")
        return 77
    found = list(complaints(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src/num"))
    print("\n".join(found) or "tables: each is the output of its script")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
