# SPDX-License-Identifier: Apache-2.0
"""Texts to sparse matrices of terms, with scikit-learn's words and columns."""

from __future__ import annotations

import math
import re
import time
import unicodedata
import warnings
from collections.abc import Iterable, Mapping
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.learn.base import (
    NotFittedError,
    Transformer,
    also_sklearns,
    check_rows,
    check_shape,
    is_ours,
)
from headrace.series.column import is_series, series_of
from headrace.series.series import Series
from headrace.tensor.matrix import SparseMatrix, issparse
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from headrace.array.array import Array

_WORDS = r"(?u)\b\w\w+\b"
#: Patterns that the engine's own scan finds: runs of word characters, of at least this length.
_SHORTEST = {_WORDS: 2, r"\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"(?u)\w+": 1, r"\w+": 1}


def strip_accents_ascii(text: str) -> str:
    """Text without what ASCII does not have, letters without their accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def strip_accents_unicode(text: str) -> str:
    """Text without combining characters."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(character for character in parts if not unicodedata.combining(character))


_ACCENTS = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode}


def _stop_words(words: Any) -> Series | None:
    if words is None:
        return None
    if isinstance(words, str):
        if words != "english":
            raise InvalidArgumentError(
                f"vectorizer: not a built-in stop list: stop_words={words!r}; pass a list of words"
            )
        try:
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
        except ImportError:
            raise UnsupportedError(
                "vectorizer: the list of English stop words is scikit-learn's, which is not "
                "installed: stop_words='english'; install scikit-learn or pass a list of words"
            ) from None
        words = ENGLISH_STOP_WORDS
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise InvalidArgumentError(
            f"vectorizer: not a list of words: stop_words={words!r}; use 'english' or a list"
        )
    return Series(sorted(set(words)), dtype="string") if words else None


def _by_sparse(X: Any, made: csr_matrix) -> Any:
    """A matrix in the kind of what it was made of: ours, else SciPy's."""
    ours = is_ours(X) or isinstance(X, SparseMatrix)
    try:
        return made if ours else made.to_scipy()
    except ImportError:
        return made


