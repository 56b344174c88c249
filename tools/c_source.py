# SPDX-License-Identifier: Apache-2.0
"""c_source.py - what the checks know of C text: where the sources are, and what is code in them."""
import pathlib
import re

SUFFIXES = (".c", ".cc", ".h", ".inc", ".def", ".cu", ".cuh")
NOT_OURS = re.compile(r"\..*|build(-.*)?")  # at the top: hidden folders and build folders...
BUILT = "CMakeCache.txt"  # ... which may also have another name, but hold this file

_LITERAL = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.S,
)


def find(top, suffixes=SUFFIXES):
    """Every source file below `top`, relative to it, in the order of the names."""
    top, found = pathlib.Path(top), []
    for entry in sorted(top.iterdir()):
        if not NOT_OURS.fullmatch(entry.name) and not (entry / BUILT).exists():
            inside = sorted(entry.rglob("*")) if entry.is_dir() else [entry]
            found += [p.relative_to(top) for p in inside if p.suffix in suffixes and p.is_file()]
    return found


def is_test(path):
    return path.parts[0] == "tests" or re.search(r"_test\.\w+$", path.name) is not None


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with comments blanked; lines and columns stay where they are."""
    return _LITERAL.sub(lambda m: _blank(m[0]) if m["comment"] else m[0], text)


def code_only(text):
    """The text with comments, strings and characters blanked."""
    return _LITERAL.sub(lambda m: _blank(m[0]), text)
