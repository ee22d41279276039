"""A made-up class to practise on: notebooks with right answers, typical slips, and things left undone."""

import json
import random
import re

from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.questions.finding import all_questions
from transformer_lessons.exercises.questions.kinds import FreeText, Value
from transformer_lessons.tools.install import ROOT

NAMES = """Ada Alan Amara Anna Ben Chen Chloe Diego Elif Emma Farid Femi Grace Hana Igor Ines Jonas Kofi Lea Liam Lucia
    Maya Mehmet Nina Noor Olga Omar Priya Rosa Sam Sofia Tariq Tomas Uma Vera Wei Yara Yusuf Zoe Zuri""".split()  # noqa: SIM905
SLIPS = {  # what a slip changes in the course's solution, and into what
    "softmax": ("axis=-1", "axis=0"),
    "self_attention": ("x @ x.T", "x.T @ x"),
    "attention": ("dim=-1", "dim=-2"),
    "AttentionHead": ("self.linear_k(x)", "self.linear_q(x)"),
    "scaled_dot_product_attention": ("math.sqrt(query.shape[-1])", "query.shape[-1]"),
    "split_heads": ("heads.transpose(1, 2)", "heads"),
    "merge_heads": (".transpose(1, 2)", ""),
    "MultiHeadAttention": (" / math.sqrt(query.shape[-1])", ""),
    "sinusoidal_encoding": ("torch.cos", "torch.sin"),
    "shift_matrix": ("[cosine, sine], [-sine, cosine]", "[cosine, -sine], [sine, cosine]"),
    "rotate": ("first * sine + second", "first * sine - second"),
    "causal_mask": (".tril()", ".triu()"),
    "padding_mask": ("!=", "=="),
    "masked_softmax": ("(~mask, -torch.inf)", "(mask, -torch.inf)"),
    "future_leak": (".abs()", ""),
    "layer_norm": ("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)"),
    "FeedForward": (".relu()", ""),
    "EncoderLayer": ("x + output", "output"),
    "tokenize": (" if token", ""),
    "DecoderLayer": ("x, memory, memory, memory_mask", "x, x, x, memory_mask"),
    "training_step": ("    optimizer.zero_grad()\n", ""),
    "make_sequences": ("1 : number * length + 1", ": number * length"),
    "bits_per_character": (" / math.log(2)", ""),
    "sample_next": ("logits / temperature", "logits * temperature"),
}


def write(out, students, seed=1):
    """Writes a folder for each student, with some or all of lessons 1 to 8."""
    for number in range(students):
        name = NAMES[number % len(NAMES)].lower() + ("" if number < len(NAMES) else str(number // len(NAMES)))
        draw = random.Random(f"{seed} {name}")
        diligence, skill = draw.uniform(0.6, 1.0), draw.uniform(0.4, 0.95)
        folder = out / name
        folder.mkdir(parents=True)
        for path in sorted((ROOT / "notebooks").glob("0[1-8]_*.ipynb")):
            if draw.random() < diligence:
                book = filled(json.loads(path.read_text(encoding="utf-8")), draw, diligence, skill)
                (folder / path.name).write_text(json.dumps(book, ensure_ascii=False, indent=1), encoding="utf-8")


def filled(book, draw, diligence, skill):
    """The notebook with some of its stubs written, and some of its questions answered."""
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], source = [], "".join(cell["source"])
        for name in re.findall(r"^(?:def|class) (\w+)", source, flags=re.MULTILINE):
            if name in EXERCISES and "NotImplementedError" in source and draw.random() < diligence:
                source = attempt(name, draw.random() < skill)
        source = re.sub(
            r'answer\("(\d+\.\d+)", ?(?:\.\.\.|"\.\.\.")\)',
            lambda found: reply(found, draw, skill) if draw.random() < diligence else found[0],
            source,
        )
        cell["source"] = source
    return book


def attempt(name, right):
    text, (old, new) = EXERCISES[name].solution_text(), SLIPS.get(name, ("", ""))
    return text if right else text.replace(old, new) if old else EXERCISES[name].stub


def reply(found, draw, skill):
    question, right = all_questions()[found[1]], draw.random() < skill
    if isinstance(question, FreeText):
        value = " ".join(question.model.split(". ")[: 1 + 2 * right]) if draw.random() < 0.5 else question.points[0]
    elif isinstance(question, Value):
        value = question.right if right or not question.slips else draw.choice(list(question.slips))
    else:
        value = "".join(sorted(question.right_letters)) if right else draw.choice(list(question.lettered))
    return f'answer("{found[1]}", {value!r})'
