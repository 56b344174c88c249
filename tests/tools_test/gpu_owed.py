#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_owed.py - tests gpu_verify.sh and owed.sh in a made-up repository with a made-up GPU, and compares the real
table of docs/gpu-verification.md with the real list of checks."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/gpu-verification.md"
CARD = "cuda:0  available  built in  complete  88 prims  41 comps  NVIDIA Made, sm_90, driver 13.0"
CHECKS = """check infer/suite src/kernel 'src/case*'
check infer/kernels src/kernel src/kernel/a_test.c
check train/steps src/train.c
"""
NEVER = "| {} | what | never | | | |\n"
# A script with a group of checks, each in two pieces. A line `NAME1 WORDS` in build/says replaces the output of the
# first piece of the check NAME, and after a line `stop NAME1` the script ends with that piece.
SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/ci/verdict.sh
options "made.sh [--part I/N] [--build FOLDER] [--checks A,B] [--rows FILE]" "$@"
for name in NAMES; do
  if wanted "$name"; then
    for piece in 1 2; do
      if mine; then
        run_check "$name" "^right" sh -c "grep -h '^$name$piece ' build/says || echo right piece $piece"
        if grep -q "^stop $name$piece" build/says; then exit 1; fi
      fi
    done
  fi
done
echo end >>"$rows"
exit $failed
"""


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"})
    return done.returncode, done.stdout


class MadeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        for name in ("gpu_verify.sh", "owed.sh", "verdict.sh"):
            self.write(f"scripts/ci/{name}", (ROOT / "scripts/ci" / name).read_text(encoding="utf-8"))
        self.write("scripts/ci/gpu_checks.sh", CHECKS)
        self.write("scripts/ci/cuda_infer_verify.sh", SCRIPT.replace("NAMES", "suite kernels"))
        self.write("scripts/ci/cuda_train_verify.sh", SCRIPT.replace("NAMES", "steps"))
        for name in ("src/kernel/a.cu", "src/kernel/a_test.c", "src/case1", "src/train.c"):
            self.write(name, "one\n")
        self.write(PAGE, "# A page\n\n" + "".join(map(NEVER.format, ("infer/suite", "infer/kernels", "train/steps"))))
        self.write(".gitignore", "build\nout\n")
        self.write("build/volta", f"#!/bin/sh\ncat {self.top}/build/gpu\n")
        self.write("build/gpu", CARD + "\n")
        self.write("build/says", "")
        run(self.top, "git", "init", "-q")
        run(self.top, "git", "config", "user.name", "a")
        run(self.top, "git", "config", "user.email", "a@b")
        self.commit()

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def commit(self):
        self.assertEqual(run(self.top, "git", "add", "-A")[0], 0)
        self.assertEqual(run(self.top, "git", "commit", "-q", "-m", "change")[0], 0)

    def owed(self, *words, status=0):
        found, output = run(self.top, "scripts/ci/owed.sh", *words)
        self.assertEqual(found, status, output)
        return output

    def verify(self, *words, status=0):
        found, output = run(self.top, "scripts/ci/gpu_verify.sh", "--out", "out", *words)
        self.assertEqual(found, status, output)
        return output

    def record_all(self):
        """Runs every check and records it at the last commit."""
        self.verify()
        self.owed("--record", "out/gpu-verify-1-of-1.txt")
        self.commit()

    # ---- the list of owed checks ----

    def test_never_seen_is_owed(self):
        output = self.owed()
        self.assertEqual(re.findall(r"^(\S+) +never$", output, re.M), ["infer/suite", "infer/kernels", "train/steps"])
        self.assertIn("owed: 3 of 3", output)
        self.owed("--fail", status=1)

    def test_seen_is_not_owed(self):
        self.record_all()
        self.assertEqual(self.owed("--fail"), "owed: 0 of 3 GPU checks\n")
        self.write("src/other.c", "two\n")
        self.write("src/kernel/b_test.c", "two\n")
        self.assertEqual(self.owed("--fail"), "owed: 0 of 3 GPU checks\n")

    def test_changed_is_owed(self):
        self.record_all()
        self.write("src/train.c", "two\n")
        output = self.owed()
        self.assertRegex(output, r"(?m)^train/steps +\d{4}-\d\d-\d\d  NVIDIA Made at [0-9a-f]{7}; changed: src/train.c$")
        self.assertIn("owed: 1 of 3", output)
        self.owed("--fail", status=1)
        self.write("src/train.c", "one\n")
        self.assertIn("owed: 0 of 3", self.owed())

    def test_every_kind_of_change(self):
        self.record_all()
        for name, text, checks in [("src/kernel/b.cu", "new\n", "infer/suite infer/kernels"), ("src/case2", "new\n", "infer/suite"),
                                   ("src/kernel/a_test.c", "two\n", "infer/kernels")]:
            with self.subTest(name=name):
                self.write(name, text)
                self.assertEqual(re.findall(r"^(\S+) .*changed: " + name, self.owed(), re.M), checks.split())
                run(self.top, "git", "checkout", "-q", ".")
                run(self.top, "git", "clean", "-qfd")
        (self.top / "src/case1").rename(self.top / "src/case3")
        self.assertIn("infer/suite", self.owed())

    def test_oldest_first(self):
        self.record_all()
        page = (self.top / PAGE).read_text(encoding="utf-8")
        page = re.sub(r"(train/steps .*)\d{4}-\d\d-\d\d", r"\g<1>2001-01-01", page)
        page = re.sub(r"(infer/kernels \| what).*", r"\1 | never | | | |", page)
        self.write(PAGE, page)
        self.write("src/kernel/a.cu", "two\n")
        self.write("src/train.c", "two\n")
        self.assertEqual([line.split()[0] for line in self.owed().splitlines()[:3]],
                         ["infer/kernels", "train/steps", "infer/suite"])

    def test_commit_that_is_not_here(self):
        self.record_all()
        self.write("src/train.c", "two\n")
        shutil.rmtree(self.top / ".git")
        self.assertRegex(self.owed(), "train/steps .*files not known")

    # ---- the table and the list ----

    def test_check_without_row(self):
        self.write("scripts/ci/gpu_checks.sh", CHECKS + "check emit/new src/train.c\n")
        self.assertIn("no row for the check emit/new", self.owed(status=3))

    def test_row_without_check(self):
        self.write(PAGE, (self.top / PAGE).read_text(encoding="utf-8") + NEVER.format("emit/old"))
        self.assertIn("a row for emit/old", self.owed(status=3))

    def test_row_of_another_form(self):
        self.write(PAGE, (self.top / PAGE).read_text(encoding="utf-8").replace("never", "NEVER", 1))
        self.assertIn("the form of the others", self.owed(status=3))

    def test_source_that_does_not_exist(self):
        (self.top / "src/train.c").unlink()
        self.owed(status=3)
        self.owed("--sources", status=3)
        self.verify(status=3)

    def test_owed_usage(self):
        for words in (["--all"], ["--fail", "x"], ["--record"], ["--sources", "a", "b"], ["--sources", "nosuch"],
                      ["--record", "nosuch"]):
            with self.subTest(words=words):
                self.owed(*words, status=2)

    # ---- runs ----

    def test_one_table_and_one_report(self):
        output = self.verify()
        table = output[output.index("check   "):]
        self.assertEqual(re.findall(r"^(\S+) +(\S+) +\d+  (.*)$", table, re.M),
                         [(name, "ok", f"right piece {n}") for name in ("infer/suite", "infer/kernels", "train/steps")
                          for n in (1, 2)])
        self.assertEqual(output.count("what it said"), 1)
        self.assertEqual(os.listdir(self.top / "out"), ["gpu-verify-1-of-1.txt"])
        report = (self.top / "out/gpu-verify-1-of-1.txt").read_text(encoding="utf-8")
        commit = run(self.top, "git", "rev-parse", "HEAD")[1].strip()
        for line in ("part: 1 of 1", "card: NVIDIA Made", f"commit: {commit}", "gpu: no check failed, part 1 of 1"):
            self.assertIn(line + "\n", report)
        for key in ("driver: .", r"date: \d{4}-\d\d-\d\d$", "source: train/steps [0-9a-f]{16}$", "infer/suite +ok"):
            self.assertRegex(report, "(?m)^" + key)

    def test_since(self):
        self.write("src/train.c", "two\n")
        self.commit()
        self.assertIn("no check has other sources", self.verify("--since", "HEAD"))
        self.assertFalse((self.top / "out").exists())
        output = self.verify("--since", "HEAD~1")
        self.assertEqual(set(re.findall(r"^(\S+/\S+) +ok", output, re.M)), {"train/steps"})
        self.verify("--since", "nosuch", status=2)

    def test_parts(self):
        for part in (1, 2, 3):
            self.verify("--part", f"{part}/3")
        reports = sorted(str(path) for path in (self.top / "out").iterdir())
        ran = [re.findall(r"^(\S+/\S+) +ok +\d+  right (piece \d)", pathlib.Path(report).read_text(encoding="utf-8"), re.M)
               for report in reports]
        self.assertTrue(all(ran), ran)
        self.assertEqual((len(sum(ran, [])), len(set(sum(ran, [])))), (6, 6), ran)
        self.owed("--record", *reports[:2], status=2)
        self.owed("--record", reports[0], reports[1], reports[1], status=2)
        self.assertEqual(self.owed("--record", *reports).count("\nrecorded: "), 2)
        self.assertIn("owed: 0 of 3", self.owed())

    def test_failure_is_not_recorded(self):
        self.write("build/says", "kernels2 wrong bits\n")
        output = self.verify(status=1)
        self.assertRegex(output, r"infer/kernels +FAILED +\d+  kernels2 wrong bits")
        self.assertIn("gpu: FAILED, part 1 of 1", output)
        output = self.owed("--record", "out/gpu-verify-1-of-1.txt", status=1)
        self.assertIn("not recorded: infer/kernels: its results are FAILED,ok\n", output)
        self.assertEqual(re.findall("^(.*) never", self.owed(), re.M)[0].strip(), "infer/kernels")

    def test_script_that_stops(self):
        self.write("build/says", "stop kernels1\n")
        output = self.verify(status=1)
        for name in ("suite", "kernels"):
            self.assertRegex(output, f"infer/{name} +ok")
            self.assertRegex(output, f"infer/{name} +FAILED .*cuda_infer_verify.sh ended early, with exit code 1")
        self.assertRegex(output, "train/steps +ok")

    def test_record_wants_the_sources_of_the_commit(self):
        self.write("src/train.c", "two\n")
        self.verify()
        output = self.owed("--record", "out/gpu-verify-1-of-1.txt", status=1)
        self.assertIn("not recorded: train/steps: not every part ran it on the sources of", output)
        self.assertIn("recorded: infer/suite\n", output)

    def test_record_without_a_clone_there(self):
        (self.top / ".git").rename(self.top / "hidden")
        self.verify()
        self.owed("--record", "out/gpu-verify-1-of-1.txt", status=2)
        (self.top / "hidden").rename(self.top / ".git")
        self.assertEqual(self.owed("--record", "out/gpu-verify-1-of-1.txt").count("recorded: "), 3)

    def test_no_gpu(self):
        self.write("build/gpu", "cuda:0  unavailable  -  partial  0 prims  0 comps  no CUDA driver here\n")
        self.assertEqual(self.verify(status=5), "gpu_verify.sh: there is no GPU to verify: no CUDA driver here\n")
        (self.top / "build/volta").unlink()
        self.assertIn("run make first", self.verify(status=2))

    def test_verify_usage(self):
        for words in (["--part"], ["--part", "0/2"], ["--part", "3/2"], ["--part", "2"], ["--since"], ["--all", "x"], ["x", "y"]):
            with self.subTest(words=words):
                found, output = run(self.top, "scripts/ci/gpu_verify.sh", *words)
                self.assertEqual(found, 2, output)


class Real(unittest.TestCase):
    def test_table_and_list_agree(self):
        status, output = run(ROOT, "scripts/ci/owed.sh")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"owed: \d+ of \d+ GPU checks\n$")

    def test_scripts_run_what_is_listed(self):
        listed = set(re.findall(r"^check (\S+)", (ROOT / "scripts/ci/gpu_checks.sh").read_text(encoding="utf-8"), re.M))
        run_by = set()
        for script in (ROOT / "scripts/ci").glob("cuda_*_verify.sh"):
            group = script.name[len("cuda_"):-len("_verify.sh")]
            run_by |= {f"{group}/{name}" for name in re.findall(r"\bwanted (\w+)", script.read_text(encoding="utf-8"))}
        self.assertEqual(listed, run_by)


if __name__ == "__main__":
    if shutil.which("git") is None:
        print("SKIPPED: no git here")
        sys.exit(77)
    unittest.main()
