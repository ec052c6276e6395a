"""Pictures are checked for what can be read in them; that they look well was seen by eye."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rankae.report.svg import COLOURS, Line, bar_chart, line_chart, scatter_chart, stacked

SVG = "{http://www.w3.org/2000/svg}"


def test_names_from_data_cannot_break_the_picture() -> None:
    name = '<script>alert("1")</script> & co'
    for picture in (
        line_chart([Line(name, [0, 1], [1, 2])], name, "x", "y"),
        scatter_chart([Line(name, [3], [4])], name, "x", "y"),
        bar_chart([name], [Line(name, [], [5])], name, "y"),
    ):
        tree = ElementTree.fromstring(picture)
        assert tree.find(f".//{SVG}script") is None
        assert name in list(tree.itertext())


@pytest.mark.parametrize("value", [0.0, -3.0, 1e-9, 12345.0])
def test_one_value_has_axes_too(value: float) -> None:
    ElementTree.fromstring(line_chart([Line("a", [0.5], [value], [value], [value])], "t", "x", "y"))
    ElementTree.fromstring(bar_chart(["g"], [Line("a", [], [value])], "t", "y"))
    ElementTree.fromstring(scatter_chart([Line("a", [0.0], [value])], "t", "x", "y"))


def test_marks_lie_inside_and_higher_scores_higher() -> None:
    picture = line_chart([Line("a", [0, 0.5, 1], [10, 40, 70])], "t", "x", "y")
    (path,) = ElementTree.fromstring(picture).findall(f".//{SVG}polyline")
    points = [tuple(map(float, p.split(","))) for p in path.attrib["points"].split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    assert all(0 < x <= 640 and 0 < y < 340 for x, y in points)


def test_missing_bars_are_left_out_and_repeated_colours_are_striped() -> None:
    bars = [Line(f"m{i}", [], [float("nan") if i == 0 else 1.0], style=i) for i in range(len(COLOURS) + 1)]
    picture = bar_chart(["g"], bars, "t", "y")
    assert "m0, g" not in picture
    assert picture.count("url(#stripes)") == 2  # the bar and its legend


def test_names_of_scattered_marks_do_not_cover_each_other() -> None:
    picture = scatter_chart([Line(f"method {i}", [10.0], [50 + 0.01 * i], style=i) for i in range(5)], "t", "x", "y")
    names = [t for t in ElementTree.fromstring(picture).findall(f".//{SVG}text") if (t.text or "").startswith("method")]
    places = {(t.attrib["text-anchor"], t.attrib["y"]) for t in names}
    assert len(places) == 5


def test_equal_factors_are_equal_steps_on_logarithmic_axes() -> None:
    tree = ElementTree.fromstring(
        line_chart([Line("a", [10, 100, 1000], [0.5, 5, 50])], "t", "x", "y", logarithmic=True)
    )
    points = tree.find(f".//{SVG}polyline").get("points").split()
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in points)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert x0 < x1
    assert y0 > y1


def test_stacked_pictures_do_not_overlap() -> None:
    plots = [line_chart([Line("a", [0, 1], [1, 2])], name, "x", "y") for name in ("first", "second")]
    tree = ElementTree.fromstring(stacked(plots))
    first, second = tree.findall(f"{SVG}svg")
    assert int(second.get("y")) == int(first.get("y")) + int(first.get("height"))
    assert int(tree.get("height")) == 2 * int(first.get("height"))
    assert {"first", "second"} <= set(tree.itertext())


def test_ticks_do_not_cover_each_other() -> None:
    close = [0.0, 0.388084, 0.454734, 0.55057, 1.0]
    words = list(ElementTree.fromstring(line_chart([Line("a", close, close)], "t", "x", "y")).itertext())
    assert "0.388084" not in words
    assert "0.4" in words
    assert "0.25" in list(
        ElementTree.fromstring(line_chart([Line("a", [0, 0.25, 1], [1, 2, 3])], "", "", "")).itertext()
    )
