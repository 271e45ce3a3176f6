# SPDX-License-Identifier: Apache-2.0
"""Pictures of models: what they show is what the models and metrics say."""

import base64
import io
import re
import types

import numpy as np
import pytest

import headrace as hr
from headrace import learn, plot

RNG = np.random.default_rng(0)


def svg(picture):
    """The text of a figure, which must be well-formed."""
    from xml.etree import ElementTree

    text = picture._repr_html_()
    ElementTree.fromstring(text)
    return text


def pixels(picture):
    image = pytest.importorskip("PIL.Image")
    (data,) = re.findall('data:image/png;base64,([^"]+)', picture._repr_html_())
    return np.asarray(image.open(io.BytesIO(base64.b64decode(data))))


def color(word):
    return list(bytes.fromhex(word[1:]))


# ---- axes ----------------------------------------------------------------------------------------
def test_figures_save_as_pixels_and_as_svg(tmp_path):
    picture = plot.roc([0, 1], [0.0, 1.0])
    picture.save(tmp_path / "roc.png")
    assert (tmp_path / "roc.png").read_bytes() == picture._repr_png_()
    picture.save(tmp_path / "roc.svg")
    assert (tmp_path / "roc.svg").read_text() == picture._repr_html_()


# ---- explained variance and elbow ----------------------------------------------------------------
@pytest.mark.parametrize("ours", [True, False])
def test_explained_variance(ours):
    if not ours:
        pytest.importorskip("sklearn")
        from sklearn import decomposition
    rows = RNG.normal(size=(200, 6)) @ np.diag([9, 5, 3, 2, 1, 1])
    pca = (learn.PCA if ours else decomposition.PCA)(4).fit(rows)
    text = svg(plot.explained_variance(pca))
    shares = np.asarray(pca.explained_variance_ratio_)
    for place, share in enumerate(shares, 1):
        assert f"<title>{place}: {share:.2%}</title>" in text
    assert f"{shares.sum():.1%}</text>" in text
    heights = [float(h) for h in re.findall(r'height="([\d.]+)" fill', text)]
    np.testing.assert_allclose(heights, shares * 300, atol=0.06)


def test_not_fitted():
    with pytest.raises(hr.InvalidArgumentError, match=r"no explained_variance_ratio_.*PCA"):
        plot.explained_variance(learn.PCA(2))


def test_elbow():
    centers = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])
    rows = centers[RNG.integers(0, 4, 400)] + RNG.normal(size=(400, 2)) * 0.3
    model = learn.KMeans(random_state=0)
    picture = plot.elbow(model, rows, [1, 2, 4, 3, 6, 8])
    assert picture.title == "Elbow: 4 clusters"
    assert model.n_clusters == 8 and not hasattr(model, "inertia_")
    svg(picture)
    with pytest.raises(hr.InvalidArgumentError, match=r"ks=\[3\]"):
        plot.elbow(model, rows, [3])


# ---- classes -------------------------------------------------------------------------------------
@pytest.mark.parametrize("normalize", [None, "true"])
def test_confusion_matrix(normalize):
    names = np.array(["cat", "dog", "<fish> & chips"])
    true = RNG.integers(0, 3, 300)
    guess = np.where(RNG.random(300) < 0.7, true, RNG.integers(0, 3, 300))
    text = svg(plot.confusion_matrix(names[true], names[guess], normalize=normalize))
    found = learn.metrics.confusion_matrix(names[true], names[guess], normalize=normalize)
    words = [f"{value:.2f}" if normalize else f"{value:,}" for value in found.ravel()]
    assert re.findall(r"as [^<]*: ([^<]*)</title>", text) == words
    assert "&lt;fish&gt; &amp; chips" in text and "<fish>" not in text
    chosen = svg(plot.confusion_matrix(names[true], names[guess], labels=["dog", "cat"]))
    assert "fish" not in chosen


