#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_targets.py FOLDER [CTest selection] - what the chosen tests of a build folder name, as targets of Ninja: their
programs and arguments, and all that lies below folders which they or their environment name. Nothing is printed where
the folder is not Ninja's: then everything has to be built."""
import os
import re
import subprocess
import sys


def said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()


def chosen(folder, selection):
    """The names of the tests. CTest tells no command of a test whose program is yet to be built."""
    listed = said("ctest", "--test-dir", folder, "-N", *selection)
    return set(re.findall(r"^ +Test +#\d+: (\S+)$", listed, re.M))


def paths(folder, names):
    """What the lines of these tests have between quotes: commands, arguments, environments."""
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
    targets = [row.split(": ")[0] for row in said("ninja", "-C", folder, "-t", "targets", "all").splitlines() if ": " in row]
    made = {os.path.normpath(os.path.join(folder, t)): t for t in targets if "CMakeFiles/" not in t}
    named = set()
    for path in {os.path.normpath(p) for p in paths(folder, chosen(folder, selection)) if p.startswith(folder + os.sep)}:
        named |= {path} & made.keys()
        named |= {m for m in made if m.startswith(path + os.sep)}
    for target in sorted(made[m] for m in named):
        print(target)


if __name__ == "__main__":
    main()
