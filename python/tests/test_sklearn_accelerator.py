# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's classes with our loops inside: results, pickles, fallbacks, imports."""

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as hr

sklearn = pytest.importorskip("sklearn")
from headrace.sklearn import classes, loops  # noqa: E402


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Loops that take work of any size, and scikit-learn's own classes afterwards."""
    monkeypatch.setattr(loops.Sizes, "scale", 0.0)
    yield
    hr.sklearn.uninstall()


def rows(count=400, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, columns)) + 4 * rng.integers(0, 3, (count, 1))


TEXTS = [
    f"{a} {b} on {c}"
    for a in ["one", "two", "three"]
    for b in ["ab", "cd"]
    for c in ["xy", "yz", "zz"]
]
TARGETS = rows() @ np.arange(1.0, 7.0) + 3
LABELS = np.digitize(rows()[:, 0] + 0.3 * rows(seed=2)[:, 1], [3.0, 7.0])
LEVELS = np.random.default_rng(1).integers(-4, 5, (300, 2))
CASES = {
    "KMeans": (lambda cls: cls(3, n_init=2, random_state=0).fit(rows()), "predict", rows(50)),
    "MiniBatchKMeans": (
        lambda cls: cls(3, n_init=2, random_state=0).fit(rows()),
        "predict",
        rows(50),
    ),
    "DBSCAN": (lambda cls: cls(1.8).fit(rows()), None, None),
    "PCA": (lambda cls: cls(3).fit(rows()), "transform", rows(50)),
    "NearestNeighbors": (lambda cls: cls(algorithm="brute").fit(rows()), "kneighbors", rows(20)),
    "KNeighborsClassifier": (
        lambda cls: cls(algorithm="brute").fit(rows(), TARGETS > 20),
        "predict_proba",
        rows(20),
    ),
    "KNeighborsRegressor": (
        lambda cls: cls(algorithm="brute").fit(rows(), TARGETS),
        "predict",
        rows(20),
    ),
    "LocalOutlierFactor": (lambda cls: cls(algorithm="brute").fit(rows()), None, None),
    "KNeighborsTransformer": (
        lambda cls: cls(algorithm="brute").fit(rows()),
        "transform",
        rows(20),
    ),
    "LinearRegression": (lambda cls: cls().fit(rows(), TARGETS), "predict", rows(20)),
    "Ridge": (lambda cls: cls(0.5).fit(rows(), TARGETS), "predict", rows(20)),
    # A weaker penalty lets roundings, which differ between processors, grow past the bound.
    "LogisticRegression": (lambda cls: cls(C=0.05).fit(rows(), LABELS), "predict_proba", rows(20)),
    "SVC": (lambda cls: cls(tol=1e-9).fit(rows(), LABELS), "decision_function", rows(20)),
    "SVR": (lambda cls: cls(tol=1e-9).fit(rows(), TARGETS), "predict", rows(20)),
    "StandardScaler": (lambda cls: cls().fit(rows()).partial_fit(rows(9)), "transform", rows(20)),
    "MinMaxScaler": (lambda cls: cls().fit(rows()), "transform", rows(20)),
    "OneHotEncoder": (lambda cls: cls().fit(LEVELS), "transform", LEVELS[:9]),
    "OrdinalEncoder": (lambda cls: cls().fit(LEVELS), "transform", LEVELS[:9]),
    "CountVectorizer": (lambda cls: cls(min_df=2).fit(TEXTS), "transform", TEXTS[:4]),
    "TfidfVectorizer": (lambda cls: cls(ngram_range=(1, 2)).fit(TEXTS), "transform", TEXTS[:4]),
    "HashingVectorizer": (lambda cls: cls(), "transform", TEXTS[:4]),
}
PATHS = {path.rpartition(".")[2]: path for path in classes.TABLE}


def both(name):
    """scikit-learn's class and ours."""
    module, _, _ = PATHS[name].rpartition(".")
    theirs = getattr(__import__(f"sklearn.{module}", fromlist=[name]), name)
    return theirs, classes.subclass(PATHS[name])


def equal(ours, theirs, where, tolerance=1e-8):
    if hasattr(theirs, "toarray"):
        assert type(ours) is type(theirs), where
        ours, theirs = ours.toarray(), theirs.toarray()
    if isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs), where
        for one, other in zip(ours, theirs, strict=True):
            equal(one, other, where, tolerance)
    elif isinstance(theirs, np.ndarray) and theirs.dtype.kind in "fiub":
        assert type(ours) is np.ndarray and ours.dtype == theirs.dtype, where
        assert ours.flags.writeable or not theirs.flags.writeable, where
        np.testing.assert_allclose(ours, theirs, tolerance, tolerance / 100, err_msg=where)
    elif isinstance(theirs, float | np.floating):
        assert ours == pytest.approx(theirs, rel=tolerance, nan_ok=True), where
    elif isinstance(theirs, int | str | dict):
        assert ours == theirs, where


