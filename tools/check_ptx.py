#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ptx.py [options] FILE.ptx... - the operations that kernels may use, and those they may not.

  --table KERNELS.DEF  the kernels there should be; rows VT_GPU_FUSED may multiply and add at once
  --cc COMPILER        what reads the table (default: cc)
  --include FOLDER     where the table finds others
  --fused REGEX=WHY    kernels outside a table that may: WHY is contraction, functions or wide
  --usage FILE         what ptxas said of registers; spills are listed

Every f32 and f64 add, sub, mul, fma, div, sqrt and rcp carries .rn: without it the assembler may
fuse two of them. Nothing is approximate, flushed or saturated; no power, logarithm, sine or
reciprocal root of the hardware; no atomic operation, matrix operation or 16-bit arithmetic on floats;
no rounding but to nearest. f32 is fused only in kernels that say so, f64 only where that is `wide`.
What a kernel calls counts as its own.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ARITHMETIC = {"add", "sub", "mul", "fma", "div", "sqrt", "rcp"}
HARDWARE = {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"}
MATRIX = {"mma", "wmma", "wgmma", "tcgen05"}
ATOMIC = {"atom", "red", "multimem"}
LOOSE = {"approx", "full", "ftz"}
DIRECTED = {"rz", "rm", "rp", "rna", "rs"}
WORD = {"f32", "f32x2", "f64"}  # what arithmetic may be about
FLOAT = re.compile(r"^(f16|f16x2|bf16|bf16x2|tf32|f32|f32x2|f64|e[0-9]m[0-9](x[0-9])?|f8f6f4|mxf[0-9a-z]+|ue[0-9]m[0-9])$")
FUNCTION = re.compile(r"\.(entry|func)\b(?:\s*\([^)]*\))?\s+([A-Za-z_$%][\w$]*)")
OPERATION = re.compile(r"^(?:@!?%\w+\s+)?([a-z][a-z0-9]*(?:[.:]+[A-Za-z0-9_]+)*)\b(.*)$", re.S)
REASONS = ("contraction", "functions", "wide")


def judge(base, parts):
    """Why an operation may not be here, or None."""
    floats = [p for p in parts if FLOAT.match(p)]
    if base in HARDWARE:
        return f"the hardware's {base}"
    if base in MATRIX:
        return "a matrix operation on floats" if floats or "mxf4" in parts else None
    if base in ATOMIC or (base == "cp" and "reduce" in parts):
        return "an atomic operation on floats" if floats else None
    if not floats:
        return None
    loose = [p for p in parts if p in LOOSE or p == "sat"]
    if loose:
        return f".{loose[0]}"
    if base == "mad":
        return "mad: fused or not as the assembler likes"
    if base in ARITHMETIC and not WORD.intersection(floats):
        return f"arithmetic on {floats[0]}"
    if base in ARITHMETIC and "rn" not in parts:
        return "without .rn"
    if base == "cvt" and DIRECTED.intersection(parts):
        return f"rounded by .{sorted(DIRECTED.intersection(parts))[0]}"
    return None


class Function:
    def __init__(self, name, entry, line):
        self.name, self.entry, self.line = name, entry, line
        self.calls, self.fused = set(), {}  # fused: "f32" or "f64": the first line of it


class File:
    """One PTX file: its functions, and what is wrong in it whoever calls it."""

    def __init__(self, path):
        self.path, self.functions, self.found = path, {}, []
        self.target, self.operations, self.here, self.begun = "?", 0, None, ""
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            self.line(number, line.split("//")[0].strip())

    def line(self, number, line):
        if line.startswith(".target"):
            self.target = line.split()[1].strip(",")
        match = FUNCTION.search(line)
        if match:
            name = match[2]
            self.here = self.functions.setdefault(name, Function(name, match[1] == "entry", number))
            return
        *whole, rest = line.split(";")
        for statement in whole:
            self.statement(number, f"{self.begun} {statement}")
            self.begun = ""
        self.begun = self.after(f"{self.begun} {rest}")

    @staticmethod
    def after(text):
        """Without the braces and the label before it, and nothing of what ends with its line."""
        text = re.sub(r"^[\s{}]*(?:[\w$]+:(?!:))?[\s{}]*", "", text)
        return "" if text.startswith((".", "(", ")")) else text

    def statement(self, number, text):
        operation = OPERATION.match(self.after(text))
        if operation and self.here:
            self.operation(number, operation[1], operation[2])

    def operation(self, number, name, rest):
        base, *parts = re.split(r"[.:]+", name)
        self.operations += 1
        if base == "call":
            self.here.calls.update(re.findall(r"[A-Za-z_$][\w$]*", rest))
        why = judge(base, parts)
        if base == "call" and "%" in re.sub(r"\([^)]*\)", "", rest):
            why = "what is called is known only when it runs"
        if why:
            self.found.append(f"{self.path}:{number}: {self.here.name}: {name}: {why}")
        elif base == "fma":
            kind = "f64" if "f64" in parts else "f32"
            self.here.fused.setdefault(kind, number)

    def reached(self, name, seen):
        """The functions that a kernel runs, by what it calls."""
        if name in self.functions and name not in seen:
            seen.add(name)
            for other in self.functions[name].calls:
                self.reached(other, seen)
        return seen

    def fused(self, entry):
        found = {}
        for name in sorted(self.reached(entry, set())):
            for kind, line in self.functions[name].fused.items():
                found.setdefault(kind, (name, line))
        return found

    def entries(self):
        return [f.name for f in self.functions.values() if f.entry]


def read_table(path, compiler, folders):
    """Name: None, or why it may fuse."""
    options = ["-DVT_GPU(n,a)=@ n plain", "-DVT_GPU_FUSED(n,a,w)=@ n w", *(f"-I{f}" for f in folders)]
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", *options, str(path)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return dict(re.findall(r"@\s*(\w+)\s+(\w+)", text))


def check_entry(file, name, why):
    """What a kernel fuses against what it says."""
    fused = file.fused(name)
    for kind, (where, line) in sorted(fused.items()):
        if why == "plain" or (kind == "f64" and why != "wide"):
            within = "" if where == name else f" (in {where})"
            yield f"{file.path}:{line}: {name}: {kind} is fused{within}, and its row is {why}"
    if why != "plain" and why not in REASONS:
        yield f"{file.path}: {name}: the reason {why} is none of {', '.join(REASONS)}"


def check_files(files, table, patterns):
    found, seen, fuses = [], set(), set()
    for file in files:
        found += file.found
        if not file.operations:
            found.append(f"{file.path}: nothing to see")
        for name in file.entries():
            why = next((w for p, w in patterns if re.search(p, name)), "plain")
            if table is not None and name not in table:
                found.append(f"{file.path}: {name} is no row of the table")
            elif table is not None:
                why = table[name]
            seen.add(name)
            if file.fused(name):
                fuses.add(name)
            found += check_entry(file, name, why)
    for name, why in (table or {}).items():
        if name not in seen:
            found.append(f"{name}: a row of the table, and in no file")
        elif why != "plain" and name not in fuses:
            found.append(f"{name}: its row says {why}, and nothing is fused in it")
    return found


def list_spills(paths):
    """Lines for the kernels that keep registers in memory, from what ptxas said."""
    lines, kernels = [], 0
    for path in paths:
        name = arch = "?"
        for line in path.read_text().splitlines():
            match = re.search(r"Compiling entry function '\w+' for '(\w+)'", line)
            if match:
                arch, kernels = match[1], kernels + 1
            match = re.search(r"Function properties for (\w+)", line)
            if match:
                name = match[1]
            match = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
            if match and (int(match[2]) or int(match[3])):
                lines.append(f"spills: {path.stem} {name} {arch}: {match[2]} bytes stored, {match[3]} loaded")
    return lines, kernels


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--fused", action="append", default=[])
    parser.add_argument("--usage", action="append", default=[], type=pathlib.Path)
    a = parser.parse_intermixed_args(arguments)
    files = [File(path) for path in a.files]
    table = read_table(a.table, a.cc, a.include) if a.table else None
    found = check_files(files, table, [tuple(f.rsplit("=", 1)) for f in a.fused])
    spills, kernels = list_spills(a.usage)
    if a.usage:
        spills.append(f"registers: {kernels} kernels, {len(spills)} of them spill")
    print("".join(line + "\n" for line in found + spills), end="")
    if found or not files:
        print(f"operations that the numerics do not allow: {len(found)}")
        return 1
    targets = sorted({f.target for f in files})
    print(f"ptx: {sum(len(f.entries()) for f in files)} kernels, {sum(f.operations for f in files)} operations "
          f"({', '.join(targets)}), each as the numerics have it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
