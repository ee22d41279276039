"""Break the model rooms, one line at a time, and see which theorem notices.

    python tests/mutations.py                 the mistakes that people make, listed below
    python tests/mutations.py --all           and every operator, number, argument and line, one after another
    python tests/mutations.py --all masks toy only in these rooms

Prints, for each mutation, the test that turned red, and at the end the survivors, which no test noticed.
A script for Linux and macOS, not a part of pytest. The list takes 2 minutes of processor time, --all 15.
"""

import argparse
import ast
import copy
import multiprocessing
import os
import shutil
import sys
import tempfile
from pathlib import Path

import hypothesis  # noqa: F401 - what every run needs is imported once, before the forks
import numpy  # noqa: F401
import pytest
import sympy  # noqa: F401
import torch

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["sizes", "masks", "attention", "positions", "layers", "models", "toy"]
THEOREMS = ["layers", "models", "influence", "attention", "masks", "positions", "toy", "refusals"]
FIRST = {room: room for room in ROOMS} | {"sizes": "refusals"}  # where a room's mutations turn red soonest

# room: what stands there: what mistaken people would write
MISTAKES = {
    "sizes": {
        "isinstance(size, bool)": ["False"],
        "size < least": ["size < least - 1"],
        "d_model % num_heads": ["d_model // num_heads == 0"],
        "length > max_length": ["length > max_length + 1", "length >= max_length"],
        "x.dim() < 2 or x.shape[-1] != features": ["x.shape[-1] not in (1, features)"],
        "pad_id not in range(vocabulary_size)": ["pad_id not in range(1, vocabulary_size)"],
        "high >= vocabulary_size": ["high > vocabulary_size"],
        "low < 0 or high": ["high"],
        "(torch.int64, torch.int32)": ["(torch.int64,)"],
        "or tokens.numel() == 0": [""],
        "mask.dim() > len(shape) or ": [""],
        "(1, full)": ["(full,)"],
        "size not in (1, full)": ["1 not in (size, full) and size != full"],
    },
    "masks": {
        ".tril()": ["", ".triu()", ".tril(-1)", ".tril(1)"],
        "tokens != pad_id": ["tokens == pad_id", "tokens > pad_id", "tokens != 0"],
        "[:, None, None, :]": ["[:, None, :, None]"],
        "masked_fill(~mask, -torch.inf)": [
            "masked_fill(mask, -torch.inf)",
            "masked_fill(~mask, -1e9)",
            "masked_fill(~mask, 0.0)",
            "masked_fill_(~mask, -torch.inf)",
        ],
        "scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)": [
            "scores.masked_fill(~mask, -torch.inf)",
        ],
        "softmax(dim=-1).masked_fill(empty, 0.0)": ["softmax(dim=-1)", "softmax(dim=-1).nan_to_num()"],
        "return scores.softmax(dim=-1)\n    check": ["return scores.softmax(dim=-2)\n    check"],
        "return scores.softmax(dim=-1).masked": ["return scores.softmax(dim=-2).masked"],
        "~mask.any(dim=-1": ["~mask.any(dim=-2"],
        "~mask.any(": ["~mask.all("],
    },
    "attention": {
        " / math.sqrt(query.shape[-1])": [""],
        "math.sqrt(query.shape[-1])": [
            "query.shape[-1]",
            "math.sqrt(value.shape[-1])",
            "math.sqrt(key.shape[-2])",
            "math.sqrt(query.shape[-1] * query.shape[1])",
        ],
        "masked_softmax(scores, mask)": ["masked_softmax(scores)"],
        "F.dropout(weights, dropout) @ value": [
            "weights @ value",
            "F.dropout(weights @ value, dropout)",
            "F.dropout(weights, 0.3 if dropout else 0.0) @ value",
        ],
        "    output = F.dropout(weights, dropout)": [
            "    weights = F.dropout(weights, dropout)\n    output = weights",
        ],
        "return output, weights\n\n\ndef check": ["return output, scores\n\n\ndef check"],
        "x.reshape(batch, length, num_heads, d_model // num_heads)": [
            "x.reshape(batch, num_heads, length, -1)",
            "x.unflatten(2, (-1, num_heads)).mT",
        ],
        "heads.transpose(1, 2)  # (b": ["heads.reshape(batch, num_heads, length, -1)  # (b"],
        "return x.transpose(1, 2).flatten(2)": [
            "return x.reshape(x.shape[0], x.shape[2], -1)",
            "return x.permute(0, 2, 3, 1).flatten(2)",
        ],
        "self.linear_q(query)": ["self.linear_q(key)"],
        "self.linear_k(key)": ["self.linear_k(value)", "self.linear_q(key)"],
        "self.linear_v(value)": ["self.linear_v(key)", "self.linear_k(value)"],
        "self.linear_k = nn.Linear(d_model, d_model)": [
            "self.linear_k = nn.Linear(d_model, d_model, bias=False)",
        ],
        "self.rotary(query), self.rotary(key)": ["query, self.rotary(key)"],
        "query, key = self.rotary(query), self.rotary(key)": [
            "value = self.rotary(value)",
            "query, key, value = map(self.rotary, (query, key, value))",
        ],
        "if need_weights else": ["if not need_weights else"],
        "if self.training else 0.0": [""],
        "self.dropout.p if self.training": ["0.1 if self.training"],
        "attend(query, key, value, mask, dropout)": [
            "attend(query, key, value, None, dropout)",
            "attend(query, key, value, mask, 0.0)",
        ],
        "self.linear_out(merge_heads(output))": ["merge_heads(output)"],
        "return self.linear_out(merge_heads(output)), weights": [
            "return self.linear_out(merge_heads(output)), None",
        ],
        "(query, key, value, mask, dropout), None": [
            "(query, key, value, None, dropout), None",
            "(query, key, value, ~mask, dropout), None",
            "(query, key, value, mask), None",
        ],
        "(query, key, value, mask, dropout)[0], None": [
            "(query, key, value, None, dropout)[0], None",
            "(query, key, value, mask)[0], None",
            "(query, key, value, mask, dropout)",
        ],
        "query.is_cpu and torch.is_autocast_enabled(\"cpu\")": [
            "torch.is_autocast_enabled(\"cpu\")",
            "torch.is_autocast_enabled(\"cuda\")",
            "query.is_cpu",
            "False",
        ],
        "torch.atleast_2d(mask)": ["mask"],
        "self.dropout = nn.Dropout(dropout)": ["self.dropout = nn.Dropout(0.1)"],
        "dropout=0.1, rotary": ["dropout=0.0, rotary"],
    },
    "positions": {
        "torch.arange(length, dtype": ["torch.arange(1, length + 1, dtype"],
        "torch.arange(length, dtype=torch.float64)": ["torch.arange(length, dtype=torch.float32)"],
        "10000 **": ["1000 **"],
        "(even / d_model)": ["(even / (d_model - 2))", "(2 * even / d_model)"],
        "[angles.sin(), angles.cos()]": ["[angles.cos(), angles.sin()]"],
        "torch.stack([angles.sin(), angles.cos()], dim=-1)": [
            "torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :, None]",
        ],
        ".to(torch.get_default_dtype())  # (length, d_model)": [".float()  # (length, d_model)"],
        "d_model), persistent=False)": ["d_model))"],
        '"sine", angles.sin().to(torch.get_default_dtype()), persistent=False)': ['"sine", angles.sin())'],
        "0.02 * torch.randn": ["torch.randn"],
        "nn.Parameter(0.02 * torch.randn(max_length, d_model))": [
            "0.02 * torch.randn(max_length, d_model)",
            "nn.Parameter(torch.zeros(max_length, d_model))",
        ],
        "angles.sin().to": ["angles.cos().to"],
        "angles.cos().to": ["angles.sin().to"],
        "self.cosine[start:end].to(wide), self.sine[start:end].to(wide)": [
            "self.sine[start:end].to(wide), self.cosine[start:end].to(wide)",
            "self.cosine[: end - start].to(wide), self.sine[: end - start].to(wide)",
            "self.cosine[start:end], self.sine[start:end]",
        ],
        "pairs * turns": ["pairs / turns", "pairs * turns.conj()"],
        ".unflatten(-1, (-1, 2))": [".unflatten(-1, (2, -1)).mT"],
        ".contiguous()": [""],
        "torch.promote_types(x.dtype, torch.float32)": ["torch.float32", "x.dtype"],
        ".flatten(-2).to(x.dtype)": [".flatten(-2)"],
        "        check_length(end, len(self.sine))\n": [""],
    },
    "layers": {
        ".relu()": ["", ".abs()"],
        "self.linear_in(x).relu()": ["nn.functional.gelu(self.linear_in(x))"],
        "self.linear_out(hidden)  #": ["x + self.linear_out(hidden)  #"],
        "return x + self.dropout(self.feed_forward(self.norm_2(x)))": [
            "return self.dropout(x + self.feed_forward(self.norm_2(x)))",
            "return x + self.dropout(self.feed_forward(self.norm_1(x)))",
            "return x + self.feed_forward(self.norm_2(x))",
            "return x + self.dropout(self.feed_forward(x))",
        ],
        "return self.norm_2(x + self.dropout(self.feed_forward(x)))": [
            "return self.norm_1(x + self.dropout(self.feed_forward(x)))",
            "return x + self.norm_2(self.dropout(self.feed_forward(x)))",
            "return self.norm_2(self.dropout(x + self.feed_forward(x)))",
        ],
        "x = self.norm_1(x + self.attend(x, mask))\n        return": [
            "x = self.norm_1(self.attend(x, mask))\n        return",
            "x = self.norm_1(x + self.attend(x, None))\n        return",
        ],
        "x = self.norm_1(x + self.attend(x, mask))\n        x": [
            "x = self.norm_1(x + self.attend(x, None))\n        x",
        ],
        "x + self.attend(self.norm_1(x), mask)\n            return": [
            "self.norm_1(x) + self.attend(self.norm_1(x), mask)\n            return",
            "x + self.attend(self.norm_1(x), None)\n            return",
        ],
        "x + self.attend(self.norm_1(x), mask)\n            x": [
            "x + self.attend(self.norm_1(x), None)\n            x",
        ],
        "self.attention(x, x, x, mask, need_weights=False)\n        return self.dropout(output)": [
            "self.attention(x, x, x, mask, need_weights=False)\n        return output",
        ],
        "self.look_up(self.norm_2(x), memory, memory_mask)": [
            "self.look_up(self.norm_2(x), memory, None)",
            "self.look_up(self.norm_2(x), self.norm_2(memory), memory_mask)",
            "self.look_up(x, memory, memory_mask)",
        ],
        "self.look_up(x, memory, memory_mask))": [
            "self.look_up(x, memory, None))",
            "self.look_up(memory, x, memory_mask))",
        ],
        "self.cross_attention(x, memory, memory, memory_mask": [
            "self.cross_attention(x, memory, x, memory_mask",
            "self.self_attention(x, memory, memory, memory_mask",
        ],
        "memory_mask, need_weights=False)\n        return self.dropout(output)": [
            "memory_mask, need_weights=False)\n        return output",
        ],
        "self.feed_forward(self.norm_3(x))": ["self.feed_forward(self.norm_2(x))"],
        "return self.norm_3(x + self.dropout(self.feed_forward(x)))": [
            "return x + self.dropout(self.feed_forward(x))",
        ],
        "self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)": [
            "self.self_attention = MultiHeadAttention(d_model, num_heads)",
        ],
        "self.attention = MultiHeadAttention(d_model, num_heads, dropout, rotary)": [
            "self.attention = MultiHeadAttention(d_model, num_heads, dropout)",
        ],
        "self.norm_3 = nn.LayerNorm(d_model)": [
            "self.norm_3 = nn.LayerNorm(d_model, eps=1e-6)",
            "self.norm_3 = self.norm_2",
        ],
    },
    "models": {
        "std=d_model**-0.5": ["std=1.0"],
        " * math.sqrt(self.table.embedding_dim)": [""],
        "return self.positions(vectors)": ["return vectors"],
        "F.linear(vectors, self.table.weight)": [
            "F.linear(vectors, self.table.weight) * self.table.embedding_dim**-0.5",
        ],
        "x = self.dropout(self.embedding(tokens))  # (batch, length": [
            "x = self.embedding(tokens)  # (batch, length",
        ],
        "x = self.dropout(self.embedding(tokens))  # (batch, target": [
            "x = self.embedding(tokens)  # (batch, target",
        ],
        "x = layer(x, mask)\n        return self.norm(x)": [
            "x = layer(x)\n        return self.norm(x)",
            "x = layer(x, mask)\n            mask = None\n        return self.norm(x)",
            "x = layer(x, mask)\n        return x",
        ],
        "return self.norm(x)  # (batch, target": ["return x  # (batch, target"],
        "x = layer(x, memory, mask, memory_mask)": [
            "x = layer(x, memory, mask)",
            "x = memory = layer(x, memory, mask, memory_mask)",
            "x = layer(x, memory, mask, memory_mask)\n            mask = None",
            "x = layer(x, memory, mask, memory_mask)\n            memory_mask = None",
        ],
        "mask & padding_mask(tokens, self.pad_id)": [
            "mask",
            "padding_mask(tokens, self.pad_id)",
            "mask | padding_mask(tokens, self.pad_id)",
        ],
        "if self.pad_id is not None:": ["if self.pad_id:"],
        "mask = None if self.pad_id is None else padding_mask(tokens, self.pad_id)": ["mask = None"],
        "memory_mask = None if self.pad_id is None else padding_mask(source, self.pad_id)": [
            "memory_mask = None",
        ],
        "padding_mask(source, self.pad_id)": ["padding_mask(target, self.pad_id)"],
        "embedding = Embedding(target_size, d_model, max_length)": [
            "embedding = Embedding(source_size, d_model, max_length)",
        ],
        "if target_size is not None:": ["if target_size != source_size:"],
        "self.decoder.embedding.logits(vectors)": ["self.encoder.embedding.logits(vectors)"],
        "self.decoder = Decoder(embedding, num_heads, d_hidden, num_layers, dropout, norm_first, pad_id)": [
            "self.decoder = Decoder(embedding, num_heads, d_hidden, num_layers, dropout, False, pad_id)",
        ],
        "self.decode(target, self.encoder(source), source)": [
            "self.decode(source, self.encoder(target), target)",
        ],
        "    @torch.no_grad()\n": [""],
        "    @torch.no_grad()\n    def generate(self, source, start_id, length):\n": [
            "    def generate(self, source, start_id, length):\n        torch.set_grad_enabled(False)\n",
        ],
        "self.eval()": ["pass"],
        "self.train(training)": ["self.train()", "pass"],
        "[:, -1:].argmax(-1)": [
            "[:, :1].argmax(-1)",
            "[:, -1:].softmax(-1)[:, 0].multinomial(1)",
            "[:, -1:].argmin(-1)",
        ],
        "torch.cat([tokens, likeliest], dim=1)": ["torch.cat([likeliest, tokens], dim=1)"],
        "return tokens[:, 1:]": ["return tokens", "return tokens[:, :-1]"],
        "self.decode(tokens, memory, source)": [
            "self.decode(tokens[:, -1:], memory, source)",
            "self.decode(tokens, memory, tokens)",
        ],
        "start_id, device=source.device": ["start_id"],
        "std=0.02": ["std=1.0"],
        "nn.Identity() if rotary else LearnedPositions(d_model, max_length)": [
            "LearnedPositions(d_model, max_length)",
            "nn.Identity()",
            "nn.Identity() if rotary else PositionalEncoding(d_model, max_length)",
        ],
        "RotaryPositions(d_model // num_heads, max_length) if rotary": [
            "RotaryPositions(d_model // num_heads, max_length) if not rotary",
        ],
        "d_hidden, dropout, True, turn)": ["d_hidden, dropout, False, turn)", "d_hidden, 0.1, True, turn)"],
        "self.positions(self.embedding(tokens))": [
            "self.positions(self.embedding(tokens) * self.embedding.embedding_dim**0.5)",
        ],
        "self.dropout(self.positions(self.embedding(tokens)))": [
            "self.positions(self.dropout(self.embedding(tokens)))",
        ],
        "mask = causal_mask(tokens.shape[1], tokens.device)  # (length": [
            "mask = None  # (length",
            "mask = causal_mask(tokens.shape[1])  # (length",
        ],
        "x = layer(x, mask)\n        return F": [
            "x = layer(x, mask)\n            mask = None\n        return F",
        ],
        "F.linear(self.norm(x), self.embedding.weight)": [
            "F.linear(x, self.embedding.weight)",
            "F.linear(self.norm(x), self.embedding.weight.detach())",
        ],
    },
    "toy": {
        "first.flip(1)": ["first.flip(0)", "first"],
        "torch.randint(vocabulary_size, (number, half)": ["torch.randint(1, vocabulary_size, (number, half)"],
        "torch.randint(1, vocabulary_size": ["torch.randint(0, vocabulary_size"],
        "torch.randint(vocabulary_size, (number, half), generator=generator)": [
            "torch.randint(vocabulary_size, (number, half))",
        ],
        "torch.randint(vocabulary_size, (number, half), generator": [
            "torch.randint(vocabulary_size, (1, half), generator",
        ],
        "[start, source.flip(1)]": ["[source.flip(1), start]", "[start, source]"],
        "check_sizes(2, vocabulary_size=vocabulary_size)": ["check_sizes(vocabulary_size=vocabulary_size)"],
    },
}

