"""What a figure draws, and in which style."""

import logging

import matplotlib
import numpy as np
import pytest

from transformer_lessons.inspection import plots


@pytest.fixture
def drawn(monkeypatch):
    """The axis that the next line chart is drawn on."""
    axes = []
    monkeypatch.setattr(plots, "finish", lambda figure, axis, *texts: axes.append(axis))
    return axes


def test_one_run_is_a_line_without_a_band(drawn):
    plots.show_lines([0, 1, 2], {"loss": [3.0, 2.0, 1.0]}, "title", "step", "loss")
    assert drawn[0].lines[0].get_ydata().tolist() == [3.0, 2.0, 1.0]
    assert len(drawn[0].collections) == 0


def test_several_runs_are_their_mean_in_a_band_from_the_lowest_to_the_highest(drawn):
    plots.show_lines([0, 1], {"loss": np.array([[1.0, 2.0], [5.0, 2.5]])}, "title", "step", "loss")
    assert drawn[0].lines[0].get_ydata().tolist() == [3.0, 2.25]
    band = drawn[0].collections[0].get_paths()[0].vertices
    assert {tuple(point) for point in band} == {(0.0, 1.0), (0.0, 5.0), (1.0, 2.0), (1.0, 2.5)}


def test_a_logarithmic_axis_of_less_than_two_powers_of_ten_has_plain_numbers(drawn):
    for numbers in ([1.5, 30.0], [1.5, 3000.0]):
        plots.show_lines([0, 1], {"loss": numbers}, "title", "step", "loss", log_y=True)
    near, far = ({label.get_text() for label in axis.get_yticklabels()} for axis in drawn)
    assert near >= {"2", "5", "10", "20"}
    assert "2" not in far


def test_figures_have_a_style_of_their_own_and_leave_a_learners_figures_alone():
    before = dict(matplotlib.rcParams)
    one = plots.show_lines([0, 1], {"loss": [2.0, 1.0]}, "title", "step", "loss")
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"font.family": ["DejaVu Sans"], "axes.labelcolor": "red"}):
        assert plots.show_lines([0, 1], {"loss": [2.0, 1.0]}, "title", "step", "loss").png == one.png


def test_every_letter_of_a_figure_is_in_one_of_its_typefaces(caplog, recwarn):
    with caplog.at_level(logging.WARNING, "matplotlib"):
        plots.show_weights(np.eye(2), "Weights ≥ 0, and ½ of √d − 1 → ∞ is Kᵀ", ["é", "λ"], ["“a”", "x₀²"])
    assert not caplog.records
    assert not [str(one.message) for one in recwarn]


def test_a_number_is_written_with_a_minus_and_nothing_is_minus_zero(monkeypatch):
    written = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: written.extend(figure.axes[0].texts))
    plots.show_matrix(np.array([[-1.5, -0.001]]), "title")
    assert [one.get_text() for one in written] == ["−1.50", "0.00"]


def test_what_is_not_a_number_is_written_dark_on_grey(monkeypatch):
    axes = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: axes.extend(figure.axes))
    plots.show_weights(np.array([[np.nan, 1.0]]), "title")
    assert [(one.get_text(), one.get_color()) for one in axes[0].texts] == [("NaN", "#222222"), ("1.00", "white")]
    assert max(axes[0].get_facecolor()[:3]) < 0.9


def test_weights_of_exactly_0_stay_blank_on_request(monkeypatch):
    axes = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: axes.append(figure.axes[0]))
    plots.show_weights([[1.0, 0.0], [0.999, 0.001]], "title", zeros=False)
    plots.show_weights([[1.0, 0.0]], "title")
    written = [[one.get_text() for one in axis.texts] for axis in axes]
    assert written == [["1.00", "1.00", "0.00"], ["1.00", "0.00"]]


@pytest.mark.parametrize(("curve", "side"), [([3, 2, 2], "top"), ([3, 1, 0], "bottom"), ([0, 0, 0.9], "bottom")])
def test_the_name_of_a_dotted_line_stands_on_the_side_that_the_curves_leave_free(drawn, curve, side):
    plots.show_lines([0, 1, 2], {"loss": curve}, "title", "step", "loss", floor=("chance", 1))
    [name] = drawn[0].texts
    assert (name.get_text(), name.get_va()) == ("chance", side)


