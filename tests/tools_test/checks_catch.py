#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checks_catch.py - each rule of the checks fires on a planted tree, and on nothing else."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A small tree in which every room is right.
GOOD = {
    "include/volta/volta.h": '#include <stdint.h>\n#include "volta_ops.h"\n',
    "include/volta/volta_backend.h": "#include <stddef.h>\n",
    "src/base/vt_text.h": '#include "volta/volta.h"\n',
    "src/base/hash.c": "#include <sodium.h>\n",
    "src/num/vt_num.h": "float f(float x);\n",
    "src/num/functions.c": '#include "vt_num.h"\n',
    "src/op/vt_op.h": '#include "vt_num.h"\n',
    "src/op/ops.def": "VT_OP(add)\n",
    "src/ir/vt_graph.h": '#include "vt_op.h"\n',
    "src/plan/vt_plan.h": '#include "vt_graph.h"\n',
    "src/gate/gate.c": '#include "vt_plan.h"\n',
    "src/front/parse.c": '#include <zlib.h>\n#include "vt_graph.h"\n',
    "src/front/parse_test.c": '#include <math.h>\n#include "vt_plan.h"\nint main(void) { exit(1); }\n',
    "src/api/api.c": '#include "vt_plan.h"\nconst char *b(void) { return getenv("VOLTA_BACKEND"); }\n',
    "src/back/null/null.h": '#include "vt_op.h"\n',
    "src/back/reference/reference.c": '#include "vt_num.h"\n',
    "src/cli/main.c": '#include "volta/volta.h"\nint main(void) { printf("x"); exit(0); }\n',
    "tests/vt_test.h": '#include "vt_plan.h"\n',
    "tools/gen_ops.c": '#include "ops.def"\nint main(void) { puts("x"); }\n',
    # Words that only look like calls.
    "src/base/text.c": '/* exit(1) */ // abort()\nconst char *s = "printf(";\n'
    "void f(void) { snprintf(0, 0, s); vsnprintf(0, 0, s, 0); w->puts(1); w.exit(2); vt_abort(3); }\n",
}


