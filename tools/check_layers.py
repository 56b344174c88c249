#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_layers.py [ROOT] - which rooms (folders) may include which, and which functions library code may not call.

It fails on an include that MAY_SEE does not allow, on a folder without a row in MAY_SEE, on two files with the
same name, on a system or third-party header that its room may not include, and on library code that prints, ends
the process or reads the environment. Tests may include and call anything.
"""
import pathlib
import re
import sys

import c_source

CORE = {"include", "base"}
MAY_SEE = {  # folder: the rooms whose headers it may include, in addition to its own
    "include": set(),
    "src/base": {"include"},
    "src/num": CORE,
    "src/op": CORE | {"num"},
    "src/ir": CORE | {"op"},
    "src/front": CORE | {"num", "op", "ir"},  # num: the parser rounds literals and makes NaN canonical
    "src/pass": CORE | {"op", "ir"},
    "src/plan": CORE | {"op", "ir"},
    "src/gate": CORE | {"plan"},
    "src/gate/probe": CORE | {"gate"},  # a separate program that is embedded in gate/
    "src/api": CORE | {"num", "op", "ir", "front", "pass", "plan", "gate", "emit"},
    "src/admit": CORE | {"num", "op", "ir", "front", "pass", "plan", "gate", "api"},
    "src/emit": CORE | {"num", "op"},
    "src/back/*": CORE | {"num", "op", "emit"},  # never ir, pass, plan, or another backend
    "src/train": CORE | {"num", "front", "ir", "op", "pass", "plan", "gate", "api"},
    "src/cli": {"include"},
    "examples": {"include"},
    "bench": CORE | {"num", "op", "ir", "pass", "plan"},  # it measures these rooms one by one
    "bench/cuda": CORE | {"num", "op", "back"},  # it measures single kernels
    "python": {"include"},
    "tools": CORE | {"op", "cli"},  # the generators read tables of op/ and cli/; pack_suite.c hashes with base/
}
STAND_IN = {"gpu_words.cuh": "gpu_emulated.h"}  # file: the header from tests/ that it may include, for emulated kernels
STANDS_ALONE = {"volta_backend.h"}  # files that may include no other file of the tree: plug-in authors copy only this
# Headers that the build generates, with the room each belongs to.
GENERATED = {"volta_ops.h": "include", "attr_fields.inc": "op", "op_order.inc": "op",
             "plan_sources.inc": "api", "probe_image.inc": "gate", "suite_image.inc": "admit",
             "suite_digest.inc": "api", "cuda_images.inc": "back/cuda"}

# Headers of the C library and of other projects, with the rooms that may include them; None means every room.
C11 = """assert ctype errno fenv float inttypes iso646 limits locale setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time"""
POSIX = """dirent dlfcn fcntl poll pthread sched spawn strings unistd sys/file sys/mman sys/resource sys/stat sys/time
    sys/types sys/wait"""
EXTERNAL = {f"{name}.h": None for name in (C11 + " " + POSIX).split()}
EXTERNAL.update({
    "sodium.h": {"base"},
    "sodium/crypto_generichash_blake2b.h": {"base"},
    "sodium/crypto_shorthash_siphash24.h": {"base"},
    "jansson.h": {"cli"},
    "zlib.h": {"front", "tools"},
    "cpuid.h": {"base"},
    "emmintrin.h": {"back"},
    "immintrin.h": {"base", "num", "back"},
    "emmintrin.h": {"base", "num", "back"},
    "xmmintrin.h": {"base", "num", "back"},
    "link.h": {"back"},
    "sys/ioctl.h": {"cli"},
    "sleef.h": {"bench"},
    "cuda_runtime.h": {"bench"},
    "cublas_v2.h": {"bench"},
    "mpfr.h": {"tools"},
})
EXTERNAL.update({name: {"bench"} for name in "algorithm cmath cstdio cstdlib cstring utility vector".split()})
FOR_TESTS = {"math.h"}  # headers that src/ may not include: the C library's functions round differently everywhere

# Calls that library code may not make: the pattern, the rooms that may make it, and the message.
CALL = r"(?<![\w.])(?<!->)(?:{})\s*\("
FORBIDDEN = [
    (CALL.format(r"v?(?:f|d|s)?printf|puts|putchar|perror"), {"cli"}, "library code prints"),
    (r"\b(?:stdout|stderr)\b", {"cli"}, "library code prints"),
    (CALL.format("_?exit|_Exit|quick_exit|abort"), {"cli"}, "library code ends the process"),
    (CALL.format("(?:secure_)?getenv") + r"|\benviron\b", {"api", "cli"}, "only api/ reads the environment"),
    (CALL.format("s?rand(?:om|48)?|setlocale"), set(), "library code has hidden state"),
]
FORBIDDEN = [(re.compile(pattern), rooms, why) for pattern, rooms, why in FORBIDDEN]
INCLUDE = re.compile(r'\s*#\s*include\b\s*(?:(["<])([^">]+)[">])?')


def folder_of(path):
    """The row of MAY_SEE that applies to a file, or its folder if there is no such row."""
    if path.parts[0] != "src":
        return path.parent.as_posix() if path.parent.as_posix() in MAY_SEE else path.parts[0]
    if path.parts[1] == "back" and len(path.parts) == 4:
        return "src/back/*"
    return path.parent.as_posix()


def room_of(path):
    """The name of the room of a file, as the sets in MAY_SEE have it: op, back/null, include, tests."""
    return path.parent.relative_to("src").as_posix() if path.parts[0] == "src" else path.parts[0]


def room_kind(room):
    """`back` for the room of a backend; other rooms keep their name."""
    return "back" if room.startswith("back/") else room


class Check:
    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.files = c_source.find(self.top)
        self.rooms = dict(GENERATED)  # file name: the room it belongs to
        self.found = []

    def report(self, path, line, message):
        self.found.append(f"{path.as_posix()}:{line}: {message}")

    def names(self):
        first = {}
        for path in self.files:
            if path.name in first or path.name in GENERATED:
                other = first.get(path.name, "the build folder")
                self.report(path, 1, f"a file of this name is already in {other}")
            first.setdefault(path.name, path.parent.as_posix() + "/")
            self.rooms.setdefault(path.name, room_of(path))

    def include(self, path, line, form, header):
        """Checks one #include of a file that is not a test."""
        room, owner = room_of(path), self.rooms.get(pathlib.PurePosixPath(header).name)
        if form == "<" and (header in EXTERNAL or header in FOR_TESTS):
            allowed = EXTERNAL.get(header)
            if header in FOR_TESTS:
                if path.parts[0] == "src":
                    self.report(path, line, f"<{header}> is for tests only")
            elif allowed is not None and room_kind(room) not in allowed:
                self.report(path, line, f"{room}/ may not include <{header}>")
        elif owner is None:
            self.report(path, line, f"{header} is neither in the tree nor a header listed in this check")
        elif path.name in STANDS_ALONE:
            self.report(path, line, f"{path.name} is copied by itself and may not include {header}")
        elif STAND_IN.get(path.name) == header:
            pass
        elif owner != room and room_kind(owner) not in MAY_SEE[folder_of(path)]:
            self.report(path, line, f"{room}/ may not see {owner}/ ({header})")

    def includes(self, path, text):
        for line, content in enumerate(c_source.without_comments(text).splitlines(), 1):
            match = INCLUDE.match(content)
            if match and match[2] is None:
                self.report(path, line, "an include must name its file, not a macro")
            elif match:
                self.include(path, line, match[1], match[2])

    def calls(self, path, text):
        room = room_kind(room_of(path))
        for line, content in enumerate(c_source.code_only(text).splitlines(), 1):
            for pattern, rooms, why in FORBIDDEN:
                match = pattern.search(content)
                if match and room not in rooms:
                    self.report(path, line, f"{why}: {match[0].strip(' (')}")

    def run(self):
        self.names()
        for path in self.files:
            if path.parts[0] != "tests" and folder_of(path) not in MAY_SEE:
                self.report(path, 1, f"the folder {path.parent.as_posix()}/ has no row in this check")
            elif not c_source.is_test(path):
                text = (self.top / path).read_text(encoding="utf-8", errors="replace")
                self.includes(path, text)
                if path.parts[0] in ("src", "include"):
                    self.calls(path, text)
        return self.found


def main(arguments):
    check = Check(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    found = check.run()
    print("\n".join(found) if found else f"layers: {len(check.files)} files, no forbidden include or call")
    return 1 if found or not check.files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