def test_many_labels_have_no_numbers():
    labels = np.arange(40)
    text = svg(plot.confusion_matrix(labels, labels))
    assert text.count("<title>") == 1600 and ">1</text>" in text  # of the label
    assert text.count("</text>") < 100


def test_roc():
    true = RNG.random(5000) < 0.3
    score = RNG.normal(size=5000) + true
    score[:100] = score[100]
    picture = plot.roc(true, score)
    assert picture.title == f"ROC: area {learn.metrics.roc_auc_score(true, score):.4f}"
    curve = re.findall(r'd="M([^"]*)" fill="none"', svg(picture))[1]
    points = np.array([each.split() for each in curve.split("L")], float)
    assert points[0].tolist() == [64, 454] and points[-1].tolist() == [484, 34]
    assert (np.diff(points[:, 0]) >= 0).all() and (np.diff(points[:, 1]) <= 0).all()
    assert len(points) <= 1001


def test_roc_of_classes():
    true = RNG.integers(0, 3, 900)
    score = RNG.random((900, 3))
    score[np.arange(900), true] += 0.5
    picture = plot.roc(np.array(["a", "b<", "c"])[true], score)
    areas = [learn.metrics.roc_auc_score(true == k, score[:, k]) for k in range(3)]
    assert picture.title == f"ROC: mean area {np.mean(areas):.4f}"
    text = svg(picture)
    for name, area in zip(["a", "b&lt;", "c"], areas, strict=True):
        assert f"{name}: {area:.4f}</text>" in text


@pytest.mark.parametrize(
    ("true", "score"),
    [([0, 1, 2], [0.1, 0.2, 0.3]), ([1, 1], [0.1, 0.2]), ([0, 1], [0.1, 0.2, 0.3])],
)
def test_roc_refuses(true, score):
    with pytest.raises(hr.InvalidArgumentError, match="roc: scores do not match"):
        plot.roc(true, score)


# ---- embedding -----------------------------------------------------------------------------------
def test_embedding_pixels():
    points = np.array([[0.0, 0.0], [10.0, 10.0], [5.0, np.nan], [0.0, 10.0], [10.0, 0.0]])
    labels = ["a", "b", "a", "-1", "c"]
    drawn = pixels(plot.embedding(points, labels, width=104, height=104))
    assert drawn.shape == (104, 104, 4)
    corners = [drawn[-3, 2], drawn[2, -3], drawn[2, 2], drawn[-3, -3]]
    wanted = ["#0072b2", "#e69f00", "#9aa0a6", "#009e73"]
    assert [corner[:3].tolist() for corner in corners] == [color(word) for word in wanted]
    assert (drawn[..., 3] > 0).sum() < 4 * 49 + 1 and drawn[52, 52, 3] == 0


def test_embedding_counts_are_opacity():
    points = np.concatenate([np.zeros((200_000, 2)), [[1.0, 1.0]]])
    drawn = pixels(plot.embedding(points, width=50, height=50))
    seen = drawn[drawn[..., 3] > 0]
    assert seen[:, 3].tolist() == [80 + round(175 * np.log1p(1) / np.log1p(200_000)), 255]
    assert (seen[:, :3] == color("#0072b2")).all()


def test_embedding_mixes_and_names():
    points = np.zeros((300_000, 2))
    labels = np.arange(300_000) % 2
    drawn = pixels(plot.embedding(points, labels, width=20, height=20))
    seen = drawn[drawn[..., 3] > 0]
    both = (np.array(color("#0072b2"), float) + color("#e69f00")) / 2
    np.testing.assert_allclose(seen[:, :3], [both], atol=0.5)
    text = svg(plot.embedding(RNG.normal(size=(100, 2)), np.arange(100) % 10))
    assert "others</text>" in text and ">9</text>" not in re.sub(r"^.*<image", "", text)
    text = svg(plot.embedding(RNG.normal(size=(9, 2)), [-1, 0, 1] * 3, title="<t>"))
    assert "noise</text>" in text and "&lt;t&gt;" in text


