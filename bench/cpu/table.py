#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py folder | machine VOLTA | page | check | self-check - generates the tables of the performance page.

  folder   prints the folder of bench/results for the results of this machine
  machine  prints facts about this machine as JSON, from /proc/cpuinfo and VOLTA; no host or user names
  page     writes the tables of docs/governance/performance.md from bench/results
  check    fails if the tables of the page are not those that bench/results gives
  self-check  changes numbers and settings in a made-up page and its results, and fails if `check` misses one
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS, PAGE = "bench/results", "docs/governance/performance.md"
BEGIN, END = "<!-- results: begin -->\n", "<!-- results: end -->\n"
ISAS = ["avx2", "avx512"]

# The goals of performance. A work is one benchmark, such as "sgemm 64x768x3072"; its ratio is the library's time over
# that of Volta. Each row: title, the library compared with, a pattern of the names of works, the ratio that must be
# reached (None: it is only measured), the ratio aimed at (None: memory speed). If several works match, the smallest
# ratio counts.
GOALS = [
    ("sgemm, squares of 128 to 2048", "openblas", r"sgemm (\d+)x\1x\1$", 0.95, 1.05),
    ("sgemm [64..512]x768x3072", "openblas", r"sgemm (64|128|256|512)x768x3072$", 0.95, 1.05),
    ("gemv 4096x4096", "openblas", r"sgemv(_t)? 4096x4096$", 1.0, None),
    ("softmax [1024, 1024]", "PyTorch", r"softmax ", 0.8, 1.5),
    ("layer_norm [1024, 1024]", "PyTorch", r"layer_norm ", 0.8, 1.5),
    ("gelu [1024, 1024]", "PyTorch", r"gelu ", None, 1.0),
    ("tanh [1024, 1024]", "PyTorch", r"tanh ", None, 1.0),
    ("exp [1024, 1024]", "PyTorch", r"exp ", None, 1.0),
    ("conv2d 3x3 64->64 56x56", "PyTorch", r"conv2d ", 0.7, 1.0),
    ("GPT-2 124M, B=1, T=128", "PyTorch", r"gpt2_124m ", 0.8, 1.2),
]
# Pattern of the names of works whose time is limited by arithmetic, not by memory, so that two threads should be nearly
# twice as fast as one.
BOUND = r"sgemm ((512|1024|2048)x\d+x\d+|(64|128|256)x768x3072)$|conv2d |gpt2_124m "
SCALE_MUST, SCALE_AIM = 1.8, 1.95  # "must" and "aim" for one thread's time over that of two
NAMES = {"openblas": "OpenBLAS"}


# ---- the machine ---------------------------------------------------------------------------------

def cpu_facts():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    field = lambda key: (re.search(rf"^{key}\s*:\s*(.*)$", text, re.M) or [None, "unknown"])[1]  # noqa: E731
    return {"cpu": field("model name"), "family": field("cpu family"), "model": field("model"),
            "cpus": len(re.findall(r"^processor\s*:", text, re.M)), "cache": field("cache size")}


def folder_name():
    f = cpu_facts()
    plain = re.sub(r"\((?:R|TM)\)", "", f["cpu"])
    words = re.findall(r"[a-z0-9]+", plain.lower())
    return "-".join([*words, f["family"], f["model"], f"x{f['cpus']}"])


def machine(volta):
    doctor = json.loads(subprocess.run([volta, "doctor", "--json"], check=True, capture_output=True).stdout)["facts"]
    return {**cpu_facts(), "instructions": doctor["cpu"], "compiler": doctor["compiler"],
            "date": datetime.date.today().isoformat()}


# ---- reading results -----------------------------------------------------------------------------

class Results:
    """All results of one machine; rows is {(isa, peer, work, threads, weights): record}."""

    def __init__(self, folder):
        self.folder, self.rows, self.about = folder, {}, {}
        self.machine = json.loads((folder / "machine.json").read_text())
        for isa in ISAS:
            self.read_openblas(isa, folder / f"openblas-{isa}.json")
            self.read_peers(isa, folder / f"peers-{isa}.json")
        self.isas = [isa for isa in ISAS if any(key[0] == isa for key in self.rows)]
        self.threads = sorted({key[3] for key in self.rows})

    def read_openblas(self, isa, path):
        if not path.is_file():
            return
        report = json.loads(path.read_text())
        cores = report["compare"].get("cores", [])
        tried = f"; core types tried: {', '.join(cores)}" if cores else ""
        self.about[isa, "openblas"] = report["compare"]["config"] + tried
        for r in report["results"]:
            self.rows[isa, "openblas" if "ratio" in r else None, r["work"], r["threads"], r["weights"]] = r

    def read_peers(self, isa, path):
        if not path.is_file():
            return
        report = json.loads(path.read_text())
        for name, about in report["peers"].items():
            self.about[isa, name] = about
        for r in report["results"]:
            self.rows[isa, r["peer"], r["work"], r["threads"], "peer"] = r

    def pick(self, isa, peer, work, threads, weights):
        return [r for (i, p, w, t, k), r in self.rows.items()
                if i == isa and p == peer and t == threads and re.match(work, w) and k in (weights, "peer")]

    def scale(self, isa, threads):
        """(ratio, work): the smallest ratio of one thread's time over that of `threads`, among the works of BOUND."""
        found = []
        for (i, p, w, t, k), r in self.rows.items():
            many = self.rows.get((i, p, w, threads, k))
            if i == isa and t == 1 and k in ("parameter", "peer") and p != "ONNX Runtime" and re.match(BOUND, w) and many:
                found.append((r["best_ns"] / many["best_ns"], w))
        return min(found) if found else None


