"""Which optimiser moves which parameter of a network, and how fast."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from rankae.paper.optimizer import RowAdam
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings


def joint_optimizers(network: RankNetwork, settings: JointSettings) -> dict[str, torch.optim.Optimizer]:
    """AdamW for what every batch moves, `RowAdam` for tables of which a batch touches few rows."""
    E, D, shape = network.E, network.D, network.shape
    words = [network.F.word_vectors] if shape.word_encoder == "bag" else []
    label_tables: list[nn.Parameter] = []
    if settings.shortlist:
        label_tables = [E.label_vectors, D.label_bias] + ([] if shape.tied else [D.label_vectors])
    elif not shape.tied:  # a tied table gets D's gradient, which has every row
        label_tables = [E.label_vectors]
    in_rows = {id(table) for table in [*words, *label_tables]}
    others = [p for p in network.parameters() if p.requires_grad and id(p) not in in_rows]

    rates = _rates(network, settings)
    of_words: dict[str, Any] = {"params": words, "rate": settings.word_rate}
    of_words["flat"] = settings.word_optimizer == "flat"
    of_words["weight_decay"] = settings.decay if settings.word_decay is None else settings.word_decay
    common: dict[str, Any] = {"lr": settings.learning_rate, "weight_decay": settings.decay}
    dense = torch.optim.AdamW(_by_rate(others, rates), fused=True, **common)
    optimizers: dict[str, torch.optim.Optimizer] = {"dense": dense}
    if rows := [group for group in (of_words, *_by_rate(label_tables, rates)) if group["params"]]:
        optimizers["rows"] = RowAdam(rows, **common)
    return optimizers


def _rates(network: RankNetwork, settings: JointSettings) -> dict[int, float]:
    """Learning rates, in multiples of `settings.learning_rate`, of the parameters that have one of their own."""
    E, D, F = network.E, network.D, network.F
    rates = {id(E.label_vectors): settings.encoder_rate}
    if network.shape.tied:
        rates |= {id(p): settings.encoder_rate for p in [*E.parameters(), *D.parameters()]}
    else:
        rates |= {id(p): settings.decoder_rate for p in (D.label_vectors, D.label_bias)}
    return rates | {id(p): settings.code_rate for p in F.FC.parameters()}


def _by_rate(parameters: list[nn.Parameter], rates: dict[int, float]) -> list[dict[str, Any]]:
    """The optimiser's groups of some parameters: each with its learning rate, in multiples of the others'."""
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(rates.get(id(parameter), 1.0), []).append(parameter)
    return [{"params": own, "rate": rate} for rate, own in groups.items()]