def test_embedding_same_bits():
    points = RNG.normal(size=(300_000, 2)).astype("f4")
    labels = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300_000)]
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made.append(plot.embedding(hr.asarray(points), hr.Series(labels))._repr_html_())
    frame = hr.DataFrame({"x": points[:, 0], "y": points[:, 1]})
    made.append(plot.embedding(frame, labels)._repr_html_())
    assert len(set(made)) == 1


@pytest.mark.parametrize(
    ("points", "labels", "words"),
    [
        (np.zeros((3, 3)), None, r"shape=\(3, 3\)"),
        (np.zeros((0, 2)), None, r"shape=\(0, 2\)"),
        (np.zeros((3, 2)), [1, 2], "rows=3, labels=2"),
        (np.array([[0.0, np.inf]]), None, "values must be finite"),
    ],
)
def test_embedding_refuses(points, labels, words):
    with pytest.raises(hr.InvalidArgumentError, match=words):
        plot.embedding(points, labels)


# ---- features ------------------------------------------------------------------------------------
def names_of(picture):
    return re.findall(r"<title>([^:]*): ", svg(picture))


def test_feature_importances():
    frame = hr.DataFrame({"noise": RNG.random(300), "x": RNG.random(300), "1 < 2": np.zeros(300)})
    y = frame["x"].to_numpy() > 0.5
    forest = learn.RandomForestClassifier(10, random_state=0).fit(frame, y)
    assert names_of(plot.feature_importances(forest)) == ["x", "noise", "1 &lt; 2"]
    assert names_of(plot.feature_importances(forest, most=1)) == ["x"]
    assert names_of(plot.feature_importances(forest, ["a", "b", "c"])) == ["b", "a", "c"]
    with pytest.raises(hr.InvalidArgumentError, match="features=3, names=1"):
        plot.feature_importances(forest, ["a"])
    linear = learn.LinearRegression().fit(frame[["noise", "x"]], frame["x"] * -3)
    picture = plot.feature_importances(linear)
    assert picture.title == "Coefficients by absolute value"
    assert "<title>x: 3</title>" in svg(picture)


def test_feature_importances_of_xgboost():
    xgboost = pytest.importorskip("xgboost")
    frame = hr.DataFrame({"noise": RNG.random(500), "x": RNG.random(500), "flat": np.zeros(500)})
    matrix = learn.xgboost_matrix(frame, label=(frame["x"] > 0.5).astype("float32"))
    booster = xgboost.train({"objective": "binary:logistic"}, matrix, 2)
    text = svg(plot.feature_importances(booster))
    assert re.findall(r"<title>(\w*): ", text)[0] == "x" and "<title>flat: 0</title>" in text


# ---- the condensed tree --------------------------------------------------------------------------
def tree_of(*rows, labels):
    columns = ("parent", "child", "lambda_val", "child_size")
    table = dict(zip(columns, np.array(rows).T, strict=True))
    whole = {name: table[name].astype(int) for name in columns if name != "lambda_val"}
    return types.SimpleNamespace(condensed_tree_=table | whole, labels_=np.array(labels))


SPLIT = [
    (7, 6, 0.2, 1),
    (7, 8, 0.5, 3),
    (7, 9, 0.5, 3),
    (8, 0, 5, 1),
    (8, 1, 10, 1),
    (8, 2, np.inf, 1),
    (9, 3, 4, 1),
    (9, 4, 6, 1),
    (9, 5, 6, 1),
]


def test_dendrogram():
    picture = plot.dendrogram(tree_of(*SPLIT, labels=[0, 0, 0, 1, 1, 1, -1]))
    assert picture.title == "Condensed tree: 2 clusters"
    text = svg(picture)
    found = re.findall(r'fill="(#\w+)" stroke="#\w+"><title>([^<]*)</title>', text)
    assert found == [
        ("#9aa0a6", "7 rows"),
        ("#0072b2", "3 rows, label 0"),
        ("#e69f00", "3 rows, label 1"),
    ]


