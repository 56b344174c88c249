#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_fs.py - writes fs_tables.inc: the tables and constants of the float-float phases (fs_*.inc).
#
#   python3 gen_fs.py > fs_tables.inc
#
# All numbers come from mpmath with 60 digits; f32() rounds to nearest even. pair() gives a float-float: the
# value rounded to f32 and the rest rounded to f32.
from mpmath import mp, mpf, erf, exp, floor, frexp, log, log10, pi, sin, sqrt

mp.dps = 60


def f32(x, bits=24):
    """x rounded to `bits` bits, nearest even; no value here is subnormal or overflows."""
    if x == 0:
        return mpf(0)
    exponent = frexp(x)[1]
    unit = mpf(2) ** (exponent - bits)
    q = x / unit
    n = floor(q)
    rest = q - n
    if rest > mpf(1) / 2 or (rest == mpf(1) / 2 and n % 2 == 1):
        n += 1
    return n * unit


def text(x):
    sign, m = ("-" if x < 0 else ""), abs(x)
    if m == 0:
        return "0"
    digits, exponent = float(m).hex().split("p")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{sign}{digits}p{exponent}f"


def pair(x):
    hi = f32(x)
    return [hi, f32(x - hi)]


def define(name, x):
    print(f"#define {name} {text(x)}")


def triple(name, x):
    """Three f32 parts, NAME_1 + NAME_2 + NAME_3."""
    for i in (1, 2, 3):
        define(f"{name}_{i}", f32(x))
        x -= f32(x)


def table(name, comment, rows):
    """Prints eight numbers per line; clang-format would break the lines differently."""
    values = [text(x) for row in rows for x in row]
    print(f"\n/* {comment} */\n/* clang-format off */")
    print(f"VT_TABLE float {name}[{len(values)}] = {{")
    for i in range(0, len(values), 8):
        print("    " + ", ".join(values[i:i + 8]) + ",")
    print("};\n/* clang-format on */")


def exponential():
    print("\n/* ln(2)/64 in two parts, and 64/ln(2); ln(2) in two parts. */")
    step = log(2) / 64
    define("FS_STEP_HI", f32(step))
    define("FS_STEP_LO", f32(step - f32(step)))
    define("FS_PER_STEP", f32(1 / step))
    define("FS_LN2", f32(log(2)))
    define("FS_LN2_LO", f32(log(2) - f32(log(2))))
    table("fs_exp_table", "2^(j/64) as hi and lo", [pair(mpf(2) ** (mpf(j) / 64)) for j in range(64)])


# The bits of the first f32 of the octave of the logarithms: the start of a row, below sqrt(1/2).
FIRST, ROWS = 0x3F340000, 128


def value_of(bits):
    return (1 + mpf(bits & 0x7FFFFF) / 2**23) * mpf(2) ** ((bits >> 23) - 127)


def reciprocal(row):
    """The multiple of 2^-7 (for rows below 1) or 2^-8 (above) nearest to the reciprocal of the middle of a row."""
    first, last = value_of(FIRST + (row << 16)), value_of(FIRST + ((row + 1) << 16))
    grid = 128 if first < 1 else 256
    c = floor(2 * grid / (first + last) + mpf(1) / 2) / grid
    if first <= 1 <= last:
        c = mpf(1)
    most = max(abs(m * c - 1) for m in (first, last))
    assert most <= mpf(2) ** -7 and (c == 1 or abs(log(c)) >= most)  # fs_log.inc relies on this
    return c


def logarithm():
    print("\n/* The bits of the smallest m; log(2) and log10(2) in two parts, the first of 16 bits; 1/log(2)\n"
          " * and 1/log(10) in two parts. */")
    print(f"#define FS_LOG_FIRST {FIRST:#x}u")
    for name, x in (("FS_LOG_2", log(2)), ("FS_LOG10_2", log10(2))):
        define(name + "_HI", f32(x, 16))
        define(name + "_LO", f32(x - f32(x, 16)))
    for name, x in (("FS_LOG2_E", 1 / log(2)), ("FS_LOG10_E", 1 / log(10))):
        define(name + "_HI", f32(x))
        define(name + "_LO", f32(x - f32(x)))
    rows = []
    for row in range(ROWS):
        c = reciprocal(row)
        logs = [-log(c), -log(c) / log(2), -log10(c)]
        rows.append([c] + [p for x in logs for p in pair(x)] + [mpf(0)])
    table("fs_log_table", "One row per interval: c; -log(c), -log2(c) and -log10(c) as hi and lo; 0", rows)


def angle():
    print("\n/* pi/128 in three parts, and 128/pi. */")
    triple("FS_ANGLE_STEP", pi / 128)
    define("FS_PER_ANGLE_STEP", f32(128 / pi))

    def sine(j):  # exact where it is rational
        j %= 256
        exact = {0: 0, 64: 1, 128: 0, 192: -1}
        return mpf(exact[j]) if j in exact else sin(j * pi / 128)

    table("fs_sine_table", "sin(j pi/128) as hi and lo: a full circle, and a quarter more for the cosine",
          [pair(sine(j)) for j in range(320)])


def error_function():
    """Taylor series about j/32; its term of degree 6 is distributed over the lower ones (Chebyshev)."""
    h, rows = mpf(1) / 64, []
    for j in range(128):
        c = mpf(j) / 32
        # The Taylor coefficients d[n] of erf at c follow from erf' = k*e^(-t^2): d[n+1] = -(2/(n+1)) * (c*d[n] +
        # d[n-1]).
        d = [2 / sqrt(pi) * exp(-c * c)]
        for n in range(5):
            d.append(-mpf(2) / (n + 1) * (c * d[n] + (d[n - 1] if n > 0 else 0)))
        a = [erf(c)] + [d[n] / (n + 1) for n in range(6)]
        a[4] += a[6] * h**2 * 48 / 32
        a[2] -= a[6] * h**4 * 18 / 32
        a[0] += a[6] * h**6 / 32
        rows.append(pair(a[0]) + pair(a[1]) + pair(a[2]) + [f32(a[n]) for n in (3, 4, 5)])
    table("fs_erf_table",
          "erf(j/32 + r), |r| <= 1/64, to 2^-44: coefficients of 1, r, r^2 as hi and lo, of r^3, r^4, r^5", rows)


def main():
    print("/* SPDX-License-Identifier: Apache-2.0\n"
          " * fs_tables.inc - tables and constants of the float-float phases. Written by gen_fs.py. */")
    exponential()
    logarithm()
    angle()
    error_function()


main()
