# SPDX-License-Identifier: Apache-2.0
"""hr.learn compared with scikit-learn: ./dev bench learn [--rows N]."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import Bench, Rival, close_to, run, shared
from sklearn import (
    cluster,
    datasets,
    decomposition,
    ensemble,
    linear_model,
    manifold,
    model_selection,
    naive_bayes,
    neighbors,
    pipeline,
    preprocessing,
    svm,
)
from sklearn.feature_extraction import text

import headrace as hr

try:  # scikit-learn-intelex, where it is installed
    import sklearnex.ensemble
    import sklearnex.linear_model
    import sklearnex.neighbors
    import sklearnex.svm
except ImportError:
    sklearnex = None

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ["numpy", "scikit-learn"]
LEVELS = 1000


def installed(name: str) -> Any:
    """Import a rival, or None: not every machine has it."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


dbscan, fast_hdbscan, openTSNE, umap = map(
    installed, ("dbscan", "fast_hdbscan", "openTSNE", "umap")
)


def scaled(bench: Bench, rows: int) -> None:
    """Fit and transform four columns, and read the result."""
    x = np.random.default_rng(1).normal(5.0, 3.0, (rows, 4))
    frame = hr.DataFrame({name: np.ascontiguousarray(x[:, i]) for i, name in enumerate("abcd")})
    theirs = Rival("scikit-learn", lambda: preprocessing.StandardScaler().fit_transform(x), 8)
    for label, data in (("array", shared(x)), ("frame", frame)):
        bench.step(
            f"StandardScaler 4 columns, {label}",
            lambda d=data: hr.learn.StandardScaler().fit_transform(d).to_numpy(),
            [theirs],
            close_to(1e-12),
            3 * x.nbytes,
            rows,
        )


def nonzeros(made: object) -> np.ndarray:
    """The columns of the ones, as both keep them."""
    return np.asarray(made.indices)  # type: ignore[attr-defined]


def same_ones(ours: object, theirs: object) -> str:
    """Compare sparse matrices of ones by the places of these."""
    np.testing.assert_array_equal(nonzeros(ours), nonzeros(theirs))
    np.testing.assert_array_equal(np.asarray(ours.indptr), np.asarray(theirs.indptr))  # type: ignore[attr-defined]
    return "equal"


