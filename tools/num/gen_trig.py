#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_trig.py - prints fn_trig_tables.inc and, on stderr, the constants that are copied into fn_trig.inc.
#
#   gen_trig.py | clang-format > fn_trig_tables.inc
#
# Needs mpmath.
import sys
from mpmath import mp, mpf, pi, sin, floor, nint

mp.prec = 400
STEPS = 64  # table steps per half circle


def hexf(x):
    """x rounded to f64, as a C hex float."""
    return float(x).hex().replace("0x0.0p+0", "0x0p+0")


def pair(x):
    hi = mpf(float(x))
    return hi, mpf(float(x - hi))


def at_multiple(x, unit):
    """x rounded to the nearest multiple of unit."""
    return nint(x / unit) * unit


def table(name, count, rows, comment):
    print(f"/* {comment} */")
    print(f"VT_TABLE double {name}[{count}] = {{")
    for row in rows:
        print("    " + ", ".join(hexf(v) for v in row) + ",")
    print("};")


def sine_rows():
    for j in range(2 * STEPS + STEPS // 2):
        if j % STEPS == 0:
            yield -0.0, -0.0  # -0, so that the sine of -0 is -0
            continue
        exact = sin(pi * j / STEPS)
        if j % STEPS == STEPS // 2:
            exact = mpf(1 if j % (2 * STEPS) == STEPS // 2 else -1)
        yield pair(exact)


def turn_rows():
    for g in range(8):
        rest = STEPS / pi
        top = mpf(2) ** (30 - 16 * g)
        rest -= floor(rest / top) * top
        row = []
        for bits in (1, -28, -57):
            row.append(at_multiple(rest, mpf(2) ** (bits - 16 * g)))
            rest -= row[-1]
        yield row + [rest]


print("/* SPDX-License-Identifier: Apache-2.0")
print(" * fn_trig_tables.inc - tables of fn_trig.inc. Written by gen_trig.py; do not edit. */")
table("vt_trig_sine", 2 * (2 * STEPS + STEPS // 2), sine_rows(),
      "sin(j pi/64) as hi and lo, j = 0..159: a full circle, and a quarter more for the cosine.")
table("vt_trig_turns", 32, turn_rows(),
      "64/pi without its multiples of 2^(30 - 16 g), g = 0..7, in four parts (vt_trig_reduce_huge_to_steps).")

part1 = at_multiple(pi / STEPS, mpf(2) ** -31)
part2 = floor((pi / STEPS - part1) * 2 ** 58) / 2 ** 58
print("1/step", hexf(STEPS / pi), file=sys.stderr)
print("parts", hexf(part1), hexf(part2), hexf(pi / STEPS - part1 - part2), file=sys.stderr)
print("step", *map(hexf, pair(pi / STEPS)), file=sys.stderr)
