"""SLEEC (Bhatia et al., 2015): nearest neighbours in local embeddings that keep rows with common labels close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from rankae.base.parameters import Count, Positive, Seed
from rankae.base.ranker import LabelRanker
from rankae.base.search_space import Between, OneOf, Space
from rankae.data.unit_length import unit_rows
from rankae.errors import ModelFileError
from rankae.model_file.schema import Array
from rankae.progress import track
from rankae.rivals._sleec.clusters import cluster_centres, nearest_centre
from rankae.rivals._sleec.embedding import embed_pairs
from rankae.rivals._sleec.label_neighbours import label_gram
from rankae.rivals._sleec.regression import fit_regressor
from rankae.rivals._votes import in_chunks, popular_labels, rank_votes

PUBLISHED: dict[str, dict[str, Any]] = {
    "bibtex": {"learners": 1, "clusters": 1, "neighbours": 250, "dim": 100, "cost": 0.2, "knn": 25},
    "delicious": {"learners": 1, "clusters": 1, "neighbours": 500, "dim": 100, "cost": 0.1, "knn": 70},
    "mediamill": {"learners": 15, "clusters": 5, "neighbours": 300, "dim": 30, "cost": 1.0, "knn": 4},
    "eurlex-4k": {"learners": 5, "clusters": 3, "neighbours": 100, "dim": 100, "cost": 1.0, "knn": 8},
    "wiki10-31k": {"learners": 5, "clusters": 5, "neighbours": 50, "dim": 75, "cost": 0.1, "knn": 11},
}
"""The authors' settings for their data sets."""

ROWS_PER_CLUSTER = 15_000
_MOST_NEIGHBOURS = 100_000


class LocalEmbedding(NamedTuple):
    """One cluster of one learner.

    members : the training rows of the cluster.
    features : the features that occur in them.
    weights : features x dimensions, from unit rows to the embedding.
    points : members x dimensions, where the members lie.
    """

    members: np.ndarray
    features: np.ndarray
    weights: np.ndarray
    points: np.ndarray


