# SPDX-License-Identifier: Apache-2.0
"""hr.learn on an NVIDIA GPU compared with cuML, data on the device: ./dev bench learn_cuda."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("learn_cuda: CuPy is required for the comparison; install cupy-cuda13x")
import measure
import numpy as np

import headrace as hr
from headrace import _core

try:
    import cuml
except ImportError:
    cuml = None

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = tuple[Any, ...]
Same = "Callable[[Answer, Answer], str]"


def rows_of(rows: int, columns: int, centers: int, spread: float, seed: int = 1) -> np.ndarray:
    """Rows around random places, float32."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-10, 10, (centers, columns))
    noise = rng.standard_normal((rows, columns), dtype=np.float32)
    return (places[rng.integers(0, centers, rows)] + spread * noise).astype(np.float32)


def there(x: np.ndarray) -> Any:
    """Our array on the device."""
    moved = hr.asarray(x).to("cuda")
    hr.eval(moved)
    _core.synchronize_device()
    return moved


def host(value: Any) -> np.ndarray:
    """An answer of either side as a NumPy array."""
    return cp.asnumpy(value) if isinstance(value, cp.ndarray) else np.asarray(value)


def share_equal(least: float) -> Any:
    """Compare labels or row numbers of which a few may differ by the rival's rounding."""

    def same(ours: Any, theirs: Any) -> str:
        share = float(np.mean(host(ours) == host(theirs)))
        assert share >= least, f"{share:.4%} equal, at least {least:.2%} wanted"
        return f"{share:.4%} equal"

    return same


def same_clusters(ours: Any, theirs: Any) -> str:
    """Compare clusters whatever their numbers are."""
    a, b = host(ours), host(theirs)
    pairs = np.unique(np.stack([a, b]), axis=1).shape[1]
    found = len(np.unique(a))
    assert pairs <= found + 0.001 * len(a), f"{pairs} pairs of labels for {found} clusters"
    return f"{found} clusters, {pairs} pairs of labels"


def keeps_neighbors(x: Any, least: float) -> Any:
    """Compare embeddings by the share of 15 neighbours that they keep, of 1,000 rows."""

    def near(rows: Any) -> np.ndarray:
        model = hr.learn.NearestNeighbors(n_neighbors=16).fit(rows)
        return np.asarray(model.kneighbors(rows[:1000], return_distance=False))[:, 1:]

    def same(ours: Any, theirs: Any) -> str:
        wanted = near(x)

        def kept(embedding: Any) -> float:
            found = near(there(host(embedding)))
            return float(
                np.mean([np.isin(*pair).mean() for pair in zip(found, wanted, strict=True)])
            )

        mine, its = kept(ours), kept(theirs)
        assert mine >= its - least, f"{mine:.1%} of neighbours kept, cuML {its:.1%}"
        return f"{mine:.1%} and {its:.1%} of neighbours kept"

    return same


class Task:
    """One row of the table: our work and cuML's, each run to completion."""

    def __init__(self, bench: measure.Bench) -> None:
        self.bench = bench

    def __call__(
        self,
        name: str,
        ours: Callable[[], Any],
        theirs: Callable[[], Any],
        same: Any,
        bar: float,
        rows: int = 0,
    ) -> None:
        """Compare answers, then times."""

        def mine() -> Any:
            made = ours()
            _core.synchronize_device()
            return made

        def its() -> Any:
            made = theirs()
            cp.cuda.Device().synchronize()
            return made

        rivals = [] if cuml is None else [measure.Rival("cuml", its, bar)]
        self.bench.step(name, mine, rivals, same, rows=rows)
        if cuml is None:
            self.bench.left_out(name, "cuml", "not installed")


def kmeans(task: Task) -> None:
    """20 iterations from given centres."""
    x = rows_of(1_000_000, 32, 100, 4.0)
    init = x[:100].copy()
    options: dict[str, Any] = {"n_clusters": 100, "max_iter": 20, "tol": 0.0, "n_init": 1}
    mine, its = there(x), cp.asarray(x)
    task(
        "KMeans 1e6x32, k 100, 20 it",
        lambda: hr.learn.KMeans(init=init, **options).fit(mine).labels_,
        lambda: cuml.KMeans(init=init, **{**options, "tol": 1e-30}).fit(its).labels_,
        share_equal(0.99),
        1.5,
        len(x),
    )