# Survivors that change nothing. room: what is new in the mutated line: why it is all the same
EQUIVALENT = {
    "sizes": {
        "reversed(shape))": "strict=False is what zip does anyway; ruff wants it said",
        "tokens.min(), ": "a tensor of one number compares and prints like the number",
        "tokens.max())": "a tensor of one number compares and prints like the number",
    },
    "masks": {
        "masked_fill(empty, 1.0)": "any finite number will do: the row is zeroed after the softmax",
        "masked_fill(empty, -1.0)": "any finite number will do: the row is zeroed after the softmax",
    },
    "attention": {
        ".transpose(2, 1)": "two dimensions change places in either order",
        ".transpose(-1, -2)": "two dimensions change places in either order",
        "min(key.dim(), query.dim()": "a minimum does not care about order",
        "min(query.dim(), value.dim()": "a minimum does not care about order",
        "dropout=-1.0": "PyTorch's kernel takes a negative dropout for none, and the default is never used",
    },
    "positions": {
        "torch.arange(length)": "the division by float64 is in float64, and whole numbers are exact in both",
        "torch.arange(length, dtype=torch.float32)": "the same, for whole numbers below 16 777 216",
        "torch.promote_types(torch.float32, x.dtype)": "the wider of two types does not care about order",
    },
}


