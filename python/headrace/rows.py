# SPDX-License-Identifier: Apache-2.0
"""Column names, row sets, and single rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping
from typing import Any, ClassVar

from headrace import _core
from headrace.display.markup import pairs_html
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import is_probed

_PARTS_KEPT = 4096
_BYTES_KEPT = 64
_BYTES_HASHED = 1 << 24
_parts: dict[tuple[Any, ...], int] = {}


def are_picked(node: _core.Node) -> bool:
    """Whether these rows were filtered or sorted: their positions are not their labels."""
    return bool(node.domain & _core.PICKED_ROWS)


def is_ready(node: _core.Node, row: int) -> bool:
    """Whether a column has its value, and this row."""
    return node.is_ready and -node.shape[0] <= row < node.shape[0]


def picked_domain() -> int:
    """A new row set of selected rows."""
    return _core.new_domain() | _core.PICKED_ROWS


def renumbered(node: _core.Node) -> _core.Node:
    """The same rows, labelled by position from now on; equal row sets stay equal."""
    if not are_picked(node):
        return node
    mixed = node.domain * 0x9E3779B97F4A7C15 & (1 << 64) - 1  # 2^64 over the golden ratio
    return _core.in_domain(node, (mixed | 1 << 63) & ~_core.PICKED_ROWS)


def refuse_apart(op: str, nodes: Iterable[_core.Node]) -> None:
    """Raise for filtered or sorted rows with a separate series, which pandas would align."""
    domains = {node.domain for node in nodes}
    if 0 in domains and any(domain & _core.PICKED_ROWS for domain in domains):
        _core.refuse_apart(op)


def same_rows(node: _core.Node | None, key: Any) -> int:
    """The row set of a slice, of the first rows, or of positions in a NumPy array.

    Equal selections of a row set give the same one, unless there are too many positions to hash.
    """
    are_first = isinstance(key, int)
    if isinstance(key, slice):
        are_first = not key.start and key.step in (None, 1)
    new = _core.new_domain()
    if not are_first or (node is not None and are_picked(node)):
        new |= _core.PICKED_ROWS
    if node is None or not node.domain or getattr(key, "nbytes", 0) > _BYTES_HASHED:
        return new
    what: tuple[Any, ...] = (key,)
    if isinstance(key, slice):
        what = (key.start, key.stop, key.step)
    elif hasattr(key, "tobytes"):
        import hashlib

        held = key.tobytes()
        short = held if len(held) <= _BYTES_KEPT else hashlib.blake2b(held).digest()
        what = (key.dtype.str, len(held), short)
    if len(_parts) >= _PARTS_KEPT:
        _parts.clear()
    return _parts.setdefault((node.domain, *what), new)


def pandas_labels(values: Any) -> list[str]:
    """The index levels of a pandas frame or series; none for a default index."""
    if type(values).__module__.partition(".")[0] != "pandas":
        return []  # our own index would run the plan
    index: Any = getattr(values, "index", None)
    if not hasattr(index, "nlevels"):
        return []
    if index.nlevels == 1 and index.name is None and index.dtype.kind in "iu":
        return []
    names = index.names
    return [unnamed(i, len(names)) if n is None else str(n) for i, n in enumerate(names)]


def counts_rows(values: Any) -> bool:
    """Whether the index of a pandas frame or series is 0, 1, 2, ..."""
    import numpy as np

    index = values.index
    if type(index).__name__ == "RangeIndex":
        return bool(index.start == 0 and index.step == 1)
    return index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))


def given_name(values: Any) -> str | None:
    """The name of a pandas or Polars series."""
    name = getattr(values, "name", None)
    return None if name is None or name == "" or callable(name) else str(name)


def by_position(values: Any) -> Any:
    """Values matched by position: a pandas series without its index."""
    return values.reset_index(drop=True) if pandas_labels(values) else values


class Unnamed(str):
    """What a label level without a name is called in errors, files and by `reset_index`.

    >>> Unnamed("index") == "index", given(Unnamed("index"))
    (True, None)
    """

    __slots__ = ()


def given(name: Any) -> Any:
    """The name of a label level; None if it has none."""
    return None if isinstance(name, Unnamed) else name


def unnamed(level: int, levels: int) -> Unnamed:
    """The word for a level without a name, as pandas' `reset_index` has it."""
    return Unnamed("index" if levels == 1 else f"level_{level}")


class LevelName:
    """A column name that knows what its levels are called: pandas' ``columns.names``.

    It is equal to the plain name, and stays with the column, so each frame made of it keeps it.

    >>> with_levels("x", ("city",)) == "x", levels_of_names([1, with_levels("x", ("city",))])
    (True, ('city',))
    """

    levels: tuple[Any, ...]