def encoded(bench: Bench, rows: int) -> None:
    """Levels of one column of integers and one of strings, and their targets."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, LEVELS, rows)
    words = np.array([f"level {number}" for number in range(LEVELS)], dtype=object)[codes]
    columns = {"integers": codes.reshape(-1, 1), "strings": words.reshape(-1, 1)}
    frames = {name: hr.DataFrame({"x": column.ravel()}) for name, column in columns.items()}
    hr.eval(*frames.values())
    for name, column in columns.items():
        bench.step(
            f"OneHotEncoder {name}",
            lambda f=frames[name]: hr.learn.OneHotEncoder().fit_transform(f),
            [
                Rival(
                    "scikit-learn",
                    lambda c=column: preprocessing.OneHotEncoder().fit_transform(c),
                    8,
                )
            ],
            same_ones,
            20 * rows,
            rows,
        )
    y, folds = rng.normal(size=rows), model_selection.KFold(5)
    bench.step(
        "TargetEncoder integers, 5 folds",
        lambda: hr.learn.TargetEncoder(cv=folds).fit_transform(frames["integers"], y).to_numpy(),
        [
            Rival(
                "scikit-learn",
                lambda: preprocessing.TargetEncoder(cv=folds).fit_transform(columns["integers"], y),
                4,
            )
        ],
        close_to(1e-9),
        24 * rows,
        rows,
    )


def grouped(bench: Bench, rows: int) -> None:
    """k-means from given centres, dense clusters of a plane, and neighbours of some rows."""
    rng = np.random.default_rng(3)
    x, wide = (
        rng.normal(size=(min(rows, 1_000_000), columns)).astype(np.float32) for columns in (16, 128)
    )

    def model(kind: Any, data: Any, clusters: int) -> Any:
        return kind(clusters, init=data[:clusters].copy(), n_init=1, max_iter=10, tol=0)

    for data, clusters, bar in ((x, 20, 2.3), (wide, 256, 1.3)):

        def fitted(kind: Any, data: Any = data, clusters: int = clusters) -> float:
            return float(model(kind, data, clusters).fit(data).inertia_)

        bench.step(
            f"KMeans {len(data)} x {data.shape[1]}, {clusters} clusters, 10 iterations",
            lambda f=fitted: f(hr.learn.KMeans),
            [Rival("scikit-learn", lambda f=fitted: f(cluster.KMeans), bar)],
            close_to(1e-5),
            data.nbytes,
            len(data),
        )

    def scaled_first(made: Any, scaler: Any, kind: Any) -> float:
        return float(made(scaler(), model(kind, x, 20)).fit(x).steps[1][1].inertia_)

    bench.step(
        f"StandardScaler, then KMeans {len(x)} x 16, 20 clusters, 10 iterations",
        lambda: scaled_first(hr.learn.make_pipeline, hr.learn.StandardScaler, hr.learn.KMeans),
        [
            Rival(
                "scikit-learn",
                lambda: scaled_first(
                    pipeline.make_pipeline, preprocessing.StandardScaler, cluster.KMeans
                ),
                3,
            )
        ],
        close_to(1e-4),
        x.nbytes,
        len(x),
    )
    gathered(bench, rows, rng)
    near, queries = rng.normal(size=(min(rows, 100_000), 64)), rng.normal(size=(10_000, 64))
    ours = hr.learn.NearestNeighbors(n_neighbors=10).fit(near)
    kinds = {"scikit-learn": neighbors.NearestNeighbors}
    if sklearnex is not None:
        kinds["sklearnex"] = sklearnex.neighbors.NearestNeighbors
    theirs = {
        name: kind(n_neighbors=10, algorithm="brute", n_jobs=-1).fit(near)
        for name, kind in kinds.items()
    }
    bench.step(
        f"kneighbors {len(near)} x 64, {len(queries)} queries",
        lambda: ours.kneighbors(queries, return_distance=False),
        [
            Rival(name, lambda m=model: m.kneighbors(queries, return_distance=False), 1.4)
            for name, model in theirs.items()
        ],
        close_to(0),
        near.nbytes,
        len(near),
    )


def blobs_and_noise(count: int, rng: np.random.Generator) -> np.ndarray:
    """Two round clusters of a plane in noise."""
    return np.concatenate(
        [
            rng.normal(size=(count * 6 // 10, 2)),
            rng.normal(size=(count * 3 // 10, 2)) * 0.3 + 4,
            rng.uniform(-8, 8, size=(count // 10, 2)),
        ]
    )


def gathered(bench: Bench, rows: int, rng: np.random.Generator) -> None:
    """Dense clusters: of planes, of eight columns, and over all densities."""
    plane = blobs_and_noise(min(rows, 100_000), rng)
    eight = np.repeat(plane, 4, axis=1) + rng.normal(size=(len(plane), 8)) * 0.1
    for points, eps in ((plane, 0.1), (eight, 0.4)):
        dense = {"eps": eps, "min_samples": 10}
        bench.step(
            f"DBSCAN {len(points)} x {points.shape[1]}",
            lambda d=dense, x=points: hr.learn.DBSCAN(**d).fit_predict(x),
            [
                Rival(
                    "scikit-learn",
                    lambda d=dense, x=points: cluster.DBSCAN(**d, n_jobs=-1).fit_predict(x),
                    2,
                )
            ],
            close_to(0),
            points.nbytes,
            len(points),
        )
    if dbscan is not None:
        large = blobs_and_noise(min(rows, 1_000_000), rng)
        bench.step(
            f"DBSCAN {len(large)} x 2",
            lambda: hr.learn.DBSCAN(eps=0.03, min_samples=10).fit_predict(large),
            [Rival("dbscan", lambda: dbscan.DBSCAN(large, 0.03, 10)[0], 2)],
            # A border row of two clusters goes to either.
            same_clusters(1e-3),
            large.nbytes,
            len(large),
        )
    space = np.concatenate([plane, np.zeros((len(plane), 1))], axis=1)
    space[:, 2] = rng.normal(size=len(space))
    stable = {"min_cluster_size": 50, "min_samples": 2}  # with more, edges tie
    theirs = [
        Rival("scikit-learn", lambda: cluster.HDBSCAN(**stable, copy=True).fit_predict(space), 1.5)
    ]
    if fast_hdbscan is not None:
        # It does not count a row as a neighbour of its own.
        less = stable | {"min_samples": 1}
        theirs.append(
            Rival(
                "fast_hdbscan",
                lambda: fast_hdbscan.HDBSCAN(**less).fit_predict(space),
                1.5,
                same_clusters(0.01),
            )
        )
    bench.step(
        f"HDBSCAN {len(space)} x 3",
        lambda: hr.learn.HDBSCAN(**stable).fit_predict(space),
        theirs,
        close_to(0),
        space.nbytes,
        len(space),
    )


def factored(bench: Bench, rows: int) -> None:
    """Singular vectors and non-negative factors."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(min(rows, 200_000), 500)) * 0.97 ** np.arange(500)
    svd = {"n_components": 50, "random_state": 0}
    bench.step(
        f"TruncatedSVD {len(x)} x 500, 50 components",
        lambda: hr.learn.TruncatedSVD(**svd).fit(x).singular_values_.to_numpy(),
        [
            Rival(
                "scikit-learn", lambda: decomposition.TruncatedSVD(**svd).fit(x).singular_values_, 2
            )
        ],
        close_to(1e-3),
        x.nbytes,
        len(x),
    )
    tall = rng.normal(size=(min(rows, 1_000_000), 64)) * 0.9 ** np.arange(64) + 3
    bench.step(
        f"PCA {len(tall)} x 64, 8 components",
        lambda: hr.learn.PCA(8).fit(tall).explained_variance_.to_numpy(),
        [Rival("scikit-learn", lambda: decomposition.PCA(8).fit(tall).explained_variance_, 1.6)],
        close_to(1e-9),
        tall.nbytes,
        len(tall),
    )
    parts = rng.random((min(rows, 50_000), 20)), rng.random((20, 500))
    counts = parts[0] @ parts[1] + 0.1 * rng.random((len(parts[0]), 500))
    start = {"W": rng.random(parts[0].shape), "H": rng.random(parts[1].shape)}
    nmf = {"n_components": 20, "init": "custom", "max_iter": 20, "tol": 0}
    copies = lambda: {name: value.copy() for name, value in start.items()}  # noqa: E731
    bench.step(
        f"NMF {len(counts)} x 500, 20 components, 20 iterations",
        lambda: hr.learn.NMF(**nmf).fit(counts, **copies()).reconstruction_err_,
        [
            Rival(
                "scikit-learn",
                lambda: decomposition.NMF(**nmf).fit(counts, **copies()).reconstruction_err_,
                2,
            )
        ],
        close_to(1e-8),
        counts.nbytes,
        len(counts),
    )