# ---- writing the page ----------------------------------------------------------------------------

def count(threads):
    return "1 thread" if threads == 1 else f"{threads} threads"


def number(value):
    return "" if value is None else f"{value:.2f}"


def goal_cells(results, goal, weights):
    _, peer, work, must, _ = goal
    must = must if weights == "parameter" else None
    for isa in results.isas:
        for threads in results.threads:
            rows = results.pick(isa, peer, work, threads, weights)
            worst = min((r["ratio"] for r in rows), default=None)
            missed = worst is not None and must is not None and round(worst, 2) < must
            yield f"**{number(worst)}**" if missed else number(worst)


def scale_cells(results):
    for isa in results.isas:
        for threads in results.threads:
            found = results.scale(isa, threads) if threads == 2 else None
            missed = found is not None and round(found[0], 2) < SCALE_MUST
            text = f"{found[0]:.2f}" if found else ""
            yield f"**{text}**" if missed else text


def goal_table(results):
    heads = [f"{isa} x{t}" for isa in results.isas for t in results.threads]
    lines = ["| work | compared with | must | aim | " + " | ".join(heads) + " |", "|---|---|---|---|" + "---|" * len(heads)]
    for goal in GOALS:
        title, peer, _, must, aim = goal
        must_text = "measured" if must is None else f"{must:.2f}"
        aim_text = "memory speed" if aim is None else f"{aim:.2f}"
        over = NAMES.get(peer, peer)
        lines.append(f"| {title} | {over} | {must_text} | {aim_text} | {' | '.join(goal_cells(results, goal, 'parameter'))} |")
        if peer == "openblas":
            cells = " | ".join(goal_cells(results, goal, "input"))
            lines.append(f"| the same, weights as inputs | {over} | | | {cells} |")
    lines.append(f"| two threads over one, work bound by arithmetic | one thread | {SCALE_MUST:.2f} | {SCALE_AIM:.2f} | "
                 f"{' | '.join(scale_cells(results))} |")
    return lines


def missed_lines(results):
    for goal in GOALS:
        title, peer, work, must, _ = goal
        for isa in results.isas:
            for threads in results.threads:
                for r in results.pick(isa, peer, work, threads, "parameter"):
                    if must is not None and round(r["ratio"], 2) < must:
                        yield (f"- {r['work']}, {isa}, {count(threads)}: {r['ratio']:.2f} of {NAMES.get(peer, peer)}, "
                               f"must be {must:.2f}")
    for isa in results.isas:
        found = results.scale(isa, 2)
        if found and round(found[0], 2) < SCALE_MUST:
            yield f"- {found[1]}, {isa}: two threads are {found[0]:.2f} times as fast as one, must be {SCALE_MUST:.2f}"