class _Text(LevelName, str):
    pass


class _Parts(LevelName, tuple[Any, ...]):
    pass


class _Whole(LevelName, int):
    pass


class _Float(LevelName, float):
    pass


_LEVEL_NAMES: dict[type, Any] = {str: _Text, tuple: _Parts, int: _Whole, float: _Float}


def plain_name(name: Any) -> Any:
    """The name without those of its levels."""
    if not isinstance(name, LevelName):
        return name
    return type(name).__mro__[2](name)


def with_levels(name: Any, levels: tuple[Any, ...]) -> Any:
    """A column name whose levels are called `levels`; plain where all are None."""
    plain = plain_name(name)
    if all(level is None for level in levels) or type(plain) not in _LEVEL_NAMES:
        return plain
    made = _LEVEL_NAMES[type(plain)](plain)
    made.levels = levels
    return made


def levels_of_names(names: Iterable[Any]) -> tuple[Any, ...] | None:
    """What the levels of column names are called; None if nothing says so."""
    return next((name.levels for name in names if isinstance(name, LevelName)), None)


def given_names(columns: Any) -> list[Any]:
    """Column names from a list or an index, which says what its levels are called."""
    levels = getattr(columns, "names", None)
    listed = columns.tolist() if hasattr(columns, "tolist") else list(columns)
    return [with_levels(name, tuple(levels)) for name in listed] if levels else listed


def engine_names(names: Iterable[Any]) -> list[str]:
    """Distinct strings for column names, which may be tuples, numbers, or twice the same.

    >>> engine_names([("x", "mean"), 2024, "k", "k"])
    ['x_mean', '2024', 'k', 'k_']
    """
    words = [
        n if type(n) is str else "_".join(map(str, n)) if type(n) is tuple else str(n)
        for n in names
    ]
    if len(set(words)) == len(words):
        return words
    made: dict[str, None] = {}
    for word in words:
        made[free_name(word, made)] = None
    return list(made)


