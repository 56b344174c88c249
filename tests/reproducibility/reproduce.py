#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reproduce.py --volta VOLTA [--backend BACKEND] [--models A,B] [--catches] - tests that each example has one digest.

Every example runs on the reference and on the backend, each time in a process of its own. The runs differ in the
number of threads, the instruction set, metrics and traces, a new or cached plan, and the schedule. Others use saved
parameters, the printed form of the model, or a fallback. All runs must give the published
digest. A line for each example says how many do. Slow examples run only with VOLTA_TEST_FULL.

--catches tests this program: it runs with a volta that gives a wrong digest in one of these situations, for each of
them, and fails if that goes unnoticed.
"""
import argparse
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK = ["mlp", "cnn", "quant_mlp", "lstm", "encoder", "tiny_transformer"]
SLOW = ["resnet18", "gpt2_124m"]


class Failed(Exception):
    pass


class Volta:
    """A volta binary."""

    def __init__(self, path):
        self.path = path

    def call(self, arguments, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("VOLTA_") or k == "VOLTA_TEST_FULL"}
        done = subprocess.run([self.path, *arguments], cwd=ROOT, env={**clean, **environment}, capture_output=True)
        if done.returncode != 0:
            raise Failed(f"volta {' '.join(arguments)}: {done.stderr.decode().strip()}")
        return done.stdout.decode(), done.stderr.decode()

    def digest(self, arguments, **environment):
        return self.call(["run", *arguments, "--digest"], **environment)[0].strip()

    def isas(self):
        """The instruction sets of the cpu backend that this processor has."""
        return [n for n in ("scalar", "sse2", "avx2", "avx512") if self.has(n)]

    def has(self, isa):
        """Whether the cpu backend has this instruction set; `volta backends` fails if the processor lacks it."""
        try:
            return " available " in self.call(["backends", "cpu"], VOLTA_ISA=isa)[0]
        except Failed as e:
            if f"no {isa} instructions" in str(e):
                return False
            raise


def published():
    """Model -> (published digest, arguments that must give it)."""
    runs = {}
    for line in (ROOT / "examples/published.digests").read_text().splitlines():
        if line and not line.startswith("#"):
            digest, model, bind, seed, inputs = line.split()
            arguments = ["--bind", bind, "--seed", seed.split("=")[1], "--random-inputs", inputs.split("=")[1]]
            runs[model.removesuffix(".vt")] = digest, arguments
    return runs


def round_trip(volta, model, arguments, backend, folder):
    """The digests after saving and loading parameters, and from the printed form of the model."""
    params, printed = str(folder / "params.safetensors"), str(folder / "printed.vt")
    first = volta.digest([model, *arguments, "--backend", backend, "--save-params", params])
    volta.call(["fmt", model, "-o", printed])
    seedless = [a for i, a in enumerate(arguments) if a != "--seed" and (i == 0 or arguments[i - 1] != "--seed")]
    back = volta.digest([model, *seedless, "--backend", "reference", "--params", params])
    text = volta.digest([printed, *arguments, "--backend", backend])
    return {f"{backend}, saving its parameters": first, f"the reference, with the parameters that {backend} saved": back,
            f"{backend}, the printed form": text}


def through_files(volta, model, arguments, backend, folder):
    """Fails unless the backend and the reference write the same outputs to a file."""
    runs = {}
    for name in ("reference", backend):
        out = folder / name.replace(":", "_")
        volta.call(["run", model, *arguments, "--backend", name, "--out", str(out), "--format", "safetensors"])
        runs[name] = volta.call(["digest", str(out / "outputs.safetensors")])[0].replace(str(out), "")
    if runs["reference"] != runs[backend]:
        raise Failed(f"{model}: the outputs of {backend} in a file are not those of the reference")


def observed(volta, run, folder):
    """The digests with metrics and with a trace, neither of which may be empty."""
    metrics, trace = folder / "metrics.json", folder / "trace.json"
    found = {"metrics": volta.digest([*run, "--metrics", str(metrics)]),
             "a trace": volta.digest([*run, "--trace", str(trace)])}
    for file in (metrics, trace):
        if not json.loads(file.read_text()):
            raise Failed(f"{file.name} is empty")
    return found


def cached(volta, run, folder):
    keep = ["--plan-cache", str(folder / "plans")]
    found = {"a plan that is stored": volta.digest([*run, *keep])}
    if not any((folder / "plans").iterdir()):
        raise Failed("no plan was stored")
    return {**found, "a cached plan": volta.digest([*run, *keep])}


def fallen_back(volta, model, arguments):
    """The digest of a run that falls back to the CPU if there is no GPU; then the report must say so."""
    run = [model, *arguments, "--backend", "gpu", "--fallback", "cpu"]
    out, _ = volta.call(["run", *run, "--json"])
    report = json.loads(out)
    if not report["backend"].startswith(("cuda", "gpu")) and report["fallback"] is None:
        raise Failed(f"{model}: it fell back to {report['backend']}, and does not say so")
    return {"after a fallback": volta.digest(run)}


def ways(volta, model, arguments, backend, folder):
    """(situation, digest) of each run of a model on the backend."""
    run = [model, *arguments, "--backend", backend]
    for way in (f"{backend}", f"{backend}, another process"):
        yield way, volta.digest(run)
    for threads in ("1", "2", "3", "7"):
        yield f"{threads} threads", volta.digest([*run, "--threads", threads])
    yield "VOLTA_THREADS=3", volta.digest(run, VOLTA_THREADS="3")
    for isa in volta.isas():
        yield isa, volta.digest(run, VOLTA_ISA=isa)
    yield from observed(volta, run, folder).items()
    yield from cached(volta, run, folder).items()
    for more in (["--schedule", "memory"], ["--stream", "all"], ["--passes", "bind,lower,dead"]):
        yield " ".join(more), volta.digest([*run, *more])
    yield "VOLTA_BACKEND", volta.digest([model, *arguments], VOLTA_BACKEND=backend)
    yield "auto", volta.digest([model, *arguments, "--backend", "auto"])
    yield from round_trip(volta, model, arguments, backend, folder).items()
    yield from fallen_back(volta, model, arguments).items()


def all_ways(volta, model, arguments, backend):
    """(situation, digest) of all runs, with those of the reference before and after."""
    reference = [model, *arguments, "--backend", "reference"]
    with tempfile.TemporaryDirectory() as folder:
        yield "the reference", volta.digest(reference)
        yield from ways(volta, model, arguments, backend, pathlib.Path(folder))
        yield "the reference again", volta.digest(reference)
        through_files(volta, model, arguments, backend, pathlib.Path(folder))


def check(volta, names, backend, first=False):
    """The runs with a wrong digest, of all models; with `first`, only the first of them, and nothing is printed."""
    runs, wrong = published(), []
    for name in names:
        want, arguments = runs[name]
        found = same = 0
        for way, digest in all_ways(volta, f"examples/{name}.vt", arguments, backend):
            found, same = found + 1, same + (digest == want)
            wrong += [f"{name}: {way}"] if digest != want else []
            if first and wrong:
                return wrong
        if not first:
            print(f"{want}  {name}: {same} of {found} ways", flush=True)
    return wrong


# ---- planted faults ----

# Situation -> the condition, in bash, under which a faulty volta changes a digest.
FAULTS = {
    "a backend": '[[ $* == *"--backend cpu"* ]]',
    "the reference, the second time": '[[ $* == *"--backend reference --digest"* ]] && ! mkdir "$once" 2>/dev/null',
    "another process": '[[ $* == *"--backend cpu --digest" ]] && ! mkdir "$once" 2>/dev/null',
    "a number of threads": '[[ $* == *"--threads 7"* ]]',
    "threads of the environment": '[[ -n ${VOLTA_THREADS-} ]]',
    "an instruction set": "[[ ${VOLTA_ISA-} == scalar ]]",
    "metrics": '[[ $* == *--metrics* ]]',
    "a trace": '[[ $* == *--trace* ]]',
    "a cached plan": '[[ $* == *--plan-cache* ]] && ! mkdir "$once" 2>/dev/null',
    "another order": '[[ $* == *"--schedule memory"* ]]',
    "streamed parameters": '[[ $* == *"--stream all"* ]]',
    "passes": '[[ $* == *--passes* ]]',
    "parameters from a file": '[[ $* == *--params* ]]',
    "the printed form": '[[ $* == *printed.vt* && $* != fmt* ]]',
    "outputs in a file": '[[ $1 == digest && $2 == */cpu/* ]]',
    "a fallback": '[[ $* == *--fallback* ]]',
    "the backend of the environment": "[[ -n ${VOLTA_BACKEND-} ]]",
    "auto": '[[ $* == *"--backend auto"* ]]',
}
FAULTY = """#!/usr/bin/env bash
once=%s
out=$("%s" "$@"; echo "$?.")
status=${out##*$'\\n'} out=${out%%$'\\n'*}
if [[ $out == *[0-9a-f]* ]] && %s && [[ $* != *--json* ]]; then out=$(tr 0123456789 1234567890 <<<"$out"); fi
printf '%%s\\n' "$out"
exit "${status%%.}"
"""


def unnoticed(path, backend):
    """The faults that no run notices."""
    missed = []
    for fault, when in FAULTS.items():
        with tempfile.TemporaryDirectory() as folder:
            faulty = pathlib.Path(folder) / "volta"
            faulty.write_text(FAULTY % (pathlib.Path(folder) / "once", path, when))
            faulty.chmod(faulty.stat().st_mode | stat.S_IXUSR)
            try:
                noticed = check(Volta(str(faulty)), ["mlp"], backend, first=True)
            except Failed as e:
                noticed = [str(e)]
        print(f"{'noticed' if noticed else 'MISSED'}: {fault}{': ' + noticed[0] if noticed else ''}", flush=True)
        missed += [] if noticed else [fault]
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--volta", required=True)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--models")
    parser.add_argument("--catches", action="store_true")
    a = parser.parse_args()
    path = str(pathlib.Path(a.volta).resolve())
    if a.catches:
        missed = unnoticed(path, a.backend)
        print(f"{len(FAULTS) - len(missed)} of {len(FAULTS)} faults noticed")
        return len(missed) != 0
    names = a.models.split(",") if a.models else QUICK + (SLOW if os.environ.get("VOLTA_TEST_FULL") else [])
    try:
        wrong = check(Volta(path), names, a.backend)
    except Failed as e:
        wrong = [str(e)]
    for w in wrong:
        print(f"FAILED {w}")
    return len(wrong) != 0


if __name__ == "__main__":
    sys.exit(main())
