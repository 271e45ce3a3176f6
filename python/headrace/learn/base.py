# SPDX-License-Identifier: Apache-2.0
"""What estimators have in common: parameters, tags, checks of rows, kinds of results."""

from __future__ import annotations

import copy
import functools
import html
import inspect
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import is_frame
from headrace.interop.exchange import frozen_array
from headrace.lazy.handle import is_array
from headrace.learn.counterparts import to_sklearn
from headrace.learn.files import save
from headrace.series.column import is_series

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from headrace.frame.dataframe import DataFrame


#: Letters of a parameter that a notebook shows.
_LONG = 200


class NotFittedError(InvalidArgumentError, AttributeError):
    """A model is used before `fit`; scikit-learn's class of this name too, where it is loaded."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it converged; scikit-learn's too, where it is loaded."""


class DataConversionWarning(UserWarning):
    """Labels came as a column of a matrix; scikit-learn's too, where it is loaded."""


@functools.cache
def _both(ours: type[Any], theirs: type[Any]) -> type[Any]:
    return type(ours.__name__, (ours, theirs), {"__module__": ours.__module__})


def also_sklearns(ours: type[Any]) -> type[Any]:
    """A class that code written for scikit-learn catches too, when scikit-learn is loaded."""
    exceptions = sys.modules.get("sklearn.exceptions")
    return ours if exceptions is None else _both(ours, getattr(exceptions, ours.__name__))  # type: ignore[arg-type]


def warn_not_converged(message: str, stacklevel: int = 3) -> None:
    """Warn in the user's line, `stacklevel` calls up, that an iteration did not converge."""
    warnings.warn(message, also_sklearns(ConvergenceWarning), stacklevel=stacklevel)


def is_ours(values: object) -> bool:
    """Whether values are a frame, series or array of Headrace."""
    return is_array(values) or is_series(values) or is_frame(values)


def is_on_device(values: object) -> bool:
    """Whether values are, or will be, an array or series of Headrace on a device; runs no plan."""
    return not is_frame(values) and is_ours(values) and _core.place_ahead(values._node) != "host"  # type: ignore[attr-defined]


def on_host(rows: Array) -> Array:
    """Rows for work that has no kernel: from a device by a copy that `hr.fallbacks` tells."""
    if not is_on_device(rows):
        return rows
    return frozen(Array(_core.centered_columns(rows._node, *[float_node(None)] * 2)).to_numpy()).T


@functools.cache
def _requester(cls: type[Any]) -> type[Any]:
    """The class with the methods of metadata routing that scikit-learn makes by signatures."""
    from sklearn.utils._metadata_requests import _MetadataRequester

    return type(cls.__name__, (cls, _MetadataRequester), {})


