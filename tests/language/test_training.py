"""Theorems about training: a run that was stopped, killed or shared ends as one that was left alone."""

import contextlib
import io
import math
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from kill import compare, processes, same, tiny_data, tiny_model

from transformer_lessons.language import checkpoints, training
from transformer_lessons.language.batches import Batches, Data, encode, prepare
from transformer_lessons.language.devices import autocast, best_device, generator_of
from transformer_lessons.language.progress_bar import new_bar, standing
from transformer_lessons.language.recipe import Recipe
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.language.training import Progress, evaluate, learning_rate, train
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.modern import QuickDropout
from transformer_lessons.tasks import mock_play
from transformer_lessons.tools import model_commands

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("one_thread")
RECIPE = Recipe(steps=12, batch_size=2, length=8, evaluate_every=5, save_every=3)


@pytest.fixture
def single(monkeypatch):
    """Products in float32, wherever the tests run."""
    monkeypatch.setattr(training, "autocast", lambda device, precision: contextlib.nullcontext())


def run(folder, recipe=RECIPE, **options):
    """The tiny run, from its beginning or from where its file is."""
    folder.mkdir(exist_ok=True)
    options = {"checkpoint": folder / "run", "best": folder / "best", "quiet": True} | options
    return train(tiny_model(), tiny_data(), recipe, **options)


def ends_equal(one, other):
    return all(same(checkpoints.load(one / name), checkpoints.load(other / name)) for name in ("run", "best"))


# --- recipes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong", "rule"),
    [
        *[("learning_rate", wrong, "more than 0, and finite") for wrong in (0, -1.0, math.inf, math.nan)],
        *[("warm_up", wrong, "at least 0 and less than 1") for wrong in (-0.1, 1, 7.0, math.nan)],
        *[("weight_decay", wrong, "at least 0, and finite") for wrong in (-0.1, math.inf, math.nan)],
        *[
            ("betas", wrong, "two numbers of at least 0 and less than 1")
            for wrong in ((0.9,), (0.9, 1), (-0.1, 0.9), (0.9, math.nan), (0.9, 0.9, 0.9))
        ],
        *[("clip", wrong, "more than 0") for wrong in (0, -1.0, math.nan)],
        ("seed", 2**32, f"less than {2**32}"),
        ("precision", "float8", "one of auto, bfloat16, float32"),
        ("optimizer", "sgd", "adamw or muon"),
    ],
)
def test_a_recipe_that_cannot_be_meant_is_refused(name, wrong, rule):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared as a whole
        Recipe(**{name: wrong})
    assert str(caught.value) == f"{name}={wrong} must be {rule}"


@pytest.mark.parametrize(("name", "value"), [("weight_decay", 0.0), ("warm_up", 0.0), ("betas", (0.0, 0.0))])
def test_a_recipe_may_do_without_what_can_be_zero(name, value):
    assert getattr(Recipe(**{name: value}), name) == value


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("steps", 1),
        ("batch_size", 1),
        ("length", 1),
        ("save_every", 1),
        ("evaluate_every", 0),
        ("seed", 0),
    ],
)
def test_the_counts_in_a_recipe_are_whole_numbers_and_large_enough(name, least):
    with pytest.raises(ValueError, match=f"^{name}={least - 1} is too small: it must be at least {least}$"):
        Recipe(**{name: least - 1})
    with pytest.raises(TypeError, match=f"^{name}=2.5 is not a whole number$"):
        Recipe(**{name: 2.5})
    assert getattr(Recipe(**{name: least}), name) == least


@pytest.mark.parametrize(("steps", "warm_up"), [(100, 0.15), (40, 0.5), (7, 0.0), (1, 0.3), (1000, 0.999)])
def test_the_learning_rate_rises_in_a_straight_line_and_falls_in_another_to_zero(steps, warm_up):
    recipe = Recipe(steps=steps, warm_up=warm_up, learning_rate=2.0)
    rates = [learning_rate(step, recipe) for step in range(steps)]
    rise = max(1, round(steps * warm_up))
    assert max(rates) == pytest.approx(2.0)
    for step, rate in enumerate(rates):
        falling = (steps - step) / max(1, steps - rise)
        assert rate == pytest.approx(2.0 * (step + 1) / rise if step < rise else 2.0 * falling)
    assert learning_rate(steps, recipe) == 0


