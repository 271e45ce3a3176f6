# SPDX-License-Identifier: Apache-2.0
"""The `Series.str` accessor of strings and categories."""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.facade import facade
from headrace.frame.columns import frame_of, framed
from headrace.lazy.advice import row_by_row
from headrace.lazy.handle import Deferred, mark
from headrace.rows import whole_number
from headrace.series.column import is_labelled, new_series, series_of, with_rows_of
from headrace.series.nested import ListAccessor, rows_of_matches
from headrace.text.ip_addresses import AddressAccessor

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def is_text(value: Any) -> bool:
    """A str, or a column of strings or categories."""
    is_column = isinstance(value, Deferred)
    return isinstance(value, str) or (is_column and value._node.item_dtype == "string")


#: Inline letters of Python's `re` flags.
_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.ASCII: "a"}


def _pattern(op: str, pat: Any, case: bool = True, flags: int = 0) -> tuple[str, str]:
    """A pattern, given as a string or compiled, and its flags as inline letters."""
    if isinstance(pat, str) and case and not flags:
        return pat, ""
    if isinstance(pat, re.Pattern):
        flags |= pat.flags & ~re.UNICODE
        pat = pat.pattern
    pattern = _text(op, pat)
    if not case:
        flags |= re.IGNORECASE
    if flags & ~sum(_FLAGS):
        raise UnsupportedError(f"{op}: unsupported flag: flags={re.RegexFlag(flags)!r}")
    return pattern, "".join(letter for flag, letter in _FLAGS.items() if flags & flag)


def _compiled(pat: Any, case: bool, flags: int) -> re.Pattern[str]:
    """A pattern, given as a string or compiled, of Python's `re`."""
    return re.compile(pat, flags | (0 if case else re.IGNORECASE))


def _check_lacking(error: Exception, pat: Any) -> None:
    """Raise an error of the engine again unless it is of a pattern that Python's `re` takes."""
    try:
        re.compile(pat)
    except (re.error, TypeError):
        raise error from None
    if "invalid RE2 pattern" not in str(error) and "flag" not in str(error):
        raise error


def _text(op: str, value: Any, name: str = "pattern") -> str:
    if not isinstance(value, str):
        raise TypeMismatchError(f"{op}: expected a string: {name}={value!r}")
    return value


