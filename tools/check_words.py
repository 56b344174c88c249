#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_words.py [--long] [ROOT] - checks names in code, and sentences in comments, docstrings and pages.

It fails on
  - the name of a file, or an identifier of C code, if a whole part between underscores is a word in backticks of
    the column `not` of docs/glossary.md, unless the page's exceptions list the name;
  - a sentence that starts with a relative clause or a genitive instead of its subject;
  - idioms that are not English.
With --long it also lists the sentences of more than 40 words, which do not fail.
"""
import argparse
import fnmatch
import pathlib
import re
import sys

import c_source

GLOSSARY = "docs/glossary.md"
PROSE_SUFFIXES = (".md",)
SCRIPT_SUFFIXES = (".py", ".sh", ".cmake")
LONG = 40

OPENINGS = re.compile(
    r"(?:What (?:is|it|is|a|an|are|was|the|comes|no|they|has)\b(?![^.?!]*\?)|Of (?:the|a|an|each|two|what|those|these|several)\b|"
    r"That is no\b|Nor is\b|Not so\b|So few\b|So many\b)")
IDIOMS = [
    (re.compile(pattern), better) for pattern, better in (
        (r"(?<!\bthere )\b(?:is|are|was|were|has|have) none\b(?! of\b)", "there is no X, or X has no Y"),
        (r"\b(?:is|are) no [a-z]+ (?:of|that|which)\b", "is not a X that"),
        (r"\bfrom (?!now\b|then\b)[a-z0-9]+ on\b(?! the\b| a\b)", "starting at X"),
        (r"\bso many\b", "that number of"),
        (r"\bone an? (?:thread|block|warp|lane|row|line|run|step|call|launch|op|element|family|file)\b", "one per X"),
        (r"\bcomes? besides\b|\bbesides?(?=[.,;:)])", "in addition, or also"),
        (r"\boverheard\b", "ignored"),
        (r"\bas (?:it|they) (?:lies?|stands?)\b", "unchanged"),
        (r"\blies? (?:over|beside)\b", "aliases, or is next to"),
        (r"\bwhat is (?:not )?(?:made|given|read|kept|left|asked|said)\b", "name the thing"),
    )
]
TRIPLE_QUOTED = re.compile(r'([^\n]*?)"""(.*?)"""', re.S)
DIRECTIVE = r"(?:include|ifn?def|if|endif|else|define|undef|error)\b"  # of C code inside a script
IDENTIFIER = re.compile(r"(?<![\w\\%])[A-Za-z_]\w*")
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z\"'`(])|\n\s*\n")


def glossary_words(page):
    """(set of the words in backticks of the column `not`, list of the names or patterns in the exceptions)."""
    head, _, tail = page.partition("## Exceptions")
    old = set()
    for row in head.splitlines():
        cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
        if row.startswith("|") and len(cells) == 3:
            old.update(re.findall(r"`(\w+)`", cells[2]))
    allowed = [name for row in tail.splitlines() if row.startswith("| `")
               for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    return old, allowed


def comments(text, path):
    """(line, text) of each comment of a C file or script, and of each docstring of Python.

    Neighbouring # lines of a script are one comment.
    """
    if path.suffix in c_source.SUFFIXES:
        for match in c_source._LITERAL.finditer(text):
            if match["comment"]:
                body = re.sub(r"^\s*(?:/?\*+/?|//+)|\*/\s*$", " ", match[0], flags=re.M)
                yield text.count("\n", 0, match.start()) + 1, body
        return
    if path.suffix == ".py":
        for match in TRIPLE_QUOTED.finditer(text):
            if not match[1].strip():
                yield text.count("\n", 0, match.start(2)) + 1, match[2]
    start, lines = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        match = re.match(r"\s*#(?!!|" + DIRECTIVE + r")\s?(.*)", line)
        if match:
            start = start if lines else number
            lines.append(match[1])
        elif lines:
            yield start, "\n".join(lines)
            lines = []


def paragraphs(text):
    """(line, text) of each paragraph of a page, without code blocks, tables and headings."""
    fenced, start, lines = False, 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or not line.strip() or line.lstrip().startswith(("|", "#", "<")):
            if lines:
                yield start, "\n".join(lines)
            lines = []
            continue
        start = start if lines else number
        lines.append(line)


class Check:
    def __init__(self, top):
        self.top = pathlib.Path(top)
        page = self.top / GLOSSARY
        self.old, self.allowed = glossary_words(page.read_text(encoding="utf-8") if page.exists() else "")
        self.failures, self.long = [], []

    def identifier(self, name):
        """The first part of `name` that is an old word, or None if there is no such part or `name` is an exception."""
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.allowed):
            return None
        parts = [part.lower() for part in re.split(r"[_\-.]+", name)]
        return next((part for part in parts if part in self.old), None)

    def names(self, path, text):
        where = path.as_posix()
        word = self.identifier(path.name) if path.as_posix() not in self.allowed else None
        if word:
            self.failures.append(f"{where}: the file's name has the old word '{word}'")
        code = c_source.code_only(text) if path.suffix in c_source.SUFFIXES else ""
        seen = set()
        for match in IDENTIFIER.finditer(code):
            word = None if match[0] in seen else self.identifier(match[0])
            seen.add(match[0])
            if word:
                line = text.count("\n", 0, match.start()) + 1
                self.failures.append(f"{where}:{line}: {match[0]} has the old word '{word}'")

    def prose(self, path, line, text):
        where = f"{path.as_posix()}:{line}"
        text = re.sub(r"`[^`]*`", "x", text)
        for sentence in SENTENCE_END.split(text):
            sentence = re.sub(r"\s+", " ", sentence).strip()
            if OPENINGS.match(sentence):
                self.failures.append(f"{where}: opens without its subject: {sentence[:70]}")
            for idiom, better in IDIOMS:
                found = idiom.search(sentence)
                if found:
                    self.failures.append(f"{where}: '{found[0]}' ({better}): {sentence[:70]}")
            if len(sentence.split()) > LONG:
                self.long.append(f"{where}: {len(sentence.split())} words: {sentence[:70]}")

    def run(self):
        for path in c_source.find(self.top, c_source.SUFFIXES + PROSE_SUFFIXES + SCRIPT_SUFFIXES):
            if path.as_posix() == GLOSSARY or path.name == "check_words.py":
                continue
            text = (self.top / path).read_text(encoding="utf-8", errors="replace")
            if path.suffix in PROSE_SUFFIXES:
                for line, part in paragraphs(text):
                    self.prose(path, line, part)
                continue
            self.names(path, text)
            for line, part in comments(text, path):
                self.prose(path, line, part)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent)
    args = parser.parse_args(arguments)
    check = Check(args.root)
    check.run()
    for line in check.failures + (check.long if args.long else []):
        print(line)
    print(f"words: {len(check.failures)} to mend, {len(check.long)} sentences of more than {LONG} words")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
