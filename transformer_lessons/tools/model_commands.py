"""The commands train, generate, show, evaluate and chat, as typed in a terminal."""

import argparse
import contextlib
import difflib
import itertools
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from transformer_lessons.basis import chat_model
from transformer_lessons.basis.terminal import say
from transformer_lessons.inspection import live
from transformer_lessons.language import batches, checkpoints, devices, gguf_model, pretrained, sampling, training
from transformer_lessons.language.chat import Conversation, default_system
from transformer_lessons.language.recipe import Recipe
from transformer_lessons.models import LanguageModel
from transformer_lessons.tasks import shakespeare
from transformer_lessons.tools import install
from transformer_lessons.validation import check_sizes, check_split

SHIPPED = checkpoints.SHIPPED


NAMES = {"size": "vocabulary", "vocabulary_size": "vocabulary", "num_heads": "heads", "num_layers": "layers"}
LARGEST = 10**12  # of any whole number, so that nothing overflows


def exit_code(command: Callable[[list[str]], int | None], arguments: list[str]) -> int | None:
    """Runs a command; returns None or 0, 1 after a sentence that says what went wrong, or 130 after Ctrl-C."""
    try:
        return command(arguments)
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    except (RuntimeError, MemoryError) as error:  # PyTorch's own are RuntimeErrors
        if isinstance(error, RuntimeError) and not re.search("memory|overflow", str(error)):
            raise
        say("Not enough memory: try a smaller model, --length or --batch-size.")
    except (ValueError, TypeError) as error:
        say(as_typed(str(error)))
    return 1


def as_typed(sentence: str) -> str:
    """The same sentence with the options as they are typed: --heads 3 in place of num_heads=3."""
    parsers = train_parser(), generate_parser(), chat_parser()
    options = {option for parser in parsers for option in parser._option_string_actions}

    def typed(match: re.Match) -> str:
        option = "--" + NAMES.get(match[1], match[1]).replace("_", "-")
        return option + match[2].replace("=", " ") if option in options else match[0]

    sentence = re.sub(r"\b([a-z_]+)(=)", typed, sentence)
    sentence = re.sub(r"(?<=\bits )([a-z_]+)( is )", typed, sentence)
    sentence = re.sub(r"^device '(.*)' is", r"--device \1 is", sentence)
    return re.sub(r"\b([a-z]+_[a-z_]+)( )", typed, sentence)


def parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """The options; an unknown one is refused, with a suggestion."""
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        known = parser._option_string_actions
        near = difflib.get_close_matches(unknown[0].split("=")[0], known, 1) if unknown[0].startswith("-") else []
        hint = f": did you mean {near[0]}?" if near else ""
        if not unknown[0].startswith("-"):
            text = "question" if parser.prog.endswith("chat") else "prompt"
            hint = (
                f": did you mean --text {unknown[0]}?"
                if "--text" in known
                else f": a {text} of several words goes in quotation marks"
            )
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return options


# --- train --------------------------------------------------------------------------------------------------


def train(arguments: list[str]) -> int:
    options = parse(train_parser(), arguments)
    device = join_processes(options.device)
    recipe = checked_recipe(options)
    rank, _ = devices.processes()
    files = {"--out": options.out, "--best": options.best, "--export": options.export}
    checkpoints.check_apart(**files)
    with checkpoints.locked(*(path for path in files.values() if path and rank == 0)):
        return train_and_report(options, recipe, device, rank)


