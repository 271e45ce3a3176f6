# SPDX-License-Identifier: Apache-2.0
"""Every public estimator of `hr.learn` under the checks that scikit-learn has for its own."""

import inspect
import warnings

import pytest

from headrace import learn

pytest.importorskip("sklearn")
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import estimator_checks
from sklearn.utils._test_common import instance_generator

#: Estimators that need parameters to be made.
EXAMPLES = {
    "NMF": lambda: [learn.NMF(max_iter=500)],  # as scikit-learn checks its own
    "HashEncoder": lambda: [learn.HashEncoder(8)],
    "TSNE": lambda: [learn.TSNE(perplexity=2)],
    "Pipeline": lambda: [
        learn.Pipeline([("scaler", learn.StandardScaler()), ("pca", learn.PCA())]),
        learn.make_pipeline(learn.MinMaxScaler(), learn.StandardScaler()),
    ],
    "FeatureUnion": lambda: [learn.FeatureUnion([("scaler", learn.StandardScaler())])],
    "ColumnTransformer": lambda: [
        learn.ColumnTransformer([("scaler", learn.StandardScaler(), [0, 1])])
    ],
    "GridSearchCV": lambda: [
        learn.GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
        learn.GridSearchCV(learn.KNeighborsClassifier(2), {"weights": ["uniform"]}, cv=2),
    ],
    "RandomizedSearchCV": lambda: [
        learn.RandomizedSearchCV(
            LogisticRegression(max_iter=20), {"C": [0.1, 1.0]}, cv=2, n_iter=1, random_state=0
        )
    ],
    "HalvingGridSearchCV": lambda: [
        learn.HalvingGridSearchCV(
            Ridge(), {"alpha": [0.1, 1.0]}, cv=2, min_resources="smallest", random_state=0
        )
    ],
}


#: Those that take frames alone, whose columns have names.
OF_FRAMES = ("GroupStatistics", "Lag")


def estimators():
    for name in learn.__all__:
        cls = getattr(learn, name)
        if name in OF_FRAMES:
            continue
        if inspect.isclass(cls) and hasattr(cls, "fit"):
            yield from EXAMPLES[name]() if name in EXAMPLES else [cls()]


def cases():
    """Each estimator with each check, but those that scikit-learn's own estimator fails."""
    theirs = {
        cls.__name__: xfails
        for cls, xfails in instance_generator.PER_ESTIMATOR_XFAIL_CHECKS.items()
    }
    for estimator in estimators():
        left_out = theirs.get(type(estimator).__name__, {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checks = list(estimator_checks.estimator_checks_generator(estimator, legacy=True))
        for made, check in checks:
            name = getattr(check, "func", check).__name__
            if name not in left_out:
                yield pytest.param(made, check, id=f"{made!r}-{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator, check", list(cases()))
def test_check(estimator, check):
    check(estimator)
