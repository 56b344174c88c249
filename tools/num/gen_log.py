#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_log.py - writes fn_log_tables.inc: the cells, reciprocals, logarithms and polynomials of
# fn_log.inc, and the error bounds that its proofs cite. Needs mpmath and sollya.
#
#   gen_log.py | clang-format > fn_log_tables.inc
import struct
import subprocess
from mpmath import mp, mpf, log, floor

mp.prec = 400
CELLS = 64
WIDTH = 1 << 46                      # width of a cell, in units in the last place of an f64
GRID = mpf(2) ** -45                 # grid of the high parts in the table
C_GRID = mpf(2) ** -11               # grid of the reciprocals
ONE = 1023 << 52
FIRST = ONE - WIDTH // 2 - 41 * WIDTH  # the cell of 1 begins half a cell below 1


def of_bits(u):
    return mpf(struct.unpack("<d", struct.pack("<Q", u))[0])


def nearest(x, grid):
    return floor(x / grid + mpf(1) / 2) * grid


def hexa(x):
    return float(x).hex() if x else "0x0p+0"  # float() of an mpf rounds to nearest even


def cells():
    for i in range(CELLS):
        yield of_bits(FIRST + i * WIDTH), of_bits(FIRST + (i + 1) * WIDTH)


def reciprocal(a, b):
    return mpf(1) if a < 1 < b else nearest(2 / (a + b), C_GRID)


def split(x):
    hi = nearest(x, GRID)
    return hi, x - hi


def table(name, values):
    print(f"VT_TABLE double {name}[{len(values)}] = {{")
    for i in range(0, len(values), 4):
        print("    " + " ".join(hexa(v) + "," for v in values[i:i + 4]))
    print("};")


def word(name, value):
    print(f"#define {name} {hexa(value)}")


def minimax(function, degree, lo, hi):
    """The near-minimax polynomial with f64 coefficients, and log2 of its absolute error."""
    script = f"""prec = 300; display = hexadecimal; f = {function};
    p = fpminimax(f, {degree}, [|D...|], [{lo}; {hi}], absolute);
    for i from 0 to {degree} do print(coeff(p, i));
    display = decimal; print(evaluate(log2(x), dirtyinfnorm(p - f, [{lo}; {hi}])));
    quit;"""
    lines = subprocess.run(["sollya", "--warnonstderr"], input=script, text=True,
                           capture_output=True, check=True).stdout.split("\n")
    lines = [s for s in lines if s and s[0] in "-0123456789"]
    return [mpf(float.fromhex(s)) for s in lines[:-1]], float(mpf(lines[-1]))


def polynomial(name, function, degree, lo, hi):
    coefficients, error = minimax(function, degree, lo, hi)
    print(f"/* Polynomial of degree {degree} on [{lo}, {hi}]; absolute error 2^{error:.1f}. */")
    table(name, coefficients)
    return coefficients, mpf(2) ** error


def quick_error(c, base, p_error):
    """The relative error of the quick phase for e = 0: P has the error p_error, the low parts are left out."""
    worst = mpf(0)
    for (a, b), q in zip(cells(), c):
        r = max(abs(a * q - 1), abs(b * q - 1))
        if q == 1:
            worst = max(worst, p_error * r / (1 - r))
            continue
        least = min(abs(log(a)), abs(log(b))) / log(base)
        worst = max(worst, (abs(split(-log(q) / log(base))[1]) + p_error * r * r / log(base)) / least)
    return worst


def main():
    c = [reciprocal(a, b) for a, b in cells()]
    reach = max(max(abs(a * q - 1), abs(b * q - 1)) for (a, b), q in zip(cells(), c))
    print("/* SPDX-License-Identifier: Apache-2.0")
    print(" * fn_log_tables.inc - tables and constants of fn_log.inc. Written by gen_log.py; do not edit.")
    print(f" * |m*c - 1| is at most 2^-7 * {float(reach * 128):.6f} over all cells. */")
    print(f"#define VT_LOG_FIRST INT64_C({FIRST:#x}) /* bits of {float(of_bits(FIRST))}: the first cell's start */")
    for name, base in ("LN2", mp.e), ("LOG10_2", mpf(10)):
        hi, lo = split(log(2) / log(base))
        word(f"VT_{name}_HI", hi)
        word(f"VT_{name}_LO", lo)
    for name, base in ("LOG2_E", mpf(2)), ("LOG10_E", mpf(10)):
        k = 1 / log(base)
        hi = nearest(k, mpf(2) ** (-23 if k > 1 else -25))  # 24 bits
        word(f"VT_{name}", k)
        word(f"VT_{name}_HI", hi)
        word(f"VT_{name}_LO", k - hi)
    columns = [c]
    for base in mp.e, mpf(2), mpf(10):
        columns += zip(*(split(-log(q) / log(base)) for q in c))
    print("/* One row per cell: c, then -log(c), -log2(c), -log10(c) as high and low part, and a 0. */")
    table("vt_log_table", [v for row in zip(*columns) for v in row + (mpf(0),)])
    print("/* P in log(1 + r) = r + r^2 * P(r): vt_log_p for the accurate, vt_log_q for the quick phase. */")
    for name, degree in ("vt_log_p", 6), ("vt_log_q", 3):
        q, p_error = polynomial(name, "(log1p(x) - x) / x^2", degree, f"-{hexa(reach)}", hexa(reach))
    print("/* vt_log_q divided by log(2) and by log(10). */")
    for name, base in ("vt_log2_q", 2), ("vt_log10_q", 10):
        table(name, [v / log(mpf(base)) for v in q])
    error = max(quick_error(c, base, p_error) for base in (mp.e, mpf(2), mpf(10)))
    print(f"/* The quick phase of a logarithm has a relative error, for e = 0, of at most 2^{float(log(error, 2)):.2f}. */")


main()