def few_differ(share: float) -> Callable[[Any, Any], str]:
    """Compare labels, of which a share may differ."""

    def compare(ours: Any, theirs: Any) -> str:
        differ = float(np.mean(np.asarray(ours) != np.asarray(theirs)))
        assert differ <= share, f"{differ:.2%} of the labels differ, allowed {share:.2%}"
        return f"{differ:.2%} of the labels differ (allowed {share:.2%})"

    return compare


def same_clusters(share: float) -> Callable[[Any, Any], str]:
    """Compare clusters that may be numbered otherwise, and of whose rows a share may differ."""

    def compare(ours: Any, theirs: Any) -> str:
        pairs = np.stack([np.asarray(ours), np.asarray(theirs)])
        names, counts = np.unique(pairs, axis=1, return_counts=True)
        largest = {}
        for (mine, its), count in sorted(
            zip(names.T.tolist(), counts.tolist(), strict=True), key=lambda pair: pair[1]
        ):
            largest[mine] = (its, count)
        agree = sum(count for _, count in largest.values()) / pairs.shape[1]
        assert agree >= 1 - share, f"{1 - agree:.2%} of the rows differ, allowed {share:.2%}"
        return f"{1 - agree:.3%} of the rows in other clusters (allowed {share:.2%})"

    return compare