def test_matrices_decay_and_nothing_else_does():
    model = tiny_model()
    matrices, others = training.make_optimizer(model, Recipe(weight_decay=0.3)).param_groups
    assert (matrices["weight_decay"], others["weight_decay"]) == (0.3, 0.0)
    assert {parameter.dim() for parameter in matrices["params"]} == {2}
    assert {parameter.dim() for parameter in others["params"]} == {1}
    assert len(matrices["params"]) + len(others["params"]) == len(list(model.parameters()))


def test_muon_takes_the_matrices_in_the_layers_and_adamw_everything_else():
    model = tiny_model()
    optimizer = training.make_optimizer(model, Recipe(weight_decay=0.3, optimizer="muon"))
    groups = {group.get("momentum"): group for group in optimizer.param_groups if group["weight_decay"]}
    assert groups[None]["params"] == [model.embedding.weight]
    assert {id(weight) for weight in groups[0.95]["params"]} == {
        id(weight) for name, weight in model.named_parameters() if name.startswith("layers") and weight.dim() == 2
    }
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.3, 0.0, 0.3]
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(list(model.parameters()))


def test_new_models_turn_their_positions_and_begin_with_nearly_equal_chances():
    model = training.new_model(500, 16, 2, None, 3, 9, dropout=0.25)
    assert model.config == Config(500, 16, 2, 42, 3, 9, dropout=0.25, rotary=True, gated=True, std=0.25)
    assert model.embedding.weight.std().item() == pytest.approx(1 / 4, rel=0.05)
    plain = training.new_model(500, 16, 2, None, 3, 9, gated=False).config
    assert (plain.d_hidden, plain.gated) == (64, False)
    for wrong in (1, -0.5, math.nan):
        with pytest.raises(ValueError, match=f"^dropout={wrong} must be at least 0 and less than 1$"):
            training.new_model(500, 16, 2, None, 3, 9, dropout=wrong)


@pytest.mark.parametrize("share", [0.15, 0.5, 0.999999])
def test_quick_dropout_drops_this_share_and_keeps_the_mean_and_the_gradient(share):
    torch.manual_seed(0)
    x, dropout = torch.ones(333, 1001, requires_grad=True), QuickDropout(share)
    kept = dropout(x)
    kept.sum().backward()
    deviation = math.sqrt(share * (1 - share) / x.numel())
    assert (kept == 0).float().mean().item() == pytest.approx(share, abs=4 * deviation + 2**-16)
    assert kept.max().item() == pytest.approx(1 / (1 - share), rel=1e-3 if share < 0.9 else 1)
    assert torch.equal(x.grad, kept)
    torch.manual_seed(0)
    assert torch.equal(dropout(x), kept)
    assert not torch.equal(dropout(x), kept)
    assert dropout(x.bfloat16()).dtype == torch.bfloat16
    assert torch.equal(dropout.eval()(x), x)


def test_dropout_falls_evenly_on_every_place_and_neighbours_do_not_share_their_luck():
    torch.manual_seed(0)
    dropped = (QuickDropout(0.5)(torch.ones(20_000, 9)) == 0).float()
    assert dropped.mean(0).sub(0.5).abs().max() < 0.015
    assert torch.corrcoef(dropped.T).fill_diagonal_(0).abs().max() < 0.03


def test_new_models_drop_features_and_no_attention():
    model = training.new_model(500, 16, 2, None, 3, 9, dropout=0.25)
    assert {layer.attention.dropout.p for layer in model.layers} == {0}
    assert {layer.dropout.p for layer in model.layers} | {model.dropout.p} == {0.25}


# --- data and batches ---------------------------------------------------------------------------------------


def test_words_and_characters_come_from_the_training_part_alone():
    parts = ["to be ", "or "], ["not zo be"]
    for tokens in ("words", "characters"):
        data = prepare(parts, tokens, 300)
        assert data.vocabulary.decode(data.train) == "to be or "
        assert data.vocabulary.decode(data.validation) == "not zo be"
        assert data.characters == 9
        assert "z" not in data.vocabulary.pieces
        assert ("to" in data.vocabulary.pieces) == (tokens == "words")
    with pytest.raises(ValueError, match=r"^tokens='letters' must be 'words', 'characters' or 'bytepairs'$"):
        prepare(parts, "letters")


def test_an_empty_text_has_no_tokens():
    assert encode(Vocabulary("ab"), "", "ab").train.equal(torch.zeros(0, dtype=torch.int64))


def test_a_loss_in_bits_a_character_is_worked_out_by_hand():
    data = Data(Vocabulary("ab"), torch.arange(3), torch.arange(4), characters=8)
    assert data.bits(math.log(2)) == pytest.approx(4 / 8)


