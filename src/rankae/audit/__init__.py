"""Which labels of a data set are wrong or missing, by models that have not seen them.

    report = audit(X, Y)
    report.flags[0]     {"row": 17, "label": "ruby", "kind": "missing", "probability": 0.98, ...}

Rows are cut into folds, near-duplicates together, because copies vouch for each other's labels. For each fold a model
learns from the others and scores what the fold's rows carry, what they might carry, and a sample of the rest. Trees
join the scores with what a row's other labels say (`rankae.audit.co_occurrence`) to probabilities, from which the noise
rates, and then each label's probability of being wrong or missing follow (`rankae.audit.noise_rates`).
"""

from __future__ import annotations

from rankae.audit.audit import AuditSettings, audit
from rankae.audit.report import AuditReport

__all__ = ["AuditReport", "AuditSettings", "audit"]