def test_dendrogram_of_chosen_parents_and_missing_rows():
    """A chosen cluster that splits below keeps one label; rows outside of the tree are skipped."""
    labels = [-3, 0, 0, 0, 0, 0, -2, 0, -1]  # rows 0 and 6 of nine are not in the tree
    text = svg(plot.dendrogram(tree_of(*SPLIT[1:], (7, 6, 0.2, 1), labels=labels)))
    assert text.count("label 0") == 1 and "7 rows, label 0" in text


def test_dendrogram_gives_each_cluster_room():
    """One that is wider than what it splits into does not cover its neighbour."""
    from headrace.plot.condensed_tree import _centers, _Cluster

    sizes = {10: (10, 100), 11: (10, 50), 12: (10, 40), 13: (11, 5), 14: (11, 6), 15: (12, 30)}
    clusters = {key: _Cluster(parent, 0.1, rows) for key, (parent, rows) in sizes.items()}
    middles = _centers(clusters)
    assert abs(middles[11] - middles[12]) >= 45 and abs(middles[13] - middles[14]) >= 5.5
    assert abs((middles[13] + middles[14]) / 2 - middles[11]) < 0.5  # centered, by their widths


def test_dendrogram_of_a_model():
    rows = np.concatenate([RNG.normal(size=(80, 2)) + at for at in ([0, 0], [9, 0], [0, 9])])
    model = learn.HDBSCAN(min_cluster_size=10).fit(np.concatenate([rows, [[np.nan, 0.0]]]))
    picture = plot.dendrogram(model)
    wanted = len(np.unique(np.asarray(model.labels_)[np.asarray(model.labels_) >= 0]))
    assert picture.title == f"Condensed tree: {wanted} clusters" and wanted == 3
    svg(picture)


def test_long_names_across_are_turned():
    names = [f"kind number {place}" for place in range(12)]
    assert "rotate(-90" in svg(plot.confusion_matrix(names, names)).replace("rotate(-90 16", "")
    short = svg(plot.confusion_matrix(["a", "b"], ["a", "b"]))
    assert short.count("rotate(-90") == 1  # the label of the side


def test_counts_have_whole_ticks():
    text = svg(plot.explained_variance(learn.PCA(3).fit(RNG.normal(size=(20, 3)))))
    assert [f">{count}<" in text for count in (1, 2, 3, "1.5", "2.5")] == [True] * 3 + [False] * 2


# ---- estimators in a notebook --------------------------------------------------------------------
def test_html_of_an_estimator():
    html = learn.PCA(3, svd_solver="full")._repr_html_()
    assert (
        "PCA</b> (not fitted)" in html
        and "<b>n_components</b>" in html
        and "<td>whiten</td>" in html
    )
    assert "PCA</b> (fitted)" in learn.PCA(1).fit([[0.0, 1.0], [1.0, 0.0]])._repr_html_()
    long = learn.SimpleImputer(missing_values="<script>" + "x" * 1000)._repr_html_()
    assert "<script>" not in long and len(long) < 2000


def test_html_of_a_pipeline_is_nested():
    columns = learn.ColumnTransformer([("n<b>", learn.StandardScaler(), [0]), ("d", "drop", [1])])
    grid = learn.GridSearchCV(learn.make_pipeline(columns, learn.KMeans(3)), {"kmeans__tol": [0.1]})
    html = grid._repr_html_()
    order = [
        "GridSearchCV",
        "Pipeline",
        "ColumnTransformer",
        "n&lt;b&gt;",
        "StandardScaler",
        "KMeans",
    ]
    places = [html.index(word) for word in order]
    assert places == sorted(places)
    assert html.count("<details") == html.count("</details>") == 5 + 3  # parameters apart
    assert html.count("<details open") == 3  # the estimators without others inside are closed
    from xml.etree import ElementTree

    ElementTree.fromstring(html.replace("<details open ", "<details "))
