#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gen_exp.py - writes fn_exp_tables.inc: the tables and polynomial coefficients of fn_exp.inc.
#
#   gen_exp.py | clang-format > fn_exp_tables.inc
#
# Needs mpmath and sollya. Table entries come from mpmath with 200 digits: hi is the value rounded to f64, lo is the
# rest rounded to f64. Coefficients come from Sollya's fpminimax, and the error bounds from its dirtyinfnorm.
import subprocess

from mpmath import mp, mpf, log, tanh

mp.dps = 200
STEPS = 128  # table entries of 2^x per octave, and of tanh up to its saturation
TANH_STEP = mpf(73) / 1024


def f64(x):
    return float(x)  # mpf to float rounds to nearest


def split(x):
    """x as hi + lo: x rounded to f64, and the rest rounded to f64."""
    hi = f64(x)
    return hi, f64(x - mpf(hi))


def table(name, comment, values):
    print(f"\n/* {comment} */")
    print(f"VT_TABLE double {name}[{2 * len(values)}] = {{")
    for v in values:
        hi, lo = split(v)
        print(f"    {hi.hex()}, {lo.hex()},")
    print("};")


def ask_sollya(function, known, degrees, bound, weight):
    """Coefficients of function - known on [-bound, bound], and log2 of the largest error / weight."""
    script = f"""
      prec = 300!; display = hexadecimal!;
      I = [-({bound}); {bound}];
      p = fpminimax({function} - ({known}), [|{", ".join(map(str, degrees))}|], [|D...|], I, absolute);
      for i in [|{", ".join(map(str, degrees))}|] do print(coeff(p, i));
      display = decimal!; prec = 60!;
      e = (p + {known} - {function}) / ({weight});
      worst = max(dirtyinfnorm(e, [1b-40; {bound}]), dirtyinfnorm(e, [-({bound}); -1b-40]));
      print(ceil(10 * log2(worst)));
      quit;
    """
    out = subprocess.run(["sollya", "--warnonstderr"], input=script, capture_output=True, text=True, check=True).stdout
    *coefficients, error = [line for line in out.split("\n") if line.strip()]
    return [float.fromhex(c) for c in coefficients], float(error) / 10


def polynomial(name, text, kind, *question):
    coefficients, error = ask_sollya(*question)
    print(f"\n/* {text}; {kind} below 2^{error:.1f} */")
    print(f"VT_TABLE double {name}[{len(coefficients)}] = {{{', '.join(c.hex() for c in coefficients)}}};")


def main():
    print("/* SPDX-License-Identifier: Apache-2.0\n"
          " * fn_exp_tables.inc - tables and coefficients of fn_exp.inc. Written by gen_exp.py. */")
    c1 = float.fromhex("0x1.62e42fefap-8")
    c2 = f64(log(2) / STEPS - mpf(c1))
    print(f"\n/* ln(2)/{STEPS} in two parts, the first of 36 bits, and {STEPS}/ln(2). */")
    print(f"#define EXP_STEP_HI {c1.hex()}\n#define EXP_STEP_LO {c2.hex()}")
    print(f"#define EXP_PER_STEP {f64(STEPS / log(2)).hex()}")
    r = f"log(2)/{2 * STEPS}"
    at = f"|r| <= ln(2)/{2 * STEPS}"
    polynomial("exp_quick_p", "Coefficients of f, f^2, f^3 in 2^(f/128) - 1 for |f| <= 1/2", "absolute error",
               "2^(x/128)", "1", [1, 2, 3], "1/2", "1")
    polynomial("exp_q", f"Coefficients of r^3, r^4, r^5 in e^r - 1 - r - r^2/2 for {at}", "absolute error",
               "exp(x)", "1 + x + x^2/2", [3, 4, 5], r, "1")
    polynomial("expm1_q", f"Coefficients of r^3 .. r^6 in e^r - 1 - r - r^2/2 for {at}", "error relative to r",
               "exp(x)", "1 + x + x^2/2", [3, 4, 5, 6], r, "x")
    polynomial("exp_odd", f"Coefficients of r^3, r^5 in sinh(r) - r for {at}", "error relative to r",
               "sinh(x)", "x", [3, 5], r, "x")
    polynomial("exp_even", f"Coefficients of r^2, r^4 in cosh(r) - 1 for {at}", "absolute error",
               "cosh(x)", "1", [2, 4], r, "1")
    polynomial("exp2_p", f"Coefficients of r .. r^5 in 2^r - 1 for |r| <= 1/{2 * STEPS}", "absolute error",
               "2^x", "1", [1, 2, 3, 4, 5], f"1/{2 * STEPS}", "1")
    polynomial("tanh_quick_odd", "Coefficients of r^3, r^5, r^7 in tanh(r) - r for |r| <= 73/2048",
               "error relative to r",
               "tanh(x)", "x", [3, 5, 7], "73/2048", "x")
    polynomial("tanh_odd", "Coefficients of r^3, r^5, r^7, r^9 in tanh(r) - r for |r| <= 73/2048",
               "error relative to r",
               "tanh(x)", "x", [3, 5, 7, 9], "73/2048", "x")
    table("exp_table", f"2^(j/{STEPS}) as hi and lo, j = 0..{STEPS - 1}",
          [mpf(2) ** (mpf(j) / STEPS) for j in range(STEPS)])
    table("tanh_table", f"tanh(j * 73/1024) as hi and lo, j = 0..{STEPS - 1}",
          [tanh(j * TANH_STEP) for j in range(STEPS)])


main()