def explanation(room, mutation):
    before, after = mutation.split("  ->  ", 1)
    known = EQUIVALENT.get(room, {}).items()
    return next((why for part, why in known if part in after and part not in before), None)


def listed(room, source):
    """Every mistake of the list, as (what it does, the mutated source)."""
    for before, mistakes in MISTAKES[room].items():
        if source.count(before) != 1:
            sys.exit(
                f"{room}: {before!r} stands there {source.count(before)} times, and must stand there once"
            )
        for after in mistakes:
            yield f"{before.strip()}  ->  {after.strip() or 'nothing'}", source.replace(before, after)


def generated(room, source):
    """Every small change to the syntax tree, one after another."""
    original = ast.unparse(ast.parse(source)).splitlines()
    for number, node in enumerate(ast.walk(ast.parse(source))):
        for choice in range(len(replacements(node))):
            tree = ast.parse(source)
            target = list(ast.walk(tree))[number]
            Replace(target, replacements(target)[choice]).visit(tree)
            mutated = ast.unparse(ast.fix_missing_locations(tree))
            lines = zip(original, mutated.splitlines(), strict=False)
            first = next((pair for pair in lines if pair[0] != pair[1]), None)
            if first:
                yield "  ->  ".join(line.strip() for line in first), mutated


class Replace(ast.NodeTransformer):
    def __init__(self, target, replacement):
        self.target, self.replacement = target, replacement

    def visit(self, node):
        return self.replacement if node is self.target else self.generic_visit(node)


OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Mod: ast.Add,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
}  # fmt: skip


def replacements(node):
    """What could stand in this node's place, were its author mistaken."""
    if isinstance(node, ast.Compare):
        return [changed(node, ops=[OTHER[type(node.ops[0])](), *node.ops[1:]])]
    if isinstance(node, ast.BinOp):
        return [changed(node, op=OTHER[type(node.op)]()), node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return [changed(node, op=OTHER[type(node.op)]()), *node.values]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.If | ast.IfExp):
        return [changed(node, test=ast.Constant(value)) for value in (True, False)]
    if isinstance(node, ast.Slice):
        return [changed(node, **{end: None}) for end in ("lower", "upper", "step") if getattr(node, end)]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [ast.Constant(not node.value)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [ast.Constant(node.value + step) for step in (1, -1)]
    if isinstance(node, ast.Call):
        return list(other_calls(node))
    if isinstance(node, ast.Assign | ast.Raise) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ):
        return [ast.Pass()]
    return []


def other_calls(call):
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
    if call.args:
        yield call.args[0]
    for place in range(len(call.args) - 1):
        swapped = [*call.args[:place], call.args[place + 1], call.args[place], *call.args[place + 2 :]]
        yield changed(call, args=swapped)
    if len(call.args) > 1:
        yield changed(call, args=call.args[:-1])
    for keyword in call.keywords:
        yield changed(call, keywords=[other for other in call.keywords if other is not keyword])


