"""The parameters of RankAE, and the training settings that follow from them and the preset."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from rankae.base.parameters import (
    Count,
    Device,
    NGrams,
    NotNegative,
    Positive,
    RandomState,
    Share,
    Threads,
    check_values,
)
from rankae.base.search_space import Between, OneOf, Space
from rankae.errors import RankaeError
from rankae.methods.features import ChosenFeatures
from rankae.methods.presets import (
    JOINT,
    NETWORK,
    OPEN,
    OPEN_WITH_BCE,
    PRESETS,
    STARTS,
    STRICT,
    WITH_BCE,
    WITH_MANY_ROWS,
    preset_settings,
)
from rankae.paper.settings import JointSettings
from rankae.recipe import RecipeSettings
from rankae.recipe.joint_network import NetworkSettings

# Parameters that neither the recipe nor the joint training knows by these names.
_NOT_OF_TRAINING = {
    "preset", "words", "word_vectors", "ngrams", "title", "pieces", "min_df", "max_features", "token_pattern",
    "analyzer", "accents", "html", "hyphens", "encoder", "encoder_weight", "label_names", "labels", "scale",
    "validation", "random_state", "threads", "device", "checkpoint", "resume",
}  # fmt: skip
# What each preset is trained by.
_KINDS: dict[str, type] = {preset: JointSettings if preset in JOINT else RecipeSettings for preset in PRESETS}
_KINDS[NETWORK] = NetworkSettings


# The paper tunes lambda, m, decay and the learning rate; the size of the code is ours to choose as well.
_PAPER_SPACE: Space = {
    "balance": Between(0.1, 10.0, log=True),
    "margin": Between(0.05, 2.0, log=True),
    "learning_rate": Between(1e-3, 3e-2, log=True),
    "decay": Between(1e-6, 1e-1, log=True),
    "code_size": OneOf((100, 200, 400)),
}


@dataclass(eq=False, repr=False)
class RankAEParameters(ChosenFeatures):
    """The parameters of `RankAE`, which describes them, and their checks."""

    # The recipe makes most choices itself on training rows. If their labels are noisy, clean validation rows choose
    # better, above all the regularisation.
    search_space: ClassVar[Space] = {
        "code_size": OneOf((200, 400, 800)),
        "ridge": Between(0.1, 30.0, log=True),
        "noise_rounds": OneOf((0, 1, 2)),
        "ranker_cost": Between(0.1, 10.0, log=True),
        "proposed": OneOf((20, 40, 80)),
        "attention": OneOf((True, False)),
        "word_size": OneOf((250, 500, 1000)),
    }

    preset: str = "default"
    _: KW_ONLY
    effort: str | None = None
    code_size: int | None = None
    word_size: int | None = None
    attention: bool | None = None
    loss: str | None = None
    epochs: int | None = None
    ridge: float | None = None
    noise_rounds: int | None = None
    tuning: bool | None = None
    tuning_epochs: int | None = None
    network: int | None = None
    neighbours: bool | None = None
    most_rows: int | None = None
    rankers: bool | None = None
    ranker_cost: float | None = None
    code_support: int | None = None
    random_negatives: int | None = None
    proposed: int | None = None
    objective: str | None = None
    margin: float | None = None
    balance: float | None = None
    reduction: int | None = None
    hidden: int | None = None
    tied: bool | None = None
    activation: str | None = None
    scores: str | None = None
    pooling: str | None = None
    direct: float | None = None
    temperature: float | None = None
    shortlist: int | None = None
    start: str | None = None
    word_deviation: float | None = None
    given_deviation: float | None = None
    word_optimizer: str | None = None
    word_rate: float | None = None
    word_decay: float | None = None
    encoder_rate: float | None = None
    code_rate: float | None = None
    learning_rate: float | None = None
    decay: float | None = None
    batch: int | None = None
    warmup: float | None = None
    word_dropout: float | None = None
    patience: int | None = None
    words: Literal["bag", "bilstm"] = "bag"
    word_vectors: str | Path | None = None
    ngrams: NGrams | None = None
    title: NotNegative | None = None
    pieces: bool | None = None
    min_df: Count = 2
    max_features: Count | None = None
    token_pattern: str | None = None
    analyzer: Literal["word", "word+char", "char"] | None = None
    accents: Literal["keep", "strip"] = "keep"
    html: Literal["strip", "keep", "auto"] = "auto"
    hyphens: Literal["join", "keep", "auto"] = "auto"
    encoder: str | Path | None = None
    encoder_weight: Positive | None = None
    label_names: bool | None = None
    labels: str | Path | None = None
    scale: Literal["centre", "standard", False] | None = None
    validation: Share = 0.0
    random_state: RandomState = 0
    threads: Threads | None = None
    device: Annotated[str, Device()] = "cpu"
    checkpoint: str | Path | None = None
    resume: bool = False

    @classmethod
    def search_space_for(cls, parameters: dict[str, Any]) -> Space:
        """The search space of the preset; binary cross-entropy has no margin."""
        if not str(parameters.get("preset", "")).startswith("paper"):
            return cls.search_space
        return {n: space for n, space in _PAPER_SPACE.items() if n != "margin" or parameters.get("loss") != "bce"}

    # The settings that follow from them -------------------------------------------------------------------------

    def _sets(self, name: str) -> bool:
        """Whether the user or a preset file sets a parameter."""
        base, given = preset_settings(self.preset)
        return getattr(self, name) is not None or given.get(name) != PRESETS[base].get(name)

    def _open_settings(self) -> dict[str, tuple[Any, ...]]:
        """Candidate values of the settings that the preset leaves open and the user has not set."""
        base, _ = preset_settings(self.preset)
        candidates = OPEN_WITH_BCE if self._is_bce_ae else OPEN[base]
        return {name: values for name, values in candidates.items() if not self._sets(name)}

    @property
    def _is_bce_ae(self) -> bool:
        base, _ = preset_settings(self.preset)
        return base == "paper" and self._settings(JointSettings).loss == "bce"

    def _starts(self) -> dict[str, dict[str, Any]]:
        """Other points to start from: values of settings that the user has not set."""
        base, _ = preset_settings(self.preset)
        free = {
            name: {setting: value for setting, value in changes.items() if not self._sets(setting)}
            for name, changes in STARTS.get(base, {}).items()
        }
        return {name: changes for name, changes in free.items() if changes}

    def _start_for(self, many_rows: bool) -> dict[str, Any]:
        """Where the search starts with many rows per feature or with BCE: values of settings that the user has not
        set."""
        base, _ = preset_settings(self.preset)
        changes = WITH_MANY_ROWS.get(base, {}) if many_rows else {}
        changes = changes | (WITH_BCE if self._is_bce_ae else {})
        return {name: value for name, value in changes.items() if not self._sets(name)}

    @property
    def _seed(self) -> int:
        """The seed of this fit; 0 for models of older files without one."""
        return getattr(self, "seed_", 0)

    def check_parameters(self, method: str | None = None) -> None:
        """Refuse parameters out of range, and those that do not apply to the preset."""
        super().check_parameters(method)
        base, settings = preset_settings(self.preset)
        if unknown := sorted(set(settings) - set(self._get_param_names())):
            raise RankaeError(f"{self.preset}: rank-ae has no parameter {unknown[0]!r}")
        if misplaced := sorted(set(settings) & _NOT_OF_TRAINING):
            raise RankaeError(f"{self.preset}: a preset cannot set {misplaced[0]}; set it beside the preset")
        self._settings(_KINDS[base])

    @property
    def _effort(self) -> str:
        base, _ = preset_settings(self.preset)
        if base == NETWORK:
            return "full"
        if base in JOINT:
            return "none" if base == STRICT else "text"
        return self._settings(RecipeSettings).effort

    def _settings(self, kind: type) -> Any:
        """The preset's settings, overridden by the user's."""
        base, settings = preset_settings(self.preset)
        settings |= {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        settings = {name: value for name, value in settings.items() if name not in _NOT_OF_TRAINING}
        known = {field.name for field in fields(kind)}
        if unknown := sorted(set(settings) - known):
            raise RankaeError(
                f"{unknown[0]} has no meaning for the preset {base!r}; leave it out or choose another preset"
            )
        if kind is JointSettings:
            settings |= {"word_encoder": self.words, "threads": self.threads}
        elif self.words != "bag":
            raise RankaeError('words="bilstm" needs the preset "paper"')
        check_values(f"the preset {self.preset!r}", kind, settings)
        if kind is RecipeSettings and self.device != "cpu" and settings.get("network") == 0:
            raise RankaeError(
                f"device is {self.device!r}, but the preset {self.preset!r} has no network to train there; "
                "leave device out, or set network=1"
            )
        return kind(**settings, seed=self._seed, device=self.device)
