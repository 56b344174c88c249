#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_adding_op.py [--cc CC] [--build] [--keep FOLDER] - tests that the steps of docs/adding-an-op.md work.

The page adds two ops. A block of code is a step if the sentence before it ends in one of
    in `FILE`, after `TEXT`:      the block goes after the one line with this text
    in `FILE`, before `TEXT`:     it goes before that line
    at the end of `FILE`:
A step belongs to the ops that its block names. For each op the files of its steps must be those of the table under
"The files you touch", and at most ten. gen_ops must accept the new rows. Then one cell of the table at a time is
changed, and each such fault must be found.

--build carries out the steps in a copy of the tree, builds it, and runs the commands of the page and the tests of the
op table, on the reference, on the CPU and on the emulated GPU. The changed files must be those of the two tables of the
page. --keep FOLDER makes the copy in FOLDER and keeps it.
"""
import argparse
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/adding-an-op.md"
OPS = ("next_up", "gaussian")
MOST = 10
FENCE = re.compile(r"^```(\w*)$")
PLACE = re.compile(r"(?:\b[Ii]n `(?P<file>[^`]+)`, (?P<where>after|before) (?P<ticks>`+)(?P<text>.+?)(?P=ticks)"
                   r"|\b[Aa]t the end of `(?P<end>[^`]+)`):$")


class Fault(Exception):
    """A fault of the page, described in a sentence."""


# ---- the page ----

class Step:
    """Lines to insert into a file: after or before the line with `text`, or at the end."""

    def __init__(self, place, lines, number):
        self.file, self.where = place["file"] or place["end"], place["where"] or "end"
        self.text, self.lines, self.number = place["text"], lines, number
        self.ops = [op for op in OPS if op in "\n".join(lines)]

    def apply(self, root):
        path = root / self.file
        lines = path.read_text(encoding="utf-8").split("\n")
        at = len(lines) - 1
        if self.where != "end":
            found = [i for i, line in enumerate(lines) if self.text in line]
            if len(found) != 1:
                raise Fault(f"{PAGE}:{self.number}: `{self.text}` stands in {len(found)} lines of {self.file}")
            at = found[0] + (self.where == "after")
        path.write_text("\n".join(lines[:at] + self.lines + lines[at:]), encoding="utf-8")


class Page:
    def __init__(self, text):
        self.steps, self.blocks, self.tables = [], [], {}
        paragraph, block, number = [], None, 0
        for n, line in enumerate(text.split("\n"), 1):
            if FENCE.match(line) and block is None:
                block, number = [], n
            elif line == "```":
                self.end_block(" ".join(paragraph), block, number)
                paragraph, block = [], None
            elif block is not None:
                block.append(line)
            elif line.startswith("|"):
                cells = [re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")]
                self.tables.setdefault(self.title, []).append(cells)
            elif line.startswith("#"):
                self.title = line.strip("# ")
            elif line:
                paragraph = paragraph + [line]
            elif n > 1 and not PLACE.search(" ".join(paragraph)):
                paragraph = []

    def end_block(self, before, lines, number):
        place = PLACE.search(before)
        if place is None:
            self.blocks.append(lines)
        else:
            self.steps.append(Step(place, lines, number))

    def touched(self, op):
        """The files that the table lists for an op."""
        rows = self.tables["The files you touch"]
        columns = [i for i, cell in enumerate(rows[0]) if cell == [op]]
        if len(columns) != 1:
            raise Fault(f"{PAGE}: the table of the files has {len(columns)} columns for {op}")
        return {name for row in rows[2:] if len(row) == len(rows[0]) for name in row[columns[0]]}

    def generated(self):
        rows = self.tables["The files you touch"]
        return {row[0][0] for row in rows if len(row) == 2 and row[0] and row[1]}


def check_list(page):
    for step in page.steps:
        if not step.ops:
            raise Fault(f"{PAGE}:{step.number}: this block names neither of {', '.join(OPS)}")
    for op in OPS:
        table, steps = page.touched(op), {step.file for step in page.steps if op in step.ops}
        for name in sorted(steps - table):
            raise Fault(f"{PAGE}: {op} changes {name}, which the table of the files does not list")
        for name in sorted(table - steps):
            raise Fault(f"{PAGE}: the table of the files lists {name}, and no step of {op} changes it")
        if len(table) > MOST:
            raise Fault(f"{PAGE}: {op} touches {len(table)} files, more than {MOST}")


def check_spoiled(page):
    """Empties each cell of the table in turn, and puts another file into it; each change must be refused."""
    rows, refused = page.tables["The files you touch"], 0
    for row in rows[2:]:
        for column in range(1, len(rows[0])) if len(row) == len(rows[0]) else ():
            for other in ([], ["README.md"]):
                kept, row[column] = row[column], other
                elsewhere = [r[column] for r in rows if len(r) == len(rows[0])]
                try:
                    check_list(page)
                    if kept != other and (other or kept not in elsewhere):
                        raise SystemExit(f"{PAGE}: the list with {other} for {kept} was accepted")
                except Fault:
                    refused += 1
                row[column] = kept
    return refused


# ---- trees ----

def files_of(root):
    """The files of the tree, without build folders and files that git ignores."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, check=False)
    if listed.returncode == 0:
        names = {name for name in listed.stdout.decode().split("\0") if name}
    else:
        names = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not p.is_symlink()}
        names = {name for name in names if not re.match(r"build[^/]*/|\.git/", name)}
    return {name for name in names if (root / name).is_file()}


