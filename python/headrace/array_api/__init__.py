# SPDX-License-Identifier: Apache-2.0
"""The array API standard, edition 2025.12, on our arrays.

>>> xp = hr.asarray([1.0, 2.0]).__array_namespace__()
>>> xp.sum(xp.asarray([1, 2, 3])).item()
6
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace.array_api import fft as fft
from headrace.array_api import linalg as linalg
from headrace.array_api.creation import (
    arange as arange,
)
from headrace.array_api.creation import (
    asarray as asarray,
)
from headrace.array_api.creation import (
    empty as empty,
)
from headrace.array_api.creation import (
    empty_like as empty_like,
)
from headrace.array_api.creation import (
    eye as eye,
)
from headrace.array_api.creation import (
    from_dlpack as from_dlpack,
)
from headrace.array_api.creation import (
    full as full,
)
from headrace.array_api.creation import (
    full_like as full_like,
)
from headrace.array_api.creation import (
    linspace as linspace,
)
from headrace.array_api.creation import (
    meshgrid as meshgrid,
)
from headrace.array_api.creation import (
    ones as ones,
)
from headrace.array_api.creation import (
    ones_like as ones_like,
)
from headrace.array_api.creation import (
    tril as tril,
)
from headrace.array_api.creation import (
    triu as triu,
)
from headrace.array_api.creation import (
    zeros as zeros,
)
from headrace.array_api.creation import (
    zeros_like as zeros_like,
)
from headrace.array_api.data_types import (
    __array_namespace_info__ as __array_namespace_info__,
)
from headrace.array_api.data_types import (
    astype as astype,
)
from headrace.array_api.data_types import (
    bool as bool,
)
from headrace.array_api.data_types import (
    can_cast as can_cast,
)
from headrace.array_api.data_types import (
    complex64 as complex64,
)
from headrace.array_api.data_types import (
    complex128 as complex128,
)
from headrace.array_api.data_types import (
    finfo as finfo,
)
from headrace.array_api.data_types import (
    float32 as float32,
)
from headrace.array_api.data_types import (
    float64 as float64,
)
from headrace.array_api.data_types import (
    iinfo as iinfo,
)
from headrace.array_api.data_types import (
    int8 as int8,
)
from headrace.array_api.data_types import (
    int16 as int16,
)
from headrace.array_api.data_types import (
    int32 as int32,
)
from headrace.array_api.data_types import (
    int64 as int64,
)
from headrace.array_api.data_types import (
    isdtype as isdtype,
)
from headrace.array_api.data_types import (
    result_type as result_type,
)
from headrace.array_api.data_types import (
    uint8 as uint8,
)
from headrace.array_api.data_types import (
    uint16 as uint16,
)
from headrace.array_api.data_types import (
    uint32 as uint32,
)
from headrace.array_api.data_types import (
    uint64 as uint64,
)
from headrace.array_api.elementwise import (
    abs as abs,
)
from headrace.array_api.elementwise import (
    acos as acos,
)
from headrace.array_api.elementwise import (
    acosh as acosh,
)
from headrace.array_api.elementwise import (
    add as add,
)
from headrace.array_api.elementwise import (
    asin as asin,
)
from headrace.array_api.elementwise import (
    asinh as asinh,
)
from headrace.array_api.elementwise import (
    atan as atan,
)
from headrace.array_api.elementwise import (
    atan2 as atan2,
)
from headrace.array_api.elementwise import (
    atanh as atanh,
)
from headrace.array_api.elementwise import (
    bitwise_and as bitwise_and,
)
from headrace.array_api.elementwise import (
    bitwise_invert as bitwise_invert,
)
from headrace.array_api.elementwise import (
    bitwise_left_shift as bitwise_left_shift,
)
from headrace.array_api.elementwise import (
    bitwise_or as bitwise_or,
)
from headrace.array_api.elementwise import (
    bitwise_right_shift as bitwise_right_shift,
)
from headrace.array_api.elementwise import (
    bitwise_xor as bitwise_xor,
)
from headrace.array_api.elementwise import (
    ceil as ceil,
)
from headrace.array_api.elementwise import (
    clip as clip,
)
from headrace.array_api.elementwise import (
    conj as conj,
)
from headrace.array_api.elementwise import (
    copysign as copysign,
)
from headrace.array_api.elementwise import (
    cos as cos,
)
from headrace.array_api.elementwise import (
    cosh as cosh,
)
from headrace.array_api.elementwise import (
    divide as divide,
)
from headrace.array_api.elementwise import (
    equal as equal,
)
from headrace.array_api.elementwise import (
    exp as exp,
)
from headrace.array_api.elementwise import (
    expm1 as expm1,
)
from headrace.array_api.elementwise import (
    floor as floor,
)
from headrace.array_api.elementwise import (
    floor_divide as floor_divide,
)
from headrace.array_api.elementwise import (
    greater as greater,
)
from headrace.array_api.elementwise import (
    greater_equal as greater_equal,
)
from headrace.array_api.elementwise import (
    hypot as hypot,
)
from headrace.array_api.elementwise import (
    imag as imag,
)
from headrace.array_api.elementwise import (
    isfinite as isfinite,
)
from headrace.array_api.elementwise import (
    isinf as isinf,
)
from headrace.array_api.elementwise import (
    isnan as isnan,
)
from headrace.array_api.elementwise import (
    less as less,
)
from headrace.array_api.elementwise import (
    less_equal as less_equal,
)
from headrace.array_api.elementwise import (
    log as log,
)
from headrace.array_api.elementwise import (
    log1p as log1p,
)
from headrace.array_api.elementwise import (
    log2 as log2,
)
from headrace.array_api.elementwise import (
    log10 as log10,
)
from headrace.array_api.elementwise import (
    logaddexp as logaddexp,
)
from headrace.array_api.elementwise import (
    logical_and as logical_and,
)
from headrace.array_api.elementwise import (
    logical_not as logical_not,
)
from headrace.array_api.elementwise import (
    logical_or as logical_or,
)
from headrace.array_api.elementwise import (
    logical_xor as logical_xor,
)
from headrace.array_api.elementwise import (
    maximum as maximum,
)
from headrace.array_api.elementwise import (
    minimum as minimum,
)
from headrace.array_api.elementwise import (
    multiply as multiply,
)
from headrace.array_api.elementwise import (
    negative as negative,
)
from headrace.array_api.elementwise import (
    nextafter as nextafter,
)
from headrace.array_api.elementwise import (
    not_equal as not_equal,
)
from headrace.array_api.elementwise import (
    positive as positive,
)
from headrace.array_api.elementwise import (
    pow as pow,
)
from headrace.array_api.elementwise import (
    real as real,
)
from headrace.array_api.elementwise import (
    reciprocal as reciprocal,
)
from headrace.array_api.elementwise import (
    remainder as remainder,
)
from headrace.array_api.elementwise import (
    round as round,
)
from headrace.array_api.elementwise import (
    sign as sign,
)
from headrace.array_api.elementwise import (
    signbit as signbit,
)
from headrace.array_api.elementwise import (
    sin as sin,
)
from headrace.array_api.elementwise import (
    sinh as sinh,
)
from headrace.array_api.elementwise import (
    sqrt as sqrt,
)
from headrace.array_api.elementwise import (
    square as square,
)
from headrace.array_api.elementwise import (
    subtract as subtract,
)
from headrace.array_api.elementwise import (
    tan as tan,
)
from headrace.array_api.elementwise import (
    tanh as tanh,
)
from headrace.array_api.elementwise import (
    trunc as trunc,
)
from headrace.array_api.linalg import (
    matmul as matmul,
)
from headrace.array_api.linalg import (
    matrix_transpose as matrix_transpose,
)
from headrace.array_api.linalg import (
    tensordot as tensordot,
)
from headrace.array_api.linalg import (
    vecdot as vecdot,
)
from headrace.array_api.manipulation import (
    broadcast_arrays as broadcast_arrays,
)
from headrace.array_api.manipulation import (
    broadcast_shapes as broadcast_shapes,
)
from headrace.array_api.manipulation import (
    broadcast_to as broadcast_to,
)
from headrace.array_api.manipulation import (
    concat as concat,
)
from headrace.array_api.manipulation import (
    expand_dims as expand_dims,
)
from headrace.array_api.manipulation import (
    flip as flip,
)
from headrace.array_api.manipulation import (
    moveaxis as moveaxis,
)
from headrace.array_api.manipulation import (
    permute_dims as permute_dims,
)
from headrace.array_api.manipulation import (
    repeat as repeat,
)
from headrace.array_api.manipulation import (
    reshape as reshape,
)
from headrace.array_api.manipulation import (
    roll as roll,
)
from headrace.array_api.manipulation import (
    squeeze as squeeze,
)
from headrace.array_api.manipulation import (
    stack as stack,
)
from headrace.array_api.manipulation import (
    tile as tile,
)
from headrace.array_api.manipulation import (
    unstack as unstack,
)
from headrace.array_api.searching import (
    argmax as argmax,
)
from headrace.array_api.searching import (
    argmin as argmin,
)
from headrace.array_api.searching import (
    argsort as argsort,
)
from headrace.array_api.searching import (
    count_nonzero as count_nonzero,
)
from headrace.array_api.searching import (
    isin as isin,
)
from headrace.array_api.searching import (
    nonzero as nonzero,
)
from headrace.array_api.searching import (
    searchsorted as searchsorted,
)
from headrace.array_api.searching import (
    sort as sort,
)
from headrace.array_api.searching import (
    take as take,
)
from headrace.array_api.searching import (
    take_along_axis as take_along_axis,
)
from headrace.array_api.searching import (
    unique_all as unique_all,
)
from headrace.array_api.searching import (
    unique_counts as unique_counts,
)
from headrace.array_api.searching import (
    unique_inverse as unique_inverse,
)
from headrace.array_api.searching import (
    unique_values as unique_values,
)
from headrace.array_api.searching import (
    where as where,
)
from headrace.array_api.statistics import (
    all as all,
)
from headrace.array_api.statistics import (
    any as any,
)
from headrace.array_api.statistics import (
    cumulative_prod as cumulative_prod,
)
from headrace.array_api.statistics import (
    cumulative_sum as cumulative_sum,
)
from headrace.array_api.statistics import (
    diff as diff,
)
from headrace.array_api.statistics import (
    max as max,
)
from headrace.array_api.statistics import (
    mean as mean,
)
from headrace.array_api.statistics import (
    min as min,
)
from headrace.array_api.statistics import (
    prod as prod,
)
from headrace.array_api.statistics import (
    std as std,
)
from headrace.array_api.statistics import (
    sum as sum,
)
from headrace.array_api.statistics import (
    var as var,
)
from headrace.facade import missing_of_module

if TYPE_CHECKING:
    from collections.abc import Callable

__array_api_version__ = "2025.12"

e: float = math.e
inf: float = math.inf
nan: float = math.nan
newaxis = None
pi: float = math.pi

__getattr__: Callable[[str], Any] = missing_of_module(__name__)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "from_dlpack",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "prod",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]
