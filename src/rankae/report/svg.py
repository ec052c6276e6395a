"""Plots as self-contained SVG: lines with bands, scattered points, bars.

Colours are Okabe and Ito's, which colour-blind readers can tell apart (brown stands for their yellow,
which is faint on white); marks and dashes differ as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B6914")
DASHES = ("", "7 3", "2 3", "9 3 2 3")
WIDTH, PANEL_HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 40, 52
_STRIPES = (
    '<defs><pattern id="stripes" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="2" height="5" fill="white"/></pattern></defs>'
)
GREY, INK = "#d8d8d8", "#222222"


@dataclass(frozen=True)
class Line:
    """A named series of points; `low` and `high` are the ends of its error bars or of its band."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: int = 0


def line_chart(
    lines: Sequence[Line], title: str, x_label: str, y_label: str, x_percent: bool = False, logarithmic: bool = False
) -> str:
    """Curves with error bands, and a legend beneath; if logarithmic, both axes run by powers of ten."""
    panel = _Panel(
        lines, title, x_label, y_label, log_x=logarithmic, log_y=logarithmic, x_percent=x_percent, from_marks=True
    )
    parts = []
    for line in lines:
        if line.low is not None and line.high is not None and len(line.x) > 1:
            upper = [panel.at(x, y) for x, y in zip(line.x, line.high, strict=True)]
            lower = [panel.at(x, y) for x, y in zip(line.x, line.low, strict=True)]
            parts.append(f'<polygon points="{_points([*upper, *lower[::-1]])}" fill="{_colour(line)}" opacity="0.15"/>')
    for line in lines:
        path = [panel.at(x, y) for x, y in zip(line.x, line.y, strict=True)]
        parts.append(
            f'<polyline points="{_points(path)}" fill="none" stroke="{_colour(line)}" stroke-width="2"'
            f' stroke-dasharray="{_dash(line)}"/>'
        )
        parts += [_mark(line.style, x, y, f"{line.name}: {v:.2f}") for (x, y), v in zip(path, line.y, strict=True)]
    return panel.finished(parts, lines)