def free_name(word: str, taken: Iterable[str]) -> str:
    """The name, with underscores appended if it is taken."""
    names = set(taken)
    while word in names:
        word += "_"
    return word


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, or pandas' equivalents."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 (NaN)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def whole_number(op: str, word: str, value: Any) -> int:
    """An integer: an int, a NumPy integer, or a one-element integer array, which is evaluated.

    Raises beyond 64 bits.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeMismatchError(f"{op}: expected an integer: {word}={value!r}") from None
    if -(1 << 63) <= number < 1 << 63:
        return number
    raise InvalidArgumentError(
        f"{op}: an integer does not fit in 64 bits: name={word!r}, bits={number.bit_length()}"
    )


def is_mixed(data: Any) -> bool:
    """Whether a dictionary has strings and other values, which no column holds."""
    if not isinstance(data, dict):
        return False
    kinds = {isinstance(each, str) for each in data.values() if not is_missing(each)}
    return len(kinds) > 1


class Row(Mapping[str, Any]):
    """One row of a frame: values by column name, with the methods and operators of a series.

    A missing number is NaN, so that it compares false; any other missing value is None.

    >>> data = {"a": [1, 2], "b": [3, None], "c": ["x", None]}
    >>> row = hr.DataFrame(data, index=["u", "v"]).iloc[1]
    >>> row["a"], row.b, row.c, list(row), row.name
    (2, nan, None, [2, nan, None], 'v')
    >>> row[["a", "b"]].max().item(), row.iloc[0], row.dropna().to_dict()
    (2.0, 2, {'a': 2})

    Comparisons and methods give a `Series` labelled by name; most methods need values of a common
    dtype.
    """

    __slots__ = ("_name", "_row")
    _index_of: ClassVar[Callable[[Iterable[str]], Any]] = list
    _single: ClassVar[Callable[[Any], Any]]

    def __init__(self, values: dict[str, Any], name: Any = None) -> None:
        self._row = values
        self._name = name

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, slice):
            return self._of(list(self._row)[name])
        if isinstance(name, list) or hasattr(name, "_node"):
            names = list(name)
            if names and all(isinstance(each, bool) for each in names):
                names = [n for n, kept in zip(self._row, names, strict=True) if kept]
            return self._of(names)
        if name not in self._row:
            _core.no_such_column("row", engine_names(self._row), str(name))
        return Row._single(self._row[name])

    def _of(self, names: Iterable[str]) -> Row:
        return Row({name: self[name] for name in names}, self._name)

    def __getattr__(self, name: str) -> Any:
        if is_probed(name) or name in Row.__slots__:
            raise AttributeError(f"row: no such column: name={name!r}")
        if name in self._row:
            return self[name]
        series = self._as_series(name)
        if not hasattr(series, name):
            raise AttributeError(f"row: no such column or method: name={name!r}")
        return getattr(series, name)

    def _as_series(self, what: str) -> Any:
        """The values as a series labelled by name."""
        from headrace.series.column import new_series

        try:
            if not is_mixed(self._row):
                numbers = all(isinstance(name, int | float) for name in self._row)
                names = self._row if numbers else engine_names(self._row)
                return new_series(dict(zip(names, self, strict=True)), self._name)
            raise TypeMismatchError(what)
        except (TypeMismatchError, InvalidArgumentError):
            raise AttributeError(
                f"row: no such column, and the values have no common dtype: name={what!r}; "
                f"the columns are {', '.join(engine_names(self._row))}"
            ) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row.values())

    @property
    def name(self) -> Any:
        """The label of the row; ``row["name"]`` is the value of a column of this name."""
        return self._name

    @property
    def index(self) -> Any:
        """The names."""
        return Row._index_of(self._row)

    @property
    def loc(self) -> Row:
        """The row itself: values by name."""
        return self

    @property
    def iloc(self) -> _Places:
        """Values by position."""
        return _Places(self)

    at = loc
    iat = iloc

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._row.keys()

    @property
    def values(self) -> Any:
        """The values as a NumPy array."""
        import numpy as np

        made = np.array(self.to_list())
        if made.dtype.kind in "biufM":
            return made
        made = np.empty(len(self), object)
        made[:] = self.to_list()
        return made

    def items(self) -> ItemsView[str, Any]:
        """Pairs of name and value."""
        return self._row.items()

    def to_list(self) -> list[Any]:
        """The values."""
        return list(self._row.values())

    tolist = to_list

    def drop(self, labels: Any) -> Row:
        """The row without some names."""
        gone = [labels] if isinstance(labels, str) else list(labels)
        self._of(gone)
        return self._of(name for name in self._row if name not in gone)

    def dropna(self) -> Row:
        """The row without missing values."""
        return self._of(name for name, value in self._row.items() if not is_missing(value))

    def map(self, function: Callable[[Any], Any]) -> Any:
        """What a function makes of each value."""
        made = Row({name: function(value) for name, value in self._row.items()}, self._name)
        try:
            return made._as_series("map")
        except AttributeError:
            return made

    apply = map

    def isna(self) -> Any:
        """Which values are missing."""
        return self.map(is_missing)

    def notna(self) -> Any:
        """Which values are there."""
        return self.map(lambda value: not is_missing(value))

    isnull = isna
    notnull = notna

    def _compared(self, other: Any, test: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(other, Mapping) and not hasattr(other, "to_dict"):
            return self.map(lambda value: bool(test(value, other)))
        named = dict(other.items())
        if list(named) != list(self._row):
            raise InvalidArgumentError(
                f"row: the names differ: names={list(self._row)}, other={list(named)}"
            )
        found = {name: bool(test(value, named[name])) for name, value in self._row.items()}
        return Row(found, self._name)._as_series("==")

    def equals(self, other: Any) -> bool:
        """Whether another row has the same names and values; missing values are equal."""
        if not isinstance(other, Row) or list(other._row) != list(self._row):
            return False
        return all(
            one == two or (is_missing(one) and is_missing(two))
            for one, two in zip(self, other, strict=True)
        )

    def __eq__(self, other: object) -> Any:
        return self._compared(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, operator.ne)

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, name: object) -> bool:
        return name in self._row

    def __len__(self) -> int:
        return len(self._row)

    def to_dict(self) -> dict[str, Any]:
        """Values by name."""
        return dict(self._row)

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self._row.items())})"

    def _repr_html_(self) -> str:
        return pairs_html(self._row)


class _Places:
    """``row.iloc``: values by position."""

    __slots__ = ("_row",)

    def __init__(self, row: Row) -> None:
        self._row = row

    def __getitem__(self, key: Any) -> Any:
        names = list(self._row.keys())
        if isinstance(key, slice | list):
            return self._row._of(
                names[key] if isinstance(key, slice) else [names[at] for at in key]
            )
        return self._row[names[operator.index(key)]]


def _of_series(name: str) -> Callable[..., Any]:
    def call(self: Row, *others: Any) -> Any:
        values = (each._as_series(name) if isinstance(each, Row) else each for each in others)
        return getattr(self._as_series(name), name)(*values)

    return call


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Row, f"__{_name}__", _of_series(f"__{_name}__"))
    setattr(Row, f"__r{_name}__", _of_series(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Row, f"__{_name}__", _of_series(f"__{_name}__"))
