# SPDX-License-Identifier: Apache-2.0
"""Random programs of pandas' words: Python text that means the same to pandas and to us.

Where the results differ by a number of docs/reference/pandas.md, ours stands left of ``;;``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

TEXTS = ["", "a", "b", "ab", "Ab c", "ä b", "a.b.c", " x ", "a text that is longer than inline"]
KEYS = ["b", "a", "c", "dd", None]
BETWEEN = ("linear", "lower", "higher", "midpoint", "nearest")
AGGREGATES = (
    *("sum", "prod", "min", "max", "mean", "var", "std", "median", "first", "last"),
    *("count", "nunique", "size"),
)


def columns(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Columns of all kinds; x and y miss values as NaN."""

    def floats(values: Any) -> Any:
        return np.where(rng.random(rows) < 0.15, np.nan, values)

    days = rng.integers(8_000, 25_000, rows) * 86_400_000_000
    when = (days + rng.integers(0, 86_400_000_000, rows)).astype("datetime64[us]")
    when[rng.random(rows) < 0.1] = np.datetime64("NaT")
    return {
        "k": np.array(KEYS, object)[rng.integers(0, len(KEYS), rows)],
        "j": rng.integers(0, 4, rows),
        "t": np.array([*TEXTS, None], object)[rng.integers(0, len(TEXTS) + 1, rows)],
        "x": floats(rng.integers(-800, 800, rows) / 8),
        "y": floats(rng.normal(size=rows)),
        "i": rng.integers(-20, 20, rows),
        "w": rng.integers(-300, 300, rows).astype(rng.choice(["int16", "int32"])),
        "b": rng.random(rows) < 0.4,
        "when": when,
        "wait": np.where(np.isnat(when), 0, rng.integers(-9, 9, rows) * 7_000_000_123).astype(
            "timedelta64[us]"
        ),
    }


class Words:
    """Random operands, as text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def some(self, options: str) -> list[str]:
        return self.rng.sample(options.split(), self.rng.randrange(1, 3))

    def whole(self, most: int = 9) -> int:
        return self.rng.randrange(-most, most + 1)

    def truth(self) -> bool:
        return self.rng.random() < 0.5

    def number(self) -> str:
        return "df." + self.one("i", "j", "x", "y", "w")

    def value(self) -> Any:
        return self.one(1, 2, 7, -3, 0.5, 2.25)

    def key(self) -> str:
        return self.one("k", "j", "b", "t")

    def name(self) -> str:
        return self.one("x", "i", "y", "w")

    def condition(self) -> str:
        sign = self.one("<", "<=", ">", ">=", "==", "!=")
        return f"({self.number()} {sign} {self.one(self.whole(), self.number())})"

    def edges(self) -> list[int]:
        return sorted({self.whole(25) for _ in range(4)} | {-30, 30})

    def moment(self) -> str:
        return f"dt.datetime({self.one(1999, 2010, 2024)}, {self.one(1, 2, 12)}, {self.one(1, 28)})"

    def literals(self) -> dict[str, list[Any]]:
        """Columns a to d as Python's own values."""
        make: list[Callable[[], Any]] = [
            lambda: self.whole(),
            lambda: self.one(*TEXTS),
            lambda: self.one(None, 1.5, -2.0, 1e300),
            self.truth,
        ]
        rows = range(self.rng.randrange(9))
        return {name: [each() for _ in rows] for name, each in zip("abcd", make, strict=True)}

    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.literals().values(), strict=True))


Form = Callable[[Words], str]

