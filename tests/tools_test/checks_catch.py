#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checks_catch.py - tests that each rule of tools/check_*.py and tools/sum_tests.py fires on a small tree with one
planted fault, and that nothing else fires."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A small tree without a fault.
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
    # Text that looks like forbidden calls but is not: comments, strings, members, longer names.
    "src/base/text.c": '/* exit(1) */ // abort()\nconst char *s = "printf(";\n'
    "void f(void) { snprintf(0, 0, s); vsnprintf(0, 0, s, 0); w->puts(1); w.exit(2); vt_abort(3); }\n",
}


def plant(files):
    """A temporary folder with these files."""
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
        """Tests that the good tree with this bad file has exactly one complaint, about the file, with these words."""
        status, output = check("check_layers.py", {**GOOD, path: text})
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertTrue(output.startswith(path + ":"), output)
        self.assertIn(said, output)

    def test_good_tree(self):
        self.assertEqual(check("check_layers.py", GOOD)[0], 0, check("check_layers.py", GOOD)[1])

    def test_empty_tree_fails(self):
        self.assertEqual(check("check_layers.py", {})[0], 1)

    def test_forbidden_includes(self):
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
        self.catches("is copied by itself", "include/volta/volta_backend.h", '#include "volta.h"\n')

    def test_examples_use_the_public_headers(self):
        self.catches("examples/ may not see base/", "examples/bad.c", '#include "vt_text.h"\n')

    def test_unknown_folder(self):
        for folder in ("src/misc", "src/back", "src", "src/op/deeper", "src/back/cpu/deeper", "contrib"):
            with self.subTest(folder=folder):
                self.catches("has no row", f"{folder}/bad.c", "int x;\n")

    def test_build_folders_are_skipped(self):
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
        self.catches("must name its file", "src/op/bad.c", "#include WHICH\n")

    def test_math(self):
        for room in ("src/num", "src/back/reference", "src/op", "src/cli"):
            with self.subTest(room=room):
                self.catches("is for tests only", f"{room}/bad.c", "#include <math.h>\n")

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
    """A C function with this number of lines."""
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

    def test_functions_in_unusual_places(self):
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

    def test_tables_are_not_functions(self):
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

    def test_packages_forbids_skips_for_missing_packages(self):
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


PAGE = """# Glossary

| term | meaning | not |
|---|---|---|
| epilogue | the last steps | `tail`, the end |
| pass | a rewrite | |

## Exceptions

| name | why |
|---|---|
| `log_tail` | a part of a logarithm |
"""
PLAIN = {"docs/glossary.md": PAGE, "src/op/log.c": "int log_tail; /* Words in strings do not count. */\n"
         'const char *tails = "tail";\n', "docs/a.md": "# Title\n\nA sentence with a subject. What is it?\n"}


class Words(unittest.TestCase):
    def check(self, files):
        return check("check_words.py", {**PLAIN, **files})

    def catches(self, said, path, text):
        """Tests that the tree with this file has exactly one complaint, about this file, with these words."""
        status, output = self.check({path: text})
        self.assertEqual(status, 1, output)
        self.assertEqual(len(output.splitlines()), 2, output)
        self.assertTrue(output.startswith(path + ":"), output)
        self.assertIn(said, output)

    def passes(self, path, text):
        self.assertEqual(self.check({path: text})[0], 0, self.check({path: text})[1])

    def test_good_tree(self):
        self.passes("src/op/b.c", "int tailor; /* A tail in prose is allowed: the glossary is about names. */\n")

    def test_names(self):
        self.catches("tail_of has the old word 'tail'", "src/op/b.c", "int tail_of;\n")
        self.catches("VT_TAIL has the old word 'tail'", "src/op/b.h", "#define VT_TAIL 1\n")
        self.catches("tail has the old word 'tail'", "src/op/b.cu", "int tail;\n")
        self.catches("the file's name has the old word 'tail'", "src/op/op_tail.c", "int x;\n")
        self.catches("the file's name has the old word 'tail'", "tests/tail.sh", "true\n")

    def test_openings(self):
        for text in ("What is stored is a number.", "Of the two the first.", "So many steps.", "That is no loop.",
                     "Nor is it one."):
            with self.subTest(text=text):
                self.catches("opens without its subject", "src/op/b.c", f"int x; /* A claim. {text} */\n")
        self.catches("opens without its subject", "tools/a.sh", "# What is found\n# is printed.\n")
        self.catches("opens without its subject", "docs/b.md", "# Title\n\nA claim. What is stored is a number.\n")

    def test_idioms(self):
        for text in ("NULL means that it is none.", "This is no list of ops.", "It counts from i on.", "It has so many.",
                     "It copies one a thread.", "It comes besides.", "It is overheard.", "It copies it as it lies.",
                     "It lies over another.", "It drops what is kept."):
            with self.subTest(text=text):
                status, output = self.check({"src/op/b.c": f"int x; /* {text} */\n"})
                self.assertEqual((status, output.count("src/op/b.c:1: '")), (1, 1), output)

    def test_python_docstrings(self):
        self.catches("'so many'", "tools/a.py", '"""a.py - has so many."""\n')
        self.passes("tools/a.py", 'A = """\nso many\n"""\n\nb = "so many"\nC = """so many"""\n')

    def test_text_that_is_not_prose(self):
        self.passes("docs/b.md", "# Title\n\n```\nso many\n```\n\n| so many |\n\n`so many` is code.\n")
        self.passes("src/op/b.c", 'const char *s = "so many";\n')

    def test_english_that_resembles_an_idiom(self):
        for text in ("NULL if there is none.", "It is none of them.", "It is fast from then on.", "It reads from p on the host."):
            with self.subTest(text=text):
                self.passes("src/op/b.c", f"int x; /* {text} */\n")

    def test_long_sentences_are_listed(self):
        text = {"src/op/b.c": "int x; /* A " + "word " * 40 + "end. */\n"}
        self.assertEqual(self.check(text)[0], 0)
        self.assertIn("1 sentences of more than 40 words", self.check(text)[1])


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
