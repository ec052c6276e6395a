"""The single Rank-AE network: sizes from the data, a closed-form start, and joint training that does not fall from it.

    L_h(F(x), E(y)) + balance * L_ae(y, D(E(y))) + direct * L_ae(y, D(F(x)))

E(y) determines the row's labels almost perfectly from the start, so L_ae(y, D(E(y))) is soon 0. What improves the
ranking of new rows is the third term, where F(x) starts from the row's leave-one-out code.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from rankae.base.choices import AS_SET, Choice, choice
from rankae.base.parameters import Count, CountFromZero, NotNegative, Positive, Share, Size
from rankae.data.word_embeddings import WordEmbeddings
from rankae.numerics.row_search import is_dense
from rankae.paper.bags import CodedRows
from rankae.paper.closed_form import WarmStart
from rankae.paper.closed_start import started_network
from rankae.paper.joint import train_joint
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings
from rankae.recipe import rules
from rankae.recipe.settings import much_data, network_epochs


@dataclass(frozen=True)
class NetworkSettings:
    """Parameters of the preset `network`; None is chosen from the data. See `JointSettings` and `RecipeSettings`."""

    code_size: Size | None = None
    word_size: Size | None = None
    ridge: Positive | None = None
    reduction: Count = 16
    attention: bool = True
    loss: Literal["smooth", "ranking", "bce"] | None = None
    margin: NotNegative | None = None
    balance: NotNegative = 1.0
    direct: NotNegative | None = None
    shortlist: CountFromZero | None = None
    learning_rate: Positive | None = None
    word_rate: NotNegative | None = None
    decay: NotNegative = 0.0
    epochs: Count | None = None
    batch: Count | None = None
    warmup: Share = 0.1
    word_dropout: Share | None = None
    seed: CountFromZero = 0
    device: str = "cpu"


# With few rows per word F overfits: it has two paths, the linear one in closed form. With many rows per word the
# network is the paper's, wider and with a ReLU layer in F; its optimiser keeps E, D and rare words near their start.
_TWO_PATHS: dict[str, Any] = {
    "embedding": "two-path", "residual": 300, "loss": "smooth", "margin": 0.0, "direct": 1.0,
    "learning_rate": 3e-3, "word_rate": 0.2, "encoder_rate": 0.1, "decoder_rate": 4.0,
}  # fmt: skip
_ONE_PATH: dict[str, Any] = {
    "embedding": "attention", "hidden": 500, "tied": True, "loss": "ranking", "margin": 1.0, "direct": 0.3,
    "temperature": 4.0, "learning_rate": 1e-2, "word_rate": 3.0, "encoder_rate": 0.1, "code_rate": 0.3,
    "word_optimizer": "flat", "word_decay": 0.1, "word_deviation": 0.01,
}  # fmt: skip


def _code_size(words: int, labels: int) -> int:
    """Twice the default model's code for many labels (its rankers rank the rare ones), if the word table is not too
    large."""
    fits = 4 * 2 * rules.CODE_SIZE * words <= rules.MOST_WORD_BYTES
    return 2 * rules.CODE_SIZE if labels > rules.SEEN_LABELS[0] and fits else rules.CODE_SIZE


def joint_settings(
    given: NetworkSettings, rows: sp.csr_matrix, labels: sp.csr_matrix, choices: dict[str, Choice]
) -> JointSettings:
    """Fill in what the user left open, from the shape of the data, and note each choice."""
    n, L = labels.shape
    words = rows.shape[1]

    def choose(name: str, value: Any, why: str) -> Any:
        set_value = getattr(given, name)
        chosen, reason = (value, why) if set_value is None else (set_value, AS_SET)
        choices[name] = choice(name, chosen, reason)
        return chosen

    size = f"{n} rows, {words} features, {L} labels"
    row_length = rows.nnz / max(1, n)
    plenty = much_data(n, words)
    many = rules.SEEN_LABELS[0] < L
    batch, enough = rules.NETWORK_BATCH[plenty], rules.NETWORK_BATCH[2]
    hidden = 0.0 if plenty else rules.WORD_DROPOUT[2 if is_dense(rows) else int(row_length > rules.LONG_ROW)]
    resolved = {
        "code_size": min(choose("code_size", min(_code_size(words, L), L, n), size), L, n),
        "word_size": choose("word_size", rules.WORD_SIZE[plenty], size),
        "epochs": choose("epochs", network_epochs(n, words, L), size),
        "word_dropout": choose("word_dropout", hidden, f"{row_length:.0f} features a row"),
        "shortlist": choose("shortlist", rules.SEEN_LABELS[1] if many else 0, f"{L} labels"),
        "batch": choose("batch", batch if n >= enough else max(16, n // 16), f"{n} rows"),
    }  # fmt: skip
    given_values = {name: value for name, value in asdict(given).items() if name != "ridge" and value is not None}
    paths = _ONE_PATH if plenty else _TWO_PATHS
    return JointSettings(**paths | given_values | resolved, merged=True)  # type: ignore[arg-type]


def train_network(
    rows: sp.csr_matrix,
    labels: sp.csr_matrix,
    start: WarmStart,
    settings: JointSettings,
    held: np.ndarray,
    embeddings: WordEmbeddings | None = None,
    **options: Any,
) -> RankNetwork:
    """Train from the closed form of these rows; options are those of `train_joint`.

    held : indices of the rows that choose the epoch and are not trained on: the first fold of `start`, or none. All
        rows then have codes of an F fitted without that fold; other codes would leak its labels.
    """
    network, settings = started(start, settings, embeddings)
    learn = np.setdiff1d(np.arange(labels.shape[0]), held)
    coded_rows = coded(network, rows, leave_one_out_codes(start) if len(held) else start.loo_codes)
    validation = (coded_rows[held], labels[held]) if len(held) else None
    return train_joint(coded_rows[learn], labels[learn], settings, network=network, validation=validation, **options)


def started(
    start: WarmStart, settings: JointSettings, embeddings: WordEmbeddings | None = None
) -> tuple[RankNetwork, JointSettings]:
    """The network at its closed-form start, and its settings with the code size that the start has."""
    settings = replace(settings, code_size=start.label_table.shape[1])
    return started_network(start, settings, embeddings), settings


def leave_one_out_codes(start: WarmStart) -> np.ndarray:
    """Leave-one-out codes of all training rows, from the F fitted without the first fold if there is one."""
    return start.without[0].codes if start.without else start.loo_codes


def coded(network: RankNetwork, rows: sp.csr_matrix, codes: np.ndarray) -> sp.csr_matrix | CodedRows:
    """Training rows as the network reads them: with their leave-one-out codes if it has a linear path."""
    return CodedRows(rows, codes) if network.shape.embedding == "two-path" else rows


def fitting(settings: JointSettings, network: RankNetwork) -> JointSettings:
    """The settings with the network's own shape, to continue its training."""
    shape = {name: value for name, value in asdict(network.shape).items() if name not in ("words", "labels")}
    return replace(settings, **shape)