class _Vectorizer(Transformer):
    """How the vectorizers cut documents into terms."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {},
        "input_tags": {"string": True, "two_d_array": False},
        "requires_fit": False,
    }

    input: str
    encoding: str
    decode_error: str
    strip_accents: Any
    lowercase: bool
    preprocessor: Callable[[Any], str] | None
    tokenizer: Callable[[str], Iterable[str]] | None
    analyzer: Any
    stop_words: Any
    token_pattern: str | None
    ngram_range: tuple[int, int]
    dtype: Any

    def _options(self, *, words: bool) -> tuple[Any, ...]:
        """What the engine is told; `words`: it gets the words, preprocessed."""
        lower, upper = self.ngram_range
        if callable(self.analyzer):
            return "word", False, 1, 1, 1, None
        if lower > upper:
            raise InvalidArgumentError(
                f"Invalid value for ngram_range={self.ngram_range} lower boundary larger than the "
                "upper boundary."
            )
        stops = _stop_words(self.stop_words) if self.analyzer == "word" else None
        shortest = _SHORTEST.get(self.token_pattern or "", 1)
        ready = words or self.preprocessor is not None
        return (
            self.analyzer,
            self.lowercase and not ready,
            shortest,
            lower,
            upper,
            None if stops is None else stops._node,
        )

    def _warn_unused(self) -> None:
        def unused(name: str, reason: str) -> None:
            warnings.warn(f"The parameter '{name}' will not be used since {reason}", stacklevel=4)

        if self.tokenizer is not None and self.token_pattern is not None:
            unused("token_pattern", "'tokenizer' is not None'")
        if callable(self.analyzer):
            if self.preprocessor is not None:
                unused("preprocessor", "'analyzer' is callable'")
            if self.ngram_range not in (None, (1, 1)):
                unused("ngram_range", "'analyzer' is callable'")
        if self.analyzer != "word":
            if self.stop_words is not None:
                unused("stop_words", "'analyzer' != 'word'")
            if self.token_pattern not in (None, _WORDS):
                unused("token_pattern", "'analyzer' != 'word'")
            if self.tokenizer is not None:
                unused("tokenizer", "'analyzer' != 'word'")

    def decode(self, doc: Any) -> str:
        """A document as text: read from its file and decoded, as `input` and `encoding` say.

        >>> hr.learn.CountVectorizer().decode(b"mill")
        'mill'
        """
        if self.input == "filename":
            doc = Path(doc).read_bytes()
        elif self.input == "file":
            doc = doc.read()
        if isinstance(doc, bytes):
            doc = doc.decode(self.encoding, self.decode_error)
        if doc is None or (isinstance(doc, float) and math.isnan(doc)):
            raise InvalidArgumentError(
                "np.nan is an invalid document, expected byte or unicode string."
            )
        if not isinstance(doc, str):
            raise TypeMismatchError(
                f"vectorizer: a document is not text: type={type(doc).__name__}; pass strings"
            )
        return doc

    def _column(self, raw: Any) -> Series:
        """The documents as a series of strings."""
        if isinstance(raw, str):
            raise InvalidArgumentError(
                "Iterable over raw text documents expected, string object received."
            )
        if hasattr(raw, "columns"):
            names = list(raw.columns)
            raise TypeMismatchError(
                f"{type(self).__name__}: expected one column of strings: columns={names}; pass the "
                f"column itself, such as df[{names[0] if names else '...'!r}]"
            )
        if not is_series(raw):
            content = self.input == "content"
            documents = [doc if content and type(doc) is str else self.decode(doc) for doc in raw]
            return Series(documents, dtype="string")
        if str(raw.dtype) == "category":
            raw = raw.astype("string")
        if str(raw.dtype) != "string":
            raise TypeMismatchError(f"vectorizer: documents must be strings: dtype={raw.dtype}")
        return raw

    def _preprocess(self) -> Callable[[str], str] | None:
        """What Python does to each text before the engine sees it; None for nothing."""
        if self.preprocessor is not None:
            return self.preprocessor
        accents = self.strip_accents
        if accents is None:
            return None
        strip = accents if callable(accents) else _ACCENTS.get(accents)
        if strip is None:
            raise InvalidArgumentError(
                f'Invalid value for "strip_accents": {accents}; use "ascii", "unicode" or None'
            )
        return (lambda text: strip(text.lower())) if self.lowercase else strip

    def _tokenize(self) -> Callable[[str], Iterable[str]] | None:
        """The function of Python that finds words; None where the engine does."""
        if self.analyzer != "word":
            return None
        if self.tokenizer is not None:
            return self.tokenizer
        if self.token_pattern in _SHORTEST:
            return None
        try:
            pattern = re.compile(self.token_pattern or "")
        except (re.error, TypeError) as error:
            raise InvalidArgumentError(
                f"vectorizer: not a regular expression: token_pattern={self.token_pattern!r}, "
                f"{error}"
            ) from error
        if pattern.groups > 1:
            raise InvalidArgumentError(
                "More than 1 capturing group in token pattern. Only a single group should be "
                "captured."
            )
        return pattern.findall

    def _documents(self, raw: Any) -> tuple[Any, tuple[Any, ...]]:
        """The node of documents, or of lists of words, and how the engine is to cut them."""
        start = time.perf_counter()
        if callable(self.analyzer):
            if isinstance(raw, str):
                raw = self._column(raw)
            docs = raw.to_list() if is_series(raw) else raw
            decode = self.decode if self.input != "content" else lambda doc: doc
            words = [list(self.analyzer(decode(doc))) for doc in docs]
            return self._lists(words, start), self._options(words=True)
        documents = self._column(raw)
        prepare, tokenize = self._preprocess(), self._tokenize()
        sigma = self.lowercase and prepare is None and tokenize is None
        if sigma and bool(documents.str.contains("Σ", regex=False).any()):
            prepare = str.lower  # whose form depends on the letters around it
        if prepare is None and tokenize is None:
            return documents._node, self._options(words=False)
        if prepare is None and self.lowercase:
            prepare = str.lower
        values = documents.to_list()
        if any(value is None for value in values):
            self.decode(None)
        if prepare is not None:
            values = [prepare(text) for text in values]
        if tokenize is not None:
            lists = self._lists([list(tokenize(text)) for text in values], start)
            return lists, self._options(words=True)
        _core.record_fallback(
            "vectorizer", "documents prepared by Python", time.perf_counter() - start
        )
        return Series(values, dtype="string")._node, self._options(words=True)

    def _lists(self, words: list[list[str]], start: float) -> Any:
        # The last row says that items are strings, even where there are none.
        made = Series([*words, ["x"]]).iloc[:-1]
        if str(made.dtype) != "list[string]":
            raise TypeMismatchError(f"vectorizer: terms must be strings: dtype={made.dtype}")
        _core.record_fallback("vectorizer", "terms found by Python", time.perf_counter() - start)
        return made._node

    def _count_dtype(self) -> str:
        name = np.dtype(self.dtype).name
        if name not in ("int64", "float32", "float64"):
            raise UnsupportedError(
                f"{type(self).__name__}: no dtype of counts: dtype={name}; use int64, float32 or "
                "float64"
            )
        return name

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """A function that gives the terms of one document.

        >>> hr.learn.CountVectorizer(ngram_range=(1, 2)).build_analyzer()("The river mill")
        ['the', 'river', 'mill', 'the river', 'river mill']
        """
        return lambda doc: _core.text_terms(*self._documents([doc]))


class HashingVectorizer(_Vectorizer):
    """Counts of terms, whose columns are hashes of the terms: scikit-learn's, without a vocabulary.

    The parameters are those of scikit-learn. Columns and counts are equal to its own; the hash is
    MurmurHash3 of 32 bits, whose sign is that of the count (`alternate_sign`). Functions of Python
    (`preprocessor`, `tokenizer`, `analyzer`), `strip_accents` and unusual patterns run in Python,
    listed by `hr.fallbacks()`; `stop_words="english"` takes the list of an installed scikit-learn.
    The result is an `hr.tensor.csr_matrix` for a Series, else SciPy's.

    >>> documents = hr.Series(["good fine", "bad poor", "fine day"])
    >>> made = hr.learn.HashingVectorizer(n_features=64).transform(documents)
    >>> made.shape, made.nnz
    ((3, 64), 6)
    """

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable[[Any], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        stop_words: Any = None,
        token_pattern: str | None = _WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.n_features = n_features
        self.ngram_range = ngram_range
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype

    def __sklearn_is_fitted__(self) -> bool:
        return True  # nothing is learned

    def fit(self, X: Any, y: Any = None) -> Self:
        """Validate the parameters; the vectorizer is stateless."""
        if isinstance(X, str):
            self._column(X)
        self._warn_unused()
        self._options(words=False)
        return self

    partial_fit = fit

    def transform(self, X: Any) -> Any:
        """A row of counts for each text, in its norm."""
        documents = self._documents(X)
        mark("hashing_vectorizer")
        dtype, signs = self._count_dtype(), self.alternate_sign
        made = _core.text_hash(*documents, self.n_features, signs, self.binary, dtype)
        if self.norm is not None:
            if dtype == "int64":
                raise InvalidArgumentError(
                    f"HashingVectorizer: a norm needs floats: norm={self.norm!r}, dtype=int64; "
                    "use dtype=float or norm=None"
                )
            made = _core.weigh_terms(made, False, None, self.norm)
        return _by_sparse(X, csr_matrix(made))


class CountVectorizer(_Vectorizer):
    """Counts of terms: a row for each document, a column for each term, as compressed rows (CSR).

    The parameters, terms and counts are scikit-learn's. Of terms that are equally common,
    `max_features` keeps those that come first in the alphabet. Functions of Python
    (`preprocessor`, `tokenizer`, `analyzer`), `strip_accents` and unusual patterns run in Python,
    listed by `hr.fallbacks()`; `stop_words="english"` takes the list of an installed scikit-learn.
    The result is an `hr.tensor.csr_matrix` for a Series, else SciPy's.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term.

    >>> documents = hr.Series(["The river and THE mill", "a mill"])
    >>> vectorizer = hr.learn.CountVectorizer(stop_words=["and", "the"])
    >>> vectorizer.fit_transform(documents).toarray().tolist()
    [[1, 1], [1, 0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['mill', 'river']
    """

    _fitted_as = "_terms"
    _terms: Series
    _columns: dict[str, int] | None = None  # by term, once they were asked for

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable[[Any], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        stop_words: Any = None,
        token_pattern: str | None = _WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: npt.DTypeLike = np.int64,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        self._check_vocabulary()
        if self._columns is None:
            self._columns = {term: column for column, term in enumerate(self._terms.to_list())}
        return self._columns

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the vocabulary was given."""
        return self.vocabulary is not None

    def _check_vocabulary(self) -> None:
        if not hasattr(self, "_terms"):
            if self.vocabulary is None:
                raise also_sklearns(NotFittedError)("Vocabulary not fitted or provided")
            self._terms = self._given_vocabulary()

    def _given_vocabulary(self) -> Series:
        given = self.vocabulary
        if isinstance(given, Mapping):
            columns = sorted(given.values())
            if len(set(columns)) != len(columns):
                raise InvalidArgumentError("Vocabulary contains repeated indices.")
            missing = next((i for i, column in enumerate(columns) if column != i), None)
            if missing is not None:
                raise InvalidArgumentError(
                    f"Vocabulary of size {len(given)} doesn't contain index {missing}."
                )
            terms = sorted(given, key=given.__getitem__)
        else:
            terms = sorted(given) if isinstance(given, set) else list(given)
            seen: set[str] = set()
            for term in terms:
                if term in seen:
                    raise InvalidArgumentError(f"Duplicate term in vocabulary: {term!r}")
                seen.add(term)
        if not terms:
            raise InvalidArgumentError("empty vocabulary passed to fit")
        return Series(terms, dtype="string")

    def _limits(self, rows: int) -> tuple[float, float, int | None]:
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            most = math.inf if isinstance(value, Integral) else 1.0
            if not isinstance(value, Real) or not 0 <= float(value) <= most:
                raise InvalidArgumentError(
                    f"CountVectorizer: {name} is no count and no share: {name}={value!r}; use an "
                    "integer, or a float from 0.0 to 1.0"
                )
        if self.max_features is not None and self.max_features < 1:
            raise InvalidArgumentError(
                f"CountVectorizer: max_features must be 1 or more: max_features={self.max_features}"
            )
        least, most = (
            float(share if isinstance(share, Integral) else share * rows)
            for share in (self.min_df, self.max_df)
        )
        if most < least:
            raise InvalidArgumentError("max_df corresponds to < documents than min_df")
        return least, most, self.max_features

    def _fit_counts(self, raw: Any) -> csr_matrix:
        self._warn_unused()
        self._columns = None
        if self.vocabulary is not None:
            self._terms = self._given_vocabulary()
            return self._counts(raw)
        node, options = self._documents(raw)
        _core.force([node])
        limits = self._limits(node.shape[0])
        mark("count_vectorizer")
        made, terms, found = _core.text_fit(
            node, options, *limits, self.binary, self._count_dtype()
        )
        if found == 0:
            raise InvalidArgumentError(
                "empty vocabulary; perhaps the documents only contain stop words"
            )
        if made.shape[1] == 0:
            raise InvalidArgumentError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        self._terms = series_of(terms)
        return csr_matrix(made)

    def _counts(self, raw: Any) -> csr_matrix:
        self._check_vocabulary()
        documents = self._documents(raw)
        mark("count_vectorizer")
        return csr_matrix(
            _core.text_count(*documents, self._terms._node, self.binary, self._count_dtype())
        )

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary of the documents."""
        self._fit_counts(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn the vocabulary of the documents and count their terms, in one pass."""
        return _by_sparse(raw_documents, self._fit_counts(raw_documents))

    def transform(self, raw_documents: Any) -> Any:
        """A row of counts for each text; terms outside of the vocabulary are left out."""
        return _by_sparse(raw_documents, self._counts(raw_documents))

    def inverse_transform(self, X: Any) -> list[np.ndarray[Any, Any]]:
        """The terms of each row, as arrays of str objects."""
        self._check_vocabulary()
        matrix, terms = csr_matrix(X), self.get_feature_names_out()
        columns, indptr = np.asarray(matrix.indices), np.asarray(matrix.indptr)
        return [terms[columns[begin:end]] for begin, end in pairwise(indptr)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """The terms of the columns, as a NumPy array of str objects."""
        self._check_vocabulary()
        return np.asarray(self._terms.to_list(), dtype=object)


class TfidfTransformer(Transformer):
    """Counts of terms times the logarithm of how rare a term is, rows in length 1.

    The parameters and results are scikit-learn's. float32 counts give float32, others float64.
    The result is an `hr.tensor.csr_matrix` for counts of Headrace, else SciPy's.

    Attributes
    ----------
    idf_ : Array
        The weight of each column: ``log((1 + n) / (1 + documents with it)) + 1``, without the ones
        before n and documents unless `smooth_idf`.

    >>> counts = hr.tensor.csr_matrix([[1, 1], [1, 0]])
    >>> [round(x, 3) for x in hr.learn.TfidfTransformer().fit(counts).idf_.tolist()]
    [1.0, 1.405]
    """

    idf_: Array

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "input_tags": {"sparse": True, "positive_only": False},
    }

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _counts(self, X: Any, *, fit: bool) -> csr_matrix:
        if issparse(X):
            made = csr_matrix(X)
            check_shape(self, made.shape, fit=fit, min_rows=1)
            if not math.isfinite(float((made.data * 0.0).sum())):
                raise InvalidArgumentError("TfidfTransformer: Input X contains NaN or infinity")
        else:
            made = csr_matrix(check_rows(self, X, fit=fit))
        wanted = "float32" if str(made.dtype) == "float32" else "float64"
        return made if str(made.dtype) == wanted else made.astype(wanted)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how many documents have each term."""
        counts = self._counts(X, fit=True)
        if self.use_idf:
            mark("tfidf")
            documents = np.asarray(array_of(_core.sparse_column_counts(counts._matrix)))
            extra = int(self.smooth_idf)
            with np.errstate(divide="ignore"):
                ratio = (counts.shape[0] + extra) / (documents.astype(np.float64) + extra)
            self.idf_ = asarray((np.log(ratio) + 1.0).astype(str(counts.dtype)))
        return self

    def _check_loaded(self) -> None:
        if self.use_idf and not hasattr(self, "idf_"):
            raise ValueError("TfidfTransformer lacks idf_")

    def transform(self, X: Any, copy: bool = True) -> Any:
        """The weighed counts; `copy` changes nothing, `X` stays as it is."""
        self._check_fitted()
        counts = self._counts(X, fit=False)
        weights = self.idf_.astype(str(counts.dtype))._node if self.use_idf else None
        mark("tfidf")
        made = _core.weigh_terms(counts._matrix, self.sublinear_tf, weights, self.norm)
        return _by_sparse(X, csr_matrix(made))


class TfidfVectorizer(CountVectorizer):
    """`CountVectorizer` and `TfidfTransformer` in one, with the parameters of both.

    >>> words = hr.Series(["the river mill", "the mill"])
    >>> hr.learn.TfidfVectorizer(norm=None, use_idf=False).fit_transform(words).toarray().tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Callable[[Any], str] | None = None,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: str | None = _WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: npt.DTypeLike = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            analyzer=analyzer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @property
    def idf_(self) -> Array:
        """The weight of each term."""
        if not hasattr(self, "_weights"):
            raise also_sklearns(NotFittedError)(
                f"{type(self).__name__}: the model is not fitted yet; call fit() first"
            )
        return self._weights.idf_

    def _check_loaded(self) -> None:
        weights = self._weights
        if not weights.__sklearn_is_fitted__() or weights.n_features_in_ != len(self._terms):
            raise ValueError("TfidfVectorizer: its weights are of other terms")

    def _fit_weights(self, counts: csr_matrix) -> csr_matrix:
        self._weights = TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
        ).fit(counts)
        return self._weights.transform(counts)

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary of the documents and how rare its terms are."""
        self._fit_weights(self._fit_counts(raw_documents))
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn from the documents, and weigh the counts of their terms."""
        return _by_sparse(raw_documents, self._fit_weights(self._fit_counts(raw_documents)))

    def transform(self, raw_documents: Any) -> Any:
        """The weighed counts of the terms of each text."""
        self._check_fitted()
        return _by_sparse(raw_documents, self._weights.transform(self._counts(raw_documents)))
