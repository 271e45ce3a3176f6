# SPDX-License-Identifier: Apache-2.0
"""Vectorizers of texts against scikit-learn on random corpora, and threads that change nothing."""

import pickle
import random
import re

import numpy as np
import pytest

import headrace as hr

text = pytest.importorskip("sklearn.feature_extraction.text")

LETTERS = "abcdeABCDE_019"
STRANGE = [
    "é",
    "É",
    "ß",
    "İ",
    "ñ",
    "日",
    "本",
    "٣",
    "½",
    "²",
    "a\u0301",
    "Σ",
    "σ",
    "😀",
    "ǅ",
    "\u00a0",
]
SPACES = [" ", "  ", "\n", ".", ", ", "-", "'", "\t", " \n ", "\u2003", "!"]


def corpus(seed, docs=200, strange=True):
    rng = random.Random(seed)
    words = [
        "".join(
            rng.choice(STRANGE) if strange and rng.random() < 0.1 else rng.choice(LETTERS)
            for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5, 8, 17]))
        )
        for _ in range(80)
    ]
    return [
        "".join(rng.choice(words) + rng.choice(SPACES) for _ in range(rng.choice([0, 1, 5, 40])))
        for _ in range(docs)
    ]


def equal(ours, theirs, exact=True):
    ours = ours.to_scipy() if isinstance(ours, hr.tensor.csr_matrix) else ours
    ours, theirs = ours.sorted_indices(), theirs.sorted_indices()
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert np.array_equal(ours.indptr, theirs.indptr)
    assert np.array_equal(ours.indices, theirs.indices)
    if exact:
        assert np.array_equal(ours.data, theirs.data)
    else:
        rtol = 1e-6 if ours.dtype == np.float32 else 1e-14
        np.testing.assert_allclose(ours.data, theirs.data, rtol=rtol)


OPTIONS = [
    {},
    {"lowercase": False},
    {"binary": True},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 2)},
    {"analyzer": "char"},
    {"analyzer": "char", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 5)},
    {"analyzer": "char_wb", "ngram_range": (3, 3), "lowercase": False},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"[a-e]+"},
    {"token_pattern": r"(?u)\b(\w)\w*\b"},
    {"strip_accents": "unicode"},
    {"strip_accents": "ascii", "ngram_range": (1, 2)},
    {"stop_words": ["aa", "ab", "é", "ba"], "ngram_range": (1, 2)},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
    {"preprocessor": str.swapcase},
    {"analyzer": str.split},
    {"analyzer": lambda text: ["", *text.split("e")]},
]


@pytest.mark.parametrize("strange", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
def test_counts_are_scikit_learns(options, strange):
    for seed in range(3):
        docs, other = corpus(seed, strange=strange), corpus(seed + 50, strange=strange)
        theirs = text.CountVectorizer(**options)
        expected = theirs.fit_transform(docs)
        ours = hr.learn.CountVectorizer(**options)
        equal(ours.fit_transform(docs), expected)
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert ours.vocabulary_ == theirs.vocabulary_
        equal(ours.transform(hr.Series(other)), theirs.transform(other))
        mine, its = ours.build_analyzer()(docs[3]), theirs.build_analyzer()(docs[3])
        assert sorted(mine) == sorted(its)
        if options.get("analyzer") != "char_wb":
            assert mine == list(its)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "default")
def test_hashes_are_scikit_learns(options):
    for seed, more in enumerate(
        [{}, {"n_features": 16}, {"alternate_sign": False, "norm": None}, {"norm": "l1"}]
    ):
        docs = corpus(seed)
        ours, theirs = (
            kind(**options, **more) for kind in (hr.learn.HashingVectorizer, text.HashingVectorizer)
        )
        equal(ours.transform(docs), theirs.transform(docs), exact=False)
    made = hr.learn.HashingVectorizer(dtype=np.float32).transform(docs)
    equal(made, text.HashingVectorizer(dtype=np.float32).transform(docs), exact=False)