def scatter_chart(points: Sequence[Line], title: str, x_label: str, y_label: str) -> str:
    """One mark for each series (its first point), named beside it; x runs by powers of ten."""
    panel = _Panel(points, title, x_label, y_label, log_x=True)
    places = [panel.at(point.x[0], point.y[0]) for point in points]
    parts, occupied = [], [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    for point in sorted(points, key=lambda p: -p.y[0]):
        x, y = panel.at(point.x[0], point.y[0])
        parts.append(_mark(point.style, x, y, f"{point.name}: {point.y[0]:.2f} after {point.x[0]:.3g} s"))
        place, anchor = _free_place(x, y, 6.2 * len(point.name), occupied)
        occupied.append(place)
        text_x = place[0] if anchor == "start" else place[2]
        parts.append(_text(text_x, place[3] - 3, point.name, size=11, anchor=anchor))
    return panel.finished(parts, [])


def bar_chart(groups: Sequence[str], bars: Sequence[Line], title: str, y_label: str, from_zero: bool = True) -> str:
    """Groups of bars: `bars[i].y[g]` is the height of bar i in group g; NaN leaves it out."""
    panel = _Panel(bars, title, "", y_label, groups=groups, from_zero=from_zero)
    parts = []
    slot = panel.inner / max(1, len(groups))
    width = 0.8 * slot / max(1, len(bars))
    for i, bar in enumerate(bars):
        for g, value in enumerate(bar.y):
            if math.isnan(value):
                continue
            x = LEFT + g * slot + 0.1 * slot + i * width
            _, y = panel.at(0, value)
            _, base = panel.at(0, max(panel.y_low, 0.0) if from_zero else panel.y_low)
            hint = f"{bar.name}, {groups[g]}: {value:.2f}"
            parts.append(_box(bar, x, min(y, base), 0.92 * width, abs(base - y), hint))
            if bar.low is not None and bar.high is not None and bar.high[g] > bar.low[g]:
                middle = x + 0.46 * width
                (_, top), (_, bottom) = panel.at(0, bar.high[g]), panel.at(0, bar.low[g])
                parts.append(_stroke(middle, top, middle, bottom, INK))
    return panel.finished(parts, bars)


def stacked(pictures: Sequence[str]) -> str:
    """Several pictures of this module in one, each below the last."""
    out, top = [], 0
    for picture in pictures:
        out.append(picture.replace("<svg ", f'<svg y="{top}" ', 1))
        top += int(picture.partition(' height="')[2].partition('"')[0])
    frame = f'viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame} role="img">{"".join(out)}</svg>'


class _Panel:
    """Axes, ticks, title and legend; `at` maps values to coordinates."""

    def __init__(
        self,
        lines: Sequence[Line],
        title: str,
        x_label: str,
        y_label: str,
        *,
        log_x: bool = False,
        log_y: bool = False,
        x_percent: bool = False,
        from_marks: bool = False,
        groups: Sequence[str] | None = None,
        from_zero: bool = False,
    ) -> None:
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.log_x, self.log_y, self.x_percent, self.groups = log_x, log_y, x_percent, groups
        self.inner, self.depth = WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM
        ys = [y for line in lines for part in (line.y, line.low or [], line.high or []) for y in part]
        ys = [y for y in ys if not math.isnan(y)] or [0.0]
        low, high = (min(0.0, *ys), max(0.0, *ys)) if from_zero else (min(ys), max(ys))
        gap = 0.06 * (high - low) or 1.0
        # An axis without values beyond 0 ends at 0.
        low = low - gap if low < 0 else max(0.0, low - gap)
        high = high + gap if high > 0 else min(0.0, high + gap)
        if log_y:
            self.y_low, self.y_high = _log(min(ys)) - 0.15, _log(max(ys)) + 0.15
            self.y_ticks = _log_ticks(self.y_low, self.y_high)
        else:
            self.y_ticks = _ticks(low, high)
            self.y_low, self.y_high = self.y_ticks[0], self.y_ticks[-1]
        xs = [x for line in lines for x in line.x] or [0.0, 1.0]
        if log_x:
            self.x_low, self.x_high = _log(min(xs)) - 0.15, _log(max(xs)) + 0.5
            self.x_ticks = _log_ticks(self.x_low, self.x_high)
        else:
            marks = sorted(set(xs))
            self.x_ticks = marks if from_marks and _legible(marks, self.inner) else _ticks(marks[0], marks[-1])
            self.x_low, self.x_high = min(self.x_ticks[0], *xs), max(self.x_ticks[-1], *xs)
            if self.x_low == self.x_high:
                self.x_low, self.x_high = self.x_low - 0.5, self.x_high + 0.5

    def at(self, x: float, y: float) -> tuple[float, float]:
        across_by, up_by = _log(x) if self.log_x else x, _log(y) if self.log_y else y
        across = (across_by - self.x_low) / (self.x_high - self.x_low)
        up = (up_by - self.y_low) / (self.y_high - self.y_low)
        return LEFT + across * self.inner, TOP + (1 - up) * self.depth

    def finished(self, parts: list[str], legend: Sequence[Line]) -> str:
        """The whole picture: grid behind, marks before, words around."""
        rows = _legend_rows(legend)
        height = PANEL_HEIGHT + 18 * len(rows)
        bottom = TOP + self.depth
        out = [_text(LEFT, 22, self.title, size=14, weight="bold")]
        for tick in self.y_ticks:
            _, y = self.at(1.0, tick)
            out += [_stroke(LEFT, y, LEFT + self.inner, y, GREY), _text(LEFT - 8, y + 4, _number(tick), anchor="end")]
        if self.groups is None:
            for tick in self.x_ticks:
                x, _ = self.at(tick, 1.0)
                shown = f"{100 * tick:g} %" if self.x_percent else _number(tick)
                out += [_stroke(x, bottom, x, bottom + 5, INK), _text(x, bottom + 18, shown, anchor="middle")]
        else:
            slot = self.inner / max(1, len(self.groups))
            out += [
                _text(LEFT + (g + 0.5) * slot, bottom + 18, name, anchor="middle") for g, name in enumerate(self.groups)
            ]
        ground: float = bottom
        if self.y_low < 0 < self.y_high and not self.log_y:
            _, ground = self.at(1.0, 0.0)
        out.append(_stroke(LEFT, ground, LEFT + self.inner, ground, INK))
        out.append(_text(LEFT + self.inner / 2, bottom + 38, self.x_label, anchor="middle"))
        out.append(
            f'<g transform="translate(16 {TOP + self.depth / 2:.1f}) rotate(-90)">'
            f"{_text(0, 0, self.y_label, anchor='middle')}</g>"
        )
        for r, row in enumerate(rows):
            for x, line in row:
                y = PANEL_HEIGHT + 18 * r
                dash = "" if self.groups is not None else _dash(line)
                colour = _colour(line)
                if self.groups is None:
                    out.append(
                        f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" stroke="{colour}" stroke-width="2"'
                        f' stroke-dasharray="{dash}"/>'
                    )
                    out.append(_mark(line.style, x + 12, y, line.name))
                else:
                    out.append(_box(line, x + 6, y - 6, 12, 12, line.name))
                out.append(_text(x + 30, y + 4, line.name))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            f' role="img" aria-label="{escape(self.title)}" font-family="system-ui, sans-serif">'
            f'{_STRIPES}<rect width="{WIDTH}" height="{height}" fill="white"/>{"".join([*out, *parts])}</svg>'
        )


