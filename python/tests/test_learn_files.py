# SPDX-License-Identifier: Apache-2.0
"""Models in files: all come back with equal predictions, and no bytes of a file do harm."""

import contextlib
import inspect
import json
import os
import pickle
import struct
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import _core, learn

ROWS = np.random.default_rng(5).normal(size=(60, 4))
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
TEXTS = ["the cat sat", "a dog", "the dog and the cat", "cats dogs", "über the sea"] * 3
USES = (
    *("predict", "predict_proba", "decision_function", "transform", "score_samples", "kneighbors"),
    "report",
)

#: These say nothing of other rows than those they were fitted on.
ALONE = ("DBSCAN", "HDBSCAN", "TSNE")

#: Estimators that need parameters to be made.
EXAMPLES = {
    "Pipeline": lambda: learn.make_pipeline(
        learn.SimpleImputer(), learn.StandardScaler(), learn.KMeans(3, random_state=0)
    ),
    "FeatureUnion": lambda: learn.FeatureUnion(
        [("a", learn.StandardScaler()), ("b", learn.PCA(2)), ("c", "passthrough")]
    ),
    "ColumnTransformer": lambda: learn.ColumnTransformer(
        [("a", learn.StandardScaler(), [0, 1]), ("b", learn.KBinsDiscretizer(3), slice(2, 3))],
        remainder="passthrough",
    ),
    "GridSearchCV": lambda: learn.GridSearchCV(
        learn.make_pipeline(learn.StandardScaler(), learn.KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [3, 5]},
        cv=learn.KFold(3),
    ),
    "RandomizedSearchCV": lambda: learn.RandomizedSearchCV(
        learn.KNeighborsClassifier(), {"n_neighbors": [2, 3, 5]}, n_iter=2, random_state=0
    ),
    "HalvingGridSearchCV": lambda: learn.HalvingGridSearchCV(
        learn.KNeighborsClassifier(), {"n_neighbors": [1, 2]}, random_state=0
    ),
}
EXAMPLES |= {
    "HashEncoder": lambda: learn.HashEncoder(7),
    "GroupStatistics": lambda: learn.GroupStatistics(["a", "b"], "c", ["mean", "count"]),
    "Lag": lambda: learn.Lag("a", ["b"], [1, -2]),
}
NAMES = [name for name in learn.__all__ if hasattr(getattr(learn, name), "fit")]
NAMES = [name for name in NAMES if inspect.isclass(getattr(learn, name))]