@pytest.mark.parametrize(
    "limits",
    [
        {"min_df": 3},
        {"max_df": 0.2},
        {"min_df": 0.005, "max_df": 120},
        {"max_features": 7},
        {"min_df": 2, "max_features": 5, "binary": True},
        {"vocabulary": ["aa", "zz", "ab"]},
        {"vocabulary": {"aa": 1, "ab": 0}},
        {"vocabulary": {"aa", "b"}},
    ],
    ids=lambda limits: "-".join(limits),
)
def test_limits(limits):
    docs = [doc + " aa ab" * (place % 3) for place, doc in enumerate(corpus(9, 400))]
    # Counts of which no two are equal: with ties scikit-learn's choice is that of an unstable sort.
    docs += [f"w{k}" + f" w{k}" * (900 + k) for k in range(9)]
    ours, theirs = (kind(**limits) for kind in (hr.learn.CountVectorizer, text.CountVectorizer))
    equal(ours.fit_transform(docs), theirs.fit_transform(docs))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    for mine, its in zip(
        ours.inverse_transform(ours.transform(docs[:9])),
        theirs.inverse_transform(theirs.transform(docs[:9])),
        strict=True,
    ):
        assert mine.tolist() == its.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm": "l1"},
        {"norm": None},
        {"use_idf": False},
        {"smooth_idf": False},
        {"sublinear_tf": True},
        {"dtype": np.float32},
        {"ngram_range": (1, 2), "min_df": 2},
    ],
    ids=str,
)
def test_weights_are_scikit_learns(options):
    docs, other = corpus(1), corpus(2)
    ours, theirs = (kind(**options) for kind in (hr.learn.TfidfVectorizer, text.TfidfVectorizer))
    equal(ours.fit_transform(docs), theirs.fit_transform(docs), exact=False)
    equal(ours.transform(other), theirs.transform(other), exact=False)
    if options.get("use_idf", True):
        np.testing.assert_allclose(np.asarray(ours.idf_), theirs.idf_, rtol=1e-6)
    own = {name: value for name, value in options.items() if "_" in name and "ra" not in name}
    own.pop("min_df", None)
    counts = text.CountVectorizer().fit_transform(docs)
    ours, theirs = (kind(**own) for kind in (hr.learn.TfidfTransformer, text.TfidfTransformer))
    equal(ours.fit_transform(counts), theirs.fit_transform(counts), exact=False)
    mine = ours.transform(hr.tensor.csr_matrix(counts))
    assert isinstance(mine, hr.tensor.csr_matrix)
    equal(mine, theirs.transform(counts), exact=False)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_nothing(threads):
    docs = hr.Series(corpus(4, 3000))

    def made():
        counted = hr.learn.TfidfVectorizer(ngram_range=(1, 2), min_df=2)
        results = [counted.fit_transform(docs), hr.learn.HashingVectorizer().transform(docs)]
        parts = [np.asarray(part).tobytes() for m in results for part in (m.data, m.indices)]
        return parts, counted.get_feature_names_out().tolist()

    expected = made()
    with hr.threads(threads):
        assert made() == expected


def test_english_stop_words():
    docs = ["The river and the mill", "a mill is there"]
    ours, theirs = (
        kind(stop_words="english") for kind in (hr.learn.CountVectorizer, text.CountVectorizer)
    )
    equal(ours.fit_transform(docs), theirs.fit_transform(docs))


def test_documents_of_all_kinds(tmp_path):
    docs = ["one two", "two three"]
    expected = hr.learn.CountVectorizer().fit_transform(docs).toarray().tolist()
    path = tmp_path / "a.txt"
    path.write_text(docs[0])
    for source in (
        np.array(docs),
        np.array(docs, object),
        tuple(docs),
        (doc for doc in docs),
        [doc.encode() for doc in docs],
        hr.Series(docs),
        hr.Series(docs).astype("category"),
        hr.DataFrame({"t": docs}).t,
        hr.Series(["x", *docs])[1:],
    ):
        made = hr.learn.CountVectorizer().fit_transform(source)
        assert np.asarray(made.toarray()).tolist() == expected
    assert hr.learn.CountVectorizer(input="filename").fit_transform([path]).shape == (1, 2)
    with path.open() as file:
        assert hr.learn.CountVectorizer(input="file").fit_transform([file]).shape == (1, 2)