def copy_tree(names, to):
    for name in sorted(names):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)


def changed_files(names, to):
    """The files of the copy that differ from those of the tree."""
    known = {name for name in names if not (to / name).is_file() or not filecmp.cmp(ROOT / name, to / name, False)}
    new = {str(p.relative_to(to)) for p in to.rglob("*") if p.is_file()}
    return known | {name for name in new - set(names) if not re.match(r"build[^/]*/|.*__pycache__/", name)}


def run(arguments, cwd, **more):
    done = subprocess.run(arguments, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False, **more)
    said = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode != 0:
        raise Fault(f"{' '.join(map(str, arguments))}: status {done.returncode}\n{said[-3000:]}")
    return said


# ---- short: the rows ----

def check_rows(page, cc):
    with tempfile.TemporaryDirectory(prefix="volta-op-") as folder:
        to = pathlib.Path(folder)
        copy_tree({step.file for step in page.steps} | {f"src/op/{p.name}" for p in ROOT.glob("src/op/*.def")} |
                  {"tools/gen_ops.c"}, to)
        for step in page.steps:
            step.apply(to)
        run([cc, "-std=c11", "-I", "src/op", "tools/gen_ops.c", "-o", "gen_ops"], to)
        order, maps = run(["./gen_ops", "order"], to), run(["./gen_ops", "maps"], to)
        for op in OPS:
            if f"VT_ROW({op})" not in order:
                raise Fault(f"{PAGE}: the op table has no {op}")
        if "VT_MAP(next_up," not in maps:
            raise Fault(f"{PAGE}: the row of next_up names no formula")


# ---- long: the copy is built ----

TARGETS = ["volta", "cts", "gen_cli_docs", "elementwise_test", "activation_test", "form_test", "op_table_test",
           "cost_test", "maps_test", "cpu_map_test"]
TESTS = "^unit/(elementwise|activation|form|op_table|cost|maps|cpu_map)_test$"
ONLY = [word for op in OPS for word in ("--only", op)]


def build(to, *targets):
    run(["cmake", "--build", "build", "-j", str(os.cpu_count()), "--target", *targets], to)


def follow(page, to, cc):
    """The commands of the page in their order, with `make` replaced by a build of the targets that are needed."""
    words = {"make": lambda: build(to, *TARGETS), "make maps": lambda: build(to, "maps"),
             "make docs": lambda: build(to, "cli_docs"),
             "make test": lambda: run(["ctest", "--test-dir", "build", "-R", TESTS, "--output-on-failure"], to)}
    # -O0, because the build takes longer than the tests. GPU kernels are compiled as C++ for the emulated GPU.
    run(["scripts/configure.sh", "build", "-c", cc, "-DVOLTA_CUDA=FAKE",
         "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0"], to)
    commands = [line for block in page.blocks for line in block if line in words or line.startswith("build/")]
    commands.sort(key=lambda line: line != "make maps")  # first, because no build works without it
    for command in commands:
        if command in words:
            words[command]()
        else:
            run(["bash", "-o", "pipefail", "-c", command], to)
    return len(commands)


