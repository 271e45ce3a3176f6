# SPDX-License-Identifier: Apache-2.0
"""Predictions of few rows: straight to the model in C++, with the same bits and no plan."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import Error
from headrace.learn.files import Writer, is_model

if TYPE_CHECKING:
    from collections.abc import Callable

_ROWS = 64  # at most; beyond, what a plan costs is little
_CALLS = 3  # before a model is made in C++, which takes as long as many calls
_BYTES = 1 << 16  # of attributes, which are compared before each prediction
_LATER = -1000  # calls until a model that has no form in C++ is tried again


class _Codes(Writer):
    """Writes numbers for classes: labels of any kind are taken by them."""

    def value(self, value: Any, where: str) -> Any:
        """A value; places for `classes_`."""
        if where.endswith(".classes_"):
            return super().value(np.arange(len(value)), where)
        return super().value(value, where)


def _parts(model: Any) -> list[Any]:
    """A model and those inside of it."""
    return [model, *(part for _, step in getattr(model, "steps", ()) for part in _parts(step))]


class _Few:
    """A model in C++ and what its results are made of."""

    def __init__(self, model: Any) -> None:
        parts = [part for part in _parts(model) if is_model(part)]
        dicts = [vars(part) for part in parts]
        values = [value for each in dicts for value in each.values()]
        arrays = [each for each in values if isinstance(each, np.ndarray) and each.dtype != object]
        if sum(each.nbytes for each in arrays) > _BYTES:
            raise Error("attributes are many")
        if hasattr(model, "feature_names_in_"):
            raise Error("names of columns")
        writer = _Codes()
        body = json.dumps({"model": writer.model(model)})
        made = _core.model_of(body, writer.arrays)
        lists = [each for each in values if isinstance(each, list)]
        self._model = _core.FewRows(made, dicts, lists, arrays)
        last = parts[-1]
        coefficients = getattr(last, "coef_", None)
        self._classes = getattr(last, "classes_", None)
        self._dtype: np.dtype[Any] = np.dtype(np.float64)
        if self._classes is not None:
            self._dtype = np.dtype(np.int64)
        elif hasattr(last, "cluster_centers_"):
            self._dtype = np.dtype(np.int32)
        elif coefficients is not None and coefficients.ndim > 1:
            raise Error("several numbers a row")
        self._narrow = self._classes is None and getattr(coefficients, "dtype", None) == np.float32

    def predict(self, X: np.ndarray[Any, Any]) -> Any:
        """None for rows that this is not for; -1 where the model has changed."""
        narrow = self._narrow and X.dtype == np.float32
        out = np.empty(len(X), X.dtype if narrow else self._dtype)
        done = self._model.predict(X, out)
        if done != 1:
            return done or None
        return out if self._classes is None else self._classes.take(out)


def few_rows(predict: Callable[..., Any]) -> Callable[..., Any]:
    """A method `predict` that sends few rows of NumPy straight to the model in C++.

    The third of such calls makes that model, and a change of any attribute makes it anew. All that
    needs a message (NaN, other columns, names) goes the long way.
    """

    @functools.wraps(predict)
    def call(model: Any, X: Any, **params: Any) -> Any:
        if type(X) is np.ndarray and X.ndim == 2 and len(X) <= _ROWS and not params:
            made = _directly(model, X)
            if made is not None:
                return made
        return predict(model, X, **params)

    return call


def _directly(model: Any, X: np.ndarray[Any, Any]) -> Any:
    try:
        state = model._direct
    except AttributeError:
        state = 0
    if type(state) is int:
        model._direct = state = state + 1
        if state < _CALLS:
            return None
        try:
            state = _Few(model)
        except (Error, TypeError, ValueError, OverflowError, RecursionError):
            state = _LATER
        model._direct = state
        return None if type(state) is int else _directly(model, X)
    made = state.predict(X)
    if type(made) is int:
        model._direct, made = 0, None
    return made
