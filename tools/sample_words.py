#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sample_words.py [--comments N] [--names N] [--seed TEXT] [--also TEXT] - draws comments and function names at random.

A reader who has not seen the code judges the sample, so that no author chooses it. It has 120 comments and 100
functions by default. The seed is the hash of the committed tree, so that everybody draws the same sample for one
commit; --also adds text to the seed, to draw another sample for the same commit. A comment is printed with the line
that it annotates, a function with its signature, and both with the header comment of their file. Header comments
themselves are not drawn.
"""
import argparse
import ast
import pathlib
import random
import re
import subprocess

import c_source

FOLDERS = ("src", "include", "tests", "bench", "tools", "scripts", "cmake", "examples")
SCRIPTS = (".py", ".sh", ".cmake")
DIRECTIVE = r"(?:include|ifn?def|if|endif|else|define|undef|error)\b"  # of C code inside a script
FUNCTION = re.compile(r"^(?!typedef|return|else|#)[A-Za-z_][\w \t*]*?[ *](\w+)\(([^;{}]*?)\)\s*\{", re.M)


def clean(comment):
    text = re.sub(r"^\s*(?:/?\*+/?|//+|#)[ \t]?", "", comment, flags=re.M)
    return re.sub(r"\s+", " ", text.replace("*/", " ")).strip()


def is_worded(text):
    """False for licences, section lines, annotations of linters and comments of one or two words."""
    return len(re.findall(r"[A-Za-z]{2,}", text)) > 2 and not re.match(r"SPDX|-{3}|clang-format|NOLINT", text)


def header_of(text, found):
    """(text, end) of the file's header: its first comment with more than the licence line; ("", 0) if there is none."""
    for start, end, raw in found[:3]:
        words = re.sub(r"^SPDX-License-Identifier: \S+\s*", "", clean(raw))
        if words and text[:start].count("\n") < 6:
            return words, end
    return "", 0


def annotated(text, start, end):
    """The code that a comment annotates: the code before it on its line, or else the next line of code."""
    before = text[text.rfind("\n", 0, start) + 1:start].strip()
    if before:
        return before
    following = [line.strip() for line in text[end:].splitlines() if line.strip()]
    return following[0] if following else ""


def comments_of_c(text):
    """(start, end, text) of each comment; neighbouring lines of // comments are one comment."""
    found = []
    for m in c_source._LITERAL.finditer(text):
        if not m["comment"]:
            continue
        joins = found and m[0].startswith("//") and found[-1][2].startswith("//")
        if joins and text[found[-1][1]:m.start()].strip(" \t") == "\n":
            found[-1] = (found[-1][0], m.end(), text[found[-1][0]:m.end()])
        else:
            found.append((m.start(), m.end(), m[0]))
    return found


def comments_of_script(text):
    return [(m.start(), m.end(), m[0]) for m in re.finditer(r"(?:^[ \t]*#(?!!|" + DIRECTIVE + r").*\n)+", text, re.M)]


class Tree:
    def __init__(self, top):
        self.comments, self.functions = [], []
        for path in c_source.find(top, c_source.SUFFIXES + SCRIPTS):
            if path.parts[0] in FOLDERS:
                self.read(path, (top / path).read_text(encoding="utf-8", errors="replace"))

    def read(self, path, text):
        c = path.suffix in c_source.SUFFIXES
        found = comments_of_c(text) if c else comments_of_script(text)
        header, after = header_of(text, found)
        if path.suffix == ".py":
            header, after = re.sub(r"\s+", " ", ast.get_docstring(ast.parse(text)) or ""), 0
        where = path.as_posix()
        for start, end, raw in found:
            if start >= after and is_worded(clean(raw)):
                line = text.count("\n", 0, start) + 1
                self.comments.append((f"{where}:{line}", header, annotated(text, start, end), clean(raw)))
        if c and path.suffix != ".def":
            for m in FUNCTION.finditer(c_source.code_only(text)):
                line = text.count("\n", 0, m.start(1)) + 1
                signature = re.sub(r"\s+", " ", text[m.start():m.end() - 1]).strip()
                self.functions.append((f"{where}:{line}", header, signature, m[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comments", type=int, default=120)
    parser.add_argument("--names", type=int, default=100)
    parser.add_argument("--seed")
    parser.add_argument("--also", default="")
    args = parser.parse_args()
    top = pathlib.Path(__file__).resolve().parent.parent
    seed = args.seed or subprocess.run(["git", "-C", str(top), "rev-parse", "HEAD^{tree}"], check=True,
                                       capture_output=True, text=True).stdout.strip()
    tree, draw = Tree(top), random.Random(seed + args.also)
    print(f"seed {seed}{args.also}; {len(tree.comments)} comments, {len(tree.functions)} functions\n")
    for i, (where, header, code, text) in enumerate(draw.sample(tree.comments, args.comments), 1):
        print(f"C{i} {where}\n  file: {header}\n  code: {code}\n  comment: {text}\n")
    for i, (where, header, signature, name) in enumerate(draw.sample(tree.functions, args.names), 1):
        print(f"F{i} {where}\n  file: {header}\n  function: {signature}\n")


if __name__ == "__main__":
    main()
