#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/api/: a page per topic, from signatures and docstrings of the package.

Run it with the package installed: `python tools/make_api.py`. `TOPICS` says what is on which page;
functions of `headrace.__all__` that are on none of them go to the page of top-level functions.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from headrace.groupby import groupby as group
from headrace.plot.accessor import FramePlot, SeriesPlot
from headrace.series import categorical as categories
from headrace.series import datetime as times
from headrace.series import duration as durations
from headrace.series import strings as text
from headrace.windows import ewm, rolling

import headrace as hr

FOLDER = Path(__file__).resolve().parents[1] / "docs/reference/api"
NOTE = "<!-- Written by tools/make_api.py; do not edit. -->"
WIDTH = 100
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.M)
OF_FIELDS = {"Parameters", "Attributes", "Returns", "Raises", "Yields", "Warns"}
EXAMPLE = re.compile(r"^((?:>>> .*\n(?:.+(?:\n|$))*\n*)+)", re.M)


def named(*names: str) -> dict[str, Any]:
    """Objects of the package by the names that users write."""
    return {f"hr.{name}": getattr(hr, name) for name in names}


#: Page -> title, and what it documents by the name that users write: modules, classes, functions.
#: Members of a class are named after the first word.
TOPICS: dict[str, tuple[str, dict[str, Any]]] = {
    "dataframe": ("DataFrame", {"DataFrame": hr.DataFrame}),
    "series": ("Series", {"Series": hr.Series}),
    "series-str": ("Series.str", {"Series.str": text.TextAccessor}),
    "series-dt": (
        "Series.dt",
        {
            "Series.dt (dates and timestamps)": times.TimeAccessor,
            "Series.dt (durations)": durations.DurationAccessor,
        },
    ),
    "series-cat": ("Series.cat", {"Series.cat": categories.CategoryAccessor}),
    "array": ("Array", {"hr.asarray": hr.asarray, "Array": hr.Array}),
    "groupby": (
        "Groups",
        {
            "GroupBy": group.GroupBy,
            "SeriesGroupBy": group.SeriesGroupBy,
            "hr.NamedAgg": hr.NamedAgg,
        },
    ),
    "rolling": (
        "Rolling windows",
        {"Rolling": rolling.Rolling, "ExponentialWindows": ewm.ExponentialWindows},
    ),
    "read-write": (
        "Reading and converting",
        named("read_csv", "scan_csv", "read_parquet", "scan_parquet")
        | named("from_arrow", "from_dlpack", "from_pandas"),
    ),
    "functions": ("Top-level functions", {}),
    "settings": (
        "Settings and evaluation",
        named("device", "threads", "strict", "no_copies")
        | named("eval", "info", "profile", "advice", "fallbacks"),
    ),
    "signal": ("Signals", named("signal")),
    "text": ("Text", named("text")),
    "fft": ("Fourier transforms", named("fft")),
    "graph": ("Graphs", named("graph")),
    "learn": ("Models", named("learn")),
    "sklearn": ("scikit-learn accelerated", named("sklearn")),
    "linalg": ("Linear algebra", named("linalg")),
    "plot": (
        "Plots",
        {"DataFrame.plot": FramePlot, "Series.plot": SeriesPlot} | named("plot"),
    ),
    "report": ("Reports", named("report")),
    "memory": ("Memory", named("memory")),
    "sharing": (
        "Sharing between processes",
        named("share", "attach", "sharing", "SharedHandle"),
    ),
    "demo": ("Demo data", named("demo")),
    "errors": (
        "Errors",
        named(*(n for n in hr.__all__ if n.endswith("Error"))),
    ),
}


class Entry(NamedTuple):
    """One name of a page: how it is called and what its docstring says."""

    name: str
    call: str
    doc: str
    level: int  # of the heading


