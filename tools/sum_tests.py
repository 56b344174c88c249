#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sum_tests.py - adds up CTest's JUnit reports and prints one closing line.

A lane is given as NAME=REPORT. A report that is missing or holds no test counts as one failure,
and so does a test that never started: only a test that says it skips itself is skipped.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def verdict(case):
    """passed, failed or skipped, for one <testcase>."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    says_so = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    return "skipped" if says_so or case.get("status") == "disabled" else "failed"


def read_lane(lane):
    """(verdict, name) of each test of a lane."""
    name, _, report = lane.partition("=")
    try:
        cases = list(ElementTree.parse(pathlib.Path(report)).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return [("failed", f"{name}: no report: {error}")]
    if not cases:
        return [("failed", f"{name}: no tests")]
    return [(verdict(case), f"{name}: {case.get('name')}") for case in cases]


def main(arguments):
    parser = argparse.ArgumentParser(description="add up CTest's JUnit reports")
    parser.add_argument("--failed-lanes", default="", help="lanes that do not build, by blanks")
    parser.add_argument("--skipped-lanes", default="", help="lanes that cannot run here")
    parser.add_argument("lanes", nargs="*", metavar="NAME=REPORT")
    options = parser.parse_args(arguments)

    results = [result for lane in options.lanes for result in read_lane(lane)]
    results += [("failed", f"{lane}: the lane itself") for lane in options.failed_lanes.split()]
    results += [("skipped", f"{lane}: the lane itself") for lane in options.skipped_lanes.split()]
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for kind, name in results:
        count[kind] += 1
        if kind != "passed":
            print(f"{kind}: {name}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 0 if count["failed"] == 0 and count["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