@pytest.mark.parametrize(("tokens", "size", "length"), [(1000, 4, 7), (1009, 3, 10), (57, 1, 5)])
def test_the_rows_of_an_epoch_never_overlap_and_leave_out_little_more_than_a_batch(tokens, size, length):
    """The tokens are their own numbers, so each says where it comes from."""
    recipe = Recipe(batch_size=size, length=length)
    batches = Batches(torch.arange(tokens), recipe)
    steps = batches.each // size
    for epoch in range(3):
        seen = torch.cat([batches(epoch * steps + step)[0] for step in range(steps)])
        assert seen.shape == (batches.each, length)
        assert len(seen.unique()) == seen.numel()
        assert (seen.diff(dim=1) == 1).all()
        assert tokens - seen.numel() < (size + 2) * length


def test_targets_are_one_ahead():
    batches = Batches(torch.arange(500), Recipe(batch_size=4, length=7))
    for step in range(40):
        inputs, targets = batches(step)
        assert inputs.shape == targets.shape == (4, 7)
        assert torch.equal(targets, inputs + 1)


def test_a_seed_gives_one_order_whichever_step_one_begins_with():
    recipe, ids = Recipe(batch_size=4, length=7, seed=5), torch.arange(300)
    in_order = Batches(ids, recipe)
    rows = [in_order(step) for step in range(60)]
    again = Batches(ids, recipe)
    for step in (59, 0, 33, 10, 9, 58):
        assert same(again(step), rows[step])
        assert same(Batches(ids, recipe)(step), rows[step])
    other = Batches(ids, replace(recipe, seed=6))
    assert not same(other(0), rows[0])
    steps = in_order.each // 4
    first, second = (
        [tuple(row.tolist()) for inputs, _ in rows[epoch * steps : (epoch + 1) * steps] for row in inputs]
        for epoch in (0, 1)
    )
    assert set(first) != set(second)  # each epoch is cut at another place
    assert first != sorted(first)  # and shuffled


def test_too_few_tokens_for_a_batch_are_refused_with_the_least_number():
    recipe = Recipe(batch_size=4, length=7)
    expected = "^35 tokens are too few for batch_size=4 and length=7: they need 36$"
    with pytest.raises(ValueError, match=expected):
        Batches(torch.arange(35), recipe)
    assert Batches(torch.arange(36), recipe)(0)[0].shape == (4, 7)


# --- evaluation ---------------------------------------------------------------------------------------------


@torch.no_grad()
def evaluate_slowly(model, ids, length):
    """Token by token: what has the model seen of the row, and what chance does it give to the next?"""
    total = 0.0
    for place in range(len(ids) - 1):
        row = ids[place // length * length : place + 1]
        total -= model(row[None])[0, -1].log_softmax(-1)[ids[place + 1]].item()
    return total / (len(ids) - 1)


@pytest.mark.parametrize("tokens", [2, 8, 9, 10, 17, 50])
@pytest.mark.parametrize("batch_size", [1, 64])
@pytest.mark.usefixtures("single")
def test_evaluation_counts_every_token_once_and_leaves_the_model_as_it_was(tokens, batch_size):
    model, ids = tiny_model(), tiny_data().validation[:tokens]
    expected = evaluate_slowly(model.eval(), ids, 8)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    for training_mode in (True, False):
        model.train(training_mode)
        assert evaluate(model, ids, 8, batch_size) == pytest.approx(expected, abs=1e-5)
        assert {part.training for part in model.modules()} == {training_mode}
    model.train().embedding.eval()  # as where a part is frozen
    modes = [part.training for part in model.modules()]
    evaluate(model, ids, 8, batch_size)
    assert [part.training for part in model.modules()] == modes
    assert same(dict(model.state_dict()), before)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_an_evaluation_that_fails_leaves_a_training_model_training():
    model = tiny_model().train()
    with pytest.raises(ValueError, match=r"^a token is 999: "):
        evaluate(model, torch.tensor([1, 999, 3]), 8)
    assert model.training
    with pytest.raises(ValueError, match=r"^tokens=1 is too small: it must be at least 2$"):
        evaluate(model, torch.tensor([1]), 8)


# --- what training does -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("single")
def test_a_step_is_adamw_on_clipped_gradients_at_the_scheduled_rate():
    recipe = Recipe(steps=3, batch_size=2, length=8, clip=0.01, warm_up=0.5, learning_rate=0.1)
    torch.manual_seed(0)
    ours, theirs = (training.new_model(261, 8, 2, 16, 1, 8) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    data = tiny_data()
    progress = train(ours, data, recipe, quiet=True)
    batches, losses = Batches(data.train, recipe), []
    matrices = [parameter for parameter in theirs.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in theirs.parameters() if parameter.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=recipe.betas)
    for step in range(3):
        inputs, targets = batches(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(theirs(inputs).transpose(1, 2), targets)
        loss.backward()
        norm = sum((parameter.grad**2).sum() for parameter in theirs.parameters()).sqrt()
        assert norm > recipe.clip
        for parameter in theirs.parameters():
            parameter.grad *= recipe.clip / norm
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, recipe)
        optimizer.step()
        losses.append(loss.item())
    assert progress.losses == pytest.approx(losses, abs=1e-5)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert (one - other).abs().max() < 1e-3


def test_training_reaches_the_entropy_of_a_known_source_from_above():
    """Each of three letters mostly follows one other: what the chain itself says of the text is the floor."""
    chain = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.45, 0.45, 0.1]])
    generator, ids = torch.Generator().manual_seed(3), [0]
    for _ in range(8000):
        ids.append(torch.multinomial(chain[ids[-1]], 1, generator=generator).item())
    ids = torch.tensor(ids)
    validation = ids[6000:]
    floor = -chain[validation[:-1], validation[1:]].log().mean().item()
    torch.manual_seed(0)
    model = training.new_model(259, 16, 2, 32, 1, 16)
    data = Data(Vocabulary("abc"), 256 + ids[:6000], 256 + validation, len(validation))
    progress = train(model, data, Recipe(steps=150, batch_size=16, length=16, evaluate_every=30), quiet=True)
    assert [step for step, _ in progress.evaluations] == [30, 60, 90, 120, 150]
    losses = [loss for _, loss in progress.evaluations]
    assert floor - 0.002 < losses[-1] < 1.03 * floor
    assert losses[0] > losses[-1]
    assert len(progress.losses) == progress.step == 150