def told_apart(bench: Bench, rows: int) -> None:
    """Linear models, support vector machines and naive Bayes, fitted."""
    x, y = datasets.make_classification(
        min(rows, 1_000_000), 20, n_informative=12, class_sep=0.8, random_state=0
    )
    tight = {"tol": 1e-6, "max_iter": 1000}

    def rivals(name: str, module: str, fitted: Callable[[Any], Any], bar: float) -> list[Rival]:
        kinds = {"scikit-learn": {"linear_model": linear_model, "svm": svm}[module]}
        if sklearnex is not None:
            kinds["sklearnex"] = getattr(sklearnex, module)
        return [
            Rival(each, lambda c=getattr(kind, name): fitted(c), bar)
            for each, kind in kinds.items()
        ]

    def logistic(data: Any, labels: Any) -> Callable[[Any], Any]:
        # Not coefficients: columns that depend on each other share theirs in many ways.
        return lambda kind: kind(**tight).fit(data, labels).decision_function(data[:10_000])

    bench.step(
        f"LogisticRegression {len(x)} x 20",
        lambda: logistic(x, y)(hr.learn.LogisticRegression),
        rivals("LogisticRegression", "linear_model", logistic(x, y), 3),
        close_to(1e-3),
        x.nbytes,
        len(x),
    )
    wide, kinds = datasets.make_classification(
        min(rows, 100_000), 200, n_informative=50, n_classes=10, random_state=0
    )
    bench.step(
        f"LogisticRegression {len(wide)} x 200, 10 classes",
        lambda: logistic(wide, kinds)(hr.learn.LogisticRegression),
        rivals("LogisticRegression", "linear_model", logistic(wide, kinds), 2),
        close_to(1e-2),
        wide.nbytes,
        len(wide),
    )
    tall = np.random.default_rng(6).normal(size=(min(rows, 1_000_000), 64))
    sums = tall @ np.arange(64.0) + tall[:, 0] ** 2
    for name in ("LinearRegression", "Ridge"):
        bench.step(
            f"{name} {len(tall)} x 64",
            lambda name=name: getattr(hr.learn, name)().fit(tall, sums).coef_,
            rivals(name, "linear_model", lambda kind: kind().fit(tall, sums).coef_, 1.5),
            close_to(1e-8),
            tall.nbytes,
            len(tall),
        )
    numbers = wide[:50_000] @ np.random.default_rng(5).normal(size=200)
    bench.step(
        f"LassoCV {len(numbers)} x 200, 100 penalties, 5 folds",
        lambda: hr.learn.LassoCV(cv=5).fit(wide[:50_000], numbers).coef_,
        [
            Rival(
                "scikit-learn",
                lambda: linear_model.LassoCV(cv=5, n_jobs=2).fit(wide[:50_000], numbers).coef_,
                3,
            )
        ],
        close_to(1e-3),
        wide[:50_000].nbytes,
        len(numbers),
    )
    broad = np.random.default_rng(7).normal(size=(min(rows, 200_000), 500))
    parts = broad[:, :20] @ np.arange(1.0, 21.0) + 10 * broad[:, 20] * broad[:, 21]
    penalties = {"alphas": 100, "max_iter": 10_000}
    bench.step(
        f"lasso_path {len(broad)} x 500, 100 penalties",
        lambda: hr.learn.lasso_path(broad, parts, **penalties)[1],
        [Rival("scikit-learn", lambda: linear_model.lasso_path(broad, parts, **penalties)[1], 3)],
        close_to(1e-3),
        broad.nbytes,
        len(broad),
    )
    few, sides = datasets.make_classification(
        min(rows, 20_000), 20, n_informative=10, random_state=0
    )
    bench.step(
        f"SVC {len(few)} x 20",
        lambda: hr.learn.SVC().fit(few, sides).predict(few),
        rivals("SVC", "svm", lambda kind: kind().fit(few, sides).predict(few), 1.5),
        few_differ(0.001),
        few.nbytes,
        len(few),
    )
    bench.step(
        f"GaussianNB {len(x)} x 20",
        lambda: hr.learn.GaussianNB().fit(x, y).predict(x),
        [Rival("scikit-learn", lambda: naive_bayes.GaussianNB().fit(x, y).predict(x), 3)],
        few_differ(0),
        2 * x.nbytes,
        len(x),
    )


