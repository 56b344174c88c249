#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_no_epsilon.py [ROOT] | --self-check - tests that no code that compares results has a tolerance.

Admission and all other code that compares results must work on bits. It may have no floating-point type or number, no
function of the C library that measures a distance, and no word such as `epsilon`. Unit tests are not checked. The code
that reads the domains of gradients may use double, because no verdict depends on it. --self-check plants each fault and
fails if it is not found.
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import c_source  # noqa: E402

COMPARING = ["src/admit/*.c", "src/admit/*.h", "src/admit/*.def", "src/api/compare.c", "src/api/digest.c",
          "src/api/digest.h", "src/api/certificate.c", "src/api/probes.*", "src/cli/verb_parity.c",
          "tests/cts/cts_run.c"]
# These words, forbidden elsewhere, are allowed in these files, which read lines `grad x in 0.5..2`: the domains in
# which cts --grad checks gradients.
DOMAINS = {"src/admit/suite_read.c": {"double"}, "src/admit/vt_suite.h": {"double"}}
# These lines are allowed, because they only compute the largest distance for a report.
REPORTS = {"src/cli/verb_parity.c": {"if (v.largest > x->largest) x->largest = v.largest;"}}
RULES = [
    ("a floating-point type", re.compile(r"\b(?:float|double|_Float\w+|float_t|double_t)\b")),
    ("a floating-point number", re.compile(
        r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?[fFlL]?(?!\w)|\b0[xX][\da-fA-F.]+[pP][-+]?\d+")),
    ("a function that measures", re.compile(
        r"\b(?:fabs|fmin|fmax|fdim|hypot|nextafter|nexttoward|ldexp|frexp|fpclassify|isgreater|isless)[fl]?\s*\(")),
    ("a word that stands for a bound", re.compile(
        r"(?i)(?:epsilon|tolerance|toler|(?:\b|_)(?:rtol|atol|eps|tol|ulps?)\b|\b(?:almost|nearly|close_to|isclose|approx)\b)")),
    ("a difference that may be small", re.compile(r"\b(?:distance|largest|differing)\s*(?:<=?|>=?)(?!>)")),
]


def comparing_files(root):
    found = sorted({p for pattern in COMPARING for p in pathlib.Path(root).glob(pattern)})
    return [p for p in found if not re.search(r"_test\.\w+$", p.name)]


def faults(root):
    for path in comparing_files(root):
        name = path.relative_to(root).as_posix()
        code = c_source.code_only(path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.split("\n"), 1):
            if line.lstrip().startswith("#") or line.strip() in REPORTS.get(name, ()):
                continue
            for what, pattern in RULES:
                for hit in pattern.finditer(line):
                    if hit[0] not in DOMAINS.get(name, ()):
                        yield f"{name}:{number}: {what}: {hit[0].strip()}"


GOOD = """/* An epsilon of 0.5 in a comment, */
static int same(uint64_t a, uint64_t b) { return a == b; } // or 1e-6 here
static const char *text = "tolerance 1e-3";
static const uint64_t top = 0x7f800000, sign = 0x8000000000000000; enum { TEN = 10 };
int is_float(int x); x.f = a->b.c;
"""
BAD = ["float x;", "double far = a - b;", "if (d < 1e-6) return 1;", "if (d <= 0.5f) return 1;", "x = 1.;", "y = .5;",
       "z = 0x1p-20;", "if (fabs(a - b) < c) return 1;", "if (fabsf (a) > b) return 1;", "int epsilon = 1;",
       "uint64_t tolerance = 2;", "if (distance <= max_ulp) ;", "if (ulps > 4) return 0;", "int rtol = 3;",
       "return almost(a, b);", "if (c.largest < 2) return 1;", "if (v.differing <= few) return 1;", "uint64_t bits_tol = 1;", "_Float16 h;", "long double q;", "return nextafterf(a, b) == b;"]


def planted(text, name="src/api/compare.c"):
    with tempfile.TemporaryDirectory() as top:
        path = pathlib.Path(top, name)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        return list(faults(top))


def self_check():
    wrong = [f"reported although it is right: {fault}" for fault in planted(GOOD)]
    for line in BAD:
        for name in ("src/api/compare.c", "src/admit/refusal.c", "src/admit/rules_new.def", "src/api/probes.c",
                     "src/api/probes.h", "src/cli/verb_parity.c", "tests/cts/cts_run.c"):
            if not planted(GOOD + line + "\n", name):
                wrong.append(f"not found in {name}: {line}")
    if planted("double x;\n", "src/admit/new_test.c"):
        wrong.append("unit tests are checked")
    if not planted("double x;\n", "src/admit/check_suite.c"):
        wrong.append("the exception for gradients applies to other files")
    report = "  if (v.largest > x->largest) x->largest = v.largest;\n"
    if planted(report, "src/cli/verb_parity.c") or not planted(report, "src/api/compare.c"):
        wrong.append("the exception for a report is missing, or applies to other files")
    return wrong


def main():
    checking = "--self-check" in sys.argv[1:]
    root = pathlib.Path(next((a for a in sys.argv[1:] if not a.startswith("-")), ROOT))
    found = self_check() if checking else list(faults(root))
    for line in found:
        print(line)
    if not checking and len(comparing_files(root)) < 15:
        found.append("too few")
        print(f"only {len(comparing_files(root))} files: the patterns are out of date")
    if not found:
        print("every planted fault is found" if checking else "no tolerance: bits are compared")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