def test_every_class_has_a_case():
    assert set(CASES) == set(PATHS)


@pytest.mark.parametrize("name", CASES)
def test_the_same_attributes_and_results(name):
    make, method, asked = CASES[name]
    theirs, ours = (make(cls) for cls in both(name))
    before = hr.fallbacks()
    assert isinstance(ours, type(theirs)) and repr(ours) == repr(theirs)
    mine, other = vars(ours), vars(theirs)
    assert mine.keys() == other.keys()
    tolerance, steps = 1e-8, set()
    if name in ("SVC", "SVR"):  # LIBSVM's kernels are float32
        tolerance, steps = 1e-5, {"n_iter_", "_num_iter"}
    for attribute in other.keys() - steps:
        equal(mine[attribute], other[attribute], attribute, tolerance)
    if method is not None:
        equal(getattr(ours, method)(asked), getattr(theirs, method)(asked), method, tolerance)
    assert [op for op, *_ in hr.fallbacks() if op not in [op for op, *_ in before]] == []


def test_the_loops_are_ours(monkeypatch):
    called = []
    monkeypatch.setattr(loops._core, "kmeans_fit", lambda *args: called.append(args), raising=True)
    _, ours = both("KMeans")
    with pytest.raises(TypeError):
        ours(3, n_init=1).fit(rows())
    assert len(called) == 1


@pytest.mark.parametrize("name", CASES)
def test_small_work_stays_with_scikit_learn(name, monkeypatch):
    make, method, asked = CASES[name]

    class Few:
        """A class whose models get few rows."""

        def __init__(self, *args, **kwargs):
            self.model = ours(*args, **kwargs)

        def fit(self, X, *more):
            return self.model.fit(X[:20], *(each[:20] for each in more))

    monkeypatch.setattr(loops.Sizes, "scale", 1.0)
    monkeypatch.setattr(loops, "_core", None)
    _, ours = both(name)
    before = hr.fallbacks()
    fitted = make(Few)
    if method is not None:
        getattr(getattr(fitted, "model", fitted), method)(asked[:20])
    assert hr.fallbacks() == before


@pytest.mark.parametrize("labels", [LABELS, LABELS > 0], ids=["three", "two"])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"class_weight": "balanced"}])
def test_logistic_regression_of_other_rows(labels, options):
    sparse = pytest.importorskip("scipy.sparse")
    theirs, ours = both("LogisticRegression")
    zeros = np.where(rows() > 0, rows(), 0)
    weights = np.arange(400) % 3 + 0.5
    given = rows(), np.asfortranarray(rows()), rows().astype(np.float32), sparse.csr_matrix(zeros)
    for X in given:
        for more in ({}, {"sample_weight": weights}):
            single = X.dtype == np.float32  # scikit-learn's losses of these are float32
            tol = 1e-4 if single else 1e-7
            one, other = (
                cls(tol=tol, max_iter=1000, **options).fit(X, labels, **more)
                for cls in (ours, theirs)
            )
            for name in ("coef_", "intercept_"):
                a, b = getattr(one, name), getattr(other, name)
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=0, atol=0.03 if single else 1e-4)


@pytest.mark.parametrize("kernel", ["linear", "poly", "precomputed"])
def test_machines_of_other_kernels(kernel):
    X = rows(200)
    X = X @ X.T / 100 if kernel == "precomputed" else X / 10
    for name, y in (("SVC", LABELS[:200]), ("SVC", LABELS[:200] > 0), ("SVR", TARGETS[:200])):
        theirs, ours = (cls(kernel=kernel, tol=1e-9).fit(X, y) for cls in both(name))
        assert ours.support_vectors_.shape[1] == theirs.support_vectors_.shape[1]
        word = "predict" if name == "SVR" else "decision_function"  # more dual_coef_ give the same
        one, other = (getattr(model, word)(X) for model in (ours, theirs))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5 * np.abs(other).max())


