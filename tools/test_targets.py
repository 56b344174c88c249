#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_targets.py FOLDER [CTest selection] - what the chosen tests of a build folder name, as targets of Ninja: their
programs and arguments, and all that lies below folders which they or their environment name. Nothing is printed where
the folder is not Ninja's: then everything has to be built."""
import json
import os
import re
import subprocess
import sys


def said(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout.decode()


def paths(test):
    for word in test.get("command", []):
        yield from re.split("[:;=]", word)
    for row in test.get("properties", []):
        if row["name"] == "ENVIRONMENT":
            for word in row["value"]:
                yield from re.split("[:;=]", word)


def main():
    folder, selection = os.path.realpath(sys.argv[1]), sys.argv[2:]
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        return
    targets = [row.split(": ")[0] for row in said("ninja", "-C", folder, "-t", "targets", "all").splitlines() if ": " in row]
    made = {os.path.normpath(os.path.join(folder, t)): t for t in targets if "CMakeFiles/" not in t}
    named = set()
    tests = json.loads(said("ctest", "--test-dir", folder, "--show-only=json-v1", *selection))["tests"]
    for path in {os.path.normpath(p) for t in tests for p in paths(t) if p.startswith(folder + os.sep)}:
        named |= {path} & made.keys()
        named |= {m for m in made if m.startswith(path + os.sep)}
    print("\n".join(sorted(made[m] for m in named)))


if __name__ == "__main__":
    main()