@dataclass(kw_only=True, eq=False, repr=False)
class Sleec(LabelRanker):
    """Local embeddings: k-means, an embedding of label neighbours in each cluster, a regression onto it, a vote there.

    Rows are scaled to unit length. Parameters left at None follow the size of the data, near the authors' choices,
    which `PUBLISHED` lists for their data sets.

    Parameters
    ----------
    learners : independent clusterings, averaged; by default 1 for a single cluster (all would be alike), else 3.
    clusters : by default one for every 15,000 rows.
    neighbours : label neighbours of a row whose similarity the embedding keeps; by default a twentieth of the
        cluster's rows between 100 and 500, or 100 if there are more than 2,000 labels.
    dim : dimensions of an embedding.
    cost : weight of the regression's squared error against the norm of its weights.
    knn : neighbours that vote; by default a two-hundredth of the cluster's rows between 10 and 70, or 10 if there are
        more than 2,000 labels.
    random_state : seed of the clusters and of the order in which the regression visits rows.
    """

    method: ClassVar[str] = "sleec"
    search_space: ClassVar[Space] = {
        "dim": OneOf((50, 100, 200)),
        "cost": Between(0.01, 1.0, log=True),
        "neighbours": OneOf((15, 50, 100, 250)),
        "knn": OneOf((5, 10, 25, 50, 70)),
    }

    learners: Count | None = None
    clusters: Count | None = None
    neighbours: Count | None = None
    dim: Count = 100
    cost: Positive = 0.2
    knn: Count | None = None
    random_state: Seed = 0

    def _fit(self, rows: sp.csr_matrix, labels: sp.csr_matrix) -> None:
        random = np.random.default_rng(self.random_state)
        self.popular_ = popular_labels(labels)
        # Rows without labels have no label neighbours, and contribute no votes.
        labelled = np.flatnonzero(np.diff(labels.indptr))
        rows, self.labels_ = unit_rows(rows[labelled]), labels[labelled]
        n, few = len(labelled), labels.shape[1] <= 2000
        clusters = min(self.clusters or max(1, round(n / ROWS_PER_CLUSTER)), max(1, n))
        learners = self.learners or (1 if clusters == 1 else 3)
        neighbours = self.neighbours or (int(np.clip(n / clusters / 20, 100, 500)) if few else 100)
        self.knn_ = self.knn or (int(np.clip(n / clusters / 200, 10, 70)) if few else 10)

        self.centres_ = np.stack([cluster_centres(rows, clusters, random) for _ in range(learners)])
        self.embeddings_: list[list[LocalEmbedding]] = []
        for centres in track(self.centres_, "learners"):
            cluster = nearest_centre(rows, centres)
            self.embeddings_.append(
                [
                    self._embed(np.flatnonzero(cluster == c).astype(np.int32), rows, neighbours, random)
                    for c in range(clusters)
                ]
            )

    def _embed(
        self, members: np.ndarray, rows: sp.csr_matrix, neighbours: int, random: np.random.Generator
    ) -> LocalEmbedding:
        features = np.unique(rows[members].indices)
        local = rows[members][:, features]
        if len(members) == 0:
            return LocalEmbedding(members, features, *np.zeros((2, 0, self.dim), dtype=np.float32))
        targets = embed_pairs(label_gram(self.labels_[members], neighbours), self.dim, random)
        weights = fit_regressor(local, targets, self.cost, random)
        return LocalEmbedding(members, features, weights, np.asarray(local @ weights))

    def _top(self, rows: sp.csr_matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        rows = unit_rows(rows)

        def top(first: int, last: int, columns: np.ndarray, scores: np.ndarray) -> None:
            neighbours = np.hstack(
                [self._neighbours(rows[first:last], learner) for learner in range(len(self.centres_))]
            )
            _vote(neighbours, self.labels_.indptr, self.labels_.indices, self.popular_, columns, scores)

        return in_chunks(top, rows.shape[0], k)

    def _neighbours(self, rows: sp.csr_matrix, learner: int) -> np.ndarray:
        """Training rows nearest to each row in the embedding of its cluster, padded with -1."""
        nearest = np.full((rows.shape[0], self.knn_), -1, dtype=np.int32)
        cluster = nearest_centre(rows, self.centres_[learner])
        for c in np.unique(cluster):
            members, features, weights, points = self.embeddings_[learner][c]
            keep = min(self.knn_, len(members))
            if keep == 0:
                continue
            at = np.asarray(rows[cluster == c][:, features] @ weights)
            # at.p - |p|^2 / 2 orders points as their distance does, and saves passes over a large array.
            nearness = at @ points.T
            nearness -= 0.5 * np.einsum("pd,pd->p", points, points)
            last = len(members) - keep
            nearest[cluster == c, :keep] = members[np.argpartition(nearness, last, axis=1)[:, last:]]
        return nearest

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        arrays = {
            "centres": self.centres_,
            "label_start": self.labels_.indptr,
            "label": self.labels_.indices,
            "popular": self.popular_,
        }
        for learner, embeddings in enumerate(self.embeddings_):
            for cluster, embedding in enumerate(embeddings):
                arrays |= {f"{learner}.{cluster}.{name}": array for name, array in embedding._asdict().items()}
        return {"knn": self.knn_}, arrays

    def _schema(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Array]:
        learners, clusters = arrays["centres"].shape[:2]
        schema = {
            "centres": Array("f", (None, None, "features")),
            "label_start": Array("iu", ("labelled+1",), starts_of="label"),
            "label": Array("iu", (None,), below="labels"),
            "popular": Array("iu", ("labels",), below="labels"),
        }
        for place in (f"{learner}.{cluster}" for learner in range(learners) for cluster in range(clusters)):
            schema |= {
                f"{place}.members": Array("iu", (f"members of {place}",), below="labelled"),
                f"{place}.features": Array("iu", (f"features of {place}",), below="features"),
                f"{place}.weights": Array("f", (f"features of {place}", f"dimensions of {place}")),
                f"{place}.points": Array("f", (f"members of {place}", f"dimensions of {place}")),
            }
        return schema

    def _restore(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.knn_ = settings["knn"]
        if not isinstance(self.knn_, int) or not 1 <= self.knn_ <= _MOST_NEIGHBOURS:
            raise ModelFileError(f"the model's knn is {self.knn_!r}, no number of neighbours; train it again")
        self.centres_, self.popular_ = arrays["centres"], arrays["popular"]
        start, label = arrays["label_start"], arrays["label"]
        ones = np.ones(len(label), dtype=np.float32)
        self.labels_ = sp.csr_matrix((ones, label, start), shape=(len(start) - 1, len(self.classes_)))
        learners, clusters, _ = self.centres_.shape
        self.embeddings_ = [
            [LocalEmbedding(*(arrays[f"{i}.{c}.{name}"] for name in LocalEmbedding._fields)) for c in range(clusters)]
            for i in range(learners)
        ]


@njit(cache=True, nogil=True)
def _vote(neighbours, label_start, label, popular, columns, scores) -> None:
    """Rank labels by the share of the neighbours that carry them."""
    votes = np.zeros(len(popular))
    voted = np.empty(len(popular), dtype=np.int32)
    for i in range(len(neighbours)):
        n_neighbours, n_voted = np.sum(neighbours[i] >= 0), 0
        for row in neighbours[i]:
            if row < 0:
                continue
            for e in range(label_start[row], label_start[row + 1]):
                if votes[label[e]] == 0 and n_voted < len(voted):
                    voted[n_voted] = label[e]
                    n_voted += 1
                votes[label[e]] += 1.0 / n_neighbours
        rank_votes(votes, voted[:n_voted], popular, columns[i], scores[i])
