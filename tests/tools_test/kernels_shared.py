#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels_shared.py - tests that compile_kernels.sh runs nvcc only for changed kernels. A stand-in for nvcc counts its
runs."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = """#!/bin/bash
if [[ $1 == --version ]]; then echo "version ${FAKE_VERSION-1}"; exit 0; fi
echo run >>"$(dirname "$0")/runs"
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) out=$2 && shift ;;
    -MF) deps=$2 && shift ;;
    -MT) target=$2 && shift ;;
    *.cu | *.ptx) source=$1 ;;
  esac
  shift
done
folder=$(dirname "$0")
if [[ -n ${deps-} ]]; then
  printf '%s: %s \\\\\\n  %s /usr/include/none.h\\n' "$target" "$source" "$folder/src/a.h" >"$deps"
fi
if grep -q fault "$source"; then echo "a fault" >&2; exit 1; fi
cat "$source" "$folder/src/a.h" >"$out"
"""


class Shared(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for name in ("tools", "src", "one", "two"):
            (self.top / name).mkdir()
        shutil.copy(ROOT / "tools/compile_kernels.sh", self.top / "tools")
        (self.top / "nvcc").write_text(NVCC, encoding="utf-8")
        (self.top / "nvcc").chmod(0o755)
        self.write("a.cu", "kernel\n")
        self.write("a.h", "header\n")

    def write(self, name, text):
        (self.top / "src" / name).write_text(text, encoding="utf-8")

    def compile(self, folder, arch="90", flags=("-O3",), **environment):
        """Returns how often nvcc ran (twice for a compilation) and the content of the cubin."""
        runs = self.top / "runs"
        runs.write_text("", encoding="utf-8")
        out = self.top / folder / f"a.{arch}"
        command = [self.top / "tools/compile_kernels.sh", self.top / "nvcc", arch, self.top / "src/a.cu", out, *flags]
        done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **environment}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        count = len(runs.read_text(encoding="utf-8").split())
        if done.returncode != 0:
            return count, None
        self.assertTrue(all(out.with_name(out.name + end).exists() for end in (".ptx", ".usage", ".d")), done.stdout)
        self.assertIn(f"{out}.cubin:", out.with_name(out.name + ".d").read_text(encoding="utf-8"))
        return count, out.with_name(out.name + ".cubin").read_text(encoding="utf-8")

    def test_folders_share(self):
        first = self.compile("one")
        self.assertEqual(first[0], 2)
        self.assertEqual(self.compile("two"), (0, first[1]))

    def test_compiles_what_changed(self):
        self.compile("one")
        self.write("a.h", "another\n")
        self.assertEqual(self.compile("two"), (2, "kernel\nanother\nanother\n"))
        self.write("a.cu", "body\n")
        self.assertEqual(self.compile("one")[0], 2)
        self.assertEqual(self.compile("one", flags=("-O3", "-G"))[0], 2)
        self.assertEqual(self.compile("one", flags=("-O3", "-G"), FAKE_VERSION="2")[0], 2)
        self.assertEqual(self.compile("one", arch="80", flags=("-O3", "-G"), FAKE_VERSION="2")[0], 2)
        self.assertEqual(self.compile("two", arch="80", flags=("-O3", "-G"), FAKE_VERSION="2")[0], 0)

    def test_keeps_no_failure(self):
        self.write("a.cu", "fault\n")
        self.assertEqual(self.compile("one"), (1, None))
        self.assertEqual(self.compile("two"), (1, None))

    def test_switched_off(self):
        self.compile("one", VOLTA_KERNELS="")
        self.assertEqual(self.compile("two", VOLTA_KERNELS="")[0], 2)
        self.assertFalse((self.top / "build-kernels").exists())


if __name__ == "__main__":
    unittest.main()