def test_the_best_file_holds_the_model_of_the_lowest_validation_loss(tmp_path):
    progress = run(tmp_path, replace(RECIPE, steps=40, evaluate_every=4, learning_rate=0.3, save_every=40))
    losses = [loss for _, loss in progress.evaluations]
    assert min(losses) < losses[-1]  # or this would prove nothing
    model, _ = checkpoints.load_model(tmp_path / "best")
    assert evaluate(model, tiny_data().validation, 8) == min(losses)


# --- stopped, and resumed ------------------------------------------------------------------------------------


class Stopped(Exception):
    pass


def stop_at(monkeypatch, step, act):
    """Does something in the middle of a step."""
    whole = training.loss_of

    def loss_of(model, *arguments, **keywords):
        if model.training:
            loss_of.step += 1
            if loss_of.step == step:
                act()
        return whole(model, *arguments, **keywords)

    loss_of.step = 0
    monkeypatch.setattr(training, "loss_of", loss_of)


def crash():
    raise Stopped


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("step", [1, 2, 4, 7, 9, 12])
def test_a_run_that_broke_off_ends_with_the_same_bits_as_one_that_did_not(tmp_path, monkeypatch, step):
    run(tmp_path / "whole")
    with monkeypatch.context() as patch:
        stop_at(patch, step, crash)
        with pytest.raises(Stopped):
            run(tmp_path / "broken")
    torch.manual_seed(99)  # other code has drawn random numbers since
    torch.rand(step)
    progress = run(tmp_path / "broken")
    assert progress.step == len(progress.losses) == 12
    assert [at for at, _ in progress.evaluations] == [5, 10, 12]
    assert ends_equal(tmp_path / "whole", tmp_path / "broken")
    assert sorted(os.listdir(tmp_path / "broken")) == ["best", "run"]


@pytest.mark.parametrize("step", [4, 8])
def test_a_run_with_muon_that_broke_off_ends_with_the_same_bits(tmp_path, monkeypatch, step):
    recipe = replace(RECIPE, optimizer="muon")
    run(tmp_path / "whole", recipe)
    with monkeypatch.context() as patch:
        stop_at(patch, step, crash)
        with pytest.raises(Stopped):
            run(tmp_path / "broken", recipe)
    run(tmp_path / "broken", recipe)
    assert ends_equal(tmp_path / "whole", tmp_path / "broken")
    with pytest.raises(ValueError, match=r": its optimizer is muon, not adamw$"):
        run(tmp_path / "broken")