# ---- what there is to document -------------------------------------------------------------------
def signature(name: str, function: Any) -> str:
    """Name, parameters and result; parameters on lines of their own if they do not fit one."""
    if getattr(function, "__nb_signature__", None):  # of the binary module
        line = str(function.__doc__).split("\n", 1)[0]
        return re.sub(r"^\w+\((self(, )?)?", f"{name}(", line)
    try:
        found = inspect.signature(function)
    except ValueError:  # a class of the binary module that users do not create
        return name
    plain = [
        parameter.replace(annotation=parameter.empty)
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    inner, result = str(inspect.Signature(plain))[1:-1], str(found.return_annotation)
    result = "" if found.return_annotation is found.empty or result == "None" else f" -> {result}"
    if len(f"{name}({inner}){result}") > WIDTH:
        inner = textwrap.fill(inner, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
        inner = "\n" + textwrap.indent(inner, "    ") + "\n"
    return f"{name}({inner}){result}"


def doc_of(value: Any) -> str:
    """The docstring, of functions of the binary module without the signature."""
    doc = inspect.getdoc(value) or ""
    return doc.partition("\n")[2].strip() if hasattr(value, "__nb_signature__") else doc


def definer(owner: type, name: str) -> type:
    """The class that defines a member of `owner`."""
    return next((c for c in owner.__mro__ if name in vars(c)), owner)


def class_entries(name: str, owner: type, documented: dict[str, Any]) -> Iterator[Entry]:
    """The entries of a class, its methods and its properties; `documented`: other classes."""
    doc = doc_of(owner)
    if issubclass(owner, BaseException):
        bases = ", ".join(base.__name__ for base in owner.__bases__)
        yield Entry(name, f"class {name}({bases})", doc, 2)
        return
    others = {value: other for other, value in documented.items() if value is not owner}
    word, inherited = name.split()[0], set()
    entries = []
    for member in sorted(m for m in dir(owner) if not m.startswith("_")):
        source, value = definer(owner, member), getattr(owner, member)
        if source in others:
            inherited.add(f"`{others[source]}`")
        elif not source.__module__.startswith("headrace"):
            continue
        elif callable(value):
            entries.append(
                Entry(f"{word}.{member}", signature(f"{word}.{member}", value), doc_of(value), 3)
            )
        elif isinstance(value, property):
            result = getattr(value.fget, "__annotations__", {}).get("return")
            call = f"{word}.{member}: {result}" if result else f"{word}.{member}"
            entries.append(Entry(f"{word}.{member}", call, doc_of(value), 3))
    if inherited:
        doc += f"\n\nHas the methods of {' and '.join(sorted(inherited))}, too."
    is_built = word.startswith("hr.") or hasattr(hr, word)  # others come from methods
    yield Entry(name, f"class {signature(word, owner) if is_built else word}", doc, 2)
    yield from entries


def entries_of(objects: dict[str, Any]) -> Iterator[Entry]:
    """The entries of a page."""
    for name, value in objects.items():
        if isinstance(value, ModuleType):
            yield from entries_of({f"{name}.{n}": getattr(value, n) for n in value.__all__})
        elif inspect.isclass(value):
            yield from class_entries(name, value, objects)
        elif callable(value):
            yield Entry(name, signature(name, value), doc_of(value), 2)
        else:
            yield Entry(name, f"{name} = {value!r}", "A constant.", 2)


def topics() -> dict[str, tuple[str, dict[str, Any]]]:
    """All topics, with the functions that no other page has on the page of top-level functions."""
    taken = [value for _, objects in TOPICS.values() for value in objects.values()]
    rest = [
        name
        for name in sorted(hr.__all__)
        if name not in ("__version__", "errors")
        and not any(getattr(hr, name) is value for value in taken)
    ]
    return {**TOPICS, "functions": (TOPICS["functions"][0], named(*rest))}


# ---- Markdown ------------------------------------------------------------------------------------
def split_sections(doc: str) -> tuple[str, list[tuple[str, str]]]:
    """The text before the first section of a docstring, and the sections."""
    lead, *rest = SECTION.split(doc)
    return lead.strip(), list(zip(rest[::2], rest[1::2], strict=True))


def prose(doc: str) -> str:
    """Docstring text as Markdown; examples become blocks."""
    parts = []
    for block in EXAMPLE.split(doc + "\n"):
        if block.startswith(">>> "):
            parts.append(f"```pycon\n{block.rstrip().replace('<BLANKLINE>', '')}\n```")
        elif block.strip():
            parts.append(re.sub(r"``([^`]*)``", r"`\1`", block.strip()))
    return "\n\n".join(parts)


def field_list(body: str) -> str:
    """The fields of a section as a list."""
    lines: list[str] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            lines.append(f"- `{name}`" + (f" ({kind})" if kind else "") + ":")
        elif line.strip() and lines:
            lines[-1] += " " + prose(line.strip())
    return "\n".join(line.removesuffix(":") for line in lines)


def section_text(title: str, body: str) -> str:
    """One section of a docstring."""
    if title in OF_FIELDS:
        fields, *examples = EXAMPLE.split(body + "\n")
        return f"**{title}**\n\n{field_list(fields)}\n\n{prose(''.join(examples))}".rstrip()
    return prose(body) if title == "Examples" else f"**{title}**\n\n{prose(body)}"


def entry_text(entry: Entry) -> str:
    """One entry."""
    lead, sections = split_sections(entry.doc)
    head = f"{'#' * entry.level} {entry.name}\n\n```text\n{entry.call}\n```"
    parts = [head, prose(lead), *(section_text(*section) for section in sections)]
    return "\n\n".join(part for part in parts if part)


def page(title: str, objects: dict[str, Any]) -> str:
    """The text of one page."""
    entries = list(entries_of(objects))
    heads = [entry for entry in entries if entry.level == 2]
    anchors = {e.name: re.sub(r"[^\w -]", "", e.name.lower()).replace(" ", "-") for e in entries}
    listed = entries if len(heads) <= 3 else heads
    links = ", ".join(f"[`{e.name}`](#{anchors[e.name]})" for e in listed)
    lead = [split_sections(doc_of(v))[0] for v in objects.values() if isinstance(v, ModuleType)]
    parts = [f"# {title}", NOTE, *map(prose, lead), links, *map(entry_text, entries)]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Name and text of every page."""
    found = {f"{name}.md": page(*topic) for name, topic in topics().items()}
    rows = [
        f"| [{title}]({name}.md) | {len(list(entries_of(objects)))} |"
        for name, (title, objects) in topics().items()
    ]
    table = "\n".join(["| page | names |", "|---|---:|", *rows])
    lead = "Signatures, parameters, errors and examples of all public names, from their docstrings."
    return {"README.md": f"# API reference\n\n{NOTE}\n\n{lead}\n\n{table}\n", **found}


def main() -> None:
    """Write all pages and remove those that no topic has any more."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in written:
            old.unlink()
    for name, content in written.items():
        (FOLDER / name).write_text(content)


if __name__ == "__main__":
    main()
