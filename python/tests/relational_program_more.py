# SPDX-License-Identifier: Apache-2.0
"""Relational programs with texts, dates, more aggregates and joins."""

from __future__ import annotations

from typing import Any

import relational_program as basis
from relational_program import MOST_ROWS, WORDS, Program, base_table

import headrace as hr

OPERATORS = (
    *basis.OPERATORS,
    *("text", "date", "transform", "aggregate", "top", "outer", "piece"),
    *("case", "missing", "counts", "category", "decimal"),
)


class MoreProgram(Program):
    """Programs with all operators."""

    def column(self, made: Any, text: str, kind: str) -> None:
        """A new column on both sides."""
        name = self.number()
        self.frame = self.frame.assign(**{name: made})
        self.then(f"SELECT *, {text} AS {name} FROM T!")
        self.kinds[name] = kind

    def text(self) -> None:
        name = self.pick("s")
        if name is None:
            return
        column, low, high = self.frame[name], self.rng.randrange(3), self.rng.randrange(3, 6)
        word = self.rng.choice(WORDS[1:])
        forms: list[tuple[Any, str, str]] = [
            (column.str.upper(), f"upper({name})", "s"),
            (column.str.lower(), f"lower({name})", "s"),
            (column.str.len(), f"length({name})", "i"),
            (
                column.str.slice(low, high),
                f"substring({name}, {low + 1}, {high - low})",
                "s",
            ),
            (column.str.strip("a"), f"trim({name}, 'a')", "s"),
            (column.str.lstrip("a"), f"ltrim({name}, 'a')", "s"),
            (column.str.replace("a", "zz"), f"replace({name}, 'a', 'zz')", "s"),
            (
                column.str.replace("[ab]+", "<>", regex=True),
                f"regexp_replace({name}, '[ab]+', '<>', 'g')",
                "s",
            ),
            (column + "-" + column, f"{name} || '-' || {name}", "s"),
            (
                column.str.extract("([ab])x?", expand=False),
                f"nullif(regexp_extract({name}, '([ab])x?', 1), '')",
                "s",
            ),
            (
                column.str.startswith(word).astype("int64"),
                f"CAST(coalesce(starts_with({name}, '{word}'), false) AS BIGINT)",
                "i",
            ),
            (
                column.str.like("_b%").astype("int64"),
                f"CAST(coalesce({name} LIKE '_b%', false) AS BIGINT)",
                "i",
            ),
            (
                column.str.fullmatch("[ab]*").astype("int64"),
                f"CAST(coalesce(regexp_full_match({name}, '[ab]*'), false) AS BIGINT)",
                "i",
            ),
        ]
        number = self.pick("i")
        if number is not None:
            as_text = self.frame[number].astype("string")
            forms.append((as_text, f"CAST({number} AS VARCHAR)", "s"))
            forms.append((as_text.astype("int64"), number, "i"))
        self.column(*self.rng.choice(forms))

    def date(self) -> None:
        name = self.pick("i")
        if name is None:
            return
        number = self.frame[name].clip(-1000, 1000) * 11
        day = hr.to_datetime(number, unit="D", dtype="date")
        sql = (
            f"(DATE '1970-01-01' + CAST(CASE WHEN {name} IS NOT NULL "
            f"THEN least(greatest({name}, -1000), 1000) END * 11 AS INTEGER))"
        )
        months = self.rng.randrange(-30, 31)
        forms: list[tuple[Any, str, str]] = [
            (day.dt.year, f"year({sql})", "i"),
            (day.dt.month, f"month({sql})", "i"),
            (day.dt.day, f"day({sql})", "i"),
            (day.dt.dayofyear, f"dayofyear({sql})", "i"),
            (day.dt.quarter, f"quarter({sql})", "i"),
            (day.dt.weekday, f"isodow({sql}) - 1", "i"),
            (
                day.dt.is_month_end.astype("int64"),
                f"CAST(coalesce({sql} = last_day({sql}), false) AS BIGINT)",
                "i",
            ),
            (
                day.dt.floor("MS").dt.strftime("%d %b %Y"),
                f"strftime(date_trunc('month', {sql}), '%d %b %Y')",
                "s",
            ),
            (day.astype("string"), f"CAST({sql} AS VARCHAR)", "s"),
            (
                day.dt.add_months(months).astype("string"),
                f"CAST(CAST({sql} + INTERVAL ({months}) MONTH AS DATE) AS VARCHAR)",
                "s",
            ),
            (
                hr.to_datetime(day.dt.strftime("%Y/%m/%d"), format="%Y/%m/%d").dt.dayofyear,
                f"dayofyear({sql})",
                "i",
            ),
        ]
        self.column(*self.rng.choice(forms))

    def transform(self) -> None:
        rng, key, value = self.rng, self.pick("is"), self.pick("if")
        if key is None or value is None or key == value:
            return
        sql = {
            "sum": "coalesce(sum({0}) {1}, 0)",
            "min": "min({0}) {1}",
            "max": "max({0}) {1}",
            "count": "count({0}) {1}",
            "size": "count(*) {1}",
            "first": "first_value({0} IGNORE NULLS) {2}",
            "last": "last_value({0} IGNORE NULLS) {2}",
        }
        how, dropna = rng.choice(list(sql)), rng.random() < 0.5
        made = self.frame.groupby(key, dropna=dropna)[value].transform(how)
        part = f"PARTITION BY {key}"
        whole = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        text = sql[how].format(value, f"OVER ({part})", f"OVER ({part} ORDER BY r {whole})")
        if dropna:
            text = f"CASE WHEN {key} IS NOT NULL THEN {text} END"
        self.column(made, text, "i" if how in ("count", "size") else self.kinds[value])

    def aggregate(self) -> None:
        rng, key, value = self.rng, self.pick("is"), self.pick("if")
        if key is None or value is None or key == value:
            return
        small = self.number()
        self.frame = self.frame.assign(**{small: self.frame[value].clip(-1, 1)})
        clipped = f"CASE WHEN {value} IS NOT NULL THEN least(greatest({value}, -1), 1) END"
        self.then(f"SELECT *, {clipped} AS {small} FROM T!")
        sql = {
            "prod": "coalesce(product({0}), 1)",
            "var": "var_samp({0})",
            "quantile": "quantile_cont({0}, 0.5)",
            "size": "count(*)",
            "any": "CAST(coalesce(bool_or({0} <> 0), false) AS BIGINT)",
            "all": "CAST(coalesce(bool_and({0} <> 0), true) AS BIGINT)",
            "idxmin": "first(r ORDER BY {0}, r) FILTER ({0} IS NOT NULL)",
            "idxmax": "first(r ORDER BY {0} DESC, r) FILTER ({0} IS NOT NULL)",
        }
        chosen = {self.number(): rng.choice(list(sql)) for _ in range(rng.randrange(1, 4))}
        self.renumber_before(small)
        named = {new: (small if how == "prod" else value, how) for new, how in chosen.items()}
        made = self.frame.groupby(key).agg(**named).reset_index()
        for new, how in chosen.items():
            if how in ("any", "all"):
                made[new] = made[new].astype("int64")
        self.frame = made
        text = ", ".join(
            f"{sql[how].format(small if how == 'prod' else value)} AS {new}"
            for new, how in chosen.items()
        )
        self.then(
            f"SELECT row_number() OVER (ORDER BY {key}) - 1 AS r, * FROM (SELECT {key}, {text} "
            f"FROM T! WHERE {key} IS NOT NULL GROUP BY {key})"
        )
        self.kinds = {key: self.kinds[key], **dict.fromkeys(chosen, "o")}
        self.renumber()

    def renumber_before(self, extra: str) -> None:
        """Rows from 0 on in both, so that positions of rows are r."""
        self.kinds[extra] = "f"
        self.renumber()
        self.then(
            f"SELECT row_number() OVER (ORDER BY r) - 1 AS r, {', '.join(self.kinds)} FROM T!"
        )

    def top(self) -> None:
        key, value = self.pick("is"), self.pick("if")
        if key is None or value is None or key == value:
            return
        rows, largest = self.rng.randrange(1, 4), self.rng.random() < 0.5
        groups = self.frame.groupby(key)[value]
        made = groups.nlargest(rows) if largest else groups.nsmallest(rows)
        self.frame = made.droplevel(1).reset_index()
        order = f"{value} {'DESC' if largest else 'ASC'}, r"
        self.then(
            f"SELECT row_number() OVER (ORDER BY {key}, {order}) - 1 AS r, {key}, {value} FROM "
            f"(SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {order}) AS q FROM T! "
            f"WHERE {key} IS NOT NULL AND {value} IS NOT NULL) WHERE q <= {rows}"
        )
        self.kinds = {key: self.kinds[key], value: self.kinds[value]}
        self.renumber()

    def outer(self) -> None:
        rng, number, word = self.rng, self.pick("i"), self.pick("s")
        keys = [name for name in (number, word) if name is not None]
        if not keys or len(self.frame) > MOST_ROWS:
            return
        keys = keys if rng.random() < 0.6 else [rng.choice(keys)]
        other = base_table(rng, rng.choice([0, 3, 20]))
        side, p = f"side{len(self.tables)}", self.number()
        mates = ["s" if self.kinds[key] == "s" else "k" for key in keys]
        right = other.select(["r", *mates, "x"]).rename_columns(["side_r", *keys, p])
        self.tables[side] = right
        theirs: Any = hr.from_arrow(right)
        how = rng.choice(["right", "outer", "inner", "cross"])
        if how == "cross":
            theirs, keys = theirs[[p]], []
        else:
            theirs = theirs.drop("side_r")
        self.frame = self.frame.merge(theirs, how=how, **({"on": keys} if keys else {}))
        equal = " AND ".join(f"o.{key} IS NOT DISTINCT FROM t.{key}" for key in keys) or "true"
        either = {n: f"CASE WHEN t.r IS NULL THEN o.{n} ELSE t.{n} END" for n in keys}
        by_key = ", ".join(f"{key} NULLS LAST" for key in either.values())
        order = {
            "right": "o.side_r, t.r",
            "outer": f"{by_key}, t.r NULLS LAST, o.side_r",
        }.get(how, "t.r, o.side_r")
        columns = ", ".join(f"{either[n]} AS {n}" if n in keys else f"t.{n}" for n in self.kinds)
        word_of = {"right": "RIGHT", "outer": "FULL", "inner": "INNER", "cross": "INNER"}[how]
        self.then(
            f"SELECT row_number() OVER (ORDER BY {order}) - 1 AS r, {columns}, o.{p} FROM T! t "
            f"{word_of} JOIN {side} o ON {equal}"
        )
        self.kinds[p] = "f"
        self.renumber()

    def piece(self) -> None:
        rows = self.rng.randrange(0, 30)
        if self.rng.random() < 0.5:
            self.frame = self.frame.tail(rows)
            self.then(f"SELECT * FROM (SELECT * FROM T! ORDER BY r DESC LIMIT {rows})")
        else:
            begin = self.rng.randrange(0, 10)
            self.frame = self.frame[begin : begin + rows]
            self.then(f"SELECT * FROM T! ORDER BY r LIMIT {rows} OFFSET {begin}")

    def case(self) -> None:
        value = self.pick("ifs")
        if value is None:
            return
        (first, left), (second, right) = self.condition(), self.condition()
        other = f"{value} || '!'" if self.kinds[value] == "s" else f"{value} * 2"
        column = self.frame[value]
        changed = column + "!" if self.kinds[value] == "s" else column * 2
        plain = "zz" if self.kinds[value] == "s" else 5
        self.column(
            column.case_when([(first, changed), (second, plain)]),
            f"CASE WHEN {left} THEN {other} WHEN {right} THEN {plain!r} ELSE {value} END",
            self.kinds[value],
        )

    def missing(self) -> None:
        rng, names = self.rng, self.rng.sample(list(self.kinds), k=min(2, len(self.kinds)))
        if rng.random() < 0.5:
            how = rng.choice(["any", "all"])
            self.frame = self.frame.dropna(subset=names, how=how)
            word = " AND " if how == "any" else " OR "
            text = word.join(f"{name} IS NOT NULL" for name in names)
            self.then(f"SELECT * FROM T! WHERE {text}")
            return
        value = self.pick("i")
        if value is None:
            return
        old, new = rng.randrange(-5, 5), rng.randrange(-5, 5)
        column = self.frame[value]
        forms = [
            (column.replace({old: new, new: old}), f"CASE {value} WHEN {old} THEN {new} "
             f"WHEN {new} THEN {old} ELSE {value} END"),
            (column.ffill(), f"coalesce({value}, last_value({value} IGNORE NULLS) OVER "
             "(ORDER BY r ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))"),
            (column.bfill(), f"coalesce({value}, first_value({value} IGNORE NULLS) OVER "
             "(ORDER BY r ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING))"),
            (column.duplicated().astype("int64"), f"CAST(row_number() OVER "
             f"(PARTITION BY {value} ORDER BY r) > 1 AS BIGINT)"),
        ]  # fmt: skip
        self.column(*rng.choice(forms), "i")

    def counts(self) -> None:
        key = self.pick("is")
        if key is None:
            return
        dropna, name = self.rng.random() < 0.5, self.number()
        self.frame = self.frame[key].value_counts(dropna=dropna).reset_index(name=name)
        where = f"{key} IS NOT NULL" if dropna else "true"
        self.then(
            f"SELECT row_number() OVER (ORDER BY {name} DESC, q) - 1 AS r, {key}, {name} FROM "
            f"(SELECT {key}, count(*) AS {name}, min(r) AS q FROM T! WHERE {where} GROUP BY {key})"
        )
        self.kinds = {key: self.kinds[key], name: "i"}
        self.renumber()

    def decimal(self) -> None:
        name = self.pick("f")
        if name is None:
            return
        exact = self.frame[name].clip(-9000, 9000).astype("decimal128(9, 3)")
        clipped = f"CASE WHEN {name} IS NOT NULL THEN least(greatest({name}, -9000), 9000) END"
        sql = f"CAST({clipped} AS DECIMAL(9, 3))"
        forms: list[tuple[Any, str, str]] = [
            (exact + exact * 2, f"{sql} + {sql} * 2", "o"),
            (-exact - 5, f"-{sql} - 5", "o"),
            (exact * exact, f"{sql} * {sql}", "o"),
            (exact.astype("string"), f"CAST({sql} AS VARCHAR)", "s"),
            (exact.astype("float64"), f"CAST({sql} AS DOUBLE)", "f"),
            ((exact > exact.shift()).astype("int64"), f"CAST(coalesce({sql} > lag({sql}) OVER "
             "(ORDER BY r), false) AS BIGINT)", "i"),
            (exact.rank(method="dense"), f"CASE WHEN {name} IS NOT NULL THEN dense_rank() OVER "
             f"(ORDER BY {sql} NULLS LAST) END", "f"),
        ]  # fmt: skip
        self.column(*self.rng.choice(forms))

    def category(self) -> None:
        name = self.pick("s")
        if name is None:
            return
        kind = self.frame[name].astype("category")
        forms: list[tuple[Any, str, str]] = [
            (kind.astype("string"), name, "s"),
            (kind.str.len(), f"length({name})", "i"),
            ((kind == "a").astype("int64"), f"CAST(coalesce({name} = 'a', false) AS BIGINT)", "i"),
            (
                kind.isin(["a", "ab"]).astype("int64"),
                f"CAST(coalesce({name} IN ('a', 'ab'), false) AS BIGINT)",
                "i",
            ),
            (
                hr.factorize(kind)[0],
                f"CASE WHEN {name} IS NULL THEN -1 ELSE dense_rank() OVER "
                f"(ORDER BY {name} IS NULL, least_r) - 1 END",
                "i",
            ),
        ]
        made, text, kind_of = self.rng.choice(forms)
        if "least_r" in text:
            self.then(f"SELECT *, min(r) OVER (PARTITION BY {name}) AS least_r FROM T!")
            new = self.number()
            self.frame = self.frame.assign(**{new: made})
            self.then(f"SELECT * EXCLUDE least_r, {text} AS {new} FROM T!")
            self.kinds[new] = kind_of
            return
        self.column(made, text, kind_of)
