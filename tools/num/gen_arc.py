#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_arc.py - writes fn_arc_tables.inc: atan at the points of a grid, and the polynomial of the quick
# phase of asin.
#
#   gen_arc.py | clang-format > fn_arc_tables.inc
#
# Needs mpmath, and sollya for the polynomial. (The polynomials of the accurate phases are written in
# fn_arc.inc; they were also made by fpminimax.)
import subprocess

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


def asin_polynomial(degree):
    """Coefficients of P in asin(s) = s + s z P(z), z = s^2 <= 1/4, and log2 of the error of z P."""
    powers = ", ".join(str(i + 1) for i in range(degree + 1))
    script = f"""prec = 300!; verbosity = 0!; display = hexadecimal!;
      g = asin(sqrt(x)) / sqrt(x) - 1; I = [1b-30; 0.25];
      p = fpminimax(g, [|{powers}|], [|D...|], I, absolute);
      for i in [|{powers}|] do print(coeff(p, i));
      display = decimal!; print(ceil(10 * log2(dirtyinfnorm(p - g, I)))); quit;"""
    out = subprocess.run(["sollya", "--warnonstderr"], input=script, capture_output=True, text=True,
                         check=True).stdout
    *coefficients, error = out.split()
    return [float.fromhex(c) for c in coefficients], float(error) / 10


rows = list(atan_rows())
print("/* SPDX-License-Identifier: Apache-2.0")
print(" * fn_arc_tables.inc - tables of fn_arc.inc. Written by gen_arc.py; do not edit. */")
print("/* atan as hi and lo: at 0, at the midpoints of the sixteen intervals of each binade from 2^-6 to"
      "\n * 2^6, and at infinity. */")
print(f"VT_TABLE double vt_arc_atan[{2 * len(rows)}] = {{")
for row in rows:
    print("    " + ", ".join(hexf(v) for v in row) + ",")
print("};")
p, error = asin_polynomial(6)
print(f"/* Coefficients of P in asin s = s + s z P(z), z = s^2 <= 1/4; the error of z P(z) is below 2^{error:.1f}. */")
print(f"VT_TABLE double vt_arc_p[{len(p)}] = {{{', '.join(hexf(c) for c in p)}}};")
