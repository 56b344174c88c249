#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""philox_page_test.py PHILOX_TEST [PAGE] - words, uniforms and normals of the library equal, bit for
bit, those computed by the Python code in docs/numerics.md."""
import pathlib
import re
import struct
import subprocess
import sys

DRAWS = [  # seed, stream, step, first element, number of elements
    (0, 0, 0, 0, 600),
    (1, 2, 3, 5, 100),
    (0xffffffffffffffff, 0xffffffff, 0xffffffff, 0, 50),
    (0x123456789abcdef0, 0x31415926, 7, 2**34 - 9, 50),  # the block passes 2^32
]


def definitions(page):
    """The names that the Python blocks of the page define."""
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        exec(compile(block, page.name, "exec"), names)  # our own page
    return names


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def main(program, page):
    d, failures, compared = definitions(page), 0, 0
    for seed, stream, step, first, count in DRAWS:
        arguments = [program] + [str(v) for v in (seed, stream, step, first, count)]
        lines = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.splitlines()
        if len(lines) != count:
            sys.exit(f"{program} printed {len(lines)} lines instead of {count}")
        for i, line in enumerate(lines, first):
            word = d["philox"](seed, stream, step, i // 4)[i % 4]
            uniform, normal = d["uniform"](seed, stream, i, step), d["normal"](seed, stream, i, step)
            want = f"{word:08x} {bits(uniform):08x} {bits(normal):08x}"
            compared += 1
            if line != want:
                failures += 1
                print(f"seed {seed:#x} stream {stream} step {step} element {i}: {line}, the page says {want}")
    print(f"{compared} elements, {failures} differ from the page")
    return 1 if failures else 0


if __name__ == "__main__":
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else root / "docs/numerics.md"))
