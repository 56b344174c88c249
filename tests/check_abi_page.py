#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_abi_page.py [ROOT] - tests that the plug-in header, its table of offsets and its page agree.

  header   every struct and field of volta_backend.h has a row in src/gate/abi.def, in the same order, and has a
           type that the rules of the header allow
  page     the tables of docs/abi.md have these rows
"""
import pathlib
import re
import sys

WORD = re.compile(r"^(?:const )?(?:struct )?(uint32_t|int32_t|uint64_t|int64_t|char|void|vt_bk_\w+)\b")
FIXED = {"uint32_t", "int32_t", "uint64_t", "int64_t"}


def rows_of(text):
    """The rows of abi.def: struct -> (bytes, [(field, offset, bytes)])."""
    found = {}
    for kind, arguments in re.findall(r"^VT_ABI_(STRUCT|FIELD)\(([^)]*)\)$", text, re.M):
        words = [w.strip() for w in arguments.split(",")]
        if kind == "STRUCT":
            found[words[0]] = (words[1], [])
        else:
            found[words[0]][1].append(tuple(words[1:]))
    return found


def fields_of(body):
    """(field, whether its type is allowed) of each declaration in a struct's body."""
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
        function = re.match(r".*?\(\*(\w+)\)\(.*\)$", declaration)
        if function:
            yield function[1], True
            continue
        word = WORD.match(declaration)
        for name in declaration[word.end():].split(",") if word else [declaration]:
            pointer, name = "*" in name, name.replace("*", "").strip()
            yield re.sub(r"\[\d+\]$", "", name), bool(word) and (pointer or word[1] in FIXED)


def check_header(header, rows):
    structs = dict(re.findall(r"^typedef struct (vt_bk_\w+) \{\n(.*?)^\} \1;", header, re.M | re.S))
    for name in sorted(set(structs) ^ set(rows)):
        yield f"{name} is not in both volta_backend.h and abi.def"
    for name in sorted(set(structs) & set(rows)):
        fields = list(fields_of(structs[name]))
        if [f for f, _ in fields] != [f for f, _, _ in rows[name][1]]:
            yield f"{name} has other fields in abi.def"
        for field, allowed in fields:
            if not allowed:
                yield f"{name}.{field} is neither a fixed-width integer nor a pointer"
        if fields and fields[0][0] != "size":
            yield f"{name} does not begin with its size"


def check_page(page, rows):
    shown, struct = {}, None
    for line in page.split("\n"):
        head = re.match(r"\| field of (vt_bk_\w+) \|", line)
        row = re.match(r"\| `(\w+)` \| (\d+) \| (\d+) \|$", line)
        whole = re.match(r"\| the whole \| 0 \| (\d+) \|$", line)
        if head:
            struct = head[1]
            shown[struct] = ["", []]
        elif struct and row:
            shown[struct][1].append(row.groups())
        elif struct and whole:
            shown[struct][0], struct = whole[1], None
    for name in sorted(set(rows) | set(shown)):
        if name not in shown or name not in rows or tuple(shown[name]) != rows[name]:
            yield f"docs/abi.md does not show {name} as abi.def has it"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    rows = rows_of((root / "src/gate/abi.def").read_text())
    problems = list(check_header((root / "include/volta/volta_backend.h").read_text(), rows))
    problems += check_page((root / "docs/abi.md").read_text(), rows)
    for problem in problems:
        print(problem)
    print(f"{len(rows)} structs, {sum(len(f) for _, f in rows.values())} fields: {len(problems)} problems")
    return 1 if problems or len(rows) < 7 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
