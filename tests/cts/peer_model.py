# SPDX-License-Identifier: Apache-2.0
"""peer_model.py - parses the printed form of a model and evaluates it with the functions of a peer."""
import re

TARGET = re.compile(r"([\w.]+): (\w+)\[([^\]]*)\]")
CALL = re.compile(r"(?P<left>.*?) = (?P<op>\w+)(?P<rest>\(.*)")
TYPES = ("f32", "f64", "i8", "u8", "i32", "i64", "bool", "f16", "bf16")


class Skip(Exception):
    """Raised with the reason if the peer has no equivalent of a case."""


class Context:
    """Types and shapes, which a function of a table gets in addition to operands and attributes."""

    def __init__(self, types, shapes):
        self.types, self.shapes = types, shapes  # types of the operands and the first result; shapes of all results

    @property
    def dtype(self):
        return self.types[-1]


def cut(text):
    """Splits at the commas outside of brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        quoted ^= c == '"'
        if c == "," and depth == 0 and not quoted:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def value(text):
    if text.startswith("["):
        return [value(v) for v in cut(text[1:-1])]
    if text.startswith('"'):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float, float.fromhex):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def bracket(text):
    """(the text inside the bracket that `text` starts with, the text after it)."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[1:i], text[i + 1:].strip()
    raise ValueError(f"no end: {text}")


class Node:
    def __init__(self, line, types):
        call = CALL.fullmatch(line)
        targets = TARGET.findall(call["left"])
        self.op, (inside, self.after) = call["op"], bracket(call["rest"])
        if self.op in TYPES:
            self.op, inside = "literal", f"dtype={self.op}, value={inside}"
        words = cut(inside)
        self.targets = [t[0] for t in targets]
        self.dtypes = [t[1] for t in targets]
        self.shapes = [[int(d) for d in t[2].split(",") if d.strip()] for t in targets]
        self.operands = [w for w in words if "=" not in w]
        self.attrs = {k: value(v) for k, v in (w.split("=", 1) for w in words if "=" in w)}
        self.context = Context([types[o] for o in self.operands] + self.dtypes[:1], self.shapes)
        self.bodies = []


class Block:
    """The statements of a model, or of a body, which can use only its own arguments."""

    def __init__(self, head=""):
        self.takes = [(t[0], t[1]) for t in TARGET.findall(head)]
        self.types = dict(self.takes)
        self.nodes, self.gives = [], []

    def read(self, lines):
        for line in lines:
            if line.startswith("}"):
                return line
            if line.startswith("give "):
                self.gives = cut(line[5:])
            elif " = " in line:
                self.node(line, lines)
        return "}"

    def node(self, line, lines):
        node = Node(line, self.types)
        head = node.after
        while head.endswith("{"):
            node.bodies.append(Block(head))
            head = node.bodies[-1].read(lines)
        self.nodes.append(node)
        self.types.update(zip(node.targets, node.dtypes))


class Model(Block):
    def __init__(self, text):
        super().__init__()
        self.ports, self.outputs = {}, {}
        plain = []
        for line in map(str.strip, text.splitlines()[2:]):
            if line.startswith(("input ", "param ")):
                name, dtype, _ = TARGET.match(line.split(" ", 1)[1]).groups()
                self.types[name] = self.ports[name] = dtype
            elif line.startswith("output "):
                name, _, source = line[7:].partition(" = ")
                self.outputs[name] = source or name
            else:
                plain.append(line)
        self.read(iter(plain))


def evaluate(block, values, peer):
    """Evaluates the nodes of a block and adds their results to `values`, name -> value of the peer."""
    for node in block.nodes:
        operands = [values[o] for o in node.operands]
        if node.op == "loop":
            results = loop(node, operands, peer)
        elif node.op == "cond":
            results = cond(node, operands, peer)
        else:
            results = peer.apply(node, operands)
        values.update(zip(node.targets, results))
    return values


def body(block, arguments, peer):
    names = [name for name, _ in block.takes]
    values = evaluate(block, dict(zip(names, arguments)), peer)
    return [values[g] for g in block.gives]


def loop(node, operands, peer):
    n, m = node.attrs["carried"], node.attrs["each"]
    carried, each, others = operands[:n], operands[n:n + m], operands[n + m:]
    rows = []
    for i in range(node.attrs["count"]):
        given = body(node.bodies[0], [peer.index(i)] + carried + [peer.row(e, i) for e in each] + others, peer)
        carried = given[:n]
        rows.append(given[n:])
    collected = zip(node.dtypes[n:], node.shapes[n:])
    return carried + [peer.stack([r[j] for r in rows], *kind) for j, kind in enumerate(collected)]


def cond(node, operands, peer):
    first = node.attrs["first"]
    if peer.truth(operands[0]):
        return body(node.bodies[0], operands[1:1 + first], peer)
    return body(node.bodies[1], operands[1 + first:], peer)
