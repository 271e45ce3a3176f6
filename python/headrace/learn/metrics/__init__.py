# SPDX-License-Identifier: Apache-2.0
"""How good predictions are: scikit-learn's scores and losses, over data of any kind."""

from __future__ import annotations

import inspect
from typing import Any

from headrace.errors import InvalidArgumentError
from headrace.learn.metrics.classification import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
)
from headrace.learn.metrics.clusterings import adjusted_rand_score, normalized_mutual_info_score
from headrace.learn.metrics.distances import (
    calinski_harabasz_score,
    davies_bouldin_score,
    pairwise_distances,
    silhouette_samples,
    silhouette_score,
)
from headrace.learn.metrics.ranking import average_precision_score, roc_auc_score
from headrace.learn.metrics.regression import (
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)

__all__ = [
    "accuracy_score",
    "adjusted_rand_score",
    "average_precision_score",
    "calinski_harabasz_score",
    "confusion_matrix",
    "davies_bouldin_score",
    "f1_score",
    "log_loss",
    "mean_absolute_error",
    "mean_squared_error",
    "normalized_mutual_info_score",
    "pairwise_distances",
    "precision_score",
    "r2_score",
    "recall_score",
    "roc_auc_score",
    "root_mean_squared_error",
    "scorer",
    "silhouette_samples",
    "silhouette_score",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


#: Names of `scoring`: the function, its sign, and the method of the estimator that it judges.
_SCORERS: dict[str, tuple[Any, int, str]] = {
    "accuracy": (accuracy_score, 1, "predict"),
    "adjusted_rand_score": (adjusted_rand_score, 1, "predict"),
    "average_precision": (average_precision_score, 1, "decision"),
    "f1": (f1_score, 1, "predict"),
    "neg_log_loss": (log_loss, -1, "predict_proba"),
    "neg_mean_absolute_error": (mean_absolute_error, -1, "predict"),
    "neg_mean_squared_error": (mean_squared_error, -1, "predict"),
    "neg_root_mean_squared_error": (root_mean_squared_error, -1, "predict"),
    "normalized_mutual_info_score": (normalized_mutual_info_score, 1, "predict"),
    "precision": (precision_score, 1, "predict"),
    "r2": (r2_score, 1, "predict"),
    "recall": (recall_score, 1, "predict"),
    "roc_auc": (roc_auc_score, 1, "decision"),
}
for _name in ("f1", "precision", "recall"):
    for _average in ("macro", "micro", "weighted"):
        _SCORERS[f"{_name}_{_average}"] = _SCORERS[_name]


def _decisions(estimator: Any, X: Any) -> Any:
    """What ranks rows: decision values, else the probability of the last of two classes."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    chances = estimator.predict_proba(X)
    return chances[:, 1] if chances.shape[1] == 2 else chances


def scorer(scoring: Any = None) -> Any:
    """A function ``(estimator, X, y)`` for a name of `scoring`; None is the estimator's `score`.

    >>> hr.learn.metrics.scorer("accuracy").__name__
    'score'
    """
    if scoring is None:
        return lambda estimator, X, *y, **weights: estimator.score(X, *y, **weights)
    if callable(scoring):
        return scoring
    if scoring not in _SCORERS:
        raise InvalidArgumentError(
            f"scorer: no such score: scoring={scoring!r}; use {', '.join(map(repr, _SCORERS))}"
        )
    function, sign, method = _SCORERS[scoring]
    base, _, average = scoring.partition("_")
    averaged = {"average": average} if base in ("f1", "precision", "recall") and average else {}

    def score(estimator: Any, X: Any, y: Any, **weights: Any) -> float:
        judged = _decisions(estimator, X) if method == "decision" else getattr(estimator, method)(X)
        return sign * function(y, judged, **averaged, **weights)

    return score


def takes_weights(scoring: Any, estimator: Any) -> bool:
    """Whether what `scorer` makes of a name or function takes `sample_weight`."""
    judge = estimator.score if scoring is None else scoring
    if isinstance(judge, str):
        judge = _SCORERS[judge][0]
    if hasattr(judge, "_accept_sample_weight"):  # scikit-learn's
        return judge._accept_sample_weight()
    return "sample_weight" in inspect.signature(judge).parameters
