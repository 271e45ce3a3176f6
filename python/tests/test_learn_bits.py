# SPDX-License-Identifier: Apache-2.0
"""Every estimator has the same bits for any number of threads and at any limit that it fits in."""

import gc
import hashlib
import time

import numpy as np
import pytest
from test_learn_files import ALONE, NAMES, TEXTS, example, used

import headrace as hr
from headrace import learn

pytestmark = pytest.mark.filterwarnings("ignore")

#: Rows of several blocks and parts; fewer where the work grows with their square.
SIZES = {"SVC": 1400, "SVR": 1400, "TSNE": 900, "UMAP": 900, "HDBSCAN": 3000, "GridSearchCV": 3000}
SIZES |= {"RandomizedSearchCV": 3000, "HalvingGridSearchCV": 3000, "DBSCAN": 5000}
QUICK = {
    "TSNE": {"max_iter": 260, "perplexity": 10},
    "UMAP": {"n_epochs": 20},
    "NMF": {"n_components": 3, "max_iter": 10},
    "LinearSVR": {"tol": 0.5},
    "HashingVectorizer": {"n_features": 1024},
}
FORESTS = [name for name in NAMES if "Trees" in name or "Forest" in name]
QUICK |= {name: {"n_estimators": 12} for name in FORESTS}


