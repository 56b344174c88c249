#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_tensors.py FILE NAME=TYPE[DIMS]:VALUES... - writes a small npy, npz or safetensors file with the standard
library only. The suffix of FILE chooses the format. VALUES are repeated if there are fewer than elements."""
import io
import json
import re
import struct
import sys
import zipfile

TYPES = {"f32": ("f", "F32", "<f4"), "f64": ("d", "F64", "<f8"), "i32": ("i", "I32", "<i4"),
         "i64": ("q", "I64", "<i8"), "u8": ("B", "U8", "|u1"), "i8": ("b", "I8", "|i1"),
         "f16": ("e", "F16", "<f2")}


def read(text):
    name, dtype, dims, values = re.fullmatch(r"([^=]*)=(\w+)\[([^\]]*)\]:(.*)", text).groups()
    shape = [int(d) for d in dims.split(",") if d.strip()]
    count = 1
    for d in shape:
        count *= d
    number = float if dtype.startswith("f") else int
    given = [number(v) for v in values.split(",") if v]
    data = [given[i % len(given)] for i in range(count)]
    return name, dtype, shape, struct.pack(f"<{count}{TYPES[dtype][0]}", *data)


def npy(tensors):
    (_, dtype, shape, data), = tensors
    dims = "(" + "".join(f"{d}, " for d in shape) + ")"
    head = f"{{'descr': '{TYPES[dtype][2]}', 'fortran_order': False, 'shape': {dims}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def npz(tensors):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for tensor in tensors:
            z.writestr(zipfile.ZipInfo(tensor[0] + ".npy"), npy([tensor]), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def safetensors(tensors):
    table, body = {}, b""
    for name, dtype, shape, data in tensors:
        table[name] = {"dtype": TYPES[dtype][1], "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    head = json.dumps(table).encode()
    return struct.pack("<Q", len(head)) + head + body


def main():
    path, tensors = sys.argv[1], [read(t) for t in sys.argv[2:]]
    with open(path, "wb") as f:
        f.write({"npy": npy, "npz": npz}.get(path.rsplit(".", 1)[-1], safetensors)(tensors))


main()
