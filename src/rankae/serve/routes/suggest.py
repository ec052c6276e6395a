"""`POST /v1/models/{model}/suggest`: labels for texts, with probabilities and reasons."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from rankae.serve.problems import ALWAYS, responses
from rankae.serve.service import Service, service_of
from rankae.serve.suggesting import Asked, explained, suggestions

router = APIRouter(tags=["suggest"])

MOST_TEXTS = 1_000
MOST_CHARACTERS = 1_000_000
MOST_LABELS = 1_000

Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
_Texts = Annotated[list[Text], Field(max_length=MOST_TEXTS)]
Texts = Annotated[
    _Texts,
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given, json_schema_input_type=Text | _Texts),
]
Label = Annotated[str, Field(min_length=1, max_length=1_000)]
_EXAMPLE: Any = {"texts": ["A terminal emulator for the X Window System"], "k": 3, "explain": True}


class SuggestRequest(BaseModel):
    """Texts, and which of their labels are wanted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXAMPLE]})

    texts: Texts = Field(description="One text or many.")
    k: int = Field(5, ge=1, le=MOST_LABELS, strict=True, description="At most so many labels a text.")
    threshold: float | None = Field(None, ge=0, le=1, description="The least probability.")
    cut: bool = Field(False, strict=True, description="Keep only what passes the model's own cut.")
    aim: str | None = Field(
        None, max_length=40, description="Keep what passes the cut for f1, count, precision=0.9 or recall=0.8."
    )
    exclude: list[Label] = Field([], max_length=MOST_LABELS, description="Labels that are not wanted.")
    explain: bool = Field(False, strict=True, description="Say which words speak for each label.")


class Suggestion(BaseModel):
    """One label. `words` holds [word, weight] pairs, the strongest first, if reasons were asked for."""

    label: str
    probability: float | None = Field(description="How likely the label is right; null where nothing is known of it.")
    score: float
    passes: bool = Field(description="Whether the model would give the label by itself: its cut.")
    words: list[tuple[str, float]]


class Explanation(BaseModel):
    """A text cut into words, and each word's weight for each of its labels."""

    view: str = Field(description="removal: how far the score falls without the word; contribution: its summand.")
    pieces: list[tuple[str, int]] = Field(description="The text in order; -1 for what is no word.")
    weights: list[list[float]] = Field(description="labels x words")


class SuggestAnswer(BaseModel):
    """For each text its labels, best first."""

    model: str
    fingerprint: str
    results: list[list[Suggestion]]
    explanations: list[Explanation] | None = None


@router.post("/v1/models/{model}/suggest", response_model=SuggestAnswer, responses=ALWAYS | responses(404))
async def suggest(model: str, body: SuggestRequest, service: Annotated[Service, Depends(service_of)]) -> Any:
    """The labels of one or many texts."""
    served = service.shelf[model]
    asked = Asked(body.k, body.threshold, body.cut, body.aim, frozenset(body.exclude))
    results = await suggestions(service.work, served, body.texts, asked)
    answer: dict[str, Any] = {"model": served.name, "fingerprint": served.fingerprint, "results": results}
    if body.explain:
        answer["explanations"] = await explained(service.work, served, body.texts, results)
    return answer