def test_a_limit_is_a_line_without_markers_at_places_of_its_own(drawn):
    plots.show_lines(
        [1, 2], {"measured": [1, 2]}, "title", "step", "rate", limits={"the roof": ([1, 1.5, 2], [2, 3, 3])}
    )
    roof, measured = drawn[0].lines
    assert (list(roof.get_xdata()), roof.get_marker(), roof.get_label()) == ([1, 1.5, 2], "None", "the roof")
    assert measured.get_marker() == "o"


def test_the_name_of_a_dashed_line_stands_on_the_line_or_in_the_legend(drawn):
    plots.show_bars(["one", "two"], {"": [1, 2]}, "title", "loss", floor=("chance", 3), floor_on_line=True)
    plots.show_bars(["one", "two"], {"": [1, 2]}, "title", "loss", floor=("chance", 3))
    assert [[one.get_text() for one in axis.texts] for axis in drawn] == [["chance"], []]
    assert [axis.get_legend_handles_labels()[1] for axis in drawn] == [[], ["chance"]]


def test_one_series_of_bars_may_stand_on_another(drawn):
    plots.show_bars(["one"], {"whole": [5], "low": [2], "high": [3]}, "title", "share", on={"high": "low"})
    whole, low, high = drawn[0].patches
    assert (low.get_y(), high.get_y(), high.get_height()) == (0, 2, 3)
    assert (high.get_x(), high.get_width()) == (low.get_x(), low.get_width())
    assert whole.get_x() + whole.get_width() == pytest.approx(low.get_x())


def test_numbers_are_written_above_the_bars_if_asked_for(drawn):
    plots.show_bars(["one", "two"], {"": [1, 2.5]}, "title", "loss", written="%.1f")
    assert [one.get_text() for one in drawn[0].texts] == ["1.0", "2.5"]


def test_a_gap_between_bars_has_no_tick(drawn):
    plots.show_bars(["one", "", "two"], {"": [1, float("nan"), 2]}, "title", "loss")
    ticks = [(tick.get_loc(), tick.label1.get_text()) for tick in drawn[0].xaxis.get_major_ticks()]
    assert ticks == [(0, "one"), (2, "two")]


def test_the_parts_of_a_pile_bear_names_and_numbers_where_there_is_room(drawn):
    bars = {"low": [2, 3], "high": [0.1, 4]}
    plots.show_bars(["one", "two"], bars, "title", "bits", on={"high": "low"}, written="%.1f")
    assert [one.get_text() for one in drawn[0].texts] == ["low: 2.0", "low: 3.0", "", "high: 4.0"]
    assert drawn[0].get_legend() is None


def test_shares_stand_one_below_the_other_with_their_numbers(monkeypatch):
    axes = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: axes.extend([*figure.axes, alt]))
    plots.show_shares(["one", "two"], [0.25, 0.5], "title")
    axis, alt = axes
    assert [one.get_text() for one in axis.texts] == ["0.25", "0.50"]
    assert [bar.get_width() for bar in axis.patches] == [0.25, 0.5]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first stands at the top
    assert "one 0.25, two 0.50" in alt


def test_several_runs_are_a_bar_of_their_mean_with_a_dot_for_each(drawn):
    plots.show_bars(["one", "two"], {"": np.array([[1, 2], [3, 7]])}, "title", "loss")
    plots.show_bars(["one", "two"], {"": [1, 2]}, "title", "loss")
    assert [bar.get_height() for bar in drawn[0].patches] == [2, 4.5]
    dots = drawn[0].collections[0].get_offsets()
    assert [(round(x), y) for x, y in dots.tolist()] == [(0, 1), (1, 2), (0, 3), (1, 7)]
    assert len(drawn[1].collections) == 0