# What comes before an operator: other rows, or other values.
SHAPES: list[Form] = [
    lambda w: f"df = df[{w.condition()}].reset_index(drop=True)",
    lambda w: f"df = df[{w.condition()} {w.one('&', '|')} ~{w.condition()}].reset_index(drop=True)",
    lambda w: f"df = df.sort_values({w.some('k j x i w b t')}, ascending={w.truth()},"
    " kind='stable').reset_index(drop=True)",
    lambda w: f"df = df.{w.one('head', 'tail')}({w.whole(20)}).reset_index(drop=True)",
    lambda w: f"df = df[{w.whole(20)}:].reset_index(drop=True)",
    lambda w: f"df = df.drop_duplicates({w.some('k j i b t')}).reset_index(drop=True)",
    lambda w: f"df = df.assign(x={w.number()} * {w.value()} + df.x)",
    lambda w: f"df = df.assign(i=df.i + df.j, y=df.y.where({w.condition()}, 0.5))",
    lambda w: f"df = m.concat([df, df.head({w.whole(9)})], ignore_index=True)",
    lambda w: f"df = df.dropna(subset={w.some('k x y t when')}).reset_index(drop=True)",
    lambda w: "df = df.merge(g[['j', 'u']].rename(columns={'u': 'z'}).head(9), on='j')",
]  # fmt: skip


def group(how: str) -> list[Form]:
    """The forms of one aggregate."""
    forms: list[Form] = [
        lambda w: f"df.groupby({w.key()!r}).{w.name()}.{how}().reset_index(name='r')",
        lambda w: f"df.{w.name()}.groupby(df.{w.key()}).{how}().to_dict()",
        lambda w: f"df.groupby(df.{w.key()}).{w.name()}.{how}().tolist()",
        lambda w: f"df.groupby(['k', 'j'], sort={w.truth()}).{w.name()}.{how}().tolist()",
        lambda w: (
            f"df.groupby({w.key()!r}, dropna=False, sort={w.truth()}).{w.name()}.{how}().tolist()"
        ),
        lambda w: f"df.groupby({w.condition()}).{w.name()}.{how}().tolist()",
        lambda w: (
            f"df.groupby({w.key()!r}, as_index=False).agg(p=({w.name()!r}, {how!r}),"
            " q=('j', 'sum'))"
        ),
        lambda w: f"df.groupby(df.t.astype('category'), observed=True).{w.name()}.{how}().tolist()",
    ]
    return forms


def two_groups(w: Words) -> tuple[str, str]:
    """Two aggregates of one column by the same key; not of int16: number 46 of pandas.md."""
    keys = f"{w.one('j', 'b', ['k', 'j'])!r}, sort={w.truth()}"
    name = w.one("i", "x")
    two = [f"df.groupby({keys}).{name}.{w.one('sum', 'max', 'mean', 'count')}()" for _ in range(2)]
    return two[0], two[1]


def of_two_groups(text: str) -> Form:
    """A form with A and B for the two."""

    def make(w: Words) -> str:
        a, b = two_groups(w)
        return text.replace("A", a).replace("B", b).replace("N", str(w.whole(5)))

    return make


def join(how: str) -> list[Form]:
    forms: list[Form] = [
        lambda w: f"df.merge(g, on='k', how={how!r}, suffixes=('_l', '_r'))",
        lambda w: f"df.merge(g, on=['j', 'k'], how={how!r}, indicator=True)",
        lambda w: f"df.merge(g, left_on='i', right_on='u', how={how!r})",
        lambda w: f"df.assign(k=df.k.astype('category')).merge(g, on='k', how={how!r}).x",
        lambda w: f"df[['k', 'x']].merge(g.astype({{'k': 'category'}}), on='k', how={how!r})",
        lambda w: f"df.merge(g.drop_duplicates('j'), on='j', how={how!r}, validate='many_to_one')",
    ]
    return forms


def rolling(how: str) -> list[Form]:
    # pandas' running sums leave 1e-7 where all values are equal.
    squared = " ** 2" if how == "std" else ""

    def window(w: Words) -> str:
        rows = w.one(1, 2, 3, 5, 64, 100)
        return f"rolling({rows}, min_periods={w.rng.randrange(1, min(rows, 4) + 1)}"

    def grouped(w: Words) -> str:
        return f"df.groupby('j').{w.name()}.{window(w)}).{how}(){squared}"

    return [lambda w: f"df.{w.name()}.{window(w)}, center={w.truth()}).{how}(){squared}", grouped]


def running(how: str) -> list[Form]:
    def form(w: Words) -> str:
        rows = w.one("df", "df", f"df.groupby({w.one('j', 'b')!r})")
        return f"{rows}.{w.name()}.{how.replace('N', str(w.one(1, 2, 3, -1)))}"

    return [form]