def example(name):
    """An estimator of each class, repeatable."""
    model = EXAMPLES[name]() if name in EXAMPLES else getattr(learn, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


def fitted(name):
    """An example of each class and the rows it may be asked about."""
    model = example(name)
    if "Vectorizer" in name:
        return model.fit(TEXTS), TEXTS
    if name.startswith("Label"):
        return model.fit(["b", "a", "c"] * 3), ["c", "a"]
    rows = np.abs(ROWS) if name in ("NMF", "TfidfTransformer") or name.endswith("NB") else ROWS
    if name.endswith(("OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "CategoryEncoder")):
        rows = np.round(ROWS)
    if name in ("GroupStatistics", "Lag"):
        rows = hr.DataFrame(dict(zip("abcd", np.round(ROWS).T, strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, LABELS), rows


def used(model, rows):
    """Everything that a model says of rows."""
    found = {}
    for name in USES:
        method = getattr(model, name, None)
        if method is not None:
            made = method(rows)
            made = made if isinstance(made, tuple) else (made,)
            found[name] = [np.asarray(p.toarray() if hasattr(p, "toarray") else p) for p in made]
    return found


def same(one, other):
    assert one.keys() == other.keys() and one
    for name, parts in one.items():
        for mine, theirs in zip(parts, other[name], strict=True):
            nan = mine.dtype.kind == "f"
            assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs, equal_nan=nan), name


def equal(one, other):
    """Whether two values of attributes are the same, and of the same kinds."""
    if hasattr(one, "get_params"):
        mine, theirs = (dict(sorted(vars(each).items())) for each in (one, other))
        return type(one) is type(other) and equal(mine, theirs)
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and not isinstance(one, str):
        return type(one) is type(other) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return type(one) is type(other) and equal(one.tolist(), other.tolist())
    if isinstance(one, hr.Series):
        return one.to_list() == other.to_list()
    if isinstance(one, np.ndarray | np.generic | hr.Array):
        here, there = np.asarray(one), np.asarray(other)
        return type(one) is type(other) and here.dtype == there.dtype and str(here) == str(there)
    if isinstance(one, set | frozenset):
        return type(one) is type(other) and one == other
    return type(one) is type(other) and (one is other or repr(one) == repr(other))


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name, tmp_path):
    model, rows = fitted(name)
    model.save(tmp_path / "m.hrm")
    again = hr.learn.load(tmp_path / "m.hrm")
    assert repr(again) == repr(model) and equal(model, again)
    again.save(tmp_path / "n.hrm")
    assert (tmp_path / "m.hrm").read_bytes() == (tmp_path / "n.hrm").read_bytes()
    if name not in ALONE:
        same(used(model, rows), used(again, rows))


@pytest.mark.parametrize("name", NAMES)
def test_unfitted(name, tmp_path):
    model = EXAMPLES[name]() if name in EXAMPLES else getattr(learn, name)()
    model.save(tmp_path / "m.hrm")
    again = learn.load(tmp_path / "m.hrm")
    assert repr(again) == repr(model) and equal(model, again)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["pickle", "joblib", "cloudpickle"])
def test_pickle(name, how, tmp_path):
    library = pytest.importorskip(how)
    model, rows = fitted(name)
    if how == "joblib":
        library.dump(model, tmp_path / "m.joblib")
        again = library.load(tmp_path / "m.joblib")
    else:
        again = pickle.loads(library.dumps(model))
    assert equal(model, again)
    if name not in ALONE:
        same(used(model, rows), used(again, rows))


def test_names_of_columns(tmp_path):
    frame = hr.DataFrame({"a": ROWS[:, 0], "ü": ROWS[:, 1]})
    learn.LinearRegression().fit(frame, ROWS[:, 2]).save(tmp_path / "m.hrm")
    again = learn.load(tmp_path / "m.hrm")
    assert again.feature_names_in_.tolist() == ["a", "ü"]
    with pytest.raises(hr.InvalidArgumentError, match="feature names"):
        again.predict(frame.rename({"a": "b"}))


def test_values(tmp_path):
    values = {
        "limits_": [
            -0.0,
            5e-324,
            1e308,
            float("inf"),
            float("-inf"),
            float("nan"),
            2**63,
            -(2**63),
        ],
        "texts_": np.array([["a", "é\0"], ["", "\U0001f600"]]),
        "objects_": np.array([1, "a", None, 2.5, np.array([1.0])], object),
        "missing_": np.array(["a", None], object),
        "times_": np.array(["2024-01-02", "NaT"], "M8[D]"),
        "halves_": np.array([1.5, 2.5], np.float16),
        "nothing_": np.zeros((0, 3), np.int8),
        "zero_": np.array(7.0),
        "strided_": np.arange(12.0).reshape(3, 4).T[::2],
        "swapped_": np.arange(3, dtype=">i4"),
        "complex_": np.array([1 + 2j]),
        "masked_": np.ma.MaskedArray([1.0, 2.0], [True, False]),
        "scalars_": (np.float32(0.1), np.int8(-1), np.bool_(True), np.str_("x"), np.float64("nan")),
        "kinds_": [float, np.float32, np.dtype("int16"), np.bool_, bool],
        "sets_": ({1, 2}, frozenset(["b", "a"]), slice(None, 3), {(1, "a"): [None], 2.5: {}}),
        "lazy_": hr.asarray([1, 2]) * 2,
        "series_": hr.Series(["a", "b" * 40], name="s"),
    }
    model = learn.StandardScaler()
    vars(model).update(values)
    model.save(tmp_path / "m.hrm")
    again = vars(learn.load(tmp_path / "m.hrm"))
    for name, value in values.items():
        if name == "swapped_":
            value = value.astype("i4")
        if name == "texts_":
            assert again[name].tolist() == value.tolist()
        else:
            assert equal(value, again[name]), name
    assert again["series_"].name == "s" and again["zero_"].shape == ()
    assert again["strided_"].flags.writeable


def test_functions_are_refused(tmp_path):
    path = tmp_path / "m.hrm"
    for model, name in [
        (learn.CountVectorizer(tokenizer=str.split), "CountVectorizer.tokenizer"),
        (
            learn.make_pipeline(learn.KNeighborsClassifier(weights=lambda d: d)),
            "KNeighborsClassifier.weights",
        ),
        (learn.GridSearchCV(learn.PCA(), {}, scoring=max), "GridSearchCV.scoring"),
        (learn.KMeans(random_state=np.random.RandomState(1)), "KMeans.random_state"),
        (learn.Pipeline([("a", object())]), "Pipeline.steps"),
    ]:
        with pytest.raises(hr.UnsupportedError, match=name):
            model.save(path)
    assert not os.listdir(tmp_path)


def test_classes_of_others_are_refused(tmp_path):
    linear = pytest.importorskip("sklearn.linear_model")
    with pytest.raises(hr.UnsupportedError, match=r"Pipeline\.steps=Ridge.*from_sklearn"):
        learn.make_pipeline(linear.Ridge()).save(tmp_path / "m.hrm")

    class Mine(learn.PCA):
        pass

    with pytest.raises(hr.UnsupportedError, match=r"only models of hr\.learn"):
        Mine().save(tmp_path / "m.hrm")


# ---- hostile files -------------------------------------------------------------------------------
def checksum(data):
    """The sum of a file, in Python: who forges a file can compute it."""
    mask, state = 2**64 - 1, 0

    def mixed(word):
        product = (word ^ 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
        return (product ^ (product >> 64)) & mask

    summed = data[:32] + data[40:]
    for (word,) in struct.iter_unpack("<Q", summed):
        state = (mixed((state + word) & mask) + word) & mask
    return mixed(state ^ len(summed))


def forged(data, header):
    """The file with another header, and sizes and sum that fit."""
    size = int.from_bytes(data[16:24], "little")
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    header += b" " * (-(40 + len(header)) % 64)
    rest = data[40 + size :]
    made = data[:16] + struct.pack("<QQQ", len(header), 40 + len(header) + len(rest), 0)
    return resummed(made + header + rest)


def resummed(data):
    return data[:32] + struct.pack("<Q", checksum(data)) + data[40:]


def header_of(data):
    return json.loads(data[40 : 40 + int.from_bytes(data[16:24], "little")])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.hrm"
    frame = hr.DataFrame({name: ROWS[:, place] for place, name in enumerate("abcd")})
    steps = learn.StandardScaler(), learn.RandomForestClassifier(2, max_depth=3, random_state=0)
    learn.make_pipeline(*steps).fit(frame, np.where(LABELS, "yes", "no")).save(path)
    return path


def test_header(file):
    data = file.read_bytes()
    assert data[:8] == b"\x89HRMODL\n" and data[8:16] == struct.pack("<II", 1, 0)
    assert struct.unpack("<Q", data[32:40]) == (checksum(data),)
    found = header_of(data)
    assert found["model"]["class"] == "Pipeline" and found["versions"]["headrace"] == hr.__version__
    mean = found["arrays"][1]
    assert mean["dtype"] == "float64" and mean["shape"] == [4] and mean["values"][0] % 64 == 0
    begin, size = mean["values"]
    assert np.array_equal(np.frombuffer(data[begin : begin + size]), learn.load(file)[0].mean_)


def outcome(path, data):
    """Loads and uses a changed file: a clear error, or a model that says something."""
    path.write_bytes(data)
    try:
        model = learn.load(path)
    except (hr.InputError, hr.UnsupportedError) as error:
        assert str(error).startswith("load: ") or "update headrace" in str(error)
        return None
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return np.asarray(model.predict(ROWS)).tolist()
    return ()


def test_flipped_and_cut(file):
    data, random = file.read_bytes(), np.random.default_rng(0)
    expected = outcome(file, data)
    assert expected is not None
    for place in [*range(64), *random.integers(0, len(data), 300).tolist()]:
        changed = bytearray(data)
        changed[place] ^= 1 << random.integers(8)
        assert outcome(file, bytes(changed)) in (None, expected)
    for size in [*range(0, 64), *random.integers(0, len(data), 100).tolist()]:
        assert outcome(file, data[:size]) is None
    assert outcome(file, data + b"\0" * 64) is None


def test_flipped_by_a_forger(file):
    """Nothing but the checks of what the file says stands between these bytes and the engine."""
    data, random = file.read_bytes(), np.random.default_rng(1)
    refused = 0
    for round_ in range(800):
        changed = bytearray(data)
        first = 40 if round_ % 2 else 40 + int.from_bytes(data[16:24], "little")
        for place in random.integers(first, len(data), random.integers(1, 4)).tolist():
            changed[place] ^= 1 << random.integers(8)
        refused += outcome(file, resummed(bytes(changed))) is None
    assert refused > 100


@pytest.mark.parametrize(
    "text, what",
    [
        (b'{"arrays": [], "model": NaN}', "no value begins so"),
        (b'{"arrays": [], "arrays": []}', "a key twice"),
        (b'{"arrays": [], "\\u0061": 1, "a": 2}', "a key twice"),
        (b'{"arrays": ' + b"[" * 200 + b"]" * 200 + b"}", "too deep"),
        (b'{"arrays": [], "model": "\xff"}', "UTF-8"),
        (b'{"arrays": [], "model": "\\ud800"}', "surrogate"),
        (b'{"arrays": [], "model": 01}', "an object has no end"),
        (b'{"arrays": [], "model": 1.}', "a digit is missing"),
        (b'{"arrays": []} x', "something follows"),
        (b'{"arrays": {}}', "no arrays"),
        (b'{"arrays": [', "no value begins so"),
        (b"[1]", "no arrays"),
    ],
)
def test_headers_that_are_no_json(file, text, what):
    file.write_bytes(forged(file.read_bytes(), text))
    with pytest.raises(hr.InputError, match=what):
        learn.load(file)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [-1]},
        {"shape": [2**62, 4]},
        {"shape": [5]},
        {"shape": [1] * 40},
        {"shape": [4.0]},
        {"dtype": "object"},
        {"dtype": "string"},
        {"dtype": "datetime64[us]"},
        {"values": [0, 32]},
        {"values": [2**63, 32]},
        {"values": [-64, 32]},
        {"values": []},
    ],
)
def test_arrays_that_lie_elsewhere(file, change):
    data = file.read_bytes()
    header = header_of(data)
    header["arrays"][1] |= change
    file.write_bytes(forged(data, header))
    with pytest.raises(hr.InputError, match="load: "):
        learn.load(file)


