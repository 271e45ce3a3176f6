# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that exports values to files and other libraries."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import ExchangeError, InvalidArgumentError, TypeMismatchError
from headrace.frame.apply import sent
from headrace.lazy.handle import mark
from headrace.memory.tables import size_text
from headrace.series.series import Series
from headrace.series.strings import is_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.lazy.profile import Explanation


class FrameExports:
    """Exports of a frame."""

    __slots__ = ()

    # ---- looking ---------------------------------------------------------------------------------
    def _table(self: Any) -> _core.Table:
        nodes = list(self._nodes.values())
        _core.force(nodes)
        return _core.Table(self.columns, [node.value() for node in nodes])

    def explain(self: Any, analyze: bool = False, *, passes: bool = False) -> Explanation:
        """The steps that evaluating all columns would take, with the passes over the data.

        Filters are shown where they are applied: ``read_csv [file where (x > 5)]``, ``getitem
        [mask, before merge]``. With `analyze` the steps run, and each line reports time, rows,
        bytes (both with their predictions), memory in use, and what a memory limit moved. With
        `passes` the plan is shown before and after each optimizer pass that changes it. Notebooks
        show a table.
        """
        from headrace.lazy.profile import explain

        return explain(list(self._nodes.values()), analyze, passes)

    def to_dict(self: Any, orient: str = "list") -> Any:
        """Python values: lists by name, or in the form given by `orient`.

        Parameters
        ----------
        orient : {"list", "records", "dict", "index", "split"}
            ``{name: [value]}``; one dictionary per row; ``{name: {label: value}}``; ``{label:
            {name: value}}``; columns, index and data separately.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2], "b": ["x", None]}).to_dict("records")
        [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
        """
        self._table()
        lists = {name: Series(node).to_list() for name, node in self._nodes.items()}
        if orient == "list":
            return lists
        rows = zip(*lists.values(), strict=True)
        if orient == "records":
            return [dict(zip(lists, row, strict=True)) for row in rows]
        index = [Series(node).to_list() for node in self._labels.values()]
        several = list(zip(*index, strict=True)) if len(index) > 1 else None
        plain: list[Any] = index[0] if index else [*range(len(self))]
        labels: list[Any] = several or plain
        shown = {name: values for name, values in lists.items() if name not in self._labels}
        if orient == "dict":
            return {n: dict(zip(labels, values, strict=True)) for n, values in shown.items()}
        rows = zip(*shown.values(), strict=True)
        if orient == "index":
            each = (dict(zip(shown, row, strict=True)) for row in rows)
            return dict(zip(labels, each, strict=True))
        if orient == "split":
            return {"index": labels, "columns": list(shown), "data": [list(row) for row in rows]}
        raise InvalidArgumentError(
            f"to_dict: invalid value: orient={orient!r}; expected 'list', 'records', "
            "'dict', 'index' or 'split'"
        )

    def to_csv(
        self: Any,
        path: str | PathLike[str] | None = None,
        *,
        index: bool | None = None,
        **options: Any,
    ) -> str | None:
        r"""Write a CSV file; see `headrace.io.csv.write_csv`. Without a path, return the text.

        Label columns are written as columns; ``index=True`` includes hidden ones, ``index=False``
        writes none.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2], "b": ["x", None]}).to_csv()
        'a,b\n1,x\n2,\n'
        """
        from headrace.io.csv import write_csv

        frame = self if index is None else self.reset_index(drop=not index)
        if path is not None:
            write_csv(frame, path, **options)
            return None
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "text.csv"
            write_csv(frame, file, durable=False, **options)
            return file.read_bytes().decode()

    @property
    def values(self: Any) -> np.ndarray[Any, Any]:
        """The same as `to_numpy`.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2], "y": [3, 4]}).values
        array([[1, 3],
               [2, 4]])
        """
        return self.to_numpy()  # type: ignore[no-any-return]

    def to_string(self: Any) -> str:
        """All rows and columns in the format of `print`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> print(df.to_string())
        shape: (3, 2)
        ┌───────┬─────────┐
        │ x     ┆ y       │
        │ int64 ┆ float64 │
        ╞═══════╪═════════╡
        │     1 ┆     1.5 │
        │     2 ┆    null │
        │     6 ┆     2.5 │
        └───────┴─────────┘
        """
        from headrace.display import frame_text

        return frame_text(self, whole=True)

    def to_html(self: Any) -> str:
        """All rows and columns as an HTML table."""
        from headrace.display import frame_html

        return frame_html(self, whole=True)

    def memory_usage(self: Any, *, deep: bool = True) -> Any:
        """Bytes of each column: values, validity and text; `deep` has no effect; evaluates.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.memory_usage().to_dict()
        {'x': 24, 'y': 25}
        """
        from headrace.frame.column_reductions import column_values

        self._table()
        return column_values({name: self[name].nbytes for name in self._nodes}, "memory_usage")

    def info(self: Any) -> None:
        """Print names, dtypes, non-null counts and total bytes; evaluates."""
        self._table()
        counts = {name: self[name].count() for name in self._nodes}
        width = max((len(name) for name in counts), default=0)
        print(f"DataFrame: {len(self):,} rows, {len(counts)} columns")
        for name, count in counts.items():
            present = f"{int(count):,} non-null"
            label = ", label" if name in self._labels else ""
            print(f"  {name.ljust(width)}  {present.rjust(16)}  {self[name].dtype}{label}")
        print(f"memory: {size_text(sum(self[name].nbytes for name in self._nodes))}")

    def to_parquet(self: Any, path: str | PathLike[str], **options: Any) -> None:
        """Write a Parquet file; see `headrace.io.parquet.write_parquet`."""
        from headrace.io.parquet import write_parquet

        write_parquet(self, path, **options)

    def to_numpy(self: Any) -> np.ndarray[Any, Any]:
        """A two-dimensional NumPy array of all columns but labels; the ledger records the copy.

        The dtype is NumPy's promotion of the columns; object for strings, categories, or times
        mixed with numbers.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2], "y": [0.5, 1.5]}).to_numpy()
        array([[1. , 0.5],
               [2. , 1.5]])
        """
        import numpy as np

        self._table()
        nodes = [self._nodes[name] for name in self._unlabelled()]
        columns = [Series(node).to_numpy() for node in nodes]
        try:
            dtype = np.result_type(*columns) if columns else np.dtype("float64")
        except TypeError:  # times and numbers
            dtype = np.dtype(object)
        for i, (column, node) in enumerate(zip(columns, nodes, strict=True)):
            # NumPy itself would convert nanoseconds to integers.
            if dtype.kind == "O" and column.dtype.kind in "mM":
                columns[i] = np.empty(len(column), object)
                columns[i][:] = Series(node).to_list()
        size = len(self) * len(columns) * dtype.itemsize
        _core.record_copy("to_numpy", "columns gathered into one array", size, False)
        if not columns:
            return np.empty((0, 0))
        made = np.empty((len(self), len(columns)), dtype)
        for i, column in enumerate(columns):
            made[:, i] = column
        return made

    def to_array(self: Any) -> Array:
        """All columns but labels, which must be numeric, as one lazy two-dimensional array.

        The dtype is NumPy's promotion of the columns; nulls become NaN in floats and raise in
        integers. Several columns need one copy (column-major), a single one none. `hr.asarray`,
        DLPack and `to_torch` use it too.

        >>> import headrace as hr
        >>> x = hr.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5]}).to_array()
        >>> x.shape, x[:, 0].tolist()
        ((3, 2), [1.0, 2.0, 3.0])
        """
        import numpy as np

        from headrace.array.array import Array

        mark("to_array")
        columns = [Series(self._nodes[name], name) for name in self._unlabelled()]
        wrong = [str(c.name) for c in columns if c.dtype.kind not in "biuf"]
        if wrong or not columns:
            raise TypeMismatchError(
                f"to_array: expected numeric columns: others={wrong}; select the numeric "
                "ones: df[[...]]"
            )
        dtype = np.result_type(*(np.dtype(c.dtype) for c in columns))
        word = "uint8" if dtype.kind == "b" else dtype.name
        cast = [c.astype(word) for c in columns]
        if dtype.kind == "f":
            cast = [c.fill_null(float("nan")) if c._node.nullable else c for c in cast]
        nodes = [c._node for c in cast]
        if len(nodes) > 1:
            rows = nodes[0].shape[0]
            size = max(rows, 0) * len(nodes) * dtype.itemsize
            _core.record_copy("to_array", "columns gathered into one array", size, False)
            nodes = [_core.concat(nodes)]
        made: Array = Array(_core.as_tensor(nodes[0])).reshape(len(columns), -1).T
        return made.astype("bool") if dtype.kind == "b" else made

    def to_torch(self: Any) -> Any:
        """A two-dimensional PyTorch tensor on the memory of `to_array`."""
        return self.to_array().to_torch()

    def __dlpack__(self: Any, **options: Any) -> Any:
        return self.to_array().__dlpack__(**options)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        return self.to_array().__dlpack_device__()  # type: ignore[no-any-return]

    def __array__(
        self: Any, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ExchangeError(
                "__array__: a frame needs a copy to become one array: copy=False; pass copy=None"
            )
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)  # type: ignore[no-any-return]

    def to_arrow(self: Any) -> Any:
        """A pyarrow table on the same memory.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.to_arrow().num_rows
        3
        """
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self: Any) -> Any:
        """A pandas frame; numbers without nulls share memory. Labels become its index.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> type(df.to_pandas()).__name__
        'DataFrame'
        """
        import pandas as pd

        self._table()
        columns = {n: Series(self._nodes[n], n).to_pandas() for n in self._unlabelled()}
        made = pd.DataFrame(columns, copy=False) if columns else pd.DataFrame()
        labels = {name: Series(node) for name, node in self._labels.items()}
        if labels:  # pandas looks up objects, not Arrow strings
            found = [v.to_numpy() if is_text(v) else v.to_pandas() for v in labels.values()]
            many = len(found) > 1
            made.index = (
                pd.MultiIndex.from_arrays(found, names=list(labels))
                if many
                else pd.Index(found[0], name=next(iter(labels)))
            )
        return sent(made)

    def __arrow_c_schema__(self: Any) -> Any:
        return self._table().__arrow_c_schema__()

    def __arrow_c_device_array__(self: Any, requested_schema: Any = None, **kwargs: Any) -> Any:
        nodes = list(self._nodes.values())
        _core.force(nodes)
        table = _core.Table(self.columns, [_core.value_there(node) for node in nodes])
        return table.__arrow_c_device_array__(requested_schema)

    def __arrow_c_stream__(self: Any, requested_schema: Any = None) -> Any:
        return self._table().__arrow_c_stream__(requested_schema)

    def __repr__(self: Any) -> str:
        from headrace.display import frame_text

        return frame_text(self)

    def _repr_html_(self: Any) -> str:
        from headrace.display import frame_html

        return frame_html(self)
