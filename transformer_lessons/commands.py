"""The commands train, generate and evaluate: what one types in a terminal."""

import argparse
import itertools
import os
import sys

import torch
import torch.distributed as dist

from transformer_lessons import checkpoints, generation, shakespeare, training
from transformer_lessons.sizes import check_sizes

SHIPPED = checkpoints.SHIPPED


def run(command, arguments):
    """The exit code: None or 0, 1 after a sentence on what cannot be done, 130 when stopped by Ctrl-C."""
    try:
        return command(arguments)
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    except BrokenPipeError:  # who reads the output has enough, as in: … generate | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (RuntimeError, MemoryError) as error:  # PyTorch's own are RuntimeErrors
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        say("The memory is too small: try a smaller model, --length or --batch-size.")
    except (ValueError, TypeError) as error:
        say(error)
    return 1


def say(sentence):
    print(sentence, file=sys.stderr)


# --- train --------------------------------------------------------------------------------------------------


def train(arguments):
    options = train_parser().parse_args(arguments)
    device = join_processes(options.device)
    if options.threads is not None:
        check_sizes(threads=options.threads)
        torch.set_num_threads(options.threads)
    rank, _ = training.processes()
    corpus = load_corpus(options.text)
    data = training.prepare(split(corpus.text, options.last_tenth), options.tokens, options.vocabulary)
    torch.manual_seed(options.seed + rank)  # every process has its own dropout, and then the first's weights
    model = training.new_model(len(data.vocabulary), options.d_model, options.heads, options.d_hidden,
                               options.layers, options.length, options.dropout,
                               options.feed_forward == "gated").to(device)
    checkpoints.check_apart(out=options.out, best=options.best, export=options.export)
    if rank == 0:
        checkpoints.check_writable(options.export)
        size = sum(parameter.numel() for parameter in model.parameters())
        say(f"{corpus.source}: {len(data.train):,} tokens to learn from, {len(data.validation):,} to judge, "
            f"{len(data.vocabulary):,} different. The model has {size:,} weights, on {device}.")
    chosen = {name: value for name, value in vars(options).items() if hasattr(training.Recipe, name)}
    recipe = training.Recipe(**chosen)
    progress = training.train(model, data, recipe, options.out, options.best, options.quiet or rank > 0)
    if rank == 0:
        report(model, data, progress, options)
    if dist.is_initialized():
        dist.destroy_process_group()
    return 130 if progress.step < recipe.steps else 0


def load_corpus(path):
    """The text; of several processes the first one finds or downloads it, and tells the others."""
    corpus = [shakespeare.load(path) if training.processes()[0] == 0 else None]
    if dist.is_initialized():
        dist.broadcast_object_list(corpus)
    return corpus[0]


def split(text, last_tenth):
    """What is learned from, and what a model is judged by."""
    cut = len(text) * 9 // 10
    return ([text[:cut]], [text[cut:]]) if last_tenth else shakespeare.split(text)


def report(model, data, progress, options):
    if progress.step < options.steps:
        then = f"the same command goes on from {options.out}" if options.out else "without --out it is lost"
        return say(f"Stopped after step {progress.step}: {then}.")
    nats = progress.evaluations[-1][1]
    print(f"validation: {nats:.4f} nats a token, {data.bits(nats):.4f} bits a character")
    if options.export:
        checkpoints.export(model, data.vocabulary, options.export)


def join_processes(wanted):
    """The device of this process, which, under torchrun, then knows the others."""
    device = training.best_device(wanted)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        if device.type == "cuda":
            torch.cuda.set_device(device)
        else:
            torch.set_num_threads(1)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return device


