# SPDX-License-Identifier: Apache-2.0
"""settings.py - runs a peer (another library) in processes of its own and finds its fastest setting for each work.

A setting is a set of environment variables and a set of options. Libraries read the variables when they are loaded, so
a peer has one process for each set of variables; the options are set in the process for each turn (one measurement).
The script that measures a peer starts itself again with `--serve PEER` for each process, and they exchange lines of
JSON.

A peer is a class with a `name` and

  environments()           {name: environment variables}, one entry for each process
  options(environment, work, which)   {name: options} for a work in the process of that environment; `which` comes
                           from the script, for instance a number of threads
  about()                  (a sentence with the version, the list of works)
  turn(work, seconds, **options)   nanoseconds of the best and of the median call within that many seconds

The first two are static; the others run in the processes.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import time
import typing

TRIAL_ROUNDS = 4  # turns that each setting gets when the fastest is chosen


class Setting(typing.NamedTuple):
    name: str
    environment: str
    options: dict


class Worker:
    """A process that runs a peer and answers calls of its methods."""

    def __init__(self, command, variables):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **variables})

    def ask(self, method, *words, **options):
        self.process.stdin.write(json.dumps([method, words, options]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} has ended")
        answer, error = json.loads(line)
        if error is not None:
            raise RuntimeError(error)
        return answer


def serve(make):
    """Answers the calls of Worker.ask with the methods of the peer that `make` returns.

    Standard output goes to standard error, because libraries print and would disturb the answers."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = None
    for line in sys.stdin:
        method, words, options = json.loads(line)
        try:
            peer = peer or make()
            answer = [getattr(peer, method)(*words, **options), None]
        except Exception as error:  # the report shows the error as the reason why the peer is missing
            answer = [None, f"{type(error).__name__}: {error}"]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


class Peer:
    """A peer with its processes. They end when this process ends, because that closes their standard input."""

    def __init__(self, kind, command):
        self.kind, self.name = kind, kind.name
        self.workers = {name: Worker([sys.executable, "-B", *command, "--serve", kind.name], variables)
                        for name, variables in kind.environments().items()}
        self.version, self.works = self.ask("about")

    def ask(self, method, *words):
        """Calls a method in every process; returns the answer of the first process."""
        return [w.ask(method, *words) for w in self.workers.values()][0]

    def turn(self, work, setting, seconds):
        return self.workers[setting.environment].ask("turn", work, seconds, **setting.options)

    def try_turn(self, work, setting, seconds, by_median):
        """The time of a turn; infinity if the peer cannot do the work with this setting."""
        try:
            return self.turn(work, setting, seconds)[by_median]
        except RuntimeError:
            return math.inf

    def choose(self, work, which, seconds, by_median=False):
        """(time, setting) of the fastest setting. Each setting has a turn in every round, and its best round counts,
        because other load on the machine slows down a different setting in each round."""
        settings = [Setting(" ".join(filter(None, (environment, option))), environment, options)
                    for environment in self.workers
                    for option, options in self.kind.options(environment, work, which).items()]
        took = [[self.try_turn(work, s, seconds, by_median) for s in settings] for _ in range(TRIAL_ROUNDS)]
        return min(zip(map(min, zip(*took)), settings), key=lambda pair: pair[0])


def threads_down(threads):
    """All threads, half of them, and so on down to one, because more threads are not always faster."""
    while threads > 0:
        yield threads
        threads //= 2


def timed(call, seconds, warm=2, least=1):
    """Nanoseconds of the best and of the median call within `seconds`, after `warm` calls that are not measured."""
    for _ in range(warm):
        call()
    took, end = [], time.perf_counter() + seconds
    while len(took) < least or time.perf_counter() < end:
        begin = time.perf_counter_ns()
        call()
        took.append(time.perf_counter_ns() - begin)
    return min(took), statistics.median(took)