def read_as_words(bench: Bench, rows: int) -> None:
    """Texts, hashed and weighed, told apart by a linear model."""
    rng = np.random.default_rng(12)
    words = np.array([f"word{k}" for k in range(50_000)])
    sides = rng.integers(0, 2, min(rows, 100_000))
    often = (rng.zipf(1.3, size=(len(sides), 40)) + 13 * sides[:, None]) % len(words)
    texts = [" ".join(row) for row in words[often]]
    ours = hr.learn.make_pipeline(
        hr.learn.HashingVectorizer(n_features=1 << 18),
        hr.learn.TfidfTransformer(),
        hr.learn.LogisticRegression(),
    )
    theirs = pipeline.make_pipeline(
        text.HashingVectorizer(n_features=1 << 18),
        text.TfidfTransformer(),
        linear_model.LogisticRegression(),
    )
    bench.step(
        f"hashing, tf-idf and LogisticRegression, {len(texts)} texts",
        lambda: ours.fit(texts, sides).predict(texts[:10_000]),
        [Rival("scikit-learn", lambda: theirs.fit(texts, sides).predict(texts[:10_000]), 10)],
        few_differ(0.001),
        sum(map(len, texts)),
        len(texts),
    )


def asked_one_by_one(bench: Bench) -> None:
    """A thousand predictions of one row each."""
    rng = np.random.default_rng(9)
    x = rng.normal(size=(1000, 20))
    labels = (x[:, 0] + rng.normal(size=1000) > 0).astype(np.int64)
    model = hr.learn.make_pipeline(hr.learn.StandardScaler(), hr.learn.LogisticRegression())
    theirs = pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    )

    def answers(fitted: Any) -> Any:
        return np.concatenate([fitted.predict(x[k : k + 1]) for k in range(len(x))])

    model.fit(x, labels)
    theirs.fit(x, labels)
    bench.step(
        "predict 1,000 times one row, scaler and logistic",
        lambda: answers(model),
        [Rival("scikit-learn", lambda: answers(theirs), 8)],
        few_differ(0.005),
        x.nbytes,
        len(x),
    )


