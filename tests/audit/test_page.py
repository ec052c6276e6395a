"""The page of an audit in a real browser: what a filter hides is hidden, on a phone as well."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from rankae.audit.flags import Flags
from rankae.audit.formats import read_decisions
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


def test_decisions_outlive_the_page_and_are_saved_for_apply(tmp_path):
    path, decisions = tmp_path / "page.html", tmp_path / "decisions.jsonl"
    path.write_text(audit_page(report()))
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(path.as_uri())
        assert page.locator("#save").is_disabled()
        page.locator("tbody tr").nth(0).locator("button.accept").click()
        page.locator("tbody tr").nth(1).focus()
        page.keyboard.press("r")  # goes on to the third row, where a second thought takes back the first
        page.keyboard.press("a")
        page.locator("tbody tr").nth(2).locator("button.accept").click()
        page.reload()
        assert page.locator("#save").text_content() == "Save 2 decisions"
        page.select_option("select[name=decided]", "undecided")
        assert page.locator("#shown").text_content() == "1 of 3"
        with page.expect_download() as saved:
            page.locator("#save").click()
        saved.value.save_as(decisions)
        browser.close()
    read = [(d.row, d.id, d.label, d.kind, d.accept) for d in read_decisions(decisions)]
    assert read == [(0, "row 0", "apple", "missing", True), (1, "row 1", "apple", "wrong", False)]