def check_lanes(to):
    """Tests that every backend lists both ops and gives the stored bits, also with fused groups."""
    cts = ["build/cts", *ONLY]
    run([*cts, "--backend", "cpu", "--isa", "scalar", "--fused"], to)
    run([*cts, "--backend", "cpu", "--fused"], to)
    for backend in ("reference", "cpu"):
        row = re.search(r"^ *\d+ .*next_up\(.*$", run(["build/volta", "ops", "--backend", backend], to), re.M)
        if row is None or " no " in row[0]:
            raise Fault(f"{backend} does not run next_up: {row and row[0]}")
    if subprocess.run(["cmake", "--build", "build", "--target", "help"], cwd=to, capture_output=True,
                      check=False).stdout.decode().find("fake_cuda:") < 0:
        print("no C++ compiler: kernels for GPUs are not run")
        return
    build(to, "fake_cuda")
    run([*cts, "--backend", "cuda", "--fused"], to, env={**os.environ, "LD_LIBRARY_PATH": str(to / "build/fake_cuda")})


def check_peers(to):
    done = subprocess.run([sys.executable, "-B", "tests/cts/peers.py", "--binary", "build/cts", *ONLY], cwd=to,
                          capture_output=True, check=False)
    if done.returncode not in (0, 77):
        raise Fault(f"peers.py: {done.stdout.decode()[-3000:]}")


def check_format(to):
    done = subprocess.run(["tools/check_format.sh"], cwd=to, capture_output=True, check=False)
    if done.returncode not in (0, 77):
        raise Fault(f"check_format.sh: {done.stderr.decode()[-3000:]}")


def check_pages(to):
    """Tests that docs/ops.md is up to date, and that the pages of the numerics name both ops."""
    sys.path.insert(0, str(to / "tests"))
    import docs_sync
    tree = docs_sync.Tree(to, to / "build/volta")
    for fault in [*docs_sync.check_ops(tree), *docs_sync.check_meanings(tree)]:
        raise Fault(fault)


def check_built(page, cc, to):
    names = files_of(ROOT)
    copy_tree(names, to)
    for step in page.steps:
        step.apply(to)
    model = next(block for block in page.blocks if block[0] == "volta 1")
    (to / "bells.vt").write_text("\n".join(model) + "\n", encoding="utf-8")
    n = follow(page, to, cc)
    (to / "bells.vt").unlink()
    check_lanes(to)
    check_peers(to)
    check_pages(to)
    check_format(to)
    changed = changed_files(names, to)
    listed = set.union(page.generated(), *(page.touched(op) for op in OPS))
    for name in sorted(changed - listed):
        raise Fault(f"{PAGE}: {name} has changed, which the page does not list")
    for name in sorted(listed - changed):
        raise Fault(f"{PAGE}: {name} is listed and has not changed")
    print(f"built: {n} commands of the page, {len(changed)} files changed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--keep", help="where the copy is made and left")
    a = parser.parse_args()
    os.environ.pop("VOLTA_TEST_FULL", None)  # short tests show that the page works; the kernels are tested elsewhere
    page = Page((ROOT / PAGE).read_text(encoding="utf-8"))
    try:
        check_list(page)
        check_rows(page, a.cc)
        spoiled = check_spoiled(page)
        if a.build and a.keep:
            check_built(page, a.cc, pathlib.Path(a.keep).resolve())
        elif a.build:
            with tempfile.TemporaryDirectory(prefix="volta-op-") as folder:
                check_built(page, a.cc, pathlib.Path(folder).resolve())
    except Fault as fault:
        print(f"FAILED: {fault}")
        return 1
    print("; ".join(f"{op} touches {len(page.touched(op))} files" for op in OPS) + f"; {spoiled} wrong lists refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
