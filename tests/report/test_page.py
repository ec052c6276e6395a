"""Pages in a real browser: tables sort, labels are picked, a document's markup stays text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rankae.explain.documents import TextDocument
from rankae.explain.explanation import Explanation
from rankae.explain.show import html_explanation
from rankae.report.grids import Grid
from rankae.report.page import html_page, html_table

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to look at pages with")


def after(page: str, deeds: str, folder: Path) -> str:
    """The page's body as it stands after the JavaScript `deeds`."""
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"<script>{deeds}</script></body>"))
    command = [str(BROWSER), *QUIET, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return shown.partition("<body>")[2]


def test_a_click_sorts_numbers_as_numbers_and_dashes_last(tmp_path: Path) -> None:
    lines = [["a", "9.5"], ["b", "-"], ["c", "1,000.0"], ["d", "20.1 †"]]
    page = html_page("Costs", [html_table(Grid("Costs", ["method", "training, s"], lines, set(), names=1))])
    orders = []
    for clicks in (1, 2):
        body = after(page, 'document.querySelectorAll("th button")[1].click();' * clicks, tmp_path)
        orders.append("".join(re.findall(r'<td class="name">(.)</td>', body)))
    assert orders == ["cdab", "adcb"]


def test_picking_a_label_shows_its_words(tmp_path: Path) -> None:
    document = TextDocument.read("good bad <b id=evil>plain</b>")
    weights = np.zeros((len(document.words), 2))
    weights[[0, 1], 0] = 2.0, -1.0
    weights[1, 1] = 0.5
    found = Explanation(document, np.array([3, 5]), ["first", "second"], np.array([1.0, 0.5]), weights, "removal")
    body = after(html_explanation(found, "Why?"), 'document.querySelectorAll("#labels button")[1].click();', tmp_path)
    assert re.findall(r'aria-checked="(\w+)"', body) == ["false", "true"]
    table = re.search(r'id="strongest">(.*?)</tbody>', body, re.S)
    assert table is not None
    assert re.findall(r"<tr><td>(\w+)</td><td>([\d.-]+)</td>", table[1]) == [("bad", "0.5000")]
    coloured = re.findall(r'<span data-word="(\d)"[^>]*background: rgba', body)
    assert coloured == ["1"]
    assert "<b id" not in body
