"""The optimisers of a network's parameters, and their learning rates."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from rankae.paper.optimizer import RowAdam
from rankae.paper.rank_network import RankNetwork
from rankae.paper.settings import JointSettings


def joint_optimizers(network: RankNetwork, settings: JointSettings) -> dict[str, torch.optim.Optimizer]:
    """`RowAdam` for tables with sparse gradients, AdamW for all other parameters."""
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
    word_group: dict[str, Any] = {"params": words, "rate": settings.word_rate}
    word_group["flat"] = settings.word_optimizer == "flat"
    word_group["weight_decay"] = settings.decay if settings.word_decay is None else settings.word_decay
    common: dict[str, Any] = {"lr": settings.learning_rate, "weight_decay": settings.decay}
    dense = torch.optim.AdamW(_by_rate(others, rates), fused=True, **common)
    optimizers: dict[str, torch.optim.Optimizer] = {"dense": dense}
    if rows := [group for group in (word_group, *_by_rate(label_tables, rates)) if group["params"]]:
        optimizers["rows"] = RowAdam(rows, **common)
    return optimizers


def _rates(network: RankNetwork, settings: JointSettings) -> dict[int, float]:
    """Learning rates of some parameters (by id), in multiples of `settings.learning_rate`."""
    E, D, F = network.E, network.D, network.F
    rates = {id(E.label_vectors): settings.encoder_rate}
    if network.shape.tied:
        rates |= {id(p): settings.encoder_rate for p in [*E.parameters(), *D.parameters()]}
    else:
        rates |= {id(p): settings.decoder_rate for p in (D.label_vectors, D.label_bias)}
    return rates | {id(p): settings.code_rate for p in F.FC.parameters()}


def _by_rate(parameters: list[nn.Parameter], rates: dict[int, float]) -> list[dict[str, Any]]:
    """Parameter groups for the optimiser, one for each learning rate."""
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(rates.get(id(parameter), 1.0), []).append(parameter)
    return [{"params": members, "rate": rate} for rate, members in groups.items()]