def neighbors(task: Task) -> None:
    """The ten nearest rows of queries."""
    x, queries = rows_of(1_000_000, 64, 100, 4.0), rows_of(10_000, 64, 100, 4.0, 2)
    mine, my_queries = there(x), there(queries)
    its, its_queries = cp.asarray(x), cp.asarray(queries)

    def theirs() -> Any:
        model = cuml.neighbors.NearestNeighbors(n_neighbors=10, algorithm="brute").fit(its)
        return model.kneighbors(its_queries)[1]

    task(
        "kNN 1e6x64, 1e4 queries, k 10",
        lambda: hr.learn.NearestNeighbors(n_neighbors=10).fit(mine).kneighbors(my_queries)[1],
        theirs,
        share_equal(0.999),
        1.5,
        len(x),
    )


def dense(task: Task) -> None:
    """DBSCAN in the plane, and in 16 dimensions."""
    for columns, eps, bar in ((2, 0.08, 10.0), (16, 4.5, 1.0)):
        x = rows_of(100_000, columns, 50, 0.5 if columns == 2 else 1.0)
        mine, its = there(x), cp.asarray(x)
        task(
            f"DBSCAN 1e5x{columns}",
            lambda eps=eps, mine=mine: hr.learn.DBSCAN(eps=eps, min_samples=10).fit(mine).labels_,
            lambda eps=eps, its=its: cuml.DBSCAN(eps=eps, min_samples=10).fit(its).labels_,
            same_clusters,
            bar,
            len(x),
        )


def near(relative: float) -> Any:
    """Compare numbers but for the rival's float32 rounding."""

    def same(ours: Any, theirs: Any) -> str:
        return measure.close_to(relative)(host(ours), host(theirs))

    return same


def components(task: Task) -> None:
    """16 of 128 directions, which differ in length."""
    x = np.random.default_rng(1).standard_normal((1_000_000, 128), dtype=np.float32)
    x *= np.linspace(1, 4, 128, dtype=np.float32) ** 2
    mine, its = there(x), cp.asarray(x)
    task(
        "PCA 1e6x128 -> 16",
        lambda: hr.learn.PCA(16).fit(mine).explained_variance_,
        lambda: cuml.PCA(n_components=16).fit(its).explained_variance_,
        near(1e-3),
        3.0,
        len(x),
    )
    task(
        "TruncatedSVD 1e6x128 -> 16",
        lambda: hr.learn.TruncatedSVD(16, random_state=0).fit(mine).singular_values_,
        lambda: cuml.TruncatedSVD(n_components=16).fit(its).singular_values_,
        near(1e-3),
        3.0,
        len(x),
    )