@facade("Series.str")
class TextAccessor(AddressAccessor):
    r"""String methods on each value of a column; null stays null, and tests of it are false.

    Characters count as in Python. For categories each distinct string is processed once. Regular
    expressions are RE2's, in linear time: ``\d``, ``\w``, ``\s`` and ``\b`` mean ASCII, ``$`` the
    very end. Patterns that it lacks (lookaround, backreferences) call Python for each string.
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_text(series):
            raise TypeMismatchError(
                f"str: expected a string column: dtype={str(series.dtype)!r}; use "
                "astype('string') first"
            )
        self._series = series

    def _made(self, node: _core.Node) -> Series:
        return self._series._like(node)

    def _test(self, test: str, pattern: Any, na: bool | None = False) -> Series:
        patterns = [_text(test, each) for each in _several(test, pattern)]
        return self._filled(_core.test_text(test, self._series._node, patterns), na)

    def _matches(self, op: str, pat: Any, case: bool, flags: int, na: bool | None) -> Series:
        made = self._by_regex(
            op,
            pat,
            lambda: _core.test_regex(op, self._series._node, *_pattern(op, pat, case, flags)),
            lambda s: bool(getattr(_compiled(pat, case, flags), op)(s)),
            "bool",
        )
        return made if na is None else made.fill_null(na)

    def _filled(self, node: _core.Node, na: bool | None) -> Series:
        found = self._made(node)
        return found if na is None else found.fill_null(na)

    def contains(
        self,
        pat: str | re.Pattern[str],
        case: bool = True,
        flags: int = 0,
        na: bool | None = False,
        regex: bool = True,
    ) -> Series:
        """True where a string contains `pat`.

        Parameters
        ----------
        pat : str or compiled pattern
            A regular expression, or, without `regex`, a literal string.
        case : bool
            Whether to match case.
        flags : int
            ``re.I``, ``re.M``, ``re.S``.
        na : bool, optional
            The result for a null; None leaves it null.
        regex : bool
            Whether `pat` is a regular expression.

        Raises
        ------
        InvalidArgumentError
            For an invalid pattern.

        >>> hr.Series(["steel nut", "brass nut"]).str.contains("^st.*t$").to_list()
        [True, False]
        """
        is_regex = regex or isinstance(pat, re.Pattern)

        def make() -> _core.Node:
            words = _pattern("contains", pat, case, flags)
            return _core.contains_pattern(self._series._node, *words, is_regex)

        made = self._by_regex(
            "contains", pat, make, lambda s: bool(_compiled(pat, case, flags).search(s)), "bool"
        )
        return made if na is None else made.fill_null(na)

    def match(
        self,
        pat: str | re.Pattern[str],
        case: bool = True,
        flags: int = 0,
        na: bool | None = False,
    ) -> Series:
        """True where a string starts with a match of the regular expression; see `contains`.

        >>> hr.Series(["a1", "1a"]).str.match("[0-9]").to_list()
        [False, True]
        """
        return self._matches("match", pat, case, flags, na)

    def fullmatch(
        self,
        pat: str | re.Pattern[str],
        case: bool = True,
        flags: int = 0,
        na: bool | None = False,
    ) -> Series:
        r"""True where the regular expression matches the whole string; see `contains`.

        >>> hr.Series(["a1", "a12"]).str.fullmatch(r"[a-z]\d").to_list()
        [True, False]
        """
        return self._matches("fullmatch", pat, case, flags, na)

    def extract(
        self, pat: str | re.Pattern[str], flags: int = 0, expand: bool = True
    ) -> DataFrame | Series:
        r"""The groups of the first match, as columns of a frame with the same rows.

        Columns have the groups' names, or their numbers from 0 on. Null if there is no match
        or the group did not participate. The strings are shared, not copied. With ``expand=False``
        a single group gives a series.

        >>> hr.Series(["a1", "b22", "c"]).str.extract(r"(?P<letter>[ab])(\d+)").to_dict()
        {'letter': ['a', 'b', None], 1: ['1', '22', None]}
        """
        found = _core.extract_regex(self._series._node, *_pattern("extract", pat, True, flags))
        if not expand and len(found) == 1:
            return self._made(found[0][1])
        return frame_of({int(name) if name.isdigit() else name: node for name, node in found})

    def replace(
        self,
        pat: str | re.Pattern[str],
        repl: str | Callable[[re.Match[str]], str],
        n: int = -1,
        case: bool = True,
        flags: int = 0,
        regex: bool = False,
    ) -> Series:
        r"""Replace `pat` by `repl`: all matches, or the first `n` of each string.

        Parameters
        ----------
        pat : str or compiled pattern
            A literal string, or, with `regex`, a regular expression.
        repl : str or callable
            With `regex`, ``\1``, ``\g<1>`` and ``\g<name>`` refer to groups, or a function of a
            match of Python's `re`, called for each.
        n : int
            Maximum number of replacements; all if negative.
        case, flags, regex
            As in `contains`.

        >>> s = hr.Series(["a.b", "ab"])
        >>> s.str.replace(".", "-").to_list()
        ['a-b', 'ab']
        >>> s.str.replace(r"(a)(.)", r"\2\1", regex=True).to_list()
        ['.ab', 'ba']
        """
        if callable(repl):
            if not (regex or isinstance(pat, re.Pattern)):
                raise InvalidArgumentError("replace: a function needs regex=True: regex=False")
            pattern = _compiled(pat, case, flags)
            return self._each("replace", lambda s: pattern.sub(repl, s, max(n, 0)), "string")
        repl = _text("replace", repl, "repl")
        is_regex = regex or isinstance(pat, re.Pattern)

        def make() -> _core.Node:
            words = _pattern("replace", pat, case, flags)
            return _core.replace_pattern(self._series._node, *words, is_regex, repl, n)

        call = lambda s: _compiled(pat, case, flags).sub(repl, s, max(n, 0))  # noqa: E731
        return self._by_regex("replace", pat, make, call, "string")

    def upper(self) -> Series:
        """Upper case, as Python's ``str.upper`` (Unicode 14): ß becomes SS.

        >>> hr.Series(["straße", "ёлка", "σοφός"]).str.upper().to_list()
        ['STRASSE', 'ЁЛКА', 'ΣΟΦΌΣ']
        """
        return self._made(_core.change_case("upper", self._series._node))

    def lower(self) -> Series:
        """Lower case, as Python's ``str.lower``, except that Σ is always σ.

        >>> hr.Series(["Ёлка", None, "ÀB"]).str.lower().to_list()
        ['ёлка', None, 'àb']
        """
        return self._made(_core.change_case("lower", self._series._node))

    def _stripped(self, op: str, left: bool, right: bool, gone: str | None) -> Series:
        gone = None if gone is None else _text(op, gone, "to_strip")
        return self._made(_core.strip_text(self._series._node, left, right, gone))

    def strip(self, to_strip: str | None = None) -> Series:
        """Strip whitespace, or the characters of `to_strip`, at both ends; shares memory.

        >>> hr.Series([" a b ", "xax"]).str.strip(" x").to_list()
        ['a b', 'a']
        """
        return self._stripped("strip", True, True, to_strip)

    def lstrip(self, to_strip: str | None = None) -> Series:
        """As `strip`, at the start only.

        >>> hr.Series(["  ab "]).str.lstrip().to_list()
        ['ab ']
        """
        return self._stripped("lstrip", True, False, to_strip)

    def rstrip(self, to_strip: str | None = None) -> Series:
        """As `strip`, at the end only.

        >>> hr.Series(["  ab "]).str.rstrip().to_list()
        ['  ab']
        """
        return self._stripped("rstrip", False, True, to_strip)

    def cat(self, others: Any = None, sep: str = "", na_rep: str | None = None) -> Any:
        """Concatenate row by row with other strings and `sep`; without `others`, join all rows.

        Null if any string is, unless `na_rep` replaces it; joining all rows skips nulls. ``a + "-"
        + b`` does the same.

        >>> df = hr.DataFrame({"a": ["x", "y"], "b": ["1", None]})
        >>> df.a.str.cat(df.b, sep="-").to_list(), df.a.str.cat(sep=",")
        (['x-1', None], 'x,y')
        """
        mark("str")
        if others is None:
            texts = [na_rep if t is None else t for t in self._series.to_list()]
            return sep.join(text for text in texts if text is not None)
        several = isinstance(others, list | tuple) and not all(
            isinstance(each, str | None) for each in others
        )
        pieces: list[Any] = []
        for each in [self._series, *(others if several else [others])]:
            column = new_series(each)
            if not is_text(column):
                raise TypeMismatchError(
                    f"cat: expected a string column: dtype={str(column.dtype)!r}; use "
                    "astype('string') first"
                )
            pieces += [column if na_rep is None else column.fill_null(na_rep), sep]
        return self._made(
            _core.concatenate_text([p if isinstance(p, str) else p._node for p in pieces[:-1]])
        )

    def startswith(self, pat: str | tuple[str, ...], na: bool | None = False) -> Series:
        """True where a string starts with `pat`, or one of several; `na` for a null.

        >>> hr.Series(["ab", "b", None]).str.startswith("a").to_list()
        [True, False, False]
        """
        return self._test("startswith", pat, na)

    def endswith(self, pat: str | tuple[str, ...], na: bool | None = False) -> Series:
        """True where a string ends with `pat`, or one of several; `na` for a null.

        >>> hr.Series(["ab", "ba", None]).str.endswith("a").to_list()
        [False, True, False]
        """
        return self._test("endswith", pat, na)

    def removeprefix(self, prefix: str) -> Series:
        """Remove `prefix` from strings that start with it.

        >>> hr.Series(["id_7", "7"]).str.removeprefix("id_").to_list()
        ['7', '7']
        """
        prefix = _text("startswith", prefix)
        return self._made(_core.remove_prefix(self._series._node, prefix))

    def removesuffix(self, suffix: str) -> Series:
        """Remove `suffix` from strings that end with it.

        >>> hr.Series(["a.csv", "b"]).str.removesuffix(".csv").to_list()
        ['a', 'b']
        """
        suffix = _text("endswith", suffix) if suffix else ""
        return self._made(_core.remove_suffix(self._series._node, suffix))

    def get(self, i: int) -> Series:
        """The character at position `i`, from the end if negative; null if out of range.

        >>> hr.Series(["ab", "c"]).str.get(1).to_list()
        ['b', None]
        """
        i = whole_number("get", "i", i)
        return self._made(_core.character_at(self._series._node, i))

    def like(self, pattern: str) -> Series:
        """True where a string matches `pattern` as in SQL: ``%`` any string, ``_`` one character.

        A backslash escapes the next character.

        >>> hr.Series(["steel nut", "brass nut"]).str.like("_teel%").to_list()
        [True, False]
        """
        return self._test("like", pattern)

    def slice(
        self, start: int | None = None, stop: int | None = None, step: int | None = None
    ) -> Series:
        """Characters from `start` up to `stop`; negative positions count from the end.

        `step` works as in Python; a negative one goes backwards from `start`, or from the end.

        >>> hr.Series(["abcdé"]).str[::-2].to_list(), hr.Series(["abcdé"]).str[1:4].to_list()
        (['éca'], ['bcd'])
        """
        step = 1 if step is None else whole_number("str", "step", step)
        return self._made(_core.slice_text(self._series._node, start, stop, step))

    def __getitem__(self, key: int | builtins.slice) -> Series:
        """One character, as `get`, or a slice."""
        if isinstance(key, builtins.slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(key)

    # ---- pieces ----------------------------------------------------------------------------------
    def split(
        self,
        pat: str | re.Pattern[str] | None = None,
        *,
        n: int = -1,
        expand: bool = False,
        regex: bool | None = None,
    ) -> Any:
        """Split each string at `pat`, whitespace by default: lists of strings.

        Parameters
        ----------
        pat : str or compiled pattern, optional
            A single character is literal; a longer string is a regular expression unless
            ``regex=False``.
        n : int
            The most splits; all if not positive.
        expand : bool
            Give a frame with columns 0, 1, ... instead, null where a list is shorter;
            evaluates.

        >>> names = hr.Series(["ann lee", "bob"])
        >>> names.str.split().to_list(), names.str.split(expand=True).to_dict()
        ([['ann', 'lee'], ['bob']], {0: ['ann', 'bob'], 1: ['lee', None]})
        """
        literal = regex is False or (regex is None and isinstance(pat, str) and len(pat) == 1)
        if pat is None or pat == "" or (literal and isinstance(pat, str)):
            return self._split(str(pat or ""), n, False, expand)
        most = n if n > 0 else -1
        made = self._by_regex(
            "split",
            pat,
            lambda: _core.split_regex(self._series._node, *_pattern("split", pat), most),
            lambda s: re.split(pat, s, maxsplit=max(n, 0)),
            "list[string]",
        )
        return self._columns(made) if expand else made

    def rsplit(self, pat: str | None = None, *, n: int = -1, expand: bool = False) -> Any:
        """Split each string from its end at the literal `pat`; see `split`.

        >>> hr.Series(["a-b-c"]).str.rsplit("-", n=1).str[0].to_list()
        ['a-b']
        """
        return self._split("" if pat is None else _text("rsplit", pat), n, True, expand)

    def _split(self, by: str, n: int, right: bool, expand: bool) -> Any:
        mark("split")
        made = self._made(_core.split_text(self._series._node, by, n if n > 0 else -1, right))
        return self._columns(made) if expand else made

    def _columns(self, lists: Series) -> DataFrame:
        """The items of lists by place."""
        lengths = ListAccessor(lists).len()
        width = int(lengths.max()) if int(lengths.count()) else 0
        return self._frame([_core.list_item(lists._node, at) for at in range(width)])

    def _frame(self, nodes: list[_core.Node]) -> DataFrame:
        """Columns 0, 1, ... with the rows and labels of the strings."""
        labels = framed(self._series)._labels if is_labelled(self._series) else {}
        return frame_of(dict(enumerate(nodes)), labels)

    def partition(self, sep: str = " ") -> DataFrame:
        """The parts before the first `sep`, `sep` itself, and after it, as columns.

        >>> hr.Series(["a=1"]).str.partition("=").to_dict()
        {0: ['a'], 1: ['='], 2: ['1']}
        """
        mark("partition")
        return self._frame(_core.partition_text(self._series._node, sep, False))

    def rpartition(self, sep: str = " ") -> DataFrame:
        """As `partition`, at the last `sep`.

        >>> hr.Series(["a=b=1"]).str.rpartition("=").to_dict()
        {0: ['a=b'], 1: ['='], 2: ['1']}
        """
        mark("rpartition")
        return self._frame(_core.partition_text(self._series._node, sep, True))

    def findall(self, pat: str | re.Pattern[str], flags: int = 0) -> Series:
        """All matches of a regular expression, or of its only group, as lists of strings.

        >>> hr.Series(["a1b22", "c"]).str.findall("[0-9]+").to_list()
        [['1', '22'], []]
        """
        return self._by_regex(
            "findall",
            pat,
            lambda: _core.find_all(self._series._node, *_pattern("findall", pat, True, flags)),
            re.compile(pat, flags).findall,
            None,
        )

    def get_dummies(self, sep: str = "|") -> DataFrame:
        """A column for each distinct piece of the strings split at `sep`: 1 where it occurs.

        >>> hr.Series(["a|b", "b"]).str.get_dummies().to_dict()
        {'a': [1, 0], 'b': [1, 1]}
        """
        mark("get_dummies")
        pieces = _core.split_text(self._series._node, _text("get_dummies", sep, "sep"), -1, False)
        names = series_of(_core.explode([pieces])[1][0]).unique().to_list()
        made = {
            name: series_of(_core.list_contains(pieces, _core.column_from_list([name])))
            .astype("int64")
            ._node
            for name in sorted(name for name in names if name)
        }
        return frame_of(made, framed(self._series)._labels)

    def count(self, pat: str | re.Pattern[str], flags: int = 0) -> Series:
        """Number of matches of a regular expression: int64.

        >>> hr.Series(["banana"]).str.count("an").to_list()
        [2]
        """
        return self._by_regex(
            "count",
            pat,
            lambda: _core.count_regex(self._series._node, *_pattern("count", pat, True, flags)),
            lambda s: sum(1 for _ in re.finditer(pat, s, flags)),
            "int64",
        )

    def _by_regex(
        self, op: str, pat: Any, make: Callable[[], _core.Node], function: Any, dtype: Any
    ) -> Series:
        """What the engine makes, or a Python function of each string if RE2 lacks the pattern."""
        mark(op)
        try:
            return self._made(make())
        except (InvalidArgumentError, UnsupportedError) as error:
            _check_lacking(error, pat)
            return self._each(op, function, dtype)

    def capitalize(self) -> Series:
        """The first character in upper case (title case), the others in lower case.

        >>> hr.Series(["anna", "BO"]).str.capitalize().to_list()
        ['Anna', 'Bo']
        """
        return self._made(_core.change_case("capitalize", self._series._node))

    def title(self) -> Series:
        """The first letter of each word in upper case, the others in lower case.

        >>> hr.Series(["ann LEE"]).str.title().to_list()
        ['Ann Lee']
        """
        return self._made(_core.change_case("title", self._series._node))

    def swapcase(self) -> Series:
        """Upper case for lower case, and the reverse.

        >>> hr.Series(["aB"]).str.swapcase().to_list()
        ['Ab']
        """
        return self._made(_core.change_case("swapcase", self._series._node))

    def _changed(self, change: str, *options: Any) -> Series:
        return self._made(_core.change_text(change, self._series._node, *options))

    def zfill(self, width: int) -> Series:
        """Zeros in front, after a sign, up to `width` characters.

        >>> hr.Series(["7", "-7"]).str.zfill(3).to_list()
        ['007', '-07']
        """
        return self._changed("zfill", whole_number("zfill", "width", width))

    def pad(self, width: int, side: str = "left", fillchar: str = " ") -> Series:
        """Spaces or `fillchar` at the left, the right or both sides, up to `width` characters.

        >>> hr.Series(["7"]).str.pad(3, fillchar="*").to_list()
        ['**7']
        """
        width = whole_number("pad", "width", width)
        changes = {"left": "rjust", "right": "ljust", "both": "center"}
        if side not in changes:
            raise InvalidArgumentError(
                f"pad: invalid value: side={side!r}; expected 'left', 'right' or 'both'"
            )
        if len(_text("pad", fillchar, "fillchar")) != 1:
            raise InvalidArgumentError(f"pad: expected one character: fillchar={fillchar!r}")
        return self._changed(changes[side], width, fillchar)

    def rjust(self, width: int, fillchar: str = " ") -> Series:
        """Fill at the left; see `pad`."""
        return self.pad(width, "left", fillchar)

    def ljust(self, width: int, fillchar: str = " ") -> Series:
        """Fill at the right; see `pad`."""
        return self.pad(width, "right", fillchar)

    def center(self, width: int, fillchar: str = " ") -> Series:
        """Fill at both sides; see `pad`."""
        return self.pad(width, "both", fillchar)

    def repeat(self, repeats: int) -> Series:
        """Each string several times.

        >>> hr.Series(["ab"]).str.repeat(2).to_list()
        ['abab']
        """
        return self._changed("repeat", whole_number("repeat", "repeats", repeats))

    def slice_replace(
        self, start: int | None = None, stop: int | None = None, repl: str = ""
    ) -> Series:
        """Replace the characters from `start` up to `stop` by `repl`.

        >>> hr.Series(["abcd"]).str.slice_replace(1, 3, "-").to_list()
        ['a-d']
        """
        return self._changed("slice_replace", 0, repl or "", start, stop)

    def find(self, sub: str, start: int = 0, end: int | None = None) -> Series:
        """Position of the first `sub` between two positions; -1 if there is none.

        >>> hr.Series(["banana", "kiwi"]).str.find("an").to_list()
        [1, -1]
        """
        sub = _text("find", sub, "sub")
        return self._made(_core.text_position(self._series._node, sub, start, end, False))

    def rfind(self, sub: str, start: int = 0, end: int | None = None) -> Series:
        """Position of the last `sub`; see `find`.

        >>> hr.Series(["banana", "kiwi"]).str.rfind("an").to_list()
        [3, -1]
        """
        sub = _text("rfind", sub, "sub")
        return self._made(_core.text_position(self._series._node, sub, start, end, True))

    # ---- methods that call Python for each string ------------------------------------------------
    def _each(self, op: str, function: Callable[[str], Any], dtype: str | None = None) -> Series:
        """The results of a Python function of each string; null for null."""
        made = new_series(self._called(op, function), dtype=dtype)
        return self._made(with_rows_of(made, self._series._node)._node)

    def _called(self, op: str, function: Callable[[str], Any]) -> list[Any]:
        """The results of a Python function of each string; None for null."""
        row_by_row(op, "use methods that work on whole columns where there are some")
        start = time.perf_counter()
        made = [None if each is None else function(each) for each in self._series.to_list()]
        _core.record_fallback(op, "Python called per string", time.perf_counter() - start)
        return made

    def encode(self, encoding: str, errors: str = "strict") -> Series:
        """The text that an encoding can hold, still as text: there is no dtype of bytes.

        >>> hr.Series(["Café"]).str.encode("ascii", "ignore").str.decode("ascii").to_list()
        ['Caf']
        """
        return self._each("encode", lambda s: s.encode(encoding, errors).decode(encoding), "string")

    def decode(self, encoding: str, errors: str = "strict") -> Series:
        """The same text; see `encode`."""
        return self._series

    def casefold(self) -> Series:
        """Lower case for comparisons: ß becomes ss.

        >>> hr.Series(["Straße"]).str.casefold().to_list()
        ['strasse']
        """
        return self._each("casefold", str.casefold, "string")

    def translate(self, table: dict[int, Any]) -> Series:
        """Replace characters by a table of ``str.maketrans``.

        >>> hr.Series(["abc"]).str.translate(str.maketrans("ab", "xy")).to_list()
        ['xyc']
        """
        return self._each("translate", lambda s: s.translate(table), "string")

    def normalize(self, form: str) -> Series:
        """Unicode normal form: ``"NFC"``, ``"NFKC"``, ``"NFD"`` or ``"NFKD"``.

        >>> hr.Series(["ﬁ"]).str.normalize("NFKC").to_list()
        ['fi']
        """
        import unicodedata

        if form not in ("NFC", "NFKC", "NFD", "NFKD"):
            raise InvalidArgumentError(f"normalize: unknown form: form={form!r}")
        return self._each("normalize", lambda s: unicodedata.normalize(form, s), "string")  # type: ignore[arg-type]

    def wrap(self, width: int, **options: Any) -> Series:
        r"""Lines of at most `width` characters; options are those of ``textwrap.TextWrapper``.

        >>> hr.Series(["one two"]).str.wrap(3).to_list()
        ['one\ntwo']
        """
        import textwrap

        wrapper = textwrap.TextWrapper(width, **options)
        return self._each("wrap", lambda s: "\n".join(wrapper.wrap(s)), "string")

    def extractall(self, pat: str | re.Pattern[str], flags: int = 0) -> DataFrame:
        """The groups of all matches of a regular expression of Python, one row for each match.

        Labelled by the row, in ``index``, and the number of the match in it, in ``match``.

        >>> hr.Series(["a1b2", "c"]).str.extractall(r"([a-z])([0-9])").to_dict()[1]
        ['1', '2']
        """
        pattern = re.compile(pat, flags)
        if not pattern.groups:
            raise InvalidArgumentError(f"extractall: the pattern has no groups: pat={pat!r}")
        matches = self._called("extractall", lambda s: list(pattern.finditer(s)))
        return rows_of_matches(pattern, matches)

    def _of_characters(self, test: str) -> Series:
        return self._filled(_core.test_characters(test, self._series._node), False)

    def isalpha(self) -> Series:
        """True where a string has only letters, and at least one; false for null.

        >>> hr.Series(["ab", "a1", None]).str.isalpha().to_list()
        [True, False, False]
        """
        return self._of_characters("isalpha")

    def isdigit(self) -> Series:
        """True where a string has only digits, and at least one; false for null.

        >>> hr.Series(["12", "1.5", None]).str.isdigit().to_list()
        [True, False, False]
        """
        return self._of_characters("isdigit")

    def isdecimal(self) -> Series:
        """True where a string has only decimal digits, and at least one; false for null.

        >>> hr.Series(["12", "1²", None]).str.isdecimal().to_list()
        [True, False, False]
        """
        return self._of_characters("isdecimal")

    def isnumeric(self) -> Series:
        """True where a string has only numeric characters, and at least one; false for null.

        >>> hr.Series(["12", "½", "a"]).str.isnumeric().to_list()
        [True, True, False]
        """
        return self._of_characters("isnumeric")

    def isalnum(self) -> Series:
        """True where a string has only letters and digits, and at least one; false for null.

        >>> hr.Series(["a1", "a-1", None]).str.isalnum().to_list()
        [True, False, False]
        """
        return self._of_characters("isalnum")

    def isspace(self) -> Series:
        """True where a string has only whitespace, and at least one; false for null.

        >>> hr.Series([" ", "a ", None]).str.isspace().to_list()
        [True, False, False]
        """
        return self._of_characters("isspace")

    def islower(self) -> Series:
        """True where all letters are in lower case, and there is one; false for null.

        >>> hr.Series(["ab", "AB", "Ab"]).str.islower().to_list()
        [True, False, False]
        """
        return self._of_characters("islower")

    def isupper(self) -> Series:
        """True where all letters are in upper case, and there is one; false for null.

        >>> hr.Series(["ab", "AB", "Ab"]).str.isupper().to_list()
        [False, True, False]
        """
        return self._of_characters("isupper")

    def istitle(self) -> Series:
        """True where all words begin in upper case, and there is one; false for null.

        >>> hr.Series(["ab", "AB", "Ab"]).str.istitle().to_list()
        [False, False, True]
        """
        return self._of_characters("istitle")

    def len(self) -> Series:
        """Number of characters: int32.

        >>> hr.Series(["ab", "é", None]).str.len().to_list()
        [2, 1, None]
        """
        return self._made(_core.text_length(self._series._node))


def _several(op: str, patterns: Any) -> tuple[Any, ...]:
    """The patterns of a tuple, or a single one."""
    if patterns == ():
        raise InvalidArgumentError(f"{op}: expected at least one string to search for: pat=()")
    return patterns if isinstance(patterns, tuple) else (patterns,)


def plain(column: Series) -> Series:
    """Categories as their values, so that they compare with others; without labels."""
    column = series_of(column._node)
    return column.astype(column._node.item_dtype) if column.dtype == "category" else column
