# SPDX-License-Identifier: Apache-2.0
"""Models in files: a JSON header and arrays, without code.

The header says what `vars(model)` holds: as JSON where JSON can say it, else as an object of one
key, the kind of the value: ``{"numpy": 3}`` is the fourth array of the file. A class needs no code
for that: `fitted` has a table of what attributes are, by which those of a file are checked.
`headrace/learn/model_file.h` has the layout, and reads it for C++ too.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InputError, UnsupportedError
from headrace.lazy.handle import array_of, is_array, mark
from headrace.learn.fitted import check_loaded
from headrace.series.column import is_series, series_of, series_over

if TYPE_CHECKING:
    from collections.abc import Callable

_BUILTINS = {each.__name__: each for each in (bool, float, int, object, str)}
_CODES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")
_TIMES = r"date|datetime64\[(s|ms|us|ns)\]|timedelta64\[(s|ms|us|ns)\]"
_NUMBERS = frozenset(np.dtype(code).name for code in _CODES)


def class_named(name: Any) -> Any:
    """A public class by its name; imported late, since all classes import this module."""
    learn = importlib.import_module("headrace.learn")
    cls = getattr(learn, name, None) if name in learn.__all__ else None
    return cls if inspect.isclass(cls) and not issubclass(cls, Exception) else None


def is_model(value: Any) -> bool:
    """Whether a value is of a class of `hr.learn` itself."""
    return class_named(type(value).__name__) is type(value)


def _param_names(cls: Any) -> list[str]:
    return cls._get_param_names() if hasattr(cls, "_get_param_names") else []


# ---- writing -------------------------------------------------------------------------------------
def _refused(where: str, what: str, value: Any, fix: str) -> UnsupportedError:
    return UnsupportedError(f"save: {what}: {where}={value!r}; {fix}")


class Writer:
    """Values as JSON, and the arrays that it numbers."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []

    def _put(self, value: Any) -> int:
        self.arrays.append(value._value())
        return len(self.arrays) - 1

    def model(self, model: Any, where: str = "model") -> dict[str, Any]:
        """The class of a model, its parameters and attributes."""
        cls = type(model)
        if not is_model(model):
            fix = "use the classes of hr.learn"
            if cls.__module__.startswith("sklearn."):
                fix += ", as hr.learn.from_sklearn(model) makes them"
            raise _refused(where, "only models of hr.learn can be saved", model, fix)
        known = _param_names(cls)
        params: dict[str, Any] = {}
        attributes: dict[str, Any] = {}
        for name, value in vars(model).items():
            made = self.value(value, f"{cls.__name__}.{name}")
            (params if name in known else attributes)[name] = made
        return {"class": cls.__name__, "params": params, "attributes": attributes}

    def value(self, value: Any, where: str) -> Any:
        """A value; `where` names the parameter or attribute that it is a part of."""
        kind = type(value)
        if value is None or kind in (bool, str) or (kind is int and -(2**63) <= value < 2**64):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return self._all(value, where)
        if kind in (tuple, set, frozenset):
            listed = value if kind is tuple else sorted(value, key=repr)
            return {kind.__name__: self._all(listed, where)}
        if kind is dict:
            return {"dict": [self._all(pair, where) for pair in value.items()]}
        if kind is slice:
            return {"slice": self._all([value.start, value.stop, value.step], where)}
        if kind in (np.str_, *(np.dtype(name).type for name in _NUMBERS if name[0] != "c")):
            word = "str" if kind is np.str_ else value.dtype.name
            return {"scalar": [word, self.value(value.item(), where)]}
        if isinstance(value, np.dtype) and value.name in _NUMBERS:
            return {"dtype": value.name}
        if isinstance(value, type):
            return self._type(value, where)
        if is_array(value):
            return {"array": self._put(value)}
        if is_series(value):
            return self._series(value, where)
        if isinstance(value, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(value)
            return {"masked": [self._numpy(value.data, where), self._numpy(mask, where)]}
        if hasattr(value, "get_params") or is_model(value):
            return {"model": self.model(value, where)}
        if callable(value):
            fix = "set None or a name, and the function again after load()"
            raise _refused(where, "a function cannot be saved", value, fix)
        if hasattr(value, "__array__"):  # labels of pandas, for example
            return self._numpy(np.asarray(value), where)
        fix = "give an integer" if "random" in kind.__module__ else "set another value"
        raise _refused(where, f"a {kind.__name__} cannot be saved", value, fix)

    def _all(self, values: Any, where: str) -> list[Any]:
        return [self.value(each, where) for each in values]

    def _series(self, value: Any, where: str) -> dict[str, Any]:
        """Strings as they are; of numbers and times the integers below, and which are missing."""
        kind, word = value.dtype.kind, str(value.dtype)
        if word == "string":
            return {"series": [self._put(value), value.name]}
        if kind not in "biufmM" or "," in word:
            raise _refused(where, "a series of this dtype cannot be saved", word, "use strings")
        plain = value.astype(_below(word)) if kind in "mM" else value
        valid = None
        if value._node.nullable:
            valid = self._put(asarray(value.notnull().to_numpy().astype("uint8")))
            plain = (
                plain.fillna(0) if kind in "mM" else plain.fill_null(False if kind == "b" else 0)
            )
        values = plain.to_numpy()  # bools are bytes here: columns have them as bits
        values = values.astype("uint8") if kind == "b" else values
        return {"column": [self._put(asarray(values)), valid, word, value.name]}

    def _type(self, value: type, where: str) -> dict[str, str]:
        if _BUILTINS.get(value.__name__) is value:
            return {"type": value.__name__}
        if issubclass(value, np.generic) and np.dtype(value).name in _NUMBERS:
            return {"type": f"numpy.{np.dtype(value).name}"}
        raise _refused(where, "this type cannot be saved", value, "use a type of NumPy's numbers")

    def _numpy(self, values: np.ndarray[Any, Any], where: str) -> dict[str, Any]:
        dtype = values.dtype.newbyteorder("=")
        if dtype.name in _NUMBERS:
            plain = np.asarray(values, dtype, order="C")
            return {"numpy": self._put(asarray(plain))}
        if dtype.kind in "mM" or dtype == np.float16:
            plain = np.asarray(values, dtype, order="C")
            found = {"numpy": self._put(asarray(plain.view(f"i{dtype.itemsize}")))}
            return found | {"dtype": dtype.str}
        listed = values.ravel().tolist() if dtype.kind in "OU" else [values]
        if all(each is None or type(each) is str for each in listed):
            texts = series_over(np.array(listed, object)).astype("string")
            word = "str" if dtype.kind == "U" else "object"
            return {"numpy": self._put(texts), "dtype": word, "shape": values.shape}
        if dtype.kind == "O":
            return {"objects": self._all(listed, where), "shape": values.shape}
        raise _refused(where, "this dtype cannot be saved", dtype, "convert it with astype()")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Implement `Estimator.save`."""
    mark("save")
    writer = Writer()
    body = {
        "versions": {"headrace": _core.version, "numpy": np.__version__},
        "model": writer.model(model),
    }
    text = json.dumps(body, allow_nan=False)
    _core.write_model_file(os.fspath(path), text, writer.arrays)


def _below(word: str) -> str:
    """The integers below a dtype of times."""
    return "int32" if word == "date" else "int64"


# ---- reading -------------------------------------------------------------------------------------
class _Reader:
    """The way back; any surprise is an error that `load` words."""

    def __init__(self, arrays: list[Any]) -> None:
        self._arrays = arrays

    def model(self, made: Any) -> Any:
        """A model by its class, parameters and attributes."""
        cls = class_named(made["class"])
        if cls is None:
            raise UnsupportedError(
                f"load: the file holds a model of an unknown class: class={made['class']!r}; "
                "update headrace"
            )
        model, params = cls.__new__(cls), _param_names(cls)
        given = {name: self.value(each) for name, each in made["params"].items()}
        if not given.keys() <= set(params):
            raise UnsupportedError(
                f"load: {cls.__name__} has no such parameters here: "
                f"{sorted(given.keys() - set(params))}; update headrace"
            )
        vars(model).update(given)
        for name in set(params) - given.keys():  # newer than the file
            default = inspect.signature(cls.__init__).parameters[name].default
            if default is inspect.Parameter.empty:
                raise ValueError(f"{cls.__name__} lacks the parameter {name}")
            vars(model)[name] = default
        for name, each in made["attributes"].items():
            _check_attribute(cls, name)
            vars(model)[name] = self.value(each)
        if hasattr(model, "__sklearn_is_fitted__"):
            check_loaded(model)
        return model

    def value(self, made: Any) -> Any:
        """A value of what `Writer.value` made of it."""
        if isinstance(made, list):
            return [self.value(each) for each in made]
        if not isinstance(made, dict):
            return made
        rest = dict(made)
        kind = next(iter(rest), "")
        return _KINDS[kind](self, rest.pop(kind), **rest)

    def _all(self, made: Any) -> list[Any]:
        if not isinstance(made, list):
            raise TypeError("a list is missing")
        return self.value(made)

    def _data(self, place: Any) -> Any:
        if type(place) is not int or not 0 <= place < len(self._arrays):
            raise ValueError(f"it has no array {place!r}")
        value = self._arrays[place]
        node = _core.data(value)
        return array_of(node) if isinstance(value, _core.Tensor) else series_of(node)

    def _dict(self, made: Any) -> dict[Any, Any]:
        pairs = [tuple(self._all(pair)) for pair in made]
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a dictionary has a key twice")
        return found

    def _scalar(self, made: Any) -> Any:
        word, value = self._all(made)
        return np.str_(value) if word == "str" else _dtype(word).type(value)

    def _array(self, place: Any) -> Any:
        found = self._data(place)
        if not is_array(found):
            raise TypeError(f"array {place} holds strings")
        return found

    def _series(self, made: Any) -> Any:
        place, name = made
        found = self._data(place)
        return series_of((found.to_series() if is_array(found) else found)._node, name)

    def _column(self, made: Any) -> Any:
        place, valid_place, word, name = made
        found = self._array(place).to_series()
        if word == "bool" and found.dtype == "uint8":
            found = found == 1
        elif str(found.dtype) != word:
            if not re.fullmatch(_TIMES, word) or found.dtype != _below(word):
                raise TypeError(f"array {place} cannot be read as {word}")
            found = found.astype(word)
        if valid_place is not None:
            valid = self._array(valid_place)
            if valid.dtype != "uint8" or valid.shape != (len(found),):
                raise TypeError(f"array {valid_place} does not say which values are missing")
            found = found.where(valid.to_series() == 1)
        return series_of(found._node, name)

    def _masked(self, made: Any) -> Any:
        values, mask = self._all(made)
        if np.shape(values) != np.shape(mask):
            raise ValueError("a mask is of another shape than its values")
        return np.ma.MaskedArray(values, mask)

    def _numpy(self, place: Any, dtype: str = "", shape: Any = None) -> Any:
        found = self._data(place)
        if not is_array(found):
            texts = found.to_list()
            # One long text among many would take its length for each.
            long = len(texts) * max(map(len, filter(None, texts)), default=0) > 2**28
            made = np.array(texts, str if dtype == "str" and not long else object)
            return made.reshape(shape)
        values = np.array(found.to_numpy())  # of its own, and writable
        if not dtype:
            return values
        seen = np.dtype(dtype)
        if seen.kind not in "mM" and seen != np.float16:
            raise TypeError(f"array {place} cannot be read as {dtype}")
        return values.view(seen)

    def _objects(self, made: Any, shape: Any) -> Any:
        found = np.empty(len(made), object)
        for place, each in enumerate(self._all(made)):
            found[place] = each
        return found.reshape(shape)


def _check_attribute(cls: Any, name: str) -> None:
    """Refuse names that are more than data: methods, properties and what a class says of itself."""
    known = inspect.getattr_static(cls, name, None)
    data = isinstance(known, int | float | None)
    if not (data and name.isidentifier()) or name.startswith("__"):
        raise ValueError(f"{cls.__name__} has no attribute {name!r}")


def _dtype(name: Any) -> np.dtype[Any]:
    if name not in _NUMBERS:
        raise ValueError(f"no such dtype: {name!r}")
    return np.dtype(name)


_KINDS: dict[str, Callable[..., Any]] = {
    "float": lambda reader, made: float(made),
    "tuple": lambda reader, made: tuple(reader._all(made)),
    "set": lambda reader, made: set(reader._all(made)),
    "frozenset": lambda reader, made: frozenset(reader._all(made)),
    "slice": lambda reader, made: slice(*reader._all(made)),
    "dtype": lambda reader, made: _dtype(made),
    "type": lambda reader, made: _BUILTINS.get(made) or _dtype(made.removeprefix("numpy.")).type,
    "dict": _Reader._dict,
    "scalar": _Reader._scalar,
    "array": _Reader._array,
    "series": _Reader._series,
    "column": _Reader._column,
    "masked": _Reader._masked,
    "numpy": _Reader._numpy,
    "objects": _Reader._objects,
    "model": _Reader.model,
}


_SURPRISES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file that `save` wrote, with the same bits; nothing in it is executed.

    Files of older versions of Headrace are read, parameters that came later get their defaults.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Estimator
        Of the class that was saved: arrays of NumPy are writable, those of Headrace lie in the
        memory that the file was read into.

    Raises
    ------
    InputError
        For a file that cannot be read, is not a model file, or is damaged: sizes, offsets, text,
        names and the links of trees are checked before anything uses them.
    UnsupportedError
        For a class or a parameter that this version of Headrace does not have.

    >>> hr.learn.StandardScaler().fit([[1.0], [3.0]]).save("scaler.hrm")
    >>> again = hr.learn.load("scaler.hrm")
    >>> again.transform([[5.0]]).tolist()
    [[3.0]]
    """
    mark("load")
    where = os.fspath(path)
    header, arrays = _core.read_model_file(where)
    try:
        return _Reader(arrays).model(json.loads(header)["model"])
    except _SURPRISES as error:
        made = InputError(
            f"load: the file is damaged: path={where!r}, {error}; save the model again"
        )
        made.path = where
        raise made from error
