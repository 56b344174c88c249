#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_cli_tests.py - runs the commands of *.t and compares their output byte by byte.

A case file is plain text:

    # a comment
    $ volta check examples/mlp.vt        a command, run by bash from the root of the repository
    examples/mlp.vt: ok: ...             what it must write to standard output
    ! volta: error: ...                  what it must write to standard error
    ? 3                                  its exit code, if that is not 0

A command that uses script(1) needs a pseudo-terminal. On systems without one, such as some chroots and containers, the
runner skips the command with a message.

The commands of one file share a new folder, $TMP; in the output its path is replaced by $TMP. An output line that
starts with one of # $ ! ? \\ has a backslash in front, an empty line is written as a backslash, and a text that does not
end in a newline is followed by the line \\(no newline). Empty lines between cases have no meaning. --update writes the
actual output into the files."""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 120


def quote(text: str, prefix: str = "") -> list[str]:
    if not text:
        return []
    whole = text.endswith("\n")
    lines = text[:-1].split("\n") if whole else text.split("\n")
    if prefix:
        out = [(prefix + " " + line).rstrip(" ") if not line else prefix + " " + line for line in lines]
    else:
        out = ["\\" + line if line == "" or line[0] in "#$!?\\" else line for line in lines]
    return out if whole else out + [(prefix + " " if prefix else "") + "\\(no newline)"]


class Case:
    def __init__(self, command: str, line: int):
        self.command, self.line, self.expected = command, line, []


def parse(path: pathlib.Path):
    """The parts of the file in order: a Case for each command, a str for each line between them."""
    parts, case = [], None
    for n, line in enumerate(path.read_text().split("\n"), 1):
        if line.startswith("$ "):
            case = Case(line[2:], n)
            parts.append(case)
        elif line == "" or line.startswith("#"):
            parts.append(line)
        elif case is None:
            sys.exit(f"{path}:{n}: output before the first command")
        else:
            case.expected.append(line)
    while parts and parts[-1] == "":
        parts.pop()
    return parts


def run(case: Case, tmp: str, env: dict) -> list[str]:
    command = case.command.replace("$TMP", tmp)
    child = subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=env, start_new_session=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        streams = child.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the command and the processes that it started
        child.communicate()
        return [f"? no end after {TIMEOUT_S} s"]
    out, err = (b.decode("utf-8", "backslashreplace").replace(tmp, "$TMP") for b in streams)
    code = [f"? {child.returncode}"] if child.returncode else []
    return quote(out) + quote(err, "!") + code


def environment(programs: dict, folder: str) -> dict:
    """The environment of the commands, without the user's settings."""
    for name, path in programs.items():
        os.symlink(os.path.abspath(path), os.path.join(folder, name))
    env = {"PATH": folder + ":" + os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TERM": "xterm",
           "CUDA_VISIBLE_DEVICES": ""}  # hides GPUs, so that the output does not depend on them
    for name, value in os.environ.items():
        if name.startswith(("ASAN_", "UBSAN_", "LSAN_", "TSAN_")):
            env[name] = value
    return env


def terminal_lacking() -> str:
    """The reason why this system has no pseudo-terminal, or ""."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as problem:
        return f"this system gives no pseudo-terminal: {problem.strerror}"
    return ""


def run_file(path: pathlib.Path, env: dict, update: bool) -> tuple[int, int]:
    parts, failed, total = parse(path), 0, 0
    lacking = terminal_lacking()
    tmp = tempfile.mkdtemp(prefix="volta-cli-")
    try:
        for case in (p for p in parts if isinstance(p, Case)):
            if lacking and case.command.startswith("script "):
                print(f"SKIPPED: {path.relative_to(ROOT)}:{case.line}: {lacking}")
                continue
            total += 1
            actual = run(case, tmp, env)
            if actual == case.expected:
                continue
            if update:
                case.expected = actual
                continue
            failed += 1
            print(f"{path.relative_to(ROOT)}:{case.line}: $ {case.command}")
            print("\n".join(list(difflib.unified_diff(case.expected, actual, "expected", "actual", lineterm=""))))
    finally:
        shutil.rmtree(tmp)
    if update:
        lines = []
        for p in parts:
            lines += [p] if isinstance(p, str) else ["$ " + p.command, *p.expected]
        path.write_text("\n".join(lines) + "\n")
    return failed, total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", required=True, help="path of the binary under test")
    parser.add_argument("--diverging", help="path of the binary whose device reference:1 is wrong")
    parser.add_argument("--update", action="store_true", help="write the actual output into the files")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the files whose name matches")
    args = parser.parse_args()
    programs = {"volta": args.volta}
    if args.diverging:
        programs["volta-diverging"] = args.diverging
    for path in programs.values():
        if not os.access(path, os.X_OK):
            sys.exit(f"{path}: no such program")
    failed = total = 0
    with tempfile.TemporaryDirectory(prefix="volta-bin-") as folder:
        env = environment(programs, folder)
        for path in sorted(HERE.glob("*.t")):
            if re.search(args.only, path.name):
                f, n = run_file(path, env, args.update)
                failed, total = failed + f, total + n
    print(f"{total} commands, {failed} with another output than expected")
    return 1 if failed or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