def linear(task: Task) -> None:
    """Numbers and two classes by 64 columns."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1_000_000, 64), dtype=np.float32)
    slopes = rng.standard_normal(64).astype(np.float32)
    y = x @ slopes + rng.standard_normal(len(x), dtype=np.float32)
    labels = (x @ slopes + 3 * rng.logistic(size=len(x)) > 0).astype(np.float32)
    mine, its = there(x), cp.asarray(x)
    my_y, its_y = there(y), cp.asarray(y)
    task(
        "LinearRegression 1e6x64",
        lambda: hr.learn.LinearRegression().fit(mine, my_y).coef_,
        lambda: cuml.LinearRegression().fit(its, its_y).coef_,
        near(1e-2),
        3.0,
        len(x),
    )
    my_labels, its_labels = there(labels), cp.asarray(labels)
    task(
        "LogisticRegression 1e6x64",
        lambda: hr.learn.LogisticRegression().fit(mine, my_labels).predict(mine),
        lambda: cuml.LogisticRegression().fit(its, its_labels).predict(its),
        share_equal(0.999),
        1.5,
        len(x),
    )


def preparation(task: Task) -> None:
    """Scaled columns, and levels of integers as CSR."""
    x = np.random.default_rng(1).standard_normal((1_000_000, 32), dtype=np.float32)
    mine, its = there(x), cp.asarray(x)
    task(
        "StandardScaler 1e6x32",
        lambda: hr.eval(made := hr.learn.StandardScaler().fit_transform(mine)) or made,
        lambda: cuml.preprocessing.StandardScaler().fit_transform(its),
        near(1e-3),
        50.0,
        len(x),
    )
    levels = np.random.default_rng(1).integers(0, 1000, (5_000_000, 1))
    my_levels, its_levels = there(levels), cp.asarray(levels)

    def ours() -> Any:
        made = hr.learn.OneHotEncoder().fit(my_levels).transform(my_levels)
        hr.eval(made.data, made.indices, made.indptr)
        return made.indices

    task(
        "OneHotEncoder 5e6, 1,000 levels, to CSR",
        ours,
        lambda: cuml.preprocessing.OneHotEncoder().fit(its_levels).transform(its_levels).indices,
        share_equal(1.0),
        5.0,
        len(levels),
    )


def forest(task: Task) -> None:
    """100 trees of depth 16."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((500_000, 32), dtype=np.float32)
    score = x[:, :8].sum(axis=1) + np.abs(x[:, 9])
    labels = (score + rng.standard_normal(len(x)) > 0.8).astype(np.int32)
    mine, its = there(x), cp.asarray(x)
    my_labels, its_labels = there(labels), cp.asarray(labels)
    fitted: dict[str, Any] = {}

    def ours() -> Any:
        model = hr.learn.RandomForestClassifier(100, max_depth=16, random_state=1)
        fitted["mine"] = model.fit(mine, my_labels)
        return labels[:1000]

    def theirs() -> Any:
        model = cuml.ensemble.RandomForestClassifier(n_estimators=100, max_depth=16, n_bins=255)
        fitted["its"] = model.fit(its, its_labels)
        return labels[:1000]

    task("RandomForest 5e5x32, 100 trees, depth 16", ours, theirs, share_equal(1.0), 2.0, len(x))
    task(
        "RandomForest predict",
        lambda: fitted["mine"].predict(mine),
        lambda: fitted["its"].predict(its),
        share_equal(0.93),
        1.0,
        len(x),
    )


def embedded(task: Task) -> None:
    """t-SNE and UMAP with a seed, each with its own number of iterations."""
    x = rows_of(50_000, 64, 50, 4.0)
    mine, its = there(x), cp.asarray(x)
    task(
        "TSNE 5e4x64",
        lambda: hr.learn.TSNE(random_state=1).fit_transform(mine),
        lambda: cuml.TSNE(random_state=1, n_neighbors=90).fit_transform(its),
        keeps_neighbors(mine, 0.03),
        1.2,
        len(x),
    )
    x = rows_of(100_000, 64, 50, 4.0)
    mine, its = there(x), cp.asarray(x)
    task(
        "UMAP 1e5x64, seeded",
        lambda: hr.learn.UMAP(random_state=1).fit_transform(mine),
        lambda: cuml.UMAP(random_state=1).fit_transform(its),
        keeps_neighbors(mine, 0.03),
        1.2,
        len(x),
    )


TASKS: list[Callable[[Task], None]] = [
    kmeans,
    neighbors,
    dense,
    components,
    linear,
    preparation,
    forest,
    embedded,
]


def main() -> int:
    """Run the tasks that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/learn-cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return 0
    packages = ["cupy-cuda13x", "numpy", *([] if cuml is None else ["cuml-cu13"])]
    bench = measure.Bench("learn_cuda", packages, options.runs, options.output, options.only)
    print(_core.cuda_device_name(0))
    print(measure.HEADER)
    for each in TASKS:
        each(Task(bench))
    print(f"what ran on the host: {hr.fallbacks()}")
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
