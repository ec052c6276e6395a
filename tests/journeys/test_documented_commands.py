"""The commands of README and of every page are run as they are written, one code block after the other."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rankae import RankAE, load_dataset
from rankae.cli.lazy_group import COMMANDS
from rankae.serve.store import Decision, Store

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TAGS = {"fruit": "apple pear plum cherry", "drink": "wine beer juice glass", "tool": "hammer saw drill nail"}
WORDS = [a + b for a in ("har", "mel", "tor", "vin", "sal", "bre") for b in ("bo", "da", "lin", "mar", "sto", "ven")]
DATA_SETS = [
    "mydata", "my-data", "data", "DATA", "bibtex", "debtags", "delicious", "eurlex57k", "eurlex57k-bow", "debdeps",
    "tmdb-plots", "mediamill-disc3",
]  # fmt: skip
MODELS = ["mymodel", "model", "other-model", "m", "DIR"]
# Commands that are not run here, and why.
NOT_RUN = {
    r"rankae serve ": "runs until it is stopped; tests/serve starts services",
    r"tcp://|/shared/|\$ADDRESS": "needs a scheduler on other machines",
    r"torchrun": "starts processes of its own; tests/paper/test_distributed.py does",
    r"--protocol paper|--report-only|mediamill-disc3|--like wiki-500k|--like amazon-670k": "takes hours, or gigabytes",
}
SLOW = r"rankae (compare|noise|ablate|tune) |--cluster|--preset paper|--preset network|--validation"


def code_blocks(page: Path) -> list[list[str]]:
    """The command lines of each indented or fenced block; a line that ends in a backslash goes on in the next."""
    blocks: list[list[str]] = [[]]
    fence: str | None = None
    for line in re.sub(r" *\\\n *", " ", page.read_text()).splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
            blocks.append([])
        elif fence in ("", "sh") or (fence is None and line.startswith("    ")):
            blocks[-1].append(line.strip().removeprefix("$ "))
        elif line:
            blocks.append([])
    commands = r"(?:head [^|]*\| )?rankae |torchrun "
    return [found for block in blocks if (found := [line for line in block if re.match(commands, line)])]


BLOCKS = [(page, number, block) for page in PAGES for number, block in enumerate(code_blocks(page))]


def _cases() -> list[object]:
    cases = []
    for page, number, block in BLOCKS:
        marks = [pytest.mark.slow] if any(re.search(SLOW, command) for command in block) else []
        cases.append(pytest.param(page, block, id=f"{page.stem}-{number}", marks=marks))
    return cases


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted: data, a model of it, and files of a user."""
    place = tmp_path_factory.mktemp("shelf")
    drawn = random.Random(0)  # words that tell nothing of the tag, so that rows are not all alike
    rows = [
        (f"{TAGS[tag].split()[i % 4]} {' '.join(drawn.sample(WORDS, 5))}", [tag]) for i in range(32) for tag in TAGS
    ]
    (place / "mydata").mkdir()
    for split, part in (("train", rows[:72]), ("test", rows[72:])):
        lines = [json.dumps({"text": text, "labels": labels}) for text, labels in part]
        (place / "mydata" / f"{split}.jsonl").write_text("\n".join(lines) + "\n")
    RankAE("fast", random_state=0).fit_dataset(load_dataset(place / "mydata")).save(place / "mymodel")
    with (place / "articles.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "title", "body", "tags"])
        table.writerows([i, labels[0], text, ";".join(labels)] for i, (text, labels) in enumerate(rows[:60]))
    with (place / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text", "title", "url"], ["a7", "apple juice", "Juice", "http://x"]])
    (place / "OUT").mkdir()  # what `data make --like` writes: features
    (place / "OUT" / "train.txt").write_text("2 3 2\n0 0:1 2:0.5\n1 1:1\n")
    (place / "new.txt").write_text("a pear\na drill\n")
    (place / "new.jsonl").write_text('{"text": "a glass of wine"}\n')
    (place / "plot.txt").write_text("A hammer and a nail fall in love.")
    (place / "checked.jsonl").write_text(
        "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows[72:])
    )
    (place / "labels.jsonl").write_text('{"label": "fruit", "name": "fruit", "alternatives": ["berry"]}\n')
    (example,) = re.findall(r"```python\n# my_methods.py\n(.*?)```", (ROOT / "docs/rivals.md").read_text(), re.DOTALL)
    (place / "my_methods.py").write_text(example)
    flag = {"row": 0, "id": 0, "label": "drink", "kind": "missing", "probability": 0.9}
    for desk in ("desk", "other-desk"):
        store = Store(place / desk)
        store.add([Decision(text, labels, by="Ada") for text, labels in rows[:20]])
        store.add([Decision(rows[0][0], ["drink"], by="Ada", about={"flag": flag})])
        store.close()
    return place


@pytest.fixture
def desktop(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of `shelf` under all the names that pages give them; it is the working directory."""
    shutil.copytree(shelf, tmp_path, dirs_exist_ok=True)
    for name in DATA_SETS[1:]:
        shutil.copytree(shelf / "mydata", tmp_path / name)
    shutil.copy(shelf / "new.jsonl", tmp_path / "INPUT")
    (tmp_path / "mymodel").rename(tmp_path / "model-of-the-shelf")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("page", "block"), _cases())
def test_a_block_of_commands_runs(page: Path, block: list[str], desktop: Path, rankae: Callable, encoders) -> None:
    for line in block:
        if any(re.search(pattern, line) for pattern in NOT_RUN):
            continue
        piped = re.match(r"head -(\d+) (\S+) \| (.*)", line)
        stdin = b"".join(Path(piped[2]).read_bytes().splitlines(True)[: int(piped[1])]) if piped else b""
        words = shlex.split(piped[3] if piped else line, comments=True)[1:]
        words = [str(encoders.bert()) if word == "encoder=FOLDER" else word for word in words]
        words = [f"encoder={word}" if word.endswith("tiny-bert") else word for word in words]
        _provide_models(words, desktop)
        if words[:2] == ["data", "make"]:
            shutil.rmtree(desktop / words[2])  # the page begins without it
        if words[:2] == ["audit", "apply"]:
            _decide(desktop / words[2])
        ran = rankae(*words, stdin=stdin)
        assert ran.code == 0, f"{page.name}: {line}\n{ran.err}"


def _provide_models(words: list[str], folder: Path) -> None:
    """A model that the page has trained before, unless this command is the one that trains it."""
    written = words[words.index("--model") + 1] if "--model" in words else None
    for name in {word.rstrip("/") for word in words} & set(MODELS):
        if name != (written or "").rstrip("/") and not (folder / name).exists():
            shutil.copytree(folder / "model-of-the-shelf", folder / name)


def _decide(flags: Path) -> None:
    """Somebody accepts every flag."""
    with flags.open(newline="") as file:
        lines = list(csv.DictReader(file))
    with flags.open("w", newline="") as file:
        table = csv.DictWriter(file, lines[0].keys())
        table.writeheader()
        table.writerows(line | {"decision": "accept"} for line in lines)


def test_every_page_is_looked_at() -> None:
    """A page whose commands stand in a form that `code_blocks` does not know would go untested."""
    for page in PAGES:
        commands = re.findall(
            rf"^(?: {{4}}| {{4}}\$ |)rankae (?:{'|'.join(COMMANDS)}) ", page.read_text(), re.MULTILINE
        )
        assert len(commands) <= sum(len(block) for place, _, block in BLOCKS if place == page), page
