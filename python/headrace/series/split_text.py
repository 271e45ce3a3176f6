# SPDX-License-Identifier: Apache-2.0
"""Text functions that call Python for each string, and the pieces of split strings."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, new_frame
from headrace.lazy.advice import row_by_row
from headrace.series.column import is_labelled, labelled_series, new_series, with_rows_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def of_each(
    series: Series, op: str, function: Callable[[str], Any], dtype: str | None = None
) -> Series:
    """The results of a Python function of each string; null for null."""
    values = called(series, op, function)
    made = new_series(values, dtype=dtype)
    return series._like(with_rows_of(made, series._node)._node)  # type: ignore[no-any-return]


def called(series: Series, op: str, function: Callable[[str], Any]) -> list[Any]:
    """The results of a Python function of each string; None for null."""
    row_by_row(op, "use methods that work on whole columns where there are some")
    start = time.perf_counter()
    made = [None if each is None else function(each) for each in series.to_list()]
    _core.record_fallback(op, "Python called per string", time.perf_counter() - start)
    return made


def split_function(
    pat: str | re.Pattern[str] | None, n: int, from_right: bool, regex: bool | None
) -> Callable[[str], list[str]]:
    """How a string is split, as pandas does: a single character literally, else by `regex`."""
    most = -1 if n <= 0 else n
    if pat is None or pat == "":
        return (lambda s: s.rsplit(None, most)) if from_right else (lambda s: s.split(None, most))
    compiled = isinstance(pat, re.Pattern)
    if compiled or regex or (regex is None and len(str(pat)) > 1 and not from_right):
        pattern = re.compile(pat)
        return lambda s: pattern.split(s, maxsplit=max(most, 0))
    literal = str(pat)
    if from_right:
        return lambda s: s.rsplit(literal, most)
    return lambda s: s.split(literal, most)


def columns_of_pieces(series: Series, pieces: list[list[Any] | None], width: int = 0) -> DataFrame:
    """One column for each place in the lists, null where a list is shorter."""
    width = max([width, *(len(each) for each in pieces if each is not None)])
    rows = [[*(each or ()), *[None] * (width - len(each or ()))] for each in pieces]
    turned = list(zip(*rows, strict=True)) or [()] * width
    labels = framed(series)._labels if is_labelled(series) else {}
    return frame_of(
        {
            str(at): with_rows_of(new_series(list(column), dtype="string"), series._node)._node
            for at, column in enumerate(turned)
        },
        labels,
    )


class SplitText:
    """The pieces of each string, from ``series.str.split(...)``: read them by ``.str``.

    A column of lists does not exist yet: `str.split` with ``expand=True`` gives columns.

    >>> import headrace as hr
    >>> words = hr.Series(["ann lee", "bob"]).str.split(" ")
    >>> words.str[0].to_list(), words.str.len().to_list(), words.to_list()
    (['ann', 'bob'], [2, 1], [['ann', 'lee'], ['bob']])
    """

    __slots__ = ("_pieces", "_series")

    def __init__(self, series: Series, pieces: list[list[str] | None]) -> None:
        self._series, self._pieces = series, pieces

    def _made(self, values: list[Any], dtype: str) -> Series:
        made = with_rows_of(new_series(values, dtype=dtype), self._series._node)
        return self._series._like(made._node)  # type: ignore[no-any-return]

    @property
    def str(self) -> SplitText:
        """The pieces by place, as `get` and `len` below."""
        return self

    def get(self, i: int) -> Series:
        """The piece at a place, from the end if negative; null if there is none."""
        return self._made(
            [
                each[i] if each is not None and -len(each) <= i < len(each) else None
                for each in self._pieces
            ],
            "string",
        )

    def __getitem__(self, i: int) -> Series:
        if not isinstance(i, int):
            raise InvalidArgumentError(f"split: expected the place of a piece: key={i!r}")
        return self.get(i)

    def len(self) -> Series:
        """The number of pieces."""
        return self._made([None if e is None else e.__len__() for e in self._pieces], "int64")

    def join(self, sep: Any) -> Series:
        """The pieces of each string with `sep` between them."""
        return self._made([None if e is None else sep.join(e) for e in self._pieces], "string")

    def explode(self) -> Series:
        """One row for each piece, labelled by the row it is from."""
        labels = framed(self._series)._labels if is_labelled(self._series) else {}
        counts = [1 if not each else each.__len__() for each in self._pieces]
        rows = [at for at, count in enumerate(counts) for _ in range(count)]
        nothing: list[Any] = [None]
        values = [piece for each in self._pieces for piece in (each or nothing)]
        keys = {"index": list(range(counts.__len__()))}
        if labels:
            lists = new_frame(frame_of(dict(labels))).to_dict()
            keys = {name: lists[name] for name in labels}
        named = {name: [column[row] for row in rows] for name, column in keys.items()}
        word = self._series.name or "value"
        made = new_frame({**named, word: new_series(values, dtype="string")}).set_index(list(named))
        return labelled_series(made, self._series.name)

    def to_list(self) -> list[Any]:
        """Lists of pieces; None for null."""
        return list(self._pieces)

    tolist = to_list

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return self._pieces.__len__()

    def __repr__(self) -> Any:
        shown = "\n".join(f"  {each}" for each in itertools.islice(self._pieces, 10))
        return f"split strings: ({len(self._pieces)})\n{shown}"
