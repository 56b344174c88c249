#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_arc.py - prints fn_arc_tables.inc.
from mpmath import mp, mpf, pi, atan

mp.prec = 400


def hexf(x):
    """x rounded to f64, as a C hex float."""
    return float(x).hex().replace("0x0.0p+0", "0x0p+0")


def pair(x):
    hi = mpf(float(x))
    return hi, mpf(float(x - hi))


def atan_rows():
    yield mpf(0), mpf(0)
    for e in range(-6, 6):
        for i in range(16):
            yield pair(atan(mpf(2) ** e * (1 + mpf(2 * i + 1) / 32)))
    yield pair(pi / 2)


rows = list(atan_rows())
print("/* SPDX-License-Identifier: Apache-2.0")
print(" * fn_arc_tables.inc - written by gen_arc.py; not meant to be edited. */")
print("/* atan as hi, lo: of 0, of the middles of the sixteenths of the binades from 2^-6 to 2^6, and of"
      "\n * infinity. */")
print(f"VT_TABLE double vt_arc_atan[{2 * len(rows)}] = {{")
for row in rows:
    print("    " + ", ".join(hexf(v) for v in row) + ",")
print("};")
