#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_targets.py FOLDER [CTest selection] - prints the Ninja targets that the chosen tests of a build folder need:
the files that their commands, arguments or environments name, and all files below folders that these name. It prints
nothing if the build folder does not use Ninja; then everything has to be built."""
import os
import re
import subprocess
import sys


def output_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()


def chosen(folder, selection):
    """The names of the chosen tests. Only names, because CTest shows no command of a test that is not built yet."""
    listed = output_of("ctest", "--test-dir", folder, "-N", *selection)
    return set(re.findall(r"^ +Test +#\d+: (\S+)$", listed, re.M))


def paths(folder, names):
    """The paths in the commands, arguments and environments of these tests, from CTest's file."""
    with open(os.path.join(folder, "CTestTestfile.cmake"), encoding="utf-8") as file:
        for line in file:
            row = re.match(r"(?:add_test|set_tests_properties)\(\[=*\[(.*?)\]=*\](.*)", line)
            if row and row.group(1) in names:
                for word in re.findall(r'"([^"]*)"', row.group(2)):
                    yield from re.split("[:;=]", word)


def main():
    folder, selection = os.path.realpath(sys.argv[1]), sys.argv[2:]
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        return
    targets = [row.split(": ")[0] for row in output_of("ninja", "-C", folder, "-t", "targets", "all").splitlines() if ": " in row]
    made = {os.path.normpath(os.path.join(folder, t)): t for t in targets if "CMakeFiles/" not in t}
    named = set()
    for path in {os.path.normpath(p) for p in paths(folder, chosen(folder, selection)) if p.startswith(folder + os.sep)}:
        named |= {path} & made.keys()
        named |= {m for m in made if m.startswith(path + os.sep)}
    for target in sorted(made[m] for m in named):
        print(target)


if __name__ == "__main__":
    main()
