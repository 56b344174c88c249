#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_trace.py TRACE [METRICS] - tests that Perfetto can open a trace, and that its times are consistent.

Every event must have the keys of its kind, and events must be sorted by time. Two events of one track must not
overlap partly. Steps must be inside the run, phases before it, and copies of outputs after it. With METRICS, a report
of --metrics, its totals must be the sums of its steps, and its steps must be those of the trace."""
import json
import sys

NEEDED = {"X": ("name", "cat", "pid", "tid", "ts", "dur"), "M": ("name", "pid", "tid", "args")}
EPSILON = 0.0015  # microseconds; times are printed in whole nanoseconds


def nested(events):
    """Yields the events of one track, sorted by time, that overlap another one partly."""
    around = []
    for e in events:
        while around and around[-1]["ts"] + around[-1]["dur"] <= e["ts"] + EPSILON:
            around.pop()
        if around and e["ts"] + e["dur"] > around[-1]["ts"] + around[-1]["dur"] + EPSILON:
            yield f"{e['name']} begins within {around[-1]['name']} and ends after it"
        around.append(e)


def check_trace(trace):
    events = trace["traceEvents"]
    for e in events:
        if e.get("ph") not in NEEDED:
            yield f"an event of kind {e.get('ph')}"
            return
        for key in NEEDED[e["ph"]]:
            if key not in e:
                yield f"an event without {key}: {e}"
                return
    spans = [e for e in events if e["ph"] == "X"]
    named = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    if not any(e["ph"] == "M" and e["name"] == "process_name" for e in events):
        yield "the process has no name"
    for e in spans:
        if e["dur"] < 0 or e["ts"] < 0:
            yield f"{e['name']}: ts {e['ts']}, dur {e['dur']}"
        if e["tid"] not in named:
            yield f"the track {e['tid']} has no name"
    if any(a["ts"] > b["ts"] for a, b in zip(spans, spans[1:])):
        yield "time goes back"
    for tid in sorted(named):
        yield from nested([e for e in spans if e["tid"] == tid])
    runs = [e for e in spans if e["cat"] == "run"]
    if len(runs) != 1:
        yield f"{len(runs)} runs"
        return
    begin, end = runs[0]["ts"], runs[0]["ts"] + runs[0]["dur"]
    for e in spans:
        first, last = e["ts"], e["ts"] + e["dur"]
        if e["cat"] == "step" and not (begin - EPSILON <= first and last <= end + EPSILON):
            yield f"{e['name']} is not within the run"
        if e["cat"] == "phase" and last > begin + EPSILON:
            yield f"{e['name']} ends after the run began"
        if e["cat"] == "copy" and e["args"]["direction"] == "from device" and first < end - EPSILON:
            yield f"{e['name']} comes out before the run ended"


def check_metrics(report, trace):
    steps, totals = report["steps"], report["metrics"]
    for key in ("flops", "bytes_read", "bytes_written"):
        for name, rows in (("steps", steps), ("ops", report["ops"])):
            if sum(r[key] for r in rows) != totals[key]:
                yield f"{key} of the {name} do not add up"
    if sum(o["count"] for o in report["ops"]) != len(steps):
        yield "the ops do not add up to the steps"
    if sum(s["wall_ns"] for s in steps) > totals["wall_ns"]:
        yield "the steps took longer than the run"
    shown = [e["args"] for e in trace["traceEvents"] if e.get("cat") == "step"]
    keys = ("step", "op", "type", "flops", "bytes_read", "bytes_written", "group", "dense_copy")
    if sorted([a[k] for k in keys] for a in shown) != sorted([s[k] for k in keys] for s in steps):
        yield "the steps of the trace are not those of the report"


def main(paths):
    trace = json.load(open(paths[0], encoding="utf-8"))
    problems = list(check_trace(trace))
    if len(paths) > 1:
        problems += check_metrics(json.load(open(paths[1], encoding="utf-8")), trace)
    for problem in problems:
        print(problem)
    count = {}
    for e in trace["traceEvents"]:
        count[e.get("cat", "name")] = count.get(e.get("cat", "name"), 0) + 1
    print(", ".join(f"{n} {kind}" for kind, n in sorted(count.items())))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
