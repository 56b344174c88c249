# SPDX-License-Identifier: Apache-2.0
"""c_source.py - used by the checks of the sources: finds the source files, and blanks comments and strings in them."""
import pathlib
import re

SUFFIXES = (".c", ".cc", ".h", ".inc", ".def", ".cu", ".cuh")
NOT_OURS = re.compile(r"\..*|build(-.*)?")  # names of top-level folders to skip: hidden ones and build folders
BUILT = "CMakeCache.txt"  # a top-level folder with this file is a build folder whatever its name

_LITERAL = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.S,
)


def find(top, suffixes=SUFFIXES):
    """The paths of all source files below `top`, relative to it, sorted by name."""
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
    """The text with comments blanked; every other character keeps its line and column."""
    return _LITERAL.sub(lambda m: _blank(m[0]) if m["comment"] else m[0], text)


def code_only(text):
    """The text with comments, string literals and character literals blanked."""
    return _LITERAL.sub(lambda m: _blank(m[0]), text)
