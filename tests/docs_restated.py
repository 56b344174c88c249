# SPDX-License-Identifier: Apache-2.0
"""docs_restated.py - compares the Python of docs/numerics.md and docs/numerics-training.md with the program.

It is a part of docs_sync.py. The blocks of Python are executed, and the results of the functions that they define are
compared bit by bit with the outputs of volta.
"""
import itertools
import pathlib
import re
import struct
import tempfile

MODEL = """model restated {
  dim N
  input x: f64[N]
  input y: f64[N]
  input z: f32[N]
  input k: i32[N] in -5..40
  param w: f32[37] = uniform
  param g: f32[9] = normal
  across = reshape(x, shape=[1, N])
  down = reshape(y, shape=[N, 1])
  output sum64 = sum(x)
  output sum32 = sum(z)
  output dot = matmul(across, down)
  output masked = matmul_masked(across, down, mod(iota(shape=[1, N], axis=1), 3) != 0)
  output w
  output g
  output k
}
"""
LENGTH, INPUTS, SEED = 2600, 5, 0x123456789  # three chunks of S, more than eight blocks of D
CODES = {"f4": "f32", "f8": "f64", "i4": "i32", "i8": "i64", "u1": "u8", "b1": "bool", "f2": "f16"}


def npy(code, dims, data):
    head = f"{{'descr': '{'|' if code[1] == '1' else '<'}{code}', 'fortran_order': False, 'shape': ("
    head += "".join(f"{d}, " for d in dims) + "), }"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def read_npy(path):
    """(type, dims, data)"""
    raw = path.read_bytes()
    end = 10 + struct.unpack("<H", raw[8:10])[0]
    head = raw[10:end].decode()
    dims = [int(d) for d in re.findall(r"\d+", re.search(r"'shape': \((.*?)\)", head)[1])]
    return CODES[re.search(r"'descr': '.(..)'", head)[1]], dims, raw[end:]