def changed(node, **fields):
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


class Watch:
    """A pytest plugin that remembers the first test that failed."""

    red = ""

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.red:
            self.red = report.nodeid.split("::")[-1]


def run_theorems(folder, room, answer):
    """In a process of its own: the name of the first test that fails, "" if none does."""
    os.chdir(folder)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # nbval alone takes longer to import than most mutations live
    )
    sys.path[:0] = [str(folder), str(folder / "tests")]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    names = sorted(THEOREMS, key=lambda name: name != FIRST.get(room))
    watch, tests = Watch(), [f"tests/test_{name}.py" for name in names]
    code = pytest.main(
        ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "--assert=plain", *tests],
        plugins=[watch],
    )
    package = sys.modules.get("transformer_lessons")
    if package and not package.__file__.startswith(str(folder)):
        watch.red, code = "the copy was not the one that was tested", -1
    answer.send("" if code == 0 else watch.red or "it cannot even be imported")


def noticed_by(folder, room):
    fork = multiprocessing.get_context("fork")
    answer, ask = fork.Pipe(duplex=False)
    process = fork.Process(target=run_theorems, args=(folder, room, ask))
    process.start()
    red = answer.recv() if answer.poll(120) else "it never ends"
    process.kill()
    process.join()
    return red


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="generate mutations, too")
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="room", help=f"of {', '.join(ROOMS)}")
    arguments = parser.parse_args()
    sys.dont_write_bytecode = True  # a mutation within the same second would run from the cache of the last
    torch.set_num_threads(1)
    torch.ones(2, 2, device="meta").tril()  # here, and not in every run, PyTorch imports what that takes
    tried, survivors = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shutil.copytree(ROOT / "transformer_lessons", folder / "transformer_lessons")
        (folder / "tests").mkdir()
        for test in ["conftest", "theorems", *(f"test_{name}" for name in THEOREMS)]:
            shutil.copy(ROOT / "tests" / f"{test}.py", folder / "tests")
        if red := noticed_by(folder, None):
            sys.exit(f"the theorems fail even for the package as it is: {red}")
        for room in arguments.rooms:
            file = folder / "transformer_lessons" / f"{room}.py"
            source = file.read_text(encoding="utf-8")
            for kind in [listed, generated] if arguments.all else [listed]:
                for mutation, mutated in kind(room, source):
                    compile(mutated, str(file), "exec")
                    file.write_text(mutated, encoding="utf-8")
                    red, tried = noticed_by(folder, room), tried + 1
                    why = explanation(room, mutation)
                    if not red and not why:
                        survivors.append((room, mutation))
                    print(f"{room}: {mutation}\n    {red or why or 'SURVIVES'}", flush=True)
            file.write_text(source, encoding="utf-8")
    print(f"\n{tried} mutations, {len(survivors)} survivors that nothing explains")
    for room, mutation in survivors:
        print(f"    {room}: {mutation}")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