def scaler_file(path, changed):
    learn.StandardScaler().fit(ROWS).save(path)
    data = path.read_bytes()
    header = header_of(data)
    changed(header["model"])
    # Places depend on the length of the header: it keeps it.
    text = json.dumps(header).encode()
    size = int.from_bytes(data[16:24], "little")
    assert len(text) <= size, "shorten the change"
    path.write_bytes(forged(data, text.ljust(size)))


@pytest.mark.parametrize(
    "attribute, value, what",
    [
        ("mean_", {"numpy": 99}, "no array 99"),
        ("mean_", {"numpy": True}, "no array True"),
        ("mean_", {"eval": "1"}, "eval"),
        ("mean_", {}, "damaged"),
        ("mean_", {"model": {"class": "os"}}, "unknown class"),
        ("mean_", {"model": {"class": "NotFittedError"}}, "unknown class"),
        ("mean_", {"model": {"class": "load"}}, "unknown class"),
        ("mean_", {"type": "os"}, "no such dtype"),
        ("mean_", {"dtype": "O"}, "no such dtype"),
        ("mean_", {"scalar": ["O", 1]}, "no such dtype"),
        ("mean_", {"dict": [[[], 1]]}, "unhashable"),
        ("mean_", {"tuple": 5}, "a list is missing"),
        ("__class__", 1, "no attribute"),
        ("fit", 1, "no attribute"),
        ("_tags", 1, "no attribute"),
        ("a b", 1, "no attribute"),
    ],
)
def test_attributes_that_are_none(tmp_path, attribute, value, what):
    def changed(model):
        del model["attributes"]["var_"]
        model["attributes"][attribute] = value

    scaler_file(tmp_path / "m.hrm", changed)
    with pytest.raises((hr.InputError, hr.UnsupportedError), match=what):
        learn.load(tmp_path / "m.hrm")


