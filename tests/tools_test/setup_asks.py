#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""setup_asks.py - tests that setup.sh calls apt only for missing packages, on machines made of stubs."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = "gcc libc6-dev make cmake libsodium-dev libjansson-dev zlib1g-dev"
TEST = RUN + " ninja-build python3 clang libclang-rt-14-dev pkg-config g++"
CHECK = "git clang-format-14 libmpfr-dev mandoc python3-numpy python3-mpmath sollya"
ALL = TEST + " " + CHECK
FULL = ALL + " python3-torch"

STUBS = {
    "dpkg-query": 'for p; do :; done; case " $HAS " in *" $p "*) printf installed ;; *) exit 1 ;; esac',
    "apt-cache": 'echo "$2:"; echo "  Installed: (none)"; echo "  Candidate: ${CANDIDATE:-(none)}"; for i in {1..2500}; do echo "        500 http://a.mirror"; done',
    "apt-get": 'echo "apt-get $*" >>"$LOG"; exit "${APT_STATUS:-0}"',
    "id": 'echo "$FAKE_UID"',
    "sudo": '[ "$SUDO" = yes ] || exit 1; echo "sudo" >>"$LOG"; shift; exec "$@"',
}


class Setup(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.TemporaryDirectory()
        self.addCleanup(self.top.cleanup)
        self.bin = pathlib.Path(self.top.name, "bin")
        self.log = pathlib.Path(self.top.name, "log")
        self.bin.mkdir()
        scripts = pathlib.Path(self.top.name, "scripts")
        scripts.mkdir()
        self.script = scripts / "setup.sh"
        shutil.copy(ROOT / "scripts/setup.sh", self.script)
        self.stub("python.sh", 'case " $MODULES " in *" $1 "*) ;; *) exit 1 ;; esac', scripts)
        for tool in ("bash", "env", "cat", "sed", "grep", "true", "dirname"):
            (self.bin / tool).symlink_to(f"/usr/bin/{tool}")
        for name, body in STUBS.items():
            self.stub(name, body)

    def stub(self, name, body, folder=None):
        path = (folder or self.bin) / name
        path.write_text(f"#!/usr/bin/bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def setup(self, tier, has, **environment):
        """(exit status, output, log of the calls of apt and sudo) of setup.sh on a machine with these packages."""
        self.log.write_text("", encoding="utf-8")
        known = {"PATH": str(self.bin), "HAS": has, "LOG": str(self.log), "FAKE_UID": "0", "CANDIDATE": "1:14.0-55"}
        done = subprocess.run([str(self.script), tier], env={**known, **environment}, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout, self.log.read_text(encoding="utf-8")

    def test_nothing_is_missing(self):
        for tier, has in (("run", RUN), ("test", ALL), ("full", FULL)):
            status, output, asked = self.setup(tier, has)
            self.assertEqual((status, output, asked), (0, "setup: nothing is missing\n", ""))

    def test_packages_of_checks_are_installed(self):
        status, output, asked = self.setup("test", TEST)
        self.assertEqual((status, asked.splitlines()[-1]), (0, f"apt-get install -y --no-install-recommends {CHECK}"))
        self.assertRegex(output, r"python3-mpmath +tables\n")

    def test_modules_from_elsewhere_count(self):
        has = ALL.replace("python3-numpy python3-mpmath ", "")
        self.assertEqual(self.setup("test", has, MODULES="numpy mpmath")[2], "")
        self.assertIn("--no-install-recommends python3-mpmath\n", self.setup("test", has, MODULES="numpy")[2])

    def test_full_installs_packages_of_long_tests(self):
        self.assertEqual(self.setup("test", ALL)[2], "")
        self.assertIn("--no-install-recommends python3-torch\n", self.setup("full", ALL)[2])

    def test_succeeds_without_packages_of_checks(self):
        self.stub("clang", "echo 14.0.6")
        status, output, asked = self.setup("test", TEST, CANDIDATE="")
        self.assertEqual((status, asked), (0, "apt-get update -qq\n"), output)
        self.assertIn("apt does not offer " + CHECK, output)
        self.assertIn("are skipped", output)
        self.assertEqual(self.setup("test", TEST, FAKE_UID="1000", SUDO="no")[0], 0)

    def test_fails_without_packages_of_the_build(self):
        self.stub("clang", "echo 14.0.6")
        self.assertEqual(self.setup("test", ALL.replace("cmake ", ""), CANDIDATE="")[0], 1)

    def test_root_installs_what_is_missing(self):
        status, output, asked = self.setup("run", RUN.replace("cmake ", ""))
        self.assertEqual((status, asked), (0, "apt-get update -qq\n"
                                           "apt-get install -y --no-install-recommends cmake\n"), output)
        self.assertRegex(output, r"cmake +build\n")

    def test_run_leaves_the_tools_of_tests_alone(self):
        asked = self.setup("run", "")[2]
        self.assertEqual(asked.splitlines()[-1], "apt-get install -y --no-install-recommends " + RUN)

    def test_clang_runtime_follows_the_candidate(self):
        asked = self.setup("test", RUN, CANDIDATE="1:18.0-59~exp2")[2]
        self.assertIn(f" clang libclang-rt-18-dev pkg-config g++ {CHECK}\n", asked)

    def test_clang_runtime_follows_the_clang_in_use(self):
        self.stub("clang", 'case $1 in -dumpversion) echo 16.0.6 ;; *) exit 1 ;; esac')
        asked = self.setup("test", ALL, CANDIDATE="1:14.0-55")[2]
        self.assertIn("--no-install-recommends libclang-rt-16-dev\n", asked)

    def test_tools_from_elsewhere_count(self):
        self.stub("ninja", "")
        self.assertEqual(self.setup("test", ALL.replace("ninja-build ", ""))[2], "")

    def test_sudo(self):
        status, output, asked = self.setup("run", RUN.replace("cmake ", ""), FAKE_UID="1000", SUDO="yes")
        self.assertEqual(status, 0, output)
        self.assertIn("sudo\napt-get install", asked)

    def test_neither_root_nor_sudo(self):
        status, output, asked = self.setup("run", RUN.replace("cmake ", ""), FAKE_UID="1000", SUDO="no")
        self.assertEqual((status, asked), (1, ""), output)
        command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake\n"
        self.assertTrue(output.endswith(command), output)

    def test_failing_apt_fails(self):
        self.assertNotEqual(self.setup("run", "", APT_STATUS="100")[0], 0)

    def test_switched_off(self):
        self.assertEqual(self.setup("test", "", VOLTA_SETUP="no"), (0, "", ""))

    def test_neither_debian_nor_ubuntu(self):
        (self.bin / "dpkg-query").unlink()
        (self.bin / "apt-get").unlink()
        status, output, _ = self.setup("run", "")
        self.assertEqual(status, 0, output)
        self.assertIn("libsodium-dev", output)

    def test_usage(self):
        self.assertEqual(self.setup("everything", "")[0], 2)


if __name__ == "__main__":
    unittest.main()
