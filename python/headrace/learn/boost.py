# SPDX-License-Identifier: Apache-2.0
"""Matrices for XGBoost, which reads the columns of a frame where they are."""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import is_frame
from headrace.lazy.handle import is_array, mark
from headrace.series.column import is_series, series_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    import xgboost

    from headrace.frame.dataframe import DataFrame

#: Rows that XGBoost gets at once; only what has to be converted takes memory for that long.
_ROWS = 1 << 20

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _ArrowArray(ctypes.Structure):
    """The head of the structure of Arrow's C data interface."""

    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    )


def xgboost_matrix(
    frame: DataFrame,
    label: Any = None,
    weight: Any = None,
    group: Any = None,
    reference: xgboost.DMatrix | None = None,
    *,
    max_bin: int | None = None,
) -> xgboost.QuantileDMatrix:
    """An ``xgboost.QuantileDMatrix`` for ``xgboost.train``, made of the columns without a copy.

    XGBoost bins the values straight from the memory of the frame. Numbers go in as they are, bools
    as 0 and 1, categories as such; nulls and NaN are missing.

    Parameters
    ----------
    frame : DataFrame
        The features; other dtypes than these raise.
    label, weight : str or array_like, optional
        A number for each row, or the name of a column, which then is no feature. With `group`, a
        weight for each group.
    group : str or array_like, optional
        The query of each row (XGBoost's ``qid``), in ascending order, or the name of its column.
    reference : xgboost.DMatrix, optional
        The matrix of the training, whose bins and categories to use. Matrices to validate or
        predict with need it: with bins of their own the values would be rounded differently.
    max_bin : int, optional
        The ``max_bin`` of the training; 256 as there.

    Examples
    --------
    >>> df = hr.DataFrame({"x": [1.0, None, 3.0], "y": [0, 1, 0]})
    >>> matrix = hr.learn.xgboost_matrix(df, label="y")  # doctest: +SKIP
    >>> booster = xgboost.train({"objective": "binary:logistic"}, matrix)  # doctest: +SKIP
    """
    try:
        import xgboost
    except ImportError as error:
        raise UnsupportedError(
            "xgboost_matrix: XGBoost is not installed; pip install 'headrace[xgboost]', or xgboost "
            "for its GPU version"
        ) from error
    if not is_frame(frame):
        raise TypeMismatchError(
            f"xgboost_matrix: expected a frame: type={type(frame).__name__!r}; pass a DataFrame"
        )
    mark("xgboost_matrix")
    given = {"label": label, "weight": weight, "qid": group}
    taken = [name for name in given.values() if isinstance(name, str)]
    features = [name for name in frame.columns if name not in taken]
    _check_features(frame, features)
    _core.force([frame[name]._node for name in [*features, *taken]])
    about = {
        word: _values(frame, word, values, a_row=word != "weight" or group is None)
        for word, values in given.items()
        if values is not None
    }
    batches = _batches(xgboost, frame[features], about, reference)
    try:
        return xgboost.QuantileDMatrix(batches, ref=reference, max_bin=max_bin)
    finally:
        batches.close()


def _check_features(frame: DataFrame, features: list[Any]) -> None:
    if not features or not len(frame):
        raise InvalidArgumentError(
            f"xgboost_matrix: nothing to learn from: shape={(len(frame), len(features))}; pass "
            "a frame with rows and features"
        )
    dtypes = {name: frame[name].dtype for name in features}
    wrong = [
        str(name) for name, kind in dtypes.items() if kind.kind not in "biuf" and kind != "category"
    ]
    if wrong:
        raise TypeMismatchError(
            f"xgboost_matrix: features must be numbers, bools or categories: columns={wrong}; "
            "drop them, or convert them with astype('category')"
        )


def _values(frame: DataFrame, word: str, values: Any, *, a_row: bool) -> npt.NDArray[Any]:
    """Labels, weights or queries as NumPy sees them; nulls are NaN, which XGBoost refuses."""
    if isinstance(values, str):
        values = frame[values]
    if is_series(values) and values.dtype.kind == "b":
        values = values.astype("uint8")
    if is_series(values) and values._node.nullable:
        values = values.astype("float64").fill_null(float("nan"))
    found = values.to_numpy() if is_series(values) or is_array(values) else np.asarray(values)
    if found.dtype.kind not in "biuf":
        raise TypeMismatchError(
            f"xgboost_matrix: {word} must be numbers: dtype='{found.dtype}'; encode it, for "
            "example by hr.learn.LabelEncoder"
        )
    if a_row and len(found) != len(frame):
        raise InvalidArgumentError(
            f"xgboost_matrix: {word} must have a value for each row: values={len(found)}, "
            f"rows={len(frame)}; pass values of the same rows"
        )
    return found