@pytest.mark.parametrize("step", [1, 5, 12])
def test_ctrl_c_ends_the_step_saves_and_loses_nothing(tmp_path, monkeypatch, step):
    run(tmp_path / "whole")
    listener = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        stop_at(patch, step, interrupt)
        progress = run(tmp_path / "stopped")
    assert progress.step == step
    assert checkpoints.load(tmp_path / "stopped/run")["progress"]["step"] == step
    assert signal.getsignal(signal.SIGINT) is listener
    run(tmp_path / "stopped")
    assert ends_equal(tmp_path / "whole", tmp_path / "stopped")


def test_who_presses_ctrl_c_twice_does_not_wait(tmp_path, monkeypatch):
    stop_at(monkeypatch, 5, lambda: (interrupt(), interrupt()))
    listener = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert signal.getsignal(signal.SIGINT) is listener
    assert checkpoints.load(tmp_path / "run")["progress"]["step"] == 3


def test_a_thread_may_train_too():
    done, tiny = [], (tiny_model(), tiny_data(), RECIPE)
    thread = threading.Thread(target=lambda: done.append(train(*tiny, quiet=True)))
    thread.start()
    thread.join()
    assert done[0].step == 12


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
def test_a_run_that_is_killed_at_random_moments_ends_with_the_same_bits_and_leaves_nothing_over(tmp_path):
    saved, equal, left = compare(3, tmp_path, seed=3)  # early moments
    assert equal
    assert not left
    assert saved == sorted(saved)
    assert any(0 < steps < 90 for steps in saved), saved


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    run(tmp_path)
    before = (tmp_path / "run").read_bytes()
    progress = run(tmp_path)
    assert progress.step == 12
    assert (tmp_path / "run").read_bytes() == before


def test_more_steps_go_on_where_the_run_ended_on_the_schedule_of_the_longer_one(tmp_path, monkeypatch, capsys):
    run(tmp_path)
    rates, step = [], training.Run.step

    def noted(self, *arguments):
        stopped = step(self, *arguments)
        rates.append(self.optimizer.param_groups[0]["lr"])
        return stopped

    monkeypatch.setattr(training.Run, "step", noted)
    longer = replace(RECIPE, steps=18)
    assert run(tmp_path, longer).step == 18
    assert rates == [learning_rate(step, longer) for step in range(12, 18)]
    new = f"{learning_rate(12, longer):.2g}"
    assert capsys.readouterr().err == (
        f"{tmp_path / 'run'} has done 12 of 12 steps and continues to 18. From here the learning rate is that of a run "
        f"of 18 steps: not 0 but {new}, and 0 at the end.\n"
    )
    assert [at for at, _ in checkpoints.load(tmp_path / "run")["progress"]["evaluations"]] == [5, 10, 12, 15, 18]
    with pytest.raises(ValueError, match=r"from another run: its steps is 18, not 12$"):
        run(tmp_path)


def test_how_often_a_run_is_saved_and_evaluated_may_change_on_the_way(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_at(patch, 8, crash)
        with pytest.raises(Stopped):
            run(tmp_path)
    progress = run(tmp_path, replace(RECIPE, save_every=1, evaluate_every=4))
    assert [at for at, _ in progress.evaluations] == [5, 8, 12]


def test_a_recipe_that_an_older_version_wrote_has_todays_defaults(tmp_path):
    run(tmp_path)
    content = checkpoints.load(tmp_path / "run")
    for name in ("precision", "optimizer"):
        del content["recipe"][name]
    checkpoints.save(content, tmp_path / "run")
    assert run(tmp_path).step == 12
    with pytest.raises(ValueError, match=r": its precision is auto, not float32$"):
        run(tmp_path, replace(RECIPE, precision="float32"))


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "model", "sentence"),
    [
        ({"seed": 3}, {}, "its seed is 0, not 3"),
        ({"seed": 3, "clip": 0.5}, {}, "its clip is 1.0, not 0.5; its seed is 0, not 3"),
        ({"optimizer": "muon"}, {}, "its optimizer is adamw, not muon"),
        ({"betas": (0.5, 0.9)}, {}, "its betas is [0.8, 0.95], not [0.5, 0.9]"),
        ({}, {"d_hidden": 17}, "its d_hidden is 16, not 17"),
        ({}, {"dropout": 0.1}, "its dropout is 0.2, not 0.1"),
    ],
)
def test_another_runs_checkpoint_is_refused_with_the_difference(tmp_path, changed, model, sentence):
    run(tmp_path)
    before = (tmp_path / "run").read_bytes()
    other = LanguageModel(replace(tiny_model().config, **model))
    weights = {part: weight.clone() for part, weight in other.state_dict().items()}
    with pytest.raises(ValueError, match=r"/run is from another run: ") as caught:
        train(other, tiny_data(), replace(RECIPE, **changed), tmp_path / "run")
    assert str(caught.value).endswith(f": {sentence}")
    assert same(dict(other.state_dict()), weights)
    assert (tmp_path / "run").read_bytes() == before