def test_several_runs_are_a_row_of_dots_with_a_line_at_their_mean(drawn):
    plots.show_dots({"one": [1, 4], "two": np.array([2.0, 7.0])}, "title", "loss", "as before")
    offsets = [dots.get_offsets().tolist() for dots in drawn[0].collections]
    assert [[(x, round(y)) for x, y in row] for row in offsets] == [[(1, 0), (4, 0)], [(2, 1), (7, 1)]]
    zero, *means = [line.get_xdata()[0] for line in drawn[0].lines]
    assert (zero, means) == (0, [2.5, 4.5])
    assert [text.get_text() for text in drawn[0].texts] == ["as before"]
    assert drawn[0].get_ylim()[0] > drawn[0].get_ylim()[1]  # the first stands at the top


def test_numbers_are_left_out_of_the_squares_on_request(monkeypatch):
    written = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: written.append(len(figure.axes[0].texts)))
    plots.show_matrix(np.eye(2), "title")
    plots.show_matrix(np.eye(2), "title", write=False)
    assert written == [4, 0]


def test_the_largest_weights_in_each_row_are_outlined_on_request(monkeypatch):
    frames = []
    monkeypatch.setattr(
        plots, "Picture", lambda figure, alt: frames.append([frame.get_xy() for frame in figure.axes[0].patches])
    )
    plots.show_weights([[0.9, 0.1], [0.7, 0.3]], "title")
    plots.show_weights([[0.9, 0.1], [0.7, 0.3]], "title", outline=True)
    plots.show_weights([[0.4, 0.2, 0.4]], "title", outline=True)
    assert frames == [[], [(-0.5, -0.5), (-0.5, 0.5)], [(-0.5, -0.5), (1.5, -0.5)]]


def test_a_chart_may_do_without_a_legend(monkeypatch):
    legends = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: legends.append(figure.axes[0].get_legend()))
    plots.show_lines([0, 1], {"loss": [2, 1]}, "title", "step", "loss", legend=None)
    plots.show_lines([0, 1], {"loss": [2, 1]}, "title", "step", "loss")
    assert legends[0] is None
    assert legends[1] is not None


@pytest.mark.parametrize(
    "draw",
    [
        lambda notes: plots.show_lines([0, 1], {"loss": [2, 1]}, "title", "step", "loss", notes=notes),
        lambda notes: plots.show_bars(["a", "b"], {"loss": [2, 1]}, "title", "loss", notes=notes),
        lambda notes: plots.show_weights(np.eye(2), "title", notes=notes),
        lambda notes: plots.show_matrix(np.eye(2), "title", notes=notes),
    ],
)
def test_a_note_points_at_the_place_that_matters(monkeypatch, draw):
    drawn = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: drawn.append(figure))
    draw([])
    draw([("look here", (1, 1), (0.5, 0.2))])
    without, with_note = ([text for text in figure.axes[0].texts if text.get_text() == "look here"] for figure in drawn)
    assert without == []
    assert [(text.xy, text.get_position()) for text in with_note] == [((1, 1), (0.5, 0.2))]


def test_small_maps_have_their_tokens_beside_and_below_on_request(monkeypatch):
    written = []
    monkeypatch.setattr(
        plots,
        "Picture",
        lambda figure, alt: written.append([(one.get_text(), *one.get_position()) for one in figure.axes[0].texts]),
    )
    weights = np.full((2, 2, 3), 1 / 3)  # (heads, query, key)
    plots.show_heads({"layer 0": weights}, "title", words={"layer 0": ("ab", "123")})
    plots.show_heads({"layer 0": weights}, "title")
    assert [word for word, *_ in written[0]] == 2 * ["a", "b", "1", "2", "3"]
    (_, a, high), (_, b, low), (_, one, below), (_, two, _), _ = written[0][:5]
    assert a == b < one < two < 1
    assert high < low < below < 1
    assert written[1] == []


def test_names_may_be_the_numbers_of_an_array(monkeypatch):
    axes = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: axes.append(figure.axes[0]))
    plots.show_weights(np.eye(2), "title", queries=np.array([3, 4]), keys=np.array([0.5, 10.0]))
    assert [label.get_text() for label in axes[0].get_xticklabels()] == ["0.5", "10.0"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["3", "4"]


@pytest.mark.parametrize(("apart", "angle"), [(1, 90), (20, 0)])
def test_names_below_a_map_are_upright_only_if_they_do_not_fit_side_by_side(monkeypatch, apart, angle):
    figures = []
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figures.append(figure))
    names = ["" if column % apart else "saw" for column in range(140)]
    plots.show_matrix(np.zeros((2, 140)), "title", columns=names)
    assert {label.get_rotation() for label in figures[0].axes[0].get_xticklabels()} == {angle}