class _Batch:
    """Rows of columns in the words of XGBoost, and what must live while it reads them."""

    def __init__(self, frame: DataFrame, begin: int, count: int) -> None:
        self._kept: list[Any] = []
        self.columns = [self._column(frame[name]._value(), begin, count) for name in frame.columns]

    def _column(self, column: _core.Column, begin: int, count: int) -> Any:
        part = column.slice(begin, count)
        if column.dtype == "category":
            return [self._names(column.categories.to_list()), self._numbers(part.codes)]
        return self._numbers(part)

    def _numbers(self, column: _core.Column) -> dict[str, Any]:
        series = series_of(_core.data(column))
        if column.dtype == "bool":  # bits
            return self._numbers(series.astype("uint8")._value())
        capsule = column.__arrow_c_array__()[1]
        array = _ArrowArray.from_address(_capsule_pointer(capsule, b"arrow_array"))
        if array.null_count and array.offset % 8:  # its bits begin inside a byte
            return self._numbers(series.astype("float32").fill_null(float("nan"))._value())
        self._kept.append(capsule)
        dtype = np.dtype(column.dtype)
        values = _memory(array.buffers[1] + array.offset * dtype.itemsize, dtype.str, array.length)
        if array.null_count:
            values["mask"] = _memory(array.buffers[0] + array.offset // 8, "<t1", array.length)
        return values

    def _names(self, names: list[Any]) -> dict[str, Any]:
        if names and all(isinstance(name, int | float) for name in names):
            return self._array(np.array(names))
        coded = [str(name).encode() for name in names]
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int32)
        letters = np.frombuffer(b"".join(coded) or b"\0", np.int8)[: ends[-1]]
        return {"offsets": self._array(ends), "values": self._array(letters)}

    def _array(self, array: npt.NDArray[Any]) -> dict[str, Any]:
        self._kept.append(array)
        return _memory(array.ctypes.data, array.dtype.str, len(array))


def _memory(address: int, typestr: str, length: int) -> dict[str, Any]:
    """NumPy's array interface, whose words XGBoost reads as JSON."""
    return {
        "data": [address, True],
        "typestr": typestr,
        "version": 3,
        "strides": None,
        "shape": [length],
        "mask": None,
    }


def _kind(dtype: Any) -> str:
    """What XGBoost calls the type of a feature, as in its matrices of pandas' frames."""
    return "c" if dtype == "category" else {"b": "i", "f": "float"}.get(dtype.kind, "int")


def _batches(
    xgboost: Any,
    frame: DataFrame,
    about: dict[str, npt.NDArray[Any]],
    reference: xgboost.DMatrix | None,
) -> xgboost.DataIter:
    """An iterator of XGBoost's over rows of the frame; each batch is let go before the next.

    Its cycles of references live until Python collects them: `close` drops the frame.
    """
    types = {str(name): _kind(frame[name].dtype) for name in frame.columns}
    rows = len(frame) if "qid" in about else _ROWS  # queries are not split
    known = None
    if reference is not None and "c" in types.values():
        known = reference.get_categories()

    class Batches(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.reset()

        def close(self) -> None:
            nonlocal frame, about
            self.reset()
            del frame, about

        def reset(self) -> None:
            self._begin = 0
            self._batch: _Batch | None = None

        def next(self, input_data: Callable[..., None]) -> bool:
            self._batch = None
            begin, end = self._begin, min(self._begin + rows, len(frame))
            if begin == end:
                return False
            self._begin, self._batch = end, (batch := _Batch(frame, begin, end - begin))
            columns: Any = batch.columns
            if known is not None and known.get_handle() is not None:
                columns = {"ref_categories": known.get_handle(), "columns": columns}
            # `input_data` takes pandas' or pyarrow's tables only: this is the function below it.
            core = xgboost.core
            core._check_call(
                core._LIB.XGProxyDMatrixSetDataColumnar(
                    self.proxy.handle, json.dumps(columns).encode()
                )
            )
            self.proxy.set_info(
                feature_names=list(types),
                feature_types=list(types.values()),
                **{
                    word: each if "qid" in about else each[begin:end]
                    for word, each in about.items()
                },
            )
            return True

    return Batches()
