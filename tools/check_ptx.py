#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ptx.py [options] FILE.ptx... - audits compiled kernels: fails on PTX operations that would change results.

  --table KERNELS.DEF  the table of kernels: each must be in a file; those of rows VT_GPU_FUSED may use fma
  --cc COMPILER        the C compiler that preprocesses the table (default: cc)
  --include FOLDER     a folder with files that the table includes
  --fused REGEX=WHY    kernels without a table that may use fma: WHY is contraction, functions or wide
  --usage FILE         output of ptxas with the registers of each kernel; kernels that spill are listed

Every f32 and f64 add, sub, mul, fma, div, sqrt and rcp must carry .rn, because without it the assembler may fuse
two of them. Forbidden are approximate, flushing and saturating operations; the hardware's powers, logarithms,
sines and reciprocal roots; atomic operations, matrix operations and 16-bit arithmetic on floats; and every
rounding but to nearest. Only kernels with a reason WHY may fuse f32, and only the reason `wide` allows fused f64.
A function that a kernel calls counts as part of the kernel.
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
WORD = {"f32", "f32x2", "f64"}  # the float types that arithmetic may have
FLOAT = re.compile(r"^(f16|f16x2|bf16|bf16x2|tf32|f32|f32x2|f64|e[0-9]m[0-9](x[0-9])?|f8f6f4|mxf[0-9a-z]+|ue[0-9]m[0-9])$")
FUNCTION = re.compile(r"\.(entry|func)\b(?:\s*\([^)]*\))?\s+([A-Za-z_$%][\w$]*)")
OPERATION = re.compile(r"^(?:@!?%\w+\s+)?([a-z][a-z0-9]*(?:[.:]+[A-Za-z0-9_]+)*)\b(.*)$", re.S)
REASONS = ("contraction", "functions", "wide")


def why_forbidden(base, parts):
    """Why the operation `base` with the suffixes `parts` is forbidden, or None if it is allowed."""
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
        self.calls, self.fused = set(), {}  # fused: the line of the first fma of each type, "f32" or "f64"


class File:
    """One PTX file: its functions, and the operations that no kernel may use."""

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
        self.begun = self.strip_statement(f"{self.begun} {rest}")

    @staticmethod
    def strip_statement(text):
        """The text of a statement without leading braces and label; "" for directives, which have no semicolon."""
        text = re.sub(r"^[\s{}]*(?:[\w$]+:(?!:))?[\s{}]*", "", text)
        return "" if text.startswith((".", "(", ")")) else text

    def statement(self, number, text):
        operation = OPERATION.match(self.strip_statement(text))
        if operation and self.here:
            self.operation(number, operation[1], operation[2])

    def operation(self, number, name, rest):
        base, *parts = re.split(r"[.:]+", name)
        self.operations += 1
        if base == "call":
            self.here.calls.update(re.findall(r"[A-Za-z_$][\w$]*", rest))
        why = why_forbidden(base, parts)
        if base == "call" and "%" in re.sub(r"\([^)]*\)", "", rest):
            why = "an indirect call, whose target is known only at run time"
        if why:
            self.found.append(f"{self.path}:{number}: {self.here.name}: {name}: {why}")
        elif base == "fma":
            kind = "f64" if "f64" in parts else "f32"
            self.here.fused.setdefault(kind, number)

    def reached(self, name, seen):
        """Adds the function `name` and all that it calls, directly or not, to the set `seen`."""
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
    """The rows of the table: kernel name -> `plain`, or the reason why it may use fma."""
    options = ["-DVT_GPU(n,a)=@ n plain", "-DVT_GPU_FUSED(n,a,w)=@ n w", *(f"-I{f}" for f in folders)]
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", *options, str(path)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return dict(re.findall(r"@\s*(\w+)\s+(\w+)", text))


def check_entry(file, name, why):
    """Yields the complaints about a kernel that uses fma without a reason that allows it."""
    fused = file.fused(name)
    for kind, (where, line) in sorted(fused.items()):
        if why == "plain" or (kind == "f64" and why != "wide"):
            within = "" if where == name else f" (in {where})"
            yield f"{file.path}:{line}: {name}: {kind} is fused{within}, and its row is {why}"
    if why != "plain" and why not in REASONS:
        yield f"{file.path}: {name}: the reason {why} is not one of {', '.join(REASONS)}"


def check_files(files, table, patterns):
    found, seen, fuses = [], set(), set()
    for file in files:
        found += file.found
        if not file.operations:
            found.append(f"{file.path}: there are no operations to check")
        for name in file.entries():
            why = next((w for p, w in patterns if re.search(p, name)), "plain")
            if table is not None and name not in table:
                found.append(f"{file.path}: {name} has no row in the table")
            elif table is not None:
                why = table[name]
            seen.add(name)
            if file.fused(name):
                fuses.add(name)
            found += check_entry(file, name, why)
    for name, why in (table or {}).items():
        if name not in seen:
            found.append(f"{name}: it has a row in the table but is in no file")
        elif why != "plain" and name not in fuses:
            found.append(f"{name}: its row says {why}, but it uses no fma")
    return found


def list_spills(paths):
    """(a line for each kernel that spills registers, number of kernels), from the output of ptxas."""
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
          f"({', '.join(targets)}), none of them forbidden")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