def detail_table(results, isa):
    lines = ["| work | threads | weights | Volta best us | median us | GFLOP/s | compared with | its setting | its best us | ratio | ratio of medians |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for (i, peer, work, threads, weights), r in results.rows.items():
        if i != isa or (peer is None and work_compared(results, isa, work)):
            continue
        rate = f"{r['flops'] / r['best_ns']:.1f}" if "flops" in r else ""
        ours = f"{r['best_ns'] / 1e3:.1f} | {r['median_ns'] / 1e3:.1f} | {rate}"
        theirs = (f"{NAMES.get(peer, peer)} | {r.get('peer_setting', '')} | {r['peer_best_ns'] / 1e3:.1f} | {r['ratio']:.2f} | "
                  f"{r['ratio_median']:.2f}" if peer else " | | | |")
        lines.append(f"| {work} | {threads} | {weights if weights in ('parameter', 'input') else ''} | {ours} | {theirs} |")
    return lines


def work_compared(results, isa, work):
    return any(i == isa and p is not None and w == work for i, p, w, _, _ in results.rows)


def machine_lines(results):
    m = results.machine
    yield f"### {m['cpu']}, family {m['family']}, model {m['model']}, {m['cpus']} processors"
    yield ""
    yield f"Measured on {m['date']}; instructions {m['instructions']}; built by {m['compiler']}; cache {m['cache']}."
    yield f"The files are in `{results.folder.relative_to(results.folder.parents[2])}`."
    for (isa, peer), about in results.about.items():
        yield f"{NAMES.get(peer, peer)}, measured with {isa}: {about}."
    if not any("peer_setting" in r for r in results.rows.values()):
        yield "Each library was measured with its default settings only."
    yield ""


def generated(root):
    lines = []
    for folder in sorted(p.parent for p in (root / RESULTS).glob("*/machine.json")):
        results = Results(folder)
        lines += [*machine_lines(results), *goal_table(results), ""]
        missed = list(missed_lines(results))
        lines += ["Every row reaches its \"must\"." if not missed else "Rows below their \"must\":", "", *missed, *([""] if missed else [])]
        for isa in results.isas:
            lines += [f"#### Every row, {isa}", "", *detail_table(results, isa), ""]
    return "\n".join(lines)


def page_parts(root):
    text = (root / PAGE).read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    middle, tail = rest.split(END)
    return head, middle, tail


def write_page(root):
    head, _, tail = page_parts(root)
    (root / PAGE).write_text(head + BEGIN + generated(root) + END + tail, encoding="utf-8")


def check_page(root):
    return page_parts(root)[1] == generated(root)


def made_up_row(work, threads, **more):
    return {"work": work, "threads": threads, "best_ns": 2000, "median_ns": 2100, "peer_best_ns": 3000,
            "peer_median_ns": 3100, "peer_setting": "Zen x1", "ratio": 1.5, "ratio_median": 3100 / 2100, **more}


def write_made_up(root):
    """Writes a page and made-up results that agree with it."""
    folder = root / RESULTS / "nobody-x2"
    folder.mkdir(parents=True)
    (root / PAGE).parent.mkdir(parents=True)
    (root / PAGE).write_text("before\n" + BEGIN + END + "after\n")
    products = [made_up_row("sgemm 512x512x512", t, weights=w, flops=9000) for t in (1, 2) for w in ("parameter", "input")]
    files = {"machine": {"cpu": "none", "family": "0", "model": "0", "cpus": 2, "cache": "0 KB", "instructions": "sse2",
                         "compiler": "none", "date": "2000-01-01"},
             "openblas-avx2": {"compare": {"config": "none", "cores": ["Zen"]}, "results": products},
             "peers-avx2": {"peers": {"PyTorch": "none"}, "results": [made_up_row("softmax 1024x1024", 1, peer="PyTorch")]}}
    for name, what in files.items():
        (folder / f"{name}.json").write_text(json.dumps(what))
    write_page(root)


def is_noticed(change):
    """Whether the check notices `change`, made to a page that agrees with its results."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_made_up(root)
        if not check_page(root):
            return False
        change(root)
        return not check_page(root)


def plant_in_page(root):
    text = (root / PAGE).read_text(encoding="utf-8")
    (root / PAGE).write_text(text.replace("| 1.50 |", "| 1.60 |", 1), encoding="utf-8")


def plant_in_products(root):
    path = root / RESULTS / "nobody-x2/openblas-avx2.json"
    path.write_text(path.read_text().replace("2000", "2900", 1))


def plant_in_peers(root):
    path = root / RESULTS / "nobody-x2/peers-avx2.json"
    path.write_text(path.read_text().replace('"ratio": 1.5', '"ratio": 0.5', 1))


def plant_in_setting(root):
    path = root / RESULTS / "nobody-x2/openblas-avx2.json"
    path.write_text(path.read_text().replace("Zen x1", "Haswell x1", 1))


def self_check():
    changes = (plant_in_page, plant_in_products, plant_in_peers, plant_in_setting)
    lost = [f.__name__ for f in changes if not is_noticed(f)]
    print(f"not noticed: {lost}" if lost else f"{len(changes)} planted changes are noticed")
    return 1 if lost else 0


def main(words):
    if words == ["folder"]:
        print(f"{RESULTS}/{folder_name()}")
    elif len(words) == 2 and words[0] == "machine":
        print(json.dumps(machine(words[1]), indent=1))
    elif words == ["page"]:
        write_page(ROOT)
    elif words == ["check"]:
        if not check_page(ROOT):
            print(f"the tables of {PAGE} are not those of {RESULTS}; `python3 bench/cpu/table.py page` writes them")
            return 1
    elif words == ["self-check"]:
        return self_check()
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
