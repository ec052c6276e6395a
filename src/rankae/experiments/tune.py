"""Searches parameters on held-out rows with Optuna: a budget of trials or minutes, pruning, and trials stored on disk.

The first trial is always the method's defaults, so a search never ends below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankae.base.search_space import OneOf, Space
from rankae.data.dataset import Dataset
from rankae.errors import MissingExtra, RankaeError
from rankae.methods import registry
from rankae.metrics import judge

# A trial first trains on a share of the rows, and is pruned if the result is below the median of other trials.
FIRST_SHARE, FEWEST_ROWS_TO_SHARE = 0.25, 4000
TRIALS_BEFORE_PRUNING = 5


@dataclass(frozen=True)
class SearchResult:
    """The best parameters (those that differ from the defaults), their value, and all trials."""

    parameters: dict[str, Any]
    value: float
    trials: int
    history: list[dict[str, Any]] = field(default_factory=list)
    importance: dict[str, float] = field(default_factory=dict)


def search_parameters(
    method: str,
    learn: Dataset,
    check: Dataset,
    *,
    trials: int,
    minutes: float | None = None,
    fixed: dict[str, Any] | None = None,
    seed: int = 0,
    k: Sequence[int] = (1, 3, 5),
    study_file: Path | None = None,
    tell: Callable[[int, float | None], None] | None = None,
    check_chooses_epoch: bool = False,
    measure: Callable[[dict[str, Any], float], float] | None = None,
    jobs: int = 1,
) -> SearchResult:
    """The parameters with the best mean of P@k on `check` after training on `learn`.

    Parameters
    ----------
    trials, minutes : stop after so many trials in all (those of earlier runs count), or so much time in this run.
    fixed : parameters that are set and not searched.
    study_file : file of the trials, from which a search resumes.
    tell : called with the number of trials and the best value after each trial.
    measure, jobs : function that measures parameters elsewhere, and the number of concurrent trials.
    check_chooses_epoch : whether the method keeps the epoch that ranks `check` best, as in the final training.
    """
    optuna = _optuna()
    space = {name: values for name, values in registry.search_space(method).items() if name not in (fixed or {})}
    if not space:
        raise RankaeError(f"{method} has no parameters to search; `rankae train` trains it as it is")
    check = check.aligned_to(learn.label_names if learn.label_names is not None else range(learn.n_labels))
    study = _study(optuna, method, learn, study_file, seed)
    shares = [FIRST_SHARE, 1.0] if len(learn) >= FEWEST_ROWS_TO_SHARE else [1.0]

    def value_of(trial: Any) -> float:
        parameters = {} if trial.user_attrs.get("defaults") else _draw(trial, space)
        value = 0.0
        for share in shares:
            if measure is not None:
                value = measure((fixed or {}) | parameters, share)
            else:
                rows = share_of(learn, share, seed)
                value = mean_precision(method, (fixed or {}) | parameters, rows, check, seed, k, check_chooses_epoch)
            if share < 1:
                trial.report(value, round(100 * share))
                if trial.should_prune():
                    raise optuna.TrialPruned
        return value

    failures = (RankaeError, ArithmeticError, RuntimeError, np.linalg.LinAlgError)
    reasons: list[str] = []

    def noted_value_of(trial: Any) -> float:
        try:
            return value_of(trial)
        except failures as error:
            reasons.append(str(error))
            raise

    def after(study: Any, trial: Any) -> None:
        if tell is not None:
            tell(len(_ended(study)), study.best_value if _complete(study) else None)

    if not study.get_trials(deepcopy=False):
        study.enqueue_trial({}, user_attrs={"defaults": True})
    remaining = trials - len(_ended(study))
    if remaining > 0:
        timeout = None if minutes is None else 60 * minutes
        study.optimize(noted_value_of, remaining, timeout, n_jobs=jobs, catch=failures, callbacks=[after])
    if not _complete(study):
        why = f": {reasons[-1]}" if reasons else ""
        raise RankaeError(f"none of {len(_ended(study))} trials of {method} could be measured on {learn.name}{why}")
    best = study.best_trial
    return SearchResult(best.params, best.value, len(_ended(study)), _history(study), _importance(optuna, study, space))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise MissingExtra("tuning", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _study(optuna: Any, method: str, learn: Dataset, file: Path | None, seed: int) -> Any:
    storage = None
    if file is not None:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        file.parent.mkdir(parents=True, exist_ok=True)
        storage = JournalStorage(JournalFileBackend(str(file)))
    study = optuna.create_study(
        study_name="rankae",
        storage=storage,
        load_if_exists=True,
        direction="maximize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=TRIALS_BEFORE_PRUNING),
    )
    about = {"method": method, "data": learn.name, "rows": len(learn), "labels": learn.n_labels}
    for name, value in about.items():
        if study.user_attrs.setdefault(name, value) != value:
            raise RankaeError(
                f"{file}: holds a search with {name} {study.user_attrs[name]}, not {value}; choose another folder"
            )
        study.set_user_attr(name, value)
    # The seed depends on the number of trials, so that a resumed search does not repeat the first draws.
    study.sampler = optuna.samplers.TPESampler(seed=seed + len(study.get_trials(deepcopy=False)), multivariate=True)
    return study


def _draw(trial: Any, space: Space) -> dict[str, Any]:
    drawn = {}
    for name, values in space.items():
        if isinstance(values, OneOf):
            drawn[name] = trial.suggest_categorical(name, values.values)
        elif isinstance(values.low, int) and isinstance(values.high, int):
            drawn[name] = trial.suggest_int(name, values.low, values.high, log=values.log)
        else:
            drawn[name] = trial.suggest_float(name, values.low, values.high, log=values.log)
    return drawn


def share_of(rows: Dataset, share: float, seed: int) -> Dataset:
    """A sample of the rows of the given share."""
    if share == 1:
        return rows
    return rows.take(np.sort(np.random.default_rng(seed).permutation(len(rows))[: int(share * len(rows))]))


def mean_precision(
    method: str,
    parameters: dict[str, Any],
    learn: Dataset,
    check: Dataset,
    seed: int,
    k: Sequence[int],
    check_chooses_epoch: bool = False,
) -> float:
    """The mean of P@k over `k` and the rows of `check`, in percent."""
    return float(np.mean(row_precisions(method, parameters, learn, check, seed, k, check_chooses_epoch)))


def row_precisions(
    method: str,
    parameters: dict[str, Any],
    learn: Dataset,
    check: Dataset,
    seed: int,
    k: Sequence[int],
    check_chooses_epoch: bool = False,
) -> np.ndarray:
    """The mean of P@k over `k` of every row of `check`, in percent."""
    check = check.aligned_to(learn.label_names if learn.label_names is not None else range(learn.n_labels))
    model = registry.seeded(registry.create(method, **parameters), seed)
    model.fit_dataset(learn, **({"trusted": check} if check_chooses_epoch else {}))
    columns, _ = model.top_columns(check.rows, max(k))
    judged = judge(columns, check.labels)
    return 100 * np.mean([judged.precision(place) for place in k], axis=0)


def _ended(study: Any) -> list[Any]:
    """Trials that ended, failed ones included, but not interrupted ones."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def _complete(study: Any) -> list[Any]:
    return [trial for trial in _ended(study) if trial.state.name == "COMPLETE"]


def _history(study: Any) -> list[dict[str, Any]]:
    return [
        {
            "trial": trial.number,
            "state": trial.state.name.lower(),
            "value": trial.value,
            "seconds": None if trial.duration is None else round(trial.duration.total_seconds(), 2),
            "parameters": trial.params,
        }
        for trial in _ended(study)
    ]


def _importance(optuna: Any, study: Any, space: Space) -> dict[str, float]:
    """Share of the variance between trials that each parameter explains (fANOVA); empty if trials are few."""
    usable = [trial for trial in _complete(study) if set(space) <= set(trial.params)]
    if len(usable) < TRIALS_BEFORE_PRUNING or len({trial.value for trial in usable}) < 2:
        return {}
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    return optuna.importance.get_param_importances(study, evaluator=evaluator, params=list(space))