def restated_outputs(d):
    """The outputs of MODEL, as bytes, computed with the definitions `d` of the page."""
    def inputs(name):
        return [-1 + 2 * d["uniform"](INPUTS, d["stream_of"](name), i) for i in range(LENGTH)]

    def word(name, i):
        return d["philox"](INPUTS, d["stream_of"](name), 0, i // 4)[i % 4]

    x, y, z = inputs("x"), inputs("y"), inputs("z")
    w = [d["f32"](-1 + 2 * d["uniform"](SEED, d["stream_of"]("w"), i)) for i in range(37)]
    g = [d["normal"](SEED, d["stream_of"]("g"), i) for i in range(9)]
    return {
        "sum64": struct.pack("<d", d["S"](x)),
        "sum32": struct.pack("<f", d["S"](z, d["f32"])),
        "dot": struct.pack("<d", d["D"](x, y)),
        "masked": struct.pack("<d", d["D"](x, y, [i % 3 != 0 for i in range(LENGTH)])),
        "w": struct.pack("<37f", *w),
        "g": struct.pack("<9f", *g),
        "k": struct.pack(f"<{LENGTH}i", *(-5 + (word("k", i) * 46 >> 32) for i in range(LENGTH))),
    }


def run_model(tree, folder, name, text, *arguments):
    """(outputs of a model, name -> (type, dims, data); the command that ran it)."""
    model = pathlib.Path(folder, name + ".vt")
    model.write_text("volta 1\n" + text, encoding="utf-8")
    command = ("run", str(model), "--random-inputs", str(INPUTS), *arguments)
    code, said = tree.volta(*command, "--out", f"{folder}/{name}")
    if code != 0:
        raise RuntimeError(f"the model '{name}' does not run: {said}")
    return {path.stem: read_npy(path) for path in pathlib.Path(folder, name).glob("*.npy")}, command


def check_run(tree, page, d, folder):
    found, command = run_model(tree, folder, "restated", MODEL, "--bind", f"N={LENGTH}", "--seed", str(SEED))
    for name, data in restated_outputs(d).items():
        if found[name][2] != data:
            yield f"{page.name}: the Python of the page and volta differ in '{name}'"
    digests = {name: d["tensor_digest"](*tensor) for name, tensor in found.items()}
    if d["run_digest"](digests).hex() != tree.volta(*command, "--digest")[1].strip():
        yield f"{page.name}: the Python of the page and volta differ in the digest of a run"


# Definitions for which there is no op yet are compared with a model that computes the same from existing ops.

def drawn(d, name, n):
    """n values of the random input `name` of f32 or f64."""
    return [-1 + 2 * d["uniform"](INPUTS, d["stream_of"](name), i) for i in range(n)]


def packed(code, values):
    return struct.pack(f"<{len(values)}{code}", *values)


def restate_casts(tree, d, folder):
    """Casts from f32 to the 16-bit types: samples of all patterns, neighbours of ties at some exponents, extremes."""
    words = set(range(0, 2**32, 999983))
    words |= {0, 1, 0x80000000, 0x7f800000, 0xff800000, 0x7f800001, 0xffffffff, 0x7f7fffff}
    for e in (0, 1, 2, 101, 102, 103, 112, 113, 114, 127, 142, 143, 254):
        for m in (0, 0x1000, 0x3000, 0x8000, 0x18000, 0x400000, 0x600000, 0x7f8000, 0x7fe000, 0x7ff000):
            words |= {w | s << 31 for w in range((e << 23 | m) - 1, (e << 23 | m) + 2) if w >= 0 for s in (0, 1)}
    data = packed("I", sorted(words))
    pathlib.Path(folder, "x.npy").write_bytes(npy("f4", [len(words)], data))
    text = "model m {\n dim M\n input x: f32[M]\n output half = cast(x, dtype=f16)\n"
    text += " output brain = cast(cast(x, dtype=bf16), dtype=f32)\n}\n"
    found, _ = run_model(tree, folder, "casts", text, "--in", f"x={folder}/x.npy", "--bind", f"M={len(words)}")
    x = struct.unpack(f"<{len(words)}f", data)
    yield "cast to f16", found["half"][2], packed("H", [d["cast16"](v, "f16") for v in x])
    yield "cast to bf16", found["brain"][2], packed("I", [d["cast16"](v, "bf16") << 16 for v in x])


def restate_cumsum(tree, d, folder):
    """cumsum: first the rows of 32 in parallel, then the sums of the rows before, then those of the chunks before."""
    n, chunks = 2500, 3
    text = [f"model m {{\n input x: f32[{n}]\n padded = pad(x, 0, low=[0], high=[{chunks * 1024 - n}])",
            f"rows = reshape(padded, shape=[{chunks}, 32, 32])",
            f"a_0 = slice(rows, start=[0, 0, 0], stop=[{chunks}, 32, 1]) + 0"]
    text += [f"a_{i} = a_{i - 1} + slice(rows, start=[0, 0, {i}], stop=[{chunks}, 32, {i + 1}])" for i in range(1, 32)]
    text += [f"a = concat({', '.join(f'a_{i}' for i in range(32))}, axis=2)\n b_0 = f32(0)"]
    for i in range(32):
        text += [f"z_{i} = b_{i} + slice(a, start=[0, {i}, 0], stop=[{chunks}, {i + 1}, 32])",
                 f"b_{i + 1} = slice(z_{i}, start=[0, 0, 31], stop=[{chunks}, 1, 32])"]
    text += [f"z = concat({', '.join(f'z_{i}' for i in range(32))}, axis=1)\n carry_0 = f32(0)"]
    for c in range(chunks):
        text += [f"y_{c} = carry_{c} + reshape(slice(z, start=[{c}, 0, 0], stop=[{c + 1}, 32, 32]), shape=[1024])",
                 f"carry_{c + 1} = slice(y_{c}, start=[1023], stop=[1024])"]
    text += [f"y = concat({', '.join(f'y_{c}' for c in range(chunks))}, axis=0)",
             f"output y = slice(y, start=[0], stop=[{n}])\n}}\n"]
    found, _ = run_model(tree, folder, "cumsum", "\n ".join(text))
    yield "cumsum", found["y"][2], packed("f", d["cumsum"](drawn(d, "x", n), d["f32"]))


CONV = {"x_dims": [2, 4, 7, 6], "stride": [2, 1], "dilation": [1, 2], "low": [1, 2], "high": [2, 1], "groups": 2}
CONV_W, BACK_W, BACK_EXTRA = [6, 2, 3, 2], [4, 3, 3, 2], [1, 0]


def columns(lines, name, source, sizes, starts, steps):
    """The columns [N, taps, positions] of a convolution: one slice of `source` for each (channel, start...)."""
    n = CONV["x_dims"][0]
    for t, (c, *start) in enumerate(starts):
        stop = [a + (p - 1) * s + 1 for a, p, s in zip(start, sizes, steps)]
        lines.append(f"{name}_{t} = slice({source}, start={[0, c, *start]}, stop={[n, c + 1, *stop]}, "
                     f"step={[1, 1, *steps]})")
    lines.append(f"{name} = reshape(concat({', '.join(f'{name}_{t}' for t in range(len(starts)))}, axis=1), "
                 f"shape=[{n}, {len(starts)}, {sizes[0] * sizes[1]}])")


def restate_conv(tree, d, folder):
    """A matrix product with columns, one group after the other."""
    stride, dilation, low, high = (CONV[k] for k in ("stride", "dilation", "low", "high"))
    sizes, (outputs, depth, *kernel) = [4, 7], CONV_W
    lines = [f"model m {{\n input x: f64{CONV['x_dims']}\n input w: f64{CONV_W}",
             f"p = pad(x / 3, 0, low={[0, 0, *low]}, high={[0, 0, *high]})"]
    for g in range(2):
        starts = [(g * depth + c, i * dilation[0], j * dilation[1])
                  for c in range(depth) for i in range(kernel[0]) for j in range(kernel[1])]
        columns(lines, f"c{g}", "p", sizes, starts, stride)
        half = outputs // 2
        lines += [f"w{g} = slice(w, start=[{g * half}, 0, 0, 0], stop={[(g + 1) * half, depth, *kernel]})",
                  f"y{g} = matmul(reshape(w{g}, shape=[{half}, {len(starts)}]), c{g})"]
    found, _ = run_model(tree, folder, "conv", "\n ".join(lines + ["output y = concat(y0, y1, axis=1)\n}\n"]))
    x, w = [v / 3 for v in drawn(d, "x", 336)], drawn(d, "w", 72)  # thirds, so that every fma rounds
    yield "conv", found["y"][2], packed("d", d["conv"](x, w=w, w_dims=CONV_W, **CONV))


def restate_conv_transpose(tree, d, folder):
    """A transposed convolution as a convolution of x with zeros between its elements. The sums have one block, so the
    added zeros do not change them."""
    stride, dilation, low, high = (CONV[k] for k in ("stride", "dilation", "low", "high"))
    n, channels, *length = CONV["x_dims"]
    _, per_group, *kernel = BACK_W
    wide = [i * s for i, s in zip(length, stride)]
    before = [dilation[j] * (kernel[j] - 1) for j in (0, 1)]
    sizes = [(length[j] - 1) * stride[j] - low[j] - high[j] + before[j] + BACK_EXTRA[j] + 1 for j in (0, 1)]
    after = [max(0, sizes[j] + low[j] - wide[j]) for j in (0, 1)]
    lines = [f"model m {{\n input x: f64{CONV['x_dims']}\n input w: f64{BACK_W}",
             f"apart = pad(reshape(x / 3, shape={[n, channels, length[0], 1, length[1], 1]}), 0, "
             f"low=[0, 0, 0, 0, 0, 0], high={[0, 0, 0, stride[0] - 1, 0, stride[1] - 1]})",
             f"p = pad(reshape(apart, shape={[n, channels, *wide]}), 0, low={[0, 0, *before]}, high={[0, 0, *after]})"]
    for g in range(2):
        starts = [(g * 2 + c, before[0] + low[0] - i * dilation[0], before[1] + low[1] - j * dilation[1])
                  for c in range(2) for i in range(kernel[0]) for j in range(kernel[1])]
        columns(lines, f"c{g}", "p", sizes, starts, [1, 1])
        lines += [f"w{g} = slice(w, start=[{2 * g}, 0, 0, 0], stop={[2 * g + 2, per_group, *kernel]})",
                  f"t{g} = reshape(transpose(w{g}, perm=[1, 0, 2, 3]), shape=[{per_group}, {len(starts)}])",
                  f"y{g} = matmul(t{g}, c{g})"]
    lines += ["output y = concat(y0, y1, axis=1)\n}\n"]
    found, _ = run_model(tree, folder, "conv_transpose", "\n ".join(lines))
    x, w = [v / 3 for v in drawn(d, "x", 336)], drawn(d, "w", 72)  # thirds, so that every fma rounds
    stated = d["conv_transpose"](x, w=w, w_dims=BACK_W, extra=BACK_EXTRA, **CONV)
    yield "conv_transpose", found["y"][2], packed("d", stated)


def restate_einsum(tree, d, folder):
    """einsum with labels summed out of order and beyond one block of D, a diagonal, and a label of one operand only."""
    terms, dims = ("jikk", "lkj", "li"), ([17, 2, 18, 18], [3, 18, 17])
    text = f"model m {{\n input x: f64{dims[0]}\n input w: f64{dims[1]}\n"
    text += f' output y = einsum(x / 3, w, equation="{terms[0]},{terms[1]}->{terms[2]}")\n}}\n'
    found, _ = run_model(tree, folder, "einsum", text)
    tensors = []
    for name, size, by in (("x", dims[0], 3), ("w", dims[1], 1)):
        places = list(itertools.product(*map(range, size)))
        tensors.append(dict(zip(places, (v / by for v in drawn(d, name, len(places))))))
    yield "einsum", found["y"][2], packed("d", list(d["einsum"](terms, tensors).values()))


def restate_attention(tree, d, folder):
    """Attention with four query heads on two key heads, and more keys than one block of D, all seen by the last query."""
    heads, groups, queries, keys, width, out = 4, 2, 3, 260, 4, 3
    text = f"model m {{\n input q: f32[1, {heads}, {queries}, {width}]\n input k: f32[1, {groups}, {keys}, {width}]\n"
    text += f" input v: f32[1, {groups}, {keys}, {out}]\n output y = attention(q, k, v, causal=true, scale=3)\n}}\n"
    found, _ = run_model(tree, folder, "attention", text)

    def rows(name, n, size):
        flat = drawn(d, name, n * size)
        return [flat[i * size:(i + 1) * size] for i in range(n)]

    q, k, v = rows("q", heads * queries, width), rows("k", groups * keys, width), rows("v", groups * keys, out)
    y = []
    for i in range(heads * queries):
        first = i // queries * groups // heads * keys
        seen = [j <= i % queries + keys - queries for j in range(keys)]
        y += d["attention"](q[i], k[first:first + keys], v[first:first + keys], seen, 3.0)
    yield "attention", found["y"][2], packed("f", y)


def restate_adam(tree, d, folder):
    """Three steps of AdamW, with coefficients in f64 in the model too."""
    n, recipe = 50, {"rate": 0.3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "decay": 0.7}
    lines = [f"model m {{\n input w: f32[{n}]"] + [f"input g{t}: f32[{n}]" for t in range(3)]
    lines += [f"{name} = f64({value})" for name, value in recipe.items()]
    lines += ["one = f64(1)", "p1 = one", "p2 = one", "x = w", "m = f32(0)", "v = f32(0)"]
    narrow = {"lr": "rate", "l": "rate * decay", "e": "eps", "b1": "beta1", "c1": "one - beta1", "b2": "beta2",
              "c2": "one - beta2"}
    lines += [f"{name} = cast({value}, dtype=f32)" for name, value in narrow.items()]
    for t in range(3):
        lines += ["p1 = p1 * beta1", "p2 = p2 * beta2", "k1 = cast(one - p1, dtype=f32)",
                  "k2 = cast(one - p2, dtype=f32)", "x = x - l * x", f"m = b1 * m + c1 * g{t}",
                  f"v = b2 * v + c2 * (g{t} * g{t})", "x = x - lr * ((m / k1) / (sqrt(v / k2) + e))"]
    found, _ = run_model(tree, folder, "adam", "\n ".join(lines + ["output x\n}\n"]))
    gradients, after = [drawn(d, f"g{t}", n) for t in range(3)], []
    for i, w in enumerate(drawn(d, "w", n)):
        state = (w, 0.0, 0.0, 1.0, 1.0)
        for g in gradients:
            state = d["adam"](state[0], g[i], *state[1:], **recipe)
        after.append(state[0])
    yield "adam", found["x"][2], packed("f", after)


def check_restated(tree, page, d, folder):
    for restate in (restate_casts, restate_cumsum, restate_conv, restate_conv_transpose, restate_einsum,
                    restate_attention, restate_adam):
        for what, found, stated in restate(tree, d, folder):
            if found != stated:
                yield f"{page.name}: the Python of the page and volta differ in '{what}'"


def check_digests(tree, page, d, folder):
    nan32 = struct.pack("<6I", 0x3f800000, 0xffc00001, 0x7f800001, 0x7f800000, 0x80000000, 0xff800000)
    big = bytes(i * 7 % 251 for i in range(2**20 + 4000))  # two leaves
    for code, dims, data in (("f4", [2, 3], nan32), ("f8", [], struct.pack("<Q", 0xfff0000000000001)),
                             ("f2", [3], struct.pack("<3H", 0x3c00, 0xfe01, 0x7c00)), ("b1", [4], b"\1\0\1\1"),
                             ("i8", [0, 3], b""), ("u1", [len(big)], big), ("i4", [1, 1], b"\1\2\3\4")):
        path = pathlib.Path(folder, "tensor.npy")
        path.write_bytes(npy(code, dims, data))
        said = tree.volta("digest", str(path))[1]
        if said.split(" ")[0] != d["tensor_digest"](CODES[code], dims, data).hex():
            yield f"{page.name}: the Python of the page and volta differ in the digest of {CODES[code]}{dims}: {said}"


def check_python(tree):
    page, d = tree.page("docs/numerics.md"), {}
    with tempfile.TemporaryDirectory(prefix="volta-docs-") as folder:
        try:
            for part in (page, tree.page("docs/numerics-training.md")):
                for block in part.blocks:
                    if block.tag == "python":
                        exec(compile("\n" * (block.line - 1) + block.text(), part.name, "exec"), d)  # trusted: a page of this project
            yield from check_digests(tree, page, d, folder)
            yield from check_run(tree, page, d, folder)
            yield from check_restated(tree, page, d, folder)
        except Exception as error:  # any error of the page's code is a fault of the page
            yield f"{page.name}: the Python of the page fails: {error!r}"
