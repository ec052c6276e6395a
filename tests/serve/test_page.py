"""The desk page in a real browser: what a person does there, and that nothing they read can run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 180_000  # milliseconds: on a machine that does much else a page may take its time
TEXT = "apple and pear from the orchard, a bottle of wine beside the bench"
MARKUP = "apple <img src=x onerror=\"document.title='run'\"> <script>document.title='run'</script> plum"
_CONTRAST = """() => {
  const parse = (c) => { const [r, g, b, a = 1] = c.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => a * v + (1 - a) * below[i]);
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ground = (node) => parse(getComputedStyle(node).backgroundColor);
  const behind = (node) => node ? over(ground(node), behind(node.parentElement)) : [255, 255, 255];
  const opacity = (node) => node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1;
  const bad = [];
  for (const node of document.querySelectorAll("body *")) {
    const text = [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
    const own = text || node.matches("[aria-pressed]");
    if (!own || !node.checkVisibility() || node.closest(":disabled, .unseen, .skip")) continue;
    const [red, green, blue, alpha] = parse(getComputedStyle(node).color), below = behind(node);
    const seen = over([red, green, blue, alpha * opacity(node)], below);
    const [a, b] = [light(seen), light(below)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    const name = `${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 30)}`;
    if (ratio < 4.5) bad.push(`${name} ${ratio.toFixed(2)}`);
  }
  return bad;
}"""

_LEFT_OF_TEXT = """(place) => {
  const range = document.createRange();
  range.selectNodeContents(place);
  return range.getBoundingClientRect().left - place.getBoundingClientRect().left;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, start: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the desk of a fresh service; whatever the page complains of fails the test."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1200, "height": 800}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)

    def run(**settings: Any) -> Any:
        service = start(desk=str(tmp_path / "desk"), **settings)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
        page.on("request", lambda asked: complaints.append(asked.url) if _is_foreign(asked.url) else None)
        page.service = service
        page.goto(service.address)
        page.wait_for_selector("#model option", state="attached")
        page.fill("#by", "Ada")
        return page

    yield run
    context.close()
    assert not complaints


def _is_complaint(said: Any) -> bool:
    return said.type == "error" and not said.text.startswith("Failed to load resource")


def _is_foreign(address: str) -> bool:
    return not address.startswith(("http://127.0.0.1", "data:", "blob:"))


def suggest(page: Any, text: str = TEXT) -> None:
    page.fill("#text", text)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".why")


def saved(page: Any) -> None:
    page.wait_for_selector(".saved >> text=/^Saved/")


def verdicts(page: Any) -> dict[str, str]:
    rows = page.query_selector_all(".tag")
    return {row.get_attribute("data-label"): row.get_attribute("data-verdict") for row in rows}


def decisions(page: Any, text: str = TEXT) -> list[dict[str, Any]]:
    return page.service.client.post("/v1/desk/decisions", json={"text": text}).json()["decisions"]


def test_accept_reject_add_undo_and_reload(open_page):
    page = open_page()
    suggest(page)
    assert set(verdicts(page).values()) == {""}  # nothing is decided beforehand
    page.click("[aria-label='Accept fruit']")
    page.click("[aria-label='Reject tool']")
    page.click("[aria-label='Reject drink']")
    page.click("text=Undo")
    page.fill("[role=combobox]", "a new thing")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("Enter")
    saved(page)
    expected = {"fruit": "accepted", "tool": "rejected", "drink": "", "a new thing": "accepted"}
    assert {label: said for label, said in verdicts(page).items() if label in expected} == expected
    page.reload()
    page.wait_for_selector(".why")
    assert {label: said for label, said in verdicts(page).items() if label in expected} == expected
    last = decisions(page)[-1]
    assert (last["accepted"], last["rejected"], last["added"]) == (["fruit"], ["tool"], ["a new thing"])
    assert (last["by"], last["done"]) == ("Ada", False)
    assert {one["label"] for one in last["shown"]} >= {"fruit", "drink", "tool"}


def test_the_keyboard_is_enough(open_page):
    page = open_page()
    page.focus("#text")
    page.keyboard.type(TEXT)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".why")
    first, second = list(verdicts(page))[:2]
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    page.keyboard.press("/")
    page.keyboard.type("mark")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    saved(page)
    page.keyboard.press("n")
    page.wait_for_selector(".result", state="hidden")
    last = decisions(page)[-1]
    assert last["done"]
    assert last["rejected"] == [second]
    assert set(last["accepted"]) == {first, "<b>markup</b>"}


def test_a_tag_shows_its_words_and_a_word_its_tags(open_page):
    page = open_page()
    suggest(page)
    page.hover(".tag[data-label=fruit]")
    assert page.text_content(".document .rises") in ("apple", "pear", "orchard")
    page.hover(".document span >> text=wine")
    assert "drink" in [row.get_attribute("data-label") for row in page.query_selector_all(".tag.for")]
    page.focus(".document")
    page.keyboard.press("ArrowRight")  # the same without a mouse
    assert page.text_content(".document .reached") == "apple"
    assert "fruit" in [row.get_attribute("data-label") for row in page.query_selector_all(".tag.for")]


def test_markup_is_shown_and_never_run(open_page):
    page = open_page()
    suggest(page, MARKUP)
    assert page.text_content(".document") == MARKUP
    assert "<b>markup</b>" in page.text_content(".tags")
    page.fill("[role=combobox]", "<img src=x onerror=alert(1)>")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("Enter")
    saved(page)
    assert page.query_selector("img[src=x], .tag b, .document script") is None
    assert page.title() == "rankae desk"


def test_a_file_is_worked_through(open_page, tmp_path):
    page = open_page()
    lines = [{"id": i, "text": text} for i, text in enumerate(["apple pear", "wine beer", MARKUP])]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page.set_input_files("#file-texts", str(file))
    page.wait_for_selector("text=text 1 of 3")
    for done in range(1, 4):
        page.wait_for_selector(".why")
        page.keyboard.press("a")
        page.keyboard.press("n")
        if done < 3:
            page.wait_for_selector(f"text=text {done + 1} of 3")
    page.wait_for_selector("text=All texts of this file are done")
    page.keyboard.press("p")
    page.wait_for_selector("text=text 2 of 3")
    with page.expect_download() as download:
        page.click("#view-tag >> text=Export JSONL")
    exported = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert {line["text"] for line in exported} == {line["text"] for line in lines}
    assert all(line["labels"] and line["by"] == "Ada" and "id" in line for line in exported)


def test_flags_of_an_audit_are_reviewed(open_page, tmp_path):
    page = open_page()
    flags = [
        {
            "row": 3,
            "id": "x",
            "label": "fruit",
            "kind": "missing",
            "probability": 0.9,
            "words": ["apple"],
            "text": "an apple",
        },
        {
            "row": 3,
            "id": "x",
            "label": "<i>tool</i>",
            "kind": "wrong",
            "probability": 0.7,
            "words": [],
            "text": "an apple",
        },
        {
            "row": 5,
            "id": "y",
            "label": "drink",
            "kind": "missing",
            "probability": 0.6,
            "words": ["wine"],
            "text": "wine",
        },
    ]
    file = tmp_path / "flags.jsonl"
    file.write_text("".join(json.dumps(flag) + "\n" for flag in flags))
    page.click("#tab-review")
    page.set_input_files("#file-flags", str(file))
    page.wait_for_selector("text=Is fruit missing here?")
    assert page.text_content("#view-review .document .rises") == "apple"
    page.keyboard.press("a")
    page.wait_for_selector("text=flag 2 of 3")
    assert "<i>tool</i>" in page.text_content(".question")
    page.keyboard.press("a")
    page.wait_for_selector("text=flag 3 of 3")
    page.keyboard.press("u")  # the second one again
    page.wait_for_selector("text=flag 2 of 3")
    page.keyboard.press("r")
    page.wait_for_selector("text=flag 3 of 3")
    page.keyboard.press("r")
    page.wait_for_selector("text=All flags of this file are done")
    exported = page.service.client.get("/v1/desk/export?kind=flags").text.splitlines()
    assert {(one["label"], one["decision"]) for one in map(json.loads, exported)} == {
        ("fruit", "accept"), ("<i>tool</i>", "reject"), ("drink", "reject"),
    }  # fmt: skip
    assert page.service.client.get("/v1/desk/export").text == ""  # a flag is no verdict on a text


def test_the_quality_tab_shows_the_models_card(open_page):
    page = open_page()
    page.keyboard.press("Escape")
    page.click("#tab-quality")
    page.wait_for_selector("#view-quality svg .dot")
    text = page.text_content("#view-quality")
    assert "P@1" in text
    assert "<b>markup</b>" in text


def test_a_service_without_connection_loses_nothing(open_page):
    page = open_page()
    suggest(page)
    page.route("**/feedback", lambda route: route.abort())
    page.click("[aria-label='Accept fruit']")
    page.wait_for_selector("text=Decisions are kept in this browser")
    page.unroute("**/feedback")
    saved(page)
    assert decisions(page)[-1]["accepted"] == ["fruit"]


def test_decisions_that_were_not_sent_are_sent_by_the_next_visit(open_page):
    page = open_page()
    suggest(page)
    page.route("**/feedback", lambda route: route.abort())
    page.click("[aria-label='Accept fruit']")
    page.wait_for_selector("text=Decisions are kept in this browser")
    again = page.context.new_page()  # the first tab is closed before it has sent anything
    page.close()
    again.goto(page.service.address)
    again.wait_for_selector(".saved >> text=/^Saved/")
    assert [one["accepted"] for one in decisions(page)] == [["fruit"]]
    assert again.evaluate("Object.keys(localStorage).filter((key) => key.includes('waiting')).length") == 0


def test_a_table_whose_text_stands_elsewhere_asks_for_its_column(open_page, tmp_path):
    page = open_page()
    file = tmp_path / "table.csv"
    file.write_text('number,"<b>words</b>"\n1,apple pear\n2,a hammer\n')
    page.set_input_files("#file-texts", str(file))
    assert page.input_value("#column") == "<b>words</b>"  # the longest cells are probably the texts
    assert "apple pear" in page.text_content(".sample")
    page.click("dialog >> text=Open")
    page.wait_for_selector("text=text 1 of 2")
    assert page.text_content("#view-tag .document") == "apple pear"


def test_more_tags_are_shown_when_asked_for(open_page):
    page = open_page()
    page.route(
        "**/suggest", lambda route: route.continue_(post_data=route.request.post_data.replace('"k":10', '"k":2'))
    )
    suggest(page)
    assert len(verdicts(page)) == 2
    page.click("[aria-label='Accept fruit']")
    page.evaluate("document.querySelector('.scrolled > button').hidden = false")
    page.click("text=More tags")
    page.wait_for_selector(".tag[data-label=tool]")
    assert verdicts(page)["fruit"] == "accepted"


def test_the_token_is_asked_for(open_page, browser, start, tmp_path):
    service = start(token="a-token-of-good-length")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(service.address)
    page.fill("#token", "wrong")
    page.click("text=Go on")
    page.wait_for_selector("text=That was not the right one")
    page.fill("#token", "a-token-of-good-length")
    page.click("text=Go on")
    page.wait_for_selector("#model option", state="attached")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_readable_in_every_light_and_on_a_phone(open_page, scheme, width):
    page = open_page()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 740})
    suggest(page)
    page.click("[aria-label='Accept fruit']")
    page.click("[aria-label='Reject tool']")
    for label in ("fruit", "tool"):  # a pressed button stays readable under the pointer that has pressed it
        page.hover(f".tag[data-label={label}] [aria-pressed=true]")
        assert (
            page.evaluate(_CONTRAST.replace("const own =", "const own = node.matches('[aria-pressed=true]') ||")) == []
        )
    page.mouse.move(0, 0)
    page.focus(".tag[data-label=drink]")  # its words are coloured
    assert page.query_selector(".document .rises")
    assert page.evaluate(_CONTRAST) == []
    for tab in ("tag", "review", "quality"):
        page.click(f"#tab-{tab}")
        if tab == "quality":
            page.wait_for_selector("table")
        assert page.evaluate(_CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    unlabelled = (
        "(e) => e.checkVisibility() && !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())"
    )
    controls = page.query_selector_all("button, input, select, textarea")
    assert not [node.evaluate("(e) => e.outerHTML") for node in controls if node.evaluate(unlabelled)]


def test_a_text_of_unknown_words_is_said_to_be_one(open_page):
    page = open_page()
    page.fill("#text", "\u05e9\u05dc\u05d5\u05dd \U0001f600")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=The model knows no word of this text")
    assert page.eval_on_selector(".document", _LEFT_OF_TEXT) > 100  # it runs from right to left


def test_what_others_have_decided_takes_little_room(open_page):
    page = open_page()
    added = [f"label {i} of somebody" for i in range(200)]
    page.service.client.post("/v1/models/shop/feedback", json={"text": TEXT, "by": "Bob", "added": added})
    suggest(page)
    assert page.text_content(".others").endswith("and 192 more")
    assert "Bob" in page.text_content(".others")


def test_without_probabilities_no_bar_is_drawn(open_page, uncalibrated_folder):
    page = open_page(models={"plain": str(uncalibrated_folder)})
    suggest(page)
    assert verdicts(page)
    assert page.query_selector(".tag .bar") is None


def test_keys_decide_nothing_that_was_not_seen(open_page, tmp_path):
    page = open_page()
    flags = [{"row": i, "label": "fruit", "kind": "missing", "probability": 0.9, "text": f"apple {i}"} for i in (1, 2)]
    file = tmp_path / "flags.jsonl"
    file.write_text("".join(json.dumps(flag) + "\n" for flag in flags))
    page.click("#tab-review")
    page.set_input_files("#file-flags", str(file))
    page.wait_for_selector("text=flag 1 of 2")
    held = []
    page.route("**/feedback", lambda route: held.append(route))
    page.keyboard.press("a")
    page.keyboard.press("r")  # before the next flag is there
    page.wait_for_timeout(100)
    for route in held:
        route.continue_()
    page.unroute("**/feedback")
    page.wait_for_selector("text=flag 2 of 2")
    said = [(one["about"]["flag"]["row"], one["accepted"]) for one in decisions(page, "apple 1")]
    assert said == [(1, ["fruit"])]
    assert decisions(page, "apple 2") == []


def test_the_focused_tag_keeps_its_colours_when_the_pointer_leaves(open_page):
    page = open_page()
    suggest(page)
    page.focus(".tag[data-label=fruit]")
    page.hover(".tag[data-label=tool]")
    assert page.text_content(".document .rises") == "bench"
    page.mouse.move(0, 0)
    assert page.text_content(".document .rises") in ("apple", "pear", "orchard")