def train_parser():
    parser = new_parser("train", "Train a language model on Shakespeare, or on any text.",
                        "Several GPUs: torchrun --nproc_per_node 2 -m transformer_lessons train …")
    recipe, add = training.Recipe(), parser.add_argument
    add("--text", metavar="FILE", help="what to learn from; by default the complete works, found or loaded")
    add("--last-tenth", action="store_true", help="judge by the last tenth, not by blocks from all over")
    add("--out", metavar="FILE", help="checkpoint: written while training, and gone on from where it exists")
    add("--best", metavar="FILE", help="the model with the lowest validation loss so far")
    add("--export", metavar="FILE", help="at the end: the model alone, in half precision")
    add("--tokens", choices=["words", "characters"], default="words", help="what the text is cut into")
    add("--vocabulary", type=int, default=4096, metavar="N", help="different tokens, if they are words")
    add("--layers", type=int, default=4, metavar="N", help="blocks, one on the other")
    add("--heads", type=int, default=4, metavar="N", help="attentions in each block")
    add("--d-model", type=int, default=128, metavar="N", help="features of each token's vector")
    add("--feed-forward", choices=["gated", "relu"], default="gated", help="as newer models do it, or plain")
    add("--d-hidden", type=int, metavar="N", help="features in it; by default 8/3 × d-model; relu: 4 ×")
    add("--dropout", type=float, default=0.0, metavar="P", help="share of features hidden in training")
    add("--length", type=int, default=recipe.length, metavar="N", help="tokens that the model looks back")
    add("--steps", type=int, default=recipe.steps, metavar="N", help="updates of the weights")
    add("--batch-size", type=int, default=recipe.batch_size, metavar="N",
        help="sequences in each update, over all processes")
    add("--learning-rate", type=float, default=recipe.learning_rate, metavar="X", help="at its highest")
    add("--evaluate-every", type=int, default=0, metavar="N", help="steps between evaluations; 0: at the end")
    add("--save-every", type=int, default=recipe.save_every, metavar="N", help="steps between checkpoints")
    add("--seed", type=seed, default=recipe.seed, metavar="N", help="the same gives the same, on one thread")
    add("--precision", choices=["auto", "bfloat16", "float32"], default=recipe.precision,
        help="of products; auto: bfloat16 where the processor is made for it")
    add("--device", metavar="NAME", help="cpu, cuda or mps; by default the best there is")
    add("--threads", type=int, metavar="N", help="of the processor; by default all")
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def seed(text):
    """A number that every generator takes."""
    if int(text) not in range(2**32):
        raise argparse.ArgumentTypeError(f"{text} must be from 0 to {2**32 - 1}")
    return int(text)


def new_parser(command, description, epilog=None):
    class Help(argparse.ArgumentDefaultsHelpFormatter):
        """Tells the default of every option that has one."""

        def _get_help_string(self, action):
            return action.help if action.default in (None, False) else super()._get_help_string(action)

    return argparse.ArgumentParser(prog=f"python -m transformer_lessons {command}", description=description,
                                   epilog=epilog, formatter_class=Help)


# --- generate and evaluate ----------------------------------------------------------------------------------


def generate(arguments):
    options = generate_parser().parse_args(arguments)
    model, vocabulary = load_model(options.model)
    pieces = generation.stream(model, vocabulary, options.prompt, options.length, options.temperature,
                               options.top_k, options.top_p, options.seed)
    sys.stdout.reconfigure(errors="replace")  # not every terminal has every character
    for piece in itertools.chain([options.prompt], pieces, ["\n"]):
        print(piece, end="", flush=True)


def load_model(path):
    """The model that a file holds, or the one that comes with the course."""
    if path is None and not SHIPPED.exists():
        raise ValueError(f"The course's own model is not here ({SHIPPED}): name another one with --model")
    return checkpoints.load_model(path or SHIPPED)


def generate_parser():
    parser = new_parser("generate", "Let a model write. Without --model, the one that comes with the course.")
    add = parser.add_argument
    add("prompt", nargs="?", default="", help="what the text begins with, for example $'\\n\\nHAMLET.\\n'")
    add("--model", metavar="FILE", help="a file that train has written")
    add("--length", type=int, default=200, metavar="N", help="tokens to write")
    add("--temperature", type=float, default=0.8, metavar="T", help="0: always the likeliest; 1: as learned")
    add("--top-k", type=int, metavar="K", help="choose among the K likeliest tokens")
    add("--top-p", type=float, metavar="P", help="choose among the likeliest with a chance of P together")
    add("--seed", type=seed, metavar="N", help="the same seed gives the same text")
    return parser


def evaluate(arguments):
    options = evaluate_parser().parse_args(arguments)
    model, vocabulary = load_model(options.model)
    corpus = shakespeare.load(options.text)
    _, validation = split(corpus.text, options.last_tenth)
    data = training.encode(vocabulary, "", "".join(validation))
    model = model.to(training.best_device())
    nats = training.evaluate(model, data.validation, options.length or model.max_length)
    print(f"{corpus.source}, validation: {nats:.4f} nats a token, {data.bits(nats):.4f} bits a character")


def evaluate_parser():
    parser = new_parser("evaluate", "How well a model foretells the validation part of a text.")
    add = parser.add_argument
    add("--model", metavar="FILE", help="a file that train has written; by default the course's")
    add("--text", metavar="FILE", help="by default the complete works, found or downloaded")
    add("--last-tenth", action="store_true", help="judge by the last tenth, as train with the same option")
    add("--length", type=int, metavar="N", help="tokens in a sequence; by default the model's most")
    return parser