SOME = "k j x i b t w"
UNIQUE = "df.drop_duplicates('i').set_index('i')"
BOTH = "['j', 'k', 'x', 'i', 'u', 'v']"
MATHS = (
    *("sqrt", "exp", "log", "floor", "ceil", "abs", "sign", "sin", "cos", "tanh", "log1p"),
    *("cbrt", "arctan", "rint", "square"),
)
FIELDS = (
    *("year", "month", "day", "hour", "minute", "second", "quarter", "dayofyear", "weekday"),
    "daysinmonth",
)
EDGES = [f"is_{a}_{b}" for a in ("month", "quarter", "year") for b in ("start", "end")]
STAMPS = ("%Y-%m-%d %H:%M:%S", "%d.%m.%y %I:%M %p", "%j %b %a %f", "%A, %d %B")
ZONES = ("Europe/Berlin", "Asia/Tokyo", "America/New_York", "UTC")
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
RECORD = [("a", "i4"), ("b", "U40"), ("c", "f8"), ("d", "?")]

OPERATORS: dict[str, list[Form]] = {
    "arithmetic": [
        lambda w: f"{w.number()} {w.one('+', '-', '*', '/')} {w.number()}",
        lambda w: f"{w.number()} {w.one('+', '-', '*', '/', '//', '%')} {w.value()}",
        lambda w: f"{w.whole()} {w.one('+', '-', '*')} {w.number()} * {w.number()}",
        lambda w: f"-{w.number()} + abs({w.number()})",
        lambda w: f"({w.number()} + {w.number()}) ** 2",
        lambda w: f"df[['i', 'x']] {w.one('+', '*', '-')} {w.value()}",
    ],
    "logic": [
        lambda w: f"{w.condition()} {w.one('&', '|', '^')} ~{w.condition()}",
        lambda w: f"({w.number()} > {w.number()}).astype('int64') * 2",
    ],
    "maths": [
        lambda w: f"np.{w.one(*MATHS)}({w.one('df.x', 'df.y')})",
        lambda w: f"np.{w.one(*MATHS)}(df.i.astype('float64'))",
        lambda w: f"np.{w.one('minimum', 'maximum', 'hypot')}(df.x, df.y)",
        lambda w: f"round(df.{w.one('x', 'y')}, {w.one(0, 1, 2)})",
    ],
    "case": [
        lambda w: f"df.i.case_when([({w.condition()}, 1), ({w.condition()}, df.j)])",
        lambda w: f"np.select([{w.condition()}, {w.condition()}], [1, 2], 0)",
    ],
    "cast": [
        lambda w: f"{w.number()}.astype('float64')",
        lambda w: f"df.x.fillna(0).astype({w.one('int64', 'float32', 'int32')!r})",
        lambda w: f"df.{w.one('i', 'b', 'w')}.astype('str')",
        lambda w: "df.i.astype('str').astype('int64')",
    ],
    "where": [
        lambda w: f"df.{w.name()}.where({w.condition()}, {w.one(0, 'df.x')})",
        lambda w: f"df.{w.name()}.mask({w.condition()}, {w.whole()})",
        lambda w: f"df.x.where({w.condition()})",
    ],
    "clip": [
        lambda w: f"df.{w.name()}.clip({w.whole()}, 9)",
        lambda w: f"df.{w.name()}.clip(lower={w.whole()})",
    ],
    "replace": [
        lambda w: f"df.i.replace({{{w.whole()}: 50, 13: {w.whole()}}})",
        lambda w: f"df.i.replace([{w.whole()}, 5], {w.whole()})",
        lambda w: f"df.k.replace({w.one('a', 'b')!r}, 'z')",
    ],
    "fillna": [
        lambda w: f"df.x.fillna({w.one(0.5, 'df.y')})",
        lambda w: f"df[['x', 'y', 'i']].fillna({w.whole()})",
        lambda w: "df.k.fillna('none')",
        lambda w: f"df.{w.one('x', 'k', 't')}.{w.one('ffill', 'bfill')}()",
    ],
    "dropna": [
        lambda w: (
            f"df.dropna(subset={w.some('k x y t when')}, how={w.one('any', 'all')!r}).i.tolist()"
        ),
        lambda w: f"df.{w.one('x', 'k', 'when')}.dropna().tolist()",
    ],
    "isin": [
        lambda w: f"df.{w.name()}.isin([{w.whole()}, {w.whole()}, 0.5])",
        lambda w: "df.k.isin(['a', 'dd'])",
    ],
    "between": [
        lambda w: (
            f"df.{w.name()}.between({w.whole()}, 12,"
            f" inclusive={w.one('both', 'left', 'right', 'neither')!r})"
        ),
    ],
    "pieces": [
        lambda w: f"df.{w.one('head', 'tail')}({w.whole(20)}).x.tolist()",
        lambda w: f"df[{w.whole(20)}:{w.whole(40)}:{w.one(1, 2, 3)}].i.tolist()",
    ],
    "nlargest": [
        lambda w: (
            f"df.{w.one('nlargest', 'nsmallest')}({w.rng.randrange(9)},"
            f" {w.one('i', 'j', 'w')!r}).x.tolist()"
        ),
        lambda w: f"df.i.{w.one('nlargest', 'nsmallest')}({w.rng.randrange(9)}).tolist()",
    ],
    "sort": [
        lambda w: (
            f"df.sort_values({w.some(SOME)}, ascending={w.truth()}, kind='stable',"
            f" na_position={w.one('first', 'last')!r}).reset_index(drop=True)"
        ),
        lambda w: (
            f"df.sort_values(['k', 'x', 'i'], ascending=[{w.truth()}, {w.truth()}, True])"
            ".j.tolist()"
        ),
        lambda w: (
            f"df.{w.one('x', 't', 'when')}.sort_values(ascending={w.truth()},"
            " kind='stable').tolist()"
        ),
    ],
    "rank": [
        lambda w: (
            f"df.{w.one('x', 'i', 'k', 'when')}.rank(method="
            f"{w.one('average', 'min', 'max', 'first', 'dense')!r}, ascending={w.truth()})"
        ),
    ],
    "distinct": [
        lambda w: (
            f"df.drop_duplicates({w.some(SOME)}, keep={w.one('first', 'last', False)!r}).i.tolist()"
        ),
        lambda w: f"df.duplicated({w.some(SOME)}, keep={w.one('first', 'last', False)!r})",
        lambda w: f"df.{w.one('k', 't', 'i', 'x')}.unique().tolist()",
    ],
    "concat": [
        lambda w: f"m.concat([df.head({w.whole()}), g, df.tail(3)], ignore_index=True)",
        lambda w: "m.concat([df, g], join='inner', ignore_index=True)",
    ],
    "columns": [
        lambda w: "df[['x', 'k']].rename(columns={'x': 'xx'})",
        lambda w: f"df.drop(columns={w.some(SOME)})",
        lambda w: f"df[{w.some(SOME)}]",
    ],
    "query": [
        lambda w: f"df.query('i > {w.whole()} and (x < {w.whole()} or k == \"a\")').y.tolist()",
        lambda w: "df.query('j in [1, 2] and not b').i.tolist()",
        lambda w: "df.query('x + i > @limit').i.tolist()",
    ],
    "reduce": [
        lambda w: f"df.{w.name()}.{w.one('sum', 'mean', 'std', 'var', 'median')}()",
        lambda w: f"df.{w.one('x', 'y', 'when')}.{w.one('min', 'max')}()",
        lambda w: f"df.{w.one('k', 't', 'i', 'x')}.nunique(dropna={w.truth()})",
        lambda w: f"df.{w.one('x', 'k')}.count()",
        lambda w: f"df.b.{w.one('any', 'all', 'sum', 'mean')}()",
        lambda w: f"df.{w.name()}.{w.one('idxmin', 'idxmax', 'argmin', 'argmax')}()",
        lambda w: f"df[['x', 'i']].{w.one('sum', 'mean', 'max', 'std')}(axis=1)",
        lambda w: f"df[['x', 'i', 'y', 'b']].{w.one('median', 'min')}(axis=1)",
        lambda w: "df.x.corr(df.y)",
    ],
    "quantile": [
        lambda w: f"df.{w.name()}.quantile({w.one(0, 0.1, 0.25, 0.5, 0.99, 1)})",
        lambda w: f"df.x.quantile([0.1, {w.one(0.3, 0.8)}]).tolist()",
        lambda w: f"df.{w.one('x', 'y')}.quantile({w.one(0.1, 0.5, 0.7)}, {w.one(*BETWEEN)!r})",
        lambda w: f"df[['x', 'y', 'i']].quantile(0.3, axis=1, interpolation={w.one(*BETWEEN)!r})",
    ],
    "describe": [
        lambda w: f"df.{w.name()}.describe().to_dict()",
        lambda w: f"df[['x', 'i']].describe().{w.one('x', 'i')}.tolist()",
    ],
    "value_counts": [
        lambda w: f"df.{w.one('k', 'j', 't')}.value_counts(dropna={w.truth()}).to_dict()",
        lambda w: "df.j.value_counts(normalize=True).sort_index().tolist()",
        lambda w: (
            f"list(df.value_counts({w.one(['k', 'j'], ['t', 'b'], ['b', 'j', 'k'])},"
            f" sort={w.truth()}, ascending={w.truth()}).to_dict().items())"
        ),
        lambda w: f"list(df.{w.one('k', 't')}.value_counts(sort={w.truth()}).to_dict().items())",
        lambda w: (
            f"df.{w.one('i', 'x')}.value_counts(bins={w.edges()}, sort={w.truth()},"
            f" ascending={w.truth()}, normalize={w.truth()}).tolist()"
        ),
    ],
    "cut": [
        lambda w: f"m.cut(df.i, {w.edges()}, right={w.truth()}).astype('str').tolist()",
        lambda w: f"m.cut(df.i, {w.edges()}, labels=False)",
        lambda w: f"m.qcut(df.x, {w.one(2, 3, 4)}, labels=False)",
    ],
    "factorize": [lambda w: f"m.factorize(df.{w.one('k', 'i', 't')})[0].tolist()"],
    "category": [
        lambda w: "df.t.astype('category').astype('str').fillna('-')",
        lambda w: "df[df.k.astype('category') == 'a'].i.tolist()",
        lambda w: "df.k.astype('category').str.upper()",
        lambda w: "df.k.astype('category').isin(['a', 'c'])",
    ],
    "text case, length": [
        lambda w: f"df.t.str.{w.one('upper', 'lower', 'capitalize', 'len')}()",
    ],
    "text slice": [
        lambda w: f"df.t.str.slice({w.whole(4)}, {w.one(None, w.whole(6))})",
        lambda w: f"df.t.str[{w.rng.randrange(-3, 4)}]",
        lambda w: (
            f"df.t.str.slice({w.one(None, w.whole(5))}, {w.one(None, w.whole(5))},"
            f" {w.one(-3, -2, -1, 1, 2, 5)})"
        ),
    ],
    "text strip": [
        lambda w: f"df.t.str.{w.one('strip', 'lstrip', 'rstrip')}({w.one('', repr('a'))})",
        lambda w: f"df.t.str.{w.one('removeprefix', 'removesuffix')}({w.one('a', 'b')!r})",
    ],
    "text concat": [
        lambda w: f"df.t + {w.one(repr('-') + ' + df.k', 'df.t', repr('!'))}",
        lambda w: f"df.t.str.cat(df.k, sep={w.one('', '-')!r})",
    ],
    "text contains": [
        lambda w: (
            f"df.t.str.{w.one('contains', 'startswith', 'endswith')}"
            f"({w.one('a', 'b', 'A', ' ')!r}, na=False)"
        ),
    ],
    "text regex": [
        lambda w: (
            f"df.t.str.contains({w.one('^a', 'b$', '[ab]+ ?c', 'x|y', 'A')!r}, na=False,"
            f" case={w.truth()})"
        ),
        lambda w: (
            f"df.t.str.{w.one('match', 'fullmatch')}({w.one('a.*', '[ab]+', 'ä.b')!r}, na=False)"
        ),
    ],
    "text replace": [
        lambda w: (
            f"df.t.str.replace({w.one('a', 'b', '.', ' ')!r}, {w.one('', 'zz', 'ä')!r},"
            " regex=False)"
        ),
        lambda w: (
            f"df.t.str.replace({w.one('[ab]+', '^a', 'b$', ' +', '(a)(b)')!r}, 'Q', regex=True)"
        ),
    ],
    "text extract": [
        lambda w: f"df.t.str.extract({w.one('([ab])x?', '(?P<p>[a-z])(?P<q>.)')!r})",
    ],
    "date fields": [
        lambda w: f"df.when.dt.{w.one(*FIELDS)}",
        lambda w: f"df.when.dropna().dt.{w.one(*EDGES)}.tolist()",
        lambda w: f"df.when.dt.{w.one('month_name', 'day_name')}()",
    ],
    "date truncation": [
        lambda w: f"df.when.dt.floor({w.one('D', 'h', 'min', 's')!r})",
        lambda w: "df.when.dt.normalize()",
        lambda w: f"df.when.astype('datetime64[{w.one('s', 'ms', 'us')}]')",
    ],
    "date arithmetic": [
        lambda w: f"(df.when - {w.moment()}).dt.{w.one('days', 'seconds', 'total_seconds()')}",
        lambda w: f"df.when {w.one('+', '-')} dt.timedelta(days={w.whole()}, hours={w.whole()})",
        lambda w: "(df.when - df.when.shift()).dt.total_seconds()",
        lambda w: (
            f"df.when {w.one('+', '-')} pd.DateOffset({w.one('months', 'years')}={w.whole(30)},"
            f" {w.one('days', 'hours')}={w.whole()})"
        ),
    ],
    "date comparison": [
        lambda w: f"df[df.when {w.one('<', '>=', '==')} {w.moment()}].i.tolist()",
        lambda w: f"df.when.{w.one('min', 'max')}()",
        lambda w: f"df[df.when.between({w.moment()}, {w.moment()})].i.tolist()",
    ],
    "date format": [lambda w: f"df.when.dropna().dt.strftime({w.one(*STAMPS)!r}).tolist()"],
    "date parse": [
        lambda w: (
            "m.to_datetime(df.when.dropna().dt.strftime('%d/%m/%Y %H:%M'),"
            " format='%d/%m/%Y %H:%M').tolist()"
        ),
        lambda w: "m.to_datetime(df.when.dropna().astype('str')).dt.year.tolist()",
    ],
    "duration": [
        lambda w: f"df.wait.dt.{w.one('days', 'seconds', 'microseconds', 'total_seconds()')}",
        lambda w: f"df.wait {w.one('+', '-')} df.wait.shift()",
        lambda w: f"df.wait * {w.one(2, -3)} + dt.timedelta(hours={w.whole()})",
        lambda w: f"df.wait.{w.one('sum', 'min', 'max')}()",
        lambda w: f"df.groupby({w.key()!r}).wait.{w.one('sum', 'min', 'max', 'first')}().tolist()",
        lambda w: "(df.when + df.wait).dt.day",
        lambda w: f"df[df.wait > dt.timedelta(minutes={w.whole(99)})].i.tolist()",
    ],
    "zone": [
        lambda w: (
            f"df.when.dt.tz_localize('UTC').dt.tz_convert({w.one(*ZONES)!r}).dt.{w.one(*FIELDS)}"
        ),
        lambda w: (
            f"df.when.dt.tz_localize('UTC').dt.tz_convert({w.one(*ZONES)!r}).dt.tz_localize(None)"
        ),
    ],
    "narrow numbers": [
        lambda w: (
            f"df.{w.one('i', 'j')}.astype({w.one(*NARROW)!r}) {w.one('+', '-', '*')}"
            f" df.i.astype({w.one(*NARROW)!r})"
        ),
        lambda w: f"df.x.astype('float32') {w.one('+', '*', '/')} df.w.astype('float32')",
        lambda w: f"df.i.astype({w.one(*NARROW)!r}).{w.one('sum', 'mean', 'cumsum')}()",
        lambda w: f"df.groupby('k').w.{w.one('sum', 'min', 'max')}().tolist()",
    ],
    **{f"group {how}": group(how) for how in AGGREGATES},
    "group any, all": [
        lambda w: f"df.groupby({w.key()!r}).i.{w.one('any', 'all')}().tolist()",
    ],
    "group idxmin, idxmax": [
        lambda w: f"df.groupby({w.key()!r}).i.{w.one('idxmin', 'idxmax')}().tolist()",
    ],
    "group quantile": [
        lambda w: (
            f"df.groupby({w.key()!r}).{w.name()}.quantile({w.one(0.0, 0.1, 0.9, 1.0)}).tolist()"
        ),
        lambda w: (
            f"df.groupby({w.key()!r}).{w.name()}.quantile([0.2, {w.one(0.5, 1.0)}],"
            f" interpolation={w.one(*BETWEEN)!r}).tolist()"
        ),
    ],
    "group corr, cov": [
        lambda w: f"df.groupby({w.key()!r})[['x', 'i', 'y']].{w.one('corr', 'cov')}().y.tolist()",
        lambda w: f"df[['b', 'i', 'x']].groupby('b').{w.one('corr', 'cov')}().i.tolist()",
    ],
    "group top": [
        lambda w: (
            f"df.groupby('j').{w.one('i', 'w')}.{w.one('nlargest', 'nsmallest')}({w.one(1, 3)})"
            ".tolist()"
        ),
        lambda w: f"df.groupby({w.key()!r}).{w.one('head', 'tail')}({w.one(1, 2)}).i.tolist()",
    ],
    "group agg": [
        lambda w: f"df.groupby('k').agg({{'x': {w.one(*AGGREGATES)!r}, 'i': 'sum'}}).reset_index()",
        lambda w: (
            f"df.groupby({w.key()!r}).{w.name()}.agg(['min', {w.one('sum', 'mean')!r}])"
            ".reset_index()"
        ),
        lambda w: (
            f"df.groupby('j').agg(p=('t', {w.one('min', 'max', 'first', 'count')!r}),"
            f" q=('when', {w.one('min', 'max', 'first', 'count')!r})).reset_index()"
        ),
        lambda w: f"df.groupby('j')[['x', 'i']].{w.one('sum', 'mean', 'max')}().reset_index()",
    ],
    "group transform": [
        lambda w: f"df.groupby({w.key()!r}).{w.name()}.transform({w.one(*AGGREGATES)!r})",
        lambda w: f"df.{w.name()} - df.groupby(['j', 'b']).{w.name()}.transform('mean')",
        lambda w: f"df.groupby({w.one('j', 'b')!r}).cumcount()",
    ],
    **{f"{how} join": join(how) for how in ("inner", "left", "right")},
    "outer join": [
        lambda w: (
            f"df.merge(g, on=['j', 'k'], how='outer')[{BOTH}].sort_values({BOTH})"
            ".reset_index(drop=True)"
        ),
    ],
    "cross join": [lambda w: f"df.head(9).merge(g, how='cross').{w.one('x', 'v', 'k_y')}"],
    "join by labels": [
        lambda w: "df.set_index('j').join(g.drop_duplicates('j').set_index('j')[['v']]).v.tolist()",
    ],
    **{
        f"rolling {how}": rolling(how)
        for how in ("sum", "mean", "min", "max", "std", "var", "median", "count")
    },
    **{
        f"running {how}": running(how)
        for how in (
            *("cumsum()", "cumprod()", "cummin()", "cummax()"),
            *("diff(N)", "shift(N)", "rank()", "ffill()", "bfill()"),
        )
    },
    "aggregates of the same groups": [
        of_two_groups("(A + B * 2).tolist()"),
        of_two_groups("(A - B).reset_index(name='r')"),
        of_two_groups("A[B > N].tolist()"),
        of_two_groups("m.DataFrame({'p': A, 'q': B}).reset_index(drop=True)"),
        of_two_groups("A.reset_index(name='r').assign(q=(B + 1).tolist())"),
        of_two_groups("(A + B)[(A > N) & (B < 30)].sort_values().tolist()"),
    ],
    "set_index, sort_index": [
        lambda w: f"{UNIQUE}.sort_index(ascending={w.truth()}).{w.one('x', 't', 'w')}.tolist()",
        lambda w: f"{UNIQUE}.reset_index()[['i', {w.one('x', 't')!r}]]",
        lambda w: f"df.set_index(['k', 'j']).reset_index()[['k', 'j', {w.name()!r}]]",
        lambda w: f"df.set_index('j').{w.name()}.groupby(level=0).count().tolist()",
        lambda w: f"{UNIQUE}.{w.one('x', 't', 'w')}.to_dict()",
    ],
    "loc": [
        lambda w: f"{UNIQUE}.loc[[{w.whole()}, {w.whole()}]].{w.one('x', 't', 'w')}.tolist()",
        lambda w: f"{UNIQUE}.{w.one('x', 't', 'w')}.loc[{w.whole()}]",
        lambda w: f"df.set_index('k').loc[['a', 'b']].{w.one('x', 't', 'w')}.tolist()",
        lambda w: f"df.loc[{w.condition()}, ['k', {w.name()!r}]].reset_index(drop=True)",
    ],
    "iloc": [
        lambda w: f"df.iloc[{w.whole(20)}:{w.whole(20)}].{w.name()}.tolist()",
        lambda w: f"df.iloc[[{w.whole()}, 0, {w.whole()}]].{w.name()}.tolist()",
        lambda w: f"df.iloc[{w.whole(20)}].{w.one('x', 't', 'w')}",
        lambda w: f"df.{w.one('x', 't', 'w')}.iloc[{w.whole(20)}]",
    ],
    "of columns": [
        lambda w: f"m.DataFrame({w.literals()!r})",
        lambda w: f"m.DataFrame({{'a': {w.literals()['a']!r}, 'z': {w.whole()}}})",
        lambda w: f"m.Series({w.literals()[w.one('a', 'b', 'd')]!r})",
    ],
    "of rows": [
        lambda w: f"m.DataFrame({w.rows()!r}, columns=list('abcd'))",
        lambda w: (
            f"m.DataFrame([dict(zip('abcd', row)) for row in {w.rows()!r}], columns=list('abcd'))"
        ),
        lambda w: f"m.DataFrame((row for row in {w.rows()!r}), columns=list('abcd'))",
        lambda w: f"m.DataFrame.from_records({w.rows()!r}, columns=list('abcd'))",
    ],
    "of NumPy": [
        lambda w: f"m.DataFrame(np.array({w.rows()!r}, dtype={RECORD!r}))",
        lambda w: (
            f"m.DataFrame(np.array({w.literals()['a'] * 2!r}, dtype='int64').reshape(-1, 2),"
            " columns=['p', 'q'])"
        ),
    ],
    "of Arrow, pandas, Polars": [
        lambda w: "m.from_pandas(pd.DataFrame(data)) ;; pd.DataFrame(data)",
        lambda w: "m.from_arrow(pa.table(data)) ;; pd.DataFrame(data)",
        lambda w: "m.from_arrow(pl.from_arrow(pa.table(data))) ;; pd.DataFrame(data)",
        lambda w: "m.from_arrow(df.to_arrow()) ;; df",
        lambda w: "m.from_pandas(df.to_pandas()) ;; df",
    ],
    "to NumPy": [
        lambda w: f"df[{w.one(['i', 'j'], ['x', 'y'], ['x'])}].to_numpy().tolist()",
        lambda w: f"df.{w.one('x', 'i', 'b', 'w')}.to_numpy().tolist()",
        lambda w: f"df[['i', 'x', 't']].to_dict({w.one('list', 'records')!r})",
    ],
    "Parquet": [
        lambda w: f"[df.to_parquet(path), m.read_parquet(path)[{w.some(SOME)}]][1]",
        lambda w: "[df.to_parquet(path), m.scan_parquet(path)[['x', 't']]][1] ;; df[['x', 't']]",
    ],
}


def shape_of(rng: random.Random) -> str:
    """Up to two statements that change `df`."""
    words = Words(rng)
    return "\n".join(rng.choice(SHAPES)(words) for _ in range(rng.choice([0, 1, 1, 2])))


def form_of(operator: str, rng: random.Random) -> tuple[str, str]:
    """An expression for us, and one for pandas."""
    ours, _, theirs = rng.choice(OPERATORS[operator])(Words(rng)).partition(" ;; ")
    return ours, theirs or ours
