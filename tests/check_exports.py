#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_exports.py BUILD | --write | --self-check - tests the names that libvolta exports and the libraries it needs.

cmake/libvolta.symbols must list the functions marked VT_API in the headers, the exports of the shared library and the
global names of the archive, and no others. CMake and volta.h must have the same version, and the SONAME must follow
from it. The shared library may need only the C library and the libraries that volta.pc names. --write writes the list
from the headers.
"""
import copy
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import c_source  # noqa: E402

LIST = ROOT / "cmake/libvolta.symbols"
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.M)
DECLARED = re.compile(r"\bVT_API\b[^;{]*?\b(\w+)\s*\(")
SYSTEM = re.compile(r"(libc|libm|libpthread|ld-linux[\w-]*)\.so\.\d+")
NEEDED = {"libsodium": "libsodium.so", "zlib": "libz.so"}


def declared_in(text):
    return set(DECLARED.findall(DIRECTIVE.sub("", c_source.without_comments(text))))


def declared():
    return set().union(*(declared_in(path.read_text(encoding="utf-8")) for path in ROOT.glob("include/volta/*.h")))


def listed_lines():
    return [line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def names(output):
    return {line.split()[2] for line in output.splitlines() if len(line.split()) == 3}


def dynamic(tag, output):
    return re.findall(rf"\({tag}\).*\[(.*)\]", output)


def gather(build):
    build = pathlib.Path(build)
    shared, about = build / "libvolta.so", (build / "volta.pc").read_text(encoding="utf-8")
    tags = run("readelf", "-dW", str(shared))
    return {
        "listed": listed_lines(), "declared": declared(),
        "exported": names(run("nm", "-D", "--defined-only", str(shared))),
        "archive": names(run("nm", "-g", "--defined-only", str(build / "libvolta.a"))),
        "soname": dynamic("SONAME", tags), "needed": dynamic("NEEDED", tags), "textrel": "(TEXTREL)" in tags,
        "file": shared.resolve().name,
        "version": re.search(r"^Version: (.*)$", about, re.M)[1],
        "header": re.search(r'VT_VERSION "(.*)"', (ROOT / "include/volta/volta.h").read_text(encoding="utf-8"))[1],
        "beside": re.search(r"^Requires.private: *(.*)$", about, re.M)[1].split(),
    }


def problems(facts):
    listed = set(facts["listed"])
    if len(listed) < 50 or facts["listed"] != sorted(listed):
        yield "cmake/libvolta.symbols is not a sorted list of all functions"
    for where, found in (("the headers declare", facts["declared"]), ("libvolta.so exports", facts["exported"]),
                         ("libvolta.a shows", facts["archive"])):
        for name in sorted(found - listed):
            yield f"{where} {name}, which cmake/libvolta.symbols does not list"
        for name in sorted(listed - found):
            yield f"cmake/libvolta.symbols lists {name}, but not: {where} it"
    for name in sorted(name for name in listed if not name.startswith("vt_")):
        yield f"{name} is exported without the prefix vt_"
    if facts["version"] != facts["header"]:
        yield f"CMake says version {facts['version']}, volta.h {facts['header']}"
    major = "libvolta.so." + facts["version"].split(".", maxsplit=1)[0]
    if facts["soname"] != [major]:
        yield f"SONAME {facts['soname']}, not {major}"
    if facts["file"] != "libvolta.so." + facts["version"]:
        yield f"the file is called {facts['file']}"
    beside = tuple(NEEDED[name] for name in facts["beside"])
    for library in facts["needed"]:
        if not SYSTEM.fullmatch(library) and not library.startswith(beside or ("-",)):
            yield f"libvolta.so needs {library}, and volta.pc does not say so"
    if not any(library.startswith("libc.so") for library in facts["needed"]):
        yield "libvolta.so names no C library"
    if facts["textrel"]:
        yield "libvolta.so has to be patched when it is loaded"


FAULTS = [  # a change of good facts, and a part of the message that it must cause
    (lambda f: f["listed"].remove("vt_f07"), "the headers declare vt_f07"),
    (lambda f: f["listed"].append("vt_a"), "not a sorted list"),
    (lambda f: f["declared"].remove("vt_f07"), "not: the headers declare"),
    (lambda f: f["exported"].remove("vt_f07"), "not: libvolta.so exports"),
    (lambda f: f["exported"].add("json_loads"), "libvolta.so exports json_loads"),
    (lambda f: f["archive"].add("kernel_add"), "libvolta.a shows kernel_add"),
    (lambda f: f["archive"].remove("vt_f07"), "not: libvolta.a shows"),
    (lambda f: f.update(soname=["libvolta.so"]), "SONAME"),
    (lambda f: f.update(file="libvolta.so.0"), "the file is called"),
    (lambda f: f.update(header="0.2.0"), "volta.h 0.2.0"),
    (lambda f: f["needed"].append("libjansson.so.4"), "needs libjansson"),
    (lambda f: f.update(needed=[]), "no C library"),
    (lambda f: f.update(textrel=True), "patched"),
]


def self_check():
    sample = 'VT_API int vt_a(int x); /* VT_API int vt_b(void); */\n#define X VT_API int vt_c(\nVT_API vt_s\n vt_d (void) Y(1);'
    if declared_in(sample) != {"vt_a", "vt_d"}:
        yield f"declarations are misread: {declared_in(sample)}"
    every = [f"vt_f{i:02}" for i in range(60)]
    good = {"listed": every, "declared": set(every), "exported": set(every), "archive": set(every),
            "soname": ["libvolta.so.0"], "file": "libvolta.so.0.1.0", "needed": ["libc.so.6"], "textrel": False,
            "version": "0.1.0", "header": "0.1.0", "beside": []}
    yield from problems(good)
    for plant, said in FAULTS:
        facts = copy.deepcopy(good)
        plant(facts)
        if not any(said in line for line in problems(facts)):
            yield f"a planted fault is not found: {said}"


def write():
    comments = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    LIST.write_text("".join(line + "\n" for line in comments + sorted(declared())), encoding="utf-8")


def main(argument):
    if argument == "--write":
        return write()
    if argument != "--self-check" and not all(map(shutil.which, ("nm", "readelf"))):
        print("SKIPPED: nm or readelf is missing (binutils)")
        return 77
    failures = list(self_check() if argument == "--self-check" else problems(gather(argument)))
    for failure in failures:
        print("FAILED: " + failure)
    if not failures:
        print(f"{len(listed_lines())} functions, no others")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