def test_a_checkpoint_of_another_text_is_refused(tmp_path):
    run(tmp_path)
    data = tiny_data()
    with pytest.raises(ValueError, match=r"its training text is \w{12}, not \w{12}$"):
        train(tiny_model(), replace(data, train=data.train.flip(0)), RECIPE, tmp_path / "run")
    with pytest.raises(ValueError, match=r"its validation text is \w{12}, not \w{12}$"):
        train(tiny_model(), replace(data, validation=data.validation.flip(0)), RECIPE, tmp_path / "run")
    with pytest.raises(ValueError, match=r"is from another run, with another vocabulary$"):
        train(tiny_model(), replace(data, vocabulary=Vocabulary("vwxyz")), RECIPE, tmp_path / "run")


def test_a_file_with_a_model_alone_is_no_run_to_resume(tmp_path):
    run(tmp_path)
    with pytest.raises(ValueError, match=r"/best holds a model, but no run to resume$"):
        run(tmp_path, checkpoint=tmp_path / "best", best=None)


def test_what_does_not_fit_is_refused_before_the_first_step(tmp_path):
    model, data = tiny_model(), tiny_data()

    def refused(expected, recipe=RECIPE, data=data, **files):
        with pytest.raises(ValueError, match=expected):
            train(model, data, recipe, quiet=True, **files)

    refused("^a sequence of length 9 is longer than max_length=8$", replace(RECIPE, length=9))
    refused(
        "^validation_tokens=1 is too small: it must be at least 2$", data=replace(data, validation=data.validation[:1])
    )
    refused(
        "^the vocabulary has 257 tokens, but the model has vectors for 261$",
        data=replace(data, vocabulary=Vocabulary("a")),
    )
    refused("^400 tokens are too few for batch_size=99 and length=8: they need 801$", replace(RECIPE, batch_size=99))
    refused("/x/run cannot be written: No such file or directory$", checkpoint=tmp_path / "x/run")
    refused("/x/best cannot be written: No such file or directory$", best=tmp_path / "x/best")
    refused("/run cannot be both checkpoint and best$", checkpoint=tmp_path / "run", best=tmp_path / "run")
    assert same(dict(model.state_dict()), dict(tiny_model().state_dict()))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("rate", [1e30, 1e38])
def test_a_loss_that_is_no_number_ends_the_run_in_a_sentence_and_what_was_saved_stays(tmp_path, rate):
    recipe = replace(RECIPE, learning_rate=rate, save_every=1, evaluate_every=0, warm_up=0.0)
    rule = re.escape(f"try a smaller learning_rate than {rate}. What was saved is untouched")
    with pytest.raises(ValueError, match=rf"^the (loss|gradient) of step \d+ is (nan|inf): {rule}$"):
        run(tmp_path, recipe)
    content = checkpoints.load(tmp_path / "run")
    assert all(math.isfinite(loss) for loss in content["progress"]["losses"])
    assert content["progress"]["step"] == len(content["progress"]["losses"]) >= 1
    assert os.listdir(tmp_path) == ["run"]


def test_a_gradient_that_is_no_number_does_not_reach_the_weights():
    model, data = tiny_model(), tiny_data()
    model.norm.weight.register_hook(lambda gradient: gradient * math.nan)
    with pytest.raises(ValueError, match=r"^the gradient of step 1 is nan: "):
        train(model, data, RECIPE, quiet=True)
    assert same(dict(model.state_dict()), dict(tiny_model().state_dict()))


# --- several processes --------------------------------------------------------------------------------------


def train_together(rank, runs):
    """One of two processes; in the runs that name it, it is asked to stop in the middle of the fifth step."""
    torch.set_num_threads(1)
    for folder, interrupted in runs:
        dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
        with pytest.MonkeyPatch.context() as patch:
            if rank == interrupted:
                stop_at(patch, 5, interrupt)
            progress = run(folder, replace(RECIPE, precision="float32"))
        (folder / f"steps of {rank}").write_text(f"{progress.step} {checkpoints.digest(torch.tensor(progress.losses))}")
        dist.destroy_process_group()


