#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_erf.py - writes fn_erf_tables.inc: for each centre c = i/8 the number erf(c) as a pair, the
# slope 2/sqrt(pi) exp(-c^2) as a pair whose first part has 29 bits, and the polynomial Q with
# erf(c + h) = erf(c) + slope h + h^2 Q(h) for |h| <= 1/16, interpolated at the Chebyshev nodes (so
# within a small factor of the best one). Row 0 (c = 0) has an odd erf: only odd powers there, so
# that the relative error is small however small x is. Run clang-format on the result. Prints the
# largest relative error found.
import mpmath as mp

mp.mp.prec = 400
ROWS, LAST, HALF = 32, 11, mp.mpf(1) / 16  # Q carries the powers h^2 .. h^LAST of the result


def bits(x, n):
    """x rounded to n significant bits."""
    if x == 0:
        return mp.mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, n)), e - n)


def interpolate(f, a, b, n):
    """Coefficients of the polynomial with n of them through f at the Chebyshev nodes of [a, b]."""
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


def error(i, r):
    c, worst = mp.mpf(i) / 8, mp.mpf(0)
    for j in range(-40, 41):
        h = HALF * j / 40
        if c + h <= 0:
            continue
        v = r[0] + r[1] + (r[2] + r[3]) * h + h * h * mp.polyval(r[:3:-1], h)
        worst = max(worst, abs(v / mp.erf(c + h) - 1))
    return worst


def main():
    rows = [row(i) for i in range(ROWS)]
    width = len(rows[0])
    with open("fn_erf_tables.inc", "w") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0\n"
                  " * fn_erf_tables.inc - written by gen_erf.py, which names the columns. */\n"
                  f"enum {{ ERF_ROWS = {ROWS}, ERF_COLUMNS = {width} }};\n"
                  "VT_TABLE double erf_table[ERF_ROWS * ERF_COLUMNS] = {\n")
        for r in rows:
            out.write("  " + ", ".join(float(a).hex() for a in r) + ",\n")
        out.write("};\n")
    print("relative error below 2^%.1f" % max(mp.log(error(i, r), 2) for i, r in enumerate(rows)))


main()