def test_parameters_of_other_versions(tmp_path):
    scaler_file(tmp_path / "m.hrm", lambda model: model["params"].pop("with_std"))
    assert learn.load(tmp_path / "m.hrm").with_std is True
    scaler_file(
        tmp_path / "m.hrm",
        lambda model: (model["attributes"].pop("var_"), model["params"].update(newer=1)),
    )
    with pytest.raises(hr.UnsupportedError, match="newer"):
        learn.load(tmp_path / "m.hrm")


@pytest.mark.parametrize("link", [0, 1 << 32, 1 << 62, -2, (2 << 32) | (4 << 1)])
def test_trees_that_lead_astray(tmp_path, link):
    model, _ = fitted("RandomForestRegressor")
    links = model._forest[1].to_numpy().copy()
    links[0] = link
    model._forest[1] = hr.asarray(links)
    model.save(tmp_path / "m.hrm")
    with pytest.raises(hr.InputError, match="leads out of its tree"):
        learn.load(tmp_path / "m.hrm")


@pytest.mark.parametrize("part", range(6))
def test_trees_with_parts_missing(tmp_path, part):
    model, _ = fitted("RandomForestRegressor")
    model._forest[part] = hr.asarray(model._forest[part].to_numpy()[:-1].copy())
    model.save(tmp_path / "m.hrm")
    with pytest.raises(hr.InputError, match=r"do not fit each other|do not cover"):
        learn.load(tmp_path / "m.hrm")