def together(*runs):
    """What each of two processes says at the end of its runs, which are pairs: a folder, and who is interrupted."""
    for folder, _ in runs:
        folder.mkdir(exist_ok=True)
        (folder / "meeting").unlink(missing_ok=True)
    both = [processes.Process(target=train_together, args=(rank, runs)) for rank in (0, 1)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)  # if one has stopped alone, the other waits for it
    ended = [process.exitcode for process in both]
    for process in both:
        process.kill()
    assert ended == [0, 0]
    return [[(folder / f"steps of {rank}").read_text() for rank in (0, 1)] for folder, _ in runs]


@pytest.mark.skipif(not dist.is_available(), reason="this PyTorch has no processes")
def test_two_processes_stop_after_the_same_step_though_only_one_is_asked_and_resume_together(tmp_path):
    whole, stopped = together((tmp_path / "whole", None), (tmp_path / "1", 1))
    assert whole[0] == whole[1]
    assert whole[0].startswith("12 ")
    assert stopped[0] == stopped[1]
    assert stopped[0].startswith("5 ")
    assert together((tmp_path / "1", None)) == [whole]
    assert ends_equal(tmp_path / "whole", tmp_path / "1")
    with pytest.raises(ValueError, match=r"is from another run: its processes is 2, not 1$"):
        run(tmp_path / "1", replace(RECIPE, precision="float32"))


def test_a_batch_splits_evenly_over_the_processes(monkeypatch):
    monkeypatch.setattr(training, "processes", lambda: (0, 3))
    with pytest.raises(ValueError, match=r"^batch_size=2 does not split evenly over 3 processes$"):
        train(tiny_model(), tiny_data(), RECIPE, quiet=True)


def test_of_several_processes_only_the_first_writes_files(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "processes", lambda: (1, 2))
    monkeypatch.setattr(training.nn.parallel, "DistributedDataParallel", lambda model: model)
    run(tmp_path, replace(RECIPE, steps=2))
    assert os.listdir(tmp_path) == []