def data(name):
    """Rows and labels for an estimator of this name."""
    random = np.random.default_rng(3)
    if "Vectorizer" in name:
        words = random.integers(0, 3000, (900, 25)).tolist()
        return TEXTS + [" ".join(f"word{k}" for k in line) for line in words], None
    if name.startswith("Label"):
        return [f"label {k % 97}" for k in range(20_000)], None
    rows = random.normal(size=(SIZES.get(name, 20_000), 6)) * [1, 2, 1, 5, 1, 1] + [
        0,
        3,
        0,
        0,
        9,
        0,
    ]
    labels = (rows[:, 0] + rows[:, 1] > 3).astype(int) + (rows[:, 3] > 5)
    if name in ("NMF", "TfidfTransformer") or name.endswith("NB"):
        rows = np.abs(rows)
    if name.endswith(("OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "CategoryEncoder")):
        rows = np.round(rows)
    if name in ("GroupStatistics", "Lag"):
        return hr.DataFrame(dict(zip("abcdef", np.round(rows).T, strict=True))), None
    return rows, labels


def fitted(name, rows, labels):
    model = example(name).set_params(**QUICK.get(name, {}))
    return model.fit(rows) if labels is None else model.fit(rows, labels)


def digest(model, rows, path):
    """Of the bytes of a model's file, times left out, and of what the model says."""
    if hasattr(model, "cv_results_"):
        model.refit_time_ = 0.0
        model.cv_results_ = {k: v for k, v in model.cv_results_.items() if "_time" not in k}
    model.save(path)
    found = hashlib.sha256(path.read_bytes())
    if type(model).__name__ not in ALONE:
        for use, parts in used(model, rows[:700]).items():
            found.update(use.encode())
            for part in parts:
                found.update(part.tobytes() if part.dtype != object else repr(part).encode())
    return found.hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_same_bits(name, tmp_path):
    rows, labels = data(name)
    path = tmp_path / "m.hrm"
    expected = digest(fitted(name, rows, labels), rows, path)
    for threads in (1, 2, 4):
        with hr.threads(threads):
            assert digest(fitted(name, rows, labels), rows, path) == expected, threads
    for room in (1 << k for k in range(16, 30)):  # the first that is enough, and what is too little
        try:
            with hr.threads(4), hr.memory.limit(hr.memory.stats().used_bytes + room):
                model = fitted(name, rows, labels)
        except hr.OutOfMemoryError:
            continue
        assert digest(model, rows, path) == expected, room
        return
    pytest.fail("no limit is enough")


@pytest.mark.pool
@pytest.mark.parametrize(
    "make",
    [
        lambda: learn.KMeans(8, n_init=1, max_iter=4, random_state=0),
        lambda: learn.PCA(4),
        lambda: learn.LogisticRegression(max_iter=20),
    ],
    ids=["KMeans", "PCA", "LogisticRegression"],
)
def test_quarter_of_the_data(make, tmp_path):
    """Rows that lie on the disk for the most part give the same model."""
    gc.collect()
    others = hr.memory.stats().used_bytes  # what earlier tests hold
    rows = hr.asarray(np.random.default_rng(0).normal(size=(150_000, 24))) * 1.0
    hr.eval(rows)
    labels = (np.asarray(rows)[:, 0] > 0.5).astype(int)
    begin = time.perf_counter()
    expected = digest(make().fit(rows, labels), rows, tmp_path / "m.hrm")
    whole = time.perf_counter() - begin
    limit = others + rows.nbytes // 4
    with hr.memory.limit(limit):
        begin = time.perf_counter()
        assert digest(make().fit(rows, labels), rows, tmp_path / "m.hrm") == expected
        assert time.perf_counter() - begin < 20 * whole + 5  # of a busy machine
        assert hr.memory.stats().used_bytes < limit


@pytest.mark.pool
def test_labels_that_leave_while_they_are_numbered():
    """Places of labels are whole where other arrays make room for them."""
    others = [hr.asarray(np.random.default_rng(k).normal(size=200_000)) * 2.0 for k in range(20)]
    rows = hr.asarray(np.random.default_rng(0).normal(size=(150_000, 24))) * 1.0
    hr.eval(rows, *others)
    labels = (np.asarray(rows)[:, 0] > 0.5).astype(int)

    def fitted():
        return np.asarray(learn.LogisticRegression(max_iter=20).fit(rows, labels).coef_)

    expected = fitted()
    for share in range(25, 85, 5):
        for array in (rows, *others):
            array.sum().item()  # back in memory
        with hr.memory.limit(hr.memory.stats().used_bytes * share // 100):
            assert np.array_equal(fitted(), expected), share


RANDOM = np.random.default_rng(8)
ROWS = RANDOM.normal(size=(4000, 40))
FEW = RANDOM.normal(size=(20_000, 3))
WIDE = RANDOM.normal(size=(600, 300))
LABELS = (ROWS[:, 0] > 0).astype(int)
ENGINES = {
    "kmeans_fit": lambda: learn.KMeans(200, init="random", n_init=1).fit(ROWS),
    "pca_fit": lambda: learn.PCA(5).fit(WIDE),
    "fit_linear": lambda: learn.LogisticRegression().fit(WIDE, LABELS[:600]),
    "svm_classes": lambda: learn.SVC().fit(ROWS, LABELS),
    "svm_numbers": lambda: learn.SVR().fit(ROWS, ROWS[:, 0]),
    "forest_bins": lambda: learn.RandomForestClassifier(4, random_state=0).fit(ROWS, LABELS),
    "isolation_fit": lambda: learn.IsolationForest(
        n_estimators=4, max_samples=1000, random_state=0
    ).fit(ROWS),
    "dbscan": lambda: learn.DBSCAN(0.1).fit(FEW),
    "hdbscan": lambda: learn.HDBSCAN(5).fit(FEW[:5000]),
    "nearest_neighbors": lambda: learn.KNeighborsClassifier().fit(ROWS, LABELS).predict(ROWS),
    "class_moments": lambda: learn.GaussianNB().fit(WIDE, np.arange(600) % 150),
}


@pytest.mark.parametrize("op", ENGINES)
def test_states_its_bytes(op, memory_room):
    """Too little is refused before the work, and what was asked for is about what it takes."""
    with hr.threads(1):
        with memory_room(300_000), pytest.raises(hr.OutOfMemoryError) as refused:
            base = hr.memory.stats().used_bytes
            ENGINES[op]()
        assert str(refused.value).startswith(f"{op}: out of memory: requested=")
        assert refused.value.requested_bytes > 300_000
        held = refused.value.used_bytes - base
        with memory_room(held + int(1.25 * refused.value.requested_bytes) + 300_000):
            ENGINES[op]()