def train_and_report(options: argparse.Namespace, recipe: Recipe, device: torch.device, rank: int) -> int:
    if rank == 0:
        for path in (options.out, options.best, options.export):
            checkpoints.check_writable(path)
        if not (options.out or options.best or options.export):
            say("Nothing will be kept: --out FILE keeps the run, and the model with it.")
        elif not options.out:
            say("Without --out, a run that is stopped cannot be resumed.")
    corpus = load_corpus(options.text)
    data = batches.prepare(split(corpus.text, options.last_tenth), options.tokens, options.vocabulary)
    torch.manual_seed(options.seed + rank)  # each process has its own dropout; the weights become the first's
    model = new_model(options, len(data.vocabulary)).to(device)
    if rank == 0:
        size = sum(parameter.numel() for parameter in model.parameters())
        say(
            f"{corpus.source}: {len(data.train):,} tokens to learn from, {len(data.validation):,} to validate on, "
            f"{len(data.vocabulary):,} different. The model has {size:,} weights, on {device}."
        )
    progress = training.train(model, data, recipe, options.out, options.best, options.quiet or rank > 0)
    if rank == 0:
        report(model, data, progress, options)
    if dist.is_initialized():
        dist.destroy_process_group()
    return 130 if progress.step < recipe.steps else 0


def checked_recipe(options: argparse.Namespace) -> Recipe:
    """The recipe. Impossible values are refused before a text is read or downloaded."""
    chosen = {name: value for name, value in vars(options).items() if hasattr(Recipe, name)}
    recipe = Recipe(**chosen)
    if options.threads is not None:
        check_sizes(threads=options.threads)
        if options.threads > os.cpu_count():
            raise ValueError(f"threads={options.threads} is more than the {os.cpu_count()} processors here")
        torch.set_num_threads(options.threads)
    check_sizes(vocabulary=options.vocabulary)
    if options.tokens != "characters" and options.vocabulary <= 256 and not options.text:
        raise ValueError(
            f"vocabulary={options.vocabulary} is too small: it needs 256 for the bytes, and more for "
            "the text's characters or words"
        )
    with torch.device("meta"):  # where tensors have sizes but no numbers
        small = new_model(options, 257, layers=min(options.layers, 1))
    weights = options.layers * sum(parameter.numel() for parameter in small.layers.parameters())
    if hasattr(os, "sysconf") and 4 * weights > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise MemoryError
    return recipe


def new_model(options: argparse.Namespace, vocabulary_size: int, layers: int | None = None) -> LanguageModel:
    d_model, heads = options.d_model, options.heads
    check_split(d_model, heads)
    if d_model // heads % 2:
        raise ValueError(
            f"d_model={d_model} and num_heads={heads} make heads of {d_model // heads} features: "
            "rotary positions need an even number"
        )
    return training.new_model(
        vocabulary_size,
        d_model,
        heads,
        options.d_hidden,
        layers or options.layers,
        options.length,
        options.dropout,
        options.feed_forward == "gated",
    )


def load_corpus(path: str | None) -> shakespeare.Corpus:
    """The text; the first of several processes finds or downloads it, and sends it to the others."""
    corpus: list[Any] = [shakespeare.load(path) if devices.processes()[0] == 0 else None]
    if dist.is_initialized():
        dist.broadcast_object_list(corpus)
    return corpus[0]


def split(text: str, last_tenth: bool) -> tuple[list[str], list[str]]:
    """The training text, and the validation text."""
    cut = len(text) * 9 // 10
    return ([text[:cut]], [text[cut:]]) if last_tenth else shakespeare.split(text)


def report(model: LanguageModel, data: batches.Data, progress: training.Progress, options: argparse.Namespace) -> None:
    if progress.step < options.steps:
        then = f"the same command resumes from {options.out}" if options.out else "without --out it is lost"
        say(f"Stopped after step {progress.step}: {then}.")
        return
    nats = progress.evaluations[-1][1]
    print(f"validation: {nats:.4f} nats per token, {data.bits(nats):.4f} bits per character")
    if options.export:
        checkpoints.export(model, data.vocabulary, options.export)
    kept = [path for path in (options.out, options.best, options.export) if path]
    if kept:
        say(
            f"The model is in {' and '.join(kept)}. To let it write: "
            f"{install.COMMAND} generate --model {shlex.quote(kept[0])}"
        )


def join_processes(wanted: str | None) -> torch.device:
    """The device of this process; under torchrun, the process also joins the others."""
    device = devices.best_device(wanted)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        else:
            torch.set_num_threads(1)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return device


