# SPDX-License-Identifier: Apache-2.0
"""Dtypes of the array API standard, and what it asks of them and of the library."""

from __future__ import annotations

from typing import Any, NamedTuple

from headrace import _core
from headrace.array.construct import asarray as _asarray
from headrace.array.layout import common_dtype
from headrace.dtypes import FLOATS, INTEGERS, DType, dtype_word
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import Deferred


class DataType:
    """A dtype of the standard: equal to the dtypes of arrays, of NumPy, and to their names."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> Any:
        return DType(self.name) == (other.name if isinstance(other, DataType) else other)

    def __hash__(self) -> int:
        return hash(DType(self.name))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"headrace.{self.name}"


bool: DataType = DataType("bool")
int8: DataType = DataType("int8")
int16: DataType = DataType("int16")
int32: DataType = DataType("int32")
int64: DataType = DataType("int64")
uint8: DataType = DataType("uint8")
uint16: DataType = DataType("uint16")
uint32: DataType = DataType("uint32")
uint64: DataType = DataType("uint64")
float32: DataType = DataType("float32")
float64: DataType = DataType("float64")
complex64: DataType = DataType("complex64")
complex128: DataType = DataType("complex128")

COMPLEX = ("complex64", "complex128")
_KINDS = {
    "bool": ("bool",),
    "signed integer": tuple(word for word in INTEGERS if word[0] == "i"),
    "unsigned integer": tuple(word for word in INTEGERS if word[0] == "u"),
    "integral": INTEGERS,
    "real floating": FLOATS,
    "complex floating": COMPLEX,
    "numeric": (*INTEGERS, *FLOATS, *COMPLEX),
}


class FloatInfo(NamedTuple):
    """Limits of a floating dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DataType


class IntegerInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DataType


def _word(type: Any) -> str:
    return str(type.dtype) if isinstance(type, Deferred) else dtype_word(type)


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating dtype, of a complex one those of its parts.

    >>> hr.array_api.finfo(hr.array_api.float32).bits
    32
    """
    import numpy as np

    made = np.finfo(_word(type))
    eps, most, least, normal = map(float, (made.eps, made.max, made.min, made.smallest_normal))
    return FloatInfo(int(made.bits), eps, most, least, normal, DataType(made.dtype.name))


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer dtype.

    >>> hr.array_api.iinfo(hr.array_api.int8).max
    127
    """
    import numpy as np

    made = np.iinfo(_word(type))
    return IntegerInfo(int(made.bits), int(made.max), int(made.min), DataType(made.dtype.name))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind, or of one of several.

    >>> hr.array_api.isdtype(hr.array_api.int8, "integral")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str) and not isinstance(kind, DType):
        if kind not in _KINDS:
            raise InvalidArgumentError(
                f"isdtype: unknown kind: kind={kind!r}; use one of {', '.join(_KINDS)}"
            )
        return str(dtype) in _KINDS[kind]
    return dtype == kind


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether values of a dtype, or of an array, go into another dtype by promotion.

    >>> hr.array_api.can_cast(hr.array_api.int8, hr.array_api.int16)
    True
    """
    import numpy as np

    return np.can_cast(_word(from_), _word(to))


def result_type(*arrays_and_dtypes: Any) -> DataType:
    """The dtype that arithmetic of these gives.

    >>> hr.array_api.result_type(hr.array_api.int8, hr.array_api.uint8)
    headrace.int16
    """
    import numpy as np

    given = [np.dtype(str(v)) if isinstance(v, DType | DataType) else v for v in arrays_and_dtypes]
    return DataType(common_dtype(*given))


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """An array in another dtype; `copy=False` gives one that has it back as it is.

    >>> hr.array_api.astype(hr.asarray([1.5]), hr.array_api.int64).tolist()
    [1]
    """
    given = _asarray(x)
    made = given if not copy and given.dtype == str(dtype) else given.astype(str(dtype))
    return made if device is None else made.to_device(device)


class Information:
    """What the library has of the standard."""

    def capabilities(self) -> dict[str, Any]:
        """Which optional parts there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where new arrays lie."""
        return "host"

    def devices(self) -> tuple[str, ...]:
        """Where arrays may lie."""
        return ("host", *(f"cuda:{n}" for n in range(_core.cuda_device_count())))

    def default_dtypes(self, *, device: Any = None) -> dict[str, DataType]:
        """Dtypes of arrays that are made without one."""
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DataType]:
        """The dtypes, of one kind or of several where it is given."""
        kinds = _KINDS if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {word: DataType(word) for each in kinds for word in _KINDS[each]}


def __array_namespace_info__() -> Information:  # noqa: N807 (the standard's name)
    """What the library has of the standard.

    >>> hr.array_api.__array_namespace_info__().default_device()
    'host'
    """
    return Information()
