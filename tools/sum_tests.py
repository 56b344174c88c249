#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sum_tests.py - adds up CTest's JUnit reports and prints one closing line.

A lane is given as NAME=REPORT. A report that is missing or has no tests counts as one failure. A test counts as
skipped only if it skipped itself; a test that never started has failed. With --packages a test may skip itself only
because hardware or nvcc is missing.
"""
import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


# Reasons for skipping a test that name something that no package can install.
HARDWARE = re.compile(r"this processor|no (sse2|avx2|avx512|fma) here|nvcc|NVRTC|no kernels for CUDA|no device")


def verdict(case):
    """(passed, failed or skipped; the reason that the test gave) of one <testcase>."""
    if case.get("status") == "run":
        return "passed", ""
    skipped = case.find("skipped")
    says_so = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    why = re.search(r"SKIPPED: *(.*)", case.findtext("system-out") or "")
    return "skipped" if says_so or case.get("status") == "disabled" else "failed", why.group(1) if why else ""


def read_lane(lane, packages):
    """(verdict, name and reason) of each test of a lane."""
    name, _, report = lane.partition("=")
    try:
        cases = list(ElementTree.parse(pathlib.Path(report)).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return [("failed", f"{name}: no report: {error}")]
    if not cases:
        return [("failed", f"{name}: no tests")]
    results = []
    for case in cases:
        kind, why = verdict(case)
        if kind == "skipped" and packages and not HARDWARE.search(why):
            kind = "failed"
        results.append((kind, f"{name}: {case.get('name')}" + (f": {why}" if why and kind != "passed" else "")))
    return results


def main(arguments):
    parser = argparse.ArgumentParser(description="add up CTest's JUnit reports")
    parser.add_argument("--failed-lanes", default="", help="lanes that do not build, separated by blanks")
    parser.add_argument("--skipped-lanes", default="", help="lanes that cannot run on this machine")
    parser.add_argument("--packages", action="store_true", help="a test that is skipped because a package is missing has failed")
    parser.add_argument("lanes", nargs="*", metavar="NAME=REPORT")
    options = parser.parse_args(arguments)

    results = [result for lane in options.lanes for result in read_lane(lane, options.packages)]
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