def train_parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "train",
        "Train a language model on Shakespeare, or on any text.",
        "Several GPUs: torchrun --nproc_per_node 2 -m transformer_lessons train …",
    )
    recipe, add = Recipe(), parser.add_argument
    add("--text", type=filename, metavar="FILE", help="the text to learn from; by default the complete works")
    add("--last-tenth", action="store_true", help="evaluate on the last tenth, not on blocks from all over")
    add(
        "--out",
        type=filename,
        metavar="FILE",
        help="checkpoint, written while training; the same command resumes from it, also with more --steps",
    )
    add("--best", type=filename, metavar="FILE", help="the model with the lowest validation loss so far")
    add("--export", type=filename, metavar="FILE", help="at the end: the model alone, as safetensors in half precision")
    add("--tokens", choices=batches.TOKENS, default="words", help="what the text is cut into")
    add("--vocabulary", type=whole, default=4096, metavar="N", help="number of different tokens; not for characters")
    add("--layers", type=whole, default=4, metavar="N", help="number of layers")
    add("--heads", type=whole, default=4, metavar="N", help="attention heads in each layer")
    add("--d-model", type=whole, default=128, metavar="N", help="features of each token's vector")
    add("--feed-forward", choices=["gated", "relu"], default="gated", help="gated, as in newer models, or plain ReLU")
    add("--d-hidden", type=whole, metavar="N", help="hidden features; by default 8/3 × d-model, with relu 4 ×")
    add("--dropout", type=float, default=0.0, metavar="P", help="share of features dropped in training")
    add("--length", type=whole, default=recipe.length, metavar="N", help="tokens that the model can see")
    add("--steps", type=whole, default=recipe.steps, metavar="N", help="updates of the weights")
    add(
        "--batch-size",
        type=whole,
        default=recipe.batch_size,
        metavar="N",
        help="sequences in each update, over all processes",
    )
    add("--learning-rate", type=float, default=recipe.learning_rate, metavar="X", help="at its peak")
    add(
        "--optimizer",
        choices=["adamw", "muon"],
        default=recipe.optimizer,
        help="muon: for the matrices in the layers, with adamw for everything else",
    )
    add("--evaluate-every", type=whole, default=0, metavar="N", help="steps between evaluations; 0: at the end")
    add("--save-every", type=whole, default=recipe.save_every, metavar="N", help="steps between checkpoints")
    add("--seed", type=seed, default=recipe.seed, metavar="N", help="same seed, same run, on one thread")
    add_precision(add, recipe.precision)
    add("--device", metavar="NAME", help="cpu, cuda or mps; by default the best there is")
    add("--threads", type=whole, metavar="N", help="processor threads to use; by default all")
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def add_precision(add: Callable, default: str) -> None:
    add(
        "--precision",
        choices=["auto", "bfloat16", "float32"],
        default=default,
        help="for matrix products; auto: bfloat16 where the processor has it",
    )


def whole(text: str) -> int:
    """A whole number that overflows nothing."""
    if not re.fullmatch(r"[+-]?\d{1,13}", text) or abs(int(text)) > LARGEST:
        raise argparse.ArgumentTypeError(f"{text} must be a whole number, at most {LARGEST:,}")
    return int(text)


def seed(text: str) -> int:
    """A number that every generator accepts."""
    if whole(text) not in range(2**32):
        raise argparse.ArgumentTypeError(f"{text} must be from 0 to {2**32 - 1}")
    return int(text)