def test_a_title_is_broken_into_lines_that_fit(monkeypatch):
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figure)
    figure = plots.show_arrows(np.eye(2), "Some of the words whose weights matter most come from somewhere else")
    figure.draw_without_rendering()
    title = next(text for text in figure.texts if text.get_text() == figure.get_suptitle())
    assert title.get_window_extent().x1 < figure.bbox.x1
    assert title.get_window_extent().y0 > figure.axes[0].bbox.y1


@pytest.mark.parametrize(("number", "written"), [(0.00001, "0.00001"), (0.5, "0.5"), (64, "64"), (2048, "2,048")])
def test_the_ticks_of_a_logarithmic_axis_are_written_in_full(drawn, number, written):
    plots.show_lines([number, 4 * number], {"loss": [1.5, 3000.0]}, "title", "step", "loss", log_x=True, log_y=True)
    assert drawn[0].get_xticklabels()[0].get_text() == written
    assert {label.get_text() for label in drawn[0].get_yticklabels()} >= {"10", "100", "1,000"}


def test_tokens_stand_in_boxes_as_long_as_they_are(monkeypatch):
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figure)
    axis = plots.show_tokens({"2 tokens": ["a", " cat"], "3 tokens": ["a ", "c", "at"]}, "title", "alt").axes[0]
    assert [text.get_text() for text in axis.texts] == ["a", "␣cat", "a␣", "c", "at"]
    assert [round(box.get_width() + 0.12) for box in axis.patches] == [1, 4, 2, 1, 2]
    assert len({box.get_facecolor() for box in axis.patches}) == 2
    assert [label.get_text() for label in axis.get_yticklabels()] == ["2 tokens", "3 tokens"]


def test_tokens_that_the_first_row_lacks_have_a_colour_of_their_own(monkeypatch):
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figure)
    rows = {"one cut": ["a", "␣", "cat"], "another": ["a", "␣c", "at"]}
    faces = [box.get_facecolor() for box in plots.show_tokens(rows, "title", "alt", compared=True).axes[0].patches]
    assert faces[3] == faces[0]
    assert faces[4] == faces[5] not in faces[:4]


def test_a_note_stands_below_the_tokens(monkeypatch):
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figure)
    note = ("a word", (3, 1), (3, 1.5))
    axis = plots.show_tokens({"2 tokens": ["a", " cat"]}, "title", "alt", notes=[note]).axes[0]
    assert (axis.texts[-1].get_text(), axis.texts[-1].xy) == ("a word", (3, 1))
    assert 1 < axis.texts[-1].xyann[1] < axis.get_ylim()[0]


def test_names_may_stand_beside_their_lines(monkeypatch):
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: figure)
    places = {"one": (0.5, 2), "other": (1, 3)}
    [axis] = plots.show_lines([0, 1], {"one": [1, 2], "other": [2, 3]}, "title", "x", "y", legend=places).axes
    assert {text.get_text(): text.get_position() for text in axis.texts} == places
    assert axis.get_legend() is None
    assert axis.texts[0].get_color() != axis.texts[1].get_color()


def test_the_name_of_a_shaded_part_stands_above_its_middle(drawn):
    plots.show_lines([0, 1, 2], {"accuracy": [1, 1, 0]}, "title", "position", "accuracy", shaded=(0.5, 1.5, "new"))
    [name], [grey] = drawn[0].texts, drawn[0].patches
    assert (name.get_text(), name.get_va(), name.xy) == ("new", "bottom", (1, 1))
    assert (grey.get_x(), grey.get_width()) == (0.5, 1)


def test_the_name_of_a_border_stands_to_its_right(drawn):
    plots.show_lines([0, 1, 2], {"accuracy": [1, 1, 0]}, "title", "position", "accuracy", border=(1.5, "new"))
    [name] = drawn[0].texts
    assert (name.get_text(), name.get_ha(), name.xy) == ("new →", "left", (1.5, 1))
    assert list(drawn[0].lines[-1].get_xdata()) == [1.5, 1.5]
