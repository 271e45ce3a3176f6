# SPDX-License-Identifier: Apache-2.0
"""Functions of strings for narwhals."""

from __future__ import annotations

from typing import Any

from narwhals._compliant.any_namespace import StringNamespace
from narwhals._compliant.series import EagerSeriesNamespace
from narwhals._utils import str_slice_stop

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.interop.narwhals.rows import null_column
from headrace.series.column import series_of
from headrace.series.parse_times import first_text, to_datetime

#: How times are written in digits alone, by their number.
_DIGITS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


class Strings(EagerSeriesNamespace, StringNamespace):  # type: ignore[misc]
    """``.str`` of a series of strings."""

    def _of(self, made: Any) -> Any:
        return self.compliant._kept(made._node)

    def _word(self, op: str, value: Any) -> str | None:
        """The single string of an argument; None if it is null."""
        if isinstance(value, str):
            return value
        if not value._broadcast:
            raise UnsupportedError(
                f"str.{op}: expected a string, not a column: dtype={value.native.dtype!s}; call "
                "it once for each string"
            )
        (word,) = value.to_list()
        return word

    def _nulls(self, dtype: str) -> Any:
        return self.compliant._kept(null_column(self.compliant.node, dtype)._node)

    def len_chars(self) -> Any:
        """The number of characters."""
        return self._of(self.native.str.len().astype("uint32"))

    def replace(self, value: Any, pattern: str, *, literal: bool, n: int) -> Any:
        """The strings with the first matches of a pattern replaced."""
        if hasattr(value, "_broadcast") and not value._broadcast:
            return self._replaced_by_column(value, pattern, literal, n)
        word = self._word("replace", value)
        if word is None:
            return self._nulls("string")
        return self._of(self.native.str.replace(pattern, word, n=n, regex=not literal))

    def _replaced_by_column(self, value: Any, pattern: str, literal: bool, n: int) -> Any:
        """Each string with matches replaced by its row's value: by mask, once a distinct value."""
        from headrace.interop.narwhals.rows import at_rows, chosen

        own = self.native
        theirs = series_of(at_rows(value.node, own._node))
        made = series_of(null_column(own._node, "string")._node)
        for word in theirs.unique().to_list():
            if word is not None:
                fresh = own.str.replace(pattern, word, n=n, regex=not literal)
                made = series_of(chosen(theirs == word, fresh, made))
        return self._of(made)

    def replace_all(self, value: Any, pattern: str, *, literal: bool) -> Any:
        """The strings with all matches of a pattern replaced."""
        return self.replace(value, pattern, literal=literal, n=-1)

    def strip_chars(self, characters: str | None) -> Any:
        """The strings without characters, by default white space, at both ends."""
        return self._of(self.native.str.strip(characters))

    def strip_chars_start(self, characters: str | None = None) -> Any:
        """The strings without characters at the front."""
        return self._of(self.native.str.lstrip(characters))

    def strip_chars_end(self, characters: str | None = None) -> Any:
        """The strings without characters at the end."""
        return self._of(self.native.str.rstrip(characters))

    def _tested(self, op: str, pattern: Any, test: Any) -> Any:
        if hasattr(pattern, "_broadcast") and not pattern._broadcast:
            from headrace.interop.narwhals.rows import at_rows, chosen

            own = self.native
            theirs = series_of(at_rows(pattern.node, own._node))
            made = series_of(null_column(own._node, "bool")._node)
            for word in theirs.unique().to_list():
                if word is not None:
                    made = series_of(chosen(theirs == word, test(word), made))
            return self._of(made)
        word = self._word(op, pattern)
        return self._nulls("bool") if word is None else self._of(test(word))

    def starts_with(self, prefix: Any) -> Any:
        """Whether the strings begin with another."""
        own = self.native.str
        return self._tested("starts_with", prefix, lambda word: own.startswith(word, na=None))

    def ends_with(self, suffix: Any) -> Any:
        """Whether the strings end with another."""
        own = self.native.str
        return self._tested("ends_with", suffix, lambda word: own.endswith(word, na=None))

    def contains(self, pattern: Any, *, literal: bool) -> Any:
        """Whether the strings contain a pattern."""
        own = self.native.str
        return self._tested(
            "contains", pattern, lambda word: own.contains(word, na=None, regex=not literal)
        )

    def slice(self, offset: int, length: int | None) -> Any:
        """Some characters of each string."""
        return self._of(self.native.str.slice(offset, str_slice_stop(offset, length)))

    def split(self, by: str) -> Any:
        """The strings cut at another, as lists."""
        node = _core.split_text(self.native._node, by, -1, False)
        return self.compliant._kept(node)

    def to_datetime(self, format: str | None) -> Any:
        """The strings read as times."""
        return self._of(_times(self.native, format))

    def to_date(self, format: str | None) -> Any:
        """The strings read as dates."""
        return self._of(_times(self.native, format).astype("date"))

    def to_time(self, format: str | None) -> Any:
        """Refused: there are no columns of times of day."""
        raise UnsupportedError(
            f"str.to_time: no column of times of day: format={format!r}; use to_datetime"
        )

    def to_uppercase(self) -> Any:
        """The strings in capital letters."""
        return self._of(self.native.str.upper())

    def to_lowercase(self) -> Any:
        """The strings in small letters."""
        return self._of(self.native.str.lower())

    def to_titlecase(self) -> Any:
        """The strings with a capital at the front of each word."""
        return self._of(self.native.str.title())

    def zfill(self, width: int) -> Any:
        """The strings filled with zeros behind their sign."""
        return self._of(self.native.str.zfill(width))

    def pad_start(self, length: int, fill_char: str) -> Any:
        """The strings filled at the front."""
        return self._of(self.native.str.rjust(length, fill_char))

    def pad_end(self, length: int, fill_char: str) -> Any:
        """The strings filled at the end."""
        return self._of(self.native.str.ljust(length, fill_char))


def _times(values: Any, format: str | None) -> Any:
    if format is None and (first_text(values) or "").isdigit():
        format = _DIGITS.get(len(first_text(values) or ""))
    return to_datetime(values, format=format)