def filename(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is missing")
    return text


def new_parser(command: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    class Help(argparse.ArgumentDefaultsHelpFormatter):
        """Gives the default of every option that has one."""

        def _get_help_string(self, action: argparse.Action) -> str | None:
            return action.help if action.default in (None, False) else super()._get_help_string(action)

    return argparse.ArgumentParser(
        prog=f"{install.COMMAND} {command}", description=description, epilog=epilog, formatter_class=Help
    )


# --- generate, show and evaluate ----------------------------------------------------------------------------


def generate(arguments: list[str]) -> None:
    options = parse(generate_parser(), arguments)
    check_sizes(0, length=options.length)
    sampling.check_sampling(options.temperature, options.top_k, LARGEST, options.top_p)
    if options.pretrained is None:
        model, vocabulary = load_model(options.model)
    else:
        model, vocabulary = load_pretrained(options.pretrained)
    sampling.lay_out(model)  # in place, or the cache would make a second copy of all weights
    prompt = options.prompt.replace("\\n", "\n")  # in most shells, a line break is hard to type
    pieces = sampling.stream(
        model,
        vocabulary,
        prompt,
        options.length,
        options.temperature,
        options.top_k,
        options.top_p,
        options.seed,
    )
    for piece in itertools.chain([prompt], pieces, ["\n"]):
        print(piece, end="", flush=True)


def load_model(path: str | None) -> tuple[Any, Any]:
    """The model that a file holds, or the one that comes with the course."""
    if path is None and not SHIPPED.exists():
        raise ValueError(f"The course's own model is not here ({SHIPPED}): name another one with --model")
    return checkpoints.load_model(path or SHIPPED)


def load_pretrained(name: str | None) -> tuple[Any, Any]:
    """The published model in this GGUF file, or the GPT-2 in this folder, or in the one that GPT2_FOLDER names."""
    name = name or os.environ.get("GPT2_FOLDER")
    if not name:
        raise ValueError("--pretrained needs a GGUF file or the folder of a GPT-2: name it there, or in GPT2_FOLDER")
    if os.path.isfile(name) or name.endswith(".gguf"):
        return gguf_model.load(name)
    return pretrained.load(name)


def generate_parser() -> argparse.ArgumentParser:
    parser = new_parser("generate", "Let a model write. Without --model, the one that comes with the course.")
    add = parser.add_argument
    add(
        "prompt",
        nargs="?",
        default="",
        help="what the text begins with, for example '\\n\\nHAMLET.\\n': \\n is a line break",
    )
    add("--model", type=filename, metavar="FILE", help="a file that train has written")
    add(
        "--pretrained",
        metavar="NAME",
        nargs="?",
        const="",
        help="a published model: a GGUF file of Llama's architecture, or the folder of a GPT-2, which has config.json, "
        "model.safetensors, vocab.json and merges.txt; as the last option, without a value: the folder in GPT2_FOLDER",
    )
    add("--length", type=whole, default=200, metavar="N", help="tokens to write")
    add("--temperature", type=float, default=0.8, metavar="T", help="0: always the likeliest; 1: as learned")
    add("--top-k", type=whole, metavar="K", help="choose among the K likeliest tokens")
    add("--top-p", type=float, metavar="P", help="choose among the likeliest, up to a total probability of P")
    add("--seed", type=seed, metavar="N", help="the same seed gives the same text")
    return parser


def show(arguments: list[str]) -> None:
    options = parse(show_parser(), arguments)
    model, vocabulary = load_model(options.model)
    path = options.out or f"{Path(options.model or SHIPPED).stem}.html"
    live.show(model, vocabulary, path, options.title)
    print(f"{path} holds the model and all that shows it: open it in a browser, or send it to a friend.")


def show_parser() -> argparse.ArgumentParser:
    parser = new_parser("show", "Make one HTML file in which a model reads, attends and writes, without a server.")
    add = parser.add_argument
    add(
        "model", type=filename, nargs="?", metavar="FILE", help="a file that train has written; by default the course's"
    )
    add("--out", type=filename, metavar="PAGE", help="the HTML file; by default named like the model, in this folder")
    add("--title", default="A language model at work", metavar="TEXT", help="the page's title")
    return parser


def evaluate(arguments: list[str]) -> None:
    options = parse(evaluate_parser(), arguments)
    model, vocabulary = load_model(options.model)
    length = model.max_length if options.length is None else options.length
    check_sizes(length=length)
    if length > model.max_length:
        raise ValueError(f"length={length} is more than this model's {model.max_length}")
    corpus = shakespeare.load(options.text)
    _, validation = split(corpus.text, options.last_tenth)
    data = batches.encode(vocabulary, "", "".join(validation))
    model = model.to(devices.best_device())
    nats = training.evaluate(model, data.validation, length)
    print(f"{corpus.source}, validation: {nats:.4f} nats per token, {data.bits(nats):.4f} bits per character")


def evaluate_parser() -> argparse.ArgumentParser:
    parser = new_parser("evaluate", "Measure how well a model predicts the validation part of a text.")
    add = parser.add_argument
    add("--model", type=filename, metavar="FILE", help="a file that train has written; by default the course's")
    add("--text", type=filename, metavar="FILE", help="by default the complete works, found or downloaded")
    add("--last-tenth", action="store_true", help="evaluate on the last tenth, as train does with the same option")
    add("--length", type=whole, metavar="N", help="tokens in a sequence; default: the model's maximum")
    return parser


# --- chat ---------------------------------------------------------------------------------------------------


def chat(arguments: list[str]) -> None:
    options = parse(chat_parser(), arguments)
    check_sizes(length=options.length)
    sampling.check_sampling(options.temperature, options.top_k, LARGEST)
    if options.question is not None and not options.question.strip():
        raise ValueError("The question is empty")
    conversation = new_conversation(options)
    if options.question is None:
        converse(conversation, options.length)
    else:
        answer(conversation, options.question, options.length)


def new_conversation(options: argparse.Namespace) -> Conversation:
    file = gguf_model.GGUFFile(options.pretrained or chat_model.fetch())
    system = default_system(file) if options.system is None else options.system
    model, vocabulary = gguf_model.load_from(file)
    if devices.is_short(model.embedding.weight.device, options.precision):
        model = model.bfloat16()
    sampling.lay_out(model)  # as in generate
    return Conversation(model, vocabulary, system, options.temperature, options.top_k, options.seed)


def converse(conversation: Conversation, length: int) -> None:
    """Questions from the keyboard until the user ends them; those from a pipe, until there are no more."""
    prompt, stopped = "", False
    if sys.stdin is None:  # closed, as with <&-
        raise ValueError("There is no keyboard to ask from: give the question as an argument")
    if sys.stdin.isatty():
        prompt = "> "
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - with it, the arrow keys work
        say("Ask anything. Ctrl-C ends an answer; twice, the conversation.")
    while True:
        try:
            question = input(prompt)
            if question.strip():
                stopped = False
                answer(conversation, question, length)
        except KeyboardInterrupt:
            print()
            if stopped:
                return
            stopped = True
        except EOFError:
            if prompt:
                print()
            return


def answer(conversation: Conversation, question: str, length: int) -> None:
    with contextlib.closing(conversation.ask(question, length)) as pieces:
        for piece in itertools.chain(pieces, ["\n"]):
            print(piece, end="", flush=True)


def chat_parser() -> argparse.ArgumentParser:
    parser = new_parser(
        "chat",
        "Talk with SmolLM2-135M-Instruct, a small chat model, on the decoder that the lessons build. It is downloaded "
        "once; the answers need no network. It is often wrong.",
    )
    add = parser.add_argument
    add("question", nargs="?", help="one question, for scripts; without it, a conversation")
    add("--pretrained", type=filename, metavar="FILE", help="another chat model: a GGUF file of Llama's architecture")
    add(
        "--system",
        metavar="TEXT",
        help="what the model is told first; by default what it was trained with; '': nothing",
    )
    add("--length", type=whole, default=1024, metavar="N", help="tokens in an answer, at most")
    add("--temperature", type=float, default=0.0, metavar="T", help="0: always the likeliest; 1: as learned")
    add("--top-k", type=whole, metavar="K", help="choose among the K likeliest tokens")
    add("--seed", type=seed, metavar="N", help="the same seed gives the same answers")
    add_precision(add, "auto")
    return parser
