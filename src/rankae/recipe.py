"""The default recipe: train the parts, let held-out rows say which of them help, train those again on everything.

Every automatic choice is recorded as one line in `Choices`, and every one can be set by hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from rankae.data.families import held_out_folds
from rankae.errors import RankaeError
from rankae.metrics import evaluate, inverse_propensities
from rankae.refine.code import CodePart
from rankae.refine.combine import Combiner
from rankae.refine.model import Opinions, Parts
from rankae.refine.neighbours import Neighbours
from rankae.refine.rankers import Rankers
from rankae.refine.shortlist import Shortlist
from rankae.refine.words_network import NetworkPart, WordsNetworkSettings
from rankae.training.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from rankae.training.warm_start import choose_ridge, warm_start

# Multiplications that a part of the recipe may cost before it is left out: about a minute of one core.
AFFORDABLE = 2e12
_MANY_LABELS = 4000  # beyond it, tuning looks at the labels that neighbours propose, not at all of them
_FEWEST_ROWS = 100  # fewer held-out rows say nothing about which parts help
_GAIN = 0.05  # points of P@1 + P@3 + P@5 that a part must be worth to be kept


@dataclass(frozen=True)
class RecipeSettings:
    """What the recipe can be told; None leaves the choice to the data (see `resolved`).

    code_size : h of the closed-form start.
    ridge : lambda of the ridge regression; by default chosen by leave-one-out scores.
    tuning : train D and a residual layer on leave-one-out codes.
    network : how many networks to train and average; 0 for none.
    attention : whether the networks have a channel gate.
    neighbours, rankers : whether these parts may take part.
    ranker_cost : C of the rankers' SVMs.
    objective : "precision", or "psp" to favour labels that are rare and easily missed.
    choose : let held-out rows decide which parts to keep; otherwise all that are allowed are kept.
    """

    code_size: int | None = None
    ridge: float | None = None
    tuning: bool | None = None
    network: int | None = None
    word_size: int | None = None
    attention: bool = True
    loss: str = "smooth"
    epochs: int | None = None
    neighbours: bool | None = None
    rankers: bool | None = None
    ranker_cost: float = 1.0
    proposed: int = 40
    objective: str = "precision"
    choose: bool = True
    seed: int = 0
    device: str = "cpu"


@dataclass
class Training:
    """What the recipe reports: its choices, one line each, and the figures of every epoch."""

    choices: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, dict[str, float]] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    on_epoch: Callable[[dict[str, Any]], None] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    threshold: float | None = None  # the score from which a label is more likely right than not, by held-out rows

    def note(self, figures: dict[str, Any]) -> None:
        self.history.append(figures)
        if self.on_epoch is not None:
            self.on_epoch(figures)

    def timed(self, name: str, began: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def resolved(
    settings: RecipeSettings, rows: sp.csr_matrix, labels: sp.csr_matrix, training: Training
) -> RecipeSettings:
    """Fill in what the user left open, from the shape of the data, and say why."""
    (n, L), words, said = labels.shape, rows.shape[1], training.choices
    row_length = rows.nnz / max(1, n)
    said["data"] = (
        f"{n} rows, {words} features ({row_length:.0f} a row), {L} labels ({labels.nnz / max(1, n):.1f} a row)"
    )

    def choose(name: str, value: Any, why: str) -> Any:
        given = getattr(settings, name)
        said[name] = f"{value} ({why})" if given is None else f"{given} (as set)"
        return value if given is None else given

    h = choose("code_size", int(min(400, L, n)), "enough for the frequent labels; neighbours find the others")
    tuning_cost = 60.0 * n * min(L, _MANY_LABELS) * h
    tuning = choose("tuning", tuning_cost < 4 * AFFORDABLE and L > 1, f"{tuning_cost:.0e} multiplications")
    word_size = choose("word_size", 1000 if words <= 2000 else 500, f"{words} features")
    epochs = choose("epochs", 20 if words <= 2000 else 12, f"{words} features")
    gate = 10 if settings.attention else 1  # what a gated word costs, in products of its channels
    network_cost = 6.0 * n * epochs * word_size * (L + gate * row_length)
    affordable = int(min(3, AFFORDABLE // max(1.0, network_cost))) if L > 1 else 0
    network = choose("network", affordable, f"{network_cost:.0e} multiplications each")
    dense = row_length > 0.5 * words
    neighbours = choose("neighbours", not dense, "features are dense" if dense else "features are sparse")
    rankers = choose("rankers", L > 1, f"{L} labels")
    ridge = settings.ridge
    if ridge is None:
        began = time.perf_counter()
        ridge = choose_ridge(rows, labels, settings.seed)
        said["ridge"] = f"{ridge} (best leave-one-out precision)"
        training.timed("choice of ridge", began)
    return replace(
        settings, code_size=h, tuning=tuning, word_size=word_size, epochs=epochs, network=network,
        neighbours=neighbours, rankers=rankers, ridge=ridge, proposed=min(settings.proposed, L),
    )  # fmt: skip


def train_recipe(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    settings: RecipeSettings,
    training: Training,
    checkpoint_dir: str | Path | None = None,
    resume: bool = False,
) -> Parts:
    """Train the default model.

    The choice of parts takes the longest; it is noted in `checkpoint_dir`, so that `resume` need not make it again.
    """
    data = [*rows.shape, *labels.shape, rows.nnz, labels.nnz]
    chosen = _noted_choice(checkpoint_dir, settings, data, training) if resume and checkpoint_dir is not None else None
    if chosen is None:
        chosen = _choice(rows, labels, settings, training)
        if checkpoint_dir is not None:
            _note_choice(checkpoint_dir, chosen, settings, data, training)
    parts = fit_parts(rows, labels, chosen.settings, training)
    parts.combiner = chosen.combiner
    return parts


@dataclass(frozen=True)
class Choice:
    """Settings with every choice made, and the combiner of the parts that were kept."""

    settings: RecipeSettings
    combiner: Combiner | None


def _choice(rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training) -> Choice:
    settings = resolved(settings, rows, labels, training)
    allowed = _allowed(settings) if rows.shape[0] >= _FEWEST_ROWS else ["code"]
    combiner = None
    if len(allowed) > 1:
        opinions, right = _held_out(rows, labels, settings, training)
        began = time.perf_counter()
        if settings.choose:
            allowed = _kept(opinions, right, labels, settings, training)
        if len(allowed) > 1:
            opinions = opinions.of(allowed, labels.shape[1])
            combiner = _combiner(opinions, right, labels, settings, training)
        training.timed("combiner", began)
    training.choices["parts"] = ", ".join(allowed)
    return Choice(_only(settings, allowed), combiner)


def _note_choice(
    folder: str | Path, chosen: Choice, asked: RecipeSettings, data: list[int], training: Training
) -> None:
    weights = chosen.combiner.weights if chosen.combiner is not None else {}
    facts = {
        "asked": asdict(asked),
        "data": data,
        "settings": asdict(chosen.settings),
        "choices": training.choices,
        "evidence": training.evidence,
        "threshold": training.threshold,
    }
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    write_checkpoint(folder, Checkpoint(tensors, facts))


def _noted_choice(folder: str | Path, asked: RecipeSettings, data: list[int], training: Training) -> Choice | None:
    """The choice that an interrupted run made, if it was about the same data and settings."""
    found = read_checkpoint(folder)
    if found is None:
        return None
    if found.facts.get("asked") != asdict(asked) or found.facts.get("data") != data:
        raise RankaeError(f"{folder} is from other data or settings; train without --resume, or restore them")
    training.choices.update(found.facts["choices"])
    training.evidence.update(found.facts["evidence"])
    training.threshold = found.facts["threshold"]
    weights = {name: value.numpy() for name, value in found.tensors.items()}
    return Choice(RecipeSettings(**found.facts["settings"]), Combiner(weights) if weights else None)


def fit_parts(rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training) -> Parts:
    """Train every part that the settings name on all of `rows`."""
    assert settings.code_size is not None
    assert settings.ridge is not None
    began = time.perf_counter()
    start = warm_start(rows, labels, settings.code_size, settings.ridge, settings.seed)
    code = CodePart.untouched(start)
    training.timed("warm start", began)
    counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    parts = Parts(code, counts, settings.proposed)
    voted = None
    if settings.neighbours:
        began = time.perf_counter()
        parts.neighbours = Neighbours(rows, labels)
        voted = parts.neighbours.read(rows, honest=True).propose(settings.proposed)
        training.timed("neighbours", began)
    if settings.tuning and (voted is not None or labels.shape[1] <= _MANY_LABELS):
        began = time.perf_counter()
        many = labels.shape[1] > _MANY_LABELS
        parts.code = code.tuned(
            start.honest_codes, labels, rivals=voted if many else None, epochs=5 if many else 10, seed=settings.seed
        )
        training.timed("tuning", began)
    if settings.network:
        began = time.perf_counter()
        parts.network = NetworkPart.train(
            rows, labels, _network_settings(settings, rows), settings.network, settings.seed, training.note
        )
        training.timed("network", began)
    if settings.rankers:
        began = time.perf_counter()
        honest = parts.code.read_codes(start.honest_codes).propose(settings.proposed)
        shortlist = Shortlist.union([honest] if voted is None else [honest, voted])
        parts.rankers = Rankers.train(rows, labels, shortlist, cost=settings.ranker_cost, seed=settings.seed)
        training.timed("rankers", began)
    return parts


def _network_settings(settings: RecipeSettings, rows: sp.csr_matrix) -> WordsNetworkSettings:
    assert settings.word_size is not None
    assert settings.epochs is not None
    # A long row says the same thing often, so more of it can be hidden from a step.
    long = rows.nnz > 25 * rows.shape[0]
    return WordsNetworkSettings(
        word_size=settings.word_size,
        attention=settings.attention,
        loss=settings.loss,
        epochs=settings.epochs,
        word_dropout=0.5 if long else 0.3,
        device=settings.device,
    )


def _allowed(settings: RecipeSettings) -> list[str]:
    switches = {"network": settings.network, "neighbours": settings.neighbours, "rankers": settings.rankers}
    return ["code", *(name for name, on in switches.items() if on)]


def _only(settings: RecipeSettings, parts: list[str]) -> RecipeSettings:
    return replace(
        settings,
        network=settings.network if "network" in parts else 0,
        neighbours="neighbours" in parts,
        rankers="rankers" in parts,
    )


def _held_out(
    rows: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> tuple[Opinions, sp.csr_matrix]:
    """Opinions on rows that the parts have not seen, and the labels of those rows.

    Large data gives enough rows in one fold; small data is read in three, so that every row is used.
    """
    folds = held_out_folds(rows, settings.seed)
    found, truth = [], []
    single = replace(settings, network=min(1, settings.network or 0))
    for number, fold in enumerate(folds):
        rest = np.setdiff1d(np.arange(rows.shape[0]), fold)
        quiet = Training(seconds={})
        parts = fit_parts(rows[rest], labels[rest], single, quiet)
        for name, spent in quiet.seconds.items():
            training.seconds[f"held-out {name}"] = training.seconds.get(f"held-out {name}", 0.0) + spent
        found.append(parts.opinions(rows[fold]))
        truth.append(labels[fold])
        training.note({"fold": number + 1, "folds": len(folds), "held_out_rows": len(fold)})
    said = {name: np.concatenate([o.said[name] for o in found]) for name in found[0].said}
    proposals = {name: np.concatenate([o.proposals[name] for o in found]) for name in found[0].proposals}
    nearest = np.concatenate([o.nearest for o in found])
    stacked = Opinions(Shortlist.stacked([o.shortlist for o in found]), said, nearest, proposals)
    return stacked, sp.vstack(truth, format="csr")


def _kept(
    opinions: Opinions, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> list[str]:
    """Parts that held-out rows show to help: each is left out in turn, and the one that is missed least goes first."""
    kept = list(opinions.said)
    figures = _cross_checked(opinions, kept, right, labels, settings)
    training.evidence["all"] = figures
    for name in kept:
        alone = opinions.shortlist.best(opinions.said[name], 5)[0]
        training.evidence[f"{name} alone"] = _shown(alone, right)
    while len(kept) > 1:
        trials = {
            name: _cross_checked(opinions, [p for p in kept if p != name], right, labels, settings)
            for name in kept
            if name != "code"  # the others lean on its proposals
        }
        for name, found in trials.items():
            training.evidence[f"without {name}" if len(kept) == len(opinions.said) else f"then {name}"] = found
        name, best = max(trials.items(), key=lambda item: _merit(item[1]))
        if _merit(best) < _merit(figures) - _GAIN:
            break
        kept.remove(name)
        figures = best
    training.choices["evidence"] = "; ".join(
        f"{name} {f['P@1']:.1f}/{f['P@3']:.1f}/{f['P@5']:.1f}" for name, f in training.evidence.items()
    )
    return kept


def _cross_checked(
    opinions: Opinions, parts: list[str], right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings
) -> dict[str, float]:
    """Precision of a combiner of these parts, each half of the held-out rows scored by the combiner of the other."""
    own = opinions.of(parts, labels.shape[1])
    if len(parts) == 1:
        return _shown(own.shortlist.best(own.said[parts[0]], 5)[0], right)
    counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    seen = own.evidence(counts)
    truth = own.shortlist.values_of(right)
    rows = len(own.shortlist)
    columns = np.empty((rows, 5), dtype=np.int32)
    halves = np.arange(rows) % 2 == 0
    for half in (halves, ~halves):
        learn, entries = _rows_of(own.shortlist, half)
        combiner = Combiner.train(learn, seen[entries], truth[entries], steps=600, seed=settings.seed)
        check, others = _rows_of(own.shortlist, ~half)
        columns[~half] = check.best(combiner.scores(seen[others]), 5)[0]
    return _shown(columns, right)


def _rows_of(shortlist: Shortlist, chosen: np.ndarray) -> tuple[Shortlist, np.ndarray]:
    """The part of a shortlist that belongs to some rows, and a mask of its entries."""
    entries = chosen[shortlist.rows]
    sizes = np.diff(shortlist.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return Shortlist(starts, shortlist.columns[entries]), entries


def _combiner(
    opinions: Opinions, right: sp.csr_matrix, labels: sp.csr_matrix, settings: RecipeSettings, training: Training
) -> Combiner:
    counts = np.bincount(labels.indices, minlength=labels.shape[1]).astype(np.float32)
    seen = opinions.evidence(counts)
    truth = opinions.shortlist.values_of(right)
    if settings.objective == "psp":
        truth = truth * inverse_propensities(labels)[opinions.shortlist.columns].astype(np.float32)
    combiner = Combiner.train(opinions.shortlist, seen, truth, seed=settings.seed)
    scores = np.sort(combiner.scores(seen))
    training.threshold = float(scores[-min(right.nnz, len(scores))]) if right.nnz else None
    return combiner


def _shown(columns: np.ndarray, right: sp.csr_matrix) -> dict[str, float]:
    figures = evaluate(columns, right)
    return {name: round(figures[name], 2) for name in ("P@1", "P@3", "P@5")}


def _merit(figures: dict[str, float]) -> float:
    return sum(figures.values())
