#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_pow.py - writes fn_pow_tables.inc, the numbers of fn_pow.inc:
#   pow_log_table   for each grid point c = 1.0 * (0.6875 .. 1.375, 128 steps of 2^-7 of a binade):
#                   r = 1/c in 29 bits, -64 log2(r) to a multiple of 2^-14, and what that leaves;
#   pow_log_poly    P with 64 log2(1 + t) = t P(t), |t| <= 2^-8;
#   pow_exp_table   2^(i/64);
#   pow_exp_poly    Q with 2^(f/64) = 1 + f Q(f), |f| <= 1/2 + 2^-20;
#   pow_briggs      log2(1 + 2^-d), d = 1..90, five limbs of 36 bits behind the binary point;
#   pow_log2e       log2(e), a whole limb and five behind the point.
# Run clang-format on the result. Prints the relative errors of the polynomials, their rounded coefficients included.
import struct
import mpmath as mp

mp.mp.prec = 600
LIMB, FRACTION, LISTED = 36, 5, 90


def bits(x, n):
    if x == 0:
        return mp.mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, n)), e - n)


def interpolate(f, a, n):
    nodes = [a * mp.cos(mp.pi * (2 * j + 1) / (2 * n)) for j in range(n)]
    nodes = [t if t else mp.mpf(2) ** -100 for t in nodes]
    c = mp.lu_solve(mp.matrix([[t**j for j in range(n)] for t in nodes]),
                    mp.matrix([f(t) for t in nodes]))
    return [bits(v, 53) for v in c]


def worst(f, c, a, weight):
    points = [a * j / 100 for j in range(-100, 101) if j]
    return mp.log(max(abs(mp.polyval(c[::-1], t) - f(t)) * weight(t) for t in points), 2)


def log_rows():
    for i in range(128):
        (c,) = struct.unpack("d", struct.pack("Q", 0x3FE6000000000000 + (i << 45)))
        r = bits(1 / mp.mpf(c), 29)
        value = -64 * mp.log(r, 2)
        hi = mp.ldexp(mp.nint(mp.ldexp(value, 14)), -14)
        yield [r, hi, bits(value - hi, 53)]


def limbs(x):
    n = int(mp.nint(mp.ldexp(x, LIMB * FRACTION)))
    return [n >> LIMB * (FRACTION - j) & (2**LIMB - 1) for j in range(FRACTION + 1)]


def write(out, kind, name, size, rows):
    out.write(f"VT_TABLE {kind} {name}[{size}] = {{\n")
    for r in rows:
        text = (hex(v) if kind == "int64_t" else float(v).hex() for v in r)
        out.write("  " + ", ".join(text) + ",\n")
    out.write("};\n")


def main():
    log_f = lambda t: 64 * mp.log1p(t) / t / mp.ln(2)
    exp_f = lambda f: mp.expm1(f / 64 * mp.ln(2)) / f
    log_poly = interpolate(log_f, mp.mpf(2) ** -8, 6)
    exp_poly = interpolate(exp_f, mp.mpf(0.5) + mp.mpf(2) ** -20, 4)
    log_error = worst(log_f, log_poly, mp.mpf(2) ** -8, lambda t: 1 / log_f(t))
    print("64 log2(1 + t): 2^%.1f" % log_error)
    print("2^(f/64): 2^%.1f" % worst(exp_f, exp_poly, mp.mpf(0.5), abs))
    with open("fn_pow_tables.inc", "w") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0\n"
                  " * fn_pow_tables.inc - written by gen_pow.py, which says what they are. */\n")
        write(out, "double", "pow_log_table", 128 * 3, log_rows())
        write(out, "double", "pow_log_poly", len(log_poly), [log_poly])
        write(out, "double", "pow_exp_table", 64, ([mp.mpf(2) ** (mp.mpf(i) / 64)] for i in range(64)))
        write(out, "double", "pow_exp_poly", len(exp_poly), [exp_poly])
        write(out, "int64_t", "pow_briggs", LISTED * FRACTION,
              [limbs(mp.log(1 + mp.mpf(2) ** -d, 2))[1:] for d in range(1, LISTED + 1)])
        write(out, "int64_t", "pow_log2e", FRACTION + 1, [limbs(1 / mp.ln(2))])


main()