class Estimator:
    """The base of estimators: `__init__` stores its parameters, and `fit` makes ``names_``.

    A class says in `_tags` what it accepts, in the words of scikit-learn's tags:
    ``{"estimator_type": "classifier", "input_tags": {"allow_nan": True}}``.
    """

    __slots__ = ("__dict__", "__weakref__", "_direct")  # the last is no state: see `few_rows`
    _tags: ClassVar[Mapping[str, Any]] = {}
    _fitted_as: ClassVar[str] = "n_features_in_"
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    # ---- parameters ------------------------------------------------------------------------------
    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        return sorted(list(inspect.signature(cls.__init__).parameters)[1:])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep`, also those of estimators among them.

        >>> hr.learn.PCA(2).get_params()["n_components"]
        2
        """
        made = {}
        for name in self._get_param_names():
            value = made[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                made |= {f"{name}__{key}": each for key, each in value.get_params().items()}
        return made

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, ``step__name`` for those of an estimator among them."""
        known = self.get_params() if params else {}
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in known:
                raise InvalidArgumentError(
                    f"Invalid parameter {first!r} for estimator {self}. Valid parameters are: "
                    f"{self._get_param_names()!r}."
                )
            if rest:
                known[first].set_params(**{rest: value})
            else:
                self._set_param(first, value)
                known[first] = value
        return self

    def _set_param(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def _changed_params(self) -> Iterator[tuple[str, Any]]:
        """Parameters that differ from their defaults, as scikit-learn prints them."""
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if name == "self":
                continue
            value, default = getattr(self, name), parameter.default
            if type(value) is not type(default) or repr(value) != repr(default):
                yield name, value

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._changed_params())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        """Class, state and parameters, with a box for each estimator among them."""
        return self._box()

    def _box(self, title: str = "", about: str = "") -> str:
        """A box that opens; without a title it is the outermost one, and open."""
        changed = {name for name, _ in self._changed_params()}
        rows, parts, beside, told = [], [], False, []
        for name in inspect.signature(type(self).__init__).parameters:
            value = None if name == "self" else getattr(self, name)
            found = list(_boxes(name, value))
            parts += found
            beside |= bool(found) and isinstance(value, list) and name != "steps"
            if name == "self" or found:
                continue
            shown = repr(value) if len(repr(value)) <= _LONG else f"{repr(value)[:_LONG]}..."
            shown, word = html.escape(shown), f"<b>{name}</b>" if name in changed else name
            rows.append(f"<tr><td>{word}</td><td style='text-align:left'>{shown}</td></tr>")
            told += [f"{name}={shown}"] if name in changed else []
        state = "fitted" if self.__sklearn_is_fitted__() else "not fitted"
        head = f"{html.escape(title)} <b>{type(self).__name__}</b> ({state}) {about}"
        if title or parts:
            head += f" <span style='opacity:0.7'>{', '.join(told)}</span>"
        inside = f"<table>{''.join(rows)}</table>"
        if parts:
            flow = "row;flex-wrap:wrap" if beside else "column"
            inside = (
                f"<details><summary style='opacity:0.7'>parameters</summary>{inside}</details>"
                f"<div style='display:flex;flex-direction:{flow};gap:4px'>{''.join(parts)}</div>"
            )
        style = "border:1px solid #8888;border-radius:4px;padding:3px 8px;margin:2px 0"
        opened = "" if title and not parts else " open"
        return f"<details{opened} style='{style}'><summary>{head}</summary>{inside}</details>"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    # ---- scikit-learn's protocols ----------------------------------------------------------------
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._fitted_as)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        given = dict(self._all_tags())
        kind = given.pop("estimator_type", None)
        transformer = given.pop("transformer_tags", None)
        classifier = given.pop("classifier_tags", {} if kind == "classifier" else None)
        regressor = given.pop("regressor_tags", {} if kind == "regressor" else None)
        target = given.pop("target_tags", {})
        target = {"required": kind in ("classifier", "regressor")} | target
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(**target),
            transformer_tags=None if transformer is None else TransformerTags(**transformer),
            classifier_tags=None if classifier is None else ClassifierTags(**classifier),
            regressor_tags=None if regressor is None else RegressorTags(**regressor),
            input_tags=InputTags(**given.pop("input_tags", {})),
            **given,
        )

    def _all_tags(self) -> Mapping[str, Any]:
        """Tags; a class whose tags depend on its parameters overrides this."""
        return self._tags

    def get_metadata_routing(self) -> Any:
        """What metadata each method requests, as scikit-learn's `MetadataRequest`."""
        from sklearn.utils._metadata_requests import _MetadataRequester

        return _MetadataRequester.get_metadata_routing(self)

    def __getattr__(self, name: str) -> Any:
        if isinstance(asked := inspect.getattr_static(type(self), name, None), property):
            return asked.__get__(self)  # again, for the error of its own
        if name.startswith(("set_", "_get_")) and "_request" in name and "sklearn" in sys.modules:
            cls = _requester(type(self))  # type: ignore[arg-type]
            return getattr(cls, name).__get__(self, cls)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # ---- files -----------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `hr.learn.load` and ``hr::load_model`` read.

        The file holds parameters and attributes, fitted or not, and no code. It appears whole or
        not at all, and replaces one of this name.

        Raises
        ------
        UnsupportedError
            Naming the parameter or attribute that is a function, a generator of random numbers or
            an estimator of another library.
        InputError
            If the system cannot write the file.
        """
        save(self, path)

    def to_sklearn(self) -> Any:
        """The model of scikit-learn with these parameters and attributes, and those inside of it.

        It predicts the same, and serves wherever scikit-learn's can, such as ONNX converters.
        Trees of scikit-learn compare float32 values. Raises UnsupportedError for a class that
        scikit-learn does not have; `hr.learn.from_sklearn` is the way back.

        >>> hr.learn.Ridge().fit([[0.0], [2.0]], [1.0, 2.0]).to_sklearn()
        Ridge()
        """
        return to_sklearn(self)

    def _fit_folds(self, X: Any, y: Any) -> Any:
        """What fits to folds of these rows share, or None; see `evaluation.Fold`."""
        return None

    # ---- checks ----------------------------------------------------------------------------------
    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise also_sklearns(NotFittedError)(
                f"{type(self).__name__}: the model is not fitted yet: parameters="
                f"{dict(self._changed_params())}; call fit() first"
            )

    def _refuse_params(self, reason: str = "is not supported", **supported: Any) -> None:
        """Raise for parameters that differ from the only value that is supported."""
        for name, value in supported.items():
            given = getattr(self, name)
            if given is not value and given != value:
                raise UnsupportedError(
                    f"{type(self).__name__}: this value of {name} {reason}: {name}={given!r}; "
                    f"leave it at {value!r}"
                )


def _boxes(name: str, value: Any) -> Iterator[str]:
    """The boxes of a parameter that is an estimator, or a list of named ones."""
    if isinstance(value, Estimator):
        yield value._box(f"{name}:")
    elif isinstance(value, list) and any(
        isinstance(each, tuple) and any(isinstance(part, Estimator) for part in each)
        for each in value
    ):
        for title, part, *rest in value:
            about = " ".join(html.escape(repr(each)[:_LONG]) for each in rest)
            if isinstance(part, Estimator):
                yield part._box(f"{title}:", about)
            else:
                yield f"<div>{html.escape(f'{title}: {part!r}'[:_LONG])} {about}</div>"


def clone(estimator: Any) -> Any:
    """An estimator with equal parameters that is not fitted; lists of them are cloned inside."""
    if isinstance(estimator, list | tuple):
        return type(estimator)([clone(each) for each in estimator])
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return copy.deepcopy(estimator)
    params = {name: clone(value) for name, value in estimator.get_params(deep=False).items()}
    made = type(estimator)(**params)
    for name in ("_sklearn_output_config", "_metadata_request"):
        if name in vars(estimator):
            setattr(made, name, copy.deepcopy(vars(estimator)[name]))
    return made


def kind_of(estimator: Any) -> str | None:
    """``"classifier"``, ``"regressor"`` or another kind, as scikit-learn's tags say it."""
    if isinstance(estimator, Estimator):
        return estimator._all_tags().get("estimator_type")
    tags = getattr(estimator, "__sklearn_tags__", None)
    return None if tags is None else tags().estimator_type


# ---- parameters ----------------------------------------------------------------------------------
def refuse(estimator: Estimator, name: str, wanted: str) -> None:
    """Raise for a parameter that is not what it must be."""
    raise InvalidArgumentError(
        f"{type(estimator).__name__}: {name} is not valid: {name}={getattr(estimator, name)!r}; "
        f"use {wanted}"
    )


def is_number(value: Any, *, integer: bool = False) -> bool:
    """Whether a parameter is a number (of any library) and no bool."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def check_count(estimator: Estimator, *names: str) -> None:
    """Raise unless parameters are integers from 1 on."""
    for name in names:
        if not (is_number(getattr(estimator, name), integer=True) and getattr(estimator, name) > 0):
            refuse(estimator, name, "an integer from 1 on")


class Transformer(Estimator):
    """The base of transformers: results in the kind of `X`, names of columns, `set_output`."""

    _tags: ClassVar[Mapping[str, Any]] = {"transformer_tags": {}}

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns.

        Parameters
        ----------
        transform : {"default", "headrace", "pandas", "polars"}, optional
            ``"default"``: an `Array` for data of Headrace and a NumPy array for other data; else a
            frame of that library with the names of `get_feature_names_out`.
        """
        if transform not in (None, "default", "headrace", "pandas", "polars"):
            raise InvalidArgumentError(
                f"{type(self).__name__}.set_output: no such container: transform={transform!r}; "
                "use 'default', 'headrace', 'pandas' or 'polars'"
            )
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _output(self) -> str:
        config = sys.modules.get("sklearn._config")
        default = config.get_config()["transform_output"] if config else "default"
        return self.__dict__.get("_sklearn_output_config", {}).get("transform", default)

    def _answer(self, X: Any, made: Any) -> Any:
        """A transformed matrix in the kind of `X`, or in that of `set_output`."""
        output = self._output()
        if output == "default":
            return answer(X, made)
        frame = _framed(made, list(self.get_feature_names_out()))
        if output == "headrace":
            return frame
        if output == "pandas":
            pandas = frame.to_pandas()
            if hasattr(X, "iloc") and not is_ours(X):
                pandas.index = X.index
            return pandas
        import polars

        return polars.DataFrame(frame.to_arrow())

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Names of the columns that `transform` makes, as a NumPy array of str objects."""
        self._check_fitted()
        return np.asarray(self._names_out(names_in(self, input_features)), dtype=object)

    def _names_out(self, names: list[str]) -> list[str]:
        return names


class PrefixedNames:
    """Columns that are named by the class and a number: ``pca0``, ``pca1``."""

    def _names_out(self, names: list[str]) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)]  # type: ignore[attr-defined]


def names_in(estimator: Estimator, input_features: Any = None) -> list[str]:
    """Names of the columns of `fit`; `input_features` names those of a fit without names."""
    known = getattr(estimator, "feature_names_in_", None)
    if input_features is None:
        return [f"x{i}" for i in range(estimator.n_features_in_)] if known is None else list(known)
    given = list(input_features)
    if known is not None and given != list(known):
        raise InvalidArgumentError("input_features is not equal to feature_names_in_")
    if len(given) != estimator.n_features_in_:
        raise InvalidArgumentError(
            "input_features should have length equal to number of features "
            f"({estimator.n_features_in_}), got {len(given)}"
        )
    return given


def answer(X: Any, made: Any) -> Any:
    """A result in the kind of `X`: lazy where `X` is ours, else a NumPy array."""
    return made if is_ours(X) or not is_ours(made) else made.to_numpy()


def beside(X: Any, made: Any) -> Any:
    """What the host computed in the kind of `X`, and on its device."""
    if not is_ours(X):
        return made
    device = _core.place_ahead(X._node) if is_array(X) or is_series(X) else "host"
    return asarray(made) if device == "host" else asarray(made).to(device)


def _framed(made: Any, names: list[str]) -> DataFrame:
    from headrace.frame.dataframe import DataFrame

    if is_frame(made):
        return made
    made = asarray(made)
    return DataFrame({name: made[:, place] for place, name in enumerate(names)})


# ---- rows ----------------------------------------------------------------------------------------
def frozen(values: np.ndarray[Any, Any]) -> Array:
    """NumPy memory as an array whose chains stay lazy; only for results made before a return."""
    return frozen_array(values)


_NOTHING = np.empty(0)  # stands for weights that are all one, and for values that are not given


def engine_weights(weights: Array | None) -> Array:
    """Weights as the engine takes them: none at all for ones."""
    return frozen(_NOTHING) if weights is None else weights


def float_node(values: Any) -> Any:
    """A plan node over float64 values, which stay where they are; over none of them for None."""
    if is_array(values):
        return values.astype("float64")._node
    return frozen(np.ascontiguousarray(_NOTHING if values is None else values, np.float64))._node


def is_sparse(values: Any) -> bool:
    """Whether values are a sparse matrix or array of SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(values)


def _feature_names(X: Any) -> np.ndarray[Any, Any] | None:
    if is_frame(X):
        names = [str(name) if type(name) is str else name for name in X.columns]
    elif (hasattr(X, "columns") and hasattr(X, "dtypes")) or hasattr(X, "column_names"):
        names = list(getattr(X, "column_names", None) or X.columns)
    else:
        return None
    kinds = sorted({type(name).__qualname__ for name in names})
    if "str" in kinds and len(kinds) > 1:
        raise TypeMismatchError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types; convert them all to strings"
        )
    return np.asarray(names, dtype=object) if kinds == ["str"] else None


def _listed(title: str, names: set[str]) -> str:
    rest = sorted(names)
    shown = "".join(f"- {name}\n" for name in rest[:5]) + ("- ...\n" if len(rest) > 5 else "")
    return f"{title}:\n{shown}" if rest else ""


def check_names(estimator: Estimator, X: Any, *, fit: bool) -> None:
    """Keep the names of columns at `fit`, and compare those of later data with them."""
    names = _feature_names(X)
    if fit:
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return
    known, name = getattr(estimator, "feature_names_in_", None), type(estimator).__name__
    if known is None and names is None:
        return
    if known is None:
        warnings.warn(
            f"X has feature names, but {name} was fitted without feature names", stacklevel=4
        )
    elif names is None:
        warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names",
            stacklevel=4,
        )
    elif list(known) != list(names):
        now, then = set(names), set(known)
        details = _listed("Feature names unseen at fit time", now - then)
        details += _listed("Feature names seen at fit time, yet now missing", then - now)
        raise InvalidArgumentError(
            "The feature names should match those that were passed during fit.\n"
            + (details or "Feature names must be in the same order as they were in fit.\n")
        )


def refuse_words(estimator: Estimator, frame: DataFrame) -> None:
    """Raise for columns that do not hold numbers."""
    kinds = {name: frame[name].dtype for name in frame.columns}
    wrong = {str(name): str(kind) for name, kind in kinds.items() if kind.kind not in "biuf"}
    if wrong:
        raise TypeMismatchError(
            f"{type(estimator).__name__}: columns of X hold no numbers: columns={wrong}; "
            "select the numeric columns, df[[...]], or encode these, for example with OneHotEncoder"
        )


def _matrix(estimator: Estimator, X: Any) -> Any:
    """`X` as one of our arrays, or as a NumPy array of numbers."""
    name = type(estimator).__name__
    if is_sparse(X):
        raise TypeMismatchError(
            f"{name}: Sparse data was passed for X, but dense data is required: "
            f"type={type(X).__name__}; convert it with .toarray()"
        )
    if is_frame(X):
        refuse_words(estimator, X)
    if is_ours(X):
        return asarray(X)
    if hasattr(X, "column_names") and not hasattr(X, "__array__"):  # an Arrow table
        return asarray(_frame_of(X))
    values = np.asarray(X)
    if values.dtype.kind == "O":
        if any(isinstance(value, complex) for value in values.ravel()):
            raise InvalidArgumentError(f"{name}: Complex data not supported: dtype=object")
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            kind = type(error)
            raise kind(
                f"{name}: {error}; X must hold numbers: select these columns, or encode the others"
            ) from None
    if values.dtype.kind in "US":
        try:
            values = values.astype(np.float64)
        except ValueError as error:
            raise InvalidArgumentError(
                f"{name}: dtype='numeric' is not compatible with arrays of bytes/strings: {error}; "
                "encode the strings as numbers first"
            ) from None
    return values


def _frame_of(X: Any) -> DataFrame:
    from headrace.frame.dataframe import DataFrame

    return DataFrame(X)


def check_shape(estimator: Estimator, shape: tuple[int, ...], *, fit: bool, min_rows: int) -> None:
    """Raise unless a shape is that of a matrix with rows, and with the columns of `fit`."""
    name = type(estimator).__name__
    if len(shape) != 2:
        raise InvalidArgumentError(
            f"{name}: Expected 2D array, got {len(shape)}D array instead: shape={shape}; Reshape "
            "your data with X.reshape(-1, 1) for a single feature or X.reshape(1, -1) for a "
            "single sample"
        )
    rows, features = shape
    if fit:
        estimator.n_features_in_ = features
    if rows < min_rows:
        raise InvalidArgumentError(
            f"{name}: Found array with {rows} sample(s) (shape={shape}) while a minimum of "
            f"{min_rows} is required by {name}: rows={rows}"
        )
    if features < 1:
        raise InvalidArgumentError(
            f"{name}: Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is "
            f"required by {name}: features=0"
        )
    if features != getattr(estimator, "n_features_in_", features):
        raise InvalidArgumentError(
            f"X has {features} features, but {name} is expecting {estimator.n_features_in_} "
            "features as input"
        )


def check_rows(
    estimator: Estimator,
    X: Any,
    *,
    fit: bool = False,
    allow_nan: bool | str = False,
    integers: bool = False,
    min_rows: int = 1,
    non_negative: bool = False,
) -> Array:
    """`X` as a two-dimensional array of floats; raise what `check_estimator` expects.

    Memory of NumPy is read in place, by lazy chains: evaluate the results before you
    return.

    Parameters
    ----------
    estimator : Estimator
        Gets `n_features_in_` and `feature_names_in_` if `fit`, else has them compared with `X`.
    X : array_like
        Arrays and frames of Headrace, NumPy, pandas, Polars or Arrow, or nested lists.
    fit : bool, default False
        Whether this is the data that the model is made of.
    allow_nan : bool or "inf", default False
        Accept NaN; ``"inf"`` accepts infinite values too, and saves the pass that finds them.
        Lazy data of Headrace are checked only if `fit`.
    integers : bool, default False
        Leave integers as they are; else they become float64.
    min_rows : int, default 1
        The fewest rows that are accepted.
    non_negative : bool, default False
        Refuse negative values.
    """
    name = type(estimator).__name__
    made = _matrix(estimator, X)
    dtype = np.dtype(made.dtype)
    if dtype.kind == "c":
        raise InvalidArgumentError(f"{name}: Complex data not supported: dtype={dtype}")
    check_names(estimator, X, fit=fit)
    check_shape(estimator, made.shape, fit=fit, min_rows=min_rows)
    rows = made if is_array(made) else frozen(_native(made))
    if dtype not in (np.float32, np.float64) and not (integers and dtype.kind in "iu"):
        rows = rows.astype("float64")
    if allow_nan != "inf" and dtype.kind == "f" and (fit or not is_ours(X)):
        refuse_not_finite(estimator, rows, allow_nan=bool(allow_nan))
    if non_negative and rows.size and float(rows.min()) < 0:
        raise InvalidArgumentError(
            f"Negative values in data passed to {name}: minimum={float(rows.min())}"
        )
    return rows


def _native(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """NumPy numbers in a dtype and byte order that the engine reads."""
    wanted = values.dtype.newbyteorder("=")
    if wanted.kind == "f" and wanted.itemsize not in (4, 8):
        wanted = np.dtype("float32" if wanted.itemsize == 2 else "float64")
    return values.astype(wanted, copy=False)


def refuse_not_finite(estimator: Estimator, rows: Array, *, allow_nan: bool = False) -> None:
    """Raise for NaN (unless allowed) and infinite values, naming the first by row and column."""
    if allow_nan:  # the absolute value of NaN is skipped by fmax
        bad = np.isinf(rows)
        if not bool(bad.any()):
            return
    elif np.isfinite(float((rows * 0.0).sum())):
        return
    else:
        bad = np.logical_not(np.isfinite(rows))
    values = rows.to_numpy()
    place = int(np.asarray(bad).ravel().argmax())
    row, column = divmod(place, values.shape[1])
    known = getattr(estimator, "feature_names_in_", None)
    what = "NaN" if np.isnan(values[row, column]) else f"infinity ({values[row, column]})"
    where = f"row={row}, column={column if known is None else known[column]!r}"
    name = type(estimator).__name__
    raise InvalidArgumentError(
        f"{name}: Input X contains {what}: {where}; "
        + ("clip the values" if what[0] == "i" else "drop these rows or fill them (SimpleImputer)")
    )


def check_labels(estimator: Estimator, y: Any, rows: int) -> Any:
    """`y` as one column of labels or targets: ours, or a one-dimensional NumPy array."""
    name = type(estimator).__name__
    if y is None:
        raise InvalidArgumentError(f"{name} requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise TypeMismatchError(
            f"{name}: y is a string, not a column: y={y!r}; pass the column itself, df[{y!r}]"
        )
    if is_sparse(y):
        raise TypeMismatchError(f"{name}: Sparse data was passed for y, but dense data is required")
    made = y if is_series(y) or is_array(y) else np.asarray(y)
    if made.ndim == 2 and made.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            also_sklearns(DataConversionWarning),
            stacklevel=4,
        )
        made = made.reshape(-1)  # type: ignore[union-attr]
    if made.ndim != 1:
        raise InvalidArgumentError(
            f"{name}: y should be a 1d array, got an array of shape {made.shape} instead."
        )
    if len(made) != rows:
        raise InvalidArgumentError(
            f"{name}: Found input variables with inconsistent numbers of samples: "
            f"[{rows}, {len(made)}]"
        )
    if isinstance(made, np.ndarray):
        if made.dtype.kind == "c":
            raise InvalidArgumentError(f"{name}: Complex data not supported: y.dtype={made.dtype}")
        if made.dtype.kind == "f" and not np.isfinite(made).all():
            row = int(np.flatnonzero(~np.isfinite(made))[0])
            what = "NaN" if np.isnan(made[row]) else "infinity"
            raise InvalidArgumentError(f"{name}: Input y contains {what}: row={row}")
    return made


def check_targets(estimator: Estimator, y: Any, rows: int) -> Any:
    """Targets as float64, ``[samples]`` or ``[samples, outputs]``; those on a device stay there."""
    name = type(estimator).__name__
    if is_on_device(y):
        targets: Any = asarray(y if y.ndim == 2 else check_labels(estimator, y, rows)).astype(
            "float64"
        )
        if not np.isfinite(float((targets * 0.0).sum())):
            raise InvalidArgumentError(f"{name}: Input y contains NaN or infinity")
        return targets
    try:
        if y is None or np.asarray(y).ndim != 2:
            targets = np.asarray(check_labels(estimator, y, rows), dtype=np.float64)
        else:
            targets = np.asarray(y, dtype=np.float64)
    except ValueError as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(
            f"{name}: y must hold numbers: {error}; a classifier takes labels"
        ) from None
    if targets.ndim == 2 and len(targets) != rows:
        raise InvalidArgumentError(
            f"{name}: Found input variables with inconsistent numbers of samples: "
            f"[{rows}, {len(targets)}]"
        )
    if not np.isfinite(targets).all():
        row = int(np.argwhere(~np.isfinite(targets))[0][0])
        raise InvalidArgumentError(
            f"{name}: Input y contains NaN or infinity: row={row}; drop these rows"
        )
    return targets


def check_weights(
    estimator: Estimator, weights: Any, rows: int, *, negative: bool = False
) -> Array | None:
    """Weights of rows as float64, or None; `negative` ones where scikit-learn only adds them."""
    if weights is None:
        return None
    name = type(estimator).__name__
    if np.isscalar(weights):
        weights = np.full(rows, float(weights))  # type: ignore[arg-type]
    made = asarray(weights) if is_ours(weights) else frozen(_native(np.asarray(weights)))
    if made.ndim != 1:
        raise InvalidArgumentError(f"{name}: Sample weights must be 1D array or scalar")
    if made.shape != (rows,):
        raise InvalidArgumentError(
            f"{name}: sample_weight.shape == {made.shape}, expected {(rows,)}!"
        )
    if not np.isfinite(float(made.sum())):
        raise InvalidArgumentError(f"{name}: Input sample_weight contains NaN or infinity")
    if not negative and float(made.min()) < 0:
        raise InvalidArgumentError(f"{name}: Negative values in data passed to `sample_weight`")
    if not made.any():
        raise InvalidArgumentError(
            f"{name}: Sample weights must contain at least one non-zero number"
        )
    return made.astype("float64")
