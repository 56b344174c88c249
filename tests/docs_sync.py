#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_sync.py BINARY [--update | --self-check] [--root DIR] - tests that the pages agree with the program.

  commands   `$ volta ...` in sh and console blocks runs, and in console blocks prints the output shown; there is
             no other line that looks like a call of volta
  models     every vt block passes `volta check`
  python     the Python in docs/numerics.md and docs/numerics-training.md gives the bits of the program
  ops        docs/ops.md is the output of `volta ops --markdown` (--update writes it)
  meanings   docs/numerics.md names every op, docs/numerics-training.md every op with a gradient
  codes      docs/exit-codes.md has the codes of status.def and of `volta explain`
  variables  docs/exit-codes.md has the environment variables that are read
  verbs      the table of docs/command-line.md has the verbs of `volta --help`
  links      the targets of relative links, their anchors and paths in backquotes exist
  words      no page has a note of its author to do something later

A command must exit with 0, or with N if its line ends with `# exit N`. In the output shown, a line `...` matches any
number of lines. --self-check plants a fault for each check in a copy of the tree and fails if it is not found.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from docs_restated import check_python

TIMEOUT_S = 120
FENCE = re.compile(r"^ {0,3}(`{3,})\s*(\S*)\s*$")
COMMAND = re.compile(r"^\$ (?:build/)?volta(?: |$)")
CALL = re.compile(r"^(?:\$ )?(?:build/)?volta ")
SHELL = ("sh", "console")
WORDS = re.compile("|".join((r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bX" r"XX\b")))  # split, so that this file has none of them


class Block:
    """A fenced block: its tag, the number of its first line, its lines."""

    def __init__(self, tag, line):
        self.tag, self.line, self.lines = tag, line, []

    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Page:
    def __init__(self, root, path):
        self.path, self.name = path, path.relative_to(root).as_posix()
        self.blocks, self.prose = [], []  # prose: (line number, text) of each line outside of blocks
        block, fence = None, ""
        for n, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            mark = FENCE.match(line)
            if block is None and mark:
                block, fence = Block(mark[2], n + 1), mark[1]
            elif block is not None and mark and not mark[2] and len(mark[1]) >= len(fence):
                self.blocks.append(block)
                block = None
            elif block is not None:
                block.lines.append(line)
            else:
                self.prose.append((n, line))
        if block is not None:
            self.blocks.append(block)

    def section(self, title):
        """The lines of prose under `## title`."""
        inside = False
        for n, line in self.prose:
            if line.startswith("## "):
                inside = line == "## " + title
            elif inside:
                yield n, line

    def rows(self, title):
        """The cells of the table rows of a section, without heads and backquotes."""
        for n, line in self.section(title):
            cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and not set(cells[0]) <= set("-:") and cells[0] not in HEADS:
                yield n, cells


HEADS = {"verb", "exit", "status", "variable"}


class Tree:
    def __init__(self, root, binary):
        self.root, self.binary = pathlib.Path(root), os.path.abspath(binary)
        files = [p for p in sorted(self.root.rglob("*.md")) if not self.is_foreign(p)]
        self.pages = [Page(self.root, p) for p in files]

    def is_foreign(self, path):
        first = path.relative_to(self.root).parts[0]
        return first.startswith("build") or first == ".git"

    def page(self, name):
        for page in self.pages:
            if page.name == name:
                return page
        raise SystemExit(f"docs_sync.py: there is no {name}")

    def documents(self):
        return [p for p in self.pages if p.name == "README.md" or p.name.startswith("docs/")]

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def volta(self, *arguments, **options):
        done = subprocess.run([self.binary, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False, **options)
        return done.returncode, done.stdout.decode("utf-8", "backslashreplace")


# ---- commands ------------------------------------------------------------------------------------

def environment(folder):
    env = {"PATH": f"{folder}/build:" + os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
    env.update((k, v) for k, v in os.environ.items() if re.match("(A|UB|L|T)SAN_", k))
    return env


def prepare(tree, folder):
    """A temporary folder with links to examples/ and build/volta, in which the commands of pages run."""
    shutil.copytree(tree.root / "examples", pathlib.Path(folder, "examples"))
    os.mkdir(os.path.join(folder, "build"))
    os.symlink(tree.binary, os.path.join(folder, "build", "volta"))


def cases(block):
    """(line, command, expected lines) for each `$ ` line; a backslash at its end continues the command."""
    found, open_command = [], False
    for n, line in enumerate(block.lines, block.line):
        if open_command:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([n, line, []])
        elif found:
            found[-1][2].append(line)
        open_command = (open_command or line.startswith("$ ")) and line.endswith("\\")
    return found


def left_out(page, block, run):
    """Yields the lines that look like a call of volta but do not start with `$ `, so that nothing runs them."""
    checked = set()
    for first, command, expected in cases(block) if run else ():
        end = first + command.count("\n") + 1
        checked.update(range(first, end + len(expected) if block.tag == "console" else end))
    for n, line in enumerate(block.lines, block.line):
        if CALL.match(line) and n not in checked:
            yield f"{page.name}:{n}: this is not run; write `$ ` before it, or tag the block text: {line}"


def is_shown(expected, output):
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, output) is not None


def run_case(page, block, case, folder):
    line, command, expected = case
    where = f"{page.name}:{line}"
    if not COMMAND.match(command):
        if block.tag == "console":
            yield f"{where}: a console block shows volta only; this cannot be checked: {command}"
        return
    code = re.search(r"\s# exit (\d+)$", command)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command[2:]], cwd=folder, env=environment(folder),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIMEOUT_S, check=False)
    output = done.stdout.decode("utf-8", "backslashreplace")
    if done.returncode != (int(code[1]) if code else 0):
        yield f"{where}: exit code {done.returncode}: {command}\n{output}"
    elif block.tag == "console" and not is_shown(expected, output):
        yield f"{where}: another output: {command}\n{output}"


def check_commands(tree):
    documents = tree.documents()
    for page in tree.pages:
        for block in page.blocks:
            yield from left_out(page, block, page in documents) if block.tag in SHELL else ()
    for page in documents:
        with tempfile.TemporaryDirectory(prefix="volta-docs-") as folder:
            prepare(tree, folder)
            for block in page.blocks:
                for case in cases(block) if block.tag in SHELL else ():
                    yield from run_case(page, block, case, folder)


# ---- models --------------------------------------------------------------------------------------

def check_models(tree):
    for page in tree.documents():
        for block in page.blocks:
            if block.tag != "vt":
                continue
            with tempfile.TemporaryDirectory(prefix="volta-docs-") as folder:
                path = pathlib.Path(folder, "model.vt")
                path.write_text(block.text(), encoding="utf-8")
                code, output = tree.volta("check", str(path))
            if code != 0:
                yield f"{page.name}:{block.line}: volta check: {output.replace(folder + '/', '')}"


# ---- tables --------------------------------------------------------------------------------------

def check_ops(tree):
    code, output = tree.volta("ops", "--markdown")
    path = tree.root / "docs/ops.md"
    if code != 0 or not path.is_file() or path.read_text(encoding="utf-8") != output:
        yield "docs/ops.md: not what `volta ops --markdown` prints; --update writes it"


def names_of(page):
    """The words between backquotes, and those of blocks without a language."""
    code = re.findall(r"`([^`]+)`", "\n".join(line for _, line in page.prose))
    return set(re.findall(r"\w+", " ".join(code + [b.text() for b in page.blocks if not b.tag])))


def check_meanings(tree):
    code, output = tree.volta("ops", "--json")
    ops = json.loads(output)["ops"] if code == 0 else []
    if not ops:
        yield f"volta ops --json: exit code {code}"
    for name, wanted in (("docs/numerics.md", lambda op: True),
                         ("docs/numerics-training.md", lambda op: op["differentiable"])):
        names = names_of(tree.page(name))
        yield from (f"{name}: nothing is said of `{op['name']}`" for op in ops if wanted(op) and op["name"] not in names)


def compare(what, page, shown, known):
    for row in sorted(set(known) - set(shown)):
        yield f"{page.name}: {what} {row} is missing"
    for row in sorted(set(shown) - set(known)):
        yield f"{page.name}: {what} {row} does not exist"


def check_codes(tree):
    page = tree.page("docs/exit-codes.md")
    rows = re.findall(r'^VT_STATUS\((\w+),\s*(\d+),\s*(\d+),\s*"([^"]*)"', tree.read("include/volta/status.def"), re.M)
    known = [(name.lower(), number, code, text) for name, number, code, text in rows]
    shown = [tuple(cells) for _, cells in page.rows("Status codes")]
    yield from compare("status", page, shown, known)
    yield from compare("exit code", page, [cells[0] for _, cells in page.rows("Exit codes")], [k[2] for k in known])
    said = [line.split(None, 3) for line in tree.volta("explain")[1].splitlines()[1:]]
    yield from compare("as `volta explain` has it, status", page, shown, [(x[1], x[0], x[2], x[3]) for x in said])


def check_variables(tree):
    page = tree.page("docs/exit-codes.md")
    shown = {cells[0] for _, cells in page.rows("Environment variables")}
    read = set()
    for path in sorted(tree.root.glob("src/**/*.c")):
        if not path.name.endswith("_test.c"):
            read.update(re.findall(r'getenv\s*\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
    for name in re.findall(r"^CLI_VARIABLE\((\w+)", tree.read("src/cli/variables.def"), re.M):
        if name not in read:
            yield f"src/cli/variables.def: {name} is not read anywhere"
        read.add(name)
    for path in [tree.root / "Makefile", *sorted(tree.root.glob("scripts/*.sh"))]:
        read.update(re.findall(r"\$\{?(VOLTA_\w+)", path.read_text(encoding="utf-8")))
    yield from compare("variable", page, shown, read)


def check_verbs(tree):
    page = tree.page("docs/command-line.md")
    verbs = re.search(r"^verbs:\n(.*?)\n\n", tree.volta("--help")[1], re.M | re.S)
    known = re.findall(r"^  (\w+)", verbs[1], re.M) if verbs else []
    yield from compare("verb", page, [cells[0] for _, cells in page.rows("The verbs")], known)


# ---- links and words -----------------------------------------------------------------------------

def anchors(page):
    """The anchors that GitHub gives to the headings of a page."""
    found = set()
    for _, line in page.prose:
        if line.startswith("#"):
            text = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(text.replace(" ", "-"))
    return found


PATH = re.compile(r"`((?:src|docs|tests|tools|examples|scripts|include|cmake)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def check_links(tree):
    known = {page.path.resolve(): anchors(page) for page in tree.pages}
    for page in tree.pages:
        for n, line in page.prose:
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                path = (page.path.parent / name).resolve() if name else page.path.resolve()
                if not path.exists():
                    yield f"{page.name}:{n}: the link {target} leads nowhere"
                elif anchor and anchor not in known.get(path, ()):
                    yield f"{page.name}:{n}: {target}: there is no such heading"
            for name in PATH.findall(line):
                if not (tree.root / name).exists():
                    yield f"{page.name}:{n}: there is no {name}"


def check_words(tree):
    for page in tree.pages:
        for n, line in enumerate(page.path.read_text(encoding="utf-8").split("\n"), 1):
            if WORDS.search(line):
                yield f"{page.name}:{n}: a note to ourselves: {line.strip()}"


CHECKS = {"commands": check_commands, "models": check_models, "python": check_python, "ops": check_ops,
          "meanings": check_meanings, "codes": check_codes, "variables": check_variables,
          "verbs": check_verbs, "links": check_links, "words": check_words}

# ---- planted faults, to test that each check can fail ---------------------------------------------

PLANTS = [  # check, file, text to replace (empty: append at the end), new text, part of the expected message
    ("commands", "README.md", "3072 elements compared", "3073 elements compared", "another output"),
    ("commands", "README.md", "", "\n```sh\n$ volta run examples/mlp.vt\n```\n", "exit code 2"),
    ("commands", "README.md", "", "\n```sh\n$ volta check examples/mlp.vt  # exit 3\n```\n", "exit code 0"),
    ("commands", "README.md", "", "\n```console\n$ build/volta check examples/mlp.vt\n```\n", "another output"),
    ("commands", "README.md", "", "\n```console\n$ volta ops\n...\n 1014  none\n```\n", "another output"),
    ("commands", "README.md", "", "\n```console\n$ make run\n```\n", "cannot be checked"),
    ("commands", "README.md", "", "\n```sh\nbuild/volta check nothing.vt\n```\n", "this is not run"),
    ("commands", "README.md", "", "\n```sh\n$ volta ops\nvolta check nothing.vt\n```\n", "this is not run"),
    ("commands", "docs/README.md", "", "\n```console\nvolta ops\n```\n", "this is not run"),
    ("commands", "CONTRIBUTING.md", "", "\n```sh\n$ volta check nothing.vt\n```\n", "this is not run"),
    ("commands", "examples/published.digests", "\n23af", "\n33af", "exit code 1"),
    ("models", "README.md", "gelu(linear", "gelo(linear", "unknown op"),
    ("models", "docs/text-form.md", "relu(matmul(x, w1) + b1)", "relu(matmul(x, w2) + b1)", "volta check"),
    ("python", "docs/numerics.md", "range(0, len(x), 1024)", "range(0, len(x), 1000)", "differ in 'sum64'"),
    ("python", "docs/numerics.md", "s[l] = rounded(", "s[l] = float(", "differ in 'sum32'"),
    ("python", "docs/numerics.md", "for g in range(0, len(p), 8)", "for g in range(0, len(p), 9)", "differ in 'dot'"),
    ("python", "docs/numerics.md", "or present[k]", "or True", "differ in 'masked'"),
    ("python", "docs/numerics.md", "range(10)", "range(9)", "differ in 'w'"),
    ("python", "docs/numerics.md", "(even >> 8) + 1", "(even >> 8) + 2", "differ in 'g'"),
    ("python", "docs/numerics.md", '"little")', '"big")', "differ in 'k'"),
    ("python", "docs/numerics.md", "0x7f800000, 0x7fc00000", "0x7f800000, 0x7fc00001", "differ in the digest of f32"),
    ("python", "docs/numerics.md", "2**20)]", "2**21)]", "differ in the digest of u8"),
    ("python", "docs/numerics.md", 'b"volta1 run"', 'b"volta1run"', "differ in the digest of a run"),
    ("python", "docs/numerics.md", "def T(p, rounded=float):", "def T(p, rounded=float)", "fails"),
    ("python", "docs/numerics.md", '"f16": (11, -24', '"f16": (11, -25', "differ in 'cast to f16'"),
    ("python", "docs/numerics.md", "(8, -133, 128", "(8, -133, 127", "differ in 'cast to bf16'"),
    ("python", "docs/numerics.md", "round(q / place)", "math.floor(q / place + Fraction(1, 2))", "'cast to f16'"),
    ("python", "docs/numerics.md", "if i % 32 == 31:", "if i % 1024 == 1023:", "differ in 'cumsum'"),
    ("python", "docs/numerics.md", "rounded(carry + z)", "rounded(rounded(carry + b) + a)", "differ in 'cumsum'"),
    ("python", "docs/numerics.md", "// groups) * depth", "// groups) * 0", "differ in 'conv'"),
    ("python", "docs/numerics.md", "map(range, kernel))), []", "map(range, kernel)))[::-1], []", "differ in 'conv'"),
    ("python", "docs/numerics.md", "] == 0 for j in axes)", "] >= 0 for j in axes)", "differ in 'conv_transpose'"),
    ("python", "docs/numerics.md", "for c, *k in product(range(first, first + depth), *map(range, kernel)):",
     "for c, *k in list(product(range(first, first + depth), *map(range, kernel)))[::-1]:", "'conv_transpose'"),
    ("python", "docs/numerics.md", "e = [exp32(f32(s[j] - m))", "e = [exp32(s[j] - m)", "differ in 'attention'"),
    ("python", "docs/numerics.md", "present, fma32, f32) / l)", "present, fma32, f32) * f32(1 / l))", "'attention'"),
    ("python", "docs/numerics-training.md", "f32(1 - beta1)", "f32(1 - f32(beta1))", "differ in 'adam'"),
    ("python", "docs/numerics-training.md", "f32(rate * decay) * w", "f32(rate) * f32(decay) * w", "differ in 'adam'"),
    ("ops", "docs/ops.md", "softmax", "softmux", "not what"),
    ("meanings", "docs/numerics.md", "| `stack(x..., axis)`", "| `pile(x..., axis)`", "said of `stack`"),
    ("meanings", "docs/numerics-training.md", "| `squeeze` `unsqueeze`", "| `squeeze`", "said of `unsqueeze`"),
    ("codes", "docs/exit-codes.md", "| bind | 3 | 2 |", "| bind | 3 | 3 |", "status ('bind', '3', '2'"),
    ("codes", "docs/exit-codes.md", "| 70 |", "| 71 |", "exit code 70 is missing"),
    ("codes", "include/volta/status.def", '"usage error"', '"use error"', "'use error') is missing"),
    ("variables", "docs/exit-codes.md", "| `NO_COLOR` |", "| `NO_COLOUR` |", "variable NO_COLOR is missing"),
    ("variables", "src/api/environment.c", '"VOLTA_BACKEND")', '"VOLTA_ENGINE")', "VOLTA_ENGINE is missing"),
    ("variables", "src/cli/variables.def", "CLI_VARIABLE(NO_COLOR", "CLI_VARIABLE(COLORS", "COLORS is not read"),
    ("variables", "scripts/test.sh", "VOLTA_REQUIRE-", "VOLTA_NEEDS-", "VOLTA_NEEDS is missing"),
    ("verbs", "docs/command-line.md", "| `inspect` |", "| `inspects` |", "verb inspect is missing"),
    ("verbs", "docs/command-line.md", "| `inspect` |", "| `inspects` |", "verb inspects does not exist"),
    ("links", "README.md", "](docs/numerics.md)", "](docs/numbers.md)", "leads nowhere"),
    ("links", "docs/tensor-files.md", "numerics.md#values", "numerics.md#value", "no such heading"),
    ("links", "docs/numerics.md", "`src/num/functions.c`", "`src/num/function.c`", "there is no src/num/function.c"),
    ("words", "CONTRIBUTING.md", "", "\nTO" "DO: say more\n", "a note to ourselves"),
    ("words", "docs/README.md", "", "\nFIX" "ME\n", "a note to ourselves"),
]


def copy_tree(root, folder):
    for name in ("docs", "examples", "include", "scripts", "src", "tests", "tools", "cmake"):
        if (root / name).exists():
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("golden", "__pycache__"))
    for path in root.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)


def plant(folder, name, old, new):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    if old and old not in text:
        return f"{name} does not hold {old!r} any more"
    path.write_text(text.replace(old, new) if old else text + new, encoding="utf-8")
    return None


def self_check(root, binary):
    missed = 0
    with tempfile.TemporaryDirectory(prefix="volta-docs-") as top:
        folder = pathlib.Path(top)
        copy_tree(root, folder)
        plants = PLANTS if os.environ.get("VOLTA_TEST_FULL") else PLANTS[::3]  # the short form plants every third fault
        for check, name, old, new, said in plants:
            before = (folder / name).read_text(encoding="utf-8")
            problem = plant(folder, name, old, new)
            found = [] if problem else list(CHECKS[check](Tree(folder, binary)))
            (folder / name).write_text(before, encoding="utf-8")
            if problem or not any(said in line for line in found):
                missed += 1
                print(f"MISSED {check}: {problem or f'{old!r} -> {new!r} in {name}: {found}'}")
        idle = set(CHECKS) - {row[0] for row in PLANTS}
        print(f"{len(plants)} faults planted, {missed} missed" + "".join(f"; no fault for {c}" for c in sorted(idle)))
    return 1 if missed or idle else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="path of volta")
    parser.add_argument("--update", action="store_true", help="write docs/ops.md")
    parser.add_argument("--self-check", action="store_true", help="show that each check can fail")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--only", choices=sorted(CHECKS), help="one check")
    options = parser.parse_args()
    if options.self_check:
        return self_check(options.root, options.binary)
    tree = Tree(options.root, options.binary)
    if options.update:
        code, output = tree.volta("ops", "--markdown")
        if code != 0:
            sys.exit(f"docs_sync.py: volta ops --markdown: {output}")
        (options.root / "docs/ops.md").write_text(output, encoding="utf-8")
    problems = [p for name, check in CHECKS.items() if options.only in (None, name) for p in check(tree)]
    for problem in problems:
        print(problem.rstrip("\n"))
    blocks = [b for page in tree.documents() for b in page.blocks]
    commands = sum(COMMAND.match(c[1]) is not None for b in blocks if b.tag in SHELL for c in cases(b))
    models = sum(b.tag == "vt" for b in blocks)
    print(f"{len(tree.pages)} pages, {commands} commands, {models} models: {len(problems)} problems")
    return 1 if problems or commands == 0 or models == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
