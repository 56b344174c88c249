#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_pow.py - writes fn_pow_tables.inc, the tables of fn_pow.inc:
#   pow_log_table   for each grid point c = 1.0 * (0.6875 .. 1.375, 128 steps of 2^-7 of a binade):
#                   r = 1/c in 29 bits, -64 log2(r) to a multiple of 2^-14, the rest of that, and
#                   -128 log2(r);
#   pow_quick_poly  P with 128 log2(1 + t) = t P(t), |t| <= 2^-8;
#   pow_log_poly    P with 64 log2(1 + t) = t P(t), |t| <= 2^-8;
#   pow_exp_poly    Q with 2^(f/64) = 1 + f Q(f), |f| <= 1/2 + 2^-20;
#   pow_briggs      log2(1 + 2^-d), d = 1..90, five limbs of 36 bits after the binary point;
#   pow_log2e       log2(e), one limb before the point and five after it.
#
#   gen_pow.py | clang-format > fn_pow_tables.inc
#
# Needs mpmath. The relative error in the comment of a polynomial is that with rounded coefficients.
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
        yield [r, hi, bits(value - hi, 53), bits(2 * value, 53)]


def limbs(x):
    n = int(mp.nint(mp.ldexp(x, LIMB * FRACTION)))
    return [n >> LIMB * (FRACTION - j) & (2**LIMB - 1) for j in range(FRACTION + 1)]


def write(kind, name, size, rows):
    print(f"VT_TABLE {kind} {name}[{size}] = {{")
    for r in rows:
        text = (hex(v) if kind == "int64_t" else float(v).hex() for v in r)
        print("  " + ", ".join(text) + ",")
    print("};")


def polynomial(name, f, reach, n, weight):
    c = interpolate(f, reach, n)
    error = mp.ceil(10 * worst(f, c, reach, weight)) / 10
    print("/* The relative error of the polynomial is below 2^%.1f. */" % error)
    write("double", name, len(c), [c])


def main():
    def log_of(scale):
        return lambda t: scale * mp.log1p(t) / t / mp.ln(2)

    reach = mp.mpf(2) ** -8
    print("/* SPDX-License-Identifier: Apache-2.0\n"
          " * fn_pow_tables.inc - tables of fn_pow.inc. Written by gen_pow.py, which defines them. */")
    write("double", "pow_log_table", 128 * 4, log_rows())
    polynomial("pow_quick_poly", log_of(128), reach, 5, lambda t: 1 / log_of(128)(t))
    polynomial("pow_log_poly", log_of(64), reach, 6, lambda t: 1 / log_of(64)(t))
    polynomial("pow_exp_poly", lambda f: mp.expm1(f / 64 * mp.ln(2)) / f,
               mp.mpf(0.5) + mp.mpf(2) ** -20, 4, abs)
    write("int64_t", "pow_briggs", LISTED * FRACTION,
          [limbs(mp.log(1 + mp.mpf(2) ** -d, 2))[1:] for d in range(1, LISTED + 1)])
    write("int64_t", "pow_log2e", FRACTION + 1, [limbs(1 / mp.ln(2))])


main()