def test_two_processes_under_torchrun_have_the_loss_curve_of_one(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("play").write_text(mock_play.write(20, seed=1)[0], encoding="utf-8")
    options = "--text play --tokens characters --layers 1 --heads 2 --d-model 16 --length 16 --batch-size 4 "
    options += "--steps 20 --precision float32 --device cpu --threads 1 --quiet --out"
    assert not model_commands.exit_code(model_commands.train, [*options.split(), "one"])
    assert capfd.readouterr().out.startswith("validation: ")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run([*torchrun, "transformer_lessons", "train", *options.split(), "two"], env=environment, check=True)
    one, two = (checkpoints.load(Path(name))["progress"]["losses"] for name in ("one", "two"))
    assert two == pytest.approx(one, abs=1e-5)
    assert len(one) == 20
    assert capfd.readouterr().out.count("validation: ") == 1  # only the first process speaks
    assert sorted(os.listdir()) == ["one", "play", "two"]


# --- what one sees ------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A terminal, or what is none."""

    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


class Notebook(Screen):
    """As ipykernel's stream: no terminal, and yet \\r begins the line anew."""

    __module__ = "ipykernel.iostream"


def watch(monkeypatch, screen, seconds_a_step, quiet=False, first=0):
    """What a run of 1,000 steps shows on this screen."""
    clock = [1.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    progress, data = Progress(step=first), Data(Vocabulary("ab"), torch.arange(3), torch.arange(4), characters=8)
    with new_bar(Recipe(steps=1000), progress, quiet) as bar:
        for step in range(first + 1, 1001):
            clock[0] += seconds_a_step
            progress.losses.append(5.0 if step < 900 else 2.0)
            if step in (500, 800):
                progress.evaluations.append((step, math.log(2) * step / 500))
            bar.set_postfix_str(standing(progress, data), refresh=False)
            bar.update()
    return screen.getvalue()


@pytest.mark.parametrize("screen", [Screen(True), Notebook(False)], ids=["terminal", "notebook"])
def test_in_a_terminal_and_a_notebook_the_bar_is_one_line_written_twice_a_second(monkeypatch, screen):
    shown = watch(monkeypatch, screen, seconds_a_step=0.125)
    assert shown.endswith("\n")
    assert shown.count("\n") == 1
    lines = shown[:-1].split("\r")[1:]
    assert 250 <= len(lines) <= 253  # and the first and the last
    assert "0/1000" in lines[0]
    assert "1000/1000" in lines[-1]
    assert lines[-1].rstrip().endswith("8.00step/s, loss 2.00, validation 0.800 bits per character]")
    assert all("loss 5.00" in line for line in lines[1:200])
    assert ["validation" in line for line in lines[1:]].index(True) == 124  # at step 500, every fourth is shown


def test_in_a_log_the_bar_is_a_line_a_minute(monkeypatch):
    shown = watch(monkeypatch, Screen(False), seconds_a_step=0.6)
    assert "\r" not in shown
    lines = shown.splitlines()
    assert 11 <= len(lines) <= 12
    assert all(" loss " in line for line in lines[1:])
    assert " 100/1000 " in lines[1]
    assert " 1000/1000 " in lines[-1]


def test_a_short_run_is_two_lines_in_a_log_and_a_quiet_one_none(monkeypatch):
    assert len(watch(monkeypatch, Screen(False), seconds_a_step=0.001).splitlines()) == 2
    for screen in (Screen(False), Screen(True), Notebook(False)):
        assert watch(monkeypatch, screen, 0.1, quiet=True) == ""


def test_a_resumed_run_begins_where_it_stopped_and_counts_only_its_own_steps(monkeypatch):
    lines = watch(monkeypatch, Screen(False), seconds_a_step=0.5, first=800).splitlines()
    assert " 800/1000 " in lines[0]
    assert " 1000/1000 " in lines[-1]
    assert "2.00step/s" in lines[-1]


def test_a_bar_keeps_up_when_steps_become_slow(monkeypatch):
    clock, screen = [1.0], Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    with new_bar(Recipe(steps=1100), Progress(), False) as bar:
        for step in range(1100):
            clock[0] += 0.001 if step < 1000 else 1
            bar.update()
    assert screen.getvalue().count("\r") > 100


def test_training_shows_what_it_has_learned_and_does_not_draw_more_often_than_it_should(tmp_path, monkeypatch):
    screen = Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("tqdm.std.time", lambda: 1.0)
    run(tmp_path, quiet=False)
    first, last = screen.getvalue().split("\r")[1:]
    assert " 0/12 " in first
    assert re.search(r" 12/12 .*, loss \d\.\d\d, validation \d\.\d{3} bits per character\]\n$", last)


def test_after_an_error_the_bars_line_has_ended(monkeypatch):
    screen = Screen(True)
    monkeypatch.setattr(sys, "stderr", screen)
    stop_at(monkeypatch, 2, crash)
    with pytest.raises(Stopped):
        train(tiny_model(), tiny_data(), RECIPE)
    assert screen.getvalue().endswith("\n")


# --- where it runs ------------------------------------------------------------------------------------------


def test_the_best_device_is_cuda_then_mps_then_the_processor(monkeypatch):
    there = {"cuda": True, "mps": True}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there["cuda"])
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: there["mps"])
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert best_device() == best_device("cuda") == torch.device("cuda", 1)  # to each process its own
    assert best_device("cuda:0") == torch.device("cuda", 0)
    with pytest.raises(ValueError, match=r"^GPU 2 is not here: there are 2, counted from 0$"):
        best_device("cuda:2")
    there["cuda"] = False
    assert best_device() == torch.device("mps")
    with pytest.raises(ValueError, match=r"^device 'cuda' is not here, only mps and cpu$"):
        best_device("cuda")
    there["mps"] = False
    assert best_device() == best_device("cpu") == torch.device("cpu")
    for wrong in ("abacus", "meta", "cpu:x", "mps"):
        with pytest.raises(ValueError, match=f"^device '{wrong}' is not here, only cpu$"):
            best_device(wrong)


def test_a_process_that_torchrun_has_not_started_gets_the_first_gpu(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert best_device() == best_device("cuda") == torch.device("cuda", 0)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_dropout_on_a_gpu_draws_from_the_gpus_own_generator(kind):
    generator = generator_of(torch.device(kind))
    assert generator is getattr(torch, kind)
    assert callable(generator.get_rng_state)
    assert callable(generator.set_rng_state)
    assert generator_of(torch.device("cpu")) is torch


@pytest.mark.parametrize(
    ("precision", "able", "expected"),
    [
        ("auto", True, torch.bfloat16),
        ("auto", False, torch.float32),
        ("float32", True, torch.float32),
        ("bfloat16", False, torch.bfloat16),
    ],
)
def test_products_are_in_bfloat16_where_the_processor_has_it_unless_one_says_otherwise(
    monkeypatch, precision, able, expected
):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: able)
    with autocast(torch.device("cpu"), precision):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == expected