def _legend_rows(legend: Sequence[Line]) -> list[list[tuple[float, Line]]]:
    rows: list[list[tuple[float, Line]]] = []
    x = float(WIDTH)
    for line in legend:
        wide = 46 + 7.2 * len(line.name)
        if x + wide > WIDTH - RIGHT:
            rows.append([])
            x = float(LEFT)
        rows[-1].append((x, line))
        x += wide
    return rows


Box = tuple[float, float, float, float]


def _free_place(x: float, y: float, width: float, occupied: Sequence[Box]) -> tuple[Box, str]:
    """A box beside a mark that covers no other name or mark: right, else left, else further and further away."""
    for down in (0, 13, -13, 26, -26, 39, -39, 52):
        for side in ("start", "end"):
            left = x + 9 if side == "start" else x - 9 - width
            box = (left, y - 8 + down, left + width, y + 6 + down)
            inside = left > LEFT - 10 and left + width < WIDTH
            if inside and not any(_overlap(box, other) for other in occupied):
                return box, side
    return (x + 9, y - 8, x + 9 + width, y + 6), "start"


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _legible(marks: Sequence[float], width: float) -> bool:
    """Whether the numbers of so many ticks fit beside each other."""
    unit = width / ((marks[-1] - marks[0]) or 1)
    halves = [3.3 * len(_number(mark)) + 3 for mark in marks]
    gaps = zip(pairwise(marks), pairwise(halves), strict=True)
    return all(unit * (right - left) >= sum(needed) for (left, right), needed in gaps)


def _ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers that enclose the range."""
    if high <= low:
        high = low + 1
    rough = (high - low) / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(step for step in (power, 2 * power, 2.5 * power, 5 * power, 10 * power) if step >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _log(value: float) -> float:
    return math.log10(max(value, 1e-3))


def _log_ticks(low: float, high: float) -> list[float]:
    digits = (1,) if high - low > 3 else (1, 2, 5)
    candidates = [d * 10.0**p for p in range(math.floor(low), math.ceil(high) + 1) for d in digits]
    return [tick for tick in candidates if low <= math.log10(tick) <= high]


def _colour(line: Line) -> str:
    return COLOURS[line.style % len(COLOURS)]


def _dash(line: Line) -> str:
    return DASHES[(line.style // len(COLOURS)) % len(DASHES)]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _box(line: Line, x: float, y: float, width: float, height: float, hint: str) -> str:
    """A bar; striped if its colour is used a second time."""
    frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    plain = f'{frame} fill="{_colour(line)}"><title>{escape(hint)}</title></rect>'
    return plain if line.style < len(COLOURS) else f'{plain}{frame} fill="url(#stripes)" pointer-events="none"/>'


def _number(value: float) -> str:
    """A short form: 500, 20k, 1M."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if abs(value) >= 1e4 else f"{value:g}"


def _text(x: float, y: float, text: str, size: int = 12, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}"'
        f' fill="{INK}">{escape(text)}</text>'
    )


_PLUS = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1)]
_SHAPES: tuple[Callable[[float, float], str], ...] = (
    lambda x, y: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"',
    lambda x, y: f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"',
    lambda x, y: f'<polygon points="{_points([(x, y - 5.5), (x + 5, y + 4), (x - 5, y + 4)])}"',
    lambda x, y: f'<polygon points="{_points([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)])}"',
    lambda x, y: f'<polygon points="{_points([(x, y + 5.5), (x + 5, y - 4), (x - 5, y - 4)])}"',
    lambda x, y: f'<polygon points="{_points([(x + 2.2 * i, y + 2.2 * j) for i, j in _PLUS])}"',
)


def _mark(style: int, x: float, y: float, hint: str) -> str:
    shape = _SHAPES[style % len(_SHAPES)](x, y)
    return f'{shape} fill="{COLOURS[style % len(COLOURS)]}" stroke="white"><title>{escape(hint)}</title></' + (
        shape[1:].partition(" ")[0] + ">"
    )
