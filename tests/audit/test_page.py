"""The page of an audit in a real browser: what a filter hides is hidden, on a phone as well."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from rankae.audit.flags import Flags
from rankae.audit.noise_rates import NoiseModel, Rate
from rankae.audit.page import audit_page
from rankae.audit.report import AuditReport, Flag

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


def report() -> AuditReport:
    flags = [
        Flag(i, f"row {i}", label, kind, 0.9 - i / 10, 0.5, ["plum"], [], ["bread"], f"a text of {label} with a plum")
        for i, (label, kind) in enumerate([("apple", "missing"), ("apple", "wrong"), ("bread", "wrong")])
    ]
    noise, none = NoiseModel(Rate(0.1, 0, 1), Rate(0.1, 0, 1), Rate(0.01, 0, 1)), np.empty(0)
    ranked = {kind: Flags(kind, none, none, none, none) for kind in ("missing", "wrong")}
    return AuditReport("fruit", 3, 2, 3, noise, ["apple", "bread"], {}, flags, [], [], [], ranked)


@pytest.mark.parametrize("width", [1280, 390])
def test_filters_hide_the_rest(tmp_path, width):
    path = tmp_path / "page.html"
    path.write_text(audit_page(report()))
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        rows = page.locator("table.flags tbody tr")
        assert rows.evaluate_all("all => all.filter(row => row.checkVisibility()).length") == 3
        page.fill("input[name=label]", "apple")
        page.select_option("select[name=kind]", "wrong")
        assert rows.evaluate_all("all => all.filter(row => row.checkVisibility()).map(row => row.dataset.kind)") == [
            "wrong"
        ]
        assert page.locator("#shown").text_content() == "1 of 3"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