def test_files_that_are_no_models(tmp_path):
    for data in (b"", b"PAR1", b"\x80\x04N.", b"\x89HRMODL\n" + b"\0" * 31):
        (tmp_path / "m").write_bytes(data)
        with pytest.raises(hr.InputError, match=r"not a model file|another version"):
            learn.load(tmp_path / "m")
    with pytest.raises(FileNotFoundError):
        learn.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        learn.StandardScaler().save(tmp_path)
    (tmp_path / "m").write_bytes(b"\x89HRMODL\n\2\0\0\0" + b"\0" * 52)
    with pytest.raises(hr.UnsupportedError, match="version=2, known=1"):
        learn.load(tmp_path / "m")


def test_nothing_half_written(tmp_path):
    path = tmp_path / "m.hrm"
    learn.StandardScaler().fit(ROWS).save(path)
    before = path.read_bytes()
    with pytest.raises(hr.UnsupportedError):
        learn.CountVectorizer(tokenizer=str.split).save(path)
    with pytest.raises(hr.InvalidArgumentError):
        _core.write_model_file(str(path), "[]", [])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["m.hrm"]


def inside(node):
    """The places of all values in a tree of lists and dictionaries."""
    for key in range(len(node)) if isinstance(node, list) else list(node):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from inside(node[key])


RARE = [0, 1, -1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 1e300, None, "x", [], True]


