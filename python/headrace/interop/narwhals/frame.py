# SPDX-License-Identifier: Apache-2.0
"""narwhals' frame over one of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Self

from narwhals._compliant import EagerDataFrame
from narwhals._utils import (
    Implementation,
    check_column_names_are_unique,
    convert_str_slice_to_int_slice,
    parse_columns_to_drop,
    scale_bytes,
)

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.frame.columns import frame_of, is_frame
from headrace.interop.exchange import from_arrow
from headrace.interop.narwhals.joins import Joins
from headrace.interop.narwhals.reshape import Reshape
from headrace.interop.narwhals.roles import Role
from headrace.interop.narwhals.rows import at_rows, positions_sorted, row_count, side_by_side, taken
from headrace.interop.narwhals.series import numpy_of, places_of, random_places
from headrace.lazy.handle import array_of
from headrace.series.column import new_series, series_of
from headrace.zone_names import zone_in


class HeadraceFrame(Joins, Reshape, Role, EagerDataFrame[Any, Any, Any, Any], role="frame"):  # type: ignore[misc]
    """Columns by name; rows have no labels here."""

    def __init__(self, native: Any, *, version: Any) -> None:
        self._native_frame = native
        self._version = version

    # ---- making ----------------------------------------------------------------------------------
    @staticmethod
    def _is_native(obj: Any) -> bool:
        return is_frame(obj)

    @classmethod
    def from_native(cls, data: Any, /, *, context: Any) -> Self:
        """A frame over one of ours; its labels stay behind, in the frame that was passed."""
        check_column_names_are_unique(list(data._nodes))
        return cls(data, version=context._version)

    @classmethod
    def from_arrow(cls, data: Any, /, *, context: Any) -> Self:
        """A frame over Arrow data."""
        if isinstance(data, Mapping):
            return cls.from_dict(data, context=context, schema=None)
        return cls.from_native(data if is_frame(data) else from_arrow(data), context=context)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], /, *, context: Any, schema: Any) -> Self:
        """A frame of columns by name, of the dtypes of a schema where it has them."""
        kinds = dict(schema or dict.fromkeys(data))
        if schema and not data:
            data = {name: [] for name in kinds}
        columns = [
            cls._series_role.from_iterable(data[name], context=context, name=name, dtype=kind)
            for name, kind in kinds.items()
        ]
        if not columns:
            return cls(frame_of({}), version=context._version)
        nodes = side_by_side(columns)
        return cls(frame_of(dict(zip(kinds, nodes, strict=True))), version=context._version)

    @classmethod
    def from_dicts(cls, data: Sequence[Mapping[str, Any]], /, *, context: Any, schema: Any) -> Self:
        """A frame of rows as dictionaries."""
        names = list(schema) if schema else list(dict.fromkeys(chain.from_iterable(data)))
        columns = {name: [row.get(name) for row in data] for name in names}
        return cls.from_dict(columns, context=context, schema=schema)

    @classmethod
    def from_numpy(cls, data: Any, /, *, context: Any, schema: Any) -> Self:
        """A frame of the columns of an array."""
        names = list(schema) if schema else cls._numpy_column_names(data, None)
        columns = {name: data[:, place] for place, name in enumerate(names)}
        kinds = schema if isinstance(schema, Mapping) else None
        return cls.from_dict(columns, context=context, schema=kinds)

    def _with_native(self, df: Any, *, validate_column_names: bool = True) -> Self:
        return type(self)(df, version=self._version)

    def _with_version(self, version: Any) -> Self:
        return type(self)(self.native, version=version)

    def _of(self, nodes: Mapping[Any, _core.Node]) -> Self:
        return type(self)(frame_of(dict(nodes)), version=self._version)

    def _of_every(self, nodes: Iterable[_core.Node]) -> Self:
        return self._of(dict(zip(self._nodes, nodes, strict=True)))

    def __narwhals_dataframe__(self) -> Self:
        return self

    def __narwhals_lazyframe__(self) -> Self:
        return self

    # ---- what it is ------------------------------------------------------------------------------
    @property
    def _nodes(self) -> Any:
        return self._native_frame._nodes

    @property
    def columns(self) -> list[Any]:
        """The names of columns."""
        return list(self._nodes)

    @property
    def schema(self) -> dict[str, Any]:
        """Narwhals' dtypes by name."""
        return {series.name: series.dtype for series in self.iter_columns()}

    def collect_schema(self) -> dict[str, Any]:
        """The same."""
        return self.schema

    def __len__(self) -> int:
        nodes = self._nodes
        return row_count(next(iter(nodes.values()))) if nodes else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self._nodes)

    def estimated_size(self, unit: str) -> int | float:
        """The bytes of the columns."""
        sizes = (series_of(node)._value().nbytes for node in self._nodes.values())
        return scale_bytes(sum(sizes), unit)

    def clone(self) -> Self:
        """Another handle on the same columns."""
        return self._of(self._nodes)

    # ---- columns ---------------------------------------------------------------------------------
    def get_column(self, name: Any) -> Any:
        """A column."""
        node = self._nodes[name]
        return self._series_role(series_of(node, name), name=name, version=self._version)

    def iter_columns(self) -> Iterator[Any]:
        """The columns."""
        return (self.get_column(name) for name in self._nodes)

    _iter_columns = iter_columns

    def simple_select(self, *column_names: str) -> Self:
        """Some columns."""
        if error := self._check_columns_exist(column_names):
            raise error
        return self._of({name: self._nodes[name] for name in column_names})

    def select(self, *exprs: Any) -> Self:
        """What expressions give, as columns."""
        series = self._evaluate_exprs(*exprs)
        if not series:
            return self._of({})
        names = [each.name for each in series]
        check_column_names_are_unique(names)
        return self._of(dict(zip(names, side_by_side(series), strict=True)))

    def with_columns(self, *exprs: Any) -> Self:
        """The frame with what expressions give, in addition or instead."""
        series = self._evaluate_exprs(*exprs)
        names = [each.name for each in series]
        check_column_names_are_unique(names)
        own = list(self.iter_columns())[:1]
        nodes = side_by_side([*own, *series])[len(own) :] if series else []
        return self._of({**self._nodes, **dict(zip(names, nodes, strict=True))})

    def drop(self, columns: Sequence[str], *, strict: bool) -> Self:
        """The frame without some columns."""
        gone = set(parse_columns_to_drop(self, columns, strict=strict))
        return self._of({name: node for name, node in self._nodes.items() if name not in gone})

    def rename(self, mapping: Mapping[str, str]) -> Self:
        """The frame with other names."""
        names = [mapping.get(name, name) for name in self._nodes]
        check_column_names_are_unique(names)
        return self._of(dict(zip(names, self._nodes.values(), strict=True)))

    def with_row_index(self, name: str, order_by: Sequence[str] | None) -> Self:
        """The number of each row, in its order or by some columns, as the first column."""
        import numpy as np

        numbers = np.arange(len(self))
        if order_by:
            places = self._order(list(order_by))
            found = np.empty_like(numbers)
            found[array_of(places).to_numpy()] = numbers
            numbers = found
        first = new_series(numbers)._node
        like = next(iter(self._nodes.values()), first)
        return self._of({name: at_rows(first, like), **self._nodes})

    def _select_multi_index(self, columns: Any) -> Self:
        places = columns.to_list() if hasattr(columns, "to_list") else columns
        names = self.columns
        return self.simple_select(*(names[int(place)] for place in places))

    def _select_multi_name(self, columns: Any) -> Self:
        names = columns.to_list() if hasattr(columns, "to_list") else columns
        return self.simple_select(*(str(name) for name in names))

    def _select_slice_index(self, columns: Any) -> Self:
        return self.simple_select(*self.columns[columns.start : columns.stop : columns.step])

    def _select_slice_name(self, columns: Any) -> Self:
        return self.simple_select(
            *self.columns[slice(*convert_str_slice_to_int_slice(columns, self.columns))]
        )

    # ---- rows ------------------------------------------------------------------------------------
    def _picked(self, positions: Any) -> Self:
        return self._of_every(taken(list(self._nodes.values()), positions))

    def _gather(self, rows: Any) -> Self:
        return self._picked(places_of(rows, len(self)))

    def _gather_slice(self, rows: Any) -> Self:
        begin, stop, step = slice(rows.start, rows.stop, rows.step).indices(len(self))
        if step != 1:
            return self._picked(range(begin, stop, step))
        nodes = list(self._nodes.values())
        count, domain = max(stop - begin, 0), _core.new_domain()
        return self._of_every(_core.slice_columns(nodes, begin, count, domain) if nodes else [])

    def filter(self, predicate: Any) -> Self:
        """The rows where a condition holds."""
        if isinstance(predicate, list):
            mask = new_series(predicate)._node
        else:
            found = self._evaluate_single_output_expr(predicate)
            if found._broadcast:
                first = next(self.iter_columns())
                mask = side_by_side([first, found])[1]
            else:
                mask = found.node
        nodes = list(self._nodes.values())
        mask = at_rows(mask, nodes[0]) if nodes else mask
        return self._of_every(_core.filter_columns(nodes, mask) if nodes else [])

    def head(self, n: int) -> Self:
        """The first rows, or all but the last."""
        if n < 0:
            return self._gather_slice(slice(n))
        nodes = list(self._nodes.values())
        return self._of_every(_core.prefix(nodes, n, _core.new_domain()) if nodes else [])

    def tail(self, n: int) -> Self:
        """The last rows, or all but the first."""
        return self._gather_slice(slice(-n, None) if n else slice(0, 0))

    def gather_every(self, n: int, offset: int) -> Self:
        """Every n-th row."""
        return self._gather_slice(slice(offset, None, n))

    def sample(self, n: int, *, with_replacement: bool, seed: int | None) -> Self:
        """Random rows."""
        return self._picked(random_places(len(self), n, with_replacement, seed))

    def drop_nulls(self, subset: Sequence[str] | None) -> Self:
        """The rows without null."""
        names = self.columns if subset is None else list(subset)
        if error := self._check_columns_exist(names):
            raise error
        kept = None
        for name in names:
            there = ~series_of(self._nodes[name]).is_null()
            kept = there if kept is None else kept & there
        if kept is None:
            return self
        return self._of_every(_core.filter_columns(list(self._nodes.values()), kept._node))

    def _order(self, by: Sequence[str], descending: Any = False, nulls_last: bool = False) -> Any:
        falls = [descending] * len(by) if isinstance(descending, bool) else list(descending)
        return positions_sorted([self._nodes[name] for name in by], falls, nulls_last)

    def sort(self, *by: str, descending: bool | Sequence[bool], nulls_last: bool) -> Self:
        """The rows in order of some columns."""
        return self._picked(self._order(by, descending, nulls_last))

    def top_k(self, k: int, *, by: Iterable[str], reverse: bool | Sequence[bool]) -> Self:
        """The rows with the largest values of some columns, or the smallest."""
        rises = [reverse] if isinstance(reverse, bool) else list(reverse)
        names = list(by)
        falls = [not each for each in (rises * len(names) if len(rises) == 1 else rises)]
        return self.sort(*names, descending=falls, nulls_last=True).head(k)

    # ---- values ----------------------------------------------------------------------------------
    def item(self, row: int | None, column: int | str | None) -> Any:
        """The only value, or that of a row and a column."""
        if row is None and column is None:
            if self.shape != (1, 1):
                raise ValueError(
                    'can only call `.item()` without "row" or "column" values if the '
                    f"DataFrame has a single element; shape={self.shape!r}"
                )
            row, column = 0, 0
        if row is None or column is None:
            raise ValueError("cannot call `.item()` with only one of `row` or `column`")
        name = column if isinstance(column, str) else self.columns[column]
        return self.get_column(name).item(row)

    def row(self, index: int) -> tuple[Any, ...]:
        """The values of a row."""
        return tuple(each.item(index) for each in self.iter_columns())

    def rows(self, *, named: bool) -> list[Any]:
        """The values of all rows."""
        _core.force(list(self._nodes.values()))
        columns = [series.to_list() for series in self.iter_columns()]
        found = list(zip(*columns, strict=True))
        return [dict(zip(self.columns, row, strict=True)) for row in found] if named else found

    def iter_rows(self, *, named: bool, buffer_size: int) -> Iterator[Any]:
        """The same, one by one."""
        return iter(self.rows(named=named))

    def to_dict(self, *, as_series: bool) -> dict[str, Any]:
        """The columns by name."""
        return {s.name: s if as_series else s.to_list() for s in self.iter_columns()}

    def to_numpy(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        """The values as a matrix."""
        return self.__array__(dtype, copy=copy)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        import numpy as np

        frame = self._plain()
        if any(zone_in(node.dtype) or node.nullable for node in self._nodes.values()):
            columns = [numpy_of(series_of(node)) for node in self._nodes.values()]
            made = np.column_stack(columns)
            return made if dtype is None else made.astype(dtype)
        return frame.to_numpy(dtype)

    def _plain(self) -> Any:
        return frame_of(self._nodes)

    def to_arrow(self) -> Any:
        """The columns as an Arrow table, on the same memory."""
        return self._plain().to_arrow()

    def to_pandas(self) -> Any:
        """The columns as a frame of pandas."""
        return self._plain().to_pandas()

    def to_polars(self) -> Any:
        """The columns as a frame of Polars."""
        import polars

        return polars.DataFrame(self._plain())

    def write_csv(self, file: Any) -> str | None:
        """Write a CSV file; without a path the text."""
        made: str | None = self._plain().to_csv(file, index=False)
        return made

    def write_parquet(self, file: Any) -> None:
        """Write a Parquet file."""
        self._plain().to_parquet(file)

    # ---- other backends --------------------------------------------------------------------------
    def lazy(self, backend: Any = None, *, session: Any = None) -> Any:
        """The frame itself, which is lazy; or one of another backend, by Arrow."""
        if backend is None:
            return self
        return self._elsewhere(self.to_arrow()).lazy(backend, session=session)

    def _elsewhere(self, native: Any) -> Any:
        """A frame of another library in narwhals' protocol."""
        return self._version.namespace.from_native_object(native).compliant.from_native(native)

    def collect(self, backend: Any, **kwargs: Any) -> Any:
        """The frame itself, or one of another backend."""
        if backend is None:
            return self
        found = {
            Implementation.PYARROW: self.to_arrow,
            Implementation.PANDAS: self.to_pandas,
            Implementation.POLARS: self.to_polars,
        }.get(backend)
        if found is None:
            raise UnsupportedError(f"collect: no way to this backend: backend={backend}")
        return self._elsewhere(found())

    def group_by(self, keys: Any, *, drop_null_keys: bool) -> Any:
        """The rows by the values of keys."""
        return self._groups_role(self, keys, drop_null_keys=drop_null_keys)
