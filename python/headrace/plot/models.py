# SPDX-License-Identifier: Apache-2.0
"""Pictures of models: what they explain, rank, confuse, embed and split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import is_array
from headrace.learn.base import clone
from headrace.learn.metrics.classification import confusion_matrix as matrix_of
from headrace.learn.metrics.classification import labels_of, numbered
from headrace.learn.metrics.ranking import area_of, curve_of, finite_scores
from headrace.plot.clouds import coded, counts_of, ranges_of, shaded, spread
from headrace.plot.figure import COLORS, GREY, Axes, Plot, box, room, text, thinned
from headrace.plot.long_series import encode_png

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLOR = COLORS[0]
#: The most labels whose cells have room for numbers.
_CELLS = 30


def attribute(function: str, model: Any, *names: str) -> tuple[str, Any]:
    """The first fitted attribute that a model has, and its name."""
    for name in names:
        if (found := getattr(model, name, None)) is not None:
            return name, found
    raise InvalidArgumentError(
        f"{function}: the model has no {' or '.join(names)}: type={type(model).__name__}; fit it "
        "first, or pass another model"
    )


def explained_variance(pca: Any, *, width: int = 600, height: int = 300) -> Plot:
    """Bars of the share of the variance that each component explains, and their running sum.

    `pca` is a fitted model with ``explained_variance_ratio_``, also one of scikit-learn.

    >>> hr.plot.explained_variance(hr.learn.PCA(2).fit([[0.0, 1.0], [2.0, 3.0], [4.0, 6.0]]))
    Plot('Explained variance')
    """
    shares = np.asarray(attribute("explained_variance", pca, "explained_variance_ratio_")[1])
    count = len(shares)
    axes = Axes(
        (0.5, count + 0.5), (0.0, 1.0), width, height, title="Explained variance",
        x_label="component", counts=True,
    )  # fmt: skip
    for place, share in enumerate(shares.tolist(), 1):
        axes.bar((place - 0.4, place + 0.4), (0.0, share), _COLOR, f"{place}: {share:.2%}")
    sums = np.cumsum(shares).tolist()
    axes.line(enumerate(sums, 1), COLORS[1])
    axes.parts.append(text(axes.x(count), axes.y(sums[-1]) - 6, f"{sums[-1]:.1%}", "end"))
    return axes.plot()


def elbow(
    model: Any, rows: Any, ks: Iterable[int] = range(1, 11), *, width: int = 600, height: int = 300
) -> Plot:
    """The inertia of models with each number of clusters, and where the curve bends most.

    Copies of `model` are fitted with ``n_clusters`` of each of `ks`. The bend is the point farthest
    below the line from the first to the last (Satopaa and others, "Finding a Kneedle in a
    Haystack", 2011).

    >>> rows = [[0.0, 0.0], [0.1, 0.0], [9.0, 0.0], [9.1, 0.0], [4.0, 8.0], [4.1, 8.0]]
    >>> hr.plot.elbow(hr.learn.KMeans(random_state=0), rows, range(1, 6))
    Plot('Elbow: 3 clusters')
    """
    counts = sorted({int(k) for k in ks})
    if len(counts) < 2:
        raise InvalidArgumentError(f"elbow: one number of clusters has no bend: ks={counts}")
    fitted = (clone(model).set_params(n_clusters=k).fit(rows) for k in counts)
    inertias = [float(each.inertia_) for each in fitted]
    x, y = np.array(counts, float), np.array(inertias)
    across, down = (x - x[0]) / (x[-1] - x[0]), (y - y[-1]) / ((y[0] - y[-1]) or 1.0)
    bend = int(np.argmax(1 - across - down))
    best = counts[bend]
    axes = Axes(
        (x[0], x[-1]), (0.0, float(y.max()) * 1.05 or 1.0), width, height,
        title=f"Elbow: {best} clusters", x_label="clusters", y_label="inertia",
        counts=True, left=78,
    )  # fmt: skip
    axes.line(zip(counts, inertias, strict=True), _COLOR)
    axes.line([(best, 0.0), (best, inertias[bend])], COLORS[5], 'stroke-dasharray="4 3"')
    return axes.plot()


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, normalize: str | None = None
) -> Plot:
    """Rows of each true label (down) by their predicted one (across), shaded by share of the row.

    The parameters are those of `hr.learn.metrics.confusion_matrix`.

    >>> hr.plot.confusion_matrix(["a", "b", "b"], ["a", "b", "a"])
    Plot('Confusion matrix')
    """
    found = matrix_of(y_true, y_pred, labels=labels, normalize=normalize)
    levels = numbered(y_true, y_pred, labels)[2].tolist()
    names = [str(each) for each in levels]
    longest = 7.0 * max(map(len, names))
    size = min(max(48.0, min(longest + 8, 90.0)), 900.0 / len(names))
    left, is_turned = 40.0 + longest, longest > size
    axes = Axes(
        (0, 1), (0, 1), size * len(names), size * len(names), grid="", left=left,
        below=40 + longest if is_turned else 44,
        title="Confusion matrix", x_label="predicted", y_label="true",
    )  # fmt: skip
    foot = axes.above + axes.height + (8 if is_turned else 16)
    sums = found.sum(axis=1, keepdims=True)
    shares = np.divide(found, sums, out=np.zeros(found.shape), where=sums > 0)
    for row, down in enumerate(names):
        y = axes.above + row * size
        for column, across in enumerate(names):
            value, share = found[row, column], shares[row, column]
            written = f"{value:.2f}" if normalize else f"{value:,}"
            color, x = f"rgb(0 114 178 / {share:.3f})", left + column * size
            axes.parts.append(
                box(x, y, size - 1, size - 1, color, f"{down} as {across}: {written}")
            )
            if len(names) <= _CELLS:
                ink = ' fill="#fff"' if share > 0.35 else ""
                axes.parts.append(text(x + size / 2, y + size / 2 + 4, written, more=ink))
        axes.parts.append(text(left - 7, y + size / 2 + 4, down, "end"))
        x = left + (row + 0.5) * size + 4 * is_turned
        turned = f' transform="rotate(-90 {x:.1f} {foot:.1f})"' if is_turned else ""
        axes.parts.append(text(x, foot, down, "end" if is_turned else "middle", turned))
    return axes.plot()


def roc(y_true: Any, y_score: Any, *, width: int = 420, height: int = 420) -> Plot:
    """The curve of true against false positives, and the area under it.

    Parameters
    ----------
    y_true : array_like
        Labels; the second of two is the positive one.
    y_score : array_like
        One value for each row; for more classes their scores, ``[samples, classes]``: then each
        class has a curve, against the rest.

    >>> hr.plot.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    Plot('ROC: area 0.7500')
    """
    true = labels_of(y_true, "y_true")
    levels, scores = true.levels(), np.asarray(y_score, dtype=np.float64)
    places = true.numbers(levels).to_numpy()
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if len(levels) < 2 or len(levels) != scores.shape[1] or len(places) != len(scores):
        raise InvalidArgumentError(
            f"roc: scores do not match labels: classes={len(levels)}, rows={len(places)}, "
            f"scores={scores.shape}; pass one score a row for two classes, else one a class"
        )
    scores = finite_scores(scores, len(places))
    kept = [1] if len(levels) == 2 else range(len(levels))
    curves = []
    for place in kept:
        positive = places == place
        misses, hits = curve_of(positive, scores[:, place])
        area = area_of(misses, hits)
        thin = thinned(len(hits))
        points = np.column_stack([misses / misses[-1], hits / hits[-1]])[thin].tolist()
        curves.append((f"{levels[place]}: {area:.4f}", area, [(0.0, 0.0), *points]))
    mean = float(np.mean([area for _, area, _ in curves]))
    names = [] if len(curves) == 1 else [name for name, *_ in curves]
    axes = Axes(
        (0.0, 1.0), (0.0, 1.0), width, height, right=room(names), x_label="false positives",
        y_label="true positives", title=f"ROC: {'mean ' if names else ''}area {mean:.4f}",
    )  # fmt: skip
    axes.line([(0, 0), (1, 1)], GREY, 'stroke-dasharray="4 3"')
    colors = [COLORS[place % len(COLORS)] for place in range(len(curves))]
    for color, (_, _, points) in zip(colors, curves, strict=True):
        axes.line(points, color)
    axes.legend(zip(names, colors, strict=False))
    return axes.plot()


def embedding(
    points: Any, labels: Any = None, *, width: int = 720, height: int = 540, title: str = ""
) -> Plot:
    """Points in the plane, coloured by label: millions of them, counted in the cells of a raster.

    A pixel mixes the colours of its points; the more, the more opaque, on a logarithmic scale. The
    seven most frequent labels have a colour; the others, missing ones and -1, which is noise to
    clusterings, are grey.

    Parameters
    ----------
    points : array_like
        ``[rows, 2]``; rows with NaN are left out.
    labels : array_like, optional
        One for each row.

    >>> hr.plot.embedding([[0.0, 0.0], [1.0, 2.0]], ["a", "b"], title="two")
    Plot('two')
    """
    rows = points if is_array(points) else asarray(points)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise InvalidArgumentError(
            f"embedding: expected rows of two coordinates: shape={rows.shape}; pass two columns"
        )
    codes, names = coded("embedding", labels, len(rows))
    x, y = rows[:, 0], rows[:, 1]
    across, up = map(_aired, ranges_of("embedding", (x, None), (y, None)))
    counts = counts_of(x, y, codes, len(names), (across, up), width, height)
    pixels = shaded(spread(counts, len(rows)), [color for _, color in names], "log")
    png = bytes(encode_png(pixels).to_numpy())
    shown = [(name, color) for name, color in names if name]
    axes = Axes(across, up, width, height, title=title, right=room([name for name, _ in shown]))
    axes.image(png)
    axes.legend(shown)
    return axes.plot()


def _aired(ends: tuple[float, float]) -> tuple[float, float]:
    """A range a little apart from the edges."""
    air = (ends[1] - ends[0]) * 0.02
    return ends[0] - air, ends[1] + air


def feature_importances(model: Any, names: Sequence[Any] | None = None, *, most: int = 20) -> Plot:
    """Bars of what features matter to a model, the most important first.

    Parameters
    ----------
    model : estimator or xgboost.Booster
        Has ``feature_importances_``, or ``coef_`` (shown by absolute value, the mean of all
        classes), or is XGBoost's, whose features are shown by their share of the gain.
    names : sequence, optional
        Names of the features; those of `fit` by default.
    most : int
        How many to show.

    >>> forest = hr.learn.RandomForestClassifier(2, random_state=0)
    >>> forest = forest.fit([[0.0, 1.0], [1.0, 1.0]] * 5, [0, 1] * 5)
    >>> hr.plot.feature_importances(forest, ["x", "constant"])
    Plot('Feature importances')
    """
    if hasattr(model, "get_score"):
        gains = model.get_score(importance_type="total_gain")
        known = list(model.feature_names or gains)
        values = np.array([gains.get(name, 0.0) for name in known])
        title, values = "Share of the gain", values / (values.sum() or 1.0)
    else:
        kind, found = attribute("feature_importances", model, "feature_importances_", "coef_")
        values = np.asarray(found, dtype=np.float64)
        if kind == "coef_":
            values = np.abs(np.atleast_2d(values)).mean(axis=0)
        title = "Feature importances" if kind != "coef_" else "Coefficients by absolute value"
        known = list(getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(values))]))
    known = known if names is None else list(names)
    if len(known) != len(values):
        raise InvalidArgumentError(
            f"feature_importances: each feature needs a name: features={len(values)}, "
            f"names={len(known)}"
        )
    order = np.argsort(-values, kind="stable")[:most].tolist()
    left = 20.0 + 7 * max(len(str(known[place])) for place in order)
    top = float(values[order[0]]) or 1.0
    axes = Axes((0.0, top * 1.08), (0, 1), 480, 20.0 * len(order), grid="x", left=left, title=title)
    for row, place in enumerate(order):
        y, name = axes.above + 20 * row, str(known[place])
        wide = axes.x(float(values[place])) - left
        axes.parts += [
            box(left, y + 3, wide, 14, _COLOR, f"{name}: {values[place]:.4g}"),
            text(left - 7, y + 14, name, "end"),
            text(left + wide + 5, y + 14, f"{values[place]:.3g}", "start"),
        ]
    return axes.plot()
