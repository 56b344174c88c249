#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_sizes.py [ROOT] - fails if a file or a function has more lines than the limits below, and warns of long files."""
import pathlib
import re
import sys

import c_source

FILE_WARN, FILE_MAX = 700, 1000
FUNCTION_MAX = 120
FILE_MAX_OF = {"include/volta/volta.h": 600}  # limits for single files: this is the header that users read first
SCRIPTS = (".py", ".sh")

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
# The text before the opening brace of a function ends in a parameter list and at most one attribute.
FUNCTION_HEAD = re.compile(r"\)\s*\w*\s*\Z")


def open_parenthesis(code, end):
    """The position of the parenthesis that the last `)` before `end` closes."""
    depth = 0
    for at in range(code.rindex(")", 0, end), -1, -1):
        depth += {")": 1, "(": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return end


def functions(text):
    """(first line, number of lines) of each function of a C file.

    The text has both branches of each #if, so braces may not pair up: a `}` in the first column closes
    all open blocks.
    """
    code = DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), c_source.code_only(text))
    depth, start, since = 0, None, 0
    for brace in re.finditer(r"[{};]", code):
        at = brace.start()
        if brace[0] == "{":
            head = code[since:at]
            if depth == 0 and head.split()[-1:] == ["extern"]:
                continue  # the functions inside extern "C" { ... } count as outermost
            if depth == 0:
                is_function = FUNCTION_HEAD.search(head) and "=" not in head
                start = open_parenthesis(code, at) if is_function else None
            depth += 1
        elif brace[0] == "}" and depth > 0:
            depth = 0 if code[at - 1 : at] == "\n" else depth - 1
            if depth == 0 and start is not None:
                yield code.count("\n", 0, start) + 1, code.count("\n", start, at) + 1
                start = None
        if depth == 0:
            since = at + 1


def rank(values, share):
    """The smallest value that at least `share` percent of the sorted values do not exceed."""
    return values[max(0, -(-len(values) * share // 100) - 1)]


class Check:
    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.failures, self.warnings, self.lengths, self.source_lines = [], [], [], 0

    def file(self, path, text):
        lines = text.count("\n") + (text != "" and not text.endswith("\n"))
        limit = FILE_MAX_OF.get(path.as_posix(), FILE_MAX)
        if lines > limit:
            self.failures.append(f"{path.as_posix()}: {lines} lines, {limit} at most")
        elif lines > FILE_WARN:
            self.warnings.append(f"{path.as_posix()}: {lines} lines, better under {FILE_WARN}")
        if path.parts[0] == "src" and not c_source.is_test(path):
            self.source_lines += lines

    def functions(self, path, text):
        for line, length in functions(text):
            if length > FUNCTION_MAX:
                self.failures.append(
                    f"{path.as_posix()}:{line}: a function of {length} lines, {FUNCTION_MAX} at most")
            if path.parts[0] == "src" and not c_source.is_test(path):
                self.lengths.append(length)

    def run(self):
        for path in c_source.find(self.top, c_source.SUFFIXES + SCRIPTS):
            text = (self.top / path).read_text(encoding="utf-8", errors="replace")
            self.file(path, text)
            if path.suffix in c_source.SUFFIXES and path.suffix != ".def":
                self.functions(path, text)

    def summary(self):
        lengths = sorted(self.lengths)
        text = f"sizes: src without tests: {self.source_lines} lines, {len(lengths)} functions"
        if lengths:
            text += f"; function length: median {rank(lengths, 50)}, p90 {rank(lengths, 90)}, max {lengths[-1]}"
        return text


def main(arguments):
    check = Check(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    check.run()
    for warning in check.warnings:
        print("warning: " + warning)
    for failure in check.failures:
        print(failure)
    print(check.summary())
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