def plant(files):
    """A temporary tree that holds the files."""
    tree = tempfile.TemporaryDirectory()
    for name, text in files.items():
        path = pathlib.Path(tree.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tree


def run(*command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout


def check(tool, files):
    with plant(files) as top:
        return run(sys.executable, "-B", str(ROOT / "tools" / tool), top)


class Layers(unittest.TestCase):
    def catches(self, said, path, text):
        """The good tree with one bad file fails, on that file alone, for that reason."""
        status, output = check("check_layers.py", {**GOOD, path: text})
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertTrue(output.startswith(path + ":"), output)
        self.assertIn(said, output)

    def test_good_tree(self):
        self.assertEqual(check("check_layers.py", GOOD)[0], 0, check("check_layers.py", GOOD)[1])

    def test_nothing_to_see(self):
        self.assertEqual(check("check_layers.py", {})[0], 1)

    def test_against_the_flow(self):
        for room, header in [("base", "vt_num.h"), ("num", "vt_op.h"), ("op", "vt_graph.h"),
                             ("ir", "vt_plan.h"), ("plan", "vt_num.h"), ("pass", "vt_plan.h"),
                             ("gate", "vt_graph.h"), ("cli", "vt_text.h"), ("emit", "vt_graph.h"),
                             ("back/cpu", "vt_plan.h"), ("back/cpu", "null.h"), ("api", "null.h")]:
            with self.subTest(room=room, header=header):
                self.catches(f"{room}/ may not see", f"src/{room}/bad.c", f'#include "{header}"\n')

    def test_every_suffix(self):
        for suffix in ("c", "h", "inc", "def", "cu", "cuh"):
            with self.subTest(suffix=suffix):
                self.catches("may not see plan/", f"src/op/bad.{suffix}", '# include "vt_plan.h"\n')

    def test_public_header(self):
        self.catches("include/ may not see base/", "include/volta/bad.h", '#include "vt_text.h"\n')
        self.catches("stands alone", "include/volta/volta_backend.h", '#include "volta.h"\n')

    def test_examples_use_the_public_headers(self):
        self.catches("examples/ may not see base/", "examples/bad.c", '#include "vt_text.h"\n')

    def test_unknown_folder(self):
        for folder in ("src/misc", "src/back", "src", "src/op/deeper", "src/back/cpu/deeper", "contrib"):
            with self.subTest(folder=folder):
                self.catches("has no row", f"{folder}/bad.c", "int x;\n")

    def test_build_folders_are_not_ours(self):
        status, output = check("check_layers.py", {**GOOD, "build/x.c": "", "build-asan/x.c": "",
                                                  "out/CMakeCache.txt": "", "out/x.c": ""})
        self.assertEqual(status, 0, output)
        self.catches("has no row", "src/build/x.c", "")

    def test_two_files_of_one_name(self):
        self.catches("already in src/base/", "src/plan/text.c", "int x;\n")
        self.catches("already in src/base/", "tests/cli/text.c", "int x;\n")
        self.catches("already in the build folder", "include/volta/volta_ops.h", "\n")

    def test_outside_headers(self):
        self.catches("may not include <sodium.h>", "src/op/bad.c", "#include <sodium.h>\n")
        self.catches("may not include <jansson.h>", "src/base/bad.c", "#include <jansson.h>\n")
        self.catches("neither in the tree", "src/base/bad.c", "#include <lzma.h>\n")
        self.catches("neither in the tree", "src/base/bad.c", '#include "gone.h"\n')
        self.catches("names its file", "src/op/bad.c", "#include WHICH\n")

    def test_math(self):
        for room in ("src/num", "src/back/reference", "src/op", "src/cli"):
            with self.subTest(room=room):
                self.catches("is for tests alone", f"{room}/bad.c", "#include <math.h>\n")

    def test_calls(self):
        for call in ("printf", "fprintf", "vfprintf", "sprintf", "dprintf", "puts", "putchar", "perror"):
            with self.subTest(call=call):
                self.catches("prints: " + call, "src/op/bad.c", f"void f(void) {{ {call}(x); }}\n")
        for call in ("exit", "_exit", "_Exit", "abort"):
            with self.subTest(call=call):
                self.catches("ends the process: " + call, "src/api/bad.c", f"void f(void) {{ {call}(1); }}\n")
        self.catches("prints: stderr", "src/base/bad.c", "void f(void) { fputs(x, stderr); }\n")
        self.catches("environment: getenv", "src/front/bad.c", 'void f(void) { getenv ("X"); }\n')
        self.catches("environment: getenv", "src/gate/bad.c", 'void f(void) { getenv("X"); }\n')
        self.catches("hidden state: rand", "src/back/cpu/bad.c", "int f(void) { return rand(); }\n")


def function(lines):
    """A function of so many lines."""
    return "static int f(int a) {\n" + "  a++;\n" * (lines - 2) + "}\n"


class Sizes(unittest.TestCase):
    def check(self, files):
        return check("check_sizes.py", files)

    def test_files(self):
        for lines, status, said in [(700, 0, ""), (701, 0, "warning: src/op/a.c: 701"),
                                    (1000, 0, "warning"), (1001, 1, "src/op/a.c: 1001 lines")]:
            with self.subTest(lines=lines):
                found, output = self.check({"src/op/a.c": "int x;\n" * lines})
                self.assertEqual((found, said in output, "warning" in output),
                                 (status, True, "warning" in said), output)

    def test_scripts(self):
        self.assertEqual(self.check({"scripts/a.sh": "\n" * 1001})[0], 1)
        self.assertEqual(self.check({"tools/a.py": "\n" * 1001})[0], 1)

    def test_public_header(self):
        self.assertEqual(self.check({"include/volta/volta.h": "int x;\n" * 600})[0], 0)
        self.assertEqual(self.check({"include/volta/volta.h": "int x;\n" * 601})[0], 1)

    def test_functions(self):
        for name in ("a.c", "a.inc", "a.cu", "a_test.c", "a.h"):
            with self.subTest(name=name):
                self.assertEqual(self.check({"src/op/" + name: function(120)})[0], 0)
                status, output = self.check({"src/op/" + name: "int x;\n\n" + function(121)})
                self.assertEqual(status, 1, output)
                self.assertIn(f"src/op/{name}:3: a function of 121 lines", output)

    def test_functions_in_odd_places(self):
        odd = {
            "after an attribute": function(121).replace(") {", ") COLD {"),
            "in extern": '#ifdef __cplusplus\nextern "C" {\n#endif\n' + function(121) + "}\n",
            "after a macro with a brace": "#define OPEN \\\n  if (x) {\n" + function(121),
            "with unpaired branches": "#if A\nint g(int a) {\n#else\nint g(long a) {\n#endif\n}\n" + function(121),
            "with braces in text": function(121).replace("a++;", 'a = \'}\'; s = "}}"; /* } */', 1),
        }
        for place, text in odd.items():
            with self.subTest(place=place):
                status, output = self.check({"src/op/a.c": text})
                self.assertEqual(status, 1, output)
                self.assertIn("a function of 121 lines", output)

    def test_tables_are_no_functions(self):
        table = "static const int t[N(3)] = {\n" + "  1,\n" * 200 + "};\nstruct s {\n" + "  int a;\n" * 200 + "};\n"
        table += "int *p = (int[]) {\n" + "  1,\n" * 200 + "};\n"
        self.assertEqual(self.check({"src/op/a.c": table})[0], 0)

    def test_summary(self):
        text = "".join(function(n).replace("f(", f"f{n}(") for n in range(3, 13))
        output = self.check({"src/op/a.c": text, "src/op/a_test.c": function(99)})[1]
        self.assertIn("75 lines, 10 functions; function length: median 7, p90 11, max 12", output)


REPORT = """<testsuite>
<testcase name="a" status="run"/>
<testcase name="b" status="run"/>
{}
</testsuite>"""
SKIPS = '<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
NEVER_RAN = '<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>'
FAILS = '<testcase name="e" status="fail"><failure message=""/></testcase>'


class Sums(unittest.TestCase):
    def sums(self, cases, *options):
        with plant({"one.xml": REPORT.format(cases), "two.xml": REPORT.format(""), "none.xml": "<testsuite/>"}) as top:
            files = [f"x={top}/one.xml", f"y={top}/two.xml"]
            tool = str(ROOT / "tools/sum_tests.py")
            status, output = run(sys.executable, "-B", tool, *[o.format(top) for o in options], *files)
            return status, output.splitlines()[-1]

    def test_sums(self):
        self.assertEqual(self.sums(""), (0, "4 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.sums(SKIPS), (0, "4 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.sums(SKIPS + FAILS), (1, "4 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.sums(NEVER_RAN), (1, "4 passed, 1 failed, 0 skipped"))

    def test_what_packages_would_bring(self):
        for why, expected in [("no nvcc here", (0, "4 passed, 0 failed, 1 skipped")),
                              ("no avx512 here", (0, "4 passed, 0 failed, 1 skipped")),
                              ("no sollya here", (1, "4 passed, 1 failed, 0 skipped"))]:
            skips = SKIPS.replace("/></", f"/><system-out>first\nSKIPPED: {why}\n</system-out></")
            self.assertEqual(self.sums(skips, "--packages"), expected)
        self.assertEqual(self.sums(SKIPS, "--packages"), (1, "4 passed, 1 failed, 0 skipped"))

    def test_lanes(self):
        self.assertEqual(self.sums("", "--skipped-lanes", "asan tsan"), (0, "4 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.sums("", "--failed-lanes", "asan"), (1, "4 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.sums("", "z={}/gone.xml"), (1, "4 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.sums("", "z={}/none.xml"), (1, "4 passed, 1 failed, 0 skipped"))


class Format(unittest.TestCase):
    def test_format(self):
        style = (ROOT / ".clang-format").read_text(encoding="utf-8")
        for text, expected in [("int x;\n", 0), ("int   x;\n", 1)]:
            with plant({".clang-format": style, "src/op/a.c": text, "src/op/a.def": "X( 1,   2 )\n"}) as top:
                status, output = run(str(ROOT / "tools/check_format.sh"), VOLTA_ROOT=top)
                if status == 77:
                    self.skipTest(output)
                self.assertEqual(status != 0, expected != 0, output)

    def test_without_clang_format(self):
        with plant({"bin/clang-format": "#!/bin/sh\necho version 99.1\n"}) as top:
            for tool in ("bash", "dirname", "grep", "env"):
                pathlib.Path(top, "bin", tool).symlink_to(f"/usr/bin/{tool}")
            pathlib.Path(top, "bin/clang-format").chmod(0o755)
            status, output = run(str(ROOT / "tools/check_format.sh"), PATH=top + "/bin")
            self.assertEqual(status, 77, output)
            self.assertIn("SKIPPED", output)


if __name__ == "__main__":
    unittest.main()