def test_fallbacks_are_listed():
    hr.learn.CountVectorizer(tokenizer=str.split, token_pattern=None).fit(["a b"])
    assert "terms found by Python" in str(hr.fallbacks())


def test_models_are_copied():
    docs = corpus(3)
    model = hr.learn.TfidfVectorizer().fit(docs)
    equal(pickle.loads(pickle.dumps(model)).transform(docs), model.transform(docs))
    base = pytest.importorskip("sklearn.base")
    assert base.clone(model).get_params() == model.get_params()


def test_errors():
    make = hr.learn.CountVectorizer
    for call, message in [
        (lambda: make().fit("a text"), "Iterable over raw text documents expected"),
        (lambda: make().fit(["a", None]), "np.nan is an invalid document"),
        (lambda: make().fit(["a", np.nan]), "np.nan is an invalid document"),
        (lambda: make().fit(hr.Series(["ab", None])), "missing text is an invalid document: row=1"),
        (lambda: make().fit(["a", "!"]), "empty vocabulary"),
        (lambda: make().transform(["ab"]), "Vocabulary not fitted"),
        (lambda: make(min_df=3).fit(["ab", "cd", "ef"]), "no terms remain"),
        (lambda: make(min_df=2, max_df=1).fit(["ab"] * 3), "max_df corresponds to"),
        (lambda: make(max_df=1.5).fit(["ab"]), "no count and no share"),
        (lambda: make(ngram_range=(2, 1)).fit(["ab"]), "Invalid value for ngram_range"),
        (lambda: make(analyzer="line").fit(["ab"]), "no such analyzer"),
        (lambda: make(vocabulary=["a", "a"]).fit(["ab"]), "Duplicate term"),
        (lambda: make(vocabulary=[]).fit(["ab"]), "empty vocabulary passed"),
        (lambda: make(vocabulary={"a": 0, "b": 2}).fit(["ab"]), "doesn't contain index 1"),
        (lambda: make(stop_words="klingon").fit(["ab"]), "not a built-in stop list"),
        (lambda: make(token_pattern="(a)(b)").fit(["ab"]), "More than 1 capturing group"),
        (lambda: hr.learn.HashingVectorizer(n_features=0).transform(["ab"]), "n_features"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            call()
    with pytest.raises(hr.UnsupportedError, match="dtype=int8"):
        make(dtype=np.int8).fit(["ab"])
    with pytest.raises(TypeError, match="documents must be strings"):
        make().fit(hr.Series([1, 2]))
    counts = make().fit_transform(["ab cd", "ab"])
    weights = hr.learn.TfidfTransformer().fit(counts)
    with pytest.raises(ValueError, match="X has 1 features, but TfidfTransformer is expecting 2"):
        weights.transform(counts[:, :1])


@pytest.mark.parametrize("lowercase", [True, False])
def test_words_at_borders_of_blocks(lowercase):
    letters = np.array(list("abyzABYZ019_ @[`{/:-^\x7f.\n"))
    rng = np.random.default_rng(4)
    texts = [
        "".join(letters[rng.integers(0, len(letters), size)])
        for size in [*range(1, 70), *range(120, 135), 300]
    ]
    texts += ["x" * size for size in (63, 64, 65, 128)] + [" " * 64 + "ab", "ab" + " " * 64]
    texts += [each + "é" for each in texts[40:70]]
    ours, theirs = (
        kind(lowercase=lowercase).fit(texts)
        for kind in (hr.learn.CountVectorizer, text.CountVectorizer)
    )
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    difference = ours.transform(texts) != theirs.transform(texts)
    assert difference.nnz == 0
