"""Generated articles in the shapes that people bring."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TOPICS = {
    "fruit": "apple pear plum cherry juice orchard peel",
    "wine": "grape cellar bottle vintage barrel cork",
    "travel": "train station ticket hotel map luggage",
    "music": "concert violin song choir drum melody",
    "health": "doctor clinic vaccine nurse fever sleep",
    "Käse & Öl": "cheese olive dairy goat press rind",
}
FILLER = [
    "the",
    "a",
    "of",
    "and",
    "with",
    "near",
    "very",
    "old",
    "new",
    "some",
    "many",
    "about",
    "after",
    "before",
    "again",
    "today",
]


@dataclass(frozen=True)
class Article:
    id: str
    title: str
    body: str
    tags: list[str]

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}"


def draw(rows: int, seed: int) -> list[Article]:
    """Articles of one or two topics; the title alone tells one of them, and the body the other."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    articles = []
    for i in range(rows):
        own = rng.permutation(names)[: 1 + (rng.random() < 0.3)].tolist()
        words = [rng.choice(TOPICS[topic].split(), 3).tolist() for topic in own]
        title = " ".join([*rng.choice(FILLER, 2).tolist(), *words[0]])
        body = " ".join([*rng.choice(FILLER, 12).tolist(), *words[-1], *rng.choice(FILLER, 6).tolist()])
        if len(own) == 1:
            body = " ".join(rng.choice(FILLER, 20).tolist())  # then only the title tells
        articles.append(Article(f"a{seed}-{i:04}", title, body, sorted(own)))
    return articles


@pytest.fixture(scope="session")
def table() -> Callable[..., Path]:
    """Write articles as a table: table(path, articles, delimiter, encoding)."""
    return write_table


def write_table(path: Path, articles: list[Article], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """id, title, body, tags, as a spreadsheet exports them."""
    with open(path, "w", newline="", encoding=encoding) as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(["id", "title", "body", "tags"])
        for article in articles:
            table.writerow([article.id, article.title, article.body, "|".join(article.tags)])
    return path


@pytest.fixture(scope="session")
def articles() -> dict[str, Any]:
    return {"train": draw(260, 1), "new": draw(60, 2)}