def test_fallbacks_are_listed_and_strict_raises():
    sparse = pytest.importorskip("scipy.sparse")
    _, ours = both("KMeans")
    few = sparse.csr_matrix(rows(50))
    ours(2, n_init=1).fit(few)
    [(_, reason, seconds)] = [each for each in hr.fallbacks() if each[0] == "KMeans.fit"]
    assert reason == "by scikit-learn: sparse rows" and seconds > 0
    with hr.strict(), pytest.raises(hr.UnsupportedError, match=r"KMeans\.fit: .*sparse rows"):
        ours(2, n_init=1).fit(few)
    _, ours = both("LinearRegression")
    twice = np.repeat(rows(50, 1), 2, axis=1)
    assert ours().fit(twice, twice[:, 0]).rank_ == 1
    assert "depend on each other" in str(hr.fallbacks())


def test_errors_are_scikit_learns():
    theirs, ours = both("KMeans")
    for given in ({"n_clusters": 0}, {"init": "x"}, {"tol": -1}):
        errors = []
        for cls in (theirs, ours):
            with pytest.raises(ValueError) as found:
                cls(**given).fit(rows(20))
            errors.append(str(found.value))
        assert errors[0] == errors[1]


# Other tests hold classes of scikit-learn.
@pytest.mark.filterwarnings("ignore:imported before headrace.sklearn.install")
def test_install_and_uninstall():
    from sklearn import cluster

    plain = cluster.KMeans
    hr.sklearn.install()
    made = cluster.KMeans(3, n_init=1, random_state=0).fit(rows())
    assert cluster.KMeans is not plain and issubclass(cluster.KMeans, plain)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is cluster.KMeans and type(copy.deepcopy(made)) is cluster.KMeans
    clone = sklearn.base.clone(made)
    assert type(clone) is cluster.KMeans
    hr.sklearn.uninstall()
    assert cluster.KMeans is plain
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is plain
    np.testing.assert_array_equal(again.cluster_centers_, made.cluster_centers_)
    hr.sklearn.install(["PCA"])
    assert cluster.KMeans is plain


@pytest.mark.filterwarnings("ignore:imported before headrace.sklearn.install")
def test_a_class_made_of_ours_is_sent_to_processes():
    cloudpickle = pytest.importorskip("cloudpickle")
    hr.sklearn.install(["StandardScaler"])
    from sklearn.preprocessing import StandardScaler

    class Scaler(StandardScaler):
        def transform(self, X):
            return super().transform(X) + 1

    made = pickle.loads(cloudpickle.dumps(Scaler().fit(rows())))
    np.testing.assert_allclose(made.transform(rows()).mean(axis=0), 1.0)


def test_unknown_names():
    with pytest.raises(hr.InvalidArgumentError, match=r"names=\['NuSVR'\]"):
        hr.sklearn.install(["NuSVR"])


def python(*arguments, code=""):
    made = subprocess.run(
        [sys.executable, *arguments], input=code, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


SCRIPT = """
import pickle, sys
import numpy as np
from sklearn.cluster import KMeans
x = np.random.default_rng(0).normal(size=(2000, 20))
model = KMeans(8, n_init=1, random_state=0).fit(x)
print(sys.argv[1:], len(KMeans.__mro__))
with open(sys.argv[1], "wb") as file:
    pickle.dump(model, file)
"""


def test_runner_and_pickles_without_headrace(tmp_path):
    script, model = tmp_path / "script.py", tmp_path / "model.pickle"
    script.write_text(SCRIPT)
    plain = python(str(script), str(model))
    ours = python("-m", "headrace.sklearn", str(script), str(model))
    depth = [int(text.split()[-1]) for text in (plain, ours)]
    assert depth[1] == depth[0] + 1 and ours.split("]")[0] == plain.split("]")[0]
    code = f"""
    import pickle, sys
    sys.modules["headrace"] = None
    model = pickle.load(open({str(model)!r}, "rb"))
    print(type(model).__module__, len(type(model).__mro__) == {depth[0]}, model.n_iter_ > 0)
    """
    assert python(code=textwrap.dedent(code)).split() == ["sklearn.cluster._kmeans", "True", "True"]


def test_runner_is_told_what_is_wrong(tmp_path):
    for arguments in ([], [str(tmp_path / "none.py")]):
        made = subprocess.run(
            [sys.executable, "-m", "headrace.sklearn", *arguments], capture_output=True, check=False
        )
        assert made.returncode == 2 and made.stderr


def test_what_was_imported_before_is_named():
    code = """
    import warnings
    from sklearn.cluster import KMeans
    import headrace as hr
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        hr.sklearn.install()
    print(len(seen), "__main__.KMeans" in str(seen[0].message))
    from sklearn.cluster import KMeans as again
    print(again is not KMeans)
    """
    assert python(code=textwrap.dedent(code)).split() == ["1", "True", "True"]
