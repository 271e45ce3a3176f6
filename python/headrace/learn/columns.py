# SPDX-License-Identifier: Apache-2.0
"""The columns of a matrix or frame: statistics in one run, and lazy results column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.frame.columns import frame_of, is_frame
from headrace.lazy.handle import array_of, is_array, mark
from headrace.learn.base import (
    beside,
    check_names,
    check_rows,
    check_shape,
    frozen,
    is_on_device,
    refuse_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.learn.base import Estimator, Transformer

#: Up to here the columns of a matrix are faster one by one than as rows: means and variances of a
#: million rows of 4, 6, 8, 16 columns take 13, 24, 41, 117 ms of a core, as rows 28, 27, 33, 64.
_FEW = 6


class Columns:
    """Floats as columns of a frame (or of a narrow matrix), or as one matrix."""

    def __init__(self, matrix: Array | None, columns: list[Array] | None = None) -> None:
        if matrix is not None and columns is None and not is_on_device(matrix):
            columns = (
                None
                if matrix.shape[1] > _FEW
                else [matrix[:, place] for place in range(matrix.shape[1])]
            )
        self._matrix, self._columns = matrix, columns
        self._is_matrix = matrix is not None

    def __len__(self) -> int:
        return self.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        if self._columns is None:
            return self.matrix.shape  # type: ignore[return-value]
        return len(self._columns[0]), len(self._columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of all columns, float32 or float64."""
        return np.dtype((self._columns or [self.matrix])[0].dtype)

    @property
    def matrix(self) -> Array:
        """All columns as one lazy array."""
        if self._matrix is None:
            assert self._columns is not None
            self._matrix = stacked(self._columns)
        return self._matrix

    @property
    def columns(self) -> list[Array]:
        """The columns as lazy arrays."""
        if self._columns is not None:
            return self._columns
        return [self.matrix[:, place] for place in range(len(self))]

    def statistics(self, *kinds: str) -> list[np.ndarray[Any, Any]]:
        """Reductions of every column that skip NaN, in float64, all in one run of the engine."""
        mark("statistics")
        if self._columns is None:
            return _matrix_statistics(self.matrix, kinds)
        columns = [column.astype("float64")._node for column in self._columns]
        # Counting and skipping NaN take longer than the statistics of columns without any.
        if "mean" in kinds:
            plain = [kind for kind in kinds if kind != "count"]
            found = dict(zip(plain, _reduced(columns, plain, skip_nan=False), strict=True))
            if np.isfinite(found["mean"]).all():
                found["count"] = np.full(len(columns), float(self.shape[0]))
                return [found[kind] for kind in kinds]
        return _reduced(columns, kinds, skip_nan=True)

    def totals(self, function: Callable[..., Array], *params: Any) -> np.ndarray[Any, Any]:
        """Sums of ``function(column, *its params)`` that skip NaN, in one run of the engine."""
        return Columns(None, self._each(function, params)).statistics("sum")[0]

    def quantiles(self, q: Sequence[float]) -> np.ndarray[Any, Any]:
        """Quantiles without NaN by linear interpolation, ``[len(q), columns]``."""
        mark("quantile")
        nodes = [
            _core.quantile(_core.as_column(column.astype("float64")._node), list(q), "linear")
            for column in self.columns
        ]
        _core.force(nodes)
        return np.stack([array_of(node).to_numpy() for node in nodes], axis=1)

    def _each(self, function: Callable[..., Array], params: Sequence[Any]) -> list[Array]:
        spread = [np.broadcast_to(param, len(self)).tolist() for param in params]
        return [function(*each) for each in zip(self.columns, *spread, strict=True)]

    def map(self, function: Callable[..., Array], *params: Any) -> Array:
        """``function(column, *its params)`` of each column as one lazy array, in this dtype."""
        if self._columns is not None and not self._is_matrix:
            return stacked(self._each(function, params))
        # Copies: of memory that may change, a chain runs at its line.
        rows = [beside(self.matrix, frozen(np.array(param, self.dtype))) for param in params]
        return function(self.matrix, *rows)


def _reduced(
    columns: Sequence[_core.Node], kinds: Sequence[str], *, skip_nan: bool
) -> list[np.ndarray[Any, Any]]:
    nodes = [_core.reduction(kind, each, 0, skip_nan) for kind in kinds for each in columns]
    _core.force(nodes)
    found = np.array([float(array_of(node).item()) for node in nodes])
    return list(found.reshape(len(kinds), -1))


def _matrix_statistics(matrix: Array, kinds: Sequence[str]) -> list[np.ndarray[Any, Any]]:
    found = _core.column_statistics(matrix._node, "var" in kinds)
    count, total, least, most, squares = array_of(found).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        made = {
            "count": count,
            "sum": total,
            "min": np.where(count == 0, np.nan, least),
            "max": np.where(count == 0, np.nan, most),
            "mean": total / count,
            "var": squares / count,
        }
    return [made[kind] for kind in kinds]


def stacked(columns: Sequence[Array]) -> Array:
    """Columns of one dtype as a lazy array, column-major."""
    if len(columns) == 1:
        return columns[0].reshape(-1, 1)
    node = _core.concat([_core.as_column(column._node) for column in columns])
    return array_of(_core.as_tensor(node)).reshape(len(columns), len(columns[0])).T


def framed(transformer: Transformer, X: Any, columns: Sequence[Any]) -> Any:
    """Columns of one dtype as the answer of a transformer; a frame takes them one by one."""
    if transformer._output() != "headrace":
        return transformer._answer(X, stacked([asarray(column) for column in columns]))
    nodes = [
        _core.as_column(column._node) if is_array(column) else column._node for column in columns
    ]
    return of_rows(X, dict(zip(transformer.get_feature_names_out(), nodes, strict=True)))


def of_rows(X: Any, nodes: dict[str, _core.Node]) -> DataFrame:
    """A frame of columns that have the rows of `X`, in its row set where it is a frame."""
    if not is_frame(X):
        return frame_of(nodes)
    (first, *_) = X._every()
    domain = first.domain
    return frame_of({name: _core.in_domain(node, domain) for name, node in nodes.items()})


def check_columns(
    estimator: Estimator,
    X: Any,
    *,
    fit: bool = False,
    allow_nan: bool | str = True,
    min_rows: int = 1,
) -> Columns:
    """`X` as columns of floats, without gathering those of a frame; see `check_rows`."""
    if not is_frame(X):
        rows = check_rows(estimator, X, fit=fit, allow_nan=allow_nan, min_rows=min_rows)
        return Columns(rows)
    check_names(estimator, X, fit=fit)
    check_shape(estimator, X.shape, fit=fit, min_rows=min_rows)
    series = [X[name] for name in X.columns]
    refuse_words(estimator, X)
    dtypes = {np.dtype(each.dtype) for each in series}
    word = "float32" if dtypes == {np.dtype("float32")} else "float64"
    floats = [each.astype(word) for each in series]
    return Columns(
        None, [asarray(c.fill_null(float("nan")) if c._node.nullable else c) for c in floats]
    )
