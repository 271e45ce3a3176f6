# SPDX-License-Identifier: Apache-2.0
"""The base of arrays and series: a handle on a plan node, operators, NumPy protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace import _core
from headrace._first_use import public_class
from headrace.dtypes import DType
from headrace.errors import TypeMismatchError
from headrace.lazy.numpy_fallback import through_numpy
from headrace.lazy.profile import Explanation, explain
from headrace.operators import Operators

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import TypeIs

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.index import RowNumber


#: Tell the engine the operator and the user's line that the next nodes belong to.
mark: Callable[[str], None] = _core.mark

#: Reductions of NumPy's ufuncs, by our words.
UFUNC_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}

_new: Callable[[type[Any]], Any] = _core.BufferSource.__new__

#: The largest power of ten that fits in int64.
_GREATEST_UNIT = 10**18
#: Of a float64, before or after the decimal point.
_MOST_DIGITS = 308


class Deferred(Operators, _core.BufferSource):
    """A lazy value: it is evaluated when used, and keeps its result."""

    __slots__ = ("__weakref__", "_node")
    _kind: ClassVar[str] = "value"
    _array: ClassVar[type[Array]] = public_class()
    _row_number: ClassVar[type[RowNumber]] = public_class()

    def __init_subclass__(cls, role: str = "", **options: Any) -> None:
        """Remember the public class of a role, so that modules below it can make one."""
        super().__init_subclass__(**options)
        if role:
            setattr(next(base for base in cls.__mro__ if role in vars(base)), role, cls)

    def __init__(self, node: _core.Node) -> None:
        super().__init__()
        self._node = node

    def _like(self, node: _core.Node) -> Any:
        """A handle on the result of an operation."""
        return type(self)(node)

    @property
    def dtype(self) -> DType:
        """Element type, known before anything runs.

        >>> hr.Series([3, 1, 4]).dtype
        dtype('int64')
        """
        return DType(self._node.dtype)

    # ---- devices ---------------------------------------------------------------------------------
    def to(self, device: str) -> Self:
        """Copy the values to a device, where further work runs; the ledger records the copy.

        Parameters
        ----------
        device : str
            ``"cuda"`` (or ``"cuda:1"``), ``"cpu"``, or ``"sim"``, the simulated device that
            ``HEADRACE_DEVICE=sim`` opens; or the `device` of other values. ``"cuda:0,1"`` and
            ``"cuda:all"`` cut the rows evenly over several devices.

        Raises
        ------
        DeviceError
            If there is no such device.

        Notes
        -----
        Operations without a kernel there run on the host between two copies, listed by
        `hr.fallbacks`. Exports to NumPy, pandas and Arrow copy the values back;
        ``__cuda_array_interface__`` and DLPack share them where they are.

        >>> hr.asarray([1.0, 2.0]).to("cpu").sum().item()
        3.0
        """
        mark("to")
        return self._like(_core.to(self._node, device))

    @property
    def device(self) -> str:
        """Where the values live: ``"host"``, ``"cuda:0"``, ``"cuda:0,cuda:1"``; evaluates them."""
        _core.force_shards([self._node])
        return _core.place_of(self._node)

    # ---- other libraries -------------------------------------------------------------------------
    def _value(self) -> Any:
        """The engine's column or tensor, on the host; evaluates it."""
        _core.force([self._node])
        return self._node.value()

    def _value_there(self) -> Any:
        """The same, on its device."""
        _core.force([self._node])
        return _core.value_there(self._node)

    def _buffer_value(self) -> Any:
        """Memory for the buffer protocol, which Numba and others try first."""
        if self.device != "host":
            raise BufferError(
                f"buffer: the data is on a device: place={self.device!r}; use to('cpu')"
            )
        return self._value()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        there = self._value_there() if _core.cuda_device_count() else None
        if not isinstance(there, _core.Tensor):
            raise AttributeError(
                "__cuda_array_interface__: only available for arrays on a CUDA device"
            )
        return there.__cuda_array_interface__

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # The memory must live as long as the array, which a copy of device data would not; NumPy #
        # falls back to `__array__`, whose result owns it.
        if self.device != "host":
            raise AttributeError("__array_interface__: only available for data in host memory")
        return self._value().__array_interface__

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        _core.force([self._node])
        return _core.node_dlpack(self._node, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._value_there().__dlpack_device__()

    def explain(self, analyze: bool = False, *, passes: bool = False) -> Explanation:
        """The steps that evaluation would take, with the number of passes over the data.

        With `analyze` they run, and each line reports time, rows, bytes, and what a memory limit
        moved. With `passes` the plan is shown before and after each optimizer pass that changes it.
        """
        return explain([self._node], analyze, passes)

    # ---- copies and pickle -----------------------------------------------------------------------
    def __copy__(self) -> Self:
        return self._like(self._node)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()  # the values are immutable

    if TYPE_CHECKING:

        def astype(self, dtype: npt.DTypeLike) -> Self:
            """Convert to another dtype."""

        def copy(self) -> Self:
            """Another handle."""

    # ---- element-wise ----------------------------------------------------------------------------
    def _elementwise(self, op: str, *values: Any, missing_is_false: bool = False) -> Self:
        node = _core.apply(op, values, missing_is_false)
        if node is None:
            return NotImplemented
        best: Any = self
        for value in values:  # an array combined with a column is a column
            if isinstance(value, Deferred) and value._kind == "series":
                best = value
                break
        return best._like(node)

    def __pos__(self) -> Self:
        return self

    def clip(self, lower: Any = None, upper: Any = None) -> Self:
        """Limit values to [`lower`, `upper`].

        >>> hr.asarray([1, 5]).clip(2, 4).tolist()
        [2, 4]
        """
        result = self
        if lower is not None:
            result = result._elementwise("maximum", result, lower)
        if upper is not None:
            result = result._elementwise("minimum", result, upper)
        return self.copy() if result is self else result

    def round(self, decimals: int = 0) -> Self:
        """Round to a number of digits, halves to even as in NumPy.

        Integers change only for negative digits; non-numeric values are unchanged.

        >>> hr.Series([0.125, 2.5]).round(1).to_list()
        [0.1, 2.5]
        """
        if self._node.dtype.startswith("decimal"):
            return self._like(_core.decimal_round(self._node, decimals))
        if self.dtype.kind not in "fc":
            whole = self.dtype.kind in "iu" and decimals < 0
            return self._round_whole(10 ** min(-decimals, _MOST_DIGITS)) if whole else self.copy()
        if decimals == 0:
            return self._elementwise("rint", self)
        if abs(decimals) > _MOST_DIGITS:
            return self.copy() if decimals > 0 else self * 0
        factor = 10.0 ** abs(decimals)
        return (
            (self * factor).round() / factor if decimals > 0 else (self / factor).round() * factor
        )

    def _round_whole(self, unit: int) -> Self:
        """Round integers to multiples of `unit`, halves to even."""
        if unit > _GREATEST_UNIT:
            return self * 0
        dtype = str(self.dtype)
        wide = self if dtype == "uint64" else self.astype("int64")
        count = wide // unit
        rest = wide - count * unit
        half = unit // 2
        up = (rest > half) | (rest._elementwise("equal", rest, half) & (count % 2).astype("bool"))
        return ((count + up) * unit).astype(dtype)

    def is_nan(self) -> Self:
        """True where the value is NaN (a null is not NaN).

        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.is_nan().to_list()
        [False, False, True]
        """
        return self._elementwise("isnan", self)

    # ---- reductions ------------------------------------------------------------------------------
    def _reduce(self, kind: str, ddof: int = 0, skip_nan: bool = False) -> Array:
        mark(kind)
        return array_of(_core.reduction(kind, self._node, ddof, skip_nan))

    # ---- NumPy's protocols -----------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if method == "reduce" and len(inputs) == 1 and name in UFUNC_REDUCTIONS:
            options = {word: v for word, v in kwargs.items() if word == "axis" or v is not None}
            axis = options.pop("axis", 0)
            if not options:
                reduce: Callable[..., Any] = getattr(inputs[0], UFUNC_REDUCTIONS[name])
                return reduce() if axis is None or inputs[0].ndim == 1 else reduce(axis=axis)
        if method == "__call__" and not kwargs and name in _core.elementwise_ops():
            return self._elementwise(name, *inputs)
        if method == "__call__" and not kwargs and name == "matmul":
            left, right = inputs
            ours: Any = left if isinstance(left, Deferred) else right
            return ours.__matmul__(right) if ours is left else ours.__rmatmul__(left)
        others = (type(value) for value in inputs if not isinstance(value, Deferred))
        if any(
            getattr(kind, "__array_ufunc__", None) not in (None, _plain_ufunc()) for kind in others
        ):
            return NotImplemented  # another library may support it
        call = name if method == "__call__" else f"{name}.{method}"
        return through_numpy(call, getattr(ufunc, method), inputs, kwargs)


def array_of(node: _core.Node) -> Array:
    """An array of a node."""
    made = _new(Deferred._array)  # without its __init__: each line of users makes some
    made._node = node
    made._origin = None
    return made


def is_array(value: object) -> TypeIs[Array]:
    """Whether this is an array."""
    return isinstance(value, Deferred._array)


def _plain_ufunc() -> Any:
    import numpy as np

    return np.ndarray.__array_ufunc__


def eval(*values: Deferred | DataFrame) -> None:
    """Evaluate `values` together, in as few passes as the plan finds.

    Using a value evaluates it too; `eval` is for several at once, or to choose the moment.

    Parameters
    ----------
    *values : Array, Series or DataFrame
        They keep their results.

    >>> x = hr.asarray([1.0, 3.0])
    >>> low, high = x.min(), x.max()
    >>> hr.eval(low, high)
    """
    mark("eval")
    nodes: list[_core.Node] = []
    for value in values:
        if isinstance(value, Deferred):
            nodes.append(value._node)
        elif every := getattr(value, "_every", None):
            nodes += every()
        else:
            raise TypeMismatchError(
                f"eval: expected an array, a series or a frame: type={type(value).__name__!r}"
            )
    _core.force_shards(nodes)


def looked_at(values: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Evaluate the one-element results in a list, all together."""
    _core.force([value._node for value in values if isinstance(value, Deferred)])
    return [value.item() if hasattr(value, "item") else value for value in values]
