#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_erf.py - writes fn_erf_tables.inc. The table of the accurate phase has for each centre c = i/8
# erf(c) as a double-double, the slope 2/sqrt(pi) exp(-c^2) as a double-double whose first part has 29
# bits, and the polynomial Q with erf(c + h) = erf(c) + slope h + h^2 Q(h) for |h| <= 1/16. Q is
# interpolated at the Chebyshev nodes, so its error is within a small factor of the smallest one. In
# row 0 (c = 0) erf is odd, so Q has odd powers only, which keeps the relative error small for the
# smallest x. The table of the quick phase has for each centre c = i/16 the polynomial P of degree 5
# with erf(c + h) = P(h) for |h| <= 1/32, interpolated likewise.
#
#   gen_erf.py | clang-format > fn_erf_tables.inc
#
# Needs mpmath. The relative error in the comment of a table is the maximum over 81 points per row,
# with rounded coefficients.
import mpmath as mp

mp.mp.prec = 400
ROWS, LAST, HALF = 32, 11, mp.mpf(1) / 16  # Q carries the powers h^2 .. h^LAST of the result
QUICK_ROWS, QUICK_LAST, QUICK_HALF = 64, 5, mp.mpf(1) / 32


def bits(x, n):
    """x rounded to n significant bits."""
    if x == 0:
        return mp.mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, n)), e - n)


def interpolate(f, a, b, n):
    """The n coefficients of the polynomial that equals f at the n Chebyshev nodes of [a, b]."""
    nodes = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (2 * j + 1) / (2 * n)) for j in range(n)]
    return list(mp.lu_solve(mp.matrix([[t**j for j in range(n)] for t in nodes]),
                            mp.matrix([f(t) for t in nodes])))


def row(i):
    c = mp.mpf(i) / 8
    value, slope = mp.erf(c), 2 / mp.sqrt(mp.pi) * mp.exp(-c * c)
    if i == 0:  # x^2 Q(x) = x^3 P(x^2)
        p = interpolate(lambda t: (mp.erf(mp.sqrt(t)) / mp.sqrt(t) - slope) / t,
                        mp.mpf(0), HALF**2, (LAST - 1) // 2)
        q = [p[j // 2] if j % 2 else mp.mpf(0) for j in range(LAST - 1)]
    else:
        q = interpolate(lambda h: (mp.erf(c + h) - value - slope * h) / h**2, -HALF, HALF, LAST - 1)
    hi, s1 = bits(value, 53), bits(slope, 29)
    return [hi, bits(value - hi, 53), s1, bits(slope - s1, 53)] + [bits(a, 53) for a in q]


def quick_row(i):
    c = mp.mpf(i) / 16
    if i == 0:
        p = interpolate(lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t), mp.mpf(0), QUICK_HALF**2, 3)
        q = [p[j // 2] if j % 2 else mp.mpf(0) for j in range(QUICK_LAST + 1)]
    else:
        q = interpolate(lambda h: mp.erf(c + h), -QUICK_HALF, QUICK_HALF, QUICK_LAST + 1)
    return [bits(a, 53) for a in q]


def error(c, half, value):
    """The largest relative error of value(h) for erf(c + h), |h| <= half."""
    points = [half * j / 40 for j in range(-40, 41) if c + half * j / 40 > 0]
    return max(abs(value(h) / mp.erf(c + h) - 1) for h in points)


def write(name, size, rows, errors):
    print("/* The relative error of the polynomials is below 2^%.1f. */" % (mp.ceil(10 * mp.log(max(errors), 2)) / 10))
    print(f"VT_TABLE double {name}[{size}] = {{")
    for r in rows:
        text = [float(a).hex() for a in r]
        for i in range(0, len(text), 3):
            print("    " + ", ".join(text[i:i + 3]) + ",")
    print("};")


def main():
    rows, quick = [row(i) for i in range(ROWS)], [quick_row(i) for i in range(QUICK_ROWS)]
    print("/* SPDX-License-Identifier: Apache-2.0\n"
          " * fn_erf_tables.inc - tables of fn_erf.inc. Written by gen_erf.py, which defines the columns. */\n"
          f"enum {{ ERF_ROWS = {ROWS}, ERF_COLUMNS = {len(rows[0])}, ERF_QUICK_ROWS = {QUICK_ROWS} }};")
    print("/* clang-format off */")  # clang-format would write one number per line
    write("erf_table", "ERF_ROWS * ERF_COLUMNS", rows,
          (error(mp.mpf(i) / 8, HALF,
                 lambda h: r[0] + r[1] + (r[2] + r[3]) * h + h * h * mp.polyval(r[:3:-1], h))
           for i, r in enumerate(rows)))
    write("erf_quick_table", f"ERF_QUICK_ROWS * {QUICK_LAST + 1}", quick,
          (error(mp.mpf(i) / 16, QUICK_HALF, lambda h: mp.polyval(r[::-1], h))
           for i, r in enumerate(quick)))


main()