def searched(bench: Bench, rows: int) -> None:
    """Grids over five folds: what fits share, scikit-learn does for each."""
    rng = np.random.default_rng(8)
    count = min(rows, 100_000)
    x = rng.normal(size=(count, 20))
    y = 3 * x[:, 0] + x[:, 1] + rng.normal(size=count)
    labels = (y > 0).astype(np.int64)
    few = slice(None, count // 10)

    def task(name: str, ours: Any, theirs: Any, grid: Any, data: Any, share: float) -> None:
        def best(search: Any) -> float:
            return float(search.fit(*data).best_score_)

        bench.step(
            f"GridSearchCV {name}, 5 folds",
            lambda: best(hr.learn.GridSearchCV(ours, grid, cv=5, refit=False)),
            [
                Rival(
                    "scikit-learn",
                    lambda: best(
                        model_selection.GridSearchCV(theirs, grid, cv=5, refit=False, n_jobs=2)
                    ),
                    10,
                )
            ],
            close_to(share),
            data[0].nbytes,
            len(data[0]),
        )

    alphas = {"alpha": np.logspace(-2, 3, 20).tolist()}
    task(
        f"Ridge {count} x 20, 20 alphas",
        hr.learn.Ridge(),
        linear_model.Ridge(),
        alphas,
        (x, y),
        1e-9,
    )
    near = {"n_neighbors": [1, 3, 5, 10, 20, 50]}
    pair = hr.learn.KNeighborsClassifier(), neighbors.KNeighborsClassifier()
    task(f"neighbours {len(x[few])} x 20, 6 counts", *pair, near, (x[few], labels[few]), 1e-9)
    grid = {"max_depth": [4, 6, 8, 10, 12], "max_features": [3, 5, 8, 12]}
    options = {"n_estimators": 10, "random_state": 0}
    pair = hr.learn.RandomForestClassifier(**options), ensemble.RandomForestClassifier(**options)
    task(f"forest {count} x 20, 10 trees, 20 candidates", *pair, grid, (x, labels), 0.005)


def grown(bench: Bench, rows: int) -> None:
    """Forests, fitted and asked."""
    x, y = datasets.make_classification(
        min(rows, 125_000), 20, n_informative=10, flip_y=0.05, random_state=0
    )
    x, late, y, truth = model_selection.train_test_split(x, y, test_size=0.2, random_state=0)
    kinds = {"scikit-learn": ensemble.RandomForestClassifier}
    if sklearnex is not None:
        kinds["sklearnex"] = sklearnex.ensemble.RandomForestClassifier
    options = {"n_estimators": 100, "random_state": 0}
    theirs = {name: kind(n_jobs=2, **options) for name, kind in kinds.items()}
    ours = hr.learn.RandomForestClassifier(**options)

    def fitted(model: Any) -> float:
        return float(model.fit(x, y).score(late, truth))

    allowed = len(late) ** -0.5

    def not_less(ours: Any, theirs: Any) -> str:
        assert ours >= theirs - allowed, f"accuracy {ours:.4f}, theirs {theirs:.4f}"
        return f"accuracy {ours:.4f} and {theirs:.4f} (allowed {allowed:.4f} less)"

    bench.step(
        f"RandomForestClassifier {len(x)} x 20, 100 trees",
        lambda: fitted(ours),
        [Rival(name, lambda m=model: fitted(m), 2) for name, model in theirs.items()],
        not_less,
        x.nbytes,
        len(x),
    )
    step = f"RandomForestClassifier {len(x)} x 20, 100 trees, predict"
    if not bench.wants(step):
        return
    for model in (ours, *theirs.values()):
        model.fit(x, y)
    bench.step(
        step,
        lambda: ours.predict(x),
        [Rival(name, lambda m=model: m.predict(x), 1) for name, model in theirs.items()],
        few_differ(0.02),
        x.nbytes,
        len(x),
    )


def embedded(bench: Bench, rows: int) -> None:
    """Points in a plane, by how far neighbours are kept from the rows."""
    blobs, _ = datasets.make_blobs(min(rows, 50_000), 50, centers=30, cluster_std=4, random_state=0)
    shown = np.random.default_rng(6).permutation(len(blobs))[:2000]

    def not_more(data: Any) -> Callable[[Any, Any], str]:
        def lost(points: Any) -> float:
            near = np.asarray(points)[shown[shown < len(data)]]
            return 1.0 - float(
                manifold.trustworthiness(data[shown[shown < len(data)]], near, n_neighbors=10)
            )

        def compare(ours: Any, theirs: Any) -> str:
            mine, its = lost(ours), lost(theirs)
            assert mine <= its + 0.005, f"untrustworthy by {mine:.4f}, theirs by {its:.4f}"
            return f"trustworthiness {1 - mine:.4f} and {1 - its:.4f} (allowed 0.005 less)"

        return compare

    tsne = {"init": "pca", "random_state": 0}
    theirs = {"scikit-learn": lambda data: manifold.TSNE(n_jobs=2, **tsne).fit_transform(data)}
    if openTSNE is not None:
        theirs["openTSNE"] = lambda data: openTSNE.TSNE(
            n_jobs=2, initialization="pca", random_state=0
        ).fit(data)
    for label, data in (("digits", datasets.load_digits().data), ("blobs", blobs[:10_000])):
        bench.step(
            f"TSNE {label}, {len(data)} x {data.shape[1]}",
            lambda d=data: hr.learn.TSNE(**tsne).fit_transform(d),
            [Rival(name, lambda f=fit, d=data: f(d), 1.5) for name, fit in theirs.items()],
            not_more(data),
            data.nbytes,
            len(data),
        )
    if umap is not None:
        bench.step(
            f"UMAP {len(blobs)} x 50",
            lambda: hr.learn.UMAP(random_state=0).fit_transform(blobs),
            [Rival("umap-learn", lambda: umap.UMAP(random_state=0).fit_transform(blobs), 3)],
            not_more(blobs),
            blobs.nbytes,
            len(blobs),
        )


def steps(bench: Bench, rows: int) -> None:
    """Preparation of data, clusters, neighbours, factors, classifiers, forests and embeddings."""
    scaled(bench, rows)
    encoded(bench, rows)
    grouped(bench, rows)
    factored(bench, rows)
    told_apart(bench, rows)
    read_as_words(bench, rows)
    searched(bench, rows)
    asked_one_by_one(bench)
    grown(bench, rows)
    embedded(bench, rows)


if __name__ == "__main__":
    sys.exit(run("learn", __doc__, PACKAGES, steps))