def changed(data, random):
    """The file with something else in its arrays, in what it says of them or of the model."""
    made = bytearray(data)
    first = 40 + int.from_bytes(data[16:24], "little")
    kind = random.integers(4)
    if kind == 0 or first >= len(data):
        for place in random.integers(40, len(data), random.integers(1, 4)).tolist():
            made[place] ^= 1 << random.integers(8)
        return resummed(bytes(made))
    if kind == 1:
        for place in random.integers(first // 8, len(data) // 8, random.integers(1, 3)).tolist():
            word = struct.pack("<q", RARE[random.integers(8)])
            made[place * 8 : place * 8 + 8] = word if random.integers(2) else random.bytes(8)
        return resummed(bytes(made))
    header = header_of(data)
    arrays, places = header["arrays"], list(inside(header["model"]))
    node, key = places[random.integers(len(places))]
    other, theirs = places[random.integers(len(places))]
    if kind == 2 and arrays:  # another dtype, shape or array
        entry, others = (
            arrays[random.integers(len(arrays))],
            {"float64": "int64", "int64": "float64"},
        )
        numbered = [(n, k) for n, k in places if k in ("numpy", "array")] or [(node, key)]
        node, key = numbered[random.integers(len(numbered))]
        match random.integers(4):
            case 0:
                entry["shape"] = [1, *entry["shape"]]
            case 1:
                entry["shape"] = [int(np.prod(entry["shape"]))]
            case 2:
                entry["dtype"] = others.get(entry["dtype"], "uint8")
            case _:
                node[key] = int(random.integers(len(arrays)))
    elif random.integers(4) == 0:
        node[key] = json.loads(json.dumps(other[theirs]))
    elif random.integers(4) == 0 and isinstance(node, dict):
        del node[key]
    elif random.integers(4) == 0:
        node[key] = {"numpy": int(random.integers(max(1, len(arrays))))}
    else:
        node[key] = RARE[random.integers(len(RARE))]
    # Arrays keep their distance to the end of a longer header.
    size, text = first - 40, json.dumps(header)
    more = -(-max(0, len(text) + 64 - size) // 64) * 64
    for entry in arrays:
        for part in {"values", "offsets", "text", "validity"} & set(entry):
            entry[part][0] += more
    return forged(data, json.dumps(header).encode().ljust(size + more))


#: Errors that say what is wrong, of a model of which a part says so.
CLEAR = hr.Error, learn.NotFittedError
ROUNDS = int(os.environ.get("HEADRACE_EXAMPLES", "60"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_changed_files_end_in_clear_errors(name, tmp_path):
    model, rows = fitted(name)
    path = tmp_path / "m.hrm"
    model.save(path)
    data, refused = path.read_bytes(), 0
    random = np.random.default_rng([NAMES.index(name), ROUNDS])
    for round_ in range(ROUNDS):
        path.write_bytes(changed(data, random))
        try:
            again = learn.load(path)
        except (hr.InputError, hr.UnsupportedError):
            refused += 1
            continue
        for use in USES if name not in ALONE else ():
            try:
                method = getattr(again, use, None)
                if method is not None:
                    method(rows)
            except CLEAR as error:
                assert not isinstance(error, hr.InternalError), (round_, use)
            except Exception as error:
                error.add_note(f"round {round_}, {use}")
                raise
    assert refused


# ---- in C++ --------------------------------------------------------------------------------------
NEAR = learn.KNeighborsClassifier
IN_CPP = {
    "linear": lambda: learn.LinearRegression(),
    "ridge": lambda: learn.make_pipeline(learn.StandardScaler(), learn.Ridge()),
    "no intercept": lambda: learn.Ridge(fit_intercept=False),
    "robust": lambda: learn.make_pipeline(learn.RobustScaler(), "passthrough", learn.Ridge()),
    "range": lambda: learn.make_pipeline(learn.MinMaxScaler((-1, 1), clip=True), learn.Ridge()),
    "largest": lambda: learn.make_pipeline(learn.MaxAbsScaler(clip=True), learn.Ridge()),
    "scalers": lambda: learn.make_pipeline(
        learn.StandardScaler(with_mean=False), learn.StandardScaler(with_std=False), learn.Ridge()
    ),
    "kmeans": lambda: learn.make_pipeline(learn.StandardScaler(), learn.KMeans(5, random_state=0)),
    "pca": lambda: learn.make_pipeline(learn.PCA(3), learn.Ridge()),
    "white": lambda: learn.make_pipeline(learn.PCA(2, whiten=True), learn.Ridge()),
    "batches": lambda: learn.make_pipeline(learn.IncrementalPCA(2), learn.Ridge()),
    "forest": lambda: learn.RandomForestRegressor(5, random_state=0),
    "extra": lambda: learn.ExtraTreesClassifier(5, random_state=0),
    "forest of classes": lambda: learn.make_pipeline(
        learn.StandardScaler(), learn.RandomForestClassifier(7, random_state=0)
    ),
    "neighbors": lambda: learn.make_pipeline(learn.StandardScaler(), NEAR(4)),
    "distances": lambda: NEAR(20, weights="distance"),
    "manhattan": lambda: NEAR(3, metric="manhattan"),
    "near numbers": lambda: learn.KNeighborsRegressor(11, weights="distance"),
    "logistic": lambda: learn.make_pipeline(learn.StandardScaler(), learn.LogisticRegression()),
    "margin numbers": lambda: learn.make_pipeline(
        learn.StandardScaler(), learn.LinearSVR(tol=0.01)
    ),
    "lasso": lambda: learn.Lasso(0.01),
    "bayes": lambda: learn.make_pipeline(learn.StandardScaler(), learn.GaussianNB()),
    "ridge of rows": lambda: learn.RidgeCV(),
    "lasso of folds": lambda: learn.LassoCV(cv=3),
    "search": lambda: learn.GridSearchCV(learn.Ridge(), {"alpha": [0.1, 10.0]}),
}


def bits(values):
    made = np.asarray(values)
    return made.tolist() if made.dtype.kind in "OU" else (made.dtype, made.tobytes())


def in_cpp(model, rows):
    """What the C++ model says of a frame or NumPy array."""
    given = rows._table() if isinstance(rows, hr.DataFrame) else hr.asarray(rows)._value()
    found = hr.Series(model.predict(given))
    return found.to_list() if found.dtype == "string" else found.to_numpy()


@pytest.mark.parametrize("labels", ["numbers", "texts", "two"])
@pytest.mark.parametrize("name", IN_CPP)
def test_predicts_in_cpp(name, labels, tmp_path):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(400, 6)) * [1, 10, 0.1, 3, 1e4, 1] + [0, 5, 0, 0, 1e5, -2]
    y = np.digitize(rows[:, 0] + rows[:, 3], [-2, 0.5]) if labels != "two" else rows[:, 0] > 0
    model = IN_CPP[name]()
    if labels == "texts":
        if model.__sklearn_tags__().estimator_type != "classifier":
            pytest.skip("no labels")
        y = np.array(["low", "in the middle of the range", "high"])[y]
    model.fit(rows, y)
    model.save(tmp_path / "m.hrm")
    loaded = _core.load_model(str(tmp_path / "m.hrm"))
    for count in (1, 2, 63, 1000, 5000):
        fresh = rng.normal(size=(count, 6)) * [1, 10, 0.1, 3, 1e4, 1] + [0, 5, 0, 0, 1e5, -2]
        fresh[: count // 2] = rows[rng.integers(0, 400, count // 2)]
        for given in (fresh, np.asfortranarray(fresh)[::-1], fresh.astype(np.float32)):
            expected = bits(model.predict(given))
            for threads in (1, 4):
                with hr.threads(threads):
                    assert bits(in_cpp(loaded, given)) == expected, (count, given.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["ridge", "kmeans", "forest of classes", "white", "range"])
def test_predicts_frames_in_cpp(name, dtype, tmp_path):
    frame = hr.DataFrame({c: ROWS[:, i].astype(dtype) for i, c in enumerate("abcd")})
    model = IN_CPP[name]().fit(frame, LABELS)
    model.save(tmp_path / "m.hrm")
    loaded = _core.load_model(str(tmp_path / "m.hrm"))
    assert bits(in_cpp(loaded, frame)) == bits(model.predict(frame))
    mixed = frame.assign(b=hr.Series([1, 2, 3] * 20), c=hr.Series([True, False] * 30))
    assert bits(in_cpp(loaded, mixed)) == bits(model.predict(mixed))
    for other, what in [
        (frame[["b", "a", "c", "d"]], "names of the columns"),
        (frame[["a", "b"]], "number of columns"),
        (frame.assign(a=hr.Series(["x"] * 60)), "does not hold numbers"),
    ]:
        with pytest.raises(hr.Error, match=what):
            in_cpp(loaded, other)


@pytest.mark.parametrize("features", [1, 255, 256, 257, 700])
def test_long_sums_in_cpp(features, tmp_path):
    rng = np.random.default_rng(features)
    rows, y = rng.normal(size=(300, features)), rng.normal(size=300)
    model = learn.make_pipeline(learn.StandardScaler(), learn.Ridge()).fit(rows, y)
    model.save(tmp_path / "m.hrm")
    loaded = _core.load_model(str(tmp_path / "m.hrm"))
    for count in (1, 3, 300):
        assert bits(in_cpp(loaded, rows[:count])) == bits(model.predict(rows[:count]))


def test_transforms_in_cpp(tmp_path):
    model = learn.make_pipeline(learn.StandardScaler(), learn.PCA(2)).fit(ROWS)
    model.save(tmp_path / "m.hrm")
    loaded = _core.load_model(str(tmp_path / "m.hrm"))
    assert bits(loaded.transform(hr.asarray(ROWS)._value())) == bits(model.transform(ROWS))
    with pytest.raises(hr.UnsupportedError, match="PCA"):
        in_cpp(loaded, ROWS)


def test_what_cpp_cannot_do(tmp_path):
    path = str(tmp_path / "m.hrm")
    for model, what in [
        (
            learn.make_pipeline(learn.OneHotEncoder(), learn.Ridge()).fit(LABELS[:, None], LABELS),
            "OneHotEncoder",
        ),
        (fitted("NearestNeighbors")[0], "NearestNeighbors"),
        (learn.KNeighborsRegressor().fit(ROWS, ROWS), "KNeighborsRegressor"),
    ]:
        model.save(path)
        with pytest.raises(hr.UnsupportedError, match=what):
            _core.load_model(path)
    learn.StandardScaler().save(path)
    with pytest.raises(hr.InvalidArgumentError, match="not fitted"):
        _core.load_model(path)
    learn.Ridge().fit(ROWS, ROWS).save(path)
    with pytest.raises(hr.UnsupportedError, match="outputs=4"):
        in_cpp(_core.load_model(path), ROWS)


@pytest.mark.parametrize("name", ["ridge", "forest of classes", "white", "distances", "kmeans"])
def test_flipped_by_a_forger_in_cpp(name, tmp_path):
    path, random = tmp_path / "m.hrm", np.random.default_rng(3)
    IN_CPP[name]().fit(ROWS, LABELS).save(path)
    data, rows, refused = path.read_bytes(), hr.asarray(ROWS)._value(), 0
    for round_ in range(400):
        changed = bytearray(data)
        first = 40 if round_ % 4 else 40 + int.from_bytes(data[16:24], "little")
        for place in random.integers(first, len(data), random.integers(1, 4)).tolist():
            changed[place] ^= 1 << random.integers(8)
        path.write_bytes(resummed(bytes(changed)))
        try:
            _core.load_model(str(path)).predict(rows)
        except hr.Error as error:
            assert not isinstance(error, hr.InternalError)
            refused += 1
    assert refused > 50
